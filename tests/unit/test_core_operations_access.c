/* tests/unit/test_core_operations_access.c - operations on users, roles and tokens: what super
 * users do by them, and that nobody else sees one, whatever the globs of a role say.
 */
#include "core/operations.h"
#include "tests/unit/access_rig.h"

static const struct str all_of_them = STR_INIT("*");

static int open_operations(void **state)
{
    open_access(state);
    bench.core->config.operations_allow = (struct name_globs){&all_of_them, 1};
    bench.profile = PROFILE_OPERATIONS;
    strcpy(bench.user, "root");
    bench_connect(&bench, "2025-06-18");
    return 0;
}
#define OPERATION_TEST(f) cmocka_unit_test_setup_teardown(f, open_operations, close_access)

static void call_it(const char *name, const char *args, const char *pattern)
{
    char params[2048], wanted[2048];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", name, args);
    if (pattern[0] == '!')
        snprintf(wanted, sizeof wanted, "{\"isError\":true,\"content\":[{\"text\":\"%s\"}]}",
                 pattern + 1);
    else
        snprintf(wanted, sizeof wanted, "{\"structuredContent\":%s,\"-\":[\"isError\"]}", pattern);
    ask_method(&bench, "tools/call", params, wanted);
}

/* ---- What they do --------------------------------------------------------------------------- */

static void roles_and_users_are_managed(void **state)
{
    (void)state;
    call_it("put_role", "{\"name\":\"r\",\"permissions\":{\"tools\":[\"a\"]}}", "{\"name\":\"r\"}");
    call_it("describe_role", "{\"name\":\"r\"}",
            "{\"name\":\"r\",\"permissions\":{\"tools\":[\"a\"]}}");
    call_it(
        "list_roles", "{}",
        "{\"roles\":[{\"name\":\"admin\",\"superUser\":true},{\"name\":\"r\",\"superUser\":false"
        "},{\"name\":\"reader\",\"superUser\":false}],\"more\":false}");
    call_it("create_user", "{\"name\":\"ann\",\"roles\":[\"r\",\"reader\"]}", "{\"name\":\"ann\"}");
    call_it("create_user", "{\"name\":\"bo\"}", "{\"name\":\"bo\"}");
    call_it("alter_user", "{\"name\":\"bo\",\"disabled\":true}", "{\"name\":\"bo\"}");
    call_it("alter_user", "{\"name\":\"ann\",\"roles\":[\"r\"]}", "{\"name\":\"ann\"}");
    call_it("list_users", "{}",
            "{\"users\":[{\"name\":\"ann\",\"roles\":[\"r\"],\"disabled\":false,\"created\":\"*\"},"
            "{\"name\":\"bo\",\"roles\":[],\"disabled\":true}],\"more\":false}");
    call_it("alter_user", "{\"name\":\"bo\",\"disabled\":false}", "{\"name\":\"bo\"}");
    call_it("drop_role", "{\"name\":\"r\"}", "!Nothing was changed: ann has the role r.");
    call_it("drop_user", "{\"name\":\"ann\"}", "{\"name\":\"ann\"}");
    call_it("drop_role", "{\"name\":\"r\"}", "{\"name\":\"r\"}");
    call_it("list_users", "{}", "{\"users\":[{\"name\":\"bo\",\"disabled\":false}]}");
}

static void lists_go_on_behind_a_name(void **state)
{
    (void)state;
    make_user("a", NULL);
    make_user("b", NULL);
    make_user("c", NULL);
    call_it("list_users", "{\"limit\":2}",
            "{\"users\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"more\":true}");
    call_it("list_users", "{\"limit\":2,\"after\":\"b\"}",
            "{\"users\":[{\"name\":\"c\"}],\"more\":false}");
    call_it("list_users", "{\"limit\":3}",
            "{\"users\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}],\"more\":false}");
    call_it("list_roles", "{\"limit\":1,\"after\":\"admin\"}",
            "{\"roles\":[{\"name\":\"reader\"}],\"more\":false}");
    call_it("list_roles", "{\"after\":\"x\"}", "{\"roles\":[],\"more\":false}");
}

/* The member of that name in the last result, copied. */
static void copy_member(const char *name, char *out, size_t size)
{
    char start[32];
    snprintf(start, sizeof start, "\"%s\":\"", name);
    char *at = strstr(bench.body.p, "structuredContent");
    at = at ? strstr(at, start) : NULL;
    assert_non_null(at);
    at += strlen(start);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
}

static void a_token_is_shown_once(void **state)
{
    char token[64], id[32], args[64];
    (void)state;
    make_user("ann", "reader");
    call_it("create_token", "{\"user\":\"ann\",\"label\":\"ci\"}",
            "{\"id\":\"*\",\"user\":\"ann\",\"token\":\"*\",\"expires\":\"*\"}");
    copy_member("token", token, sizeof token);
    copy_member("id", id, sizeof id);
    assert_is(CREDENTIAL_BEARER, token, "ann", "reader");
    call_it("list_tokens", "{\"user\":\"ann\"}",
            "{\"tokens\":[{\"id\":\"*\",\"user\":\"ann\",\"label\":\"ci\",\"expires\":\"*\","
            "\"expired\":false,\"-\":[\"token\"]}]}");
    assert_null(strstr(bench.body.p, token + 6));
    call_it("create_token", "{\"user\":\"ann\",\"expiresInSeconds\":0}", "{\"-\":[\"expires\"]}");
    call_it("create_token", "{\"user\":\"ann\",\"expiresInSeconds\":1}", "{\"expires\":\"*\"}");
    copy_member("token", token, sizeof token);
    clock_advance_ms(1000);
    assert_is(CREDENTIAL_BEARER, token, "", "!the token has expired");
    snprintf(args, sizeof args, "{\"id\":\"%s\"}", id);
    call_it("revoke_token", args, "{\"id\":\"*\",\"user\":\"ann\"}");
    call_it("revoke_token", "{\"id\":\"0\"}", "!Nothing was changed: there is no token 0.");
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    make_user("root", "admin");
    call_it("create_user", "{\"name\":\"root\"}",
            "!Nothing was changed: there is a user root already.");
    call_it("create_user", "{\"name\":\"a\",\"roles\":[\"x\"]}",
            "!Nothing was changed: there is no role x.");
    call_it("put_role", "{\"name\":\"admin\",\"permissions\":{}}",
            "!Nothing was changed: no super user would be left who is not switched off.");
    call_it("drop_user", "{\"name\":\"root\"}",
            "!Nothing was changed: no super user would be left who is not switched off.");
    call_it("describe_role", "{\"name\":\"x\"}", "!Nothing was changed: there is no role x.");
    call_it("create_token", "{\"user\":\"x\"}", "!Nothing was changed: there is no user x.");
    ask_method(&bench, "tools/call",
               "{\"name\":\"put_role\",\"arguments\":{\"name\":\"x\",\"permissions\":{\"a\":1}}}",
               "{\"isError\":true}");
    assert_non_null(strstr(bench.body.p, "/a: "));
    ask_method(&bench, "tools/call", "{\"name\":\"create_user\",\"arguments\":{\"name\":\"\"}}",
               "!{\"code\":-32602}");
}

/* ---- Who may -------------------------------------------------------------------------------- */

/* The next question is asked by who has this token. */
static char asks_by[ACCESS_TOKEN_BYTES + 1];

static void ask_by_token(const char *method, const char *params, const char *pattern)
{
    char body[1024];
    struct call *call = call_new(bench.core);
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}",
             method, params);
    fill(&bench, call, str_of(body));
    access_unref(call->in.access);
    assert_int_equal(identify(CREDENTIAL_BEARER, asks_by, &call->in.access), 0);
    bench.n_answers = 0;
    core_handle(bench.core, call);
    while (bench.n_answers == 0)
        if (!loop_turn(&bench.loop, 10))
            fail_msg("no answer to %s", body);
    expect(&bench, 200, pattern, body);
}

static void connect_as(const char *name, const char *role)
{
    make_user(name, role);
    struct manage_token token = make_token(name, 0);
    memcpy(asks_by, token.text, sizeof asks_by);
    bench.session[0] = bench.version[0] = '\0';
    ask_by_token("initialize",
                 "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":"
                 "\"c\",\"version\":\"1\"}}",
                 "{\"result\":{}}");
    strcpy(bench.session, bench.new_session);
    strcpy(bench.version, "2025-06-18");
}

static void only_super_users_see_them(void **state)
{
    char params[128];
    const struct operation *o;
    unsigned n = 0;
    (void)state;
    put_role("all", "{\"operations\":[\"*\"],\"databases\":{\"*\":{\"describe\":true,\"tables\":{"
                    "\"*\":{\"read\":true,\"insert\":true,\"update\":true,\"delete\":true}}}}}");
    connect_as("ann", "all");
    ask_by_token("tools/list", "{}", "{\"result\":{\"tools\":\"*\"}}");
    for (uint32_t i = 0; (o = operation_at(i)); i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"name\":\"%s\"", o->name);
        assert_int_equal(strstr(bench.body.p, quoted) == NULL, o->of_access);
    }
    for (uint32_t i = 0; (o = operation_at(i)); i++) {
        snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":{}}", o->name);
        if (!o->of_access)
            continue;
        ask_by_token("tools/call", params, "{\"error\":{\"code\":-32602}}");
        assert_non_null(strstr(bench.body.p, "Unknown tool: "));
        n++;
    }
    assert_int_equal(n, 11);
    connect_as("boss", "admin");
    ask_by_token("tools/call", "{\"name\":\"list_users\",\"arguments\":{}}",
                 "{\"result\":{\"structuredContent\":{\"users\":[{\"name\":\"ann\"},{\"name\":"
                 "\"boss\"}]}}}");
}

static void whoami_tells_the_caller(void **state)
{
    (void)state;
    put_role("who", "{\"operations\":[\"whoami\"]}");
    connect_as("ann", "who");
    ask_by_token("tools/call", "{\"name\":\"whoami\",\"arguments\":{}}",
                 "{\"result\":{\"structuredContent\":{\"user\":\"ann\",\"roles\":[\"who\"],"
                 "\"superUser\":false,\"-\":[\"expires\"]}}}");
    bench_connect(&bench, "2025-06-18");
    call_it("whoami", "{}", "{\"user\":\"root\",\"roles\":[],\"superUser\":true}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPERATION_TEST(roles_and_users_are_managed), OPERATION_TEST(lists_go_on_behind_a_name),
        OPERATION_TEST(a_token_is_shown_once),       OPERATION_TEST(what_is_wrong_is_told),
        OPERATION_TEST(only_super_users_see_them),   OPERATION_TEST(whoami_tells_the_caller),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
