/* core/access_record.c - see access_record.h. */
#include "core/access_record.h"

#include "base/err.h"
#include "base/limits.h"
#include "wire/json_write.h"
#include "wire/tape.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- Names ---------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 sequence at p, or 0: it is none, or a control character. */
static uint32_t character(const unsigned char *p, uint32_t n)
{
    if (p[0] < 0x80)
        return p[0] >= ' ' && p[0] != 0x7f;
    uint32_t size = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < size)
        return 0;
    uint32_t code = p[0] & (0x7fu >> size);
    for (uint32_t i = 1; i < size; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000}; /* U+0080 to U+009F control */
    bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code >= least[size] && code <= 0x10ffff && !is_surrogate ? size : 0;
}

bool access_user_name_is_valid(struct str name)
{
    if (name.n == 0 || name.n > ACCESS_NAME_BYTES || str_trim(name).n != name.n)
        return false;
    for (uint32_t i = 0, n; i < name.n; i += n)
        if (!(n = character((const unsigned char *)name.p + i, name.n - i)))
            return false;
    return true;
}

bool access_role_name_is_valid(struct str name)
{
    if (name.n == 0 || name.n > NAME_BYTES_MAX)
        return false;
    for (uint32_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        bool later = (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
        if (!letter && (i == 0 || !later))
            return false;
    }
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

uint32_t access_sort_names(struct str *names, uint32_t n)
{
    uint32_t kept = 0;
    if (n)
        qsort(names, n, sizeof *names, compare_names);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || !str_eq(names[kept - 1], names[i]))
            names[kept++] = names[i];
    return kept;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int open_record(struct str record, struct arena *arena, const struct tape_node **ret)
{
    struct wire_fault fault;
    char *copy = arena_zalloc(arena, (size_t)record.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    if (record.n)
        memcpy(copy, record.p, record.n);
    int err = tape_open((struct str){copy, record.n}, arena, ret, &fault);
    if (err == 0 && (*ret)->kind != TAPE_OBJECT)
        return ERR_STORE_DAMAGED;
    return err == 0 || err == ERR_NO_MEMORY ? err : ERR_STORE_DAMAGED;
}

static bool read_text(const struct tape_node *record, struct str name, struct str *ret)
{
    const struct tape_node *value = tape_get(record, name);
    bool fine = value && value->kind == TAPE_STR;
    if (fine)
        *ret = tape_str(value);
    return fine;
}

static bool read_time(const struct tape_node *record, struct str name, int64_t *ret)
{
    const struct tape_node *value = tape_get(record, name);
    bool fine = value && value->kind == TAPE_INT && value->v.i >= 0;
    if (fine)
        *ret = value->v.i;
    return fine;
}

static int read_roles(const struct tape_node *list, struct arena *arena, struct access_user *ret)
{
    struct str *roles;
    if (!list || list->kind != TAPE_ARRAY)
        return ERR_STORE_DAMAGED;
    roles = arena_array(arena, list->n + 1, sizeof *roles);
    if (!roles)
        return ERR_NO_MEMORY;
    const struct tape_node *item = list + 1;
    for (uint32_t i = 0; i < list->n; i++, item = tape_next(item)) {
        if (item->kind != TAPE_STR || !access_role_name_is_valid(tape_str(item)))
            return ERR_STORE_DAMAGED;
        roles[i] = tape_str(item);
    }
    ret->roles = roles;
    ret->n_roles = access_sort_names(roles, list->n);
    return 0;
}

int access_user_read(struct str record, struct arena *arena, struct access_user *ret)
{
    struct access_user user = {.name = ret->name};
    const struct tape_node *tape;
    int err = open_record(record, arena, &tape);
    if (err == 0)
        err = read_roles(tape_get(tape, STR("roles")), arena, &user);
    if (err < 0)
        return err;
    const struct tape_node *disabled = tape_get(tape, STR("disabled"));
    user.is_disabled = !disabled || disabled->kind != TAPE_FALSE; /* in doubt he is */
    if (!disabled || (disabled->kind != TAPE_FALSE && disabled->kind != TAPE_TRUE) ||
        !read_text(tape, STR("generation"), &user.generation) ||
        !read_time(tape, STR("created"), &user.created_ms))
        return ERR_STORE_DAMAGED;
    *ret = user;
    return 0;
}

int access_token_read(struct str record, struct arena *arena, struct access_token *ret)
{
    struct access_token token;
    const struct tape_node *tape;
    int err = open_record(record, arena, &tape);
    if (err < 0)
        return err;
    if (!read_text(tape, STR("id"), &token.id) || !read_text(tape, STR("user"), &token.user) ||
        !read_text(tape, STR("generation"), &token.generation) ||
        !read_text(tape, STR("label"), &token.label) ||
        !read_time(tape, STR("created"), &token.created_ms) ||
        !read_time(tape, STR("expires"), &token.expires_ms))
        return ERR_STORE_DAMAGED;
    *ret = token;
    return 0;
}

/* ---- Writing -------------------------------------------------------------------------------- */

void access_user_write(const struct access_user *user, struct buf *out)
{
    buf_add_lit(out, "{\"roles\":[");
    for (uint32_t i = 0; i < user->n_roles; i++) {
        if (i)
            buf_add_char(out, ',');
        json_write_str(out, user->roles[i]);
    }
    buf_printf(out, "],\"disabled\":%s,\"generation\":", user->is_disabled ? "true" : "false");
    json_write_str(out, user->generation);
    buf_printf(out, ",\"created\":%" PRId64 "}", user->created_ms);
}

void access_token_write(const struct access_token *token, struct buf *out)
{
    buf_add_lit(out, "{\"id\":");
    json_write_str(out, token->id);
    buf_add_lit(out, ",\"user\":");
    json_write_str(out, token->user);
    buf_add_lit(out, ",\"generation\":");
    json_write_str(out, token->generation);
    buf_add_lit(out, ",\"label\":");
    json_write_str(out, token->label);
    buf_printf(out, ",\"created\":%" PRId64 ",\"expires\":%" PRId64 "}", token->created_ms,
               token->expires_ms);
}

/* ---- Secrets -------------------------------------------------------------------------------- */

static int hash(EVP_MAC_CTX *mac, const void *kind, size_t n_kind, struct str text,
                unsigned char ret[ACCESS_HASH_BYTES])
{
    size_t n;
    bool fine = EVP_MAC_update(mac, kind, n_kind) &&
                EVP_MAC_update(mac, (const unsigned char *)text.p, text.n) &&
                EVP_MAC_final(mac, ret, &n, ACCESS_HASH_BYTES);
    return fine ? 0 : ERR_NO_MEMORY;
}

static EVP_MAC_CTX *new_mac(void)
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac); /* the context has its own reference */
    return ctx;
}

static bool set_key(EVP_MAC_CTX *mac, const unsigned char *key)
{
    static char digest[] = "SHA256";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                                 OSSL_PARAM_construct_end()};
    return EVP_MAC_init(mac, key, ACCESS_HASH_BYTES, params);
}

int access_key_open(struct store *store, struct access_key *ret)
{
    static const char purpose[] = "tenon access 1";
    unsigned char secret[32], key[ACCESS_HASH_BYTES];
    EVP_MAC_CTX *mac = new_mac();
    int err = mac ? store_secret(store, secret) : ERR_NO_MEMORY;
    if (err == 0)
        err = set_key(mac, secret) ? hash(mac, purpose, sizeof purpose - 1, STR(""), key)
                                   : ERR_NO_MEMORY;
    if (err == 0 && !set_key(mac, key))
        err = ERR_NO_MEMORY;
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(key, sizeof key);
    if (err < 0)
        EVP_MAC_CTX_free(mac);
    else
        ret->mac = mac;
    return err;
}

void access_key_close(struct access_key *key)
{
    EVP_MAC_CTX_free(key->mac);
    key->mac = NULL;
}

int access_hash(struct access_key *key, char kind, struct str text,
                unsigned char ret[ACCESS_HASH_BYTES])
{
    if (text.n > CREDENTIAL_BYTES)
        return ERR_LIMIT;
    if (!EVP_MAC_init(key->mac, NULL, 0, NULL)) /* the same key again */
        return ERR_NO_MEMORY;
    return hash(key->mac, &kind, 1, text, ret);
}

void access_hex(const unsigned char *bytes, uint32_t n, char *ret)
{
    for (uint32_t i = 0; i < 2 * n; i++)
        ret[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    ret[2 * n] = '\0';
}

static const char base64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool access_token_is_ours(struct str text)
{
    if (text.n != ACCESS_TOKEN_BYTES || !str_starts_with(text, STR(ACCESS_TOKEN_PREFIX)))
        return false;
    for (uint32_t i = sizeof ACCESS_TOKEN_PREFIX - 1; i < text.n; i++)
        if (!memchr(base64url, text.p[i], 64))
            return false;
    return true;
}

int access_token_make(char ret[ACCESS_TOKEN_BYTES + 1])
{
    unsigned char random[33]; /* the last byte is zero: 43 characters are 258 bits */
    if (getrandom(random, 32, 0) != 32)
        return ERR_INTERNAL;
    random[32] = 0;
    char *at = stpcpy(ret, ACCESS_TOKEN_PREFIX);
    for (uint32_t bit = 0; bit < 43 * 6; bit += 6) {
        uint32_t two = (uint32_t)random[bit / 8] << 8 | (bit / 8 < 32 ? random[bit / 8 + 1] : 0);
        *at++ = base64url[two >> (10 - bit % 8) & 63];
    }
    *at = '\0';
    explicit_bzero(random, sizeof random);
    return 0;
}

int access_random_hex(char *ret, uint32_t n)
{
    unsigned char random[32];
    if (getrandom(random, n / 2, 0) != (ssize_t)(n / 2))
        return ERR_INTERNAL;
    access_hex(random, n / 2, ret);
    return 0;
}
