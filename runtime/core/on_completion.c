/* core/on_completion.c - completion/complete: what is to be completed, and who knows.
 *
 *   ref/prompt     an argument of a component's prompt: its `complete` callback
 *   ref/resource   a variable of a component's template: its `complete` callback
 *                  a variable of a template of ours: the tables (core/completion.h)
 *                  a resource without variables: nothing to complete
 *
 * What is not there, a prompt, a template or an argument of it, is -32602; where nobody proposes
 * anything there are no values.
 */
#include "base/err.h"
#include "core/catalog.h"
#include "core/completion.h"
#include "core/component.h"
#include "core/core_state.h"
#include "schema/template.h"

static int refuse_argument(struct call *call, const struct mcp_completion_argument *argument)
{
    return call_explain_name(call, ERR_PARAMS, "Unknown argument", argument->name);
}

static int answer_nothing(struct mcp_complete_result *result)
{
    static struct mcp_completion none = {.has_values = 1};
    MCP_SET(&none, total, 0);
    MCP_SET(&none, has_more, false);
    MCP_SET(result, completion, &none);
    return 0;
}

static const struct mcp_pairs *others_of(const struct mcp_complete_request_params *params)
{
    const struct mcp_completion_context *context = params->has_context ? params->context : NULL;
    return context && context->has_arguments ? &context->arguments : NULL;
}

static struct component_completion question(const struct mcp_complete_request_params *params)
{
    return (struct component_completion){
        .name = params->argument->name,
        .value = params->argument->value,
        .others = others_of(params),
    };
}

static int complete_prompt(struct call *call, const struct mcp_complete_request_params *params,
                           struct mcp_complete_result *result)
{
    struct component_completion asked = question(params);
    asked.prompt = component_find_prompt(call->catalog->offers, params->ref->name);
    if (!asked.prompt)
        return call_explain_name(call, ERR_PARAMS, "Unknown prompt", params->ref->name);
    if (!component_find_argument(asked.prompt, asked.name))
        return refuse_argument(call, params->argument);
    return asked.prompt->complete ? component_complete(call, &asked) : answer_nothing(result);
}

/* Its place, or -1. */
static int find_variable(const struct template *template, struct str name)
{
    for (uint32_t i = 0; i < template_n_names(template); i++)
        if (str_eq(template_name(template, i), name))
            return (int)i;
    return -1;
}

static int complete_template(struct call *call, const struct component_resource *template,
                             const struct mcp_complete_request_params *params,
                             struct mcp_complete_result *result)
{
    struct component_completion asked = question(params);
    asked.template = template;
    if (find_variable(template->template, asked.name) < 0)
        return refuse_argument(call, params->argument);
    return template->complete ? component_complete(call, &asked) : answer_nothing(result);
}

static struct str value_of(const struct mcp_pairs *pairs, const char *name)
{
    for (uint32_t i = 0; pairs && i < pairs->n; i++)
        if (str_eq(pairs->v[i].key, str_of(name)))
            return pairs->v[i].value;
    return STR_NONE;
}

/* Variables of all of them are, in order: database, table, id. */
static int complete_ours(struct call *call, const struct template *template,
                         const struct mcp_complete_request_params *params)
{
    const struct mcp_pairs *others = others_of(params);
    int place = find_variable(template, params->argument->name);
    if (place < 0)
        return refuse_argument(call, params->argument);
    struct completion_asked asked = {
        .of = (enum completion_of)place,
        .needs = str_eq(params->ref->uri, STR(URI_SCHEMA)) ? MAY_DESCRIBE : MAY_READ,
        .value = params->argument->value,
        .database = value_of(others, "database"),
        .table = value_of(others, "table"),
    };
    return completion_of_tables(call, &asked);
}

static int complete_resource(struct call *call, const struct mcp_complete_request_params *params,
                             struct mcp_complete_result *result)
{
    struct str uri = params->ref->uri;
    const struct component_resource *of_component =
        component_find_template(call->catalog->offers, uri);
    const struct template *ours = resource_uri_template(&call->core->uris, uri);
    if (of_component)
        return complete_template(call, of_component, params, result);
    if (ours)
        return complete_ours(call, ours, params);
    if (catalog_has_entry(call->catalog, PROFILE_APPLICATION, CATALOG_RESOURCES, uri))
        return answer_nothing(result);
    return call_explain_name(call, ERR_PARAMS, "Unknown resource template", uri);
}

int mcp_on_completion_complete(struct call *call, const struct mcp_complete_request_params *params,
                               struct mcp_complete_result *result)
{
    int err = admission_ask(call, str_of(call->row->name));
    if (err == 0)
        err = catalog_use(call);
    if (err)
        return err;
    return params->ref->kind == MCP_KIND_PROMPT_REFERENCE ? complete_prompt(call, params, result)
                                                          : complete_resource(call, params, result);
}
