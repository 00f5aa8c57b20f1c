/* core/running.c - see running.h. */
#include "core/running.h"

#include "base/err.h"
#include "base/log.h"
#include "core/core_state.h"
#include "wire/json_write.h"
#include "wire/tape.h"

#include <stdatomic.h>

#define REASON_BYTES 200 /* of a client's text in the log */
#define ENDS_IN_ALL  (BUS_CALLS | BUS_STREAMS | BUS_ASKS)

/* ---- The list ------------------------------------------------------------------------------- */

void running_add(struct running *running, struct call *call)
{
    call->running_next = running->first;
    call->running_at = &running->first;
    if (running->first)
        running->first->running_at = &call->running_next;
    running->first = call;
    running->n++;
    access_watch_add(call->core, call->in.access);
    if (running->is_told)
        return;
    running->is_told = true;
    bus_set_flag(call->core->config.bus, BUS_CALLS, true);
}

bool running_remove(struct running *running, struct call *call)
{
    if (!call->running_at)
        return false;
    *call->running_at = call->running_next;
    if (call->running_next)
        call->running_next->running_at = call->running_at;
    call->running_next = NULL;
    call->running_at = NULL;
    running->n--;
    return true;
}

static bool is_of(const struct call *call, struct str session_id)
{
    return str_eq(call->session->record.id, session_id);
}

struct call *running_find(struct running *running, struct str session_id, struct str id)
{
    struct call *call = running->first;
    while (call && !(str_eq(call->message.id, id) && is_of(call, session_id)))
        call = call->running_next;
    return call;
}

/* ---- Cancelling ----------------------------------------------------------------------------- */

int call_is_cancelled(const struct call *call)
{
    return atomic_load_explicit(&call->cancelled, memory_order_relaxed);
}

void call_cancel(struct call *call, int err)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&call->cancelled, &none, err))
        return;
    if (call->core->pendings.n)
        pending_end_call(call->core, call, err);
    if (call->wake)
        call->wake(call);
}

static struct str shown(struct str reason)
{
    return (struct str){reason.p ? reason.p : "no reason given", !reason.p ? 15
                                                                 : reason.n > REASON_BYTES
                                                                     ? REASON_BYTES
                                                                     : reason.n};
}

/* False: it is not here. */
static bool cancel_here(struct core *core, struct str session_id, struct str id, struct str reason)
{
    struct call *call = running_find(&core->running, session_id, id);
    if (!call)
        return false;
    log_debug("%s " STR_FMT " is cancelled by its client: " STR_FMT, call->row->name, STR_ARG(id),
              STR_ARG(shown(reason)));
    call_cancel(call, ERR_CANCELLED);
    return true;
}

static void write_member(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, "%s\"%s\":", out->n ? "," : "", name);
    json_write_str(out, value);
}

static void tell_all(struct core *core, uint32_t flags, enum mail_kind kind, struct buf *body,
                     mail_then_fn then, void *ctx)
{
    if (!body->failed)
        mail_send_all(core, flags, kind, buf_str(body), then, ctx);
    else if (then)
        then(ctx, ERR_NO_MEMORY);
    buf_done(body);
}

void running_cancel(struct core *core, struct str session_id, struct str id, struct str reason,
                    mail_then_fn then, void *ctx)
{
    struct buf body = {0};
    if (cancel_here(core, session_id, id, reason)) {
        then(ctx, 0);
        return;
    }
    write_member(&body, "session", session_id);
    write_member(&body, "id", id);
    tell_all(core, BUS_CALLS, MAIL_CANCEL, &body, then, ctx);
}

/* ---- Sessions that end ---------------------------------------------------------------------- */

/* Whoever is cancelled may be answered at once, and others with it: so always from the start. */
static struct call *find_uncancelled(const struct core *core, struct str session_id)
{
    struct call *call = core->running.first;
    while (call && (call_is_cancelled(call) || (session_id.p && !is_of(call, session_id))))
        call = call->running_next;
    return call;
}

static void cancel_all(struct core *core, struct str session_id, int err)
{
    for (struct call *call; (call = find_uncancelled(core, session_id));)
        call_cancel(call, err);
}

void running_end_session(struct core *core, struct str session_id)
{
    cancel_all(core, session_id, ERR_SESSION_GONE);
}

void running_stop(struct core *core)
{
    cancel_all(core, STR_NONE, ERR_CLOSED);
}

static void end_here(struct core *core, struct str session_id)
{
    running_end_session(core, session_id);
    pending_end_session(core, session_id);
    streams_end_session(core->streams, session_id);
}

void session_over(struct core *core, struct str session_id, mail_then_fn then, void *ctx)
{
    struct buf body = {0};
    write_member(&body, "session", session_id);
    end_here(core, session_id);
    tell_all(core, ENDS_IN_ALL, MAIL_ENDED, &body, then, ctx);
}

/* ---- Letters -------------------------------------------------------------------------------- */

static struct str text_of(const struct tape_node *letter, const char *name)
{
    const struct tape_node *value = tape_get(letter, str_of(name));
    return value && value->kind == TAPE_STR ? tape_str(value) : STR_NONE;
}

void running_take_cancel(struct core *core, struct worker_id from, const struct tape_node *letter)
{
    (void)from;
    cancel_here(core, text_of(letter, "session"), text_of(letter, "id"),
                STR("told by another worker"));
}

void running_take_ended(struct core *core, struct worker_id from, const struct tape_node *letter)
{
    (void)from;
    end_here(core, text_of(letter, "session"));
}

/* ---- Looks ---------------------------------------------------------------------------------- */

static struct call *find_of_gone(struct core *core, struct store_view *view, struct arena *scratch)
{
    for (struct call *call = core->running.first; call; call = call->running_next) {
        struct store_session record;
        arena_reset(scratch);
        if (!call->in.stdio && !call_is_cancelled(call) &&
            store_get_session(view, call->session->record.id, scratch, &record) == ERR_ABSENT)
            return call;
    }
    return NULL;
}

/* One session per look is enough: it happens seldom, and what it has may go on for a second. */
static bool copy_gone(struct core *core, struct arena *arena, struct str *ret)
{
    struct store_view *view;
    struct arena scratch;
    if (store_view_open(core->store, STORE_SYS, &view) < 0)
        return false;
    arena_init(&scratch, 0);
    struct call *call = find_of_gone(core, view, &scratch);
    *ret = call ? arena_str(arena, call->session->record.id) : STR_NONE;
    arena_done(&scratch);
    store_view_close(view);
    return ret->p;
}

void running_look(struct core *core)
{
    struct arena arena;
    struct str session_id;
    if (!core->running.n)
        return;
    arena_init(&arena, 0);
    if (copy_gone(core, &arena, &session_id))
        session_over(core, session_id, NULL, NULL);
    arena_done(&arena);
}

void running_tick(struct core *core)
{
    if (!core->running.is_told || core->running.n)
        return;
    core->running.is_told = false;
    bus_set_flag(core->config.bus, BUS_CALLS, false);
}
