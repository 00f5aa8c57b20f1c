/* tests/multi/kill_rig.h - what the tests of kill -9 in changes of a whole table share: the table,
 * clients that create rows in it all the time, and a look at what is there afterwards.
 */
#ifndef TENON_TESTS_KILL_RIG_H
#define TENON_TESTS_KILL_RIG_H

#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include "base/err.h"
#include "core/store.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_CLIENTS      3
#define N_ROWS         60000 /* of each client, at most */
#define IMPORT_ROWS    8000
#define MS_OF_A_CHANGE 10000 /* at most, undisturbed */

static inline unsigned random_below(unsigned n)
{
    static uint32_t x;
    if (!x)
        x = (uint32_t)getpid() * 2654435761u | 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x % n;
}

/* TENON_KILL_TIMES=N: so many times as many rounds, and as much time for them. */
static inline int kill_times(int n)
{
    const char *times = getenv("TENON_KILL_TIMES");
    return times && atoi(times) > 0 ? n * atoi(times) : n;
}

#define TABLE 1
#define DEFINITION(letter)                                                                         \
    "{\"description\":\"" letter "\",\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\","       \
    "\"properties\":{\"id\":{\"type\":\"string\"},\"code\":{\"type\":\"string\"},\"n\":{\"type\":" \
    "\"integer\"},\"text\":{\"type\":\"string\"}},\"required\":[\"id\",\"code\",\"n\",\"text\"]}}"

static const char *const definitions[] = {DEFINITION("A"), DEFINITION("B")};

static inline struct store *open_store(const char *dir)
{
    struct arena arena;
    struct str why = STR("");
    struct store *store = NULL;
    struct store_config config = {.dir = dir, .volatile_sys = true};
    arena_init(&arena, 0);
    if (store_open_lmdb(&config, &arena, &store, &why))
        fprintf(stderr, "%s: " STR_FMT "\n", dir, STR_ARG(why));
    arena_done(&arena);
    return store;
}

static const struct store_index_part part_code = {STR_INIT("code"), KEY_STRING, false};
static const struct store_index_part part_n = {STR_INIT("n"), KEY_INTEGER, true};
static const struct store_index_part parts_text[] = {{STR_INIT("text"), KEY_STRING, false},
                                                     {STR_INIT("n"), KEY_INTEGER, false}};
static const struct store_index first_indexes[] = {
    {.name = STR_INIT("once_code"), .unique = true, .parts = &part_code, .n_parts = 1},
    {.name = STR_INIT("by_n"), .parts = &part_n, .n_parts = 1},
};
static const struct store_index by_text = {
    .name = STR_INIT("by_text"), .parts = parts_text, .n_parts = 2};

/* ---- Clients -------------------------------------------------------------------------------- */

enum fate { NOT_SENT, ACKNOWLEDGED, UNKNOWN, REFUSED };

struct client {
    pthread_t thread;
    int number;
    _Atomic int n_sent;
    int n_checked;
    unsigned char fates[N_ROWS];
};

static struct client clients[N_CLIENTS];
static _Atomic uint16_t port_now; /* 0: the server is being started again */
static _Atomic bool stop_clients;

static inline void write_row(char *out, size_t size, int client, int row)
{
    snprintf(out, size, "{\"id\":\"w%d-%06d\",\"code\":\"w%d-%06d\",\"n\":%d,\"text\":\"text %d\"}",
             client, row, client, row, row, row % 97);
}

static inline bool connect_again(struct mcp_client *c)
{
    return server_wait(({
        http_close(&c->conn);
        c->port = port_now;
        stop_clients || (c->port && (*c->session ? http_open(&c->conn, c->port) && mcp_ping(c)
                                                 : mcp_open(c, c->port, "2025-06-18")));
    }));
}

static inline enum fate create(struct mcp_client *c, int client, int row)
{
    char text[200];
    char *body = NULL;
    write_row(text, sizeof text, client, row);
    int status = mcp_call(c, "create_item", text, &body);
    bool fine = status == 200 && body && strstr(body, "\"result\"") && !strstr(body, "\"isError\"");
    if (status && !fine)
        tap_note("%s: status %d, %.300s", text, status, body ? body : "");
    free(body);
    return fine ? ACKNOWLEDGED : status == 0 ? UNKNOWN : REFUSED;
}

static inline void *create_all(void *arg)
{
    struct client *client = arg;
    struct mcp_client c = {.conn.fd = -1};
    if (!connect_again(&c))
        return NULL;
    for (int row = 0; row < N_ROWS && !stop_clients; row++) {
        enum fate fate = create(&c, client->number, row);
        client->fates[row] = (unsigned char)fate;
        client->n_sent = row + 1;
        if (fate == UNKNOWN && !connect_again(&c))
            break;
    }
    mcp_close(&c);
    return NULL;
}

static inline void start_clients(const struct server *s)
{
    port_now = s->port;
    stop_clients = false;
    for (int i = 0; i < N_CLIENTS; i++) {
        clients[i] = (struct client){.number = i};
        pthread_create(&clients[i].thread, NULL, create_all, &clients[i]);
    }
}

static inline int count_fates(enum fate fate)
{
    int n = 0;
    for (int i = 0; i < N_CLIENTS; i++)
        for (int row = 0; row < clients[i].n_sent; row++)
            n += clients[i].fates[row] == fate;
    return n;
}

/* ---- What is there -------------------------------------------------------------------------- */

static inline void show_finding(void *ctx, struct str finding)
{
    (void)ctx;
    tap_note(STR_FMT, STR_ARG(finding));
}

static inline bool is_row(const struct store_row *found, int client, int row)
{
    char wanted[200];
    const struct tape_node *r = found->row;
    struct str id = tape_str(tape_get(r, STR("id"))), code = tape_str(tape_get(r, STR("code")));
    struct str text = tape_str(tape_get(r, STR("text")));
    char is[200];
    write_row(wanted, sizeof wanted, client, row);
    snprintf(is, sizeof is,
             "{\"id\":\"" STR_FMT "\",\"code\":\"" STR_FMT "\",\"n\":%lld,\"text\":\"" STR_FMT
             "\"}",
             STR_ARG(id), STR_ARG(code), (long long)tape_get(r, STR("n"))->v.i, STR_ARG(text));
    return strcmp(is, wanted) == 0;
}

/* One that was in flight is whole or absent. */
static inline bool row_is_right(struct store_view *view, int client, int row, struct arena *arena)
{
    char key[32];
    struct store_row found;
    snprintf(key, sizeof key, "w%d-%06d", client, row);
    arena_reset(arena);
    int err = store_get_row(view, TABLE, str_of(key), arena, &found);
    enum fate fate = clients[client].fates[row];
    bool right = err ? err == ERR_ABSENT && fate != ACKNOWLEDGED : is_row(&found, client, row);
    if (!right)
        tap_note("row %s: %s", key, err ? err_name(err) : "is another");
    return right;
}

static inline int count_wrong_rows(struct store *store, bool all)
{
    struct arena arena;
    struct store_view *view;
    int n = 0, n_sent[N_CLIENTS];
    for (int i = 0; i < N_CLIENTS; i++)
        n_sent[i] = clients[i].n_sent; /* before the view, which has them all */
    if (store_view_open(store, STORE_DATA, &view))
        return -1;
    arena_init(&arena, 0);
    for (int i = 0; i < N_CLIENTS; i++) {
        for (int row = all ? 0 : clients[i].n_checked; row < n_sent[i]; row++)
            n += !row_is_right(view, i, row, &arena);
        clients[i].n_checked = n_sent[i];
    }
    arena_done(&arena);
    store_view_close(view);
    return n;
}

/* Compared by what they differ in: the text may be stored with other blanks. */
static inline bool is_described(struct str definition, const char *letter)
{
    char wanted[32];
    int n = snprintf(wanted, sizeof wanted, "\"description\":\"%s\"", letter);
    return memmem(definition.p, definition.n, wanted, (size_t)n) != NULL;
}

struct found_table {
    uint32_t n_indexes, n_ready;
    bool is_a, is_b;
};

static inline int note_table(void *ctx, const struct store_table *table)
{
    struct found_table *t = ctx;
    t->n_indexes = table->n_indexes;
    for (uint32_t i = 0; i < table->n_indexes; i++)
        t->n_ready += table->indexes[i].ready;
    t->is_a = is_described(table->definition, "A");
    t->is_b = is_described(table->definition, "B");
    return 0;
}

/* ---- Imports --------------------------------------------------------------------------------- */

static inline int count_row(void *ctx, const struct store_row *row)
{
    (void)row;
    ++*(uint64_t *)ctx;
    return 0;
}

static inline void write_import_key(char out[32], int round, int row)
{
    snprintf(out, 32, "i%04d-%06d", round, row);
}

static inline uint64_t count_imported(struct store_view *view, int round)
{
    uint64_t n = 0;
    char from[32], to[32];
    write_import_key(from, round, 0);
    write_import_key(to, round + 1, 0);
    struct store_range range = {.from = str_of(from), .to = str_of(to)};
    int err = store_scan_rows(view, TABLE, &range, count_row, &n);
    return err ? UINT64_MAX : n;
}

static inline bool write_import_file(const char *path, int round)
{
    FILE *f = fopen(path, "w");
    for (int i = 0; f && i < IMPORT_ROWS; i++) {
        char key[32];
        write_import_key(key, round, i);
        fprintf(f, "{\"id\":\"%s\",\"code\":\"%s\",\"n\":%d,\"text\":\"text %d\"}\n", key, key, i,
                i % 89);
    }
    return f && fclose(f) == 0;
}

#endif
