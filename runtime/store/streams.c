/* store/streams.c - streams: records, who writes and reads them, and how many there are.
 *
 *   STREAMS  session, id -> [format, changed, ended, listens, writer slot, writer epoch,
 *                            reader slot, reader epoch, token, first_n, last_n, reserved_n,
 *                            frames, bytes, created, request, seq]; the last may be missing
 *   CUT      session, id -> nothing: a stream that is gone, and some of its frames are not yet
 *
 * A stream goes with all its frames, but a transaction removes a bounded number of them: what is
 * left waits under CUT for the keeper, and its id is not taken anew before that. A stream at rest
 * is one that nobody will write any more: it ended, or its writer is gone. Frames: frames.c.
 */
#include "store/internal.h"

#include "base/clock.h"
#include "base/err.h"

#include <string.h>

/* ---- The record ----------------------------------------------------------------------------- */

#define STREAM_FIELDS "iiiiiiiiiiiiiisi"

int stream_save(struct batch *b, const struct sys_key *key, struct stream_record *r)
{
    struct buf *out = &b->value;
    struct store_stream *s = &r->stream;
    s->changed_ms = b->now_ms;
    record_begin(out, sizeof STREAM_FIELDS - 1);
    cbor_write_int(s->changed_ms, out);
    cbor_write_int(s->ended, out);
    cbor_write_int(s->listens, out);
    cbor_write_int(s->writer.slot, out);
    cbor_write_int((int64_t)s->writer.epoch, out);
    cbor_write_int(s->reader.slot, out);
    cbor_write_int((int64_t)s->reader.epoch, out);
    cbor_write_int((int64_t)s->token, out);
    cbor_write_int((int64_t)s->first_n, out);
    cbor_write_int((int64_t)s->last_n, out);
    cbor_write_int((int64_t)s->reserved_n, out);
    cbor_write_int((int64_t)r->n_frames, out);
    cbor_write_int((int64_t)r->bytes, out);
    cbor_write_int(s->created_ms, out);
    cbor_write_str(s->request, out);
    cbor_write_int((int64_t)s->seq, out);
    return batch_put(b, KV_STREAMS, sys_key_str(key));
}

static struct store_worker worker_of(const struct tape_node *slot, const struct tape_node *epoch)
{
    return (struct store_worker){(uint32_t)slot->v.i, (uint64_t)epoch->v.i};
}

int stream_read(struct str key, struct str value, struct arena *arena, struct stream_record *ret)
{
    const struct tape_node *f[sizeof STREAM_FIELDS - 1], zero = {.kind = TAPE_INT};
    struct str session;
    uint64_t id;
    int err = sys_key_split(key, 1, &session, &id);
    if (!err)
        err = record_read(value, STREAM_FIELDS, arena, f);
    if (err == ERR_STORE_DAMAGED) { /* before there was `seq`? */
        f[15] = &zero;
        err = record_read(value, "iiiiiiiiiiiiiis", arena, f);
    }
    if (err)
        return err;
    *ret = (struct stream_record){
        .stream =
            {
                .session = session,
                .id = id,
                .changed_ms = f[0]->v.i,
                .ended = f[1]->v.i != 0,
                .listens = f[2]->v.i != 0,
                .writer = worker_of(f[3], f[4]),
                .reader = worker_of(f[5], f[6]),
                .token = (uint64_t)f[7]->v.i,
                .first_n = (uint64_t)f[8]->v.i,
                .last_n = (uint64_t)f[9]->v.i,
                .reserved_n = (uint64_t)f[10]->v.i,
                .seq = (uint64_t)f[15]->v.i,
                .created_ms = f[13]->v.i,
                .request = f[14]->n ? record_str(f[14]) : STR_NONE,
            },
        .n_frames = (uint64_t)f[11]->v.i,
        .bytes = (uint64_t)f[12]->v.i,
    };
    return 0;
}

int stream_key(struct str session, uint64_t id, struct sys_key *ret)
{
    int err = sys_key_begin(ret, session);
    if (!err)
        sys_key_add(ret, id);
    return err;
}

/* Copied: what is in the map moves by the next change. */
int stream_find(struct batch *b, const struct store_stream *which, struct sys_key *ret_key,
                struct stream_record *ret)
{
    struct str value;
    int err = stream_key(which->session, which->id, ret_key);
    if (!err)
        err = kv_get(&b->txn, KV_STREAMS, sys_key_str(ret_key), &value);
    if (err)
        return err;
    value = arena_str(&b->scratch, value);
    return value.p ? stream_read(sys_key_str(ret_key), value, &b->scratch, ret) : ERR_NO_MEMORY;
}

void stream_tell(const struct store_op *op, const struct stream_record *r)
{
    if (!op->ret_stream)
        return;
    *op->ret_stream = r->stream;
    op->ret_stream->session = STR_NONE;
    op->ret_stream->request = STR_NONE;
}

/* ---- Room ----------------------------------------------------------------------------------- */

static bool is_alive(const struct store_op *op, struct store_worker who)
{
    return who.epoch && (!op || !op->is_alive || op->is_alive(op->check_ctx, who));
}

/* Without `op` nobody knows who is alive. */
static bool is_at_rest(const struct store_op *op, const struct store_stream *s)
{
    return s->ended || !is_alive(op, s->writer);
}

struct room {
    const struct store_op *op;
    struct arena scratch;
    uint32_t n, n_listening;
    bool has_oldest;
    int64_t oldest_ms;
    struct sys_key oldest; /* of those at rest */
};

static int count_stream(void *ctx, struct str key, struct str value)
{
    struct room *room = ctx;
    struct stream_record r;
    room->n++;
    if (!room->op->stream->listens)
        return 0;
    arena_reset(&room->scratch);
    int err = stream_read(key, value, &room->scratch, &r);
    const struct store_stream *s = &r.stream;
    if (!err && s->listens && !s->ended && is_alive(room->op, s->reader))
        room->n_listening++;
    return err;
}

static int find_oldest(void *ctx, struct str key, struct str value)
{
    struct room *room = ctx;
    struct stream_record r;
    arena_reset(&room->scratch);
    int err = stream_read(key, value, &room->scratch, &r);
    if (err || !is_at_rest(room->op, &r.stream))
        return err;
    if (!room->has_oldest || r.stream.changed_ms < room->oldest_ms) {
        room->has_oldest = true;
        room->oldest_ms = r.stream.changed_ms;
        room->oldest = sys_key_copy(key);
    }
    return 0;
}

static int forget_oldest(struct batch *b, struct room *room, struct str session)
{
    int err = sys_scan(&b->txn, KV_STREAMS, session, session, find_oldest, room);
    if (err)
        return err;
    return room->has_oldest ? stream_forget(b, &room->oldest) : ERR_STREAMS;
}

static int make_room_in(struct batch *b, struct room *room, const struct sys_key *session)
{
    struct str prefix = sys_key_str(session);
    int err = sys_scan(&b->txn, KV_STREAMS, prefix, prefix, count_stream, room);
    if (err)
        return err;
    if (room->n_listening >= STREAMS_LISTENING_MAX)
        return ERR_STREAMS;
    return room->n < STREAMS_SESSION_MAX ? 0 : forget_oldest(b, room, prefix);
}

static int make_room(struct batch *b, const struct store_op *op)
{
    struct room room = {.op = op};
    struct sys_key session;
    int err = sys_key_begin(&session, op->stream->session);
    if (err)
        return err;
    arena_init(&room.scratch, 0);
    err = make_room_in(b, &room, &session);
    arena_done(&room.scratch);
    return err;
}

/* ---- Operations ----------------------------------------------------------------------------- */

static int check_free(struct batch *b, struct str key)
{
    struct str value;
    int err = kv_get(&b->txn, KV_STREAMS, key, &value);
    if (err == ERR_ABSENT)
        err = kv_get(&b->txn, KV_CUT, key, &value);
    return err == ERR_ABSENT ? 0 : err ? err : ERR_EXISTS;
}

int stream_put(struct batch *b, struct store_op *op)
{
    struct sys_key key;
    const struct store_stream *like = op->stream;
    int err = stream_key(like->session, like->id, &key);
    if (!err && like->request.n > RPC_ID_BYTES)
        err = ERR_LIMIT;
    if (!err)
        err = session_require(b, like->session);
    if (!err)
        err = check_free(b, sys_key_str(&key));
    if (!err)
        err = make_room(b, op);
    if (err)
        return err;
    struct stream_record r = {.stream = *like};
    r.stream.created_ms = b->now_ms;
    r.stream.first_n = r.stream.last_n = r.stream.seq = 0;
    err = stream_save(b, &key, &r);
    if (!err)
        stream_tell(op, &r);
    return err;
}

static int check_token(struct store_op *op, uint64_t token)
{
    if (op->if_version == STORE_ANY || op->if_version == token)
        return 0;
    op->ret_seq = token;
    return ERR_CONFLICT;
}

/* The client has come again meanwhile, by another connection. */
static bool is_late(const struct store_op *op, const struct store_stream *now)
{
    return op->is_alive && now->token > op->stream->token && is_alive(op, now->reader);
}

/* A reader that leaves a stream to which it listened leaves nobody to write it. */
int stream_claim(struct batch *b, struct store_op *op)
{
    struct sys_key key;
    struct stream_record r;
    int err = stream_find(b, op->stream, &key, &r);
    if (!err)
        err = is_late(op, &r.stream) ? ERR_CONFLICT : check_token(op, r.stream.token);
    if (err)
        return err;
    stream_tell(op, &r);
    r.stream.reader = op->stream->reader;
    r.stream.token = op->stream->token;
    if (r.stream.listens) {
        r.stream.writer = op->stream->reader;
        r.stream.reserved_n += r.stream.writer.epoch ? STREAM_NUMBERS : 0;
    }
    return stream_save(b, &key, &r);
}

/* ---- Forgetting ----------------------------------------------------------------------------- */

int stream_forget(struct batch *b, const struct sys_key *key)
{
    int err = sys_cut(b, KV_FRAMES, KV_CUT, key);
    return err ? err : batch_remove(b, KV_STREAMS, sys_key_str(key));
}

int streams_forget_session(struct batch *b, struct str session)
{
    struct sys_key prefix;
    struct str key, value;
    int err = sys_key_begin(&prefix, session);
    while (!err) {
        struct str all = sys_key_str(&prefix);
        err = sys_first(&b->txn, KV_STREAMS, all, all, &key, &value);
        if (err)
            break;
        struct sys_key own = sys_key_copy(key);
        err = stream_forget(b, &own);
    }
    return err == ERR_ABSENT ? 0 : err;
}

int streams_purge(struct batch *b, uint32_t max)
{
    return sys_purge(b, KV_CUT, KV_FRAMES, max);
}

static int is_old(struct batch *b, struct str key, struct str value, struct arena *arena)
{
    struct stream_record r;
    struct str record;
    int err = stream_read(key, value, arena, &r);
    if (err)
        return err;
    if (b->now_ms - r.stream.changed_ms < b->store->streams_keep_ms)
        return 0;
    err = kv_get(&b->txn, KV_SESSIONS, r.stream.session, &record);
    return err == ERR_ABSENT ? 1 : err ? err : is_at_rest(NULL, &r.stream);
}

/* Each stream and session has its bounds, but there may be very many. Beyond SYS_BYTES_MAX the
 * older ones that ended go first, and the more is there, the younger. */
static int64_t keep_ms(uint64_t used, uint64_t most)
{
    uint64_t over = used > most ? used - most : 0;
    return over >= most ? 0 : (int64_t)(STREAM_KEEP_MS * (double)(most - over) / (double)most);
}

int streams_look_at_room(struct store *store)
{
    struct store_stat stat = {0};
    struct store_view *view;
    int err = store_view_open(store, STORE_SYS, &view);
    if (err)
        return err;
    err = kv_stat(&view->txn, &stat);
    store_view_close(view);
    store->streams_keep_ms = keep_ms(err ? 0 : stat.used_bytes, store->sys_bytes_max);
    return err;
}

int streams_trim(struct batch *b, uint32_t max)
{
    static const struct sys_chore chore = {KV_STREAMS, is_old, stream_forget};
    return sys_round(b, &chore, &b->store->streams_at, max);
}

/* ---- Reading -------------------------------------------------------------------------------- */

int store_get_stream(struct store_view *view, struct str session, uint64_t id, struct arena *arena,
                     struct store_stream *ret)
{
    struct sys_key key;
    struct stream_record r;
    struct str value;
    if (stream_key(session, id, &key))
        return ERR_ABSENT;
    struct str own = sys_key_str(&key);
    int err = kv_get_kept(&view->txn, KV_STREAMS, own, arena, &own, &value);
    if (!err)
        err = stream_read(own, value, arena, &r);
    if (!err)
        *ret = r.stream;
    return err;
}

struct stream_scan {
    store_stream_fn fn;
    void *ctx;
    struct arena scratch;
};

static int visit_stream(void *ctx, struct str key, struct str value)
{
    struct stream_scan *scan = ctx;
    struct stream_record r;
    arena_reset(&scan->scratch);
    int err = stream_read(key, value, &scan->scratch, &r);
    return err ? err : scan->fn(scan->ctx, &r.stream);
}

int store_scan_streams(struct store_view *view, struct str session, store_stream_fn fn, void *ctx)
{
    struct stream_scan scan = {.fn = fn, .ctx = ctx};
    struct sys_key key;
    if (sys_key_begin(&key, session))
        return 0;
    arena_init(&scan.scratch, 0);
    struct str prefix = sys_key_str(&key);
    int err = sys_scan(&view->txn, KV_STREAMS, prefix, prefix, visit_stream, &scan);
    arena_done(&scan.scratch);
    return err;
}
