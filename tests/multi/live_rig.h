/* tests/multi/live_rig.h - clients of calls that talk while they run, a new connection for each
 * request, so that every request may land on another worker.
 *
 * A conversation is one tools/call of the component live.c: what its client has seen of it is noted
 * and compared with what has to come. Every event that any client gets is remembered by its id, so
 * an id that comes twice is found, whoever gets it.
 */
#ifndef TENON_TESTS_LIVE_RIG_H
#define TENON_TESTS_LIVE_RIG_H

#include "tests/lib/match.h"
#include "tests/lib/server.h"
#include "tests/lib/sse.h"
#include "tests/lib/tap.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SESSIONS 8
#define N_THREADS  8
#define EVENT_MS   10000
#define IDS_MAX    (1u << 20)

static struct server server;
static char sessions[N_SESSIONS][128];
static _Atomic uint32_t n_faults;

/* ---- Faults --------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((format(printf, 1, 2))) static inline void fault(const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (++n_faults > 20)
        return;
    pthread_mutex_lock(&lock);
    tap_note("%s", text);
    pthread_mutex_unlock(&lock);
}

/* ---- Ids ------------------------------------------------------------------------------------ */

static char *seen_ids[IDS_MAX];
static uint32_t n_seen_ids;

static inline uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

/* Ids are unique within a session; that of the stream has 64 random bits, so in all of the test. */
static inline void note_id(const char *id)
{
    pthread_mutex_lock(&lock);
    uint32_t at = hash(id) % IDS_MAX;
    while (seen_ids[at] && strcmp(seen_ids[at], id) != 0)
        at = (at + 1) % IDS_MAX;
    bool twice = seen_ids[at] != NULL;
    if (!twice && n_seen_ids < IDS_MAX / 2) {
        seen_ids[at] = strdup(id);
        n_seen_ids++;
    }
    pthread_mutex_unlock(&lock);
    if (twice)
        fault("id %s came twice", id);
}

/* ---- Conversations -------------------------------------------------------------------------- */

struct talk {
    int number; /* of the call: its id and its argument "call" */
    const char *session;
    struct sse_stream stream;
    int n_logs, next_log; /* in order, from the first */
    uint32_t levels;      /* bits of the logs that came, of "levels" */
    double progress;
    char question[128]; /* id of the request that came, as JSON */
    char answer[400];   /* text of the result, or the error */
    bool is_answered, is_error;
    enum sse_got end;
};

static inline bool take_number(const char *text, const char *key, double *ret)
{
    char name[40];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *found = strstr(text, name);
    return found && sscanf(found + strlen(name), "%lf", ret) == 1;
}

static inline void take_log(struct talk *t, const char *data)
{
    double call = -1, i = -1;
    if (!take_number(data, "call", &call) || !take_number(data, "i", &i) || call != t->number)
        fault("call %d got the log of another: %.200s", t->number, data);
    t->n_logs++;
    if (i == t->next_log)
        t->next_log++;
    t->levels |= 1u << (int)i;
}

static inline void take_progress(struct talk *t, const char *data)
{
    double token = -1, progress = -1;
    if (!take_number(data, "progressToken", &token) || token != t->number)
        fault("call %d got the progress of another: %.200s", t->number, data);
    if (!take_number(data, "progress", &progress) || progress <= t->progress)
        fault("call %d: progress does not rise: %.200s", t->number, data);
    t->progress = progress;
}

static inline void take_answer(struct talk *t, const char *data)
{
    double id = -1;
    if (!take_number(data, "id", &id) || id != t->number || t->is_answered)
        fault("call %d got another answer: %.200s", t->number, data);
    t->is_answered = true;
    t->is_error = strstr(data, "\"error\"") != NULL;
    snprintf(t->answer, sizeof t->answer, "%s", data);
}

static inline void take_event(struct talk *t, struct sse_event *event)
{
    char *method = match_member(event->data, "method"), *id = match_member(event->data, "id");
    if (event->id[0])
        note_id(event->id);
    if (t->is_answered)
        fault("call %d: something behind its answer: %.200s", t->number, event->data);
    if (!method)
        take_answer(t, event->data);
    else if (strstr(method, "notifications/message"))
        take_log(t, event->data);
    else if (strstr(method, "notifications/progress"))
        take_progress(t, event->data);
    else if (id)
        snprintf(t->question, sizeof t->question, "%s", id);
    else
        fault("call %d: unexpected %.200s", t->number, event->data);
    free(method);
    free(id);
    free(event->data);
}

static inline bool talk_begin(struct talk *t, const char *session, int number, const char *tool,
                              const char *arguments)
{
    char body[600];
    *t = (struct talk){.number = number, .session = session, .end = SSE_EVENT};
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":{\"call\":%d%s},\"_meta\":{\"progressToken\":%d}}}",
             number, tool, number, arguments, number);
    return sse_post(&t->stream, server.port, session, body) && t->stream.status == 200;
}

/* The next event; false: there is none, and t->end says why. */
static inline bool talk_next(struct talk *t)
{
    struct sse_event event;
    t->end = sse_next(&t->stream, EVENT_MS, &event);
    if (t->end == SSE_EVENT)
        take_event(t, &event);
    return t->end == SSE_EVENT;
}

static inline void talk_to_end(struct talk *t)
{
    while (talk_next(t))
        ;
}

static inline bool talk_to_question(struct talk *t)
{
    while (!t->question[0] && talk_next(t))
        ;
    return t->question[0];
}

/* The connection breaks; the rest comes by another. */
static inline bool talk_resume(struct talk *t)
{
    char last[128];
    snprintf(last, sizeof last, "%s", t->stream.last_id);
    sse_close(&t->stream);
    return sse_get(&t->stream, server.port, t->session, last) && t->stream.status == 200;
}

/* One POST on a connection of its own; its status. */
static inline int post(const char *session, const char *body)
{
    struct http_conn c;
    struct http_reply r = {0};
    if (!http_open(&c, server.port))
        return 0;
    int status = http_post(&c, session, "2025-06-18", body, &r) == HTTP_REPLY ? r.status : 0;
    http_free(&r);
    http_close(&c);
    return status;
}

static inline int post_answer(const char *session, const char *id, const char *result)
{
    char body[500];
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, result);
    return post(session, body);
}

static inline int post_cancel(const struct talk *t)
{
    char body[200];
    snprintf(
        body, sizeof body,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d,"
        "\"reason\":\"test\"}}",
        t->number);
    return post(t->session, body);
}

static inline bool open_session(char ret[128])
{
    struct http_conn c;
    struct http_reply r;
    if (!http_open(&c, server.port) ||
        http_post(&c, NULL, NULL,
                  "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                  "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"elicitation\":{}},"
                  "\"clientInfo\":{\"name\":\"live\",\"version\":\"1\"}}}",
                  &r) != HTTP_REPLY)
        return false;
    const char *id = http_header(&r, "Mcp-Session-Id");
    snprintf(ret, 128, "%s", id ? id : "");
    http_free(&r);
    http_close(&c);
    return post(ret, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}") == 202;
}

/* ---- Many at once --------------------------------------------------------------------------- */

typedef void (*work_fn)(int number);

struct crew {
    work_fn fn;
    int first, n;
    _Atomic int next;
};

static inline void *work(void *arg)
{
    struct crew *crew = arg;
    for (int i; (i = crew->next++) < crew->n;)
        crew->fn(crew->first + i);
    return NULL;
}

/* Numbers first .. first+n-1, shared out to the threads. */
static inline void run_all(work_fn fn, int first, int n)
{
    struct crew crew = {.fn = fn, .first = first, .n = n};
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, &crew);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static inline const char *session_of(int number)
{
    return sessions[number % N_SESSIONS];
}

static inline bool live_start(const char *config)
{
    char flags[300];
    const char *component = getenv("TENON_LIVE");
    snprintf(flags, sizeof flags, "--workers 4 --component %s",
             component ? component : "build/release/tests/multi/live.so");
    bool ok = server_dir(&server) && server_start(&server, config, flags, false);
    for (int i = 0; ok && i < N_SESSIONS; i++)
        ok = open_session(sessions[i]);
    return ok;
}

#endif
