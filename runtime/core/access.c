/* core/access.c - see access.h. */
#include "core/access.h"

struct access *access_super(void)
{
    static struct access super = {
        .user = STR_INIT(""), .role_name = STR_INIT(""), .expires_ms = INT64_MAX};
    super.role = role_super();
    return &super;
}

struct access *access_ref(struct access *access)
{
    access->refs++;
    return access;
}

void access_unref(struct access *access)
{
    (void)access; /* there is only the one that is never freed */
}
