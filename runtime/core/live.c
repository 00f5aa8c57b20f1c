/* core/live.c - see live.h.
 *
 * What the handler says stands behind one mutex: a list of log lines, the newest progress with its
 * place among them, and one question. One loop_post entry takes it to the loop, where all that is
 * there is sent in one turn. Progress that comes faster than PROGRESS_PER_S waits for its time
 * (core_tick, or the next turn) and is overtaken by newer progress meanwhile. `live` is freed when
 * the call is through with it and no post is on its way.
 */
#include "core/live.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "core/core_state.h"
#include "wire/json_write.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A bucket: so many at once, and then one each so many milliseconds; both together make
 * PROGRESS_PER_S in any second. */
#define PROGRESS_BURST   10
#define PROGRESS_TAKE_MS (1000.0 / (PROGRESS_PER_S - PROGRESS_BURST))

struct live_log {
    struct live_log *next;
    int level;
    struct str logger, data; /* in `text` */
    char text[];
};

struct live_said {
    struct live_log *logs, **last_log;
    uint32_t n_logs, n_dropped;
    size_t log_bytes;
    bool has_progress;
    uint32_t progress_at; /* log lines that go before it */
    double progress, total;
    char *message; /* heap; NULL: none */
};

enum question { NOT_ASKED, WANTED, SENT, ANSWERED };

struct live {
    struct loop_post post; /* first */
    struct call *call;     /* NULL: it is through */
    pthread_mutex_t mutex; /* of all up to `bucket` */
    pthread_cond_t news;   /* an answer, or a cancellation */
    bool posted;
    struct live_said said;
    bool has_progressed;
    double last_progress;
    enum question question;
    struct pending_ask ask;
    struct pending_answer answer;
    struct arena arena; /* of answers */
    /* The loop's own */
    double bucket; /* how full */
    int64_t bucket_ms;
    bool is_late; /* in core->late */
    struct live *late_next;
};

/* ---- Coming and going ----------------------------------------------------------------------- */

static void said_init(struct live_said *said)
{
    *said = (struct live_said){0};
    said->last_log = &said->logs;
}

static void free_said(struct live_said *said)
{
    for (struct live_log *log = said->logs, *next; log; log = next) {
        next = log->next;
        free(log);
    }
    free(said->message);
}

static void destroy(struct live *live)
{
    free_said(&live->said);
    pthread_cond_destroy(&live->news);
    pthread_mutex_destroy(&live->mutex);
    arena_done(&live->arena);
    free(live);
}

static void take(struct live *live, bool is_last);

static void posted(struct loop_post *post)
{
    struct live *live = (struct live *)post;
    pthread_mutex_lock(&live->mutex);
    live->posted = false;
    bool is_through = !live->call;
    pthread_mutex_unlock(&live->mutex);
    if (is_through)
        destroy(live);
    else
        take(live, false);
}

/* Under the mutex. */
static void post(struct live *live)
{
    if (!live->posted)
        loop_post(live->call->core->loop, &live->post);
    live->posted = true;
}

static void wake(struct call *call);

static int init_news(struct live *live)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(&live->news, &attr);
    pthread_condattr_destroy(&attr);
    return failed;
}

int live_new(struct call *call, struct live **ret)
{
    struct live *live = calloc(1, sizeof *live);
    if (!live || init_news(live)) {
        free(live);
        return ERR_NO_MEMORY;
    }
    pthread_mutex_init(&live->mutex, NULL);
    said_init(&live->said);
    arena_init(&live->arena, 0);
    live->post.fn = posted;
    live->call = call;
    call->wake = wake;
    *ret = live;
    return 0;
}

static void leave_late(struct live *live)
{
    struct live **at = &live->call->core->late;
    while (*at && *at != live)
        at = &(*at)->late_next;
    if (*at)
        *at = live->late_next;
    live->is_late = false;
}

void live_free(struct live *live)
{
    if (!live)
        return;
    if (live->is_late)
        leave_late(live);
    live->call->wake = NULL;
    pthread_mutex_lock(&live->mutex);
    live->call = NULL;
    bool is_posted = live->posted;
    pthread_mutex_unlock(&live->mutex);
    if (!is_posted)
        destroy(live);
}

/* ---- The handler speaks --------------------------------------------------------------------- */

static char *copy(struct str text)
{
    char *copied = malloc((size_t)text.n + 1);
    if (copied) {
        memcpy(copied, text.p, text.n);
        copied[text.n] = '\0';
    }
    return copied;
}

/* Under the mutex. The message is handed over. */
static void set_progress(struct live *live, double progress, double total, char *message)
{
    struct live_said *said = &live->said;
    free(said->message);
    said->message = message;
    said->has_progress = true;
    said->progress_at = said->n_logs;
    said->progress = progress;
    said->total = total;
    post(live);
}

int live_progress(struct live *live, double progress, double total, struct str message)
{
    if (!isfinite(progress) || !isfinite(total))
        return ERR_PARAMS;
    bool is_asked_for = live->call->message.progress_token.p;
    char *text = message.p && is_asked_for ? copy(message) : NULL;
    pthread_mutex_lock(&live->mutex);
    bool rises = !live->has_progressed || progress > live->last_progress;
    if (rises) {
        live->has_progressed = true;
        live->last_progress = progress;
    }
    if (rises && is_asked_for) {
        set_progress(live, progress, total, text);
        text = NULL;
    }
    pthread_mutex_unlock(&live->mutex);
    free(text);
    return rises ? 0 : ERR_PARAMS;
}

static struct live_log *make_log(int level, struct str logger, struct str data)
{
    struct live_log *log = malloc(sizeof *log + (size_t)logger.n + data.n);
    if (!log)
        return NULL;
    if (logger.n)
        memcpy(log->text, logger.p, logger.n);
    memcpy(log->text + logger.n, data.p, data.n);
    log->next = NULL;
    log->level = level;
    log->logger = logger.p ? (struct str){log->text, logger.n} : STR_NONE;
    log->data = (struct str){log->text + logger.n, data.n};
    return log;
}

int live_log(struct live *live, int level, struct str logger, struct str data)
{
    struct live_log *log = make_log(level, logger, data);
    struct live_said *said = &live->said;
    size_t bytes = (size_t)logger.n + data.n;
    if (!log)
        return ERR_NO_MEMORY;
    pthread_mutex_lock(&live->mutex);
    bool fits = said->n_logs < LIVE_LOGS && said->log_bytes + bytes <= LIVE_LOG_BYTES;
    if (fits) {
        *said->last_log = log;
        said->last_log = &log->next;
        said->n_logs++;
        said->log_bytes += bytes;
    } else {
        said->n_dropped++;
    }
    post(live);
    pthread_mutex_unlock(&live->mutex);
    if (!fits)
        free(log);
    return 0;
}

/* ---- The handler waits ---------------------------------------------------------------------- */

static struct timespec after_ms(int64_t ms)
{
    struct timespec until;
    if (ms < 0)
        ms = 0;
    if (ms > ASK_TIMEOUT_MAX_MS)
        ms = ASK_TIMEOUT_MAX_MS;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    return until;
}

int live_wait(struct live *live, int64_t ms)
{
    struct timespec until = after_ms(ms);
    int failed = 0, err;
    pthread_mutex_lock(&live->mutex);
    while ((err = call_is_cancelled(live->call)) == 0 && failed == 0)
        failed = pthread_cond_timedwait(&live->news, &live->mutex, &until);
    pthread_mutex_unlock(&live->mutex);
    return err;
}

static void answered(void *ctx, const struct pending_answer *answer);

int live_ask(struct live *live, enum mcp_method method, struct str params, int64_t timeout_ms,
             struct pending_answer *ret)
{
    pthread_mutex_lock(&live->mutex);
    int err = call_is_cancelled(live->call);
    if (err == 0) {
        live->ask = (struct pending_ask){method, params, timeout_ms, answered, live};
        live->question = WANTED;
        post(live);
        while (live->question != ANSWERED)
            pthread_cond_wait(&live->news, &live->mutex);
        live->question = NOT_ASKED;
        *ret = live->answer;
        err = ret->err;
    }
    pthread_mutex_unlock(&live->mutex);
    return err;
}

/* ---- The loop answers ----------------------------------------------------------------------- */

static struct str keep(struct live *live, struct str text, int *err)
{
    struct str kept = text.p ? arena_str(&live->arena, text) : STR_NONE;
    if (text.p && !kept.p)
        *err = ERR_NO_MEMORY;
    return kept;
}

static void answered(void *ctx, const struct pending_answer *answer)
{
    struct live *live = ctx;
    pthread_mutex_lock(&live->mutex);
    live->answer = *answer;
    live->answer.result = keep(live, answer->result, &live->answer.err);
    live->answer.message = keep(live, answer->message, &live->answer.err);
    live->question = ANSWERED;
    pthread_cond_broadcast(&live->news);
    pthread_mutex_unlock(&live->mutex);
}

static void ask(struct live *live)
{
    int err = pending_ask_call(live->call, &live->ask);
    if (err < 0)
        answered(live, &(struct pending_answer){.err = err});
}

/* The call was cancelled. A question that the client has was ended before. */
static void wake(struct call *call)
{
    struct live *live = call->live;
    pthread_mutex_lock(&live->mutex);
    bool is_wanted = live->question == WANTED;
    pthread_cond_broadcast(&live->news);
    pthread_mutex_unlock(&live->mutex);
    if (is_wanted)
        answered(live, &(struct pending_answer){.err = call_is_cancelled(call)});
}

/* ---- The loop sends ------------------------------------------------------------------------- */

static void send_progress(struct call *call, const struct live_said *said)
{
    struct mcp_progress_notification_params params = {0};
    const struct mcp_method_row *row =
        mcp_method_row((enum mcp_revision)call->session->revision, MCP_NOTIFICATIONS_PROGRESS);
    struct buf text = {0};
    MCP_SET(&params, progress_token, call->message.progress_token);
    MCP_SET(&params, progress, said->progress);
    if (said->total > 0)
        MCP_SET(&params, total, said->total);
    if (said->message)
        MCP_SET(&params, message, str_of(said->message));
    buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":", row->name);
    int err = wire_write(row->params, &params, &text);
    buf_add_char(&text, '}');
    if (err == 0 && !text.failed)
        call_send(call, buf_str(&text));
    buf_done(&text);
}

static void send_dropped(struct call *call, uint32_t n)
{
    struct buf text = {0};
    buf_printf(&text, "\"%u log messages were too many and are left out\"", n);
    if (!text.failed)
        log_message_call(call, MCP_LOGGING_LEVEL_WARNING, STR("tenon"), buf_str(&text));
    buf_done(&text);
}

static void send_all(struct call *call, const struct live_said *said)
{
    uint32_t n = 0;
    for (const struct live_log *log = said->logs;; log = log->next, n++) {
        if (said->has_progress && n == said->progress_at)
            send_progress(call, said);
        if (!log)
            break;
        log_message_call(call, (enum mcp_logging_level)log->level, log->logger, log->data);
    }
    if (said->n_dropped)
        send_dropped(call, said->n_dropped);
}

/* Whether progress may be sent now; if so, that is one less. */
static bool take_from_bucket(struct live *live)
{
    int64_t now_ms = clock_mono_ms();
    live->bucket -= (double)(now_ms - live->bucket_ms) / PROGRESS_TAKE_MS;
    live->bucket_ms = now_ms;
    if (live->bucket < 0)
        live->bucket = 0;
    if (live->bucket > PROGRESS_BURST - 1)
        return false;
    live->bucket += 1;
    return true;
}

/* Under the mutex: what is sent now; progress that comes too fast stays. */
static void take_said(struct live *live, bool is_last, struct live_said *ret)
{
    struct live_said *said = &live->said;
    bool stays = said->has_progress && !is_last && !take_from_bucket(live);
    *ret = *said;
    said_init(said);
    if (!stays)
        return;
    said->has_progress = true;
    said->progress = ret->progress;
    said->total = ret->total;
    said->message = ret->message;
    ret->has_progress = false;
    ret->message = NULL;
}

static void be_late(struct live *live)
{
    struct core *core = live->call->core;
    if (live->is_late)
        return;
    live->is_late = true;
    live->late_next = core->late;
    core->late = live;
}

static void take(struct live *live, bool is_last)
{
    struct live_said said;
    struct call *call = live->call;
    bool is_cancelled = call_is_cancelled(call) != 0;
    pthread_mutex_lock(&live->mutex);
    take_said(live, is_last || is_cancelled, &said);
    bool stays = live->said.has_progress, asks = live->question == WANTED;
    if (asks)
        live->question = SENT;
    pthread_mutex_unlock(&live->mutex);
    if (!is_cancelled)
        send_all(call, &said);
    free_said(&said);
    if (stays)
        be_late(live);
    if (asks)
        ask(live);
}

void live_flush(struct live *live)
{
    if (live)
        take(live, true);
}

void live_tick(struct core *core)
{
    struct live *live = core->late, *next;
    core->late = NULL;
    for (; live; live = next) {
        next = live->late_next;
        live->is_late = false;
        take(live, false);
    }
}
