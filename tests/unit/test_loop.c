/* tests/unit/test_loop.c - the loop's inbox and handler threads, and the deadline queues. */
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "net/deadline.h"
#include "net/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct loop *loop;
static pthread_t loop_thread;

static int start(void **state)
{
    (void)state;
    loop_thread = pthread_self();
    return loop_new(&loop);
}

static int stop(void **state)
{
    (void)state;
    loop_free(loop);
    return 0;
}

/* ---- Inbox ------------------------------------------------------------------------------------*/

#define N_POSTERS 4
#define N_POSTS   500

static unsigned posts_seen, out_of_order;

struct numbered_post {
    struct loop_post post; /* first */
    int poster, number;
};

static void on_post(struct loop_post *post)
{
    static int last[N_POSTERS];
    struct numbered_post *p = (struct numbered_post *)post;
    assert_true(pthread_equal(pthread_self(), loop_thread));
    out_of_order += p->number != last[p->poster] + 1;
    last[p->poster] = p->number;
    free(p);
    if (++posts_seen == N_POSTERS * N_POSTS)
        loop_stop(loop);
}

static void *poster_main(void *arg)
{
    for (int i = 1; i <= N_POSTS; i++) {
        struct numbered_post *p = calloc(1, sizeof *p);
        *p = (struct numbered_post){{.fn = on_post}, (int)(intptr_t)arg, i};
        loop_post(loop, &p->post);
    }
    return NULL;
}

static void posts_of_any_thread_arrive_in_their_order(void **state)
{
    (void)state;
    pthread_t threads[N_POSTERS];
    for (intptr_t i = 0; i < N_POSTERS; i++)
        pthread_create(&threads[i], NULL, poster_main, (void *)i);
    loop_run(loop);
    for (int i = 0; i < N_POSTERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(posts_seen, N_POSTERS * N_POSTS);
    assert_int_equal(out_of_order, 0);
}

static void on_post_twice(struct loop_post *post)
{
    static int times;
    if (++times == 1)
        loop_post(loop, post); /* the entry is ours again once fn was called */
    else
        loop_stop(loop);
}

static void a_post_may_post_itself_again(void **state)
{
    (void)state;
    struct loop_post post = {.fn = on_post_twice};
    loop_post(loop, &post);
    loop_run(loop);
}

/* ---- Handler threads --------------------------------------------------------------------------*/

struct blocking_work {
    struct loop_work work; /* first */
    sem_t *gate;
};

static atomic_uint n_ran, n_concurrent, most_concurrent;
static unsigned n_done, done_wanted;

static void run_blocking(struct loop_work *work)
{
    unsigned now = ++n_concurrent, most = most_concurrent;
    assert_false(pthread_equal(pthread_self(), loop_thread));
    while (now > most && !atomic_compare_exchange_weak(&most_concurrent, &most, now))
        continue;
    sem_wait(((struct blocking_work *)work)->gate);
    n_concurrent--;
    n_ran++;
}

static void on_done(struct loop_work *work)
{
    assert_true(pthread_equal(pthread_self(), loop_thread));
    free(work);
    if (++n_done == done_wanted)
        loop_stop(loop);
}

static int offload(sem_t *gate)
{
    struct blocking_work *w = calloc(1, sizeof *w);
    *w = (struct blocking_work){{.run = run_blocking, .done = on_done}, gate};
    int err = loop_offload(loop, &w->work);
    if (err < 0)
        free(w);
    return err;
}

static void threads_grow_then_work_waits_then_it_is_refused(void **state)
{
    (void)state;
    sem_t gate;
    sem_init(&gate, 0, 0);
    unsigned accepted = 0;
    /* all block, so every thread is made and the queue fills */
    while (accepted <= HANDLER_THREADS_MAX + HANDLER_QUEUE_MAX && offload(&gate) == 0)
        accepted++;
    assert_true(accepted >= HANDLER_QUEUE_MAX);
    assert_true(accepted <= HANDLER_THREADS_MAX + HANDLER_QUEUE_MAX);
    for (unsigned i = 0; i < accepted; i++)
        sem_post(&gate);
    n_done = 0;
    done_wanted = accepted;
    loop_run(loop);
    assert_int_equal(n_ran, accepted);
    assert_true(most_concurrent > 1 && most_concurrent <= HANDLER_THREADS_MAX);
    assert_int_equal(offload(&gate), 0); /* there is room again */
    sem_post(&gate);
    done_wanted = ++accepted;
    loop_run(loop);
    sem_destroy(&gate);
}

static int seen_nice;

static void see_nice(struct loop_work *work)
{
    (void)work;
    seen_nice = getpriority(PRIO_PROCESS, (id_t)gettid());
}

static void handler_threads_give_way_to_the_loop(void **state)
{
    (void)state;
    struct loop_work *work = calloc(1, sizeof *work);
    int own = getpriority(PRIO_PROCESS, (id_t)gettid());
    *work = (struct loop_work){.run = see_nice, .done = on_done};
    n_done = 0;
    done_wanted = 1;
    assert_int_equal(loop_offload(loop, work), 0);
    loop_run(loop);
    assert_int_equal(seen_nice, own > HANDLER_NICE ? own : HANDLER_NICE);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)gettid()), own);
}

static void freeing_waits_for_handlers(void **state)
{
    (void)state;
    struct loop *mine = loop, *other;
    sem_t gate;
    sem_init(&gate, 0, 0);
    assert_int_equal(loop_new(&other), 0);
    loop = other;
    n_done = n_ran = 0;
    done_wanted = 0;
    for (int i = 0; i < 10; i++)
        assert_int_equal(offload(&gate), 0);
    for (int i = 0; i < 10; i++)
        sem_post(&gate);
    loop_free(other);
    loop = mine;
    assert_int_equal(n_ran, 10);
    assert_int_equal(n_done, 10);
    sem_destroy(&gate);
}

/* ---- Ticks ------------------------------------------------------------------------------------*/

static void on_tick(void *ctx)
{
    if (++*(int *)ctx == 3)
        loop_stop(loop);
}

static void ticks_come_and_time_passes(void **state)
{
    (void)state;
    struct loop *mine = loop;
    int ticks = 0;
    assert_int_equal(loop_new(&loop), 0);
    int64_t before_ms = loop_now_ms(loop);
    loop_on_tick(loop, on_tick, &ticks);
    loop_run(loop);
    assert_true(loop_now_ms(loop) >= before_ms + 2 * LOOP_TICK_MS);
    loop_free(loop);
    loop = mine;
}

static int64_t posted_now_ms;

static void see_now(struct loop_post *post)
{
    (void)post;
    posted_now_ms = loop_now_ms(loop);
    loop_stop(loop);
}

/* K11: what is accepted after a leap has its whole deadline, not what the tick before left. */
static void a_turn_knows_the_time_though_no_tick_came(void **state)
{
    (void)state;
    struct loop_post post = {.fn = see_now};
    clock_advance_ms(400000);
    int64_t now_ms = clock_mono_ms();
    loop_post(loop, &post);
    loop_run(loop);
    assert_true(posted_now_ms >= now_ms);
}

/* ---- Deadlines --------------------------------------------------------------------------------*/

#define N_CONNS 1000

static unsigned n_expired, last_expired;
static struct deadline conns[N_CONNS];

static void on_expired(struct deadline *d)
{
    n_expired++;
    last_expired = (unsigned)(d - conns);
    assert_null(d->queue);
}

static void K11_deadlines_expire_in_order_of_setting(void **state)
{
    (void)state;
    struct deadline_queue queue = {.after_ms = 100, .expired = on_expired};
    for (unsigned i = 0; i < N_CONNS; i++)
        deadline_set(&queue, &conns[i], i);
    deadline_sweep(&queue, 99);
    assert_int_equal(n_expired, 0);
    deadline_sweep(&queue, 100 + 9);
    assert_int_equal(n_expired, 10);
    assert_int_equal(last_expired, 9);
    deadline_set(&queue, &conns[10], 5000); /* moved to the end */
    deadline_clear(&conns[11]);
    deadline_clear(&conns[11]); /* twice does no harm */
    deadline_sweep(&queue, 100 + N_CONNS);
    assert_int_equal(n_expired, N_CONNS - 2);
    assert_ptr_equal(queue.first, &conns[10]);
    assert_ptr_equal(queue.last, &conns[10]);
    deadline_sweep(&queue, 5100);
    assert_int_equal(last_expired, 10);
    assert_null(queue.first);
    assert_null(queue.last);
}

static struct deadline_queue second = {.after_ms = 50, .expired = on_expired};

static void move_on(struct deadline *d)
{
    deadline_set(&second, d, 100);
}

static void a_deadline_may_be_set_again_while_it_expires(void **state)
{
    (void)state;
    struct deadline_queue queue = {.after_ms = 0, .expired = move_on};
    n_expired = 0;
    deadline_set(&queue, &conns[0], 100);
    deadline_set(&queue, &conns[1], 100);
    deadline_sweep(&queue, 100);
    assert_null(queue.first);
    deadline_sweep(&second, 149);
    assert_int_equal(n_expired, 0);
    deadline_sweep(&second, 150);
    assert_int_equal(n_expired, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posts_of_any_thread_arrive_in_their_order),
        cmocka_unit_test(a_post_may_post_itself_again),
        cmocka_unit_test(threads_grow_then_work_waits_then_it_is_refused),
        cmocka_unit_test(handler_threads_give_way_to_the_loop),
        cmocka_unit_test(freeing_waits_for_handlers),
        cmocka_unit_test(ticks_come_and_time_passes),
        cmocka_unit_test(a_turn_knows_the_time_though_no_tick_came),
        cmocka_unit_test(K11_deadlines_expire_in_order_of_setting),
        cmocka_unit_test(a_deadline_may_be_set_again_while_it_expires),
    };
    return cmocka_run_group_tests_name("loop", tests, start, stop);
}
