/* codegen/overlay.re - the lexer of spec/overlay.mcp.
 *
 * Words are names of definitions, members, methods and revisions, with "*" as a wildcard; keywords
 * are the same everywhere, and a word that looks like one is written in quotes.
 */
#include "codegen/overlay_parse.h"

#include "overlay.h"

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = parse->at;
    re2c:define:YYMARKER = parse->marker;
    re2c:yyfill:enable = 0;

    blank = [ \t\r]+;
    comment = "#" [^\n\x00]*;
    word = [A-Za-z0-9_$*] [A-Za-z0-9_$*./-]*;
    quoted = "\"" [^"\n\x00]* "\"";
*/

static int give(struct overlay_token *ret, const struct overlay_parse *parse, const char *start,
                int token)
{
    ret->text = (struct str){start, (uint32_t)(parse->at - start)};
    ret->line = parse->line;
    return token;
}

static int give_quoted(struct overlay_token *ret, const struct overlay_parse *parse,
                       const char *start)
{
    ret->text = (struct str){start + 1, (uint32_t)(parse->at - start) - 2};
    ret->line = parse->line;
    return OVERLAY_T_STRING;
}

int overlay_lex(struct overlay_parse *parse, struct overlay_token *ret)
{
    for (;;) {
        const char *start = parse->at;
        /*!re2c
            blank|comment { continue; }
            "\n"          { parse->line++; continue; }
            "\x00"        { return start == parse->end ? give(ret, parse, start, 0) : -1; }
            "{"           { return give(ret, parse, start, OVERLAY_T_LBRACE); }
            "}"           { return give(ret, parse, start, OVERLAY_T_RBRACE); }
            ";"           { return give(ret, parse, start, OVERLAY_T_SEMICOLON); }
            "="           { return give(ret, parse, start, OVERLAY_T_EQUALS); }
            "revision"    { return give(ret, parse, start, OVERLAY_T_REVISION); }
            "omit"        { return give(ret, parse, start, OVERLAY_T_OMIT); }
            "because"     { return give(ret, parse, start, OVERLAY_T_BECAUSE); }
            "rename"      { return give(ret, parse, start, OVERLAY_T_RENAME); }
            "to"          { return give(ret, parse, start, OVERLAY_T_TO); }
            "name"        { return give(ret, parse, start, OVERLAY_T_NAME); }
            "add"         { return give(ret, parse, start, OVERLAY_T_ADD); }
            "struct"      { return give(ret, parse, start, OVERLAY_T_STRUCT); }
            "holds"       { return give(ret, parse, start, OVERLAY_T_HOLDS); }
            "raw"         { return give(ret, parse, start, OVERLAY_T_RAW); }
            "open"        { return give(ret, parse, start, OVERLAY_T_OPEN); }
            "number"      { return give(ret, parse, start, OVERLAY_T_NUMBER); }
            "any"         { return give(ret, parse, start, OVERLAY_T_ANY); }
            "token"       { return give(ret, parse, start, OVERLAY_T_TOKEN); }
            "many"        { return give(ret, parse, start, OVERLAY_T_MANY); }
            "order"       { return give(ret, parse, start, OVERLAY_T_ORDER); }
            "union"       { return give(ret, parse, start, OVERLAY_T_UNION); }
            "when"        { return give(ret, parse, start, OVERLAY_T_WHEN); }
            "and"         { return give(ret, parse, start, OVERLAY_T_AND); }
            "has"         { return give(ret, parse, start, OVERLAY_T_HAS); }
            "lacks"       { return give(ret, parse, start, OVERLAY_T_LACKS); }
            "otherwise"   { return give(ret, parse, start, OVERLAY_T_OTHERWISE); }
            "factor"      { return give(ret, parse, start, OVERLAY_T_FACTOR); }
            "by"          { return give(ret, parse, start, OVERLAY_T_BY); }
            "in"          { return give(ret, parse, start, OVERLAY_T_IN); }
            "until"       { return give(ret, parse, start, OVERLAY_T_UNTIL); }
            "since"       { return give(ret, parse, start, OVERLAY_T_SINCE); }
            "method"      { return give(ret, parse, start, OVERLAY_T_METHOD); }
            "from"        { return give(ret, parse, start, OVERLAY_T_FROM); }
            "client"      { return give(ret, parse, start, OVERLAY_T_CLIENT); }
            "server"      { return give(ret, parse, start, OVERLAY_T_SERVER); }
            "both"        { return give(ret, parse, start, OVERLAY_T_BOTH); }
            "result"      { return give(ret, parse, start, OVERLAY_T_RESULT); }
            "gate"        { return give(ret, parse, start, OVERLAY_T_GATE); }
            "flags"       { return give(ret, parse, start, OVERLAY_T_FLAGS); }
            "handler"     { return give(ret, parse, start, OVERLAY_T_HANDLER); }
            "none"        { return give(ret, parse, start, OVERLAY_T_NONE); }
            "ignored"     { return give(ret, parse, start, OVERLAY_T_IGNORED); }
            word          { return give(ret, parse, start, OVERLAY_T_WORD); }
            quoted        { return give_quoted(ret, parse, start); }
            *             { return give(ret, parse, start, -1); }
        */
    }
}
