/* core/component_complete.c - asks a component what a variable or an argument may be: what
 * completion/complete answers.
 *
 * Only the values that are sent are kept, so a callback may propose a million.
 */
#include "base/err.h"
#include "base/log.h"
#include "core/component_call.h"

#include <string.h>

/* ---- In a complete callback ----------------------------------------------------------------- */

int tenon_complete(struct tenon_call *call, const char *value)
{
    struct component_values *c = call->completions;
    if (!c)
        return component_refuse(call, ERR_PARAMS, "a completion that nobody asked for");
    if (!value)
        return component_refuse(call, ERR_PARAMS, "a completion that is NULL");
    if (c->n < COMPLETIONS_MAX) {
        struct str kept = arena_str(&call->arena, str_of(value));
        if (!kept.p)
            return component_refuse(call, ERR_NO_MEMORY, "no memory");
        c->v[c->n] = kept;
    }
    c->n++;
    return 0;
}

int tenon_complete_total(struct tenon_call *call, int64_t total)
{
    if (!call->completions)
        return component_refuse(call, ERR_PARAMS, "a completion that nobody asked for");
    if (total < -1)
        return component_refuse(call, ERR_PARAMS, "a total that is none");
    call->completions->total = total;
    return 0;
}

const char *tenon_context(struct tenon_call *call, const char *name)
{
    const struct mcp_pairs *others = call->asked ? call->asked->others : NULL;
    for (uint32_t i = 0; others && i < others->n; i++)
        if (str_eq(others->v[i].key, str_of(name)))
            return arena_str(&call->arena, others->v[i].value).p;
    return NULL;
}

/* ---- The answer ----------------------------------------------------------------------------- */

static int write_completions(struct tenon_call *call, int returned)
{
    struct component_values *c = call->completions;
    struct mcp_completion completion = {0};
    struct mcp_complete_result result = {0};
    int64_t n = (int64_t)c->n, n_sent = n < COMPLETIONS_MAX ? n : COMPLETIONS_MAX;
    int64_t total = c->total > n ? c->total : n;
    if (call->fault.p)
        return component_tell_fault(call);
    if (returned < 0) {
        call->err_message = component_failure(call, returned);
        log_error(STR_FMT ": " STR_FMT " was not completed: " STR_FMT, STR_ARG(call->component),
                  STR_ARG(call->name), STR_ARG(call->err_message));
        return ERR_INTERNAL;
    }
    completion.values = (struct mcp_strs){c->v, (uint32_t)n_sent};
    completion.has_values = 1;
    if (c->total >= 0)
        MCP_SET(&completion, total, total);
    MCP_SET(&completion, has_more, c->total < 0 || total > n_sent);
    MCP_SET(&result, completion, &completion);
    return component_write_answer(call, &result);
}

/* ---- The call ------------------------------------------------------------------------------- */

static int complete(struct tenon_call *call)
{
    const struct component_completion *asked = call->asked;
    const char *name = asked->name.p, *value = asked->value.p;
    return asked->prompt ? asked->prompt->complete(call, name, value, asked->prompt->ctx)
                         : asked->template->complete(call, name, value, asked->template->ctx);
}

static const struct component_task task = {complete, write_completions};

/* The texts end with NUL then. */
static struct component_completion *copy(struct arena *arena,
                                         const struct component_completion *from)
{
    struct component_completion *to = arena_alloc(arena, sizeof *to);
    if (!to)
        return NULL;
    *to = *from;
    to->name = arena_str(arena, from->name);
    to->value = arena_str(arena, from->value);
    return to->name.p && to->value.p ? to : NULL;
}

int component_complete(struct call *call, const struct component_completion *asked)
{
    struct component_completion *kept = copy(&call->arena, asked);
    struct component_values *values = arena_zalloc(&call->arena, sizeof *values);
    bool is_inline = asked->prompt ? asked->prompt->is_inline : asked->template->is_inline;
    struct tenon_call *t;
    int err = kept && values ? component_make(call, &task, is_inline, &t) : ERR_NO_MEMORY;
    if (err < 0)
        return err;
    t->component = asked->prompt ? asked->prompt->component : asked->template->component;
    t->name = asked->prompt ? asked->prompt->name : asked->template->uri;
    t->asked = kept;
    t->completions = values;
    return component_start(t);
}
