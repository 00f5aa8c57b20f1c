/* net/received.h - shows the bytes that libwebsockets receives to a head_scan.
 *
 * It has no callback before it parses, hands out no header by position, and reads its sockets by
 * itself; peeking before it would race with what arrives in between. But it reads by recv, and a
 * function of that name in the program goes before the one in libc: received.c has it. With TLS it
 * reads by SSL_read, and that is had likewise. If it is
 * ever passed by, a scan stays without its head, and that is refused: the failure is loud, not
 * open.
 */
#ifndef TENON_NET_RECEIVED_H
#define TENON_NET_RECEIVED_H

#include "net/head_scan.h"

/* From now on what is read from fd is fed to `scan`; NULL: no more. For the thread of the loop. */
void received_watch(int fd, struct head_scan *scan);
/* What still comes from fd is told as its end: nothing may. Until it is watched anew. */
void received_refuse(int fd);

#endif
