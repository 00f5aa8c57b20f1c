/* tests/unit/test_http_limits.c - what one client can take from the others: connections, bytes in
 * flight, time. Each test starts a server whose limit is low.
 */
#include "net_rig.h"

#include "base/clock.h"

static struct rig rig;

static void start(struct net_config config)
{
    rig = (struct rig){0};
    assert_true(rig_start(&rig, config));
}

static void assert_busy(struct answer a)
{
    assert_int_equal(a.status, 503);
    assert_string_equal(answer_header(&a, "Retry-After"), "1");
    assert_string_equal(answer_header(&a, "Connection"), "close");
    assert_string_equal(a.body, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
                                "\"message\":\"Server is busy\"}}");
    answer_done(&a);
}

/* ---- Connections ------------------------------------------------------------------------------*/

#define N_CONNS 5

static void conns_max_turns_the_next_away_and_serves_the_others(void **state)
{
    (void)state;
    int fds[N_CONNS];
    struct net_config config = rig_config();
    config.conns_max = N_CONNS;
    start(config);
    for (int i = 0; i < N_CONNS; i++)
        fds[i] = rig_connect(&rig);
    for (int round = 0; round < 20; round++) {
        int more = rig_connect(&rig);
        if (round % 2) /* whether it sends first or reads first */
            rig_send_post(more, "", "1");
        assert_busy(rig_read(more));
        assert_true(rig_is_closed(more));
        close(more);
        struct answer a = rig_post(fds[round % N_CONNS], "", "{\"n\":1}");
        assert_int_equal(a.status, 200);
        answer_done(&a);
    }
    close(fds[0]); /* its place is free again, as soon as the server has seen it */
    struct answer a = {0};
    for (int i = 0; i < 1000 && a.status != 200; i++) {
        int fd = rig_connect(&rig);
        answer_done(&a);
        a = rig_post(fd, "", "1");
        close(fd);
    }
    assert_int_equal(a.status, 200);
    answer_done(&a);
    for (int i = 1; i < N_CONNS; i++)
        close(fds[i]);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conns_max_turns_the_next_away_and_serves_the_others),
    };
    return cmocka_run_group_tests_name("http limits", tests, NULL, NULL);
}
