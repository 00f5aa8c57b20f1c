/* net/exchange.h - one request of an HTTP connection as a call of core: body in, answer out.
 *
 * Part of its connection, which it may lose: when the client goes away while core works, the call
 * goes on as an orphan and is freed when core finishes it, even after the server has closed. Knows
 * nothing of libwebsockets.
 */
#ifndef TENON_NET_EXCHANGE_H
#define TENON_NET_EXCHANGE_H

#include "net/budget.h"
#include "net/chunked.h"
#include "net/head.h"

struct exchange;

/* All calls of a worker that came by HTTP. */
struct calls {
    struct core *core;
    size_t body_limit;
    struct budget budget;                                 /* of bodies and unsent replies */
    void (*answered)(struct exchange *exchange);          /* core has finished its call */
    struct sink *(*open_sink)(struct exchange *exchange); /* NULL: it cannot */
    unsigned n_running;                                   /* orphans too */
    bool closed;                                          /* goes away with the last orphan */
};

/* NULL: no memory. */
struct calls *calls_new(struct core *core, size_t body_limit, size_t bytes_max,
                        void (*answered)(struct exchange *exchange),
                        struct sink *(*open_sink)(struct exchange *exchange));
void calls_close(struct calls *calls);

/* Who comes in with a call. */
struct entry {
    struct access *access; /* a reference, or NULL if it is found later */
    bool is_later;
    struct credential credential; /* borrowed from the head */
    struct str client;            /* where he comes from; borrowed as well */
};

/* Zeroed but for `calls` is ready. */
struct exchange {
    struct calls *calls;
    struct call *call; /* NULL: none */
    bool running;      /* core has it */
    bool is_chunked;
    struct chunked chunked;
    struct buf raw; /* a chunked body so far */
    char *body;     /* in the call's arena, when the length is known */
    size_t body_n, body_bytes;
    struct str allowed_origin;    /* of the plan, copied */
    bool is_later;                /* access_wait comes before core_handle */
    struct credential credential; /* then: in the call's arena, wiped at the end */
};

/* Makes the call from an accepted head, and takes the access. 0, ERR_BUSY (no budget left), or
 * ERR_NO_MEMORY. */
int exchange_begin(struct exchange *x, const struct http_head *head, const struct http_plan *plan,
                   struct entry *entry);
/* A piece of the body. 0: go on; 1: a chunked body is complete; ERR_BAD_FRAMING, ERR_TOO_LARGE,
 * ERR_BUSY, ERR_NO_MEMORY. */
int exchange_body(struct exchange *x, struct str piece);
/* A body of known length has come completely. */
bool exchange_is_whole(const struct exchange *x);
/* Hands the call to core, which may answer before this returns. When the budget is used up by
 * replies, it is answered as busy instead. */
void exchange_run(struct exchange *x);
/* Leaves the call to core: what it says has gone another way, as a stream that is over. */
void exchange_part(struct exchange *x);
/* Frees the call, or leaves it to core as an orphan; ready for the next. */
void exchange_end(struct exchange *x);

#endif
