/* tests/unit/test_records.c - records of each format as a stream, and every fault by its line. */
#include "records.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct buf rows; /* "LINE:json;" of each record */
    struct record_fault fault;
    int n_faults;
};

static uint8_t types(void *ctx, struct str column)
{
    (void)ctx;
    return str_eq(column, STR("n"))      ? WIRE_T_INTEGER
           : str_eq(column, STR("x"))    ? WIRE_T_NUMBER | WIRE_T_NULL
           : str_eq(column, STR("yes"))  ? WIRE_T_BOOL
           : str_eq(column, STR("list")) ? WIRE_T_ARRAY
           : str_eq(column, STR("both")) ? WIRE_T_STRING | WIRE_T_INTEGER
                                         : WIRE_T_STRING;
}

/* Reads all of the text; faults that are not fatal are counted and passed. */
static struct run read_all(enum record_format format, const char *root, const char *text, size_t n)
{
    struct run run = {0};
    struct arena arena;
    struct record record;
    FILE *file = n ? fmemopen((void *)(uintptr_t)text, n, "r") : fopen("/dev/null", "r");
    struct record_options options = {.format = format, .root = root, .types = types};
    struct record_reader *reader = records_new(file, &options);
    arena_init(&arena, 0);
    int got;
    while ((got = records_next(reader, &arena, &record, &run.fault)) != 0) {
        if (got < 0) {
            run.n_faults++;
            continue;
        }
        buf_printf(&run.rows, "%llu:", (unsigned long long)record.line);
        tape_write(record.row, &run.rows);
        buf_add_char(&run.rows, ';');
        arena_reset(&arena);
    }
    buf_add_char(&run.rows, '\0');
    records_free(reader);
    arena_done(&arena);
    fclose(file);
    return run;
}

static void expect(enum record_format format, const char *root, const char *text, const char *rows)
{
    struct run run = read_all(format, root, text, strlen(text));
    if (run.n_faults)
        fail_msg("%s: line %llu: %s", text, (unsigned long long)run.fault.line, run.fault.text);
    assert_string_equal(run.rows.p, rows);
    buf_done(&run.rows);
}

static void a_json_array_is_cut_into_records(void **state)
{
    (void)state;
    expect(RECORDS_JSON, NULL, "[]", "");
    expect(RECORDS_JSON, NULL, "\xef\xbb\xbf [ ] \n", "");
    expect(RECORDS_JSON, NULL, "[{\"a\":1},\n\n {\"b\":\n[\"]}\",{}]}\n]",
           "1:{\"a\":1};3:{\"b\":[\"]}\",{}]};");
    expect(RECORDS_JSON, NULL, "[{\"a\":\"\\\"\\\\\"},{\"b\":\"\\u005d\"}]",
           "1:{\"a\":\"\\\"\\\\\"};1:{\"b\":\"]\"};");
}

static void a_root_leads_to_the_array(void **state)
{
    (void)state;
    expect(RECORDS_JSON, "/b/c/d",
           "{\"a\":[{\"b\":1}],\n\"b\":{\"x\":\"}\",\"c\\/"
           "d\":[1],\n\"c\":{\"d\":[{\"k\":1}],\"e\":2}}}",
           "3:{\"k\":1};");
    expect(RECORDS_JSON, "/c~1d", "{\"c/d\":[{}]}", "1:{};");
    expect(RECORDS_JSON, "/", "{\"\":[{}]}", "1:{};");
    expect(RECORDS_JSON, "", "[{}]", "1:{};");
}

static void ndjson_is_one_record_a_line(void **state)
{
    (void)state;
    expect(RECORDS_NDJSON, NULL, "", "");
    expect(RECORDS_NDJSON, NULL, "{\"a\":1}\n\n  \r\n{\"b\":2}\r\n{\"c\":3}",
           "1:{\"a\":1};4:{\"b\":2};5:{\"c\":3};");
}

static void csv_cells_take_the_type_of_their_attribute(void **state)
{
    (void)state;
    expect(RECORDS_CSV, NULL, "s,n,x,yes,list,both\na,1, 1.5 ,true,\"[1,\"\"b\"\"]\",7\n",
           "2:{\"s\":\"a\",\"n\":1,\"x\":1.5,\"yes\":true,\"list\":[1,\"b\"],\"both\":7};");
    expect(RECORDS_CSV, NULL, "both\r\n7a\r\n", "2:{\"both\":\"7a\"};");
    expect(RECORDS_CSV, NULL, "s,t\n007,\"\"\n,x\n",
           "2:{\"s\":\"007\",\"t\":\"\"};3:{\"t\":\"x\"};");
    expect(RECORDS_CSV, NULL, "s\n a \n\"a, \"\"b\"\"\nc\"\n\nd",
           "2:{\"s\":\" a \"};3:{\"s\":\"a, \\\"b\\\"\\nc\"};6:{\"s\":\"d\"};");
    expect(RECORDS_CSV, NULL, "s\ra\rb\r", "1:{\"s\":\"a\"};1:{\"s\":\"b\"};");
}

static const struct {
    enum record_format format;
    const char *root, *text;
    uint64_t line;
    bool fatal;
    const char *says;
} wrong[] = {
    {RECORDS_JSON, NULL, "", 1, true, "expected '[': an array of records, found the end"},
    {RECORDS_JSON, NULL, "{\"a\":[]}", 1, true, "expected '['"},
    {RECORDS_JSON, NULL, "[{}\n{}]", 2, true, "expected ',' or ']' between records, found '{'"},
    {RECORDS_JSON, NULL, "[{},\n]", 2, true, "expected a value, found ']'"},
    {RECORDS_JSON, NULL, "[\n{\"a\":\n1", 2, true, "the file ends inside the value begun here"},
    {RECORDS_JSON, NULL, "[{}", 1, true, "found the end of the file"},
    {RECORDS_JSON, NULL, "[{}] x", 1, true, "expected nothing behind the array, found 'x'"},
    {RECORDS_JSON, NULL, "[{},\n{\"a\n\":1}]", 2, true, "the string is not closed"},
    {RECORDS_JSON, NULL, "[{\"a\":\"\\", 1, true, "the string is not closed"},
    {RECORDS_JSON, NULL, "[{},\n{\"a\":\n01}]", 3, false, "not valid JSON: syntax"},
    {RECORDS_JSON, NULL, "[{\"a\":1]]", 1, false, "not valid JSON"},
    {RECORDS_JSON, NULL, "[{\"a\":1,\n\"a\":2}]", 2, false, "duplicate"},
    {RECORDS_JSON, NULL, "[{},\n7]", 2, false, "a record must be an object, not integer"},
    {RECORDS_JSON, "/x", "{\"y\":1}", 1, true, "no member \"x\" on the way to the root"},
    {RECORDS_JSON, "/x", "[]", 1, true, "expected '{' on the way to the root"},
    {RECORDS_JSON, "/x", "{\"x\":{}}", 1, true, "expected '['"},
    {RECORDS_JSON, "/x", "{x:[]}", 1, true, "expected a member name in quotes"},
    {RECORDS_JSON, "/x", "{\"x\"}", 1, true, "expected ':'"},
    {RECORDS_NDJSON, NULL, "{}\n{\"a\":}\n{}", 2, false, "not valid JSON"},
    {RECORDS_NDJSON, NULL, "[]", 1, false, "must be an object, not array"},
    {RECORDS_CSV, NULL, "", 1, true, "no header line"},
    {RECORDS_CSV, NULL, "a,,b\n", 1, true, "column 2 has no name"},
    {RECORDS_CSV, NULL, "a,b,a\n", 1, true, "two columns are named \"a\""},
    {RECORDS_CSV, NULL, "a,b\n1,2\n\n1,2,3\n", 4, false, "3 cells, but the header names 2"},
    {RECORDS_CSV, NULL, "n\n1\nx\n", 3, false, "n: \"x\" does not fit its type"},
    {RECORDS_CSV, NULL, "n\n1.5\n", 2, false, "does not fit its type"},
    {RECORDS_CSV, NULL, "a\n\"x\ny", 2, true, "the file ends inside a quoted cell begun here"},
    {RECORDS_CSV, NULL, "a\nx\ny\"z\n", 3, true, "stray quote"},
};

static void every_fault_names_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run run =
            read_all(wrong[i].format, wrong[i].root, wrong[i].text, strlen(wrong[i].text));
        if (run.n_faults != 1 || run.fault.line != wrong[i].line ||
            run.fault.fatal != wrong[i].fatal || !strstr(run.fault.text, wrong[i].says))
            fail_msg("%s: %d faults, line %llu, fatal %d: %s", wrong[i].text, run.n_faults,
                     (unsigned long long)run.fault.line, run.fault.fatal, run.fault.text);
        buf_done(&run.rows);
    }
}

static void reading_goes_on_behind_a_bad_record(void **state)
{
    (void)state;
    static const char text[] = "[{\"a\":1},{\"a\":x},7,{\"a\":2}]";
    struct run run = read_all(RECORDS_JSON, NULL, text, sizeof text - 1);
    assert_int_equal(run.n_faults, 2);
    assert_string_equal(run.rows.p, "1:{\"a\":1};1:{\"a\":2};");
    buf_done(&run.rows);
    static const char csv[] = "n\n1\nx\n2\n";
    run = read_all(RECORDS_CSV, NULL, csv, sizeof csv - 1);
    assert_int_equal(run.n_faults, 1);
    assert_string_equal(run.rows.p, "2:{\"n\":1};4:{\"n\":2};");
    buf_done(&run.rows);
}

static void a_record_past_the_limit_is_refused(void **state)
{
    (void)state;
    for (int format = RECORDS_JSON; format <= RECORDS_CSV; format++) {
        size_t n = RECORD_TEXT_BYTES_MAX + 64;
        char *text = malloc(n);
        static const char *const begin[] = {"[{\"a\":\"", "{\"a\":\"", "a\n\""};
        static const char *const end[] = {"\"}]", "\"}", "\"\n"};
        memset(text, 'x', n);
        memcpy(text, begin[format], strlen(begin[format]));
        memcpy(text + n - strlen(end[format]), end[format], strlen(end[format]));
        struct run run = read_all((enum record_format)format, NULL, text, n);
        if (run.n_faults != 1 || !strstr(run.fault.text, "large"))
            fail_msg("format %d: %d faults: %s", format, run.n_faults, run.fault.text);
        buf_done(&run.rows);
        free(text);
    }
}

static void bytes_that_are_no_text_do_not_pass(void **state)
{
    (void)state;
    static const char nul[] = "{\"a\":\"x\0y\"}\n";
    struct run run = read_all(RECORDS_NDJSON, NULL, nul, sizeof nul - 1);
    assert_int_equal(run.n_faults, 1);
    buf_done(&run.rows);
    static const char latin[] = "s\ncaf\xe9\n";
    run = read_all(RECORDS_CSV, NULL, latin, sizeof latin - 1);
    assert_int_equal(run.n_faults, 1);
    assert_non_null(strstr(run.fault.text, "UTF-8"));
    buf_done(&run.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_json_array_is_cut_into_records),
        cmocka_unit_test(a_root_leads_to_the_array),
        cmocka_unit_test(ndjson_is_one_record_a_line),
        cmocka_unit_test(csv_cells_take_the_type_of_their_attribute),
        cmocka_unit_test(every_fault_names_its_line),
        cmocka_unit_test(reading_goes_on_behind_a_bad_record),
        cmocka_unit_test(a_record_past_the_limit_is_refused),
        cmocka_unit_test(bytes_that_are_no_text_do_not_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
