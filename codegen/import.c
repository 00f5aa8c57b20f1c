/* codegen/import.c - published schema file to facts; see import.h.
 *
 * One table lists the keywords in the order in which they are written, each with the shape that
 * its value must have; one writer per shape. A writer checks and writes in the same step, so
 * nothing reaches the output unchecked.
 */
#include "codegen/import.h"

#include "base/err.h"
#include "base/json_tree.h"
#include "codegen/file.h"
#include "codegen/json_out.h"

#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 256 << 20 };

struct import {
    const char *name;
    const struct json *root;
    struct arena arena;
    struct buf *out, *fault;
    struct buf pointer; /* of the schema or value being written */
    int level;          /* of indentation */
};

/* Writes the value of a keyword. 0, or ERR_SYNTAX after fail(). */
typedef int write_fn(struct import *im, const struct json *value);

static write_fn drop, write_dialect, write_ref, write_type, write_const, write_strings,
    write_sorted, write_text, write_number, write_count, write_schema, write_open, write_schemas,
    write_map, write_definitions;

static const struct keyword {
    const char *name;
    write_fn *write;
} keywords[] = {
    /* clang-format off: one a line */
    {"$schema", write_dialect},
    {"$ref", write_ref},
    {"type", write_type},
    {"const", write_const},
    {"enum", write_strings},
    {"format", write_text},
    {"anyOf", write_schemas},
    {"allOf", write_schemas},
    {"required", write_sorted},
    {"properties", write_map},
    {"additionalProperties", write_open},
    {"maxItems", write_count},
    {"items", write_schema},
    {"minimum", write_number},
    {"maximum", write_number},
    {"definitions", write_definitions},
    {"$defs", write_definitions},
    {"description", drop},
    {"title", drop},
    {"examples", drop},
    {"$comment", drop},
    /* clang-format on */
};
enum { N_KEYWORDS = sizeof keywords / sizeof *keywords };

/* A dialect names where its definitions are. */
static const struct dialect {
    const char *uri, *container;
} dialects[] = {
    {"http://json-schema.org/draft-07/schema#", "definitions"},
    {"https://json-schema.org/draft/2020-12/schema", "$defs"},
};

static int fail(struct import *im, uint32_t line, uint32_t column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int fail(struct import *im, uint32_t line, uint32_t column, const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    buf_printf(im->fault, "%s:%u:%u: #" STR_FMT ": %s\n", im->name, line, column,
               STR_ARG(buf_str(&im->pointer)), what);
    return ERR_SYNTAX;
}

static int expect(struct import *im, const struct json *value, const char *what)
{
    return fail(im, value->line, value->column, "expected %s, found %s", what,
                json_kind_name(value));
}

/* ---- writers of plain values */

static int drop(struct import *im, const struct json *value)
{
    (void)im, (void)value;
    return 0;
}

static int write_text(struct import *im, const struct json *value)
{
    if (value->kind != JSON_STR)
        return expect(im, value, "a string");
    json_out_string(im->out, value->v.s);
    return 0;
}

static int write_number(struct import *im, const struct json *value)
{
    if (value->kind != JSON_NUM)
        return expect(im, value, "a number");
    buf_add_str(im->out, value->v.num.raw);
    return 0;
}

static int write_count(struct import *im, const struct json *value)
{
    if (value->kind != JSON_NUM || !value->is_int || value->v.num.i < 0)
        return expect(im, value, "an integer not below 0");
    return write_number(im, value);
}

static int write_const(struct import *im, const struct json *value)
{
    if (value->kind == JSON_NUM && value->is_int)
        return write_number(im, value);
    if (value->kind == JSON_STR)
        return write_text(im, value);
    return expect(im, value, "a string or an integer");
}

static const struct dialect *find_dialect(const struct json *value)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (str_eq(json_str(value), str_of(dialects[i].uri)))
            return &dialects[i];
    return NULL;
}

static int write_dialect(struct import *im, const struct json *value)
{
    if (!find_dialect(value))
        return expect(im, value, "the URI of draft-07 or of 2020-12");
    return write_text(im, value);
}

static int write_ref(struct import *im, const struct json *value)
{
    const char *container = find_dialect(json_get(im->root, STR("$schema")))->container;
    struct str path = json_str(value), part = str_cut(&path, '/');
    bool local = str_eq(part, STR("#"));
    local = local && str_eq(str_cut(&path, '/'), str_of(container));
    if (!local || !json_get(json_get(im->root, str_of(container)), path))
        return fail(im, value->line, value->column,
                    "expected a reference to a definition (#/%s/Name), found \"" STR_FMT "\"",
                    container, STR_ARG(json_str(value)));
    return write_text(im, value);
}

static int write_type_name(struct import *im, const struct json *value)
{
    static const char *const names[] = {"array",  "boolean", "integer", "null",
                                        "number", "object",  "string"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(json_str(value), str_of(names[i])))
            return write_text(im, value);
    return expect(im, value, "the name of a JSON type");
}

/* ---- arrays */

static int write_array(struct import *im, const struct json *array, write_fn *write)
{
    uint32_t index = 0;
    int err;
    if (array->kind != JSON_ARRAY)
        return expect(im, array, "an array");
    if (array->n == 0)
        return expect(im, array, "at least one member");
    buf_add_char(im->out, '[');
    im->level++;
    json_each (it, array) {
        size_t pointer_len = im->pointer.n;
        json_out_line(im->out, im->level);
        buf_printf(&im->pointer, "/%u", index++);
        err = write(im, it);
        im->pointer.n = pointer_len;
        if (err)
            return err;
        if (it->next)
            buf_add_char(im->out, ',');
    }
    json_out_line(im->out, --im->level);
    buf_add_char(im->out, ']');
    return 0;
}

static int write_type(struct import *im, const struct json *value)
{
    if (value->kind == JSON_ARRAY)
        return write_array(im, value, write_type_name);
    return write_type_name(im, value);
}

static int write_strings(struct import *im, const struct json *value)
{
    return write_array(im, value, write_text);
}

static int write_schemas(struct import *im, const struct json *value)
{
    return write_array(im, value, write_schema);
}

static int compare_strings(const void *a, const void *b)
{
    return str_compare(json_str(*(struct json *const *)a), json_str(*(struct json *const *)b));
}

static int compare_keys(const void *a, const void *b)
{
    return str_compare((*(struct json *const *)a)->key, (*(struct json *const *)b)->key);
}

/* Sorts the children in place; the tree is ours and nobody needs the old order. */
static int sort(struct import *im, const struct json *container,
                int (*compare)(const void *, const void *))
{
    struct json **nodes = arena_array(&im->arena, container->n, sizeof *nodes);
    struct json **link = &((struct json *)container)->v.children.first;
    size_t n = 0;
    if (!nodes)
        return ERR_NO_MEMORY;
    json_each (it, container)
        nodes[n++] = (struct json *)it;
    qsort(nodes, n, sizeof *nodes, compare);
    for (size_t i = 0; i < n; i++) {
        *link = nodes[i];
        link = &nodes[i]->next;
    }
    *link = NULL;
    return 0;
}

static int write_sorted(struct import *im, const struct json *value)
{
    if (value->kind != JSON_ARRAY)
        return expect(im, value, "an array");
    int err = sort(im, value, compare_strings);
    if (err)
        return err;
    json_each (it, value)
        if (it->next && str_eq(json_str(it), json_str(it->next)))
            return fail(im, it->next->line, it->next->column, "\"" STR_FMT "\" stands here twice",
                        STR_ARG(json_str(it)));
    return write_array(im, value, write_text);
}

/* ---- schemas */

/* One member of an object: its key, then its value by `write`, with the pointer set to it. */
static int write_member(struct import *im, const struct json *member, write_fn *write)
{
    size_t pointer_len = im->pointer.n;
    json_out_line(im->out, im->level);
    json_out_string(im->out, member->key);
    buf_add_lit(im->out, ": ");
    json_out_pointer(&im->pointer, member->key);
    int err = write(im, member);
    im->pointer.n = pointer_len;
    return err;
}

static int check_duplicates(struct import *im, const struct json *object)
{
    const struct json *again = json_duplicate(object);
    if (!again)
        return 0;
    return fail(im, again->key_line, again->key_column, "\"" STR_FMT "\" stands here twice",
                STR_ARG(again->key));
}

static int write_map(struct import *im, const struct json *value)
{
    if (value->kind != JSON_OBJECT)
        return expect(im, value, "an object");
    int err = check_duplicates(im, value);
    if (!err)
        err = sort(im, value, compare_keys);
    if (err)
        return err;
    buf_add_char(im->out, '{');
    im->level++;
    json_each (it, value) {
        err = write_member(im, it, write_schema);
        if (err)
            return err;
        if (it->next)
            buf_add_char(im->out, ',');
    }
    im->level--;
    if (value->n)
        json_out_line(im->out, im->level);
    buf_add_char(im->out, '}');
    return 0;
}

static int write_definitions(struct import *im, const struct json *value)
{
    const char *container = find_dialect(json_get(im->root, STR("$schema")))->container;
    if (value != json_get(im->root, str_of(container)))
        return fail(im, value->line, value->column,
                    "definitions of this dialect stand at the root, in %s", container);
    return write_map(im, value);
}

/* additionalProperties */
static int write_open(struct import *im, const struct json *value)
{
    if (value->kind == JSON_BOOL && value->v.b) {
        buf_add_lit(im->out, "true");
        return 0;
    }
    if (value->kind != JSON_OBJECT)
        return expect(im, value, "a schema or true");
    return write_schema(im, value);
}

static const struct keyword *find_keyword(struct str name)
{
    for (int i = 0; i < N_KEYWORDS; i++)
        if (str_eq(name, str_of(keywords[i].name)))
            return &keywords[i];
    return NULL;
}

static int check_keywords(struct import *im, const struct json *schema)
{
    if (schema->kind != JSON_OBJECT)
        return expect(im, schema, "a schema (an object)");
    json_each (it, schema)
        if (!find_keyword(it->key))
            return fail(im, it->key_line, it->key_column,
                        "unknown keyword \"" STR_FMT "\"; teach the generator what it means first",
                        STR_ARG(it->key));
    return check_duplicates(im, schema);
}

static int write_schema(struct import *im, const struct json *schema)
{
    int err = check_keywords(im, schema);
    bool any = false;
    buf_add_char(im->out, '{');
    im->level++;
    for (int i = 0; i < N_KEYWORDS && !err; i++) {
        const struct json *member = json_get(schema, str_of(keywords[i].name));
        if (!member || keywords[i].write == drop)
            continue;
        if (any)
            buf_add_char(im->out, ',');
        any = true;
        err = write_member(im, member, keywords[i].write);
    }
    im->level--;
    if (any)
        json_out_line(im->out, im->level);
    buf_add_char(im->out, '}');
    return err;
}

/* ---- the whole file */

static int import_tree(struct import *im, struct str text)
{
    struct json *root;
    struct json_error error;
    int err = json_tree_parse(text, &im->arena, &root, &error);
    if (err == ERR_NO_MEMORY)
        return err;
    if (err)
        return fail(im, error.line, error.column, "%s", error.text);
    im->root = root;
    const struct json *dialect = json_get(root, STR("$schema"));
    if (!find_dialect(dialect))
        return fail(im, dialect ? dialect->line : 1, dialect ? dialect->column : 1,
                    "expected \"$schema\" with the URI of draft-07 or of 2020-12");
    const char *container = find_dialect(dialect)->container;
    if (!json_get(root, str_of(container)))
        return fail(im, 1, 1, "expected \"%s\", as this dialect has it", container);
    err = write_schema(im, root);
    buf_add_char(im->out, '\n');
    return err;
}

int import_text(const char *name, struct str text, struct buf *out, struct buf *fault)
{
    struct import im = {.name = name, .out = out, .fault = fault};
    arena_init(&im.arena, ARENA_BYTES);
    int err = import_tree(&im, text);
    if (!err && (out->failed || im.pointer.failed))
        err = ERR_NO_MEMORY;
    arena_done(&im.arena);
    buf_done(&im.pointer);
    return err;
}

/* ---- the command */

static void describe_source(struct str text, struct buf *out)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)text.p, text.n, digest);
    buf_add_lit(out, "# The published file that schema.json was imported from.\nsha256 ");
    for (size_t i = 0; i < sizeof digest; i++)
        buf_printf(out, "%02x", digest[i]);
    buf_printf(out, "\nbytes %u\n", text.n);
}

static int write_named(const char *folder, const char *revision, const char *file, struct str text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", folder, revision, file);
    int err = file_write(path, text);
    if (err)
        fprintf(stderr, "%s: %s\n", path, err == ERR_IO ? strerror(errno) : err_text(err));
    return err;
}

static int import_file(const char *path, const char *revision, const char *folder)
{
    struct buf text = {0}, facts = {0}, fault = {0}, source = {0};
    int err = file_read(path, &text);
    if (err)
        buf_printf(&fault, "%s: %s\n", path, err == ERR_IO ? strerror(errno) : err_text(err));
    else
        err = import_text(path, buf_str(&text), &facts, &fault);
    if (!err)
        err = write_named(folder, revision, "schema.json", buf_str(&facts));
    /* a file of facts is not the published one, so it does not become the source */
    if (!err && !str_eq(buf_str(&text), buf_str(&facts))) {
        describe_source(buf_str(&text), &source);
        err = write_named(folder, revision, "SOURCE", buf_str(&source));
    }
    fprintf(stderr, STR_FMT, STR_ARG(buf_str(&fault)));
    buf_done(&text);
    buf_done(&facts);
    buf_done(&fault);
    buf_done(&source);
    return err;
}

/* Revisions are named by their date; anything else would also be a strange folder. */
static bool is_revision(const char *text)
{
    static const char pattern[] = "dddd-dd-dd";
    size_t i;
    for (i = 0; text[i] && pattern[i]; i++)
        if (pattern[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
            return false;
    return !text[i] && !pattern[i];
}

int import_main(int argc, char **argv)
{
    const char *folder = "spec";
    if (argc == 5 && strcmp(argv[3], "--out") == 0)
        folder = argv[4];
    else if (argc != 3) {
        fprintf(stderr, "usage: tenon-gen import FILE REV [--out DIR]\n");
        return 2;
    }
    if (!is_revision(argv[2])) {
        fprintf(stderr, "tenon-gen import: expected a revision such as 2025-06-18, found '%s'\n",
                argv[2]);
        return 2;
    }
    return import_file(argv[1], argv[2], folder) ? 1 : 0;
}
