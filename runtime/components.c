/* components.c - see components.h. */
#include "components.h"

#include "base/err.h"
#include "base/log.h"
#include "linked.h"
#include "manifest/manifest.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int refuse(struct str file, const char *reason)
{
    log_error("component " STR_FMT ": %s", STR_ARG(file), reason);
    return ERR_PARAMS;
}

/* A name without a slash is a file, too, and not looked for in the system's folders. */
static void *open_object(struct str file)
{
    char path[4096];
    bool has_slash = memchr(file.p, '/', file.n) != NULL;
    int n = snprintf(path, sizeof path, "%s" STR_FMT, has_slash ? "" : "./", STR_ARG(file));
    if (n < 0 || (size_t)n >= sizeof path) {
        refuse(file, "the path is too long");
        return NULL;
    }
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        refuse(file, dlerror());
    return object;
}

static int check_abi(struct str file, void *object)
{
    char reason[128];
    const uint32_t *abi = dlsym(object, "tenon_component_abi");
    if (!abi)
        return refuse(file, "it is no component: TENON_COMPONENT of tenon.h is not in it");
    if (*abi == TENON_ABI)
        return 0;
    snprintf(reason, sizeof reason,
             "it was compiled with version %u of tenon.h, this server has %u", *abi, TENON_ABI);
    return refuse(file, reason);
}

static int (*find_linked(struct str file))(struct tenon *tenon)
{
    for (const struct linked_component *c = linked_components; c->name; c++)
        if (str_eq(file, str_of(c->name)))
            return c->entry;
    return NULL;
}

static int find_entry(struct str file, int (**ret)(struct tenon *tenon))
{
    *ret = find_linked(file);
    if (*ret)
        return 0;
    void *object = open_object(file);
    int err = object ? check_abi(file, object) : ERR_PARAMS;
    if (err < 0)
        return err;
    *(void **)ret = dlsym(object, "tenon_component");
    return *ret ? 0 : refuse(file, "it has no function tenon_component");
}

/* What it offers stays in use, so nothing is ever closed. */
static int load_object(struct tenon *tenon, struct str file)
{
    char reason[1024];
    int (*entry)(struct tenon * tenon);
    int err = find_entry(file, &entry);
    if (err < 0)
        return err;
    err = components_add(tenon, file, entry);
    if (err == ERR_NO_MEMORY)
        return refuse(file, err_text(err));
    snprintf(reason, sizeof reason, STR_FMT, STR_ARG(tenon->fault));
    return err < 0 ? refuse(file, reason) : 0;
}

/* ---- Folders -------------------------------------------------------------------------------- */

bool component_is_folder(struct str file)
{
    struct stat st;
    char path[4096];
    int n = snprintf(path, sizeof path, STR_FMT, STR_ARG(file));
    return n > 0 && (size_t)n < sizeof path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void component_log_faults(const struct manifest *m)
{
    uint32_t n = m->faults.n < MANIFEST_FAULTS_MAX ? m->faults.n : MANIFEST_FAULTS_MAX;
    for (uint32_t i = 0; i < n; i++)
        log_error(STR_FMT, STR_ARG(m->faults.lines[i]));
    if (m->faults.n > n)
        log_error(STR_FMT ": and %u more", STR_ARG(m->file), m->faults.n - n);
}

static void free_manifest(void *m)
{
    manifest_free(m);
}

/* The manifest lives as long as somebody can call what it offers. */
static int fill(struct tenon *tenon, void *ctx)
{
    if (components_at_end(tenon, free_manifest, ctx) < 0) {
        manifest_free(ctx);
        return TENON_ERR_NO_MEMORY;
    }
    int err = manifest_register(tenon, ctx);
    component_log_faults(ctx);
    return err;
}

static int load_folder(struct tenon *tenon, struct str folder)
{
    struct manifest *m;
    int err = manifest_load(folder, &m);
    if (err == ERR_PARAMS) {
        component_log_faults(m);
        manifest_free(m);
    }
    if (err == 0)
        err = components_fill(tenon, folder, fill, m);
    return err == ERR_NO_MEMORY ? refuse(folder, err_text(err)) : err;
}

static int make_tables(struct str folder, struct store *store)
{
    struct manifest *m;
    int err = manifest_load(folder, &m);
    if (err == 0)
        err = manifest_tables(m, store);
    if (err == ERR_PARAMS)
        component_log_faults(m);
    else if (err < 0)
        refuse(folder, err_text(err));
    if (err == 0 || err == ERR_PARAMS)
        manifest_free(m);
    return err;
}

static int check_tables(struct tenon *tenon, struct store *store)
{
    int err = components_check_tables(tenon, store);
    if (err == ERR_EXISTS)
        log_error("component " STR_FMT, STR_ARG(tenon->fault));
    else if (err < 0)
        log_error("the names of components cannot be checked: %s", err_text(err));
    return err;
}

/* Before and after: what is there already is not the reason to make what would not fit either. */
int components_make_tables(const struct config_list *files, struct tenon *tenon,
                           struct store *store)
{
    int err = check_tables(tenon, store);
    for (uint32_t i = 0; err == 0 && i < files->n; i++)
        if (component_is_folder(files->v[i]))
            err = make_tables(files->v[i], store);
    return err < 0 ? err : check_tables(tenon, store);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static int load_all(const struct config_list *files, struct tenon *tenon, bool leave_out)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < files->n; i++) {
        bool is_folder = component_is_folder(files->v[i]);
        err = is_folder ? load_folder(tenon, files->v[i]) : load_object(tenon, files->v[i]);
        if (err < 0 && is_folder && leave_out) {
            log_error("component " STR_FMT ": what is wrong is left out until it is mended",
                      STR_ARG(files->v[i]));
            tenon->fault = STR_NONE;
            err = 0;
        }
    }
    return err;
}

static int load(const struct config_list *files, bool leave_out, struct tenon **ret)
{
    struct tenon *tenon;
    *ret = NULL;
    if (!files->n)
        return 0;
    int err = components_new(&tenon);
    if (err < 0)
        return err;
    err = load_all(files, tenon, leave_out);
    if (err < 0)
        components_free(tenon);
    else
        *ret = tenon;
    return err;
}

int components_load(const struct config_list *files, struct tenon **ret)
{
    return load(files, false, ret);
}

int components_load_what_works(const struct config_list *files, struct tenon **ret)
{
    return load(files, true, ret);
}

static int make_again(struct tenon *tenon, void *ctx)
{
    const struct config_list *files = ctx;
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < files->n; i++)
        err = component_is_folder(files->v[i]) ? load_folder(tenon, files->v[i])
                                               : components_keep(tenon, files->v[i]);
    return err;
}

int components_reload(const struct config_list *files, struct tenon *tenon)
{
    return components_remake(tenon, make_again, (void *)(uintptr_t)files);
}

/* ---- Trying --------------------------------------------------------------------------------- */

static int try_here(const struct config_list *files, int (*check)(void *ctx, struct tenon *tenon),
                    void *ctx)
{
    struct tenon *tenon;
    int err = components_load(files, &tenon);
    if (err < 0)
        return err;
    err = check(ctx, tenon);
    components_free(tenon);
    return err;
}

int components_try(const struct config_list *files, int (*check)(void *ctx, struct tenon *tenon),
                   void *ctx)
{
    int status = 0;
    if (!files->n)
        return 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(try_here(files, check, ctx) < 0);
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        log_error("components cannot be tried: %s", strerror(errno));
        return ERR_IO;
    }
    if (WIFSIGNALED(status))
        log_error("a component ended its process by signal %d", WTERMSIG(status));
    return status ? ERR_PARAMS : 0;
}
