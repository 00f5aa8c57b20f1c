/* tests/unit/core_stream_rig.h - two workers' cores on one store, in one process, on one loop, with
 * connections that are looked into: what was sent, how much room there is, how it ended.
 */
#ifndef TENON_TESTS_UNIT_CORE_STREAM_RIG_H
#define TENON_TESTS_UNIT_CORE_STREAM_RIG_H

#include "ask.h"

#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/stream_parts.h"
#include "net/bus.h"

#include <limits.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WORKERS   2
#define TAKEN_MAX 4096

struct rig;

/* A connection of a client. */
struct wire {
    struct sink sink; /* first */
    struct wire *next;
    struct rig *rig;
    unsigned n; /* events that came */
    char *text[TAKEN_MAX];
    char id[TAKEN_MAX][EVENT_ID_BYTES];
    unsigned room; /* events until it says that it is full */
    bool ended;    /* in good order */
    bool cut;      /* by the client */
    bool is_slow;  /* has not taken what was sent */
};

struct rig {
    struct bench bench; /* first; its core is that of worker 0 */
    struct bus buses[WORKERS];
    struct bus_slot slots[WORKERS];
    int wakes[WORKERS];
    struct core *cores[WORKERS];
    struct wire *wires;
    struct wire *last; /* opened */
    unsigned n_finished;
    int status; /* of the last call without a stream */
};

static inline bool wire_send(struct sink *sink, struct str id, struct str message)
{
    struct wire *w = (struct wire *)sink;
    assert_true(w->n < TAKEN_MAX && !w->ended && !w->cut);
    w->text[w->n] = strndup(message.p, message.n);
    snprintf(w->id[w->n], EVENT_ID_BYTES, STR_FMT, STR_ARG(id));
    w->n++;
    return w->room > 0 && --w->room > 0;
}

static inline void wire_end(struct sink *sink)
{
    struct wire *w = (struct wire *)sink;
    assert_true(!w->ended && !w->cut);
    w->ended = true;
}

static inline bool wire_is_taken(struct sink *sink)
{
    return !((struct wire *)sink)->is_slow;
}

static const struct sink_ops wire_ops = {wire_send, wire_end, wire_is_taken};

static inline struct sink *rig_open_sink(struct call *call)
{
    struct rig *rig = call->transport;
    struct wire *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->sink.ops = &wire_ops;
    w->rig = rig;
    w->room = UINT_MAX;
    w->next = rig->wires;
    rig->wires = rig->last = w;
    return &w->sink;
}

/* The client goes away. */
static inline void wire_cut(struct wire *w)
{
    if (w->ended || w->cut)
        return;
    w->cut = true;
    w->sink.lost(&w->sink);
}

static inline void wire_make_room(struct wire *w, unsigned room)
{
    w->room = room;
    w->sink.ready(&w->sink);
}

static inline void rig_finish(struct call *call)
{
    struct rig *rig = call->transport;
    rig->n_finished++;
    rig->status = call->out.http_status;
    call_free(call);
}

static inline void rig_start(struct rig *rig, unsigned i)
{
    struct core_config config = rig->bench.config;
    assert_int_equal(bus_join(&rig->buses[i], rig->slots, rig->wakes, WORKERS, i), 0);
    config.bus = &rig->buses[i];
    assert_int_equal(core_new(&config, rig->bench.store, &rig->bench.loop, &rig->cores[i]), 0);
}

/* Until nothing moves. */
static inline void rig_settle(struct rig *rig)
{
    struct store_write nothing = {.space = STORE_SYS};
    bool moved = true;
    while (moved) {
        moved = false;
        store_apply(rig->bench.store, &nothing); /* what was submitted is committed */
        while (loop_turn(&rig->bench.loop, 0))
            moved = true;
        for (unsigned i = 0; i < WORKERS; i++)
            if (rig->cores[i] && rig->slots[i].woken) {
                bus_look(&rig->buses[i]);
                moved = true;
            }
    }
}

static inline void rig_tick(struct rig *rig, int64_t ms)
{
    clock_advance_ms(ms);
    for (unsigned i = 0; i < WORKERS; i++)
        if (rig->cores[i])
            core_tick(rig->cores[i]);
    rig_settle(rig);
}

/* Its connections are torn, what it had not committed is gone, and nothing more comes from it. */
static inline void rig_kill(struct rig *rig, unsigned i)
{
    for (struct wire *w = rig->wires; w; w = w->next)
        if (!w->ended && !w->cut && ((struct reader *)w->sink.ctx)->streams->core == rig->cores[i])
            w->ended = w->cut = true;
    rig->cores[i]->streams->is_stopping = true;
    for (struct reader *r = rig->cores[i]->streams->readers; r; r = r->next)
        r->sink = NULL;
    struct frames *waiting = &rig->cores[i]->streams->waiting;
    for (struct frame *f = waiting->first, *next; f; f = next) {
        next = f->next;
        f->stream->n_pending--;
        free(f);
    }
    *waiting = (struct frames){.last = &waiting->first};
    struct store_write nothing = {.space = STORE_SYS};
    store_apply(rig->bench.store, &nothing);
    while (loop_turn(&rig->bench.loop, 0))
        ;
    core_free(rig->cores[i]);
    rig->cores[i] = NULL;
    bus_end(rig->slots, rig->wakes, WORKERS, i);
}

static inline void rig_open(struct rig *rig)
{
    *rig = (struct rig){.status = 0};
    static const struct str all = STR_INIT("*");
    struct core_config config = bench_config;
    config.operations_allow = (struct name_globs){&all, 1};
    bench_open(&rig->bench, &config);
    core_free(rig->bench.core);
    for (unsigned i = 0; i < WORKERS; i++)
        rig->wakes[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    for (unsigned i = 0; i < WORKERS; i++)
        rig_start(rig, i);
    rig->bench.core = rig->cores[0];
    bench_connect(&rig->bench, "2025-06-18");
}

static inline void rig_close(struct rig *rig)
{
    rig_settle(rig);
    for (unsigned i = 0; i < WORKERS; i++)
        if (rig->cores[i])
            core_stop(rig->cores[i]);
    rig_settle(rig);
    for (unsigned i = 0; i < WORKERS; i++) {
        core_free(rig->cores[i]);
        close(rig->wakes[i]);
    }
    rig->bench.core = NULL;
    bench_close(&rig->bench);
    while (rig->wires) {
        struct wire *w = rig->wires;
        rig->wires = w->next;
        for (unsigned i = 0; i < w->n; i++)
            free(w->text[i]);
        free(w);
    }
}

/* A call as it stands when its handler has it. */
static inline struct call *rig_call(struct rig *rig, unsigned worker, const char *id)
{
    struct call *call = call_new(rig->cores[worker]);
    assert_non_null(call);
    fill(&rig->bench, call, STR(""));
    call->in.accepts_sse = true;
    call->message.id = arena_str(&call->arena, str_of(id));
    call->transport = rig;
    call->finish = rig_finish;
    call->open_sink = rig_open_sink;
    assert_int_equal(session_find(rig->cores[worker], call, &call->session), 0);
    return call;
}

static inline void rig_say(struct call *call, const char *text)
{
    assert_int_equal(call_send(call, str_of(text)), 0);
}

static inline void rig_answer(struct call *call, const char *text)
{
    buf_clear(&call->out.body);
    buf_add_str(&call->out.body, str_of(text));
    call->out.http_status = 200;
    call_leave(call);
}

/* GET. The connection, or NULL: rig->status says why. */
static inline struct wire *rig_get(struct rig *rig, unsigned worker, const char *last_event)
{
    struct call *call = call_new(rig->cores[worker]);
    assert_non_null(call);
    enum call_verb verb = rig->bench.verb;
    rig->bench.verb = CALL_GET;
    fill(&rig->bench, call, STR(""));
    rig->bench.verb = verb;
    call->in.accepts_sse = true;
    if (last_event)
        call->in.last_event = arena_str(&call->arena, str_of(last_event));
    call->transport = rig;
    call->finish = rig_finish;
    call->open_sink = rig_open_sink;
    rig->last = NULL;
    core_handle(rig->cores[worker], call);
    return rig->last;
}

/* A GET that is refused, perhaps after a while. */
static inline void rig_get_refused(struct rig *rig, unsigned worker, const char *last_event,
                                   int status)
{
    unsigned before = rig->n_finished;
    assert_null(rig_get(rig, worker, last_event));
    for (unsigned i = 0; i < 10 && rig->n_finished == before; i++)
        rig_tick(rig, STREAM_LOOK_MS / 4);
    assert_null(rig->last);
    assert_int_equal(rig->n_finished, before + 1);
    assert_int_equal(rig->status, status);
}

/* The events are these, in this order, from the first. */
static inline void expect_events(const struct wire *w, const char *const *texts, unsigned n)
{
    for (unsigned i = 0; i < n && i < w->n; i++)
        assert_string_equal(w->text[i], texts[i]);
    assert_int_equal(w->n, n);
}

#define EXPECT(wire, ...)                                            \
    do {                                                             \
        const char *const texts_[] = {__VA_ARGS__};                  \
        expect_events(wire, texts_, sizeof texts_ / sizeof *texts_); \
    } while (0)

#endif
