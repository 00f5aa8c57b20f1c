/* tests/unit/test_stream_notify.c - notifications of subscriptions on streams: out after their
 * commit only, with positions in their ids, from which streams go on; and when who follows the
 * change log for a session begins and ends to.
 */
#include "fake_follow.h"

static struct rig rig;
static int fail_with; /* the next commit with a position; 0: nothing */

void __real_store_submit(struct store *store, struct store_write *write);
void __wrap_store_submit(struct store *store, struct store_write *write);
static struct store_write *failing;
static int failing_err;
static struct loop_post failing_post;

static void fail_it(struct loop_post *post)
{
    (void)post;
    struct store_write *write = failing;
    failing = NULL;
    write->done(write, failing_err);
}

void __wrap_store_submit(struct store *store, struct store_write *write)
{
    bool has_position = false;
    for (uint32_t i = 0; i < write->n_ops; i++)
        has_position |= write->ops[i].kind == STORE_SET_FOLLOW;
    if (!fail_with || !has_position || failing) {
        __real_store_submit(store, write);
        return;
    }
    failing = write;
    failing_err = fail_with;
    fail_with = 0;
    failing_post.fn = fail_it;
    loop_post(&rig.bench.loop, &failing_post);
}

static int set_up(void **state)
{
    rig_open(&rig);
    follows_open(&rig);
    subscribe(&rig, "tenon://tables/a/b");
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fail_with = 0;
    rig_close(&rig);
    assert_int_equal(n_begun, n_ended);
    for (unsigned i = 0; i < FOLLOWERS; i++)
        assert_null(followers[i].reader);
    return 0;
}

static void push(unsigned worker, const char *text)
{
    push_send(rig.cores[worker], str_of(rig.bench.session), str_of(text), 0);
}

static struct wire *listen_on(unsigned worker, const char *last_event)
{
    struct wire *w = rig_get(&rig, worker, last_event);
    assert_non_null(w);
    rig_settle(&rig);
    return w;
}

static struct reader *reader_of(struct wire *w)
{
    return w->sink.ctx;
}

/* n up to `last`, as they come when they come alone. */
static void change(uint64_t n)
{
    for (; n; n--) {
        log_last++;
        follow_all();
        rig_settle(&rig);
    }
}

static uint64_t seq_of(const char *id)
{
    struct event_id read;
    assert_int_equal(event_id_read(str_of(id), &read), 0);
    return read.seq;
}

/* ---- Out after the commit ------------------------------------------------------------------- */

static void RS_a_notification_goes_out_after_its_commit(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    follows_by_hand = true;
    struct follower *f = follower_of(reader_of(w));
    assert_int_equal(note(f, 1, true), 0);
    assert_int_equal(w->n, 0);
    rig_settle(&rig);
    EXPECT(w, "1");
    assert_int_equal(seq_of(w->id[0]), 1);
    assert_int_equal(follow_now(&reader_of(w)->name).seq, 1);
    assert_int_equal(reader_of(w)->sent_seq, 1);
    assert_int_equal(f->n_stored, 1);
}

static void RS_those_of_a_turn_are_told_stored_once(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    follows_by_hand = true;
    struct follower *f = follower_of(reader_of(w));
    note(f, 1, true);
    push(0, "x");
    note(f, 2, true);
    note(f, 5, false);
    rig_settle(&rig);
    EXPECT(w, "1", "x", "2");
    assert_int_equal(seq_of(w->id[1]), 0);
    assert_int_equal(seq_of(w->id[2]), 2);
    assert_int_equal(follow_now(&reader_of(w)->name).seq, 5);
    assert_int_equal(reader_of(w)->sent_seq, 5);
    assert_int_equal(f->n_stored, 1);
}

static void RS_only_a_position(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    follows_by_hand = true;
    struct follower *f = follower_of(reader_of(w));
    note(f, 9, false);
    rig_settle(&rig);
    assert_int_equal(w->n, 0);
    assert_int_equal(follow_now(&reader_of(w)->name).seq, 9);
    assert_int_equal(reader_of(w)->sent_seq, 9);
    push(0, "x"); /* numbers and all go on as before */
    rig_settle(&rig);
    EXPECT(w, "x");
}

static void RS_a_newer_generation_drops_what_waits(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    follows_by_hand = true;
    struct follower *f = follower_of(reader_of(w));
    note(f, 1, true);
    rig_settle(&rig);
    subscribe(&rig, "tenon://tables/a/c");
    note(f, 2, true);
    push(0, "x");
    note(f, 3, true);
    rig_settle(&rig);
    EXPECT(w, "1", "x");
    assert_int_equal(f->n_stored, 2);
    assert_int_equal(f->last_err, ERR_CONFLICT);
    assert_int_equal(follow_now(&reader_of(w)->name).seq, 1);
    note(f, 2, true);
    push(0, "y");
    rig_settle(&rig);
    EXPECT(w, "1", "x", "2", "y");
    assert_int_equal(f->n_stored, 3);
}

static void RS_what_waits_behind_a_refused_one_is_dropped_with_it(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    follows_by_hand = true;
    struct follower *f = follower_of(reader_of(w));
    subscribe(&rig, "tenon://tables/a/c");
    note(f, 1, true);
    streams_flush(rig.cores[0]->streams); /* that one alone */
    note(f, 2, true);
    rig_settle(&rig);
    assert_int_equal(f->n_stored, 1);
    assert_int_equal(f->last_err, ERR_CONFLICT);
    assert_int_equal(w->n, 0);
}

/* The letter to the old one has not come yet. */
static void RS_a_claim_of_another_worker_ends_following(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    change(1);
    struct follower *f = follower_of(reader_of(w));
    struct wire *newer = rig_get(&rig, 1, NULL);
    struct store_write nothing = {.space = STORE_SYS};
    store_apply(rig.bench.store, &nothing);
    log_last++;
    follow_on(f);
    rig_settle(&rig);
    assert_null(f->reader);
    assert_int_equal(n_conflicts, 0);
    EXPECT(w, "1");
    EXPECT(newer, "1", "2"); /* nobody noted that it was taken by the other */
    assert_int_equal(n_begun, 2);
    assert_int_equal(n_ended, 1);
}

static void RS_a_busy_store_is_tried_again(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    struct follower *f = follower_of(reader_of(w));
    fail_with = ERR_BUSY;
    change(1);
    assert_int_equal(w->n, 0);
    assert_int_equal(f->n_stored, 0);
    rig_tick(&rig, 1000);
    EXPECT(w, "1");
    assert_int_equal(f->n_stored, 1);
}

static void RS_a_store_in_trouble_drops_all_behind(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    follows_by_hand = true;
    struct follower *f = follower_of(reader_of(w));
    fail_with = ERR_IO;
    note(f, 1, true);
    streams_flush(rig.cores[0]->streams); /* that one alone */
    note(f, 2, true);
    rig_settle(&rig);
    assert_int_equal(f->last_err, ERR_IO);
    assert_int_equal(f->n_stored, 1);
    assert_int_equal(follow_now(&reader_of(w)->name).seq, 0);
    note(f, 1, true);
    note(f, 2, true);
    rig_settle(&rig);
    EXPECT(w, "1", "2");
}

static void RS_a_stream_that_ended_takes_none(void **state)
{
    (void)state;
    struct call *call = rig_call(&rig, 0, "7");
    rig_say(call, "{}");
    const struct store_follow to = {.seq = 1};
    struct stream *s = reader_of(rig.last)->stream;
    assert_int_equal(stream_notify(s, STR("1"), &to), ERR_ABSENT); /* it takes no pushes */
    rig_answer(call, "{}");
}

/* ---- Room ----------------------------------------------------------------------------------- */

static void RS_it_goes_on_when_there_is_room_again(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    struct follower *f = follower_of(reader_of(w));
    w->room = 2;
    change(5);
    EXPECT(w, "1", "2");
    assert_int_equal(f->n_ready, 0);
    wire_make_room(w, 1);
    rig_settle(&rig);
    EXPECT(w, "1", "2", "3");
    assert_int_equal(f->n_ready, 1);
    wire_make_room(w, 100);
    rig_settle(&rig);
    EXPECT(w, "1", "2", "3", "4", "5");
}

/* ---- Going on ------------------------------------------------------------------------------- */

static void go_on(unsigned worker)
{
    struct wire *w = listen_on(0, NULL);
    assert_int_equal(last_begun.began_at, 0);
    change(3);
    push(0, "x");
    rig_settle(&rig);
    EXPECT(w, "1", "2", "3", "x");
    wire_cut(w);
    change(2); /* while nobody listens */
    struct wire *again = listen_on(worker, w->id[0]);
    assert_int_equal(last_begun.began_at, 3);
    EXPECT(again, "2", "3", "x", "4", "5");
    assert_string_equal(again->id[0], w->id[1]);
    assert_int_equal(seq_of(again->id[4]), 5);
}

static void X_03_a_stream_goes_on_where_its_last_frame_stands(void **state)
{
    (void)state;
    go_on(0);
}

static void X_03_a_stream_goes_on_elsewhere_too(void **state)
{
    (void)state;
    go_on(1);
}

/* What the old reader of this worker had appended is made anew, unless it was stored. */
static void X_06_taken_over_with_notifications_under_way(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    change(2);
    log_last += 4;
    follow_all(); /* three of them wait */
    struct wire *again = rig_get(&rig, 0, w->id[1]);
    rig_settle(&rig);
    assert_true(w->ended);
    EXPECT(again, "3", "4", "5", "6");
    for (unsigned i = 0; i < again->n; i++)
        assert_int_equal(seq_of(again->id[i]), 3 + i);
}

static void X_06_taken_over_elsewhere_with_notifications_under_way(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    change(2);
    struct wire *again = rig_get(&rig, 1, w->id[1]);
    log_last += 4;
    follow_all();
    rig_settle(&rig);
    assert_true(w->ended);
    EXPECT(again, "3", "4", "5", "6");
}

static void X_07_forgotten_notifications_are_made_anew(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    change(2);
    for (unsigned i = 0; i < STREAM_FRAMES - 3; i++)
        push(0, "x");
    change(3);
    push(0, "y");
    rig_settle(&rig);
    wire_cut(w);
    char no_seq[EVENT_ID_BYTES];
    snprintf(no_seq, sizeof no_seq, "%.18s", w->id[0]); /* 16 digits, a dot, "1" */
    rig_get_refused(&rig, 1, no_seq, 400);
    struct wire *again = listen_on(1, w->id[0]);
    assert_int_equal(last_begun.began_at, 1);
    unsigned n_x = 0;
    for (unsigned i = 0; i < again->n; i++)
        n_x += !strcmp(again->text[i], "x");
    assert_int_equal(n_x, STREAM_FRAMES - 4); /* one of them is forgotten, too */
    assert_int_equal(again->n, n_x + 5);
    static const char *const rest[] = {"y", "2", "3", "4", "5"};
    for (unsigned i = 0; i < 5; i++)
        assert_string_equal(again->text[n_x + i], rest[i]);
}

static void X_07_a_number_beyond_the_stream_is_refused(void **state)
{
    (void)state;
    struct wire *w = listen_on(0, NULL);
    change(1);
    char id[EVENT_ID_BYTES];
    snprintf(id, sizeof id, "%.16s.99999.1", w->id[0]);
    rig_get_refused(&rig, 1, id, 400);
}

/* ---- Ids ------------------------------------------------------------------------------------ */

static void X_01_ids_are_read_as_they_are_written(void **state)
{
    (void)state;
    static const struct event_id ids[] = {
        {1, 1, 0},
        {UINT64_MAX, 12, 7},
        {0x0123456789abcdef, UINT64_MAX, UINT64_MAX},
    };
    char text[EVENT_ID_BYTES];
    for (unsigned i = 0; i < 3; i++) {
        struct event_id got;
        assert_int_equal(event_id_read(event_id_write(&ids[i], text), &got), 0);
        assert_memory_equal(&got, &ids[i], sizeof got);
    }
    assert_string_equal(text, "0123456789abcdef.18446744073709551615.18446744073709551615");
}

static void X_07_what_is_no_id(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        ".",
        "..",
        "0123456789abcdef",
        "0123456789abcdef.",
        "0123456789abcdef.0",
        "0123456789abcdef.01",
        "0123456789abcdef.1.",
        "0123456789abcdef.1.0",
        "0123456789abcdef.1.07",
        "0123456789abcdef.1.-1",
        "0123456789abcdef.1.7.",
        "0123456789abcdef.1.7.7",
        "0123456789abcdef.1.18446744073709551616",
        "0123456789abcdef..7",
        "0123456789ABCDEF.1.7",
        "0123456789abcde.1.7",
        " 0123456789abcdef.1.7",
        "0123456789abcdef.1.7 ",
    };
    struct event_id id;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(event_id_read(str_of(texts[i]), &id), ERR_EVENT_ID);
}

/* ---- Anything ------------------------------------------------------------------------------- */

#define SEEDS 40
#define STEPS 300

static uint64_t random_state;

static unsigned roll(unsigned below)
{
    random_state ^= random_state << 13, random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % below;
}

/* A client that has one stream, as it sees it. */
static struct {
    struct wire *wire;
    unsigned from;
    char last[EVENT_ID_BYTES];
    uint64_t seen;
    bool may_repeat; /* it has come without an id */
} client;

static void look(void)
{
    struct wire *w = client.wire;
    for (; w && client.from < w->n; client.from++) {
        strcpy(client.last, w->id[client.from]);
        uint64_t n = strtoull(w->text[client.from], NULL, 10);
        if (!n)
            continue;
        uint64_t next = client.seen + 1 + ((client.seen + 1) % 7 == 0);
        if (client.may_repeat && n <= client.seen)
            continue;
        assert_int_equal(n, next);
        assert_true(seq_of(client.last) == n);
        client.seen = n;
        client.may_repeat = false;
    }
}

static void come(bool cuts)
{
    look();
    if (client.wire && cuts)
        wire_cut(client.wire);
    unsigned worker = roll(WORKERS);
    struct wire *w = rig_get(&rig, worker, client.last[0] ? client.last : NULL);
    if (!w) { /* it named no position, and what was behind is forgotten */
        assert_int_equal(seq_of(client.last), 0);
        w = rig_get(&rig, worker, NULL);
        client.may_repeat = true;
    }
    if (!w)
        return; /* too many at once */
    if (client.wire)
        wire_cut(client.wire);
    client.may_repeat |= !client.last[0];
    client.wire = w;
    client.from = 0;
    if (roll(3) == 0)
        w->room = 1 + roll(4);
}

static void step(void)
{
    char uri[64];
    switch (roll(10)) {
    case 0:
        come(true);
        break;
    case 1:
        come(false);
        break;
    case 2:
        if (client.wire && !client.wire->ended)
            wire_make_room(client.wire, 1 + roll(6));
        break;
    case 3:
        for (unsigned i = roll(8) ? 1 : 10; i; i--)
            push(roll(WORKERS), "x");
        break;
    case 4:
        snprintf(uri, sizeof uri, "tenon://tables/a/t%u", roll(1000));
        subscribe(&rig, uri);
        break;
    case 5:
        rig_tick(&rig, 1 + roll(600));
        break;
    case 6:
        if (roll(20) == 0)
            fail_with = roll(2) ? ERR_BUSY : ERR_IO;
        break;
    default:
        log_last += 1 + roll(3);
        follow_all();
    }
    if (roll(2))
        rig_settle(&rig);
    look();
}

static void run(unsigned seed)
{
    random_state = UINT64_C(0x9E3779B97F4A7C15) * (seed + 1);
    memset(&client, 0, sizeof client);
    set_up(&(void *){NULL});
    for (unsigned i = 0; i < WORKERS; i++)
        rig.cores[i]->config.stream_frames = 8;
    for (unsigned i = 0; i < STEPS; i++)
        step();
    fail_with = 0;
    rig_settle(&rig);
    for (unsigned i = 0; i < 20; i++) {
        if (!client.wire || client.wire->ended || client.wire->cut)
            come(false);
        else
            wire_make_room(client.wire, 1000);
        follow_all();
        rig_tick(&rig, 500);
    }
    look();
    uint64_t last = log_last % 7 == 0 ? log_last - 1 : log_last;
    if (client.seen != last)
        fail_msg("seed %u: %llu of %llu", seed, (unsigned long long)client.seen,
                 (unsigned long long)last);
    tear_down(NULL);
}

static void X_03_X_06_each_notification_once_whatever_a_client_does(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++)
        run(seed);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(RS_a_notification_goes_out_after_its_commit),
        TEST(RS_those_of_a_turn_are_told_stored_once),
        TEST(RS_only_a_position),
        TEST(RS_a_newer_generation_drops_what_waits),
        TEST(RS_what_waits_behind_a_refused_one_is_dropped_with_it),
        TEST(RS_a_claim_of_another_worker_ends_following),
        TEST(RS_a_busy_store_is_tried_again),
        TEST(RS_a_store_in_trouble_drops_all_behind),
        TEST(RS_a_stream_that_ended_takes_none),
        TEST(RS_it_goes_on_when_there_is_room_again),
        TEST(X_03_a_stream_goes_on_where_its_last_frame_stands),
        TEST(X_03_a_stream_goes_on_elsewhere_too),
        TEST(X_06_taken_over_with_notifications_under_way),
        TEST(X_06_taken_over_elsewhere_with_notifications_under_way),
        TEST(X_07_forgotten_notifications_are_made_anew),
        TEST(X_07_a_number_beyond_the_stream_is_refused),
        cmocka_unit_test(X_01_ids_are_read_as_they_are_written),
        cmocka_unit_test(X_07_what_is_no_id),
        cmocka_unit_test(X_03_X_06_each_notification_once_whatever_a_client_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
