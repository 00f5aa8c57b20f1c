/* tests/bench/bench_data.c - bench_data PORT BIG SMALL [--seconds S]: the tools of tables, timed.
 *
 * The server holds bench.big and bench.small with BIG and SMALL rows of rows.h, and the ISO lists.
 * Each case is a call that is made again and again with other arguments by some clients (keep-alive
 * connections with a session, one call in flight each), and every answer is looked at. What is
 * compared between the two tables runs in rounds that take turns, so that a noisy moment hits both:
 * the ratio of the medians is to stay within the case's bound, and where a p99 is bounded,
 * that of the large table, else the exit status is 1.
 */
#include "base/str.h"
#include "tests/bench/rows.h"
#include "tests/lib/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX   64
#define REPLY_MAX     (1u << 20)
#define LATENCIES_MAX (1u << 20)
#define ROUNDS        7
#define WAIT_MS       30000 /* for one answer */

struct bench {
    uint16_t port;
    uint64_t big, small;
    double seconds; /* of a case; a compared one takes twice that */
    uint64_t seed, created;
    bool failed;
};

/* ---- Cases ---------------------------------------------------------------------------------- */

/* Appends the arguments of the next call of a table of n rows. */
typedef void (*arguments_fn)(struct bench *bench, uint64_t n, struct buf *out);

struct test_case {
    const char *name, *verb; /* verb NULL: completion of an id, `arguments` is what was typed */
    const char *table; /* of the ISO lists; NULL: bench.big, and bench.small where it is compared */
    arguments_fn arguments;
    const char *expect; /* stands in every right answer */
    int clients;
    bool compared;   /* big with small */
    double bound;    /* of big / small; 0: none */
    bool whole_scan; /* looks at every row: its speed is told in rows too */
    double p99_us;   /* at most, with big; 0: no bound */
};

static uint64_t below(struct bench *bench, uint64_t n)
{
    return rows_mix(bench->seed++) % n;
}

static void add_number(struct buf *out, const char *before, uint64_t n, const char *after)
{
    buf_printf(out, "%s%llu%s", before, (unsigned long long)n, after);
}

static void get_row(struct bench *bench, uint64_t n, struct buf *out)
{
    add_number(out, "{\"id\":", 1 + below(bench, n), "}");
}

static void search_equal(struct bench *bench, uint64_t n, struct buf *out)
{
    add_number(out, "{\"where\":\"grp = ", below(bench, n / ROWS_PER_GROUP), "\"}");
}

/* Five groups: 50 rows. */
static void search_range(struct bench *bench, uint64_t n, struct buf *out)
{
    uint64_t from = below(bench, n / ROWS_PER_GROUP - 5);
    add_number(out, "{\"where\":\"grp between ", from, "");
    add_number(out, " and ", from + 4, "\"}");
}

static void page_by_index(struct bench *bench, uint64_t n, struct buf *out)
{
    add_number(out, "{\"where\":\"score < ", 100 + below(bench, n - 100),
               "\",\"order_by\":[\"-score\"],\"limit\":50}");
}

static void page_by_scan(struct bench *bench, uint64_t n, struct buf *out)
{
    (void)n;
    add_number(out, "{\"where\":\"stock != ", below(bench, 1000),
               "\",\"order_by\":[\"-price\"],\"limit\":50}");
}

static void scan(struct bench *bench, uint64_t n, struct buf *out)
{
    (void)n;
    add_number(out, "{\"where\":\"name like '%lamp' and price < ", 1 + below(bench, 9),
               "\",\"limit\":1000,\"total\":true,\"select\":[\"id\"]}");
}

static void create_row(struct bench *bench, uint64_t n, struct buf *out)
{
    rows_write_json(n + ++bench->created, n, out);
}

/* One digit to four. */
static void type_id(struct bench *bench, uint64_t n, struct buf *out)
{
    uint64_t ends[] = {10, 100, 1000, 10000};
    (void)n;
    add_number(out, "", 1 + below(bench, ends[below(bench, 4)] - 1), "");
}

static const char *pick(struct bench *bench, const char *const *words, uint64_t n)
{
    return words[below(bench, n)];
}

static void get_country(struct bench *bench, uint64_t n, struct buf *out)
{
    static const char *const codes[] = {"IT", "FR", "DE", "JP", "BR", "KE", "NZ", "CA"};
    (void)n;
    buf_printf(out, "{\"id\":\"%s\"}", pick(bench, codes, 8));
}

static void search_country(struct bench *bench, uint64_t n, struct buf *out)
{
    static const char *const codes[] = {"AT", "BE", "CH", "NL", "NO", "PT", "SE", "KE"};
    (void)n;
    buf_printf(out, "{\"where\":{\"country\":\"%s\"}}", pick(bench, codes, 8));
}

static void scan_languages(struct bench *bench, uint64_t n, struct buf *out)
{
    (void)n;
    buf_printf(out, "{\"where\":\"name like '%%%c%c%c' and inverted_name is not null\"}",
               (int)('a' + below(bench, 26)), (int)('a' + below(bench, 26)),
               (int)('a' + below(bench, 26)));
}

#define ROWS  "\"rows\":["
#define FIRST "\"rows\":[{"
static const struct test_case cases[] = {
    {"get by key", "get", NULL, get_row, "\"grp\":", 1, true, 0, false, 0},
    {"get by key, 64 clients", "get", NULL, get_row, "\"grp\":", 64, false, 0, false, 0},
    {"search, indexed: equal, 10 rows", "search", NULL, search_equal, FIRST, 1, true, 2, false, 0},
    {"search, indexed: range, 50 rows", "search", NULL, search_range, FIRST, 1, true, 2, false, 0},
    {"page of 50 in the order of an index", "search", NULL, page_by_index, FIRST, 1, true, 2, false,
     0},
    {"search, indexed: equal, 64 clients", "search", NULL, search_equal, FIRST, 64, false, 0, false,
     0},
    {"page of 50, ordered without index", "search", NULL, page_by_scan, FIRST, 1, false, 0, true,
     0},
    {"scan of all rows by a filter", "search", NULL, scan, ROWS, 1, false, 0, true, 0},
    {"create, one client", "create", NULL, create_row, "\"grp\":", 1, false, 0, false, 0},
    {"create, 64 clients", "create", NULL, create_row, "\"grp\":", 64, false, 0, false, 0},
    {"completion of an id, at most 101 reads", NULL, NULL, type_id, "\"hasMore\":", 1, true, 2,
     false, 2000},
    {"completion of an id, 64 clients", NULL, NULL, type_id, "\"hasMore\":", 64, false, 0, false,
     0},
    {"ISO countries: get", "get", "countries", get_country, "\"name\":", 1, false, 0, false, 0},
    {"ISO subdivisions: of a country", "search", "subdivisions", search_country, FIRST, 1, false, 0,
     false, 0},
    {"ISO languages: scan of 7,910", "search", "languages", scan_languages, ROWS, 1, false, 0,
     false, 0},
};
#define N_CASES (sizeof cases / sizeof *cases)

/* ---- Clients -------------------------------------------------------------------------------- */

struct client {
    int fd;
    char session[128];
    char *reply;
    size_t n;
    double asked_us;
};

struct samples {
    float *us; /* each call */
    uint32_t n;
    double seconds, medians[ROUNDS];
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void die(const char *what, const char *shown)
{
    fprintf(stderr, "bench_data: %s %.600s\n", what, shown);
    exit(1);
}

static void open_client(struct client *c, uint16_t port)
{
    struct http_conn conn;
    if (!http_open(&conn, port) || !http_handshake(&conn, "2025-06-18", c->session))
        die("no session", "");
    c->fd = conn.fd; /* taken over; nothing is left unread behind a handshake */
    free(conn.in);
    c->reply = malloc(REPLY_MAX);
    if (!c->reply)
        die("no memory", "");
}

static void send_call(struct client *c, const struct bench *bench, const char *verb,
                      const char *table, const char *arguments)
{
    struct buf body = {0}, out = {0};
    if (verb)
        buf_printf(&body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"%s_%s\",\"arguments\":%s}}",
                   verb, table, arguments);
    else
        buf_printf(&body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"completion/complete\",\"params\":{"
                   "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"db://{database}/{table}/{id}\"},"
                   "\"argument\":{\"name\":\"id\",\"value\":\"%s\"},\"context\":{\"arguments\":{"
                   "\"database\":\"bench\",\"table\":\"%s\"}}}}",
                   arguments, table);
    buf_printf(&out,
               "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: application/json\r\n"
               "Accept: application/json, text/event-stream\r\nMcp-Session-Id: %s\r\n"
               "MCP-Protocol-Version: 2025-06-18\r\nContent-Length: %zu\r\n\r\n",
               bench->port, c->session, body.n);
    buf_add_str(&out, buf_str(&body));
    c->n = 0;
    c->asked_us = now_us();
    if (out.failed || send(c->fd, out.p, out.n, MSG_NOSIGNAL) != (ssize_t)out.n)
        die("the server does not take a request", "");
    buf_done(&body);
    buf_done(&out);
}

static void ask(struct client *c, struct bench *bench, const struct test_case *test, bool big)
{
    struct buf arguments = {0};
    const char *table = test->table ? test->table : big ? "big" : "small";
    test->arguments(bench, big ? bench->big : bench->small, &arguments);
    buf_add_char(&arguments, 0);
    if (arguments.failed)
        die("no memory", "");
    send_call(c, bench, test->verb, table, arguments.p);
    buf_done(&arguments);
}

/* Whether the whole reply is there. */
static bool take(struct client *c)
{
    ssize_t n = recv(c->fd, c->reply + c->n, REPLY_MAX - 1 - c->n, 0);
    if (n <= 0)
        die("the server closed a connection", "");
    c->n += (size_t)n;
    c->reply[c->n] = 0;
    const char *end = memmem(c->reply, c->n, "\r\n\r\n", 4);
    if (!end)
        return false;
    const char *length = strcasestr(c->reply, "\r\ncontent-length:");
    if (!length || length > end)
        die("a reply without Content-Length", c->reply);
    return c->n >= (size_t)(end - c->reply) + 4 + strtoul(length + 17, NULL, 10);
}

static void check(const struct client *c, const struct test_case *test)
{
    if (memcmp(c->reply, "HTTP/1.1 200", 12) != 0 || !strstr(c->reply, test->expect) ||
        strstr(c->reply, "\"isError\":true"))
        die(test->name, c->reply);
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double at_share(float *us, uint32_t n, double share)
{
    qsort(us, n, sizeof *us, compare);
    return n ? us[(uint32_t)((n - 1) * share)] : 0;
}

/* Lets the clients call until the time is over; then waits for what is under way. */
static void run_round(struct bench *bench, struct client *clients, const struct test_case *test,
                      bool big, double seconds, struct samples *s, int round)
{
    struct epoll_event events[CLIENTS_MAX];
    int set = epoll_create1(EPOLL_CLOEXEC), busy = test->clients;
    uint32_t before = s->n;
    double start = now_us(), end = start + seconds * 1e6;
    for (int i = 0; i < test->clients; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &clients[i]};
        epoll_ctl(set, EPOLL_CTL_ADD, clients[i].fd, &e);
        ask(&clients[i], bench, test, big);
    }
    while (busy) {
        int n = epoll_wait(set, events, CLIENTS_MAX, WAIT_MS);
        if (n <= 0)
            die(test->name, "was not answered");
        for (int i = 0; i < n; i++) {
            struct client *c = events[i].data.ptr;
            if (!take(c))
                continue;
            check(c, test);
            if (s->n < LATENCIES_MAX)
                s->us[s->n++] = (float)(now_us() - c->asked_us);
            if (now_us() < end)
                ask(c, bench, test, big);
            else
                busy--;
        }
    }
    s->seconds += (now_us() - start) * 1e-6;
    s->medians[round] = at_share(s->us + before, s->n - before, 0.5);
    close(set);
}

static double middle(const struct samples *s)
{
    float sorted[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        sorted[i] = (float)s->medians[i];
    return at_share(sorted, ROUNDS, 0.5);
}

static void print_duration(double us)
{
    if (us < 10000)
        printf(" %7.0f us", us);
    else
        printf(" %7.0f ms", us / 1000);
}

static void print_samples(const char *name, uint64_t n, const struct test_case *test,
                          struct samples *s)
{
    printf("%-38s %9llu", name, (unsigned long long)n);
    print_duration(at_share(s->us, s->n, 0.5));
    print_duration(at_share(s->us, s->n, 0.99));
    printf(" %9.0f/s", s->n / s->seconds);
    if (test->whole_scan)
        printf("  (%.1f million rows/s)", (double)n * s->n / s->seconds / 1e6);
}

/* Every row and every index is walked once, so that no case pays for the first touch of a page of
 * the mapped file: what is compared is the work, not how long the server has been running. */
static void warm_up(struct bench *bench, struct client *client)
{
    static const char *const walks[] = {"name = ''", "grp >= 0", "score >= 0"};
    for (size_t i = 0; i < 2 * sizeof walks / sizeof *walks; i++) {
        struct buf arguments = {0};
        buf_printf(&arguments, "{\"where\":\"%s\",\"total\":true,\"limit\":1}", walks[i / 2]);
        buf_add_char(&arguments, 0);
        send_call(client, bench, "search", i % 2 ? "big" : "small", arguments.p);
        while (!take(client))
            ;
        if (!strstr(client->reply, "\"total\":"))
            die("warming up", client->reply);
        buf_done(&arguments);
    }
}

static void run_case(struct bench *bench, struct client *clients, const struct test_case *test)
{
    struct samples big = {malloc(LATENCIES_MAX * sizeof(float)), 0, 0, {0}};
    struct samples small = {malloc(LATENCIES_MAX * sizeof(float)), 0, 0, {0}};
    if (!big.us || !small.us)
        die("no memory", "");
    for (int round = 0; round < ROUNDS; round++) {
        run_round(bench, clients, test, true, bench->seconds / ROUNDS, &big, round);
        if (test->compared)
            run_round(bench, clients, test, false, bench->seconds / ROUNDS, &small, round);
    }
    print_samples(test->name, test->table ? 0 : bench->big, test, &big);
    bool in_time = !test->p99_us || at_share(big.us, big.n, 0.99) <= test->p99_us;
    if (test->p99_us)
        printf("  p99 bound %.0f us%s", test->p99_us, in_time ? "" : ": BROKEN");
    bench->failed |= !in_time;
    printf("\n");
    if (test->compared) {
        double ratio = middle(&big) / middle(&small);
        bool ok = test->bound == 0 || ratio <= test->bound;
        print_samples("", bench->small, test, &small);
        printf("  ratio %.2f", ratio);
        if (test->bound > 0)
            printf(", bound %.1f%s", test->bound, ok ? "" : ": BROKEN");
        printf("\n");
        bench->failed |= !ok;
    }
    free(big.us);
    free(small.us);
}

int main(int argc, char **argv)
{
    static struct client clients[CLIENTS_MAX];
    struct bench bench = {.seconds = 2, .seed = 1};
    if (argc < 4) {
        fprintf(stderr, "usage: bench_data PORT BIG SMALL [--seconds S]\n");
        return 2;
    }
    bench.port = (uint16_t)atoi(argv[1]);
    bench.big = strtoull(argv[2], NULL, 10);
    bench.small = strtoull(argv[3], NULL, 10);
    if (argc > 5)
        bench.seconds = atof(argv[5]);
    for (int i = 0; i < CLIENTS_MAX; i++)
        open_client(&clients[i], bench.port);
    setlinebuf(stdout);
    warm_up(&bench, &clients[0]);
    printf("%-38s %9s %10s %10s %11s\n", "", "rows", "p50", "p99", "calls");
    for (size_t i = 0; i < N_CASES; i++)
        run_case(&bench, clients, &cases[i]);
    for (int i = 0; i < CLIENTS_MAX; i++) {
        close(clients[i].fd);
        free(clients[i].reply);
    }
    return bench.failed;
}
