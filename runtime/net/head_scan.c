/* net/head_scan.c - see head_scan.h. */
#include "net/head_scan.h"

#include <string.h>

/* At most eight: a bit of `seen` each. Two values of Accept, Connection or Expect are one list. */
#define AUTHORIZATION 0
static const struct str once[] = {
    [AUTHORIZATION] = STR_INIT("authorization"),
    STR_INIT("host"),
    STR_INIT("origin"),
    STR_INIT("content-type"),
    STR_INIT("content-length"),
    STR_INIT("transfer-encoding"),
    STR_INIT("mcp-session-id"),
    STR_INIT("mcp-protocol-version"),
};

/* RFC 9110 section 5.6.2 */
static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static void end_name(struct head_scan *scan)
{
    const struct str name = {scan->name, scan->name_n};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (str_eq_nocase(name, once[i])) {
            scan->bad |= scan->seen >> i & 1;
            scan->seen |= (uint8_t)(1u << i);
        }
    scan->bad |= !name.n;
}

static enum head_scan_state on_start(struct head_scan *scan, char c)
{
    (void)scan; /* empty lines before a request are allowed */
    return c == '\r' || c == '\n' ? HEAD_SCAN_START : HEAD_SCAN_REQUEST_LINE;
}

static enum head_scan_state on_request_line(struct head_scan *scan, char c)
{
    scan->name_n = 0;
    return c == '\n' ? HEAD_SCAN_NAME : HEAD_SCAN_REQUEST_LINE;
}

static enum head_scan_state on_name(struct head_scan *scan, char c)
{
    if (!scan->name_n && (c == '\r' || c == '\n')) {
        scan->bad |= c == '\n';
        return c == '\r' ? HEAD_SCAN_END_LF : HEAD_SCAN_DONE;
    }
    if (c == ':') {
        end_name(scan);
        return HEAD_SCAN_VALUE;
    }
    scan->bad |= !is_token_char(c);
    if (scan->name_n < HEAD_SCAN_NAME_BYTES)
        scan->name[scan->name_n++] = c; /* cut, it is equal to none of them */
    return HEAD_SCAN_NAME;
}

static enum head_scan_state on_value(struct head_scan *scan, char c)
{
    if (c == '\r')
        return HEAD_SCAN_LINE_LF;
    scan->bad |= ((unsigned char)c < ' ' && c != '\t') || c == 127;
    return HEAD_SCAN_VALUE;
}

static enum head_scan_state on_line_lf(struct head_scan *scan, char c)
{
    scan->bad |= c != '\n';
    scan->name_n = 0;
    return HEAD_SCAN_NAME;
}

static enum head_scan_state on_end_lf(struct head_scan *scan, char c)
{
    scan->bad |= c != '\n';
    return HEAD_SCAN_DONE;
}

/* Most of a head is values: how many plain bytes come next. */
static uint32_t plain_run(const char *p, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && (unsigned char)p[i] >= ' ' && p[i] != 127)
        i++;
    return i;
}

void head_scan_feed(struct head_scan *scan, struct str in)
{
    static enum head_scan_state (*const steps[])(struct head_scan *, char) = {
        [HEAD_SCAN_START] = on_start,     [HEAD_SCAN_REQUEST_LINE] = on_request_line,
        [HEAD_SCAN_NAME] = on_name,       [HEAD_SCAN_VALUE] = on_value,
        [HEAD_SCAN_LINE_LF] = on_line_lf, [HEAD_SCAN_END_LF] = on_end_lf,
    };
    uint32_t i = 0;
    for (; i < in.n && scan->state != HEAD_SCAN_DONE; i++) {
        if (scan->state == HEAD_SCAN_VALUE || scan->state == HEAD_SCAN_REQUEST_LINE)
            i += plain_run(in.p + i, in.n - i);
        if (i < in.n)
            scan->state = steps[scan->state](scan, in.p[i]);
    }
    scan->has_more |= i < in.n;
}

bool head_scan_is_good(const struct head_scan *scan)
{
    return scan->state == HEAD_SCAN_DONE && !scan->bad;
}

bool head_scan_is_authorized(const struct head_scan *scan)
{
    return scan->seen >> AUTHORIZATION & 1;
}
