/* core/tenon_call.c - what a callback is told, and what it says while it runs: the calls of tenon.h
 * that are about one call, but for its result (component_content.c). */
#include "base/err.h"
#include "core/component_call.h"
#include "generated/types.h"
#include "wire/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors --------------------------------------------------------------------------------- */

/* The public names do not move when base/err.h gets another one. */
static const struct {
    enum tenon_err name;
    int err;
    const char *text;
} errors[] = {
    {TENON_ERR_FAILED, ERR_INTERNAL, "Failed"},
    {TENON_ERR_CANCELLED, ERR_CANCELLED, "Cancelled"},
    {TENON_ERR_CANCELLED, ERR_SESSION_GONE, "Cancelled"},
    {TENON_ERR_CANCELLED, ERR_CLOSED, "Cancelled"},
    {TENON_ERR_TIMED_OUT, ERR_TIMED_OUT, "The client did not answer in time"},
    {TENON_ERR_UNSUPPORTED, ERR_CAPABILITY, "The client does not support this"},
    {TENON_ERR_UNSUPPORTED, ERR_NO_STREAM, "The client does not support this"},
    {TENON_ERR_REMOTE, ERR_REMOTE, "The client answered with an error"},
    {TENON_ERR_REMOTE, ERR_ANSWER, "The client answered with an error"},
    {TENON_ERR_ARGUMENT, ERR_PARAMS, "A value is not allowed"},
    {TENON_ERR_BUSY, ERR_BUSY, "Too many at once"},
    {TENON_ERR_NO_MEMORY, ERR_NO_MEMORY, "Out of memory"},
    {TENON_ERR_INLINE, ERR_FORBIDDEN, "An inline callback must not wait"},
    {TENON_ERR_NOT_FOUND, ERR_NOT_FOUND, "Not found"},
    {TENON_ERR_INTERNAL, ERR_INTERNAL, "Internal error"},
};
#define N_ERRORS (sizeof errors / sizeof *errors)

int component_err(int err)
{
    for (size_t i = 0; i < N_ERRORS; i++)
        if (errors[i].err == err && errors[i].name != TENON_ERR_FAILED)
            return errors[i].name;
    return err < 0 ? TENON_ERR_INTERNAL : 0;
}

const char *tenon_err_text(int err)
{
    for (size_t i = 0; i < N_ERRORS; i++)
        if ((int)errors[i].name == err)
            return errors[i].text;
    return err == 0 ? "No error" : "Unknown error";
}

/* ---- Memory --------------------------------------------------------------------------------- */

void *tenon_alloc(struct tenon_call *call, size_t size)
{
    return arena_alloc(&call->arena, size);
}

char *tenon_format(struct tenon_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : arena_alloc(&call->arena, (size_t)n + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

/* Ends with NUL, as all of an arena's texts do. */
static const char *keep_buf(struct tenon_call *call, struct buf *text)
{
    struct str kept = arena_buf(&call->arena, text);
    buf_done(text);
    return kept.p;
}

const char *tenon_quote(struct tenon_call *call, const char *text)
{
    struct buf quoted = {0};
    json_write_str(&quoted, str_of(text));
    return keep_buf(call, &quoted);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

static const char *write_node(struct tenon_call *call, const struct tape_node *node)
{
    struct buf text = {0};
    tape_write(node, &text);
    return keep_buf(call, &text);
}

static const struct tape_node *find_argument(const struct tenon_call *call, const char *name)
{
    return call->args ? tape_get(call->args, str_of(name)) : NULL;
}

const char *tenon_arguments(struct tenon_call *call)
{
    return call->args_text.p ? arena_str(&call->arena, call->args_text).p : "{}";
}

const char *tenon_argument(struct tenon_call *call, const char *name)
{
    const struct tape_node *node = find_argument(call, name);
    return node ? write_node(call, node) : NULL;
}

static const char *text_of(struct tenon_call *call, const struct tape_node *node, size_t *ret_len)
{
    struct str text =
        node && node->kind == TAPE_STR ? arena_str(&call->arena, tape_str(node)) : STR_NONE;
    if (text.p && ret_len)
        *ret_len = text.n;
    return text.p;
}

const char *tenon_argument_text(struct tenon_call *call, const char *name, size_t *ret_len)
{
    return text_of(call, find_argument(call, name), ret_len);
}

int64_t tenon_argument_int(struct tenon_call *call, const char *name, int64_t otherwise)
{
    const struct tape_node *node = find_argument(call, name);
    return node && node->kind == TAPE_INT ? node->v.i : otherwise;
}

double tenon_argument_num(struct tenon_call *call, const char *name, double otherwise)
{
    const struct tape_node *node = find_argument(call, name);
    bool is_number = node && (node->kind == TAPE_INT || node->kind == TAPE_NUM);
    return is_number ? tape_num(node) : otherwise;
}

bool tenon_argument_bool(struct tenon_call *call, const char *name, bool otherwise)
{
    const struct tape_node *node = find_argument(call, name);
    bool is_bool = node && (node->kind == TAPE_TRUE || node->kind == TAPE_FALSE);
    return is_bool ? node->kind == TAPE_TRUE : otherwise;
}

/* ---- What is read, and who calls ------------------------------------------------------------ */

const char *tenon_uri(struct tenon_call *call)
{
    return call->uri.p;
}

static const char *keep(struct tenon_call *call, struct str text)
{
    return arena_str(&call->arena, text).p;
}

const char *tenon_variable(struct tenon_call *call, const char *name, unsigned i)
{
    if (!call->values)
        return NULL;
    const struct template *template = call->resource->template;
    for (uint32_t at = 0; at < template_n_names(template); at++)
        if (str_eq(template_name(template, at), str_of(name)))
            return i < call->values[at].n_items ? keep(call, call->values[at].items[i]) : NULL;
    return NULL;
}

static const char *told(struct tenon_call *call, struct str text, const char *otherwise)
{
    const char *kept = text.n ? keep(call, text) : NULL;
    return kept ? kept : otherwise;
}

const char *tenon_user(struct tenon_call *call)
{
    return told(call, call->call->session->record.user, "");
}

const char *tenon_session(struct tenon_call *call)
{
    return told(call, call->call->session->record.id, "");
}

const char *tenon_protocol_version(struct tenon_call *call)
{
    return told(call, call->call->session->record.version, "");
}

const char *tenon_client_info(struct tenon_call *call)
{
    return told(call, call->call->session->record.client_info, "{}");
}

const char *tenon_client_capabilities(struct tenon_call *call)
{
    return told(call, call->call->session->record.capabilities, "{}");
}

/* ---- While it runs -------------------------------------------------------------------------- */

int tenon_progress(struct tenon_call *call, double progress, double total, const char *message)
{
    return component_err(
        live_progress(call->call->live, progress, total, message ? str_of(message) : STR_NONE));
}

_Static_assert((int)TENON_DEBUG == (int)MCP_LOGGING_LEVEL_DEBUG &&
                   (int)TENON_WARNING == (int)MCP_LOGGING_LEVEL_WARNING &&
                   (int)TENON_EMERGENCY == (int)MCP_LOGGING_LEVEL_EMERGENCY,
               "levels are in the order of the protocol's");

static int log_text(struct tenon_call *call, enum tenon_log_level level, const char *logger,
                    struct str data)
{
    if ((int)level < TENON_DEBUG || level > TENON_EMERGENCY)
        return TENON_ERR_ARGUMENT;
    return component_err(
        live_log(call->call->live, level, logger ? str_of(logger) : STR_NONE, data));
}

/* A call may log for as long as it runs, so nothing of it stays in the call's memory. */
int tenon_log(struct tenon_call *call, enum tenon_log_level level, const char *logger,
              const char *data)
{
    struct buf text = {0};
    struct str value;
    size_t n = data ? strlen(data) : 0; /* no JSON either way */
    int err = TENON_ERR_NO_MEMORY;
    if (buf_reserve(&text, n + JSON_PADDING_BYTES)) {
        if (n)
            memcpy(text.p, data, n);
        memset(text.p + n, 0, JSON_PADDING_BYTES);
        err = wire_skip((struct str){text.p, (uint32_t)n}, &value, NULL, NULL) < 0
                  ? TENON_ERR_ARGUMENT
                  : log_text(call, level, logger, value);
    }
    buf_done(&text);
    return err;
}

int tenon_logf(struct tenon_call *call, enum tenon_log_level level, const char *format, ...)
{
    struct buf line = {0};
    char *text;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return TENON_ERR_NO_MEMORY;
    json_write_str(&line, (struct str){text, (uint32_t)n});
    free(text);
    int err = line.failed ? TENON_ERR_NO_MEMORY : log_text(call, level, NULL, buf_str(&line));
    buf_done(&line);
    return err;
}

bool tenon_cancelled(struct tenon_call *call)
{
    return call_is_cancelled(call->call) != 0;
}

int tenon_wait(struct tenon_call *call, int64_t ms)
{
    return call->is_inline ? TENON_ERR_INLINE : component_err(live_wait(call->call->live, ms));
}

/* ---- Questions ------------------------------------------------------------------------------ */

static int ask(struct tenon_call *call, enum mcp_method method, const char *params,
               int64_t timeout_ms, const char **ret_result)
{
    struct pending_answer answer = {0};
    if (call->is_inline)
        return TENON_ERR_INLINE;
    struct str text = component_padded(&call->arena, params), value;
    if (!text.p)
        return TENON_ERR_NO_MEMORY;
    if (wire_skip(text, &value, NULL, NULL) < 0 || value.p[0] != '{')
        return TENON_ERR_ARGUMENT;
    int err = live_ask(call->call->live, method, value, timeout_ms, &answer);
    if (err == ERR_REMOTE || err == ERR_ANSWER) {
        call->remote_message = arena_str(&call->arena, answer.message);
        call->remote_code = answer.code;
    }
    if (err < 0)
        return component_err(err);
    const char *result = keep(call, answer.result);
    if (!result)
        return TENON_ERR_NO_MEMORY;
    *ret_result = result;
    return 0;
}

int tenon_sample(struct tenon_call *call, const char *params, int64_t timeout_ms,
                 const char **ret_result)
{
    return ask(call, MCP_SAMPLING_CREATE_MESSAGE, params, timeout_ms, ret_result);
}

int tenon_elicit(struct tenon_call *call, const char *params, int64_t timeout_ms,
                 const char **ret_result)
{
    return ask(call, MCP_ELICITATION_CREATE, params, timeout_ms, ret_result);
}

int tenon_list_roots(struct tenon_call *call, int64_t timeout_ms, const char **ret_result)
{
    return ask(call, MCP_ROOTS_LIST, "{}", timeout_ms, ret_result);
}

const char *tenon_remote_message(struct tenon_call *call, int *ret_code)
{
    if (ret_code)
        *ret_code = call->remote_code;
    return call->remote_message.p ? call->remote_message.p : "";
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* A member of the result, or NULL. */
static const struct tape_node *open_member(struct tenon_call *call, const char *result,
                                           const char *name)
{
    const struct tape_node *tape;
    struct str text = component_padded(&call->arena, result);
    if (!text.p || tape_open(text, &call->arena, &tape, NULL) < 0 || tape->kind != TAPE_OBJECT)
        return NULL;
    return tape_get(tape, str_of(name));
}

const char *tenon_sampled_text(struct tenon_call *call, const char *result)
{
    const struct tape_node *content = open_member(call, result, "content");
    if (content && content->kind == TAPE_ARRAY && content->n) /* since 2025-11-25 */
        content++;
    if (!content || content->kind != TAPE_OBJECT)
        return NULL;
    return text_of(call, tape_get(content, STR("text")), NULL);
}

enum tenon_action tenon_elicited_action(struct tenon_call *call, const char *result)
{
    const struct tape_node *action = open_member(call, result, "action");
    if (!action || action->kind != TAPE_STR)
        return TENON_DISMISSED;
    if (str_eq(tape_str(action), STR("accept")))
        return TENON_ACCEPTED;
    return str_eq(tape_str(action), STR("decline")) ? TENON_DECLINED : TENON_DISMISSED;
}

const char *tenon_elicited_content(struct tenon_call *call, const char *result)
{
    const struct tape_node *content = open_member(call, result, "content");
    return content && content->kind == TAPE_OBJECT ? write_node(call, content) : NULL;
}

const char *tenon_elicited_text(struct tenon_call *call, const char *result, const char *name)
{
    const struct tape_node *content = open_member(call, result, "content");
    if (!content || content->kind != TAPE_OBJECT)
        return NULL;
    return text_of(call, tape_get(content, str_of(name)), NULL);
}
