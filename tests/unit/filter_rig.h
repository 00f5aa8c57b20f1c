/* tests/unit/filter_rig.h - rows and columns from JSON text, for the tests of filter and plan. */
#ifndef FILTER_RIG_H
#define FILTER_RIG_H

#include "base/err.h"
#include "schema/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(a) (sizeof(a) / sizeof *(a))

static struct arena rig_arena;

static inline int rig_start(void **state)
{
    (void)state;
    arena_init(&rig_arena, 64u << 20);
    return 0;
}

static inline int rig_stop(void **state)
{
    (void)state;
    arena_done(&rig_arena);
    return 0;
}

static inline const struct tape_node *rig_tape(const char *json)
{
    struct str text = str_of(json);
    const struct tape_node *tape = NULL;
    struct wire_fault fault;
    char *copy = arena_zalloc(&rig_arena, (size_t)text.n + JSON_PADDING_BYTES);
    assert_non_null(copy);
    memcpy(copy, text.p, text.n);
    if (tape_open((struct str){copy, text.n}, &rig_arena, &tape, &fault) < 0)
        fail_msg("not JSON at %u: %s", fault.offset, json);
    return tape;
}

static inline struct filter_columns rig_columns(const char *schema)
{
    struct filter_columns columns;
    assert_int_equal(filter_columns_from_schema(rig_tape(schema), &rig_arena, &columns), 0);
    return columns;
}

static inline const struct filter *rig_filter(const struct filter_columns *columns,
                                              const char *text)
{
    const struct filter *filter = NULL;
    struct filter_fault fault = {0};
    int err = filter_compile(str_of(text), columns, &rig_arena, &filter, &fault);
    if (err < 0) {
        struct buf why = {0};
        filter_fault_write(&fault, &why);
        fail_msg("%s: %s: " STR_FMT, text, err_name(err), STR_ARG(buf_str(&why)));
    }
    return filter;
}

/* The canonical text, NUL-terminated, in the arena. */
static inline const char *rig_canonical(const struct filter *filter)
{
    struct buf text = {0};
    filter_canonical(filter, &text);
    buf_add_char(&text, '\0');
    struct str s = arena_buf(&rig_arena, &text);
    buf_done(&text);
    assert_non_null(s.p);
    return s.p;
}

#endif
