/* cli_import.c - `tenon import`: a file of records into a table, all or nothing.
 *
 * Two passes over the file. The first judges every record and writes nothing, so a bad record on
 * the last line costs nothing; the second judges again and loads. A load that fails half-way (a key
 * that exists, a full disk) is rolled back by the store. Memory does not grow with the file.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "cli_data.h"
#include "records.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD_MEMORY_BYTES (64u << 20)
#define BAD_SHOWN_MAX       20
#define LINES_KEPT          (4 * TXN_ROWS_MAX)
#define PROGRESS_MS         200

struct import {
    const struct cli_args *args;
    struct cli_data data;
    struct table table;
    struct record_options options;
    FILE *file;
    const char *path;
    uint64_t size;      /* bytes, of one pass */
    struct arena arena; /* of the record at hand */
    bool replace, skip_bad;
    uint64_t n_rows, n_bad;     /* of this pass */
    struct store_load *load;    /* NULL in the first pass */
    uint64_t lines[LINES_KEPT]; /* of the rows handed to the store last: row % LINES_KEPT */
    int64_t progress_ms;
    int pass;
};

/* ---- --rename and --prefix ------------------------------------------------------------------ */

/* The new name that --rename OLD=NEW gives. */
static struct str renamed(const struct import *im, struct str name)
{
    for (uint32_t i = 0; i < im->args->n_given; i++) {
        const struct cli_given *g = &im->args->given[i];
        struct str new = str_of(g->value), old = STR_NONE;
        if (strcmp(g->option->name, "--rename") == 0)
            old = str_cut(&new, '=');
        if (old.p && str_eq(old, name))
            return new;
    }
    return name;
}

struct prefix_rule {
    struct str name, of, end; /* NEW=ATTRIBUTE:END */
};

static bool read_prefix_rule(const struct cli_given *g, struct prefix_rule *ret)
{
    if (strcmp(g->option->name, "--prefix") != 0)
        return false;
    struct str rest = str_of(g->value);
    ret->name = str_cut(&rest, '=');
    ret->of = rest.p ? str_cut(&rest, ':') : STR_NONE;
    ret->end = rest;
    return true;
}

/* Adds the start of an attribute's text, up to the rule's end mark, as an attribute of its own. */
static void add_prefix(struct tape_builder *b, const struct tape_node *row,
                       const struct prefix_rule *rule)
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
    struct tape_builder b;
    struct prefix_rule rule;
    if (!cli_value(im->args, "--rename") && !cli_value(im->args, "--prefix"))
        return 0;
    tape_begin(&b, &im->arena);
    tape_open_object(&b);
    tape_each (*row, key, value) {
        tape_add_str(&b, renamed(im, tape_str(key)));
        tape_add_node(&b, value);
    }
    for (uint32_t i = 0; i < im->args->n_given; i++)
        if (read_prefix_rule(&im->args->given[i], &rule))
            add_prefix(&b, *row, &rule);
    tape_close(&b);
    return tape_finish(&b, row);
}

static int check_rules(const struct cli_args *args)
{
    struct prefix_rule rule;
    for (uint32_t i = 0; i < args->n_given; i++) {
        const struct cli_given *g = &args->given[i];
        struct str new = str_of(g->value);
        if (strcmp(g->option->name, "--rename") == 0 && (!str_cut(&new, '=').n || !new.n))
            return cli_usage(args->command, "--rename: expected OLD=NEW, found %s", g->value);
        if (read_prefix_rule(g, &rule) && (!rule.name.n || !rule.of.n || !rule.end.n))
            return cli_usage(args->command, "--prefix: expected NEW=ATTRIBUTE:END, found %s",
                             g->value);
    }
    return 0;
}

/* ---- one record ----------------------------------------------------------------------------- */

static int tell_row_fault(struct record_fault *fault, uint64_t line,
                          const struct schema_faults *faults)
{
    const struct schema_fault *first = &faults->v[0];
    return record_fail(fault, line, false, "%s%s%s, expected %s", first->pointer,
                       *first->pointer ? ": " : "", first->keyword, first->expected);
}

static int load_row(struct import *im, struct str key, const struct record *record)
{
    im->lines[im->n_rows % LINES_KEPT] = record->line;
    return store_load_row(im->load, key, record->row, im->replace ? STORE_ANY : STORE_MISSING);
}

/* 0; ERR_SYNTAX with *fault: a bad record; another error: the store's. */
static int take_record(struct import *im, struct record *record, struct record_fault *fault)
{
    struct schema_faults faults;
    struct str key;
    if (transform(im, &record->row) < 0)
        return record_fail(fault, record->line, false,
                           "two attributes have the same name after --rename or --prefix");
    int err = table_check_row(&im->table, record->row, &faults);
    if (err == 0)
        err = table_row_key(&im->table, record->row, &im->arena, &key, &faults);
    if (err == ERR_PARAMS || err == ERR_LIMIT)
        return tell_row_fault(fault, record->line, &faults);
    if (err < 0)
        return err;
    return im->load ? load_row(im, key, record) : 0;
}

/* ---- passes --------------------------------------------------------------------------------- */

static void show_progress(struct import *im, uint64_t bytes, bool last)
{
    int64_t now = clock_mono_ms();
    if (!isatty(STDERR_FILENO) || (!last && now - im->progress_ms < PROGRESS_MS))
        return;
    im->progress_ms = now;
    double share = im->size ? 100.0 * (double)bytes / (double)im->size : 100;
    fprintf(stderr, "\r%s: %llu records, %3.0f %%%s", im->load ? "loading" : "checking",
            (unsigned long long)im->n_rows, share > 100 ? 100 : share, last ? "\n" : "");
}

/* Says what is wrong with a record. True if the import goes on. */
static bool tolerate(struct import *im, const struct record_fault *fault)
{
    bool goes_on = im->skip_bad && !fault->fatal;
    if (!im->load && im->n_bad < BAD_SHOWN_MAX)
        fprintf(stderr, "%s:%llu: %s\n", im->path, (unsigned long long)fault->line, fault->text);
    im->n_bad++;
    return goes_on;
}

/* Reads the whole file. 0, or an error after which there is nothing more to say about records. */
static int read_records(struct import *im, struct record_reader *reader)
{
    struct record record;
    struct record_fault fault;
    int got;
    do {
        arena_reset(&im->arena);
        got = records_next(reader, &im->arena, &record, &fault);
        int err = got > 0 ? take_record(im, &record, &fault) : got;
        if (err == ERR_SYNTAX && !tolerate(im, &fault))
            return err;
        if (err < 0 && err != ERR_SYNTAX)
            return err;
        im->n_rows += got > 0 && err == 0;
        show_progress(im, records_bytes_read(reader), got == 0);
    } while (got != 0);
    return 0;
}

static int pass(struct import *im)
{
    rewind(im->file);
    im->n_rows = im->n_bad = 0;
    struct record_reader *reader = records_new(im->file, &im->options);
    if (!reader)
        return ERR_NO_MEMORY;
    int err = read_records(im, reader);
    records_free(reader);
    return err;
}

static int refuse_bad(const struct import *im)
{
    if (im->n_bad > BAD_SHOWN_MAX)
        fprintf(stderr, "... and %llu more\n", (unsigned long long)(im->n_bad - BAD_SHOWN_MAX));
    return cli_failed("nothing was imported");
}

/* ---- loading -------------------------------------------------------------------------------- */

static void tell_load_fault(struct import *im, int err)
{
    const char *reason = err == ERR_EXISTS  ? "a row with this primary key exists already "
                                              "(--replace overwrites)"
                         : err == ERR_LIMIT ? "the row is too large for the database"
                                            : NULL;
    uint64_t row = store_load_failed_row(im->load);
    bool known = row <= im->n_rows && row + LINES_KEPT > im->n_rows;
    if (err == ERR_SYNTAX)
        fprintf(stderr, "%s changed while it was read\n", im->path);
    else if (reason && known)
        fprintf(stderr, "%s:%llu: %s\n", im->path, (unsigned long long)im->lines[row % LINES_KEPT],
                reason);
    else
        cli_store_failed(&im->data, im->args->operands[0], err);
}

/* Takes back what went in. */
static int abort_load(struct import *im)
{
    int err = store_load_abort(im->load);
    return err == 0 ? cli_failed("nothing was imported")
                    : cli_failed("rows that went in could not be taken back yet (%s); a server, or "
                                 "the next command that writes, will",
                                 err_text(err));
}

static int load(struct import *im)
{
    int err = store_load_begin(im->data.store, im->table.id, &im->load);
    if (err == ERR_BUSY)
        return cli_failed("another import is running: nothing was imported");
    if (err < 0)
        return cli_store_failed(&im->data, im->args->operands[0], err);
    err = pass(im);
    if (err == 0)
        err = store_load_commit(im->load);
    if (err == 0)
        return CLI_DONE;
    tell_load_fault(im, err);
    return abort_load(im);
}

static int import(struct import *im)
{
    int err = pass(im);
    uint64_t n_bad = im->n_bad;
    if (err == ERR_SYNTAX)
        return refuse_bad(im);
    if (err < 0)
        return cli_failed("%s: %s", im->path, err_text(err));
    int status = load(im);
    if (status)
        return status;
    printf("imported %llu rows into %s", (unsigned long long)im->n_rows, im->args->operands[0]);
    if (n_bad)
        printf(", left out %llu bad records", (unsigned long long)n_bad);
    putchar('\n');
    return CLI_DONE;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* The types of a CSV column, from the attribute's schema: {"type": "integer"} or a list of types.
 */
static uint8_t column_types(void *ctx, struct str column)
{
    static const struct {
        const char *name;
        uint8_t types;
    } known[] = {
        {"null", WIRE_T_NULL},     {"boolean", WIRE_T_BOOL},  {"integer", WIRE_T_INTEGER},
        {"number", WIRE_T_NUMBER}, {"string", WIRE_T_STRING}, {"array", WIRE_T_ARRAY},
        {"object", WIRE_T_OBJECT},
    };
    const struct import *im = ctx;
    const struct table_attribute *attribute = table_find_attribute(&im->table, renamed(im, column));
    const struct tape_node *type = attribute && attribute->schema->kind == TAPE_OBJECT
                                       ? tape_get(attribute->schema, STR("type"))
                                       : NULL;
    uint8_t types = 0;
    uint32_t n = !type ? 0 : type->kind == TAPE_ARRAY ? type->n : 1;
    const struct tape_node *name = n && type->kind == TAPE_ARRAY ? type + 1 : type;
    for (; n--; name = tape_next(name))
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (name->kind == TAPE_STR && str_eq(tape_str(name), str_of(known[i].name)))
                types |= known[i].types;
    return types;
}

static int choose_format(struct import *im)
{
    const char *format = cli_value(im->args, "--format");
    im->options.root = cli_value(im->args, "--root");
    im->options.types = column_types;
    im->options.types_ctx = im;
    if (record_format_of(format ? format : im->path, &im->options.format) < 0)
        return cli_usage(im->args->command,
                         format ? "--format: expected json, ndjson or csv, found %s"
                                : "the name %s does not tell the format: give --format",
                         format ? format : im->path);
    if (im->options.root &&
        (im->options.format != RECORDS_JSON || (*im->options.root && *im->options.root != '/')))
        return cli_usage(im->args->command, "--root: a JSON pointer such as /data, for JSON only");
    return 0;
}

/* The file is read twice: what cannot be rewound goes into a nameless copy first. */
static FILE *copy_of(FILE *in)
{
    char piece[65536];
    size_t n;
    FILE *copy = tmpfile();
    while (copy && (n = fread(piece, 1, sizeof piece, in)) > 0)
        if (fwrite(piece, 1, n, copy) != n) {
            fclose(copy);
            copy = NULL;
        }
    return copy;
}

static int open_file(struct import *im)
{
    struct stat st;
    bool standard_input = strcmp(im->path, "-") == 0;
    im->file = standard_input ? stdin : fopen(im->path, "rb");
    if (!im->file || fstat(fileno(im->file), &st) < 0)
        return cli_failed("%s: %s", im->path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return cli_failed("%s: is a directory", im->path);
    if (!S_ISREG(st.st_mode)) {
        FILE *copy = copy_of(im->file);
        if (!copy || fstat(fileno(copy), &st) < 0)
            return cli_failed("%s: no room for a temporary copy: %s", im->path, strerror(errno));
        if (!standard_input)
            fclose(im->file);
        im->file = copy;
    }
    im->size = (uint64_t)st.st_size;
    return 0;
}

static int run(const struct cli_args *args)
{
    struct import im = {.args = args,
                        .path = args->operands[1],
                        .replace = cli_value(args, "--replace") != NULL,
                        .skip_bad = cli_value(args, "--skip-bad") != NULL};
    cli_data_init(&im.data);
    arena_init(&im.arena, RECORD_MEMORY_BYTES);
    int status = check_rules(args);
    if (status == 0)
        status = choose_format(&im);
    if (status == 0)
        status = open_file(&im);
    if (status == 0)
        status = cli_data_open(&im.data, args, false);
    if (status == 0)
        status = cli_table_get(&im.data, args, &im.table);
    if (status == 0)
        status = import(&im);
    if (im.file && im.file != stdin)
        fclose(im.file);
    arena_done(&im.arena);
    cli_data_close(&im.data);
    return status;
}

static const struct cli_option options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTION_MODE,
    {"--format", "json|ndjson|csv", "of the file (default: by the end of its name)", NULL},
    {"--root", "POINTER", "JSON: where the array stands in the document, such as /data", NULL},
    {"--replace", NULL, "rows whose primary key exists are overwritten", NULL},
    {"--skip-bad", NULL, "leave bad records out and import the rest", NULL},
    {"--rename", "OLD=NEW", "name of an attribute in the file, and in the table; repeatable", NULL},
    {"--prefix", "NEW=ATTRIBUTE:END",
     "a new attribute: the text of ATTRIBUTE before the first END; repeatable", NULL},
    CLI_OPTIONS_END,
};

const struct cli_command cli_import = {
    .name = "import",
    .operands = "DATABASE.TABLE FILE",
    .summary = "Import a JSON array, NDJSON or CSV file, all or nothing",
    .options = options,
    .notes = "FILE \"-\" is standard input. The first line of a CSV file names the attributes; an\n"
             "empty cell leaves its attribute out. A bad record is told as FILE:LINE with the\n"
             "reason, and then nothing is imported, unless --skip-bad is given.",
    .operands_min = 2,
    .operands_max = 2,
    .run = run,
};
