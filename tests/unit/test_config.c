/* tests/unit/test_config.c - settings: defaults, the file with its faults by line, flags on top. */
#include "cli_limits.h"
#include "config.h"

#include "base/err.h"
#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    struct arena arena;
    struct config config;
    struct config_fault fault;
};

static int load(struct fixture *f, const char *text)
{
    char path[] = "/tmp/tenon-config.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    arena_init(&f->arena, 0);
    config_init(&f->config);
    memset(&f->fault, 0, sizeof f->fault);
    int err = config_load(&f->config, path, &f->arena, &f->fault);
    unlink(path);
    return err;
}

static void defaults_are_those_of_the_table(void **state)
{
    struct config c;
    (void)state;
    config_init(&c);
    assert_string_equal(c.listen.host, "127.0.0.1");
    assert_int_equal(c.listen.port, 8750);
    assert_string_equal(c.data_dir, "data");
    assert_string_equal(c.mount_path, "/mcp");
    assert_int_equal(c.session_idle_s, SESSION_IDLE_S);
    assert_int_equal(c.body_limit_bytes, BODY_LIMIT_BYTES);
    assert_int_equal(c.list_page, LIST_PAGE);
    assert_int_equal(c.max_connections, CONNS_MAX);
    assert_int_equal(c.max_sessions, SESSIONS_MAX);
    assert_int_equal(c.search_max, SEARCH_MAX);
    assert_int_equal(c.max_tools, 200);
    assert_false(c.allow_client_delete);
    assert_int_equal(c.mode, STORE_SYNC);
}

static void a_file_sets_every_kind_of_key(void **state)
{
    struct fixture f;
    (void)state;
    assert_int_equal(load(&f, "{\"listen\": \"[::1]:0\", \"dataDir\": \"/x\", \"workers\": 2,\n"
                              "\"mode\": \"nosync\", \"allowedOrigins\": [\"http://a\", \"*\"],\n"
                              "\"mcp\": {\"session\": {\"idleTimeoutSeconds\": 5.0,\n"
                              "\"allowClientDelete\": true},\n"
                              "\"application\": {\"mountPath\": \"/db\"}}}"),
                     0);
    assert_string_equal(f.config.listen.host, "::1");
    assert_int_equal(f.config.listen.port, 0);
    assert_string_equal(f.config.data_dir, "/x");
    assert_int_equal(f.config.mode, STORE_NOSYNC);
    assert_int_equal(f.config.allowed_origins.n, 2);
    assert_true(str_eq(f.config.allowed_origins.v[1], STR("*")));
    assert_int_equal(f.config.session_idle_s, 5);
    assert_true(f.config.allow_client_delete);
    assert_string_equal(f.config.mount_path, "/db");
    arena_done(&f.arena);
}

static const struct {
    const char *text;
    uint32_t line;
    const char *says;
} wrong[] = {
    {"{\n\"worker\": 2}", 2, "worker: unknown key; known here: listen, dataDir"},
    {"{\"mcp\":\n{\"session\":\n{\"idle\": 1}}}", 3,
     "mcp.session.idle: unknown key; known here: idleTimeoutSeconds, allowClientDelete"},
    {"{\"mcp.session.idleTimeoutSeconds\": 5}", 1, "unknown key"},
    {"{\n\n\"workers\": \"2\"}", 3, "workers: expected a whole number from 0 to 64"},
    {"{\"workers\": -1}", 1, "workers: expected a whole number"},
    {"{\"workers\": 1.5}", 1, "workers: expected a whole number"},
    {"{\"workers\": 65}", 1, "from 0 to 64"},
    {"{\"workers\": 4294967297}", 1, "from 0 to 64"},
    {"{\"mode\": \"fast\"}", 1, "mode: expected \"sync\" or \"nosync\""},
    {"{\"mode\": 1}", 1, "mode: expected \"sync\" or \"nosync\""},
    {"{\"listen\": \"8750\"}", 1, "listen: expected HOST:PORT"},
    {"{\"listen\": \"::1:8750\"}", 1, "listen: expected HOST:PORT"},
    {"{\"listen\": \"localhost:65536\"}", 1, "listen: expected HOST:PORT"},
    {"{\"dataDir\": \"\"}", 1, "dataDir: expected a string that is not empty"},
    {"{\"dataDir\": \"a\\u0000b\"}", 1, "dataDir: expected"},
    {"{\"allowedHosts\": \"a\"}", 1, "allowedHosts: expected an array of strings"},
    {"{\"allowedHosts\": [1]}", 1, "allowedHosts: expected an array of strings"},
    {"{\"mcp\": {\"session\": {\"allowClientDelete\": 1}}}", 1, "expected true or false"},
    {"{\"mcp\": {\"application\": {\"mountPath\": \"mcp\"}}}", 1, "expected a path"},
    {"{\"mcp\": 1}", 1, "mcp: expected an object"},
    {"[]", 1, "expected an object"},
    {"{\"workers\": 1,\n\"workers\": 2}", 2, "workers: stands twice"},
    {"{\"mcp\": {\"session\": {\n\"idleTimeoutSeconds\": 1,\"idleTimeoutSeconds\": 1}}}", 2,
     "mcp.session.idleTimeoutSeconds: stands twice"},
    {"{\"a/b\": {\n\"x\": 1}}", 1, "unknown key"},
    {"{\n\"workers\": 1e999}", 2, "workers: expected"},
    {"{\"workers\": 1e300}", 1, "workers: expected a whole number from 0 to 64"},
    {"{\"listen\": \"[::1:80\"}", 1, "listen: expected HOST:PORT"},
    {"{\"listen\": \"[]:80\"}", 1, "listen: expected HOST:PORT"},
    {"{\"allowedHosts\": [\"a\",\n\"\"]}", 2, "allowedHosts: expected an array of strings"},
    {"{\"mcp\":\n{\"operations\": 1}}", 2, "mcp.operations: expected an object"},
    {"{\"mcp\": {\"operations\": {\"x\": 1}}}", 1, "mcp.operations.x: unknown key"},
    {"{\"mcp\": {\"application\": {\"quota\": 1}}}", 1, "quota: expected an object"},
    {"{\"mcp\": {\"application\": {\"deny\": [1]}}}", 1, "deny: expected an array"},
    {"{\"mcp\": {\"serverRequest\": {\"timeoutMs\": 0}}}", 1, "timeoutMs: expected a whole"},
    {"{\"mcp\": {\"serverRequest\": {\"timeoutMs\": 3600001}}}", 1, "from 1 to 3600000"},
    {"{\"mcp\": {\"subscriptions\": {\"coalesceMs\": 60001}}}", 1, "from 0 to 60000"},
    {"{\"mcp\": {\"subscriptions\": {\"max\": 0}}}", 1, "max: expected a whole"},
    {"{\"mcp\": {\"subscriptions\": {\"max\": 10001}}}", 1, "from 1 to 10000"},
    {"{\"workers\":\n\n", 3, ""},
    {"", 1, ""},
};

static void what_an_operator_may_set_has_a_most(void **state)
{
    static const struct {
        const char *format;
        uint32_t most;
    } cases[] = {
        {"{\"bodyLimitBytes\": %u}", BODY_LIMIT_MAX_BYTES},
        {"{\"maxConnections\": %u}", CONNS_MAX},
        {"{\"mcp\": {\"session\": {\"max\": %u}}}", SESSIONS_MAX},
        {"{\"mcp\": {\"application\": {\"searchMaxResults\": %u}}}", SEARCH_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t over = 0; over < 2; over++) {
            struct fixture f;
            char text[128];
            snprintf(text, sizeof text, cases[i].format, cases[i].most + over);
            assert_int_equal(load(&f, text) == 0, !over);
            arena_done(&f.arena);
        }
}

static void every_wrong_file_is_refused_by_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fixture f;
        int err = load(&f, wrong[i].text);
        if (err >= 0 || f.fault.line != wrong[i].line || !strstr(f.fault.text, wrong[i].says))
            fail_msg("%s: %d, line %u: %s", wrong[i].text, err, f.fault.line, f.fault.text);
        arena_done(&f.arena);
    }
}

/* RATE_PER_S_MAX, RATE_BURST_MAX, CONCURRENCY_MAX, QUOTA_WINDOW_MAX_S */
static const struct {
    const char *text;
    bool is_good;
} limits[] = {
    {"\"rateLimit\":{\"perToolPerSecond\":100000}", true},
    {"\"rateLimit\":{\"perToolPerSecond\":100000.5}", false},
    {"\"rateLimit\":{\"perToolPerSecond\":0.0001}", true},
    {"\"rateLimit\":{\"perToolPerSecond\":0.00009}", false},
    {"\"rateLimit\":{\"perToolPerSecond\":-1}", false},
    {"\"rateLimit\":{\"perToolPerSecond\":\"25\"}", false},
    {"\"rateLimit\":{\"perToolBurst\":100000}", true},
    {"\"rateLimit\":{\"perToolBurst\":100001}", false},
    {"\"rateLimit\":{\"perToolBurst\":1.5}", false},
    {"\"rateLimit\":{\"sessionConcurrency\":10000}", true},
    {"\"rateLimit\":{\"sessionConcurrency\":10001}", false},
    {"\"rateLimit\":{\"identityHeader\":\"X-Real-IP\"}", true},
    {"\"rateLimit\":{\"identityHeader\":\"X-Real-IP: \"}", false},
    {"\"rateLimit\":{\"perTool\":1}", false},
    {"\"quota\":{\"perUser\":1000000000,\"windowSeconds\":31622400}", true},
    {"\"quota\":{\"windowSeconds\":31622401}", false},
    {"\"quota\":{\"windowSeconds\":0}", false},
};

static void rates_and_quotas_have_their_ranges(void **state)
{
    (void)state;
    assert_int_equal(QUOTA_WINDOW_MAX_S, 31622400);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int profile = 0; profile < 2; profile++) {
            struct fixture f;
            char text[200];
            snprintf(text, sizeof text, "{\"mcp\":{\"%s\":{%s}}}",
                     profile ? "operations" : "application", limits[i].text);
            if ((load(&f, text) == 0) != limits[i].is_good)
                fail_msg("%s: %s", text, f.fault.text);
            arena_done(&f.arena);
        }
}

static void rates_and_quotas_have_the_defaults_of_the_reference(void **state)
{
    struct config c;
    (void)state;
    config_init(&c);
    const struct config_limits *a = &c.limits[0], *o = &c.limits[1];
    assert_true(a->tool_per_s == 25 && a->tool_burst == 50 && a->session_per_s == 200);
    assert_true(o->tool_per_s == 10 && o->tool_burst == 20 && o->session_per_s == 100);
    assert_true(a->session_concurrency == 50 && o->session_concurrency == 25);
    assert_true(a->client_per_s == 0 && o->client_per_s == 0 && !a->identity_header);
    assert_true(a->quota == 0 && a->quota_window_s == 86400);
}

/* acceptance REFERENCE (c) 29: 0 is not "the default" */
static void a_limit_of_0_is_off_and_not_the_default(void **state)
{
    struct fixture f;
    struct admission_limits l;
    (void)state;
    assert_int_equal(load(&f, "{\"mcp\":{\"application\":{\"rateLimit\":{\"perToolPerSecond\":0,"
                              "\"sessionPerSecond\":0,\"sessionConcurrency\":0,"
                              "\"perClientPerSecond\":0},\"quota\":{\"perUser\":0}}}}"),
                     0);
    cli_limits_fill(&f.config.limits[0], true, &l);
    assert_true(!l.tool.interval_ns && !l.session.interval_ns && !l.client.interval_ns);
    assert_true(!l.session_concurrency && !l.quota);
    cli_limits_fill(&f.config.limits[1], true, &l);
    assert_true(l.tool.burst == 20 && l.session.burst == 100 && l.session_concurrency == 25);
    cli_limits_fill(&f.config.limits[1], false, &l);
    assert_true(!l.tool.interval_ns && !l.session.interval_ns && !l.session_concurrency);
    arena_done(&f.arena);
}

static void a_key_without_effect_is_taken_with_a_warning(void **state)
{
    struct fixture f;
    char said[1024] = "";
    FILE *log = tmpfile();
    int real = dup(STDERR_FILENO);
    (void)state;
    assert_non_null(log);
    dup2(fileno(log), STDERR_FILENO);
    int err = load(&f, "{\"mcp\": {\"application\":\n"
                       "{\"allow\": [\"a\"]}}}");
    dup2(real, STDERR_FILENO);
    close(real);
    rewind(log);
    assert_true(fread(said, 1, sizeof said - 1, log) > 0);
    fclose(log);
    assert_int_equal(err, 0);
    assert_non_null(strstr(said, ":2: mcp.application.allow is known but has no effect"));
    arena_done(&f.arena);
}

static void a_missing_file_has_no_line(void **state)
{
    struct fixture f;
    (void)state;
    arena_init(&f.arena, 0);
    config_init(&f.config);
    assert_int_equal(config_load(&f.config, "/nonexistent/x.json", &f.arena, &f.fault), ERR_IO);
    assert_int_equal(f.fault.line, 0);
    arena_done(&f.arena);
}

static void a_flag_overrides_and_is_checked_alike(void **state)
{
    struct fixture f;
    (void)state;
    assert_int_equal(load(&f, "{\"workers\": 2}"), 0);
    assert_int_equal(config_set(&f.config, "workers", "3", &f.arena, &f.fault), 0);
    assert_int_equal(f.config.workers, 3);
    assert_true(config_set(&f.config, "workers", "3x", &f.arena, &f.fault) < 0);
    assert_true(config_set(&f.config, "workers", "", &f.arena, &f.fault) < 0);
    assert_int_equal(f.config.workers, 3);
    assert_int_equal(
        config_set(&f.config, "mcp.session.allowClientDelete", NULL, &f.arena, &f.fault), 0);
    assert_true(f.config.allow_client_delete);
    assert_int_equal(config_set(&f.config, "allowedHosts", "a, b", &f.arena, &f.fault), 0);
    assert_true(str_eq(f.config.allowed_hosts.v[1], STR("b")));
    arena_done(&f.arena);
}

static void no_memory_is_an_error(void **state)
{
    struct config c;
    struct config_fault fault;
    struct arena tiny;
    (void)state;
    arena_init(&tiny, 8);
    config_init(&c);
    assert_int_equal(config_set(&c, "dataDir", "/a/b/c", &tiny, &fault), ERR_NO_MEMORY);
    assert_int_equal(config_set(&c, "allowedHosts", "a,b", &tiny, &fault), ERR_NO_MEMORY);
    assert_string_equal(c.data_dir, "data");
    arena_done(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(a_file_sets_every_kind_of_key),
        cmocka_unit_test(every_wrong_file_is_refused_by_line),
        cmocka_unit_test(what_an_operator_may_set_has_a_most),
        cmocka_unit_test(rates_and_quotas_have_their_ranges),
        cmocka_unit_test(rates_and_quotas_have_the_defaults_of_the_reference),
        cmocka_unit_test(a_limit_of_0_is_off_and_not_the_default),
        cmocka_unit_test(a_key_without_effect_is_taken_with_a_warning),
        cmocka_unit_test(a_missing_file_has_no_line),
        cmocka_unit_test(a_flag_overrides_and_is_checked_alike),
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
