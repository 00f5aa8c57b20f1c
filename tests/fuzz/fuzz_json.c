/* tests/fuzz/fuzz_json.c - the two JSON readers must agree: the cold one (re2c and lemon) and the
 * hot one (hand-written scan).
 *
 * On every input: the same verdict. If both take it: the hot reader's span is the text without the
 * blanks around it, and a string decodes to the same bytes.
 */
#include "base/json_tree.h"
#include "base/limits.h"
#include "wire/json_read.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "the readers disagree: %s\n", what);
    abort();
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct str without_blanks(struct str text)
{
    while (text.n && is_blank(text.p[0]))
        text.p++, text.n--;
    while (text.n && is_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

static void compare(struct str text, struct arena *arena)
{
    struct json *tree = NULL;
    struct json_error error;
    struct wire_fault fault;
    struct str span = STR_NONE, decoded = STR_NONE;
    bool cold = json_tree_parse(text, arena, &tree, &error) == 0;
    bool hot = wire_skip(text, &span, NULL, &fault) == 0;
    require(cold == hot, cold ? "only the cold one takes it" : "only the hot one takes it");
    if (!cold)
        return;
    require(str_eq(span, without_blanks(text)), "the span");
    if (tree->kind == JSON_STR) {
        require(wire_decode_string(span, arena, &decoded) == 0, "decoding fails");
        require(str_eq(decoded, tree->v.s), "the decoded string");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    char *text = calloc(1, size + JSON_PADDING_BYTES);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    arena_init(&arena, 256 << 20);
    compare((struct str){text, (uint32_t)size}, &arena);
    arena_done(&arena);
    free(text);
    return 0;
}
