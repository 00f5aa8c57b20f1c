/* auth/key_source.c - see key_source.h. */
#include "auth/key_source.h"

#include "auth/fetch.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct key_source {
    const char *where;
    bool is_url;
    int64_t max_age_ms, again_ms;
    /* of the loop */
    struct key_set *keys;
    int64_t asked_ms; /* when somebody was last told to renew them */
    /* of the thread that fetches */
    struct fetch_mark mark;
    int64_t read_ms; /* when a file was last read */
    /* under the mutex */
    pthread_mutex_t mutex;
    pthread_cond_t done;
    struct key_set *fresh; /* not yet taken by the loop */
    bool has_keys;         /* they were fetched once; at good_ms last */
    bool is_fetching, was_fetched, has_failed;
    int64_t good_ms, done_ms;
    uint32_t n_done, n_waiting;
};

int key_source_new(const char *where, int64_t max_age_ms, struct key_source **ret)
{
    struct key_source *source = calloc(1, sizeof *source);
    if (!source)
        return ERR_NO_MEMORY;
    source->where = where;
    source->is_url = str_starts_with(str_of(where), STR("http://")) ||
                     str_starts_with(str_of(where), STR("https://"));
    source->max_age_ms = max_age_ms;
    source->again_ms = source->is_url ? JWKS_FETCH_AGAIN_MS : JWKS_FILE_AGAIN_MS;
    pthread_mutex_init(&source->mutex, NULL);
    pthread_cond_init(&source->done, NULL);
    *ret = source;
    return 0;
}

void key_source_free(struct key_source *source)
{
    if (!source)
        return;
    key_set_free(source->keys);
    key_set_free(source->fresh);
    pthread_mutex_destroy(&source->mutex);
    pthread_cond_destroy(&source->done);
    free(source);
}

/* ---- What holds now; under the mutex -------------------------------------------------------- */

static bool is_good(const struct key_source *source)
{
    return source->has_keys &&
           clock_mono_ms() - source->good_ms <= source->max_age_ms * JWKS_OUTAGE_FACTOR;
}

static bool was_lately(const struct key_source *source)
{
    return source->was_fetched && clock_mono_ms() - source->done_ms < source->again_ms;
}

static bool is_old(const struct key_source *source)
{
    int64_t most = source->is_url ? source->max_age_ms : source->again_ms;
    return !source->has_keys || clock_mono_ms() - source->good_ms >= most;
}

/* ---- On the loop ---------------------------------------------------------------------------- */

const struct key_set *key_source_keys(struct key_source *source)
{
    struct key_set *old = NULL;
    pthread_mutex_lock(&source->mutex);
    if (source->fresh) {
        old = source->keys;
        source->keys = source->fresh;
        source->fresh = NULL;
    }
    bool good = is_good(source);
    pthread_mutex_unlock(&source->mutex);
    key_set_free(old);
    return good ? source->keys : NULL;
}

bool key_source_is_due(struct key_source *source)
{
    int64_t now = clock_mono_ms();
    pthread_mutex_lock(&source->mutex);
    bool due = is_old(source) && !source->is_fetching && !was_lately(source);
    pthread_mutex_unlock(&source->mutex);
    if (!due || (source->asked_ms && now - source->asked_ms < source->again_ms))
        return false;
    source->asked_ms = now;
    return true;
}

bool key_source_may_fetch(struct key_source *source)
{
    pthread_mutex_lock(&source->mutex);
    bool may = source->is_fetching || !was_lately(source);
    pthread_mutex_unlock(&source->mutex);
    return may;
}

bool key_source_has_failed(struct key_source *source)
{
    pthread_mutex_lock(&source->mutex);
    bool failed = source->has_failed;
    pthread_mutex_unlock(&source->mutex);
    return failed;
}

/* ---- On a handler thread -------------------------------------------------------------------- */

static int read_text(struct key_source *source, struct buf *out, char why[FETCH_WHY_BYTES])
{
    if (source->is_url)
        return fetch_url(source->where, JWKS_FETCH_MS, out, why);
    if (clock_mono_ms() - source->read_ms >= source->max_age_ms)
        source->mark = (struct fetch_mark){0};
    return fetch_file(source->where, &source->mark, out, why);
}

/* 0; FETCH_SAME: the set stays; or an error with `why` filled. What could not be understood is read
 * again next time. */
static int load(struct key_source *source, struct key_set **ret, char why[FETCH_WHY_BYTES])
{
    struct buf text = {.limit = JWKS_BYTES};
    const char *fault = NULL;
    int err = read_text(source, &text, why);
    if (err == 0) {
        err = key_set_parse(buf_str(&text), ret, &fault);
        source->read_ms = clock_mono_ms();
        if (err < 0)
            source->mark = (struct fetch_mark){0};
        if (err < 0)
            snprintf(why, FETCH_WHY_BYTES, "%s", fault ? fault : err_text(err));
    }
    buf_done(&text);
    return err;
}

static void tell(const struct key_source *source, int err, const struct key_set *set,
                 const char *why)
{
    if (err < 0 && !source->has_failed)
        log_warn("auth.jwks: %s: %s; %s", source->where, why,
                 source->has_keys ? "the keys of before are used as long as they may be"
                                  : "no signed token can be judged");
    else if (err == 0 && !key_set_count(set))
        log_warn("auth.jwks: %s: no key of it can be used", source->where);
    else if (err >= 0 && source->has_failed)
        log_info("auth.jwks: %s: keys can be had again", source->where);
}

static void settle(struct key_source *source, int err, struct key_set *set)
{
    source->is_fetching = false;
    source->was_fetched = true;
    source->done_ms = clock_mono_ms();
    source->has_failed = err < 0;
    source->n_done++;
    if (err >= 0) {
        source->good_ms = source->done_ms;
        source->has_keys = true;
    }
    if (set) {
        key_set_free(source->fresh);
        source->fresh = set;
    }
    pthread_cond_broadcast(&source->done);
}

static void fetch_now(struct key_source *source)
{
    struct key_set *set = NULL;
    char why[FETCH_WHY_BYTES] = "";
    source->is_fetching = true;
    pthread_mutex_unlock(&source->mutex);
    int err = load(source, &set, why);
    pthread_mutex_lock(&source->mutex);
    tell(source, err, set, why);
    settle(source, err, set);
}

static int wait_for_other(struct key_source *source)
{
    uint32_t n = source->n_done;
    if (source->n_waiting >= JWKS_WAITING_MAX)
        return ERR_BUSY;
    source->n_waiting++;
    while (source->n_done == n)
        pthread_cond_wait(&source->done, &source->mutex);
    source->n_waiting--;
    return 0;
}

int key_source_fetch(struct key_source *source)
{
    int err = 0;
    pthread_mutex_lock(&source->mutex);
    if (source->is_fetching)
        err = wait_for_other(source);
    else if (!was_lately(source))
        fetch_now(source);
    if (err == 0 && !is_good(source))
        err = ERR_BUSY;
    pthread_mutex_unlock(&source->mutex);
    return err;
}
