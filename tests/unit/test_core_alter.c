/* tests/unit/test_core_alter.c - tables that change between the check of a row and its commit.
 *
 * A change of the table is held inside its transaction by check_table, on the writer's thread. A
 * tool that is called then sees the table as it was, and its write waits behind the change.
 */
#include "base/limits.h"
#include "core/core_state.h"
#include "core/catalog.h"
#include "tests/unit/ask.h"

#include <semaphore.h>

#define WIDE                                                                            \
    "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{" \
    "\"type\":\"string\"},\"text\":{\"type\":\"string\"},\"n\":{}}}}"
#define NARROW                                                                          \
    "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{" \
    "\"type\":\"string\"},\"text\":{\"type\":\"string\",\"maxLength\":3}}}}"

/* A list as long as may be shares its transaction with no other. */
struct alter {
    struct store_write write; /* first */
    struct store_table table;
    struct store_op ops[TXN_ROWS_MAX];
    bool done;
};

static sem_t entered, may_leave;

static int stay(void *ctx, const struct store_table *table)
{
    (void)ctx;
    (void)table;
    sem_post(&entered);
    sem_wait(&may_leave);
    return 0;
}

static void altered(struct store_write *write, int err)
{
    assert_int_equal(err, 0);
    ((struct alter *)write)->done = true;
}

static void submit(struct bench *b, struct alter *alter, const char *definition)
{
    *alter = (struct alter){.write = {.space = STORE_DATA, .n_ops = TXN_ROWS_MAX, .done = altered}};
    alter->table = (struct store_table){
        .database = STR("shop"), .name = STR("note"), .definition = str_of(definition)};
    for (int i = 0; i < TXN_ROWS_MAX; i++)
        alter->ops[i] = (struct store_op){.kind = STORE_PUT_TABLE,
                                          .if_version = STORE_ANY,
                                          .put_table = &alter->table,
                                          .check_table = i ? NULL : stay};
    alter->write.ops = alter->ops;
    store_submit(b->store, &alter->write);
}

static void turn_until(struct bench *b, const bool *done)
{
    while (!*done)
        assert_true(loop_turn(&b->loop, 10));
}

/* Calls a tool while the table is held in its change to `definition`; the answer is in b->body. */
static void call_within(struct bench *b, const char *definition, const char *params)
{
    static struct alter alter;
    char body[1024];
    struct call *call = call_new(b->core);
    submit(b, &alter, definition);
    sem_wait(&entered);
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":%s}", params);
    fill(b, call, str_of(body));
    call->finish = take_answer;
    call->transport = b;
    b->n_answers = 0;
    core_handle(b->core, call);
    assert_int_equal(b->n_answers, 0);
    sem_post(&may_leave);
    turn_until(b, &alter.done);
    while (b->n_answers == 0)
        assert_true(loop_turn(&b->loop, 10));
}

#define NOTE(verb, arguments) "{\"name\":\"" verb "_note\",\"arguments\":" arguments "}"

static void a_row_that_the_new_definition_refuses_is_not_created(void **state)
{
    call_within(*state, NARROW, NOTE("create", "{\"key\":\"k\",\"text\":\"long\"}"));
    expect(*state, 200,
           "{\"error\":{\"code\":-32602,\"data\":{\"errors\":[{\"pointer\":\"/params/arguments/"
           "text\",\"keyword\":\"maxLength\"}]}}}",
           "create");
    ask_method(*state, "tools/call", NOTE("get", "{\"id\":\"k\"}"), "{\"isError\":true}");
}

static void a_row_that_the_new_definition_allows_is_created(void **state)
{
    call_within(*state, NARROW, NOTE("create", "{\"key\":\"k\",\"text\":\"abc\"}"));
    expect(*state, 200,
           "{\"result\":{\"structuredContent\":{\"text\":\"abc\"},\"-\":[\"isError\"]}}", "create");
}

static void an_update_is_checked_by_the_new_definition(void **state)
{
    ask_method(*state, "tools/call", NOTE("create", "{\"key\":\"k\",\"text\":\"long\"}"), "{}");
    call_within(*state, NARROW, NOTE("update", "{\"id\":\"k\",\"changes\":{\"n\":1}}"));
    expect(*state, 200,
           "{\"result\":{\"isError\":true,\"content\":[{\"text\":\"The row would not fit its "
           "schema: /text: maxLength, expected characters: at most 3\"}]}}",
           "update");
    call_within(*state, WIDE, NOTE("update", "{\"id\":\"k\",\"changes\":{\"text\":\"abc\"}}"));
    expect(*state, 200, "{\"result\":{\"structuredContent\":{\"text\":\"abc\",\"-\":[\"n\"]}}}",
           "update");
}

static void a_delete_is_done_whatever_the_definition(void **state)
{
    ask_method(*state, "tools/call", NOTE("create", "{\"key\":\"k\"}"), "{}");
    call_within(*state, NARROW, NOTE("delete", "{\"id\":\"k\"}"));
    expect(*state, 200, "{\"result\":{\"structuredContent\":{\"deleted\":true}}}", "delete");
}

/* Lets one change after the other in between the check and the commit. `n` of them, then none. */
static void create_within_changes(struct bench *b, unsigned n)
{
    static struct alter alters[2];
    struct call *call = call_new(b->core);
    submit(b, &alters[0], WIDE);
    sem_wait(&entered);
    fill(b, call,
         STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":" NOTE(
             "create", "{\"key\":\"k\"}") "}"));
    call->finish = take_answer;
    call->transport = b;
    b->n_answers = 0;
    core_handle(b->core, call);
    for (unsigned i = 0; i < n; i++) {
        uint64_t version = b->core->catalog->version;
        if (i + 1 < n)
            submit(b, &alters[(i + 1) % 2], WIDE); /* behind the row that waits */
        sem_post(&may_leave);
        turn_until(b, &alters[i % 2].done);
        if (i + 1 < n)
            sem_wait(&entered);
        while (b->n_answers == 0 && b->core->catalog->version == version)
            assert_true(loop_turn(&b->loop, 10));
    }
    while (b->n_answers == 0)
        assert_true(loop_turn(&b->loop, 10));
}

static void beyond_WRITE_RECHECKS_MAX_the_write_is_given_up(void **state)
{
    create_within_changes(*state, WRITE_RECHECKS_MAX);
    expect(*state, 200, "{\"result\":{\"structuredContent\":{\"key\":\"k\"}}}", "create");
    ask_method(*state, "tools/call", NOTE("delete", "{\"id\":\"k\"}"), "{}");
    create_within_changes(*state, WRITE_RECHECKS_MAX + 1);
    expect(*state, 200,
           "{\"result\":{\"isError\":true,\"content\":[{\"text\":\"The table is being changed "
           "again and again. Nothing was written; try again in a moment.\"}]}}",
           "create");
    ask_method(*state, "tools/call", NOTE("get", "{\"id\":\"k\"}"), "{\"isError\":true}");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SHOP_TEST(a_row_that_the_new_definition_refuses_is_not_created),
        SHOP_TEST(a_row_that_the_new_definition_allows_is_created),
        SHOP_TEST(an_update_is_checked_by_the_new_definition),
        SHOP_TEST(a_delete_is_done_whatever_the_definition),
        SHOP_TEST(beyond_WRITE_RECHECKS_MAX_the_write_is_given_up),
    };
    sem_init(&entered, 0, 0);
    sem_init(&may_leave, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
