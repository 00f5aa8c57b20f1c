/* codegen/methods.c - the method list: what the schemas show, together with the overlay's lines.
 *
 * A method is a definition whose member `method` has a fixed value. Who may send it stands in the
 * unions ClientRequest, ServerNotification and so on, one of which may be a single object instead
 * of a union; the overlay says it too, and both must agree.
 */
#include "codegen/model.h"

#include <string.h>

static struct str method_of(const struct schema *schema)
{
    const struct schema_member *member = schema_member(schema, STR("method"));
    if (!member || !member->schema || !member->schema->literal.p)
        return STR_NONE;
    return (struct str){member->schema->literal.p + 1, member->schema->literal.n - 2};
}

static bool sends(const struct schema_file *file, const char *who, const char *what,
                  struct arena *arena, struct str method)
{
    const struct definition *all = schema_find(file, arena_printf(arena, "%s%s", who, what));
    if (!all)
        return false;
    if (all->schema->ref.p)
        all = schema_find(file, all->schema->ref);
    if (all && str_eq(method_of(all->schema), method))
        return true;
    for (uint32_t i = 0; all && i < all->schema->any_of.n; i++) {
        const struct definition *one = schema_find(file, all->schema->any_of.v[i]->ref);
        if (one && str_eq(method_of(one->schema), method))
            return true;
    }
    return false;
}

static bool ends_with(struct str s, struct str tail)
{
    return s.n >= tail.n && memcmp(s.p + s.n - tail.n, tail.p, tail.n) == 0;
}

static struct method *method_get(struct model *model, struct str name)
{
    struct method **at = &model->methods;
    while (*at && str_compare((*at)->name, name) < 0)
        at = &(*at)->next;
    if (*at && str_eq((*at)->name, name))
        return *at;
    struct method *method = must(arena_zalloc(model->arena, sizeof *method));
    method->name = name;
    method->line = overlay_method(&model->overlay, name);
    method->next = *at;
    *at = method;
    return method;
}

static struct str result_name(struct model *model, const struct method *method,
                              const struct entry *entry)
{
    if (method->line->result)
        return method->line->result->text;
    return arena_printf(model->arena, STR_FMT "Result",
                        STR_ARG(((struct str){entry->name.p, entry->name.n - 7})));
}

static void find_result(struct model *model, struct revision *revision, const struct method *method,
                        const struct entry *entry, struct method_use *use)
{
    struct str name = result_name(model, method, entry);
    const struct entry *result = model_entry(revision, name);
    if (!result) {
        fault_at(entry->place, "method \"" STR_FMT "\": no result is called \"" STR_FMT "\"",
                 STR_ARG(method->name), STR_ARG(name));
        return;
    }
    use->has_result = true;
    use->result = result->shape;
}

static void find_params(const struct entry *entry, struct method_use *use)
{
    const struct field *params =
        entry->shape.object ? object_field(entry->shape.object, STR("params")) : NULL;
    if (!params)
        return;
    use->params = params->shape.object;
    use->params_required = params->required;
}

static void note_use(struct model *model, unsigned number, const struct entry *entry,
                     const struct schema *schema, struct str name)
{
    struct revision *revision = &model->revisions[number];
    struct method *method = method_get(model, name);
    struct method_use *use = &method->uses[number];
    const char *what = ends_with(entry->name, STR("Request")) ? "Request" : "Notification";
    if (!method->line) {
        fault_at(schema->place, "method \"" STR_FMT "\" has no line in %s", STR_ARG(name),
                 model->overlay.path);
        return;
    }
    method->is_request = *what == 'R';
    use->from_client = sends(&revision->file, "Client", what, model->arena, name);
    use->from_server = sends(&revision->file, "Server", what, model->arena, name);
    find_params(entry, use);
    if (method->is_request)
        find_result(model, revision, method, entry, use);
}

static void check_direction(struct model *model, const struct method *method)
{
    bool from_client = false, from_server = false;
    for (unsigned i = 0; i < model->n_revisions; i++) {
        from_client |= method->uses[i].from_client;
        from_server |= method->uses[i].from_server;
    }
    if (from_client != method->line->from_client || from_server != method->line->from_server)
        fault_at(overlay_place(&model->overlay, method->line->name->line),
                 "method \"" STR_FMT "\": the schemas say it comes from%s%s%s",
                 STR_ARG(method->name), from_client ? " client" : "", from_server ? " server" : "",
                 from_client || from_server ? "" : " nobody");
}

void model_find_methods(struct model *model)
{
    for (unsigned i = 0; i < model->n_revisions; i++)
        for (uint32_t k = 0; k < model->revisions[i].n_entries; k++) {
            const struct entry *entry = &model->revisions[i].entries[k];
            const struct schema *schema =
                schema_find(&model->revisions[i].file, entry->published)->schema;
            struct str name = method_of(schema);
            if (name.p && (ends_with(entry->name, STR("Request")) ||
                           ends_with(entry->name, STR("Notification"))))
                note_use(model, i, entry, schema, name);
        }
    for (const struct method *method = model->methods; method; method = method->next)
        if (method->line)
            check_direction(model, method);
}
