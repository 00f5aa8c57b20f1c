/* tests/bench/rows.c - see rows.h. */
#include "tests/bench/rows.h"

#include <stdio.h>

const char rows_definition[] =
    "{\"title\":\"Items\",\"primaryKey\":\"id\",\"indexed\":[\"grp\",\"score\"],"
    "\"schema\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"id\":{\"type\":\"integer\",\"minimum\":1},"
    "\"grp\":{\"type\":\"integer\",\"minimum\":0},"
    "\"score\":{\"type\":\"integer\"},"
    "\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},"
    "\"email\":{\"type\":\"string\",\"format\":\"email\"},"
    "\"category\":{\"enum\":[\"tools\",\"books\",\"music\",\"garden\",\"kitchen\",\"toys\"]},"
    "\"price\":{\"type\":\"number\",\"minimum\":0},"
    "\"stock\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000},"
    "\"active\":{\"type\":\"boolean\"},"
    "\"created\":{\"type\":\"string\",\"format\":\"date-time\"},"
    "\"note\":{\"type\":[\"string\",\"null\"]},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":8},"
    "\"address\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
    "\"zip\":{\"type\":\"string\",\"pattern\":\"^[0-9]{5}$\"}},\"required\":[\"city\"]}},"
    "\"required\":[\"grp\",\"score\",\"name\",\"category\",\"price\",\"created\"]}}";

uint64_t rows_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Random numbers of one row. */
struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *d, uint32_t n)
{
    return (uint32_t)((rows_mix(d->state++) >> 32) % n);
}

static const char *word(struct dice *d)
{
    static const char *const words[] = {"lamp",  "kettle", "gr\xc3\xbcn", "table", "old",   "steel",
                                        "small", "garden", "river",       "north", "paper", "stone",
                                        "cloud", "amber",  "velvet",      "quick"};
    return words[roll(d, sizeof words / sizeof *words)];
}

static void add_words(struct buf *out, struct dice *d, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        buf_printf(out, "%s%s", k ? " " : "", word(d));
}

/* What both forms hold; only the signs around the values differ. */
struct common {
    uint64_t grp, score;
    const char *category;
    uint32_t price, stock;
    bool active;
    char created[24];
};

static struct common common_of(uint64_t i, uint64_t n, struct dice *d)
{
    static const char *const categories[] = {"tools",  "books",   "music",
                                             "garden", "kitchen", "toys"};
    struct common c = {.grp = (i * 7919 + 13) % n / ROWS_PER_GROUP,
                       .score = (i * 104729 + 7) % n,
                       .category = categories[roll(d, 6)],
                       .price = roll(d, 100000),
                       .stock = roll(d, 1001),
                       .active = roll(d, 4) != 0};
    snprintf(c.created, sizeof c.created, "20%02u-%02u-%02uT%02u:%02u:%02uZ", 10 + roll(d, 16),
             1 + roll(d, 12), 1 + roll(d, 28), roll(d, 24), roll(d, 60), roll(d, 60));
    return c;
}

void rows_write_json(uint64_t i, uint64_t n, struct buf *out)
{
    struct dice d = {i << 8};
    struct common c = common_of(i, n, &d);
    buf_printf(out, "{\"id\":%llu,\"grp\":%llu,\"score\":%llu,\"name\":\"", (unsigned long long)i,
               (unsigned long long)c.grp, (unsigned long long)c.score);
    add_words(out, &d, 1 + roll(&d, 5));
    buf_printf(out,
               "\",\"email\":\"%s.%u@mail.example\",\"category\":\"%s\",\"price\":%u.%02u,"
               "\"stock\":%u,\"active\":%s,\"created\":\"%s\"",
               "ann", roll(&d, 100000), c.category, c.price / 100, c.price % 100, c.stock,
               c.active ? "true" : "false", c.created);
    if (roll(&d, 2)) {
        buf_add_lit(out, ",\"note\":\"");
        add_words(out, &d, 3 + roll(&d, 12));
        buf_add_char(out, '"');
    }
    buf_printf(out, ",\"tags\":[\"%s\",\"%s\"],\"address\":{\"city\":\"%s\",\"zip\":\"%05u\"}}",
               word(&d), word(&d), word(&d), roll(&d, 100000));
}

void rows_write_csv(uint64_t i, uint64_t n, struct buf *out)
{
    if (i == 0) {
        buf_add_lit(out, "id,grp,score,name,category,price,stock,active,created,note\r\n");
        return;
    }
    struct dice d = {i << 8};
    struct common c = common_of(i, n, &d);
    buf_printf(out, "%llu,%llu,%llu,\"", (unsigned long long)i, (unsigned long long)c.grp,
               (unsigned long long)c.score);
    add_words(out, &d, 1 + roll(&d, 5));
    buf_printf(out, ", \"\"%s\"\"\",%s,%u.%02u,%u,%s,%s,", word(&d), c.category, c.price / 100,
               c.price % 100, c.stock, c.active ? "true" : "false", c.created);
    add_words(out, &d, roll(&d, 12));
    buf_add_lit(out, "\r\n");
}
