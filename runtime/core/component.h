/* core/component.h - what components offer beside the tables: the inside of tenon.h.
 *
 * `struct tenon` is the engine: who waits, who runs, the core that they work for. What is offered
 * are `struct offers`, made once, checked entry by entry, and never changed after that: any thread
 * may read them. A snapshot of the catalog holds a reference to those that it shows, and a call
 * finds its tool there, so a call in flight keeps what it runs while others are offered already.
 * New ones are made on the loop by components_remake, from the old ones and from what is read anew.
 *
 * Each entry was checked as its tables of every negotiable revision will check it, so nothing of it
 * can fail later. Names and URIs of components and of tables do not meet: the schemes db: and
 * tenon: are the server's, and a table whose tools' names are taken by a component is called by
 * another name (core/catalog.c).
 */
#ifndef TENON_CORE_COMPONENT_H
#define TENON_CORE_COMPONENT_H

#include "core/call.h"
#include "generated/types.h"
#include "tenon.h"

#include <pthread.h>

struct store;
struct tenon_call;
struct template;

struct component_tool {
    struct str component; /* its file */
    struct str name, title, description;
    struct str input_text, output_text; /* as registered */
    const struct json_schema *input, *output;
    struct tenon_hints hints;
    bool is_inline;
    int (*run)(struct tenon_call *call, void *ctx);
    void *ctx;
};

/* A resource or, with `template`, a template. */
struct component_resource {
    struct str component;
    struct str uri; /* or URI template */
    struct str name, title, description, mime_type;
    struct tenon_annotations annotations;
    int64_t size;
    bool is_subscribable;
    const struct template *template;
    bool is_inline;
    int (*read)(struct tenon_call *call, void *ctx);
    int (*complete)(struct tenon_call *call, const char *variable, const char *value, void *ctx);
    void *ctx;
};

struct component_argument {
    struct str name, title, description;
    bool required;
};

struct component_prompt {
    struct str component;
    struct str name, title, description;
    const struct component_argument *arguments;
    uint32_t n_arguments;
    bool is_inline;
    int (*render)(struct tenon_call *call, void *ctx);
    int (*complete)(struct tenon_call *call, const char *argument, const char *value, void *ctx);
    void *ctx;
};

struct offers_end;

struct offers {
    uint32_t refs;    /* loop only */
    uint64_t version; /* rises with each that is made */
    struct arena arena;
    struct offers_end *ends;
    struct component_tool *tools;
    struct component_resource *resources, *templates;
    struct component_prompt *prompts;
    uint32_t n_tools, n_resources, n_templates, n_prompts;
    uint32_t tools_cap, resources_cap, templates_cap, prompts_cap;
};

/* Calls at work on handler threads, and those that wait for it. Loop only. */
struct component_calls {
    struct tenon_call *first, **last;
    uint32_t n_running, n_waiting;
};

struct tenon {
    struct offers *offers; /* those of now; loop only */
    struct offers *into;   /* takes what is registered: these at the start, later those to come */
    struct str component;  /* that is being registered; absent: none */
    struct arena arena;    /* of the fault */
    struct str fault;      /* the first one */
    struct component_calls calls;
    struct resource_change *late_changes; /* loop only; core/component_session.c */
    pthread_mutex_t mutex;                /* of what follows */
    pthread_cond_t answered;
    struct core *core;                  /* NULL: not there yet, or stopped */
    uint32_t n_changes;                 /* of resources, not yet in the log */
    struct session_question *questions; /* core/component_session.c */
};

int components_new(struct tenon **ret);
void components_free(struct tenon *tenon); /* NULL is fine */
/* Lets the component register. 0; ERR_PARAMS: tenon->fault says why; ERR_NO_MEMORY. */
int components_add(struct tenon *tenon, struct str component, int (*entry)(struct tenon *tenon));
/* The same with something of one's own, which is not looked at. */
int components_fill(struct tenon *tenon, struct str component,
                    int (*fill)(struct tenon *tenon, void *ctx), void *ctx);
/* Has a tool the name of a table's? ERR_EXISTS with tenon->fault, or what the store says. */
int components_check_tables(struct tenon *tenon, struct store *store);
/* The core that works for them, once it is there; NULL: it stops, who waits for it is told.
 * `tenon` may be NULL. */
void components_attach(struct tenon *tenon, struct core *core);
/* Loop: what the store was too busy for. NULL is fine. */
void components_tick(struct tenon *tenon);

/* New offers in place of those of now: `make` registers all that there shall be, by components_keep
 * and components_fill, in the order that holds from then on. 0: they are in use, and sessions are
 * told of lists that differ. ERR_PARAMS: tenon->fault says why, and ERR_NO_MEMORY: all is as it was
 * before. Loop only. */
int components_remake(struct tenon *tenon, int (*make)(struct tenon *tenon, void *ctx), void *ctx);
/* Within `make`: registers again what this component offers now. */
int components_keep(struct tenon *tenon, struct str component);
/* Within `make`, `fill` or `entry`: `end` is called once nobody can call what is being registered
 * any more, which is at once if it comes to nothing. Loop only. ERR_NO_MEMORY: it is never called.
 */
int components_at_end(struct tenon *tenon, void (*end)(void *ctx), void *ctx);

struct offers *offers_ref(struct offers *offers); /* NULL is fine; also for the next */
void offers_unref(struct offers *offers);

/* NULL: none. `offers` may be NULL. */
const struct component_tool *component_find_tool(const struct offers *offers, struct str name);
const struct component_prompt *component_find_prompt(const struct offers *offers, struct str name);
const struct component_argument *component_find_argument(const struct component_prompt *prompt,
                                                         struct str name);
/* By its text, as clients name it. */
const struct component_resource *component_find_template(const struct offers *offers,
                                                         struct str uri_template);
/* The one that has this URI, or the first template that fits it, whose values are then set. 0,
 * ERR_ABSENT, ERR_NO_MEMORY. */
struct template_value;
int component_find_resource(const struct offers *offers, struct str uri, struct arena *arena,
                            const struct component_resource **ret,
                            const struct template_value **ret_values);

bool component_is_mime_type(struct str text);

/* For the lists. */
void component_fill_tool(const struct component_tool *from, struct mcp_tool *tool,
                         struct mcp_tool_annotations *annotations);
/* An entry points to the other parts. */
struct component_annotations {
    struct mcp_annotations value;
    enum mcp_role audience[2];
};
void component_fill_resource(const struct component_resource *from, struct mcp_resource *resource,
                             struct component_annotations *annotations);
void component_fill_template(const struct component_resource *from,
                             struct mcp_resource_template *template,
                             struct component_annotations *annotations);
/* 0, ERR_NO_MEMORY. */
int component_fill_prompt(const struct component_prompt *from, struct arena *arena,
                          struct mcp_prompt *prompt);

/* core/component_call.c. As a method's handler: CALL_LATER or an error. The call has its catalog,
 * and what it runs is of that. */
int component_run_tool(struct call *call, const struct component_tool *tool,
                       const struct tape_node *args, struct str args_text);
int component_read_resource(struct call *call, const struct component_resource *resource,
                            struct str uri, const struct template_value *values);

int component_render_prompt(struct call *call, const struct component_prompt *prompt,
                            const struct mcp_pairs *arguments);

/* What a client asks to be completed. */
struct component_completion {
    const struct component_resource *template; /* or */
    const struct component_prompt *prompt;
    struct str name, value;         /* of the variable or argument; what of it was typed */
    const struct mcp_pairs *others; /* the values of others; NULL: none */
};
/* Of one that has a `complete` callback. */
int component_complete(struct call *call, const struct component_completion *asked);

#endif
