/* core/mail.h - what one worker has to tell another: letters in the store, and a wake.
 *
 * A letter is one JSON object of a kind; each kind has one function that takes it, in the one table
 * of mail.c. Letters to oneself are taken in the same turn without the store. Those to a worker
 * that died are thrown away: only what a worker holds in memory is worth a letter. Loop only.
 */
#ifndef TENON_CORE_MAIL_H
#define TENON_CORE_MAIL_H

#include "base/str.h"
#include "core/bus.h"
#include "core/store.h"

struct core;
struct tape_node;

/* What takes a letter: named after its kind, in the header of who does it. `letter` is borrowed. */
typedef void (*mail_fn)(struct core *core, struct worker_id from, const struct tape_node *letter);

enum mail_kind {
    MAIL_ANSWER,   /* a client's answer to a request of ours: core/pending.h */
    MAIL_CANCEL,   /* of a call, by session and id: core/running.h */
    MAIL_ENDED,    /* a session ended: core/running.h, pending.h, stream.h */
    MAIL_RELEASE,  /* somebody else reads this stream from now on: core/stream.h */
    MAIL_RELEASED, /* the answer to it */
    MAIL_PUSH,     /* messages wait for a session whose stream is there: core/push.h */
    MAIL_FOLLOW,   /* the session's subscriptions are others now: core/follow.h */
    MAIL_KINDS,
};

/* Of a worker. */
struct mail {
    struct store_write deletion; /* first */
    struct store_op deletion_op;
    bool is_deleting;
    struct core *core;
    uint64_t taken_seq, deleted_seq; /* of the last letter that was; their numbers only rise */
};

/* `body`: the members of a JSON object without the braces ("\"a\":1"), copied. `then` (may be
 * NULL) is called on the loop once the letter is committed, or with an error: ERR_LOST if that
 * worker is dead, ERR_LIMIT, ERR_NO_MEMORY, what the store says. It is called before this returns
 * if there is nothing to wait for: the letter is to oneself (and was taken), or was not written. */
typedef void (*mail_then_fn)(void *ctx, int err);
void mail_send(struct core *core, struct worker_id to, enum mail_kind kind, struct str body,
               mail_then_fn then, void *ctx);
/* To every other worker that has one of these flags (core/bus.h), in one commit. */
void mail_send_all(struct core *core, uint32_t flags, enum mail_kind kind, struct str body,
                   mail_then_fn then, void *ctx);
/* Takes what has come. After a wake. */
void mail_take(struct core *core);

#endif
