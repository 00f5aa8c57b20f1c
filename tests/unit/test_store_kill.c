/* tests/unit/test_store_kill.c - processes that die by SIGKILL in the middle of what they do.
 *
 * A child works and tells by a pipe what was acknowledged; the parent kills it after a random
 * number of those and looks at what is left.
 */
#include "store_children.h"

/* ---- Acknowledged creates ------------------------------------------------------------------- */

#define ROUNDS      6
#define WRITERS     3
#define PER_ROUND   100000u /* numbers of one round; nobody gets that far */
#define MAX_NUMBERS 4096

static uint32_t round_base;
static enum store_mode round_mode;

struct creator {
    pthread_t thread;
    struct store *store;
    int to_parent;
    uint32_t first;
};

static void names_of(uint32_t number, char a[16], char b[16], char session[16])
{
    snprintf(a, 16, "a%08u", number);
    snprintf(b, 16, "b%08u", number);
    snprintf(session, 16, "%08u", number);
}

#define QUOTA_ENDS_MS INT64_MAX

/* One list of two rows and a token; and one of a session and its share of a quota: acknowledged
 * together. */
static void create(struct creator *c, uint32_t number)
{
    struct sample s;
    char a[16], b[16], id[16];
    names_of(number, a, b, id);
    struct store_access token = {.kind = STORE_TOKEN, .name = str_of(a), .record = STR("{}")};
    struct store_op ops[] = {
        row_op(TABLE, str_of(a), sample_row(&s, number, STR("some text that fills")),
               STORE_MISSING),
        row_op(TABLE, str_of(b), s.nodes, STORE_MISSING),
        {.kind = STORE_PUT_ACCESS, .if_version = STORE_MISSING, .access = &token},
    };
    struct store_session session = {
        .id = str_of(id), .log_level = -1, .expires_ms = clock_wall_ms() + 3600000};
    struct store_op put[] = {
        {.kind = STORE_PUT_SESSION, .if_version = STORE_MISSING, .session = &session},
        {.kind = STORE_TAKE_QUOTA,
         .key = STR("all"),
         .n = 1,
         .quota_max = INT64_MAX,
         .until_ms = QUOTA_ENDS_MS},
    };
    struct waited rows = {
        .write = {.space = STORE_DATA, .ops = ops, .n_ops = 3, .done = waited_done}};
    struct waited sys = {
        .write = {.space = STORE_SYS, .ops = put, .n_ops = 2, .done = waited_done}};
    store_submit(c->store, &rows.write);
    store_submit(c->store, &sys.write);
    require(rows.err == 0 && sys.err == 0);
    tell(c->to_parent, number);
}

static void *create_for_ever(void *arg)
{
    struct creator *c = arg;
    for (uint32_t i = c->first; i < PER_ROUND; i += WRITERS)
        create(c, round_base + i);
    return NULL;
}

static void create_until_killed(int to_parent)
{
    struct creator creators[WRITERS];
    struct store *store = open_store(round_mode);
    require(store != NULL);
    for (uint32_t i = 0; i < WRITERS; i++) {
        creators[i] = (struct creator){.store = store, .to_parent = to_parent, .first = i};
        require(pthread_create(&creators[i].thread, NULL, create_for_ever, &creators[i]) == 0);
    }
    wait_for_kill();
}

static bool has_session(struct store *store, const char *id)
{
    struct arena arena;
    struct store_session s;
    struct store_view *view = view_of(store, STORE_SYS);
    arena_init(&arena, 0);
    int err = store_get_session(view, str_of(id), &arena, &s);
    arena_done(&arena);
    store_view_close(view);
    return !err;
}

static bool has_token(struct store *store, const char *name)
{
    struct arena arena;
    struct store_access token;
    struct store_view *view = view_of(store, STORE_DATA);
    arena_init(&arena, 0);
    int err = store_get_access(view, STORE_TOKEN, str_of(name), &arena, &token);
    arena_done(&arena);
    store_view_close(view);
    return !err;
}

static uint64_t used_of_quota(struct store *store)
{
    uint64_t used = 0;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_get_quota(view, STR("all"), clock_wall_ms(), &used), 0);
    store_view_close(view);
    return used;
}

static void check_number(struct store *store, uint32_t number, bool acknowledged)
{
    char a[16], b[16], id[16];
    names_of(number, a, b, id);
    int64_t n = get_n(store, TABLE, str_of(a));
    assert_int_equal(get_n(store, TABLE, str_of(b)), n); /* all or none */
    assert_int_equal(has_token(store, a), n >= 0);
    if (acknowledged) {
        assert_int_equal(n, number);
        assert_true(has_session(store, id));
    }
}

/* Kills after `n` acknowledgements, then takes in those that were still in the pipe. */
static uint32_t collect_and_kill(struct child *c, uint32_t n, bool acknowledged[MAX_NUMBERS])
{
    uint32_t number, heard = 0;
    while (heard < n && hear(c, &number)) {
        assert_true(number - round_base < MAX_NUMBERS);
        acknowledged[number - round_base] = true;
        heard++;
    }
    assert_int_equal(heard, n);
    kill_child(c);
    while (hear(c, &number)) {
        assert_true(number - round_base < MAX_NUMBERS);
        acknowledged[number - round_base] = true;
        heard++;
    }
    close(c->from);
    return heard;
}

static void kill_rounds(enum store_mode mode, uint32_t most)
{
    unsigned random = (unsigned)getpid();
    uint64_t total = 0;
    struct store *store = open_store(mode);
    assert_non_null(store);
    assert_int_equal(make_table(store, "t"), TABLE);
    store_close(store);
    round_mode = mode;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        static bool acknowledged[MAX_NUMBERS];
        memset(acknowledged, 0, sizeof acknowledged);
        round_base = round * PER_ROUND;
        random = random * 1103515245 + 12345;
        struct child c = start(create_until_killed);
        uint32_t heard = collect_and_kill(&c, 1 + (random >> 16) % most, acknowledged);
        total += heard;
        store = open_store(mode);
        assert_non_null(store);
        for (uint32_t i = 0; i < MAX_NUMBERS && i < heard + 100; i++)
            check_number(store, round_base + i, acknowledged[i]);
        assert_true(used_of_quota(store) >= total);
        check_agreement(store);
        store_close(store);
    }
}

static void acknowledged_writes_survive_kill_in_sync_mode(void **state)
{
    (void)state;
    kill_rounds(STORE_SYNC, 60);
}

static void acknowledged_writes_survive_kill_in_nosync_mode(void **state)
{
    (void)state;
    kill_rounds(STORE_NOSYNC, 700);
}

/* ---- Positions and their frames ------------------------------------------------------------- */

#define FOLLOWER STR("00000001-follower")

static void begin_following(struct store *store)
{
    struct store_session session = {
        .id = FOLLOWER, .log_level = -1, .expires_ms = clock_wall_ms() + 3600000};
    struct store_subscription to = {.session = FOLLOWER, .uri = STR("data://db/t")};
    struct store_claim claim = {.session = FOLLOWER, .stream = 5, .worker = {1, 1}, .token = 1};
    struct store_stream stream = {.session = FOLLOWER, .id = 5};
    struct store_op ops[] = {
        {.kind = STORE_PUT_SESSION, .if_version = STORE_ANY, .session = &session},
        {.kind = STORE_PUT_STREAM, .stream = &stream},
        {.kind = STORE_CLAIM_PUSHES, .claim = &claim},
        {.kind = STORE_PUT_SUBSCRIPTION, .subscription = &to},
    };
    assert_int_equal(write_list(store, STORE_SYS, ops, 4, NULL), 0);
}

static struct store_stream get_followed(struct store *store, struct store_follow *ret)
{
    struct arena arena;
    struct store_stream stream;
    struct store_view *view = view_of(store, STORE_SYS);
    arena_init(&arena, 0);
    int err = store_get_stream(view, FOLLOWER, 5, &arena, &stream);
    if (!err)
        err = store_get_follow(view, FOLLOWER, ret);
    arena_done(&arena);
    store_view_close(view);
    require(err == 0);
    return stream;
}

/* Frame n tells of what changed up to 3 n. */
static void follow_until_killed(int to_parent)
{
    struct store_follow follow;
    struct store_claim claim = {.session = FOLLOWER, .token = 1};
    struct store *store = open_store(STORE_NOSYNC);
    require(store != NULL);
    struct store_stream stream = get_followed(store, &follow);
    stream.session = FOLLOWER;
    for (uint64_t n = stream.last_n + 1;; n++) {
        stream.seq = follow.seq = 3 * n;
        struct store_op ops[] = {
            {.kind = STORE_SET_FOLLOW, .claim = &claim, .follow = &follow},
            {.kind = STORE_PUT_FRAME, .stream = &stream, .n = n, .message = STR("{}")},
        };
        require(write_list(store, STORE_SYS, ops, 2, NULL) == 0);
        tell(to_parent, (uint32_t)n);
    }
}

static void a_position_never_parts_from_its_frame_by_kill(void **state)
{
    (void)state;
    unsigned random = (unsigned)getpid();
    struct store_follow follow;
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    begin_following(store);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t told = 0;
        store_close(store);
        struct child c = start(follow_until_killed);
        random = random * 1103515245 + 12345;
        for (unsigned n = random >> 16 & 1023; hear(&c, &told) && n; n--)
            ;
        kill_child(&c);
        while (hear(&c, &told))
            ;
        close(c.from);
        store = open_store(STORE_NOSYNC);
        assert_non_null(store);
        struct store_stream stream = get_followed(store, &follow);
        assert_true(stream.last_n >= told && stream.last_n <= told + 1);
        assert_true(stream.seq == 3 * stream.last_n && follow.seq == stream.seq);
        assert_int_equal(store_check(store, print_finding, NULL, NULL), 0);
    }
    store_close(store);
}

/* ---- Loads ---------------------------------------------------------------------------------- */

static void stop_in_a_load(int to_parent)
{
    struct store_load *load;
    struct store *store = open_store(STORE_NOSYNC);
    require(store && store_load_begin(store, TABLE, &load) == 0);
    for (int i = 0; i < 1700; i++) {
        struct sample s;
        char key[16];
        snprintf(key, sizeof key, "%04d", i);
        require(store_load_row(load, str_of(key), sample_row(&s, i, STR("")), STORE_ANY) == 0);
    }
    tell(to_parent, 1);
    wait_for_kill();
}

static void assert_rolled_back(struct store *store)
{
    uint64_t n = 99;
    assert_int_equal(get_n(store, TABLE, STR("0007")), 7777);
    assert_int_equal(count_rows(store, TABLE), 1);
    assert_int_equal(scan_count(store, TABLE), 1);
    struct store_view *view = view_of(store, STORE_DATA);
    assert_int_equal(kv_count(&view->txn, KV_UNDO, &n), 0);
    assert_int_equal(n, 0);
    store_view_close(view);
}

#define LOADED 1200

static void load_again_and_again(int to_parent)
{
    struct store *store = open_store(STORE_NOSYNC);
    require(store != NULL);
    for (uint32_t round = 1;; round++) {
        struct store_load *load;
        require(store_load_begin(store, TABLE, &load) == 0);
        for (int i = 0; i < LOADED; i++) {
            struct sample s;
            char key[16];
            snprintf(key, sizeof key, "%04d", i);
            require(store_load_row(load, str_of(key), sample_row(&s, round, STR("")), STORE_ANY) ==
                    0);
            if (i % 100 == 0)
                tell(to_parent, round);
        }
        if (round % 4 == 0)
            require(store_load_abort(load) == 0);
        else
            require(store_load_commit(load) == 0);
    }
}

static int see_round(void *ctx, const struct store_row *row)
{
    int64_t *round = ctx;
    int64_t n = sample_n(row->row);
    assert_true(*round == 0 || *round == n);
    assert_true(n % 4 != 0); /* those were aborted */
    *round = n;
    return 0;
}

/* All rows are of one load, which is one that was committed. */
static void a_load_killed_anywhere_is_whole_or_not_there(void **state)
{
    (void)state;
    unsigned random = (unsigned)getpid();
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(make_table(store, "t"), TABLE);
    store_close(store);
    for (int round = 0; round < 8; round++) {
        uint32_t told = 0;
        int64_t found = 0;
        struct child c = start(load_again_and_again);
        random = random * 1103515245 + 12345;
        for (unsigned n = random >> 16 & 127; hear(&c, &told) && n; n--)
            ;
        kill_child(&c);
        close(c.from);
        store = open_store(STORE_NOSYNC);
        assert_non_null(store);
        struct store_view *view = view_of(store, STORE_DATA);
        assert_int_equal(store_scan_rows(view, TABLE, NULL, see_round, &found), 0);
        store_view_close(view);
        uint64_t n = scan_count(store, TABLE);
        assert_true(n == (found ? LOADED : 0) && n == count_rows(store, TABLE));
        store_close(store);
    }
}

static struct child prepare_load(void)
{
    uint32_t told;
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(make_table(store, "t"), TABLE);
    assert_int_equal(put_n(store, TABLE, STR("0007"), 7777, STORE_ANY, NULL), 0);
    store_close(store);
    struct child loader = start(stop_in_a_load);
    assert_true(hear(&loader, &told));
    return loader;
}

static void a_killed_load_is_rolled_back_by_the_next_open(void **state)
{
    (void)state;
    struct child loader = prepare_load();
    kill_child(&loader);
    close(loader.from);
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_rolled_back(store);
    store_close(store);
}

/* A load was killed, and a process that has a keeper opens what it left. */
static struct store *open_with_keeper(void)
{
    const struct store_config config = {.dir = dir, .mode = STORE_NOSYNC, .has_keeper = true};
    struct store *store;
    struct arena opening;
    struct str why;
    struct child loader = prepare_load();
    kill_child(&loader);
    close(loader.from);
    arena_init(&opening, 0);
    assert_int_equal(store_open_lmdb(&config, &opening, &store, &why), 0);
    arena_done(&opening);
    return store;
}

/* Nobody waits for it at the start, and who writes meanwhile loses nothing. */
static void a_killed_load_is_left_to_the_keeper_if_there_is_one(void **state)
{
    (void)state;
    struct store *store = open_with_keeper();
    assert_int_equal(count_rows(store, TABLE), 1500);
    assert_int_equal(put_n(store, TABLE, STR("0003"), 3333, STORE_ANY, NULL), 0);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(get_n(store, TABLE, STR("0003")), 3333);
    assert_int_equal(count_rows(store, TABLE), 2);
    struct store_op op = {
        .kind = STORE_DELETE_ROW, .table = TABLE, .key = STR("0003"), .if_version = STORE_ANY};
    assert_int_equal(write_list(store, STORE_DATA, &op, 1, NULL), 0);
    assert_rolled_back(store);
    store_close(store);
}

/* So that the keeper is not taken for dead; whoever writes comes in between. */
static void a_load_is_rolled_back_in_pieces(void **state)
{
    (void)state;
    struct store *store = open_with_keeper();
    int pieces = 0;
    for (uint64_t n = 1500, left; n > 1 && pieces < 9; n = left, pieces++) {
        assert_int_equal(load_recover(store, 0), 0);
        left = count_rows(store, TABLE);
        assert_true(left < n);
    }
    assert_true(pieces > 1);
    assert_int_equal(load_recover(store, 0), 0);
    assert_rolled_back(store);
    store_close(store);
}

static void a_load_that_lives_is_left_alone_and_rolled_back_by_the_keeper(void **state)
{
    (void)state;
    struct store_load *other;
    struct child loader = prepare_load();
    struct store *store = open_store(STORE_NOSYNC);
    assert_non_null(store);
    assert_int_equal(store_maintain(store), 0);
    assert_int_equal(count_rows(store, TABLE), 1500);
    assert_int_equal(store_load_begin(store, TABLE, &other), ERR_BUSY);
    kill_child(&loader);
    close(loader.from);
    assert_int_equal(store_maintain(store), 0);
    assert_rolled_back(store);
    store_close(store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(acknowledged_writes_survive_kill_in_sync_mode),
        CASE(acknowledged_writes_survive_kill_in_nosync_mode),
        CASE(a_position_never_parts_from_its_frame_by_kill),
        CASE(a_killed_load_is_rolled_back_by_the_next_open),
        CASE(a_killed_load_is_left_to_the_keeper_if_there_is_one),
        CASE(a_load_is_rolled_back_in_pieces),
        CASE(a_load_that_lives_is_left_alone_and_rolled_back_by_the_keeper),
        CASE(a_load_killed_anywhere_is_whole_or_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
