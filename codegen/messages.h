/* codegen/messages.h - who sends what, as far as a schema of facts tells.
 *
 * Methods stand in four unions, one per sender and kind; every type is reached from the unions of
 * one side, of both, or of none (then it is a pure base, or an answer that no union lists).
 */
#ifndef TENON_CODEGEN_MESSAGES_H
#define TENON_CODEGEN_MESSAGES_H

#include "base/json_tree.h"

/* Both bits: both sides send it. 0: it travels only inside other messages, or not at all. */
enum { TO_SERVER = 1, TO_CLIENT = 2 };

struct method {
    struct str name, text; /* text: "request, params optional" */
    unsigned direction;
    struct method *next;
};

struct messages {
    struct method *methods; /* sorted by name, then direction; one that both send stands twice */
    struct reach *reached;  /* private */
};

/* 0 or ERR_NO_MEMORY. */
int messages_collect(const struct json *root, struct arena *arena, struct messages *ret);
const struct method *messages_find(const struct messages *messages, struct str name,
                                   unsigned direction);
unsigned messages_direction(const struct messages *messages, struct str type);

#endif
