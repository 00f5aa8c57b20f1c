/* manifest/exec_parse.c - reads the member `exec` of a manifest's tool; see exec.h.
 *
 * Whatever can be known to fail is refused here, so that it is read at the start with its line, and
 * not by a model in the middle of its work: a program that is not there, an argument that may be
 * absent where a word must stand.
 */
#include "base/err.h"
#include "base/limits.h"
#include "manifest/exec_parts.h"
#include "manifest/refuse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static const char *const members[] = {"argv",     "stdin",       "output", "timeoutMs",
                                      "maxBytes", "environment", "dashes"};
static const char *const outputs[] = {"text", "json", "lines"};
static const char *const inputs[] = {"none", "arguments"};
static const char *const passed_by_default[] = {"PATH", "HOME", "LANG", "TZ"};

#define N(array) (sizeof(array) / sizeof *(array))

struct reading {
    const struct json *input; /* inputSchema */
    struct str folder;
    struct arena *arena;
    struct json_error *error;
    struct exec *exec;
    struct exec_word *words;
    char **environment;
    uint32_t n_environment;
};

/* ---- Words ---------------------------------------------------------------------------------- */

static bool is_required(const struct json *input, struct str name)
{
    json_each (required, json_get(input, STR("required")))
        if (str_eq(json_str(required), name))
            return true;
    return false;
}

static int check_name(const struct reading *r, const struct json *at, struct str name,
                      bool is_in_group)
{
    if (!is_in_group && !is_required(r->input, name))
        return manifest_refuse(r->error, at,
                               "argument " STR_FMT " may be absent: expected it in `required` of "
                               "the inputSchema, or the word in a list within argv",
                               STR_ARG(name));
    if (is_in_group && !is_required(r->input, name) &&
        !json_get(json_get(r->input, STR("properties")), name))
        return manifest_refuse(r->error, at, "the inputSchema has no property " STR_FMT,
                               STR_ARG(name));
    return 0;
}

static int read_word(struct reading *r, const struct json *word, uint32_t group)
{
    struct exec_word *to = &r->words[r->exec->n_words];
    const char *what = NULL;
    struct str text = json_str(word);
    if (!text.p || memchr(text.p, '\0', text.n))
        return manifest_refuse(r->error, word, "argv: expected a string without U+0000");
    if (r->exec->n_words == EXEC_WORDS_MAX)
        return manifest_refuse(r->error, word, "argv: expected at most %d words", EXEC_WORDS_MAX);
    int err = placeholders_parse(text, r->arena, &to->text, &what);
    if (err == ERR_SYNTAX)
        return manifest_refuse(r->error, word, "argv: %s", what);
    for (uint32_t i = 0; err == 0 && i < to->text.n; i++)
        if (to->text.v[i].is_name)
            err = check_name(r, word, to->text.v[i].text, group);
    to->group = group;
    r->exec->n_words += err == 0;
    return err;
}

static bool has_names(const struct exec_word *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!placeholders_are_literal(&words[i].text))
            return true;
    return false;
}

static int read_group(struct reading *r, const struct json *list, uint32_t group)
{
    uint32_t first = r->exec->n_words;
    int err = 0;
    json_each (word, list) {
        err = read_word(r, word, group);
        if (err)
            return err;
    }
    if (!has_names(r->words + first, r->exec->n_words - first))
        return manifest_refuse(r->error, list, "argv: expected an {{argument}} in this list");
    return 0;
}

static int read_words(struct reading *r, const struct json *argv)
{
    uint32_t group = 0;
    int err = 0;
    r->words = arena_array(r->arena, EXEC_WORDS_MAX, sizeof *r->words);
    if (!r->words)
        return ERR_NO_MEMORY;
    r->exec->words = r->words;
    json_each (word, argv) {
        err = word->kind == JSON_ARRAY ? read_group(r, word, ++group) : read_word(r, word, 0);
        if (err)
            return err;
    }
    return 0;
}

/* ---- The environment ------------------------------------------------------------------------ */

static bool is_variable_name(struct str name)
{
    for (uint32_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (!i || c < '0' || c > '9'))
            return false;
    }
    return name.n;
}

static const char *find_variable(const struct reading *r, struct str name)
{
    for (uint32_t i = 0; i < r->n_environment; i++) {
        const char *entry = r->environment[i];
        if (strncmp(entry, name.p, name.n) == 0 && entry[name.n] == '=')
            return entry + name.n + 1;
    }
    return NULL;
}

static int add_variable(struct reading *r, struct str entry)
{
    struct str kept = arena_str(r->arena, entry);
    if (!kept.p)
        return ERR_NO_MEMORY;
    r->environment[r->n_environment++] = (char *)(uintptr_t)kept.p;
    return 0;
}

/* What the server does not have is not passed on; but a program needs a PATH. */
static int pass_variable(struct reading *r, struct str name)
{
    const char *value = getenv(name.p);
    if (!value && str_eq(name, STR("PATH")))
        value = DEFAULT_PATH;
    if (!value)
        return 0;
    struct str entry = arena_printf(r->arena, STR_FMT "=%s", STR_ARG(name), value);
    return entry.p ? add_variable(r, entry) : ERR_NO_MEMORY;
}

static int read_variable(struct reading *r, const struct json *entry)
{
    struct str text = json_str(entry), rest = text;
    struct str name = text.p ? str_cut(&rest, '=') : STR_NONE;
    if (!is_variable_name(name) || memchr(text.p, '\0', text.n))
        return manifest_refuse(r->error, entry, "environment: expected \"NAME\" or \"NAME=value\"");
    if (find_variable(r, name))
        return manifest_refuse(r->error, entry, "environment: " STR_FMT " stands there already",
                               STR_ARG(name));
    return rest.p ? add_variable(r, text) : pass_variable(r, text);
}

static int read_environment(struct reading *r, const struct json *list)
{
    int err = 0;
    if (list && list->kind != JSON_ARRAY)
        return manifest_refuse(r->error, list, "environment: expected an array");
    size_t n = list ? list->n : N(passed_by_default);
    r->environment = arena_zalloc(r->arena, (n + 1) * sizeof *r->environment);
    if (!r->environment)
        return ERR_NO_MEMORY;
    for (size_t i = 0; !list && err == 0 && i < n; i++)
        err = pass_variable(r, str_of(passed_by_default[i]));
    json_each (entry, list) {
        err = read_variable(r, entry);
        if (err)
            return err;
    }
    r->exec->environment = r->environment;
    return err;
}

/* ---- The program ---------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Absent: no memory. The caller looks whether it is one. */
static struct str find_in_path(const struct reading *r, struct str name)
{
    const char *path = find_variable(r, STR("PATH"));
    struct str rest = str_of(path ? path : DEFAULT_PATH), found = STR("");
    while (rest.p) {
        struct str folder = str_cut(&rest, ':');
        if (!folder.n || folder.p[0] != '/')
            continue;
        found = arena_printf(r->arena, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(name));
        if (!found.p || is_program(found.p))
            break;
    }
    return found;
}

static int find_program(struct reading *r, const struct json *word)
{
    struct str name = json_str(word);
    if (!name.n || !placeholders_are_literal(&r->words[0].text))
        return manifest_refuse(r->error, word, "argv: expected a program, without {{argument}}");
    bool has_slash = memchr(name.p, '/', name.n);
    struct str path =
        name.p[0] == '/' ? name
        : has_slash ? arena_printf(r->arena, STR_FMT "/" STR_FMT, STR_ARG(r->folder), STR_ARG(name))
                    : find_in_path(r, name);
    if (!path.p)
        return ERR_NO_MEMORY;
    if (!is_program(path.p))
        return manifest_refuse(r->error, word, "argv: there is no program " STR_FMT "%s",
                               STR_ARG(name), has_slash ? "" : " in PATH");
    r->exec->program = path.p;
    return 0;
}

/* ---- All of it ------------------------------------------------------------------------------ */

static int read_settings(struct reading *r, const struct json *exec)
{
    unsigned output = EXEC_TEXT, input = 1;
    int64_t bytes_max = EXEC_OUTPUT_BYTES;
    struct exec *to = r->exec;
    int err = manifest_read_choice(exec, STR("output"), outputs, N(outputs), &output, r->error);
    if (!err)
        err = manifest_read_choice(exec, STR("stdin"), inputs, N(inputs), &input, r->error);
    if (!err)
        err = manifest_read_int(exec, STR("timeoutMs"), 1, EXEC_TIMEOUT_MAX_MS, &to->timeout_ms,
                                r->error);
    if (!err)
        err = manifest_read_int(exec, STR("maxBytes"), 1, EXEC_OUTPUT_BYTES_MAX, &bytes_max,
                                r->error);
    if (!err)
        err = manifest_read_bool(exec, STR("dashes"), &to->allows_dashes, r->error);
    to->output = output;
    to->wants_arguments = input;
    to->bytes_max = (size_t)bytes_max;
    return err;
}

static int read_all(struct reading *r, const struct json *exec)
{
    const struct json *argv = json_get(exec, STR("argv"));
    if (exec->kind != JSON_OBJECT)
        return manifest_refuse(r->error, exec, "exec: expected an object");
    int err = manifest_check_members(exec, members, N(members), r->error);
    if (err)
        return err;
    if (!argv || argv->kind != JSON_ARRAY || !argv->n)
        return manifest_refuse(r->error, argv ? argv : exec, "argv: expected a list of words");
    err = read_settings(r, exec);
    if (!err)
        err = read_environment(r, json_get(exec, STR("environment")));
    if (!err)
        err = read_words(r, argv);
    return err ? err : find_program(r, json_first(argv));
}

int exec_parse(const struct json *exec, const struct json *input, struct str tool,
               struct str folder, struct arena *arena, const struct exec **ret,
               struct json_error *error)
{
    struct reading r = {.input = input, .folder = folder, .arena = arena, .error = error};
    r.exec = arena_zalloc(arena, sizeof *r.exec);
    if (!r.exec)
        return ERR_NO_MEMORY;
    r.exec->timeout_ms = EXEC_TIMEOUT_MS;
    r.exec->tool = arena_str(arena, tool);
    r.exec->folder = arena_str(arena, folder).p;
    if (!r.exec->tool.p || !r.exec->folder)
        return ERR_NO_MEMORY;
    int err = read_all(&r, exec);
    if (!err)
        *ret = r.exec;
    return err;
}
