/* tests/unit/manage_rig.h - a store, in memory or in LMDB, with a table geo.city that is managed;
 * and what somebody else does while something takes long.
 */
#ifndef TENON_TESTS_MANAGE_RIG_H
#define TENON_TESTS_MANAGE_RIG_H

#include "core/manage.h"

#include "core/table_indexes.h"
#include "store_fixture.h"

#define CITY                                                                           \
    "{\"primaryKey\":\"code\",\"title\":\"Cities\",\"schema\":{\"type\":\"object\","   \
    "\"properties\":{\"code\":{\"type\":\"string\"},\"region\":{\"type\":\"string\"}," \
    "\"people\":{\"type\":\"integer\"},\"any\":{}}}"
#define CITY_PLAIN CITY "}"
#define CITY_INDEXED \
    CITY ",\"indexes\":[{\"on\":[\"region\",\"-people\"]}],\"indexed\":[\"people\"]}"
/* people must be at least 10 */
#define CITY_LARGE                                                                 \
    "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{"    \
    "\"code\":{\"type\":\"string\"},\"region\":{\"type\":\"string\"},\"people\":{" \
    "\"type\":\"integer\",\"minimum\":10}}}}"

#define PEOPLE_AS_TEXT                                                                    \
    "{\"primaryKey\":\"code\",\"schema\":{\"type\":\"object\",\"properties\":{\"code\":{" \
    "\"type\":\"string\"},\"people\":{\"type\":\"string\"}}}}"

struct rig {
    struct store *store;
    struct arena arena;
    struct manage m;
    char dir[64];
};

static inline int open_rig(struct rig *r)
{
    arena_init(&r->arena, 0);
    r->m = (struct manage){.store = r->store, .arena = &r->arena};
    return 0;
}

static inline int set_up_memory(void **state)
{
    static struct rig rig;
    rig = (struct rig){0};
    *state = &rig;
    assert_int_equal(store_open_memory(&rig.store), 0);
    return open_rig(&rig);
}

static inline int set_up_lmdb(void **state)
{
    static struct rig rig;
    struct str why;
    rig = (struct rig){0};
    *state = &rig;
    scratch_make(rig.dir);
    arena_init(&rig.arena, 0);
    const struct store_config config = {.dir = rig.dir, .mode = STORE_NOSYNC};
    assert_int_equal(store_open_lmdb(&config, &rig.arena, &rig.store, &why), 0);
    arena_done(&rig.arena);
    return open_rig(&rig);
}

static inline int tear_down(void **state)
{
    struct rig *r = *state;
    store_close(r->store);
    arena_done(&r->arena);
    if (r->dir[0])
        scratch_remove(r->dir);
    return 0;
}

/* ---- Helpers -------------------------------------------------------------------------------- */

static inline void create(struct rig *r, const char *definition)
{
    assert_int_equal(manage_create_table(&r->m, STR("geo"), STR("city"), str_of(definition)), 0);
}

static inline struct store_table look(struct rig *r)
{
    struct store_table table = {0};
    assert_int_equal(manage_find_table(&r->m, STR("geo"), STR("city"), &table), 0);
    return table;
}

static inline const struct tape_node *open_json(struct rig *r, const char *text)
{
    const struct tape_node *tape = NULL;
    size_t n = strlen(text);
    char *copy = arena_zalloc(&r->arena, n + JSON_PADDING_BYTES);
    memcpy(copy, text, n);
    assert_int_equal(tape_open((struct str){copy, (uint32_t)n}, &r->arena, &tape, NULL), 0);
    return tape;
}

static inline int put(struct rig *r, const char *json)
{
    const struct tape_node *row = open_json(r, json);
    struct store_op op = row_op(look(r).id, tape_str(tape_get(row, STR("code"))), row, STORE_ANY);
    return write_list(r->store, STORE_DATA, &op, 1, NULL);
}

static inline void assert_why(struct rig *r, int err, const char *part)
{
    struct str why = manage_why(&r->m, err);
    char text[1024];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(why));
    if (!strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static inline void assert_description(struct rig *r, const char *expected)
{
    struct buf text = {0};
    struct store_table table = look(r);
    assert_int_equal(manage_describe(&table, &text), 0);
    buf_add(&text, "", 1);
    assert_string_equal(text.p, expected);
    buf_done(&text);
}

static inline int create_index(struct rig *r, const char *definition, struct str *ret)
{
    r->m.why = STR_NONE;
    return manage_create_index(&r->m, STR("geo"), STR("city"), str_of(definition), ret);
}

static inline void fill_cities(struct rig *r)
{
    assert_int_equal(put(r, "{\"code\":\"A\",\"region\":\"n\",\"people\":5}"), 0);
    assert_int_equal(put(r, "{\"code\":\"B\",\"region\":\"s\",\"people\":50}"), 0);
    assert_int_equal(put(r, "{\"code\":\"C\",\"region\":\"n\",\"people\":500}"), 0);
}

/* What another thread or process would do meanwhile. */
struct meanwhile {
    struct rig *rig;
    int (*act)(struct rig *r);
    int err, n;
};

static inline int do_once(void *ctx, uint64_t done, uint64_t total)
{
    struct meanwhile *w = ctx;
    (void)done;
    (void)total;
    if (w->n++ == 0)
        w->err = w->act(w->rig);
    return 0;
}

static inline void do_meanwhile(struct rig *r, struct meanwhile *w, int (*act)(struct rig *r))
{
    *w = (struct meanwhile){.rig = r, .act = act, .err = 1};
    r->m.progress = do_once;
    r->m.ctx = w;
}

static inline struct manage another(struct rig *r)
{
    return (struct manage){.store = r->store, .arena = &r->arena};
}

static inline int build_another(struct rig *r)
{
    struct manage m = another(r);
    struct str name;
    return manage_create_index(&m, STR("geo"), STR("city"), STR("{\"on\":[\"people\"]}"), &name);
}

static inline int alter_people_to_text(struct rig *r)
{
    struct manage m = another(r);
    return manage_alter_table(&m, STR("geo"), STR("city"), STR(PEOPLE_AS_TEXT));
}

static inline int cancel(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)done;
    (void)total;
    return 1;
}

static inline int alter(struct rig *r, const char *definition)
{
    return manage_alter_table(&r->m, STR("geo"), STR("city"), str_of(definition));
}

#define BOTH(test)                                             \
    {#test " (memory)", test, set_up_memory, tear_down, NULL}, \
    {                                                          \
#test " (LMDB)", test, set_up_lmdb, tear_down, NULL    \
    }

#endif
