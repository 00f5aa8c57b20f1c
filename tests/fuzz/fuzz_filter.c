/* tests/fuzz/fuzz_filter.c - a filter on the first line, a row (JSON) behind it. A filter that
 * compiles has a canonical text that compiles to itself and finds the same; a row that it finds
 * lies within its bounds; and a row as the object shorthand is refused or compiles. */
#include "base/arena.h"
#include "base/limits.h"
#include "schema/filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char schema[] =
    "{\"properties\":{\"i\":{\"type\":\"integer\"},\"x\":{\"type\":\"number\"},"
    "\"s\":{\"type\":\"string\"},\"b\":{\"type\":\"boolean\"},"
    "\"d\":{\"type\":\"string\",\"format\":\"date\"},"
    "\"t\":{\"type\":\"string\",\"format\":\"date-time\"},\"l\":{\"type\":\"array\"},\"a\":{},"
    "\"o\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"integer\"}}},"
    "\"odd name\":{\"type\":\"string\"}}}";

static const struct tape_node *open_json(const void *text, size_t n, struct arena *arena)
{
    const struct tape_node *tape;
    char *copy = arena_zalloc(arena, n + JSON_PADDING_BYTES);
    if (!copy)
        abort();
    if (n)
        memcpy(copy, text, n);
    return tape_open((struct str){copy, (uint32_t)n}, arena, &tape, NULL) == 0 ? tape : NULL;
}

static const struct filter *compile_again(const struct filter *filter,
                                          const struct filter_columns *columns, struct arena *arena)
{
    struct buf text = {0}, second = {0};
    const struct filter *again;
    filter_canonical(filter, &text);
    if (text.n > FILTER_BYTES_MAX) { /* datetime '...' is longer than what was written */
        buf_done(&text);
        return filter;
    }
    if (filter_compile(buf_str(&text), columns, arena, &again, NULL) != 0)
        abort();
    filter_canonical(again, &second);
    if (!str_eq(buf_str(&text), buf_str(&second)))
        abort();
    buf_done(&text);
    buf_done(&second);
    return again;
}

static void check_bounds(const struct filter *filter, const struct tape_node *row)
{
    struct filter_range r;
    const struct tape_node *i = tape_get(row, STR("i"));
    if (!filter_bounds(filter, STR("i"), &r))
        return;
    if (r.empty || (r.not_null && (!i || i->kind == TAPE_NULL)))
        abort();
    if (r.has_lower && filter_compare_nodes(i, &r.lower) < r.lower_strict)
        abort();
    if (r.has_upper && filter_compare_nodes(i, &r.upper) > -r.upper_strict)
        abort();
}

static void test(struct str text, const struct tape_node *row, const struct filter_columns *columns,
                 struct arena *arena)
{
    const struct filter *filter;
    struct filter_fault fault;
    struct buf said = {0};
    int err = filter_compile(text, columns, arena, &filter, &fault);
    if (err == 0) {
        const struct filter *again = compile_again(filter, columns, arena);
        if (row && filter_test(filter, row) != filter_test(again, row))
            abort();
        if (row && row->kind == TAPE_OBJECT && filter_test(filter, row))
            check_bounds(filter, row);
    } else {
        filter_fault_write(&fault, &said);
        if (said.n == 0 ||
            (text.n <= FILTER_BYTES_MAX && (fault.column == 0 || fault.column > text.n + 1)))
            abort();
        buf_done(&said);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, (uint32_t)size};
    struct str text = str_cut(&rest, '\n');
    struct arena arena;
    struct filter_columns columns;
    const struct filter *filter;
    struct filter_fault fault;
    arena_init(&arena, 0);
    if (!text.p)
        text = STR("");
    if (filter_columns_from_schema(open_json(schema, strlen(schema), &arena), &arena, &columns))
        abort();
    const struct tape_node *row = rest.p ? open_json(rest.p, rest.n, &arena) : NULL;
    test(text, row, &columns, &arena);
    if (row && row->kind == TAPE_OBJECT)
        filter_from_object(row, &columns, &arena, &filter, &fault);
    arena_done(&arena);
    return 0;
}
