/* tests/unit/test_supervisor.c - processes: start, replacement, stop, and what must refuse. */
#include "net_rig.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* What the callbacks note, seen by all processes. */
static struct notes {
    _Atomic int keeper_starts, keeper_ticks, keeper_stops, worker_starts, worker_stops;
    _Atomic int reloads, validations;
    _Atomic int closings, hurries, hurries_answer; /* the last: a hurry ends what is kept */
    _Atomic int64_t standing_ms;
    _Atomic int keeper_result, worker_result, validate_result;
    _Atomic int has_stuck_handler, worker_leavings;
    _Atomic int keeper_stops_itself, worker_stops_itself; /* SIGSTOP in the start of this number */
    _Atomic pid_t keeper;
} * notes;

static int on_keeper_start(void *ctx)
{
    (void)ctx;
    notes->keeper_starts++;
    notes->keeper = getpid();
    if (notes->keeper_starts == notes->keeper_stops_itself)
        raise(SIGSTOP);
    return notes->keeper_result;
}

static int on_keeper_tick(void *ctx)
{
    (void)ctx;
    notes->keeper_ticks++;
    return 0;
}

static void on_keeper_stop(void *ctx)
{
    (void)ctx;
    notes->keeper_stops++;
}

/* A handler that looks at nothing. */
static void never_end(struct loop_work *work)
{
    (void)work;
    for (;;)
        pause();
}

static int start_stuck_handler(struct loop *loop)
{
    static struct loop_work work = {.run = never_end};
    return notes->has_stuck_handler ? loop_offload(loop, &work) : 0;
}

static int on_worker_start(void *ctx, uint32_t slot, struct bus *bus, struct loop *loop,
                           struct core **ret)
{
    notes->worker_starts++;
    if (notes->worker_starts == notes->worker_stops_itself)
        raise(SIGSTOP);
    if (notes->worker_result < 0)
        return notes->worker_result;
    int err = start_stuck_handler(loop);
    return err < 0 ? err : rig_worker_start(ctx, slot, bus, loop, ret);
}

static int64_t on_worker_standing(void *ctx)
{
    (void)ctx;
    return notes->worker_starts == 1 ? notes->standing_ms : 0;
}

static void on_worker_stop(void *ctx, struct core *core)
{
    notes->worker_stops++;
    rig_worker_stop(ctx, core);
}

static void on_worker_leaving(void *ctx)
{
    (void)ctx;
    notes->worker_leavings++;
}

static void on_worker_closing(void *ctx, struct core *core)
{
    (void)ctx, (void)core;
    notes->closings++;
}

static void on_worker_hurry(void *ctx, struct core *core)
{
    (void)ctx;
    notes->hurries += notes->closings == 1;
    if (notes->hurries_answer)
        rig_release(core);
}

static int on_validate(void *ctx)
{
    (void)ctx;
    notes->validations++;
    return notes->validate_result;
}

static void on_reload(void *ctx, struct core *core)
{
    (void)ctx;
    (void)core;
    notes->reloads++;
}

/* Of the next server; NULL: stays where it is. */
static const char *stderr_path;
static bool without_reload;

static int serve_noting(struct rig *rig, const struct net_config *config)
{
    if (stderr_path && !freopen(stderr_path, "w", stderr))
        return ERR_IO;
    const struct net_callbacks callbacks = {
        .ctx = rig,
        .worker_start = on_worker_start,
        .worker_standing_ms = on_worker_standing,
        .worker_closing = on_worker_closing,
        .worker_hurry = on_worker_hurry,
        .worker_leaving = on_worker_leaving,
        .worker_stop = on_worker_stop,
        .keeper_start = on_keeper_start,
        .keeper_tick = on_keeper_tick,
        .keeper_stop = on_keeper_stop,
        .validate = on_validate,
        .reload = without_reload ? NULL : on_reload,
        .ready = rig_ready,
    };
    return net_serve(config, &callbacks);
}

/* Starts it; *ret_status is the exit status when it did not come up. */
static bool start(struct rig *rig, struct net_config config, int *ret_status)
{
    *rig = (struct rig){0};
    assert_return_code(pipe(rig->ready), errno);
    fflush(NULL);
    rig->pid = fork();
    if (rig->pid == 0) {
        rig_be_a_child();
        close(rig->ready[0]);
        exit(serve_noting(rig, &config) < 0 ? 7 : 0);
    }
    close(rig->ready[1]);
    if (read(rig->ready[0], &rig->port, sizeof rig->port) == sizeof rig->port)
        return true;
    int status = rig_wait_exit(rig->pid);
    if (ret_status)
        *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    close(rig->ready[0]);
    return false;
}

static int reset_notes(void **state)
{
    (void)state;
    if (!notes)
        notes =
            mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(notes, 0, sizeof *notes);
    return 0;
}

#define UNTIL(condition)                                  \
    do {                                                  \
        for (int i_ = 0; i_ < 5000 && !(condition); i_++) \
            poll(NULL, 0, 2);                             \
        assert_true(condition);                           \
    } while (0)

/* The answer to "pid" on a new connection; 0 if none came (a worker just died). */
static pid_t worker_pid(const struct rig *rig)
{
    int fd = rig_connect(rig);
    struct answer a = rig_post(fd, "", "\"pid\"");
    pid_t pid = a.status == 200 ? atoi(a.body) : 0;
    answer_done(&a);
    close(fd);
    return pid;
}

static void keeper_first_then_workers_then_all_stop(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.n_workers = 2;
    assert_true(start(&rig, config, NULL));
    assert_int_equal(notes->keeper_starts, 1);
    assert_int_equal(notes->worker_starts, 2);
    UNTIL(notes->keeper_ticks > 0);
    rig_stop(&rig);
    assert_int_equal(notes->worker_stops, 2);
    assert_int_equal(notes->keeper_stops, 1);
}

static void K7_two_workers_share_the_port(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.n_workers = 2;
    assert_true(start(&rig, config, NULL));
    pid_t first = worker_pid(&rig), other = first;
    for (int i = 0; i < 400 && other == first; i++)
        other = worker_pid(&rig);
    assert_int_not_equal(other, first);
    rig_stop(&rig);
}

static void a_killed_worker_is_replaced(void **state)
{
    (void)state;
    struct rig rig;
    assert_true(start(&rig, rig_config(), NULL));
    pid_t first = worker_pid(&rig);
    kill(first, SIGKILL);
    UNTIL(notes->worker_starts == 2);
    /* connections that came meanwhile waited: none is refused */
    pid_t second = worker_pid(&rig);
    assert_true(second && second != first);
    kill(second, SIGSEGV); /* dies again, at once: backs off, but comes back */
    UNTIL(notes->worker_starts == 3);
    rig_is_alive(&rig);
    rig_stop(&rig);
}

static void a_killed_keeper_is_replaced(void **state)
{
    (void)state;
    struct rig rig;
    assert_true(start(&rig, rig_config(), NULL));
    kill(notes->keeper, SIGKILL);
    UNTIL(notes->keeper_starts == 2);
    rig_is_alive(&rig);
    rig_stop(&rig);
    assert_int_equal(notes->keeper_stops, 1);
}

static void a_worker_that_stands_still_is_killed(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.stall_ms = 600;
    assert_true(start(&rig, config, NULL));
    int fd = rig_connect(&rig);
    rig_send_post(fd, "", "\"stall\"");
    assert_true(rig_is_closed(fd));
    close(fd);
    UNTIL(notes->worker_starts == 2);
    rig_is_alive(&rig);
    rig_stop(&rig);
}

static void a_keeper_that_stands_still_is_killed(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.keeper_stall_ms = 2000;
    assert_true(start(&rig, config, NULL));
    UNTIL(notes->keeper_ticks > 0);
    assert_int_equal(notes->keeper_starts, 1); /* the second between two ticks is no stall */
    kill(notes->keeper, SIGSTOP);
    UNTIL(notes->keeper_starts == 2);
    rig_is_alive(&rig);
    int ticks = notes->keeper_ticks;
    UNTIL(notes->keeper_ticks > ticks);
    rig_stop(&rig);
    assert_int_equal(notes->keeper_starts, 2);
    assert_int_equal(notes->keeper_stops, 1);
}

static void WORKER_START_MS_kills_who_never_becomes_ready(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.start_ms = 500;
    notes->worker_stops_itself = notes->keeper_stops_itself = 2;
    assert_true(start(&rig, config, NULL));
    kill(notes->keeper, SIGKILL);
    kill(worker_pid(&rig), SIGKILL);
    UNTIL(notes->worker_starts == 3 && notes->keeper_starts == 3);
    rig_is_alive(&rig);
    rig_stop(&rig);
}

static void WORKER_START_MS_ends_a_start_that_hangs(void **state)
{
    (void)state;
    struct rig rig;
    int status = 0;
    struct net_config config = rig_config();
    config.start_ms = 500;
    notes->keeper_stops_itself = 1;
    assert_false(start(&rig, config, &status));
    assert_int_equal(status, 7);
    assert_int_equal(notes->worker_starts, 0);
    reset_notes(NULL);
    notes->worker_stops_itself = 1;
    assert_false(start(&rig, config, &status));
    assert_int_equal(status, 7);
    assert_int_equal(notes->keeper_stops, 1);
}

static void a_worker_whose_write_transaction_stands_is_killed(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.stall_ms = 600;
    assert_true(start(&rig, config, NULL));
    notes->standing_ms = 599;
    rig_is_alive(&rig);
    assert_int_equal(notes->worker_starts, 1);
    notes->standing_ms = 600;
    UNTIL(notes->worker_starts == 2);
    rig_is_alive(&rig);
    rig_stop(&rig);
}

static void replies_in_flight_are_finished_at_a_stop(void **state)
{
    (void)state;
    struct rig rig;
    assert_true(start(&rig, rig_config(), NULL));
    int idle = rig_connect(&rig), busy = rig_connect(&rig), releasing = rig_connect(&rig);
    struct answer a = rig_post(idle, "", "1");
    answer_done(&a);
    rig_send_post(busy, "", "\"never\"");
    rig_send(releasing, RIG_HEAD "Content-Length: 9\r\n\r\n\"rel");
    rig_is_alive(&rig); /* so both were read */
    kill(rig.pid, SIGTERM);
    assert_true(rig_is_closed(idle));
    rig_send(releasing, "ease\"");
    a = rig_read(releasing);
    assert_int_equal(a.status, 200);
    assert_string_equal(answer_header(&a, "Connection"), "close");
    answer_done(&a);
    a = rig_read(busy);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body, "\"released\"");
    answer_done(&a);
    close(idle), close(busy), close(releasing);
    int status = rig_wait_exit(rig.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(rig.ready[0]);
}

static void a_stop_does_not_wait_longer_than_its_grace(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.stop_grace_ms = 200;
    assert_true(start(&rig, config, NULL));
    int busy = rig_connect(&rig);
    rig_send_post(busy, "", "\"never\"");
    rig_is_alive(&rig);
    rig_stop(&rig); /* exit code 0, and nothing leaked */
    close(busy);
}

static void what_runs_is_hurried_before_the_grace_ends(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    notes->hurries_answer = 1;
    config.stop_grace_ms = 600; /* STOP_HURRY_MS is at most half of it */
    assert_true(start(&rig, config, NULL));
    int busy = rig_connect(&rig);
    rig_send_post(busy, "", "\"never\"");
    rig_is_alive(&rig);
    kill(rig.pid, SIGTERM);
    struct answer a = rig_read(busy);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body, "\"released\"");
    answer_done(&a);
    close(busy);
    int status = rig_wait_exit(rig.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(notes->closings, 1);
    assert_int_equal(notes->hurries, 1);
    close(rig.ready[0]);
}

static void orphans_of_a_killed_supervisor_end(void **state)
{
    (void)state;
    struct rig rig;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    assert_true(start(&rig, rig_config(), NULL));
    pid_t worker = worker_pid(&rig), keeper = notes->keeper;
    kill(rig.pid, SIGKILL);
    rig_wait_exit(rig.pid);
    rig_wait_exit(worker);
    rig_wait_exit(keeper);
    assert_int_equal(notes->worker_stops, 1);
    assert_int_equal(notes->keeper_stops, 1);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(rig.ready[0]);
}

static void assert_ends_well(struct rig *rig)
{
    int status = rig_wait_exit(rig->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(notes->keeper_stops, 1);
    close(rig->ready[0]);
}

static void STOP_STUCK_MS_ends_a_worker_whose_handler_does_not(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.stop_grace_ms = 200;
    notes->has_stuck_handler = 1;
    assert_true(start(&rig, config, NULL));
    rig_is_alive(&rig);
    kill(rig.pid, SIGTERM);
    assert_ends_well(&rig);
    assert_int_equal(notes->worker_leavings, 1);
    assert_int_equal(notes->worker_stops, 0);
}

static void an_orphan_whose_handler_does_not_end_ends(void **state)
{
    (void)state;
    struct rig rig;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    notes->has_stuck_handler = 1;
    assert_true(start(&rig, rig_config(), NULL));
    pid_t worker = worker_pid(&rig), keeper = notes->keeper;
    kill(rig.pid, SIGKILL);
    rig_wait_exit(rig.pid);
    rig_wait_exit(worker);
    rig_wait_exit(keeper);
    assert_int_equal(notes->worker_leavings, 1);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(rig.ready[0]);
}

static void a_keeper_stops_in_order_though_a_worker_is_killed(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.stop_grace_ms = 100;
    assert_true(start(&rig, config, NULL));
    pid_t worker = worker_pid(&rig);
    kill(worker, SIGSTOP);
    kill(rig.pid, SIGTERM);
    assert_ends_well(&rig);
}

static void sighup_is_validated_and_forwarded(void **state)
{
    (void)state;
    struct rig rig;
    struct net_config config = rig_config();
    config.n_workers = 2;
    assert_true(start(&rig, config, NULL));
    notes->validate_result = ERR_SYNTAX;
    kill(rig.pid, SIGHUP);
    UNTIL(notes->validations == 1);
    notes->validate_result = 0;
    kill(rig.pid, SIGHUP);
    UNTIL(notes->reloads == 2);
    assert_int_equal(notes->validations, 2);
    rig_is_alive(&rig);
    rig_stop(&rig);
}

static bool file_has(const char *path, const char *text)
{
    char content[4096] = {0};
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(content, 1, sizeof content - 1, f) : 0;
    if (f)
        fclose(f);
    return n && strstr(content, text);
}

static void sighup_without_reload_says_that_a_restart_is_needed(void **state)
{
    (void)state;
    struct rig rig;
    char path[] = "/tmp/tenon-test.XXXXXX";
    int fd = mkstemp(path);
    stderr_path = path;
    without_reload = true;
    assert_true(start(&rig, rig_config(), NULL));
    stderr_path = NULL;
    without_reload = false;
    kill(rig.pid, SIGHUP);
    UNTIL(file_has(path, "the configuration is read at start only; a change needs a restart"));
    rig_is_alive(&rig);
    rig_stop(&rig);
    close(fd);
    unlink(path);
}

static void a_failing_start_ends_the_server(void **state)
{
    (void)state;
    struct rig rig;
    int status = 0;
    notes->worker_result = ERR_STORE_DAMAGED;
    assert_false(start(&rig, rig_config(), &status));
    assert_int_equal(status, 7);
    assert_int_equal(notes->keeper_stops, 1);
    reset_notes(NULL);
    notes->keeper_result = ERR_STORE_DAMAGED;
    assert_false(start(&rig, rig_config(), &status));
    assert_int_equal(status, 7);
    assert_int_equal(notes->worker_starts, 0);
}

static void a_second_server_on_the_port_is_refused(void **state)
{
    (void)state;
    struct rig rig, second;
    int status = 0;
    assert_true(start(&rig, rig_config(), NULL));
    struct net_address taken = {"127.0.0.1", rig.port};
    struct net_config config = rig_config();
    config.listen = &taken;
    assert_false(start(&second, config, &status));
    assert_int_equal(status, 7);
    rig_is_alive(&rig);
    rig_stop(&rig);
    assert_true(start(&second, config, NULL)); /* free again */
    assert_int_equal(second.port, rig.port);
    rig_stop(&second);
}

static void a_second_server_on_the_directory_is_refused(void **state)
{
    (void)state;
    char dir[] = "/tmp/tenon-test.XXXXXX", data[64], port_file[64], text[16] = {0};
    assert_non_null(mkdtemp(dir));
    snprintf(data, sizeof data, "%s/data", dir);
    snprintf(port_file, sizeof port_file, "%s/port", dir);
    struct rig rig, second;
    int status = 0;
    struct net_config config = rig_config();
    config.data_dir = data;
    config.port_file = port_file;
    assert_true(start(&rig, config, NULL));
    int fd = open(port_file, O_RDONLY);
    assert_true(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    assert_int_equal(atoi(text), rig.port);
    assert_false(start(&second, config, &status));
    assert_int_equal(status, 7);
    rig_is_alive(&rig);
    /* a killed server's successor waits for the orphans and then starts */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t worker = worker_pid(&rig), keeper = notes->keeper;
    kill(rig.pid, SIGKILL);
    rig_wait_exit(rig.pid);
    close(rig.ready[0]);
    assert_true(start(&second, config, NULL));
    rig_wait_exit(worker);
    rig_wait_exit(keeper);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    rig_stop(&second);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

static void T_04_K8_only_the_address_asked_for_is_bound(void **state)
{
    (void)state;
    struct rig rig;
    assert_true(start(&rig, rig_config(), NULL));
    struct sockaddr_in other = {.sin_family = AF_INET, .sin_port = htons(rig.port)};
    inet_pton(AF_INET, "127.0.0.2", &other.sin_addr); /* all of 127/8 is ours to try */
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&other, sizeof other), -1);
    assert_int_equal(errno, ECONNREFUSED);
    close(fd);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(rig.port)};
    six.sin6_addr = in6addr_loopback;
    fd = socket(AF_INET6, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&six, sizeof six), -1);
    close(fd);
    rig_stop(&rig);
}

static void a_public_address_must_be_allowed(void **state)
{
    (void)state;
    struct rig rig;
    int status = 0;
    const struct net_address everywhere = {"0.0.0.0", 0}, nowhere = {"example.invalid", 0};
    struct net_config config = rig_config();
    config.listen = &everywhere;
    assert_false(start(&rig, config, &status));
    assert_int_equal(status, 7);
    config.listen = &nowhere;
    config.allow_public = true;
    assert_false(start(&rig, config, &status));
    config.n_workers = WORKERS_MAX + 1;
    assert_false(start(&rig, config, &status));
}

static void several_addresses(void **state)
{
    (void)state;
    struct rig rig;
    const struct net_address both[] = {{"localhost", 0}, {"127.0.0.2", 0}};
    struct net_config config = rig_config();
    config.listen = both;
    config.n_listen = 2;
    config.n_workers = 2;
    assert_true(start(&rig, config, NULL));
    rig_is_alive(&rig);
    rig_stop(&rig);
}

#define TEST(fn) cmocka_unit_test_setup(fn, reset_notes)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeper_first_then_workers_then_all_stop),
        TEST(K7_two_workers_share_the_port),
        TEST(a_killed_worker_is_replaced),
        TEST(a_killed_keeper_is_replaced),
        TEST(a_worker_that_stands_still_is_killed),
        TEST(a_keeper_that_stands_still_is_killed),
        TEST(WORKER_START_MS_kills_who_never_becomes_ready),
        TEST(WORKER_START_MS_ends_a_start_that_hangs),
        TEST(a_worker_whose_write_transaction_stands_is_killed),
        TEST(replies_in_flight_are_finished_at_a_stop),
        TEST(a_stop_does_not_wait_longer_than_its_grace),
        TEST(what_runs_is_hurried_before_the_grace_ends),
        TEST(orphans_of_a_killed_supervisor_end),
        TEST(STOP_STUCK_MS_ends_a_worker_whose_handler_does_not),
        TEST(an_orphan_whose_handler_does_not_end_ends),
        TEST(a_keeper_stops_in_order_though_a_worker_is_killed),
        TEST(sighup_is_validated_and_forwarded),
        TEST(sighup_without_reload_says_that_a_restart_is_needed),
        TEST(a_failing_start_ends_the_server),
        TEST(a_second_server_on_the_port_is_refused),
        TEST(a_second_server_on_the_directory_is_refused),
        TEST(T_04_K8_only_the_address_asked_for_is_bound),
        TEST(a_public_address_must_be_allowed),
        TEST(several_addresses),
    };
    return cmocka_run_group_tests_name("supervisor", tests, NULL, NULL);
}
