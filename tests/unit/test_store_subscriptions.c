/* tests/unit/test_store_subscriptions.c - what sessions subscribed to, how far they were told, and
 * the sequences of frames, on both engines. The clock is moved by hand. */
#include "hand_clock.h"

#include "store_live.h"

static struct store *store_with_sessions(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    assert_int_equal(session_op(store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(session_op(store, STORE_PUT_SESSION, OTHER), 0);
    return store;
}

static struct store_subscription subscription_of(struct str session, struct str uri, uint64_t seq)
{
    return (struct store_subscription){.session = session, .uri = uri, .start_seq = seq};
}

static struct store_op subscription_op(enum store_op_kind kind, const struct store_subscription *s)
{
    return (struct store_op){.kind = kind, .if_version = STORE_ANY, .subscription = s};
}

static int subscribe(struct store *store, struct str session, struct str uri, uint64_t seq)
{
    struct store_subscription s = subscription_of(session, uri, seq);
    struct store_op op = subscription_op(STORE_PUT_SUBSCRIPTION, &s);
    return write_op(store, &op);
}

static int subscribe_all(struct store *store, struct str uri, uint64_t seq, uint32_t coalesce_ms)
{
    struct store_subscription s = subscription_of(SESSION, uri, seq);
    struct store_op op = subscription_op(STORE_PUT_SUBSCRIPTION, &s);
    s.all = true;
    s.coalesce_ms = coalesce_ms;
    return write_op(store, &op);
}

static int unsubscribe(struct store *store, struct str session, struct str uri)
{
    struct store_subscription s = subscription_of(session, uri, 0);
    struct store_op op = subscription_op(STORE_DELETE_SUBSCRIPTION, &s);
    return write_op(store, &op);
}

static int get_follow(struct store *store, struct str session, struct store_follow *ret)
{
    struct store_view *view = view_of(store, STORE_SYS);
    int err = store_get_follow(view, session, ret);
    store_view_close(view);
    return err;
}

static void expect_follow(struct store *store, uint64_t seq, uint64_t sent_seq, uint64_t generation,
                          uint32_t n)
{
    struct store_follow got = {0};
    assert_int_equal(get_follow(store, SESSION, &got), 0);
    if (got.seq != seq || got.sent_seq != sent_seq || got.generation != generation || got.n != n)
        print_error("seq %llu, sent %llu, generation %llu, n %u\n", (unsigned long long)got.seq,
                    (unsigned long long)got.sent_seq, (unsigned long long)got.generation, got.n);
    assert_true(got.seq == seq && got.sent_seq == sent_seq);
    assert_true(got.generation == generation && got.n == n);
}

#define SEEN_MAX 8

struct seen {
    struct str session;
    char lines[SEEN_MAX][64];
    int n;
};

static int see(void *ctx, const struct store_subscription *s)
{
    struct seen *seen = ctx;
    assert_true(seen->n < SEEN_MAX);
    assert_true(str_eq(s->session, seen->session));
    snprintf(seen->lines[seen->n++], sizeof *seen->lines, STR_FMT "@%llu%s+%u", STR_ARG(s->uri),
             (unsigned long long)s->start_seq, s->all ? " all" : "", s->coalesce_ms);
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* In the order of their text. */
static void expect_subscriptions(struct store *store, struct str session, const char *expected)
{
    struct seen seen = {.session = session};
    char all[SEEN_MAX * 64] = "";
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_subscriptions(view, session, see, &seen), 0);
    store_view_close(view);
    qsort(seen.lines, (size_t)seen.n, sizeof *seen.lines, by_text);
    for (int i = 0; i < seen.n; i++) {
        strcat(all, seen.lines[i]);
        strcat(all, " ");
    }
    assert_string_equal(all, expected);
}

static int count_subscription(void *ctx, const struct store_subscription *s)
{
    (void)s;
    ++*(uint32_t *)ctx;
    return 0;
}

static uint32_t count_of(struct store *store, struct str session)
{
    uint32_t n = 0;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_subscriptions(view, session, count_subscription, &n), 0);
    store_view_close(view);
    return n;
}

static int stop_at_once(void *ctx, const struct store_subscription *s)
{
    (void)s;
    ++*(uint32_t *)ctx;
    return 77;
}

/* ---- Putting and deleting ------------------------------------------------------------------- */

static void subscriptions_come_back_as_they_were_put(void **state)
{
    struct store *store = store_with_sessions(state);
    uint32_t n = 0;
    expect_subscriptions(store, SESSION, "");
    expect_subscriptions(store, STR(""), "");
    assert_int_equal(subscribe(store, SESSION, STR("data://db/t"), 7), 0);
    assert_int_equal(subscribe_all(store, STR("data://db/t/1"), 9, 60000), 0);
    assert_int_equal(subscribe(store, OTHER, STR("data://db/t"), 3), 0);
    expect_subscriptions(store, SESSION, "data://db/t/1@9 all+60000 data://db/t@7+0 ");
    expect_subscriptions(store, OTHER, "data://db/t@3+0 ");
    expect_subscriptions(store, NOBODY, "");
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_subscriptions(view, SESSION, stop_at_once, &n), 77);
    assert_int_equal(n, 1);
    store_view_close(view);
    expect_no_finding(store);
}

static void a_subscription_belongs_to_a_session_that_is_there(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_follow got;
    assert_int_equal(subscribe(store, NOBODY, STR("u"), 1), ERR_ABSENT);
    assert_int_equal(subscribe(store, STR(""), STR("u"), 1), ERR_LIMIT);
    assert_int_equal(unsubscribe(store, NOBODY, STR("u")), 0);
    assert_int_equal(get_follow(store, NOBODY, &got), ERR_ABSENT);
    assert_int_equal(get_follow(store, STR(""), &got), ERR_ABSENT);
    assert_int_equal(get_follow(store, SESSION, &got), ERR_ABSENT);
    clock_advance_ms(INT64_C(86400000));
    assert_int_equal(subscribe(store, SESSION, STR("u"), 1), ERR_ABSENT);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 0);
}

static void a_uri_may_have_URI_BYTES_MAX_and_is_told_apart_by_its_last_byte(void **state)
{
    struct store *store = store_with_sessions(state);
    static char long_uri[URI_BYTES_MAX + 1];
    memset(long_uri, 'u', sizeof long_uri);
    struct str uri = {long_uri, URI_BYTES_MAX};
    assert_int_equal(subscribe(store, SESSION, STR(""), 1), ERR_LIMIT);
    assert_int_equal(subscribe(store, SESSION, (struct str){long_uri, URI_BYTES_MAX + 1}, 1),
                     ERR_LIMIT);
    assert_int_equal(subscribe(store, SESSION, uri, 1), 0);
    long_uri[URI_BYTES_MAX - 1] = 'v';
    assert_int_equal(unsubscribe(store, SESSION, uri), 0);
    assert_int_equal(count_of(store, SESSION), 1);
    assert_int_equal(subscribe(store, SESSION, uri, 1), 0);
    assert_int_equal(count_of(store, SESSION), 2);
    assert_int_equal(unsubscribe(store, SESSION, uri), 0);
    assert_int_equal(count_of(store, SESSION), 1);
    expect_no_finding(store);
}

/* ASan and valgrind see a read beyond. */
static void a_uri_is_taken_as_bytes(void **state)
{
    struct store *store = store_with_sessions(state);
    assert_int_equal(subscribe(store, SESSION, STR("data://db/a\0b"), 1), 0);
    assert_int_equal(subscribe(store, SESSION, STR("data://db/a"), 1), 0);
    assert_int_equal(subscribe(store, SESSION, STR("\xff\xfe"), 1), 0);
    assert_int_equal(count_of(store, SESSION), 3);
    assert_int_equal(unsubscribe(store, SESSION, STR("data://db/a")), 0);
    assert_int_equal(count_of(store, SESSION), 2);
}

static void the_later_options_hold_and_the_start_does_not_move(void **state)
{
    struct store *store = store_with_sessions(state);
    assert_int_equal(subscribe(store, SESSION, STR("u"), 7), 0);
    expect_follow(store, 7, 7, 1, 1);
    assert_int_equal(subscribe_all(store, STR("u"), 20, 50), 0);
    expect_subscriptions(store, SESSION, "u@7 all+50 ");
    expect_follow(store, 7, 7, 2, 1);
    assert_int_equal(subscribe_all(store, STR("u"), 30, 50), 0); /* nothing that is new */
    expect_follow(store, 7, 7, 2, 1);
    assert_int_equal(subscribe(store, SESSION, STR("u"), 30), 0);
    expect_subscriptions(store, SESSION, "u@7+0 ");
    expect_follow(store, 7, 7, 3, 1);
}

static void what_is_not_subscribed_to_is_no_error_and_no_change(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe(store, SESSION, STR("u"), 7);
    assert_int_equal(unsubscribe(store, SESSION, STR("other")), 0);
    assert_int_equal(unsubscribe(store, OTHER, STR("u")), 0);
    expect_follow(store, 7, 7, 1, 1);
    assert_int_equal(unsubscribe(store, SESSION, STR("u")), 0);
    expect_follow(store, 7, 7, 2, 0);
    assert_int_equal(unsubscribe(store, SESSION, STR("u")), 0);
    expect_follow(store, 7, 7, 2, 0);
    expect_subscriptions(store, SESSION, "");
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 0);
    expect_no_finding(store);
}

static void all_of_a_list_are_there_or_none(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_subscription s[] = {subscription_of(SESSION, STR("a"), 1),
                                     subscription_of(SESSION, STR("b"), 1),
                                     subscription_of(NOBODY, STR("c"), 1)};
    struct store_op ops[3];
    uint32_t failed = 0;
    for (int i = 0; i < 3; i++)
        ops[i] = subscription_op(STORE_PUT_SUBSCRIPTION, &s[i]);
    assert_int_equal(write_list(store, STORE_SYS, ops, 3, &failed), ERR_ABSENT);
    assert_int_equal(failed, 2);
    expect_subscriptions(store, SESSION, "");
    s[2].session = SESSION;
    assert_int_equal(write_list(store, STORE_SYS, ops, 3, NULL), 0);
    expect_subscriptions(store, SESSION, "a@1+0 b@1+0 c@1+0 ");
    expect_no_finding(store);
}

/* ---- Bounds --------------------------------------------------------------------------------- */

static void many_uris(char uris[][16], struct store_subscription *s, struct store_op *ops,
                      uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        snprintf(uris[i], sizeof uris[i], "u%u", from + i);
        s[i] = subscription_of(SESSION, str_of(uris[i]), 1);
        ops[i] = subscription_op(STORE_PUT_SUBSCRIPTION, &s[i]);
    }
}

/* `n` of SESSION, by lists as long as a transaction. */
static void subscribe_to_many(struct store *store, uint32_t n)
{
    static char uris[TXN_ROWS_MAX][16];
    static struct store_subscription s[TXN_ROWS_MAX];
    static struct store_op ops[TXN_ROWS_MAX];
    for (uint32_t done = 0; done < n; done += TXN_ROWS_MAX) {
        uint32_t now = n - done < TXN_ROWS_MAX ? n - done : TXN_ROWS_MAX;
        many_uris(uris, s, ops, done, now);
        assert_int_equal(write_list(store, STORE_SYS, ops, now, NULL), 0);
    }
}

static void no_more_than_SUBSCRIPTIONS_SESSION_MAX_of_a_session(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe_to_many(store, SUBSCRIPTIONS_SESSION_MAX);
    assert_int_equal(subscribe(store, SESSION, STR("one more"), 1), ERR_LIMIT);
    assert_int_equal(subscribe_all(store, STR("u17"), 1, 0), 0); /* one that is there */
    assert_int_equal(subscribe(store, OTHER, STR("one more"), 1), 0);
    assert_int_equal(unsubscribe(store, SESSION, STR("u4711")), 0);
    assert_int_equal(subscribe(store, SESSION, STR("one more"), 1), 0);
    assert_int_equal(subscribe(store, SESSION, STR("u4711"), 1), ERR_LIMIT);
    assert_int_equal(count_of(store, SESSION), SUBSCRIPTIONS_SESSION_MAX);
    expect_no_finding(store);
}

static int subscribe_below(struct store *store, struct str uri, uint32_t max)
{
    struct store_subscription s = subscription_of(SESSION, uri, 1);
    struct store_op op = subscription_op(STORE_PUT_SUBSCRIPTION, &s);
    op.max_subscriptions = max;
    return write_op(store, &op);
}

static void max_subscriptions_may_say_less_but_not_more(void **state)
{
    struct store *store = store_with_sessions(state);
    assert_int_equal(subscribe_below(store, STR("a"), 2), 0);
    assert_int_equal(subscribe_below(store, STR("b"), 2), 0);
    assert_int_equal(subscribe_below(store, STR("c"), 2), ERR_LIMIT);
    assert_int_equal(subscribe_below(store, STR("b"), 1), 0); /* it is there */
    assert_int_equal(subscribe_below(store, STR("c"), 3), 0);
    subscribe_to_many(store, SUBSCRIPTIONS_SESSION_MAX - 3);
    assert_int_equal(subscribe_below(store, STR("d"), UINT32_MAX), ERR_LIMIT);
}

static void one_that_is_refused_does_not_fail_its_group(void **state)
{
    static struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .posted = PTHREAD_COND_INITIALIZER};
    struct store *store = store_with_sessions(state);
    struct waited lists[3] = {0};
    struct store_subscription s[3];
    struct store_op ops[3];
    struct batch holder;
    store_attach(store, &loop);
    assert_int_equal(batch_begin(store, STORE_SYS, &holder), 0);
    for (unsigned i = 0; i < 3; i++) {
        s[i] = subscription_of(SESSION, i ? STR("b") : STR("a"), 1);
        ops[i] = subscription_op(STORE_PUT_SUBSCRIPTION, &s[i]);
        ops[i].max_subscriptions = 1;
        lists[i].write = (struct store_write){
            .space = STORE_SYS, .ops = &ops[i], .n_ops = 1, .done = waited_done};
        store_submit(store, &lists[i].write);
    }
    batch_abort(&holder);
    for (unsigned i = 0; i < 3; i++)
        while (!lists[i].n_done)
            loop_run_once(&loop);
    assert_int_equal(lists[0].err, 0);
    assert_int_equal(lists[1].err, ERR_LIMIT);
    assert_int_equal(lists[2].err, ERR_LIMIT);
    expect_subscriptions(store, SESSION, "a@1+0 ");
}

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

/* ---- With the session ----------------------------------------------------------------------- */

static void with_a_session_go_its_subscriptions(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_follow got;
    subscribe(store, SESSION, STR("a"), 7);
    subscribe(store, SESSION, STR("b"), 7);
    subscribe(store, OTHER, STR("a"), 7);
    assert_int_equal(session_op(store, STORE_DELETE_SESSION, SESSION), 0);
    assert_int_equal(get_follow(store, SESSION, &got), ERR_ABSENT);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 1);
    assert_int_equal(count_sys(store, KV_UNFOLLOWED), 0);
    expect_subscriptions(store, OTHER, "a@7+0 ");
    clock_advance_ms(INT64_C(86400000) + 60000);
    assert_int_equal(store_sweep_sessions(store, clock_wall_ms(), 100), 1);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 0);
    assert_int_equal(count_sys(store, KV_FOLLOWS), 0);
    expect_no_finding(store);
}

static void maintain_until_done(struct store *store)
{
    for (int i = 0; i < 10 && count_sys(store, KV_UNFOLLOWED); i++)
        assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_UNFOLLOWED), 0);
}

/* At once for everybody, though a transaction takes away but some of the records. */
static void those_of_a_session_with_many_are_gone_at_once_and_removed_by_and_by(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe(store, OTHER, STR("a"), 7);
    subscribe_to_many(store, SUBSCRIPTIONS_SESSION_MAX);
    assert_int_equal(session_op(store, STORE_DELETE_SESSION, SESSION), 0);
    assert_true(count_sys(store, KV_SUBSCRIPTIONS) >= SUBSCRIPTIONS_SESSION_MAX - TXN_ROWS_MAX);
    assert_int_equal(count_of(store, SESSION), 0);
    expect_no_finding(store);
    /* A session of the same name has nothing of them. */
    assert_int_equal(session_op(store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(count_of(store, SESSION), 0);
    subscribe(store, SESSION, STR("u1"), 9);
    expect_subscriptions(store, SESSION, "u1@9+0 ");
    expect_follow(store, 9, 9, 1, 1);
    maintain_until_done(store);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 2);
    expect_subscriptions(store, SESSION, "u1@9+0 ");
    expect_subscriptions(store, OTHER, "a@7+0 ");
    expect_no_finding(store);
}

static void the_sweep_of_a_session_with_many_is_bounded_too(void **state)
{
    struct store *store = store_with_sessions(state);
    subscribe_to_many(store, 2500);
    clock_advance_ms(INT64_C(86400000) + 60000);
    assert_int_equal(store_sweep_sessions(store, clock_wall_ms(), 100), 2);
    assert_true(count_sys(store, KV_SUBSCRIPTIONS) >= 2500 - TXN_ROWS_MAX);
    assert_int_equal(count_sys(store, KV_FOLLOWS), 0);
    maintain_until_done(store);
    assert_int_equal(count_sys(store, KV_SUBSCRIPTIONS), 0);
    expect_no_finding(store);
}

/* ---- Being told of changes ------------------------------------------------------------------ */

struct told {
    struct store *store;
    int n;
    uint64_t last_seq; /* as it was to be seen by whoever was told */
};

static void on_change(void *ctx)
{
    struct told *told = ctx;
    struct store_view *view = view_of(told->store, STORE_DATA);
    assert_int_equal(store_last_seq(view, &told->last_seq), 0);
    store_view_close(view);
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
    assert_int_equal(delete_key(f->store, f->table, STR("a"), STORE_ANY, NULL), 0);
    assert_int_equal(log_resource(f->store, STR("test://watched")), 0);
    assert_true(told.n == 3 && told.last_seq == 4);
    make_table(f->store, "t2");
    assert_int_equal(drop_table(f->store, f->table, STORE_ANY), 0);
    assert_true(told.n == 5 && told.last_seq == 6);
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

#define CASES(X)                                                             \
    X(subscriptions_come_back_as_they_were_put)                              \
    X(a_subscription_belongs_to_a_session_that_is_there)                     \
    X(a_uri_may_have_URI_BYTES_MAX_and_is_told_apart_by_its_last_byte)       \
    X(a_uri_is_taken_as_bytes)                                               \
    X(the_later_options_hold_and_the_start_does_not_move)                    \
    X(what_is_not_subscribed_to_is_no_error_and_no_change)                   \
    X(all_of_a_list_are_there_or_none)                                       \
    X(no_more_than_SUBSCRIPTIONS_SESSION_MAX_of_a_session)                   \
    X(max_subscriptions_may_say_less_but_not_more)                           \
    X(one_that_is_refused_does_not_fail_its_group)                           \
    X(only_who_has_the_claim_and_saw_all_subscriptions_moves_a_position)     \
    X(the_first_subscription_sets_the_position_also_after_there_were_others) \
    X(who_takes_the_pushes_is_told)                                          \
    X(frames_keep_their_sequence_and_the_stream_its_last)                    \
    X(a_position_and_its_frames_are_there_together_or_not_at_all)            \
    X(with_a_session_go_its_subscriptions)                                   \
    X(those_of_a_session_with_many_are_gone_at_once_and_removed_by_and_by)   \
    X(the_sweep_of_a_session_with_many_is_bounded_too)                       \
    X(each_commit_with_changes_is_told_after_it)                             \
    X(what_changes_nothing_or_only_SYS_is_not_told)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
