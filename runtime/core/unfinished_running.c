/* Stands in until the real one is there; its builder deletes this file. */
#include "core/core_state.h"
#include "base/err.h"
#include "core/dispatch.h"

void running_add(struct running *r, struct call *call)
{
    (void)r, (void)call;
}
void running_remove(struct running *r, struct call *call)
{
    (void)r, (void)call;
}
struct call *running_find(struct running *r, struct str s, struct str id)
{
    (void)r, (void)s, (void)id;
    return NULL;
}
void running_cancel(struct core *core, struct str s, struct str id, struct str reason,
                    void (*then)(void *ctx, int err), void *ctx)
{
    (void)core, (void)s, (void)id, (void)reason;
    then(ctx, 0);
}
void running_end_session(struct core *core, struct str s)
{
    (void)core, (void)s;
}
void running_take_cancel(struct core *c, struct worker_id f, const struct tape_node *l)
{
    (void)c, (void)f, (void)l;
}
void running_take_ended(struct core *c, struct worker_id f, const struct tape_node *l)
{
    (void)c, (void)f, (void)l;
}
void call_cancel(struct call *call, int err)
{
    call->cancelled = err;
}
int call_is_cancelled(const struct call *call)
{
    return call->cancelled;
}
