/* tests/unit/net_rig.h - a real server in processes of its own, with a core that only echoes, and a
 * client of raw sockets.
 *
 * The fake core understands a few words in the path of no protocol: it looks at the body.
 *   {...}      answered at once with the same bytes
 *   "later"    answered from a handler thread
 *   "never"    kept until the test sends "release", then answered
 *   "release"  answers all that is kept
 *   "big N"    answered with N bytes
 *   "note"     202 without a body
 *   "pid"      the worker's process id
 *   "stall"    blocks the loop for ever
 *   "calls"    how many calls the core holds besides this one
 *   "who"      the user
 *   "refs"     how many references to the user's access there are
 *
 * Of tokens it takes "good", whose user is called so. "poor" lacks a scope, for "busy" no keys can
 * be had, for "later-good" and "later-bad" they are fetched first; others are bad.
 *
 * With TENON_RIG_TLS=DIR (cert.pem, key.pem) in the environment all of it goes through TLS:
 * tests/net/tls.sh.
 */
#ifndef TENON_TEST_NET_RIG_H
#define TENON_TEST_NET_RIG_H

#include "base/err.h"
#include "base/limits.h"
#include "net/loop.h"
#include "net/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "tls_pump.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

/* ---- The core ---------------------------------------------------------------------------------*/

struct core {
    struct loop *loop;
    struct call *kept;
    struct sink *push; /* of stdio */
    unsigned n_held;
};

/* Who comes without a token: set before the server starts. */
static bool rig_refuses_anonymous;

static struct access rig_nobody = {.user = STR_INIT(""), .role_name = STR_INIT("")};
static struct access rig_good = {.user = STR_INIT("good"), .role_name = STR_INIT("")};

struct access *access_super(void)
{
    return &rig_nobody;
}

struct access *access_ref(struct access *access)
{
    access->refs++;
    return access;
}

void access_unref(struct access *access)
{
    if (access)
        access->refs--;
}

/* Weak: the real ones replace them once core/ is there. */
struct rig_call {
    struct call call;
};

__attribute__((weak)) struct call *call_new(struct core *core)
{
    struct call *call = calloc(1, sizeof *call);
    if (call) {
        arena_init(&call->arena, 0);
        call->core = core;
    }
    return call;
}

__attribute__((weak)) void call_free(struct call *call)
{
    access_unref(call->in.access);
    buf_done(&call->out.body);
    arena_done(&call->arena);
    free(call);
}

/* What follows "later-" once the keys are there. */
static int rig_identify(struct str token, struct access **ret, const char **ret_why)
{
    if (str_eq(token, STR("good"))) {
        *ret = access_ref(&rig_good);
        return 0;
    }
    if (str_eq(token, STR("poor")))
        return ERR_SCOPE;
    if (str_eq(token, STR("busy")))
        return ERR_BUSY;
    *ret_why = "the token is not \"valid\"";
    return ERR_UNAUTHORIZED;
}

int access_identify(struct core *core, const struct credential *credential, struct access **ret,
                    const char **ret_why)
{
    (void)core;
    *ret_why = NULL;
    if (credential->kind != CREDENTIAL_NONE)
        return str_starts_with(credential->text, STR("later-"))
                   ? ACCESS_LATER
                   : rig_identify(credential->text, ret, ret_why);
    if (rig_refuses_anonymous)
        return ERR_UNAUTHORIZED;
    *ret = access_ref(&rig_nobody);
    return 0;
}

/* Nobody audits. */
void audit_refused(struct core *core, int err, const char *why);
void audit_refused(struct core *core, int err, const char *why)
{
    (void)core;
    (void)err;
    (void)why;
}

void core_handle(struct core *core, struct call *call);

static void rig_answer(struct call *call, int status, struct str body)
{
    call->core->n_held--;
    call->out.http_status = status;
    buf_add_str(&call->out.body, body);
    call->finish(call);
}

struct rig_work {
    struct loop_work work; /* first */
    struct call *call;
};

static void rig_run(struct loop_work *work)
{
    (void)work; /* its thread is all that it is for */
}

static void rig_done(struct loop_work *work)
{
    struct call *call = ((struct rig_work *)work)->call;
    rig_answer(call, 200, call->in.body);
}

static void rig_later(struct core *core, struct call *call)
{
    struct rig_work *work = arena_zalloc(&call->arena, sizeof *work);
    work->work = (struct loop_work){.run = rig_run, .done = rig_done};
    work->call = call;
    if (loop_offload(core->loop, &work->work) < 0)
        rig_answer(call, 503, STR("\"busy\""));
}

static void rig_release(struct core *core)
{
    while (core->kept) {
        struct call *call = core->kept;
        core->kept = call->next;
        rig_answer(call, 200, STR("\"released\""));
    }
}

static void rig_big(struct call *call, size_t n)
{
    call->core->n_held--;
    buf_reserve(&call->out.body, n);
    memset(call->out.body.p, 'x', n);
    call->out.body.n = n;
    call->out.http_status = 200;
    call->finish(call);
}

static void rig_number(struct call *call, long number)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", number);
    rig_answer(call, 200, str_of(text));
}

void core_push_to(struct core *core, struct sink *sink)
{
    core->push = sink;
}

/* Of a test that knows more words. True: it has the call. */
static bool (*rig_handle_more)(struct core *core, struct call *call);

void core_handle(struct core *core, struct call *call)
{
    struct str body = call->in.body;
    core->n_held++;
    if (rig_handle_more && rig_handle_more(core, call))
        return;
    if (call->in.verb == CALL_DELETE) {
        rig_answer(call, 204, STR_NONE);
    } else if (str_eq(body, STR("\"later\""))) {
        rig_later(core, call);
    } else if (str_eq(body, STR("\"never\""))) {
        call->next = core->kept;
        core->kept = call;
    } else if (str_eq(body, STR("\"release\""))) {
        rig_release(core);
        rig_answer(call, 200, body);
    } else if (str_starts_with(body, STR("\"big "))) {
        rig_big(call, (size_t)strtoul(body.p + 5, NULL, 10));
    } else if (str_eq(body, STR("\"note\""))) {
        rig_answer(call, 202, STR_NONE);
    } else if (str_eq(body, STR("\"pid\""))) {
        rig_number(call, getpid());
    } else if (str_eq(body, STR("\"stall\""))) {
        for (;;)
            pause();
    } else if (str_eq(body, STR("\"calls\""))) {
        rig_number(call, core->n_held - 1);
    } else if (str_eq(body, STR("\"who\""))) {
        rig_answer(call, 200, call->in.access->user);
    } else if (str_eq(body, STR("\"refs\""))) {
        rig_number(call, call->in.access->refs);
    } else if (str_eq(body, STR("\"session\""))) {
        call->out.session_id = call->in.session_id;
        rig_answer(call, 200, call->in.version.p ? call->in.version : STR("\"none\""));
    } else {
        rig_answer(call, 200, body);
    }
}

void access_wait(struct core *core, struct call *call, const struct credential *credential)
{
    const uint32_t skip = sizeof "later-" - 1;
    const struct str token = {credential->text.p + skip, credential->text.n - skip};
    int err = rig_identify(token, &call->in.access, &call->out.why);
    explicit_bzero((char *)(uintptr_t)credential->text.p, credential->text.n);
    core->n_held += err < 0;
    if (err < 0)
        rig_answer(call, err_http_status(err), STR_NONE);
    else
        core_handle(core, call);
}

/* ---- The server -------------------------------------------------------------------------------*/

struct rig {
    unsigned n_workers;
    _Atomic unsigned *starts; /* of workers, seen by all processes: more means that one died */
    pid_t pid;
    uint16_t port;
    int ready[2];
};

static int rig_worker_start(void *ctx, uint32_t slot, struct bus *bus, struct loop *loop,
                            struct core **ret)
{
    struct rig *rig = ctx;
    (void)slot, (void)bus;
    if (rig && rig->starts)
        (*rig->starts)++;
    struct core *core = calloc(1, sizeof *core);
    core->loop = loop;
    *ret = core;
    return 0;
}

static void rig_worker_stop(void *ctx, struct core *core)
{
    (void)ctx;
    rig_release(core);
    free(core);
}

static void rig_ready(void *ctx, uint16_t port)
{
    struct rig *rig = ctx;
    if (write(rig->ready[1], &port, sizeof port) != sizeof port)
        _exit(1);
}

UNUSED static struct net_config rig_config(void)
{
    static const struct net_address address = {"127.0.0.1", 0};
    static char certificate[256], key[256];
    const char *dir = getenv("TENON_RIG_TLS");
    if (dir) {
        snprintf(certificate, sizeof certificate, "%s/cert.pem", dir);
        snprintf(key, sizeof key, "%s/key.pem", dir);
    }
    return (struct net_config){
        .tls = {.certificate = dir ? certificate : NULL, .key = dir ? key : NULL},
        .listen = &address,
        .n_listen = 1,
        .n_workers = 1,
        .path = {"/mcp", "/mcp/operations"},
    };
}

static int rig_serve(struct rig *rig, const struct net_config *config)
{
    const struct net_callbacks callbacks = {
        .ctx = rig,
        .worker_start = rig_worker_start,
        .worker_stop = rig_worker_stop,
        .ready = rig_ready,
    };
    return net_serve(config, &callbacks);
}

static int rig_wait_exit(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* A child is no test: it ends with the program, also when a failed one leaves without rig_stop, and
 * it crashes: cmocka catches these signals, which makes a crashed child go on with the tests. */
UNUSED static void rig_be_a_child(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
}

/* False: the server did not come up, and is gone. */
UNUSED static bool rig_start(struct rig *rig, struct net_config config)
{
    assert_return_code(pipe(rig->ready), errno);
    rig->n_workers = config.n_workers;
    rig->starts =
        mmap(NULL, sizeof *rig->starts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(NULL);
    rig->pid = fork();
    if (rig->pid == 0) {
        rig_be_a_child();
        close(rig->ready[0]);
        exit(rig_serve(rig, &config) < 0);
    }
    close(rig->ready[1]);
    bool up = read(rig->ready[0], &rig->port, sizeof rig->port) == sizeof rig->port;
    if (!up)
        rig_wait_exit(rig->pid);
    return up;
}

/* An orderly stop; a leak or a fault that a sanitizer saw in any process makes it fail. */
UNUSED static void rig_stop(struct rig *rig)
{
    kill(rig->pid, SIGTERM);
    int status = rig_wait_exit(rig->pid);
    close(rig->ready[0]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    if (rig->starts)
        assert_int_equal(*rig->starts, rig->n_workers);
}

/* ---- The client -------------------------------------------------------------------------------*/

#define RIG_WAIT_MS 10000

UNUSED static bool rig_has_tls(void)
{
    return getenv("TENON_RIG_TLS");
}

/* Of one whose kernel takes only so much (0: as usual). */
UNUSED static int rig_connect_narrow(const struct rig *rig, int bytes)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons(rig->port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (bytes)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof a), errno);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return rig_has_tls() ? pump_start(fd) : fd;
}

UNUSED static int rig_connect(const struct rig *rig)
{
    return rig_connect_narrow(rig, 0);
}

UNUSED static void rig_send_n(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the server has closed: what it answered tells the rest */
        text += sent;
        n -= (size_t)sent;
    }
}

UNUSED static void rig_send(int fd, const char *text)
{
    rig_send_n(fd, text, strlen(text));
}

struct answer {
    int status; /* 0: none came */
    bool closed;
    char *head, *body; /* of malloc, zero behind */
    size_t body_n;
};

UNUSED static void answer_done(struct answer *a)
{
    free(a->head);
    free(a->body);
    *a = (struct answer){0};
}

/* One byte, or -1 at the end; fails the test when nothing comes for long. */
static int rig_byte(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    unsigned char c;
    int n = poll(&p, 1, RIG_WAIT_MS);
    assert_int_not_equal(n, 0);
    return recv(fd, &c, 1, 0) == 1 ? c : -1;
}

static bool rig_read_head(int fd, struct answer *a)
{
    struct buf head = {0};
    int c;
    while ((c = rig_byte(fd)) >= 0) {
        buf_add_char(&head, (char)c);
        if (head.n >= 4 && !memcmp(head.p + head.n - 4, "\r\n\r\n", 4))
            break;
    }
    buf_add_char(&head, 0);
    a->head = head.p;
    a->closed = c < 0;
    return c >= 0;
}

/* The value of a header in the answer, up to its line end; NULL: not there. */
UNUSED static const char *answer_header(const struct answer *a, const char *name)
{
    static char value[512];
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\r\n%s: ", name);
    const char *at = a->head ? strcasestr(a->head, wanted) : NULL;
    if (!at)
        return NULL;
    at += strlen(wanted);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

UNUSED static struct answer rig_read(int fd)
{
    struct answer a = {0};
    if (!rig_read_head(fd, &a))
        return a;
    a.status = atoi(a.head + 9);
    const char *length = answer_header(&a, "Content-Length");
    size_t n = length ? strtoul(length, NULL, 10) : 0;
    a.body = calloc(1, n + 1);
    while (a.body_n < n) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_not_equal(poll(&p, 1, RIG_WAIT_MS), 0);
        ssize_t got = recv(fd, a.body + a.body_n, n - a.body_n, 0);
        if (got <= 0) {
            a.closed = true;
            break;
        }
        a.body_n += (size_t)got;
    }
    return a;
}

/* True if the server closes the connection and sends nothing more. */
UNUSED static bool rig_is_closed(int fd)
{
    return rig_byte(fd) < 0;
}

#define RIG_HEAD                         \
    "POST /mcp HTTP/1.1\r\n"             \
    "Host: 127.0.0.1\r\n"                \
    "Content-Type: application/json\r\n" \
    "Accept: application/json, text/event-stream\r\n"

UNUSED static void rig_send_post(int fd, const char *headers, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text, RIG_HEAD "%sContent-Length: %zu\r\n\r\n%s", headers, strlen(body),
             body);
    rig_send(fd, text);
}

/* POST on this connection and its answer. */
UNUSED static struct answer rig_post(int fd, const char *headers, const char *body)
{
    rig_send_post(fd, headers, body);
    return rig_read(fd);
}

/* The status of a raw request on a new connection. */
UNUSED static int rig_status(const struct rig *rig, const char *request)
{
    int fd = rig_connect(rig);
    rig_send(fd, request);
    struct answer a = rig_read(fd);
    int status = a.status;
    answer_done(&a);
    close(fd);
    return status;
}

/* The server still works: one request on a new connection. */
UNUSED static void rig_is_alive(const struct rig *rig)
{
    int fd = rig_connect(rig);
    struct answer a = rig_post(fd, "", "{\"alive\":1}");
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body, "{\"alive\":1}");
    answer_done(&a);
    close(fd);
}

/* The number that the fake core answers to `word`. */
UNUSED static long rig_ask(const struct rig *rig, const char *word)
{
    int fd = rig_connect(rig);
    struct answer a = rig_post(fd, "", word);
    assert_int_equal(a.status, 200);
    long number = strtol(a.body, NULL, 10);
    answer_done(&a);
    close(fd);
    return number;
}

#endif
