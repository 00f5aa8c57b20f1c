/* core/session.c - see session.h. */
#include "core/session.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "core/core_state.h"
#include "core/revision.h"

#include <sys/random.h>

#define RANDOM_BYTES 16 /* 128 bits, as acceptance S-02 asks */

const char *session_state_name(enum session_state state)
{
    static const char *const names[] = {"initializing", "operating", "ended"};
    return names[state];
}

/* The one place that changes a state. */
static void set_state(struct session *session, enum session_state state)
{
    session->state = state;
    session->record.initialized = state == SESSION_OPERATING;
    log_debug("session %.8s... is %s", session->record.id.p, session_state_name(state));
}

/* A client that does not come back after initialize leaves nothing for long. */
int64_t session_idle_ms(const struct core *core, const struct store_session *record)
{
    int64_t short_ms = SESSION_UNINITIALIZED_S * INT64_C(1000),
            idle_ms = core->config.session_idle_ms;
    return record->initialized || idle_ms < short_ms ? idle_ms : short_ms;
}

const char *profile_name(enum call_profile profile)
{
    return profile == PROFILE_OPERATIONS ? "operations" : "application";
}

/* ---- Finding -------------------------------------------------------------------------------- */

static bool could_be_an_id(struct str id)
{
    for (uint32_t i = 0; i < id.n; i++)
        if (id.p[i] < 0x21 || id.p[i] > 0x7e)
            return false;
    return id.n > 0 && id.n <= SESSION_ID_BYTES;
}

static int read_record(struct core *core, struct str id, struct arena *arena,
                       struct store_session *ret)
{
    struct store_view *view;
    int err = store_view_open(core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = store_get_session(view, id, arena, ret);
    store_view_close(view);
    return err == ERR_ABSENT ? ERR_SESSION_GONE : err;
}

static int read_session(struct core *core, struct str id, struct arena *arena, struct session **ret)
{
    struct session *session = arena_zalloc(arena, sizeof *session);
    if (!session)
        return ERR_NO_MEMORY;
    int err = read_record(core, id, arena, &session->record);
    if (err < 0)
        return err;
    session->revision = revision_find(session->record.version);
    if (session->revision < 0)
        return ERR_SESSION_GONE;
    session->state = session->record.initialized ? SESSION_OPERATING : SESSION_INITIALIZING;
    *ret = session;
    return 0;
}

int session_get(struct core *core, struct str id, struct arena *arena, const struct session **ret)
{
    struct session *session = core->stdio_session;
    int err = id.n ? read_session(core, id, arena, &session) : session ? 0 : ERR_SESSION_GONE;
    if (err == 0)
        *ret = session;
    return err;
}

int session_find(struct core *core, struct call *call, struct session **ret)
{
    if (call->in.stdio) {
        if (!core->stdio_session)
            return ERR_NO_SESSION;
        *ret = core->stdio_session;
        return 0;
    }
    if (call->in.session_id.n == 0)
        return ERR_NO_SESSION;
    if (!could_be_an_id(call->in.session_id))
        return ERR_SESSION_GONE;
    struct session *session;
    int err = read_session(core, call->in.session_id, &call->arena, &session);
    if (err < 0)
        return err;
    if (!str_eq(session->record.profile, str_of(profile_name(call->in.profile))))
        return ERR_SESSION_GONE;
    *ret = session;
    return 0;
}

/* ---- Making --------------------------------------------------------------------------------- */

/* The creation minute first, so that sessions made together lie together in the store. */
static int make_id(int64_t now_ms, struct arena *arena, struct str *ret)
{
    unsigned char random[RANDOM_BYTES];
    char hex[2 * RANDOM_BYTES + 1];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return ERR_INTERNAL;
    for (size_t i = 0; i < sizeof random; i++) {
        hex[2 * i] = "0123456789abcdef"[random[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[random[i] & 15];
    }
    hex[2 * RANDOM_BYTES] = '\0';
    *ret = arena_printf(arena, "%08x%s", (unsigned)(now_ms / 60000), hex);
    return ret->p ? 0 : ERR_NO_MEMORY;
}

int session_new(struct core *core, struct call *call, struct str version, struct str client_info,
                struct str capabilities, struct session **ret)
{
    struct arena *arena = call->in.stdio ? &core->arena : &call->arena;
    struct session *session = arena_zalloc(arena, sizeof *session);
    int64_t now_ms = clock_wall_ms();
    if (!session)
        return ERR_NO_MEMORY;
    session->revision = revision_find(version);
    session->record = (struct store_session){
        .id = STR(""),
        .user = arena_str(arena, call->in.access->user),
        .profile = str_of(profile_name(call->in.profile)),
        .version = arena_str(arena, version),
        .client_info = arena_str(arena, client_info),
        .capabilities = arena_str(arena, capabilities),
        .log_level = -1,
        .created_ms = now_ms,
        .active_ms = now_ms,
        .expires_ms = now_ms + session_idle_ms(core, &session->record),
    };
    const struct store_session *r = &session->record;
    if (!r->user.p || !r->version.p || !r->client_info.p || !r->capabilities.p)
        return ERR_NO_MEMORY;
    int err = call->in.stdio ? 0 : make_id(now_ms, arena, &session->record.id);
    if (err < 0)
        return err;
    set_state(session, SESSION_INITIALIZING);
    *ret = session;
    return 0;
}

/* ---- Writing -------------------------------------------------------------------------------- */

struct session_write {
    struct store_write write;
    struct store_op op;
    struct call *call;
    session_then_fn then;
};

static void written(struct store_write *write, int err)
{
    struct session_write *w = (struct session_write *)write; /* its first member */
    w->then(w->call, err == ERR_ABSENT ? ERR_SESSION_GONE : err);
}

static int submit(struct core *core, struct call *call, enum store_op_kind kind,
                  uint64_t if_version, session_then_fn then)
{
    struct session_write *w = arena_zalloc(&call->arena, sizeof *w);
    if (!w)
        return ERR_NO_MEMORY;
    w->op = (struct store_op){
        .kind = kind, .if_version = if_version, .session = &call->session->record};
    w->write = (struct store_write){.space = STORE_SYS, .ops = &w->op, .n_ops = 1, .done = written};
    w->call = call;
    w->then = then;
    store_submit(core->store, &w->write);
    return 0;
}

static void renewed(struct call *call, int err)
{
    (void)err; /* a record that is gone stays gone; any other trouble shows on the next request */
    call->is_renewing = false;
    if (call->is_answered)
        call->finish(call);
}

void session_renew(struct core *core, struct call *call)
{
    int64_t idle_ms = session_idle_ms(core, &call->session->record), now_ms = clock_wall_ms();
    struct store_session *record = &call->session->record;
    if (call->in.stdio || now_ms + idle_ms - record->expires_ms <= idle_ms / SESSION_RENEWAL_PARTS)
        return;
    record->active_ms = now_ms;
    record->expires_ms = now_ms + idle_ms;
    call->is_renewing = true;
    if (submit(core, call, STORE_TOUCH_SESSION, STORE_ANY, renewed) < 0)
        call->is_renewing = false;
}

int session_save_new(struct core *core, struct call *call, session_then_fn then)
{
    if (!call->in.stdio)
        return submit(core, call, STORE_PUT_SESSION, STORE_MISSING, then);
    core->stdio_session = call->session;
    then(call, 0);
    return 0;
}

int session_set_operating(struct core *core, struct call *call, session_then_fn then)
{
    bool already = call->session->state == SESSION_OPERATING;
    set_state(call->session, SESSION_OPERATING);
    if (already || call->in.stdio) {
        then(call, 0);
        return 0;
    }
    call->session->record.active_ms = clock_wall_ms();
    call->session->record.expires_ms =
        call->session->record.active_ms + session_idle_ms(core, &call->session->record);
    return submit(core, call, STORE_TOUCH_SESSION, STORE_PRESENT, then);
}

int session_set_level(struct core *core, struct call *call, int32_t level, session_then_fn then)
{
    call->session->record.log_level = level;
    if (!call->in.stdio)
        return submit(core, call, STORE_SET_LOG_LEVEL, STORE_ANY, then);
    then(call, 0);
    return 0;
}

int session_end(struct core *core, struct call *call, session_then_fn then)
{
    set_state(call->session, SESSION_ENDED);
    return submit(core, call, STORE_DELETE_SESSION, STORE_PRESENT, then);
}
