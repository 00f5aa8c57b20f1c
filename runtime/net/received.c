/* net/received.c - see received.h. */
#include "net/received.h"

#include "base/limits.h"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_FDS (CONNS_MAX + FDS_RESERVED) /* the limit of descriptors is no higher */

static struct head_scan *watched[N_FDS];
static bool refused[N_FDS];
static _Thread_local bool is_watching; /* the loop's thread */

void received_watch(int fd, struct head_scan *scan)
{
    if (fd < 0 || fd >= (int)N_FDS)
        return;
    is_watching = true;
    watched[fd] = scan;
    refused[fd] = false;
}

void received_refuse(int fd)
{
    if (fd >= 0 && fd < (int)N_FDS)
        refused[fd] = true;
}

/* What came in clear: as the caller sees it. */
static ssize_t show(int fd, const void *p, ssize_t got, bool is_peek)
{
    bool is_known = is_watching && fd >= 0 && fd < (int)N_FDS;
    if (is_known && refused[fd] && got > 0)
        return 0;
    struct head_scan *scan = is_known ? watched[fd] : NULL;
    if (scan && got > 0 && !is_peek)
        head_scan_feed(scan, (struct str){p, (uint32_t)got});
    return got;
}

/* Everybody's in this process. A component's thread may have got the number of a connection that
 * was closed a moment ago and is still written down here, so the tables are the loop's alone. */
ssize_t recv(int fd, void *to, size_t n, int flags)
{
    ssize_t got = syscall(SYS_recvfrom, fd, to, n, flags, NULL, NULL);
    return show(fd, to, got, flags & MSG_PEEK);
}

/* Likewise. OpenSSL itself reads its sockets by read, so that no byte is seen twice. */
int SSL_read(SSL *ssl, void *to, int n)
{
    size_t got = 0;
    if (n < 0 || !SSL_read_ex(ssl, to, (size_t)n, &got))
        return SSL_get_error(ssl, 0) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
    return (int)show(SSL_get_fd(ssl), to, (ssize_t)got, false);
}
