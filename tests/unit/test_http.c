/* tests/unit/test_http.c - what a client sees of HTTP: statuses, headers, limits. */
#include "net_rig.h"

static struct rig rig;

static void a_post_is_answered_and_the_connection_kept(void **state)
{
    (void)state;
    int fd = rig_connect(&rig);
    for (int i = 0; i < 3; i++) {
        struct answer a = rig_post(fd, "", "{\"n\":1}");
        assert_int_equal(a.status, 200);
        assert_string_equal(a.body, "{\"n\":1}");
        assert_string_equal(answer_header(&a, "Content-Type"), "application/json");
        answer_done(&a);
    }
    close(fd);
}

static int start(void **state)
{
    (void)state;
    return rig_start(&rig, rig_config()) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    rig_stop(&rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_post_is_answered_and_the_connection_kept),
    };
    return cmocka_run_group_tests_name("http", tests, start, stop);
}
