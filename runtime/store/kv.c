/* store/kv.c - calls into the engine of an environment; see kv.h. */
#include "store/kv.h"

#include "base/err.h"

int kv_begin(struct kv_env *env, bool writes, struct kv_txn *ret)
{
    void *handle;
    int err = env->engine->begin(env, writes, &handle);
    if (err < 0)
        return err;
    *ret = (struct kv_txn){.env = env, .handle = handle, .writes = writes};
    return 0;
}

int kv_commit(struct kv_txn *txn)
{
    return txn->env->engine->commit(txn);
}

void kv_end(struct kv_txn *txn)
{
    txn->env->engine->end(txn);
}

int kv_get(struct kv_txn *txn, enum kv_map map, struct str key, struct str *ret)
{
    return txn->env->engine->get(txn, map, key, ret);
}

int kv_get_kept(struct kv_txn *txn, enum kv_map map, struct str key, struct arena *arena,
                struct str *own_key, struct str *ret)
{
    struct str value;
    int err = kv_get(txn, map, key, &value);
    if (err)
        return err;
    struct str kept = arena_str(arena, *own_key);
    value = arena_str(arena, value);
    if (!kept.p || !value.p)
        return ERR_NO_MEMORY;
    *own_key = kept;
    *ret = value;
    return 0;
}

int kv_put(struct kv_txn *txn, enum kv_map map, struct str key, struct str value)
{
    return txn->env->engine->put(txn, map, key, value);
}

int kv_remove(struct kv_txn *txn, enum kv_map map, struct str key)
{
    return txn->env->engine->remove(txn, map, key);
}

int kv_count(struct kv_txn *txn, enum kv_map map, uint64_t *ret)
{
    return txn->env->engine->count(txn, map, ret);
}

int kv_cursor_open(struct kv_txn *txn, enum kv_map map, struct kv_cursor *ret)
{
    *ret = (struct kv_cursor){.txn = txn, .map = map};
    return txn->env->engine->cursor_open(ret);
}

int kv_seek(struct kv_cursor *cursor, struct str key, struct str *ret_key, struct str *ret)
{
    return cursor->txn->env->engine->seek(cursor, key, ret_key, ret);
}

int kv_next(struct kv_cursor *cursor, struct str *ret_key, struct str *ret)
{
    return cursor->txn->env->engine->next(cursor, ret_key, ret);
}

void kv_cursor_close(struct kv_cursor *cursor)
{
    cursor->txn->env->engine->cursor_close(cursor);
}

int kv_scan(struct kv_txn *txn, enum kv_map map, struct str from, kv_entry_fn fn, void *ctx)
{
    struct kv_cursor cursor;
    struct str key, value;
    int stopped = 0;
    int err = kv_cursor_open(txn, map, &cursor);
    if (err)
        return err;
    for (err = kv_seek(&cursor, from, &key, &value); !err; err = kv_next(&cursor, &key, &value))
        if ((stopped = fn(ctx, key, value)))
            break;
    kv_cursor_close(&cursor);
    return stopped ? stopped : err == ERR_ABSENT ? 0 : err;
}

int kv_scan_back(struct kv_txn *txn, enum kv_map map, struct str before, kv_entry_fn fn, void *ctx)
{
    const struct kv_engine *engine = txn->env->engine;
    struct kv_cursor cursor;
    struct str key, value;
    int stopped = 0;
    int err = kv_cursor_open(txn, map, &cursor);
    if (err)
        return err;
    for (err = engine->seek_before(&cursor, before, &key, &value); !err;
         err = engine->prev(&cursor, &key, &value))
        if ((stopped = fn(ctx, key, value)))
            break;
    kv_cursor_close(&cursor);
    return stopped ? stopped : err == ERR_ABSENT ? 0 : err;
}

int kv_first(struct kv_txn *txn, enum kv_map map, struct str key, struct str *ret_key,
             struct str *ret)
{
    struct kv_cursor cursor;
    int err = kv_cursor_open(txn, map, &cursor);
    if (err < 0)
        return err;
    err = kv_seek(&cursor, key, ret_key, ret);
    kv_cursor_close(&cursor);
    return err;
}

int kv_stat(struct kv_txn *txn, struct store_stat *ret)
{
    return txn->env->engine->stat(txn, ret);
}

int kv_sync(struct kv_env *env)
{
    return env->engine->sync(env);
}

int kv_check_readers(struct kv_env *env)
{
    return env->engine->check_readers(env);
}

void kv_close(struct kv_env *env)
{
    if (env)
        env->engine->close(env);
}

void kv_put_u32(unsigned char out[4], uint32_t v)
{
    for (int i = 3; i >= 0; i--, v >>= 8)
        out[i] = (unsigned char)v;
}

void kv_put_u64(unsigned char out[8], uint64_t v)
{
    kv_put_u32(out, (uint32_t)(v >> 32));
    kv_put_u32(out + 4, (uint32_t)v);
}

uint32_t kv_u32(const void *in)
{
    const unsigned char *p = in;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint64_t kv_u64(const void *in)
{
    const unsigned char *p = in;
    return (uint64_t)kv_u32(p) << 32 | kv_u32(p + 4);
}
