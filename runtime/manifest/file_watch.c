/* manifest/file_watch.c - which watched files are others than at the last look.
 *
 * A look makes a list of all files with their stamps, sorted by name, and goes through it beside
 * the last one: so it costs the same whatever happened, needs nothing of the kernel that a network
 * file system does not have, and forgets nothing while nobody looked. The last list is kept in a
 * file, which is written after the changes were told: a crash tells them twice, never not at all.
 *
 * A file that was changed just before its stamp was taken may be changed again within the same
 * tick of the kernel's clock; such a stamp does not count as one at the next look.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "manifest/file_parts.h"
#include "schema/percent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS      20000000 /* of the kernel's clock, and some more */
#define STATE_HEADER "tenon files 1\n"
#define STATE_BYTES  (64u << 20)

struct stamp {
    int64_t mtime_ns, ctime_ns, size;
    uint64_t inode;
};

/* `key`: the URI or template, a line end, the path. */
struct seen {
    struct str key;
    struct stamp stamp;
};

struct list {
    struct arena arena; /* of the keys */
    struct seen *v;
    size_t n, cap;
};

struct file_watch {
    char *state; /* path; NULL: none */
    const struct file_source **sources;
    uint32_t n_sources;
    struct list last;
    bool has_last, told_too_many;
    int64_t next_ms;
};

/* ---- Lists ---------------------------------------------------------------------------------- */

static void list_init(struct list *list)
{
    *list = (struct list){0};
    arena_init(&list->arena, CATALOG_BYTES_MAX);
}

static void list_done(struct list *list)
{
    arena_done(&list->arena);
    free(list->v);
    *list = (struct list){0};
}

static int list_add(struct list *list, struct str key, const struct stamp *stamp)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 64;
        struct seen *v = reallocarray(list->v, cap, sizeof *v);
        if (!v)
            return ERR_NO_MEMORY;
        list->v = v;
        list->cap = cap;
    }
    key = arena_str(&list->arena, key);
    if (!key.p)
        return ERR_NO_MEMORY;
    list->v[list->n++] = (struct seen){key, *stamp};
    return 0;
}

static int compare(const void *a, const void *b)
{
    return str_compare(((const struct seen *)a)->key, ((const struct seen *)b)->key);
}

static void list_sort(struct list *list)
{
    if (list->n)
        qsort(list->v, list->n, sizeof *list->v, compare);
}

/* ---- A look --------------------------------------------------------------------------------- */

struct looking {
    struct list *list;
    const struct file_source *source;
    struct buf key;
    size_t n_prefix; /* of the key: what stands before the path */
    int64_t now_ns;
    bool too_many;
};

static int64_t ns_of(struct timespec t)
{
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The kernel's own clock, by which files are stamped. */
static int64_t kernel_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ns_of(now);
}

static int note(struct looking *l, const struct stat *st)
{
    struct stamp stamp = {
        .mtime_ns = ns_of(st->st_mtim),
        .ctime_ns = ns_of(st->st_ctim),
        .size = st->st_size,
        .inode = st->st_ino,
    };
    if (l->key.failed)
        return ERR_NO_MEMORY;
    if (l->list->n == FILES_WATCHED_MAX) {
        l->too_many = true;
        return 0;
    }
    if (stamp.ctime_ns > l->now_ns - TICK_NS)
        stamp.ctime_ns = 0;
    return list_add(l->list, buf_str(&l->key), &stamp);
}

static int look_into(struct looking *l, int folder, unsigned depth);

static int look_at(struct looking *l, int folder, const char *name, unsigned depth)
{
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0; /* gone by now */
    if (S_ISREG(st.st_mode))
        return note(l, &st);
    if (!S_ISDIR(st.st_mode) || depth == FILE_FOLDERS_DEPTH)
        return 0;
    int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    buf_add_char(&l->key, '/');
    return below < 0 ? 0 : look_into(l, below, depth + 1);
}

/* Takes the descriptor. */
static int look_into(struct looking *l, int folder, unsigned depth)
{
    size_t n = l->key.n;
    int err = 0;
    DIR *dir = fdopendir(folder);
    if (!dir) {
        close(folder);
        return errno == ENOMEM ? ERR_NO_MEMORY : 0;
    }
    for (struct dirent *entry; !err && !l->too_many && (entry = readdir(dir)); l->key.n = n) {
        struct str name = str_of(entry->d_name);
        if (!file_path_is_allowed(name, l->source->shows_hidden))
            continue;
        buf_add_str(&l->key, name);
        err = look_at(l, folder, entry->d_name, depth);
    }
    closedir(dir);
    return err;
}

static int look_at_one(struct looking *l)
{
    struct stat st;
    int fd, err = file_path_write(l->source, NULL, NULL, &l->key); /* it has no variables */
    if (err)
        return err;
    buf_add_char(&l->key, '\0');
    l->key.n -= !l->key.failed;
    if (l->key.failed)
        return ERR_NO_MEMORY;
    if (file_open_beneath(l->source->root, l->key.p + l->n_prefix, O_PATH | O_NOFOLLOW, &fd))
        return 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        err = note(l, &st);
    close(fd);
    return err;
}

static int look_at_source(struct looking *l)
{
    buf_clear(&l->key);
    buf_add_str(&l->key, l->source->uri);
    buf_add_char(&l->key, '\n');
    l->n_prefix = l->key.n;
    if (!l->source->template)
        return look_at_one(l);
    int root = open(l->source->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return root < 0 ? 0 : look_into(l, root, 0);
}

static int look(struct file_watch *watch, struct list *list)
{
    struct looking l = {.list = list, .now_ns = kernel_now_ns()};
    int err = 0;
    for (uint32_t i = 0; !err && i < watch->n_sources; i++) {
        l.source = watch->sources[i];
        err = look_at_source(&l);
    }
    buf_done(&l.key);
    list_sort(list);
    if (l.too_many && !watch->told_too_many)
        log_warn("there are more than %d watched files: changes of the others are not told",
                 FILES_WATCHED_MAX);
    watch->told_too_many |= l.too_many;
    return err;
}

/* ---- Telling -------------------------------------------------------------------------------- */

struct telling {
    const struct file_watch *watch;
    struct arena arena;
    struct buf uri;
    int (*changed)(void *ctx, struct str uri);
    void *ctx;
};

static const struct file_source *find_source(const struct file_watch *watch, struct str uri)
{
    for (uint32_t i = 0; i < watch->n_sources; i++)
        if (str_eq(watch->sources[i]->uri, uri))
            return watch->sources[i];
    return NULL;
}

static int tell(struct telling *t, const struct seen *seen)
{
    struct str path = seen->key, uri = str_cut(&path, '\n');
    const struct file_source *source = find_source(t->watch, uri);
    if (!source)
        return 0;
    int err = file_uri_write(source, path, &t->arena, &t->uri);
    if (!err)
        err = t->changed(t->ctx, buf_str(&t->uri));
    else if (err == ERR_ABSENT)
        err = 0; /* no URI leads to it */
    arena_reset(&t->arena);
    return err;
}

static bool is_same(const struct stamp *a, const struct stamp *b)
{
    return a->ctime_ns && a->ctime_ns == b->ctime_ns && a->mtime_ns == b->mtime_ns &&
           a->size == b->size && a->inode == b->inode;
}

/* Both are sorted. *ret_n: how many came, went or changed. */
static int tell_differences(struct telling *t, const struct list *old, const struct list *new,
                            size_t *ret_n)
{
    int err = 0;
    for (size_t i = 0, j = 0; !err && (i < old->n || j < new->n);) {
        int order = i == old->n ? 1 : j == new->n ? -1 : str_compare(old->v[i].key, new->v[j].key);
        if (order != 0 || !is_same(&old->v[i].stamp, &new->v[j].stamp)) {
            err = tell(t, order < 0 ? &old->v[i] : &new->v[j]);
            ++*ret_n;
        }
        i += order <= 0;
        j += order >= 0;
    }
    return err;
}

/* ---- The file between two lives ------------------------------------------------------------- */

static void write_seen(const struct seen *seen, struct buf *out)
{
    buf_printf(out, "%lld %lld %lld %llu ", (long long)seen->stamp.mtime_ns,
               (long long)seen->stamp.ctime_ns, (long long)seen->stamp.size,
               (unsigned long long)seen->stamp.inode);
    percent_encode(out, seen->key, PERCENT_UNRESERVED);
    buf_add_char(out, '\n');
}

static bool write_all(int fd, const struct buf *text)
{
    size_t n = 0;
    while (n < text->n) {
        ssize_t more = write(fd, text->p + n, text->n - n);
        if (more < 0 && errno != EINTR)
            return false;
        n += more > 0 ? (size_t)more : 0;
    }
    return true;
}

/* Beside it first, so that nobody ever reads half of it. */
static bool replace_state(const char *state, const struct buf *text)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s.new", state) >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, text);
    close(fd);
    return ok && rename(path, state) == 0;
}

static void save(const struct file_watch *watch)
{
    struct buf text = {0};
    if (!watch->state)
        return;
    buf_add_lit(&text, STATE_HEADER);
    for (size_t i = 0; i < watch->last.n; i++)
        write_seen(&watch->last.v[i], &text);
    if (text.failed || !replace_state(watch->state, &text))
        log_warn("%s cannot be written (%s): changes of files may be told again after a restart",
                 watch->state, text.failed ? "no memory" : strerror(errno));
    buf_done(&text);
}

static int load_line(struct list *list, struct str line)
{
    struct str rest = line, key;
    uint64_t v[4];
    struct arena arena;
    for (int i = 0; i < 4; i++)
        if (str_to_u64(str_cut(&rest, ' '), &v[i]) < 0)
            return ERR_SYNTAX;
    arena_init(&arena, 0);
    const struct stamp stamp = {(int64_t)v[0], (int64_t)v[1], (int64_t)v[2], v[3]};
    int err = rest.p ? percent_decode(rest, &arena, &key) : ERR_SYNTAX;
    if (!err)
        err = list_add(list, key, &stamp);
    arena_done(&arena);
    return err;
}

/* A line that cannot be read is as if the file had not been seen. */
static int load(struct list *list, struct str text)
{
    while (text.n) {
        int err = load_line(list, str_cut(&text, '\n'));
        if (err == ERR_NO_MEMORY)
            return err;
    }
    list_sort(list);
    return 0;
}

/* Without the file there was no earlier life. */
static int load_state(struct file_watch *watch)
{
    struct buf text = {.limit = STATE_BYTES};
    struct str rest;
    if (access(watch->state, F_OK) < 0)
        return 0;
    watch->has_last = true;
    int err = json_file_read(watch->state, &text, NULL);
    rest = buf_str(&text);
    bool is_ours = !err && str_starts_with(rest, STR(STATE_HEADER));
    if (is_ours) {
        str_cut(&rest, '\n');
        err = load(&watch->last, rest);
    } else if (err != ERR_NO_MEMORY) {
        log_warn("%s cannot be read: all watched files count as changed", watch->state);
        err = 0;
    }
    buf_done(&text);
    return err;
}

/* ---- The watch ------------------------------------------------------------------------------ */

int file_watch_new(const char *state, struct file_watch **ret)
{
    struct file_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return ERR_NO_MEMORY;
    list_init(&watch->last);
    watch->state = state ? strdup(state) : NULL;
    int err = state && !watch->state ? ERR_NO_MEMORY : state ? load_state(watch) : 0;
    if (err)
        file_watch_free(watch);
    else
        *ret = watch;
    return err;
}

void file_watch_free(struct file_watch *watch)
{
    if (!watch)
        return;
    list_done(&watch->last);
    free(watch->sources);
    free(watch->state);
    free(watch);
}

int file_watch_set(struct file_watch *watch, const struct file_source *const *sources, uint32_t n)
{
    const struct file_source **v = calloc((size_t)n + 1, sizeof *v);
    if (!v)
        return ERR_NO_MEMORY;
    if (n)
        memcpy(v, sources, n * sizeof *v);
    free(watch->sources);
    watch->sources = v;
    watch->n_sources = n;
    watch->told_too_many = false;
    watch->next_ms = 0;
    return 0;
}

static int tell_all(struct file_watch *watch, const struct list *new,
                    int (*changed)(void *ctx, struct str uri), void *ctx, size_t *ret_n)
{
    struct telling t = {.watch = watch, .changed = changed, .ctx = ctx};
    arena_init(&t.arena, 0);
    int err = watch->has_last ? tell_differences(&t, &watch->last, new, ret_n) : 0;
    arena_done(&t.arena);
    buf_done(&t.uri);
    return err;
}

static void rest(struct file_watch *watch, int64_t start_ms)
{
    int64_t now_ms = clock_mono_ms(), pause_ms = (now_ms - start_ms) * FILE_WATCH_FACTOR;
    watch->next_ms = now_ms + (pause_ms > FILE_WATCH_MS ? pause_ms : FILE_WATCH_MS);
}

int file_watch_look(struct file_watch *watch, int (*changed)(void *ctx, struct str uri), void *ctx)
{
    struct list new;
    size_t n_changed = 0;
    int64_t start_ms = clock_mono_ms();
    if (start_ms < watch->next_ms)
        return 0;
    list_init(&new);
    int err = look(watch, &new);
    if (!err)
        err = tell_all(watch, &new, changed, ctx, &n_changed);
    bool is_first = !watch->has_last;
    if (err) {
        list_done(&new);
    } else {
        list_done(&watch->last);
        watch->last = new;
        watch->has_last = true;
    }
    if (!err && (n_changed || is_first))
        save(watch);
    rest(watch, start_ms);
    return err;
}
