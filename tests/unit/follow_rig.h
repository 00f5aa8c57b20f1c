/* tests/unit/follow_rig.h - core_stream_rig.h with tables, subscriptions and what they tell.
 *
 * shop.book (integer keys) and shop.note (string keys), and a session that was opened after them.
 */
#ifndef TENON_TESTS_UNIT_FOLLOW_RIG_H
#define TENON_TESTS_UNIT_FOLLOW_RIG_H

#include "core_stream_rig.h"

#include "core/catalog.h"
#include "core/follow_parts.h"

#define UPDATED_HEAD \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":"

static struct rig rig;

/* Requests go to this worker. */
static inline void at(unsigned worker)
{
    rig.bench.core = rig.cores[worker];
}

static inline void follow_open(const struct core_config *more)
{
    rig_open(&rig);
    for (unsigned i = 0; more && i < WORKERS; i++) {
        rig.cores[i]->config.stream_frames = more->stream_frames;
        rig.cores[i]->config.max_subscriptions = more->max_subscriptions;
        rig.cores[i]->config.coalesce_ms = more->coalesce_ms;
    }
    bench_table(&rig.bench, "shop", "book", BOOK_DEFINITION);
    bench_table(&rig.bench, "shop", "note", NOTE_DEFINITION);
    bench_connect(&rig.bench, "2025-06-18");
}

static inline int set_up(void **state)
{
    follow_open(NULL);
    *state = &rig;
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static inline void request(const char *method, const char *uri, const char *meta,
                           const char *pattern)
{
    char params[4000];
    snprintf(params, sizeof params, "{\"uri\":\"%s\"%s%s}", uri, meta ? ",\"_meta\":" : "",
             meta ? meta : "");
    ask_method(&rig.bench, method, params, pattern);
}

static inline void subscribe(const char *uri)
{
    request("resources/subscribe", uri, NULL, "{}");
}

static inline void subscribe_all(const char *uri)
{
    request("resources/subscribe", uri, "{\"tenon/mode\":\"all\"}", "{}");
}

static inline void unsubscribe(const char *uri)
{
    request("resources/unsubscribe", uri, NULL, "{}");
}

static inline void call_tool(const char *name, const char *arguments)
{
    char params[1024];
    snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", name, arguments);
    ask_method(&rig.bench, "tools/call", params, "{\"-\":[\"isError\"]}");
}

static inline uint32_t table_id(const char *name)
{
    const struct catalog *catalog = catalog_now(rig.bench.core);
    assert_non_null(catalog);
    const struct table *table = catalog_find_table(catalog, STR("shop"), str_of(name));
    return table ? table->id : 0;
}

/* A commit of whoever; nobody says that it was one of these workers. */
static inline void write_note(const char *key)
{
    static unsigned n;
    struct arena arena;
    const struct tape_node *row;
    arena_init(&arena, 0);
    char *text = arena_zalloc(&arena, 512 + JSON_PADDING_BYTES);
    assert_non_null(text);
    int len = snprintf(text, 512, "{\"key\":\"%s\",\"text\":\"%u\"}", key, ++n);
    assert_int_equal(tape_open((struct str){text, (uint32_t)len}, &arena, &row, NULL), 0);
    bench_write(&rig.bench, (struct store_op){.kind = STORE_PUT_ROW,
                                              .if_version = STORE_ANY,
                                              .table = table_id("note"),
                                              .key = str_of(key),
                                              .row = row});
    arena_done(&arena);
}

static inline void delete_note(const char *key)
{
    bench_write(&rig.bench, (struct store_op){.kind = STORE_DELETE_ROW,
                                              .if_version = STORE_PRESENT,
                                              .table = table_id("note"),
                                              .key = str_of(key)});
}

/* ---- What came ------------------------------------------------------------------------------ */

static inline bool is_update(const char *text)
{
    return strncmp(text, UPDATED_HEAD, strlen(UPDATED_HEAD)) == 0;
}

static inline unsigned n_updates(const struct wire *w)
{
    unsigned n = 0;
    for (unsigned i = 0; i < w->n; i++)
        n += is_update(w->text[i]);
    return n;
}

/* The params of the n-th one, from 0. */
static inline const char *update(const struct wire *w, unsigned n, char ret[1024])
{
    for (unsigned i = 0; i < w->n; i++)
        if (is_update(w->text[i]) && n-- == 0) {
            snprintf(ret, 1024, "%s", w->text[i] + strlen(UPDATED_HEAD));
            ret[strlen(ret) - 1] = 0;
            return ret;
        }
    return "none";
}

static inline void expect_updates(const struct wire *w, const char *const *params, unsigned n)
{
    char text[1024];
    for (unsigned i = 0; i < n && i < n_updates(w); i++)
        assert_string_equal(update(w, i, text), params[i]);
    assert_int_equal(n_updates(w), n);
}

#define UPDATES(wire, ...)                                               \
    do {                                                                 \
        const char *const params_[] = {__VA_ARGS__};                     \
        expect_updates(wire, params_, sizeof params_ / sizeof *params_); \
    } while (0)

#define URI(uri) "{\"uri\":\"" uri "\"}"

static inline uint64_t last_seq(void)
{
    struct store_view *view;
    uint64_t seq = 0;
    assert_int_equal(store_view_open(rig.bench.store, STORE_DATA, &view), 0);
    assert_int_equal(store_last_seq(view, &seq), 0);
    store_view_close(view);
    return seq;
}

static inline struct store_follow stored_follow(void)
{
    struct store_view *view;
    struct store_follow follow = {.n = 0};
    assert_int_equal(store_view_open(rig.bench.store, STORE_SYS, &view), 0);
    assert_int_equal(store_get_follow(view, str_of(rig.bench.session), &follow), 0);
    store_view_close(view);
    return follow;
}

/* A GET stream that is there. */
static inline struct wire *listen_at(unsigned worker, const char *last_event)
{
    struct wire *w = rig_get(&rig, worker, last_event);
    assert_non_null(w);
    rig_settle(&rig);
    return w;
}

static inline const char *last_id(const struct wire *w)
{
    assert_true(w->n > 0);
    return w->id[w->n - 1];
}

#endif
