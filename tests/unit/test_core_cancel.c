/* tests/unit/test_core_cancel.c - searches on real threads, cancelled at any moment of their life.
 * What races is found by tsan, what leaks by asan.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "core/core_state.h"
#include "net/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS       (1 + 8 * INLINE_SCAN_ENTRIES)
#define CALLS      1000
#define AT_ONCE    (2 * SCANS_MAX)
#define STOP_MS    10
#define SLOW_CALLS 20

#define SEARCH                                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"    \
    "\"search_%s\",\"arguments\":{\"limit\":1000,\"total\":true,\"where\":\"text like " \
    "'%%none%%'\"}}}"
#define CANCEL \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}"
#define INITIALIZE                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"                   \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\"," \
    "\"version\":\"1\"}}}"
#define DEFINITION                                                                      \
    "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{" \
    "\"type\":\"string\"},\"text\":{\"type\":\"string\"}}}}"

static const struct core_config config = {
    .session_idle_ms = 1800000,
    .list_page = 200,
    .tools_page = {200, 200},
    .search_page = 100,
    .search_max = 1000,
    .profile_enabled = {true, true},
};

static struct loop *loop;
static struct store *store;
static struct core *core;
static char session[128];
static unsigned n_begun, n_ended, n_found, n_silent;
static unsigned n_answers[CALLS + 1]; /* by id */

static void answered(struct call *call)
{
    if (call->out.session_id.n)
        snprintf(session, sizeof session, STR_FMT, STR_ARG(call->out.session_id));
    if (call->message.kind == RPC_REQUEST) {
        n_answers[atoi(call->message.id.p)]++;
        n_ended++;
        n_found += call->out.body.n > 0;
        n_silent += call->out.body.n == 0;
    }
    call_free(call);
    loop_stop(loop);
}

static struct call *begin(const char *format, ...)
{
    struct call *call = call_new(core);
    va_list args;
    char *body = arena_zalloc(&call->arena, 1024 + JSON_PADDING_BYTES);
    va_start(args, format);
    int n = vsnprintf(body, 1024, format, args);
    va_end(args);
    call->in = (struct call_inbound){
        .verb = CALL_POST,
        .accepts_json = true,
        .body = {body, (uint32_t)n},
        .session_id = session[0] ? arena_str(&call->arena, str_of(session)) : STR_NONE,
        .access = access_super(),
    };
    call->finish = answered;
    core_handle(core, call);
    return call;
}

static void search(int id, const char *table)
{
    n_begun++;
    begin(SEARCH, id, table);
}

static void written(struct store_write *write, int err)
{
    (void)write;
    assert_int_equal(err, 0);
    loop_stop(loop);
}

static void write_and_wait(struct store_op *ops, uint32_t n_ops)
{
    struct store_write write = {.space = STORE_DATA, .ops = ops, .n_ops = n_ops, .done = written};
    store_submit(store, &write);
    loop_run(loop);
}

/* Each row has a text of so many bytes. */
static void put_table(const char *name, int n_rows, uint32_t n_bytes)
{
    static char text[64 << 10], keys[TXN_ROWS_MAX][8];
    static struct store_op ops[TXN_ROWS_MAX];
    const struct tape_node row[] = {{.kind = TAPE_OBJECT, .n = 1, .v.size = 3},
                                    {.kind = TAPE_STR, .n = 4, .v.s = "text"},
                                    {.kind = TAPE_STR, .n = n_bytes, .v.s = text}};
    struct store_table table = {
        .database = STR("shop"), .name = str_of(name), .definition = STR(DEFINITION)};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_ANY, .put_table = &table};
    memset(text, 'x', sizeof text);
    write_and_wait(&op, 1);
    for (int i = 0; i < n_rows;) {
        uint32_t n = 0;
        for (; n < TXN_ROWS_MAX && i < n_rows; n++, i++) {
            snprintf(keys[n], sizeof keys[n], "k%05d", i);
            ops[n] = (struct store_op){.kind = STORE_PUT_ROW,
                                       .if_version = STORE_ANY,
                                       .table = op.ret_table,
                                       .key = str_of(keys[n]),
                                       .row = row};
        }
        write_and_wait(ops, n);
    }
}

static int open_core(void **state)
{
    (void)state;
    session[0] = '\0';
    n_begun = n_ended = n_found = n_silent = 0;
    memset(n_answers, 0, sizeof n_answers);
    assert_int_equal(loop_new(&loop), 0);
    assert_int_equal(store_open_memory(&store), 0);
    store_attach(store, loop);
    assert_int_equal(core_new(&config, store, loop, &core), 0);
    begin(INITIALIZE);
    loop_run(loop);
    assert_true(session[0] != '\0');
    n_ended = n_found = 0;
    n_answers[0] = 0;
    return 0;
}

static int close_core(void **state)
{
    (void)state;
    core_stop(core);
    loop_drain(loop);
    core_free(core);
    store_close(store);
    loop_free(loop);
    return 0;
}

static uint32_t random_below(uint32_t n)
{
    static uint32_t x = 2463534242;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    return x % n;
}

/* Of all that was begun, each has one outcome; some of them is either. */
static void C_06_a_thousand_races_have_one_outcome_each(void **state)
{
    (void)state;
    put_table("page", ROWS, 10);
    for (int id = 1; id <= CALLS; id++) {
        search(id, "page");
        if (random_below(4))
            begin(CANCEL, id - (int)random_below(AT_ONCE)); /* before it began, or after its end */
        while (n_begun - n_ended >= AT_ONCE)
            loop_run(loop);
    }
    while (n_ended < n_begun)
        loop_run(loop);
    for (int id = 1; id <= CALLS; id++)
        assert_int_equal(n_answers[id], 1);
    assert_int_equal(n_found + n_silent, CALLS);
    assert_true(n_found > 0 && n_silent > 0);
    assert_int_equal(core->running.n, 0);
}

/* From the flag to the end, with what a search does between two rows at its slowest. */
static void C_03_a_search_over_large_rows_stops_within_10_ms(void **state)
{
    (void)state;
    int64_t longest_ms = 0;
    int n_prompt = 0;
    put_table("large", 2000, 60000);
    for (int id = 1; id <= SLOW_CALLS; id++) {
        search(id, "large");
        int64_t until_ms = clock_mono_ms() + 5 + random_below(10);
        while (clock_mono_ms() < until_ms) /* it runs meanwhile */
            ;
        int64_t from_ms = clock_mono_ms();
        begin(CANCEL, id);
        while (n_ended < n_begun)
            loop_run(loop);
        int64_t ms = clock_mono_ms() - from_ms;
        longest_ms = ms > longest_ms ? ms : longest_ms;
        n_prompt += ms <= STOP_MS;
    }
    printf("# %u of %d were cancelled, the slowest took %d ms to stop\n", n_silent, SLOW_CALLS,
           (int)longest_ms);
    assert_true(n_silent > 0);
    assert_true(n_prompt >= SLOW_CALLS / 2); /* the machine may be busy; told above */
}

static void a_stop_cancels_what_runs(void **state)
{
    (void)state;
    put_table("page", ROWS, 10);
    for (int id = 1; id <= 3 * SCANS_MAX; id++)
        search(id, "page");
    core_stop(core);
    loop_drain(loop);
    assert_int_equal(n_ended, n_begun);
    assert_int_equal(n_silent, 0); /* an error is an answer */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_core, close_core)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(C_06_a_thousand_races_have_one_outcome_each),
        TEST(C_03_a_search_over_large_rows_stops_within_10_ms),
        TEST(a_stop_cancels_what_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
