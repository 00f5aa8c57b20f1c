/* tests/unit/test_stdio.c - the stdio transport: lines in, lines out, and when it ends. */
#include "stream_rig.h"

#include "base/clock.h"

struct pipes {
    pid_t pid;
    int in, out; /* ours: in is written, out is read */
};

static int serve_stdio(void)
{
    rig_handle_more = rig_stream_words;
    const struct net_callbacks callbacks = {
        .worker_start = rig_worker_start,
        .worker_stop = rig_worker_stop,
    };
    return net_stdio(&callbacks, 1000);
}

static struct pipes open_stdio(void)
{
    int in[2], out[2];
    assert_return_code(pipe(in), errno);
    assert_return_code(pipe(out), errno);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        exit(serve_stdio() < 0);
    }
    close(in[0]);
    close(out[1]);
    return (struct pipes){pid, in[1], out[0]};
}

static void put(const struct pipes *p, const char *text)
{
    assert_int_equal(write(p->in, text, strlen(text)), strlen(text));
}

static void expect(const struct pipes *p, const char *text)
{
    char got[4096] = {0};
    size_t n = strlen(text), at = 0;
    while (at < n) {
        ssize_t r = read(p->out, got + at, n - at);
        assert_true(r > 0);
        at += (size_t)r;
    }
    assert_string_equal(got, text);
}

/* End of input; nothing more may come out, and the exit code is 0. */
static void end(struct pipes *p)
{
    char c;
    close(p->in);
    assert_int_equal(read(p->out, &c, 1), 0);
    close(p->out);
    assert_int_equal(rig_wait_exit(p->pid), 0);
}

static void each_line_gets_its_answer(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "{\"a\":1}\n");
    expect(&p, "{\"a\":1}\n");
    put(&p, "{\"b\":2}\r\n\n  \n{\"c\":");
    expect(&p, "{\"b\":2} \n"); /* the echo has the CR as a blank */
    put(&p, "3}\n\"later\"\n");
    expect(&p, "{\"c\":3}\n\"later\"\n");
    end(&p);
}

static void IO_06_end_of_input_ends_with_0_within_2_s(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    int64_t before_ms = clock_mono_ms();
    put(&p, "\"never\"\n");
    close(p.in);
    assert_int_equal(rig_wait_exit(p.pid), 0);
    assert_true(clock_mono_ms() - before_ms < 2000);
    close(p.out);
}

static void IO_06_sigterm_ends_it_too(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "1\n");
    expect(&p, "1\n");
    kill(p.pid, SIGTERM);
    assert_int_equal(rig_wait_exit(p.pid), 0);
    close(p.in), close(p.out);
}

static void answers_are_written_before_it_ends(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "1\n\"later\"\n2"); /* the last line has no end */
    close(p.in);
    char got[64] = {0};
    size_t at = 0;
    for (ssize_t n; (n = read(p.out, got + at, sizeof got - 1 - at)) > 0;)
        at += (size_t)n;
    assert_true(strstr(got, "1\n") && strstr(got, "2\n") && strstr(got, "\"later\"\n"));
    assert_int_equal(at, 12);
    assert_int_equal(rig_wait_exit(p.pid), 0);
    close(p.out);
}

static void a_notification_writes_nothing(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "\"note\"\n7\n");
    expect(&p, "7\n");
    end(&p);
}

static void a_line_over_the_limit_is_refused_once(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    char line[1002];
    memset(line, ' ', sizeof line);
    line[0] = '1', line[1000] = '\n', line[1001] = 0;
    put(&p, line); /* exactly the limit */
    char got[1001];
    size_t at = 0;
    while (at < 1001)
        at += (size_t)read(p.out, got + at, 1001 - at);
    memset(line, 'x', sizeof line - 1);
    for (int i = 0; i < 100; i++) /* far over it, in pieces */
        put(&p, line);
    put(&p, "\n8\n");
    expect(&p, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
               "\"message\":\"Request body is too large\"}}\n8\n");
    end(&p);
}

static void IO_01_an_answer_is_one_line(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "[1,\r2]\n");
    expect(&p, "[1, 2]\n");
    end(&p);
}

static void a_reader_that_pauses_gets_all(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    for (int i = 0; i < 20; i++)
        put(&p, "\"big 500000\"\n");
    put(&p, "9\n");
    size_t n = 0;
    char chunk[65536], last[2] = {0};
    while (n < 20 * 500001 + 2) {
        ssize_t r = read(p.out, chunk, sizeof chunk);
        assert_true(r > 0);
        n += (size_t)r;
        last[0] = r > 1 ? chunk[r - 2] : last[1];
        last[1] = chunk[r - 1];
    }
    assert_memory_equal(last, "9\n", 2);
    end(&p);
}

static void a_client_that_closes_stdout_ends_it(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    close(p.out);
    put(&p, "1\n2\n");
    assert_int_equal(rig_wait_exit(p.pid), 0);
    close(p.in);
}

/* ---- Streams: lines as all others, without ids ------------------------------------------------*/

static void a_call_that_streams(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "\"stream 2\"\n1\n");
    expect(&p, "{\"n\":1}\n{\"n\":2}\n1\n");
    put(&p, "\"early 2\"\n1\n"); /* its call is over before its stream */
    expect(&p, "{\"n\":1}\n{\"n\":2}\n1\n");
    put(&p, "\"hold\"\n\"hold\"\n\"tell {\"a\":\r1}\"\n\"end\"\n\"calls\"\n");
    expect(&p, "{\"held\":true}\n{\"held\":true}\n{\"a\": 1}\n{\"a\": 1}\n\"told\"\n\"end\"\n0\n");
    end(&p);
}

static void what_belongs_to_no_call_goes_to_stdout(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "\"push {\"a\":1}\"\n2\n");
    expect(&p, "{\"a\":1}\n\"pushed\"\n2\n");
    put(&p, "\"taken\"\n"); /* the pipe has it */
    expect(&p, "1\n");
    end(&p);
}

static void streams_end_with_stdout(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "\"hold\"\n");
    expect(&p, "{\"held\":true}\n");
    close(p.out);
    put(&p, "\"tell 1\"\n\"push 1\"\n\"stream 3\"\n"); /* and no sink any more */
    assert_int_equal(rig_wait_exit(p.pid), 0);
    close(p.in);
}

static void streams_end_with_the_input(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "\"hold\"\n\"hold\"\n");
    expect(&p, "{\"held\":true}\n{\"held\":true}\n");
    close(p.in);
    assert_int_equal(rig_wait_exit(p.pid), 0);
    close(p.out);
}

/* All is taken meanwhile, since nothing else keeps it. */
static void a_flood_to_a_reader_that_pauses(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "\"flood 5000\"\n3\n");
    size_t n = 0, wanted = 5000 * (FLOOD_BYTES + 1) + 2;
    char chunk[65536];
    while (n < wanted) {
        ssize_t r = read(p.out, chunk, sizeof chunk);
        assert_true(r > 0);
        n += (size_t)r;
    }
    assert_int_equal(n, wanted);
    end(&p);
}

static void a_reader_that_never_reads_is_given_up(void **state)
{
    (void)state;
    struct pipes p = open_stdio();
    put(&p, "\"flood 80000\"\n");
    assert_int_equal(rig_wait_exit(p.pid), 0);
    close(p.in), close(p.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_gets_its_answer),
        cmocka_unit_test(IO_06_end_of_input_ends_with_0_within_2_s),
        cmocka_unit_test(IO_06_sigterm_ends_it_too),
        cmocka_unit_test(answers_are_written_before_it_ends),
        cmocka_unit_test(a_notification_writes_nothing),
        cmocka_unit_test(a_line_over_the_limit_is_refused_once),
        cmocka_unit_test(IO_01_an_answer_is_one_line),
        cmocka_unit_test(a_reader_that_pauses_gets_all),
        cmocka_unit_test(a_client_that_closes_stdout_ends_it),
        cmocka_unit_test(a_call_that_streams),
        cmocka_unit_test(what_belongs_to_no_call_goes_to_stdout),
        cmocka_unit_test(streams_end_with_stdout),
        cmocka_unit_test(streams_end_with_the_input),
        cmocka_unit_test(a_flood_to_a_reader_that_pauses),
        cmocka_unit_test(a_reader_that_never_reads_is_given_up),
    };
    return cmocka_run_group_tests_name("stdio", tests, NULL, NULL);
}
