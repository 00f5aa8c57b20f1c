/* auth/key_source.h - the keys of a file or URL, kept and renewed.
 *
 *   loop                           handler thread
 *   key_source_keys: the newest    key_source_fetch: reads, and leaves the new set for the loop
 *
 * A set is fetched anew when it is older than max_age_ms, and when a token names a key that is not
 * in it; from a URL at most every JWKS_FETCH_AGAIN_MS, so that tokens with made-up names cost the
 * authorization server nothing. While fetching fails the last set stays good until it is
 * JWKS_OUTAGE_FACTOR times max_age_ms old, and no longer: then nobody gets in, as its keys may have
 * been withdrawn. A file is looked at every JWKS_FILE_AGAIN_MS in which it is used, and read if it
 * is another one than before.
 */
#ifndef TENON_AUTH_KEY_SOURCE_H
#define TENON_AUTH_KEY_SOURCE_H

#include "auth/key_set.h"

struct key_source;

/* `where`: http://, https:// or the path of a file; it is borrowed. Nothing is read yet. 0,
 * ERR_NO_MEMORY. */
int key_source_new(const char *where, int64_t max_age_ms, struct key_source **ret);
void key_source_free(struct key_source *source); /* NULL is fine; no fetch may run */

/* Loop. The keys that are good now, up to the next call; NULL: none are. */
const struct key_set *key_source_keys(struct key_source *source);
/* Loop. Is it time to renew them, as they are old? Says so to one of those who ask. */
bool key_source_is_due(struct key_source *source);
/* Loop. Would key_source_fetch bring something new: one runs, or none ran lately? */
bool key_source_may_fetch(struct key_source *source);
/* Any thread: the last fetch failed. */
bool key_source_has_failed(struct key_source *source);

/* Handler thread. If another thread is at it, waits for that one, and does nothing if that was
 * lately. 0: keys are there, be it the old ones; ERR_BUSY: none are, or JWKS_WAITING_MAX wait. */
int key_source_fetch(struct key_source *source);

#endif
