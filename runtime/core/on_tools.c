/* core/on_tools.c - tools/list and tools/call.
 *
 * An unknown tool and arguments that do not fit its schema are protocol errors (MCP 2025-06-18,
 * Tools, Error Handling); what fails inside a tool is a result with isError. A result that would
 * break the tool's outputSchema (by a row that came into the store on another way) is not sent.
 */
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/catalog.h"
#include "core/component.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/lists.h"
#include "core/table_run.h"
#include "generated/methods.h"

#include <string.h>

#define SMALL_RESULT_BYTES 1024

int mcp_on_tools_list(struct call *call, const struct mcp_paginated_request_params *params,
                      struct mcp_list_tools_result *result)
{
    (void)result;
    return list_write_page(call, CATALOG_TOOLS, "tools", params->cursor);
}

/* ---- Results -------------------------------------------------------------------------------- */

/* Where and how, but nothing of the value: it may be anybody's. */
static int tell_misfit(struct call *call, const struct schema_fault *fault)
{
    log_error("tool " STR_FMT ": the result breaks its outputSchema: %s: %s, expected %s",
              STR_ARG(call->tool), fault->pointer, fault->keyword, fault->expected);
    return ERR_OUTPUT;
}

/* A check that reached its limits has found no misfit. */
static int check_text(struct call *call, struct str text, struct arena *arena)
{
    const struct tape_node *tape;
    struct wire_fault fault;
    struct schema_faults faults;
    char *padded = arena_alloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!padded)
        return ERR_NO_MEMORY;
    memcpy(padded, text.p, text.n);
    memset(padded + text.n, 0, JSON_PADDING_BYTES);
    int err = tape_open((struct str){padded, text.n}, arena, &tape, &fault);
    if (err == 0)
        err = json_schema_check_unless(call->output, tape, &call->cancelled, &faults);
    if (err == ERR_PARAMS)
        return tell_misfit(call, &faults.v[0]);
    return err == ERR_LIMIT ? 0 : err;
}

/* The text that is sent is checked, not what it was made of, so that nothing between can go wrong.
 * A small one is opened in the room that the call has left anyway. */
static int check_result(struct call *call, struct str text)
{
    struct arena arena;
    if (text.n <= SMALL_RESULT_BYTES)
        return check_text(call, text, &call->arena);
    arena_init(&arena, RESULT_TAPE_BYTES);
    int err = check_text(call, text, &arena);
    arena_done(&arena);
    return err;
}

static int write_result(struct call *call, struct str text, bool failed, struct str meta)
{
    struct mcp_content_block block = {0};
    struct mcp_call_tool_result result = {0};
    if (!text.p)
        return ERR_NO_MEMORY;
    int err = failed ? 0 : check_result(call, text);
    if (err < 0)
        return err;
    block.kind = MCP_KIND_TEXT_CONTENT;
    MCP_SET(&block, text, text);
    result.content.v = &block;
    result.content.n = 1;
    result.has_content = 1;
    if (meta.p)
        MCP_SET(&result, meta, meta);
    call->is_tool_error = failed;
    if (failed)
        MCP_SET(&result, is_error, true);
    else
        MCP_SET(&result, structured_content, text);
    return call_write(call, &result);
}

static void answer(struct call *call, struct str text, bool failed, struct str meta)
{
    int err = write_result(call, text, failed, meta);
    if (err < 0)
        call_fail(call, err, STR_NONE, STR_NONE);
    else
        call_finish_written(call);
}

int tool_write(struct call *call, struct str json)
{
    return write_result(call, json, false, STR_NONE);
}

void tool_succeed(struct call *call, struct str json)
{
    answer(call, json, false, STR_NONE);
}

void tool_succeed_with_version(struct call *call, struct str json, uint64_t version)
{
    struct str meta =
        arena_printf(&call->arena, "{\"tenon/version\":%llu}", (unsigned long long)version);
    if (meta.p)
        answer(call, json, false, meta);
    else
        call_fail(call, ERR_NO_MEMORY, STR_NONE, STR_NONE);
}

void tool_fail(struct call *call, struct str text)
{
    answer(call, text, true, STR_NONE);
}

/* ---- tools/call ----------------------------------------------------------------------------- */

static int refuse(struct call *call, const struct schema_faults *faults)
{
    struct str data = call_errors_data(call, "/params/arguments", faults);
    return call_explain(call, ERR_PARAMS, STR_NONE, data);
}

/* Asked when the arena was too small, which a body of many values explains. The count is never too
 * low; separators within strings are counted as well. */
static bool may_have_too_many(struct str text)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < text.n && n <= ARGUMENT_NODES_MAX; i++)
        n += text.p[i] == ',' || text.p[i] == ':' || text.p[i] == '[' || text.p[i] == '{';
    return n > ARGUMENT_NODES_MAX;
}

static int refuse_size(struct call *call)
{
    struct schema_faults faults = {.n = 1};
    schema_fault_set(&faults.v[0], "size", "at most %u values and member names",
                     ARGUMENT_NODES_MAX);
    return refuse(call, &faults);
}

/* Absent arguments are an empty object (acceptance C-019). */
static int open_arguments(struct call *call, struct str text, const struct tape_node **ret)
{
    static const struct tape_node none = {.kind = TAPE_OBJECT, .v.size = 1};
    struct wire_fault fault = {0};
    if (!text.p) {
        *ret = &none;
        return 0;
    }
    int err = tape_open(text, &call->arena, ret, &fault);
    bool too_many = err == 0 ? (*ret)->kind >= TAPE_ARRAY && (*ret)->v.size > ARGUMENT_NODES_MAX
                             : err == ERR_NO_MEMORY && may_have_too_many(text);
    if (too_many)
        return refuse_size(call);
    if (err != ERR_PARAMS)
        return err;
    struct schema_faults faults = {.n = 1};
    memcpy(faults.v[0].pointer, fault.pointer, sizeof fault.pointer);
    schema_fault_set(&faults.v[0], wire_reason_name(fault.reason), "%s", fault.expected);
    return refuse(call, &faults);
}

static int check_input(struct call *call, const struct json_schema *schema,
                       const struct tape_node *args)
{
    struct schema_faults faults;
    int err = json_schema_check(schema, args, &faults);
    return err == ERR_PARAMS || err == ERR_LIMIT ? refuse(call, &faults) : err;
}

static int call_component(struct call *call, const struct component_tool *tool,
                          struct str arguments)
{
    const struct tape_node *args;
    int err = admission_ask(call, tool->name);
    if (err)
        return err;
    err = open_arguments(call, arguments, &args);
    if (err == 0)
        err = check_input(call, tool->input, args);
    call->tool = tool->name;
    return err < 0 ? err : component_run_tool(call, tool, args, arguments);
}

int mcp_on_tools_call(struct call *call, const struct mcp_call_tool_request_params *params,
                      struct mcp_call_tool_result *result)
{
    const struct tape_node *args;
    (void)result; /* written by tool_succeed or tool_fail */
    int err = catalog_use(call);
    if (err < 0)
        return err;
    bool manages = call->in.profile == PROFILE_OPERATIONS;
    const struct component_tool *of_component =
        manages ? NULL : component_find_tool(call->catalog->offers, params->name);
    if (of_component)
        return call_component(call, of_component, params->arguments);
    const struct catalog_tool *tool =
        manages ? NULL : catalog_find_tool(call->catalog, params->name);
    const struct catalog_operation *operation =
        manages ? catalog_find_operation(call->catalog, params->name) : NULL;
    if (!tool && !operation)
        return call_explain_name(call, ERR_PARAMS, "Unknown tool", params->name);
    err = admission_ask(call, params->name);
    if (err)
        return err;
    err = open_arguments(call, params->arguments, &args);
    if (err < 0)
        return err;
    call->tool = params->name;
    call->output = tool ? tool->output : operation->output;
    err = check_input(call, tool ? tool->input : operation->input, args);
    if (err < 0)
        return err;
    return tool ? table_run(call, tool, args) : operation_run(call, operation->operation, args);
}
