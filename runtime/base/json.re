/* base/json.re - the lexer of the cold JSON reader (RFC 8259).
 *
 * UTF-8 ranges, escapes and surrogate pairs are part of the automaton, so a string token that
 * comes out is valid and only needs decoding. A string is read by a block of its own, piece by
 * piece, so that a fault in it is reported at its own byte and by its own name.
 */
#include "base/json_parse.h"

#include "base/err.h"
#include "runtime/base/json.h"

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = parse->at;
    re2c:define:YYMARKER = parse->marker;
    re2c:define:YYLIMIT = parse->end;
    re2c:yyfill:enable = 0;
    re2c:eof = 0;

    blank = [ \t\n\r];
    digits = [0-9]+;
    number = "-"? ("0" | [1-9] [0-9]*) ("." digits)? ([eE] [+-]? digits)?;
    word = [A-Za-z_] [A-Za-z_0-9]*;

    tail = [\x80-\xbf];
    utf8_2 = [\xc2-\xdf] tail;
    utf8_3 = "\xe0" [\xa0-\xbf] tail | [\xe1-\xec\xee\xef] tail{2} | "\xed" [\x80-\x9f] tail;
    utf8_4 = "\xf0" [\x90-\xbf] tail{2} | [\xf1-\xf3] tail{3} | "\xf4" [\x80-\x8f] tail{2};
    ascii = [\x20-\x7f] \ ["\\];
    plain = ascii | utf8_2 | utf8_3 | utf8_4;

    hex = [0-9a-fA-F];
    high = "\\u" [dD] [89abAB] hex{2};
    low = "\\u" [dD] [c-fC-F] hex{2};
    basic = "\\u" (hex \ [dD]) hex{3} | "\\u" [dD] [0-7] hex{2};
    short = "\\" ["\\/bfnrt];
    escape = short | basic | high low;
    control = [\x00-\x1f];
*/

static int broken(struct json_parse *parse, const char *at, const char *what)
{
    json_fail(parse, ERR_PARSE, at, "%s", what);
    return -1;
}

static int string(struct json_parse *parse)
{
    parse->escaped = false;
    for (;;) {
        const char *piece = parse->at;
        /*!re2c
            plain+   { continue; }
            escape   { parse->escaped = true; continue; }
            "\""     { return JSON_T_STRING; }
            $        { return broken(parse, piece, "expected '\"' at the end of the string, found the end of the text"); }
            control  { return broken(parse, piece, "expected an escape, found a control character in a string"); }
            high|low { return broken(parse, piece, "expected a surrogate pair, found half of one"); }
            "\\"     { return broken(parse, piece, "expected one of \" \\ / b f n r t uXXXX behind the backslash"); }
            *        { return broken(parse, piece, "expected UTF-8, found other bytes in a string"); }
        */
    }
}

int json_lex(struct json_parse *parse)
{
    for (;;) {
        parse->token = parse->at;
        /*!re2c
            blank+  { continue; }
            "{"     { return JSON_T_LBRACE; }
            "}"     { return JSON_T_RBRACE; }
            "["     { return JSON_T_LBRACKET; }
            "]"     { return JSON_T_RBRACKET; }
            ","     { return JSON_T_COMMA; }
            ":"     { return JSON_T_COLON; }
            "null"  { return JSON_T_NULL; }
            "true"  { return JSON_T_TRUE; }
            "false" { return JSON_T_FALSE; }
            number  { return JSON_T_NUMBER; }
            "\""    { return string(parse); }
            word    { return JSON_T_BAD; }
            $       { return 0; }
            *       { return JSON_T_BAD; }
        */
    }
}
