/* cli_metrics.c - see cli_metrics.h. */
#include "cli_metrics.h"

#include <string.h>
#include <sys/mman.h>

#define DEFAULT_HOST "127.0.0.1"
#define DEFAULT_PORT 9750

struct metrics *cli_metrics_new(uint32_t n)
{
    void *blocks = mmap(NULL, n * sizeof(struct metrics), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return blocks == MAP_FAILED ? NULL : blocks;
}

bool cli_metrics_address(const struct config *config, struct net_address *ret, bool *ret_is_wanted)
{
    const struct config_address *a = &config->metrics_listen;
    *ret_is_wanted = a->host[0];
    *ret = *ret_is_wanted ? (struct net_address){a->host, a->port}
                          : (struct net_address){DEFAULT_HOST, DEFAULT_PORT};
    return strcmp(a->host, CONFIG_OFF) != 0;
}

/* What cannot be read now is left out. */
static void read_data(struct store *store, struct metrics_totals *t)
{
    struct store_view *view;
    struct store_stat stat;
    if (store_view_open(store, STORE_DATA, &view) < 0)
        return;
    if (store_stat(view, &stat) == 0) {
        t->store_bytes = (int64_t)stat.used_bytes;
        t->store_free_bytes = (int64_t)stat.free_bytes;
        t->sequence = (int64_t)stat.last_seq;
    }
    store_view_close(view);
}

static void read_sys(struct store *store, struct metrics_totals *t)
{
    struct store_view *view;
    struct store_stat stat;
    uint64_t sessions;
    if (store_view_open(store, STORE_SYS, &view) < 0)
        return;
    if (store_count_sessions(view, &sessions) == 0)
        t->sessions = (int64_t)sessions;
    if (store_stat(view, &stat) == 0)
        t->sys_bytes = (int64_t)stat.used_bytes;
    store_view_close(view);
}

void cli_metrics_write(const struct metrics *blocks, uint32_t n, struct store *store,
                       struct buf *out)
{
    struct metrics_totals t = {-1, -1, -1, -1, -1};
    read_data(store, &t);
    read_sys(store, &t);
    metrics_write(blocks, n, &t, out);
}
