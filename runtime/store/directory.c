/* store/directory.c - the files of a data directory, and who may touch them when.
 *
 *   data.mdb  sys.mdb   the two environments, each with a "-lock" beside it
 *   open.lock           held while somebody opens or closes; never longer
 *   sys.users           shared lock of each process that has `sys` open
 *   sys.state           boot id, and whether `sys` was closed after a sync ("clean") or not
 *   load.lock           held by a running import
 *   build.lock          held while an index is built
 *   secret              see secret.c
 *
 * `sys` is written without syncs. It survives a killed process, but after a stop of the machine it
 * may be damaged where no check sees it, and reading it would end the process. So the state is kept
 * beside it: of another boot and not clean means that it is set aside and made anew. The last
 * process that closes `sys` syncs it and says so; every lock here ends with its process.
 */
#include "store/internal.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct directory {
    char path[PATH_MAX];
    int users_fd; /* -1: `sys` is in memory */
};

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

/* ---- Files ---------------------------------------------------------------------------------- */

struct path {
    char text[PATH_MAX + 32];
};

static const char *path_of(const struct directory *d, const char *name, struct path *space)
{
    snprintf(space->text, sizeof space->text, "%s/%s", d->path, name);
    return space->text;
}

static int err_of_errno(void)
{
    switch (errno) {
    case EACCES:
    case EPERM:
    case EROFS:
        return ERR_STORE_READ_ONLY;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return ERR_STORE_FULL;
    default:
        return ERR_IO;
    }
}

static int open_lock(const struct directory *d, const char *name, int *ret_fd)
{
    struct path path;
    int fd = open(path_of(d, name, &path), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_of_errno();
    *ret_fd = fd;
    return 0;
}

static int lock_file(int fd, int how)
{
    int rc;
    do {
        rc = flock(fd, how);
    } while (rc && errno == EINTR);
    return rc ? (errno == EWOULDBLOCK ? ERR_BUSY : ERR_IO) : 0;
}

/* A small file, whole. Returns its length, or -1. */
static ssize_t read_small(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, out, size);
    close(fd);
    return n;
}

static void sync_directory(const struct directory *d)
{
    int fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* ---- The state of `sys` --------------------------------------------------------------------- */

#define STATE_BYTES 80

static void write_state_text(char out[STATE_BYTES], const char *state)
{
    char boot[64] = "unknown";
    ssize_t n = read_small(BOOT_ID_FILE, boot, sizeof boot - 1);
    boot[n > 0 ? (size_t)n : strlen(boot)] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    snprintf(out, STATE_BYTES, "%s %s\n", boot, state);
}

/* On disk before it returns, whole or not at all. */
static int save_state(const struct directory *d, const char *state)
{
    struct path path, draft;
    char text[STATE_BYTES];
    write_state_text(text, state);
    path_of(d, "sys.state", &path);
    path_of(d, "sys.state.new", &draft);
    int fd = open(draft.text, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_of_errno();
    size_t n = strlen(text);
    int err = write(fd, text, n) == (ssize_t)n && fsync(fd) == 0 ? 0 : err_of_errno();
    close(fd);
    if (!err && rename(draft.text, path.text))
        err = err_of_errno();
    if (!err)
        sync_directory(d);
    return err;
}

enum sys_state { SYS_OF_THIS_BOOT, SYS_CLEAN, SYS_DOUBTFUL };

static enum sys_state read_state(const struct directory *d)
{
    struct path path;
    char found[STATE_BYTES] = {0}, running[STATE_BYTES];
    if (read_small(path_of(d, "sys.state", &path), found, sizeof found - 1) <= 0)
        return SYS_DOUBTFUL;
    write_state_text(running, "running");
    if (strcmp(found, running) == 0)
        return SYS_OF_THIS_BOOT;
    return strstr(found, " clean\n") ? SYS_CLEAN : SYS_DOUBTFUL;
}

static void set_sys_aside(const struct directory *d, const char *reason)
{
    struct path path, aside, lock;
    path_of(d, "sys.mdb", &path);
    path_of(d, "sys.mdb.aside", &aside);
    if (access(path.text, F_OK))
        return;
    log_warn("%s: sessions are lost and clients have to initialize again, since %s; the old file "
             "is kept as sys.mdb.aside",
             path.text, reason);
    if (rename(path.text, aside.text))
        unlink(path.text);
    unlink(path_of(d, "sys.mdb-lock", &lock));
}

/* DATA has no second copy to fall back on: it is for the operator to decide. */
static void warn_of_nosync(const struct directory *d)
{
    struct path path;
    path_of(d, "sys.mdb", &path);
    if (access(path.text, F_OK) == 0)
        log_warn("%s/data.mdb: written without syncs when the machine stopped; it may be damaged "
                 "where no check sees it",
                 d->path);
}

/* Alone with `sys`: nobody else has it open. */
static int prepare_sys_alone(const struct directory *d, enum store_mode mode)
{
    enum sys_state state = read_state(d);
    if (state == SYS_DOUBTFUL && mode == STORE_NOSYNC)
        warn_of_nosync(d);
    if (state == SYS_DOUBTFUL)
        set_sys_aside(d, "the machine stopped while a server was running");
    return state == SYS_OF_THIS_BOOT ? 0 : save_state(d, "running");
}

struct opening {
    const struct store_config *config;
    struct arena *arena;
    struct str *why;
    struct store *store;
    struct directory *directory;
    unsigned char id[DATABASE_ID_LEN];
};

static int explain(struct opening *o, const char *file, int err, const char *text)
{
    *o->why =
        arena_printf(o->arena, "%s%s%s: %s", o->directory->path, *file ? "/" : "", file, text);
    return err;
}

static int open_sys_file(struct opening *o)
{
    struct path path;
    struct kv_env **env = &o->store->envs[STORE_SYS];
    struct kv_lmdb_config config = {.path = path_of(o->directory, "sys.mdb", &path),
                                    .space = STORE_SYS};
    int err = kv_open_lmdb(&config, o->arena, env, o->why);
    if (err)
        return err;
    uint64_t format;
    err = meta_prepare(*env, true, o->id, &format);
    if (err) {
        kv_close(*env);
        *env = NULL;
        explain(o, "sys.mdb", err, err_text(err));
    }
    return err;
}

static int open_sys_locked(struct opening *o, bool alone)
{
    int err = alone ? prepare_sys_alone(o->directory, o->config->mode) : 0;
    if (err)
        return explain(o, "sys.state", err, strerror(errno));
    err = open_sys_file(o);
    if (alone && (err == ERR_STORE_DAMAGED || err == ERR_STORE_FORMAT)) {
        set_sys_aside(o->directory, err_text(err));
        err = open_sys_file(o);
    }
    return err;
}

static int open_sys_in_memory(struct opening *o)
{
    uint64_t format;
    int err = kv_open_memory(STORE_SYS, &o->store->envs[STORE_SYS]);
    if (!err)
        err = meta_prepare(o->store->envs[STORE_SYS], true, o->id, &format);
    return err ? explain(o, "", err, err_text(err)) : 0;
}

/* For looking only: where reading it would be a risk, or is not possible, it is as if empty. */
static int open_sys_to_read(struct opening *o)
{
    struct path path;
    struct kv_env *env = NULL;
    struct str why;
    uint64_t format;
    struct kv_lmdb_config config = {
        .path = path_of(o->directory, "sys.mdb", &path), .space = STORE_SYS, .read_only = true};
    if (access(path.text, R_OK) || read_state(o->directory) == SYS_DOUBTFUL ||
        kv_open_lmdb(&config, o->arena, &env, &why))
        return open_sys_in_memory(o);
    if (meta_prepare(env, true, o->id, &format)) {
        kv_close(env);
        return open_sys_in_memory(o);
    }
    o->store->envs[STORE_SYS] = env;
    return 0;
}

static int open_sys(struct opening *o)
{
    if (o->config->read_only)
        return open_sys_to_read(o);
    if (o->config->volatile_sys)
        return open_sys_in_memory(o);
    int fd;
    int err = open_lock(o->directory, "sys.users", &fd);
    if (err)
        return explain(o, "sys.users", err, strerror(errno));
    o->directory->users_fd = fd;
    bool alone = lock_file(fd, LOCK_EX | LOCK_NB) == 0;
    err = open_sys_locked(o, alone);
    if (!err && lock_file(fd, LOCK_SH))
        err = explain(o, "sys.users", ERR_IO, strerror(errno));
    return err;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static int explain_format(struct opening *o, uint64_t format)
{
    return explain(o, "data.mdb", ERR_STORE_FORMAT,
                   format < STORE_FORMAT ? KV_OLDER_TEXT
                                         : "written by a newer version of this program");
}

static int open_data(struct opening *o)
{
    struct path path;
    struct kv_lmdb_config config = {.path = path_of(o->directory, "data.mdb", &path),
                                    .space = STORE_DATA,
                                    .read_only = o->config->read_only,
                                    .sync = o->config->mode == STORE_SYNC,
                                    .map_bytes = o->config->map_bytes};
    int err = kv_open_lmdb(&config, o->arena, &o->store->envs[STORE_DATA], o->why);
    if (err)
        return err;
    uint64_t format;
    err = meta_prepare(o->store->envs[STORE_DATA], false, o->id, &format);
    if (err == ERR_STORE_FORMAT)
        return explain_format(o, format);
    if (err)
        return explain(o, "data.mdb", err, err_text(err));
    if (format && format < STORE_FORMAT)
        log_info("%s: brought up to date; older versions of this program open it no more",
                 path.text);
    return 0;
}

static int make_directory(struct opening *o)
{
    struct stat st;
    const char *path = o->directory->path;
    if (strlen(o->config->dir) >= sizeof o->directory->path)
        return explain(o, "", ERR_LIMIT, "the path is too long");
    if (!o->config->read_only && mkdir(path, 0700) && errno != EEXIST)
        return explain(o, "", err_of_errno(), strerror(errno));
    if (stat(path, &st))
        return explain(o, "", errno == ENOENT ? ERR_ABSENT : err_of_errno(), strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return explain(o, "", ERR_IO, "is not a directory");
    if (!o->config->read_only && access(path, W_OK | X_OK))
        return explain(o, "", err_of_errno(), "the data directory cannot be written to");
    return 0;
}

static int check_files(struct opening *o)
{
    const char *name, *why;
    int err = directory_check(o->directory->path, &name, &why);
    return err ? explain(o, name, err, why) : 0;
}

static int open_both(struct opening *o)
{
    int err = open_data(o);
    return err ? err : open_sys(o);
}

static int open_locked(struct opening *o)
{
    int fd;
    if (o->config->read_only)
        return open_both(o);
    int err = open_lock(o->directory, "open.lock", &fd);
    if (err)
        return explain(o, "open.lock", err, strerror(errno));
    err = lock_file(fd, LOCK_EX);
    err = err ? explain(o, "open.lock", err, strerror(errno)) : open_both(o);
    close(fd);
    return err;
}

static int open_directory(struct opening *o)
{
    int err = make_directory(o);
    if (!err)
        err = check_files(o);
    if (!err)
        err = open_locked(o);
    if (err || o->config->read_only)
        return err;
    if (!o->config->has_keeper)
        err = load_recover(o->store, INT64_MAX);
    if (err)
        return explain(o, "data.mdb", err, "an unfinished import could not be rolled back");
    err = index_recover(o->store);
    if (err)
        log_warn("a half-built index stays for the keeper to drop: %s", err_text(err));
    return 0;
}

static struct directory *directory_new(const char *path)
{
    struct directory *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->users_fd = -1;
    snprintf(d->path, sizeof d->path, "%s", path);
    return d;
}

int store_open_lmdb(const struct store_config *config, struct arena *arena, struct store **ret,
                    struct str *ret_why)
{
    struct store *store = store_alloc();
    struct directory *d = directory_new(config->dir);
    if (!store || !d) {
        free(store);
        free(d);
        *ret_why = STR("out of memory");
        return ERR_NO_MEMORY;
    }
    store->directory = d;
    store->read_only = config->read_only;
    store->syncs_data = config->mode == STORE_SYNC;
    if (config->sessions_max)
        store->sessions_max = config->sessions_max;
    if (config->log_keep)
        store->log_keep = config->log_keep;
    struct opening o = {
        .config = config, .arena = arena, .why = ret_why, .store = store, .directory = d};
    int err = open_directory(&o);
    if (err)
        store_close(store);
    else
        *ret = store;
    return err;
}

/* ---- Closing -------------------------------------------------------------------------------- */

/* Closes `sys`; the last who does so leaves it clean. */
static void close_sys(struct directory *d, struct kv_env *sys)
{
    int fd;
    int locked = open_lock(d, "open.lock", &fd);
    if (!locked)
        lock_file(fd, LOCK_EX);
    int err = sys ? kv_sync(sys) : ERR_IO;
    kv_close(sys);
    if (!locked && !err && lock_file(d->users_fd, LOCK_EX | LOCK_NB) == 0)
        save_state(d, "clean");
    close(d->users_fd);
    if (!locked)
        close(fd);
}

void directory_close(struct directory *d, struct kv_env *sys)
{
    if (d->users_fd >= 0)
        close_sys(d, sys);
    else
        kv_close(sys);
    free(d);
}

int directory_lock(struct directory *d, enum store_lock lock, int *ret_fd)
{
    static const char *const names[] = {[LOCK_LOAD] = "load.lock", [LOCK_BUILD] = "build.lock"};
    int fd;
    int err = open_lock(d, names[lock], &fd);
    if (err)
        return err;
    err = lock_file(fd, LOCK_EX | LOCK_NB);
    if (err)
        close(fd);
    else
        *ret_fd = fd;
    return err;
}

const char *directory_path(const struct directory *d)
{
    return d->path;
}
