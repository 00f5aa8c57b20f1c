/* tests/unit/test_follow.c - subscriptions on two workers and one store: who is told of what, also
 * after a while without a stream. What bounds them: test_follow_bounds.c. Rows RS of
 * tests/CHECKLIST.md; REF: known bugs of others. */
#include "follow_rig.h"

/* ---- Live ----------------------------------------------------------------------------------- */

static void RS_10_who_subscribed_is_told_until_he_unsubscribes(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    at(1);
    subscribe("db://shop/note/a");
    rig_settle(&rig);
    write_note("b");
    write_note("a");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/a"));
    write_note("a");
    rig_settle(&rig);
    delete_note("a");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/a"), URI("db://shop/note/a"), URI("db://shop/note/a"));
    unsubscribe("db://shop/note/a");
    write_note("a");
    rig_settle(&rig);
    rig_tick(&rig, 1000);
    assert_int_equal(n_updates(w), 3);
    unsubscribe("db://shop/note/a"); /* what is not subscribed */
    unsubscribe("x:y");
}

static void RS_10_a_change_in_the_turn_of_the_answer_is_told(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    at(1);
    subscribe("db://shop/note/a"); /* worker 0 has not looked yet */
    write_note("a");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/a"));
}

static void RS_11_nobody_else_is_told(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    char first[128];
    strcpy(first, rig.bench.session);
    bench_connect(&rig.bench, "2025-06-18");
    struct wire *other = listen_at(0, NULL);
    subscribe("db://shop/note/b");
    write_note("a");
    write_note("b");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 0);
    UPDATES(other, URI("db://shop/note/b"));
}

static void RS_10_as_many_as_subscribed_are_told(void **state)
{
    (void)state;
    struct wire *w[20];
    for (unsigned i = 0; i < 20; i++) {
        bench_connect(&rig.bench, "2025-06-18");
        w[i] = listen_at(i % 2, NULL);
        subscribe("db://shop/note/a");
    }
    write_note("a");
    rig_settle(&rig);
    for (unsigned i = 0; i < 20; i++)
        UPDATES(w[i], URI("db://shop/note/a"));
}

static void RS_11_a_table_is_told_of_its_rows_and_a_row_of_itself(void **state)
{
    (void)state; /* REF_12: both forms deliver, deleting the row notifies both */
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note");
    subscribe("db://shop/note/a");
    write_note("b");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note"));
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 3);
    delete_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 5);
}

static void REF_23_reserved_characters_in_ids(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note/a%2Fb");
    subscribe("db://shop/note/%2E%2E");
    subscribe("db://shop/note/%C3%A9%20%3F");
    write_note("a/b");
    write_note("..");
    write_note("é ?");
    write_note("a");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/a%2Fb"), URI("db://shop/note/%2E%2E"),
            URI("db://shop/note/%C3%A9%20%3F"));
}

static void changes_of_one_turn_are_merged_in_the_order_of_the_last(void **state)
{
    (void)state;
    subscribe("db://shop/note/a");
    subscribe("db://shop/note/b");
    write_note("a");
    write_note("b");
    for (unsigned i = 0; i < 10; i++)
        write_note("a");
    struct wire *w = listen_at(0, NULL);
    UPDATES(w, URI("db://shop/note/b"), URI("db://shop/note/a"));
}

static void REF_28_every_frame_has_an_id_with_its_position(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note");
    for (unsigned i = 0; i < 5; i++) {
        char key[8], end[32];
        snprintf(key, sizeof key, "%u", i);
        write_note(key);
        rig_settle(&rig);
        assert_int_equal(n_updates(w), i + 1);
        snprintf(end, sizeof end, ".%llu", (unsigned long long)last_seq());
        const char *id = last_id(w);
        assert_string_equal(id + strlen(id) - strlen(end), end);
    }
}

/* ---- Mode all ------------------------------------------------------------------------------- */

static void mode_all_tells_each_change_with_its_sequence(void **state)
{
    (void)state;
    char wanted[3][200];
    uint64_t seq = last_seq();
    subscribe_all("db://shop/note");
    subscribe_all("db://shop/note/a");
    write_note("a/b");
    write_note("a/b");
    struct wire *w = listen_at(1, NULL);
    delete_note("a/b");
    rig_settle(&rig);
    for (unsigned i = 0; i < 3; i++)
        snprintf(wanted[i], sizeof wanted[i],
                 "{\"uri\":\"db://shop/note\",\"_meta\":{\"tenon/seq\":%llu,\"tenon/uri\":"
                 "\"db://shop/note/a%%2Fb\"}}",
                 (unsigned long long)seq + i + 1);
    UPDATES(w, wanted[0], wanted[1], wanted[2]);
    write_note("a");
    rig_settle(&rig);
    char text[1024];
    assert_int_equal(n_updates(w), 5);
    snprintf(wanted[0], sizeof wanted[0],
             "{\"uri\":\"db://shop/note/a\",\"_meta\":{\"tenon/seq\":%llu}}",
             (unsigned long long)seq + 4);
    if (strcmp(update(w, 3, text), wanted[0]) != 0)
        assert_string_equal(update(w, 4, text), wanted[0]);
}

/* The sequences told on this connection, from the first, each once and in order. */
static uint64_t expect_sequences(const struct wire *w, uint64_t from)
{
    char text[1024];
    for (unsigned i = 0; i < n_updates(w); i++) {
        const char *at_ = strstr(update(w, i, text), "\"tenon/seq\":");
        assert_non_null(at_);
        assert_int_equal(strtoull(at_ + 12, NULL, 10), ++from);
    }
    return from;
}

static void REF_06_each_sequence_once_though_connections_change(void **state)
{
    (void)state;
    char id[EVENT_ID_BYTES] = "";
    uint64_t seq = last_seq();
    subscribe_all("db://shop/note");
    rig_settle(&rig);
    for (unsigned round = 0; round < 30; round++) {
        unsigned worker = round * 7 / 3 % 2;
        at(round % 2);
        struct wire *w = rig_get(&rig, worker, id[0] ? id : NULL);
        assert_non_null(w);
        for (unsigned i = 0; i < round % 5; i++) { /* while it begins, in pieces */
            write_note("a");
            loop_turn(&rig.bench.loop, 0);
        }
        rig_settle(&rig);
        seq = expect_sequences(w, seq);
        assert_int_equal(seq, last_seq());
        if (w->n)
            strcpy(id, last_id(w));
        wire_cut(w);
        if (round % 3 == 0)
            write_note("a");
        if (round % 4 == 0)
            rig_settle(&rig);
    }
}

static void a_full_connection_gets_all_later_and_in_order(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    uint64_t seq = last_seq();
    subscribe_all("db://shop/note");
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 1);
    wire_make_room(w, 1);
    for (unsigned i = 0; i < FOLLOW_EVENTS_MAX + 200; i++) {
        write_note("a");
        if (i % 50 == 0)
            rig_settle(&rig);
    }
    rig_settle(&rig);
    assert_true(n_updates(w) <= 2);
    const struct follower *f = ((struct reader *)w->sink.ctx)->follower;
    assert_true(f->n_events <= FOLLOW_EVENTS_MAX + 1);
    assert_int_equal(stored_follow().seq, seq + n_updates(w));
    while (n_updates(w) < FOLLOW_EVENTS_MAX + 201) {
        unsigned before = n_updates(w);
        wire_make_room(w, 7);
        rig_settle(&rig);
        assert_true(n_updates(w) > before);
    }
    assert_int_equal(expect_sequences(w, seq), last_seq());
    wire_make_room(w, UINT_MAX);
    write_note("a"); /* it is live again */
    rig_settle(&rig);
    assert_int_equal(expect_sequences(w, seq), last_seq());
}

static void a_full_connection_merges(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note/a");
    subscribe("db://shop/note/b");
    write_note("a");
    write_note("b");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 2);
    wire_make_room(w, 1);
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 3);
    uint64_t seq = last_seq();
    for (unsigned i = 0; i < 300; i++) {
        write_note(i % 2 ? "a" : "b");
        if (i % 100 == 0)
            rig_settle(&rig);
    }
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 3);
    assert_true(stored_follow().seq < seq + 2);
    wire_make_room(w, UINT_MAX);
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 5);
    assert_int_equal(stored_follow().seq, last_seq());
}

/* ---- Without a stream ----------------------------------------------------------------------- */

/* Frames that wait behind a commit, made before and after the worker heard of it. */
static void RS_10_nothing_is_told_after_unsubscribe_though_frames_wait(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    struct commit *commit = &rig.cores[0]->streams->commit;
    subscribe("db://shop/note/a");
    subscribe("db://shop/note/b");
    rig_tick(&rig, 1100);
    commit->is_under_way = true;
    at(1);
    unsubscribe("db://shop/note/a");
    write_note("a");
    follows_wake(rig.cores[0]->follows);
    rig_settle(&rig);
    rig_tick(&rig, 1100); /* it hears of the unsubscribe */
    write_note("b");
    rig_settle(&rig);
    commit->is_under_way = false;
    streams_flush(rig.cores[0]->streams);
    rig_settle(&rig);
    rig_tick(&rig, 1100);
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/b"));
}

static void RS_12_what_changed_meanwhile_is_told_once(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note/a");
    write_note("a");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/a"));
    rig_tick(&rig, 1100); /* noted: it was taken */
    wire_cut(w);
    write_note("a");
    write_note("a");
    rig_settle(&rig);
    w = listen_at(1, NULL);
    UPDATES(w, URI("db://shop/note/a"));
    rig_tick(&rig, 1100);
    wire_cut(w);
    w = listen_at(0, NULL);
    assert_int_equal(n_updates(w), 0);
}

static void RS_12_what_no_connection_took_is_told_again(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    w->is_slow = true;
    subscribe("db://shop/note/a");
    write_note("a");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/a"));
    rig_tick(&rig, 1100);
    wire_cut(w);
    w = listen_at(1, NULL);
    UPDATES(w, URI("db://shop/note/a"));
}

static void REF_27_a_resume_elsewhere_gets_what_it_missed_and_ids_rise(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note/a");
    subscribe("db://shop/note/b");
    write_note("a");
    rig_settle(&rig);
    char id[EVENT_ID_BYTES];
    strcpy(id, last_id(w));
    wire_cut(w);
    rig_settle(&rig);
    write_note("b");
    rig_settle(&rig);
    w = listen_at(1, id);
    UPDATES(w, URI("db://shop/note/b"));
    assert_memory_equal(last_id(w), id, 17);
    assert_true(strtoull(last_id(w) + 17, NULL, 10) > strtoull(id + 17, NULL, 10));
    write_note("a");
    rig_settle(&rig);
    UPDATES(w, URI("db://shop/note/b"), URI("db://shop/note/a"));
}

static void REF_33_a_subscription_needs_no_stream(void **state)
{
    (void)state;
    subscribe("db://shop/note/a");
    write_note("a");
    struct wire *w = listen_at(1, NULL);
    UPDATES(w, URI("db://shop/note/a"));
}

static void REF_08_after_a_killed_worker_nothing_is_missed(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note/a");
    rig_settle(&rig);
    at(1);
    write_note("a");
    rig_kill(&rig, 0);
    w = listen_at(1, NULL);
    UPDATES(w, URI("db://shop/note/a"));
    write_note("a"); /* the store wakes the one that was there last, which is not this one */
    rig_tick(&rig, 1100);
    assert_int_equal(n_updates(w), 2);
}

static void RS_12_the_next_newest_is_told_when_the_newest_ends(void **state)
{
    (void)state;
    struct wire *old = listen_at(0, NULL);
    struct wire *new = listen_at(1, NULL);
    subscribe("db://shop/note/a");
    write_note("a");
    rig_settle(&rig);
    UPDATES(new, URI("db://shop/note/a"));
    rig_tick(&rig, 1100); /* noted: it was taken */
    wire_cut(new);
    rig_settle(&rig);
    write_note("a"); /* nobody pushes anything, so nobody else wakes the old one */
    rig_tick(&rig, 1100);
    rig_tick(&rig, 1100);
    UPDATES(old, URI("db://shop/note/a"));
}

static void RS_12_the_next_newest_is_told_when_the_newest_was_killed(void **state)
{
    (void)state;
    struct wire *old = listen_at(0, NULL);
    listen_at(1, NULL);
    subscribe("db://shop/note/a");
    rig_settle(&rig);
    rig_kill(&rig, 1);
    at(0);
    write_note("a");
    rig_tick(&rig, 1100);
    rig_tick(&rig, 1100);
    UPDATES(old, URI("db://shop/note/a"));
}

/* A stream that was taken over begins behind numbers that were never used: who reads it is not up
 * to date before he has read the store, which may not be possible at once. */
static void what_waits_for_a_reader_that_is_behind_is_told_later(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note/a");
    rig_settle(&rig);
    struct stream *s = ((struct reader *)w->sink.ctx)->stream;
    s->last_n += STREAM_NUMBERS;
    s->reserved_n = s->asked_n = s->last_n + STREAM_NUMBERS;
    reader_watch(s->reader);
    write_note("a");
    follows_wake(rig.cores[0]->follows);
    while (loop_turn(&rig.bench.loop, 0))
        ;
    assert_int_equal(n_updates(w), 0);
    rig_tick(&rig, 1100);
    UPDATES(w, URI("db://shop/note/a"));
}

static void REF_04_unsubscribe_while_a_stream_begins(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        subscribe("db://shop/note/a");
        struct wire *w = rig_get(&rig, i % 2, NULL);
        for (unsigned n = 0; n < i % 6; n++)
            loop_turn(&rig.bench.loop, 0);
        at(i / 2 % 2);
        unsubscribe("db://shop/note/a");
        unsigned before = n_updates(w);
        write_note("a");
        rig_settle(&rig);
        rig_tick(&rig, 1100);
        assert_int_equal(n_updates(w), before);
        wire_cut(w);
        rig_settle(&rig);
    }
}

static void C_063_two_hundred_times_on_changing_workers(void **state)
{
    (void)state; /* REF_03 */
    for (unsigned i = 0; i < 200; i++) {
        char key[16], uri[64], wanted[80];
        snprintf(key, sizeof key, "k%u", i);
        snprintf(uri, sizeof uri, "db://shop/note/%s", key);
        snprintf(wanted, sizeof wanted, "{\"uri\":\"%s\"}", uri);
        at(i % 2);
        bench_connect(&rig.bench, "2025-06-18");
        struct wire *w = i % 3 ? rig_get(&rig, i / 2 % 2, NULL) : NULL;
        at(i / 4 % 2);
        subscribe(uri);
        at(i / 3 % 2);
        write_note(key);
        if (!w)
            w = rig_get(&rig, i / 2 % 2, NULL);
        rig_settle(&rig);
        UPDATES(w, wanted);
        wire_cut(w);
    }
}

static void a_session_that_ends_takes_its_subscriptions_along(void **state)
{
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe_all("db://shop/note");
    write_note("a");
    rig_settle(&rig);
    char first[128];
    strcpy(first, rig.bench.session);
    write_note("a"); /* on its way while the session ends */
    at(1);
    rig.bench.verb = CALL_DELETE;
    ask(&rig.bench, 204, "", "");
    rig.bench.verb = CALL_POST;
    bench_connect(&rig.bench, "2025-06-18");
    write_note("a");
    rig_settle(&rig);
    rig_tick(&rig, 1100);
    assert_true(w->ended);
    assert_int_equal(rig.cores[0]->follows->n_interests, 0);
    assert_int_equal(rig.cores[0]->follows->n_bytes, 0);
    assert_int_equal(rig.cores[0]->follows->watched.n, 0);
    assert_int_equal(bus_flags(&rig.buses[0], 0) & BUS_FOLLOWS, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(RS_10_who_subscribed_is_told_until_he_unsubscribes),
        T(RS_10_a_change_in_the_turn_of_the_answer_is_told),
        T(RS_11_nobody_else_is_told),
        T(RS_10_as_many_as_subscribed_are_told),
        T(RS_11_a_table_is_told_of_its_rows_and_a_row_of_itself),
        T(REF_23_reserved_characters_in_ids),
        T(changes_of_one_turn_are_merged_in_the_order_of_the_last),
        T(REF_28_every_frame_has_an_id_with_its_position),
        T(mode_all_tells_each_change_with_its_sequence),
        T(REF_06_each_sequence_once_though_connections_change),
        T(a_full_connection_gets_all_later_and_in_order),
        T(a_full_connection_merges),
        T(RS_10_nothing_is_told_after_unsubscribe_though_frames_wait),
        T(RS_12_what_changed_meanwhile_is_told_once),
        T(RS_12_what_no_connection_took_is_told_again),
        T(REF_27_a_resume_elsewhere_gets_what_it_missed_and_ids_rise),
        T(REF_33_a_subscription_needs_no_stream),
        T(REF_08_after_a_killed_worker_nothing_is_missed),
        T(RS_12_the_next_newest_is_told_when_the_newest_ends),
        T(RS_12_the_next_newest_is_told_when_the_newest_was_killed),
        T(what_waits_for_a_reader_that_is_behind_is_told_later),
        T(REF_04_unsubscribe_while_a_stream_begins),
        T(C_063_two_hundred_times_on_changing_workers),
        T(a_session_that_ends_takes_its_subscriptions_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
