/* tests/lib/server.h - starts and stops `tenon serve` for tests.
 *
 * The program is $TENON, else build/tenon; the caller runs at the top of the repository. The
 * port is the kernel's choice. The server's stderr goes to a file, whose end is shown by
 * server_show_log when a test fails.
 */
#ifndef TENON_TESTS_SERVER_H
#define TENON_TESTS_SERVER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct server {
    pid_t pid; /* of the supervisor; 0: not running */
    uint16_t port;
    char dir[64]; /* temporary; holds data/, config.json, clock, log, port */
    char data[80];
    bool is_limited; /* set after server_dir: rates are limited as the settings say; else not */
};

const char *server_binary(void);
/* Makes the temporary directory with an empty data directory's name in it. */
bool server_dir(struct server *s);
/* Runs a shell command with $TENON and $DATA set. Its output goes to the log. Exit status, or -1.
 */
int server_sh(struct server *s, const char *command);
/* Starts `tenon serve` and waits for its port. `config` is JSON text or NULL; `flags` are further
 * words or NULL, blank-separated. With `clock` the server follows server_set_clock. */
bool server_start(struct server *s, const char *config, const char *flags, bool clock);
void server_set_clock(struct server *s, int64_t ms_ahead);
/* SIGTERM; true: it ended with status 0 within 10 s, and no sanitizer has complained in its log. */
bool server_stop(struct server *s);
void server_kill(struct server *s); /* SIGKILL to the supervisor and all its children at once */
void server_show_log(struct server *s);
void server_remove(struct server *s); /* the temporary directory */
/* Children of a process; returns how many. */
int server_children(pid_t parent, pid_t *ret, int max);
/* The workers among the server's children: all but the keeper. */
int server_workers(const struct server *s, pid_t *ret, int max);
int64_t server_now_ms(void);

/* Looks at a condition every few milliseconds until it holds, for at most 60 s; its last value. */
#define SERVER_WAIT_MS         60000
#define server_wait(condition) server_wait_ms(condition, SERVER_WAIT_MS)
#define server_wait_ms(condition, ms)                             \
    ({                                                            \
        int64_t until = server_now_ms() + (ms);                   \
        bool holds;                                               \
        while (!(holds = (condition)) && server_now_ms() < until) \
            poll(NULL, 0, 2);                                     \
        holds;                                                    \
    })

#endif
