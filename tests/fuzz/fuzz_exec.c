/* tests/fuzz/fuzz_exec.c - on the first line the arguments of a call, on the second a member
 * `exec`, behind it what the command writes: as lines, and as one result. Nothing is run. */
#include "manifest/exec_parts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- What a call is given ------------------------------------------------------------------- */

static int take(const char *text)
{
    return text && strlen(text) > SIZE_MAX / 2 ? -1 : 0;
}

int tenon_text(struct tenon_call *call, const char *text)
{
    (void)call;
    return take(text);
}

int tenon_image(struct tenon_call *call, const char *mime_type, const void *data, size_t len)
{
    (void)call, (void)data, (void)len;
    return take(mime_type);
}

int tenon_audio(struct tenon_call *call, const char *mime_type, const void *data, size_t len)
{
    return tenon_image(call, mime_type, data, len);
}

int tenon_embed_text(struct tenon_call *call, const char *uri, const char *mime_type,
                     const char *text)
{
    (void)call;
    return take(uri) | take(mime_type) | take(text);
}

int tenon_embed_blob(struct tenon_call *call, const char *uri, const char *mime_type,
                     const void *data, size_t len)
{
    (void)call, (void)data, (void)len;
    return take(uri) | take(mime_type);
}

int tenon_link(struct tenon_call *call, const char *uri, const char *name, const char *title,
               const char *description, const char *mime_type)
{
    (void)call;
    return take(uri) | take(name) | take(title) | take(description) | take(mime_type);
}

int tenon_structured(struct tenon_call *call, const char *json)
{
    (void)call;
    return take(json);
}

int tenon_progress(struct tenon_call *call, double progress, double total, const char *message)
{
    (void)call, (void)progress, (void)total;
    return take(message);
}

int tenon_log(struct tenon_call *call, enum tenon_log_level level, const char *logger,
              const char *data)
{
    (void)call, (void)level;
    return take(logger) | take(data);
}

/* ---- Words ---------------------------------------------------------------------------------- */

static const struct tape_node *open_tape(struct str text, struct arena *arena)
{
    const struct tape_node *tape;
    char *padded = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!padded)
        return NULL;
    if (text.n)
        memcpy(padded, text.p, text.n);
    return tape_open((struct str){padded, text.n}, arena, &tape, NULL) == 0 ? tape : NULL;
}

/* No more words than the template has, and none that is an option by an argument. */
static void check_words(const struct exec *exec, char *const *argv)
{
    uint32_t n = 0;
    while (argv[n])
        n++;
    if (!n || n > exec->n_words)
        abort();
    for (uint32_t i = 0; !exec->words[i].group && i < n && i < exec->n_words; i++) {
        const struct placeholders *text = &exec->words[i].text;
        if (placeholders_are_literal(text) && text->n == 1 && text->v[0].text.n == 2)
            return; /* perhaps -- */
        if (!exec->allows_dashes && text->n == 1 && text->v[0].is_name && argv[i][0] == '-' &&
            (argv[i][1] < '0' || argv[i][1] > '9'))
            abort();
    }
}

static void expand(struct str exec_text, struct str args_text, struct arena *arena)
{
    struct json *tree, *input;
    struct json_error error;
    const struct exec *exec;
    struct exec_why why;
    char *const *argv;
    const struct str schema = STR("{\"required\":[\"a\",\"b\"],\"properties\":{\"c\":true}}");
    const struct tape_node *args = open_tape(args_text, arena);
    if (json_tree_parse(schema, arena, &input, &error) < 0 ||
        json_tree_parse(exec_text, arena, &tree, &error) < 0 ||
        exec_parse(tree, input, STR("fuzz"), STR("/tmp"), arena, &exec, &error) < 0)
        return;
    if (exec_expand(exec, args, arena, &argv, &why) == 0)
        check_words(exec, argv);
}

/* ---- Output --------------------------------------------------------------------------------- */

static void take_output(struct str output, struct arena *arena)
{
    struct exec_outcome outcome = {0};
    struct exec_why why;
    exec_give_text(NULL, output, arena, &outcome, &why);
    outcome = (struct exec_outcome){0};
    for (struct str rest = output; rest.p;)
        if (exec_take_line(NULL, str_cut(&rest, '\n'), arena, &outcome, &why) < 0)
            break;
    struct str text = exec_text(arena, output);
    if (text.p && strlen(text.p) != text.n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct str rest = {(const char *)data, (uint32_t)size};
    struct str args = str_cut(&rest, '\n');
    struct str exec = rest.p ? str_cut(&rest, '\n') : STR("");
    arena_init(&arena, 0);
    expand(exec, args, &arena);
    if (rest.p)
        take_output(rest, &arena);
    arena_done(&arena);
    return 0;
}
