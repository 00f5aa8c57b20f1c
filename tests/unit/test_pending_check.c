/* tests/unit/test_pending_check.c - what a request to a client may hold, and what its answer has to
 * be, by revision. How it is asked and ended: test_pending.c. Named after the checklist.
 */
#include "core/pending_parts.h"
#include "generated/edges.h"
#include "tests/unit/pending_rig.h"

/* ---- Requests ------------------------------------------------------------------------------- */

/* What goes out as params; "" if it is refused. */
static char written[8192];

static int check(enum mcp_revision revision, const char *capabilities, enum mcp_method method,
                 const char *params)
{
    struct session session = {.state = SESSION_OPERATING, .revision = (int)revision};
    struct pending p = {0};
    struct pending_ask asked = question(method, params);
    struct buf out = {0};
    session.record.capabilities = str_of(capabilities);
    arena_init(&p.arena, 0);
    int err = pending_check_ask(&p, &session, &asked, &out);
    copy_text(written, sizeof written, err ? STR("") : buf_str(&out));
    buf_done(&out);
    arena_done(&p.arena);
    return err;
}

static int check_form(enum mcp_revision revision, const char *schema)
{
    char params[4096];
    snprintf(params, sizeof params, "{\"message\":\"m\",\"requestedSchema\":%s}", schema);
    return check(revision, ALL_CAPABILITIES, MCP_ELICITATION_CREATE, params);
}

static int check_property(enum mcp_revision revision, const char *property)
{
    char schema[2048];
    snprintf(schema, sizeof schema, "{\"type\":\"object\",\"properties\":{\"p\":%s}}", property);
    return check_form(revision, schema);
}

static void EL_03_the_forms_that_2025_06_18_allows(void **state)
{
    static const char *const allowed[] = {
        "{\"type\":\"string\"}",
        "{\"type\":\"string\",\"title\":\"T\",\"description\":\"D\",\"minLength\":1,\"maxLength\":"
        "9}",
        "{\"type\":\"string\",\"format\":\"email\"}",
        "{\"type\":\"string\",\"format\":\"uri\"}",
        "{\"type\":\"string\",\"format\":\"date\"}",
        "{\"type\":\"string\",\"format\":\"date-time\"}",
        "{\"type\":\"number\",\"minimum\":0.5,\"maximum\":1.5}",
        "{\"type\":\"integer\",\"minimum\":-3,\"maximum\":3}",
        "{\"type\":\"boolean\",\"default\":true}",
        "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}",
        "{\"type\":\"string\",\"enum\":[\"a\",\"b\"],\"enumNames\":[\"A\",\"B\"]}",
    };
    (void)state;
    for (size_t i = 0; i < N(allowed); i++)
        if (check_property(MCP_2025_06_18, allowed[i]) != 0)
            fail_msg("refused: %s", allowed[i]);
    assert_int_equal(check_form(MCP_2025_06_18, "{\"type\":\"object\",\"properties\":{}}"), 0);
    assert_int_equal(check_form(MCP_2025_06_18,
                                "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
                                "\"b\":{\"type\":\"boolean\"}},\"required\":[\"b\"]}"),
                     0);
}

static void EL_03_nothing_else_is_sent(void **state)
{
    static const char *const properties[] = {
        "{}",
        "1",
        "true",
        "{\"type\":\"null\"}",
        "{\"type\":[\"string\",\"null\"]}",
        "{\"type\":\"object\",\"properties\":{}}",
        "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
        "{\"$ref\":\"#/x\"}",
        "{\"type\":\"string\",\"$ref\":\"#/x\"}",
        "{\"type\":\"string\",\"pattern\":\"x\"}",
        "{\"type\":\"string\",\"format\":\"uuid\"}",
        "{\"type\":\"string\",\"minLength\":\"1\"}",
        "{\"type\":\"string\",\"minimum\":1}",
        "{\"type\":\"string\",\"default\":\"x\"}",
        "{\"type\":\"number\",\"multipleOf\":2}",
        "{\"type\":\"number\",\"exclusiveMinimum\":2}",
        "{\"type\":\"integer\",\"minimum\":\"0\"}",
        "{\"type\":\"boolean\",\"default\":\"yes\"}",
        "{\"type\":\"boolean\",\"const\":true}",
        "{\"type\":\"string\",\"enum\":[1]}",
        "{\"type\":\"integer\",\"enum\":[1]}",
        "{\"type\":\"string\",\"enum\":[\"a\"],\"enumNames\":[\"A\",\"B\"]}",
        "{\"type\":\"string\",\"enumNames\":[\"A\"]}",
        "{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":\"A\"}]}",
        "{\"anyOf\":[{\"type\":\"string\"}]}",
        "{\"type\":\"string\",\"not\":{}}",
    };
    static const char *const schemas[] = {
        "1",
        "[]",
        "{}",
        "{\"type\":\"object\"}",
        "{\"type\":\"string\",\"properties\":{}}",
        "{\"properties\":{}}",
        "{\"type\":\"object\",\"properties\":[]}",
        "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}",
        "{\"type\":\"object\",\"properties\":{},\"$defs\":{}}",
        "{\"type\":\"object\",\"properties\":{},\"required\":[\"a\"]}",
        "{\"type\":\"object\",\"properties\":{},\"required\":\"a\"}",
        "{\"type\":\"object\",\"properties\":{},\"required\":[1]}",
        "{\"type\":\"object\",\"properties\":{},\"properties\":{}}",
    };
    (void)state;
    for (size_t i = 0; i < N(properties); i++)
        if (check_property(MCP_2025_06_18, properties[i]) != ERR_PARAMS)
            fail_msg("taken: %s", properties[i]);
    for (size_t i = 0; i < N(schemas); i++)
        if (check_form(MCP_2025_06_18, schemas[i]) != ERR_PARAMS)
            fail_msg("taken: %s", schemas[i]);
}

static void EL_03_2025_11_25_has_more_forms(void **state)
{
    static const char *const allowed[] = {
        "{\"type\":\"string\",\"default\":\"x\"}",
        "{\"type\":\"integer\",\"default\":30}",
        "{\"type\":\"number\",\"default\":95.5}",
        "{\"type\":\"string\",\"enum\":[\"a\"],\"default\":\"a\"}",
        "{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":\"A\"}]}",
        "{\"type\":\"string\",\"enum\":[\"a\"],\"enumNames\":[\"A\"]}",
        "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\"]},\"minItems\":1}",
        "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"a\",\"title\":\"A\"}]}}",
    };
    static const char *const refused[] = {
        "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
        "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"enum\":[1]}}",
        "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\"],\"minLength\":1}}",
        "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"a\",\"title\":\"A\",\"x\":1}]}}",
        "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\"]},\"uniqueItems\":"
        "true}",
        "{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\"}]}",
        "{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":\"A\",\"x\":1}]}",
        "{\"type\":\"object\",\"properties\":{}}",
        "{\"type\":\"string\",\"pattern\":\"x\"}",
    };
    (void)state;
    for (size_t i = 0; i < N(allowed); i++)
        if (check_property(MCP_2025_11_25, allowed[i]) != 0)
            fail_msg("refused: %s", allowed[i]);
    for (size_t i = 0; i < N(refused); i++)
        if (check_property(MCP_2025_11_25, refused[i]) != ERR_PARAMS)
            fail_msg("taken: %s", refused[i]);
}

static void elicitation_modes_go_by_what_the_client_declared(void **state)
{
    static const char form[] =
        "{\"mode\":\"form\",\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","
        "\"properties\":{}}}";
    static const char url[] =
        "{\"mode\":\"url\",\"message\":\"m\",\"elicitationId\":\"e\",\"url\":\"https://x.test/\"}";
    static const struct {
        const char *declared;
        int form, url;
    } cases[] = {
        {"{\"elicitation\":{}}", 0, ERR_CAPABILITY},
        {"{\"elicitation\":{\"form\":{}}}", 0, ERR_CAPABILITY},
        {"{\"elicitation\":{\"url\":{}}}", ERR_CAPABILITY, 0},
        {"{\"elicitation\":{\"form\":{},\"url\":{}}}", 0, 0},
        {"{\"elicitation\":true}", ERR_CAPABILITY, ERR_CAPABILITY},
        {"{}", ERR_CAPABILITY, ERR_CAPABILITY},
        {"", ERR_CAPABILITY, ERR_CAPABILITY},
    };
    (void)state;
    for (size_t i = 0; i < N(cases); i++) {
        assert_int_equal(check(MCP_2025_11_25, cases[i].declared, MCP_ELICITATION_CREATE, form),
                         cases[i].form);
        assert_int_equal(check(MCP_2025_11_25, cases[i].declared, MCP_ELICITATION_CREATE, url),
                         cases[i].url);
    }
    /* 2025-06-18 has one mode, and no word for it */
    assert_int_equal(check(MCP_2025_06_18, ALL_CAPABILITIES, MCP_ELICITATION_CREATE, form), 0);
    assert_null(strstr(written, "mode"));
    assert_int_equal(check(MCP_2025_06_18, ALL_CAPABILITIES, MCP_ELICITATION_CREATE, url),
                     ERR_PARAMS);
}

#define TEXT_MESSAGE "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"hi\"}}"

static void SM_02_what_a_sampling_may_hold(void **state)
{
    static const char *const allowed[] = {
        "{\"messages\":[],\"maxTokens\":1}",
        "{\"messages\":[" TEXT_MESSAGE "],\"maxTokens\":1,\"includeContext\":\"thisServer\"}",
        "{\"messages\":[{\"role\":\"assistant\",\"content\":{\"type\":\"image\",\"data\":\"AAAA\","
        "\"mimeType\":\"image/png\"}}],\"maxTokens\":1,\"temperature\":0.5,\"stopSequences\":[\"x\""
        "],\"modelPreferences\":{\"costPriority\":1,\"hints\":[{\"name\":\"m\"}]}}",
    };
    static const char *const refused[] = {
        "{}",
        "{\"messages\":[]}",
        "{\"maxTokens\":1}",
        "{\"messages\":{},\"maxTokens\":1}",
        "{\"messages\":[],\"maxTokens\":1.5}",
        "{\"messages\":[],\"maxTokens\":\"1\"}",
        "{\"messages\":[{\"role\":\"system\",\"content\":{\"type\":\"text\",\"text\":\"\"}}],"
        "\"maxTokens\":1}",
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\"}]}],"
        "\"maxTokens\":1}",
        "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"video\"}}],\"maxTokens\":1}",
        "{\"messages\":[],\"maxTokens\":1,\"includeContext\":\"everything\"}",
        "{\"messages\":[],\"maxTokens\":1,\"modelPreferences\":{\"costPriority\":1.5}}",
        "{\"messages\":[],\"maxTokens\":1",
        "[]",
        "null",
    };
    (void)state;
    for (int r = MCP_2025_03_26; r <= (int)MCP_2025_06_18; r++) {
        for (size_t i = 0; i < N(allowed); i++)
            if (check(r, ALL_CAPABILITIES, MCP_SAMPLING_CREATE_MESSAGE, allowed[i]) != 0)
                fail_msg("refused: %s", allowed[i]);
        for (size_t i = 0; i < N(refused); i++)
            if (check(r, ALL_CAPABILITIES, MCP_SAMPLING_CREATE_MESSAGE, refused[i]) != ERR_PARAMS)
                fail_msg("taken: %s", refused[i]);
    }
}

static void L_10_what_a_revision_does_not_know_is_not_sent(void **state)
{
    static const char params[] =
        "{\"messages\":[" TEXT_MESSAGE "],\"maxTokens\":1,\"tools\":[],\"_meta\":{"
        "\"progressToken\":7},\"whatever\":1}";
    (void)state;
    assert_int_equal(check(MCP_2025_06_18, ALL_CAPABILITIES, MCP_SAMPLING_CREATE_MESSAGE, params),
                     0);
    assert_null(strstr(written, "tools"));
    assert_null(strstr(written, "whatever"));
    assert_non_null(strstr(written, "\"progressToken\":7"));
}

static void sampling_of_2025_11_25_has_capabilities_of_its_own(void **state)
{
    static const char tools[] = "{\"messages\":[],\"maxTokens\":1,\"tools\":[]}";
    static const char context[] =
        "{\"messages\":[],\"maxTokens\":1,\"includeContext\":\"allServers\"}";
    static const char none[] = "{\"messages\":[],\"maxTokens\":1,\"includeContext\":\"none\"}";
    static const char task[] = "{\"messages\":[],\"maxTokens\":1,\"task\":{}}";
    enum mcp_method method = MCP_SAMPLING_CREATE_MESSAGE;
    (void)state;
    assert_int_equal(check(MCP_2025_11_25, "{\"sampling\":{}}", method, tools), ERR_CAPABILITY);
    assert_int_equal(check(MCP_2025_11_25, "{\"sampling\":{}}", method, context), ERR_CAPABILITY);
    assert_int_equal(check(MCP_2025_11_25, "{\"sampling\":{}}", method, none), 0);
    assert_int_equal(check(MCP_2025_11_25, "{\"sampling\":{\"tools\":{}}}", method, tools), 0);
    assert_int_equal(check(MCP_2025_11_25, "{\"sampling\":{\"context\":{}}}", method, context), 0);
    assert_int_equal(check(MCP_2025_11_25, "{\"sampling\":{}}", method, task), ERR_PARAMS);
}

static void roots_are_asked_for_without_anything(void **state)
{
    (void)state;
    assert_int_equal(check(MCP_2025_06_18, ALL_CAPABILITIES, MCP_ROOTS_LIST, ""), 0);
    assert_string_equal(written, "{}");
    assert_int_equal(check(MCP_2025_06_18, ALL_CAPABILITIES, MCP_ROOTS_LIST, "[]"), ERR_PARAMS);
}

static void no_memory_is_said(void **state)
{
    struct session session = {.state = SESSION_OPERATING, .revision = (int)MCP_2025_06_18};
    struct pending_ask asked = question(
        MCP_ELICITATION_CREATE, "{\"message\":\"m\",\"requestedSchema\":{\"type\":"
                                "\"object\",\"properties\":{\"p\":{\"type\":\"string\"}}}}");
    int err = ERR_NO_MEMORY;
    unsigned n_failed = 0;
    session.record.capabilities = STR(ALL_CAPABILITIES);
    (void)state;
    for (size_t room = 64; err == ERR_NO_MEMORY; room += 64, n_failed++) {
        struct pending p = {0};
        struct buf out = {0};
        arena_init(&p.arena, 0);
        assert_non_null(arena_alloc(&p.arena, 16));
        leave_bytes(&p.arena, room);
        err = pending_check_ask(&p, &session, &asked, &out);
        buf_done(&out);
        arena_done(&p.arena);
    }
    assert_int_equal(err, 0);
    assert_true(n_failed > 5);
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* Asks anew and answers; what the handler is told stands in `outcome`. */
static int answered(struct bench *b, enum mcp_method method, const char *params, const char *result)
{
    char member[4096];
    struct call *call = open_call(b);
    n_notes = 0;
    outcome = (struct outcome){0};
    assert_int_equal(ask_client(call, method, params), 0);
    snprintf(member, sizeof member, "\"result\":%s", result);
    answer_with(b, asked_id(0), member);
    assert_int_equal(outcome.n, 1);
    call_free(call);
    return outcome.err;
}

#define PERSON                                                                            \
    "{\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"     \
    "\"name\":{\"type\":\"string\",\"minLength\":2},\"age\":{\"type\":\"integer\","       \
    "\"minimum\":0},\"score\":{\"type\":\"number\"},\"mail\":{\"type\":\"string\","       \
    "\"format\":\"email\"},\"ok\":{\"type\":\"boolean\"},\"color\":{\"type\":\"string\"," \
    "\"enum\":[\"red\",\"blue\"]}},\"required\":[\"name\"]}}"

static void EL_04_content_fits_what_was_asked(void **state)
{
    static const char *const allowed[] = {
        "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}",
        "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"age\":36,\"score\":1.5,\"mail\":"
        "\"a@b.test\",\"ok\":false,\"color\":\"red\"}}",
        "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"age\":36.0},\"_meta\":{}}",
    };
    static const struct {
        const char *result, *says;
    } refused[] = {
        {"{\"action\":\"accept\"}", "/content/name"},
        {"{\"action\":\"accept\",\"content\":{}}", "/content/name"},
        {"{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}", "/content/name"},
        {"{\"action\":\"accept\",\"content\":{\"name\":7}}", "/content/name"},
        {"{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"age\":1.5}}", "/content/age"},
        {"{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"age\":-1}}", "/content/age"},
        {"{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"mail\":\"x\"}}", "/content/mail"},
        {"{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"color\":\"green\"}}",
         "/content/color"},
        {"{\"action\":\"accept\",\"content\":{\"name\":{\"a\":1}}}", "/content/name"},
        {"{\"action\":\"accept\",\"content\":[]}", "/content"},
        {"{\"action\":\"maybe\"}", "/action"},
        {"{\"content\":{\"name\":\"Ada\"}}", "/action"},
        {"{}", "/action"},
    };
    for (size_t i = 0; i < N(allowed); i++) {
        if (answered(*state, MCP_ELICITATION_CREATE, PERSON, allowed[i]) != 0)
            fail_msg("refused: %s: %s", allowed[i], outcome.message);
        assert_string_equal(outcome.result, allowed[i]);
    }
    for (size_t i = 0; i < N(refused); i++) {
        int err = answered(*state, MCP_ELICITATION_CREATE, PERSON, refused[i].result);
        if (err != ERR_ANSWER || !strstr(outcome.message, refused[i].says))
            fail_msg("%s: %d %s", refused[i].result, err, outcome.message);
        assert_string_equal(outcome.result, "");
    }
}

static void EL_05_accept_decline_and_cancel_are_three_outcomes(void **state)
{
    assert_int_equal(answered(*state, MCP_ELICITATION_CREATE, PERSON, "{\"action\":\"decline\"}"),
                     0);
    assert_string_equal(outcome.result, "{\"action\":\"decline\"}");
    assert_int_equal(answered(*state, MCP_ELICITATION_CREATE, PERSON, "{\"action\":\"cancel\"}"),
                     0);
    assert_string_equal(outcome.result, "{\"action\":\"cancel\"}");
    assert_int_equal(
        answered(*state, MCP_ELICITATION_CREATE, PERSON, "{\"action\":\"cancel\",\"content\":{}}"),
        0);
}

#define SAMPLE "{\"messages\":[" TEXT_MESSAGE "],\"maxTokens\":10}"

static void SM_03_a_sampling_answer_is_checked(void **state)
{
    static const char *const allowed[] = {
        "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"yes\"},\"model\":\"m\"}",
        "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"yes\"},\"model\":\"m\","
        "\"stopReason\":\"endTurn\",\"more\":1}",
    };
    static const char *const refused[] = {
        "{}",
        "{\"role\":\"assistant\",\"model\":\"m\"}",
        "{\"role\":\"assistant\",\"content\":\"yes\",\"model\":\"m\"}",
        "{\"role\":\"assistant\",\"content\":{\"type\":\"text\"},\"model\":\"m\"}",
        "{\"role\":\"assistant\",\"content\":{\"type\":\"video\",\"text\":\"\"},\"model\":\"m\"}",
        "{\"role\":\"machine\",\"content\":{\"type\":\"text\",\"text\":\"\"},\"model\":\"m\"}",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"model\":\"m\"}",
        "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"\"}}",
        "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"\"},\"model\":7}",
    };
    for (size_t i = 0; i < N(allowed); i++) {
        assert_int_equal(answered(*state, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE, allowed[i]), 0);
        assert_string_equal(outcome.result, allowed[i]);
    }
    for (size_t i = 0; i < N(refused); i++)
        if (answered(*state, MCP_SAMPLING_CREATE_MESSAGE, SAMPLE, refused[i]) != ERR_ANSWER)
            fail_msg("taken: %s", refused[i]);
}

static void RT_04_roots_that_are_no_files_are_not_there(void **state)
{
    assert_int_equal(answered(*state, MCP_ROOTS_LIST, "",
                              "{\"roots\":[{\"uri\":\"https://x.test/\"},{\"uri\":\"file:///a\","
                              "\"name\":\"A\"},{\"uri\":\"FILE:///b\"},{\"uri\":\"filed://c\"}]}"),
                     0);
    struct arena a;
    arena_init(&a, 0);
    assert_true(fits(open_json(&a, STR("{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"A\"},"
                                       "{\"uri\":\"FILE:///b\"}]}")),
                     open_json(&a, str_of(outcome.result))));
    arena_done(&a);
    assert_int_equal(answered(*state, MCP_ROOTS_LIST, "", "{\"roots\":[]}"), 0);
    assert_string_equal(outcome.result, "{\"roots\":[]}");
}

static void a_roots_answer_is_checked(void **state)
{
    static const char *const refused[] = {"{}", "{\"roots\":{}}", "{\"roots\":[1]}",
                                          "{\"roots\":[{}]}", "{\"roots\":[{\"uri\":1}]}"};
    for (size_t i = 0; i < N(refused); i++)
        if (answered(*state, MCP_ROOTS_LIST, "", refused[i]) != ERR_ANSWER)
            fail_msg("taken: %s", refused[i]);
}

static void RT_02_a_change_of_roots_is_taken_note_of(void **state)
{
    ask(*state, 202, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}", "");
    connect_operating(*state, "2025-06-18", "{}");
    ask(*state, 202, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EL_03_the_forms_that_2025_06_18_allows),
        cmocka_unit_test(EL_03_nothing_else_is_sent),
        cmocka_unit_test(EL_03_2025_11_25_has_more_forms),
        cmocka_unit_test(elicitation_modes_go_by_what_the_client_declared),
        cmocka_unit_test(SM_02_what_a_sampling_may_hold),
        cmocka_unit_test(L_10_what_a_revision_does_not_know_is_not_sent),
        cmocka_unit_test(sampling_of_2025_11_25_has_capabilities_of_its_own),
        cmocka_unit_test(roots_are_asked_for_without_anything),
        cmocka_unit_test(no_memory_is_said),
        RIG_TEST(EL_04_content_fits_what_was_asked),
        RIG_TEST(EL_05_accept_decline_and_cancel_are_three_outcomes),
        RIG_TEST(SM_03_a_sampling_answer_is_checked),
        RIG_TEST(RT_04_roots_that_are_no_files_are_not_there),
        RIG_TEST(a_roots_answer_is_checked),
        RIG_TEST(RT_02_a_change_of_roots_is_taken_note_of),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
