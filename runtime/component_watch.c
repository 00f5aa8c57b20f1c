/* component_watch.c - see component_watch.h. */
#include "component_watch.h"

#include "base/err.h"
#include "base/log.h"
#include "components.h"
#include "manifest/files.h"
#include "manifest/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A folder: as it was when it was last read, and as it is offered. */
struct folder {
    struct str path;
    struct manifest *seen, *offered; /* may be the same one; NULL: none could be read */
    bool reads_well;                 /* the one that was seen */
};

struct component_watch {
    struct component_watch_config config;
    struct arena arena;
    struct folder *folders;
    uint32_t n_folders;
    struct file_watch *files;
    pid_t pid; /* of the trial; 0: there is none */
    bool forced;
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* Its files are known once it is registered; what is wrong the trial tells. */
static bool reads_well(struct manifest *m)
{
    struct tenon *tenon;
    if (components_new(&tenon) < 0)
        return false;
    bool fine = components_fill(tenon, m->folder, manifest_register, m) == 0;
    components_free(tenon);
    return fine;
}

static void read_folder(struct folder *folder)
{
    struct manifest *m;
    int err = manifest_load(folder->path, &m);
    if (err < 0 && err != ERR_PARAMS)
        return;
    if (folder->seen != folder->offered)
        manifest_free(folder->seen);
    folder->seen = m;
    folder->reads_well = err == 0 && reads_well(m);
}

static void read_all(struct component_watch *watch)
{
    for (uint32_t i = 0; i < watch->n_folders; i++)
        read_folder(&watch->folders[i]);
}

static const struct manifest_source *sources_of(const struct folder *folder)
{
    return folder->offered ? folder->offered->sources : NULL;
}

static uint32_t count_sources(const struct component_watch *watch)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < watch->n_folders; i++)
        for (const struct manifest_source *s = sources_of(&watch->folders[i]); s; s = s->next)
            n++;
    return n;
}

static void watch_files(struct component_watch *watch)
{
    uint32_t n = 0;
    const struct file_source **v = calloc((size_t)count_sources(watch) + 1, sizeof(*v));
    for (uint32_t i = 0; v && i < watch->n_folders; i++)
        for (const struct manifest_source *s = sources_of(&watch->folders[i]); s; s = s->next)
            v[n++] = s->source;
    if (!v || file_watch_set(watch->files, v, n) < 0)
        log_error("files of components are not watched: %s", err_text(ERR_NO_MEMORY));
    free(v);
}

/* What was seen is what workers offer from now on. Nothing is watched while it is replaced. */
static void adopt_all(struct component_watch *watch)
{
    file_watch_set(watch->files, NULL, 0);
    for (uint32_t i = 0; i < watch->n_folders; i++) {
        struct folder *folder = &watch->folders[i];
        if (!folder->reads_well || folder->seen == folder->offered)
            continue;
        manifest_free(folder->offered);
        folder->offered = folder->seen;
    }
    watch_files(watch);
}

static bool is_changed(const struct component_watch *watch)
{
    for (uint32_t i = 0; i < watch->n_folders; i++)
        if (!watch->folders[i].seen || manifest_is_changed(watch->folders[i].seen))
            return true;
    return false;
}

/* ---- The trial ------------------------------------------------------------------------------- */

/* Signals as a program expects them; what it writes goes to the log. */
static int spawn(struct component_watch *watch, char **argv)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int err = posix_spawn(&watch->pid, "/proc/self/exe", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return err;
}

static void begin_trial(struct component_watch *watch)
{
    const struct config_list *files = watch->config.files;
    const char **argv = calloc(2 * (size_t)files->n + 8, sizeof *argv);
    uint32_t n = 0;
    if (!argv)
        return;
    argv[n++] = "tenon";
    argv[n++] = "component";
    argv[n++] = "apply";
    argv[n++] = "--data";
    argv[n++] = watch->config.data_dir;
    argv[n++] = watch->config.mode == STORE_SYNC ? "--mode=sync" : "--mode=nosync";
    for (uint32_t i = 0; i < files->n; i++) {
        argv[n++] = "--component";
        argv[n++] = arena_str(&watch->arena, files->v[i]).p;
    }
    int err = spawn(watch, (char **)(uintptr_t)argv);
    if (err) {
        watch->pid = 0;
        log_error("components cannot be tried: %s", strerror(err));
    }
    free(argv);
}

/* Has it ended, and all is well? */
static bool end_trial(struct component_watch *watch, int options)
{
    int status = 0;
    pid_t ended = watch->pid ? waitpid(watch->pid, &status, options) : 0;
    if (ended == 0)
        return false;
    if (ended < 0) /* nobody knows how it went */
        status = -1;
    watch->pid = 0;
    if (status)
        log_error("components have changed, but something is wrong: what was offered stays");
    else
        log_info("components have changed: what they hold now is offered");
    return status == 0;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int gather(struct component_watch *watch)
{
    const struct config_list *files = watch->config.files;
    watch->folders = arena_zalloc(&watch->arena, (files->n + 1) * sizeof *watch->folders);
    for (uint32_t i = 0; watch->folders && i < files->n; i++)
        if (component_is_folder(files->v[i]))
            watch->folders[watch->n_folders++].path = files->v[i];
    return watch->folders ? 0 : ERR_NO_MEMORY;
}

int component_watch_new(const struct component_watch_config *config, struct component_watch **ret)
{
    struct component_watch *watch = calloc(1, sizeof *watch);
    *ret = NULL;
    if (!watch)
        return ERR_NO_MEMORY;
    watch->config = *config;
    arena_init(&watch->arena, 0);
    int err = gather(watch);
    if (err == 0 && watch->n_folders)
        err = file_watch_new(config->state, &watch->files);
    if (err < 0 || !watch->n_folders) {
        component_watch_free(watch);
        return err;
    }
    read_all(watch);
    adopt_all(watch);
    *ret = watch;
    return 0;
}

void component_watch_free(struct component_watch *watch)
{
    if (!watch)
        return;
    if (watch->pid)
        kill(watch->pid, SIGTERM);
    end_trial(watch, 0);
    file_watch_free(watch->files);
    for (uint32_t i = 0; i < watch->n_folders; i++) {
        if (watch->folders[i].seen != watch->folders[i].offered)
            manifest_free(watch->folders[i].seen);
        manifest_free(watch->folders[i].offered);
    }
    arena_done(&watch->arena);
    free(watch);
}

void component_watch_force(struct component_watch *watch)
{
    if (watch)
        watch->forced = true;
}

bool component_watch_look(struct component_watch *watch)
{
    if (!watch)
        return false;
    bool is_tried = end_trial(watch, WNOHANG);
    if (is_tried)
        adopt_all(watch);
    if (!watch->pid && (watch->forced || is_changed(watch))) {
        watch->forced = false;
        read_all(watch); /* before the trial, so that what comes later is a change again */
        begin_trial(watch);
    }
    file_watch_look(watch->files, watch->config.changed, watch->config.ctx);
    return is_tried;
}
