/* tests/wire/wire_play.h - plays the exchanges of one transcript against a running server.
 *
 * Lines of a transcript:
 *   > ...          the request (wire_text.h); + starts a second one in the same write
 *   < 200 {...}    the expected reply: status, then lines that are headers ("Name: pattern",
 * "-Name" for absent) or the body's pattern (match_json.h). No pattern means no body, a lone * any
 * body ! new connection | close | reset | server closes All exchanges of a transcript use one
 * connection; a new one is made only where the server said "Connection: close", or where the
 * transcript says so. Unless asked otherwise a session of its own is made first, whose id is $S.
 *
 * Every reply is also held against what all replies must keep: see enum wire_law.
 */
#ifndef TENON_TESTS_WIRE_PLAY_H
#define TENON_TESTS_WIRE_PLAY_H

#include "base/str.h"
#include "tests/lib/http.h"
#include "tests/lib/match.h"
#include "tests/wire/wire_text.h"

enum wire_law {
    LAW_RPC_2_0,      /* J-01 */
    LAW_XOR,          /* J-08 */
    LAW_ERROR_SHAPE,  /* J-09 */
    LAW_RESULT_SHAPE, /* J-10 */
    LAW_UTF8,         /* J-18 */
    LAW_MEDIA_TYPE,   /* T-10 */
    LAW_ONE_LENGTH,   /* framing: exactly one of Content-Length and Transfer-Encoding */
    N_LAWS,
};

struct wire_law_state {
    int seen; /* replies that it was held against */
    char broken[256];
};

struct wire_play {
    uint16_t port;
    const char *version;         /* of the session to be made; NULL: none is made */
    bool bytes;                  /* send one byte at a time */
    struct wire_law_state *laws; /* N_LAWS of them */
    int line;                    /* of the transcript's first line, then of the one being played */
    char why[1024];              /* of a failure */

    struct http_conn conn;
    struct match_vars vars;
    struct wire_request request;
    struct buf out;
    bool head_only;
    int status;         /* of the expectation being read; 0: none */
    int status_line;    /* where it stands */
    struct buf headers; /* its header lines, each ended by NUL */
    struct buf body;    /* its body pattern */
};

extern const char *const wire_law_names[N_LAWS];

/* The transcript's lines; false: p->line and p->why say what went wrong. */
bool wire_play(struct wire_play *p, char *const *lines, int n);
/* Whether a request is small enough to be sent byte by byte. */
#define WIRE_BYTES_MAX 4096

void wire_judge(struct wire_law_state *laws, const char *json);
bool wire_is_utf8(const char *p, size_t n);

#endif
