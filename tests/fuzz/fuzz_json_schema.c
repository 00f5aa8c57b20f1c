/* tests/fuzz/fuzz_json_schema.c - a schema on the first line, a value behind it. What is refused
 * must say where and why; what compiles must judge the value the same way aloud and quietly, and
 * itself too. A first byte of '7' before the schema: draft-07. */
#include "base/err.h"
#include "schema/json_schema.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tape_node *open_copy(struct str text, struct arena *arena)
{
    const struct tape_node *tape;
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return NULL;
    if (text.n)
        memcpy(copy, text.p, text.n);
    return tape_open((struct str){copy, text.n}, arena, &tape, NULL) == 0 ? tape : NULL;
}

static void must_explain(int err, const struct schema_faults *faults)
{
    if (err == ERR_PARAMS && (faults->n == 0 || faults->n > SCHEMA_FAULTS_MAX))
        abort();
    if (err == ERR_LIMIT && faults->n != 1)
        abort();
    if (err != 0 && err != ERR_PARAMS && err != ERR_LIMIT && err != ERR_NO_MEMORY)
        abort();
    for (uint32_t i = 0; err && err != ERR_NO_MEMORY && i < faults->n; i++)
        if (!faults->v[i].keyword || !memchr(faults->v[i].pointer, 0, JSON_POINTER_BYTES) ||
            (faults->v[i].pointer[0] && faults->v[i].pointer[0] != '/'))
            abort();
}

static void judge(const struct json_schema *schema, const struct tape_node *value)
{
    struct schema_faults faults;
    struct buf text = {0};
    int err = json_schema_check(schema, value, &faults);
    must_explain(err, &faults);
    int quiet = json_schema_check(schema, value, NULL);
    /* the quiet one stops earlier, so it may know before a limit is met */
    if (quiet != err && err != ERR_LIMIT && quiet != ERR_LIMIT)
        abort();
    if (err == ERR_PARAMS)
        schema_faults_write(&faults, "/params", &text);
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_schema_options options = {JSON_SCHEMA_2020_12, true};
    struct schema_faults faults;
    struct arena arena;
    const struct json_schema *schema;
    if (size && data[0] == '7') {
        options.dialect = JSON_SCHEMA_DRAFT_07;
        data++;
        size--;
    }
    struct str rest = {(const char *)data, (uint32_t)size};
    struct str text = size ? str_cut(&rest, '\n') : STR("");
    arena_init(&arena, 0);
    const struct tape_node *document = open_copy(text, &arena);
    const struct tape_node *value = rest.p ? open_copy(rest, &arena) : NULL;
    int err = document ? json_schema_compile(document, &options, &arena, &schema, &faults) : -1;
    if (document)
        must_explain(err, &faults);
    if (err == 0)
        judge(schema, document);
    if (err == 0 && value)
        judge(schema, value);
    arena_done(&arena);
    return 0;
}
