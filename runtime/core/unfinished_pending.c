/* Stands in until the real one is there; its builder deletes this file. */
#include "core/core_state.h"
#include "base/err.h"
#include "core/dispatch.h"

int pending_ask_call(struct call *call, const struct pending_ask *ask)
{
    (void)call, (void)ask;
    return ERR_CAPABILITY;
}
int pending_ask_session(struct core *core, struct str s, const struct pending_ask *ask)
{
    (void)core, (void)s, (void)ask;
    return ERR_CAPABILITY;
}
void pending_answered(struct core *core, struct call *call)
{
    (void)core;
    call_accept(call, 202);
}
void pending_end_call(struct core *core, struct call *call, int err)
{
    (void)core, (void)call, (void)err;
}
void pending_end_session(struct core *core, struct str s)
{
    (void)core, (void)s;
}
void pending_take_answer(struct core *c, struct worker_id f, const struct tape_node *l)
{
    (void)c, (void)f, (void)l;
}
void pending_tick(struct core *core)
{
    (void)core;
}
