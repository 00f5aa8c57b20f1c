/* core/completion_keys.c - what is typed of a key, as ranges of keys.
 *
 * A text begins as it does: one range. Of an integer, 12 begins 12, 120 to 129, 1200 to 1299, and
 * so on: a range for each number of digits, at most 19. There is one text per key (core/key.h), so
 * 007 and -0 begin none.
 */
#include "base/err.h"
#include "core/completion.h"
#include "core/table_ranges.h"

static int text_range(struct str typed, struct arena *arena, struct completion_ranges *ret)
{
    struct store_range *range = &ret->v[0];
    struct buf end = {0};
    if (typed.n > KEY_BYTES_MAX)
        return 0;
    ret->n = 1;
    *range = (struct store_range){.keys_only = true};
    if (!typed.n)
        return 0;
    buf_add_str(&end, typed);
    table_successor(&end);
    range->from = typed;
    range->to = end.n ? arena_buf(arena, &end) : STR_NONE;
    bool failed = end.failed || (end.n && !range->to.p);
    buf_done(&end);
    return failed ? ERR_NO_MEMORY : 0;
}

static int encode(int64_t v, struct arena *arena, struct str *ret)
{
    const struct tape_node node = {.kind = TAPE_INT, .v.i = v};
    return key_encode(KEY_INTEGER, &node, arena, ret);
}

/* Those from `low` to `high`, which are without their sign; negative ones from 0 downwards. */
static int add_range(bool is_negative, uint64_t low, uint64_t high, struct arena *arena,
                     struct completion_ranges *ret)
{
    struct store_range *range = &ret->v[ret->n++];
    *range = (struct store_range){.keys_only = true, .descending = is_negative};
    int64_t first = is_negative ? (int64_t)(0 - high) : (int64_t)low;
    int64_t last = is_negative ? (int64_t)(0 - low) : (int64_t)high;
    int err = encode(first, arena, &range->from);
    if (err == 0 && last < INT64_MAX)
        err = encode(last + 1, arena, &range->to);
    return err;
}

static int integer_ranges(struct str typed, struct arena *arena, struct completion_ranges *ret)
{
    bool is_negative = typed.n && typed.p[0] == '-';
    struct str digits = {typed.p + is_negative, typed.n - is_negative};
    uint64_t most = (uint64_t)INT64_MAX + is_negative, low, n = 1;
    int err = 0;
    if (!typed.n) {
        ret->v[ret->n++] = (struct store_range){.keys_only = true};
        return 0;
    }
    if (!digits.n)
        return add_range(true, 1, most, arena, ret);
    bool is_zero = digits.p[0] == '0';
    if (str_to_u64(digits, &low) < 0 || low > most || (is_zero && (is_negative || digits.n > 1)))
        return 0;
    if (is_zero)
        return add_range(false, 0, 0, arena, ret);
    while (err == 0 && low <= most) {
        uint64_t high = most - low < n - 1 ? most : low + n - 1;
        err = add_range(is_negative, low, high, arena, ret);
        if (__builtin_mul_overflow(low, 10, &low))
            break;
        n *= 10;
    }
    return err;
}

int completion_ranges(enum key_type type, struct str typed, struct arena *arena,
                      struct completion_ranges *ret)
{
    ret->n = 0;
    return type == KEY_STRING ? text_range(typed, arena, ret) : integer_ranges(typed, arena, ret);
}
