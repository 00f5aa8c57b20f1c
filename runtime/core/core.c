/* core/core.c - the engine of one worker comes and goes; core_handle is in dispatch.c. */
#include "core/core.h"

#include "base/err.h"
#include "core/catalog.h"
#include "core/core_state.h"
#include "core/dispatch.h"

#include <stdlib.h>

int core_new(const struct core_config *config, struct store *store, struct loop *loop,
             struct core **ret)
{
    struct core *core = calloc(1, sizeof *core);
    if (!core)
        return ERR_NO_MEMORY;
    core->config = *config;
    core->store = store;
    core->loop = loop;
    scans_init(&core->scans);
    jobs_init(&core->jobs);
    batches_init(&core->batches);
    arena_init(&core->arena, 0);
    int err = store_secret(store, core->cursor_key.bytes);
    if (err == 0)
        err = resource_uris_init(&core->uris, &core->arena);
    if (err < 0) {
        core_free(core);
        return err;
    }
    *ret = core;
    return 0;
}

void core_push_to(struct core *core, struct sink *sink)
{
    core->push_sink = sink;
}

void core_stop(struct core *core)
{
    jobs_stop(&core->jobs);
}

void core_free(struct core *core)
{
    if (!core)
        return;
    catalog_unref(core->catalog);
    arena_done(&core->arena);
    free(core);
}
