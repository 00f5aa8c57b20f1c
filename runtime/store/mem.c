/* store/mem.c - the engine in memory, for tests and for sessions that need not outlive a process.
 *
 * Each map is a treap whose nodes are never changed once a snapshot can see them: a writer copies
 * the path to what it changes (a node that only it holds is changed in place). So a snapshot is a
 * set of roots, taking one is a counter, and an abort drops the roots of the transaction. Entries
 * are counted apart from nodes, since copying a node must not copy its value.
 *
 * No memory in the middle of a change marks the transaction as failed; its tree stays sound, and it
 * can only be aborted.
 */
#include "store/kv.h"

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    _Atomic uint32_t refs;
    uint32_t key_len, value_len;
    char bytes[];
};

struct node {
    _Atomic uint32_t refs;
    uint32_t priority;
    struct entry *entry;
    struct node *left, *right;
};

struct snapshot {
    _Atomic uint32_t refs;
    bool failed;
    struct node *roots[KV_MAP_COUNT];
    uint64_t counts[KV_MAP_COUNT];
    uint64_t bytes; /* of all entries */
};

struct memory {
    struct kv_env env;
    pthread_mutex_t current_lock; /* of `current` */
    pthread_mutex_t writer_lock;  /* held by the write transaction */
    struct snapshot *current;
    uint32_t random;
};

/* ---- Entries and nodes ---------------------------------------------------------------------- */

static struct str entry_key(const struct entry *e)
{
    return (struct str){e->bytes, e->key_len};
}

static struct str entry_value(const struct entry *e)
{
    return (struct str){e->bytes + e->key_len, e->value_len};
}

static uint64_t entry_bytes(const struct entry *e)
{
    return sizeof(struct node) + sizeof *e + e->key_len + e->value_len;
}

static struct entry *entry_new(struct str key, struct str value)
{
    struct entry *e = malloc(sizeof *e + key.n + value.n);
    if (!e)
        return NULL;
    e->refs = 1;
    e->key_len = key.n;
    e->value_len = value.n;
    if (key.n)
        memcpy(e->bytes, key.p, key.n);
    if (value.n)
        memcpy(e->bytes + key.n, value.p, value.n);
    return e;
}

static struct entry *entry_ref(struct entry *e)
{
    atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
    return e;
}

static void entry_unref(struct entry *e)
{
    if (atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) == 1)
        free(e);
}

static struct node *node_ref(struct node *n)
{
    if (n)
        atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
    return n;
}

/* As deep as the tree, which a treap keeps at a small multiple of log n. */
static void node_unref(struct node *n)
{
    if (!n || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1)
        return;
    node_unref(n->left);
    node_unref(n->right);
    entry_unref(n->entry);
    free(n);
}

static struct node *node_new(uint32_t priority, struct entry *entry, struct node *left,
                             struct node *right)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    n->refs = 1;
    n->priority = priority;
    n->entry = entry;
    n->left = left;
    n->right = right;
    return n;
}

/* Gives up the caller's reference to n for one that only the caller holds; NULL (and n as it was)
 * if there is no memory. */
static struct node *node_own(struct node *n)
{
    if (atomic_load_explicit(&n->refs, memory_order_acquire) == 1)
        return n;
    struct node *copy = node_new(n->priority, n->entry, n->left, n->right);
    if (!copy)
        return NULL;
    entry_ref(n->entry);
    node_ref(n->left);
    node_ref(n->right);
    node_unref(n);
    return copy;
}

/* ---- The tree ------------------------------------------------------------------------------- */

static struct node *find(struct node *n, struct str key)
{
    while (n) {
        int d = str_compare(key, entry_key(n->entry));
        if (d == 0)
            return n;
        n = d < 0 ? n->left : n->right;
    }
    return NULL;
}

/* The first at `key` or behind it; strictly behind it with `after`. */
static struct node *find_from(struct node *n, struct str key, bool after)
{
    struct node *best = NULL;
    while (n) {
        int d = str_compare(entry_key(n->entry), key);
        if (d > 0 || (d == 0 && !after)) {
            best = n;
            n = n->left;
        } else {
            n = n->right;
        }
    }
    return best;
}

/* The last one before `key`. */
static struct node *find_before(struct node *n, struct str key)
{
    struct node *best = NULL;
    while (n) {
        bool before = str_compare(entry_key(n->entry), key) < 0;
        best = before ? n : best;
        n = before ? n->right : n->left;
    }
    return best;
}

static struct node *lift_left(struct node *n)
{
    struct node *up = n->left;
    n->left = up->right;
    up->right = n;
    return up;
}

static struct node *lift_right(struct node *n)
{
    struct node *up = n->right;
    n->right = up->left;
    up->left = n;
    return up;
}

static struct node *replace_entry(struct snapshot *s, struct node *n, struct node *fresh)
{
    struct node *own = node_own(n);
    if (own) {
        struct entry *old = own->entry;
        own->entry = fresh->entry;
        fresh->entry = old;
    } else {
        s->failed = true;
    }
    node_unref(fresh);
    return own ? own : n;
}

/* Takes over both; returns the tree with `fresh` in it. */
static struct node *insert(struct snapshot *s, struct node *n, struct node *fresh)
{
    if (!n)
        return fresh;
    int d = str_compare(entry_key(fresh->entry), entry_key(n->entry));
    if (d == 0)
        return replace_entry(s, n, fresh);
    struct node *own = node_own(n);
    if (!own) {
        s->failed = true;
        node_unref(fresh);
        return n;
    }
    struct node **side = d < 0 ? &own->left : &own->right;
    *side = insert(s, *side, fresh);
    if (s->failed || (*side)->priority <= own->priority)
        return own;
    return d < 0 ? lift_left(own) : lift_right(own);
}

/* Takes over both; all of `a` sorts before all of `b`. */
static struct node *join(struct snapshot *s, struct node *a, struct node *b)
{
    if (!a || !b)
        return a ? a : b;
    bool a_up = a->priority >= b->priority;
    struct node *up = node_own(a_up ? a : b);
    if (!up) {
        s->failed = true;
        node_unref(b);
        return a;
    }
    if (a_up)
        up->right = join(s, up->right, b);
    else
        up->left = join(s, a, up->left);
    return up;
}

/* Takes over n; the key is in it. */
static struct node *take_out(struct snapshot *s, struct node *n, struct str key)
{
    int d = str_compare(key, entry_key(n->entry));
    if (d == 0) {
        struct node *rest = join(s, node_ref(n->left), node_ref(n->right));
        node_unref(n);
        return rest;
    }
    struct node *own = node_own(n);
    if (!own) {
        s->failed = true;
        return n;
    }
    struct node **side = d < 0 ? &own->left : &own->right;
    *side = take_out(s, *side, key);
    return own;
}

/* ---- Transactions --------------------------------------------------------------------------- */

static struct memory *memory_of(struct kv_txn *txn)
{
    return (struct memory *)txn->env;
}

static void snapshot_unref(struct snapshot *s)
{
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < KV_MAP_COUNT; i++)
        node_unref(s->roots[i]);
    free(s);
}

static struct snapshot *take_current(struct memory *m)
{
    pthread_mutex_lock(&m->current_lock);
    struct snapshot *s = m->current;
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    pthread_mutex_unlock(&m->current_lock);
    return s;
}

static struct snapshot *snapshot_copy(const struct snapshot *s)
{
    struct snapshot *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->refs = 1;
    copy->bytes = s->bytes;
    for (int i = 0; i < KV_MAP_COUNT; i++) {
        copy->roots[i] = node_ref(s->roots[i]);
        copy->counts[i] = s->counts[i];
    }
    return copy;
}

static int begin(struct kv_env *env, bool writes, void **ret_handle)
{
    struct memory *m = (struct memory *)env;
    if (!writes) {
        *ret_handle = take_current(m);
        return 0;
    }
    pthread_mutex_lock(&m->writer_lock);
    struct snapshot *copy = snapshot_copy(m->current); /* only a writer changes it */
    if (!copy) {
        pthread_mutex_unlock(&m->writer_lock);
        return ERR_NO_MEMORY;
    }
    *ret_handle = copy;
    return 0;
}

static void end(struct kv_txn *txn)
{
    snapshot_unref(txn->handle);
    if (txn->writes)
        pthread_mutex_unlock(&memory_of(txn)->writer_lock);
}

static int commit(struct kv_txn *txn)
{
    struct memory *m = memory_of(txn);
    struct snapshot *now = txn->handle, *before = m->current;
    if (now->failed) {
        end(txn);
        return ERR_NO_MEMORY;
    }
    pthread_mutex_lock(&m->current_lock);
    m->current = now;
    pthread_mutex_unlock(&m->current_lock);
    snapshot_unref(before);
    pthread_mutex_unlock(&m->writer_lock);
    return 0;
}

/* ---- Reading and writing -------------------------------------------------------------------- */

static int get(struct kv_txn *txn, enum kv_map map, struct str key, struct str *ret)
{
    struct snapshot *s = txn->handle;
    struct node *n = find(s->roots[map], key);
    if (!n)
        return ERR_ABSENT;
    *ret = entry_value(n->entry);
    return 0;
}

/* xorshift: the shape of the tree need not be secret, keys are bounded in number by their users */
static uint32_t next_random(struct memory *m)
{
    uint32_t x = m->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return m->random = x;
}

static int put(struct kv_txn *txn, enum kv_map map, struct str key, struct str value)
{
    struct snapshot *s = txn->handle;
    struct entry *entry = entry_new(key, value);
    struct node *fresh = entry ? node_new(next_random(memory_of(txn)), entry, NULL, NULL) : NULL;
    if (!fresh) {
        free(entry);
        return ERR_NO_MEMORY;
    }
    struct node *old = find(s->roots[map], key);
    s->counts[map] += !old;
    s->bytes += entry_bytes(entry) - (old ? entry_bytes(old->entry) : 0);
    s->roots[map] = insert(s, s->roots[map], fresh);
    return s->failed ? ERR_NO_MEMORY : 0;
}

static int remove_key(struct kv_txn *txn, enum kv_map map, struct str key)
{
    struct snapshot *s = txn->handle;
    struct node *old = find(s->roots[map], key);
    if (!old)
        return ERR_ABSENT;
    s->counts[map]--;
    s->bytes -= entry_bytes(old->entry);
    s->roots[map] = take_out(s, s->roots[map], key);
    return s->failed ? ERR_NO_MEMORY : 0;
}

static int count(struct kv_txn *txn, enum kv_map map, uint64_t *ret)
{
    *ret = ((struct snapshot *)txn->handle)->counts[map];
    return 0;
}

static int stand_on(struct kv_cursor *cursor, struct node *n, struct str *ret_key, struct str *ret)
{
    if (!n)
        return ERR_ABSENT;
    *ret_key = cursor->at = entry_key(n->entry);
    *ret = entry_value(n->entry);
    return 0;
}

static int cursor_open(struct kv_cursor *cursor)
{
    (void)cursor;
    return 0;
}

static int seek(struct kv_cursor *cursor, struct str key, struct str *ret_key, struct str *ret)
{
    struct snapshot *s = cursor->txn->handle;
    return stand_on(cursor, find_from(s->roots[cursor->map], key, false), ret_key, ret);
}

static int next(struct kv_cursor *cursor, struct str *ret_key, struct str *ret)
{
    struct snapshot *s = cursor->txn->handle;
    return stand_on(cursor, find_from(s->roots[cursor->map], cursor->at, true), ret_key, ret);
}

static int seek_before(struct kv_cursor *cursor, struct str key, struct str *ret_key,
                       struct str *ret)
{
    struct snapshot *s = cursor->txn->handle;
    return stand_on(cursor, find_before(s->roots[cursor->map], key), ret_key, ret);
}

static int prev(struct kv_cursor *cursor, struct str *ret_key, struct str *ret)
{
    return seek_before(cursor, cursor->at, ret_key, ret);
}

static void cursor_close(struct kv_cursor *cursor)
{
    (void)cursor;
}

static int stat_txn(struct kv_txn *txn, struct store_stat *ret)
{
    *ret = (struct store_stat){.used_bytes = ((struct snapshot *)txn->handle)->bytes};
    return 0;
}

static int nothing_to_do(struct kv_env *env)
{
    (void)env;
    return 0;
}

/* ---- The environment ------------------------------------------------------------------------ */

static void close_memory(struct kv_env *env)
{
    struct memory *m = (struct memory *)env;
    snapshot_unref(m->current);
    pthread_mutex_destroy(&m->current_lock);
    pthread_mutex_destroy(&m->writer_lock);
    free(m);
}

static const struct kv_engine memory_engine = {
    .begin = begin,
    .commit = commit,
    .end = end,
    .get = get,
    .put = put,
    .remove = remove_key,
    .count = count,
    .cursor_open = cursor_open,
    .seek = seek,
    .next = next,
    .seek_before = seek_before,
    .prev = prev,
    .cursor_close = cursor_close,
    .stat = stat_txn,
    .sync = nothing_to_do,
    .check_readers = nothing_to_do,
    .close = close_memory,
};

int kv_open_memory(enum store_space space, struct kv_env **ret)
{
    struct memory *m = calloc(1, sizeof *m);
    struct snapshot *empty = calloc(1, sizeof *empty);
    if (!m || !empty) {
        free(m);
        free(empty);
        return ERR_NO_MEMORY;
    }
    empty->refs = 1;
    m->env = (struct kv_env){.engine = &memory_engine, .space = space};
    m->current = empty;
    m->random = 2463534242u;
    pthread_mutex_init(&m->current_lock, NULL);
    pthread_mutex_init(&m->writer_lock, NULL);
    *ret = &m->env;
    return 0;
}
