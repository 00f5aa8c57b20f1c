/* tests/unit/test_bus.c - wakes between four real workers: from all to all, to one that was killed
 * and came back, and what a lost one costs.
 *
 * In each worker a thread does what the test writes into shared memory, so that wakes come from
 * another thread than the loop's, as they may.
 */
#include "net_rig.h"

#include "core/change_mark.h"
#include "net/bus.h"

#include <pthread.h>
#include <sys/eventfd.h>

#define WORKERS 4

enum order { NONE, WAKE, WAKE_ALL, SET_FLAG, LOSE /* marks as woken without a wake */, ASK };

static struct notes {
    struct told {
        _Atomic pid_t pid;
        _Atomic uint64_t epoch;
        _Atomic unsigned n_woken;
        _Atomic enum order order; /* NONE when it is done */
        _Atomic uint32_t to;
        _Atomic uint64_t asked_epoch; /* of ASK: is this one alive? */
        _Atomic bool answer;
        _Atomic uint32_t flags; /* likewise: what `to` has */
    } workers[WORKERS];
} * notes;

static struct bus *bus;
static struct told *mine;
static pthread_t thread;
static _Atomic bool stopping;

/* ---- In a worker ---------------------------------------------------------------------------- */

static void on_wake(void *ctx)
{
    (void)ctx;
    mine->n_woken++;
}

static void obey(void)
{
    switch (mine->order) {
    case WAKE:
        bus_wake(bus, mine->to);
        break;
    case WAKE_ALL:
        bus_wake_all(bus, BUS_STREAMS);
        break;
    case SET_FLAG:
        bus_set_flag(bus, mine->to ? BUS_STREAMS : BUS_CALLS, true);
        break;
    case LOSE:
        bus->slots[mine->to].woken = true;
        break;
    case ASK:
        mine->answer = bus_is_alive(bus, (struct worker_id){mine->to, mine->asked_epoch});
        mine->flags = bus_flags(bus, mine->to);
        break;
    default:
        break;
    }
    mine->order = NONE;
}

static void *obey_always(void *ctx)
{
    while (!stopping) {
        obey();
        poll(NULL, 0, 1);
    }
    return ctx;
}

static int on_worker_start(void *ctx, uint32_t slot, struct bus *its_bus, struct loop *loop,
                           struct core **ret)
{
    int err = rig_worker_start(ctx, slot, its_bus, loop, ret);
    bus = its_bus;
    mine = &notes->workers[slot];
    mine->pid = getpid();
    mine->order = NONE;
    bus_on_wake(bus, on_wake, NULL);
    mine->epoch = bus_self(bus).epoch; /* the test waits for it */
    return err || pthread_create(&thread, NULL, obey_always, NULL) ? ERR_NO_MEMORY : 0;
}

static void on_worker_ending(void *ctx, struct core *core)
{
    (void)ctx, (void)core;
    stopping = true;
    pthread_join(thread, NULL);
}

/* ---- The test ------------------------------------------------------------------------------- */

#define UNTIL(condition)                                  \
    do {                                                  \
        for (int i_ = 0; i_ < 5000 && !(condition); i_++) \
            poll(NULL, 0, 1);                             \
        assert_true(condition);                           \
    } while (0)

static void order(uint32_t worker, enum order what, uint32_t to)
{
    struct told *w = &notes->workers[worker];
    w->to = to;
    w->order = what;
    UNTIL(w->order == NONE);
}

static bool is_alive(uint32_t asked, uint32_t slot, uint64_t epoch)
{
    notes->workers[asked].asked_epoch = epoch;
    order(asked, ASK, slot);
    return notes->workers[asked].answer;
}

static int serve(struct rig *rig)
{
    struct net_config config = rig_config();
    config.n_workers = WORKERS;
    const struct net_callbacks callbacks = {
        .ctx = rig,
        .worker_start = on_worker_start,
        .worker_ending = on_worker_ending,
        .worker_stop = rig_worker_stop,
        .ready = rig_ready,
    };
    return net_serve(&config, &callbacks);
}

static struct rig rig;

static int open_workers(void **state)
{
    (void)state;
    rig = (struct rig){0};
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_return_code(pipe(rig.ready), errno);
    fflush(NULL);
    rig.pid = fork();
    if (rig.pid == 0) {
        rig_be_a_child();
        close(rig.ready[0]);
        exit(serve(&rig) < 0);
    }
    close(rig.ready[1]);
    return read(rig.ready[0], &rig.port, sizeof rig.port) != sizeof rig.port;
}

static int close_workers(void **state)
{
    (void)state;
    rig_stop(&rig);
    munmap(notes, sizeof *notes);
    return 0;
}

static void forget_wakes(void)
{
    for (int i = 0; i < WORKERS; i++)
        notes->workers[i].n_woken = 0;
}

static void each_wakes_each_and_nobody_else(void **state)
{
    (void)state;
    for (uint32_t from = 0; from < WORKERS; from++)
        for (uint32_t to = 0; to < WORKERS; to++) {
            forget_wakes();
            order(from, WAKE, to);
            UNTIL(notes->workers[to].n_woken == 1);
            for (uint32_t i = 0; i < WORKERS; i++)
                assert_int_equal(notes->workers[i].n_woken, i == to);
        }
    order(0, WAKE, WORKERS); /* nobody: no harm */
}

static void those_with_the_flag_are_woken(void **state)
{
    (void)state;
    order(1, SET_FLAG, 1);
    order(3, SET_FLAG, 1);
    order(2, SET_FLAG, 0); /* another flag */
    forget_wakes();
    order(0, WAKE_ALL, 0);
    UNTIL(notes->workers[1].n_woken && notes->workers[3].n_woken);
    assert_int_equal(notes->workers[0].n_woken + notes->workers[2].n_woken, 0);
    is_alive(0, 2, 1);
    assert_int_equal(notes->workers[0].flags, BUS_CALLS);
}

static void a_killed_worker_is_another_one_when_it_is_back(void **state)
{
    (void)state;
    struct told *victim = &notes->workers[2];
    uint64_t before = victim->epoch;
    order(2, SET_FLAG, 0);
    order(0, LOSE, 2); /* the mark of an old life must not silence the new one */
    assert_true(is_alive(0, 2, before));
    forget_wakes();
    kill(victim->pid, SIGKILL);
    UNTIL(notes->workers[0].n_woken && notes->workers[1].n_woken && notes->workers[3].n_woken);
    assert_false(is_alive(0, 2, before));
    UNTIL(victim->epoch != before);
    assert_false(is_alive(1, 2, before));
    assert_true(is_alive(1, 2, victim->epoch));
    assert_int_equal(notes->workers[1].flags, 0);
    victim->n_woken = 0;
    order(3, WAKE, 2);
    UNTIL(victim->n_woken == 1);
    order(2, WAKE, 3); /* and it can wake */
    UNTIL(notes->workers[3].n_woken > 0);
    assert_true(is_alive(3, 2, victim->epoch));
}

static void epochs_are_never_the_same(void **state)
{
    (void)state;
    uint64_t seen[WORKERS + 3];
    for (int i = 0; i < WORKERS; i++)
        seen[i] = notes->workers[i].epoch;
    for (int i = WORKERS; i < WORKERS + 3; i++) {
        kill(notes->workers[1].pid, SIGKILL);
        UNTIL(notes->workers[1].epoch != seen[i == WORKERS ? 1 : i - 1]);
        seen[i] = notes->workers[1].epoch;
    }
    for (int i = 0; i < WORKERS + 3; i++)
        for (int j = 0; j < i; j++)
            assert_true(seen[i] != seen[j] && seen[i] > 1);
}

/* ---- One process ---------------------------------------------------------------------------- */

static unsigned n_looks;

static void count_look(void *ctx)
{
    (void)ctx;
    n_looks++;
}

static uint64_t written(int fd)
{
    uint64_t n = 0;
    return read(fd, &n, sizeof n) == sizeof n ? n : 0;
}

/* A worker is woken once until it looks; a mark whose wake was lost goes with the next look. */
static void one_wake_until_it_looks(void **state)
{
    (void)state;
    static struct bus_slot slots[2];
    static struct bus a, b;
    int wakes[] = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)};
    assert_int_equal(bus_join(&a, slots, wakes, 2, 0), 0);
    assert_int_equal(bus_join(&b, slots, wakes, 2, 1), 0);
    bus_on_wake(&b, count_look, NULL);
    for (int i = 0; i < 5; i++)
        bus_wake(&a, 1);
    assert_int_equal(written(wakes[1]), 1);
    bus_look(&b);
    assert_int_equal(n_looks, 1);
    bus_wake(&a, 1);
    assert_int_equal(written(wakes[1]), 1);
    bus_look(&b);

    slots[1].woken = true; /* whoever set it died before it wrote */
    bus_wake(&a, 1);
    assert_int_equal(written(wakes[1]), 0);
    bus_look(&b); /* by the clock */
    bus_wake(&a, 1);
    assert_int_equal(written(wakes[1]), 1);
    close(wakes[0]);
    close(wakes[1]);
}

/* Of a worker that died nothing is left, nor of an earlier life of one that begins. */
static void questions_are_counted_across_workers(void **state)
{
    (void)state;
    static struct bus_slot slots[2];
    static struct bus a, b;
    int wakes[] = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)};
    assert_int_equal(bus_join(&a, slots, wakes, 2, 0), 0);
    assert_int_equal(bus_join(&b, slots, wakes, 2, 1), 0);
    bus_add_ask(&a, 7, 1);
    bus_add_ask(&a, 7 + BUS_ASK_BUCKETS, 1);
    bus_add_ask(&a, 8, 1);
    assert_int_equal(bus_asks_elsewhere(&b, 7), 2);
    assert_int_equal(bus_asks_elsewhere(&a, 7), 0);
    bus_add_ask(&a, 7, -1);
    assert_int_equal(bus_asks_elsewhere(&b, 7), 1);
    bus_end(slots, wakes, 2, 0);
    assert_int_equal(bus_asks_elsewhere(&b, 7) + bus_asks_elsewhere(&b, 8), 0);
    slots[0].asks[7] = 5;
    assert_int_equal(bus_join(&a, slots, wakes, 2, 0), 0);
    assert_int_equal(bus_asks_elsewhere(&b, 7), 0);
    assert_int_equal(bus_asks_elsewhere(NULL, 7), 0);
    close(wakes[0]);
    close(wakes[1]);
}

/* A commit wakes who waits for what it changed, and nobody else. */
static void followers_are_woken_by_marks(void **state)
{
    (void)state;
    static struct bus_slot slots[2];
    static struct bus a, b;
    int wakes[] = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)};
    const uint64_t row = mark_of_row(3, STR("k")), table = mark_of_table(3), pair[] = {row, table};
    const struct change_marks marks = {pair, 2, false}, first = {pair, 1, false},
                              all = {NULL, 65, false};
    assert_int_equal(bus_join(&a, slots, wakes, 2, 0), 0);
    assert_int_equal(bus_join(&b, slots, wakes, 2, 1), 0);
    bus_add_mark(&b, table, 1);
    bus_wake_followers(&a, &marks);
    assert_int_equal(written(wakes[1]), 0); /* it does not follow */
    bus_set_flag(&b, BUS_FOLLOWS, true);
    bus_wake_followers(&a, &first);
    assert_int_equal(written(wakes[1]), 0);
    bus_wake_followers(&a, &marks);
    assert_int_equal(written(wakes[1]), 1);
    bus_look(&b);
    bus_add_mark(&b, table, -1);
    bus_wake_followers(&a, &marks);
    assert_int_equal(written(wakes[1]), 0);
    bus_wake_followers(&a, &all);
    assert_int_equal(written(wakes[1]), 1);
    assert_int_equal(written(wakes[0]), 0);
    bus_add_mark(&b, row, 1);
    bus_end(slots, wakes, 2, 1);
    assert_false(slots[1].has_marks);
    bus_wake_followers(NULL, &all);
    bus_add_mark(NULL, row, 1);
    close(wakes[0]);
    close(wakes[1]);
}

/* Who may do what is everybody's business, also of who follows nothing. */
static void all_are_woken_when_access_changed(void **state)
{
    (void)state;
    static struct bus_slot slots[3];
    static struct bus a, b;
    int wakes[] = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)};
    const uint64_t none[1] = {0};
    const struct change_marks access = {none, 0, true};
    assert_int_equal(bus_join(&a, slots, wakes, 3, 0), 0);
    assert_int_equal(bus_join(&b, slots, wakes, 3, 1), 0);
    bus_wake_followers(&a, &access);
    assert_int_equal(written(wakes[0]), 1);
    assert_int_equal(written(wakes[1]), 1);
    assert_int_equal(written(wakes[2]), 0); /* nobody is there */
    for (int i = 0; i < 3; i++)
        close(wakes[i]);
}

static void without_others_there_is_one_worker(void **state)
{
    (void)state;
    struct worker_id self = bus_self(NULL), other = {1, 1}, later = {0, 2}, nobody = {0, 0};
    assert_true(self.slot == 0 && self.epoch == 1);
    assert_int_equal(bus_slots(NULL), 1);
    assert_true(bus_is_alive(NULL, self));
    assert_false(bus_is_alive(NULL, other));
    assert_false(bus_is_alive(NULL, later));
    assert_false(bus_is_alive(NULL, nobody));
    bus_wake(NULL, 0);
    bus_wake_all(NULL, BUS_CALLS);
    bus_set_flag(NULL, BUS_CALLS, true);
    assert_int_equal(bus_flags(NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_wakes_each_and_nobody_else, open_workers,
                                        close_workers),
        cmocka_unit_test_setup_teardown(those_with_the_flag_are_woken, open_workers, close_workers),
        cmocka_unit_test_setup_teardown(a_killed_worker_is_another_one_when_it_is_back,
                                        open_workers, close_workers),
        cmocka_unit_test_setup_teardown(epochs_are_never_the_same, open_workers, close_workers),
        cmocka_unit_test(one_wake_until_it_looks),
        cmocka_unit_test(questions_are_counted_across_workers),
        cmocka_unit_test(followers_are_woken_by_marks),
        cmocka_unit_test(all_are_woken_when_access_changed),
        cmocka_unit_test(without_others_there_is_one_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
