/* net/fence.c - see fence.h. Everything that RUNTIME.md found about libwebsockets 4.1.6 lives here.
 *
 *   K1  pipelining         guard G: on_body_complete, on_writeable
 *   K2  states that spin   on_access, is_body_read, net/received.c
 *   K3  rx flow control    never called (a test looks for the symbol)
 *   K4  h2                 alpn http/1.1, open_vhost
 *   K5, K6  Upgrade        on_upgrade
 *   K7, K8  listening      net/listener.c
 *   K9  poll()             net/loop.c
 *   K10 late timers        the tick calls lws_cancel_service
 *   K11 sorted timer list  net/deadline.c; no lws timer on a resting connection
 *   two views of a head    net/head_scan.c, fed by net/received.c
 *
 * What a connection is and does without them is net/conn.c.
 */
#include "net/fence.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/conn.h"
#include "net/conn_access.h"
#include "net/conn_stream.h"
#include "net/head_read.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/received.h"
#include "net/reply.h"
#include "net/tls.h"

#include <ev.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- A connection comes -----------------------------------------------------------------------*/

static void on_accepted(void *ctx, int fd, const struct net_address *address)
{
    struct fence *fence = ctx;
    if (fence->n_conns >= fence->config->conns_max) {
        conn_turn_away(fence, fd);
        return;
    }
    struct conn *conn = calloc(1, sizeof *conn);
    if (!conn) {
        close(fd);
        return;
    }
    *conn = (struct conn){.exchange.calls = fence->calls,
                          .unsent.budget = &fence->calls->budget,
                          .fence = fence,
                          .fd = fd,
                          .address = address};
    conn->wsi = lws_adopt_socket_vhost(fence->vhost, fd);
    if (!conn->wsi) {
        free(conn);
        return;
    }
    lws_set_opaque_user_data(conn->wsi, conn);
    fence->n_conns++;
    received_watch(fd, &conn->scan);
    /* K11: ours instead of theirs */
    lws_set_timeout(conn->wsi, NO_PENDING_TIMEOUT, 0);
    conn_wait_for(conn, WAIT_HEAD);
}

/* Whether libwebsockets will go on to read a body: it takes the length by atoll, and a POST, PUT or
 * PATCH without one to have 100 MiB. In no other case may a connection wait for more: it would be
 * in a state in which libwebsockets never reads, and spin when the client leaves (K2). */
static bool is_body_read(const struct http_head *head)
{
    if (head->content_length.p && head->content_length.n < 31) {
        long long n = atoll(head->content_length.p);
        return n > 0 || (n == 0 && head->method == HTTP_POST);
    }
    return head->method == HTTP_POST || (head->method == HTTP_OTHER && head->transfer_encoding.p);
}

static int answer_preflight(struct conn *conn)
{
    const struct reply reply = {
        .status = 204,
        .close = true,
        .preflight = true,
        .allow = conn->plan.allow,
        .allowed_origin = conn->plan.allowed_origin,
    };
    bool body_follows = is_body_read(&conn->fence->reader.head);
    return conn_write(conn, &reply) || !body_follows ? -1 : conn_discard_rest(conn);
}

static int answer_metadata(struct conn *conn)
{
    const struct reply reply = {
        .status = 200,
        .close = true,
        .head_only = conn->fence->reader.head.method == HTTP_HEAD,
        .allowed_origin = conn->plan.allowed_origin,
        .body = str_of(conn->fence->config->metadata),
    };
    conn_write(conn, &reply);
    return -1;
}

/* ---- Callbacks --------------------------------------------------------------------------------
 * They return what libwebsockets wants: 0 to go on, -1 to close. */

/* First word of every request. A GET or DELETE for core is taken here, because only so does the
 * connection stay in a state in which libwebsockets reads and notices that the client leaves (K2);
 * all others go on to on_head. */
static bool is_taken_early(struct conn *conn)
{
    const struct http_head *head = &conn->fence->reader.head;
    return (head->method == HTTP_DELETE || head->method == HTTP_GET) && conn->verdict == 0 &&
           !conn->plan.metadata;
}

/* It would also read a request behind a GET, while that one's stream is open: nothing may follow
 * (rule 6). */
static bool is_followed(struct conn *conn)
{
    if (conn->fence->reader.head.method != HTTP_GET)
        return false;
    received_refuse(conn->fd);
    return conn->scan.has_more;
}

static void read_head(struct conn *conn)
{
    struct head_reader *reader = &conn->fence->reader;
    head_read(reader, conn->wsi, head_scan_is_authorized(&conn->scan));
    reader->head.malformed = !head_scan_is_good(&conn->scan);
    conn_judge(conn);
}

static void forget_head(struct conn *conn)
{
    conn_forget_entry(conn);
    head_reader_forget(&conn->fence->reader);
}

static int on_access(struct conn *conn, void *in, size_t len)
{
    struct lws_process_html_args *args = in;
    (void)len;
    if (conn->phase == RESTING) {
        read_head(conn);
        if (!is_taken_early(conn))
            return 0;
    }
    args->final = 1;
    if (conn->phase != RESTING || is_followed(conn) || conn_begin(conn) < 0) {
        conn_kill(conn); /* a second request while the first is under way (rule 6) */
        forget_head(conn);
        return 0;
    }
    forget_head(conn);
    conn->last = true; /* every reply but those to POST ends with the connection (rule 7) */
    lws_set_timeout(conn->wsi, NO_PENDING_TIMEOUT, 0);
    conn_run(conn);
    return 0;
}

static int take_head(struct conn *conn)
{
    if (conn->verdict < 0)
        return conn_refuse(conn, conn->verdict, is_body_read(&conn->fence->reader.head));
    if (conn->plan.preflight)
        return answer_preflight(conn);
    if (conn->plan.metadata)
        return answer_metadata(conn);
    int err = conn_begin(conn);
    if (err < 0)
        return conn_refuse(conn, err, true);
    conn->phase = BODY;
    conn->last = conn->plan.close || conn->plan.chunked;
    conn_wait_for(conn, WAIT_BODY);
    return conn->plan.wants_continue ? conn_send_continue(conn) : 0;
}

static int on_head(struct conn *conn, void *in, size_t len)
{
    (void)in;
    (void)len;
    int result = conn->phase == RESTING ? take_head(conn) : -1;
    forget_head(conn);
    return result;
}

static int discard(struct conn *conn, size_t n)
{
    conn->discarded += n;
    return conn->phase == CUT || conn->discarded > HTTP_DISCARD_BYTES ? -1 : 0;
}

static int on_body(struct conn *conn, void *in, size_t len)
{
    if (conn->phase != BODY)
        return discard(conn, len);
    int done = exchange_body(&conn->exchange, (struct str){in, (uint32_t)len});
    if (done < 0)
        return conn_refuse(conn, done, true);
    if (done)
        conn_run(conn);
    return 0;
}

/* Guard G (K1, rule 7): never replies. libwebsockets calls this again and again, consuming
 * nothing, when more input waits behind the body: a pipelined request, which it cannot serve. */
static int on_body_complete(struct conn *conn, void *in, size_t len)
{
    (void)in;
    (void)len;
    switch (conn->phase) {
    case BODY:
        if (!exchange_is_whole(&conn->exchange))
            return -1;
        conn_run(conn);
        return 0;
    case ANSWERED:
        conn->last = true;
        return 0;
    case STREAMING:
        conn_stream_hurry(conn);
        return -1;
    default:
        return -1;
    }
}

static void rest(struct conn *conn)
{
    lws_set_timeout(conn->wsi, NO_PENDING_TIMEOUT, 0); /* K11 */
    conn_wait_for(conn, WAIT_REST);
}

/* libwebsockets has ended the transaction: at once, or when the last of a large reply was sent. In
 * the second case nothing else tells, and its own timer is set right after this; the next tick is
 * early enough to take that away. */
static int on_drop(struct conn *conn, void *in, size_t len)
{
    (void)in;
    (void)len;
    if (conn->phase == SENDING) {
        conn->phase = RESTING;
        conn->scan = (struct head_scan){0};
        share_return(&conn->unsent);
        conn_wait_for(conn, WAIT_SETTLE);
    }
    return 0;
}

static void on_settled(struct deadline *deadline)
{
    rest((struct conn *)deadline);
}

static int complete(struct conn *conn)
{
    if (lws_http_transaction_completed(conn->wsi))
        return -1;
    if (conn->phase == RESTING)
        rest(conn);
    else
        conn_wait_for_reader(conn);
    return 0;
}

static bool must_be_last(struct fence *fence)
{
    /* 0: some connection, perhaps this one, holds unread input (rule 7) */
    return fence->stopping || !lws_service_adjust_timeout(fence->context, 1, 0);
}

static const struct challenge *challenge_of(const struct conn *conn, struct challenge *room)
{
    const struct call_answer *answer = &conn->exchange.call->out;
    int err = answer->http_status == 401   ? ERR_UNAUTHORIZED
              : answer->http_status == 403 ? ERR_SCOPE
                                           : 0;
    return conn_challenge(conn, err, answer->why, room);
}

static int send_answer(struct conn *conn)
{
    struct fence *fence = conn->fence;
    struct challenge room;
    const struct call_answer *answer = &conn->exchange.call->out;
    conn->last |= must_be_last(fence);
    const struct reply reply = {
        .status = answer->http_status,
        .close = conn->last,
        .allowed_origin = conn->plan.allowed_origin,
        .session_id = answer->session_id,
        .challenge = challenge_of(conn, &room),
        .retry_after_s = answer->retry_after_s,
        .body = buf_str(&answer->body),
    };
    conn->phase = SENDING;
    int failed = conn_write(conn, &reply);
    if (lws_partial_buffered(conn->wsi)) /* it has a copy */
        share_add(&conn->unsent, answer->body.n);
    exchange_end(&conn->exchange);
    return failed;
}

static int write_stream(struct conn *conn)
{
    int done = conn_stream_write(conn);
    if (done <= 0)
        return done;
    conn_stream_free(conn);
    conn->phase = SENDING;
    conn->last |= must_be_last(conn->fence);
    return conn->last ? -1 : complete(conn);
}

/* Answering and completing happen in one callback (rule 7). One that is the last has to wait here
 * until all was sent, since closing flushes for five seconds only. */
static int on_writeable(struct conn *conn, void *in, size_t len)
{
    (void)in;
    (void)len;
    if (conn->phase == STREAMING)
        return write_stream(conn);
    if (conn->phase == ANSWERED) {
        if (send_answer(conn))
            return -1;
        if (!conn->last)
            return complete(conn);
        conn_wait_for_reader(conn);
    }
    return conn->phase == SENDING && conn->last && !lws_partial_buffered(conn->wsi) ? -1 : 0;
}

/* K6: after its own 403 to an unknown Upgrade, libwebsockets goes on with freed headers. K5: any
 * Upgrade that it knows would be taken; with its first byte changed the name is unknown to the
 * comparisons that follow, and the request goes on as plain HTTP/1.1. */
static int on_upgrade(struct conn *conn, void *in, size_t len)
{
    (void)len;
    if (lws_hdr_total_length(conn->wsi, WSI_TOKEN_UPGRADE) <= 0)
        return -1;
    *(char *)in = '-';
    return 0;
}

/* CONNECT makes libwebsockets drop HTTP and treat the connection as raw bytes. */
static int on_raw(struct conn *conn, void *in, size_t len)
{
    (void)conn;
    (void)in;
    (void)len;
    return -1;
}

static int on_destroy(struct conn *conn, void *in, size_t len)
{
    (void)in;
    (void)len;
    lws_set_opaque_user_data(conn->wsi, NULL);
    conn_free(conn);
    return 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    static const struct {
        enum lws_callback_reasons reason;
        int (*fn)(struct conn *conn, void *in, size_t len);
    } events[] = {
        {LWS_CALLBACK_HTTP_WRITEABLE, on_writeable},
        {LWS_CALLBACK_HTTP_DROP_PROTOCOL, on_drop},
        {LWS_CALLBACK_CHECK_ACCESS_RIGHTS, on_access},
        {LWS_CALLBACK_HTTP, on_head},
        {LWS_CALLBACK_HTTP_BODY, on_body},
        {LWS_CALLBACK_HTTP_BODY_COMPLETION, on_body_complete},
        {LWS_CALLBACK_HTTP_CONFIRM_UPGRADE, on_upgrade},
        {LWS_CALLBACK_RAW_ADOPT, on_raw},
        {LWS_CALLBACK_RAW_RX, on_raw},
        {LWS_CALLBACK_WSI_DESTROY, on_destroy},
    };
    if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS) {
        struct fence *fence = lws_context_user(lws_get_context(wsi));
        tls_adopt(fence->tls, user);
        return 0;
    }
    struct conn *conn = wsi ? lws_get_opaque_user_data(wsi) : NULL;
    for (size_t i = 0; conn && i < sizeof events / sizeof *events; i++)
        if (events[i].reason == reason)
            return events[i].fn(conn, in, len);
    return 0;
}

/* ---- The context ------------------------------------------------------------------------------*/

static const struct lws_protocols protocols[] = {
    {.name = "mcp", .callback = on_event},
    {0},
};

static const struct lws_http_mount mount = {
    .mountpoint = "/",
    .mountpoint_len = 1,
    .origin = "mcp",
    .protocol = "mcp",
    .origin_protocol = LWSMPRO_CALLBACK,
};

static void log_loudly(int level, const char *line)
{
    (void)level;
    log_warn("libwebsockets: %.*s", (int)strcspn(line, "\n"), line);
}

/* After the start its complaints are about what clients send. */
static void log_quietly(int level, const char *line)
{
    (void)level;
    log_debug("libwebsockets: %.*s", (int)strcspn(line, "\n"), line);
}

static unsigned whole_seconds(int64_t ms)
{
    return (unsigned)((ms + 999) / 1000);
}

/* Rules 2 and 3. Its own timeouts stay as a second line behind ours, and catch what calls nobody
 * back: a head that never ends on a kept connection. */
static int open_context(struct fence *fence)
{
    void *loops[] = {loop_ev(fence->loop)};
    uint64_t tls = fence->tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0;
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_LIBEV | tls,
        .user = fence,
        .foreign_loops = loops,
        .max_http_header_data = HTTP_HEADER_BYTES,
        .pt_serv_buf_size = 65536,
        .timeout_secs = 20,
    };
    lws_set_log_level(LLL_ERR | LLL_WARN, log_loudly);
    fence->context = lws_create_context(&info);
    return fence->context ? 0 : ERR_IO;
}

static int open_vhost(struct fence *fence)
{
    uint64_t tls = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX;
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .vhost_name = "tenon",
        .options = fence->tls ? tls : 0,
        .protocols = protocols,
        .mounts = &mount,
        .alpn = "http/1.1", /* K4 */
        .keepalive_timeout = (int)whole_seconds(fence->config->keepalive_ms),
        .timeout_secs_ah_idle = whole_seconds(fence->config->head_deadline_ms),
    };
    fence->vhost = lws_create_vhost(fence->context, &info);
    return fence->vhost ? 0 : ERR_IO;
}

static void stop_if_done(struct fence *fence, int64_t now_ms)
{
    if (!fence->stopping)
        return;
    if ((!fence->n_conns && !fence->calls->n_running) || now_ms >= fence->stop_at_ms)
        loop_stop(fence->loop);
}

static void on_tick(void *ctx)
{
    struct fence *fence = ctx;
    int64_t now_ms = loop_now_ms(fence->loop);
    if (!fence->context)
        return;
    for (int i = 0; i < N_WAITS; i++)
        deadline_sweep(&fence->waits[i], now_ms);
    lws_cancel_service(fence->context); /* K10: makes its late timers run */
    stop_if_done(fence, now_ms);
}

int fence_open(const struct net_config *config, struct tls *tls, struct loop *loop,
               struct core *core, struct fence **ret)
{
    struct fence *fence = calloc(1, sizeof *fence);
    if (!fence)
        return ERR_NO_MEMORY;
    *fence = (struct fence){.config = config, .tls = tls, .loop = loop};
    conn_set_deadlines(fence);
    fence->waits[WAIT_SETTLE].expired = on_settled;
    fence->calls = calls_new(core, config->body_limit_bytes, config->bytes_in_flight_max,
                             conn_answered, conn_stream_open);
    fence->listeners = calloc(config->n_listen, sizeof *fence->listeners);
    int err = fence->calls && fence->listeners ? head_reader_init(&fence->reader) : ERR_NO_MEMORY;
    if (!err)
        err = open_context(fence);
    if (!err)
        err = open_vhost(fence);
    if (err) {
        fence_close(fence);
        return err;
    }
    lws_set_log_level(LLL_ERR | LLL_WARN, log_quietly);
    loop_on_tick(loop, on_tick, fence);
    *ret = fence;
    return 0;
}

int fence_listen(struct fence *fence, int fd, const struct net_address *address)
{
    struct listener **next = &fence->listeners[fence->n_listeners];
    int err = listener_open(fence->loop, fd, address, on_accepted, fence, next);
    if (!err)
        fence->n_listeners++;
    return err;
}

static void close_listeners(struct fence *fence)
{
    while (fence->n_listeners)
        listener_close(fence->listeners[--fence->n_listeners]);
}

void fence_stop(struct fence *fence, int64_t grace_ms)
{
    int64_t now_ms = loop_now_ms(fence->loop);
    if (!fence->stopping || now_ms + grace_ms < fence->stop_at_ms)
        fence->stop_at_ms = now_ms + grace_ms;
    fence->stopping = true;
    close_listeners(fence);
    deadline_sweep(&fence->waits[WAIT_SETTLE], INT64_MAX);
    /* who rests or has not finished a head has nothing to lose */
    deadline_sweep(&fence->waits[WAIT_REST], INT64_MAX);
    deadline_sweep(&fence->waits[WAIT_HEAD], INT64_MAX);
    conn_stream_stop_listening(fence);
    stop_if_done(fence, now_ms);
}

void fence_close(struct fence *fence)
{
    if (!fence)
        return;
    close_listeners(fence);
    if (fence->context) {
        lws_context_destroy(fence->context);
        fence->context = NULL;
    }
    calls_close(fence->calls);
    head_reader_done(&fence->reader);
    buf_done(&fence->out);
    free(fence->listeners);
    free(fence);
}
