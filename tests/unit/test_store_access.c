/* tests/unit/test_store_access.c - users, roles, tokens and quotas, on both engines. The clock is
 * moved by hand. */
#include "hand_clock.h"

#include "store_contract.h"

#define NOTHING UINT64_MAX /* of a version: there is no such record */

static struct store_op access_op(enum store_op_kind kind, const struct store_access *access,
                                 uint64_t if_version)
{
    return (struct store_op){.kind = kind, .if_version = if_version, .access = access};
}

static int put(struct store *store, enum store_access_kind kind, struct str name, struct str record,
               uint64_t if_version, uint64_t *ret_seq)
{
    struct store_access access = {.kind = kind, .name = name, .record = record};
    struct store_op op = access_op(STORE_PUT_ACCESS, &access, if_version);
    int err = write_list(store, STORE_DATA, &op, 1, NULL);
    if (ret_seq)
        *ret_seq = op.ret_seq;
    return err;
}

static int drop(struct store *store, enum store_access_kind kind, struct str name,
                uint64_t if_version, uint64_t *ret_seq)
{
    struct store_access access = {.kind = kind, .name = name};
    struct store_op op = access_op(STORE_DELETE_ACCESS, &access, if_version);
    int err = write_list(store, STORE_DATA, &op, 1, NULL);
    if (ret_seq)
        *ret_seq = op.ret_seq;
    return err;
}

static uint64_t access_version(struct store *store)
{
    struct store_view *view = view_of(store, STORE_DATA);
    uint64_t version = NOTHING;
    assert_int_equal(store_access_version(view, &version), 0);
    store_view_close(view);
    return version;
}

static uint64_t version_of(struct store *store, enum store_access_kind kind, struct str name,
                           struct str record)
{
    struct store_view *view = view_of(store, STORE_DATA);
    struct store_access access = {.version = NOTHING};
    struct arena arena;
    arena_init(&arena, 0);
    int err = store_get_access(view, kind, name, &arena, &access);
    assert_true(err == 0 || err == ERR_ABSENT);
    if (!err)
        assert_true(access.kind == kind && str_eq(access.name, name) &&
                    str_eq(access.record, record));
    store_view_close(view);
    arena_done(&arena);
    return access.version;
}

/* ---- Records -------------------------------------------------------------------------------- */

static void a_record_is_read_as_it_was_put(void **state)
{
    struct fixture *f = *state;
    uint64_t before = last_seq(f->store), seq = 0;
    struct str record = STR("{\"roles\":[\"reader\"]}"), odd = {"a\0b/\xff", 5};
    assert_true(access_version(f->store) == 0);
    assert_int_equal(put(f->store, STORE_USER, odd, record, STORE_MISSING, &seq), 0);
    assert_true(seq == before + 1 && access_version(f->store) == seq);
    assert_true(version_of(f->store, STORE_USER, odd, record) == seq);
    assert_true(version_of(f->store, STORE_ROLE, odd, record) == NOTHING);
    assert_true(version_of(f->store, STORE_USER, STR("a"), record) == NOTHING);
    assert_int_equal(put(f->store, STORE_TOKEN, odd, STR("{}"), STORE_MISSING, &seq), 0);
    assert_true(version_of(f->store, STORE_TOKEN, odd, STR("{}")) == before + 2);
    assert_true(version_of(f->store, STORE_USER, odd, record) == before + 1);
    assert_int_equal(drop(f->store, STORE_TOKEN, odd, STORE_PRESENT, &seq), 0);
    assert_true(version_of(f->store, STORE_TOKEN, odd, STR("{}")) == NOTHING);
    assert_true(seq == before + 3 && access_version(f->store) == seq);
    assert_int_equal(store_check(f->store, print_finding, NULL, NULL), 0);
}

static void conditions_hold_for_records(void **state)
{
    struct fixture *f = *state;
    struct str name = STR("ann");
    uint64_t first = 0, seq = 0;
    assert_int_equal(drop(f->store, STORE_USER, name, STORE_PRESENT, NULL), ERR_ABSENT);
    assert_int_equal(drop(f->store, STORE_USER, name, STORE_ANY, &seq), 0);
    assert_true(seq == 0 && access_version(f->store) == 0);
    assert_int_equal(put(f->store, STORE_USER, name, STR("{}"), STORE_PRESENT, NULL), ERR_ABSENT);
    assert_int_equal(put(f->store, STORE_USER, name, STR("{}"), STORE_MISSING, &first), 0);
    assert_int_equal(put(f->store, STORE_USER, name, STR("{}"), STORE_MISSING, NULL), ERR_EXISTS);
    assert_int_equal(put(f->store, STORE_USER, name, STR("{}"), first, &seq), 0);
    assert_int_equal(put(f->store, STORE_USER, name, STR("{}"), first, &seq), ERR_CONFLICT);
    assert_true(seq == first + 1);
    assert_int_equal(drop(f->store, STORE_USER, name, first, NULL), ERR_CONFLICT);
    assert_int_equal(drop(f->store, STORE_USER, name, first + 1, NULL), 0);
    assert_true(access_version(f->store) == last_seq(f->store));
}

/* A token is made for a user as he is: a list that says which version it read fails as a whole when
 * there is another. What the list itself did before is none. */
static void a_list_conflicts_with_what_others_did_meanwhile(void **state)
{
    struct fixture *f = *state;
    uint64_t read = 0;
    struct store_access user = {.kind = STORE_USER, .name = STR("ann"), .record = STR("{}")};
    struct store_access token = {.kind = STORE_TOKEN, .name = STR("hash"), .record = STR("{}")};
    assert_int_equal(put(f->store, STORE_ROLE, STR("r"), STR("{}"), STORE_ANY, &read), 0);
    struct store_op ops[] = {
        access_op(STORE_PUT_ACCESS, &user, STORE_ANY),
        access_op(STORE_PUT_ACCESS, &token, STORE_ANY),
        access_op(STORE_DELETE_ACCESS, &token, STORE_ANY),
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        ops[i].access_version = read;
    uint32_t failed = 9;
    assert_int_equal(write_list(f->store, STORE_DATA, ops, 3, NULL), 0);
    assert_true(access_version(f->store) == read + 3);
    assert_int_equal(write_list(f->store, STORE_DATA, ops + 1, 2, &failed), ERR_STALE);
    assert_int_equal(failed, 0);
    assert_true(version_of(f->store, STORE_TOKEN, STR("hash"), STR("{}")) == NOTHING);
    ops[1].access_version = read + 3;
    assert_int_equal(put_n(f->store, f->table, STR("row"), 1, STORE_ANY, NULL), 0); /* no matter */
    assert_int_equal(write_list(f->store, STORE_DATA, ops + 1, 1, NULL), 0);
}

/* Two managers in one transaction: the second one's list is refused there too. */
static void lists_of_one_group_conflict(void **state)
{
    struct fixture *f = *state;
    struct loop loop = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};
    struct store_access role = {.kind = STORE_ROLE, .name = STR("r"), .record = STR("{}")};
    struct store_op ops[8];
    struct waited w[8];
    uint64_t read = 0;
    int n_done = 0;
    assert_int_equal(put(f->store, STORE_ROLE, STR("r"), STR("{}"), STORE_ANY, &read), 0);
    store_attach(f->store, &loop);
    for (int i = 0; i < 8; i++) {
        ops[i] = access_op(STORE_PUT_ACCESS, &role, STORE_ANY);
        ops[i].access_version = read;
        w[i] = (struct waited){
            .write = {.space = STORE_DATA, .ops = &ops[i], .n_ops = 1, .done = waited_done}};
        store_submit(f->store, &w[i].write);
    }
    while (n_done < 8) {
        loop_run_once(&loop);
        n_done = 0;
        for (int i = 0; i < 8; i++)
            n_done += w[i].n_done;
    }
    for (int i = 0; i < 8; i++)
        assert_int_equal(w[i].err, i ? ERR_STALE : 0);
    assert_true(access_version(f->store) == read + 1);
}

static void a_change_is_in_the_log(void **state)
{
    struct fixture *f = *state;
    uint64_t before = last_seq(f->store);
    assert_int_equal(put(f->store, STORE_ROLE, STR("reader"), STR("{}"), STORE_ANY, NULL), 0);
    struct changes c = read_changes(f->store, before);
    assert_true(c.n == 1 && c.last.kind == STORE_ACCESS_CHANGED && c.last.table == STORE_ROLE);
    assert_string_equal(c.key, "reader");
    assert_int_equal(drop(f->store, STORE_ROLE, STR("reader"), STORE_ANY, NULL), 0);
    c = read_changes(f->store, before + 1);
    assert_true(c.n == 1 && c.last.kind == STORE_ACCESS_CHANGED && c.last.table == STORE_ROLE);
}

struct told {
    uint32_t n, n_access, n_marks;
};

static void on_change(void *ctx, const struct change_marks *marks)
{
    struct told *told = ctx;
    told->n++;
    told->n_access += marks->has_access;
    told->n_marks += marks->v ? marks->n : 1000;
}

static void everybody_is_told_that_access_changed(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};
    store_on_change(f->store, on_change, &told);
    assert_int_equal(put_n(f->store, f->table, STR("row"), 1, STORE_ANY, NULL), 0);
    assert_true(told.n == 1 && told.n_access == 0 && told.n_marks == 2);
    assert_int_equal(put(f->store, STORE_USER, STR("u"), STR("{}"), STORE_ANY, NULL), 0);
    assert_true(told.n == 2 && told.n_access == 1 && told.n_marks == 2);
    assert_int_equal(drop(f->store, STORE_USER, STR("u"), STORE_ANY, NULL), 0);
    assert_true(told.n == 3 && told.n_access == 2 && told.n_marks == 2);
    store_on_change(f->store, NULL, NULL);
}

/* A check of rows that were written meanwhile does not take a role for a row of table 2. */
static int no_row(void *ctx, const struct store_row *row)
{
    (void)row;
    ++*(int *)ctx;
    return 0;
}

static void a_record_is_no_row_of_the_table_with_that_id(void **state)
{
    struct fixture *f = *state;
    struct store_table table = {
        .database = STR("db"), .name = STR("t"), .definition = STR("{\"a\":1}")};
    int n_rows = 0;
    struct store_op op = {.kind = STORE_PUT_TABLE,
                          .if_version = STORE_PRESENT,
                          .put_table = &table,
                          .since_seq = last_seq(f->store),
                          .check_row = no_row,
                          .check_ctx = &n_rows};
    assert_int_equal(f->table, STORE_USER);
    for (int i = 0; i <= TXN_ROWS_MAX; i++)
        assert_int_equal(put(f->store, STORE_USER, STR("u"), STR("{}"), STORE_ANY, NULL), 0);
    assert_int_equal(write_list(f->store, STORE_DATA, &op, 1, NULL), 0);
    assert_int_equal(n_rows, 0);
}

/* ---- Scans ---------------------------------------------------------------------------------- */

struct names {
    char text[64];
    int max; /* stops behind so many; 0: never */
};

static int add_name(void *ctx, const struct store_access *access)
{
    struct names *names = ctx;
    size_t at = strlen(names->text);
    snprintf(names->text + at, sizeof names->text - at, STR_FMT ",", STR_ARG(access->name));
    return names->max && --names->max == 0 ? 7 : 0;
}

static int scan(struct store *store, enum store_access_kind kind, struct str after,
                struct names *names)
{
    struct store_view *view = view_of(store, STORE_DATA);
    int err = store_scan_access(view, kind, after, add_name, names);
    store_view_close(view);
    return err;
}

static void a_scan_goes_by_name_and_kind(void **state)
{
    static const char *const made[] = {"b", "a", "ab", "c"};
    struct fixture *f = *state;
    char long_text[ACCESS_NAME_BYTES + 9];
    struct names all = {0}, behind = {0}, two = {.max = 2}, none = {0}, last = {0}, empty = {0};
    struct names roles = {0};
    memset(long_text, 'b', sizeof long_text);
    for (int i = 0; i < 4; i++)
        assert_int_equal(put(f->store, STORE_USER, str_of(made[i]), STR("{}"), STORE_MISSING, NULL),
                         0);
    assert_int_equal(put(f->store, STORE_ROLE, STR("r"), STR("{}"), STORE_MISSING, NULL), 0);
    assert_int_equal(scan(f->store, STORE_USER, STR_NONE, &all), 0);
    assert_string_equal(all.text, "a,ab,b,c,");
    assert_int_equal(scan(f->store, STORE_USER, STR("a"), &behind), 0);
    assert_string_equal(behind.text, "ab,b,c,");
    assert_int_equal(scan(f->store, STORE_USER, STR_NONE, &two), 7);
    assert_string_equal(two.text, "a,ab,");
    assert_int_equal(scan(f->store, STORE_USER, STR("c"), &none), 0);
    assert_int_equal(scan(f->store, STORE_TOKEN, STR_NONE, &empty), 0);
    assert_string_equal(none.text, "");
    assert_string_equal(empty.text, "");
    assert_int_equal(scan(f->store, STORE_USER, (struct str){long_text, sizeof long_text}, &last),
                     0);
    assert_string_equal(last.text, "c,");
    assert_int_equal(scan(f->store, STORE_ROLE, STR_NONE, &roles), 0);
    assert_string_equal(roles.text, "r,");
}

/* ---- Limits --------------------------------------------------------------------------------- */

static void a_name_past_ACCESS_NAME_BYTES_is_refused(void **state)
{
    struct fixture *f = *state;
    char text[ACCESS_NAME_BYTES + 1];
    memset(text, 'n', sizeof text);
    struct str longest = {text, ACCESS_NAME_BYTES}, longer = {text, ACCESS_NAME_BYTES + 1};
    assert_int_equal(put(f->store, STORE_USER, STR(""), STR("{}"), STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(put(f->store, STORE_USER, longer, STR("{}"), STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(drop(f->store, STORE_USER, longer, STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(put(f->store, 0, longest, STR("{}"), STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(put(f->store, STORE_TOKEN + 1, longest, STR("{}"), STORE_ANY, NULL),
                     ERR_LIMIT);
    assert_int_equal(put(f->store, STORE_USER, longest, STR("{}"), STORE_ANY, NULL), 0);
    assert_true(version_of(f->store, STORE_USER, longest, STR("{}")) != NOTHING);
    assert_true(version_of(f->store, STORE_USER, longer, STR("{}")) == NOTHING);
    assert_int_equal(store_check(f->store, print_finding, NULL, NULL), 0);
    assert_int_equal(drop(f->store, STORE_USER, longest, STORE_PRESENT, NULL), 0);
}

static void a_record_past_ACCESS_RECORD_BYTES_is_refused(void **state)
{
    struct fixture *f = *state;
    char *text = malloc(ACCESS_RECORD_BYTES + 1);
    memset(text, ' ', ACCESS_RECORD_BYTES + 1);
    struct str largest = {text, ACCESS_RECORD_BYTES}, larger = {text, ACCESS_RECORD_BYTES + 1};
    assert_int_equal(put(f->store, STORE_ROLE, STR("r"), larger, STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(put(f->store, STORE_ROLE, STR("r"), largest, STORE_ANY, NULL), 0);
    assert_true(version_of(f->store, STORE_ROLE, STR("r"), largest) != NOTHING);
    free(text);
}

static void beyond_ACCESS_RECORDS_MAX_only_those_there_change(void **state)
{
    struct fixture *f = *state;
    assert_true(f->store->access_max == ACCESS_RECORDS_MAX);
    f->store->access_max = 2;
    assert_int_equal(put(f->store, STORE_ROLE, STR("a"), STR("{}"), STORE_ANY, NULL), 0);
    assert_int_equal(put(f->store, STORE_USER, STR("a"), STR("{}"), STORE_ANY, NULL), 0);
    assert_int_equal(put(f->store, STORE_TOKEN, STR("a"), STR("{}"), STORE_ANY, NULL), ERR_LIMIT);
    assert_int_equal(put(f->store, STORE_USER, STR("a"), STR("[]"), STORE_ANY, NULL), 0);
    assert_int_equal(drop(f->store, STORE_ROLE, STR("a"), STORE_ANY, NULL), 0);
    assert_int_equal(put(f->store, STORE_TOKEN, STR("a"), STR("{}"), STORE_ANY, NULL), 0);
}

/* ---- Quotas --------------------------------------------------------------------------------- */

/* What is used then; negative: the error. */
static int64_t take(struct store *store, struct str key, uint64_t n, uint64_t max, int64_t until_ms)
{
    struct store_op op = {
        .kind = STORE_TAKE_QUOTA, .key = key, .n = n, .quota_max = max, .until_ms = until_ms};
    int err = write_list(store, STORE_SYS, &op, 1, NULL);
    return err ? err : (int64_t)op.ret_seq;
}

static uint64_t used(struct store *store, struct str key)
{
    struct store_view *view = view_of(store, STORE_SYS);
    uint64_t n = NOTHING;
    assert_int_equal(store_get_quota(view, key, clock_wall_ms(), &n), 0);
    store_view_close(view);
    return n;
}

static uint64_t count_quotas(struct store *store)
{
    struct store_view *view = view_of(store, STORE_SYS);
    uint64_t n = NOTHING;
    assert_int_equal(kv_count(&view->txn, KV_QUOTAS, &n), 0);
    store_view_close(view);
    return n;
}

static void a_quota_is_never_exceeded(void **state)
{
    struct fixture *f = *state;
    struct str key = STR("user\0ann");
    int64_t until = clock_wall_ms() + 1000;
    assert_true(used(f->store, key) == 0);
    assert_true(take(f->store, key, 3, 10, until) == 3);
    assert_true(take(f->store, key, 7, 10, until) == 10);
    assert_true(take(f->store, key, 1, 10, until) == ERR_QUOTA);
    assert_true(take(f->store, key, UINT64_MAX, 10, until) == ERR_QUOTA);
    assert_true(take(f->store, key, 0, 10, until) == 10);
    assert_true(take(f->store, key, 0, 9, until) == ERR_QUOTA); /* made smaller meanwhile */
    assert_true(used(f->store, key) == 10);
    assert_true(take(f->store, STR("user\0bob"), 11, 10, until) == ERR_QUOTA);
    assert_true(take(f->store, STR("user\0bob"), 0, 10, until) == 0);
    assert_int_equal(count_quotas(f->store), 1);
    assert_int_equal(store_check(f->store, print_finding, NULL, NULL), 0);
}

static void a_window_that_ended_begins_anew(void **state)
{
    struct fixture *f = *state;
    struct str key = STR("k");
    int64_t until = clock_wall_ms() + 1000;
    assert_true(take(f->store, key, 5, 5, until) == 5);
    clock_advance_ms(999);
    assert_true(used(f->store, key) == 5);
    assert_true(take(f->store, key, 1, 5, until) == ERR_QUOTA);
    clock_advance_ms(1);
    assert_true(used(f->store, key) == 0);
    assert_true(take(f->store, key, 1, 5, until) == ERR_QUOTA); /* who was late is not let off */
    assert_true(take(f->store, key, 2, 5, until + 1000) == 2);
    assert_true(take(f->store, key, 1, 5, until) == 3);
    assert_true(used(f->store, key) == 3);
}

static void of_two_ends_the_nearer_holds(void **state)
{
    struct fixture *f = *state;
    int64_t now = clock_wall_ms();
    assert_true(take(f->store, STR("k"), 1, 5, now + 100000) == 1);
    assert_true(take(f->store, STR("k"), 1, 5, now + 1000) == 2);
    assert_true(take(f->store, STR("k"), 1, 5, now + 100000) == 3);
    clock_advance_ms(1000);
    assert_true(used(f->store, STR("k")) == 0);
    assert_true(take(f->store, STR("k"), 1, 5, now + 100000) == 1);
}

static void a_key_of_a_quota_has_at_most_ACCESS_NAME_BYTES(void **state)
{
    struct fixture *f = *state;
    char text[ACCESS_NAME_BYTES + 1];
    memset(text, 'q', sizeof text);
    struct str longest = {text, ACCESS_NAME_BYTES}, longer = {text, ACCESS_NAME_BYTES + 1};
    int64_t until = clock_wall_ms() + 1000;
    assert_true(take(f->store, longer, 1, 5, until) == ERR_LIMIT);
    assert_true(take(f->store, STR(""), 1, 5, until) == ERR_LIMIT);
    assert_true(take(f->store, longest, 1, UINT64_MAX, until) == ERR_LIMIT);
    assert_true(take(f->store, longest, 1, INT64_MAX, until) == 1);
    assert_true(used(f->store, longest) == 1 && used(f->store, longer) == 0);
}

static void make_quotas(struct store *store, uint32_t n, int64_t until_ms)
{
    static struct store_op ops[TXN_ROWS_MAX];
    static char keys[TXN_ROWS_MAX][ACCESS_NAME_BYTES];
    for (uint32_t from = 0; from < n; from += TXN_ROWS_MAX) {
        uint32_t count = n - from < TXN_ROWS_MAX ? n - from : TXN_ROWS_MAX;
        for (uint32_t i = 0; i < count; i++) {
            int len = snprintf(keys[i], sizeof keys[i], "%lld %u", (long long)until_ms, from + i);
            memset(keys[i] + len, 'k', sizeof keys[i] - (size_t)len);
            ops[i] = (struct store_op){.kind = STORE_TAKE_QUOTA,
                                       .key = {keys[i], sizeof keys[i]},
                                       .n = 1,
                                       .quota_max = 1,
                                       .until_ms = until_ms};
        }
        assert_int_equal(write_list(store, STORE_SYS, ops, count, NULL), 0);
    }
}

/* In bounded steps: a call of store_maintain looks at 10,000. */
static void the_keeper_forgets_windows_that_ended(void **state)
{
    struct fixture *f = *state;
    int64_t now = clock_wall_ms();
    make_quotas(f->store, 12000, now + 1000);
    make_quotas(f->store, 700, now + 2000);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_quotas(f->store), 12700);
    clock_advance_ms(1000);
    assert_int_equal(store_maintain(f->store), 0); /* from where the first round ended */
    assert_true(count_quotas(f->store) > 700);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_quotas(f->store), 700);
    assert_int_equal(store_check(f->store, print_finding, NULL, NULL), 0);
    clock_advance_ms(1000);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_quotas(f->store), 0);
}

static void beyond_QUOTAS_MAX_only_those_there_count(void **state)
{
    struct fixture *f = *state;
    int64_t until = clock_wall_ms() + 1000;
    assert_true(f->store->quotas_max == QUOTAS_MAX);
    f->store->quotas_max = 2;
    assert_true(take(f->store, STR("a"), 1, 5, until) == 1);
    assert_true(take(f->store, STR("b"), 1, 5, until) == 1);
    assert_true(take(f->store, STR("c"), 1, 5, until) == ERR_LIMIT);
    assert_true(take(f->store, STR("b"), 1, 5, until) == 2);
    clock_advance_ms(1000);
    assert_int_equal(store_maintain(f->store), 0);
    assert_true(take(f->store, STR("c"), 1, 5, until + 1000) == 1);
}

static void what_is_refused_leaves_its_group_alone(void **state)
{
    struct fixture *f = *state;
    int64_t until = clock_wall_ms() + 1000;
    uint32_t failed = 9;
    struct store_op ops[2] = {
        {.kind = STORE_TAKE_QUOTA, .key = STR("a"), .n = 1, .quota_max = 5, .until_ms = until},
        {.kind = STORE_TAKE_QUOTA, .key = STR("b"), .n = 1, .quota_max = 0, .until_ms = until},
    };
    assert_int_equal(write_list(f->store, STORE_SYS, ops, 2, &failed), ERR_QUOTA);
    assert_int_equal(failed, 1);
    assert_true(used(f->store, STR("a")) == 0 && used(f->store, STR("b")) == 0);
}

/* Two processes count as one: here two threads with a queue between them. */
struct taker {
    struct store *store;
    int64_t until_ms;
    int n;
};

static void *take_many(void *arg)
{
    struct taker *t = arg;
    for (int i = 0; i < 200; i++) {
        struct store_op op = {.kind = STORE_TAKE_QUOTA,
                              .key = STR("k"),
                              .n = 1,
                              .quota_max = 300,
                              .until_ms = t->until_ms};
        struct store_write write = {.space = STORE_SYS, .ops = &op, .n_ops = 1};
        t->n += store_apply(t->store, &write) == 0;
    }
    return NULL;
}

static void those_who_take_at_once_get_the_quota_and_no_more(void **state)
{
    struct fixture *f = *state;
    struct taker takers[4];
    pthread_t threads[4];
    int n = 0;
    for (int i = 0; i < 4; i++) {
        takers[i] = (struct taker){.store = f->store, .until_ms = clock_wall_ms() + 60000};
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, &takers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        n += takers[i].n;
    }
    assert_int_equal(n, 300);
    assert_true(used(f->store, STR("k")) == 300);
}

/* ---- What the check finds ------------------------------------------------------------------- */

struct text {
    char bytes[1024];
};

static void keep_finding(void *ctx, struct str finding)
{
    struct text *t = ctx;
    size_t at = strlen(t->bytes);
    snprintf(t->bytes + at, sizeof t->bytes - at, STR_FMT "\n", STR_ARG(finding));
}

static void expect(struct fixture *f, int n, const char *part)
{
    struct text t = {""};
    assert_int_equal(store_check(f->store, keep_finding, &t, NULL), n);
    if (!strstr(t.bytes, part))
        fail_msg("'%s' is not in '%s'", part, t.bytes);
}

static void change_in(struct fixture *f, enum store_space space, enum kv_map map, struct str key,
                      struct str value)
{
    struct kv_txn txn;
    assert_int_equal(kv_begin(f->store->envs[space], true, &txn), 0);
    assert_int_equal(value.p ? kv_put(&txn, map, key, value) : kv_remove(&txn, map, key), 0);
    assert_int_equal(kv_commit(&txn), 0);
}

static void set_version(struct fixture *f, uint64_t version)
{
    struct kv_txn txn;
    assert_int_equal(kv_begin(f->store->envs[STORE_DATA], true, &txn), 0);
    assert_int_equal(meta_put(&txn, META_ACCESS, version), 0);
    assert_int_equal(kv_commit(&txn), 0);
}

static void the_check_compares_records_with_the_log(void **state)
{
    struct fixture *f = *state;
    struct store_checked done = {0};
    uint64_t role = 0, token = 0;
    assert_int_equal(put(f->store, STORE_ROLE, STR("a b"), STR("{}"), STORE_ANY, &role), 0);
    assert_int_equal(put(f->store, STORE_TOKEN, STR("\x80"), STR("{}"), STORE_ANY, &token), 0);
    assert_int_equal(store_check(f->store, print_finding, NULL, &done), 0);
    assert_int_equal(done.n_access, 2);
    set_version(f, role);
    expect(f, 1, "a token has version 3, but the last change of any is 2\n");
    set_version(f, 1);
    expect(f, 3, "of which the log knows something else\n");
    set_version(f, token + 1);
    expect(f, 1, "users, roles and tokens have version 4, but the last change is 3\n");
    set_version(f, token);
    change_in(f, STORE_DATA, KV_ACCESS, STR("\2x"), STR("\x83\x01\x02\x62{}"));
    expect(f, 1, "role x has version 2, of which the log knows something else\n");
    change_in(f, STORE_DATA, KV_ACCESS, STR("\2x"), STR("\x82\x01"));
    expect(f, 1, "a user, role or token cannot be read: The store is damaged\n");
    change_in(f, STORE_DATA, KV_ACCESS, STR("\2x"), STR_NONE);
    change_in(f, STORE_DATA, KV_ACCESS, STR("\4x"), STR("\x83\x01\x02\x62{}"));
    change_in(f, STORE_DATA, KV_ACCESS, STR("\1"), STR("\x83\x01\x02\x62{}"));
    expect(f, 2, "a user, role or token cannot be read: The store is damaged\n");
}

static void the_check_reads_quotas(void **state)
{
    struct fixture *f = *state;
    struct store_checked done = {0};
    assert_true(take(f->store, STR("k"), 1, 5, clock_wall_ms() + 1000) == 1);
    assert_int_equal(store_check(f->store, print_finding, NULL, &done), 0);
    change_in(f, STORE_SYS, KV_QUOTAS, STR("k"), STR("\x83\x01\x02\x62{}"));
    expect(f, 1, "a quota cannot be read: The store is damaged\n");
    change_in(f, STORE_SYS, KV_QUOTAS, STR("k"), STR("\x83\x02\x02\x02"));
    expect(f, 1, "a quota cannot be read: The store has an unknown format\n");
    change_in(f, STORE_SYS, KV_QUOTAS, STR("k"), STR("\x82\x01\x02"));
    expect(f, 1, "a quota cannot be read");
    assert_int_equal(store_maintain(f->store), 0);
    expect(f, 0, "");
}

#define CASES(X)                                         \
    X(a_record_is_read_as_it_was_put)                    \
    X(conditions_hold_for_records)                       \
    X(a_list_conflicts_with_what_others_did_meanwhile)   \
    X(lists_of_one_group_conflict)                       \
    X(a_change_is_in_the_log)                            \
    X(everybody_is_told_that_access_changed)             \
    X(a_record_is_no_row_of_the_table_with_that_id)      \
    X(a_scan_goes_by_name_and_kind)                      \
    X(a_name_past_ACCESS_NAME_BYTES_is_refused)          \
    X(a_record_past_ACCESS_RECORD_BYTES_is_refused)      \
    X(beyond_ACCESS_RECORDS_MAX_only_those_there_change) \
    X(a_quota_is_never_exceeded)                         \
    X(a_window_that_ended_begins_anew)                   \
    X(of_two_ends_the_nearer_holds)                      \
    X(a_key_of_a_quota_has_at_most_ACCESS_NAME_BYTES)    \
    X(the_keeper_forgets_windows_that_ended)             \
    X(beyond_QUOTAS_MAX_only_those_there_count)          \
    X(what_is_refused_leaves_its_group_alone)            \
    X(those_who_take_at_once_get_the_quota_and_no_more)  \
    X(the_check_compares_records_with_the_log)           \
    X(the_check_reads_quotas)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
