/* base/err.h - the one list of errors.
 *
 * Every function that can fail returns int: 0 or positive is success, negative is one of these
 * names. The list carries what each layer above needs to answer a client: the JSON-RPC code
 * (JSON-RPC 2.0 section 5.1; MCP 2025-06-18, Resources, Error Handling for -32002) and the HTTP
 * status that goes with it. There is no second list of codes or texts anywhere.
 *
 * X(NAME, rpc code, HTTP status, one short sentence that a client may see)
 */
#ifndef TENON_BASE_ERR_H
#define TENON_BASE_ERR_H

#define ERR_LIST(X)                                                          \
    X(PARSE, -32700, 400, "Parse error")                                     \
    X(REQUEST, -32600, 400, "Invalid request")                               \
    X(METHOD, -32601, 200, "Method not found")                               \
    X(PARAMS, -32602, 200, "Invalid params")                                 \
    X(INTERNAL, -32603, 200, "Internal error")                               \
    X(NOT_FOUND, -32002, 200, "Resource not found")                          \
    X(NO_SESSION, -32600, 400, "Mcp-Session-Id header is required")          \
    X(SESSION_GONE, -32600, 404, "Session not found")                        \
    X(VERSION, -32600, 400, "Unsupported MCP-Protocol-Version")              \
    X(FORBIDDEN, -32600, 403, "Forbidden")                                   \
    X(UNAUTHORIZED, -32600, 401, "Unauthorized")                             \
    X(SCOPE, -32600, 403, "The token lacks a scope")                         \
    X(RATE, -32600, 429, "Too many requests")                                \
    X(QUOTA, -32600, 429, "The quota is used up")                            \
    X(NOT_ACCEPTABLE, -32600, 406, "Not acceptable")                         \
    X(MEDIA_TYPE, -32600, 415, "Content-Type must be application/json")      \
    X(TOO_LARGE, -32600, 413, "Request body is too large")                   \
    X(LENGTH_REQUIRED, -32600, 411, "Content-Length is required")            \
    X(BAD_FRAMING, -32600, 400, "Malformed HTTP request")                    \
    X(NO_ENDPOINT, -32600, 404, "Not found")                                 \
    X(HTTP_METHOD, -32600, 405, "HTTP method not allowed")                   \
    X(EVENT_ID, -32600, 400, "Last-Event-ID names no stream that can go on") \
    X(STREAMS, -32600, 429, "Too many streams of this session")              \
    X(NO_STREAM, -32600, 200, "The client takes no stream")                  \
    X(CAPABILITY, -32600, 200, "The client did not declare the capability")  \
    X(REMOTE, -32603, 200, "The client answered with an error")              \
    X(ANSWER, -32603, 200, "The client's answer is not what was asked for")  \
    X(LOST, -32603, 200, "The worker was lost; the outcome is unknown")      \
    X(OUTPUT, -32603, 200, "The result breaks its outputSchema")             \
    X(BUSY, -32603, 503, "Server is busy")                                   \
    X(SESSIONS, -32603, 503, "Too many sessions")                            \
    X(READERS, -32603, 503, "Too many readers of the database")              \
    X(TIMED_OUT, -32603, 200, "The time limit was exceeded")                 \
    X(CANCELLED, -32600, 200, "Cancelled")                                   \
    X(NO_MEMORY, -32603, 500, "Out of memory")                               \
    X(LIMIT, -32600, 400, "A limit was exceeded")                            \
    X(EXISTS, -32602, 200, "Already exists")                                 \
    X(ABSENT, -32602, 200, "Does not exist")                                 \
    X(CONFLICT, -32602, 200, "Version conflict")                             \
    X(STALE, -32602, 200, "The table was changed meanwhile")                 \
    X(SYNTAX, -32602, 200, "Syntax error")                                   \
    X(STORE_FULL, -32603, 200, "The store is full")                          \
    X(STORE_READ_ONLY, -32603, 200, "The store is read-only")                \
    X(STORE_DAMAGED, -32603, 500, "The store is damaged")                    \
    X(STORE_FORMAT, -32603, 500, "The store has an unknown format")          \
    X(STORE_LOCKED, -32603, 500, "The data directory is in use")             \
    X(IO, -32603, 500, "Input/output error")                                 \
    X(CLOSED, -32603, 500, "Closed")

enum err {
    ERR_OK = 0,
#define ERR_ORDINAL(name, code, status, text) ERR_ORDINAL_##name,
    ERR_FIRST_ORDINAL = 0,
    ERR_LIST(ERR_ORDINAL)
#undef ERR_ORDINAL
#define ERR_VALUE(name, code, status, text) ERR_##name = -ERR_ORDINAL_##name,
        ERR_LIST(ERR_VALUE)
#undef ERR_VALUE
};

/* Each takes any value of the list; a value outside it reads as ERR_INTERNAL. Any thread. */
const char *err_name(int err);
const char *err_text(int err);
int err_rpc_code(int err);
int err_http_status(int err);

#endif
