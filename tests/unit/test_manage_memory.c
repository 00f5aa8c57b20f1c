/* tests/unit/test_manage_memory.c - the n-th allocation fails, for every n, while tables and
 * indexes are made, described, altered and dropped, and while a job runs: either it is done or
 * nothing is, it says so, and the next try works.
 *
 * The linker sends the allocations of libtenon through here (--wrap, see the Makefile). Only those
 * of one thread fail; those of the store's writer are the store's tests.
 */
#include "core/manage.h"

#include "base/log.h"
#include "core/core_state.h"
#include "tests/unit/ask.h"

#define CITY                                                                    \
    "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{" \
    "\"code\":{\"type\":\"string\"},\"region\":{\"type\":\"string\"}}}"
#define CITY_NO_INDEX CITY "}"
#define CITY_INDEXED  CITY ",\"indexes\":[{\"on\":[\"region\"]}]}"
#define CITY_SHORT                                                              \
    "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{" \
    "\"code\":{\"type\":\"string\"},\"region\":{\"type\":\"string\",\"maxLength\":2}}}}"

static _Thread_local unsigned countdown;  /* 0: nothing fails */
static _Atomic unsigned thread_countdown; /* of the next handler thread */
static _Atomic bool was_hit;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool fails(void)
{
    bool now = countdown && --countdown == 0;
    if (now)
        was_hit = true;
    return now;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

/* ---- Manage --------------------------------------------------------------------------------- */

#define NAME STR("geo"), STR("city")

static int create(struct manage *m)
{
    return manage_create_table(m, NAME, STR(CITY_INDEXED));
}

static int create_badly(struct manage *m)
{
    return manage_create_table(m, NAME, STR("{\"primaryKey\":1,\"x\":2}"));
}

static int drop(struct manage *m)
{
    return manage_drop_table(m, NAME);
}

static int describe(struct manage *m)
{
    struct store_table table;
    struct buf text = {0};
    int err = manage_find_table(m, NAME, &table);
    if (err == 0)
        err = manage_describe(&table, &text);
    buf_done(&text);
    return err;
}

static int find_all(struct manage *m)
{
    const struct store_table *tables;
    uint32_t n;
    return manage_find_tables(m, &tables, &n);
}

static int create_index(struct manage *m)
{
    struct str name;
    return manage_create_index(m, NAME, STR("{\"on\":[\"code\"],\"unique\":true}"), &name);
}

static int create_index_badly(struct manage *m)
{
    struct str name;
    return manage_create_index(m, NAME, STR("{\"on\":[\"region\"],\"name\":\"u\",\"unique\":true}"),
                               &name);
}

static int drop_index(struct manage *m)
{
    return manage_drop_index(m, NAME, STR("by_code"));
}

static int alter(struct manage *m)
{
    return manage_alter_table(m, NAME, STR(CITY_INDEXED));
}

static int alter_badly(struct manage *m)
{
    return manage_alter_table(m, NAME, STR(CITY_SHORT));
}

/* In this order, each on what those before left. */
static const struct {
    const char *name;
    int (*act)(struct manage *m);
    int err;
    int done_err; /* what a second time gives */
} steps[] = {
    {"create", create, 0, ERR_EXISTS},
    {"create badly", create_badly, ERR_PARAMS, ERR_PARAMS},
    {"describe", describe, 0, 0},
    {"find all", find_all, 0, 0},
    {"create index", create_index, 0, ERR_EXISTS},
    {"create index badly", create_index_badly, ERR_EXISTS, ERR_EXISTS},
    {"alter", alter, 0, 0},
    {"alter badly", alter_badly, ERR_PARAMS, ERR_PARAMS},
    {"drop index", drop_index, 0, ERR_ABSENT},
    {"drop", drop, 0, ERR_ABSENT},
};

static void written(struct store_write *write, int err)
{
    (void)write;
    assert_int_equal(err, 0);
}

/* Two rows with the same region. */
static void put_rows(struct store *store)
{
    struct arena arena;
    struct store_table table;
    arena_init(&arena, 0);
    struct manage m = {.store = store, .arena = &arena};
    assert_int_equal(manage_find_table(&m, NAME, &table), 0);
    for (int i = 0; i < 2; i++) {
        char text[128] = "";
        snprintf(text, sizeof text, "{\"code\":\"%c\",\"region\":\"north\"}", 'A' + i);
        struct store_op op = {.kind = STORE_PUT_ROW,
                              .if_version = STORE_ANY,
                              .table = table.id,
                              .key = i ? STR("B") : STR("A"),
                              .row = open_json(&arena, str_of(text))};
        struct store_write write = {.space = STORE_DATA, .ops = &op, .n_ops = 1, .done = written};
        store_submit(store, &write);
    }
    arena_done(&arena);
}

/* The error with the n-th allocation failing. */
static int try(struct store *store, int (*act)(struct manage *m), unsigned n)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct manage m = {.store = store, .arena = &arena};
    was_hit = false;
    countdown = n;
    int err = act(&m);
    countdown = 0;
    if (err < 0)
        assert_true(manage_why(&m, err).n > 0);
    arena_done(&arena);
    return err;
}

static void a_failing_allocation_leaves_all_or_nothing(void **state)
{
    struct store *store;
    unsigned n_failed = 0;
    (void)state;
    assert_int_equal(store_open_memory(&store), 0);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int err = ERR_NO_MEMORY;
        if (steps[i].act == describe)
            put_rows(store);
        for (unsigned n = 1; n < 2000; n++) {
            err = try(store, steps[i].act, n);
            if (!was_hit || err == 0)
                break; /* done, or no longer needed */
            n_failed++;
            if (err != ERR_NO_MEMORY && err != steps[i].err)
                fail_msg("%s, allocation %u: %s", steps[i].name, n, err_name(err));
            assert_true(store_check(store, NULL, NULL, NULL) == 0);
        }
        if (err != steps[i].err)
            fail_msg("%s: %s", steps[i].name, err_name(err));
        assert_int_equal(try(store, steps[i].act, 0), steps[i].done_err);
    }
    assert_true(n_failed > 100);
    store_close(store);
}

/* ---- Jobs ----------------------------------------------------------------------------------- */

static struct loop_work *held;
static void (*held_run)(struct loop_work *work);

static void start_failing(struct loop_work *work)
{
    work->run = held_run;
    countdown = thread_countdown;
    held_run(work);
    countdown = 0;
}

/* The first piece of work in the loop fails its n-th allocation. */
static void make_work_fail(struct bench *b, unsigned n)
{
    held = b->loop.works;
    assert_non_null(held);
    held_run = held->run;
    held->run = start_failing;
    thread_countdown = n;
}

#define ALTER                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"            \
    "\"alter_table\",\"arguments\":{\"database\":\"shop\",\"table\":\"book\",\"definition\":"  \
    "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":" \
    "\"integer\"}}}}}}}"
#define LIST                                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":" \
    "\"list_jobs\"}}"

static void open_managing(struct bench *b)
{
    static const struct str everything[] = {STR_INIT("*")};
    struct core_config config = bench_config;
    config.operations_allow = (struct name_globs){everything, 1};
    bench_open(b, &config);
    bench_table(b, "shop", "book",
                "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{"
                "\"type\":\"integer\"},\"title\":{\"type\":\"string\"}}}}");
    b->profile = PROFILE_OPERATIONS;
    bench_connect(b, "2025-06-18");
}

static void finish(struct call *call)
{
    countdown = 0;
    take_answer(call);
}

/* On the loop. */
static void a_job_begins_or_says_that_it_cannot(void **state)
{
    struct bench *b = &bench;
    bool more = true;
    (void)state;
    open_managing(b);
    for (unsigned n = 1; more; n++) {
        struct call *call = call_new(b->core);
        fill(b, call, STR(ALTER));
        call->finish = finish;
        b->n_answers = 0;
        was_hit = false;
        countdown = n;
        core_handle(b->core, call);
        while (b->n_answers == 0)
            assert_true(loop_turn(&b->loop, 10));
        countdown = 0;
        more = was_hit && n < 2000;
        while (loop_turn(&b->loop, 0))
            ;
        assert_int_equal(
            b->core->jobs.n_running + b->core->jobs.n_waiting + b->core->jobs.n_starting, 0);
    }
    ask(b, 200, LIST,
        "{\"result\":{\"structuredContent\":{\"jobs\":[{\"state\":\"done\"},\"...\"]}}}");
    bench_close(b);
}

/* On its thread. */
static void a_job_that_finds_no_memory_has_failed(void **state)
{
    struct bench *b = &bench;
    unsigned n_failed = 0;
    bool more = true;
    (void)state;
    open_managing(b);
    for (unsigned n = 1; more; n++) {
        ask(b, 200, ALTER, "{\"result\":{\"structuredContent\":{\"job\":\"*\"}}}");
        make_work_fail(b, n);
        was_hit = false;
        while (loop_turn(&b->loop, 0))
            ;
        more = was_hit && n < 2000;
        n_failed += more;
        assert_int_equal(b->core->jobs.n_running, 0);
    }
    assert_true(n_failed > 10);
    ask(b, 200, ALTER, "{\"result\":{\"structuredContent\":{\"job\":\"*\"}}}");
    while (loop_turn(&b->loop, 0))
        ;
    ask(b, 200, LIST,
        "{\"result\":{\"structuredContent\":{\"jobs\":[{\"state\":\"done\"},\"...\"]}}}");
    bench_close(b);
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_allocation_leaves_all_or_nothing),
        cmocka_unit_test(a_job_begins_or_says_that_it_cannot),
        cmocka_unit_test(a_job_that_finds_no_memory_has_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
