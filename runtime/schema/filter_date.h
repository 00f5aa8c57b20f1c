/* schema/filter_date.h - RFC 3339 texts as instants, and back. Inside the filter only. */
#ifndef TENON_SCHEMA_FILTER_DATE_H
#define TENON_SCHEMA_FILTER_DATE_H

#include "schema/filter.h"

#define SECONDS_PER_DAY 86400

/* full-date (its midnight, UTC) and date-time of RFC 3339, section 5.6. Days that do not exist, and
 * a second 60 that is not the last of a day in UTC, are refused. */
bool filter_date_read(struct str text, struct filter_instant *ret);
bool filter_date_time_read(struct str text, struct filter_instant *ret);
int filter_instant_compare(struct filter_instant a, struct filter_instant b);

/* Can it be written: is it in the years 0000 to 9999? */
bool filter_day_is_writable(int64_t day);
/* Days since 1970 as YYYY-MM-DD: FILTER_DATE_BYTES and a NUL. */
#define FILTER_DATE_BYTES 10
void filter_day_write(int64_t day, char ret[FILTER_DATE_BYTES + 1]);
int64_t filter_instant_day(struct filter_instant instant);                 /* rounded down */
void filter_instant_write(struct filter_instant instant, struct buf *out); /* ...Z */

#endif
