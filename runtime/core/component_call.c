/* core/component_call.c - runs callbacks: at once, on a handler thread, or when one is free.
 *
 * A callback may block for as long as it likes, and COMPONENT_CALLS_MAX may do so at one time. The
 * handler threads are more than that, so searches and jobs find one even then; further calls wait
 * here, first in, first out.
 */
#include "core/component_call.h"

#include "base/err.h"
#include "base/limits.h"
#include "core/dispatch.h"

/* ---- Answering ------------------------------------------------------------------------------ */

/* Of a cancelled call the answer is the reason, which call_leave turns into none. */
static void answer(struct tenon_call *t)
{
    struct call *call = t->call;
    int cancelled = call_is_cancelled(call);
    if (cancelled || t->err < 0)
        buf_done(&t->out);
    if (cancelled) {
        call_fail(call, cancelled, STR_NONE, STR_NONE);
    } else if (t->err < 0) {
        call_fail(call, t->err, t->err_message, t->err_data);
    } else {
        buf_done(&call->out.body);
        call->out.body = t->out;
        call->out.http_status = 200;
        call_leave(call);
    }
}

/* `t` lies in the call, which is gone after the answer. */
static void finish(struct tenon_call *t)
{
    struct arena arena = t->arena;
    live_flush(t->call->live);
    live_free(t->call->live);
    t->call->live = NULL;
    answer(t);
    arena_done(&arena);
}

/* ---- Running -------------------------------------------------------------------------------- */

static void run(struct loop_work *work)
{
    struct tenon_call *t = (struct tenon_call *)work;
    if (call_is_cancelled(t->call))
        return;
    int returned = t->task->run(t);
    if (call_is_cancelled(t->call))
        return;
    t->err = t->task->write(t, returned);
}

static int begin(struct tenon_call *t)
{
    int err = loop_offload(t->call->core->loop, &t->work);
    t->tenon->calls.n_running += err == 0;
    return err;
}

static void append(struct component_calls *calls, struct tenon_call *t)
{
    t->next = NULL;
    *calls->last = t;
    calls->last = &t->next;
    calls->n_waiting++;
}

static struct tenon_call *take_first(struct component_calls *calls)
{
    struct tenon_call *t = calls->first;
    calls->first = t->next;
    if (!calls->first)
        calls->last = &calls->first;
    calls->n_waiting--;
    return t;
}

static void begin_waiting(struct component_calls *calls)
{
    while (calls->first && calls->n_running < COMPONENT_CALLS_MAX) {
        struct tenon_call *t = take_first(calls);
        t->err = call_is_cancelled(t->call) ? ERR_CANCELLED : begin(t);
        if (t->err < 0)
            finish(t);
    }
}

static void ran(struct loop_work *work)
{
    struct tenon_call *t = (struct tenon_call *)work;
    struct component_calls *calls = &t->tenon->calls;
    calls->n_running--;
    begin_waiting(calls);
    finish(t);
}

static int start(struct tenon_call *t)
{
    struct component_calls *calls = &t->tenon->calls;
    if (t->is_inline) {
        run(&t->work);
        finish(t);
        return CALL_LATER;
    }
    if (calls->n_running < COMPONENT_CALLS_MAX && !calls->first) {
        int err = begin(t);
        return err < 0 ? err : CALL_LATER;
    }
    if (calls->n_waiting == COMPONENT_CALLS_WAITING_MAX)
        return ERR_BUSY;
    append(calls, t);
    return CALL_LATER;
}

int component_make(struct call *call, const struct component_task *task, bool is_inline,
                   struct tenon_call **ret)
{
    struct tenon_call *t = arena_zalloc(&call->arena, sizeof *t);
    if (!t)
        return ERR_NO_MEMORY;
    t->work = (struct loop_work){.run = run, .done = ran};
    t->call = call;
    t->task = task;
    t->tenon = call->core->config.components;
    t->is_inline = is_inline;
    arena_init(&t->arena, 0);
    int err = live_new(call, &call->live);
    if (err == 0)
        *ret = t;
    return err;
}

int component_start(struct tenon_call *t)
{
    struct call *call = t->call;
    int err = start(t);
    if (err < 0) {
        live_free(call->live);
        call->live = NULL;
    }
    return err;
}
