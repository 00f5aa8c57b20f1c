/* net/head.c - see head.h. */
#include "net/head.h"

#include "base/err.h"
#include "base/limits.h"
#include "net/headers.h"

#include <string.h>

struct judging {
    const struct net_config *config;
    const struct net_address *listen;
    const struct http_head *head;
    struct http_plan *plan;
};

static size_t body_limit(const struct net_config *config)
{
    return config->body_limit_bytes ? config->body_limit_bytes : BODY_LIMIT_BYTES;
}

/* ---- Framing: what two servers might read in two ways is refused (request smuggling) ----------*/

static int check_form(struct judging *j)
{
    return j->head->malformed ? ERR_BAD_FRAMING : 0;
}

static int check_length(struct judging *j)
{
    struct str text = j->head->content_length;
    if (!text.p)
        return 0;
    if (j->head->transfer_encoding.p || header_content_length(text, &j->plan->body_bytes) < 0)
        return ERR_BAD_FRAMING;
    return 0;
}

static int check_encoding(struct judging *j)
{
    struct str text = j->head->transfer_encoding;
    if (!text.p)
        return 0;
    if (j->head->http10 || !str_eq_nocase(text, STR("chunked")))
        return ERR_BAD_FRAMING;
    j->plan->chunked = true;
    return 0;
}

static int check_body_wanted(struct judging *j)
{
    bool has_body = j->plan->chunked || j->plan->body_bytes;
    if (has_body && (j->head->method == HTTP_GET || j->head->method == HTTP_DELETE))
        return ERR_BAD_FRAMING;
    return 0;
}

/* ---- Path and method --------------------------------------------------------------------------*/

static struct str path_of(const struct judging *j)
{
    struct str path = j->head->path;
    if (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--; /* C-033: a trailing slash is served, never redirected */
    return path;
}

static bool find_profile(const struct judging *j, struct str path)
{
    for (int i = 0; i < 2; i++) {
        const char *served = j->config->path[i];
        if (served && str_eq(path, str_of(served))) {
            j->plan->profile = (enum call_profile)i;
            return true;
        }
    }
    return false;
}

/* RFC 9728 section 3.1: the well-known path, then that of the resource, if it has one. */
static bool is_metadata(const struct judging *j, struct str path)
{
    static const struct str known = STR_INIT("/.well-known/oauth-protected-resource");
    if (!j->config->metadata || !str_starts_with(path, known))
        return false;
    path = (struct str){path.p + known.n, path.n - known.n};
    return !path.n || find_profile(j, path);
}

static int check_metadata(struct judging *j)
{
    j->plan->metadata = is_metadata(j, path_of(j));
    if (!j->plan->metadata)
        return 0;
    j->plan->allow = "GET, HEAD, OPTIONS";
    j->plan->allowed_origin = STR("*"); /* it is for everybody to read */
    return 0;
}

static int check_path(struct judging *j)
{
    return j->plan->metadata || find_profile(j, path_of(j)) ? 0 : ERR_NO_ENDPOINT;
}

static int check_method(struct judging *j)
{
    if (j->plan->metadata && (j->head->method == HTTP_HEAD || j->head->method == HTTP_GET))
        return 0;
    switch (j->plan->metadata && j->head->method != HTTP_OPTIONS ? HTTP_OTHER : j->head->method) {
    case HTTP_POST:
    case HTTP_GET:
        return 0;
    case HTTP_OPTIONS:
        j->plan->preflight = true;
        return 0;
    case HTTP_DELETE:
        return j->config->allow_client_delete ? 0 : ERR_HTTP_METHOD;
    default:
        return ERR_HTTP_METHOD;
    }
}

/* ---- Host and Origin: against DNS rebinding and foreign pages (T-02, T-03) --------------------*/

static bool list_has(const struct str *list, uint32_t n, struct str value)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq_nocase(list[i], value))
            return true;
    return false;
}

static bool is_loopback_listener(const struct net_address *listen)
{
    struct str host = str_of(listen->host);
    return header_is_loopback(host) || str_eq(host, STR("::1"));
}

/* An address as a name cannot be rebound by DNS, so a public listener takes any; a loopback one
 * takes only its own, which costs nobody anything. */
static bool is_host_allowed(const struct judging *j, struct str name)
{
    if (header_is_loopback(name) || list_has(j->config->hosts, j->config->n_hosts, name))
        return true;
    if (is_loopback_listener(j->listen))
        return false;
    return header_is_address(name) || str_eq_nocase(name, str_of(j->listen->host));
}

static int check_host(struct judging *j)
{
    struct str name;
    if (!j->head->host.p)
        return j->head->http10 ? 0 : ERR_BAD_FRAMING;
    if (header_host(j->head->host, &name) < 0 || !is_host_allowed(j, name))
        return ERR_FORBIDDEN;
    return 0;
}

static bool is_origin_allowed(const struct judging *j, struct str origin)
{
    struct str name;
    if (list_has(j->config->origins, j->config->n_origins, origin) ||
        list_has(j->config->origins, j->config->n_origins, STR("*")))
        return true;
    return is_loopback_listener(j->listen) && header_origin(origin, &name) == 0 &&
           header_is_loopback(name);
}

static int check_origin(struct judging *j)
{
    struct str origin = j->head->origin;
    if (!origin.p || j->plan->metadata)
        return 0;
    if (!is_origin_allowed(j, origin))
        return ERR_FORBIDDEN;
    j->plan->allowed_origin = origin;
    return 0;
}

/* ---- What a POST or GET must carry
 * ----------------------------------------------------------------*/

static int check_accept(struct judging *j)
{
    struct header_accept accept = header_accept(j->head->accept);
    j->plan->accepts_json = accept.json;
    j->plan->accepts_sse = accept.sse;
    bool is_fit = j->head->method == HTTP_POST  ? accept.json
                  : j->head->method == HTTP_GET ? accept.sse
                                                : true;
    return is_fit ? 0 : ERR_NOT_ACCEPTABLE;
}

static int check_content_type(struct judging *j)
{
    if (j->head->method != HTTP_POST || header_is_json(j->head->content_type))
        return 0;
    return ERR_MEDIA_TYPE;
}

static int check_body_size(struct judging *j)
{
    if (j->head->method != HTTP_POST)
        return 0;
    if (!j->plan->chunked && !j->head->content_length.p)
        return ERR_LENGTH_REQUIRED;
    return j->plan->body_bytes > body_limit(j->config) ? ERR_TOO_LARGE : 0;
}

static int check_session_id(struct judging *j)
{
    struct str id = j->head->session_id;
    return id.p && !header_is_visible(id) ? ERR_NO_SESSION : 0;
}

static int (*const checks[])(struct judging *) = {
    check_form,     check_length, check_encoding, check_body_wanted, check_host,
    check_metadata, check_origin, check_path,     check_method,
};
static int (*const checks_of_rest[])(struct judging *) = {
    check_accept,
    check_content_type,
    check_body_size,
    check_session_id,
};

static int run(int (*const v[])(struct judging *), size_t n, struct judging *j)
{
    int err = 0;
    for (size_t i = 0; !err && i < n; i++)
        err = v[i](j);
    return err;
}

static bool wants_close(const struct http_head *head)
{
    if (head->http10)
        return !header_has_token(head->connection, STR("keep-alive"));
    return header_has_token(head->connection, STR("close"));
}

int head_judge(const struct net_config *config, const struct net_address *listen,
               const struct http_head *head, struct http_plan *plan)
{
    struct judging j = {config, listen, head, plan};
    *plan = (struct http_plan){
        .close = wants_close(head),
        .http10 = head->http10,
        .wants_continue = str_eq_nocase(head->expect, STR("100-continue")),
        .allow = config->allow_client_delete ? "GET, POST, DELETE, OPTIONS" : "GET, POST, OPTIONS",
    };
    return run(checks, sizeof checks / sizeof *checks, &j);
}

int head_judge_rest(const struct net_config *config, const struct http_head *head,
                    struct http_plan *plan)
{
    struct judging j = {config, NULL, head, plan};
    return run(checks_of_rest, sizeof checks_of_rest / sizeof *checks_of_rest, &j);
}
