/* core/operations_sessions.c - operations on the sessions of clients: list_sessions, close_session.
 *
 * Both go through all sessions, so neither runs on the loop. A page goes on behind the time and
 * handle of its last session: whoever comes or goes meanwhile, no session is shown twice.
 */
#include "base/clock.h"
#include "base/err.h"
#include "core/core_state.h"
#include "core/manage_sessions.h"
#include "core/operations.h"
#include "core/table_run.h"
#include "wire/json_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAGE_DEFAULT     100
#define CLIENT_SHOWN_MAX 200 /* bytes of a client's name, and of its version */

struct place {
    int64_t created_ms;
    char handle[SESSION_HANDLE_BYTES + 1];
};

struct shown {
    struct place place;
    struct store_session session; /* without its client_info and capabilities */
    struct str client_name, client_version;
    bool current; /* the one that asks */
};

struct look {
    struct loop_work work; /* first */
    struct call *call;
    struct manage manage;
    struct str handle; /* to be closed */
    struct str closed; /* the id of what was */
    struct place after;
    uint32_t limit;
    struct shown *v; /* by place: the first of those behind `after`, at most limit + 1 */
    uint32_t n;
    struct buf out;
    int err;
};

static int compare(const struct place *a, const struct place *b)
{
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms ? -1 : 1;
    return strcmp(a->handle, b->handle);
}

/* ---- What is kept of a session -------------------------------------------------------------- */

static struct str copy_member(const struct tape_node *object, struct str name, struct arena *arena)
{
    const struct tape_node *value = tape_get(object, name);
    if (!value || value->kind != TAPE_STR)
        return STR("");
    struct str text = tape_str(value);
    text.n = text.n < CLIENT_SHOWN_MAX ? text.n : CLIENT_SHOWN_MAX;
    return arena_str(arena, text);
}

static int copy_client(struct str info, struct arena *arena, struct shown *ret)
{
    const struct tape_node *client;
    struct wire_fault fault;
    struct arena scratch;
    arena_init(&scratch, 0);
    char *padded = arena_zalloc(&scratch, (size_t)info.n + JSON_PADDING_BYTES);
    if (padded && info.n)
        memcpy(padded, info.p, info.n);
    int err =
        padded ? tape_open((struct str){padded, info.n}, &scratch, &client, &fault) : ERR_NO_MEMORY;
    if (err == 0 && client->kind == TAPE_OBJECT) {
        ret->client_name = copy_member(client, STR("name"), arena);
        ret->client_version = copy_member(client, STR("version"), arena);
    }
    arena_done(&scratch);
    return err == ERR_NO_MEMORY ? err : 0;
}

static int copy_session(struct look *look, const struct place *place, const struct store_session *s,
                        struct shown *ret)
{
    struct arena *arena = look->manage.arena;
    *ret = (struct shown){
        .place = *place, .session = *s, .client_name = STR(""), .client_version = STR("")};
    ret->session.profile = arena_str(arena, s->profile);
    ret->session.user = arena_str(arena, s->user);
    ret->session.version = arena_str(arena, s->version);
    ret->current = str_eq(s->id, look->call->session->record.id);
    int err = copy_client(s->client_info, arena, ret);
    bool complete = ret->session.profile.p && ret->session.user.p && ret->session.version.p &&
                    ret->client_name.p && ret->client_version.p;
    return err < 0 || complete ? err : ERR_NO_MEMORY;
}

/* Sessions come by the minute of their creation: later ones cannot be among the first any more. */
static bool is_past(const struct look *look, const struct place *place)
{
    return place->created_ms / 60000 > look->v[look->n - 1].place.created_ms / 60000;
}

static int keep(void *ctx, const char *handle, const struct store_session *session)
{
    struct look *look = ctx;
    struct place place = {.created_ms = session->created_ms};
    snprintf(place.handle, sizeof place.handle, "%s", handle);
    bool full = look->n == look->limit + 1;
    int stop = call_is_cancelled(look->call);
    if (stop)
        return stop;
    if (full && is_past(look, &place))
        return 1;
    if (compare(&place, &look->after) <= 0 ||
        (full && compare(&place, &look->v[look->n - 1].place) > 0))
        return 0;
    uint32_t at = full ? look->n - 1 : look->n++;
    for (; at > 0 && compare(&place, &look->v[at - 1].place) < 0; at--)
        look->v[at] = look->v[at - 1];
    return copy_session(look, &place, session, &look->v[at]);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void write_text(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, ",\"%s\":", name);
    json_write_str(out, value);
}

static void write_time(struct buf *out, const char *name, int64_t ms)
{
    char text[CLOCK_TEXT_BYTES];
    clock_write_text(ms, text);
    write_text(out, name, str_of(text));
}

static void write_session(const struct shown *s, struct buf *out)
{
    buf_printf(out, "{\"session\":\"%s\"", s->place.handle);
    write_text(out, "profile", s->session.profile);
    write_text(out, "user", s->session.user);
    buf_add_lit(out, ",\"client\":{\"name\":");
    json_write_str(out, s->client_name);
    write_text(out, "version", s->client_version);
    buf_add_char(out, '}');
    write_text(out, "protocolVersion", s->session.version);
    buf_printf(out, ",\"initialized\":%s", s->session.initialized ? "true" : "false");
    write_time(out, "created", s->session.created_ms);
    write_time(out, "active", s->session.active_ms);
    write_time(out, "expires", s->session.expires_ms);
    buf_printf(out, ",\"current\":%s}", s->current ? "true" : "false");
}

static int write_cursor(struct look *look, const struct place *last)
{
    struct arena *arena = look->manage.arena;
    struct str cursor,
        payload = arena_printf(arena, "%" PRId64 " %s", last->created_ms, last->handle);
    int err = payload.p ? cursor_write(&look->call->core->cursor_key, CURSOR_SESSIONS, STR(""),
                                       payload, arena, &cursor)
                        : ERR_NO_MEMORY;
    if (err == 0)
        write_text(&look->out, "nextCursor", cursor);
    return err;
}

static int write_page(struct look *look)
{
    bool more = look->n > look->limit;
    int err = 0;
    look->n -= more;
    buf_add_lit(&look->out, "{\"sessions\":[");
    for (uint32_t i = 0; i < look->n; i++) {
        if (i)
            buf_add_char(&look->out, ',');
        write_session(&look->v[i], &look->out);
    }
    buf_add_char(&look->out, ']');
    if (more)
        err = write_cursor(look, &look->v[look->n - 1].place);
    buf_add_char(&look->out, '}');
    return err;
}

/* ---- On a handler thread, and back ---------------------------------------------------------- */

static void run_list(struct loop_work *work)
{
    struct look *look = (struct look *)work;
    look->err = manage_list_sessions(&look->manage, keep, look);
    if (look->err >= 0)
        look->err = write_page(look);
}

static void run_close(struct loop_work *work)
{
    struct look *look = (struct look *)work;
    look->err = manage_close_session(&look->manage, look->handle, &look->closed);
    buf_add_lit(&look->out, "{\"session\":");
    json_write_str(&look->out, look->handle);
    buf_add_lit(&look->out, ",\"closed\":true}");
}

static void done(struct loop_work *work)
{
    struct look *look = (struct look *)work;
    struct call *call = look->call;
    struct buf out = look->out; /* the answer frees the call and all in it */
    if (look->err < 0 && look->err != ERR_ABSENT)
        call_fail(call, look->err, STR_NONE, STR_NONE);
    else if (look->err == ERR_ABSENT)
        tool_fail(call, STR("There is no such session (any more)."));
    else if (out.failed)
        call_fail(call, ERR_NO_MEMORY, STR_NONE, STR_NONE);
    else
        tool_succeed(call, buf_str(&out));
    buf_done(&out);
}

/* The answer first: the session may be its own. */
static void closed(struct loop_work *work)
{
    struct look *look = (struct look *)work;
    struct core *core = look->call->core;
    struct arena arena;
    arena_init(&arena, 0);
    struct str id = look->err == 0 ? arena_str(&arena, look->closed) : STR_NONE;
    done(work);
    if (id.p)
        session_over(core, id, NULL, NULL);
    arena_done(&arena);
}

static int start(struct look *look, void (*run)(struct loop_work *work),
                 void (*then)(struct loop_work *work))
{
    look->work = (struct loop_work){.run = run, .done = then};
    int err = loop_offload(look->call->core->loop, &look->work);
    return err < 0 ? err : CALL_LATER;
}

static struct look *new_look(struct call *call)
{
    struct look *look = arena_zalloc(&call->arena, sizeof *look);
    if (!look)
        return NULL;
    look->call = call;
    look->manage = (struct manage){.store = call->core->store, .arena = &call->arena};
    look->after.created_ms = INT64_MIN;
    return look;
}

/* ---- The operations ------------------------------------------------------------------------- */

static int read_cursor(struct look *look, struct str text)
{
    struct call *call = look->call;
    struct str payload;
    int err = cursor_read(&call->core->cursor_key, CURSOR_SESSIONS, STR(""), text, &call->arena,
                          &payload);
    if (err == 0) {
        struct str copy = arena_str(&call->arena, payload); /* for its NUL */
        return copy.p && sscanf(copy.p, "%" SCNd64 " %16s", &look->after.created_ms,
                                look->after.handle) == 2
                   ? 0
                   : ERR_NO_MEMORY;
    }
    if (err != ERR_PARAMS)
        return err;
    struct str data = call_fault_data(call, "/params/arguments", "/cursor", "cursor",
                                      "nextCursor of a page of this list");
    return call_explain(call, err, STR("Invalid cursor"), data);
}

int operation_list_sessions(struct call *call, const struct tape_node *args, struct buf *out)
{
    const struct tape_node *limit = tape_get(args, STR("limit")),
                           *cursor = tape_get(args, STR("cursor"));
    struct look *look = new_look(call);
    (void)out;
    if (!look)
        return ERR_NO_MEMORY;
    look->limit = limit ? (uint32_t)tape_num(limit) : PAGE_DEFAULT;
    look->v = arena_array(&call->arena, look->limit + 1, sizeof *look->v);
    int err = !look->v ? ERR_NO_MEMORY : cursor ? read_cursor(look, tape_str(cursor)) : 0;
    return err < 0 ? err : start(look, run_list, done);
}

int operation_close_session(struct call *call, const struct tape_node *args, struct buf *out)
{
    struct look *look = new_look(call);
    (void)out;
    if (!look)
        return ERR_NO_MEMORY;
    look->handle = tape_str(tape_get(args, STR("session")));
    return start(look, run_close, closed);
}
