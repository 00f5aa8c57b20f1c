/* wire/tape_build.c - building a tape node by node, for decoders and handlers; see tape.h.
 *
 * While a container is open its `n` counts the nodes put straight into it, so that in an object an
 * even count means that a key is due. The node array moves when it grows; indices stay.
 */
#include "wire/tape_build.h"

#include "base/err.h"
#include "wire/key_set.h"

#include <math.h>
#include <string.h>

#define NODES_MAX (UINT32_MAX / 2)

void tape_begin(struct tape_builder *b, struct arena *arena)
{
    b->arena = arena;
    b->nodes = NULL;
    b->n = b->cap = b->depth = 0;
    b->err = 0;
}

void tape_expect(struct tape_builder *b, size_t n)
{
    if (n > NODES_MAX)
        return;
    struct tape_node *nodes = arena_array(b->arena, n, sizeof *nodes);
    if (!nodes)
        return;
    if (b->n)
        memcpy(nodes, b->nodes, b->n * sizeof *nodes);
    b->nodes = nodes;
    b->cap = (uint32_t)n;
}

bool tape_grow(struct tape_builder *b)
{
    tape_expect(b, b->cap ? (size_t)b->cap * 2 : 16);
    return b->n < b->cap;
}

void tape_seal(struct tape_builder *b, uint32_t at, uint32_t n)
{
    b->nodes[at].n = n;
    b->nodes[at].v.size = b->n - at;
}

static int add_keys(const struct tape_node *object, struct key_set *seen, struct str *ret_twice)
{
    tape_each (object, key, value) {
        int added = key_set_add(seen, tape_str(key));
        if (added == 0)
            *ret_twice = tape_str(key);
        if (added <= 0)
            return added;
    }
    return 1;
}

int tape_keys_unique(const struct tape_node *object, struct str *ret_twice)
{
    if (object->n < 2)
        return 1;
    struct key_set seen;
    key_set_init(&seen);
    int unique = add_keys(object, &seen, ret_twice);
    key_set_done(&seen);
    return unique;
}

/* ---- for others ----------------------------------------------------------------------------- */

static void fail(struct tape_builder *b, int err)
{
    if (!b->err)
        b->err = err;
}

static struct tape_node *innermost(struct tape_builder *b)
{
    return b->depth ? &b->nodes[b->open[b->depth]] : NULL;
}

/* May a value (a key: a string) of `kind` stand here? Counts it in its container. */
static bool take_place(struct tape_builder *b, enum tape_kind kind)
{
    struct tape_node *parent = innermost(b);
    if (b->err)
        return false;
    if (!parent) {
        if (b->n)
            fail(b, ERR_INTERNAL); /* a second value at the top */
        return b->n == 0;
    }
    if (parent->kind == TAPE_OBJECT && parent->n % 2 == 0 && kind != TAPE_STR) {
        fail(b, ERR_INTERNAL); /* a key is due */
        return false;
    }
    parent->n++;
    return true;
}

static struct tape_node *add(struct tape_builder *b, enum tape_kind kind)
{
    if (!take_place(b, kind))
        return NULL;
    struct tape_node *node = tape_add(b, kind);
    if (!node)
        fail(b, ERR_NO_MEMORY);
    return node;
}

void tape_add_null(struct tape_builder *b)
{
    add(b, TAPE_NULL);
}

void tape_add_bool(struct tape_builder *b, bool v)
{
    add(b, v ? TAPE_TRUE : TAPE_FALSE);
}

void tape_add_int(struct tape_builder *b, int64_t v)
{
    struct tape_node *node = add(b, TAPE_INT);
    if (node)
        node->v.i = v;
}

void tape_add_num(struct tape_builder *b, double v)
{
    if (!isfinite(v)) {
        fail(b, ERR_PARAMS);
        return;
    }
    if (v >= -0x1p63 && v < 0x1p63 && (double)(int64_t)v == v) {
        tape_add_int(b, (int64_t)v);
        return;
    }
    struct tape_node *node = add(b, TAPE_NUM);
    if (node)
        node->v.d = v;
}

void tape_add_str(struct tape_builder *b, struct str s)
{
    struct tape_node *node = add(b, TAPE_STR);
    if (!node)
        return;
    node->n = s.n;
    node->v.s = s.p ? s.p : "";
}

void tape_add_node(struct tape_builder *b, const struct tape_node *subtree)
{
    if (!take_place(b, (enum tape_kind)subtree->kind))
        return;
    uint32_t size = tape_size(subtree);
    if (b->cap - b->n < size)
        tape_expect(b, (size_t)b->cap * 2 + size);
    if (b->cap - b->n < size) {
        fail(b, ERR_NO_MEMORY);
        return;
    }
    memcpy(&b->nodes[b->n], subtree, size * sizeof *subtree);
    b->n += size;
}

static void open_container(struct tape_builder *b, enum tape_kind kind)
{
    if (!b->err && b->depth == JSON_DEPTH_MAX)
        fail(b, ERR_LIMIT);
    if (add(b, kind))
        b->open[++b->depth] = b->n - 1;
}

void tape_open_array(struct tape_builder *b)
{
    open_container(b, TAPE_ARRAY);
}

void tape_open_object(struct tape_builder *b)
{
    open_container(b, TAPE_OBJECT);
}

static void close_object(struct tape_builder *b, uint32_t at)
{
    struct str twice;
    if (b->nodes[at].n % 2) {
        fail(b, ERR_INTERNAL); /* a key without value */
        return;
    }
    tape_seal(b, at, b->nodes[at].n / 2);
    int unique = tape_keys_unique(&b->nodes[at], &twice);
    if (unique <= 0)
        fail(b, unique ? unique : ERR_PARAMS);
}

void tape_close(struct tape_builder *b)
{
    if (b->err)
        return;
    if (b->depth == 0) {
        fail(b, ERR_INTERNAL);
        return;
    }
    uint32_t at = b->open[b->depth--];
    if (b->nodes[at].kind == TAPE_OBJECT)
        close_object(b, at);
    else
        tape_seal(b, at, b->nodes[at].n);
}

int tape_finish(struct tape_builder *b, const struct tape_node **ret)
{
    if (!b->err && (b->depth || !b->n))
        fail(b, ERR_INTERNAL);
    if (b->err)
        return b->err;
    *ret = b->nodes;
    return 0;
}
