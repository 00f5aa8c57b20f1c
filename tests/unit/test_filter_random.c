/* tests/unit/test_filter_random.c - random filters on random rows against a second evaluator.
 *
 * The reference works on the tree that the generator made, not on what the parser read: three
 * truth values as SQL describes them, `not` as a node, lists as rows of equalities, `like` by
 * recursion, numbers as long double (64 bits of mantissa), dates by timegm. The text that is
 * compiled is printed from the same tree, in a random spelling. Checked for each filter: it finds
 * the same rows; its canonical text finds the same rows and compiles to itself; each row that it
 * finds lies within its bounds, and where the bounds claim to say all, each row within is found;
 * and with a random order and random indexes, the plan that is made of it finds what the reference
 * finds among rows of the right types, in its order.
 *
 * FILTER_SEED=n runs another sequence.
 */
#include "filter_reference.h"
#include "plan_rig.h"

#define FILTERS         100000
#define ROWS            64
#define ROWS_PER_FILTER 8
#define ROUND           2000 /* filters between two resets of the arena */

/* ---- Bounds --------------------------------------------------------------------------------- */

static int class_of(const struct tape_node *node)
{
    return node->kind == TAPE_INT ? TAPE_NUM : node->kind == TAPE_TRUE ? TAPE_FALSE : node->kind;
}

static bool beyond(const struct tape_node *value, const struct tape_node *bound, bool strict,
                   int side)
{
    if (class_of(value) != class_of(bound))
        return true;
    int order = filter_compare_nodes(value, bound) * side;
    return strict ? order <= 0 : order < 0;
}

static bool is_within(const struct filter_range *r, const struct tape_node *value)
{
    bool listed = r->n_values == 0;
    if (r->empty || (r->is_null && value) || (r->not_null && !value))
        return false;
    if (!value)
        return true;
    for (uint32_t i = 0; i < r->n_values; i++)
        listed |= class_of(value) == class_of(&r->values[i]) &&
                  filter_compare_nodes(value, &r->values[i]) == 0;
    return listed && (!r->has_lower || !beyond(value, &r->lower, r->lower_strict, 1)) &&
           (!r->has_upper || !beyond(value, &r->upper, r->upper_strict, -1));
}

static const struct tape_node *cell_of(const struct row *row, size_t attribute)
{
    static const struct {
        const char *first, *second;
    } steps[A] = {{"i", 0}, {"x", 0},   {"s", 0},   {"b", 0},   {"d", 0},        {"t", 0}, {"l", 0},
                  {"a", 0}, {"o", "k"}, {"o", "s"}, {"m", "z"}, {"odd name", 0}, {"id", 0}};
    const struct tape_node *value = tape_get(row->tape, str_of(steps[attribute].first));
    if (value && steps[attribute].second)
        value = tape_get(value, str_of(steps[attribute].second));
    return value && value->kind != TAPE_NULL ? value : NULL;
}

/* A filter whose bounds say all: only leaves under one and, each attribute exact. */
static bool says_all(const struct filter *filter)
{
    const struct filter_node *root = filter_root(filter);
    struct filter_range r;
    for (const struct filter_node *leaf = root->op == FILTER_AND ? root->first : root; leaf;
         leaf = leaf->next)
        if (leaf->op == FILTER_OR || !filter_bounds(filter, leaf->column->path, &r) || !r.exact)
            return false;
    return true;
}

static size_t n_found, n_bounded, n_exact;

static void check_bounds(const struct filter *filter, const struct row *row, bool found,
                         const char *text)
{
    bool within = true, all = says_all(filter);
    for (size_t i = 0; i < A; i++) {
        struct filter_range range;
        if (!filter_bounds(filter, str_of(attributes[i].path), &range))
            continue;
        n_bounded++;
        within &= is_within(&range, cell_of(row, i));
    }
    if (found && !within)
        fail_msg("a row lies outside of the bounds of: %s", text);
    if (all && within && !found)
        fail_msg("a row within exact bounds is not found by: %s", text);
    n_exact += all;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

#define PART(name, type, down)     \
    {                              \
        STR_INIT(name), type, down \
    }
static const struct store_index_part by_i[] = {PART("i", KEY_INTEGER, true)};
static const struct store_index_part by_s[] = {PART("s", KEY_STRING, false)};
static const struct store_index_part by_s_i[] = {PART("s", KEY_STRING, true),
                                                 PART("i", KEY_INTEGER, true)};
static const struct store_index_part by_d[] = {PART("d", KEY_STRING, false),
                                               PART("s", KEY_STRING, false)};
static const struct store_index_part by_t[] = {PART("t", KEY_STRING, true)};
static const struct store_index_part by_o[] = {
    PART("o.k", KEY_INTEGER, false), PART("o.s", KEY_STRING, false), PART("t", KEY_STRING, false)};
#define INDEX(id, parts)                                   \
    {                                                      \
        id, STR_INIT(#parts), false, true, parts, N(parts) \
    }
static const struct store_index all_indexes[] = {INDEX(1, by_i), INDEX(2, by_s), INDEX(3, by_s_i),
                                                 INDEX(4, by_d), INDEX(5, by_t), INDEX(6, by_o)};
static const struct store_index_part primary = PART("id", KEY_INTEGER, false);

static struct row sound_rows[PLANNED];
static const struct tape_node *entries[N(all_indexes) + 1][PLANNED]; /* by id; 0: by the key */

static void make_entries(void)
{
    for (size_t i = 0; i < PLANNED; i++)
        make_sound_row(&sound_rows[i], i);
    for (size_t x = 0; x <= N(all_indexes); x++) {
        for (size_t i = 0; i < PLANNED; i++)
            entries[x][i] = sound_rows[i].tape;
        rig_entries(x ? all_indexes[x - 1].parts : &primary, x ? all_indexes[x - 1].n_parts : 1,
                    primary.attribute, entries[x], PLANNED);
    }
}

static uint32_t n_accesses[4];

/* The plan must find as many rows as the reference, each of them right (rig_check_plan tests them
 * by the filter, which check_row holds against the reference), in order. */
static void check_planned(const struct expression *e, const struct filter *filter, const char *text)
{
    static const char *const names[] = {"id", "i", "s", "d", "t", "o.k", "o.s"};
    struct plan_order order[3];
    struct store_index indexes[] = {PICK(all_indexes), PICK(all_indexes), PICK(all_indexes),
                                    PICK(all_indexes)};
    struct plan_query q = {.filter = filter,
                           .order = order,
                           .n_order = random_below(4),
                           .key = primary,
                           .indexes = indexes,
                           .n_indexes = random_below(N(indexes) + 1)};
    struct plan plan;
    const struct tape_node *found[PLANNED];
    size_t wanted = 0;
    for (uint32_t i = 0; i < q.n_order; i++)
        order[i] = (struct plan_order){str_of(PICK(names)), random_below(2)};
    assert_int_equal(plan_make(&q, &rig_arena, &plan), 0);
    const struct tape_node *const *read = entries[plan.index ? plan.index->id : 0];
    for (size_t i = 0; i < PLANNED; i++)
        wanted += judge(e, &sound_rows[i]) == TRUE;
    if (rig_run(&plan, filter, read, PLANNED, found) != wanted)
        fail_msg("the plan finds others than the reference: %s", text);
    rig_check_plan(&plan, filter, read, PLANNED, text);
    if (random_below(4) == 0)
        rig_check_order(&plan, &q, read, PLANNED, text);
    n_accesses[plan.access]++;
}

/* ---- The test ------------------------------------------------------------------------------- */

static struct filter_columns columns;
static struct row rows[ROWS];

static void begin_round(void)
{
    arena_reset(&rig_arena);
    columns = rig_columns(schema);
    for (size_t i = 0; i < ROWS; i++)
        make_row(&rows[i]);
    make_entries();
}

static void check_row(const struct expression *e, const struct filter *filter,
                      const struct filter *again, const struct row *row, const char *text)
{
    bool wanted = judge(e, row) == TRUE, found = filter_test(filter, row->tape);
    struct buf json = {0};
    n_found += found;
    if (found != wanted) {
        tape_write(row->tape, &json);
        fail_msg("%s: %s, but the reference %s: " STR_FMT, text, found ? "found" : "not found",
                 wanted ? "finds it" : "does not", STR_ARG(buf_str(&json)));
    }
    if (filter_test(again, row->tape) != wanted)
        fail_msg("the canonical text finds others: %s", text);
    check_bounds(filter, row, found, text);
}

static void planner_and_reference_agree(void **state)
{
    (void)state;
    const char *wanted = getenv("FILTER_SEED");
    uint64_t first = wanted ? strtoull(wanted, NULL, 10) : 20240131;
    seed = first * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < FILTERS; i++) {
        struct buf text = {0};
        if (i % ROUND == 0)
            begin_round();
        const struct expression *e = make_filter();
        write_expression(e, &text);
        buf_add_char(&text, '\0');
        const struct filter *filter = rig_filter(&columns, text.p);
        const char *canonical = rig_canonical(filter);
        const struct filter *again = rig_filter(&columns, canonical);
        assert_string_equal(rig_canonical(again), canonical);
        for (int k = 0; k < ROWS_PER_FILTER; k++)
            check_row(e, filter, again, &PICK(rows), text.p);
        check_planned(e, filter, text.p);
        buf_done(&text);
    }
    print_message("# seed %llu: %d filters, %d tests, %zu found, %zu bounds looked at, %zu exact\n",
                  (unsigned long long)first, FILTERS, FILTERS * ROWS_PER_FILTER, n_found, n_bounded,
                  n_exact);
    print_message("# plans: %u nothing, %u scans, %u primary, %u by index\n", n_accesses[0],
                  n_accesses[1], n_accesses[2], n_accesses[3]);
    assert_true(n_found > FILTERS / 2 && n_bounded > FILTERS && n_exact > FILTERS / 10);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(planner_and_reference_agree),
    };
    return cmocka_run_group_tests(tests, rig_start, rig_stop);
}
