/* net/head_scan.h - a strict look at the raw bytes of a request's head (RFC 9112 section 5).
 *
 * libwebsockets keeps the first of two custom headers and joins two known ones, and takes a name
 * with a blank before its colon for a header of that strange name. A proxy in front may see another
 * value in each case, so both are refused: a header that must stand once stands twice, a name that
 * is not a token, a folded line, a control character. Bytes come in any pieces.
 */
#ifndef TENON_NET_HEAD_SCAN_H
#define TENON_NET_HEAD_SCAN_H

#include "base/str.h"

#define HEAD_SCAN_NAME_BYTES 24 /* longer than any name that must stand once */

enum head_scan_state {
    HEAD_SCAN_START, /* before the request line */
    HEAD_SCAN_REQUEST_LINE,
    HEAD_SCAN_NAME,
    HEAD_SCAN_VALUE,
    HEAD_SCAN_LINE_LF, /* behind the CR of a header line */
    HEAD_SCAN_END_LF,
    HEAD_SCAN_DONE,
};

/* Zeroed is ready for the next head. */
struct head_scan {
    enum head_scan_state state;
    bool bad;
    bool has_more; /* bytes came behind the head */
    uint8_t seen;  /* a bit per name that must stand once */
    uint32_t name_n;
    char name[HEAD_SCAN_NAME_BYTES];
};

/* Ignores what comes behind the head. */
void head_scan_feed(struct head_scan *scan, struct str in);
/* The whole head has come, and nothing was wrong. */
bool head_scan_is_good(const struct head_scan *scan);
/* An Authorization header came, whatever it holds. */
bool head_scan_is_authorized(const struct head_scan *scan);

#endif
