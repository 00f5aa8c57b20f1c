/* tests/unit/test_stream_errands.c - what streams have the store do, while the store takes nothing:
 * its queue is full and its lock held by somebody else.
 */
#include "core_stream_rig.h"

#include "store/internal.h"

#define TOOLS     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"
#define RESOURCES "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}"
#define TABLE                                                                           \
    "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{" \
    "\"type\":\"string\"}}}}"

static struct rig rig;
static struct batch holder;
static struct store_write nothings[WRITES_WAITING_MAX];
static unsigned n_nothings; /* done */
static bool is_jammed;

static int set_up(void **state)
{
    rig_open(&rig);
    *state = &rig;
    return 0;
}

static void nothing_done(struct store_write *write, int err)
{
    (void)write;
    assert_int_equal(err, 0);
    n_nothings++;
}

static void jam(void)
{
    n_nothings = 0;
    is_jammed = true;
    assert_int_equal(batch_begin(rig.bench.store, STORE_SYS, &holder), 0);
    for (unsigned i = 0; i < WRITES_WAITING_MAX; i++) {
        nothings[i] = (struct store_write){.space = STORE_SYS, .done = nothing_done};
        store_submit(rig.bench.store, &nothings[i]);
    }
}

/* As long as the queue is full, rig_settle waits for nobody: store_apply is refused too. */
static void unjam(void)
{
    batch_abort(&holder);
    is_jammed = false;
    while (n_nothings < WRITES_WAITING_MAX)
        assert_true(loop_turn(&rig.bench.loop, 10));
    rig_settle(&rig);
}

static int tear_down(void **state)
{
    (void)state;
    if (is_jammed) /* a test that failed */
        unjam();
    rig_close(&rig);
    return 0;
}

static struct store_session session_now(void)
{
    struct store_session record;
    struct store_view *view;
    struct arena arena;
    arena_init(&arena, 0);
    assert_int_equal(store_view_open(rig.bench.store, STORE_SYS, &view), 0);
    assert_int_equal(store_get_session(view, str_of(rig.bench.session), &arena, &record), 0);
    store_view_close(view);
    arena_done(&arena);
    return record; /* its strings are not looked at */
}

static int count_read(void *ctx, const struct store_stream *stream)
{
    *(unsigned *)ctx += stream->reader.epoch != 0;
    return 0;
}

static unsigned n_read(void)
{
    unsigned n = 0;
    struct store_view *view;
    assert_int_equal(store_view_open(rig.bench.store, STORE_SYS, &view), 0);
    assert_int_equal(store_scan_streams(view, str_of(rig.bench.session), count_read, &n), 0);
    store_view_close(view);
    return n;
}

static uint64_t pushes_epoch(void)
{
    struct store_claim claim;
    struct store_view *view;
    assert_int_equal(store_view_open(rig.bench.store, STORE_SYS, &view), 0);
    int err = store_get_claim(view, str_of(rig.bench.session), &claim);
    store_view_close(view);
    return err == 0 ? claim.worker.epoch : 0;
}

static void push(const char *text)
{
    push_send(rig.cores[0], str_of(rig.bench.session), str_of(text), 60000);
}

static void T_25_claims_of_who_left_are_cleared_later(void **state)
{
    (void)state;
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    assert_true(n_read() == 1 && pushes_epoch());
    jam();
    wire_cut(w);
    rig_settle(&rig);
    rig_tick(&rig, ERRAND_PAUSE_MS); /* still nothing */
    assert_true(n_read() == 1 && pushes_epoch());
    unjam();
    assert_true(n_read() == 1 && pushes_epoch());
    rig_tick(&rig, ERRAND_PAUSE_MS);
    assert_true(n_read() == 0 && !pushes_epoch());
    assert_null(rig.cores[0]->streams->late);
    assert_int_equal(rig.cores[0]->streams->late_bytes, 0);
}

static void X_06_a_late_clearing_leaves_a_newer_claim_alone(void **state)
{
    (void)state;
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    push("1");
    rig_settle(&rig);
    jam();
    wire_cut(w);
    rig_settle(&rig);
    unjam();
    struct wire *again = rig_get(&rig, 1, w->id[0]);
    rig_settle(&rig);
    rig_tick(&rig, ERRAND_PAUSE_MS);
    assert_null(rig.cores[0]->streams->late);
    assert_true(n_read() == 1 && pushes_epoch());
    push("2");
    rig_settle(&rig);
    EXPECT(again, "2");
}

static void T_22_a_message_waits_for_the_store_too(void **state)
{
    (void)state;
    jam();
    push("1");
    rig_settle(&rig);
    unjam();
    rig_tick(&rig, ERRAND_PAUSE_MS);
    struct wire *w = rig_get(&rig, 1, NULL);
    rig_tick(&rig, ERRAND_PAUSE_MS);
    EXPECT(w, "1");
}

static void T_12_what_was_told_is_saved_later(void **state)
{
    (void)state;
    struct wire *w = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    uint64_t before = session_now().seen[0];
    jam();
    bench_table(&rig.bench, "a", "one", TABLE);
    rig_tick(&rig, 1000);
    bench_table(&rig.bench, "a", "two", TABLE);
    rig_tick(&rig, 1000);
    unjam();
    assert_true(session_now().seen[0] == before);
    for (unsigned i = 0; i < 4; i++)
        rig_tick(&rig, ERRAND_PAUSE_MS);
    EXPECT(w, TOOLS, RESOURCES, TOOLS, RESOURCES);
    const struct reader *r = w->sink.ctx;
    struct store_session now = session_now();
    assert_true(now.seen[0] == r->told[0] && now.seen[1] == r->told[1] && now.seen[0] != before);
    struct wire *next = rig_get(&rig, 1, NULL);
    rig_tick(&rig, 1000);
    assert_int_equal(next->n, 0);
}

static void what_waits_for_the_store_is_bounded(void **state)
{
    (void)state;
    struct streams *streams = rig.cores[0]->streams;
    char *text = calloc(1, (1u << 20) + 1);
    assert_non_null(text);
    memset(text, ' ', 1u << 20);
    jam();
    for (unsigned i = 0; i < 40; i++)
        push(text);
    rig_settle(&rig);
    assert_true(streams->late_bytes <= ERRANDS_BYTES && streams->late_bytes > ERRANDS_BYTES / 2);
    for (unsigned i = 1; i < ERRAND_TRIES; i++) {
        assert_non_null(streams->late);
        rig_tick(&rig, ERRAND_PAUSE_MS);
    }
    assert_null(streams->late);
    assert_int_equal(streams->late_bytes, 0);
    unjam();
    free(text);
}

static void what_waits_goes_with_its_worker(void **state)
{
    (void)state;
    jam();
    push("1");
    rig_settle(&rig);
    unjam();
    assert_non_null(rig.cores[0]->streams->late); /* freed by tear_down */
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(T_25_claims_of_who_left_are_cleared_later),
        T(X_06_a_late_clearing_leaves_a_newer_claim_alone),
        T(T_22_a_message_waits_for_the_store_too),
        T(T_12_what_was_told_is_saved_later),
        T(what_waits_for_the_store_is_bounded),
        T(what_waits_goes_with_its_worker),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
