/* manifest/exec_run.c - one call of a command, from its start to its end, on a handler thread.
 *
 * The thread waits in poll for what the command takes and gives, and looks up every EXEC_LOOK_MS
 * whether the call should end. Only the end of the process ends the loop: one that closes its
 * output may still be at work, and one that has written its result may still fail.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "manifest/exec_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXEC_LOOK_MS   50
#define READ_BYTES     (16u << 10)
#define PIPE_BYTES_MAX (1u << 20) /* what can wait in a pipe whose writers are gone */
#define ERR_LINE_BYTES 800        /* of its stderr that fit a line of the log */

enum end { END_NONE, END_CANCELLED, END_TIMED_OUT, END_TOO_MUCH, END_LINE, END_NO_MEMORY };

struct run {
    struct tenon_call *call;
    const struct exec *exec;
    struct exec_child child;
    struct arena arena;      /* of words and results */
    struct arena line_arena; /* of one line */
    struct buf input;
    size_t n_written;
    struct buf out; /* all of it, or the line that is not yet whole */
    struct buf err; /* likewise */
    uint32_t n_lines, n_err_lines;
    struct exec_outcome outcome;
    struct exec_why why;
    enum end end; /* why it is ended; the first reason stays */
    int64_t deadline_ms, kill_at_ms;
    bool was_killed;
};

/* ---- So many at once ------------------------------------------------------------------------ */

static pthread_mutex_t running_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one_ended = PTHREAD_COND_INITIALIZER;
static unsigned n_running;

static void wait_for_one(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += EXEC_LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&one_ended, &running_mutex, &until);
}

static bool enter(struct tenon_call *call)
{
    pthread_mutex_lock(&running_mutex);
    while (n_running == EXEC_RUNNING_MAX && !tenon_cancelled(call))
        wait_for_one();
    bool may = n_running < EXEC_RUNNING_MAX;
    n_running += may;
    pthread_mutex_unlock(&running_mutex);
    return may;
}

static void leave(void)
{
    pthread_mutex_lock(&running_mutex);
    n_running--;
    pthread_cond_signal(&one_ended);
    pthread_mutex_unlock(&running_mutex);
}

/* ---- Ending it ------------------------------------------------------------------------------ */

static void end(struct run *r, enum end end)
{
    if (r->end)
        return;
    r->end = end;
    r->kill_at_ms = clock_mono_ms() + EXEC_STOP_MS;
    exec_signal(&r->child, SIGTERM);
    exec_signal(&r->child, SIGCONT); /* one that stands still would not notice */
}

static void end_if_due(struct run *r)
{
    int64_t now_ms = clock_mono_ms();
    if (tenon_cancelled(r->call))
        end(r, END_CANCELLED);
    else if (now_ms >= r->deadline_ms)
        end(r, END_TIMED_OUT);
    if (!r->end || r->was_killed || now_ms < r->kill_at_ms)
        return;
    r->was_killed = true;
    exec_signal(&r->child, SIGKILL);
}

/* ---- Its output ----------------------------------------------------------------------------- */

static void take_line(struct run *r, struct str line)
{
    struct arena *arena = &r->line_arena;
    bool had_result = r->outcome.has_result;
    r->n_lines++;
    if (line.n > r->exec->bytes_max) {
        end(r, END_TOO_MUCH);
        return;
    }
    int err = exec_take_line(r->call, line, arena, &r->outcome, &r->why);
    if (!err && r->outcome.has_result != had_result && r->outcome.error.p) {
        r->outcome.error = arena_str(&r->arena, r->outcome.error);
        err = r->outcome.error.p ? 0 : ERR_NO_MEMORY;
    }
    arena_reset(arena);
    if (err)
        end(r, err == ERR_NO_MEMORY ? END_NO_MEMORY : END_LINE);
}

static void take_lines(struct run *r, size_t searched)
{
    char *start = r->out.p, *stop = r->out.p + r->out.n, *from = start + searched, *at;
    while (!r->end && (at = memchr(from, '\n', (size_t)(stop - from)))) {
        take_line(r, (struct str){start, (uint32_t)(at - start)});
        start = from = at + 1;
    }
    r->out.n = (size_t)(stop - start);
    memmove(r->out.p, start, r->out.n);
}

static void take_output(struct run *r, const char *bytes, size_t n)
{
    size_t searched = r->out.n;
    if (r->end) /* nobody will see it */
        return;
    buf_add(&r->out, bytes, n);
    if (r->out.failed)
        end(r, END_NO_MEMORY);
    else if (r->exec->output == EXEC_LINES)
        take_lines(r, searched);
    if (r->out.n > r->exec->bytes_max)
        end(r, END_TOO_MUCH);
}

static void log_line_of(struct run *r, struct str line)
{
    if (!line.n || r->n_err_lines > EXEC_STDERR_LINES)
        return;
    if (++r->n_err_lines > EXEC_STDERR_LINES) {
        log_info("exec " STR_FMT ": it says more, which is not logged", STR_ARG(r->exec->tool));
        return;
    }
    struct str text = exec_text(&r->line_arena, line);
    log_info("exec " STR_FMT ": " STR_FMT, STR_ARG(r->exec->tool), STR_ARG(text));
    arena_reset(&r->line_arena);
}

/* A line that is too long is cut into several. */
static void take_errors(struct run *r, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n')
            buf_add_char(&r->err, bytes[i]);
        if (bytes[i] != '\n' && r->err.n < ERR_LINE_BYTES)
            continue;
        log_line_of(r, buf_str(&r->err));
        buf_clear(&r->err);
    }
}

/* Returns what was read; 0: nothing is there now, or it is closed. */
static size_t take(struct run *r, int *fd, void (*give)(struct run *r, const char *bytes, size_t n))
{
    char bytes[READ_BYTES];
    ssize_t n = read(*fd, bytes, sizeof bytes);
    if (n > 0)
        give(r, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        exec_close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* After its end. */
static void take_rest(struct run *r, int *fd,
                      void (*give)(struct run *r, const char *bytes, size_t n))
{
    for (size_t n, all = 0; *fd >= 0 && all < PIPE_BYTES_MAX; all += n) {
        n = take(r, fd, give);
        if (!n)
            return;
    }
}

static void feed(struct run *r)
{
    ssize_t n = write(r->child.in, r->input.p + r->n_written, r->input.n - r->n_written);
    if (n > 0)
        r->n_written += (size_t)n;
    bool is_lost = n < 0 && errno != EAGAIN && errno != EINTR; /* it does not want it */
    if (is_lost || r->n_written == r->input.n)
        exec_close(&r->child.in);
}

/* ---- While it runs -------------------------------------------------------------------------- */

static void wait_for_more(struct run *r)
{
    struct exec_child *c = &r->child;
    struct pollfd fds[] = {{.fd = c->in, .events = POLLOUT},
                           {.fd = c->out, .events = POLLIN},
                           {.fd = c->err, .events = POLLIN},
                           {.fd = c->pidfd, .events = POLLIN}};
    bool is_quick = c->pidfd < 0 && c->out < 0; /* it is about to end, and nothing will tell */
    if (poll(fds, 4, is_quick ? 1 : EXEC_LOOK_MS) <= 0)
        return;
    if (fds[0].revents)
        feed(r);
    if (fds[1].revents)
        take(r, &c->out, take_output);
    if (fds[2].revents)
        take(r, &c->err, take_errors);
}

/* What it left running must not write into its output any more. */
static void watch(struct run *r)
{
    while (!exec_has_ended(&r->child)) {
        wait_for_more(r);
        end_if_due(r);
    }
    exec_signal(&r->child, SIGKILL);
    take_rest(r, &r->child.out, take_output);
    take_rest(r, &r->child.err, take_errors);
    log_line_of(r, buf_str(&r->err));
    if (r->exec->output == EXEC_LINES && r->out.n && !r->end)
        take_line(r, buf_str(&r->out));
}

/* ---- The result ----------------------------------------------------------------------------- */

static int fail_output(struct run *r, const char *where)
{
    log_warn("exec " STR_FMT ": its output%s: %s", STR_ARG(r->exec->tool), where, r->why.text);
    return tenon_fail(r->call, "The command's output is wrong%s: %s", where, r->why.text);
}

static int fail_line(struct run *r)
{
    char where[32];
    snprintf(where, sizeof where, " in line %u", r->n_lines);
    return fail_output(r, where);
}

static int fail_end(struct run *r)
{
    switch (r->end) {
    case END_CANCELLED:
        return TENON_ERR_CANCELLED;
    case END_TIMED_OUT:
        return tenon_fail(r->call, "The command did not end within %lld ms",
                          (long long)r->exec->timeout_ms);
    case END_TOO_MUCH:
        return tenon_fail(r->call, "The command wrote more than %zu bytes", r->exec->bytes_max);
    case END_LINE:
        return fail_line(r);
    default:
        return TENON_ERR_NO_MEMORY;
    }
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Without blanks and line ends around it. */
static struct str out_text(struct run *r)
{
    struct str text = exec_text(&r->arena, buf_str(&r->out));
    for (; text.n && is_blank(text.p[0]); text.p++)
        text.n--;
    while (text.n && is_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

/* 0; ERR_PARAMS: r->why; ERR_NO_MEMORY. */
static int take_result(struct run *r)
{
    struct str text;
    switch (r->exec->output) {
    case EXEC_JSON:
        return exec_give_text(r->call, buf_str(&r->out), &r->arena, &r->outcome, &r->why);
    case EXEC_TEXT:
        text = exec_text(&r->arena, buf_str(&r->out));
        r->outcome.has_result = text.p && tenon_text(r->call, text.p) == 0;
        return text.p ? 0 : ERR_NO_MEMORY;
    default:
        snprintf(r->why.text, sizeof r->why.text, "it ended without a result");
        return r->outcome.has_result ? 0 : ERR_PARAMS;
    }
}

/* What it says of its failure, for the model. */
static struct str failure_text(struct run *r)
{
    if (r->exec->output == EXEC_TEXT)
        return out_text(r);
    if (r->exec->output == EXEC_JSON)
        take_result(r);
    return r->outcome.error;
}

static int fail_status(struct run *r, int status)
{
    struct str text = failure_text(r);
    const char *colon = text.n ? ": " : "";
    if (WIFSIGNALED(status))
        return tenon_fail(r->call, "The command was ended by signal %d (%s)%s" STR_FMT,
                          WTERMSIG(status), strsignal(WTERMSIG(status)), colon, STR_ARG(text));
    return tenon_fail(r->call, "The command failed with exit status %d%s" STR_FMT,
                      WEXITSTATUS(status), colon, STR_ARG(text));
}

static int finish(struct run *r, int status)
{
    if (r->end)
        return fail_end(r);
    if (status)
        return fail_status(r, status);
    int err = take_result(r);
    if (err)
        return err == ERR_PARAMS ? fail_output(r, "") : TENON_ERR_NO_MEMORY;
    if (r->outcome.error.p)
        return tenon_fail(r->call, STR_FMT, STR_ARG(r->outcome.error));
    return 0;
}

/* ---- All of it ------------------------------------------------------------------------------ */

static int run_child(struct run *r, char *const *argv)
{
    r->deadline_ms = clock_mono_ms() + r->exec->timeout_ms;
    int failed = exec_spawn(r->exec, argv, &r->child);
    if (failed) {
        log_error("exec " STR_FMT ": %s cannot be started: %s", STR_ARG(r->exec->tool),
                  r->exec->program, strerror(failed));
        return tenon_fail(r->call, "The command cannot be started: %s", strerror(failed));
    }
    watch(r);
    return finish(r, exec_bury(&r->child));
}

static int open_arguments(struct run *r, const struct tape_node **ret)
{
    const char *text = tenon_arguments(r->call);
    size_t n = text ? strlen(text) : 0;
    char *padded = text ? arena_zalloc(&r->arena, n + JSON_PADDING_BYTES) : NULL;
    if (!padded)
        return ERR_NO_MEMORY;
    memcpy(padded, text, n);
    return tape_open((struct str){padded, (uint32_t)n}, &r->arena, ret, NULL);
}

static int prepare(struct run *r, char *const **ret)
{
    const struct tape_node *args;
    int err = open_arguments(r, &args);
    if (!err)
        err = exec_expand(r->exec, args, &r->arena, ret, &r->why);
    if (!err && r->exec->wants_arguments) {
        tape_write(args, &r->input); /* one line, each name once */
        buf_add_char(&r->input, '\n');
    }
    return r->input.failed ? ERR_NO_MEMORY : err;
}

static int run_entered(struct run *r)
{
    char *const *argv;
    int err = prepare(r, &argv);
    if (err == ERR_PARAMS && r->why.text[0])
        return tenon_fail(r->call, "%s", r->why.text);
    if (err)
        return err == ERR_NO_MEMORY ? TENON_ERR_NO_MEMORY : TENON_ERR_INTERNAL;
    return run_child(r, argv);
}

int exec_run(struct tenon_call *call, void *exec)
{
    struct run r = {.call = call, .exec = exec};
    if (!enter(call))
        return TENON_ERR_CANCELLED;
    arena_init(&r.arena, 0);
    arena_init(&r.line_arena, 0);
    int returned = run_entered(&r);
    leave();
    buf_done(&r.input);
    buf_done(&r.out);
    buf_done(&r.err);
    arena_done(&r.line_arena);
    arena_done(&r.arena);
    return returned;
}
