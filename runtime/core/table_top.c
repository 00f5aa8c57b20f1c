/* core/table_top.c - see table_top.h. */
#include "core/table_top.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static bool is_before(const struct table_query *q, const struct top_entry *a,
                      const struct top_entry *b)
{
    return table_query_compare(q, a->values, b->values) < 0;
}

static void sink(struct top *top, const struct table_query *q, uint32_t n)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < n && is_before(q, top->v[child], top->v[child + 1]))
            child++;
        if (child >= n || !is_before(q, top->v[at], top->v[child]))
            return;
        struct top_entry *entry = top->v[at];
        top->v[at] = top->v[child];
        top->v[child] = entry;
        at = child;
    }
}

static void rise(struct top *top, const struct table_query *q)
{
    for (uint32_t at = top->n - 1; at && is_before(q, top->v[(at - 1) / 2], top->v[at]);) {
        struct top_entry *entry = top->v[at];
        top->v[at] = top->v[(at - 1) / 2];
        top->v[(at - 1) / 2] = entry;
        at = (at - 1) / 2;
    }
}

static struct top_entry *copy_entry(const struct table_query *q, struct str key,
                                    const struct tape_node *values)
{
    size_t n = key.n;
    for (uint32_t i = 0; i < q->n_order; i++)
        n += values[i].kind == TAPE_STR ? values[i].n : 0;
    struct top_entry *entry = malloc(sizeof *entry + q->n_order * sizeof *values + n);
    if (!entry)
        return NULL;
    char *text = (char *)&entry->values[q->n_order];
    memcpy(text, key.p, key.n);
    entry->key = (struct str){text, key.n};
    text += key.n;
    for (uint32_t i = 0; i < q->n_order; i++) {
        entry->values[i] = values[i];
        if (values[i].kind != TAPE_STR)
            continue;
        if (values[i].n)
            memcpy(text, values[i].v.s, values[i].n);
        entry->values[i].v.s = text;
        text += values[i].n;
    }
    return entry;
}

int top_offer(struct top *top, const struct table_query *q, const struct store_row *row)
{
    struct tape_node values[ORDER_BY_MAX + 1];
    uint32_t most = q->limit + 1;
    int err = table_query_values(q, row->row, values);
    if (err < 0)
        return err;
    if ((q->after && table_query_compare(q, values, q->after) <= 0) ||
        (top->n == most && table_query_compare(q, values, top->v[0]->values) >= 0))
        return 0;
    if (!top->v && !(top->v = calloc(most, sizeof *top->v)))
        return ERR_NO_MEMORY;
    struct top_entry *entry = copy_entry(q, row->key, values);
    if (!entry)
        return ERR_NO_MEMORY;
    if (top->n == most) {
        free(top->v[0]);
        top->v[0] = entry;
        sink(top, q, top->n);
    } else {
        top->v[top->n++] = entry;
        rise(top, q);
    }
    return 0;
}

void top_sort(struct top *top, const struct table_query *q)
{
    for (uint32_t n = top->n; n > 1; n--) {
        struct top_entry *greatest = top->v[0];
        top->v[0] = top->v[n - 1];
        top->v[n - 1] = greatest;
        sink(top, q, n - 1);
    }
}

void top_clear(struct top *top)
{
    for (uint32_t i = 0; i < top->n; i++)
        free(top->v[i]);
    free(top->v);
    *top = (struct top){0};
}
