/* tests/codegen/test_import.c - published schema to facts: what stays, what goes, what stops it. */
#include "base/err.h"
#include "codegen/file.h"
#include "codegen/import.h"
#include "tests/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char *const revisions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                        "2026-07-28"};
enum { N_REVISIONS = sizeof revisions / sizeof *revisions };

#define DRAFT_07 "\"$schema\":\"http://json-schema.org/draft-07/schema#\","
#define DRAFT_20 "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","

static void assert_text(struct str got, const char *want)
{
    if (!str_eq(got, str_of(want)))
        print_message("# got:  " STR_FMT "\n# want: %s\n", STR_ARG(got), want);
    assert_true(str_eq(got, str_of(want)));
}

static void assert_facts(const char *text, const char *want)
{
    struct buf out = {0}, fault = {0};
    int err = import_text("in.json", str_of(text), &out, &fault);
    assert_text(buf_str(&fault), "");
    assert_int_equal(err, 0);
    assert_text(buf_str(&out), want);
    buf_done(&out);
}

static void assert_fault(const char *text, const char *want)
{
    struct buf out = {0}, fault = {0};
    assert_int_equal(import_text("in.json", str_of(text), &out, &fault), ERR_SYNTAX);
    assert_text(buf_str(&fault), want);
    buf_done(&out);
    buf_done(&fault);
}

static void annotations_go_and_properties_named_like_them_stay(void **state)
{
    (void)state;
    assert_facts(
        "{" DRAFT_07 "\"definitions\":{\"A\":{"
        "\"description\":\"gone\",\"title\":\"gone\",\"examples\":[{}],\"$comment\":\"gone\","
        "\"properties\":{\"title\":{\"type\":\"string\",\"description\":\"gone\"},"
        "\"description\":{},\"examples\":{\"title\":\"gone\"}},"
        "\"type\":\"object\",\"required\":[\"title\",\"description\"]}}}",
        "{\n"
        " \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
        " \"definitions\": {\n"
        "  \"A\": {\n"
        "   \"type\": \"object\",\n"
        "   \"required\": [\n"
        "    \"description\",\n"
        "    \"title\"\n"
        "   ],\n"
        "   \"properties\": {\n"
        "    \"description\": {},\n"
        "    \"examples\": {},\n"
        "    \"title\": {\n"
        "     \"type\": \"string\"\n"
        "    }\n"
        "   }\n"
        "  }\n"
        " }\n"
        "}\n");
}

/* SCHEMA.md, trap 1: these words are members of messages as well */
static void trap_1_a_property_may_be_called_like_any_keyword(void **state)
{
    (void)state;
    assert_facts("{" DRAFT_20 "\"$defs\":{\"type\":{\"properties\":{\"required\":{\"type\":"
                 "\"boolean\"},\"properties\":{},\"pattern\":{},\"$schema\":{},\"enum\":{}}}}}",
                 "{\n"
                 " \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                 " \"$defs\": {\n"
                 "  \"type\": {\n"
                 "   \"properties\": {\n"
                 "    \"$schema\": {},\n"
                 "    \"enum\": {},\n"
                 "    \"pattern\": {},\n"
                 "    \"properties\": {},\n"
                 "    \"required\": {\n"
                 "     \"type\": \"boolean\"\n"
                 "    }\n"
                 "   }\n"
                 "  }\n"
                 " }\n"
                 "}\n");
}

static void definitions_are_sorted_and_other_arrays_are_not(void **state)
{
    (void)state;
    assert_facts("{\"definitions\":{\"B\":{\"anyOf\":[{\"$ref\":\"#/definitions/B\"},"
                 "{\"$ref\":\"#/definitions/A\"}]},\"A\":{\"enum\":[\"z\",\"a\"],"
                 "\"additionalProperties\":true}}," DRAFT_07 "\"title\":\"gone\"}",
                 "{\n"
                 " \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
                 " \"definitions\": {\n"
                 "  \"A\": {\n"
                 "   \"enum\": [\n"
                 "    \"z\",\n"
                 "    \"a\"\n"
                 "   ],\n"
                 "   \"additionalProperties\": true\n"
                 "  },\n"
                 "  \"B\": {\n"
                 "   \"anyOf\": [\n"
                 "    {\n"
                 "     \"$ref\": \"#/definitions/B\"\n"
                 "    },\n"
                 "    {\n"
                 "     \"$ref\": \"#/definitions/A\"\n"
                 "    }\n"
                 "   ]\n"
                 "  }\n"
                 " }\n"
                 "}\n");
}

static void GEN_07_an_unknown_keyword_stops_the_import(void **state)
{
    (void)state;
    assert_fault("{" DRAFT_20 "\n\"$defs\":{\"A\":{\"properties\":{\"x/y~z\":{\"anyOf\":[{},\n"
                 "  {\"pattern\":\"^a\"}]}}}}}",
                 "in.json:3:4: #/$defs/A/properties/x~1y~0z/anyOf/1: unknown keyword \"pattern\"; "
                 "teach the generator what it means first\n");
    assert_fault("{" DRAFT_07 "\"definitions\":{},\"$id\":\"x\"}",
                 "in.json:1:71: #: unknown keyword \"$id\"; teach the generator what it means "
                 "first\n");
}

static void a_wrong_value_stops_the_import(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *fault;
    } cases[] = {
        {"true", "2:1: #/definitions/A: expected a schema (an object), found boolean"},
        {"{\"type\":\"any\"}",
         "2:9: #/definitions/A/type: expected the name of a JSON type, found string"},
        {"{\"type\":[]}", "2:9: #/definitions/A/type: expected at least one member, found array"},
        {"{\"required\":true}", "2:13: #/definitions/A/required: expected an array, found boolean"},
        {"{\"required\":[\"a\",\"b\",\"a\"]}",
         "2:22: #/definitions/A/required: \"a\" stands here twice"},
        {"{\"required\":[1]}", "2:14: #/definitions/A/required/0: expected a string, found number"},
        {"{\"properties\":[]}",
         "2:15: #/definitions/A/properties: expected an object, found array"},
        {"{\"properties\":{\"a\":{},\"a\":{}}}",
         "2:23: #/definitions/A/properties: \"a\" stands here twice"},
        {"{\"type\":\"object\",\"type\":\"null\"}",
         "2:18: #/definitions/A: \"type\" stands here twice"},
        {"{\"additionalProperties\":false}",
         "2:25: #/definitions/A/additionalProperties: expected a schema or true, found boolean"},
        {"{\"items\":[{}]}",
         "2:10: #/definitions/A/items: expected a schema (an object), found array"},
        {"{\"maxItems\":1.5}",
         "2:13: #/definitions/A/maxItems: expected an integer not below 0, found number"},
        {"{\"maxItems\":-1}",
         "2:13: #/definitions/A/maxItems: expected an integer not below 0, found number"},
        {"{\"minimum\":\"0\"}", "2:12: #/definitions/A/minimum: expected a number, found string"},
        {"{\"const\":null}",
         "2:10: #/definitions/A/const: expected a string or an integer, found null"},
        {"{\"enum\":[1]}", "2:10: #/definitions/A/enum/0: expected a string, found number"},
        {"{\"format\":{}}", "2:11: #/definitions/A/format: expected a string, found object"},
        {"{\"$ref\":\"#/definitions/Nobody\"}",
         "2:9: #/definitions/A/$ref: expected a reference to a definition (#/definitions/Name), "
         "found \"#/definitions/Nobody\""},
        {"{\"$ref\":\"other.json#/definitions/A\"}",
         "2:9: #/definitions/A/$ref: expected a reference to a definition (#/definitions/Name), "
         "found \"other.json#/definitions/A\""},
        {"{\"$ref\":\"#/$defs/A\"}",
         "2:9: #/definitions/A/$ref: expected a reference to a definition (#/definitions/Name), "
         "found \"#/$defs/A\""},
        {"{\"$defs\":{}}",
         "2:10: #/definitions/A/$defs: definitions of this dialect stand at the root, in "
         "definitions"},
        {"{]", "2:2: #: expected a string or '}', found ']'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], fault[512];
        snprintf(text, sizeof text, "{" DRAFT_07 "\"definitions\":{\"A\":\n%s}}", cases[i].schema);
        snprintf(fault, sizeof fault, "in.json:%s\n", cases[i].fault);
        assert_fault(text, fault);
    }
}

static void a_dialect_names_where_its_definitions_are(void **state)
{
    (void)state;
    assert_fault("{}", "in.json:1:1: #: expected \"$schema\" with the URI of draft-07 or of "
                       "2020-12\n");
    assert_fault("[]", "in.json:1:1: #: expected \"$schema\" with the URI of draft-07 or of "
                       "2020-12\n");
    assert_fault("{\"$schema\":\"draft-04\"}",
                 "in.json:1:12: #: expected \"$schema\" with the URI of draft-07 or of 2020-12\n");
    assert_fault("{" DRAFT_07 "\"$defs\":{}}",
                 "in.json:1:1: #: expected \"definitions\", as this dialect has it\n");
    assert_fault("{" DRAFT_20 "\"definitions\":{}}",
                 "in.json:1:1: #: expected \"$defs\", as this dialect has it\n");
}

/* ---- the five revisions */

static void read_spec(const char *revision, const char *file, struct buf *out)
{
    char path[128];
    snprintf(path, sizeof path, "spec/%s/%s", revision, file);
    assert_int_equal(file_read(path, out), 0);
}

static void importing_an_imported_file_changes_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < N_REVISIONS; i++) {
        struct buf facts = {0}, again = {0}, fault = {0};
        read_spec(revisions[i], "schema.json", &facts);
        assert_int_equal(import_text("spec", buf_str(&facts), &again, &fault), 0);
        assert_true(str_eq(buf_str(&facts), buf_str(&again)));
        buf_done(&facts);
        buf_done(&again);
        buf_done(&fault);
    }
}

static void assert_same_file(const char *revision, const char *folder, const char *file)
{
    char path[4096];
    struct buf want = {0}, got = {0};
    snprintf(path, sizeof path, "%s/%s/%s", folder, revision, file);
    read_spec(revision, file, &want);
    assert_int_equal(file_read(path, &got), 0);
    assert_true(str_eq(buf_str(&want), buf_str(&got)));
    buf_done(&want);
    buf_done(&got);
}

static int call(const char *const *words)
{
    int n = 0;
    while (words[n])
        n++;
    return import_main(n, (char **)words);
}
#define IMPORT(...) call((const char *const[]){"import", __VA_ARGS__, NULL})

static void remove_outputs(const char *folder)
{
    char path[4096];
    for (int i = 0; i < N_REVISIONS; i++) {
        snprintf(path, sizeof path, "%s/%s/schema.json", folder, revisions[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s/SOURCE", folder, revisions[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s", folder, revisions[i]);
        rmdir(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* twice each: the published file, then the facts, which must leave SOURCE as it was */
static void import_of_each_published_file_reproduces_spec(void **state)
{
    (void)state;
    char folder[] = "/tmp/tenon-import-XXXXXX", name[64];
    if (!shared_path("spec/official"))
        skip();
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < N_REVISIONS; i++) {
        snprintf(name, sizeof name, "spec/official/%s/schema.json", revisions[i]);
        assert_int_equal(IMPORT(shared_path(name), revisions[i], "--out", folder), 0);
        assert_same_file(revisions[i], folder, "schema.json");
        assert_same_file(revisions[i], folder, "SOURCE");
        snprintf(name, sizeof name, "spec/%s/schema.json", revisions[i]);
        assert_int_equal(IMPORT(name, revisions[i], "--out", folder), 0);
        assert_same_file(revisions[i], folder, "schema.json");
        assert_same_file(revisions[i], folder, "SOURCE");
    }
    remove_outputs(folder);
}

static void spec_is_what_the_reference_import_yields(void **state)
{
    (void)state;
    const char *facts = shared_path("spec/facts");
    if (!facts)
        skip();
    for (int i = 0; i < N_REVISIONS; i++)
        assert_same_file(revisions[i], facts, "schema.json");
}

static void a_file_that_did_not_change_is_not_written(void **state)
{
    (void)state;
    char path[] = "/tmp/tenon-file-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct stat before, after;
    assert_int_equal(file_write(path, STR("text")), 0);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(file_write(path, STR("text")), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino);
    assert_int_equal(file_write(path, STR("other")), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino != after.st_ino);
    unlink(path);
}

static void a_wrong_call_is_explained(void **state)
{
    (void)state;
    assert_int_equal(call((const char *const[]){"import", NULL}), 2);
    assert_int_equal(IMPORT("x", "../x"), 2);
    assert_int_equal(IMPORT("x", "2025-06"), 2);
    assert_int_equal(IMPORT("/nonexistent", "2025-06-18"), 1);
    assert_int_equal(IMPORT("spec/2025-06-18/schema.json", "2025-06-18", "--out", "/dev/null/x"),
                     1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotations_go_and_properties_named_like_them_stay),
        cmocka_unit_test(trap_1_a_property_may_be_called_like_any_keyword),
        cmocka_unit_test(definitions_are_sorted_and_other_arrays_are_not),
        cmocka_unit_test(GEN_07_an_unknown_keyword_stops_the_import),
        cmocka_unit_test(a_wrong_value_stops_the_import),
        cmocka_unit_test(a_dialect_names_where_its_definitions_are),
        cmocka_unit_test(importing_an_imported_file_changes_nothing),
        cmocka_unit_test(import_of_each_published_file_reproduces_spec),
        cmocka_unit_test(spec_is_what_the_reference_import_yields),
        cmocka_unit_test(a_file_that_did_not_change_is_not_written),
        cmocka_unit_test(a_wrong_call_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
