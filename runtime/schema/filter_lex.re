/* schema/filter_lex.re - tokens of the filter language.
 *
 * `date` and its like are words of the language only before a quote, so an attribute may be called
 * date. A quoted thing that does not end, a number that JSON does not know and bytes that are not
 * UTF-8 are told by what was expected.
 */
#include "schema/filter_parts.h"
#include "runtime/schema/filter_grammar.h"

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYLIMIT = limit;
    re2c:yyfill:enable = 0;
    re2c:eof = 0;

    blank   = [ \t\r\n];
    tail    = [\x80-\xbf];
    utf8    = [\xc2-\xdf] tail
            | "\xe0" [\xa0-\xbf] tail | [\xe1-\xec\xee\xef] tail{2} | "\xed" [\x80-\x9f] tail
            | "\xf0" [\x90-\xbf] tail{2} | [\xf1-\xf3] tail{3} | "\xf4" [\x80-\x8f] tail{2};
    letter  = [A-Za-z_] | utf8;
    digit   = [0-9];
    name    = letter (letter | digit)*;
    number  = "-"? ("0" | [1-9] digit*) ("." digit+)? ([eE] [+-]? digit+)?;
    // what a person may have meant as a number, so that it is one token
    near    = [+-]? "."? digit (letter | digit | "." | [eE] [+-])*;
    ascii   = [\x01-\x7f];
    text    = "'" ((ascii \ "'") | utf8 | "''")* "'";
    quoted  = "\"" ((ascii \ "\"") | utf8 | "\"\"")+ "\"";
*/

static int bad(struct filter_build *b, const char *expected)
{
    b->bad = expected;
    return -1;
}

static const struct {
    struct str word;
    int token;
} keywords[] = {
    {STR_INIT("and"), FILTER_TOKEN_AND},         {STR_INIT("or"), FILTER_TOKEN_OR},
    {STR_INIT("not"), FILTER_TOKEN_NOT},         {STR_INIT("in"), FILTER_TOKEN_IN},
    {STR_INIT("between"), FILTER_TOKEN_BETWEEN}, {STR_INIT("like"), FILTER_TOKEN_LIKE},
    {STR_INIT("is"), FILTER_TOKEN_IS},           {STR_INIT("null"), FILTER_TOKEN_NULL},
    {STR_INIT("true"), FILTER_TOKEN_TRUE},       {STR_INIT("false"), FILTER_TOKEN_FALSE},
};

static int word(struct str name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (str_eq_nocase(name, keywords[i].word))
            return keywords[i].token;
    return FILTER_TOKEN_NAME;
}

bool filter_is_keyword(struct str name)
{
    return word(name) != FILTER_TOKEN_NAME;
}

bool filter_is_plain_name(struct str name)
{
    for (uint32_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        bool letter = c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z') || c >= 0x80;
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return name.n && !filter_is_keyword(name);
}

static int scan(struct filter_build *b, const char **ret_start)
{
    const unsigned char *YYCURSOR = (const unsigned char *)b->at, *YYMARKER, *start;
    const unsigned char *limit = (const unsigned char *)b->end;
    int token;
again:
    start = YYCURSOR;
    /*!re2c
        blank+  { goto again; }
        $       { token = 0; goto done; }
        "="     { token = FILTER_TOKEN_EQ; goto done; }
        "!=" | "<>" { token = FILTER_TOKEN_NE; goto done; }
        "<"     { token = FILTER_TOKEN_LT; goto done; }
        "<="    { token = FILTER_TOKEN_LE; goto done; }
        ">"     { token = FILTER_TOKEN_GT; goto done; }
        ">="    { token = FILTER_TOKEN_GE; goto done; }
        "("     { token = FILTER_TOKEN_LPAREN; goto done; }
        ")"     { token = FILTER_TOKEN_RPAREN; goto done; }
        ","     { token = FILTER_TOKEN_COMMA; goto done; }
        "."     { token = FILTER_TOKEN_DOT; goto done; }
        number  { token = FILTER_TOKEN_NUMBER; goto done; }
        near    { token = bad(b, "a number as in JSON"); goto done; }
        text    { token = FILTER_TOKEN_STRING; goto done; }
        quoted  { token = FILTER_TOKEN_QUOTED; goto done; }
        'date' blank* text { token = FILTER_TOKEN_DATE; goto done; }
        ('datetime' | 'timestamp') blank* text { token = FILTER_TOKEN_DATETIME; goto done; }
        name    { token = FILTER_TOKEN_NAME; goto done; }
        "'"     { token = bad(b, "a string that ends with '"); goto done; }
        "\"\""  { token = bad(b, "a name between the quotes"); goto done; }
        "\""    { token = bad(b, "a name that ends with \""); goto done; }
        ascii   { token = bad(b, "an attribute, a value or an operator"); goto done; }
        *       { token = bad(b, "text in UTF-8 without NUL"); goto done; }
    */
done:
    b->at = (const char *)YYCURSOR;
    *ret_start = (const char *)start;
    return token;
}

int filter_lex(struct filter_build *b, struct filter_token *ret)
{
    const char *start;
    int token = scan(b, &start);
    struct str text = {start, (uint32_t)(b->at - start)};
    if (token == FILTER_TOKEN_NAME && !b->after_dot)
        token = word(text);
    b->after_dot = token == FILTER_TOKEN_DOT;
    *ret = (struct filter_token){text, (uint32_t)(start - b->start), token};
    b->newest = *ret;
    return token;
}
