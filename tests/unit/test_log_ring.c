/* tests/unit/test_log_ring.c - the ring of log lines: order, levels, cuts, many processes at once,
 * a writer that dies. */
#include "base/log_ring.c" /* its slots, to stop a writer halfway */

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct seen {
    unsigned n, n_torn;
    uint64_t last;
    char text[LOG_LINE_BYTES + 1]; /* of the first */
    uint32_t bytes;
};

static int see(void *ctx, const struct log_entry *entry)
{
    struct seen *seen = ctx;
    if (seen->n++ == 0) {
        memcpy(seen->text, entry->text.p, entry->text.n);
        seen->bytes = entry->text.n;
    } else {
        assert_true(entry->number < seen->last);
    }
    seen->last = entry->number;
    for (uint32_t i = 1; i < entry->text.n; i++)
        seen->n_torn += entry->text.p[i] != entry->text.p[0];
    return 0;
}

static void add(enum log_level level, struct str text)
{
    log_ring_add(&(struct log_entry){.level = level, .time_ms = 1, .text = text});
}

static int open_ring(void **state)
{
    (void)state;
    return log_ring_open();
}

static int close_ring(void **state)
{
    (void)state;
    log_ring_close();
    return 0;
}

static void without_a_ring_nothing_is_kept(void **state)
{
    struct seen seen = {0};
    (void)state;
    add(LOG_ERROR, STR("x"));
    assert_int_equal(log_ring_read(LOG_DEBUG, 10, see, &seen), 0);
}

static void newest_first_by_level_and_limit(void **state)
{
    struct seen all = {0}, errors = {0}, one = {0};
    (void)state;
    add(LOG_ERROR, STR("aa"));
    add(LOG_INFO, STR("bb"));
    add(LOG_WARN, STR("cc"));
    assert_int_equal(log_ring_read(LOG_DEBUG, 10, see, &all), 3);
    assert_string_equal(all.text, "cc");
    assert_int_equal(log_ring_read(LOG_ERROR, 10, see, &errors), 1);
    assert_string_equal(errors.text, "aa");
    assert_int_equal(log_ring_read(LOG_DEBUG, 1, see, &one), 1);
    assert_int_equal(log_ring_read(LOG_DEBUG, 0, see, &one), 0);
}

static void a_round_later_only_the_newest_are_there(void **state)
{
    struct seen seen = {0};
    (void)state;
    for (unsigned i = 0; i < 3 * LOG_RING_LINES + 7; i++)
        add(LOG_INFO, STR("x"));
    assert_int_equal(log_ring_read(LOG_DEBUG, UINT32_MAX, see, &seen), LOG_RING_LINES);
    assert_int_equal(seen.last, 2 * LOG_RING_LINES + 7);
}

static void a_long_line_is_cut(void **state)
{
    struct seen seen = {0};
    char text[LOG_LINE_BYTES + 100];
    (void)state;
    memset(text, 'x', sizeof text);
    add(LOG_INFO, (struct str){text, sizeof text});
    log_ring_read(LOG_DEBUG, 1, see, &seen);
    assert_int_equal(seen.bytes, LOG_LINE_BYTES);
}

static void log_line_writes_into_it(void **state)
{
    struct seen seen = {0};
    (void)state;
    log_error("a line of %s", "the ring test");
    assert_int_equal(log_ring_read(LOG_ERROR, 1, see, &seen), 1);
    assert_string_equal(seen.text, "a line of the ring test");
}

static int keep(void *ctx, const struct log_entry *entry)
{
    assert_int_equal(entry->level, LOG_WARN);
    assert_in_range(entry->time_ms, 5, clock_wall_ms());
    assert_int_equal(entry->from.n, strlen("tenon[]") + (size_t)snprintf(NULL, 0, "%d", getpid()));
    memcpy(ctx, entry->text.p, entry->text.n);
    return 1;
}

/* A newline would begin a line of its own, an escape would speak to the terminal. */
static void a_clients_text_cannot_forge_a_line(void **state)
{
    char text[LOG_LINE_BYTES] = "";
    (void)state;
    log_warn("unknown: %s",
             "x\n2026-01-01T00:00:00.000Z tenon[1] error: forged\r\x1b[2J\x7f\xc2\x85\xc2\xa0");
    log_ring_read(LOG_DEBUG, 1, keep, text);
    assert_string_equal(
        text, "unknown: x?2026-01-01T00:00:00.000Z tenon[1] error: forged??[2J???\xc2\xa0");
}

static void from_and_text_are_cut_as_one(void **state)
{
    struct seen seen = {0};
    static char text[LOG_LINE_BYTES];
    (void)state;
    memset(text, 'x', sizeof text);
    log_ring_add(&(struct log_entry){.from = STR("worker 1"), .text = {text, sizeof text}});
    log_ring_read(LOG_DEBUG, 1, see, &seen);
    assert_int_equal(seen.bytes, LOG_LINE_BYTES - 8);
    assert_int_equal(seen.n_torn, 0);
}

/* Lines of one letter each, another one every time. */
static void write_lines(unsigned first, unsigned n)
{
    char text[LOG_LINE_BYTES];
    for (unsigned i = 0; i < n; i++) {
        memset(text, (int)(97 + (first + i) % 26), sizeof text);
        add(LOG_INFO, (struct str){text, sizeof text - i % 900});
    }
}

/* What a writer leaves that was stopped behind its first word: no test can stop one there in time.
 */
static void stop_halfway(struct slot *slot, uint64_t number)
{
    atomic_store(&slot->state, 2 * number + 1);
    atomic_store(&slot->words[0], 0x7878787878787878);
}

static void a_taken_slot_is_neither_read_nor_written(void **state)
{
    struct seen seen = {0};
    (void)state;
    add(LOG_INFO, STR("aa"));
    add(LOG_INFO, STR("bb"));
    stop_halfway(&ring->slots[1], 1);
    assert_int_equal(log_ring_read(LOG_DEBUG, 10, see, &seen), 1);
    assert_string_equal(seen.text, "aa");
    for (unsigned i = 0; i < LOG_RING_LINES; i++)
        add(LOG_INFO, STR("cc"));
    assert_int_equal(atomic_load(&ring->slots[1].state), 3);
    assert_int_equal(atomic_load(&ring->slots[1].words[0]), 0x7878787878787878);
    seen = (struct seen){0};
    assert_int_equal(log_ring_read(LOG_DEBUG, UINT32_MAX, see, &seen), LOG_RING_LINES - 1);
}

/* A writer that got its number and then slept while the others went round. */
static void a_late_writer_leaves_a_newer_line_alone(void **state)
{
    struct seen seen = {0};
    (void)state;
    atomic_store(&ring->next, LOG_RING_LINES);
    add(LOG_INFO, STR("new"));
    atomic_store(&ring->next, 0);
    add(LOG_INFO, STR("old"));
    atomic_store(&ring->next, LOG_RING_LINES + 1);
    assert_int_equal(log_ring_read(LOG_DEBUG, 1, see, &seen), 1);
    assert_string_equal(seen.text, "new");
}

/* The last child never ends by itself: it is killed wherever it stands. */
static void no_line_is_torn_by_many_writers_or_by_a_killed_one(void **state)
{
    pid_t children[4];
    struct seen seen;
    unsigned n_seen = 0, n_reads = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            write_lines((unsigned)i * 7, i < 3 ? 20000 : UINT32_MAX);
            _exit(0);
        }
        assert_true(children[i] > 0);
    }
    for (int i = 0; i < 3 && n_reads < 20000; n_reads++) {
        seen = (struct seen){0};
        n_seen += log_ring_read(LOG_DEBUG, UINT32_MAX, see, &seen);
        assert_int_equal(seen.n_torn, 0);
        i += waitpid(children[i], NULL, WNOHANG) == children[i];
    }
    assert_true(n_reads < 20000);
    kill(children[3], SIGKILL);
    assert_int_equal(waitpid(children[3], NULL, 0), children[3]);
    write_lines(0, LOG_RING_LINES);
    seen = (struct seen){0};
    assert_in_range(log_ring_read(LOG_DEBUG, UINT32_MAX, see, &seen), LOG_RING_LINES - 8,
                    LOG_RING_LINES);
    assert_int_equal(seen.n_torn, 0);
    assert_true(n_seen > 0);
}

#define RING_TEST(f) cmocka_unit_test_setup_teardown(f, open_ring, close_ring)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_ring_nothing_is_kept),
        RING_TEST(newest_first_by_level_and_limit),
        RING_TEST(a_round_later_only_the_newest_are_there),
        RING_TEST(a_long_line_is_cut),
        RING_TEST(log_line_writes_into_it),
        RING_TEST(a_clients_text_cannot_forge_a_line),
        RING_TEST(from_and_text_are_cut_as_one),
        RING_TEST(a_taken_slot_is_neither_read_nor_written),
        RING_TEST(a_late_writer_leaves_a_newer_line_alone),
        RING_TEST(no_line_is_torn_by_many_writers_or_by_a_killed_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
