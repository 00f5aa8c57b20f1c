/* core/component_call.h - one call of a component's callback; inside core/component_*.c only.
 *
 * What the callback makes lies in an arena of its own: while a handler thread fills it, the loop
 * goes on using the call's. The answer is written on the handler thread, too, and handed over to
 * the call on the loop.
 */
#ifndef TENON_CORE_COMPONENT_CALL_H
#define TENON_CORE_COMPONENT_CALL_H

#include "core/component.h"
#include "core/core_state.h"
#include "schema/template.h"

struct component_blocks {
    struct mcp_content_block *v;
    uint32_t n, cap;
};

struct component_contents {
    struct mcp_resource_contents *v;
    uint32_t n, cap;
};

struct component_values {
    struct str *v;
    uint32_t n, cap;
};

struct tenon_call {
    struct loop_work work; /* first */
    struct tenon_call *next;
    struct call *call;
    struct tenon *tenon;
    const struct component_tool *tool;         /* or */
    const struct component_resource *resource; /* the one that is read */
    const struct tape_node *args;
    struct str args_text; /* absent: there were none */
    struct str uri;
    const struct template_value *values; /* of a template */
    bool is_inline;                      /* it runs on the loop */
    struct arena arena;
    struct component_blocks blocks;
    struct component_contents contents;
    struct component_values completions;
    struct str structured; /* absent: none */
    const struct tape_node *structured_tape;
    struct str failure; /* of tenon_fail */
    struct str fault;   /* of the first builder that failed, for the log */
    int fault_err;
    struct str remote_message;
    int remote_code;
    /* The outcome: the whole answer; or an error for call_fail */
    struct buf out;
    int err;
    struct str err_message, err_data;
};

bool component_is_mime_type(struct str text);
/* Remembers the first fault of a builder; returns the public error. */
int component_refuse(struct tenon_call *call, int err, const char *what);
/* Public name of an error of base/err.h, and back. */
int component_err(int err);
/* JSON text with zeros behind it; absent: no memory. */
struct str component_padded(struct arena *arena, const char *text);

/* component_content.c: writes the answer by what the callback returned. 0, or an error for
 * call_fail, with err_message and err_data. Any thread. */
int component_write_result(struct tenon_call *call, int returned);
int component_write_contents(struct tenon_call *call, int returned);

#endif
