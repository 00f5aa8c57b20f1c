/* tests/unit/test_json_suite.c - every JSON reader of Tenon against JSONTestSuite.
 *
 * y_ files must be taken, n_ files refused, for every reader of the table below. What the suite
 * leaves open (i_) is policy, and pinned: numbers out of range are taken, as their text is kept;
 * everything that is not well-formed UTF-8 or has half a surrogate pair is refused. That would be
 * 11 taken and 24 refused of 35; one more is refused here, 500 nested arrays, because
 * JSON_DEPTH_MAX is 128.
 */
#include "base/err.h"
#include "base/json_tree.h"
#include "base/limits.h"
#include "tests/shared.h"
#include "wire/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <string.h>

static bool cold_accepts(struct str text)
{
    struct arena arena;
    struct json *root;
    arena_init(&arena, 0);
    int err = json_tree_parse(text, &arena, &root, NULL);
    arena_done(&arena);
    return err == 0;
}

static bool hot_accepts(struct str text)
{
    struct str value;
    return wire_skip(text, &value, NULL, NULL) == 0;
}

static const struct reader {
    const char *name;
    bool (*accepts)(struct str text); /* JSON_PADDING_BYTES zero bytes stand behind it */
} readers[] = {
    {"json_tree_parse", cold_accepts},
    {"wire_skip", hot_accepts},
};

static const char *const open_cases_accepted[] = {
    "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json",
    "i_number_neg_int_huge_exp.json",    "i_number_pos_double_huge_exp.json",
    "i_number_real_neg_overflow.json",   "i_number_real_pos_overflow.json",
    "i_number_real_underflow.json",      "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",     "i_number_very_big_negative_int.json",
};

static bool is_wanted(const char *file)
{
    if (file[0] != 'i')
        return file[0] == 'y';
    for (size_t i = 0; i < sizeof open_cases_accepted / sizeof *open_cases_accepted; i++)
        if (strcmp(file, open_cases_accepted[i]) == 0)
            return true;
    return false;
}

static void read_padded(const char *folder, const char *file, struct buf *ret)
{
    char path[4096 + 256];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    while (buf_reserve(ret, 4096 + JSON_PADDING_BYTES)) {
        size_t got = fread(ret->p + ret->n, 1, 4096, f);
        if (!got)
            break;
        ret->n += got;
    }
    fclose(f);
    assert_false(ret->failed);
    memset(ret->p + ret->n, 0, JSON_PADDING_BYTES);
}

/* All files of one class ('y', 'n', 'i') through one reader; returns how many were judged. */
static int judge_class(const struct reader *reader, const char *folder, char class, int *ret_wrong)
{
    int n_files = 0, n_wrong = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != class || entry->d_name[1] != '_')
            continue;
        struct buf text = {0};
        read_padded(folder, entry->d_name, &text);
        n_files++;
        if (reader->accepts(buf_str(&text)) != is_wanted(entry->d_name)) {
            n_wrong++;
            print_message("# %s is wrong about %s\n", reader->name, entry->d_name);
        }
        buf_done(&text);
    }
    closedir(dir);
    *ret_wrong = n_wrong;
    return n_files;
}

static void judge(char class, int n_expected)
{
    const char *folder = shared_path("suites/JSONTestSuite/test_parsing");
    if (!folder)
        skip();
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        int n_wrong;
        assert_int_equal(judge_class(&readers[i], folder, class, &n_wrong), n_expected);
        assert_int_equal(n_wrong, 0);
    }
}

static void suite_y_files_are_accepted(void **state)
{
    (void)state;
    judge('y', 95);
}

static void suite_n_files_are_refused(void **state)
{
    (void)state;
    judge('n', 188);
}

static void suite_i_files_are_as_pinned(void **state)
{
    (void)state;
    judge('i', 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suite_y_files_are_accepted),
        cmocka_unit_test(suite_n_files_are_refused),
        cmocka_unit_test(suite_i_files_are_as_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
