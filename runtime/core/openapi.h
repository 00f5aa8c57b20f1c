/* core/openapi.h - the tables as an OpenAPI 3.1 document, for people and generators of clients.
 *
 * Every tool of a table is a POST of its arguments to /<database>/<table>/<verb>, answered by its
 * structured content. The schemas are those that tools/list shows, so what is hidden there is
 * hidden here. It describes; calls go by MCP.
 */
#ifndef TENON_CORE_OPENAPI_H
#define TENON_CORE_OPENAPI_H

#include "core/catalog.h"

/* Appends the document. Tables that would make it longer than `most` bytes (about; 0:
 * OPENAPI_BYTES_MAX) are counted in "x-omitted-tables" instead. 0, ERR_NO_MEMORY, or what *stop
 * becomes meanwhile (an error; NULL: nothing stops it). Milliseconds where there are many tables;
 * any thread that holds the catalog. */
int openapi_write(const struct catalog *catalog, size_t most, const _Atomic int *stop,
                  struct buf *out);

#endif
