/* records.c - the record stream, with the readers of JSON arrays and NDJSON; see records.h.
 *
 * JSON is cut into records by a scanner that knows strings and brackets and nothing else; each
 * piece is then read, and judged, by the hot reader. So a file of any size needs the memory of its
 * largest record.
 */
#include "records.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

struct record_reader {
    struct record_options options;
    struct text_source source;
    struct buf text; /* of the record at hand, padded for the hot reader */
    struct csv_reader *csv;
    bool begun, ended;
};

int record_format_of(const char *name, enum record_format *ret)
{
    static const struct {
        const char *name;
        enum record_format format;
    } known[] = {
        {"json", RECORDS_JSON},
        {"ndjson", RECORDS_NDJSON},
        {"jsonl", RECORDS_NDJSON},
        {"csv", RECORDS_CSV},
    };
    const char *dot = strrchr(name, '.');
    struct str word = str_of(dot ? dot + 1 : name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq_nocase(word, str_of(known[i].name))) {
            *ret = known[i].format;
            return 0;
        }
    return ERR_SYNTAX;
}

int record_fail(struct record_fault *fault, uint64_t line, bool fatal, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(fault->text, sizeof fault->text, fmt, args);
    va_end(args);
    fault->line = line;
    fault->fatal = fatal;
    return ERR_SYNTAX;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

int source_take(struct text_source *s)
{
    int c = getc_unlocked(s->file);
    s->line += c == '\n';
    s->bytes += c != EOF;
    return c;
}

void source_untake(struct text_source *s, int c)
{
    if (c == EOF)
        return;
    ungetc(c, s->file);
    s->line -= c == '\n';
    s->bytes--;
}

int source_peek(struct text_source *s)
{
    int c = source_take(s);
    source_untake(s, c);
    return c;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next byte that is not blank, left in place. */
static int skip_blanks(struct text_source *s)
{
    int c;
    while (is_blank(c = source_take(s)))
        ;
    source_untake(s, c);
    return c;
}

static void skip_byte_order_mark(struct text_source *s)
{
    if (source_peek(s) != 0xef)
        return;
    for (int i = 0; i < 3; i++)
        source_take(s);
}

/* ---- cutting a JSON text into values -------------------------------------------------------- */

static const char *shown(int c, char text[8])
{
    if (c == EOF)
        return "the end of the file";
    snprintf(text, 8, c > ' ' && c < 0x7f ? "'%c'" : "0x%02x", c);
    return text;
}

static int unexpected(struct text_source *s, struct record_fault *fault, const char *expected)
{
    char text[8];
    int c = skip_blanks(s);
    return record_fail(fault, s->line, true, "expected %s, found %s", expected, shown(c, text));
}

/* `out` NULL: the value is skipped. */
static void keep(struct buf *out, int c)
{
    if (out)
        buf_add_char(out, (char)c);
}

/* Behind the opening quote. */
static int cut_string(struct text_source *s, struct buf *out, struct record_fault *fault)
{
    int c, before = 0; /* the byte before, if it escapes this one */
    do {
        c = source_take(s);
        if (c == EOF || c == '\n')
            return record_fail(fault, s->line - (c == '\n'), true, "the string is not closed");
        keep(out, c);
        if (before == '\\')
            before = c = 0;
        else
            before = c;
    } while (c != '"');
    return 0;
}

static int cut_container(struct text_source *s, struct buf *out, struct record_fault *fault)
{
    uint64_t begin = s->line, depth = 0;
    do {
        int c = source_take(s);
        if (c == EOF)
            return record_fail(fault, begin, true, "the file ends inside the value begun here");
        keep(out, c);
        if (c == '"') {
            int err = cut_string(s, out, fault);
            if (err < 0)
                return err;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
    } while (depth);
    return 0;
}

static bool ends_scalar(int c)
{
    return c == EOF || is_blank(c) || c == ',' || c == ']' || c == '}';
}

static int cut_value(struct text_source *s, struct buf *out, struct record_fault *fault)
{
    int c = skip_blanks(s);
    if (c == '{' || c == '[')
        return cut_container(s, out, fault);
    if (ends_scalar(c))
        return unexpected(s, fault, "a value");
    source_take(s);
    keep(out, c);
    if (c == '"')
        return cut_string(s, out, fault);
    while (!ends_scalar(c = source_take(s)))
        keep(out, c);
    source_untake(s, c);
    return 0;
}

/* ---- reading one piece ---------------------------------------------------------------------- */

/* Puts the hot reader's padding behind the text. */
static bool pad(struct buf *text)
{
    if (!buf_reserve(text, JSON_PADDING_BYTES))
        return false;
    memset(text->p + text->n, 0, JSON_PADDING_BYTES);
    return true;
}

static uint64_t line_of(struct str text, uint32_t offset, uint64_t first)
{
    for (uint32_t i = 0; i < offset && i < text.n; i++)
        first += text.p[i] == '\n';
    return first;
}

static int open_text(struct record_reader *r, struct arena *arena, uint64_t line,
                     const struct tape_node **ret, struct record_fault *fault)
{
    struct wire_fault wire;
    if (!pad(&r->text))
        return record_fail(fault, line, false, "the record is larger than %u MiB",
                           RECORD_TEXT_BYTES_MAX >> 20);
    struct str text = buf_str(&r->text);
    int err = tape_open(text, arena, ret, &wire);
    if (err == ERR_NO_MEMORY)
        return record_fail(fault, line, false, "the record needs too much memory");
    if (err < 0)
        return record_fail(fault, line_of(text, wire.offset, line), false,
                           "not valid JSON: %s%s%s%s%s", wire_reason_name(wire.reason),
                           *wire.pointer ? " at " : "", wire.pointer,
                           *wire.expected ? ", expected " : "", wire.expected);
    return 0;
}

/* ---- JSON array ----------------------------------------------------------------------------- */

/* The next token of a JSON pointer, unescaped in place of `text`. */
static struct str next_token(const char **pointer, char *text, size_t size)
{
    uint32_t n = 0;
    const char *p = *pointer + 1; /* behind the slash */
    for (; *p && *p != '/' && n < size; p++) {
        bool escaped = *p == '~' && (p[1] == '0' || p[1] == '1');
        text[n++] = escaped ? (*++p == '0' ? '~' : '/') : *p;
    }
    *pointer = p;
    return (struct str){text, n};
}

/* Reads `"key":`; 1 if the key is `wanted`. */
static int read_key(struct record_reader *r, struct arena *arena, struct str wanted,
                    struct record_fault *fault)
{
    const struct tape_node *key;
    if (skip_blanks(&r->source) != '"')
        return unexpected(&r->source, fault, "a member name in quotes");
    buf_clear(&r->text);
    int err = cut_value(&r->source, &r->text, fault);
    if (err == 0)
        err = open_text(r, arena, r->source.line, &key, fault);
    if (err < 0)
        return err;
    if (skip_blanks(&r->source) != ':')
        return unexpected(&r->source, fault, "':'");
    source_take(&r->source);
    return str_eq(tape_str(key), wanted);
}

/* Goes to the value of member `name` of the object that comes next. */
static int enter_member(struct record_reader *r, struct arena *arena, struct str name,
                        struct record_fault *fault)
{
    struct text_source *s = &r->source;
    if (skip_blanks(s) != '{')
        return unexpected(s, fault, "'{' on the way to the root");
    do {
        source_take(s); /* '{' or ',' */
        if (skip_blanks(s) == '}')
            break;
        int found = read_key(r, arena, name, fault);
        if (found)
            return found < 0 ? found : 0;
        int err = cut_value(s, NULL, fault);
        if (err < 0)
            return err;
    } while (skip_blanks(s) == ',');
    return record_fail(fault, s->line, true, "no member \"" STR_FMT "\" on the way to the root",
                       STR_ARG(name));
}

static int begin_array(struct record_reader *r, struct arena *arena, struct record_fault *fault)
{
    char token[256];
    for (const char *p = r->options.root; p && *p;) {
        int err = enter_member(r, arena, next_token(&p, token, sizeof token), fault);
        if (err < 0)
            return err;
    }
    if (skip_blanks(&r->source) != '[')
        return unexpected(&r->source, fault, "'[': an array of records");
    source_take(&r->source);
    return 0;
}

/* Behind a ']'. What surrounds the array that --root named is nobody's business. */
static int end_array(struct record_reader *r, struct record_fault *fault)
{
    source_take(&r->source);
    r->ended = true;
    if (!r->options.root && skip_blanks(&r->source) != EOF)
        return unexpected(&r->source, fault, "nothing behind the array");
    return 0;
}

/* 1: a record follows; 0: the array has ended. */
static int before_element(struct record_reader *r, struct arena *arena, struct record_fault *fault)
{
    struct text_source *s = &r->source;
    if (!r->begun) {
        int err = begin_array(r, arena, fault);
        if (err < 0)
            return err;
        r->begun = true;
        return skip_blanks(s) == ']' ? end_array(r, fault) : 1;
    }
    int c = skip_blanks(s);
    if (c == ']')
        return end_array(r, fault);
    if (c != ',')
        return unexpected(s, fault, "',' or ']' between records");
    source_take(s);
    return 1;
}

static int next_of_array(struct record_reader *r, struct arena *arena, struct record *ret,
                         struct record_fault *fault)
{
    int more = before_element(r, arena, fault);
    if (more <= 0)
        return more;
    skip_blanks(&r->source);
    ret->line = r->source.line;
    buf_clear(&r->text);
    int err = cut_value(&r->source, &r->text, fault);
    if (err == 0)
        err = open_text(r, arena, ret->line, &ret->row, fault);
    return err < 0 ? err : 1;
}

/* ---- NDJSON --------------------------------------------------------------------------------- */

/* One line without its end; false at the end of the file. */
static bool read_line(struct text_source *s, struct buf *out)
{
    int c = source_peek(s);
    if (c == EOF)
        return false;
    buf_clear(out);
    while ((c = source_take(s)) != EOF && c != '\n')
        buf_add_char(out, (char)c);
    return true;
}

static bool is_empty(const struct buf *line)
{
    for (size_t i = 0; i < line->n; i++)
        if (!is_blank((unsigned char)line->p[i]))
            return false;
    return !line->failed;
}

static int next_of_lines(struct record_reader *r, struct arena *arena, struct record *ret,
                         struct record_fault *fault)
{
    do {
        ret->line = r->source.line;
        if (!read_line(&r->source, &r->text))
            return 0;
    } while (is_empty(&r->text));
    int err = open_text(r, arena, ret->line, &ret->row, fault);
    return err < 0 ? err : 1;
}

/* ---- all three ------------------------------------------------------------------------------ */

struct record_reader *records_new(FILE *file, const struct record_options *options)
{
    struct record_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->options = *options;
    r->source = (struct text_source){.file = file, .line = 1};
    r->text.limit = RECORD_TEXT_BYTES_MAX;
    if (options->format == RECORDS_CSV && !(r->csv = csv_reader_new(options))) {
        free(r);
        return NULL;
    }
    skip_byte_order_mark(&r->source);
    return r;
}

void records_free(struct record_reader *r)
{
    if (!r)
        return;
    csv_reader_free(r->csv);
    buf_done(&r->text);
    free(r);
}

uint64_t records_bytes_read(const struct record_reader *r)
{
    return r->source.bytes;
}

struct str records_text(const struct record_reader *r)
{
    const struct buf *text = r->csv ? csv_reader_text(r->csv) : &r->text;
    struct str all = text->failed ? STR_NONE : buf_str(text);
    while (all.n && is_blank((unsigned char)all.p[all.n - 1]))
        all.n--;
    return all.n ? all : STR_NONE;
}

static int next_of_format(struct record_reader *r, struct arena *arena, struct record *ret,
                          struct record_fault *fault)
{
    switch (r->options.format) {
    case RECORDS_JSON:
        return next_of_array(r, arena, ret, fault);
    case RECORDS_NDJSON:
        return next_of_lines(r, arena, ret, fault);
    case RECORDS_CSV:
        return csv_reader_next(r->csv, &r->source, arena, ret, fault);
    }
    return 0;
}

int records_next(struct record_reader *r, struct arena *arena, struct record *ret,
                 struct record_fault *fault)
{
    if (r->ended)
        return 0;
    int got = next_of_format(r, arena, ret, fault);
    if (got <= 0 && ferror(r->source.file))
        got = record_fail(fault, r->source.line, true, "the file cannot be read on");
    if (got > 0 && ret->row->kind != TAPE_OBJECT)
        got = record_fail(fault, ret->line, false, "a record must be an object, not %s",
                          tape_kind_name(ret->row));
    r->ended = r->ended || got == 0 || (got < 0 && fault->fatal);
    return got;
}
