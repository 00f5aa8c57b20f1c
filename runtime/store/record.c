/* store/record.c - see record.h. */
#include "store/record.h"

#include "base/err.h"

#include <string.h>

void record_begin(struct buf *out, uint32_t n)
{
    buf_clear(out);
    cbor_write_array(n + 1, out);
    cbor_write_int(RECORD_FORMAT, out);
}

static int check_format(const struct tape_node *array)
{
    if (array[0].kind != TAPE_ARRAY || array[0].n == 0 || array[1].kind != TAPE_INT)
        return ERR_STORE_DAMAGED;
    return array[1].v.i == RECORD_FORMAT ? 0 : ERR_STORE_FORMAT;
}

static bool fits(char letter, const struct tape_node *node)
{
    return letter == '*' || node->kind == (letter == 'i' ? TAPE_INT : TAPE_STR);
}

int record_read(struct str value, const char *pattern, struct arena *arena,
                const struct tape_node **ret_fields)
{
    const struct tape_node *array;
    int err = cbor_read_tape(value, arena, &array);
    if (!err)
        err = check_format(array);
    if (!err && array->n != strlen(pattern) + 1)
        err = ERR_STORE_DAMAGED;
    if (err)
        return err;
    const struct tape_node *node = array + 2;
    for (uint32_t i = 0; pattern[i]; i++) {
        if (!fits(pattern[i], node))
            return ERR_STORE_DAMAGED;
        ret_fields[i] = node;
        node += node->kind >= TAPE_ARRAY ? node->v.size : 1;
    }
    return 0;
}

int record_first_int(struct str value, int64_t *ret)
{
    struct tape_node nodes[3];
    int err = cbor_read_front(value, 3, nodes);
    if (!err)
        err = check_format(nodes);
    if (!err && nodes[2].kind != TAPE_INT)
        err = ERR_STORE_DAMAGED;
    if (!err)
        *ret = nodes[2].v.i;
    return err;
}

struct str record_str(const struct tape_node *field)
{
    return (struct str){field->v.s, field->n};
}
