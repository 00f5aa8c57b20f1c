/* tests/unit/hand_table.h - one message with every kind and container, tables written by hand, so
 * that reader and writer are tested apart from the generator. hand_table_init completes them. */
#ifndef TENON_TESTS_HAND_TABLE_H
#define TENON_TESTS_HAND_TABLE_H

#include "base/key_hash.h"
#include "wire/table.h"

#include <math.h>
#include <stdlib.h>

struct inner {
    uint64_t has;
    struct str name;
    int64_t size;
};

/* Text or number by tag, link by presence. */
struct either {
    uint64_t has;
    int32_t kind;
    struct str text;
    double number;
    struct str link;
};

struct sample {
    uint64_t has;
    struct str text;
    int64_t count;
    double ratio;
    bool flag;
    int32_t level;
    struct str token;
    struct str raw;
    struct inner *inner;
    struct {
        struct inner *v;
        uint32_t n;
    } inners;
    struct {
        struct str *v;
        uint32_t n;
    } words;
    struct {
        int64_t *v;
        uint32_t n;
    } numbers;
    struct {
        struct {
            struct str key;
            struct str value;
        } * v;
        uint32_t n;
    } strings_by_name;
    struct {
        struct {
            struct str key;
            struct inner *value;
        } * v;
        uint32_t n;
    } inners_by_name;
    struct {
        struct either *v;
        uint32_t n;
    } either;
    struct either *one_either;
    struct str uri;
};

#define HAND_ROW(owner, member, key, number, ...)                         \
    {                                                                     \
        .name = "\"" key "\":", .key_len = sizeof key - 1, .bit = number, \
        .offset = offsetof(struct owner, member), .type = {               \
            __VA_ARGS__                                                   \
        }                                                                 \
    }

static struct wire_row inner_rows[] = {
    HAND_ROW(inner, name, "name", 0, .kind = WIRE_STR),
    HAND_ROW(inner, size, "size", 1, .kind = WIRE_INT),
};
static struct wire_message inner_message = {
    .name = "Inner", .rows = inner_rows, .n_rows = 2, .size = sizeof(struct inner), .required = 1};

/* ---- a union -------------------------------------------------------------------------------- */

static struct wire_row text_rows[] = {
    HAND_ROW(either, has, "type", 0, .kind = WIRE_CONST, .of.literal = "\"text\""),
    HAND_ROW(either, text, "text", 1, .kind = WIRE_STR),
};
static struct wire_row number_rows[] = {
    HAND_ROW(either, has, "type", 0, .kind = WIRE_CONST, .of.literal = "\"number\""),
    HAND_ROW(either, number, "number", 2, .kind = WIRE_NUM),
};
static struct wire_message text_message = {
    .name = "Text", .rows = text_rows, .n_rows = 2, .size = sizeof(struct either), .required = 3};
static struct wire_message number_message = {.name = "Number",
                                             .rows = number_rows,
                                             .n_rows = 2,
                                             .size = sizeof(struct either),
                                             .required = 5};
static struct wire_row tag_rows[] = {
    HAND_ROW(either, has, "type", 0, .kind = WIRE_RAW, .types = WIRE_T_ANY),
};
static const struct wire_variant tag_variants[] = {
    {.name = "Text", .fixed_literal = "\"text\"", .message = &text_message, .kind = 3},
    {.name = "Number", .fixed_literal = "\"number\"", .message = &number_message, .kind = 5},
};
static struct wire_message tag_message = {.name = "Tagged",
                                          .rows = tag_rows,
                                          .n_rows = 1,
                                          .variants = tag_variants,
                                          .n_variants = 2,
                                          .size = sizeof(struct either)};

/* By presence: "text" (a string) or "link" (a string); with both, the first one that fits. */
static struct wire_row bare_rows[] = {
    HAND_ROW(either, text, "text", 1, .kind = WIRE_STR),
};
static struct wire_row link_rows[] = {
    HAND_ROW(either, link, "link", 3, .kind = WIRE_STR),
};
static struct wire_message bare_message = {
    .name = "Bare", .rows = bare_rows, .n_rows = 1, .size = sizeof(struct either), .required = 2};
static struct wire_message link_message = {
    .name = "Link", .rows = link_rows, .n_rows = 1, .size = sizeof(struct either), .required = 8};
static struct wire_row sign_rows[] = {
    HAND_ROW(either, has, "text", 0, .kind = WIRE_RAW, .types = WIRE_T_ANY),
    HAND_ROW(either, has, "link", 1, .kind = WIRE_RAW, .types = WIRE_T_ANY),
};
static const struct wire_variant sign_variants[] = {
    {.name = "Bare", .present = 1, .message = &bare_message, .kind = 1},
    {.name = "Link", .present = 2, .message = &link_message, .kind = 2},
};
static struct wire_message sign_message = {.name = "Signed",
                                           .rows = sign_rows,
                                           .n_rows = 2,
                                           .variants = sign_variants,
                                           .n_variants = 2,
                                           .size = sizeof(struct either)};

/* ---- the sample ----------------------------------------------------------------------------- */

static const struct str level_names[] = {STR_INIT("debug"), STR_INIT("error"), STR_INIT("info")};
static const int32_t level_values[] = {7, 3, 6};
static const struct wire_enum levels = {level_names, level_values, 3};
static const struct wire_range zero_to_nine = {0, 9}, at_most_one = {-HUGE_VAL, 1};

static struct wire_row sample_rows[] = {
    HAND_ROW(sample, text, "text", 0, .kind = WIRE_STR),
    HAND_ROW(sample, count, "count", 1, .kind = WIRE_INT, .of.range = &zero_to_nine),
    HAND_ROW(sample, ratio, "ratio", 2, .kind = WIRE_NUM, .of.range = &at_most_one),
    HAND_ROW(sample, flag, "flag", 3, .kind = WIRE_BOOL),
    HAND_ROW(sample, level, "level", 4, .kind = WIRE_ENUM, .of.choices = &levels),
    HAND_ROW(sample, has, "version", 5, .kind = WIRE_CONST, .of.literal = "-32020"),
    HAND_ROW(sample, token, "token", 6, .kind = WIRE_TOKEN),
    HAND_ROW(sample, raw, "raw", 7, .kind = WIRE_RAW,
             .types = WIRE_T_ARRAY | WIRE_T_OBJECT | WIRE_T_INTEGER, .items = WIRE_T_STRING),
    HAND_ROW(sample, inner, "inner", 8, .kind = WIRE_OBJECT, .of.message = &inner_message),
    HAND_ROW(sample, inners, "inners", 9, .kind = WIRE_OBJECT, .container = WIRE_ARRAY,
             .max_items = 20, .of.message = &inner_message),
    HAND_ROW(sample, words, "words", 10, .kind = WIRE_STR, .container = WIRE_ARRAY),
    HAND_ROW(sample, numbers, "numbersWithALongName", 11, .kind = WIRE_INT,
             .container = WIRE_ARRAY),
    HAND_ROW(sample, strings_by_name, "stringsByName", 12, .kind = WIRE_STR, .container = WIRE_MAP),
    HAND_ROW(sample, inners_by_name, "innersByName", 13, .kind = WIRE_OBJECT, .container = WIRE_MAP,
             .of.message = &inner_message),
    HAND_ROW(sample, either, "either", 14, .kind = WIRE_OBJECT, .container = WIRE_MANY,
             .of.message = &tag_message),
    HAND_ROW(sample, one_either, "oneEither", 15, .kind = WIRE_OBJECT, .of.message = &sign_message),
    HAND_ROW(sample, uri, "uri", 16, .kind = WIRE_STR, .format = WIRE_URI),
};
static struct wire_message sample_message = {.name = "Sample",
                                             .rows = sample_rows,
                                             .n_rows = sizeof sample_rows / sizeof *sample_rows,
                                             .size = sizeof(struct sample),
                                             .required = 1};
static const struct wire_type sample_type = {.kind = WIRE_OBJECT, .of.message = &sample_message};

static inline bool spread_keys(struct wire_message *m, uint8_t *index)
{
    memset(index, 0, (size_t)1 << m->hash_bits);
    for (unsigned i = 0; i < m->n_rows; i++) {
        uint32_t hash = key_hash(m->rows[i].name + 1, m->rows[i].key_len);
        uint8_t *slot = &index[key_hash_slot(hash, m->hash_multiplier, m->hash_bits)];
        if (*slot)
            return false;
        *slot = (uint8_t)(i + 1);
    }
    return true;
}

static inline void complete(struct wire_message *m, struct wire_row *rows)
{
    static uint8_t indexes[32][64];
    static unsigned n_indexes;
    for (unsigned i = 0; i < m->n_rows; i++) {
        char words[16] = {0};
        size_t n = rows[i].key_len + 2u;
        memcpy(words, rows[i].name + 1, n < 16 ? n : 16);
        memcpy(&rows[i].w0, words, 8);
        memcpy(&rows[i].w1, words + 8, 8);
    }
    m->hash_bits = 6;
    m->hash_multiplier = 1;
    m->hash_index = indexes[n_indexes];
    while (!spread_keys(m, indexes[n_indexes]))
        m->hash_multiplier += 2;
    n_indexes++;
}

static inline void hand_table_init(void)
{
    complete(&inner_message, inner_rows);
    complete(&text_message, text_rows);
    complete(&number_message, number_rows);
    complete(&tag_message, tag_rows);
    complete(&bare_message, bare_rows);
    complete(&link_message, link_rows);
    complete(&sign_message, sign_rows);
    complete(&sample_message, sample_rows);
}

#endif
