/* base/clock.h - time that tests can set.
 *
 * All of Tenon asks here, never the system directly, so that a test moves time instead of waiting.
 */
#ifndef TENON_BASE_CLOCK_H
#define TENON_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_mono_ms(void); /* rises steadily; for deadlines */
int64_t clock_mono_us(void); /* the same; processes of one machine agree on it */
int64_t clock_wall_ms(void); /* Unix time; for people and for what outlives a process */

#define CLOCK_TEXT_BYTES 32
/* Wall time as 2026-01-31T23:59:59.123Z (RFC 3339); "" for years that have not four digits. */
void clock_write_text(int64_t wall_ms, char ret[CLOCK_TEXT_BYTES]);

/* Tests only: adds to both clocks of this process from now on. TENON_CLOCK_FILE names a file
 * whose decimal text is added as well (milliseconds), so that a test can move the time of a
 * running server; it is read only if the variable was set at start. */
void clock_advance_ms(int64_t ms);

#endif
