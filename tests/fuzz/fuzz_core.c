/* tests/fuzz/fuzz_core.c - a body, as a client of a session sends it: it is answered once, with a
 * status of the list and JSON or nothing, whatever is in it. */
#include "core/component.h"
#include "core/core.h"
#include "wire/tape.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_PER_STORE 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct loop {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct loop_post *first, **last;
};

static struct loop loop = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &loop.first};
static struct store *store;
static struct core *core;
static struct tenon *tenon;
static char session[SESSION_ID_BYTES + 1];
static bool answered;
static unsigned n_runs;

void loop_post(struct loop *l, struct loop_post *post)
{
    pthread_mutex_lock(&l->lock);
    post->next = NULL;
    *l->last = post;
    l->last = &post->next;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
}

int loop_offload(struct loop *l, struct loop_work *work)
{
    (void)l;
    work->run(work);
    work->done(work);
    return 0;
}

static bool turn(bool wait)
{
    pthread_mutex_lock(&loop.lock);
    while (wait && !loop.first)
        pthread_cond_wait(&loop.wake, &loop.lock);
    struct loop_post *post = loop.first;
    if (post && !(loop.first = post->next))
        loop.last = &loop.first;
    pthread_mutex_unlock(&loop.lock);
    if (post)
        post->fn(post);
    return post != NULL;
}

static void check_body(struct call *call)
{
    struct str body = buf_str(&call->out.body);
    const struct tape_node *tape;
    struct wire_fault fault;
    char *copy = calloc(1, (size_t)body.n + JSON_PADDING_BYTES);
    struct arena arena;
    arena_init(&arena, 256u << 20);
    memcpy(copy, body.p, body.n);
    if (body.n && tape_open((struct str){copy, body.n}, &arena, &tape, &fault) != 0)
        abort();
    arena_done(&arena);
    free(copy);
}

static void finish(struct call *call)
{
    int status = call->out.http_status;
    if (answered || (status != 200 && status != 202 && status != 400 && status != 500))
        abort();
    answered = true;
    check_body(call);
    if (call->out.session_id.n && !session[0])
        memcpy(session, call->out.session_id.p, call->out.session_id.n);
    call_free(call);
}

static void ask(const void *data, size_t size)
{
    struct call *call = call_new(core);
    char *body = arena_zalloc(&call->arena, size + JSON_PADDING_BYTES);
    if (size)
        memcpy(body, data, size);
    call->in = (struct call_inbound){
        .body = {body, (uint32_t)size},
        .session_id = session[0] ? arena_str(&call->arena, str_of(session)) : STR_NONE,
        .access = access_super(),
    };
    call->finish = finish;
    answered = false;
    core_handle(core, call);
    while (!answered)
        turn(true);
}

static void nothing(struct store_write *write, int err)
{
    (void)write;
    if (err < 0)
        abort();
    answered = true;
}

static void add_table(const char *name, const char *definition)
{
    struct store_table table = {
        .database = STR("shop"), .name = str_of(name), .definition = str_of(definition)};
    struct store_op op = {.kind = STORE_PUT_TABLE, .if_version = STORE_ANY, .put_table = &table};
    struct store_write write = {.space = STORE_DATA, .ops = &op, .n_ops = 1, .done = nothing};
    answered = false;
    store_submit(store, &write);
    while (!answered)
        turn(true);
}

static int echo(struct tenon_call *call, void *ctx)
{
    const char *id = tenon_variable(call, "id", 0);
    (void)ctx;
    return tenon_uri(call) ? tenon_contents_text(call, NULL, NULL, id)
                           : tenon_text(call, tenon_arguments(call));
}

static int complete(struct tenon_call *call, const char *name, const char *value, void *ctx)
{
    (void)ctx;
    tenon_complete(call, value);
    return tenon_complete(call, name);
}

static int add_all(struct tenon *t)
{
    static const struct tenon_prompt_argument arguments[] = {{.name = "a", .required = true},
                                                             {.name = "b"}};
    tenon_add_prompt(t, &(struct tenon_prompt){.name = "p",
                                               .description = "d",
                                               .arguments = arguments,
                                               .n_arguments = 2,
                                               .is_inline = true,
                                               .render = echo,
                                               .complete = complete});
    return tenon_add_template(t, &(struct tenon_template){.uri_template = "x://{id}",
                                                          .name = "x",
                                                          .is_inline = true,
                                                          .read = echo,
                                                          .complete = complete});
}

static void start(void)
{
    struct core_config config = {
        .session_idle_ms = 1800000,
        .list_page = 3,
        .tools_page = {3, 3},
        .search_page = 2,
        .search_max = 100,
        .profile_enabled = {true, true},
    };
    static const char initialize[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-03-26\",\"capabilities\":{},\"clientInfo\":{\"name\":\"f\",\"version\":\"1\"}}}";
    if (components_new(&tenon) < 0 || components_add(tenon, STR("f.so"), add_all) < 0 ||
        store_open_memory(&store) < 0)
        abort();
    config.components = tenon;
    store_attach(store, &loop);
    if (core_new(&config, store, &loop, &core) < 0)
        abort();
    add_table("book", "{\"primaryKey\":\"id\",\"schema\":{\"type\":\"object\",\"properties\":{"
                      "\"id\":{\"type\":\"integer\"},\"title\":{\"type\":\"string\"}}}}");
    add_table("note", "{\"primaryKey\":\"k\",\"schema\":{\"type\":\"object\",\"properties\":{"
                      "\"k\":{\"type\":\"string\"},\"n\":{\"type\":[\"number\",\"null\"]}}}}");
    memset(session, 0, sizeof session);
    ask(initialize, sizeof initialize - 1);
}

static void stop(void)
{
    core_free(core);
    components_free(tenon);
    store_close(store);
    while (turn(false))
        ;
    core = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (n_runs++ % RUNS_PER_STORE == 0) {
        if (core)
            stop();
        else
            atexit(stop);
        start();
    }
    ask(data, size);
    return 0;
}
