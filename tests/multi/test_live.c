/* tests/multi/test_live.c - calls that talk while they run, on four workers, each request on a new
 * connection: exactly what has to come comes, once, to whom it belongs.
 */
#include "tests/multi/live_rig.h"

/* ---- Calls ---------------------------------------------------------------------------------- */

static void expect_end(struct talk *t, const char *text)
{
    if (t->end != SSE_END || !t->is_answered || t->is_error || !strstr(t->answer, text))
        fault("call %d: end %d, status %d, answered %d, wanted \"%s\", got %.200s", t->number,
              t->end, t->stream.status, t->is_answered, text, t->answer);
    sse_close(&t->stream);
}

static void begin(struct talk *t, int number, const char *tool, const char *arguments)
{
    if (!talk_begin(t, session_of(number), number, tool, arguments))
        fault("call %d of %s: status %d", number, tool, t->stream.status);
}

static void tell(int number)
{
    struct talk t;
    char text[40];
    begin(&t, number, "tell", ",\"n\":5");
    talk_to_end(&t);
    if (t.n_logs != 5 || t.next_log != 5)
        fault("call %d: %d log messages", number, t.n_logs);
    snprintf(text, sizeof text, "told %d\"", number);
    expect_end(&t, text);
}

static void count(int number)
{
    struct talk t;
    char text[40];
    begin(&t, number, "count", ",\"n\":20");
    talk_to_end(&t);
    if (t.progress != 20)
        fault("call %d: progress ends at %g", number, t.progress);
    snprintf(text, sizeof text, "counted %d\"", number);
    expect_end(&t, text);
}

static void cancel(int number)
{
    struct talk t;
    begin(&t, number, "hold", "");
    if (!talk_next(&t) || t.progress != 1)
        fault("call %d does not begin", number);
    if (post_cancel(&t) != 202)
        fault("call %d: the cancellation is not taken", number);
    talk_to_end(&t);
    if (t.end != SSE_END || t.is_answered)
        fault("call %d: cancelled, but end %d, answer %.200s", number, t.end, t.answer);
    sse_close(&t.stream);
}

static void call(int number)
{
    static const work_fn kinds[] = {tell, count, cancel, tell};
    kinds[number % 4](number);
}

/* ---- Questions ------------------------------------------------------------------------------ */

static void forge(const char *question, char ret[128])
{
    snprintf(ret, 128, "%s", question);
    char *last = ret + strlen(ret) - 2; /* before the quote */
    *last = *last == '0' ? '1' : '0';
}

/* Answers that must change nothing, before the one that does. */
static void answer_wrongly(const struct talk *t, int kind)
{
    char forged[128];
    const char *wrong = "\"result\":{\"action\":\"accept\",\"content\":{\"value\":\"wrong\"}}";
    int status = 202;
    if (kind == 1)
        status = post_answer(session_of(t->number + 1), t->question, wrong);
    if (kind == 2) {
        forge(t->question, forged);
        status = post_answer(t->session, forged, wrong);
    }
    if (status != 202)
        fault("call %d: a wrong answer of kind %d gets %d", t->number, kind, status);
}

static void answer(const struct talk *t, int kind)
{
    char result[200];
    snprintf(result, sizeof result,
             "\"result\":{\"action\":\"accept\",\"content\":{\"value\":\"v%d\"}}", t->number);
    const char *said = kind == 3   ? "\"result\":{\"action\":\"decline\"}"
                       : kind == 4 ? "\"error\":{\"code\":-1,\"message\":\"refused\"}"
                                   : result;
    answer_wrongly(t, kind);
    for (int i = 0; i < (kind == 0 ? 2 : 1); i++) /* twice: the second changes nothing */
        if (post_answer(t->session, t->question, said) != 202)
            fault("call %d: the answer is not taken", t->number);
}

static void expect_answer(struct talk *t, int kind)
{
    char text[60];
    snprintf(text, sizeof text, "asked %d: v%d\"", t->number, t->number);
    expect_end(t, kind == 3 ? "nothing" : kind == 4 ? "remote refused" : text);
}

static void ask(int number)
{
    struct talk t;
    begin(&t, number, "ask", "");
    if (!talk_to_question(&t))
        fault("call %d asks nothing: end %d, %.200s", number, t.end, t.answer);
    answer(&t, number % 5);
    talk_to_end(&t);
    expect_answer(&t, number % 5);
}

/* ---- Resumes -------------------------------------------------------------------------------- */

static void resume(struct talk *t)
{
    while (t->n_logs < 3 && talk_next(t))
        ;
    if (!talk_resume(t))
        fault("call %d: resumed after %s: status %d", t->number, t->stream.last_id,
              t->stream.status);
}

static void resume_running(int number)
{
    struct talk t;
    begin(&t, number, "gate", "");
    resume(&t);
    if (!talk_to_question(&t))
        fault("call %d asks nothing: end %d", number, t.end);
    answer(&t, 1);
    talk_to_end(&t);
    if (t.n_logs != 10 || t.next_log != 10)
        fault("call %d: %d log messages", number, t.n_logs);
    expect_answer(&t, 1);
}

static void resume_ended(int number)
{
    struct talk t;
    char text[40];
    begin(&t, number, "tell", ",\"n\":10");
    resume(&t);
    talk_to_end(&t);
    if (t.n_logs != 10 || t.next_log != 10)
        fault("call %d: %d log messages", number, t.n_logs);
    snprintf(text, sizeof text, "told %d\"", number);
    expect_end(&t, text);
}

static void resume_any(int number)
{
    (number % 2 ? resume_running : resume_ended)(number);
}

/* ---- Levels --------------------------------------------------------------------------------- */

/* A session of its own: others would change its level. */
static void levels(int number)
{
    static const char *const names[] = {"debug", "info",     "notice", "warning",
                                        "error", "critical", "alert",  "emergency"};
    char session[128], body[200];
    int level = number % 8;
    struct talk t;
    if (!open_session(session))
        fault("no session");
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/"
             "setLevel\",\"params\":{\"level\":\"%s\"}}",
             names[level]);
    if (post(session, body) != 200)
        fault("level %s is not taken", names[level]);
    if (!talk_begin(&t, session, number, "levels", ""))
        fault("call %d: status %d", number, t.stream.status);
    talk_to_end(&t);
    if (t.levels != (0xffu << level & 0xff))
        fault("level %s: %02x came", names[level], t.levels);
    expect_end(&t, "levels");
}

/* ---- Listening ------------------------------------------------------------------------------ */

/* T_23: nothing that belongs to calls may come here. */
static struct sse_stream listeners[N_SESSIONS];

static bool listen_all(void)
{
    bool ok = true;
    for (int i = 0; i < N_SESSIONS; i++)
        ok &= sse_get(&listeners[i], server.port, sessions[i], NULL) && listeners[i].status == 200;
    return ok;
}

static bool heard_nothing(void)
{
    bool ok = true;
    for (int i = 0; i < N_SESSIONS; i++) {
        struct sse_event event;
        enum sse_got got = sse_next(&listeners[i], 1, &event);
        ok &= got == SSE_TIMEOUT;
        if (got == SSE_EVENT)
            tap_note("heard %.300s", event.data);
        sse_close(&listeners[i]);
    }
    return ok;
}

static void run(const char *name, work_fn fn, int first, int n)
{
    uint32_t before = n_faults;
    int64_t start_ms = server_now_ms();
    run_all(fn, first, n);
    tap_ok(n_faults == before, "%s: %d on 4 workers (%lld ms)", name, n,
           (long long)(server_now_ms() - start_ms));
}

int main(void)
{
    bool ok = tap_ok(live_start(NULL), "four workers with a component");
    if (ok) {
        tap_ok(listen_all(), "a GET stream for each session");
        run("G_03 C_10 T_12 calls with logs, progress, cancellations", call, 1000, 1000);
        run("SR_01 SR_02 questions answered by other connections", ask, 10000, 500);
        run("X_03 streams resumed, half of them while the call runs", resume_any, 20000, 200);
        run("LG_02 LG_09 levels set on any worker", levels, 30000, 100);
        tap_ok(heard_nothing(), "T_23 nothing of a call on a GET stream");
        tap_ok(n_seen_ids > 1000, "X_02 %u ids, each once", n_seen_ids);
        tap_ok(server_stop(&server), "the server ends well");
    }
    if (n_faults || !ok)
        server_show_log(&server);
    server_remove(&server);
    return tap_done();
}
