/* The component API over a core on the memory store: registration, lists, calls, results. */
#include "ask.h"

#include "core/catalog.h"
#include "core/component.h"
#include "core/core_state.h"

static struct tenon *tenon;

/* ---- A component ---------------------------------------------------------------------------- */

#define PICTURE "\x89PNG"

static int run_text(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_textf(call, "Hello, %s!", tenon_argument_text(call, "name", NULL));
}

static int run_all(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_text(call, "text");
    tenon_image(call, "image/png", PICTURE, 4);
    tenon_audio(call, "audio/wav", "", 0);
    tenon_embed_text(call, "test://a", "text/plain", "inside");
    tenon_embed_blob(call, "test://b", NULL, "ab", 2);
    return tenon_link(call, "test://c", "c", "C", "see", "text/plain");
}

static int run_arguments(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    const char *raw = tenon_argument(call, "list");
    return tenon_textf(call, "%s %s %lld %g %d %d %s", tenon_arguments(call), raw ? raw : "none",
                       (long long)tenon_argument_int(call, "int", -1),
                       tenon_argument_num(call, "num", -0.5),
                       tenon_argument_bool(call, "yes", false),
                       tenon_argument_bool(call, "no", true), tenon_quote(call, "a\"b"));
}

static int run_who(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    char *all = tenon_format(call, "%s|%s|%s|%s|%d", tenon_user(call), tenon_protocol_version(call),
                             tenon_client_info(call), tenon_client_capabilities(call),
                             *tenon_session(call) != '\0');
    return tenon_text(call, all);
}

static int run_structured(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    const char *json = tenon_argument_text(call, "json", NULL);
    if (json)
        tenon_structured(call, json);
    return 0;
}

static int run_fail(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_text(call, "half of it");
    return tenon_fail(call, "No such thing: %d", 7);
}

static int run_err(struct tenon_call *call, void *ctx)
{
    (void)call, (void)ctx;
    return TENON_ERR_TIMED_OUT;
}

static int run_bad(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    int64_t which = tenon_argument_int(call, "which", 0);
    int err = which == 0   ? tenon_image(call, "png", "", 0)
              : which == 1 ? tenon_link(call, "no uri", "x", NULL, NULL, NULL)
              : which == 2 ? tenon_structured(call, "[1]")
              : which == 3 ? tenon_contents_text(call, NULL, NULL, "x")
              : which == 4 ? tenon_text(call, NULL)
              : which == 5 ? tenon_embed_text(call, "a", NULL, "x")
                           : 0;
    assert_int_equal(err, which < 6 ? TENON_ERR_ARGUMENT : 0);
    return 0;
}

static int run_inline(struct tenon_call *call, void *ctx)
{
    const char *result = "untouched";
    pthread_t *loop_thread = ctx;
    assert_true(pthread_equal(pthread_self(), *loop_thread));
    assert_int_equal(tenon_wait(call, 10), TENON_ERR_INLINE);
    assert_int_equal(tenon_sample(call, "{}", 0, &result), TENON_ERR_INLINE);
    assert_string_equal(result, "untouched");
    return tenon_text(call, "inline");
}

static int run_ask(struct tenon_call *call, void *ctx)
{
    const char *result = NULL;
    (void)ctx;
    assert_int_equal(tenon_elicit(call, "[]", 0, &result), TENON_ERR_ARGUMENT);
    assert_int_equal(tenon_elicit(call, "{", 0, &result), TENON_ERR_ARGUMENT);
    int err = tenon_list_roots(call, 0, &result);
    assert_null(result);
    return err;
}

static int read_static(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_contents_text(call, NULL, NULL, "static");
}

static int read_binary(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_contents_blob(call, NULL, NULL, PICTURE, 4);
}

static int read_note(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    const char *id = tenon_variable(call, "id", 0);
    assert_null(tenon_variable(call, "id", 1));
    assert_null(tenon_variable(call, "other", 0));
    if (strcmp(id, "gone") == 0)
        return TENON_ERR_NOT_FOUND;
    if (strcmp(id, "broken") == 0)
        return tenon_fail(call, "The disk is on fire");
    if (strcmp(id, "empty") == 0)
        return 0;
    return tenon_contents_text(call, NULL, NULL, tenon_format(call, "note %s", id));
}

static pthread_t this_thread;

#define ANY_OBJECT "{\"type\":\"object\"}"
#define TOOL(tool_name, ...) \
    tenon_add_tool(t, &(struct tenon_tool){.name = tool_name, .description = "A tool", __VA_ARGS__})

static int add_all(struct tenon *t)
{
    TOOL("greet", .run = run_text, .title = "Greet",
         .input_schema = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
                         "\"required\":[\"name\"]}",
         .hints = {.read_only = TENON_YES, .open_world = TENON_NO});
    TOOL("all", .run = run_all);
    TOOL("arguments", .run = run_arguments);
    TOOL("who", .run = run_who);
    TOOL("structured", .run = run_structured,
         .output_schema = "{\"type\":\"object\",\"required\":[\"n\"]}");
    TOOL("free", .run = run_structured);
    TOOL("fail", .run = run_fail);
    TOOL("err", .run = run_err);
    TOOL("bad", .run = run_bad);
    TOOL("inline", .run = run_inline, .is_inline = true, .ctx = &this_thread);
    TOOL("ask", .run = run_ask);
    tenon_add_resource(t, &(struct tenon_resource){.uri = "test://static",
                                                   .name = "static",
                                                   .mime_type = "text/plain",
                                                   .read = read_static});
    tenon_add_resource(t, &(struct tenon_resource){.uri = "test://binary",
                                                   .name = "binary",
                                                   .title = "Binary",
                                                   .description = "Bytes",
                                                   .mime_type = "image/png",
                                                   .read = read_binary});
    return tenon_add_template(t, &(struct tenon_template){.uri_template = "test://note/{id}",
                                                          .name = "note",
                                                          .mime_type = "text/plain",
                                                          .read = read_note});
}

static int set_up(void **state)
{
    (void)state;
    this_thread = pthread_self();
    assert_int_equal(components_new(&tenon), 0);
    if (components_add(tenon, STR("test.so"), add_all) < 0)
        fail_msg(STR_FMT, STR_ARG(tenon->fault));
    struct core_config config = bench_config;
    config.components = tenon;
    bench_shop(&bench, &config);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bench_close(&bench);
    components_free(tenon);
    return 0;
}

static void call_tool(const char *name, const char *arguments, const char *pattern)
{
    char params[1024];
    snprintf(params, sizeof params, "{\"name\":\"%s\"%s%s}", name,
             *arguments ? ",\"arguments\":" : "", arguments);
    ask_method(&bench, "tools/call", params, pattern);
}

/* ---- Lists ---------------------------------------------------------------------------------- */

static void TL_02_tools_stand_in_the_list_with_their_schemas_as_written(void **state)
{
    (void)state;
    ask_method(&bench, "tools/list", "", "{\"tools\":[\"...\"]}");
    const char *text = bench.body.p;
    assert_non_null(strstr(text, "\"name\":\"greet\""));
    assert_non_null(strstr(text, "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"name\":{"
                                 "\"type\":\"string\"}},\"required\":[\"name\"]}"));
    assert_non_null(strstr(text, "\"readOnlyHint\":true"));
    assert_non_null(strstr(text, "\"name\":\"create_book\""));
    assert_non_null(strstr(text, "\"outputSchema\":{\"type\":\"object\",\"required\":[\"n\"]}"));
}

static void L_10_an_older_session_sees_no_title_and_no_output_schema(void **state)
{
    (void)state;
    bench_connect(&bench, "2025-03-26");
    ask_method(&bench, "tools/list", "", "{\"tools\":[\"...\"]}");
    assert_null(strstr(bench.body.p, "outputSchema"));
    assert_null(strstr(bench.body.p, "\"title\":\"Greet\""));
}

static void resources_and_templates_stand_in_their_lists(void **state)
{
    (void)state;
    ask_method(&bench, "resources/list", "", "{\"resources\":[\"...\"]}");
    assert_non_null(strstr(bench.body.p, "test://static"));
    assert_non_null(strstr(bench.body.p, "db://shop/book"));
    assert_null(strstr(bench.body.p, "test://note"));
    ask_method(&bench, "resources/templates/list", "", "{\"resourceTemplates\":[\"...\"]}");
    assert_non_null(strstr(bench.body.p, "test://note/{id}"));
}

static void the_operations_have_none_of_them(void **state)
{
    (void)state;
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(&bench, "2025-06-18");
    call_tool("greet", "{\"name\":\"x\"}", "!{\"code\":-32602}");
    ask_method(&bench, "resources/read", "{\"uri\":\"test://static\"}", "!{\"code\":-32002}");
    bench.profile = PROFILE_APPLICATION;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static void a_tool_answers_by_its_text(void **state)
{
    (void)state;
    unsigned before = bench.loop.n_offloaded;
    call_tool("greet", "{\"name\":\"World\"}",
              "{\"content\":[{\"type\":\"text\",\"text\":\"Hello, World!\"}],\"-\":[\"isError\","
              "\"structuredContent\"]}");
    assert_int_equal(bench.loop.n_offloaded, before + 1);
}

static void TL_08_arguments_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    call_tool("greet", "",
              "!{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":"
              "\"/params/arguments/name\",\"keyword\":\"required\"}]}}");
    call_tool("greet", "{\"name\":1}", "!{\"code\":-32602}");
}

static void TL_13_TL_14_TL_15_every_kind_of_content(void **state)
{
    (void)state;
    call_tool("all", "",
              "{\"content\":[{\"type\":\"text\",\"text\":\"text\"},"
              "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"iVBORw==\"},"
              "{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"\"},"
              "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://a\",\"mimeType\":"
              "\"text/plain\",\"text\":\"inside\"}},"
              "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://b\",\"blob\":\"YWI=\",\"-\":["
              "\"mimeType\"]}},"
              "{\"type\":\"resource_link\",\"uri\":\"test://c\",\"name\":\"c\",\"title\":\"C\","
              "\"description\":\"see\",\"mimeType\":\"text/plain\"}]}");
}

static void TL_13_a_link_is_text_in_an_older_session(void **state)
{
    (void)state;
    bench_connect(&bench, "2025-03-26");
    call_tool("all", "",
              "{\"content\":[{\"type\":\"text\"},{\"type\":\"image\"},{\"type\":"
              "\"audio\"},{\"type\":\"resource\"},{\"type\":\"resource\"},{\"type\":"
              "\"text\",\"text\":\"c: test://c\"}]}");
}

static void arguments_are_got_by_name(void **state)
{
    (void)state;
    call_tool("arguments", "{\"int\":3.0,\"num\":2.5,\"yes\":true,\"no\":false,\"list\":[1, 2]}",
              "{\"content\":[{\"text\":\"{\\\"int\\\":3.0,\\\"num\\\":2.5,\\\"yes\\\":true,"
              "\\\"no\\\":false,\\\"list\\\":[1, 2]} [1,2] 3 2.5 1 0 \\\"a\\\\\\\"b\\\"\"}]}");
    call_tool("arguments", "",
              "{\"content\":[{\"text\":\"{} none -1 -0.5 0 1 \\\"a\\\\\\\"b\\\"\"}]}");
    call_tool("arguments", "{\"int\":\"1\",\"num\":null,\"yes\":1}",
              "{\"content\":[{\"text\":\"{\\\"int\\\":\\\"1\\\",\\\"num\\\":null,\\\"yes\\\":1} "
              "none -1 -0.5 0 1 \\\"a\\\\\\\"b\\\"\"}]}");
}

static void a_call_knows_its_client(void **state)
{
    (void)state;
    call_tool("who", "",
              "{\"content\":[{\"text\":\"|2025-06-18|{\\\"name\\\":\\\"c\\\",\\\"version\\\":"
              "\\\"1\\\"}|{}|1\"}]}");
}

static void TL_10_a_structured_result_is_text_too(void **state)
{
    (void)state;
    call_tool("structured", "{\"json\":\"{\\\"n\\\":1}\"}",
              "{\"structuredContent\":{\"n\":1},\"content\":[{\"type\":\"text\",\"text\":"
              "\"{\\\"n\\\":1}\"}]}");
    call_tool("free", "{\"json\":\"{\\\"any\\\":1}\"}", "{\"structuredContent\":{\"any\":1}}");
    call_tool("free", "", "{\"content\":[],\"-\":[\"structuredContent\"]}");
}

static void TL_11_a_result_that_breaks_its_schema_is_not_sent(void **state)
{
    (void)state;
    call_tool("structured", "{\"json\":\"{\\\"m\\\":1}\"}", "!{\"code\":-32603}");
    call_tool("structured", "", "!{\"code\":-32603}");
}

static void TL_07_what_fails_in_a_tool_is_a_result(void **state)
{
    (void)state;
    call_tool("fail", "",
              "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":"
              "\"No such thing: 7\"}]}");
    call_tool("err", "",
              "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":"
              "\"The client did not answer in time\"}]}");
}

static void J_17_a_builder_that_is_misused_is_an_internal_error(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        char arguments[32];
        snprintf(arguments, sizeof arguments, "{\"which\":%d}", i);
        call_tool("bad", arguments, "!{\"code\":-32603}");
    }
    call_tool("bad", "{\"which\":6}", "{\"content\":[]}");
}

static void an_inline_tool_runs_on_the_loop_and_may_not_wait(void **state)
{
    (void)state;
    unsigned before = bench.loop.n_offloaded;
    call_tool("inline", "", "{\"content\":[{\"text\":\"inline\"}]}");
    assert_int_equal(bench.loop.n_offloaded, before);
}

static void L_11_nobody_is_asked_who_did_not_declare_it(void **state)
{
    (void)state;
    call_tool("ask", "",
              "{\"isError\":true,\"content\":[{\"text\":"
              "\"The client does not support this\"}]}");
}

static void a_full_queue_of_handlers_is_told(void **state)
{
    (void)state;
    bench.loop.busy = true;
    bench_send(&bench, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                           "\"name\":\"all\"}}"));
    assert_int_equal(bench.status, err_http_status(ERR_BUSY));
    bench.loop.busy = false;
    call_tool("err", "", "{\"isError\":true}");
}

#define CALL_GREET                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"greet\"," \
    "\"arguments\":{\"name\":\"x\"}}}"

/* The loop gets COMPONENT_CALLS_MAX of them; the rest waits, so that others find a thread. */
static void SR_calls_beyond_what_may_wait_are_refused(void **state)
{
    const unsigned most = COMPONENT_CALLS_MAX + COMPONENT_CALLS_WAITING_MAX;
    unsigned before = bench.loop.n_offloaded;
    (void)state;
    bench.n_answers = 0;
    for (unsigned i = 0; i < most; i++)
        bench_begin(&bench, STR(CALL_GREET));
    assert_int_equal(bench.n_answers, 0);
    assert_int_equal(bench.loop.n_offloaded, before + COMPONENT_CALLS_MAX);
    bench_begin(&bench, STR(CALL_GREET));
    assert_int_equal(bench.n_answers, 1);
    assert_int_equal(bench.status, err_http_status(ERR_BUSY));
    while (bench.n_answers < most + 1)
        assert_true(loop_turn(&bench.loop, 10));
    assert_int_equal(bench.status, 200);
    assert_int_equal(bench.loop.n_offloaded, before + most);
}

/* ---- Reads ---------------------------------------------------------------------------------- */

static void RS_08_a_resource_is_read(void **state)
{
    (void)state;
    ask_method(&bench, "resources/read", "{\"uri\":\"test://static\"}",
               "{\"contents\":[{\"uri\":\"test://static\",\"mimeType\":\"text/plain\",\"text\":"
               "\"static\"}]}");
    ask_method(&bench, "resources/read", "{\"uri\":\"test://binary\"}",
               "{\"contents\":[{\"uri\":\"test://binary\",\"mimeType\":\"image/png\",\"blob\":"
               "\"iVBORw==\"}]}");
}

static void a_template_gives_its_variables(void **state)
{
    (void)state;
    ask_method(&bench, "resources/read", "{\"uri\":\"test://note/a%20b\"}",
               "{\"contents\":[{\"uri\":\"test://note/a%20b\",\"text\":\"note a b\"}]}");
    ask_method(&bench, "resources/read", "{\"uri\":\"test://note/a%2Fb\"}", "!{\"code\":-32002}");
}

static void RS_05_a_resource_that_fails_has_its_code(void **state)
{
    (void)state;
    ask_method(&bench, "resources/read", "{\"uri\":\"test://note/gone\"}",
               "!{\"code\":-32002,\"data\":{\"uri\":\"test://note/gone\"}}");
    ask_method(&bench, "resources/read", "{\"uri\":\"test://other\"}",
               "!{\"code\":-32002,\"data\":{\"uri\":\"test://other\"}}");
    ask_method(&bench, "resources/read", "{\"uri\":\"test://note/broken\"}",
               "!{\"code\":-32603,\"message\":\"The disk is on fire\"}");
    ask_method(&bench, "resources/read", "{\"uri\":\"test://note/empty\"}", "!{\"code\":-32603}");
    ask_method(&bench, "resources/read", "{\"uri\":\"db://shop/book\"}", "{\"contents\":[\"*\"]}");
}

/* ---- Outside a call ------------------------------------------------------------------------- */

static int take_change(void *ctx, const struct store_change *change)
{
    struct store_change *last = ctx;
    *last = *change;
    return 0;
}

static struct store_change last_change(void)
{
    struct store_change last = {0};
    struct store_view *view;
    assert_int_equal(store_view_open(bench.store, STORE_DATA, &view), 0);
    store_scan_changes(view, 0, take_change, &last);
    store_view_close(view);
    return last;
}

static void a_changed_resource_is_in_the_log(void **state)
{
    (void)state;
    assert_int_equal(tenon_resource_changed(tenon, "no uri"), TENON_ERR_ARGUMENT);
    assert_int_equal(tenon_resource_changed(tenon, "test://static"), 0);
    assert_true(loop_turn(&bench.loop, 10)); /* to the store */
    assert_true(loop_turn(&bench.loop, 10)); /* and back */
    assert_int_equal(last_change().kind, STORE_RESOURCE_CHANGED);
}

static uint32_t count_waiting(void)
{
    pthread_mutex_lock(&tenon->mutex);
    uint32_t n = tenon->n_changes;
    pthread_mutex_unlock(&tenon->mutex);
    return n;
}

/* However fast they come. What the store refuses in between, because others filled its queue, is
 * written later. */
static void beyond_RESOURCE_CHANGES_WAITING_MAX_it_is_busy(void **state)
{
    uint64_t before = last_change().seq;
    (void)state;
    for (int i = 0; i < RESOURCE_CHANGES_WAITING_MAX; i++)
        assert_int_equal(tenon_resource_changed(tenon, "test://static"), 0);
    assert_int_equal(tenon_resource_changed(tenon, "test://static"), TENON_ERR_BUSY);
    while (count_waiting()) {
        loop_turn(&bench.loop, 10);
        core_tick(bench.core);
    }
    assert_int_equal(last_change().seq, before + RESOURCE_CHANGES_WAITING_MAX);
    assert_int_equal(tenon_resource_changed(tenon, "test://static"), 0);
    while (count_waiting())
        loop_turn(&bench.loop, 10);
}

/* Instead of a crash of the server. */
static void what_is_NULL_is_refused(void **state)
{
    char *result = NULL;
    (void)state;
    assert_int_equal(tenon_session_sample(tenon, "x", NULL, 0, &result), TENON_ERR_ARGUMENT);
    assert_int_equal(tenon_session_sample(tenon, NULL, "{}", 0, &result), TENON_ERR_ARGUMENT);
}

static void *ask_session(void *ctx)
{
    char *result = NULL;
    int *err = ctx;
    *err = tenon_session_list_roots(tenon, bench.session, 0, &result);
    return result;
}

static int ask_nobody(void)
{
    char *result = NULL;
    return tenon_session_list_roots(tenon, "nobody", 0, &result);
}

static void *ask_until_the_end(void *ctx)
{
    int *err = ctx;
    *err = ask_nobody();
    return NULL;
}

static void a_session_is_asked_from_any_thread(void **state)
{
    pthread_t thread;
    char *result;
    void *answer;
    int err = 0;
    (void)state;
    pthread_create(&thread, NULL, ask_session, &err);
    assert_true(loop_turn(&bench.loop, 10));
    pthread_join(thread, &answer);
    assert_int_equal(err, TENON_ERR_UNSUPPORTED); /* L-11: it declared no roots */
    assert_null(answer);
    assert_int_equal(tenon_session_sample(tenon, "x", "7", 0, &result), TENON_ERR_ARGUMENT);
}

static bool waits_for_answer(void)
{
    pthread_mutex_lock(&tenon->mutex);
    bool waits = tenon->questions != NULL;
    pthread_mutex_unlock(&tenon->mutex);
    return waits;
}

static void a_question_ends_when_the_server_stops(void **state)
{
    pthread_t thread;
    int err = 0;
    (void)state;
    pthread_create(&thread, NULL, ask_until_the_end, &err);
    while (!waits_for_answer())
        sched_yield();
    components_attach(tenon, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(err, TENON_ERR_CANCELLED);
    assert_int_equal(ask_nobody(), TENON_ERR_CANCELLED);
    assert_int_equal(tenon_resource_changed(tenon, "test://x"), TENON_ERR_CANCELLED);
    assert_true(loop_turn(&bench.loop, 10)); /* frees the question */
}

/* ---- Registration --------------------------------------------------------------------------- */

static const struct tenon_tool *bad_tool;
static const struct tenon_resource *bad_resource;
static const struct tenon_template *bad_template;

static int add_bad(struct tenon *t)
{
    TOOL("taken", .run = run_text);
    tenon_add_resource(t,
                       &(struct tenon_resource){.uri = "x:taken", .name = "x", .read = read_note});
    tenon_add_template(
        t, &(struct tenon_template){.uri_template = "x:{a}", .name = "x", .read = read_note});
    if (bad_tool)
        tenon_add_tool(t, bad_tool);
    if (bad_resource)
        tenon_add_resource(t, bad_resource);
    if (bad_template)
        tenon_add_template(t, bad_template);
    return 0;
}

static void expect_fault(const char *wanted)
{
    struct tenon *t;
    assert_int_equal(components_new(&t), 0);
    assert_int_equal(components_add(t, STR("bad.so"), add_bad), ERR_PARAMS);
    char text[512];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(t->fault));
    if (!strstr(text, wanted))
        fail_msg("%s\n  wanted %s", text, wanted);
    assert_int_equal(t->offers->n_tools + t->offers->n_resources + t->offers->n_templates, 3);
    components_free(t);
}

static void refuse_tool(struct tenon_tool tool, const char *wanted)
{
    bad_tool = &tool;
    expect_fault(wanted);
    bad_tool = NULL;
}

#define BAD(...) \
    ((struct tenon_tool){.name = "a", .description = "d", .run = run_text, __VA_ARGS__})

static void a_tool_that_cannot_be_used_is_refused_with_its_reason(void **state)
{
    char long_name[COMPONENT_TOOL_NAME_BYTES + 2];
    (void)state;
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    refuse_tool((struct tenon_tool){.description = "d", .run = run_text}, "tool (none): its name");
    refuse_tool((struct tenon_tool){.name = "a b", .description = "d", .run = run_text},
                "tool a b: its name");
    refuse_tool((struct tenon_tool){.name = long_name, .description = "d", .run = run_text},
                "its name");
    refuse_tool((struct tenon_tool){.name = "taken", .description = "d", .run = run_text},
                "tool taken: another one has this name");
    refuse_tool((struct tenon_tool){.name = "a", .run = run_text}, "no description");
    refuse_tool((struct tenon_tool){.name = "a", .description = "d"}, "no run callback");
    refuse_tool(BAD(.input_schema = "{\"type\":\"object\""), "tool a: inputSchema");
    refuse_tool(BAD(.input_schema = "true"), "inputSchema/type: expected \"object\"");
    refuse_tool(BAD(.input_schema = "{\"type\":\"string\"}"), "inputSchema/type");
    refuse_tool(BAD(.input_schema = "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":7}}}"),
                "inputSchema/properties/x/type");
    refuse_tool(BAD(.input_schema = "{\"type\":\"object\",\"properties\":{\"x\":7}}"),
                "inputSchema/properties/x");
    refuse_tool(BAD(.output_schema = "{\"type\":\"object\",\"minProperties\":-1}"),
                "outputSchema/minProperties");
    refuse_tool(BAD(.output_schema = "{}"), "outputSchema/type"); /* TL-12 */
}

static void refuse_resource(struct tenon_resource resource, const char *wanted)
{
    bad_resource = &resource;
    expect_fault(wanted);
    bad_resource = NULL;
}

static void refuse_template(struct tenon_template template, const char *wanted)
{
    bad_template = &template;
    expect_fault(wanted);
    bad_template = NULL;
}

#define RESOURCE(...) ((struct tenon_resource){.read = read_note, __VA_ARGS__})
#define TEMPLATE(...) ((struct tenon_template){.read = read_note, __VA_ARGS__})

static void a_resource_that_cannot_be_used_is_refused_with_its_reason(void **state)
{
    (void)state;
    refuse_resource(RESOURCE(.name = "x"), "resource (none): expected a URI");
    refuse_resource(RESOURCE(.name = "x", .uri = "no uri"), "expected a URI");
    refuse_resource(RESOURCE(.name = "x", .uri = "db://a/b"), "the server's");
    refuse_resource(RESOURCE(.name = "x", .uri = "tenon://about"), "the server's");
    refuse_resource(RESOURCE(.name = "x", .uri = "x:taken"), "another one");
    refuse_resource(RESOURCE(.uri = "x:y"), "it has no name");
    refuse_resource(RESOURCE(.name = "x", .uri = "x:y", .mime_type = "text"), "mime type");
    refuse_resource(RESOURCE(.name = "x", .uri = "x:y", .size = -1), "its size");
    refuse_resource(
        RESOURCE(.name = "x", .uri = "x:y", .annotations = {.has_priority = true, .priority = 1.5}),
        "its priority");
    refuse_resource(
        RESOURCE(.name = "x", .uri = "x:y", .annotations = {.last_modified = "yesterday"}),
        "its last_modified");
    refuse_resource((struct tenon_resource){.name = "x", .uri = "x:y"}, "no read callback");
    refuse_template(TEMPLATE(.name = "x", .uri_template = "x:{a"), "template x:{a: byte ");
    refuse_template(TEMPLATE(.name = "x", .uri_template = "x:{a}"), "another one");
    refuse_template(TEMPLATE(.name = "x", .uri_template = "db://{a}"), "the server's");
}

static int fail_to_start(struct tenon *t)
{
    (void)t;
    return TENON_ERR_NOT_FOUND;
}

static void a_component_that_fails_is_told(void **state)
{
    struct tenon *t;
    (void)state;
    assert_int_equal(components_new(&t), 0);
    assert_int_equal(components_add(t, STR("x.so"), fail_to_start), ERR_PARAMS);
    assert_true(str_starts_with(t->fault, STR("tenon_component returned -10: Not found")));
    components_free(t);
    assert_int_equal(tenon_add_tool(tenon, &(struct tenon_tool){.name = "late"}),
                     TENON_ERR_ARGUMENT);
}

static int add_book_tool(struct tenon *t)
{
    return TOOL("get_book", .run = run_text);
}

static void a_name_of_a_tables_tool_is_a_fault_at_start(void **state)
{
    struct tenon *t;
    (void)state;
    assert_int_equal(components_check_tables(tenon, bench.store), 0);
    assert_int_equal(components_new(&t), 0);
    assert_int_equal(components_add(t, STR("book.so"), add_book_tool), 0);
    assert_int_equal(components_check_tables(t, bench.store), ERR_EXISTS);
    assert_true(str_eq(t->fault, STR("book.so: tool get_book: the table shop.book has a tool of "
                                     "this name")));
    components_free(t);
}

/* A table that is made later steps aside. */
static void a_table_never_takes_the_name_of_a_component_s_tool(void **state)
{
    struct tenon *t;
    (void)state;
    assert_int_equal(components_new(&t), 0);
    assert_int_equal(components_add(t, STR("book.so"), add_book_tool), 0);
    struct bench b;
    struct core_config config = bench_config;
    config.components = t;
    bench_open(&b, &config);
    bench_table(&b, "shop", "book", BOOK_DEFINITION);
    bench_connect(&b, "2025-06-18");
    ask_method(&b, "tools/list", "",
               "{\"tools\":[{\"name\":\"create_shop_book\"},{\"name\":\"delete_shop_book\"},"
               "{\"name\":\"get_book\"},{\"name\":\"get_shop_book\"},\"...\"]}");
    bench_close(&b);
    components_free(t);
}

/* ---- Annotations, sizes --------------------------------------------------------------------- */

static int add_annotated(struct tenon *t)
{
    const struct tenon_annotations annotations = {.for_user = true,
                                                  .for_assistant = true,
                                                  .has_priority = true,
                                                  .priority = 0.25,
                                                  .last_modified = "2025-01-12T15:00:58Z"};
    tenon_add_resource(t, &(struct tenon_resource){.uri = "x:sized",
                                                   .name = "sized",
                                                   .annotations = annotations,
                                                   .size = 4,
                                                   .read = read_binary});
    tenon_add_resource(t, &(struct tenon_resource){.uri = "x:today",
                                                   .name = "today",
                                                   .annotations = {.last_modified = "2025-01-12"},
                                                   .read = read_binary});
    return tenon_add_template(t, &(struct tenon_template){.uri_template = "x:more/{a}",
                                                          .name = "more",
                                                          .annotations = {.for_assistant = true},
                                                          .read = read_note});
}

static void open_with(struct bench *b, struct tenon **t, int (*entry)(struct tenon *t))
{
    struct core_config config = bench_config;
    assert_int_equal(components_new(t), 0);
    assert_int_equal(components_add(*t, STR("more.so"), entry), 0);
    config.components = *t;
    bench_shop(b, &config);
}

static void close_with(struct bench *b, struct tenon *t)
{
    bench_close(b);
    components_free(t);
}

static void RS_17_annotations_and_size_stand_in_the_lists(void **state)
{
    struct tenon *t;
    struct bench b;
    (void)state;
    open_with(&b, &t, add_annotated);
    ask_method(&b, "resources/list", "", "{\"resources\":[\"...\"]}");
    assert_non_null(strstr(b.body.p,
                           "\"annotations\":{\"audience\":[\"user\",\"assistant\"],"
                           "\"lastModified\":\"2025-01-12T15:00:58Z\",\"priority\":0.25}"));
    assert_non_null(strstr(b.body.p, "\"size\":4"));
    ask_method(&b, "resources/templates/list", "", "{\"resourceTemplates\":[\"...\"]}");
    assert_non_null(strstr(b.body.p, "\"annotations\":{\"audience\":[\"assistant\"]}"));
    bench_connect(&b, "2025-03-26");
    ask_method(&b, "resources/list", "", "{\"resources\":[\"...\"]}");
    assert_null(strstr(b.body.p, "lastModified"));
    assert_non_null(strstr(b.body.p, "\"priority\":0.25"));
    close_with(&b, t);
}

/* ---- New offers ----------------------------------------------------------------------------- */

static unsigned n_ends;

static void count_end(void *ctx)
{
    (void)ctx;
    n_ends++;
}

static int fill_fresh(struct tenon *t, void *ctx)
{
    assert_int_equal(components_at_end(t, count_end, NULL), 0);
    return TOOL(ctx, .run = run_text);
}

static int remake(struct tenon *t, void *ctx)
{
    int err = components_keep(t, STR("test.so"));
    return err < 0 ? err : components_fill(t, STR("fresh"), fill_fresh, ctx);
}

static int remake_nothing(struct tenon *t, void *ctx)
{
    (void)t, (void)ctx;
    return 0;
}

static void new_offers_take_the_place_of_the_old_ones(void **state)
{
    char one[] = "one", two[] = "two";
    (void)state;
    n_ends = 0;
    assert_int_equal(components_remake(tenon, remake, one), 0);
    assert_int_equal(tenon->offers->version, 2);
    call_tool("one", "{\"name\":\"x\"}", "{\"content\":[{\"text\":\"Hello, x!\"}]}");
    call_tool("greet", "{\"name\":\"x\"}", "{\"content\":[{\"text\":\"Hello, x!\"}]}");
    call_tool("greet", "{}", "!{\"code\":-32602}");
    ask_method(&bench, "resources/read", "{\"uri\":\"test://note/7\"}",
               "{\"contents\":[{\"text\":\"note 7\"}]}");
    assert_int_equal(components_remake(tenon, remake, two), 0);
    call_tool("one", "{\"name\":\"x\"}", "!{\"code\":-32602}");
    ask_method(&bench, "tools/list", "", "{\"tools\":[\"...\"]}");
    assert_null(strstr(bench.body.p, "\"name\":\"one\""));
    assert_non_null(strstr(bench.body.p, "\"name\":\"two\""));
    assert_int_equal(n_ends, 1);
    assert_int_equal(components_remake(tenon, remake_nothing, NULL), 0);
    call_tool("greet", "{\"name\":\"x\"}", "!{\"code\":-32602}");
    assert_int_equal(n_ends, 2);
}

static void new_offers_with_a_fault_leave_all_as_it_was(void **state)
{
    char taken[] = "greet", bad[] = "no name";
    (void)state;
    n_ends = 0;
    assert_int_equal(components_remake(tenon, remake, taken), ERR_PARAMS);
    assert_true(str_eq(tenon->fault, STR("tool greet: another one has this name")));
    assert_int_equal(components_remake(tenon, remake, bad), ERR_PARAMS);
    assert_true(str_starts_with(tenon->fault, STR("tool no name: its name")));
    assert_int_equal(n_ends, 2);
    assert_int_equal(tenon->offers->version, 1);
    call_tool("greet", "{\"name\":\"x\"}", "{\"content\":[{\"text\":\"Hello, x!\"}]}");
}

/* The call waits for its thread while its tool goes. */
static void a_call_in_flight_keeps_what_it_runs(void **state)
{
    char one[] = "one";
    (void)state;
    n_ends = 0;
    assert_int_equal(components_remake(tenon, remake, one), 0);
    bench.n_answers = 0;
    bench_begin(&bench, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"one\",\"arguments\":{\"name\":\"y\"}}}"));
    assert_int_equal(bench.n_answers, 0);
    assert_int_equal(components_remake(tenon, remake_nothing, NULL), 0);
    assert_non_null(catalog_now(bench.core)); /* the snapshot before this one goes */
    assert_int_equal(n_ends, 0);
    while (bench.n_answers == 0)
        assert_true(loop_turn(&bench.loop, 20));
    assert_non_null(strstr(bench.body.p, "Hello, y!"));
    while (loop_turn(&bench.loop, 0))
        ;
    assert_int_equal(n_ends, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(TL_02_tools_stand_in_the_list_with_their_schemas_as_written),
        TEST(L_10_an_older_session_sees_no_title_and_no_output_schema),
        TEST(resources_and_templates_stand_in_their_lists),
        TEST(the_operations_have_none_of_them),
        TEST(a_tool_answers_by_its_text),
        TEST(TL_08_arguments_that_do_not_fit_are_refused),
        TEST(TL_13_TL_14_TL_15_every_kind_of_content),
        TEST(TL_13_a_link_is_text_in_an_older_session),
        TEST(arguments_are_got_by_name),
        TEST(a_call_knows_its_client),
        TEST(TL_10_a_structured_result_is_text_too),
        TEST(TL_11_a_result_that_breaks_its_schema_is_not_sent),
        TEST(TL_07_what_fails_in_a_tool_is_a_result),
        TEST(J_17_a_builder_that_is_misused_is_an_internal_error),
        TEST(an_inline_tool_runs_on_the_loop_and_may_not_wait),
        TEST(L_11_nobody_is_asked_who_did_not_declare_it),
        TEST(a_full_queue_of_handlers_is_told),
        TEST(SR_calls_beyond_what_may_wait_are_refused),
        TEST(RS_08_a_resource_is_read),
        TEST(a_template_gives_its_variables),
        TEST(RS_05_a_resource_that_fails_has_its_code),
        TEST(a_changed_resource_is_in_the_log),
        TEST(beyond_RESOURCE_CHANGES_WAITING_MAX_it_is_busy),
        TEST(what_is_NULL_is_refused),
        TEST(a_session_is_asked_from_any_thread),
        TEST(a_question_ends_when_the_server_stops),
        TEST(a_tool_that_cannot_be_used_is_refused_with_its_reason),
        TEST(a_resource_that_cannot_be_used_is_refused_with_its_reason),
        TEST(a_component_that_fails_is_told),
        TEST(a_name_of_a_tables_tool_is_a_fault_at_start),
        TEST(a_table_never_takes_the_name_of_a_component_s_tool),
        TEST(RS_17_annotations_and_size_stand_in_the_lists),
        TEST(new_offers_take_the_place_of_the_old_ones),
        TEST(new_offers_with_a_fault_leave_all_as_it_was),
        TEST(a_call_in_flight_keeps_what_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
