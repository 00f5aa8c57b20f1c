/* auth/jwt.c - see jwt.h. */
#include "auth/jwt.h"

#include "auth/scope.h"
#include "auth/uri.h"
#include "base/base64.h"
#include "base/err.h"
#include "base/json_tree.h"
#include "base/limits.h"

#include <string.h>

static const char malformed[] = "malformed token";

/* A token on its way, and where complaints go. */
struct judging {
    const struct jwt_rules *rules;
    const struct key_set *keys;
    struct str token;
    int64_t now_ms;
    struct arena *arena;
    const char **ret_why;
};

static int refuse(const struct judging *j, const char *why)
{
    *j->ret_why = why;
    return ERR_UNAUTHORIZED;
}

/* One part: an object in base64url. */
static int open_part(const struct judging *j, struct str part, const struct json **ret)
{
    struct buf text = {0};
    struct json *root;
    int err = base64url_read(part, &text);
    if (err == 0)
        err = json_tree_parse(buf_str(&text), j->arena, &root, NULL);
    buf_done(&text);
    if (err == ERR_NO_MEMORY)
        return err;
    if (err < 0 || root->kind != JSON_OBJECT || json_duplicate(root))
        return refuse(j, malformed);
    *ret = root;
    return 0;
}

/* ---- The header ----------------------------------------------------------------------------- */

/* RFC 9068 wants at+jwt; many issuers say JWT, or nothing. A token for another purpose (a logout, a
 * proof of a key) says so here. */
static bool is_access_token(const struct json *typ)
{
    static const struct str names[] = {STR_INIT("JWT"), STR_INIT("at+jwt"),
                                       STR_INIT("application/at+jwt"), STR_INIT("application/jwt")};
    bool found = !typ;
    for (size_t i = 0; typ && i < sizeof names / sizeof *names; i++)
        found = found || str_eq_nocase(json_str(typ), names[i]);
    return found;
}

static int check_signature(const struct judging *j, const struct json *header)
{
    const struct json *kid = json_get(header, STR("kid"));
    enum jwt_alg alg = jwt_alg_find(json_str(json_get(header, STR("alg"))));
    if (alg == JWT_ALGS)
        return refuse(j, "the algorithm is not allowed");
    if (json_get(header, STR("crit")))
        return refuse(j, "crit is not supported");
    if ((kid && kid->kind != JSON_STR) || !is_access_token(json_get(header, STR("typ"))))
        return refuse(j, "not an access token");
    if (!j->keys)
        return KEY_UNKNOWN;
    int err = key_set_verify(j->keys, alg, json_str(kid), j->token);
    return err == ERR_UNAUTHORIZED ? refuse(j, "the signature is wrong") : err;
}

/* ---- The claims ----------------------------------------------------------------------------- */

/* A time in milliseconds. 0; 1: not there; ERR_UNAUTHORIZED: there, but no time. */
#define NO_TIME 1
static int get_time(const struct judging *j, const struct json *claims, struct str name,
                    int64_t *ret_ms)
{
    const struct json *value = json_get(claims, name);
    if (!value)
        return NO_TIME;
    if (value->kind != JSON_NUM || !(value->v.num.d >= 0 && value->v.num.d <= JWT_SECONDS_MAX))
        return refuse(j, malformed);
    *ret_ms = (int64_t)(value->v.num.d * 1000);
    return 0;
}

/* RFC 7519, 4.1.4: from exp on it is no longer good. */
static int check_expiry(const struct judging *j, const struct json *claims, int64_t *ret_ms)
{
    int err = get_time(j, claims, STR("exp"), ret_ms);
    if (err == NO_TIME)
        return refuse(j, "exp is missing");
    if (err == 0 && j->now_ms >= *ret_ms + j->rules->skew_ms)
        return refuse(j, "expired");
    return err;
}

static int check_begun(const struct judging *j, const struct json *claims, struct str name,
                       const char *why)
{
    int64_t ms = 0;
    int err = get_time(j, claims, name, &ms);
    if (err == 0 && ms > j->now_ms + j->rules->skew_ms)
        return refuse(j, why);
    return err == NO_TIME ? 0 : err;
}

static bool is_for_us(const struct judging *j, const struct json *aud)
{
    bool found = false;
    if (aud && aud->kind == JSON_STR)
        return uri_is_same(aud->v.s, j->rules->audience);
    if (!aud || aud->kind != JSON_ARRAY)
        return false;
    json_each (item, aud)
        found = found || (item->kind == JSON_STR && uri_is_same(item->v.s, j->rules->audience));
    return found;
}

/* Who it is: a name that can stand in a log and in a record. */
static int get_subject(const struct judging *j, const struct json *claims, struct str *ret)
{
    struct str sub = json_str(json_get(claims, STR("sub")));
    if (!sub.n)
        return refuse(j, "sub is missing");
    if (sub.n > ACCESS_NAME_BYTES)
        return refuse(j, "sub is too long");
    for (uint32_t i = 0; i < sub.n; i++)
        if ((unsigned char)sub.p[i] < ' ' || sub.p[i] == 0x7f)
            return refuse(j, malformed);
    *ret = sub;
    return 0;
}

/* "a  b" as "a b" behind what is there. */
static bool add_scopes(struct str text, struct buf *out)
{
    while (text.p) {
        struct str name = str_cut(&text, ' ');
        if (name.n == 0)
            continue;
        if (!scope_is_valid(name))
            return false;
        if (out->n)
            buf_add_char(out, ' ');
        buf_add_str(out, name);
    }
    return true;
}

/* `scope` is a string (RFC 8693); some issuers say `scp`, a string or an array. */
static bool add_claim(const struct json *value, struct buf *out)
{
    bool fine = !value || value->kind == JSON_STR || value->kind == JSON_ARRAY;
    if (value && value->kind == JSON_STR)
        return add_scopes(value->v.s, out);
    json_each (item, value)
        fine = fine && item->kind == JSON_STR && add_scopes(item->v.s, out);
    return fine;
}

static int get_scopes(const struct judging *j, const struct json *claims, struct str *ret)
{
    struct buf out = {0};
    bool fine = add_claim(json_get(claims, STR("scope")), &out) &&
                add_claim(json_get(claims, STR("scp")), &out);
    struct str text = arena_str(j->arena, out.n ? buf_str(&out) : STR(""));
    int err = out.failed || !text.p ? ERR_NO_MEMORY : 0;
    buf_done(&out);
    if (!fine)
        return refuse(j, malformed);
    if (err == 0)
        *ret = text;
    return err;
}

static int check_claims(const struct judging *j, const struct json *claims,
                        struct access_claims *ret)
{
    struct access_claims found = {0};
    if (!str_eq(json_str(json_get(claims, STR("iss"))), j->rules->issuer))
        return refuse(j, "another issuer");
    if (!is_for_us(j, json_get(claims, STR("aud"))))
        return refuse(j, "not for this server");
    if (json_get(claims, STR("cnf"))) /* RFC 7800: only with a proof that we do not ask for */
        return refuse(j, "bound to a key, which is not supported");
    int err = check_expiry(j, claims, &found.expires_ms);
    if (err == 0)
        err = check_begun(j, claims, STR("nbf"), "not valid yet");
    if (err == 0)
        err = check_begun(j, claims, STR("iat"), "issued in the future");
    if (err == 0)
        err = get_subject(j, claims, &found.subject);
    if (err == 0)
        err = get_scopes(j, claims, &found.scopes);
    if (err == 0)
        *ret = found;
    return err;
}

int jwt_verify(const struct jwt_rules *rules, const struct key_set *keys, struct str token,
               int64_t now_ms, struct arena *arena, struct access_claims *ret, const char **ret_why)
{
    const struct judging j = {rules, keys, token, now_ms, arena, ret_why};
    const struct json *header, *claims;
    struct str rest = token, parts[3];
    if (token.n > CREDENTIAL_BYTES)
        return refuse(&j, "the token is too long");
    for (uint32_t i = 0; i < 3; i++)
        if (!(parts[i] = str_cut(&rest, '.')).n)
            return refuse(&j, malformed);
    if (rest.p)
        return refuse(&j, malformed);
    int err = open_part(&j, parts[0], &header);
    if (err == 0)
        err = check_signature(&j, header);
    if (err == 0)
        err = open_part(&j, parts[1], &claims);
    return err ? err : check_claims(&j, claims, ret);
}
