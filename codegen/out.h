/* codegen/out.h - generated files being made: banner, guards, and one writing at the end. */
#ifndef TENON_CODEGEN_OUT_H
#define TENON_CODEGEN_OUT_H

#include "base/arena.h"

struct out_file {
    struct str path; /* inside the output folder */
    struct buf text;
    bool is_header;
    struct out_file *next;
};

struct out {
    struct arena *arena;
    struct out_file *files;
};

/* A new file that starts with the banner and a comment of what it is; a header gets its guard.
 * The path is printf's. */
struct buf *out_open(struct out *out, const char *about, const char *path, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes what changed below `dir`; 0 or ERR_IO, said on stderr. */
int out_write(struct out *out, const char *dir);
void out_done(struct out *out);

/* Appends list items, separated by ", ", in lines below 100 columns: call with the column where
 * the line stands; returns the new one. */
unsigned out_item(struct buf *text, unsigned column, unsigned indent, struct str item);

#endif
