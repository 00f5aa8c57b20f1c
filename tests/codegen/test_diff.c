/* tests/codegen/test_diff.c - the diff of two schemas: a small pair by heart, then the published
 * ones.
 *
 * What is known about the published revisions is a list of lines, "Type line" for fields and
 * "section: line" for the rest; each must begin a line of the diff's text.
 */
#include "base/err.h"
#include "codegen/change.h"
#include "codegen/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct arena arena;
static struct changes changes;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct json *load(const char *revision)
{
    char path[64];
    struct json *root = NULL;
    snprintf(path, sizeof path, "spec/%s/schema.json", revision);
    assert_int_equal(json_tree_load(path, &arena, &root, NULL), 0);
    return root;
}

static struct json *parse(const char *text)
{
    struct json *root = NULL;
    assert_int_equal(json_tree_parse(str_of(text), &arena, &root, NULL), 0);
    return root;
}

/* "section: + Type", and for fields "Type + field"; a newline before each line. */
static struct str flatten(struct str text)
{
    struct str section = STR_NONE, type = STR_NONE;
    struct buf flat = {0};
    while (text.n) {
        struct str line = str_cut(&text, '\n'), rest = line;
        if (str_starts_with(line, STR("    "))) {
            rest.p += 4, rest.n -= 4;
            buf_printf(&flat, "\n" STR_FMT " " STR_FMT, STR_ARG(type), STR_ARG(rest));
        } else if (str_starts_with(line, STR("  "))) {
            rest.p += 2, rest.n -= 2;
            buf_printf(&flat, "\n" STR_FMT ": " STR_FMT, STR_ARG(section), STR_ARG(rest));
            str_cut(&rest, ' ');
            type = rest;
        } else {
            section = str_cut(&rest, ':');
        }
    }
    buf_add_char(&flat, '\n');
    struct str kept = arena_str(&arena, buf_str(&flat));
    buf_done(&flat);
    return kept;
}

static struct str diff_text(const char *from, const char *to)
{
    struct buf text = {0};
    assert_int_equal(diff_schemas(load(from), load(to), &arena, &changes), 0);
    change_write_text(&changes, str_of(from), str_of(to), &text);
    assert_false(text.failed);
    struct str flat = flatten(buf_str(&text));
    buf_done(&text);
    return flat;
}

static void assert_lines(struct str text, const char *const *lines)
{
    int n_missing = 0;
    for (; *lines; lines++) {
        char line[256];
        snprintf(line, sizeof line, "\n%s", *lines);
        if (strstr(text.p, line))
            continue;
        n_missing++;
        print_message("# missing: %s\n", *lines);
    }
    assert_int_equal(n_missing, 0);
}
#define ASSERT_LINES(text, ...) assert_lines(text, (const char *const[]){__VA_ARGS__, NULL})

static int count(enum change_subject subject, enum change_kind kind, const char *part)
{
    int n = 0;
    for (const struct change *change = changes.first; change; change = change->next)
        if (change->subject == subject && change->kind == kind)
            n += memmem(change->name.p, change->name.n, part, strlen(part)) != NULL;
    return n;
}

/* Changes of what is required: of fields that both sides have, and new fields that are. */
static int count_required(void)
{
    int n = 0;
    for (const struct change *change = changes.first; change; change = change->next)
        if (change->subject == CHANGE_FIELD && change->to.p)
            n +=
                change->from.p ? change->required_from != change->required_to : change->required_to;
    return n;
}

/* ---- a pair small enough to read */

#define SMALL(definitions) \
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"definitions\":{" definitions "}}"
#define ASK(name, params)                                                                    \
    "\"" name "\":{\"type\":\"object\",\"required\":[\"method\"" params "],\"properties\":{" \
    "\"method\":{\"const\":\"" name "/do\"},\"params\":{\"type\":\"object\",\"properties\":{"

static const char small_old[] = SMALL(
    "\"ClientRequest\":{\"anyOf\":[{\"$ref\":\"#/definitions/Ask\"},{\"$ref\":\"#/definitions/"
    "Gone\"}]}," ASK("Ask", "") "\"a\":{\"type\":\"string\"},\"b\":{\"$ref\":\"#/definitions/"
                                "B\"}}}}}," ASK(
                                    "Gone", "") "}}}},"
                                                "\"B\":{\"type\":\"object\",\"properties\":{\"x\":{"
                                                "\"type\":\"integer\",\"minimum\":0},"
                                                "\"list\":{\"type\":\"array\",\"items\":{\"type\":"
                                                "\"object\",\"properties\":{\"y\":{}}}},"
                                                "\"u\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":"
                                                "\"null\"}]}}},"
                                                "\"Old\":{\"type\":\"object\",\"properties\":{"
                                                "\"p\":{},\"q\":{\"const\":\"k\"}}}");
static const char small_new[] =
    SMALL("\"ClientRequest\":{\"anyOf\":[{\"$ref\":\"#/definitions/Ask\"}]},"
          "\"ServerNotification\":"
          "{\"type\":\"object\",\"required\":[\"method\"],\"properties\":{\"method\":"
          "{\"const\":\"notifications/told\"},\"params\":{}}},"
          "\"Ask\":{\"type\":\"object\",\"required\":[\"method\",\"params\"],\"properties\":{"
          "\"method\":{\"const\":\"Ask/do\"},\"params\":{\"$ref\":\"#/definitions/AskParams\"}}},"
          "\"AskParams\":{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":"
          "\"string\"},\"c/d\":{\"type\":\"boolean\"}}},"
          "\"B\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\",\"minimum\":1},"
          "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"y\":{},"
          "\"z\":{\"enum\":"
          "[\"m\",\"n\"]}}}},"
          "\"u\":{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"string\"}]}}},"
          "\"New\":{\"type\":\"object\",\"properties\":{\"p\":{},\"q\":{\"const\":\"k\"}}}");

static void a_small_pair_is_told_in_full(void **state)
{
    (void)state;
    struct buf text = {0};
    assert_int_equal(diff_schemas(parse(small_old), parse(small_new), &arena, &changes), 0);
    change_write_text(&changes, STR("1"), STR("2"), &text);
    static const char want[] =
        "MCP 1 -> 2\n"
        "\n"
        "client to server: methods\n"
        "  ~ Ask/do (request, params optional -> request, params required)\n"
        "  - Gone/do (request, params optional)\n"
        "\n"
        "client to server: types added, removed, renamed\n"
        "  + AskParams: object {a: string, c/d?: boolean}\n"
        "  - Gone\n"
        "\n"
        "client to server: types changed\n"
        "  ~ ClientRequest\n"
        "    ~ without Gone\n"
        "  ~ Ask\n"
        "    ~ params: object -> AskParams (now required)\n"
        "    ~ params.a: string (now required)\n"
        "    + params.c/d?: boolean\n"
        "    - params.b?: B\n"
        "\n"
        "server to client: methods\n"
        "  + notifications/told (notification, params optional)\n"
        "\n"
        "server to client: types added, removed, renamed\n"
        "  + ServerNotification: object {method: \"notifications/told\", params?: any}\n"
        "\n"
        "in no union of messages: types added, removed, renamed\n"
        "  ~ New (was Old)\n"
        "\n"
        "in no union of messages: types changed\n"
        "  ~ B\n"
        "    + list[].z?: \"m\" | \"n\"\n"
        "    ~ x?: integer(>=0) -> integer(>=1)\n";
    if (!str_eq(buf_str(&text), STR(want)))
        print_message(STR_FMT, STR_ARG(buf_str(&text)));
    assert_true(str_eq(buf_str(&text), STR(want)));
    buf_done(&text);
}

static void json_says_the_same(void **state)
{
    (void)state;
    struct buf text = {0};
    struct json *root = NULL;
    assert_int_equal(diff_schemas(parse(small_old), parse(small_new), &arena, &changes), 0);
    change_write_json(&changes, STR("1"), STR("2"), &text);
    assert_int_equal(json_tree_parse(buf_str(&text), &arena, &root, NULL), 0);
    const struct json *list = json_get(root, STR("changes")), *it = json_first(list);
    uint32_t n = 0;
    for (const struct change *change = changes.first; change;
         change = change->next, it = it->next) {
        bool is_method = change->subject == CHANGE_METHOD;
        assert_non_null(it);
        assert_true(
            str_eq(json_str(json_get(it, is_method ? STR("method") : STR("type"))), change->name));
        assert_true(str_eq(json_str(json_get(it, STR("from"))), change->from));
        assert_true(str_eq(json_str(json_get(it, STR("to"))), change->to));
        assert_int_equal(json_get(it, STR("path")) != NULL, change->subject == CHANGE_FIELD);
        n++;
    }
    assert_int_equal(list->n, n);
    buf_done(&text);
}

static void equal_schemas_have_no_change(void **state)
{
    (void)state;
    struct buf text = {0};
    struct json *root = load("2026-07-28");
    assert_int_equal(diff_schemas(root, root, &arena, &changes), 0);
    assert_null(changes.first);
    change_write_text(&changes, STR("1"), STR("1"), &text);
    assert_true(str_eq(buf_str(&text), STR("MCP 1 -> 1\n\nno change\n")));
    buf_done(&text);
}

static void every_failing_allocation_is_reported_by_diff(void **state)
{
    (void)state;
    struct json *old = parse(small_old), *new = parse(small_new);
    size_t limit = 64;
    int err;
    do {
        struct arena small;
        arena_init(&small, limit);
        err = diff_schemas(old, new, &small, &changes);
        assert_true(err == 0 || err == ERR_NO_MEMORY);
        arena_done(&small);
        limit += 64;
    } while (err);
    assert_true(limit > 1024);
}

/* ---- what is known about the published revisions */

static void diff_2024_11_05_to_2025_03_26(void **state)
{
    (void)state;
    struct str text = diff_text("2024-11-05", "2025-03-26");
    ASSERT_LINES(
        text, "both directions: + Annotations: object {audience?: Role[], priority?:",
        "in no union of messages: - Annotated",
        "both directions: + AudioContent: ", "TextContent ~ annotations?: object -> Annotations",
        "CallToolResult ~ content[]: with AudioContent",
        "PromptMessage ~ content: with AudioContent",
        "SamplingMessage ~ content: with AudioContent",
        "CreateMessageResult ~ content: with AudioContent",
        "server to client: + ToolAnnotations: ", "Tool + annotations?: ToolAnnotations",
        "in no union of messages: + JSONRPCBatchRequest: (JSONRPCRequest | ",
        "in no union of messages: + JSONRPCBatchResponse: (JSONRPCResponse | ",
        "JSONRPCMessage ~ with (JSONRPCRequest | JSONRPCNotification)[] | "
        "(JSONRPCResponse | JSONRPCError)[]",
        "ServerCapabilities + completions?: ", "ProgressNotification + params.message?: string");
    assert_int_equal(count_required(), 0);
    assert_int_equal(count(CHANGE_METHOD, CHANGE_ADDED, ""), 0);
    assert_int_equal(count(CHANGE_TYPE, CHANGE_ADDED, ""), 5);
    assert_int_equal(count(CHANGE_TYPE, CHANGE_REMOVED, ""), 1);
}

static void diff_2025_03_26_to_2025_06_18(void **state)
{
    (void)state;
    struct str text = diff_text("2025-03-26", "2025-06-18");
    ASSERT_LINES(
        text, "in no union of messages: - JSONRPCBatchRequest",
        "in no union of messages: - JSONRPCBatchResponse",
        "client to server: ~ ResourceTemplateReference (was ResourceReference)",
        "in no union of messages: + BaseMetadata: ", "server to client: + ContentBlock: ",
        "server to client: + ResourceLink: ", "server to client: + ElicitRequest: ",
        "client to server: + ElicitResult: ", "server to client: + PrimitiveSchemaDefinition: ",
        "server to client: + StringSchema: ", "server to client: + NumberSchema: ",
        "server to client: + BooleanSchema: ", "server to client: + EnumSchema: ",
        "server to client: + elicitation/create (request, params required)",
        "Implementation + title?: string", "Prompt + title?: string",
        "PromptArgument + title?: string", "PromptReference + title?: string",
        "Resource + title?: string", "ResourceTemplate + title?: string", "Tool + title?: string",
        "TextContent + _meta?: ", "ImageContent + _meta?: ", "AudioContent + _meta?: ",
        "EmbeddedResource + _meta?: ", "Prompt + _meta?: ", "Resource + _meta?: ",
        "ResourceContents + _meta?: ", "ResourceTemplate + _meta?: ", "Root + _meta?: ",
        "Tool + _meta?: ", "Annotations + lastModified?: string",
        "CallToolResult + structuredContent?: ", "Tool + outputSchema?: ",
        "CompleteRequest + params.context?: object {arguments?: map of string}",
        "ClientCapabilities + elicitation?: ", "Request ~ params._meta?: object -> open object",
        "PromptMessage ~ content: TextContent | ImageContent | AudioContent | EmbeddedResource -> "
        "ContentBlock",
        "CallToolResult ~ content[]: TextContent");
    assert_int_equal(count_required(), 0);
}

static void diff_2025_06_18_to_2025_11_25(void **state)
{
    (void)state;
    struct str text = diff_text("2025-06-18", "2025-11-25");
    ASSERT_LINES(
        text, "CallToolRequest + id: RequestId", "CallToolRequest + jsonrpc: \"2.0\"",
        "CallToolRequest ~ params: object -> CallToolRequestParams",
        "CallToolRequest + params._meta?: ", "LoggingMessageNotification + jsonrpc: \"2.0\"",
        "LoggingMessageNotification + params._meta?: ",
        "both directions: ~ JSONRPCErrorResponse (was JSONRPCError)",
        "JSONRPCErrorResponse ~ id?: RequestId (no longer required)",
        "JSONRPCErrorResponse ~ error: object -> Error", "both directions: + Error: ",
        "JSONRPCResponse ~ object {id: RequestId, jsonrpc: \"2.0\", result: Result} -> "
        "JSONRPCResultResponse | JSONRPCErrorResponse",
        "both directions: + Icon: ", "in no union of messages: + Icons: ",
        "both directions: + Task: ", "both directions: + ToolUseContent: ",
        "both directions: + ToolResultContent: ", "server to client: + ToolChoice: ",
        "server to client: + ToolExecution: ", "server to client: + LegacyTitledEnumSchema: ",
        "server to client: + TitledMultiSelectEnumSchema: ",
        "server to client: + TitledSingleSelectEnumSchema: ",
        "server to client: + UntitledMultiSelectEnumSchema: ",
        "server to client: + UntitledSingleSelectEnumSchema: ",
        "server to client: + ElicitRequestFormParams: ",
        "server to client: + ElicitRequestURLParams: ",
        "in no union of messages: + URLElicitationRequiredError: ",
        "server to client: + ElicitationCompleteNotification: ",
        "server to client: + notifications/elicitation/complete (",
        "client to server: + tasks/get (", "server to client: + tasks/get (",
        "client to server: + notifications/tasks/status (", "Implementation + description?: string",
        "Implementation + icons?: Icon[]", "Implementation + websiteUrl?: string<uri>",
        "Prompt + icons?: ", "Resource + icons?: ", "ResourceLink + icons?: ",
        "ResourceTemplate + icons?: ", "Tool + icons?: ", "Tool + execution?: ToolExecution",
        "Tool + inputSchema.$schema?: string", "Tool + outputSchema.$schema?: string",
        "StringSchema + default?: string", "NumberSchema + default?: number",
        "SamplingMessage + _meta?: ",
        "SamplingMessage ~ content: with ToolUseContent | ToolResultContent | "
        "SamplingMessageContentBlock[]",
        "ClientCapabilities + tasks?: ", "ServerCapabilities + tasks?: ",
        "ClientCapabilities ~ sampling?: open object -> object {context?: open object, tools?: ",
        "ClientCapabilities ~ elicitation?: open object -> object {form?: open object, url?: ",
        "CancelledNotification ~ params.requestId?: RequestId (no longer required)",
        "EnumSchema ~ object {");
    assert_int_equal(count(CHANGE_TYPE, CHANGE_REMOVED, ""), 0);
    assert_int_equal(count(CHANGE_METHOD, CHANGE_REMOVED, ""), 0);
}

static void diff_2025_11_25_to_2026_07_28(void **state)
{
    (void)state;
    struct str text = diff_text("2025-11-25", "2026-07-28");
    ASSERT_LINES(
        text, "client to server: - InitializeRequest",
        "client to server: - InitializedNotification", "server to client: - InitializeResult",
        "both directions: - PingRequest", "client to server: - SetLevelRequest",
        "client to server: - SubscribeRequest", "client to server: - UnsubscribeRequest",
        "client to server: - RootsListChangedNotification",
        "server to client: - ElicitationCompleteNotification",
        "in no union of messages: - URLElicitationRequiredError",
        "server to client: - ServerRequest", "both directions: - Task",
        "server to client: - ToolExecution",
        "ClientCapabilities ~ roots?: object {listChanged?: boolean} -> object",
        "ElicitRequestURLParams - elicitationId: string", "ClientCapabilities - tasks?: ",
        "ServerCapabilities - tasks?: ", "client to server: + DiscoverRequest: ",
        "server to client: + DiscoverResult: ", "client to server: + SubscriptionsListenRequest: ",
        "server to client: + SubscriptionsListenResult: ",
        "both directions: + SubscriptionFilter: ", "server to client: + InputRequest: ",
        "client to server: + InputResponse: ", "server to client: + InputRequiredResult: ",
        "in no union of messages: + CacheableResult: ",
        "in no union of messages: + CallToolResultResponse: ",
        "in no union of messages: + ParseError: object {code: -32700",
        "in no union of messages: + InvalidRequestError: object {code: -32600",
        "in no union of messages: + MethodNotFoundError: object {code: -32601",
        "in no union of messages: + InvalidParamsError: object {code: -32602",
        "in no union of messages: + InternalError: object {code: -32603",
        "in no union of messages: + HeaderMismatchError: object {error: Error & object {code: "
        "-32020}",
        "in no union of messages: + MissingRequiredClientCapabilityError: object {error: Error & "
        "object {code: -32021",
        "in no union of messages: + UnsupportedProtocolVersionError: object {error: Error & object "
        "{code: -32022",
        "both directions: + JSONValue: ", "both directions: + JSONObject: ",
        "in no union of messages: + JSONArray: ", "both directions: + MetaObject: ",
        "client to server: + RequestMetaObject: ", "both directions: + NotificationMetaObject: ",
        "both directions: + ResultMetaObject: ",
        "server to client: + SubscriptionsListenResultMetaObject: ",
        "in no union of messages: + ResultType: string",
        "client to server: ~ tools/list (request, params optional -> request, params required)",
        "ListToolsRequest ~ params: PaginatedRequestParams (now required)",
        "CallToolRequestParams ~ _meta: open object -> RequestMetaObject (now required)",
        "CallToolRequestParams + _meta.io.modelcontextprotocol/protocolVersion: string",
        "CallToolRequestParams + _meta.io.modelcontextprotocol/clientCapabilities: ",
        "Result + resultType: string", "CallToolResult + resultType: string",
        "ListToolsResult + ttlMs: integer(>=0)",
        "ListToolsResult + cacheScope: \"private\" | \"public\"",
        "CancelledNotificationParams ~ requestId: RequestId (now required)",
        "CreateMessageRequest - jsonrpc: ", "CreateMessageRequest - id: ",
        "ElicitRequest - jsonrpc: ", "ListRootsRequest - id: ",
        "CreateMessageRequestParams - _meta?: ", "ListRootsResult - _meta?: ",
        "ElicitResult - _meta?: ", "CallToolResult ~ structuredContent?: open object -> any",
        "Tool ~ inputSchema: object -> open object",
        "Tool - inputSchema.properties?: ", "Tool ~ outputSchema?: object -> open object",
        "Tool - outputSchema.type: \"object\"",
        "CompleteResult ~ completion.values: string[] -> string[](at most 100)",
        "ServerCapabilities ~ logging?: open object -> JSONObject",
        "ServerCapabilities + extensions?: map of JSONObject",
        "ClientCapabilities + extensions?: map of JSONObject",
        "server to client: - sampling/createMessage (",
        "in no union of messages: + sampling/createMessage (",
        "client to server: - notifications/progress (");
    int n_cacheable = 0;
    for (const struct change *change = changes.first; change; change = change->next)
        n_cacheable += change->subject == CHANGE_FIELD && str_eq(change->path, STR("ttlMs"));
    assert_int_equal(n_cacheable + 1, 6); /* five changed results, and DiscoverResult is new */
}

static int call(const char *const *words)
{
    int n = 0;
    while (words[n])
        n++;
    return diff_main(n, (char **)words);
}
#define DIFF(...) call((const char *const[]){"diff", __VA_ARGS__, NULL})

static void a_wrong_call_of_diff_is_explained(void **state)
{
    (void)state;
    assert_int_equal(DIFF("2025-06-18"), 2);
    assert_int_equal(DIFF("2025-06-18", "2025-11-25", "2026-07-28"), 2);
    assert_int_equal(DIFF("2025-06-18", "2025-11-25", "--xml"), 2);
    assert_int_equal(DIFF("2025-06-18", "2025-11-25", "--spec"), 2);
    assert_int_equal(DIFF("2025-06-18", "1999-01-01"), 1);
    assert_int_equal(DIFF("2025-06-18", "2025-11-25", "--spec", "/nonexistent"), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_small_pair_is_told_in_full),      TEST(json_says_the_same),
        TEST(equal_schemas_have_no_change),      TEST(every_failing_allocation_is_reported_by_diff),
        TEST(diff_2024_11_05_to_2025_03_26),     TEST(diff_2025_03_26_to_2025_06_18),
        TEST(diff_2025_06_18_to_2025_11_25),     TEST(diff_2025_11_25_to_2026_07_28),
        TEST(a_wrong_call_of_diff_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
