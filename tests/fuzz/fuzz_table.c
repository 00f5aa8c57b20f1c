/* tests/fuzz/fuzz_table.c - the definition of a table on the first line, a row (JSON) behind it. Of
 * a definition that is taken all schemas of tools can be used; a row that an import takes, as it is
 * then shown to clients, fits the output schema and has nothing hidden, and is taken again. */
#include "base/arena.h"
#include "base/err.h"
#include "core/row_prepare.h"
#include "core/table_tools.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tape_node *open_json(struct str text, struct arena *arena)
{
    const struct tape_node *tape;
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        abort();
    if (text.n)
        memcpy(copy, text.p, text.n);
    return tape_open((struct str){copy, text.n}, arena, &tape, NULL) == 0 ? tape : NULL;
}

static const struct json_schema *compile(const struct buf *text, struct arena *arena)
{
    const struct tape_node *tape = open_json(buf_str(text), arena);
    const struct json_schema *schema;
    struct schema_faults faults;
    return tape && json_schema_compile(tape, NULL, arena, &schema, &faults) == 0 ? schema : NULL;
}

static void compile_tools(const struct table *t, struct arena *arena)
{
    const struct search_limits limits = {100, 1000};
    for (int verb = 0; verb < VERB_N; verb++) {
        struct buf text = {0};
        verb_write_input((enum table_verb)verb, t, &limits, &text);
        compile(&text, arena); /* may meet a limit that the table alone does not */
        buf_clear(&text);
        verb_write_output((enum table_verb)verb, t, &text);
        compile(&text, arena);
        buf_done(&text);
    }
}

static void check_shown(const struct table *t, const struct tape_node *row, struct arena *arena)
{
    struct buf text = {0};
    verb_write_output(VERB_GET, t, &text);
    const struct json_schema *schema = compile(&text, arena);
    buf_clear(&text);
    table_write_row(t, row, 1, NULL, &text);
    const struct tape_node *shown = open_json(buf_str(&text), arena);
    buf_done(&text);
    if (!shown)
        abort();
    tape_each (shown, name, value)
        if (table_is_hidden(t, tape_str(name)))
            abort();
    if (schema && json_schema_check(schema, shown, NULL) == ERR_PARAMS)
        abort();
}

static void try_row(const struct table *t, const struct tape_node *given, struct arena *arena)
{
    struct schema_faults faults = {0};
    const struct tape_node *row, *again;
    struct str key, key_again;
    if (table_prepare_row(t, given, arena, &row, &key, &faults) < 0)
        return;
    check_shown(t, row, arena);
    if (table_prepare_row(t, row, arena, &again, &key_again, &faults) < 0 ||
        !str_eq(key, key_again) || !tape_equal(row, again))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *end = size ? memchr(data, '\n', size) : NULL;
    struct str definition = {(const char *)data,
                             (uint32_t)(end ? end - (const char *)data : (long)size)};
    struct arena arena;
    struct table t;
    struct schema_faults faults = {0};
    if (size > 1 << 14)
        return 0;
    arena_init(&arena, 0);
    if (table_parse(definition, &arena, &t, &faults) == 0) {
        compile_tools(&t, &arena);
        const struct tape_node *given =
            end ? open_json((struct str){end + 1, (uint32_t)(size - definition.n - 1)}, &arena)
                : NULL;
        if (given)
            try_row(&t, given, &arena);
    }
    arena_done(&arena);
    return 0;
}
