/* tests/unit/test_event_stream.c - the framing of events, read back by a parser of the standard. */
#include "base/limits.h"
#include "net/event_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a client makes of the bytes ---------------------------------------------------------
 * First the chunks (RFC 9112 section 7.1), then the lines (WHATWG HTML section 9.2.6): CR, LF and
 * CRLF end a line; an event is dispatched by an empty one, with its data lines joined by LF. */

/* The body without its framing. Fails on anything that is not a chunk; `over`: the last one came.
 */
static void unchunk(struct str wire, struct buf *body, bool *over)
{
    *over = false;
    while (wire.n) {
        char *end;
        unsigned long n = strtoul(wire.p, &end, 16);
        size_t digits = (size_t)(end - wire.p);
        assert_true(digits > 0 && digits <= 8 && !*over);
        assert_memory_equal(end, "\r\n", 2);
        assert_true(digits + 2 + n + 2 <= wire.n);
        buf_add(body, end + 2, n);
        assert_memory_equal(end + 2 + n, "\r\n", 2);
        *over = n == 0;
        wire.p += digits + 2 + n + 2;
        wire.n -= (uint32_t)(digits + 2 + n + 2);
    }
}

struct parsed {
    unsigned n_events, n_comments;
    struct buf id, data; /* of the last event */
};

static void take_field(struct parsed *p, struct str line, struct buf *data)
{
    struct str value = line, name = str_cut(&value, ':');
    if (!name.n) {
        p->n_comments++;
        return;
    }
    if (value.n && value.p[0] == ' ')
        value.p++, value.n--;
    if (str_eq(name, STR("data"))) {
        buf_add_str(data, value);
        buf_add_char(data, '\n');
    } else {
        assert_true(str_eq(name, STR("id")));
        buf_clear(&p->id);
        buf_add_str(&p->id, value);
    }
}

static void dispatch(struct parsed *p, struct buf *data)
{
    if (!data->n)
        return;
    p->n_events++;
    buf_clear(&p->data);
    buf_add(&p->data, data->p, data->n - 1);
    buf_clear(data);
}

/* Whole events only: there is nothing behind the last empty line. */
static void parse(struct str body, struct parsed *p)
{
    struct buf data = {0};
    while (body.n) {
        uint32_t n = 0;
        while (n < body.n && body.p[n] != '\r' && body.p[n] != '\n')
            n++;
        assert_true(n < body.n);
        if (n)
            take_field(p, (struct str){body.p, n}, &data);
        else
            dispatch(p, &data);
        n += body.p[n] == '\r' && n + 1 < body.n && body.p[n + 1] == '\n' ? 2 : 1;
        body.p += n;
        body.n -= n;
    }
    assert_int_equal(data.n, 0);
    buf_done(&data);
}

static void parsed_done(struct parsed *p)
{
    buf_done(&p->id);
    buf_done(&p->data);
}

/* Takes all, in pieces of at most so many bytes. */
static void take_all(struct event_stream *s, size_t most, struct buf *wire)
{
    while (event_stream_unsent(s)) {
        struct str piece = event_stream_next(s, most);
        assert_true(piece.n > 0 && piece.n <= most);
        buf_add_str(wire, piece);
        event_stream_take(s, piece.n);
    }
    buf_add_char(wire, 0);
    wire->n--;
}

/* ---- Events -----------------------------------------------------------------------------------*/

static void T_27_events_as_they_stand(void **state)
{
    (void)state;
    struct event_stream s = {0};
    struct buf wire = {0};
    event_stream_add_comment(&s);
    assert_true(event_stream_add(&s, STR("00000000000000ff.1"), STR("{\"a\":1}")));
    assert_true(event_stream_add(&s, STR_NONE, STR("2")));
    event_stream_add_end(&s);
    take_all(&s, 1000, &wire);
    assert_string_equal(wire.p, ":\n\nid: 00000000000000ff.1\ndata: {\"a\":1}\n\ndata: 2\n\n");
    buf_done(&wire);
}

static void chunks_as_they_stand(void **state)
{
    (void)state;
    struct event_stream s = {.is_chunked = true};
    struct buf wire = {0};
    event_stream_add_head(&s, STR("HEAD\r\n\r\n"));
    event_stream_add_comment(&s);
    event_stream_add(&s, STR("i"), STR("0123456789"));
    event_stream_add_end(&s);
    take_all(&s, 7, &wire);
    assert_string_equal(wire.p,
                        "HEAD\r\n\r\n3\r\n:\n\n\r\n18\r\nid: i\ndata: 0123456789\n\n\r\n0\r\n\r\n");
    buf_done(&wire);
}

/* However it is written, a message is one line of data and parses to the same JSON. */
static void T_27_line_ends_in_a_message(void **state)
{
    (void)state;
    static const char *const messages[][2] = {
        {"{\r\n  \"a\": 1\n}\r", "{    \"a\": 1 } "},
        {"\n", " "},
        {"1\r", "1 "},
        {"\r\n\r\n[]", "    []"},
        {"[\"\\n\"]", "[\"\\n\"]"},
        {": data", ": data"},
        {"\xe2\x80\xa8", "\xe2\x80\xa8"},
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        struct event_stream s = {0};
        struct buf wire = {0};
        struct parsed p = {0};
        event_stream_add(&s, STR("x\ny.1"), str_of(messages[i][0]));
        take_all(&s, 5, &wire);
        parse(buf_str(&wire), &p);
        assert_int_equal(p.n_events, 1);
        assert_true(str_eq(buf_str(&p.data), str_of(messages[i][1])));
        assert_true(str_eq(buf_str(&p.id), STR("x y.1")));
        parsed_done(&p);
        buf_done(&wire);
    }
}

/* ---- Many, in any order of adding and taking --------------------------------------------------*/

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)random_state * n) >> 32);
}

static size_t random_message(char *text, size_t room)
{
    static const char bytes[] = "abc{}[]\"\n\r :0\xc3\xa9";
    size_t n = random_below(8) ? random_below(60) : random_below((uint32_t)room);
    for (size_t i = 0; i < n; i++)
        text[i] = bytes[random_below(sizeof bytes - 1)];
    return n;
}

static void take_some(struct event_stream *s, struct buf *wire)
{
    struct str piece = event_stream_next(s, 1 + random_below(3000));
    buf_add_str(wire, piece);
    event_stream_take(s, piece.n);
}

static void one_random_stream(bool is_chunked)
{
    static char text[5000];
    struct event_stream s = {.is_chunked = is_chunked};
    struct buf wire = {0}, body = {0};
    struct parsed p = {0};
    unsigned n_events = 0, n_comments = 0;
    for (int i = 0; i < 300; i++) {
        if (!random_below(10)) {
            event_stream_add_comment(&s);
            n_comments++;
        } else {
            size_t n = random_message(text, sizeof text);
            event_stream_add(&s, STR("id"), (struct str){text, (uint32_t)n});
            n_events++;
        }
        if (random_below(2))
            take_some(&s, &wire);
    }
    event_stream_add_end(&s);
    take_all(&s, 1 + random_below(9000), &wire);
    bool over = !is_chunked;
    if (is_chunked)
        unchunk(buf_str(&wire), &body, &over);
    else
        buf_add_str(&body, buf_str(&wire));
    assert_true(over);
    parse(buf_str(&body), &p);
    assert_int_equal(p.n_events, n_events);
    assert_int_equal(p.n_comments, n_comments);
    parsed_done(&p);
    buf_done(&wire), buf_done(&body);
    event_stream_done(&s);
}

static void random_streams(void **state)
{
    (void)state;
    random_state = 20250618;
    for (int i = 0; i < 200; i++)
        one_random_stream(i % 2);
}

/* ---- Bounds -----------------------------------------------------------------------------------*/

static void it_is_full_and_then_drained(void **state)
{
    (void)state;
    static char text[1001];
    struct event_stream s = {.is_chunked = true};
    size_t n = 0;
    memset(text, 'x', sizeof text - 1);
    assert_false(event_stream_drained(&s));
    do
        n++;
    while (event_stream_add(&s, STR_NONE, str_of(text)));
    assert_in_range(n, STREAM_UNSENT_BYTES / 1020, STREAM_UNSENT_BYTES / 1000 + 1);
    assert_false(event_stream_add(&s, STR_NONE, STR("1"))); /* taken all the same */
    while (event_stream_unsent(&s) > STREAM_UNSENT_BYTES / 4) {
        assert_false(event_stream_drained(&s));
        event_stream_take(&s, event_stream_next(&s, 4096).n);
    }
    assert_true(event_stream_drained(&s));
    assert_false(event_stream_drained(&s)); /* once */
    assert_true(event_stream_add(&s, STR_NONE, STR("1")));
    event_stream_done(&s);
}

/* What was taken is not kept, in a stream that never becomes empty either. */
static void memory_follows_what_waits(void **state)
{
    (void)state;
    static char text[1001];
    struct event_stream s = {.is_chunked = true};
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 10000; i++) {
        event_stream_add(&s, STR_NONE, str_of(text));
        if (i > 10)
            event_stream_take(&s, event_stream_next(&s, 1015).n);
    }
    assert_true(event_stream_unsent(&s) > 1000);
    assert_true(s.bytes.cap <= 65536);
    while (event_stream_unsent(&s))
        event_stream_take(&s, event_stream_next(&s, 1000).n);
    assert_null(s.bytes.p);
}

static void a_message_larger_than_the_bound(void **state)
{
    (void)state;
    struct event_stream s = {0};
    struct buf text = {0}, wire = {0};
    struct parsed p = {0};
    buf_reserve(&text, FRAME_BYTES_MAX);
    memset(text.p, 'x', FRAME_BYTES_MAX);
    text.n = FRAME_BYTES_MAX;
    assert_false(event_stream_add(&s, STR("a.1"), buf_str(&text)));
    take_all(&s, 61440, &wire);
    parse(buf_str(&wire), &p);
    assert_int_equal(p.data.n, FRAME_BYTES_MAX);
    assert_true(event_stream_drained(&s));
    parsed_done(&p);
    buf_done(&text), buf_done(&wire);
}

/* Without memory nothing half goes out: the stream says that it is broken. */
static void without_memory_it_is_broken(void **state)
{
    (void)state;
    struct event_stream s = {.bytes.limit = 100};
    event_stream_add(&s, STR("a.1"), STR("1"));
    assert_false(event_stream_is_broken(&s));
    char text[101];
    memset(text, 'x', 100);
    text[100] = 0;
    assert_false(event_stream_add(&s, STR("a.2"), str_of(text)));
    assert_true(event_stream_is_broken(&s));
    event_stream_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T_27_events_as_they_stand),
        cmocka_unit_test(chunks_as_they_stand),
        cmocka_unit_test(T_27_line_ends_in_a_message),
        cmocka_unit_test(random_streams),
        cmocka_unit_test(it_is_full_and_then_drained),
        cmocka_unit_test(memory_follows_what_waits),
        cmocka_unit_test(a_message_larger_than_the_bound),
        cmocka_unit_test(without_memory_it_is_broken),
    };
    return cmocka_run_group_tests_name("event stream", tests, NULL, NULL);
}
