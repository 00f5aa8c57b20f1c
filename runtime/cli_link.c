/* cli_link.c - see cli_link.h. */
#include "cli_link.h"

#include "base/err.h"

#include <errno.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_to(const struct addrinfo *addresses)
{
    struct timeval timeout = {.tv_sec = LINK_TIMEOUT_S};
    for (const struct addrinfo *a = addresses; a; a = a->ai_next) {
        int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
            return fd;
        int why = errno;
        close(fd);
        errno = why;
    }
    return -1;
}

static int open_socket(const struct http_url *url, struct arena *arena, int *ret_fd,
                       struct str *ret_why)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *addresses;
    int err = getaddrinfo(url->host, url->port, &hints, &addresses);
    if (err) {
        *ret_why = arena_printf(arena, "%s: %s", url->host, gai_strerror(err));
        return ERR_IO;
    }
    int fd = connect_to(addresses);
    if (fd < 0)
        *ret_why = arena_printf(arena, "cannot connect to %s port %s: %s", url->host, url->port,
                                strerror(errno));
    freeaddrinfo(addresses);
    if (fd < 0)
        return ERR_IO;
    *ret_fd = fd;
    return 0;
}

/* ---- TLS ------------------------------------------------------------------------------------ */

/* An address has no name to send, and its certificate names it otherwise. */
static bool expect_host(SSL *ssl, const char *host)
{
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host))
        return true;
    ERR_clear_error();
    return SSL_set_tlsext_host_name(ssl, host) && SSL_set1_host(ssl, host);
}

static bool trust(SSL_CTX *ctx, const char *ca)
{
    return ca ? SSL_CTX_load_verify_file(ctx, ca) : SSL_CTX_set_default_verify_paths(ctx);
}

static SSL *make_ssl(const struct http_url *url, const char **ret_why)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = NULL;
    *ret_why = "TLS cannot be set up";
    if (ctx && !trust(ctx, url->ca)) {
        *ret_why = url->ca ? "the file of --ca holds no certificate that can be read" : *ret_why;
    } else if (ctx) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_options(ctx, SSL_OP_IGNORE_UNEXPECTED_EOF); /* the framing tells the end */
        SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
        ssl = SSL_new(ctx);
    }
    SSL_CTX_free(ctx);
    if (ssl && expect_host(ssl, url->host))
        return ssl;
    SSL_free(ssl);
    return NULL;
}

static const char *why_of(const SSL *ssl)
{
    long verified = SSL_get_verify_result(ssl);
    unsigned long code = ERR_peek_error();
    if (verified != X509_V_OK)
        return X509_verify_cert_error_string(verified);
    if (code && ERR_reason_error_string(code))
        return ERR_reason_error_string(code);
    return errno == EAGAIN ? "it took longer than 10 s" : "the connection ended";
}

static int shake_hands(const struct http_url *url, struct arena *arena, struct link *link,
                       struct str *ret_why)
{
    const char *why;
    ERR_clear_error();
    link->ssl = make_ssl(url, &why);
    bool good = link->ssl && SSL_set_fd(link->ssl, link->fd) && SSL_connect(link->ssl) == 1;
    if (!good)
        *ret_why = arena_printf(arena, "TLS with %s port %s: %s", url->host, url->port,
                                link->ssl ? why_of(link->ssl) : why);
    return good ? 0 : ERR_IO;
}

/* ---- Either ---------------------------------------------------------------------------------- */

int link_open(const struct http_url *url, struct arena *arena, struct link *ret,
              struct str *ret_why)
{
    struct link link = {0};
    int err = open_socket(url, arena, &link.fd, ret_why);
    if (err < 0)
        return err;
    if (url->tls)
        err = shake_hands(url, arena, &link, ret_why);
    if (err < 0)
        link_close(&link);
    else
        *ret = link;
    return err;
}

void link_close(struct link *link)
{
    if (link->ssl && SSL_is_init_finished(link->ssl))
        SSL_shutdown(link->ssl);
    SSL_free(link->ssl);
    close(link->fd);
}

/* What TLS has no errno for. */
static ssize_t failed(struct link *link)
{
    int why = SSL_get_error(link->ssl, 0);
    if (why == SSL_ERROR_ZERO_RETURN)
        return 0;
    if (why == SSL_ERROR_SSL)
        errno = EPROTO;
    else if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        errno = EAGAIN;
    return -1;
}

static ssize_t send_some(struct link *link, struct str text)
{
    size_t n = 0;
    if (!link->ssl)
        return send(link->fd, text.p, text.n, MSG_NOSIGNAL);
    return SSL_write_ex(link->ssl, text.p, text.n, &n) ? (ssize_t)n : failed(link);
}

bool link_send(struct link *link, struct str text)
{
    while (text.n) {
        ssize_t n = send_some(link, text);
        if (n <= 0)
            return false;
        text.p += n;
        text.n -= (uint32_t)n;
    }
    return true;
}

ssize_t link_receive(struct link *link, char *to, size_t room)
{
    size_t n = 0;
    if (!link->ssl)
        return recv(link->fd, to, room, 0);
    return SSL_read_ex(link->ssl, to, room, &n) ? (ssize_t)n : failed(link);
}
