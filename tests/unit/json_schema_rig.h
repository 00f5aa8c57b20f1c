/* tests/unit/json_schema_rig.h - schemas and values from text, in an arena of the test's own. */
#ifndef JSON_SCHEMA_RIG_H
#define JSON_SCHEMA_RIG_H

#include "base/err.h"
#include "schema/json_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static inline int start(void **state)
{
    struct arena *arena = malloc(sizeof *arena);
    arena_init(arena, 64u << 20);
    *state = arena;
    return 0;
}

static inline int stop(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

static inline const struct tape_node *open_str(struct arena *arena, struct str text)
{
    const struct tape_node *tape;
    struct wire_fault fault;
    char *copy = arena_zalloc(arena, text.n + JSON_PADDING_BYTES);
    memcpy(copy, text.p, text.n);
    if (tape_open((struct str){copy, text.n}, arena, &tape, &fault) < 0)
        fail_msg("%s at %s: %.60s", wire_reason_name(fault.reason), fault.pointer, copy);
    return tape;
}

static inline const struct tape_node *open_json(struct arena *arena, const char *text)
{
    return open_str(arena, str_of(text));
}

static inline const struct json_schema *compile(struct arena *arena, const char *text)
{
    const struct json_schema *schema;
    struct schema_faults faults;
    int err = json_schema_compile(open_json(arena, text), NULL, arena, &schema, &faults);
    if (err < 0)
        fail_msg("%.80s: %s at %s %s, expected %s", text, err_name(err), faults.v[0].pointer,
                 faults.v[0].keyword, faults.v[0].expected);
    return schema;
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, start, stop)

#endif
