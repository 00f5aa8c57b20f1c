/* tests/wire/wire_stdio.c - see wire_stdio.h. */
#include "tests/wire/wire_stdio.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int in, out; /* its stdin and stdout */
    struct buf got;
};

static bool fail(struct wire_play *p, const char *why, const char *text)
{
    snprintf(p->why, sizeof p->why, "%s%.600s", why, text);
    return false;
}

/* With the settings of the server, if it has any. */
static void run(struct server *s, int in, int out)
{
    char log[128], config[128];
    snprintf(config, sizeof config, "%s/config.json", s->dir);
    bool is_set = access(config, R_OK) == 0;
    snprintf(log, sizeof log, "%s/log", s->dir);
    int err = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(server_binary(), "tenon", "stdio", "--data", s->data, is_set ? "--config" : NULL, config,
          (char *)NULL);
    _exit(127);
}

static bool start(struct server *s, struct child *c)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        return false;
    *c = (struct child){.pid = fork(), .in = in[1], .out = out[0]};
    if (c->pid == 0)
        run(s, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    return c->pid > 0;
}

static void close_in(struct child *c)
{
    if (c->in >= 0)
        close(c->in);
    c->in = -1;
}

static bool put_line(struct wire_play *p, struct child *c, const char *line)
{
    struct buf b = {0};
    wire_expand(line, &p->vars, &b);
    buf_add_char(&b, '\n');
    size_t at = 0;
    bool ok = true;
    while (ok && at < b.n) {
        size_t n = p->bytes && b.n <= WIRE_BYTES_MAX ? 1 : b.n - at;
        ssize_t put = write(c->in, b.p + at, n);
        ok = put > 0;
        at += ok ? (size_t)put : 0;
    }
    buf_done(&b);
    return ok || fail(p, "the server takes no more input", "");
}

/* The next line, NUL instead of its newline; NULL: none came. */
static char *get_line(struct child *c)
{
    char *end;
    while (!c->got.n || !(end = memchr(c->got.p, '\n', c->got.n))) {
        struct pollfd f = {.fd = c->out, .events = POLLIN};
        if (!buf_reserve(&c->got, 65536) || poll(&f, 1, HTTP_WAIT_MS) <= 0)
            return NULL;
        ssize_t n = read(c->out, c->got.p + c->got.n, 65536);
        if (n <= 0)
            return NULL;
        c->got.n += (size_t)n;
    }
    size_t n = (size_t)(end - c->got.p);
    char *line = strndup(c->got.p, n);
    c->got.n -= n + 1;
    memmove(c->got.p, end + 1, c->got.n);
    return line;
}

static bool expect(struct wire_play *p, struct child *c, const char *pattern)
{
    char *line = get_line(c);
    if (!line)
        return fail(p, "no line came, expected ", pattern);
    char why[512];
    bool ok = match_json(pattern, line, &p->vars, why);
    wire_judge(p->laws, line);
    if (!ok)
        snprintf(p->why, sizeof p->why, "%s\nwhole line: %.400s", why, line);
    free(line);
    return ok;
}

static bool expect_exit(struct wire_play *p, struct child *c, int status)
{
    char *line = get_line(c);
    if (line) {
        fail(p, "expected the end of its output, got ", line);
        free(line);
        return false;
    }
    /* stdout has ended, so the process is about to: wait for it, but not for ever */
    for (int i = 0; i < 2000; i++) {
        int how;
        if (waitpid(c->pid, &how, WNOHANG) == c->pid) {
            c->pid = 0;
            char text[32];
            snprintf(text, sizeof text, "%d", WIFEXITED(how) ? WEXITSTATUS(how) : -1);
            return atoi(text) == status || fail(p, "it ended with status ", text);
        }
        poll(NULL, 0, 1);
    }
    return fail(p, "it does not end", "");
}

static bool act(struct wire_play *p, struct child *c, const char *what)
{
    if (strcmp(what, "eof") == 0) {
        close_in(c);
        return true;
    }
    if (strcmp(what, "nothing") == 0)
        return put_line(p, c, "{\"jsonrpc\":\"2.0\",\"id\":\"nothing\",\"method\":\"ping\"}") &&
               expect(p, c, "{\"jsonrpc\":\"2.0\",\"id\":\"nothing\",\"result\":{}}");
    if (strncmp(what, "exits ", 6) == 0)
        return expect_exit(p, c, atoi(what + 6));
    return fail(p, "unknown action ", what);
}

static bool play_line(struct wire_play *p, struct child *c, const char *line)
{
    if (strncmp(line, "> ", 2) == 0)
        return put_line(p, c, line + 2);
    if (strncmp(line, "< ", 2) == 0)
        return expect(p, c, line + 2);
    if (strncmp(line, "! ", 2) == 0)
        return act(p, c, line + 2);
    return !line[0] || fail(p, "neither >, < nor !: ", line);
}

static bool handshake(struct wire_play *p, struct child *c)
{
    char line[400];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\",\"params\":"
             "{\"protocolVersion\":\"%s\",\"capabilities\":{},"
             "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}",
             p->version);
    return put_line(p, c, line) &&
           expect(p, c,
                  "{\"jsonrpc\":\"2.0\",\"id\":\"init\","
                  "\"result\":{\"protocolVersion\":\"*\", ...}}") &&
           put_line(p, c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

bool wire_stdio(struct wire_play *p, struct server *s, char *const *lines, int n)
{
    struct child c;
    int first = p->line;
    if (!start(s, &c))
        return fail(p, "cannot start it", "");
    bool ok = !p->version || handshake(p, &c);
    for (int i = 0; ok && i < n; i++) {
        p->line = first + i;
        ok = play_line(p, &c, lines[i]);
    }
    close_in(&c);
    close(c.out);
    if (c.pid > 0) {
        kill(c.pid, SIGKILL);
        waitpid(c.pid, NULL, 0);
    }
    buf_done(&c.got);
    match_vars_clear(&p->vars);
    return ok;
}
