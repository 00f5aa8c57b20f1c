/* tests/unit/test_store_check.c - store_check on stores that were damaged on purpose, on both
 * engines: each damage is found, by a sentence that names it, and nothing else is. */
#include "store_contract.h"
#include "store_index.h"

#define ROWS 20

struct found {
    int n;
    char text[4000];
};

static void note(void *ctx, struct str finding)
{
    struct found *found = ctx;
    size_t at = strlen(found->text);
    found->n++;
    snprintf(found->text + at, sizeof found->text - at, STR_FMT "\n", STR_ARG(finding));
}

static void expect(struct fixture *f, int n, const char *text)
{
    struct found found = {0};
    int result = store_check(f->store, note, &found, NULL);
    if (result != n || !strstr(found.text, text))
        print_error("%d findings, expected %d with \"%s\":\n%s", result, n, text, found.text);
    assert_int_equal(result, n);
    assert_int_equal(found.n, n);
    assert_non_null(strstr(found.text, text));
}

static struct str key_at(int i, char space[12])
{
    snprintf(space, 12, "k%02d", i);
    return str_of(space);
}

/* Twenty rows under two indexes; the unique one is returned. */
static struct store_index_build make_rows(struct fixture *f)
{
    struct store_index_build build = {0};
    char space[12];
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(put_n(f->store, f->table, key_at(i, space), i, STORE_ANY, NULL), 0);
    assert_int_equal(store_create_index(f->store, f->table, &by_text, &build), 0);
    assert_int_equal(store_create_index(f->store, f->table, &once_n, &build), 0);
    check_is_clean(f->store);
    return build;
}

static void change_in(struct fixture *f, enum store_space space, enum kv_map map, struct str key,
                      struct str value)
{
    struct kv_txn txn;
    assert_int_equal(kv_begin(f->store->envs[space], true, &txn), 0);
    if (value.p)
        assert_int_equal(kv_put(&txn, map, key, value), 0);
    else
        assert_int_equal(kv_remove(&txn, map, key), 0);
    assert_int_equal(kv_commit(&txn), 0);
}

static void change(struct fixture *f, enum kv_map map, struct str key, struct str value)
{
    change_in(f, STORE_DATA, map, key, value);
}

static struct row_key row_at(struct fixture *f, int i)
{
    struct row_key key;
    char space[12];
    assert_int_equal(row_key(f->table, key_at(i, space), &key), 0);
    return key;
}

static struct str bytes_of(const struct row_key *key)
{
    return (struct str){key->bytes, key->len};
}

/* The entry of {"n": n} under a row's key. */
static struct str entry_of(uint32_t index, int64_t n, const char *key, struct buf *space)
{
    struct sample s;
    struct store_index like = once_n;
    uint32_t len;
    bool has_null;
    like.id = index;
    assert_int_equal(
        index_entry(&like, str_of(key), sample_row(&s, n, STR("")), space, &len, &has_null), 0);
    return buf_str(space);
}

#define NINE_BYTES STR("\0\011") /* the length of an integer's index key */

static void a_row_without_its_entry_is_found(void **state)
{
    struct fixture *f = *state;
    struct buf space = {0};
    uint32_t index = make_rows(f).ret_index;
    change(f, KV_ENTRIES, entry_of(index, 7, "k07", &space), STR_NONE);
    expect(f, 2, "table db.t: row k07 has no entry in index once_n\n");
    expect(f, 2, "table db.t: index once_n has 19 entries for 20 rows\n");
    buf_done(&space);
}

static void an_entry_without_its_row_is_found(void **state)
{
    struct fixture *f = *state;
    struct buf space = {0};
    uint32_t index = make_rows(f).ret_index;
    change(f, KV_ENTRIES, entry_of(index, 99, "k07", &space), NINE_BYTES);
    expect(f, 2, "index once_n has an entry for row k07 that is not there or is not so\n");
    change(f, KV_ENTRIES, entry_of(index, 99, "k07", &space), STR_NONE);
    change(f, KV_ENTRIES, entry_of(index, 7, "nobody", &space), NINE_BYTES);
    expect(f, 2, "index once_n has an entry for row nobody that is not there or is not so\n");
    buf_done(&space);
}

static void an_entry_that_is_none_is_found(void **state)
{
    struct fixture *f = *state;
    struct buf space = {0};
    uint32_t index = make_rows(f).ret_index;
    change(f, KV_ENTRIES, entry_of(index, 7, "k07", &space), STR("xyz"));
    expect(f, 1, "table db.t: index once_n has an entry that cannot be read\n");
    change(f, KV_ENTRIES, entry_of(index, 7, "k07", &space), STR("\377\377"));
    expect(f, 1, "table db.t: index once_n has an entry that cannot be read\n");
    buf_done(&space);
}

static void a_row_behind_the_back_of_its_indexes_is_found(void **state)
{
    struct fixture *f = *state;
    struct row_key from = row_at(f, 3), to = row_at(f, 4);
    struct str value;
    struct kv_txn txn;
    make_rows(f);
    assert_int_equal(kv_begin(f->store->envs[STORE_DATA], true, &txn), 0);
    assert_int_equal(kv_get(&txn, KV_ROWS, bytes_of(&from), &value), 0);
    char copy[200];
    assert_true(value.n <= sizeof copy);
    memcpy(copy, value.p, value.n);
    assert_int_equal(kv_put(&txn, KV_ROWS, bytes_of(&to), (struct str){copy, value.n}), 0);
    assert_int_equal(kv_commit(&txn), 0);
    expect(f, 3, "row k04 has no entry in index by_text\n");
    expect(f, 3, "row k04 has no entry in index once_n\n");
    expect(f, 3, "row k04 has version 5, of which the log knows something else\n");
}

/* Two rows with one value, each with its entry: a unique index that did not do its work. */
static void a_double_in_a_unique_index_is_found(void **state)
{
    struct fixture *f = *state;
    struct store_index_build build = {0};
    struct index_key key;
    struct buf record = {0};
    put_n(f->store, f->table, STR("a"), 1, STORE_ANY, NULL);
    put_n(f->store, f->table, STR("b"), 1, STORE_ANY, NULL);
    assert_int_equal(store_create_index(f->store, f->table, &by_n, &build), 0);
    record_begin(&record, 4);
    cbor_write_str(STR("by_n"), &record);
    cbor_write_int(1, &record); /* unique */
    cbor_write_int(1, &record);
    cbor_write_array(3, &record);
    cbor_write_str(STR("n"), &record);
    cbor_write_int(KEY_INTEGER, &record);
    cbor_write_int(0, &record);
    change(f, KV_INDEXES, index_key(f->table, build.ret_index, &key), buf_str(&record));
    expect(f, 1, "row b has the same values as another in the unique index by_n\n");
    buf_done(&record);
}

static void a_row_that_cannot_be_read_is_found_and_passed(void **state)
{
    struct fixture *f = *state;
    struct row_key key = row_at(f, 5), last = row_at(f, ROWS - 1);
    make_rows(f);
    change(f, KV_ROWS, bytes_of(&key), STR("\x84\x01"));
    expect(f, 1, "table db.t: row k05 cannot be read: The store is damaged\n");
    change(f, KV_ROWS, bytes_of(&last), STR("\x84\x02"));
    expect(f, 2, "row k19 cannot be read");
}

static void a_wrong_count_is_found(void **state)
{
    struct fixture *f = *state;
    struct row_key extra = row_at(f, 77);
    make_rows(f);
    change(f, KV_ROWS, bytes_of(&extra), STR("\x84\x01"));
    expect(f, 4, "table db.t: it counts 20 rows, but there are 21\n");
    expect(f, 4, "index by_text has 20 entries for 21 rows\n");
}

static void holes_in_the_log_are_found(void **state)
{
    struct fixture *f = *state;
    unsigned char at[8];
    struct str key = {(char *)at, sizeof at};
    make_rows(f);
    uint64_t last = last_seq(f->store); /* one of the table, twenty of rows */
    kv_put_u64(at, 8);
    change(f, KV_LOG, key, STR("no change"));
    expect(f, 1, "change log: change 8 cannot be read\n");
    change(f, KV_LOG, key, STR_NONE);
    expect(f, 2, "change log: change 8 is missing\n");
    expect(f, 2, "row k06 has version 8, of which the log knows something else\n");
    kv_put_u64(at, last);
    change(f, KV_LOG, key, STR_NONE);
    expect(f, 4, "change log: it ends at 20, but the last change is 21\n");
}

static void what_the_log_forgot_is_not_asked_for(void **state)
{
    struct fixture *f = *state;
    make_rows(f);
    f->store->log_keep = 5;
    assert_int_equal(store_maintain(f->store), 0);
    check_is_clean(f->store);
}

static void a_version_from_the_future_is_found(void **state)
{
    struct fixture *f = *state;
    unsigned char seq[8];
    make_rows(f);
    kv_put_u64(seq, 19);
    change(f, KV_META, META_SEQ, (struct str){(char *)seq, sizeof seq});
    expect(f, 3, "row k19 has version 21, but the last change is 19\n");
    expect(f, 3, "row k18 has version 20, but the last change is 19\n");
    expect(f, 3, "change log: it ends at 21, but the last change is 19\n");
}

static void what_belongs_to_nobody_is_found(void **state)
{
    struct fixture *f = *state;
    make_rows(f);
    change(f, KV_ROWS, STR("\0\0\1\0key"), STR("x"));
    expect(f, 1, "there are rows of a table 256 that is neither there nor dropped\n");
    change(f, KV_DROPPED, STR("\0\0\1\0"), STR(""));
    change(f, KV_ENTRIES, STR("\0\0\2\0key"), STR("x"));
    expect(f, 1, "there are entries of an index 512 that is neither there nor dropped\n");
    change(f, KV_DROPPED_INDEXES, STR("\0\0\2\0"), STR(""));
    check_is_clean(f->store);
    assert_int_equal(store_maintain(f->store), 0);
    assert_int_equal(count_map(f->store, KV_DROPPED), 0);
}

static void a_damaged_catalog_is_found(void **state)
{
    struct fixture *f = *state;
    make_rows(f);
    change(f, KV_CATALOG, STR("db\0t"), STR("\x84\x01"));
    expect(f, 2, "the catalog cannot be read to its end: The store is damaged\n");
    change(f, KV_CATALOG, STR("db\0t"), STR_NONE);
    expect(f, 1, "a count of rows belongs to no table of the catalog\n");
}

static void a_table_without_a_count_is_found(void **state)
{
    struct fixture *f = *state;
    make_rows(f);
    change(f, KV_TABLES, STR("\0\0\0\1"), STR_NONE);
    expect(f, 3, "table db.t: its count of rows is missing\n");
    expect(f, 3, "table db.t: it counts 0 rows, but there are 20\n");
}

static void an_index_that_nobody_builds_is_found(void **state)
{
    struct fixture *f = *state;
    struct batch b;
    uint32_t id;
    struct store_index orphan = {.name = STR("orphan"), .parts = part_n, .n_parts = 1};
    make_rows(f);
    assert_int_equal(batch_begin(f->store, STORE_DATA, &b), 0);
    assert_int_equal(batch_table(&b, f->table), 0);
    assert_int_equal(index_make(&b, &orphan, false, &id), 0);
    assert_int_equal(batch_commit(&b), 0);
    expect(f, 1, "table db.t: index orphan is not ready, and nobody builds it\n");
}

static void keys_are_shown_as_people_know_them(void **state)
{
    struct fixture *f = *state;
    static const struct {
        struct str key;
        const char *shown;
    } cases[] = {
        {STR_INIT("\x80\0\0\0\0\0\0\x2a"), "row 42 cannot"},
        {STR_INIT("\x7f\xff\xff\xff\xff\xff\xff\xff"), "row -1 cannot"},
        {STR_INIT("Zürich"), "row Z%C3%BCrich cannot"},
        {STR_INIT("eightlen"), "row eightlen cannot"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct row_key key;
        assert_int_equal(put_n(f->store, f->table, cases[i].key, 1, STORE_ANY, NULL), 0);
        assert_int_equal(row_key(f->table, cases[i].key, &key), 0);
        change(f, KV_ROWS, bytes_of(&key), STR("\x84\x01"));
        expect(f, (int)i + 1, cases[i].shown);
    }
}

static void what_was_compared_is_counted(void **state)
{
    struct fixture *f = *state;
    struct store_checked done = {.n_tables = 99};
    make_rows(f);
    assert_int_equal(store_check(f->store, print_finding, NULL, &done), 0);
    assert_int_equal(done.n_tables, 1);
    assert_int_equal(done.n_rows, ROWS);
    assert_int_equal(done.n_indexes, 2);
    assert_int_equal(done.n_entries, 2 * ROWS);
    assert_int_equal(done.n_changes, ROWS + 1); /* and the table */
    assert_int_equal(done.n_sessions + done.n_jobs, 0);
    assert_false(done.has_unfinished_load || done.has_unfinished_build);
    change(f, KV_META, META_LOAD, STR("\0\0\0\0\0\0\0\1"));
    assert_int_equal(store_check(f->store, print_finding, NULL, &done), 0);
    assert_true(done.has_unfinished_load);
}

/* ---- SYS ------------------------------------------------------------------------------------ */

#define EXPIRES_MS (INT64_C(77) * 60000)
#define SESSION_ID "0123abcdsecret"

static void make_session_and_job(struct fixture *f)
{
    struct store_session s = {.id = STR(SESSION_ID), .log_level = -1, .expires_ms = EXPIRES_MS};
    struct store_job job = {.id = STR("0123abcd-7"), .record = STR("{}")};
    struct store_op ops[] = {
        {.kind = STORE_PUT_SESSION, .if_version = STORE_MISSING, .session = &s},
        {.kind = STORE_PUT_JOB, .if_version = STORE_MISSING, .job = &job},
    };
    assert_int_equal(write_list(f->store, STORE_SYS, ops, 2, NULL), 0);
    check_is_clean(f->store);
}

static void a_session_that_will_not_expire_is_found(void **state)
{
    struct fixture *f = *state;
    struct expiry_key space;
    struct str entry = session_expiry_key(EXPIRES_MS, STR(SESSION_ID), &space);
    make_session_and_job(f);
    change_in(f, STORE_SYS, KV_SESSION_EXPIRY, entry, STR_NONE);
    expect(f, 1, "session 0123abcd... is not among those that will expire\n");
    entry = session_expiry_key(EXPIRES_MS + 60000, STR(SESSION_ID), &space);
    change_in(f, STORE_SYS, KV_SESSION_EXPIRY, entry, STR(""));
    expect(f, 2, "session 0123abcd... expires, which is not there or not then\n");
}

static void an_entry_of_a_session_that_is_gone_is_found(void **state)
{
    struct fixture *f = *state;
    make_session_and_job(f);
    change_in(f, STORE_SYS, KV_SESSIONS, STR(SESSION_ID), STR_NONE);
    expect(f, 1, "session 0123abcd... expires, which is not there or not then\n");
    change_in(f, STORE_SYS, KV_SESSION_EXPIRY, STR("\0\0\0\1"), STR(""));
    expect(f, 2, "an entry of what will expire cannot be read\n");
}

static void records_of_sys_that_cannot_be_read_are_found(void **state)
{
    struct fixture *f = *state;
    make_session_and_job(f);
    change_in(f, STORE_SYS, KV_SESSIONS, STR(SESSION_ID), STR("\x84\x01"));
    change_in(f, STORE_SYS, KV_JOBS, STR("0123abcd-7"), STR("\x82\x01"));
    expect(f, 2, "session 0123abcd... cannot be read: The store is damaged\n");
    expect(f, 2, "job 0123abcd... cannot be read: The store is damaged\n");
    change_in(f, STORE_SYS, KV_SESSIONS, STR("\1\"x"), STR("\x84\x02"));
    expect(f, 3, "session \\x01\"x cannot be read");
}

/* ---- Streams and what waits ----------------------------------------------------------------- */

static struct str live_key(uint64_t stream, uint64_t n, struct sys_key *space)
{
    assert_int_equal(stream_key(STR(SESSION_ID), stream, space), 0);
    if (n)
        sys_key_add(space, n);
    return sys_key_str(space);
}

static struct store_op live_op(enum store_op_kind kind, const struct store_stream *stream,
                               const struct store_claim *claim)
{
    return (struct store_op){.kind = kind,
                             .if_version = STORE_ANY,
                             .stream = stream,
                             .claim = claim,
                             .message = STR("{}"),
                             .until_ms = INT64_MAX};
}

/* A session of now with a stream of three frames, a claim, a message and a letter. */
static void make_live(struct fixture *f)
{
    struct store_session s = {
        .id = STR(SESSION_ID), .log_level = -1, .expires_ms = clock_wall_ms() + 3600000};
    struct store_stream stream = {.session = s.id, .id = 5, .writer = {1, 1}};
    struct store_claim claim = {.session = s.id, .stream = 5, .worker = {1, 1}, .token = 3};
    struct store_op ops[] = {
        {.kind = STORE_PUT_SESSION, .if_version = STORE_MISSING, .session = &s},
        live_op(STORE_PUT_STREAM, &stream, NULL),
        live_op(STORE_PUT_FRAME, &stream, NULL),
        live_op(STORE_PUT_FRAME, &stream, NULL),
        live_op(STORE_PUT_FRAME, &stream, NULL),
        live_op(STORE_CLAIM_PUSHES, NULL, &claim),
        live_op(STORE_PUT_PUSH, NULL, &claim),
        live_op(STORE_PUT_MAIL, NULL, NULL),
    };
    for (uint32_t i = 0; i < 3; i++)
        ops[2 + i].n = i + 1;
    assert_int_equal(write_list(f->store, STORE_SYS, ops, 8, NULL), 0);
    check_is_clean(f->store);
}

static void a_stream_that_counts_its_frames_wrong_is_found(void **state)
{
    struct fixture *f = *state;
    struct sys_key key;
    make_live(f);
    change_in(f, STORE_SYS, KV_FRAMES, live_key(5, 2, &key), STR_NONE);
    expect(f, 1,
           "a stream of session 0123abcd... has 2 frames (10 bytes, from 1 to 3), but says 3 (15 "
           "bytes, from 1 to 3)\n");
    change_in(f, STORE_SYS, KV_FRAMES, live_key(5, 3, &key), STR_NONE);
    expect(f, 1, "has 1 frames (5 bytes, from 1 to 1), but says 3");
}

static void frames_without_a_stream_are_found(void **state)
{
    struct fixture *f = *state;
    struct sys_key key;
    make_live(f);
    change_in(f, STORE_SYS, KV_STREAMS, live_key(5, 0, &key), STR_NONE);
    expect(f, 1, "frames of a stream of session 0123abcd..., which is not there\n");
    change_in(f, STORE_SYS, KV_CUT, live_key(5, 0, &key), STR("")); /* the keeper will */
    check_is_clean(f->store);
}

static void what_belongs_to_a_session_that_is_gone_is_found(void **state)
{
    struct fixture *f = *state;
    make_live(f);
    change_in(f, STORE_SYS, KV_SESSIONS, STR(SESSION_ID), STR_NONE);
    expect(f, 4, "a stream of session 0123abcd..., which is not there\n");
    expect(f, 4, "a claim of session 0123abcd..., which is not there\n");
    expect(f, 4, "a waiting message of session 0123abcd..., which is not there\n");
}

static void live_records_that_cannot_be_read_are_found(void **state)
{
    struct fixture *f = *state;
    struct sys_key key;
    struct store_checked done;
    make_live(f);
    assert_int_equal(store_check(f->store, print_finding, NULL, &done), 0);
    assert_int_equal(done.n_streams, 1);
    assert_int_equal(done.n_frames, 3);
    assert_int_equal(done.n_pushes, 1);
    change_in(f, STORE_SYS, KV_STREAMS, live_key(5, 0, &key), STR("\x81\x01"));
    change_in(f, STORE_SYS, KV_FRAMES, live_key(5, 2, &key), STR("\x82\x09"));
    change_in(f, STORE_SYS, KV_CLAIMS, STR(SESSION_ID), STR(""));
    change_in(f, STORE_SYS, KV_PUSHES, STR("x"), STR("\x81\x01"));
    change_in(f, STORE_SYS, KV_MAIL, STR("x"), STR("\x81\x01"));
    expect(f, 5, "a stream cannot be read: The store is damaged\n");
    expect(f, 5, "a frame cannot be read: The store is damaged\n");
    expect(f, 5, "a claim cannot be read: The store is damaged\n");
    expect(f, 5, "a waiting message cannot be read: The store is damaged\n");
    expect(f, 5, "a letter cannot be read: The store is damaged\n");
}

/* ---- Subscriptions -------------------------------------------------------------------------- */

/* A session with two subscriptions. */
static void make_subscriptions(struct fixture *f)
{
    static const char *const uris[] = {"data://db/t", "data://db/t/1"};
    struct store_session s = {
        .id = STR(SESSION_ID), .log_level = -1, .expires_ms = clock_wall_ms() + 3600000};
    struct store_op session = {
        .kind = STORE_PUT_SESSION, .if_version = STORE_MISSING, .session = &s};
    assert_int_equal(write_list(f->store, STORE_SYS, &session, 1, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        struct store_subscription to = {.session = s.id, .uri = str_of(uris[i]), .start_seq = 5};
        struct store_op op = {.kind = STORE_PUT_SUBSCRIPTION, .subscription = &to};
        assert_int_equal(write_list(f->store, STORE_SYS, &op, 1, NULL), 0);
    }
    check_is_clean(f->store);
}

/* The number of their set: the first that was given. */
static struct str subscription_at(const char *uri, struct sys_key *space)
{
    assert_int_equal(subscription_key(1, str_of(uri), space), 0);
    return sys_key_str(space);
}

/* [1, start 5, merged, no time, uri] */
#define SUBSCRIPTION_TO_U STR("\x85\x01\x05\x00\x00\x61u")

static void a_session_that_counts_its_subscriptions_wrong_is_found(void **state)
{
    struct fixture *f = *state;
    struct sys_key key;
    make_subscriptions(f);
    change_in(f, STORE_SYS, KV_SUBSCRIPTIONS, subscription_at("data://db/t/1", &key), STR_NONE);
    expect(f, 1, "session 0123abcd... has 1 subscriptions (11 bytes), but says 2 (24 bytes)\n");
    change_in(f, STORE_SYS, KV_SUBSCRIPTIONS, subscription_at("u", &key), SUBSCRIPTION_TO_U);
    expect(f, 1, "has 2 subscriptions (12 bytes), but says 2 (24 bytes)\n");
    change_in(f, STORE_SYS, KV_SUBSCRIPTIONS, subscription_at("v", &key), SUBSCRIPTION_TO_U);
    expect(f, 2, "has 3 subscriptions (13 bytes), but says 2 (24 bytes)\n");
    expect(f, 2, "a subscription is not where its URI is looked for\n");
}

static void subscriptions_of_nobody_are_found(void **state)
{
    struct fixture *f = *state;
    struct sys_key set = subscription_set_key(1);
    struct store_checked done;
    make_subscriptions(f);
    assert_int_equal(store_check(f->store, print_finding, NULL, &done), 0);
    assert_int_equal(done.n_subscriptions, 2);
    change_in(f, STORE_SYS, KV_SESSIONS, STR(SESSION_ID), STR_NONE);
    expect(f, 2, "subscriptions of session 0123abcd..., which is not there\n");
    change_in(f, STORE_SYS, KV_FOLLOWS, STR(SESSION_ID), STR_NONE);
    expect(f, 2, "2 subscriptions belong to no session\n");
    change_in(f, STORE_SYS, KV_UNFOLLOWED, sys_key_str(&set), STR("")); /* the keeper will */
    expect(f, 1, "an entry says that session 0123abcd... expires, which is not there");
    assert_int_equal(store_check(f->store, print_finding, NULL, &done), 1);
    assert_int_equal(done.n_subscriptions, 0);
    assert_int_equal(store_maintain(f->store), 0);
    expect(f, 1, "an entry says that session 0123abcd... expires, which is not there");
}

static void a_position_beyond_what_was_told_is_found(void **state)
{
    struct fixture *f = *state;
    make_subscriptions(f);
    change_in(f, STORE_SYS, KV_FOLLOWS, STR(SESSION_ID),
              STR("\x88\x01\x05\x06\x02\x02\x01\x18\x18\x00"));
    expect(f, 1, "session 0123abcd... has taken what changed up to 6, but was told only up to 5\n");
}

static void subscriptions_that_cannot_be_read_are_found(void **state)
{
    struct fixture *f = *state;
    struct sys_key key;
    make_subscriptions(f);
    change_in(f, STORE_SYS, KV_SUBSCRIPTIONS, subscription_at("u", &key), STR("\x82\x01\x05"));
    change_in(f, STORE_SYS, KV_SUBSCRIPTIONS, STR("short"), SUBSCRIPTION_TO_U);
    expect(f, 4, "a subscription cannot be read: The store is damaged\n");
    expect(f, 4, "has 3 subscriptions (24 bytes), but says 2 (24 bytes)\n");
    expect(f, 4, "1 subscriptions belong to no session\n");
    change_in(f, STORE_SYS, KV_FOLLOWS, STR(SESSION_ID), STR("\x82\x09\x01"));
    expect(f, 4, "a position in the change log cannot be read: The store has an unknown format\n");
    expect(f, 4, "4 subscriptions belong to no session\n");
    /* Its session can be deleted all the same. */
    struct store_session s = {.id = STR(SESSION_ID)};
    struct store_op op = {.kind = STORE_DELETE_SESSION, .if_version = STORE_ANY, .session = &s};
    assert_int_equal(write_list(f->store, STORE_SYS, &op, 1, NULL), 0);
    expect(f, 3, "4 subscriptions belong to no session\n");
}

#define CASES(X)                                              \
    X(a_row_without_its_entry_is_found)                       \
    X(an_entry_without_its_row_is_found)                      \
    X(an_entry_that_is_none_is_found)                         \
    X(a_row_behind_the_back_of_its_indexes_is_found)          \
    X(a_double_in_a_unique_index_is_found)                    \
    X(a_row_that_cannot_be_read_is_found_and_passed)          \
    X(a_wrong_count_is_found)                                 \
    X(holes_in_the_log_are_found)                             \
    X(what_the_log_forgot_is_not_asked_for)                   \
    X(a_version_from_the_future_is_found)                     \
    X(what_belongs_to_nobody_is_found)                        \
    X(a_damaged_catalog_is_found)                             \
    X(a_table_without_a_count_is_found)                       \
    X(an_index_that_nobody_builds_is_found)                   \
    X(what_was_compared_is_counted)                           \
    X(keys_are_shown_as_people_know_them)                     \
    X(a_session_that_will_not_expire_is_found)                \
    X(an_entry_of_a_session_that_is_gone_is_found)            \
    X(records_of_sys_that_cannot_be_read_are_found)           \
    X(a_stream_that_counts_its_frames_wrong_is_found)         \
    X(frames_without_a_stream_are_found)                      \
    X(what_belongs_to_a_session_that_is_gone_is_found)        \
    X(live_records_that_cannot_be_read_are_found)             \
    X(a_session_that_counts_its_subscriptions_wrong_is_found) \
    X(subscriptions_of_nobody_are_found)                      \
    X(a_position_beyond_what_was_told_is_found)               \
    X(subscriptions_that_cannot_be_read_are_found)

int main(void)
{
    static const struct CMUnitTest tests[] = {CASES(CONTRACT_MEMORY) CASES(CONTRACT_LMDB)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
