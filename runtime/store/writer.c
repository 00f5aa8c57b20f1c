/* store/writer.c - the queue of a space: one thread that commits in the order of submission.
 *
 * What waits is committed as one group (group commit: a sync costs milliseconds, whatever the
 * group holds), of at most TXN_ROWS_MAX operations, BATCH_BYTES or TXN_MS_MAX. A list that is
 * refused before it changed anything leaves no trace and stays in the group; after any other error
 * the group is aborted and its lists are run one by one, so that each gets its own answer.
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

static struct store_write *queue_take_all(struct queue *q)
{
    struct store_write *first = q->head;
    queue_clear(q);
    return first;
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
    struct store_write *write = queue_take_all(&d->finished);
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

static void post_finished(struct writer *w, struct store_write *write, struct store_write *rest)
{
    struct deliveries *d = w->deliveries;
    pthread_mutex_lock(&d->lock);
    while (write != rest) {
        struct store_write *next = write->next;
        queue_add(&d->finished, write);
        write = next;
    }
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

/* ---- Transactions -----------------------------------------------------------------------------
 */

static int begin(struct writer *w, struct batch *ret)
{
    int err = batch_begin(w->store, w->space, ret);
    if (!err)
        w->began_ms = clock_mono_ms();
    return err;
}

static int commit(struct writer *w, struct batch *b)
{
    int err = batch_commit(b);
    w->began_ms = 0;
    return err;
}

static void give_up(struct writer *w, struct batch *b)
{
    batch_abort(b);
    w->began_ms = 0;
}

int64_t writer_standing_ms(struct writer *w)
{
    int64_t began_ms = w ? w->began_ms : 0;
    return began_ms ? clock_mono_ms() - began_ms : 0;
}

/* ---- Groups --------------------------------------------------------------------------------- */

static int apply_list(struct batch *b, struct store_write *write)
{
    if (write->n_ops > TXN_ROWS_MAX)
        return ERR_LIMIT;
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
           err == ERR_SESSIONS;
}

/* Sets the state of each list that it takes; *ret_rest is the first that it leaves. On an error
 * nothing was done. */
static int try_group(struct writer *w, struct store_write *first, struct store_write **ret_rest)
{
    struct batch b;
    struct store_write *write = first;
    int64_t started_ms = clock_mono_ms();
    uint32_t n_ops = 0;
    *ret_rest = first->next;
    int err = begin(w, &b);
    if (err)
        return err;
    do {
        uint32_t before = b.changes;
        err = apply_list(&b, write);
        write->state = err;
        n_ops += write->n_ops;
        write = *ret_rest = write->next;
        if (err && (!is_refusal(err) || b.changes != before)) {
            give_up(w, &b);
            return err;
        }
    } while (write && n_ops + write->n_ops <= TXN_ROWS_MAX && b.bytes < BATCH_BYTES &&
             clock_mono_ms() - started_ms < TXN_MS_MAX);
    return commit(w, &b);
}

static int run_alone(struct writer *w, struct store_write *write)
{
    struct batch b;
    int err = begin(w, &b);
    if (err)
        return err;
    err = apply_list(&b, write);
    if (!err)
        return commit(w, &b);
    give_up(w, &b);
    return err;
}

static void run_group(struct writer *w, struct store_write *first, struct store_write **ret_rest)
{
    int err = try_group(w, first, ret_rest);
    if (!err)
        return;
    if (first->next == *ret_rest) {
        first->state = err;
        return;
    }
    for (struct store_write *write = first; write != *ret_rest; write = write->next)
        write->state = run_alone(w, write);
}

/* Tells those who wait: a write that is its own next is finished. */
static void wake_waiters(struct writer *w, struct store_write *first, struct store_write *rest)
{
    pthread_mutex_lock(&w->lock);
    while (first != rest) {
        struct store_write *next = first->next;
        first->next = first;
        first = next;
    }
    pthread_cond_broadcast(&w->finished);
    pthread_mutex_unlock(&w->lock);
}

/* The lists from `first` up to `rest` are finished. */
static void finish(struct writer *w, struct store_write *first, struct store_write *rest)
{
    if (w->store->loop)
        post_finished(w, first, rest);
    else
        wake_waiters(w, first, rest);
}

static void run_all(struct writer *w, struct store_write *first)
{
    while (first) {
        struct store_write *rest;
        run_group(w, first, &rest);
        finish(w, first, rest);
        first = rest;
    }
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
        struct store_write *all = queue_take_all(&w->waiting);
        pthread_mutex_unlock(&w->lock);
        run_all(w, all);
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

void writer_submit(struct writer *w, struct store_write *write)
{
    bool waits = !w->store->loop;
    pthread_mutex_lock(&w->lock);
    queue_add(&w->waiting, write);
    pthread_cond_signal(&w->wake);
    while (waits && write->next != write)
        pthread_cond_wait(&w->finished, &w->lock);
    pthread_mutex_unlock(&w->lock);
    if (waits)
        write->done(write, write->state);
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
