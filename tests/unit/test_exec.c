/* Commands as tools: how a manifest says them, and what arguments can and cannot do to them. */
#include "exec_rig.h"

/* Each word that the program gets, in brackets. */
#define WORDS(words) "{\"argv\":[\"/usr/bin/printf\",\"[%s]\"," words "]}"

/* ---- The manifest --------------------------------------------------------------------------- */

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    refuses("7", 1, 1, "exec: expected an object");
    refuses("{}", 1, 1, "argv: expected a list");
    refuses("{\"argv\":[]}", 1, 9, "argv: expected a list");
    refuses("{\"argv\":[\n \"/bin/true\", 7]}", 2, 15, "argv: expected a string");
    refuses("{\"argv\":[\"/bin/true\", \"a\\u0000b\"]}", 1, 23, "argv: expected a string");
    refuses("{\"argv\":[\"/bin/true\", \"{{a\"]}", 1, 23, "argv: expected {{name}}");
    refuses("{\"argv\":[\"/bin/true\", \"{{x}}\"]}", 1, 23, "argument x may be absent");
    refuses("{\"argv\":[\"/bin/true\", [\"{{z}}\"]]}", 1, 24, "no property z");
    refuses("{\"argv\":[\"/bin/true\", [\"-v\"]]}", 1, 23, "expected an {{argument}}");
    refuses("{\"argv\":[\"{{a}}\"]}", 1, 10, "expected a program, without");
    refuses("{\"argv\":[\"\"]}", 1, 10, "expected a program");
    refuses("{\"argv\":[\"./not-there\"]}", 1, 10, "there is no program ./not-there");
    refuses("{\"argv\":[\"not-there-at-all\"]}", 1, 10, "no program not-there-at-all in PATH");
    refuses("{\"argv\":[\"/tmp\"]}", 1, 10, "there is no program /tmp");
    refuses("{\"argv\":[\"/bin/true\"],\n\"shell\":true}", 2, 9, "shell: there is no such member");
    refuses("{\"argv\":[\"/bin/true\"],\"argv\":[\"/bin/false\"]}", 1, 30, "stands there already");
    refuses("{\"argv\":[\"/bin/true\"],\"output\":\"xml\"}", 1, 32, "\"text\" or \"json\"");
    refuses("{\"argv\":[\"/bin/true\"],\"stdin\":1}", 1, 31, "\"none\" or \"arguments\"");
    refuses("{\"argv\":[\"/bin/true\"],\"dashes\":1}", 1, 32, "expected true or false");
    refuses("{\"argv\":[\"/bin/true\"],\"timeoutMs\":0}", 1, 35, "whole number from 1 to 3600000");
    refuses("{\"argv\":[\"/bin/true\"],\"timeoutMs\":1.5}", 1, 35, "whole number");
    refuses("{\"argv\":[\"/bin/true\"],\"maxBytes\":4194305}", 1, 34, "from 1 to 4194304");
    refuses("{\"argv\":[\"/bin/true\"],\"environment\":{}}", 1, 37, "expected an array");
    refuses("{\"argv\":[\"/bin/true\"],\"environment\":[\"A B\"]}", 1, 38, "\"NAME\"");
    refuses("{\"argv\":[\"/bin/true\"],\"environment\":[\"=x\"]}", 1, 38, "\"NAME\"");
    refuses("{\"argv\":[\"/bin/true\"],\"environment\":[\"A=1\",\"A=2\"]}", 1, 44,
            "A stands there already");
}

static void EXEC_TIMEOUT_MAX_MS_and_EXEC_OUTPUT_BYTES_MAX_may_be_asked_for(void **state)
{
    char exec[256];
    (void)state;
    snprintf(exec, sizeof exec, "{\"argv\":[\"/bin/true\"],\"timeoutMs\":%d,\"maxBytes\":%u}",
             EXEC_TIMEOUT_MAX_MS, EXEC_OUTPUT_BYTES_MAX);
    parse(exec);
    snprintf(exec, sizeof exec, "{\"argv\":[\"/bin/true\"],\"timeoutMs\":%d}",
             EXEC_TIMEOUT_MAX_MS + 1);
    refuses(exec, 1, 35, "timeoutMs");
}

static void beyond_EXEC_WORDS_MAX_a_template_is_refused(void **state)
{
    struct buf exec = {0};
    struct json_error error;
    (void)state;
    buf_printf(&exec, "{\"argv\":[\"/bin/true\"");
    for (int i = 1; i < EXEC_WORDS_MAX; i++)
        buf_printf(&exec, ",\"w\"");
    size_t n = exec.n;
    buf_printf(&exec, "]}%c", 0);
    assert_int_equal(parse_with(exec.p, INPUT, &error), 0);
    exec.n = n;
    buf_printf(&exec, ",\"w\"]}%c", 0);
    assert_int_equal(parse_with(exec.p, INPUT, &error), ERR_PARAMS);
    assert_non_null(strstr(error.text, "at most 256 words"));
    buf_done(&exec);
}

static void a_program_is_found_in_the_folder_and_in_PATH(void **state)
{
    (void)state;
    write_file("mine", "#!/bin/sh\necho mine in \"$PWD\"\n", 0755);
    write_file("plain", "no program", 0644);
    parse("{\"argv\":[\"./mine\"]}");
    assert_int_equal(run("{}"), 0);
    assert_non_null(strstr(text_in(&rig.call.given), "text:mine in /tmp/tenon-exec."));
    refuses("{\"argv\":[\"mine\"]}", 1, 10, "in PATH");
    refuses("{\"argv\":[\"./plain\"]}", 1, 10, "there is no program");
    parse("{\"argv\":[\"echo\",\"x\"]}");
    gives("{}", "text:x\n;");
    parse("{\"argv\":[\"echo\",\"x\"],\"environment\":[\"PATH=relative:/usr/bin:/bin\"]}");
    gives("{}", "text:x\n;");
}

/* ---- Arguments ------------------------------------------------------------------------------ */

static void an_argument_stays_in_its_word(void **state)
{
    (void)state;
    parse(WORDS("\"{{a}}\",\"pre-{{b}}-post\",\"{{c}}{{c}}\""));
    gives("{\"a\":\"one two\",\"b\":\"\",\"c\":\"*\"}", "text:[one two][pre--post][**];");
    gives("{\"a\":\"'\",\"b\":\"\\\"\",\"c\":\"\\\\\"}", "text:['][pre-\"-post][\\\\];");
    gives("{\"a\":\"x; rm -rf /\",\"b\":\"$(id)\",\"c\":\"`id`\"}",
          "text:[x; rm -rf /][pre-$(id)-post][`id``id`];");
    gives("{\"a\":\"a\\nb\\r\\t\",\"b\":\"$HOME\",\"c\":\"| > < & ! #\"}",
          "text:[a\nb\r\t][pre-$HOME-post][| > < & ! #| > < & ! #];");
    gives("{\"a\":\"\",\"b\":\"\",\"c\":\"\"}", "text:[][pre--post][];");
    gives("{\"a\":\"%s%n\",\"b\":\"~\",\"c\":\"\\u00e4\\ud83d\\ude00\"}",
          "text:[%s%n][pre-~-post][ä😀ä😀];");
}

static void what_was_filled_in_is_not_filled_again(void **state)
{
    (void)state;
    parse(WORDS("\"{{a}}\",\"{{b}}\",\"{{{{a}}\",\"{{c}}\""));
    gives("{\"a\":\"{{b}}\",\"b\":\"{{a}}\",\"c\":\"{{\"}", "text:[{{b}}][{{a}}][{{a}}][{{];");
}

static void what_is_no_string_goes_in_as_JSON(void **state)
{
    (void)state;
    parse(WORDS("\"{{a}}\",\"{{b}}\",\"{{c}}\""));
    gives("{\"a\":7,\"b\":-2.5,\"c\":true}", "text:[7][-2.5][true];");
    gives("{\"a\":null,\"b\":[1, \"a b\"],\"c\":{\"k\" : \"v\"}}",
          "text:[null][[1,\"a b\"]][{\"k\":\"v\"}];");
}

static void a_list_of_words_is_left_out_as_a_whole(void **state)
{
    (void)state;
    parse(WORDS("[\"--x\",\"{{x}}\"],[\"--both={{x}},{{y}}\"],\"{{a}}\""));
    gives("{\"a\":\"1\"}", "text:[1];");
    gives("{\"a\":\"1\",\"x\":null,\"y\":2}", "text:[1];");
    gives("{\"a\":\"1\",\"x\":\"2\"}", "text:[--x][2][1];");
    gives("{\"a\":\"1\",\"x\":\"2\",\"y\":\"3\"}", "text:[--x][2][--both=2,3][1];");
    fails("{\"x\":\"2\"}", "Argument a is missing");
}

static void an_argument_is_no_option(void **state)
{
    (void)state;
    parse(WORDS("\"{{a}}\",[\"{{x}}\"],\"--b={{b}}\""));
    fails("{\"a\":\"-rf\",\"b\":\"1\"}", "Argument a must not begin with \"-\"");
    fails("{\"a\":\"--help\",\"b\":\"1\"}", "Argument a must not begin with \"-\"");
    fails("{\"a\":\"1\",\"b\":\"1\",\"x\":\"-\"}", "Argument x must not");
    gives("{\"a\":-5,\"b\":\"-1\"}", "text:[-5][--b=-1];");
    parse(WORDS("\"--\",\"{{a}}\",\"{{b}}\""));
    gives("{\"a\":\"-rf\",\"b\":\"--\"}", "text:[--][-rf][--];");
    parse("{\"argv\":[\"/usr/bin/printf\",\"[%s]\",\"{{a}}\"],\"dashes\":true}");
    gives("{\"a\":\"-rf\"}", "text:[-rf];");
    parse(WORDS("\"{{a}}{{b}}\""));
    fails("{\"a\":\"\",\"b\":\"-x\"}", "Argument b must not begin");
}

static void an_argument_with_NUL_is_refused(void **state)
{
    (void)state;
    parse(WORDS("\"{{a}}\""));
    fails("{\"a\":\"x\\u0000y\"}", "Argument a must not hold U+0000");
    gives("{\"a\":\"x\",\"unused\":\"\\u0000\"}", "text:[x];");
}

static char *long_arguments(size_t n, const char *names)
{
    struct buf text = {0};
    buf_add_char(&text, '{');
    for (; *names; names++) {
        buf_printf(&text, "\"%c\":\"", *names);
        for (size_t i = 0; i < n; i++)
            buf_add_char(&text, 'w');
        buf_printf(&text, "\"%s", names[1] ? "," : "}");
    }
    buf_add_char(&text, '\0');
    return text.p;
}

static void beyond_EXEC_WORD_BYTES_MAX_an_argument_is_refused(void **state)
{
    (void)state;
    parse("{\"argv\":[\"/bin/sh\",\"-c\",\"printf %s ${#1}\",\"sh\",\"{{a}}\"]}");
    char *most = long_arguments(EXEC_WORD_BYTES_MAX, "a");
    char *more = long_arguments(EXEC_WORD_BYTES_MAX + 1, "a");
    gives(most, "text:131071;");
    fails(more, "Argument a is too long for a command");
    free(most);
    free(more);
}

static void beyond_EXEC_ARGV_BYTES_MAX_a_command_is_refused(void **state)
{
    (void)state;
    parse("{\"argv\":[\"/bin/sh\",\"-c\",\"printf %s $#\",\"sh\",\"{{a}}\",\"{{b}}\",\"{{c}}\","
          "\"{{a}}\",\"{{b}}\",\"{{c}}\",\"{{a}}\"]}");
    char *most = long_arguments(EXEC_WORD_BYTES_MAX, "abc");
    gives(most, "text:7;");
    free(most);
    parse("{\"argv\":[\"/bin/sh\",\"-c\",\"\",\"sh\",\"{{a}}\",\"{{b}}\",\"{{c}}\",\"{{a}}\","
          "\"{{b}}\",\"{{c}}\",\"{{a}}\",\"{{a}}\"]}");
    most = long_arguments(EXEC_ARGV_BYTES_MAX / 8, "abc");
    fails(most, "");
    free(most);
    most = long_arguments(EXEC_WORD_BYTES_MAX, "abc");
    fails(most, "The arguments are too long for a command");
    free(most);
}

/* ---- What the program gets ------------------------------------------------------------------ */

static void the_arguments_are_on_stdin_as_one_line(void **state)
{
    (void)state;
    parse("{\"argv\":[\"cat\"]}");
    gives("{ \"a\" : \"x\\ny\",\n\"n\": [1.5, 1, 900719925474099312]}",
          "text:{\"a\":\"x\\ny\",\"n\":[1.5,1,900719925474099312]}\n;");
    gives("{}", "text:{}\n;");
    parse("{\"argv\":[\"cat\"],\"stdin\":\"none\"}");
    gives("{\"a\":1}", "text:;");
}

static void the_environment_is_what_is_listed(void **state)
{
    (void)state;
    setenv("TENON_TEST_SECRET", "s3cret", 1);
    setenv("TENON_TEST_PASSED", "passed = on", 1);
    parse("{\"argv\":[\"env\"],\"environment\":[]}");
    gives("{}", "text:;");
    parse("{\"argv\":[\"env\"],\"environment\":[\"TENON_TEST_PASSED\",\"TENON_TEST_ABSENT\","
          "\"SET=a=b c\",\"EMPTY=\"]}");
    gives("{}", "text:TENON_TEST_PASSED=passed = on\nSET=a=b c\nEMPTY=\n;");
    parse("{\"argv\":[\"env\"]}");
    assert_int_equal(run("{}"), 0);
    assert_non_null(strstr(text_in(&rig.call.given), "PATH="));
    assert_null(strstr(rig.call.given.p, "TENON_TEST"));
    unsetenv("TENON_TEST_SECRET");
    unsetenv("TENON_TEST_PASSED");
}

static void it_has_three_descriptors_and_no_more(void **state)
{
    (void)state;
    int leaked = dup(1), high = fcntl(1, F_DUPFD, 500); /* without CLOEXEC */
    parse_script("cd /proc/self/fd; for f in *; do [ -e $f ] && printf '%s ' $f; done; true", "");
    gives("{}", "text:0 1 2 ;");
    close(leaked);
    close(high);
}

/* 32 and 33 are the C library's own: who is started by posix_spawn, as by make, has them ignored.
 */
static void its_signals_are_as_at_the_start_of_the_world(void **state)
{
    (void)state;
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    parse("{\"argv\":[\"sed\",\"-n\",\"/^Sig[BIC]/{s/0000000180000000/0000000000000000/;p}\","
          "\"/proc/self/status\"]}");
    gives("{}", "text:SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
                "SigCgt:\t0000000000000000\n;");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void it_leads_a_session_of_its_own(void **state)
{
    (void)state;
    parse_script("set -- $(cat /proc/$$/stat); [ $1 = $5 ] && [ $1 = $6 ] && echo $7", "");
    gives("{}", "text:0\n;"); /* pid = group = session, no terminal */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_up, rig_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_wrong_is_told_with_its_place),
        TEST(EXEC_TIMEOUT_MAX_MS_and_EXEC_OUTPUT_BYTES_MAX_may_be_asked_for),
        TEST(beyond_EXEC_WORDS_MAX_a_template_is_refused),
        TEST(a_program_is_found_in_the_folder_and_in_PATH),
        TEST(an_argument_stays_in_its_word),
        TEST(what_was_filled_in_is_not_filled_again),
        TEST(what_is_no_string_goes_in_as_JSON),
        TEST(a_list_of_words_is_left_out_as_a_whole),
        TEST(an_argument_is_no_option),
        TEST(an_argument_with_NUL_is_refused),
        TEST(beyond_EXEC_WORD_BYTES_MAX_an_argument_is_refused),
        TEST(beyond_EXEC_ARGV_BYTES_MAX_a_command_is_refused),
        TEST(the_arguments_are_on_stdin_as_one_line),
        TEST(the_environment_is_what_is_listed),
        TEST(it_has_three_descriptors_and_no_more),
        TEST(its_signals_are_as_at_the_start_of_the_world),
        TEST(it_leads_a_session_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
