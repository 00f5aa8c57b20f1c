/* tests/bench/bench_parse.c - nanoseconds per message of the hot reader, next to the cold one.
 *
 * Hot: rpc_read, the method's look-up, and its params by the table of 2025-06-18. Cold:
 * base/json_tree on the same text, which is a tree and checks nothing of the protocol. Two rotating
 * sets of distinct messages (messages.h). The rounds take turns, and the best of each counts, so
 * that a noisy moment spoils no figure and the ratio is of the same run.
 */
#include "base/json_tree.h"
#include "generated/methods.h"
#include "tests/bench/messages.h"
#include "wire/rpc.h"
#include "wire/tape.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 25

static void refuse(struct str text, const struct wire_fault *fault)
{
    fprintf(stderr, "refused: " STR_FMT "\n%s %s (%s)\n", STR_ARG(text),
            wire_reason_name(fault->reason), fault->pointer, fault->expected);
    exit(1);
}

static void read_envelope(struct str text, struct arena *arena)
{
    struct rpc_message message;
    struct wire_fault fault;
    if (rpc_read(text, arena, &message, &fault) != 0)
        refuse(text, &fault);
}

static void read_typed(struct str text, struct arena *arena)
{
    struct rpc_message message;
    struct wire_fault fault;
    _Alignas(16) char params[1024];
    if (rpc_read(text, arena, &message, &fault) != 0)
        refuse(text, &fault);
    const struct mcp_method_row *row =
        mcp_method_row(MCP_2025_06_18, mcp_method_find(message.method));
    if (rpc_parse_params(row->params, &message, arena, params, &fault) != 0)
        refuse(text, &fault);
}

static void read_tape(struct str text, struct arena *arena)
{
    const struct tape_node *node;
    struct wire_fault fault;
    if (tape_open(text, arena, &node, &fault) != 0)
        refuse(text, &fault);
}

static void read_cold(struct str text, struct arena *arena)
{
    struct json *tree;
    if (json_tree_parse(text, arena, &tree, NULL) != 0)
        exit(1);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double ns_per_message(const struct messages *m, struct arena *arena,
                             void (*read)(struct str text, struct arena *arena))
{
    double start = now_ns();
    for (uint32_t i = 0; i < m->n; i++) {
        arena_reset(arena);
        read(m->v[i], arena);
    }
    return (now_ns() - start) / m->n;
}

static void measure(const char *name, const struct messages *m)
{
    static void (*const readers[])(struct str text, struct arena * arena) = {
        read_typed, read_envelope, read_tape, read_cold};
    double best[4] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    struct arena arena;
    arena_init(&arena, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 4; i++)
            best[i] = fmin(best[i], ns_per_message(m, &arena, readers[i]));
    arena_done(&arena);
    printf("parse %s: %.0f ns/message (%u distinct, mean %zu bytes; envelope %.0f, tape %.0f), "
           "%.2f of the cold reader's %.0f\n",
           name, best[0], m->n, m->bytes / m->n, best[1], best[2], best[0] / best[3], best[3]);
}

int main(void)
{
    struct messages mix = messages_mix(4000), calls = messages_calls(2000);
    measure("mix", &mix);
    measure("calls", &calls);
    messages_done(&mix);
    messages_done(&calls);
    return 0;
}
