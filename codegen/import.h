/* codegen/import.h - from a published MCP schema file to the facts that spec/ keeps.
 *
 * What stays: every keyword that decides whether a message is valid. What goes: texts written for
 * people (description, title, examples, $comment), but only where they are annotations; a property
 * that is called "title" is a fact. The order of keywords is fixed, properties, definitions and
 * `required` are sorted, other arrays keep their order; so the same facts give the same bytes, and
 * importing an imported file changes nothing. A keyword that the generator has never seen stops
 * the import: it could change the meaning.
 */
#ifndef TENON_CODEGEN_IMPORT_H
#define TENON_CODEGEN_IMPORT_H

#include "base/str.h"

/* Appends the facts of `text` to out. 0; ERR_SYNTAX with one line in *fault: "name:line:column:
 * #/pointer: what is wrong"; ERR_NO_MEMORY. */
int import_text(const char *name, struct str text, struct buf *out, struct buf *fault);

/* `tenon-gen import FILE REV [--out DIR]`: argv[0] is "import". Writes DIR/REV/schema.json and
 * DIR/REV/SOURCE (the published file's checksum), DIR being "spec" unless given. Returns the exit
 * status: 0, 1 for a fault in the file or the file system, 2 for a wrong call. */
int import_main(int argc, char **argv);

#endif
