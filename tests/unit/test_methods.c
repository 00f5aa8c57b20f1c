/* tests/unit/test_methods.c - the dispatch tables against the counts of the published schemas. */
#include "base/err.h"
#include "generated/methods.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

struct counts {
    const char *revision;
    int client_requests, client_notifications, server_requests, server_notifications;
};

/* Read off the unions ClientRequest, ClientNotification, ServerRequest, ServerNotification. */
static const struct counts published[] = {
    {"2025-03-26", 13, 4, 3, 7},
    {"2025-06-18", 13, 4, 4, 7},
    {"2025-11-25", 17, 5, 8, 9},
    {"2026-07-28", 10, 1, 0, 8},
};

static struct counts count(enum mcp_revision revision)
{
    struct counts n = {.revision = mcp_revision_name(revision)};
    for (int m = 0; m < MCP_METHODS; m++) {
        const struct mcp_method_row *row = mcp_method_row(revision, (enum mcp_method)m);
        if (!row)
            continue;
        n.client_requests += row->from_client && row->is_request;
        n.client_notifications += row->from_client && !row->is_request;
        n.server_requests += row->from_server && row->is_request;
        n.server_notifications += row->from_server && !row->is_request;
    }
    return n;
}

static void GEN_05_each_revision_has_its_methods_by_direction(void **state)
{
    (void)state;
    assert_int_equal(MCP_REVISIONS, 4);
    for (int r = 0; r < MCP_REVISIONS; r++) {
        struct counts n = count((enum mcp_revision)r);
        assert_string_equal(n.revision, published[r].revision);
        assert_int_equal(n.client_requests, published[r].client_requests);
        assert_int_equal(n.client_notifications, published[r].client_notifications);
        assert_int_equal(n.server_requests, published[r].server_requests);
        assert_int_equal(n.server_notifications, published[r].server_notifications);
    }
}

static void a_method_is_found_by_its_name_only(void **state)
{
    (void)state;
    for (int m = 0; m < MCP_METHODS; m++) {
        struct str name = str_of(mcp_method_name((enum mcp_method)m));
        assert_int_equal(mcp_method_find(name), m);
        struct str shorter = {name.p, name.n - 1};
        assert_int_equal(mcp_method_find(shorter), MCP_METHODS);
    }
    assert_int_equal(mcp_method_find(STR("")), MCP_METHODS);
    assert_int_equal(mcp_method_find(STR("Ping")), MCP_METHODS);
    assert_int_equal(mcp_method_find(STR("ping\0")), MCP_METHODS);
}

/* L-12: declared means working, and the other way round. */
static void L_12_capabilities_are_those_of_the_methods_that_run(void **state)
{
    (void)state;
    for (int r = 0; r < MCP_REVISIONS; r++) {
        uint32_t gates = 0;
        for (int m = 0; m < MCP_METHODS; m++) {
            const struct mcp_method_row *row =
                mcp_method_row((enum mcp_revision)r, (enum mcp_method)m);
            gates |= row && row->run ? row->server_gate : 0;
        }
        assert_int_equal(mcp_dispatch((enum mcp_revision)r)->capabilities, gates);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(GEN_05_each_revision_has_its_methods_by_direction),
        cmocka_unit_test(a_method_is_found_by_its_name_only),
        cmocka_unit_test(L_12_capabilities_are_those_of_the_methods_that_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
