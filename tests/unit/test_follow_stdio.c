/* tests/unit/test_follow_stdio.c - subscriptions on stdio: one session, no records, one output. */
#include "ask.h"

#include "core/catalog.h"
#include "core/core_state.h"
#include "core/follow_parts.h"

#define UPDATED(uri) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":" uri "}"

static struct buf output; /* a line for each message */

static bool take(struct sink *sink, struct str id, struct str message)
{
    (void)sink;
    assert_null(id.p);
    buf_add_str(&output, message);
    buf_add_char(&output, '\n');
    return true;
}

static const struct sink_ops ops = {take, NULL, NULL};
static struct sink out = {.ops = &ops};

static int set_up(void **state)
{
    bench_open(&bench, &bench_config);
    bench.stdio = true;
    core_push_to(bench.core, &out);
    bench_table(&bench, "shop", "note", NOTE_DEFINITION);
    bench_connect(&bench, "2025-06-18");
    *state = &bench;
    return 0;
}

static int tear_down(void **state)
{
    buf_done(&output);
    return close_bench(state);
}

static void request(const char *method, const char *uri, const char *meta, const char *pattern)
{
    char params[512];
    snprintf(params, sizeof params, "{\"uri\":\"%s\",\"_meta\":%s}", uri, meta);
    ask_method(&bench, method, params, pattern);
}

static void write_note(const char *key)
{
    static unsigned n;
    struct arena arena;
    const struct tape_node *row;
    arena_init(&arena, 0);
    const struct table *table =
        catalog_find_table(catalog_now(bench.core), STR("shop"), STR("note"));
    char *text = arena_zalloc(&arena, 512 + JSON_PADDING_BYTES);
    int len = snprintf(text, 512, "{\"key\":\"%s\",\"text\":\"%u\"}", key, ++n);
    assert_int_equal(tape_open((struct str){text, (uint32_t)len}, &arena, &row, NULL), 0);
    bench_write(&bench, (struct store_op){.kind = STORE_PUT_ROW,
                                          .if_version = STORE_ANY,
                                          .table = table->id,
                                          .key = str_of(key),
                                          .row = row});
    arena_done(&arena);
}

static void settle(int64_t ms)
{
    clock_advance_ms(ms);
    core_tick(bench.core);
    while (loop_turn(&bench.loop, 0))
        ;
}

/* Since the last time. */
static void expect_output(const char *text)
{
    settle(0);
    buf_add_char(&output, 0);
    assert_string_equal(output.p, text);
    buf_clear(&output);
}

static void RS_10_stdio_is_told_until_it_unsubscribes(void **state)
{
    (void)state;
    buf_clear(&output);
    request("resources/subscribe", "db://shop/note/a", "{}", "{}");
    write_note("b");
    write_note("a");
    expect_output(UPDATED("{\"uri\":\"db://shop/note/a\"}") "\n");
    request("resources/subscribe", "db://shop/note", "{\"tenon/coalesceMs\":100}", "{}");
    request("resources/unsubscribe", "db://shop/note/a", "{}", "{}");
    write_note("a");
    write_note("b");
    expect_output("");
    settle(150);
    expect_output(UPDATED("{\"uri\":\"db://shop/note\"}") "\n");
    request("resources/unsubscribe", "db://shop/note", "{}", "{}");
    request("resources/unsubscribe", "db://shop/note", "{}", "{}");
    write_note("a");
    settle(2000);
    expect_output("");
    assert_int_equal(bench.core->follows->n_interests, 0);
    request("resources/subscribe", "db://shop/note", "{}", "{}"); /* not of what was before */
    settle(1000);
    expect_output("");
    write_note("a");
    expect_output(UPDATED("{\"uri\":\"db://shop/note\"}") "\n");
}

static void stdio_in_mode_all_is_told_each_change(void **state)
{
    (void)state;
    unsigned n = 0;
    request("resources/subscribe", "db://shop/note", "{\"tenon/mode\":\"all\"}", "{}");
    for (unsigned i = 0; i < FOLLOW_EVENTS_MAX * 2 + 10; i++)
        write_note("a");
    settle(0);
    buf_add_char(&output, 0);
    for (const char *p = output.p; (p = strstr(p, "\"tenon/seq\":")); p++)
        n++;
    assert_int_equal(n, FOLLOW_EVENTS_MAX * 2 + 10);
}

static void stdio_has_as_many_as_are_allowed(void **state)
{
    (void)state;
    bench.core->config.max_subscriptions = 1;
    request("resources/subscribe", "db://shop/note/a", "{}", "{}");
    request("resources/subscribe", "db://shop/note/a", "{}", "{}");
    request("resources/subscribe", "db://shop/note/b", "{}", "!{\"code\":-32602}");
}

static void stdio_without_output_goes_on(void **state)
{
    (void)state;
    buf_clear(&output);
    request("resources/subscribe", "db://shop/note/a", "{}", "{}");
    core_push_to(bench.core, NULL);
    write_note("a");
    settle(2000);
    assert_int_equal(output.n, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(RS_10_stdio_is_told_until_it_unsubscribes),
        T(stdio_in_mode_all_is_told_each_change),
        T(stdio_has_as_many_as_are_allowed),
        T(stdio_without_output_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
