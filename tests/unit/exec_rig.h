/* tests/unit/exec_rig.h - commands run in a call that only writes down what it is given.
 *
 * What exec_run needs of tenon.h is defined here, so core is not in the program, and many calls may
 * run on threads of their own.
 */
#ifndef TENON_TESTS_UNIT_EXEC_RIG_H
#define TENON_TESTS_UNIT_EXEC_RIG_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "manifest/exec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct tenon_call {
    const char *arguments;
    _Atomic bool cancelled;
    _Atomic bool cancel_on_progress;
    struct buf given; /* "text:hello;" and so on, in order */
    struct buf told;  /* progress and log */
    struct buf failure;
};

const char *tenon_arguments(struct tenon_call *call)
{
    return call->arguments;
}

bool tenon_cancelled(struct tenon_call *call)
{
    return call->cancelled;
}

int tenon_text(struct tenon_call *call, const char *text)
{
    buf_printf(&call->given, "text:%s;", text);
    return 0;
}

int tenon_image(struct tenon_call *call, const char *mime_type, const void *data, size_t len)
{
    buf_printf(&call->given, "image:%s:", mime_type);
    buf_add(&call->given, data, len);
    buf_add_char(&call->given, ';');
    return 0;
}

int tenon_audio(struct tenon_call *call, const char *mime_type, const void *data, size_t len)
{
    buf_printf(&call->given, "audio:%s:%.*s;", mime_type, (int)len, (const char *)data);
    return 0;
}

int tenon_embed_text(struct tenon_call *call, const char *uri, const char *mime_type,
                     const char *text)
{
    buf_printf(&call->given, "embed:%s:%s:%s;", uri, mime_type ? mime_type : "-", text);
    return 0;
}

int tenon_embed_blob(struct tenon_call *call, const char *uri, const char *mime_type,
                     const void *data, size_t len)
{
    buf_printf(&call->given, "blob:%s:%s:%.*s;", uri, mime_type ? mime_type : "-", (int)len,
               (const char *)data);
    return 0;
}

int tenon_link(struct tenon_call *call, const char *uri, const char *name, const char *title,
               const char *description, const char *mime_type)
{
    buf_printf(&call->given, "link:%s:%s:%s:%s:%s;", uri, name, title ? title : "-",
               description ? description : "-", mime_type ? mime_type : "-");
    return 0;
}

int tenon_structured(struct tenon_call *call, const char *json)
{
    buf_printf(&call->given, "structured:%s;", json);
    return 0;
}

int tenon_progress(struct tenon_call *call, double progress, double total, const char *message)
{
    buf_printf(&call->told, "progress:%g/%g:%s;", progress, total, message ? message : "-");
    if (call->cancel_on_progress)
        call->cancelled = true;
    return 0;
}

int tenon_log(struct tenon_call *call, enum tenon_log_level level, const char *logger,
              const char *data)
{
    buf_printf(&call->told, "log:%d:%s:%s;", (int)level, logger ? logger : "-", data);
    return 0;
}

int tenon_fail(struct tenon_call *call, const char *format, ...)
{
    char text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_add_str(&call->failure, str_of(text));
    return TENON_ERR_FAILED;
}

/* ---- A command ------------------------------------------------------------------------------ */

struct rig {
    struct arena arena;
    char folder[64]; /* the manifest's, made for this test */
    const struct exec *exec;
    struct tenon_call call; /* the last one */
};

static struct rig rig;

static inline int parse_with(const char *exec, const char *input, struct json_error *error)
{
    struct json *tree = NULL, *schema = NULL;
    if (json_tree_parse(str_of(exec), &rig.arena, &tree, error) < 0)
        fail_msg("%s: %s", exec, error->text);
    if (input && json_tree_parse(str_of(input), &rig.arena, &schema, error) < 0)
        fail_msg("%s: %s", input, error->text);
    return exec_parse(tree, schema, STR("test"), str_of(rig.folder), &rig.arena, &rig.exec, error);
}

/* The arguments a, b and c are required, x and y are not. */
#define INPUT                                                                           \
    "{\"type\":\"object\",\"required\":[\"a\",\"b\",\"c\"],\"properties\":{\"x\":true," \
    "\"y\":true}}"

static inline void parse(const char *exec)
{
    struct json_error error;
    if (parse_with(exec, INPUT, &error) != 0)
        fail_msg("%s\n  %u:%u %s", exec, error.line, error.column, error.text);
}

static inline void refuses(const char *exec, uint32_t line, uint32_t column, const char *part)
{
    struct json_error error = {0};
    assert_int_equal(parse_with(exec, INPUT, &error), ERR_PARAMS);
    if (error.line != line || error.column != column || !strstr(error.text, part))
        fail_msg("%s\n  gave   %u:%u %s\n  wanted %u:%u %s", exec, error.line, error.column,
                 error.text, line, column, part);
}

static inline void call_done(struct tenon_call *call)
{
    buf_done(&call->given);
    buf_done(&call->told);
    buf_done(&call->failure);
}

static inline const char *text_in(struct buf *b)
{
    buf_add(b, "", 1);
    b->n--;
    return b->p;
}

/* Runs the command that was parsed last; what exec_run returned. */
static inline int run(const char *arguments)
{
    call_done(&rig.call);
    rig.call = (struct tenon_call){.arguments = arguments};
    return exec_run(&rig.call, (void *)(uintptr_t)rig.exec);
}

static inline void gives(const char *arguments, const char *wanted)
{
    int err = run(arguments);
    if (err != 0)
        fail_msg("%s\n  failed (%d): %s", arguments, err, text_in(&rig.call.failure));
    assert_string_equal(text_in(&rig.call.given), wanted);
}

static inline void fails(const char *arguments, const char *wanted)
{
    int err = run(arguments);
    if (err != TENON_ERR_FAILED || !strstr(text_in(&rig.call.failure), wanted))
        fail_msg("%s\n  returned %d: %s\n  wanted: %s", arguments, err, text_in(&rig.call.failure),
                 wanted);
}

/* A shell script as the command, with the words behind it. */
static inline void parse_script(const char *script, const char *more)
{
    char exec[4096];
    snprintf(exec, sizeof exec, "{\"argv\":[\"/bin/sh\",\"-c\",\"%s\"]%s}", script, more);
    parse(exec);
}

/* ---- What is left --------------------------------------------------------------------------- */

static inline int count_fds(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* A process that is there and no zombie. */
static inline bool is_running(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *behind = strrchr(text, ')');
    return behind && behind[1] && behind[2] != 'Z' && behind[2] != 'X';
}

static inline bool ends_in_time(pid_t pid)
{
    int64_t end_ms = clock_mono_ms() + 30000;
    while (is_running(pid) && clock_mono_ms() < end_ms)
        sched_yield();
    return !is_running(pid);
}

/* A number that the command wrote into a file of its folder. */
static inline pid_t pid_in(const char *name)
{
    char path[128];
    int pid = 0;
    snprintf(path, sizeof path, "%s/%s", rig.folder, name);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return pid;
}

static inline int rig_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN); /* as in every process that serves */
    strcpy(rig.folder, "/tmp/tenon-exec.XXXXXX");
    assert_non_null(mkdtemp(rig.folder));
    arena_init(&rig.arena, 64u << 20);
    return 0;
}

static inline int rig_down(void **state)
{
    char command[128];
    (void)state;
    call_done(&rig.call);
    rig.call = (struct tenon_call){0};
    arena_done(&rig.arena);
    snprintf(command, sizeof command, "rm -rf %s", rig.folder);
    return system(command);
}

static inline void write_file(const char *name, const char *text, int mode)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", rig.folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(path, (mode_t)mode);
}

static inline void remove_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", rig.folder, name);
    unlink(path);
}

#endif
