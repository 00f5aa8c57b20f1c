/* Prompts of a component: listed in pages, checked, rendered, refused. */
#include "ask.h"

#include "core/component.h"
#include "core/core_state.h"

static struct tenon *tenon;

/* ---- A component ---------------------------------------------------------------------------- */

static int render_plain(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_text(call, "Say something.");
}

static int render_greet(struct tenon_call *call, void *ctx)
{
    const char *tone = tenon_argument_text(call, "tone", NULL);
    (void)ctx;
    return tenon_textf(call, "Greet %s, who is %s%s%s", tenon_argument_text(call, "name", NULL),
                       tenon_argument_text(call, "age", NULL), tone ? ", " : "", tone ? tone : "");
}

static int render_all(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_text(call, "one");
    tenon_role(call, TENON_ASSISTANT);
    tenon_image(call, "image/png", "\x89PNG", 4);
    tenon_audio(call, "audio/wav", "", 0);
    tenon_role(call, TENON_USER);
    tenon_embed_text(call, "test://a", NULL, "inside");
    tenon_embed_blob(call, "test://b", NULL, "ab", 2);
    return tenon_link(call, "test://c", "c", NULL, NULL, "text/plain");
}

static int render_raw(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_text(call, tenon_arguments(call));
}

static int render_bad(struct tenon_call *call, void *ctx)
{
    const char *which = tenon_argument_text(call, "which", NULL);
    (void)ctx;
    tenon_text(call, "half of it");
    if (strcmp(which, "mime") == 0)
        return tenon_image(call, "png", "", 0);
    if (strcmp(which, "uri") == 0)
        return tenon_embed_text(call, "no uri", NULL, "x");
    if (strcmp(which, "role") == 0)
        return tenon_role(call, (enum tenon_role)7);
    if (strcmp(which, "structured") == 0)
        return tenon_structured(call, "{}");
    if (strcmp(which, "contents") == 0)
        return tenon_contents_text(call, NULL, NULL, "x");
    if (strcmp(which, "completion") == 0)
        return tenon_complete(call, "x");
    if (strcmp(which, "text") == 0)
        return tenon_text(call, NULL);
    if (strcmp(which, "refused") == 0) {
        tenon_fail(call, "which: expected another one");
        return TENON_ERR_ARGUMENT;
    }
    if (strcmp(which, "absent") == 0)
        return TENON_ERR_NOT_FOUND;
    return tenon_fail(call, "The disk is on fire");
}

static int render_nothing(struct tenon_call *call, void *ctx)
{
    (void)call, (void)ctx;
    return 0;
}

static int run_role(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_role(call, TENON_USER);
}

#define PROMPT(prompt_name, function, ...) \
    tenon_add_prompt(                      \
        t, &(struct tenon_prompt){         \
               .name = prompt_name, .description = "A prompt", .render = function, __VA_ARGS__})

static int add_all(struct tenon *t)
{
    static const struct tenon_prompt_argument of_greet[] = {
        {.name = "name", .title = "Name", .description = "Who", .required = true},
        {.name = "age", .required = true},
        {.name = "tone"},
    };
    static const struct tenon_prompt_argument which[] = {{.name = "which", .required = true}};
    PROMPT("plain", render_plain, .title = "Plain");
    PROMPT("greet", render_greet, .arguments = of_greet, .n_arguments = 3, );
    PROMPT("all", render_all, .is_inline = true);
    PROMPT("raw", render_raw, );
    PROMPT("bad", render_bad, .arguments = which, .n_arguments = 1);
    PROMPT("nothing", render_nothing, );
    return tenon_add_tool(
        t, &(struct tenon_tool){.name = "role", .description = "d", .run = run_role});
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(components_new(&tenon), 0);
    if (components_add(tenon, STR("test.so"), add_all) < 0)
        fail_msg(STR_FMT, STR_ARG(tenon->fault));
    struct core_config config = bench_config;
    config.components = tenon;
    config.list_page = 4;
    bench_open(&bench, &config);
    bench_connect(&bench, "2025-06-18");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bench_close(&bench);
    components_free(tenon);
    return 0;
}

static void get(const char *name, const char *arguments, const char *pattern)
{
    char params[1024];
    snprintf(params, sizeof params, "{\"name\":\"%s\"%s%s}", name,
             *arguments ? ",\"arguments\":" : "", arguments);
    ask_method(&bench, "prompts/get", params, pattern);
}

/* ---- Lists ---------------------------------------------------------------------------------- */

static void PR_01_prompts_are_declared_and_listed(void **state)
{
    (void)state;
    bench.session[0] = bench.version[0] = '\0';
    ask(&bench, 200, INITIALIZE("2025-06-18"),
        "{\"result\":{\"capabilities\":{\"prompts\":{\"listChanged\":true}}}}");
    bench_connect(&bench, "2025-06-18");
    ask_method(&bench, "prompts/list", "",
               "{\"prompts\":[{\"name\":\"all\",\"description\":\"A prompt\",\"-\":[\"title\","
               "\"arguments\"]},{\"name\":\"bad\",\"arguments\":[{\"name\":\"which\","
               "\"required\":true}]},{\"name\":\"greet\",\"arguments\":[{\"name\":\"name\","
               "\"title\":\"Name\",\"description\":\"Who\",\"required\":true},{\"name\":\"age\"},"
               "{\"name\":\"tone\",\"-\":[\"required\",\"title\",\"description\"]}]},"
               "{\"name\":\"nothing\"}]}");
}

static void PR_01_nobody_has_prompts_without_components(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, &bench_config);
    bench_connect(&b, "2025-06-18");
    ask_method(&b, "prompts/list", "", "{\"prompts\":[],\"-\":[\"nextCursor\"]}");
    ask_method(&b, "prompts/get", "{\"name\":\"x\"}", "!{\"code\":-32602}");
    bench_close(&b);
}

static void PR_09_the_operations_have_no_prompts(void **state)
{
    (void)state;
    bench.profile = PROFILE_OPERATIONS;
    bench.session[0] = bench.version[0] = '\0';
    ask(&bench, 200, INITIALIZE("2025-06-18"),
        "{\"result\":{\"capabilities\":{\"-\":[\"prompts\",\"completions\"]}}}");
    bench_connect(&bench, "2025-06-18");
    ask_method(&bench, "prompts/list", "", "!{\"code\":-32601}");
    ask_method(&bench, "prompts/get", "{\"name\":\"plain\"}", "!{\"code\":-32601}");
    bench.profile = PROFILE_APPLICATION;
}

/* The value of a string member of the last answer. */
static void member(const char *name, char ret[512])
{
    const char *at = strstr(bench.body.p, name);
    assert_non_null(at);
    at += strlen(name) + strlen("\":\"");
    size_t n = strcspn(at, "\"");
    assert_true(n < 512);
    memcpy(ret, at, n);
    ret[n] = '\0';
}

static void PG_02_prompts_come_in_pages(void **state)
{
    char cursor[512], params[600];
    (void)state;
    ask_method(&bench, "prompts/list", "{}",
               "{\"prompts\":[\"*\",\"*\",\"*\",\"*\"],"
               "\"nextCursor\":\"*\"}");
    member("nextCursor", cursor);
    snprintf(params, sizeof params, "{\"cursor\":\"%s\"}", cursor);
    ask_method(&bench, "prompts/list", params,
               "{\"prompts\":[{\"name\":\"plain\"},{\"name\":\"raw\"}],\"-\":[\"nextCursor\"]}");
    ask_method(&bench, "resources/list", params, "!{\"code\":-32602}"); /* PG-04 */
}

static void PG_04_PG_05_a_cursor_that_is_none_is_refused(void **state)
{
    (void)state;
    ask_method(&bench, "prompts/list", "{\"cursor\":\"\"}", "!{\"code\":-32602}");
    ask_method(&bench, "prompts/list", "{\"cursor\":\"x\"}", "!{\"code\":-32602}");
    ask_method(&bench, "prompts/list", "{\"cursor\":5}", "!{\"code\":-32602}");
}

/* ---- prompts/get ---------------------------------------------------------------------------- */

static void PR_05_a_prompt_is_rendered(void **state)
{
    (void)state;
    get("plain", "",
        "{\"description\":\"A prompt\",\"messages\":[{\"role\":\"user\",\"content\":{"
        "\"type\":\"text\",\"text\":\"Say something.\"}}]}");
    get("plain", "{}", "{\"messages\":[\"*\"]}");
    get("greet", "{\"name\":\"Ada\",\"age\":\"36\"}",
        "{\"messages\":[{\"content\":{\"text\":\"Greet Ada, who is 36\"}}]}");
    get("greet", "{\"tone\":\"warm\",\"age\":\"36\",\"name\":\"Ada\"}",
        "{\"messages\":[{\"content\":{\"text\":\"Greet Ada, who is 36, warm\"}}]}");
}

static void PR_05_PR_06_PR_07_every_kind_of_message(void **state)
{
    (void)state;
    get("all", "",
        "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"one\"}},"
        "{\"role\":\"assistant\",\"content\":{\"type\":\"image\",\"mimeType\":\"image/png\","
        "\"data\":\"iVBORw==\"}},"
        "{\"role\":\"assistant\",\"content\":{\"type\":\"audio\",\"mimeType\":\"audio/wav\","
        "\"data\":\"\"}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":{\"uri\":\"test://a\","
        "\"mimeType\":\"text/plain\",\"text\":\"inside\"}}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":{\"uri\":\"test://b\","
        "\"mimeType\":\"application/octet-stream\",\"blob\":\"YWI=\"}}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"resource_link\",\"uri\":\"test://c\","
        "\"name\":\"c\",\"mimeType\":\"text/plain\"}}]}");
}

static void PR_05_L_10_an_older_session_has_no_links_and_no_titles(void **state)
{
    (void)state;
    bench_connect(&bench, "2025-03-26");
    get("all", "",
        "{\"messages\":[\"*\",\"*\",\"*\",\"*\",\"*\",{\"content\":{"
        "\"type\":\"text\",\"text\":\"c: test://c\"}}]}");
    ask_method(&bench, "prompts/list", "", "{\"prompts\":[\"...\"]}");
    assert_null(strstr(bench.body.p, "\"title\""));
}

static void PR_03_what_is_not_there_is_refused(void **state)
{
    char name[400] = {0}, pattern[600];
    (void)state;
    get("none", "", "!{\"code\":-32602,\"message\":\"Unknown prompt: none\"}");
    get("", "", "!{\"code\":-32602}");
    memset(name, 'x', sizeof name - 1);
    snprintf(pattern, sizeof pattern,
             "!{\"code\":-32602,\"message\":\"Unknown prompt: %.200s...\"}", name);
    get(name, "", pattern);
    ask_method(&bench, "prompts/get", "{}", "!{\"code\":-32602}");
    ask_method(&bench, "prompts/get", "{\"name\":7}", "!{\"code\":-32602}");
    ask_method(&bench, "prompts/get", "", "!{\"code\":-32602}");
}

static void PR_03_all_missing_arguments_are_named_together(void **state)
{
    (void)state;
    get("greet", "",
        "!{\"code\":-32602,\"message\":\"Missing required arguments: name, age\",\"data\":{"
        "\"errors\":[{\"pointer\":\"/params/arguments/name\",\"keyword\":\"required\","
        "\"expected\":\"a string\"},{\"pointer\":\"/params/arguments/age\"}]}}");
    get("greet", "{\"tone\":\"x\"}",
        "!{\"code\":-32602,\"message\":\"Missing required arguments: name, age\"}");
    get("greet", "{\"name\":\"x\"}",
        "!{\"code\":-32602,\"message\":\"Missing required argument: age\"}");
}

static void PR_04_an_argument_is_a_string(void **state)
{
    static const char *const values[] = {"7", "null", "true", "{}", "[\"x\"]"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "{\"name\":%s,\"age\":\"1\"}", values[i]);
        get("greet", arguments,
            "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/arguments/name\"}}");
    }
    get("greet", "[]", "!{\"code\":-32602,\"data\":{\"pointer\":\"/params/arguments\"}}");
    get("greet", "{\"name\":\"a\",\"name\":\"b\",\"age\":\"1\"}", "!{\"code\":-32602}");
    get("greet", "{\"name\":\"\",\"age\":\"\"}",
        "{\"messages\":[{\"content\":{\"text\":\"Greet , who is \"}}]}");
}

static void PR_04_arguments_beyond_PROMPT_ARGUMENTS_MAX_are_refused(void **state)
{
    struct buf body = {0};
    (void)state;
    for (unsigned n = PROMPT_ARGUMENTS_MAX - 1; n < 50000; n = n < 200 ? n + 1 : 3 * n) {
        buf_clear(&body);
        buf_add_lit(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\",\"params\":{"
                           "\"name\":\"plain\",\"arguments\":{\"x\":\"\"");
        for (unsigned i = 1; i < n; i++)
            buf_printf(&body, ",\"%u\":\"\"", i);
        buf_add_lit(&body, "}}}");
        bench_send(&bench, buf_str(&body));
        expect(&bench, 200,
               n <= PROMPT_ARGUMENTS_MAX
                   ? "{\"result\":{\"messages\":[\"*\"]}}"
                   : "{\"error\":{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/"
                     "arguments\",\"keyword\":\"maxProperties\"}]}}}",
               "many arguments");
    }
    buf_done(&body);
}

static void PR_08_an_argument_is_inserted_literally(void **state)
{
    (void)state;
    get("greet", "{\"name\":\"{{age}} %s %n {tone} \\\"}]\",\"age\":\"$(id)\\n\\u0007\"}",
        "{\"messages\":[{\"content\":{\"text\":\"Greet {{age}} %s %n {tone} \\\"}], who is "
        "$(id)\\n\\u0007\"}}]}");
    get("raw", "{\"a\\\"b\":\"c\\\\d\",\"e\":\"\"}",
        "{\"messages\":[{\"content\":{\"text\":\"{\\\"a\\\\\\\"b\\\":\\\"c\\\\\\\\d\\\",\\\"e\\\":"
        "\\\"\\\"}\"}}]}");
}

static void PR_03_PR_06_PR_07_what_cannot_be_rendered_is_an_internal_error(void **state)
{
    static const char *const faults[] = {"mime",     "uri",        "role", "structured",
                                         "contents", "completion", "text"};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "{\"which\":\"%s\"}", faults[i]);
        get("bad", arguments, "!{\"code\":-32603,\"message\":\"Internal error\"}");
    }
    get("bad", "{\"which\":\"fail\"}", "!{\"code\":-32603,\"message\":\"The disk is on fire\"}");
    get("bad", "{\"which\":\"absent\"}", "!{\"code\":-32603,\"message\":\"Not found\"}");
    get("nothing", "", "!{\"code\":-32603}");
}

static void PR_03_an_argument_that_the_prompt_refuses_is_the_clients(void **state)
{
    (void)state;
    get("bad", "{\"which\":\"refused\"}",
        "!{\"code\":-32602,\"message\":\"which: expected another one\"}");
}

static void a_role_outside_of_a_prompt_is_refused(void **state)
{
    (void)state;
    ask_method(&bench, "tools/call", "{\"name\":\"role\"}", "{\"isError\":true}");
}

static void C_01_a_prompt_that_is_cancelled_is_not_answered(void **state)
{
    (void)state;
    bench.n_answers = 0;
    bench_begin(&bench, STR("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"prompts/get\",\"params\":{"
                            "\"name\":\"plain\"}}"));
    bench_begin(&bench, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\""
                            ":{\"requestId\":9}}"));
    for (int i = 0; i < 100 && bench.n_answers < 2; i++)
        loop_turn(&bench.loop, 1);
    assert_int_equal(bench.n_answers, 2);
    assert_null(bench.body.n ? strstr(bench.body.p, "Say something") : NULL);
}

/* ---- Changes -------------------------------------------------------------------------------- */

static int fill_other(struct tenon *t, void *ctx)
{
    (void)ctx;
    return PROMPT("other", render_plain, );
}

static int remake(struct tenon *t, void *ctx)
{
    int err = components_keep(t, STR("test.so"));
    return err < 0 ? err : components_fill(t, STR("other"), fill_other, ctx);
}

static void prompts_are_kept_and_added_by_new_offers(void **state)
{
    (void)state;
    assert_int_equal(components_remake(tenon, remake, NULL), 0);
    get("other", "", "{\"messages\":[\"*\"]}");
    get("greet", "{\"name\":\"Ada\",\"age\":\"36\"}",
        "{\"messages\":[{\"content\":{\"text\":\"Greet Ada, who is 36\"}}]}");
    get("greet", "", "!{\"message\":\"Missing required arguments: name, age\"}");
}

/* ---- Registration --------------------------------------------------------------------------- */

static const struct tenon_prompt *bad_prompt;

static int add_bad(struct tenon *t)
{
    PROMPT("taken", render_plain, );
    tenon_add_prompt(t, bad_prompt);
    return 0;
}

static void refuse(struct tenon_prompt prompt, const char *wanted)
{
    struct tenon *t;
    char text[512];
    bad_prompt = &prompt;
    assert_int_equal(components_new(&t), 0);
    assert_int_equal(components_add(t, STR("bad.so"), add_bad), ERR_PARAMS);
    snprintf(text, sizeof text, STR_FMT, STR_ARG(t->fault));
    if (!strstr(text, wanted))
        fail_msg("%s\n  wanted %s", text, wanted);
    assert_int_equal(t->offers->n_prompts, 1);
    components_free(t);
}

#define BAD(...) \
    ((struct tenon_prompt){.name = "a", .description = "d", .render = render_plain, __VA_ARGS__})

static void a_prompt_that_cannot_be_used_is_refused_with_its_reason(void **state)
{
    static const struct tenon_prompt_argument twice[] = {{.name = "x"}, {.name = "x"}};
    static const struct tenon_prompt_argument unnamed[] = {{.name = "x"}, {.title = "X"}};
    static const struct tenon_prompt_argument blank[] = {{.name = "a b"}};
    struct tenon_prompt_argument many[PROMPT_ARGUMENTS_MAX + 1];
    (void)state;
    memset(many, 0, sizeof many);
    refuse((struct tenon_prompt){.description = "d", .render = render_plain},
           "prompt (none): its name");
    refuse((struct tenon_prompt){.name = "a b", .description = "d", .render = render_plain},
           "prompt a b: its name");
    refuse((struct tenon_prompt){.name = "taken", .description = "d", .render = render_plain},
           "prompt taken: another one has this name");
    refuse((struct tenon_prompt){.name = "a", .render = render_plain}, "no description");
    refuse((struct tenon_prompt){.name = "a", .description = "d"}, "no render callback");
    refuse(BAD(.arguments = twice, .n_arguments = 2), "two arguments have the name x");
    refuse(BAD(.arguments = unnamed, .n_arguments = 2), "the name of argument 2");
    refuse(BAD(.arguments = blank, .n_arguments = 1), "the name of argument 1");
    refuse(BAD(.arguments = many, .n_arguments = PROMPT_ARGUMENTS_MAX + 1), "at most 100");
    refuse(BAD(.n_arguments = 1), "its arguments");
}

static void a_prompt_is_added_at_the_start_only(void **state)
{
    (void)state;
    assert_int_equal(tenon_add_prompt(tenon, &BAD(.title = "late")), TENON_ERR_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(PR_01_prompts_are_declared_and_listed),
        TEST(PR_01_nobody_has_prompts_without_components),
        TEST(PR_09_the_operations_have_no_prompts),
        TEST(PG_02_prompts_come_in_pages),
        TEST(PG_04_PG_05_a_cursor_that_is_none_is_refused),
        TEST(PR_05_a_prompt_is_rendered),
        TEST(PR_05_PR_06_PR_07_every_kind_of_message),
        TEST(PR_05_L_10_an_older_session_has_no_links_and_no_titles),
        TEST(PR_03_what_is_not_there_is_refused),
        TEST(PR_03_all_missing_arguments_are_named_together),
        TEST(PR_04_an_argument_is_a_string),
        TEST(PR_04_arguments_beyond_PROMPT_ARGUMENTS_MAX_are_refused),
        TEST(PR_08_an_argument_is_inserted_literally),
        TEST(PR_03_PR_06_PR_07_what_cannot_be_rendered_is_an_internal_error),
        TEST(PR_03_an_argument_that_the_prompt_refuses_is_the_clients),
        TEST(a_role_outside_of_a_prompt_is_refused),
        TEST(C_01_a_prompt_that_is_cancelled_is_not_answered),
        TEST(prompts_are_kept_and_added_by_new_offers),
        TEST(a_prompt_that_cannot_be_used_is_refused_with_its_reason),
        TEST(a_prompt_is_added_at_the_start_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
