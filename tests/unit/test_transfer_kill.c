/* tests/unit/test_transfer_kill.c - kill -9 anywhere in imports that overwrite a table with a
 * unique index, in taking them back, and in the recovery after that: all rows are of one import,
 * one that was not stopped, and store_check finds nothing.
 */
#include "store_children.h"

#include "base/limits.h"
#include "transfer.h"

#define ROWS   1800 /* four batches */
#define ROUNDS 12

static const char definition[] =
    "{\"primaryKey\": \"id\", \"schema\": {\"type\": \"object\", \"properties\": {"
    "\"id\": {\"type\": \"integer\"}, \"n\": {\"type\": \"integer\"},"
    "\"name\": {\"type\": \"string\"}}}}";
static const struct store_index_part part_name = {STR_INIT("name"), KEY_STRING, false};
static const struct store_index_part part_n = {STR_INIT("n"), KEY_INTEGER, true};
static const struct store_index indexes[] = {
    {.name = STR_INIT("once_name"), .unique = true, .parts = &part_name, .n_parts = 1},
    {.name = STR_INIT("by_n"), .parts = &part_n, .n_parts = 1},
};

static struct arena arena; /* of the table */
static struct table table;

static int take_table(void *ctx, const struct store_table *stored)
{
    struct schema_faults faults;
    (void)ctx;
    require(table_parse(stored->definition, &arena, &table, &faults) == 0);
    table.id = stored->id;
    table.version = stored->version;
    return 1;
}

static void find_table(struct store *store)
{
    struct store_view *view;
    arena_init(&arena, 0);
    require(store_view_open(store, STORE_DATA, &view) == 0);
    require(store_scan_tables(view, take_table, NULL) == 1);
    store_view_close(view);
}

/* Each row takes the name that a row behind it had in the import before; from the last row on each
 * is free in time. Taken back in any other order than the reverse they would collide. */
static FILE *records_of(uint32_t round)
{
    FILE *out = tmpfile();
    require(out != NULL);
    for (int i = ROWS - 1; i >= 0; i--)
        fprintf(out, "{\"n\": %u, \"id\": %d, \"name\": \"%06u\"}\n", round, i,
                (unsigned)i + round);
    fflush(out);
    return out;
}

struct going {
    int to_parent;
    uint32_t round;
    bool stops; /* before the end of loading */
};

static int progress(void *ctx, const struct transfer_progress *now)
{
    const struct going *g = ctx;
    tell(g->to_parent, g->round);
    return g->stops && now->phase == TRANSFER_LOADS && now->rows > ROWS - 300;
}

static int no_fault(void *ctx, const struct transfer_fault *fault)
{
    (void)ctx;
    fprintf(stderr, "%llu: %s\n", (unsigned long long)fault->line, fault->text);
    _exit(4);
}

static uint32_t first_round;

/* Every third is stopped, and so taken back. */
static void import_again_and_again(int to_parent)
{
    struct store *store = open_store(STORE_NOSYNC);
    require(store != NULL);
    find_table(store);
    for (uint32_t round = first_round;; round++) {
        struct going g = {.to_parent = to_parent, .round = round, .stops = round % 3 == 0};
        FILE *file = records_of(round);
        struct transfer_import job = {.store = store,
                                      .table = &table,
                                      .file = file,
                                      .format = RECORDS_NDJSON,
                                      .replaces = true,
                                      .progress = progress,
                                      .fault = no_fault,
                                      .ctx = &g};
        require(transfer_import(&job) == (g.stops ? ERR_CANCELLED : 0));
        fclose(file);
    }
}

/* Takes back what it finds, and is killed in it. */
static void recover(int to_parent)
{
    tell(to_parent, 0);
    struct store *store = open_store(STORE_NOSYNC);
    require(store != NULL);
    tell(to_parent, 1);
    wait_for_kill();
}

static int see_row(void *ctx, const struct store_row *row)
{
    int64_t *round = ctx;
    int64_t n = tape_get(row->row, STR("n"))->v.i;
    if (n % 3 == 0 || (*round >= 0 && *round != n))
        return ERR_CONFLICT;
    *round = n;
    return 0;
}

static void finding(void *ctx, struct str text)
{
    (void)ctx;
    print_error(STR_FMT "\n", STR_ARG(text));
}

static uint32_t check_all(void)
{
    int64_t round = -1;
    uint64_t n = 99;
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(store_scan_rows(view, TABLE, NULL, see_row, &round), 0);
    assert_int_equal(kv_count(&view->txn, KV_UNDO, &n), 0);
    assert_int_equal(n, 0);
    store_view_close(view);
    assert_int_equal(scan_count(store, TABLE), round < 0 ? 0 : ROWS);
    assert_int_equal(store_check(store, finding, NULL, NULL), 0);
    store_close(store);
    return round < 0 ? 0 : (uint32_t)round;
}

static void make_it(void)
{
    struct store *store = open_store(STORE_NOSYNC);
    struct store_table made = {.database = STR("db"),
                               .name = STR("t"),
                               .definition = {definition, sizeof definition - 1},
                               .indexes = indexes,
                               .n_indexes = 2};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_MISSING, .put_table = &made};
    assert_non_null(store);
    assert_int_equal(write_list(store, STORE_DATA, &op, 1, NULL), 0);
    assert_int_equal(op.ret_table, TABLE);
    store_close(store);
}

static void kill_after(child_fn fn, unsigned n, unsigned us)
{
    uint32_t told;
    struct child c = start(fn);
    while (hear(&c, &told) && n)
        n--;
    for (unsigned i = 0; i < us; i++)
        __asm__ volatile("" ::: "memory"); /* some instructions later */
    kill_child(&c);
    close(c.from);
}

static void an_import_killed_anywhere_is_whole_or_not_there(void **state)
{
    (void)state;
    unsigned random = (unsigned)getpid(), moved = 0;
    uint32_t last = 0;
    make_it();
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1103515245 + 12345;
        first_round = last + 1;
        kill_after(import_again_and_again, random >> 16 & 63, random >> 8 & 0xffff);
        if (i % 2)
            kill_after(recover, 0, random & 0xfffff);
        uint32_t now = check_all();
        assert_true(now >= last);
        moved += now > last;
        last = now;
    }
    assert_true(moved > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(an_import_killed_anywhere_is_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
