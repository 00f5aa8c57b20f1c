/* tests/unit/test_auth_metadata.c - the document for clients without a token, and where it lies. */
#include "auth/metadata.h"
#include "auth/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

static void assert_document(const struct metadata *metadata, const char *text)
{
    struct buf out = {0};
    metadata_write(metadata, &out);
    buf_add_char(&out, '\0');
    assert_string_equal(out.p, text);
    buf_done(&out);
}

static void A_02_a_document_names_the_resource_and_its_servers(void **state)
{
    const struct str servers[] = {STR_INIT("https://a.example"), STR_INIT("https://b.example")};
    const struct str scopes[] = {STR_INIT("read"), STR_INIT("write"), STR_INIT("read")};
    const struct str none[] = {STR_INIT(""), STR_INIT("")};
    struct metadata metadata = {STR_INIT("https://mcp.example/mcp"), servers, 2, scopes, 3};
    (void)state;
    assert_document(&metadata,
                    "{\"resource\":\"https://mcp.example/mcp\","
                    "\"authorization_servers\":[\"https://a.example\",\"https://b.example\"],"
                    "\"scopes_supported\":[\"read\",\"write\"],"
                    "\"bearer_methods_supported\":[\"header\"]}");
    metadata.scopes = none;
    metadata.n_scopes = 2;
    metadata.n_servers = 1;
    assert_document(&metadata, "{\"resource\":\"https://mcp.example/mcp\","
                               "\"authorization_servers\":[\"https://a.example\"],"
                               "\"bearer_methods_supported\":[\"header\"]}");
}

static void A_03_the_document_lies_between_host_and_path(void **state)
{
    static const struct {
        const char *resource, *url;
    } cases[] = {
        {"https://a.example", "https://a.example/.well-known/oauth-protected-resource"},
        {"https://a.example/", "https://a.example/.well-known/oauth-protected-resource"},
        {"https://a.example/mcp", "https://a.example/.well-known/oauth-protected-resource/mcp"},
        {"http://[::1]:8750/x/y", "http://[::1]:8750/.well-known/oauth-protected-resource/x/y"},
        {"https://a.example?q", "https://a.example/.well-known/oauth-protected-resource?q"},
    };
    struct arena arena;
    (void)state;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(metadata_url(str_of(cases[i].resource), &arena).p, cases[i].url);
    assert_null(metadata_url(STR("urn:x"), &arena).p);
    arena_done(&arena);
}

static void a_scope_can_stand_in_a_header(void **state)
{
    static const char *wrong[] = {"", " ", "a b", "a\"", "a\\", "a\n", "\xc3\xa9", "\x7f"};
    (void)state;
    assert_true(scope_is_valid(STR("a:b.c/d!~#")));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(scope_is_valid(str_of(wrong[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(A_02_a_document_names_the_resource_and_its_servers),
        cmocka_unit_test(A_03_the_document_lies_between_host_and_path),
        cmocka_unit_test(a_scope_can_stand_in_a_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
