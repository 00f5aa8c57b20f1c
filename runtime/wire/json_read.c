/* wire/json_read.c - the table interpreter: text to struct, by the generator's tables.
 *
 * One function per kind, picked by table; `out` is where the value goes, or NULL when only the
 * verdict is wanted. Member names are not looked up but guessed: clients write the members of a
 * message in the same order every time, so the row that followed this one last time is compared
 * first, as two masked words on the raw text; only a wrong guess is hashed. The guesses live in a
 * small array per thread; two rows that share a place there cost time, never correctness.
 *
 * Unions are parsed by the rows of all their alternatives at once, then one alternative is chosen:
 * json_union.c.
 */
#include "wire/json_interpret.h"

#include "base/err.h"
#include "base/key_hash.h"
#include "wire/key_set.h"
#include "wire/layout.h"

#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the key words of the tables");

#define KEY_RAW_MAX (6 * 255) /* bytes of the longest name of a table, all of it escaped */

static const char *read_value(struct reader *r, const char *p, const struct wire_type *t,
                              char *out);

/* ---- objects -------------------------------------------------------------------------------- */

#define HINTS 8192
static __thread uint8_t hints[HINTS];

static inline uint8_t *hint_behind(const void *row_or_message)
{
    return &hints[(uintptr_t)row_or_message >> 4 & (HINTS - 1)];
}

static inline uint64_t load64(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static inline uint64_t low_bytes(unsigned n) /* 1 to 8 */
{
    return UINT64_MAX >> (64 - 8 * n);
}

/* Does `key":` stand at p? */
static inline bool is_row_at(const struct wire_row *row, const char *p)
{
    unsigned n = row->key_len + 2u;
    if (n <= 8)
        return ((load64(p) ^ row->w0) & low_bytes(n)) == 0;
    if (load64(p) != row->w0)
        return false;
    if (n <= 16)
        return ((load64(p + 8) ^ row->w1) & low_bytes(n - 8)) == 0;
    return load64(p + 8) == row->w1 && memcmp(p + 16, row->name + 17, n - 16) == 0;
}

static const struct wire_row *find_row(const struct wire_message *m, const char *key, size_t n)
{
    if (!m->hash_index)
        return NULL;
    unsigned number =
        m->hash_index[key_hash_slot(key_hash(key, n), m->hash_multiplier, m->hash_bits)];
    if (number == 0)
        return NULL;
    const struct wire_row *row = &m->rows[number - 1];
    return row->key_len == n && memcmp(row->name + 1, key, n) == 0 ? row : NULL;
}

/* The guess was wrong: any member name, escaped or not, blanks before the colon or not. */
const char *wire_read_key(struct reader *r, const char *p, const struct wire_message *m,
                          const struct wire_row **ret_row)
{
    char decoded[KEY_RAW_MAX];
    const char *key, *end;
    bool escaped;
    p = scan_key(&r->scan, p, &key, &end, &escaped);
    if (!p)
        return NULL;
    size_t n = (size_t)(end - key);
    if (escaped && n <= sizeof decoded) {
        n = scan_decode(key, end, decoded);
        key = decoded;
    }
    *ret_row = find_row(m, key, n);
    return p;
}

/* p at a member's opening quote. Returns the position of the value; *ret is NULL for a name that
 * the table does not have. */
static inline const char *read_key(struct reader *r, const char *p, const struct wire_message *m,
                                   uint8_t **hint, const struct wire_row **ret)
{
    unsigned guess = **hint;
    const struct wire_row *row = guess < m->n_rows ? &m->rows[guess] : NULL;
    if (row && *p == '"' && is_row_at(row, p + 1)) {
        p = scan_blanks(p + row->key_len + 3);
    } else {
        p = wire_read_key(r, p, m, &row);
        if (p && row)
            **hint = (uint8_t)(row - m->rows);
    }
    *ret = row;
    if (row)
        *hint = hint_behind(row);
    return p;
}

static struct str key_of(const struct wire_row *row)
{
    return (struct str){row->name + 1, row->key_len};
}

/* The value of a known member. */
static inline const char *read_member(struct reader *r, const char *p, const struct wire_row *row,
                                      uint64_t *has, char *out)
{
    uint64_t bit = UINT64_C(1) << row->bit;
    const char *end;
    if (*has & bit)
        end = scan_fail(&r->scan, p, WIRE_DUPLICATE, "one member of this name");
    else
        end = read_value(r, p, &row->type, out ? out + row->offset : NULL);
    *has |= bit;
    if (!end)
        scan_within_key(r->scan.fault, key_of(row));
    return end;
}

COLD static const char *missing_member(struct reader *r, const char *p,
                                       const struct wire_message *m, uint64_t missing)
{
    scan_fail(&r->scan, p, WIRE_REQUIRED, "this member");
    for (unsigned i = 0; i < m->n_rows; i++)
        if (missing >> m->rows[i].bit & 1) {
            scan_within_key(r->scan.fault, key_of(&m->rows[i]));
            break;
        }
    return NULL;
}

/* p behind the opening brace; returns the position of the closing one. */
static inline const char *read_members(struct reader *r, const char *p,
                                       const struct wire_message *m, uint64_t *has, char *out)
{
    uint8_t *hint = hint_behind(m);
    p = scan_blanks(p);
    if (*p == '}')
        return p;
    for (;; p++) {
        const struct wire_row *row;
        p = read_key(r, scan_blanks(p), m, &hint, &row);
        if (p)
            p = row ? read_member(r, p, row, has, out) : scan_value(&r->scan, p);
        if (!p)
            return NULL;
        p = scan_blanks(p);
        if (*p != ',')
            break;
    }
    return *p == '}' ? p : scan_fail(&r->scan, p, WIRE_SYNTAX, "',' or '}'");
}

const char *wire_read_object(struct reader *r, const char *p, const struct wire_message *m,
                             char *out)
{
    uint64_t has = 0;
    if (m->variants)
        return union_read(r, p, m, out);
    if (*p != '{')
        return wire_wrong_type(r, p, "object");
    if (!scan_enter(&r->scan, p))
        return NULL;
    const char *end = read_members(r, p + 1, m, &has, out);
    if (!end)
        return NULL;
    r->scan.depth--;
    if (m->required & ~has)
        return missing_member(r, p, m, m->required & ~has);
    if (out)
        *(uint64_t *)out = has;
    return end + 1;
}

const char *wire_read_object_pointer(struct reader *r, const char *p, const struct wire_type *t,
                                     char *out)
{
    const struct wire_message *m = t->of.message;
    if (!out)
        return wire_read_object(r, p, m, NULL);
    char *object = arena_zalloc(r->arena, m->size);
    if (!object)
        return wire_no_memory(r, p);
    *(char **)out = object;
    return wire_read_object(r, p, m, object);
}

/* ---- containers ----------------------------------------------------------------------------- */

static inline const char *read_one(struct reader *r, const char *p, const struct wire_type *t,
                                   char *out)
{
    if (t->kind == WIRE_STR)
        return wire_read_str(r, p, t, out);
    return wire_read_kind[t->kind](r, p, t, out);
}

static const char *read_element(struct reader *r, const char *p, const struct wire_type *t,
                                char *out)
{
    if (t->kind == WIRE_OBJECT)
        return wire_read_object(r, p, t->of.message, out);
    return read_one(r, p, t, out);
}

/* Makes room for one more element of `size` bytes and returns it zeroed; NULL: no memory. */
static char *add_element(struct reader *r, struct wire_list *list, uint32_t *cap, size_t size)
{
    if (list->n == *cap) {
        uint32_t more = *cap ? *cap * 2 : 4;
        char *v = arena_array(r->arena, more, size);
        if (!v)
            return NULL;
        if (list->n)
            memcpy(v, list->v, list->n * size);
        list->v = v;
        *cap = more;
    }
    return memset(list->v + list->n++ * size, 0, size);
}

COLD static const char *too_many(struct reader *r, const char *p, unsigned max)
{
    char expected[32];
    snprintf(expected, sizeof expected, "at most %u items", max);
    return scan_fail(&r->scan, p, WIRE_ITEMS, expected);
}

/* p behind the opening bracket; returns the position of the closing one. */
static const char *read_items(struct reader *r, const char *p, const struct wire_type *t,
                              struct wire_list *list, bool store)
{
    size_t size = wire_element_size(t);
    uint32_t cap = 0, n = 0;
    p = scan_blanks(p);
    if (*p == ']')
        return p;
    for (;; p++, n++) {
        char *element = NULL;
        p = scan_blanks(p);
        if (t->max_items && n == t->max_items)
            return too_many(r, p, t->max_items);
        if (store && !(element = add_element(r, list, &cap, size)))
            return wire_no_memory(r, p);
        p = read_element(r, p, t, element);
        if (!p) {
            scan_within_item(r->scan.fault, n);
            return NULL;
        }
        p = scan_blanks(p);
        if (*p != ',')
            break;
    }
    return *p == ']' ? p : scan_fail(&r->scan, p, WIRE_SYNTAX, "',' or ']'");
}

static const char *read_array(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    struct wire_list list = {NULL, 0};
    if (*p != '[')
        return wire_wrong_type(r, p, "array");
    if (!scan_enter(&r->scan, p))
        return NULL;
    p = read_items(r, p + 1, t, &list, out != NULL);
    if (!p)
        return NULL;
    r->scan.depth--;
    if (out)
        *(struct wire_list *)out = list;
    return p + 1;
}

static const char *read_many(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    if (*p == '[' && t->max_items != 1)
        return read_array(r, p, t, out);
    if (!out)
        return read_element(r, p, t, NULL);
    struct wire_list list = {NULL, 0};
    uint32_t cap = 0;
    char *element = add_element(r, &list, &cap, wire_element_size(t));
    if (!element)
        return wire_no_memory(r, p);
    *(struct wire_list *)out = list;
    return read_element(r, p, t, element);
}

/* The name of a map's entry, decoded, and that it is the first of this name. */
static const char *read_map_key(struct reader *r, const char *p, struct key_set *seen,
                                struct str *ret)
{
    const char *key, *end;
    bool escaped;
    const char *value = scan_key(&r->scan, p, &key, &end, &escaped);
    if (!value)
        return NULL;
    struct str name = {key, (uint32_t)(end - key)};
    if (escaped) {
        char *copy = arena_alloc(r->arena, (size_t)name.n + 1);
        if (!copy)
            return wire_no_memory(r, p);
        name = (struct str){copy, scan_decode(key, end, copy)};
    }
    *ret = name;
    int added = key_set_add(seen, name);
    if (added < 0)
        return wire_no_memory(r, p);
    if (added)
        return value;
    scan_fail(&r->scan, value, WIRE_DUPLICATE, "one member of this name");
    scan_within_key(r->scan.fault, name);
    return NULL;
}

static const char *read_entry(struct reader *r, const char *p, const struct wire_type *t,
                              struct key_set *seen, char *entry)
{
    struct str key;
    p = read_map_key(r, p, seen, &key);
    if (!p)
        return NULL;
    if (entry)
        *(struct str *)entry = key;
    p = read_one(r, p, t, entry ? entry + sizeof(struct str) : NULL);
    if (!p)
        scan_within_key(r->scan.fault, key);
    return p;
}

static const char *read_entries(struct reader *r, const char *p, const struct wire_type *t,
                                struct key_set *seen, struct wire_list *list, bool store)
{
    size_t size = wire_entry_size(t);
    uint32_t cap = 0;
    p = scan_blanks(p);
    if (*p == '}')
        return p;
    for (;; p++) {
        char *entry = NULL;
        p = scan_blanks(p);
        if (store && !(entry = add_element(r, list, &cap, size)))
            return wire_no_memory(r, p);
        p = read_entry(r, p, t, seen, entry);
        if (!p)
            return NULL;
        p = scan_blanks(p);
        if (*p != ',')
            break;
    }
    return *p == '}' ? p : scan_fail(&r->scan, p, WIRE_SYNTAX, "',' or '}'");
}

static const char *read_map(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    struct wire_list list = {NULL, 0};
    struct key_set seen;
    key_set_init(&seen);
    if (*p != '{')
        return wire_wrong_type(r, p, "object");
    if (!scan_enter(&r->scan, p))
        return NULL;
    p = read_entries(r, p + 1, t, &seen, &list, out != NULL);
    key_set_done(&seen);
    if (!p)
        return NULL;
    r->scan.depth--;
    if (out)
        *(struct wire_list *)out = list;
    return p + 1;
}

static const char *read_value(struct reader *r, const char *p, const struct wire_type *t, char *out)
{
    static const read_fn read_container[] = {
        [WIRE_ONE] = read_one,
        [WIRE_ARRAY] = read_array,
        [WIRE_MANY] = read_many,
        [WIRE_MAP] = read_map,
    };
    if (t->container == WIRE_ONE)
        return read_one(r, p, t, out);
    return read_container[t->container](r, p, t, out);
}

/* ---- the top -------------------------------------------------------------------------------- */

static bool is_struct(const struct wire_type *type)
{
    return type->kind == WIRE_OBJECT && type->container == WIRE_ONE;
}

/* A text that is not JSON at all is told so, whatever misfit came before the bad byte. */
COLD static int verdict(struct reader *r, struct str text)
{
    struct wire_fault fault;
    struct str value;
    int err = scan_error(r->scan.fault);
    if (err == ERR_PARAMS && wire_skip(text, &value, NULL, &fault) != 0) {
        *r->scan.fault = fault;
        err = scan_error(&fault);
    }
    return err;
}

static int read_text_by(struct reader *r, const struct wire_type *type, struct str text, char *out,
                        struct wire_fault *fault)
{
    struct wire_fault spare;
    const char *p = scan_begin(&r->scan, text, fault, &spare);
    if (p)
        p = is_struct(type) ? wire_read_object(r, p, type->of.message, out)
                            : read_value(r, p, type, out);
    if (p && scan_finish(&r->scan, p))
        return 0;
    return verdict(r, text);
}

int wire_parse_known(const struct wire_type *type, struct str text, const struct str *known,
                     uint32_t n_known, struct arena *arena, void *ret, struct wire_fault *fault)
{
    struct reader r = {.arena = arena, .scan = {.known = known, .n_known = n_known}};
    size_t size = wire_value_size(type);
    memset(ret, 0, size);
    int err = read_text_by(&r, type, text, ret, fault);
    if (err)
        memset(ret, 0, size);
    return err;
}

int wire_parse(const struct wire_type *type, struct str text, struct arena *arena, void *ret,
               struct wire_fault *fault)
{
    return wire_parse_known(type, text, NULL, 0, arena, ret, fault);
}

int wire_check(const struct wire_type *type, struct str text, struct wire_fault *fault)
{
    struct arena scratch;
    struct reader r = {.arena = &scratch};
    arena_init(&scratch, 0);
    int err = read_text_by(&r, type, text, NULL, fault);
    arena_done(&scratch);
    return err;
}
