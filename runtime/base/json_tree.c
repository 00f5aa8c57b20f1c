/* base/json_tree.c - nodes, messages and look-ups of the cold JSON reader; see json_tree.h. */
#include "base/json_parse.h"

#include "base/err.h"
#include "base/limits.h"
#include "runtime/base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places and messages */

static void count_to(struct json_parse *parse, const char *to)
{
    for (; parse->counted < to; parse->counted++) {
        if (*parse->counted == '\n') {
            parse->line++;
            parse->column = 1;
        } else if ((*parse->counted & 0xc0) != 0x80) {
            parse->column++;
        }
    }
}

void json_fail(struct json_parse *parse, int err, const char *at, const char *fmt, ...)
{
    va_list args;
    if (parse->err)
        return;
    count_to(parse, at);
    parse->err = err;
    parse->error.line = parse->line;
    parse->error.column = parse->column;
    va_start(args, fmt);
    vsnprintf(parse->error.text, sizeof parse->error.text, fmt, args);
    va_end(args);
}

static const char *const token_texts[] = {
    [0] = "the end of the text",  [JSON_T_LBRACE] = "'{'",      [JSON_T_LBRACKET] = "'['",
    [JSON_T_STRING] = "a string", [JSON_T_NUMBER] = "a number", [JSON_T_TRUE] = "'true'",
    [JSON_T_FALSE] = "'false'",   [JSON_T_NULL] = "'null'",     [JSON_T_COMMA] = "','",
    [JSON_T_COLON] = "':'",       [JSON_T_RBRACE] = "'}'",      [JSON_T_RBRACKET] = "']'",
};

/* Where an object may stand any value may; that is one word instead of seven. */
static bool starts_value(int token)
{
    return token >= JSON_T_LBRACE && token <= JSON_T_NULL;
}

static void list_expected(const bool *accepts, int n, struct buf *out)
{
    const char *between = "expected ";
    if (accepts[JSON_T_LBRACE]) {
        buf_add_lit(out, "expected a value");
        between = " or ";
    }
    for (int i = 0; i < n && i < JSON_T_BAD; i++) {
        if (!accepts[i] || (accepts[JSON_T_LBRACE] && starts_value(i)))
            continue;
        buf_printf(out, "%s%s", between, token_texts[i]);
        between = " or ";
    }
}

/* A bad word as it stands, cut at 20 characters; anything unprintable by its byte value. */
static void quote_bad(struct json_parse *parse, struct buf *out)
{
    unsigned char first = (unsigned char)*parse->token;
    int n = (int)(parse->at - parse->token);
    if (first < 0x20 || first > 0x7e)
        buf_printf(out, "byte 0x%02x", first);
    else
        buf_printf(out, "'%.*s%s'", n > 20 ? 20 : n, parse->token, n > 20 ? "..." : "");
}

void json_fail_syntax(struct json_parse *parse, int found, const bool *accepts, int n)
{
    struct buf text = {0};
    list_expected(accepts, n, &text);
    buf_add_lit(&text, ", found ");
    if (found == JSON_T_BAD)
        quote_bad(parse, &text);
    else
        buf_add_str(&text, str_of(token_texts[found]));
    json_fail(parse, ERR_PARSE, parse->token, STR_FMT, STR_ARG(buf_str(&text)));
    buf_done(&text);
}

static void fail_memory(struct json_parse *parse)
{
    json_fail(parse, ERR_NO_MEMORY, parse->counted, "out of memory");
}

/* ---- nodes */

static uint32_t hex4(const char *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return v;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (c & 0x3f));
    return to;
}

/* One escape at `from`, validated by the lexer; returns what stands behind it. */
static const char *decode_escape(const char *from, char **to)
{
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    if (from[1] != 'u') {
        const char *name = strchr(names, from[1]);
        *(*to)++ = name ? values[name - names] : from[1];
        return from + 2;
    }
    uint32_t c = hex4(from + 2);
    from += 6;
    if (c >= 0xd800 && c < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (hex4(from + 2) - 0xdc00);
        from += 6;
    }
    *to = put_utf8(*to, c);
    return from;
}

/* The body of the newest token, without its quotes. */
static bool set_string(struct json_parse *parse, struct json *node)
{
    const char *from = parse->token + 1, *end = parse->at - 1;
    node->v.s = arena_str(parse->arena, (struct str){from, (uint32_t)(end - from)});
    if (!node->v.s.p || !parse->escaped)
        return node->v.s.p != NULL;
    char *start = (char *)node->v.s.p, *to = start;
    while (from < end) {
        if (*from == '\\')
            from = decode_escape(from, &to);
        else
            *to++ = *from++;
    }
    *to = '\0';
    node->v.s.n = (uint32_t)(to - start);
    return true;
}

static bool set_number(struct json_parse *parse, struct json *node)
{
    struct str raw = {parse->token, (uint32_t)(parse->at - parse->token)};
    raw = arena_str(parse->arena, raw);
    if (!raw.p)
        return false;
    double d = strtod(raw.p, NULL);
    node->v.num.raw = raw;
    node->v.num.d = d;
    if (strcspn(raw.p, ".eE") == raw.n) {
        errno = 0;
        long long i = strtoll(raw.p, NULL, 10);
        node->is_int = errno == 0;
        node->v.num.i = errno == 0 ? i : 0;
    } else if (fabs(d) < 9007199254740992.0 && d == trunc(d)) {
        node->is_int = true;
        node->v.num.i = (int64_t)d;
    }
    return true;
}

static const enum json_kind token_kinds[] = {
    [JSON_T_LBRACE] = JSON_OBJECT, [JSON_T_LBRACKET] = JSON_ARRAY, [JSON_T_STRING] = JSON_STR,
    [JSON_T_NUMBER] = JSON_NUM,    [JSON_T_TRUE] = JSON_BOOL,      [JSON_T_FALSE] = JSON_BOOL,
    [JSON_T_NULL] = JSON_NULL,
};

static struct json *make_node(struct json_parse *parse, int token)
{
    struct json *node = arena_zalloc(parse->arena, sizeof *node);
    if (!node)
        return NULL;
    count_to(parse, parse->token);
    node->kind = token_kinds[token];
    node->line = parse->line;
    node->column = parse->column;
    bool complete = true;
    if (token == JSON_T_STRING)
        complete = set_string(parse, node);
    else if (token == JSON_T_NUMBER)
        complete = set_number(parse, node);
    else if (token == JSON_T_TRUE)
        node->v.b = true;
    return complete ? node : NULL;
}

static bool keep_depth(struct json_parse *parse, int token)
{
    if (token == JSON_T_LBRACE || token == JSON_T_LBRACKET)
        parse->depth++;
    else if ((token == JSON_T_RBRACE || token == JSON_T_RBRACKET) && parse->depth)
        parse->depth--;
    if (parse->depth <= JSON_DEPTH_MAX)
        return true;
    json_fail(parse, ERR_LIMIT, parse->token, "expected at most %d nested arrays and objects",
              JSON_DEPTH_MAX);
    return false;
}

int json_next_token(struct json_parse *parse, struct json **ret)
{
    int token = json_lex(parse);
    if (token < 0 || !keep_depth(parse, token))
        return -1;
    struct json *node = NULL;
    if (starts_value(token)) {
        node = make_node(parse, token);
        if (!node) {
            fail_memory(parse);
            return -1;
        }
    }
    *ret = node;
    return token;
}

void json_append(struct json *container, struct json *child)
{
    if (container->v.children.last)
        container->v.children.last->next = child;
    else
        container->v.children.first = child;
    container->v.children.last = child;
    container->n++;
}

void json_set_key(struct json *value, const struct json *key)
{
    value->key = key->v.s;
    value->key_line = key->line;
    value->key_column = key->column;
}

/* ---- the public calls */

int json_tree_parse(struct str text, struct arena *arena, struct json **ret,
                    struct json_error *error)
{
    struct json_parse parse = {.arena = arena, .line = 1, .column = 1};
    struct str copy = arena_str(arena, text); /* the lexer wants a NUL behind the text */
    parse.at = parse.counted = copy.p;
    parse.end = copy.p ? copy.p + copy.n : NULL;
    if (copy.p)
        json_parse_run(&parse);
    else
        fail_memory(&parse);
    if (parse.err == ERR_NO_MEMORY)
        parse.error.line = parse.error.column = 0;
    if (parse.err && error)
        *error = parse.error;
    if (!parse.err)
        *ret = parse.root;
    return parse.err;
}

static int fail_file(struct json_error *error, int err, const char *what)
{
    if (error) {
        *error = (struct json_error){0};
        snprintf(error->text, sizeof error->text, "%s", what);
    }
    return err;
}

int json_file_read(const char *path, struct buf *out, struct json_error *error)
{
    FILE *file = fopen(path, "rb");
    int err = 0;
    if (!file)
        return fail_file(error, ERR_IO, strerror(errno));
    size_t got;
    do {
        got = buf_reserve(out, 8192) ? fread(out->p + out->n, 1, 8192, file) : 0;
        out->n += got;
    } while (got);
    if (ferror(file))
        err = fail_file(error, ERR_IO, strerror(errno));
    else if (out->failed)
        err = fail_file(error, ERR_NO_MEMORY, "the file is too large");
    fclose(file);
    return err;
}

int json_tree_load(const char *path, struct arena *arena, struct json **ret,
                   struct json_error *error)
{
    struct buf text = {.limit = arena->limit};
    int err = json_file_read(path, &text, error);
    if (err == 0)
        err = json_tree_parse(buf_str(&text), arena, ret, error);
    buf_done(&text);
    return err;
}

const struct json *json_first(const struct json *container)
{
    if (!container || (container->kind != JSON_ARRAY && container->kind != JSON_OBJECT))
        return NULL;
    return container->v.children.first;
}

const struct json *json_get(const struct json *object, struct str key)
{
    const struct json *found = NULL;
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    json_each (member, object)
        if (str_eq(member->key, key))
            found = member;
    return found;
}

const struct json *json_duplicate(const struct json *object)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    json_each (member, object)
        for (const struct json *earlier = object->v.children.first; earlier != member;
             earlier = earlier->next)
            if (str_eq(earlier->key, member->key))
                return member;
    return NULL;
}

/* In a pointer ~0 stands for ~ and ~1 for /. */
static bool is_named(const struct json *member, struct str token)
{
    struct str key = member->key;
    uint32_t at = 0;
    for (uint32_t i = 0; i < token.n; i++, at++) {
        bool escaped = token.p[i] == '~' && i + 1 < token.n;
        char c = !escaped ? token.p[i] : token.p[++i] == '1' ? '/' : '~';
        if (at == key.n || key.p[at] != c)
            return false;
    }
    return at == key.n;
}

/* The member (of duplicates the last), or item, that a token names; NULL: there is none. */
static const struct json *step(const struct json *value, struct str token)
{
    const struct json *found = NULL;
    uint64_t i;
    if (value->kind == JSON_ARRAY && str_to_u64(token, &i) < 0)
        return NULL;
    json_each (below, value) {
        if (value->kind == JSON_OBJECT && is_named(below, token))
            found = below;
        if (value->kind == JSON_ARRAY && i-- == 0)
            return below;
    }
    return found;
}

const struct json *json_at(const struct json *value, struct str pointer)
{
    str_cut(&pointer, '/');
    while (pointer.p) {
        const struct json *below = step(value, str_cut(&pointer, '/'));
        if (!below)
            break;
        value = below;
    }
    return value;
}

struct str json_str(const struct json *value)
{
    return value && value->kind == JSON_STR ? value->v.s : STR_NONE;
}

const char *json_kind_name(const struct json *value)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",  [JSON_BOOL] = "boolean", [JSON_NUM] = "number",
        [JSON_STR] = "string", [JSON_ARRAY] = "array",  [JSON_OBJECT] = "object",
    };
    return names[value->kind];
}
