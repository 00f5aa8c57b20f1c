/* tests/unit/fake_follow.h - a follower as core/follow.h says, so simple that it cannot be wrong:
 * the log is a number that rises, each number is one notification. Linked in place of the real one
 * (--wrap, see the Makefile). It watches that calls come in pairs and in order.
 */
#ifndef TENON_TESTS_UNIT_FAKE_FOLLOW_H
#define TENON_TESTS_UNIT_FAKE_FOLLOW_H

#include "core_stream_rig.h"

#include "core/follow.h"

#define FOLLOWERS  16
#define NOTES_TURN 3 /* that it has under way at one time */

struct follower {
    struct reader *reader; /* NULL: unused */
    uint64_t began_at;
    uint64_t stored, at; /* committed; appended */
    uint64_t generation;
    unsigned n_stored, n_ready; /* calls */
    int last_err;               /* of a commit that failed; 0: none */
};

static struct follower followers[FOLLOWERS];
static struct follower last_begun; /* as it was then */
static unsigned n_begun, n_ended;
static uint64_t log_last;    /* of the change log */
static bool follows_by_hand; /* begin and stored append nothing */
static unsigned n_conflicts;
static struct store *follow_store;

static inline struct follower *follower_of(const struct reader *r)
{
    for (struct follower *f = followers; f < followers + FOLLOWERS; f++)
        if (f->reader == r)
            return f;
    return NULL;
}

static inline struct store_follow follow_now(const struct stream_name *name)
{
    struct store_follow now = {0};
    struct store_view *view;
    assert_int_equal(store_view_open(follow_store, STORE_SYS, &view), 0);
    store_get_follow(view, stream_session(name), &now);
    store_view_close(view);
    return now;
}

static inline int note(struct follower *f, uint64_t seq, bool has_message)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seq);
    struct store_follow to = {
        .seq = seq,
        .sent_seq = f->reader->sent_seq < seq ? f->reader->sent_seq : seq,
        .generation = f->generation,
    };
    return stream_notify(f->reader->stream, has_message ? str_of(text) : STR_NONE, &to);
}

static inline void follow_on(struct follower *f)
{
    while (!follows_by_hand && f->reader->has_room && f->at < log_last &&
           f->at < f->stored + NOTES_TURN) {
        assert_int_equal(note(f, f->at + 1, (f->at + 1) % 7 != 0), 0);
        f->at++;
    }
}

static inline void follow_all(void)
{
    for (struct follower *f = followers; f < followers + FOLLOWERS; f++)
        if (f->reader)
            follow_on(f);
}

void __wrap_follow_begin(struct reader *r, uint64_t seq);
void __wrap_follow_end(struct reader *r);
void __wrap_follow_ready(struct reader *r);
void __wrap_follow_stored(struct reader *r, int err);

void __wrap_follow_begin(struct reader *r, uint64_t seq)
{
    assert_null(follower_of(r));
    struct follower *f = follower_of(NULL);
    assert_non_null(f);
    struct store_follow now = follow_now(&r->name);
    uint64_t at = seq ? seq : now.sent_seq;
    *f = (struct follower){
        .reader = r, .began_at = seq, .stored = at, .at = at, .generation = now.generation};
    last_begun = *f;
    n_begun++;
    follow_on(f);
}

void __wrap_follow_end(struct reader *r)
{
    struct follower *f = follower_of(r);
    assert_non_null(f);
    assert_non_null(r->stream);
    f->reader = NULL;
    n_ended++;
}

void __wrap_follow_ready(struct reader *r)
{
    struct follower *f = follower_of(r);
    assert_non_null(f);
    f->n_ready++;
    follow_on(f);
}

void __wrap_follow_stored(struct reader *r, int err)
{
    struct follower *f = follower_of(r);
    assert_non_null(f);
    f->n_stored++;
    if (err == 0) {
        f->stored = follow_now(&r->name).seq;
    } else {
        f->at = f->stored;
        f->last_err = err;
        n_conflicts += err == ERR_CONFLICT;
        f->generation = follow_now(&r->name).generation;
    }
    follow_on(f);
}

/* As a client does who subscribes. */
static inline void subscribe(struct rig *rig, const char *uri)
{
    struct store_subscription s = {.session = str_of(rig->bench.session), .uri = str_of(uri)};
    struct store_op op = {
        .kind = STORE_PUT_SUBSCRIPTION, .if_version = STORE_ANY, .subscription = &s};
    struct store_write write = {.space = STORE_SYS, .ops = &op, .n_ops = 1};
    assert_int_equal(store_apply(rig->bench.store, &write), 0);
}

static inline void follows_open(struct rig *rig)
{
    memset(followers, 0, sizeof followers);
    follow_store = rig->bench.store;
    follows_by_hand = false;
    n_begun = n_ended = n_conflicts = 0;
    log_last = 0;
}

#endif
