/* tests/multi/follow_rig.h - subscribers on four workers, a new connection for each request.
 *
 * A subscriber is a session with subscriptions to a row, to its table, which all others change too,
 * and to a resource of the component live.c; each merged or `all`. It lets commits be made, reads,
 * leaves, comes back to whatever worker the kernel gives it, with Last-Event-ID or without. In the
 * end its account is compared (follow_account.h).
 *
 * Who always goes on by the id of its last event is told everything exactly once; who does not may
 * be told again, and misses nothing. As a lost connection may hold what its client never read, who
 * comes without an id reads to the end of the one before.
 */
#ifndef TENON_TESTS_FOLLOW_RIG_H
#define TENON_TESTS_FOLLOW_RIG_H

#include "tests/lib/mcp.h"
#include "tests/multi/follow_account.h"

#include <sys/socket.h>
#include <unistd.h>

/* ---- What is told --------------------------------------------------------------------------- */

static inline struct interest *find_interest(struct subscriber *s, const char *uri_text)
{
    char quoted[100];
    for (int i = 0; i < N_KINDS; i++) {
        snprintf(quoted, sizeof quoted, "\"%s\"", s->interests[i].uri);
        if (strcmp(quoted, uri_text) == 0)
            return &s->interests[i];
    }
    return NULL;
}

/* The third part of the id: "stream.n.seq"; 0: it has none. */
static inline uint64_t position_of(const char *id)
{
    uint64_t stream, n, seq = 0;
    return sscanf(id, "%" SCNx64 ".%" SCNu64 ".%" SCNu64, &stream, &n, &seq) == 3 ? seq : 0;
}

static inline bool is_same_stream(const char *id, const char *other)
{
    size_t n = strcspn(id, ".");
    return strncmp(id, other, n + 1) == 0;
}

static inline void take_position(struct subscriber *s, const char *id)
{
    uint64_t position = position_of(id);
    if (!position)
        blame(s, "the id %s of an update holds no position", id);
    if (is_same_stream(id, s->last_id) && position < s->position)
        blame(s, "the position goes back by %s", id);
    s->position = position;
}

/* `meta` of a notification in mode all. */
static inline void take_change(struct subscriber *s, struct interest *i, const char *meta)
{
    char *seq = meta ? match_member(meta, "tenon/seq") : NULL;
    char *uri = meta ? match_member(meta, "tenon/uri") : NULL;
    const char *key = "";
    size_t n = strlen(i->uri);
    if (!seq)
        blame(s, "no tenon/seq for %s", i->uri);
    if ((uri != NULL) != (i->kind == TABLE) || (uri && strncmp(uri + 1, i->uri, n) != 0))
        blame(s, "tenon/uri %s for %s", uri ? uri : "is missing", i->uri);
    else if (uri)
        key = uri + 1 + n + 1;
    add_mark(&i->told, seq ? strtoull(seq, NULL, 10) : 0,
             (struct str){key, (uint32_t)strcspn(key, "\"")});
    free(seq);
    free(uri);
}

static inline void take_update(struct subscriber *s, const struct sse_event *event)
{
    char *params = match_member(event->data, "params");
    char *uri = params ? match_member(params, "uri") : NULL;
    char *meta = params ? match_member(params, "_meta") : NULL;
    struct interest *i = uri ? find_interest(s, uri) : NULL;
    take_position(s, event->id);
    if (!i)
        blame(s, "is told of what it did not subscribe to: %.200s", event->data);
    else if (i->all)
        take_change(s, i, meta);
    else
        add_mark(&i->told, s->position, STR(""));
    if (i && !i->is_on && i->told.all[i->told.n - 1].seq > i->off_seq)
        blame(s, "is told of what it unsubscribed from: %.200s", event->data);
    if (i && !i->all && meta)
        blame(s, "_meta in a merged update: %.200s", event->data);
    free(params);
    free(uri);
    free(meta);
}

static inline void take_message(struct subscriber *s, struct sse_event *event)
{
    note_id(event->id);
    if (strstr(event->data, "\"notifications/resources/updated\""))
        take_update(s, event);
    else if (!strstr(event->data, "list_changed"))
        blame(s, "got %.200s", event->data);
    snprintf(s->last_id, sizeof s->last_id, "%s", event->id);
    tell(s, "heard %s %.250s", event->id, event->data);
    free(event->data);
    n_told++;
}

/* The next event within `ms`. A stream that broke is closed. */
static inline bool hear(struct subscriber *s, int64_t ms)
{
    struct sse_event event;
    if (!s->is_open)
        return false;
    enum sse_got got = sse_next(&s->stream, ms, &event);
    if (got == SSE_EVENT) {
        take_message(s, &event);
        return true;
    }
    if (got != SSE_TIMEOUT) {
        if (!has_kills)
            blame(s, "its stream ended by itself (%d)", got);
        sse_close(&s->stream);
        s->is_open = false;
    }
    return false;
}

/* ---- Coming and going ----------------------------------------------------------------------- */

/* A stream on whatever worker; the one before must be closed. */
static inline void come(struct subscriber *s)
{
    const char *last_id = s->by_ids && s->last_id[0] ? s->last_id : NULL;
    if (s->is_open)
        return;
    for (; !is_late(s); pause_ms(5)) {
        s->is_open = sse_get(&s->stream, server.port, s->session, last_id) &&
                     s->stream.status == 200 && s->stream.is_stream;
        if (s->is_open)
            break;
        if (!has_kills || (s->stream.status && s->stream.status != 503))
            blame(s, "no stream but %d behind %s", s->stream.status, last_id ? last_id : "nothing");
        sse_close(&s->stream);
    }
    tell(s, "came with %s, log %" PRIu64, last_id ? last_id : "no id", log_end());
    n_returns++;
}

/* Says that it goes, and takes what is on the way. */
static inline void leave_gently(struct sse_stream *stream, struct subscriber *s)
{
    struct sse_event event;
    tell(s, "leaves gently");
    shutdown(stream->conn.fd, SHUT_WR);
    enum sse_got got;
    while ((got = sse_next(stream, EVENT_MS, &event)) == SSE_EVENT)
        take_message(s, &event);
    if (got == SSE_TIMEOUT)
        blame(s, "the server does not let a client go");
    sse_close(stream);
}

static inline void leave(struct subscriber *s)
{
    if (!s->is_open)
        return;
    s->is_open = false;
    if (!s->by_ids || !s->last_id[0])
        leave_gently(&s->stream, s);
    else {
        tell(s, "leaves behind %s", s->last_id);
        if (chance(s, 2))
            http_abort(&s->stream.conn);
        sse_close(&s->stream);
    }
}

/* A second stream beside the first, which takes over. */
static inline void come_twice(struct subscriber *s)
{
    struct sse_stream old = s->stream;
    bool was_open = s->is_open;
    s->is_open = false;
    come(s);
    if (was_open)
        leave_gently(&old, s);
}

static inline void return_after_pause(struct subscriber *s)
{
    if (!s->by_ids && chance(s, 3) == 0) {
        come_twice(s);
        return;
    }
    leave(s);
    pause_ms(chance(s, PAUSE_MS));
    come(s);
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* One POST on a connection of its own; with kills as often as it takes. To be freed; NULL: no
 * answer in time. */
static inline char *ask(struct subscriber *s, const char *body)
{
    for (; !is_late(s); pause_ms(5)) {
        struct http_conn c;
        struct http_reply r = {0};
        bool is_answered = http_open(&c, server.port) &&
                           http_post(&c, s->session, "2025-06-18", body, &r) == HTTP_REPLY &&
                           r.status != 503;
        char *text = is_answered ? strdup(r.body) : NULL;
        int status = r.status;
        http_free(&r);
        http_close(&c);
        if (is_answered && (status == 200 || status == 202))
            return text;
        free(text);
        if (!has_kills || is_answered) {
            blame(s, "status %d for %.200s", status, body);
            return NULL;
        }
    }
    return NULL;
}

static inline void open_subscriber(struct subscriber *s)
{
    while (!open_session(s->session) && has_kills && !is_late(s))
        pause_ms(5);
    if (!s->session[0])
        blame(s, "no session");
}

static inline bool expect_empty_result(struct subscriber *s, const char *body)
{
    char *answer = ask(s, body);
    bool ok = answer && strstr(answer, "\"result\":{}");
    if (!ok)
        blame(s, "%.200s answered by %.200s", body, answer ? answer : "nothing");
    free(answer);
    return ok;
}

static inline void subscribe(struct subscriber *s, struct interest *i)
{
    char body[400];
    const char *options = i->all         ? "\"tenon/mode\":\"all\""
                          : s->coalesces ? "\"tenon/coalesceMs\":20"
                                         : "\"tenon/mode\":\"merged\"";
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{"
             "\"uri\":\"%s\",\"_meta\":{%s}}}",
             i->uri, options);
    bool again = i->is_on;
    if (!again)
        i->before_seq = log_end();
    i->is_on = true;
    expect_empty_result(s, body);
    if (!again)
        i->since_seq = log_end();
    tell(s, "subscribed to %s %s, log %" PRIu64, i->uri, options, log_end());
}

static inline void unsubscribe(struct subscriber *s, struct interest *i)
{
    char body[300];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/unsubscribe\",\"params\":{"
             "\"uri\":\"%s\"}}",
             i->uri);
    expect_empty_result(s, body);
    i->is_on = false;
    i->off_seq = log_end();
    tell(s, "unsubscribed from %s, log %" PRIu64, i->uri, i->off_seq);
}

/* ---- Commits -------------------------------------------------------------------------------- */

static inline bool call_tool(struct subscriber *s, const char *tool, const char *arguments)
{
    char body[400];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":%s}}",
             tool, arguments);
    char *answer = ask(s, body);
    bool ok = answer && strstr(answer, "\"result\"") && !strstr(answer, "\"isError\":true");
    if (!ok && !has_kills)
        blame(s, "%s %s answered by %.300s", tool, arguments, answer ? answer : "");
    free(answer);
    n_committed += ok;
    tell(s, "%s %s %s, log %" PRIu64, tool, arguments, ok ? "done" : "FAILED", log_end());
    return ok;
}

/* Of its own two rows: the one that is subscribed to, and one beside it. With kills it may not know
 * whether the row is there. */
static inline bool commit_row(struct subscriber *s, int which)
{
    char arguments[200], tool[32], key[KEY_BYTES];
    static const char *const verbs[] = {"create", "update", "delete"};
    int verb = !s->is_there[which] ? 0 : chance(s, 5) == 0 ? 2 : 1;
    snprintf(key, sizeof key, "%s%d", which ? "x" : "r", s->number);
    if (verb == 0)
        snprintf(arguments, sizeof arguments, "{\"id\":\"%s\",\"n\":0}", key);
    else if (verb == 1)
        snprintf(arguments, sizeof arguments, "{\"id\":\"%s\",\"changes\":{\"n\":%d}}", key,
                 rand_r(&s->seed));
    else
        snprintf(arguments, sizeof arguments, "{\"id\":\"%s\"}", key);
    snprintf(tool, sizeof tool, "%s_t%d", verbs[verb], s->tables[which]);
    bool ok = call_tool(s, tool, arguments);
    s->is_there[which] = ok ? verb != 2 : !s->is_there[which];
    if (ok && which == 0)
        s->interests[ROW].n_acknowledged++;
    return ok;
}

static inline bool touch(struct subscriber *s)
{
    char arguments[40];
    snprintf(arguments, sizeof arguments, "{\"n\":%d}", s->number);
    bool ok = call_tool(s, "touch", arguments);
    s->interests[RESOURCE].n_acknowledged += ok;
    return ok;
}

static inline bool commit(struct subscriber *s, enum kind kind)
{
    return kind == RESOURCE ? touch(s) : commit_row(s, kind == TABLE);
}

static inline void commit_for_certain(struct subscriber *s, enum kind kind)
{
    while (!commit(s, kind) && !is_late(s))
        ;
}

/* ---- A subscriber's life -------------------------------------------------------------------- */

static inline void name_interests(struct subscriber *s)
{
    snprintf(s->interests[ROW].key, KEY_BYTES, "r%d", s->number);
    snprintf(s->interests[ROW].uri, 96, "db://follow/t%d/r%d", s->tables[0], s->number);
    snprintf(s->interests[TABLE].uri, 96, "db://follow/t%d", s->tables[1]);
    snprintf(s->interests[RESOURCE].uri, 96, "live://watched/%d", s->number);
    for (int i = 0; i < N_KINDS; i++) {
        s->interests[i].kind = (enum kind)i;
        s->interests[i].table = table_ids[s->tables[i == TABLE]];
        s->interests[i].is_shared = i != RESOURCE && s->tables[0] == s->tables[1];
        s->interests[i].all = chance(s, 2);
    }
}

static inline void subscribe_all(struct subscriber *s)
{
    unsigned first = chance(s, N_KINDS);
    for (unsigned i = 0; i < N_KINDS; i++) {
        struct interest *interest = &s->interests[(first + i) % N_KINDS];
        subscribe(s, interest);
        if (chance(s, 3) == 0)
            commit(s, interest->kind);
        if (chance(s, 4) == 0)
            subscribe(s, interest);
    }
}

static inline void step(struct subscriber *s)
{
    switch (chance(s, 6)) {
    case 0:
        return_after_pause(s);
        break;
    case 1:
        leave(s);
        break;
    case 2:
        while (hear(s, chance(s, PAUSE_MS)))
            ;
        break;
    default:
        commit(s, chance(s, N_KINDS));
    }
}

/* Whatever changed last is told in the end. */
static inline void wait_for_all(struct subscriber *s)
{
    if (!has_kills && !server_wait(all_logged(s)))
        blame(s, "a change of its resource is not in the log");
    for (int i = 0; i < N_KINDS; i++)
        set_target(&s->interests[i]);
    while (!all_told(s) && !is_late(s))
        if (!s->is_open)
            come(s);
        else
            hear(s, has_kills ? 1000 : s->until_ms - server_now_ms());
    for (int i = 0; i < N_KINDS; i++)
        if (!is_told(s, &s->interests[i]))
            blame(s,
                  "is not told of the last change of %s, %" PRIu64 " (%zu were, since %" PRIu64
                  ", the last %" PRIu64 "; mode %s, %s ids, at %s)",
                  s->interests[i].uri, s->interests[i].target_seq, s->interests[i].told.n,
                  s->interests[i].since_seq,
                  s->interests[i].told.n ? s->interests[i].told.all[s->interests[i].told.n - 1].seq
                                         : 0,
                  s->interests[i].all ? "all" : "merged", s->by_ids ? "by" : "without",
                  s->last_id[0] ? s->last_id : "none");
}

/* Everything was told, so what is told now is of this commit. */
static inline void check_last_commit(struct subscriber *s, enum kind kind)
{
    struct interest *i = &s->interests[kind];
    size_t told = i->told.n;
    commit_for_certain(s, kind);
    wait_for_all(s);
    while (i->told.n == told && !is_late(s)) {
        come(s);
        hear(s, 1000);
    }
    if (i->told.n == told)
        blame(s, "the last commit of %s is not told", i->uri);
}

/* What is unsubscribed is not told, though it changes before something that is. */
static inline void check_unsubscribed(struct subscriber *s)
{
    enum kind off = chance(s, 2) ? ROW : RESOURCE, on = off == ROW ? RESOURCE : ROW;
    unsubscribe(s, &s->interests[off]);
    commit_for_certain(s, off);
    commit_for_certain(s, on);
    wait_for_all(s);
}

static inline void end_session(struct subscriber *s)
{
    struct mcp_client c = {0};
    struct sse_event event;
    enum sse_got got = SSE_END;
    if (!mcp_join(&c, server.port, s->session) || mcp_delete(&c) / 100 != 2)
        blame(s, "the session does not end");
    mcp_close(&c);
    while (s->is_open && (got = sse_next(&s->stream, EVENT_MS, &event)) == SSE_EVENT)
        free(event.data);
    if (got != SSE_END)
        blame(s, "the stream of an ended session does not end (%d)", got);
}

static inline void free_subscriber(struct subscriber *s)
{
    if (s->is_open)
        sse_close(&s->stream);
    if (s->is_wronged && n_faults < 20)
        tap_note("%.30000s", s->story);
    free(s->story);
    for (int i = 0; i < N_KINDS; i++) {
        free(s->interests[i].told.all);
        free(s->interests[i].changes.all);
    }
}

static unsigned seed;

static inline void live_once(int number)
{
    struct subscriber s = {.number = number};
    s.seed = seed ^ (unsigned)number * 2654435761u;
    s.until_ms = server_now_ms() + FOLLOW_MS;
    s.by_ids = chance(&s, 2);
    s.coalesces = chance(&s, 4) == 0;
    s.tables[0] = number % N_TABLES;
    s.tables[1] = (number + (int)chance(&s, 2)) % N_TABLES;
    name_interests(&s);
    open_subscriber(&s);
    if (chance(&s, 2))
        come(&s);
    subscribe_all(&s);
    for (unsigned i = 0, n = 2 + chance(&s, 10); i < n; i++)
        step(&s);
    for (int i = 0; i < N_KINDS; i++)
        commit_for_certain(&s, (enum kind)i);
    if (chance(&s, 2))
        return_after_pause(&s);
    wait_for_all(&s);
    /* a change of a resource that is not in the log yet goes with its worker */
    check_last_commit(&s, has_kills || chance(&s, 2) ? ROW : RESOURCE);
    check_account(&s);
    if (chance(&s, 4) == 0)
        check_unsubscribed(&s);
    if (!has_kills && chance(&s, 2))
        end_session(&s);
    free_subscriber(&s);
}

/* ---- The server ----------------------------------------------------------------------------- */

#define FOLLOW_FLAGS "--workers 4 --allow-client-delete --component %s"

static inline bool make_tables(void)
{
    return server_sh(&server,
                     "for i in 0 1 2 3; do echo '{\"primaryKey\":\"id\",\"schema\":{\"type\":"
                     "\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"n\":{\"type\":"
                     "\"integer\"}},\"required\":[\"id\",\"n\"]}}' >\"$DATA.json\"; "
                     "$TENON table create --data \"$DATA\" follow.t$i \"$DATA.json\"; done") == 0;
}

static inline bool follow_start(void)
{
    char flags[300];
    const char *component = getenv("TENON_LIVE");
    snprintf(flags, sizeof flags, FOLLOW_FLAGS,
             component ? component : "build/release/tests/multi/live.so");
    return server_start(&server, NULL, flags, false);
}

static inline bool begin_follow(void)
{
    const char *wanted = getenv("TENON_FOLLOW_SEED");
    seed = wanted ? (unsigned)strtoul(wanted, NULL, 10) : (unsigned)getpid() * 2654435761u;
    bool ok = tap_ok(server_dir(&server) && make_tables() && follow_start() && open_beside(),
                     "four workers, four tables, a component");
    tap_note("TENON_FOLLOW_SEED=%u", seed);
    return ok;
}

static inline int end_follow(void)
{
    store_close(beside);
    tap_ok(server_stop(&server), "the server ends well");
    tap_ok(server_sh(&server, "$TENON doctor --data $DATA") == 0, "doctor finds nothing");
    if (n_faults)
        server_show_log(&server);
    server_remove(&server);
    return tap_done();
}

#endif
