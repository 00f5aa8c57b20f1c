/* core/audit.h - who called which tool with what, and how it ended: one line of JSON per call.
 *
 *   {"time":"2026-01-31T23:59:59.123Z","category":"mcp.audit","profile":"application",
 *    "sessionId":"01a2b3c4...","user":"ann","tool":"get_cities","args":{"id":"7"},
 *    "status":"ok","durationMs":0.214}
 *
 * status: ok, isError, rate_limited, quota_exceeded, protocol_error, cancelled; and unauthorized
 * for a request that was refused before it was read (then there is no tool). errorMessage says why
 * a call was refused; what a tool itself says is not shown, since it may repeat its arguments.
 *
 * What is secret is not shown (acceptance REFERENCE a.13): values of names that hold secret,
 * password, token, api-key (apikey, api_key), credential or auth in any case, or that are value,
 * values or envelope; what lies deeper than AUDIT_DEPTH_MAX; and every text that holds what looks
 * like a token. A line is one line, whatever a client sends: ASCII controls, U+2028, U+2029 and
 * bytes that are no UTF-8 are escaped. It has at most AUDIT_LINE_BYTES; only arguments are cut.
 *
 * Core writes lines to a port, which must not wait. Whatever happens to a line, the call does not
 * see it. Loop only.
 */
#ifndef TENON_CORE_AUDIT_H
#define TENON_CORE_AUDIT_H

#include "base/clock.h"
#include "base/str.h"

struct call;
struct core;

/* The port; main implements it (audit_file.h). */
struct audit {
    /* Takes a copy of a line (its newline is the last byte). Returns how many lines were lost
     * since it was last asked, this one included. Does not wait. */
    uint32_t (*write)(struct audit *audit, struct str line);
    /* Core's own: refusals of this second, so that a flood of them does not fill the disk. */
    int64_t second;
    uint32_t n_refused, n_untold;
    int64_t text_second; /* of wall time, of which this is the text */
    char text[CLOCK_TEXT_BYTES];
};

/* The call has its answer, or none because it was cancelled: a line, if it is a tools/call. */
void audit_call(struct call *call);
/* A request was refused by its head: 401 or 403. `why` is for the client anyway; NULL: no more than
 * err says. At most AUDIT_REFUSALS_PER_S are told; how many were left out, the next one says. Also
 * counted in the metrics. */
void audit_refused(struct core *core, int err, const char *why);

/* ---- Pieces, for audit*.c and tests --------------------------------------------------------- */

/* JSON text as a client sent it (checked, or not), redacted, in about `room` bytes. */
void audit_write_args(struct buf *out, struct str json, size_t room);
/* Text as a JSON string of at most about max bytes, without tokens. */
void audit_write_text(struct buf *out, struct str text, size_t max);
bool audit_is_secret(struct str name); /* of a member */
/* Hands over a line whose time and category audit_begin_line wrote. */
void audit_begin_line(struct audit *audit, struct buf *line);
void audit_end_line(struct core *core, struct buf *line);

#endif
