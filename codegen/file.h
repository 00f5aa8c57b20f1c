/* codegen/file.h - whole files in and out. */
#ifndef TENON_CODEGEN_FILE_H
#define TENON_CODEGEN_FILE_H

#include "base/str.h"

/* Appends the file's bytes. 0; ERR_IO (errno says why); ERR_NO_MEMORY. */
int file_read(const char *path, struct buf *out);
/* Writes the file if it does not hold just this text already, so that make sees no change where
 * there is none; through a temporary file and a rename, so that nobody sees a half of it. Missing
 * folders of the path are made. 0; ERR_IO (errno says why); ERR_NO_MEMORY. */
int file_write(const char *path, struct str text);

#endif
