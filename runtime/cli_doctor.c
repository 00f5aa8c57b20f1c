/* cli_doctor.c - `tenon doctor URL`: is there an MCP server, and does it answer as it should?
 *
 * With --data or --config instead of a URL it looks at a database: cli_doctor_data.c.
 * Walks the life of a session: initialize, notifications/initialized, ping, tools/list, DELETE. One
 * line per step. A server may refuse DELETE with 405, and may answer with an event stream.
 */
#include "base/err.h"
#include "base/limits.h"
#include "base/version.h"
#include "cli_data.h"
#include "cli_http.h"
#include "net/headers.h"
#include "wire/json_write.h"
#include "wire/tape.h"

#include <errno.h>
#include <string.h>

#define PROTOCOL "2025-06-18"

struct visit {
    struct http_url url;
    struct arena arena;
    struct str session_id, version;
    struct str authorization; /* STR_NONE: it shows no token */
    int failed;
};

static void report(struct visit *v, bool good, const char *step, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void report(struct visit *v, bool good, const char *step, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("%-4s  %s: ", good ? "ok" : "FAIL", step);
    vprintf(fmt, args);
    putchar('\n');
    va_end(args);
    v->failed += !good;
}

static int send_message(struct visit *v, const char *method, struct str body,
                        struct http_reply *ret, struct str *ret_why)
{
    const struct http_header headers[] = {
        {"Content-Type", body.p ? STR("application/json") : STR_NONE},
        {"Accept", STR("application/json, text/event-stream")},
        {"Mcp-Session-Id", v->session_id},
        {"MCP-Protocol-Version", v->version},
        {"Authorization", v->authorization},
    };
    return http_request(&v->url, method, headers, sizeof headers / sizeof *headers, body, &v->arena,
                        ret, ret_why);
}

/* Of an event stream: the data of the last event, which is the answer. */
static struct str last_event_data(struct visit *v, struct str stream)
{
    static const char padding[JSON_PADDING_BYTES];
    struct str last = STR_NONE;
    while (stream.p) {
        struct str line = str_cut(&stream, '\n');
        if (str_starts_with(line, STR("data:")) && line.n > 6)
            last = str_trim((struct str){line.p + 5, line.n - 5});
    }
    if (!last.p)
        return STR_NONE;
    struct buf padded = {0};
    buf_add_str(&padded, last);
    buf_add(&padded, padding, sizeof padding);
    struct str copy = arena_buf(&v->arena, &padded);
    buf_done(&padded);
    copy.n = copy.p ? last.n : 0;
    return copy;
}

/* The result object of a JSON-RPC answer; NULL after *ret_why was set. */
static const struct tape_node *result_of(struct visit *v, const struct http_reply *reply,
                                         struct str *ret_why)
{
    const struct tape_node *message;
    bool stream = str_starts_with(reply->content_type, STR("text/event-stream"));
    struct str body = stream ? last_event_data(v, reply->body) : reply->body;
    if (!body.p || tape_open(body, &v->arena, &message, NULL) < 0 || message->kind != TAPE_OBJECT) {
        *ret_why = arena_printf(&v->arena, "HTTP %d without a JSON-RPC message", reply->status);
        return NULL;
    }
    const struct tape_node *result = tape_get(message, STR("result"));
    if (result && result->kind == TAPE_OBJECT)
        return result;
    struct buf text = {0};
    tape_write(message, &text);
    struct str shown = buf_str(&text);
    shown.n = shown.n > 300 ? 300 : shown.n;
    bool lacks_token = reply->status == 401 && !v->authorization.p;
    *ret_why = arena_printf(&v->arena, "HTTP %d: " STR_FMT "%s", reply->status, STR_ARG(shown),
                            lacks_token ? " (--token-file shows a token)" : "");
    buf_done(&text);
    return NULL;
}

/* Sends a request and returns its result; reports a failure itself. */
static const struct tape_node *ask(struct visit *v, const char *step, struct str body,
                                   struct http_reply *ret_reply)
{
    struct str why = STR_NONE;
    const struct tape_node *result = NULL;
    if (send_message(v, "POST", body, ret_reply, &why) == 0)
        result = result_of(v, ret_reply, &why);
    if (!result)
        report(v, false, step, STR_FMT, STR_ARG(why));
    return result;
}

static struct str member(const struct tape_node *object, const char *name)
{
    const struct tape_node *value =
        object && object->kind == TAPE_OBJECT ? tape_get(object, str_of(name)) : NULL;
    return value && value->kind == TAPE_STR ? tape_str(value) : STR("?");
}

static bool initialize(struct visit *v)
{
    struct http_reply reply;
    const struct tape_node *result =
        ask(v, "initialize",
            STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
                "{\"protocolVersion\":\"" PROTOCOL "\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"tenon-doctor\",\"version\":\"" TENON_VERSION "\"}}}"),
            &reply);
    if (!result)
        return false;
    const struct tape_node *server = tape_get(result, STR("serverInfo"));
    v->session_id = reply.session_id;
    v->version = member(result, "protocolVersion");
    report(v, true, "initialize", STR_FMT " " STR_FMT ", protocol " STR_FMT ", %s",
           STR_ARG(member(server, "name")), STR_ARG(member(server, "version")), STR_ARG(v->version),
           v->session_id.p ? "with a session" : "without a session");
    return true;
}

static void say_initialized(struct visit *v)
{
    struct http_reply reply;
    struct str why = STR_NONE;
    int err = send_message(v, "POST",
                           STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"),
                           &reply, &why);
    if (err < 0)
        report(v, false, "notifications/initialized", STR_FMT, STR_ARG(why));
    else
        report(v, reply.status == 202, "notifications/initialized", "HTTP %d%s", reply.status,
               reply.status == 202 ? "" : ", expected 202");
}

static void ping(struct visit *v)
{
    struct http_reply reply;
    if (ask(v, "ping", STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"), &reply))
        report(v, true, "ping", "answered");
}

static void list_tools(struct visit *v)
{
    struct http_reply reply;
    const struct tape_node *result = ask(
        v, "tools/list", STR("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}"), &reply);
    if (!result)
        return;
    const struct tape_node *tools = tape_get(result, STR("tools"));
    bool good = tools && tools->kind == TAPE_ARRAY;
    report(v, good, "tools/list", "%u tools%s", good ? tools->n : 0,
           !good                                 ? ": no array \"tools\""
           : tape_get(result, STR("nextCursor")) ? " on the first page"
                                                 : "");
}

static void end_session(struct visit *v)
{
    struct http_reply reply;
    struct str why = STR_NONE;
    if (!v->session_id.p)
        return;
    if (send_message(v, "DELETE", STR_NONE, &reply, &why) < 0)
        report(v, false, "DELETE", STR_FMT, STR_ARG(why));
    else if (reply.status == 405)
        report(v, true, "DELETE", "not allowed by this server (405), which it may");
    else
        report(v, reply.status / 100 == 2, "DELETE", "HTTP %d", reply.status);
}

/* A token on the command line could be read by everybody on the machine. */
static int read_token(struct visit *v, const char *path)
{
    char text[CREDENTIAL_BYTES + 2];
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text, file) : 0;
    if (!file)
        return cli_failed("--token-file: %s: %s", path, strerror(errno));
    fclose(file);
    struct str rest = {text, (uint32_t)n}, token = str_trim(str_cut(&rest, '\n'));
    if (n < sizeof text && !rest.n && header_is_visible(token))
        v->authorization = arena_printf(&v->arena, "Bearer " STR_FMT, STR_ARG(token));
    explicit_bzero(text, sizeof text);
    return v->authorization.p ? CLI_DONE
                              : cli_failed("--token-file: %s: expected one line, a token", path);
}

static int walk(struct visit *v)
{
    if (initialize(v)) {
        say_initialized(v);
        ping(v);
        list_tools(v);
        end_session(v);
    }
    return v->failed ? CLI_FAILED : CLI_DONE;
}

static int visit(const struct cli_args *args)
{
    struct visit v = {0};
    const char *token = cli_value(args, "--token-file");
    if (http_url_parse(args->operands[0], &v.url) < 0)
        return cli_usage(args->command,
                         "not a URL that this can visit: %s (http[s]://HOST:PORT/PATH)",
                         args->operands[0]);
    v.url.ca = cli_value(args, "--ca");
    arena_init(&v.arena, 64u << 20);
    int status = token ? read_token(&v, token) : CLI_DONE;
    if (status == CLI_DONE)
        status = walk(&v);
    arena_done(&v.arena);
    return status;
}

static int run(const struct cli_args *args)
{
    bool data = cli_value(args, "--data") || cli_value(args, "--config");
    if (data == (args->n_operands > 0))
        return cli_usage(args->command, "give either a URL or --data DIR");
    return data ? cli_doctor_data(args) : visit(args);
}

static const struct cli_option options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    {"--ca", "FILE", "authorities to trust instead of the system's, of an https URL (PEM)", NULL},
    {"--token-file", "FILE", "holds the token to show to the server", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_doctor = {
    .name = "doctor",
    .operands = "[URL]",
    .summary = "Check the server at URL, or the database of --data",
    .options = options,
    .notes =
        "Of a server: does it answer as an MCP server should? Of a database, which may be in "
        "use: do rows,\nindex entries, counts, change log, sessions and their subscriptions agree? "
        "Nothing is written.\n"
        "Exit status 0 if nothing was found, else 1.",
    .operands_max = 1,
    .run = run,
};
