/* tests/multi/follow_account.h - what each subscriber of follow_rig.h has to be told, and was.
 *
 * What has to be told is read from the change log itself, which the test has open beside the
 * server: nothing up to the sequence before the subscribe, everything behind that of its answer.
 */
#ifndef TENON_TESTS_FOLLOW_ACCOUNT_H
#define TENON_TESTS_FOLLOW_ACCOUNT_H

#include "tests/multi/live_rig.h"

#include "base/err.h"
#include "core/store.h"

#include <inttypes.h>

#define N_TABLES  4
#define KEY_BYTES 24
#define FOLLOW_MS 90000 /* for what has to come in the end, on a machine however slow */
#define PAUSE_MS  10

enum kind { ROW, TABLE, RESOURCE, N_KINDS };

/* What a notification said: in mode all the change's sequence and its row; else how far the
 * session was told by it, and no row. */
struct mark {
    uint64_t seq;
    char key[KEY_BYTES];
};

struct marks {
    struct mark *all;
    size_t n, cap;
};

struct interest {
    enum kind kind;
    char uri[96];
    bool all, is_on;
    uint32_t table;
    char key[KEY_BYTES];
    uint64_t before_seq, since_seq, target_seq, off_seq;
    /* Its row is of the table that is subscribed to as well: the same change is told to both, and
     * of the first of them the position says only that all before it was. */
    bool is_shared;
    struct marks told, changes;
    uint32_t n_acknowledged; /* changes by this subscriber */
};

struct subscriber {
    int number, tables[2]; /* of its row, and the one that it subscribes to */
    char session[128];
    unsigned seed;
    bool by_ids;    /* always goes on by its last id */
    bool coalesces; /* what is not `all` */
    bool is_there[2];
    struct interest interests[N_KINDS];
    struct sse_stream stream;
    bool is_open;
    char last_id[128];
    uint64_t position; /* of the stream */
    int64_t until_ms;
    char *story; /* what it did and heard, shown if something is wrong */
    size_t story_n;
    bool is_wronged;
};

static struct store *beside;
static uint32_t table_ids[N_TABLES];
static bool has_kills;
static _Atomic uint32_t n_told, n_returns, n_committed;

/* ---- Small things --------------------------------------------------------------------------- */

static inline unsigned chance(struct subscriber *s, unsigned n)
{
    return (unsigned)rand_r(&s->seed) % n;
}

static inline bool is_late(const struct subscriber *s)
{
    return server_now_ms() > s->until_ms;
}

static inline void pause_ms(unsigned ms)
{
    poll(NULL, 0, (int)ms);
}

__attribute__((format(printf, 2, 3))) static inline void tell(struct subscriber *s,
                                                              const char *format, ...)
{
    char line[400];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    n = n < (int)sizeof line ? n : (int)sizeof line - 1;
    s->story = realloc(s->story, s->story_n + (size_t)n + 2);
    if (!s->story)
        abort();
    memcpy(s->story + s->story_n, line, (size_t)n);
    s->story_n += (size_t)n + 1;
    memcpy(s->story + s->story_n - 1, "\n", 2);
}

__attribute__((format(printf, 2, 3))) static inline void blame(struct subscriber *s,
                                                               const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fault("%d: %s", s->number, text);
    tell(s, "WRONG: %.300s", text);
    s->is_wronged = true;
}

static inline void add_mark(struct marks *marks, uint64_t seq, struct str key)
{
    if (marks->n == marks->cap) {
        marks->cap = marks->cap * 2 + 16;
        marks->all = realloc(marks->all, marks->cap * sizeof *marks->all);
        if (!marks->all)
            abort();
    }
    struct mark *m = &marks->all[marks->n++];
    m->seq = seq;
    snprintf(m->key, sizeof m->key, STR_FMT, STR_ARG(key));
}

/* ---- The log itself ------------------------------------------------------------------------- */

static inline uint64_t log_end(void)
{
    struct store_view *view;
    uint64_t seq = 0;
    if (store_view_open(beside, STORE_DATA, &view))
        return 0;
    store_last_seq(view, &seq);
    store_view_close(view);
    return seq;
}

static inline bool concerns(const struct interest *i, const struct store_change *change)
{
    bool is_row = change->kind == STORE_ROW_PUT || change->kind == STORE_ROW_DELETED;
    if (i->kind == RESOURCE)
        return change->kind == STORE_RESOURCE_CHANGED && str_eq(change->key, str_of(i->uri));
    return is_row && change->table == i->table &&
           (i->kind == TABLE || str_eq(change->key, str_of(i->key)));
}

static inline int note_change(void *ctx, const struct store_change *change)
{
    struct interest *i = ctx;
    if (concerns(i, change))
        add_mark(&i->changes, change->seq, i->kind == TABLE ? change->key : STR(""));
    return 0;
}

/* What became of it since before the subscription. */
static inline void read_changes(struct interest *i)
{
    struct store_view *view;
    int err = store_view_open(beside, STORE_DATA, &view);
    i->changes.n = 0;
    if (!err) {
        err = store_scan_changes(view, i->before_seq, note_change, i);
        store_view_close(view);
    }
    if (err)
        fault("the log cannot be read: %s", err_name(err));
}

static inline int note_table_id(void *ctx, const struct store_table *table)
{
    int n;
    char name[16];
    (void)ctx;
    snprintf(name, sizeof name, STR_FMT, STR_ARG(table->name));
    if (sscanf(name, "t%d", &n) == 1 && n >= 0 && n < N_TABLES)
        table_ids[n] = table->id;
    return 0;
}

static inline bool open_beside(void)
{
    struct arena arena;
    struct store_view *view;
    struct str why = STR("");
    struct store_config config = {.dir = server.data, .read_only = true};
    arena_init(&arena, 0);
    bool ok = store_open_lmdb(&config, &arena, &beside, &why) == 0 &&
              store_view_open(beside, STORE_DATA, &view) == 0;
    if (ok) {
        store_scan_tables(view, note_table_id, NULL);
        store_view_close(view);
    } else {
        tap_note(STR_FMT, STR_ARG(why));
    }
    arena_done(&arena);
    return ok && table_ids[N_TABLES - 1];
}

/* ---- The account ---------------------------------------------------------------------------- */

/* An entry of a resource's change is made after its tool was answered. */
static inline bool all_logged(struct subscriber *s)
{
    struct interest *i = &s->interests[RESOURCE];
    read_changes(i);
    return i->changes.n >= i->n_acknowledged;
}

static inline void set_target(struct interest *i)
{
    read_changes(i);
    i->target_seq = i->changes.n ? i->changes.all[i->changes.n - 1].seq : 0;
}

/* Up to where a merged update tells, at most; in mode all the change. */
static inline uint64_t reach_of(const struct interest *i, const struct mark *told)
{
    return told->seq + (i->is_shared && !i->all);
}

/* What waits to be coalesced holds the position back; once that has passed, all was told. */
static inline bool is_told(const struct subscriber *s, const struct interest *i)
{
    if (!i->is_on || i->target_seq <= i->since_seq)
        return true;
    if (s->coalesces && !i->all && i->told.n && s->position >= i->target_seq)
        return true;
    for (size_t k = i->told.n; k > 0; k--)
        if (reach_of(i, &i->told.all[k - 1]) >= i->target_seq)
            return true;
    return false;
}

static inline bool all_told(const struct subscriber *s)
{
    bool told = true;
    for (int i = 0; i < N_KINDS; i++)
        told = told && is_told(s, &s->interests[i]);
    return told;
}

static inline const struct mark *find_change(const struct interest *i, uint64_t seq)
{
    size_t low = 0, high = i->changes.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (i->changes.all[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < i->changes.n && i->changes.all[low].seq == seq ? &i->changes.all[low] : NULL;
}

static inline size_t count_told(const struct interest *i, uint64_t seq)
{
    size_t n = 0;
    for (size_t k = 0; k < i->told.n; k++)
        n += i->told.all[k].seq == seq;
    return n;
}

/* Told nothing twice. What waits to be coalesced holds the position back, so all that is told
 * meanwhile is told again to who comes back then. */
static inline bool is_exact(const struct subscriber *s)
{
    return s->by_ids && !s->coalesces;
}

/* Mode all: each change once and in order; without ids at least once. */
static inline void check_all(struct subscriber *s, const struct interest *i)
{
    for (size_t k = 0; k < i->told.n; k++) {
        const struct mark *told = &i->told.all[k], *change = find_change(i, told->seq);
        if (!change || strcmp(change->key, told->key) != 0)
            blame(s, "no change of %s%s%s has the sequence %" PRIu64, i->uri, *told->key ? "/" : "",
                  told->key, told->seq);
        if (is_exact(s) && k && told->seq <= told[-1].seq)
            blame(s, "%s: %" PRIu64 " is told after %" PRIu64, i->uri, told->seq, told[-1].seq);
    }
    for (size_t k = 0; k < i->changes.n; k++) {
        uint64_t seq = i->changes.all[k].seq;
        if (seq > i->since_seq && seq <= i->target_seq && count_told(i, seq) == 0)
            blame(s, "change %" PRIu64 " of %s is never told (%s ids)", seq, i->uri,
                  s->by_ids ? "by" : "without");
    }
}

static inline bool changed_within(const struct interest *i, uint64_t after, uint64_t to)
{
    for (size_t k = 0; k < i->changes.n; k++)
        if (i->changes.all[k].seq > after && i->changes.all[k].seq <= to)
            return true;
    return false;
}

/* Merged, with ids: each update has a change behind it that none before told. */
static inline void check_merged(struct subscriber *s, const struct interest *i)
{
    for (size_t k = 0; is_exact(s) && k < i->told.n; k++) {
        uint64_t before = k ? i->told.all[k - 1].seq : i->before_seq;
        if (!changed_within(i, before, reach_of(i, &i->told.all[k])))
            blame(s, "%s did not change between %" PRIu64 " and %" PRIu64, i->uri, before,
                  i->told.all[k].seq);
    }
}

static inline void check_account(struct subscriber *s)
{
    for (int k = 0; k < N_KINDS; k++) {
        struct interest *i = &s->interests[k];
        read_changes(i);
        if (i->all)
            check_all(s, i);
        else
            check_merged(s, i);
        if (k == ROW &&
            (has_kills ? i->changes.n < i->n_acknowledged : i->changes.n != i->n_acknowledged))
            blame(s, "%u acknowledged commits, %zu changes", i->n_acknowledged, i->changes.n);
    }
}

#endif
