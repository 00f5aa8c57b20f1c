/* auth/scope.h - one scope of a token. */
#ifndef TENON_AUTH_SCOPE_H
#define TENON_AUTH_SCOPE_H

#include "base/str.h"

/* RFC 6749, 3.3: visible ASCII without quotes and backslashes. "" is none. */
bool scope_is_valid(struct str scope);

#endif
