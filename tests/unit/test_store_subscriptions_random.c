/* tests/unit/test_store_subscriptions_random.c - thousands of random operations on the
 * subscriptions of a few sessions, each beside a model of plain arrays: both engines answer, count
 * and list as the model does, and at the end nothing belongs to nobody. The clock is moved by hand.
 */
#include "hand_clock.h"

#include "store_subscriptions.h"

#define STEPS    4000
#define SESSIONS 3
#define URIS     400 /* more than a transaction takes away with its session */
#define MOST     320

static const struct str ids[SESSIONS] = {STR_INIT("0000000a-one"), STR_INIT("0000000a-on"),
                                         STR_INIT("0000000a-two")};

struct model_session {
    bool there, follows;
    struct store_follow follow;
    uint64_t token; /* of the claim; 0: nobody's */
    bool has[URIS], all[URIS];
    uint64_t start[URIS];
};

struct model {
    struct store *store;
    unsigned random;
    uint64_t now_seq;
    unsigned n_refused, n_left; /* by the bound; sessions that left some to the keeper */
    struct model_session sessions[SESSIONS];
};

static unsigned roll(struct model *m, unsigned n)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    return m->random % n;
}

static struct str uri_of(unsigned i, char space[24])
{
    snprintf(space, 24, "data://db/t/%u", i);
    return str_of(space);
}

/* ---- What an operation should do ------------------------------------------------------------ */

static int model_put(struct model_session *s, unsigned uri, uint64_t start, bool all)
{
    if (!s->there)
        return ERR_ABSENT;
    if (s->has[uri]) {
        s->follow.generation += s->all[uri] != all;
        s->all[uri] = all;
        return 0;
    }
    if (s->follow.n >= MOST)
        return ERR_LIMIT;
    s->start[uri] = start > s->follow.seq ? start : s->follow.seq;
    if (s->follow.n == 0)
        s->follow.seq = s->follow.sent_seq = s->start[uri];
    s->has[uri] = s->follows = true;
    s->all[uri] = all;
    s->follow.n++;
    s->follow.generation++;
    return 0;
}

static void model_delete(struct model_session *s, unsigned uri)
{
    s->follow.generation += s->has[uri];
    s->follow.n -= s->has[uri];
    s->has[uri] = false;
}

static int model_set(struct model_session *s, uint64_t token, const struct store_follow *to)
{
    if (!s->follows)
        return ERR_ABSENT;
    if (!s->token || s->token != token || to->generation != s->follow.generation)
        return ERR_CONFLICT;
    s->follow.seq = to->seq;
    s->follow.sent_seq = to->sent_seq;
    return 0;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void put(struct model *m, unsigned session, unsigned uri)
{
    char space[24];
    struct store_subscription s = {.session = ids[session],
                                   .uri = uri_of(uri, space),
                                   .start_seq = m->now_seq - roll(m, 5),
                                   .all = roll(m, 2)};
    struct store_op op = subscription_op(STORE_PUT_SUBSCRIPTION, &s);
    op.max_subscriptions = MOST;
    int expected = model_put(&m->sessions[session], uri, s.start_seq, s.all);
    m->n_refused += expected == ERR_LIMIT;
    assert_int_equal(write_op(m->store, &op), expected);
}

static void step_put(struct model *m, unsigned session)
{
    put(m, session, roll(m, URIS));
}

/* As many as it takes to reach the bounds. */
static void step_put_many(struct model *m, unsigned session)
{
    unsigned first = roll(m, URIS);
    for (unsigned n = roll(m, URIS); n; n--)
        put(m, session, (first + n) % URIS);
}

static void step_delete(struct model *m, unsigned session)
{
    char space[24];
    unsigned uri = roll(m, URIS);
    model_delete(&m->sessions[session], uri);
    assert_int_equal(unsubscribe(m->store, ids[session], uri_of(uri, space)), 0);
}

static void step_set(struct model *m, unsigned session)
{
    struct model_session *s = &m->sessions[session];
    struct store_claim claim = {.session = ids[session], .token = s->token + (roll(m, 8) == 0)};
    struct store_follow to = {.seq = m->now_seq += roll(m, 3),
                              .generation = s->follow.generation - (roll(m, 8) == 0)};
    struct store_op op = {
        .kind = STORE_SET_FOLLOW, .if_version = STORE_ANY, .claim = &claim, .follow = &to};
    to.sent_seq = to.seq - roll(m, 3);
    int expected = model_set(s, claim.token, &to);
    assert_int_equal(write_op(m->store, &op), expected);
}

static void step_claim(struct model *m, unsigned session)
{
    struct model_session *s = &m->sessions[session];
    struct store_claim claim = {
        .session = ids[session], .stream = 1, .worker = me, .token = 1 + roll(m, 1000)};
    struct store_op op = {.kind = STORE_CLAIM_PUSHES, .if_version = STORE_ANY, .claim = &claim};
    assert_int_equal(write_op(m->store, &op), s->there ? 0 : ERR_ABSENT);
    s->token = s->there ? claim.token : 0;
}

static void step_session(struct model *m, unsigned session)
{
    struct model_session *s = &m->sessions[session];
    bool there = s->there;
    if (there)
        memset(s, 0, sizeof *s);
    s->there = !there;
    enum store_op_kind kind = there ? STORE_DELETE_SESSION : STORE_PUT_SESSION;
    assert_int_equal(session_op(m->store, kind, ids[session]), 0);
    m->n_left += there && count_sys(m->store, KV_UNFOLLOWED) > 0;
}

static void step_maintain(struct model *m, unsigned session)
{
    (void)session;
    assert_int_equal(store_maintain(m->store), 0);
}

/* ---- What is there -------------------------------------------------------------------------- */

static int compare_one(void *ctx, const struct store_subscription *got)
{
    struct model_session *s = ctx;
    unsigned uri = 0;
    char space[24];
    snprintf(space, sizeof space, STR_FMT, STR_ARG(got->uri));
    assert_int_equal(sscanf(space, "data://db/t/%u", &uri), 1);
    assert_true(uri < URIS && str_eq(got->uri, uri_of(uri, space)));
    assert_true(s->has[uri] && got->start_seq == s->start[uri] && got->all == s->all[uri]);
    s->follow.n--;
    return 0;
}

static void compare(struct model *m, unsigned session)
{
    struct model_session *s = &m->sessions[session];
    struct store_follow got = {0};
    struct store_view *view = view_of(m->store, STORE_SYS);
    uint32_t n = s->follow.n;
    assert_int_equal(store_get_follow(view, ids[session], &got), s->follows ? 0 : ERR_ABSENT);
    assert_true(got.seq == s->follow.seq && got.sent_seq == s->follow.sent_seq);
    assert_true(got.generation == s->follow.generation && got.n == n);
    assert_int_equal(store_scan_subscriptions(view, ids[session], compare_one, s), 0);
    assert_int_equal(s->follow.n, 0);
    s->follow.n = n;
    store_view_close(view);
}

static void the_store_does_as_the_model_does(void **state)
{
    static void (*const steps[])(struct model * m, unsigned session) = {
        step_put, step_put, step_delete, step_set, step_set, step_claim};
    static void (*const rare[])(struct model * m, unsigned session) = {
        step_session, step_put_many, step_put_many, step_maintain};
    struct model m = {.store = ((struct fixture *)*state)->store, .random = 4711, .now_seq = 100};
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned session = roll(&m, SESSIONS);
        m.now_seq += roll(&m, 4);
        if (roll(&m, 20))
            steps[roll(&m, sizeof steps / sizeof *steps)](&m, session);
        else
            rare[roll(&m, sizeof rare / sizeof *rare)](&m, session);
        if (i % 50 == 0 || i + 1 == STEPS)
            compare(&m, session);
        if (i % 500 == 0)
            expect_no_finding(m.store);
    }
    for (unsigned session = 0; session < SESSIONS; session++) {
        compare(&m, session);
        if (m.sessions[session].there)
            step_session(&m, session);
    }
    assert_true(m.n_refused > 10 && m.n_left > 3);
    step_maintain(&m, 0);
    expect_no_finding(m.store);
    assert_int_equal(count_sys(m.store, KV_SUBSCRIPTIONS), 0);
    assert_int_equal(count_sys(m.store, KV_FOLLOWS), 0);
    assert_int_equal(count_sys(m.store, KV_UNFOLLOWED), 0);
}

#define CASES(X) X(the_store_does_as_the_model_does)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
