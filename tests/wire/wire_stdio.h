/* tests/wire/wire_stdio.h - plays a transcript over the stdio transport.
 *
 *   > {...}        one line to the server's stdin ($-words as in wire_text.h)
 *   < {...}        the next line of its stdout, against a pattern
 *   ! nothing      nothing is written until a ping has been answered
 *   ! eof          closes stdin
 *   ! exits N      the process ends by itself, with this status
 * The server is `tenon stdio` on the data directory of the running one.
 */
#ifndef TENON_TESTS_WIRE_STDIO_H
#define TENON_TESTS_WIRE_STDIO_H

#include "tests/lib/server.h"
#include "tests/wire/wire_play.h"

/* false: p->line and p->why say what went wrong. p->version makes a handshake first. */
bool wire_stdio(struct wire_play *p, struct server *s, char *const *lines, int n);

#endif
