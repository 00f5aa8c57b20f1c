/* wire/cursor.c - sealed cursors; see cursor.h.
 *
 * text = base64url(kind byte, payload, tag); the tag covers the kind, the scope with its length,
 * and the payload. Only the one text that cursor_write makes is accepted: no padding, no stray
 * bits.
 */
#include "wire/cursor.h"

#include "base/err.h"
#include "base/limits.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define TAG_BYTES 16

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static uint32_t encode(const unsigned char *bytes, uint32_t n, char *out)
{
    char *at = out;
    for (uint32_t i = 0; i < n; i += 3) {
        uint32_t rest = n - i, group = (uint32_t)bytes[i] << 16;
        if (rest > 1)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (rest > 2)
            group |= bytes[i + 2];
        for (uint32_t digit = 0; digit < (rest > 2 ? 4 : rest + 1); digit++)
            *at++ = alphabet[group >> (18 - 6 * digit) & 63];
    }
    return (uint32_t)(at - out);
}

static int digit_of(char c)
{
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

/* False for anything that `encode` does not write. */
static bool decode(struct str text, unsigned char *out, uint32_t *ret_n)
{
    uint32_t bits = 0, n_bits = 0, n = 0;
    if (text.n % 4 == 1)
        return false;
    for (uint32_t i = 0; i < text.n; i++) {
        int digit = digit_of(text.p[i]);
        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        n_bits += 6;
        if (n_bits < 8)
            continue;
        n_bits -= 8;
        out[n++] = (unsigned char)(bits >> n_bits);
        bits &= (1u << n_bits) - 1;
    }
    *ret_n = n;
    return bits == 0;
}

static int make_tag(const struct cursor_key *key, unsigned char kind, struct str scope,
                    struct str payload, struct arena *arena, unsigned char ret[TAG_BYTES])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n_digest;
    size_t n = 1 + sizeof scope.n + (size_t)scope.n + payload.n;
    unsigned char *sealed = arena_alloc(arena, n), *at = sealed;
    if (!sealed)
        return ERR_NO_MEMORY;
    *at++ = kind;
    memcpy(at, &scope.n, sizeof scope.n);
    at += sizeof scope.n;
    if (scope.n)
        memcpy(at, scope.p, scope.n);
    if (payload.n)
        memcpy(at + scope.n, payload.p, payload.n);
    if (!HMAC(EVP_sha256(), key->bytes, sizeof key->bytes, sealed, n, digest, &n_digest))
        return ERR_NO_MEMORY;
    memcpy(ret, digest, TAG_BYTES);
    return 0;
}

int cursor_write(const struct cursor_key *key, enum cursor_kind kind, struct str scope,
                 struct str payload, struct arena *arena, struct str *ret)
{
    if (payload.n > CURSOR_PAYLOAD_BYTES)
        return ERR_LIMIT;
    uint32_t n = 1 + payload.n + TAG_BYTES;
    unsigned char *bytes = arena_alloc(arena, n);
    char *text = arena_alloc(arena, ((size_t)n + 2) / 3 * 4);
    if (!bytes || !text)
        return ERR_NO_MEMORY;
    bytes[0] = (unsigned char)kind;
    if (payload.n)
        memcpy(bytes + 1, payload.p, payload.n);
    int err = make_tag(key, bytes[0], scope, payload, arena, bytes + 1 + payload.n);
    if (err)
        return err;
    *ret = (struct str){text, encode(bytes, n, text)};
    return 0;
}

int cursor_read(const struct cursor_key *key, enum cursor_kind kind, struct str scope,
                struct str text, struct arena *arena, struct str *ret_payload)
{
    unsigned char tag[TAG_BYTES];
    uint32_t n;
    if (text.n > (CURSOR_PAYLOAD_BYTES + 1 + TAG_BYTES + 2) / 3 * 4)
        return ERR_PARAMS;
    unsigned char *bytes = arena_alloc(arena, (size_t)text.n + 1);
    if (!bytes)
        return ERR_NO_MEMORY;
    if (!decode(text, bytes, &n) || n < 1 + TAG_BYTES || bytes[0] != kind)
        return ERR_PARAMS;
    struct str payload = {(const char *)bytes + 1, n - 1 - TAG_BYTES};
    int err = make_tag(key, bytes[0], scope, payload, arena, tag);
    if (err)
        return err;
    if (CRYPTO_memcmp(tag, bytes + n - TAG_BYTES, TAG_BYTES) != 0)
        return ERR_PARAMS;
    *ret_payload = payload;
    return 0;
}
