/* core/operations.h - the tools of the operations profile: what manages the database.
 *
 * One static list says for each its name, texts, schemas, hints and function. Which of them exist
 * for a client is decided by two lists of globs of the config: what is not allowed is neither
 * listed nor known.
 */
#ifndef TENON_CORE_OPERATIONS_H
#define TENON_CORE_OPERATIONS_H

#include "core/call.h"
#include "core/core.h"

/* What is allowed if the config says nothing: what only reads. */
#define OPERATIONS_ALLOW \
    "describe_*, list_*, explain_*, get_job, read_log, system_information, whoami"

/* Appends the result, one JSON object. 0; CALL_LATER: it answers by itself; ERR_ABSENT, explained
 * by operation_refuse: a result that says so; any other error fails the request. */
typedef int (*operation_fn)(struct call *call, const struct tape_node *args, struct buf *out);

struct operation {
    const char *name, *title, *description;
    const char *input, *output; /* JSON Schema */
    bool read_only, destructive, idempotent;
    operation_fn run;
    /* Of users, roles and tokens: only for super users, whatever the globs of a role say. Else who
     * may give roles could give more than he has. */
    bool of_access;
};

/* The i-th by name; NULL behind the last. */
const struct operation *operation_at(uint32_t i);
bool operation_is_allowed(const struct core_config *config, const struct operation *operation);
bool operation_is_of_access(struct str name);
/* Arguments have passed the input schema. As a generated handler. */
int operation_run(struct call *call, const struct operation *operation,
                  const struct tape_node *args);

/* Does the name fit the pattern, in which * stands for any characters? */
bool operation_glob(struct str pattern, struct str name);

/* operations_access.c */
int operation_alter_user(struct call *call, const struct tape_node *args, struct buf *out);
int operation_create_token(struct call *call, const struct tape_node *args, struct buf *out);
int operation_create_user(struct call *call, const struct tape_node *args, struct buf *out);
int operation_describe_role(struct call *call, const struct tape_node *args, struct buf *out);
int operation_drop_role(struct call *call, const struct tape_node *args, struct buf *out);
int operation_drop_user(struct call *call, const struct tape_node *args, struct buf *out);
int operation_list_roles(struct call *call, const struct tape_node *args, struct buf *out);
int operation_list_tokens(struct call *call, const struct tape_node *args, struct buf *out);
int operation_list_users(struct call *call, const struct tape_node *args, struct buf *out);
int operation_put_role(struct call *call, const struct tape_node *args, struct buf *out);
int operation_revoke_token(struct call *call, const struct tape_node *args, struct buf *out);
int operation_whoami(struct call *call, const struct tape_node *args, struct buf *out);

/* operations_change.c */
struct manage;
/* Runs that on a handler thread, and answers with what it appends or the sentence of `manage`. As a
 * generated handler. */
int operation_change(struct call *call, const struct tape_node *args,
                     int (*run)(struct manage *m, const struct tape_node *args, struct buf *out));
int operation_create_table(struct call *call, const struct tape_node *args, struct buf *out);
int operation_alter_table(struct call *call, const struct tape_node *args, struct buf *out);
int operation_drop_table(struct call *call, const struct tape_node *args, struct buf *out);
int operation_create_index(struct call *call, const struct tape_node *args, struct buf *out);
int operation_drop_index(struct call *call, const struct tape_node *args, struct buf *out);

/* operations_jobs.c */
int operation_get_job(struct call *call, const struct tape_node *args, struct buf *out);
int operation_list_jobs(struct call *call, const struct tape_node *args, struct buf *out);
int operation_cancel_job(struct call *call, const struct tape_node *args, struct buf *out);
/* operations_sessions.c */
int operation_list_sessions(struct call *call, const struct tape_node *args, struct buf *out);
int operation_close_session(struct call *call, const struct tape_node *args, struct buf *out);

/* operations_transfer.c */
int operation_export_table(struct call *call, const struct tape_node *args, struct buf *out);
int operation_import_table(struct call *call, const struct tape_node *args, struct buf *out);

/* operations_show.c */
int operation_describe_all(struct call *call, const struct tape_node *args, struct buf *out);
int operation_describe_table(struct call *call, const struct tape_node *args, struct buf *out);
int operation_explain_search(struct call *call, const struct tape_node *args, struct buf *out);
int operation_read_log(struct call *call, const struct tape_node *args, struct buf *out);
int operation_system_information(struct call *call, const struct tape_node *args, struct buf *out);

#endif
