/* manifest/manifest.h - a component without C: a folder with a component.json.
 *
 * The file is read into a tree, which knows its lines, and a tape, which is judged by one JSON
 * Schema (component.schema.json, in the binary too). What the schema cannot say is judged while its
 * entries are registered, by the calls of tenon.h that a component in C uses: nothing in core knows
 * of manifests. Each fault is a line "folder/component.json:LINE: /pointer: what was expected", and
 * all are told, up to MANIFEST_FAULTS_MAX, not only the first.
 *
 *   manifest_load       reads and judges the file
 *   manifest_register   offers its prompts, resources, templates and tools; within components_fill
 *   manifest_tables     makes and changes its tables; one process, once
 *
 * What is registered refers to the manifest, which has to live until nobody can call it any more.
 */
#ifndef TENON_MANIFEST_MANIFEST_H
#define TENON_MANIFEST_MANIFEST_H

#include "base/json_tree.h"
#include "base/limits.h"
#include "tenon.h"
#include "wire/tape.h"

#include <sys/types.h>

#define MANIFEST_FILE "component.json"

struct file_source;
struct store;

struct manifest_faults {
    uint32_t n; /* all; the first are kept */
    struct str lines[MANIFEST_FAULTS_MAX];
};

/* What it was made of, as it was then: manifest_is_changed. */
struct manifest_file {
    struct manifest_file *next;
    struct str path;
    dev_t dev;
    ino_t ino; /* all 0: it was not there */
    off_t size;
    int64_t changed_ns;
};

/* A file that somebody may subscribe to. */
struct manifest_source {
    struct manifest_source *next;
    const struct file_source *source;
};

struct manifest {
    struct arena arena; /* of all that it holds */
    struct str folder;  /* as it was given */
    struct str path;    /* absolute */
    struct str file;    /* folder/component.json, for faults */
    struct json *tree;
    const struct tape_node *root; /* it fits the schema; NULL: it does not */
    struct manifest_faults faults;
    struct manifest_file *files;
    struct manifest_source *sources;
};

/* 0 with *ret; ERR_PARAMS with *ret, whose faults say why; ERR_NO_MEMORY. */
int manifest_load(struct str folder, struct manifest **ret);
void manifest_free(struct manifest *m); /* NULL is fine */

/* To be called within components_fill: `ctx` is the manifest, which was loaded. 0;
 * TENON_ERR_ARGUMENT: its faults say why; TENON_ERR_NO_MEMORY. */
int manifest_register(struct tenon *tenon, void *ctx);

/* Makes the tables that are not there, gives those that are their definition, and makes the indexes
 * that they lack. Each is done whole or not at all. Blocks. 0; ERR_PARAMS: its faults say why; and
 * what the store says. */
int manifest_tables(struct manifest *m, struct store *store);

/* Would it be read differently now? */
bool manifest_is_changed(const struct manifest *m);

/* ---- For the files of manifest only --------------------------------------------------------- */

extern const unsigned char manifest_schema[]; /* component.schema.json */
extern const uint32_t manifest_schema_bytes;

/* Remembers a fault of what stands at the pointer (RFC 6901, from the file's root). Returns
 * ERR_PARAMS. */
int manifest_fault(struct manifest *m, const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a line that is known; 0: none. */
int manifest_fault_at_line(struct manifest *m, uint32_t line, const char *pointer, const char *fmt,
                           ...) __attribute__((format(printf, 4, 5)));
/* The pointer of a member, or of an entry, below a pointer; lies in the arena; "": no memory. */
const char *manifest_at(struct manifest *m, const char *pointer, struct str member);
const char *manifest_at_n(struct manifest *m, const char *pointer, uint32_t n);
/* What tenon_add_x returned: its refusal becomes a fault. 0, ERR_PARAMS or ERR_NO_MEMORY. */
int manifest_added(struct manifest *m, struct tenon *tenon, const char *pointer, int result);

/* An entry of one of the lists: `node` of the tape at `pointer`, which fits the schema. */
struct manifest_entry {
    struct manifest *m;
    struct tenon *tenon;
    const struct tape_node *node;
    const char *pointer;
};

/* Each registers one. What they find wrong they tell by manifest_fault and return ERR_PARAMS; the
 * others are tried all the same. What lives longer than the call is made in the arena. */
int manifest_add_prompt(const struct manifest_entry *entry);
int manifest_add_resource(const struct manifest_entry *entry);
int manifest_add_template(const struct manifest_entry *entry);
int manifest_add_tool(const struct manifest_entry *entry);
/* A table is not registered, only judged. */
int manifest_check_table(const struct manifest_entry *entry);

/* The string of a member, with a NUL behind it, in the arena; NULL: it is not there (or no memory,
 * which the arena remembers nowhere: check what must be there). */
const char *manifest_text(const struct manifest_entry *entry, const char *member);
/* What stands there in the tree. */
const struct json *manifest_json(const struct manifest_entry *entry, const char *member);
struct tenon_annotations manifest_annotations(const struct manifest_entry *entry);

/* read.c: reads a file of the folder, which is then one of those that manifest_is_changed looks
 * at. 0; ERR_PARAMS after a fault at the pointer; ERR_NO_MEMORY. */
int manifest_read(struct manifest *m, struct str name, const char *pointer, size_t max_bytes,
                  struct buf *out);

#endif
