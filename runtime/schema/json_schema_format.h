/* schema/json_schema_format.h - the formats of strings that a schema may ask for.
 *
 * Strict, as the standards say; the lenient look at URIs that arrive in protocol messages, where
 * clients send IRIs, is wire/format.h. Inside json_schema_*.c and for others of schema/.
 */
#ifndef TENON_SCHEMA_JSON_SCHEMA_FORMAT_H
#define TENON_SCHEMA_JSON_SCHEMA_FORMAT_H

#include "base/str.h"

enum schema_format {
    FORMAT_ANY,
    FORMAT_EMAIL,     /* RFC 5321, Mailbox */
    FORMAT_URI,       /* RFC 3986 */
    FORMAT_DATE,      /* RFC 3339, full-date */
    FORMAT_DATE_TIME, /* RFC 3339 */
    FORMAT_UUID,      /* RFC 9562 */
    FORMAT_IPV4,      /* four decimal octets */
    FORMAT_IPV6,      /* RFC 4291, 2.2 */
    FORMATS_N,
};

/* FORMAT_ANY for a name that is not one of these. */
enum schema_format schema_format_find(struct str name);
const char *schema_format_name(enum schema_format format);
bool schema_format_fits(enum schema_format format, struct str text);

#endif
