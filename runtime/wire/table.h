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
 *   MANY  -> as ARRAY; the text may also be a single value ("one or many"); with max_items 1
 *            the text is always a single value (the member became a list in a later revision)
 *   MAP   -> struct { struct { struct str key; T value; } *v; uint32_t n; }  (OBJECT: T is a
 * pointer)
 * At the top, where wire_parse and wire_write are handed an OBJECT that is ONE, the caller's
 * pointer is to the struct itself (struct mcp_x *), not to a pointer. A CONST has no memory and
 * offset 0. Every object struct begins with `uint64_t has`, whose bit `row.bit` says that the
 * member is present (also of a CONST); a union struct goes on with `int32_t kind`, see
 * wire_variant.
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

/* A RAW type may have a message: a value that is an object must pass it, but stays text. Such a
 * message may have no C struct (size 0, offsets 0). On writing, a CONST member that is required is
 * written whether its bit is set or not; an optional one only with its bit. */
struct wire_type {
    uint8_t kind;       /* enum wire_kind */
    uint8_t container;  /* enum wire_container */
    uint8_t format;     /* enum wire_format, of STR */
    uint8_t types;      /* RAW: allowed enum wire_json_type */
    uint8_t items;      /* RAW that is an array: allowed types of its members; 0: any */
    uint16_t max_items; /* ARRAY and MANY; 0: no limit */
    union {
        const struct wire_message *message; /* OBJECT; RAW: see above, may be NULL */
        const struct wire_enum *choices;    /* ENUM */
        const struct wire_range *range;     /* INT, NUM; may be NULL */
        const char *literal;                /* CONST: its JSON text, e.g. "\"text\"" or "-32020" */
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

/* One alternative of a union. A union's own rows are only the members that decide (kind RAW; looked
 * at, never stored): the first variant fits whose `present` members are all there, whose `absent`
 * ones are not, and whose `fixed_bit` member holds `fixed_literal`. Then the same object is read
 * from its start by `message`, which lies in the same C struct as the other alternatives. So each
 * member has one type per table, a missing member is named exactly, and an alternative's table is
 * that of its definition, not a copy. Writing takes the `message` of the struct's `kind`; 0 means
 * the first whose required members, CONST ones aside, are all in `has`. A union that is only
 * checked (see RAW above) has alternatives of any struct. */
struct wire_variant {
    const char *name;
    uint64_t present; /* masks over the bits of the union's own rows */
    uint64_t absent;
    const char *fixed_literal; /* JSON text that the member `fixed_bit` must hold, NULL: none */
    const struct wire_message *message;
    uint8_t fixed_bit;
    uint8_t kind; /* what the struct's `kind` becomes; the same number in every revision */
};

struct wire_message {
    const char *name; /* of the definition, for messages */
    const struct wire_row *rows;
    const struct wire_variant *variants; /* NULL: not a union */
    const uint8_t *hash_index; /* 1 << hash_bits slots: row number + 1, or 0; NULL: no rows */
    uint64_t required;         /* mask over `has`; of a union: 0 */
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
