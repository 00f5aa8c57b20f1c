/* tests/fuzz/fuzz_role.c - the tree of a role on the first line, the definition of a table on the
 * second, a row (JSON) behind them. A row as the role sees it has nothing that it may not read,
 * fits the output schema that the role is shown, and that has no more names than the row may have.
 */
#include "base/arena.h"
#include "base/err.h"
#include "core/row_prepare.h"
#include "core/table_tools.h"
#include "core/table_view.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct str database = STR_INIT("d"), name = STR_INIT("t");

static const struct tape_node *open_json(struct str text, struct arena *arena)
{
    const struct tape_node *tape;
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        abort();
    if (text.n)
        memcpy(copy, text.p, text.n);
    return tape_open((struct str){copy, text.n}, arena, &tape, NULL) == 0 ? tape : NULL;
}

static bool may_read(const struct role *role, const struct table *t, const struct tape_node *member)
{
    return role_may_attribute(role, database, name, tape_str(member), MAY_READ) &&
           !table_is_hidden(t, tape_str(member));
}

/* Opened; NULL: it was too much for one of the limits. */
static const struct tape_node *open_output(const struct table *view, enum table_verb verb,
                                           struct arena *arena)
{
    struct buf text = {0};
    verb_write_output(verb, view, &text);
    const struct tape_node *output = open_json(buf_str(&text), arena);
    buf_done(&text);
    return output;
}

static void check_names(const struct role *role, const struct table *t,
                        const struct tape_node *schema)
{
    const struct tape_node *properties = tape_get(schema, STR("properties"));
    tape_each (properties, key, value)
        if (!may_read(role, t, key))
            abort();
}

static void check_row(const struct role *role, const struct table *t, const struct table *view,
                      const struct tape_node *row, struct arena *arena)
{
    const struct json_schema *schema;
    struct schema_faults faults;
    struct buf text = {0};
    table_write_row(view, row, 1, NULL, &text);
    const struct tape_node *shown = open_json(buf_str(&text), arena);
    buf_done(&text);
    if (!shown)
        abort();
    tape_each (shown, key, value)
        if (!may_read(role, t, key))
            abort();
    const struct tape_node *output = open_output(view, VERB_UPDATE, arena);
    if (output && json_schema_compile(output, NULL, arena, &schema, &faults) == 0 &&
        json_schema_check(schema, shown, NULL) == ERR_PARAMS)
        abort();
}

static void see(const struct role *role, const struct table *t, const struct tape_node *given,
                struct arena *arena)
{
    struct schema_faults faults = {0};
    const struct tape_node *row;
    struct table view;
    struct str key;
    if (table_view(t, role, arena, &view) < 0 || !view.may)
        return;
    const struct tape_node *output = open_output(&view, VERB_UPDATE, arena);
    if (output && (table_may(&view, MAY_READ) || table_may(&view, MAY_UPDATE)))
        check_names(role, t, output);
    if (given && table_prepare_row(t, given, arena, &row, &key, &faults) == 0)
        check_row(role, t, &view, row, arena);
}

static struct str next_line(struct str *rest)
{
    struct str line = rest->p ? str_cut(rest, '\n') : STR("");
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, (uint32_t)size};
    struct arena arena;
    const struct role *role;
    struct table t;
    struct schema_faults faults = {0};
    if (size > 1 << 14 || !size)
        return 0;
    struct str tree = next_line(&rest), definition = next_line(&rest);
    arena_init(&arena, 0);
    if (role_parse(tree, &arena, &role, &faults) == 0 &&
        table_parse(definition, &arena, &t, &faults) == 0) {
        t.database = database;
        t.name = name;
        const struct tape_node *given = rest.p ? open_json(rest, &arena) : NULL;
        see(role, &t, given && given->kind == TAPE_OBJECT ? given : NULL, &arena);
    }
    arena_done(&arena);
    return 0;
}
