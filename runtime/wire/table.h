/* wire/table.h - the constant tables that the generator emits and the interpreter reads.
 *
 *   struct wire_type     what a value may be: a kind, a container around it, and its details
 *   struct wire_row      one member of an object: its key, where it lives in the C struct, its type
 *   struct wire_message  one object: its rows, which are required, its variants if it is a union
 *
 * There is one C struct per definition for all protocol revisions (generated/types.h) and one table
 * per revision; a table that says the same in two revisions exists once and is shared by pointer.
 *
 * How a value lies in memory, by kind (kind WIRE_OBJECT is a pointer to the sub-struct):
 *   STR -> struct str (decoded; a view into the input when it held no escape)
 *   INT -> int64_t, NUM -> double, BOOL -> bool, ENUM -> int32_t, CONST -> nothing
 *   TOKEN, RAW -> struct str (raw JSON text, validated; TOKEN is a string or an integer)
 *   OBJECT -> struct mcp_x *
 * and by container:
 *   ONE   -> the value itself
 *   ARRAY -> struct { T *v; uint32_t n; }   (OBJECT: T is the struct itself, inline)
 *   MANY  -> as ARRAY; the text may also be a single value ("one or many")
 *   MAP   -> struct { struct { struct str key; T value; } *v; uint32_t n; }  (OBJECT: T is a
 * pointer)
 * At the top, where wire_parse and wire_write are handed an OBJECT that is ONE, the caller's
 * pointer is to the struct itself (struct mcp_x *), not to a pointer. A CONST has no memory and
 * offset 0. Every object struct begins with `uint64_t has`, whose bit `row.bit` says that the
 * member is present (also of a CONST); a union struct goes on with `int32_t kind` (1-based variant,
 * 0 on writing = choose by `has`).
 */
#ifndef TENON_WIRE_TABLE_H
#define TENON_WIRE_TABLE_H

#include "base/str.h"

enum wire_kind {
    WIRE_STR,
    WIRE_INT,
    WIRE_NUM,
    WIRE_BOOL,
    WIRE_ENUM,
    WIRE_CONST, /* a fixed string or integer, compared and written, not stored */
    WIRE_TOKEN, /* RequestId, ProgressToken */
    WIRE_RAW,   /* any JSON of the allowed types */
    WIRE_OBJECT,
};

enum wire_container { WIRE_ONE, WIRE_ARRAY, WIRE_MANY, WIRE_MAP };

enum wire_format { WIRE_PLAIN, WIRE_URI, WIRE_URI_TEMPLATE, WIRE_BYTE };

/* JSON types that a RAW value may have; INTEGER is a number without a fraction (1.0 and 1e2 are).
 */
enum wire_json_type {
    WIRE_T_NULL = 1,
    WIRE_T_BOOL = 2,
    WIRE_T_INTEGER = 4,
    WIRE_T_NUMBER = 8,
    WIRE_T_STRING = 16,
    WIRE_T_ARRAY = 32,
    WIRE_T_OBJECT = 64,
    WIRE_T_ANY = 127,
};

struct wire_message;

/* Allowed strings of an ENUM: value `values[i]` is `names[i]`, sorted by name. */
struct wire_enum {
    const struct str *names;
    const int32_t *values; /* numbers of the C enum, the same in every revision */
    uint16_t n;
};

struct wire_range {
    double min, max; /* inclusive; -HUGE_VAL, HUGE_VAL: none. For INT and NUM */
};

struct wire_type {
    uint8_t kind;       /* enum wire_kind */
    uint8_t container;  /* enum wire_container */
    uint8_t format;     /* enum wire_format, of STR */
    uint8_t types;      /* RAW: allowed enum wire_json_type */
    uint8_t items;      /* RAW that is an array: allowed types of its members; 0: any */
    uint16_t max_items; /* ARRAY and MANY; 0: no limit */
    union {
        const struct wire_message *message; /* OBJECT */
        const struct wire_enum *choices;    /* ENUM */
        const struct wire_range *range;     /* INT, NUM; may be NULL */
        const char *literal; /* CONST: JSON text, "\"text\"" or "-32020"; NULL: see wire_variant */
    } of;
};

struct wire_row {
    uint64_t w0, w1;  /* first 16 bytes of `key":` little-endian, zero behind */
    const char *name; /* `"key":`, as written; the key is name + 1, key_len bytes */
    uint16_t offset;  /* of the member in the struct */
    uint8_t key_len;
    uint8_t bit; /* in `has` */
    struct wire_type type;
};

/* One alternative of a union. Parsing reads all members by the union's merged rows, then takes the
 * first variant whose `present` members are all there, whose `absent` ones are not, and whose
 * `fixed_bit` member holds `fixed_literal`. `present` holds what the alternative requires. The
 * merged row of a fixed member is a CONST with a NULL literal (any string or number; the variants
 * judge it, `kind` remembers it), or a STR, ENUM or RAW when the text is wanted too. Writing takes
 * the merged rows too, and writes the fixed member from the variant.
 */
struct wire_variant {
    const char *name;
    uint64_t present; /* mask over `has` */
    uint64_t absent;
    const char *fixed_literal; /* JSON text that the member `fixed_bit` must hold, NULL: none */
    uint8_t fixed_bit;
    /* NULL, or the alternative's own table, when it is narrower than the merged rows. Used to check
     * the text a second time, never to store, so its offsets and bits may be those of another
     * struct. */
    const struct wire_message *message;
};

struct wire_message {
    const char *name; /* of the definition, for messages */
    const struct wire_row *rows;
    const struct wire_variant *variants; /* NULL: not a union */
    const uint8_t *hash_index; /* 1 << hash_bits slots: row number + 1, or 0; NULL: no rows */
    uint64_t required;         /* mask over `has` (of a union: in all variants) */
    uint32_t hash_multiplier;  /* see base/key_hash.h */
    uint16_t size;             /* of the struct, bytes */
    uint8_t n_rows;
    uint8_t n_variants;
    uint8_t hash_bits; /* at least 1 if there are rows */
};

/* A definition of the schema in one revision, by its name there. */
struct wire_definition {
    const char *name;
    const struct wire_type *type;
};

#endif
