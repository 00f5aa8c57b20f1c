/* manifest/table.c - tables of a manifest: made, or given another definition, by the same functions
 * as `tenon table create` and `tenon table alter`.
 *
 * A table that is there and has this definition is left alone, so a start changes nothing that is
 * as it should be. Indexes that the manifest does not name stay; what nobody wants any more is
 * dropped by hand (`tenon table drop`, `tenon index drop`). */
#include "base/err.h"
#include "base/log.h"
#include "core/manage.h"
#include "core/table_indexes.h"
#include "manifest/wording.h"
#include "wire/json_write.h"

struct making {
    const struct manifest_entry *entry;
    struct manage manage;
    struct str database, name; /* of the table */
    struct str definition;     /* as `tenon table create` takes it */
    struct table table;        /* by it */
};

/* ---- Reading -------------------------------------------------------------------------------- */

/* All but "table". */
static int write_definition(const struct manifest_entry *entry, struct arena *arena,
                            struct str *ret)
{
    struct buf text = {0};
    char before = '{';
    tape_each (entry->node, key, value) {
        if (str_eq(tape_str(key), STR("table")))
            continue;
        buf_add_char(&text, before);
        json_write_str(&text, tape_str(key));
        buf_add_char(&text, ':');
        tape_write(value, &text);
        before = ',';
    }
    buf_add_char(&text, '}');
    *ret = arena_buf(arena, &text);
    buf_done(&text);
    return ret->p ? 0 : ERR_NO_MEMORY;
}

static int tell_faults(const struct manifest_entry *entry, const struct schema_faults *faults)
{
    for (uint32_t i = 0; i < faults->n; i++) {
        struct str pointer =
            arena_printf(&entry->m->arena, "%s%s", entry->pointer, faults->v[i].pointer);
        manifest_fault(entry->m, pointer.p ? pointer.p : entry->pointer, "expected %s (%s)",
                       faults->v[i].expected, faults->v[i].keyword);
    }
    return ERR_PARAMS;
}

static int read_table(struct making *t, struct arena *arena)
{
    struct schema_faults faults = {0};
    struct str name = manifest_str(t->entry, "table");
    t->database = str_cut(&name, '.');
    t->name = name;
    int err = write_definition(t->entry, arena, &t->definition);
    if (err == 0 && t->definition.n > DEFINITION_BYTES_MAX)
        return manifest_fault(t->entry->m, t->entry->pointer, "expected at most %u bytes",
                              DEFINITION_BYTES_MAX);
    if (err == 0)
        err = table_parse(t->definition, arena, &t->table, &faults);
    return err < 0 && faults.n ? tell_faults(t->entry, &faults) : err;
}

/* Those before it in the list. */
static bool is_double(const struct manifest_entry *entry)
{
    const struct tape_node *list = tape_get(entry->m->root, STR("tables"));
    struct str name = manifest_str(entry, "table");
    for (const struct tape_node *node = list + 1; node != entry->node; node = tape_next(node))
        if (str_eq(tape_str(tape_get(node, STR("table"))), name))
            return true;
    return false;
}

int manifest_check_table(const struct manifest_entry *entry)
{
    struct making t = {.entry = entry};
    struct arena scratch;
    arena_init(&scratch, 0);
    int err = read_table(&t, &scratch);
    arena_done(&scratch);
    if (err == 0 && is_double(entry))
        err = manifest_fault(entry->m, manifest_at(entry->m, entry->pointer, STR("table")),
                             "another table has this name");
    return err;
}

/* ---- Making --------------------------------------------------------------------------------- */

static int refuse(const struct making *t, const char *what, int err)
{
    struct str why = manage_why(&t->manage, err);
    if (err == ERR_NO_MEMORY)
        return err;
    return manifest_fault(t->entry->m, t->entry->pointer, "%s" STR_FMT, what, STR_ARG(why));
}

/* The first row says enough. */
static int refuse_rows(const struct making *t)
{
    const struct manage_broken *broken = &t->manage.broken;
    return manifest_fault(
        t->entry->m, t->entry->pointer,
        "%llu %s not fit the new definition, the first is row " STR_FMT ": %s: expected %s",
        (unsigned long long)broken->n, broken->n == 1 ? "row does" : "rows do",
        STR_ARG(broken->v[0].key), broken->v[0].fault.pointer, broken->v[0].fault.expected);
}

/* Another process may do the same at the same time. */
static int create(struct making *t)
{
    int err = manage_create_table(&t->manage, t->database, t->name, t->definition);
    if (err == ERR_EXISTS)
        return 0;
    if (err < 0)
        return refuse(t, "the table cannot be made: ", err);
    log_info("component " STR_FMT ": created the table " STR_FMT "." STR_FMT,
             STR_ARG(t->entry->m->folder), STR_ARG(t->database), STR_ARG(t->name));
    return 0;
}

static int alter(struct making *t, const struct store_table *stored, struct str wanted)
{
    if (str_eq(stored->definition, wanted))
        return 0;
    int err = manage_alter_table(&t->manage, t->database, t->name, wanted);
    if (err < 0 && t->manage.broken.n)
        return refuse_rows(t);
    if (err < 0)
        return refuse(t, "the table cannot be changed: ", err);
    log_info("component " STR_FMT ": altered the table " STR_FMT "." STR_FMT,
             STR_ARG(t->entry->m->folder), STR_ARG(t->database), STR_ARG(t->name));
    return 0;
}

/* ---- Indexes -------------------------------------------------------------------------------- */

/* As an entry of "indexes". */
static int index_text(const struct store_index *index, struct arena *arena, struct str *ret)
{
    struct buf text = {0};
    table_indexes_write(index, 1, &text);
    *ret = arena_buf(arena, &text);
    buf_done(&text);
    if (!ret->p)
        return ERR_NO_MEMORY;
    *ret = (struct str){ret->p + 1, ret->n - 2};
    return 0;
}

static const struct store_index *find_index(const struct store_table *stored, struct str name)
{
    for (uint32_t i = 0; i < stored->n_indexes; i++)
        if (str_eq(stored->indexes[i].name, name))
            return &stored->indexes[i];
    return NULL;
}

static int make_index(struct making *t, const struct store_table *stored,
                      const struct store_index *wanted)
{
    const struct store_index *there = find_index(stored, wanted->name);
    struct str text, text_there, made;
    int err = index_text(wanted, t->manage.arena, &text);
    if (err == 0 && there)
        err = index_text(there, t->manage.arena, &text_there);
    if (err < 0)
        return err;
    if (there && str_eq(text, text_there))
        return 0;
    if (there)
        return manifest_fault(t->entry->m, t->entry->pointer,
                              "the index " STR_FMT " is there as " STR_FMT
                              "; drop it first (tenon index drop)",
                              STR_ARG(wanted->name), STR_ARG(text_there));
    err = manage_create_index(&t->manage, t->database, t->name, text, &made);
    return err < 0 && err != ERR_EXISTS ? refuse(t, "an index cannot be made: ", err) : 0;
}

static int make_indexes(struct making *t)
{
    struct store_table stored;
    int err = manage_find_table(&t->manage, t->database, t->name, &stored);
    if (err < 0)
        return refuse(t, "", err);
    for (uint32_t i = 0; err == 0 && i < t->table.n_indexes; i++)
        err = make_index(t, &stored, &t->table.indexes[i]);
    return err;
}

/* ---- All of them ---------------------------------------------------------------------------- */

static int make(struct making *t)
{
    struct store_table stored;
    struct str wanted;
    int err = manage_find_table(&t->manage, t->database, t->name, &stored);
    if (err == ERR_ABSENT) {
        t->manage.why = STR_NONE;
        return create(t);
    }
    if (err == 0)
        err = manage_strip(&t->manage, t->definition, &wanted);
    if (err < 0)
        return refuse(t, "", err);
    err = alter(t, &stored, wanted);
    return err < 0 ? err : make_indexes(t);
}

static int make_one(const struct manifest_entry *entry, struct store *store)
{
    struct arena arena;
    struct making t = {.entry = entry, .manage = {.store = store, .arena = &arena}};
    arena_init(&arena, 0);
    int err = read_table(&t, &arena);
    if (err == 0)
        err = make(&t);
    arena_done(&arena);
    return err;
}

int manifest_tables(struct manifest *m, struct store *store)
{
    const struct tape_node *list = tape_get(m->root, STR("tables"));
    const struct tape_node *node = list ? list + 1 : NULL;
    int err = 0;
    for (uint32_t i = 0; list && i < list->n && err != ERR_NO_MEMORY; i++, node = tape_next(node)) {
        const struct manifest_entry entry = {m, NULL, node, manifest_at_n(m, "/tables", i)};
        err = make_one(&entry, store);
    }
    return err == ERR_NO_MEMORY ? err : m->faults.n ? ERR_PARAMS : 0;
}
