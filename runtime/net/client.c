/* net/client.c - see client.h. */
#include "net/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define NAMED_BYTES 200

static void write_v6(const struct sockaddr_in6 *in, char ret[CLIENT_BYTES])
{
    struct in6_addr address = in->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
        inet_ntop(AF_INET, &address.s6_addr[12], ret, CLIENT_BYTES);
        return;
    }
    memset(&address.s6_addr[8], 0, 8);
    inet_ntop(AF_INET6, &address, ret, CLIENT_BYTES);
}

void client_address(int fd, char ret[CLIENT_BYTES])
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } peer = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t n = sizeof peer;
    ret[0] = '\0';
    if (getpeername(fd, &peer.any, &n) < 0)
        return;
    if (peer.any.sa_family == AF_INET6)
        write_v6(&peer.v6, ret);
    else if (peer.any.sa_family == AF_INET)
        inet_ntop(AF_INET, &peer.v4.sin_addr, ret, CLIENT_BYTES);
}

struct str client_named(struct str header)
{
    struct str rest = header, first = header.p ? str_trim(str_cut(&rest, ',')) : STR_NONE;
    return first.n && first.n <= NAMED_BYTES ? first : STR_NONE;
}
