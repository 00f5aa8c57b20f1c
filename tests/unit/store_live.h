/* tests/unit/store_live.h - what the tests of streams, pushes and letters share. */
#ifndef TENON_TESTS_STORE_LIVE_H
#define TENON_TESTS_STORE_LIVE_H

#include "store_contract.h"

#define SESSION STR("0000000a-one")
#define OTHER   STR("0000000a-two")
#define NOBODY  STR("0000000a-three")

static const struct store_worker me = {1, UINT64_C(0xfedcba9876543210)}, you = {2, 7};

static inline int write_op(struct store *store, struct store_op *op)
{
    return write_list(store, STORE_SYS, op, 1, NULL);
}

static inline int session_op(struct store *store, enum store_op_kind kind, struct str id)
{
    struct store_session s = {
        .id = id, .log_level = -1, .expires_ms = clock_wall_ms() + INT64_C(86400000)};
    struct store_op op = {.kind = kind, .if_version = STORE_ANY, .session = &s};
    return write_op(store, &op);
}

static inline struct store_stream stream_of(struct str session, uint64_t id)
{
    return (struct store_stream){.session = session,
                                 .id = id,
                                 .writer = me,
                                 .reader = me,
                                 .token = 99,
                                 .request = STR("\"r1\"")};
}

static inline int open_stream(struct store *store, struct str session, uint64_t id)
{
    struct store_stream s = stream_of(session, id);
    struct store_op op = {.kind = STORE_PUT_STREAM, .if_version = STORE_ANY, .stream = &s};
    return write_op(store, &op);
}

static inline struct store_op frame_op(const struct store_stream *s, uint64_t n, struct str message)
{
    return (struct store_op){
        .kind = STORE_PUT_FRAME, .if_version = STORE_ANY, .stream = s, .n = n, .message = message};
}

static inline int put_frame(struct store *store, struct str session, uint64_t id, uint64_t n,
                            struct str message)
{
    struct store_stream s = stream_of(session, id);
    struct store_op op = frame_op(&s, n, message);
    return write_op(store, &op);
}

/* Its last one. */
static inline int end_stream(struct store *store, struct str session, uint64_t id, uint64_t n,
                             struct str message)
{
    struct store_stream s = stream_of(session, id);
    s.ended = true;
    struct store_op op = frame_op(&s, n, message);
    return write_op(store, &op);
}

/* The strings are not kept. */
static inline int get_stream(struct store *store, struct str session, uint64_t id,
                             struct store_stream *ret)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct store_view *view = view_of(store, STORE_SYS);
    int err = store_get_stream(view, session, id, &arena, ret);
    if (!err) {
        assert_true(str_eq(ret->session, session) && ret->id == id);
        assert_true(ret->listens ? !ret->request.p : str_eq(ret->request, STR("\"r1\"")));
    }
    store_view_close(view);
    arena_done(&arena);
    return err;
}

struct lines {
    char text[8000];
    int n;
};

static inline int note_message(void *ctx, uint64_t n, uint64_t seq, struct str message)
{
    struct lines *l = ctx;
    (void)seq;
    size_t at = strlen(l->text);
    l->n++;
    snprintf(l->text + at, sizeof l->text - at, "%llu:%.*s ", (unsigned long long)n,
             message.n > 20 ? 20 : (int)message.n, message.p);
    return 0;
}

static inline void expect_frames(struct store *store, struct str session, uint64_t id,
                                 uint64_t after_n, const char *expected)
{
    struct lines l = {0};
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(store_scan_frames(view, session, id, after_n, note_message, &l), 0);
    assert_string_equal(l.text, expected);
    store_view_close(view);
}

static inline uint64_t count_sys(struct store *store, enum kv_map map)
{
    uint64_t n = UINT64_MAX;
    struct store_view *view = view_of(store, STORE_SYS);
    assert_int_equal(kv_count(&view->txn, map, &n), 0);
    store_view_close(view);
    return n;
}

static inline void expect_no_finding(struct store *store)
{
    assert_int_equal(store_check(store, print_finding, NULL, NULL), 0);
}

#endif
