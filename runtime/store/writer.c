/* store/writer.c - the queue of a space: one thread that commits in the order of submission.
 *
 * What waits is committed as one group (group commit: a sync costs milliseconds, whatever the
 * group holds), of at most TXN_ROWS_MAX operations, BATCH_BYTES or TXN_MS_MAX. A list that is
 * refused before it changed anything leaves no trace and stays in the group; after any other error
 * the group is aborted and its lists go back to the front, each to be run by itself, so that each
 * gets its own answer.
 *
 * Entering a transaction may take for ever: another process may stand in one. So the thread takes
 * lists only once it is inside, and until then anybody may answer those that waited too long with
 * ERR_BUSY. A list is in the queue, or with the thread, or finished; it moves under the lock.
 *
 * Completions go to the loop by one post that delivers all that have gathered. The post outlives
 * the writer if the loop has not run it yet.
 */
#include "store/internal.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/loop.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define WAITER_TICK_MS 200 /* one without a loop looks whether it has waited too long */

struct queue {
    struct store_write *head, **tail;
};

struct deliveries {
    struct loop_post post; /* first: the loop hands it back */
    pthread_mutex_t lock;
    struct queue finished;
    bool posted;
    bool closed; /* the writer is gone; nobody is called any more */
};

struct writer {
    struct store *store;
    enum store_space space;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, finished;
    struct queue waiting;
    uint32_t n_waiting;
    uint32_t n_alone; /* of those in front: a transaction for each */
    bool entering;    /* the thread waits to get into a transaction */
    bool stopping;
    _Atomic int64_t began_ms; /* of the transaction it is in; 0: none */
    struct deliveries *deliveries;
};

/* ---- Queues --------------------------------------------------------------------------------- */

static void queue_clear(struct queue *q)
{
    q->head = NULL;
    q->tail = &q->head;
}

static void queue_add(struct queue *q, struct store_write *write)
{
    write->next = NULL;
    *q->tail = write;
    q->tail = &write->next;
}

static struct store_write *queue_take(struct queue *q)
{
    struct store_write *first = q->head;
    q->head = first->next;
    if (!q->head)
        q->tail = &q->head;
    return first;
}

/* Moves all of `from` behind what is in `q`. */
static void queue_append(struct queue *q, struct queue *from)
{
    if (!from->head)
        return;
    *q->tail = from->head;
    q->tail = from->tail;
    queue_clear(from);
}

/* ---- Completions ---------------------------------------------------------------------------- */

static void deliveries_free(struct deliveries *d)
{
    if (d)
        pthread_mutex_destroy(&d->lock);
    free(d);
}

static void deliver(struct loop_post *post)
{
    struct deliveries *d = (struct deliveries *)post;
    pthread_mutex_lock(&d->lock);
    struct store_write *write = d->finished.head;
    queue_clear(&d->finished);
    bool closed = d->closed;
    d->posted = false;
    pthread_mutex_unlock(&d->lock);
    if (closed) {
        deliveries_free(d);
        return;
    }
    while (write) {
        struct store_write *next = write->next; /* `done` may free it */
        write->done(write, write->state);
        write = next;
    }
}

static struct deliveries *deliveries_new(void)
{
    struct deliveries *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->post.fn = deliver;
    pthread_mutex_init(&d->lock, NULL);
    queue_clear(&d->finished);
    return d;
}

static void post_finished(struct writer *w, struct queue *finished)
{
    struct deliveries *d = w->deliveries;
    pthread_mutex_lock(&d->lock);
    queue_append(&d->finished, finished);
    bool post = !d->posted;
    d->posted = true;
    pthread_mutex_unlock(&d->lock);
    if (post)
        loop_post(w->store->loop, &d->post);
}

static void close_deliveries(struct deliveries *d)
{
    pthread_mutex_lock(&d->lock);
    d->closed = true;
    bool posted = d->posted;
    pthread_mutex_unlock(&d->lock);
    if (!posted)
        deliveries_free(d);
}

static void wake_waiters(struct writer *w, struct queue *finished)
{
    pthread_mutex_lock(&w->lock);
    while (finished->head)
        queue_take(finished)->is_finished = true;
    pthread_cond_broadcast(&w->finished);
    pthread_mutex_unlock(&w->lock);
}

/* Not under the writer's lock. */
static void finish(struct writer *w, struct queue *finished)
{
    struct queue posted, waited;
    queue_clear(&posted);
    queue_clear(&waited);
    while (finished->head) {
        struct store_write *write = queue_take(finished);
        queue_add(write->is_waited_for ? &waited : &posted, write);
    }
    if (posted.head)
        post_finished(w, &posted);
    if (waited.head)
        wake_waiters(w, &waited);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

static struct store_write *take_first(struct writer *w)
{
    w->n_waiting--;
    w->n_alone -= w->n_alone > 0;
    return queue_take(&w->waiting);
}

static bool is_due(const struct writer *w, int64_t now_ms)
{
    const struct store_write *first = w->waiting.head;
    return w->entering && first && now_ms - first->submitted_ms >= WRITE_WAIT_MS;
}

void writer_expire(struct writer *w)
{
    struct queue expired;
    queue_clear(&expired);
    pthread_mutex_lock(&w->lock);
    for (int64_t now_ms = clock_mono_ms(); is_due(w, now_ms);) {
        struct store_write *write = take_first(w);
        write->state = ERR_BUSY;
        queue_add(&expired, write);
    }
    pthread_mutex_unlock(&w->lock);
    finish(w, &expired);
}

/* ---- Groups --------------------------------------------------------------------------------- */

struct group {
    struct batch batch;
    struct queue lists;
    uint32_t n_lists, n_ops;
    int64_t until_ms;
    bool alone; /* it takes no second list */
};

static int begin(struct writer *w, struct group *g)
{
    pthread_mutex_lock(&w->lock);
    w->entering = true;
    pthread_mutex_unlock(&w->lock);
    int err = batch_begin(w->store, w->space, &g->batch);
    pthread_mutex_lock(&w->lock);
    w->entering = false;
    pthread_mutex_unlock(&w->lock);
    if (!err)
        w->began_ms = clock_mono_ms();
    g->until_ms = w->began_ms + TXN_MS_MAX;
    return err;
}

static int end(struct writer *w, struct group *g, int err)
{
    if (err)
        batch_abort(&g->batch);
    else
        err = batch_commit(&g->batch);
    w->began_ms = 0;
    return err;
}

int64_t writer_standing_ms(struct writer *w)
{
    int64_t began_ms = w ? w->began_ms : 0;
    return began_ms ? clock_mono_ms() - began_ms : 0;
}

static bool has_room(const struct group *g, const struct store_write *write)
{
    return g->n_lists == 0 || (!g->alone && g->n_ops + write->n_ops <= TXN_ROWS_MAX &&
                               g->batch.bytes < BATCH_BYTES && clock_mono_ms() < g->until_ms);
}

/* The next list of the group; NULL: it is complete. */
static struct store_write *take(struct writer *w, struct group *g)
{
    struct store_write *write = NULL;
    pthread_mutex_lock(&w->lock);
    if (w->waiting.head && has_room(g, w->waiting.head)) {
        g->alone |= w->n_alone > 0;
        write = take_first(w);
        g->n_lists++;
        g->n_ops += write->n_ops;
        queue_add(&g->lists, write);
    }
    pthread_mutex_unlock(&w->lock);
    return write;
}

/* To the front, each for a transaction of its own. */
static void put_back(struct writer *w, struct group *g)
{
    pthread_mutex_lock(&w->lock);
    queue_append(&g->lists, &w->waiting);
    queue_append(&w->waiting, &g->lists);
    w->n_waiting += g->n_lists;
    w->n_alone = g->n_lists;
    pthread_mutex_unlock(&w->lock);
}

static int apply_list(struct batch *b, struct store_write *write)
{
    if (write->n_ops > TXN_ROWS_MAX)
        return ERR_LIMIT;
    b->list_seq = b->seq;
    for (uint32_t i = 0; i < write->n_ops; i++) {
        int err = batch_apply(b, &write->ops[i]);
        if (err) {
            write->failed_op = i;
            return err;
        }
    }
    return 0;
}

static bool is_refusal(int err)
{
    return err == ERR_EXISTS || err == ERR_ABSENT || err == ERR_CONFLICT || err == ERR_LIMIT ||
           err == ERR_SESSIONS || err == ERR_STREAMS || err == ERR_STALE || err == ERR_PARAMS ||
           err == ERR_QUOTA;
}

/* What is refused before it changed anything is no error of the group. */
static int apply_next(struct group *g, struct store_write *write)
{
    uint32_t before = g->batch.changes;
    int err = write->state = apply_list(&g->batch, write);
    return is_refusal(err) && g->batch.changes == before ? 0 : err;
}

static int try_group(struct writer *w, struct group *g)
{
    struct store_write *write;
    int err = begin(w, g);
    if (err) {
        g->alone = true;
        take(w, g); /* who gets the error; the others may have better luck */
        return err;
    }
    while (!err && (write = take(w, g)))
        err = apply_next(g, write);
    return end(w, g, err);
}

static void run_group(struct writer *w)
{
    struct group g = {.n_lists = 0};
    queue_clear(&g.lists);
    int err = try_group(w, &g);
    if (err && g.n_lists > 1) {
        put_back(w, &g);
        return;
    }
    if (err && g.lists.head)
        g.lists.head->state = err;
    finish(w, &g.lists);
}

static void *run(void *arg)
{
    struct writer *w = arg;
    pthread_mutex_lock(&w->lock);
    while (w->waiting.head || !w->stopping) {
        if (!w->waiting.head) {
            pthread_cond_wait(&w->wake, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        run_group(w);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- The writer ----------------------------------------------------------------------------- */

/* Signals are for the main thread. */
static int start_thread(struct writer *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&w->thread, NULL, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc ? ERR_NO_MEMORY : 0;
}

static void writer_free(struct writer *w)
{
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->finished);
    free(w);
}

int writer_start(struct store *store, enum store_space space, struct writer **ret)
{
    struct writer *w = calloc(1, sizeof *w);
    if (!w)
        return ERR_NO_MEMORY;
    w->store = store;
    w->space = space;
    w->deliveries = deliveries_new();
    queue_clear(&w->waiting);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    pthread_cond_init(&w->finished, NULL);
    if (!w->deliveries || start_thread(w)) {
        deliveries_free(w->deliveries);
        writer_free(w);
        return ERR_NO_MEMORY;
    }
    *ret = w;
    return 0;
}

static void wait_until_finished(struct writer *w, struct store_write *write)
{
    struct timespec until;
    pthread_mutex_lock(&w->lock);
    while (!write->is_finished) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAITER_TICK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (!pthread_cond_timedwait(&w->finished, &w->lock, &until))
            continue;
        pthread_mutex_unlock(&w->lock);
        writer_expire(w);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

static bool enqueue(struct writer *w, struct store_write *write)
{
    write->submitted_ms = clock_mono_ms();
    write->is_finished = false;
    pthread_mutex_lock(&w->lock);
    bool fits = w->n_waiting < WRITES_WAITING_MAX;
    if (fits) {
        w->n_waiting++;
        queue_add(&w->waiting, write);
        pthread_cond_signal(&w->wake);
    }
    pthread_mutex_unlock(&w->lock);
    return fits;
}

static void refuse(struct writer *w, struct store_write *write)
{
    struct queue refused;
    queue_clear(&refused);
    write->state = ERR_BUSY;
    queue_add(&refused, write);
    finish(w, &refused);
}

void writer_submit(struct writer *w, struct store_write *write)
{
    write->is_waited_for = !w->store->loop;
    if (!enqueue(w, write))
        refuse(w, write);
    if (w->store->loop)
        return;
    wait_until_finished(w, write);
    write->done(write, write->state);
}

int writer_apply(struct writer *w, struct store_write *write)
{
    write->is_waited_for = true;
    if (!enqueue(w, write))
        return ERR_BUSY;
    wait_until_finished(w, write);
    return write->state;
}

void writer_stop(struct writer *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    close_deliveries(w->deliveries);
    writer_free(w);
}
