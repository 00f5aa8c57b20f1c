/* core/stream_errand.c - the small things of streams: names, tokens, and lists of operations that
 * nobody waits for. */
#include "core/stream_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- Errands -------------------------------------------------------------------------------- */

struct errand *errand_new(struct streams *streams, struct reader *reader,
                          const struct stream_name *name, struct str message)
{
    struct errand *e = calloc(1, sizeof *e + message.n);
    if (!e)
        return NULL;
    e->streams = streams;
    e->reader = reader;
    e->name = *name;
    e->stream.session = e->claim.session = e->session.id = stream_session(&e->name);
    e->stream.id = e->claim.stream = name->id;
    if (message.p) {
        memcpy(e + 1, message.p, message.n);
        e->message = (struct str){(const char *)(e + 1), message.n};
    }
    return e;
}

static size_t n_bytes_of(const struct errand *e)
{
    return sizeof *e + e->message.n;
}

/* False: it has had its tries, or too much waits already. */
static bool wait_for_store(struct errand *e)
{
    struct streams *s = e->streams;
    if (!e->repeats || s->is_stopping)
        return false;
    if (++e->n_tries >= ERRAND_TRIES || s->late_bytes + n_bytes_of(e) > ERRANDS_BYTES) {
        log_debug("session %.8s...: given up, the store is busy", e->name.session);
        return false;
    }
    e->again_ms = clock_mono_ms() + ERRAND_PAUSE_MS;
    e->next = NULL;
    *(s->late ? s->last_late : &s->late) = e;
    s->last_late = &e->next;
    s->late_bytes += n_bytes_of(e);
    return true;
}

static void errand_end(struct errand *e, int err)
{
    struct reader *reader = e->reader;
    if (e->done)
        e->done(e, err);
    if (reader) { /* only now: it has to be there for `done` */
        reader->n_errands--;
        reader_settle(reader);
    }
    free(e);
}

static void errand_done(struct store_write *write, int err)
{
    struct errand *e = (struct errand *)write;
    if (err != ERR_BUSY || !wait_for_store(e))
        errand_end(e, err);
}

static void submit(struct errand *e, uint32_t n_ops)
{
    e->write = (struct store_write){
        .space = STORE_SYS, .ops = e->ops, .n_ops = n_ops, .done = errand_done};
    store_submit(e->streams->core->store, &e->write);
}

void errand_submit(struct errand *e, uint32_t n_ops, void (*done)(struct errand *errand, int err))
{
    e->done = done;
    if (e->reader)
        e->reader->n_errands++;
    submit(e, n_ops);
}

static struct errand *take_late(struct streams *streams)
{
    struct errand *e = streams->late;
    streams->late = e->next;
    streams->late_bytes -= n_bytes_of(e);
    return e;
}

void errands_again(struct streams *streams, int64_t now_ms)
{
    for (int i = 0; i < ERRANDS_PER_TICK && streams->late && streams->late->again_ms <= now_ms;
         i++) {
        struct errand *e = take_late(streams);
        if (!e->is_wanted || e->is_wanted(e))
            submit(e, e->write.n_ops);
        else
            errand_end(e, ERR_BUSY);
    }
}

void errands_free(struct streams *streams)
{
    while (streams->late)
        free(take_late(streams));
}

/* ---- Names ---------------------------------------------------------------------------------- */

bool stream_name_set(struct stream_name *ret, struct str session, uint64_t id)
{
    if (session.n > SESSION_ID_BYTES)
        return false;
    memset(ret, 0, sizeof *ret);
    if (session.n)
        memcpy(ret->session, session.p, session.n);
    ret->id = id;
    return true;
}

struct str stream_session(const struct stream_name *name)
{
    return str_of(name->session);
}

bool stream_name_eq(const struct stream_name *a, const struct stream_name *b)
{
    return a->id == b->id && strcmp(a->session, b->session) == 0;
}

uint64_t stream_random(void)
{
    uint64_t v = 0;
    while (getrandom(&v, sizeof v, 0) != (ssize_t)sizeof v || v == 0)
        ;
    return v;
}

uint64_t stream_token(void)
{
    return (uint64_t)clock_mono_us() << STREAM_TOKEN_BITS | (stream_random() & STREAM_TOKEN_MASK);
}

void hex64_write(uint64_t v, char ret[HEX64_BYTES])
{
    snprintf(ret, HEX64_BYTES, "%016llx", (unsigned long long)v);
}

int hex64_read(struct str text, uint64_t *ret)
{
    uint64_t v = 0;
    if (text.n != HEX64_BYTES - 1)
        return ERR_SYNTAX;
    for (uint32_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c >= '0' && c <= '9')
            v = v << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uint64_t)(c - 'a' + 10);
        else
            return ERR_SYNTAX;
    }
    *ret = v;
    return 0;
}

/* ---- Workers -------------------------------------------------------------------------------- */

struct store_worker store_worker_of(struct worker_id id)
{
    return (struct store_worker){id.slot, id.epoch};
}

struct worker_id worker_id_of(struct store_worker worker)
{
    return (struct worker_id){worker.slot, worker.epoch};
}

bool stream_is_self(const struct streams *streams, struct store_worker worker)
{
    struct worker_id self = bus_self(streams->core->config.bus);
    return worker.slot == self.slot && worker.epoch == self.epoch;
}

bool stream_is_alive(const struct streams *streams, struct store_worker worker)
{
    return worker.epoch != 0 && bus_is_alive(streams->core->config.bus, worker_id_of(worker));
}

bool streams_is_alive(void *ctx, struct store_worker who)
{
    return stream_is_alive(ctx, who);
}
