/* core/access_watch.c - see access_watch.h. */
#include "core/access_watch.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "core/core_state.h"
#include "core/stream_parts.h"

void access_watch_init(struct access_watch *watch)
{
    *watch = (struct access_watch){.expires_ms = INT64_MAX};
}

void access_watch_add(struct core *core, const struct access *access)
{
    struct access_watch *watch = &core->watch;
    if (!access->source)
        return;
    watch->is_due |= access->version != watch->version;
    if (access->expires_ms < watch->expires_ms)
        watch->expires_ms = access->expires_ms;
}

/* ---- Who that is now ------------------------------------------------------------------------ */

static bool is_refusal(int err)
{
    return err == ERR_UNAUTHORIZED || err == ERR_SCOPE;
}

static bool is_current(const struct core *core, const struct access *access, int64_t now_ms)
{
    return !access->source ||
           (access->version == core->watch.version && now_ms < access->expires_ms);
}

/* As access_renew. What cannot be known now makes the look one that is to be repeated. */
static int renew(struct core *core, struct access *access, struct access **ret)
{
    const char *why;
    int err = access_renew(core, access, ret, &why);
    if (err < 0 && !is_refusal(err))
        core->watch.is_due = true;
    if (err == 0)
        access_watch_add(core, *ret);
    return err;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static bool is_refused(struct core *core, struct call *call, int64_t now_ms)
{
    struct access *now;
    if (call_is_cancelled(call))
        return false;
    if (is_current(core, call->in.access, now_ms)) {
        access_watch_add(core, call->in.access);
        return false;
    }
    int err = renew(core, call->in.access, &now);
    if (err == 0)
        access_unref(now); /* it goes on as what it began as */
    return is_refusal(err);
}

/* Whoever is cancelled may be answered at once, and others with it: so always from the start. */
static void cancel_refused(struct core *core, int64_t now_ms)
{
    struct call *call = core->running.first;
    while (call) {
        if (is_refused(core, call, now_ms)) {
            log_debug("%s ends: its credential is not valid any more", call->row->name);
            call_cancel(call, ERR_UNAUTHORIZED);
            call = core->running.first;
        } else {
            call = call->running_next;
        }
    }
}

/* ---- Streams -------------------------------------------------------------------------------- */

static void renew_reader(struct core *core, struct reader *r, int64_t now_ms)
{
    struct access *now;
    if (is_current(core, r->access, now_ms)) {
        access_watch_add(core, r->access);
        return;
    }
    int err = renew(core, r->access, &now);
    if (err == 0) {
        access_unref(r->access);
        r->access = now;
        core->streams->access_version = UINT64_MAX; /* his lists are compared again */
    } else if (is_refusal(err)) {
        r->refused_ms = clock_mono_ms();
        core->watch.has_refused = true;
    }
}

static void renew_readers(struct core *core, int64_t now_ms)
{
    for (struct reader *r = core->streams->readers; r; r = r->next)
        if (r->sink && !r->refused_ms)
            renew_reader(core, r, now_ms);
}

/* The answer of a call that was cancelled is worth a moment. */
static bool must_wait(const struct reader *r)
{
    return r->stream && r->stream->is_owned && !r->listens &&
           clock_mono_ms() - r->refused_ms < ACCESS_END_MS;
}

static void end_refused(struct core *core)
{
    struct reader *next;
    core->watch.has_refused = false;
    for (struct reader *r = core->streams->readers; r; r = next) {
        next = r->next;
        if (!r->sink || !r->refused_ms)
            continue;
        if (must_wait(r)) {
            core->watch.has_refused = true;
            continue;
        }
        log_debug("stream of %.8s... ends: its credential is not valid any more", r->name.session);
        reader_end(r);
        next = core->streams->readers; /* others may be gone with it */
    }
}

/* ---- When ----------------------------------------------------------------------------------- */

static void look_at_all(struct core *core, int64_t now_ms)
{
    core->watch.is_due = false;
    core->watch.expires_ms = INT64_MAX;
    renew_readers(core, now_ms);
    cancel_refused(core, now_ms);
    if (core->watch.has_refused)
        end_refused(core);
}

bool access_watch_look(struct core *core)
{
    struct access_watch *watch = &core->watch;
    uint64_t version;
    int64_t now_ms = clock_wall_ms();
    if (access_version_now(core, &version) < 0)
        return false;
    if (version == watch->version && !watch->is_due && now_ms < watch->expires_ms)
        return true;
    watch->version = version;
    look_at_all(core, now_ms);
    return !watch->is_due;
}

int access_watch_arrived(struct core *core, struct call *call)
{
    struct access *now, *before = call->in.access;
    bool is_same = before->version >= core->watch.version && clock_wall_ms() < before->expires_ms;
    if (!before->source || is_same)
        return 0;
    int err = access_renew(core, before, &now, &call->out.why);
    if (err < 0)
        return err;
    call->in.access = now;
    access_unref(before);
    return 0;
}

void access_watch_tick(struct core *core)
{
    if (core->watch.has_refused)
        end_refused(core);
}
