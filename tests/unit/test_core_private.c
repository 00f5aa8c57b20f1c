/* tests/unit/test_core_private.c - tables with "mcp": false: no client of the application profile
 * learns of them, whatever it asks. */
#include "tests/unit/ask.h"

#include "core/catalog.h"
#include "core/component.h"
#include "core/table_tools.h"

#define VAULT                                                                         \
    "{\"mcp\":false,\"title\":\"Vault\",\"primaryKey\":\"key\",\"schema\":{\"type\":" \
    "\"object\",\"properties\":{\"key\":{\"type\":\"string\"}}}}"
#define OPEN_VAULT                                                                   \
    "{\"mcp\":true,\"title\":\"Vault\",\"primaryKey\":\"key\",\"schema\":{\"type\":" \
    "\"object\",\"properties\":{\"key\":{\"type\":\"string\"}}}}"

static void vault_is_nowhere(struct bench *b, const char *method, const char *params)
{
    ask_method(b, method, params, "{}");
    if (strstr(bench.body.p, "vault") || strstr(bench.body.p, "Vault"))
        fail_msg("%s: %s", method, bench.body.p);
}

static void a_private_table_is_in_no_list(void **state)
{
    bench_table(*state, "shop", "vault", VAULT);
    vault_is_nowhere(*state, "tools/list", "{}");
    vault_is_nowhere(*state, "resources/list", "{}");
    vault_is_nowhere(*state, "resources/templates/list", "{}");
    vault_is_nowhere(*state, "resources/read", "{\"uri\":\"tenon://openapi\"}");
}

static void a_private_table_is_neither_called_nor_read(void **state)
{
    uint32_t vault = bench_table(*state, "shop", "vault", VAULT);
    assert_true(vault > 0);
    ask(*state, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"get_vault\",\"arguments\":{\"id\":\"a\"}}}",
        "{\"id\":7,\"error\":{\"code\":-32602}}");
    ask(*state, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"db://shop/vault\"}}",
        "{\"id\":8,\"error\":{\"code\":-32002}}");
    ask(*state, 200,
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"db://shop/vault/a\"}}",
        "{\"id\":9,\"error\":{\"code\":-32002}}");
}

static void a_table_becomes_private_and_visible_again(void **state)
{
    bench_table(*state, "shop", "vault", OPEN_VAULT);
    ask_method(*state, "resources/read", "{\"uri\":\"db://shop/vault\"}", "{\"-\":[\"error\"]}");
    bench_table(*state, "shop", "vault", VAULT);
    vault_is_nowhere(*state, "tools/list", "{}");
    bench_table(*state, "shop", "vault", OPEN_VAULT);
    ask_method(*state, "resources/read", "{\"uri\":\"db://shop/vault\"}", "{\"-\":[\"error\"]}");
}

static int run_nothing(struct tenon_call *call, void *ctx)
{
    (void)ctx;
    return tenon_text(call, "");
}

static int add_get_vault(struct tenon *tenon)
{
    return tenon_add_tool(
        tenon, &(struct tenon_tool){.name = "get_vault", .description = "d", .run = run_nothing});
}

/* A tool may have the name that a tool of the table would have, as there is none. */
static void a_private_table_takes_no_names_of_tools(void **state)
{
    struct bench *b = *state;
    struct tenon *tenon;
    bench_table(b, "shop", "vault", VAULT);
    assert_int_equal(components_new(&tenon), 0);
    assert_int_equal(components_add(tenon, STR("x.so"), add_get_vault), 0);
    assert_int_equal(components_check_tables(tenon, b->store), 0);
    bench_table(b, "shop", "vault", OPEN_VAULT);
    assert_int_equal(components_check_tables(tenon, b->store), ERR_EXISTS);
    components_free(tenon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_TEST(a_private_table_is_in_no_list),
        SHOP_TEST(a_private_table_is_neither_called_nor_read),
        SHOP_TEST(a_table_becomes_private_and_visible_again),
        SHOP_TEST(a_private_table_takes_no_names_of_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
