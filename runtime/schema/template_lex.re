/* schema/template_lex.re - tokens of a URI template (RFC 6570, section 2).
 *
 * Two small scanners: text outside braces, and names, operators and modifiers inside. The text ends
 * with a NUL byte, which belongs to no class, so a NUL of the text itself is refused by position.
 */
#include "schema/template_parts.h"
#include "runtime/schema/template_grammar.h"

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:yyfill:enable = 0;
    re2c:eof = -1;

    letter      = [A-Za-z];
    digit       = [0-9];
    hex         = [0-9A-Fa-f];
    escape      = "%" hex hex;
    // 2.1: no controls, blanks, double quote, < > \ ^ ` { | } and no bare percent sign
    literal     = ([\x21\x23\x24\x26-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e] | [\x80-\xff] | escape)+;
    name_char   = letter | digit | "_" | escape;
    name        = name_char ("."? name_char)*;
    operator    = [+#./;?&];
    prefix      = ":" [1-9] digit{0,3};
*/

static int lex_outside(struct template_lexer *lexer)
{
    const unsigned char *YYCURSOR = (const unsigned char *)lexer->at;
    const unsigned char *YYMARKER = YYCURSOR;
    int token = -1;
    /*!re2c
        literal { token = TEMPLATE_TOKEN_LITERAL; goto done; }
        "{"     { token = TEMPLATE_TOKEN_OPEN; lexer->inside = true; goto done; }
        *       { goto done; }
    */
done:
    lexer->at = (const char *)YYCURSOR;
    return token;
}

static int lex_inside(struct template_lexer *lexer)
{
    const unsigned char *YYCURSOR = (const unsigned char *)lexer->at;
    const unsigned char *YYMARKER = YYCURSOR;
    int token = -1;
    /*!re2c
        name     { token = TEMPLATE_TOKEN_NAME; goto done; }
        operator { token = TEMPLATE_TOKEN_OPERATOR; goto done; }
        prefix   { token = TEMPLATE_TOKEN_PREFIX; goto done; }
        ","      { token = TEMPLATE_TOKEN_COMMA; goto done; }
        "*"      { token = TEMPLATE_TOKEN_EXPLODE; goto done; }
        "}"      { token = TEMPLATE_TOKEN_CLOSE; lexer->inside = false; goto done; }
        *        { goto done; }
    */
done:
    lexer->at = (const char *)YYCURSOR;
    return token;
}

int template_lex(struct template_lexer *lexer, struct template_token *ret)
{
    const char *start = lexer->at;
    ret->offset = (uint32_t)(start - lexer->start);
    ret->text = (struct str){start, 0};
    if (start == lexer->end)
        return 0;
    int token = lexer->inside ? lex_inside(lexer) : lex_outside(lexer);
    ret->text.n = (uint32_t)(lexer->at - start);
    return token;
}
