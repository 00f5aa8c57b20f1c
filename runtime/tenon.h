/* tenon.h - the component API: tools, resources and prompts of your own in a Tenon server.
 *
 * A component is a shared object that a server loads (`tenon serve --component ./mine.so`). It
 * defines two symbols: the version of this header that it was compiled with, and the function that
 * registers what it offers.
 *
 *   #include <tenon.h>
 *   TENON_COMPONENT
 *
 *   static int greet(struct tenon_call *call, void *ctx)
 *   {
 *       return tenon_textf(call, "Hello, %s!", tenon_argument_text(call, "name", NULL));
 *   }
 *
 *   int tenon_component(struct tenon *tenon)
 *   {
 *       return tenon_add_tool(tenon, &(struct tenon_tool){
 *           .name = "greet",
 *           .description = "Says hello",
 *           .input_schema = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
 *                           "\"required\":[\"name\"]}",
 *           .run = greet,
 *       });
 *   }
 *
 * The server has checked a tool's arguments by its inputSchema before `run` is called, speaks every
 * protocol revision for it, and leaves out what the client's revision does not know. Sections that
 * are named below are those of the MCP specification, revision 2025-06-18.
 *
 * Texts are UTF-8 and end with NUL; JSON is text too. What goes into a call is copied, what comes
 * out of it lives until its callback returns. Where nothing else is said, a pointer must not be
 * NULL. A server has several worker processes: each loads the component, and what one keeps in its
 * memory the others do not see.
 */
#ifndef TENON_H
#define TENON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors --------------------------------------------------------------------------------- */

/* What calls return that can fail: 0, or one of these. A callback returns 0 or one of these too. */
enum tenon_err {
    TENON_ERR_FAILED = -1,    /* a failure that tenon_fail has explained */
    TENON_ERR_CANCELLED = -2, /* the client cancelled the call, or its session ended */
    TENON_ERR_TIMED_OUT = -3, /* no answer in time */
    TENON_ERR_UNSUPPORTED =
        -4,                  /* the client did not declare it, or its revision has no such thing */
    TENON_ERR_REMOTE = -5,   /* the client answered with an error: tenon_remote_message */
    TENON_ERR_ARGUMENT = -6, /* a value that you gave is not allowed here */
    TENON_ERR_BUSY = -7,     /* too many at once */
    TENON_ERR_NO_MEMORY = -8,
    TENON_ERR_INLINE = -9,     /* would block, in a callback that is `is_inline` */
    TENON_ERR_NOT_FOUND = -10, /* from the read callback of a template: there is no such resource */
    TENON_ERR_INTERNAL = -11,
};

/* One short sentence for any value. Any thread. */
const char *tenon_err_text(int err);

/* ---- A component ---------------------------------------------------------------------------- */

#define TENON_ABI 2u /* changes when compiled components would not work any more */

#if defined(__GNUC__)
#define TENON_PUBLIC __attribute__((visibility("default")))
#else
#define TENON_PUBLIC
#endif

struct tenon;      /* the server, as a component sees it; valid as long as the process */
struct tenon_call; /* one request that a callback answers */

/* Once in a component, outside functions: says which header it was compiled with. */
#define TENON_COMPONENT                                     \
    TENON_PUBLIC extern const uint32_t tenon_component_abi; \
    const uint32_t tenon_component_abi = TENON_ABI;

/* You define this. It is called once in each process, before the first client, on the main thread;
 * it registers what the component offers. Return 0; anything else, or a registration that failed,
 * stops the server's start with a message that names the component and the reason. `tenon` may be
 * kept. Start no threads here that fork or install signal handlers. */
TENON_PUBLIC int tenon_component(struct tenon *tenon);

/* ---- Tools (Server Features, Tools) --------------------------------------------------------- */

enum tenon_hint { TENON_UNSAID, TENON_YES, TENON_NO };

/* ToolAnnotations. What is unsaid a client takes for: not read-only, destructive, not idempotent,
 * open world. */
struct tenon_hints {
    enum tenon_hint read_only, destructive, idempotent, open_world;
};

struct tenon_tool {
    const char *name;          /* 1 to 128 of A-Z a-z 0-9 _ . - */
    const char *title;         /* for people; NULL: none */
    const char *description;   /* for the model; not empty */
    const char *input_schema;  /* JSON Schema of type "object", sent as it is; NULL: any object */
    const char *output_schema; /* the same for tenon_structured; NULL: none */
    struct tenon_hints hints;
    /* Runs on the event loop instead of a handler thread: for what takes microseconds and waits for
     * nothing. Everything else of the process stands still meanwhile. */
    bool is_inline;
    /* Builds the result by the calls below. 0: that is the result. An error: a result with isError
     * that holds the text of tenon_fail, or of the error. Several calls run at once, each on a
     * thread of its own with 512 KiB of stack. */
    int (*run)(struct tenon_call *call, void *ctx);
    void *ctx; /* yours */
};

/* Only in tenon_component. Everything is copied but `ctx`. TENON_ERR_ARGUMENT: the name is taken or
 * none, or a schema cannot be used; TENON_ERR_NO_MEMORY. The first failure is what the server says
 * when it does not start, so the result may be ignored. */
int tenon_add_tool(struct tenon *tenon, const struct tenon_tool *tool);

/* ---- Resources (Server Features, Resources) ------------------------------------------------- */

/* Annotations of a resource (Resources, Annotations); what is 0 is left out. */
struct tenon_annotations {
    bool for_user, for_assistant; /* audience */
    bool has_priority;
    double priority;           /* 0 to 1 */
    const char *last_modified; /* ISO 8601 */
};

struct tenon_resource {
    const char *uri;   /* with a scheme; not db: and tenon:, which are the server's */
    const char *name;  /* not empty */
    const char *title; /* NULL: none; also the next two */
    const char *description;
    const char *mime_type; /* of the contents that do not say another */
    struct tenon_annotations annotations;
    int64_t size;      /* bytes of the contents, if known; 0: not said */
    bool subscribable; /* you call tenon_resource_changed when it reads differently */
    bool is_inline;    /* as of a tool */
    /* Gives the contents by tenon_contents_text and tenon_contents_blob, at least one. An error is
     * answered as a JSON-RPC error. */
    int (*read)(struct tenon_call *call, void *ctx);
    void *ctx;
};

/* As tenon_add_tool. */
int tenon_add_resource(struct tenon *tenon, const struct tenon_resource *resource);

struct tenon_template {
    const char *uri_template; /* RFC 6570: "note://{user}/{id}", "file:///{+path}", "x://a{?q}" */
    const char *name, *title, *description, *mime_type; /* as of a resource; also the next three */
    struct tenon_annotations annotations;
    bool subscribable; /* each URI that fits */
    bool is_inline;
    /* As of a resource; tenon_variable gives what the URI holds. An escaped / or \ does not match a
     * `{variable}`, so its value is no path unless you ask for one by {+variable}. */
    int (*read)(struct tenon_call *call, void *ctx);
    /* Proposes values of a variable for one who has typed `value`, by tenon_complete. NULL: none.
     */
    int (*complete)(struct tenon_call *call, const char *variable, const char *value, void *ctx);
    void *ctx;
};

/* As tenon_add_tool. Templates are tried in the order of their registration, resources before. */
int tenon_add_template(struct tenon *tenon, const struct tenon_template *template_);

/* ---- Prompts (Server Features, Prompts) ----------------------------------------------------- */

struct tenon_prompt_argument {
    const char *name;  /* as of a tool */
    const char *title; /* NULL: none; also the next one */
    const char *description;
    bool required;
};

struct tenon_prompt {
    const char *name;        /* as of a tool */
    const char *title;       /* NULL: none */
    const char *description; /* not empty */
    const struct tenon_prompt_argument *arguments;
    unsigned n_arguments;
    bool is_inline; /* as of a tool */
    /* Builds the messages: each call of tenon_text, _image, _audio, _embed_text, _embed_blob or
     * _link makes one, said by the role of tenon_role. The required arguments are there. An error,
     * and a prompt without messages, is answered as a JSON-RPC error: TENON_ERR_ARGUMENT as one of
     * the client's, all others as internal, with the text of tenon_fail. */
    int (*render)(struct tenon_call *call, void *ctx);
    /* Proposes values of an argument, as of a template. NULL: none. */
    int (*complete)(struct tenon_call *call, const char *argument, const char *value, void *ctx);
    void *ctx;
};

/* As tenon_add_tool. */
int tenon_add_prompt(struct tenon *tenon, const struct tenon_prompt *prompt);

/* ---- In a call: what it is about ------------------------------------------------------------
 * These and all below are for the thread of the callback, until it returns. */

/* The arguments as one JSON object ("{}" if there are none), or one of them as JSON text; NULL:
 * there is no such argument, or no memory. */
const char *tenon_arguments(struct tenon_call *call);
const char *tenon_argument(struct tenon_call *call, const char *name);

/* A string argument; NULL: absent, no string, or no memory. `ret_len` (may be NULL) gets its bytes,
 * for a text that holds U+0000. */
const char *tenon_argument_text(struct tenon_call *call, const char *name, size_t *ret_len);

/* A number or boolean argument, or `otherwise` when it is absent or of another type. 3.0 is an
 * integer too. */
int64_t tenon_argument_int(struct tenon_call *call, const char *name, int64_t otherwise);
double tenon_argument_num(struct tenon_call *call, const char *name, double otherwise);
bool tenon_argument_bool(struct tenon_call *call, const char *name, bool otherwise);

/* The URI that is being read; NULL in a tool. */
const char *tenon_uri(struct tenon_call *call);

/* The i-th value, decoded, that the URI gives a template's variable: of {x} there is one at most,
 * of {x*} there may be more. NULL: none. */
const char *tenon_variable(struct tenon_call *call, const char *name, unsigned i);

/* Who calls: the authenticated user ("": nobody); the session, to be kept for tenon_session_x ("":
 * the one of a client on stdio); the negotiated revision, such as "2025-06-18"; clientInfo and
 * capabilities of initialize, as JSON objects (Base Protocol, Lifecycle). Never NULL. */
const char *tenon_user(struct tenon_call *call);
const char *tenon_session(struct tenon_call *call);
const char *tenon_protocol_version(struct tenon_call *call);
const char *tenon_client_info(struct tenon_call *call);
const char *tenon_client_capabilities(struct tenon_call *call);

/* ---- In a call: memory ---------------------------------------------------------------------- */

/* Freed with the call; aligned for anything, not zeroed. NULL: no memory; a call has 16 MiB. */
void *tenon_alloc(struct tenon_call *call, size_t size);

/* The same, as printf makes it. NULL: no memory. */
char *tenon_format(struct tenon_call *call, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* The text as a JSON string, with its quotes. NULL: no memory. */
const char *tenon_quote(struct tenon_call *call, const char *text);

/* ---- In a call: the result of a tool --------------------------------------------------------
 * Content is sent in the order in which it was added. A call that fails is remembered: the tool's
 * result is then an internal error, and the reason is in the server's log; so results may be
 * ignored. 0, TENON_ERR_ARGUMENT, TENON_ERR_NO_MEMORY. */

int tenon_text(struct tenon_call *call, const char *text);
int tenon_textf(struct tenon_call *call, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Bytes as they are, which the server writes in base64; `mime_type` such as "image/png". */
int tenon_image(struct tenon_call *call, const char *mime_type, const void *data, size_t len);
int tenon_audio(struct tenon_call *call, const char *mime_type, const void *data, size_t len);

/* A resource in the result; it need not be a registered one. `mime_type` may be NULL, which in a
 * prompt is text/plain and application/octet-stream. */
int tenon_embed_text(struct tenon_call *call, const char *uri, const char *mime_type,
                     const char *text);
int tenon_embed_blob(struct tenon_call *call, const char *uri, const char *mime_type,
                     const void *data, size_t len);

/* A resource that the client may read. The last three may be NULL. Revision 2025-03-26 has no
 * links: there it is a line of text with name and URI. */
int tenon_link(struct tenon_call *call, const char *uri, const char *name, const char *title,
               const char *description, const char *mime_type);

/* structuredContent: one JSON object, which fits the outputSchema if the tool has one (which then
 * must give one). The last one holds. If there is no other content it is also sent as text, as the
 * specification advises. */
int tenon_structured(struct tenon_call *call, const char *json);

/* Says why the callback is about to fail; returns TENON_ERR_FAILED, so: return tenon_fail(...). Of
 * a tool the model reads it, as the only content of a result with isError. */
int tenon_fail(struct tenon_call *call, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* ---- In a call: the contents of a resource --------------------------------------------------
 * `uri` NULL: the one that is being read; `mime_type` NULL: the registered one. Errors as above. */

int tenon_contents_text(struct tenon_call *call, const char *uri, const char *mime_type,
                        const char *text);
int tenon_contents_blob(struct tenon_call *call, const char *uri, const char *mime_type,
                        const void *data, size_t len);

/* ---- In a call: prompts and completion (Utilities, Completion) ------------------------------ */

enum tenon_role { TENON_USER, TENON_ASSISTANT };

/* Who says the messages of a prompt that are added from here on; TENON_USER at first. */
int tenon_role(struct tenon_call *call, enum tenon_role role);

/* In a complete callback: proposes a value, best first. The first 100 are sent; the others count
 * for the total. */
int tenon_complete(struct tenon_call *call, const char *value);
/* How many there are, if more than were proposed; -1: unknown, but more. */
int tenon_complete_total(struct tenon_call *call, int64_t total);
/* The value that another variable or argument has already (context.arguments); NULL: none. */
const char *tenon_context(struct tenon_call *call, const char *name);

/* ---- In a call: while it runs --------------------------------------------------------------- */

/* notifications/progress (Utilities, Progress), if the client asked for it. `progress` must rise
 * from call to call; `total` 0: unknown; `message` may be NULL. Never waits; where values come too
 * fast (100 a second) only the newest is sent. TENON_ERR_ARGUMENT: not rising, or no number. */
int tenon_progress(struct tenon_call *call, double progress, double total, const char *message);

/* In the order of severity (Utilities, Logging). */
enum tenon_log_level {
    TENON_DEBUG,
    TENON_INFO,
    TENON_NOTICE,
    TENON_WARNING,
    TENON_ERROR,
    TENON_CRITICAL,
    TENON_ALERT,
    TENON_EMERGENCY,
};

/* notifications/message to the client, if its level lets it pass. `logger` may be NULL; `data` is
 * JSON, of tenon_logf a string. Never waits; what comes too fast is dropped. TENON_ERR_ARGUMENT:
 * not JSON, or no level. */
int tenon_log(struct tenon_call *call, enum tenon_log_level level, const char *logger,
              const char *data);
int tenon_logf(struct tenon_call *call, enum tenon_log_level level, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Whether the call should end (Utilities, Cancellation): nobody will get its result. Cheap: ask
 * often. A callback that returns after that is never answered. */
bool tenon_cancelled(struct tenon_call *call);

/* Sleeps, but not beyond a cancellation. 0: the time is over; TENON_ERR_CANCELLED;
 * TENON_ERR_INLINE. */
int tenon_wait(struct tenon_call *call, int64_t ms);

/* ---- In a call: questions to the client -----------------------------------------------------
 * Each sends a request on the call's own stream and waits for the answer, `timeout_ms` at most (0:
 * what the server is set to, 30 s). `params` is the request's params as JSON, checked by the
 * client's revision. *ret_result is the client's result as JSON. TENON_ERR_UNSUPPORTED, also where
 * the client takes no stream; _REMOTE, _TIMED_OUT, _CANCELLED, _ARGUMENT, _BUSY (100 of a session
 * wait), _INLINE, _NO_MEMORY; then *ret_result is untouched. */

/* sampling/createMessage (Client Features, Sampling). */
int tenon_sample(struct tenon_call *call, const char *params, int64_t timeout_ms,
                 const char **ret_result);
/* elicitation/create (Client Features, Elicitation): {"message", "requestedSchema"}. Needs revision
 * 2025-06-18. The content of an answer was checked by the schema. */
int tenon_elicit(struct tenon_call *call, const char *params, int64_t timeout_ms,
                 const char **ret_result);
/* roots/list (Client Features, Roots). */
int tenon_list_roots(struct tenon_call *call, int64_t timeout_ms, const char **ret_result);

/* After TENON_ERR_REMOTE: what the client said, or what is wrong with its answer. `ret_code` (may
 * be NULL) is the JSON-RPC code; 0: its answer was no error, but not what was asked for. */
const char *tenon_remote_message(struct tenon_call *call, int *ret_code);

/* The text of a sampling result; NULL: it is none, or holds no text. */
const char *tenon_sampled_text(struct tenon_call *call, const char *result);

enum tenon_action { TENON_ACCEPTED, TENON_DECLINED, TENON_DISMISSED };

/* What the user did with an elicitation. */
enum tenon_action tenon_elicited_action(struct tenon_call *call, const char *result);
/* What the user filled in, as a JSON object; NULL: nothing. */
const char *tenon_elicited_content(struct tenon_call *call, const char *result);
/* The same, one string of it; NULL: absent or no string. */
const char *tenon_elicited_text(struct tenon_call *call, const char *result, const char *name);

/* ---- Outside a call -------------------------------------------------------------------------
 * From any thread of the component's own; never from an inline callback. */

/* Tells the server that a registered resource, or one that a template gives, reads differently now:
 * the change is entered into the change log, from which subscribers are told (Resources,
 * Subscriptions). Returns at once. TENON_ERR_ARGUMENT: no URI; TENON_ERR_CANCELLED: the
 * server is starting or stopping; TENON_ERR_BUSY: 10,000 changes are not in the log yet;
 * TENON_ERR_NO_MEMORY. Allowed in any callback. */
int tenon_resource_changed(struct tenon *tenon, const char *uri);

/* As the questions in a call, but to a session, on the stream that its client listens to; without
 * one it waits for one until the time is over. *ret_result is to be freed by tenon_free.
 * TENON_ERR_CANCELLED: the session ended, or the server stops. */
int tenon_session_sample(struct tenon *tenon, const char *session, const char *params,
                         int64_t timeout_ms, char **ret_result);
int tenon_session_elicit(struct tenon *tenon, const char *session, const char *params,
                         int64_t timeout_ms, char **ret_result);
int tenon_session_list_roots(struct tenon *tenon, const char *session, int64_t timeout_ms,
                             char **ret_result);
void tenon_free(void *p); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
