/* Stands in until the real one is there; its builder deletes this file. */
#include "core/core_state.h"
#include "base/err.h"
#include "core/dispatch.h"

int live_new(struct call *call, struct live **ret)
{
    (void)call;
    *ret = NULL;
    return 0;
}
void live_free(struct live *live)
{
    (void)live;
}
int live_progress(struct live *l, double p, double t, struct str m)
{
    (void)l, (void)p, (void)t, (void)m;
    return 0;
}
int live_log(struct live *l, int level, struct str logger, struct str data)
{
    (void)l, (void)level, (void)logger, (void)data;
    return 0;
}
int live_ask(struct live *l, enum mcp_method m, struct str params, int64_t ms,
             struct pending_answer *ret)
{
    (void)l, (void)m, (void)params, (void)ms, (void)ret;
    return ERR_CAPABILITY;
}
int live_wait(struct live *l, int64_t ms)
{
    (void)l, (void)ms;
    return 0;
}
void live_flush(struct live *l)
{
    (void)l;
}
