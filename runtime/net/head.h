/* net/head.h - judges the head of an HTTP request before its body is read.
 *
 * Knows nothing of libwebsockets: fence.c collects the header values as they were sent, this
 * decides what to do, reply.c writes what that means. The order of checks is the list in head.c:
 * framing, Host, Origin, path, method; then the caller asks who it is (net/conn_access.h), so that
 * nobody else learns more; then what a POST must carry (acceptance REFERENCE a.1). A GET asks for a
 * stream of events and must accept one.
 *
 * Decided here where the specification is silent: an absent or foreign Host is refused as an
 * Origin is (403; 400 if HTTP/1.1 has none); a POST without Content-Type is 415; an
 * Mcp-Session-Id that is empty or not visible ASCII is 400, whatever the method of the message.
 */
#ifndef TENON_NET_HEAD_H
#define TENON_NET_HEAD_H

#include "core/call.h"
#include "net/server.h"

enum http_method {
    HTTP_GET,
    HTTP_POST,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_OTHER, /* PUT, PATCH: never allowed */
    HTTP_HEAD,  /* not allowed either, and its answer has no body */
};

/* Values as sent, trimmed, a zero byte behind each; STR_NONE: no such header. */
struct http_head {
    enum http_method method;
    bool http10;
    bool malformed;  /* net/head_scan.h */
    struct str path; /* decoded, without the query */
    struct str host, origin, accept, content_type, content_length, transfer_encoding, expect;
    struct str connection, session_id, version, last_event;
    struct str authorization; /* "" where it is there and empty */
    bool query_has_token;     /* access_token=... */
};

struct http_plan {
    enum call_profile profile;
    bool accepts_json, accepts_sse;
    bool chunked;
    bool http10;
    uint64_t body_bytes;       /* unless chunked */
    bool wants_continue;       /* Expect: 100-continue */
    bool preflight;            /* answer OPTIONS */
    bool metadata;             /* answer by net_config.metadata (RFC 9728) */
    bool close;                /* no keep-alive after this one */
    struct str allowed_origin; /* to be named in CORS headers; STR_NONE: no CORS headers */
    const char *allow;         /* the Allow header of this server */
};

/* 0: go on by *plan; else the error to answer (err_http_status). *plan is filled as far as the
 * checks came, so that an error reply has its CORS headers too. `listen` is the address that the
 * connection came in by. */
int head_judge(const struct net_config *config, const struct net_address *listen,
               const struct http_head *head, struct http_plan *plan);
/* The rest, for who may enter: not for a preflight, nor for metadata. */
int head_judge_rest(const struct net_config *config, const struct http_head *head,
                    struct http_plan *plan);

#endif
