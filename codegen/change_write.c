/* codegen/change_write.c - the changes as text for people and as JSON; see change.h. */
#include "codegen/change.h"

#include "codegen/json_out.h"
#include "codegen/messages.h"

static const char *const kind_names[] = {
    [CHANGE_ADDED] = "added",
    [CHANGE_REMOVED] = "removed",
    [CHANGE_CHANGED] = "changed",
    [CHANGE_RENAMED] = "renamed",
};
static const char kind_marks[] = "+-~~";
static const char *const subject_names[] = {"method", "type", "field"};

static const struct {
    const char *title, *key;
    unsigned direction;
} directions[] = {
    {"client to server", "client_to_server", TO_SERVER},
    {"server to client", "server_to_client", TO_CLIENT},
    {"both directions", "both", TO_SERVER | TO_CLIENT},
    {"in no union of messages", "none", 0},
};
enum { N_DIRECTIONS = sizeof directions / sizeof *directions };

/* ---- text */

static void write_required(const struct change *change, struct buf *out)
{
    if (change->kind != CHANGE_CHANGED)
        return;
    if (change->required_from != change->required_to)
        buf_add_str(out,
                    change->required_to ? STR(" (now required)") : STR(" (no longer required)"));
}

static void write_members(const char *word, struct str members, struct buf *out)
{
    if (members.p)
        buf_printf(out, "%s" STR_FMT, word, STR_ARG(members));
}

static void write_field(const struct change *change, struct buf *out)
{
    bool optional = change->kind == CHANGE_REMOVED ? !change->required_from : !change->required_to;
    bool member = change->path.n && change->path.p[change->path.n - 1] != ']' &&
                  change->path.p[change->path.n - 1] != '}';
    buf_printf(out, "    %c ", kind_marks[change->kind]);
    if (change->path.n)
        buf_printf(out, STR_FMT "%s: ", STR_ARG(change->path), optional && member ? "?" : "");
    if (change->members_removed.p || change->members_added.p) {
        write_members("without ", change->members_removed, out);
        write_members(change->members_removed.p ? ", with " : "with ", change->members_added, out);
    } else {
        if (change->kind == CHANGE_CHANGED && !str_eq(change->from, change->to))
            buf_printf(out, STR_FMT " -> ", STR_ARG(change->from));
        buf_add_str(out, change->to.p ? change->to : change->from);
    }
    write_required(change, out);
    buf_add_char(out, '\n');
}

static void write_method(const struct change *change, struct buf *out)
{
    buf_printf(out, "  %c " STR_FMT " (", kind_marks[change->kind], STR_ARG(change->name));
    if (change->kind == CHANGE_CHANGED)
        buf_printf(out, STR_FMT " -> ", STR_ARG(change->from));
    buf_printf(out, STR_FMT ")\n", STR_ARG(change->to.p ? change->to : change->from));
}

static void write_type(const struct change *change, struct buf *out)
{
    buf_printf(out, "  %c " STR_FMT, kind_marks[change->kind], STR_ARG(change->name));
    if (change->kind == CHANGE_RENAMED)
        buf_printf(out, " (was " STR_FMT ")", STR_ARG(change->from));
    else if (change->to.p)
        buf_printf(out, ": " STR_FMT, STR_ARG(change->to));
    buf_add_char(out, '\n');
}

/* One section; fields stand under a line with their type's name. */
static void write_section(const struct changes *changes, unsigned direction,
                          enum change_subject subject, struct buf *out)
{
    struct str type = STR_NONE;
    for (const struct change *change = changes->first; change; change = change->next) {
        if (change->direction != direction || change->subject != subject)
            continue;
        if (subject == CHANGE_METHOD)
            write_method(change, out);
        else if (subject == CHANGE_TYPE)
            write_type(change, out);
        else {
            if (!str_eq(type, change->name))
                buf_printf(out, "  ~ " STR_FMT "\n", STR_ARG(change->name));
            type = change->name;
            write_field(change, out);
        }
    }
}

void change_write_text(const struct changes *changes, struct str from, struct str to,
                       struct buf *out)
{
    static const char *const titles[] = {"methods", "types added, removed, renamed",
                                         "types changed"};
    buf_printf(out, "MCP " STR_FMT " -> " STR_FMT "\n", STR_ARG(from), STR_ARG(to));
    for (int i = 0; i < N_DIRECTIONS; i++) {
        for (int subject = CHANGE_METHOD; subject <= CHANGE_FIELD; subject++) {
            size_t before = out->n;
            buf_printf(out, "\n%s: %s\n", directions[i].title, titles[subject]);
            size_t title = out->n;
            write_section(changes, directions[i].direction, (enum change_subject)subject, out);
            if (out->n == title)
                out->n = before; /* nothing to say, so no title */
        }
    }
    if (!changes->first)
        buf_add_lit(out, "\nno change\n");
}

/* ---- JSON */

static void write_member(struct buf *out, const char *name, struct str value)
{
    if (!value.p)
        return;
    buf_printf(out, ", \"%s\": ", name);
    json_out_string(out, value);
}

static const char *direction_key(unsigned direction)
{
    int i = 0;
    while (directions[i].direction != direction)
        i++;
    return directions[i].key;
}

static void write_change(const struct change *change, struct buf *out)
{
    buf_printf(out, "\n  {\"subject\": \"%s\", \"change\": \"%s\", \"direction\": \"%s\"",
               subject_names[change->subject], kind_names[change->kind],
               direction_key(change->direction));
    write_member(out, change->subject == CHANGE_METHOD ? "method" : "type", change->name);
    if (change->subject == CHANGE_FIELD)
        write_member(out, "path", change->path);
    write_member(out, "from", change->from);
    write_member(out, "to", change->to);
    write_member(out, "members_removed", change->members_removed);
    write_member(out, "members_added", change->members_added);
    if (change->subject == CHANGE_FIELD && change->from.p)
        buf_printf(out, ", \"required_from\": %s", change->required_from ? "true" : "false");
    if (change->subject == CHANGE_FIELD && change->to.p)
        buf_printf(out, ", \"required_to\": %s", change->required_to ? "true" : "false");
    buf_add_char(out, '}');
}

void change_write_json(const struct changes *changes, struct str from, struct str to,
                       struct buf *out)
{
    buf_add_lit(out, "{\n \"from\": ");
    json_out_string(out, from);
    buf_add_lit(out, ",\n \"to\": ");
    json_out_string(out, to);
    buf_add_lit(out, ",\n \"changes\": [");
    for (const struct change *change = changes->first; change; change = change->next) {
        write_change(change, out);
        if (change->next)
            buf_add_char(out, ',');
    }
    buf_add_lit(out, "\n ]\n}\n");
}
