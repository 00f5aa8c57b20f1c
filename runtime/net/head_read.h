/* net/head_read.h - takes the headers of a request out of libwebsockets' store.
 *
 * It drops the store soon, so everything is copied: into one buffer per worker, overwritten by the
 * next request.
 */
#ifndef TENON_NET_HEAD_READ_H
#define TENON_NET_HEAD_READ_H

#include "net/head.h"

struct lws;

struct head_reader {
    struct http_head head; /* of the last request read */
    char *text;            /* its values */
    size_t text_n;
};

int head_reader_init(struct head_reader *reader); /* 0 or ERR_NO_MEMORY */
void head_reader_done(struct head_reader *reader);
/* `is_authorized`: an Authorization header came, if only an empty one, which libwebsockets does not
 * tell from none. */
void head_read(struct head_reader *reader, struct lws *wsi, bool is_authorized);
/* The value of any other header, whose name is letters, digits and hyphens; STR_NONE: it did not
 * come, or there is no room. Until the next head_read. */
struct str head_read_named(struct head_reader *reader, struct lws *wsi, const char *name);
/* Wipes the credential. */
void head_reader_forget(struct head_reader *reader);

#endif
