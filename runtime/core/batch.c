/* core/batch.c - several messages in one array, which only revision 2025-03-26 has.
 *
 * Each member becomes a call of its own with the batch as its parent; its answer is appended to the
 * parent's array in the order in which answers come, and the last one sends it. What makes the
 * whole array unacceptable is found before any member runs.
 *
 * Members run in loop turns of their own, a few cheap ones in one: all batches of a worker together
 * take BATCH_TURN_MS of a turn, and one member more. The batches go round; within one the order is
 * that of the array. A batch whose client went away runs to its end, since members may write.
 */
#include "base/clock.h"
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

/* In the arena of its call. */
struct batch {
    struct call *call;
    struct members members;
    uint32_t n_begun;
    struct batch *next;
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
    access_ref(call->in.access);
    call->began_us = batch->began_us;
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
    else if (member->message.kind == RPC_REQUEST && !call_is_cancelled(member))
        batch->out.body.failed = true; /* no memory for its answer */
    call_free(member);
    one_less(batch);
}

/* ---- Turns ---------------------------------------------------------------------------------- */

static void turn(struct loop_post *post);

void batches_init(struct batches *batches)
{
    *batches = (struct batches){.post = {.fn = turn}};
    batches->last = &batches->first;
}

static void append_batch(struct batches *batches, struct batch *batch)
{
    batch->next = NULL;
    *batches->last = batch;
    batches->last = &batch->next;
}

static struct batch *take_first(struct batches *batches)
{
    struct batch *batch = batches->first;
    batches->first = batch->next;
    if (!batches->first)
        batches->last = &batches->first;
    return batch;
}

static void ask_for_turn(struct core *core)
{
    struct batches *batches = &core->batches;
    if (batches->posted || !batches->first)
        return;
    batches->posted = true;
    loop_post(core->loop, &batches->post);
}

static void begin_next(struct batch *batch)
{
    struct call *call = batch->call;
    struct member *member = &batch->members.v[batch->n_begun++];
    member->call->session = call->session;
    if (is_read(member))
        dispatch_message(call->core, member->call, member->read_err, &member->fault);
    else
        dispatch_fail_unread(member->call, member->read_err, &member->fault);
}

static bool has_more(const struct batch *batch)
{
    return batch->n_begun < batch->members.n;
}

static void turn(struct loop_post *post)
{
    struct batches *batches = (struct batches *)post; /* its first member */
    struct batch *batch = take_first(batches);
    struct core *core = batch->call->core;
    int64_t until_ms = clock_mono_ms() + BATCH_TURN_MS;
    batches->posted = false;
    do
        begin_next(batch);
    while (has_more(batch) && clock_mono_ms() < until_ms);
    if (has_more(batch))
        append_batch(batches, batch);
    else
        one_less(batch->call); /* may be the end of it */
    ask_for_turn(core);
}

static int make(struct core *core, struct call *call, struct batch **ret)
{
    struct batch *batch = arena_zalloc(&call->arena, sizeof *batch);
    if (!batch)
        return ERR_NO_MEMORY;
    batch->call = call;
    int err = check(core, call, &batch->members);
    if (err < 0)
        free_members(&batch->members);
    else
        *ret = batch;
    return err;
}

void batch_handle(struct core *core, struct call *call)
{
    struct batch *batch;
    int err = make(core, call, &batch);
    if (err < 0) {
        dispatch_fail(call, err);
        return;
    }
    call->n_waiting = batch->members.n + 1; /* and the turns */
    append_batch(&core->batches, batch);
    ask_for_turn(core);
}
