/* core/component_prompt.c - the prompts of components: taken in, found, shown in the list. */
#include "base/err.h"
#include "base/limits.h"
#include "core/component_add.h"

/* ---- Adding --------------------------------------------------------------------------------- */

static int refuse(struct tenon *tenon, const struct tenon_prompt *prompt, struct str what)
{
    return component_add_refuse(tenon, "prompt", prompt->name, what);
}

static bool is_named_before(const struct tenon_prompt *prompt, unsigned i)
{
    for (unsigned before = 0; before < i; before++)
        if (str_eq(str_of(prompt->arguments[before].name), str_of(prompt->arguments[i].name)))
            return true;
    return false;
}

static int check_arguments(struct tenon *tenon, const struct tenon_prompt *prompt)
{
    const struct tenon_prompt_argument *v = prompt->arguments;
    if (prompt->n_arguments > PROMPT_ARGUMENTS_MAX || (prompt->n_arguments && !v))
        return refuse(tenon, prompt,
                      arena_printf(&tenon->arena, "its arguments: expected at most %d",
                                   PROMPT_ARGUMENTS_MAX));
    for (unsigned i = 0; i < prompt->n_arguments; i++) {
        if (!component_is_name(v[i].name))
            return refuse(tenon, prompt,
                          arena_printf(&tenon->arena,
                                       "the name of argument %u: expected 1 to 128 of A-Z a-z 0-9 "
                                       "_ . -",
                                       i + 1));
        if (is_named_before(prompt, i))
            return refuse(tenon, prompt,
                          arena_printf(&tenon->arena, "two arguments have the name %s", v[i].name));
    }
    return 0;
}

static int check_prompt(struct tenon *tenon, const struct tenon_prompt *prompt)
{
    if (!tenon->component.p)
        return refuse(tenon, prompt, STR("prompts are added in tenon_component only"));
    if (!component_is_name(prompt->name))
        return refuse(tenon, prompt, STR("its name: expected 1 to 128 of A-Z a-z 0-9 _ . -"));
    if (component_find_prompt(tenon->into, str_of(prompt->name)))
        return refuse(tenon, prompt, STR("another one has this name"));
    if (!prompt->description || !*prompt->description)
        return refuse(tenon, prompt, STR("it has no description"));
    if (!prompt->render)
        return refuse(tenon, prompt, STR("it has no render callback"));
    return check_arguments(tenon, prompt);
}

static int copy_arguments(struct tenon *tenon, const struct tenon_prompt *from,
                          struct component_prompt *to)
{
    struct component_argument *v =
        arena_array(&tenon->into->arena, (size_t)from->n_arguments + 1, sizeof *v);
    if (!v)
        return component_add_no_memory(tenon);
    for (unsigned i = 0; i < from->n_arguments; i++) {
        const struct tenon_prompt_argument *a = &from->arguments[i];
        v[i] = (struct component_argument){
            .name = component_add_text(tenon, a->name),
            .title = component_add_text(tenon, a->title),
            .description = component_add_text(tenon, a->description),
            .required = a->required,
        };
        const char *const texts[] = {a->name, a->title, a->description};
        const struct str copies[] = {v[i].name, v[i].title, v[i].description};
        if (!component_are_copied(copies, texts, sizeof texts / sizeof *texts))
            return component_add_no_memory(tenon);
    }
    to->arguments = v;
    to->n_arguments = from->n_arguments;
    return 0;
}

static int copy_prompt(struct tenon *tenon, const struct tenon_prompt *from,
                       struct component_prompt *to)
{
    *to = (struct component_prompt){
        .component = tenon->component,
        .name = component_add_text(tenon, from->name),
        .title = component_add_text(tenon, from->title),
        .description = component_add_text(tenon, from->description),
        .is_inline = from->is_inline,
        .render = from->render,
        .complete = from->complete,
        .ctx = from->ctx,
    };
    const char *const texts[] = {from->name, from->title, from->description};
    const struct str copies[] = {to->name, to->title, to->description};
    bool complete = component_are_copied(copies, texts, sizeof texts / sizeof *texts);
    return complete ? copy_arguments(tenon, from, to) : component_add_no_memory(tenon);
}

static int check_shown(struct tenon *tenon, const struct component_prompt *prompt)
{
    struct mcp_prompt shown = {0};
    if (component_fill_prompt(prompt, &tenon->into->arena, &shown) < 0)
        return component_add_no_memory(tenon);
    return component_add_check(tenon, MCP_DEFINITION_PROMPT, &shown, "prompt", prompt->name.p);
}

int tenon_add_prompt(struct tenon *tenon, const struct tenon_prompt *prompt)
{
    struct offers *o = tenon->into;
    int err = check_prompt(tenon, prompt);
    if (err)
        return err;
    void *v =
        component_add_room(tenon, o->prompts, o->n_prompts, &o->prompts_cap, sizeof *o->prompts);
    if (!v)
        return component_add_no_memory(tenon);
    o->prompts = v;
    struct component_prompt *to = &o->prompts[o->n_prompts];
    err = copy_prompt(tenon, prompt, to);
    if (!err)
        err = check_shown(tenon, to);
    o->n_prompts += err == 0;
    return err;
}

static int keep(struct tenon *tenon, const struct component_prompt *p)
{
    struct tenon_prompt_argument arguments[PROMPT_ARGUMENTS_MAX];
    for (uint32_t i = 0; i < p->n_arguments; i++)
        arguments[i] = (struct tenon_prompt_argument){
            .name = p->arguments[i].name.p,
            .title = p->arguments[i].title.p,
            .description = p->arguments[i].description.p,
            .required = p->arguments[i].required,
        };
    return tenon_add_prompt(tenon, &(struct tenon_prompt){
                                       .name = p->name.p,
                                       .title = p->title.p,
                                       .description = p->description.p,
                                       .arguments = arguments,
                                       .n_arguments = p->n_arguments,
                                       .is_inline = p->is_inline,
                                       .render = p->render,
                                       .complete = p->complete,
                                       .ctx = p->ctx,
                                   });
}

int component_keep_prompts(struct tenon *tenon, const struct offers *from, struct str component)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < from->n_prompts; i++)
        if (str_eq(from->prompts[i].component, component))
            err = keep(tenon, &from->prompts[i]);
    return err;
}

/* ---- Finding and showing -------------------------------------------------------------------- */

const struct component_prompt *component_find_prompt(const struct offers *offers, struct str name)
{
    for (uint32_t i = 0; offers && i < offers->n_prompts; i++)
        if (str_eq(offers->prompts[i].name, name))
            return &offers->prompts[i];
    return NULL;
}

const struct component_argument *component_find_argument(const struct component_prompt *prompt,
                                                         struct str name)
{
    for (uint32_t i = 0; i < prompt->n_arguments; i++)
        if (str_eq(prompt->arguments[i].name, name))
            return &prompt->arguments[i];
    return NULL;
}

static void fill_argument(const struct component_argument *from, struct mcp_prompt_argument *to)
{
    *to = (struct mcp_prompt_argument){.has = 0};
    MCP_SET(to, name, from->name);
    COMPONENT_SET_IF(to, title, from->title);
    COMPONENT_SET_IF(to, description, from->description);
    if (from->required)
        MCP_SET(to, required, true);
}

int component_fill_prompt(const struct component_prompt *from, struct arena *arena,
                          struct mcp_prompt *prompt)
{
    uint32_t n = from->n_arguments;
    MCP_SET(prompt, name, from->name);
    MCP_SET(prompt, description, from->description);
    COMPONENT_SET_IF(prompt, title, from->title);
    if (!n)
        return 0;
    struct mcp_prompt_argument *v = arena_array(arena, n, sizeof *v);
    if (!v)
        return ERR_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        fill_argument(&from->arguments[i], &v[i]);
    prompt->arguments.v = v;
    prompt->arguments.n = n;
    prompt->has_arguments = 1;
    return 0;
}
