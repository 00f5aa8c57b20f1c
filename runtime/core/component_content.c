/* core/component_content.c - what a callback gives: content blocks, contents of resources, a
 * structured result.
 *
 * A builder that fails is remembered, so that a callback need not look at each; the answer is then
 * an internal error. Nothing leaves that the client's revision does not know (acceptance L-10).
 */
#include "base/base64.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/component_call.h"
#include "generated/edges.h"
#include "schema/percent.h"
#include "wire/json_write.h"

#include <stdio.h>
#include <string.h>

/* ---- Checks --------------------------------------------------------------------------------- */

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("!#$&^_.+-", c));
}

static struct str cut_token(struct str *rest)
{
    struct str token = {rest->p, 0};
    while (token.n < rest->n && is_token_char(rest->p[token.n]))
        token.n++;
    *rest = (struct str){rest->p + token.n, rest->n - token.n};
    return token;
}

/* RFC 6838, section 4.2; parameters are not looked at. */
bool component_is_mime_type(struct str text)
{
    struct str type = cut_token(&text);
    if (!type.n || !text.n || text.p[0] != '/')
        return false;
    text = (struct str){text.p + 1, text.n - 1};
    struct str subtype = cut_token(&text);
    return subtype.n && (!text.n || text.p[0] == ';' || text.p[0] == ' ');
}

int component_refuse(struct tenon_call *call, int err, const char *what)
{
    if (!call->fault.p) {
        call->fault = arena_str(&call->arena, str_of(what));
        if (!call->fault.p)
            call->fault = STR("no memory");
        call->fault_err = err;
    }
    return component_err(err);
}

static int no_memory(struct tenon_call *call)
{
    return component_refuse(call, ERR_NO_MEMORY, "no memory");
}

static int check_mime_type(struct tenon_call *call, const char *mime_type, bool is_needed)
{
    bool fine = mime_type ? component_is_mime_type(str_of(mime_type)) : !is_needed;
    return fine ? 0 : component_refuse(call, ERR_PARAMS, "a mime type that is none");
}

static int check_uri(struct tenon_call *call, const char *uri)
{
    bool fine = uri && strlen(uri) <= URI_BYTES_MAX && percent_is_uri(str_of(uri));
    return fine ? 0 : component_refuse(call, ERR_PARAMS, "a URI that is none");
}

/* ---- Building ------------------------------------------------------------------------------- */

static void *grow(struct tenon_call *call, void *v, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    uint32_t more = *cap ? 2 * *cap : 4;
    void *grown = arena_array(&call->arena, more, size);
    if (grown && n)
        memcpy(grown, v, n * size);
    if (grown)
        *cap = more;
    return grown;
}

static struct str keep(struct tenon_call *call, const char *text)
{
    return text ? arena_str(&call->arena, str_of(text)) : STR_NONE;
}

static struct str encode(struct tenon_call *call, const void *data, size_t len)
{
    struct buf text = {.limit = ARENA_LIMIT_BYTES};
    buf_add(&text, "", 0);
    base64_write(data, len, &text);
    struct str kept = text.n ? arena_buf(&call->arena, &text)
                             : (text.failed ? STR_NONE : arena_str(&call->arena, STR("")));
    buf_done(&text);
    return kept;
}

static int add_block(struct tenon_call *call, const struct mcp_content_block *block)
{
    struct component_blocks *b = &call->blocks;
    void *v = grow(call, b->v, b->n, &b->cap, sizeof *b->v);
    void *roles = v ? grow(call, b->roles, b->n, &b->roles_cap, sizeof *b->roles) : NULL;
    if (!roles)
        return no_memory(call);
    b->v = v;
    b->roles = roles;
    b->roles[b->n] = call->role;
    b->v[b->n++] = *block;
    return 0;
}

int component_add_text_block(struct tenon_call *call, struct str text)
{
    struct mcp_content_block block = {.kind = MCP_KIND_TEXT_CONTENT};
    if (!text.p)
        return no_memory(call);
    MCP_SET(&block, text, text);
    return add_block(call, &block);
}

int tenon_text(struct tenon_call *call, const char *text)
{
    return text ? component_add_text_block(call, keep(call, text))
                : component_refuse(call, ERR_PARAMS, "a text that is NULL");
}

static struct str format(struct tenon_call *call, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *text = n < 0 ? NULL : arena_alloc(&call->arena, (size_t)n + 1);
    if (!text)
        return STR_NONE;
    vsnprintf(text, (size_t)n + 1, fmt, args);
    return (struct str){text, (uint32_t)n};
}

int tenon_textf(struct tenon_call *call, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct str text = format(call, fmt, args);
    va_end(args);
    return component_add_text_block(call, text);
}

static int add_bytes(struct tenon_call *call, int32_t kind, const char *mime_type, const void *data,
                     size_t len)
{
    struct mcp_content_block block = {.kind = kind};
    int err = check_mime_type(call, mime_type, true);
    if (err)
        return err;
    MCP_SET(&block, mime_type, keep(call, mime_type));
    MCP_SET(&block, data, encode(call, data, len));
    return block.mime_type.p && block.data.p ? add_block(call, &block) : no_memory(call);
}

int tenon_image(struct tenon_call *call, const char *mime_type, const void *data, size_t len)
{
    return add_bytes(call, MCP_KIND_IMAGE_CONTENT, mime_type, data, len);
}

int tenon_audio(struct tenon_call *call, const char *mime_type, const void *data, size_t len)
{
    return add_bytes(call, MCP_KIND_AUDIO_CONTENT, mime_type, data, len);
}

/* ---- Contents of resources ------------------------------------------------------------------ */

static int fill_contents(struct tenon_call *call, const char *uri, const char *mime_type,
                         struct mcp_resource_contents *ret)
{
    int err = check_uri(call, uri);
    if (!err)
        err = check_mime_type(call, mime_type, false);
    if (err)
        return err;
    MCP_SET(ret, uri, keep(call, uri));
    if (mime_type)
        MCP_SET(ret, mime_type, keep(call, mime_type));
    return ret->uri.p && (!mime_type || ret->mime_type.p) ? 0 : no_memory(call);
}

static int fill_text(struct tenon_call *call, const char *text, struct mcp_resource_contents *ret)
{
    ret->kind = MCP_KIND_TEXT_RESOURCE_CONTENTS;
    if (!text)
        return component_refuse(call, ERR_PARAMS, "a text that is NULL");
    MCP_SET(ret, text, keep(call, text));
    return ret->text.p ? 0 : no_memory(call);
}

static int fill_blob(struct tenon_call *call, const void *data, size_t len,
                     struct mcp_resource_contents *ret)
{
    ret->kind = MCP_KIND_BLOB_RESOURCE_CONTENTS;
    MCP_SET(ret, blob, encode(call, data, len));
    return ret->blob.p ? 0 : no_memory(call);
}

static int add_embedded(struct tenon_call *call, const struct mcp_resource_contents *contents)
{
    struct mcp_content_block block = {.kind = MCP_KIND_EMBEDDED_RESOURCE};
    struct mcp_resource_contents *kept = arena_alloc(&call->arena, sizeof *kept);
    if (!kept)
        return no_memory(call);
    *kept = *contents;
    MCP_SET(&block, resource, kept);
    return add_block(call, &block);
}

/* PR-07: what a prompt embeds has a type. */
static const char *embedded_type(const struct tenon_call *call, const char *mime_type,
                                 const char *otherwise)
{
    return mime_type || !call->prompt ? mime_type : otherwise;
}

int tenon_embed_text(struct tenon_call *call, const char *uri, const char *mime_type,
                     const char *text)
{
    struct mcp_resource_contents contents = {0};
    int err = fill_contents(call, uri, embedded_type(call, mime_type, "text/plain"), &contents);
    if (!err)
        err = fill_text(call, text, &contents);
    return err ? err : add_embedded(call, &contents);
}

int tenon_embed_blob(struct tenon_call *call, const char *uri, const char *mime_type,
                     const void *data, size_t len)
{
    struct mcp_resource_contents contents = {0};
    int err = fill_contents(call, uri, embedded_type(call, mime_type, "application/octet-stream"),
                            &contents);
    if (!err)
        err = fill_blob(call, data, len, &contents);
    return err ? err : add_embedded(call, &contents);
}

static int add_contents(struct tenon_call *call, const struct mcp_resource_contents *contents)
{
    struct component_contents *c = &call->contents;
    void *v = grow(call, c->v, c->n, &c->cap, sizeof *c->v);
    if (!v)
        return no_memory(call);
    c->v = v;
    c->v[c->n++] = *contents;
    return 0;
}

static int fill_own(struct tenon_call *call, const char *uri, const char *mime_type,
                    struct mcp_resource_contents *ret)
{
    if (!call->resource)
        return component_refuse(call, ERR_PARAMS, "contents of a resource that nobody reads");
    return fill_contents(call, uri ? uri : call->uri.p,
                         mime_type ? mime_type : call->resource->mime_type.p, ret);
}

int tenon_contents_text(struct tenon_call *call, const char *uri, const char *mime_type,
                        const char *text)
{
    struct mcp_resource_contents contents = {0};
    int err = fill_own(call, uri, mime_type, &contents);
    if (!err)
        err = fill_text(call, text, &contents);
    return err ? err : add_contents(call, &contents);
}

int tenon_contents_blob(struct tenon_call *call, const char *uri, const char *mime_type,
                        const void *data, size_t len)
{
    struct mcp_resource_contents contents = {0};
    int err = fill_own(call, uri, mime_type, &contents);
    if (!err)
        err = fill_blob(call, data, len, &contents);
    return err ? err : add_contents(call, &contents);
}

/* ---- Links, structured results ---------------------------------------- */

static bool is_known(const struct tenon_call *call, enum mcp_definition definition)
{
    return mcp_type((enum mcp_revision)call->call->session->revision, definition) != NULL;
}

int tenon_link(struct tenon_call *call, const char *uri, const char *name, const char *title,
               const char *description, const char *mime_type)
{
    struct mcp_content_block block = {.kind = MCP_KIND_RESOURCE_LINK};
    int err = check_uri(call, uri);
    if (!err && (!name || !*name))
        err = component_refuse(call, ERR_PARAMS, "a link without a name");
    if (!err)
        err = check_mime_type(call, mime_type, false);
    if (err)
        return err;
    if (!is_known(call, MCP_DEFINITION_RESOURCE_LINK)) /* TL-13 */
        return tenon_textf(call, "%s: %s", name, uri);
    MCP_SET(&block, uri, keep(call, uri));
    MCP_SET(&block, name, keep(call, name));
    bool complete = block.uri.p && block.name.p;
    if (title)
        complete &= MCP_SET(&block, title, keep(call, title)) && block.title.p;
    if (description)
        complete &= MCP_SET(&block, description, keep(call, description)) && block.description.p;
    if (mime_type)
        complete &= MCP_SET(&block, mime_type, keep(call, mime_type)) && block.mime_type.p;
    return complete ? add_block(call, &block) : no_memory(call);
}

struct str component_padded(struct arena *arena, const char *text)
{
    size_t n = text ? strlen(text) : 0; /* no JSON either way */
    if (n > UINT32_MAX / 2)
        return STR_NONE;
    char *copy = arena_alloc(arena, n + JSON_PADDING_BYTES);
    if (!copy)
        return STR_NONE;
    if (n)
        memcpy(copy, text, n);
    memset(copy + n, 0, JSON_PADDING_BYTES);
    return (struct str){copy, (uint32_t)n};
}

int tenon_structured(struct tenon_call *call, const char *json)
{
    const struct tape_node *tape;
    if (!call->tool)
        return component_refuse(call, ERR_PARAMS, "a structured result outside of a tool");
    struct str text = json ? component_padded(&call->arena, json) : STR("");
    struct wire_fault fault;
    if (!text.p)
        return no_memory(call);
    int err = text.n ? tape_open(text, &call->arena, &tape, &fault) : ERR_PARSE;
    if (err == ERR_NO_MEMORY)
        return no_memory(call);
    if (err < 0 || tape->kind != TAPE_OBJECT)
        return component_refuse(call, ERR_PARAMS, "a structured result that is no JSON object");
    call->structured = text;
    call->structured_tape = tape;
    return 0;
}

int tenon_fail(struct tenon_call *call, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    call->failure = format(call, fmt, args);
    va_end(args);
    return TENON_ERR_FAILED;
}
