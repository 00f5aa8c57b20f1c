/* tests/unit/test_audit.c - lines of the audit: what they hold, and above all what they do not. */
#include "base/limits.h"
#include "core/audit.h"
#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* ---- Redaction (acceptance REFERENCE a.13 and its vectors) ------------------------------------
 */

/* Ten objects, one in the other, around a value: of these it is at depth 10. */
#define DEEP(value) \
    "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":{\"i\":{\"j\":" value "}}}}}}}}}}"
#define TOKEN "tenon_0123456789abcdefghijABCDEFGHIJ-_012345678ab"
#define JWT   "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl"

static const struct {
    const char *args, *wanted;
} vectors[] = {
    {"{}", "{}"},
    {"{ \"id\" : 7 ,\n\t\"x\" : [ 1.5e3 , true , null , \"\" ] }",
     "{\"id\":7,\"x\":[1.5e3,true,null,\"\"]}"},
    {"{\"secret\":1}", "{\"secret\":\"[redacted]\"}"},
    {"{\"clientSecretHash\":{\"a\":[1,{\"b\":\"}\"}]},\"id\":1}",
     "{\"clientSecretHash\":\"[redacted]\",\"id\":1}"},
    {"{\"PASSWORD\":\"p\",\"passWordOld\":[\"q\"]}",
     "{\"PASSWORD\":\"[redacted]\",\"passWordOld\":\"[redacted]\"}"},
    {"{\"accessToken\":\"t\"}", "{\"accessToken\":\"[redacted]\"}"},
    {"{\"api-key\":1,\"API_KEY\":2,\"xApiKey\":3,\"api key\":4}",
     "{\"api-key\":\"[redacted]\",\"API_KEY\":\"[redacted]\",\"xApiKey\":\"[redacted]\",\"api "
     "key\":4}"},
    {"{\"credential\":1,\"Credentials\":2}",
     "{\"credential\":\"[redacted]\",\"Credentials\":\"[redacted]\"}"},
    {"{\"Authorization\":\"x\",\"author\":\"y\"}",
     "{\"Authorization\":\"[redacted]\",\"author\":\"[redacted]\"}"},
    {"{\"value\":1,\"values\":[2],\"envelope\":{},\"Value\":3}",
     "{\"value\":\"[redacted]\",\"values\":\"[redacted]\",\"envelope\":\"[redacted]\",\"Value\":"
     "\"[redacted]\"}"},
    {"{\"valued\":1,\"envelopes\":2,\"pass\":3,\"key\":4}",
     "{\"valued\":1,\"envelopes\":2,\"pass\":3,\"key\":4}"},
    {"{\"p\\u0061ssword\":\"x\"}", "{\"password\":\"[redacted]\"}"},
    {"[{\"row\":{\"token\":\"x\",\"n\":1}}]", "[{\"row\":{\"token\":\"[redacted]\",\"n\":1}}]"},
    {DEEP("1"), DEEP("1")},
    {DEEP("{\"k\":1}"), DEEP("{\"k\":\"[redacted]\"}")},
    {DEEP("[[1,2],\"x\"]"), DEEP("[\"[redacted]\",\"[redacted]\"]")},
    /* texts */
    {"{\"a\":\"x " TOKEN "\"}", "{\"a\":\"[redacted]\"}"},
    {"{\"a\":\"\\u0074enon"
     "_0123456789abcdefghijABCDEFGHIJ-_012345678ab\"}",
     "{\"a\":\"[redacted]\"}"},
    {"{\"" TOKEN "\":1}", "{\"[redacted]\":1}"},
    {"[\"Bearer " JWT "\"]", "[\"[redacted]\"]"},
    {"[\"tenon_short\",\"eyJ.a.b\"]", "[\"tenon_short\",\"eyJ.a.b\"]"},
    {"[\"a\\\"b\\\\c\\n\\u0000\\ud83d\\ude00\"]", "[\"a\\\"b\\\\c\\n\\u0000\\ud83d\\ude00\"]"},
    {"[\"\xe2\x80\xa8\xe2\x80\xa9\x7f\xc2\x85\xc3\xa4\"]",
     "[\"\\u2028\\u2029\\u007f\\u0085\xc3\xa4\"]"},
    {"[\"\xff\xc0\xaf\xed\xa0\x80\"]", "[\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"]"},
    {"[\"\n\r\x01\"]", "[\"\\u000a\\u000d\\u0001\"]"},
    /* what is broken ends in good order */
    {"", "\"[cut]\""},
    {"{\"a\":", "{\"a\":\"[cut]\"}"},
    {"{\"a\":[1,{\"b\":\"x", "{\"a\":[1,{\"b\":\"[cut]\"}]}"},
    {"{\"secret\":\"x", "{\"secret\":\"[cut]\"}"},
    {"{\"secret\":[1", "{\"secret\":\"[cut]\"}"},
    {"{1:2}", "{\"[cut]\":true}"},
    {"[<script>]", "[\"[cut]\"]"},
};

static struct buf out;

static const char *args_of(const char *text)
{
    buf_clear(&out);
    audit_write_args(&out, str_of(text), 8000);
    buf_add_char(&out, '\0');
    return out.p;
}

static void arguments_are_redacted(void **state)
{
    (void)state;
    for (size_t i = 0; i < N(vectors); i++)
        assert_string_equal(args_of(vectors[i].args), vectors[i].wanted);
}

static void AUDIT_DEPTH_MAX_is_the_last_depth_shown(void **state)
{
    (void)state;
    char text[64] = "";
    for (int i = 0; i <= AUDIT_DEPTH_MAX; i++)
        strcat(text, "[");
    strcat(text, "1]]]]]]]]]]]");
    assert_string_equal(args_of(text), "[[[[[[[[[[[\"[redacted]\"]]]]]]]]]]]");
    text[strlen(text) - 1] = 0;
    assert_string_equal(args_of(text + 1), "[[[[[[[[[[1]]]]]]]]]]");
}

static void AUDIT_TEXT_BYTES_are_shown_of_a_text_and_no_part_of_a_token(void **state)
{
    char text[2000] = "", wanted[2000];
    (void)state;
    memset(text, 'x', 400);
    memcpy(text, "[\"", 2);
    strcpy(text + 400, "\"]");
    snprintf(wanted, sizeof wanted, "[\"%.*s...\"]", AUDIT_TEXT_BYTES, text + 2);
    assert_string_equal(args_of(text), wanted);
    memcpy(text + 2 + AUDIT_TEXT_BYTES - 10, TOKEN, strlen(TOKEN));
    assert_string_equal(args_of(text), "[\"[redacted]\"]");
}

static void what_has_no_room_is_cut_and_the_rest_stays_JSON(void **state)
{
    struct buf text = {0};
    struct arena arena;
    (void)state;
    arena_init(&arena, 0);
    buf_add_lit(&text, "{\"list\":[");
    for (int i = 0; i < 10000; i++)
        buf_printf(&text, "%s{\"n\":%d}", i ? "," : "", i);
    buf_add_lit(&text, "],\"last\":1}");
    buf_clear(&out);
    audit_write_args(&out, buf_str(&text), 2000);
    assert_in_range(out.n, 900, 2000);
    assert_string_equal(tape_kind_name(open_json(&arena, buf_str(&out))), "object");
    assert_non_null(memmem(out.p, out.n, "[cut]", 5));
    assert_null(memmem(out.p, out.n, "last", 4));
    buf_done(&text);
    arena_done(&arena);
}

/* Each beginning of a text, and each with one byte changed, gives JSON. */
static void whatever_comes_is_JSON(void **state)
{
    static const char text[] = "{\"a\":[1,{\"b\":\"x\\u00e4\"},true],\"token\":{\"c\":[\"]\"]},"
                               "\"\xc3\xa4\":\"\xe2\x80\xa8\"}";
    static const char bytes[] = "\"\\{}[],:\x01\xff 0u";
    struct arena arena;
    (void)state;
    for (size_t n = 0; n < sizeof text; n++)
        for (size_t i = 0; i < sizeof bytes; i++) {
            char copy[sizeof text];
            memcpy(copy, text, sizeof text);
            copy[n] = bytes[i];
            buf_clear(&out);
            audit_write_args(&out, (struct str){copy, (uint32_t)(i ? sizeof text - 1 : n)}, 4000);
            arena_init(&arena, 0);
            /* what came may hold words and numbers that are none, and names twice */
            const struct tape_node *tape = NULL;
            struct wire_fault fault = {0};
            char *padded = arena_zalloc(&arena, out.n + JSON_PADDING_BYTES);
            memcpy(padded, out.p, out.n);
            int err = tape_open((struct str){padded, (uint32_t)out.n}, &arena, &tape, &fault);
            if (err < 0 && !strpbrk(copy, "\x01\xff") && i == 0)
                fail_msg("%zu: %.*s", n, (int)out.n, out.p);
            for (size_t k = 0; k < out.n; k++)
                assert_true((unsigned char)out.p[k] >= 0x20);
            arena_done(&arena);
        }
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static struct buf lines;
static unsigned n_lines, n_lost;

static uint32_t keep_line(struct audit *audit, struct str line)
{
    (void)audit;
    assert_true(line.n <= AUDIT_LINE_BYTES);
    assert_ptr_equal(memchr(line.p, '\n', line.n), line.p + line.n - 1);
    buf_clear(&lines);
    buf_add(&lines, line.p, line.n - 1);
    buf_add(&lines, "", 1);
    n_lines++;
    return n_lost;
}

static struct audit kept = {.write = keep_line};
static struct bench bench;

static int audit_open(void **state)
{
    struct core_config config = bench_config;
    config.audit = &kept;
    n_lines = n_lost = 0;
    kept = (struct audit){.write = keep_line};
    bench_open(&bench, &config);
    bench_connect(&bench, "2025-06-18");
    *state = &bench;
    return 0;
}

static int audit_close(void **state)
{
    bench_close(*state);
    return 0;
}

static void line_is(const char *pattern)
{
    struct arena arena;
    arena_init(&arena, 0);
    const struct tape_node *line = open_json(&arena, str_of(lines.p));
    if (!fits(open_json(&arena, str_of(pattern)), line))
        fail_msg("%s\nwanted: %s", lines.p, pattern);
    arena_done(&arena);
}

static void a_call_is_one_line(void **state)
{
    struct bench *b = *state;
    b->profile = PROFILE_OPERATIONS;
    bench_connect(b, "2025-06-18");
    n_lines = 0;
    ask_method(b, "tools/call", "{\"name\":\"describe_all\",\"arguments\":{}}", "{}");
    assert_int_equal(n_lines, 1);
    line_is(
        "{\"time\":\"*\",\"category\":\"mcp.audit\",\"profile\":\"operations\",\"sessionId\":\"*\","
        "\"user\":\"\",\"tool\":\"describe_all\",\"args\":{},\"status\":\"ok\",\"durationMs\":\"*"
        "\","
        "\"-\":[\"errorMessage\"]}");
    char id[32];
    snprintf(id, sizeof id, "\"%.8s...\"", b->session);
    assert_non_null(strstr(lines.p, id));
    assert_null(strstr(lines.p, b->session));
}

static void what_fails_in_a_tool_is_isError(void **state)
{
    struct bench *b = *state;
    b->profile = PROFILE_OPERATIONS;
    bench_connect(b, "2025-06-18");
    ask_method(b, "tools/call",
               "{\"name\":\"describe_table\",\"arguments\":{\"database\":\"x\",\"table\":\"y\"}}",
               "{\"isError\":true}");
    line_is("{\"tool\":\"describe_table\",\"args\":{\"database\":\"x\",\"table\":\"y\"},\"status\":"
            "\"isError\"}");
}

static void a_protocol_error_says_why(void **state)
{
    ask(*state, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"no\\u000d\\nsuch\","
        "\"arguments\":{\"token\":\"hush\"}}}",
        "{\"error\":{\"code\":-32602}}");
    assert_int_equal(n_lines, 1);
    line_is("{\"profile\":\"application\",\"tool\":\"no\\r\\nsuch\",\"args\":{\"token\":\"["
            "redacted]\"},"
            "\"status\":\"protocol_error\",\"errorMessage\":\"Unknown tool: no\\r\\nsuch\"}");
    ask(*state, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
        "{\"error\":{\"code\":-32602}}");
    line_is("{\"status\":\"protocol_error\",\"-\":[\"args\"],\"errorMessage\":\"*\"}");
}

static void other_methods_are_not_audited(void **state)
{
    ask_method(*state, "tools/list", "", "{}");
    assert_int_equal(n_lines, 0);
}

/* Names, a user and a reason of the greatest length: there is room for the arguments' marker. */
static void AUDIT_LINE_BYTES_hold_any_call(void **state)
{
    struct bench *b = *state;
    struct buf body = {0};
    buf_add_lit(&body,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"");
    for (int i = 0; i < 3000; i++)
        buf_add_lit(&body, "\\u0001");
    buf_add_lit(&body, "\",\"arguments\":{\"a\":[");
    for (int i = 0; i < 3000; i++)
        buf_printf(&body, "%s\"\\u0002\\u0002\\u0002\"", i ? "," : "");
    buf_add_lit(&body, "]}}}");
    bench_send(b, buf_str(&body));
    assert_int_equal(n_lines, 1);
    line_is("{\"status\":\"protocol_error\",\"durationMs\":\"*\"}");
    assert_non_null(strstr(lines.p, "[cut]"));
    buf_done(&body);
}

static void AUDIT_REFUSALS_PER_S_are_told_and_the_rest_is_counted(void **state)
{
    struct bench *b = *state;
    int64_t second = clock_mono_ms() / 1000;
    for (int i = 0; i < AUDIT_REFUSALS_PER_S + 5; i++)
        audit_refused(b->core, ERR_UNAUTHORIZED, "the token has expired");
    if (clock_mono_ms() / 1000 == second)
        assert_int_equal(n_lines, AUDIT_REFUSALS_PER_S);
    line_is("{\"category\":\"mcp.audit\",\"status\":\"unauthorized\",\"httpStatus\":401,"
            "\"errorMessage\":\"the token has expired\"}");
    clock_advance_ms(1000);
    audit_refused(b->core, ERR_SCOPE, NULL);
    if (clock_mono_ms() / 1000 == second + 1)
        line_is("{\"httpStatus\":403,\"untold\":5}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_redacted),
        cmocka_unit_test(AUDIT_DEPTH_MAX_is_the_last_depth_shown),
        cmocka_unit_test(AUDIT_TEXT_BYTES_are_shown_of_a_text_and_no_part_of_a_token),
        cmocka_unit_test(what_has_no_room_is_cut_and_the_rest_stays_JSON),
        cmocka_unit_test(whatever_comes_is_JSON),
        cmocka_unit_test_setup_teardown(a_call_is_one_line, audit_open, audit_close),
        cmocka_unit_test_setup_teardown(what_fails_in_a_tool_is_isError, audit_open, audit_close),
        cmocka_unit_test_setup_teardown(a_protocol_error_says_why, audit_open, audit_close),
        cmocka_unit_test_setup_teardown(other_methods_are_not_audited, audit_open, audit_close),
        cmocka_unit_test_setup_teardown(AUDIT_LINE_BYTES_hold_any_call, audit_open, audit_close),
        cmocka_unit_test_setup_teardown(AUDIT_REFUSALS_PER_S_are_told_and_the_rest_is_counted,
                                        audit_open, audit_close),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    buf_done(&out);
    buf_done(&lines);
    return failed;
}
