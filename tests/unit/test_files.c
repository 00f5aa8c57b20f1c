/* Files as resources and templates: what is read, and all that is not. */
#include "file_rig.h"

#include <pthread.h>
#include <stdatomic.h>

#define NOTES "{\"folder\":\"notes\",\"path\":\"{{id}}.md\"}"
#define TREE  "{\"folder\":\"tree\",\"path\":\"{{path}}\"}"

/* ---- The manifest --------------------------------------------------------------------------- */

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    make_folder("notes");
    write_file("plain", "");
    refuses("7", "x:a", 1, "file: expected a path or an object");
    refuses("\"\"", "x:a", 1, "path: expected a text");
    refuses("\"a\\u0000b\"", "x:a", 1, "path: expected a text");
    refuses("{}", "x:a", 1, "path: expected a text");
    refuses("\"/etc/passwd\"", "x:a", 1, "expected one below the folder");
    refuses("\"../a\"", "x:a", 1, "expected one below the folder");
    refuses("\"a/../../b\"", "x:a", 1, "expected one below the folder");
    refuses("\"a//b\"", "x:a", 1, "expected one below the folder");
    refuses("\"a/\"", "x:a", 1, "expected one below the folder");
    refuses("\".secret\"", "x:a", 1, "or hidden ones");
    refuses("{\"path\":\"..\",\"hidden\":true}", "x:a", 9, "expected one below");
    refuses("\"{{id}}.md\"", "x:a", 1, "id is no variable of the URI");
    refuses("\"{{b}}.md\"", "x:{a}", 1, "b is no variable of the URI");
    refuses("\"a.md\"", "x:{a}", 1, "expected the variable a in it");
    refuses("\"{{a}}-{{b}}.md\"", "x:{a}/{b}", 1, "one {{name}} between slashes");
    refuses("\"{{a}}{{b}}\"", "x:{a}/{b}", 1, "one {{name}} between slashes");
    refuses("\"{{a\"", "x:{a}", 1, "expected {{name}}");
    refuses("{\"path\":\"a\",\"root\":\"/\"}", "x:a", 20, "root: there is no such member");
    refuses("{\"path\":\"a\",\"folder\":\"none\"}", "x:a", 22, "there is no folder none");
    refuses("{\"path\":\"a\",\"folder\":\"plain\"}", "x:a", 22, "there is no folder plain");
    refuses("{\"path\":\"a\",\"folder\":7}", "x:a", 22, "folder: expected a path");
    refuses("{\"path\":\"a\",\"maxBytes\":4194305}", "x:a", 24, "from 1 to 4194304");
    refuses("{\"path\":\"a\",\"hidden\":1}", "x:a", 22, "true or false");
    refuses("\"{{a}}\"", "x:{a", 1, "the URI template, byte");
}

/* ---- Contents ------------------------------------------------------------------------------- */

static void a_file_is_read_as_it_is_now(void **state)
{
    (void)state;
    make_folder("docs");
    parse("\"docs/about.md\"", "docs:about", NULL);
    is_not_found("docs:about");
    write_file("docs/about.md", "# One\n");
    gives("docs:about", "text/markdown:# One\n");
    write_file("docs/about.md", "");
    gives("docs:about", "text/markdown:");
    unlink(at("docs/about.md"));
    is_not_found("docs:about");
}

static void the_type_is_the_registered_one_or_that_of_the_ending(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a.txt", "text/plain:x"},
        {"a.JSON", "application/json:x"},
        {"a.svg", "image/svg+xml:x"},
        {"a.png", "image/png#x"},
        {"a.tar.gz", "application/gzip#x"},
        {"README", "text/plain:x"},
        {"a.unknown", "text/plain:x"},
        {"a.", "text/plain:x"},
        {"md", "text/plain:x"},
    };
    parse("\"{{name}}\"", "f:{name}", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char uri[64];
        write_file(cases[i][0], "x");
        snprintf(uri, sizeof uri, "f:%s", cases[i][0]);
        gives(uri, cases[i][1]);
    }
    parse("\"a.txt\"", "f:a", "application/vnd.api+json; charset=utf-8");
    gives("f:a", "application/vnd.api+json; charset=utf-8:x");
    parse("\"a.txt\"", "f:a", "application/octet-stream");
    gives("f:a", "application/octet-stream#x");
}

static void what_is_no_text_is_a_blob(void **state)
{
    (void)state;
    parse("\"a.txt\"", "f:a", NULL);
    write_bytes("a.txt", "a\0b", 3);
    assert_int_equal(read_uri("f:a"), 0);
    assert_int_equal(rig.call.given.n, strlen("text/plain#") + 3);
    assert_memory_equal(rig.call.given.p, "text/plain#a\0b", rig.call.given.n);
    write_file("a.txt", "a\xff");
    gives("f:a", "text/plain#a\xff");
    write_file("a.txt", "\xc3");
    gives("f:a", "text/plain#\xc3");
    write_file("a.txt", "\xc3\xa4");
    gives("f:a", "text/plain:\xc3\xa4");
    parse("\"data\"", "f:d", NULL);
    write_file("data", "\xfe");
    gives("f:d", "application/octet-stream#\xfe");
}

static void fill_file(const char *name, size_t n)
{
    char *bytes = calloc(1, n);
    memset(bytes, 'x', n);
    write_bytes(name, bytes, n);
    free(bytes);
}

static void beyond_FILE_BYTES_a_file_is_refused(void **state)
{
    (void)state;
    parse("\"a.txt\"", "f:a", NULL);
    fill_file("a.txt", FILE_BYTES);
    assert_int_equal(read_uri("f:a"), 0);
    fill_file("a.txt", FILE_BYTES + 1);
    assert_int_equal(read_uri("f:a"), TENON_ERR_FAILED);
    assert_string_equal(text_in(&rig.call.failure), "The file is larger than 1048576 bytes");
    parse("{\"path\":\"a.txt\",\"maxBytes\":4194304}", "f:a", NULL);
    fill_file("a.txt", FILE_BYTES_MAX);
    assert_int_equal(read_uri("f:a"), 0);
    parse("{\"path\":\"a.txt\",\"maxBytes\":3}", "f:a", NULL);
    write_file("a.txt", "abc");
    gives("f:a", "text/plain:abc");
    write_file("a.txt", "abcd");
    assert_int_equal(read_uri("f:a"), TENON_ERR_FAILED);
}

/* Of /proc: it says that it is empty, and has no end that can be trusted. */
static void a_size_that_is_not_true_is_no_cap(void **state)
{
    (void)state;
    parse("{\"folder\":\"/proc/self\",\"path\":\"maps\",\"maxBytes\":100}", "f:a", NULL);
    assert_int_equal(read_uri("f:a"), TENON_ERR_FAILED);
    assert_non_null(strstr(text_in(&rig.call.failure), "larger than 100 bytes"));
}

/* ---- Templates ------------------------------------------------------------------------------ */

static void a_template_reads_the_file_that_its_variables_name(void **state)
{
    (void)state;
    make_folder("notes");
    make_folder("notes/7");
    write_file("notes/a b.md", "one");
    write_file("notes/7/x.md", "two");
    write_file("notes/\xc3\xa4%2F.md", "three");
    parse(NOTES, "note://{id}", NULL);
    gives("note://a%20b", "text/markdown:one");
    gives("note://%C3%A4%252F", "text/markdown:three");
    is_not_found("note://A%20B");
    is_not_found("note://");
    parse("{\"folder\":\"notes\",\"path\":\"{{dir}}/{{id}}.md\"}", "note:{id}{?dir}", NULL);
    gives("note:x?dir=7", "text/markdown:two");
    is_not_found("note:x");
}

static void RS_nothing_outside_the_folder_is_read(void **state)
{
    (void)state;
    static const char *const uris[] = {
        "t:..",
        "t:../secret",
        "t:%2e%2e/secret",
        "t:%2E%2E%2Fsecret",
        "t:.",
        "t:./a",
        "t:a/../../secret",
        "t:a/..",
        "t:/secret",
        "t://secret",
        "t:sub//a",
        "t:sub/",
        "t:/",
        "t:sub",
        "t:a/",
        "t:%00",
        "t:a%00.txt",
        "t:a%00",
        "t:..%00/secret",
        "t:sub/%2e%2e/%2e%2e/secret",
        "t:link",
        "t:loop",
        "t:linked/secret",
        "t:sub/up/secret",
        "t:abs",
        "t:fifo",
        "t:/etc/passwd",
        "t:/proc/self/environ",
        "t:.hidden",
        "t:.git/config",
        "t:sub/.hidden",
        "t:..%5csecret",
        "t:a%2f..%2f..%2fsecret",
        "t:%2fetc%2fpasswd",
        "t:socket",
        "t:dangling",
    };
    char long_uri[6000] = "t:";
    make_folder("tree");
    make_folder("tree/sub");
    make_folder("tree/.git");
    write_file("secret", "secret");
    write_file("tree/a", "fine");
    write_file("tree/sub/a", "fine");
    write_file("tree/.hidden", "secret");
    write_file("tree/sub/.hidden", "secret");
    write_file("tree/.git/config", "secret");
    assert_int_equal(symlink("../secret", at("tree/link")), 0);
    assert_int_equal(symlink("a", at("tree/loop")), 0); /* even to what is inside */
    assert_int_equal(symlink("nothing", at("tree/dangling")), 0);
    assert_int_equal(symlink("..", at("tree/linked")), 0);
    assert_int_equal(symlink("../..", at("tree/sub/up")), 0);
    assert_int_equal(symlink(at("secret"), at("tree/abs")), 0);
    assert_int_equal(mkfifo(at("tree/fifo"), 0644), 0);
    assert_int_equal(mknod(at("tree/socket"), S_IFSOCK | 0644, 0), 0);
    parse(TREE, "t:{+path}", NULL);
    gives("t:a", "text/plain:fine");
    gives("t:sub/a", "text/plain:fine");
    gives("t:sub%2Fa", "text/plain:fine"); /* it is one path, however it is written */
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++)
        is_not_found(uris[i]);
    memset(long_uri + 2, 'a', 5000);
    is_not_found(long_uri);
    long_uri[302] = '\0';
    is_not_found(long_uri); /* longer than a name may be */
}

static void a_variable_of_one_part_crosses_no_folder(void **state)
{
    (void)state;
    make_folder("notes");
    make_folder("notes/sub");
    write_file("notes/sub/a.md", "x");
    write_file("secret.md", "secret");
    parse(NOTES, "note:{id}", NULL);
    is_not_found("note:sub/a");
    is_not_found("note:sub%2Fa");
    is_not_found("note:..%2Fsecret");
    is_not_found("note:../secret");
    is_not_found("note:..");
    is_not_found("note:%2e%2e%2fsecret");
    is_not_found("note:%252e%252e%252fsecret"); /* decoded once only */
}

static void hidden_files_are_read_where_the_manifest_says_so(void **state)
{
    (void)state;
    make_folder("tree");
    write_file("tree/.hidden", "seen");
    write_file("secret", "secret");
    parse("{\"folder\":\"tree\",\"path\":\"{{path}}\",\"hidden\":true}", "t:{+path}", NULL);
    gives("t:.hidden", "text/plain:seen");
    is_not_found("t:../secret");
    is_not_found("t:.");
    is_not_found("t:..");
}

/* The walk that is used where the kernel has no openat2 finds the same. */
static void steps_and_the_kernel_agree(void **state)
{
    (void)state;
    static const char *const paths[] = {"a",     "sub/a",  "sub/b/c", "link",        "linked/a",
                                        "..",    "../x",   "sub/..",  "sub/../a",    ".",
                                        "sub/.", "sub//a", "/a",      "sub/up/tree", "none",
                                        "a/a",   "",       "loop",    "sub/loop/a"};
    make_folder("tree");
    make_folder("tree/sub");
    make_folder("tree/sub/b");
    write_file("x", "");
    write_file("tree/a", "");
    write_file("tree/sub/a", "");
    write_file("tree/sub/b/c", "");
    assert_int_equal(symlink("../x", at("tree/link")), 0);
    assert_int_equal(symlink("sub", at("tree/linked")), 0);
    assert_int_equal(symlink("../..", at("tree/sub/up")), 0);
    assert_int_equal(symlink("loop", at("tree/loop")), 0);
    assert_int_equal(symlink(".", at("tree/sub/loop")), 0);
    int root = open(at("tree"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        int one = -1, other = -1;
        int failed = file_open_beneath(at("tree"), paths[i], O_RDONLY, &one);
        int failed_too = file_open_by_steps(root, paths[i], O_RDONLY, &other);
        if (!failed != !failed_too || !failed != (i < 3))
            fail_msg("%s: %s, %s", paths[i], strerror(failed), strerror(failed_too));
        if (!failed)
            assert_int_equal(close(one) + close(other), 0);
    }
    close(root);
}

static void who_may_not_read_is_told_without_the_path(void **state)
{
    (void)state;
    parse("\"a.txt\"", "f:a", NULL);
    write_file("a.txt", "x");
    chmod(at("a.txt"), 0);
    if (geteuid() == 0) /* whom nothing is forbidden */
        return;
    assert_int_equal(read_uri("f:a"), TENON_ERR_FAILED);
    assert_string_equal(text_in(&rig.call.failure), "The file cannot be read");
}

/* ---- While it changes ----------------------------------------------------------------------- */

#define N_BYTES 300000

static _Atomic bool stop_writing;

/* Renames one of two whole files over it, again and again. */
static void *replace(void *arg)
{
    char *bytes = malloc(N_BYTES);
    (void)arg;
    for (unsigned i = 0; !stop_writing; i++) {
        memset(bytes, 'a' + (int)(i % 26), N_BYTES);
        write_bytes("new", bytes, N_BYTES);
        rename(at("new"), at("a.txt"));
    }
    free(bytes);
    return NULL;
}

static void a_file_that_is_replaced_is_read_whole(void **state)
{
    pthread_t thread;
    (void)state;
    parse("\"a.txt\"", "f:a", NULL);
    fill_file("a.txt", N_BYTES);
    stop_writing = false;
    assert_int_equal(pthread_create(&thread, NULL, replace, NULL), 0);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(read_uri("f:a"), 0);
        const char *text = text_in(&rig.call.given) + strlen("text/plain:");
        assert_int_equal(strlen(text), N_BYTES);
        assert_int_equal(strspn(text, (char[]){text[0], '\0'}), N_BYTES);
    }
    stop_writing = true;
    pthread_join(thread, NULL);
}

static void no_descriptor_is_left(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    a_file_is_read_as_it_is_now(state);
    make_folder("tree");
    parse(TREE, "t:{+path}", NULL);
    assert_int_equal(mkfifo(at("tree/fifo"), 0644), 0);
    is_not_found("t:fifo");
    is_not_found("t:none");
    is_not_found("t:..");
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

/* ---- Completion ----------------------------------------------------------------------------- */

static void completes(const char *variable, const char *value, const char *const *context,
                      const char *wanted)
{
    call_begin("");
    rig.call.context = context;
    assert_int_equal(file_complete(&rig.call, variable, value, (void *)(uintptr_t)rig.source), 0);
    assert_string_equal(text_in(&rig.call.given), wanted);
}

static void names_of_files_are_proposed(void **state)
{
    (void)state;
    static const char *const known[] = {"dir", "sub", NULL}, *const outside[] = {"dir", "..", NULL};
    make_folder("notes");
    make_folder("notes/sub");
    make_folder("notes/folder.md");
    write_file("secret.md", "");
    write_file("notes/beta.md", "");
    write_file("notes/alpha.md", "");
    write_file("notes/alps.md", "");
    write_file("notes/alps.txt", "");
    write_file("notes/.al.md", "");
    write_file("notes/.md", "");
    write_file("notes/sub/below.md", "");
    assert_int_equal(symlink("beta.md", at("notes/link.md")), 0);
    parse(NOTES, "note:{id}", NULL);
    completes("id", "", NULL, "alpha alps beta ");
    completes("id", "al", NULL, "alpha alps ");
    completes("id", "alph", NULL, "alpha ");
    completes("id", "AL", NULL, "");
    completes("id", "x", NULL, "");
    completes("id", "../s", NULL, "");
    completes("other", "", NULL, "");
    parse("{\"folder\":\"notes\",\"path\":\"{{dir}}/b{{id}}.md\"}", "note:{dir}/{id}", NULL);
    completes("id", "", NULL, "");
    completes("id", "", known, "elow ");
    completes("id", "", outside, "");
    completes("dir", "", NULL, "");
    parse("\"{{id}}\"", "f:{id}", NULL);
    completes("id", "se", NULL, "secret.md ");
}

static void beyond_FILES_LISTED_MAX_names_are_not_looked_at(void **state)
{
    (void)state;
    make_folder("notes");
    for (int i = 0; i < FILES_LISTED_MAX + 10; i++) {
        char name[32];
        snprintf(name, sizeof name, "notes/%06d.md", i);
        close(open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    parse(NOTES, "note:{id}", NULL);
    call_begin("");
    assert_int_equal(file_complete(&rig.call, "id", "", (void *)(uintptr_t)rig.source), 0);
    assert_true(rig.call.given.n <= 7u * FILES_LISTED_MAX);
    assert_true(rig.call.given.n >= 7u * (FILES_LISTED_MAX - 2));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_up, rig_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_wrong_is_told_with_its_place),
        TEST(a_file_is_read_as_it_is_now),
        TEST(the_type_is_the_registered_one_or_that_of_the_ending),
        TEST(what_is_no_text_is_a_blob),
        TEST(beyond_FILE_BYTES_a_file_is_refused),
        TEST(a_size_that_is_not_true_is_no_cap),
        TEST(a_template_reads_the_file_that_its_variables_name),
        TEST(RS_nothing_outside_the_folder_is_read),
        TEST(a_variable_of_one_part_crosses_no_folder),
        TEST(hidden_files_are_read_where_the_manifest_says_so),
        TEST(steps_and_the_kernel_agree),
        TEST(who_may_not_read_is_told_without_the_path),
        TEST(a_file_that_is_replaced_is_read_whole),
        TEST(no_descriptor_is_left),
        TEST(names_of_files_are_proposed),
        TEST(beyond_FILES_LISTED_MAX_names_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
