/* cli_doctor_data.c - `tenon doctor --data DIR`: does the database agree with itself?
 *
 * Opens it for reading, beside whoever uses it, and prints what store_check finds in one snapshot.
 * The engine trusts its pages: on a damaged one it may end the process by a signal. So the check
 * runs in a child, and the parent says what became of it.
 */
#include "base/err.h"
#include "cli_data.h"

#include <errno.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_finding(void *ctx, struct str finding)
{
    (void)ctx;
    printf("FAIL  " STR_FMT "\n", STR_ARG(finding));
}

static void print_summary(const struct cli_data *data, const struct store_checked *done, int n)
{
    if (done->has_unfinished_load)
        puts("note  an import is going on, or was cut off: what it wrote is taken back when the "
             "database is next opened for writing");
    if (done->has_unfinished_build)
        puts("note  an index is being built, or its building was cut off: it is dropped when the "
             "database is next opened for writing");
    printf("%-4s  %s: %llu tables, %llu rows, %llu indexes with %llu entries, %llu changes of the "
           "log: ",
           n ? "FAIL" : "ok", data->config.data_dir, (unsigned long long)done->n_tables,
           (unsigned long long)done->n_rows, (unsigned long long)done->n_indexes,
           (unsigned long long)done->n_entries, (unsigned long long)done->n_changes);
    if (n)
        printf("%d %s\n", n, n == 1 ? "finding" : "findings");
    else
        puts("all of it agrees");
}

/* Of those who may use the server, if there are any. */
static void print_access(const struct store_checked *done)
{
    if (done->n_access || done->n_quotas)
        printf("note  %llu users, roles and tokens; %llu quotas\n",
               (unsigned long long)done->n_access, (unsigned long long)done->n_quotas);
}

/* What else SYS holds, if it holds anything. */
static void print_sessions(const struct store_checked *done)
{
    if (!done->n_sessions && !done->n_jobs && !done->n_streams && !done->n_subscriptions)
        return;
    printf(
        "note  %llu sessions with %llu streams (%llu frames), %llu subscriptions and %llu waiting "
        "messages; %llu jobs\n",
        (unsigned long long)done->n_sessions, (unsigned long long)done->n_streams,
        (unsigned long long)done->n_frames, (unsigned long long)done->n_subscriptions,
        (unsigned long long)done->n_pushes, (unsigned long long)done->n_jobs);
}

static int check(const struct cli_args *args)
{
    struct cli_data data;
    struct store_checked done;
    cli_data_init(&data);
    int status = cli_data_open(&data, args, CLI_READS);
    if (status == 0) {
        int n = store_check(data.store, print_finding, NULL, &done);
        if (n >= 0)
            print_sessions(&done);
        if (n >= 0)
            print_access(&done);
        if (n >= 0)
            print_summary(&data, &done, n);
        status = n < 0 ? cli_store_failed(&data, "the check", n) : n ? CLI_FAILED : CLI_DONE;
    }
    cli_data_close(&data);
    int flushed = cli_flush();
    return status ? status : flushed;
}

int cli_doctor_data(const struct cli_args *args)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return cli_failed("no process for the check: %s", strerror(errno));
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        _exit(check(args));
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    return cli_failed(
        "the check was ended by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
        WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL
            ? ""
            : ": the database cannot be read; restore it from a backup");
}
