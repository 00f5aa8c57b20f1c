/* tests/fuzz/fuzz_http_reply.c - what a server may send to `tenon doctor`. A body that was accepted
 * must have its padding behind it. */
#include "cli_http.h"

#include "base/limits.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct http_reply reply;
    arena_init(&arena, 0);
    struct str text = {(const char *)data, (uint32_t)size};
    if (http_reply_parse(text, &arena, &reply) == 0)
        for (uint32_t i = 0; i < JSON_PADDING_BYTES; i++)
            if (reply.body.p[reply.body.n + i])
                abort();
    arena_done(&arena);
    return 0;
}
