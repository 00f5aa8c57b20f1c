/* core/admission.c - see admission.h. */
#include "core/admission.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/node_map.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/table_run.h"
#include "wire/json_write.h"

#define NS_PER_S      1000000000u
#define TOLD_AGAIN_MS 60000

enum scope { PER_TOOL, SESSION_RATE, PER_CLIENT, N_BUCKETS, CONCURRENCY = N_BUCKETS };

static const char *const scope_names[] = {
    [PER_TOOL] = "per_tool",
    [SESSION_RATE] = "session_rate",
    [PER_CLIENT] = "per_client",
    [CONCURRENCY] = "concurrency",
};

static const char *const scope_texts[] = {
    [PER_TOOL] = "Too many calls of this kind in this session",
    [SESSION_RATE] = "Too many calls in this session",
    [PER_CLIENT] = "Too many calls of this client",
    [CONCURRENCY] = "Too many calls of this session run at the same time",
};

static const struct admission_limits *limits_of(const struct call *call)
{
    return &call->core->config.limits[call->in.profile];
}

/* ---- Denying -------------------------------------------------------------------------------- */

struct denial {
    int err; /* ERR_RATE or ERR_QUOTA */
    const char *kind, *scope, *text;
    uint32_t wait_s;
};

static void write_member(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
    json_write_str(out, value);
}

static struct str write_denial(struct call *call, const struct denial *d, struct str name)
{
    struct buf out = {0};
    struct str text = arena_printf(&call->arena, "%s. Try again in %u s", d->text, d->wait_s);
    buf_add_char(&out, '{');
    write_member(&out, "kind", str_of(d->kind));
    if (d->scope)
        write_member(&out, "scope", str_of(d->scope));
    write_member(&out, "tool", name);
    write_member(&out, "message", text);
    if (d->err == ERR_QUOTA)
        buf_printf(&out, ",\"retryAfterSeconds\":%u", d->wait_s);
    buf_add_char(&out, '}');
    struct str json = text.p ? arena_buf(&call->arena, &out) : STR_NONE;
    buf_done(&out);
    return json;
}

static int deny(struct call *call, const struct denial *d, struct str name)
{
    struct str json = write_denial(call, d, name);
    if (!json.p)
        return ERR_NO_MEMORY;
    if (call->row->method != MCP_TOOLS_CALL) {
        call->out.retry_after_s = d->wait_s;
        return call_explain(call, d->err, STR_NONE, json);
    }
    call->err = d->err; /* for who counts and writes down how calls end */
    call->tool = name;
    tool_fail(call, json);
    return CALL_LATER;
}

static int deny_rate(struct call *call, enum scope scope, uint64_t wait_ns, struct str name)
{
    uint64_t s = (wait_ns + NS_PER_S - 1) / NS_PER_S;
    struct denial d = {
        .err = ERR_RATE,
        .kind = "rate_limited",
        .scope = scope_names[scope],
        .text = scope_texts[scope],
        .wait_s = s < 1            ? 1
                  : s > UINT32_MAX ? UINT32_MAX
                                   : (uint32_t)s,
    };
    return deny(call, &d, name);
}

/* ---- Rates ---------------------------------------------------------------------------------- */

/* A user by his name, others by where they come from; no name of the one is that of the other. */
static uint64_t hash_client(const struct rates *rates, const struct call *call)
{
    struct str user = call->in.access->user;
    uint64_t kind = 2u * call->in.profile + 10 + (user.n > 0);
    return rate_hash(rates, kind, user.n ? user : call->in.client);
}

struct buckets {
    const struct rate *rate[N_BUCKETS];
    uint64_t key[N_BUCKETS];
    uint64_t session;
    uint64_t now_ns;
};

static void find_buckets(struct call *call, struct str name, struct buckets *ret)
{
    const struct admission_limits *limits = limits_of(call);
    const struct rates *rates = call->core->config.rates;
    uint64_t session = rate_hash(rates, call->in.profile + 1u, call->session->record.id);
    uint64_t hash[N_BUCKETS] = {[SESSION_RATE] = session};
    *ret = (struct buckets){
        .rate = {&limits->tool, &limits->session, &limits->client},
        .session = session,
        .now_ns = (uint64_t)clock_mono_us() * 1000,
    };
    if (limits->tool.interval_ns)
        hash[PER_TOOL] = rate_hash(rates, session, name);
    if (limits->client.interval_ns)
        hash[PER_CLIENT] = hash_client(rates, call);
    for (int i = 0; i < N_BUCKETS; i++)
        ret->key[i] = rate_key(rates, hash[i], ret->rate[i]);
}

/* The scope that has no token, and for how long; N_BUCKETS: all have. */
static enum scope find_empty(const struct rates *rates, const struct buckets *b, uint64_t *ret_ns)
{
    int i = 0;
    *ret_ns = 0;
    while (i < N_BUCKETS && (*ret_ns = rate_wait_ns(rates, b->key[i], b->rate[i], b->now_ns)) == 0)
        i++;
    return (enum scope)i;
}

/* Another worker may have taken the last token since they were looked at. */
static enum scope charge(struct rates *rates, const struct buckets *b)
{
    for (int i = 0; i < N_BUCKETS; i++) {
        if (rate_take(rates, b->key[i], b->rate[i], b->now_ns))
            continue;
        for (int j = 0; j < i; j++)
            rate_give_back(rates, b->key[j], b->rate[j]);
        return (enum scope)i;
    }
    return N_BUCKETS;
}

static bool enter(struct call *call, uint64_t session)
{
    uint32_t max = limits_of(call)->session_concurrency;
    if (!max)
        return true;
    if (!count_enter(call->core->config.rates, call->core->config.bus, session, max))
        return false;
    call->counted = session;
    return true;
}

void admission_leave(struct call *call)
{
    if (call->counted)
        count_leave(call->core->config.rates, call->core->config.bus, call->counted);
    call->counted = 0;
}

static int ask_rates(struct call *call, struct str name)
{
    struct rates *rates = call->core->config.rates;
    struct buckets b;
    uint64_t wait_ns;
    if (!rates)
        return 0;
    find_buckets(call, name, &b);
    enum scope scope = find_empty(rates, &b, &wait_ns);
    if (scope == N_BUCKETS && !enter(call, b.session))
        return deny_rate(call, CONCURRENCY, 0, name);
    if (scope == N_BUCKETS)
        scope = charge(rates, &b);
    if (scope == N_BUCKETS)
        return 0;
    admission_leave(call);
    return deny_rate(call, scope, wait_ns, name);
}

/* ---- The quota ------------------------------------------------------------------------------ */

struct taking {
    struct store_write write; /* first, so that `done` finds its way back */
    struct store_op op;
    struct call *call;
    struct str name; /* of the tool */
};

/* At most once a minute. */
static void tell_uncounted(struct core *core, int err)
{
    int64_t now_ms = clock_mono_ms();
    if (core->quota_told_ms && now_ms - core->quota_told_ms < TOLD_AGAIN_MS)
        return;
    core->quota_told_ms = now_ms;
    log_error("quotas cannot be counted, calls are denied: %s", err_text(err));
}

static int deny_quota(struct taking *t, int err)
{
    int64_t left_ms = t->op.until_ms - clock_wall_ms();
    struct denial d = {
        .err = ERR_QUOTA,
        .kind = "quota_exceeded",
        .text = "The quota is used up",
        .wait_s = left_ms > 0 ? (uint32_t)((left_ms + 999) / 1000) : 1,
    };
    if (err != ERR_QUOTA) {
        tell_uncounted(t->call->core, err);
        d.text = "The quota cannot be counted now";
        d.wait_s = 1;
    }
    return deny(t->call, &d, t->name);
}

static void taken(struct store_write *write, int err)
{
    struct taking *t = (struct taking *)write;
    struct call *call = t->call;
    if (err == 0 && call_is_cancelled(call)) {
        dispatch_fail(call, call_is_cancelled(call));
        return;
    }
    if (err < 0)
        err = deny_quota(t, err);
    if (err < 0)
        dispatch_fail(call, err);
    else if (err == 0)
        dispatch_again(call);
}

/* What is used up already needs no write to say so. */
static int look(struct taking *t)
{
    struct store_view *view;
    uint64_t used;
    int err = store_view_open(t->call->core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = store_get_quota(view, t->op.key, clock_wall_ms(), &used);
    store_view_close(view);
    return err < 0 ? err : used < t->op.quota_max ? 0 : ERR_QUOTA;
}

/* The same for the store. */
static struct str client_of(struct call *call)
{
    struct str user = call->in.access->user;
    return user.n ? arena_printf(&call->arena, "user " STR_FMT, STR_ARG(user))
                  : arena_printf(&call->arena, "from " STR_FMT, STR_ARG(call->in.client));
}

/* The store takes keys that are no longer than names: of longer ones the beginning and a hash. */
static struct str key_of(struct call *call)
{
    struct str client = client_of(call);
    if (!client.p || client.n + 1 <= ACCESS_NAME_BYTES)
        return client.p ? arena_printf(&call->arena, "%u" STR_FMT, (unsigned)call->in.profile,
                                       STR_ARG(client))
                        : STR_NONE;
    uint64_t hash = node_hash(NODE_HASH, client.p, client.n);
    client.n = ACCESS_NAME_BYTES - 17;
    return arena_printf(&call->arena, "%u" STR_FMT "%016llx", (unsigned)call->in.profile,
                        STR_ARG(client), (unsigned long long)hash);
}

static struct taking *taking_new(struct call *call, struct str name)
{
    const struct admission_limits *limits = limits_of(call);
    int64_t window_ms = limits->quota_window_ms;
    struct taking *t = arena_zalloc(&call->arena, sizeof *t);
    if (!t)
        return NULL;
    t->call = call;
    t->name = name;
    t->op = (struct store_op){
        .kind = STORE_TAKE_QUOTA,
        .if_version = STORE_ANY,
        .key = key_of(call),
        .n = 1,
        .quota_max = limits->quota,
        .until_ms = (clock_wall_ms() / window_ms + 1) * window_ms,
    };
    t->write = (struct store_write){.space = STORE_SYS, .ops = &t->op, .n_ops = 1, .done = taken};
    return t->op.key.p ? t : NULL;
}

static int ask_quota(struct call *call, struct str name)
{
    if (!limits_of(call)->quota)
        return 0;
    struct taking *t = taking_new(call, name);
    if (!t)
        return ERR_NO_MEMORY;
    int err = look(t);
    if (err < 0)
        return deny_quota(t, err);
    store_submit(call->core->store, &t->write);
    return CALL_LATER;
}

int admission_ask(struct call *call, struct str name)
{
    if (call->is_admitted)
        return 0;
    int err = ask_rates(call, name);
    if (err)
        return err;
    call->is_admitted = true;
    return ask_quota(call, name);
}
