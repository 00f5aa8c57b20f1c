/* tests/unit/test_traps.c - the traps of the published schemas, by their numbers in
 * acceptance/SCHEMA.md section 4, as the generated tables settle them. Traps 19 and 20 are the
 * generator's: tests/codegen/refusals.sh.
 */
#include "generated/edges.h"
#include "generated/methods.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LEGACY    MCP_2025_03_26
#define CLASSIC   MCP_2025_06_18
#define TASKS     MCP_2025_11_25
#define STATELESS MCP_2026_07_28
#define DEF(name) MCP_DEFINITION_##name

static struct arena arena;

static struct str padded(const char *json)
{
    size_t n = strlen(json);
    char *copy = arena_zalloc(&arena, n + JSON_PADDING_BYTES);
    assert_non_null(copy);
    memcpy(copy, json, n);
    return (struct str){copy, (uint32_t)n};
}

static void accepts(enum mcp_revision revision, enum mcp_definition definition, const char *json)
{
    struct wire_fault fault = {0};
    int err = mcp_check(revision, definition, padded(json), &fault);
    if (err)
        print_error("%s: %s at %s: %s\n", mcp_revision_name(revision),
                    wire_reason_name(fault.reason), fault.pointer, json);
    assert_int_equal(err, 0);
}

static void refuses(enum mcp_revision revision, enum mcp_definition definition, const char *json,
                    enum wire_reason reason, const char *pointer)
{
    struct wire_fault fault = {0};
    assert_int_equal(mcp_check(revision, definition, padded(json), &fault), ERR_PARAMS);
    assert_string_equal(fault.pointer, pointer);
    assert_int_equal(fault.reason, reason);
}

static bool has_definition(enum mcp_revision revision, const char *name)
{
    for (int d = 0; d < MCP_DEFINITIONS; d++) {
        const struct wire_definition *definition = &mcp_definitions(revision)[d];
        if (definition->type && strcmp(definition->name, name) == 0)
            return true;
    }
    return false;
}

static void trap_01_members_called_like_keywords(void **state)
{
    (void)state;
    struct mcp_prompt_argument argument;
    assert_int_equal(mcp_parse_prompt_argument(
                         CLASSIC, padded("{\"name\":\"a\",\"required\":true,\"title\":\"t\"}"),
                         &arena, &argument, NULL),
                     0);
    assert_true(argument.has_required && argument.required && argument.has_title);
    refuses(CLASSIC, DEF(PROMPT_ARGUMENT), "{\"name\":\"a\",\"required\":[\"x\"]}", WIRE_TYPE,
            "/required");
}

static void trap_02_meta_of_every_request(void **state)
{
    (void)state;
    struct mcp_call_tool_request_params params;
    const struct wire_type *type = mcp_method_row(CLASSIC, MCP_TOOLS_CALL)->params;
    struct str text = padded("{\"name\":\"t\",\"_meta\":{\"progressToken\":7,\"x\":1}}");
    assert_int_equal(wire_parse(type, text, &arena, &params, NULL), 0);
    assert_true(params.has_meta && params.meta->has_progress_token);
    assert_true(str_eq(params.meta->progress_token, STR("7")));
    struct wire_fault fault;
    assert_int_equal(wire_check(type, padded("{\"name\":\"t\",\"_meta\":5}"), &fault), ERR_PARAMS);
    assert_string_equal(fault.pointer, "/_meta");
}

static void trap_03_envelope_members_come_and_go(void **state)
{
    (void)state;
    const char *bare = "{\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}";
    const char *root = "{\"method\":\"roots/list\"}";
    accepts(CLASSIC, DEF(CALL_TOOL_REQUEST), bare);
    refuses(TASKS, DEF(CALL_TOOL_REQUEST), bare, WIRE_REQUIRED, "/id");
    refuses(TASKS, DEF(LIST_ROOTS_REQUEST), root, WIRE_REQUIRED, "/id");
    accepts(STATELESS, DEF(LIST_ROOTS_REQUEST), root);
}

static void trap_04_alternatives_are_chosen_not_tried(void **state)
{
    (void)state;
    refuses(CLASSIC, DEF(CONTENT_BLOCK), "{\"type\":\"text\"}", WIRE_REQUIRED, "/text");
    refuses(CLASSIC, DEF(CONTENT_BLOCK), "{\"type\":\"video\",\"text\":\"\"}", WIRE_CHOICE,
            "/type");
    refuses(CLASSIC, DEF(CONTENT_BLOCK), "{\"text\":\"\"}", WIRE_REQUIRED, "/type");
    assert_false(has_definition(CLASSIC, "ClientResult"));
    assert_false(has_definition(CLASSIC, "ServerResult"));
}

static void trap_05_number_that_became_integer(void **state)
{
    (void)state;
    for (int r = CLASSIC; r <= STATELESS; r++) {
        accepts((enum mcp_revision)r, DEF(ELICIT_RESULT),
                "{\"action\":\"accept\",\"content\":{\"x\":1.5}}");
        accepts((enum mcp_revision)r, DEF(NUMBER_SCHEMA),
                "{\"type\":\"number\",\"minimum\":0.5,\"maximum\":1.5}");
        accepts((enum mcp_revision)r, DEF(CLIENT_CAPABILITIES),
                "{\"experimental\":{\"x\":{\"a\":1.5,\"b\":null}}}");
        refuses((enum mcp_revision)r, DEF(CLIENT_CAPABILITIES), "{\"experimental\":{\"x\":1.5}}",
                WIRE_TYPE, "/experimental/x");
    }
    accepts(STATELESS, DEF(JSON_VALUE), "null");
    refuses(STATELESS, DEF(JSON_OBJECT), "[]", WIRE_TYPE, "");
}

static void trap_06_tokens_keep_their_text(void **state)
{
    (void)state;
    static const char *const tokens[] = {"1.0", "1e2", "\"1\"", "123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        struct str token;
        assert_int_equal(mcp_parse_progress_token(CLASSIC, padded(tokens[i]), &arena, &token, NULL),
                         0);
        assert_true(str_eq(token, str_of(tokens[i])));
    }
    refuses(CLASSIC, DEF(PROGRESS_TOKEN), "1.5", WIRE_TYPE, "");
    refuses(CLASSIC, DEF(REQUEST_ID), "null", WIRE_TYPE, "");
}

static void trap_07_params_are_objects_and_optional_where_listed(void **state)
{
    (void)state;
    accepts(CLASSIC, DEF(LIST_TOOLS_REQUEST), "{\"method\":\"tools/list\"}");
    refuses(CLASSIC, DEF(LIST_TOOLS_REQUEST), "{\"method\":\"tools/list\",\"params\":[]}",
            WIRE_TYPE, "/params");
    refuses(CLASSIC, DEF(LIST_TOOLS_REQUEST), "{\"method\":\"tools/list\",\"params\":null}",
            WIRE_TYPE, "/params");
    assert_false(mcp_method_row(CLASSIC, MCP_TOOLS_LIST)->flags & MCP_PARAMS_REQUIRED);
    assert_true(mcp_method_row(CLASSIC, MCP_TOOLS_CALL)->flags & MCP_PARAMS_REQUIRED);
    assert_true(mcp_method_row(STATELESS, MCP_TOOLS_LIST)->flags & MCP_PARAMS_REQUIRED);
}

static void trap_08_null_is_a_value_in_one_place_only(void **state)
{
    (void)state;
    accepts(TASKS, DEF(TASK),
            "{\"createdAt\":\"\",\"lastUpdatedAt\":\"\",\"status\":\"working\",\"taskId\":\"1\","
            "\"ttl\":null}");
    refuses(CLASSIC, DEF(LIST_TOOLS_RESULT), "{\"tools\":[],\"nextCursor\":null}", WIRE_TYPE,
            "/nextCursor");
}

static void trap_09_batches_have_no_table(void **state)
{
    (void)state;
    assert_false(has_definition(LEGACY, "JSONRPCBatchRequest"));
    assert_false(has_definition(LEGACY, "JSONRPCMessage"));
}

static void trap_10_levels_in_their_order(void **state)
{
    (void)state;
    static const char *const levels[] = {"\"debug\"",   "\"info\"",     "\"notice\"",
                                         "\"warning\"", "\"error\"",    "\"critical\"",
                                         "\"alert\"",   "\"emergency\""};
    for (int i = 0; i < 8; i++)
        for (int r = 0; r < MCP_REVISIONS; r++) {
            enum mcp_logging_level level;
            assert_int_equal(mcp_parse_logging_level((enum mcp_revision)r, padded(levels[i]),
                                                     &arena, &level, NULL),
                             0);
            assert_int_equal(level, i);
        }
}

static void trap_11_results_of_methods(void **state)
{
    (void)state;
    assert_ptr_equal(mcp_method_row(CLASSIC, MCP_PING)->result->of.message,
                     mcp_type(CLASSIC, DEF(RESULT))->of.message);
    assert_ptr_equal(mcp_method_row(CLASSIC, MCP_TOOLS_CALL)->result->of.message,
                     mcp_type(CLASSIC, DEF(CALL_TOOL_RESULT))->of.message);
    assert_null(mcp_method_row(CLASSIC, MCP_NOTIFICATIONS_INITIALIZED)->result);
    assert_null(mcp_method_row(STATELESS, MCP_INITIALIZE));
}

static void trap_12_what_is_prose_is_not_checked(void **state)
{
    (void)state;
    accepts(STATELESS, DEF(INPUT_REQUIRED_RESULT), "{\"resultType\":\"banana\"}");
}

static const struct wire_row *row_of(enum mcp_revision revision, enum mcp_definition definition,
                                     const char *key)
{
    const struct wire_message *message = mcp_type(revision, definition)->of.message;
    for (unsigned i = 0; i < message->n_rows; i++)
        if (strncmp(message->rows[i].name + 1, key, message->rows[i].key_len) == 0 &&
            strlen(key) == message->rows[i].key_len)
            return &message->rows[i];
    fail_msg("no row %s", key);
    return NULL;
}

static void trap_13_limits_and_formats(void **state)
{
    (void)state;
    accepts(CLASSIC, DEF(ANNOTATIONS), "{\"priority\":1}");
    refuses(CLASSIC, DEF(ANNOTATIONS), "{\"priority\":1.5}", WIRE_RANGE, "/priority");
    refuses(CLASSIC, DEF(ANNOTATIONS), "{\"priority\":-0.1}", WIRE_RANGE, "/priority");
    assert_int_equal(row_of(CLASSIC, DEF(RESOURCE), "uri")->type.format, WIRE_URI);
    assert_int_equal(row_of(CLASSIC, DEF(RESOURCE_TEMPLATE), "uriTemplate")->type.format,
                     WIRE_URI_TEMPLATE);
    assert_int_equal(row_of(CLASSIC, DEF(BLOB_RESOURCE_CONTENTS), "blob")->type.format, WIRE_BYTE);
    assert_int_equal(row_of(STATELESS, DEF(COMPLETE_RESULT), "completion")
                         ->type.of.message->rows[2]
                         .type.max_items,
                     100);
}

static void trap_14_tool_schemas_stay_as_they_came(void **state)
{
    (void)state;
    const char *json = "{\"inputSchema\":{\"type\": \"object\", \"$defs\":{}, "
                       "\"properties\":{\"a\":{\"minimum\":1.50}}},\"name\":\"t\"}";
    const char *loose = "{\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":true}},"
                        "\"name\":\"t\"}";
    struct mcp_tool tool;
    struct buf out = {0};
    assert_int_equal(mcp_parse_tool(CLASSIC, padded(json), &arena, &tool, NULL), 0);
    assert_int_equal(mcp_write_tool(CLASSIC, &tool, &out), 0);
    assert_true(str_eq(buf_str(&out), str_of(json)));
    buf_done(&out);
    refuses(CLASSIC, DEF(TOOL), "{\"inputSchema\":{\"type\":\"array\"},\"name\":\"t\"}",
            WIRE_CHOICE, "/inputSchema/type");
    refuses(TASKS, DEF(TOOL), loose, WIRE_TYPE, "/inputSchema/properties/a");
    accepts(STATELESS, DEF(TOOL), loose);
}

static void trap_15_union_of_one_is_inlined(void **state)
{
    (void)state;
    assert_true(mcp_method_row(STATELESS, MCP_NOTIFICATIONS_CANCELLED)->from_client);
    assert_false(mcp_method_row(STATELESS, MCP_NOTIFICATIONS_PROGRESS)->from_client);
    assert_true(mcp_method_row(CLASSIC, MCP_NOTIFICATIONS_PROGRESS)->from_client);
}

static void trap_16_unreferenced_definitions(void **state)
{
    (void)state;
    accepts(CLASSIC, DEF(BASE_METADATA), "{\"name\":\"n\"}");
    assert_false(has_definition(CLASSIC, "ClientRequest"));
    assert_false(has_definition(CLASSIC, "PaginatedRequest"));
}

static void trap_17_one_name_two_shapes(void **state)
{
    (void)state;
    assert_true(has_definition(CLASSIC, "EnumSchema"));
    assert_true(has_definition(TASKS, "EnumSchema"));
    refuses(CLASSIC, DEF(LEGACY_TITLED_ENUM_SCHEMA), "{\"type\":\"string\"}", WIRE_REQUIRED,
            "/enum");
    accepts(TASKS, DEF(ENUM_SCHEMA), "{\"type\":\"array\",\"items\":{\"anyOf\":[]}}");
    accepts(TASKS, DEF(ENUM_SCHEMA),
            "{\"type\":\"array\",\"items\":{\"enum\":[],\"type\":\"string\"}}");
    refuses(TASKS, DEF(ENUM_SCHEMA), "{\"type\":\"array\",\"items\":{}}", WIRE_VARIANT, "/items");
    accepts(LEGACY, DEF(COMPLETE_REQUEST),
            "{\"method\":\"completion/complete\",\"params\":{\"argument\":{\"name\":\"\",\"value\":"
            "\"\"},\"ref\":{\"type\":\"ref/resource\",\"uri\":\"x\"}}}");
}

static void trap_18_names_with_slashes(void **state)
{
    (void)state;
    const char *json = "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                       "\"io.modelcontextprotocol/clientCapabilities\":{}}}";
    struct mcp_request_params params;
    assert_int_equal(mcp_parse_request_params(STATELESS, padded(json), &arena, &params, NULL), 0);
    assert_true(str_eq(params.meta->protocol_version, STR("2026-07-28")));
    refuses(STATELESS, DEF(REQUEST_PARAMS),
            "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":5}}", WIRE_TYPE,
            "/_meta/io.modelcontextprotocol~1protocolVersion");
}

static void trap_21_integers_without_a_bound(void **state)
{
    (void)state;
    struct mcp_resource resource;
    assert_int_equal(
        mcp_parse_resource(CLASSIC,
                           padded("{\"name\":\"\",\"uri\":\"db:u\",\"size\":9223372036854775807}"),
                           &arena, &resource, NULL),
        0);
    assert_true(resource.size == INT64_MAX);
    refuses(CLASSIC, DEF(RESOURCE), "{\"name\":\"\",\"uri\":\"db:u\",\"size\":9223372036854775808}",
            WIRE_RANGE, "/size");
    refuses(STATELESS, DEF(CACHEABLE_RESULT),
            "{\"cacheScope\":\"public\",\"resultType\":\"\",\"ttlMs\":-1}", WIRE_RANGE, "/ttlMs");
}

static void trap_22_structured_content(void **state)
{
    (void)state;
    const char *list = "{\"content\":[],\"structuredContent\":[1],\"resultType\":\"complete\"}";
    struct mcp_call_tool_result result;
    struct buf out = {0};
    refuses(CLASSIC, DEF(CALL_TOOL_RESULT), list, WIRE_TYPE, "/structuredContent");
    refuses(TASKS, DEF(CALL_TOOL_RESULT), list, WIRE_TYPE, "/structuredContent");
    assert_int_equal(mcp_parse_call_tool_result(STATELESS, padded(list), &arena, &result, NULL), 0);
    assert_int_equal(mcp_write_call_tool_result(LEGACY, &result, &out), 0);
    assert_true(str_eq(buf_str(&out), STR("{\"content\":[]}")));
    buf_done(&out);
}

static int open_arena(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_01_members_called_like_keywords),
        cmocka_unit_test(trap_02_meta_of_every_request),
        cmocka_unit_test(trap_03_envelope_members_come_and_go),
        cmocka_unit_test(trap_04_alternatives_are_chosen_not_tried),
        cmocka_unit_test(trap_05_number_that_became_integer),
        cmocka_unit_test(trap_06_tokens_keep_their_text),
        cmocka_unit_test(trap_07_params_are_objects_and_optional_where_listed),
        cmocka_unit_test(trap_08_null_is_a_value_in_one_place_only),
        cmocka_unit_test(trap_09_batches_have_no_table),
        cmocka_unit_test(trap_10_levels_in_their_order),
        cmocka_unit_test(trap_11_results_of_methods),
        cmocka_unit_test(trap_12_what_is_prose_is_not_checked),
        cmocka_unit_test(trap_13_limits_and_formats),
        cmocka_unit_test(trap_14_tool_schemas_stay_as_they_came),
        cmocka_unit_test(trap_15_union_of_one_is_inlined),
        cmocka_unit_test(trap_16_unreferenced_definitions),
        cmocka_unit_test(trap_17_one_name_two_shapes),
        cmocka_unit_test(trap_18_names_with_slashes),
        cmocka_unit_test(trap_21_integers_without_a_bound),
        cmocka_unit_test(trap_22_structured_content),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
