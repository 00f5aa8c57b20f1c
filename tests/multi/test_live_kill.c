/* tests/multi/test_live_kill.c - workers are killed while calls run on them.
 *
 * Clients go on as clients do: a stream that breaks is resumed by the id of its last event, on
 * whatever worker takes the connection. Each call has to come to an end within EVENT_MS: by its
 * answer, by an error that says the worker was lost, by a connection that broke before its first
 * event; never by the events of another. At the end all sessions are there, and the processes hold
 * what they held at the beginning.
 *
 * TENON_LIVE_KILL_S: for how many seconds, one kill a second (5).
 */
#include "tests/multi/live_rig.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

enum fate { ANSWERED, LOST, BROKEN, CANCELLED, N_FATES };

static _Atomic uint32_t fates[N_FATES];
static _Atomic bool stop_work;

/* ---- Calls ---------------------------------------------------------------------------------- */

/* To the end, over as many connections as it takes. */
static void see_through(struct talk *t)
{
    for (int i = 0; i < 20 && !t->is_answered; i++) {
        talk_to_end(t);
        if (t->is_answered || t->end == SSE_TIMEOUT || t->end == SSE_END || !t->stream.last_id[0])
            return;
        if (!talk_resume(t) && t->stream.status)
            return;
    }
}

static enum fate fate_of(const struct talk *t)
{
    if (!t->is_answered)
        return BROKEN;
    if (!t->is_error)
        return ANSWERED;
    if (!strstr(t->answer, "-32603"))
        fault("call %d: %.200s", t->number, t->answer);
    return LOST;
}

static void end_talk(struct talk *t)
{
    if (t->end == SSE_TIMEOUT)
        fault("call %d hangs", t->number);
    fates[fate_of(t)]++;
    sse_close(&t->stream);
}

static void tell(int number)
{
    struct talk t;
    if (talk_begin(&t, session_of(number), number, "tell", ",\"n\":20"))
        see_through(&t);
    if (t.is_answered && !t.is_error && t.next_log != 20)
        fault("call %d is answered with %d log messages, %d in order", number, t.n_logs,
              t.next_log);
    end_talk(&t);
}

static void ask(int number)
{
    struct talk t;
    char result[200];
    snprintf(result, sizeof result,
             "\"result\":{\"action\":\"accept\",\"content\":{\"value\":\"v%d\"}}", number);
    if (talk_begin(&t, session_of(number), number, "gate", "") && talk_to_question(&t)) {
        post_answer(t.session, t.question, result); /* to a worker that may be killed now */
        post_answer(t.session, t.question, result);
    }
    see_through(&t);
    end_talk(&t);
}

static void cancel(int number)
{
    struct talk t;
    bool begun = talk_begin(&t, session_of(number), number, "hold", "") && talk_next(&t);
    if (begun && post_cancel(&t) == 202) {
        talk_to_end(&t);
        fates[CANCELLED] += t.end == SSE_END && !t.is_answered;
    } else {
        post_cancel(&t);
    }
    see_through(&t);
    end_talk(&t);
}

static void *work_on(void *arg)
{
    static const work_fn kinds[] = {tell, ask, cancel};
    for (int i = *(int *)arg; !stop_work; i += N_THREADS)
        kinds[i / N_THREADS % 3](i);
    return NULL;
}

/* ---- What a process holds ------------------------------------------------------------------- */

static int count_entries(pid_t pid, const char *what)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", pid, what);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

static int most(const char *what)
{
    pid_t workers[8];
    int n = server_workers(&server, workers, 8), highest = 0;
    for (int i = 0; i < n; i++) {
        int held = count_entries(workers[i], what);
        highest = held > highest ? held : highest;
    }
    return highest;
}

static bool all_there(void)
{
    pid_t workers[8];
    return server_workers(&server, workers, 8) == 4;
}

static bool sessions_live(void)
{
    int n = 0;
    for (int i = 0; i < N_SESSIONS; i++)
        n += post(sessions[i], "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}") == 200;
    return n == N_SESSIONS;
}

/* ---- The test ------------------------------------------------------------------------------- */

static int kill_for(int seconds)
{
    int killed = 0;
    unsigned seed = (unsigned)getpid();
    for (int i = 0; i < seconds; i++) {
        pid_t workers[8];
        int64_t next_ms = server_now_ms() + 1000;
        int n = server_workers(&server, workers, 8);
        if (n > 0)
            killed += kill(workers[rand_r(&seed) % (unsigned)n], SIGKILL) == 0;
        server_wait_ms(false, next_ms - server_now_ms());
    }
    return killed;
}

static void run(int seconds)
{
    pthread_t threads[N_THREADS];
    int first[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        first[i] = i + 1000;
        pthread_create(&threads[i], NULL, work_on, &first[i]);
    }
    int killed = kill_for(seconds);
    stop_work = true;
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    /* those that were to be started again had to wait longer each time */
    tap_ok(killed > seconds / 2, "%d workers were killed in %d s", killed, seconds);
    tap_ok(n_faults == 0, "no call hangs, or gets what is another's");
    tap_ok(fates[ANSWERED] > 100u && fates[CANCELLED] > 10u,
           "%u answered, %u lost with their worker, %u broken, %u cancelled", fates[ANSWERED],
           fates[LOST], fates[BROKEN], fates[CANCELLED]);
}

int main(void)
{
    const char *wanted = getenv("TENON_LIVE_KILL_S");
    bool ok = tap_ok(live_start(NULL), "four workers with a component");
    if (ok) {
        int fds = most("fd");
        run(wanted && atoi(wanted) > 0 ? atoi(wanted) : 5);
        tap_ok(server_wait(all_there()), "four workers again");
        tap_ok(server_wait_ms(sessions_live(), 10000), "every session is there");
        tap_ok(server_wait_ms(most("fd") <= fds, 20000), "descriptors as before (%d, at most %d)",
               fds, most("fd"));
        tap_ok(server_wait_ms(most("task") <= 16, 20000), "threads go (%d at most)", most("task"));
        tap_ok(server_stop(&server), "the server ends well");
        tap_ok(server_sh(&server, "$TENON doctor --data $DATA") == 0, "doctor finds nothing");
    }
    if (n_faults || !ok)
        server_show_log(&server);
    server_remove(&server);
    return tap_done();
}
