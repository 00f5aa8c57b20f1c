/* tests/multi/test_jobs.c - jobs of a server with several workers: every worker tells of them and
 * ends them, and what a killed server left behind has failed.
 */
#include "tests/lib/match.h"
#include "tests/lib/mcp.h"
#include "tests/lib/server.h"
#include "tests/lib/tap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The operations stand where the tables are else. */
#define CONFIG                                                                             \
    "{\"mcp\":{\"application\":{\"mountPath\":\"/tables\"},\"operations\":{\"mountPath\":" \
    "\"/mcp\",\"allow\":[\"*\"]}}}"
#define ROWS      60000
#define CLIENTS   8
#define WRITERS   3
#define ALTERS    16
#define ROUND_MS  4 /* later, in each alter; all rows take some 40 ms */
#define WRITER_MS 2
#define TABLE     "\"database\":\"t\",\"table\":\"big\""
#define DEFINITION(people)                                                            \
    "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{" \
    "\"type\":\"integer\"},\"text\":{\"type\":\"string\"},\"people\":" people "}}}"

/* ---- Asking --------------------------------------------------------------------------------- */

static bool gives(struct mcp_client *c, const char *tool, const char *args, const char *structured)
{
    char pattern[2048], why[512], *body = NULL;
    struct match_vars vars = {{NULL}};
    snprintf(pattern, sizeof pattern, "{\"result\":{\"structuredContent\":%s,...},...}",
             structured);
    bool ok =
        mcp_call(c, tool, args, &body) == 200 && body && match_json(pattern, body, &vars, why);
    match_vars_clear(&vars);
    free(body);
    return ok;
}

static bool start_job(struct mcp_client *c, const char *tool, const char *args, char id[64])
{
    char *body = NULL, why[512];
    struct match_vars vars = {{NULL}};
    bool ok =
        mcp_call(c, tool, args, &body) == 200 && body &&
        match_json("{\"result\":{\"structuredContent\":{\"job\":$J},...},...}", body, &vars, why);
    if (ok)
        snprintf(id, 64, "%s", vars.value['J' - 'A']);
    else
        tap_note("%s: %s", tool, body ? body : "no answer");
    match_vars_clear(&vars);
    free(body);
    return ok;
}

static bool job_is(struct mcp_client *c, const char *id, const char *pattern)
{
    char args[128];
    snprintf(args, sizeof args, "{\"id\":\"%s\"}", id);
    return gives(c, "get_job", args, pattern);
}

/* Not of one that was lost. */
static bool is_over(struct mcp_client *c, const char *id)
{
    return job_is(c, id, "{\"finished\":\"*\",...}");
}

/* More connections than workers, so that most likely each worker has one. */
struct clients {
    struct mcp_client v[CLIENTS];
};

static bool open_all(struct clients *all, uint16_t port)
{
    bool ok = mcp_open(&all->v[0], port, "2025-06-18");
    for (int i = 1; i < CLIENTS; i++)
        ok = mcp_join(&all->v[i], port, all->v[0].session) && mcp_ping(&all->v[i]) && ok;
    return ok;
}

static void close_all(struct clients *all)
{
    for (int i = 0; i < CLIENTS; i++)
        mcp_close(&all->v[i]);
}

static bool all_see(struct clients *all, const char *id, const char *pattern)
{
    int n = 0;
    for (int i = 0; i < CLIENTS; i++)
        n += job_is(&all->v[i], id, pattern);
    return n == CLIENTS;
}

static void make_table(struct server *s)
{
    char command[1024];
    snprintf(command, sizeof command,
             "echo '%s' >\"$DATA.json\" && seq 1 %d | "
             "sed 's/.*/{\"id\":&,\"text\":\"text of row &\",\"people\":&}/' >\"$DATA.ndjson\" && "
             "\"$TENON\" table create --data \"$DATA\" t.big \"$DATA.json\" && "
             "\"$TENON\" import --mode nosync --data \"$DATA\" t.big \"$DATA.ndjson\"",
             DEFINITION("{\"type\":\"integer\"}"), ROWS);
    tap_ok(server_sh(s, command) == 0, "a table of %d rows", ROWS);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void every_worker_tells_of_a_job(struct server *s)
{
    struct clients all;
    char id[64] = "";
    bool ok = open_all(&all, s->port) &&
              start_job(&all.v[0], "create_index",
                        "{" TABLE ",\"index\":{\"on\":[\"people\"],\"unique\":true}}", id);
    ok = ok && all_see(&all, id, "{\"id\":\"*\",\"kind\":\"create_index\",...}");
    tap_ok(ok, "every worker tells of a job that runs");
    ok = ok && server_wait(job_is(&all.v[1], id, "{\"state\":\"done\",...}"));
    tap_ok(ok && all_see(&all, id, "{\"state\":\"done\",\"result\":{\"index\":\"by_people\"},...}"),
           "and of its end");
    tap_ok(gives(&all.v[2], "list_jobs", "{\"limit\":1}", "{\"jobs\":[{\"state\":\"done\",...}]}"),
           "it stands in the list");
    close_all(&all);
}

static void rows_that_break_are_told(struct server *s)
{
    struct clients all;
    char id[64] = "";
    bool ok =
        open_all(&all, s->port) &&
        start_job(&all.v[0], "alter_table",
                  "{" TABLE
                  ",\"definition\":" DEFINITION("{\"type\":\"integer\",\"maximum\":59000}") "}",
                  id);
    ok = ok && server_wait(job_is(&all.v[1], id, "{\"state\":\"failed\",...}"));
    ok = ok && job_is(&all.v[1], id,
                      "{\"details\":{\"rows\":1000,\"first\":[{\"key\":59001,\"pointer\":"
                      "\"/people\",\"keyword\":\"maximum\",\"expected\":\"*\"},...]},...}");
    tap_ok(ok, "an alter that rows forbid fails, and shows the first of them");
    ok = start_job(&all.v[0], "alter_table",
                   "{" TABLE
                   ",\"definition\":" DEFINITION("{\"type\":\"integer\",\"maximum\":60000}") "}",
                   id) &&
         server_wait(job_is(&all.v[1], id, "{\"state\":\"done\",...}"));
    tap_ok(ok, "one that they allow is done");
    close_all(&all);
}

/* ---- Writes during an alter ----------------------------------------------------------------- */

struct writer {
    uint16_t port;
    int id, after_ms;
    bool written, refused;
};

/* Puts one row that the new definition forbids, some time after the alter began. It stands before
 * all others, where the alter has looked already. */
static void *write_one(void *ctx)
{
    struct writer *w = ctx;
    struct mcp_client c;
    char row[128], *body = NULL;
    snprintf(row, sizeof row, "{\"id\":%d,\"people\":99999}", w->id);
    http_path = "/tables"; /* in this thread */
    if (mcp_open(&c, w->port, "2025-06-18")) {
        poll(NULL, 0, w->after_ms);
        bool answered = mcp_call(&c, "create_big", row, &body) == 200 && body;
        w->written = answered && strstr(body, "structuredContent");
        w->refused = answered && !w->written;
    }
    free(body);
    mcp_close(&c);
    return NULL;
}

static bool start_alter(struct mcp_client *c, const char *people, char id[64])
{
    char args[512];
    snprintf(args, sizeof args, "{" TABLE ",\"definition\":" DEFINITION("%s") "}", people);
    return start_job(c, "alter_table", args, id);
}

static bool take_back(struct server *s)
{
    struct mcp_client c;
    char args[64], id[64] = "";
    http_path = "/tables";
    bool ok = mcp_open(&c, s->port, "2025-06-18");
    for (int i = 0; i < WRITERS; i++) {
        snprintf(args, sizeof args, "{\"id\":%d}", -1 - i);
        mcp_call(&c, "delete_big", args, NULL);
    }
    mcp_close(&c);
    http_path = "/mcp";
    ok = ok && mcp_open(&c, s->port, "2025-06-18") &&
         start_alter(&c, "{\"type\":\"integer\"}", id) && server_wait(is_over(&c, id));
    mcp_close(&c);
    return ok;
}

struct outcome {
    int n_done, n_failed, n_written, n_refused;
};

/* It is done and no such row is there, or it failed because of one: never anything else. */
static bool alter_under_writes(struct server *s, int round, struct outcome *o)
{
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    struct mcp_client c;
    char id[64] = "";
    int n_written = 0, n_answered = 0;
    bool ok = mcp_open(&c, s->port, "2025-06-18");
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){
            .port = s->port, .id = -1 - i, .after_ms = round * ROUND_MS + i * WRITER_MS};
        pthread_create(&threads[i], NULL, write_one, &writers[i]);
    }
    ok = ok && start_alter(&c, "{\"type\":\"integer\",\"maximum\":60000}", id) &&
         server_wait(is_over(&c, id));
    bool done = ok && job_is(&c, id, "{\"state\":\"done\",...}");
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        n_written += writers[i].written;
        n_answered += writers[i].written || writers[i].refused;
    }
    o->n_written += n_written;
    o->n_refused += n_answered - n_written;
    o->n_done += done;
    o->n_failed += ok && !done;
    ok = ok && n_answered == WRITERS && (!done || n_written == 0) && (done || n_written > 0);
    mcp_close(&c);
    return take_back(s) && ok;
}

static void no_row_slips_in_behind_an_alter(struct server *s)
{
    struct outcome o = {0};
    bool ok = take_back(s);
    for (int i = 0; ok && i < ALTERS; i++)
        ok = alter_under_writes(s, i, &o);
    tap_ok(ok, "no row slips in behind an alter (%d done, %d failed; %d rows written, %d refused)",
           o.n_done, o.n_failed, o.n_written, o.n_refused);
}

/* Cancelled through the connection whose worker has not got the job, or has: both in turn. */
static void any_worker_cancels(struct server *s)
{
    struct clients all;
    char id[64] = "", args[128];
    int n_over = 0;
    bool ok = open_all(&all, s->port);
    for (int i = 0; ok && i < CLIENTS; i++) {
        ok = start_job(&all.v[0], "create_index",
                       "{" TABLE ",\"index\":{\"name\":\"again\",\"on\":[\"text\",\"people\"]}}",
                       id);
        snprintf(args, sizeof args, "{\"id\":\"%s\"}", id);
        ok = ok && gives(&all.v[i], "cancel_job", args, "{\"job\":\"*\"}");
        ok = ok && server_wait(is_over(&all.v[i], id));
        if (job_is(&all.v[i], id, "{\"state\":\"done\",...}")) /* it was faster */
            gives(&all.v[0], "drop_index", "{" TABLE ",\"index\":\"again\"}", "*");
        else
            n_over += job_is(&all.v[i], id, "{\"state\":\"cancelled\",...}");
    }
    tap_ok(ok && n_over > 0, "a job is cancelled by any worker (%d of %d)", n_over, CLIENTS);
    close_all(&all);
}

/* The keeper has to drop what was left behind before. */
static bool begin_again(struct mcp_client *c)
{
    char id[64] = "";
    bool ok = start_job(c, "create_index",
                        "{" TABLE ",\"index\":{\"name\":\"lost\",\"on\":[\"text\"]}}", id);
    return ok && server_wait(is_over(c, id)) && job_is(c, id, "{\"state\":\"done\",...}");
}

static void a_killed_server_loses_its_jobs(struct server *s)
{
    struct mcp_client c;
    char id[64] = "";
    bool ok = mcp_open(&c, s->port, "2025-06-18") &&
              start_job(&c, "create_index",
                        "{" TABLE ",\"index\":{\"name\":\"lost\",\"on\":[\"text\"]}}", id);
    server_kill(s);
    mcp_close(&c);
    ok = ok && server_start(s, CONFIG, "--workers 2 --mode nosync", false) &&
         mcp_open(&c, s->port, "2025-06-18");
    ok = ok && job_is(&c, id, "{\"state\":\"failed\",\"error\":\"the worker was lost\",...}");
    tap_ok(ok, "a job of a killed server has failed: the worker was lost");
    ok = ok && server_wait(begin_again(&c));
    tap_ok(ok, "and what it had begun can be begun again");
    mcp_close(&c);
}

static void a_stop_does_not_wait_for_jobs(struct server *s)
{
    struct mcp_client c;
    char id[64] = "";
    bool ok = mcp_open(&c, s->port, "2025-06-18") &&
              start_job(&c, "create_index",
                        "{" TABLE ",\"index\":{\"name\":\"stopped\",\"on\":[\"text\"]}}", id);
    mcp_close(&c);
    tap_ok(server_stop(s) && ok, "an orderly stop ends the jobs");
    ok = ok && server_start(s, CONFIG, "--workers 2 --mode nosync", false) &&
         mcp_open(&c, s->port, "2025-06-18");
    ok = ok && (job_is(&c, id, "{\"state\":\"failed\",\"error\":\"the server was stopped\",...}") ||
                job_is(&c, id, "{\"state\":\"done\",...}"));
    tap_ok(ok, "and the next server tells so");
    mcp_close(&c);
}

int main(void)
{
    struct server s;
    if (!server_dir(&s))
        return 1;
    make_table(&s);
    if (tap_ok(server_start(&s, CONFIG, "--workers 2 --mode nosync", false), "two workers")) {
        every_worker_tells_of_a_job(&s);
        rows_that_break_are_told(&s);
        no_row_slips_in_behind_an_alter(&s);
        any_worker_cancels(&s);
        a_killed_server_loses_its_jobs(&s);
        a_stop_does_not_wait_for_jobs(&s);
        if (!tap_ok(server_stop(&s), "it ends well"))
            server_show_log(&s);
    } else {
        server_show_log(&s);
    }
    server_remove(&s);
    return tap_done();
}
