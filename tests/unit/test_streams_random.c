/* tests/unit/test_streams_random.c - two workers, one store, and clients that do what they like:
 * cut, resume anywhere, take over what is open, read slowly; while calls speak and messages are
 * pushed. In the end each client has each message of each call once, in order, and each push once.
 *
 * What a client has: the events of its connections one after the other, each up to the moment in
 * which it left it. A failure names the seed.
 */
#include "core_stream_rig.h"

#define CALLS    4
#define LISTENS  2
#define SAID_MAX 90 /* fewer than are kept of a stream: nothing is forgotten here */
#define STEPS    400
#define SEEDS    60

static uint64_t random_state;

static unsigned roll(unsigned below)
{
    random_state ^= random_state << 13, random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % below;
}

/* One stream as its client sees it. */
struct client {
    struct call *call; /* of a POST that runs */
    unsigned number;   /* of the call */
    unsigned said;     /* by it */
    struct wire *wire; /* that it reads; NULL: it is away */
    unsigned from;     /* events of it that are in `have` */
    char last[EVENT_ID_BYTES];
    bool answered;
    unsigned n_have;
    char *have[SAID_MAX + 2];
};

static struct rig rig;
static struct client calls[CALLS], listens[LISTENS];
static unsigned n_calls, n_pushes;
static unsigned char pushed[STEPS];

/* Takes what has come. */
static void look(struct client *c)
{
    struct wire *w = c->wire;
    for (; w && c->from < w->n; c->from++) {
        strcpy(c->last, w->id[c->from]);
        if (c < listens || c >= listens + LISTENS) {
            assert_true(c->n_have < SAID_MAX + 2);
            c->have[c->n_have++] = w->text[c->from];
        } else {
            pushed[atoi(w->text[c->from])]++;
        }
    }
}

static void leave(struct client *c)
{
    look(c);
    if (c->wire)
        wire_cut(c->wire);
    c->wire = NULL;
}

/* Cuts it before, or leaves the old one open for the server to end. */
static void come_back(struct client *c, bool cuts)
{
    look(c);
    if (!c->last[0])
        return; /* it has no id to come back with */
    if (cuts)
        leave(c);
    struct wire *w = rig_get(&rig, roll(WORKERS), c->last);
    for (unsigned i = 0; i < 10 && !w; i++, w = rig.last) /* that was too early */
        rig_tick(&rig, STREAM_LOOK_MS / 4);
    if (!w)
        fail_msg("a stream cannot go on: %d", rig.status);
    c->wire = w;
    c->from = 0;
    if (roll(3) == 0)
        w->room = 1 + roll(4);
}

static void begin_call(struct client *c)
{
    char id[16];
    *c = (struct client){.number = ++n_calls};
    snprintf(id, sizeof id, "%u", c->number);
    c->call = rig_call(&rig, roll(WORKERS), id);
}

static void say(struct client *c)
{
    char text[32];
    if (c->said >= SAID_MAX)
        return;
    snprintf(text, sizeof text, "{\"%u\":%u}", c->number, c->said++);
    bool first = !c->call->stream;
    rig_say(c->call, text);
    if (first)
        c->wire = rig.last;
}

static void check_call(struct client *c)
{
    char text[32];
    assert_int_equal(c->n_have, c->said + 1);
    for (unsigned i = 0; i < c->said; i++) {
        snprintf(text, sizeof text, "{\"%u\":%u}", c->number, i);
        assert_string_equal(c->have[i], text);
    }
    assert_string_equal(c->have[c->said], "{\"result\":1}");
}

/* Until it has all, with as many connections as that takes. */
static void finish_call(struct client *c)
{
    if (!c->call && !c->said)
        return;
    if (c->call && !c->said)
        say(c);
    if (c->call)
        rig_answer(c->call, "{\"result\":1}");
    c->call = NULL;
    for (unsigned i = 0; i < 500; i++) {
        rig_settle(&rig);
        look(c);
        if (c->wire && c->wire->ended)
            break;
        if (!c->wire)
            come_back(c, true);
        else if (c->wire->room == 0)
            wire_make_room(c->wire, 1 + roll(20));
        else
            rig_tick(&rig, 100);
    }
    assert_true(c->wire && c->wire->ended);
    check_call(c);
    *c = (struct client){.number = 0};
}

static void turn(void)
{
    unsigned worker = roll(WORKERS);
    if (roll(2) == 0)
        loop_turn(&rig.bench.loop, 0);
    else if (rig.slots[worker].woken)
        bus_look(&rig.buses[worker]);
}

static void push_one(void)
{
    char text[16];
    snprintf(text, sizeof text, "%u", n_pushes++);
    push_send(rig.cores[roll(WORKERS)], str_of(rig.bench.session), str_of(text), 1000000);
}

static void step_call(struct client *c)
{
    unsigned what = roll(20);
    if (!c->call && !c->said)
        begin_call(c);
    else if (what < 10 && c->call)
        say(c);
    else if (what == 10)
        leave(c);
    else if (what < 14)
        come_back(c, roll(2));
    else if (what < 16 && c->wire && !c->wire->ended && c->wire->room == 0)
        wire_make_room(c->wire, 1 + roll(5));
    else if (what == 16)
        finish_call(c);
}

/* One that got nothing has nothing to come back with, so it stays. */
static void step_listen(struct client *c)
{
    unsigned what = roll(10);
    look(c);
    if (!c->wire && !c->last[0]) {
        c->wire = rig_get(&rig, roll(WORKERS), NULL);
        assert_non_null(c->wire);
        c->from = 0;
    } else if (what == 0 && c->last[0]) {
        leave(c);
    } else if (what < 3) {
        come_back(c, roll(2));
    } else if (what < 6 && c->wire && !c->wire->ended && c->wire->room == 0) {
        wire_make_room(c->wire, 1 + roll(5));
    }
}

static void finish_listens(void)
{
    for (unsigned i = 0; i < 50; i++) {
        for (struct client *c = listens; c < listens + LISTENS; c++) {
            look(c);
            if (!c->wire || c->wire->ended)
                come_back(c, true);
            if (c->wire && !c->wire->ended && c->wire->room < 1000)
                wire_make_room(c->wire, UINT_MAX);
        }
        rig_tick(&rig, 300);
    }
    for (struct client *c = listens; c < listens + LISTENS; c++)
        look(c);
    for (unsigned i = 0; i < n_pushes; i++)
        if (pushed[i] != 1)
            fail_msg("push %u of %u came %u times", i, n_pushes, pushed[i]);
}

static void run(uint64_t seed)
{
    random_state = seed;
    rig_open(&rig);
    n_pushes = 0;
    memset(pushed, 0, sizeof pushed);
    memset(calls, 0, sizeof calls);
    memset(listens, 0, sizeof listens);
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned what = roll(10);
        if (what < 5)
            step_call(&calls[roll(CALLS)]);
        else if (what == 5)
            step_listen(&listens[roll(LISTENS)]);
        else if (what == 6 && n_pushes < SAID_MAX)
            push_one();
        else if (what == 7 && roll(4) == 0)
            rig_tick(&rig, roll(1200));
        else
            turn();
    }
    for (unsigned i = 0; i < CALLS; i++)
        finish_call(&calls[i]);
    finish_listens();
    rig_close(&rig);
}

static void X_03_X_06_T_26_each_message_once_whatever_clients_do(void **state)
{
    (void)state;
    const char *only = getenv("TENON_TEST_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1, n = only ? 1 : SEEDS;
    for (uint64_t seed = first; seed < first + n; seed++) {
        print_message("# seed %llu\n", (unsigned long long)seed);
        run(seed * UINT64_C(0x9e3779b97f4a7c15));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(X_03_X_06_T_26_each_message_once_whatever_clients_do)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
