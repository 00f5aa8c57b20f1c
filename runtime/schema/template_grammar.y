/* schema/template_grammar.y - the grammar of a URI template (RFC 6570, section 2). */
%include {
#include "schema/template_parts.h"

#include "base/err.h"

#include <assert.h>
}
%name template_grammar
%token_prefix TEMPLATE_TOKEN_
%token_type { struct template_token }
%extra_argument { struct template_build *build }
%default_type { struct template_token }
%type prefix { uint32_t }

%syntax_error {
    template_fail(build, ERR_SYNTAX, TOKEN.offset, "unexpected here");
}
%stack_overflow {
    template_fail(build, ERR_LIMIT, 0, "too deeply nested");
}

template ::= parts.
parts ::= .
parts ::= parts LITERAL(T).                  { template_add_literal(build, T); }
parts ::= parts expression variables CLOSE.
expression ::= OPEN(T).                      { T.text = STR(" "); template_open_expression(build, T); }
expression ::= OPEN OPERATOR(T).             { template_open_expression(build, T); }
variables ::= variable.
variables ::= variables COMMA variable.
variable ::= NAME(T).                        { template_add_variable(build, T, 0, false); }
variable ::= NAME(T) EXPLODE.                { template_add_variable(build, T, 0, true); }
variable ::= NAME(T) prefix(P).              { template_add_variable(build, T, P, false); }
prefix(P) ::= PREFIX(T).                     { P = template_prefix(build, T); }
