/* tests/unit/test_tables.c - the generated tables, all of them, through reader and writer.
 *
 * From each revision's definitions every object table is reached. For each: instances parse, write
 * back to the same text and parse again; every row has its negatives (dropped, doubled, of another
 * type, out of range), each with the pointer and the reason that a client is told.
 */
#include "base/err.h"
#include "base/json_tree.h"
#include "generated/edges.h"
#include "fill.h"
#include "guarded.h"
#include "wire/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#define MESSAGES_MAX 2000

static const struct wire_message *messages[MESSAGES_MAX];
static uint32_t n_messages;

/* ---- every object table that can be reached -------------------------------------------------- */

static void reach_message(const struct wire_message *m);

static void reach(const struct wire_type *t)
{
    if ((t->kind == WIRE_OBJECT || t->kind == WIRE_RAW) && t->of.message)
        reach_message(t->of.message);
}

static void reach_message(const struct wire_message *m)
{
    for (uint32_t i = 0; i < n_messages; i++)
        if (messages[i] == m)
            return;
    assert_true(n_messages < MESSAGES_MAX);
    messages[n_messages++] = m;
    for (unsigned i = 0; i < m->n_rows; i++)
        reach(&m->rows[i].type);
    for (unsigned i = 0; i < m->n_variants; i++)
        reach_message(m->variants[i].message);
}

static int set_up(void **state)
{
    (void)state;
    for (int revision = 0; revision < MCP_REVISIONS; revision++)
        for (int i = 0; i < MCP_DEFINITIONS; i++) {
            const struct wire_type *t =
                mcp_type((enum mcp_revision)revision, (enum mcp_definition)i);
            if (t)
                reach(t);
        }
    return n_messages > 300 ? 0 : -1;
}

/* ---- parse, write, parse -------------------------------------------------------------------- */

static struct guarded room; /* where texts are put; as large as the largest so far */

static struct str placed(struct str text)
{
    if (!room.map || room.size < text.n + 2u * 4096 + JSON_PADDING_BYTES) {
        if (room.map)
            guarded_done(&room);
        char *large = calloc(1, text.n + 65536);
        room = guarded_copy((struct str){large, text.n + 65536});
        free(large);
    }
    guarded_reuse(&room, text);
    return room.text;
}

static void assert_accepted(const struct wire_type *t, struct str text, const char *name)
{
    struct wire_fault fault;
    if (wire_check(t, placed(text), &fault) != 0)
        fail_msg("%s: %s at %s (%s): " STR_FMT, name, wire_reason_name(fault.reason), fault.pointer,
                 fault.expected, STR_ARG(text));
}

static void *value_for(const struct wire_type *t, struct arena *arena)
{
    size_t size = t->kind == WIRE_OBJECT && t->container == WIRE_ONE ? t->of.message->size : 64;
    return arena_zalloc(arena, size);
}

/* Parses and writes; the text written goes to `out`. */
static void parse_and_write(const struct wire_type *t, struct str text, const char *name,
                            struct buf *out)
{
    struct arena arena;
    struct wire_fault fault;
    arena_init(&arena, 0);
    void *value = value_for(t, &arena);
    if (wire_parse(t, placed(text), &arena, value, &fault) != 0)
        fail_msg("%s: %s at %s: " STR_FMT, name, wire_reason_name(fault.reason), fault.pointer,
                 STR_ARG(text));
    if (wire_write(t, value, out) != 0)
        fail_msg("%s is not written: " STR_FMT, name, STR_ARG(text));
    arena_done(&arena);
}

static void assert_round_trip(const struct wire_type *t, struct instance *in, const char *name,
                              bool same_text)
{
    struct buf first = {0}, second = {0};
    struct str text = buf_str(&in->out);
    assert_accepted(t, text, name);
    parse_and_write(t, text, name, &first);
    if (same_text && !str_eq(buf_str(&first), text))
        fail_msg("%s: " STR_FMT "\nwas written as " STR_FMT, name, STR_ARG(text),
                 STR_ARG(buf_str(&first)));
    parse_and_write(t, buf_str(&first), name, &second);
    assert_true(str_eq(buf_str(&first), buf_str(&second)));
    buf_done(&first);
    buf_done(&second);
}

static void each_definition(void (*fn)(const struct wire_type *t, const char *name))
{
    for (int revision = 0; revision < MCP_REVISIONS; revision++) {
        const struct wire_definition *all = mcp_definitions((enum mcp_revision)revision);
        for (int i = 0; i < MCP_DEFINITIONS; i++)
            if (all[i].type)
                fn(all[i].type, all[i].name);
    }
}

static void go_round(const struct wire_type *t, const char *name)
{
    for (int size = MINIMAL; size <= MAXIMAL; size++) {
        struct instance in = {.size = (enum instance_size)size, .random = 7};
        instance_value(&in, t);
        assert_round_trip(t, &in, name, true);
        buf_done(&in.out);
    }
}

static void smallest_and_largest_instances_come_back(void **state)
{
    (void)state;
    each_definition(go_round);
}

static void go_round_at_random(const struct wire_type *t, const char *name)
{
    static uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 20; i++) {
        struct instance in = {.size = RANDOM, .random = seed += 0x9e3779b97f4a7c15u};
        instance_value(&in, t);
        assert_round_trip(t, &in, name, false);
        buf_done(&in.out);
    }
}

static void random_instances_come_back(void **state)
{
    (void)state;
    each_definition(go_round_at_random);
}

static void every_alternative_is_chosen(void **state)
{
    (void)state;
    unsigned n = 0;
    for (uint32_t i = 0; i < n_messages; i++)
        for (unsigned v = 0; v < messages[i]->n_variants; v++, n++) {
            struct wire_type t = {.kind = WIRE_OBJECT, .of.message = messages[i]};
            for (int size = MINIMAL; size <= MAXIMAL; size++) {
                struct instance in = {.size = (enum instance_size)size, .random = 7};
                instance_variant(&in, messages[i], v);
                assert_accepted(&t, buf_str(&in.out), messages[i]->variants[v].name);
                if (messages[i]->size)
                    assert_round_trip(&t, &in, messages[i]->variants[v].name, true);
                buf_done(&in.out);
            }
        }
    assert_true(n > 50);
}

static void fill_and_compare(const struct wire_message *m, uint64_t seed)
{
    struct arena arena;
    struct wire_fault fault;
    struct wire_type t = {.kind = WIRE_OBJECT, .of.message = m};
    struct buf text = {0};
    arena_init(&arena, 0);
    struct fill f = {.in = {.size = RANDOM, .random = seed}, .arena = &arena};
    char *filled = arena_zalloc(&arena, m->size), *back = arena_zalloc(&arena, m->size);
    fill_object(&f, m, filled);
    if (wire_write(&t, filled, &text) != 0)
        fail_msg("%s is not written", m->name);
    if (wire_parse(&t, placed(buf_str(&text)), &arena, back, &fault) != 0)
        fail_msg("%s: %s at %s: " STR_FMT, m->name, wire_reason_name(fault.reason), fault.pointer,
                 STR_ARG(buf_str(&text)));
    if (!same_object(m, filled, back))
        fail_msg("%s comes back otherwise: " STR_FMT, m->name, STR_ARG(buf_str(&text)));
    buf_done(&text);
    buf_done(&f.in.out);
    arena_done(&arena);
}

static void structs_filled_at_random_come_back(void **state)
{
    (void)state;
    unsigned n = 0;
    uint64_t seed = 362436069362436069u;
    for (uint32_t i = 0; i < n_messages; i++)
        for (int round = 0; messages[i]->size && round < 20; round++, n++)
            fill_and_compare(messages[i], seed += 0x9e3779b97f4a7c15u);
    assert_true(n > 2000);
}

/* ---- negatives ------------------------------------------------------------------------------ */

static unsigned n_negatives;

/* The message's minimal members and row `at`, whose value is `value` (NULL: left out) and stands
 * `times` times. */
static void write_with(struct buf *out, const struct wire_message *m, const struct wire_row *at,
                       const char *value, int times)
{
    bool first = true;
    buf_clear(out);
    buf_add_char(out, '{');
    for (unsigned i = 0; i < m->n_rows; i++) {
        const struct wire_row *row = &m->rows[i];
        for (int n = row == at ? times : (int)(m->required >> row->bit & 1); n > 0; n--) {
            struct instance in = {.size = MINIMAL, .random = 7};
            instance_value(&in, &row->type);
            buf_printf(out, "%s" STR_FMT, first ? "" : ",", (int)row->key_len + 3, row->name);
            buf_add_str(out, row == at && value ? str_of(value) : buf_str(&in.out));
            buf_done(&in.out);
            first = false;
        }
    }
    buf_add_char(out, '}');
}

/* "/key" and what is below; names of the protocol hold no '~'. */
static void point_at(const struct wire_row *row, const char *below, char ret[256])
{
    size_t n = 0;
    ret[n++] = '/';
    for (unsigned i = 0; i < row->key_len && n < 200; i++) {
        char c = row->name[1 + i];
        ret[n++] = (char)(c == '/' ? '~' : c);
        if (c == '/')
            ret[n++] = '1';
    }
    strcpy(ret + n, below);
}

static void assert_refused(const struct wire_message *m, const struct wire_row *row,
                           struct str text, unsigned reasons, const char *below)
{
    struct wire_type t = {.kind = WIRE_OBJECT, .of.message = m};
    struct wire_fault fault;
    char want[256];
    point_at(row, below, want);
    int err = wire_check(&t, placed(text), &fault);
    if (err != ERR_PARAMS || !(reasons >> fault.reason & 1) || strcmp(fault.pointer, want) != 0)
        fail_msg("%s: %s %s at %s, not at %s: " STR_FMT, m->name, err_name(err),
                 wire_reason_name(fault.reason), fault.pointer, want, STR_ARG(text));
    n_negatives++;
}

static void each_row(void (*fn)(const struct wire_message *m, const struct wire_row *row,
                                struct buf *text))
{
    struct buf text = {0};
    for (uint32_t i = 0; i < n_messages; i++)
        for (unsigned j = 0; !messages[i]->variants && j < messages[i]->n_rows; j++)
            fn(messages[i], &messages[i]->rows[j], &text);
    buf_done(&text);
}

static void drop(const struct wire_message *m, const struct wire_row *row, struct buf *text)
{
    if (!(m->required >> row->bit & 1))
        return;
    write_with(text, m, row, NULL, 0);
    assert_refused(m, row, buf_str(text), 1u << WIRE_REQUIRED, "");
}

static void J_14_each_required_member_is_missed(void **state)
{
    (void)state;
    n_negatives = 0;
    each_row(drop);
    assert_true(n_negatives > 200);
}

static void twice(const struct wire_message *m, const struct wire_row *row, struct buf *text)
{
    write_with(text, m, row, NULL, 2);
    assert_refused(m, row, buf_str(text), 1u << WIRE_DUPLICATE, "");
}

static void J_24_each_member_is_refused_twice(void **state)
{
    (void)state;
    n_negatives = 0;
    each_row(twice);
    assert_true(n_negatives > 800);
}

/* JSON types that the member may have. */
static unsigned types_of(const struct wire_type *t)
{
    static const uint8_t by_kind[] = {
        [WIRE_STR] = WIRE_T_STRING,    [WIRE_INT] = WIRE_T_NUMBER,
        [WIRE_NUM] = WIRE_T_NUMBER,    [WIRE_BOOL] = WIRE_T_BOOL,
        [WIRE_ENUM] = WIRE_T_STRING,   [WIRE_TOKEN] = WIRE_T_STRING | WIRE_T_NUMBER,
        [WIRE_OBJECT] = WIRE_T_OBJECT,
    };
    unsigned one = by_kind[t->kind];
    if (t->kind == WIRE_RAW)
        one = t->types;
    if (t->kind == WIRE_CONST)
        one = *t->of.literal == '"' ? WIRE_T_STRING : WIRE_T_NUMBER;
    if (t->container == WIRE_ARRAY)
        return WIRE_T_ARRAY;
    if (t->container == WIRE_MAP)
        return WIRE_T_OBJECT;
    return t->container == WIRE_MANY && t->max_items != 1 ? one | WIRE_T_ARRAY : one;
}

static const struct {
    unsigned type;
    const char *text;
} samples[] = {
    {WIRE_T_NULL, "null"},   {WIRE_T_BOOL, "false"}, {WIRE_T_NUMBER, "-3"},
    {WIRE_T_STRING, "\"\""}, {WIRE_T_ARRAY, "[[]]"}, {WIRE_T_OBJECT, "{\"\":{}}"},
};

static void retype(const struct wire_message *m, const struct wire_row *row, struct buf *text)
{
    unsigned types = types_of(&row->type);
    if (types & WIRE_T_INTEGER)
        types |= WIRE_T_NUMBER; /* the sample is whole */
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (types & samples[i].type)
            continue;
        write_with(text, m, row, samples[i].text, 1);
        assert_refused(m, row, buf_str(text), 1u << WIRE_TYPE, "");
    }
}

static void J_14_each_member_of_another_type_is_refused(void **state)
{
    (void)state;
    n_negatives = 0;
    each_row(retype);
    assert_true(n_negatives > 3000);
}

static void retype_within(const struct wire_message *m, const struct wire_row *row,
                          struct buf *text)
{
    struct wire_type one = row->type;
    char value[64];
    if (one.container == WIRE_ONE || (one.container == WIRE_MANY && one.max_items == 1))
        return;
    one.container = WIRE_ONE;
    bool is_map = row->type.container == WIRE_MAP;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        unsigned types = types_of(&one);
        if (types & samples[i].type || (types & WIRE_T_INTEGER && samples[i].type == WIRE_T_NUMBER))
            continue;
        snprintf(value, sizeof value, is_map ? "{\"k\":%s}" : "[%s]", samples[i].text);
        write_with(text, m, row, value, 1);
        assert_refused(m, row, buf_str(text), 1u << WIRE_TYPE, is_map ? "/k" : "/0");
    }
}

static void J_14_each_item_of_another_type_is_refused(void **state)
{
    (void)state;
    n_negatives = 0;
    each_row(retype_within);
    assert_true(n_negatives > 100);
}

static void exceed(const struct wire_message *m, const struct wire_row *row, struct buf *text)
{
    const struct wire_type *t = &row->type;
    char value[64];
    if (t->container != WIRE_ONE || (t->kind != WIRE_INT && t->kind != WIRE_NUM))
        return;
    const struct wire_range *range = t->of.range;
    if (range && range->min > -HUGE_VAL) {
        snprintf(value, sizeof value, t->kind == WIRE_INT ? "%.0f" : "%.3f",
                 range->min - (t->kind == WIRE_INT ? 1 : 0.001));
        write_with(text, m, row, value, 1);
        assert_refused(m, row, buf_str(text), 1u << WIRE_RANGE, "");
    }
    if (range && range->max < HUGE_VAL) {
        snprintf(value, sizeof value, t->kind == WIRE_INT ? "%.0f" : "%.3f",
                 range->max + (t->kind == WIRE_INT ? 1 : 0.001));
        write_with(text, m, row, value, 1);
        assert_refused(m, row, buf_str(text), 1u << WIRE_RANGE, "");
    }
    write_with(text, m, row, t->kind == WIRE_INT ? "9223372036854775808" : "1e999", 1);
    assert_refused(m, row, buf_str(text), 1u << WIRE_RANGE, "");
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    n_negatives = 0;
    each_row(exceed);
    assert_true(n_negatives > 20);
}

static void misname(const struct wire_message *m, const struct wire_row *row, struct buf *text)
{
    const struct wire_type *t = &row->type;
    bool is_string = t->kind == WIRE_CONST && *t->of.literal == '"';
    if (t->container != WIRE_ONE || (t->kind != WIRE_ENUM && t->kind != WIRE_CONST))
        return;
    write_with(text, m, row, t->kind == WIRE_ENUM || is_string ? "\"no such choice\"" : "12345", 1);
    assert_refused(m, row, buf_str(text), 1u << WIRE_CHOICE, "");
}

static void unknown_choices_are_refused(void **state)
{
    (void)state;
    n_negatives = 0;
    each_row(misname);
    assert_true(n_negatives > 100);
}

static void misform(const struct wire_message *m, const struct wire_row *row, struct buf *text)
{
    if (row->type.kind != WIRE_STR || row->type.format == WIRE_PLAIN ||
        row->type.container != WIRE_ONE)
        return;
    write_with(text, m, row, "\"{ <\"", 1);
    assert_refused(m, row, buf_str(text), 1u << WIRE_FORMAT, "");
}

static void RS_06_texts_of_another_format_are_refused(void **state)
{
    (void)state;
    n_negatives = 0;
    each_row(misform);
    assert_true(n_negatives > 10);
}

static void overfill(const struct wire_message *m, const struct wire_row *row, struct buf *text)
{
    const struct wire_type *t = &row->type;
    if (t->container != WIRE_ARRAY || t->max_items == 0)
        return;
    struct instance in = {.size = MINIMAL, .random = 7};
    for (unsigned i = 0; i <= t->max_items; i++) {
        buf_add_char(&in.out, i ? ',' : '[');
        instance_one(&in, t);
    }
    buf_add(&in.out, "]", 2);
    write_with(text, m, row, in.out.p, 1);
    assert_refused(m, row, buf_str(text), 1u << WIRE_ITEMS, "");
    buf_done(&in.out);
}

static void more_items_than_allowed_are_refused(void **state)
{
    (void)state;
    n_negatives = 0;
    each_row(overfill);
    assert_true(n_negatives > 0);
}

/* A tag that is unknown, missing, or of another type is named as the fault. */
static void unknown_alternatives_are_refused(void **state)
{
    (void)state;
    struct wire_fault fault;
    unsigned n = 0;
    for (uint32_t i = 0; i < n_messages; i++) {
        const struct wire_message *m = messages[i];
        if (!m->variants || !m->variants[0].fixed_literal || m->n_rows != 1)
            continue;
        struct wire_type t = {.kind = WIRE_OBJECT, .of.message = m};
        char text[64], pointer[64];
        bool all_tagged = m->variants[m->n_variants - 1].fixed_literal != NULL;
        snprintf(text, sizeof text, "{" STR_FMT "\"no such kind\"}", m->rows[0].key_len + 3,
                 m->rows[0].name);
        snprintf(pointer, sizeof pointer, "/%.*s", m->rows[0].key_len, m->rows[0].name + 1);
        assert_int_equal(wire_check(&t, placed(str_of(text)), &fault), ERR_PARAMS);
        if (!all_tagged)
            continue;
        n++;
        assert_int_equal(fault.reason, WIRE_CHOICE);
        assert_string_equal(fault.pointer, pointer);
        assert_int_equal(wire_check(&t, placed(STR("{}")), &fault), ERR_PARAMS);
        assert_int_equal(fault.reason, WIRE_REQUIRED);
        assert_string_equal(fault.pointer, pointer);
    }
    assert_true(n > 3);
}

/* ---- cut and unpadded texts ------------------------------------------------------------------ */

static void cut_text(const struct wire_type *t, const char *name)
{
    struct instance in = {.size = MAXIMAL, .random = 7};
    instance_value(&in, t);
    struct str text = buf_str(&in.out);
    uint32_t step = text.n / 400 + 1;
    bool is_number = text.p[0] == '-' || (text.p[0] >= '0' && text.p[0] <= '9');
    for (uint32_t n = 0; n < text.n && !is_number; n += step)
        if (wire_check(t, placed((struct str){text.p, n}), NULL) != ERR_PARSE)
            fail_msg("%s is accepted cut at %u", name, n);
    buf_done(&in.out);
}

static void J_15_truncated_instances_are_refused(void **state)
{
    (void)state;
    each_definition(cut_text);
}

/* ---- both readers --------------------------------------------------------------------------- */

static void read_cold(const struct wire_type *t, const char *name)
{
    struct arena arena;
    struct json *tree;
    struct instance in = {.size = RANDOM, .random = 99};
    arena_init(&arena, 0);
    instance_value(&in, t);
    if (json_tree_parse(buf_str(&in.out), &arena, &tree, NULL) != 0)
        fail_msg("%s: the cold reader refuses " STR_FMT, name, STR_ARG(buf_str(&in.out)));
    buf_done(&in.out);
    arena_done(&arena);
}

static void instances_are_json_for_the_cold_reader_too(void **state)
{
    (void)state;
    each_definition(read_cold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_and_largest_instances_come_back),
        cmocka_unit_test(random_instances_come_back),
        cmocka_unit_test(every_alternative_is_chosen),
        cmocka_unit_test(structs_filled_at_random_come_back),
        cmocka_unit_test(J_14_each_required_member_is_missed),
        cmocka_unit_test(J_24_each_member_is_refused_twice),
        cmocka_unit_test(J_14_each_member_of_another_type_is_refused),
        cmocka_unit_test(J_14_each_item_of_another_type_is_refused),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(unknown_choices_are_refused),
        cmocka_unit_test(RS_06_texts_of_another_format_are_refused),
        cmocka_unit_test(more_items_than_allowed_are_refused),
        cmocka_unit_test(unknown_alternatives_are_refused),
        cmocka_unit_test(J_15_truncated_instances_are_refused),
        cmocka_unit_test(instances_are_json_for_the_cold_reader_too),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
