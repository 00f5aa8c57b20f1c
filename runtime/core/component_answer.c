/* core/component_answer.c - calls of tools and reads of resources: started, and answered by what
 * the callback returned.
 *
 * A builder that failed makes the answer an internal error, which its author finds in the log.
 */
#include "base/err.h"
#include "base/log.h"
#include "core/component_call.h"
#include "generated/edges.h"
#include "wire/json_write.h"

/* ---- Of any callback ------------------------------------------------------------------------ */

struct str component_failure(const struct tenon_call *call, int returned)
{
    return call->failure.p ? call->failure : str_of(tenon_err_text(returned));
}

int component_tell_fault(const struct tenon_call *call)
{
    log_error(STR_FMT ": " STR_FMT " gave " STR_FMT, STR_ARG(call->component), STR_ARG(call->name),
              STR_ARG(call->fault));
    return call->fault_err == ERR_NO_MEMORY ? ERR_NO_MEMORY : ERR_INTERNAL;
}

int component_write_answer(struct tenon_call *call, const void *result)
{
    buf_clear(&call->out);
    rpc_open_result(&call->out, call->call->message.id);
    int err = wire_write(call->call->row->result, result, &call->out);
    rpc_close(&call->out);
    return err < 0 ? err : call->out.failed ? ERR_NO_MEMORY : 0;
}

/* ---- Tools ---------------------------------------------------------------------------------- */

static int check_output(struct tenon_call *call)
{
    struct schema_faults faults = {.n = 1};
    int err = ERR_PARAMS;
    if (!call->tool->output)
        return 0;
    if (call->structured_tape)
        err = json_schema_check(call->tool->output, call->structured_tape, &faults);
    else
        schema_fault_set(&faults.v[0], "required", "a structured result");
    if (err != ERR_PARAMS)
        return err == ERR_LIMIT ? 0 : err;
    log_error("tool " STR_FMT ": the result breaks its outputSchema: %s: %s, expected %s",
              STR_ARG(call->tool->name), faults.v[0].pointer, faults.v[0].keyword,
              faults.v[0].expected);
    return ERR_OUTPUT;
}

static int write_failure(struct tenon_call *call, struct str text)
{
    struct mcp_content_block block = {.kind = MCP_KIND_TEXT_CONTENT};
    struct mcp_call_tool_result result = {0};
    MCP_SET(&block, text, text);
    result.content.v = &block;
    result.content.n = 1;
    result.has_content = 1;
    MCP_SET(&result, is_error, true);
    call->call->is_tool_error = true;
    return component_write_answer(call, &result);
}

static int write_result(struct tenon_call *call, int returned)
{
    struct mcp_call_tool_result result = {0};
    if (returned < 0)
        return write_failure(call, component_failure(call, returned));
    if (call->structured.p && !call->blocks.n)
        component_add_text_block(call, call->structured); /* TL-10 */
    if (call->fault.p)
        return component_tell_fault(call);
    int err = check_output(call);
    if (err < 0)
        return err;
    result.content.v = call->blocks.v;
    result.content.n = call->blocks.n;
    result.has_content = 1;
    if (call->structured.p)
        MCP_SET(&result, structured_content, call->structured);
    return component_write_answer(call, &result);
}

static int run_tool(struct tenon_call *call)
{
    return call->tool->run(call, call->tool->ctx);
}

static const struct component_task tool_task = {run_tool, write_result};

int component_run_tool(struct call *call, const struct component_tool *tool,
                       const struct tape_node *args, struct str args_text)
{
    struct tenon_call *t;
    int err = component_make(call, &tool_task, tool->is_inline, &t);
    if (err < 0)
        return err;
    t->component = tool->component;
    t->name = tool->name;
    t->tool = tool;
    t->args = args;
    t->args_text = args_text;
    return component_start(t);
}

/* ---- Resources ------------------------------------------------------------------------------ */

static struct str uri_data(struct tenon_call *call)
{
    struct buf data = {0};
    buf_add_lit(&data, "{\"uri\":");
    json_write_str(&data, call->uri);
    buf_add_char(&data, '}');
    struct str json = arena_buf(&call->arena, &data);
    buf_done(&data);
    return json;
}

static int write_contents(struct tenon_call *call, int returned)
{
    struct mcp_read_resource_result result = {0};
    if (returned == TENON_ERR_NOT_FOUND) {
        call->err_message = call->failure;
        call->err_data = uri_data(call);
        return ERR_NOT_FOUND;
    }
    if (returned < 0) {
        call->err_message = component_failure(call, returned);
        return ERR_INTERNAL;
    }
    if (!call->contents.n)
        component_refuse(call, ERR_INTERNAL, "no contents");
    if (call->fault.p)
        return component_tell_fault(call);
    result.contents.v = call->contents.v;
    result.contents.n = call->contents.n;
    result.has_contents = 1;
    return component_write_answer(call, &result);
}

static int read_resource(struct tenon_call *call)
{
    return call->resource->read(call, call->resource->ctx);
}

static const struct component_task read_task = {read_resource, write_contents};

int component_read_resource(struct call *call, const struct component_resource *resource,
                            struct str uri, const struct template_value *values)
{
    struct str kept = arena_str(&call->arena, uri); /* ends with NUL */
    struct tenon_call *t;
    int err = kept.p ? component_make(call, &read_task, resource->is_inline, &t) : ERR_NO_MEMORY;
    if (err < 0)
        return err;
    t->component = resource->component;
    t->name = resource->uri;
    t->resource = resource;
    t->uri = kept;
    t->values = values;
    return component_start(t);
}
