/* records_csv.c - CSV (RFC 4180) as records, over libcsv.
 *
 * The first line names the attributes. A cell becomes what its attribute's type asks for: a number,
 * true or false, JSON text for arrays and objects, else a string. An empty cell without quotes
 * leaves the attribute out; a quoted empty cell is the empty string. Blanks around a cell are kept
 * in strings. libcsv is fed line by line, so that a record knows on which line it began.
 */
#include "records.h"

#include "base/err.h"
#include "wire/json_scan.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    size_t at;
    uint32_t n;
    bool absent;
};

struct cells {
    struct buf text;
    struct cell v[RECORD_CELLS_MAX];
    uint32_t n;
    bool too_many;
};

struct csv_reader {
    struct csv_parser parser;
    record_types_fn types;
    void *types_ctx;
    struct cells header, row;
    uint8_t column_types[RECORD_CELLS_MAX];
    struct buf line;   /* physical */
    struct buf text;   /* all lines of the row */
    struct buf nested; /* padded copy of a cell that holds JSON */
    bool row_ended, has_header;
};

static int no_space(unsigned char c)
{
    (void)c;
    return 0;
}

struct csv_reader *csv_reader_new(const struct record_options *options)
{
    struct csv_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    if (csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_EMPTY_IS_NULL) != 0) {
        free(r);
        return NULL;
    }
    csv_set_space_func(&r->parser, no_space);
    r->types = options->types;
    r->types_ctx = options->types_ctx;
    r->line.limit = r->text.limit = r->row.text.limit = r->nested.limit = RECORD_TEXT_BYTES_MAX;
    return r;
}

void csv_reader_free(struct csv_reader *r)
{
    if (!r)
        return;
    csv_free(&r->parser);
    buf_done(&r->header.text);
    buf_done(&r->row.text);
    buf_done(&r->line);
    buf_done(&r->text);
    buf_done(&r->nested);
    free(r);
}

const struct buf *csv_reader_text(const struct csv_reader *r)
{
    return &r->text;
}

/* ---- from bytes to cells -------------------------------------------------------------------- */

static void take_cell(void *p, size_t n, void *ctx)
{
    struct cells *row = &((struct csv_reader *)ctx)->row;
    if (row->n == RECORD_CELLS_MAX) {
        row->too_many = true;
        return;
    }
    row->v[row->n++] = (struct cell){row->text.n, (uint32_t)n, p == NULL};
    buf_add(&row->text, p, n);
}

static void end_row(int c, void *ctx)
{
    (void)c;
    ((struct csv_reader *)ctx)->row_ended = true;
}

/* One physical line with its end, LF, CR LF or CR, and zeros behind it. False at the end of the
 * file. */
static bool read_line(struct text_source *s, struct buf *out)
{
    int c;
    buf_clear(out);
    while ((c = source_take(s)) != EOF) {
        buf_add_char(out, (char)c);
        if (c == '\n' || (c == '\r' && source_peek(s) != '\n'))
            break;
    }
    bool read = out->n > 0;
    if (buf_reserve(out, JSON_PADDING_BYTES))
        memset(out->p + out->n, 0, JSON_PADDING_BYTES);
    return read;
}

/* libcsv takes any bytes; a tape takes UTF-8 only. */
static bool is_utf8(const struct buf *line)
{
    const unsigned char *p = (const unsigned char *)line->p, *end = p + line->n;
    while (p < end) {
        unsigned n = *p < 0x80 ? 1 : scan_utf8(p);
        if (n == 0)
            return false;
        p += n;
    }
    return true;
}

/* Feeds physical lines until libcsv reports the end of a row. *line moves past empty lines. */
static int feed_row(struct csv_reader *r, struct text_source *s, uint64_t *line,
                    struct record_fault *fault)
{
    for (uint64_t here = s->line; !r->row_ended && read_line(s, &r->line); here = s->line) {
        bool idle = r->parser.pstate == 0; /* between rows */
        *line = idle ? here : *line;
        if (idle)
            buf_clear(&r->text);
        buf_add_str(&r->text, buf_str(&r->line));
        if (r->line.failed || csv_get_buffer_size(&r->parser) > RECORD_TEXT_BYTES_MAX)
            return record_fail(fault, *line, true, "a cell is too large; is a quote not closed?");
        if (!is_utf8(&r->line))
            return record_fail(fault, here, true, "the line is not UTF-8");
        if (csv_parse(&r->parser, r->line.p, r->line.n, take_cell, end_row, r) != r->line.n)
            return record_fail(fault, here, true,
                               "stray quote: a cell with quotes is quoted, and they are doubled");
    }
    if (!r->row_ended && csv_fini(&r->parser, take_cell, end_row, r) != 0)
        return record_fail(fault, *line, true, "the file ends inside a quoted cell begun here");
    return 0;
}

/* Fills r->row with the next row: 1, 0 at the end, or a fault. */
static int read_row(struct csv_reader *r, struct text_source *s, uint64_t *line,
                    struct record_fault *fault)
{
    buf_clear(&r->row.text);
    r->row.n = 0;
    r->row.too_many = r->row_ended = false;
    int err = feed_row(r, s, line, fault);
    if (err < 0 || !r->row_ended)
        return err;
    if (r->row.text.failed || r->row.too_many)
        return record_fail(fault, *line, false, "the record is too large");
    return 1;
}

static struct str cell_text(const struct cells *row, uint32_t i)
{
    struct str all = buf_str(&row->text);
    return row->v[i].absent ? STR_NONE : (struct str){all.p + row->v[i].at, row->v[i].n};
}

/* ---- header --------------------------------------------------------------------------------- */

static int check_header(const struct cells *header, uint64_t line, struct record_fault *fault)
{
    for (uint32_t i = 0; i < header->n; i++) {
        struct str name = cell_text(header, i);
        if (name.n == 0)
            return record_fail(fault, line, true, "column %u has no name", i + 1);
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(cell_text(header, j), name))
                return record_fail(fault, line, true, "two columns are named \"" STR_FMT "\"",
                                   STR_ARG(name));
    }
    return 1;
}

static int read_header(struct csv_reader *r, struct text_source *s, struct record_fault *fault)
{
    uint64_t line;
    int got = read_row(r, s, &line, fault);
    if (got == 0)
        return record_fail(fault, 1, true, "no header line: the first line names the columns");
    if (got < 0) {
        fault->fatal = true;
        return got;
    }
    struct cells empty = r->header;
    r->header = r->row;
    r->row = empty;
    r->row.text.limit = RECORD_TEXT_BYTES_MAX;
    r->has_header = true;
    for (uint32_t i = 0; i < r->header.n; i++)
        r->column_types[i] = r->types ? r->types(r->types_ctx, cell_text(&r->header, i)) : 0;
    return check_header(&r->header, line, fault);
}

/* ---- from cells to values ------------------------------------------------------------------- */

static const struct tape_node *open_cell(struct csv_reader *r, struct str text, struct arena *arena)
{
    const struct tape_node *node;
    buf_clear(&r->nested);
    buf_add_str(&r->nested, text);
    if (!buf_reserve(&r->nested, JSON_PADDING_BYTES))
        return NULL;
    memset(r->nested.p + r->nested.n, 0, JSON_PADDING_BYTES);
    /* its strings are wanted longer than r->nested stands still */
    struct str copy = arena_str(arena, (struct str){r->nested.p, text.n + JSON_PADDING_BYTES});
    copy.n = text.n;
    return copy.p && tape_open(copy, arena, &node, NULL) == 0 ? node : NULL;
}

static uint8_t types_of(const struct tape_node *node)
{
    static const uint8_t types[] = {
        [TAPE_NULL] = WIRE_T_NULL,   [TAPE_FALSE] = WIRE_T_BOOL,
        [TAPE_TRUE] = WIRE_T_BOOL,   [TAPE_INT] = WIRE_T_INTEGER | WIRE_T_NUMBER,
        [TAPE_NUM] = WIRE_T_NUMBER,  [TAPE_STR] = WIRE_T_STRING,
        [TAPE_ARRAY] = WIRE_T_ARRAY, [TAPE_OBJECT] = WIRE_T_OBJECT,
    };
    return types[node->kind];
}

/* A column that may hold strings takes text as it stands, unless it may hold more than that and the
 * text is such a value. */
static int add_cell(struct csv_reader *r, struct tape_builder *b, struct str text, uint8_t types,
                    struct arena *arena)
{
    bool only_text = types == 0 || types == WIRE_T_STRING ||
                     types == (WIRE_T_STRING | WIRE_T_NULL) || types == WIRE_T_ANY;
    const struct tape_node *node = only_text ? NULL : open_cell(r, text, arena);
    if (node && node->kind != TAPE_STR && types_of(node) & types)
        tape_add_node(b, node);
    else if (only_text || types & WIRE_T_STRING)
        tape_add_str(b, text);
    else
        return ERR_SYNTAX;
    return 0;
}

static int build_row(struct csv_reader *r, struct arena *arena, struct record *ret,
                     struct record_fault *fault)
{
    struct tape_builder b;
    if (r->row.n != r->header.n)
        return record_fail(fault, ret->line, false, "%u cells, but the header names %u columns",
                           r->row.n, r->header.n);
    tape_begin(&b, arena);
    tape_open_object(&b);
    for (uint32_t i = 0; i < r->row.n; i++) {
        struct str text = cell_text(&r->row, i), name = cell_text(&r->header, i);
        if (!text.p)
            continue;
        tape_add_str(&b, name);
        if (add_cell(r, &b, text, r->column_types[i], arena) < 0)
            return record_fail(fault, ret->line, false, STR_FMT ": \"%.*s\" does not fit its type",
                               STR_ARG(name), text.n > 60 ? 60 : (int)text.n, text.p);
    }
    tape_close(&b);
    if (tape_finish(&b, &ret->row) < 0)
        return record_fail(fault, ret->line, false, "the record needs too much memory");
    return 1;
}

int csv_reader_next(struct csv_reader *r, struct text_source *source, struct arena *arena,
                    struct record *ret, struct record_fault *fault)
{
    if (!r->has_header) {
        int err = read_header(r, source, fault);
        if (err < 0)
            return err;
    }
    int got = read_row(r, source, &ret->line, fault);
    return got <= 0 ? got : build_row(r, arena, ret, fault);
}
