/* tests/bench/bench_schema.c - a check of arguments by their schema, next to opening them.
 *
 * Orders of a shop, all different: single ones of about 1 KiB, and lists of 200 KiB. Two schemas
 * for the same orders: "usual" has types, required, enums, bounds, formats and a $ref; "rich" adds
 * patterns, alternatives, uniqueItems and unevaluatedProperties. Opening and checking take turns,
 * and the best round of each counts. The target: a check takes at most 1.5 times the opening.
 */
#include "schema/json_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 25

#define LINE                                                                            \
    "\"line\":{\"type\":\"object\",\"properties\":{\"sku\":{\"type\":\"string\"," SKU   \
    "\"minLength\":3,\"maxLength\":20},\"quantity\":{\"type\":\"integer\",\"minimum\":" \
    "1,\"maximum\":1000},\"price\":{\"type\":\"number\",\"exclusiveMinimum\":0},"       \
    "\"note\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"sku\",\"quantity\","    \
    "\"price\"],\"additionalProperties\":false}"
#define ORDER                                                                              \
    "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\",\"minimum\":1},"     \
    "\"customer\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},"                \
    "\"email\":{\"type\":\"string\",\"format\":\"email\"},"                                \
    "\"placed\":{\"type\":\"string\",\"format\":\"date-time\"},"                           \
    "\"state\":{\"enum\":[\"new\",\"paid\",\"packed\",\"sent\",\"returned\"]},"            \
    "\"currency\":{\"type\":\"string\",\"enum\":[\"EUR\",\"USD\",\"GBP\",\"JPY\"]},"       \
    "\"total\":{\"type\":\"number\",\"minimum\":0},\"express\":{\"type\":\"boolean\"},"    \
    "\"weight\":{\"type\":\"number\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":"   \
    "\"string\",\"maxLength\":30}" UNIQUE ",\"maxItems\":20},\"address\":" ADDRESS ","     \
    "\"lines\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/line\"},\"minItems\":1}," \
    "\"comment\":{\"type\":\"string\",\"maxLength\":2000}},\"required\":[\"id\","          \
    "\"customer\",\"placed\",\"state\",\"lines\"]"
#define PLACE                                                                       \
    "\"type\":\"object\",\"properties\":{\"street\":{\"type\":\"string\"},"         \
    "\"city\":{\"type\":\"string\"},\"code\":{\"type\":\"string\"},\"country\":{"   \
    "\"type\":\"string\",\"minLength\":2,\"maxLength\":2}},\"required\":[\"city\"," \
    "\"country\"]"

#define SKU     ""
#define UNIQUE  ""
#define ADDRESS "{" PLACE "}"
static const char usual_one[] = "{" ORDER ",\"additionalProperties\":false,\"$defs\":{" LINE "}}";
static const char usual_many[] =
    "{\"type\":\"object\",\"properties\":{\"rows\":{\"type\":"
    "\"array\",\"items\":{" ORDER ",\"additionalProperties\":false}}},\"$defs\":{" LINE "}}";
#undef SKU
#undef UNIQUE
#undef ADDRESS
#define SKU    "\"pattern\":\"^[A-Z]{3}-[0-9]+$\","
#define UNIQUE ",\"uniqueItems\":true"
#define ADDRESS                                                                     \
    "{\"oneOf\":[{" PLACE "},{\"type\":\"object\",\"properties\":{\"shop\":{"       \
    "\"type\":\"integer\"}},\"required\":[\"shop\"],\"additionalProperties\":false" \
    "}]}"
static const char rich_one[] = "{" ORDER ",\"unevaluatedProperties\":false,\"$defs\":{" LINE "}}";
static const char rich_many[] =
    "{\"type\":\"object\",\"properties\":{\"rows\":{\"type\":"
    "\"array\",\"items\":{" ORDER ",\"unevaluatedProperties\":false}}},\"$defs\":{" LINE "}}";

/* ---- orders --------------------------------------------------------------------------------- */

static uint32_t below(uint32_t n)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % n;
}

static const char *pick(const char *const *words, uint32_t n)
{
    return words[below(n)];
}

static const char *word(void)
{
    static const char *const words[] = {"lamp",  "kettle", "gr\xc3\xbcn", "table",
                                        "old",   "steel",  "small",       "garden",
                                        "river", "north",  "paper",       "stone"};
    return pick(words, 12);
}

static void add_words(struct buf *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "%s%s", i ? " " : "", word());
}

static void add_lines(struct buf *out)
{
    for (uint32_t i = 0, n = 3 + below(4); i < n; i++) {
        buf_printf(out, "%s{\"sku\":\"%c%c%c-%u\",\"quantity\":%u,\"price\":%u.%02u", i ? "," : "",
                   'A' + below(26), 'A' + below(26), 'A' + below(26), below(100000), 1 + below(20),
                   1 + below(900), below(100));
        if (below(2)) {
            buf_add_lit(out, ",\"note\":\"");
            add_words(out, 1 + below(6));
            buf_add_char(out, '"');
        }
        buf_add_char(out, '}');
    }
}

static void add_order(struct buf *out)
{
    static const char *const states[] = {"new", "paid", "packed", "sent", "returned"};
    static const char *const currencies[] = {"EUR", "USD", "GBP", "JPY"};
    buf_printf(out, "{\"id\":%u,\"customer\":\"", 1 + below(1000000));
    add_words(out, 2 + below(3));
    buf_printf(out,
               "\",\"email\":\"%s.%s@%s.example\",\"placed\":\"2025-%02u-%02uT%02u:%02u:00Z\","
               "\"state\":\"%s\",\"currency\":\"%s\",\"total\":%u.%u,\"express\":%s,\"weight\":%u",
               "ann", "bell", "mail", 1 + below(12), 1 + below(28), below(24), below(60),
               pick(states, 5), pick(currencies, 4), below(9000), below(10),
               below(2) ? "true" : "false", below(100));
    buf_printf(out, ",\"tags\":[\"%s1\",\"%s2\",\"%s3\"],\"address\":{\"street\":\"", word(),
               word(), word());
    add_words(out, 3 + below(3));
    buf_printf(out, "\",\"city\":\"%s\",\"code\":\"%u\",\"country\":\"FR\"},\"lines\":[", word(),
               below(99999));
    add_lines(out);
    buf_add_lit(out, "],\"comment\":\"");
    add_words(out, 20 + below(60));
    buf_add_lit(out, "\"}");
}

static void add_orders(struct buf *out)
{
    buf_add_lit(out, "{\"rows\":[");
    for (bool first = true; out->n < 200 << 10; first = false) {
        if (!first)
            buf_add_char(out, ',');
        add_order(out);
    }
    buf_add_lit(out, "]}");
}

/* ---- measuring ------------------------------------------------------------------------------ */

struct set {
    struct str *texts;
    const struct tape_node **tapes;
    uint32_t n;
    size_t n_bytes;
};

static const struct tape_node *open_text(struct str text, struct arena *arena)
{
    const struct tape_node *tape;
    struct wire_fault fault;
    if (tape_open(text, arena, &tape, &fault) != 0) {
        fprintf(stderr, "refused: %s %s\n", fault.pointer, fault.expected);
        exit(1);
    }
    return tape;
}

static struct str padded(const struct buf *b, struct arena *arena)
{
    char *p = arena_zalloc(arena, b->n + JSON_PADDING_BYTES);
    if (!p || b->failed)
        exit(1);
    memcpy(p, b->p, b->n);
    return (struct str){p, (uint32_t)b->n};
}

static struct set make_set(uint32_t n, void (*add)(struct buf *out), struct arena *arena)
{
    struct set set = {arena_array(arena, n, sizeof(struct str)),
                      arena_array(arena, n, sizeof(struct tape_node *)), n, 0};
    for (uint32_t i = 0; i < n; i++) {
        struct buf text = {0};
        add(&text);
        set.texts[i] = padded(&text, arena);
        set.tapes[i] = open_text(set.texts[i], arena);
        set.n_bytes += text.n;
        buf_done(&text);
    }
    return set;
}

/* The same value with the members of every object in another order. */
static void add_shuffled(struct tape_builder *b, const struct tape_node *node)
{
    const struct tape_node *keys[64];
    uint32_t n = 0;
    if (node->kind == TAPE_ARRAY) {
        const struct tape_node *item = node + 1;
        tape_open_array(b);
        for (; n < node->n; n++, item = tape_next(item))
            add_shuffled(b, item);
        tape_close(b);
        return;
    }
    if (node->kind != TAPE_OBJECT) {
        tape_add_node(b, node);
        return;
    }
    tape_each (node, key, value)
        keys[n++] = key;
    tape_open_object(b);
    while (n) {
        uint32_t i = below(n);
        tape_add_node(b, keys[i]);
        add_shuffled(b, keys[i] + 1);
        keys[i] = keys[--n];
    }
    tape_close(b);
}

static struct set shuffle_set(const struct set *set, struct arena *arena)
{
    struct set shuffled = *set;
    shuffled.texts = arena_array(arena, set->n, sizeof(struct str));
    shuffled.tapes = arena_array(arena, set->n, sizeof(struct tape_node *));
    for (uint32_t i = 0; i < set->n; i++) {
        struct tape_builder b;
        const struct tape_node *tape;
        struct buf text = {0};
        tape_begin(&b, arena);
        add_shuffled(&b, set->tapes[i]);
        if (tape_finish(&b, &tape) != 0)
            exit(1);
        tape_write(tape, &text);
        shuffled.texts[i] = padded(&text, arena);
        shuffled.tapes[i] = open_text(shuffled.texts[i], arena);
        buf_done(&text);
    }
    return shuffled;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double open_all(const struct set *set, struct arena *arena)
{
    double start = now_ns();
    for (uint32_t i = 0; i < set->n; i++) {
        arena_reset(arena);
        open_text(set->texts[i], arena);
    }
    return (now_ns() - start) / set->n;
}

static double check_all(const struct set *set, const struct json_schema *schema)
{
    struct schema_faults faults;
    double start = now_ns();
    for (uint32_t i = 0; i < set->n; i++)
        if (json_schema_check(schema, set->tapes[i], &faults) != 0) {
            fprintf(stderr, "a check failed: %s %s\n", faults.v[0].pointer, faults.v[0].keyword);
            exit(1);
        }
    return (now_ns() - start) / set->n;
}

static void measure(const char *name, const struct set *set, const char *schema_text)
{
    const struct json_schema *schema;
    struct schema_faults faults;
    struct arena arena, scratch;
    double opening = HUGE_VAL, checking = HUGE_VAL;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    struct buf text = {0};
    buf_add_str(&text, str_of(schema_text));
    const struct tape_node *document = open_text(padded(&text, &arena), &arena);
    buf_done(&text);
    double start = now_ns();
    if (json_schema_compile(document, NULL, &arena, &schema, &faults) != 0)
        exit(1);
    double compiling = now_ns() - start;
    for (int round = 0; round < ROUNDS; round++) {
        opening = fmin(opening, open_all(set, &scratch));
        checking = fmin(checking, check_all(set, schema));
    }
    printf("schema %s: check %.0f ns, tape_open %.0f ns, ratio %.2f (%u distinct, mean %zu bytes; "
           "compiled in %.0f us)\n",
           name, checking, opening, checking / opening, set->n, set->n_bytes / set->n,
           compiling / 1e3);
    arena_done(&scratch);
    arena_done(&arena);
}

int main(void)
{
    struct arena arena;
    arena_init(&arena, 256u << 20);
    struct set one = make_set(1000, add_order, &arena), many = make_set(10, add_orders, &arena);
    struct set mixed = shuffle_set(&one, &arena), mixed_many = shuffle_set(&many, &arena);
    measure("usual, 1 KiB", &one, usual_one);
    measure("rich, 1 KiB", &one, rich_one);
    measure("usual, 200 KiB", &many, usual_many);
    measure("rich, 200 KiB", &many, rich_many);
    measure("rich, 1 KiB, members in any order", &mixed, rich_one);
    measure("rich, 200 KiB, members in any order", &mixed_many, rich_many);
    arena_done(&arena);
    return 0;
}
