/* core/manage.h - makes, describes, changes and drops tables and their indexes.
 *
 * Blocking functions on a store, without a call or a loop: for handler threads and the command
 * line. Whoever asks gets an error and a sentence that says what is wrong. Each is done whole or
 * not at all.
 *
 * The text of a definition that a person writes may name indexes. Once the table is there they are
 * the store's: what is stored as the definition has neither "indexes" nor "indexed", and describing
 * puts them together again.
 */
#ifndef TENON_CORE_MANAGE_H
#define TENON_CORE_MANAGE_H

#include "core/store.h"
#include "core/table.h"

#define MANAGE_BROKEN_SHOWN 10

/* Rows that a new definition would not allow. */
struct manage_broken {
    uint64_t n; /* all; the first of them are shown */
    struct {
        struct str key; /* as JSON */
        struct schema_fault fault;
    } v[MANAGE_BROKEN_SHOWN];
};

/* What is asked, and what comes of it. Zeroed but for the first two it is fine. */
struct manage {
    struct store *store;
    struct arena *arena; /* of all that is returned and said */
    /* Now and then while something takes long. Non-zero stops it with ERR_CANCELLED. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
    struct str why;              /* see manage_why */
    struct schema_faults faults; /* of the definition that was given, if n is not 0 */
    struct manage_broken broken; /* of manage_alter_table */
};

/* What went wrong, as one sentence without a full stop. */
struct str manage_why(const struct manage *m, int err);

/* All return 0 or an error; besides those below ERR_NO_MEMORY and what the store may say. A table
 * that is not there: ERR_ABSENT. A definition that is none: ERR_PARSE, ERR_PARAMS or ERR_TOO_LARGE.
 */

/* As stored, with its indexes, copied into the arena. */
int manage_find_table(struct manage *m, struct str database, struct str name,
                      struct store_table *ret);
/* All of them, by database and name. */
int manage_find_tables(struct manage *m, const struct store_table **ret, uint32_t *ret_n);
/* Appends the definition as a person would have written it, with the indexes that are ready. */
int manage_describe(const struct store_table *table, struct buf *out);

/* ERR_EXISTS: there is one of this name. */
int manage_create_table(struct manage *m, struct str database, struct str name,
                        struct str definition);
int manage_drop_table(struct manage *m, struct str database, struct str name);

/* manage_alter.c. The table gets this definition if all its rows fit it, those too that are written
 * meanwhile. Its primary key stays, and so do its indexes: the definition may name none that is not
 * there. ERR_PARAMS with `faults`, or with `broken` rows, or because of an index that would not fit
 * any more; ERR_CONFLICT: somebody else altered it meanwhile; ERR_TIMED_OUT: it was written faster
 * than its rows could be checked. */
int manage_alter_table(struct manage *m, struct str database, struct str name,
                       struct str definition);

/* manage_index.c. `definition` is an entry of "indexes", {"name"?, "on": [...], "unique"?}; *ret is
 * the name it got. ERR_PARAMS with `faults`; the rest as store_create_index. */
int manage_create_index(struct manage *m, struct str database, struct str name,
                        struct str definition, struct str *ret);
/* ERR_ABSENT: no such index. */
int manage_drop_index(struct manage *m, struct str database, struct str name, struct str index);

/* ---- For the files of manage only ----------------------------------------------------------- */

/* Sets the sentence; returns `err`. */
int manage_fail(struct manage *m, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Parses a definition; faults become the sentence. */
int manage_parse(struct manage *m, struct str definition, struct table *ret);
/* The text of a definition as it is stored. */
int manage_strip(struct manage *m, struct str definition, struct str *ret);
/* Copies a definition, with these indexes instead of its own. */
int manage_join(struct str definition, const struct store_index *indexes, uint32_t n,
                struct buf *out);
int manage_apply(struct manage *m, struct store_op *op);
/* A row's key as JSON; STR_NONE without memory. */
struct str manage_key_text(struct manage *m, const struct table *table, struct str key);

#endif
