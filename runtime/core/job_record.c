/* core/job_record.c - see job_record.h.
 *
 * An id is the time of its making in milliseconds and random bytes, in hexadecimal, so ids sort by
 * age; that of a wish is the job's with a sign behind it.
 */
#include "core/job_record.h"

#include "base/err.h"
#include "base/limits.h"
#include "wire/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ID_BYTES   28 /* 12 of the time, 16 random */
#define WISH_SIGN  "!"
#define BOOT_BYTES 8 /* of the id of this boot */

static const char *const state_names[] = {"queued", "running", "done", "failed", "cancelled"};

const char *job_state_name(enum job_state state)
{
    return state_names[state];
}

enum job_state job_state_read(struct str name)
{
    enum job_state state = JOB_QUEUED;
    while (state < JOB_STATES && !str_eq(name, str_of(state_names[state])))
        state++;
    return state;
}

/* ---- Ids ------------------------------------------------------------------------------------ */

int job_id_make(int64_t now_ms, struct arena *arena, struct str *ret)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return ERR_INTERNAL;
    *ret = arena_printf(arena, "%012llx%016llx", (unsigned long long)now_ms,
                        (unsigned long long)random);
    return ret->p ? 0 : ERR_NO_MEMORY;
}

static bool is_id(struct str id)
{
    if (id.n != ID_BYTES)
        return false;
    for (uint32_t i = 0; i < id.n; i++)
        if (!memchr("0123456789abcdef", id.p[i], 16))
            return false;
    return true;
}

struct str job_wish_id(struct str id, struct arena *arena)
{
    return arena_printf(arena, STR_FMT WISH_SIGN, STR_ARG(id));
}

static bool has_wish(struct store_view *view, struct str id, struct arena *scratch)
{
    struct store_job wish;
    struct str wish_id = job_wish_id(id, scratch);
    return wish_id.p && store_get_job(view, wish_id, scratch, &wish) == 0;
}

bool job_is_unwanted(struct store *store, struct str id, struct arena *scratch)
{
    struct store_view *view;
    if (store_view_open(store, STORE_SYS, &view) < 0)
        return false;
    bool unwanted = has_wish(view, id, scratch);
    store_view_close(view);
    return unwanted;
}

/* ---- Processes ------------------------------------------------------------------------------ */

static uint32_t read_file(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(out, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    out[n] = '\0';
    return (uint32_t)n;
}

/* The 22nd field of proc(5) stat, behind the name in parentheses, which may hold anything; "":
 * there is no such process. */
static struct str start_time(int64_t pid, char *space, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    read_file(path, space, size);
    char *behind = strrchr(space, ')');
    struct str rest = str_of(behind ? behind + 1 : "");
    str_cut(&rest, ' ');
    for (int field = 3; field < 22 && rest.p; field++)
        str_cut(&rest, ' ');
    return rest.p ? str_cut(&rest, ' ') : STR("");
}

/* "pid:start:boot" */
static void write_process(int64_t pid, struct buf *out)
{
    char stat[1024], boot[BOOT_BYTES + 1];
    struct str start = start_time(pid, stat, sizeof stat);
    read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    buf_printf(out, "%lld:" STR_FMT ":%s", (long long)pid, STR_ARG(start), boot);
}

void job_worker_write(struct buf *out)
{
    write_process(getpid(), out);
}

/* Is it this very process that runs there? If that cannot be found out: yes. */
static bool lives(struct str worker)
{
    struct buf now = {0};
    write_process(strtoll(worker.p, NULL, 10), &now);
    bool same = now.failed || str_eq(buf_str(&now), worker);
    buf_done(&now);
    return same;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void add_name(const char *name, struct buf *out)
{
    buf_printf(out, "%s\"%s\":", out->n && out->p[out->n - 1] != '{' ? "," : "", name);
}

static void add_text(const char *name, struct str text, struct buf *out)
{
    if (!text.p)
        return;
    add_name(name, out);
    json_write_str(out, text);
}

static void add_raw(const char *name, struct str json, struct buf *out)
{
    if (!json.p)
        return;
    add_name(name, out);
    buf_add_str(out, json);
}

static void add_number(const char *name, int64_t number, struct buf *out)
{
    add_name(name, out);
    buf_add_i64(out, number);
}

static void add_time(const char *name, int64_t ms, struct buf *out)
{
    time_t s = (time_t)(ms / 1000);
    struct tm t;
    char text[32];
    if (!ms || !gmtime_r(&s, &t) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t))
        return;
    add_name(name, out);
    buf_printf(out, "\"%s.%03dZ\"", text, (int)(ms % 1000));
}

static void add_shared(const struct job_record *job, struct buf *out)
{
    add_text("kind", job->kind, out);
    add_text("database", job->database, out);
    add_text("table", job->table, out);
    add_text("state", str_of(job_state_name(job->state)), out);
    add_number("done", (int64_t)job->done, out);
}

static void add_outcome(const struct job_record *job, struct buf *out)
{
    add_raw("result", job->result, out);
    add_text("error", job->error, out);
    add_raw("details", job->details, out);
}

void job_record_write(const struct job_record *job, struct buf *out)
{
    buf_add_char(out, '{');
    add_shared(job, out);
    add_number("total", (int64_t)job->total, out);
    add_number("created", job->created_ms, out);
    add_number("started", job->started_ms, out);
    add_number("finished", job->finished_ms, out);
    add_text("worker", job->worker, out);
    add_outcome(job, out);
    buf_add_char(out, '}');
}

void job_record_show(const struct job_record *job, bool with_outcome, struct buf *out)
{
    buf_add_char(out, '{');
    add_text("id", job->id, out);
    add_shared(job, out);
    if (job->total)
        add_number("total", (int64_t)job->total, out);
    if (job->is_cancelling && !job_is_over(job->state))
        add_raw("cancelling", STR("true"), out);
    add_time("created", job->created_ms, out);
    add_time("started", job->started_ms, out);
    add_time("finished", job->finished_ms, out);
    if (with_outcome)
        add_outcome(job, out);
    buf_add_char(out, '}');
}

/* ---- Reading -------------------------------------------------------------------------------- */

static struct str text_of(const struct tape_node *object, const char *name)
{
    const struct tape_node *value = tape_get(object, str_of(name));
    return value && value->kind == TAPE_STR ? tape_str(value) : STR_NONE;
}

static int64_t number_of(const struct tape_node *object, const char *name)
{
    const struct tape_node *value = tape_get(object, str_of(name));
    return value && value->kind == TAPE_INT ? value->v.i : 0;
}

static int raw_of(const struct tape_node *object, const char *name, struct arena *arena,
                  struct str *ret)
{
    const struct tape_node *value = tape_get(object, str_of(name));
    struct buf text = {0};
    if (!value)
        return 0;
    tape_write(value, &text);
    *ret = arena_buf(arena, &text);
    buf_done(&text);
    return ret->p ? 0 : ERR_NO_MEMORY;
}

static int open_record(struct str text, struct arena *arena, const struct tape_node **ret)
{
    struct wire_fault fault;
    char *copy = arena_zalloc(arena, (size_t)text.n + JSON_PADDING_BYTES);
    if (!copy)
        return ERR_NO_MEMORY;
    memcpy(copy, text.p, text.n);
    int err = tape_open((struct str){copy, text.n}, arena, ret, &fault);
    if (err == ERR_NO_MEMORY || (err == 0 && (*ret)->kind == TAPE_OBJECT))
        return err;
    return ERR_STORE_DAMAGED;
}

static void end_if_lost(struct job_record *job)
{
    if (job_is_over(job->state) || (job->worker.p && lives(job->worker)))
        return;
    job->state = JOB_FAILED;
    job->error = STR("the worker was lost");
}

static int read_record(const struct store_job *stored, struct arena *arena, struct job_record *ret)
{
    const struct tape_node *tape;
    int err = open_record(stored->record, arena, &tape);
    if (err < 0)
        return err;
    *ret = (struct job_record){
        .id = arena_str(arena, stored->id),
        .kind = text_of(tape, "kind"),
        .database = text_of(tape, "database"),
        .table = text_of(tape, "table"),
        .state = job_state_read(text_of(tape, "state")),
        .done = (uint64_t)number_of(tape, "done"),
        .total = (uint64_t)number_of(tape, "total"),
        .created_ms = number_of(tape, "created"),
        .started_ms = number_of(tape, "started"),
        .finished_ms = number_of(tape, "finished"),
        .worker = text_of(tape, "worker"),
        .error = text_of(tape, "error"),
    };
    if (!ret->id.p || raw_of(tape, "result", arena, &ret->result) ||
        raw_of(tape, "details", arena, &ret->details))
        return ERR_NO_MEMORY;
    if (ret->state == JOB_STATES || !ret->kind.p || !ret->created_ms)
        return ERR_STORE_DAMAGED;
    end_if_lost(ret);
    return 0;
}

int job_record_get(struct store_view *view, struct str id, struct arena *arena,
                   struct job_record *ret)
{
    struct store_job stored;
    int err = is_id(id) ? store_get_job(view, id, arena, &stored) : ERR_ABSENT;
    if (err == 0)
        err = read_record(&stored, arena, ret);
    if (err == 0)
        ret->is_cancelling = has_wish(view, id, arena);
    return err;
}

/* ---- All ------------------------------------------------------------------------------------ */

/* Gone through twice, since the store reads the oldest first: to count, then to take the last. */
struct listing {
    job_wanted_fn wanted;
    void *ctx;
    uint32_t n, skip;
    struct arena *arena;
    struct str *ids;
    uint32_t n_taken;
};

static int judge(const struct listing *l, const struct store_job *stored, bool *ret_meant)
{
    struct job_record job;
    struct arena scratch;
    *ret_meant = false;
    if (!is_id(stored->id))
        return 0;
    arena_init(&scratch, 0);
    int err = read_record(stored, &scratch, &job);
    *ret_meant = err == 0 && l->wanted(l->ctx, &job);
    arena_done(&scratch);
    return err;
}

static int count_job(void *ctx, const struct store_job *stored)
{
    struct listing *l = ctx;
    bool meant;
    int err = judge(l, stored, &meant);
    l->n += meant;
    return err;
}

/* Of what runs some may have ended since it was counted. */
static int take_job(void *ctx, const struct store_job *stored)
{
    struct listing *l = ctx;
    bool meant;
    int err = judge(l, stored, &meant);
    if (err < 0 || !meant || l->n_taken == l->n)
        return err;
    if (l->skip > 0) {
        l->skip--;
        return 0;
    }
    struct str id = arena_str(l->arena, stored->id);
    l->ids[l->n - ++l->n_taken] = id;
    return id.p ? 0 : ERR_NO_MEMORY;
}

int job_ids_list(struct store_view *view, job_wanted_fn wanted, void *ctx, uint32_t max,
                 struct arena *arena, const struct str **ret, uint32_t *ret_n)
{
    struct listing l = {.wanted = wanted, .ctx = ctx, .arena = arena};
    int err = store_scan_jobs(view, count_job, &l);
    if (err < 0)
        return err;
    l.skip = l.n > max ? l.n - max : 0;
    l.n -= l.skip;
    l.ids = arena_array(arena, l.n, sizeof *l.ids);
    if (!l.ids && l.n)
        return ERR_NO_MEMORY;
    err = store_scan_jobs(view, take_job, &l);
    if (err < 0)
        return err;
    *ret = l.ids + (l.n - l.n_taken);
    *ret_n = l.n_taken;
    return 0;
}
