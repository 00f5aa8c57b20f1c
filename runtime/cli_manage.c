/* cli_manage.c - see cli_manage.h. */
#include "cli_manage.h"

#include "base/clock.h"
#include "base/err.h"

#include <stdio.h>

int cli_manage_open(struct cli_manage *c, const struct cli_args *args, bool reads)
{
    cli_data_init(&c->data);
    c->m = (struct manage){.arena = &c->data.arena};
    int status = cli_data_open(&c->data, args, reads ? CLI_READS : CLI_WRITES);
    c->m.store = c->data.store;
    return status;
}

void cli_manage_close(struct cli_manage *c)
{
    cli_data_close(&c->data);
}

int cli_manage_tell(struct cli_manage *c, int err)
{
    if (c->m.why.n == 0)
        return cli_store_failed(&c->data, c->data.config.data_dir, err);
    if (err == ERR_FORBIDDEN)
        return cli_failed(STR_FMT "; nobody could manage the server but from this machine (--yes "
                                  "does it all the same)",
                          STR_ARG(c->m.why));
    return cli_failed(STR_FMT, STR_ARG(c->m.why));
}

void cli_print_text(struct str text, FILE *out)
{
    for (uint32_t i = 0; i < text.n; i++) {
        unsigned char byte = (unsigned char)text.p[i];
        putc(byte < ' ' || byte == 0x7f ? '?' : byte, out);
    }
}

void cli_print_time(int64_t wall_ms, FILE *out)
{
    char text[CLOCK_TEXT_BYTES];
    clock_write_text(wall_ms, text);
    fprintf(out, "%.10s", text); /* the day */
}
