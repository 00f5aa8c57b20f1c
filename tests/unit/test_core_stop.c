/* tests/unit/test_core_stop.c - a core on the real loop with its threads is stopped while searches
 * and batches run and wait, in the order in which a worker does it. What leaks is found by asan,
 * what races by tsan.
 */
#include "base/err.h"
#include "base/limits.h"
#include "core/core.h"
#include "net/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define N(a)     (sizeof(a) / sizeof *(a))
#define ROWS     1000 /* of one write */
#define SEARCHES (10 * SCANS_MAX)
#define BATCHES  5

#define SEARCH                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":" \
    "\"search_page\",\"arguments\":{\"limit\":1000,\"where\":{\"text\":\"none\"}}}}"
#define CREATE                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":" \
    "\"create_page\",\"arguments\":{\"key\":\"%d\"}}}"
#define INITIALIZE                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"                   \
    "\"protocolVersion\":\"2025-03-26\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\"," \
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
static unsigned n_begun, n_answers;

static void answered(struct call *call)
{
    if (call->out.session_id.n)
        snprintf(session, sizeof session, STR_FMT, STR_ARG(call->out.session_id));
    n_answers++;
    call_free(call);
    loop_stop(loop);
}

static struct call *begin(const char *body)
{
    struct call *call = call_new(core);
    size_t n = strlen(body);
    char *copy = arena_zalloc(&call->arena, n + JSON_PADDING_BYTES);
    memcpy(copy, body, n);
    call->in = (struct call_inbound){
        .verb = CALL_POST,
        .accepts_json = true,
        .body = {copy, (uint32_t)n},
        .session_id = session[0] ? arena_str(&call->arena, str_of(session)) : STR_NONE,
        .access = access_super(),
    };
    call->finish = answered;
    n_begun++;
    core_handle(core, call);
    return call;
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

static void put_table(void)
{
    static const struct tape_node row = {.kind = TAPE_OBJECT, .v.size = 1};
    static char keys[ROWS][8];
    static struct store_op ops[ROWS];
    struct store_table table = {
        .database = STR("shop"), .name = STR("page"), .definition = STR(DEFINITION)};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_ANY, .put_table = &table};
    write_and_wait(&op, 1);
    for (int i = 0; i < ROWS; i++) {
        snprintf(keys[i], sizeof keys[i], "k%04d", i);
        ops[i] = (struct store_op){.kind = STORE_PUT_ROW,
                                   .if_version = STORE_ANY,
                                   .table = op.ret_table,
                                   .key = str_of(keys[i]),
                                   .row = &row};
    }
    write_and_wait(ops, ROWS);
}

static void start(void)
{
    session[0] = '\0';
    n_begun = n_answers = 0;
    assert_int_equal(loop_new(&loop), 0);
    assert_int_equal(store_open_memory(&store), 0);
    store_attach(store, loop);
    assert_int_equal(core_new(&config, store, loop, &core), 0);
    put_table();
    begin(INITIALIZE);
    loop_run(loop);
    assert_true(session[0] != '\0');
}

/* As net/worker.c and cli_serve.c. */
static void stop(void)
{
    loop_drain(loop);
    /* The loop knows nothing of what waits for the store's writer. */
    while (n_answers < n_begun)
        loop_run(loop);
    assert_int_equal(n_answers, n_begun);
    core_free(core);
    store_close(store);
    loop_free(loop);
}

static void begin_much(struct call **ret_calls)
{
    char batch[1024];
    for (int i = 0; i < SEARCHES; i++)
        ret_calls[i] = begin(SEARCH);
    for (int i = 0; i < BATCHES; i++) {
        snprintf(batch, sizeof batch, "[" SEARCH "," CREATE "," SEARCH "]", i);
        ret_calls[SEARCHES + i] = begin(batch);
    }
}

static void a_stop_ends_what_runs_and_what_waits(void **state)
{
    struct call *calls[SEARCHES + BATCHES];
    (void)state;
    start();
    begin_much(calls);
    assert_int_equal(n_answers, 1); /* of the handshake */
    for (size_t i = 0; i < N(calls); i++)
        calls[i]->orphaned = true;
    stop();
}

static void a_stop_with_clients_that_wait_answers_them(void **state)
{
    struct call *calls[SEARCHES + BATCHES];
    (void)state;
    start();
    begin_much(calls);
    loop_run(loop); /* until one is answered */
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_ends_what_runs_and_what_waits),
        cmocka_unit_test(a_stop_with_clients_that_wait_answers_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
