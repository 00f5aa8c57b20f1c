/* tests/unit/test_store_pushes.c - which stream gets what belongs to no request, what waits for
 * one, letters between workers, and what is kept with a session; on both engines. The clock is
 * moved by hand. */
#include "hand_clock.h"

#include "store_live.h"

static struct store *store_with_sessions(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    assert_int_equal(session_op(store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(session_op(store, STORE_PUT_SESSION, OTHER), 0);
    return store;
}

/* ---- Claims --------------------------------------------------------------------------------- */

static int claim_op(struct store *store, enum store_op_kind kind, struct str session,
                    struct store_worker worker, uint64_t token, struct store_claim *ret)
{
    struct store_claim claim = {.session = session, .stream = 50, .worker = worker, .token = token};
    struct store_op op = {.kind = kind, .if_version = STORE_ANY, .claim = &claim, .ret_claim = ret};
    return write_op(store, &op);
}

static int get_claim(struct store *store, struct str session, struct store_claim *ret)
{
    struct store_view *view = view_of(store, STORE_SYS);
    int err = store_get_claim(view, session, ret);
    store_view_close(view);
    return err;
}

static void the_newest_claim_stands_and_tells_of_the_one_before(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_claim before = {.token = 77}, got;
    assert_int_equal(get_claim(store, SESSION, &got), ERR_ABSENT);
    assert_int_equal(claim_op(store, STORE_CLAIM_PUSHES, SESSION, me, UINT64_MAX, &before), 0);
    assert_true(before.worker.epoch == 0 && before.token == 0);
    assert_int_equal(claim_op(store, STORE_CLAIM_PUSHES, SESSION, you, 2, &before), 0);
    assert_true(before.worker.epoch == me.epoch && before.worker.slot == me.slot);
    assert_true(before.token == UINT64_MAX && before.stream == 50);
    assert_int_equal(get_claim(store, SESSION, &got), 0);
    assert_true(got.worker.epoch == you.epoch && got.token == 2 && str_eq(got.session, SESSION));
    assert_int_equal(get_claim(store, OTHER, &got), ERR_ABSENT);
    assert_int_equal(claim_op(store, STORE_CLAIM_PUSHES, NOBODY, me, 1, &before), ERR_ABSENT);
}

static bool is_you(void *ctx, struct store_worker who)
{
    (void)ctx;
    return who.epoch == you.epoch;
}

static int claim_in_time(struct store *store, struct store_worker worker, uint64_t token,
                         struct store_claim *ret)
{
    struct store_claim claim = {.session = SESSION, .stream = 50, .worker = worker, .token = token};
    struct store_op op = {.kind = STORE_CLAIM_PUSHES,
                          .if_version = STORE_ANY,
                          .claim = &claim,
                          .is_alive = is_you,
                          .ret_claim = ret};
    return write_op(store, &op);
}

static void a_claim_that_comes_too_late_changes_nothing(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_claim before, got;
    assert_int_equal(claim_in_time(store, you, 7, &before), 0);
    assert_int_equal(claim_in_time(store, me, 6, &before), 0);
    assert_true(before.token == 7);
    assert_int_equal(get_claim(store, SESSION, &got), 0);
    assert_true(got.token == 7);
    assert_int_equal(claim_in_time(store, me, 8, &before), 0); /* whose worker is not alive */
    assert_int_equal(claim_in_time(store, you, 5, &before), 0);
    assert_true(before.token == 8);
    assert_int_equal(get_claim(store, SESSION, &got), 0);
    assert_true(got.token == 5);
}

static void only_the_own_claim_is_dropped(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_claim got;
    assert_int_equal(claim_op(store, STORE_DROP_CLAIM, SESSION, me, 1, NULL), 0);
    assert_int_equal(claim_op(store, STORE_CLAIM_PUSHES, SESSION, me, 1, NULL), 0);
    assert_int_equal(claim_op(store, STORE_DROP_CLAIM, SESSION, me, 2, NULL), 0);
    assert_int_equal(get_claim(store, SESSION, &got), 0);
    assert_int_equal(claim_op(store, STORE_DROP_CLAIM, SESSION, me, 1, NULL), 0);
    assert_int_equal(get_claim(store, SESSION, &got), ERR_ABSENT);
    assert_int_equal(claim_op(store, STORE_DROP_CLAIM, NOBODY, me, 1, NULL), 0);
}

/* ---- Pushes --------------------------------------------------------------------------------- */

static int push(struct store *store, struct str session, struct str message, int64_t wait_ms,
                uint64_t *ret_seq, struct store_claim *ret_claim)
{
    struct store_claim claim = {.session = session};
    struct store_op op = {.kind = STORE_PUT_PUSH,
                          .if_version = STORE_ANY,
                          .claim = &claim,
                          .message = message,
                          .until_ms = clock_wall_ms() + wait_ms,
                          .ret_claim = ret_claim};
    int err = write_op(store, &op);
    if (ret_seq)
        *ret_seq = op.ret_seq;
    return err;
}

static struct store_op take_op(const struct store_claim *claim, uint64_t seq)
{
    return (struct store_op){
        .kind = STORE_DELETE_PUSH, .if_version = STORE_ANY, .claim = claim, .push_seq = seq};
}

static int take(struct store *store, uint64_t token, uint64_t seq)
{
    struct store_claim claim = {.session = SESSION, .token = token};
    struct store_op op = take_op(&claim, seq);
    return write_op(store, &op);
}

static int note_push(void *ctx, uint64_t seq, struct str message)
{
    (void)seq;
    return note_message(ctx, 0, 0, message);
}

static void expect_pushes(struct store *store, struct str session, const char *expected)
{
    struct lines l = {0};
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_pushes(view, session, note_push, &l), 0);
    assert_string_equal(l.text, expected);
    store_view_close(view);
}

static void messages_wait_in_order_until_their_time_is_over(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_claim claim = {.token = 77};
    assert_int_equal(push(store, SESSION, STR("a"), 1000, NULL, &claim), 0);
    assert_true(claim.worker.epoch == 0);
    claim_op(store, STORE_CLAIM_PUSHES, SESSION, you, 3, NULL);
    assert_int_equal(push(store, SESSION, STR("b"), 500, NULL, &claim), 0);
    assert_true(claim.worker.epoch == you.epoch && claim.token == 3);
    assert_int_equal(push(store, OTHER, STR("x"), 1000, NULL, NULL), 0);
    assert_int_equal(push(store, SESSION, STR("c"), 1000, NULL, NULL), 0);
    assert_int_equal(push(store, NOBODY, STR("d"), 1000, NULL, NULL), ERR_ABSENT);
    expect_pushes(store, SESSION, "0:a 0:b 0:c ");
    clock_advance_ms(500);
    expect_pushes(store, SESSION, "0:a 0:c ");
    assert_int_equal(count_sys(store, KV_PUSHES), 4);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_PUSHES), 3);
    clock_advance_ms(500);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_PUSHES), 0);
    expect_pushes(store, SESSION, "");
    expect_pushes(store, STR(""), "");
}

static void only_who_has_the_claim_takes_a_message_and_only_once(void **state)
{
    struct store *store = store_with_sessions(state);
    uint64_t first = 0, second = 0;
    push(store, SESSION, STR("a"), 1000, &first, NULL);
    assert_true(first > 0);
    assert_int_equal(take(store, 0, first), ERR_CONFLICT); /* nobody has it */
    claim_op(store, STORE_CLAIM_PUSHES, SESSION, me, 1, NULL);
    assert_int_equal(take(store, 2, first), ERR_CONFLICT);
    assert_int_equal(take(store, 1, first), 0);
    assert_int_equal(take(store, 1, first), ERR_ABSENT);
    push(store, SESSION, STR("b"), 1000, &second, NULL);
    assert_true(second > first); /* though nothing was there any more */
    assert_int_equal(take(store, 1, first), ERR_ABSENT);
    expect_pushes(store, SESSION, "0:b ");
}

static void a_message_becomes_a_frame_in_one_commit_or_stays(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_claim claim = {.session = SESSION, .token = 1};
    struct store_stream s = stream_of(SESSION, 5);
    uint64_t seq = 0;
    open_stream(store, SESSION, 5);
    push(store, SESSION, STR("a"), 1000, &seq, NULL);
    claim_op(store, STORE_CLAIM_PUSHES, SESSION, you, 2, NULL);
    struct store_op ops[] = {frame_op(&s, 1, STR("a")), take_op(&claim, seq)};
    assert_int_equal(write_list(store, STORE_SYS, ops, 2, NULL), ERR_CONFLICT);
    expect_frames(store, SESSION, 5, 0, "");
    expect_pushes(store, SESSION, "0:a ");
    claim_op(store, STORE_CLAIM_PUSHES, SESSION, me, 1, NULL);
    assert_int_equal(write_list(store, STORE_SYS, ops, 2, NULL), 0);
    expect_frames(store, SESSION, 5, 0, "1:a ");
    expect_pushes(store, SESSION, "");
    ops[0].n = 2;
    assert_int_equal(write_list(store, STORE_SYS, ops, 2, NULL), ERR_ABSENT); /* taken already */
    expect_frames(store, SESSION, 5, 0, "1:a ");
}

static void beyond_PUSHES_WAITING_MAX_the_oldest_go(void **state)
{
    struct store *store = store_with_sessions(state);
    uint64_t first = 0, seq;
    assert_int_equal(push(store, OTHER, STR("x"), 1000, NULL, NULL), 0);
    for (int i = 0; i < PUSHES_WAITING_MAX + 2; i++)
        assert_int_equal(push(store, SESSION, STR("m"), 1000, i == 1 ? &first : &seq, NULL), 0);
    assert_int_equal(count_sys(store, KV_PUSHES), PUSHES_WAITING_MAX + 1);
    claim_op(store, STORE_CLAIM_PUSHES, SESSION, me, 1, NULL);
    assert_int_equal(take(store, 1, first), ERR_ABSENT);
    assert_int_equal(take(store, 1, first + 1), 0);
    expect_pushes(store, OTHER, "0:x ");
}

static void beyond_PUSHES_BYTES_the_oldest_go(void **state)
{
    struct store *store = store_with_sessions(state);
    char *text = malloc(FRAME_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, 'x', FRAME_BYTES_MAX + 1);
    assert_int_equal(push(store, SESSION, STR("a"), 1000, NULL, NULL), 0);
    struct str longest = {text, FRAME_BYTES_MAX};
    assert_int_equal(push(store, SESSION, longest, 1000, NULL, NULL), 0);
    expect_pushes(store, SESSION, "0:a 0:xxxxxxxxxxxxxxxxxxxx ");
    text[0] = 'y';
    assert_int_equal(push(store, SESSION, longest, 1000, NULL, NULL), 0);
    expect_pushes(store, SESSION, "0:yxxxxxxxxxxxxxxxxxxx ");
    struct str longer = {text, FRAME_BYTES_MAX + 1};
    assert_int_equal(push(store, SESSION, longer, 1000, NULL, NULL), ERR_LIMIT);
    free(text);
}

static void with_a_session_go_its_claim_and_messages(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_claim got;
    claim_op(store, STORE_CLAIM_PUSHES, SESSION, me, 1, NULL);
    claim_op(store, STORE_CLAIM_PUSHES, OTHER, me, 1, NULL);
    for (int i = 0; i < PUSHES_WAITING_MAX; i++)
        push(store, SESSION, STR("m"), 1000, NULL, NULL);
    push(store, OTHER, STR("x"), 1000, NULL, NULL);
    assert_int_equal(session_op(store, STORE_DELETE_SESSION, SESSION), 0);
    assert_int_equal(get_claim(store, SESSION, &got), ERR_ABSENT);
    expect_pushes(store, SESSION, "");
    expect_pushes(store, OTHER, "0:x ");
    assert_int_equal(get_claim(store, OTHER, &got), 0);
    expect_no_finding(store);
    clock_advance_ms(INT64_C(2) * 86400000);
    assert_int_equal(store_sweep_sessions(store, clock_wall_ms(), 100), 1);
    assert_int_equal(count_sys(store, KV_PUSHES) + count_sys(store, KV_CLAIMS), 0);
}

static void a_round_of_the_keeper_looks_at_all_in_steps(void **state)
{
    struct store *store = store_with_sessions(state);
    char id[32];
    for (int s = 0; s < 10; s++) {
        snprintf(id, sizeof id, "0000000b-%02d", s);
        assert_int_equal(session_op(store, STORE_PUT_SESSION, str_of(id)), 0);
        for (int i = 0; i < 120; i++)
            assert_int_equal(push(store, str_of(id), STR("m"), i % 2 ? 500 : 1000, NULL, NULL), 0);
    }
    clock_advance_ms(500);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_PUSHES), 600);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_PUSHES), 600);
}

static void spoil(struct store *store, enum kv_map map, struct str key)
{
    struct kv_txn txn;
    assert_int_equal(kv_begin(store->envs[STORE_SYS], true, &txn), 0);
    assert_int_equal(kv_put(&txn, map, key, STR("\x81\x01")), 0);
    assert_int_equal(kv_commit(&txn), 0);
}

static void the_keeper_forgets_what_cannot_be_read(void **state)
{
    struct store *store = store_with_sessions(state);
    struct sys_key key;
    assert_int_equal(open_stream(store, SESSION, 5), 0);
    assert_int_equal(open_stream(store, SESSION, 6), 0);
    assert_int_equal(stream_key(SESSION, 5, &key), 0);
    spoil(store, KV_STREAMS, sys_key_str(&key));
    spoil(store, KV_PUSHES, STR("x"));
    spoil(store, KV_MAIL, STR("x"));
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_sys(store, KV_STREAMS), 1);
    assert_int_equal(count_sys(store, KV_PUSHES) + count_sys(store, KV_MAIL), 0);
    expect_no_finding(store);
}

/* ---- Mail ----------------------------------------------------------------------------------- */

static int mail(struct store *store, struct store_worker to, struct str text, uint64_t *ret_seq)
{
    struct store_op op = {
        .kind = STORE_PUT_MAIL, .if_version = STORE_ANY, .to = to, .message = text};
    int err = write_op(store, &op);
    if (ret_seq)
        *ret_seq = op.ret_seq;
    return err;
}

static int note_letter(void *ctx, uint64_t seq, struct store_worker to, struct str text)
{
    (void)seq;
    return note_message(ctx, to.epoch & 0xff, 0, text);
}

static void expect_mail(struct store *store, uint32_t slot, uint64_t after, const char *expected)
{
    struct lines l = {0};
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_mail(view, slot, after, note_letter, &l), 0);
    assert_string_equal(l.text, expected);
    store_view_close(view);
}

static int delete_mail(struct store *store, struct store_worker to, uint64_t seq)
{
    struct store_op op = {
        .kind = STORE_DELETE_MAIL, .if_version = STORE_ANY, .to = to, .mail_seq = seq};
    return write_op(store, &op);
}

static void letters_come_in_order_to_their_slot(void **state)
{
    struct store *store = store_with_sessions(state);
    uint64_t a = 0, b = 0, c = 0;
    assert_int_equal(mail(store, me, STR("a"), &a), 0);
    assert_int_equal(mail(store, you, STR("x"), NULL), 0);
    assert_int_equal(mail(store, (struct store_worker){me.slot, 0x22}, STR("b"), &b), 0);
    assert_int_equal(mail(store, me, STR("c"), &c), 0);
    assert_true(a < b && b < c);
    expect_mail(store, me.slot, 0, "16:a 34:b 16:c ");
    expect_mail(store, me.slot, a, "34:b 16:c ");
    expect_mail(store, me.slot, c, "");
    expect_mail(store, 0, 0, "");
    assert_int_equal(delete_mail(store, me, b), 0);
    expect_mail(store, me.slot, 0, "16:c ");
    expect_mail(store, you.slot, 0, "7:x ");
    assert_int_equal(delete_mail(store, me, UINT64_MAX), 0);
    assert_int_equal(delete_mail(store, me, UINT64_MAX), 0);
    assert_int_equal(mail(store, me, STR("d"), &a), 0);
    assert_true(a > c); /* though the slot was empty */
    expect_mail(store, you.slot, 0, "7:x ");
    expect_no_finding(store);
}

static void letters_are_forgotten_after_MAIL_KEEP_MS(void **state)
{
    struct store *store = store_with_sessions(state);
    mail(store, me, STR("a"), NULL);
    mail(store, you, STR("a"), NULL);
    clock_advance_ms(1);
    mail(store, me, STR("b"), NULL);
    clock_advance_ms(MAIL_KEEP_MS - 2);
    assert_int_equal(store_maintain(store), 0);
    expect_mail(store, me.slot, 0, "16:a 16:b ");
    clock_advance_ms(1);
    assert_int_equal(store_maintain(store), 0);
    expect_mail(store, me.slot, 0, "16:b ");
    expect_mail(store, you.slot, 0, "");
}

static void a_letter_past_MAIL_BYTES_MAX_is_refused(void **state)
{
    struct store *store = store_with_sessions(state);
    char *text = calloc(1, MAIL_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, 'x', MAIL_BYTES_MAX + 1);
    assert_int_equal(mail(store, me, (struct str){text, MAIL_BYTES_MAX + 1}, NULL), ERR_LIMIT);
    assert_int_equal(mail(store, me, (struct str){text, MAIL_BYTES_MAX}, NULL), 0);
    expect_mail(store, me.slot, 0, "16:xxxxxxxxxxxxxxxxxxxx ");
    free(text);
}

/* ---- Of a session --------------------------------------------------------------------------- */

static void read_session(struct store *store, struct arena *arena, struct store_session *ret)
{
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_get_session(view, SESSION, arena, ret), 0);
    store_view_close(view);
}

static void log_level_and_what_was_seen_are_set_alone(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_session s = {.id = SESSION, .log_level = 6, .seen = {3, UINT64_MAX, 5}}, got;
    struct store_op op = {.kind = STORE_SET_LOG_LEVEL, .if_version = STORE_ANY, .session = &s};
    struct arena arena;
    arena_init(&arena, 0);
    assert_int_equal(write_op(store, &op), 0);
    read_session(store, &arena, &got);
    int64_t expires_ms = got.expires_ms;
    assert_true(got.log_level == 6 && got.seen[0] == 0 && expires_ms > clock_wall_ms());
    op.kind = STORE_SET_SEEN;
    s.log_level = 1;
    assert_int_equal(write_op(store, &op), 0);
    assert_int_equal(session_op(store, STORE_TOUCH_SESSION, SESSION), 0); /* leaves them alone */
    read_session(store, &arena, &got);
    assert_true(got.log_level == 6 && got.seen[STORE_TOOLS] == 3);
    assert_true(got.seen[STORE_RESOURCES] == UINT64_MAX && got.seen[STORE_PROMPTS] == 5);
    assert_true(got.expires_ms == expires_ms);
    arena_done(&arena);
    expect_no_finding(store);
}

static void nothing_is_set_of_a_session_that_is_gone(void **state)
{
    struct store *store = store_with_sessions(state);
    struct store_session s = {.id = NOBODY};
    struct store_op ops[] = {{.kind = STORE_SET_LOG_LEVEL, .if_version = STORE_ANY, .session = &s},
                             {.kind = STORE_SET_SEEN, .if_version = STORE_ANY, .session = &s}};
    assert_int_equal(write_op(store, &ops[0]), ERR_ABSENT);
    assert_int_equal(write_op(store, &ops[1]), ERR_ABSENT);
    s.id = SESSION;
    clock_advance_ms(INT64_C(86400000)); /* expired, and not swept */
    assert_int_equal(write_op(store, &ops[0]), ERR_ABSENT);
    assert_int_equal(write_op(store, &ops[1]), ERR_ABSENT);
    assert_int_equal(push(store, SESSION, STR("a"), 1000, NULL, NULL), ERR_ABSENT);
    assert_int_equal(claim_op(store, STORE_CLAIM_PUSHES, SESSION, me, 1, NULL), ERR_ABSENT);
    assert_int_equal(count_sys(store, KV_SESSIONS), 2);
}

#define CASES(X)                                            \
    X(the_newest_claim_stands_and_tells_of_the_one_before)  \
    X(a_claim_that_comes_too_late_changes_nothing)          \
    X(only_the_own_claim_is_dropped)                        \
    X(messages_wait_in_order_until_their_time_is_over)      \
    X(only_who_has_the_claim_takes_a_message_and_only_once) \
    X(a_message_becomes_a_frame_in_one_commit_or_stays)     \
    X(beyond_PUSHES_WAITING_MAX_the_oldest_go)              \
    X(beyond_PUSHES_BYTES_the_oldest_go)                    \
    X(with_a_session_go_its_claim_and_messages)             \
    X(a_round_of_the_keeper_looks_at_all_in_steps)          \
    X(the_keeper_forgets_what_cannot_be_read)               \
    X(letters_come_in_order_to_their_slot)                  \
    X(letters_are_forgotten_after_MAIL_KEEP_MS)             \
    X(a_letter_past_MAIL_BYTES_MAX_is_refused)              \
    X(log_level_and_what_was_seen_are_set_alone)            \
    X(nothing_is_set_of_a_session_that_is_gone)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
