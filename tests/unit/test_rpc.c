/* tests/unit/test_rpc.c - the envelope: rows J and M of the checklist, cases C-001 to C-055. */
#include "base/err.h"
#include "guarded.h"
#include "hand_table.h"
#include "wire/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static struct arena arena;
static struct guarded input;
static struct rpc_message m;
static struct wire_fault fault;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 0);
    input = guarded_copy(STR(""));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    guarded_done(&input);
    return 0;
}

static int read_str(struct str text)
{
    guarded_done(&input);
    input = guarded_copy(text);
    arena_reset(&arena);
    return rpc_read(input.text, &arena, &m, &fault);
}

static int read_text(const char *text)
{
    return read_str(str_of(text));
}

#define assert_str(actual, want) assert_true(str_eq(actual, str_of(want)))

static void assert_refused(const char *text, int err)
{
    int got = read_text(text);
    if (got != err)
        fail_msg("%s: %s, expected %s", text, err_name(got), err_name(err));
}

static void J_05_id_null_is_refused(void **state)
{
    (void)state;
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", ERR_REQUEST);
    assert_null(m.id.p);
    assert_string_equal(fault.pointer, "/id");
}

static void J_06_C_003_id_of_wrong_type_is_refused(void **state)
{
    (void)state;
    static const char *const ids[] = {"1.5", "true", "false", "{}", "[]", "1e-1", "-0.5", "[1]"};
    char text[128];
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", ids[i]);
        assert_refused(text, ERR_REQUEST);
        assert_null(m.id.p);
        assert_string_equal(fault.pointer, "/id");
        assert_int_equal(fault.reason, WIRE_TYPE);
    }
}

static void J_07_C_001_ids_are_kept_as_sent(void **state)
{
    (void)state;
    static const char *const ids[] = {"1",
                                      "\"1\"",
                                      "\"\"",
                                      "0",
                                      "-1",
                                      "9007199254740993",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "\"\\u6f22\\\"\"",
                                      "\"漢字\"",
                                      "1.0",
                                      "1e2",
                                      "18446744073709551616"};
    char text[128];
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s ,\"method\":\"ping\"}", ids[i]);
        assert_int_equal(read_text(text), 0);
        assert_int_equal(m.kind, RPC_REQUEST);
        assert_str(m.id, ids[i]);
    }
}

static void id_longer_than_its_limit_is_refused(void **state)
{
    (void)state;
    char text[RPC_ID_BYTES + 100];
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"%0*d\"}",
             RPC_ID_BYTES - 2, 0);
    assert_int_equal(read_text(text), 0);
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"%0*d\"}",
             RPC_ID_BYTES - 1, 0);
    assert_refused(text, ERR_REQUEST);
    assert_null(m.id.p);
}

static void J_08_result_xor_error(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}"), 0);
    assert_int_equal(m.kind, RPC_RESULT);
    assert_str(m.payload, "{\"a\":1}");
    assert_int_equal(read_text("{\"error\":{\"code\":1,\"message\":\"\"},\"id\":\"x\","
                               "\"jsonrpc\":\"2.0\"}"),
                     0);
    assert_int_equal(m.kind, RPC_ERROR);
    assert_str(m.id, "\"x\"");
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", ERR_REQUEST);
    assert_null(m.id.p);
    assert_refused("{\"jsonrpc\":\"2.0\",\"result\":{}}", ERR_REQUEST);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}", ERR_REQUEST);
    assert_int_equal(read_text("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,"
                               "\"message\":\"x\"}}"),
                     0);
    assert_int_equal(m.kind, RPC_ERROR);
    assert_null(m.id.p);
}

static void J_09_errors_are_written_with_code_and_message(void **state)
{
    (void)state;
    struct buf out = {0};
    rpc_write_error(&out, STR("7"), -32601, STR("no \"x\""), STR_NONE);
    assert_str(buf_str(&out), "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,"
                              "\"message\":\"no \\\"x\\\"\"}}");
    buf_clear(&out);
    rpc_write_error(&out, STR_NONE, -32700, STR("Parse error"), STR("{\"a\":1}"));
    assert_str(buf_str(&out), "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
                              "\"message\":\"Parse error\",\"data\":{\"a\":1}}}");
    buf_clear(&out);
    rpc_write_result(&out, STR("\"a\""), STR("{}"));
    assert_str(buf_str(&out), "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}");
    buf_done(&out);
}

static void J_15_C_011_text_that_is_not_json_has_no_id(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{",
        "",
        "   ",
        "{\"a\":}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"} x",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}}",
        "{\"jsonrpc\":\"1.0\",\"id\":null,\"method\":7,\"params\":[1,]}",
        "{'id':7}",
        "{\"a\":1,}",
        "{\"a\"",
        "tru",
        "nul",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\\ud800\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\\udc00x\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"a\":01}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"_meta\":{\"a\":\"\n\"}}}",
        "[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}",
        "[,]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_refused(texts[i], ERR_PARSE);
        assert_null(m.id.p);
    }
}

static void J_16_json_that_is_no_message_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "\"x\"",
        "1",
        "null",
        "true",
        "{\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":\"x\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"error\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_refused(texts[i], ERR_REQUEST);
}

static void an_error_for_a_call_has_its_id_and_one_for_a_response_has_none(void **state)
{
    (void)state;
    assert_refused("{\"jsonrpc\":\"1.0\",\"id\":41,\"method\":\"ping\"}", ERR_REQUEST);
    assert_str(m.id, "41");
    assert_string_equal(fault.pointer, "/jsonrpc");
    assert_string_equal(fault.expected, "2.0");
    assert_int_equal(fault.offset, 11);
    assert_refused("{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":1,\"id\":\"z\"}", ERR_REQUEST);
    assert_str(m.id, "\"z\"");
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":41,\"result\":1}", ERR_REQUEST);
    assert_null(m.id.p);
}

static void J_18_C_013_invalid_utf8_is_refused(void **state)
{
    (void)state;
    static const char *const bytes[] = {
        "\xff",     "\xc0\xaf",         "\xed\xa0\x80",    "\xe6\xbc",
        "\x80",     "\xf4\x90\x80\x80", "\xe0\x80\x80",    "\xc3",
        "\xf0\x9f", "\xf8\x88\x80\x80", "\xf0\x80\x80\x80"};
    char text[160];
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int before = 0; before < 20; before += 19) {
            snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":"
                     "{\"k\":\"%.*s%s\"}}}",
                     before, "0123456789012345678901234", bytes[i]);
            assert_refused(text, ERR_PARSE);
            assert_int_equal(fault.reason, WIRE_UTF8);
        }
    assert_refused("\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}", ERR_PARSE);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\xff\"}", ERR_PARSE);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":2,\"met\xffhod\":\"ping\"}", ERR_PARSE);
}

static void J_20_unknown_members_are_tolerated(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"x\":[1,{\"y\":null}],\"jsonrpc\":\"2.0\",\"id\":1,"
                               "\"method\":\"tools/list\",\"params\":{\"zzz\":1},\"q\":\"\"}"),
                     0);
    assert_str(m.params, "{\"zzz\":1}");
}

static void J_23_a_request_without_id_is_a_notification(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}"), 0);
    assert_int_equal(m.kind, RPC_NOTIFICATION);
    assert_null(m.id.p);
    assert_null(m.params.p);
}

static void J_24_C_007_duplicate_members_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{},\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null,\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"m\\u0065thod\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"result\":{}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_refused(texts[i], ERR_REQUEST);
        assert_int_equal(fault.reason, WIRE_DUPLICATE);
    }
    assert_refused(texts[1], ERR_REQUEST);
    assert_null(m.id.p); /* which one? */
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{},"
                   "\"_meta\":{}}}",
                   ERR_PARAMS);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":"
                   "{\"progressToken\":1,\"progressToken\":2}}}",
                   ERR_PARAMS);
}

static void C_009_escapes_in_names_and_methods(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"\\u006dethod\":\"p\\u0069ng\"}"),
                     0);
    assert_str(m.method, "ping");
    assert_int_equal(read_text("{\"jsonrpc\":\"\\u0032.0\",\"id\":2,\"method\":\"tools\\/list\","
                               "\"p\\u0061rams\":{\"\\u005fmeta\":{\"progress\\u0054oken\":3}}}"),
                     0);
    assert_str(m.method, "tools/list");
    assert_str(m.progress_token, "3");
}

static struct str nested(const char *before, char open, int depth, char close, const char *after)
{
    size_t n = strlen(before), total = n + 2 * (size_t)depth + strlen(after);
    char *text = malloc(total + 1);
    assert_non_null(text);
    memcpy(text, before, n);
    memset(text + n, open, (size_t)depth);
    memset(text + n + depth, close, (size_t)depth);
    strcpy(text + n + 2 * (size_t)depth, after);
    return (struct str){text, (uint32_t)total};
}

static void C_017_deep_nesting(void **state)
{
    (void)state;
    static const char *const places[][3] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{\"x\":", "}}}",
         "3"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"zzz\":", "}", "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"arguments\":", "}}", "2"},
    };
    static const int depths[] = {64, 125, 10000, 100000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = 0; j < sizeof depths / sizeof *depths; j++) {
            struct str text = nested(places[i][0], '[', depths[j], ']', places[i][1]);
            assert_int_equal(read_str(text), depths[j] <= 125 ? 0 : ERR_PARSE);
            if (depths[j] > 125)
                assert_int_equal(fault.reason, WIRE_DEPTH);
            free((char *)text.p);
        }
    int outside = atoi(places[0][2]);
    struct str text = nested(places[0][0], '[', JSON_DEPTH_MAX - outside, ']', places[0][1]);
    assert_int_equal(read_str(text), 0);
    free((char *)text.p);
    text = nested(places[0][0], '[', JSON_DEPTH_MAX - outside + 1, ']', places[0][1]);
    assert_int_equal(read_str(text), ERR_PARSE);
    free((char *)text.p);
    text = nested("", '[', 100000, '[', "");
    assert_int_equal(read_str(text), ERR_PARSE);
    free((char *)text.p);
}

static void C_019_params_null_reads_as_absent(void **state)
{
    (void)state;
    assert_int_equal(
        read_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":null}"), 0);
    assert_null(m.params.p);
    assert_null(m.meta.p);
}

static void J_30_J_32_batches_are_walked(void **state)
{
    (void)state;
    static const char *const want[] = {"{\"a\":[1]}", "1", "[2,[3]]", "\"],\""};
    struct str rest, member;
    assert_int_equal(read_text(" [ {\"a\":[1]} ,1,\n[2,[3]],\"],\" ] "), 0);
    assert_int_equal(m.kind, RPC_BATCH);
    assert_null(m.id.p);
    rest = m.body;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(rpc_batch_next(&rest, &member), 1);
        assert_str(member, want[i]);
    }
    assert_int_equal(rpc_batch_next(&rest, &member), 0);
    assert_int_equal(rpc_batch_next(&rest, &member), 0);
}

static void J_33_empty_batch_is_refused(void **state)
{
    (void)state;
    assert_refused("[]", ERR_REQUEST);
    assert_refused(" [ \n ] ", ERR_REQUEST);
}

static void J_34_members_of_a_batch_are_judged_alone(void **state)
{
    (void)state;
    struct rpc_message one;
    struct str rest, member;
    assert_int_equal(read_text("[1,{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}]"), 0);
    rest = m.body;
    assert_int_equal(rpc_batch_next(&rest, &member), 1);
    assert_int_equal(rpc_read(member, &arena, &one, NULL), ERR_REQUEST);
    assert_int_equal(rpc_batch_next(&rest, &member), 1);
    assert_int_equal(rpc_read(member, &arena, &one, NULL), 0);
    assert_str(one.id, "5");
    assert_str(one.method, "ping");
}

static void M_05_meta_has_to_be_an_object(void **state)
{
    (void)state;
    static const char *const bad[] = {"5", "null", "[]", "\"x\"", "true"};
    char text[160];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":%s}}",
                 bad[i]);
        assert_refused(text, ERR_PARAMS);
        assert_str(m.id, "1");
        assert_str(m.method, "ping");
        assert_string_equal(fault.pointer, "/params/_meta");
    }
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\",\"params\":{\"_meta\":5}}",
                   ERR_REQUEST);
}

static void M_06_C_055_progress_tokens(void **state)
{
    (void)state;
    static const char *const good[] = {"0", "-1", "\"\"", "7", "\"a\\n\"", "1.0"};
    static const char *const bad[] = {"null", "true", "{}", "[]", "1.5"};
    char text[160];
    static const char form[] = "{\"jsonrpc\":\"2.0\",\"params\":{\"x\":1,\"_meta\":{\"a\":{},"
                               "\"progressToken\":%s}},\"id\":1,\"method\":\"tools/call\"}";
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, form, good[i]);
        assert_int_equal(read_text(text), 0);
        assert_str(m.progress_token, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, form, bad[i]);
        assert_refused(text, ERR_PARAMS);
        assert_string_equal(fault.pointer, "/params/_meta/progressToken");
        assert_int_equal(m.kind, RPC_REQUEST);
        assert_str(m.method, "tools/call");
    }
}

static void a_response_with_params_is_a_response(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"params\":"
                               "{\"_meta\":5}}"),
                     0);
    assert_int_equal(m.kind, RPC_RESULT);
    assert_null(m.params.p);
}

static void params_are_read_by_table_and_not_twice(void **state)
{
    (void)state;
    struct sample sample, same;
    assert_int_equal(
        read_text("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"raw\":{\"a\":[\"\","
                  "{}]},\"_meta\":{},\"text\":\"t\",\"either\":[{\"type\":\"text\","
                  "\"text\":\"\"}],\"words\":[\"x\"]}}"),
        0);
    assert_int_equal(m.n_known, 4);
    assert_int_equal(rpc_parse_params(&sample_type, &m, &arena, &sample, &fault), 0);
    assert_int_equal(wire_parse(&sample_type, m.params, &arena, &same, &fault), 0);
    assert_true(sample.has == same.has && sample.words.n == 1 && sample.either.v[0].kind == 3);
    assert_str(sample.raw, "{\"a\":[\"\",{}]}");
    assert_true(sample.raw.p == same.raw.p && sample.raw.n == same.raw.n);

    assert_int_equal(read_text("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"text\":\"\","
                               "\"raw\":[\"a\",1]}}"),
                     0);
    assert_int_equal(rpc_parse_params(&sample_type, &m, &arena, &sample, &fault), ERR_PARAMS);
    assert_string_equal(fault.pointer, "/raw/1");
}

static void J_14_absent_params_read_as_an_empty_object(void **state)
{
    (void)state;
    struct sample sample;
    struct inner inner;
    static const struct wire_type inner_type = {.kind = WIRE_OBJECT, .of.message = &inner_message};
    assert_int_equal(read_text("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":null}"), 0);
    assert_int_equal(rpc_parse_params(&sample_type, &m, &arena, &sample, &fault), ERR_PARAMS);
    assert_string_equal(fault.pointer, "/text");
    inner_message.required = 0;
    assert_int_equal(rpc_parse_params(&inner_type, &m, &arena, &inner, &fault), 0);
    assert_int_equal(inner.has, 0);
    inner_message.required = 1;
}

static const char *const whole_messages[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"e\\u0063ho\","
    "\"arguments\":{\"message\":\"\\ud83d\\ude00 漢\",\"n\":[1,-2.5e3,true,null]},"
    "\"_meta\":{\"progressToken\":\"t\"}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":\"abc\",\"result\":{\"content\":[]}}",
    "[{\"jsonrpc\":\"2.0\",\"method\":\"a\"},{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"b\"}]",
};

static void truncated_messages_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole_messages / sizeof *whole_messages; i++) {
        struct str text = str_of(whole_messages[i]);
        assert_int_equal(read_str(text), 0);
        for (uint32_t n = 0; n < text.n; n++) {
            assert_int_equal(read_str((struct str){text.p, n}), ERR_PARSE);
            assert_true(fault.offset <= n);
        }
    }
}

static void no_memory_is_said(void **state)
{
    (void)state;
    struct arena none;
    struct rpc_message ret;
    struct guarded g = guarded_copy(str_of("{\"jsonrpc\":\"2.0\",\"method\":\"p\\u0069ng\"}"));
    arena_init(&none, 1);
    assert_int_equal(rpc_read(g.text, &none, &ret, &fault), ERR_NO_MEMORY);
    assert_int_equal(fault.reason, WIRE_MEMORY);
    arena_done(&none);
    guarded_done(&g);
}

static void faults_are_written_as_data(void **state)
{
    (void)state;
    struct buf out = {0};
    struct wire_fault f = {.reason = WIRE_CHOICE, .offset = 12, .pointer = "/ref/\"type"};
    strcpy(f.expected, "ref/prompt|ref/resource");
    rpc_write_fault(&out, "/params", &f);
    assert_str(buf_str(&out), "{\"pointer\":\"/params/ref/\\\"type\",\"reason\":\"enum\","
                              "\"expected\":\"ref/prompt|ref/resource\",\"offset\":12}");
    buf_done(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(J_05_id_null_is_refused),
        TEST(J_06_C_003_id_of_wrong_type_is_refused),
        TEST(J_07_C_001_ids_are_kept_as_sent),
        TEST(id_longer_than_its_limit_is_refused),
        TEST(J_08_result_xor_error),
        TEST(J_09_errors_are_written_with_code_and_message),
        TEST(J_15_C_011_text_that_is_not_json_has_no_id),
        TEST(J_16_json_that_is_no_message_is_refused),
        TEST(an_error_for_a_call_has_its_id_and_one_for_a_response_has_none),
        TEST(J_18_C_013_invalid_utf8_is_refused),
        TEST(J_20_unknown_members_are_tolerated),
        TEST(J_23_a_request_without_id_is_a_notification),
        TEST(J_24_C_007_duplicate_members_are_refused),
        TEST(C_009_escapes_in_names_and_methods),
        TEST(C_017_deep_nesting),
        TEST(C_019_params_null_reads_as_absent),
        TEST(J_30_J_32_batches_are_walked),
        TEST(J_33_empty_batch_is_refused),
        TEST(J_34_members_of_a_batch_are_judged_alone),
        TEST(M_05_meta_has_to_be_an_object),
        TEST(M_06_C_055_progress_tokens),
        TEST(a_response_with_params_is_a_response),
        TEST(params_are_read_by_table_and_not_twice),
        TEST(J_14_absent_params_read_as_an_empty_object),
        TEST(truncated_messages_are_refused),
        TEST(no_memory_is_said),
        TEST(faults_are_written_as_data),
    };
    hand_table_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
