/* core/mail.c - see mail.h.
 *
 * A letter's text is {"kind","slot","epoch" (of its sender), ...} with the members of its body
 * behind. Letters lie in the store by the slot of the worker that they are for, in the order of
 * their commits. Who takes them remembers up to where he has, and deletes so far afterwards: what
 * dies between the two was for his epoch only, and his successor drops it.
 */
#include "core/mail.h"

#include "base/err.h"
#include "base/log.h"
#include "core/core_state.h"
#include "core/follow.h"
#include "wire/json_write.h"
#include "wire/tape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TAKE_BYTES   (16u << 20) /* of letters taken in one turn; one always is */
#define OPENED_TIMES 4           /* of its text, at most, a letter takes to be opened */

static const struct {
    struct str name;
    mail_fn take;
} kinds[MAIL_KINDS] = {
    [MAIL_ANSWER] = {STR_INIT("answer"), pending_take_answer},
    [MAIL_CANCEL] = {STR_INIT("cancel"), running_take_cancel},
    [MAIL_ENDED] = {STR_INIT("ended"), running_take_ended},
    [MAIL_RELEASE] = {STR_INIT("release"), stream_take_release},
    [MAIL_RELEASED] = {STR_INIT("released"), stream_take_released},
    [MAIL_PUSH] = {STR_INIT("push"), push_take},
    [MAIL_FOLLOW] = {STR_INIT("follow"), follow_take},
};

/* ---- A letter ------------------------------------------------------------------------------- */

static void write_letter(struct worker_id from, enum mail_kind kind, struct str body,
                         struct buf *out)
{
    static const char padding[JSON_PADDING_BYTES];
    buf_add_lit(out, "{\"kind\":");
    json_write_str(out, kinds[kind].name);
    buf_printf(out, ",\"slot\":%" PRIu32 ",\"epoch\":\"%016" PRIx64 "\"", from.slot, from.epoch);
    if (body.n)
        buf_add_char(out, ',');
    buf_add_str(out, body);
    buf_add_char(out, '}');
    buf_add(out, padding, sizeof padding);
    if (!out->failed)
        out->n -= sizeof padding; /* it stands behind the text */
}

static mail_fn find_kind(const struct tape_node *letter)
{
    const struct tape_node *kind = tape_get(letter, STR("kind"));
    for (int i = 0; kind && kind->kind == TAPE_STR && i < MAIL_KINDS; i++)
        if (str_eq(tape_str(kind), kinds[i].name))
            return kinds[i].take;
    return NULL;
}

static bool read_sender(const struct tape_node *letter, struct worker_id *ret)
{
    const struct tape_node *slot = tape_get(letter, STR("slot")),
                           *epoch = tape_get(letter, STR("epoch"));
    char hex[17] = "";
    if (!slot || slot->kind != TAPE_INT || !epoch || epoch->kind != TAPE_STR || epoch->n != 16)
        return false;
    memcpy(hex, tape_str(epoch).p, 16);
    *ret = (struct worker_id){(uint32_t)slot->v.i, strtoull(hex, NULL, 16)};
    return true;
}

static int deliver(struct core *core, struct str text)
{
    struct arena arena;
    struct worker_id from;
    const struct tape_node *letter;
    arena_init(&arena, (size_t)OPENED_TIMES * (text.n + ARENA_FIRST_BLOCK_BYTES));
    int err = tape_open(text, &arena, &letter, NULL);
    if (err == 0 && letter->kind == TAPE_OBJECT && find_kind(letter) && read_sender(letter, &from))
        find_kind(letter)(core, from, letter);
    else
        log_error("a letter of another worker cannot be read: %s", err_text(err));
    arena_done(&arena);
    return err;
}

/* ---- Sending -------------------------------------------------------------------------------- */

struct outgoing {
    struct store_write write; /* first */
    struct core *core;
    mail_then_fn then;
    void *ctx;
    struct buf text;
    struct store_op ops[];
};

static void say(mail_then_fn then, void *ctx, int err)
{
    if (then)
        then(ctx, err);
}

static void sent(struct store_write *write, int err)
{
    struct outgoing *o = (struct outgoing *)write; /* its first member */
    struct bus *bus = o->core->config.bus;
    for (uint32_t i = 0; err == 0 && i < write->n_ops; i++)
        bus_wake(bus, o->ops[i].to.slot);
    if (err < 0)
        log_error("a letter to another worker cannot be written: %s", err_text(err));
    say(o->then, o->ctx, err);
    buf_done(&o->text);
    free(o);
}

static int submit(struct core *core, const struct worker_id *to, uint32_t n, struct buf *text,
                  mail_then_fn then, void *ctx)
{
    struct outgoing *o = calloc(1, sizeof *o + n * sizeof *o->ops);
    if (!o)
        return ERR_NO_MEMORY;
    o->core = core;
    o->then = then;
    o->ctx = ctx;
    o->text = *text;
    for (uint32_t i = 0; i < n; i++)
        o->ops[i] = (struct store_op){.kind = STORE_PUT_MAIL,
                                      .if_version = STORE_ANY,
                                      .to = {to[i].slot, to[i].epoch},
                                      .message = buf_str(text)};
    o->write = (struct store_write){.space = STORE_SYS, .ops = o->ops, .n_ops = n, .done = sent};
    store_submit(core->store, &o->write);
    return 0;
}

/* NULL for oneself. */
static int post(struct core *core, const struct worker_id *to, uint32_t n, enum mail_kind kind,
                struct str body, mail_then_fn then, void *ctx)
{
    struct buf text = {.limit = MAIL_BYTES_MAX + JSON_PADDING_BYTES};
    write_letter(bus_self(core->config.bus), kind, body, &text);
    int err = !text.failed ? 0 : body.n > MAIL_BYTES_MAX / 2 ? ERR_LIMIT : ERR_NO_MEMORY;
    if (err == 0)
        err = to ? submit(core, to, n, &text, then, ctx) : deliver(core, buf_str(&text));
    if (err < 0 || !to)
        buf_done(&text);
    return err;
}

void mail_send(struct core *core, struct worker_id to, enum mail_kind kind, struct str body,
               mail_then_fn then, void *ctx)
{
    struct bus *bus = core->config.bus;
    struct worker_id self = bus_self(bus);
    bool is_own = to.slot == self.slot && to.epoch == self.epoch;
    int err = ERR_LOST;
    if (bus_is_alive(bus, to))
        err = post(core, is_own ? NULL : &to, 1, kind, body, then, ctx);
    if (err < 0 || is_own)
        say(then, ctx, err);
}

void mail_send_all(struct core *core, uint32_t flags, enum mail_kind kind, struct str body,
                   mail_then_fn then, void *ctx)
{
    struct bus *bus = core->config.bus;
    struct worker_id to[WORKERS_MAX];
    uint32_t n = 0;
    int err = 0;
    for (uint32_t i = 0; i < bus_slots(bus); i++) {
        struct worker_id worker = bus_worker(bus, i);
        if (i != bus_self(bus).slot && worker.epoch && bus_flags(bus, i) & flags)
            to[n++] = worker;
    }
    if (n)
        err = post(core, to, n, kind, body, then, ctx);
    if (err < 0 || !n)
        say(then, ctx, err);
}

/* ---- Taking --------------------------------------------------------------------------------- */

struct letter {
    struct str text;
    struct letter *next;
};

struct taking {
    struct worker_id self;
    struct arena arena;
    struct letter *first, **last;
    uint64_t seq; /* of the last one that was looked at */
    size_t bytes;
};

static int keep(struct taking *t, struct str text)
{
    struct letter *letter = arena_zalloc(&t->arena, sizeof *letter);
    char *copy = arena_zalloc(&t->arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!letter || !copy)
        return ERR_NO_MEMORY;
    memcpy(copy, text.p, text.n);
    letter->text = (struct str){copy, text.n};
    *t->last = letter;
    t->last = &letter->next;
    t->bytes += text.n;
    return 0;
}

static int collect(void *ctx, uint64_t seq, struct store_worker to, struct str text)
{
    struct taking *t = ctx;
    int err = to.epoch == t->self.epoch ? keep(t, text) : 0;
    if (err < 0)
        return err;
    t->seq = seq;
    return t->bytes >= TAKE_BYTES;
}

/* 1: there may be more. */
static int read_letters(struct core *core, struct taking *t)
{
    struct store_view *view;
    int err = store_view_open(core->store, STORE_SYS, &view);
    if (err < 0)
        return err;
    err = store_scan_mail(view, t->self.slot, t->seq, collect, t);
    store_view_close(view);
    return err;
}

static void delete_taken(struct core *core);

static void deleted(struct store_write *write, int err)
{
    struct mail *mail = (struct mail *)write; /* its first member */
    mail->is_deleting = false;
    if (err < 0) { /* the next look tries again */
        log_error("letters that were taken cannot be deleted: %s", err_text(err));
        return;
    }
    mail->deleted_seq = mail->deletion_op.mail_seq;
    delete_taken(mail->core);
}

static void delete_taken(struct core *core)
{
    struct mail *mail = &core->mail;
    if (mail->taken_seq == mail->deleted_seq || mail->is_deleting)
        return;
    mail->core = core;
    mail->is_deleting = true;
    mail->deletion_op = (struct store_op){.kind = STORE_DELETE_MAIL,
                                          .if_version = STORE_ANY,
                                          .to = {.slot = bus_self(core->config.bus).slot},
                                          .mail_seq = mail->taken_seq};
    mail->deletion = (struct store_write){
        .space = STORE_SYS, .ops = &mail->deletion_op, .n_ops = 1, .done = deleted};
    store_submit(core->store, &mail->deletion);
}

void mail_take(struct core *core)
{
    struct taking t = {.self = bus_self(core->config.bus), .seq = core->mail.taken_seq};
    if (bus_slots(core->config.bus) == 1)
        return; /* nobody is there who could write */
    t.last = &t.first;
    arena_init(&t.arena, 2 * (size_t)(TAKE_BYTES + MAIL_BYTES_MAX));
    int err = read_letters(core, &t);
    core->mail.taken_seq = t.seq;
    for (struct letter *letter = t.first; letter; letter = letter->next)
        deliver(core, letter->text);
    if (err < 0)
        log_error("the letters of other workers cannot be read: %s", err_text(err));
    if (err == 1)
        bus_wake(core->config.bus, t.self.slot);
    arena_done(&t.arena);
    delete_taken(core);
}
