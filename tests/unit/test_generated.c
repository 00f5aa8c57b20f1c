/* tests/unit/test_generated.c - the generated tables, read by the machine that they are made for.
 *
 * Walks every definition of every revision: golden instances survive parse, write, parse; each
 * object refuses what each of its rows forbids, and says where.
 */
#include "generated/golden.h"
#include "generated/methods.h"

#include "base/err.h"
#include "base/key_hash.h"
#include "wire/tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bench {
    struct arena arena;
    enum mcp_revision revision;
    enum mcp_definition definition;
    const struct wire_definition *d;
};

/* A copy with the zero bytes behind it that the reader wants. */
static struct str padded(struct arena *arena, struct str text)
{
    char *copy = arena_zalloc(arena, text.n + JSON_PADDING_BYTES);
    assert_non_null(copy);
    memcpy(copy, text.p, text.n);
    return (struct str){copy, text.n};
}

static void each_golden(void (*visit)(struct bench *b, struct str text))
{
    for (int r = 0; r < MCP_REVISIONS; r++)
        for (unsigned i = 0; i < mcp_golden[r].n * 2; i++) {
            const struct mcp_golden *golden = &mcp_golden[r].v[i / 2];
            struct bench b = {.revision = (enum mcp_revision)r, .definition = golden->definition};
            b.d = &mcp_definitions(b.revision)[golden->definition];
            arena_init(&b.arena, 0);
            visit(&b, padded(&b.arena, str_of(i % 2 ? golden->full : golden->smallest)));
            arena_done(&b.arena);
        }
}

static void explain(const struct bench *b, struct str text, const struct wire_fault *fault)
{
    print_error("%s %s: %s at %s, expected %s: " STR_FMT "\n", mcp_revision_name(b->revision),
                b->d->name, wire_reason_name(fault->reason), fault->pointer, fault->expected,
                STR_ARG(text));
}

static void goes_round(struct bench *b, struct str text)
{
    static union {
        uint64_t align;
        char bytes[4096];
    } value, again;
    struct wire_fault fault = {0};
    struct buf out = {0};
    assert_non_null(b->d->type);
    int err = mcp_parse(b->revision, b->definition, text, &b->arena, &value, &fault);
    if (err)
        explain(b, text, &fault);
    assert_int_equal(err, 0);
    assert_int_equal(mcp_check(b->revision, b->definition, text, NULL), 0);
    assert_int_equal(mcp_write(b->revision, b->definition, &value, &out), 0);
    if (!str_eq(buf_str(&out), text))
        print_error("%s: wrote " STR_FMT "\nread  " STR_FMT "\n", b->d->name,
                    STR_ARG(buf_str(&out)), STR_ARG(text));
    assert_true(str_eq(buf_str(&out), text));
    assert_int_equal(mcp_parse(b->revision, b->definition, padded(&b->arena, buf_str(&out)),
                               &b->arena, &again, &fault),
                     0);
    buf_done(&out);
}

static void golden_instances_go_round(void **state)
{
    (void)state;
    each_golden(goes_round);
}

/* ---- what each row forbids ------------------------------------------------------------------- */

static const struct wire_message *message_of(const struct wire_type *type)
{
    bool object = type->kind == WIRE_OBJECT || type->kind == WIRE_RAW;
    return object && type->container == WIRE_ONE ? type->of.message : NULL;
}

enum change { DROPPED, DOUBLED, OF_WRONG_TYPE, NULLED };

/* The golden object with one member changed. */
static struct str with_change(struct bench *b, const struct tape_node *object, struct str key,
                              enum change change, const char *wrong)
{
    struct buf out = {0};
    const char *between = "";
    buf_add_char(&out, '{');
    tape_each (object, name, value) {
        bool hit = str_eq(tape_str(name), key);
        if (hit && change == DROPPED)
            continue;
        buf_printf(&out, "%s\"" STR_FMT "\":", between, STR_ARG(tape_str(name)));
        if (hit && (change == OF_WRONG_TYPE || change == NULLED))
            buf_printf(&out, "%s", wrong);
        else
            tape_write(value, &out);
        if (hit && change == DOUBLED) {
            buf_printf(&out, ",\"" STR_FMT "\":", STR_ARG(tape_str(name)));
            tape_write(value, &out);
        }
        between = ",";
    }
    buf_add_char(&out, '}');
    struct str text = padded(&b->arena, buf_str(&out));
    buf_done(&out);
    return text;
}

/* RFC 6901. */
static void add_pointer(char *pointer, size_t size, struct str key)
{
    size_t n = 0;
    pointer[n++] = '/';
    for (uint32_t i = 0; i < key.n && n + 3 < size; i++) {
        if (key.p[i] == '/' || key.p[i] == '~') {
            pointer[n++] = '~';
            pointer[n++] = key.p[i] == '~' ? '0' : '1';
        } else {
            pointer[n++] = key.p[i];
        }
    }
    pointer[n] = 0;
}

static unsigned n_refusals;

static void refuses(struct bench *b, struct str text, struct str key, enum wire_reason reason)
{
    struct wire_fault fault = {0};
    char pointer[JSON_POINTER_BYTES];
    int err = mcp_check(b->revision, b->definition, text, &fault);
    add_pointer(pointer, sizeof pointer, key);
    if (err != ERR_PARAMS || fault.reason != reason || strcmp(fault.pointer, pointer) != 0) {
        explain(b, text, &fault);
        print_error("expected %s at %s, got %s\n", wire_reason_name(reason), pointer,
                    err_name(err));
    }
    assert_int_equal(err, ERR_PARAMS);
    assert_string_equal(fault.pointer, pointer);
    assert_int_equal(fault.reason, reason);
    n_refusals++;
}

/* A value that the row's type cannot be; NULL: it may be anything. */
static const char *wrong_for(const struct wire_type *type)
{
    if (type->container == WIRE_ARRAY || type->container == WIRE_MAP)
        return "true";
    if (type->kind != WIRE_RAW)
        return type->kind == WIRE_BOOL ? "\"x\"" : "true";
    return !(type->types & WIRE_T_BOOL)     ? "true"
           : !(type->types & WIRE_T_ARRAY)  ? "[]"
           : !(type->types & WIRE_T_OBJECT) ? "{}"
                                            : NULL;
}

static bool is_chosen(const struct wire_type *type)
{
    return type->container == WIRE_ONE && (type->kind == WIRE_CONST || type->kind == WIRE_ENUM);
}

static const char *other_choice(const struct wire_type *type)
{
    bool number = type->kind == WIRE_CONST && *type->of.literal != '"';
    return number ? "12345" : "\"no such choice\"";
}

static bool takes_null(const struct wire_type *type)
{
    return type->kind == WIRE_RAW && type->container == WIRE_ONE && type->types & WIRE_T_NULL;
}

static void row_refuses(struct bench *b, const struct tape_node *object,
                        const struct wire_message *message, const struct wire_row *row)
{
    struct str key = {row->name + 1, row->key_len};
    const char *wrong = wrong_for(&row->type);
    if (!tape_get(object, key))
        return;
    if (message->required >> row->bit & 1)
        refuses(b, with_change(b, object, key, DROPPED, NULL), key, WIRE_REQUIRED);
    refuses(b, with_change(b, object, key, DOUBLED, NULL), key, WIRE_DUPLICATE);
    if (wrong)
        refuses(b, with_change(b, object, key, OF_WRONG_TYPE, wrong), key, WIRE_TYPE);
    if (is_chosen(&row->type))
        refuses(b, with_change(b, object, key, OF_WRONG_TYPE, other_choice(&row->type)), key,
                WIRE_CHOICE);
    if (!takes_null(&row->type))
        assert_int_equal(mcp_check(b->revision, b->definition,
                                   with_change(b, object, key, NULLED, "null"), NULL),
                         ERR_PARAMS);
}

static void rows_refuse(struct bench *b, struct str text)
{
    const struct wire_message *message = message_of(b->d->type);
    const struct tape_node *object;
    if (!message || message->n_variants)
        return;
    assert_int_equal(tape_open(text, &b->arena, &object, NULL), 0);
    for (unsigned i = 0; i < message->n_rows; i++)
        row_refuses(b, object, message, &message->rows[i]);
}

static void each_row_refuses_what_it_forbids(void **state)
{
    (void)state;
    n_refusals = 0;
    each_golden(rows_refuse);
    print_message("# %u refusals\n", n_refusals);
    assert_true(n_refusals > 5000);
}

/* ---- the tables themselves ------------------------------------------------------------------- */

static void hash_finds_every_row(void **state)
{
    (void)state;
    for (int r = 0; r < MCP_REVISIONS; r++)
        for (int d = 0; d < MCP_DEFINITIONS; d++) {
            const struct wire_type *type = mcp_type((enum mcp_revision)r, (enum mcp_definition)d);
            const struct wire_message *m = type ? message_of(type) : NULL;
            for (unsigned i = 0; m && i < m->n_rows; i++) {
                uint32_t hash = key_hash(m->rows[i].name + 1, m->rows[i].key_len);
                assert_int_equal(
                    m->hash_index[key_hash_slot(hash, m->hash_multiplier, m->hash_bits)], i + 1);
            }
        }
}

static void bits_of_members_agree_with_the_tables(void **state)
{
    (void)state;
    struct arena arena;
    struct mcp_tool tool;
    arena_init(&arena, 0);
    struct str text = padded(&arena, STR("{\"name\":\"n\",\"title\":\"t\",\"inputSchema\":"
                                         "{\"type\":\"object\"}}"));
    assert_int_equal(mcp_parse_tool(MCP_2025_06_18, text, &arena, &tool, NULL), 0);
    assert_true(tool.has_name && tool.has_title && tool.has_input_schema);
    assert_false(tool.has_description || tool.has_annotations);
    assert_true(str_eq(tool.title, STR("t")));
    assert_int_equal(mcp_parse_tool(MCP_2025_03_26, text, &arena, &tool, NULL), 0);
    assert_false(tool.has_title); /* an older revision does not know it */
    arena_done(&arena);
}

static void names_are_found(void **state)
{
    (void)state;
    enum mcp_revision revision;
    for (int m = 0; m < MCP_METHODS; m++)
        assert_int_equal(mcp_method_find(str_of(mcp_method_name((enum mcp_method)m))), m);
    assert_int_equal(mcp_method_find(STR("tools/cal")), MCP_METHODS);
    assert_int_equal(mcp_method_find(STR("tools/calls")), MCP_METHODS);
    assert_int_equal(mcp_method_find(STR("")), MCP_METHODS);
    assert_int_equal(mcp_method_find(STR("ping\0")), MCP_METHODS);
    assert_int_equal(mcp_method_find(STR("PING")), MCP_METHODS);
    assert_int_equal(mcp_revision_find(STR("2025-06-18"), &revision), 0);
    assert_int_equal(revision, MCP_2025_06_18);
    assert_int_equal(mcp_revision_find(STR("2024-11-05"), &revision), ERR_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_instances_go_round),
        cmocka_unit_test(each_row_refuses_what_it_forbids),
        cmocka_unit_test(hash_finds_every_row),
        cmocka_unit_test(bits_of_members_agree_with_the_tables),
        cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
