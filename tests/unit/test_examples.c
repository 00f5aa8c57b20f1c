/* tests/unit/test_examples.c - the official examples of 2026-07-28, each by its definition's table:
 * accepted, and the same JSON after parse and write.
 */
#include "generated/edges.h"

#include "base/err.h"
#include "tests/shared.h"
#include "wire/tape.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EXAMPLES_MIN 129

static char *read_text(const char *path, struct str *ret)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, (256u << 10) + JSON_PADDING_BYTES);
    assert_non_null(text);
    size_t n = fread(text, 1, 256u << 10, file);
    fclose(file);
    *ret = (struct str){text, (uint32_t)n};
    return text;
}

static int definition_of(const char *name)
{
    for (int d = 0; d < MCP_DEFINITIONS; d++) {
        const struct wire_definition *definition = &mcp_definitions(MCP_2026_07_28)[d];
        if (definition->type && strcmp(definition->name, name) == 0)
            return d;
    }
    fail_msg("no definition is called %s", name);
    return -1;
}

/* Equal but for members that the tables do not know: what was written is part of what was read. */
static bool is_part(const struct tape_node *part, const struct tape_node *whole);

static bool items_are_parts(const struct tape_node *part, const struct tape_node *whole)
{
    const struct tape_node *a = part + 1, *b = whole + 1;
    for (uint32_t i = 0; i < part->n; i++, a = tape_next(a), b = tape_next(b))
        if (!is_part(a, b))
            return false;
    return true;
}

static bool is_part(const struct tape_node *part, const struct tape_node *whole)
{
    if (part->kind == TAPE_ARRAY && whole->kind == TAPE_ARRAY)
        return part->n == whole->n && items_are_parts(part, whole);
    if (part->kind != TAPE_OBJECT || whole->kind != TAPE_OBJECT)
        return tape_equal(part, whole);
    tape_each (part, key, value) {
        const struct tape_node *other = tape_get(whole, tape_str(key));
        if (!other || !is_part(value, other))
            return false;
    }
    return true;
}

static void example_is_accepted(const char *path, const char *name)
{
    static union {
        uint64_t align;
        char bytes[4096];
    } value;
    enum mcp_definition d = (enum mcp_definition)definition_of(name);
    struct wire_fault fault = {0};
    struct arena arena;
    struct str text;
    struct buf out = {0};
    const struct tape_node *read, *wrote;
    char *memory = read_text(path, &text);
    arena_init(&arena, 0);
    int err = mcp_parse(MCP_2026_07_28, d, text, &arena, &value, &fault);
    if (err)
        print_error("%s: %s at %s, expected %s\n", path, wire_reason_name(fault.reason),
                    fault.pointer, fault.expected);
    assert_int_equal(err, 0);
    assert_int_equal(mcp_check(MCP_2026_07_28, d, text, NULL), 0);
    assert_int_equal(mcp_write(MCP_2026_07_28, d, &value, &out), 0);
    assert_true(buf_reserve(&out, JSON_PADDING_BYTES));
    memset(out.p + out.n, 0, JSON_PADDING_BYTES);
    assert_int_equal(tape_open(text, &arena, &read, NULL), 0);
    assert_int_equal(tape_open(buf_str(&out), &arena, &wrote, NULL), 0);
    assert_true(is_part(wrote, read));
    buf_done(&out);
    arena_done(&arena);
    free(memory);
}

static unsigned each_file(const char *folder, const char *name)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[4608];
        if (!strstr(entry->d_name, ".json"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        example_is_accepted(path, name);
        n++;
    }
    closedir(dir);
    return n;
}

static void official_examples_are_accepted(void **state)
{
    (void)state;
    unsigned n = 0;
    const char *shared = shared_path("spec/examples/2026-07-28");
    if (!shared)
        skip();
    char root[4096];
    snprintf(root, sizeof root, "%s", shared);
    DIR *dir = opendir(root);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char folder[4352];
        if (*entry->d_name == '.')
            continue;
        snprintf(folder, sizeof folder, "%s/%s", root, entry->d_name);
        n += each_file(folder, entry->d_name);
    }
    closedir(dir);
    print_message("# %u examples\n", n);
    assert_true(n >= EXAMPLES_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(official_examples_are_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
