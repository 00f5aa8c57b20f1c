/* manifest/prompt.c - prompts of a manifest: messages with {{argument}} in them.
 *
 * Everything is parsed when the manifest is read; rendering puts the arguments in, once, and hands
 * the pieces to the builders of tenon.h, which judge what came out. */
#include "base/err.h"
#include "manifest/completion.h"
#include "manifest/file_parts.h"
#include "manifest/wording.h"

#include <string.h>

struct argument {
    struct str name;
    const char *standard; /* NULL: none */
    struct completion completion;
};

enum kind { KIND_TEXT, KIND_IMAGE, KIND_AUDIO, KIND_EMBEDDED_TEXT, KIND_EMBEDDED_BLOB, KIND_LINK };

struct message {
    enum tenon_role role;
    enum kind kind;
    struct wording text, uri, name, title, description;
    const char *mime_type;
    struct str bytes;
};

struct prompt {
    struct argument *arguments;
    struct message *messages;
    uint32_t n_arguments, n_messages;
};

static const struct argument *find_argument(const struct prompt *prompt, struct str name)
{
    for (uint32_t i = 0; i < prompt->n_arguments; i++)
        if (str_eq(prompt->arguments[i].name, name))
            return &prompt->arguments[i];
    return NULL;
}

/* ---- Rendering ------------------------------------------------------------------------------ */

struct rendering {
    const struct prompt *prompt;
    const char **values; /* of the arguments; NULL: none */
};

static const char *argument_value(struct tenon_call *call, const void *ctx, struct str name)
{
    const struct rendering *r = ctx;
    (void)call;
    return r->values[find_argument(r->prompt, name) - r->prompt->arguments];
}

/* A text of C would end at a NUL. */
static int read_value(struct tenon_call *call, const struct argument *argument, const char **ret)
{
    size_t n = 0;
    const char *text = tenon_argument_text(call, argument->name.p, &n);
    if (text && memchr(text, 0, n))
        return tenon_fail(call, "argument %s: expected a string without U+0000", argument->name.p);
    *ret = text ? text : argument->standard;
    return 0;
}

static int read_values(struct tenon_call *call, struct rendering *r)
{
    uint32_t n = r->prompt->n_arguments;
    int err = 0;
    r->values = tenon_alloc(call, (n + 1) * sizeof *r->values);
    if (!r->values)
        return TENON_ERR_NO_MEMORY;
    for (uint32_t i = 0; err == 0 && i < n; i++)
        err = read_value(call, &r->prompt->arguments[i], &r->values[i]);
    return err;
}

static int embed(struct tenon_call *call, const struct message *m, const char *uri,
                 const char *text)
{
    if (m->kind == KIND_EMBEDDED_TEXT)
        return tenon_embed_text(call, uri, m->mime_type, text);
    return tenon_embed_blob(call, uri, m->mime_type, m->bytes.p, m->bytes.n);
}

static int link_to(struct tenon_call *call, const struct rendering *r, const struct message *m,
                   const char *uri)
{
    return tenon_link(call, uri, wording_fill(call, &m->name, argument_value, r),
                      wording_fill(call, &m->title, argument_value, r),
                      wording_fill(call, &m->description, argument_value, r), m->mime_type);
}

static int say(struct tenon_call *call, const struct rendering *r, const struct message *m)
{
    const char *text = wording_fill(call, &m->text, argument_value, r);
    const char *uri = wording_fill(call, &m->uri, argument_value, r);
    if ((m->text.is_there && !text) || (m->uri.is_there && !uri))
        return TENON_ERR_FAILED;
    tenon_role(call, m->role);
    switch (m->kind) {
    case KIND_TEXT:
        return tenon_text(call, text);
    case KIND_IMAGE:
        return tenon_image(call, m->mime_type, m->bytes.p, m->bytes.n);
    case KIND_AUDIO:
        return tenon_audio(call, m->mime_type, m->bytes.p, m->bytes.n);
    case KIND_LINK:
        return link_to(call, r, m, uri);
    default:
        return embed(call, m, uri, text);
    }
}

static int render(struct tenon_call *call, void *ctx)
{
    struct rendering r = {.prompt = ctx};
    int err = read_values(call, &r);
    for (uint32_t i = 0; err == 0 && i < r.prompt->n_messages; i++)
        err = say(call, &r, &r.prompt->messages[i]);
    return err;
}

static int complete(struct tenon_call *call, const char *name, const char *typed, void *ctx)
{
    const struct argument *argument = find_argument(ctx, str_of(name));
    return argument ? completion_run(call, &argument->completion, typed) : 0;
}

/* ---- Reading: arguments --------------------------------------------------------------------- */

static bool is_true(const struct manifest_entry *entry, const char *member)
{
    const struct tape_node *value = tape_get(entry->node, str_of(member));
    return value && value->kind == TAPE_TRUE;
}

static int read_argument(const struct manifest_entry *entry, struct prompt *prompt,
                         struct tenon_prompt_argument *shown)
{
    struct argument *argument = &prompt->arguments[prompt->n_arguments];
    *shown = (struct tenon_prompt_argument){
        .name = manifest_text(entry, "name"),
        .title = manifest_text(entry, "title"),
        .description = manifest_text(entry, "description"),
        .required = is_true(entry, "required"),
    };
    if (!shown->name)
        return ERR_NO_MEMORY;
    if (find_argument(prompt, str_of(shown->name)))
        return manifest_fault(entry->m, manifest_at(entry->m, entry->pointer, STR("name")),
                              "another argument has this name");
    argument->name = str_of(shown->name);
    argument->standard = manifest_text(entry, "default");
    prompt->n_arguments++;
    if (shown->required && argument->standard)
        return manifest_fault(entry->m, manifest_at(entry->m, entry->pointer, STR("default")),
                              "expected none, as the argument is required");
    return completion_parse(entry, argument->name, &argument->completion);
}

/* Each is tried, and so are all its faults told. */
static int read_arguments(const struct manifest_entry *entry, struct prompt *prompt,
                          struct tenon_prompt_argument **ret_shown)
{
    const struct tape_node *list = tape_get(entry->node, STR("arguments"));
    const char *pointer = manifest_at(entry->m, entry->pointer, STR("arguments"));
    uint32_t n = list ? list->n : 0;
    int result = 0, err = 0;
    if (n > MANIFEST_ARGUMENTS_MAX)
        return manifest_fault(entry->m, pointer, "expected at most %d", MANIFEST_ARGUMENTS_MAX);
    struct tenon_prompt_argument *shown = arena_array(&entry->m->arena, n + 1, sizeof *shown);
    prompt->arguments = arena_zalloc(&entry->m->arena, (n + 1) * sizeof *prompt->arguments);
    if (!shown || !prompt->arguments)
        return ERR_NO_MEMORY;
    const struct tape_node *node = list ? list + 1 : NULL;
    for (uint32_t i = 0; i < n && err != ERR_NO_MEMORY; i++, node = tape_next(node)) {
        const struct manifest_entry argument = {entry->m, entry->tenon, node,
                                                manifest_at_n(entry->m, pointer, i)};
        err = read_argument(&argument, prompt, &shown[prompt->n_arguments]);
        result = err ? err : result;
    }
    *ret_shown = shown;
    return result;
}

/* ---- Reading: messages ---------------------------------------------------------------------- */

static bool is_argument(const void *ctx, struct str name)
{
    return find_argument(ctx, name) != NULL;
}

static int read_text(const struct manifest_entry *entry, const struct manifest_names *names,
                     struct message *ret)
{
    struct str file = manifest_str(entry, "file"), text;
    const char *pointer = manifest_at(entry->m, entry->pointer, STR("file"));
    if (!file.p)
        return wording_of(entry, "text", names, &ret->text);
    int err = manifest_file_text(entry->m, file, pointer, &text);
    return err < 0 ? err : wording_parse(entry->m, text, pointer, names, &ret->text);
}

static int read_bytes(const struct manifest_entry *entry, const char *member, struct message *ret)
{
    struct str file = manifest_str(entry, "file");
    const char *pointer =
        manifest_at(entry->m, entry->pointer, file.p ? STR("file") : str_of(member));
    if (file.p)
        return manifest_file_bytes(entry->m, file, pointer, &ret->bytes);
    return manifest_bytes(entry->m, manifest_str(entry, member), pointer, &ret->bytes);
}

/* A file is text if its type says so, or if nothing does. */
static bool holds_text(const struct manifest_entry *entry)
{
    struct str type = manifest_str(entry, "mimeType");
    if (tape_get(entry->node, STR("text")))
        return true;
    return tape_get(entry->node, STR("file")) && (!type.p || file_is_text_type(type));
}

static int read_embedded(const struct manifest_entry *entry, const struct manifest_names *names,
                         struct message *ret)
{
    bool is_text = holds_text(entry);
    ret->kind = is_text ? KIND_EMBEDDED_TEXT : KIND_EMBEDDED_BLOB;
    ret->mime_type = manifest_text(entry, "mimeType");
    int uri = wording_of(entry, "uri", names, &ret->uri);
    int contents = is_text ? read_text(entry, names, ret) : read_bytes(entry, "blob", ret);
    return uri ? uri : contents;
}

static int read_link(const struct manifest_entry *entry, const struct manifest_names *names,
                     struct message *ret)
{
    const struct {
        const char *member;
        struct wording *text;
    } texts[] = {
        {"uri", &ret->uri},
        {"name", &ret->name},
        {"title", &ret->title},
        {"description", &ret->description},
    };
    int result = 0;
    ret->kind = KIND_LINK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int err = wording_of(entry, texts[i].member, names, texts[i].text);
        result = err ? err : result;
    }
    return result;
}

static int read_content(const struct manifest_entry *content, const struct manifest_names *names,
                        struct message *ret)
{
    struct str type = manifest_str(content, "type");
    ret->mime_type = manifest_text(content, "mimeType");
    if (str_eq(type, STR("text")))
        return read_text(content, names, ret);
    if (str_eq(type, STR("resource_link")))
        return read_link(content, names, ret);
    if (str_eq(type, STR("resource"))) {
        const struct manifest_entry resource = manifest_member(content, "resource");
        return read_embedded(&resource, names, ret);
    }
    ret->kind = str_eq(type, STR("image")) ? KIND_IMAGE : KIND_AUDIO;
    return read_bytes(content, "data", ret);
}

static int read_message(const struct manifest_entry *entry, const struct prompt *prompt,
                        struct message *ret)
{
    const struct manifest_names names = {is_argument, prompt, "an argument of the prompt"};
    const struct manifest_entry content = manifest_member(entry, "content");
    bool is_user = str_eq(manifest_str(entry, "role"), STR("user"));
    ret->role = is_user ? TENON_USER : TENON_ASSISTANT;
    return read_content(&content, &names, ret);
}

static int read_messages(const struct manifest_entry *entry, struct prompt *prompt)
{
    const struct tape_node *list = tape_get(entry->node, STR("messages"));
    const char *pointer = manifest_at(entry->m, entry->pointer, STR("messages"));
    const struct tape_node *node = list + 1;
    int result = 0, err = 0;
    prompt->messages = arena_zalloc(&entry->m->arena, list->n * sizeof *prompt->messages);
    if (!prompt->messages)
        return ERR_NO_MEMORY;
    prompt->n_messages = list->n;
    for (uint32_t i = 0; i < list->n && err != ERR_NO_MEMORY; i++, node = tape_next(node)) {
        const struct manifest_entry message = {entry->m, entry->tenon, node,
                                               manifest_at_n(entry->m, pointer, i)};
        err = read_message(&message, prompt, &prompt->messages[i]);
        result = err ? err : result;
    }
    return result;
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* What looks into a table may have to wait for a disk. */
static bool has_query(const struct prompt *prompt)
{
    for (uint32_t i = 0; i < prompt->n_arguments; i++)
        if (completion_is_query(&prompt->arguments[i].completion))
            return true;
    return false;
}

int manifest_add_prompt(const struct manifest_entry *entry)
{
    struct tenon_prompt_argument *shown = NULL;
    struct prompt *prompt = arena_zalloc(&entry->m->arena, sizeof *prompt);
    if (!prompt)
        return ERR_NO_MEMORY;
    int arguments = read_arguments(entry, prompt, &shown);
    int messages = arguments == ERR_NO_MEMORY ? 0 : read_messages(entry, prompt);
    if (arguments || messages)
        return arguments ? arguments : messages;
    const struct tenon_prompt added = {
        .name = manifest_text(entry, "name"),
        .title = manifest_text(entry, "title"),
        .description = manifest_text(entry, "description"),
        .arguments = shown,
        .n_arguments = prompt->n_arguments,
        .is_inline = !has_query(prompt),
        .render = render,
        .complete = complete,
        .ctx = prompt,
    };
    return manifest_added(entry->m, entry->tenon, entry->pointer,
                          tenon_add_prompt(entry->tenon, &added));
}
