/* schema/filter_grammar.y - the grammar of the filter language; the nodes are filter_build.c's.
 *
 * The stack is bound by FILTER_DEPTH_MAX: between two openings (a parenthesis or a not) stand at
 * most four symbols, an expression, its `or`, a conjunction and its `and`.
 */
%name filter_grammar
%token_prefix FILTER_TOKEN_
%token_type { struct filter_token }
%default_type { struct filter_token }
%extra_context { struct filter_build *build }
%stack_size { (FILTER_DEPTH_MAX * 5 + 32) }
%token NAME QUOTED STRING NUMBER TRUE FALSE DATE DATETIME NULL.
%token EQ NE LT LE GT GE NOT IN BETWEEN LIKE IS AND OR COMMA DOT LPAREN RPAREN.

%include {
#include "schema/filter_parts.h"

#include "base/err.h"

#include <assert.h>

#define filter_grammar_ENGINEALWAYSONSTACK 1

}

%syntax_error { build->refused = true; }
%stack_overflow { filter_fail(build, ERR_LIMIT, NULL, "at most %d nested parentheses and nots", FILTER_DEPTH_MAX); }

%type expr { struct filter_node * }
%type conjunction { struct filter_node * }
%type term { struct filter_node * }
%type predicate { struct filter_node * }
%type column { const struct filter_column * }
%type path { struct filter_path * }
%type literal { struct filter_literal * }
%type list { struct filter_list * }
%type negation { bool }

filter ::= expr(E). { build->root = E; }

expr(A) ::= conjunction(A).
expr(A) ::= expr(L) OR conjunction(R). { A = filter_join(build, FILTER_OR, L, R); }
conjunction(A) ::= term(A).
conjunction(A) ::= conjunction(L) AND term(R). { A = filter_join(build, FILTER_AND, L, R); }

term(A) ::= predicate(A).
term(A) ::= open expr(E) RPAREN. { A = E; filter_leave(build); }
term(A) ::= not term(E). { A = filter_negate(build, E, true); filter_leave(build); }
open ::= LPAREN(T). { filter_enter(build, T); }
not ::= NOT(T). { filter_enter(build, T); }

predicate(A) ::= column(C) comparison(O) literal(V). { A = filter_compare(build, C, O, V); }
predicate(A) ::= column(C) negation(N) IN(O) LPAREN list(L) RPAREN. { A = filter_negate(build, filter_in(build, C, O, L), N); }
predicate(A) ::= column(C) negation(N) BETWEEN(O) literal(L) AND literal(H). { A = filter_negate(build, filter_between(build, C, O, L, H), N); }
predicate(A) ::= column(C) negation(N) LIKE(O) STRING(S). { A = filter_negate(build, filter_match(build, C, O, S), N); }
predicate(A) ::= column(C) IS NULL. { A = filter_null(build, C); }
predicate(A) ::= column(C) IS NOT NULL. { A = filter_negate(build, filter_null(build, C), true); }

comparison ::= EQ|NE|LT|LE|GT|GE.
negation(A) ::= . { A = false; }
negation(A) ::= NOT. { A = true; }

column(A) ::= path(P). { A = filter_resolve(build, P); }
path(A) ::= name(N). { A = filter_path_begin(build, N); }
path(A) ::= path(P) DOT name(N). { A = filter_path_add(build, P, N); }
name ::= NAME|QUOTED.

literal(A) ::= STRING|NUMBER|TRUE|FALSE|DATE|DATETIME(T). { A = filter_literal(build, T); }
literal(A) ::= NULL(T). { filter_fail(build, ERR_SYNTAX, &T, "a value; null is asked for by: is null"); A = NULL; }
list(A) ::= literal(V). { A = filter_list_add(build, NULL, V); }
list(A) ::= list(L) COMMA literal(V). { A = filter_list_add(build, L, V); }

%code {
/* Which tokens would have done instead of the one that was refused? lemon reduces before it looks
 * at a token, so the state at the fault no longer tells; the tokens before it are run again, and
 * each candidate is tried on a copy of the parser. The failure that stands keeps actions idle. */
static void expect(struct filter_build *build, const struct filter_token *at, bool *ret)
{
    static const struct filter_token none;
    yyParser before, tried;
    struct filter_token token;
    build->at = build->start;
    build->after_dot = false;
    filter_grammarInit(&before, build);
    while (filter_lex(build, &token) > 0 && token.offset < at->offset)
        filter_grammar(&before, token.kind, token);
    for (int kind = 0; kind < YYNTOKEN; kind++) {
        tried = before;
        tried.yytos = tried.yystack + (before.yytos - before.yystack);
        tried.yystackEnd = tried.yystack + (before.yystackEnd - before.yystack);
        build->refused = false;
        filter_grammar(&tried, kind, none);
        ret[kind] = !build->refused;
    }
    filter_grammarFinalize(&before);
}

int filter_parse(struct filter_build *build)
{
    bool expected[YYNTOKEN];
    yyParser parser;
    struct filter_token token;
    filter_grammarInit(&parser, build);
    do {
        if (filter_lex(build, &token) < 0)
            filter_fail(build, ERR_SYNTAX, &token, "%s", build->bad);
        else
            filter_grammar(&parser, token.kind, token);
        if (build->refused && !build->err) {
            build->err = ERR_SYNTAX;
            expect(build, &token, expected);
            build->err = 0;
            filter_fail_syntax(build, &token, expected);
        }
    } while (token.kind > 0 && !build->err);
    filter_grammarFinalize(&parser);
    return build->err;
}
}
