/* wire/format.h - the formats of strings that the protocol's schema names. Inside wire/ only. */
#ifndef TENON_WIRE_FORMAT_H
#define TENON_WIRE_FORMAT_H

#include "wire/table.h"

bool format_fits(enum wire_format format, struct str s);
const char *format_name(enum wire_format format); /* "uri", ... */

#endif
