/* core/access_parts.h - what the files of access.h share.
 *
 * access.c keeps whom it has identified (by the hash of the credential) and joins the rest;
 * access_find.c works out of the records who somebody is; access_views.c joins roles.
 */
#ifndef TENON_CORE_ACCESS_PARTS_H
#define TENON_CORE_ACCESS_PARTS_H

#include "base/node_map.h"
#include "core/access_record.h"
#include "core/core_state.h"

/* A set of roles joined, under one version of the records. Several identities share it. */
struct access_view {
    struct access_view *next; /* among those that are kept */
    uint32_t refs;
    uint32_t n_found; /* of its roles: the records that there are */
    struct str names; /* sorted, a space between */
    const struct role *role;
    struct arena arena;
};

struct access_views {
    struct access_view *first;
    uint32_t n;
};

/* What to look for again. */
struct access_source {
    enum credential_kind kind;
    bool is_signed;
    unsigned char hash[ACCESS_HASH_BYTES]; /* of the credential */
    struct str user;                       /* of a certificate, and of a signed token */
    struct str scopes;                     /* of a signed token */
    int64_t expires_ms;                    /* of a signed token, with the skew */
    int64_t fresh_until_ms;                /* then the credential itself has to be judged again */
};

struct identity {
    struct access access; /* first */
    struct access_source source;
    struct access_view *view; /* NULL: the role is that of super users */
    struct map_node node;
    struct identity *newer, *older;
};

struct waiting;

struct accesses {
    struct core *core;
    struct access_key key;
    uint64_t version; /* of the records by which all that is kept was found */
    struct node_map map;
    struct identity used; /* ring: used.older is the one that was used last */
    struct access_views views;
    struct loop_work fetch;
    bool is_fetching;
    int fetched; /* what verifier->fetch said */
    struct waiting *first, **last;
    uint32_t n_waiting;
};

/* ---- access_find.c -------------------------------------------------------------------------- */

/* One look: in one snapshot of the records. */
struct access_look {
    struct accesses *accesses;
    const struct access_rules *rules;
    struct store_view *view;
    uint64_t version;
    int64_t now_ms;
    struct arena *arena; /* of what is read on the way */
    const char *why;
};

/* Who that is by the records. As access_identify; *ret has one reference. */
int access_find(struct access_look *look, const struct access_source *source,
                struct identity **ret);
void identity_free(struct identity *who);

/* ---- access_views.c ------------------------------------------------------------------------- */

/* The names get sorted. 0, ERR_NO_MEMORY, ERR_STORE_DAMAGED, or what the store says. *ret is a
 * reference. */
int access_view_get(struct access_look *look, struct str *names, uint32_t n,
                    struct access_view **ret);
void access_view_unref(struct access_view *view); /* NULL is fine */
void access_views_clear(struct access_views *views);

#endif
