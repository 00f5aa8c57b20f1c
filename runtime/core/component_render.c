/* core/component_render.c - renders a prompt by its callback: what prompts/get answers.
 *
 * Its arguments are strings by the protocol's schema, so a callback gets them as any tool gets
 * its own. What the callback adds are messages, each said by the role of that moment.
 */
#include "base/err.h"
#include "base/log.h"
#include "core/component_call.h"
#include "wire/json_write.h"

#include <string.h>

int tenon_role(struct tenon_call *call, enum tenon_role role)
{
    if (!call->prompt)
        return component_refuse(call, ERR_PARAMS, "a role outside of a prompt");
    if (role != TENON_USER && role != TENON_ASSISTANT)
        return component_refuse(call, ERR_PARAMS, "a role that is none");
    call->role = role;
    return 0;
}

/* ---- The answer ----------------------------------------------------------------------------- */

static struct mcp_prompt_message *make_messages(struct tenon_call *call)
{
    static const enum mcp_role roles[] = {
        [TENON_USER] = MCP_ROLE_USER,
        [TENON_ASSISTANT] = MCP_ROLE_ASSISTANT,
    };
    struct mcp_prompt_message *v = arena_array(&call->arena, call->blocks.n, sizeof *v);
    for (uint32_t i = 0; v && i < call->blocks.n; i++) {
        v[i] = (struct mcp_prompt_message){.has = 0};
        MCP_SET(&v[i], role, roles[call->blocks.roles[i]]);
        MCP_SET(&v[i], content, &call->blocks.v[i]);
    }
    return v;
}

static int write_failure(struct tenon_call *call, int returned)
{
    call->err_message = component_failure(call, returned);
    if (returned == TENON_ERR_ARGUMENT)
        return ERR_PARAMS;
    log_error(STR_FMT ": prompt " STR_FMT " was not rendered: " STR_FMT, STR_ARG(call->component),
              STR_ARG(call->name), STR_ARG(call->err_message));
    return ERR_INTERNAL;
}

static int write_messages(struct tenon_call *call, int returned)
{
    struct mcp_get_prompt_result result = {0};
    if (returned >= 0 && !call->blocks.n)
        component_refuse(call, ERR_INTERNAL, "no messages");
    if (call->fault.p)
        return component_tell_fault(call);
    if (returned < 0)
        return write_failure(call, returned);
    MCP_SET(&result, description, call->prompt->description);
    result.messages.v = make_messages(call);
    result.messages.n = call->blocks.n;
    result.has_messages = 1;
    return result.messages.v ? component_write_answer(call, &result) : ERR_NO_MEMORY;
}

/* ---- The call ------------------------------------------------------------------------------- */

static int render(struct tenon_call *call)
{
    return call->prompt->render(call, call->prompt->ctx);
}

static const struct component_task task = {render, write_messages};

/* As JSON, with zeros behind it. */
static int write_arguments(const struct mcp_pairs *from, struct arena *arena, struct str *ret)
{
    struct buf text = {0};
    buf_add_char(&text, '{');
    for (uint32_t i = 0; i < from->n; i++) {
        if (i)
            buf_add_char(&text, ',');
        json_write_str(&text, from->v[i].key);
        buf_add_char(&text, ':');
        json_write_str(&text, from->v[i].value);
    }
    buf_add_char(&text, '}');
    uint32_t n = text.n;
    if (buf_reserve(&text, JSON_PADDING_BYTES)) {
        memset(text.p + text.n, 0, JSON_PADDING_BYTES);
        text.n += JSON_PADDING_BYTES;
    }
    struct str kept = arena_buf(arena, &text);
    buf_done(&text);
    *ret = (struct str){kept.p, n};
    return kept.p ? 0 : ERR_NO_MEMORY;
}

int component_render_prompt(struct call *call, const struct component_prompt *prompt,
                            const struct mcp_pairs *arguments)
{
    const struct tape_node *args;
    struct str text;
    struct tenon_call *t;
    int err = write_arguments(arguments, &call->arena, &text);
    if (err == 0)
        err = tape_open(text, &call->arena, &args, NULL);
    if (err == 0)
        err = component_make(call, &task, prompt->is_inline, &t);
    if (err < 0)
        return err;
    t->component = prompt->component;
    t->name = prompt->name;
    t->prompt = prompt;
    t->args = args;
    t->args_text = text;
    return component_start(t);
}
