/* tests/unit/role_rig.h - four tables and two components, and clients with roles that may do less.
 *
 *   geo.cities    purse has a unique index, motto none; as much as one asks for
 *   geo.rivers    a key that is an integer
 *   vault.gold    what few may see
 *   hr.people     the same
 *   weather.so    tool forecast, prompt trip, resource sky:now, template sky:/{town}
 *   spy.so        tool wiretap, prompt dossier, resource moon:base, template moon:/{agent}
 */
#ifndef TENON_TESTS_UNIT_ROLE_RIG_H
#define TENON_TESTS_UNIT_ROLE_RIG_H

#include "ask.h"

#include "core/component.h"
#include "core/role.h"

static struct tenon *rig_components;
static struct arena rig_arena; /* of roles and answers */

#define CITIES_DEFINITION                                                                        \
    "{\"title\":\"Towns\",\"description\":\"Where one lives\",\"primaryKey\":\"code\","          \
    "\"indexes\":[{\"name\":\"by_purse\",\"on\":[\"purse\"],\"unique\":true},{\"name\":"         \
    "\"by_name\",\"on\":[\"name\"]}],\"schema\":{\"type\":\"object\",\"properties\":{\"code\":{" \
    "\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"purse\":{\"type\":\"integer\","       \
    "\"minimum\":5},\"motto\":{\"type\":\"string\"}},\"required\":[\"name\"]}}"
#define RIVERS_DEFINITION                                                                      \
    "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":" \
    "\"integer\"},\"name\":{\"type\":\"string\"}},\"additionalProperties\":false}}"
#define GOLD_DEFINITION                                                                         \
    "{\"title\":\"Bullion\",\"primaryKey\":\"bar\",\"schema\":{\"type\":\"object\","            \
    "\"properties\":{\"bar\":{\"type\":\"string\"},\"ounces\":{\"type\":\"integer\"},\"name\":" \
    "{\"type\":\"string\"}}}}"
#define PEOPLE_DEFINITION                                                                   \
    "{\"primaryKey\":\"badge\",\"schema\":{\"type\":\"object\",\"properties\":{\"badge\":{" \
    "\"type\":\"string\"},\"salary\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\"}}}}"

static int rig_text(struct tenon_call *call, void *ctx)
{
    return tenon_text(call, ctx);
}

static int rig_contents(struct tenon_call *call, void *ctx)
{
    return tenon_contents_text(call, NULL, NULL, ctx);
}

static int rig_complete(struct tenon_call *call, const char *name, const char *value, void *ctx)
{
    (void)name, (void)value;
    return tenon_complete(call, ctx);
}

static int rig_add(struct tenon *t, const char *tool, const char *prompt, const char *uri,
                   const char *template, const char *text)
{
    static const struct tenon_prompt_argument arguments[] = {{.name = "who"}};
    void *ctx = (void *)(uintptr_t)text;
    tenon_add_prompt(t, &(struct tenon_prompt){.name = prompt,
                                               .description = "d",
                                               .arguments = arguments,
                                               .n_arguments = 1,
                                               .is_inline = true,
                                               .render = rig_text,
                                               .complete = rig_complete,
                                               .ctx = ctx});
    tenon_add_resource(t, &(struct tenon_resource){.uri = uri,
                                                   .name = uri,
                                                   .subscribable = true,
                                                   .is_inline = true,
                                                   .read = rig_contents,
                                                   .ctx = ctx});
    tenon_add_template(t, &(struct tenon_template){.uri_template = template,
                                                   .name = template,
                                                   .subscribable = true,
                                                   .is_inline = true,
                                                   .read = rig_contents,
                                                   .complete = rig_complete,
                                                   .ctx = ctx});
    return tenon_add_tool(
        t, &(struct tenon_tool){
               .name = tool, .description = "d", .is_inline = true, .run = rig_text, .ctx = ctx});
}

static int rig_weather(struct tenon *t)
{
    return rig_add(t, "forecast", "trip", "sky:now", "sky:/{town}", "sunny");
}

static int rig_spy(struct tenon *t)
{
    return rig_add(t, "wiretap", "dossier", "moon:base", "moon:/{agent}", "bugged");
}

static inline void rig_row(const char *tool, const char *row)
{
    char params[1024];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", tool, row);
    ask_method(&bench, "tools/call", params, "{\"-\":[\"isError\"]}");
}

static inline void rig_open(struct core_config config)
{
    arena_init(&rig_arena, 256u << 20);
    assert_int_equal(components_new(&rig_components), 0);
    assert_int_equal(components_add(rig_components, STR("weather.so"), rig_weather), 0);
    assert_int_equal(components_add(rig_components, STR("spy.so"), rig_spy), 0);
    config.components = rig_components;
    bench_open(&bench, &config);
    bench_table(&bench, "geo", "cities", CITIES_DEFINITION);
    bench_table(&bench, "geo", "rivers", RIVERS_DEFINITION);
    bench_table(&bench, "vault", "gold", GOLD_DEFINITION);
    bench_table(&bench, "hr", "people", PEOPLE_DEFINITION);
    bench_connect(&bench, "2025-06-18");
    rig_row("create_cities", "{\"code\":\"aa\",\"name\":\"Aachen\",\"purse\":77001,\"motto\":"
                             "\"Onwards\",\"extra\":\"Forwards\"}");
    rig_row("create_cities", "{\"code\":\"bb\",\"name\":\"Bern\",\"purse\":77002,\"motto\":"
                             "\"Upwards\",\"extra\":\"Sideways\"}");
    rig_row("create_rivers", "{\"id\":1,\"name\":\"Rhine\"}");
    rig_row("create_gold", "{\"bar\":\"k1\",\"ounces\":99123,\"name\":\"Ingot\"}");
    rig_row("create_people", "{\"badge\":\"p1\",\"salary\":88123,\"name\":\"Mallory\"}");
}

static inline int rig_set_up(void **state)
{
    (void)state;
    rig_open(bench_config);
    return 0;
}

static inline int rig_tear_down(void **state)
{
    (void)state;
    bench_close(&bench);
    components_free(rig_components);
    while (loop_turn(&bench.loop, 0))
        ;
    arena_done(&rig_arena);
    return 0;
}

#define ROLE_TEST(f) cmocka_unit_test_setup_teardown(f, rig_set_up, rig_tear_down)

/* Another user, with this role and a session of his own. */
static inline void rig_become(const char *user, const char *role)
{
    struct schema_faults faults;
    bench.role = NULL;
    if (role_parse(str_of(role), &rig_arena, &bench.role, &faults) < 0)
        fail_msg("%s: %s: %s", role, faults.v[0].pointer, faults.v[0].expected);
    snprintf(bench.user, sizeof bench.user, "%s", user);
    bench_connect(&bench, "2025-06-18");
}

/* The same with what the roles allow together. */
static inline void rig_become_both(const char *user, const char *one, const char *other)
{
    const struct role *both[2];
    rig_become(user, one);
    both[0] = bench.role;
    rig_become(user, other);
    both[1] = bench.role;
    bench.role = role_join(both, 2, &rig_arena);
    assert_non_null(bench.role);
}

/* The answer's body; it stays. */
static inline struct str rig_ask(const char *method, const char *params)
{
    char body[4096];
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}",
             method, params);
    bench_send(&bench, str_of(body));
    assert_int_equal(bench.status, 200);
    return arena_str(&rig_arena, buf_str(&bench.body));
}

static inline bool rig_has(struct str text, const char *word)
{
    return memmem(text.p, text.n, word, strlen(word)) != NULL;
}

static inline int rig_count(struct str text, const char *word)
{
    int n = 0;
    for (const char *at = text.p; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

static inline bool rig_works(struct str answer)
{
    return rig_has(answer, "\"result\":") && !rig_has(answer, "\"isError\":true");
}

/* With each `name` made "?", of any length. */
static inline struct str rig_mask(struct str text, const char *name)
{
    struct buf out = {0};
    size_t n = strlen(name);
    for (const char *at = text.p; *at;) {
        bool is_it = strncmp(at, name, n) == 0;
        buf_add_char(&out, is_it ? '?' : *at);
        at += is_it ? n : 1;
    }
    struct str masked = arena_str(&rig_arena, buf_str(&out));
    buf_done(&out);
    return masked;
}

/* Two refusals that differ in nothing but the names that were asked for. */
static inline void rig_assert_alike(struct str one, const char *name, struct str other,
                                    const char *other_name)
{
    struct str a = rig_mask(one, name), b = rig_mask(other, other_name);
    if (!str_eq(a, b))
        fail_msg(STR_FMT "\n" STR_FMT, STR_ARG(a), STR_ARG(b));
    assert_false(rig_works(one));
}

static inline struct str rig_call(const char *tool, const char *arguments)
{
    char params[2048];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", tool, arguments);
    return rig_ask("tools/call", params);
}

#endif
