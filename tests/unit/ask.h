/* tests/unit/ask.h - a core on the memory store and a loop of its own, asked in one line.
 *
 *   ask(&b, 200, "{\"jsonrpc\":...}", "{\"result\":{\"tools\":\"*\"}}");
 *
 * sends a POST with the bench's session and version headers, waits for the answer, and compares:
 * the status exactly; the body as JSON against a pattern, in which the string "*" is any value, an
 * object names only the members that matter, {"-":["x"]} inside an object forbids members, and an
 * array whose last element is "..." may go on. Pattern "" is: no body. The answer stays in
 * b.body until the next question.
 */
#ifndef TENON_TESTS_UNIT_ASK_H
#define TENON_TESTS_UNIT_ASK_H

#include "base/clock.h"
#include "base/err.h"
#include "core/core.h"
#include "core/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- A loop --------------------------------------------------------------------------------- */

struct loop {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct loop_post *posts, **last_post;
    struct loop_work *works, **last_work;
    bool busy; /* loop_offload refuses */
    unsigned n_offloaded;
};

void loop_post(struct loop *loop, struct loop_post *post)
{
    pthread_mutex_lock(&loop->lock);
    post->next = NULL;
    *loop->last_post = post;
    loop->last_post = &post->next;
    pthread_cond_signal(&loop->wake);
    pthread_mutex_unlock(&loop->lock);
}

int loop_offload(struct loop *loop, struct loop_work *work)
{
    if (loop->busy)
        return ERR_BUSY;
    loop->n_offloaded++;
    work->next = NULL;
    *loop->last_work = work;
    loop->last_work = &work->next;
    return 0;
}

struct work_run {
    struct loop *loop;
    struct loop_work *work;
    bool done; /* under the loop's lock */
};

static inline void *run_work(void *arg)
{
    struct work_run *run = arg;
    run->work->run(run->work);
    pthread_mutex_lock(&run->loop->lock);
    run->done = true;
    pthread_cond_signal(&run->loop->wake);
    pthread_mutex_unlock(&run->loop->lock);
    return NULL;
}

/* One post. False: nothing for `wait_s`. */
static inline bool loop_post_turn(struct loop *loop, int wait_s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_s;
    pthread_mutex_lock(&loop->lock);
    while (!loop->posts && wait_s > 0 &&
           pthread_cond_timedwait(&loop->wake, &loop->lock, &until) == 0)
        ;
    struct loop_post *post = loop->posts;
    if (post && !(loop->posts = post->next))
        loop->last_post = &loop->posts;
    pthread_mutex_unlock(&loop->lock);
    if (post)
        post->fn(post);
    return post != NULL;
}

static inline bool work_is_done(struct work_run *run)
{
    struct loop *loop = run->loop;
    pthread_mutex_lock(&loop->lock);
    while (!loop->posts && !run->done)
        pthread_cond_wait(&loop->wake, &loop->lock);
    bool done = run->done;
    pthread_mutex_unlock(&loop->lock);
    return done;
}

/* The first piece of work, on a thread of its own; what it posts is served meanwhile. False: there
 * is none. */
static inline bool loop_work_turn(struct loop *loop)
{
    struct loop_work *work = loop->works;
    struct work_run run = {.loop = loop, .work = work};
    pthread_t thread;
    if (!work)
        return false;
    loop->works = work->next;
    if (!loop->works)
        loop->last_work = &loop->works;
    if (pthread_create(&thread, NULL, run_work, &run) != 0)
        abort();
    while (!work_is_done(&run))
        loop_post_turn(loop, 0);
    pthread_join(thread, NULL);
    work->done(work);
    return true;
}

/* One turn of either kind. */
static inline bool loop_turn(struct loop *loop, int wait_s)
{
    return loop_work_turn(loop) || loop_post_turn(loop, wait_s);
}

/* ---- A bench -------------------------------------------------------------------------------- */

struct bench {
    struct core_config config;
    struct loop loop;
    struct store *store;
    struct core *core;
    /* what the next request carries */
    char session[128], version[64], user[64]; /* "": no such header; version "-": an empty one */
    struct access *access;                    /* who asks; NULL: `user` with `role` */
    const struct role *role;                  /* NULL: a super user's */
    bool stdio;
    enum call_profile profile;
    enum call_verb verb;
    size_t arena_limit;
    /* the last answer */
    unsigned n_answers; /* since the last question */
    int status;
    struct buf body;
    char new_session[128]; /* Mcp-Session-Id of the answer */
};

static const struct core_config bench_config = {
    .session_idle_ms = 1800000,
    .allow_client_delete = true,
    .list_page = 200,
    .tools_page = {200, 200},
    .search_page = 100,
    .search_max = 1000,
    .profile_enabled = {true, true},
};

static inline void bench_open(struct bench *b, const struct core_config *config)
{
    *b = (struct bench){.config = *config};
    pthread_mutex_init(&b->loop.lock, NULL);
    pthread_cond_init(&b->loop.wake, NULL);
    b->loop.last_post = &b->loop.posts;
    b->loop.last_work = &b->loop.works;
    assert_int_equal(store_open_memory(&b->store), 0);
    store_attach(b->store, &b->loop);
    assert_int_equal(core_new(&b->config, b->store, &b->loop, &b->core), 0);
}

static inline void bench_close(struct bench *b)
{
    while (loop_turn(&b->loop, 0))
        ;
    core_free(b->core);
    store_close(b->store);
    while (loop_turn(&b->loop, 0)) /* the store's last post frees what it needs */
        ;
    buf_done(&b->body);
    pthread_mutex_destroy(&b->loop.lock);
    pthread_cond_destroy(&b->loop.wake);
}

static inline void take_answer(struct call *call)
{
    struct bench *b = call->transport;
    b->n_answers++;
    b->status = call->out.http_status;
    buf_clear(&b->body);
    buf_add_str(&b->body, buf_str(&call->out.body));
    buf_add(&b->body, "", 1);
    b->body.n--;
    snprintf(b->new_session, sizeof b->new_session, STR_FMT, STR_ARG(call->out.session_id));
    call_free(call);
}

static inline struct str header(struct call *call, const char *text)
{
    return text[0] ? arena_str(&call->arena, str_of(text)) : STR_NONE;
}

/* Makes the n-th byte from here the last one. */
static inline void leave_bytes(struct arena *a, size_t n)
{
    size_t here = (size_t)(a->end - a->at);
    if (n < here)
        a->end = a->at + n;
    a->limit = a->used + (n < here ? 0 : n - here);
}

/* The user of the bench with its role; it stays, as streams refer to it. */
static inline struct access *access_of(const struct bench *b)
{
    static struct named {
        struct access access;
        char user[66];
    } all[64];
    const struct role *role = b->role ? b->role : role_super();
    struct named *at = all;
    while (at->user[0] && (strcmp(at->user + 1, b->user) != 0 || at->access.role != role))
        at++;
    assert_true(at < all + 64);
    if (!at->user[0]) {
        snprintf(at->user, sizeof at->user, "=%s", b->user);
        at->access = *access_super();
        at->access.user = str_of(at->user + 1);
        at->access.role = role;
    }
    return access_ref(&at->access);
}

static inline void fill(struct bench *b, struct call *call, struct str body)
{
    arena_init(&call->arena, 0);
    char *copy = arena_zalloc(&call->arena, (size_t)body.n + JSON_PADDING_BYTES);
    assert_non_null(copy);
    if (body.n)
        memcpy(copy, body.p, body.n);
    call->in = (struct call_inbound){
        .verb = b->verb,
        .profile = b->profile,
        .stdio = b->stdio,
        .accepts_json = true,
        .body = {copy, body.n},
        .session_id = header(call, b->session),
        .version = strcmp(b->version, "-") ? header(call, b->version) : STR(""),
        .access = b->access ? access_ref(b->access) : access_of(b),
    };
    if (b->arena_limit)
        leave_bytes(&call->arena, b->arena_limit);
    call->finish = take_answer;
    call->transport = b;
}

/* Does not wait for the answer, before which the call may be looked at if it comes later. */
static inline struct call *bench_begin(struct bench *b, struct str body)
{
    struct call *call = call_new(b->core);
    assert_non_null(call);
    fill(b, call, body);
    core_handle(b->core, call);
    return call;
}

static inline void bench_send(struct bench *b, struct str body)
{
    b->n_answers = 0;
    bench_begin(b, body);
    while (b->n_answers == 0)
        if (!loop_turn(&b->loop, 10))
            fail_msg("no answer to " STR_FMT, STR_ARG(body));
    assert_int_equal(b->n_answers, 1);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static const struct tape_node *open_json(struct arena *a, struct str text)
{
    const struct tape_node *tape = NULL;
    struct wire_fault fault;
    char *copy = arena_zalloc(a, (size_t)text.n + JSON_PADDING_BYTES);
    memcpy(copy, text.p, text.n);
    if (tape_open((struct str){copy, text.n}, a, &tape, &fault) < 0)
        fail_msg("not JSON: " STR_FMT, STR_ARG(text));
    return tape;
}

static inline bool is_text(const struct tape_node *node, const char *text)
{
    return node->kind == TAPE_STR && str_eq(tape_str(node), str_of(text));
}

static bool fits(const struct tape_node *pattern, const struct tape_node *value);

static inline bool fits_object(const struct tape_node *pattern, const struct tape_node *value)
{
    tape_each (pattern, key, wanted) {
        if (is_text(key, "-")) {
            const struct tape_node *name = wanted + 1;
            for (uint32_t i = 0; i < wanted->n; i++, name = tape_next(name))
                if (tape_get(value, tape_str(name)))
                    return false;
            continue;
        }
        const struct tape_node *member = tape_get(value, tape_str(key));
        if (!member || !fits(wanted, member))
            return false;
    }
    return true;
}

static inline bool fits_array(const struct tape_node *pattern, const struct tape_node *value)
{
    const struct tape_node *wanted = pattern + 1, *item = value + 1;
    for (uint32_t i = 0; i < pattern->n; i++, wanted = tape_next(wanted), item = tape_next(item)) {
        if (i + 1 == pattern->n && is_text(wanted, "..."))
            return true;
        if (i >= value->n || !fits(wanted, item))
            return false;
    }
    return pattern->n == value->n;
}

static inline bool fits(const struct tape_node *pattern, const struct tape_node *value)
{
    if (is_text(pattern, "*"))
        return true;
    if (pattern->kind == TAPE_OBJECT && value->kind == TAPE_OBJECT)
        return fits_object(pattern, value);
    if (pattern->kind == TAPE_ARRAY && value->kind == TAPE_ARRAY)
        return fits_array(pattern, value);
    return tape_equal(pattern, value);
}

static inline void expect(struct bench *b, int status, const char *pattern, const char *question)
{
    struct arena a;
    bool ok = b->status == status;
    arena_init(&a, 0);
    if (ok && pattern[0] == '\0')
        ok = b->body.n == 0;
    else if (ok && b->body.n == 0)
        ok = false;
    else if (ok)
        ok = fits(open_json(&a, str_of(pattern)), open_json(&a, buf_str(&b->body)));
    arena_done(&a);
    if (!ok)
        fail_msg("%s\n  gave   %d %s\n  wanted %d %s", question, b->status,
                 b->body.p ? b->body.p : "", status, pattern);
}

static inline void ask(struct bench *b, int status, const char *body, const char *pattern)
{
    bench_send(b, str_of(body));
    expect(b, status, pattern, body);
}

/* A request of this method under id 1, whose answer's result (or, with "!", error) is given. */
static inline void ask_method(struct bench *b, const char *method, const char *params,
                              const char *pattern)
{
    char body[8192], wanted[8192];
    const char *kind = pattern[0] == '!' ? "error" : "result";
    snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"%s%s}", method,
             params[0] ? ",\"params\":" : "", params);
    snprintf(wanted, sizeof wanted, "{\"jsonrpc\":\"2.0\",\"id\":1,\"%s\":%s}", kind,
             pattern + (pattern[0] == '!'));
    ask(b, 200, body, wanted);
}

#define INITIALIZE(version)                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
    "\"" version "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define PING        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define PONG        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"

/* The handshake; the bench goes on with that session. */
static inline void bench_connect(struct bench *b, const char *version)
{
    char body[512];
    b->session[0] = b->version[0] = '\0';
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\","
             "\"version\":\"1\"}}}",
             version);
    ask(b, 200, body, "{\"id\":0,\"result\":{\"protocolVersion\":\"*\"}}");
    strcpy(b->session, b->new_session);
    if (!b->stdio)
        strcpy(b->version, version);
    ask(b, b->stdio ? 202 : 202, INITIALIZED, "");
}

/* ---- Data ----------------------------------------------------------------------------------- */

struct bench_write {
    struct store_write write; /* first */
    bool done;
    int err;
};

static inline void bench_written(struct store_write *write, int err)
{
    struct bench_write *w = (struct bench_write *)write;
    w->done = true;
    w->err = err;
}

static inline struct store_op bench_write(struct bench *b, struct store_op op)
{
    struct bench_write w = {
        .write = {.space = STORE_DATA, .ops = &op, .n_ops = 1, .done = bench_written}};
    store_submit(b->store, &w.write);
    while (!w.done)
        assert_true(loop_turn(&b->loop, 10));
    assert_int_equal(w.err, 0);
    return op;
}

/* With the indexes that the definition names. */
static uint32_t bench_table(struct bench *b, const char *database, const char *name,
                            const char *definition)
{
    struct arena arena;
    struct table wanted = {0};
    struct schema_faults faults;
    arena_init(&arena, 0);
    if (table_parse(str_of(definition), &arena, &wanted, &faults) < 0)
        wanted = (struct table){0}; /* a broken one */
    struct store_table table = {.database = str_of(database),
                                .name = str_of(name),
                                .definition = str_of(definition),
                                .indexes = wanted.indexes,
                                .n_indexes = wanted.n_indexes};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_ANY, .put_table = &table};
    uint32_t id = bench_write(b, op).ret_table;
    arena_done(&arena);
    return id;
}

#define BOOK_DEFINITION                                                                      \
    "{\"title\":\"Books\",\"description\":\"What is on the shelves\",\"primaryKey\":\"id\"," \
    "\"indexed\":[\"genre\"],\"schema\":{\"type\":\"object\",\"properties\":{"               \
    "\"id\":{\"type\":\"integer\"},\"title\":{\"type\":\"string\",\"minLength\":1},"         \
    "\"genre\":{\"enum\":[\"novel\",\"poem\"],\"type\":\"string\"},"                         \
    "\"year\":{\"type\":[\"integer\",\"null\"],\"minimum\":1400}},"                          \
    "\"required\":[\"title\"],\"additionalProperties\":false}}"
#define NOTE_DEFINITION                                                                 \
    "{\"primaryKey\":\"key\",\"schema\":{\"type\":\"object\",\"properties\":{\"key\":{" \
    "\"type\":\"string\"},\"text\":{\"type\":\"string\"}}}}"

/* shop.book with two rows, shop.note with none, and a session of 2025-06-18. */
static inline void bench_shop(struct bench *b, const struct core_config *config)
{
    bench_open(b, config);
    bench_table(b, "shop", "book", BOOK_DEFINITION);
    bench_table(b, "shop", "note", NOTE_DEFINITION);
    bench_connect(b, "2025-06-18");
    ask_method(b, "tools/call",
               "{\"name\":\"create_book\",\"arguments\":{\"id\":1,\"title\":\"First\",\"genre\":"
               "\"novel\"}}",
               "{\"-\":[\"isError\"]}");
    ask_method(b, "tools/call",
               "{\"name\":\"create_book\",\"arguments\":{\"id\":2,\"title\":\"Second\",\"genre\":"
               "\"poem\",\"year\":1999}}",
               "{\"-\":[\"isError\"]}");
}

static struct bench bench;

static inline int open_bench(void **state)
{
    bench_open(&bench, &bench_config);
    *state = &bench;
    return 0;
}

static inline int open_shop(void **state)
{
    bench_shop(&bench, &bench_config);
    *state = &bench;
    return 0;
}

static inline int close_bench(void **state)
{
    bench_close(*state);
    return 0;
}

#define BENCH_TEST(f) cmocka_unit_test_setup_teardown(f, open_bench, close_bench)
#define SHOP_TEST(f)  cmocka_unit_test_setup_teardown(f, open_shop, close_bench)

/* An error answer: to a request, and to what had no id that could be read. */
#define ERR_PATTERN(code)                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":\"*\",\"error\":{\"code\":" code \
    ",\"message\":\"*\"},\"-\":[\"result\"]}"
#define NO_ID_PATTERN(code) \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":" code ",\"message\":\"*\"}}"

#endif
