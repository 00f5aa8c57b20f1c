/* base/json.y - the grammar of JSON (RFC 8259), building the tree of json_tree.h.
 *
 * The lexer hands in a node for each scalar and each opening bracket; a container that is still
 * open is its own node, to which values are appended. The stack holds at most four symbols per
 * open container, so it is bound by JSON_DEPTH_MAX and needs no heap.
 */
%name JsonParse
%token_prefix JSON_T_
%token_type {struct json *}
%default_type {struct json *}
%extra_context {struct json_parse *parse}
%stack_size {(JSON_DEPTH_MAX * 4 + 8)}
%token LBRACE LBRACKET STRING NUMBER TRUE FALSE NULL COMMA COLON RBRACE RBRACKET BAD.

%include {
#include "base/json_parse.h"

#include "base/err.h"
#include "base/limits.h"

#include <assert.h>

#define JsonParse_ENGINEALWAYSONSTACK 1
}

text ::= value(V). { parse->root = V; }

value ::= NULL.
value ::= TRUE.
value ::= FALSE.
value ::= NUMBER.
value ::= STRING.
value ::= array.
value ::= object.

array(A) ::= LBRACKET(A) RBRACKET.
array(A) ::= open_array(A) RBRACKET.
open_array(A) ::= LBRACKET(A) value(V). { json_append(A, V); }
open_array(A) ::= open_array(A) COMMA value(V). { json_append(A, V); }

object(A) ::= LBRACE(A) RBRACE.
object(A) ::= open_object(A) RBRACE.
open_object(A) ::= LBRACE(A) member(M). { json_append(A, M); }
open_object(A) ::= open_object(A) COMMA member(M). { json_append(A, M); }

member(A) ::= STRING(K) COLON value(V). { A = V; json_set_key(A, K); }

%stack_overflow {
    json_fail(parse, ERR_LIMIT, parse->token, "nested too deep");
}

%syntax_error {
    bool accepts[YYNTOKEN];
    for (int i = 0; i < YYNTOKEN; i++)
        accepts[i] = yy_find_shift_action((YYCODETYPE)i, yypParser->yytos->stateno) != YY_ERROR_ACTION;
    json_fail_syntax(parse, yymajor, accepts, YYNTOKEN);
}

%code {
void json_parse_run(struct json_parse *parse)
{
    yyParser parser;
    struct json *node = NULL;
    int token;
    JsonParseInit(&parser, parse);
    do {
        token = json_next_token(parse, &node);
        if (token >= 0)
            JsonParse(&parser, token, node);
    } while (token > 0 && !parse->err);
    JsonParseFinalize(&parser);
}
}
