/* tests/unit/test_store_jobs.c - what is kept of long operations, and what is forgotten when, on
 * both engines. The clock is moved by hand. */
#include "hand_clock.h"

#include "store_contract.h"

static const struct str done_record = STR_INIT("{\"state\":\"done\"}");

static struct store_op job_op(enum store_op_kind kind, const struct store_job *job,
                              uint64_t if_version)
{
    return (struct store_op){.kind = kind, .if_version = if_version, .job = job};
}

static int write_job(struct store *store, enum store_op_kind kind, struct str id,
                     uint64_t if_version)
{
    struct store_job job = {.id = id, .record = done_record};
    struct store_op op = job_op(kind, &job, if_version);
    return write_list(store, STORE_SYS, &op, 1, NULL);
}

struct made {
    struct store_job job;
    char id[12];
};

/* Jobs `from` up to `to`, a thousand in a transaction. */
static void make_jobs(struct store *store, uint32_t from, uint32_t to)
{
    static struct made made[TXN_ROWS_MAX];
    static struct store_op ops[TXN_ROWS_MAX];
    while (from < to) {
        uint32_t n = 0;
        for (; n < TXN_ROWS_MAX && from < to; n++, from++) {
            snprintf(made[n].id, sizeof made[n].id, "%08u", from);
            made[n].job = (struct store_job){.id = str_of(made[n].id), .record = done_record};
            ops[n] = job_op(STORE_PUT_JOB, &made[n].job, STORE_MISSING);
        }
        assert_int_equal(write_list(store, STORE_SYS, ops, n, NULL), 0);
    }
}

static int count_job(void *ctx, const struct store_job *job)
{
    assert_true(str_eq(job->record, done_record));
    ++*(uint32_t *)ctx;
    return 0;
}

static uint32_t count_jobs(struct store *store)
{
    uint32_t n = 0;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_jobs(view, count_job, &n), 0);
    store_view_close(view);
    return n;
}

/* 0 or ERR_ABSENT. */
static int find_job(struct store *store, struct str id)
{
    struct arena arena;
    struct store_job job;
    arena_init(&arena, 0);
    struct store_view *view = view_of(store, STORE_SYS);
    int err = store_get_job(view, id, &arena, &job);
    if (!err)
        assert_true(str_eq(job.id, id) && str_eq(job.record, done_record) && job.changed_ms > 0);
    store_view_close(view);
    arena_done(&arena);
    return err;
}

static void conditions_hold_for_jobs(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(write_job(f->store, STORE_DELETE_JOB, STR("x"), STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(write_job(f->store, STORE_DELETE_JOB, STR("x"), STORE_ANY), 0);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("x"), STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("x"), STORE_MISSING), 0);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("x"), STORE_MISSING), ERR_EXISTS);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("x"), STORE_PRESENT), 0);
    assert_int_equal(find_job(f->store, STR("x")), 0);
    assert_int_equal(write_job(f->store, STORE_DELETE_JOB, STR("x"), STORE_PRESENT), 0);
    assert_int_equal(find_job(f->store, STR("x")), ERR_ABSENT);
}

static void an_id_past_JOB_ID_BYTES_is_refused(void **state)
{
    struct fixture *f = *state;
    char text[JOB_ID_BYTES + 1];
    memset(text, 'j', sizeof text);
    struct str longest = {text, JOB_ID_BYTES}, longer = {text, JOB_ID_BYTES + 1};
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR(""), STORE_ANY), ERR_LIMIT);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, longer, STORE_ANY), ERR_LIMIT);
    assert_int_equal(write_job(f->store, STORE_DELETE_JOB, longer, STORE_ANY), ERR_LIMIT);
    assert_int_equal(find_job(f->store, longer), ERR_ABSENT);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, longest, STORE_ANY), 0);
    assert_int_equal(find_job(f->store, longest), 0);
    assert_int_equal(count_jobs(f->store), 1);
}

static void a_job_is_forgotten_JOB_KEEP_MS_after_its_last_change(void **state)
{
    struct fixture *f = *state;
    make_jobs(f->store, 0, 2);
    clock_advance_ms(JOB_KEEP_MS - 1);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_jobs(f->store), 2);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("00000000"), STORE_PRESENT), 0);
    clock_advance_ms(1);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(find_job(f->store, STR("00000000")), 0);
    assert_int_equal(find_job(f->store, STR("00000001")), ERR_ABSENT);
}

/* One that changes goes on, however old it is. */
static void of_more_than_JOBS_KEEP_the_first_at_rest_go(void **state)
{
    struct fixture *f = *state;
    make_jobs(f->store, 0, JOBS_KEEP + 3);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_jobs(f->store), JOBS_KEEP + 3);
    clock_advance_ms(JOB_REST_MS);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("00000001"), STORE_PRESENT), 0);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_jobs(f->store), JOBS_KEEP);
    assert_int_equal(find_job(f->store, STR("00000000")), ERR_ABSENT);
    assert_int_equal(find_job(f->store, STR("00000001")), 0);
    assert_int_equal(find_job(f->store, STR("00000002")), ERR_ABSENT);
    assert_int_equal(find_job(f->store, STR("00000003")), ERR_ABSENT);
    assert_int_equal(find_job(f->store, STR("00000004")), 0);
}

static void a_new_job_past_JOBS_MAX_is_refused(void **state)
{
    struct fixture *f = *state;
    make_jobs(f->store, 0, JOBS_MAX);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("one more"), STORE_ANY), ERR_LIMIT);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("00000000"), STORE_PRESENT), 0);
    assert_int_equal(write_job(f->store, STORE_DELETE_JOB, STR("00000001"), STORE_ANY), 0);
    assert_int_equal(write_job(f->store, STORE_PUT_JOB, STR("one more"), STORE_ANY), 0);
    clock_advance_ms(JOB_REST_MS);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_jobs(f->store), JOBS_KEEP);
    assert_int_equal(find_job(f->store, STR("one more")), 0); /* sorts last */
}

#define CASES(X)                                            \
    X(conditions_hold_for_jobs)                             \
    X(an_id_past_JOB_ID_BYTES_is_refused)                   \
    X(a_job_is_forgotten_JOB_KEEP_MS_after_its_last_change) \
    X(of_more_than_JOBS_KEEP_the_first_at_rest_go)          \
    X(a_new_job_past_JOBS_MAX_is_refused)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
