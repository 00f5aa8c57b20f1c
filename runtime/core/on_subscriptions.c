/* core/on_subscriptions.c - resources/subscribe and resources/unsubscribe.
 *
 * MCP 2025-06-18, Resources, Subscriptions. A table, a row whether it exists or not, and what a
 * component says can be subscribed to. It is a record in the store, which any worker makes, and it
 * begins with the change log as it is now; who takes the session's pushes is told (core/follow.h).
 * What is asked for beside the URI stands in `_meta`:
 *
 *   "tenon/mode"        "merged" (by URI) or "all" (a notification for each change)
 *   "tenon/coalesceMs"  changes so soon after the first are told with it
 */
#include "base/err.h"
#include "base/limits.h"
#include "core/capability.h"
#include "core/catalog.h"
#include "core/component.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/follow.h"
#include "generated/methods.h"
#include "wire/json_write.h"
#include "wire/tape.h"

#include <string.h>

struct subscribing {
    struct store_write write; /* first, so that `done` finds its way back */
    struct store_op op;
    struct store_subscription subscription;
    struct store_claim claim; /* who takes the session's pushes */
    struct call *call;
};

/* ---- What can be subscribed to -------------------------------------------------------------- */

static int refuse(struct call *call, int err, struct str text, struct str uri)
{
    struct buf data = {0};
    if (uri.n > URI_BYTES_MAX)
        return call_explain(call, err, STR("The URI is too long"), STR_NONE);
    buf_add_lit(&data, "{\"uri\":");
    json_write_str(&data, uri);
    buf_add_char(&data, '}');
    struct str json = arena_buf(&call->arena, &data);
    buf_done(&data);
    return call_explain(call, err, text, json);
}

static int refuse_kind(struct call *call, struct str uri)
{
    return refuse(call, ERR_PARAMS, STR("This resource is not subscribable"), uri);
}

static int check_component(struct call *call, struct str uri)
{
    const struct component_resource *resource;
    const struct template_value *values;
    int err = component_find_resource(call->catalog->offers, uri, &call->arena, &resource, &values);
    if (err < 0)
        return err;
    return resource->is_subscribable ? 0 : refuse_kind(call, uri);
}

static int check_table(struct call *call, const struct resource_uri *parts)
{
    struct str key;
    const struct table *table = catalog_find_table(call->catalog, parts->database, parts->table);
    if (!table)
        return ERR_ABSENT;
    if (parts->kind == RESOURCE_TABLE)
        return 0;
    int err = key_from_text(table->key_type, parts->id, &call->arena, &key);
    return err == ERR_NO_MEMORY || err == 0 ? err : ERR_ABSENT; /* no row can have this key */
}

static int check_own(struct call *call, struct str uri)
{
    struct resource_uri parts;
    if (str_starts_with(uri, STR("tenon:")))
        return refuse_kind(call, uri);
    int err = resource_uri_read(&call->core->uris, uri, &call->arena, &parts);
    return err < 0 ? err : check_table(call, &parts);
}

static int check_uri(struct call *call, struct str uri)
{
    int err = uri.n > URI_BYTES_MAX ? ERR_ABSENT : catalog_use(call);
    if (err == 0)
        err = resource_uri_is_own(uri) ? check_own(call, uri) : check_component(call, uri);
    return err == ERR_ABSENT ? refuse(call, ERR_NOT_FOUND, STR_NONE, uri) : err;
}

/* ---- How ------------------------------------------------------------------------------------ */

static int refuse_option(struct call *call, const char *pointer, const char *expected)
{
    return call_explain(call, ERR_PARAMS, STR_NONE,
                        call_fault_data(call, "/params/_meta", pointer, "value", expected));
}

static int read_mode(struct call *call, const struct tape_node *value,
                     struct store_subscription *ret)
{
    struct str mode = value->kind == TAPE_STR ? tape_str(value) : STR("");
    ret->all = str_eq(mode, STR("all"));
    if (ret->all || str_eq(mode, STR("merged")))
        return 0;
    return refuse_option(call, "/tenon~1mode", "\"merged\" or \"all\"");
}

static int read_coalesce(struct call *call, const struct tape_node *value,
                         struct store_subscription *ret)
{
    if (value->kind != TAPE_INT || value->v.i < 0 || value->v.i > COALESCE_MS_MAX) {
        struct str most = arena_printf(&call->arena, "milliseconds from 0 to %d", COALESCE_MS_MAX);
        return most.p ? refuse_option(call, "/tenon~1coalesceMs", most.p) : ERR_NO_MEMORY;
    }
    ret->coalesce_ms = (uint32_t)value->v.i;
    return 0;
}

static int open_meta(struct call *call, const struct tape_node **ret)
{
    struct str text = call->message.meta;
    char *copy = arena_zalloc(&call->arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    memcpy(copy, text.p, text.n);
    return tape_open((struct str){copy, text.n}, &call->arena, ret, NULL);
}

static int read_options(struct call *call, struct store_subscription *ret)
{
    const struct tape_node *meta, *mode, *coalesce;
    ret->coalesce_ms = call->core->config.coalesce_ms;
    if (!call->message.meta.p)
        return 0;
    int err = open_meta(call, &meta);
    if (err < 0)
        return err;
    mode = tape_get(meta, STR("tenon/mode"));
    coalesce = tape_get(meta, STR("tenon/coalesceMs"));
    if (mode)
        err = read_mode(call, mode, ret);
    if (err == 0 && coalesce)
        err = read_coalesce(call, coalesce, ret);
    return err;
}

/* The change log as it is. */
static int read_start(struct core *core, uint64_t *ret)
{
    struct store_view *view;
    int err = store_view_open(core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = store_last_seq(view, ret);
    store_view_close(view);
    return err;
}

/* ---- Writing it down ------------------------------------------------------------------------ */

static void answer(struct call *call, int err)
{
    static const struct mcp_result nothing;
    if (err < 0)
        dispatch_fail(call, err);
    else
        call_done(call, &nothing);
}

/* He may be gone: whoever comes next reads the store. */
static void tell_holder(struct subscribing *s)
{
    struct core *core = s->call->core;
    struct worker_id holder = {s->claim.worker.slot, s->claim.worker.epoch};
    struct buf body = {0};
    if (!holder.epoch || !bus_is_alive(core->config.bus, holder))
        return;
    buf_printf(&body, "\"session\":\"" STR_FMT "\"", STR_ARG(s->subscription.session));
    if (!body.failed)
        mail_send(core, holder, MAIL_FOLLOW, buf_str(&body), NULL, NULL);
    buf_done(&body);
}

static int explain_full(struct call *call)
{
    uint32_t most = call->core->config.max_subscriptions;
    struct str text = arena_printf(
        &call->arena,
        "The session has as many subscriptions as are allowed: %u, or %u bytes of URIs",
        most ? most : SUBSCRIPTIONS_SESSION_MAX, SUBSCRIPTIONS_BYTES);
    return call_explain(call, ERR_PARAMS, text, STR_NONE);
}

static void written(struct store_write *write, int err)
{
    struct subscribing *s = (struct subscribing *)write;
    if (err == 0)
        tell_holder(s);
    if (err == ERR_LIMIT)
        err = explain_full(s->call);
    answer(s->call, err == ERR_ABSENT ? ERR_SESSION_GONE : err);
}

static int submit(struct subscribing *s, enum store_op_kind kind)
{
    struct core *core = s->call->core;
    s->op = (struct store_op){
        .kind = kind,
        .if_version = STORE_ANY,
        .subscription = &s->subscription,
        .max_subscriptions = core->config.max_subscriptions,
        .ret_claim = &s->claim,
    };
    s->write = (struct store_write){.space = STORE_SYS, .ops = &s->op, .n_ops = 1, .done = written};
    store_submit(core->store, &s->write);
    return CALL_LATER;
}

static struct subscribing *subscribing_new(struct call *call, struct str uri)
{
    struct subscribing *s = arena_zalloc(&call->arena, sizeof *s);
    if (!s)
        return NULL;
    s->call = call;
    s->subscription.session = call->session->record.id;
    s->subscription.uri = uri;
    return s;
}

int mcp_on_resources_subscribe(struct call *call, const struct mcp_subscribe_request_params *params,
                               struct mcp_result *result)
{
    (void)result;
    int err = admission_ask(call, str_of(call->row->name));
    if (err)
        return err;
    struct subscribing *s = subscribing_new(call, params->uri);
    err = s ? check_uri(call, params->uri) : ERR_NO_MEMORY;
    if (err == 0)
        err = read_options(call, &s->subscription);
    if (err == 0)
        err = read_start(call->core, &s->subscription.start_seq);
    if (err < 0)
        return err;
    if (!call->in.stdio)
        return submit(s, STORE_PUT_SUBSCRIPTION);
    err = follow_put_plain(call->core->follows, &s->subscription);
    return err == ERR_LIMIT ? explain_full(call) : err;
}

int mcp_on_resources_unsubscribe(struct call *call,
                                 const struct mcp_unsubscribe_request_params *params,
                                 struct mcp_result *result)
{
    (void)result;
    struct subscribing *s = subscribing_new(call, params->uri);
    if (!s)
        return ERR_NO_MEMORY;
    if (params->uri.n == 0 || params->uri.n > URI_BYTES_MAX)
        return 0; /* nobody has such a subscription */
    if (!call->in.stdio)
        return submit(s, STORE_DELETE_SUBSCRIPTION);
    follow_delete_plain(call->core->follows, params->uri);
    return 0;
}
