/* net/exchange.c - see exchange.h. */
#include "net/exchange.h"

#include "base/err.h"
#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

/* What `call->transport` points to, in the call's arena: it outlives the connection. */
struct link {
    struct calls *calls;
    struct exchange *exchange; /* NULL: the client went away */
};

struct calls *calls_new(struct core *core, size_t body_limit,
                        void (*answered)(struct exchange *exchange))
{
    struct calls *calls = calloc(1, sizeof *calls);
    if (calls)
        *calls = (struct calls){.core = core, .body_limit = body_limit, .answered = answered};
    return calls;
}

static void free_if_over(struct calls *calls)
{
    if (calls->closed && !calls->n_running)
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
    if (x) {
        x->running = false;
        calls->answered(x);
        return;
    }
    call_free(call);
    free_if_over(calls);
}

static bool copy_present(struct arena *arena, struct str value, struct str *ret)
{
    if (value.p)
        *ret = arena_str(arena, value);
    return !value.p || ret->p;
}

static bool fill_call(struct exchange *x, const struct http_head *head,
                      const struct http_plan *plan)
{
    struct call *call = x->call;
    struct link *link = arena_alloc(&call->arena, sizeof *link);
    if (!link)
        return false;
    *link = (struct link){x->calls, x};
    call->transport = link;
    call->finish = finish;
    call->in = (struct call_inbound){
        .verb = head->method == HTTP_DELETE ? CALL_DELETE : CALL_POST,
        .profile = plan->profile,
        .accepts_json = plan->accepts_json,
        .accepts_sse = plan->accepts_sse,
        .user = STR(""),
    };
    return copy_present(&call->arena, plan->allowed_origin, &x->allowed_origin) &&
           copy_present(&call->arena, head->session_id, &call->in.session_id) &&
           copy_present(&call->arena, head->version, &call->in.version);
}

int exchange_begin(struct exchange *x, const struct http_head *head, const struct http_plan *plan)
{
    x->call = call_new(x->calls->core);
    if (!x->call || !fill_call(x, head, plan))
        return ERR_NO_MEMORY;
    x->is_chunked = plan->chunked;
    if (plan->chunked) {
        x->raw.limit = x->calls->body_limit;
        return 0;
    }
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
    return 1;
}

int exchange_body(struct exchange *x, struct str piece)
{
    uint32_t used;
    if (x->is_chunked) {
        int done = chunked_feed(&x->chunked, piece, &x->raw, &used);
        return done > 0 ? end_chunked(x) : done;
    }
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

void exchange_run(struct exchange *x)
{
    memset(x->body + x->body_n, 0, JSON_PADDING_BYTES);
    x->call->in.body = (struct str){x->body, (uint32_t)x->body_n};
    x->running = true;
    x->calls->n_running++;
    core_handle(x->calls->core, x->call);
}

void exchange_end(struct exchange *x)
{
    if (x->running) {
        x->call->orphaned = true;
        ((struct link *)x->call->transport)->exchange = NULL;
    } else if (x->call) {
        call_free(x->call);
    }
    buf_done(&x->raw);
    *x = (struct exchange){.calls = x->calls};
}
