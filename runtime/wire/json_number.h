/* wire/json_number.h - what reader and writer of numbers share. Inside wire/ only. */
#ifndef TENON_WIRE_JSON_NUMBER_H
#define TENON_WIRE_JSON_NUMBER_H

#include "wire/json_scan.h"

#include <locale.h>

locale_t json_locale(void);           /* "C"; (locale_t)0 if it could not be made */
double json_strtod(const char *text); /* with the point, whatever the process's locale says */

#endif
