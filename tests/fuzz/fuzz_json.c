/* tests/fuzz/fuzz_json.c - the two JSON readers must agree: the cold one (re2c and lemon) and the
 * hot one (hand-written scan).
 *
 * On every input: the same verdict. If both take it: the hot reader's span is the text without the
 * blanks around it, a string decodes to the same bytes, and the tape holds what the tree holds. The
 * tape may refuse it still, but only if the tree has a duplicate key or an infinite number.
 */
#include "base/json_tree.h"
#include "base/limits.h"
#include "wire/json_read.h"
#include "wire/tape.h"

#include <math.h>
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

static void compare_number(const struct json *tree, const struct tape_node *tape)
{
    if (tape->kind == TAPE_INT) {
        require(tree->v.num.d == (double)tape->v.i, "an integer's double");
        require(!tree->is_int || tree->v.num.i == tape->v.i, "an integer");
    } else {
        require(tape->kind == TAPE_NUM, "the kind of a number");
        require(memcmp(&tree->v.num.d, &tape->v.d, sizeof tape->v.d) == 0, "a double");
    }
}

static void compare_trees(const struct json *tree, const struct tape_node *tape);

/* The children of a container, which in the tape stand one behind the other, after their keys. */
static void compare_children(const struct json *tree, const struct tape_node *tape)
{
    const struct tape_node *at = tape + 1;
    require(tree->n == tape->n, "the number of children");
    json_each (child, tree) {
        if (tree->kind == JSON_OBJECT) {
            require(at->kind == TAPE_STR && str_eq(tape_str(at), child->key), "a key");
            at = tape_next(at);
        }
        compare_trees(child, at);
        at = tape_next(at);
    }
    require(at == tape + tape->v.size, "the size of a subtree");
}

static void compare_trees(const struct json *tree, const struct tape_node *tape)
{
    static const enum tape_kind kinds[] = {
        [JSON_NULL] = TAPE_NULL, [JSON_STR] = TAPE_STR,       [JSON_ARRAY] = TAPE_ARRAY,
        [JSON_BOOL] = TAPE_TRUE, [JSON_OBJECT] = TAPE_OBJECT,
    };
    if (tree->kind == JSON_NUM) {
        compare_number(tree, tape);
        return;
    }
    bool is_false = tree->kind == JSON_BOOL && !tree->v.b;
    require(tape->kind == (is_false ? TAPE_FALSE : kinds[tree->kind]), "the kind of a value");
    if (tree->kind == JSON_STR)
        require(str_eq(tree->v.s, tape_str(tape)), "a string of the tape");
    else if (tree->kind == JSON_ARRAY || tree->kind == JSON_OBJECT)
        compare_children(tree, tape);
}

static bool has_infinite(const struct json *tree)
{
    if (tree->kind == JSON_NUM)
        return isinf(tree->v.num.d);
    json_each (child, tree)
        if (has_infinite(child))
            return true;
    return false;
}

static bool has_duplicate(const struct json *tree)
{
    json_each (child, tree)
        if (has_duplicate(child))
            return true;
    return json_duplicate(tree) != NULL;
}

static void compare_tape(const struct json *tree, struct str text, struct arena *arena)
{
    const struct tape_node *tape = NULL;
    struct wire_fault fault;
    if (tape_open(text, arena, &tape, &fault) == 0) {
        require(!has_infinite(tree) && !has_duplicate(tree), "the tape takes too much");
        compare_trees(tree, tape);
    } else if (fault.reason == WIRE_DUPLICATE) {
        require(has_duplicate(tree), "a duplicate that is none");
    } else {
        require(fault.reason == WIRE_RANGE && has_infinite(tree), "the tape takes too little");
    }
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
    compare_tape(tree, text, arena);
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
