/* net/threads.c - see threads.h.
 *
 * Finished work goes to a list of its own, and one loop_post entry takes the whole list to the
 * loop: so work needs no post entry, and many finished pieces cost one wake.
 */
#include "net/threads.h"

#include "base/err.h"
#include "base/limits.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define THREAD_IDLE_S      10
#define THREAD_STACK_BYTES (512u << 10)

struct work_list {
    struct loop_work *first, **last;
};

struct threads {
    struct loop *loop;
    pthread_mutex_t mutex;
    pthread_cond_t has_work, has_ended;
    struct work_list waiting, finished;
    struct loop_post post; /* takes `finished` to the loop */
    bool posted, closing;
    unsigned n_waiting, n_threads, n_idle;
};

static void list_init(struct work_list *list)
{
    list->first = NULL;
    list->last = &list->first;
}

static void list_add(struct work_list *list, struct loop_work *work)
{
    work->next = NULL;
    *list->last = work;
    list->last = &work->next;
}

static struct loop_work *list_take_one(struct work_list *list)
{
    struct loop_work *work = list->first;
    list->first = work->next;
    if (!list->first)
        list->last = &list->first;
    return work;
}

static void deliver(struct loop_post *post)
{
    struct threads *t = (struct threads *)((char *)post - offsetof(struct threads, post));
    pthread_mutex_lock(&t->mutex);
    struct loop_work *work = t->finished.first, *next;
    list_init(&t->finished);
    t->posted = false;
    pthread_mutex_unlock(&t->mutex);
    for (; work; work = next) {
        next = work->next; /* the work is its owner's from here on */
        work->done(work);
    }
}

/* Under the mutex. */
static void hand_over(struct threads *t, struct loop_work *work)
{
    list_add(&t->finished, work);
    if (!t->posted)
        loop_post(t->loop, &t->post);
    t->posted = true;
}

/* Under the mutex. False: nothing came in time, or the end has come. */
static bool wait_for_work(struct threads *t)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += THREAD_IDLE_S;
    int err = 0;
    t->n_idle++;
    while (!t->n_waiting && !t->closing && err != ETIMEDOUT)
        err = pthread_cond_timedwait(&t->has_work, &t->mutex, &until);
    t->n_idle--;
    return t->n_waiting;
}

/* The loop comes first. Whoever gives way more than that already stays so, also as root. */
static void give_way(void)
{
    id_t self = (id_t)gettid();
    if (getpriority(PRIO_PROCESS, self) < HANDLER_NICE)
        setpriority(PRIO_PROCESS, self, HANDLER_NICE);
}

static void *thread_main(void *arg)
{
    struct threads *t = arg;
    give_way();
    pthread_mutex_lock(&t->mutex);
    while (wait_for_work(t)) {
        struct loop_work *work = list_take_one(&t->waiting);
        t->n_waiting--;
        pthread_mutex_unlock(&t->mutex);
        work->run(work);
        pthread_mutex_lock(&t->mutex);
        hand_over(t, work);
    }
    t->n_threads--;
    pthread_cond_broadcast(&t->has_ended);
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

/* Under the mutex. */
static bool add_thread(struct threads *t)
{
    pthread_attr_t attr;
    pthread_t id;
    if (t->n_threads == HANDLER_THREADS_MAX)
        return false;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
    bool made = pthread_create(&id, &attr, thread_main, t) == 0;
    pthread_attr_destroy(&attr);
    t->n_threads += made;
    return made;
}

int threads_add(struct threads *t, struct loop_work *work)
{
    int err = 0;
    pthread_mutex_lock(&t->mutex);
    if (t->n_waiting == HANDLER_QUEUE_MAX)
        err = ERR_BUSY;
    else if (t->n_waiting >= t->n_idle && !add_thread(t) && !t->n_threads)
        err = ERR_BUSY;
    if (!err) {
        list_add(&t->waiting, work);
        t->n_waiting++;
        pthread_cond_signal(&t->has_work);
    }
    pthread_mutex_unlock(&t->mutex);
    return err;
}

int threads_new(struct loop *loop, struct threads **ret)
{
    struct threads *t = calloc(1, sizeof *t);
    if (!t)
        return ERR_NO_MEMORY;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->has_work, &attr);
    pthread_cond_init(&t->has_ended, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&t->mutex, NULL);
    list_init(&t->waiting);
    list_init(&t->finished);
    t->loop = loop;
    t->post.fn = deliver;
    *ret = t;
    return 0;
}

bool threads_join(struct threads *t, int64_t ms)
{
    struct timespec until;
    int err = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&t->mutex);
    t->closing = true;
    pthread_cond_broadcast(&t->has_work);
    while (t->n_threads && err != ETIMEDOUT)
        err = ms < 0 ? pthread_cond_wait(&t->has_ended, &t->mutex)
                     : pthread_cond_timedwait(&t->has_ended, &t->mutex, &until);
    bool all_ended = !t->n_threads;
    pthread_mutex_unlock(&t->mutex);
    return all_ended;
}

void threads_free(struct threads *t)
{
    pthread_cond_destroy(&t->has_work);
    pthread_cond_destroy(&t->has_ended);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}
