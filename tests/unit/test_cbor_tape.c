/* tests/unit/test_cbor_tape.c - tapes through CBOR and back, and CBOR that nobody should trust. */
#include "base/err.h"
#include "store/cbor_tape.h"
#include "store/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* ---- Random tapes --------------------------------------------------------------------------- */

#define NODES_MAX 4096

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

struct maker {
    struct tape_node nodes[NODES_MAX];
    uint32_t n;
};

static const char letters[] = "the quick brown fox jumps over the lazy dog, twice or thrice a day";

static void make_str(struct maker *m)
{
    uint32_t len = random_below(sizeof letters);
    m->nodes[m->n++] = (struct tape_node){.kind = TAPE_STR, .n = len, .v.s = letters};
}

static void make_scalar(struct maker *m)
{
    static const int64_t ints[] = {0,   1,     -1,        23,        24,        255,
                                   256, 65536, INT64_MAX, INT64_MIN, -12345678, 1LL << 32};
    static const double nums[] = {0.5, -0.0, 1e300, -2.25e-308, 3.141592653589793};
    struct tape_node *node = &m->nodes[m->n];
    switch (random_below(5)) {
    case 0:
        *node = (struct tape_node){.kind = TAPE_INT, .v.i = ints[random_below(12)]};
        break;
    case 1:
        *node = (struct tape_node){.kind = TAPE_NUM, .v.d = nums[random_below(5)]};
        break;
    case 2:
        *node = (struct tape_node){.kind = (uint8_t)random_below(TAPE_INT)};
        break;
    default:
        make_str(m);
        return;
    }
    m->n++;
}

static void make_value(struct maker *m, uint32_t depth)
{
    if (depth == 0 || m->n > NODES_MAX - 64 || random_below(3) == 0) {
        make_scalar(m);
        return;
    }
    uint32_t at = m->n++, n = random_below(6);
    bool object = random_below(2);
    m->nodes[at] = (struct tape_node){.kind = object ? TAPE_OBJECT : TAPE_ARRAY, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        if (object)
            make_str(m);
        make_value(m, depth - 1);
    }
    m->nodes[at].v.size = m->n - at;
}

static bool same_node(const struct tape_node *a, const struct tape_node *b)
{
    if (a->kind != b->kind)
        return false;
    switch ((enum tape_kind)a->kind) {
    case TAPE_INT:
        return a->v.i == b->v.i;
    case TAPE_NUM:
        return memcmp(&a->v.d, &b->v.d, sizeof a->v.d) == 0;
    case TAPE_STR:
        return a->n == b->n && memcmp(a->v.s, b->v.s, a->n) == 0;
    case TAPE_ARRAY:
    case TAPE_OBJECT:
        return a->n == b->n && a->v.size == b->v.size;
    default:
        return true;
    }
}

/* Walks like a reader of tapes would, so a checker sees a size that lies. */
static void check_well_formed(const struct tape_node *node)
{
    uint32_t size = node->kind >= TAPE_ARRAY ? node->v.size : 1;
    uint32_t children = 0, at = 1;
    for (; at < size; children++) {
        const struct tape_node *child = node + at;
        if (node->kind == TAPE_OBJECT && children % 2 == 0)
            assert_int_equal(child->kind, TAPE_STR);
        check_well_formed(child);
        at += child->kind >= TAPE_ARRAY ? child->v.size : 1;
    }
    assert_int_equal(at, size);
    if (node->kind >= TAPE_ARRAY)
        assert_int_equal(children, node->kind == TAPE_OBJECT ? node->n * 2 : node->n);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void random_tapes_come_back(void **state)
{
    (void)state;
    static struct maker m;
    struct buf out = {0};
    struct arena arena;
    arena_init(&arena, 0);
    for (int round = 0; round < 2000; round++) {
        const struct tape_node *back;
        m.n = 0;
        make_value(&m, 8);
        buf_clear(&out);
        cbor_write_tape(m.nodes, &out);
        assert_false(out.failed);
        arena_reset(&arena);
        assert_int_equal(cbor_read_tape(buf_str(&out), &arena, &back), 0);
        for (uint32_t i = 0; i < m.n; i++)
            assert_true(same_node(&m.nodes[i], &back[i]));
    }
    arena_done(&arena);
    buf_done(&out);
}

/* A copy that ends where the memory ends, so that ASan sees a byte too far. */
static int read_exact(struct str in, struct arena *arena, const struct tape_node **ret)
{
    char *copy = malloc(in.n ? in.n : 1);
    assert_non_null(copy);
    memcpy(copy, in.p, in.n);
    arena_reset(arena);
    int err = cbor_read_tape((struct str){copy, in.n}, arena, ret);
    if (!err)
        check_well_formed(*ret);
    free(copy);
    return err;
}

static void every_truncation_is_damaged(void **state)
{
    (void)state;
    static struct maker m;
    struct buf out = {0};
    struct arena arena;
    const struct tape_node *back;
    arena_init(&arena, 0);
    for (int round = 0; round < 100; round++) {
        m.n = 0;
        make_value(&m, 5);
        buf_clear(&out);
        cbor_write_tape(m.nodes, &out);
        for (uint32_t n = 0; n < out.n; n++)
            assert_int_equal(read_exact((struct str){out.p, n}, &arena, &back), ERR_STORE_DAMAGED);
        buf_add_char(&out, '\0');
        assert_int_equal(read_exact(buf_str(&out), &arena, &back), ERR_STORE_DAMAGED);
    }
    arena_done(&arena);
    buf_done(&out);
}

static void mutated_bytes_are_damaged_or_well_formed(void **state)
{
    (void)state;
    static struct maker m;
    struct buf out = {0};
    struct arena arena;
    const struct tape_node *back;
    int refused = 0;
    arena_init(&arena, 0);
    for (int round = 0; round < 5000; round++) {
        m.n = 0;
        make_value(&m, 5);
        buf_clear(&out);
        cbor_write_tape(m.nodes, &out);
        for (int i = 0; i < 3; i++)
            out.p[random_below((uint32_t)out.n)] = (char)random_below(256);
        int err = read_exact(buf_str(&out), &arena, &back);
        assert_true(err == 0 || err == ERR_STORE_DAMAGED);
        refused += err != 0;
    }
    assert_in_range(refused, 500, 4900);
    arena_done(&arena);
    buf_done(&out);
}

struct refused {
    const char *bytes;
    uint32_t n;
};

static void K12_claimed_counts_allocate_nothing(void **state)
{
    (void)state;
    static const struct refused claims[] = {
        {"\x9a\x40\x00\x00\x00", 5},                 /* an array of 2^30 */
        {"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", 9}, /* of 2^64-1 */
        {"\xba\x40\x00\x00\x00", 5},                 /* a map of 2^30 */
        {"\xbb\x80\x00\x00\x00\x00\x00\x00\x00", 9}, /* twice 2^63 wraps to 0 */
        {"\xbb\x80\x00\x00\x00\x00\x00\x00\x01\x60\x01", 11},
        {"\x7a\x7f\xff\xff\xff\x61", 6},             /* a string of 2^31 */
        {"\x7b\xff\xff\xff\xff\xff\xff\xff\xff", 9}, /* of 2^64-1 */
        {"\x84\x01\x01\x01", 4},                     /* one item short */
        {"\x81\x9a\x00\x00\x00\x02\x01", 7},
    };
    struct arena arena;
    const struct tape_node *back;
    arena_init(&arena, 64 << 10);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        assert_int_equal(read_exact((struct str){claims[i].bytes, claims[i].n}, &arena, &back),
                         ERR_STORE_DAMAGED);
    arena_done(&arena);
}

static void foreign_items_are_refused(void **state)
{
    (void)state;
    static const struct refused items[] = {
        {"", 0},                                     /* nothing */
        {"\x9f\xff", 2},                             /* indefinite array */
        {"\xbf\xff", 2},                             /* indefinite map */
        {"\x7f\x61\x61\xff", 4},                     /* string in pieces */
        {"\x5f\x41\x61\xff", 4},                     /* bytes in pieces */
        {"\xff", 1},                                 /* a break alone */
        {"\xc1\x00", 2},                             /* a tag */
        {"\xf7", 1},                                 /* undefined */
        {"\xf8\x20", 2},                             /* a simple value */
        {"\xf9\x3c\x00", 3},                         /* a half */
        {"\xfa\x3f\x80\x00\x00", 5},                 /* a single */
        {"\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00", 9}, /* infinite */
        {"\xfb\x7f\xf8\x00\x00\x00\x00\x00\x00", 9}, /* not a number */
        {"\x1b\x80\x00\x00\x00\x00\x00\x00\x00", 9}, /* 2^63 */
        {"\x3b\x80\x00\x00\x00\x00\x00\x00\x00", 9}, /* -2^63-1 */
        {"\xa1\x01\x02", 3},                         /* a name that is a number */
        {"\xa1\x80\x02", 3},                         /* a name that is an array */
        {"\x01\x02", 2},                             /* two values */
        {"\x1c", 1},                                 /* reserved */
    };
    struct arena arena;
    const struct tape_node *back;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        assert_int_equal(read_exact((struct str){items[i].bytes, items[i].n}, &arena, &back),
                         ERR_STORE_DAMAGED);
    arena_done(&arena);
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    char deep[CBOR_DEPTH_MAX + 2];
    struct arena arena;
    const struct tape_node *back;
    arena_init(&arena, 0);
    memset(deep, '\x81', sizeof deep);
    deep[CBOR_DEPTH_MAX] = 0;
    assert_int_equal(read_exact((struct str){deep, CBOR_DEPTH_MAX + 1}, &arena, &back), 0);
    deep[CBOR_DEPTH_MAX] = '\x81';
    deep[CBOR_DEPTH_MAX + 1] = 0;
    assert_int_equal(read_exact((struct str){deep, CBOR_DEPTH_MAX + 2}, &arena, &back),
                     ERR_STORE_DAMAGED);
    arena_done(&arena);
}

static void memory_that_ends_is_said(void **state)
{
    (void)state;
    struct buf out = {0};
    struct arena arena;
    const struct tape_node *back;
    cbor_write_array(100000, &out);
    for (int i = 0; i < 100000; i++)
        cbor_write_int(i, &out);
    arena_init(&arena, 1 << 20);
    assert_int_equal(cbor_read_tape(buf_str(&out), &arena, &back), ERR_NO_MEMORY);
    arena_done(&arena);
    buf_done(&out);
}

static void what_holds_no_item_is_damaged(void **state)
{
    (void)state;
    static const struct str empty[] = {{"", 0}, {"\x1c", 1}, {"\x9f", 1}, {"\x62x", 2}};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        struct arena arena;
        const struct tape_node *back;
        arena_init(&arena, 0);
        assert_int_equal(read_exact(empty[i], &arena, &back), ERR_STORE_DAMAGED);
        arena_done(&arena);
    }
}

/* Nodes are counted, not guessed: what is asked of the arena is what the row takes. */
static void a_row_takes_the_memory_of_its_nodes(void **state)
{
    (void)state;
    struct buf out = {0};
    struct arena arena;
    const struct tape_node *back;
    cbor_write_array(100000, &out);
    for (int i = 0; i < 100000; i++)
        cbor_write_int(i * 1000, &out);
    arena_init(&arena, 100001 * sizeof *back + 1024);
    assert_int_equal(cbor_read_tape(buf_str(&out), &arena, &back), 0);
    assert_int_equal(back[0].v.size, 100001);
    assert_int_equal(back[100000].v.i, 99999000);
    arena_done(&arena);
    buf_done(&out);
}

static void records_check_format_and_fields(void **state)
{
    (void)state;
    const struct tape_node *f[2];
    int64_t first = 0;
    struct buf out = {0};
    struct arena arena;
    arena_init(&arena, 0);
    record_begin(&out, 2);
    cbor_write_int(-5, &out);
    cbor_write_bytes(STR("\xff\x00"), &out);
    assert_int_equal(record_read(buf_str(&out), "is", &arena, f), 0);
    assert_int_equal(f[0]->v.i, -5);
    assert_true(str_eq(record_str(f[1]), STR("\xff\x00")));
    assert_int_equal(record_first_int(buf_str(&out), &first), 0);
    assert_int_equal(first, -5);
    assert_int_equal(record_read(buf_str(&out), "ii", &arena, f), ERR_STORE_DAMAGED);
    assert_int_equal(record_read(buf_str(&out), "i", &arena, f), ERR_STORE_DAMAGED);
    assert_int_equal(record_read(buf_str(&out), "is*", &arena, f), ERR_STORE_DAMAGED);
    out.p[1] = RECORD_FORMAT + 1;
    assert_int_equal(record_read(buf_str(&out), "is", &arena, f), ERR_STORE_FORMAT);
    assert_int_equal(record_first_int(buf_str(&out), &first), ERR_STORE_FORMAT);
    static const struct refused bad[] = {{"", 0},
                                         {"\x01", 1},
                                         {"\x80", 1},
                                         {"\x81\x01", 2},
                                         {"\x82\x61\x61\x01", 4},
                                         {"\xa1\x61\x61\x01", 4},
                                         {"\x82\x01", 2},
                                         {"\x82\x01\x61\x61", 4}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct str in = {bad[i].bytes, bad[i].n};
        assert_int_equal(record_first_int(in, &first), ERR_STORE_DAMAGED);
        assert_int_equal(record_read(in, "ii", &arena, f), ERR_STORE_DAMAGED);
    }
    arena_done(&arena);
    buf_done(&out);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tapes_come_back),
        cmocka_unit_test(every_truncation_is_damaged),
        cmocka_unit_test(mutated_bytes_are_damaged_or_well_formed),
        cmocka_unit_test(K12_claimed_counts_allocate_nothing),
        cmocka_unit_test(foreign_items_are_refused),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(memory_that_ends_is_said),
        cmocka_unit_test(what_holds_no_item_is_damaged),
        cmocka_unit_test(a_row_takes_the_memory_of_its_nodes),
        cmocka_unit_test(records_check_format_and_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
