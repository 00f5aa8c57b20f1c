/* tests/fuzz/fuzz_cbor.c - any bytes as a stored value: refused, or a tape that writes back to a
 * value that reads the same. */
#include "base/err.h"
#include "store/cbor_tape.h"
#include "store/record.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* Byte strings come back as text, so what is compared is the second reading with the first. */
static void check_round_trip(const struct tape_node *tape, struct arena *arena)
{
    const struct tape_node *again;
    struct buf out = {0};
    uint32_t n = tape->kind >= TAPE_ARRAY ? tape->v.size : 1;
    cbor_write_tape(tape, &out);
    check(!out.failed);
    check(cbor_read_tape(buf_str(&out), arena, &again) == 0);
    for (uint32_t i = 0; i < n; i++) {
        check(tape[i].kind == again[i].kind && tape[i].n == again[i].n);
        if (tape[i].kind == TAPE_STR)
            check(tape[i].n == 0 || memcmp(tape[i].v.s, again[i].v.s, tape[i].n) == 0);
        else if (tape[i].kind >= TAPE_ARRAY)
            check(tape[i].v.size == again[i].v.size);
        else if (tape[i].kind >= TAPE_INT)
            check(tape[i].v.i == again[i].v.i);
    }
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tape_node *tape, *fields[RECORD_FIELDS_MAX];
    struct str in = {(const char *)data, (uint32_t)size};
    struct arena arena;
    int64_t first;
    arena_init(&arena, 0);
    int err = cbor_read_tape(in, &arena, &tape);
    check(err == 0 || err == ERR_STORE_DAMAGED || err == ERR_NO_MEMORY);
    if (!err)
        check_round_trip(tape, &arena);
    int front = record_first_int(in, &first);
    static const char *const patterns[] = {"iisi", "is", "ii"}; /* changes; access; quotas */
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (record_read(in, patterns[i], &arena, fields) == 0)
            check(front == 0 && first == fields[0]->v.i);
    arena_done(&arena);
    return 0;
}
