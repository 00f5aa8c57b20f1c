/* tests/fuzz/fuzz_jwt.c - what strangers and authorization servers send. By the first byte:
 *   t  the text of a token, judged by a fixed key: only what that key signed may be good
 *   s  the text of claims, behind a good header and signature, so that they are read
 *   k  the text of a set of keys
 */
#include "auth/jwt.h"
#include "base/err.h"
#include "tests/unit/jwt_rig.h"

#include <openssl/x509.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An EC private key (RFC 5915): the number 01 02 03 ... 20, of P-256. */
static const unsigned char key_bytes[] = {
    0x30, 0x31, 2,  1,  1,  4,    32,   1,  2,  3,    4,    5,    6,    7,    8,  9,  10,
    11,   12,   13, 14, 15, 16,   17,   18, 19, 20,   21,   22,   23,   24,   25, 26, 27,
    28,   29,   30, 31, 32, 0xa0, 0x0a, 6,  8,  0x2a, 0x86, 0x48, 0xce, 0x3d, 3,  1,  7,
};
static const struct jwt_rules rules = {STR_INIT(RIG_ISSUER), STR_INIT(RIG_AUDIENCE), 60000};

static EVP_PKEY *key;
static struct key_set *set;

static void set_up(void)
{
    const unsigned char *at = key_bytes;
    struct buf text = {0};
    const char *why;
    key = d2i_AutoPrivateKey(NULL, &at, sizeof key_bytes);
    if (!key)
        abort();
    buf_add_lit(&text, "{\"keys\":[");
    rig_add_jwk(key, "", &text);
    buf_add_lit(&text, "]}");
    if (key_set_parse(buf_str(&text), &set, &why) < 0 || key_set_count(set) != 1)
        abort();
    buf_done(&text);
}

static int judge(struct str token, struct access_claims *ret, struct arena *arena)
{
    const char *why = NULL;
    int err = jwt_verify(&rules, set, token, RIG_NOW_S * 1000, arena, ret, &why);
    if (err == ERR_UNAUTHORIZED && !why)
        abort();
    if (err == 0 &&
        (!ret->subject.n || !ret->scopes.p || ret->expires_ms + rules.skew_ms <= RIG_NOW_S * 1000))
        abort();
    return err;
}

static void judge_token(struct str token, struct arena *arena)
{
    struct access_claims claims;
    if (judge(token, &claims, arena) == 0 && !str_eq(claims.subject, STR("ann")))
        abort();
}

static void judge_claims(struct str text, struct arena *arena)
{
    struct access_claims claims;
    struct buf token = {0}, copy = {0};
    buf_add_str(&copy, text);
    buf_add_char(&copy, '\0');
    rig_sign(key, "{\"alg\":\"ES256\"}", copy.p, &token);
    if (judge(buf_str(&token), &claims, arena) == KEY_UNKNOWN)
        abort();
    buf_done(&copy);
    buf_done(&token);
}

static void read_keys(struct str text)
{
    struct key_set *read = NULL;
    const char *why;
    if (key_set_parse(text, &read, &why) == 0)
        key_set_free(read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    if (!set)
        set_up();
    if (!size)
        return 0;
    struct str text = {(const char *)data + 1, (uint32_t)size - 1};
    arena_init(&arena, 0);
    if (*data == 't')
        judge_token(text, &arena);
    else if (*data == 's')
        judge_claims(text, &arena);
    else if (*data == 'k')
        read_keys(text);
    arena_done(&arena);
    return 0;
}
