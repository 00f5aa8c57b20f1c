/* wire/json_read.h - the hot JSON reader: a table interpreter.
 *
 * One pass over the text: syntax, UTF-8, escapes, lone surrogates, depth, types, required members,
 * duplicates, enums, ranges and the choice of union variants, straight into the generated structs.
 * Input needs JSON_PADDING_BYTES zero bytes behind it, or is a raw span that one of these
 * functions cut out of such a text (asserted in debug builds). Nothing is
 * recursive beyond JSON_DEPTH_MAX; subtrees that nobody types are validated and kept as raw spans.
 * Any thread; no state but what is passed in.
 */
#ifndef TENON_WIRE_JSON_READ_H
#define TENON_WIRE_JSON_READ_H

#include "base/arena.h"
#include "base/limits.h"
#include "wire/table.h"

enum wire_reason {
    WIRE_OK,
    WIRE_SYNTAX, /* not JSON (ERR_PARSE, as the next three) */
    WIRE_UTF8,
    WIRE_SURROGATE, /* \ud800 without its pair */
    WIRE_DEPTH,
    WIRE_TYPE,     /* wrong JSON type (ERR_PARAMS, as all below) */
    WIRE_REQUIRED, /* a required member is missing; the pointer names it */
    WIRE_DUPLICATE,
    WIRE_CHOICE,  /* not one of an enum, or not the fixed value */
    WIRE_RANGE,   /* below minimum, above maximum, or not representable */
    WIRE_ITEMS,   /* more than maxItems */
    WIRE_VARIANT, /* no alternative of a union fits */
    WIRE_FORMAT,
    WIRE_MEMORY, /* ERR_NO_MEMORY */
};

const char *wire_reason_name(enum wire_reason reason); /* "type", "required", ... */

/* What is wrong, where, and what was expected. Valid as long as the tables and the text. */
struct wire_fault {
    enum wire_reason reason;
    uint32_t offset;                  /* bytes into the text */
    char pointer[JSON_POINTER_BYTES]; /* RFC 6901, relative to the parsed value; cut with "..." */
    char expected[96];                /* e.g. "string", "ref/prompt|ref/resource" */
};

/* Reads `text`, which is one JSON value with optional blanks around, by `type` into *ret (laid out
 * as table.h says; an OBJECT that is ONE goes into the struct at ret). 0, ERR_PARSE, ERR_PARAMS or
 * ERR_NO_MEMORY with *fault filled (fault may be NULL). Strings point into text or arena. */
int wire_parse(const struct wire_type *type, struct str text, struct arena *arena, void *ret,
               struct wire_fault *fault);
/* The same verdict without storing anything. */
int wire_check(const struct wire_type *type, struct str text, struct wire_fault *fault);

/* Validates one JSON value from text.p; sets *ret to its span without blanks around. Bytes after
 * the value are left alone if `ret_rest` is given, else they are an error. */
int wire_skip(struct str text, struct str *ret, struct str *ret_rest, struct wire_fault *fault);

/* Decodes a raw JSON string (with its quotes), already validated, into `arena`. */
int wire_decode_string(struct str raw, struct arena *arena, struct str *ret);

#endif
