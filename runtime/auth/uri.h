/* auth/uri.h - whether two URIs name the same server. */
#ifndef TENON_AUTH_URI_H
#define TENON_AUTH_URI_H

#include "base/str.h"

/* MCP 2025-06-18, Authorization, Canonical Server URI: scheme and host in any case, the port of the
 * scheme may be left out, and so may one slash at the end. All else bytewise; a text that is no URI
 * with a host as well. */
bool uri_is_same(struct str a, struct str b);

/* Its parts borrow from the text. False: not scheme://authority[/path][?query], or with a user, a
 * fragment, blanks, control characters, quotes or what is not ASCII. */
struct uri {
    struct str scheme, host, port; /* host with its brackets; port STR_NONE: not said */
    struct str rest;               /* path and query, or "" */
};
bool uri_cut(struct str text, struct uri *ret);
/* localhost, 127.x.x.x or [::1]. */
bool uri_is_loopback(const struct uri *uri);
/* https, or http to a loopback host. */
bool uri_is_safe(struct str text);

#endif
