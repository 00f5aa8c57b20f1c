/* tests/unit/test_template.c - RFC 6570: expansion by the RFC's own examples, and matching. */
#include "base/err.h"
#include "base/limits.h"
#include "schema/percent.h"
#include "schema/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define N(a) (sizeof(a) / sizeof *(a))

static int start(void **state)
{
    static struct arena a;
    arena_init(&a, 0);
    *state = &a;
    return 0;
}

static int stop(void **state)
{
    arena_done(*state);
    return 0;
}

/* The variables of RFC 6570, section 3.2. */
static const struct str count_items[] = {STR_INIT("one"), STR_INIT("two"), STR_INIT("three")};
static const struct str dom_items[] = {STR_INIT("example"), STR_INIT("com")};
static const struct str list_items[] = {STR_INIT("red"), STR_INIT("green"), STR_INIT("blue")};
static const struct str key_items[] = {STR_INIT("semi"), STR_INIT(";"),     STR_INIT("dot"),
                                       STR_INIT("."),    STR_INIT("comma"), STR_INIT(",")};
static const struct template_value rfc_values[] = {
    {STR_INIT("count"), TEMPLATE_LIST, count_items, 3},
    {STR_INIT("dom"), TEMPLATE_LIST, dom_items, 2},
    {STR_INIT("list"), TEMPLATE_LIST, list_items, 3},
    {STR_INIT("keys"), TEMPLATE_MAP, key_items, 6},
    {STR_INIT("empty_keys"), TEMPLATE_MAP, key_items, 0},
};
static const char *const rfc_strings[][2] = {
    {"dub", "me/too"},    {"hello", "Hello World!"},
    {"half", "50%"},      {"var", "value"},
    {"who", "fred"},      {"base", "http://example.com/home/"},
    {"path", "/foo/bar"}, {"v", "6"},
    {"x", "1024"},        {"y", "768"},
    {"empty", ""},
};

static const char *const rfc_examples[][2] = {
    /* 3.2.1 */
    {"{count}", "one,two,three"},
    {"{count*}", "one,two,three"},
    {"{/count}", "/one,two,three"},
    {"{/count*}", "/one/two/three"},
    {"{;count}", ";count=one,two,three"},
    {"{;count*}", ";count=one;count=two;count=three"},
    {"{?count}", "?count=one,two,three"},
    {"{?count*}", "?count=one&count=two&count=three"},
    {"{&count*}", "&count=one&count=two&count=three"},
    /* 3.2.2 */
    {"{var}", "value"},
    {"{hello}", "Hello%20World%21"},
    {"{half}", "50%25"},
    {"O{empty}X", "OX"},
    {"O{undef}X", "OX"},
    {"{x,y}", "1024,768"},
    {"{x,hello,y}", "1024,Hello%20World%21,768"},
    {"?{x,empty}", "?1024,"},
    {"?{x,undef}", "?1024"},
    {"?{undef,y}", "?768"},
    {"{var:3}", "val"},
    {"{var:30}", "value"},
    {"{list}", "red,green,blue"},
    {"{list*}", "red,green,blue"},
    {"{keys}", "semi,%3B,dot,.,comma,%2C"},
    {"{keys*}", "semi=%3B,dot=.,comma=%2C"},
    /* 3.2.3 */
    {"{+var}", "value"},
    {"{+hello}", "Hello%20World!"},
    {"{+half}", "50%25"},
    {"{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"},
    {"{+base}index", "http://example.com/home/index"},
    {"O{+empty}X", "OX"},
    {"O{+undef}X", "OX"},
    {"{+path}/here", "/foo/bar/here"},
    {"here?ref={+path}", "here?ref=/foo/bar"},
    {"up{+path}{var}/here", "up/foo/barvalue/here"},
    {"{+x,hello,y}", "1024,Hello%20World!,768"},
    {"{+path,x}/here", "/foo/bar,1024/here"},
    {"{+path:6}/here", "/foo/b/here"},
    {"{+list}", "red,green,blue"},
    {"{+list*}", "red,green,blue"},
    {"{+keys}", "semi,;,dot,.,comma,,"},
    {"{+keys*}", "semi=;,dot=.,comma=,"},
    /* 3.2.4 */
    {"{#var}", "#value"},
    {"{#hello}", "#Hello%20World!"},
    {"{#half}", "#50%25"},
    {"foo{#empty}", "foo#"},
    {"foo{#undef}", "foo"},
    {"{#x,hello,y}", "#1024,Hello%20World!,768"},
    {"{#path,x}/here", "#/foo/bar,1024/here"},
    {"{#path:6}/here", "#/foo/b/here"},
    {"{#list}", "#red,green,blue"},
    {"{#list*}", "#red,green,blue"},
    {"{#keys}", "#semi,;,dot,.,comma,,"},
    {"{#keys*}", "#semi=;,dot=.,comma=,"},
    /* 3.2.5 */
    {"{.who}", ".fred"},
    {"{.who,who}", NULL},
    {"{.half,who}", ".50%25.fred"},
    {"www{.dom*}", "www.example.com"},
    {"X{.var}", "X.value"},
    {"X{.empty}", "X."},
    {"X{.undef}", "X"},
    {"X{.var:3}", "X.val"},
    {"X{.list}", "X.red,green,blue"},
    {"X{.list*}", "X.red.green.blue"},
    {"X{.keys}", "X.semi,%3B,dot,.,comma,%2C"},
    {"X{.keys*}", "X.semi=%3B.dot=..comma=%2C"},
    {"X{.empty_keys}", "X"},
    {"X{.empty_keys*}", "X"},
    /* 3.2.6 */
    {"{/who}", "/fred"},
    {"{/half,who}", "/50%25/fred"},
    {"{/who,dub}", "/fred/me%2Ftoo"},
    {"{/var}", "/value"},
    {"{/var,empty}", "/value/"},
    {"{/var,undef}", "/value"},
    {"{/var,x}/here", "/value/1024/here"},
    {"{/var:1}", "/v"},
    {"{/list}", "/red,green,blue"},
    {"{/list*}", "/red/green/blue"},
    {"{/keys}", "/semi,%3B,dot,.,comma,%2C"},
    {"{/keys*}", "/semi=%3B/dot=./comma=%2C"},
    /* 3.2.7 */
    {"{;who}", ";who=fred"},
    {"{;half}", ";half=50%25"},
    {"{;empty}", ";empty"},
    {"{;v,empty,who}", ";v=6;empty;who=fred"},
    {"{;v,undef,who}", ";v=6;who=fred"},
    {"{;x,y}", ";x=1024;y=768"},
    {"{;x,y,empty}", ";x=1024;y=768;empty"},
    {"{;hello:5}", ";hello=Hello"},
    {"{;list}", ";list=red,green,blue"},
    {"{;list*}", ";list=red;list=green;list=blue"},
    {"{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"},
    {"{;keys*}", ";semi=%3B;dot=.;comma=%2C"},
    /* 3.2.8 and 3.2.9 */
    {"{?who}", "?who=fred"},
    {"{?half}", "?half=50%25"},
    {"{?x,y}", "?x=1024&y=768"},
    {"{?x,y,empty}", "?x=1024&y=768&empty="},
    {"{?x,y,undef}", "?x=1024&y=768"},
    {"{?var:3}", "?var=val"},
    {"{?list}", "?list=red,green,blue"},
    {"{?list*}", "?list=red&list=green&list=blue"},
    {"{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"},
    {"{?keys*}", "?semi=%3B&dot=.&comma=%2C"},
    {"{&who}", "&who=fred"},
    {"{&half}", "&half=50%25"},
    {"?fixed=yes{&x}", "?fixed=yes&x=1024"},
    {"{&x,y,empty}", "&x=1024&y=768&empty="},
    {"{&x,y,undef}", "&x=1024&y=768"},
    {"{&var:3}", "&var=val"},
    {"{&list}", "&list=red,green,blue"},
    {"{&list*}", "&list=red&list=green&list=blue"},
    {"{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"},
    {"{&keys*}", "&semi=%3B&dot=.&comma=%2C"},
};

static uint32_t all_values(struct template_value *out)
{
    static struct str strings[N(rfc_strings)];
    uint32_t n = 0;
    for (size_t i = 0; i < N(rfc_values); i++)
        out[n++] = rfc_values[i];
    for (size_t i = 0; i < N(rfc_strings); i++) {
        strings[i] = str_of(rfc_strings[i][1]);
        out[n++] =
            (struct template_value){str_of(rfc_strings[i][0]), TEMPLATE_STRING, &strings[i], 1};
    }
    return n;
}

static void RFC_6570_examples_expand(void **state)
{
    struct template_value values[32];
    uint32_t n = all_values(values);
    struct buf out = {0};
    for (size_t i = 0; i < N(rfc_examples); i++) {
        const struct template *t;
        struct template_fault fault;
        int err = template_parse(str_of(rfc_examples[i][0]), *state, &t, &fault);
        if (!rfc_examples[i][1]) { /* a variable twice: refused here by decision */
            assert_int_equal(err, ERR_SYNTAX);
            continue;
        }
        assert_int_equal(err, 0);
        buf_clear(&out);
        template_expand(t, values, n, &out);
        if (!str_eq(buf_str(&out), str_of(rfc_examples[i][1])))
            fail_msg("%s gave %.*s", rfc_examples[i][0], (int)out.n, out.p);
    }
    buf_done(&out);
}

static void faults_name_the_place(void **state)
{
    static const struct {
        const char *text;
        uint32_t offset;
    } bad[] = {
        {"{", 1},      {"a{}", 2},    {"{a", 2},     {"a}b", 1},   {"{a b}", 2},
        {"{=x}", 1},   {"{|x}", 1},   {"{a,}", 3},   {"{a:0}", 2}, {"{a:10000}", 7},
        {"{a*:3}", 3}, {"{a}{a}", 4}, {"a b", 1},    {"%zz", 0},   {"{a.}", 2},
        {"{.}", 2},    {"a<b", 1},    {"{a{b}}", 2}, {"x%2", 1},   {"{+a,b,a}", 6},
    };
    for (size_t i = 0; i < N(bad); i++) {
        const struct template *t = NULL;
        struct template_fault fault = {0};
        int err = template_parse(str_of(bad[i].text), *state, &t, &fault);
        if (err != ERR_SYNTAX || fault.offset != bad[i].offset || !fault.what)
            fail_msg("%s: %s at %u", bad[i].text, err_name(err), fault.offset);
        assert_null(t);
    }
    const struct template *t;
    assert_int_equal(template_parse((struct str){"a\0b", 3}, *state, &t, NULL), ERR_SYNTAX);
}

static void limits_hold(void **state)
{
    static char text[TEMPLATE_BYTES_MAX + 2];
    const struct template *t;
    memset(text, 'a', sizeof text - 1);
    assert_int_equal(template_parse((struct str){text, TEMPLATE_BYTES_MAX + 1}, *state, &t, NULL),
                     ERR_LIMIT);
    assert_int_equal(template_parse((struct str){text, TEMPLATE_BYTES_MAX}, *state, &t, NULL), 0);
    char *at = text;
    for (int i = 0; i <= TEMPLATE_PARTS_MAX; i++)
        at += sprintf(at, "{v%d}", i);
    assert_int_equal(template_parse(str_of(text), *state, &t, NULL), ERR_LIMIT);
    static char uri[URI_BYTES_MAX + 1];
    const struct template_value *v;
    memset(uri, 'a', sizeof uri);
    assert_int_equal(template_parse(STR("{+a}{+b}{+c}"), *state, &t, NULL), 0);
    assert_int_equal(template_match(t, (struct str){uri, sizeof uri}, TEMPLATE_SAFE, *state, &v),
                     ERR_LIMIT);
    assert_int_equal(
        template_match(t, (struct str){uri, sizeof uri - 1}, TEMPLATE_SAFE, *state, &v), 0);
    assert_int_equal(template_parse(STR("{/a*}"), *state, &t, NULL), 0);
    memset(uri, '/', sizeof uri);
    assert_int_equal(
        template_match(t, (struct str){uri, sizeof uri - 1}, TEMPLATE_SAFE, *state, &v), 0);
    assert_int_equal(v[0].n_items, URI_BYTES_MAX);
}

/* template, uri, then "name=value|name=value" (lists with +), or NULL: no match */
static const char *const matches[][3] = {
    {"db://{database}/{table}/{id}", "db://geo/countries/FR", "database=geo|table=countries|id=FR"},
    {"db://{database}/{table}", "db://geo/countries/FR", NULL},
    {"db://{database}/{table}/{id}", "db://geo/countries", NULL},
    {"db://{database}/{table}/{id}", "db://geo/countries/", NULL},
    {"db://{database}/{table}/{id}", "db://geo//FR", NULL},
    {"db://{database}/{table}/{id}", "DB://geo/countries/FR", NULL},
    {"t://{id}/data", "t://123/data", "id=123"},
    {"t://{id}/data", "t://1/2/data", NULL},
    {"t://{+id}/data", "t://1/2/data", "id=1/2"},
    {"t://{+id}/data", "t://data/data/data", "id=data/data"},
    {"{a}-{b}", "x-y-z", "a=x-y|b=z"},
    {"{+a}{+b}", "xyz", "a=xy|b=z"},
    {"{x,y}", "1,2", "x=1|y=2"},
    {"{x,y}", "1,2,3", NULL},
    {"{x}", "1,2", "x=1,2"},
    {"{x*}", "1,2", "x=1+2"},
    {"u{?a,b}", "u", ""},
    {"u{?a,b}", "u?a=1", "a=1"},
    {"u{?a,b}", "u?b=2&a=1", "a=1|b=2"},
    {"u{?a,b}", "u?c=2", NULL},
    {"u{?a,b}", "u?a=1&a=2", NULL},
    {"u{?a*}", "u?a=1&a=2", "a=1+2"},
    {"u{?a}", "u?a=/x?y", "a=/x?y"},
    {"u?f=1{&a}", "u?f=1&a=2", "a=2"},
    {"u{/a,b}", "u/1/2", "a=1|b=2"},
    {"u{/a,b}", "u/1", "a=1"},
    {"u{/a}", "u/1/2", NULL},
    {"u{/a*}/end", "u/1/2/end", "a=1+2"},
    {"u{.a}", "u.tar.gz", "a=tar.gz"},
    {"u{;a,b}", "u;b;a=1", "a=1|b="},
    {"u{#a}", "u#x/y?z", "a=x/y?z"},
    {"{a:3}", "abc", "a=abc"},
    {"{a:3}", "abcd", NULL},
    {"{a}", "caf%C3%A9", "a=caf\xc3\xa9"},
    {"{a}", "x%zz%", "a=x%zz%"},
    {"caf\xc3\xa9/{a}", "caf%C3%A9/x", "a=x"},
    {"{a}", "", NULL},
    {"", "", ""},
    {"x", "y", NULL},
};

static void match_is_the_reverse_of_expansion(void **state)
{
    struct buf got = {0};
    for (size_t i = 0; i < N(matches); i++) {
        const struct template *t;
        const struct template_value *v = NULL;
        assert_int_equal(template_parse(str_of(matches[i][0]), *state, &t, NULL), 0);
        int err = template_match(t, str_of(matches[i][1]), TEMPLATE_SAFE, *state, &v);
        assert_int_equal(err, matches[i][2] ? 0 : ERR_ABSENT);
        buf_clear(&got);
        for (uint32_t k = 0; err == 0 && k < template_n_names(t); k++) {
            assert_true(str_eq(v[k].name, template_name(t, k)));
            for (uint32_t item = 0; item < v[k].n_items; item++) {
                if (item)
                    buf_add_char(&got, '+');
                else
                    buf_printf(&got, "%s" STR_FMT "=", got.n ? "|" : "", STR_ARG(v[k].name));
                buf_add_str(&got, v[k].items[item]);
            }
        }
        if (err == 0 && !str_eq(buf_str(&got), str_of(matches[i][2])))
            fail_msg("%s on %s gave %.*s", matches[i][0], matches[i][1], (int)got.n, got.p);
    }
    buf_done(&got);
}

static void encoded_separators_stay_out_of_a_segment(void **state)
{
    static const char *const uris[] = {"t://a%2Fb", "t://a%2fb", "t://%5C", "t://..%5c"};
    const struct template *one, *crossing;
    const struct template_value *v;
    assert_int_equal(template_parse(STR("t://{x}"), *state, &one, NULL), 0);
    assert_int_equal(template_parse(STR("t://{+x}"), *state, &crossing, NULL), 0);
    for (size_t i = 0; i < N(uris); i++) {
        struct str uri = str_of(uris[i]);
        assert_int_equal(template_match(one, uri, TEMPLATE_SAFE, *state, &v), ERR_ABSENT);
        assert_int_equal(template_match(one, uri, TEMPLATE_EXACT, *state, &v), 0);
        assert_int_equal(template_match(crossing, uri, TEMPLATE_SAFE, *state, &v), 0);
    }
    /* decoded once, not twice */
    assert_int_equal(template_match(one, STR("t://%252F"), TEMPLATE_SAFE, *state, &v), 0);
    assert_true(str_eq(v[0].items[0], STR("%2F")));
}

/* Expanding what was matched gives the URI back, for what is in canonical form. */
static void round_trip(void **state)
{
    static const char *const pairs[][2] = {
        {"db://{d}/{t}/{id}", "db://geo/t/a%2Fb%20c"},
        {"x{/a,b}{?c,d}", "x/1/2?c=3&d=4"},
        {"{+p}/z{#f}", "a/b/z#q"},
        {"s{;a}{.b}", "s;a=1.x"},
    };
    struct buf out = {0};
    for (size_t i = 0; i < N(pairs); i++) {
        const struct template *t;
        const struct template_value *v;
        assert_int_equal(template_parse(str_of(pairs[i][0]), *state, &t, NULL), 0);
        int err = template_match(t, str_of(pairs[i][1]), TEMPLATE_EXACT, *state, &v);
        assert_int_equal(err, 0);
        buf_clear(&out);
        template_expand(t, v, template_n_names(t), &out);
        assert_true(str_eq(buf_str(&out), str_of(pairs[i][1])));
    }
    buf_done(&out);
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    int err = ERR_NO_MEMORY;
    for (size_t limit = 1; err == ERR_NO_MEMORY; limit += 64) {
        struct arena a;
        const struct template *t;
        const struct template_value *v;
        arena_init(&a, limit);
        err = template_parse(STR("u{/a*}{?b,c}"), &a, &t, NULL);
        if (err == 0)
            err = template_match(t, STR("u/1/2/3?b=4&c=5"), TEMPLATE_SAFE, &a, &v);
        arena_done(&a);
    }
    assert_int_equal(err, 0);
}

static void percent_codec(void **state)
{
    struct buf out = {0};
    percent_encode(&out, STR("a/b %41~\xc3\xa9"), PERCENT_UNRESERVED);
    assert_true(str_eq(buf_str(&out), STR("a%2Fb%20%2541~%C3%A9")));
    struct str back;
    assert_int_equal(percent_decode(buf_str(&out), *state, &back), 0);
    assert_true(str_eq(back, STR("a/b %41~\xc3\xa9")));
    static const char *const broken[] = {"%", "%4", "a%4g", "%%41"};
    for (size_t i = 0; i < N(broken); i++)
        assert_int_equal(percent_decode(str_of(broken[i]), *state, &back), ERR_SYNTAX);
    buf_done(&out);
}

static void RS_06_only_uris_are_uris(void **state)
{
    (void)state;
    static const char *const good[] = {"db://geo/t", "x:none", "urn:a:b",
                                       "file:///../../etc/passwd", "a+b-c.1:%2e%2e"};
    static const char *const bad[] = {"",           "not a uri", "noscheme",      ":x",
                                      "1a:x",       "db://a b",  "db://\xc3\xa9", "db://%zz",
                                      "db://a\x01", "db:\"x\""};
    for (size_t i = 0; i < N(good); i++)
        assert_true(percent_is_uri(str_of(good[i])));
    for (size_t i = 0; i < N(bad); i++)
        assert_false(percent_is_uri(str_of(bad[i])));
    assert_false(percent_is_uri((struct str){"db://a\0b", 8}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(RFC_6570_examples_expand, start, stop),
        cmocka_unit_test_setup_teardown(faults_name_the_place, start, stop),
        cmocka_unit_test_setup_teardown(limits_hold, start, stop),
        cmocka_unit_test_setup_teardown(match_is_the_reverse_of_expansion, start, stop),
        cmocka_unit_test_setup_teardown(encoded_separators_stay_out_of_a_segment, start, stop),
        cmocka_unit_test_setup_teardown(round_trip, start, stop),
        cmocka_unit_test(every_failing_allocation_is_reported),
        cmocka_unit_test_setup_teardown(percent_codec, start, stop),
        cmocka_unit_test(RS_06_only_uris_are_uris),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
