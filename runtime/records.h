/* records.h - a file of records as a stream: JSON array, NDJSON or CSV.
 *
 * One record is in memory at a time, whatever the size of the file. Every record and every fault
 * knows the line on which it stands.
 *
 *   file -> struct text_source (bytes, lines) -> one of three readers -> tape of the record
 */
#ifndef TENON_RECORDS_H
#define TENON_RECORDS_H

#include "wire/tape.h"

#include <stdio.h>

#define RECORD_TEXT_BYTES_MAX (8u << 20) /* of one record as text */
#define RECORD_CELLS_MAX      1024       /* of a CSV line */

enum record_format { RECORDS_JSON, RECORDS_NDJSON, RECORDS_CSV };

/* "json", "ndjson", "csv", or the end of a file's name: 0, or ERR_SYNTAX. */
int record_format_of(const char *name, enum record_format *ret);

struct record {
    uint64_t line; /* on which it begins */
    const struct tape_node *row;
};

struct record_fault {
    uint64_t line;
    bool fatal; /* nothing behind it can be read */
    char text[240];
};

/* Which JSON types (enum wire_json_type) a CSV column may hold; 0 or WIRE_T_ANY: taken as text. */
typedef uint8_t (*record_types_fn)(void *ctx, struct str column);

struct record_options {
    enum record_format format;
    const char *root;      /* JSON: pointer to the array inside the document; NULL: the document */
    record_types_fn types; /* CSV */
    void *types_ctx;
};

struct record_reader;

/* The file stays the caller's and must not be read by others meanwhile. NULL: no memory. */
struct record_reader *records_new(FILE *file, const struct record_options *options);
void records_free(struct record_reader *reader);
/* 1: *ret is the next record, valid until the next call (its nodes lie in `arena`). 0: no more.
 * Negative: *fault says what is wrong; unless it is fatal the next call goes on behind it. */
int records_next(struct record_reader *reader, struct arena *arena, struct record *ret,
                 struct record_fault *fault);
uint64_t records_bytes_read(const struct record_reader *reader);
/* The text of the record that records_next just found bad; STR_NONE if there is none to show. */
struct str records_text(const struct record_reader *reader);

/* ---- for the readers ------------------------------------------------------------------------ */

struct text_source {
    FILE *file;
    uint64_t line; /* of the next byte, from 1 */
    uint64_t bytes;
};

int source_take(struct text_source *s); /* next byte, or EOF */
void source_untake(struct text_source *s, int c);
int source_peek(struct text_source *s);

int record_fail(struct record_fault *fault, uint64_t line, bool fatal, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

struct csv_reader;
struct csv_reader *csv_reader_new(const struct record_options *options);
void csv_reader_free(struct csv_reader *reader);
const struct buf *csv_reader_text(const struct csv_reader *reader); /* of the row at hand */
int csv_reader_next(struct csv_reader *reader, struct text_source *source, struct arena *arena,
                    struct record *ret, struct record_fault *fault);

#endif
