/* core/row_merge.c - see row_merge.h.
 *
 * A client may send as many changes as a row may have attributes, some ten thousand of each: looked
 * up one in the other they would hold the loop for seconds. So the changes are sorted by name
 * first, and brought back into their own order (which is that of the tape) for what is left. The
 * nesting is bounded by that of a message, JSON_DEPTH_MAX.
 */
#include "core/row_merge.h"

#include "base/err.h"

#include <stdlib.h>

struct change {
    const struct tape_node *name; /* its value is the node behind it */
    bool is_done;
};

static int by_name(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return str_compare(tape_str(x->name), tape_str(y->name));
}

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static struct change *list_by_name(const struct tape_node *changes)
{
    struct change *list = calloc((size_t)changes->n + 1, sizeof *list);
    uint32_t n = 0;
    if (!list)
        return NULL;
    tape_each (changes, name, value)
        list[n++].name = name;
    qsort(list, n, sizeof *list, by_name);
    return list;
}

static const struct tape_node *take(struct change *list, uint32_t n, const struct tape_node *name)
{
    struct change wanted = {.name = name};
    struct change *found = bsearch(&wanted, list, n, sizeof *list, by_name);
    if (!found)
        return NULL;
    found->is_done = true;
    return found->name + 1;
}

static int merge(struct tape_builder *b, const struct tape_node *row,
                 const struct tape_node *changes);

/* What was there matters only where both are objects. */
static int add_changed(struct tape_builder *b, const struct tape_node *name,
                       const struct tape_node *before, const struct tape_node *change)
{
    static const struct tape_node none = {.kind = TAPE_OBJECT, .v.size = 1};
    if (change->kind == TAPE_NULL)
        return 0;
    tape_add_str(b, tape_str(name));
    if (change->kind == TAPE_OBJECT)
        return merge(b, before && before->kind == TAPE_OBJECT ? before : &none, change);
    tape_add_node(b, change);
    return 0;
}

static int add_old(struct tape_builder *b, const struct tape_node *row, struct change *list,
                   uint32_t n)
{
    tape_each (row, name, value) {
        const struct tape_node *change = take(list, n, name);
        int err = 0;
        if (change) {
            err = add_changed(b, name, value, change);
        } else {
            tape_add_str(b, tape_str(name));
            tape_add_node(b, value);
        }
        if (err < 0)
            return err;
    }
    return 0;
}

static int add_new(struct tape_builder *b, const struct change *list, uint32_t n)
{
    int err = 0;
    for (uint32_t i = 0; i < n && err == 0; i++)
        if (!list[i].is_done)
            err = add_changed(b, list[i].name, NULL, list[i].name + 1);
    return err;
}

static int merge(struct tape_builder *b, const struct tape_node *row,
                 const struct tape_node *changes)
{
    struct change *list = list_by_name(changes);
    if (!list)
        return ERR_NO_MEMORY;
    tape_open_object(b);
    int err = add_old(b, row, list, changes->n);
    qsort(list, changes->n, sizeof *list, by_place);
    if (err == 0)
        err = add_new(b, list, changes->n);
    free(list);
    tape_close(b);
    return err;
}

int row_merge(const struct tape_node *row, const struct tape_node *changes, struct arena *arena,
              const struct tape_node **ret)
{
    struct tape_builder b;
    tape_begin(&b, arena);
    int err = merge(&b, row, changes);
    return err < 0 ? err : tape_finish(&b, ret);
}
