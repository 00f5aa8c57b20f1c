/* store/jobs.c - what long operations have come to.
 *
 *   JOBS  id -> [format, changed_ms, record]
 *
 * Ids begin with the time of their making, so the oldest jobs sort first.
 */
#include "store/internal.h"

#include "base/err.h"

static bool is_id(struct str id)
{
    return id.n > 0 && id.n <= JOB_ID_BYTES;
}

int job_read(struct str key, struct str value, struct arena *arena, struct store_job *ret)
{
    const struct tape_node *f[2];
    int err = is_id(key) ? record_read(value, "is", arena, f) : ERR_STORE_DAMAGED;
    if (!err)
        *ret = (struct store_job){.id = key, .changed_ms = f[0]->v.i, .record = record_str(f[1])};
    return err;
}

static int check_there(struct batch *b, struct store_op *op, bool *ret_there)
{
    struct str value;
    if (!is_id(op->job->id))
        return ERR_LIMIT;
    int err = kv_get(&b->txn, KV_JOBS, op->job->id, &value);
    if (err && err != ERR_ABSENT)
        return err;
    *ret_there = !err;
    return check_condition(op, !err, 0);
}

static int check_room(struct batch *b)
{
    uint64_t n;
    int err = kv_count(&b->txn, KV_JOBS, &n);
    return err ? err : n < JOBS_MAX ? 0 : ERR_LIMIT;
}

int job_put(struct batch *b, struct store_op *op)
{
    bool there;
    if (op->job->record.n > ROW_BYTES_MAX)
        return ERR_LIMIT;
    int err = check_there(b, op, &there);
    if (!err && !there)
        err = check_room(b);
    if (err)
        return err;
    record_begin(&b->value, 2);
    cbor_write_int(b->now_ms, &b->value);
    cbor_write_str(op->job->record, &b->value);
    return batch_put(b, KV_JOBS, op->job->id);
}

int job_delete(struct batch *b, struct store_op *op)
{
    bool there;
    int err = check_there(b, op, &there);
    return err || !there ? err : batch_remove(b, KV_JOBS, op->job->id);
}

/* ---- Keeper's work -------------------------------------------------------------------------- */

struct trim {
    int64_t now_ms;
    uint64_t surplus; /* so many may go that are only at rest */
    uint32_t n, max;
    struct str *ids;
    struct arena *arena;
};

static int visit_old(void *ctx, struct str key, struct str value)
{
    struct trim *t = ctx;
    int64_t changed_ms;
    int err = is_id(key) ? record_first_int(value, &changed_ms) : ERR_STORE_DAMAGED;
    if (err)
        return err;
    if (t->now_ms - changed_ms < (t->surplus ? JOB_REST_MS : JOB_KEEP_MS))
        return 0;
    t->surplus -= t->surplus > 0;
    t->ids[t->n] = arena_str(t->arena, key);
    return t->ids[t->n].p ? ++t->n == t->max : ERR_NO_MEMORY;
}

/* Nothing is removed while a scan goes on, so the ids are gathered first. */
int jobs_trim(struct batch *b, uint32_t max)
{
    uint64_t count;
    struct trim t = {.now_ms = b->now_ms, .max = max, .arena = &b->scratch};
    int err = kv_count(&b->txn, KV_JOBS, &count);
    if (err || !count)
        return err;
    t.surplus = count > JOBS_KEEP ? count - JOBS_KEEP : 0;
    t.ids = arena_array(&b->scratch, max, sizeof *t.ids);
    err = t.ids ? kv_scan(&b->txn, KV_JOBS, STR(""), visit_old, &t) : ERR_NO_MEMORY;
    for (uint32_t i = 0; err >= 0 && i < t.n; i++)
        err = batch_remove(b, KV_JOBS, t.ids[i]);
    return err < 0 ? err : (int)t.n;
}

/* ---- Reading -------------------------------------------------------------------------------- */

int store_get_job(struct store_view *view, struct str id, struct arena *arena,
                  struct store_job *ret)
{
    struct str value;
    if (!is_id(id))
        return ERR_ABSENT;
    int err = kv_get_kept(&view->txn, KV_JOBS, id, arena, &id, &value);
    return err ? err : job_read(id, value, arena, ret);
}

struct job_scan {
    store_job_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit_job(void *ctx, struct str key, struct str value)
{
    struct job_scan *scan = ctx;
    struct store_job job;
    arena_reset(&scan->scratch);
    int err = job_read(key, value, &scan->scratch, &job);
    return err ? err : scan->fn(scan->ctx, &job);
}

int store_scan_jobs(struct store_view *view, store_job_fn fn, void *ctx)
{
    struct job_scan scan = {.fn = fn, .ctx = ctx};
    arena_init(&scan.scratch, 0);
    int err = kv_scan(&view->txn, KV_JOBS, STR(""), visit_job, &scan);
    arena_done(&scan.scratch);
    return err;
}
