/* cli_print.c - JSON as people like to read it: two spaces per level, one member or item a line;
 * what is empty stays on its line, and so does an array of scalars.
 */
#include "cli_data.h"

#include <string.h>

/* The length of the string that begins here, with its quotes. */
static uint32_t string_length(struct str rest)
{
    uint32_t i = 1;
    while (i < rest.n && rest.p[i] != '"')
        i += rest.p[i] == '\\' ? 2 : 1;
    return i < rest.n ? i + 1 : rest.n;
}

/* The length of the array that begins here, if it holds no containers; else 0. */
static uint32_t flat_length(struct str rest)
{
    uint32_t i = 1;
    while (i < rest.n && rest.p[i] != ']') {
        if (rest.p[i] == '{' || rest.p[i] == '[')
            return 0;
        i += rest.p[i] == '"' ? string_length((struct str){rest.p + i, rest.n - i}) : 1;
    }
    return i < rest.n ? i + 1 : 0;
}

static void break_line(FILE *out, int depth)
{
    fprintf(out, "\n%*s", 2 * depth, "");
}

/* A flat array, or a string, as it is but with a blank behind each comma. */
static void put_flat(struct str text, FILE *out)
{
    for (uint32_t i = 0; i < text.n; i++) {
        uint32_t n = text.p[i] == '"' ? string_length((struct str){text.p + i, text.n - i}) : 1;
        fwrite(text.p + i, 1, n, out);
        if (text.p[i] == ',')
            fputc(' ', out);
        i += n - 1;
    }
}

/* How much of it stays on the line as it is; 0: this character moves lines. */
static uint32_t piece_length(struct str rest)
{
    if (*rest.p == '"')
        return string_length(rest);
    if (*rest.p == '[')
        return flat_length(rest);
    return rest.n > 1 && rest.p[0] == '{' && rest.p[1] == '}' ? 2
           : strchr("{}],:", *rest.p)                         ? 0
                                                              : 1;
}

static void put_mark(char mark, int *depth, FILE *out)
{
    bool opens = mark == '{' || mark == '[', closes = mark == '}' || mark == ']';
    *depth += opens - closes;
    if (closes)
        break_line(out, *depth);
    fputc(mark, out);
    if (opens || mark == ',')
        break_line(out, *depth);
    else if (mark == ':')
        fputc(' ', out);
}

void cli_print_json(struct str json, FILE *out)
{
    int depth = 0;
    for (uint32_t at = 0; at < json.n;) {
        struct str rest = {json.p + at, json.n - at};
        uint32_t n = piece_length(rest);
        if (n)
            put_flat((struct str){rest.p, n}, out);
        else
            put_mark(*rest.p, &depth, out);
        at += n ? n : 1;
    }
    fputc('\n', out);
}
