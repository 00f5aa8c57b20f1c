/* tests/unit/test_mail.c - letters between four real workers on one store: each comes exactly once
 * and in the order in which its sender wrote it, also when one of them is killed meanwhile.
 *
 * The letters are of a kind that the test takes itself, by a wrap of the function that would. Each
 * sender counts by receiver and life, so each receiver knows which number comes next.
 */
#include "base/err.h"
#include "core/core_state.h"
#include "net/bus.h"
#include "net/loop.h"
#include "net/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 4
#define LETTERS 300 /* to each, at least */
#define A_TICK  40  /* to each */
#define LAPS    500 /* of a letter that goes to and fro */

/* Between two workers, in shared memory. */
struct lane {
    _Atomic uint64_t to_epoch;               /* of the receiver that the sender writes to now */
    _Atomic uint32_t n_sent;                 /* to it */
    _Atomic uint32_t n_begun, n_ended;       /* to all lives of it, in this one of the sender */
    _Atomic uint64_t from_epoch, life_epoch; /* of the last letter that came, and to whom */
    _Atomic uint32_t n_taken;                /* in that life of both */
};

static char dir[64];

static struct notes {
    struct lane lanes[WORKERS][WORKERS]; /* from, to */
    _Atomic pid_t pids[WORKERS];
    _Atomic uint64_t epochs[WORKERS];
    _Atomic uint32_t n_wrong;
    _Atomic bool sends;                 /* they may */
    _Atomic bool big;                   /* letters of some kilobytes */
    _Atomic int64_t began_us, ended_us; /* of one letter that goes to and fro; began: -1 */
    char what[256];                     /* went wrong first */
} * notes;

static void wrong(const char *what, uint64_t a, uint64_t b)
{
    if (!notes->n_wrong++)
        snprintf(notes->what, sizeof notes->what, "%s: %llu, %llu", what, (unsigned long long)a,
                 (unsigned long long)b);
}

/* ---- In a worker ---------------------------------------------------------------------------- */

static struct core *core;
static struct store *store;
static struct loop *loop;
static struct worker_id self;

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void send_lap(struct core *c, struct worker_id to, int64_t n)
{
    char body[64];
    int length = snprintf(body, sizeof body, "\"n\":%lld", (long long)n);
    mail_send(c, to, MAIL_CANCEL, (struct str){body, (uint32_t)length}, NULL, NULL);
}

void __wrap_running_take_cancel(struct core *c, struct worker_id from,
                                const struct tape_node *letter);

void __wrap_running_take_cancel(struct core *c, struct worker_id from,
                                const struct tape_node *letter)
{
    struct lane *lane = &notes->lanes[from.slot][self.slot];
    int64_t n = tape_get(letter, STR("n"))->v.i;
    if (notes->began_us) {
        if (n == LAPS)
            notes->ended_us = now_us();
        else
            send_lap(c, from, n + 1);
        return;
    }
    if (lane->from_epoch != from.epoch || lane->life_epoch != self.epoch) {
        lane->from_epoch = from.epoch;
        lane->life_epoch = self.epoch;
        lane->n_taken = 0;
    }
    if (n != (int64_t)lane->n_taken + 1)
        wrong("came, expected", (uint64_t)n, lane->n_taken + 1);
    lane->n_taken = (uint32_t)n;
}

static void committed(void *ctx, int err)
{
    if (err < 0 && err != ERR_LOST)
        wrong("not committed", (uint64_t)-err, 0);
    ((struct lane *)ctx)->n_ended++;
}

static void send_one(struct lane *lane, struct worker_id to)
{
    char body[8192];
    if (lane->to_epoch != to.epoch) {
        lane->to_epoch = 0;
        lane->n_sent = 0;
        lane->to_epoch = to.epoch;
    }
    lane->n_sent++;
    lane->n_begun++;
    int n = snprintf(body, sizeof body, "\"n\":%u,\"pad\":\"%0*d\"", lane->n_sent,
                     notes->big ? 8000 : 1, 0);
    mail_send(core, to, MAIL_CANCEL, (struct str){body, (uint32_t)n}, committed, lane);
}

static void tick(void *ctx)
{
    struct bus *bus = core->config.bus;
    (void)ctx;
    store_expire_writes(store);
    core_tick(core);
    if (notes->began_us == -1 && self.slot == 0) {
        notes->began_us = now_us();
        send_lap(core, bus_worker(bus, 1), 1);
    }
    for (uint32_t i = 0; notes->sends && i < A_TICK * WORKERS; i++) {
        struct worker_id to = bus_worker(bus, i % WORKERS);
        if (to.epoch)
            send_one(&notes->lanes[self.slot][to.slot], to);
    }
}

static int worker_start(void *ctx, uint32_t slot, struct bus *bus, struct loop *its_loop,
                        struct core **ret)
{
    struct core_config config = {.session_idle_ms = 1000, .bus = bus};
    struct store_config store_config = {.dir = dir, .mode = STORE_NOSYNC};
    struct arena arena;
    struct str why;
    (void)ctx;
    self = bus_self(bus);
    loop = its_loop;
    arena_init(&arena, 0);
    int err = store_open_lmdb(&store_config, &arena, &store, &why);
    arena_done(&arena);
    if (err < 0)
        return err;
    store_attach(store, loop);
    err = core_new(&config, store, loop, &core);
    *ret = core;
    for (int i = 0; i < WORKERS; i++)
        notes->lanes[slot][i].to_epoch = notes->lanes[slot][i].n_begun =
            notes->lanes[slot][i].n_ended = 0;
    notes->pids[slot] = getpid();
    notes->epochs[slot] = self.epoch;
    return err;
}

static void worker_stop(void *ctx, struct core *c)
{
    struct store_write nothing = {.space = STORE_SYS};
    (void)ctx;
    for (int i = 0; i < 2; i++) { /* a letter that was taken at the last moment is deleted yet */
        store_apply(store, &nothing);
        loop_drain(loop);
    }
    core_free(c);
    store_close(store);
}

static void ready(void *ctx, uint16_t port)
{
    if (write(*(int *)ctx, &port, sizeof port) != sizeof port)
        _exit(1);
}

static int serve(int to_parent)
{
    static const struct net_address address = {"127.0.0.1", 0};
    const struct net_config config = {
        .listen = &address, .n_listen = 1, .n_workers = WORKERS, .path = {"/mcp", NULL}};
    const struct net_callbacks callbacks = {.ctx = &to_parent,
                                            .worker_start = worker_start,
                                            .worker_tick = tick,
                                            .worker_stop = worker_stop,
                                            .ready = ready};
    return net_serve(&config, &callbacks);
}

/* ---- The test ------------------------------------------------------------------------------- */

#define UNTIL(condition)                                                      \
    do {                                                                      \
        for (int i_ = 0; i_ < 10000 && !(condition) && !notes->n_wrong; i_++) \
            poll(NULL, 0, 1);                                                 \
        if (notes->n_wrong)                                                   \
            fail_msg("%s", notes->what);                                      \
        assert_true(condition);                                               \
    } while (0)

static pid_t server;

static int open_workers(void **state)
{
    int ends[2];
    uint16_t port;
    (void)state;
    strcpy(dir, "/tmp/tenon-mail-XXXXXX");
    assert_non_null(mkdtemp(dir));
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_return_code(pipe(ends), errno);
    fflush(NULL);
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        signal(SIGSEGV, SIG_DFL);
        close(ends[0]);
        exit(serve(ends[1]) < 0);
    }
    close(ends[1]);
    bool up = read(ends[0], &port, sizeof port) == sizeof port;
    close(ends[0]);
    return !up;
}

static void remove_dir(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static int close_workers(void **state)
{
    (void)state;
    int status = -1;
    kill(server, SIGTERM);
    while (waitpid(server, &status, 0) < 0 && errno == EINTR)
        ;
    munmap(notes, sizeof *notes);
    remove_dir();
    return status;
}

/* Every lane between lives of now has as many, and all that was sent came. */
static bool all_came(uint32_t at_least)
{
    for (int from = 0; from < WORKERS; from++)
        for (int to = 0; to < WORKERS; to++) {
            const struct lane *l = &notes->lanes[from][to];
            if (l->to_epoch != notes->epochs[to] || l->n_sent < at_least ||
                l->n_begun != l->n_ended || l->life_epoch != notes->epochs[to] ||
                l->from_epoch != notes->epochs[from] || l->n_taken != l->n_sent)
                return false;
        }
    return true;
}

static bool all_sent(uint32_t at_least)
{
    for (int from = 0; from < WORKERS; from++)
        for (int to = 0; to < WORKERS; to++) {
            const struct lane *l = &notes->lanes[from][to];
            if (l->to_epoch != notes->epochs[to] || l->n_sent < at_least)
                return false;
        }
    return true;
}

static void from_all_to_all_exactly_once_in_order(void **state)
{
    (void)state;
    notes->sends = true;
    UNTIL(all_sent(LETTERS));
    notes->sends = false;
    UNTIL(all_came(LETTERS));
}

static void large_letters_come_in_parts(void **state)
{
    (void)state;
    notes->big = true;
    from_all_to_all_exactly_once_in_order(state);
}

static void letters_to_a_life_that_is_over_are_dropped(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint64_t before = notes->epochs[i];
        notes->sends = true;
        UNTIL(all_sent(1));
        kill(notes->pids[i], SIGKILL);
        UNTIL(notes->epochs[i] != before);
    }
    UNTIL(all_sent(A_TICK));
    notes->sends = false;
    UNTIL(all_came(A_TICK));
}

/* The way of a cancellation between two workers: a commit, a wake, a look. */
static void a_letter_takes_less_than_2_ms(void **state)
{
    (void)state;
    notes->began_us = -1;
    UNTIL(notes->ended_us);
    int64_t us = (notes->ended_us - notes->began_us) / LAPS;
    printf("# a letter takes %lld us\n", (long long)us);
    assert_true(us < 20000); /* the machine may be busy; told above */
}

static int count_letter(void *ctx, uint64_t seq, struct store_worker to, struct str text)
{
    (void)seq, (void)to, (void)text;
    ++*(int *)ctx;
    return 0;
}

static void nothing_is_left_in_the_store(void **state)
{
    struct store_view *view;
    struct store_config config = {.dir = dir, .mode = STORE_NOSYNC};
    struct arena arena;
    struct str why;
    int n = 0, status;
    from_all_to_all_exactly_once_in_order(state);
    kill(server, SIGTERM);
    waitpid(server, &status, 0);
    assert_int_equal(status, 0);
    arena_init(&arena, 0);
    assert_int_equal(store_open_lmdb(&config, &arena, &store, &why), 0);
    assert_int_equal(store_view_open(store, STORE_SYS, &view), 0);
    for (uint32_t slot = 0; slot < WORKERS; slot++)
        assert_int_equal(store_scan_mail(view, slot, 0, count_letter, &n), 0);
    store_view_close(view);
    store_close(store);
    arena_done(&arena);
    assert_int_equal(n, 0);
}

static int forget_workers(void **state)
{
    (void)state;
    munmap(notes, sizeof *notes);
    remove_dir();
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_workers, close_workers)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(from_all_to_all_exactly_once_in_order),
        TEST(large_letters_come_in_parts),
        TEST(a_letter_takes_less_than_2_ms),
        TEST(letters_to_a_life_that_is_over_are_dropped),
        cmocka_unit_test_setup_teardown(nothing_is_left_in_the_store, open_workers, forget_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
