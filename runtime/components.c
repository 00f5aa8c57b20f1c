/* components.c - see components.h. */
#include "components.h"

#include "base/err.h"
#include "base/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
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

/* What it offers stays in use, so nothing is ever closed. */
static int load(struct tenon *tenon, struct str file)
{
    char reason[1024];
    int (*entry)(struct tenon * tenon) = NULL;
    void *object = open_object(file);
    int err = object ? check_abi(file, object) : ERR_PARAMS;
    if (err < 0)
        return err;
    *(void **)&entry = dlsym(object, "tenon_component");
    if (!entry)
        return refuse(file, "it has no function tenon_component");
    err = components_add(tenon, file, entry);
    if (err == ERR_NO_MEMORY)
        return refuse(file, err_text(err));
    snprintf(reason, sizeof reason, STR_FMT, STR_ARG(tenon->fault));
    return err < 0 ? refuse(file, reason) : 0;
}

int components_load(const struct config_list *files, struct tenon **ret)
{
    struct tenon *tenon;
    *ret = NULL;
    if (!files->n)
        return 0;
    int err = components_new(&tenon);
    for (uint32_t i = 0; err == 0 && i < files->n; i++)
        err = load(tenon, files->v[i]);
    if (err == 0)
        *ret = tenon;
    return err;
}

static int try_here(const struct config_list *files, int (*check)(void *ctx, struct tenon *tenon),
                    void *ctx)
{
    struct tenon *tenon;
    int err = components_load(files, &tenon);
    return err < 0 ? err : check(ctx, tenon);
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
