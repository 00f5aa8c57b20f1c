/* tests/wire/run_wire.c - replays the transcripts of tests/wire/ (or of the files named) as tests.
 *
 * A transcript file is a page to read. A heading "## NAME" begins a test; what follows in fenced
 * blocks is played, the prose between is for people:
 *   ```mcp [REVISION | no session]     exchanges over HTTP (wire_play.h)
 *   ```stdio [REVISION | no session]   lines over stdio (wire_stdio.h)
 *   ```sh                              commands run on a new data directory ($TENON, $DATA)
 *   ```json config                     the config file of the server
 * sh and config stand for the rest of the file, until the next of them; the server starts when the
 * first transcript behind them needs it. Without any sh block the tables of fixture.bash are there.
 *
 * Each test runs twice: requests written whole, and one byte at a time. run_wire --at PORT FILE...
 * plays against a server that runs already.
 */
#include "tests/lib/server.h"
#include "tests/lib/tap.h"
#include "tests/wire/wire_play.h"
#include "tests/wire/wire_stdio.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE "bash tests/wire/fixture.bash\n"

struct page {
    const char *path;
    char **lines;
    int n;
};

struct run {
    struct server fixture; /* holds its data directory, made once */
    struct server server;
    bool running;
    uint16_t outside_port; /* of a server that is not ours, or 0 */
    char *setup;           /* shell commands, NULL: the fixture */
    char *config;          /* JSON, or NULL */
    struct wire_law_state laws[N_LAWS];
    bool bytes;
};

/* ---- Reading a page ------------------------------------------------------------------------- */

static bool page_load(const char *path, struct page *ret)
{
    FILE *f = fopen(path, "r");
    struct page page = {.path = path};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while (f && (n = getline(&line, &cap, f)) >= 0) {
        if (n > 0 && line[n - 1] == '\n')
            line[n - 1] = 0;
        page.lines = realloc(page.lines, (size_t)(page.n + 1) * sizeof *page.lines);
        page.lines[page.n++] = strdup(line);
    }
    free(line);
    if (f)
        fclose(f);
    *ret = page;
    return f != NULL;
}

static void page_free(struct page *page)
{
    for (int i = 0; i < page->n; i++)
        free(page->lines[i]);
    free(page->lines);
}

/* The line that ends the fence opened at `open`. */
static int fence_end(const struct page *page, int open)
{
    int i = open + 1;
    while (i < page->n && strcmp(page->lines[i], "```") != 0)
        i++;
    return i;
}

static char *join(const struct page *page, int from, int to)
{
    struct buf b = {0};
    for (int i = from; i < to; i++)
        buf_printf(&b, "%s\n", page->lines[i]);
    buf_add_char(&b, 0);
    return b.p;
}

/* ---- The server ------------------------------------------------------------------------------ */

static void stop(struct run *run, const char *path)
{
    if (!run->running)
        return;
    run->running = false;
    if (!tap_ok(server_stop(&run->server), "%s: the server ends well", path))
        server_show_log(&run->server);
    server_remove(&run->server);
}

/* A new data directory as the page wants it; the usual one is copied. */
static bool set_up(struct run *run)
{
    char copy[200];
    const char *setup = run->setup ? run->setup : FIXTURE;
    if (!server_dir(&run->server))
        return false;
    if (strcmp(setup, FIXTURE) != 0)
        return server_sh(&run->server, setup) == 0;
    if (!run->fixture.dir[0] &&
        (!server_dir(&run->fixture) || server_sh(&run->fixture, FIXTURE) != 0))
        return false;
    snprintf(copy, sizeof copy, "cp -r %s $DATA", run->fixture.data);
    return server_sh(&run->server, copy) == 0;
}

static bool start(struct run *run)
{
    if (run->running || run->outside_port)
        return true;
    bool ok = set_up(run) && server_start(&run->server, run->config, NULL, false);
    if (ok)
        run->running = true;
    else
        server_show_log(&run->server), server_remove(&run->server);
    return ok;
}

static void change_setup(struct run *run, const struct page *page, int open, int end)
{
    bool is_sh = strcmp(page->lines[open], "```sh") == 0;
    char **what = is_sh ? &run->setup : &run->config;
    stop(run, page->path);
    free(*what);
    *what = join(page, open + 1, end);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static const char *version_of(const char *info)
{
    if (strcmp(info, "no session") == 0)
        return NULL;
    return *info ? info : "2025-06-18";
}

static bool play(struct run *run, const struct page *page, int open, int end, struct wire_play *p)
{
    const char *fence = page->lines[open];
    bool stdio = strncmp(fence, "```stdio", 8) == 0;
    const char *info = fence + (stdio ? 8 : 6);
    *p = (struct wire_play){.port = run->outside_port ? run->outside_port : run->server.port,
                            .version = version_of(info + strspn(info, " ")),
                            .bytes = run->bytes,
                            .laws = run->laws,
                            .line = open + 2};
    if (stdio)
        return wire_stdio(p, &run->server, page->lines + open + 1, end - open - 1);
    return wire_play(p, page->lines + open + 1, end - open - 1);
}

static bool is_transcript(const char *line)
{
    return strncmp(line, "```mcp", 6) == 0 || strncmp(line, "```stdio", 8) == 0;
}

static bool is_setup(const char *line)
{
    return strcmp(line, "```sh") == 0 || strcmp(line, "```json config") == 0;
}

/* Plays the blocks of one test, from behind its heading; returns where the next begins. */
static int play_test(struct run *run, const struct page *page, int at)
{
    const char *name = page->lines[at] + 3;
    struct wire_play p = {0};
    bool ok = true;
    int played = 0, i = at + 1;
    for (; i < page->n && strncmp(page->lines[i], "## ", 3) != 0; i++) {
        int end = strncmp(page->lines[i], "```", 3) == 0 ? fence_end(page, i) : i;
        if (is_setup(page->lines[i]))
            change_setup(run, page, i, end);
        if (is_transcript(page->lines[i]) && ok) {
            ok = start(run) && play(run, page, i, end, &p);
            played++;
        }
        i = end;
    }
    if (!tap_ok(ok && played, "%s%s", name, run->bytes ? ", byte by byte" : ""))
        tap_note("%s:%d: %s\n%s", page->path, p.line, p.line ? page->lines[p.line - 1] : name,
                 p.why[0] ? p.why : "the server did not start, or nothing to play");
    return i;
}

static void play_page(struct run *run, const struct page *page)
{
    for (int i = 0; i < page->n;) {
        if (is_setup(page->lines[i])) {
            int end = fence_end(page, i);
            change_setup(run, page, i, end);
            i = end;
        } else if (strncmp(page->lines[i], "## ", 3) == 0) {
            i = play_test(run, page, i);
            continue;
        }
        i++;
    }
    stop(run, page->path);
    free(run->setup);
    free(run->config);
    run->setup = run->config = NULL;
}

static void play_file(struct run *run, const char *path)
{
    struct page page;
    if (!page_load(path, &page)) {
        tap_ok(false, "%s can be read", path);
        return;
    }
    run->bytes = false;
    play_page(run, &page);
    run->bytes = true;
    play_page(run, &page);
    page_free(&page);
}

/* A law that no reply came under is only a failure when all pages were played. */
static void report_laws(const struct run *run, bool all_pages)
{
    for (int i = 0; i < N_LAWS; i++) {
        const struct wire_law_state *law = &run->laws[i];
        if (!all_pages && !law->seen)
            continue;
        if (!tap_ok(law->seen > 0 && !law->broken[0], "%s (%d seen)", wire_law_names[i], law->seen))
            tap_note("%s", law->broken[0] ? law->broken : "nothing was seen");
    }
}

/* ---- The judge itself ------------------------------------------------------------------------ */

static void judge_the_matcher(void)
{
    static const struct {
        const char *pattern, *json;
        bool fits;
    } pairs[] = {
        {"{\"a\":1}", "{ \"a\" : 1 }", true},
        {"{\"a\":1}", "{\"a\":1.0}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
        {"{\"a\":1,...}", "{\"b\":2,\"a\":1}", true},
        {"{\"a\":*}", "{\"b\":1}", false},
        {"{\"a\":*}", "{\"a\":{\"b\":[]}}", true},
        {"[1,...]", "[1,2,3]", true},
        {"[...,3]", "[1,2,3]", true},
        {"[...,2]", "[1,2,3]", false},
        {"[1,2]", "[1,2,3]", false},
        {"[]", "[1]", false},
        {"\"a*c\"", "\"abbc\"", true},
        {"\"a*c\"", "\"abb\"", false},
        {"\"\\u00e9\"", "\"é\"", true},
        {"[$A,$A]", "[{\"x\":1},{\"x\":1}]", true},
        {"[$A,$A]", "[1,2]", false},
        {"{}", "{", false},
        {"{}", "{} x", false},
        {"*", "nul", false},
        {"{\"a\":null}", "{\"a\":false}", false},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct match_vars vars = {{NULL}};
        char why[512];
        if (match_json(pairs[i].pattern, pairs[i].json, &vars, why) != pairs[i].fits) {
            tap_note("pattern %s, reply %s: %s", pairs[i].pattern, pairs[i].json, why);
            ok = false;
        }
        match_vars_clear(&vars);
    }
    tap_ok(ok, "patterns fit and do not fit as they should");
}

int main(int argc, char **argv)
{
    struct run run = {0};
    int first = 1;
    judge_the_matcher();
    if (argc > 2 && strcmp(argv[1], "--at") == 0) {
        run.outside_port = (uint16_t)atoi(argv[2]);
        first = 3;
    }
    glob_t found = {0};
    if (first >= argc && glob("tests/wire/*.md", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            play_file(&run, found.gl_pathv[i]);
        globfree(&found);
    }
    for (int i = first; i < argc; i++)
        play_file(&run, argv[i]);
    report_laws(&run, first >= argc);
    server_remove(&run.fixture);
    return tap_done();
}
