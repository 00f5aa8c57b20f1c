/* core/access_pending.c - stands in for parts of access.h that other branches bring; goes with
 * them. Weak: theirs count as soon as they are there. */
#include "base/err.h"
#include "core/store.h"

#define PENDING __attribute__((weak))

PENDING int store_access_version(struct store_view *view, uint64_t *ret)
{
    (void)view;
    *ret = 0;
    return 0;
}

PENDING int store_get_access(struct store_view *view, enum store_access_kind kind, struct str name,
                             struct arena *arena, struct store_access *ret)
{
    (void)view;
    (void)kind;
    (void)name;
    (void)arena;
    (void)ret;
    return ERR_ABSENT;
}

PENDING int store_scan_access(struct store_view *view, enum store_access_kind kind,
                              struct str after, store_access_fn fn, void *ctx)
{
    (void)view;
    (void)kind;
    (void)after;
    (void)fn;
    (void)ctx;
    return 0;
}
