/* wire/rpc.c - the envelope, read by hand in one pass; see rpc.h.
 *
 * Whether a text is JSON at all is settled first: a misfit of the envelope is only noted while the
 * pass goes on to the end, so a broken text is always ERR_PARSE, without an id. Params are walked
 * for their _meta on the way, since every request may carry one whatever its table says.
 *
 * An error is answered under the id of the message, but not when the message looks like a response:
 * its id is one of ours, and the client would take the error for an answer to its own request.
 */
#include "wire/rpc.h"

#include "base/err.h"
#include "wire/json_interpret.h"
#include "wire/json_write.h"

#include <stdio.h>
#include <string.h>

enum member { JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR, N_MEMBERS };

#define BIT(member) (1u << (member))

struct envelope {
    struct scan scan;
    struct arena *arena;
    struct rpc_message *ret;
    struct wire_fault misfit; /* the first one; the scan's own faults are of syntax only */
    int err;                  /* of the misfit: 0, ERR_PARAMS, ERR_REQUEST, ERR_NO_MEMORY */
    unsigned seen;            /* BIT of each member */
    bool id_is_null;
};

/* Notes what is wrong at p, under `pointer`. A misfit of the envelope beats one of the params. */
COLD static void misfit(struct envelope *e, int err, const char *p, enum wire_reason reason,
                        const char *pointer, const char *expected)
{
    struct wire_fault *before = e->scan.fault;
    if (e->err && !(e->err == ERR_PARAMS && err != ERR_PARAMS))
        return;
    e->err = err;
    e->scan.fault = &e->misfit;
    scan_fail(&e->scan, p, reason, expected);
    strncat(e->misfit.pointer, pointer, sizeof e->misfit.pointer - 1);
    e->scan.fault = before;
}

static struct str span(const char *p, const char *end)
{
    return (struct str){p, (uint32_t)(end - p)};
}

/* A string or an integer, as ids and progress tokens are. */
static bool is_token(const char *p, const char *end)
{
    return *p == '"' || (scan_type(p) == WIRE_T_NUMBER && scan_is_integer(p, end));
}

/* ---- params and their _meta ----------------------------------------------------------------- */

typedef const char *(*value_fn)(struct envelope *e, struct str key, bool escaped, const char *p);

/* Walks the members of the object at p; `read` is handed each value and returns its end. */
static const char *walk(struct envelope *e, const char *p, value_fn read)
{
    if (!scan_enter(&e->scan, p))
        return NULL;
    p = scan_blanks(p + 1);
    if (*p != '}')
        for (;; p++) {
            const char *key, *key_end;
            bool escaped;
            p = scan_key(&e->scan, scan_blanks(p), &key, &key_end, &escaped);
            if (p)
                p = read(e, span(key, key_end), escaped, p);
            if (!p)
                return NULL;
            p = scan_blanks(p);
            if (*p != ',')
                break;
        }
    if (*p != '}')
        return scan_fail(&e->scan, p, WIRE_SYNTAX, "',' or '}'");
    e->scan.depth--;
    return p + 1;
}

static inline bool is_key(struct str key, bool escaped, struct str want)
{
    if (escaped)
        return scan_string_is(key.p, key.p + key.n, want);
    return key.n == want.n && memcmp(key.p, want.p, want.n) == 0;
}

static const char *read_meta_member(struct envelope *e, struct str key, bool escaped, const char *p)
{
    static const char pointer[] = "/params/_meta/progressToken";
    const char *end = scan_value(&e->scan, p);
    if (!end || !is_key(key, escaped, STR("progressToken")))
        return end;
    if (e->ret->progress_token.p)
        misfit(e, ERR_PARAMS, p, WIRE_DUPLICATE, pointer, "one member of this name");
    else if (!is_token(p, end))
        misfit(e, ERR_PARAMS, p, WIRE_TYPE, pointer, "integer|string");
    else
        e->ret->progress_token = span(p, end);
    return end;
}

/* So that rpc_parse_params need not go through it again. */
static const char *remember(struct envelope *e, const char *p, const char *end)
{
    struct rpc_message *m = e->ret;
    if (end && (*p == '{' || *p == '[') && m->n_known < RPC_KNOWN_MAX)
        m->known[m->n_known++] = span(p, end);
    return end;
}

static const char *read_params_member(struct envelope *e, struct str key, bool escaped,
                                      const char *p)
{
    if (!is_key(key, escaped, STR("_meta")))
        return remember(e, p, scan_value(&e->scan, p));
    if (e->ret->meta.p)
        misfit(e, ERR_PARAMS, p, WIRE_DUPLICATE, "/params/_meta", "one member of this name");
    if (*p != '{') {
        misfit(e, ERR_PARAMS, p, WIRE_TYPE, "/params/_meta", "object");
        return scan_value(&e->scan, p);
    }
    const char *end = walk(e, p, read_meta_member);
    if (end)
        e->ret->meta = span(p, end);
    return remember(e, p, end);
}

/* ---- the members of a message --------------------------------------------------------------- */

static const char *read_jsonrpc(struct envelope *e, const char *p)
{
    const char *end = scan_value(&e->scan, p);
    if (end && (*p != '"' || !scan_string_is(p + 1, end - 1, STR("2.0"))))
        misfit(e, ERR_REQUEST, p, WIRE_CHOICE, "/jsonrpc", "2.0");
    return end;
}

static const char *read_id(struct envelope *e, const char *p)
{
    const char *end = scan_value(&e->scan, p);
    if (!end)
        return NULL;
    e->id_is_null = *p == 'n';
    if (e->id_is_null)
        return end; /* allowed in an error, so judged at the end */
    if (!is_token(p, end))
        misfit(e, ERR_REQUEST, p, WIRE_TYPE, "/id", "integer|string");
    else if (end - p > RPC_ID_BYTES)
        misfit(e, ERR_REQUEST, p, WIRE_RANGE, "/id", "a shorter id");
    else
        e->ret->id = span(p, end);
    return end;
}

static const char *read_method(struct envelope *e, const char *p)
{
    bool escaped;
    if (*p != '"') {
        misfit(e, ERR_REQUEST, p, WIRE_TYPE, "/method", "string");
        return scan_value(&e->scan, p);
    }
    const char *end = scan_string_apart(&e->scan, p + 1, &escaped);
    if (!end)
        return NULL;
    e->ret->method = span(p + 1, end);
    if (escaped && wire_decode_string(span(p, end + 1), e->arena, &e->ret->method) != 0)
        misfit(e, ERR_NO_MEMORY, p, WIRE_MEMORY, "/method", "");
    return end + 1;
}

static const char *read_params(struct envelope *e, const char *p)
{
    if (*p != '{') {
        if (*p != 'n') /* null reads as absent */
            misfit(e, ERR_REQUEST, p, WIRE_TYPE, "/params", "object");
        return scan_value(&e->scan, p);
    }
    const char *end = walk(e, p, read_params_member);
    if (end)
        e->ret->params = span(p, end);
    return end;
}

static const char *read_payload(struct envelope *e, const char *p, const char *pointer)
{
    const char *end = scan_value(&e->scan, p);
    if (!end)
        return NULL;
    if (*p != '{')
        misfit(e, ERR_REQUEST, p, WIRE_TYPE, pointer, "object");
    e->ret->payload = span(p, end);
    return end;
}

static const char *read_result(struct envelope *e, const char *p)
{
    return read_payload(e, p, "/result");
}

static const char *read_error(struct envelope *e, const char *p)
{
    return read_payload(e, p, "/error");
}

/* Every name fits into one word, zeros behind. */
static const struct {
    char name[8];
    const char *pointer;
    const char *(*read)(struct envelope *e, const char *p);
} members[N_MEMBERS] = {
    [JSONRPC] = {"jsonrpc", "/jsonrpc", read_jsonrpc},
    [ID] = {"id", "/id", read_id},
    [METHOD] = {"method", "/method", read_method},
    [PARAMS] = {"params", "/params", read_params},
    [RESULT] = {"result", "/result", read_result},
    [ERROR] = {"error", "/error", read_error},
};

/* The decoded key as a word; 0 if it is longer than one, or holds a zero itself. */
static uint64_t word_of(struct str key, bool escaped)
{
    char decoded[6 * sizeof(uint64_t)] = {0};
    uint64_t word;
    if (escaped && key.n <= sizeof decoded) {
        key = (struct str){decoded, scan_decode(key.p, key.p + key.n, decoded)};
        if (memchr(decoded, 0, key.n))
            return 0;
    }
    if (key.n == 0 || key.n >= sizeof word)
        return 0;
    memcpy(&word, key.p, sizeof word); /* the text goes on behind the key */
    return word & UINT64_MAX >> (64 - 8 * key.n);
}

static const char *read_member(struct envelope *e, struct str key, bool escaped, const char *p)
{
    uint64_t name, word = word_of(key, escaped);
    for (unsigned i = 0; i < N_MEMBERS; i++) {
        memcpy(&name, members[i].name, sizeof name);
        if (word != name)
            continue;
        if (e->seen & BIT(i))
            misfit(e, ERR_REQUEST, p, WIRE_DUPLICATE, members[i].pointer,
                   "one member of this name");
        e->seen |= BIT(i);
        return members[i].read(e, p);
    }
    return scan_value(&e->scan, p);
}

/* ---- what it all makes ---------------------------------------------------------------------- */

static void judge_call(struct envelope *e)
{
    e->ret->kind = e->seen & BIT(ID) ? RPC_REQUEST : RPC_NOTIFICATION;
    if (e->seen & (BIT(RESULT) | BIT(ERROR)))
        misfit(e, ERR_REQUEST, e->scan.start, WIRE_VARIANT, "", "method, result or error");
    if (e->id_is_null)
        misfit(e, ERR_REQUEST, e->scan.start, WIRE_TYPE, "/id", "integer|string");
}

static void judge_response(struct envelope *e)
{
    e->ret->kind = e->seen & BIT(ERROR) ? RPC_ERROR : RPC_RESULT;
    e->ret->params = e->ret->meta = e->ret->progress_token = STR_NONE;
    if (e->err == ERR_PARAMS)
        e->err = 0; /* a response has no params; whatever stands there is an unknown member */
    if (!(e->seen & BIT(ERROR)) == !(e->seen & BIT(RESULT)))
        misfit(e, ERR_REQUEST, e->scan.start, WIRE_VARIANT, "", "method, result or error");
    if (e->ret->kind == RPC_RESULT && !e->ret->id.p)
        misfit(e, ERR_REQUEST, e->scan.start, WIRE_REQUIRED, "/id", "integer|string");
}

static void judge(struct envelope *e)
{
    if (!(e->seen & BIT(JSONRPC)))
        misfit(e, ERR_REQUEST, e->scan.start, WIRE_REQUIRED, "/jsonrpc", "2.0");
    if (e->seen & BIT(METHOD))
        judge_call(e);
    else
        judge_response(e);
}

/* May an error be sent under the id of this message? See the head of the file. */
static bool is_id_ours_to_answer(const struct envelope *e)
{
    bool twice = e->misfit.reason == WIRE_DUPLICATE && strcmp(e->misfit.pointer, "/id") == 0;
    return !twice && (e->seen & BIT(METHOD) || !(e->seen & (BIT(RESULT) | BIT(ERROR))));
}

static const char *read_top(struct envelope *e, const char *p)
{
    if (*p == '{') {
        p = walk(e, p, read_member);
        if (p)
            judge(e);
        return p;
    }
    const char *end = scan_value(&e->scan, p);
    if (!end)
        return NULL;
    if (*p != '[')
        misfit(e, ERR_REQUEST, p, WIRE_TYPE, "", "object");
    else if (*scan_blanks(p + 1) == ']')
        misfit(e, ERR_REQUEST, p, WIRE_VARIANT, "", "at least one message");
    else
        e->ret->body = span(p, end);
    e->ret->kind = RPC_BATCH;
    return end;
}

static void clear(struct rpc_message *m, struct str text)
{
    memset(m, 0, offsetof(struct rpc_message, known));
    m->body = text;
}

int rpc_read(struct str text, struct arena *arena, struct rpc_message *ret,
             struct wire_fault *fault)
{
    struct wire_fault spare;
    struct envelope e; /* large, and most of it is only for faults */
    e.arena = arena;
    e.ret = ret;
    e.err = 0;
    e.seen = 0;
    e.id_is_null = false;
    e.scan.n_known = 0;
    clear(ret, text);
    const char *p = scan_begin(&e.scan, text, fault, &spare);
    p = p ? read_top(&e, p) : NULL;
    if (!p || !scan_finish(&e.scan, p)) {
        clear(ret, text);
        return scan_error(e.scan.fault);
    }
    if (e.err == 0)
        return 0;
    *e.scan.fault = e.misfit;
    if (e.err == ERR_REQUEST && !is_id_ours_to_answer(&e))
        ret->id = STR_NONE;
    return e.err;
}

int rpc_parse_params(const struct wire_type *type, const struct rpc_message *message,
                     struct arena *arena, void *ret, struct wire_fault *fault)
{
    static const char none[2 + JSON_PADDING_BYTES] = "{}";
    struct str text = message->params.p ? message->params : (struct str){none, 2};
    return wire_parse_known(type, text, message->known, message->n_known, arena, ret, fault);
}

int rpc_batch_next(struct str *rest, struct str *ret)
{
    struct wire_fault fault;
    struct scan s = {.start = rest->p, .end = rest->p + rest->n, .fault = &fault};
    const char *p = rest->n ? scan_blanks(rest->p) : NULL;
    if (!p || (*p != '[' && *p != ','))
        return 0;
    p = scan_blanks(p + 1);
    const char *end = *p == ']' ? NULL : scan_value(&s, p);
    if (!end)
        return 0;
    *ret = span(p, end);
    *rest = span(end, s.end);
    return 1;
}

/* ---- writers -------------------------------------------------------------------------------- */

static void open_message(struct buf *out, struct str id)
{
    buf_add_lit(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_str(out, id.p ? id : STR("null"));
}

void rpc_open_result(struct buf *out, struct str id)
{
    open_message(out, id);
    buf_add_lit(out, ",\"result\":");
}

void rpc_open_call(struct buf *out, struct str id, const char *method)
{
    buf_add_lit(out, "{\"jsonrpc\":\"2.0\",");
    if (id.p) {
        buf_add_lit(out, "\"id\":");
        buf_add_str(out, id);
        buf_add_char(out, ',');
    }
    buf_add_lit(out, "\"method\":\"");
    buf_add_str(out, str_of(method));
    buf_add_lit(out, "\",\"params\":");
}

void rpc_close(struct buf *out)
{
    buf_add_char(out, '}');
}

void rpc_write_result(struct buf *out, struct str id, struct str result_json)
{
    rpc_open_result(out, id);
    buf_add_str(out, result_json);
    rpc_close(out);
}

void rpc_write_error(struct buf *out, struct str id, int code, struct str message,
                     struct str data_json)
{
    open_message(out, id);
    buf_add_lit(out, ",\"error\":{\"code\":");
    buf_add_i64(out, code);
    buf_add_lit(out, ",\"message\":");
    json_write_str(out, message);
    if (data_json.p) {
        buf_add_lit(out, ",\"data\":");
        buf_add_str(out, data_json);
    }
    buf_add_lit(out, "}}");
}

void rpc_write_fault(struct buf *out, const char *prefix, const struct wire_fault *fault)
{
    char pointer[2 * JSON_POINTER_BYTES];
    snprintf(pointer, sizeof pointer, "%.*s%s", JSON_POINTER_BYTES - 1, prefix, fault->pointer);
    buf_add_lit(out, "{\"pointer\":");
    json_write_str(out, str_of(pointer));
    buf_add_lit(out, ",\"reason\":");
    json_write_str(out, str_of(wire_reason_name(fault->reason)));
    buf_add_lit(out, ",\"expected\":");
    json_write_str(out, str_of(fault->expected));
    buf_add_lit(out, ",\"offset\":");
    buf_add_u64(out, fault->offset);
    buf_add_char(out, '}');
}
