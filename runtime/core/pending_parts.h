/* core/pending_parts.h - a request of ours that waits; between pending.c and pending_check.c. */
#ifndef TENON_CORE_PENDING_PARTS_H
#define TENON_CORE_PENDING_PARTS_H

#include "core/pending.h"
#include "core/session.h"
#include "schema/json_schema.h"

#define PENDING_ID_BYTES 48 /* "slot.epoch.random", quoted */

struct pending {
    struct pending *next; /* of its bucket */
    struct arena arena;
    struct str session;
    uint32_t hash;             /* of it: it is counted by that */
    char id[PENDING_ID_BYTES]; /* raw JSON */
    uint64_t serial;
    int64_t until_ms;
    struct call *call; /* NULL: asked outside a call */
    const struct mcp_method_row *row;
    const struct json_schema *schema; /* what the content of an answer has to fit, or NULL */
    void (*done)(void *ctx, const struct pending_answer *answer);
    void *ctx;
};

/* May this be asked of the session's client? Sets p->row and p->schema, and appends the params as
 * the session's revision writes them. 0, ERR_CAPABILITY, ERR_PARAMS, ERR_NO_MEMORY. */
int pending_check_ask(struct pending *p, const struct session *session,
                      const struct pending_ask *ask, struct buf *out);
/* Fills the answer from the client's result, into the arena. */
void pending_read_result(const struct pending *p, struct str result, struct arena *arena,
                         struct pending_answer *ret);
/* Likewise from its error. */
void pending_read_error(struct str error, struct arena *arena, struct pending_answer *ret);

#endif
