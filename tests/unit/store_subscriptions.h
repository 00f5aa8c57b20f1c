/* tests/unit/store_subscriptions.h - what the tests of subscriptions and of positions share. */
#ifndef TENON_TESTS_STORE_SUBSCRIPTIONS_H
#define TENON_TESTS_STORE_SUBSCRIPTIONS_H

#include "store_live.h"

static inline struct store *store_with_sessions(void **state)
{
    struct store *store = ((struct fixture *)*state)->store;
    assert_int_equal(session_op(store, STORE_PUT_SESSION, SESSION), 0);
    assert_int_equal(session_op(store, STORE_PUT_SESSION, OTHER), 0);
    return store;
}

static inline struct store_subscription subscription_of(struct str session, struct str uri,
                                                        uint64_t seq)
{
    return (struct store_subscription){.session = session, .uri = uri, .start_seq = seq};
}

static inline struct store_op subscription_op(enum store_op_kind kind,
                                              const struct store_subscription *s)
{
    return (struct store_op){.kind = kind, .if_version = STORE_ANY, .subscription = s};
}

static inline int subscribe(struct store *store, struct str session, struct str uri, uint64_t seq)
{
    struct store_subscription s = subscription_of(session, uri, seq);
    struct store_op op = subscription_op(STORE_PUT_SUBSCRIPTION, &s);
    return write_op(store, &op);
}

static inline int subscribe_all(struct store *store, struct str uri, uint64_t seq,
                                uint32_t coalesce_ms)
{
    struct store_subscription s = subscription_of(SESSION, uri, seq);
    struct store_op op = subscription_op(STORE_PUT_SUBSCRIPTION, &s);
    s.all = true;
    s.coalesce_ms = coalesce_ms;
    return write_op(store, &op);
}

static inline int unsubscribe(struct store *store, struct str session, struct str uri)
{
    struct store_subscription s = subscription_of(session, uri, 0);
    struct store_op op = subscription_op(STORE_DELETE_SUBSCRIPTION, &s);
    return write_op(store, &op);
}

static inline int get_follow(struct store *store, struct str session, struct store_follow *ret)
{
    struct store_view *view = view_of(store, STORE_SYS);
    int err = store_get_follow(view, session, ret);
    store_view_close(view);
    return err;
}

static inline void expect_follow(struct store *store, uint64_t seq, uint64_t sent_seq,
                                 uint64_t generation, uint32_t n)
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

static inline int see(void *ctx, const struct store_subscription *s)
{
    struct seen *seen = ctx;
    assert_true(seen->n < SEEN_MAX);
    assert_true(str_eq(s->session, seen->session));
    snprintf(seen->lines[seen->n++], sizeof *seen->lines, STR_FMT "@%llu%s+%u", STR_ARG(s->uri),
             (unsigned long long)s->start_seq, s->all ? " all" : "", s->coalesce_ms);
    return 0;
}

static inline int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* In the order of their text. */
static inline void expect_subscriptions(struct store *store, struct str session,
                                        const char *expected)
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

static inline int count_subscription(void *ctx, const struct store_subscription *s)
{
    (void)s;
    ++*(uint32_t *)ctx;
    return 0;
}

static inline uint32_t count_of(struct store *store, struct str session)
{
    uint32_t n = 0;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_subscriptions(view, session, count_subscription, &n), 0);
    store_view_close(view);
    return n;
}

#endif
