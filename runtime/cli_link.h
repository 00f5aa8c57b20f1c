/* cli_link.h - the connection of the small HTTP client of cli_http.h: plain, or with TLS.
 *
 * With TLS the server must prove by its certificate that it is the host of the URL.
 */
#ifndef TENON_CLI_LINK_H
#define TENON_CLI_LINK_H

#include "cli_http.h"

#include <openssl/ssl.h>

#define LINK_TIMEOUT_S 10 /* of each step */

struct link {
    int fd;
    SSL *ssl; /* NULL: plain */
};

/* 0, or an error with one sentence in *ret_why. */
int link_open(const struct http_url *url, struct arena *arena, struct link *ret,
              struct str *ret_why);
void link_close(struct link *link);
/* False: errno says why; EPROTO of TLS. */
bool link_send(struct link *link, struct str text);
/* As recv. */
ssize_t link_receive(struct link *link, char *to, size_t room);

#endif
