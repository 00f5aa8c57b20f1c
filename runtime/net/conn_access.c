/* net/conn_access.c - see conn_access.h. */
#include "net/conn_access.h"

#include "base/clock.h"
#include "base/err.h"
#include "net/credential.h"

#include <libwebsockets.h>

/* What went wrong on our side must not read as success. */
static int refusal_of(int err)
{
    return err < 0 && err_http_status(err) < 400 ? ERR_IO : err;
}

/* *ret: whom the certificate of the client names; STR_NONE: it has shown none. */
static int read_certificate(struct conn *conn, struct str *ret)
{
    struct tls_peer *peer = &conn->fence->peer;
    int shown = conn->fence->tls ? tls_peer(lws_get_ssl(conn->wsi), peer) : 0;
    *ret = shown > 0 ? (struct str){peer->name, peer->name_n} : STR_NONE;
    conn->until_ms = shown > 0 ? peer->until_ms : 0;
    conn->why = shown < 0               ? "the certificate names no user"
                : conn_is_expired(conn) ? "the certificate has expired"
                                        : NULL;
    return conn->why ? ERR_UNAUTHORIZED : 0;
}

bool conn_is_expired(const struct conn *conn)
{
    return conn->until_ms && clock_wall_ms() >= conn->until_ms;
}

static int identify(struct conn *conn)
{
    struct str certificate;
    struct entry *entry = &conn->entry;
    struct core *core = conn->fence->calls->core;
    int err = read_certificate(conn, &certificate);
    if (err == 0)
        err =
            credential_read(&conn->fence->reader.head, certificate, &entry->credential, &conn->why);
    if (err == 0)
        err = access_identify(core, &entry->credential, &entry->access, &conn->why);
    entry->is_later = err == ACCESS_LATER;
    return entry->is_later ? 0 : refusal_of(err);
}

/* The address stays that of the connection, so the system is asked for it once. */
static struct str find_client(struct conn *conn)
{
    const char *header = conn->fence->config->identity_header[conn->plan.profile];
    struct str named =
        header ? client_named(head_read_named(&conn->fence->reader, conn->wsi, header)) : STR_NONE;
    if (!named.p && !conn->client[0])
        client_address(conn->fd, conn->client);
    return named.p ? named : str_of(conn->client);
}

void conn_judge(struct conn *conn)
{
    const struct net_config *config = conn->fence->config;
    const struct http_head *head = &conn->fence->reader.head;
    conn_forget_entry(conn);
    conn->why = NULL;
    conn->verdict = head_judge(config, conn->address, head, &conn->plan);
    if (conn->verdict < 0 || conn->plan.preflight || conn->plan.metadata)
        return;
    conn->verdict = identify(conn);
    if (conn->verdict == 0)
        conn->verdict = head_judge_rest(config, head, &conn->plan);
    if (conn->verdict == 0)
        conn->entry.client = find_client(conn);
}

void conn_forget_entry(struct conn *conn)
{
    access_unref(conn->entry.access);
    conn->entry = (struct entry){0};
}

const struct challenge *conn_challenge(const struct conn *conn, int err, const char *why,
                                       struct challenge *room)
{
    const struct net_config *config = conn->fence->config;
    const char *errors[] = {"invalid_request", why ? "invalid_token" : NULL, "insufficient_scope"};
    int i = err == ERR_REQUEST ? 0 : err == ERR_UNAUTHORIZED ? 1 : err == ERR_SCOPE ? 2 : -1;
    if (i < 0)
        return NULL;
    *room = (struct challenge){
        .metadata_url = config->metadata_url,
        .error = errors[i],
        .description = why,
        .scope = err == ERR_SCOPE ? config->scope : NULL,
    };
    return room;
}
