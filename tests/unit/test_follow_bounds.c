/* tests/unit/test_follow_bounds.c - where subscriptions meet something's end: the floor of the log,
 * tables that go, windows that coalesce, numbers and memory, and what cannot be subscribed to. Rows
 * RS of tests/CHECKLIST.md; REF: known bugs of others. */
#include "fail_calloc.h"
#include "follow_rig.h"

#include "store/internal.h"

/* ---- The floor of the log ------------------------------------------------------------------- */

static void trim_log(void)
{
    rig.bench.store->log_keep = 10;
    assert_int_equal(store_maintain(rig.bench.store), 0);
}

static void REF_09_below_the_floor_each_uri_is_told_once(void **state)
{
    (void)state;
    subscribe("db://shop/note/a");
    subscribe("db://shop/note/b");
    subscribe_all("db://shop/note/c");
    rig_settle(&rig);
    for (unsigned i = 0; i < 40; i++)
        write_note("z");
    trim_log();
    struct wire *w = listen_at(0, NULL);
    assert_int_equal(n_updates(w), 3);
    char text[1024];
    unsigned n_gaps = 0;
    for (unsigned i = 0; i < 3; i++)
        n_gaps += strcmp(update(w, i, text),
                         "{\"uri\":\"db://shop/note/c\",\"_meta\":{\"tenon/gap\":true}}") == 0;
    assert_int_equal(n_gaps, 1);
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 4);
    assert_int_equal(stored_follow().seq, last_seq());
    rig_tick(&rig, 1100);
    wire_cut(w);
    w = listen_at(1, NULL);
    assert_int_equal(n_updates(w), 0);
}

static void REF_09_a_gap_of_many_is_told_in_the_end_though_it_breaks_off(void **state)
{
    (void)state;
    bool seen[150] = {false};
    char uri[64], text[1024];
    for (unsigned i = 0; i < 150; i++) {
        snprintf(uri, sizeof uri, "db://shop/note/%u", i);
        subscribe(uri);
    }
    for (unsigned i = 0; i < 40; i++)
        write_note("z");
    trim_log();
    for (unsigned round = 0; round < 2; round++) {
        struct wire *w = rig_get(&rig, round, NULL);
        w->room = round ? UINT_MAX : 60;
        rig_settle(&rig);
        rig_tick(&rig, 1100);
        for (unsigned i = 0; i < n_updates(w); i++)
            seen[atoi(strrchr(update(w, i, text), '/') + 1)] = true;
        wire_cut(w);
        rig_settle(&rig);
    }
    for (unsigned i = 0; i < 150; i++)
        assert_true(seen[i]);
}

/* ---- Tables come and go --------------------------------------------------------------------- */

static void drop_table(uint32_t id)
{
    bench_write(&rig.bench,
                (struct store_op){.kind = STORE_DROP_TABLE, .if_version = STORE_ANY, .table = id});
}

static void a_table_that_goes_and_comes_again(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note");
    subscribe("db://shop/note/a");
    subscribe("db://shop/book/1");
    rig_settle(&rig);
    drop_table(table_id("note"));
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 2);
    uint32_t other = bench_table(&rig.bench, "shop", "other", NOTE_DEFINITION);
    drop_table(other); /* is not mistaken for it */
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 2);
    bench_table(&rig.bench, "shop", "note", NOTE_DEFINITION);
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 4);
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 6);
    unsubscribe("db://shop/note");
    bench_table(&rig.bench, "shop", "note", /* another schema */
                "{\"title\":\"N\",\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\","
                "\"properties\":{\"key\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"}}}}");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 7);
}

static void a_table_that_went_while_nobody_looked(void **state)
{
    (void)state;
    subscribe("db://shop/note/a");
    subscribe("db://shop/book/1");
    drop_table(table_id("note"));
    struct wire *w = listen_at(0, NULL);
    UPDATES(w, URI("db://shop/note/a"));
    wire_cut(w);
    rig_settle(&rig);
    bench_table(&rig.bench, "shop", "note", BOOK_DEFINITION); /* an integer key now */
    w = listen_at(1, last_id(w)); /* no row can be it, but it is another table */
    UPDATES(w, URI("db://shop/note/a"));
}

/* ---- Coalescing ----------------------------------------------------------------------------- */

static void coalescing_tells_the_last_change(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    request("resources/subscribe", "db://shop/note/a", "{\"tenon/coalesceMs\":500}", "{}");
    subscribe("db://shop/note/b");
    write_note("a");
    write_note("b");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/b"));
    rig_tick(&rig, 300);
    write_note("a");
    rig_tick(&rig, 100);
    assert_int_equal(n_updates(w), 1);
    rig_tick(&rig, 150);
    UPDATES(w, URI("db://shop/note/b"), URI("db://shop/note/a"));
    assert_int_equal(stored_follow().seq, last_seq());
    rig_tick(&rig, 1000);
    assert_int_equal(n_updates(w), 2);
    write_note("a");
    rig_tick(&rig, 10);
    wire_cut(w); /* while it waits: the next one tells it */
    rig_settle(&rig);
    w = listen_at(1, NULL);
    rig_tick(&rig, 600);
    UPDATES(w, URI("db://shop/note/a"));
}

static void subscribing_again_changes_the_options(void **state)
{
    (void)state; /* REF_29: 0 is 0, not the default */
    rig.cores[0]->config.coalesce_ms = rig.cores[1]->config.coalesce_ms = 60000;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note");
    write_note("a");
    rig_tick(&rig, 1000);
    assert_int_equal(n_updates(w), 0);
    rig_tick(&rig, 60000);
    assert_int_equal(n_updates(w), 1);
    request("resources/subscribe", "db://shop/note",
            "{\"tenon/mode\":\"all\",\"tenon/coalesceMs\":0}", "{}");
    write_note("a");
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 3);
    assert_int_equal(stored_follow().n, 1);
    request("resources/subscribe", "db://shop/note",
            "{\"tenon/mode\":\"merged\",\"tenon/coalesceMs\":0}", "{}");
    write_note("a");
    rig_settle(&rig);
    char text[1024];
    assert_int_equal(n_updates(w), 4);
    assert_string_equal(update(w, 3, text), URI("db://shop/note"));
}

/* ---- Many ----------------------------------------------------------------------------------- */

static void ten_thousand_of_one_session(void **state)
{
    (void)state;
    char uri[64], text[64];
    struct wire *w = listen_at(0, NULL);
    for (unsigned i = 0; i < SUBSCRIPTIONS_SESSION_MAX; i++) {
        snprintf(uri, sizeof uri, "db://shop/book/%u", i + 1);
        subscribe(uri);
        if (i % 1000 == 0)
            rig_tick(&rig, 200);
    }
    request("resources/subscribe", "db://shop/note", NULL,
            "!{\"code\":-32602,\"message\":\"The session has as many subscriptions as are allowed: "
            "10000, or 4194304 bytes of URIs\"}");
    subscribe("db://shop/book/7"); /* is there already */
    rig_tick(&rig, 1100);
    const struct follows *follows = rig.cores[0]->follows;
    assert_int_equal(follows->n_interests, SUBSCRIPTIONS_SESSION_MAX);
    call_tool("create_book", "{\"id\":9999,\"title\":\"x\"}");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/book/9999"));
    drop_table(table_id("book"));
    for (unsigned i = 0; i < 1000 && n_updates(w) < TAKEN_MAX - 100; i++) {
        wire_make_room(w, 100);
        rig_settle(&rig);
    }
    snprintf(text, sizeof text, "{\"uri\":\"db://shop/book/%u\"}", 1);
    wire_cut(w);
    rig_settle(&rig);
    assert_int_equal(follows->n_interests, 0);
    assert_int_equal(follows->n_bytes, 0);
}

static void the_number_of_subscriptions_is_configured(void **state)
{
    (void)state;
    rig.cores[0]->config.max_subscriptions = 2;
    subscribe("db://shop/note/a");
    subscribe("db://shop/note/b");
    request("resources/subscribe", "db://shop/note/c", NULL,
            "!{\"code\":-32602,\"message\":\"The session has as many subscriptions as are allowed: "
            "2, or 4194304 bytes of URIs\"}");
    unsubscribe("db://shop/note/a");
    subscribe("db://shop/note/c");
}

static void FOLLOW_BYTES_MAX_holds_back_but_loses_nothing(void **state)
{
    (void)state;
    struct follows *follows = rig.cores[0]->follows;
    subscribe("db://shop/note/a");
    write_note("a");
    follows->n_bytes += FOLLOW_BYTES_MAX;
    struct wire *w = listen_at(0, NULL);
    assert_int_equal(n_updates(w), 0);
    rig_tick(&rig, FOLLOW_RETRY_MS + 1);
    assert_int_equal(n_updates(w), 0);
    follows->n_bytes -= FOLLOW_BYTES_MAX;
    rig_tick(&rig, FOLLOW_RETRY_MS + 1);
    UPDATES(w, URI("db://shop/note/a"));
}

static unsigned n_updates_of(const struct wire *w, unsigned from, const char *uri)
{
    unsigned n = 0;
    for (unsigned i = from; i < w->n; i++)
        n += is_update(w->text[i]) && strstr(w->text[i], uri);
    return n;
}

/* The n-th allocation fails while a session begins to be followed. */
static void follow_without_memory(unsigned n)
{
    struct wire *w = listen_at(0, NULL);
    struct reader *r = w->sink.ctx;
    rig_tick(&rig, 1100);
    follow_end(r);
    write_note("a");
    unsigned before = w->n;
    fail_calloc_in = n;
    follow_begin(r, 0);
    rig_settle(&rig);
    fail_calloc_in = 0;
    for (unsigned i = 0; i < 4; i++)
        rig_tick(&rig, 1100);
    if (w->ended) {
        w = listen_at(0, NULL);
        before = 0;
    }
    assert_true(n_updates_of(w, before, "{\"uri\":\"db://shop/note/a\"}") > 0);
    assert_true(n_updates_of(w, before, "{\"uri\":\"db://shop/note\",") > 0);
    wire_cut(w);
    rig_settle(&rig);
}

static void without_memory_all_is_told_later(void **state)
{
    (void)state;
    if (!heap_can_fail())
        skip();
    subscribe("db://shop/note/a");
    subscribe_all("db://shop/note");
    for (unsigned n = 1; n < 100; n++)
        follow_without_memory(n);
}

static void many_changes_take_several_turns(void **state)
{
    (void)state;
    subscribe("db://shop/note/a");
    write_note("a");
    for (unsigned i = 0; i < 3 * FOLLOW_TURN_CHANGES; i++)
        write_note("z");
    struct wire *w = listen_at(0, NULL);
    UPDATES(w, URI("db://shop/note/a"));
    rig_settle(&rig);
    assert_int_equal(rig.cores[0]->follows->seq, last_seq());
}

/* ---- What is refused ------------------------------------------------------------------------ */

static void RS_16_what_cannot_be_subscribed_to(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        int code;
    } cases[] = {
        {"db://shop/nothing", -32002},
        {"db://none/note", -32002},
        {"db://shop/nothing/1", -32002},
        {"db://shop/book/x", -32002}, /* no integer */
        {"db://shop/note/a/b", -32002},
        {"db://shop/note/%2E%2E/x", -32002},
        {"db://shop/../etc/passwd", -32002},
        {"db://shop", -32002},
        {"x:none", -32002},
        {"db:", -32002},
        {"tenon://about", -32602},
        {"tenon://openapi", -32602},
        {"tenon://schema/shop/note", -32602},
        {"tenon://operations", -32602},
        {"tenon://nothing", -32602},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "!{\"code\":%d,\"data\":{\"uri\":\"%s\"}}", cases[i].code,
                 cases[i].uri);
        request("resources/subscribe", cases[i].uri, NULL, wanted);
        request("resources/unsubscribe", cases[i].uri, NULL, "{}");
    }
    request("resources/subscribe", "no uri", NULL, "!{\"code\":-32602}");
    request("resources/subscribe", "db://shop/note/..%2", NULL, "!{\"code\":-32602}");
    request("resources/subscribe", "", NULL, "!{\"code\":-32602}");
    ask_method(&rig.bench, "resources/subscribe", "{}", "!{\"code\":-32602}");
    ask_method(&rig.bench, "resources/subscribe", "{\"uri\":7}", "!{\"code\":-32602}");
    ask_method(&rig.bench, "resources/unsubscribe", "{}", "!{\"code\":-32602}");
}

static void RS_16_a_huge_id_is_refused(void **state)
{
    (void)state;
    static char uri[URI_BYTES_MAX + 100], params[sizeof uri + 100];
    for (unsigned i = 0; i < 2; i++) {
        size_t n = i ? URI_BYTES_MAX + 1 : 600;
        memset(uri, 'x', n);
        memcpy(uri, "db://shop/note/", 15);
        uri[n] = 0;
        snprintf(params, sizeof params, "%s", uri);
        char body[sizeof params + 200];
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{"
                 "\"uri\":\"%s\"}}",
                 params);
        ask(&rig.bench, 200, body, "{\"error\":{\"code\":-32002}}");
    }
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{\"tenon/mode\":\"every\"}", "/params/_meta/tenon~1mode"},
        {"{\"tenon/mode\":1}", "/params/_meta/tenon~1mode"},
        {"{\"tenon/mode\":null}", "/params/_meta/tenon~1mode"},
        {"{\"tenon/coalesceMs\":-1}", "/params/_meta/tenon~1coalesceMs"},
        {"{\"tenon/coalesceMs\":60001}", "/params/_meta/tenon~1coalesceMs"},
        {"{\"tenon/coalesceMs\":1.5}", "/params/_meta/tenon~1coalesceMs"},
        {"{\"tenon/coalesceMs\":\"1\"}", "/params/_meta/tenon~1coalesceMs"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char wanted[200];
        snprintf(wanted, sizeof wanted, "!{\"code\":-32602,\"data\":{\"pointer\":\"%s\"}}",
                 wrong[i][1]);
        request("resources/subscribe", "db://shop/note", wrong[i][0], wanted);
    }
    _Static_assert(COALESCE_MS_MAX == 60000, "as in the cases");
    request("resources/subscribe", "db://shop/note",
            "{\"tenon/coalesceMs\":60000,\"x\":[],\"progressToken\":1}", "{}");
}

static void RS_01_the_operations_have_no_subscriptions(void **state)
{
    (void)state;
    rig.bench.profile = PROFILE_OPERATIONS;
    bench_connect(&rig.bench, "2025-06-18");
    request("resources/subscribe", "db://shop/note", NULL, "!{\"code\":-32601}");
    request("resources/unsubscribe", "db://shop/note", NULL, "!{\"code\":-32601}");
}

static void RS_01_the_capability_is_declared(void **state)
{
    (void)state;
    rig.bench.session[0] = rig.bench.version[0] = 0;
    ask(&rig.bench, 200, INITIALIZE("2025-06-18"),
        "{\"result\":{\"capabilities\":{\"resources\":{\"subscribe\":true,\"listChanged\":true}}}"
        "}");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(REF_09_below_the_floor_each_uri_is_told_once),
        T(REF_09_a_gap_of_many_is_told_in_the_end_though_it_breaks_off),
        T(a_table_that_goes_and_comes_again),
        T(a_table_that_went_while_nobody_looked),
        T(coalescing_tells_the_last_change),
        T(subscribing_again_changes_the_options),
        T(ten_thousand_of_one_session),
        T(the_number_of_subscriptions_is_configured),
        T(FOLLOW_BYTES_MAX_holds_back_but_loses_nothing),
        T(without_memory_all_is_told_later),
        T(many_changes_take_several_turns),
        T(RS_16_what_cannot_be_subscribed_to),
        T(RS_16_a_huge_id_is_refused),
        T(wrong_options_are_refused),
        T(RS_01_the_operations_have_no_subscriptions),
        T(RS_01_the_capability_is_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
