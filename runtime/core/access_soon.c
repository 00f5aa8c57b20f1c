/* core/access_soon.c - what core/access.c does not do yet. */
#include "core/access.h"

#include "base/err.h"
#include "core/call.h"

__attribute__((weak)) int access_identify(struct core *core, const struct credential *credential,
                                          struct access **ret, const char **ret_why)
{
    (void)core, (void)credential;
    *ret_why = NULL;
    *ret = access_ref(access_super());
    return 0;
}

__attribute__((weak)) void access_wait(struct core *core, struct call *call,
                                       const struct credential *credential)
{
    (void)core, (void)credential;
    call_fail(call, ERR_BUSY, STR_NONE, STR_NONE);
}
