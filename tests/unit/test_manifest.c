/* tests/unit/test_manifest.c - component.json: what is wrong with it is told by file, line and
 * place, whatever it is. */
#include "tests/unit/manifest_rig.h"

#define N(a) (sizeof(a) / sizeof *(a))

#define PROMPT(members)                                                                     \
    "{\"prompts\":[{\"name\":\"p\",\"description\":\"d\",\"messages\":[{\"role\":\"user\"," \
    "\"content\":{\"type\":\"text\",\"text\":\"t\"}}]" members "}]}"
#define ARGUMENT(members) PROMPT(",\"arguments\":[{\"name\":\"a\"" members "}]")
#define CONTENT(members)                                                                    \
    "{\"prompts\":[{\"name\":\"p\",\"description\":\"d\",\"messages\":[{\"role\":\"user\"," \
    "\"content\":{" members "}}]}]}"
#define RESOURCE(members) "{\"resources\":[{\"uri\":\"note://a\",\"name\":\"n\"" members "}]}"
#define TEMPLATE(members) \
    "{\"resourceTemplates\":[{\"uriTemplate\":\"note://{x}\",\"name\":\"n\"" members "}]}"
#define ROW            "\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}}}"
#define TABLE(members) "{\"tables\":[{\"table\":\"d.t\",\"primaryKey\":\"id\"," ROW members "}]}"
#define TOOL(members)                                                                              \
    "{\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"exec\":{\"argv\":[\"true\"]}" members "}" \
    "]"                                                                                            \
    "}"

/* One after the other: its text, and its faults, each a line. */
static void tell_all(const char *const (*cases)[2], size_t n)
{
    unsigned n_wrong = 0;
    for (size_t i = 0; i < n; i++) {
        struct tenon *tenon;
        struct manifest *m;
        char told[4096] = "";
        assert_int_equal(components_new(&tenon), 0);
        rig_write("component.json", cases[i][0]);
        int err = rig_load(tenon, &m);
        for (uint32_t f = 0; f < m->faults.n; f++)
            snprintf(told + strlen(told), sizeof told - strlen(told), "%s%s", f ? "\n" : "",
                     rig_fault(m, f));
        if (err != (cases[i][1][0] ? ERR_PARAMS : 0) || strcmp(told, cases[i][1]) != 0) {
            print_error("%s\n  gave %d: %s\n  expected: %s\n", cases[i][0], err, told, cases[i][1]);
            n_wrong++;
        }
        components_free(tenon);
        manifest_free(m);
    }
    assert_int_equal(n_wrong, 0);
}

static void what_is_right_has_no_faults(void **state)
{
    static const char *const cases[][2] = {
        {"{}", ""},
        {"{\"$schema\":\"x\",\"description\":\"\",\"prompts\":[],\"tables\":[]}", ""},
        {PROMPT(",\"title\":\"T\",\"arguments\":[{\"name\":\"a\",\"title\":\"A\",\"description\":"
                "\"D\",\"default\":\"x\"}]"),
         ""},
        {ARGUMENT(",\"required\":true,\"complete\":{\"values\":[\"x\",\"y\"]}"), ""},
        {ARGUMENT(",\"complete\":{\"table\":\"d.t\",\"attribute\":\"id\"}"), ""},
        {CONTENT("\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AA==\""), ""},
        {CONTENT("\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"\""), ""},
        {CONTENT("\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"text\":\"x\"}"), ""},
        {CONTENT("\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\""), ""},
        {RESOURCE(",\"text\":\"\",\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5,"
                  "\"lastModified\":\"2025-01-01T00:00:00Z\"}"),
         ""},
        {RESOURCE(",\"blob\":\"AAA=\",\"mimeType\":\"image/png\""), ""},
        {TEMPLATE(",\"text\":\"{{x}} and {{{{x}}\",\"variables\":{\"x\":{\"complete\":{\"values\":"
                  "[]}}}"),
         ""},
        {TABLE(",\"mcp\":false,\"title\":\"T\",\"indexes\":[{\"on\":[\"id\"]}]"), ""},
        {TOOL(",\"title\":\"T\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{"
              "\"readOnlyHint\":true}"),
         ""},
    };
    (void)state;
    tell_all(cases, N(cases));
}

static void what_is_no_json_is_told_by_its_line(void **state)
{
    static const char *const cases[][2] = {
        {"", ":1: expected a value, found the end of the text"},
        {"{\n  \"prompts\": [\n    {]\n", ":3: expected a string or '}', found ']'"},
        {"[]", ":1: expected object"},
        {"{\n\"tables\": [],\n\"tables\": []}",
         ":3: /tables: expected once, it stands twice in this object"},
        {"{\n\"description\":\n\"\\u0000\"}", ":3: /description: expected a string without U+0000"},
    };
    (void)state;
    tell_all(cases, N(cases));
}

static void each_member_that_is_wrong_is_told(void **state)
{
    static const char *const cases[][2] = {
        {"{\"colour\":1}", ":1: /colour: unknown here; expected $schema, description, tables, "
                           "prompts, resources, resourceTemplates, tools"},
        {"{\"$schema\":1}", ":1: /$schema: expected string"},
        {"{\"description\":1}", ":1: /description: expected string"},
        {"{\"tables\":{}}", ":1: /tables: expected array"},
        {"{\"prompts\":1}", ":1: /prompts: expected array"},
        {"{\"resources\":null}", ":1: /resources: expected array"},
        {"{\"resourceTemplates\":\"\"}", ":1: /resourceTemplates: expected array"},
        {"{\"tools\":true}", ":1: /tools: expected array"},
        {"{\"prompts\":[1]}", ":1: /prompts/0: expected object"},
        {"{\"prompts\":[{}]}", ":1: /prompts/0/name: expected a value\n:1: /prompts/0/description: "
                               "expected a value\n:1: /prompts/0/messages: expected array"},
        {PROMPT(",\"title\":\"\""),
         ":1: /prompts/0/title: expected a string; characters: at least 1"},
        {PROMPT(",\"arguments\":{}"), ":1: /prompts/0/arguments: expected array"},
        {"{\"prompts\":[{\"name\":\"p\",\"description\":\"d\",\"messages\":[]}]}",
         ":1: /prompts/0/messages: expected at least 1"},
        {ARGUMENT(",\"title\":1"), ":1: /prompts/0/arguments/0/title: expected string"},
        {ARGUMENT(",\"description\":1"), ":1: /prompts/0/arguments/0/description: expected string"},
        {ARGUMENT(",\"required\":\"yes\""),
         ":1: /prompts/0/arguments/0/required: expected boolean"},
        {ARGUMENT(",\"default\":5"), ":1: /prompts/0/arguments/0/default: expected string"},
        {ARGUMENT(",\"complete\":[]"), ":1: /prompts/0/arguments/0/complete: expected object"},
        {ARGUMENT(",\"complete\":{}"),
         ":1: /prompts/0/arguments/0/complete: expected one of the members values|table"},
        {ARGUMENT(",\"complete\":{\"values\":[1]}"),
         ":1: /prompts/0/arguments/0/complete/values/0: expected string"},
        {ARGUMENT(",\"complete\":{\"table\":\"d.t\"}"),
         ":1: /prompts/0/arguments/0/complete/attribute: expected a value, because there is table"},
        {CONTENT("\"text\":\"x\""), ":1: /prompts/0/messages/0/content/type: expected a value"},
        {CONTENT("\"type\":\"text\",\"text\":1"),
         ":1: /prompts/0/messages/0/content/text: expected string"},
        {CONTENT("\"type\":\"text\",\"text\":\"x\",\"file\":\"y\""),
         ":1: /prompts/0/messages/0/content: expected only one of the members text|file"},
        {CONTENT("\"type\":\"image\",\"data\":\"AA==\""),
         ":1: /prompts/0/messages/0/content/mimeType: expected a value"},
        {CONTENT("\"type\":\"image\",\"mimeType\":\"png\",\"data\":\"AA==\""),
         ":1: /prompts/0/messages/0/content/mimeType: expected a string that matches "
         "^[!-~]+/[ -~]+$"},
        {CONTENT("\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"A\""),
         ":1: /prompts/0/messages/0/content/data: expected base64, with padding"},
        {CONTENT("\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\"}"),
         ":1: /prompts/0/messages/0/content/resource: expected one of the members text|blob|file"},
        {RESOURCE(""), ":1: /resources/0: expected one of the members text|blob|file"},
        {RESOURCE(",\"text\":\"a\",\"blob\":\"\""),
         ":1: /resources/0: expected only one of the members text|blob|file"},
        {RESOURCE(",\"blob\":\"=\""), ":1: /resources/0/blob: expected base64, with padding"},
        {RESOURCE(",\"text\":\"\",\"subscribable\":true"),
         ":1: /resources/0/file: expected a value, because there is subscribable"},
        {RESOURCE(",\"text\":\"\",\"annotations\":{\"priority\":2}"),
         ":1: /resources/0/annotations/priority: expected at most 1"},
        {RESOURCE(",\"text\":\"\",\"annotations\":{\"audience\":[\"me\"]}"),
         ":1: /resources/0/annotations/audience/0: expected \"user\"|\"assistant\""},
        {RESOURCE(",\"text\":\"\",\"annotations\":{\"lastModified\":\"now\"}"),
         ":1: /resources/0/annotations/lastModified: expected date-time"},
        {"{\"resources\":[{\"uri\":\"a b\",\"name\":\"n\",\"text\":\"\"}]}",
         ":1: /resources/0: resource a b: expected a URI with a scheme"},
        {"{\"resources\":[{\"uri\":\"db://a\",\"name\":\"n\",\"text\":\"\"}]}",
         ":1: /resources/0: resource db://a: the schemes db: and tenon: are the server's"},
        {TEMPLATE(",\"text\":\"{{y}}\""),
         ":1: /resourceTemplates/0/text: {{y}}: expected a variable of the URI template"},
        {TEMPLATE(",\"text\":\"\",\"variables\":{\"y\":{}}"),
         ":1: /resourceTemplates/0/variables/y: expected a variable of the URI template"},
        {"{\"resourceTemplates\":[{\"uriTemplate\":\"note://{\",\"name\":\"n\",\"text\":\"\"}]}",
         ":1: /resourceTemplates/0/uriTemplate: byte 8: unexpected here"},
        {TABLE(",\"mcp\":0"), ":1: /tables/0/mcp: expected boolean"},
        {TABLE(",\"colour\":0"),
         ":1: /tables/0/colour: unknown here; expected table, mcp, title, description, primaryKey, "
         "indexes, indexed, attributes, annotations, schema"},
        {TABLE(",\"indexes\":[{\"on\":[\"no\"]}]"),
         ":1: /tables/0/indexes/0/on/0: expected an attribute of the schema (after a -: from the "
         "greatest; dots lead into nested ones) (name)"},
        {"{\"tables\":[{\"table\":\"t\",\"primaryKey\":\"id\"," ROW "}]}",
         ":1: /tables/0/table: expected a string that matches "
         "^[A-Za-z][A-Za-z0-9_]{0,63}\\.[A-Za-z][A-Za-z0-9_]{0,63}$"},
        {TOOL(",\"inputSchema\":{\"type\":\"string\"}"),
         ":1: /tools/0: tool t: inputSchema/type: expected \"object\""},
        {TOOL(",\"outputSchema\":5"), ":1: /tools/0/outputSchema: expected object"},
        {TOOL(",\"annotations\":{\"readOnlyHint\":1}"),
         ":1: /tools/0/annotations/readOnlyHint: expected boolean"},
        {"{\"tools\":[{\"name\":\"t\",\"description\":\"d\"}]}",
         ":1: /tools/0/exec: expected a value"},
    };
    (void)state;
    tell_all(cases, N(cases));
}

static void arguments_have_to_be_known(void **state)
{
    static const char *const cases[][2] = {
        {CONTENT("\"type\":\"text\",\"text\":\"{{who}}\""),
         ":1: /prompts/0/messages/0/content/text: {{who}}: expected an argument of the prompt"},
        {CONTENT("\"type\":\"text\",\"text\":\"a {{ b\""),
         ":1: /prompts/0/messages/0/content/text: expected {{name}}, or {{{{ for the two braces"},
        {CONTENT("\"type\":\"resource\",\"resource\":{\"uri\":\"a:{{b}}\",\"text\":\"{{c}}\"}"),
         ":1: /prompts/0/messages/0/content/resource/uri: {{b}}: expected an argument of the "
         "prompt\n"
         ":1: /prompts/0/messages/0/content/resource/text: {{c}}: expected an argument of the "
         "prompt"},
        {PROMPT(",\"arguments\":[{\"name\":\"a\"},{\"name\":\"a\"}]"),
         ":1: /prompts/0/arguments/1/name: another argument has this name"},
        {ARGUMENT(",\"required\":true,\"default\":\"x\""),
         ":1: /prompts/0/arguments/0/default: expected none, as the argument is required"},
    };
    (void)state;
    tell_all(cases, N(cases));
}

static void names_that_stand_twice_are_told(void **state)
{
    static const char *const cases[][2] = {
        {"{\"resources\":[\n{\"uri\":\"a:b\",\"name\":\"n\",\"text\":\"\"},\n{\"uri\":\"a:b\","
         "\"name\":\"n\",\"text\":\"\"}]}",
         ":3: /resources/1: resource a:b: another one has this URI"},
        {"{\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"exec\":{\"argv\":[\"true\"]}},\n"
         "{\"name\":\"t\",\"description\":\"d\",\"exec\":{\"argv\":[\"true\"]}}]}",
         ":2: /tools/1: tool t: another one has this name"},
        {"{\"tables\":[{\"table\":\"d.t\",\"primaryKey\":\"id\"," ROW "},\n{\"table\":\"d.t\","
         "\"primaryKey\":\"id\"," ROW "}]}",
         ":2: /tables/1/table: another table has this name"},
        {"{\"prompts\":[{\"name\":\"p\",\"description\":\"d\",\"messages\":[{\"role\":\"user\","
         "\"content\":{\"type\":\"text\",\"text\":\"t\"}}]},\n{\"name\":\"p\",\"description\":"
         "\"d\",\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"t\"}}]"
         "}]}",
         ":2: /prompts/1: prompt p: another one has this name"},
    };
    (void)state;
    tell_all(cases, N(cases));
}

static void queries_have_to_fit_a_table_of_the_manifest(void **state)
{
#define QUERY(table, attribute)                                                            \
    "\"prompts\":[{\"name\":\"p\",\"description\":\"d\",\"messages\":[{\"role\":\"user\"," \
    "\"content\":{\"type\":\"text\",\"text\":\"t\"}}],\"arguments\":[{\"name\":\"a\","     \
    "\"complete\":{\"table\":\"" table "\",\"attribute\":\"" attribute "\"}}]}]}"
#define WITH_TABLE(members)                                                             \
    "{\"tables\":[{\"table\":\"d.t\",\"primaryKey\":\"id\"," members "\"schema\":{"     \
    "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"a\":{\"type\":" \
    "\"string\"}}}}],"
    static const char *const cases[][2] = {
        {WITH_TABLE("") QUERY("d.t", "id"), ""},
        {WITH_TABLE("\"indexed\":[\"a\"],") QUERY("d.t", "a"), ""},
        {WITH_TABLE("\"indexes\":[{\"on\":[\"a\",\"id\"]}],") QUERY("d.t", "a"), ""},
        {WITH_TABLE("") QUERY("d.t", "a"),
         ":1: /prompts/0/arguments/0/complete/attribute: expected the primary key of the table, or "
         "what an index begins with"},
        {WITH_TABLE("\"mcp\":false,") QUERY("d.t", "id"),
         ":1: /prompts/0/arguments/0/complete/table: expected a table that clients see, not one "
         "with \"mcp\": false"},
    };
    (void)state;
    tell_all(cases, N(cases));
}

static void all_faults_are_told_at_once(void **state)
{
    struct tenon *tenon;
    struct manifest *m;
    char text[4096] = "{\"resources\":[\n";
    (void)state;
    for (int i = 0; i < 14; i++)
        strcat(text, i ? ",\n{\"uri\":\"db:x\",\"name\":\"n\",\"text\":\"\"}"
                       : "{\"uri\":\"db:x\",\"name\":\"n\",\"text\":\"\"}");
    strcat(text, "]}");
    rig_write("component.json", text);
    assert_int_equal(components_new(&tenon), 0);
    assert_int_equal(rig_load(tenon, &m), ERR_PARAMS);
    assert_int_equal(m->faults.n, 14);
    assert_int_equal(MANIFEST_FAULTS_MAX, 10);
    for (uint32_t i = 0; i < MANIFEST_FAULTS_MAX; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, ":%u: /resources/%u: ", i + 2, i);
        assert_memory_equal(rig_fault(m, i), wanted, strlen(wanted));
    }
    components_free(tenon);
    manifest_free(m);
}

/* The name in another component, which may be an object of C. */
static int run_nothing(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_text(call, "");
}

static int add_others(struct tenon *tenon)
{
    tenon_add_tool(tenon,
                   &(struct tenon_tool){.name = "t", .description = "d", .run = run_nothing});
    return tenon_add_resource(
        tenon, &(struct tenon_resource){.uri = "a:b", .name = "n", .read = run_nothing});
}

static void names_of_another_component_are_told(void **state)
{
    struct tenon *tenon;
    struct manifest *m;
    (void)state;
    assert_int_equal(components_new(&tenon), 0);
    assert_int_equal(components_add(tenon, STR("x.so"), add_others), 0);
    rig_write(
        "component.json",
        "{\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"exec\":{\"argv\":[\"true\"]}}],\n"
        "\"resources\":[{\"uri\":\"a:b\",\"name\":\"n\",\"text\":\"\"}]}");
    assert_int_equal(rig_load(tenon, &m), ERR_PARAMS);
    assert_string_equal(rig_fault(m, 0), ":1: /tools/0: tool t: another one has this name");
    assert_string_equal(rig_fault(m, 1),
                        ":2: /resources/0: resource a:b: another one has this URI");
    assert_int_equal(m->faults.n, 2);
    components_free(tenon);
    manifest_free(m);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void files_lie_below_the_folder(void **state)
{
#define FILE_CONTENT(file) CONTENT("\"type\":\"text\",\"file\":\"" file "\"")
#define AT                 ":1: /prompts/0/messages/0/content/file: "
    static const char *const cases[][2] = {
        {FILE_CONTENT("a.txt"), ""},
        {FILE_CONTENT("sub/b.txt"), ""},
        {FILE_CONTENT("./sub/../a.txt"), ""},
        {FILE_CONTENT("link"), ""},
        {FILE_CONTENT("none"), AT "none: No such file or directory"},
        {FILE_CONTENT("../component.json"),
         AT "../component.json: expected a file below the folder"},
        {FILE_CONTENT("outside"), AT "outside: expected a file below the folder"},
        {FILE_CONTENT("sub"), AT "sub: expected a regular file"},
        {FILE_CONTENT("queue"), AT "queue: expected a regular file"},
        {FILE_CONTENT("/etc/passwd"), AT "expected a string that matches ^[^\\u0000/][^\\u0000]*$"},
        {FILE_CONTENT("latin"), AT "latin: expected UTF-8 without U+0000"},
        {FILE_CONTENT("zero"), AT "zero: expected UTF-8 without U+0000"},
        {FILE_CONTENT("braces"), AT "{{no}}: expected an argument of the prompt"},
        {CONTENT("\"type\":\"image\",\"mimeType\":\"image/png\",\"file\":\"zero\""), ""},
    };
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/sub", rig_folder);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/outside", rig_folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    snprintf(path, sizeof path, "%s/link", rig_folder);
    assert_int_equal(symlink("a.txt", path), 0);
    snprintf(path, sizeof path, "%s/queue", rig_folder);
    assert_int_equal(mkfifo(path, 0644), 0);
    rig_write("a.txt", "text");
    rig_write("sub/b.txt", "\xc3\xa9");
    rig_write("latin", "\xe9");
    rig_write("braces", "{{no}}");
    rig_write_bytes("zero", "a\0b", 3);
    tell_all(cases, N(cases));
}

static void a_change_of_any_file_is_seen(void **state)
{
    struct tenon *tenon;
    struct manifest *m;
    (void)state;
    rig_write("component.json", FILE_CONTENT("a.txt"));
    rig_write("a.txt", "text");
    assert_int_equal(components_new(&tenon), 0);
    assert_int_equal(rig_load(tenon, &m), 0);
    assert_false(manifest_is_changed(m));
    rig_write("other.txt", "text");
    assert_false(manifest_is_changed(m));
    rig_write("a.txt", "another text");
    assert_true(manifest_is_changed(m));
    rig_write("a.txt", "text");
    components_free(tenon);
    manifest_free(m);
}

static void a_file_that_was_missing_is_waited_for(void **state)
{
    struct manifest *m;
    (void)state;
    assert_int_equal(manifest_load(str_of(rig_folder), &m), ERR_PARAMS);
    assert_string_equal(rig_fault(m, 0), ": No such file or directory");
    assert_false(manifest_is_changed(m));
    rig_write("component.json", "{}");
    assert_true(manifest_is_changed(m));
    manifest_free(m);
}

static void a_folder_that_is_none_is_told(void **state)
{
    struct manifest *m;
    (void)state;
    assert_int_equal(manifest_load(STR("/tmp/tenon-no-such-folder"), &m), ERR_PARAMS);
    assert_string_equal(m->faults.lines[0].p,
                        "/tmp/tenon-no-such-folder/component.json: No such file or directory");
    manifest_free(m);
}

/* ---- Limits --------------------------------------------------------------------------------- */

static void load_and_expect(const char *wanted)
{
    struct tenon *tenon;
    struct manifest *m;
    assert_int_equal(components_new(&tenon), 0);
    assert_int_equal(rig_load(tenon, &m), *wanted ? ERR_PARAMS : 0);
    assert_string_equal(rig_fault(m, 0), wanted);
    components_free(tenon);
    manifest_free(m);
}

static void beyond_MANIFEST_BYTES_MAX_it_is_too_large(void **state)
{
    (void)state;
    char *text = malloc(MANIFEST_BYTES_MAX + 2);
    assert_non_null(text);
    memset(text, ' ', MANIFEST_BYTES_MAX + 1);
    memcpy(text, "{}", 2);
    rig_write_bytes("component.json", text, MANIFEST_BYTES_MAX);
    load_and_expect("");
    rig_write_bytes("component.json", text, MANIFEST_BYTES_MAX + 1);
    load_and_expect(": expected at most 4194304 bytes");
    free(text);
}

static void beyond_MANIFEST_FILE_BYTES_MAX_a_file_is_too_large(void **state)
{
    (void)state;
    char *text = malloc(MANIFEST_FILE_BYTES_MAX + 2);
    assert_non_null(text);
    memset(text, ' ', MANIFEST_FILE_BYTES_MAX + 1);
    rig_write("component.json", FILE_CONTENT("large"));
    rig_write_bytes("large", text, MANIFEST_FILE_BYTES_MAX);
    load_and_expect("");
    rig_write_bytes("large", text, MANIFEST_FILE_BYTES_MAX + 1);
    load_and_expect(AT "large: expected at most 4194304 bytes");
    free(text);
}

static void write_many(const char *before, const char *fmt, unsigned n, const char *after)
{
    struct buf text = {0};
    buf_add_str(&text, str_of(before));
    for (unsigned i = 0; i < n; i++) {
        char entry[128];
        snprintf(entry, sizeof entry, fmt, i);
        buf_printf(&text, "%s%s", i ? "," : "", entry);
    }
    buf_add_str(&text, str_of(after));
    rig_write_bytes("component.json", text.p, text.n);
    buf_done(&text);
}

static void beyond_MANIFEST_ENTRIES_MAX_a_list_is_too_long(void **state)
{
    static const char entry[] = "{\"uri\":\"a:%u\",\"name\":\"n\",\"text\":\"\"}";
    (void)state;
    write_many("{\"resources\":[", entry, MANIFEST_ENTRIES_MAX, "]}");
    load_and_expect("");
    write_many("{\"resources\":[", entry, MANIFEST_ENTRIES_MAX + 1, "]}");
    load_and_expect(":1: /resources: expected at most 1000");
}

static void beyond_MANIFEST_ARGUMENTS_MAX_a_prompt_has_too_many(void **state)
{
    static const char before[] =
        "{\"prompts\":[{\"name\":\"p\",\"description\":\"d\",\"messages\":[{\"role\":\"user\","
        "\"content\":{\"type\":\"text\",\"text\":\"t\"}}],\"arguments\":[";
    (void)state;
    write_many(before, "{\"name\":\"a%u\"}", MANIFEST_ARGUMENTS_MAX, "]}]}");
    load_and_expect("");
    write_many(before, "{\"name\":\"a%u\"}", MANIFEST_ARGUMENTS_MAX + 1, "]}]}");
    load_and_expect(":1: /prompts/0/arguments: expected at most 100");
}

/* More values than bytes, so the memory is the limit. */
static void beyond_MANIFEST_MEMORY_BYTES_it_is_too_large(void **state)
{
    struct manifest *m = NULL;
    char *text = malloc(MANIFEST_BYTES_MAX);
    (void)state;
    assert_non_null(text);
    for (uint32_t i = 0; i < MANIFEST_BYTES_MAX; i++)
        text[i] = ",1"[i % 2];
    memcpy(text, "{\"tables\":[", 11);
    memcpy(text + MANIFEST_BYTES_MAX - 3, "1]}", 3);
    rig_write_bytes("component.json", text, MANIFEST_BYTES_MAX);
    free(text);
    assert_int_equal(MANIFEST_MEMORY_BYTES, 64u << 20);
    assert_int_equal(manifest_load(str_of(rig_folder), &m), ERR_PARAMS);
    assert_string_equal(rig_fault(m, 0), ": expected less, it would take more than 64 MiB");
    assert_false(manifest_is_changed(m));
    rig_write("component.json", "{}");
    assert_true(manifest_is_changed(m));
    manifest_free(m);
}

static void deep_nesting_is_told(void **state)
{
    char text[1024] = "{\"tables\":";
    (void)state;
    memset(text + strlen(text), '[', 200);
    rig_write("component.json", text);
    load_and_expect(":1: expected at most 128 nested arrays and objects");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_is_right_has_no_faults),
        RIG_TEST(what_is_no_json_is_told_by_its_line),
        RIG_TEST(each_member_that_is_wrong_is_told),
        RIG_TEST(arguments_have_to_be_known),
        RIG_TEST(names_that_stand_twice_are_told),
        RIG_TEST(queries_have_to_fit_a_table_of_the_manifest),
        RIG_TEST(all_faults_are_told_at_once),
        RIG_TEST(names_of_another_component_are_told),
        RIG_TEST(files_lie_below_the_folder),
        RIG_TEST(a_change_of_any_file_is_seen),
        RIG_TEST(a_file_that_was_missing_is_waited_for),
        RIG_TEST(a_folder_that_is_none_is_told),
        RIG_TEST(beyond_MANIFEST_BYTES_MAX_it_is_too_large),
        RIG_TEST(beyond_MANIFEST_FILE_BYTES_MAX_a_file_is_too_large),
        RIG_TEST(beyond_MANIFEST_ENTRIES_MAX_a_list_is_too_long),
        RIG_TEST(beyond_MANIFEST_ARGUMENTS_MAX_a_prompt_has_too_many),
        RIG_TEST(beyond_MANIFEST_MEMORY_BYTES_it_is_too_large),
        RIG_TEST(deep_nesting_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
