/* codegen/overlay.y - the grammar of spec/overlay.mcp; spec/README.md tells what each line means. */
%name OverlayParse
%token_prefix OVERLAY_T_
%token_type {struct overlay_token}
%extra_context {struct overlay_parse *parse}
%stack_size 64
%type list {struct word *}
%type item {struct word *}
%type span {struct span}
%type choices {struct choice *}
%type choice {struct choice *}
%type conditions {struct condition *}
%type condition {struct condition *}
%type method {struct method_line *}

%include {
#include "codegen/overlay_parse.h"

#include <assert.h>

#define OverlayParse_ENGINEALWAYSONSTACK 1
}

file ::= statements.
statements ::= .
statements ::= statements statement.

statement ::= REVISION item(W) SEMICOLON. {
    *parse->last_revision = W;
    parse->last_revision = &W->next;
}
statement ::= OMIT(K) list(L) BECAUSE STRING(R) span(S) SEMICOLON. {
    overlay_add(parse, OVERLAY_OMIT, K, L, S)->reason = R.text;
}
statement ::= RENAME(K) item(L) TO item(N) span(S) SEMICOLON. {
    overlay_add(parse, OVERLAY_RENAME, K, L, S)->to = N;
}
statement ::= NAME(K) list(L) TO item(N) span(S) SEMICOLON. {
    overlay_add(parse, OVERLAY_NAME, K, L, S)->to = N;
}
statement ::= ADD(K) list(L) TO item(N) span(S) SEMICOLON. {
    overlay_add(parse, OVERLAY_ADD, K, L, S)->to = N;
}
statement ::= STRUCT(K) item(N) HOLDS list(L) SEMICOLON. {
    overlay_add(parse, OVERLAY_HOLDS, K, L, (struct span){0})->to = N;
}
statement ::= RAW(K) list(L) span(S) SEMICOLON. { overlay_add(parse, OVERLAY_RAW, K, L, S); }
statement ::= OPEN(K) list(L) TO item(N) span(S) SEMICOLON. {
    overlay_add(parse, OVERLAY_OPEN, K, L, S)->to = N;
}
statement ::= NUMBER(K) list(L) span(S) SEMICOLON. { overlay_add(parse, OVERLAY_NUMBER, K, L, S); }
statement ::= ANY(K) list(L) span(S) SEMICOLON. { overlay_add(parse, OVERLAY_ANY, K, L, S); }
statement ::= MANY(K) list(L) span(S) SEMICOLON. { overlay_add(parse, OVERLAY_MANY, K, L, S); }
statement ::= TOKEN(K) list(L) SEMICOLON. {
    overlay_add(parse, OVERLAY_TOKEN, K, L, (struct span){0});
}
statement ::= ORDER(K) item(N) EQUALS list(L) SEMICOLON. {
    overlay_add(parse, OVERLAY_ORDER, K, L, (struct span){0})->to = N;
}
statement ::= FACTOR(K) list(L) BY item(N) SEMICOLON. {
    overlay_add(parse, OVERLAY_FACTOR, K, L, (struct span){0})->to = N;
}
statement ::= UNION(K) list(L) LBRACE choices(C) RBRACE. {
    overlay_add(parse, OVERLAY_UNION, K, L, (struct span){0})->choices = C;
}
statement ::= method RBRACE.

span(S) ::= . { S = (struct span){0}; }
span(S) ::= IN list(L). { S = (struct span){.kind = SPAN_IN, .revisions = L}; }
span(S) ::= UNTIL item(L). { S = (struct span){.kind = SPAN_UNTIL, .revisions = L}; }
span(S) ::= SINCE item(L). { S = (struct span){.kind = SPAN_SINCE, .revisions = L}; }

list(L) ::= item(I). { L = I; }
list(L) ::= list(A) item(I). { L = overlay_append(A, I); }
item(I) ::= WORD(W). { I = overlay_word(parse, W); }
item(I) ::= STRING(W). { I = overlay_word(parse, W); }

choices(L) ::= choice(C). { L = C; }
choices(L) ::= choice(C) choices(A). { C->next = A; L = C; }
choice(C) ::= item(N) WHEN conditions(L) SEMICOLON. { C = overlay_choice(parse, N, L); }
choice(C) ::= item(N) OTHERWISE SEMICOLON. { C = overlay_choice(parse, N, NULL); }
conditions(L) ::= condition(C). { L = C; }
conditions(L) ::= condition(C) AND conditions(A). { C->next = A; L = C; }
condition(C) ::= HAS WORD(W). { C = overlay_condition(parse, W); }
condition(C) ::= LACKS WORD(W). { C = overlay_condition(parse, W); C->absent = true; }
condition(C) ::= WORD(W) EQUALS STRING(V). { C = overlay_condition(parse, W); C->literal = V.text; }

method(M) ::= METHOD item(N) LBRACE. { M = overlay_add_method(parse, N); }
method(M) ::= method(A) FROM CLIENT SEMICOLON. { M = A; M->from_client = true; }
method(M) ::= method(A) FROM SERVER SEMICOLON. { M = A; M->from_server = true; }
method(M) ::= method(A) FROM BOTH SEMICOLON. { M = A; M->from_client = M->from_server = true; }
method(M) ::= method(A) RESULT item(R) SEMICOLON. { M = A; M->result = R; }
method(M) ::= method(A) GATE SERVER item(G) SEMICOLON. { M = A; M->server_gate = G; }
method(M) ::= method(A) GATE CLIENT item(G) SEMICOLON. { M = A; M->client_gate = G; }
method(M) ::= method(A) FLAGS list(L) SEMICOLON. { M = A; M->flags = L; }
method(M) ::= method(A) HANDLER SEMICOLON. { M = A; M->handled = true; }
method(M) ::= method(A) HANDLER NONE SEMICOLON. { M = A; M->handled = false; }
method(M) ::= method(A) IGNORED SEMICOLON. { M = A; M->ignored = true; }

%syntax_error {
    if (!parse->failed)
        fault_at(overlay_place(parse->overlay, TOKEN.line), "the statement does not go on with \"" STR_FMT "\"",
                 STR_ARG(TOKEN.text));
    parse->failed = true;
}

%code {
void overlay_parse_run(struct overlay_parse *parse)
{
    yyParser parser;
    struct overlay_token token;
    int code;
    OverlayParseInit(&parser, parse);
    do {
        code = overlay_lex(parse, &token);
        if (code >= 0)
            OverlayParse(&parser, code, token);
        else
            fault_at(overlay_place(parse->overlay, parse->line), "a byte that means nothing here");
    } while (code > 0 && !parse->failed);
    OverlayParseFinalize(&parser);
}
}
