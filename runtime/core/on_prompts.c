/* core/on_prompts.c - prompts/list and prompts/get.
 *
 * Prompts come from components and manifests alone: nothing is derived from tables. Arguments are
 * looked at before the prompt is rendered: all that are missing are named in one answer.
 */
#include "base/err.h"
#include "base/limits.h"
#include "core/component.h"
#include "core/dispatch.h"
#include "core/lists.h"
#include "generated/methods.h"

int mcp_on_prompts_list(struct call *call, const struct mcp_paginated_request_params *params,
                        struct mcp_list_prompts_result *result)
{
    (void)result;
    return list_write_page(call, CATALOG_PROMPTS, "prompts", params->cursor);
}

/* ---- prompts/get ---------------------------------------------------------------------------- */

static bool is_given(const struct mcp_pairs *arguments, struct str name)
{
    for (uint32_t i = 0; i < arguments->n; i++)
        if (str_eq(arguments->v[i].key, name))
            return true;
    return false;
}

/* ", a, b" */
static uint32_t name_missing(const struct component_prompt *prompt,
                             const struct mcp_pairs *arguments, struct schema_faults *faults,
                             struct buf *names)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < prompt->n_arguments; i++) {
        const struct component_argument *a = &prompt->arguments[i];
        if (!a->required || is_given(arguments, a->name))
            continue;
        buf_add_str(names, n++ ? STR(", ") : STR(""));
        buf_add_str(names, a->name);
        if (faults->n == SCHEMA_FAULTS_MAX)
            continue;
        struct schema_fault *fault = &faults->v[faults->n++];
        schema_fault_within(fault, a->name);
        schema_fault_set(fault, "required", "a string");
    }
    return n;
}

static int check_arguments(struct call *call, const struct component_prompt *prompt,
                           const struct mcp_pairs *arguments)
{
    struct schema_faults faults = {0};
    struct buf names = {0};
    uint32_t n = name_missing(prompt, arguments, &faults, &names);
    int err = names.failed ? ERR_NO_MEMORY : n ? ERR_PARAMS : 0;
    if (err == ERR_PARAMS)
        call_explain(call, err,
                     arena_printf(&call->arena, "Missing required argument%s: " STR_FMT,
                                  n > 1 ? "s" : "", STR_ARG(buf_str(&names))),
                     call_errors_data(call, "/params/arguments", &faults));
    buf_done(&names);
    return err;
}

/* More than any prompt has are not even looked through. */
static int check_number(struct call *call, uint32_t n)
{
    struct schema_faults faults = {.n = 1};
    if (n <= PROMPT_ARGUMENTS_MAX)
        return 0;
    schema_fault_set(&faults.v[0], "maxProperties", "at most %d arguments", PROMPT_ARGUMENTS_MAX);
    return call_explain(call, ERR_PARAMS, STR_NONE,
                        call_errors_data(call, "/params/arguments", &faults));
}

int mcp_on_prompts_get(struct call *call, const struct mcp_get_prompt_request_params *params,
                       struct mcp_get_prompt_result *result)
{
    (void)result; /* written by component_render.c */
    int err = catalog_use(call);
    if (err < 0)
        return err;
    const struct component_prompt *prompt =
        component_find_prompt(call->catalog->offers, params->name);
    if (!prompt)
        return call_explain_name(call, ERR_PARAMS, "Unknown prompt", params->name);
    err = check_number(call, params->arguments.n);
    if (err == 0)
        err = check_arguments(call, prompt, &params->arguments);
    return err < 0 ? err : component_render_prompt(call, prompt, &params->arguments);
}
