/* store/frames.c - the messages of streams.
 *
 *   FRAMES  session, stream, n -> [format, message, seq]; without the last: 0
 *
 * Appending one is a put of it and a put of its stream's record, which counts frames and bytes; so
 * what is too much is known without looking, and goes from the front. Numbers rise, with holes
 * where a writer died and its reserved ones were skipped, or where a push went another way: a hole
 * is nothing that was forgotten, so first_n may name one.
 */
#include "store/internal.h"

#include "base/err.h"

static bool is_same(struct store_worker a, struct store_worker b)
{
    return a.slot == b.slot && a.epoch == b.epoch;
}

static int check_append(const struct store_op *op, const struct store_stream *now)
{
    if (!is_same(op->stream->writer, now->writer) || now->ended)
        return ERR_CONFLICT;
    return op->message.p && op->n <= now->last_n ? ERR_CONFLICT : 0;
}

static struct sys_key frame_key(const struct sys_key *stream, uint64_t n)
{
    struct sys_key key = *stream;
    sys_key_add(&key, n);
    return key;
}

static int drop_first(struct batch *b, const struct sys_key *stream, struct stream_record *r)
{
    struct sys_key from = frame_key(stream, r->stream.first_n);
    struct str key, value;
    int err = sys_first(&b->txn, KV_FRAMES, sys_key_str(stream), sys_key_str(&from), &key, &value);
    if (err || key.n != from.len)
        return err && err != ERR_ABSENT ? err : ERR_STORE_DAMAGED;
    r->n_frames--;
    r->bytes -= value.n;
    uint64_t n = kv_u64(key.p + key.n - 8);
    struct sys_key first = frame_key(stream, n); /* what the engine gave goes with the removal */
    r->stream.first_n = n + 1;
    return batch_remove(b, KV_FRAMES, sys_key_str(&first));
}

static int append(struct batch *b, const struct sys_key *stream, struct stream_record *r,
                  const struct store_op *op)
{
    struct sys_key key = frame_key(stream, op->n);
    uint32_t max = op->max_frames ? op->max_frames : STREAM_FRAMES;
    uint64_t seq = op->stream->seq;
    record_begin(&b->value, seq ? 2 : 1);
    cbor_write_str(op->message, &b->value);
    if (seq)
        cbor_write_int((int64_t)seq, &b->value);
    int err = batch_put(b, KV_FRAMES, sys_key_str(&key));
    if (err)
        return err;
    if (!r->n_frames)
        r->stream.first_n = 1;
    r->stream.last_n = op->n;
    r->stream.seq = seq ? seq : r->stream.seq;
    r->n_frames++;
    r->bytes += b->value.n;
    while (!err && r->n_frames > 1 && (r->n_frames > max || r->bytes > STREAM_BYTES))
        err = drop_first(b, stream, r);
    return err;
}

int frame_put(struct batch *b, struct store_op *op)
{
    struct sys_key key;
    struct stream_record r;
    if (op->message.n > FRAME_BYTES_MAX)
        return ERR_LIMIT;
    int err = stream_find(b, op->stream, &key, &r);
    if (!err)
        err = check_append(op, &r.stream);
    if (!err && op->message.p)
        err = append(b, &key, &r, op);
    if (err)
        return err;
    r.stream.ended = op->stream->ended;
    if (op->stream->reserved_n > r.stream.reserved_n)
        r.stream.reserved_n = op->stream->reserved_n;
    err = stream_save(b, &key, &r);
    if (!err)
        stream_tell(op, &r);
    return err;
}

/* ---- Reading -------------------------------------------------------------------------------- */

int frame_read(struct str key, struct str value, struct arena *arena, struct frame_record *ret)
{
    const struct tape_node *f[2], zero = {.kind = TAPE_INT};
    struct str session;
    uint64_t n;
    int err = sys_key_split(key, 2, &session, &n);
    if (err)
        return err;
    err = record_read(value, "s", arena, f); /* the larger ones are so */
    f[1] = &zero;
    if (err == ERR_STORE_DAMAGED)
        err = record_read(value, "si", arena, f);
    if (!err)
        *ret =
            (struct frame_record){.n = n, .seq = (uint64_t)f[1]->v.i, .message = record_str(f[0])};
    return err;
}

struct frame_scan {
    uint64_t after_n;
    store_frame_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit_frame(void *ctx, struct str key, struct str value)
{
    struct frame_scan *scan = ctx;
    struct frame_record frame;
    arena_reset(&scan->scratch);
    int err = frame_read(key, value, &scan->scratch, &frame);
    if (err || frame.n <= scan->after_n)
        return err;
    return scan->fn(scan->ctx, frame.n, frame.seq, frame.message);
}

int store_scan_frames(struct store_view *view, struct str session, uint64_t id, uint64_t after_n,
                      store_frame_fn fn, void *ctx)
{
    struct frame_scan scan = {.after_n = after_n, .fn = fn, .ctx = ctx};
    struct sys_key stream;
    struct str value;
    if (stream_key(session, id, &stream))
        return ERR_ABSENT;
    int err = kv_get(&view->txn, KV_STREAMS, sys_key_str(&stream), &value);
    if (err)
        return err;
    struct sys_key from = frame_key(&stream, after_n);
    arena_init(&scan.scratch, 0);
    err = sys_scan(&view->txn, KV_FRAMES, sys_key_str(&stream), sys_key_str(&from), visit_frame,
                   &scan);
    arena_done(&scan.scratch);
    return err;
}
