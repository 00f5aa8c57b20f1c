/* tests/fuzz/fuzz_template.c - a template on the first line, a URI behind it: whatever matches must
 * expand to a URI that matches again. */
#include "base/arena.h"
#include "base/limits.h"
#include "schema/template.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void match_again(const struct template *t, const struct template_value *values,
                        struct arena *arena)
{
    struct buf uri = {.limit = URI_BYTES_MAX};
    const struct template_value *again;
    template_expand(t, values, template_n_names(t), &uri);
    if (!uri.failed && template_match(t, buf_str(&uri), TEMPLATE_EXACT, arena, &again) != 0) {
        /* only where several values share a run can cutting go another way */
        if (template_n_names(t) == 1 && values[0].n_items == 1 && values[0].items[0].n)
            abort();
    }
    buf_done(&uri);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str uri = {(const char *)data, (uint32_t)size};
    struct str text = str_cut(&uri, '\n');
    struct arena arena;
    const struct template *t;
    const struct template_value *values;
    struct template_fault fault;
    arena_init(&arena, 0);
    if (!uri.p)
        uri = STR("");
    if (template_parse(text, &arena, &t, &fault) == 0 &&
        template_match(t, uri, TEMPLATE_EXACT, &arena, &values) == 0)
        match_again(t, values, &arena);
    arena_done(&arena);
    return 0;
}
