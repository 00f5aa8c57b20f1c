/* manifest/refuse.h - what is wrong in a manifest, and where. */
#ifndef TENON_MANIFEST_REFUSE_H
#define TENON_MANIFEST_REFUSE_H

#include "base/json_tree.h"

/* Fills *error with the place of `at` (NULL: none) and the text. Returns ERR_PARAMS. */
int manifest_refuse(struct json_error *error, const struct json *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads members that are not required; absent ones leave *ret as it is. 0 or ERR_PARAMS. */
int manifest_read_bool(const struct json *object, struct str name, bool *ret,
                       struct json_error *error);
int manifest_read_int(const struct json *object, struct str name, int64_t min, int64_t max,
                      int64_t *ret, struct json_error *error);
/* The place in `names` (n of them) of a string. */
int manifest_read_choice(const struct json *object, struct str name, const char *const *names,
                         unsigned n, unsigned *ret, struct json_error *error);
/* Has the object other members than these? 0 or ERR_PARAMS, with the first. */
int manifest_check_members(const struct json *object, const char *const *names, unsigned n,
                           struct json_error *error);

#endif
