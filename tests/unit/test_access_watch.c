/* tests/unit/test_access_watch.c - streams and calls of those whose permissions change meanwhile,
 * on two workers: who is refused ends, who may less is told less. */
#include "hand_clock.h"

#include "follow_rig.h"

#include "core/manage_access.h"

#define READS_ALL   "{\"databases\":{\"*\":{\"tables\":{\"*\":{\"read\":true}}}}}"
#define READS_BOOKS "{\"databases\":{\"shop\":{\"tables\":{\"book\":{\"read\":true}}}}}"
#define LISTS       "notifications/tools/list_changed"
#define SECRET_URI  "db://shop/note/a"

static struct manage manager;
static struct arena manager_arena;

/* ---- Who asks ------------------------------------------------------------------------------- */

static void put_role(const char *tree)
{
    assert_int_equal(manage_put_role(&manager, STR("part"), str_of(tree), true), 0);
}

static void make_user(const char *name)
{
    struct str role = STR("part");
    assert_int_equal(manage_create_user(&manager, str_of(name), &role, 1), 0);
}

static struct manage_token make_token(const char *user, int64_t expires_ms)
{
    struct manage_token token;
    assert_int_equal(manage_create_token(&manager, str_of(user), STR("t"), expires_ms, &token), 0);
    return token;
}

static void revoke_token(const struct manage_token *token)
{
    struct str user;
    assert_int_equal(manage_revoke_token(&manager, str_of(token->id), &user), 0);
}

/* Requests carry this token from now on. */
static int use(unsigned worker, const struct manage_token *token)
{
    const struct credential credential = {.kind = CREDENTIAL_BEARER, .text = str_of(token->text)};
    const char *why;
    access_unref(rig.bench.access);
    rig.bench.access = NULL;
    at(worker);
    return access_identify(rig.cores[worker], &credential, &rig.bench.access, &why);
}

static struct wire *listen_as(unsigned worker, const struct manage_token *token)
{
    assert_int_equal(use(worker, token), 0);
    clock_advance_ms(1); /* the later one has the higher token */
    return listen_at(worker, NULL);
}

static void connect_as(const struct manage_token *token)
{
    assert_int_equal(use(0, token), 0);
    bench_connect(&rig.bench, "2025-06-18");
}

static int set_up_access(void **state)
{
    set_up(state);
    arena_init(&manager_arena, 0);
    manager = (struct manage){.store = rig.bench.store, .arena = &manager_arena};
    put_role(READS_ALL);
    make_user("ann");
    make_user("bob");
    rig_settle(&rig);
    return 0;
}

static int tear_down_access(void **state)
{
    access_unref(rig.bench.access);
    rig.bench.access = NULL;
    arena_done(&manager_arena);
    return tear_down(state);
}

static unsigned n_said(const struct wire *w, const char *what)
{
    unsigned n = 0;
    for (unsigned i = 0; i < w->n; i++)
        n += strstr(w->text[i], what) != NULL;
    return n;
}

/* ---- Refused -------------------------------------------------------------------------------- */

static void a_revoked_token_ends_its_streams_on_all_workers(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0), other = make_token("ann", 0);
    connect_as(&ann);
    struct wire *here = listen_as(0, &ann), *there = listen_as(1, &ann);
    struct wire *stays = listen_as(1, &other);
    revoke_token(&ann);
    rig_settle(&rig); /* they are woken: nothing has to time out */
    assert_true(here->ended && there->ended && !stays->ended);
    assert_int_equal(use(1, &ann), ERR_UNAUTHORIZED);
    assert_int_equal(use(0, &other), 0);
    subscribe(SECRET_URI);
    write_note("a");
    rig_settle(&rig);
    UPDATES(stays, URI(SECRET_URI));
}

static void an_expired_token_ends_its_stream(void **state)
{
    (void)state;
    int64_t until = clock_wall_ms() + 5000;
    struct manage_token ann = make_token("ann", until), later = make_token("ann", until + 5000);
    connect_as(&ann);
    struct wire *first = listen_as(0, &ann), *second = listen_as(0, &later);
    rig_tick(&rig, 4000);
    assert_false(first->ended);
    rig_tick(&rig, 1000);
    assert_true(first->ended && !second->ended);
    rig_tick(&rig, 5000);
    assert_true(second->ended);
}

static void who_is_switched_off_or_dropped_is_gone(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0), bob = make_token("bob", 0);
    const struct manage_user_change off = {.disables = true, .anyway = true};
    connect_as(&ann);
    struct wire *of_ann = listen_as(1, &ann);
    connect_as(&bob);
    struct wire *of_bob = listen_as(1, &bob);
    assert_int_equal(manage_alter_user(&manager, STR("ann"), &off), 0);
    rig_settle(&rig);
    assert_true(of_ann->ended && !of_bob->ended);
    assert_int_equal(manage_drop_user(&manager, STR("bob"), true), 0);
    make_user("bob"); /* somebody else */
    rig_settle(&rig);
    assert_true(of_bob->ended);
}

/* The records move while the request is on its way from its head to its end. */
static void a_request_is_judged_by_the_records_of_its_end(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0), other = make_token("ann", 0);
    connect_as(&other);
    assert_int_equal(use(0, &ann), 0);
    revoke_token(&ann);
    rig_settle(&rig);
    rig_get_refused(&rig, 0, NULL, 401);
    assert_int_equal(use(0, &other), 0);
    put_role(READS_BOOKS);
    rig_settle(&rig);
    request("resources/subscribe", SECRET_URI, NULL, "!{\"code\":-32002}");
}

static void a_session_is_not_that_of_who_was_made_again(void **state)
{
    (void)state;
    struct manage_token before = make_token("ann", 0);
    connect_as(&before);
    rig_tick(&rig, 1);
    assert_int_equal(manage_drop_user(&manager, STR("ann"), true), 0);
    make_user("ann");
    rig_settle(&rig);
    struct manage_token after = make_token("ann", 0);
    assert_int_equal(use(0, &after), 0);
    rig_get_refused(&rig, 0, NULL, 404);
    connect_as(&after);
    assert_false(listen_as(0, &after)->ended);
}

static void a_token_that_expires_before_the_end_of_its_request_is_refused(void **state)
{
    (void)state;
    int64_t until = clock_wall_ms() + 5000;
    struct manage_token ann = make_token("ann", until), other = make_token("ann", 0);
    connect_as(&other);
    assert_int_equal(use(0, &ann), 0);
    rig_tick(&rig, 5000);
    rig_get_refused(&rig, 0, NULL, 401);
    assert_int_equal(use(0, &other), 0);
}

/* Nobody has looked since, so he is let in, and goes with the first look. */
static void who_comes_before_the_wake_is_looked_at(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0), other = make_token("ann", 0);
    connect_as(&other);
    struct wire *stays = listen_as(0, &other);
    assert_int_equal(use(0, &ann), 0);
    revoke_token(&ann);
    clock_advance_ms(1);
    struct wire *late = rig_get(&rig, 0, NULL);
    assert_non_null(late);
    rig_settle(&rig);
    assert_true(late->ended && !stays->ended);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static struct call *begin_call(unsigned worker, const struct manage_token *token)
{
    assert_int_equal(use(worker, token), 0);
    struct call *call = rig_call(&rig, worker, "7");
    call->row = mcp_method_row((enum mcp_revision)call->session->revision, MCP_TOOLS_CALL);
    running_add(&call->core->running, call);
    return call;
}

static void the_answer_of_a_call_is_an_error_then(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0);
    connect_as(&ann);
    struct call *call = begin_call(1, &ann), *plain = begin_call(1, &ann);
    rig_say(call, "{\"n\":1}");
    struct wire *w = rig.last;
    rig_settle(&rig);
    revoke_token(&ann);
    rig_settle(&rig);
    assert_int_equal(call_is_cancelled(call), ERR_UNAUTHORIZED);
    assert_int_equal(call_is_cancelled(plain), ERR_UNAUTHORIZED);
    assert_false(w->ended);
    rig_answer(call, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"secret\":1}}");
    rig_answer(plain, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"secret\":1}}");
    rig_settle(&rig);
    assert_true(w->ended);
    EXPECT(w, "{\"n\":1}",
           "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32600,\"message\":"
           "\"Unauthorized\"}}");
    assert_int_equal(rig.status, 401);
}

static void a_call_that_does_not_end_loses_its_stream_after_ACCESS_END_MS(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0);
    connect_as(&ann);
    struct call *call = begin_call(0, &ann);
    rig_say(call, "{\"n\":1}");
    struct wire *w = rig.last;
    revoke_token(&ann);
    rig_settle(&rig);
    rig_tick(&rig, ACCESS_END_MS - 1);
    assert_false(w->ended);
    rig_tick(&rig, 1);
    assert_true(w->ended);
    rig_answer(call, "{}");
    rig_settle(&rig);
    assert_int_equal(w->n, 1);
}

static void a_call_goes_on_as_what_it_began_as(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0);
    connect_as(&ann);
    struct call *call = begin_call(0, &ann);
    put_role(READS_BOOKS);
    rig_settle(&rig);
    assert_int_equal(call_is_cancelled(call), 0);
    rig_answer(call, "{}");
    assert_int_equal(rig.status, 200);
}

/* ---- Another role --------------------------------------------------------------------------- */

static void who_may_not_read_it_any_more_is_not_told(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0);
    connect_as(&ann);
    struct wire *w = listen_as(1, &ann);
    subscribe(SECRET_URI);
    subscribe_all("db://shop/note");
    subscribe("db://shop/book/1");
    rig_settle(&rig);
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 2);
    put_role(READS_BOOKS); /* nobody has looked when the change comes */
    write_note("a");
    rig_settle(&rig);
    write_note("a");
    write_note("b");
    rig_settle(&rig);
    rig_tick(&rig, 1000);
    assert_int_equal(n_updates(w), 2);
    assert_false(w->ended);
    put_role(READS_ALL);
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 4); /* the subscriptions stand */
}

#define NOTE(members) "{\"databases\":{\"shop\":{\"tables\":{\"note\":{" members "}}}}}"

/* The last column of the matrix (test_access_matrix.c): who may read it is told. */
static const struct {
    const char *tree;
    bool reads;
} notified[] = {
    {"{}", false},
    {"{\"super_user\":true}", true},
    {NOTE(""), false},
    {NOTE("\"read\":true"), true},
    {NOTE("\"describe\":true"), false},
    {NOTE("\"insert\":true,\"update\":true,\"delete\":true"), false},
    {NOTE("\"read\":true,\"attribute_permissions\":[{\"attribute_name\":\"text\"}]"), true},
    {NOTE("\"read\":true,\"attribute_permissions\":[{\"attribute_name\":\"key\"}]"), false},
    {"{\"databases\":{\"shop\":{\"describe\":true}}}", false},
    {"{\"databases\":{\"shop\":{\"tables\":{\"*\":{\"read\":true}}}}}", true},
    {"{\"databases\":{\"shop\":{\"tables\":{\"*\":{\"read\":true},\"note\":{}}}}}", false},
    {"{\"databases\":{\"*\":{\"tables\":{\"note\":{\"read\":true}}},\"shop\":{}}}", false},
    {"{\"operations\":[\"*\"],\"tools\":[\"*\"],\"resources\":[\"*\"],\"components\":[\"*\"]}",
     false},
};

static void who_may_read_is_who_is_told_and_who_may_subscribe(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0);
    connect_as(&ann);
    struct wire *w = listen_as(1, &ann);
    subscribe(SECRET_URI);
    subscribe_all("db://shop/note");
    for (size_t i = 0; i < sizeof notified / sizeof *notified; i++) {
        unsigned before = n_updates(w);
        put_role(notified[i].tree);
        write_note("a");
        rig_settle(&rig);
        rig_tick(&rig, 1000);
        if (n_updates(w) - before != (notified[i].reads ? 2 : 0))
            fail_msg("%s: told %u times", notified[i].tree, n_updates(w) - before);
        assert_int_equal(use(1, &ann), 0);
        request("resources/subscribe", SECRET_URI, NULL,
                notified[i].reads ? "{}" : "!{\"code\":-32002}");
    }
}

static void a_change_of_the_role_is_told_as_changed_lists(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0), bob = make_token("bob", 0);
    connect_as(&ann);
    struct wire *here = listen_as(0, &ann);
    connect_as(&bob);
    struct wire *there = listen_as(1, &bob);
    assert_int_equal(n_said(here, LISTS) + n_said(there, LISTS), 0);
    put_role(READS_BOOKS);
    rig_settle(&rig);
    assert_int_equal(n_said(here, LISTS), 1);
    assert_int_equal(n_said(there, LISTS), 1);
    make_user("cid"); /* no concern of theirs */
    rig_settle(&rig);
    put_role(READS_BOOKS);
    rig_settle(&rig);
    assert_int_equal(n_said(here, LISTS), 1);
    assert_int_equal(n_said(there, LISTS), 1);
}

static void what_changed_while_nobody_listened_is_told_by_the_next_stream(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0);
    connect_as(&ann);
    put_role(READS_BOOKS);
    struct wire *w = listen_as(1, &ann);
    rig_settle(&rig);
    assert_int_equal(n_said(w, LISTS), 1);
}

static void a_table_that_goes_is_told_to_who_might_read_it(void **state)
{
    (void)state;
    struct manage_token ann = make_token("ann", 0);
    connect_as(&ann);
    struct wire *w = listen_as(1, &ann);
    subscribe("db://shop/note");
    subscribe("db://shop/book");
    put_role(READS_BOOKS);
    rig_settle(&rig);
    assert_int_equal(manage_drop_table(&manager, STR("shop"), STR("note")), 0);
    assert_int_equal(manage_drop_table(&manager, STR("shop"), STR("book")), 0);
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/book"));
}

#define ACCESS_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_access, tear_down_access)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ACCESS_TEST(a_revoked_token_ends_its_streams_on_all_workers),
        ACCESS_TEST(an_expired_token_ends_its_stream),
        ACCESS_TEST(who_is_switched_off_or_dropped_is_gone),
        ACCESS_TEST(a_request_is_judged_by_the_records_of_its_end),
        ACCESS_TEST(a_session_is_not_that_of_who_was_made_again),
        ACCESS_TEST(a_token_that_expires_before_the_end_of_its_request_is_refused),
        ACCESS_TEST(who_comes_before_the_wake_is_looked_at),
        ACCESS_TEST(the_answer_of_a_call_is_an_error_then),
        ACCESS_TEST(a_call_that_does_not_end_loses_its_stream_after_ACCESS_END_MS),
        ACCESS_TEST(a_call_goes_on_as_what_it_began_as),
        ACCESS_TEST(who_may_not_read_it_any_more_is_not_told),
        ACCESS_TEST(who_may_read_is_who_is_told_and_who_may_subscribe),
        ACCESS_TEST(a_change_of_the_role_is_told_as_changed_lists),
        ACCESS_TEST(what_changed_while_nobody_listened_is_told_by_the_next_stream),
        ACCESS_TEST(a_table_that_goes_is_told_to_who_might_read_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
