/* tests/unit/test_store_contract_more.c - the port core/store.h, the same cases on both engines:
 * sessions, completions on a loop, loads, the secret. */
#include "store_contract.h"

/* ---- Sessions ------------------------------------------------------------------------------- */

static struct store_session session_of(const char *id, int64_t lives_ms)
{
    int64_t now = clock_wall_ms();
    return (struct store_session){.id = str_of(id),
                                  .user = STR("ada"),
                                  .profile = STR("application"),
                                  .version = STR("2025-06-18"),
                                  .client_info = STR("{\"name\":\"c\"}"),
                                  .capabilities = STR("{}"),
                                  .log_level = -1,
                                  .created_ms = now,
                                  .active_ms = now,
                                  .expires_ms = now + lives_ms};
}

static int session_op(struct store *store, enum store_op_kind kind, struct store_session *s,
                      uint64_t if_version)
{
    struct store_op op = {.kind = kind, .if_version = if_version, .session = s};
    return write_list(store, STORE_SYS, &op, 1, NULL);
}

static int get_session(struct store *store, const char *id, struct arena *arena,
                       struct store_session *ret)
{
    struct store_view *view = view_of(store, STORE_SYS);
    int err = store_get_session(view, str_of(id), arena, ret);
    store_view_close(view);
    return err;
}

static bool has_session(struct store *store, const char *id)
{
    struct arena arena;
    struct store_session s;
    arena_init(&arena, 0);
    int err = get_session(store, id, &arena, &s);
    arena_done(&arena);
    assert_true(err == 0 || err == ERR_ABSENT);
    return !err;
}

static uint64_t count_sessions(struct store *store)
{
    struct store_view *view = view_of(store, STORE_SYS);
    uint64_t n = 0;
    assert_int_equal(store_count_sessions(view, &n), 0);
    store_view_close(view);
    return n;
}

static void sessions_come_back_as_they_were_put(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("01bf5a2c00", 60000), back;
    struct arena arena;
    arena_init(&arena, 0);
    s.initialized = true;
    s.log_level = 5;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), ERR_EXISTS);
    assert_int_equal(get_session(f->store, "01bf5a2c00", &arena, &back), 0);
    assert_true(str_eq(back.id, s.id) && str_eq(back.user, s.user));
    assert_true(str_eq(back.profile, s.profile) && str_eq(back.version, s.version));
    assert_true(str_eq(back.client_info, s.client_info));
    assert_true(str_eq(back.capabilities, s.capabilities));
    assert_true(back.initialized && back.log_level == 5 && back.created_ms == s.created_ms);
    assert_true(back.active_ms == s.active_ms && back.expires_ms == s.expires_ms);
    assert_false(has_session(f->store, "01bf5a2c01"));
    assert_false(has_session(f->store, ""));
    arena_done(&arena);
}

static void REFERENCE_c_5_a_late_touch_does_not_bring_a_session_back(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("a", 60000);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &s, STORE_PRESENT), 0);
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &s, STORE_ANY), 0);
    assert_false(has_session(f->store, "a"));
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &s, STORE_ANY), 0);
    assert_int_equal(count_sessions(f->store), 0);
}

static void a_touch_says_that_a_session_is_initialized_and_never_that_it_is_not(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("a", 60000), touch = s, back;
    struct arena arena;
    arena_init(&arena, 0);
    s.initialized = false;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    for (int i = 0; i < 2; i++) {
        touch.initialized = i == 0;
        assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &touch, STORE_PRESENT), 0);
        assert_int_equal(get_session(f->store, "a", &arena, &back), 0);
        assert_true(back.initialized);
    }
    arena_done(&arena);
}

static void a_touch_moves_only_the_times(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("a", 60000), touch = {.id = STR("a")}, back;
    struct arena arena;
    arena_init(&arena, 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_false(s.initialized);
    touch.active_ms = s.active_ms + 1000;
    touch.expires_ms = s.expires_ms + 600000;
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &touch, STORE_PRESENT), 0);
    assert_int_equal(get_session(f->store, "a", &arena, &back), 0);
    assert_true(str_eq(back.user, STR("ada")) && back.created_ms == s.created_ms);
    assert_true(back.active_ms == touch.active_ms && back.expires_ms == touch.expires_ms);
    assert_false(back.initialized);
    arena_done(&arena);
    assert_int_equal(store_sweep_sessions(f->store, s.expires_ms + 1, 10), 0); /* not by then */
    assert_int_equal(store_sweep_sessions(f->store, touch.expires_ms + 1, 10), 1);
    assert_int_equal(count_sessions(f->store), 0);
}

static void an_expired_session_is_absent(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("a", 1000);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_true(has_session(f->store, "a"));
    clock_advance_ms(1000);
    assert_false(has_session(f->store, "a"));
    s.expires_ms += 60000;
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_PRESENT), ERR_ABSENT);
    assert_false(has_session(f->store, "a"));
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    assert_true(has_session(f->store, "a"));
    assert_int_equal(count_sessions(f->store), 1);
}

static void the_sweep_takes_what_expired_and_no_more(void **state)
{
    struct fixture *f = *state;
    int64_t now = clock_wall_ms();
    for (int i = 0; i < 700; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%04d", i);
        struct store_session s = session_of(id, 0);
        s.expires_ms = now + (i % 2 ? 200000 : 5000 + i);
        assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    }
    assert_int_equal(store_sweep_sessions(f->store, now, 1000), 0);
    assert_int_equal(store_sweep_sessions(f->store, now + 100000, 0), 0);
    assert_int_equal(store_sweep_sessions(f->store, now + 100000, 30), 30);
    assert_int_equal(store_sweep_sessions(f->store, now + 100000, 1000), 320);
    assert_int_equal(count_sessions(f->store), 350);
    assert_true(has_session(f->store, "s0001"));
    assert_false(has_session(f->store, "s0000"));
    assert_int_equal(store_sweep_sessions(f->store, now + 200000, 1000), 350);
    struct store_view *view = view_of(f->store, STORE_SYS);
    uint64_t n = 99;
    assert_int_equal(kv_count(&view->txn, KV_SESSION_EXPIRY, &n), 0);
    assert_int_equal(n, 0);
    store_view_close(view);
}

static void sessions_beyond_the_cap_are_refused(void **state)
{
    struct fixture *f = *state;
    struct store_session a = session_of("a", 60000), b = session_of("b", 60000),
                         c = session_of("c", 60000);
    f->store->sessions_max = 2;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &a, STORE_MISSING), 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &b, STORE_MISSING), 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &c, STORE_MISSING), ERR_SESSIONS);
    assert_int_equal(count_sessions(f->store), 2);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &a, STORE_PRESENT), 0);
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &b, STORE_PRESENT), 0);
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &a, STORE_PRESENT), 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &c, STORE_MISSING), 0);
    assert_true(has_session(f->store, "c"));
}

static void a_touch_does_not_shorten_a_life(void **state)
{
    struct fixture *f = *state;
    struct store_session s = session_of("a", 600000), back;
    struct arena arena;
    arena_init(&arena, 0);
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_MISSING), 0);
    struct store_session touch = {
        .id = s.id, .active_ms = s.active_ms + 5, .expires_ms = s.expires_ms - 300000};
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &touch, STORE_PRESENT), 0);
    assert_int_equal(get_session(f->store, "a", &arena, &back), 0);
    assert_true(back.active_ms == touch.active_ms && back.expires_ms == s.expires_ms);
    arena_done(&arena);
}

static void session_fields_have_limits(void **state)
{
    struct fixture *f = *state;
    static char bytes[CLIENT_INFO_BYTES + 1];
    memset(bytes, 'x', sizeof bytes);
    struct store_session s = session_of("a", 60000);
    s.client_info = s.capabilities = (struct str){bytes, CLIENT_INFO_BYTES};
    s.id = (struct str){bytes, SESSION_ID_BYTES};
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_ANY), 0);
    s.id.n++;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_ANY), ERR_LIMIT);
    assert_int_equal(session_op(f->store, STORE_TOUCH_SESSION, &s, STORE_ANY), ERR_LIMIT);
    s.id = STR("");
    assert_int_equal(session_op(f->store, STORE_DELETE_SESSION, &s, STORE_ANY), ERR_LIMIT);
    s.id = STR("a");
    s.capabilities.n++;
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_ANY), ERR_LIMIT);
    s = session_of("a", 60000);
    s.user = (struct str){bytes, sizeof bytes};
    assert_int_equal(session_op(f->store, STORE_PUT_SESSION, &s, STORE_ANY), ERR_LIMIT);
}

/* ---- Completions on a loop ------------------------------------------------------------------ */

static void completions_come_on_the_loop_in_order(void **state)
{
    struct fixture *f = *state;
    struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};
    static struct waited writes[50];
    static struct store_op ops[50];
    struct sample s;
    memset(writes, 0, sizeof writes);
    sample_row(&s, 1, STR(""));
    store_close(f->store); /* a fresh one: a loop is attached before the first submit */
    if (*f->dir)
        assert_int_equal(open_lmdb(f), 0);
    else
        assert_int_equal(store_open_memory(&f->store), 0);
    store_attach(f->store, &loop);
    for (int i = 0; i < 50; i++) { /* no such table in memory: refused there, done in LMDB */
        ops[i] = row_op(f->table, STR("k"), s.nodes, STORE_ANY);
        writes[i].write = (struct store_write){
            .space = STORE_DATA, .ops = &ops[i], .n_ops = 1, .done = waited_done};
        store_submit(f->store, &writes[i].write);
    }
    while (!writes[49].n_done)
        loop_run_once(&loop);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(writes[i].n_done, 1);
        assert_int_equal(writes[i].err, *f->dir ? 0 : ERR_ABSENT);
        assert_true(!*f->dir || i == 0 || ops[i].ret_seq == ops[i - 1].ret_seq + 1);
    }
}

#define QUEUED 2500

struct queued {
    struct waited waited; /* first */
    struct store_op ops[2];
    char key[8];
};

/* Every seventh list is refused at once, every eleventh at its second operation. */
static int expected_of(int i)
{
    return i % 7 == 0 || i % 11 == 0 ? ERR_EXISTS : 0;
}

static void prepare_queued(struct queued *q, int i, uint32_t table, const struct tape_node *row)
{
    snprintf(q->key, sizeof q->key, "%06d", i);
    q->ops[0] = row_op(table, str_of(q->key), row, STORE_ANY);
    q->ops[1] = row_op(table, STR("shared"), row, i % 11 == 0 ? STORE_MISSING : STORE_ANY);
    if (i % 7 == 0)
        q->ops[0] = row_op(table, STR("shared"), row, STORE_MISSING);
    q->waited.write =
        (struct store_write){.space = STORE_DATA, .ops = q->ops, .n_ops = 2, .done = waited_done};
}

static void check_queued(struct fixture *f, struct queued *all, uint64_t before)
{
    uint64_t n = 0;
    for (int i = 0; i < QUEUED; i++) {
        assert_int_equal(all[i].waited.n_done, 1);
        assert_int_equal(all[i].waited.err, expected_of(i));
        assert_int_equal(get_n(f->store, f->table, str_of(all[i].key)),
                         expected_of(i) ? ERR_ABSENT : 1);
        if (expected_of(i))
            continue;
        assert_true(all[i].ops[0].ret_seq == before + 2 * n + 1);
        n++;
    }
    assert_int_equal(count_rows(f->store, f->table), n + 1);
    assert_int_equal(read_changes(f->store, before).n, 2 * n);
}

/* The write lock is held meanwhile, so that all of them wait and are taken as groups. */
static void a_group_gives_each_list_its_own_answer(void **state)
{
    struct fixture *f = *state;
    struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};
    struct queued *all = calloc(QUEUED, sizeof *all);
    struct batch holder;
    struct sample s;
    assert_non_null(all);
    put_n(f->store, f->table, STR("shared"), 1, STORE_ANY, NULL);
    uint64_t before = last_seq(f->store);
    store_attach(f->store, &loop);
    assert_int_equal(batch_begin(f->store, STORE_DATA, &holder), 0);
    sample_row(&s, 1, STR(""));
    for (int i = 0; i < QUEUED; i++) {
        prepare_queued(&all[i], i, f->table, s.nodes);
        store_submit(f->store, &all[i].waited.write);
    }
    batch_abort(&holder);
    while (!all[QUEUED - 1].waited.n_done)
        loop_run_once(&loop);
    check_queued(f, all, before);
    free(all);
}

static void closing_commits_what_waits_and_calls_nobody(void **state)
{
    struct fixture *f = *state;
    struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};
    struct waited write = {0};
    struct sample s;
    struct store_op op = row_op(f->table, STR("k"), sample_row(&s, 5, STR("")), STORE_ANY);
    store_close(f->store);
    f->store = NULL;
    if (!*f->dir)
        return; /* nothing would be left to look at */
    assert_int_equal(open_lmdb(f), 0);
    store_attach(f->store, &loop);
    write.write =
        (struct store_write){.space = STORE_DATA, .ops = &op, .n_ops = 1, .done = waited_done};
    store_submit(f->store, &write.write);
    store_close(f->store);
    loop_run_once(&loop);
    assert_int_equal(write.n_done, 0);
    assert_int_equal(open_lmdb(f), 0);
    assert_int_equal(get_n(f->store, f->table, STR("k")), 5);
}

/* ---- Loads ---------------------------------------------------------------------------------- */

static int load_n(struct store_load *load, int key, int64_t n, uint64_t if_version)
{
    struct sample s;
    char text[16];
    snprintf(text, sizeof text, "%06d", key);
    return store_load_row(load, str_of(text), sample_row(&s, n, STR("loaded")), if_version);
}

static struct store_load *begin_load(struct fixture *f)
{
    struct store_load *load = NULL;
    assert_int_equal(store_load_begin(f->store, f->table, &load), 0);
    return load;
}

static void assert_no_undo(struct store *store)
{
    struct store_view *view = view_of(store, STORE_DATA);
    uint64_t n = 99, open = 99;
    assert_int_equal(kv_count(&view->txn, KV_UNDO, &n), 0);
    assert_int_equal(meta_get(&view->txn, META_LOAD, &open), 0);
    assert_true(n == 0 && open == 0);
    store_view_close(view);
}

static void a_load_that_is_committed_is_there(void **state)
{
    struct fixture *f = *state;
    put_n(f->store, f->table, STR("000005"), 1, STORE_ANY, NULL);
    struct store_load *load = begin_load(f);
    uint64_t before = last_seq(f->store);
    for (int i = 0; i < 1234; i++)
        assert_int_equal(load_n(load, i, i, STORE_ANY), 0);
    assert_int_equal(store_load_commit(load), 0);
    assert_int_equal(count_rows(f->store, f->table), 1234);
    assert_int_equal(scan_count(f->store, f->table), 1234);
    assert_int_equal(get_n(f->store, f->table, STR("000005")), 5);
    assert_int_equal(read_changes(f->store, before).n, 1234);
    assert_no_undo(f->store);
}

static void a_load_that_is_aborted_leaves_what_stood_before(void **state)
{
    struct fixture *f = *state;
    uint64_t seq = 0, version = 0;
    put_n(f->store, f->table, STR("000005"), 1, STORE_ANY, &seq);
    struct store_load *load = begin_load(f);
    for (int i = 0; i < 1234; i++)
        assert_int_equal(load_n(load, i % 1000, i, STORE_ANY), 0); /* some twice */
    store_load_abort(load);
    assert_int_equal(count_rows(f->store, f->table), 1);
    assert_int_equal(scan_count(f->store, f->table), 1);
    struct store_view *view = view_of(f->store, STORE_DATA);
    assert_int_equal(get_n_in(view, f->table, STR("000005"), &version), 1);
    assert_true(version > seq); /* written again */
    store_view_close(view);
    read_changes(f->store, 0); /* no gap */
    assert_no_undo(f->store);
}

static void a_load_obeys_conditions_and_names_the_row(void **state)
{
    struct fixture *f = *state;
    put_n(f->store, f->table, STR("000700"), 1, STORE_ANY, NULL);
    struct store_load *load = begin_load(f);
    int err = 0;
    for (int i = 0; i < 1000 && !err; i++)
        err = load_n(load, i, i, STORE_MISSING);
    if (!err)
        err = store_load_commit(load);
    assert_int_equal(err, ERR_EXISTS);
    assert_int_equal(store_load_failed_row(load), 700);
    assert_int_equal(load_n(load, 2000, 1, STORE_ANY), ERR_EXISTS); /* only abort is left */
    assert_int_equal(store_load_commit(load), ERR_EXISTS);
    store_load_abort(load);
    assert_int_equal(scan_count(f->store, f->table), 1);
    assert_no_undo(f->store);
}

static void a_load_names_a_row_over_a_limit(void **state)
{
    struct fixture *f = *state;
    char bytes[KEY_BYTES_MAX + 1] = {0};
    struct sample s;
    struct store_load *load = begin_load(f);
    assert_int_equal(load_n(load, 1, 1, STORE_ANY), 0);
    assert_int_equal(store_load_row(load, (struct str){bytes, sizeof bytes},
                                    sample_row(&s, 1, STR("")), STORE_ANY),
                     ERR_LIMIT);
    assert_int_equal(store_load_failed_row(load), 1);
    store_load_abort(load);
    assert_int_equal(scan_count(f->store, f->table), 0);
}

static void an_aborted_load_leaves_what_others_wrote_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct store_load *load = begin_load(f);
    for (int i = 0; i < 500; i++) /* one batch: it is in */
        assert_int_equal(load_n(load, i, i, STORE_ANY), 0);
    assert_int_equal(get_n(f->store, f->table, STR("000001")), 1);
    put_n(f->store, f->table, STR("000001"), 77, STORE_PRESENT, NULL);
    delete_key(f->store, f->table, STR("000002"), STORE_PRESENT, NULL);
    store_load_abort(load);
    assert_int_equal(get_n(f->store, f->table, STR("000001")), 77);
    assert_int_equal(get_n(f->store, f->table, STR("000002")), ERR_ABSENT);
    assert_int_equal(count_rows(f->store, f->table), 1);
    assert_int_equal(scan_count(f->store, f->table), 1);
}

static void a_load_survives_the_drop_of_its_table(void **state)
{
    struct fixture *f = *state;
    struct store_load *load = begin_load(f);
    for (int i = 0; i < 500; i++)
        assert_int_equal(load_n(load, i, i, STORE_ANY), 0);
    drop_table(f->store, f->table, STORE_PRESENT);
    int err = load_n(load, 500, 1, STORE_ANY);
    assert_int_equal(err ? err : store_load_commit(load), ERR_ABSENT);
    store_load_abort(load);
    assert_no_undo(f->store);
}

static void one_load_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct store_load *load = begin_load(f), *other = NULL;
    assert_int_equal(store_load_begin(f->store, f->table, &other), ERR_BUSY);
    assert_int_equal(load_n(load, 1, 1, STORE_ANY), 0);
    assert_int_equal(store_maintain(f->store), 0); /* does not touch a load that lives */
    assert_int_equal(store_load_commit(load), 0);
    assert_int_equal(get_n(f->store, f->table, STR("000001")), 1);
    assert_int_equal(store_load_begin(f->store, f->table + 9, &other), ERR_ABSENT);
    load = begin_load(f);
    store_load_abort(load);
}

/* ---- The rest ------------------------------------------------------------------------------- */

static void the_secret_and_the_id_stay_the_same(void **state)
{
    struct fixture *f = *state;
    unsigned char a[32], b[32], data_id[16], sys_id[16], zero[32] = {0};
    assert_int_equal(store_secret(f->store, a), 0);
    assert_int_equal(store_secret(f->store, b), 0);
    assert_memory_equal(a, b, 32);
    assert_true(memcmp(a, zero, 32) != 0);
    struct store_view *data = view_of(f->store, STORE_DATA), *sys = view_of(f->store, STORE_SYS);
    assert_int_equal(store_database_id(data, data_id), 0);
    assert_int_equal(store_database_id(sys, sys_id), 0);
    assert_memory_equal(data_id, sys_id, 16);
    assert_true(memcmp(data_id, zero, 16) != 0);
    store_view_close(data);
    store_view_close(sys);
}

#define CASES(X)                                                           \
    X(sessions_come_back_as_they_were_put)                                 \
    X(REFERENCE_c_5_a_late_touch_does_not_bring_a_session_back)            \
    X(a_touch_says_that_a_session_is_initialized_and_never_that_it_is_not) \
    X(a_touch_moves_only_the_times)                                        \
    X(an_expired_session_is_absent)                                        \
    X(the_sweep_takes_what_expired_and_no_more)                            \
    X(sessions_beyond_the_cap_are_refused)                                 \
    X(a_touch_does_not_shorten_a_life)                                     \
    X(session_fields_have_limits)                                          \
    X(completions_come_on_the_loop_in_order)                               \
    X(a_group_gives_each_list_its_own_answer)                              \
    X(closing_commits_what_waits_and_calls_nobody)                         \
    X(a_load_that_is_committed_is_there)                                   \
    X(a_load_that_is_aborted_leaves_what_stood_before)                     \
    X(a_load_obeys_conditions_and_names_the_row)                           \
    X(a_load_names_a_row_over_a_limit)                                     \
    X(an_aborted_load_leaves_what_others_wrote_meanwhile)                  \
    X(a_load_survives_the_drop_of_its_table)                               \
    X(one_load_at_a_time)                                                  \
    X(the_secret_and_the_id_stay_the_same)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
