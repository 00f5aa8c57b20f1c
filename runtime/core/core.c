/* core/core.c - the engine of one worker comes and goes; core_handle is in dispatch.c. */
#include "core/core.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/catalog.h"
#include "core/component.h"
#include "core/core_state.h"
#include "core/dispatch.h"
#include "core/follow.h"
#include "core/metrics.h"

#include <stdlib.h>
#include <string.h>

static void on_wake(void *ctx)
{
    struct core *core = ctx;
    mail_take(core);
    access_watch_look(core);
    streams_wake(core->streams);
    follows_wake(core->follows);
}

/* One without others gets a bus of its own, so that nobody else has to ask. */
static int join_bus(struct core *core)
{
    int err = 0;
    if (!core->config.bus) {
        err = bus_new_alone(core->loop, &core->own_bus);
        core->config.bus = core->own_bus;
    }
    bus_on_wake(core->config.bus, on_wake, core);
    if (core->config.rates)
        counts_forget(core->config.rates, core->config.bus);
    return err;
}

int core_new(const struct core_config *config, struct store *store, struct loop *loop,
             struct core **ret)
{
    struct core *core = calloc(1, sizeof *core);
    if (!core)
        return ERR_NO_MEMORY;
    core->config = *config;
    core->store = store;
    core->loop = loop;
    core->look_at_ms = clock_mono_ms() + BUS_LOOK_MS;
    scans_init(&core->scans);
    jobs_init(&core->jobs);
    batches_init(&core->batches);
    arena_init(&core->arena, 0);
    access_watch_init(&core->watch);
    int err = join_bus(core);
    if (err == 0)
        err = streams_new(core, &core->streams);
    if (err == 0)
        err = follows_new(core, &core->follows);
    if (err == 0)
        err = store_secret(store, core->cursor_key.bytes);
    if (err == 0)
        err = accesses_new(core, &core->accesses);
    if (err == 0)
        err = resource_uris_init(&core->uris, &core->arena);
    if (err < 0) {
        core_free(core);
        return err;
    }
    components_attach(config->components, core);
    *ret = core;
    return 0;
}

void core_push_to(struct core *core, struct sink *sink)
{
    core->push_sink = sink;
}

void core_config_renew(struct core_config *config, const struct core_config *from)
{
    config->session_idle_ms = from->session_idle_ms;
    config->ask_timeout_ms = from->ask_timeout_ms;
    config->list_page = from->list_page;
    config->coalesce_ms = from->coalesce_ms;
    config->max_subscriptions = from->max_subscriptions;
    memcpy(config->tools_page, from->tools_page, sizeof config->tools_page);
    memcpy(config->limits, from->limits, sizeof config->limits);
}

void core_reload(struct core *core, const struct core_config *config)
{
    core_config_renew(&core->config, config);
}

void core_tick(struct core *core)
{
    int64_t now_ms = clock_mono_ms();
    running_tick(core);
    pending_tick(core);
    access_watch_tick(core);
    streams_tick(core->streams);
    follows_tick(core->follows);
    live_tick(core);
    components_tick(core->config.components);
    metrics_look(core);
    if (now_ms < core->look_at_ms)
        return;
    core->look_at_ms = now_ms + BUS_LOOK_MS;
    bus_look(core->config.bus);
    running_look(core);
}

void core_close(struct core *core)
{
    streams_stop(core->streams);
}

void core_hurry(struct core *core)
{
    running_stop(core);
}

void core_stop(struct core *core)
{
    jobs_stop(&core->jobs);
    running_stop(core);
    streams_stop(core->streams);
    components_attach(core->config.components, NULL);
}

void core_free(struct core *core)
{
    if (!core)
        return;
    components_attach(core->config.components, NULL);
    pending_close(core);
    streams_free(core->streams);
    follows_free(core->follows);
    bus_on_wake(core->config.bus, NULL, NULL);
    bus_free_alone(core->own_bus);
    catalog_forget(core);
    accesses_free(core->accesses);
    arena_done(&core->arena);
    free(core);
}
