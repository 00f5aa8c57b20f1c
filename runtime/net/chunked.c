/* net/chunked.c - see chunked.h. One function per kind of state; data is copied in runs. */
#include "net/chunked.h"

#include "base/err.h"

#define SIZE_DIGITS_MAX 15

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static enum chunked_state after_size(struct chunked *c, char ch)
{
    if (ch == '\r')
        return CHUNKED_SIZE_LF;
    if (ch == ';' || ch == ' ' || ch == '\t')
        return CHUNKED_EXTENSION;
    int digit = hex_value(ch);
    if (digit < 0 || ++c->digits > SIZE_DIGITS_MAX)
        return CHUNKED_BAD;
    c->left = c->left * 16 + (uint64_t)digit;
    return CHUNKED_SIZE;
}

static enum chunked_state size_begins(struct chunked *c, char ch)
{
    c->left = 0;
    c->digits = 0;
    return hex_value(ch) < 0 ? CHUNKED_BAD : after_size(c, ch);
}

/* Text that is skipped until its line ends. */
static enum chunked_state skipped(struct chunked *c, char ch, enum chunked_state at_end)
{
    if (ch == '\r')
        return at_end;
    if (ch == '\n' || ++c->extra > CHUNKED_EXTRA_BYTES)
        return CHUNKED_BAD;
    return c->state;
}

static enum chunked_state expect(char ch, char wanted, enum chunked_state next)
{
    return ch == wanted ? next : CHUNKED_BAD;
}

static enum chunked_state trailer_begins(struct chunked *c, char ch)
{
    if (ch == '\r')
        return CHUNKED_END_LF;
    return ch == '\n' || ++c->extra > CHUNKED_EXTRA_BYTES ? CHUNKED_BAD : CHUNKED_TRAILER_TEXT;
}

static enum chunked_state next_state(struct chunked *c, char ch)
{
    switch (c->state) {
    case CHUNKED_SIZE_FIRST:
        return size_begins(c, ch);
    case CHUNKED_SIZE:
        return after_size(c, ch);
    case CHUNKED_EXTENSION:
        return skipped(c, ch, CHUNKED_SIZE_LF);
    case CHUNKED_SIZE_LF:
        return expect(ch, '\n', c->left ? CHUNKED_DATA : CHUNKED_TRAILER);
    case CHUNKED_DATA_CR:
        return expect(ch, '\r', CHUNKED_DATA_LF);
    case CHUNKED_DATA_LF:
        return expect(ch, '\n', CHUNKED_SIZE_FIRST);
    case CHUNKED_TRAILER:
        return trailer_begins(c, ch);
    case CHUNKED_TRAILER_TEXT:
        return skipped(c, ch, CHUNKED_TRAILER_LF);
    case CHUNKED_TRAILER_LF:
        return expect(ch, '\n', CHUNKED_TRAILER);
    case CHUNKED_END_LF:
        return expect(ch, '\n', CHUNKED_DONE);
    default:
        return CHUNKED_BAD;
    }
}

static uint32_t take_data(struct chunked *c, struct str rest, struct buf *body)
{
    uint32_t n = rest.n < c->left ? rest.n : (uint32_t)c->left;
    buf_add(body, rest.p, n);
    c->left -= n;
    if (!c->left)
        c->state = CHUNKED_DATA_CR;
    return n;
}

int chunked_feed(struct chunked *c, struct str in, struct buf *body, uint32_t *ret_used)
{
    uint32_t at = 0;
    while (at < in.n && c->state != CHUNKED_DONE && c->state != CHUNKED_BAD) {
        if (c->state == CHUNKED_DATA) {
            at += take_data(c, (struct str){in.p + at, in.n - at}, body);
            continue;
        }
        c->state = next_state(c, in.p[at++]);
        /* refuse what cannot fit before it comes */
        if (c->state == CHUNKED_DATA && body->limit && c->left > body->limit - body->n)
            body->failed = true;
        if (body->failed)
            break;
    }
    if (body->failed) {
        c->state = CHUNKED_BAD;
        return ERR_TOO_LARGE;
    }
    if (c->state == CHUNKED_BAD)
        return ERR_BAD_FRAMING;
    if (c->state != CHUNKED_DONE)
        return 0;
    *ret_used = at;
    return 1;
}
