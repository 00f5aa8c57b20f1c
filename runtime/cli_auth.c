/* cli_auth.c - see cli_auth.h. */
#include "cli_auth.h"

#include "auth/metadata.h"
#include "auth/scope.h"
#include "auth/uri.h"
#include "auth/verifier.h"
#include "base/err.h"
#include "cli.h"
#include "core/access_record.h"

#include <string.h>

static int no_memory(void)
{
    return cli_failed("%s", err_text(ERR_NO_MEMORY));
}

/* ---- What must stand together --------------------------------------------------------------- */

static int check_without_issuer(const struct config *c)
{
    const struct {
        const char *key;
        bool is_given;
    } keys[] = {
        {"auth.jwks", c->auth_jwks},         {"auth.resource", c->auth_resource},
        {"auth.audience", c->auth_audience}, {"auth.authorizationServers", c->auth_servers.v},
        {"auth.scopes", c->auth_scopes.v},   {"auth.requiredScope", c->auth_required_scope},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].is_given)
            return cli_failed("%s: expected auth.issuer beside it: whose tokens are taken",
                              keys[i].key);
    return CLI_DONE;
}

static int check_uri(const char *key, struct str uri)
{
    if (uri_is_safe(uri))
        return CLI_DONE;
    return cli_failed("%s: expected an https URL, or an http one of this machine, found " STR_FMT,
                      key, STR_ARG(uri));
}

static int check_servers(const struct config *c)
{
    int status = CLI_DONE;
    if (!c->auth_servers.v && !uri_is_safe(str_of(c->auth_issuer)))
        return cli_failed("auth.issuer: expected an https URL, or an http one of this machine, "
                          "as auth.authorizationServers is not given");
    if (c->auth_servers.v && !c->auth_servers.n)
        return cli_failed("auth.authorizationServers: expected one at least");
    for (uint32_t i = 0; status == CLI_DONE && i < c->auth_servers.n; i++)
        status = check_uri("auth.authorizationServers", c->auth_servers.v[i]);
    return status;
}

static int check_keys(const struct config *c)
{
    if (!c->auth_jwks)
        return cli_failed("auth.jwks: expected a file or URL with the keys of auth.issuer");
    if (strstr(c->auth_jwks, "://"))
        return check_uri("auth.jwks", str_of(c->auth_jwks));
    return auth_check_file(c->auth_jwks) < 0 ? CLI_FAILED : CLI_DONE; /* it says what is wrong */
}

static int check_with_issuer(const struct config *c)
{
    if (!c->auth_resource)
        return cli_failed("auth.resource: expected the URL that clients reach this server by, as "
                          "auth.issuer is given");
    int status = check_uri("auth.resource", str_of(c->auth_resource));
    if (status == CLI_DONE)
        status = check_servers(c);
    return status == CLI_DONE ? check_keys(c) : status;
}

/* ---- Scopes --------------------------------------------------------------------------------- */

/* "scope=role"; a scope may hold a = itself. */
static int read_scope(struct str text, struct access_scope *ret)
{
    const char *sign = memrchr(text.p, '=', text.n);
    uint32_t n = sign ? (uint32_t)(sign - text.p) : 0;
    ret->scope = (struct str){text.p, n};
    ret->role = sign ? (struct str){sign + 1, text.n - n - 1} : STR_NONE;
    if (scope_is_valid(ret->scope) && access_role_name_is_valid(ret->role))
        return CLI_DONE;
    return cli_failed("auth.scopes: expected SCOPE=ROLE, found " STR_FMT, STR_ARG(text));
}

static int read_scopes(const struct config *c, struct arena *arena, struct access_rules *rules)
{
    struct access_scope *scopes = arena_array(arena, c->auth_scopes.n + 1, sizeof *scopes);
    int status = scopes ? CLI_DONE : no_memory();
    for (uint32_t i = 0; status == CLI_DONE && i < c->auth_scopes.n; i++)
        status = read_scope(c->auth_scopes.v[i], &scopes[i]);
    if (status == CLI_DONE && c->auth_required_scope &&
        !scope_is_valid(str_of(c->auth_required_scope)))
        status = cli_failed("auth.requiredScope: expected one scope, without blanks");
    rules->scopes = scopes;
    rules->n_scopes = c->auth_scopes.n;
    rules->required_scope = str_of(c->auth_required_scope);
    return status;
}

/* ---- What clients are told ------------------------------------------------------------------ */

static int write_metadata(const struct config *c, const struct access_rules *rules,
                          struct arena *arena, struct cli_auth *ret)
{
    struct buf out = {0};
    struct str issuer = str_of(c->auth_issuer);
    struct metadata metadata = {
        .resource = str_of(c->auth_resource),
        .servers = c->auth_servers.v ? c->auth_servers.v : &issuer,
        .n_servers = c->auth_servers.v ? c->auth_servers.n : 1,
        .n_scopes = rules->n_scopes + 1,
    };
    struct str *scopes = arena_array(arena, metadata.n_scopes, sizeof *scopes);
    if (!scopes)
        return no_memory();
    scopes[0] = rules->required_scope;
    for (uint32_t i = 0; i < rules->n_scopes; i++)
        scopes[i + 1] = rules->scopes[i].scope;
    metadata.scopes = scopes;
    metadata_write(&metadata, &out);
    ret->metadata = arena_printf(arena, STR_FMT, STR_ARG(buf_str(&out))).p;
    ret->metadata_url = metadata_url(metadata.resource, arena).p;
    ret->scope = c->auth_required_scope;
    bool failed = out.failed || !ret->metadata || !ret->metadata_url;
    buf_done(&out);
    return failed ? no_memory() : CLI_DONE;
}

static int open_verifier(const struct config *c, struct cli_auth *ret, struct access_rules *rules)
{
    const struct auth_config config = {
        .issuer = str_of(c->auth_issuer),
        .audience = str_of(c->auth_audience ? c->auth_audience : c->auth_resource),
        .jwks = c->auth_jwks,
        .max_age_ms = c->auth_jwks_max_age_s * INT64_C(1000),
        .skew_ms = c->auth_clock_skew_s * INT64_C(1000),
    };
    if (auth_verifier_new(&config, &ret->verifier) < 0)
        return no_memory();
    rules->verifier = ret->verifier;
    rules->clock_skew_ms = config.skew_ms;
    return CLI_DONE;
}

int cli_auth_open(const struct config *config, struct arena *arena, struct cli_auth *ret,
                  struct access_rules *rules)
{
    *ret = (struct cli_auth){0};
    if (!config->auth_issuer)
        return check_without_issuer(config);
    int status = check_with_issuer(config);
    if (status == CLI_DONE)
        status = read_scopes(config, arena, rules);
    if (status == CLI_DONE)
        status = write_metadata(config, rules, arena, ret);
    return status == CLI_DONE ? open_verifier(config, ret, rules) : status;
}

void cli_auth_close(struct cli_auth *auth)
{
    auth_verifier_free(auth->verifier);
    auth->verifier = NULL;
}
