/* codegen/messages.c - who sends what; see messages.h. */
#include "codegen/messages.h"

#include "base/err.h"
#include "codegen/facts.h"

enum { DEPTH_MAX = 64 };

/* What a definition is part of. */
struct reach {
    struct str name;
    unsigned direction;
    struct reach *next;
};

struct walk {
    const struct json *root, *definitions;
    struct arena *arena;
    struct messages *messages;
    bool no_memory;
};

static const struct {
    const char *name;
    unsigned direction;
    bool has_methods;
} unions[] = {
    {"ClientRequest", TO_SERVER, true},
    {"ClientNotification", TO_SERVER, true},
    {"ServerRequest", TO_CLIENT, true},
    {"ServerNotification", TO_CLIENT, true},
    {"ClientResult", TO_SERVER, false},
    {"ServerResult", TO_CLIENT, false},
    {"JSONRPCMessage", TO_SERVER | TO_CLIENT, false},
};
enum { N_UNIONS = sizeof unions / sizeof *unions };

static void *take(struct walk *walk, size_t n)
{
    void *p = arena_zalloc(walk->arena, n);
    if (!p)
        walk->no_memory = true;
    return p;
}

/* ---- methods */

static struct str method_name(const struct json *definition)
{
    const struct json *properties = json_get(definition, STR("properties"));
    return json_str(json_get(json_get(properties, STR("method")), STR("const")));
}

static struct method **find_place(struct method **at, struct str name, unsigned direction)
{
    for (; *at; at = &(*at)->next) {
        int order = str_compare((*at)->name, name);
        if (order > 0 || (order == 0 && (*at)->direction >= direction))
            break;
    }
    return at;
}

const struct method *messages_find(const struct messages *messages, struct str name,
                                   unsigned direction)
{
    const struct method *method = messages->methods;
    while (method && !(str_eq(method->name, name) && method->direction == direction))
        method = method->next;
    return method;
}

/* By kind and by whether params may be left out. */
static struct str describe_method(struct str name, const struct json *definition)
{
    static const struct str texts[2][2] = {
        {STR_INIT("request, params optional"), STR_INIT("request, params required")},
        {STR_INIT("notification, params optional"), STR_INIT("notification, params required")},
    };
    bool is_note = str_starts_with(name, STR("notifications/"));
    return texts[is_note][facts_requires(definition, STR("params"))];
}

static void add_method(struct walk *walk, const struct json *definition, unsigned direction)
{
    struct str name = method_name(definition);
    if (!name.p || messages_find(walk->messages, name, direction))
        return;
    struct method *method = take(walk, sizeof *method);
    if (!method)
        return;
    struct method **at = find_place(&walk->messages->methods, name, direction);
    method->name = name;
    method->direction = direction;
    method->text = describe_method(name, definition);
    method->next = *at;
    *at = method;
}

/* A union of one is written without anyOf, sometimes even without $ref. */
static void add_methods_of(struct walk *walk, const struct json *schema, unsigned direction)
{
    const struct json *members = json_get(schema, STR("anyOf"));
    json_each (member, members)
        add_method(walk, facts_resolve(walk->root, member), direction);
    if (!members)
        add_method(walk, facts_resolve(walk->root, schema), direction);
}

static bool is_sent(const struct messages *messages, struct str name)
{
    return messages_find(messages, name, TO_SERVER) || messages_find(messages, name, TO_CLIENT);
}

static void collect_methods(struct walk *walk)
{
    for (int i = 0; i < N_UNIONS; i++)
        if (unions[i].has_methods)
            add_methods_of(walk, json_get(walk->definitions, str_of(unions[i].name)),
                           unions[i].direction);
    /* what no union holds is carried inside other messages */
    json_each (definition, walk->definitions)
        if (!is_sent(walk->messages, method_name(definition)))
            add_method(walk, definition, 0);
}

/* ---- direction of types */

static struct reach *find_reach(const struct messages *messages, struct str name)
{
    struct reach *reach = messages->reached;
    while (reach && !str_eq(reach->name, name))
        reach = reach->next;
    return reach;
}

static void reach_name(struct walk *walk, struct str name, unsigned direction, int depth);

/* Every reference below a schema. A property called $ref would do no harm: its value is a schema,
 * not a string. */
static void reach_below(struct walk *walk, const struct json *node, unsigned direction, int depth)
{
    if (facts_ref(node).p)
        reach_name(walk, facts_ref(node), direction, depth + 1);
    json_each (child, node)
        reach_below(walk, child, direction, depth);
}

static void reach_name(struct walk *walk, struct str name, unsigned direction, int depth)
{
    struct reach *at = find_reach(walk->messages, name);
    if (depth > DEPTH_MAX || (at && (at->direction & direction) == direction))
        return;
    if (!at) {
        at = take(walk, sizeof *at);
        if (!at)
            return;
        at->name = name;
        at->next = walk->messages->reached;
        walk->messages->reached = at;
    }
    at->direction |= direction;
    reach_below(walk, json_get(walk->definitions, name), direction, depth);
}

unsigned messages_direction(const struct messages *messages, struct str type)
{
    const struct reach *at = find_reach(messages, type);
    return at ? at->direction : 0;
}

int messages_collect(const struct json *root, struct arena *arena, struct messages *ret)
{
    struct messages messages = {0};
    struct walk walk = {.root = root, .arena = arena, .messages = &messages};
    walk.definitions = facts_definitions(root);
    collect_methods(&walk);
    for (int i = 0; i < N_UNIONS; i++)
        if (json_get(walk.definitions, str_of(unions[i].name)))
            reach_name(&walk, str_of(unions[i].name), unions[i].direction, 0);
    if (walk.no_memory)
        return ERR_NO_MEMORY;
    *ret = messages;
    return 0;
}
