/* tests/unit/test_json_schema_suite.c - the JSON-Schema-Test-Suite (../shared/suites): every case
 * of draft2020-12 and draft7, and of the optional ones those that we hold ourselves to.
 *
 * tests/schema_skips.txt lists what is not supported, one line each:
 *     FILE | CASE | TEST or * | REASON
 * A case that is listed must not pass, so the list cannot outlive its reasons. */
#include "base/err.h"
#include "schema/json_schema.h"
#include "tests/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <string.h>

#define SUITE      "suites/JSON-Schema-Test-Suite/tests"
#define N(array)   (sizeof(array) / sizeof *(array))
#define SKIPS_FILE "tests/schema_skips.txt"

/* ---- the list of what is skipped ------------------------------------------------------------ */

struct skip {
    struct str file, title, test;
    uint32_t n_used;
};

static struct skip skips[200];
static uint32_t n_skips;
static char skips_text[64 << 10];

static struct str next_field(struct str *rest)
{
    return str_trim(str_cut(rest, '|'));
}

static void load_skips(void)
{
    FILE *f = fopen(SKIPS_FILE, "rb");
    if (!f)
        fail_msg("%s cannot be read (tests run from the top of the repository)", SKIPS_FILE);
    struct str rest = {skips_text, (uint32_t)fread(skips_text, 1, sizeof skips_text, f)};
    fclose(f);
    for (n_skips = 0; rest.n && n_skips < N(skips);) {
        struct str line = str_cut(&rest, '\n');
        if (line.n == 0 || line.p[0] == '#')
            continue;
        struct skip *skip = &skips[n_skips++];
        *skip = (struct skip){.file = next_field(&line), .title = next_field(&line)};
        skip->test = next_field(&line);
        struct str reason = next_field(&line);
        if (!reason.n)
            fail_msg("%s: a line without a reason: " STR_FMT, SKIPS_FILE, STR_ARG(skip->title));
    }
}

static struct skip *find_skip(const char *file, struct str title, struct str test)
{
    for (uint32_t i = 0; i < n_skips; i++)
        if (str_eq(skips[i].file, str_of(file)) && str_eq(skips[i].title, title) &&
            (str_eq(skips[i].test, STR("*")) || str_eq(skips[i].test, test)))
            return &skips[i];
    return NULL;
}

/* ---- running -------------------------------------------------------------------------------- */

struct tally {
    uint32_t n_cases, n_passed, n_skipped, n_wrong;
};

static const struct tape_node *open_file(const char *path, struct arena *arena)
{
    struct wire_fault fault = {0};
    const struct tape_node *tape;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = arena_zalloc(arena, (size_t)size + JSON_PADDING_BYTES);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    fclose(f);
    if (tape_open((struct str){text, (uint32_t)size}, arena, &tape, &fault) < 0)
        fail_msg("%s: %s at %s", path, wire_reason_name(fault.reason), fault.pointer);
    return tape;
}

static struct str text_of(const struct tape_node *object, const char *key)
{
    return tape_str(tape_get(object, str_of(key)));
}

/* One test of a case: is the verdict the expected one? Faults and verdict must agree as well. */
static bool is_right(const struct json_schema *schema, const struct tape_node *test)
{
    struct schema_faults faults;
    const struct tape_node *data = tape_get(test, STR("data"));
    bool valid = tape_get(test, STR("valid"))->kind == TAPE_TRUE;
    int verdict = json_schema_check(schema, data, &faults);
    if (json_schema_check(schema, data, NULL) != verdict)
        fail_msg("quiet and loud disagree on " STR_FMT, STR_ARG(text_of(test, "description")));
    if ((verdict == ERR_PARAMS) != (faults.n > 0))
        fail_msg("%d with %u faults on " STR_FMT, verdict, faults.n,
                 STR_ARG(text_of(test, "description")));
    return verdict == (valid ? 0 : ERR_PARAMS);
}

static void judge(struct tally *tally, const char *file, struct str title,
                  const struct tape_node *test, const struct json_schema *schema,
                  const struct schema_faults *refused)
{
    struct str name = text_of(test, "description");
    bool right = schema && is_right(schema, test);
    struct skip *skip = find_skip(file, title, name);
    tally->n_cases++;
    tally->n_passed += right;
    tally->n_skipped += skip != NULL;
    if (skip)
        skip->n_used++;
    if (right == (skip == NULL))
        return;
    tally->n_wrong++;
    if (tally->n_wrong > 40)
        return;
    print_message("# %s: " STR_FMT ": " STR_FMT ": %s\n", file, STR_ARG(title), STR_ARG(name),
                  right     ? "passes but is listed as skipped"
                  : !schema ? "the schema is refused"
                            : "wrong verdict");
    if (!schema)
        print_message("#   %s %s: %s\n", refused->v[0].pointer, refused->v[0].keyword,
                      refused->v[0].expected);
}

static void run_case(struct tally *tally, const char *file, const struct tape_node *one,
                     const struct json_schema_options *options)
{
    struct arena arena;
    const struct json_schema *schema = NULL;
    struct schema_faults faults;
    arena_init(&arena, 0);
    int err = json_schema_compile(tape_get(one, STR("schema")), options, &arena, &schema, &faults);
    if (err && (err != ERR_PARAMS || faults.n == 0 || !faults.v[0].keyword))
        fail_msg("%s: " STR_FMT ": %d", file, STR_ARG(text_of(one, "description")), err);
    const struct tape_node *tests = tape_get(one, STR("tests")), *test = tests + 1;
    for (uint32_t i = 0; i < tests->n; i++, test = tape_next(test))
        judge(tally, file, text_of(one, "description"), test, schema, &faults);
    arena_done(&arena);
}

static void run_file(struct tally *tally, const char *file,
                     const struct json_schema_options *options)
{
    struct arena arena;
    char path[600];
    snprintf(path, sizeof path, SUITE "/%s", file);
    arena_init(&arena, 64u << 20);
    const struct tape_node *cases = open_file(shared_path(path), &arena), *one = cases + 1;
    for (uint32_t i = 0; i < cases->n; i++, one = tape_next(one))
        run_case(tally, file, one, options);
    arena_done(&arena);
}

/* Every skip of the folder's files must have met its case. */
static uint32_t count_stale(const char *folder)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_skips; i++) {
        if (skips[i].n_used || !str_starts_with(skips[i].file, str_of(folder)))
            continue;
        n++;
        print_message("# no such case: " STR_FMT ": " STR_FMT "\n", STR_ARG(skips[i].file),
                      STR_ARG(skips[i].title));
    }
    return n;
}

static void report(const char *what, const struct tally *tally)
{
    print_message("# %s: %u of %u cases pass, %u skipped\n", what, tally->n_passed, tally->n_cases,
                  tally->n_skipped);
    assert_int_equal(tally->n_wrong, 0);
    assert_true(tally->n_cases > 0);
}

static void run_draft(const char *draft, enum json_schema_dialect dialect, uint32_t n_cases)
{
    struct json_schema_options options = {dialect, false}; /* formats are annotations here */
    struct tally tally = {0};
    char path[300];
    snprintf(path, sizeof path, SUITE "/%s", draft);
    const char *folder = shared_path(path);
    if (!folder)
        skip();
    load_skips();
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t n = strlen(entry->d_name);
        if (n < 5 || strcmp(entry->d_name + n - 5, ".json") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", draft, entry->d_name);
        run_file(&tally, path, &options);
    }
    closedir(dir);
    snprintf(path, sizeof path, "%s/", draft);
    report(draft, &tally);
    assert_int_equal(count_stale(path), 0);
    assert_int_equal(tally.n_cases, n_cases);
}

static void run_optional(const char *what, const char *const *files, size_t n_files,
                         enum json_schema_dialect dialect, bool formats)
{
    struct json_schema_options options = {dialect, formats};
    struct tally tally = {0};
    if (!shared_path(SUITE))
        skip();
    load_skips();
    for (size_t i = 0; i < n_files; i++)
        run_file(&tally, files[i], &options);
    report(what, &tally);
}

/* ---- the tests ------------------------------------------------------------------------------ */

static void suite_draft2020_12(void **state)
{
    (void)state;
    run_draft("draft2020-12", JSON_SCHEMA_2020_12, 1299);
}

static void suite_draft7(void **state)
{
    (void)state;
    run_draft("draft7", JSON_SCHEMA_DRAFT_07, 927);
}

static void suite_formats_of_draft2020_12(void **state)
{
    (void)state;
    static const char *const files[] = {
        "draft2020-12/optional/format/email.json", "draft2020-12/optional/format/uri.json",
        "draft2020-12/optional/format/date.json",  "draft2020-12/optional/format/date-time.json",
        "draft2020-12/optional/format/uuid.json",  "draft2020-12/optional/format/ipv4.json",
        "draft2020-12/optional/format/ipv6.json",  "draft2020-12/optional/format/unknown.json",
    };
    run_optional("draft2020-12 formats", files, N(files), JSON_SCHEMA_2020_12, true);
}

static void suite_formats_of_draft7(void **state)
{
    (void)state;
    static const char *const files[] = {
        "draft7/optional/format/email.json",   "draft7/optional/format/uri.json",
        "draft7/optional/format/date.json",    "draft7/optional/format/date-time.json",
        "draft7/optional/format/ipv4.json",    "draft7/optional/format/ipv6.json",
        "draft7/optional/format/unknown.json",
    };
    run_optional("draft7 formats", files, N(files), JSON_SCHEMA_DRAFT_07, true);
}

static void suite_other_optional_cases(void **state)
{
    (void)state;
    static const char *const files[] = {
        "draft2020-12/optional/anchor.json",
        "draft2020-12/optional/bignum.json",
        "draft2020-12/optional/ecmascript-regex.json",
        "draft2020-12/optional/float-overflow.json",
        "draft2020-12/optional/id.json",
        "draft2020-12/optional/no-schema.json",
        "draft2020-12/optional/non-bmp-regex.json",
        "draft2020-12/optional/refOfUnknownKeyword.json",
        "draft2020-12/optional/unknownKeyword.json",
    };
    run_optional("draft2020-12 optional", files, N(files), JSON_SCHEMA_2020_12, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suite_draft2020_12),
        cmocka_unit_test(suite_draft7),
        cmocka_unit_test(suite_formats_of_draft2020_12),
        cmocka_unit_test(suite_formats_of_draft7),
        cmocka_unit_test(suite_other_optional_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
