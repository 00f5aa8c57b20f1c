/* manifest/exec_argv.c - the words of a command for one call. Whatever an argument holds, it stays
 * within its word. */
#include "base/err.h"
#include "base/limits.h"
#include "manifest/exec_parts.h"

#include <stdio.h>
#include <string.h>

struct expanding {
    const struct exec *exec;
    const struct tape_node *args; /* NULL: none */
    struct arena *arena;
    struct exec_why *why;
    struct buf word;
    size_t n_bytes; /* of all words */
    bool after_dashes;
    char **argv;
    uint32_t n;
};

static int refuse(struct expanding *x, struct str name, const char *what)
{
    snprintf(x->why->text, sizeof x->why->text, "Argument " STR_FMT " %s", STR_ARG(name), what);
    return ERR_PARAMS;
}

static const struct tape_node *find(const struct expanding *x, struct str name)
{
    return x->args && x->args->kind == TAPE_OBJECT ? tape_get(x->args, name) : NULL;
}

/* A number with a minus is no option that an author would not expect. */
static bool is_dash(const struct expanding *x, const struct tape_node *value)
{
    return !x->exec->allows_dashes && !x->after_dashes && !x->word.n && value->kind == TAPE_STR &&
           value->n && value->v.s[0] == '-';
}

static int put(struct expanding *x, struct str name)
{
    const struct tape_node *value = find(x, name);
    if (!value)
        return refuse(x, name, "is missing");
    if (is_dash(x, value))
        return refuse(x, name, "must not begin with \"-\"");
    if (value->kind != TAPE_STR)
        tape_write(value, &x->word);
    else if (memchr(value->v.s, '\0', value->n))
        return refuse(x, name, "must not hold U+0000");
    else
        buf_add_str(&x->word, tape_str(value));
    if (x->word.n > EXEC_WORD_BYTES_MAX)
        return refuse(x, name, "is too long for a command");
    return 0;
}

static int keep_word(struct expanding *x)
{
    x->n_bytes += x->word.n + 1;
    if (x->n_bytes > EXEC_ARGV_BYTES_MAX) {
        snprintf(x->why->text, sizeof x->why->text, "The arguments are too long for a command");
        return ERR_PARAMS;
    }
    buf_add_char(&x->word, '\0');
    struct str kept = arena_buf(x->arena, &x->word);
    if (!kept.p)
        return ERR_NO_MEMORY;
    x->argv[x->n++] = (char *)(uintptr_t)kept.p;
    return 0;
}

static int expand_word(struct expanding *x, const struct placeholders *text)
{
    int err = 0;
    buf_clear(&x->word);
    for (uint32_t i = 0; err == 0 && i < text->n; i++) {
        if (text->v[i].is_name)
            err = put(x, text->v[i].text);
        else
            buf_add_str(&x->word, text->v[i].text);
    }
    if (err)
        return err;
    x->after_dashes |=
        placeholders_are_literal(text) && x->word.n == 2 && memcmp(x->word.p, "--", 2) == 0;
    return keep_word(x);
}

static bool is_there(const struct expanding *x, struct str name)
{
    const struct tape_node *value = find(x, name);
    return value && value->kind != TAPE_NULL;
}

static bool is_complete(const struct expanding *x, uint32_t group)
{
    for (uint32_t i = 0; i < x->exec->n_words; i++) {
        const struct exec_word *word = &x->exec->words[i];
        for (uint32_t j = 0; word->group == group && j < word->text.n; j++)
            if (word->text.v[j].is_name && !is_there(x, word->text.v[j].text))
                return false;
    }
    return true;
}

static int expand_all(struct expanding *x)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < x->exec->n_words; i++) {
        const struct exec_word *word = &x->exec->words[i];
        if (!word->group || is_complete(x, word->group))
            err = expand_word(x, &word->text);
    }
    return err;
}

int exec_expand(const struct exec *exec, const struct tape_node *args, struct arena *arena,
                char *const **ret, struct exec_why *ret_why)
{
    struct expanding x = {.exec = exec, .args = args, .arena = arena, .why = ret_why};
    x.argv = arena_zalloc(arena, (exec->n_words + 1) * sizeof *x.argv);
    int err = x.argv ? expand_all(&x) : ERR_NO_MEMORY;
    buf_done(&x.word);
    if (!err)
        *ret = x.argv;
    return err;
}
