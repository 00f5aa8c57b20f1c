/* tests/unit/test_core_operations_sessions.c - list_sessions and close_session: what an operator
 * sees of the sessions of clients, and how one ends. */
#include "base/clock.h"
#include "tests/unit/ask.h"

static const struct str all[] = {STR_INIT("*")};
static char application[128], operations[128]; /* ids */

/* One session of each profile, in this order; the bench goes on with the second. */
static int open_two(void **state)
{
    struct core_config config = bench_config;
    config.operations_allow = (struct name_globs){all, 1};
    bench_open(&bench, &config);
    bench_connect(&bench, "2025-03-26");
    strcpy(application, bench.session);
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(&bench, "2025-06-18");
    strcpy(operations, bench.session);
    *state = &bench;
    return 0;
}

static void call_tool(const char *name, const char *args, const char *pattern)
{
    char params[1024];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", name, args);
    ask_method(&bench, "tools/call", params, pattern);
}

/* A member of the i-th session of the last answer. */
static void session_member(uint32_t i, const char *name, char ret[128])
{
    struct arena arena;
    arena_init(&arena, 0);
    const struct tape_node *sessions =
        tape_get(tape_get(tape_get(open_json(&arena, buf_str(&bench.body)), STR("result")),
                          STR("structuredContent")),
                 STR("sessions"));
    const struct tape_node *session = sessions + 1;
    assert_true(i < sessions->n);
    while (i--)
        session = tape_next(session);
    snprintf(ret, 128, STR_FMT, STR_ARG(tape_str(tape_get(session, str_of(name)))));
    arena_done(&arena);
}

/* The handle of the session of this profile. */
static void handle_of(const char *profile, char ret[128])
{
    char found[128] = "";
    call_tool("list_sessions", "{}", "{\"-\":[\"isError\"]}");
    for (uint32_t i = 0; strcmp(found, profile) != 0; i++) {
        session_member(i, "profile", found);
        session_member(i, "session", ret);
    }
}

static void close_it(const char *handle, const char *pattern)
{
    char args[256];
    snprintf(args, sizeof args, "{\"session\":\"%s\"}", handle);
    call_tool("close_session", args, pattern);
}

static void sessions_are_listed_without_their_ids(void **state)
{
    (void)state;
    call_tool("list_sessions", "{}",
              "{\"structuredContent\":{\"sessions\":[{\"session\":\"*\",\"user\":\"\",\"client\":{"
              "\"name\":\"c\",\"version\":\"1\"},\"initialized\":true,\"created\":\"*\",\"active\":"
              "\"*\",\"expires\":\"*\"},{\"session\":\"*\"}],\"-\":[\"nextCursor\"]}}");
    assert_null(strstr(bench.body.p, application));
    assert_null(strstr(bench.body.p, operations));
    assert_null(strstr(bench.body.p, application + 8)); /* what is random in it */
    assert_null(strstr(bench.body.p, operations + 8));
}

static void one_that_was_never_initialized_is_listed_as_such(void **state)
{
    char session[128];
    (void)state;
    strcpy(session, bench.session);
    bench.session[0] = bench.version[0] = '\0';
    ask(&bench, 200, INITIALIZE("2025-06-18"), "{\"id\":0,\"result\":{\"protocolVersion\":\"*\"}}");
    strcpy(bench.session, session);
    call_tool("list_sessions", "{}", "{\"-\":[\"isError\"]}");
    assert_non_null(strstr(bench.body.p, "\"initialized\":false"));
}

static void expired_ones_are_not_listed(void **state)
{
    (void)state;
    clock_advance_ms(bench_config.session_idle_ms + 1000);
    bench_connect(&bench, "2025-06-18");
    call_tool(
        "list_sessions", "{}",
        "{\"structuredContent\":{\"sessions\":[{\"profile\":\"operations\",\"current\":true}]}}");
}

/* Twenty-two sessions by pages of five: each once, though one comes and one goes meanwhile. */
static void pages_show_each_session_once(void **state)
{
    static char seen[64][128];
    char args[1024] = "{\"limit\":5}", handle[128];
    uint32_t n = 0, n_pages = 0;
    (void)state;
    for (int i = 0; i < 20; i++)
        bench_connect(&bench, "2025-06-18");
    for (bool more = true; more; n_pages++) {
        struct arena arena;
        call_tool("list_sessions", args, "{\"-\":[\"isError\"]}");
        arena_init(&arena, 0);
        const struct tape_node *page =
            tape_get(tape_get(open_json(&arena, buf_str(&bench.body)), STR("result")),
                     STR("structuredContent"));
        const struct tape_node *cursor = tape_get(page, STR("nextCursor"));
        uint32_t in_page = tape_get(page, STR("sessions"))->n;
        for (uint32_t i = 0; i < in_page; i++, n++) {
            session_member(i, "session", seen[n]);
            for (uint32_t j = 0; j < n; j++)
                assert_string_not_equal(seen[j], seen[n]);
        }
        more = cursor != NULL;
        assert_true(in_page == 5 || !more);
        if (more)
            snprintf(args, sizeof args, "{\"limit\":5,\"cursor\":\"" STR_FMT "\"}",
                     STR_ARG(tape_str(cursor)));
        arena_done(&arena);
        if (n_pages == 0) { /* the last one sent goes, its place stays */
            strcpy(handle, seen[n - 1]);
            close_it(handle, "{\"structuredContent\":{\"closed\":true}}");
            if (bench.status == 200)
                bench_connect(&bench, "2025-06-18");
        }
    }
    assert_in_range(n, 22, 23);
    assert_in_range(n_pages, 5, 5);
}

static void a_wrong_cursor_is_refused(void **state)
{
    (void)state;
    call_tool("list_sessions", "{\"cursor\":\"AAAA\"}",
              "!{\"code\":-32602,\"message\":\"Invalid cursor\",\"data\":{\"pointer\":"
              "\"/params/arguments/cursor\"}}");
    call_tool("list_sessions", "{\"limit\":0}", "!{\"code\":-32602}");
    call_tool("list_sessions", "{\"limit\":201}", "!{\"code\":-32602}");
}

static void a_closed_session_is_gone(void **state)
{
    char handle[128];
    (void)state;
    handle_of("application", handle);
    close_it(handle, "{\"structuredContent\":{\"closed\":true}}");
    assert_null(strstr(bench.body.p, application));
    close_it(handle, "{\"isError\":true}");
    call_tool("list_sessions", "{}", "{\"structuredContent\":{\"sessions\":[{\"current\":true}]}}");
    bench.profile = PROFILE_APPLICATION;
    strcpy(bench.session, application);
    ask(&bench, 404, PING, "{\"error\":{\"code\":-32600}}");
    bench_connect(&bench, "2025-06-18");
    ask(&bench, 200, PING, PONG);
}

static void an_operator_may_close_the_own_session(void **state)
{
    char handle[128];
    (void)state;
    handle_of("operations", handle);
    close_it(handle, "{\"structuredContent\":{\"closed\":true}}");
    ask(&bench, 404, PING, "{\"error\":{\"code\":-32600}}");
}

static void what_is_no_handle_closes_nothing(void **state)
{
    (void)state;
    close_it("", "{\"isError\":true}");
    close_it("0123456789abcdef", "{\"isError\":true}");
    close_it(application, "{\"isError\":true}"); /* the id itself is none */
    call_tool("close_session", "{}", "!{\"code\":-32602}");
    call_tool("list_sessions", "{}", "{\"structuredContent\":{\"sessions\":[\"*\",\"*\"]}}");
}

static void by_default_sessions_are_listed_but_not_closed(void **state)
{
    (void)state;
    bench_open(&bench, &bench_config);
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(&bench, "2025-06-18");
    call_tool("list_sessions", "{}", "{\"structuredContent\":{\"sessions\":[{\"current\":true}]}}");
    call_tool("close_session", "{\"session\":\"x\"}",
              "!{\"code\":-32602,\"message\":\"Unknown tool: close_session\"}");
    bench_close(&bench);
}

#define TWO_TEST(f) cmocka_unit_test_setup_teardown(f, open_two, close_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWO_TEST(sessions_are_listed_without_their_ids),
        TWO_TEST(one_that_was_never_initialized_is_listed_as_such),
        TWO_TEST(pages_show_each_session_once),
        TWO_TEST(a_wrong_cursor_is_refused),
        TWO_TEST(a_closed_session_is_gone),
        TWO_TEST(an_operator_may_close_the_own_session),
        TWO_TEST(what_is_no_handle_closes_nothing),
        cmocka_unit_test(by_default_sessions_are_listed_but_not_closed),
        TWO_TEST(expired_ones_are_not_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
