/* tests/fuzz/fuzz_tables.c - any bytes by any generated definition: the first byte picks the
 * revision, the second the definition, the rest is the text. Check and parse have to agree; what
 * was read has to be written and to read back as it was.
 */
#include "base/err.h"
#include "base/limits.h"
#include "generated/edges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(fact)                                                     \
    do {                                                               \
        if (!(fact)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #fact); \
            abort();                                                   \
        }                                                              \
    } while (0)

static struct str padded(const void *p, size_t n)
{
    char *copy = calloc(1, n + JSON_PADDING_BYTES);
    MUST(copy);
    if (n)
        memcpy(copy, p, n);
    return (struct str){copy, (uint32_t)n};
}

/* Large enough for the struct of any definition, or for a list or text that is none. */
static void *value_for(const struct wire_type *t, struct arena *arena)
{
    bool is_struct = t->kind == WIRE_OBJECT && t->container == WIRE_ONE;
    void *value = arena_zalloc(arena, is_struct ? t->of.message->size : 64);
    MUST(value);
    return value;
}

static bool read_and_write(const struct wire_type *t, struct str text, struct arena *arena,
                           struct buf *out)
{
    struct wire_fault fault, check_fault;
    void *value = value_for(t, arena);
    int err = wire_parse(t, text, arena, value, &fault);
    if (err == ERR_NO_MEMORY)
        return false;
    MUST(wire_check(t, text, &check_fault) == err);
    MUST(fault.reason == check_fault.reason);
    if (err) {
        MUST(fault.offset <= text.n && strcmp(fault.pointer, check_fault.pointer) == 0);
        return false;
    }
    MUST(wire_write(t, value, out) == 0);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct buf first = {0}, second = {0};
    const struct wire_type *t = NULL;
    if (size >= 2)
        t = mcp_type((enum mcp_revision)(data[0] % MCP_REVISIONS),
                     (enum mcp_definition)(data[1] % MCP_DEFINITIONS));
    if (!t)
        return 0;
    arena_init(&arena, 0);
    struct str text = padded(data + 2, size - 2);
    if (read_and_write(t, text, &arena, &first)) {
        struct str again = padded(first.p, first.n);
        MUST(read_and_write(t, again, &arena, &second));
        MUST(str_eq(buf_str(&first), buf_str(&second)));
        free((char *)again.p);
    }
    free((char *)text.p);
    buf_done(&first);
    buf_done(&second);
    arena_done(&arena);
    return 0;
}
