/* auth/verifier.c - see verifier.h. */
#include "auth/verifier.h"

#include "auth/fetch.h"
#include "auth/jwt.h"
#include "auth/key_source.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

struct verifier {
    struct access_verifier port;
    struct jwt_rules rules;
    struct key_source *source;
};

/* Our own tokens have no dot. */
static bool is_mine(void *ctx, struct str token)
{
    (void)ctx;
    return token.n && memchr(token.p, '.', token.n);
}

/* A key that is not among those that we have: perhaps there are newer ones. Where they cannot be
 * had nobody knows whether the token is good. */
static int judge_unknown(struct verifier *verifier, const char **ret_why)
{
    if (key_source_may_fetch(verifier->source))
        return KEY_UNKNOWN;
    if (key_source_has_failed(verifier->source))
        return ERR_BUSY;
    *ret_why = "its key is not known";
    return ERR_UNAUTHORIZED;
}

static int verify(void *ctx, struct str token, int64_t now_ms, struct arena *arena,
                  struct access_claims *ret, const char **ret_why)
{
    struct verifier *verifier = ctx;
    const struct key_set *keys = key_source_keys(verifier->source);
    if (keys && key_source_is_due(verifier->source))
        return KEY_UNKNOWN;
    int err = jwt_verify(&verifier->rules, keys, token, now_ms, arena, ret, ret_why);
    if (err == KEY_UNKNOWN && !keys && !key_source_may_fetch(verifier->source))
        return ERR_BUSY;
    return err == KEY_UNKNOWN ? judge_unknown(verifier, ret_why) : err;
}

static int fetch(void *ctx)
{
    return key_source_fetch(((struct verifier *)ctx)->source);
}

int auth_verifier_new(const struct auth_config *config, struct access_verifier **ret)
{
    struct verifier *verifier = calloc(1, sizeof *verifier);
    if (!verifier)
        return ERR_NO_MEMORY;
    int err = key_source_new(config->jwks, config->max_age_ms, &verifier->source);
    if (err < 0) {
        free(verifier);
        return err;
    }
    verifier->rules = (struct jwt_rules){config->issuer, config->audience, config->skew_ms};
    verifier->port = (struct access_verifier){verifier, is_mine, verify, fetch};
    *ret = &verifier->port;
    return 0;
}

void auth_verifier_free(struct access_verifier *port)
{
    if (!port)
        return;
    struct verifier *verifier = port->ctx;
    key_source_free(verifier->source);
    free(verifier);
}

static int check_text(const char *path, struct buf *text)
{
    struct fetch_mark mark = {0};
    struct key_set *set = NULL;
    char said[FETCH_WHY_BYTES] = "";
    const char *why = said;
    int err = fetch_file(path, &mark, text, said);
    if (err == 0)
        err = key_set_parse(buf_str(text), &set, &why);
    if (err < 0)
        log_error("auth.jwks: %s: %s", path, why && *why ? why : err_text(err));
    else if (!key_set_count(set))
        log_warn("auth.jwks: %s: no key of it can be used", path);
    key_set_free(set);
    return err;
}

int auth_check_file(const char *jwks)
{
    struct buf text = {.limit = JWKS_BYTES};
    if (strstr(jwks, "://"))
        return 0;
    int err = check_text(jwks, &text);
    buf_done(&text);
    return err;
}
