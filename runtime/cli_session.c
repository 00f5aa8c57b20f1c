/* cli_session.c - `tenon session list|close`: the sessions of the servers on a data directory. */
#include "base/clock.h"
#include "base/err.h"
#include "cli_data.h"
#include "core/manage_sessions.h"
#include "wire/json_write.h"
#include "wire/tape.h"

#include <stdio.h>
#include <string.h>

/* First for reading, which makes nothing where nothing is. */
static int open_sessions(struct cli_data *data, const struct cli_args *args)
{
    int status = cli_data_open(data, args, CLI_READS);
    if (status)
        return status;
    store_close(data->store);
    data->store = NULL;
    return cli_data_open(data, args, CLI_SESSIONS);
}

/* ---- list ----------------------------------------------------------------------------------- */

struct listing {
    int64_t now_ms;
    uint64_t n;
};

static struct str member(const struct tape_node *object, struct str name)
{
    const struct tape_node *value = tape_get(object, name);
    return value && value->kind == TAPE_STR ? tape_str(value) : STR("");
}

/* The client's own words: quoted, and only what is plain text on every terminal. */
static void print_client(struct str info)
{
    struct arena arena;
    const struct tape_node *client = NULL;
    arena_init(&arena, 0);
    char *copy = arena_zalloc(&arena, (size_t)info.n + JSON_PADDING_BYTES);
    if (copy && info.n)
        memcpy(copy, info.p, info.n);
    if (copy && tape_open((struct str){copy, info.n}, &arena, &client, NULL) == 0 &&
        client->kind == TAPE_OBJECT) {
        struct str text =
            arena_printf(&arena, STR_FMT " " STR_FMT, STR_ARG(member(client, STR("name"))),
                         STR_ARG(member(client, STR("version"))));
        putchar('"');
        for (uint32_t i = 0; i < text.n && i < 80; i++)
            putchar(text.p[i] >= ' ' && text.p[i] < 0x7f && text.p[i] != '"' ? text.p[i] : '?');
        putchar('"');
    }
    arena_done(&arena);
}

static int print_session(void *ctx, const char *handle, const struct store_session *s)
{
    struct listing *l = ctx;
    printf("%s\t" STR_FMT "\t" STR_FMT "\t%s\t" STR_FMT "\t", handle, STR_ARG(s->profile),
           STR_ARG(s->user.n ? s->user : STR("-")), s->initialized ? "operating" : "initializing",
           STR_ARG(s->version));
    print_client(s->client_info);
    printf("\tused %lld s ago, expires in %lld s\n", (long long)(l->now_ms - s->active_ms) / 1000,
           (long long)(s->expires_ms - l->now_ms) / 1000);
    l->n++;
    return 0;
}

static int run_list(const struct cli_args *args)
{
    struct cli_data data;
    struct listing l = {.now_ms = clock_wall_ms()};
    cli_data_init(&data);
    int status = open_sessions(&data, args);
    if (status == 0) {
        struct manage m = {.store = data.store, .arena = &data.arena};
        int err = manage_list_sessions(&m, print_session, &l);
        if (err == 0 && l.n == 0)
            fprintf(stderr, "no sessions in %s\n", data.config.data_dir);
        status = err < 0 ? cli_store_failed(&data, "session list", err) : cli_flush();
    }
    cli_data_close(&data);
    return status;
}

/* ---- close ---------------------------------------------------------------------------------- */

static int run_close(const struct cli_args *args)
{
    struct cli_data data;
    cli_data_init(&data);
    int status = open_sessions(&data, args);
    if (status == 0) {
        struct manage m = {.store = data.store, .arena = &data.arena};
        struct str id;
        int err = manage_close_session(&m, str_of(args->operands[0]), &id);
        if (err == 0)
            printf("closed session %s\n", args->operands[0]);
        status = err == ERR_ABSENT ? cli_failed(STR_FMT " in %s (tenon session list shows all)",
                                                STR_ARG(m.why), data.config.data_dir)
                 : err < 0         ? cli_store_failed(&data, "session close", err)
                                   : CLI_DONE;
    }
    cli_data_close(&data);
    return status;
}

/* ---- Their descriptions --------------------------------------------------------------------- */

static const struct cli_option options[] = {
    CLI_OPTION_CONFIG,
    CLI_OPTION_DATA,
    CLI_OPTIONS_END,
};

const struct cli_command cli_session_list = {
    .name = "session list",
    .operands = "",
    .summary = "List the sessions of clients",
    .options = options,
    .notes =
        "One a line, tabs between: handle, profile, user (-: nobody), state, protocol version, "
        "client, use.\nThe id of a session is a secret of its client and is not shown.",
    .run = run_list,
};

const struct cli_command cli_session_close = {
    .name = "session close",
    .operands = "HANDLE",
    .summary = "End a client's session; it has to initialize again",
    .options = options,
    .notes = "HANDLE is the first column of tenon session list.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_close,
};
