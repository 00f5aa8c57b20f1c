/* core/lists.h - the four lists with pages work alike: one function for all. */
#ifndef TENON_CORE_LISTS_H
#define TENON_CORE_LISTS_H

#include "core/catalog.h"

/* Answers with a page of the catalog's list under the member `name`. `cursor` is STR_NONE for the
 * first page. CALL_WRITTEN, or an error, explained. */
int list_write_page(struct call *call, enum catalog_kind kind, const char *name, struct str cursor);

#endif
