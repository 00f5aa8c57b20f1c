/* Stands in until the real one is there; its builder deletes this file. */
#include "core/core_state.h"
#include "base/err.h"
#include "core/dispatch.h"

int streams_new(struct core *core, struct streams **ret)
{
    (void)core;
    *ret = NULL;
    return 0;
}
void streams_free(struct streams *s)
{
    (void)s;
}
void streams_wake(struct streams *s)
{
    (void)s;
}
void streams_tick(struct streams *s)
{
    (void)s;
}
void streams_stop(struct streams *s)
{
    (void)s;
}
void streams_end_session(struct streams *s, struct str id)
{
    (void)s, (void)id;
}
int stream_open(struct call *call, struct sink *sink, struct stream **ret)
{
    (void)call, (void)sink, (void)ret;
    return ERR_NO_STREAM;
}
void stream_send(struct stream *s, struct str m)
{
    (void)s, (void)m;
}
void stream_end(struct stream *s, struct str m)
{
    (void)s, (void)m;
}
int streams_listen(struct streams *s, struct call *call)
{
    (void)s, (void)call;
    return ERR_HTTP_METHOD;
}
void stream_take_release(struct core *c, struct worker_id f, const struct tape_node *l)
{
    (void)c, (void)f, (void)l;
}
void stream_take_released(struct core *c, struct worker_id f, const struct tape_node *l)
{
    (void)c, (void)f, (void)l;
}
int call_send(struct call *call, struct str message)
{
    (void)call, (void)message;
    return ERR_NO_STREAM;
}
void call_end(struct call *call)
{
    call_accept(call, 202);
}
