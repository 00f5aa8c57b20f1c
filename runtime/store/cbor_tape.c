/* store/cbor_tape.c - see cbor_tape.h. */
#include "store/cbor_tape.h"

#include "base/err.h"

#include <cbor.h>
#include <math.h>
#include <string.h>

/* ---- Writing -------------------------------------------------------------------------------- */

#define HEAD_BYTES 9 /* the longest initial byte with its argument */

typedef size_t (*encode_head_fn)(size_t n, unsigned char *out, size_t size);

static void write_head(encode_head_fn encode, size_t n, struct buf *out)
{
    if (buf_reserve(out, HEAD_BYTES))
        out->n += encode(n, (unsigned char *)out->p + out->n, HEAD_BYTES);
}

void cbor_write_array(uint32_t n, struct buf *out)
{
    write_head(cbor_encode_array_start, n, out);
}

void cbor_write_str(struct str s, struct buf *out)
{
    write_head(cbor_encode_string_start, s.n, out);
    buf_add_str(out, s);
}

void cbor_write_bytes(struct str s, struct buf *out)
{
    write_head(cbor_encode_bytestring_start, s.n, out);
    buf_add_str(out, s);
}

void cbor_write_int(int64_t v, struct buf *out)
{
    if (!buf_reserve(out, HEAD_BYTES))
        return;
    unsigned char *at = (unsigned char *)out->p + out->n;
    out->n += v < 0 ? cbor_encode_negint(~(uint64_t)v, at, HEAD_BYTES)
                    : cbor_encode_uint((uint64_t)v, at, HEAD_BYTES);
}

static void write_num(double v, struct buf *out)
{
    if (buf_reserve(out, HEAD_BYTES))
        out->n += cbor_encode_double(v, (unsigned char *)out->p + out->n, HEAD_BYTES);
}

static void write_null(struct buf *out)
{
    if (buf_reserve(out, HEAD_BYTES))
        out->n += cbor_encode_null((unsigned char *)out->p + out->n, HEAD_BYTES);
}

static void write_bool(bool v, struct buf *out)
{
    if (buf_reserve(out, HEAD_BYTES))
        out->n += cbor_encode_bool(v, (unsigned char *)out->p + out->n, HEAD_BYTES);
}

static void write_node(const struct tape_node *node, struct buf *out)
{
    switch ((enum tape_kind)node->kind) {
    case TAPE_NULL:
        write_null(out);
        break;
    case TAPE_FALSE:
    case TAPE_TRUE:
        write_bool(node->kind == TAPE_TRUE, out);
        break;
    case TAPE_INT:
        cbor_write_int(node->v.i, out);
        break;
    case TAPE_NUM:
        write_num(node->v.d, out);
        break;
    case TAPE_STR:
        cbor_write_str((struct str){node->v.s, node->n}, out);
        break;
    case TAPE_ARRAY:
        cbor_write_array(node->n, out);
        break;
    case TAPE_OBJECT:
        write_head(cbor_encode_map_start, node->n, out);
        break;
    }
}

void cbor_write_tape(const struct tape_node *node, struct buf *out)
{
    uint32_t n = node->kind >= TAPE_ARRAY ? node->v.size : 1;
    for (uint32_t i = 0; i < n; i++)
        write_node(node + i, out);
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct level {
    uint32_t node; /* of the container */
    uint32_t left; /* values and names still to come */
};

struct reader {
    struct tape_node *nodes;
    uint32_t n, cap;
    uint32_t depth;
    size_t bytes_left; /* the item being decoded included */
    int err;
    struct level levels[CBOR_DEPTH_MAX];
};

/* The bytes of the next item's head and, of a string, its text. 0: the decoder will not take it. */
static uint64_t item_bytes(struct str in)
{
    const unsigned char *at = (const unsigned char *)in.p;
    unsigned major = at[0] >> 5, info = at[0] & 31;
    uint32_t n_argument = info < 24 ? 0 : info < 28 ? 1u << (info - 24) : in.n;
    uint64_t argument = info;
    if (n_argument >= in.n)
        return 0;
    if (n_argument)
        argument = 0;
    for (uint32_t i = 1; i <= n_argument; i++)
        argument = argument << 8 | at[i];
    bool has_text = major == 2 || major == 3;
    if (has_text && argument > in.n - 1 - n_argument)
        return 0;
    return 1 + n_argument + (has_text ? argument : 0);
}

/* Each item is a node. Counting first costs up to a fifth of decoding; an array that grew took ten
 * times as long as decoding a large row, in fresh memory for each. */
static uint32_t count_items(struct str in)
{
    uint32_t n = 0;
    for (uint64_t bytes; in.n && (bytes = item_bytes(in)); n++) {
        in.p += bytes;
        in.n -= (uint32_t)bytes;
    }
    return n;
}

/* Is the next item the name of a member? */
static bool is_name(const struct reader *r)
{
    if (r->depth == 0)
        return false;
    const struct level *top = &r->levels[r->depth - 1];
    return r->nodes[top->node].kind == TAPE_OBJECT && top->left % 2 == 0;
}

/* Leaves the containers that are full. */
static void close_full(struct reader *r)
{
    while (r->depth && r->levels[r->depth - 1].left == 0) {
        struct tape_node *container = &r->nodes[r->levels[--r->depth].node];
        container->v.size = r->n - (uint32_t)(container - r->nodes);
    }
}

static void add(struct reader *r, struct tape_node node)
{
    if (r->err)
        return;
    if (r->n == r->cap || (is_name(r) && node.kind != TAPE_STR)) {
        r->err = ERR_STORE_DAMAGED;
        return;
    }
    if (r->depth)
        r->levels[r->depth - 1].left--;
    r->nodes[r->n++] = node;
    if (node.kind < TAPE_ARRAY)
        close_full(r);
}

static void open_container(struct reader *r, enum tape_kind kind, uint64_t n)
{
    uint64_t items = kind == TAPE_OBJECT ? n * 2 : n;
    if (n > r->bytes_left || items >= r->bytes_left || r->depth == CBOR_DEPTH_MAX) {
        r->err = r->err ? r->err : ERR_STORE_DAMAGED;
        return;
    }
    add(r, (struct tape_node){.kind = (uint8_t)kind, .n = (uint32_t)n});
    if (r->err)
        return;
    r->levels[r->depth++] = (struct level){.node = r->n - 1, .left = (uint32_t)items};
    close_full(r);
}

static void on_array(void *ctx, size_t n)
{
    open_container(ctx, TAPE_ARRAY, n);
}

static void on_map(void *ctx, size_t n)
{
    open_container(ctx, TAPE_OBJECT, n);
}

static void on_string(void *ctx, cbor_data s, size_t n)
{
    add(ctx, (struct tape_node){.kind = TAPE_STR, .n = (uint32_t)n, .v.s = (const char *)s});
}

static void refuse(struct reader *r)
{
    r->err = r->err ? r->err : ERR_STORE_DAMAGED;
}

static void on_uint64(void *ctx, uint64_t v)
{
    if (v > INT64_MAX)
        refuse(ctx);
    else
        add(ctx, (struct tape_node){.kind = TAPE_INT, .v.i = (int64_t)v});
}

static void on_negint64(void *ctx, uint64_t v)
{
    if (v > INT64_MAX)
        refuse(ctx);
    else
        add(ctx, (struct tape_node){.kind = TAPE_INT, .v.i = -1 - (int64_t)v});
}

#define ON_SHORT(bits)                                       \
    static void on_uint##bits(void *ctx, uint##bits##_t v)   \
    {                                                        \
        on_uint64(ctx, v);                                   \
    }                                                        \
    static void on_negint##bits(void *ctx, uint##bits##_t v) \
    {                                                        \
        on_negint64(ctx, v);                                 \
    }
ON_SHORT(8)
ON_SHORT(16)
ON_SHORT(32)

static void on_double(void *ctx, double v)
{
    if (isfinite(v))
        add(ctx, (struct tape_node){.kind = TAPE_NUM, .v.d = v});
    else
        refuse(ctx);
}

static void on_null(void *ctx)
{
    add(ctx, (struct tape_node){.kind = TAPE_NULL});
}

static void on_bool(void *ctx, bool v)
{
    add(ctx, (struct tape_node){.kind = v ? TAPE_TRUE : TAPE_FALSE});
}

static void on_foreign(void *ctx)
{
    refuse(ctx);
}

static void on_tag(void *ctx, uint64_t tag)
{
    (void)tag;
    refuse(ctx);
}

static void on_foreign_float(void *ctx, float v)
{
    (void)v;
    refuse(ctx);
}

static const struct cbor_callbacks callbacks = {
    .uint8 = on_uint8,
    .uint16 = on_uint16,
    .uint32 = on_uint32,
    .uint64 = on_uint64,
    .negint8 = on_negint8,
    .negint16 = on_negint16,
    .negint32 = on_negint32,
    .negint64 = on_negint64,
    .byte_string = on_string,
    .byte_string_start = on_foreign,
    .string = on_string,
    .string_start = on_foreign,
    .array_start = on_array,
    .indef_array_start = on_foreign,
    .map_start = on_map,
    .indef_map_start = on_foreign,
    .tag = on_tag,
    .float2 = on_foreign_float,
    .float4 = on_foreign_float,
    .float8 = on_double,
    .null = on_null,
    .undefined = on_foreign,
    .boolean = on_bool,
    .indef_break = on_foreign,
};

static int read_item(struct reader *r, struct str *in)
{
    r->bytes_left = in->n;
    struct cbor_decoder_result step =
        cbor_stream_decode((const unsigned char *)in->p, in->n, &callbacks, r);
    if (step.status != CBOR_DECODER_FINISHED)
        refuse(r);
    in->p += step.read;
    in->n -= (uint32_t)step.read;
    return r->err;
}

int cbor_read_tape(struct str in, struct arena *arena, const struct tape_node **ret)
{
    uint32_t n = count_items(in);
    struct reader r = {.nodes = arena_array(arena, n, sizeof *r.nodes), .cap = n};
    int err;
    if (!r.nodes)
        return n ? ERR_NO_MEMORY : ERR_STORE_DAMAGED;
    do {
        err = read_item(&r, &in);
    } while (!err && r.depth);
    if (!err && in.n)
        err = ERR_STORE_DAMAGED;
    if (!err)
        *ret = r.nodes;
    return err;
}

int cbor_read_front(struct str in, uint32_t n, struct tape_node *ret)
{
    struct reader r = {.nodes = ret, .cap = n};
    int err = 0;
    do {
        err = read_item(&r, &in);
    } while (!err && r.depth && r.n < n);
    return err ? err : r.n < n ? ERR_STORE_DAMAGED : 0;
}
