/* tests/multi/test_kill_jobs.c - kill -9 in the middle of jobs: workers build an index or check
 * rows by a new definition, asked for by the operations profile, while clients create rows.
 *
 * At a random moment a worker is killed (half the time the one with the job), or all processes.
 * Afterwards no job is left that seems to run; what is done is there; what failed has changed all
 * or nothing; every acknowledged row is as it was sent, and store_check finds nothing.
 */
#include "kill_rig.h"

#include <poll.h>
#include <sys/stat.h>

#define ROUNDS       20 /* of each kind */
#define ROUNDS_LEAST 4
#define MS_OF_ROUNDS 3000 /* then it goes on to the next kind */
#define MS_TO_KILL   120

#define CONFIG   "{\"mcp\":{\"operations\":{\"allow\":[\"*\"]}}}"
#define OF_TABLE "\"database\":\"shop\",\"table\":\"item\""
#define BY_TEXT  "{\"name\":\"by_text\",\"on\":[\"text\",\"n\"]}"

static struct server server;
static struct mcp_client operator_;

static bool make_table(struct server *s)
{
    char path[128];
    snprintf(path, sizeof path, "%s/item.json", s->dir);
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fputs(definitions[0], f);
    fclose(f);
    snprintf(path, sizeof path, "%s/rows.ndjson", s->dir);
    if (!write_import_file(path, 0))
        return false;
    return server_sh(s, "here=$(dirname $DATA); "
                        "$TENON table create --data $DATA shop.item $here/item.json; "
                        "$TENON import --data $DATA shop.item $here/rows.ndjson") == 0;
}

/* ---- The operator --------------------------------------------------------------------------- */

/* A call that the kill swallows is unknown: NULL. To be freed. */
static char *ask_operator(const char *tool, const char *arguments)
{
    char *body = NULL;
    int status = mcp_call(&operator_, tool, arguments, &body);
    if (status == 200 && body && strstr(body, "\"result\""))
        return body;
    if (status)
        tap_note("%s %s: status %d, %.300s", tool, arguments, status, body ? body : "");
    free(body);
    return NULL;
}

/* Copies the text at "<name>":" out of a reply. */
static bool take_text(const char *body, const char *name, char *ret, size_t size)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":\"", name);
    const char *at = body ? strstr(body, wanted) : NULL;
    if (!at)
        return false;
    at += strlen(wanted);
    snprintf(ret, size, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

struct job_seen {
    char id[128]; /* "": not known whether it began */
    char state[32];
};

static void start_job(const char *tool, const char *arguments, struct job_seen *ret)
{
    char *body = ask_operator(tool, arguments);
    *ret = (struct job_seen){.id = ""};
    if (!take_text(body, "job", ret->id, sizeof ret->id) && body)
        tap_note("%s: %.300s", tool, body);
    free(body);
}

static bool has_ended(struct job_seen *job)
{
    char arguments[200];
    snprintf(arguments, sizeof arguments, "{\"id\":\"%s\"}", job->id);
    char *body = ask_operator("get_job", arguments);
    if (!body && !connect_again(&operator_))
        return false;
    bool seen = take_text(body, "state", job->state, sizeof job->state);
    free(body);
    return seen && strcmp(job->state, "running") != 0 && strcmp(job->state, "queued") != 0;
}

/* ---- Rounds --------------------------------------------------------------------------------- */

static struct {
    int done, failed, other;
} n_jobs;

static bool kill_some(bool all)
{
    pid_t workers[8];
    if (!all) {
        int n = server_workers(&server, workers, 8);
        return n > 0 && kill(workers[random_below((unsigned)n)], SIGKILL) == 0;
    }
    port_now = 0;
    server_kill(&server);
    bool up = server_start(&server, CONFIG, NULL, false);
    port_now = server.port;
    return up;
}

static int import_now; /* whose rows are looked for */

static bool find_table(struct store *store, struct found_table *ret, uint64_t *ret_imported)
{
    struct store_view *view;
    if (store_view_open(store, STORE_DATA, &view))
        return false;
    *ret = (struct found_table){0};
    int err = store_scan_tables(view, note_table, ret);
    *ret_imported = count_imported(view, import_now);
    store_view_close(view);
    return !err && (*ret_imported == 0 || *ret_imported == IMPORT_ROWS) && ret->is_a != ret->is_b &&
           ret->n_ready == ret->n_indexes;
}

static bool look_at_store(struct found_table *ret, uint64_t *ret_imported, bool all_rows)
{
    struct store *store = open_store(server.data);
    if (!store)
        return false;
    bool settled = server_wait_ms(find_table(store, ret, ret_imported), MS_OF_A_CHANGE);
    int n = store_check(store, show_finding, NULL, NULL);
    int n_wrong = count_wrong_rows(store, all_rows);
    store_close(store);
    if (!settled)
        tap_note("%u of %u indexes are ready, %llu rows imported", ret->n_ready, ret->n_indexes,
                 (unsigned long long)*ret_imported);
    return settled && n == 0 && n_wrong == 0;
}

static bool fits(const struct job_seen *job, bool is_there)
{
    bool done = strcmp(job->state, "done") == 0, failed = strcmp(job->state, "failed") == 0;
    n_jobs.done += done;
    n_jobs.failed += failed;
    n_jobs.other += *job->id && !done && !failed;
    return !*job->id || (done && is_there) || failed;
}

/* Asks for it, kills at a random moment, and looks at what became of it. */
static bool kill_in_job(const char *tool, const char *arguments, bool kills_all,
                        struct job_seen *ret, struct found_table *ret_found, uint64_t *ret_imported)
{
    start_job(tool, arguments, ret);
    poll(NULL, 0, (int)random_below(MS_TO_KILL)); /* the moment of the kill */
    bool ok = kill_some(kills_all) && connect_again(&operator_) &&
              (!*ret->id || server_wait(has_ended(ret)));
    return look_at_store(ret_found, ret_imported, false) && ok;
}

static bool build_index(bool kills_all)
{
    struct job_seen job;
    struct found_table found;
    uint64_t n;
    bool ok = kill_in_job("create_index", "{" OF_TABLE ",\"index\":" BY_TEXT "}", kills_all, &job,
                          &found, &n) &&
              fits(&job, found.n_indexes == 1);
    if (!ok || !found.n_indexes)
        return ok;
    free(ask_operator("drop_index", "{" OF_TABLE ",\"index\":\"by_text\"}"));
    return look_at_store(&found, &n, false) && !found.n_indexes;
}

static bool alter(bool kills_all)
{
    static bool is_a = true;
    char *arguments;
    struct job_seen job;
    struct found_table found;
    uint64_t n;
    if (asprintf(&arguments, "{" OF_TABLE ",\"definition\":%s}", definitions[is_a]) < 0)
        abort();
    bool ok = kill_in_job("alter_table", arguments, kills_all, &job, &found, &n) &&
              fits(&job, found.is_a != is_a);
    free(arguments);
    is_a = found.is_a;
    return ok;
}

static bool import(bool kills_all)
{
    char path[128];
    struct job_seen job;
    struct found_table found;
    uint64_t n;
    snprintf(path, sizeof path, "%s/imports", server.data);
    mkdir(path, 0700);
    strcat(path, "/rows.ndjson");
    return write_import_file(path, ++import_now) &&
           kill_in_job("import_table", "{" OF_TABLE ",\"name\":\"rows.ndjson\"}", kills_all, &job,
                       &found, &n) &&
           fits(&job, n == IMPORT_ROWS);
}

static void kill_in_jobs(const char *name, bool (*run)(bool kills_all), bool kills_all)
{
    int64_t until_ms = server_now_ms() + kill_times(MS_OF_ROUNDS);
    int n = 0;
    bool ok = true;
    n_jobs.done = n_jobs.failed = n_jobs.other = 0;
    for (; ok && n < kill_times(ROUNDS) && (n < ROUNDS_LEAST || server_now_ms() < until_ms); n++)
        ok = run(kills_all);
    tap_ok(ok && n_jobs.other == 0 && n_jobs.done + n_jobs.failed > 0,
           "%s: %s killed %d times; %d jobs are done, %d failed, and nothing is half done or lost",
           name, kills_all ? "all processes" : "a worker", n, n_jobs.done, n_jobs.failed);
}

static void check_everything(void)
{
    struct found_table found;
    uint64_t n_imported;
    stop_clients = true;
    for (int i = 0; i < N_CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
    tap_ok(look_at_store(&found, &n_imported, true),
           "all of %d acknowledged rows are as sent; %d in flight", count_fates(ACKNOWLEDGED),
           count_fates(UNKNOWN));
    tap_ok(server_sh(&server, "$TENON doctor --data $DATA") == 0,
           "tenon doctor --data finds nothing");
    tap_ok(count_fates(REFUSED) == 0, "no row was refused");
}

static void run_all(void)
{
    start_clients(&server);
    http_path = "/mcp/operations";
    operator_ = (struct mcp_client){.conn.fd = -1};
    if (!tap_ok(connect_again(&operator_), "an operator is served"))
        return;
    for (int all = 0; all < 2; all++) {
        kill_in_jobs("an index", build_index, all);
        kill_in_jobs("a definition", alter, all);
        kill_in_jobs("an import", import, all);
    }
    check_everything();
    mcp_close(&operator_);
    tap_ok(server_stop(&server), "it ends well");
}

int main(void)
{
    bool up =
        server_dir(&server) && make_table(&server) && server_start(&server, CONFIG, NULL, false);
    if (tap_ok(up, "a server with two workers starts"))
        run_all();
    int status = tap_done();
    if (status)
        server_show_log(&server);
    server_remove(&server);
    return status;
}
