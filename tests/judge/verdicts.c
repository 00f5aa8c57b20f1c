/* tests/judge/verdicts.c - the tables' verdict on each line of stdin, for an outside judge.
 *
 *   verdicts REVISION < lines "Definition<tab>JSON"
 *
 * Answers each line with "ok", with the fault ("type /params/x at 17: expected string"), or with
 * "no table" for a definition that the overlay leaves out. What is right has to be read, written
 * and found right again; a reader that says something else than the check is a fault of its own.
 */
#include "base/err.h"
#include "base/limits.h"
#include "generated/edges.h"
#include "generated/methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wire_type *find_type(enum mcp_revision revision, struct str name)
{
    const struct wire_definition *definitions = mcp_definitions(revision);
    for (int i = 0; i < MCP_DEFINITIONS; i++)
        if (definitions[i].type && str_eq(name, str_of(definitions[i].name)))
            return definitions[i].type;
    return NULL;
}

static void print_fault(const struct wire_fault *fault)
{
    printf("%s %s at %u: expected %s\n", wire_reason_name(fault->reason), fault->pointer,
           fault->offset, fault->expected);
}

static void pad(struct buf *text)
{
    if (buf_reserve(text, JSON_PADDING_BYTES))
        memset(text->p + text->n, 0, JSON_PADDING_BYTES);
}

/* Writes what was read and asks again. */
static const char *write_and_check(const struct wire_type *type, const void *value)
{
    struct buf text = {0};
    const char *answer = "ok";
    if (wire_write(type, value, &text))
        answer = "what was read cannot be written";
    pad(&text);
    if (text.failed)
        answer = "out of memory";
    else if (*answer == 'o' && wire_check(type, buf_str(&text), NULL))
        answer = "what was written is refused";
    buf_done(&text);
    return answer;
}

static void judge(const struct wire_type *type, struct str text)
{
    static _Alignas(16) char value[16384]; /* far more than the largest struct */
    struct wire_fault check_fault, parse_fault;
    struct arena arena;
    arena_init(&arena, 0);
    int check_err = wire_check(type, text, &check_fault);
    int parse_err = wire_parse(type, text, &arena, value, &parse_fault);
    if (check_err != parse_err)
        printf("check says %s, parse says %s\n", err_name(check_err), err_name(parse_err));
    else if (check_err)
        print_fault(&check_fault);
    else
        printf("%s\n", write_and_check(type, value));
    arena_done(&arena);
}

static void judge_line(enum mcp_revision revision, char *line, size_t len)
{
    struct str text = {line, (uint32_t)len}, name = str_cut(&text, '\t');
    const struct wire_type *type = find_type(revision, name);
    struct buf padded = {0};
    buf_add_str(&padded, text);
    pad(&padded);
    if (!type)
        printf("no table\n");
    else if (!padded.failed)
        judge(type, buf_str(&padded));
    buf_done(&padded);
}

int main(int argc, char **argv)
{
    enum mcp_revision revision;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    if (argc != 2 || mcp_revision_find(str_of(argv[1]), &revision)) {
        fprintf(stderr, "usage: verdicts REVISION < lines\n");
        return 2;
    }
    while ((len = getline(&line, &cap, stdin)) > 0)
        judge_line(revision, line, (size_t)len - (line[len - 1] == '\n'));
    free(line);
    return 0;
}
