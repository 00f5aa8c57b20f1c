/* core/table_definitions.c - a schema of which some attributes were taken out, without the
 * definitions that only these referred to: they would tell of them.
 *
 * References lead by a pointer into $defs or definitions (table_schema.c refuses others); one that
 * is written in another way, as with percent signs or by an $id, may mean any, and keeps them all.
 */
#include "base/err.h"
#include "core/table_parts.h"

#include <string.h>

struct pruning {
    const struct tape_node *schema;
    struct arena *arena;
    const struct tape_node **used; /* definitions that something leads to, each once */
    uint32_t n_used, n_scanned;
    bool keeps_all;
};

static bool is_definitions(struct str keyword)
{
    return str_eq(keyword, STR("$defs")) || str_eq(keyword, STR("definitions"));
}

/* Is it the name in a pointer, where ~1 is / and ~0 is ~? */
static bool is_segment(struct str segment, struct str name)
{
    uint32_t i = 0;
    for (uint32_t at = 0; at < segment.n; at++, i++) {
        char c = segment.p[at];
        if (c == '~' && at + 1 < segment.n)
            c = segment.p[++at] == '1' ? '/' : '~';
        if (i >= name.n || name.p[i] != c)
            return false;
    }
    return i == name.n;
}

static void use(struct pruning *p, const struct tape_node *definition)
{
    for (uint32_t i = 0; i < p->n_used; i++)
        if (p->used[i] == definition)
            return;
    p->used[p->n_used++] = definition;
}

/* "#/$defs/name/..." or "#" */
static void follow(struct pruning *p, struct str ref)
{
    struct str rest = ref, fragment = str_cut(&rest, '/'), keyword = STR_NONE;
    if (ref.n == 0 || ref.p[0] != '#' || memchr(ref.p, '%', ref.n) || fragment.n != 1) {
        p->keeps_all = true;
        return;
    }
    if (!rest.p)
        return;
    keyword = str_cut(&rest, '/');
    struct str segment = rest.p ? str_cut(&rest, '/') : STR_NONE;
    const struct tape_node *definitions = tape_get(p->schema, keyword);
    if (!definitions || definitions->kind != TAPE_OBJECT || !segment.p)
        return;
    tape_each (definitions, name, value)
        if (is_segment(segment, tape_str(name)))
            use(p, value);
}

static void scan(struct pruning *p, const struct tape_node *part)
{
    const struct tape_node *end = part + tape_size(part);
    for (const struct tape_node *at = part; at + 1 < end; at++)
        if (at->kind == TAPE_STR && str_eq(tape_str(at), STR("$ref")) && at[1].kind == TAPE_STR)
            follow(p, tape_str(at + 1));
}

static uint32_t count_definitions(const struct tape_node *schema)
{
    uint32_t n = 0;
    tape_each (schema, key, value)
        if (is_definitions(tape_str(key)) && value->kind == TAPE_OBJECT)
            n += value->n;
    return n;
}

static void find_used(struct pruning *p)
{
    tape_each (p->schema, key, value)
        if (!is_definitions(tape_str(key)))
            scan(p, value);
    while (p->n_scanned < p->n_used)
        scan(p, p->used[p->n_scanned++]);
}

static bool is_used(const struct pruning *p, const struct tape_node *definition)
{
    for (uint32_t i = 0; i < p->n_used; i++)
        if (p->used[i] == definition)
            return true;
    return false;
}

static void add_used(const struct pruning *p, const struct tape_node *definitions,
                     struct tape_builder *b)
{
    tape_open_object(b);
    tape_each (definitions, name, value) {
        if (!is_used(p, value))
            continue;
        tape_add_str(b, tape_str(name));
        tape_add_node(b, value);
    }
    tape_close(b);
}

static int write(const struct pruning *p, const struct tape_node **ret)
{
    struct tape_builder b;
    tape_begin(&b, p->arena);
    tape_open_object(&b);
    tape_each (p->schema, key, value) {
        bool prunes = is_definitions(tape_str(key)) && value->kind == TAPE_OBJECT;
        if (prunes && p->n_used == 0)
            continue;
        tape_add_str(&b, tape_str(key));
        if (prunes)
            add_used(p, value, &b);
        else
            tape_add_node(&b, value);
    }
    tape_close(&b);
    return tape_finish(&b, ret);
}

int table_prune_definitions(const struct tape_node *schema, struct arena *arena,
                            const struct tape_node **ret)
{
    struct pruning p = {.schema = schema, .arena = arena};
    uint32_t n = count_definitions(schema);
    *ret = schema;
    if (!n)
        return 0;
    if (!(p.used = arena_array(arena, n, sizeof(struct tape_node *))))
        return ERR_NO_MEMORY;
    find_used(&p);
    return p.keeps_all ? 0 : write(&p, ret);
}
