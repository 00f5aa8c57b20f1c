/* manifest/wording.h - texts with {{name}} in them, and the bytes of a member; inside manifest
 * only. */
#ifndef TENON_MANIFEST_WORDING_H
#define TENON_MANIFEST_WORDING_H

#include "manifest/manifest.h"
#include "manifest/placeholders.h"

/* A text that is filled in for each call; absent: v NULL and not there. */
struct wording {
    bool is_there;
    struct placeholders parts;
};

/* Is this the name of something that can be filled in? */
typedef bool (*manifest_name_fn)(const void *ctx, struct str name);

struct manifest_names {
    manifest_name_fn is_known;
    const void *ctx;
    const char *what; /* "an argument of the prompt" */
};

/* Parses a text that lives as long as the manifest; names that are not known are faults. */
int wording_parse(struct manifest *m, struct str text, const char *pointer,
                  const struct manifest_names *names, struct wording *ret);
/* The string of the entry's member, if it is there. */
int wording_of(const struct manifest_entry *entry, const char *member,
               const struct manifest_names *names, struct wording *ret);

/* What stands for a name; NULL: nothing. */
typedef const char *(*manifest_value_fn)(struct tenon_call *call, const void *ctx, struct str name);

/* Filled in, as it stands; NULL: it is not there, or no memory (then tenon_fail has said so). */
const char *wording_fill(struct tenon_call *call, const struct wording *text,
                         manifest_value_fn value, const void *ctx);

/* The bytes of base64 text, kept with the manifest. */
int manifest_bytes(struct manifest *m, struct str base64, const char *pointer, struct str *ret);
/* The bytes of a file of the folder, likewise, with a NUL behind them. */
int manifest_file_bytes(struct manifest *m, struct str name, const char *pointer, struct str *ret);
/* The same, but text: UTF-8 without NUL. */
int manifest_file_text(struct manifest *m, struct str name, const char *pointer, struct str *ret);

/* The entry of a member that is an object. */
struct manifest_entry manifest_member(const struct manifest_entry *entry, const char *member);
/* A string member, absent if it is not there. Not copied. */
struct str manifest_str(const struct manifest_entry *entry, const char *member);

#endif
