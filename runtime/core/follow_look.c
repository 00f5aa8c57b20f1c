/* core/follow_look.c - looks at the change log for those that have an interest in it.
 *
 * A turn looks at FOLLOW_TURN_CHANGES for all that are live, and at so many for those that are
 * behind: for the first of them, and for all others that stand within what it looks at; then it is
 * the turn of the next one. Where the log tells of a table, its name is looked up anew before or
 * after that change is told, so the change ends a look.
 */
#include "core/follow_parts.h"

#include "base/err.h"

struct look {
    struct follows *follows;
    enum follow_pace pace;
    uint64_t from, to;         /* changes behind the one and up to the other */
    uint64_t seq;              /* looked at so far */
    uint32_t left;             /* of the turn */
    uint64_t floor, last;      /* of the log */
    struct store_change table; /* of a table, not looked at yet; seq 0: none */
    bool has_full;             /* some have too many events now */
};

/* ---- A change ------------------------------------------------------------------------------- */

static bool is_for(const struct look *look, const struct follower *f, uint64_t seq)
{
    if (look->pace == FOLLOW_LIVE)
        return true;
    return !f->is_full && f->seq >= look->from && f->seq < seq;
}

static void hit(struct look *look, struct interest *i, const struct store_change *change)
{
    struct follower *f = i->follower;
    if (!is_for(look, f, change->seq))
        return;
    interest_hit(i, change);
    look->has_full |= f->n_events > FOLLOW_EVENTS_MAX;
    if (change->kind == STORE_TABLE_DROPPED && i->table && i->table->id == change->table)
        i->is_known_gone = true;
}

struct hitting {
    struct look *look;
    const struct store_change *change;
};

static void on_interest(void *ctx, struct interest *i)
{
    struct hitting *h = ctx;
    hit(h->look, i, h->change);
}

/* Those that keep too much stop here, and go on when it was told. */
static void stop_full(struct look *look, uint64_t seq)
{
    struct follows *follows = look->follows;
    look->has_full = false;
    for (struct link *l = follows->followers.next; l != &follows->followers; l = l->next) {
        struct follower *f = MEMBER_OF(l, struct follower, in_follows);
        if (f->is_full || f->n_events <= FOLLOW_EVENTS_MAX || follower_pace(f) != look->pace)
            continue;
        f->is_full = true;
        follower_fall_behind(f, seq);
    }
}

static void take_change(struct look *look, const struct store_change *change)
{
    struct hitting h = {look, change};
    interests_each(look->follows, look->pace, change, on_interest, &h);
    if (look->has_full)
        stop_full(look, change->seq);
    look->seq = change->seq;
    if (look->left)
        look->left--;
}

static bool is_of_table(const struct store_change *change)
{
    return change->kind == STORE_TABLE_PUT || change->kind == STORE_TABLE_DROPPED;
}

static int on_change(void *ctx, const struct store_change *change)
{
    struct look *look = ctx;
    if (change->seq > look->to || look->left == 0)
        return 1;
    if (is_of_table(change) && look->follows->watched.n) {
        look->table = *change;
        return 1;
    }
    take_change(look, change);
    return 0;
}

/* Who watches it by the id that is going, and who by the one that has come. False: the names cannot
 * be looked up now. */
static bool take_table(struct look *look)
{
    struct store_change change = look->table;
    change.key = STR_NONE;
    look->table.seq = 0;
    if (change.kind == STORE_TABLE_DROPPED)
        take_change(look, &change);
    else {
        struct hitting h = {look, &change};
        interests_each(look->follows, look->pace, &change, on_interest, &h);
    }
    if (!watched_settle(look->follows))
        return false;
    if (change.kind == STORE_TABLE_PUT)
        take_change(look, &change);
    return true;
}

/* ---- A stretch of the log ------------------------------------------------------------------- */

static int look_on(struct look *look, struct store_view *view)
{
    int err;
    look->seq = look->from;
    do {
        err = store_scan_changes(view, look->seq, on_change, look);
        if (err >= 0 && look->table.seq && !take_table(look))
            err = ERR_BUSY;
    } while (err == 1 && look->left && look->seq < look->to);
    return err < 0 ? err : 0;
}

static bool has_live(const struct follows *follows)
{
    if (follows->index[FOLLOW_LIVE].n)
        return true;
    for (struct link *l = follows->followers.next; l != &follows->followers; l = l->next) {
        const struct follower *f = MEMBER_OF(l, struct follower, in_follows);
        if (f->interests.n && follower_pace(f) == FOLLOW_LIVE)
            return true;
    }
    return false;
}

static void gap_live(struct look *look)
{
    struct follows *follows = look->follows;
    for (struct link *l = follows->followers.next; l != &follows->followers; l = l->next) {
        struct follower *f = MEMBER_OF(l, struct follower, in_follows);
        if (f->interests.n && follower_pace(f) == FOLLOW_LIVE)
            follower_gap(f, follows->seq, look->floor, look->last);
    }
}

static int look_live(struct look *look, struct store_view *view)
{
    struct follows *follows = look->follows;
    if (!has_live(follows))
        follows->seq = look->last;
    if (follows->seq + 1 < look->floor) {
        gap_live(look);
        follows->seq = look->floor - 1;
    }
    look->pace = FOLLOW_LIVE;
    look->from = follows->seq;
    look->to = look->last;
    int err = look_on(look, view);
    follows->seq = look->seq;
    return err;
}

static struct follower *find_lead(struct follows *follows)
{
    for (struct link *l = follows->behind.next; l != &follows->behind; l = l->next) {
        struct follower *f = MEMBER_OF(l, struct follower, behind);
        if (!f->is_full && f->seq < follows->seq)
            return f;
    }
    return NULL;
}

static void advance(struct look *look)
{
    struct follows *follows = look->follows;
    for (struct link *l = follows->behind.next, *next; l != &follows->behind; l = next) {
        struct follower *f = MEMBER_OF(l, struct follower, behind);
        next = l->next;
        if (!f->is_full && f->seq >= look->from && f->seq < look->seq)
            f->seq = look->seq;
        if (!f->is_full && f->seq == follows->seq)
            follower_catch_up(f);
    }
}

static int look_behind(struct look *look, struct store_view *view)
{
    struct follows *follows = look->follows;
    struct follower *lead = find_lead(follows);
    int err = 0;
    look->pace = FOLLOW_BEHIND;
    look->from = look->seq = lead ? lead->seq : follows->seq;
    look->to = follows->seq;
    if (lead && lead->seq + 1 < look->floor) {
        follower_gap(lead, lead->seq, look->floor, look->last);
    } else if (lead) {
        link_remove(&lead->behind);
        link_add_after(follows->behind.before, &lead->behind);
        err = look_on(look, view);
    }
    advance(look);
    return err;
}

static int look_both(struct follows *follows, struct store_view *view)
{
    struct look live = {.follows = follows, .left = FOLLOW_TURN_CHANGES};
    int err = store_last_seq(view, &live.last);
    if (err == 0)
        err = store_floor_seq(view, &live.floor);
    if (err == 0 && follows->is_unsettled && !watched_settle(follows))
        err = ERR_BUSY;
    struct look behind = live;
    if (err == 0)
        err = look_live(&live, view);
    if (err == 0)
        err = look_behind(&behind, view);
    if (err < 0)
        return err;
    return follows->seq >= live.last && !find_lead(follows);
}

int follows_look(struct follows *follows)
{
    struct store_view *view;
    int err = store_view_open(follows->core->store, STORE_DATA, &view);
    if (err < 0)
        return err;
    err = look_both(follows, view);
    store_view_close(view);
    return err;
}
