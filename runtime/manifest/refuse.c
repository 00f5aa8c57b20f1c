/* manifest/refuse.c - see refuse.h. */
#include "manifest/refuse.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int manifest_refuse(struct json_error *error, const struct json *at, const char *fmt, ...)
{
    va_list args;
    error->line = at ? at->line : 0;
    error->column = at ? at->column : 0;
    va_start(args, fmt);
    vsnprintf(error->text, sizeof error->text, fmt, args);
    va_end(args);
    return ERR_PARAMS;
}

int manifest_read_bool(const struct json *object, struct str name, bool *ret,
                       struct json_error *error)
{
    const struct json *value = json_get(object, name);
    if (!value)
        return 0;
    if (value->kind != JSON_BOOL)
        return manifest_refuse(error, value, STR_FMT ": expected true or false", STR_ARG(name));
    *ret = value->v.b;
    return 0;
}

int manifest_read_int(const struct json *object, struct str name, int64_t min, int64_t max,
                      int64_t *ret, struct json_error *error)
{
    const struct json *value = json_get(object, name);
    if (!value)
        return 0;
    if (value->kind != JSON_NUM || !value->is_int || value->v.num.i < min || value->v.num.i > max)
        return manifest_refuse(error, value, STR_FMT ": expected a whole number from %lld to %lld",
                               STR_ARG(name), (long long)min, (long long)max);
    *ret = value->v.num.i;
    return 0;
}

int manifest_read_choice(const struct json *object, struct str name, const char *const *names,
                         unsigned n, unsigned *ret, struct json_error *error)
{
    const struct json *value = json_get(object, name);
    struct buf expected = {0};
    if (!value)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        if (str_eq(json_str(value), str_of(names[i]))) {
            *ret = i;
            buf_done(&expected);
            return 0;
        }
        buf_printf(&expected, "%s\"%s\"", i ? " or " : "", names[i]);
    }
    manifest_refuse(error, value, STR_FMT ": expected " STR_FMT, STR_ARG(name),
                    STR_ARG(buf_str(&expected)));
    buf_done(&expected);
    return ERR_PARAMS;
}

static bool is_one_of(struct str key, const char *const *names, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (str_eq(key, str_of(names[i])))
            return true;
    return false;
}

int manifest_check_members(const struct json *object, const char *const *names, unsigned n,
                           struct json_error *error)
{
    const struct json *twice = json_duplicate(object);
    if (twice)
        return manifest_refuse(error, twice, STR_FMT ": it stands there already",
                               STR_ARG(twice->key));
    json_each (member, object)
        if (!is_one_of(member->key, names, n))
            return manifest_refuse(error, member, STR_FMT ": there is no such member",
                                   STR_ARG(member->key));
    return 0;
}
