/* net/client.h - where a request comes from, as limits of rates know it (core/admission.h).
 *
 * A client must not choose what it is counted as: that is its address, of IPv6 the 64 bits that its
 * network was given. Behind a proxy all addresses are the proxy's; then a header that the operator
 * has named says it, up to the first comma, and without that header the address does.
 */
#ifndef TENON_NET_CLIENT_H
#define TENON_NET_CLIENT_H

#include "base/str.h"

#define CLIENT_BYTES 48

/* The address of a connected socket as text; "" if it has none. */
void client_address(int fd, char ret[CLIENT_BYTES]);
/* What the value of the header says; STR_NONE: nothing, or too much to be an address. */
struct str client_named(struct str header);

#endif
