/* tests/bench/bench_follow.c - bench_follow DIR: what subscriptions cost in the store.
 *
 * One more beside few and beside many, reading all of a session, a position with a frame (what the
 * follower commits for each turn), the end of a session that has as many as it may, and how long
 * after the commit of a change others are told (store_on_change), next to the way to whoever
 * wrote it. Times are of the whole way: submit, writer's thread, commit, answer.
 */
#include "base/err.h"
#include "base/limits.h"
#include "core/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GROUP_MAX 64
#define SECONDS   1.0
#define SESSION   STR("0123abcd-bench")

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "bench_follow: %s\n", err_text(err));
    exit(1);
}

static double write_ops(struct store *store, enum store_space space, struct store_op *ops,
                        uint32_t n)
{
    struct store_write write = {.space = space, .ops = ops, .n_ops = n};
    double start = now_s();
    must(store_apply(store, &write));
    return now_s() - start;
}

static struct store_op subscribe_op(struct store_subscription *s, char uri[48], uint32_t i)
{
    snprintf(uri, 48, "data://bench/rows/%u", i);
    *s = (struct store_subscription){.session = SESSION, .uri = str_of(uri), .start_seq = 1};
    return (struct store_op){.kind = STORE_PUT_SUBSCRIPTION, .subscription = s};
}

static void subscribe(struct store *store, uint32_t from, uint32_t to)
{
    static struct store_subscription s[TXN_ROWS_MAX];
    static struct store_op ops[TXN_ROWS_MAX];
    static char uris[TXN_ROWS_MAX][48];
    double took = 0;
    for (uint32_t i = from; i < to;) {
        uint32_t n = 0;
        while (n < TXN_ROWS_MAX && i < to) {
            ops[n] = subscribe_op(&s[n], uris[n], i++);
            n++;
        }
        took += write_ops(store, STORE_SYS, ops, n);
    }
    printf("subscribe: %.1f us each, %u to %u in lists of %d\n", took * 1e6 / (to - from), from, to,
           TXN_ROWS_MAX);
}

/* One more and away again. */
static void measure_one(struct store *store, uint32_t beside)
{
    struct store_subscription s;
    char uri[48];
    struct store_op op = subscribe_op(&s, uri, 1000000);
    double put = 0, away = 0;
    uint32_t n = 0;
    for (; put + away < SECONDS; n++) {
        op.kind = STORE_PUT_SUBSCRIPTION;
        put += write_ops(store, STORE_SYS, &op, 1);
        op.kind = STORE_DELETE_SUBSCRIPTION;
        away += write_ops(store, STORE_SYS, &op, 1);
    }
    printf("subscribe: %.1f us, unsubscribe: %.1f us, beside %u\n", put * 1e6 / n, away * 1e6 / n,
           beside);
}

static int count(void *ctx, const struct store_subscription *s)
{
    *(uint64_t *)ctx += s->uri.n > 0;
    return 0;
}

static void measure_scan(struct store *store)
{
    struct store_view *view;
    uint64_t n = 0;
    must(store_view_open(store, STORE_SYS, &view));
    double start = now_s();
    must(store_scan_subscriptions(view, SESSION, count, &n));
    printf("scan: %.2f ms for %llu\n", (now_s() - start) * 1e3, (unsigned long long)n);
    store_view_close(view);
}

static void measure_frames(struct store *store, uint32_t group, uint64_t *n, bool moves)
{
    static char text[200];
    struct store_op ops[1 + GROUP_MAX];
    struct store_stream stream = {.session = SESSION, .id = 1, .writer = {1, 1}};
    struct store_claim claim = {.session = SESSION, .token = 1};
    struct store_follow follow;
    struct store_view *view;
    must(store_view_open(store, STORE_SYS, &view));
    must(store_get_follow(view, SESSION, &follow));
    store_view_close(view);
    memset(text, 'x', sizeof text);
    double took = 0, worst = 0;
    uint32_t commits = 0;
    for (; took < SECONDS; commits++) {
        uint32_t n_ops = 0;
        if (moves) {
            follow.seq++;
            stream.seq = follow.seq;
            ops[n_ops++] =
                (struct store_op){.kind = STORE_SET_FOLLOW, .claim = &claim, .follow = &follow};
        }
        for (uint32_t i = 0; i < group; i++)
            ops[n_ops++] = (struct store_op){.kind = STORE_PUT_FRAME,
                                             .stream = &stream,
                                             .n = ++*n,
                                             .message = {text, sizeof text}};
        double one = write_ops(store, STORE_SYS, ops, n_ops);
        worst = one > worst ? one : worst;
        took += one;
    }
    printf("%s of %u: %.1f us a commit, %.1f us a frame, worst %.1f ms\n",
           moves ? "a position and frames" : "frames alone", group, took * 1e6 / commits,
           took * 1e6 / commits / group, worst * 1e3);
}

static void measure_end(struct store *store)
{
    struct store_session session = {.id = SESSION};
    struct store_op op = {
        .kind = STORE_DELETE_SESSION, .if_version = STORE_ANY, .session = &session};
    double took = write_ops(store, STORE_SYS, &op, 1);
    double start = now_s();
    must(store_maintain(store));
    printf("session with %d: %.2f ms to end, %.1f ms of the keeper in transactions of its own\n",
           SUBSCRIPTIONS_SESSION_MAX, took * 1e3, (now_s() - start) * 1e3);
}

/* ---- How soon others are told --------------------------------------------------------------- */

static _Atomic double told_s;

static void on_change(void *ctx, const struct change_marks *marks)
{
    (void)ctx, (void)marks;
    told_s = now_s();
}

static void measure_change(struct store *store, const char *mode)
{
    struct store_op op = {.kind = STORE_LOG_RESOURCE, .key = STR("bench://watched")};
    double written = 0, told = 0;
    uint32_t n = 0;
    for (; written < SECONDS; n++) {
        double start = now_s();
        written += write_ops(store, STORE_DATA, &op, 1);
        told += told_s - start;
    }
    printf("a change, %s: told after %.1f us, its writer after %.1f us\n", mode, told * 1e6 / n,
           written * 1e6 / n);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static struct store *open_store(const char *dir, enum store_mode mode, struct arena *arena)
{
    struct str why = STR("");
    struct store *store;
    struct store_config config = {.dir = dir, .mode = mode};
    must(store_open_lmdb(&config, arena, &store, &why));
    store_on_change(store, on_change, NULL);
    return store;
}

static void begin(struct store *store)
{
    struct store_session session = {.id = SESSION, .log_level = -1, .expires_ms = INT64_MAX};
    struct store_stream stream = {.session = SESSION, .id = 1, .writer = {1, 1}};
    struct store_claim claim = {.session = SESSION, .stream = 1, .worker = {1, 1}, .token = 1};
    struct store_op ops[] = {
        {.kind = STORE_PUT_SESSION, .if_version = STORE_ANY, .session = &session},
        {.kind = STORE_PUT_STREAM, .stream = &stream},
        {.kind = STORE_CLAIM_PUSHES, .claim = &claim}};
    write_ops(store, STORE_SYS, ops, 3);
}

int main(int argc, char **argv)
{
    struct arena arena;
    uint64_t n = 0;
    if (argc != 2) {
        fputs("usage: bench_follow DIR\n", stderr);
        return 2;
    }
    arena_init(&arena, 0);
    struct store *store = open_store(argv[1], STORE_NOSYNC, &arena);
    begin(store);
    subscribe(store, 0, 10);
    measure_one(store, 10);
    subscribe(store, 10, SUBSCRIPTIONS_SESSION_MAX - 1);
    measure_one(store, SUBSCRIPTIONS_SESSION_MAX - 1);
    measure_scan(store);
    for (uint32_t group = 1; group <= GROUP_MAX; group *= 8) {
        measure_frames(store, group, &n, false);
        measure_frames(store, group, &n, true);
    }
    measure_end(store);
    measure_change(store, "nosync");
    store_close(store);
    store = open_store(argv[1], STORE_SYNC, &arena);
    measure_change(store, "sync");
    store_close(store);
    arena_done(&arena);
    return 0;
}
