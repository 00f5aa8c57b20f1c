/* core/table_ranges.c - see table_ranges.h.
 *
 * Parts of an index key delimit themselves, so all entries whose next part has one value begin with
 * the same bytes, and nothing else does: the range of a value goes from these bytes to their
 * successor. Where a part descends its bytes are turned, so the ends change places, and null, which
 * is outside of every range with an end, lies behind the values instead of before them.
 */
#include "core/table_ranges.h"

#include "base/err.h"
#include "base/limits.h"

#include <math.h>
#include <string.h>

void table_successor(struct buf *b)
{
    while (b->n && (unsigned char)b->p[b->n - 1] == 0xff)
        b->n--;
    if (b->n)
        b->p[b->n - 1]++;
}

/* Absent if empty. */
static int keep(struct buf *bytes, struct arena *arena, struct str *ret)
{
    if (bytes->failed)
        return ERR_NO_MEMORY;
    *ret = bytes->n ? arena_buf(arena, bytes) : STR_NONE;
    return bytes->n && !ret->p ? ERR_NO_MEMORY : 0;
}

/* ---- Primary keys --------------------------------------------------------------------------- */

/* The encoded value; with a NUL behind it it is the end, exclusive, of a range that holds it. */
static int encode_key(const struct plan *plan, const struct tape_node *value, bool behind,
                      struct arena *arena, struct str *ret)
{
    struct str key;
    int err = key_encode(plan->parts[0].type, value, arena, &key);
    if (err == 0 && !behind)
        *ret = key;
    if (err < 0 || !behind)
        return err;
    char *longer = arena_zalloc(arena, (size_t)key.n + 1);
    if (!longer)
        return ERR_NO_MEMORY;
    memcpy(longer, key.p, key.n);
    *ret = (struct str){longer, key.n + 1};
    return 0;
}

/* An empty text is below every key. */
static int encode_keys(const struct plan *plan, const struct plan_range *range, struct arena *arena,
                       struct store_range *ret)
{
    int err = 0;
    if (range->n_equal) {
        err = encode_key(plan, &range->equal[0], false, arena, &ret->from);
        return err < 0 ? err : encode_key(plan, &range->equal[0], true, arena, &ret->to);
    }
    if (range->has_lower && !(range->lower.kind == TAPE_STR && range->lower.n == 0)) {
        err = encode_key(plan, &range->lower, false, arena, &ret->from);
        ret->after = range->lower_strict;
    }
    if (err == 0 && range->has_upper)
        err = encode_key(plan, &range->upper, !range->upper_strict, arena, &ret->to);
    return err;
}

/* ---- Places in an index --------------------------------------------------------------------- */

static int add_part(const struct store_index_part *part, const struct tape_node *value,
                    struct buf *out)
{
    struct tape_node whole = *value;
    if (part->type == KEY_INTEGER && value->kind == TAPE_NUM && value->v.d == floor(value->v.d) &&
        fabs(value->v.d) < 0x1p63)
        whole = (struct tape_node){.kind = TAPE_INT, .v.i = (int64_t)value->v.d};
    return key_add_part(part->type, part->descending, &whole, out);
}

/* Where the entries begin whose part behind the prefix has the value, or where they end. No entry
 * is longer than INDEX_ENTRY_BYTES: what begins with so many bytes is one entry, before a longer
 * end. */
static int encode_end(const struct store_index_part *part, struct str prefix,
                      const struct tape_node *value, bool behind, struct arena *arena,
                      struct str *ret)
{
    struct buf bytes = {0};
    buf_add_str(&bytes, prefix);
    int err = add_part(part, value, &bytes);
    if (bytes.n > INDEX_ENTRY_BYTES) {
        bytes.n = INDEX_ENTRY_BYTES;
        behind = true;
    }
    if (err == 0 && behind)
        table_successor(&bytes);
    if (err == 0)
        err = keep(&bytes, arena, ret);
    buf_done(&bytes);
    return err;
}

/* All entries that begin with the prefix. */
static int encode_prefix(struct buf *prefix, struct arena *arena, struct store_range *ret)
{
    bool too_long = prefix->n > INDEX_ENTRY_BYTES;
    int err = too_long ? ERR_LIMIT : keep(prefix, arena, &ret->from);
    if (err == 0)
        table_successor(prefix);
    return err < 0 ? err : keep(prefix, arena, &ret->to);
}

struct end {
    bool is_there, strict;
    const struct tape_node *value;
};

/* Narrows the range of the prefix by what is said of the next part. */
static int encode_ends(const struct store_index_part *part, struct str prefix,
                       const struct plan_range *range, struct arena *arena, struct store_range *ret)
{
    static const struct tape_node null = {.kind = TAPE_NULL};
    struct end lower = {range->has_lower, range->lower_strict, &range->lower};
    struct end upper = {range->has_upper, range->upper_strict, &range->upper};
    struct end first = part->descending ? upper : lower, last = part->descending ? lower : upper;
    int err = 0;
    if (first.is_there)
        err = encode_end(part, prefix, first.value, first.strict, arena, &ret->from);
    else if (!part->descending)
        err = encode_end(part, prefix, &null, true, arena, &ret->from);
    if (err == 0 && last.is_there)
        err = encode_end(part, prefix, last.value, !last.strict, arena, &ret->to);
    else if (err == 0 && part->descending)
        err = encode_end(part, prefix, &null, false, arena, &ret->to);
    return err;
}

static int encode_places(const struct plan *plan, const struct plan_range *range,
                         struct arena *arena, struct store_range *ret)
{
    struct buf prefix = {0};
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < range->n_equal; i++)
        err = add_part(&plan->parts[i], &range->equal[i], &prefix);
    size_t n = prefix.n;
    struct str same = STR_NONE;
    if (err == 0 && n)
        err = keep(&prefix, arena, &same);
    if (err == 0)
        err = encode_prefix(&prefix, arena, ret);
    if (err == 0 && (range->has_lower || range->has_upper))
        err = encode_ends(&plan->parts[range->n_equal], same, range, arena, ret);
    buf_done(&prefix);
    return err;
}

/* ---- All ------------------------------------------------------------------------------------ */

int table_ranges_make(const struct plan *plan, struct arena *arena, const struct store_range **ret,
                      uint32_t *ret_n)
{
    uint32_t n = plan->n_ranges, kept = 0;
    struct store_range *ranges = arena_array(arena, (size_t)n + 1, sizeof *ranges);
    if (!ranges)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        const struct plan_range *range = &plan->ranges[plan->descending ? n - 1 - i : i];
        ranges[kept] = (struct store_range){.descending = plan->descending};
        int err = plan->index ? encode_places(plan, range, arena, &ranges[kept])
                              : encode_keys(plan, range, arena, &ranges[kept]);
        if (err == ERR_NO_MEMORY)
            return err;
        kept += err == 0;
    }
    *ret = ranges;
    *ret_n = kept;
    return 0;
}

static const struct tape_node *ordered_value(const struct table_place *row, struct str attribute)
{
    for (uint32_t i = 0; i < row->n_order; i++)
        if (str_eq(row->order[i].attribute, attribute))
            return &row->values[i];
    return NULL;
}

/* NULL: nothing is known of it. */
static const struct tape_node *value_of(const struct table_place *row, struct str attribute,
                                        struct filter_range *scratch)
{
    static const struct tape_node null = {.kind = TAPE_NULL};
    const struct tape_node *value = ordered_value(row, attribute);
    const struct filter *filter = row->query->filter;
    if (value || !filter || !filter_bounds(filter, attribute, scratch))
        return value;
    return scratch->is_null ? &null : scratch->n_values == 1 ? scratch->values : NULL;
}

/* Parts behind the primary key are in no order, and need not be: one row begins like this. */
static int add_place(const struct plan *plan, const struct table_place *row, struct arena *arena,
                     struct buf *out)
{
    struct str key_name = row->query->key.attribute, key;
    for (uint32_t i = 0; i < plan->n_parts; i++) {
        struct filter_range scratch;
        const struct tape_node *value = value_of(row, plan->parts[i].attribute, &scratch);
        int err = value ? add_part(&plan->parts[i], value, out) : ERR_PARAMS;
        if (err < 0)
            return err;
        if (!str_eq(plan->parts[i].attribute, key_name))
            continue;
        if (!plan->descending)
            table_successor(out);
        return 0;
    }
    int err = key_encode(row->query->key.type, &row->values[row->n_order - 1], arena, &key);
    if (err == 0)
        buf_add_str(out, key);
    return err;
}

int table_place_make(const struct plan *plan, const struct table_place *row, struct arena *arena,
                     struct str *ret)
{
    if (!plan->index)
        return key_encode(row->query->key.type, &row->values[row->n_order - 1], arena, ret);
    struct buf place = {0};
    int err = add_place(plan, row, arena, &place);
    if (err == 0 && place.n > INDEX_ENTRY_BYTES)
        err = ERR_LIMIT;
    if (err == 0)
        err = keep(&place, arena, ret);
    buf_done(&place);
    return err;
}
