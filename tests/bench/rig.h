/* tests/bench/rig.h - servers with the component stamp.c, for benchmarks of live calls.
 *
 * Which worker a connection reached is asked for, so what is measured can be spread evenly or be
 * between two workers for certain. What goes wrong ends the program; servers end with it.
 */
#ifndef TENON_TESTS_BENCH_RIG_H
#define TENON_TESTS_BENCH_RIG_H

#include "tests/lib/http.h"
#include "tests/lib/server.h"

#define RIG_WORKERS_MAX 8

struct rig {
    struct server server;
    int n_workers;
    pid_t workers[RIG_WORKERS_MAX];
};

/* The struct has to stay until rig_stop. */
void rig_start(struct rig *rig, int n_workers);
/* With further flags, and a shell command before it starts ($TENON, $DATA). Each may be NULL. */
void rig_start_as(struct rig *rig, int n_workers, const char *flags, const char *before);
void rig_stop(struct rig *rig);
/* A session of its own, on this connection. */
void rig_session(struct http_conn *c, char ret[128]);
void rig_connect(struct rig *rig, struct http_conn *ret);
/* The worker at the other end. */
pid_t rig_where(struct http_conn *c, const char *session);
/* Opens a stream on this connection: the status of the answer, whose head and first comment are
 * read. */
int rig_listen(struct http_conn *c, const char *session);
/* User and system time of the workers, all threads. */
double rig_cpu_us(const struct rig *rig);
/* A connection to that worker; with `is_other` to any but that. */
void rig_connect_to(struct rig *rig, const char *session, pid_t worker, bool is_other,
                    struct http_conn *ret);

#endif
