/* net/line_sink.c - see line_sink.h. */
#include "net/line_sink.h"

#include <stdlib.h>

static bool send_line(struct sink *sink, struct str id, struct str message)
{
    struct line_sinks *all = ((struct line_sink *)sink)->all;
    (void)id;
    all->put(all->ctx, message);
    return true;
}

static void unlink_sink(struct line_sink *s)
{
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
}

static void end_line_sink(struct sink *sink)
{
    struct line_sink *s = (struct line_sink *)sink;
    if (s == &s->all->always)
        return;
    unlink_sink(s);
    free(s);
}

/* What a pipe has taken, its reader gets, unless he dies: there is no telling more. */
static bool is_line_taken(struct sink *sink)
{
    struct line_sinks *all = ((struct line_sink *)sink)->all;
    return all->is_written(all->ctx);
}

static const struct sink_ops ops = {send_line, end_line_sink, is_line_taken};

void line_sinks_init(struct line_sinks *sinks, void (*put)(void *ctx, struct str message),
                     bool (*is_written)(void *ctx), void *ctx)
{
    *sinks = (struct line_sinks){.put = put, .is_written = is_written, .ctx = ctx};
    sinks->always = (struct line_sink){.sink.ops = &ops, .all = sinks};
}

struct sink *line_sinks_open(struct line_sinks *sinks)
{
    struct line_sink *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct line_sink){
        .sink.ops = &ops, .all = sinks, .next = sinks->first, .at = &sinks->first};
    if (s->next)
        s->next->at = &s->next;
    sinks->first = s;
    return &s->sink;
}

void line_sinks_lose(struct line_sinks *sinks)
{
    struct line_sink *s;
    while ((s = sinks->first)) {
        unlink_sink(s);
        if (s->sink.lost)
            s->sink.lost(&s->sink);
        free(s);
    }
}
