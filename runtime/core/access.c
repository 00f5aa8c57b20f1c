/* core/access.c - see access.h: whom a worker knows, and how it gets to know him.
 *
 * A credential is hashed with the server's key, and that hash is what it is known by from then on:
 * a look-up tells nothing of other tokens by its time, and no token is kept. All that is kept was
 * found under one version of the records, and goes when that moves.
 */
#include "core/access.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "core/access_parts.h"
#include "core/audit.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

struct access *access_super(void)
{
    static struct access super = {
        .user = STR_INIT(""), .role_name = STR_INIT(""), .expires_ms = INT64_MAX};
    super.role = role_super();
    return &super;
}

struct access *access_ref(struct access *access)
{
    access->refs++;
    return access;
}

void access_unref(struct access *access)
{
    if (access && --access->refs == 0 && access->source)
        identity_free((struct identity *)access);
}

/* ---- Whom it knows -------------------------------------------------------------------------- */

static uint64_t map_hash(const struct access_source *source)
{
    uint64_t hash;
    memcpy(&hash, source->hash, sizeof hash);
    return hash;
}

static void unlink_used(struct identity *who)
{
    who->newer->older = who->older;
    who->older->newer = who->newer;
}

static void link_used(struct accesses *accesses, struct identity *who)
{
    who->newer = &accesses->used;
    who->older = accesses->used.older;
    who->older->newer = accesses->used.older = who;
}

static void forget(struct accesses *accesses, struct identity *who)
{
    node_map_remove(&accesses->map, &who->node);
    unlink_used(who);
    access_unref(&who->access);
}

static void forget_all(struct accesses *accesses)
{
    while (accesses->used.older != &accesses->used)
        forget(accesses, accesses->used.older);
    access_views_clear(&accesses->views);
}

static struct identity *identity_of(struct map_node *node)
{
    return (struct identity *)((char *)node - offsetof(struct identity, node));
}

static struct identity *known(const struct accesses *accesses, const struct access_source *source)
{
    struct map_node *node = node_map_first(&accesses->map, map_hash(source));
    for (; node; node = node_map_next(node)) {
        struct identity *who = identity_of(node);
        if (who->source.kind == source->kind &&
            CRYPTO_memcmp(who->source.hash, source->hash, ACCESS_HASH_BYTES) == 0)
            return who;
    }
    return NULL;
}

/* Without memory it is found anew the next time. */
static void keep(struct accesses *accesses, struct identity *who)
{
    struct identity *old = known(accesses, &who->source);
    if (old)
        forget(accesses, old);
    if (accesses->map.n >= ACCESS_CACHED_MAX)
        forget(accesses, accesses->used.newer);
    if (!node_map_add(&accesses->map, &who->node, map_hash(&who->source)))
        return;
    access_ref(&who->access);
    link_used(accesses, who);
}

static struct access *look_up(struct accesses *accesses, const struct access_source *source,
                              int64_t now_ms)
{
    struct identity *who = known(accesses, source);
    if (!who || who->source.fresh_until_ms <= now_ms)
        return NULL;
    unlink_used(who);
    link_used(accesses, who);
    return access_ref(&who->access);
}

/* ---- A look at the records ------------------------------------------------------------------ */

static const struct access_rules no_rules = {.anonymous = ANONYMOUS_OFF};

/* Forgets what was found under another version. */
static int open_look(struct core *core, struct access_look *ret)
{
    struct accesses *accesses = core->accesses;
    *ret = (struct access_look){
        .accesses = accesses,
        .rules = core->config.access ? core->config.access : &no_rules,
        .now_ms = clock_wall_ms(),
    };
    int err = store_view_open(core->store, STORE_DATA, &ret->view);
    if (err < 0)
        return err;
    err = store_access_version(ret->view, &ret->version);
    if (err < 0) {
        store_view_close(ret->view);
        return err;
    }
    if (ret->version != accesses->version)
        forget_all(accesses);
    accesses->version = ret->version;
    return 0;
}

static int find_and_keep(struct access_look *look, const struct access_source *source,
                         struct access **ret)
{
    struct identity *who;
    struct arena arena;
    arena_init(&arena, 0);
    look->arena = &arena;
    int err = access_find(look, source, &who);
    arena_done(&arena);
    if (err < 0)
        return err;
    keep(look->accesses, who);
    *ret = &who->access;
    return 0;
}

int access_version_now(struct core *core, uint64_t *ret)
{
    struct store_view *view;
    int err = store_view_open(core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_access_version(view, ret);
    store_view_close(view);
    return err;
}

/* ---- Identifying ---------------------------------------------------------------------------- */

static int refuse(struct access_look *look, const char *why)
{
    look->why = why;
    return ERR_UNAUTHORIZED;
}

static bool is_signed(const struct access_look *look, const struct credential *credential)
{
    const struct access_verifier *verifier = look->rules->verifier;
    return credential->kind == CREDENTIAL_BEARER && verifier &&
           !access_token_is_ours(credential->text) &&
           verifier->is_mine(verifier->ctx, credential->text);
}

/* What of a signed token is kept lies in the arena. */
static int verify(struct access_look *look, struct str token, struct arena *arena,
                  struct access_source *source)
{
    const struct access_rules *rules = look->rules;
    struct access_claims claims;
    int err = rules->verifier->verify(rules->verifier->ctx, token, look->now_ms, arena, &claims,
                                      &look->why);
    if (err)
        return err;
    source->user = claims.subject;
    source->scopes = claims.scopes;
    source->expires_ms = claims.expires_ms > INT64_MAX - rules->clock_skew_ms
                             ? INT64_MAX
                             : claims.expires_ms + rules->clock_skew_ms;
    source->fresh_until_ms = look->now_ms + ACCESS_SIGNED_MS;
    return 0;
}

static int identify(struct access_look *look, const struct credential *credential,
                    struct access_source *source, struct access **ret)
{
    struct arena arena;
    arena_init(&arena, 0);
    int err = 0;
    if (credential->kind == CREDENTIAL_CERTIFICATE)
        source->user = credential->text;
    else if (source->is_signed)
        err = verify(look, credential->text, &arena, source);
    else if (credential->kind == CREDENTIAL_BEARER && !access_token_is_ours(credential->text))
        err = refuse(look, "the token is not valid");
    if (err == 0)
        err = find_and_keep(look, source, ret);
    arena_done(&arena);
    return err;
}

/* Of nobody there is one only. */
static int hash_credential(struct access_look *look, const struct credential *credential,
                           unsigned char *ret)
{
    bool is_token = credential->kind == CREDENTIAL_BEARER;
    if (credential->kind == CREDENTIAL_NONE)
        return 0;
    int err = access_hash(&look->accesses->key, is_token ? ACCESS_HASH_TOKEN : 'c',
                          credential->text, ret);
    return err == ERR_LIMIT ? refuse(look, "the credential is too long") : err;
}

static int identify_in(struct access_look *look, const struct credential *credential,
                       struct access **ret)
{
    struct access_source source = {.kind = credential->kind, .fresh_until_ms = INT64_MAX};
    int err = hash_credential(look, credential, source.hash);
    if (err < 0)
        return err;
    struct access *access = look_up(look->accesses, &source, look->now_ms);
    if (access) {
        *ret = access;
        return 0;
    }
    source.is_signed = is_signed(look, credential);
    return identify(look, credential, &source, ret);
}

/* A token that is used over another user's certificate may be stolen. */
static int check_also(struct access_look *look, struct str name, struct access **ret)
{
    if (!name.p || str_eq((*ret)->user, name))
        return 0;
    access_unref(*ret);
    *ret = NULL;
    return refuse(look, "the token and the certificate name different users");
}

int access_identify(struct core *core, const struct credential *credential, struct access **ret,
                    const char **ret_why)
{
    struct access_look look;
    *ret_why = NULL;
    int err = open_look(core, &look);
    if (err < 0)
        return err;
    err = identify_in(&look, credential, ret);
    if (err == 0)
        err = check_also(&look, credential->also, ret);
    store_view_close(look.view);
    *ret_why = look.why;
    return err;
}

/* ---- Again ---------------------------------------------------------------------------------- */

static int renew_in(struct access_look *look, struct access *access, struct access **ret)
{
    struct access *now = access->version == look->version && look->now_ms < access->expires_ms
                             ? access_ref(access)
                             : look_up(look->accesses, access->source, look->now_ms);
    if (!now)
        return find_and_keep(look, access->source, ret);
    *ret = now;
    return 0;
}

int access_renew(struct core *core, struct access *access, struct access **ret,
                 const char **ret_why)
{
    struct access_look look;
    *ret_why = NULL;
    if (!access->source) {
        *ret = access_ref(access);
        return 0;
    }
    int err = open_look(core, &look);
    if (err < 0)
        return err;
    err = renew_in(&look, access, ret);
    store_view_close(look.view);
    *ret_why = look.why;
    return err;
}

/* ---- Once keys have been fetched ------------------------------------------------------------ */

struct waiting {
    struct waiting *next;
    struct call *call;
    struct credential credential;
};

static void wipe(struct waiting *w)
{
    if (w->credential.text.n)
        explicit_bzero((char *)(uintptr_t)w->credential.text.p, w->credential.text.n);
    w->credential.text = STR_NONE;
}

static void refuse_call(struct call *call, int err, const char *why)
{
    call->out.why = err == ERR_UNAUTHORIZED ? why : NULL;
    if (err == ERR_UNAUTHORIZED || err == ERR_SCOPE)
        audit_refused(call->core, err, call->out.why);
    call_fail(call, err, STR_NONE, STR_NONE);
}

static void go_on(struct accesses *accesses, struct waiting *w)
{
    struct call *call = w->call;
    const char *why = NULL;
    int err = access_identify(accesses->core, &w->credential, &call->in.access, &why);
    wipe(w);
    if (err == ACCESS_LATER) {
        err = accesses->fetched < 0 ? accesses->fetched : ERR_UNAUTHORIZED;
        why = "the token is signed with an unknown key";
    }
    if (err == 0)
        core_handle(accesses->core, call);
    else
        refuse_call(call, err, why);
}

static void fetch(struct loop_work *work)
{
    struct accesses *accesses =
        (struct accesses *)((char *)work - offsetof(struct accesses, fetch));
    const struct access_verifier *verifier = accesses->core->config.access->verifier;
    accesses->fetched = verifier->fetch(verifier->ctx);
}

/* Who comes from here on waits for the next. */
static void fetched(struct loop_work *work)
{
    struct accesses *accesses =
        (struct accesses *)((char *)work - offsetof(struct accesses, fetch));
    struct waiting *w = accesses->first, *next;
    accesses->is_fetching = false;
    accesses->first = NULL;
    accesses->last = &accesses->first;
    accesses->n_waiting = 0;
    for (; w; w = next) {
        next = w->next; /* it lies in the call's arena */
        go_on(accesses, w);
    }
}

static int start_fetch(struct accesses *accesses)
{
    if (accesses->is_fetching)
        return 0;
    accesses->fetch = (struct loop_work){.run = fetch, .done = fetched};
    int err = loop_offload(accesses->core->loop, &accesses->fetch);
    accesses->is_fetching = err == 0;
    return err;
}

void access_wait(struct core *core, struct call *call, const struct credential *credential)
{
    struct accesses *accesses = core->accesses;
    struct waiting *w = arena_alloc(&call->arena, sizeof *w), spare;
    if (!w || accesses->n_waiting == ACCESS_WAITING_MAX || start_fetch(accesses) < 0) {
        spare = (struct waiting){.credential = *credential};
        wipe(&spare);
        refuse_call(call, w ? ERR_BUSY : ERR_NO_MEMORY, NULL);
        return;
    }
    *w = (struct waiting){.call = call, .credential = *credential};
    *accesses->last = w;
    accesses->last = &w->next;
    accesses->n_waiting++;
}

/* ---- Coming and going ----------------------------------------------------------------------- */

int accesses_new(struct core *core, struct accesses **ret)
{
    struct accesses *accesses = calloc(1, sizeof *accesses);
    if (!accesses)
        return ERR_NO_MEMORY;
    accesses->core = core;
    accesses->used.newer = accesses->used.older = &accesses->used;
    accesses->last = &accesses->first;
    int err = access_key_open(core->store, &accesses->key);
    if (err < 0)
        accesses_free(accesses);
    else
        *ret = accesses;
    return err;
}

void accesses_free(struct accesses *accesses)
{
    if (!accesses)
        return;
    forget_all(accesses);
    node_map_done(&accesses->map);
    access_key_close(&accesses->key);
    free(accesses);
}
