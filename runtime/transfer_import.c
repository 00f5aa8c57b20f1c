/* transfer_import.c - a file of records into a table; see transfer.h. */
#include "transfer.h"

#include "base/err.h"
#include "base/limits.h"
#include "core/row_prepare.h"
#include "wire/json_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RECORD_MEMORY_BYTES (64u << 20)
#define LINES_KEPT          (4 * TXN_ROWS_MAX)
#define PROGRESS_RECORDS    256

struct import {
    struct transfer_import *job;
    struct record_options options;
    uint64_t size;      /* bytes, of one pass */
    struct arena arena; /* of the record at hand */
    uint64_t n_read;    /* records of this pass */
    uint64_t n_rows;    /* good ones */
    uint64_t n_bad;
    struct store_load *load;         /* NULL in the first pass */
    uint64_t n_loaded;               /* rows handed to the store */
    uint64_t *lines;                 /* of the rows handed to it last: row % LINES_KEPT */
    const struct tape_node *at_hand; /* the row that it has now */
    struct store_refusal failed;
};

/* ---- Renames and prefixes ------------------------------------------------------------------- */

static struct str renamed(const struct transfer_import *job, struct str name)
{
    for (uint32_t i = 0; i < job->n_renames; i++)
        if (str_eq(job->renames[i].old, name))
            return job->renames[i].new;
    return name;
}

/* Adds the start of an attribute's text, up to the rule's end mark, as an attribute of its own. */
static void add_prefix(struct tape_builder *b, const struct tape_node *row,
                       const struct transfer_prefix *rule)
{
    const struct tape_node *value = tape_get(row, rule->of);
    if (!value || value->kind != TAPE_STR)
        return;
    struct str text = tape_str(value);
    const char *end = text.n ? memmem(text.p, text.n, rule->end.p, rule->end.n) : NULL;
    if (!end)
        return;
    tape_add_str(b, rule->name);
    tape_add_str(b, (struct str){text.p, (uint32_t)(end - text.p)});
}

static int transform(struct import *im, const struct tape_node **row)
{
    const struct transfer_import *job = im->job;
    struct tape_builder b;
    if (!job->n_renames && !job->n_prefixes)
        return 0;
    tape_begin(&b, &im->arena);
    tape_open_object(&b);
    tape_each (*row, key, value) {
        tape_add_str(&b, renamed(job, tape_str(key)));
        tape_add_node(&b, value);
    }
    for (uint32_t i = 0; i < job->n_prefixes; i++)
        add_prefix(&b, *row, &job->prefixes[i]);
    tape_close(&b);
    return tape_finish(&b, row);
}

static uint8_t column_types(void *ctx, struct str column)
{
    const struct transfer_import *job = ctx;
    return json_schema_member_types(job->table->rows, renamed(job, column));
}

/* ---- Faults --------------------------------------------------------------------------------- */

void transfer_write_fault(const struct transfer_fault *fault, struct buf *out)
{
    const struct {
        struct str name;
        const char *value;
    } parts[] = {{STR(",\"pointer\":"), fault->pointer},
                 {STR(",\"keyword\":"), fault->keyword},
                 {STR(",\"expected\":"), fault->expected},
                 {STR(",\"reason\":"), fault->text}};
    buf_printf(out, "{\"line\":%llu", (unsigned long long)fault->line);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buf_add_str(out, parts[i].name);
        json_write_str(out, str_of(parts[i].value));
    }
    if (fault->record) {
        buf_add_lit(out, ",\"record\":");
        tape_write(fault->record, out);
    } else if (fault->raw.p) {
        buf_add_lit(out, ",\"text\":");
        json_write_str(out, fault->raw);
    }
    buf_add_lit(out, "}\n");
}

/* With skips_bad the second pass tells, since only that one finds all; else the first. */
static int tell(struct import *im, const struct transfer_fault *fault)
{
    struct transfer_import *job = im->job;
    im->n_bad++;
    if (job->skips_bad && !im->load && !fault->fatal)
        return 0;
    return job->fault(job->ctx, fault);
}

static int tell_syntax(struct import *im, const struct record_fault *found,
                       const struct record_reader *reader)
{
    const struct transfer_fault fault = {.line = found->line,
                                         .pointer = "",
                                         .keyword = "syntax",
                                         .expected = "",
                                         .text = found->text,
                                         .fatal = found->fatal,
                                         .raw = records_text(reader)};
    return tell(im, &fault);
}

static int tell_names(struct import *im, const struct record *record)
{
    const struct transfer_fault fault = {
        .line = record->line,
        .pointer = "",
        .keyword = "syntax",
        .expected = "",
        .text = "two attributes have the same name after --rename or --prefix",
        .record = record->row};
    return tell(im, &fault);
}

static int tell_misfit(struct import *im, const struct record *record,
                       const struct schema_faults *faults)
{
    char text[sizeof faults->v[0].pointer + sizeof faults->v[0].expected + 64];
    const struct schema_fault *first = &faults->v[0];
    snprintf(text, sizeof text, "%s%s%s, expected %s", first->pointer, *first->pointer ? ": " : "",
             first->keyword, first->expected);
    const struct transfer_fault fault = {.line = record->line,
                                         .pointer = first->pointer,
                                         .keyword = first->keyword,
                                         .expected = first->expected,
                                         .text = text,
                                         .record = record->row};
    return tell(im, &fault);
}

/* ---- What the store refuses ----------------------------------------------------------------- */

struct index_text {
    uint32_t table, index;
    bool found;
    char name[NAME_BYTES_MAX + 1], attributes[160];
    char pointer[JSON_POINTER_BYTES]; /* of its first attribute */
};

static int find_index(void *ctx, const struct store_table *table)
{
    struct index_text *text = ctx;
    for (uint32_t i = 0; table->id == text->table && i < table->n_indexes; i++) {
        const struct store_index *index = &table->indexes[i];
        if (index->id != text->index)
            continue;
        snprintf(text->name, sizeof text->name, STR_FMT, STR_ARG(index->name));
        for (uint32_t k = 0, n = 0; k < index->n_parts && n < sizeof text->attributes; k++)
            n += (uint32_t)snprintf(text->attributes + n, sizeof text->attributes - n, "%s" STR_FMT,
                                    k ? ", " : "", STR_ARG(index->parts[k].attribute));
        snprintf(text->pointer, sizeof text->pointer, "/" STR_FMT,
                 STR_ARG(index->parts[0].attribute));
        for (char *p = text->pointer; *p; p++)
            *p = *p == '.' ? '/' : *p;
        text->found = true;
    }
    return table->id == text->table;
}

static struct index_text index_of(const struct import *im, uint32_t index)
{
    struct index_text text = {.table = im->job->table->id, .index = index};
    struct store_view *view;
    if (index == 0 || store_view_open(im->job->store, STORE_DATA, &view) < 0)
        return text;
    store_scan_tables(view, find_index, &text);
    store_view_close(view);
    return text;
}

/* Keys are checked before, so it is the row itself. */
static void say_too_large(const struct tape_node *row, char text[512])
{
    uint32_t nodes = row->kind >= TAPE_ARRAY ? row->v.size : 1;
    if (nodes > ROW_NODES_MAX)
        snprintf(text, 512, "the row has %u values and names, and a row may have %u", nodes,
                 ROW_NODES_MAX);
    else
        snprintf(text, 512, "the row has %llu bytes as it is stored, and a row may have %u",
                 (unsigned long long)store_row_bytes(row), ROW_BYTES_MAX);
}

static void describe_refusal(const struct import *im, const struct store_refusal *refusal,
                             struct index_text *index, char text[512], struct transfer_fault *fault)
{
    const struct table *table = im->job->table;
    struct str key = table->attributes[table->key].name;
    bool exists = refusal->err == ERR_EXISTS;
    *index = index_of(im, refusal->index);
    if (!index->found)
        snprintf(index->pointer, sizeof index->pointer, "/" STR_FMT, STR_ARG(key));
    if (exists && !refusal->index)
        snprintf(text, 512, "a row with this primary key exists already (--replace overwrites)");
    else if (exists)
        snprintf(text, 512, "another row has the same %s (unique index %s)", index->attributes,
                 index->name);
    else if (refusal->index)
        snprintf(text, 512, "%s: index %s cannot hold it (%s)", index->attributes, index->name,
                 refusal->err == ERR_LIMIT ? "too long" : "not of its type");
    else
        say_too_large(refusal->content ? refusal->content : im->at_hand, text);
    *fault = (struct transfer_fault){.line = im->lines[refusal->row % LINES_KEPT],
                                     .pointer = exists || refusal->index ? index->pointer : "",
                                     .keyword = !exists          ? "limit"
                                                : refusal->index ? "unique"
                                                                 : "exists",
                                     .expected = !exists          ? "less"
                                                 : refusal->index ? "a value that no other row has"
                                                                  : "a key that no row has",
                                     .text = text,
                                     .record = refusal->content};
}

static int take_refusal(void *ctx, const struct store_refusal *refusal)
{
    struct import *im = ctx;
    struct transfer_fault fault;
    struct index_text index;
    char text[512];
    describe_refusal(im, refusal, &index, text, &fault);
    im->n_rows--;
    return tell(im, &fault);
}

static void take_kept(void *ctx, const struct store_refusal *refusal)
{
    struct import *im = ctx;
    im->job->n_kept++;
    if (im->job->kept)
        im->job->kept(im->job->ctx, refusal);
}

static int tell_ready(void *ctx)
{
    const struct transfer_import *job = ((struct import *)ctx)->job;
    return job->ready(job->ctx);
}

/* ---- One record ----------------------------------------------------------------------------- */

static int load_row(struct import *im, struct str key, const struct record *record)
{
    im->lines[im->n_loaded++ % LINES_KEPT] = record->line;
    im->at_hand = record->row;
    return store_load_row(im->load, key, record->row,
                          im->job->replaces ? STORE_ANY : STORE_MISSING);
}

/* ERR_SYNTAX: a bad record, which was told. */
static int take_record(struct import *im, struct record *record)
{
    const struct table *table = im->job->table;
    struct schema_faults faults;
    struct str key;
    int told;
    int err = transform(im, &record->row);
    if (err == ERR_NO_MEMORY)
        return err;
    if (err < 0) {
        told = tell_names(im, record);
        return told ? told : ERR_SYNTAX;
    }
    err = table_prepare_row(table, record->row, &im->arena, &record->row, &key, &faults);
    if (err == ERR_PARAMS || err == ERR_LIMIT) {
        told = tell_misfit(im, record, &faults);
        return told ? told : ERR_SYNTAX;
    }
    if (err < 0)
        return err;
    im->n_rows++;
    return im->load ? load_row(im, key, record) : 0;
}

/* ---- Passes --------------------------------------------------------------------------------- */

static int tell_progress(struct import *im, enum transfer_phase phase, uint64_t bytes, bool last)
{
    struct transfer_import *job = im->job;
    const struct transfer_progress now = {
        .phase = phase, .rows = im->n_rows, .bytes = bytes, .total = im->size, .last = last};
    return job->progress && job->progress(job->ctx, &now) ? ERR_CANCELLED : 0;
}

/* 1: there may be more; 0: the end; ERR_SYNTAX: a bad record behind which the pass does not go on.
 */
static int take_next(struct import *im, struct record_reader *reader)
{
    struct record record;
    struct record_fault found;
    arena_reset(&im->arena);
    int got = records_next(reader, &im->arena, &record, &found);
    if (got == 0)
        return 0;
    im->n_read++;
    int err = got > 0 ? take_record(im, &record) : tell_syntax(im, &found, reader);
    if (err && err != ERR_SYNTAX)
        return err;
    if (got < 0 && found.fatal)
        return ERR_SYNTAX;
    bool bad = got < 0 || err;
    return bad && im->load && !im->job->skips_bad ? ERR_SYNTAX : 1;
}

static int read_records(struct import *im, struct record_reader *reader)
{
    enum transfer_phase phase = im->load ? TRANSFER_LOADS : TRANSFER_CHECKS;
    int more;
    do {
        more = take_next(im, reader);
        if (more >= 0 && (more == 0 || im->n_read % PROGRESS_RECORDS == 0)) {
            int err = tell_progress(im, phase, records_bytes_read(reader), more == 0);
            more = err ? err : more;
        }
    } while (more > 0);
    return more;
}

static int pass(struct import *im)
{
    rewind(im->job->file);
    im->n_rows = im->n_bad = im->n_read = 0;
    struct record_reader *reader = records_new(im->job->file, &im->options);
    if (!reader)
        return ERR_NO_MEMORY;
    int err = read_records(im, reader);
    records_free(reader);
    return err;
}

/* ---- Loading -------------------------------------------------------------------------------- */

/* The record because of which the store would not go on. */
static int tell_failed(struct import *im, int err)
{
    struct store_refusal refusal = {.row = store_load_failed_row(im->load),
                                    .err = err,
                                    .index = store_load_failed_index(im->load)};
    struct transfer_fault fault;
    struct index_text index;
    char text[512];
    bool is_known = refusal.row < im->n_loaded && refusal.row + LINES_KEPT >= im->n_loaded;
    if (!is_known || (err != ERR_EXISTS && err != ERR_LIMIT && err != ERR_PARAMS))
        return err;
    describe_refusal(im, &refusal, &index, text, &fault);
    int told = tell(im, &fault);
    return told ? told : ERR_SYNTAX;
}

static int load_all(struct import *im)
{
    int err = pass(im);
    if (err == ERR_SYNTAX)
        return ERR_CONFLICT; /* it was good a moment ago */
    if (err == 0)
        err = store_load_commit(im->load);
    if (err == 0)
        im->load = NULL;
    return err == 0 || im->job->skips_bad ? err : tell_failed(im, err);
}

static int load(struct import *im)
{
    struct transfer_import *job = im->job;
    const struct store_load_rules rules = {.table_version = job->table->version,
                                           .refused = job->skips_bad ? take_refusal : NULL,
                                           .kept = take_kept,
                                           .ready = job->ready ? tell_ready : NULL,
                                           .ctx = im};
    int err = store_load_begin(job->store, job->table->id, &im->load);
    if (err < 0)
        return err;
    store_load_set_rules(im->load, &rules);
    err = load_all(im);
    if (im->load) {
        tell_progress(im, TRANSFER_TAKES_BACK, 0, true);
        job->taking_back = store_load_abort(im->load);
    }
    return err;
}

static int import(struct import *im)
{
    int err = pass(im);
    if (err == 0 && im->n_bad && !im->job->skips_bad)
        err = ERR_SYNTAX;
    return err ? err : load(im);
}

int transfer_import(struct transfer_import *job)
{
    struct stat st;
    struct import im = {.job = job};
    if (fstat(fileno(job->file), &st) < 0)
        return ERR_IO;
    im.size = (uint64_t)st.st_size;
    im.options = (struct record_options){
        .format = job->format, .root = job->root, .types = column_types, .types_ctx = job};
    im.lines = calloc(LINES_KEPT, sizeof *im.lines);
    if (!im.lines)
        return ERR_NO_MEMORY;
    arena_init(&im.arena, RECORD_MEMORY_BYTES);
    job->n_kept = 0;
    job->taking_back = 0;
    int err = import(&im);
    job->n_rows = err ? 0 : im.n_rows;
    job->n_bad = im.n_bad;
    arena_done(&im.arena);
    free(im.lines);
    return err;
}

/* ---- What cannot be rewound ----------------------------------------------------------------- */

static bool copy(FILE *in, FILE *out)
{
    char piece[65536];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, in)) > 0)
        if (fwrite(piece, 1, n, out) != n)
            return false;
    return !ferror(in) && fflush(out) == 0;
}

FILE *transfer_rewindable(FILE *file)
{
    struct stat st;
    if (fstat(fileno(file), &st) < 0)
        return NULL;
    if (S_ISREG(st.st_mode))
        return file;
    FILE *out = tmpfile();
    if (out && !copy(file, out)) {
        int why = errno;
        fclose(out);
        errno = why;
        return NULL;
    }
    return out;
}
