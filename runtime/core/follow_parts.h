/* core/follow_parts.h - what the files of core/follow*.c share.
 *
 *   follower  a session that this worker follows the change log for
 *   interest  one of its subscriptions
 *   watched   a table that interests are in, by its name; its id is another one when the table was
 *             dropped and made again
 *   notice    what is to be told: of a merged interest at most one, of mode `all` one per change
 *
 * follow.c: who comes and goes, and the turns. follow_what.c: interests and what they are in.
 * follow_load.c: from the store. follow_look.c: the change log. follow_tell.c: notices.
 * follow_may.c: who may be told of it.
 *
 * Most followers are live: the log is looked at once for all of them. One that begins, has new
 * subscriptions, or could not take all that its mode `all` makes, is behind: it has a position of
 * its own until it has caught up. Which of the two indexes its interests are in says which it is,
 * so a look finds only those that it is for.
 */
#ifndef TENON_CORE_FOLLOW_PARTS_H
#define TENON_CORE_FOLLOW_PARTS_H

#include "base/limits.h"
#include "base/node_map.h"
#include "core/core_state.h"
#include "core/follow.h"
#include "core/stream_parts.h"

#include <stddef.h>

#define FOLLOW_TURN_NOTICES 256   /* told in a turn */
#define FOLLOW_EVENTS_MAX   256   /* of mode `all` that a follower keeps before it stops looking */
#define FOLLOW_UNSENT_MAX   50    /* frames on the way to the reader; the store keeps more */
#define FOLLOW_NOTE_MS      1000  /* between notes of a position that a connection has taken */
#define FOLLOW_NOTE_CHANGES 10000 /* of no concern, after which the position is noted anyway */
#define FOLLOW_LOADS_PER_MS 64    /* subscriptions that are read again; more often costs too much */
#define FOLLOW_CHECKS       256   /* of generations, in each FOLLOW_NOTE_MS */
#define FOLLOW_RETRY_MS     1000  /* after the store, or the memory, had no room */

/* In a ring with its list. A zeroed one is in none. */
struct link {
    struct link *next, *before;
};

static inline void link_init(struct link *list)
{
    list->next = list->before = list;
}

static inline void link_add_after(struct link *at, struct link *link)
{
    link->before = at;
    link->next = at->next;
    at->next->before = link;
    at->next = link;
}

static inline void link_remove(struct link *link)
{
    if (!link->next)
        return;
    link->before->next = link->next;
    link->next->before = link->before;
    link->next = link->before = NULL;
}

static inline bool link_is_empty(const struct link *list)
{
    return list->next == list;
}

#define MEMBER_OF(at, type, member) ((type *)((char *)(at)-offsetof(type, member)))

enum follow_pace { FOLLOW_LIVE, FOLLOW_BEHIND };

struct notice {
    struct link all;  /* in the follower's, by seq */
    struct link turn; /* in its `due`, by seq, or `waiting` */
    struct interest *interest;
    uint64_t seq;    /* of the change; of a gap the position that is kept until it was told, + 1 */
    bool is_gap;     /* what is no longer in the log; no change in particular */
    bool is_event;   /* of mode `all`, with memory of its own */
    bool is_pending; /* in the lists */
    bool is_due;     /* its turn is among those that may go now */
    struct str key;  /* of the row that changed, behind this struct; STR_NONE: none */
};

struct interest {
    struct map_node what; /* in the index, unless there is no such table or key now */
    struct map_node by_uri;
    struct link of_table;
    struct follower *follower;
    struct watched *table; /* NULL: it is of a component */
    struct notice notice;
    uint64_t after_seq; /* what changed up to here does not count (any more) */
    int64_t window_ms;  /* monotonic: it waits until then */
    uint32_t n_notices; /* pending */
    uint32_t coalesce_ms;
    bool all;
    bool is_there;      /* was found by the load under way */
    bool is_known_gone; /* was told that its table was dropped */
    struct str uri;     /* behind this struct */
    struct str id;      /* of a row, decoded, behind it; STR_NONE: none */
    struct str key;     /* of a row, encoded, allocated; STR_NONE: not for this table */
};

struct watched {
    struct map_node by_name;
    struct link interests;
    uint32_t id; /* 0: there is no such table */
    enum key_type key_type;
    struct str database, name; /* behind this struct */
};

struct follower {
    struct follows *follows;
    struct link in_follows;
    struct link ready;     /* in follows->ready, or in none */
    struct link behind;    /* in follows->behind, or in none: then it is live */
    struct link stale;     /* in follows->stale, or in none */
    struct reader *reader; /* NULL: stdio */
    struct node_map interests;
    struct link all, due, waiting; /* notices */
    uint64_t seq;                  /* of one that is behind: looked at so far */
    uint64_t begin_seq;            /* all up to here is in the store for certain; 0: sent_seq */
    struct store_follow told;      /* as it was last given to the stream */
    uint32_t n_events;
    int64_t load_ms; /* monotonic: not before that */
    size_t n_bytes;
    bool is_stale;            /* its subscriptions are others now: nothing can be told */
    bool is_lost;             /* begins anew, at what is in the store */
    bool has_stored;          /* some frames behind begin_seq are in the store */
    bool has_failed;          /* to be read, which was logged */
    bool is_telling, is_over; /* it is freed when it has ended telling */
    bool is_full;             /* too many events: does not look on */
};

struct follows {
    struct core *core;
    struct link followers;
    struct link ready;  /* that may have something to tell now */
    struct link behind; /* the first one leads the next look */
    struct link stale;
    struct node_map index[2]; /* interests, per enum follow_pace */
    struct node_map watched;
    struct follower *plain; /* of stdio, or NULL */
    uint64_t seq;           /* looked at for those that are live */
    uint32_t n_interests;
    size_t n_bytes; /* of all interests */
    struct loop_post post;
    bool is_posted;
    bool is_unsettled; /* a table's id is not known: nothing is looked at before that */
    bool has_waiting;
    bool has_missed;  /* a reader without a follower: there was no memory */
    int64_t retry_ms; /* monotonic: something could not be done; 0: nothing */
    int64_t note_ms;  /* monotonic: next time */
};

/* ---- follow.c */
struct follower *follower_new(struct follows *follows, struct reader *reader);
void follower_free(struct follower *follower);
/* A turn comes soon; `ms` later. */
void follows_post(struct follows *follows);
void follows_retry(struct follows *follows, int64_t ms);
enum follow_pace follower_pace(const struct follower *follower);
/* Up to where the log was looked at for it. */
uint64_t follower_looked(const struct follower *follower);
/* It is behind, and goes on after `seq`. */
void follower_fall_behind(struct follower *follower, uint64_t seq);
void follower_catch_up(struct follower *follower);
/* Without subscriptions there is nothing to look at. */
void follower_rest(struct follower *follower);
/* It has to be read again; `is_lost`: and begins anew. */
void follower_spoil(struct follower *follower, bool is_lost);

/* ---- follow_what.c */
/* NULL: no memory, or FOLLOW_BYTES_MAX. */
struct interest *interest_new(struct follower *follower, const struct store_subscription *as);
void interest_free(struct interest *interest);
struct interest *interest_find(const struct follower *follower, struct str uri);
/* Into the index of its follower's pace, if its table is there. */
void interest_index(struct interest *interest);
void interest_unindex(struct interest *interest);
/* Between the indexes of two paces; one that is in none stays so. */
void interest_move(struct interest *interest, struct node_map *from, struct node_map *to);
/* Looks up all tables by name. False: the catalog, or the memory for keys, is not to be had now. */
bool watched_settle(struct follows *follows);
/* Calls `fn` for who has an interest in the change, of those of this pace. */
typedef void (*interest_fn)(void *ctx, struct interest *interest);
void interests_each(struct follows *follows, enum follow_pace pace,
                    const struct store_change *change, interest_fn fn, void *ctx);

/* ---- follow_load.c */
/* Reads those again whose time has come. */
void follows_load(struct follows *follows);
/* What lies between `from` and `floor` is not in the log any more; all up to `last` counts as told
 * by the notices of that. */
void follower_gap(struct follower *follower, uint64_t from, uint64_t floor, uint64_t last);

/* ---- follow_look.c */
/* 0: there may be more; 1: all was looked at; or an error. */
int follows_look(struct follows *follows);

/* ---- follow_may.c */
/* May its session read it now? 0, ERR_NO_MEMORY, or what the store says. */
int interest_may_be_told(const struct interest *interest, bool *ret);

/* ---- follow_tell.c */
void interest_hit(struct interest *interest, const struct store_change *change);
void interest_gap(struct interest *interest, uint64_t seq);
void notice_free(struct notice *notice);
/* All that are pending are forgotten. */
void follower_forget(struct follower *follower);
/* Everything up to this one was told, or is no concern. */
uint64_t follower_position(const struct follower *follower);
void follower_make_ready(struct follower *follower);
/* Returns how many were told, at most `most`. */
uint32_t follower_tell(struct follower *follower, uint32_t most);
void follower_wait_over(struct follower *follower, int64_t now_ms);
/* Notes its position, if it is worth it. */
void follower_note(struct follower *follower);
/* The same at the end, while the claim may still be there. */
void follower_note_last(struct follower *follower);

#endif
