/* tests/unit/test_manifest_offers.c - what a folder offers, as a client meets it: prompts,
 * resources, templates, completions, and what becomes of them when the folder changes. */
#include "ask.h"

#include "core/catalog.h"
#include "core/component.h"
#include "core/core_state.h"
#include "manifest_rig.h"

static struct tenon *tenon;

#define PNG          "iVBORw0KGgo="
#define SAY(content) "{\"role\":\"user\",\"content\":" content "}"
#define PROMPT(name, members, messages) \
    "{\"name\":\"" name "\",\"description\":\"d\"" members ",\"messages\":[" messages "]}"

#define ARGUMENTS                                                                                 \
    ",\"title\":\"All\",\"arguments\":[{\"name\":\"a\",\"title\":\"A\",\"description\":\"D\","    \
    "\"required\":true,\"complete\":{\"values\":[\"Paris\",\"park\",\"Rome\"]}},{\"name\":\"b\"," \
    "\"default\":\"plain\"},{\"name\":\"genre\",\"complete\":{\"table\":\"shop.book\","           \
    "\"attribute\":\"genre\"}},{\"name\":\"key\",\"complete\":{\"table\":\"shop.note\","          \
    "\"attribute\":\"key\"}},{\"name\":\"year\",\"complete\":{\"table\":\"shop.book\","           \
    "\"attribute\":\"year\"}},{\"name\":\"none\",\"complete\":{\"table\":\"shop.none\","          \
    "\"attribute\":\"key\"}},{\"name\":\"nothing\"}]"

#define MESSAGES                                                                                                                                                                                                                                                                             \
    SAY("{\"type\":\"text\",\"text\":\"a={{a}} b={{b}} genre={{genre}} {{{{a}}\"}")                                                                                                                                                                                                          \
    ",{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"file\":\"said.txt\"}}," SAY(                                                                                                                                                                                                  \
        "{\"ty"                                                                                                                                                                                                                                                                              \
        "pe\":"                                                                                                                                                                                                                                                                              \
        "\"ima"                                                                                                                                                                                                                                                                              \
        "ge\","                                                                                                                                                                                                                                                                              \
        "\"mim"                                                                                                                                                                                                                                                                              \
        "eType"                                                                                                                                                                                                                                                                              \
        "\":"                                                                                                                                                                                                                                                                                \
        "\"ima"                                                                                                                                                                                                                                                                              \
        "ge/"                                                                                                                                                                                                                                                                                \
        "png\""                                                                                                                                                                                                                                                                              \
        ",\"da"                                                                                                                                                                                                                                                                              \
        "ta\":"                                                                                                                                                                                                                                                                              \
        "\"" PNG                                                                                                                                                                                                                                                                             \
        "\"}") "," SAY("{\"type\":\"image\",\"mimeType\":\"image/png\",\"file\":\"dot.png\"}") "," SAY("{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"\"}") "," SAY("{\"type\":\"resource\",\"resource\":{\"uri\":\"a:{{a}}\",\"mimeType\":\"text/plain\","                      \
                                                                                                                                                                                "\"text\":\"of {{a}}\"}}") "," SAY("{\"type\":\"resource\",\"resource\":{\"uri\":\"a:x\","                   \
                                                                                                                                                                                                                   "\"blob\":\"" PNG "\"}}") "," SAY("{\"type\":\"resource\",\"resource\":{" \
                                                                                                                                                                                                                                                     "\"uri\":\"a:y\",\"mimeType\":\"image/" \
                                                                                                                                                                                                                                                     "png\","                                \
                                                                                                                                                                                                                                                     "\"file\":\"dot.png\"}}") "," SAY("{\"" \
                                                                                                                                                                                                                                                                                       "typ" \
                                                                                                                                                                                                                                                                                       "e\"" \
                                                                                                                                                                                                                                                                                       ":\"" \
                                                                                                                                                                                                                                                                                       "res" \
                                                                                                                                                                                                                                                                                       "our" \
                                                                                                                                                                                                                                                                                       "ce_" \
                                                                                                                                                                                                                                                                                       "lin" \
                                                                                                                                                                                                                                                                                       "k\"" \
                                                                                                                                                                                                                                                                                       ",\"" \
                                                                                                                                                                                                                                                                                       "uri" \
                                                                                                                                                                                                                                                                                       "\":" \
                                                                                                                                                                                                                                                                                       "\"a" \
                                                                                                                                                                                                                                                                                       ":z"  \
                                                                                                                                                                                                                                                                                       "\"," \
                                                                                                                                                                                                                                                                                       "\"n" \
                                                                                                                                                                                                                                                                                       "ame" \
                                                                                                                                                                                                                                                                                       "\":" \
                                                                                                                                                                                                                                                                                       "\"{" \
                                                                                                                                                                                                                                                                                       "{a}" \
                                                                                                                                                                                                                                                                                       "}\"" \
                                                                                                                                                                                                                                                                                       ",\"" \
                                                                                                                                                                                                                                                                                       "tit" \
                                                                                                                                                                                                                                                                                       "le"  \
                                                                                                                                                                                                                                                                                       "\":" \
                                                                                                                                                                                                                                                                                       "\"T" \
                                                                                                                                                                                                                                                                                       " {{" \
                                                                                                                                                                                                                                                                                       "b}}" \
                                                                                                                                                                                                                                                                                       "\"," \
                                                                                                                                                                                                                                                                                       "\"m" \
                                                                                                                                                                                                                                                                                       "ime" \
                                                                                                                                                                                                                                                                                       "Typ" \
                                                                                                                                                                                                                                                                                       "e\"" \
                                                                                                                                                                                                                                                                                       ":\"" \
                                                                                                                                                                                                                                                                                       "tex" \
                                                                                                                                                                                                                                                                                       "t/"  \
                                                                                                                                                                                                                                                                                       "pla" \
                                                                                                                                                                                                                                                                                       "in"  \
                                                                                                                                                                                                                                                                                       "\""  \
                                                                                                                                                                                                                                                                                       "}")

#define RESOURCES                                                                                 \
    "\"resources\":[{\"uri\":\"note://a\",\"name\":\"a\",\"title\":\"T\",\"description\":\"D\","  \
    "\"mimeType\":\"text/plain\",\"text\":\"h\\u00e9\",\"annotations\":{\"audience\":[\"user\"]," \
    "\"priority\":0.5,\"lastModified\":\"2025-01-01T00:00:00Z\"}},{\"uri\":\"note://b\","         \
    "\"name\":\"b\",\"mimeType\":\"image/png\",\"blob\":\"" PNG "\"}],"                           \
    "\"resourceTemplates\":[{\"uriTemplate\":\"note://t/{x}/{y}\",\"name\":\"t\",\"mimeType\":"   \
    "\"text/plain\",\"text\":\"x={{x}} y={{y}}\",\"variables\":{\"x\":{\"complete\":{"            \
    "\"values\":[\"one\",\"ONCE\",\"two\"]}}}}]"

#define WHOLE "{\"prompts\":[" PROMPT("all", ARGUMENTS, MESSAGES) "]," RESOURCES "}"

static void end_manifest(void *m)
{
    manifest_free(m);
}

static int offer(struct tenon *t, void *ctx)
{
    assert_int_equal(components_at_end(t, end_manifest, ctx), 0);
    return manifest_register(t, ctx);
}

static void load(struct tenon *t)
{
    struct manifest *m;
    if (manifest_load(str_of(rig_folder), &m) < 0 ||
        components_fill(t, str_of(rig_folder), offer, m) < 0)
        fail_msg(STR_FMT, STR_ARG(m->faults.lines[0]));
}

static int set_up(void **state)
{
    if (rig_open(state) < 0)
        return -1;
    rig_write("said.txt", "from a file, to {{a}}");
    rig_write_bytes("dot.png", "\x89PNG\r\n\x1a\n", 8);
    rig_write("component.json", WHOLE);
    assert_int_equal(components_new(&tenon), 0);
    load(tenon);
    struct core_config config = bench_config;
    config.components = tenon;
    bench_shop(&bench, &config);
    return 0;
}

static int tear_down(void **state)
{
    bench_close(&bench);
    components_free(tenon);
    return rig_close(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* ---- Prompts -------------------------------------------------------------------------------- */

static void a_prompt_is_listed_as_it_stands(void **state)
{
    (void)state;
    ask_method(&bench, "prompts/list", "",
               "{\"prompts\":[{\"name\":\"all\",\"title\":\"All\",\"description\":\"d\","
               "\"arguments\":[{\"name\":\"a\",\"title\":\"A\",\"description\":\"D\",\"required\":"
               "true},{\"name\":\"b\",\"-\":[\"default\"]},\"...\"]}]}");
}

static void get(const char *arguments, const char *pattern)
{
    char params[1024];
    snprintf(params, sizeof params, "{\"name\":\"all\",\"arguments\":%s}", arguments);
    ask_method(&bench, "prompts/get", params, pattern);
}

static void PR_05_each_kind_of_message_is_rendered(void **state)
{
    (void)state;
    get("{\"a\":\"Ada\"}",
        "{\"description\":\"d\",\"messages\":["
        "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"a=Ada b=plain genre= "
        "{{a}}\"}},"
        "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"from a file, to "
        "Ada\"}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":"
        "\"" PNG "\"}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":"
        "\"" PNG "\"}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":"
        "\"\"}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":{\"uri\":\"a:Ada\","
        "\"mimeType\":\"text/plain\",\"text\":\"of Ada\"}}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":{\"uri\":\"a:x\","
        "\"blob\":\"" PNG "\"}}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":{\"uri\":\"a:y\","
        "\"mimeType\":\"image/png\",\"blob\":\"" PNG "\"}}},"
        "{\"role\":\"user\",\"content\":{\"type\":\"resource_link\",\"uri\":\"a:z\",\"name\":"
        "\"Ada\",\"title\":\"T plain\",\"mimeType\":\"text/plain\"}}]}");
}

static void PR_08_what_is_put_in_is_never_looked_at_again(void **state)
{
    (void)state;
    get("{\"a\":\"A\",\"b\":\"{{a}}\",\"genre\":\"\\\"}\\n\"}",
        "{\"messages\":[{\"content\":{\"text\":\"a=A b={{a}} genre=\\\"}\\n {{a}}\"}},"
        "\"...\"]}");
}

static void PR_03_a_required_argument_is_missed(void **state)
{
    (void)state;
    ask(&bench, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":{\"name\":\"all\"}}",
        "{\"id\":7,\"error\":{\"code\":-32602}}");
}

/* What comes out is judged like that of C: {{a}} makes the URI. */
static void what_is_no_uri_is_an_internal_error(void **state)
{
    (void)state;
    ask(&bench, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":{\"name\":\"all\","
        "\"arguments\":{\"a\":\"no uri\"}}}",
        "{\"id\":7,\"error\":{\"code\":-32603}}");
}

static void an_argument_with_nul_is_refused(void **state)
{
    (void)state;
    ask(&bench, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":{\"name\":\"all\","
        "\"arguments\":{\"a\":\"x\\u0000y\"}}}",
        "{\"id\":7,\"error\":{\"message\":\"argument a: expected a string without U+0000\"}}");
}

/* ---- Resources ------------------------------------------------------------------------------ */

static void resources_are_listed_and_read(void **state)
{
    (void)state;
    ask_method(&bench, "resources/read", "{\"uri\":\"note://a\"}",
               "{\"contents\":[{\"uri\":\"note://a\",\"mimeType\":\"text/plain\",\"text\":"
               "\"h\\u00e9\"}]}");
    ask_method(&bench, "resources/read", "{\"uri\":\"note://b\"}",
               "{\"contents\":[{\"uri\":\"note://b\",\"mimeType\":\"image/png\",\"blob\":\"" PNG
               "\",\"-\":[\"text\"]}]}");
    ask_method(&bench, "resources/list", "{}", "{}");
    assert_non_null(strstr(bench.body.p, "\"size\":3"));
    assert_non_null(strstr(bench.body.p, "\"priority\":0.5"));
    assert_non_null(strstr(bench.body.p, "\"audience\":[\"user\"]"));
}

static void a_template_is_filled_in(void **state)
{
    (void)state;
    ask_method(&bench, "resources/read", "{\"uri\":\"note://t/a%20b/%7B%7Bx%7D%7D\"}",
               "{\"contents\":[{\"text\":\"x=a b y={{x}}\",\"mimeType\":\"text/plain\"}]}");
}

/* ---- Completion ----------------------------------------------------------------------------- */

static void complete(const char *ref, const char *name, const char *typed, const char *pattern)
{
    char params[512], wanted[512];
    snprintf(params, sizeof params, "{\"ref\":%s,\"argument\":{\"name\":\"%s\",\"value\":\"%s\"}}",
             ref, name, typed);
    snprintf(wanted, sizeof wanted, "{\"completion\":%s}", pattern);
    ask_method(&bench, "completion/complete", params, wanted);
}

#define ALL "{\"type\":\"ref/prompt\",\"name\":\"all\"}"

static void values_are_completed_in_any_case(void **state)
{
    (void)state;
    complete(ALL, "a", "PAR", "{\"values\":[\"Paris\",\"park\"],\"total\":2,\"hasMore\":false}");
    complete(ALL, "a", "", "{\"values\":[\"Paris\",\"park\",\"Rome\"],\"total\":3}");
    complete(ALL, "a", "x", "{\"values\":[]}");
    complete(ALL, "nothing", "", "{\"values\":[]}");
    complete("{\"type\":\"ref/resource\",\"uri\":\"note://t/{x}/{y}\"}", "x", "on",
             "{\"values\":[\"one\",\"ONCE\"]}");
    complete("{\"type\":\"ref/resource\",\"uri\":\"note://t/{x}/{y}\"}", "y", "on",
             "{\"values\":[]}");
}

static void create_note(unsigned i)
{
    char params[128];
    snprintf(params, sizeof params, "{\"name\":\"create_note\",\"arguments\":{\"key\":\"k%03u\"}}",
             i);
    ask_method(&bench, "tools/call", params, "{\"-\":[\"isError\"]}");
}

static void keys_of_a_table_are_completed(void **state)
{
    (void)state;
    complete(ALL, "key", "", "{\"values\":[]}");
    for (unsigned i = 0; i < 102; i++)
        create_note(i);
    complete(ALL, "key", "k00",
             "{\"values\":[\"k000\",\"k001\",\"k002\",\"k003\",\"k004\",\"k005\",\"k006\",\"k007\","
             "\"k008\",\"k009\"],\"hasMore\":false}");
    complete(ALL, "key", "k101", "{\"values\":[\"k101\"]}");
    complete(ALL, "key", "K", "{\"values\":[]}");
    complete(ALL, "key", "k", "{\"hasMore\":true,\"-\":[\"total\"]}");
    assert_non_null(strstr(bench.body.p, "\"k099\""));
    assert_null(strstr(bench.body.p, "\"k100\""));
}

/* However many rows share it. */
static void values_of_an_index_are_completed_once_each(void **state)
{
    (void)state;
    for (unsigned i = 10; i < 40; i++) {
        char params[160];
        snprintf(params, sizeof params,
                 "{\"name\":\"create_book\",\"arguments\":{\"id\":%u,\"title\":\"T\",\"genre\":"
                 "\"novel\"}}",
                 i);
        ask_method(&bench, "tools/call", params, "{\"-\":[\"isError\"]}");
    }
    complete(ALL, "genre", "", "{\"values\":[\"novel\",\"poem\"],\"hasMore\":false}");
    complete(ALL, "genre", "p", "{\"values\":[\"poem\"]}");
    complete(ALL, "genre", "novel", "{\"values\":[\"novel\"]}");
    complete(ALL, "genre", "novels", "{\"values\":[]}");
}

static void what_no_index_begins_with_gives_nothing(void **state)
{
    (void)state;
    complete(ALL, "year", "", "{\"values\":[]}");
    complete(ALL, "none", "", "{\"values\":[]}");
}

static void CM_08_a_table_that_became_private_gives_nothing(void **state)
{
    (void)state;
    create_note(1);
    complete(ALL, "key", "", "{\"values\":[\"k001\"]}");
    bench_table(&bench, "shop", "note",
                "{\"mcp\":false,\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\","
                "\"properties\":{\"key\":{\"type\":\"string\"}}}}");
    complete(ALL, "key", "", "{\"values\":[]}");
    bench_table(&bench, "shop", "book",
                "{\"primaryKey\":\"id\",\"attributes\":{\"genre\":{\"hidden\":true}},\"schema\":{"
                "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"genre\":{"
                "\"type\":\"string\"}}}}");
    complete(ALL, "genre", "", "{\"values\":[]}");
}

static void a_huge_text_is_completed_by_nothing(void **state)
{
    char typed[600];
    (void)state;
    memset(typed, 'k', sizeof typed - 1);
    typed[sizeof typed - 1] = '\0';
    char params[800];
    snprintf(params, sizeof params,
             "{\"ref\":" ALL ",\"argument\":{\"name\":\"key\",\"value\":\"%s\"}}", typed);
    ask_method(&bench, "completion/complete", params, "{\"completion\":{\"values\":[]}}");
}

/* ---- Again ---------------------------------------------------------------------------------- */

static int make(struct tenon *t, void *ctx)
{
    struct manifest *m;
    (void)ctx;
    int err = manifest_load(str_of(rig_folder), &m);
    if (err == 0)
        return components_fill(t, str_of(rig_folder), offer, m);
    manifest_free(m);
    return err;
}

static void what_is_read_again_is_offered(void **state)
{
    (void)state;
    rig_write("component.json", "{\"resources\":[{\"uri\":\"note://a\",\"name\":\"a\",\"text\":"
                                "\"new\"}]}");
    assert_int_equal(components_remake(tenon, make, NULL), 0);
    ask_method(&bench, "resources/read", "{\"uri\":\"note://a\"}",
               "{\"contents\":[{\"text\":\"new\"}]}");
    ask_method(&bench, "prompts/list", "", "{\"prompts\":[]}");
}

static void what_is_wrong_changes_nothing(void **state)
{
    static const char *const wrong[] = {
        "{",
        "{\"prompts\":5}",
        "{\"resources\":[{\"uri\":\"note://a\",\"name\":\"a\",\"text\":\"new\"},{\"uri\":"
        "\"note://a\",\"name\":\"a\",\"text\":\"new\"}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rig_write("component.json", wrong[i]);
        assert_int_equal(components_remake(tenon, make, NULL), ERR_PARAMS);
        get("{\"a\":\"Ada\"}", "{\"description\":\"d\"}");
        ask_method(&bench, "resources/read", "{\"uri\":\"note://a\"}",
                   "{\"contents\":[{\"text\":\"h\\u00e9\"}]}");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_prompt_is_listed_as_it_stands),
        TEST(PR_05_each_kind_of_message_is_rendered),
        TEST(PR_08_what_is_put_in_is_never_looked_at_again),
        TEST(PR_03_a_required_argument_is_missed),
        TEST(what_is_no_uri_is_an_internal_error),
        TEST(an_argument_with_nul_is_refused),
        TEST(resources_are_listed_and_read),
        TEST(a_template_is_filled_in),
        TEST(values_are_completed_in_any_case),
        TEST(keys_of_a_table_are_completed),
        TEST(values_of_an_index_are_completed_once_each),
        TEST(what_no_index_begins_with_gives_nothing),
        TEST(CM_08_a_table_that_became_private_gives_nothing),
        TEST(a_huge_text_is_completed_by_nothing),
        TEST(what_is_read_again_is_offered),
        TEST(what_is_wrong_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
