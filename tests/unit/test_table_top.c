/* tests/unit/test_table_top.c - core/table_top.h: the n-th allocation fails, for every n, while a
 * search keeps its first rows; what was taken before stays in order, and the next row goes in. */
#include "failing_heap.h"

#include "base/err.h"
#include "core/table_top.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static const struct tape_node *make_row(struct tape_node nodes[5], int64_t n, const char *text)
{
    nodes[0] = (struct tape_node){.kind = TAPE_OBJECT, .n = 2, .v.size = 5};
    nodes[1] = (struct tape_node){.kind = TAPE_STR, .n = 1, .v.s = "n"};
    nodes[2] = (struct tape_node){.kind = TAPE_INT, .v.i = n};
    nodes[3] = (struct tape_node){.kind = TAPE_STR, .n = 4, .v.s = "text"};
    nodes[4] = (struct tape_node){.kind = TAPE_STR, .n = 1, .v.s = text};
    return nodes;
}

static const struct str name_n = STR_INIT("n");
static const struct filter_column column_n = {
    .path = STR_INIT("n"), .names = &name_n, .n_names = 1, .type = FILTER_INTEGER};
static const struct filter_column column_text = {.path = STR_INIT("text"),
                                                 .names = &(const struct str)STR_INIT("text"),
                                                 .n_names = 1,
                                                 .type = FILTER_STRING};

/* By text against its order, then by n: offered upwards, every row comes to the top. */
static void a_search_without_memory_keeps_what_it_has(void **state)
{
    (void)state;
    static const struct query_order order[] = {{&column_text, true}, {&column_n, false}};
    struct table_query query = {.limit = 4, .order = order, .n_order = 2};
    bool had_all = false;
    for (unsigned n = 1; !had_all; n++) {
        struct top top = {0};
        int n_refused = 0;
        assert_true(n < 100);
        heap_fail_at(n);
        for (int i = 0; i < 12; i++) {
            struct tape_node nodes[5];
            char text[2] = {(char)('a' + i), '\0'};
            struct store_row row = {.key = str_of(text), .row = make_row(nodes, i, text)};
            int err = top_offer(&top, &query, &row);
            assert_true(err == 0 || err == ERR_NO_MEMORY);
            n_refused += err != 0;
        }
        had_all = heap_ok();
        assert_int_equal(n_refused, !had_all);
        top_sort(&top, &query);
        assert_int_equal(top.n, query.limit + 1);
        for (uint32_t i = 1; i < top.n; i++)
            assert_true(table_query_compare(&query, top.v[i - 1]->values, top.v[i]->values) < 0);
        if (had_all)
            assert_true(str_eq(top.v[0]->key, STR("l")) && str_eq(top.v[4]->key, STR("h")));
        top_clear(&top);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_without_memory_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
