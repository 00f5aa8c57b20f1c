/* core/component_resource.c - the resources and templates of components: taken in, found, shown in
 * the lists. */
#include "base/err.h"
#include "base/limits.h"
#include "core/component_add.h"
#include "core/component_call.h"
#include "core/resource_uri.h"
#include "schema/json_schema_format.h"
#include "schema/percent.h"
#include "schema/template.h"

#include <string.h>

/* ---- Checks --------------------------------------------------------------------------------- */

static bool is_taken(const struct component_resource *v, uint32_t n, struct str uri)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i].uri, uri))
            return true;
    return false;
}

/* ISO 8601: a date, or the date and time of RFC 3339. */
static bool is_instant(const char *text)
{
    return schema_format_fits(schema_format_find(STR("date-time")), str_of(text)) ||
           schema_format_fits(schema_format_find(STR("date")), str_of(text));
}

static const char *find_fault(const struct tenon *tenon, bool is_template,
                              const struct component_resource *r, const char *last_modified)
{
    const struct offers *o = tenon->into;
    const struct component_resource *others = is_template ? o->templates : o->resources;
    bool fits = r->uri.n && (is_template || percent_is_uri(r->uri));
    if (!tenon->component.p)
        return "it is added in tenon_component only";
    if (!fits)
        return "expected a URI with a scheme";
    if (resource_uri_is_own(r->uri))
        return "the schemes db: and tenon: are the server's";
    if (is_taken(others, is_template ? o->n_templates : o->n_resources, r->uri))
        return "another one has this URI";
    if (!r->name.n)
        return "it has no name";
    if (r->mime_type.p && !component_is_mime_type(r->mime_type))
        return "its mime type: expected such as text/plain";
    if (r->annotations.has_priority &&
        !(r->annotations.priority >= 0 && r->annotations.priority <= 1))
        return "its priority: expected 0 to 1";
    if (last_modified && !is_instant(last_modified))
        return "its last_modified: expected such as 2025-01-12T15:00:58Z";
    if (r->size < 0)
        return "its size: expected 0 or more bytes";
    return r->read ? NULL : "it has no read callback";
}

/* ---- Adding --------------------------------------------------------------------------------- */

/* What a resource and a template say alike, with texts not yet copied. */
static struct component_resource entry_of(struct tenon *tenon, const struct tenon_template *from)
{
#define TEXT(text) ((text) ? str_of(text) : STR_NONE)
    return (struct component_resource){
        .component = tenon->component,
        .uri = TEXT(from->uri_template),
        .name = TEXT(from->name),
        .title = TEXT(from->title),
        .description = TEXT(from->description),
        .mime_type = TEXT(from->mime_type),
        .annotations = from->annotations,
        .is_subscribable = from->subscribable,
        .is_inline = from->is_inline,
        .read = from->read,
        .complete = from->complete,
        .ctx = from->ctx,
    };
#undef TEXT
}

static int copy_texts(struct tenon *tenon, struct component_resource *r)
{
    struct arena *arena = &tenon->into->arena;
    struct str *const texts[] = {&r->uri, &r->name, &r->title, &r->description, &r->mime_type};
    const char **instant = &r->annotations.last_modified;
    bool complete = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]->p)
            complete &= (*texts[i] = arena_str(arena, *texts[i])).p != NULL;
    if (*instant)
        complete &= (*instant = component_add_text(tenon, *instant).p) != NULL;
    return complete ? 0 : component_add_no_memory(tenon);
}

static int check_shown(struct tenon *tenon, const struct component_resource *r)
{
    struct component_annotations annotations = {0};
    struct mcp_resource resource = {0};
    struct mcp_resource_template template_ = {0};
    if (r->template) {
        component_fill_template(r, &template_, &annotations);
        return component_add_check(tenon, MCP_DEFINITION_RESOURCE_TEMPLATE, &template_, "template",
                                   r->uri.p);
    }
    component_fill_resource(r, &resource, &annotations);
    return component_add_check(tenon, MCP_DEFINITION_RESOURCE, &resource, "resource", r->uri.p);
}

static int parse_template(struct tenon *tenon, struct component_resource *to)
{
    struct template_fault fault = {0};
    int err = template_parse(to->uri, &tenon->into->arena, &to->template, &fault);
    if (err == ERR_NO_MEMORY)
        return component_add_no_memory(tenon);
    if (err < 0)
        return component_add_refuse(
            tenon, "template", to->uri.p,
            arena_printf(&tenon->arena, "byte %u: %s", fault.offset, fault.what));
    return 0;
}

static int add(struct tenon *tenon, bool is_template, struct component_resource *r)
{
    struct offers *o = tenon->into;
    struct component_resource **v = is_template ? &o->templates : &o->resources;
    uint32_t *n = is_template ? &o->n_templates : &o->n_resources;
    uint32_t *cap = is_template ? &o->templates_cap : &o->resources_cap;
    const char *fault = find_fault(tenon, is_template, r, r->annotations.last_modified);
    if (fault)
        return component_add_refuse(tenon, is_template ? "template" : "resource", r->uri.p,
                                    str_of(fault));
    void *room = component_add_room(tenon, *v, *n, cap, sizeof **v);
    if (!room)
        return component_add_no_memory(tenon);
    *v = room;
    int err = copy_texts(tenon, r);
    if (!err && is_template)
        err = parse_template(tenon, r);
    if (!err)
        err = check_shown(tenon, r);
    if (!err)
        (*v)[(*n)++] = *r;
    return err;
}

int tenon_add_resource(struct tenon *tenon, const struct tenon_resource *resource)
{
    struct component_resource r = entry_of(tenon, &(struct tenon_template){
                                                      .uri_template = resource->uri,
                                                      .name = resource->name,
                                                      .title = resource->title,
                                                      .description = resource->description,
                                                      .mime_type = resource->mime_type,
                                                      .annotations = resource->annotations,
                                                      .subscribable = resource->subscribable,
                                                      .is_inline = resource->is_inline,
                                                      .read = resource->read,
                                                      .ctx = resource->ctx,
                                                  });
    r.size = resource->size;
    return add(tenon, false, &r);
}

int tenon_add_template(struct tenon *tenon, const struct tenon_template *template_)
{
    struct component_resource r = entry_of(tenon, template_);
    return add(tenon, true, &r);
}

static int keep(struct tenon *tenon, const struct offers *from, bool is_template,
                struct str component)
{
    const struct component_resource *v = is_template ? from->templates : from->resources;
    uint32_t n = is_template ? from->n_templates : from->n_resources;
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < n; i++) {
        struct component_resource r = v[i];
        r.component = tenon->component;
        if (str_eq(v[i].component, component))
            err = add(tenon, is_template, &r);
    }
    return err;
}

int component_keep_resources(struct tenon *tenon, const struct offers *from, struct str component)
{
    return keep(tenon, from, false, component);
}

int component_keep_templates(struct tenon *tenon, const struct offers *from, struct str component)
{
    return keep(tenon, from, true, component);
}

/* ---- Finding and showing -------------------------------------------------------------------- */

int component_find_resource(const struct offers *offers, struct str uri, struct arena *arena,
                            const struct component_resource **ret,
                            const struct template_value **ret_values)
{
    int err = ERR_ABSENT;
    if (!offers || uri.n > URI_BYTES_MAX || !percent_is_uri(uri))
        return ERR_ABSENT;
    for (uint32_t i = 0; i < offers->n_resources; i++)
        if (str_eq(offers->resources[i].uri, uri)) {
            *ret = &offers->resources[i];
            return 0;
        }
    for (uint32_t i = 0; err == ERR_ABSENT && i < offers->n_templates; i++) {
        err = template_match(offers->templates[i].template, uri, TEMPLATE_SAFE, arena, ret_values);
        if (err == 0)
            *ret = &offers->templates[i];
    }
    return err;
}

const struct component_resource *component_find_template(const struct offers *offers,
                                                         struct str uri_template)
{
    for (uint32_t i = 0; offers && i < offers->n_templates; i++)
        if (str_eq(offers->templates[i].uri, uri_template))
            return &offers->templates[i];
    return NULL;
}

/* Are there any? */
static bool fill_annotations(const struct tenon_annotations *from, struct component_annotations *to)
{
    struct mcp_annotations *value = &to->value;
    uint32_t n = 0;
    if (from->for_user)
        to->audience[n++] = MCP_ROLE_USER;
    if (from->for_assistant)
        to->audience[n++] = MCP_ROLE_ASSISTANT;
    if (n) {
        value->audience.v = to->audience;
        value->audience.n = n;
        value->has_audience = 1;
    }
    if (from->has_priority)
        MCP_SET(value, priority, from->priority);
    if (from->last_modified)
        MCP_SET(value, last_modified, str_of(from->last_modified));
    return value->has != 0;
}

void component_fill_resource(const struct component_resource *from, struct mcp_resource *resource,
                             struct component_annotations *annotations)
{
    MCP_SET(resource, uri, from->uri);
    MCP_SET(resource, name, from->name);
    COMPONENT_SET_IF(resource, title, from->title);
    COMPONENT_SET_IF(resource, description, from->description);
    COMPONENT_SET_IF(resource, mime_type, from->mime_type);
    if (from->size)
        MCP_SET(resource, size, from->size);
    if (fill_annotations(&from->annotations, annotations))
        MCP_SET(resource, annotations, &annotations->value);
}

void component_fill_template(const struct component_resource *from,
                             struct mcp_resource_template *template,
                             struct component_annotations *annotations)
{
    MCP_SET(template, uri_template, from->uri);
    MCP_SET(template, name, from->name);
    COMPONENT_SET_IF(template, title, from->title);
    COMPONENT_SET_IF(template, description, from->description);
    COMPONENT_SET_IF(template, mime_type, from->mime_type);
    if (fill_annotations(&from->annotations, annotations))
        MCP_SET(template, annotations, &annotations->value);
}
