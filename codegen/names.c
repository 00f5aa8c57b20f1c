/* codegen/names.c - see names.h. */
#include "codegen/names.h"

#include "codegen/fault.h"

#include <ctype.h>
#include <string.h>

static struct str without_prefix(struct str name)
{
    const char *slash = name.n ? memrchr(name.p, '/', name.n) : NULL;
    const char *dot = name.n ? memchr(name.p, '.', name.n) : NULL;
    if (!slash || !dot || dot > slash)
        return name;
    return (struct str){slash + 1, (uint32_t)(name.p + name.n - slash) - 1};
}

/* A new word starts at a capital behind a small letter, and at the last capital of a row of them:
 * URLElicitation is url_elicitation. */
static bool starts_word(struct str s, uint32_t i)
{
    unsigned char c = (unsigned char)s.p[i], before = (unsigned char)s.p[i - 1];
    unsigned char after = i + 1 < s.n ? (unsigned char)s.p[i + 1] : 0;
    return isupper(c) &&
           (islower(before) || isdigit(before) || (isupper(before) && islower(after)));
}

struct str name_snake(struct arena *arena, struct str name)
{
    struct str s = without_prefix(name);
    char *out = must(arena_alloc(arena, 2 * (size_t)s.n + 1));
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool plain = isalnum(c);
        if (n > 0 && out[n - 1] != '_' && (!plain || starts_word(s, i)))
            out[n++] = '_';
        if (plain)
            out[n++] = (char)tolower(c);
    }
    return (struct str){out, n};
}

struct str name_member(struct arena *arena, struct str name)
{
    static const char *const words[] = {
        "auto",     "bool",   "break",    "case",   "char",   "const",    "default",
        "do",       "double", "else",     "enum",   "extern", "float",    "for",
        "goto",     "if",     "inline",   "int",    "long",   "register", "return",
        "short",    "signed", "static",   "struct", "switch", "typedef",  "union",
        "unsigned", "void",   "volatile", "while",  "has",    "kind"};
    struct str snake = name_snake(arena, name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(snake, str_of(words[i])))
            return arena_printf(arena, STR_FMT "_", STR_ARG(snake));
    return snake;
}

struct str name_upper(struct arena *arena, struct str name)
{
    struct str s = name_snake(arena, name);
    char *out = must(arena_alloc(arena, (size_t)s.n + 1));
    for (uint32_t i = 0; i < s.n; i++)
        out[i] = (char)toupper((unsigned char)s.p[i]);
    return (struct str){out, s.n};
}

struct str name_nested(struct arena *arena, struct str owner, struct str member)
{
    struct str s = without_prefix(member);
    while (s.n > 0 && !isalnum((unsigned char)*s.p))
        s = (struct str){s.p + 1, s.n - 1};
    return arena_printf(arena, STR_FMT "%c" STR_FMT, STR_ARG(owner),
                        s.n ? toupper((unsigned char)*s.p) : 'X',
                        STR_ARG(((struct str){s.p + 1, s.n ? s.n - 1 : 0})));
}
