/* core/stream_letters.c - what workers tell each other when a stream changes hands; see stream.h.
 *
 *   MAIL_RELEASE   {"session", "stream", "token", "next", "after"}  who has claimed it, to who read
 *   MAIL_RELEASED  {"session", "next"}                              back, once he has stopped
 */
#include "core/stream_parts.h"

#include "wire/tape.h"

void tell_release(struct streams *streams, struct store_worker who, const struct stream_name *name,
                  uint64_t token, uint64_t next, uint64_t after_n)
{
    char id[HEX64_BYTES], old[HEX64_BYTES], fresh[HEX64_BYTES], after[HEX64_BYTES];
    struct buf body = {0};
    hex64_write(name->id, id);
    hex64_write(token, old);
    hex64_write(next, fresh);
    hex64_write(after_n, after);
    buf_printf(
        &body,
        "\"session\":\"%s\",\"stream\":\"%s\",\"token\":\"%s\",\"next\":\"%s\",\"after\":\"%s\"",
        name->session, id, old, fresh, after);
    if (!body.failed)
        mail_send(streams->core, worker_id_of(who), MAIL_RELEASE, buf_str(&body), NULL, NULL);
    buf_done(&body);
}

static void tell_released(struct core *core, struct worker_id to, const struct stream_name *name,
                          uint64_t next)
{
    char text[HEX64_BYTES];
    struct buf body = {0};
    hex64_write(next, text);
    buf_printf(&body, "\"session\":\"%s\",\"next\":\"%s\"", name->session, text);
    if (!body.failed)
        mail_send(core, to, MAIL_RELEASED, buf_str(&body), NULL, NULL);
    buf_done(&body);
}

/* ---- Taking them ---------------------------------------------------------------------------- */

static uint64_t hex_member(const struct tape_node *letter, struct str name)
{
    const struct tape_node *value = tape_get(letter, name);
    uint64_t v = 0;
    if (value && value->kind == TAPE_STR)
        hex64_read(tape_str(value), &v);
    return v;
}

static bool read_name(const struct tape_node *letter, struct stream_name *ret)
{
    const struct tape_node *session = tape_get(letter, STR("session"));
    return session && session->kind == TAPE_STR &&
           stream_name_set(ret, tape_str(session), hex_member(letter, STR("stream")));
}

static void release_pushes(struct streams *streams, const struct stream_name *name, uint64_t token)
{
    struct reader *r = reader_find(streams, name, token);
    if (r)
        reader_stop_pushes(r);
}

void stream_take_release(struct core *core, struct worker_id from, const struct tape_node *letter)
{
    struct stream_name name;
    uint64_t token = hex_member(letter, STR("token")), to = hex_member(letter, STR("next"));
    if (!token || !read_name(letter, &name))
        return;
    if (!to) { /* of the pushes only: nobody waits */
        release_pushes(core->streams, &name, token);
        return;
    }
    reader_displace(core->streams, &name, token, hex_member(letter, STR("after")));
    tell_released(core, from, &name, to);
}

void stream_take_released(struct core *core, struct worker_id from, const struct tape_node *letter)
{
    (void)from;
    struct stream_name name;
    uint64_t next = hex_member(letter, STR("next"));
    if (!next || !read_name(letter, &name))
        return;
    for (struct reader *r = readers_of(core->streams, stream_session(&name)); r; r = r->next_of)
        if (r->token == next && r->sink && !r->is_open && r->release_ms) {
            reader_begin(r);
            return;
        }
}
