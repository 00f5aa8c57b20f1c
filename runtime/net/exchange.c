/* net/exchange.c - see exchange.h. */
#include "net/exchange.h"

#include "base/err.h"
#include "base/limits.h"
#include "net/reply.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What `call->transport` points to, in the call's arena: it outlives the connection. */
struct link {
    struct calls *calls;
    struct exchange *exchange; /* NULL: the client went away, or its stream is over */
    bool is_streaming;         /* so the answer goes there */
    struct share share;        /* of its body and its answer */
};

struct calls *calls_new(struct core *core, size_t body_limit, size_t bytes_max,
                        void (*answered)(struct exchange *exchange),
                        struct sink *(*open_sink)(struct exchange *exchange))
{
    struct calls *calls = calloc(1, sizeof *calls);
    if (calls)
        *calls = (struct calls){.core = core,
                                .body_limit = body_limit,
                                .budget.max_bytes = bytes_max,
                                .answered = answered,
                                .open_sink = open_sink};
    return calls;
}

static struct share *share_of(const struct call *call)
{
    return &((struct link *)call->transport)->share;
}

static void give_up(struct call *call)
{
    if (call->transport)
        share_return(share_of(call));
    call_free(call);
}

static void free_if_over(struct calls *calls)
{
    if (!calls->closed || calls->n_running)
        return;
    assert(!calls->budget.used_bytes);
    free(calls);
}

void calls_close(struct calls *calls)
{
    if (!calls)
        return;
    calls->closed = true;
    free_if_over(calls);
}

static void finish(struct call *call)
{
    struct link *link = call->transport;
    struct calls *calls = link->calls;
    struct exchange *x = link->exchange;
    calls->n_running--;
    if (x && !link->is_streaming) {
        x->running = false;
        share_add(&link->share, call->out.body.n);
        calls->answered(x);
        return;
    }
    if (x)
        exchange_part(x);
    give_up(call);
    free_if_over(calls);
}

static struct sink *open_sink(struct call *call)
{
    struct link *link = call->transport;
    if (!link->exchange || link->is_streaming)
        return NULL;
    struct sink *sink = link->calls->open_sink(link->exchange);
    link->is_streaming = sink;
    return sink;
}

static bool copy_present(struct arena *arena, struct str value, struct str *ret)
{
    if (value.p)
        *ret = arena_str(arena, value);
    return !value.p || ret->p;
}

static enum call_verb verb_of(enum http_method method)
{
    return method == HTTP_GET ? CALL_GET : method == HTTP_DELETE ? CALL_DELETE : CALL_POST;
}

static bool copy_credential(struct exchange *x, const struct credential *from)
{
    x->credential.kind = from->kind;
    return copy_present(&x->call->arena, from->text, &x->credential.text) &&
           copy_present(&x->call->arena, from->also, &x->credential.also);
}

static void wipe_credential(struct exchange *x)
{
    if (x->credential.text.n)
        explicit_bzero((char *)(uintptr_t)x->credential.text.p, x->credential.text.n);
    x->credential = (struct credential){0};
}

static bool fill_call(struct exchange *x, const struct http_head *head,
                      const struct http_plan *plan, struct entry *entry)
{
    struct call *call = x->call;
    struct link *link = arena_alloc(&call->arena, sizeof *link);
    if (!link)
        return false;
    *link = (struct link){.calls = x->calls, .exchange = x, .share.budget = &x->calls->budget};
    call->transport = link;
    call->finish = finish;
    call->open_sink = open_sink;
    call->in = (struct call_inbound){
        .verb = verb_of(head->method),
        .profile = plan->profile,
        .accepts_json = plan->accepts_json,
        .accepts_sse = plan->accepts_sse,
        .access = entry->access,
    };
    entry->access = NULL;
    x->is_later = entry->is_later;
    return (!entry->is_later || copy_credential(x, &entry->credential)) &&
           copy_present(&call->arena, plan->allowed_origin, &x->allowed_origin) &&
           copy_present(&call->arena, entry->client, &call->in.client) &&
           copy_present(&call->arena, head->session_id, &call->in.session_id) &&
           copy_present(&call->arena, head->version, &call->in.version) &&
           copy_present(&call->arena, head->last_event, &call->in.last_event);
}

int exchange_begin(struct exchange *x, const struct http_head *head, const struct http_plan *plan,
                   struct entry *entry)
{
    x->call = call_new(x->calls->core);
    if (!x->call || !fill_call(x, head, plan, entry))
        return ERR_NO_MEMORY;
    x->is_chunked = plan->chunked;
    if (plan->chunked) {
        x->raw.limit = x->calls->body_limit;
        return 0;
    }
    if (!share_resize(share_of(x->call), plan->body_bytes))
        return ERR_BUSY;
    x->body_bytes = plan->body_bytes;
    x->body = arena_alloc(&x->call->arena, x->body_bytes + JSON_PADDING_BYTES);
    return x->body ? 0 : ERR_NO_MEMORY;
}

static int end_chunked(struct exchange *x)
{
    x->body_n = x->body_bytes = x->raw.n;
    x->body = arena_alloc(&x->call->arena, x->body_n + JSON_PADDING_BYTES);
    if (!x->body)
        return ERR_NO_MEMORY;
    if (x->body_n)
        memcpy(x->body, x->raw.p, x->body_n);
    buf_done(&x->raw);
    share_resize(share_of(x->call), x->body_n);
    return 1;
}

static int add_chunked(struct exchange *x, struct str piece)
{
    uint32_t used;
    int done = chunked_feed(&x->chunked, piece, &x->raw, &used);
    if (done < 0)
        return done;
    if (!share_resize(share_of(x->call), x->raw.cap))
        return ERR_BUSY;
    return done ? end_chunked(x) : 0;
}

int exchange_body(struct exchange *x, struct str piece)
{
    if (x->is_chunked)
        return add_chunked(x, piece);
    if (piece.n > x->body_bytes - x->body_n)
        return ERR_BAD_FRAMING; /* more than was announced: a fault of the HTTP library */
    if (piece.n)
        memcpy(x->body + x->body_n, piece.p, piece.n);
    x->body_n += piece.n;
    return 0;
}

bool exchange_is_whole(const struct exchange *x)
{
    return !x->is_chunked && x->body_n == x->body_bytes;
}

/* Of who is known only when keys have come: the credential is core's now. */
static void run_later(struct exchange *x)
{
    struct credential credential = x->credential;
    x->credential = (struct credential){0};
    access_wait(x->calls->core, x->call, &credential);
}

static void answer_busy(struct exchange *x)
{
    x->call->out.http_status = err_http_status(ERR_BUSY);
    reply_write_error(&x->call->out.body, ERR_BUSY);
    x->calls->answered(x);
}

void exchange_run(struct exchange *x)
{
    if (budget_is_over(&x->calls->budget)) {
        answer_busy(x);
        return;
    }
    memset(x->body + x->body_n, 0, JSON_PADDING_BYTES);
    x->call->in.body = (struct str){x->body, (uint32_t)x->body_n};
    x->running = true;
    x->calls->n_running++;
    if (x->is_later)
        run_later(x);
    else
        core_handle(x->calls->core, x->call);
}

void exchange_part(struct exchange *x)
{
    if (x->call)
        ((struct link *)x->call->transport)->exchange = NULL;
    *x = (struct exchange){.calls = x->calls};
}

void exchange_end(struct exchange *x)
{
    if (x->running) {
        x->call->orphaned = true;
        ((struct link *)x->call->transport)->exchange = NULL;
    } else if (x->call) {
        wipe_credential(x);
        give_up(x->call);
    }
    buf_done(&x->raw);
    *x = (struct exchange){.calls = x->calls};
}
