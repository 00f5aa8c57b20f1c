/* tests/unit/test_core_memory.c - the n-th allocation fails, for every n, while a request is being
 * handled on the loop, in however many turns: it is answered all the same, nothing leaks, and the
 * next one works.
 * Only those of the loop's own thread fail. */
#include "failing_heap.h"

#include "tests/unit/ask.h"

#define N(a) (sizeof(a) / sizeof *(a))

static void finish(struct call *call)
{
    heap_ok();
    take_answer(call);
}

/* Sends it with the n-th allocation failing; false if there were fewer. */
static bool send_failing(struct bench *b, const char *body, unsigned n)
{
    struct call *call = call_new(b->core);
    fill(b, call, str_of(body));
    call->finish = finish;
    b->n_answers = 0;
    heap_fail_at(n);
    core_handle(b->core, call);
    while (b->n_answers == 0)
        if (!loop_turn(&b->loop, 10))
            fail_msg("no answer to %s, allocation %u", body, n);
    bool was_hit = !heap_ok();
    assert_int_equal(b->n_answers, 1);
    return was_hit && n < 1000;
}

static const char *const requests[] = {
    PING,
    INITIALIZE("2025-06-18"),
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\",\"params\":{\"cursor\":\"x\"}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"db://shop/"
    "book/1\"}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"db://shop/"
    "book\"}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"get_book\",\"arguments\":{\"id\":1}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"get_book\",\"arguments\":{\"id\":9}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"search_book\",\"arguments\":{\"limit\":1}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"create_book\",\"arguments\":{\"id\":1,\"title\":\"x\"}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"update_book\",\"arguments\":{\"id\":1,\"changes\":{\"year\":"
    "1700}}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
    "call\",\"params\":{\"name\":\"delete_book\",\"arguments\":{\"id\":9}}}",
    "[" PING "," PING ",{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]",
};

static void every_failing_allocation_is_answered(void **state)
{
    struct bench *b = *state;
    char session[128];
    unsigned n_failed = 0;
    bench_connect(b, "2025-03-26");
    strcpy(session, b->session);
    for (size_t i = 0; i < N(requests); i++) {
        unsigned n = 1;
        bool more = true;
        for (; more; n++) {
            strcpy(b->session, i == 1 ? "" : session);
            more = send_failing(b, requests[i], n);
            n_failed += more;
            if (b->body.n)
                expect(b, b->status, "\"*\"", requests[i]);
            else
                assert_int_equal(b->status, 500);
        }
        strcpy(b->session, session);
        ask(b, 200, PING, PONG);
    }
    assert_true(n_failed > 50);
}

/* A table that came makes the next request build the catalog anew. */
static void a_failing_catalog_keeps_the_old_one(void **state)
{
    static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    struct bench *b = *state;
    bench_table(b, "shop", "extra", NOTE_DEFINITION);
    unsigned n = 1;
    while (send_failing(b, list, n)) {
        if (b->status == 200) /* the failure came after the catalog was there */
            bench_table(b, "shop", "extra", NOTE_DEFINITION);
        n++;
    }
    assert_true(n > 20);
    ask_method(b, "tools/call", "{\"name\":\"get_extra\",\"arguments\":{\"id\":\"x\"}}",
               "{\"isError\":true}");
}

/* The first request of a role makes its view; of this table it sees less, so tools are made too. */
static void a_failing_view_is_answered_and_made_the_next_time(void **state)
{
    static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    static const char tree[] =
        "{\"databases\":{\"shop\":{\"tables\":{\"book\":{\"read\":true,\"update\":true,"
        "\"attribute_permissions\":[{\"attribute_name\":\"genre\"},{\"attribute_name\":\"more\"}]"
        "}}}}}";
    struct bench *b = *state;
    struct arena arena;
    struct schema_faults faults;
    unsigned n = 1;
    arena_init(&arena, 0);
    assert_int_equal(role_parse(str_of(tree), &arena, &b->role, &faults), 0);
    while (send_failing(b, list, n)) {
        if (b->status == 200) /* the failure came after the view was there */
            bench_table(b, "shop", "extra", NOTE_DEFINITION);
        n++;
    }
    assert_true(n > 20);
    ask_method(b, "tools/list", "",
               "{\"tools\":[{\"name\":\"get_book\"},{\"name\":\"search_book\"},{\"name\":"
               "\"update_book\"}]}");
    arena_done(&arena);
}

static void a_failing_role_is_none(void **state)
{
    static const char tree[] =
        "{\"databases\":{\"a\":{\"tables\":{\"b\":{\"attribute_permissions\":[{\"attribute_name\":"
        "\"c\"}]}}}},\"tools\":[\"d\"]}";
    struct schema_faults faults;
    int err = ERR_NO_MEMORY;
    (void)state;
    for (unsigned n = 1; err == ERR_NO_MEMORY && n < 1000; n++) {
        const struct role *role = NULL;
        struct arena arena;
        arena_init(&arena, 0);
        heap_fail_at(n);
        err = role_parse(str_of(tree), &arena, &role, &faults);
        heap_ok();
        assert_int_equal(role == NULL, err < 0);
        arena_done(&arena);
    }
    assert_int_equal(err, 0);
}

static void core_new_fails_cleanly(void **state)
{
    struct bench *b = *state;
    unsigned n = 0;
    int err;
    do {
        struct core *core = NULL;
        heap_fail_at(++n);
        err = core_new(&b->config, b->store, &b->loop, &core);
        heap_ok();
        assert_true(err == 0 || (err == ERR_NO_MEMORY && !core));
        core_free(core);
    } while (err < 0 && n < 1000);
    assert_true(n > 2 && err == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_TEST(every_failing_allocation_is_answered),
        SHOP_TEST(a_failing_catalog_keeps_the_old_one),
        SHOP_TEST(a_failing_view_is_answered_and_made_the_next_time),
        SHOP_TEST(a_failing_role_is_none),
        SHOP_TEST(core_new_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
