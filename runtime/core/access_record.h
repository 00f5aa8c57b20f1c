/* core/access_record.h - users, roles and tokens as the store keeps them (store.h, "Users, roles,
 * tokens"), and the secrets around them.
 *
 *   user   name: what he is called
 *          {"roles": ["reader"], "disabled": false, "generation": "32 hex digits", "created": 0}
 *   role   name: what it is called; the record is its tree (core/role.h)
 *   token  name: the hash of its text (access_hash)
 *          {"id": "16 hex digits", "user": "ann", "generation": "...", "label": "ci", "created": 0,
 *           "expires": 0}
 *
 * Times are wall time in milliseconds; expires 0: never. The text of a token is in no record: only
 * who has it can make the hash, with a key that is drawn from the secret of the data directory. A
 * token names the generation of its user: who is dropped and made again is somebody else.
 *
 * Any thread, but one at a time for each key.
 */
#ifndef TENON_CORE_ACCESS_RECORD_H
#define TENON_CORE_ACCESS_RECORD_H

#include "core/store.h"

#define ACCESS_TOKEN_PREFIX     "tenon_"
#define ACCESS_TOKEN_BYTES      49 /* of its text: the prefix and 43 characters of base64url */
#define ACCESS_HASH_BYTES       32
#define ACCESS_HASH_TEXT_BYTES  64
#define ACCESS_TOKEN_ID_BYTES   16
#define ACCESS_GENERATION_BYTES 32

struct access_user {
    struct str name;
    const struct str *roles; /* sorted, none twice */
    uint32_t n_roles;
    bool is_disabled;
    struct str generation;
    int64_t created_ms;
};

struct access_token {
    struct str id, user, generation, label;
    int64_t created_ms, expires_ms; /* 0: never */
};

/* Of a user: 1 to ACCESS_NAME_BYTES of UTF-8 without control characters, and no blank at an end. Of
 * a role: a letter, then letters, digits, '_', '-' and '.', at most NAME_BYTES_MAX. */
bool access_user_name_is_valid(struct str name);
bool access_role_name_is_valid(struct str name);

/* Read from a record: 0, ERR_STORE_DAMAGED or ERR_NO_MEMORY; all of it lies in the arena, but the
 * user's name, which is not in the record and is left alone. Written as one. */
int access_user_read(struct str record, struct arena *arena, struct access_user *ret);
void access_user_write(const struct access_user *user, struct buf *out);
int access_token_read(struct str record, struct arena *arena, struct access_token *ret);
void access_token_write(const struct access_token *token, struct buf *out);

/* Sorts and leaves out what stands twice; returns how many are left. */
uint32_t access_sort_names(struct str *names, uint32_t n);

/* ---- Secrets -------------------------------------------------------------------------------- */

/* Ready to hash with, which is cheaper than to begin anew for each credential. */
struct access_key {
    struct evp_mac_ctx_st *mac;
};

/* Drawn from store_secret, and fails as that does; ERR_NO_MEMORY. */
int access_key_open(struct store *store, struct access_key *ret);
void access_key_close(struct access_key *key); /* a zeroed one is fine */
/* What stands for a credential: of a token its record's name is this as text. `kind` keeps texts of
 * different kinds apart. One thread at a time. 0, ERR_LIMIT (longer than CREDENTIAL_BYTES),
 * ERR_NO_MEMORY. */
int access_hash(struct access_key *key, char kind, struct str text,
                unsigned char ret[ACCESS_HASH_BYTES]);
#define ACCESS_HASH_TOKEN 'b'
/* Lower-case hex digits and a NUL. */
void access_hex(const unsigned char *bytes, uint32_t n, char *ret);

/* Has it the form of a token of ours? */
bool access_token_is_ours(struct str text);
/* 256 random bits as the text of a token, and a NUL: the caller shows it once and wipes it. 0, or
 * ERR_INTERNAL. */
int access_token_make(char ret[ACCESS_TOKEN_BYTES + 1]);
/* n / 2 random bytes as n hex digits and a NUL, n at most 64. 0, or ERR_INTERNAL. */
int access_random_hex(char *ret, uint32_t n);

#endif
