/* auth/fetch.h - the text of a key set, from where it lies. Blocks; a handler thread's, or the
 * start's. */
#ifndef TENON_AUTH_FETCH_H
#define TENON_AUTH_FETCH_H

#include "base/str.h"

#define FETCH_WHY_BYTES 160

/* By GET, `timeout_ms` at most, without following redirects; the answer must be 200. https, or
 * http to a loopback host: uri_is_safe. Certificates are checked by those of the machine, or of the
 * file that SSL_CERT_FILE names. Appends to `out`, up to its limit. 0; ERR_IO with `ret_why`
 * filled. */
int fetch_url(const char *url, long timeout_ms, struct buf *out, char ret_why[FETCH_WHY_BYTES]);

/* What tells that a file is no longer the one that was read; zero: none was. */
struct fetch_mark {
    uint64_t device, inode, size;
    int64_t mtime_s, mtime_ns, ctime_s, ctime_ns;
};

/* Only a plain file that not everybody may write. 0: read, *mark is its; FETCH_SAME: it is still
 * the one of *mark, and was not read; ERR_IO with `ret_why` filled. */
#define FETCH_SAME 1
int fetch_file(const char *path, struct fetch_mark *mark, struct buf *out,
               char ret_why[FETCH_WHY_BYTES]);

#endif
