/* tests/bench/bench_filter.c - nanoseconds per filter_test on a row, next to opening the row from
 * the CBOR in which it is stored, and per filter_compile. 64 rows take turns, so that neither
 * branches nor caches learn one by heart; the best of the rounds counts. */
#include "schema/filter.h"
#include "store/cbor_tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N(a)   (sizeof(a) / sizeof *(a))
#define ROUNDS 15
#define ROWS   64
#define PASSES 500

static const char schema[] =
    "{\"properties\":{\"id\":{\"type\":\"integer\"},\"code\":{\"type\":\"string\"},"
    "\"name\":{\"type\":\"string\"},\"region\":{\"type\":\"string\"},"
    "\"population\":{\"type\":\"integer\"},\"area\":{\"type\":\"number\"},"
    "\"capital\":{\"type\":\"boolean\"},\"founded\":{\"type\":\"string\",\"format\":\"date\"},"
    "\"seen\":{\"type\":\"string\",\"format\":\"date-time\"},\"address\":{\"type\":\"object\","
    "\"properties\":{\"city\":{\"type\":\"string\"},\"street\":{\"type\":\"string\"}}},"
    "\"note\":{\"type\":\"string\"},\"tags\":{\"type\":\"array\"}}}";

static const char *const filters[] = {
    "id = 17",
    "region = 'Europe'",
    "population > 1000000 and region in ('Europe', 'Asia')",
    "region in ('Europe', 'Asia') and not name like 'New %' and population between 1000 and "
    "9000000",
    "name like '%own%'",
    "note like '%quick%dog%'",
    "founded > date '1900-01-01'",
    "seen >= '2024-01-31T10:00:00Z' and seen < '2024-03-01T10:00:00Z'",
    "address.city = 'Mitte' or address.street is null",
};

static struct arena arena;
static struct filter_columns columns;
static struct str stored[ROWS];
static const struct tape_node *rows[ROWS];
static volatile uint32_t found;

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "bench_filter: %s\n", what);
    exit(1);
}

static const struct tape_node *open_text(const char *json)
{
    const struct tape_node *tape;
    size_t n = strlen(json);
    char *copy = arena_zalloc(&arena, n + JSON_PADDING_BYTES);
    need(copy, "no memory");
    memcpy(copy, json, n);
    need(tape_open((struct str){copy, (uint32_t)n}, &arena, &tape, NULL) == 0, "not JSON");
    return tape;
}

static void make_row(uint32_t i)
{
    static const char *const regions[] = {"Europe", "Asia", "Africa", "Americas", "Oceania"};
    char json[1024];
    struct buf cbor = {0};
    snprintf(
        json, sizeof json,
        "{\"id\":%u,\"code\":\"C%03u\",\"name\":\"%s Town %u\",\"region\":\"%s\",\"population\":%u,"
        "\"area\":%u.5,\"capital\":%s,\"founded\":\"%u-0%u-11\","
        "\"seen\":\"2024-0%u-15T10:20:30Z\",\"address\":{\"street\":\"High Street %u\","
        "\"city\":\"%s\"},\"note\":\"the quick brown fox jumps over the lazy %s, %u times\","
        "\"tags\":[\"a\",\"b\",\"c\"]}",
        i, i, i % 3 ? "Old" : "New", i, regions[i * 7 % 5], i * 130001, i * 3,
        i % 4 ? "false" : "true", 1800 + i * 3, 1 + i % 9, 1 + i % 9, i, i % 5 ? "Mitte" : "Nord",
        i % 2 ? "dog" : "cat", i);
    rows[i] = open_text(json);
    cbor_write_tape(rows[i], &cbor);
    stored[i] = arena_buf(&arena, &cbor);
    need(stored[i].p, "no memory");
    buf_done(&cbor);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double test_rows(const struct filter *filter)
{
    double start = now_ns();
    for (int pass = 0; pass < PASSES; pass++)
        for (uint32_t i = 0; i < ROWS; i++)
            found += filter_test(filter, rows[i]);
    return (now_ns() - start) / (PASSES * ROWS);
}

static double open_rows(void)
{
    struct arena own;
    const struct tape_node *tape;
    arena_init(&own, 0);
    double start = now_ns();
    for (int pass = 0; pass < PASSES; pass++)
        for (uint32_t i = 0; i < ROWS; i++) {
            arena_reset(&own);
            need(cbor_read_tape(stored[i], &own, &tape) == 0, "not CBOR");
        }
    double ns = (now_ns() - start) / (PASSES * ROWS);
    arena_done(&own);
    return ns;
}

static double compile(const char *text)
{
    struct arena own;
    const struct filter *filter;
    arena_init(&own, 0);
    double start = now_ns();
    for (int pass = 0; pass < PASSES; pass++) {
        arena_reset(&own);
        need(filter_compile(str_of(text), &columns, &own, &filter, NULL) == 0, text);
    }
    double ns = (now_ns() - start) / PASSES;
    arena_done(&own);
    return ns;
}

static double least(double a, double b)
{
    return a && a < b ? a : b;
}

int main(void)
{
    const struct filter *compiled[N(filters)];
    double tested[N(filters)] = {0}, compiling[N(filters)] = {0}, opened = 0;
    arena_init(&arena, 0);
    need(filter_columns_from_schema(open_text(schema), &arena, &columns) == 0, "columns");
    for (uint32_t i = 0; i < ROWS; i++)
        make_row(i);
    for (size_t f = 0; f < N(filters); f++)
        need(filter_compile(str_of(filters[f]), &columns, &arena, &compiled[f], NULL) == 0,
             filters[f]);
    for (int round = 0; round < ROUNDS; round++) {
        opened = least(opened, open_rows());
        for (size_t f = 0; f < N(filters); f++) {
            tested[f] = least(tested[f], test_rows(compiled[f]));
            compiling[f] = least(compiling[f], compile(filters[f]));
        }
    }
    printf("row of 12 attributes, %u bytes of CBOR: opened in %.0f ns\n", stored[9].n, opened);
    for (size_t f = 0; f < N(filters); f++)
        printf("%6.0f ns a test, %6.0f ns to compile: %s\n", tested[f], compiling[f], filters[f]);
    arena_done(&arena);
    return 0;
}
