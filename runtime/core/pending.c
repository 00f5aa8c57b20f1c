/* core/pending.c - requests of ours that wait for a client; see pending.h.
 *
 * They stand in buckets by session, since all that is looked for, counted or ended is of one
 * session. Whoever is told may ask again or end its call at once, so nobody holds a place in a list
 * over a `done`: what ends several begins anew after each, and leaves alone what came meanwhile.
 */
#include "core/pending_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "core/core_state.h"
#include "wire/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- The buckets ---------------------------------------------------------------------------- */

static uint32_t hash_of(struct str session)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < session.n; i++)
        hash = (hash ^ (unsigned char)session.p[i]) * 16777619u;
    return hash;
}

static struct pending **bucket_of(struct core *core, struct str session)
{
    return &core->pendings.buckets[hash_of(session) % PENDING_BUCKETS];
}

static uint32_t count(struct core *core, struct str session)
{
    uint32_t n = 0;
    for (struct pending *p = *bucket_of(core, session); p; p = p->next)
        n += str_eq(p->session, session);
    return n;
}

static void add(struct core *core, struct pending *p)
{
    struct pendings *all = &core->pendings;
    struct pending **at = bucket_of(core, p->session);
    if (all->n++ == 0 || p->until_ms < all->next_ms)
        all->next_ms = p->until_ms;
    p->serial = ++all->serial;
    p->next = *at;
    *at = p;
}

static void remove_from(struct core *core, struct pending *p)
{
    struct pending **at = bucket_of(core, p->session);
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    core->pendings.n--;
}

static void free_pending(struct core *core, struct pending *p)
{
    bus_add_ask(core->config.bus, p->hash, -1);
    arena_done(&p->arena);
    free(p);
}

static void tell(struct core *core, struct pending *p, const struct pending_answer *answer)
{
    remove_from(core, p);
    p->done(p->ctx, answer);
    free_pending(core, p);
}

/* ---- Asking --------------------------------------------------------------------------------- */

static int make_id(struct core *core, struct pending *p)
{
    struct worker_id self = bus_self(core->config.bus);
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return ERR_INTERNAL;
    snprintf(p->id, sizeof p->id, "\"%u.%016llx.%016llx\"", self.slot,
             (unsigned long long)self.epoch, (unsigned long long)random);
    return 0;
}

static int64_t timeout_of(const struct core *core, const struct pending_ask *ask)
{
    int64_t ms = ask->timeout_ms > 0 ? ask->timeout_ms : core->config.ask_timeout_ms;
    ms = ms > 0 ? ms : ASK_TIMEOUT_MS;
    return ms < ASK_TIMEOUT_MAX_MS ? ms : ASK_TIMEOUT_MAX_MS;
}

static int fill(struct core *core, const struct session *session, const struct pending_ask *ask,
                struct pending *p, struct buf *params)
{
    p->session = arena_str(&p->arena, session->record.id);
    p->until_ms = clock_mono_ms() + timeout_of(core, ask);
    p->done = ask->done;
    p->ctx = ask->ctx;
    int err = p->session.p ? make_id(core, p) : ERR_NO_MEMORY;
    return err ? err : pending_check_ask(p, session, ask, params);
}

/* It counts from the beginning, so that no two workers find the same last place. */
static struct pending *new_pending(struct core *core, const struct session *session)
{
    struct pending *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    arena_init(&p->arena, 0);
    p->hash = hash_of(session->record.id);
    bus_add_ask(core->config.bus, p->hash, 1);
    return p;
}

/* For one that is not in its bucket yet, on all workers together. */
static bool has_room(struct core *core, const struct session *session)
{
    struct str id = session->record.id;
    return count(core, id) + bus_asks_elsewhere(core->config.bus, hash_of(id)) < PENDING_MAX;
}

/* Makes what waits, not yet in its bucket, and the message that asks. */
static int make(struct core *core, const struct session *session, const struct pending_ask *ask,
                struct buf *message, struct pending **ret)
{
    struct buf params = {0};
    if (session->state != SESSION_OPERATING)
        return ERR_CAPABILITY; /* nothing is asked before notifications/initialized */
    struct pending *p = new_pending(core, session);
    if (!p)
        return ERR_NO_MEMORY;
    int err = has_room(core, session) ? fill(core, session, ask, p, &params) : ERR_BUSY;
    if (err == 0) {
        rpc_open_call(message, str_of(p->id), p->row->name);
        buf_add_str(message, buf_str(&params));
        rpc_close(message);
        err = message->failed || params.failed ? ERR_NO_MEMORY : 0;
    }
    buf_done(&params);
    if (err < 0)
        free_pending(core, p);
    else
        *ret = p;
    return err;
}

/* As it is now: a client may have become ready while its call ran. */
static int find_session(struct core *core, struct call *call, struct arena *scratch,
                        const struct session **ret)
{
    *ret = call->session;
    if (call->session->state == SESSION_OPERATING || call->in.stdio)
        return 0;
    return session_get(core, call->session->record.id, scratch, ret);
}

static int ask_call(struct call *call, const struct pending_ask *ask, struct arena *scratch)
{
    const struct session *session;
    struct buf message = {0};
    struct pending *p;
    int err = find_session(call->core, call, scratch, &session);
    if (err == 0)
        err = make(call->core, session, ask, &message, &p);
    if (err == 0) {
        p->call = call;
        add(call->core, p);
        err = call_send(call, buf_str(&message));
        if (err < 0) {
            remove_from(call->core, p);
            free_pending(call->core, p);
        }
    }
    buf_done(&message);
    return err;
}

int pending_ask_call(struct call *call, const struct pending_ask *ask)
{
    struct arena scratch;
    int err = call_is_cancelled(call);
    if (err < 0)
        return err;
    if (!call->session)
        return ERR_CAPABILITY;
    arena_init(&scratch, 0);
    err = ask_call(call, ask, &scratch);
    arena_done(&scratch);
    return err;
}

int pending_ask_session(struct core *core, struct str session_id, const struct pending_ask *ask)
{
    const struct session *session;
    struct arena scratch;
    struct buf message = {0};
    struct pending *p;
    arena_init(&scratch, 0);
    int err = session_get(core, session_id, &scratch, &session);
    if (err == 0)
        err = make(core, session, ask, &message, &p);
    if (err == 0) {
        add(core, p);
        push_send(core, p->session, buf_str(&message), p->until_ms - clock_mono_ms());
    }
    buf_done(&message);
    arena_done(&scratch);
    return err;
}

/* ---- Answers -------------------------------------------------------------------------------- */

static struct pending *find(struct core *core, struct str session, struct str id)
{
    for (struct pending *p = *bucket_of(core, session); p; p = p->next)
        if (str_eq(p->session, session) && str_eq(str_of(p->id), id))
            return p;
    return NULL;
}

/* An answer to what does not wait (any more) is none. */
static void take(struct core *core, struct str session, const struct rpc_message *message,
                 struct arena *arena)
{
    struct pending_answer answer;
    struct pending *p = find(core, session, message->id);
    if (!p)
        return;
    if (message->kind == RPC_ERROR)
        pending_read_error(message->payload, arena, &answer);
    else
        pending_read_result(p, message->payload, arena, &answer);
    tell(core, p, &answer);
}

static int read_hex(struct str text, uint64_t *ret)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < text.n; i++) {
        const char *digit = memchr("0123456789abcdef", text.p[i], 16);
        if (!digit)
            return ERR_SYNTAX;
        v = v << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    *ret = v;
    return text.n == 16 ? 0 : ERR_SYNTAX;
}

/* Who asked under this id, a raw JSON text: ERR_SYNTAX if nobody of us can have. */
static int read_id(struct str id, struct worker_id *ret)
{
    uint64_t slot, epoch = 0, random;
    if (id.n < 2 || id.n >= PENDING_ID_BYTES || id.p[0] != '"')
        return ERR_SYNTAX;
    struct str rest = {id.p + 1, id.n - 2};
    int err = str_to_u64(str_cut(&rest, '.'), &slot);
    if (err == 0)
        err = read_hex(str_cut(&rest, '.'), &epoch);
    if (err == 0)
        err = read_hex(rest, &random);
    if (err < 0 || slot >= WORKERS_MAX)
        return ERR_SYNTAX;
    *ret = (struct worker_id){(uint32_t)slot, epoch};
    return 0;
}

/* A client may have escaped what it echoes; ids of ours have nothing to escape. */
static struct str plain_id(struct str id, struct arena *arena)
{
    struct str text;
    if (id.n < 2 || id.p[0] != '"' || !memchr(id.p, '\\', id.n) ||
        wire_decode_string(id, arena, &text) < 0)
        return id;
    return arena_printf(arena, "\"" STR_FMT "\"", STR_ARG(text));
}

/* Without the letter the answer is lost, and the client may send it again; if nobody is there to
 * read one (ERR_LOST), nobody waits. */
static void forwarded(void *ctx, int err)
{
    struct call *call = ctx;
    call->message.id = STR_NONE; /* is one of ours, and the client would take it for its own */
    if (err < 0 && err != ERR_LOST)
        call_fail(call, err_http_status(err) == 200 ? ERR_BUSY : err, STR_NONE, STR_NONE);
    else
        call_accept(call, 202);
}

static void forward(struct core *core, struct call *call, struct worker_id to)
{
    struct buf body = {0};
    buf_add_lit(&body, "\"session\":");
    json_write_str(&body, call->session->record.id);
    buf_add_lit(&body, ",\"body\":");
    json_write_str(&body, call->in.body);
    if (body.failed)
        forwarded(call, ERR_NO_MEMORY);
    else
        mail_send(core, to, MAIL_ANSWER, buf_str(&body), forwarded, call);
    buf_done(&body);
}

static bool is_self(const struct core *core, struct worker_id worker)
{
    struct worker_id self = bus_self(core->config.bus);
    return self.slot == worker.slot && self.epoch == worker.epoch;
}

void pending_answered(struct core *core, struct call *call)
{
    struct worker_id asker = {0};
    call->message.id = plain_id(call->message.id, &call->arena);
    int err = read_id(call->message.id, &asker);
    if (err == 0 && !is_self(core, asker) && bus_is_alive(core->config.bus, asker)) {
        forward(core, call, asker);
        return;
    }
    if (err == 0)
        take(core, call->session->record.id, &call->message, &call->arena);
    call_accept(call, 202);
}

static int read_letter(const struct tape_node *letter, struct arena *arena, struct rpc_message *ret)
{
    struct wire_fault fault;
    const struct tape_node *body = tape_get(letter, STR("body"));
    struct str text = body && body->kind == TAPE_STR ? tape_str(body) : STR("");
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    memcpy(copy, text.p, text.n);
    return rpc_read((struct str){copy, text.n}, arena, ret, &fault);
}

void pending_take_answer(struct core *core, struct worker_id from, const struct tape_node *letter)
{
    struct arena arena;
    struct rpc_message message;
    const struct tape_node *session = tape_get(letter, STR("session"));
    (void)from;
    if (!session || session->kind != TAPE_STR)
        return;
    arena_init(&arena, 0);
    int err = read_letter(letter, &arena, &message);
    message.id = err ? STR_NONE : plain_id(message.id, &arena);
    if (err < 0)
        log_error("an answer from another worker could not be read: %s", err_text(err));
    else if (message.kind == RPC_RESULT || message.kind == RPC_ERROR)
        take(core, tape_str(session), &message, &arena);
    arena_done(&arena);
}

/* ---- The end -------------------------------------------------------------------------------- */

/* The client need not go on with it. Where the request went, this goes too. */
static void send_cancelled(struct core *core, const struct pending *p, const char *reason)
{
    struct buf message = {0};
    rpc_open_call(&message, STR_NONE, "notifications/cancelled");
    buf_printf(&message, "{\"requestId\":%s,\"reason\":\"%s\"}", p->id, reason);
    rpc_close(&message);
    if (message.failed)
        log_error("no memory to cancel %s", p->row->name);
    else if (!p->call)
        push_send(core, p->session, buf_str(&message), 0);
    else if (!p->call->is_answered)
        call_send(p->call, buf_str(&message));
    buf_done(&message);
}

static struct pending *find_call(struct core *core, const struct call *call, uint64_t newest)
{
    for (struct pending *p = *bucket_of(core, call->session->record.id); p; p = p->next)
        if (p->call == call && p->serial <= newest)
            return p;
    return NULL;
}

void pending_end_call(struct core *core, struct call *call, int err)
{
    const struct pending_answer answer = {.err = err};
    uint64_t newest = core->pendings.serial;
    struct pending *p;
    while (core->pendings.n && call->session && (p = find_call(core, call, newest))) {
        if (err != ERR_SESSION_GONE)
            send_cancelled(core, p, "The call that asked has ended");
        tell(core, p, &answer);
    }
}

static struct pending *find_of_session(struct core *core, struct str session, uint64_t newest)
{
    for (struct pending *p = *bucket_of(core, session); p; p = p->next)
        if (str_eq(p->session, session) && p->serial <= newest)
            return p;
    return NULL;
}

void pending_end_session(struct core *core, struct str session_id)
{
    static const struct pending_answer answer = {.err = ERR_SESSION_GONE};
    uint64_t newest = core->pendings.serial;
    struct pending *p;
    while (core->pendings.n && (p = find_of_session(core, session_id, newest)))
        tell(core, p, &answer);
}

/* One whose time is over; sets when the next one's is. */
static struct pending *find_over(struct pendings *all, int64_t now_ms)
{
    all->next_ms = INT64_MAX;
    for (uint32_t i = 0; i < PENDING_BUCKETS; i++)
        for (struct pending *p = all->buckets[i]; p; p = p->next) {
            if (p->until_ms <= now_ms)
                return p;
            if (p->until_ms < all->next_ms)
                all->next_ms = p->until_ms;
        }
    return NULL;
}

void pending_tick(struct core *core)
{
    static const struct pending_answer answer = {.err = ERR_TIMED_OUT};
    int64_t now_ms = clock_mono_ms();
    struct pending *p;
    if (core->pendings.n == 0 || now_ms < core->pendings.next_ms)
        return;
    while ((p = find_over(&core->pendings, now_ms))) {
        send_cancelled(core, p, "The time limit was exceeded");
        tell(core, p, &answer);
    }
}

void pending_close(struct core *core)
{
    static const struct pending_answer answer = {.err = ERR_CLOSED};
    for (uint32_t i = 0; i < PENDING_BUCKETS; i++)
        while (core->pendings.buckets[i])
            tell(core, core->pendings.buckets[i], &answer);
}
