/* net/reply.c - see reply.h. */
#include "net/reply.h"

#include "base/err.h"

static const struct {
    int status;
    struct str line;
} status_lines[] = {
    {200, STR_INIT("HTTP/1.1 200 OK\r\n")},
    {202, STR_INIT("HTTP/1.1 202 Accepted\r\n")},
    {204, STR_INIT("HTTP/1.1 204 No Content\r\n")},
    {400, STR_INIT("HTTP/1.1 400 Bad Request\r\n")},
    {401, STR_INIT("HTTP/1.1 401 Unauthorized\r\n")},
    {403, STR_INIT("HTTP/1.1 403 Forbidden\r\n")},
    {404, STR_INIT("HTTP/1.1 404 Not Found\r\n")},
    {405, STR_INIT("HTTP/1.1 405 Method Not Allowed\r\n")},
    {406, STR_INIT("HTTP/1.1 406 Not Acceptable\r\n")},
    {409, STR_INIT("HTTP/1.1 409 Conflict\r\n")},
    {411, STR_INIT("HTTP/1.1 411 Length Required\r\n")},
    {413, STR_INIT("HTTP/1.1 413 Content Too Large\r\n")},
    {415, STR_INIT("HTTP/1.1 415 Unsupported Media Type\r\n")},
    {429, STR_INIT("HTTP/1.1 429 Too Many Requests\r\n")},
    {503, STR_INIT("HTTP/1.1 503 Service Unavailable\r\n")},
    {500, STR_INIT("HTTP/1.1 500 Internal Server Error\r\n")}, /* last: for any other */
};
#define N_STATUS_LINES (sizeof status_lines / sizeof *status_lines)

static struct str status_line(int status)
{
    size_t i = 0;
    while (i < N_STATUS_LINES - 1 && status_lines[i].status != status)
        i++;
    return status_lines[i].line;
}

static void write_cors(struct buf *out, const struct reply *reply)
{
    buf_add_lit(out, "Access-Control-Allow-Origin: ");
    buf_add_str(out, reply->allowed_origin);
    buf_add_lit(out, "\r\nAccess-Control-Expose-Headers: Mcp-Session-Id, "
                     "WWW-Authenticate, Retry-After\r\nVary: Origin\r\n");
    if (reply->preflight)
        buf_add_lit(out, "Access-Control-Allow-Methods: GET, POST, DELETE, OPTIONS\r\n"
                         "Access-Control-Allow-Headers: content-type, accept, authorization, "
                         "mcp-session-id, mcp-protocol-version, last-event-id\r\n"
                         "Access-Control-Max-Age: 600\r\n");
}

static void write_text_header(struct buf *out, const char *name, struct str value)
{
    buf_add_str(out, str_of(name));
    buf_add_lit(out, ": ");
    buf_add_str(out, value);
    buf_add_lit(out, "\r\n");
}

/* A quoted-string: what cannot stand in one is left out. */
static void write_parameter(struct buf *out, const char *name, const char *value, char *separator)
{
    if (!value)
        return;
    if (*separator)
        buf_add_char(out, *separator);
    *separator = ',';
    buf_add_char(out, ' ');
    buf_add_str(out, str_of(name));
    buf_add_lit(out, "=\"");
    for (; *value; value++)
        if (*value >= ' ' && *value < 127 && *value != '"' && *value != '\\')
            buf_add_char(out, *value);
    buf_add_char(out, '"');
}

static void write_challenge(struct buf *out, const struct challenge *challenge)
{
    char separator = 0;
    buf_add_lit(out, "WWW-Authenticate: Bearer");
    write_parameter(out, "error", challenge->error, &separator);
    write_parameter(out, "error_description", challenge->description, &separator);
    write_parameter(out, "scope", challenge->scope, &separator);
    write_parameter(out, "resource_metadata", challenge->metadata_url, &separator);
    buf_add_lit(out, "\r\n");
}

static void write_retry_after(struct buf *out, uint32_t s)
{
    buf_add_lit(out, "Retry-After: ");
    buf_add_u64(out, s ? s : 1);
    buf_add_lit(out, "\r\n");
}

void reply_write(struct buf *out, const struct reply *reply)
{
    buf_add_str(out, status_line(reply->status));
    if (reply->body.n)
        buf_add_lit(out, "Content-Type: application/json\r\n");
    if (reply->status != 204) {
        buf_add_lit(out, "Content-Length: ");
        buf_add_u64(out, reply->body.n);
        buf_add_lit(out, "\r\n");
    }
    if (reply->session_id.p)
        write_text_header(out, "Mcp-Session-Id", reply->session_id);
    if (reply->allow)
        write_text_header(out, "Allow", str_of(reply->allow));
    if (reply->allowed_origin.p)
        write_cors(out, reply);
    if (reply->challenge)
        write_challenge(out, reply->challenge);
    if (reply->status == 429 || reply->status == 503)
        write_retry_after(out, reply->retry_after_s);
    if (reply->close)
        buf_add_lit(out, "Connection: close\r\n");
    buf_add_lit(out, "\r\n");
    if (!reply->head_only)
        buf_add_str(out, reply->body);
}

/* No proxy may keep it back (T-20). */
void reply_write_stream_head(struct buf *out, struct str allowed_origin, bool is_chunked)
{
    buf_add_str(out, status_line(200));
    buf_add_lit(out, "Content-Type: text/event-stream\r\n"
                     "Cache-Control: no-store\r\n"
                     "X-Accel-Buffering: no\r\n");
    if (is_chunked)
        buf_add_lit(out, "Transfer-Encoding: chunked\r\n");
    else
        buf_add_lit(out, "Connection: close\r\n");
    if (allowed_origin.p)
        write_cors(out, &(struct reply){.allowed_origin = allowed_origin});
    buf_add_lit(out, "\r\n");
}

void reply_write_error(struct buf *out, int err)
{
    buf_add_lit(out, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":");
    buf_add_i64(out, err_rpc_code(err));
    buf_add_lit(out, ",\"message\":\"");
    buf_add_str(out, str_of(err_text(err)));
    buf_add_lit(out, "\"}}");
}
