/* core/batch.c - several messages in one array, which only revision 2025-03-26 has.
 *
 * Each member becomes a call of its own with the batch as its parent; its answer is appended to the
 * parent's array in the order in which answers come, and the last one sends it. What makes the
 * whole array unacceptable is found before any member runs.
 */
#include "base/err.h"
#include "core/dispatch.h"
#include "generated/types.h"

#include <string.h>

struct member {
    struct call *call;
    int read_err;
    struct wire_fault fault;
};

struct members {
    struct member *v;
    uint32_t n;
    uint32_t n_requests, n_answers; /* by kind */
};

static int refuse(struct call *call, int err, const char *why)
{
    return call_explain(call, err, str_of(why), STR_NONE);
}

static uint32_t count(struct str body)
{
    struct str rest = body, text;
    uint32_t n = 0;
    while (n <= BATCH_MAX && rpc_batch_next(&rest, &text) == 1)
        n++;
    return n;
}

static void member_answered(struct call *member);

static int read_member(struct call *batch, struct str text, struct member *ret)
{
    struct call *call = call_new(batch->core);
    if (!call)
        return ERR_NO_MEMORY;
    ret->call = call;
    call->arena.limit = batch->arena.limit;
    call->in = batch->in;
    call->batch = batch;
    call->finish = member_answered;
    char *copy = arena_zalloc(&call->arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    memcpy(copy, text.p, text.n);
    call->in.body = (struct str){copy, text.n};
    ret->read_err = rpc_read(call->in.body, &call->arena, &call->message, &ret->fault);
    if (ret->read_err == 0 && call->message.kind == RPC_BATCH)
        ret->read_err = ERR_REQUEST; /* an array in the array */
    return ret->read_err == ERR_NO_MEMORY ? ERR_NO_MEMORY : 0;
}

static void free_members(struct members *members)
{
    for (uint32_t i = 0; i < members->n; i++)
        call_free(members->v[i].call);
}

static bool is_read(const struct member *member)
{
    return member->read_err == 0 || member->read_err == ERR_PARAMS;
}

static void count_kind(struct members *members, const struct member *member)
{
    if (!is_read(member))
        return;
    enum rpc_kind kind = member->call->message.kind;
    members->n_requests += kind == RPC_REQUEST;
    members->n_answers += kind == RPC_RESULT || kind == RPC_ERROR;
}

static int read_members(struct call *call, struct members *ret)
{
    struct str rest = call->message.body, text;
    uint32_t n = count(call->message.body);
    if (n == 0)
        return refuse(call, ERR_REQUEST, "A batch must not be empty");
    if (n > BATCH_MAX)
        return call_explain(
            call, ERR_REQUEST,
            arena_printf(&call->arena, "A batch holds at most %d messages", BATCH_MAX), STR_NONE);
    ret->v = arena_zalloc(&call->arena, n * sizeof *ret->v);
    if (!ret->v)
        return ERR_NO_MEMORY;
    while (rpc_batch_next(&rest, &text) == 1) {
        struct member *member = &ret->v[ret->n++];
        int err = read_member(call, text, member);
        if (err < 0)
            return err;
        if (is_read(member) && dispatch_is_initialize(&member->call->message))
            return refuse(call, ERR_REQUEST, "initialize must not be part of a batch");
        count_kind(ret, member);
    }
    return 0;
}

static int check(struct core *core, struct call *call, struct members *members)
{
    int err = read_members(call, members);
    if (err == 0)
        err = dispatch_enter_session(core, call);
    if (err < 0)
        return err;
    if (call->session->revision != MCP_2025_03_26)
        return refuse(call, ERR_REQUEST, "Batches exist in protocol revision 2025-03-26 only");
    if (members->n_requests && members->n_answers)
        return refuse(call, ERR_REQUEST, "A batch must not mix requests and responses");
    return 0;
}

/* ---- Answering ------------------------------------------------------------------------------ */

static void finish(struct call *batch)
{
    struct buf *body = &batch->out.body;
    if (body->n == 0 && !body->failed) {
        call_accept(batch, 202);
        return;
    }
    buf_add_char(body, ']');
    if (body->failed) {
        call_fail(batch, ERR_NO_MEMORY, STR_NONE, STR_NONE);
        return;
    }
    batch->out.http_status = 200;
    call_leave(batch);
}

static void one_less(struct call *batch)
{
    if (--batch->n_waiting == 0)
        finish(batch);
}

/* An answer that does not fit any more is replaced by an error, which always fits. */
static void append(struct call *batch, struct call *member)
{
    struct buf *body = &batch->out.body;
    if (body->n + member->out.body.n > BATCH_BYTES_MAX) {
        buf_clear(&member->out.body);
        rpc_write_error(&member->out.body, member->message.id, err_rpc_code(ERR_LIMIT),
                        STR("The answers of the batch are too large together"), STR_NONE);
    }
    buf_add_char(body, body->n ? ',' : '[');
    buf_add_str(body, buf_str(&member->out.body));
}

static void member_answered(struct call *member)
{
    struct call *batch = member->batch;
    bool has_answer = member->out.body.n > 0;
    if (has_answer)
        append(batch, member);
    else if (member->message.kind == RPC_REQUEST)
        batch->out.body.failed = true; /* no memory for its answer */
    call_free(member);
    one_less(batch);
}

void batch_handle(struct core *core, struct call *call)
{
    struct members members = {0};
    int err = check(core, call, &members);
    if (err < 0) {
        free_members(&members);
        dispatch_fail(call, err);
        return;
    }
    call->n_waiting = members.n + 1; /* and this loop */
    for (uint32_t i = 0; i < members.n; i++) {
        struct member *member = &members.v[i];
        member->call->session = call->session;
        if (is_read(member))
            dispatch_message(core, member->call, member->read_err, &member->fault);
        else
            dispatch_fail_unread(member->call, member->read_err, &member->fault);
    }
    one_less(call);
}
