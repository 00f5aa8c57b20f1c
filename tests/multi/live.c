/* tests/multi/live.c - the component that test_live.c loads into the server: tools that say an
 * exact number of things, wait, and ask; and resources that change.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon.h>
#include <unistd.h>

TENON_COMPONENT

static int number(struct tenon_call *call, const char *name)
{
    return (int)tenon_argument_int(call, name, 0);
}

static void tell(struct tenon_call *call, int from, int to)
{
    for (int i = from; i < to; i++)
        tenon_log(call, TENON_INFO, "live",
                  tenon_format(call, "{\"call\":%d,\"i\":%d}", number(call, "call"), i));
}

static int on_tell(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tell(call, 0, number(call, "n"));
    return tenon_textf(call, "told %d", number(call, "call"));
}

static int on_count(struct tenon_call *call, void *ctx)
{
    int n = number(call, "n");
    (void)ctx;
    for (int i = 1; i <= n; i++)
        tenon_progress(call, i, n, NULL);
    return tenon_textf(call, "counted %d", number(call, "call"));
}

static int on_hold(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_progress(call, 1, 0, NULL);
    return tenon_wait(call, 60000);
}

#define FORM                                                                                       \
    "{\"message\":\"value?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"value\":{" \
    "\"type\":\"string\"}},\"required\":[\"value\"]}}"

static int ask(struct tenon_call *call)
{
    const char *result;
    int err = tenon_elicit(call, FORM, 0, &result);
    if (err == TENON_ERR_REMOTE)
        return tenon_textf(call, "remote %s", tenon_remote_message(call, NULL));
    if (err)
        return err;
    const char *value = tenon_elicited_text(call, result, "value");
    return tenon_textf(call, "asked %d: %s", number(call, "call"), value ? value : "nothing");
}

static int on_ask(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return ask(call);
}

static int on_gate(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tell(call, 0, 5);
    int err = ask(call);
    tell(call, 5, 10);
    return err;
}

static int on_levels(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    for (int level = TENON_DEBUG; level <= TENON_EMERGENCY; level++)
        tenon_log(call, (enum tenon_log_level)level, "live",
                  tenon_format(call, "{\"call\":%d,\"i\":%d}", number(call, "call"), level));
    return tenon_text(call, "levels");
}

/* Asks after its call, on the stream that the client listens to: a value, and with the second
 * question it says which it was. */
static struct tenon *registry;

static void *ask_later(void *arg)
{
    char *session = arg, *result = NULL, *ignored = NULL, second[512];
    const char *value = "nothing";
    int err = tenon_session_elicit(registry, session, FORM, 60000, &result);
    if (!err && (value = strstr(result, "\"value\":\"")))
        value += 9;
    snprintf(second, sizeof second,
             "{\"message\":\"got %d %.*s\",\"requestedSchema\":{\"type\":\"object\","
             "\"properties\":{}}}",
             err, value ? (int)strcspn(value, "\"") : 0, value ? value : "");
    tenon_session_elicit(registry, session, second, 60000, &ignored);
    tenon_free(result);
    tenon_free(ignored);
    free(session);
    return NULL;
}

static int on_later(struct tenon_call *call, void *ctx)
{
    pthread_t thread;
    char *session = strdup(tenon_session(call));
    (void)ctx;
    if (!session || pthread_create(&thread, NULL, ask_later, session))
        return tenon_fail(call, "no thread");
    pthread_detach(thread);
    return tenon_text(call, "later");
}

/* It does not look whether it is cancelled. */
static int on_stick(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    while (tenon_user(call))
        pause();
    return 0;
}

static int on_touch(struct tenon_call *call, void *ctx)
{
    const char *uri = tenon_format(call, "live://watched/%d", number(call, "n"));
    int err = uri ? tenon_resource_changed(ctx, uri) : TENON_ERR_NO_MEMORY;
    return err ? err : tenon_textf(call, "touched %s", uri);
}

static int on_watched(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_contents_text(call, NULL, "text/plain", tenon_variable(call, "n", 0));
}

int tenon_component(struct tenon *tenon)
{
    static const struct {
        const char *name;
        int (*run)(struct tenon_call *call, void *ctx);
    } tools[] = {
        {"tell", on_tell},   {"count", on_count}, {"hold", on_hold},
        {"ask", on_ask},     {"gate", on_gate},   {"levels", on_levels},
        {"stick", on_stick}, {"touch", on_touch}, {"later", on_later},
    };
    registry = tenon;
    for (unsigned i = 0; i < sizeof tools / sizeof *tools; i++)
        tenon_add_tool(tenon, &(struct tenon_tool){.name = tools[i].name,
                                                   .description = "test",
                                                   .run = tools[i].run,
                                                   .ctx = tenon});
    return tenon_add_template(tenon, &(struct tenon_template){.uri_template = "live://watched/{n}",
                                                              .name = "watched",
                                                              .subscribable = true,
                                                              .read = on_watched});
}
