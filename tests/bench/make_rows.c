/* tests/bench/make_rows.c - make_rows definition | ndjson N | csv N: what rows.h says, to stdout.
 */
#include "tests/bench/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void flush(struct buf *out)
{
    if (out->failed || fwrite(out->p, 1, out->n, stdout) != out->n) {
        fprintf(stderr, "make_rows: cannot write\n");
        exit(1);
    }
    out->n = 0;
}

int main(int argc, char **argv)
{
    struct buf out = {0};
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    bool csv = argc > 1 && strcmp(argv[1], "csv") == 0;
    if (argc == 2 && strcmp(argv[1], "definition") == 0)
        return puts(rows_definition) < 0;
    if (n == 0) {
        fprintf(stderr, "usage: make_rows definition | ndjson N | csv N\n");
        return 2;
    }
    if (csv)
        rows_write_csv(0, n, &out);
    for (uint64_t i = 1; i <= n; i++) {
        if (csv) {
            rows_write_csv(i, n, &out);
        } else {
            rows_write_json(i, n, &out);
            buf_add_char(&out, '\n');
        }
        if (out.n > 65536)
            flush(&out);
    }
    flush(&out);
    buf_done(&out);
    return fflush(stdout) != 0;
}
