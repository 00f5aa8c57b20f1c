/* wire/layout.c - see layout.h. */
#include "wire/layout.h"

static size_t size_of_kind(const struct wire_type *t)
{
    static const uint8_t sizes[] = {
        [WIRE_STR] = sizeof(struct str),   [WIRE_INT] = sizeof(int64_t),
        [WIRE_NUM] = sizeof(double),       [WIRE_BOOL] = sizeof(bool),
        [WIRE_ENUM] = sizeof(int32_t),     [WIRE_CONST] = 0,
        [WIRE_TOKEN] = sizeof(struct str), [WIRE_RAW] = sizeof(struct str),
        [WIRE_OBJECT] = sizeof(void *),
    };
    return sizes[t->kind];
}

size_t wire_element_size(const struct wire_type *t)
{
    return t->kind == WIRE_OBJECT ? t->of.message->size : size_of_kind(t);
}

size_t wire_entry_size(const struct wire_type *t)
{
    return (sizeof(struct str) + size_of_kind(t) + 7) & ~(size_t)7;
}

size_t wire_value_size(const struct wire_type *t)
{
    if (t->container != WIRE_ONE)
        return sizeof(struct wire_list);
    return wire_element_size(t);
}
