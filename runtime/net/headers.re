/* net/headers.re - see headers.h.
 *
 * Every lexer runs to the zero byte behind the value; a zero byte inside a value matches no rule
 * and makes the value bad, since the end is compared.
 */
#include "net/headers.h"

#include "base/err.h"

/*!re2c
    re2c:yyfill:enable = 0;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = "at";
    re2c:define:YYMARKER = "marker";

    end     = [\x00];
    blank   = [ \t];
    blanks  = blank*;
    tchar   = [!#$%&'*+.^_`|~0-9A-Za-z-];
    token   = tchar+;
    quoted  = ["] ([^"\\\x00] | "\\" [^\x00])* ["];
    digit   = [0-9];
    octet   = digit{1,3};
    quad    = octet "." octet "." octet "." octet;
    name    = [0-9A-Za-z._~%-]+;
    bracket = "[" [0-9A-Fa-f:.]+ "]";
    port    = ":" digit{0,5};
    scheme  = [A-Za-z] [0-9A-Za-z+.-]*;
    zero_q  = 'q=0' ("." "0"*)?;
*/

enum range { RANGE_OTHER, RANGE_ANY, RANGE_APPLICATION, RANGE_TEXT, RANGE_JSON, RANGE_SSE };

/* How exactly each range names the type: 0 not at all. */
static const uint8_t names_json[] = {
    [RANGE_ANY] = 1, [RANGE_APPLICATION] = 2, [RANGE_JSON] = 3, [RANGE_SSE] = 0};
static const uint8_t names_sse[] = {
    [RANGE_ANY] = 1, [RANGE_TEXT] = 2, [RANGE_JSON] = 0, [RANGE_SSE] = 3};

struct choice {
    uint8_t exactness;
    bool wanted;
};

static void choose(struct choice *choice, uint8_t exactness, bool wanted)
{
    if (exactness && exactness >= choice->exactness)
        *choice = (struct choice){exactness, wanted};
}

struct header_accept header_accept(struct str value)
{
    if (!str_trim(value).n)
        return (struct header_accept){true, true};
    const unsigned char *at = (const unsigned char *)value.p, *marker;
    struct choice json = {0}, sse = {0};
    enum range range = RANGE_OTHER;
    bool wanted = true;
    for (;;) {
        bool last = false;
        /*!re2c
            'application/json'  { range = RANGE_JSON; continue; }
            'text/event-stream' { range = RANGE_SSE; continue; }
            'application/*'     { range = RANGE_APPLICATION; continue; }
            'text/*'            { range = RANGE_TEXT; continue; }
            "*" "/" "*"         { range = RANGE_ANY; continue; }
            token "/" token     { range = RANGE_OTHER; continue; }
            ";" blanks zero_q / [ \t;,\x00]           { wanted = false; continue; }
            ";" blanks token "=" (token | quoted)     { continue; }
            ","                 { goto item; }
            end                 { last = true; goto item; }
            *                   { continue; }
        */
    item:
        choose(&json, names_json[range], wanted);
        choose(&sse, names_sse[range], wanted);
        if (last)
            return (struct header_accept){json.wanted, sse.wanted};
        range = RANGE_OTHER;
        wanted = true;
    }
}

bool header_is_json(struct str value)
{
    if (!value.p)
        return false;
    const unsigned char *at = (const unsigned char *)value.p, *marker;
    /*!re2c
        blanks 'application/json' blanks / [;\x00] { return true; }
        *                                          { return false; }
    */
}

int header_host(struct str value, struct str *ret_name)
{
    if (!value.p)
        return ERR_SYNTAX;
    const unsigned char *at = (const unsigned char *)value.p, *marker, *name_end;
    /*!re2c
        name | bracket { goto port; }
        *              { return ERR_SYNTAX; }
    */
port:
    name_end = at;
    /*!re2c
        port? blanks end { goto found; }
        *                { return ERR_SYNTAX; }
    */
found:
    if ((const char *)at - 1 != value.p + value.n)
        return ERR_SYNTAX;
    *ret_name = (struct str){value.p, (uint32_t)((const char *)name_end - value.p)};
    return 0;
}

int header_origin(struct str value, struct str *ret_name)
{
    if (!value.p)
        return ERR_SYNTAX;
    const unsigned char *at = (const unsigned char *)value.p, *marker;
    /*!re2c
        scheme "://" { goto authority; }
        *            { return ERR_SYNTAX; }
    */
authority:;
    uint32_t skip = (uint32_t)((const char *)at - value.p);
    return header_host((struct str){value.p + skip, value.n - skip}, ret_name);
}

/* `name` is a part of a value, so it has no zero byte behind it. */
static bool is_whole(const unsigned char *at, struct str name)
{
    return (const char *)at == name.p + name.n;
}

bool header_is_loopback(struct str name)
{
    const unsigned char *at = (const unsigned char *)name.p, *marker;
    /*!re2c
        'localhost' | "127." octet "." octet "." octet | "[::1]" { return is_whole(at, name); }
        *                                                        { return false; }
    */
}

bool header_is_address(struct str name)
{
    const unsigned char *at = (const unsigned char *)name.p, *marker;
    /*!re2c
        quad | bracket { return is_whole(at, name); }
        *              { return false; }
    */
}

enum header_scheme header_bearer(struct str value, struct str *ret_token)
{
    if (!value.p)
        return HEADER_BAD_SCHEME;
    const unsigned char *at = (const unsigned char *)value.p, *marker, *start;
    /*!re2c
        'bearer' " "+        { goto token; }
        'bearer' / [ \t\x00] { return HEADER_BAD_SCHEME; }
        token / [ \x00]      { return HEADER_OTHER_SCHEME; }
        *                    { return HEADER_BAD_SCHEME; }
    */
token:
    start = at;
    /*!re2c
        [0-9A-Za-z._~+/-]+ "="* / end { goto found; }
        *                             { return HEADER_BAD_SCHEME; }
    */
found:
    if ((const char *)at != value.p + value.n)
        return HEADER_BAD_SCHEME;
    *ret_token = (struct str){(const char *)start, (uint32_t)(at - start)};
    return HEADER_BEARER;
}

bool header_is_visible(struct str value)
{
    for (uint32_t i = 0; i < value.n; i++)
        if (value.p[i] < 0x21 || value.p[i] > 0x7e)
            return false;
    return value.n > 0;
}

int header_content_length(struct str value, uint64_t *ret)
{
    if (!value.p)
        return ERR_SYNTAX;
    const unsigned char *at = (const unsigned char *)value.p, *marker;
    /*!re2c
        digit+ end { goto digits; }
        *          { return ERR_SYNTAX; }
    */
digits:
    if ((const char *)at - 1 != value.p + value.n)
        return ERR_SYNTAX;
    if (str_to_u64(value, ret) < 0)
        *ret = UINT64_MAX;
    return 0;
}

bool header_has_token(struct str value, struct str token)
{
    while (value.p)
        if (str_eq_nocase(str_trim(str_cut(&value, ',')), token))
            return true;
    return false;
}
