/* wire/cursor.h - opaque page cursors (MCP 2025-06-18, Pagination).
 *
 * A cursor is base64url text over: a kind byte, the payload, and a 16-byte HMAC-SHA-256 tag made
 * with a key that all workers share, so a page can be asked of any of them and a made-up or altered
 * cursor, or one of another list, is refused.
 */
#ifndef TENON_WIRE_CURSOR_H
#define TENON_WIRE_CURSOR_H

#include "base/arena.h"

enum cursor_kind {
    CURSOR_TOOLS = 1,
    CURSOR_RESOURCES,
    CURSOR_TEMPLATES,
    CURSOR_PROMPTS,
    CURSOR_SEARCH,
    CURSOR_SESSIONS,
};

struct cursor_key {
    unsigned char bytes[32];
};

/* `scope` is bound into the tag but not stored: what the list depends on (profile, table, filter).
 */
int cursor_write(const struct cursor_key *key, enum cursor_kind kind, struct str scope,
                 struct str payload, struct arena *arena, struct str *ret);
/* 0, or ERR_PARAMS for anything that cursor_write did not make with this key, kind and scope. */
int cursor_read(const struct cursor_key *key, enum cursor_kind kind, struct str scope,
                struct str text, struct arena *arena, struct str *ret_payload);

#endif
