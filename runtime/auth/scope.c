/* auth/scope.c - see scope.h. */
#include "auth/scope.h"

bool scope_is_valid(struct str scope)
{
    for (uint32_t i = 0; i < scope.n; i++)
        if (scope.p[i] <= ' ' || scope.p[i] > '~' || scope.p[i] == '"' || scope.p[i] == '\\')
            return false;
    return scope.n > 0;
}
