/* tests/bench/messages.c - see messages.h. */
#include "tests/bench/messages.h"

#include "base/limits.h"

#include <stdio.h>
#include <string.h>

static uint64_t seed;

static uint32_t roll(uint32_t below)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

static const char *const words[] = {"city",     "river",      "order",  "customer",
                                    "invoice",  "population", "region", "status",
                                    "language", "currency",   "total",  "harbour"};

static const char *word(void)
{
    return words[roll(sizeof words / sizeof *words)];
}

/* A quoted text of some words; one in five holds an escape, one in six other letters. */
static void add_text(struct buf *b, uint32_t n_words)
{
    buf_add_char(b, '"');
    for (uint32_t i = 0; i < n_words; i++)
        buf_printf(b, "%s%s%u", i ? " " : "", word(), roll(100));
    if (roll(5) == 0)
        buf_add_lit(b, "\\n\\\"ok\\\"");
    if (roll(6) == 0)
        buf_add_lit(b, " Zürich 漢字");
    buf_add_char(b, '"');
}

static void add_id(struct buf *b)
{
    if (roll(4))
        buf_printf(b, "\"id\":%u", roll(1000000));
    else
        buf_printf(b, "\"id\":\"req-%x-%x\"", roll(1u << 30), roll(1u << 30));
}

static void add_meta(struct buf *b)
{
    if (roll(3) == 0)
        buf_printf(b, ",\"_meta\":{\"progressToken\":%u}", roll(100000));
}

static void open_request(struct buf *b, const char *method)
{
    buf_add_lit(b, "{\"jsonrpc\":\"2.0\",");
    if (roll(2)) {
        add_id(b);
        buf_printf(b, ",\"method\":\"%s\"", method);
    } else {
        buf_printf(b, "\"method\":\"%s\",", method);
        add_id(b);
    }
}

static void add_initialize(struct buf *b)
{
    open_request(b, "initialize");
    buf_printf(b,
               ",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"roots\":"
               "{\"listChanged\":%s},\"sampling\":{}},\"clientInfo\":{\"name\":\"%s-client\","
               "\"title\":",
               roll(2) ? "true" : "false", word());
    add_text(b, 2);
    buf_printf(b, ",\"version\":\"%u.%u.%u\"}}}", roll(9), roll(30), roll(9));
}

static void add_ping(struct buf *b)
{
    open_request(b, "ping");
    buf_add_char(b, '}');
}

static void add_list(struct buf *b, const char *method)
{
    open_request(b, method);
    if (roll(2))
        buf_printf(b, ",\"params\":{\"cursor\":\"AQ%08x%08xAAAAAAAAAAAAAAAAAAAAAA\"}",
                   roll(1u << 30), roll(1u << 30));
    buf_add_char(b, '}');
}

static void add_tools_list(struct buf *b)
{
    add_list(b, "tools/list");
}

static void add_resources_list(struct buf *b)
{
    add_list(b, "resources/list");
}

static void add_prompts_list(struct buf *b)
{
    add_list(b, "prompts/list");
}

static void add_uri_request(struct buf *b, const char *method)
{
    open_request(b, method);
    buf_printf(b, ",\"params\":{\"uri\":\"db://%s/%s/%u\"", word(), word(), roll(100000));
    add_meta(b);
    buf_add_lit(b, "}}");
}

static void add_resources_read(struct buf *b)
{
    add_uri_request(b, "resources/read");
}

static void add_subscribe(struct buf *b)
{
    add_uri_request(b, "resources/subscribe");
}

static void add_prompts_get(struct buf *b)
{
    open_request(b, "prompts/get");
    buf_printf(b, ",\"params\":{\"name\":\"%s_report\",\"arguments\":{", word());
    for (uint32_t i = 0, n = roll(3) + 1; i < n; i++) {
        buf_printf(b, "%s\"%s%u\":", i ? "," : "", word(), i);
        add_text(b, roll(3) + 1);
    }
    buf_add_lit(b, "}}}");
}

static void add_complete(struct buf *b)
{
    open_request(b, "completion/complete");
    if (roll(2))
        buf_printf(b, ",\"params\":{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"%s\"}", word());
    else
        buf_printf(
            b, ",\"params\":{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"db://{database}/%s\"}",
            word());
    buf_printf(b, ",\"argument\":{\"name\":\"%s\",\"value\":\"%.3s\"}}}", word(), word());
}

static void add_set_level(struct buf *b)
{
    static const char *const levels[] = {"debug", "info", "notice", "warning", "error"};
    open_request(b, "logging/setLevel");
    buf_printf(b, ",\"params\":{\"level\":\"%s\"}}", levels[roll(5)]);
}

static void add_cancelled(struct buf *b)
{
    buf_printf(b,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
               "{\"requestId\":%u,\"reason\":",
               roll(100000));
    add_text(b, 3);
    buf_add_lit(b, "}}");
}

static void add_progress(struct buf *b)
{
    buf_printf(b,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
               "{\"progressToken\":%u,\"progress\":%u.%u,\"total\":%u}}",
               roll(1000), roll(100), roll(10), 100 + roll(900));
}

static void add_arguments(struct buf *b, uint32_t n)
{
    buf_add_char(b, '{');
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(b, "%s\"%s_%u\":", i ? "," : "", word(), i);
        switch (roll(6)) {
        case 0:
            buf_printf(b, "%d", (int)roll(2000000) - 1000000);
            break;
        case 1:
            buf_printf(b, "%u.%02u", roll(10000), roll(100));
            break;
        case 2:
            buf_add_str(b, roll(2) ? STR("true") : STR("null"));
            break;
        case 3:
            buf_printf(b, "[\"%s\",\"%s\",%u]", word(), word(), roll(1000));
            break;
        case 4:
            buf_printf(b, "{\"op\":\"=\",\"value\":\"%s%u\"}", word(), roll(1000));
            break;
        default:
            add_text(b, roll(8) + 1);
        }
    }
    buf_add_char(b, '}');
}

static void add_call_of(struct buf *b, uint32_t n_arguments)
{
    open_request(b, "tools/call");
    buf_printf(b, ",\"params\":{\"name\":\"%s_%s\",\"arguments\":", roll(2) ? "get" : "search",
               word());
    add_arguments(b, n_arguments);
    add_meta(b);
    buf_add_lit(b, "}}");
}

static void add_small_call(struct buf *b)
{
    add_call_of(b, roll(4));
}

static void add_large_call(struct buf *b)
{
    add_call_of(b, 10 + roll(24));
}

static struct messages make(uint32_t n, void (*add)(struct buf *b))
{
    struct buf text = {0};
    struct messages m = {.v = calloc(n, sizeof(struct str)), .n = n};
    for (uint32_t i = 0; i < n && m.v; i++) {
        size_t start = text.n;
        add(&text);
        m.v[i].n = (uint32_t)(text.n - start);
        m.bytes += m.v[i].n;
        for (int pad = 0; pad < JSON_PADDING_BYTES; pad++)
            buf_add_char(&text, '\0');
    }
    if (!m.v || text.failed)
        abort();
    const char *at = m.memory = text.p;
    for (uint32_t i = 0; i < n; i++, at += m.v[i - 1].n + JSON_PADDING_BYTES)
        m.v[i].p = at;
    return m;
}

static void add_any(struct buf *b)
{
    static void (*const kinds[])(struct buf * b) = {
        add_initialize,     add_ping,      add_tools_list,  add_resources_list, add_prompts_list,
        add_resources_read, add_subscribe, add_prompts_get, add_complete,       add_set_level,
        add_cancelled,      add_progress,  add_small_call,
    };
    kinds[roll(sizeof kinds / sizeof *kinds)](b);
}

struct messages messages_mix(uint32_t n)
{
    seed = 88172645463325252u;
    return make(n, add_any);
}

struct messages messages_calls(uint32_t n)
{
    seed = 362436069362436069u;
    return make(n, add_large_call);
}

void messages_done(struct messages *m)
{
    free(m->v);
    free(m->memory);
    *m = (struct messages){0};
}
