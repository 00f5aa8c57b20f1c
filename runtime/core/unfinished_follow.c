/* core/unfinished_follow.c - stands in for core/follow.h until it is there. */
#include "core/follow.h"

int follows_new(struct core *core, struct follows **ret)
{
    (void)core;
    *ret = NULL;
    return 0;
}

void follows_free(struct follows *follows)
{
    (void)follows;
}

void follows_wake(struct follows *follows)
{
    (void)follows;
}

void follows_tick(struct follows *follows)
{
    (void)follows;
}

void follow_begin(struct reader *reader, uint64_t seq)
{
    (void)reader;
    (void)seq;
}

void follow_end(struct reader *reader)
{
    (void)reader;
}

void follow_ready(struct reader *reader)
{
    (void)reader;
}

void follow_stored(struct reader *reader, int err)
{
    (void)reader;
    (void)err;
}

void follow_take(struct core *core, struct worker_id from, const struct tape_node *letter)
{
    (void)core;
    (void)from;
    (void)letter;
}
