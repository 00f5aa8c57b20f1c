/* tests/unit/test_http_streams.c - streams of events over HTTP, against a real server. */
#include "stream_rig.h"

#include "base/clock.h"

static struct rig rig;

static void wait_for(const char *word, long number)
{
    for (int64_t since_ms = clock_mono_ms(); clock_mono_ms() - since_ms < RIG_WAIT_MS;)
        if (rig_ask(&rig, word) == number)
            return;
    fail_msg("%s is not %ld", word, number);
}

/* ---- POST -------------------------------------------------------------------------------------*/

static void expect_numbers(struct reader *r, long n)
{
    for (long i = 1; i <= n; i++) {
        char id[32], data[32];
        snprintf(id, sizeof id, "s.%ld", i);
        snprintf(data, sizeof data, "{\"n\":%ld}", i);
        reader_expect(r, id, data);
    }
    reader_expect_end(r);
}

/* Whether the stream or the call ends first; and the connection serves the next request. */
static void T_10_a_post_as_a_stream(void **state)
{
    (void)state;
    static const char *const words[] = {"\"stream 3\"", "\"early 3\"", "\"stream 0\"",
                                        "\"early 1\""};
    static const long n[] = {3, 3, 0, 1};
    int fd = rig_connect(&rig);
    for (int i = 0; i < 4; i++) {
        struct reader r = reader_post(fd, words[i]);
        assert_true(r.is_chunked);
        assert_null(answer_header(&r.head, "Connection"));
        expect_numbers(&r, n[i]);
        answer_done(&r.head);
        free(r.in);
    }
    struct answer a = rig_post(fd, "", "{\"json\":1}");
    assert_string_equal(a.body, "{\"json\":1}");
    assert_int_equal(rig_ask(&rig, "\"calls\""), 0);
    answer_done(&a);
    close(fd);
}

static void T_27_a_message_with_line_ends(void **state)
{
    (void)state;
    struct reader r = reader_post(rig_connect(&rig), "\"hold\"");
    reader_expect(&r, "s.1", "{\"held\":true}");
    int fd = rig_connect(&rig);
    struct answer a = rig_post(fd, "", "\"tell {\r\n\"a\":\n\r1\n}\"");
    answer_done(&a);
    close(fd);
    reader_expect(&r, "s.2", "{  \"a\":  1 }");
    rig_ask(&rig, "\"end\"");
    reader_expect_end(&r);
    reader_done(&r);
}

static void many_events_of_one_turn_are_one_write(void **state)
{
    (void)state;
    static char got[65536];
    int fd = rig_connect(&rig);
    rig_send_post(fd, "", "\"stream 500\"");
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t n = 0;
    int n_reads = 0;
    while (n < 5 || memcmp(got + n - 5, "0\r\n\r\n", 5)) {
        assert_int_equal(poll(&p, 1, RIG_WAIT_MS), 1);
        ssize_t more = recv(fd, got + n, sizeof got - n, 0);
        assert_true(more > 0);
        n += (size_t)more;
        n_reads++;
    }
    assert_true(n_reads <= 2); /* 500 events; two when it was cut by the read */
    close(fd);
}

static void a_message_larger_than_what_may_wait(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    struct reader r = reader_post(fd, "\"huge 3000000\"");
    struct event e = reader_event(&r);
    assert_int_equal(strlen(e.data), 3000000);
    free(e.data);
    reader_expect_end(&r);
    answer_done(&r.head);
    free(r.in);
    r = reader_post(fd, "\"stream 1\"");
    expect_numbers(&r, 1);
    reader_done(&r);
}

/* HTTP/1.0 has no chunks: the stream ends with the connection. */
static void a_client_of_http_1_0(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send(fd, "POST /mcp HTTP/1.0\r\nConnection: keep-alive\r\n"
                 "Content-Type: application/json\r\n"
                 "Content-Length: 10\r\n\r\n\"stream 2\"");
    struct reader r = reader_begin(fd);
    assert_false(r.is_chunked);
    assert_string_equal(answer_header(&r.head, "Connection"), "close");
    expect_numbers(&r, 2);
    assert_true(rig_is_closed(fd));
    reader_done(&r);
    fd = rig_connect(&rig);
    rig_send(fd, "GET /mcp HTTP/1.0\r\n\r\n");
    r = reader_begin(fd);
    reader_expect_comment(&r);
    rig_ask(&rig, "\"end\"");
    reader_expect_end(&r);
    reader_done(&r);
}

static void a_stream_names_the_allowed_origin(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    rig_send_post(fd, "Origin: http://localhost:6274\r\n", "\"stream 1\"");
    struct reader r = reader_begin(fd);
    assert_string_equal(answer_header(&r.head, "Access-Control-Allow-Origin"),
                        "http://localhost:6274");
    assert_string_equal(answer_header(&r.head, "Vary"), "Origin");
    reader_done(&r);
}

/* A second request behind a stream that is open cannot be served, but is never mixed with it. */
static void K1_a_request_behind_a_stream(void **state)
{
    (void)state;
    struct reader r = reader_post(rig_connect(&rig), "\"hold\"");
    reader_expect(&r, "s.1", "{\"held\":true}");
    rig_send_post(r.fd, "", "{\"second\":1}");
    assert_true(rig_is_closed(r.fd));
    assert_int_equal(rig_ask(&rig, "\"lost\""), 1);
    assert_int_equal(rig_ask(&rig, "\"orphans\""), 1);
    rig_ask(&rig, "\"end\"");
    assert_int_equal(rig_ask(&rig, "\"calls\""), 0);
    reader_done(&r);
}

/* Both in one segment: the first is streamed whole, or at least nothing of another. */
static void K1_two_streams_in_one_segment(void **state)
{
    (void)state;
    char text[2048];
    int fd = rig_connect(&rig), n = 0;
    for (int i = 0; i < 2; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      RIG_HEAD "Content-Length: 10\r\n\r\n\"stream 2\"");
    rig_send_n(fd, text, (size_t)n);
    struct reader r = reader_begin(fd);
    expect_numbers(&r, 2);
    answer_done(&r.head);
    free(r.in);
    if (!rig_is_closed(fd))
        rig_is_alive(&rig);
    close(fd);
    rig_is_alive(&rig);
}

static uint32_t fuzz_state = 20250618;

static uint32_t fuzz_below(uint32_t n)
{
    fuzz_state = fuzz_state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)fuzz_state * n) >> 32);
}

static const char *const fuzz_bodies[] = {"\"stream 3\"", "\"early 1\"", "\"stream 0\"",
                                          "{\"json\":1}", "\"later\""};

/* The answers that come are whole, and in order; the connection may end after any of them. */
static int read_in_order(int fd, const uint32_t *kinds, int n)
{
    static const long n_events[] = {3, 1, 0};
    for (int i = 0; i < n; i++) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char c;
        assert_int_equal(poll(&p, 1, RIG_WAIT_MS), 1);
        if (recv(fd, &c, 1, MSG_PEEK) <= 0)
            return i;
        if (kinds[i] < 3) {
            struct reader r = reader_begin(fd);
            r.is_unbuffered = true; /* the next answer may follow at once */
            expect_numbers(&r, n_events[kinds[i]]);
            answer_done(&r.head);
            free(r.in);
        } else {
            struct answer a = rig_read(fd);
            assert_string_equal(a.body, fuzz_bodies[kinds[i]]);
            answer_done(&a);
        }
    }
    return n;
}

/* One to four requests, cut into segments at random. */
static void fuzz_connection(void)
{
    char text[4096];
    uint32_t kinds[4];
    int n_requests = 1 + (int)fuzz_below(4), fd = rig_connect(&rig);
    size_t n = 0, at = 0;
    for (int i = 0; i < n_requests; i++) {
        kinds[i] = fuzz_below(5);
        const char *body = fuzz_bodies[kinds[i]];
        n += (size_t)snprintf(text + n, sizeof text - n, RIG_HEAD "Content-Length: %zu\r\n\r\n%s",
                              strlen(body), body);
    }
    while (at < n) {
        size_t piece = fuzz_below(3) ? 1 + fuzz_below(300) : n - at;
        piece = piece < n - at ? piece : n - at;
        rig_send_n(fd, text + at, piece);
        at += piece;
    }
    int answered = read_in_order(fd, kinds, n_requests);
    if (n_requests == 1)
        assert_int_equal(answered, 1);
    close(fd);
}

static void K1_fuzz_of_streams(void **state)
{
    (void)state;
    const char *rounds = getenv("TENON_FUZZ_ROUNDS");
    for (int i = rounds ? atoi(rounds) : 300; i > 0; i--)
        fuzz_connection();
    rig_is_alive(&rig);
    wait_for("\"calls\"", 0);
}

/* ---- GET --------------------------------------------------------------------------------------*/

static void T_20_a_get_is_a_stream_at_once(void **state)
{
    (void)state;
    struct reader r = reader_get(rig_connect(&rig), "");
    int fd = rig_connect(&rig);
    assert_int_equal(rig_ask(&rig, "\"open\""), 1);
    assert_int_equal(rig_ask(&rig, "\"calls\""), 0); /* it is only a connection now */
    struct answer a = rig_post(fd, "", "\"tell {\"a\":1}\"");
    answer_done(&a);
    close(fd);
    reader_expect(&r, "s.1", "{\"a\":1}");
    rig_ask(&rig, "\"end\"");
    reader_expect_end(&r);
    assert_true(rig_is_closed(r.fd));
    reader_done(&r);
}

static void T_21_a_get_must_accept_it(void **state)
{
    (void)state;
    static const char *const refused[] = {"application/json", "text/html, application/json",
                                          "text/event-stream;q=0"};
    static const char *const taken[] = {"Accept: */*\r\n", "Accept: text/*\r\n", ""};
    char text[256];
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n\r\n",
                 refused[i]);
        assert_int_equal(rig_status(&rig, text), 406);
        snprintf(text, sizeof text, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n%s\r\n", taken[i]);
        assert_int_equal(rig_status(&rig, text), 200);
    }
    assert_int_equal(rig_status(&rig, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n"
                                      "Origin: http://evil.example\r\n\r\n"),
                     403);
    assert_int_equal(rig_status(&rig, "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404);
    assert_int_equal(rig_status(&rig, "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405);
}

static void X_01_last_event_id_reaches_core(void **state)
{
    (void)state;
    struct reader r = reader_get(rig_connect(&rig), "LAST-event-id:  0123456789abcdef.17 \r\n");
    reader_expect(&r, "0123456789abcdef.17", "{\"resumed\":true}");
    reader_done(&r);
}

/* ---- The program ------------------------------------------------------------------------------*/

static int start(void **state)
{
    (void)state;
    rig_handle_more = rig_stream_words;
    return rig_start(&rig, rig_config()) ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    rig_ask(&rig, "\"end\"");
    wait_for("\"open\"", 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    rig_stop(&rig);
    return 0;
}

#define T(name) cmocka_unit_test_teardown(name, clean)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        T(T_10_a_post_as_a_stream),
        T(T_27_a_message_with_line_ends),
        T(many_events_of_one_turn_are_one_write),
        T(a_message_larger_than_what_may_wait),
        T(a_client_of_http_1_0),
        T(a_stream_names_the_allowed_origin),
        T(K1_a_request_behind_a_stream),
        T(K1_two_streams_in_one_segment),
        T(K1_fuzz_of_streams),
        T(T_20_a_get_is_a_stream_at_once),
        T(T_21_a_get_must_accept_it),
        T(X_01_last_event_id_reaches_core),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, start, stop);
}
