/* codegen/diff.c - finds the changes between two schemas of facts; see change.h.
 *
 * Methods come from the four unions of messages. Types are compared pairwise by name, field by
 * field down into anonymous objects; where one side names what the other wrote inline, the fields
 * behind the name are compared with the inline ones. A type that is gone and a new one with the
 * same fields and the same fixed values count as renamed.
 */
#include "codegen/change.h"

#include "base/err.h"
#include "codegen/diff.h"
#include "codegen/facts.h"
#include "codegen/messages.h"

#include <stdio.h>
#include <string.h>

enum { ARENA_BYTES = 256 << 20, DEPTH_MAX = 64 /* of anonymous objects in each other */ };

struct side {
    const struct json *root, *definitions;
    struct messages messages;
};

struct diff {
    struct arena *arena;
    struct side from, to;
    struct changes *changes;
    struct buf text; /* scratch */
    bool no_memory;
};

static struct change *add_change(struct diff *d, enum change_subject subject, enum change_kind kind,
                                 struct str name, unsigned direction)
{
    static struct change lost;
    struct change *change = arena_zalloc(d->arena, sizeof *change);
    if (!change) {
        d->no_memory = true;
        return &lost;
    }
    change->subject = subject;
    change->kind = kind;
    change->name = name;
    change->direction = direction;
    if (d->changes->last)
        d->changes->last->next = change;
    else
        d->changes->first = change;
    d->changes->last = change;
    return change;
}

/* What stands in the scratch buffer, kept. */
static struct str keep_text(struct diff *d)
{
    struct str kept = arena_buf(d->arena, &d->text);
    if (!kept.p)
        d->no_memory = true;
    buf_clear(&d->text);
    return kept;
}

/* ---- methods */

/* Reports a pair once, from the new side. */
static void compare_method(struct diff *d, const struct method *method, bool is_old)
{
    const struct messages *others = is_old ? &d->to.messages : &d->from.messages;
    const struct method *other = messages_find(others, method->name, method->direction);
    if (other && (is_old || str_eq(method->text, other->text)))
        return;
    enum change_kind kind = other ? CHANGE_CHANGED : is_old ? CHANGE_REMOVED : CHANGE_ADDED;
    struct change *change = add_change(d, CHANGE_METHOD, kind, method->name, method->direction);
    change->from = other ? other->text : is_old ? method->text : STR_NONE;
    change->to = is_old ? STR_NONE : method->text;
}

static void compare_methods(struct diff *d)
{
    for (const struct method *method = d->to.messages.methods; method; method = method->next)
        compare_method(d, method, false);
    for (const struct method *method = d->from.messages.methods; method; method = method->next)
        compare_method(d, method, true);
}

/* ---- types and fields */

/* Where a comparison stands. */
struct place {
    struct str type, path;
    unsigned direction;
    int depth;
};

struct half { /* one side of a compared field */
    const struct json *schema;
    bool required;
};

static struct str describe(struct diff *d, const struct json *schema, bool fields)
{
    facts_describe(schema, fields, &d->text);
    return keep_text(d);
}

static struct place step(struct diff *d, const struct place *at, const char *between,
                         struct str name)
{
    struct place below = *at;
    if (at->path.n && *between)
        buf_printf(&d->text, STR_FMT "%s" STR_FMT, STR_ARG(at->path), between, STR_ARG(name));
    else
        buf_printf(&d->text, STR_FMT STR_FMT, STR_ARG(at->path), STR_ARG(name));
    below.path = keep_text(d);
    below.depth++;
    return below;
}

static bool has_text(struct diff *d, const struct json *members, struct str text)
{
    json_each (member, members)
        if (str_eq(describe(d, member, true), text))
            return true;
    return false;
}

/* The members of one union that the other does not have; STR_NONE if there are none. */
static struct str members_only_in(struct diff *d, const struct json *members,
                                  const struct json *other)
{
    struct str only = STR_NONE;
    json_each (member, members) {
        struct str text = describe(d, member, true);
        if (has_text(d, other, text))
            continue;
        if (only.p)
            buf_printf(&d->text, STR_FMT " | ", STR_ARG(only));
        buf_add_str(&d->text, text);
        only = keep_text(d);
    }
    return only;
}

static struct change *report_field(struct diff *d, const struct place *at, enum change_kind kind,
                                   struct half from, struct half to, bool fields)
{
    struct change *change = add_change(d, CHANGE_FIELD, kind, at->type, at->direction);
    change->path = at->path;
    change->from = from.schema ? describe(d, from.schema, fields) : STR_NONE;
    change->to = to.schema ? describe(d, to.schema, fields) : STR_NONE;
    change->required_from = from.required;
    change->required_to = to.required;
    return change;
}

/* The order of a union says nothing. */
static void compare_unions(struct diff *d, const struct place *at, struct half from, struct half to)
{
    const struct json *old = json_get(from.schema, STR("anyOf"));
    const struct json *new = json_get(to.schema, STR("anyOf"));
    struct str removed = members_only_in(d, old, new), added = members_only_in(d, new, old);
    if (!removed.p && !added.p && from.required == to.required)
        return;
    struct change *change = report_field(d, at, CHANGE_CHANGED, from, to, true);
    change->members_removed = removed;
    change->members_added = added;
}

/* Reports a change of text or of being required. */
static void compare_texts(struct diff *d, const struct place *at, struct half from, struct half to,
                          bool fields)
{
    struct str old = describe(d, from.schema, fields), new = describe(d, to.schema, fields);
    if (!str_eq(old, new) || from.required != to.required)
        report_field(d, at, CHANGE_CHANGED, from, to, fields);
}

static void compare(struct diff *d, const struct place *at, struct half from, struct half to);

static struct facts_field *fields_of(struct diff *d, const struct side *side,
                                     const struct json *schema)
{
    struct facts_field *fields = NULL;
    if (facts_fields(side->root, schema, d->arena, &fields))
        d->no_memory = true;
    return fields;
}

static void compare_fields(struct diff *d, const struct place *at, const struct facts_field *from,
                           const struct facts_field *to)
{
    for (const struct facts_field *new = to; new; new = new->next) {
        const struct facts_field *old = facts_find(from, new->name);
        struct place below = step(d, at, ".", new->name);
        struct half half = {new->type, new->required};
        if (old)
            compare(d, &below, (struct half){old->type, old->required}, half);
        else
            report_field(d, &below, CHANGE_ADDED, (struct half){0}, half, true);
    }
    for (const struct facts_field *old = from; old; old = old->next) {
        struct place below = step(d, at, ".", old->name);
        if (!facts_find(to, old->name))
            report_field(d, &below, CHANGE_REMOVED, (struct half){old->type, old->required},
                         (struct half){0}, true);
    }
}

/* Members of arrays and maps, when both sides have such and no more is said about them. */
static bool compare_members(struct diff *d, const struct place *at, struct half from,
                            struct half to, const char *keyword, const char *mark)
{
    const struct json *old = json_get(from.schema, str_of(keyword));
    const struct json *new = json_get(to.schema, str_of(keyword));
    if (!json_first(old) || !json_first(new))
        return false;
    const struct json *old_max = json_get(from.schema, STR("maxItems"));
    const struct json *new_max = json_get(to.schema, STR("maxItems"));
    if (!old_max != !new_max || from.required != to.required)
        return false;
    struct place below = step(d, at, "", str_of(mark));
    compare(d, &below, (struct half){old, false}, (struct half){new, false});
    return true;
}

static void compare(struct diff *d, const struct place *at, struct half from, struct half to)
{
    struct str old_ref = facts_ref(from.schema), new_ref = facts_ref(to.schema);
    bool both_named = old_ref.p && new_ref.p;
    struct facts_field *old = NULL, *new = NULL;
    if (!both_named && at->depth < DEPTH_MAX) {
        old = fields_of(d, &d->from, from.schema);
        new = fields_of(d, &d->to, to.schema);
    }
    if (old && new) {
        compare_texts(d, at, from, to, false);
        compare_fields(d, at, old, new);
    } else if (json_get(from.schema, STR("anyOf")) && json_get(to.schema, STR("anyOf"))) {
        compare_unions(d, at, from, to);
    } else if (both_named || !(compare_members(d, at, from, to, "items", "[]") ||
                               compare_members(d, at, from, to, "additionalProperties", "{}"))) {
        compare_texts(d, at, from, to, true);
    }
}

static void compare_type(struct diff *d, const struct json *from, const struct json *to)
{
    struct place at = {.type = to->key, .path = STR("")};
    at.direction = messages_direction(&d->to.messages, to->key);
    compare(d, &at, (struct half){from, false}, (struct half){to, false});
}

/* ---- types that came and went */

static bool same_fixed_values(const struct json *a, const struct json *b)
{
    const struct json *in_a = json_get(a, STR("const")), *in_b = json_get(b, STR("const"));
    return !in_a || !in_b || str_eq(json_str(in_a), json_str(in_b));
}

static bool is_like(struct diff *d, const struct json *from, const struct json *to)
{
    const struct facts_field *old = fields_of(d, &d->from, from);
    const struct facts_field *new = fields_of(d, &d->to, to);
    if (!old || !new)
        return false;
    for (; old && new; old = old->next, new = new->next)
        if (!str_eq(old->name, new->name) || !same_fixed_values(old->type, new->type))
            return false;
    return !old && !new;
}

static bool is_gone(const struct json *definition, const struct side *other)
{
    return !json_get(other->definitions, definition->key);
}

/* The one new type that looks like the one that is gone, or of several the one whose name goes on
 * from the old one. NULL if there is none. */
static const struct json *find_renamed(struct diff *d, const struct json *gone)
{
    const struct json *found = NULL, *named = NULL;
    int n_found = 0;
    json_each (candidate, d->to.definitions) {
        if (!is_gone(candidate, &d->from) || !is_like(d, gone, candidate))
            continue;
        found = candidate;
        n_found++;
        if (str_starts_with(candidate->key, gone->key))
            named = candidate;
    }
    return n_found == 1 ? found : named;
}

static const struct json *find_old_name(struct diff *d, const struct json *new)
{
    json_each (old, d->from.definitions)
        if (is_gone(old, &d->to) && find_renamed(d, old) == new)
            return old;
    return NULL;
}

static void compare_new_type(struct diff *d, const struct json *new)
{
    const struct json *old = find_old_name(d, new);
    unsigned direction = messages_direction(&d->to.messages, new->key);
    struct change *change =
        add_change(d, CHANGE_TYPE, old ? CHANGE_RENAMED : CHANGE_ADDED, new->key, direction);
    if (old) {
        change->from = old->key;
        compare_type(d, old, new);
    } else {
        change->to = describe(d, new, true);
    }
}

static void compare_types(struct diff *d)
{
    json_each (new, d->to.definitions) {
        const struct json *old = json_get(d->from.definitions, new->key);
        if (old)
            compare_type(d, old, new);
        else
            compare_new_type(d, new);
    }
    json_each (old, d->from.definitions)
        if (is_gone(old, &d->to) && !find_renamed(d, old))
            add_change(d, CHANGE_TYPE, CHANGE_REMOVED, old->key,
                       messages_direction(&d->from.messages, old->key));
}

int diff_schemas(const struct json *from, const struct json *to, struct arena *arena,
                 struct changes *ret)
{
    struct changes changes = {0};
    struct diff d = {.arena = arena, .changes = &changes};
    d.from.root = from;
    d.to.root = to;
    d.from.definitions = facts_definitions(from);
    d.to.definitions = facts_definitions(to);
    d.no_memory = messages_collect(from, arena, &d.from.messages) != 0 ||
                  messages_collect(to, arena, &d.to.messages) != 0;
    compare_methods(&d);
    compare_types(&d);
    buf_done(&d.text);
    if (d.no_memory)
        return ERR_NO_MEMORY;
    *ret = changes;
    return 0;
}

/* ---- the command */

static int load(const char *folder, const char *revision, struct arena *arena, struct json **ret)
{
    char path[4096];
    struct json_error error;
    snprintf(path, sizeof path, "%s/%s/schema.json", folder, revision);
    int err = json_tree_load(path, arena, ret, &error);
    if (err && error.line)
        fprintf(stderr, "%s:%u:%u: %s\n", path, error.line, error.column, error.text);
    else if (err)
        fprintf(stderr, "%s: %s\n", path, error.text);
    return err;
}

static int print(const char *folder, const char *from, const char *to, bool as_json,
                 struct arena *arena)
{
    struct json *old, *new;
    struct changes changes;
    struct buf out = {0};
    int err = load(folder, from, arena, &old);
    if (!err)
        err = load(folder, to, arena, &new);
    if (err)
        return err;
    err = diff_schemas(old, new, arena, &changes);
    if (!err)
        (as_json ? change_write_json : change_write_text)(&changes, str_of(from), str_of(to), &out);
    if (!err && out.failed)
        err = ERR_NO_MEMORY;
    if (err)
        fprintf(stderr, "tenon-gen diff: %s\n", err_text(err));
    else
        fwrite(out.p, 1, out.n, stdout);
    buf_done(&out);
    return err;
}

int diff_main(int argc, char **argv)
{
    const char *folder = "spec", *revisions[2];
    bool as_json = false;
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            as_json = true;
        else if (strcmp(argv[i], "--spec") == 0 && i + 1 < argc)
            folder = argv[++i];
        else if (argv[i][0] != '-' && n < 2)
            revisions[n++] = argv[i];
        else
            n = 3;
    }
    if (n != 2) {
        fprintf(stderr, "usage: tenon-gen diff REV REV [--json] [--spec DIR]\n");
        return 2;
    }
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    int err = print(folder, revisions[0], revisions[1], as_json, &arena);
    arena_done(&arena);
    return err ? 1 : 0;
}
