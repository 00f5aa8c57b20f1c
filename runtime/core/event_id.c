/* core/event_id.c - see event_id.h. */
#include "core/event_id.h"

#include "base/err.h"
#include "core/stream_parts.h"

#include <stdio.h>

struct str event_id_write(const struct event_id *id, char ret[EVENT_ID_BYTES])
{
    int n = snprintf(ret, EVENT_ID_BYTES, "%016llx.%llu", (unsigned long long)id->stream,
                     (unsigned long long)id->n);
    if (id->seq)
        n += snprintf(ret + n, EVENT_ID_BYTES - (size_t)n, ".%llu", (unsigned long long)id->seq);
    return (struct str){ret, (uint32_t)n};
}

/* As it is written, so without zeros in front: each event has one id. */
static int read_number(struct str text, uint64_t *ret)
{
    uint64_t v;
    if (!text.p || str_to_u64(text, &v) < 0 || text.p[0] == '0')
        return ERR_EVENT_ID;
    *ret = v;
    return 0;
}

int event_id_read(struct str text, struct event_id *ret)
{
    struct event_id id = {0};
    struct str rest = text, stream = str_cut(&rest, '.'), n = str_cut(&rest, '.');
    if (hex64_read(stream, &id.stream) < 0 || read_number(n, &id.n) < 0 ||
        (rest.p && read_number(rest, &id.seq) < 0))
        return ERR_EVENT_ID;
    *ret = id;
    return 0;
}
