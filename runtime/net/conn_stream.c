/* net/conn_stream.c - see conn_stream.h. */
#include "net/conn_stream.h"

#include "base/limits.h"
#include "net/conn_access.h"
#include "net/loop.h"
#include "net/reply.h"

#include <libwebsockets.h>
#include <linux/sockios.h>
#include <linux/tcp.h> /* for tcpi_bytes_acked */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Of one write; libwebsockets sends a little more at a time and copies the rest. */
#define PIECE_BYTES (60u << 10)

static struct tcp_info tcp_info_of(const struct conn *conn)
{
    struct tcp_info info = {0};
    socklen_t n = sizeof info;
    getsockopt(lws_get_socket_fd(conn->wsi), IPPROTO_TCP, TCP_INFO, &info, &n);
    return info;
}

/* ---- What core sends --------------------------------------------------------------------------*/

static void ask_to_write(struct conn_stream *s)
{
    if (!s->is_asked)
        lws_callback_on_writable(s->conn->wsi);
    s->is_asked = true;
}

/* What libwebsockets still has of the last piece counts too; it is rarely less than all. */
static void count_unsent(struct conn_stream *s, size_t lws_bytes)
{
    struct share *share = &s->conn->unsent;
    share_return(share);
    share_add(share, event_stream_unsent(&s->events) + lws_bytes);
}

static void added(struct conn_stream *s)
{
    if (event_stream_is_broken(&s->events)) {
        conn_kill(s->conn);
        return;
    }
    count_unsent(s, lws_partial_buffered(s->conn->wsi) ? PIECE_BYTES : 0);
    ask_to_write(s);
}

static bool send_event(struct sink *sink, struct str id, struct str message)
{
    struct conn_stream *s = (struct conn_stream *)sink;
    if (s->conn->phase != STREAMING)
        return false;
    bool more = event_stream_add(&s->events, id, message);
    added(s);
    return more;
}

static void end(struct conn_stream *s)
{
    s->ended = true;
    exchange_part(&s->conn->exchange);
    event_stream_add_end(&s->events);
    if (s->conn->phase == STREAMING)
        added(s);
}

static void end_sink(struct sink *sink)
{
    end((struct conn_stream *)sink);
}

/* A reset empties the queue of the socket too, but then it has no peer any more. */
static bool is_taken(struct sink *sink)
{
    const struct conn_stream *s = (const struct conn_stream *)sink;
    struct sockaddr_storage peer;
    socklen_t n = sizeof peer;
    int fd = lws_get_socket_fd(s->conn->wsi), queued = -1;
    if (s->conn->phase != STREAMING || event_stream_unsent(&s->events) ||
        lws_partial_buffered(s->conn->wsi) || ioctl(fd, SIOCOUTQ, &queued) < 0 || queued)
        return false;
    return getpeername(fd, (struct sockaddr *)&peer, &n) == 0;
}

/* ---- Begin and end ----------------------------------------------------------------------------*/

static void add_head(struct conn_stream *s)
{
    struct buf head = {0};
    reply_write_stream_head(&head, s->conn->plan.allowed_origin, s->events.is_chunked);
    event_stream_add_head(&s->events, buf_str(&head));
    s->events.bytes.failed |= head.failed;
    buf_done(&head);
    if (s->listens)
        event_stream_add_comment(&s->events);
}

/* A call that runs while the server stops may still speak; nobody new may listen. */
static bool may_open(const struct conn *conn)
{
    bool listens = conn->exchange.call->in.verb == CALL_GET;
    return conn->phase == RUNNING && !(listens && conn->fence->stopping);
}

struct sink *conn_stream_open(struct exchange *exchange)
{
    static const struct sink_ops ops = {send_event, end_sink, is_taken};
    struct conn *conn = (struct conn *)((char *)exchange - offsetof(struct conn, exchange));
    struct fence *fence = conn->fence;
    struct conn_stream *s = may_open(conn) ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    s->sink.ops = &ops;
    s->conn = conn;
    s->listens = conn->exchange.call->in.verb == CALL_GET;
    s->events.is_chunked = !conn->plan.http10;
    s->is_new = true;
    conn->stream = s;
    conn->last |= conn->plan.http10;
    conn->phase = STREAMING;
    add_head(s);
    deadline_set(&fence->waits[WAIT_BEAT], &s->beat, loop_now_ms(fence->loop));
    added(s);
    return &s->sink;
}

void conn_stream_free(struct conn *conn)
{
    struct conn_stream *s = conn->stream;
    if (!s)
        return;
    conn->stream = NULL;
    if (!s->ended && s->sink.lost)
        s->sink.lost(&s->sink);
    deadline_clear(&s->beat);
    deadline_clear(&conn->deadline);
    event_stream_done(&s->events);
    share_return(&conn->unsent);
    free(s);
}

void conn_stream_stop_listening(struct fence *fence)
{
    for (struct deadline *d = fence->waits[WAIT_BEAT].first; d; d = d->next) {
        struct conn_stream *s =
            (struct conn_stream *)((char *)d - offsetof(struct conn_stream, beat));
        if (!s->listens || s->ended)
            continue;
        if (s->sink.lost)
            s->sink.lost(&s->sink);
        end(s);
    }
}

/* ---- Writing ----------------------------------------------------------------------------------*/

/* Its headers were read; without this each stream would hold the memory for them. */
static void forget_head(struct conn_stream *s)
{
    if (s->is_new)
        lws_http_headers_detach(s->conn->wsi);
    s->is_new = false;
}

/* How much of what waits, or -1. */
static int write_piece(struct conn_stream *s)
{
    struct str piece = event_stream_next(&s->events, PIECE_BYTES);
    if (conn_write_bytes(s->conn, piece) < 0)
        return -1;
    event_stream_take(&s->events, piece.n);
    return (int)piece.n;
}

static void watch_reader(struct conn *conn, bool is_behind)
{
    if (!is_behind) {
        deadline_clear(&conn->deadline);
    } else if (!conn->deadline.queue) {
        conn->acked = tcp_info_of(conn).tcpi_bytes_acked;
        conn_wait_for(conn, WAIT_READER);
    }
}

int conn_stream_write(struct conn *conn)
{
    struct conn_stream *s = conn->stream;
    int written = 0;
    s->is_asked = false;
    if (event_stream_unsent(&s->events) && !lws_partial_buffered(conn->wsi))
        written = write_piece(s);
    if (written < 0)
        return -1;
    forget_head(s);
    bool is_partial = lws_partial_buffered(conn->wsi);
    count_unsent(s, is_partial ? PIECE_BYTES : 0);
    if (event_stream_drained(&s->events) && !s->ended && s->sink.ready)
        s->sink.ready(&s->sink);
    bool is_behind = is_partial || event_stream_unsent(&s->events);
    watch_reader(conn, is_behind);
    if (is_behind)
        ask_to_write(s);
    return !is_behind && s->ended;
}

void conn_stream_hurry(struct conn *conn)
{
    struct conn_stream *s = conn->stream;
    while (s->ended && event_stream_unsent(&s->events) && write_piece(s) > 0)
        continue;
}

/* ---- Deadlines --------------------------------------------------------------------------------*/

/* Nothing has come from it since the beat before the last, and with every beat something was sent,
 * or waited to be. Who only reads slowly answers the probes of TCP, and so do live peers. */
static bool is_dead(const struct conn *conn)
{
    struct tcp_info info = tcp_info_of(conn);
    return info.tcpi_unacked && info.tcpi_last_ack_recv > conn->fence->config->heartbeat_ms * 3 / 2;
}

static void on_beat(struct deadline *beat)
{
    struct conn_stream *s =
        (struct conn_stream *)((char *)beat - offsetof(struct conn_stream, beat));
    struct conn *conn = s->conn;
    deadline_set(&conn->fence->waits[WAIT_BEAT], beat, loop_now_ms(conn->fence->loop));
    if (conn->phase != STREAMING)
        return;
    if (is_dead(conn) || conn_is_expired(conn)) {
        conn_kill(conn);
    } else if (!s->ended && !event_stream_unsent(&s->events)) {
        event_stream_add_comment(&s->events);
        added(s);
    }
}

static void on_reader_deadline(struct deadline *deadline)
{
    struct conn *conn = (struct conn *)deadline;
    uint64_t acked = tcp_info_of(conn).tcpi_bytes_acked;
    if (acked <= conn->acked) {
        conn_kill(conn);
        return;
    }
    conn->acked = acked;
    conn_wait_for(conn, WAIT_READER);
}

void conn_stream_set_deadlines(struct fence *fence)
{
    fence->waits[WAIT_READER] = (struct deadline_queue){.after_ms = fence->config->send_stall_ms,
                                                        .expired = on_reader_deadline};
    fence->waits[WAIT_BEAT] =
        (struct deadline_queue){.after_ms = fence->config->heartbeat_ms, .expired = on_beat};
}
