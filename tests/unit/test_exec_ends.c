/* Commands as tools: how they end, and that nothing of them is left. */
#include "exec_rig.h"

#define RUNS_LONG ",\"timeoutMs\":600000"

/* ---- Waiting -------------------------------------------------------------------------------- */

static bool comes_in_time(bool (*has_come)(void *ctx), void *ctx)
{
    int64_t end_ms = clock_mono_ms() + 30000;
    while (!has_come(ctx) && clock_mono_ms() < end_ms)
        sched_yield();
    return has_come(ctx);
}

static bool is_written(void *ctx)
{
    return pid_in(ctx) > 0;
}

struct background {
    pthread_t thread;
    struct tenon_call call;
    int returned;
};

static void *run_background(void *arg)
{
    struct background *b = arg;
    b->returned = exec_run(&b->call, (void *)(uintptr_t)rig.exec);
    return NULL;
}

static void begin(struct background *b)
{
    *b = (struct background){.call.arguments = "{}"};
    assert_int_equal(pthread_create(&b->thread, NULL, run_background, b), 0);
}

static int finish(struct background *b)
{
    pthread_join(b->thread, NULL);
    call_done(&b->call);
    return b->returned;
}

/* Runs it until it has written `pid`, and then cancels. */
static void cancel(void)
{
    struct background b;
    begin(&b);
    assert_true(comes_in_time(is_written, (void *)(uintptr_t) "pid"));
    b.call.cancelled = true;
    assert_int_equal(finish(&b), TENON_ERR_CANCELLED);
}

/* ---- Its own end ---------------------------------------------------------------------------- */

static void who_does_not_read_its_stdin_is_not_waited_for(void **state)
{
    (void)state;
    struct buf big = {0};
    buf_printf(&big, "{\"a\":\"");
    for (int i = 0; i < 500000; i++)
        buf_add_lit(&big, "xyz");
    buf_printf(&big, "\"}%c", 0);
    parse("{\"argv\":[\"/bin/true\"]}");
    gives(big.p, "text:;");
    parse_script("exec 0<&-; echo ok", "");
    gives(big.p, "text:ok\n;");
    parse_script("head -c 3", ""); /* a part of it */
    gives(big.p, "text:{\"a;");
    parse("{\"argv\":[\"wc\",\"-c\"]}");
    gives(big.p, "text:1500009\n;");
    buf_done(&big);
}

static void input_and_output_may_be_large_at_once(void **state)
{
    (void)state;
    struct buf big = {0};
    buf_printf(&big, "{\"a\":\"");
    for (int i = 0; i < 300000; i++)
        buf_add_lit(&big, "xyz");
    buf_printf(&big, "\"}%c", 0);
    parse("{\"argv\":[\"cat\"]}");
    assert_int_equal(run(big.p), 0);
    assert_int_equal(rig.call.given.n, 900008 + 1 + strlen("text:;"));
    buf_done(&big);
}

static void who_closes_its_stdout_may_work_on(void **state)
{
    (void)state;
    parse_script("echo early; exec 1>&- 2>&-; sleep 0.3; echo $$ >pid", "");
    gives("{}", "text:early\n;");
    assert_true(pid_in("pid") > 0);
    parse_script("echo early; exec 1>&- 2>&-; sleep 0.1; exit 9", "");
    fails("{}", "exit status 9: early");
}

static void what_it_leaves_running_is_ended(void **state)
{
    (void)state;
    parse_script("sleep 600 & echo $! >pid; echo done", "");
    gives("{}", "text:done\n;");
    assert_true(pid_in("pid") > 0);
    assert_true(ends_in_time(pid_in("pid")));
    parse_script("(trap '' TERM HUP; (sleep 600 & echo $! >pid); while :; do sleep 1; done) & "
                 "while ! [ -s pid ]; do :; done; echo done",
                 "");
    gives("{}", "text:done\n;");
    assert_true(ends_in_time(pid_in("pid")));
}

static void what_the_background_writes_on_and_on_does_not_hold_it_up(void **state)
{
    (void)state;
    parse_script("yes >&2 & echo done", "");
    gives("{}", "text:done\n;");
}

/* ---- Time ----------------------------------------------------------------------------------- */

/* Once it has written `pid`, its time is over. */
static void begin_and_let_time_pass(struct background *b, int64_t ms)
{
    begin(b);
    assert_true(comes_in_time(is_written, (void *)(uintptr_t) "pid"));
    clock_advance_ms(ms);
}

static void finish_late(struct background *b, const char *wanted)
{
    pthread_join(b->thread, NULL);
    assert_int_equal(b->returned, TENON_ERR_FAILED);
    assert_string_equal(text_in(&b->call.failure), wanted);
    call_done(&b->call);
    assert_true(ends_in_time(pid_in("pid")));
}

static void beyond_its_time_it_is_ended(void **state)
{
    struct background b;
    (void)state;
    parse_script("echo $$ >pid; sleep 600", ",\"timeoutMs\":500000");
    begin_and_let_time_pass(&b, 500000);
    finish_late(&b, "The command did not end within 500000 ms");
    remove_file("pid");
    parse_script("exec 1>&- 2>&- 0<&-; echo $$ >pid; sleep 600", RUNS_LONG);
    begin_and_let_time_pass(&b, 600000);
    finish_late(&b, "The command did not end within 600000 ms");
    parse_script("exec sleep 600", ",\"timeoutMs\":50");
    fails("{}", "The command did not end within 50 ms");
}

static void EXEC_TIMEOUT_MS_holds_where_nothing_is_said(void **state)
{
    struct background b;
    (void)state;
    parse_script("echo $$ >pid; exec sleep 600", "");
    begin_and_let_time_pass(&b, EXEC_TIMEOUT_MS);
    finish_late(&b, "The command did not end within 30000 ms");
}

static void who_ignores_SIGTERM_is_killed_after_EXEC_STOP_MS(void **state)
{
    struct background b;
    (void)state;
    parse_script("trap 'echo $$ >heard' TERM; echo $$ >pid; while :; do sleep 0.05; done",
                 RUNS_LONG);
    begin_and_let_time_pass(&b, 600000);
    assert_true(comes_in_time(is_written, (void *)(uintptr_t) "heard"));
    assert_int_equal(pid_in("heard"), pid_in("pid"));
    clock_advance_ms(EXEC_STOP_MS);
    finish_late(&b, "The command did not end within 600000 ms");
}

static bool stands_still(void *ctx)
{
    char path[64], text[512] = "";
    (void)ctx;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid_in("pid"));
    FILE *file = fopen(path, "r");
    bool stands = file && fgets(text, sizeof text, file) && strstr(text, ") T ");
    if (file)
        fclose(file);
    return stands;
}

static void who_stands_still_is_ended_too(void **state)
{
    struct background b;
    (void)state;
    parse_script("echo $$ >pid; kill -STOP $$; exec sleep 600", RUNS_LONG);
    begin(&b);
    assert_true(comes_in_time(stands_still, NULL));
    clock_advance_ms(600000);
    finish_late(&b, "The command did not end within 600000 ms");
}

/* ---- Cancellation --------------------------------------------------------------------------- */

static void a_cancelled_call_ends_its_command(void **state)
{
    (void)state;
    parse_script("trap 'echo $$ >heard; exit' TERM; echo $$ >pid; while :; do sleep 0.05; done",
                 RUNS_LONG);
    cancel();
    assert_int_equal(pid_in("heard"), pid_in("pid"));
    assert_false(is_running(pid_in("pid")));
}

static void a_cancelled_call_ends_grandchildren_that_ignore_SIGTERM(void **state)
{
    (void)state;
    parse_script(
        "trap '' TERM; sh -c 'trap \\\"\\\" TERM; sleep 600 & echo $! >pid; wait'; sleep 600",
        RUNS_LONG);
    cancel();
    assert_true(ends_in_time(pid_in("pid")));
}

static void one_that_was_cancelled_before_does_not_begin(void **state)
{
    (void)state;
    parse_script("echo $$ >pid; exec sleep 600", RUNS_LONG);
    rig.call = (struct tenon_call){.arguments = "{}", .cancelled = true};
    assert_int_equal(exec_run(&rig.call, (void *)(uintptr_t)rig.exec), TENON_ERR_CANCELLED);
    assert_true(!pid_in("pid") || !is_running(pid_in("pid")));
}

/* While it starts, runs, writes, ends. */
static void a_cancellation_may_come_at_any_time(void **state)
{
    (void)state;
    int n_fds = 0;
    unsigned n_cancelled = 0;
    parse("{\"argv\":[\"echo\",\"x\"]}");
    assert_int_equal(run("{}"), 0); /* the guard is there */
    for (int i = 0; i < 200; i++) {
        struct background b;
        n_fds = i ? n_fds : count_fds();
        begin(&b);
        for (volatile int spin = 0; spin < i * 2000; spin++)
            ;
        b.call.cancelled = true;
        int returned = finish(&b);
        assert_true(returned == 0 || returned == TENON_ERR_CANCELLED);
        n_cancelled += returned != 0;
    }
    assert_true(n_cancelled > 0);
    assert_int_equal(count_fds(), n_fds);
}

static void a_line_of_progress_is_there_before_the_end(void **state)
{
    (void)state;
    parse_script("echo '{\\\"progress\\\":1}'; exec sleep 600", RUNS_LONG ",\"output\":\"lines\"");
    rig.call = (struct tenon_call){.arguments = "{}", .cancel_on_progress = true};
    assert_int_equal(exec_run(&rig.call, (void *)(uintptr_t)rig.exec), TENON_ERR_CANCELLED);
    assert_string_equal(text_in(&rig.call.told), "progress:1/0:-;");
}

/* ---- Many ----------------------------------------------------------------------------------- */

#define MANY 300

/* Each makes a file while it runs, and counts those that there are. */
static void SR_300_at_once_are_EXEC_RUNNING_MAX_at_a_time(void **state)
{
    static struct background v[MANY];
    (void)state;
    parse_script("mkdir in 2>/dev/null; : >in/$$; set -- in/*; echo $# >>most; sleep 0.05; "
                 "rm in/$$; echo ok",
                 RUNS_LONG);
    assert_int_equal(run("{}"), 0);
    int n_fds = count_fds();
    for (int i = 0; i < MANY; i++)
        begin(&v[i]);
    for (int i = 0; i < MANY; i++) {
        pthread_join(v[i].thread, NULL);
        assert_int_equal(v[i].returned, 0);
        assert_string_equal(text_in(&v[i].call.given), "text:ok\n;");
        call_done(&v[i].call);
    }
    assert_int_equal(count_fds(), n_fds);
    char path[128];
    int n = 0, most = 0, n_all = 0;
    snprintf(path, sizeof path, "%s/most", rig.folder);
    FILE *file = fopen(path, "r");
    for (; fscanf(file, "%d", &n) == 1; n_all++)
        most = n > most ? n : most;
    fclose(file);
    assert_int_equal(n_all, MANY + 1);
    assert_true(most <= EXEC_RUNNING_MAX);
}

static void who_waits_for_a_place_may_be_cancelled(void **state)
{
    static struct background v[EXEC_RUNNING_MAX + 20];
    (void)state;
    const int n = sizeof v / sizeof *v;
    parse_script("exec sleep 600", RUNS_LONG);
    for (int i = 0; i < n; i++)
        begin(&v[i]);
    for (int i = n - 1; i >= 0; i--)
        v[i].call.cancelled = true;
    for (int i = 0; i < n; i++)
        assert_int_equal(finish(&v[i]), TENON_ERR_CANCELLED);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* the guard alone, and no zombie */
}

static void without_descriptors_it_is_told(void **state)
{
    struct rlimit before, now;
    (void)state;
    parse("{\"argv\":[\"echo\",\"x\"]}");
    gives("{}", "text:x\n;");
    getrlimit(RLIMIT_NOFILE, &before);
    now = before;
    int n_fds = count_fds();
    for (rlim_t n = 3; n < 16; n++) {
        now.rlim_cur = n;
        setrlimit(RLIMIT_NOFILE, &now);
        int returned = run("{}");
        setrlimit(RLIMIT_NOFILE, &before);
        if (returned)
            assert_non_null(strstr(text_in(&rig.call.failure), "Too many open files"));
        assert_int_equal(count_fds(), n_fds);
    }
    gives("{}", "text:x\n;");
}

/* ---- The guard ------------------------------------------------------------------------------ */

/* A process like a worker, that is killed while its command runs. */
static void what_a_killed_worker_leaves_is_ended(void **state)
{
    (void)state;
    parse_script(
        "(trap '' TERM HUP; sleep 600 & echo $! >child; wait) & sleep 600 & echo $$ >pid; wait",
        RUNS_LONG);
    fflush(NULL);
    pid_t worker = fork();
    if (worker == 0)
        _exit(run("{}") == 0);
    assert_true(comes_in_time(is_written, (void *)(uintptr_t) "pid"));
    assert_true(comes_in_time(is_written, (void *)(uintptr_t) "child"));
    kill(worker, SIGKILL);
    assert_int_equal(waitpid(worker, NULL, 0), worker);
    assert_true(ends_in_time(pid_in("pid")));
    assert_true(ends_in_time(pid_in("child")));
}

/* Of this process's children the one that has this name; 0: none. */
static pid_t child_named(const char *name)
{
    char path[64], text[512];
    pid_t found = 0;
    DIR *dir = opendir("/proc");
    assert_non_null(dir);
    for (struct dirent *entry; !found && (entry = readdir(dir));) {
        int pid = atoi(entry->d_name), parent = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *file = pid > 0 ? fopen(path, "r") : NULL;
        if (file && fgets(text, sizeof text, file) && strstr(text, name) &&
            sscanf(strrchr(text, ')'), ") %*c %d", &parent) == 1 && parent == getpid())
            found = pid;
        if (file)
            fclose(file);
    }
    closedir(dir);
    return found;
}

static void a_guard_that_was_killed_is_replaced(void **state)
{
    (void)state;
    parse("{\"argv\":[\"echo\",\"x\"]}");
    gives("{}", "text:x\n;");
    pid_t guard = child_named("(tenon guard)");
    assert_true(guard > 0);
    int n_fds = count_fds();
    kill(guard, SIGKILL);
    assert_true(ends_in_time(guard));
    gives("{}", "text:x\n;");
    gives("{}", "text:x\n;");
    pid_t other = child_named("(tenon guard)");
    assert_true(other > 0 && other != guard);
    assert_int_equal(count_fds(), n_fds);
    assert_int_equal(waitpid(guard, NULL, WNOHANG), -1); /* no zombie */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_up, rig_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_does_not_read_its_stdin_is_not_waited_for),
        TEST(input_and_output_may_be_large_at_once),
        TEST(who_closes_its_stdout_may_work_on),
        TEST(what_it_leaves_running_is_ended),
        TEST(what_the_background_writes_on_and_on_does_not_hold_it_up),
        TEST(beyond_its_time_it_is_ended),
        TEST(EXEC_TIMEOUT_MS_holds_where_nothing_is_said),
        TEST(who_ignores_SIGTERM_is_killed_after_EXEC_STOP_MS),
        TEST(who_stands_still_is_ended_too),
        TEST(a_cancelled_call_ends_its_command),
        TEST(a_cancelled_call_ends_grandchildren_that_ignore_SIGTERM),
        TEST(one_that_was_cancelled_before_does_not_begin),
        TEST(a_cancellation_may_come_at_any_time),
        TEST(a_line_of_progress_is_there_before_the_end),
        TEST(SR_300_at_once_are_EXEC_RUNNING_MAX_at_a_time),
        TEST(who_waits_for_a_place_may_be_cancelled),
        TEST(without_descriptors_it_is_told),
        TEST(what_a_killed_worker_leaves_is_ended),
        TEST(a_guard_that_was_killed_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
