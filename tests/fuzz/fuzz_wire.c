/* tests/fuzz/fuzz_wire.c - the hot reader, the envelope and the tape on any bytes.
 *
 * Beside not crashing, the verdicts have to fit each other: what parses also checks, skips and
 * opens; what is written reads back as it was; a batch's members are all values.
 */
#include "base/err.h"
#include "tests/unit/hand_table.h"
#include "wire/json_read.h"
#include "wire/json_write.h"
#include "wire/rpc.h"
#include "wire/tape.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(fact)                                                     \
    do {                                                               \
        if (!(fact)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #fact); \
            abort();                                                   \
        }                                                              \
    } while (0)

/* A copy that ends, after its padding, at the end of its allocation. */
static struct str padded(struct str s)
{
    char *p = calloc(1, (size_t)s.n + JSON_PADDING_BYTES);
    MUST(p);
    if (s.n)
        memcpy(p, s.p, s.n);
    return (struct str){p, s.n};
}

static void assert_fault_is_sane(const struct wire_fault *fault, struct str text)
{
    MUST(fault->reason != WIRE_OK && fault->offset <= text.n);
    MUST(memchr(fault->pointer, 0, sizeof fault->pointer));
    MUST(memchr(fault->expected, 0, sizeof fault->expected));
}

static void try_table(struct str text, struct arena *arena, int skipped)
{
    struct sample sample;
    struct wire_fault fault, check_fault;
    struct buf first = {0}, second = {0};
    int err = wire_parse(&sample_type, text, arena, &sample, &fault);
    MUST(wire_check(&sample_type, text, &check_fault) == err || err == ERR_NO_MEMORY);
    if (err && err != ERR_NO_MEMORY) {
        assert_fault_is_sane(&fault, text);
        MUST((err == ERR_PARSE) == (skipped != 0));
    }
    if (err)
        return;
    MUST(skipped == 0);
    MUST(wire_write(&sample_type, &sample, &first) == 0);
    struct str copy = padded(buf_str(&first));
    MUST(wire_parse(&sample_type, copy, arena, &sample, NULL) == 0);
    MUST(wire_write(&sample_type, &sample, &second) == 0);
    MUST(str_eq(buf_str(&first), buf_str(&second)));
    free((char *)copy.p);
    buf_done(&first);
    buf_done(&second);
}

static void try_tape(struct str text, struct arena *arena, int skipped)
{
    const struct tape_node *node, *again;
    struct wire_fault fault;
    struct buf out = {0};
    int err = tape_open(text, arena, &node, &fault);
    if (err && err != ERR_NO_MEMORY) {
        assert_fault_is_sane(&fault, text);
        MUST((err == ERR_PARSE) == (skipped != 0));
    }
    if (err)
        return;
    MUST(skipped == 0);
    tape_write(node, &out);
    struct str copy = padded(buf_str(&out));
    MUST(tape_open(copy, arena, &again, NULL) == 0 && tape_equal(node, again));
    MUST(tape_size(node) == tape_size(again));
    free((char *)copy.p);
    buf_done(&out);
}

/* The shortcut has to come to the same as reading all of the params. */
static void try_params(const struct rpc_message *message, struct arena *arena)
{
    struct sample sample, same;
    struct wire_fault fault, same_fault;
    struct buf first = {0}, second = {0};
    int err = rpc_parse_params(&sample_type, message, arena, &sample, &fault);
    MUST(wire_parse(&sample_type, message->params, arena, &same, &same_fault) == err);
    MUST(fault.reason == same_fault.reason);
    if (err)
        return;
    MUST(wire_write(&sample_type, &sample, &first) == 0);
    MUST(wire_write(&sample_type, &same, &second) == 0);
    MUST(str_eq(buf_str(&first), buf_str(&second)));
    buf_done(&first);
    buf_done(&second);
}

static void try_envelope(struct str text, struct arena *arena, int skipped)
{
    struct rpc_message message, member;
    struct wire_fault fault;
    struct str rest, one;
    int err = rpc_read(text, arena, &message, &fault);
    MUST((err == ERR_PARSE) == (skipped != 0));
    if (err)
        assert_fault_is_sane(&fault, text);
    if (!err && message.params.p)
        try_params(&message, arena);
    if (err || message.kind != RPC_BATCH)
        return;
    rest = message.body;
    unsigned n = 0;
    while (rpc_batch_next(&rest, &one)) {
        MUST(rpc_read(one, arena, &member, NULL) != ERR_PARSE);
        n++;
    }
    MUST(n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    struct arena arena;
    struct str value, text = padded((struct str){(const char *)data, (uint32_t)size});
    if (!ready)
        hand_table_init();
    ready = true;
    arena_init(&arena, 0);
    int skipped = wire_skip(text, &value, NULL, NULL);
    try_table(text, &arena, skipped);
    try_tape(text, &arena, skipped);
    try_envelope(text, &arena, skipped);
    arena_done(&arena);
    free((char *)text.p);
    return 0;
}
