/* tests/unit/test_store_streams.c - streams and their frames in the store, on both engines. The
 * clock is moved by hand. */
#include "hand_clock.h"

#include "store_live.h"

static int set_up_sessions(struct fixture *f)
{
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, OTHER), 0);
    return 0;
}

/* ---- Records -------------------------------------------------------------------------------- */

static void a_stream_comes_back_as_it_was_put(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    set_up_sessions(*state);
    assert_int_equal(get_stream(store, SESSION, 1, &got), ERR_ABSENT);
    assert_int_equal(open_stream(store, SESSION, UINT64_MAX), 0);
    assert_int_equal(get_stream(store, SESSION, UINT64_MAX, &got), 0);
    assert_true(got.writer.slot == 1 && got.writer.epoch == me.epoch && got.reader.slot == 1);
    assert_true(got.token == 99 && !got.listens && !got.ended && got.last_n == 0);
    assert_true(got.created_ms == clock_wall_ms() && got.changed_ms == got.created_ms);
    assert_int_equal(get_stream(store, OTHER, UINT64_MAX, &got), ERR_ABSENT);
    assert_int_equal(get_stream(store, STR(""), UINT64_MAX, &got), ERR_ABSENT);
    expect_no_finding(store);
}

static void a_stream_belongs_to_a_session_that_is_there(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    set_up_sessions(*state);
    assert_int_equal(open_stream(store, NOBODY, 1), ERR_ABSENT);
    assert_int_equal(open_stream(store, STR(""), 1), ERR_LIMIT);
    assert_int_equal(open_stream(store, SESSION, 1), 0);
    assert_int_equal(open_stream(store, SESSION, 1), ERR_EXISTS);
    assert_int_equal(open_stream(store, OTHER, 1), 0);
    clock_advance_ms(INT64_C(86400000));
    assert_int_equal(open_stream(store, SESSION, 2), ERR_ABSENT);
}

static void a_request_id_past_RPC_ID_BYTES_is_refused(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    static char text[RPC_ID_BYTES + 1];
    memset(text, '1', sizeof text);
    struct store_stream s = stream_of(SESSION, 1);
    struct store_op op = {.kind = STORE_PUT_STREAM, .if_version = STORE_ANY, .stream = &s};
    set_up_sessions(*state);
    s.request = (struct str){text, sizeof text};
    assert_int_equal(write_op(store, &op), ERR_LIMIT);
    s.request.n--;
    assert_int_equal(write_op(store, &op), 0);
}

/* ---- Frames --------------------------------------------------------------------------------- */

static void frames_come_back_in_order_and_only_those_behind(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    set_up_sessions(*state);
    open_stream(store, SESSION, 5);
    open_stream(store, SESSION, 6);
    assert_int_equal(put_frame(store, SESSION, 5, 1, STR("a")), 0);
    assert_int_equal(put_frame(store, SESSION, 5, 2, STR("")), 0);
    assert_int_equal(put_frame(store, SESSION, 6, 1, STR("x")), 0);
    assert_int_equal(put_frame(store, SESSION, 5, 1001, STR("c")), 0); /* numbers were skipped */
    expect_frames(store, SESSION, 5, 0, "1:a 2: 1001:c ");
    expect_frames(store, SESSION, 5, 1, "2: 1001:c ");
    expect_frames(store, SESSION, 5, 2, "1001:c ");
    expect_frames(store, SESSION, 5, 1001, "");
    expect_frames(store, SESSION, 6, 0, "1:x ");
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(got.first_n == 1 && got.last_n == 1001);
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_frames(view, OTHER, 5, 0, note_message, NULL), ERR_ABSENT);
    store_view_close(view);
    expect_no_finding(store);
}

static void only_the_writer_appends_and_numbers_rise(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream s = stream_of(SESSION, 5), told;
    struct store_op op = frame_op(&s, 3, STR("a"));
    set_up_sessions(*state);
    assert_int_equal(write_op(store, &op), ERR_ABSENT);
    open_stream(store, SESSION, 5);
    op.ret_stream = &told;
    s.reserved_n = 1000;
    assert_int_equal(write_op(store, &op), 0);
    assert_true(told.first_n == 1 && told.last_n == 3 && told.reserved_n == 1000);
    assert_true(!told.session.p && !told.request.p);
    assert_int_equal(write_op(store, &op), ERR_CONFLICT); /* the same number */
    op.n = 4;
    s.writer.epoch++;
    assert_int_equal(write_op(store, &op), ERR_CONFLICT);
    s.writer = (struct store_worker){you.slot, me.epoch};
    assert_int_equal(write_op(store, &op), ERR_CONFLICT);
    s.writer = me;
    s.reserved_n = 7; /* never less */
    assert_int_equal(write_op(store, &op), 0);
    assert_int_equal(told.reserved_n, 1000);
    expect_frames(store, SESSION, 5, 0, "3:a 4:a ");
}

static void nothing_comes_behind_the_last_frame(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    set_up_sessions(*state);
    open_stream(store, SESSION, 5);
    open_stream(store, SESSION, 6);
    put_frame(store, SESSION, 5, 1, STR("a"));
    assert_int_equal(end_stream(store, SESSION, 5, 2, STR("z")), 0);
    assert_int_equal(put_frame(store, SESSION, 5, 3, STR("late")), ERR_CONFLICT);
    assert_int_equal(end_stream(store, SESSION, 5, 0, STR_NONE), ERR_CONFLICT);
    expect_frames(store, SESSION, 5, 0, "1:a 2:z ");
    assert_int_equal(end_stream(store, SESSION, 6, 0, STR_NONE), 0); /* without a last message */
    assert_int_equal(get_stream(store, SESSION, 6, &got), 0);
    assert_true(got.ended && got.last_n == 0);
    expect_frames(store, SESSION, 6, 0, "");
    expect_no_finding(store);
}

static void frames_beyond_max_frames_are_forgotten_oldest_first(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream s = stream_of(SESSION, 5), told;
    struct store_op op = frame_op(&s, 0, STR("m"));
    set_up_sessions(*state);
    open_stream(store, SESSION, 5);
    op.max_frames = 3;
    op.ret_stream = &told;
    for (op.n = 10; op.n <= 60; op.n += 10)
        assert_int_equal(write_op(store, &op), 0);
    expect_frames(store, SESSION, 5, 0, "40:m 50:m 60:m ");
    assert_true(told.first_n == 31 && told.last_n == 60);
    op.n = 61;
    op.max_frames = 1;
    assert_int_equal(write_op(store, &op), 0);
    expect_frames(store, SESSION, 5, 0, "61:m ");
    op.max_frames = 0; /* STREAM_FRAMES */
    for (op.n = 62; op.n <= 61 + STREAM_FRAMES; op.n++)
        assert_int_equal(write_op(store, &op), 0);
    assert_int_equal(told.first_n, 62);
    assert_int_equal(count_sys(store, KV_FRAMES), STREAM_FRAMES);
    expect_no_finding(store);
}

static void frames_beyond_STREAM_BYTES_are_forgotten_but_never_the_newest(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    char *text = malloc(FRAME_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, 'x', FRAME_BYTES_MAX + 1);
    set_up_sessions(*state);
    open_stream(store, SESSION, 5);
    for (uint64_t n = 1; n <= 5; n++)
        assert_int_equal(put_frame(store, SESSION, 5, n, (struct str){text, STREAM_BYTES / 4}), 0);
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(got.first_n == 3 && got.last_n == 5); /* a record is longer than its message */
    assert_int_equal(put_frame(store, SESSION, 5, 6, (struct str){text, FRAME_BYTES_MAX}), 0);
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(got.first_n == 6 && got.last_n == 6);
    assert_int_equal(put_frame(store, SESSION, 5, 7, (struct str){text, FRAME_BYTES_MAX + 1}),
                     ERR_LIMIT);
    assert_int_equal(put_frame(store, SESSION, 5, 7, STR("small")), 0);
    expect_frames(store, SESSION, 5, 0, "7:small ");
    expect_no_finding(store);
    free(text);
}

static void frames_of_a_list_are_appended_together_or_not_at_all(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream a = stream_of(SESSION, 5), b = stream_of(SESSION, 6);
    struct store_op ops[] = {frame_op(&a, 1, STR("a")), frame_op(&a, 2, STR("b")),
                             frame_op(&b, 1, STR("c"))};
    uint32_t failed = 0;
    set_up_sessions(*state);
    open_stream(store, SESSION, 5);
    assert_int_equal(write_list(store, STORE_SYS, ops, 3, &failed), ERR_ABSENT);
    assert_int_equal(failed, 2);
    expect_frames(store, SESSION, 5, 0, "");
    open_stream(store, SESSION, 6);
    assert_int_equal(write_list(store, STORE_SYS, ops, 3, NULL), 0);
    expect_frames(store, SESSION, 5, 0, "1:a 2:b ");
    expect_frames(store, SESSION, 6, 0, "1:c ");
}

/* ---- Claims --------------------------------------------------------------------------------- */

static int claim(struct store *store, uint64_t id, struct store_worker reader, uint64_t token,
                 uint64_t if_token, struct store_stream *ret)
{
    struct store_stream s = {.session = SESSION, .id = id, .reader = reader, .token = token};
    struct store_op op = {
        .kind = STORE_CLAIM_STREAM, .if_version = if_token, .stream = &s, .ret_stream = ret};
    return write_op(store, &op);
}

static void a_claim_of_a_POST_stream_leaves_its_writer(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream before, got;
    set_up_sessions(*state);
    assert_int_equal(claim(store, 5, you, 1, STORE_ANY, &before), ERR_ABSENT);
    open_stream(store, SESSION, 5);
    assert_int_equal(claim(store, 5, you, 1, STORE_ANY, &before), 0);
    assert_true(before.token == 99 && before.reader.slot == me.slot && !before.session.p);
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(got.token == 1 && got.reader.epoch == you.epoch && got.writer.epoch == me.epoch);
    assert_int_equal(got.reserved_n, 0);
    assert_int_equal(put_frame(store, SESSION, 5, 1, STR("a")), 0);
}

static void a_claim_may_ask_for_a_token(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream before = {.token = 5}, got;
    set_up_sessions(*state);
    open_stream(store, SESSION, 5);
    assert_int_equal(claim(store, 5, you, 1, 98, &before), ERR_CONFLICT);
    assert_int_equal(before.token, 5);
    assert_int_equal(claim(store, 5, you, 1, 99, &before), 0);
    assert_int_equal(claim(store, 5, me, 2, 99, &before), ERR_CONFLICT);
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(got.token == 1 && got.reader.slot == you.slot);
}

static bool is_you(void *ctx, struct store_worker who)
{
    (void)ctx;
    return who.epoch == you.epoch;
}

static int claim_in_time(struct store *store, struct store_worker reader, uint64_t token)
{
    struct store_stream s = {.session = SESSION, .id = 5, .reader = reader, .token = token};
    struct store_op op = {
        .kind = STORE_CLAIM_STREAM, .if_version = STORE_ANY, .stream = &s, .is_alive = is_you};
    return write_op(store, &op);
}

static void a_claim_of_a_stream_that_comes_too_late_is_refused(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    set_up_sessions(*state);
    open_stream(store, SESSION, 5);
    assert_int_equal(claim_in_time(store, you, 7), 0); /* 99 of a worker that is gone */
    assert_int_equal(claim_in_time(store, me, 6), ERR_CONFLICT);
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(got.token == 7 && got.reader.slot == you.slot);
    assert_int_equal(claim_in_time(store, me, 8), 0);
    assert_int_equal(claim_in_time(store, you, 7), 0);
}

static struct store_stream listening(uint64_t id)
{
    struct store_stream s = stream_of(SESSION, id);
    s.listens = true;
    s.request = STR_NONE;
    return s;
}

static bool is_me(void *ctx, struct store_worker who)
{
    if (ctx)
        ++*(int *)ctx;
    return who.epoch == me.epoch;
}

static int listen_to(struct store *store, uint64_t id)
{
    struct store_stream s = listening(id);
    int asked = 0;
    struct store_op op = {.kind = STORE_PUT_STREAM,
                          .if_version = STORE_ANY,
                          .stream = &s,
                          .is_alive = is_me,
                          .check_ctx = &asked};
    return write_op(store, &op);
}

static void a_claim_of_a_GET_stream_takes_the_writing_and_new_numbers(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream s = listening(5), before, got;
    struct store_op op = frame_op(&s, 1, STR("a"));
    set_up_sessions(*state);
    assert_int_equal(listen_to(store, 5), 0);
    assert_int_equal(claim(store, 5, you, 1, STORE_ANY, &before), 0);
    assert_true(before.listens && before.writer.slot == me.slot);
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(got.writer.slot == you.slot && got.reserved_n == STREAM_NUMBERS);
    assert_int_equal(write_op(store, &op), ERR_CONFLICT); /* the old writer's, too late */
    s.writer = you;
    assert_int_equal(write_op(store, &op), 0);
    /* Who leaves leaves nobody, but not in place of somebody newer. */
    assert_int_equal(claim(store, 5, (struct store_worker){0}, 0, 99, NULL), ERR_CONFLICT);
    assert_int_equal(claim(store, 5, (struct store_worker){0}, 0, 1, NULL), 0);
    assert_int_equal(get_stream(store, SESSION, 5, &got), 0);
    assert_true(!got.writer.epoch && !got.reader.epoch && got.reserved_n == STREAM_NUMBERS);
    op.n = 2;
    assert_int_equal(write_op(store, &op), ERR_CONFLICT);
}

/* ---- Bounds --------------------------------------------------------------------------------- */

static void no_more_than_STREAMS_LISTENING_MAX_listen(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    set_up_sessions(*state);
    for (uint64_t id = 1; id <= STREAMS_LISTENING_MAX; id++)
        assert_int_equal(listen_to(store, id), 0);
    assert_int_equal(listen_to(store, 9), ERR_STREAMS);
    assert_int_equal(open_stream(store, SESSION, 10), 0); /* one that answers is none of them */
    assert_int_equal(claim(store, 1, (struct store_worker){0}, 0, STORE_ANY, NULL), 0);
    assert_int_equal(listen_to(store, 9), 0);
    assert_int_equal(claim(store, 2, you, 1, STORE_ANY, NULL), 0); /* who is not alive */
    assert_int_equal(listen_to(store, 11), 0);
    struct store_stream s = listening(3);
    s.ended = true;
    struct store_op op = frame_op(&s, 0, STR_NONE);
    assert_int_equal(write_op(store, &op), 0);
    assert_int_equal(listen_to(store, 12), 0);
    assert_int_equal(listen_to(store, 13), ERR_STREAMS);
}

/* The clock goes on with each list, so that a second transaction would have another time. */
static void a_stream_that_is_refused_does_not_fail_its_group(void **state)
{
    static struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .posted = PTHREAD_COND_INITIALIZER};
    struct store *store = ((struct fixture *)*state)->store;
    struct waited lists[6] = {0};
    struct store_stream streams[6], got, first;
    struct store_op ops[6];
    struct batch holder;
    set_up_sessions(*state);
    for (uint64_t id = 1; id <= STREAMS_LISTENING_MAX; id++)
        assert_int_equal(listen_to(store, id), 0);
    store_attach(store, &loop);
    assert_int_equal(batch_begin(store, STORE_SYS, &holder), 0);
    for (unsigned i = 0; i < 6; i++) {
        streams[i] = i == 2 ? listening(102) : stream_of(SESSION, 100 + i);
        ops[i] = (struct store_op){.kind = STORE_PUT_STREAM,
                                   .if_version = STORE_ANY,
                                   .stream = &streams[i],
                                   .is_alive = is_me};
        lists[i].write = (struct store_write){
            .space = STORE_SYS, .ops = &ops[i], .n_ops = 1, .done = waited_done};
        store_submit(store, &lists[i].write);
    }
    hand_step_ms = 1;
    batch_abort(&holder);
    for (unsigned i = 0; i < 6; i++)
        while (!lists[i].n_done)
            loop_run_once(&loop);
    hand_step_ms = 0;
    assert_int_equal(get_stream(store, SESSION, 100, &first), 0);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(lists[i].err, i == 2 ? ERR_STREAMS : 0);
        assert_int_equal(get_stream(store, SESSION, 100 + i, &got), i == 2 ? ERR_ABSENT : 0);
        assert_true(i == 2 || got.created_ms == first.created_ms);
    }
    expect_no_finding(store);
}

static void beyond_STREAMS_SESSION_MAX_the_oldest_that_ended_goes(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    set_up_sessions(*state);
    for (uint64_t id = 1; id <= STREAMS_SESSION_MAX; id++)
        assert_int_equal(open_stream(store, SESSION, id), 0);
    assert_int_equal(open_stream(store, SESSION, 500), ERR_STREAMS);
    assert_int_equal(open_stream(store, OTHER, 500), 0);
    end_stream(store, SESSION, 60, 1, STR("z"));
    clock_advance_ms(1);
    end_stream(store, SESSION, 20, 1, STR("z"));
    assert_int_equal(open_stream(store, SESSION, 501), 0);
    assert_int_equal(get_stream(store, SESSION, 60, &got), ERR_ABSENT);
    assert_int_equal(get_stream(store, SESSION, 20, &got), 0);
    assert_int_equal(open_stream(store, SESSION, 502), 0);
    assert_int_equal(get_stream(store, SESSION, 20, &got), ERR_ABSENT);
    assert_int_equal(open_stream(store, SESSION, 503), ERR_STREAMS);
    assert_int_equal(count_sys(store, KV_FRAMES), 0);
    expect_no_finding(store);
}

/* ---- Forgetting ----------------------------------------------------------------------------- */

static void ended_streams_are_forgotten_STREAM_KEEP_MS_after_their_last_change(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    set_up_sessions(*state);
    open_stream(store, SESSION, 1); /* goes on */
    open_stream(store, SESSION, 2);
    open_stream(store, SESSION, 3);
    listen_to(store, 4); /* and nobody listens any more */
    put_frame(store, SESSION, 1, 1, STR("a"));
    end_stream(store, SESSION, 2, 1, STR("a"));
    end_stream(store, SESSION, 3, 1, STR("a"));
    claim(store, 4, (struct store_worker){0}, 0, STORE_ANY, NULL);
    clock_advance_ms(STREAM_KEEP_MS - 1);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_STREAMS), 4);
    claim(store, 3, you, 1, STORE_ANY, NULL); /* a change */
    clock_advance_ms(1);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(get_stream(store, SESSION, 1, &got), 0);
    assert_int_equal(get_stream(store, SESSION, 2, &got), ERR_ABSENT);
    assert_int_equal(get_stream(store, SESSION, 3, &got), 0);
    assert_int_equal(get_stream(store, SESSION, 4, &got), ERR_ABSENT);
    assert_int_equal(count_sys(store, KV_FRAMES), 2);
    expect_no_finding(store);
}

/* The older go first; what goes on stays, however much there is. */
static void beyond_SYS_BYTES_MAX_ended_streams_go_earlier(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    struct store_stat stat = {0};
    struct store_view *view;
    set_up_sessions(*state);
    open_stream(store, SESSION, 1); /* goes on */
    open_stream(store, SESSION, 2);
    open_stream(store, SESSION, 3);
    put_frame(store, SESSION, 1, 1, STR("a"));
    end_stream(store, SESSION, 2, 1, STR("a"));
    clock_advance_ms(STREAM_KEEP_MS * 2 / 3);
    end_stream(store, SESSION, 3, 1, STR("a"));
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_STREAMS), 3);
    assert_int_equal(store_view_open(store, STORE_SYS, &view), 0);
    store_stat(view, &stat);
    store_view_close(view);
    store->sys_bytes_max = stat.used_bytes * 2 / 3; /* half of it over: half of the time */
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(get_stream(store, SESSION, 2, &got), ERR_ABSENT);
    assert_int_equal(get_stream(store, SESSION, 3, &got), 0);
    store->sys_bytes_max = 1;
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(get_stream(store, SESSION, 3, &got), ERR_ABSENT);
    assert_int_equal(get_stream(store, SESSION, 1, &got), 0);
    expect_no_finding(store);
}

/* 900 frames in each of two sessions, the most that is removed at once is a third of it. */
static void make_many(struct store *store, struct str session)
{
    struct store_stream s[9];
    static struct store_op ops[900];
    for (uint32_t i = 0; i < 9; i++) {
        s[i] = stream_of(session, i + 1);
        assert_int_equal(open_stream(store, session, i + 1), 0);
    }
    for (uint32_t i = 0; i < 900; i++)
        ops[i] = frame_op(&s[i / 100], i % 100 + 1, STR("message"));
    assert_int_equal(write_list(store, STORE_SYS, ops, 900, NULL), 0);
}

static void with_a_session_go_its_streams(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    struct store_stream got;
    set_up_sessions(*state);
    make_many(store, SESSION);
    make_many(store, OTHER);
    assert_int_equal(session_op(store, STORE_DELETE_SESSION, SESSION), 0);
    assert_int_equal(count_sys(store, KV_STREAMS), 9);
    assert_true(count_sys(store, KV_FRAMES) > 900); /* the rest is the keeper's */
    assert_int_equal(get_stream(store, SESSION, 1, &got), ERR_ABSENT);
    assert_int_equal(put_frame(store, SESSION, 9, 101, STR("late")), ERR_ABSENT);
    expect_no_finding(store);
    assert_int_equal(session_op(store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(open_stream(store, SESSION, 9), ERR_EXISTS); /* its frames are not gone */
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_FRAMES), 900);
    assert_int_equal(count_sys(store, KV_CUT), 0);
    assert_int_equal(open_stream(store, SESSION, 9), 0);
    expect_frames(store, SESSION, 9, 0, "");
    expect_no_finding(store);
}

static void with_an_expired_session_go_its_streams(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    set_up_sessions(*state);
    make_many(store, SESSION);
    make_many(store, OTHER);
    clock_advance_ms(INT64_C(2) * 86400000);
    assert_int_equal(store_sweep_sessions(store, clock_wall_ms(), 1), 1);
    assert_int_equal(count_sys(store, KV_STREAMS), 9);
    assert_int_equal(store_sweep_sessions(store, clock_wall_ms(), 100), 1);
    assert_int_equal(count_sys(store, KV_STREAMS), 0);
    expect_no_finding(store);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_FRAMES) + count_sys(store, KV_CUT), 0);
}

static void a_sweep_of_many_streams_goes_on_in_small_transactions(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    char id[32];
    for (int s = 0; s < 30; s++) {
        snprintf(id, sizeof id, "0000000b-%02d", s);
        assert_int_equal(session_op(store, STORE_PUT_SESSION, str_of(id)), 0);
        for (uint64_t n = 1; n <= STREAMS_SESSION_MAX; n++)
            assert_int_equal(open_stream(store, str_of(id), n), 0);
    }
    clock_advance_ms(INT64_C(2) * 86400000);
    assert_int_equal(store_sweep_sessions(store, clock_wall_ms(), 100), 30);
    assert_int_equal(count_sys(store, KV_STREAMS) + count_sys(store, KV_SESSIONS), 0);
    assert_int_equal(count_sys(store, KV_SESSION_EXPIRY), 0);
}

static int count_stream(void *ctx, const struct store_stream *s)
{
    assert_true(str_eq(s->session, SESSION) || str_eq(s->session, OTHER));
    return ++*(int *)ctx == 3 ? 77 : 0;
}

static void a_scan_of_streams_keeps_to_the_session(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    int n = 0;
    set_up_sessions(*state);
    for (uint64_t id = 1; id <= 2; id++)
        assert_int_equal(open_stream(store, SESSION, id), 0);
    for (uint64_t id = 1; id <= 5; id++)
        assert_int_equal(open_stream(store, OTHER, id), 0);
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_streams(view, SESSION, count_stream, &n), 0);
    assert_int_equal(n, 2);
    n = 0;
    assert_int_equal(store_scan_streams(view, OTHER, count_stream, &n), 77);
    assert_int_equal(n, 3);
    assert_int_equal(store_scan_streams(view, NOBODY, count_stream, &n), 0);
    store_view_close(view);
}

#define CASES(X)                                                          \
    X(a_stream_comes_back_as_it_was_put)                                  \
    X(a_stream_belongs_to_a_session_that_is_there)                        \
    X(a_request_id_past_RPC_ID_BYTES_is_refused)                          \
    X(frames_come_back_in_order_and_only_those_behind)                    \
    X(only_the_writer_appends_and_numbers_rise)                           \
    X(nothing_comes_behind_the_last_frame)                                \
    X(frames_beyond_max_frames_are_forgotten_oldest_first)                \
    X(frames_beyond_STREAM_BYTES_are_forgotten_but_never_the_newest)      \
    X(frames_of_a_list_are_appended_together_or_not_at_all)               \
    X(a_claim_of_a_POST_stream_leaves_its_writer)                         \
    X(a_claim_may_ask_for_a_token)                                        \
    X(a_claim_of_a_stream_that_comes_too_late_is_refused)                 \
    X(a_claim_of_a_GET_stream_takes_the_writing_and_new_numbers)          \
    X(no_more_than_STREAMS_LISTENING_MAX_listen)                          \
    X(a_stream_that_is_refused_does_not_fail_its_group)                   \
    X(beyond_STREAMS_SESSION_MAX_the_oldest_that_ended_goes)              \
    X(ended_streams_are_forgotten_STREAM_KEEP_MS_after_their_last_change) \
    X(beyond_SYS_BYTES_MAX_ended_streams_go_earlier)                      \
    X(with_a_session_go_its_streams)                                      \
    X(with_an_expired_session_go_its_streams)                             \
    X(a_sweep_of_many_streams_goes_on_in_small_transactions)              \
    X(a_scan_of_streams_keeps_to_the_session)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
