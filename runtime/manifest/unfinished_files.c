/* manifest/unfinished_files.c - stands in for files of builder F. */
#include "base/err.h"
#include "manifest/files.h"

int file_source_parse(const struct json *file, bool is_template, struct str uri,
                      struct str mime_type, struct str folder, struct arena *arena,
                      const struct file_source **ret, struct json_error *error)
{
    (void)file, (void)is_template, (void)uri, (void)mime_type, (void)folder, (void)arena,
        (void)error;
    *ret = NULL;
    return 0;
}
int file_read(struct tenon_call *call, void *source)
{
    (void)source;
    return tenon_fail(call, "unfinished");
}
int file_complete(struct tenon_call *call, const char *variable, const char *value, void *source)
{
    (void)call, (void)variable, (void)value, (void)source;
    return 0;
}
int file_watch_new(const char *state, struct file_watch **ret)
{
    (void)state;
    *ret = NULL;
    return 0;
}
void file_watch_free(struct file_watch *watch)
{
    (void)watch;
}
int file_watch_set(struct file_watch *watch, const struct file_source *const *sources, uint32_t n)
{
    (void)watch, (void)sources, (void)n;
    return 0;
}
int file_watch_look(struct file_watch *watch, int (*changed)(void *ctx, struct str uri), void *ctx)
{
    (void)watch, (void)changed, (void)ctx;
    return 0;
}
