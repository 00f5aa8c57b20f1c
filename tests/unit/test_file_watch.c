/* Changes of watched files: each is told, as the URI by which the file is read. */
#include "file_rig.h"

static struct file_watch *watch;
static struct buf told;
static int answer; /* of who is told */

static int is_told(void *ctx, struct str uri)
{
    (void)ctx;
    if (answer == 0)
        buf_printf(&told, STR_FMT " ", STR_ARG(uri));
    return answer;
}

/* What the next look tells. A file that is younger than a tick of the kernel's clock is told twice,
 * so first it gets older. */
static void tells(const char *wanted)
{
    struct timespec pause = {.tv_nsec = 30000000};
    nanosleep(&pause, NULL);
    buf_clear(&told);
    clock_advance_ms(FILE_WATCH_MS);
    assert_int_equal(file_watch_look(watch, is_told, NULL), answer);
    assert_string_equal(text_in(&told), wanted);
}

static void watch_one(void)
{
    assert_int_equal(file_watch_set(watch, &rig.source, 1), 0);
}

static int up(void **state)
{
    rig_up(state);
    answer = 0;
    return file_watch_new(NULL, &watch);
}

static int down(void **state)
{
    file_watch_free(watch);
    buf_done(&told);
    return rig_down(state);
}

/* ---- What happens to files ------------------------------------------------------------------ */

static void a_resource_is_told_when_its_file_changes(void **state)
{
    (void)state;
    write_file("a.txt", "1");
    parse("\"a.txt\"", "f:a", NULL);
    watch_one();
    tells(""); /* the first look */
    tells("");
    write_file("a.txt", "2"); /* of the same size */
    tells("f:a ");
    tells("");
    write_file("new", "3");
    rename(at("new"), at("a.txt"));
    tells("f:a ");
    chmod(at("a.txt"), 0600);
    tells("f:a ");
    unlink(at("a.txt"));
    tells("f:a ");
    tells("");
    make_folder("a.txt"); /* no file */
    tells("");
    rmdir(at("a.txt"));
    write_file("a.txt", "4");
    tells("f:a ");
}

static void an_old_time_of_change_does_not_hide_one(void **state)
{
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    (void)state;
    write_file("a.txt", "1");
    utimensat(AT_FDCWD, at("a.txt"), times, 0);
    parse("\"a.txt\"", "f:a", NULL);
    watch_one();
    tells("");
    write_file("a.txt", "2");
    utimensat(AT_FDCWD, at("a.txt"), times, 0);
    tells("f:a ");
}

static void each_file_of_a_template_is_told_by_its_URI(void **state)
{
    (void)state;
    make_folder("notes");
    make_folder("notes/sub");
    write_file("notes/a b.md", "1");
    parse("{\"folder\":\"notes\",\"path\":\"{{id}}.md\"}", "note://{id}", NULL);
    watch_one();
    tells("");
    write_file("notes/a b.md", "22");
    write_file("notes/new.md", "1");
    write_file("notes/new.txt", "no note");
    write_file("notes/.hidden.md", "hidden");
    write_file("notes/.md", "no name");
    write_file("notes/sub/a.md", "in a folder");
    assert_int_equal(symlink("a b.md", at("notes/link.md")), 0);
    tells("note://a%20b note://new ");
    rename(at("notes/new.md"), at("notes/other%.md"));
    tells("note://new note://other%25 ");
    write_file("notes/sub/a.md", "again");
    tells("");
}

static void paths_of_several_parts_lead_back_to_their_variables(void **state)
{
    (void)state;
    make_folder("d");
    make_folder("d/x");
    make_folder("d/x/y");
    parse("{\"folder\":\"d\",\"path\":\"{{dir}}/n-{{id}}.md\"}", "n:{dir}/{id}", NULL);
    watch_one();
    tells("");
    write_file("d/x/n-1.md", "");
    write_file("d/x/1.md", "");
    write_file("d/n-1.md", "");
    write_file("d/x/y/n-2.md", "");
    tells("n:x/1 ");
    parse("{\"folder\":\"d\",\"path\":\"{{path}}\"}", "t:{+path}", NULL);
    watch_one();
    tells("t:n-1.md t:x/1.md t:x/n-1.md t:x/y/n-2.md ");
    parse("{\"folder\":\"d\",\"path\":\"{{id}}/{{id}}\"}", "r:{id}", NULL);
    write_file("d/x/x", "");
    watch_one();
    tells("r:x ");
    write_file("d/x/y/x", "");
    write_file("d/x/x", "1");
    tells("r:x ");
}

static void a_folder_may_go_and_come(void **state)
{
    (void)state;
    make_folder("notes");
    write_file("notes/a.md", "1");
    write_file("notes/b.md", "1");
    parse("{\"folder\":\"notes\",\"path\":\"{{id}}.md\"}", "n:{id}", NULL);
    watch_one();
    tells("");
    rename(at("notes"), at("away"));
    tells("n:a n:b ");
    rename(at("away"), at("notes"));
    tells("n:a n:b ");
}

/* ---- Looks ---------------------------------------------------------------------------------- */

static void a_change_that_cannot_be_told_is_told_at_the_next_look(void **state)
{
    (void)state;
    write_file("a.txt", "1");
    parse("\"a.txt\"", "f:a", NULL);
    watch_one();
    tells("");
    write_file("a.txt", "2");
    answer = ERR_BUSY;
    tells("");
    tells("");
    answer = 0;
    tells("f:a ");
    tells("");
}

static void between_two_looks_FILE_WATCH_MS_go_by(void **state)
{
    (void)state;
    write_file("a.txt", "1");
    parse("\"a.txt\"", "f:a", NULL);
    watch_one();
    tells("");
    int64_t start_ms = clock_mono_ms();
    tells("");
    write_file("a.txt", "2");
    buf_clear(&told);
    assert_int_equal(file_watch_look(watch, is_told, NULL), 0); /* at once */
    if (clock_mono_ms() - start_ms < 2 * FILE_WATCH_MS)         /* `tells` lets one go by */
        assert_int_equal(told.n, 0);
    clock_advance_ms(FILE_WATCH_MS);
    if (!told.n)
        tells("f:a ");
}

static int takes_long(void *ctx, struct str uri)
{
    clock_advance_ms(FILE_WATCH_MS);
    return is_told(ctx, uri);
}

static void after_a_long_look_FILE_WATCH_FACTOR_times_that_goes_by(void **state)
{
    (void)state;
    write_file("a.txt", "1");
    parse("\"a.txt\"", "f:a", NULL);
    watch_one();
    tells("");
    write_file("a.txt", "2");
    clock_advance_ms(FILE_WATCH_MS);
    assert_int_equal(file_watch_look(watch, takes_long, NULL), 0);
    write_file("a.txt", "3");
    clock_advance_ms(FILE_WATCH_MS * FILE_WATCH_FACTOR / 2);
    tells("");
    clock_advance_ms(FILE_WATCH_MS * FILE_WATCH_FACTOR * 100);
    tells("f:a ");
}

static void other_sources_keep_what_was_seen(void **state)
{
    const struct file_source *sources[2];
    (void)state;
    write_file("a.txt", "1");
    write_file("b.txt", "1");
    parse("\"a.txt\"", "f:a", NULL);
    watch_one();
    tells("");
    parse("\"b.txt\"", "f:b", NULL);
    sources[0] = rig.source;
    parse("\"a.txt\"", "f:a", NULL);
    sources[1] = rig.source;
    assert_int_equal(file_watch_set(watch, sources, 2), 0);
    tells("f:b ");
    write_file("a.txt", "2");
    tells("f:a ");
    assert_int_equal(file_watch_set(watch, NULL, 0), 0);
    tells("");
}

static void beyond_FILES_WATCHED_MAX_files_are_not_watched(void **state)
{
    (void)state;
    make_folder("d");
    for (int i = 0; i < FILES_WATCHED_MAX + 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "d/%05d", i);
        close(open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    parse("{\"folder\":\"d\",\"path\":\"{{id}}\"}", "n:{id}", NULL);
    tells("");
    watch_one();
    answer = 0;
    buf_clear(&told);
    clock_advance_ms(100 * FILE_WATCH_MS);
    assert_int_equal(file_watch_look(watch, is_told, NULL), 0);
    assert_int_equal(told.n, FILES_WATCHED_MAX * strlen("n:00000 "));
}

static void beyond_FILE_FOLDERS_DEPTH_folders_are_not_entered(void **state)
{
    char path[128] = "d";
    (void)state;
    make_folder(path);
    parse("{\"folder\":\"d\",\"path\":\"{{path}}\"}", "t:{+path}", NULL);
    watch_one();
    tells("");
    for (int i = 0; i < FILE_FOLDERS_DEPTH + 2; i++) {
        strcat(path, "/f");
        make_folder(path);
        strcat(path, "/x");
        write_file(path, "");
        path[strlen(path) - 2] = '\0';
    }
    struct timespec pause = {.tv_nsec = 30000000};
    nanosleep(&pause, NULL);
    buf_clear(&told);
    clock_advance_ms(FILE_WATCH_MS);
    assert_int_equal(file_watch_look(watch, is_told, NULL), 0);
    unsigned n = 0;
    for (const char *p = text_in(&told); (p = strchr(p, ' ')); p++)
        n++;
    assert_int_equal(n, FILE_FOLDERS_DEPTH);
}

/* ---- Between two lives ---------------------------------------------------------------------- */

static void live_again(void)
{
    file_watch_free(watch);
    assert_int_equal(file_watch_new(at("state"), &watch), 0);
    watch_one();
}

static void what_changed_while_nobody_looked_is_told(void **state)
{
    (void)state;
    make_folder("notes");
    write_file("notes/a b.md", "1");
    write_file("notes/line\nend.md", "1");
    write_file("notes/gone.md", "1");
    parse("{\"folder\":\"notes\",\"path\":\"{{id}}.md\"}", "n:{id}", NULL);
    live_again();
    tells("");
    live_again();
    tells("");
    write_file("notes/line\nend.md", "2");
    write_file("notes/new.md", "1");
    unlink(at("notes/gone.md"));
    live_again();
    tells("n:gone n:line%0Aend n:new ");
    live_again();
    tells("");
}

static void what_could_not_be_told_before_a_crash_is_told_after_it(void **state)
{
    (void)state;
    write_file("a.txt", "1");
    parse("\"a.txt\"", "f:a", NULL);
    live_again();
    tells("");
    write_file("a.txt", "2");
    answer = ERR_IO;
    tells("");
    answer = 0;
    live_again();
    tells("f:a ");
}

static void a_damaged_state_tells_too_much_but_not_too_little(void **state)
{
    (void)state;
    static const char *const damaged[] = {"", "nonsense\n", "tenon files 1\n",
                                          "tenon files 1\n1 2\nx y z\n\n-1 0 0 0 a\n1 2 3 4 %zz\n",
                                          "tenon files 1\n99999999999999999999999 1 1 1 f%3Aa\n"};
    write_file("a.txt", "1");
    parse("\"a.txt\"", "f:a", NULL);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_file("state", damaged[i]);
        live_again();
        tells("f:a ");
        live_again();
        tells("");
    }
}

static void a_state_that_cannot_be_written_is_no_end(void **state)
{
    (void)state;
    write_file("a.txt", "1");
    parse("\"a.txt\"", "f:a", NULL);
    file_watch_free(watch);
    assert_int_equal(file_watch_new(at("none/state"), &watch), 0);
    watch_one();
    tells("");
    write_file("a.txt", "2");
    tells("f:a ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_resource_is_told_when_its_file_changes),
        TEST(an_old_time_of_change_does_not_hide_one),
        TEST(each_file_of_a_template_is_told_by_its_URI),
        TEST(paths_of_several_parts_lead_back_to_their_variables),
        TEST(a_folder_may_go_and_come),
        TEST(a_change_that_cannot_be_told_is_told_at_the_next_look),
        TEST(between_two_looks_FILE_WATCH_MS_go_by),
        TEST(after_a_long_look_FILE_WATCH_FACTOR_times_that_goes_by),
        TEST(other_sources_keep_what_was_seen),
        TEST(beyond_FILES_WATCHED_MAX_files_are_not_watched),
        TEST(beyond_FILE_FOLDERS_DEPTH_folders_are_not_entered),
        TEST(what_changed_while_nobody_looked_is_told),
        TEST(what_could_not_be_told_before_a_crash_is_told_after_it),
        TEST(a_damaged_state_tells_too_much_but_not_too_little),
        TEST(a_state_that_cannot_be_written_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
