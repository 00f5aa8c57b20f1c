/* tests/bench/bench_frames.c - bench_frames DIR: what a frame of a stream costs in the store, and a
 * new stream of a session that has as many as it may have.
 *
 * Lists of 1 and of 64 frames of 200 bytes, each list one commit, to one stream of LMDB that keeps
 * the default of frames (so each append forgets one, as in a stream that has been going for a
 * while). Time of the whole way: submit, writer's thread, commit, answer.
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
    fprintf(stderr, "bench_frames: %s\n", err_text(err));
    exit(1);
}

static void write_ops(struct store *store, struct store_op *ops, uint32_t n)
{
    struct store_write write = {.space = STORE_SYS, .ops = ops, .n_ops = n};
    must(store_apply(store, &write));
}

static void measure(struct store *store, const struct store_stream *stream, uint32_t group,
                    uint64_t *n)
{
    static char text[200];
    struct store_op ops[GROUP_MAX];
    uint64_t first_n = *n;
    memset(text, 'x', sizeof text);
    double start = now_s(), took;
    do {
        for (uint32_t i = 0; i < group; i++)
            ops[i] = (struct store_op){.kind = STORE_PUT_FRAME,
                                       .stream = stream,
                                       .n = ++*n,
                                       .message = {text, sizeof text}};
        write_ops(store, ops, group);
        took = now_s() - start;
    } while (took < SECONDS);
    printf("frames: %.1f us each in groups of %u\n", took * 1e6 / (double)(*n - first_n), group);
}

/* Each forgets the one that ended first. */
static void measure_opening(struct store *store, struct str session)
{
    struct store_stream stream = {.session = session, .writer = {1, 1}, .ended = true};
    uint64_t first = 1000, n = first;
    struct store_op op = {.kind = STORE_PUT_STREAM, .stream = &stream};
    double start = 0, took;
    do {
        if (n == first + STREAMS_SESSION_MAX)
            start = now_s();
        stream.id = ++n;
        write_ops(store, &op, 1);
        took = now_s() - start;
    } while (!start || took < SECONDS);
    printf("streams: %.1f us to open one beside %d\n",
           took * 1e6 / (double)(n - first - STREAMS_SESSION_MAX), STREAMS_SESSION_MAX);
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct str why = STR("");
    struct store *store;
    uint64_t n = 0;
    arena_init(&arena, 0);
    struct store_config config = {.dir = argc > 1 ? argv[1] : "", .mode = STORE_NOSYNC};
    must(store_open_lmdb(&config, &arena, &store, &why));
    struct store_session session = {
        .id = STR("0123abcd-bench"), .log_level = -1, .expires_ms = INT64_MAX};
    struct store_stream stream = {.session = session.id, .id = 1, .writer = {1, 1}};
    struct store_op ops[] = {
        {.kind = STORE_PUT_SESSION, .if_version = STORE_ANY, .session = &session},
        {.kind = STORE_PUT_STREAM, .stream = &stream}};
    write_ops(store, ops, 2);
    measure(store, &stream, 1, &n);
    measure(store, &stream, GROUP_MAX, &n);
    measure_opening(store, session.id);
    store_close(store);
    arena_done(&arena);
    return 0;
}
