/* net/conn.h - one HTTP connection: its phases, what it waits for, what it writes.
 *
 * A connection goes round these phases; the arrows are the callbacks that move it:
 *
 *   RESTING -head-> BODY -complete-> RUNNING -finish-> ANSWERED -writeable-> SENDING -> RESTING
 *      |              |             |                                      ^
 *      |              |             +----------open_sink----> STREAMING ---+
 *      +---refused----+--> DISCARDING -> closed
 *
 * A refused request is answered at once and its connection closed, but what the client still sends
 * is read and dropped for a while: closing with unread data would send a reset that can overtake
 * the answer.
 *
 * Part of the fence: only fence.c, which holds the callbacks and every trap, uses it.
 */
#ifndef TENON_NET_CONN_H
#define TENON_NET_CONN_H

#include "net/client.h"
#include "net/deadline.h"
#include "net/exchange.h"
#include "net/head_read.h"
#include "net/head_scan.h"
#include "net/tls.h"

struct conn_stream;
struct reply;

/* What a connection waits for: one queue of deadlines each. */
enum wait {
    WAIT_HEAD,
    WAIT_BODY,
    WAIT_REST,
    WAIT_SEND,
    WAIT_LINGER,
    WAIT_SETTLE,
    WAIT_READER, /* of a stream; both are set by conn_stream.c */
    WAIT_BEAT,
    N_WAITS
};

enum phase { RESTING, BODY, RUNNING, ANSWERED, STREAMING, SENDING, DISCARDING, CUT };

struct conn {
    struct deadline deadline; /* first: see on_deadline */
    struct exchange exchange;
    struct fence *fence;
    struct lws *wsi;
    int fd;
    const struct net_address *address;
    char client[CLIENT_BYTES]; /* whose address; "": not asked for yet */
    struct head_scan scan;     /* of the head that comes or came last */
    enum phase phase;
    bool last;                  /* closes after this reply */
    struct conn_stream *stream; /* while STREAMING */
    struct http_plan plan;
    int verdict;     /* of the head: 0, or the error to refuse with */
    const char *why; /* then: what access_identify says */
    struct entry entry;
    int64_t until_ms; /* wall time that the certificate of the client is good; 0: it has none */
    size_t discarded;
    struct share unsent; /* of a reply that the reader has not taken yet */
    int64_t send_until_ms;
    uint64_t acked; /* bytes that the reader had taken at the last look */
};

struct fence {
    const struct net_config *config;
    struct tls *tls;      /* NULL: plain HTTP */
    struct tls_peer peer; /* of the request being judged: what its certificate names */
    struct loop *loop;
    struct calls *calls;
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct listener **listeners;
    struct deadline_queue waits[N_WAITS];
    unsigned n_conns, n_listeners;
    bool stopping;
    int64_t stop_at_ms;
    int64_t quiet_until_ms;    /* about too many connections */
    struct head_reader reader; /* its head: of the request being judged */
    struct buf out;            /* the reply being written, behind LWS_PRE */
};

void conn_set_deadlines(struct fence *fence);
/* Any deadline takes the place of the one before. */
void conn_wait_for(struct conn *conn, enum wait wait);
void conn_wait_for_reader(struct conn *conn);
void conn_kill(struct conn *conn);
void conn_free(struct conn *conn);
/* `fd` is one connection too many. */
void conn_turn_away(struct fence *fence, int fd);

/* These return what libwebsockets wants: 0 to go on, -1 to close. */
int conn_write(struct conn *conn, const struct reply *reply);
int conn_write_bytes(struct conn *conn, struct str bytes); /* of a stream */
int conn_send_continue(struct conn *conn);
int conn_discard_rest(struct conn *conn);
int conn_refuse(struct conn *conn, int err, bool body_follows);

/* From an accepted head; 0 or an error to refuse with. */
int conn_begin(struct conn *conn);
void conn_run(struct conn *conn);
void conn_answered(struct exchange *exchange);

#endif
