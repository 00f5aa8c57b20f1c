/* core/follow_what.c - interests, and what they are in.
 *
 * An interest is found by what a change says: a row's table id and key, a table id, a component's
 * URI. It keeps the names that the URI has, so that it holds for a table that was dropped and made
 * again. What it is not found by any more is told in time: the log says when a table goes. Of one
 * that went before anybody looked, only its name is left, so then each table that goes may be it.
 */
#include "core/follow_parts.h"

#include "base/err.h"
#include "core/catalog.h"
#include "core/change_mark.h"

#include <stdlib.h>
#include <string.h>

/* ---- The index ------------------------------------------------------------------------------ */

static bool is_row(const struct interest *i)
{
    return i->id.p != NULL;
}

static struct node_map *index_of(const struct interest *i)
{
    return &i->follower->follows->index[follower_pace(i->follower)];
}

void interest_index(struct interest *i)
{
    uint64_t hash;
    if (i->table && (i->table->id == 0 || (is_row(i) && !i->key.p)))
        return;
    if (is_row(i))
        hash = mark_of_row(i->table->id, i->key);
    else
        hash = i->table ? mark_of_table(i->table->id) : mark_of_uri(i->uri);
    node_map_add(index_of(i), &i->what, hash); /* it has slots, so this does not fail */
    bus_add_mark(i->follower->follows->core->config.bus, hash, 1);
}

void interest_unindex(struct interest *i)
{
    if (!i->what.at)
        return;
    bus_add_mark(i->follower->follows->core->config.bus, i->what.hash, -1);
    node_map_remove(index_of(i), &i->what);
}

void interest_move(struct interest *i, struct node_map *from, struct node_map *to)
{
    if (!i->what.at)
        return;
    node_map_remove(from, &i->what);
    node_map_add(to, &i->what, i->what.hash); /* likewise */
}

/* ---- Tables --------------------------------------------------------------------------------- */

static struct watched *watched_of(struct map_node *node)
{
    return node ? MEMBER_OF(node, struct watched, by_name) : NULL;
}

static struct watched *watched_next(const struct follows *follows, struct watched *w)
{
    return watched_of(node_map_each(&follows->watched, w ? &w->by_name : NULL));
}

static uint64_t hash_name(struct str database, struct str name)
{
    uint64_t hash = node_hash(node_hash(NODE_HASH, database.p, database.n), "/", 1);
    return node_hash(hash, name.p, name.n);
}

static void forget_key(struct interest *i)
{
    i->follower->n_bytes -= i->key.n;
    i->follower->follows->n_bytes -= i->key.n;
    free((char *)(uintptr_t)i->key.p);
    i->key = STR_NONE;
}

/* The key that its id is in this table, if it can be one. */
static int make_key(struct interest *i)
{
    struct arena arena;
    struct str key = STR_NONE;
    arena_init(&arena, 0);
    int err = key_from_text(i->table->key_type, i->id, &arena, &key);
    char *copy = err == 0 ? malloc(key.n + 1) : NULL;
    if (copy) {
        memcpy(copy, key.p, key.n);
        i->key = (struct str){copy, key.n};
        i->follower->n_bytes += key.n;
        i->follower->follows->n_bytes += key.n;
    } else if (err == 0) {
        err = ERR_NO_MEMORY;
    }
    arena_done(&arena);
    return err == ERR_NO_MEMORY ? err : 0;
}

static int find_again(struct interest *i)
{
    int err = 0;
    interest_unindex(i);
    forget_key(i);
    if (i->table->id && is_row(i))
        err = make_key(i);
    if (i->table->id)
        i->is_known_gone = false;
    interest_index(i);
    follows_post(i->follower->follows); /* what came meanwhile has woken nobody */
    return err;
}

static bool settle(struct watched *w, const struct catalog *catalog)
{
    int err = 0;
    const struct table *table = catalog_find_table(catalog, w->database, w->name);
    uint32_t id = table ? table->id : 0;
    enum key_type key_type = table ? table->key_type : w->key_type;
    if (id == w->id && key_type == w->key_type)
        return true;
    w->id = id;
    w->key_type = key_type;
    for (struct link *l = w->interests.next; l != &w->interests; l = l->next)
        if (find_again(MEMBER_OF(l, struct interest, of_table)) < 0)
            err = ERR_NO_MEMORY;
    if (err < 0)
        w->id = 0; /* so that it comes again */
    return err == 0;
}

bool watched_settle(struct follows *follows)
{
    const struct catalog *catalog = follows->watched.n ? catalog_now(follows->core) : NULL;
    bool all = catalog || !follows->watched.n;
    for (struct watched *w = NULL; catalog && (w = watched_next(follows, w));)
        all &= settle(w, catalog);
    follows->is_unsettled = !all;
    return all;
}

static struct watched *find_watched(struct follows *follows, const struct resource_uri *parts)
{
    uint64_t hash = hash_name(parts->database, parts->table);
    for (struct map_node *n = node_map_first(&follows->watched, hash); n; n = node_map_next(n)) {
        struct watched *w = watched_of(n);
        if (str_eq(w->database, parts->database) && str_eq(w->name, parts->table))
            return w;
    }
    return NULL;
}

static struct watched *watch(struct follows *follows, const struct resource_uri *parts)
{
    struct watched *w = find_watched(follows, parts);
    if (w)
        return w;
    w = calloc(1, sizeof *w + parts->database.n + parts->table.n);
    if (!w)
        return NULL;
    char *text = (char *)(w + 1);
    memcpy(text, parts->database.p, parts->database.n);
    memcpy(text + parts->database.n, parts->table.p, parts->table.n);
    w->database = (struct str){text, parts->database.n};
    w->name = (struct str){text + parts->database.n, parts->table.n};
    link_init(&w->interests);
    if (!node_map_add(&follows->watched, &w->by_name, hash_name(w->database, w->name))) {
        free(w);
        return NULL;
    }
    const struct catalog *catalog = catalog_now(follows->core);
    if (!catalog || !settle(w, catalog))
        follows->is_unsettled = true;
    return w;
}

static void unwatch(struct follows *follows, struct watched *w)
{
    if (!w || !link_is_empty(&w->interests))
        return;
    node_map_remove(&follows->watched, &w->by_name);
    free(w);
}

/* ---- Interests come and go ------------------------------------------------------------------ */

static struct interest *allocate(struct follower *f, struct str uri, struct str id)
{
    size_t n = sizeof(struct interest) + uri.n + id.n;
    struct follows *follows = f->follows;
    if (follows->n_bytes + n + KEY_BYTES_MAX > FOLLOW_BYTES_MAX)
        return NULL;
    struct interest *i = calloc(1, n + 1);
    if (!i)
        return NULL;
    char *text = (char *)(i + 1);
    memcpy(text, uri.p, uri.n);
    i->uri = (struct str){text, uri.n};
    if (id.p)
        i->id = (struct str){text + uri.n, id.n};
    if (id.n)
        memcpy(text + uri.n, id.p, id.n);
    i->follower = f;
    i->notice.interest = i;
    if (!node_map_add(&f->interests, &i->by_uri, mark_of_uri(uri))) {
        free(i);
        return NULL;
    }
    f->n_bytes += n;
    follows->n_bytes += n;
    follows->n_interests++;
    return i;
}

/* Into its table, if it is of one. */
static int enter(struct interest *i, const struct resource_uri *parts)
{
    struct follows *follows = i->follower->follows;
    if (parts) {
        i->table = watch(follows, parts);
        if (!i->table)
            return ERR_NO_MEMORY;
        link_add_after(&i->table->interests, &i->of_table);
    }
    if (i->table && i->table->id && is_row(i) && make_key(i) < 0)
        return ERR_NO_MEMORY;
    interest_index(i);
    return 0;
}

struct interest *interest_new(struct follower *f, const struct store_subscription *as)
{
    struct resource_uri parts;
    struct arena arena;
    arena_init(&arena, 0);
    int err = resource_uri_read(&f->follows->core->uris, as->uri, &arena, &parts);
    bool is_ours = err == 0;
    struct interest *i =
        err == ERR_NO_MEMORY ? NULL : allocate(f, as->uri, is_ours ? parts.id : STR_NONE);
    if (i && enter(i, is_ours ? &parts : NULL) < 0) {
        interest_free(i);
        i = NULL;
    }
    arena_done(&arena);
    return i;
}

void interest_free(struct interest *i)
{
    struct follower *f = i->follower;
    struct follows *follows = f->follows;
    size_t n = sizeof *i + i->uri.n + i->id.n;
    for (struct link *l = f->all.next, *next; i->n_notices && l != &f->all; l = next) {
        struct notice *notice = MEMBER_OF(l, struct notice, all);
        next = l->next;
        if (notice->interest == i)
            notice_free(notice);
    }
    interest_unindex(i);
    forget_key(i);
    link_remove(&i->of_table);
    unwatch(follows, i->table);
    node_map_remove(&f->interests, &i->by_uri);
    f->n_bytes -= n;
    follows->n_bytes -= n;
    follows->n_interests--;
    free(i);
}

struct interest *interest_find(const struct follower *f, struct str uri)
{
    struct map_node *n = node_map_first(&f->interests, mark_of_uri(uri));
    for (; n; n = node_map_next(n)) {
        struct interest *i = MEMBER_OF(n, struct interest, by_uri);
        if (str_eq(i->uri, uri))
            return i;
    }
    return NULL;
}

/* ---- Who has an interest in a change -------------------------------------------------------- */

static bool is_in(const struct interest *i, const struct store_change *change)
{
    return i->table && i->table->id == change->table && (!is_row(i) || str_eq(i->key, change->key));
}

static void each_of_hash(struct node_map *index, uint64_t hash, const struct store_change *change,
                         interest_fn fn, void *ctx)
{
    for (struct map_node *n = node_map_first(index, hash); n; n = node_map_next(n)) {
        struct interest *i = MEMBER_OF(n, struct interest, what);
        bool is_of_component = !i->table && change->kind == STORE_RESOURCE_CHANGED;
        if (is_of_component ? str_eq(i->uri, change->key) : is_in(i, change))
            fn(ctx, i);
    }
}

static void each_of_table(struct watched *w, enum follow_pace pace, interest_fn fn, void *ctx)
{
    for (struct link *l = w->interests.next; l != &w->interests; l = l->next) {
        struct interest *i = MEMBER_OF(l, struct interest, of_table);
        if (follower_pace(i->follower) == pace)
            fn(ctx, i);
    }
}

static struct watched *find_by_id(const struct follows *follows, uint32_t id)
{
    struct watched *w = NULL;
    while ((w = watched_next(follows, w)) && w->id != id)
        ;
    return w;
}

/* Which one it was, nobody knows any more. */
static void each_of_none(struct follows *follows, enum follow_pace pace, interest_fn fn, void *ctx)
{
    for (struct watched *w = NULL; (w = watched_next(follows, w));)
        for (struct link *l = w->interests.next; w->id == 0 && l != &w->interests; l = l->next) {
            struct interest *i = MEMBER_OF(l, struct interest, of_table);
            if (follower_pace(i->follower) == pace && !i->is_known_gone)
                fn(ctx, i);
        }
}

void interests_each(struct follows *follows, enum follow_pace pace,
                    const struct store_change *change, interest_fn fn, void *ctx)
{
    struct node_map *index = &follows->index[pace];
    struct watched *w;
    switch (change->kind) {
    case STORE_ROW_PUT:
    case STORE_ROW_DELETED:
        each_of_hash(index, mark_of_row(change->table, change->key), change, fn, ctx);
        each_of_hash(index, mark_of_table(change->table), change, fn, ctx);
        break;
    case STORE_TABLE_PUT:
    case STORE_TABLE_DROPPED:
        w = find_by_id(follows, change->table);
        if (w)
            each_of_table(w, pace, fn, ctx);
        else if (change->kind == STORE_TABLE_DROPPED)
            each_of_none(follows, pace, fn, ctx);
        break;
    case STORE_RESOURCE_CHANGED:
        each_of_hash(index, mark_of_uri(change->key), change, fn, ctx);
        break;
    case STORE_ACCESS_CHANGED: /* tells nobody of a resource */
        break;
    }
}
