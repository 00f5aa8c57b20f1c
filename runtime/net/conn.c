/* net/conn.c - see conn.h. */
#include "net/conn.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/audit.h"
#include "net/conn_access.h"
#include "net/conn_stream.h"
#include "net/loop.h"
#include "net/received.h"
#include "net/reply.h"
#include "net/tls.h"

#include <libwebsockets.h>
#include <linux/tcp.h> /* for tcpi_bytes_acked */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUT_KEPT_BYTES (256u << 10) /* of the write buffer between replies */
#define FULL_SAID_MS   10000        /* between two lines in the log */

/* ---- Deadlines --------------------------------------------------------------------------------*/

void conn_wait_for(struct conn *conn, enum wait wait)
{
    deadline_set(&conn->fence->waits[wait], &conn->deadline, loop_now_ms(conn->fence->loop));
}

/* Takes effect at the next tick; but a piece of body that comes before sets their timer anew and
 * undoes it, hence the phase, in which every callback closes. */
void conn_kill(struct conn *conn)
{
    conn->phase = CUT;
    lws_set_timeout(conn->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

static void on_deadline(struct deadline *deadline)
{
    conn_kill((struct conn *)deadline);
}

void conn_wait_for_reader(struct conn *conn)
{
    conn->send_until_ms = loop_now_ms(conn->fence->loop) + conn->fence->config->send_max_ms;
    conn_wait_for(conn, WAIT_SEND);
}

/* A reader may be slow, but not asleep, and not slow for ever. */
static void on_send_deadline(struct deadline *deadline)
{
    struct conn *conn = (struct conn *)deadline;
    struct tcp_info info = {0};
    socklen_t n = sizeof info;
    getsockopt(lws_get_socket_fd(conn->wsi), IPPROTO_TCP, TCP_INFO, &info, &n);
    if (info.tcpi_bytes_acked <= conn->acked ||
        loop_now_ms(conn->fence->loop) >= conn->send_until_ms) {
        conn_kill(conn);
        return;
    }
    conn->acked = info.tcpi_bytes_acked;
    conn_wait_for(conn, WAIT_SEND);
}

void conn_set_deadlines(struct fence *fence)
{
    const struct net_config *config = fence->config;
    const int64_t after_ms[N_WAITS] = {
        [WAIT_HEAD] = config->head_deadline_ms, [WAIT_BODY] = config->body_deadline_ms,
        [WAIT_REST] = config->keepalive_ms,     [WAIT_SEND] = config->send_stall_ms,
        [WAIT_LINGER] = HTTP_LINGER_MS,
    };
    for (int i = 0; i < N_WAITS; i++)
        fence->waits[i] = (struct deadline_queue){.after_ms = after_ms[i], .expired = on_deadline};
    fence->waits[WAIT_SEND].expired = on_send_deadline;
    conn_stream_set_deadlines(fence);
}

/* ---- Begin and end ----------------------------------------------------------------------------*/

/* True at most once in FULL_SAID_MS. */
static bool is_full_news(struct fence *fence)
{
    int64_t now_ms = loop_now_ms(fence->loop);
    if (now_ms < fence->quiet_until_ms)
        return false;
    fence->quiet_until_ms = now_ms + FULL_SAID_MS;
    return true;
}

/* One more than CONNS_MAX gets its 503 at once, without a connection of ours: those that are served
 * stay served, the client knows, and its next try may meet another worker. Leaving it in the
 * backlog instead would let it wait for nobody knows whom. What it has sent already is read first,
 * since closing over it would send a reset that can overtake the answer. */
void conn_turn_away(struct fence *fence, int fd)
{
    struct buf body = {0}, reply = {0};
    char dropped[4096];
    if (is_full_news(fence))
        log_warn("%u connections are open: more are turned away", fence->n_conns);
    if (fence->tls) { /* it could not be read before a handshake, which is what costs most */
        close(fd);
        return;
    }
    reply_write_error(&body, ERR_BUSY);
    reply_write(&reply, &(struct reply){.status = 503, .close = true, .body = buf_str(&body)});
    if (!body.failed && !reply.failed && send(fd, reply.p, reply.n, MSG_NOSIGNAL) > 0)
        for (int i = 0; i < 4 && recv(fd, dropped, sizeof dropped, 0) > 0; i++)
            continue;
    buf_done(&body);
    buf_done(&reply);
    close(fd);
}

void conn_free(struct conn *conn)
{
    exchange_end(&conn->exchange);
    conn_forget_entry(conn);
    conn_stream_free(conn);
    share_return(&conn->unsent);
    deadline_clear(&conn->deadline);
    received_watch(conn->fd, NULL);
    conn->fence->n_conns--;
    free(conn);
}

/* ---- Writing ----------------------------------------------------------------------------------*/

static struct buf *open_out(struct conn *conn)
{
    struct buf *out = &conn->fence->out;
    out->n = LWS_PRE;
    out->failed = false;
    buf_reserve(out, 512);
    return out;
}

static int send_out(struct conn *conn, enum lws_write_protocol kind)
{
    struct buf *out = &conn->fence->out;
    int n = -1;
    if (!out->failed)
        n = lws_write(conn->wsi, (unsigned char *)out->p + LWS_PRE, out->n - LWS_PRE, kind);
    if (out->cap > OUT_KEPT_BYTES || out->failed)
        buf_done(out);
    return n < 0 ? -1 : 0;
}

int conn_write(struct conn *conn, const struct reply *reply)
{
    reply_write(open_out(conn), reply);
    return send_out(conn, LWS_WRITE_HTTP_HEADERS);
}

int conn_write_bytes(struct conn *conn, struct str bytes)
{
    buf_add_str(open_out(conn), bytes);
    return send_out(conn, LWS_WRITE_HTTP);
}

int conn_send_continue(struct conn *conn)
{
    static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
    unsigned char text[LWS_PRE + sizeof line];
    memcpy(text + LWS_PRE, line, sizeof line);
    int n =
        lws_write(conn->wsi, text + LWS_PRE, sizeof line - 1, LWS_WRITE_HTTP_HEADERS_CONTINUATION);
    return n < 0 ? -1 : 0;
}

/* ---- Refusing: answer, then read and drop what still comes ------------------------------------*/

int conn_discard_rest(struct conn *conn)
{
    conn->phase = DISCARDING;
    conn->discarded = 0;
    conn_wait_for(conn, WAIT_LINGER);
    if (lws_partial_buffered(conn->wsi))
        return 0;
    if (conn->fence->tls)
        SSL_shutdown(lws_get_ssl(conn->wsi)); /* one way: what still comes can be read */
    shutdown(lws_get_socket_fd(conn->wsi), SHUT_WR);
    return 0;
}

int conn_refuse(struct conn *conn, int err, bool body_follows)
{
    struct buf body = {0};
    struct challenge room;
    const struct http_head *head = &conn->fence->reader.head;
    struct reply reply = {
        .status = err_http_status(err),
        .close = true,
        .allowed_origin = conn->plan.allowed_origin,
        .allow = err == ERR_HTTP_METHOD ? conn->plan.allow : NULL,
        .challenge = conn_challenge(conn, err, conn->why, &room),
    };
    if (reply.status == 401 || reply.status == 403)
        audit_refused(conn->fence->calls->core, err, conn->why);
    if (conn->phase == BODY || head->method == HTTP_POST)
        reply_write_error(&body, err);
    reply.body = buf_str(&body);
    int failed = conn_write(conn, &reply);
    buf_done(&body);
    exchange_end(&conn->exchange);
    return failed || !body_follows ? -1 : conn_discard_rest(conn);
}

/* ---- From head to call ------------------------------------------------------------------------*/

void conn_answered(struct exchange *exchange)
{
    struct conn *conn = (struct conn *)((char *)exchange - offsetof(struct conn, exchange));
    if (conn->phase == CUT)
        return;
    conn->phase = ANSWERED;
    lws_callback_on_writable(conn->wsi);
}

int conn_begin(struct conn *conn)
{
    int err = exchange_begin(&conn->exchange, &conn->fence->reader.head, &conn->plan, &conn->entry);
    if (!err) /* the reply needs it after the head is gone */
        conn->plan.allowed_origin = conn->exchange.allowed_origin;
    return err;
}

void conn_run(struct conn *conn)
{
    deadline_clear(&conn->deadline);
    conn->phase = RUNNING;
    conn->discarded = 0;
    exchange_run(&conn->exchange);
}
