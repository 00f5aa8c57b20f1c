/* core/pending_check.c - what may be asked of a client, and what its answer has to be.
 *
 * Both by the tables of the session's revision: a request that it does not have is not sent, a
 * member that it does not know is left out. Capabilities within capabilities (modes of an
 * elicitation, tools of a sampling) are those of MCP 2025-11-25, Sampling and Elicitation.
 */
#include "base/err.h"
#include "base/log.h"
#include "core/elicit_schema.h"
#include "core/pending_parts.h"
#include "generated/edges.h"

#include <stdio.h>
#include <string.h>

/* ---- Capabilities --------------------------------------------------------------------------- */

static const struct {
    uint32_t bit;
    struct str name;
} gates[] = {
    {MCP_CLIENT_ELICITATION, STR_INIT("elicitation")},
    {MCP_CLIENT_ROOTS, STR_INIT("roots")},
    {MCP_CLIENT_SAMPLING, STR_INIT("sampling")},
    {MCP_CLIENT_TASKS, STR_INIT("tasks")},
};

static int open_json(struct str text, struct arena *arena, const struct tape_node **ret)
{
    struct wire_fault fault;
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    memcpy(copy, text.p, text.n);
    return tape_open((struct str){copy, text.n}, arena, ret, &fault);
}

/* A capability is an object; whatever else stands there declares nothing. */
static const struct tape_node *capability(const struct tape_node *all, struct str name)
{
    const struct tape_node *value = all->kind == TAPE_OBJECT ? tape_get(all, name) : NULL;
    return value && value->kind == TAPE_OBJECT ? value : NULL;
}

static bool has_gates(const struct tape_node *all, uint32_t wanted)
{
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        if (wanted & gates[i].bit && !capability(all, gates[i].name))
            return false;
    return true;
}

static bool has_part(const struct tape_node *all, struct str name, struct str part)
{
    const struct tape_node *whole = capability(all, name);
    return whole && capability(whole, part);
}

/* One that names no mode takes forms. */
static bool takes_forms(const struct tape_node *all)
{
    return has_part(all, STR("elicitation"), STR("form")) ||
           !has_part(all, STR("elicitation"), STR("url"));
}

/* ---- Asking --------------------------------------------------------------------------------- */

/* The fault is that of whoever wrote the handler. */
static int refuse(const struct pending *p, const char *pointer, const char *expected)
{
    log_warn("%s was not sent: /params%s: expected %s", p->row->name, pointer, expected);
    return ERR_PARAMS;
}

static int lacks(const struct pending *p, const char *what)
{
    log_debug("%s was not sent: the client did not declare %s", p->row->name, what);
    return ERR_CAPABILITY;
}

static int check_elicitation(struct pending *p, const struct tape_node *all, struct str params,
                             const struct mcp_elicit_request_params *elicit)
{
    const struct tape_node *tape;
    struct wire_fault unread;
    struct schema_fault fault = {.pointer = ""};
    if (elicit->has_task)
        return refuse(p, "/task", "no task");
    if (elicit->has_url && !has_part(all, STR("elicitation"), STR("url")))
        return lacks(p, "elicitation.url");
    if (!elicit->has_url && !takes_forms(all))
        return lacks(p, "elicitation.form");
    int err = tape_open(params, &p->arena, &tape, &unread);
    if (err == 0)
        err = elicit_schema_compile(p->row->params, tape, &p->arena, &p->schema, &fault);
    return err == ERR_PARAMS ? refuse(p, fault.pointer, fault.expected) : err;
}

static int check_sampling(struct pending *p, const struct session *session,
                          const struct tape_node *all,
                          const struct mcp_create_message_request_params *sampling)
{
    bool wants_context =
        sampling->has_include_context && sampling->include_context != MCP_INCLUDE_CONTEXT_NONE;
    if (sampling->has_task)
        return refuse(p, "/task", "no task");
    if ((sampling->has_tools || sampling->has_tool_choice) &&
        !has_part(all, STR("sampling"), STR("tools")))
        return lacks(p, "sampling.tools");
    if (wants_context && session->revision >= (int)MCP_2025_11_25 &&
        !has_part(all, STR("sampling"), STR("context")))
        return lacks(p, "sampling.context");
    return 0;
}

static int check_method(struct pending *p, const struct session *session,
                        const struct tape_node *all, struct str text, const void *params)
{
    if (p->row->method == MCP_ELICITATION_CREATE)
        return check_elicitation(p, all, text, params);
    if (p->row->method == MCP_SAMPLING_CREATE_MESSAGE)
        return check_sampling(p, session, all, params);
    return 0;
}

static int check_params(struct pending *p, const struct session *session,
                        const struct tape_node *all, struct str text, struct buf *out)
{
    struct wire_fault fault = {0};
    char *copy = arena_zalloc(&p->arena, (size_t)text.n + JSON_PADDING_BYTES);
    void *params = arena_zalloc(&p->arena, p->row->params_size);
    if (!copy || !params)
        return ERR_NO_MEMORY;
    memcpy(copy, text.p, text.n);
    text.p = copy;
    int err = wire_parse(p->row->params, text, &p->arena, params, &fault);
    if (err == ERR_PARSE || err == ERR_PARAMS)
        return refuse(p, fault.pointer, fault.expected);
    if (err == 0)
        err = check_method(p, session, all, text, params);
    return err ? err : wire_write(p->row->params, params, out);
}

int pending_check_ask(struct pending *p, const struct session *session,
                      const struct pending_ask *ask, struct buf *out)
{
    const struct mcp_method_row *row =
        mcp_method_row((enum mcp_revision)session->revision, ask->method);
    const struct tape_node *all;
    struct str declared = session->record.capabilities;
    if (!row || !row->is_request || !row->from_server)
        return ERR_CAPABILITY;
    p->row = row;
    int err = open_json(declared.n ? declared : STR("{}"), &p->arena, &all);
    if (err == ERR_NO_MEMORY)
        return err;
    if (err < 0 || !has_gates(all, row->client_gate))
        return lacks(p, "the capability");
    return check_params(p, session, all, ask->params.n ? ask->params : STR("{}"), out);
}

/* ---- Answers -------------------------------------------------------------------------------- */

static void refuse_answer(struct arena *arena, const char *pointer, const char *expected,
                          struct pending_answer *ret)
{
    *ret = (struct pending_answer){.err = ERR_ANSWER};
    ret->message = arena_printf(arena, "%s: %s: expected %s", err_text(ERR_ANSWER),
                                *pointer ? pointer : "/", expected);
    if (!ret->message.p)
        ret->message = str_of(err_text(ERR_ANSWER));
}

/* Content counts only where the user agreed. */
static void read_elicitation(const struct pending *p, struct arena *arena,
                             struct pending_answer *ret, const struct mcp_elicit_result *result)
{
    const struct tape_node *answer, *content;
    struct wire_fault unread;
    struct schema_faults faults = {0};
    char pointer[JSON_POINTER_BYTES + 16];
    if (result->action != MCP_ELICIT_ACTION_ACCEPT || !p->schema)
        return;
    int err = tape_open(ret->result, arena, &answer, &unread);
    content = err ? NULL : tape_get(answer, STR("content"));
    if (err == 0 && !content)
        err = open_json(STR("{}"), arena, &content);
    if (err == 0)
        err = json_schema_check(p->schema, content, &faults);
    if (err == 0)
        return;
    snprintf(pointer, sizeof pointer, "/content%s", faults.v[0].pointer);
    refuse_answer(arena, pointer, faults.n ? faults.v[0].expected : err_text(err), ret);
}

static bool is_file(struct str uri)
{
    return uri.n >= 7 && str_eq_nocase((struct str){uri.p, 7}, STR("file://"));
}

/* Roots that are no files are not there (MCP 2025-06-18, Roots, Data Types). */
static void read_roots(const struct pending *p, struct arena *arena, struct pending_answer *ret,
                       struct mcp_list_roots_result *result)
{
    struct buf text = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < result->roots.n; i++)
        if (is_file(result->roots.v[i].uri))
            result->roots.v[n++] = result->roots.v[i];
    result->roots.n = n;
    int err = wire_write(p->row->result, result, &text);
    ret->result = err ? STR_NONE : arena_buf(arena, &text);
    buf_done(&text);
    if (!ret->result.p)
        *ret = (struct pending_answer){.err = err ? err : ERR_NO_MEMORY};
}

void pending_read_result(const struct pending *p, struct str result, struct arena *arena,
                         struct pending_answer *ret)
{
    struct wire_fault fault = {0};
    void *read = arena_zalloc(arena, p->row->result_size);
    int err = read ? wire_parse(p->row->result, result, arena, read, &fault) : ERR_NO_MEMORY;
    *ret = (struct pending_answer){.err = err, .result = err ? STR_NONE : result};
    if (err == ERR_PARSE || err == ERR_PARAMS)
        refuse_answer(arena, fault.pointer, fault.expected, ret);
    else if (err == 0 && p->row->method == MCP_ELICITATION_CREATE)
        read_elicitation(p, arena, ret, read);
    else if (err == 0 && p->row->method == MCP_ROOTS_LIST)
        read_roots(p, arena, ret, read);
}

void pending_read_error(struct str error, struct arena *arena, struct pending_answer *ret)
{
    const struct tape_node *tape = NULL;
    struct wire_fault fault;
    *ret = (struct pending_answer){.err = ERR_REMOTE, .code = err_rpc_code(ERR_REMOTE)};
    if (tape_open(error, arena, &tape, &fault) < 0)
        tape = NULL;
    const struct tape_node *code = tape ? tape_get(tape, STR("code")) : NULL;
    const struct tape_node *message = tape ? tape_get(tape, STR("message")) : NULL;
    if (code && code->kind == TAPE_INT && code->v.i >= INT32_MIN && code->v.i <= INT32_MAX)
        ret->code = (int)code->v.i;
    ret->message =
        message && message->kind == TAPE_STR ? tape_str(message) : str_of(err_text(ERR_REMOTE));
}
