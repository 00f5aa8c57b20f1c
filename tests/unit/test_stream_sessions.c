/* tests/unit/test_stream_sessions.c - thousands of sessions with streams on one worker: each is
 * found by its own, nothing is left of those that ended, and who has got all is not looked at.
 */
#include "core_stream_rig.h"

#include "fail_calloc.h"

#define SESSIONS 300 /* the table grows more than once */

static struct rig rig;
static char ids[SESSIONS][SESSION_ID_BYTES + 1];
static struct wire *wires[SESSIONS];

static int set_up(void **state)
{
    rig_open(&rig);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void listen_all(void)
{
    for (unsigned i = 0; i < SESSIONS; i++) {
        bench_connect(&rig.bench, "2025-06-18");
        snprintf(ids[i], sizeof ids[i], "%.64s", rig.bench.session);
        wires[i] = rig_get(&rig, 0, NULL);
        assert_non_null(wires[i]);
        rig_settle(&rig);
    }
}

static void each_session_is_found_among_many(void **state)
{
    (void)state;
    struct streams *streams = rig.cores[0]->streams;
    listen_all();
    assert_int_equal(streams->sessions.n, SESSIONS);
    for (unsigned i = 0; i < SESSIONS; i++) {
        struct reader *r = wires[i]->sink.ctx;
        assert_ptr_equal(reader_of_pushes(streams, str_of(ids[i])), r);
        assert_ptr_equal(readers_of(streams, str_of(ids[i])), r);
        assert_ptr_equal(streams_find(streams, &r->name), r->stream);
        push_send(rig.cores[i % WORKERS], str_of(ids[i]), str_of(ids[i]), 0);
    }
    assert_null(readers_of(streams, STR("0000000000000000")));
    rig_settle(&rig);
    for (unsigned i = 0; i < SESSIONS; i++)
        EXPECT(wires[i], ids[i]);
}

static void nothing_is_left_of_those_that_ended(void **state)
{
    (void)state;
    struct streams *streams = rig.cores[0]->streams;
    listen_all();
    for (unsigned i = 0; i < SESSIONS; i += 2)
        wire_cut(wires[i]);
    for (unsigned i = 1; i < SESSIONS; i += 4)
        streams_end_session(streams, str_of(ids[i]));
    rig_settle(&rig);
    assert_int_equal(streams->sessions.n, SESSIONS / 4);
    for (unsigned i = 0; i < SESSIONS; i++) {
        bool is_there = i % 4 == 3;
        assert_int_equal(wires[i]->cut || wires[i]->ended, !is_there);
        assert_int_equal(reader_of_pushes(streams, str_of(ids[i])) != NULL, is_there);
    }
}

static void who_has_got_all_is_not_looked_at(void **state)
{
    (void)state;
    struct streams *streams = rig.cores[0]->streams;
    listen_all();
    streams_wake(streams);
    assert_null(streams->behind);
    wires[7]->room = 1;
    for (unsigned i = 0; i < 3; i++)
        push_send(rig.cores[0], str_of(ids[7]), STR("{}"), 0);
    rig_settle(&rig);
    streams_wake(streams);
    assert_ptr_equal(streams->behind, wires[7]->sink.ctx);
    assert_null(streams->behind->next_behind);
    wire_make_room(wires[7], 100);
    rig_settle(&rig);
    streams_wake(streams);
    assert_null(streams->behind);
    EXPECT(wires[7], "{}", "{}", "{}");
}

/* Whichever of its allocations fails: it is refused, or opens, and nothing is left of it. */
static void without_memory_a_stream_is_refused(void **state)
{
    (void)state;
    struct streams *streams = rig.cores[0]->streams;
    if (!heap_can_fail())
        skip();
    unsigned n_refused = 0;
    for (unsigned i = 1; i < 40; i++) {
        struct stream_name name;
        stream_name_set(&name, STR("00000000aaaaaaaabbbbbbbbcccccccc"), i);
        fail_calloc_in = i % 5;
        struct stream *s = stream_new(streams, &name, true, STR_NONE);
        fail_calloc_in = 0;
        n_refused += !s;
        assert_int_equal(streams->sessions.n, s ? 1 : 0);
        if (s)
            stream_drop(s);
    }
    assert_true(n_refused >= 16); /* the stream, its session */
    assert_int_equal(streams->sessions.n, 0);
    assert_null(streams->written);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_session_is_found_among_many),
        TEST(nothing_is_left_of_those_that_ended),
        TEST(who_has_got_all_is_not_looked_at),
        TEST(without_memory_a_stream_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
