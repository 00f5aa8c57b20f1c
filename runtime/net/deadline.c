/* net/deadline.c - see deadline.h. */
#include "net/deadline.h"

#include <stddef.h>

void deadline_clear(struct deadline *d)
{
    struct deadline_queue *queue = d->queue;
    if (!queue)
        return;
    *(d->prev ? &d->prev->next : &queue->first) = d->next;
    *(d->next ? &d->next->prev : &queue->last) = d->prev;
    *d = (struct deadline){0};
}

void deadline_set(struct deadline_queue *queue, struct deadline *d, int64_t now_ms)
{
    deadline_clear(d);
    *d = (struct deadline){queue->last, NULL, queue, now_ms + queue->after_ms};
    *(queue->last ? &queue->last->next : &queue->first) = d;
    queue->last = d;
}

void deadline_sweep(struct deadline_queue *queue, int64_t now_ms)
{
    /* what `expired` sets anew lies after_ms ahead, so this ends */
    while (queue->first && queue->first->at_ms <= now_ms) {
        struct deadline *d = queue->first;
        deadline_clear(d);
        queue->expired(d);
    }
}
