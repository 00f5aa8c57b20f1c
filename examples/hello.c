/* hello.c - a component to copy: five tools, a resource, a template and a prompt.
 *
 *   cc -fPIC -shared -o hello.so hello.c     (with -I of where tenon.h is)
 *   tenon serve --component ./hello.so
 *
 * greet   arguments in, text out               roll      a structured result with its schema
 * count   long work: progress, cancellation    ask_name  a question to the user
 * fetch   a result that points to a resource   hello://about, hello://greeting/{name}
 * welcome a prompt, whose language is completed
 */
#include <tenon.h>

#include <stdlib.h>
#include <string.h>

TENON_COMPONENT

static int greet(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_textf(call, "Hello, %s!", tenon_argument_text(call, "name", NULL));
}

/* What fits the outputSchema is also sent as text, for clients that know no structure. */
static int roll(struct tenon_call *call, void *ctx)
{
    int sides = (int)tenon_argument_int(call, "sides", 6);
    (void)ctx;
    return tenon_structured(call, tenon_format(call, "{\"rolled\":%d}", rand() % sides + 1));
}

/* The server has checked that `to` is there and in its range. */
static int count(struct tenon_call *call, void *ctx)
{
    int to = (int)tenon_argument_int(call, "to", 1);
    (void)ctx;
    for (int i = 1; i <= to; i++) {
        int err = tenon_wait(call, 100);
        if (err)
            return err; /* cancelled: nobody waits for a result */
        tenon_progress(call, i, to, NULL);
        tenon_logf(call, TENON_DEBUG, "counted to %d", i);
    }
    return tenon_textf(call, "Counted to %d.", to);
}

static int ask_name(struct tenon_call *call, void *ctx)
{
    const char *answer;
    (void)ctx;
    int err = tenon_elicit(call,
                           "{\"message\":\"What is your name?\",\"requestedSchema\":{"
                           "\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
                           "\"required\":[\"name\"]}}",
                           0, &answer);
    if (err == TENON_ERR_UNSUPPORTED)
        return tenon_fail(call, "This client cannot ask its user.");
    if (err)
        return err;
    if (tenon_elicited_action(call, answer) != TENON_ACCEPTED)
        return tenon_text(call, "The user did not want to say.");
    return tenon_textf(call, "Hello, %s!", tenon_elicited_text(call, answer, "name"));
}

static int fetch(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    tenon_text(call, "Read this:");
    return tenon_link(call, "hello://about", "about", NULL, NULL, "text/plain");
}

static int read_about(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_contents_text(call, NULL, NULL, "A component to copy.");
}

static int read_greeting(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_contents_text(call, NULL, NULL,
                               tenon_format(call, "Hello, %s!", tenon_variable(call, "name", 0)));
}

/* The required argument is there; what an optional one is without a client's word is yours to say.
 */
static int welcome(struct tenon_call *call, void *ctx)
{
    const char *language = tenon_argument_text(call, "language", NULL);
    (void)ctx;
    tenon_textf(call, "Write a welcome for %s in %s.", tenon_argument_text(call, "name", NULL),
                language ? language : "English");
    tenon_role(call, TENON_ASSISTANT);
    return tenon_text(call, "With pleasure. How formal shall it be?");
}

/* All that begin with what was typed; the server sends the first 100. */
static int complete_welcome(struct tenon_call *call, const char *argument, const char *value,
                            void *ctx)
{
    static const char *const languages[] = {"English", "French", "German", "Greek", "Italian"};
    (void)ctx;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strcmp(argument, "language") == 0 && strncmp(languages[i], value, strlen(value)) == 0)
            tenon_complete(call, languages[i]);
    return 0;
}

static const struct tenon_prompt_argument of_welcome[] = {
    {.name = "name", .description = "Who is welcomed", .required = true},
    {.name = "language", .description = "English if it is left out"},
};

static const struct tenon_tool tools[] = {
    {
        .name = "greet",
        .title = "Greet",
        .description = "Says hello to somebody.",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
                        "\"required\":[\"name\"]}",
        .hints = {.read_only = TENON_YES, .open_world = TENON_NO},
        .is_inline = true, /* it takes no time */
        .run = greet,
    },
    {
        .name = "roll",
        .title = "Roll a die",
        .description = "Rolls a die with so many sides.",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"sides\":{\"type\":\"integer\","
                        "\"minimum\":2,\"maximum\":1000}}}",
        .output_schema = "{\"type\":\"object\",\"properties\":{\"rolled\":{\"type\":\"integer\"}},"
                         "\"required\":[\"rolled\"]}",
        .hints = {.read_only = TENON_YES},
        .run = roll,
    },
    {
        .name = "count",
        .description = "Counts slowly, and tells how far it is.",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"to\":{\"type\":\"integer\","
                        "\"minimum\":1,\"maximum\":1000}},\"required\":[\"to\"]}",
        .hints = {.read_only = TENON_YES},
        .run = count,
    },
    {
        .name = "ask_name",
        .description = "Asks the user for a name.",
        .run = ask_name,
    },
    {
        .name = "fetch",
        .description = "Says what there is to read.",
        .run = fetch,
    },
};

int tenon_component(struct tenon *tenon)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        tenon_add_tool(tenon, &tools[i]);
    tenon_add_resource(tenon, &(struct tenon_resource){
                                  .uri = "hello://about",
                                  .name = "about",
                                  .mime_type = "text/plain",
                                  .read = read_about,
                              });
    tenon_add_template(tenon, &(struct tenon_template){
                                  .uri_template = "hello://greeting/{name}",
                                  .name = "greeting",
                                  .mime_type = "text/plain",
                                  .read = read_greeting,
                              });
    tenon_add_prompt(tenon, &(struct tenon_prompt){
                                .name = "welcome",
                                .title = "Welcome",
                                .description = "Asks for a welcome to somebody.",
                                .arguments = of_welcome,
                                .n_arguments = sizeof of_welcome / sizeof *of_welcome,
                                .is_inline = true,
                                .render = welcome,
                                .complete = complete_welcome,
                            });
    return 0; /* what was refused is told by the server */
}
