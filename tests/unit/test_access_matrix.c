/* tests/unit/test_access_matrix.c - roles x things x (list, call, read, complete, subscribe): what
 * is listed is what works; what is forbidden answers like what is not there, byte for byte but for
 * the name that was asked; and no answer has a word of what is forbidden. */
#include "role_rig.h"

#define N(a) (sizeof(a) / sizeof *(a))

/* ---- Who ------------------------------------------------------------------------------------ */

enum thing { CITIES, RIVERS, GOLD, PEOPLE, TABLES };

/* The last word of each is whether a role may see it: told here once more, and not by role.c. */
static const struct who {
    const char *name, *role;
    const char *grants[TABLES]; /* of driux, those that it has */
    bool weather, spy;
    const char *operations; /* those that it has of the operations below */
    const char *unseen[16]; /* words that it must never meet */
} people[] = {
    {"root",
     "{\"super_user\":true}",
     {"driux", "driux", "driux", "driux"},
     true,
     true,
     "describe_all describe_table explain_search list_jobs system_information read_log",
     {NULL}},
    {"nobody",
     "{}",
     {"", "", "", ""},
     false,
     false,
     "",
     {"cities", "rivers", "gold", "people", "geo", "vault", "hr", "purse", "Towns", "Bullion",
      "forecast", "wiretap", "sky:", "moon:", "describe_"}},
    {"reader",
     "{\"databases\":{\"geo\":{\"tables\":{\"*\":{\"read\":true}}}},\"components\":[\"weather.so\"]"
     ","
     "\"operations\":[\"describe_*\",\"list_jobs\"]}",
     {"dr", "dr", "", ""},
     true,
     false,
     "describe_all describe_table list_jobs",
     {"gold", "Bullion", "vault", "people", "hr\"", "hr.", "ounces", "99123", "salary", "Mallory",
      "wiretap", "moon:", "dossier", "bugged", "explain_search"}},
    {"teller",
     "{\"databases\":{\"geo\":{\"tables\":{\"cities\":{\"read\":true,\"insert\":true,\"update\":"
     "true,"
     "\"delete\":true,\"attribute_permissions\":[{\"attribute_name\":\"purse\"},{\"attribute_"
     "name\":"
     "\"extra\"}]}}}},\"operations\":[\"*\"],\"tools\":[\"fore*\"],\"resources\":[\"sky:*\"],"
     "\"prompts\":[\"trip\"]}",
     {"driux", "", "", ""},
     true,
     false,
     "describe_all describe_table explain_search list_jobs system_information read_log",
     {"purse", "by_purse", "7700", "extra", "Sideways", "rivers", "Rhine", "gold", "vault",
      "people", "\"hr\"", "wiretap", "moon:", "dossier", "bugged"}},
    {"clerk",
     "{\"databases\":{\"*\":{\"tables\":{\"people\":{\"describe\":true},\"rivers\":{\"insert\":"
     "true,"
     "\"delete\":true},\"cities\":{\"update\":true}}}},\"operations\":[\"describe_table\"]}",
     {"u", "ix", "", "d"},
     false,
     false,
     "describe_table",
     {"gold", "Bullion", "vault", "ounces", "Mallory", "88123", "Rhine", "Aachen", "wards", "77001",
      "forecast", "wiretap", "sunny", "bugged", "describe_all"}},
    {"auditor",
     "{\"databases\":{\"vault\":{\"describe\":true},\"hr\":{\"describe\":true,\"tables\":{"
     "\"people\":{"
     "\"read\":true,\"attribute_permissions\":[{\"attribute_name\":\"salary\"}]}}}},\"components\":"
     "[\"spy.so\"],\"operations\":[\"describe_*\",\"explain_search\"]}",
     {"", "", "d", "dr"},
     false,
     true,
     "describe_all describe_table explain_search",
     {"salary", "88123", "Ingot", "99123", "cities", "rivers", "geo", "purse", "forecast",
      "sky:", "trip", "sunny"}},
    {"keyless",
     "{\"databases\":{\"geo\":{\"tables\":{\"cities\":{\"read\":true,\"update\":true,\"delete\":"
     "true,"
     "\"attribute_permissions\":[{\"attribute_name\":\"code\"}]}}}}}",
     {"", "", "", ""},
     false,
     false,
     "",
     {"cities", "Aachen", "purse", "rivers", "gold", "people", "geo"}},
};

static bool may(const struct who *who, enum thing table, char grant)
{
    return strchr(who->grants[table], grant) != NULL;
}

static const struct what {
    const char *database, *table, *id, *id_json, *new_row, *new_id; /* with %d for who */
} tables[TABLES] = {
    [CITIES] = {"geo", "cities", "aa", "\"aa\"", "{\"code\":\"n%d\",\"name\":\"New\"}", "\"n%d\""},
    [RIVERS] = {"geo", "rivers", "1", "1", "{\"id\":10%d,\"name\":\"New\"}", "10%d"},
    [GOLD] = {"vault", "gold", "k1", "\"k1\"", "{\"bar\":\"n%d\"}", "\"n%d\""},
    [PEOPLE] = {"hr", "people", "p1", "\"p1\"", "{\"badge\":\"n%d\"}", "\"n%d\""},
};

/* ---- Asking --------------------------------------------------------------------------------- */

/* Nothing of what is forbidden is in the answer, unless the question had it. */
static struct str ask_as(const struct who *who, const char *method, const char *params)
{
    struct str answer = rig_ask(method, params);
    for (const char *const *word = who->unseen; *word; word++)
        if (rig_has(answer, *word) && !strstr(params, *word))
            fail_msg("%s: %s %s tells of %s: " STR_FMT, who->name, method, params, *word,
                     STR_ARG(answer));
    return answer;
}

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text_of(const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return (char *)(uintptr_t)arena_str(&rig_arena, str_of(text)).p;
}

/* Asks by the name; if that is forbidden, then by another that nothing has: the same answer. */
static void probe(const struct who *who, bool allowed, const char *method, const char *params,
                  const char *name, const char *missing)
{
    struct str answer = ask_as(who, method, params);
    if (rig_works(answer) != allowed)
        fail_msg("%s: %s %s: %s, but " STR_FMT, who->name, method, params,
                 allowed ? "allowed" : "forbidden", STR_ARG(answer));
    if (allowed)
        return;
    struct buf other = {0};
    const char *at = strstr(params, name);
    buf_add(&other, params, (size_t)(at - params));
    buf_add_str(&other, str_of(missing));
    buf_add_str(&other, str_of(at + strlen(name)));
    buf_add_char(&other, '\0');
    struct str absent = rig_mask(rig_ask(method, other.p), missing);
    struct str forbidden = rig_mask(answer, name);
    if (!str_eq(absent, forbidden))
        fail_msg("%s: %s %s:\n" STR_FMT "\nbut of what is not there\n" STR_FMT, who->name, method,
                 params, STR_ARG(forbidden), STR_ARG(absent));
    buf_done(&other);
}

/* ---- Tools ---------------------------------------------------------------------------------- */

static const struct {
    const char *verb;
    char grant;
} verbs[] = {{"get", 'r'}, {"search", 'r'}, {"create", 'i'}, {"update", 'u'}, {"delete", 'x'}};

static char *arguments_of(enum thing t, const char *verb, int user)
{
    const struct what *w = &tables[t];
    if (strcmp(verb, "get") == 0)
        return text_of("{\"id\":%s}", w->id_json);
    if (strcmp(verb, "search") == 0)
        return text_of("{\"total\":true}");
    if (strcmp(verb, "update") == 0)
        return text_of("{\"id\":%s,\"changes\":{\"name\":\"Renamed\"}}", w->id_json);
    const char *form = strcmp(verb, "create") == 0 ? w->new_row : w->new_id;
    char inner[256], number[8];
    const char *at = strstr(form, "%d");
    snprintf(number, sizeof number, "%d", user);
    snprintf(inner, sizeof inner, "%.*s%s%s", (int)(at - form), form, number, at + 2);
    return strcmp(verb, "create") == 0 ? text_of("%s", inner) : text_of("{\"id\":%s}", inner);
}

static void tools_of_tables(const struct who *who, int user, struct str list, int *n)
{
    for (enum thing t = 0; t < TABLES; t++)
        for (size_t v = 0; v < N(verbs); v++) {
            char *name = text_of("%s_%s", verbs[v].verb, tables[t].table);
            bool allowed = may(who, t, verbs[v].grant);
            *n += allowed;
            assert_int_equal(rig_has(list, text_of("\"name\":\"%s\"", name)), allowed);
            probe(who, allowed, "tools/call",
                  text_of("{\"name\":\"%s\",\"arguments\":%s}", name,
                          arguments_of(t, verbs[v].verb, user)),
                  name, "get_missing");
        }
}

static void component_tool(const struct who *who, bool allowed, const char *name, struct str list)
{
    assert_int_equal(rig_has(list, text_of("\"name\":\"%s\"", name)), allowed);
    probe(who, allowed, "tools/call", text_of("{\"name\":\"%s\"}", name), name, "get_missing");
}

static void tools(const struct who *who, int user)
{
    struct str list = ask_as(who, "tools/list", "{}");
    int n = who->weather + who->spy;
    tools_of_tables(who, user, list, &n);
    component_tool(who, who->weather, "forecast", list);
    component_tool(who, who->spy, "wiretap", list);
    assert_int_equal(rig_count(list, "\"inputSchema\":"), n);
}

/* ---- Resources ------------------------------------------------------------------------------ */

static void resource(const struct who *who, bool listed, bool readable, bool subscribable,
                     const char *uri, struct str list)
{
    const char *missing =
        strchr(uri, ':')[1] == '/' && uri[0] == 'd' ? "db://none/nothing" : "no:thing";
    char *params = text_of("{\"uri\":\"%s\"}", uri);
    assert_int_equal(rig_has(list, text_of("\"uri\":\"%s\"", uri)), listed);
    probe(who, readable, "resources/read", params, uri, missing);
    if (uri[0] != 't')
        probe(who, subscribable, "resources/subscribe", params, uri, missing);
}

static void resources(const struct who *who)
{
    struct str list = ask_as(who, "resources/list", "{}");
    int n = 2 + who->weather + who->spy; /* about, openapi */
    for (enum thing t = 0; t < TABLES; t++) {
        const struct what *w = &tables[t];
        bool reads = may(who, t, 'r'), describes = may(who, t, 'd');
        n += reads + describes;
        resource(who, reads, reads, reads, text_of("db://%s/%s", w->database, w->table), list);
        resource(who, false, reads, reads, text_of("db://%s/%s/%s", w->database, w->table, w->id),
                 list);
        resource(who, describes, describes, false,
                 text_of("tenon://schema/%s/%s", w->database, w->table), list);
    }
    resource(who, who->weather, who->weather, who->weather, "sky:now", list);
    resource(who, false, who->weather, who->weather, "sky:/rome", list);
    resource(who, who->spy, who->spy, who->spy, "moon:base", list);
    resource(who, false, who->spy, who->spy, "moon:/bond", list);
    assert_int_equal(rig_count(list, "\"uri\":"), n);
    struct str templates = ask_as(who, "resources/templates/list", "{}");
    assert_int_equal(rig_has(templates, "sky:/{town}"), who->weather);
    assert_int_equal(rig_has(templates, "moon:/{agent}"), who->spy);
    ask_as(who, "resources/read", "{\"uri\":\"tenon://about\"}");
}

static void openapi(const struct who *who)
{
    struct str document = ask_as(who, "resources/read", "{\"uri\":\"tenon://openapi\"}");
    for (enum thing t = 0; t < TABLES; t++)
        for (size_t v = 0; v < N(verbs); v++)
            assert_int_equal(rig_has(document, text_of("/%s/%s/%s\\\"", tables[t].database,
                                                       tables[t].table, verbs[v].verb)),
                             may(who, t, verbs[v].grant));
}

/* ---- Prompts and completions ---------------------------------------------------------------- */

static void prompt(const struct who *who, bool allowed, const char *name, struct str list)
{
    assert_int_equal(rig_has(list, text_of("\"name\":\"%s\"", name)), allowed);
    probe(who, allowed, "prompts/get", text_of("{\"name\":\"%s\"}", name), name, "none");
    probe(
        who, allowed, "completion/complete",
        text_of("{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"%s\"},\"argument\":{\"name\":\"who\","
                "\"value\":\"\"}}",
                name),
        name, "none");
}

static struct str complete(const struct who *who, const char *template, const char *variable,
                           const char *database, const char *table)
{
    return ask_as(
        who, "completion/complete",
        text_of("{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"%s\"},\"argument\":{\"name\":"
                "\"%s\",\"value\":\"\"},\"context\":{\"arguments\":{\"database\":\"%s\","
                "\"table\":\"%s\"}}}",
                template, variable, database, table));
}

static void completions(const struct who *who)
{
    for (enum thing t = 0; t < TABLES; t++) {
        const struct what *w = &tables[t];
        char *table = text_of("\"%s\"", w->table), *id = text_of("\"%s\"", w->id);
        bool reads = may(who, t, 'r');
        struct str names = complete(who, "db://{database}/{table}", "table", w->database, "");
        assert_int_equal(rig_has(names, table), reads);
        names = complete(who, "tenon://schema/{database}/{table}", "table", w->database, "");
        assert_int_equal(rig_has(names, table), may(who, t, 'd'));
        struct str ids = complete(who, "db://{database}/{table}/{id}", "id", w->database, w->table);
        assert_int_equal(rig_has(ids, id), reads);
        struct str none = complete(who, "db://{database}/{table}/{id}", "id", "none", "nothing");
        if (!reads)
            assert_true(str_eq(ids, none));
        names = complete(who, "db://{database}/{table}", "database", "", w->table);
        assert_int_equal(rig_has(names, text_of("\"%s\"", w->database)), reads);
    }
    probe(who, who->weather, "completion/complete",
          "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"sky:/{town}\"},\"argument\":{\"name\":"
          "\"town\",\"value\":\"\"}}",
          "sky:/{town}", "no:/{town}");
}

static void prompts(const struct who *who)
{
    struct str list = ask_as(who, "prompts/list", "{}");
    prompt(who, who->weather, "trip", list);
    prompt(who, who->spy, "dossier", list);
}

/* ---- Operations ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *arguments; /* with the table's, if there are none here */
} operations[] = {
    {"describe_all", "{}"}, {"describe_table", NULL},     {"explain_search", NULL},
    {"list_jobs", "{}"},    {"system_information", "{}"}, {"read_log", "{\"limit\":1}"},
};

static bool may_operation(const struct who *who, const char *name)
{
    return strstr(who->operations, name) != NULL;
}

static void operation_on_tables(const struct who *who, const char *name)
{
    char grant = strcmp(name, "describe_table") == 0 ? 'd' : 'r';
    for (enum thing t = 0; t < TABLES; t++)
        probe(who, may(who, t, grant), "tools/call",
              text_of("{\"name\":\"%s\",\"arguments\":{\"database\":\"%s\",\"table\":\"%s\"}}",
                      name, tables[t].database, tables[t].table),
              tables[t].table, "nothing");
}

static void run_operation(const struct who *who, size_t i, struct str list)
{
    const char *name = operations[i].name, *arguments = operations[i].arguments;
    bool allowed = may_operation(who, name);
    assert_int_equal(rig_has(list, text_of("\"name\":\"%s\"", name)), allowed);
    if (!allowed || arguments)
        probe(who, allowed, "tools/call",
              text_of("{\"name\":\"%s\",\"arguments\":%s}", name, arguments ? arguments : "{}"),
              name, "none");
    else
        operation_on_tables(who, name);
}

static void run_operations(const struct who *who)
{
    bench.profile = PROFILE_OPERATIONS;
    rig_become(who->name, who->role);
    struct str list = ask_as(who, "tools/list", "{}");
    struct str read = ask_as(who, "resources/read", "{\"uri\":\"tenon://operations\"}");
    for (size_t i = 0; i < N(operations); i++) {
        run_operation(who, i, list);
        assert_int_equal(rig_has(read, text_of("\\\"%s\\\"", operations[i].name)),
                         may_operation(who, operations[i].name));
    }
    bench.profile = PROFILE_APPLICATION;
}

/* ---- All ------------------------------------------------------------------------------------ */

static void what_is_listed_is_what_works_and_nothing_else_leaks(void **state)
{
    (void)state;
    for (size_t i = 0; i < N(people); i++) {
        const struct who *who = &people[i];
        rig_become(who->name, who->role);
        tools(who, (int)i);
        resources(who);
        openapi(who);
        prompts(who);
        completions(who);
        run_operations(who);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROLE_TEST(what_is_listed_is_what_works_and_nothing_else_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
