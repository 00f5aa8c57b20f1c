/* net/conn_access.h - who sends the request of a connection, and what one is told who may not.
 *
 * Part of the fence, like net/conn.h.
 */
#ifndef TENON_NET_CONN_ACCESS_H
#define TENON_NET_CONN_ACCESS_H

#include "net/conn.h"
#include "net/reply.h"

/* Judges the whole head: conn->verdict, conn->plan and conn->entry. */
void conn_judge(struct conn *conn);
/* The certificate that its client has shown is no good any more. */
bool conn_is_expired(const struct conn *conn);
/* Once a call has it, or none will. */
void conn_forget_entry(struct conn *conn);

/* What belongs to an answer with this error: NULL, or *room filled. `why` as access_identify says;
 * of another error it is ignored. */
const struct challenge *conn_challenge(const struct conn *conn, int err, const char *why,
                                       struct challenge *room);

#endif
