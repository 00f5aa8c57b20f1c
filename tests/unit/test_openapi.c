/* tests/unit/test_openapi.c - tenon://openapi is OpenAPI 3.1: its structure by a schema that says
 * what OpenAPI 3.1.0 (4.8) says of the objects in use, every reference, every schema. */
#include "base/err.h"
#include "core/core_state.h"
#include "core/openapi.h"
#include "tests/unit/ask.h"

static const char openapi_3_1[] =
    "{\"type\":\"object\",\"required\":[\"openapi\",\"info\",\"paths\",\"components\"],"
    "\"properties\":{\"openapi\":{\"pattern\":\"^3\\\\.1\\\\.\\\\d+$\"},\"info\":{\"type\":"
    "\"object\","
    "\"required\":[\"title\",\"version\"],\"properties\":{\"title\":{\"type\":\"string\"},"
    "\"version\":{"
    "\"type\":\"string\"},\"description\":{\"type\":\"string\"}},\"additionalProperties\":false},"
    "\"jsonSchemaDialect\":{\"type\":\"string\",\"format\":\"uri\"},\"paths\":{\"type\":\"object\","
    "\"patternProperties\":{\"^/\":{\"$ref\":\"#/$defs/path\"}},\"additionalProperties\":false},"
    "\"components\":{\"type\":\"object\",\"properties\":{\"schemas\":{\"type\":\"object\","
    "\"propertyNames\":{\"pattern\":\"^[a-zA-Z0-9._-]+$\"},\"additionalProperties\":{\"type\":["
    "\"object\","
    "\"boolean\"]}}},\"additionalProperties\":false}},\"patternProperties\":{\"^x-\":true},"
    "\"additionalProperties\":false,\"$defs\":{\"path\":{\"type\":\"object\",\"properties\":{"
    "\"post\":{"
    "\"$ref\":\"#/$defs/"
    "operation\"}},\"additionalProperties\":false},\"operation\":{\"type\":\"object\","
    "\"properties\":{\"operationId\":{\"type\":\"string\"},\"summary\":{\"type\":\"string\"},"
    "\"description\":{\"type\":\"string\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":"
    "\"string\"}},"
    "\"requestBody\":{\"type\":\"object\",\"required\":[\"content\"],\"properties\":{\"required\":{"
    "\"type\":"
    "\"boolean\"},\"content\":{\"$ref\":\"#/$defs/content\"}},\"additionalProperties\":false},"
    "\"responses\":{\"type\":\"object\",\"minProperties\":1,\"patternProperties\":{\"^[1-5]"
    "\\\\d\\\\d$\":{"
    "\"type\":\"object\",\"required\":[\"description\"],\"properties\":{\"description\":{\"type\":"
    "\"string\"},\"content\":{\"$ref\":\"#/$defs/content\"}},\"additionalProperties\":false}},"
    "\"additionalProperties\":false}},\"required\":[\"operationId\",\"requestBody\",\"responses\"],"
    "\"additionalProperties\":false},\"content\":{\"type\":\"object\",\"minProperties\":1,"
    "\"propertyNames\":{\"pattern\":\"^[^/]+/[^/"
    "]+$\"},\"additionalProperties\":{\"type\":\"object\","
    "\"properties\":{\"schema\":{\"type\":\"object\",\"properties\":{\"$ref\":{\"pattern\":"
    "\"^#/components/schemas/"
    "\"}},\"required\":[\"$ref\"],\"additionalProperties\":false}},\"required\":["
    "\"schema\"],\"additionalProperties\":false}}}}";

static struct arena arena;

static int open_two_tables(void **state)
{
    arena_init(&arena, 64u << 20);
    return open_shop(state);
}

static int close_tables(void **state)
{
    arena_done(&arena);
    return close_bench(state);
}

/* The document that the last answer holds as text. */
static const struct tape_node *open_document(void)
{
    const struct tape_node *contents =
        tape_get(tape_get(open_json(&arena, buf_str(&bench.body)), STR("result")), STR("contents"));
    assert_non_null(contents);
    return open_json(&arena, tape_str(tape_get(contents + 1, STR("text"))));
}

static const struct tape_node *read_document(void)
{
    ask_method(&bench, "resources/read", "{\"uri\":\"tenon://openapi\"}",
               "{\"contents\":[{\"uri\":\"tenon://openapi\",\"mimeType\":\"application/json\"}]}");
    return open_document();
}

static const struct json_schema *compile(const struct tape_node *schema)
{
    const struct json_schema *compiled = NULL;
    struct schema_faults faults;
    if (json_schema_compile(schema, NULL, &arena, &compiled, &faults) < 0)
        fail_msg("%s: %s, expected %s", faults.v[0].pointer, faults.v[0].keyword,
                 faults.v[0].expected);
    return compiled;
}

static void check(const struct tape_node *schema, const struct tape_node *value)
{
    struct schema_faults faults;
    if (json_schema_check(compile(schema), value, &faults) < 0)
        fail_msg("%s: %s, expected %s", faults.v[0].pointer, faults.v[0].keyword,
                 faults.v[0].expected);
}

static const struct tape_node *path(const struct tape_node *document, const char *name)
{
    const struct tape_node *item = tape_get(tape_get(document, STR("paths")), str_of(name));
    assert_non_null(item);
    return tape_get(item, STR("post"));
}

/* The schema that content refers to. */
static const struct tape_node *schema_of(const struct tape_node *document,
                                         const struct tape_node *holder)
{
    const struct tape_node *ref =
        tape_get(tape_get(tape_get(tape_get(holder, STR("content")), STR("application/json")),
                          STR("schema")),
                 STR("$ref"));
    struct str name = tape_str(ref), before = STR("#/components/schemas/");
    assert_true(str_starts_with(name, before));
    const struct tape_node *schema =
        tape_get(tape_get(tape_get(document, STR("components")), STR("schemas")),
                 (struct str){name.p + before.n, name.n - before.n});
    assert_non_null(schema);
    return schema;
}

static const struct tape_node *answer_of(const struct tape_node *document,
                                         const struct tape_node *post)
{
    return schema_of(document, tape_get(tape_get(post, STR("responses")), STR("200")));
}

static void check_document(const struct tape_node *document, uint32_t n_paths)
{
    uint32_t n = 0;
    check(open_json(&arena, STR(openapi_3_1)), document);
    tape_each (tape_get(document, STR("paths")), name, item) {
        const struct tape_node *post = tape_get(item, STR("post"));
        compile(schema_of(document, tape_get(post, STR("requestBody"))));
        compile(answer_of(document, post));
        n++;
    }
    assert_int_equal(n, n_paths);
}

static void it_is_listed_on_both_profiles(void **state)
{
    ask_method(
        *state, "resources/list", "",
        "{\"resources\":[\"*\",\"*\",{\"uri\":\"tenon://about\"},{\"uri\":\"tenon://openapi\","
        "\"mimeType\":\"application/json\"},\"...\"]}");
    bench.profile = PROFILE_OPERATIONS;
    bench_connect(*state, "2025-06-18");
    ask_method(*state, "resources/list", "",
               "{\"resources\":[{\"uri\":\"tenon://about\"},{\"uri\":\"tenon://openapi\"},{\"uri\":"
               "\"tenon://operations\"}]}");
    check_document(read_document(), 10);
}

static void it_has_the_structure_of_OpenAPI_3_1(void **state)
{
    (void)state;
    check_document(read_document(), 10);
}

/* What a tool takes and gives is what the document says. */
static void its_schemas_are_those_of_the_tools(void **state)
{
    (void)state;
    const struct tape_node *document = read_document();
    const struct tape_node *get = path(document, "/shop/book/get");
    assert_true(is_text(tape_get(get, STR("operationId")), "get_book"));
    assert_true(fits(open_json(&arena, STR("{\"properties\":{\"id\":{\"type\":\"integer\"}},"
                                           "\"required\":[\"id\"]}")),
                     schema_of(document, tape_get(get, STR("requestBody")))));
    /* get, create and update give the same: one component */
    assert_ptr_equal(answer_of(document, get),
                     answer_of(document, path(document, "/shop/book/update")));
    ask_method(&bench, "tools/call", "{\"name\":\"search_book\",\"arguments\":{\"limit\":1}}",
               "{}");
    const struct tape_node *result =
        tape_get(open_json(&arena, buf_str(&bench.body)), STR("result"));
    check(answer_of(document, path(document, "/shop/book/search")),
          tape_get(result, STR("structuredContent")));
}

static void a_table_that_is_dropped_is_gone(void **state)
{
    (void)state;
    bench_write(&bench,
                (struct store_op){.kind = STORE_DROP_TABLE, .if_version = STORE_ANY, .table = 1});
    const struct tape_node *document = read_document();
    check_document(document, 5);
    assert_null(strstr(bench.body.p, "book"));
}

static void without_tables_it_is_a_document_too(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= 2; i++)
        bench_write(&bench, (struct store_op){
                                .kind = STORE_DROP_TABLE, .if_version = STORE_ANY, .table = i});
    check_document(read_document(), 0);
}

/* References within a row's schema keep to it. */
static void a_reference_within_a_schema_still_finds_its_target(void **state)
{
    (void)state;
    bench_table(
        &bench, "shop", "part",
        "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":"
        "\"integer\"},\"next\":{\"$ref\":\"#/$defs/size\"}},\"$defs\":{\"size\":{\"type\":"
        "\"object\",\"properties\":{\"w\":{\"type\":\"integer\"}}}}}}");
    const struct tape_node *document = read_document();
    check_document(document, 15);
    const struct tape_node *row = answer_of(document, path(document, "/shop/part/get"));
    assert_true(is_text(tape_get(row, STR("$id")), "tenon://openapi/get_part_output"));
    assert_non_null(tape_get(row, STR("$defs")));
    check(row, open_json(&arena, STR("{\"id\":1,\"next\":{\"w\":2}}")));
    assert_int_equal(json_schema_check(compile(row),
                                       open_json(&arena, STR("{\"id\":1,\"next\":{\"w\":\"x\"}}")),
                                       NULL),
                     ERR_PARAMS);
}

/* The size is bounded: what does not fit is counted. */
static void tables_beyond_the_size_are_counted(void **state)
{
    struct buf text = {0};
    (void)state;
    read_document(); /* so that there is a catalog */
    assert_int_equal(openapi_write(bench.core->catalog, 2000, NULL, &text), 0);
    const struct tape_node *document = open_json(&arena, buf_str(&text));
    check_document(document, 0);
    assert_int_equal(tape_get(document, STR("x-omitted-tables"))->v.i, 2);
    buf_done(&text);
}

static void C_03_it_is_not_written_for_a_call_that_was_cancelled(void **state)
{
    struct buf text = {0};
    const _Atomic int stop = ERR_CANCELLED;
    (void)state;
    read_document();
    assert_int_equal(openapi_write(bench.core->catalog, 0, &stop, &text), ERR_CANCELLED);
    assert_int_equal(text.n, 0);
    buf_done(&text);
}

#define OPENAPI_TEST(f) cmocka_unit_test_setup_teardown(f, open_two_tables, close_tables)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPENAPI_TEST(it_is_listed_on_both_profiles),
        OPENAPI_TEST(C_03_it_is_not_written_for_a_call_that_was_cancelled),
        OPENAPI_TEST(it_has_the_structure_of_OpenAPI_3_1),
        OPENAPI_TEST(its_schemas_are_those_of_the_tools),
        OPENAPI_TEST(a_table_that_is_dropped_is_gone),
        OPENAPI_TEST(without_tables_it_is_a_document_too),
        OPENAPI_TEST(a_reference_within_a_schema_still_finds_its_target),
        OPENAPI_TEST(tables_beyond_the_size_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
