/* Commands as tools: what they write, as a result or in lines. */
#include "exec_rig.h"

#define JSON_OF(json) \
    "{\"argv\":[\"/bin/cat\",\"out\"],\"output\":\"json\",\"stdin\":\"none\"" json "}"
#define LINES_OF(more) \
    "{\"argv\":[\"/bin/cat\",\"out\"],\"output\":\"lines\",\"stdin\":\"none\"" more "}"

static void writes(const char *exec, const char *out)
{
    write_file("out", out, 0644);
    parse(exec);
}

static void json_gives(const char *out, const char *wanted)
{
    writes(JSON_OF(""), out);
    gives("{}", wanted);
}

static void json_fails(const char *out, const char *wanted)
{
    writes(JSON_OF(""), out);
    fails("{}", wanted);
}

static void lines_fail(const char *out, const char *wanted)
{
    writes(LINES_OF(""), out);
    fails("{}", wanted);
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void a_text_is_what_was_written(void **state)
{
    (void)state;
    parse_script("printf 'no newline'", "");
    gives("{}", "text:no newline;");
    parse_script("printf 'two\\\\n\\\\nlines\\\\n'", "");
    gives("{}", "text:two\n\nlines\n;");
    parse_script("true", "");
    gives("{}", "text:;");
    parse_script("printf '{\\\"content\\\":1}'", "");
    gives("{}", "text:{\"content\":1};");
}

static void what_is_no_UTF8_is_replaced(void **state)
{
    (void)state;
    parse_script("printf 'a\\\\377b\\\\000c\\\\303\\\\244\\\\303'", "");
    gives("{}", "text:a\xef\xbf\xbd"
                "b\xef\xbf\xbd"
                "cä\xef\xbf\xbd;");
    parse_script("printf '\\\\355\\\\240\\\\200'", ""); /* a surrogate */
    gives("{}", "text:\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd;");
}

static void beyond_EXEC_OUTPUT_BYTES_a_command_is_ended(void **state)
{
    (void)state;
    parse_script("yes | head -c 1048576; echo $$ >pid", "");
    assert_int_equal(run("{}"), 0);
    assert_int_equal(rig.call.given.n, EXEC_OUTPUT_BYTES + strlen("text:;"));
    parse_script("echo $$ >pid; exec yes", ""); /* without an end */
    fails("{}", "The command wrote more than 1048576 bytes");
    assert_false(is_running(pid_in("pid")));
    parse_script("echo 12345", ",\"maxBytes\":5");
    fails("{}", "more than 5 bytes");
    parse_script("echo 1234", ",\"maxBytes\":5");
    gives("{}", "text:1234\n;");
}

/* ---- One result of JSON --------------------------------------------------------------------- */

static void a_result_may_hold_every_kind_of_content(void **state)
{
    (void)state;
    json_gives("{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000b\"},"
               "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"aW1n\"},"
               "{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"\"},"
               "{\"type\":\"resource\",\"resource\":{\"uri\":\"x:1\",\"text\":\"t\"}},"
               "{\"type\":\"resource\",\"resource\":{\"uri\":\"x:2\",\"mimeType\":\"a/b\","
               "\"blob\":\"Yg==\"}},"
               "{\"type\":\"resource_link\",\"uri\":\"x:3\",\"name\":\"n\",\"title\":\"T\"}]}\n",
               "text:a\xef\xbf\xbd"
               "b;image:image/png:img;audio:audio/wav:;embed:x:1:-:t;"
               "blob:x:2:a/b:b;link:x:3:n:T:-:-;");
    json_gives("{\"structuredContent\":{\"n\": 1},\"_meta\":{}}", "structured:{\"n\":1};");
    json_gives("{\"content\":[],\"structuredContent\":{},\"isError\":false}", "structured:{};");
}

static void a_result_says_that_it_is_an_error(void **state)
{
    (void)state;
    json_fails("{\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"text\",\"text\":"
               "\"two\"}],\"isError\":true}",
               "one\ntwo");
    json_fails("{\"content\":[],\"isError\":true}", "The command failed");
}

static void a_result_that_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "The command's output is wrong: byte 0: expected"},
        {"hello", "byte 0: expected"},
        {"{} {}", "byte 3: expected"},
        {"{\"content\":[],\"content\":[]}", "expected"},
        {"[]", "expected a JSON object"},
        {"\"text\"", "expected a JSON object"},
        {"{}", "expected an object with content or structuredContent"},
        {"{\"result\":1}", "expected an object with content or structuredContent"},
        {"{\"content\":{}}", "content: expected an array"},
        {"{\"content\":[7]}", "content/0/type: expected text, image"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"text\"}]}",
         "content/1/text: expected a string"},
        {"{\"content\":[{\"type\":\"video\"}]}", "content/0/type: expected text"},
        {"{\"content\":[{\"type\":\"image\",\"data\":\"\"}]}", "content/0/mimeType: expected"},
        {"{\"content\":[{\"type\":\"image\",\"mimeType\":\"a/b\",\"data\":\"*\"}]}",
         "content/0/data: expected base64"},
        {"{\"content\":[{\"type\":\"resource\"}]}", "content/0/resource: expected an object"},
        {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:1\"}}]}",
         "content/0/text: expected a string"},
        {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:1\",\"blob\":7}}]}",
         "content/0/blob: expected base64"},
        {"{\"content\":[{\"type\":\"resource_link\",\"uri\":\"x:1\"}]}",
         "content/0/name: expected a string"},
        {"{\"structuredContent\":[]}", "structuredContent: expected an object"},
        {"{\"content\":[],\"isError\":1}", "isError: expected true or false"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}", "expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        json_fails(cases[i][0], cases[i][1]);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void lines_tell_progress_and_then_the_result(void **state)
{
    (void)state;
    writes(LINES_OF(""), "{\"progress\":1}\n\n{\"progress\":1.5,\"total\":3,\"message\":\"m\"}\r\n"
                         "{\"log\":{\"a\":[1]}}\n"
                         "  {\"log\":\"w\",\"level\":\"warning\",\"logger\":\"l\"}\n"
                         "{\"result\":\"done\"}\n{\"progress\":2}\n");
    gives("{}", "text:done;");
    assert_string_equal(text_in(&rig.call.told),
                        "progress:1/0:-;progress:1.5/3:m;log:1:-:{\"a\":[1]};log:3:l:\"w\";"
                        "progress:2/0:-;");
    writes(LINES_OF(""), "{\"result\":{\"structuredContent\":{\"x\":1}}}");
    gives("{}", "structured:{\"x\":1};");
    writes(LINES_OF(""), "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"bad\"}],"
                         "\"isError\":true}}\n");
    fails("{}", "bad");
    lines_fail("{\"progress\":1}\n{\"error\":\"no such city\"}\n", "no such city");
}

static void a_line_that_is_wrong_ends_the_command(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "it ended without a result"},
        {"{\"progress\":1}\n", "it ended without a result"},
        {"{\"progress\":1}\nhello\n", "wrong in line 2: byte 0: expected"},
        {"{\"progress\":\"1\"}", "wrong in line 1: progress: expected a number"},
        {"{\"progress\":1,\"total\":null}", "total: expected a number"},
        {"{\"progress\":1,\"message\":7}", "message: expected a string"},
        {"{\"log\":1,\"level\":\"loud\"}", "level: expected a level"},
        {"{\"log\":1,\"logger\":{}}", "logger: expected a string"},
        {"{\"result\":7}", "result: expected a text or an object"},
        {"{\"result\":\"a\"}\n{\"result\":\"b\"}", "line 2: result: expected only one result"},
        {"{\"result\":\"a\"}\n{\"error\":\"b\"}", "line 2: error: expected only one result"},
        {"{\"error\":7}", "error: expected a string"},
        {"{\"results\":7}", "expected an object with progress, log, result or error"},
        {"[1]", "expected an object with progress"},
        {"{\"result\":\"\xc3\"}", "wrong in line 1: byte"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        lines_fail(cases[i][0], cases[i][1]);
    parse_script("echo x; echo $$ >pid; exec sleep 600", ",\"output\":\"lines\"");
    fails("{}", "wrong in line 1");
    assert_false(is_running(pid_in("pid")));
}

static void a_line_may_come_in_pieces_and_is_bounded(void **state)
{
    (void)state;
    parse_script(
        "printf '{\\\"prog'; printf 'ress\\\":1}\\\\n{\\\"result\\\"'; printf ':\\\"x\\\"}'",
        ",\"output\":\"lines\"");
    gives("{}", "text:x;");
    assert_string_equal(text_in(&rig.call.told), "progress:1/0:-;");
    writes(LINES_OF(",\"maxBytes\":20"), "{\"progress\":1}\n{\"result\":\"0123456789\"}\n");
    fails("{}", "wrote more than 20 bytes");
    parse_script("exec tr '\\\\0' x </dev/zero", ",\"output\":\"lines\",\"maxBytes\":100000");
    fails("{}", "wrote more than 100000 bytes");
    write_file("line", "{\"log\":1}\n{\"log\":2}\n{\"log\":3}\n{\"log\":4}\n{\"log\":5}\n", 0644);
    parse_script("for i in 1 2 3 4 5 6 7 8 9; do cat line; done; echo '{\\\"result\\\":\\\"x\\\"}'",
                 ",\"output\":\"lines\",\"maxBytes\":40"); /* of a line, not of all */
    gives("{}", "text:x;");
}

/* ---- Failures ------------------------------------------------------------------------------- */

static void another_exit_status_than_0_is_an_error(void **state)
{
    (void)state;
    parse_script("exit 3", "");
    fails("{}", "The command failed with exit status 3");
    assert_null(strchr(rig.call.failure.p, ':'));
    parse_script("echo ' No such city '; exit 1", "");
    fails("{}", "The command failed with exit status 1: No such city");
    assert_string_equal(strchr(rig.call.failure.p, ':'), ": No such city");
    parse_script("echo '{\\\"content\\\":[{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"why\\\"}],"
                 "\\\"isError\\\":true}'; exit 2",
                 ",\"output\":\"json\"");
    fails("{}", "exit status 2: why");
    parse_script("echo half of; exit 2", ",\"output\":\"json\"");
    fails("{}", "exit status 2");
    parse_script("echo '{\\\"error\\\":\\\"why\\\"}'; exit 4", ",\"output\":\"lines\"");
    fails("{}", "exit status 4: why");
    parse_script("echo '{\\\"result\\\":\\\"fine\\\"}'; exit 5", ",\"output\":\"lines\"");
    fails("{}", "The command failed with exit status 5");
    parse_script("kill -SEGV $$", "");
    fails("{}", "The command was ended by signal 11 (Segmentation fault)");
}

static void a_command_that_cannot_start_is_told_without_its_path(void **state)
{
    char path[128];
    (void)state;
    write_file("gone", "#!/bin/sh\n", 0755);
    parse("{\"argv\":[\"./gone\"]}");
    snprintf(path, sizeof path, "%s/gone", rig.folder);
    unlink(path);
    fails("{}", "The command cannot be started: No such file or directory");
    assert_null(strstr(rig.call.failure.p, "tenon-exec"));
    write_file("empty", "#!/no/such/interpreter\n", 0755);
    parse("{\"argv\":[\"./empty\"]}");
    fails("{}", "cannot be started: No such file");
}

/* ---- What it says beside -------------------------------------------------------------------- */

static char *log_of(const char *exec)
{
    char path[128];
    static char text[256 << 10];
    snprintf(path, sizeof path, "%s/log", rig.folder);
    int before = dup(STDERR_FILENO), fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    parse(exec);
    dup2(fd, STDERR_FILENO);
    int err = run("{}");
    dup2(before, STDERR_FILENO);
    close(before);
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    assert_int_equal(err, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    while ((text = strstr(text, part)) != NULL)
        n++, text++;
    return n;
}

static void its_stderr_is_logged_up_to_EXEC_STDERR_LINES(void **state)
{
    (void)state;
    char *log =
        log_of("{\"argv\":[\"/bin/sh\",\"-c\",\"echo one >&2; printf 'a\\\\033\\\\377b' >&2\"]}");
    assert_int_equal(count(log, "info: exec test: "), 2);
    assert_non_null(strstr(log, "exec test: one\n"));
    assert_non_null(strstr(log, "exec test: a?\xef\xbf\xbd"
                                "b\n"));
    log = log_of("{\"argv\":[\"/bin/sh\",\"-c\",\"seq 1 5000 >&2\"]}");
    assert_int_equal(count(log, "exec test: "), EXEC_STDERR_LINES + 1);
    assert_non_null(strstr(log, "exec test: 100\n"));
    assert_non_null(strstr(log, "which is not logged"));
    log = log_of("{\"argv\":[\"/bin/sh\",\"-c\",\"head -c 10000000 /dev/zero >&2\"]}");
    assert_true(strlen(log) < 200u << 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_up, rig_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_text_is_what_was_written),
        TEST(what_is_no_UTF8_is_replaced),
        TEST(beyond_EXEC_OUTPUT_BYTES_a_command_is_ended),
        TEST(a_result_may_hold_every_kind_of_content),
        TEST(a_result_says_that_it_is_an_error),
        TEST(a_result_that_is_wrong_is_told_with_its_place),
        TEST(lines_tell_progress_and_then_the_result),
        TEST(a_line_that_is_wrong_ends_the_command),
        TEST(a_line_may_come_in_pieces_and_is_bounded),
        TEST(another_exit_status_than_0_is_an_error),
        TEST(a_command_that_cannot_start_is_told_without_its_path),
        TEST(its_stderr_is_logged_up_to_EXEC_STDERR_LINES),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
