/* codegen/overlay_tree.h - spec/overlay.mcp after reading: statements in order, and how to ask
 * them.
 *
 * The overlay says what the published schemas lost or never had. spec/README.md explains every
 * statement for those who write it; this header is for those who read it. Each statement counts
 * its hits, so that one that names nothing can be refused.
 */
#ifndef TENON_CODEGEN_OVERLAY_TREE_H
#define TENON_CODEGEN_OVERLAY_TREE_H

#include "base/arena.h"
#include "codegen/fault.h"

#define REVISIONS_MAX 16

struct word {
    struct str text;
    uint32_t line;
    unsigned hits;
    struct word *next;
};

/* Which revisions a statement is for; names, resolved against the `revision` lines. */
enum span_kind { SPAN_ALL, SPAN_IN, SPAN_UNTIL, SPAN_SINCE };
struct span {
    enum span_kind kind;
    struct word *revisions;
    uint32_t mask; /* of revision numbers; filled by overlay_finish */
};

enum statement_kind {
    OVERLAY_OMIT,   /* definitions left out, with the reason */
    OVERLAY_RENAME, /* a definition is called otherwise */
    OVERLAY_NAME,   /* what stands at a path gets a name */
    OVERLAY_ADD,    /* a member the schema lost */
    OVERLAY_HOLDS,  /* one C struct for several objects */
    OVERLAY_RAW,    /* kept as text, checked */
    OVERLAY_OPEN,   /* an object without known members, in the struct of another */
    OVERLAY_NUMBER, /* "integer" was "number" */
    OVERLAY_ANY,    /* any JSON */
    OVERLAY_TOKEN,  /* string or integer, kept as raw text */
    OVERLAY_MANY,   /* one value here, one or many elsewhere: lies as an array of one */
    OVERLAY_ORDER,  /* values of an enum in their order */
    OVERLAY_UNION,  /* how the alternatives of a union are told apart */
    OVERLAY_FACTOR, /* alternatives that differ in one member only */
};

struct condition {
    struct word *member;
    struct str literal; /* the member holds this string; STR_NONE: it is there */
    bool absent;        /* it is not there */
    struct condition *next;
};

struct choice {
    struct word *name;
    struct condition *conditions; /* NULL: otherwise */
    struct choice *next;
};

struct statement {
    enum statement_kind kind;
    uint32_t line;
    struct word *words; /* what the statement lists: paths, names, values */
    struct word
        *to; /* RENAME, NAME, ADD, OPEN: the other name; HOLDS, ORDER, FACTOR, UNION: subject */
    struct str reason; /* OMIT */
    struct choice *choices;
    struct span span;
    unsigned hits;
    struct statement *next;
};

struct method_line {
    struct word *name;
    bool from_client, from_server;
    struct word *result;
    struct word *server_gate, *client_gate;
    struct word *flags;
    bool handled, ignored;
    unsigned hits;
    struct method_line *next;
};

struct overlay {
    const char *path;
    struct arena *arena;
    struct word *revisions; /* oldest first */
    unsigned n_revisions;
    struct statement *statements;
    struct method_line *methods; /* in the order of the file */
};

/* Reads the file; faults are counted (fault.h). */
void overlay_load(const char *path, struct arena *arena, struct overlay *ret);

struct place overlay_place(const struct overlay *overlay, uint32_t line);
/* Number of a revision, or -1. */
int overlay_revision(const struct overlay *overlay, struct str name);

/* The first statement of that kind, for that revision, one of whose words matches the path
 * ("Type.member" or "Type"; "*" stands for any text), or NULL. Counts as a hit. */
struct statement *overlay_find(struct overlay *overlay, enum statement_kind kind, unsigned revision,
                               struct str path);
/* The same where `to`, and not the words, is compared. */
struct statement *overlay_find_to(struct overlay *overlay, enum statement_kind kind,
                                  unsigned revision, struct str name);
struct method_line *overlay_method(struct overlay *overlay, struct str name);
bool overlay_matches(struct str pattern, struct str text);

/* Refuses every statement and word that never had a hit. */
void overlay_refuse_idle(const struct overlay *overlay);

#endif
