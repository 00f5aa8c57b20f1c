/* core/component_session.c - what a component may do outside its calls, from any thread: say that a
 * resource changed, ask the client of a session.
 *
 * Both travel to the loop by loop_post, under the registry's mutex, so that nothing is posted once
 * the core has stopped. A question belongs to two: to the thread that waits and to the loop; the
 * last of them frees it, so the one may give up when the server stops while the other still has it.
 */
#include "core/component_call.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "schema/percent.h"

#include <stdlib.h>
#include <string.h>

/* ---- Changes -------------------------------------------------------------------------------- */

struct resource_change {
    struct loop_post post; /* first */
    struct store_write write;
    struct store_op op;
    struct core *core;
    struct tenon *tenon;
    struct resource_change *next; /* of those that the store was too busy for */
    char uri[];
};

static void forget_change(struct resource_change *change)
{
    struct tenon *tenon = change->tenon;
    pthread_mutex_lock(&tenon->mutex);
    tenon->n_changes--;
    pthread_mutex_unlock(&tenon->mutex);
    free(change);
}

/* Subscribers would miss one that was given up; the next tick tries again. */
static void change_written(struct store_write *write, int err)
{
    struct resource_change *change =
        (struct resource_change *)((char *)write - offsetof(struct resource_change, write));
    if (err == ERR_BUSY) {
        change->next = change->tenon->late_changes;
        change->tenon->late_changes = change;
        return;
    }
    if (err < 0)
        log_error("the change of %s is not in the log: %s", change->uri, err_text(err));
    forget_change(change);
}

static void write_change(struct loop_post *post)
{
    struct resource_change *change = (struct resource_change *)post;
    store_submit(change->core->store, &change->write);
}

void components_tick(struct tenon *tenon)
{
    struct resource_change *change = tenon ? tenon->late_changes : NULL, *next;
    if (!change)
        return;
    tenon->late_changes = NULL;
    for (; change; change = next) {
        next = change->next;
        write_change(&change->post);
    }
}

static int post_change(struct tenon *tenon, struct resource_change *change)
{
    int err = TENON_ERR_CANCELLED;
    pthread_mutex_lock(&tenon->mutex);
    if (tenon->core)
        err = tenon->n_changes < RESOURCE_CHANGES_WAITING_MAX ? 0 : TENON_ERR_BUSY;
    if (!err) {
        tenon->n_changes++;
        change->core = tenon->core;
        loop_post(tenon->core->loop, &change->post);
    }
    pthread_mutex_unlock(&tenon->mutex);
    return err;
}

int tenon_resource_changed(struct tenon *tenon, const char *uri)
{
    size_t n = uri ? strlen(uri) : 0;
    if (n > URI_BYTES_MAX || !n || !percent_is_uri(str_of(uri)))
        return TENON_ERR_ARGUMENT;
    struct resource_change *change = calloc(1, sizeof *change + n + 1);
    if (!change)
        return TENON_ERR_NO_MEMORY;
    memcpy(change->uri, uri, n);
    change->post.fn = write_change;
    change->tenon = tenon;
    change->op = (struct store_op){
        .kind = STORE_LOG_RESOURCE, .if_version = STORE_ANY, .key = {change->uri, (uint32_t)n}};
    change->write = (struct store_write){
        .space = STORE_DATA, .ops = &change->op, .n_ops = 1, .done = change_written};
    int err = post_change(tenon, change);
    if (err)
        free(change);
    return err;
}

/* ---- Questions ------------------------------------------------------------------------------ */

struct session_question {
    struct loop_post post; /* first */
    struct session_question *next;
    struct tenon *tenon;
    struct core *core;
    unsigned refs; /* these to `result` under the mutex */
    bool is_done;
    int err;
    char *result;
    struct arena arena;
    struct str session;
    struct pending_ask ask;
};

/* Under the mutex. */
static void unref(struct session_question *q)
{
    if (--q->refs > 0)
        return;
    arena_done(&q->arena);
    free(q->result);
    free(q);
}

/* Under the mutex. The first outcome stays. */
static void end(struct session_question *q, int err, struct str result)
{
    if (q->is_done)
        return;
    q->result = err == 0 ? strndup(result.p, result.n) : NULL;
    q->err = err == 0 && !q->result ? ERR_NO_MEMORY : err;
    q->is_done = true;
    pthread_cond_broadcast(&q->tenon->answered);
}

static void loop_ends(struct session_question *q, int err, struct str result)
{
    struct tenon *tenon = q->tenon;
    pthread_mutex_lock(&tenon->mutex);
    end(q, err, result);
    unref(q);
    pthread_mutex_unlock(&tenon->mutex);
}

static void answered(void *ctx, const struct pending_answer *answer)
{
    loop_ends(ctx, answer->err, answer->result);
}

static void ask(struct loop_post *posted)
{
    struct session_question *q = (struct session_question *)posted;
    int err = pending_ask_session(q->core, q->session, &q->ask);
    if (err < 0)
        loop_ends(q, err, STR_NONE);
}

/* Under the mutex. */
static void wait_for(struct session_question *q)
{
    struct tenon *tenon = q->tenon;
    struct session_question **at = &tenon->questions;
    q->next = tenon->questions;
    tenon->questions = q;
    while (!q->is_done)
        pthread_cond_wait(&tenon->answered, &tenon->mutex);
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
}

static int ask_and_wait(struct tenon *tenon, struct session_question *q, char **ret_result)
{
    pthread_mutex_lock(&tenon->mutex);
    q->core = tenon->core;
    q->refs = tenon->core ? 2 : 1;
    q->err = ERR_CLOSED;
    if (tenon->core) {
        loop_post(tenon->core->loop, &q->post);
        wait_for(q);
    }
    int err = q->err;
    if (err == 0) {
        *ret_result = q->result;
        q->result = NULL;
    }
    unref(q);
    pthread_mutex_unlock(&tenon->mutex);
    return component_err(err);
}

static int ask_session(struct tenon *tenon, const char *session, enum mcp_method method,
                       const char *params, int64_t timeout_ms, char **ret_result)
{
    struct session_question *q = calloc(1, sizeof *q);
    struct str value = STR_NONE;
    if (!session || !q) {
        free(q);
        return session ? TENON_ERR_NO_MEMORY : TENON_ERR_ARGUMENT;
    }
    q->refs = 1;
    q->tenon = tenon;
    arena_init(&q->arena, 0);
    q->session = arena_str(&q->arena, str_of(session));
    struct str text = component_padded(&q->arena, params);
    bool is_object = text.p && wire_skip(text, &value, NULL, NULL) == 0 && value.p[0] == '{';
    if (!q->session.p || !text.p || !is_object) {
        bool complete = q->session.p && text.p;
        unref(q);
        return complete ? TENON_ERR_ARGUMENT : TENON_ERR_NO_MEMORY;
    }
    q->post.fn = ask;
    q->ask = (struct pending_ask){method, value, timeout_ms, answered, q};
    return ask_and_wait(tenon, q, ret_result);
}

int tenon_session_sample(struct tenon *tenon, const char *session, const char *params,
                         int64_t timeout_ms, char **ret_result)
{
    return ask_session(tenon, session, MCP_SAMPLING_CREATE_MESSAGE, params, timeout_ms, ret_result);
}

int tenon_session_elicit(struct tenon *tenon, const char *session, const char *params,
                         int64_t timeout_ms, char **ret_result)
{
    return ask_session(tenon, session, MCP_ELICITATION_CREATE, params, timeout_ms, ret_result);
}

int tenon_session_list_roots(struct tenon *tenon, const char *session, int64_t timeout_ms,
                             char **ret_result)
{
    return ask_session(tenon, session, MCP_ROOTS_LIST, "{}", timeout_ms, ret_result);
}

void tenon_free(void *p)
{
    free(p);
}

/* ---- The core comes and goes ---------------------------------------------------------------- */

void components_attach(struct tenon *tenon, struct core *core)
{
    if (!tenon)
        return;
    pthread_mutex_lock(&tenon->mutex);
    tenon->core = core;
    for (struct session_question *q = tenon->questions; q && !core; q = q->next)
        end(q, ERR_CLOSED, STR_NONE);
    pthread_mutex_unlock(&tenon->mutex);
}
