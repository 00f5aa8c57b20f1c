/* tests/unit/file_rig.h - files read in a call that only writes down what it is given.
 *
 * What manifest/file_*.c need of tenon.h is defined here. URIs are matched by the real templates.
 */
#ifndef TENON_TESTS_UNIT_FILE_RIG_H
#define TENON_TESTS_UNIT_FILE_RIG_H

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "manifest/file_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct tenon_call {
    const char *uri;
    const struct template *template;
    const struct template_value *values;
    const char *const *context; /* name, value, ..., NULL */
    struct arena arena;
    struct buf given; /* "text/plain:hello" or "image/png#bytes" */
    struct buf failure;
};

const char *tenon_uri(struct tenon_call *call)
{
    return call->uri;
}

const char *tenon_variable(struct tenon_call *call, const char *name, unsigned i)
{
    for (uint32_t at = 0; at < template_n_names(call->template); at++)
        if (str_eq(template_name(call->template, at), str_of(name)))
            return i < call->values[at].n_items
                       ? arena_str(&call->arena, call->values[at].items[i]).p
                       : NULL;
    return NULL;
}

const char *tenon_context(struct tenon_call *call, const char *name)
{
    for (const char *const *p = call->context; p && *p; p += 2)
        if (strcmp(*p, name) == 0)
            return p[1];
    return NULL;
}

int tenon_complete(struct tenon_call *call, const char *value)
{
    buf_printf(&call->given, "%s ", value);
    return 0;
}

int tenon_contents_text(struct tenon_call *call, const char *uri, const char *mime_type,
                        const char *text)
{
    assert_null(uri);
    buf_printf(&call->given, "%s:%s", mime_type, text);
    return 0;
}

int tenon_contents_blob(struct tenon_call *call, const char *uri, const char *mime_type,
                        const void *data, size_t len)
{
    assert_null(uri);
    buf_printf(&call->given, "%s#", mime_type);
    buf_add(&call->given, data, len);
    return 0;
}

int tenon_fail(struct tenon_call *call, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_add_str(&call->failure, str_of(text));
    return TENON_ERR_FAILED;
}

/* ---- A folder ------------------------------------------------------------------------------- */

struct rig {
    struct arena arena;
    char folder[64];
    const struct file_source *source; /* the one that was parsed last */
    struct tenon_call call;
};

static struct rig rig;

static inline const char *at(const char *name)
{
    static char paths[4][256];
    static unsigned n;
    char *path = paths[n++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", rig.folder, name);
    return path;
}

static inline void write_bytes(const char *name, const char *bytes, size_t n)
{
    int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static inline void write_file(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static inline void make_folder(const char *name)
{
    assert_int_equal(mkdir(at(name), 0755), 0);
}

static inline const char *text_in(struct buf *b)
{
    buf_add(b, "", 1);
    b->n--;
    return b->p;
}

static inline int parse_with(const char *file, const char *uri, const char *mime_type,
                             struct json_error *error)
{
    struct json *tree = NULL;
    if (json_tree_parse(str_of(file), &rig.arena, &tree, error) < 0)
        fail_msg("%s: %s", file, error->text);
    return file_source_parse(tree, strchr(uri, '{') != NULL, str_of(uri),
                             mime_type ? str_of(mime_type) : STR_NONE, str_of(rig.folder),
                             &rig.arena, &rig.source, error);
}

static inline void parse(const char *file, const char *uri, const char *mime_type)
{
    struct json_error error;
    if (parse_with(file, uri, mime_type, &error) != 0)
        fail_msg("%s\n  %u:%u %s", file, error.line, error.column, error.text);
}

static inline void refuses(const char *file, const char *uri, uint32_t column, const char *part)
{
    struct json_error error = {0};
    assert_int_equal(parse_with(file, uri, NULL, &error), ERR_PARAMS);
    if (error.line != 1 || error.column != column || !strstr(error.text, part))
        fail_msg("%s\n  gave   %u:%u %s\n  wanted 1:%u %s", file, error.line, error.column,
                 error.text, column, part);
}

static inline void call_begin(const char *uri)
{
    arena_done(&rig.call.arena);
    buf_done(&rig.call.given);
    buf_done(&rig.call.failure);
    rig.call = (struct tenon_call){.uri = uri, .template = rig.source->template};
    arena_init(&rig.call.arena, 0);
}

/* What file_read returned; TENON_ERR_NOT_FOUND too where the template does not fit. */
static inline int read_uri(const char *uri)
{
    call_begin(uri);
    if (rig.source->template && template_match(rig.source->template, str_of(uri), TEMPLATE_SAFE,
                                               &rig.call.arena, &rig.call.values) < 0)
        return TENON_ERR_NOT_FOUND;
    return file_read(&rig.call, (void *)(uintptr_t)rig.source);
}

static inline void gives(const char *uri, const char *wanted)
{
    int err = read_uri(uri);
    if (err != 0)
        fail_msg("%s: %d %s", uri, err, text_in(&rig.call.failure));
    assert_string_equal(text_in(&rig.call.given), wanted);
}

static inline void is_not_found(const char *uri)
{
    int err = read_uri(uri);
    if (err != TENON_ERR_NOT_FOUND)
        fail_msg("%s: %d %s%s", uri, err, text_in(&rig.call.given), text_in(&rig.call.failure));
}

static inline int rig_up(void **state)
{
    (void)state;
    rig = (struct rig){.folder = "/tmp/tenon-files.XXXXXX"};
    assert_non_null(mkdtemp(rig.folder));
    arena_init(&rig.arena, 0);
    arena_init(&rig.call.arena, 0);
    return 0;
}

static inline int rig_down(void **state)
{
    char command[128];
    (void)state;
    arena_done(&rig.call.arena);
    buf_done(&rig.call.given);
    buf_done(&rig.call.failure);
    arena_done(&rig.arena);
    snprintf(command, sizeof command, "rm -rf %s", rig.folder);
    return system(command);
}

#endif
