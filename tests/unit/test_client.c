/* tests/unit/test_client.c - what a request is counted as that nobody has signed. */
#include "net/client.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listen_on(int family, const struct sockaddr *address, socklen_t n)
{
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd >= 0 && (bind(fd, address, n) < 0 || listen(fd, 1) < 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* A connection from this machine to itself, the server's end; -1: the machine has no such address.
 */
static int accept_one(int listener, int family, int *ret_client)
{
    struct sockaddr_storage to;
    socklen_t n = sizeof to;
    if (listener < 0)
        return -1;
    assert_int_equal(getsockname(listener, (struct sockaddr *)&to, &n), 0);
    *ret_client = socket(family, SOCK_STREAM, 0);
    assert_int_equal(connect(*ret_client, (struct sockaddr *)&to, n), 0);
    int fd = accept(listener, NULL, NULL);
    close(listener);
    return fd;
}

static void a_client_is_its_address(void **state)
{
    (void)state;
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char text[CLIENT_BYTES];
    int client,
        fd = accept_one(listen_on(AF_INET, (struct sockaddr *)&any, sizeof any), AF_INET, &client);
    assert_true(fd >= 0);
    client_address(fd, text);
    assert_string_equal(text, "127.0.0.1");
    close(client);
    close(fd);
}

/* A network chooses the other 64 bits as it likes. */
static void a_client_of_ipv6_is_its_network(void **state)
{
    (void)state;
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    char text[CLIENT_BYTES];
    int client, fd = accept_one(listen_on(AF_INET6, (struct sockaddr *)&any, sizeof any), AF_INET6,
                                &client);
    if (fd < 0)
        skip();
    client_address(fd, text);
    assert_string_equal(text, "::");
    close(client);
    close(fd);
}

static void what_is_no_socket_has_no_address(void **state)
{
    (void)state;
    char text[CLIENT_BYTES] = "x";
    client_address(-1, text);
    assert_string_equal(text, "");
}

static void a_header_says_it_up_to_the_first_comma(void **state)
{
    (void)state;
    char longest[201];
    memset(longest, 'a', sizeof longest);
    assert_true(str_eq(client_named(STR("10.0.0.1")), STR("10.0.0.1")));
    assert_true(str_eq(client_named(STR(" 10.0.0.1 , 10.0.0.2")), STR("10.0.0.1")));
    assert_null(client_named(STR("")).p);
    assert_null(client_named(STR(" , 10.0.0.2")).p);
    assert_null(client_named(STR_NONE).p);
    assert_null(client_named((struct str){longest, sizeof longest}).p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_is_its_address),
        cmocka_unit_test(a_client_of_ipv6_is_its_network),
        cmocka_unit_test(what_is_no_socket_has_no_address),
        cmocka_unit_test(a_header_says_it_up_to_the_first_comma),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
