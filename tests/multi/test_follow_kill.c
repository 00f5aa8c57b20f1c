/* tests/multi/test_follow_kill.c - the subscribers of follow_rig.h while workers, and now and then
 * the whole server, are killed: nothing that was acknowledged is missed, and who goes on by ids is
 * told nothing twice.
 *
 * For 60 s, or TENON_FOLLOW_KILL_S.
 */
#include "tests/multi/follow_rig.h"

#include <signal.h>

#define SERVER_EVERY 8 /* kills of workers to one of the server */

static _Atomic bool stop_work;
static _Atomic uint32_t n_lives;
static unsigned n_workers_killed, n_servers_killed;

static void *live_on(void *arg)
{
    for (int i = *(int *)arg; !stop_work; i += N_THREADS) {
        live_once(i);
        n_lives++;
    }
    return NULL;
}

static bool kill_server(void)
{
    server_kill(&server);
    n_servers_killed++;
    return follow_start();
}

static void kill_worker(unsigned *random)
{
    pid_t workers[8];
    int n = server_workers(&server, workers, 8);
    if (n > 0)
        n_workers_killed += kill(workers[(unsigned)rand_r(random) % (unsigned)n], SIGKILL) == 0;
}

static bool kill_for(int seconds)
{
    unsigned random = seed;
    bool ok = true;
    int64_t end_ms = server_now_ms() + seconds * INT64_C(1000);
    for (unsigned i = 1; ok && server_now_ms() < end_ms; i++) {
        pause_ms(200 + (unsigned)rand_r(&random) % 1000);
        if (i % SERVER_EVERY == 0)
            ok = kill_server();
        else
            kill_worker(&random);
    }
    return ok;
}

static void run(int seconds)
{
    pthread_t threads[N_THREADS];
    int first[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        first[i] = i;
        pthread_create(&threads[i], NULL, live_on, &first[i]);
    }
    bool ok = kill_for(seconds);
    stop_work = true;
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    tap_ok(ok && n_servers_killed > 0, "%u workers and %u servers were killed in %d s",
           n_workers_killed, n_servers_killed, seconds);
    tap_ok(n_faults == 0 && n_lives > 0,
           "%u subscribers: %u updates of %u commits over %u streams, none missed", n_lives, n_told,
           n_committed, n_returns);
}

int main(void)
{
    const char *wanted = getenv("TENON_FOLLOW_KILL_S");
    has_kills = true;
    if (begin_follow())
        run(wanted && atoi(wanted) > 0 ? atoi(wanted) : 60);
    return end_follow();
}
