/* tests/unit/pending_rig.h - a session whose client is asked, without streams: what would go out on
 * one is noted, other workers are made up. Link with RIG_WRAPS of the Makefile.
 */
#ifndef TENON_TESTS_UNIT_PENDING_RIG_H
#define TENON_TESTS_UNIT_PENDING_RIG_H

#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/pending.h"
#include "tests/unit/ask.h"
#include "wire/json_write.h"

#define ELICIT                                                                        \
    "{\"message\":\"Name?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":" \
    "{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}"
#define SAMPLE_ASKED                                                                       \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"hi\"}}]," \
    "\"maxTokens\":10}"
#define ACCEPT   "\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}"
#define NO_ROOTS "\"result\":{\"roots\":[]}"

#define N(a) (sizeof(a) / sizeof *(a))

/* ---- What goes out -------------------------------------------------------------------------- */

struct note {
    struct call *call; /* NULL: pushed */
    char session[128];
    int64_t wait_ms;
    char text[8192];
};
#define NOTES_MAX 256
static struct note notes[NOTES_MAX]; /* the last one is notes[n_notes - 1] */
static unsigned n_notes;
static int send_err;

int __wrap_call_send(struct call *call, struct str message);
void __wrap_push_send(struct core *core, struct str session, struct str message, int64_t wait_ms);

static inline void note_down(struct call *call, struct str session, struct str text,
                             int64_t wait_ms)
{
    assert_true(n_notes < NOTES_MAX && text.n < sizeof notes->text && session.n < 128);
    struct note *note = &notes[n_notes++];
    *note = (struct note){.call = call, .wait_ms = wait_ms};
    memcpy(note->session, session.p, session.n);
    memcpy(note->text, text.p, text.n);
}

int __wrap_call_send(struct call *call, struct str message)
{
    if (send_err == 0)
        note_down(call, STR(""), message, 0);
    return send_err;
}

void __wrap_push_send(struct core *core, struct str session, struct str message, int64_t wait_ms)
{
    (void)core;
    note_down(NULL, session, message, wait_ms);
}

/* ---- Another worker ------------------------------------------------------------------------- */

#define OTHER_EPOCH UINT64_C(0xabcdef0123456789)
static bool other_lives;
static char letter[16384];
static unsigned n_letters;
static int letter_err;

bool __wrap_bus_is_alive(const struct bus *bus, struct worker_id worker);
void __wrap_mail_send(struct core *core, struct worker_id to, enum mail_kind kind, struct str body,
                      mail_then_fn then, void *ctx);

bool __wrap_bus_is_alive(const struct bus *bus, struct worker_id worker)
{
    struct worker_id self = bus_self(bus);
    return (worker.slot == self.slot && worker.epoch == self.epoch) ||
           (other_lives && worker.slot == 3 && worker.epoch == OTHER_EPOCH);
}

void __wrap_mail_send(struct core *core, struct worker_id to, enum mail_kind kind, struct str body,
                      mail_then_fn then, void *ctx)
{
    (void)core;
    assert_int_equal(to.slot, 3);
    assert_true(to.epoch == OTHER_EPOCH);
    assert_int_equal(kind, MAIL_ANSWER);
    snprintf(letter, sizeof letter, "{" STR_FMT "}", STR_ARG(body));
    n_letters++;
    then(ctx, letter_err);
}

/* ---- A session and a call of it ------------------------------------------------------------- */

static inline void connect_with(struct bench *b, const char *version, const char *capabilities)
{
    char body[2048];
    b->session[0] = b->version[0] = '\0';
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"c\","
             "\"version\":\"1\"}}}",
             version, capabilities);
    ask(b, 200, body, "{\"id\":0,\"result\":{\"protocolVersion\":\"*\"}}");
    strcpy(b->session, b->new_session);
    if (!b->stdio)
        strcpy(b->version, version);
}

#define ALL_CAPABILITIES "{\"sampling\":{},\"elicitation\":{},\"roots\":{\"listChanged\":true}}"

static inline void connect_operating(struct bench *b, const char *version, const char *capabilities)
{
    connect_with(b, version, capabilities);
    ask(b, 202, INITIALIZED, "");
}

/* A call that a handler has and that is not answered. */
static inline struct call *open_call(struct bench *b)
{
    struct call *call = call_new(b->core);
    assert_non_null(call);
    call->in.profile = b->profile;
    call->in.stdio = b->stdio;
    call->in.session_id = header(call, b->session);
    assert_int_equal(session_find(b->core, call, &call->session), 0);
    return call;
}

struct outcome {
    unsigned n;
    int err, code;
    char result[4096], message[512];
    void (*then)(void); /* what the handler does on being told */
};

static inline void copy_text(char *to, size_t size, struct str from)
{
    snprintf(to, size, STR_FMT, STR_ARG(from));
}

static inline void told(void *ctx, const struct pending_answer *answer)
{
    struct outcome *o = ctx;
    o->n++;
    o->err = answer->err;
    o->code = answer->code;
    copy_text(o->result, sizeof o->result, answer->result);
    copy_text(o->message, sizeof o->message, answer->message);
    if (o->then)
        o->then();
}

static struct outcome outcome;

static inline struct pending_ask question(enum mcp_method method, const char *params)
{
    return (struct pending_ask){
        .method = method, .params = str_of(params), .done = told, .ctx = &outcome};
}

static inline int ask_client(struct call *call, enum mcp_method method, const char *params)
{
    struct pending_ask asked = question(method, params);
    return pending_ask_call(call, &asked);
}

/* The raw id of the request that went out as the n-th message. */
static inline const char *asked_id(unsigned n)
{
    static char id[128];
    struct arena a;
    arena_init(&a, 0);
    const struct tape_node *node = tape_get(open_json(&a, str_of(notes[n].text)), STR("id"));
    assert_non_null(node);
    snprintf(id, sizeof id, "\"" STR_FMT "\"", STR_ARG(tape_str(node)));
    arena_done(&a);
    return id;
}

static inline void answer_with(struct bench *b, const char *id, const char *member)
{
    char body[8192];
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, member);
    ask(b, 202, body, "");
}

static inline void expect_note(unsigned n, const char *pattern)
{
    struct arena a;
    assert_true(n < n_notes);
    arena_init(&a, 0);
    if (!fits(open_json(&a, str_of(pattern)), open_json(&a, str_of(notes[n].text))))
        fail_msg("went out: %s\n  wanted %s", notes[n].text, pattern);
    arena_done(&a);
}

static inline int open_rig(void **state)
{
    n_notes = n_letters = 0;
    send_err = letter_err = 0;
    other_lives = false;
    outcome = (struct outcome){0};
    open_bench(state);
    connect_operating(*state, "2025-06-18", ALL_CAPABILITIES);
    return 0;
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, open_rig, close_bench)

#endif
