/* core/row_merge.c - see row_merge.h.
 *
 * A client may send as many changes as a row may have attributes, some ten thousand of each: looked
 * up one in the other they would hold the loop for seconds. So the changes are sorted by name
 * first, and brought back into their own order (which is that of the tape) for what is left.
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

static void add_member(struct tape_builder *b, const struct tape_node *name,
                       const struct tape_node *value)
{
    tape_add_str(b, tape_str(name));
    tape_add_node(b, value);
}

int row_merge(const struct tape_node *row, const struct tape_node *changes, struct arena *arena,
              const struct tape_node **ret)
{
    struct tape_builder b;
    struct change *list = list_by_name(changes);
    if (!list)
        return ERR_NO_MEMORY;
    tape_begin(&b, arena);
    tape_open_object(&b);
    tape_each (row, name, value) {
        const struct tape_node *changed = take(list, changes->n, name);
        add_member(&b, name, changed ? changed : value);
    }
    qsort(list, changes->n, sizeof *list, by_place);
    for (uint32_t i = 0; i < changes->n; i++)
        if (!list[i].is_done)
            add_member(&b, list[i].name, list[i].name + 1);
    free(list);
    tape_close(&b);
    return tape_finish(&b, ret);
}
