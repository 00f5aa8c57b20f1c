/* manifest/files.h - resources and templates whose contents are files.
 *
 *   of a resource:  "file": "docs/about.md"
 *               or  "file": {"path": "docs/about.md", "maxBytes": 65536}
 *   of a template:  "file": {"folder": "notes", "path": "{{id}}.md", "maxBytes": 65536,
 *                            "hidden": false}
 *
 * `folder` is in the manifest's folder, or absolute; without one it is the manifest's folder. Each
 * {{name}} of `path` is a variable of the URI template. Nothing outside the folder can be read:
 * no part of a path may be "..", ".", empty, or begin with a dot (unless `hidden`), and no symbolic
 * link below the folder is followed. Only regular files are read. Everything else is
 * "not found" to the client. What is valid UTF-8 without NUL and of a type that is text goes out as
 * text, all else as a blob. The type is the registered one, else that of the file's ending.
 */
#ifndef TENON_MANIFEST_FILES_H
#define TENON_MANIFEST_FILES_H

#include "base/json_tree.h"
#include "schema/template.h"
#include "tenon.h"

struct file_source; /* constant once parsed */

/* Reads the member `file` of a resource or template (uri) of the manifest in `folder` (an absolute
 * path). `mime_type`: the registered one, or absent. What it keeps lies in the arena and points
 * into the tree. 0; ERR_PARAMS with *error, the place and what is wrong; ERR_NO_MEMORY. */
int file_source_parse(const struct json *file, bool is_template, struct str uri,
                      struct str mime_type, struct str folder, struct arena *arena,
                      const struct file_source **ret, struct json_error *error);

/* For tenon_resource and tenon_template: .read = file_read, .ctx = (void *)source. Not inline. */
int file_read(struct tenon_call *call, void *source);
/* For tenon_template: proposes the names of files, if the variable stands in the last part of the
 * path and the others are known. */
int file_complete(struct tenon_call *call, const char *variable, const char *value, void *source);

/* ---- Changes --------------------------------------------------------------------------------
 * One process looks at all of them about once a second. What it last saw is kept in a file, so that
 * changes made while nobody looked are told, too. Not thread-safe. */

struct file_watch;

/* `state`: path of that file; NULL: none, the first look tells nothing. */
int file_watch_new(const char *state, struct file_watch **ret);
void file_watch_free(struct file_watch *watch); /* NULL is fine */
/* Instead of those before; the sources must live as long as they are watched. */
int file_watch_set(struct file_watch *watch, const struct file_source *const *sources, uint32_t n);
/* Calls `changed` with the URI of each file that came, went or changed since the last look. When it
 * fails (negative), the change is told again at the next look. Does nothing, and returns 0, while
 * the pause after the last look is not over: a second, or 20 times what that look took. */
int file_watch_look(struct file_watch *watch, int (*changed)(void *ctx, struct str uri), void *ctx);

#endif
