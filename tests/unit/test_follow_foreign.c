/* tests/unit/test_follow_foreign.c - DATA was replaced by another one under a session that had
 * subscribed: positions in the log of the one before say nothing. */
#include "follow_rig.h"

#include "store/internal.h"

/* As when SYS is opened beside another DATA than the one that it was used with: both have the id of
 * that one then. */
static void replace_data(void)
{
    for (int space = STORE_DATA; space <= STORE_SYS; space++) {
        struct kv_txn txn;
        assert_int_equal(kv_begin(rig.bench.store->envs[space], true, &txn), 0);
        assert_int_equal(kv_put(&txn, KV_META, META_ID, STR("another DATA ...")), 0);
        assert_int_equal(kv_commit(&txn), 0);
    }
}

static void each_is_told_once_when_DATA_is_another_one(void **state)
{
    (void)state;
    subscribe("db://shop/note/a");
    subscribe_all("db://shop/book");
    replace_data();
    assert_true(stored_follow().is_foreign);
    struct wire *w = listen_at(0, NULL);
    char text[1024];
    bool all_first = strstr(update(w, 0, text), "book") != NULL;
    assert_int_equal(n_updates(w), 2);
    assert_string_equal(update(w, all_first, text), URI("db://shop/note/a"));
    assert_string_equal(update(w, !all_first, text),
                        "{\"uri\":\"db://shop/book\",\"_meta\":{\"tenon/gap\":true}}");
    assert_false(stored_follow().is_foreign);
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 3);
    rig_tick(&rig, 2000); /* its position is noted */
    w = listen_at(1, NULL);
    assert_int_equal(n_updates(w), 0);
}

static void the_id_of_an_event_of_another_DATA_is_no_position(void **state)
{
    char id[64];
    (void)state;
    struct wire *w = listen_at(0, NULL);
    subscribe("db://shop/note/a");
    write_note("a");
    rig_settle(&rig);
    assert_int_equal(n_updates(w), 1);
    snprintf(id, sizeof id, "%s", last_id(w));
    rig_tick(&rig, 2000);
    replace_data();
    w = listen_at(1, id);
    UPDATES(w, URI("db://shop/note/a"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        T(each_is_told_once_when_DATA_is_another_one),
        T(the_id_of_an_event_of_another_DATA_is_no_position),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
