/* tests/fuzz/fuzz_http.c - header values, heads and chunked framing; the last two must not depend
 * on how the input is cut.
 */
#include "base/err.h"
#include "net/chunked.h"
#include "net/head_scan.h"
#include "net/headers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed(const char *text, uint32_t n, uint32_t cut, struct buf *body)
{
    struct chunked c = {0};
    uint32_t used;
    int done = chunked_feed(&c, (struct str){text, cut}, body, &used);
    return done ? done : chunked_feed(&c, (struct str){text + cut, n - cut}, body, &used);
}

static void check_chunked(const char *text, uint32_t n)
{
    struct buf whole = {.limit = 1000}, cut = {.limit = 1000};
    int expected = feed(text, n, n, &whole);
    for (uint32_t i = 0; i < n; i += 1 + n / 16) {
        cut.n = 0;
        cut.failed = false;
        if (feed(text, n, i, &cut) != expected)
            abort();
        if (expected == 1 && (cut.n != whole.n || (cut.n && memcmp(cut.p, whole.p, cut.n))))
            abort();
    }
    buf_done(&whole);
    buf_done(&cut);
}

static void check_head(const char *text, uint32_t n)
{
    struct head_scan whole = {0};
    head_scan_feed(&whole, (struct str){text, n});
    for (uint32_t i = 0; i < n; i += 1 + n / 16) {
        struct head_scan cut = {0};
        head_scan_feed(&cut, (struct str){text, i});
        head_scan_feed(&cut, (struct str){text + i, n - i});
        if (cut.state != whole.state || cut.bad != whole.bad || cut.seen != whole.seen)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct str value = {text, (uint32_t)size}, name = {text, 0};
    uint64_t length;
    memcpy(text, data, size);
    text[size] = 0;
    header_accept(value);
    header_is_json(value);
    if (header_host(value, &name) == 0 && (name.p != text || name.n > size))
        abort();
    if (header_origin(value, &name) == 0 && (name.p < text || name.p + name.n > text + size))
        abort();
    if (header_bearer(value, &name) == HEADER_BEARER &&
        (name.p < text || name.p + name.n != text + size || !header_is_visible(name)))
        abort();
    header_is_loopback(value);
    header_is_address(value);
    header_is_visible(value);
    header_content_length(value, &length);
    check_chunked(text, (uint32_t)size);
    check_head(text, (uint32_t)size);
    free(text);
    return 0;
}
