/* net/stdio.c - net_stdio: one JSON message per line on stdin, one per line on stdout.
 *
 * The same core as behind HTTP, on the same loop. Nothing else is ever written to stdout.
 * Neither descriptor is made non-blocking, since they may be shared with a terminal: reading
 * happens when there is something, writing by pieces that poll promises to take.
 *
 * Callbacks only note what happened; `pump`, before the loop waits again, does the work that
 * follows. Lines are handed on as they come and answered as core finishes them, with one exception:
 * an initialize is answered before the next line is looked at, because the lines behind it need it.
 */
#include "base/err.h"
#include "base/log.h"
#include "net/line_sink.h"
#include "net/loop.h"
#include "net/process.h"
#include "net/reply.h"

#include <errno.h>
#include <ev.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES     65536
#define WRITE_BYTES    4096        /* PIPE_BUF: a writable pipe takes so much without blocking */
#define OUT_FULL_BYTES (4u << 20)  /* of answers that nobody reads: then no more is read */
#define OUT_MAX_BYTES  (64u << 20) /* of what calls say meanwhile: then nobody is there */
#define CALLS_MAX      256         /* at the same time */
#define END_GRACE_MS   1500        /* for calls in flight after the end of input */

struct stdio {
    const struct net_callbacks *callbacks;
    struct loop *loop;
    struct core *core;
    size_t line_limit;
    struct ev_io readable, writable, signals;
    struct ev_prepare pump;
    struct buf in;
    size_t line;     /* where in it the line begins that was not yet handed on */
    size_t searched; /* up to where it has no line end */
    bool skipping;   /* that line is too long, which was said */
    struct buf out;
    size_t written; /* of out */
    struct line_sinks sinks;
    unsigned n_calls;
    struct call *waited_for; /* an initialize, or the call just being handed on */
    bool ended;              /* no more input */
    bool mute;               /* stdout is gone */
    int64_t end_at_ms;
};

/* ---- Output -----------------------------------------------------------------------------------*/

static bool has_output(const struct stdio *s)
{
    return s->written < s->out.n && !s->mute;
}

static void end_input(struct stdio *s)
{
    if (s->ended)
        return;
    s->ended = true;
    s->end_at_ms = loop_now_ms(s->loop) + END_GRACE_MS;
    ev_io_stop(loop_ev(s->loop), &s->readable);
}

static void lose_output(struct stdio *s, const char *why)
{
    log_warn("cannot write to stdout: %s", why);
    s->mute = true;
    core_push_to(s->core, NULL);
    line_sinks_lose(&s->sinks);
    end_input(s);
}

/* Also when it never becomes empty. */
static void forget_written(struct stdio *s)
{
    if (s->written < OUT_FULL_BYTES || s->written < s->out.n / 2)
        return;
    s->out.n -= s->written;
    memmove(s->out.p, s->out.p + s->written, s->out.n);
    s->written = 0;
}

static void flush(struct stdio *s)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    while (has_output(s) && poll(&out, 1, 0) == 1) {
        size_t n = s->out.n - s->written;
        ssize_t done =
            write(STDOUT_FILENO, s->out.p + s->written, n < WRITE_BYTES ? n : WRITE_BYTES);
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            lose_output(s, strerror(errno));
        if (done > 0)
            s->written += (size_t)done;
    }
    if (!has_output(s)) {
        buf_clear(&s->out);
        s->written = 0;
    }
    forget_written(s);
}

/* A line end inside valid JSON stands between tokens, so a blank says the same (IO-01). */
static void put_line(struct stdio *s, struct str text)
{
    size_t from = s->out.n;
    buf_add_str(&s->out, text);
    if (s->out.failed)
        return;
    for (char *p = s->out.p + from; p < s->out.p + s->out.n; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    buf_add_char(&s->out, '\n');
}

static void put_message(void *ctx, struct str message)
{
    put_line(ctx, message);
}

static bool is_written(void *ctx)
{
    struct stdio *s = ctx;
    return s->written == s->out.n && !s->mute;
}

static void put_error(struct stdio *s, int err)
{
    struct buf text = {0};
    reply_write_error(&text, err);
    put_line(s, buf_str(&text));
    buf_done(&text);
}

/* ---- Lines ------------------------------------------------------------------------------------*/

/* What `call->transport` points to, in the call's arena. */
struct link {
    struct stdio *stdio;
    bool is_streaming; /* so its answer went there */
};

static struct sink *open_sink(struct call *call)
{
    struct link *link = call->transport;
    if (link->stdio->mute || link->is_streaming)
        return NULL;
    struct sink *sink = line_sinks_open(&link->stdio->sinks);
    link->is_streaming = sink;
    return sink;
}

static void finish(struct call *call)
{
    const struct link *link = call->transport;
    struct stdio *s = link->stdio;
    if (call->out.body.n && !link->is_streaming)
        put_line(s, buf_str(&call->out.body));
    if (call == s->waited_for)
        s->waited_for = NULL;
    call_free(call);
    s->n_calls--;
}

static int fill_call(struct stdio *s, struct call *call, struct str line)
{
    char *body = arena_alloc(&call->arena, line.n + JSON_PADDING_BYTES);
    struct link *link = arena_zalloc(&call->arena, sizeof *link);
    if (!body || !link)
        return ERR_NO_MEMORY;
    link->stdio = s;
    memcpy(body, line.p, line.n);
    memset(body + line.n, 0, JSON_PADDING_BYTES);
    call->transport = link;
    call->finish = finish;
    call->open_sink = open_sink;
    call->in = (struct call_inbound){
        .stdio = true,
        .accepts_json = true,
        .accepts_sse = true,
        .body = {body, line.n},
        .access = access_super(),
    };
    return 0;
}

static void handle_line(struct stdio *s, struct str line)
{
    struct call *call = call_new(s->core);
    if (!call || fill_call(s, call, line) < 0) {
        put_error(s, ERR_NO_MEMORY);
        if (call)
            call_free(call);
        return;
    }
    s->n_calls++;
    s->waited_for = call;
    core_handle(s->core, call);
    if (s->waited_for && !str_eq(call->message.method, STR("initialize")))
        s->waited_for = NULL;
}

static bool is_blank(struct str line)
{
    for (uint32_t i = 0; i < line.n; i++)
        if (!strchr(" \t\r", line.p[i]) || !line.p[i])
            return false;
    return true;
}

static void take_line(struct stdio *s, struct str line)
{
    if (s->skipping)
        s->skipping = false;
    else if (line.n > s->line_limit)
        put_error(s, ERR_TOO_LARGE);
    else if (!is_blank(line))
        handle_line(s, line);
}

static bool is_busy(const struct stdio *s)
{
    return s->waited_for || s->n_calls >= CALLS_MAX || s->out.n - s->written > OUT_FULL_BYTES;
}

/* False: no line end is there yet. */
static bool find_line(struct stdio *s, struct str *ret)
{
    size_t left = s->in.n - s->searched;
    char *end = left ? memchr(s->in.p + s->searched, '\n', left) : NULL;
    if (!end) {
        s->searched = s->in.n;
        return false;
    }
    char *begin = s->in.p + s->line;
    *ret = (struct str){begin, (uint32_t)(end - begin)};
    s->line = s->searched = (size_t)(end + 1 - s->in.p);
    return true;
}

/* The last line may lack its end. */
static void take_last(struct stdio *s)
{
    struct str line = {s->in.p + s->line, (uint32_t)(s->in.n - s->line)};
    s->line = s->searched = s->in.n;
    if (line.n)
        take_line(s, line);
}

static void take_lines(struct stdio *s)
{
    struct str line;
    bool found = true;
    while (!is_busy(s) && (found = find_line(s, &line)))
        take_line(s, line);
    if (!found && s->ended)
        take_last(s);
}

/* A line too long is answered as soon as that is known, and not kept. */
static void drop_overlong(struct stdio *s)
{
    if (s->searched < s->in.n || (s->in.n - s->line <= s->line_limit && !s->skipping))
        return;
    if (!s->skipping)
        put_error(s, ERR_TOO_LARGE);
    s->skipping = true;
    s->in.n = s->searched = s->line;
}

static void compact(struct stdio *s)
{
    if (!s->line)
        return;
    memmove(s->in.p, s->in.p + s->line, s->in.n - s->line);
    s->in.n -= s->line;
    s->searched -= s->line;
    s->line = 0;
}

/* ---- The loop ---------------------------------------------------------------------------------*/

static void set_active(struct stdio *s, struct ev_io *io, bool active)
{
    if (active)
        ev_io_start(loop_ev(s->loop), io);
    else
        ev_io_stop(loop_ev(s->loop), io);
}

static bool is_done(const struct stdio *s)
{
    bool all_taken = s->line == s->in.n;
    return s->ended &&
           ((all_taken && !s->n_calls && !has_output(s)) || loop_now_ms(s->loop) >= s->end_at_ms);
}

static void on_pump(struct ev_loop *ev, struct ev_prepare *pump, int events)
{
    struct stdio *s = pump->data;
    (void)ev;
    (void)events;
    do {
        take_lines(s);
        if (s->out.failed || s->out.n - s->written > OUT_MAX_BYTES)
            lose_output(s, s->out.failed ? err_text(ERR_NO_MEMORY) : "nobody reads it");
        flush(s);
    } while (!is_busy(s) && s->searched < s->in.n);
    drop_overlong(s);
    compact(s);
    set_active(s, &s->readable, !s->ended && !is_busy(s));
    set_active(s, &s->writable, has_output(s));
    if (is_done(s))
        loop_stop(s->loop);
}

static void on_readable(struct ev_loop *ev, struct ev_io *readable, int events)
{
    struct stdio *s = readable->data;
    (void)ev;
    (void)events;
    ssize_t n = -1;
    if (buf_reserve(&s->in, READ_BYTES))
        n = read(STDIN_FILENO, s->in.p + s->in.n, READ_BYTES);
    if (n > 0)
        s->in.n += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        end_input(s);
}

static void on_writable(struct ev_loop *ev, struct ev_io *writable, int events)
{
    (void)ev; /* its coming wakes the pump */
    (void)writable;
    (void)events;
}

static void on_signal(struct ev_loop *ev, struct ev_io *signals, int events)
{
    (void)ev;
    (void)events;
    struct stdio *s = signals->data;
    if (!process_next_signal(signals->fd))
        return;
    s->line = s->searched = s->in.n; /* no new work */
    end_input(s);
}

static void watch(struct stdio *s)
{
    static const int wanted[] = {SIGTERM, SIGINT, 0};
    ev_io_init(&s->readable, on_readable, STDIN_FILENO, EV_READ);
    ev_io_init(&s->writable, on_writable, STDOUT_FILENO, EV_WRITE);
    ev_io_init(&s->signals, on_signal, process_signal_fd(wanted), EV_READ);
    ev_prepare_init(&s->pump, on_pump);
    s->readable.data = s->writable.data = s->signals.data = s->pump.data = s;
    ev_io_start(loop_ev(s->loop), &s->signals);
    ev_prepare_start(loop_ev(s->loop), &s->pump);
    if (s->callbacks->worker_tick)
        loop_on_tick(s->loop, s->callbacks->worker_tick, s->callbacks->ctx);
}

static void finish_all(struct stdio *s)
{
    close(s->signals.fd);
    core_push_to(s->core, NULL);
    line_sinks_lose(&s->sinks);
    s->mute = true;
    if (s->core && s->callbacks->worker_ending)
        s->callbacks->worker_ending(s->callbacks->ctx, s->core);
    if (!loop_drain_for(s->loop, STOP_STUCK_MS))
        process_leave(s->callbacks);
    if (s->callbacks->worker_stop)
        s->callbacks->worker_stop(s->callbacks->ctx, s->core);
    loop_free(s->loop);
    buf_done(&s->in);
    buf_done(&s->out);
}

int net_stdio(const struct net_callbacks *callbacks, size_t body_limit_bytes)
{
    struct stdio s = {.callbacks = callbacks,
                      .line_limit = body_limit_bytes ? body_limit_bytes : BODY_LIMIT_BYTES};
    process_block_signals();
    int err = loop_new(&s.loop);
    if (err < 0)
        return err;
    err = callbacks->worker_start(callbacks->ctx, 0, NULL, s.loop, &s.core);
    if (err < 0) {
        loop_free(s.loop);
        return err;
    }
    line_sinks_init(&s.sinks, put_message, is_written, &s);
    core_push_to(s.core, &s.sinks.always.sink);
    watch(&s);
    loop_run(s.loop);
    finish_all(&s);
    return 0;
}
