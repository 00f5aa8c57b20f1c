/* core/follow.c - see follow.h: who is followed for, and when.
 *
 * All is done in turns of the loop: whoever calls only asks for one. A turn reads what became
 * stale, looks at some of the log, and tells some of what it found.
 */
#include "core/follow_parts.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "wire/tape.h"

#include <stdlib.h>

static void flag_bus(struct follows *follows)
{
    bus_set_flag(follows->core->config.bus, BUS_FOLLOWS, follows->n_interests > 0);
}

/* ---- Turns ---------------------------------------------------------------------------------- */

static bool tell_some(struct follows *follows)
{
    uint32_t left = FOLLOW_TURN_NOTICES;
    while (left && !link_is_empty(&follows->ready)) {
        struct follower *f = MEMBER_OF(follows->ready.next, struct follower, ready);
        left -= follower_tell(f, left);
    }
    return left > 0;
}

static void turn(struct loop_post *post)
{
    struct follows *follows = MEMBER_OF(post, struct follows, post);
    follows->is_posted = false;
    follows_load(follows);
    flag_bus(follows); /* before the look, so that no wake is missed */
    int done = follows->n_interests ? follows_look(follows) : 1;
    bool may_tell = access_watch_look(follows->core); /* after the look: access_watch.h */
    bool all_told = !may_tell || tell_some(follows);
    if (done < 0 || !may_tell)
        follows_retry(follows, FOLLOW_RETRY_MS);
    if (done == 0 || !all_told)
        follows_post(follows);
}

void follows_post(struct follows *follows)
{
    if (follows->is_posted)
        return;
    follows->is_posted = true;
    follows->post.fn = turn;
    loop_post(follows->core->loop, &follows->post);
}

void follows_retry(struct follows *follows, int64_t ms)
{
    int64_t at_ms = clock_mono_ms() + ms;
    if (!follows->retry_ms || at_ms < follows->retry_ms)
        follows->retry_ms = at_ms;
}

void follows_wake(struct follows *follows)
{
    if (follows->n_interests || !link_is_empty(&follows->stale))
        follows_post(follows);
}

/* ---- From time to time ---------------------------------------------------------------------- */

static void end_waits(struct follows *follows, int64_t now_ms)
{
    if (!follows->has_waiting)
        return;
    follows->has_waiting = false;
    for (struct link *l = follows->followers.next; l != &follows->followers; l = l->next)
        follower_wait_over(MEMBER_OF(l, struct follower, in_follows), now_ms);
}

/* A letter may be lost, so its subscriptions are counted now and then. */
static void check_generation(struct follower *f, struct store_view *view)
{
    struct store_follow now = {.n = 0};
    int err = store_get_follow(view, stream_session(&f->reader->name), &now);
    if (err == 0 && now.generation != f->told.generation)
        follower_spoil(f, false);
}

/* Of some, by turns. */
static void check_generations(struct follows *follows)
{
    struct store_view *view;
    if (link_is_empty(&follows->followers) ||
        store_view_open(follows->core->store, STORE_SYS, &view) < 0)
        return;
    const struct link *first = follows->followers.next;
    for (uint32_t i = 0; i < FOLLOW_CHECKS && (i == 0 || follows->followers.next != first); i++) {
        struct follower *f = MEMBER_OF(follows->followers.next, struct follower, in_follows);
        link_remove(&f->in_follows);
        link_add_after(follows->followers.before, &f->in_follows);
        if (f->reader && !f->is_stale)
            check_generation(f, view);
    }
    store_view_close(view);
}

static void note_all(struct follows *follows)
{
    for (struct link *l = follows->followers.next, *next; l != &follows->followers; l = next) {
        next = l->next;
        follower_note(MEMBER_OF(l, struct follower, in_follows));
    }
}

/* From sent_seq: what its stream has told already may be told again, but nothing is lost. */
static void begin_missed(struct follows *follows)
{
    if (!follows->has_missed)
        return;
    follows->has_missed = false;
    for (struct reader *r = follows->core->streams->readers; r; r = r->next)
        if (r->holds_pushes && r->stream && !r->follower)
            follow_begin(r, 0);
}

void follows_tick(struct follows *follows)
{
    int64_t now_ms = clock_mono_ms();
    end_waits(follows, now_ms);
    if (follows->retry_ms && now_ms >= follows->retry_ms) {
        follows->retry_ms = 0;
        for (struct link *l = follows->followers.next; l != &follows->followers; l = l->next)
            follower_make_ready(MEMBER_OF(l, struct follower, in_follows));
        follows_post(follows);
    }
    if (now_ms < follows->note_ms)
        return;
    follows->note_ms = now_ms + FOLLOW_NOTE_MS;
    check_generations(follows);
    begin_missed(follows);
    if (follows->n_interests)
        note_all(follows);
}

/* ---- All of a worker ------------------------------------------------------------------------ */

static void log_grew(void *ctx, const struct change_marks *marks)
{
    bus_wake_followers(ctx, marks);
}

/* An entry that goes in and out, so that the first slots are there and no other can fail. */
static int make_slots(struct node_map *map)
{
    struct map_node node = {.hash = 0};
    if (!node_map_add(map, &node, 0))
        return ERR_NO_MEMORY;
    node_map_remove(map, &node);
    return 0;
}

int follows_new(struct core *core, struct follows **ret)
{
    struct follows *follows = calloc(1, sizeof *follows);
    if (!follows)
        return ERR_NO_MEMORY;
    follows->core = core;
    link_init(&follows->followers);
    link_init(&follows->ready);
    link_init(&follows->behind);
    link_init(&follows->stale);
    *ret = follows; /* core_free takes it from here */
    int err = make_slots(&follows->index[FOLLOW_LIVE]);
    if (err == 0)
        err = make_slots(&follows->index[FOLLOW_BEHIND]);
    if (err == 0)
        store_on_change(core->store, log_grew, core->config.bus);
    return err;
}

void follows_free(struct follows *follows)
{
    if (!follows)
        return;
    store_on_change(follows->core->store, NULL, NULL);
    while (!link_is_empty(&follows->followers))
        follower_free(MEMBER_OF(follows->followers.next, struct follower, in_follows));
    node_map_done(&follows->index[FOLLOW_LIVE]);
    node_map_done(&follows->index[FOLLOW_BEHIND]);
    node_map_done(&follows->watched);
    free(follows);
}

/* ---- Followers ------------------------------------------------------------------------------ */

struct follower *follower_new(struct follows *follows, struct reader *reader)
{
    struct follower *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->follows = follows;
    f->reader = reader;
    link_init(&f->all);
    link_init(&f->due);
    link_init(&f->waiting);
    link_add_after(follows->followers.before, &f->in_follows);
    return f;
}

static struct interest *any_interest(struct follower *f)
{
    struct map_node *node = node_map_each(&f->interests, NULL);
    return node ? MEMBER_OF(node, struct interest, by_uri) : NULL;
}

void follower_free(struct follower *f)
{
    struct follows *follows = f->follows;
    struct interest *i;
    if (f->is_telling) {
        f->is_over = true;
        return;
    }
    follower_forget(f);
    while ((i = any_interest(f)))
        interest_free(i);
    node_map_done(&f->interests);
    link_remove(&f->stale);
    link_remove(&f->behind);
    link_remove(&f->in_follows);
    if (follows->plain == f)
        follows->plain = NULL;
    free(f);
    flag_bus(follows);
}

enum follow_pace follower_pace(const struct follower *f)
{
    return f->behind.next ? FOLLOW_BEHIND : FOLLOW_LIVE;
}

uint64_t follower_looked(const struct follower *f)
{
    return follower_pace(f) == FOLLOW_LIVE ? f->follows->seq : f->seq;
}

/* Its interests move from the one index to the other. */
static void change_pace(struct follower *f, bool is_behind)
{
    struct node_map *index = f->follows->index, *from = &index[follower_pace(f)];
    struct map_node *node = NULL;
    link_remove(&f->behind);
    if (is_behind)
        link_add_after(f->follows->behind.before, &f->behind);
    while ((node = node_map_each(&f->interests, node)))
        interest_move(MEMBER_OF(node, struct interest, by_uri), from, &index[follower_pace(f)]);
}

void follower_fall_behind(struct follower *f, uint64_t seq)
{
    f->seq = seq;
    if (follower_pace(f) == FOLLOW_LIVE)
        change_pace(f, true);
    follows_post(f->follows);
}

void follower_catch_up(struct follower *f)
{
    change_pace(f, false);
}

void follower_rest(struct follower *f)
{
    f->seq = UINT64_MAX;
    if (follower_pace(f) == FOLLOW_LIVE)
        change_pace(f, true);
}

void follower_spoil(struct follower *f, bool is_lost)
{
    struct follows *follows = f->follows;
    f->is_stale = true;
    f->is_lost |= is_lost;
    if (!f->stale.next)
        link_add_after(follows->stale.before, &f->stale);
    follows_post(follows);
}

/* ---- By streams ----------------------------------------------------------------------------- */

void follow_begin(struct reader *r, uint64_t seq)
{
    if (r->profile != PROFILE_APPLICATION)
        return;
    follow_end(r);
    struct follower *f = follower_new(r->streams->core->follows, r);
    if (!f) {
        r->streams->core->follows->has_missed = true;
        return;
    }
    r->follower = f;
    f->begin_seq = seq;
    follower_rest(f);
    follower_spoil(f, true);
}

void follow_end(struct reader *r)
{
    struct follower *f = r->follower;
    if (!f)
        return;
    r->follower = NULL;
    if (!f->is_telling)
        follower_note_last(f);
    follower_free(f);
}

void follow_ready(struct reader *r)
{
    if (r->follower)
        follower_make_ready(r->follower);
}

void follow_stored(struct reader *r, int err)
{
    struct follower *f = r->follower;
    if (!f)
        return;
    if (err < 0) {
        follower_spoil(f, true);
        if (err != ERR_CONFLICT)
            f->load_ms = clock_mono_ms() + FOLLOW_RETRY_MS;
        return;
    }
    f->has_stored = true;
    if (!f->is_lost && r->stream && r->stream->n_pending == 0) {
        f->begin_seq = f->told.seq;
        f->has_stored = false;
    }
    follower_make_ready(f); /* by its turn it will have been sent */
}

void follow_take(struct core *core, struct worker_id from, const struct tape_node *letter)
{
    (void)from;
    const struct tape_node *session = tape_get(letter, STR("session"));
    struct reader *r = session && session->kind == TAPE_STR
                           ? reader_of_pushes(core->streams, tape_str(session))
                           : NULL;
    if (r && r->follower)
        follower_spoil(r->follower, false);
}

/* ---- On stdio ------------------------------------------------------------------------------- */

int follow_put_plain(struct follows *follows, const struct store_subscription *s)
{
    uint32_t most = follows->core->config.max_subscriptions;
    struct follower *f = follows->plain;
    if (!f)
        f = follows->plain = follower_new(follows, NULL);
    if (!f)
        return ERR_NO_MEMORY;
    struct interest *i = interest_find(f, s->uri);
    if (!i && f->interests.n >= (most ? most : SUBSCRIPTIONS_SESSION_MAX))
        return ERR_LIMIT;
    uint64_t looked = follower_looked(f);
    bool had_none = f->interests.n == 0;
    if (!i) {
        i = interest_new(f, s);
        if (!i)
            return ERR_NO_MEMORY;
        i->after_seq = s->start_seq;
    }
    i->all = s->all;
    i->coalesce_ms = s->coalesce_ms;
    flag_bus(follows);
    if (had_none)
        follower_catch_up(f);
    if (had_none)
        follows->seq = s->start_seq;
    else if (s->start_seq < looked)
        follower_fall_behind(f, s->start_seq);
    follows_post(follows);
    return 0;
}

void follow_delete_plain(struct follows *follows, struct str uri)
{
    struct interest *i = follows->plain ? interest_find(follows->plain, uri) : NULL;
    if (i)
        interest_free(i);
}
