/* tests/unit/test_streams.c - streams on two workers and one store: what is sent while a call runs,
 * resumed, taken over, fallen behind, lost with a worker. */
#include "core_stream_rig.h"

#define N(a) (sizeof(a) / sizeof *(a))

static struct rig rig;

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

/* ---- A call --------------------------------------------------------------------------------- */

static void T_11_the_answer_is_the_last_event(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    EXPECT(w, "{\"a\":1}"); /* at once, before any commit */
    rig_say(call, "{\"a\":2}");
    rig_answer(call, "{\"id\":7}");
    EXPECT(w, "{\"a\":1}", "{\"a\":2}", "{\"id\":7}");
    assert_true(w->ended);
    rig_settle(&rig);
    assert_int_equal(rig.n_finished, 1);
    assert_null(rig.cores[0]->streams->written);
    assert_null(rig.cores[0]->streams->readers);
}

static void T_10_a_call_without_sse_has_no_stream(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    call->in.accepts_sse = false;
    assert_int_equal(call_send(call, STR("{}")), ERR_NO_STREAM);
    rig_answer(call, "{\"id\":7}");
    assert_null(rig.last);
    assert_int_equal(rig.status, 200);
}

static void C_06_a_cancelled_call_ends_without_an_answer(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    call_end(call);
    EXPECT(w, "{\"a\":1}");
    assert_true(w->ended);
    call_end(rig_call(&rig, 0, "8")); /* that had no stream */
    assert_true(rig.last != w && rig.last->ended && rig.last->n == 0);
    call = rig_call(&rig, 0, "9");
    call->in.accepts_sse = false;
    call_end(call);
    assert_int_equal(rig.status, 202);
    char id[EVENT_ID_BYTES];
    strcpy(id, w->id[0]);
    rig_settle(&rig);
    w = rig_get(&rig, 1, id); /* resumed, it only ends */
    assert_non_null(w);
    rig_settle(&rig);
    assert_true(w->ended && w->n == 0);
}

/* ---- Resuming ------------------------------------------------------------------------------- */

static void resume_after_the_end(unsigned worker)
{
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    rig_say(call, "{\"a\":2}");
    wire_cut(w);
    rig_say(call, "{\"a\":3}");
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    struct wire *again = rig_get(&rig, worker, w->id[0]);
    assert_non_null(again);
    rig_settle(&rig);
    EXPECT(again, "{\"a\":2}", "{\"a\":3}", "{\"id\":7}");
    assert_string_equal(again->id[0], w->id[1]);
    assert_true(again->ended);
    again = rig_get(&rig, worker, again->id[2]);
    rig_settle(&rig);
    assert_true(again->ended && again->n == 0);
}

static void X_03_resumed_after_the_end_on_the_same_worker(void **state)
{
    (void)state;
    resume_after_the_end(0);
}

static void X_03_resumed_after_the_end_on_another_worker(void **state)
{
    (void)state;
    resume_after_the_end(1);
}

static void resume_while_running(unsigned worker)
{
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    rig_settle(&rig);
    wire_cut(w);
    rig_say(call, "{\"a\":2}");
    struct wire *again = rig_get(&rig, worker, w->id[0]);
    assert_non_null(again);
    rig_say(call, "{\"a\":3}");
    rig_settle(&rig);
    rig_say(call, "{\"a\":4}");
    rig_settle(&rig);
    EXPECT(again, "{\"a\":2}", "{\"a\":3}", "{\"a\":4}");
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    EXPECT(again, "{\"a\":2}", "{\"a\":3}", "{\"a\":4}", "{\"id\":7}");
    assert_true(again->ended);
}

static void X_03_resumed_while_it_runs_on_the_same_worker(void **state)
{
    (void)state;
    resume_while_running(0);
}

static void X_03_resumed_while_it_runs_on_another_worker(void **state)
{
    (void)state;
    resume_while_running(1);
}

/* The old connection is open still; it gets nothing once the claim is made. */
static void take_over(unsigned worker)
{
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    rig_settle(&rig);
    struct wire *again = rig_get(&rig, worker, w->id[0]);
    rig_settle(&rig);
    assert_true(w->ended);
    unsigned n = w->n;
    rig_say(call, "{\"a\":2}");
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    assert_int_equal(w->n, n);
    EXPECT(again, "{\"a\":2}", "{\"id\":7}");
    assert_true(again->ended);
}

static void X_06_taken_over_on_the_same_worker(void **state)
{
    (void)state;
    take_over(0);
}

static void X_06_taken_over_on_another_worker(void **state)
{
    (void)state;
    take_over(1);
}

static void X_06_taken_over_back_and_forth(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":0}");
    struct wire *w = rig.last;
    for (unsigned i = 1; i < 20; i++) {
        char text[32];
        rig_settle(&rig);
        struct wire *again = rig_get(&rig, i % 3 % 2, w->id[w->n - 1]);
        rig_settle(&rig);
        assert_true(w->ended);
        snprintf(text, sizeof text, "{\"a\":%u}", i);
        rig_say(call, text);
        rig_settle(&rig);
        EXPECT(again, text);
        w = again;
    }
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    assert_string_equal(w->text[1], "{\"id\":7}");
    assert_true(w->ended);
}

static void X_06_an_old_reader_that_says_nothing_is_not_waited_for_long(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    rig_settle(&rig);
    rig_say(call, "{\"a\":2}");
    /* its worker is alive, but does not look */
    void (*deaf)(void *ctx) = rig.buses[0].on_wake;
    rig.buses[0].on_wake = NULL;
    struct wire *again = rig_get(&rig, 1, w->id[0]);
    rig_settle(&rig);
    assert_int_equal(again->n, 0);
    clock_advance_ms(STREAM_RELEASE_MS + 1);
    core_tick(rig.cores[1]);
    EXPECT(again, "{\"a\":2}");
    rig.buses[0].on_wake = deaf;
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    EXPECT(again, "{\"a\":2}", "{\"id\":7}");
}

static void X_07_what_names_no_stream_is_refused(void **state)
{
    (void)state;
    static const char *const ids[] = {"",
                                      "x",
                                      ".",
                                      "0123456789abcdef",
                                      "0123456789abcdef.",
                                      "0123456789abcdef.0",
                                      "0123456789abcdef.01",
                                      "0123456789abcdef.-1",
                                      "0123456789abcdef.1 ",
                                      "0123456789ABCDEF.1",
                                      "123456789abcdef.1",
                                      "0123456789abcdef.99999999999999999999",
                                      "0123456789abcdef.1",
                                      "0123456789abcdef.1.1"};
    for (size_t i = 0; i < N(ids); i++) {
        rig_get_refused(&rig, i % 2, ids[i], 400);
    }
}

static void X_07_a_stream_of_another_session_is_refused(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    bench_connect(&rig.bench, "2025-06-18");
    for (unsigned i = 0; i < WORKERS; i++) {
        rig_get_refused(&rig, i, w->id[0], 400);
    }
}

static void X_04_only_the_own_stream_is_replayed(void **state)
{
    (void)state;
    struct call *a = rig_call(&rig, 0, "1"), *b = rig_call(&rig, 1, "2");
    rig_say(a, "{\"a\":1}");
    struct wire *wa = rig.last;
    rig_say(b, "{\"b\":1}");
    rig_say(a, "{\"a\":2}");
    rig_say(b, "{\"b\":2}");
    rig_answer(b, "{\"id\":2}");
    wire_cut(wa);
    rig_settle(&rig);
    wa = rig_get(&rig, 1, wa->id[0]);
    rig_answer(a, "{\"id\":1}");
    rig_settle(&rig);
    EXPECT(wa, "{\"a\":2}", "{\"id\":1}");
}

static void X_07_forgotten_frames_are_no_resume(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{}");
    struct wire *w = rig.last;
    for (unsigned i = 0; i < STREAM_FRAMES + 1; i++)
        rig_say(call, "{}");
    rig_settle(&rig);
    wire_cut(w);
    rig_get_refused(&rig, 1, w->id[0], 400);
    struct wire *again = rig_get(&rig, 1, w->id[1]);
    rig_settle(&rig);
    assert_int_equal(again->n, STREAM_FRAMES);
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    assert_true(again->ended);
}

/* ---- Slow readers --------------------------------------------------------------------------- */

static void P_a_slow_reader_catches_up_without_gap_or_repeat(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    unsigned said = 0;
    char text[32];
    rig_say(call, "0");
    struct wire *w = rig.last;
    w->room = 3;
    for (said = 1; said < 60; said++) {
        snprintf(text, sizeof text, "%u", said);
        rig_say(call, text);
        if (said % 7 == 0)
            rig_settle(&rig);
        if (said % 10 == 0 && w->room == 0)
            wire_make_room(w, 4);
    }
    rig_answer(call, "60");
    for (unsigned i = 0; i < 100 && !w->ended; i++) {
        rig_settle(&rig);
        if (w->room == 0)
            wire_make_room(w, 5);
    }
    assert_true(w->ended);
    assert_int_equal(w->n, 61);
    for (unsigned i = 0; i < w->n; i++) {
        snprintf(text, sizeof text, "%u", i);
        assert_string_equal(w->text[i], text);
    }
}

static void P_a_reader_behind_what_is_kept_is_cut(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{}");
    struct wire *w = rig.last;
    w->room = 1;
    for (unsigned i = 0; i < STREAM_FRAMES + 10; i++)
        rig_say(call, "{}");
    rig_settle(&rig);
    assert_int_equal(w->n, 2);
    wire_make_room(w, 10);
    rig_settle(&rig);
    assert_true(w->ended);
    assert_int_equal(w->n, 2);
    rig_answer(call, "{\"id\":7}");
}

/* ---- A worker that died --------------------------------------------------------------------- */

static bool says_lost(const char *text, const char *id)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"id\":%s", id);
    return strstr(text, "-32603") && strstr(text, wanted);
}

static void X_a_call_of_a_dead_worker_ends_by_an_error(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "\"seven\"");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    rig_settle(&rig);
    struct wire *again = rig_get(&rig, 1, w->id[0]); /* follows it */
    rig_settle(&rig);
    assert_int_equal(again->n, 0);
    rig_kill(&rig, 0);
    rig_tick(&rig, 1000);
    assert_int_equal(again->n, 1);
    assert_true(says_lost(again->text[0], "\"seven\""));
    assert_true(again->ended);
    struct wire *third = rig_get(&rig, 1, w->id[0]); /* what was said is said again */
    rig_settle(&rig);
    EXPECT(third, again->text[0]);
    assert_string_equal(third->id[0], again->id[0]);
    call_free(call);
}

static void X_a_stream_of_a_dead_worker_that_nobody_followed(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    rig_say(call, "{\"a\":2}");
    rig_settle(&rig);
    rig_kill(&rig, 0);
    struct wire *again = rig_get(&rig, 1, w->id[0]);
    rig_tick(&rig, 1000);
    assert_int_equal(again->n, 2);
    assert_string_equal(again->text[0], "{\"a\":2}");
    assert_true(says_lost(again->text[1], "7") && again->ended);
    call_free(call);
}

/* What went out and was not stored has a number that nobody uses again. */
static void X_02_numbers_are_not_used_twice_after_a_crash(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last;
    rig_settle(&rig);
    rig_say(call, "{\"a\":2}");
    rig_kill(&rig, 0);
    EXPECT(w, "{\"a\":1}", "{\"a\":2}");
    struct wire *again = rig_get(&rig, 1, w->id[1]);
    rig_tick(&rig, 1000);
    assert_int_equal(again->n, 1);
    assert_true(says_lost(again->text[0], "7"));
    assert_string_not_equal(again->id[0], w->id[1]);
    call_free(call);
}

static void X_02_a_long_stream_reserves_its_numbers(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{}");
    struct wire *w = rig.last;
    for (unsigned i = 1; i < 3 * STREAM_NUMBERS; i++) {
        rig_say(call, "{}");
        if (i % 50 == 0)
            rig_settle(&rig);
    }
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    assert_int_equal(w->n, 3 * STREAM_NUMBERS + 1);
    assert_true(w->ended);
}

/* ---- Sessions ------------------------------------------------------------------------------- */

static void S_streams_end_with_their_session(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{\"a\":1}");
    struct wire *w = rig.last, *get = rig_get(&rig, 0, NULL);
    rig_settle(&rig);
    streams_end_session(rig.cores[0]->streams, str_of(rig.bench.session));
    assert_true(w->ended && get->ended);
    rig_answer(call, "{\"id\":7}");
    rig_settle(&rig);
    assert_int_equal(w->n, 1);
    assert_null(rig.cores[0]->streams->written);
}

static void S_a_session_that_listens_lives_on(void **state)
{
    (void)state;
    struct wire *w = rig_get(&rig, 1, NULL);
    rig_settle(&rig);
    for (unsigned i = 0; i < 40; i++)
        rig_tick(&rig, bench_config.session_idle_ms / 20);
    assert_false(w->ended);
    ask(&rig.bench, 200, PING, PONG);
    wire_cut(w);
    rig_tick(&rig, bench_config.session_idle_ms + 1000);
    ask(&rig.bench, 404, PING, "{\"error\":{\"code\":\"*\"}}");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(T_11_the_answer_is_the_last_event),
        T(T_10_a_call_without_sse_has_no_stream),
        T(C_06_a_cancelled_call_ends_without_an_answer),
        T(X_03_resumed_after_the_end_on_the_same_worker),
        T(X_03_resumed_after_the_end_on_another_worker),
        T(X_03_resumed_while_it_runs_on_the_same_worker),
        T(X_03_resumed_while_it_runs_on_another_worker),
        T(X_06_taken_over_on_the_same_worker),
        T(X_06_taken_over_on_another_worker),
        T(X_06_taken_over_back_and_forth),
        T(X_06_an_old_reader_that_says_nothing_is_not_waited_for_long),
        T(X_07_what_names_no_stream_is_refused),
        T(X_07_a_stream_of_another_session_is_refused),
        T(X_04_only_the_own_stream_is_replayed),
        T(X_07_forgotten_frames_are_no_resume),
        T(P_a_slow_reader_catches_up_without_gap_or_repeat),
        T(P_a_reader_behind_what_is_kept_is_cut),
        T(X_a_call_of_a_dead_worker_ends_by_an_error),
        T(X_a_stream_of_a_dead_worker_that_nobody_followed),
        T(X_02_numbers_are_not_used_twice_after_a_crash),
        T(X_02_a_long_stream_reserves_its_numbers),
        T(S_streams_end_with_their_session),
        T(S_a_session_that_listens_lives_on),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
