/* tests/unit/test_store_follow.c - how far sessions with subscriptions were told of the change log,
 * the sequences of frames, and who is told of a commit, on both engines. The clock is moved by
 * hand. */
#include "hand_clock.h"

#include "store_subscriptions.h"

/* ---- Positions ------------------------------------------------------------------------------ */

static int claim_pushes(struct store *store, struct store_worker worker, uint64_t token)
{
    struct store_claim claim = {.session = SESSION, .stream = 50, .worker = worker, .token = token};
    struct store_op op = {.kind = STORE_CLAIM_PUSHES, .if_version = STORE_ANY, .claim = &claim};
    return write_op(store, &op);
}

static int set_follow(struct store *store, struct str session, uint64_t token, uint64_t seq,
                      uint64_t sent_seq, uint64_t generation)
{
    struct store_claim claim = {.session = session, .token = token};
    struct store_follow follow = {.seq = seq, .sent_seq = sent_seq, .generation = generation};
    struct store_op op = {
        .kind = STORE_SET_FOLLOW, .if_version = STORE_ANY, .claim = &claim, .follow = &follow};
    return write_op(store, &op);
}

static void only_who_has_the_claim_and_saw_all_subscriptions_moves_a_position(void **state)
{
    struct store *store = store_with_sessions(state);
    assert_int_equal(set_follow(store, SESSION, 1, 9, 9, 0), ERR_ABSENT);
    assert_int_equal(set_follow(store, NOBODY, 1, 9, 9, 0), ERR_ABSENT);
    assert_int_equal(set_follow(store, STR(""), 1, 9, 9, 0), ERR_ABSENT);
    subscribe(store, SESSION, STR("a"), 7);
    assert_int_equal(set_follow(store, SESSION, 0, 9, 9, 1), ERR_CONFLICT); /* nobody has it */
    claim_pushes(store, me, 5);
    assert_int_equal(set_follow(store, SESSION, 4, 9, 9, 1), ERR_CONFLICT);
    assert_int_equal(set_follow(store, SESSION, 5, 9, 9, 0), ERR_CONFLICT);
    assert_int_equal(set_follow(store, SESSION, 5, 9, 10, 1), ERR_PARAMS);
    expect_follow(store, 7, 7, 1, 1);
    assert_int_equal(set_follow(store, SESSION, 5, 12, 8, 1), 0);
    expect_follow(store, 12, 8, 1, 1);
    subscribe(store, SESSION, STR("b"), 9); /* raised to what is in frames */
    expect_subscriptions(store, SESSION, "a@7+0 b@12+0 ");
    assert_int_equal(set_follow(store, SESSION, 5, 13, 13, 1), ERR_CONFLICT);
    assert_int_equal(set_follow(store, SESSION, 5, UINT64_MAX, 13, 2), 0);
    expect_follow(store, UINT64_MAX, 13, 2, 2);
    assert_int_equal(set_follow(store, SESSION, 5, 10, 10, 2), 0); /* a new stream goes back */
    expect_follow(store, 10, 10, 2, 2);
    claim_pushes(store, you, 6);
    assert_int_equal(set_follow(store, SESSION, 5, 14, 14, 2), ERR_CONFLICT);
}

static void the_first_subscription_sets_the_position_also_after_there_were_others(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe(store, SESSION, STR("a"), 7);
    subscribe(store, SESSION, STR("b"), 9);
    expect_follow(store, 7, 7, 2, 2);
    unsubscribe(store, SESSION, STR("a"));
    unsubscribe(store, SESSION, STR("b"));
    expect_follow(store, 7, 7, 4, 0);
    subscribe(store, SESSION, STR("c"), 5000);
    expect_follow(store, 5000, 5000, 5, 1);
    unsubscribe(store, SESSION, STR("c"));
    subscribe(store, SESSION, STR("c"), 4000); /* never back */
    expect_follow(store, 5000, 5000, 7, 1);
    expect_subscriptions(store, SESSION, "c@5000+0 ");
}

static struct store_claim claim_told(struct store *store, enum store_op_kind kind, struct str uri)
{
    struct store_claim claim = {.token = 77};
    struct store_subscription s = subscription_of(SESSION, uri, 1);
    struct store_op op = subscription_op(kind, &s);
    op.ret_claim = &claim;
    assert_int_equal(write_op(store, &op), 0);
    return claim;
}

static void who_takes_the_pushes_is_told(void **state)
{
    struct store *store = store_with_sessions(state);
    assert_true(claim_told(store, STORE_PUT_SUBSCRIPTION, STR("a")).worker.epoch == 0);
    assert_true(claim_told(store, STORE_DELETE_SUBSCRIPTION, STR("a")).worker.epoch == 0);
    claim_pushes(store, you, 3);
    for (int i = 0; i < 2; i++) { /* the second changes nothing */
        struct store_claim claim = claim_told(store, STORE_PUT_SUBSCRIPTION, STR("a"));
        assert_true(claim.worker.slot == you.slot && claim.worker.epoch == you.epoch);
        assert_true(claim.token == 3 && claim.stream == 50);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(claim_told(store, STORE_DELETE_SUBSCRIPTION, STR("a")).token, 3);
}

/* ---- Frames with a sequence ----------------------------------------------------------------- */

static int note_seq(void *ctx, uint64_t n, uint64_t seq, struct str message)
{
    struct lines *l = ctx;
    size_t at = strlen(l->text);
    snprintf(l->text + at, sizeof l->text - at, "%llu.%llu:" STR_FMT " ", (unsigned long long)n,
             (unsigned long long)seq, STR_ARG(message));
    return 0;
}

static void expect_seqs(struct store *store, uint64_t after_n, const char *expected)
{
    struct lines l = {0};
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_frames(view, SESSION, 5, after_n, note_seq, &l), 0);
    assert_string_equal(l.text, expected);
    store_view_close(view);
}

static int put_seq(struct store *store, uint64_t n, uint64_t seq, struct str message)
{
    struct store_stream s = stream_of(SESSION, 5), told;
    struct store_op op = frame_op(&s, n, message);
    s.seq = seq;
    op.ret_stream = &told;
    int err = write_op(store, &op);
    assert_true(err || seq == 0 || told.seq == seq);
    return err;
}

static void frames_keep_their_sequence_and_the_stream_its_last(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_stream got, s = stream_of(SESSION, 5);
    struct store_op op = {.kind = STORE_PUT_STREAM, .if_version = STORE_ANY, .stream = &s};
    s.seq = 99; /* a new one has none */
    assert_int_equal(write_op(store, &op), 0);
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_int_equal(got.seq, 0);
    assert_int_equal(put_seq(store, 1, 0, STR("a")), 0);
    assert_int_equal(put_seq(store, 2, 40, STR("b")), 0);
    assert_int_equal(put_seq(store, 3, 0, STR("c")), 0); /* a push between */
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_int_equal(got.seq, 40);
    assert_int_equal(put_seq(store, 4, UINT64_MAX, STR("d")), 0);
    expect_seqs(store, 0, "1.0:a 2.40:b 3.0:c 4.18446744073709551615:d ");
    expect_seqs(store, 3, "4.18446744073709551615:d ");
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(got.seq == UINT64_MAX && got.last_n == 4);
    expect_no_finding(store);
}

/* What the follower commits. */
static int tell_frames(struct store *store, uint64_t n, uint64_t seq, uint64_t generation)
{
    struct store_claim claim = {.session = SESSION, .token = 5};
    struct store_follow follow = {.seq = seq, .generation = generation};
    struct store_stream a = stream_of(SESSION, 5), b = a;
    a.seq = seq - 1;
    b.seq = seq;
    struct store_op ops[] = {
        {.kind = STORE_SET_FOLLOW, .if_version = STORE_ANY, .claim = &claim, .follow = &follow},
        frame_op(&a, n, STR("x")),
        frame_op(&b, n + 1, STR("y")),
    };
    return write_list(store, STORE_SYS, ops, 3, NULL);
}

static void a_position_and_its_frames_are_there_together_or_not_at_all(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe(store, SESSION, STR("a"), 7);
    claim_pushes(store, me, 5);
    assert_int_equal(tell_frames(store, 1, 20, 1), ERR_ABSENT); /* no stream */
    expect_follow(store, 7, 7, 1, 1);
    open_stream(store, SESSION, 5);
    assert_int_equal(tell_frames(store, 1, 20, 1), 0);
    subscribe(store, SESSION, STR("b"), 7);
    assert_int_equal(tell_frames(store, 3, 30, 1), ERR_CONFLICT);
    expect_seqs(store, 0, "1.19:x 2.20:y ");
    assert_int_equal(tell_frames(store, 2, 30, 2), ERR_CONFLICT); /* a number that is taken */
    expect_follow(store, 20, 0, 2, 2);
    assert_int_equal(tell_frames(store, 3, 30, 2), 0);
    expect_seqs(store, 1, "2.20:y 3.29:x 4.30:y ");
    expect_follow(store, 30, 0, 2, 2);
}

/* ---- Being told of changes ------------------------------------------------------------------ */

struct told {
    struct store *store;
    int n;
    uint64_t mark;     /* the first one; 0: all are to look */
    uint64_t last_seq; /* as it was to be seen by whoever was told */
};

static void on_change(void *ctx, const struct change_marks *marks)
{
    struct told *told = ctx;
    struct store_view *view = view_of(told->store, STORE_DATA);
    assert_int_equal(store_last_seq(view, &told->last_seq), 0);
    store_view_close(view);
    told->mark = marks->v ? marks->v[0] : 0;
    told->n++;
}

static int log_resource(struct store *store, struct str uri)
{
    struct store_op op = {.kind = STORE_LOG_RESOURCE, .if_version = STORE_ANY, .key = uri};
    return write_list(store, STORE_DATA, &op, 1, NULL);
}

static void each_commit_with_changes_is_told_after_it(void **state)
{
    struct fixture *f = *state;
    struct told told = {.store = f->store};
    store_on_change(f->store, on_change, &told);
    assert_int_equal(put_n(f->store, f->table, STR("a"), 1, STORE_ANY, NULL), 0);
    assert_true(told.n == 1 && told.last_seq == 2); /* the first one made the table */
    assert_true(told.mark == mark_of_row(f->table, STR("a")));
    assert_int_equal(delete_key(f->store, f->table, STR("a"), STORE_ANY, NULL), 0);
    assert_int_equal(log_resource(f->store, STR("test://watched")), 0);
    assert_true(told.n == 3 && told.last_seq == 4);
    assert_true(told.mark == mark_of_uri(STR("test://watched")));
    make_table(f->store, "t2");
    assert_int_equal(drop_table(f->store, f->table, STORE_ANY), 0);
    assert_true(told.n == 5 && told.last_seq == 6 && told.mark == 0);
}

static void what_changes_nothing_or_only_SYS_is_not_told(void **state)
{
    struct fixture *f = *state;
    struct told told = {.store = f->store};
    store_on_change(f->store, on_change, &told);
    assert_int_equal(delete_key(f->store, f->table, STR("a"), STORE_ANY, NULL), 0);
    assert_int_equal(put_n(f->store, f->table, STR("a"), 1, STORE_PRESENT, NULL), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(subscribe(f->store, SESSION, STR("a"), 7), 0);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(told.n, 0);
}

static void count_changes(void *ctx, const struct change_marks *marks)
{
    (void)marks;
    ++*(_Atomic int *)ctx;
}

static void *write_on(void *arg)
{
    struct fixture *f = arg;
    for (int i = 0; i < 300; i++)
        put_n(f->store, f->table, STR("a"), i, STORE_ANY, NULL);
    return NULL;
}

/* While another thread commits. */
static void nobody_is_told_any_more_once_that_was_asked_for(void **state)
{
    struct fixture *f = *state;
    pthread_t thread;
    _Atomic int n_told = 0;
    store_on_change(f->store, count_changes, &n_told);
    assert_int_equal(pthread_create(&thread, NULL, write_on, f), 0);
    while (n_told < 5)
        sched_yield();
    store_on_change(f->store, NULL, NULL);
    int n = n_told;
    pthread_join(thread, NULL);
    assert_int_equal(n_told, n);
}

#define CASES(X)                                                             \
    X(only_who_has_the_claim_and_saw_all_subscriptions_moves_a_position)     \
    X(the_first_subscription_sets_the_position_also_after_there_were_others) \
    X(who_takes_the_pushes_is_told)                                          \
    X(frames_keep_their_sequence_and_the_stream_its_last)                    \
    X(a_position_and_its_frames_are_there_together_or_not_at_all)            \
    X(each_commit_with_changes_is_told_after_it)                             \
    X(what_changes_nothing_or_only_SYS_is_not_told)                          \
    X(nobody_is_told_any_more_once_that_was_asked_for)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
