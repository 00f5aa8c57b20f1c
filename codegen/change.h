/* codegen/change.h - what a maintainer reads when the protocol moves: a list of changes.
 *
 * diff.c finds them in two schemas of facts, change_write.c prints them. Texts of types are in a
 * short notation of our own: Name, string<uri>, integer(>=0), "fixed", A | B, A & B, T[], map of T,
 * object (its fields are listed as paths: params.cursor, content[].type).
 */
#ifndef TENON_CODEGEN_CHANGE_H
#define TENON_CODEGEN_CHANGE_H

#include "base/json_tree.h"

enum change_kind { CHANGE_ADDED, CHANGE_REMOVED, CHANGE_CHANGED, CHANGE_RENAMED };
enum change_subject { CHANGE_METHOD, CHANGE_TYPE, CHANGE_FIELD };

struct change {
    enum change_subject subject;
    enum change_kind kind;
    unsigned direction; /* as messages.h */
    struct str name;    /* of the method or type; a renamed type's new name */
    struct str path;    /* FIELD: within the type; "" is the type itself */
    /* METHOD: "request, params optional"; FIELD: the type's text; RENAMED: the old name. STR_NONE
     * where there was, or is, nothing. */
    struct str from, to;
    struct str members_removed, members_added; /* FIELD, union on both sides: "A | B" */
    bool required_from, required_to;           /* FIELD */
    struct change *next;
};

struct changes {
    struct change *first, *last;
};

/* Fills *ret from two schemas of facts (import.h). All lies in the arena or the trees. 0 or
 * ERR_NO_MEMORY. */
int diff_schemas(const struct json *from, const struct json *to, struct arena *arena,
                 struct changes *ret);

void change_write_text(const struct changes *changes, struct str from, struct str to,
                       struct buf *out);
void change_write_json(const struct changes *changes, struct str from, struct str to,
                       struct buf *out);

#endif
