/* tests/multi/test_kill_change.c - kill -9 in the middle of what changes a whole table: an import,
 * the building and dropping of an index, a new definition.
 *
 * A server with two workers runs and clients create rows all the time, while another process makes
 * the change. At a random moment the one who changes is killed, or a worker, or all processes at
 * once. Afterwards the change is there as a whole or not at all, every acknowledged row is as it
 * was sent, and store_check finds nothing.
 *
 * The program runs itself for what has to be another process (--make, --build, --alter); so no
 * process forks with a store open.
 */
#include "kill_rig.h"

#include <fcntl.h>
#include <poll.h>

#define ROUNDS_LEAST 4    /* of each kind, however slow it is */
#define MS_OF_ROUNDS 2500 /* then it goes on to the next kind */

/* ---- Processes that change ------------------------------------------------------------------ */

static int put_table(struct store *store, struct store_op *op, const struct store_table *table)
{
    op->kind = STORE_PUT_TABLE;
    op->put_table = table;
    struct store_write write = {.space = STORE_DATA, .ops = op, .n_ops = 1};
    return store_apply(store, &write);
}

static int make_table(struct store *store)
{
    struct store_table table = {.database = STR("shop"),
                                .name = STR("item"),
                                .definition = str_of(definitions[0]),
                                .indexes = first_indexes,
                                .n_indexes = 2};
    struct store_op op = {.if_version = STORE_MISSING};
    return put_table(store, &op, &table);
}

static int find_by_text(void *ctx, const struct store_table *table)
{
    for (uint32_t i = 0; i < table->n_indexes; i++)
        if (str_eq(table->indexes[i].name, by_text.name))
            *(uint32_t *)ctx = table->indexes[i].id;
    return 0;
}

static int drop_index(struct store *store)
{
    struct store_view *view;
    uint32_t id = 0;
    int err = store_view_open(store, STORE_DATA, &view);
    if (err)
        return err;
    err = store_scan_tables(view, find_by_text, &id);
    store_view_close(view);
    return err || !id ? err : store_drop_index(store, TABLE, id);
}

static int build_for_ever(struct store *store)
{
    int err;
    do {
        struct store_index_build build = {0};
        err = drop_index(store);
        if (!err)
            err = store_create_index(store, TABLE, &by_text, &build);
    } while (!err || err == ERR_BUSY); /* the keeper drops what the one before left */
    return err;
}

static int look_at_row(void *ctx, const struct store_row *row)
{
    ++*(uint64_t *)ctx;
    return row->row->kind == TAPE_OBJECT ? 0 : ERR_PARAMS;
}

static int alter_once(struct store *store, const char *definition)
{
    struct store_view *view;
    uint64_t n = 0;
    struct store_op op = {.if_version = STORE_PRESENT, .check_row = look_at_row, .check_ctx = &n};
    struct store_table table = {
        .database = STR("shop"), .name = STR("item"), .definition = str_of(definition)};
    int err = store_view_open(store, STORE_DATA, &view);
    if (err)
        return err;
    err = store_last_seq(view, &op.since_seq);
    if (!err)
        err = store_scan_rows(view, TABLE, NULL, look_at_row, &n);
    store_view_close(view);
    return err ? err : put_table(store, &op, &table);
}

static int alter_for_ever(struct store *store)
{
    for (unsigned i = 1;; i++) {
        int err = alter_once(store, definitions[i % 2]);
        if (err && err != ERR_STALE && err != ERR_BUSY) /* a load is being taken back */
            return err;
    }
}

static const struct {
    const char *flag;
    int (*run)(struct store *store);
} tasks[] = {{"--make", make_table}, {"--build", build_for_ever}, {"--alter", alter_for_ever}};

static int run_task(const char *flag, const char *dir)
{
    int err = ERR_INTERNAL;
    struct store *store = open_store(dir);
    for (size_t i = 0; store && i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(flag, tasks[i].flag) == 0)
            err = tasks[i].run(store);
    if (err)
        fprintf(stderr, "%s %s: %s\n", flag, dir, err_name(err));
    store_close(store);
    return err != 0;
}

static pid_t start_process(const struct server *s, const char *const argv[])
{
    char log[128];
    snprintf(log, sizeof log, "%s/log", s->dir);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    execv(argv[0], (char **)(uintptr_t)argv);
    _exit(127);
}

static pid_t start_task(const struct server *s, const char *flag)
{
    const char *argv[] = {"/proc/self/exe", flag, s->data, NULL};
    return start_process(s, argv);
}

/* ---- Rounds --------------------------------------------------------------------------------- */

enum victim { THE_CHANGER, A_WORKER, ALL };
static const char *const victim_names[] = {"the one who changes", "a worker", "all processes"};

struct round {
    struct server *s;
    int number;
    bool imports;     /* else the changer goes on for ever */
    bool is_finished; /* the changer ended well before */
};

static struct round now;
static int import_ms, n_rolled_back;

static pid_t start_import(const struct server *s, int round)
{
    char path[128];
    snprintf(path, sizeof path, "%s/rows.ndjson", s->dir);
    write_import_file(path, round);
    const char *argv[] = {server_binary(), "import", "--data", s->data, "shop.item", path, NULL};
    return start_process(s, argv);
}

static bool end_process(pid_t pid, int signal)
{
    int status = 0;
    if (signal)
        kill(pid, signal);
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Until it ends by itself, which must be well. */
static bool ends_well(pid_t pid, int ms)
{
    int status = 0;
    bool ended = server_wait_ms(waitpid(pid, &status, WNOHANG) == pid, ms);
    if (!ended)
        end_process(pid, SIGKILL);
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool restart(struct server *s)
{
    bool up = server_start(s, NULL, NULL, false);
    port_now = s->port;
    return up;
}

static bool kill_one(enum victim victim, pid_t changer)
{
    struct server *s = now.s;
    pid_t workers[8];
    int n;
    if (victim == ALL) {
        port_now = 0;
        kill(changer, SIGKILL);
        server_kill(s);
    } else if (victim == A_WORKER && (n = server_workers(s, workers, 8)) > 0) {
        kill(workers[random_below((unsigned)n)], SIGKILL);
        if (now.imports) /* has nothing to do with workers */
            return now.is_finished = ends_well(changer, MS_OF_A_CHANGE);
    }
    now.is_finished = end_process(changer, SIGKILL);
    return victim != ALL || restart(s);
}

/* The keeper or the one who opens takes back what was left: both may be at it. */
static bool is_settled(struct store *store, uint64_t *ret_imported)
{
    struct store_view *view;
    struct found_table t = {0};
    if (store_view_open(store, STORE_DATA, &view))
        return false;
    *ret_imported = now.imports ? count_imported(view, now.number) : 0;
    int err = store_scan_tables(view, note_table, &t);
    store_view_close(view);
    bool whole = *ret_imported == IMPORT_ROWS || (*ret_imported == 0 && !now.is_finished);
    return !err && t.n_ready == t.n_indexes && (t.n_indexes == 2 || t.n_indexes == 3) &&
           t.is_a != t.is_b && (whole || !now.imports);
}

static bool look_at_store(bool all_rows)
{
    uint64_t imported = 0;
    struct store *store = open_store(now.s->data);
    if (!store)
        return false;
    bool settled = server_wait_ms(is_settled(store, &imported), MS_OF_A_CHANGE);
    n_rolled_back += settled && now.imports && imported == 0;
    if (!settled)
        tap_note("round %d: %llu rows imported, finished: %d", now.number,
                 (unsigned long long)imported, now.is_finished);
    int n = store_check(store, show_finding, NULL, NULL);
    int n_wrong = count_wrong_rows(store, all_rows);
    store_close(store);
    if (n < 0)
        tap_note("store_check: %s", err_name(n));
    return settled && n == 0 && n_wrong == 0;
}

struct change {
    const char *name, *flag; /* flag NULL: an import */
    int rounds[3];           /* by enum victim */
};

static bool run_round(const struct change *change, enum victim victim)
{
    static int number;
    int most_ms = change->flag ? 60 : import_ms;
    now.number = ++number;
    now.imports = !change->flag;
    now.is_finished = false;
    pid_t changer = change->flag ? start_task(now.s, change->flag) : start_import(now.s, number);
    poll(NULL, 0, (int)random_below((unsigned)most_ms + 1)); /* the moment of the kill */
    return kill_one(victim, changer) && look_at_store(false);
}

/* The first one, undisturbed, tells how long an import takes. */
static bool import_whole(void)
{
    int64_t began_ms = server_now_ms();
    now.imports = true;
    now.is_finished = ends_well(start_import(now.s, now.number = 0), MS_OF_A_CHANGE);
    import_ms = (int)(server_now_ms() - began_ms);
    return now.is_finished && look_at_store(false);
}

static void kill_in_change(const struct change *change)
{
    for (enum victim victim = THE_CHANGER; victim <= ALL; victim++) {
        int64_t until_ms = server_now_ms() + kill_times(MS_OF_ROUNDS);
        int n = 0;
        bool ok = true;
        for (; ok && n < kill_times(change->rounds[victim]); n++) {
            if (n >= ROUNDS_LEAST && server_now_ms() > until_ms)
                break;
            ok = run_round(change, victim);
        }
        tap_ok(ok, "%s: %s killed %d times, it is whole or not there and nothing is lost",
               change->name, victim_names[victim], n);
    }
}

static const struct change changes[] = {
    {"an import", NULL, {20, 10, 10}},
    {"an index", "--build", {40, 10, 10}},
    {"a definition", "--alter", {40, 10, 10}},
};

static void check_everything(void)
{
    stop_clients = true;
    for (int i = 0; i < N_CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
    now.imports = false;
    tap_ok(look_at_store(true), "all of %d acknowledged rows are as sent; %d were in flight",
           count_fates(ACKNOWLEDGED), count_fates(UNKNOWN));
    tap_ok(server_sh(now.s, "$TENON doctor --data $DATA") == 0,
           "tenon doctor --data finds nothing");
    tap_ok(count_fates(REFUSED) == 0, "no row was refused");
    tap_ok(count_fates(UNKNOWN) > 0 && n_rolled_back > 0,
           "kills came in the middle of creates, and of %d imports", n_rolled_back);
}

int main(int argc, char **argv)
{
    struct server s;
    if (argc == 3)
        return run_task(argv[1], argv[2]);
    now.s = &s;
    bool up = server_dir(&s) && end_process(start_task(&s, "--make"), 0) &&
              server_start(&s, NULL, NULL, false);
    if (tap_ok(up, "a server with two workers starts")) {
        start_clients(&s);
        bool whole = import_whole();
        tap_ok(whole, "%d rows are imported in %d ms", IMPORT_ROWS, import_ms);
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
            kill_in_change(&changes[i]);
        check_everything();
        tap_ok(server_stop(&s), "it ends well");
    }
    if (tap_done() == 0) {
        server_remove(&s);
        return 0;
    }
    server_show_log(&s);
    server_remove(&s);
    return 1;
}
