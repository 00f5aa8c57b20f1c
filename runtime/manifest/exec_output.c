/* manifest/exec_output.c - what a command writes: a result, or lines of progress before it; the
 * formats are described in exec.h.
 *
 * What is wrong with its form is told here, with its place. What is wrong with a value (a URI that
 * is none) the builders of tenon.h refuse, as they do for every component.
 */
#include "base/base64.h"
#include "base/err.h"
#include "base/limits.h"
#include "generated/edges.h"
#include "manifest/exec_parts.h"
#include "wire/json_scan.h"

#include <stdio.h>
#include <string.h>

/* ---- Text ----------------------------------------------------------------------------------- */

/* Bytes that may stay as they are; a zero stands behind the text. */
static uint32_t valid_bytes(const char *p)
{
    uint32_t n = 0;
    for (unsigned more = 1; more && p[n]; n += more)
        more = (unsigned char)p[n] < 0x80 ? 1 : scan_utf8((const unsigned char *)p + n);
    return n;
}

struct str exec_text(struct arena *arena, struct str bytes)
{
    struct buf text = {0};
    struct str from = arena_str(arena, bytes); /* ends with NUL */
    if (!from.p)
        return STR_NONE;
    for (uint32_t i = 0; i < from.n; i++) {
        uint32_t n = valid_bytes(from.p + i);
        if (n == from.n)
            return from;
        buf_add(&text, from.p + i, n);
        i += n;
        if (i < from.n)
            buf_add_lit(&text, "\xef\xbf\xbd");
    }
    buf_add_char(&text, '\0');
    struct str kept = arena_buf(arena, &text);
    buf_done(&text);
    return kept.p ? (struct str){kept.p, kept.n - 1} : from.n ? STR_NONE : from;
}

/* Ends with NUL, which it does not hold. */
static const char *text_of(const struct tape_node *node, struct arena *arena)
{
    return exec_text(arena, tape_str(node)).p;
}

/* ---- Members -------------------------------------------------------------------------------- */

/* Where in the output, for what is said of it. */
struct place {
    char text[64];
};

struct giving {
    struct tenon_call *call;
    struct arena *arena;
    struct exec_why *why;
    struct place place;
    struct buf texts; /* of all text blocks, for a result that isError */
};

static int refuse(struct giving *g, const char *member, const char *expected)
{
    snprintf(g->why->text, sizeof g->why->text, "%s%s%s: expected %s", g->place.text,
             *g->place.text && *member ? "/" : "", member, expected);
    return ERR_PARAMS;
}

static const struct tape_node *get(const struct tape_node *object, const char *name)
{
    return object->kind == TAPE_OBJECT ? tape_get(object, str_of(name)) : NULL;
}

/* *ret stays NULL if it is absent and not needed. */
static int get_text(struct giving *g, const struct tape_node *object, const char *name,
                    bool is_needed, const char **ret)
{
    const struct tape_node *node = get(object, name);
    if (!node && !is_needed)
        return 0;
    if (!node || node->kind != TAPE_STR)
        return refuse(g, name, "a string");
    *ret = text_of(node, g->arena);
    return *ret ? 0 : ERR_NO_MEMORY;
}

static int get_bytes(struct giving *g, const struct tape_node *object, const char *name,
                     struct buf *ret)
{
    const struct tape_node *node = get(object, name);
    if (!node || node->kind != TAPE_STR)
        return refuse(g, name, "base64");
    int err = base64_read(tape_str(node), ret);
    return err == ERR_SYNTAX ? refuse(g, name, "base64") : err;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static int give_text(struct giving *g, const struct tape_node *block)
{
    const char *text = NULL;
    int err = get_text(g, block, "text", true, &text);
    if (err)
        return err;
    buf_printf(&g->texts, "%s%s", g->texts.n ? "\n" : "", text);
    tenon_text(g->call, text);
    return 0;
}

static int give_media(struct giving *g, const struct tape_node *block,
                      int (*add)(struct tenon_call *call, const char *mime_type, const void *data,
                                 size_t len))
{
    const char *mime_type = NULL;
    struct buf data = {0};
    int err = get_text(g, block, "mimeType", true, &mime_type);
    if (!err)
        err = get_bytes(g, block, "data", &data);
    if (!err)
        add(g->call, mime_type, data.p ? data.p : "", data.n);
    buf_done(&data);
    return err;
}

static int give_image(struct giving *g, const struct tape_node *block)
{
    return give_media(g, block, tenon_image);
}

static int give_audio(struct giving *g, const struct tape_node *block)
{
    return give_media(g, block, tenon_audio);
}

static int give_blob(struct giving *g, const struct tape_node *resource, const char *uri,
                     const char *mime_type)
{
    struct buf data = {0};
    int err = get_bytes(g, resource, "blob", &data);
    if (!err)
        tenon_embed_blob(g->call, uri, mime_type, data.p ? data.p : "", data.n);
    buf_done(&data);
    return err;
}

static int give_resource(struct giving *g, const struct tape_node *block)
{
    const char *uri = NULL, *mime_type = NULL, *text = NULL;
    const struct tape_node *resource = get(block, "resource");
    if (!resource || resource->kind != TAPE_OBJECT)
        return refuse(g, "resource", "an object");
    int err = get_text(g, resource, "uri", true, &uri);
    if (!err)
        err = get_text(g, resource, "mimeType", false, &mime_type);
    if (!err && get(resource, "blob"))
        return give_blob(g, resource, uri, mime_type);
    if (!err)
        err = get_text(g, resource, "text", true, &text);
    if (!err)
        tenon_embed_text(g->call, uri, mime_type, text);
    return err;
}

static int give_link(struct giving *g, const struct tape_node *block)
{
    static const char *const names[] = {"uri", "name", "title", "description", "mimeType"};
    const char *v[5] = {0};
    int err = 0;
    for (int i = 0; !err && i < 5; i++)
        err = get_text(g, block, names[i], i < 2, &v[i]);
    if (!err)
        tenon_link(g->call, v[0], v[1], v[2], v[3], v[4]);
    return err;
}

static const struct {
    const char *type;
    int (*give)(struct giving *g, const struct tape_node *block);
} kinds[] = {
    {"text", give_text},         {"image", give_image},        {"audio", give_audio},
    {"resource", give_resource}, {"resource_link", give_link},
};

static int give_block(struct giving *g, const struct tape_node *block)
{
    const struct tape_node *type = get(block, "type");
    for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++)
        if (type->kind == TAPE_STR && str_eq(tape_str(type), str_of(kinds[i].type)))
            return kinds[i].give(g, block);
    return refuse(g, "type", "text, image, audio, resource or resource_link");
}

static int give_content(struct giving *g, const struct tape_node *content)
{
    const struct tape_node *block = content + 1;
    int err = 0;
    if (content->kind != TAPE_ARRAY)
        return refuse(g, "content", "an array");
    for (uint32_t i = 0; !err && i < content->n; i++, block = tape_next(block)) {
        snprintf(g->place.text, sizeof g->place.text, "content/%u", i);
        err = give_block(g, block);
    }
    g->place.text[0] = '\0';
    return err;
}

static int give_structured(struct giving *g, const struct tape_node *value)
{
    struct buf json = {0};
    if (value->kind != TAPE_OBJECT)
        return refuse(g, "structuredContent", "an object");
    tape_write(value, &json);
    buf_add_char(&json, '\0');
    if (!json.failed)
        tenon_structured(g->call, json.p);
    int err = json.failed ? ERR_NO_MEMORY : 0;
    buf_done(&json);
    return err;
}

/* ---- Results -------------------------------------------------------------------------------- */

static int give_object(struct giving *g, const struct tape_node *result, struct exec_outcome *ret)
{
    const struct tape_node *content = get(result, "content"), *is_error = get(result, "isError"),
                           *structured = get(result, "structuredContent");
    int err = 0;
    if (!content && !structured)
        return refuse(g, "", "an object with content or structuredContent");
    if (is_error && is_error->kind != TAPE_TRUE && is_error->kind != TAPE_FALSE)
        return refuse(g, "isError", "true or false");
    if (content)
        err = give_content(g, content);
    if (!err && structured)
        err = give_structured(g, structured);
    if (err || !is_error || is_error->kind == TAPE_FALSE)
        return err;
    buf_add_lit(&g->texts, "");
    ret->error = g->texts.n ? arena_buf(g->arena, &g->texts) : STR("The command failed");
    return ret->error.p ? 0 : ERR_NO_MEMORY;
}

int exec_give(struct tenon_call *call, const struct tape_node *result, struct arena *arena,
              struct exec_outcome *ret, struct exec_why *ret_why)
{
    struct giving g = {.call = call, .arena = arena, .why = ret_why};
    int err = 0;
    ret->has_result = true;
    if (result->kind == TAPE_OBJECT) {
        err = give_object(&g, result, ret);
    } else if (result->kind == TAPE_STR) {
        const char *text = text_of(result, arena);
        err = text ? 0 : ERR_NO_MEMORY;
        if (text)
            tenon_text(call, text);
    } else {
        err = refuse(&g, "result", "a text or an object");
    }
    buf_done(&g.texts);
    return err;
}

static int open_json(struct str json, struct arena *arena, const struct tape_node **ret,
                     struct exec_why *ret_why)
{
    struct wire_fault fault = {0};
    char *padded = arena_zalloc(arena, (size_t)json.n + JSON_PADDING_BYTES);
    if (!padded)
        return ERR_NO_MEMORY;
    memcpy(padded, json.p, json.n);
    int err = tape_open((struct str){padded, json.n}, arena, ret, &fault);
    if (err < 0 && err != ERR_NO_MEMORY) {
        snprintf(ret_why->text, sizeof ret_why->text, "byte %u: expected %s", fault.offset,
                 fault.expected[0] ? fault.expected : "JSON");
        err = ERR_PARAMS;
    }
    return err;
}

int exec_give_text(struct tenon_call *call, struct str json, struct arena *arena,
                   struct exec_outcome *ret, struct exec_why *ret_why)
{
    const struct tape_node *result;
    int err = open_json(json, arena, &result, ret_why);
    if (!err && result->kind != TAPE_OBJECT) {
        snprintf(ret_why->text, sizeof ret_why->text, "expected a JSON object");
        err = ERR_PARAMS;
    }
    return err ? err : exec_give(call, result, arena, ret, ret_why);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static bool is_number(const struct tape_node *node)
{
    return node->kind == TAPE_INT || node->kind == TAPE_NUM;
}

/* One that does not rise is not sent. */
static int take_progress(struct giving *g, const struct tape_node *line, struct exec_outcome *ret)
{
    const struct tape_node *progress = get(line, "progress"), *total = get(line, "total");
    const char *message = NULL;
    (void)ret;
    if (!is_number(progress))
        return refuse(g, "progress", "a number");
    if (total && !is_number(total))
        return refuse(g, "total", "a number");
    int err = get_text(g, line, "message", false, &message);
    if (!err)
        tenon_progress(g->call, tape_num(progress), total ? tape_num(total) : 0, message);
    return err;
}

static int read_level(struct giving *g, const struct tape_node *node, enum mcp_logging_level *ret)
{
    struct buf text = {0};
    tape_write(node, &text);
    size_t n = text.n;
    int err = ERR_NO_MEMORY;
    if (buf_reserve(&text, JSON_PADDING_BYTES)) {
        memset(text.p + n, 0, JSON_PADDING_BYTES);
        err = mcp_parse_logging_level(MCP_2025_06_18, buf_str(&text), g->arena, ret, NULL);
    }
    buf_done(&text);
    return err < 0 && err != ERR_NO_MEMORY ? refuse(g, "level", "a level of logging") : err;
}

static int take_log(struct giving *g, const struct tape_node *line, struct exec_outcome *ret)
{
    const struct tape_node *level = get(line, "level");
    enum mcp_logging_level at = MCP_LOGGING_LEVEL_INFO;
    const char *logger = NULL;
    struct buf data = {0};
    (void)ret;
    int err = level ? read_level(g, level, &at) : 0;
    if (!err)
        err = get_text(g, line, "logger", false, &logger);
    if (err)
        return err;
    tape_write(get(line, "log"), &data);
    buf_add_char(&data, '\0');
    if (!data.failed)
        tenon_log(g->call, (enum tenon_log_level)at, logger, data.p);
    buf_done(&data);
    return 0;
}

static int take_result(struct giving *g, const struct tape_node *line, struct exec_outcome *ret)
{
    if (ret->has_result)
        return refuse(g, "result", "only one result");
    return exec_give(g->call, get(line, "result"), g->arena, ret, g->why);
}

static int take_error(struct giving *g, const struct tape_node *line, struct exec_outcome *ret)
{
    const char *text = NULL;
    if (ret->has_result)
        return refuse(g, "error", "only one result");
    int err = get_text(g, line, "error", true, &text);
    if (err)
        return err;
    ret->has_result = true;
    ret->error = str_of(text);
    return 0;
}

static const struct {
    const char *member;
    int (*take)(struct giving *g, const struct tape_node *line, struct exec_outcome *ret);
} lines[] = {
    {"progress", take_progress},
    {"log", take_log},
    {"result", take_result},
    {"error", take_error},
};

int exec_take_line(struct tenon_call *call, struct str line, struct arena *arena,
                   struct exec_outcome *ret, struct exec_why *ret_why)
{
    struct giving g = {.call = call, .arena = arena, .why = ret_why};
    const struct tape_node *object;
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (!str_trim(line).n)
        return 0;
    int err = open_json(line, arena, &object, ret_why);
    if (err)
        return err;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (get(object, lines[i].member))
            return lines[i].take(&g, object, ret);
    return refuse(&g, "", "an object with progress, log, result or error");
}
