/* core/scans.c - see scans.h. */
#include "core/scans.h"

#include "base/err.h"
#include "core/core_state.h"
#include "core/table_search.h"

void scans_init(struct scans *scans)
{
    *scans = (struct scans){0};
    scans->last = &scans->first;
}

/* Its call was cancelled: it need not wait for its turn. */
static void leave(struct call *call)
{
    struct scans *scans = &call->core->scans;
    struct search **at = &scans->first;
    while (*at && (*at)->call != call)
        at = &(*at)->next;
    struct search *search = *at;
    if (!search)
        return;
    *at = search->next;
    if (!search->next)
        scans->last = at;
    scans->n_waiting--;
    search->done(search, call_is_cancelled(call));
}

static void append(struct scans *scans, struct search *search)
{
    search->call->wake = leave;
    search->next = NULL;
    *scans->last = search;
    scans->last = &search->next;
    scans->n_waiting++;
}

static struct search *take_first(struct scans *scans)
{
    struct search *search = scans->first;
    scans->first = search->next;
    if (!scans->first)
        scans->last = &scans->first;
    scans->n_waiting--;
    search->call->wake = NULL;
    return search;
}

static int begin(struct scans *scans, struct search *search)
{
    struct loop *loop = search->call->core->loop;
    scans->running[scans->n_running++] = search;
    int err = loop_offload(loop, &search->work);
    if (err < 0)
        scans->n_running--;
    return err;
}

/* `done` of a refused one may add another search: it goes behind those that wait. */
static void begin_waiting(struct scans *scans)
{
    while (scans->n_running < SCANS_MAX && scans->first) {
        struct search *search = take_first(scans);
        int err = search_check(search);
        if (err == 0)
            err = begin(scans, search);
        if (err < 0)
            search->done(search, err == ERR_TIMED_OUT ? ERR_BUSY : err); /* it only waited */
    }
}

static void forget(struct scans *scans, const struct search *search)
{
    uint32_t i = 0;
    while (scans->running[i] != search)
        i++;
    scans->running[i] = scans->running[--scans->n_running];
}

static void ended(struct loop_work *work)
{
    struct search *search = (struct search *)work; /* its first member */
    struct scans *scans = &search->call->core->scans;
    forget(scans, search);
    begin_waiting(scans);
    search->done(search, search->err);
}

int scans_add(struct scans *scans, struct search *search)
{
    search->work.done = ended;
    if (scans->n_running < SCANS_MAX && !scans->first)
        return begin(scans, search);
    if (scans->n_waiting == SCANS_WAITING_MAX)
        return ERR_BUSY;
    append(scans, search);
    return 0;
}
