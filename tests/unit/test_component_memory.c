/* tests/unit/test_component_memory.c - the n-th allocation fails, for every n: while a component
 * registers, while its offers are made anew, and while its callbacks run on the loop. */
#include "failing_heap.h"

#include "tests/unit/ask.h"

#include "core/component.h"
#include "core/core_state.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* ---- A component ---------------------------------------------------------------------------- */

static int render(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_text(call, tenon_argument_text(call, "name", NULL));
    tenon_role(call, TENON_ASSISTANT);
    tenon_image(call, "image/png", "\x89PNG", 4);
    tenon_embed_text(call, "x:y", NULL, "inside");
    return tenon_link(call, "x:y", "y", "Y", NULL, NULL);
}

static int complete(struct tenon_call *call, const char *name, const char *value, void *ctx)
{
    (void)name, (void)value, (void)ctx;
    tenon_complete(call, "one");
    return tenon_complete(call, "two");
}

static int read_note(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_contents_text(call, NULL, NULL, tenon_variable(call, "id", 0));
}

static int add_all(struct tenon *t)
{
    static const struct tenon_prompt_argument arguments[] = {
        {.name = "name", .title = "Name", .description = "Who", .required = true}};
    tenon_add_tool(t, &(struct tenon_tool){.name = "tool",
                                           .description = "d",
                                           .output_schema = "{\"type\":\"object\"}",
                                           .is_inline = true,
                                           .run = render});
    tenon_add_prompt(t, &(struct tenon_prompt){.name = "prompt",
                                               .description = "d",
                                               .arguments = arguments,
                                               .n_arguments = 1,
                                               .is_inline = true,
                                               .render = render,
                                               .complete = complete});
    tenon_add_resource(t, &(struct tenon_resource){
                              .uri = "x:y",
                              .name = "y",
                              .annotations = {.for_user = true, .last_modified = "2025-01-01"},
                              .read = read_note});
    return tenon_add_template(t, &(struct tenon_template){.uri_template = "note://{id}",
                                                          .name = "note",
                                                          .is_inline = true,
                                                          .read = read_note,
                                                          .complete = complete});
}

static struct tenon *tenon;

static int keep_all(struct tenon *t, void *ctx)
{
    (void)ctx;
    return components_keep(t, STR("test.so"));
}

static int set_up(void **state)
{
    *state = &bench;
    assert_int_equal(components_new(&tenon), 0);
    assert_int_equal(components_add(tenon, STR("test.so"), add_all), 0);
    struct core_config config = bench_config;
    config.components = tenon;
    bench_shop(&bench, &config);
    bench_table(&bench, "shop", "picture",
                "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{"
                "\"type\":\"string\"},\"png\":{\"type\":\"string\",\"contentEncoding\":\"base64\"}"
                "}}}");
    ask_method(&bench, "tools/call",
               "{\"name\":\"create_picture\",\"arguments\":{\"key\":\"a\",\"png\":\"YWI=\"}}",
               "{\"-\":[\"isError\"]}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bench_close(&bench);
    components_free(tenon);
    return 0;
}

/* ---- Registering ---------------------------------------------------------------------------- */

static void a_component_registers_whole_or_says_that_memory_is_short(void **state)
{
    unsigned n = 0;
    int err = ERR_NO_MEMORY;
    (void)state;
    while (err && n < 1000) {
        struct tenon *t = NULL;
        heap_fail_at(++n);
        err = components_new(&t);
        if (err == 0)
            err = components_add(t, STR("test.so"), add_all);
        bool was_hit = !heap_ok();
        assert_true(was_hit == (err != 0));
        if (err == ERR_PARAMS)
            assert_true(t->fault.n);
        components_free(t);
    }
    assert_true(n > 10 && err == 0);
}

static void new_offers_without_memory_leave_the_old_ones(void **state)
{
    unsigned n = 0;
    int err = ERR_NO_MEMORY;
    (void)state;
    while (err && n < 1000) {
        uint64_t before = tenon->offers->version;
        heap_fail_at(++n);
        err = components_remake(tenon, keep_all, NULL);
        heap_ok();
        assert_int_equal(tenon->offers->version, before + (err == 0));
        assert_int_equal(tenon->offers->n_prompts, 1);
        assert_ptr_equal(tenon->into, tenon->offers);
        ask_method(&bench, "prompts/get", "{\"name\":\"prompt\",\"arguments\":{\"name\":\"x\"}}",
                   "{\"messages\":[\"*\",\"*\",\"*\",\"*\"]}");
    }
    assert_true(n > 3 && err == 0);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static const struct {
    const char *method, *params;
} requests[] = {
    {"prompts/list", "{}"},
    {"prompts/get", "{\"name\":\"prompt\",\"arguments\":{\"name\":\"x\"}}"},
    {"prompts/get", "{\"name\":\"prompt\"}"},
    {"prompts/get", "{\"name\":\"none\"}"},
    {"tools/call", "{\"name\":\"tool\"}"},
    {"resources/read", "{\"uri\":\"note://7\"}"},
    {"resources/read", "{\"uri\":\"db://shop/picture/a\"}"},
    {"resources/read", "{\"uri\":\"db://shop/picture/a#png\"}"},
    {"completion/complete", "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"prompt\"},\"argument\":{"
                            "\"name\":\"name\",\"value\":\"\"}}"},
    {"completion/complete", "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"note://{id}\"},"
                            "\"argument\":{\"name\":\"id\",\"value\":\"\"}}"},
    {"completion/complete", "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"db://{database}/"
                            "{table}\"},\"argument\":{\"name\":\"table\",\"value\":\"\"}}"},
    {"completion/complete",
     "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"db://{database}/{table}/{id}\"},\"argument\":{"
     "\"name\":\"id\",\"value\":\"1\"},\"context\":{\"arguments\":{\"database\":\"shop\","
     "\"table\":\"book\"}}}"},
};

static void finish(struct call *call)
{
    heap_ok();
    take_answer(call);
}

/* Whether the n-th allocation came to it. */
static bool send_failing(const char *body, unsigned n)
{
    struct call *call = call_new(bench.core);
    fill(&bench, call, str_of(body));
    call->finish = finish;
    bench.n_answers = 0;
    heap_fail_at(n);
    core_handle(bench.core, call);
    while (bench.n_answers == 0)
        if (!loop_turn(&bench.loop, 20))
            fail_msg("no answer to %s, allocation %u", body, n);
    bool was_hit = heap_failed;
    heap_ok();
    assert_int_equal(bench.n_answers, 1);
    return was_hit;
}

static void every_failing_allocation_is_answered(void **state)
{
    unsigned n_hit = 0;
    (void)state;
    for (size_t i = 0; i < N(requests); i++) {
        char body[512];
        bool more = true;
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}",
                 requests[i].method, requests[i].params);
        for (unsigned n = 1; more && n < 1000; n++) {
            more = send_failing(body, n);
            n_hit += more;
            assert_true(bench.status == 500 || (bench.status == 200 && bench.body.n));
        }
        assert_false(more);
        assert_int_equal(bench.status, 200);
    }
    assert_true(n_hit > 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_component_registers_whole_or_says_that_memory_is_short),
        TEST(new_offers_without_memory_leave_the_old_ones),
        TEST(every_failing_allocation_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
