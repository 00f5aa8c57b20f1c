/* core/list_changed.c - see list_changed.h. */
#include "core/list_changed.h"

#include "base/err.h"
#include "core/catalog.h"
#include "core/component.h"
#include "core/stream_parts.h"

#include <stddef.h>
#include <string.h>

/* ---- What the lists are --------------------------------------------------------------------- */

/* FNV-1a: nobody gains by making two lists look alike to himself. */
static uint64_t add_bytes(uint64_t hash, struct str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash_list(uint64_t hash, const struct catalog_list *list, int revision)
{
    for (uint32_t i = 0; i < list->n; i++)
        hash = add_bytes(hash, list->v[i].json[revision]);
    return hash;
}

/* What each of them is made of. */
static const uint32_t kinds_of[STORE_LISTS] = {
    [STORE_TOOLS] = 1u << CATALOG_TOOLS,
    [STORE_RESOURCES] = 1u << CATALOG_RESOURCES | 1u << CATALOG_TEMPLATES,
    [STORE_PROMPTS] = 1u << CATALOG_PROMPTS,
};

static uint64_t hash_lists(const struct catalog_list *lists, enum store_list which, int revision)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (enum catalog_kind kind = 0; kind < CATALOG_KINDS; kind++)
        if (kinds_of[which] >> kind & 1)
            hash = hash_list(hash, &lists[kind], revision);
    return hash | 1;
}

/* Once for each catalog, which keeps it. */
static void look(const struct catalog *catalog, enum call_profile profile, int revision,
                 uint64_t ret[STORE_LISTS])
{
    struct list_hashes *memory = (struct list_hashes *)&catalog->hashes;
    uint64_t *v = memory->v[profile][revision];
    bool is_known = v[0] != 0;
    for (enum store_list i = 0; !is_known && i < STORE_LISTS; i++)
        v[i] = hash_lists(catalog->lists[profile], i, revision);
    memcpy(ret, v, sizeof memory->v[0][0]);
}

void list_changed_look(struct core *core, const struct access *access, enum call_profile profile,
                       int revision, uint64_t ret_seen[STORE_LISTS])
{
    const struct catalog *catalog = catalog_of(core, access);
    memset(ret_seen, 0, STORE_LISTS * sizeof *ret_seen);
    if (catalog && profile == PROFILE_APPLICATION)
        look(catalog, profile, revision, ret_seen);
}

/* ---- Telling -------------------------------------------------------------------------------- */

static const struct str notifications[STORE_LISTS] = {
    [STORE_TOOLS] =
        STR_INIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"),
    [STORE_RESOURCES] =
        STR_INIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}"),
    [STORE_PROMPTS] =
        STR_INIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}"),
};

/* Others may have told the session more meanwhile. Without a reader here nobody knows: then it is
 * told again when it listens again. */
static bool renew_seen(struct errand *e)
{
    const struct reader *r = reader_of_pushes(e->streams, stream_session(&e->name));
    if (r)
        memcpy(e->session.seen, r->told, sizeof r->told);
    return r && r->told[0];
}

static void save_seen(struct streams *streams, const struct stream_name *name,
                      const uint64_t seen[STORE_LISTS])
{
    struct errand *e = errand_new(streams, NULL, name, STR_NONE);
    if (!e)
        return;
    memcpy(e->session.seen, seen, sizeof e->session.seen);
    e->ops[0] =
        (struct store_op){.kind = STORE_SET_SEEN, .if_version = STORE_ANY, .session = &e->session};
    e->repeats = true;
    e->is_wanted = renew_seen;
    errand_submit(e, 1, NULL);
}

static int read_session(struct reader *r, bool *ret_initialized, uint64_t ret_seen[STORE_LISTS])
{
    struct store_session record;
    struct store_view *view;
    struct arena arena;
    int err = store_view_open(r->streams->core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    arena_init(&arena, 0);
    err = store_get_session(view, stream_session(&r->name), &arena, &record);
    if (err == 0) {
        *ret_initialized = record.initialized;
        memcpy(ret_seen, record.seen, sizeof record.seen);
    }
    arena_done(&arena);
    store_view_close(view);
    return err;
}

void list_changed_compare(struct reader *r)
{
    uint64_t now[STORE_LISTS], seen[STORE_LISTS];
    bool initialized = false;
    if (!r->holds_pushes || !r->stream || r->profile != PROFILE_APPLICATION)
        return;
    list_changed_look(r->streams->core, r->access, r->profile, r->revision, now);
    if (now[0] == 0 || read_session(r, &initialized, seen) < 0)
        return;
    r->is_early = !initialized;
    r->streams->has_early |= r->is_early;
    if (!initialized)
        return;
    for (int i = 0; i < STORE_LISTS; i++) {
        if (r->told[i]) /* what the record says may be on its way still */
            seen[i] = r->told[i];
        r->told[i] = now[i];
    }
    if (memcmp(now, seen, sizeof now) == 0)
        return;
    save_seen(r->streams, &r->name, now);
    r->n_errands++; /* it stays, whatever becomes of its stream */
    for (int i = 0; i < STORE_LISTS && r->stream; i++)
        if (now[i] != seen[i])
            stream_append(r->stream, notifications[i], false, 0);
    r->n_errands--;
    reader_settle(r);
}

/* ---- When ----------------------------------------------------------------------------------- */

static bool has_moved(struct core *core)
{
    struct streams *streams = core->streams;
    const struct tenon *components = core->config.components;
    uint64_t offers = components ? components->offers->version : 0, tables = 0;
    struct store_view *view;
    if (store_view_open(core->store, STORE_DATA, &view) < 0)
        return false;
    int err = store_catalog_version(view, &tables);
    store_view_close(view);
    bool moved =
        err == 0 && (tables != streams->tables_version || offers != streams->offers_version ||
                     core->watch.version != streams->access_version);
    if (!moved)
        return false;
    streams->tables_version = tables;
    streams->offers_version = offers;
    streams->access_version = core->watch.version;
    streams->lists_version++;
    return true;
}

static void on_turn(struct loop_post *post);

/* Thousands may listen: so many in a turn of the loop, the rest in the next. */
static void tell_some(struct streams *streams)
{
    struct reader *next;
    uint32_t n = 0;
    for (struct reader *r = streams->readers; r && n < LISTS_PER_TURN; r = next) {
        next = r->next;
        if (r->lists_version == streams->lists_version)
            continue;
        r->lists_version = streams->lists_version;
        n++;
        list_changed_compare(r);
    }
    if (n < LISTS_PER_TURN || streams->is_telling_lists || streams->is_stopping)
        return;
    streams->is_telling_lists = true;
    streams->lists.fn = on_turn;
    loop_post(streams->core->loop, &streams->lists);
}

static void on_turn(struct loop_post *post)
{
    struct streams *streams =
        (struct streams *)((char *)post - offsetof(struct streams, lists)); /* its member */
    streams->is_telling_lists = false;
    tell_some(streams);
}

/* The one session of stdio: no reader and no record, but the same bookkeeping. */
static void tell_stdio(struct core *core)
{
    struct session *session = core->stdio_session;
    uint64_t now[STORE_LISTS];
    if (!core->push_sink || !session || session->state != SESSION_OPERATING ||
        !str_eq(session->record.profile, str_of(profile_name(PROFILE_APPLICATION))))
        return;
    list_changed_look(core, access_super(), PROFILE_APPLICATION, session->revision, now);
    for (int i = 0; i < STORE_LISTS && now[0]; i++)
        if (session->record.seen[i] != now[i]) {
            session->record.seen[i] = now[i];
            sink_send(core->push_sink, STR_NONE, notifications[i]);
        }
}

/* Their sessions were not initialized when they were looked at. */
static void tell_early(struct streams *streams)
{
    struct reader *next;
    streams->has_early = false;
    for (struct reader *r = streams->readers; r; r = next) {
        next = r->next;
        if (r->is_early)
            list_changed_compare(r);
    }
}

void list_changed_check(struct core *core)
{
    struct streams *streams = core->streams;
    tell_stdio(core);
    if (streams->has_early)
        tell_early(streams);
    if (streams->readers && has_moved(core))
        tell_some(streams);
}

void list_changed_here(struct core *core)
{
    bus_wake_all(core->config.bus, BUS_STREAMS);
}
