/* core/component_call.h - one call of a component's callback; inside core/component_*.c only.
 *
 * What the callback makes lies in an arena of its own: while a handler thread fills it, the loop
 * goes on using the call's. The answer is written on the handler thread, too, and handed over to
 * the call on the loop.
 */
#ifndef TENON_CORE_COMPONENT_CALL_H
#define TENON_CORE_COMPONENT_CALL_H

#include "core/component.h"
#include "base/limits.h"
#include "core/core_state.h"
#include "schema/template.h"

struct component_blocks {
    struct mcp_content_block *v;
    enum tenon_role *roles; /* of a prompt: who says each */
    uint32_t n, cap, roles_cap;
};

struct component_contents {
    struct mcp_resource_contents *v;
    uint32_t n, cap;
};

struct component_values {
    struct str v[COMPLETIONS_MAX];
    uint64_t n;    /* proposed; the first are kept */
    int64_t total; /* as told; -1: more than that */
};

/* What is called, and how its outcome is written: 0, or an error for call_fail, with err_message
 * and err_data. Any thread. */
struct component_task {
    int (*run)(struct tenon_call *call);
    int (*write)(struct tenon_call *call, int returned);
};

struct tenon_call {
    struct loop_work work; /* first */
    struct tenon_call *next;
    struct call *call;
    struct tenon *tenon;
    const struct component_task *task;
    struct str component, name;                /* whose, for the log: of a tool, URI or prompt */
    const struct component_tool *tool;         /* or */
    const struct component_resource *resource; /* the one that is read, or */
    const struct component_prompt *prompt;     /* or */
    const struct component_completion *asked;
    const struct tape_node *args;
    struct str args_text; /* absent: there were none */
    struct str uri;
    const struct template_value *values; /* of a template */
    bool is_inline;                      /* it runs on the loop */
    struct arena arena;
    struct component_blocks blocks;
    struct component_contents contents;
    struct component_values *completions; /* with `asked` */
    enum tenon_role role;
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

/* Remembers the first fault of a builder; returns the public error. */
int component_refuse(struct tenon_call *call, int err, const char *what);
/* Public name of an error of base/err.h, and back. */
int component_err(int err);
/* JSON text with zeros behind it; absent: no memory. */
struct str component_padded(struct arena *arena, const char *text);

/* For tasks. A builder that was refused: told to the operator, as whose fault it is. */
int component_tell_fault(const struct tenon_call *call);
/* What tenon_fail said, or the error's own text. */
struct str component_failure(const struct tenon_call *call, int returned);
/* The whole answer, by the method's table. */
int component_write_answer(struct tenon_call *call, const void *result);
/* component_content.c: a text, which is kept. */
int component_add_text_block(struct tenon_call *call, struct str text);

/* Of any task: a call for the loop, or for a handler thread. */
int component_make(struct call *call, const struct component_task *task, bool is_inline,
                   struct tenon_call **ret);
/* CALL_LATER, or an error: then the call is as before component_make. */
int component_start(struct tenon_call *call);

#endif
