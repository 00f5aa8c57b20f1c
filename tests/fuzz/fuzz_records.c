/* tests/fuzz/fuzz_records.c - the record stream in each format. The first byte chooses the format;
 * every record that comes out must be an object, and the lines must never go back. */
#include "records.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t types(void *ctx, struct str column)
{
    (void)ctx;
    return column.n ? (uint8_t)column.p[0] & WIRE_T_ANY : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const roots[] = {NULL, "/a", "/a/b~1"};
    if (size < 2)
        return 0;
    struct record_options options = {.format = (enum record_format)(data[0] % 3), .types = types};
    if (options.format == RECORDS_JSON)
        options.root = roots[data[0] / 3 % 3];
    FILE *file = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
    struct record_reader *reader = file ? records_new(file, &options) : NULL;
    struct record record = {0};
    struct record_fault fault;
    struct arena arena;
    uint64_t last = 0;
    int got = 0;
    arena_init(&arena, 0);
    while (reader && (got = records_next(reader, &arena, &record, &fault)) != 0) {
        uint64_t line = got > 0 ? record.line : fault.line;
        if ((got > 0 && (record.row->kind != TAPE_OBJECT || line < last)) || line == 0)
            abort();
        last = got > 0 ? line : last;
        arena_reset(&arena);
    }
    arena_done(&arena);
    records_free(reader);
    if (file)
        fclose(file);
    return 0;
}
