/* manifest/file_parts.h - what the files file_*.c share. */
#ifndef TENON_MANIFEST_FILE_PARTS_H
#define TENON_MANIFEST_FILE_PARTS_H

#include "manifest/files.h"
#include "manifest/placeholders.h"

#include <sys/stat.h>

struct file_source {
    struct str uri;                  /* or URI template */
    const struct template *template; /* NULL: of a resource */
    struct str mime_type;            /* absent: by the file's ending */
    const char *root;                /* absolute path */
    struct placeholders path;        /* below it; names end with NUL */
    bool shows_hidden;
    size_t bytes_max;
};

/* ---- file_open.c ---------------------------------------------------------------------------- */

/* Whether each part of a path below a folder may be asked for. */
bool file_path_is_allowed(struct str path, bool shows_hidden);
/* Opens what is below the folder, by no symbolic link. `flags` as of open. 0 or an errno; the same
 * for all that is not beneath. */
int file_open_beneath(const char *root, const char *path, int flags, int *ret_fd);
/* The same, as it is done where the system has no openat2. */
int file_open_by_steps(int root, const char *path, int flags, int *ret_fd);
/* A regular file, to be read. */
int file_open_regular(const char *root, const char *path, int *ret_fd, struct stat *ret);

/* ---- file_path.c: paths and URIs ------------------------------------------------------------ */

/* The path of the file that the variables name; ends with NUL. `get` gives the value of one, NULL:
 * it has none. 0, ERR_ABSENT, ERR_NO_MEMORY. */
int file_path_write(const struct file_source *source,
                    const char *(*get)(void *ctx, const char *variable), void *ctx,
                    struct buf *out);
/* The URI by which the file at `path` is read. 0; ERR_ABSENT: there is none; ERR_NO_MEMORY. */
int file_uri_write(const struct file_source *source, struct str path, struct arena *arena,
                   struct buf *out);

/* ---- file_type.c ---------------------------------------------------------------------------- */

/* By its ending; absent: unknown. */
struct str file_type_of(struct str path);
/* text/..., or JSON, XML and the like. */
bool file_is_text_type(struct str mime_type);

#endif
