/* core/row_prepare.h - makes of what somebody gives the row that is stored.
 *
 * The one place where defaults, times and what clients cannot see get into a row. Whoever writes
 * rows calls it between the check of what was given and the check of the whole row.
 */
#ifndef TENON_CORE_ROW_PREPARE_H
#define TENON_CORE_ROW_PREPARE_H

#include "core/table.h"

enum row_source {
    ROW_CREATED,  /* by a client: defaults, both times */
    ROW_REPLACED, /* the same, but what the client cannot set stays as it was, the key too, and
                     what it cannot see, if it says nothing of that */
    ROW_CHANGED,  /* the row as it was with changes made: the time of the update */
    ROW_IMPORTED, /* by the operator, who may give everything but the version: what is missing */
};

/* Does a client name what it may not set, although rows may have any attribute? 0; ERR_PARAMS with
 * *faults, as for an attribute that does not exist. Of a row, or for ROW_CHANGED of changes. */
int row_check_given(const struct table *table, enum row_source source,
                    const struct tape_node *given, struct schema_faults *faults);

/* `before`: the row that is there; of ROW_REPLACED only. *ret may be `row` itself; else the nodes
 * lie in `arena`, and texts are borrowed. 0; ERR_PARAMS with *faults: an import that has a version;
 * ERR_NO_MEMORY; ERR_IO (no random numbers). Does not check the row by its schema. */
int row_prepare(const struct table *table, enum row_source source, const struct tape_node *row,
                const struct tape_node *before, struct arena *arena, const struct tape_node **ret,
                struct schema_faults *faults);

/* All that an import needs of a record: the row as it is to be stored, checked, and its key. 0;
 * ERR_PARAMS or ERR_LIMIT with *faults (pointers from the row); ERR_NO_MEMORY; ERR_IO. */
int table_prepare_row(const struct table *table, const struct tape_node *given, struct arena *arena,
                      const struct tape_node **ret_row, struct str *ret_key,
                      struct schema_faults *faults);

/* What clients may learn of faults that the whole row has: nothing of what is hidden. */
void row_hide_faults(const struct table *table, struct schema_faults *faults);

#endif
