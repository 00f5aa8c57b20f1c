/* config.c - the table of keys, and the walk over a settings file; see config.h.
 *
 * A value comes as JSON from the file or as text from a flag. Both end in the same setter of the
 * key's kind, which checks the range. Every message names the key and what was expected.
 */
#include "config.h"

#include "base/err.h"
#include "base/json_tree.h"
#include "base/limits.h"
#include "core/operations.h"

#include <stddef.h>
#include <string.h>

enum kind { COUNT, SWITCH, TEXT, ADDRESS, PATH, MODE, LIST, OBJECT };

struct key {
    const char *path;
    enum kind kind;
    uint16_t offset; /* in struct config */
    uint32_t min, max;
    const char *standard; /* as a flag would give it; NULL: zero */
    const char *help;     /* NULL: known and checked, but without effect */
};

#define AT(member) offsetof(struct config, member)
#define DAY_S      86400
#define IDLE_PROFILE(profile)                                   \
    {profile ".rateLimit", OBJECT, AT(idle), 0, 0, NULL, NULL}, \
    {                                                           \
        profile ".quota", OBJECT, AT(idle), 0, 0, NULL, NULL    \
    }

static const struct key keys[] = {
    {"listen", ADDRESS, AT(listen), 0, 0, "127.0.0.1:8750", "HOST:PORT; port 0: any free one"},
    {"dataDir", TEXT, AT(data_dir), 0, 0, "data", "folder of the database; created if missing"},
    {"workers", COUNT, AT(workers), 0, WORKERS_MAX, "0", "worker processes; 0: one per core"},
    {"mode", MODE, AT(mode), 0, 0, "sync",
     "sync: acknowledged means on disk; nosync: survives a killed process, not a power cut"},
    {"allowedOrigins", LIST, AT(allowed_origins), 0, 0, NULL,
     "Origin values of browser clients, beside loopback ones; \"*\": any"},
    {"allowedHosts", LIST, AT(allowed_hosts), 0, 0, NULL,
     "Host names without port, beside loopback ones"},
    {"bodyLimitBytes", COUNT, AT(body_limit_bytes), 1024, BODY_LIMIT_MAX_BYTES, "4194304",
     "largest request body"},
    {"listPageSize", COUNT, AT(list_page), 1, 10000, "200",
     "entries of a page of a list method, tools excepted"},
    {"mcp.session.idleTimeoutSeconds", COUNT, AT(session_idle_s), 1, 365 * DAY_S, "1800",
     "a session unused for so long is gone"},
    {"mcp.session.allowClientDelete", SWITCH, AT(allow_client_delete), 0, 0, "false",
     "whether a client may end its session by DELETE"},
    {"mcp.application.mountPath", PATH, AT(mount_path), 0, 0, "/mcp", "path of the endpoint"},
    {"mcp.application.maxTools", COUNT, AT(max_tools), 1, 10000, "200",
     "tools of a page of tools/list"},
    {"mcp.application.searchMaxResults", COUNT, AT(search_max), 1, SEARCH_MAX, "1000",
     "rows that one search call may return"},
    {"mcp.application.searchScanRows", COUNT, AT(search_scan_rows), 1, 1000000000, "100000",
     "rows that one search may look at"},
    {"mcp.application.allow", LIST, AT(idle), 0, 0, NULL, NULL},
    {"mcp.application.deny", LIST, AT(idle), 0, 0, NULL, NULL},
    IDLE_PROFILE("mcp.application"),
    {"mcp.operations.mountPath", PATH, AT(operations_path), 0, 0, "/mcp/operations",
     "path of the endpoint to manage the database by"},
    {"mcp.operations.maxTools", COUNT, AT(operations_tools), 1, 10000, "200",
     "tools of a page of its tools/list"},
    {"mcp.operations.allow", LIST, AT(operations_allow), 0, 0, OPERATIONS_ALLOW,
     "operations that may be called; * stands for any characters"},
    {"mcp.operations.deny", LIST, AT(operations_deny), 0, 0, NULL,
     "operations that may not be, even if they are allowed"},
    IDLE_PROFILE("mcp.operations"),
    {"mcp.serverRequest.timeoutMs", COUNT, AT(idle), 1, DAY_S * 1000, NULL, NULL},
    {"mcp.subscriptions.coalesceMs", COUNT, AT(idle), 0, DAY_S * 1000, NULL, NULL},
};
#define N_KEYS (sizeof keys / sizeof *keys)

/* A value on its way into the config, and where complaints about it go. */
struct setting {
    const struct key *key;
    struct config *config;
    struct arena *arena;
    struct config_fault *fault;
    uint32_t line;
    const char *file;
};

static int refuse(const struct setting *s, const char *expected)
{
    s->fault->line = s->line;
    snprintf(s->fault->text, sizeof s->fault->text, "%s: expected %s", s->key->path, expected);
    return ERR_SYNTAX;
}

static int no_memory(const struct setting *s)
{
    s->fault->line = 0;
    snprintf(s->fault->text, sizeof s->fault->text, "%s", err_text(ERR_NO_MEMORY));
    return ERR_NO_MEMORY;
}

static void *target(const struct setting *s)
{
    return (char *)s->config + s->key->offset;
}

/* ---- setters, one per kind ------------------------------------------------------------------ */

static int set_count(const struct setting *s, uint64_t v)
{
    char expected[64];
    if (v < s->key->min || v > s->key->max) {
        snprintf(expected, sizeof expected, "a whole number from %u to %u", s->key->min,
                 s->key->max);
        return refuse(s, expected);
    }
    *(uint32_t *)target(s) = (uint32_t)v;
    return 0;
}

static int set_text(const struct setting *s, struct str v)
{
    if (v.n == 0 || memchr(v.p, '\0', v.n))
        return refuse(s, "a string that is not empty");
    struct str copy = arena_str(s->arena, v);
    if (!copy.p)
        return no_memory(s);
    *(const char **)target(s) = copy.p;
    return 0;
}

static int set_path(const struct setting *s, struct str v)
{
    bool plain = v.n >= 2 && v.p[0] == '/' && v.p[v.n - 1] != '/';
    for (uint32_t i = 0; i < v.n; i++)
        plain = plain && v.p[i] > ' ' && v.p[i] < 0x7f && !strchr("?#%", v.p[i]);
    return plain ? set_text(s, v) : refuse(s, "a path such as /mcp");
}

static int set_mode(const struct setting *s, struct str v)
{
    enum store_mode *mode = target(s);
    if (str_eq(v, STR("sync")))
        *mode = STORE_SYNC;
    else if (str_eq(v, STR("nosync")))
        *mode = STORE_NOSYNC;
    else
        return refuse(s, "\"sync\" or \"nosync\"");
    return 0;
}

/* HOST:PORT, the port after the last colon; an IPv6 host stands in brackets. */
static int set_address(const struct setting *s, struct str v)
{
    static const char *const expected = "HOST:PORT, such as 127.0.0.1:8750 or [::1]:8750";
    struct config_address *address = target(s);
    const char *colon = v.n ? memrchr(v.p, ':', v.n) : NULL;
    uint64_t port;
    if (!colon)
        return refuse(s, expected);
    struct str host = {v.p, (uint32_t)(colon - v.p)};
    struct str digits = {colon + 1, v.n - host.n - 1};
    if (host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = (struct str){host.p + 1, host.n - 2};
    else if (host.n && memchr(host.p, ':', host.n))
        return refuse(s, expected);
    if (host.n == 0 || host.n >= sizeof address->host || memchr(host.p, '\0', host.n) ||
        str_to_u64(digits, &port) < 0 || port > UINT16_MAX)
        return refuse(s, expected);
    memcpy(address->host, host.p, host.n);
    address->host[host.n] = '\0';
    address->port = (uint16_t)port;
    return 0;
}

static int set_list(const struct setting *s, struct str *items, uint32_t n)
{
    *(struct config_list *)target(s) = (struct config_list){items, n};
    return 0;
}

/* ---- from a flag ---------------------------------------------------------------------------- */

static int list_from_text(const struct setting *s, struct str text)
{
    uint32_t n = 1, at = 0;
    for (uint32_t i = 0; i < text.n; i++)
        n += text.p[i] == ',';
    struct str *items = arena_array(s->arena, n, sizeof *items);
    if (!items)
        return no_memory(s);
    for (struct str rest = text; rest.p;)
        items[at++] = str_trim(str_cut(&rest, ','));
    return set_list(s, items, n);
}

static int count_from_text(const struct setting *s, struct str text)
{
    uint64_t v = UINT64_MAX; /* out of every range */
    str_to_u64(text, &v);
    return set_count(s, v);
}

static int switch_from_text(const struct setting *s, struct str text)
{
    bool yes = !text.p || str_eq(text, STR("true"));
    if (!yes && !str_eq(text, STR("false")))
        return refuse(s, "true or false");
    *(bool *)target(s) = yes;
    return 0;
}

static int set_from_text(const struct setting *s, struct str text)
{
    switch (s->key->kind) {
    case COUNT:
        return count_from_text(s, text);
    case SWITCH:
        return switch_from_text(s, text);
    case TEXT:
        return set_text(s, text);
    case ADDRESS:
        return set_address(s, text);
    case PATH:
        return set_path(s, text);
    case MODE:
        return set_mode(s, text);
    case LIST:
        return list_from_text(s, text);
    case OBJECT:
        break;
    }
    return ERR_INTERNAL;
}

/* ---- from the file -------------------------------------------------------------------------- */

static int list_from_json(const struct setting *s, const struct json *value)
{
    uint32_t n = 0;
    if (value->kind != JSON_ARRAY)
        return refuse(s, "an array of strings");
    struct str *items = arena_array(s->arena, value->n + 1, sizeof *items);
    if (!items)
        return no_memory(s);
    json_each (item, value) {
        if (item->kind != JSON_STR || item->v.s.n == 0)
            return refuse(s, "an array of strings that are not empty");
        items[n++] = item->v.s;
    }
    return set_list(s, items, n);
}

static int set_value(const struct setting *s, const struct json *value)
{
    switch (s->key->kind) {
    case OBJECT:
        return value->kind == JSON_OBJECT ? 0 : refuse(s, "an object");
    case LIST:
        return list_from_json(s, value);
    case COUNT:
        return set_count(s, value->kind == JSON_NUM && value->is_int && value->v.num.i >= 0
                                ? (uint64_t)value->v.num.i
                                : UINT64_MAX);
    case SWITCH:
        if (value->kind != JSON_BOOL)
            return refuse(s, "true or false");
        *(bool *)target(s) = value->v.b;
        return 0;
    default:
        return value->kind == JSON_STR ? set_from_text(s, value->v.s) : refuse(s, "a string");
    }
}

static int set_from_json(const struct setting *s, const struct json *value)
{
    int err = set_value(s, value);
    if (err == 0 && !s->key->help)
        fprintf(stderr, "%s:%u: %s is known but has no effect in this version\n", s->file, s->line,
                s->key->path);
    return err;
}

static const struct key *find_key(struct str path)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (str_eq(str_of(keys[i].path), path))
            return &keys[i];
    return NULL;
}

/* Of a key `path` below `group` ("" is the top): the name of the next level, else STR_NONE. */
static struct str level_below(struct str path, struct str group)
{
    if (group.n) {
        if (!str_starts_with(path, group) || path.n <= group.n || path.p[group.n] != '.')
            return STR_NONE;
        path = (struct str){path.p + group.n + 1, path.n - group.n - 1};
    }
    return str_cut(&path, '.');
}

static bool is_group(struct str path)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (level_below(str_of(keys[i].path), path).p)
            return true;
    return false;
}

/* "a, b, c": what may stand in `group`. Keys of one level stand together in the table. */
static void list_level(struct str group, char *text, size_t size)
{
    struct str last = STR_NONE;
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < N_KEYS; i++) {
        struct str name = level_below(str_of(keys[i].path), group);
        if (!name.p || str_eq(name, last) || n >= size)
            continue;
        n += (size_t)snprintf(text + n, size - n, "%s" STR_FMT, n ? ", " : "", STR_ARG(name));
        last = name;
    }
}

static int fault_at(struct config_fault *fault, uint32_t line, struct str path, const char *text)
{
    fault->line = line;
    snprintf(fault->text, sizeof fault->text, STR_FMT "%s%s", STR_ARG(path), path.n ? ": " : "",
             text);
    return ERR_SYNTAX;
}

static int unknown_key(struct config_fault *fault, const struct json *at, struct str path,
                       struct str group)
{
    char level[200], text[240];
    list_level(group, level, sizeof level);
    snprintf(text, sizeof text, "unknown key; known here: %s", level);
    return fault_at(fault, at->key_line, path, text);
}

static int load_group(const struct setting *base, const struct json *object, struct str group);

static int load_member(const struct setting *base, const struct json *value, struct str group)
{
    struct str path = arena_printf(base->arena, STR_FMT "%s" STR_FMT, STR_ARG(group),
                                   group.n ? "." : "", STR_ARG(value->key));
    struct setting s = *base;
    if (!path.p)
        return no_memory(base);
    bool dotted = value->key.n && memchr(value->key.p, '.', value->key.n);
    s.key = dotted ? NULL : find_key(path);
    s.line = value->line;
    if (s.key)
        return set_from_json(&s, value);
    if (!dotted && is_group(path))
        return load_group(base, value, path);
    return unknown_key(base->fault, value, path, group);
}

static int load_group(const struct setting *base, const struct json *object, struct str group)
{
    if (object->kind != JSON_OBJECT)
        return fault_at(base->fault, object->line, group, "expected an object");
    const struct json *twice = json_duplicate(object);
    if (twice)
        return fault_at(base->fault, twice->key_line, twice->key, "stands twice in this object");
    json_each (value, object) {
        int err = load_member(base, value, group);
        if (err < 0)
            return err;
    }
    return 0;
}

int config_load(struct config *config, const char *path, struct arena *arena,
                struct config_fault *fault)
{
    struct json *root;
    struct json_error error;
    int err = json_tree_load(path, arena, &root, &error);
    if (err < 0) {
        fault_at(fault, error.line, STR(""), error.text);
        return err;
    }
    struct setting base = {NULL, config, arena, fault, 0, path};
    return load_group(&base, root, STR(""));
}

int config_set(struct config *config, const char *path, const char *text, struct arena *arena,
               struct config_fault *fault)
{
    struct setting s = {find_key(str_of(path)), config, arena, fault, 0, NULL};
    return s.key ? set_from_text(&s, str_of(text)) : ERR_INTERNAL;
}

void config_init(struct config *config)
{
    struct config_fault fault;
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < N_KEYS; i++) {
        struct setting s = {&keys[i], config, NULL, &fault, 0, NULL};
        if (!keys[i].help)
            continue;
        if (keys[i].kind == TEXT || keys[i].kind == PATH)
            *(const char **)target(&s) = keys[i].standard;
        else if (keys[i].standard && keys[i].kind != LIST) /* an absent list is its default */
            set_from_text(&s, str_of(keys[i].standard));
    }
}

void config_print_keys(FILE *out)
{
    fputs("\nKeys of the settings file [default]; a dot stands for a nested object:\n", out);
    for (size_t i = 0; i < N_KEYS; i++)
        if (keys[i].help)
            fprintf(out, "  %s [%s]\n      %s\n", keys[i].path,
                    keys[i].standard ? keys[i].standard : "none", keys[i].help);
}
