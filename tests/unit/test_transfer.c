/* tests/unit/test_transfer.c - tables in and out of files: constant memory, one moment, full disks,
 * and what is left when it is stopped. */
#include "store_children.h"

#include "base/limits.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define BOUNDS_MEMORY false /* its own grows */
#else
#define BOUNDS_MEMORY true
#endif

#define PEAK_MIB 48 /* all that may be allocated at one time, with stacks */

#define FEW  10000
#define MANY 100000 /* TENON_TRANSFER_ROWS: others, such as 1000000 */

static const char definition[] =
    "{\"primaryKey\": \"id\", \"schema\": {\"type\": \"object\", \"properties\": {"
    "\"id\": {\"type\": \"integer\"}, \"name\": {\"type\": \"string\"},"
    "\"share\": {\"type\": \"number\"}}, \"required\": [\"name\"]}}";

static struct arena arena; /* of the table */
static struct table table;

static int find_table(void *ctx, const struct store_table *stored)
{
    struct schema_faults faults;
    (void)ctx;
    require(table_parse(stored->definition, &arena, &table, &faults) == 0);
    table.id = stored->id;
    table.version = stored->version;
    return 1;
}

/* A store with the table, and `table` set. */
static struct store *open_with_table(void)
{
    struct store *store = open_store(STORE_NOSYNC);
    struct store_table made = {
        .database = STR("db"), .name = STR("t"), .definition = {definition, sizeof definition - 1}};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_MISSING, .put_table = &made};
    struct store_view *view;
    require(store != NULL);
    write_list(store, STORE_DATA, &op, 1, NULL); /* it may be there */
    arena_init(&arena, 0);
    require(store_view_open(store, STORE_DATA, &view) == 0);
    require(store_scan_tables(view, find_table, NULL) == 1);
    store_view_close(view);
    return store;
}

static void close_all(struct store *store)
{
    arena_done(&arena);
    store_close(store);
}

/* ---- Files of records ----------------------------------------------------------------------- */

static void write_records(FILE *out, enum record_format format, uint32_t n)
{
    if (format == RECORDS_CSV)
        fputs("id,name,share\n", out);
    if (format == RECORDS_JSON)
        fputs("[", out);
    for (uint32_t i = 0; i < n; i++)
        if (format == RECORDS_CSV)
            fprintf(out, "%u,\"number %u, of many\",0.5\n", i, i);
        else
            fprintf(out, "%s{\"id\": %u, \"name\": \"number %u, of many\", \"share\": 0.5}",
                    i == 0                   ? ""
                    : format == RECORDS_JSON ? ",\n"
                                             : "\n",
                    i, i);
    if (format == RECORDS_JSON)
        fputs("]", out);
    fflush(out);
}

static FILE *records(enum record_format format, uint32_t n)
{
    FILE *file = tmpfile();
    require(file != NULL);
    write_records(file, format, n);
    return file;
}

static uint64_t lines_of(FILE *file)
{
    uint64_t n = 0;
    rewind(file);
    for (int c; (c = getc_unlocked(file)) != EOF;)
        n += c == '\n';
    return n;
}

static uint32_t files_in_dir(const char *end)
{
    char command[128];
    uint32_t n = 99;
    snprintf(command, sizeof command, "ls %s | grep -c '%s$'", dir, end);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    assert_int_equal(fscanf(out, "%u", &n), 1);
    pclose(out);
    return n;
}

/* In place of the library's, to be a file system that knows no nameless files. */
static bool no_nameless;

int openat(int dir_fd, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (no_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, dir_fd, path, flags, mode);
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* What is not mapped from files: a database that is read counts as resident as well. */
static uint64_t anonymous_kib(void)
{
    char line[128];
    uint64_t kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    require(status != NULL);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "RssAnon: %lu", &kib) == 1)
            break;
    fclose(status);
    return kib;
}

static uint64_t peak_kib;

static int measure(void *ctx, const struct transfer_progress *now)
{
    (void)ctx;
    (void)now;
    uint64_t kib = anonymous_kib();
    peak_kib = kib > peak_kib ? kib : peak_kib;
    return 0;
}

static int no_fault(void *ctx, const struct transfer_fault *fault)
{
    (void)ctx;
    print_error("%lu: %s\n", fault->line, fault->text);
    return 0;
}

static enum record_format child_format;
static uint32_t child_rows;

/* In and out again, in a process of its own; tells its peaks. */
static void go_through(int to_parent)
{
    const struct rlimit limit = {.rlim_cur = PEAK_MIB << 20, .rlim_max = PEAK_MIB << 20};
    FILE *in = records(child_format, child_rows), *out = tmpfile();
    require(!BOUNDS_MEMORY || setrlimit(RLIMIT_DATA, &limit) == 0);
    struct store *store = open_with_table();
    struct transfer_import import = {.store = store,
                                     .table = &table,
                                     .file = in,
                                     .format = child_format,
                                     .progress = measure,
                                     .fault = no_fault};
    require(transfer_import(&import) == 0 && import.n_rows == child_rows && import.n_bad == 0);
    tell(to_parent, (uint32_t)peak_kib);
    peak_kib = 0;
    struct transfer_export export = {
        .store = store, .table = &table, .out = out, .format = child_format, .progress = measure};
    require(transfer_export(&export) == 0 && export.n_rows == child_rows);
    tell(to_parent, (uint32_t)peak_kib);
    uint32_t around = child_format == RECORDS_JSON ? 2 : child_format == RECORDS_CSV;
    require(lines_of(out) == child_rows + around);
    close_all(store);
}

static void peaks_of(uint32_t rows, uint32_t peaks[2])
{
    scratch_remove(dir);
    scratch_make(dir);
    child_rows = rows;
    struct child c = start(go_through);
    assert_true(hear(&c, &peaks[0]) && hear(&c, &peaks[1]));
    expect_success(&c);
}

static void memory_is_constant(enum record_format format)
{
    const char *given = getenv("TENON_TRANSFER_ROWS");
    uint32_t many = given ? (uint32_t)atoi(given) : MANY, few_peaks[2], many_peaks[2];
    child_format = format;
    peaks_of(FEW, few_peaks);
    peaks_of(many, many_peaks);
    print_message("%u rows: %u and %u KiB; %u rows: %u and %u KiB\n", FEW, few_peaks[0],
                  few_peaks[1], many, many_peaks[0], many_peaks[1]);
    for (int i = 0; BOUNDS_MEMORY && i < 2; i++)
        assert_true(many_peaks[i] < few_peaks[i] + 4 * 1024);
}

static void NDJSON_of_any_size_takes_the_same_memory(void **state)
{
    (void)state;
    memory_is_constant(RECORDS_NDJSON);
}

static void JSON_of_any_size_takes_the_same_memory(void **state)
{
    (void)state;
    memory_is_constant(RECORDS_JSON);
}

static void CSV_of_any_size_takes_the_same_memory(void **state)
{
    (void)state;
    memory_is_constant(RECORDS_CSV);
}

/* ---- Stopped -------------------------------------------------------------------------------- */

struct stop {
    enum transfer_phase phase;
    uint64_t at; /* rows */
    bool seen_back;
};

static int stop_at(void *ctx, const struct transfer_progress *now)
{
    struct stop *stop = ctx;
    stop->seen_back |= now->phase == TRANSFER_TAKES_BACK;
    return now->phase == stop->phase && now->rows >= stop->at;
}

static void a_stopped_import_leaves_nothing(void **state)
{
    (void)state;
    struct store *store = open_with_table();
    FILE *in = records(RECORDS_NDJSON, 3000);
    for (enum transfer_phase phase = TRANSFER_CHECKS; phase <= TRANSFER_LOADS; phase++) {
        struct stop stop = {.phase = phase, .at = 1500};
        struct transfer_import job = {.store = store,
                                      .table = &table,
                                      .file = in,
                                      .format = RECORDS_NDJSON,
                                      .progress = stop_at,
                                      .fault = no_fault,
                                      .ctx = &stop};
        assert_int_equal(transfer_import(&job), ERR_CANCELLED);
        assert_int_equal(job.n_rows, 0);
        assert_int_equal(stop.seen_back, phase == TRANSFER_LOADS);
        assert_int_equal(count_rows(store, table.id), 0);
    }
    fclose(in);
    assert_int_equal(store_check(store, NULL, NULL, NULL), 0);
    close_all(store);
}

static void import_rows(struct store *store, uint32_t n)
{
    FILE *in = records(RECORDS_NDJSON, n);
    struct transfer_import job = {
        .store = store, .table = &table, .file = in, .format = RECORDS_NDJSON, .fault = no_fault};
    assert_int_equal(transfer_import(&job), 0);
    fclose(in);
}

static void a_stopped_export_says_so(void **state)
{
    (void)state;
    struct store *store = open_with_table();
    import_rows(store, 5000);
    struct stop stop = {.phase = TRANSFER_WRITES, .at = 2000};
    struct transfer_export job = {
        .store = store, .table = &table, .out = tmpfile(), .progress = stop_at, .ctx = &stop};
    assert_int_equal(transfer_export(&job), ERR_CANCELLED);
    fclose(job.out);
    close_all(store);
}

/* ---- Bad records ---------------------------------------------------------------------------- */

static int refuse_fault(void *ctx, const struct transfer_fault *fault)
{
    ++*(int *)ctx;
    assert_string_equal(fault->keyword, "required");
    assert_int_equal(fault->line, 2);
    return ERR_IO;
}

static void a_reject_that_cannot_be_noted_stops_the_import(void **state)
{
    (void)state;
    struct store *store = open_with_table();
    FILE *in = tmpfile();
    int n = 0;
    fputs("{\"id\": 1, \"name\": \"x\"}\n{\"id\": 2}\n{\"id\": 3}\n", in);
    fflush(in);
    struct transfer_import job = {.store = store,
                                  .table = &table,
                                  .file = in,
                                  .format = RECORDS_NDJSON,
                                  .skips_bad = true,
                                  .fault = refuse_fault,
                                  .ctx = &n};
    assert_int_equal(transfer_import(&job), ERR_IO);
    assert_int_equal(n, 1);
    assert_int_equal(count_rows(store, table.id), 0);
    fclose(in);
    close_all(store);
}

static void a_table_that_is_altered_meanwhile_is_told(void **state)
{
    (void)state;
    struct store *store = open_with_table();
    FILE *in = records(RECORDS_NDJSON, 10);
    struct transfer_import job = {
        .store = store, .table = &table, .file = in, .format = RECORDS_NDJSON, .fault = no_fault};
    table.version++;
    assert_int_equal(transfer_import(&job), ERR_STALE);
    assert_int_equal(count_rows(store, table.id), 0);
    fclose(in);
    close_all(store);
}

/* ---- One moment ----------------------------------------------------------------------------- */

struct writer_beside {
    struct store *store;
    int64_t n;
};

static int write_beside(void *ctx, const struct transfer_progress *now)
{
    struct writer_beside *w = ctx;
    char key[16];
    (void)now;
    snprintf(key, sizeof key, "\x7f%06d", (int)w->n++);
    assert_int_equal(put_n(w->store, table.id, str_of(key), w->n, STORE_ANY, NULL), 0);
    return 0;
}

/* To a file, and by a copy to what is none. */
static void an_export_is_of_one_moment(void **state)
{
    (void)state;
    struct store *store = open_with_table();
    import_rows(store, 4500);
    struct writer_beside w = {.store = store};
    struct transfer_export job = {.store = store,
                                  .table = &table,
                                  .out = tmpfile(),
                                  .format = RECORDS_NDJSON,
                                  .progress = write_beside,
                                  .ctx = &w};
    assert_int_equal(transfer_export(&job), 0);
    assert_true(w.n > 3);
    assert_int_equal(job.n_rows, 4500);
    assert_int_equal(lines_of(job.out), 4500);
    fclose(job.out);
    job.out = fopen("/dev/null", "wb");
    assert_int_equal(transfer_export(&job), 0);
    assert_int_equal(job.n_rows, 4500 + 5); /* of the first, which saw four and an end */
    fclose(job.out);
    close_all(store);
}

/* What reads slowly does not hold a view: when the copy is sent, none stands. */
static int count_readers(void *ctx, const struct transfer_progress *now)
{
    struct writer_beside *w = ctx;
    struct store_stat stat;
    struct store_view *view = view_of(w->store, STORE_DATA);
    assert_int_equal(store_stat(view, &stat), 0);
    store_view_close(view);
    if (now->last)
        w->n = 1; /* all rows are read; what follows is the copy */
    else if (w->n == 1)
        w->n = stat.readers == 1 ? 2 : -1;
    return 0;
}

static void a_pipe_is_written_without_a_view(void **state)
{
    (void)state;
    struct store *store = open_with_table();
    import_rows(store, 3000);
    struct writer_beside w = {.store = store};
    struct transfer_export job = {.store = store,
                                  .table = &table,
                                  .out = popen("cat >/dev/null", "w"),
                                  .progress = count_readers,
                                  .ctx = &w};
    assert_int_equal(transfer_export(&job), 0);
    pclose(job.out);
    assert_int_equal(w.n, 2);
    close_all(store);
}

/* ---- Full disks and names ------------------------------------------------------------------- */

static void a_full_disk_is_told(void **state)
{
    (void)state;
    struct store *store = open_with_table();
    import_rows(store, 3000);
    struct transfer_export job = {.store = store, .table = &table, .out = fopen("/dev/full", "wb")};
    if (job.out) {
        assert_int_equal(transfer_export(&job), ERR_IO);
        assert_int_equal(job.io_errno, ENOSPC);
        fclose(job.out);
    }
    close_all(store);
}

/* A limit of the file's size stands for the disk. */
static void export_to_little_room(int to_parent)
{
    struct store *store = open_with_table();
    struct transfer_output o;
    char path[128];
    import_rows(store, 3000);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit little = {.rlim_cur = 50000, .rlim_max = 50000};
    require(setrlimit(RLIMIT_FSIZE, &little) == 0);
    snprintf(path, sizeof path, "%s/out.json", dir);
    require(transfer_output_open(&o, AT_FDCWD, path) == 0);
    struct transfer_export job = {.store = store, .table = &table, .out = o.file};
    require(transfer_export(&job) == ERR_IO && job.io_errno == EFBIG);
    transfer_output_abort(&o);
    require(transfer_output_open(&o, AT_FDCWD, path) == 0);
    for (int i = 0; i < 60000; i++)
        putc('x', o.file);
    require(transfer_output_commit(&o) == ERR_IO && errno == EFBIG);
    tell(to_parent, 1);
    _exit(0);
}

static void nothing_half_done_stays(void **state)
{
    (void)state;
    uint32_t told;
    struct child c = start(export_to_little_room);
    assert_true(hear(&c, &told));
    expect_success(&c);
    assert_int_equal(files_in_dir(".part"), 0);
    assert_int_equal(files_in_dir("json"), 0);
}

static void check_name_at_the_end(uint32_t named_before)
{
    struct transfer_output a, b;
    struct stat st;
    char path[128], line[8] = "";
    snprintf(path, sizeof path, "%s/out.csv", dir);
    assert_int_equal(symlink("/nowhere/at/all", path), 0); /* is replaced, not followed */
    assert_int_equal(transfer_output_open(&a, AT_FDCWD, path), 0);
    assert_int_equal(transfer_output_open(&b, AT_FDCWD, path), 0);
    fputs("a", a.file);
    fputs("b", b.file);
    assert_int_equal(files_in_dir(".part"), named_before);
    assert_int_equal(transfer_output_settle(&b), 0);
    assert_int_equal(transfer_output_commit(&a), 0);
    assert_int_equal(transfer_output_commit(&b), 0);
    transfer_output_abort(&b); /* nothing any more */
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    FILE *file = fopen(path, "rb");
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_string_equal(line, "b");
    assert_int_equal(files_in_dir(".part"), 0);
    assert_int_equal(transfer_output_open(&a, AT_FDCWD, "/nowhere/out.csv"), ERR_IO);
    assert_int_equal(errno, ENOENT);
}

static void a_file_gets_its_name_at_the_end(void **state)
{
    (void)state;
    check_name_at_the_end(0);
}

static void without_nameless_files_it_has_another_name_before(void **state)
{
    (void)state;
    no_nameless = true;
    check_name_at_the_end(2);
    no_nameless = false;
}

static void export_until_killed(int to_parent)
{
    struct transfer_output o;
    char path[128];
    snprintf(path, sizeof path, "%s/out.json", dir);
    require(transfer_output_open(&o, AT_FDCWD, path) == 0);
    fputs("half of it", o.file);
    require(fflush(o.file) == 0);
    tell(to_parent, 1);
    wait_for_kill();
}

static void nothing_stays_of_what_is_killed(void **state)
{
    (void)state;
    uint32_t told;
    struct child c = start(export_until_killed);
    assert_true(hear(&c, &told));
    kill_child(&c);
    close(c.from);
    assert_int_equal(files_in_dir(".part"), 0);
    assert_int_equal(files_in_dir("json"), 0);
}

static void a_folder_is_no_output(void **state)
{
    (void)state;
    struct transfer_output o;
    assert_int_equal(transfer_output_open(&o, AT_FDCWD, dir), ERR_IO);
    assert_int_equal(errno, EISDIR);
    transfer_output_abort(&o);
}

/* A folder that comes in between. */
static void what_cannot_get_its_name_is_kept_if_wanted(void **state)
{
    (void)state;
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/out.json", dir);
    for (int keeps = 0; keeps <= 1; keeps++) {
        struct transfer_output o;
        assert_int_equal(transfer_output_open(&o, AT_FDCWD, path), 0);
        o.keeps_part = keeps;
        fputs("all of it", o.file);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(transfer_output_commit(&o), ERR_IO);
        assert_int_equal(errno, EISDIR);
        transfer_output_abort(&o);
        assert_int_equal(*o.part != 0, keeps);
        assert_int_equal(files_in_dir(".part"), keeps);
        assert_int_equal(keeps ? stat(o.part, &st) : 0, 0);
        assert_int_equal(keeps ? st.st_size : 9, 9);
        assert_int_equal(rmdir(path), 0);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(NDJSON_of_any_size_takes_the_same_memory),
        CASE(JSON_of_any_size_takes_the_same_memory),
        CASE(CSV_of_any_size_takes_the_same_memory),
        CASE(a_stopped_import_leaves_nothing),
        CASE(a_stopped_export_says_so),
        CASE(a_reject_that_cannot_be_noted_stops_the_import),
        CASE(a_table_that_is_altered_meanwhile_is_told),
        CASE(an_export_is_of_one_moment),
        CASE(a_pipe_is_written_without_a_view),
        CASE(a_full_disk_is_told),
        CASE(nothing_half_done_stays),
        CASE(a_file_gets_its_name_at_the_end),
        CASE(without_nameless_files_it_has_another_name_before),
        CASE(nothing_stays_of_what_is_killed),
        CASE(a_folder_is_no_output),
        CASE(what_cannot_get_its_name_is_kept_if_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
