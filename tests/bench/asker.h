/* tests/bench/asker.h - a client for load: a keep-alive connection with one POST in flight.
 *
 * The same request again and again, sent as prepared bytes, so that a client costs little beside
 * the server that is measured. What goes wrong ends the program.
 */
#ifndef TENON_TESTS_BENCH_ASKER_H
#define TENON_TESTS_BENCH_ASKER_H

#include "tests/lib/http.h"

struct asker {
    int fd;
    char *request;
    size_t request_n;
    char *reply; /* what has come of the reply, NUL behind */
    size_t n;
};

/* Takes the connection over. `session` "": none. */
void asker_open(struct asker *a, struct http_conn *conn, const char *session, const char *body);
void asker_close(struct asker *a);
void asker_ask(struct asker *a);
/* The descriptor is readable. True: the reply is whole. */
bool asker_receive(struct asker *a);
/* The reply is a 200 that holds `expect` (NULL: anything). */
bool asker_is_right(const struct asker *a, const char *expect);

#endif
