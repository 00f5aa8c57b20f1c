/* core/stream_sessions.c - the streams and readers of a worker by their session.
 *
 * Thousands of clients may listen here, and what concerns a session looks only at its own. Who has
 * to be looked at after each wake, as he may not have got all, is in a list of his own: most have.
 */
#include "core/stream_parts.h"

#include "base/key_hash.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 64 /* at first */

struct session_streams {
    struct session_streams *next; /* in its bucket */
    struct stream *written;       /* newest first, like all lists of them */
    struct reader *readers;
    char session[SESSION_ID_BYTES + 1];
};

/* ---- The table ------------------------------------------------------------------------------ */

static struct session_streams **bucket_of(const struct stream_sessions *all, struct str session)
{
    return &all->buckets[key_hash(session.p, session.n) & (all->n_buckets - 1)];
}

static struct session_streams *find(const struct streams *streams, struct str session)
{
    const struct stream_sessions *all = &streams->sessions;
    struct session_streams *of = all->n ? *bucket_of(all, session) : NULL;
    while (of && !str_eq(str_of(of->session), session))
        of = of->next;
    return of;
}

static void move_all(struct stream_sessions *to, const struct stream_sessions *from)
{
    for (uint32_t i = 0; i < from->n_buckets; i++)
        for (struct session_streams *of = from->buckets[i], *next; of; of = next) {
            struct session_streams **bucket = bucket_of(to, str_of(of->session));
            next = of->next;
            of->next = *bucket;
            *bucket = of;
        }
}

/* Without memory chains grow longer instead. False: there is no table at all. */
static bool make_room(struct stream_sessions *all)
{
    struct stream_sessions more = *all;
    if (all->n < all->n_buckets)
        return true;
    more.n_buckets = all->n_buckets ? 2 * all->n_buckets : BUCKETS;
    more.buckets = calloc(more.n_buckets, sizeof *more.buckets);
    if (!more.buckets)
        return all->buckets != NULL;
    move_all(&more, all);
    free(all->buckets);
    *all = more;
    return true;
}

static struct session_streams *find_or_add(struct streams *streams, const struct stream_name *name)
{
    struct stream_sessions *all = &streams->sessions;
    struct session_streams *of = find(streams, stream_session(name));
    if (of)
        return of;
    of = make_room(all) ? calloc(1, sizeof *of) : NULL;
    if (!of)
        return NULL;
    struct session_streams **bucket = bucket_of(all, stream_session(name));
    memcpy(of->session, name->session, sizeof of->session);
    of->next = *bucket;
    *bucket = of;
    all->n++;
    return of;
}

static void settle(struct streams *streams, struct session_streams *of)
{
    struct session_streams **at = bucket_of(&streams->sessions, str_of(of->session));
    if (of->written || of->readers)
        return;
    while (*at != of)
        at = &(*at)->next;
    *at = of->next;
    streams->sessions.n--;
    free(of);
}

/* ---- Who is in it --------------------------------------------------------------------------- */

struct stream *streams_of(const struct streams *streams, struct str session)
{
    const struct session_streams *of = find(streams, session);
    return of ? of->written : NULL;
}

struct reader *readers_of(const struct streams *streams, struct str session)
{
    const struct session_streams *of = find(streams, session);
    return of ? of->readers : NULL;
}

bool stream_join(struct stream *s)
{
    struct session_streams *of = find_or_add(s->streams, &s->name);
    if (!of)
        return false;
    s->of = of;
    s->next_of = of->written;
    s->at_of = &of->written;
    if (s->next_of)
        s->next_of->at_of = &s->next_of;
    of->written = s;
    return true;
}

void stream_part(struct stream *s)
{
    *s->at_of = s->next_of;
    if (s->next_of)
        s->next_of->at_of = s->at_of;
    settle(s->streams, s->of);
}

bool reader_join(struct reader *r)
{
    struct session_streams *of = find_or_add(r->streams, &r->name);
    if (!of)
        return false;
    r->of = of;
    r->next_of = of->readers;
    r->at_of = &of->readers;
    if (r->next_of)
        r->next_of->at_of = &r->next_of;
    of->readers = r;
    return true;
}

void reader_part(struct reader *r)
{
    reader_unwatch(r);
    *r->at_of = r->next_of;
    if (r->next_of)
        r->next_of->at_of = r->at_of;
    settle(r->streams, r->of);
}

/* ---- Who may be behind ---------------------------------------------------------------------- */

void reader_watch(struct reader *r)
{
    struct streams *streams = r->streams;
    if (r->at_behind)
        return;
    r->next_behind = streams->behind;
    r->at_behind = &streams->behind;
    if (r->next_behind)
        r->next_behind->at_behind = &r->next_behind;
    streams->behind = r;
}

void reader_unwatch(struct reader *r)
{
    if (!r->at_behind)
        return;
    *r->at_behind = r->next_behind;
    if (r->next_behind)
        r->next_behind->at_behind = r->at_behind;
    r->at_behind = NULL;
}
