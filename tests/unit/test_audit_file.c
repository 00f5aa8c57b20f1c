/* tests/unit/test_audit_file.c - the file of the audit: several processes, set aside, full. */
#include "audit_file.h"
#include "base/err.h"
#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], path[80];

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/tenon-audit-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/audit", dir);
    return 0;
}

static int tear_down(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static struct audit *open_audit(uint64_t max_bytes, uint32_t keep, bool is_slow)
{
    struct audit *audit;
    const struct audit_file_config config = {path, max_bytes, keep, is_slow};
    assert_int_equal(audit_file_check(&config), 0);
    assert_int_equal(audit_file_new(&config, &audit), 0);
    return audit;
}

static const char *name(int i)
{
    static char text[100];
    snprintf(text, sizeof text, i ? "%s.%d" : "%s", path, i);
    return text;
}

/* Calls fn for each line of a file; returns how many there are, -1: no file. */
static int each_line(int i, void (*fn)(const char *line))
{
    char line[AUDIT_LINE_BYTES + 2];
    FILE *file = fopen(name(i), "r");
    int n = 0;
    if (!file)
        return -1;
    for (; fgets(line, sizeof line, file); n++)
        if (fn)
            fn(line);
    fclose(file);
    return n;
}

/* ---- Four workers -----------------------------------------------------------------------------
 */

#define WORKERS 4
#define LINES   3000

static unsigned char seen[WORKERS][LINES];

static void see(const char *line)
{
    int worker, number, end = 0;
    assert_int_equal(sscanf(line, "{\"worker\":%d,\"number\":%d}%n", &worker, &number, &end), 2);
    assert_string_equal(line + end, "\n");
    seen[worker][number]++;
}

static void work(int worker, uint64_t max_bytes)
{
    struct audit *audit = open_audit(max_bytes, AUDIT_KEEP_MAX, false);
    uint32_t lost = 0;
    for (int i = 0; i < LINES; i++) {
        char line[64];
        int n = snprintf(line, sizeof line, "{\"worker\":%d,\"number\":%d}\n", worker, i);
        lost += audit->write(audit, (struct str){line, (uint32_t)n});
    }
    audit_file_free(audit);
    _exit(lost != 0);
}

static void four_workers_lose_and_tear_no_line(uint64_t max_bytes)
{
    pid_t pids[WORKERS];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < WORKERS; i++)
        if ((pids[i] = fork()) == 0)
            work(i, max_bytes);
    for (int i = 0; i < WORKERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i <= AUDIT_KEEP_MAX; i++)
        each_line(i, see);
    for (int i = 0; i < WORKERS; i++)
        for (int j = 0; j < LINES; j++)
            assert_int_equal(seen[i][j], 1);
}

static void four_workers_write_one_file(void **state)
{
    (void)state;
    four_workers_lose_and_tear_no_line(AUDIT_FILE_BYTES);
    assert_int_equal(each_line(1, NULL), -1);
}

static void four_workers_set_it_aside(void **state)
{
    (void)state;
    four_workers_lose_and_tear_no_line(8192);
    assert_true(each_line(1, NULL) > 0);
}

/* ---- Set aside --------------------------------------------------------------------------------
 */

static void put_line(struct audit *audit, const char *text)
{
    assert_int_equal(audit->write(audit, str_of(text)), 0);
}

static void put_alone(uint64_t max_bytes, uint32_t keep, const char *text)
{
    struct audit *audit = open_audit(max_bytes, keep, false);
    put_line(audit, text);
    audit_file_free(audit);
}

static void as_many_are_kept_as_the_config_says(void **state)
{
    struct stat st;
    (void)state;
    for (int i = 0; i < 5; i++)
        put_alone(10, 2, "123456789\n");
    assert_int_equal(each_line(0, NULL), 1);
    assert_int_equal(each_line(2, NULL), 1);
    assert_int_equal(each_line(3, NULL), -1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    put_alone(10, 0, "abcdefghi\n");
    assert_int_equal(each_line(0, NULL), 1);
}

static void a_file_that_is_renamed_is_left_alone(void **state)
{
    char other[100];
    (void)state;
    struct audit *audit = open_audit(AUDIT_FILE_BYTES, 1, false);
    put_line(audit, "one\n");
    for (int i = 0; i < 10000 && each_line(0, NULL) < 1; i++)
        poll(NULL, 0, 1);
    snprintf(other, sizeof other, "%s.moved", path);
    assert_int_equal(rename(path, other), 0);
    put_line(audit, "two\n");
    audit_file_free(audit);
    assert_int_equal(each_line(0, NULL), 1);
}

/* ---- Trouble ----------------------------------------------------------------------------------
 */

static void what_a_killed_process_left_of_a_line_goes(void **state)
{
    (void)state;
    FILE *file = fopen(path, "w");
    fputs("whole\nhalf of a li", file);
    fclose(file);
    put_alone(AUDIT_FILE_BYTES, 1, "next\n");
    char text[64] = "";
    file = fopen(path, "r");
    assert_int_equal(fread(text, 1, sizeof text - 1, file), 11);
    assert_string_equal(text, "whole\nnext\n");
    fclose(file);
}

static uint32_t told;

static void see_gap(const char *line)
{
    const char *at = strstr(line, "\"status\":\"lost\",\"lines\":");
    if (at)
        told += (uint32_t)atoi(at + 24);
}

static void beyond_AUDIT_RING_BYTES_lines_are_lost_and_told(void **state)
{
    static char line[AUDIT_LINE_BYTES];
    (void)state;
    told = 0;
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    struct audit *audit = open_audit(AUDIT_FILE_BYTES, 1, true);
    uint32_t lost = 0, n = AUDIT_RING_BYTES / AUDIT_LINE_BYTES;
    for (uint32_t i = 0; i < n + 3; i++)
        lost += audit->write(audit, (struct str){line, sizeof line});
    assert_int_equal(lost, 3);
    audit_file_free(audit);
    assert_int_equal(each_line(0, see_gap), n + 1);
    assert_int_equal(told, 3);
}

/* RLIMIT_FSIZE stands for a full disk: a write goes as far as it can. */
static void a_full_disk_tears_no_line(void **state)
{
    static char line[1001];
    (void)state;
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 2] = '\n';
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit limit = {2500, 2500};
        signal(SIGXFSZ, SIG_IGN);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 4; i++)
            put_alone(AUDIT_FILE_BYTES, 1, line);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 2000);
}

static void what_is_no_file_is_refused(void **state)
{
    const struct audit_file_config config = {path, AUDIT_FILE_BYTES, 1, false};
    (void)state;
    assert_int_equal(symlink("/tmp/elsewhere", path), 0);
    assert_int_equal(audit_file_check(&config), ERR_IO);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(audit_file_check(&config), ERR_IO);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(four_workers_write_one_file),
        TEST(four_workers_set_it_aside),
        TEST(as_many_are_kept_as_the_config_says),
        TEST(a_file_that_is_renamed_is_left_alone),
        TEST(what_a_killed_process_left_of_a_line_goes),
        TEST(beyond_AUDIT_RING_BYTES_lines_are_lost_and_told),
        TEST(a_full_disk_tears_no_line),
        TEST(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
