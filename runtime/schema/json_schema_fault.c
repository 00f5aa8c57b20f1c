/* schema/json_schema_fault.c - what is wrong, where, and what was expected.
 *
 * A fault names a node of a tape; its pointer is found by walking down from the root, so that
 * nobody keeps a path while all is well. The list is sorted by place as it grows, because keywords
 * are looked at in another order than the document's. */
#include "schema/json_schema_parts.h"

#include "base/err.h"
#include "wire/json_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- one fault ------------------------------------------------------------------------------ */

static size_t escape_segment(struct str s, char *out, size_t room)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s.n && n + 2 < room; i++) {
        bool special = s.p[i] == '~' || s.p[i] == '/';
        if (special)
            out[n++] = '~';
        out[n++] = (char)(s.p[i] == '~' ? '0' : s.p[i] == '/' ? '1' : s.p[i]);
    }
    return n;
}

static void cut_at_character(char *text, size_t n)
{
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    memcpy(text + n, "...", 4);
}

static bool is_cut(const char *text)
{
    size_t n = strlen(text);
    return n >= 3 && strcmp(text + n - 3, "...") == 0;
}

void schema_fault_within(struct schema_fault *fault, struct str segment)
{
    char text[2 * JSON_POINTER_BYTES];
    size_t n = escape_segment(segment, text, sizeof text), old = strlen(fault->pointer);
    size_t room = sizeof fault->pointer - 1 - old;
    if (room == 0 || (old + 8 >= sizeof fault->pointer && is_cut(fault->pointer)))
        return;
    fault->pointer[old] = '/';
    memcpy(fault->pointer + old + 1, text, n < room ? n : room - 1);
    fault->pointer[n < room ? old + 1 + n : sizeof fault->pointer - 1] = '\0';
    if (n >= room)
        cut_at_character(fault->pointer, sizeof fault->pointer - 4);
}

static int set(struct schema_fault *fault, const char *keyword, const char *fmt, va_list args)
{
    fault->keyword = keyword;
    int n = vsnprintf(fault->expected, sizeof fault->expected, fmt, args);
    if (n >= (int)sizeof fault->expected)
        cut_at_character(fault->expected, sizeof fault->expected - 4);
    return ERR_PARAMS;
}

int schema_fault_set(struct schema_fault *fault, const char *keyword, const char *expected_fmt, ...)
{
    va_list args;
    va_start(args, expected_fmt);
    int err = set(fault, keyword, expected_fmt, args);
    va_end(args);
    return err;
}

/* ---- where ---------------------------------------------------------------------------------- */

static bool holds(const struct tape_node *node, const struct tape_node *target)
{
    return target >= node && target < tape_next(node);
}

/* One step down: the child that holds the target, its segment appended. */
static const struct tape_node *step(const struct tape_node *at, const struct tape_node *target,
                                    struct schema_fault *fault)
{
    char digits[16];
    if (at->kind == TAPE_OBJECT) {
        tape_each (at, key, value) {
            if (key != target && !holds(value, target))
                continue;
            schema_fault_within(fault, tape_str(key));
            return key == target ? key : value;
        }
        return NULL;
    }
    const struct tape_node *item = at + 1;
    for (uint32_t i = 0; i < at->n; i++, item = tape_next(item)) {
        if (!holds(item, target))
            continue;
        snprintf(digits, sizeof digits, "%u", i);
        schema_fault_within(fault, str_of(digits));
        return item;
    }
    return NULL;
}

void schema_fault_locate(struct schema_fault *fault, const struct tape_node *root,
                         const struct tape_node *target)
{
    fault->pointer[0] = '\0';
    while (root && root != target && root->kind >= TAPE_ARRAY)
        root = step(root, target, fault);
}

/* ---- many faults ---------------------------------------------------------------------------- */

static bool is_known(const struct schema_faults *faults, const struct schema_fault *fault)
{
    for (uint32_t i = 0; i < faults->n; i++)
        if (strcmp(faults->v[i].pointer, fault->pointer) == 0 &&
            strcmp(faults->v[i].keyword, fault->keyword) == 0 &&
            strcmp(faults->v[i].expected, fault->expected) == 0)
            return true;
    return false;
}

/* Behind all that do not stand later in the document; the last one falls out of a full list. */
static void insert(struct fault_list *list, uint32_t at, const struct schema_fault *fault)
{
    struct schema_faults *faults = list->faults;
    uint32_t i = faults->n, last = SCHEMA_FAULTS_MAX - 1;
    while (i && list->at[i - 1] > at)
        i--;
    if (i > last || is_known(faults, fault))
        return;
    uint32_t n_moved = (faults->n > last ? last : faults->n) - i;
    memmove(&faults->v[i + 1], &faults->v[i], n_moved * sizeof *fault);
    memmove(&list->at[i + 1], &list->at[i], n_moved * sizeof at);
    faults->v[i] = *fault;
    list->at[i] = at;
    faults->n += faults->n <= last;
}

void fault_add(struct fault_list *list, const struct tape_node *node, struct str member,
               const char *keyword, const char *expected_fmt, ...)
{
    struct schema_fault fault;
    uint32_t at = (uint32_t)(node - list->root);
    if (!list->faults)
        return;
    if (list->faults->n == SCHEMA_FAULTS_MAX && at >= list->at[SCHEMA_FAULTS_MAX - 1])
        return;
    schema_fault_locate(&fault, list->root, node);
    if (member.p)
        schema_fault_within(&fault, member);
    va_list args;
    va_start(args, expected_fmt);
    set(&fault, keyword, expected_fmt, args);
    va_end(args);
    insert(list, at, &fault);
}

void fault_value_text(const struct tape_node *value, char *out, size_t size)
{
    struct buf text = {.limit = 4096};
    size_t n = strlen(out);
    tape_write(value, &text); /* a long text fails; what fits is there */
    if (text.failed && text.n == 0)
        snprintf(out + n, size - n, "...");
    else
        snprintf(out + n, size - n, STR_FMT, (int)text.n, text.p ? text.p : "");
    buf_done(&text);
}

void schema_faults_write(const struct schema_faults *faults, const char *prefix, struct buf *out)
{
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < faults->n; i++) {
        const struct schema_fault *fault = &faults->v[i];
        char pointer[2 * JSON_POINTER_BYTES];
        snprintf(pointer, sizeof pointer, "%s%s", prefix, fault->pointer);
        buf_add_str(out, i ? STR(",{\"pointer\":") : STR("{\"pointer\":"));
        json_write_str(out, str_of(pointer));
        buf_add_lit(out, ",\"keyword\":");
        json_write_str(out, str_of(fault->keyword));
        buf_add_lit(out, ",\"expected\":");
        json_write_str(out, str_of(fault->expected));
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}
