/* net/tls.h - TLS of the listeners: what new connections are shown, and who they are.
 *
 * The supervisor reads and checks the files before it forks, so a worker that is started later has
 * what held last, whatever the files hold by then. After SIGHUP the supervisor reads them again
 * and, if they are good, so does each worker: connections that come from then on get the new
 * certificate, open ones keep theirs.
 *
 * libwebsockets makes a context of its own that cannot be exchanged. It has no certificate here:
 * each connection gets the context of the day when its first message has come.
 *
 * TLS 1.2 and 1.3, ciphers with forward secrecy and authentication only, no renegotiation, no early
 * data, no compression, HTTP/1.1 only (ALPN). Nothing is resumed: the next connection of a client
 * may meet another worker, and a ticket would have to outlive the keys of all of them.
 *
 * Loop only, but that tls_new and tls_reload are also for the supervisor, which has no loop.
 */
#ifndef TENON_NET_TLS_H
#define TENON_NET_TLS_H

#include "base/limits.h"
#include "base/str.h"
#include "net/server.h"

#include <openssl/ssl.h>

struct tls;

/* 0, or an error after one line in the log that names the key, the file and what is wrong. The
 * config must outlive it. */
int tls_new(const struct net_tls *config, struct tls **ret);
void tls_free(struct tls *tls); /* NULL is fine */
/* Reads the files anew. An error (told as above): all stays as it was. */
int tls_reload(struct tls *tls);
/* Of the supervisor: as tls_new, and says in the log which certificate has expired or does not hold
 * yet. If nothing of the config is given, *ret stays as it is. */
int tls_open(const struct net_tls *config, struct tls **ret);
/* Likewise: as tls_reload, and says what came of it. */
bool tls_renew(struct tls *tls);
/* Makes a context without a certificate one whose connections get the one of the day. */
void tls_adopt(struct tls *tls, SSL_CTX *theirs);

/* Whom the certificate of a client names. */
struct tls_peer {
    char name[ACCESS_NAME_BYTES + 1]; /* common name of the subject, UTF-8 */
    uint32_t name_n;
    int64_t until_ms; /* wall time from which the certificate is no good */
};

/* 1; 0: the client has shown none; ERR_UNAUTHORIZED: what it has shown names nobody: no common name
 * or several, one that is too long or has control characters. It was verified in the handshake. */
int tls_peer(const SSL *ssl, struct tls_peer *ret);

#endif
