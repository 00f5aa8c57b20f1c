/* tests/unit/test_pushes.c - what goes to a session without a request: on the newest stream that it
 * listens to, once, whatever worker sends it; and changes of lists.
 */
#include "core_stream_rig.h"

#include "base/err.h"
#include "core/component.h"
#include "core/pending.h"

static struct rig rig;
static struct tenon *tenon;

static int set_up(void **state)
{
    rig_open(&rig);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    components_free(tenon);
    tenon = NULL;
    return 0;
}

static void push(unsigned worker, const char *text, int64_t wait_ms)
{
    push_send(rig.cores[worker], str_of(rig.bench.session), str_of(text), wait_ms);
}

/* ---- Listening ------------------------------------------------------------------------------ */

static void T_21_get_without_sse_is_refused(void **state)
{
    (void)state;
    rig.bench.verb = CALL_GET;
    ask(&rig.bench, 406, "", "{\"error\":{\"code\":-32600}}");
    rig.bench.verb = CALL_POST;
}

static void T_20_get_needs_a_session(void **state)
{
    (void)state;
    rig.bench.session[0] = '\0';
    rig_get_refused(&rig, 0, NULL, 400);
    strcpy(rig.bench.session, "nobody");
    rig_get_refused(&rig, 0, NULL, 404);
}

static void T_20_get_opens_a_stream_that_stays_open(void **state)
{
    (void)state;
    struct wire *w = rig_get(&rig, 0, NULL);
    assert_non_null(w);
    rig_tick(&rig, 60000);
    assert_true(!w->ended && w->n == 0);
    assert_true(rig.slots[0].flags & BUS_STREAMS);
    wire_cut(w);
    rig_settle(&rig);
    assert_false(rig.slots[0].flags & BUS_STREAMS);
    assert_null(rig.cores[0]->streams->written);
}

static void T_25_so_many_streams_and_no_more(void **state)
{
    (void)state;
    struct wire *w[STREAMS_LISTENING_MAX];
    for (unsigned i = 0; i < STREAMS_LISTENING_MAX; i++) {
        w[i] = rig_get(&rig, i % WORKERS, NULL);
        rig_settle(&rig);
    }
    rig_get_refused(&rig, 0, NULL, 429);
    wire_cut(w[1]);
    rig_settle(&rig);
    assert_non_null(rig_get(&rig, 0, NULL));
    rig_settle(&rig);
    assert_false(rig.last->ended);
    rig_kill(&rig, 1); /* those of a dead worker do not count */
    assert_non_null(rig_get(&rig, 0, NULL));
}

static void T_25_too_many_at_once_end(void **state)
{
    (void)state;
    unsigned n = 0;
    for (unsigned i = 0; i < 2 * STREAMS_LISTENING_MAX; i++)
        rig_get(&rig, i % WORKERS, NULL); /* not all that came before are committed */
    rig_settle(&rig);
    for (struct wire *w = rig.wires; w; w = w->next)
        n += !w->ended;
    assert_int_equal(n, STREAMS_LISTENING_MAX);
}

/* ---- Exactly once --------------------------------------------------------------------------- */

static void T_26_each_message_goes_on_exactly_one_stream(void **state)
{
    (void)state;
    struct wire *w[4];
    char text[32];
    for (unsigned i = 0; i < 4; i++) {
        w[i] = rig_get(&rig, i % WORKERS, NULL);
        rig_settle(&rig);
    }
    for (unsigned i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "%u", i);
        push(i % WORKERS, text, 0);
        if (i % 9 == 0)
            rig_settle(&rig);
    }
    rig_settle(&rig);
    assert_int_equal(w[0]->n + w[1]->n + w[2]->n, 0); /* all on the newest */
    assert_int_equal(w[3]->n, 100);
    bool seen[100] = {false};
    for (unsigned i = 0; i < 100; i++) {
        int v = atoi(w[3]->text[i]);
        assert_false(seen[v]);
        seen[v] = true;
    }
}

static void T_26_the_next_newest_takes_over(void **state)
{
    (void)state;
    struct wire *old = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    struct wire *new = rig_get(&rig, 1, NULL);
    rig_settle(&rig);
    push(0, "1", 0);
    rig_settle(&rig);
    EXPECT(new, "1");
    wire_cut(new);
    push(1, "2", 0);
    rig_settle(&rig);
    EXPECT(old, "2");
    push(1, "3", 0);
    push(0, "4", 0);
    rig_settle(&rig);
    assert_int_equal(old->n, 3);
}

static void T_26_a_holder_that_died_is_followed_by_the_next(void **state)
{
    (void)state;
    struct wire *old = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    rig_get(&rig, 1, NULL);
    rig_settle(&rig);
    rig_kill(&rig, 1);
    push(0, "1", 0);
    rig_settle(&rig);
    EXPECT(old, "1");
}

static void T_22_a_message_waits_for_a_stream(void **state)
{
    (void)state;
    push(0, "lost", 0); /* nobody listens, and it does not wait */
    push(0, "1", 1000);
    push(1, "2", 5000);
    push(1, "3", 5000);
    rig_settle(&rig);
    rig_tick(&rig, 2000);
    struct wire *w = rig_get(&rig, 1, NULL);
    rig_settle(&rig);
    EXPECT(w, "2", "3");
    struct wire *other = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    assert_int_equal(other->n, 0);
}

/* ---- Resuming ------------------------------------------------------------------------------- */

static void resume(unsigned worker)
{
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    push(0, "1", 0);
    push(0, "2", 0);
    rig_settle(&rig);
    push(0, "3", 0);
    wire_cut(w);
    struct wire *again = rig_get(&rig, worker, w->id[0]);
    rig_settle(&rig);
    EXPECT(again, "2", "3");
    push(0, "4", 0);
    push(1, "5", 0);
    rig_settle(&rig);
    assert_int_equal(again->n, 4);
    for (unsigned i = 1; i < again->n; i++)
        assert_string_not_equal(again->id[i], again->id[i - 1]);
}

static void X_03_a_stream_that_listens_is_resumed(void **state)
{
    (void)state;
    resume(0);
}

static void X_03_a_stream_that_listens_is_resumed_elsewhere(void **state)
{
    (void)state;
    resume(1);
}

static void X_03_a_resumed_post_stream_takes_no_pushes(void **state)
{
    (void)state;
    struct wire *get = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{}");
    struct wire *w = rig.last;
    rig_settle(&rig);
    wire_cut(w);
    struct wire *again = rig_get(&rig, 1, w->id[0]);
    rig_settle(&rig);
    push(1, "1", 0);
    rig_settle(&rig);
    EXPECT(get, "1");
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    EXPECT(again, "{\"id\":7}");
}

static void X_06_a_stream_that_listens_is_taken_over(void **state)
{
    (void)state;
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    push(0, "1", 0);
    rig_settle(&rig);
    struct wire *again = rig_get(&rig, 1, w->id[0]);
    push(0, "2", 0); /* out by the old one already, but the client left it */
    rig_settle(&rig);
    assert_true(w->ended);
    push(0, "3", 0);
    rig_settle(&rig);
    EXPECT(again, "2", "3");
}

/* The writer's frames are refused, as another worker writes: they are sent again, once. */
static void X_06_what_the_store_refused_goes_on_the_new_stream(void **state)
{
    (void)state;
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    push(0, "1", 0);
    rig_settle(&rig);
    struct wire *again = rig_get(&rig, 1, w->id[0]);
    struct store_write nothing = {.space = STORE_SYS};
    store_apply(rig.bench.store, &nothing); /* the claim is committed; worker 0 does not know */
    push(0, "2", 0);
    rig_settle(&rig);
    EXPECT(again, "2");
    rig_tick(&rig, 3000);
    EXPECT(again, "2");
    assert_null(rig.cores[0]->streams->written);
}

static void X_02_a_stream_of_a_dead_worker_goes_on_with_new_numbers(void **state)
{
    (void)state;
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    push(0, "1", 0);
    rig_settle(&rig);
    push(0, "2", 0);
    rig_kill(&rig, 0); /* "2" is out, but not stored */
    struct wire *again = rig_get(&rig, 1, w->id[1]);
    rig_settle(&rig);
    push(1, "3", 0);
    rig_settle(&rig);
    EXPECT(again, "3");
    assert_string_not_equal(again->id[0], w->id[1]);
}

/* ---- Lists ---------------------------------------------------------------------------------- */

#define TOOLS     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"
#define RESOURCES "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}"
#define PROMPTS   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}"
#define TABLE                                                                           \
    "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{" \
    "\"type\":\"string\"}}}}"

static void T_12_list_changed_is_told_once_by_the_newest(void **state)
{
    (void)state;
    struct wire *old = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    struct wire *new = rig_get(&rig, 1, NULL);
    rig_settle(&rig);
    assert_int_equal(old->n + new->n, 0); /* as at initialize */
    bench_table(&rig.bench, "a", "one", TABLE);
    bench_table(&rig.bench, "a", "two", TABLE); /* in the same second */
    rig_tick(&rig, 1000);
    rig_tick(&rig, 1000);
    assert_int_equal(old->n, 0);
    EXPECT(new, TOOLS, RESOURCES);
    wire_cut(new);
    bench_table(&rig.bench, "a", "three", TABLE);
    rig_tick(&rig, 1000);
    rig_tick(&rig, 1000);
    EXPECT(old, TOOLS, RESOURCES); /* the newest that is left */
    wire_cut(old);
    bench_table(&rig.bench, "a", "four", TABLE); /* told when somebody listens again */
    rig_tick(&rig, 1000);
    struct wire *third = rig_get(&rig, 0, NULL);
    rig_tick(&rig, 1000);
    EXPECT(third, TOOLS, RESOURCES);
    rig_tick(&rig, 1000);
    assert_int_equal(third->n, 2);
}

static void T_12_a_change_by_an_operation_is_told_at_once(void **state)
{
    (void)state;
    char session[128];
    struct wire *w = rig_get(&rig, 1, NULL);
    rig_tick(&rig, 1000);
    strcpy(session, rig.bench.session);
    rig.bench.profile = PROFILE_OPERATIONS;
    bench_connect(&rig.bench, "2025-06-18");
    ask_method(&rig.bench, "tools/call",
               "{\"name\":\"create_table\",\"arguments\":{\"database\":\"a\",\"table\":\"one\","
               "\"definition\":" TABLE "}}",
               "{\"structuredContent\":{\"table\":\"one\"}}");
    rig_settle(&rig);
    EXPECT(w, TOOLS, RESOURCES);
}

static int render(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_text(call, "x");
}

static int add_prompt(struct tenon *t, void *ctx)
{
    return tenon_add_prompt(
        t, &(struct tenon_prompt){.name = ctx, .description = "d", .render = render});
}

static int add_tool(struct tenon *t, void *ctx)
{
    return tenon_add_tool(t, &(struct tenon_tool){.name = ctx, .description = "d", .run = render});
}

static int offer_prompt(struct tenon *t, void *ctx)
{
    return components_fill(t, STR("a"), add_prompt, ctx);
}

static int offer_tool_too(struct tenon *t, void *ctx)
{
    int err = components_keep(t, STR("a"));
    return err < 0 ? err : components_fill(t, STR("b"), add_tool, ctx);
}

/* Worker 0 gets components of its own. */
static void give_components(void)
{
    assert_int_equal(components_new(&tenon), 0);
    rig.cores[0]->config.components = tenon;
    components_attach(tenon, rig.cores[0]);
}

static void PR_02_a_prompt_that_comes_is_told_and_nothing_else(void **state)
{
    char one[] = "one", two[] = "two";
    (void)state;
    give_components();
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_tick(&rig, 1000);
    assert_int_equal(w->n, 0);
    assert_int_equal(components_remake(tenon, offer_prompt, one), 0);
    rig_tick(&rig, 1000);
    EXPECT(w, PROMPTS);
    assert_int_equal(components_remake(tenon, offer_prompt, one), 0); /* the same again */
    rig_tick(&rig, 1000);
    assert_int_equal(w->n, 1);
    assert_int_equal(components_remake(tenon, offer_tool_too, two), 0);
    rig_tick(&rig, 1000);
    EXPECT(w, PROMPTS, TOOLS);
    wire_cut(w);
    assert_int_equal(components_remake(tenon, offer_prompt, two), 0);
    struct wire *next = rig_get(&rig, 0, NULL); /* told when somebody listens again */
    rig_tick(&rig, 1000);
    EXPECT(next, TOOLS, PROMPTS);
}

static void PR_02_on_stdio_too(void **state)
{
    struct wire out = {.sink = {.ops = &wire_ops}, .rig = &rig, .room = UINT_MAX};
    char one[] = "one";
    (void)state;
    give_components();
    core_push_to(rig.cores[0], &out.sink);
    rig.bench.stdio = true;
    bench_connect(&rig.bench, "2025-06-18");
    assert_int_equal(components_remake(tenon, offer_prompt, one), 0);
    rig_tick(&rig, 1000);
    EXPECT(&out, PROMPTS);
    core_push_to(rig.cores[0], NULL);
    free(out.text[0]);
}

static void L_08_nothing_before_initialized(void **state)
{
    (void)state;
    rig.bench.session[0] = rig.bench.version[0] = '\0';
    ask(&rig.bench, 200, INITIALIZE("2025-06-18"), "{\"result\":{\"protocolVersion\":\"*\"}}");
    strcpy(rig.bench.session, rig.bench.new_session);
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    bench_table(&rig.bench, "a", "one", TABLE);
    rig_tick(&rig, 1000);
    assert_int_equal(w->n, 0);
    ask(&rig.bench, 202, INITIALIZED, "");
    rig_tick(&rig, 1000);
    EXPECT(w, TOOLS, RESOURCES);
}

static void T_12_on_stdio_too_and_only_once_initialized(void **state)
{
    (void)state;
    struct wire out = {.sink = {.ops = &wire_ops}, .rig = &rig, .room = UINT_MAX};
    core_push_to(rig.cores[0], &out.sink);
    rig.bench.stdio = true;
    ask(&rig.bench, 200, INITIALIZE("2025-06-18"), "{\"result\":{\"protocolVersion\":\"*\"}}");
    rig_tick(&rig, 1000);
    bench_table(&rig.bench, "a", "one", TABLE);
    rig_tick(&rig, 1000);
    assert_int_equal(out.n, 0);
    ask(&rig.bench, 202, INITIALIZED, "");
    rig_tick(&rig, 1000);
    EXPECT(&out, TOOLS, RESOURCES);
    rig_tick(&rig, 1000);
    assert_int_equal(out.n, 2);
    bench_table(&rig.bench, "a", "two", TABLE);
    bench_table(&rig.bench, "a", "three", TABLE); /* in the same second */
    rig_tick(&rig, 1000);
    EXPECT(&out, TOOLS, RESOURCES, TOOLS, RESOURCES);
    core_push_to(rig.cores[0], NULL);
    bench_table(&rig.bench, "a", "four", TABLE); /* stdout is gone */
    rig_tick(&rig, 1000);
    assert_int_equal(out.n, 4);
    for (unsigned i = 0; i < out.n; i++)
        free(out.text[i]);
}

static void T_12_on_stdio_nothing_for_operations(void **state)
{
    (void)state;
    struct wire out = {.sink = {.ops = &wire_ops}, .rig = &rig, .room = UINT_MAX};
    core_push_to(rig.cores[0], &out.sink);
    rig.bench.stdio = true;
    rig.bench.profile = PROFILE_OPERATIONS;
    bench_connect(&rig.bench, "2025-06-18");
    bench_table(&rig.bench, "a", "one", TABLE);
    rig_tick(&rig, 1000);
    assert_int_equal(out.n, 0);
    core_push_to(rig.cores[0], NULL);
}

/* ---- Questions ------------------------------------------------------------------------------ */

static unsigned n_answered;

static void count_answer(void *ctx, const struct pending_answer *answer)
{
    (void)ctx, (void)answer;
    n_answered++;
}

static void connect_with_roots(struct bench *b)
{
    b->session[0] = b->version[0] = '\0';
    ask(b, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"roots\":{}},"
        "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
        "{\"id\":0,\"result\":{\"protocolVersion\":\"*\"}}");
    strcpy(b->session, b->new_session);
    strcpy(b->version, "2025-06-18");
    ask(b, 202, INITIALIZED, "");
}

static int ask_roots(unsigned worker)
{
    const struct pending_ask roots = {MCP_ROOTS_LIST, STR_NONE, 0, count_answer, NULL};
    return pending_ask_session(rig.cores[worker], str_of(rig.bench.session), &roots);
}

/* Whichever workers ask; those that are answered or over make room on all. */
static void PENDING_MAX_holds_for_all_workers_together(void **state)
{
    (void)state;
    connect_with_roots(&rig.bench);
    for (int i = 0; i < PENDING_MAX; i++)
        assert_int_equal(ask_roots(i % 3 == 0), 0);
    assert_int_equal(ask_roots(0), ERR_BUSY);
    assert_int_equal(ask_roots(1), ERR_BUSY);
    rig_settle(&rig);
    assert_int_equal(n_answered, 0);
    rig_tick(&rig, ASK_TIMEOUT_MS + 1);
    pending_tick(rig.cores[1]);
    assert_int_equal(n_answered, PENDING_MAX);
    assert_int_equal(ask_roots(0), 0);
    assert_int_equal(ask_roots(1), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(PENDING_MAX_holds_for_all_workers_together),
        T(T_21_get_without_sse_is_refused),
        T(T_20_get_needs_a_session),
        T(T_20_get_opens_a_stream_that_stays_open),
        T(T_25_so_many_streams_and_no_more),
        T(T_25_too_many_at_once_end),
        T(T_26_each_message_goes_on_exactly_one_stream),
        T(T_26_the_next_newest_takes_over),
        T(T_26_a_holder_that_died_is_followed_by_the_next),
        T(T_22_a_message_waits_for_a_stream),
        T(X_03_a_stream_that_listens_is_resumed),
        T(X_03_a_stream_that_listens_is_resumed_elsewhere),
        T(X_03_a_resumed_post_stream_takes_no_pushes),
        T(X_06_a_stream_that_listens_is_taken_over),
        T(X_06_what_the_store_refused_goes_on_the_new_stream),
        T(X_02_a_stream_of_a_dead_worker_goes_on_with_new_numbers),
        T(T_12_list_changed_is_told_once_by_the_newest),
        T(T_12_a_change_by_an_operation_is_told_at_once),
        T(PR_02_a_prompt_that_comes_is_told_and_nothing_else),
        T(PR_02_on_stdio_too),
        T(L_08_nothing_before_initialized),
        T(T_12_on_stdio_too_and_only_once_initialized),
        T(T_12_on_stdio_nothing_for_operations),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
