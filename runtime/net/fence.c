/* net/fence.c - see fence.h. Everything that RUNTIME.md found about libwebsockets 4.1.6 lives here.
 *
 *   K1  pipelining         guard G: on_body_complete, on_writeable
 *   K3  rx flow control    never called (a test looks for the symbol)
 *   K4  h2                 alpn http/1.1, open_vhost
 *   K5, K6  Upgrade        on_upgrade
 *   K7, K8  listening      net/listener.c
 *   K9  poll()             net/loop.c
 *   K10 late timers        the tick calls lws_cancel_service
 *   K11 sorted timer list  net/deadline.c; no lws timer on a resting connection
 *
 * A connection goes round these phases; the arrows are the callbacks that move it:
 *
 *   RESTING -head-> BODY -complete-> RUNNING -finish-> ANSWERED -writeable-> SENDING -> RESTING
 *      |              |
 *      +---refused----+--> DISCARDING -> closed
 *
 * A refused request is answered at once and its connection closed, but what the client still sends
 * is read and dropped for a while: closing with unread data would send a reset that can overtake
 * the answer.
 */
#include "net/fence.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/chunked.h"
#include "net/deadline.h"
#include "net/head.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/reply.h"

#include <ev.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUT_KEPT_BYTES (256u << 10) /* of the write buffer between replies */
#define N_TIMEOUTS     5

enum phase { RESTING, BODY, RUNNING, ANSWERED, SENDING, DISCARDING };

struct conn {
    struct deadline deadline; /* first: see conn_of_deadline */
    struct fence *fence;
    struct lws *wsi;
    const struct net_address *address;
    enum phase phase;
    bool last; /* closes after this reply */
    struct http_plan plan;
    struct call *call; /* BODY until the reply is written */
    struct chunked chunked;
    struct buf raw; /* a chunked body so far */
    char *body;     /* in the call's arena, when the length is known */
    size_t body_n;
    size_t discarded;
};

/* What `call->transport` points to, in the call's arena: it outlives the connection. */
struct exchange {
    struct fence *fence;
    struct conn *conn; /* NULL: the client went away */
};

struct fence {
    const struct net_config *config;
    struct loop *loop;
    struct core *core;
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct listener **listeners;
    struct deadline_queue head, body, rest, send, linger;
    unsigned n_conns, n_calls, n_listeners;
    bool stopping, closed; /* closed: only calls that core still holds point here */
    int64_t stop_at_ms;
    struct http_head seen; /* of the request being judged; its texts are in `text` */
    char *text;
    size_t text_n;
    struct buf out; /* the reply being written, behind LWS_PRE */
};

/* ---- Connections and their deadlines ----------------------------------------------------------*/

static void wait_in(struct conn *conn, struct deadline_queue *queue)
{
    deadline_set(queue, &conn->deadline, loop_now_ms(conn->fence->loop));
}

static void kill_conn(struct conn *conn)
{
    lws_set_timeout(conn->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

static void on_deadline(struct deadline *deadline)
{
    kill_conn((struct conn *)deadline);
}

/* Frees the call, or leaves it to core: then `finish` frees it. */
static void let_go_of_call(struct conn *conn)
{
    if (!conn->call)
        return;
    if (conn->phase == RUNNING) {
        conn->call->orphaned = true;
        ((struct exchange *)conn->call->transport)->conn = NULL;
    } else {
        call_free(conn->call);
    }
    conn->call = NULL;
}

static void end_request(struct conn *conn)
{
    let_go_of_call(conn);
    buf_done(&conn->raw);
    conn->chunked = (struct chunked){0};
    conn->body = NULL;
    conn->body_n = 0;
}

static void free_conn(struct conn *conn)
{
    end_request(conn);
    deadline_clear(&conn->deadline);
    conn->fence->n_conns--;
    free(conn);
}

static void on_accepted(void *ctx, int fd, const struct net_address *address)
{
    struct fence *fence = ctx;
    struct conn *conn = calloc(1, sizeof *conn);
    if (!conn) {
        close(fd);
        return;
    }
    *conn = (struct conn){.fence = fence, .address = address, .phase = RESTING};
    conn->wsi = lws_adopt_socket_vhost(fence->vhost, fd);
    if (!conn->wsi) {
        free(conn);
        return;
    }
    lws_set_opaque_user_data(conn->wsi, conn);
    fence->n_conns++;
    /* K11: ours instead of theirs */
    lws_set_timeout(conn->wsi, NO_PENDING_TIMEOUT, 0);
    wait_in(conn, &fence->head);
}

/* ---- Writing ----------------------------------------------------------------------------------*/

static int write_reply(struct conn *conn, const struct reply *reply)
{
    struct buf *out = &conn->fence->out;
    out->n = LWS_PRE;
    out->failed = false;
    buf_reserve(out, 512);
    reply_write(out, reply);
    int n = -1;
    if (!out->failed)
        n = lws_write(conn->wsi, (unsigned char *)out->p + LWS_PRE, out->n - LWS_PRE,
                      LWS_WRITE_HTTP_HEADERS);
    if (out->cap > OUT_KEPT_BYTES || out->failed)
        buf_done(out);
    return n < 0 ? -1 : 0;
}

/* ---- Refusing: answer, then read and drop what still comes ------------------------------------*/

/* Whether libwebsockets will go on to read a body: it takes the length by atoll, and a POST, PUT or
 * PATCH without one to have 100 MiB. */
static bool is_body_read(const struct http_head *head)
{
    if (head->content_length.p && head->content_length.n < 31)
        return atoll(head->content_length.p) >= 0;
    return head->method == HTTP_POST || head->transfer_encoding.p;
}

static int discard_rest(struct conn *conn)
{
    conn->phase = DISCARDING;
    conn->discarded = 0;
    wait_in(conn, &conn->fence->linger);
    if (!lws_partial_buffered(conn->wsi))
        shutdown(lws_get_socket_fd(conn->wsi), SHUT_WR);
    return 0;
}

static int refuse(struct conn *conn, int err, bool body_follows)
{
    struct buf body = {0};
    const struct http_head *head = &conn->fence->seen;
    struct reply reply = {
        .status = err_http_status(err),
        .close = true,
        .allowed_origin = conn->plan.allowed_origin,
        .allow = err == ERR_HTTP_METHOD ? conn->plan.allow : NULL,
    };
    if (conn->phase == BODY || head->method == HTTP_POST)
        reply_write_error(&body, err);
    reply.body = buf_str(&body);
    int failed = write_reply(conn, &reply);
    buf_done(&body);
    end_request(conn);
    return failed || !body_follows ? -1 : discard_rest(conn);
}

/* ---- Reading the head -------------------------------------------------------------------------*/

static const struct {
    enum lws_token_indexes token;
    size_t offset;
} known_headers[] = {
    {WSI_TOKEN_HOST, offsetof(struct http_head, host)},
    {WSI_TOKEN_ORIGIN, offsetof(struct http_head, origin)},
    {WSI_TOKEN_HTTP_ACCEPT, offsetof(struct http_head, accept)},
    {WSI_TOKEN_HTTP_CONTENT_TYPE, offsetof(struct http_head, content_type)},
    {WSI_TOKEN_HTTP_CONTENT_LENGTH, offsetof(struct http_head, content_length)},
    {WSI_TOKEN_HTTP_TRANSFER_ENCODING, offsetof(struct http_head, transfer_encoding)},
    {WSI_TOKEN_HTTP_EXPECT, offsetof(struct http_head, expect)},
    {WSI_TOKEN_CONNECTION, offsetof(struct http_head, connection)},
};

/* Stored by libwebsockets in lower case, with the colon. */
static const struct {
    struct str name;
    size_t offset;
} custom_headers[] = {
    {STR_INIT("mcp-session-id:"), offsetof(struct http_head, session_id)},
    {STR_INIT("mcp-protocol-version:"), offsetof(struct http_head, version)},
};

static struct str *member(struct http_head *head, size_t offset)
{
    return (struct str *)((char *)head + offset);
}

/* Room for a value of n bytes and its zero; all values of a head fit, since libwebsockets keeps no
 * more than HTTP_HEADER_BYTES of it. */
static char *text_room(struct fence *fence, int n)
{
    if (n < 0 || fence->text_n + (size_t)n + 1 > 2 * HTTP_HEADER_BYTES)
        return NULL;
    char *room = fence->text + fence->text_n;
    fence->text_n += (size_t)n + 1;
    return room;
}

/* Leading blanks are gone already, trailing ones are not. */
static struct str trimmed(char *text, int n)
{
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    text[n] = 0;
    return (struct str){text, (uint32_t)n};
}

static void read_known(struct fence *fence, struct lws *wsi, size_t i)
{
    int n = lws_hdr_total_length(wsi, known_headers[i].token);
    char *room = n > 0 ? text_room(fence, n) : NULL;
    if (room && (n = lws_hdr_copy(wsi, room, n + 1, known_headers[i].token)) >= 0)
        *member(&fence->seen, known_headers[i].offset) = trimmed(room, n);
}

static void read_custom(struct fence *fence, struct lws *wsi, size_t i)
{
    const struct str name = custom_headers[i].name;
    int n = lws_hdr_custom_length(wsi, name.p, (int)name.n);
    char *room = n >= 0 ? text_room(fence, n) : NULL;
    if (room && (n = lws_hdr_custom_copy(wsi, room, n + 1, name.p, (int)name.n)) >= 0)
        *member(&fence->seen, custom_headers[i].offset) = trimmed(room, n);
}

static enum http_method method_of(int lws_method)
{
    static const enum http_method methods[] = {
        [LWSHUMETH_GET] = HTTP_GET,         [LWSHUMETH_POST] = HTTP_POST,
        [LWSHUMETH_OPTIONS] = HTTP_OPTIONS, [LWSHUMETH_PUT] = HTTP_OTHER,
        [LWSHUMETH_PATCH] = HTTP_OTHER,     [LWSHUMETH_DELETE] = HTTP_DELETE,
        [LWSHUMETH_CONNECT] = HTTP_OTHER,   [LWSHUMETH_HEAD] = HTTP_HEAD,
        [LWSHUMETH_COLON_PATH] = HTTP_OTHER};
    size_t n = sizeof methods / sizeof *methods;
    return lws_method >= 0 && (size_t)lws_method < n ? methods[lws_method] : HTTP_OTHER;
}

static bool is_http10(struct lws *wsi)
{
    char version[16];
    return lws_hdr_copy(wsi, version, sizeof version, WSI_TOKEN_HTTP) <= 0 ||
           strncmp(version, "HTTP/1.1", 8) != 0;
}

static void read_head(struct fence *fence, struct lws *wsi)
{
    char *path = NULL;
    int path_n = 0;
    fence->text_n = 0;
    fence->seen = (struct http_head){0};
    fence->seen.method = method_of(lws_http_get_uri_and_method(wsi, &path, &path_n));
    fence->seen.path = (struct str){path, (uint32_t)path_n};
    fence->seen.http10 = is_http10(wsi);
    for (size_t i = 0; i < sizeof known_headers / sizeof *known_headers; i++)
        read_known(fence, wsi, i);
    for (size_t i = 0; i < sizeof custom_headers / sizeof *custom_headers; i++)
        read_custom(fence, wsi, i);
}

/* ---- From head to call ------------------------------------------------------------------------*/

static void finish(struct call *call)
{
    struct exchange *exchange = call->transport;
    struct fence *fence = exchange->fence;
    struct conn *conn = exchange->conn;
    fence->n_calls--;
    if (conn) {
        conn->phase = ANSWERED;
        lws_callback_on_writable(conn->wsi);
        return;
    }
    call_free(call);
    if (fence->closed && !fence->n_calls)
        free(fence);
}

static bool copy_present(struct arena *arena, struct str value, struct str *ret)
{
    if (!value.p)
        return true;
    *ret = arena_str(arena, value);
    return ret->p;
}

static bool fill_call(struct conn *conn, struct call *call)
{
    const struct http_head *head = &conn->fence->seen;
    struct exchange *exchange = arena_alloc(&call->arena, sizeof *exchange);
    if (!exchange)
        return false;
    *exchange = (struct exchange){conn->fence, conn};
    call->transport = exchange;
    call->finish = finish;
    call->in.verb = head->method == HTTP_DELETE ? CALL_DELETE : CALL_POST;
    call->in.profile = conn->plan.profile;
    call->in.accepts_json = conn->plan.accepts_json;
    call->in.accepts_sse = conn->plan.accepts_sse;
    call->in.user = STR("");
    /* the reply needs it after the head is gone */
    return copy_present(&call->arena, conn->plan.allowed_origin, &conn->plan.allowed_origin) &&
           copy_present(&call->arena, head->session_id, &call->in.session_id) &&
           copy_present(&call->arena, head->version, &call->in.version);
}

static int make_call(struct conn *conn)
{
    conn->call = call_new(conn->fence->core);
    if (!conn->call)
        return ERR_NO_MEMORY;
    if (!fill_call(conn, conn->call))
        return ERR_NO_MEMORY;
    if (conn->plan.chunked) {
        conn->raw.limit = conn->fence->config->body_limit_bytes;
        return 0;
    }
    conn->body = arena_alloc(&conn->call->arena, conn->plan.body_bytes + JSON_PADDING_BYTES);
    return conn->body ? 0 : ERR_NO_MEMORY;
}

static void run_call(struct conn *conn)
{
    deadline_clear(&conn->deadline);
    conn->phase = RUNNING;
    conn->fence->n_calls++;
    core_handle(conn->fence->core, conn->call);
}

static int send_continue(struct conn *conn)
{
    unsigned char text[LWS_PRE + 32];
    static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
    memcpy(text + LWS_PRE, line, sizeof line - 1);
    return lws_write(conn->wsi, text + LWS_PRE, sizeof line - 1,
                     LWS_WRITE_HTTP_HEADERS_CONTINUATION) < 0
               ? -1
               : 0;
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
    bool body_follows = conn->plan.body_bytes || conn->plan.chunked;
    return write_reply(conn, &reply) || !body_follows ? -1 : discard_rest(conn);
}

/* ---- Callbacks --------------------------------------------------------------------------------
 * They return what libwebsockets wants: 0 to go on, -1 to close. */

/* First word of every request. A DELETE for core is taken here, because only so does the
 * connection stay in a state in which libwebsockets reads and notices that the client leaves (K2);
 * all others go on to on_head. */
static int on_access(struct conn *conn, void *in, size_t len)
{
    struct lws_process_html_args *args = in;
    (void)len;
    if (conn->phase != RESTING) {
        /* a second request while the first is under way (rule 6) */
        args->final = 1;
        kill_conn(conn);
        return 0;
    }
    read_head(conn->fence, conn->wsi);
    if (conn->fence->seen.method != HTTP_DELETE)
        return 0;
    int err = head_judge(conn->fence->config, conn->address, &conn->fence->seen, &conn->plan);
    if (err < 0)
        return 0; /* on_head finds the same */
    if (make_call(conn) < 0) {
        args->final = 1;
        kill_conn(conn);
        return 0;
    }
    args->final = 1;
    conn->last = true; /* every reply but those to POST ends with the connection (rule 7) */
    lws_set_timeout(conn->wsi, NO_PENDING_TIMEOUT, 0);
    run_call(conn);
    return 0;
}

static int on_head(struct conn *conn, void *in, size_t len)
{
    struct fence *fence = conn->fence;
    (void)in;
    (void)len;
    if (conn->phase != RESTING)
        return -1;
    int err = head_judge(fence->config, conn->address, &fence->seen, &conn->plan);
    if (err < 0)
        return refuse(conn, err, is_body_read(&fence->seen));
    if (conn->plan.preflight)
        return answer_preflight(conn);
    conn->phase = BODY;
    conn->last = conn->plan.close || conn->plan.chunked || fence->stopping;
    err = make_call(conn);
    if (err < 0)
        return refuse(conn, err, true);
    wait_in(conn, &fence->body);
    return conn->plan.wants_continue ? send_continue(conn) : 0;
}

static int discard(struct conn *conn, size_t n)
{
    conn->discarded += n;
    return conn->discarded > HTTP_DISCARD_BYTES ? -1 : 0;
}

static int begin_call(struct conn *conn, char *body, size_t n)
{
    memset(body + n, 0, JSON_PADDING_BYTES);
    conn->call->in.body = (struct str){body, (uint32_t)n};
    run_call(conn);
    return 0;
}

static int end_chunked(struct conn *conn)
{
    size_t n = conn->raw.n;
    char *body = arena_alloc(&conn->call->arena, n + JSON_PADDING_BYTES);
    if (!body)
        return refuse(conn, ERR_NO_MEMORY, true);
    if (n)
        memcpy(body, conn->raw.p, n);
    buf_done(&conn->raw);
    return begin_call(conn, body, n);
}

static int take_chunked(struct conn *conn, struct str piece)
{
    uint32_t used = 0;
    int done = chunked_feed(&conn->chunked, piece, &conn->raw, &used);
    if (done < 0)
        return refuse(conn, done, true);
    return done ? end_chunked(conn) : 0;
}

static int on_body(struct conn *conn, void *in, size_t len)
{
    if (conn->phase != BODY)
        return discard(conn, len);
    if (conn->plan.chunked)
        return take_chunked(conn, (struct str){in, (uint32_t)len});
    if (len > conn->plan.body_bytes - conn->body_n)
        return -1; /* more than was announced: a fault of libwebsockets */
    if (len)
        memcpy(conn->body + conn->body_n, in, len);
    conn->body_n += len;
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
        if (conn->plan.chunked || conn->body_n != conn->plan.body_bytes)
            return -1;
        return begin_call(conn, conn->body, conn->body_n);
    case ANSWERED:
        conn->last = true;
        return 0;
    default:
        return -1;
    }
}

static int complete(struct conn *conn)
{
    struct fence *fence = conn->fence;
    /* 0: some connection, perhaps this one, holds unread input (rule 7) */
    if (conn->last || !lws_service_adjust_timeout(fence->context, 1, 0) ||
        lws_http_transaction_completed(conn->wsi))
        return -1;
    lws_set_timeout(conn->wsi, NO_PENDING_TIMEOUT, 0); /* K11 */
    conn->phase = RESTING;
    wait_in(conn, &fence->rest);
    return 0;
}

static int send_answer(struct conn *conn)
{
    struct fence *fence = conn->fence;
    const struct call_answer *answer = &conn->call->out;
    conn->last |= fence->stopping || !lws_service_adjust_timeout(fence->context, 1, 0);
    const struct reply reply = {
        .status = answer->http_status,
        .close = conn->last,
        .allowed_origin = conn->plan.allowed_origin,
        .session_id = answer->session_id,
        .body = buf_str(&answer->body),
    };
    conn->phase = SENDING;
    int failed = write_reply(conn, &reply);
    end_request(conn);
    return failed;
}

static int on_writeable(struct conn *conn, void *in, size_t len)
{
    (void)in;
    (void)len;
    if (conn->phase == ANSWERED) {
        if (send_answer(conn))
            return -1;
        if (lws_partial_buffered(conn->wsi))
            wait_in(conn, &conn->fence->send);
    }
    /* a large reply comes back here when the last of it was sent */
    if (conn->phase == SENDING && !lws_partial_buffered(conn->wsi))
        return complete(conn);
    return 0;
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

static int on_destroy(struct conn *conn, void *in, size_t len)
{
    (void)in;
    (void)len;
    lws_set_opaque_user_data(conn->wsi, NULL);
    free_conn(conn);
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
        {LWS_CALLBACK_CHECK_ACCESS_RIGHTS, on_access},
        {LWS_CALLBACK_HTTP, on_head},
        {LWS_CALLBACK_HTTP_BODY, on_body},
        {LWS_CALLBACK_HTTP_BODY_COMPLETION, on_body_complete},
        {LWS_CALLBACK_HTTP_CONFIRM_UPGRADE, on_upgrade},
        {LWS_CALLBACK_WSI_DESTROY, on_destroy},
    };
    (void)user;
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

static void log_from_lws(int level, const char *line)
{
    int n = (int)strcspn(line, "\n");
    log_line(level & LLL_ERR ? LOG_WARN : LOG_DEBUG, "libwebsockets: %.*s", n, line);
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
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_LIBEV,
        .foreign_loops = loops,
        .max_http_header_data = HTTP_HEADER_BYTES,
        .pt_serv_buf_size = 65536,
        .timeout_secs = 20,
    };
    lws_set_log_level(LLL_ERR | LLL_WARN, log_from_lws);
    fence->context = lws_create_context(&info);
    return fence->context ? 0 : ERR_IO;
}

static int open_vhost(struct fence *fence)
{
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .vhost_name = "tenon",
        .protocols = protocols,
        .mounts = &mount,
        .alpn = "http/1.1", /* K4 */
        .keepalive_timeout = (int)whole_seconds(fence->config->keepalive_ms),
        .timeout_secs_ah_idle = whole_seconds(fence->config->head_deadline_ms),
    };
    fence->vhost = lws_create_vhost(fence->context, &info);
    return fence->vhost ? 0 : ERR_IO;
}

static struct deadline_queue *const *queues(struct fence *fence, struct deadline_queue *ret[])
{
    ret[0] = &fence->head;
    ret[1] = &fence->body;
    ret[2] = &fence->rest;
    ret[3] = &fence->send;
    ret[4] = &fence->linger;
    return ret;
}

static void stop_if_done(struct fence *fence, int64_t now_ms)
{
    if (!fence->stopping)
        return;
    if ((!fence->n_conns && !fence->n_calls) || now_ms >= fence->stop_at_ms)
        loop_stop(fence->loop);
}

static void on_tick(void *ctx)
{
    struct fence *fence = ctx;
    struct deadline_queue *all[N_TIMEOUTS];
    int64_t now_ms = loop_now_ms(fence->loop);
    if (!fence->context)
        return;
    queues(fence, all);
    for (int i = 0; i < N_TIMEOUTS; i++)
        deadline_sweep(all[i], now_ms);
    lws_cancel_service(fence->context); /* K10: makes its late timers run */
    stop_if_done(fence, now_ms);
}

static void set_deadlines(struct fence *fence)
{
    const struct net_config *config = fence->config;
    fence->head = (struct deadline_queue){.after_ms = config->head_deadline_ms};
    fence->body = (struct deadline_queue){.after_ms = config->body_deadline_ms};
    fence->rest = (struct deadline_queue){.after_ms = config->keepalive_ms};
    fence->send = (struct deadline_queue){.after_ms = HTTP_SEND_DEADLINE_MS};
    fence->linger = (struct deadline_queue){.after_ms = HTTP_LINGER_MS};
    struct deadline_queue *all[N_TIMEOUTS];
    queues(fence, all);
    for (int i = 0; i < N_TIMEOUTS; i++)
        all[i]->expired = on_deadline;
}

int fence_open(const struct net_config *config, struct loop *loop, struct core *core,
               struct fence **ret)
{
    struct fence *fence = calloc(1, sizeof *fence);
    if (!fence)
        return ERR_NO_MEMORY;
    *fence = (struct fence){.config = config, .loop = loop, .core = core};
    set_deadlines(fence);
    fence->text = malloc(2 * HTTP_HEADER_BYTES);
    fence->listeners = calloc(config->n_listen, sizeof *fence->listeners);
    int err = fence->text && fence->listeners ? open_context(fence) : ERR_NO_MEMORY;
    if (!err)
        err = open_vhost(fence);
    if (err) {
        fence_close(fence);
        return err;
    }
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
    /* who rests or has not finished a head has nothing to lose */
    deadline_sweep(&fence->rest, INT64_MAX);
    deadline_sweep(&fence->head, INT64_MAX);
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
    buf_done(&fence->out);
    free(fence->listeners);
    free(fence->text);
    fence->closed = true;
    if (!fence->n_calls)
        free(fence);
}

unsigned fence_connections(const struct fence *fence)
{
    return fence->n_conns;
}

unsigned fence_calls(const struct fence *fence)
{
    return fence->n_calls;
}
