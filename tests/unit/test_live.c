/* What a handler thread says while its call runs: progress, log messages, questions, waits. The
 * ends of these ways (call_send, log_message_call, pending_ask_call) are wrapped by the linker and
 * write down what reaches them; nothing is sent. */
#include "ask.h"

#include "core/component.h"
#include "core/core_state.h"

#include <math.h>

int __wrap_call_send(struct call *call, struct str message);
int __wrap_pending_ask_call(struct call *call, const struct pending_ask *ask);
void __wrap_log_message_call(struct call *call, enum mcp_logging_level level, struct str logger,
                             struct str data);

/* ---- What reached the ends ------------------------------------------------------------------ */

static struct buf sent; /* one line each */
static unsigned n_sent;

static void write_down(struct str line)
{
    buf_add_str(&sent, line);
    buf_add_char(&sent, '\n');
    n_sent++;
}

int __wrap_call_send(struct call *call, struct str message)
{
    assert_false(call->is_answered);
    write_down(message);
    return 0;
}

void __wrap_log_message_call(struct call *call, enum mcp_logging_level level, struct str logger,
                             struct str data)
{
    char line[256];
    assert_false(call->is_answered);
    snprintf(line, sizeof line, "log %d " STR_FMT " " STR_FMT, level,
             STR_ARG(logger.p ? logger : STR("-")), STR_ARG(data));
    write_down(str_of(line));
}

static enum { ANSWER_WELL, ANSWER_ERROR, REFUSE, CANCEL } behaviour;
static struct pending_ask asked;
static struct call *asking;
static char asked_params[256];

static void answer_later(struct loop_post *post)
{
    struct pending_answer answer = {.result =
                                        STR("{\"action\":\"accept\",\"content\":{\"a\":\"b\"}}")};
    free(post);
    if (behaviour == CANCEL)
        call_cancel(asking, ERR_CANCELLED); /* core/pending.c would end the question by it */
    if (behaviour == CANCEL)
        answer = (struct pending_answer){.err = ERR_CANCELLED};
    if (behaviour == ANSWER_ERROR)
        answer = (struct pending_answer){.err = ERR_REMOTE, .code = -1, .message = STR("not now")};
    asked.done(asked.ctx, &answer);
}

int __wrap_pending_ask_call(struct call *call, const struct pending_ask *ask)
{
    if (behaviour == REFUSE)
        return ERR_BUSY;
    struct loop_post *post = calloc(1, sizeof *post);
    asked = *ask;
    asking = call;
    snprintf(asked_params, sizeof asked_params, STR_FMT, STR_ARG(ask->params));
    post->fn = answer_later;
    loop_post(call->core->loop, post);
    return 0;
}

/* ---- Tools ---------------------------------------------------------------------------------- */

static int run_steps(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_progress(call, 1, 3, NULL);
    tenon_progress(call, 1.5, 0, "half");
    return 0;
}

static int run_fallen(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    assert_int_equal(tenon_progress(call, 5, 0, NULL), 0);
    assert_int_equal(tenon_progress(call, 5, 0, NULL), TENON_ERR_ARGUMENT);
    assert_int_equal(tenon_progress(call, 4, 0, NULL), TENON_ERR_ARGUMENT);
    assert_int_equal(tenon_progress(call, NAN, 0, NULL), TENON_ERR_ARGUMENT);
    assert_int_equal(tenon_progress(call, 6, INFINITY, NULL), TENON_ERR_ARGUMENT);
    assert_int_equal(tenon_log(call, TENON_INFO, NULL, "{"), TENON_ERR_ARGUMENT);
    assert_int_equal(tenon_log(call, (enum tenon_log_level)8, NULL, "1"), TENON_ERR_ARGUMENT);
    return 0;
}

#define FLOOD 20000

static int run_flood(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    for (int i = 1; i <= FLOOD; i++)
        tenon_progress(call, i, FLOOD, "so far");
    return 0;
}

static int run_order(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_logf(call, TENON_INFO, "%s", "a");
    tenon_progress(call, 1, 0, NULL);
    tenon_log(call, TENON_ERROR, "mine", "{\"b\": 1}");
    tenon_progress(call, 2, 0, NULL);
    tenon_logf(call, TENON_DEBUG, "c");
    return 0;
}

static int run_logs(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < LIVE_LOGS + 7; i++)
        tenon_logf(call, TENON_INFO, "%d", i);
    return 0;
}

static int run_large_logs(struct tenon_call *call, void *ctx)
{
    char *line = tenon_alloc(call, LIVE_LOG_BYTES / 2 + 2);
    (void)ctx;
    memset(line, 'x', LIVE_LOG_BYTES / 2 + 1);
    line[LIVE_LOG_BYTES / 2 + 1] = '\0';
    for (int i = 0; i < 3; i++)
        tenon_logf(call, TENON_INFO, "%s", line);
    return 0;
}

/* More than the call's memory, all together. */
static int run_long_logs(struct tenon_call *call, void *ctx)
{
    static char line[(64u << 10) + 3];
    (void)ctx;
    memset(line, 'x', sizeof line - 1);
    line[0] = line[sizeof line - 2] = '"';
    for (size_t said = 0; said <= ARENA_LIMIT_BYTES; said += sizeof line) {
        assert_int_equal(tenon_log(call, TENON_INFO, NULL, line), 0);
        assert_int_equal(tenon_logf(call, TENON_INFO, "%s", line), 0);
    }
    return tenon_text(call, "done");
}

static int run_ask(struct tenon_call *call, void *ctx)
{
    const char *result = NULL;
    int code = 0;
    (void)ctx;
    int err = tenon_elicit(call, " {\"message\":\"m\"} ", 1234, &result);
    if (err == TENON_ERR_REMOTE) {
        const char *message = tenon_remote_message(call, &code);
        return tenon_textf(call, "%d %s", code, message);
    }
    if (err)
        return err;
    return tenon_textf(call, "%d %s %s", tenon_elicited_action(call, result),
                       tenon_elicited_content(call, result),
                       tenon_elicited_text(call, result, "a"));
}

static int run_ask_often(struct tenon_call *call, void *ctx)
{
    const char *result;
    (void)ctx;
    for (int i = 0; i < 200; i++) {
        tenon_progress(call, i, 200, NULL);
        tenon_logf(call, TENON_INFO, "%d", i);
        int err = tenon_list_roots(call, 0, &result);
        if (err)
            return err;
    }
    return tenon_text(call, "asked");
}

static bool was_cancelled;

static void cancel_now(struct loop_post *post)
{
    free(post);
    call_cancel(asking, ERR_CANCELLED);
}

static int run_wait(struct tenon_call *call, void *ctx)
{
    const char *result;
    struct loop_post *post = calloc(1, sizeof *post);
    (void)ctx;
    assert_false(tenon_cancelled(call));
    assert_int_equal(tenon_wait(call, 0), 0);
    post->fn = cancel_now;
    loop_post(&bench.loop, post);
    assert_int_equal(tenon_wait(call, 3600000), TENON_ERR_CANCELLED);
    assert_true(tenon_cancelled(call));
    assert_int_equal(tenon_list_roots(call, 0, &result), TENON_ERR_CANCELLED);
    was_cancelled = true;
    return TENON_ERR_CANCELLED;
}

static int render_steps(struct tenon_call *call, void *ctx)
{
    run_steps(call, ctx);
    return tenon_text(call, "steps");
}

#define TOOL(tool_name, function)                                   \
    {                                                               \
        .name = tool_name, .description = "A tool", .run = function \
    }

static int add_all(struct tenon *t)
{
    static const struct tenon_tool tools[] = {
        TOOL("steps", run_steps), TOOL("fallen", run_fallen), TOOL("flood", run_flood),
        TOOL("ask", run_ask),     TOOL("wait", run_wait),     TOOL("ask_often", run_ask_often),
    };
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        tenon_add_tool(t, &tools[i]);
    tenon_add_prompt(
        t, &(struct tenon_prompt){.name = "steps", .description = "d", .render = render_steps});
    tenon_add_prompt(
        t, &(struct tenon_prompt){.name = "wait", .description = "d", .render = run_wait});
    /* on the loop: all that they say is taken in one turn */
    tenon_add_tool(t,
                   &(struct tenon_tool){
                       .name = "order", .description = "d", .run = run_order, .is_inline = true});
    tenon_add_tool(
        t, &(struct tenon_tool){
               .name = "large_logs", .description = "d", .run = run_large_logs, .is_inline = true});
    tenon_add_tool(
        t, &(struct tenon_tool){
               .name = "long_logs", .description = "d", .run = run_long_logs, .is_inline = true});
    return tenon_add_tool(
        t, &(struct tenon_tool){
               .name = "logs", .description = "d", .run = run_logs, .is_inline = true});
}

static struct tenon *tenon;

static int set_up(void **state)
{
    (void)state;
    behaviour = ANSWER_WELL;
    was_cancelled = false;
    n_sent = 0;
    assert_int_equal(components_new(&tenon), 0);
    assert_int_equal(components_add(tenon, STR("test.so"), add_all), 0);
    struct core_config config = bench_config;
    config.components = tenon;
    bench_open(&bench, &config);
    bench_connect(&bench, "2025-06-18");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bench_close(&bench);
    components_free(tenon);
    buf_done(&sent);
    return 0;
}

static void call_tool(const char *name, const char *token, const char *pattern)
{
    char params[256];
    snprintf(params, sizeof params, "{\"name\":\"%s\"%s%s%s}", name,
             *token ? ",\"_meta\":{\"progressToken\":" : "", token, *token ? "}" : "");
    ask_method(&bench, "tools/call", params, pattern);
}

static const char *all_sent(void)
{
    buf_add(&sent, "", 1);
    return sent.p;
}

/* ---- Progress ------------------------------------------------------------------------------- */

static void G_01_progress_carries_the_token_as_it_was_sent(void **state)
{
    (void)state;
    call_tool("order", "\"a\\u0062\"", "{\"content\":[]}");
    assert_non_null(strstr(all_sent(), "\"progressToken\":\"a\\u0062\""));
    buf_done(&sent);
    call_tool("order", "12", "{\"content\":[]}");
    assert_non_null(strstr(all_sent(), "\"progressToken\":12"));
}

static void G_01_a_prompt_tells_its_progress(void **state)
{
    (void)state;
    ask_method(&bench, "prompts/get", "{\"name\":\"steps\",\"_meta\":{\"progressToken\":\"t\"}}",
               "{\"messages\":[\"*\"]}");
    assert_non_null(strstr(all_sent(), "\"progressToken\":\"t\""));
}

static void G_06_without_a_token_there_is_no_progress(void **state)
{
    (void)state;
    call_tool("steps", "", "{\"content\":[]}");
    assert_int_equal(n_sent, 0);
}

static void G_03_progress_that_does_not_rise_is_refused(void **state)
{
    (void)state;
    call_tool("fallen", "1", "{\"content\":[]}");
    assert_int_equal(n_sent, 1);
}

static void G_08_a_flood_is_thinned_and_ends_with_its_newest(void **state)
{
    double last = 0;
    (void)state;
    int64_t start_ms = clock_mono_ms();
    call_tool("flood", "\"t\"", "{\"content\":[]}");
    int64_t ms = clock_mono_ms() - start_ms;
    assert_true(n_sent <= PROGRESS_PER_S * (1 + (unsigned)ms / 1000) + 1);
    for (const char *at = all_sent(); (at = strstr(at, "\"progress\":")); at++) {
        double progress = strtod(at + strlen("\"progress\":"), NULL);
        assert_true(progress > last);
        last = progress;
    }
    assert_true(last == FLOOD);
}

static void said_is_sent_in_order_with_the_newest_progress(void **state)
{
    (void)state;
    call_tool("order", "1", "{\"content\":[]}");
    const char *text = all_sent();
    const char *a = strstr(text, "log 1 - \"a\""), *b = strstr(text, "log 4 mine {\"b\": 1}");
    const char *two = strstr(text, "\"progress\":2"), *c = strstr(text, "log 0 - \"c\"");
    assert_true(a && b && two && c && a < b && b < two && two < c);
    assert_null(strstr(text, "\"progress\":1"));
    assert_int_equal(n_sent, 4);
}

static void log_lines_that_are_too_many_are_counted(void **state)
{
    (void)state;
    call_tool("logs", "", "{\"content\":[]}");
    assert_int_equal(n_sent, LIVE_LOGS + 1);
    assert_non_null(strstr(all_sent(), "log 3 tenon \"7 log messages were too many"));
}

static void log_lines_that_are_too_large_together_are_counted(void **state)
{
    (void)state;
    call_tool("large_logs", "", "{\"content\":[]}");
    assert_int_equal(n_sent, 2);
    assert_non_null(strstr(all_sent(), "log 3 tenon \"2 log messages were too many"));
}

static void log_lines_take_nothing_of_the_memory_of_a_call(void **state)
{
    (void)state;
    call_tool("long_logs", "", "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}");
}

static void late_progress_goes_out_by_the_tick(void **state)
{
    struct call call = {.core = bench.core};
    struct session session = {.revision = MCP_2025_06_18};
    (void)state;
    call.session = &session;
    call.message.progress_token = STR("1");
    assert_int_equal(live_new(&call, &call.live), 0);
    for (int i = 1; i <= 200; i++) {
        assert_int_equal(live_progress(call.live, i, 0, STR_NONE), 0);
        assert_true(loop_turn(&bench.loop, 1));
    }
    assert_true(n_sent < 200 && bench.core->late);
    clock_advance_ms(20);
    live_tick(bench.core);
    assert_null(bench.core->late);
    assert_non_null(strstr(all_sent(), "\"progress\":200"));
    live_free(call.live);
}

/* ---- Questions ------------------------------------------------------------------------------ */

static void a_question_is_answered(void **state)
{
    (void)state;
    call_tool("ask", "", "{\"content\":[{\"text\":\"0 {\\\"a\\\":\\\"b\\\"} b\"}]}");
    assert_string_equal(asked_params, "{\"message\":\"m\"}");
    assert_int_equal(asked.method, MCP_ELICITATION_CREATE);
    assert_int_equal(asked.timeout_ms, 1234);
}

static void an_error_of_the_client_is_told(void **state)
{
    (void)state;
    behaviour = ANSWER_ERROR;
    call_tool("ask", "", "{\"content\":[{\"text\":\"-1 not now\"}]}");
}

static void SR_03_a_question_too_many_fails_at_once(void **state)
{
    (void)state;
    behaviour = REFUSE;
    call_tool("ask", "", "{\"isError\":true,\"content\":[{\"text\":\"Too many at once\"}]}");
}

static void many_questions_and_much_else(void **state)
{
    (void)state;
    call_tool("ask_often", "\"x\"", "{\"content\":[{\"text\":\"asked\"}]}");
}

static void expect_no_response(void)
{
    assert_int_equal(bench.n_answers, 1);
    assert_int_equal(bench.body.n, 0);
}

#define CALL(tool) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" tool "\"}}"

static void C_a_cancelled_question_ends_and_nothing_is_answered(void **state)
{
    (void)state;
    behaviour = CANCEL;
    bench_send(&bench, STR(CALL("ask")));
    expect_no_response();
}

static void C_a_wait_ends_with_the_call(void **state)
{
    (void)state;
    bench.n_answers = 0;
    asking = bench_begin(&bench, STR(CALL("wait")));
    while (!bench.n_answers)
        assert_true(loop_turn(&bench.loop, 10));
    assert_true(was_cancelled);
    expect_no_response();
}

static void C_a_call_that_was_cancelled_before_it_ran_does_not_run(void **state)
{
    (void)state;
    bench.n_answers = 0;
    struct call *call = bench_begin(&bench, STR(CALL("wait")));
    call_cancel(call, ERR_CANCELLED);
    while (!bench.n_answers)
        assert_true(loop_turn(&bench.loop, 10));
    assert_false(was_cancelled);
    expect_no_response();
}

static void C_a_prompt_is_cancelled_while_it_waits(void **state)
{
    (void)state;
    bench.n_answers = 0;
    asking = bench_begin(&bench, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\","
                                     "\"params\":{\"name\":\"wait\"}}"));
    while (!bench.n_answers)
        assert_true(loop_turn(&bench.loop, 20));
    assert_true(was_cancelled);
    expect_no_response();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(G_01_progress_carries_the_token_as_it_was_sent),
        TEST(G_01_a_prompt_tells_its_progress),
        TEST(G_06_without_a_token_there_is_no_progress),
        TEST(G_03_progress_that_does_not_rise_is_refused),
        TEST(G_08_a_flood_is_thinned_and_ends_with_its_newest),
        TEST(said_is_sent_in_order_with_the_newest_progress),
        TEST(log_lines_that_are_too_many_are_counted),
        TEST(log_lines_that_are_too_large_together_are_counted),
        TEST(log_lines_take_nothing_of_the_memory_of_a_call),
        TEST(late_progress_goes_out_by_the_tick),
        TEST(a_question_is_answered),
        TEST(an_error_of_the_client_is_told),
        TEST(SR_03_a_question_too_many_fails_at_once),
        TEST(many_questions_and_much_else),
        TEST(C_a_cancelled_question_ends_and_nothing_is_answered),
        TEST(C_a_wait_ends_with_the_call),
        TEST(C_a_call_that_was_cancelled_before_it_ran_does_not_run),
        TEST(C_a_prompt_is_cancelled_while_it_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
