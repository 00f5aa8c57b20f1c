/* codegen/overlay_tree.c - makes the overlay's tree and answers questions about it. */
#include "codegen/overlay_parse.h"

#include "codegen/file.h"

#include <errno.h>
#include <string.h>

struct place overlay_place(const struct overlay *overlay, uint32_t line)
{
    return (struct place){overlay->path, line};
}

/* ---- what the grammar calls ------------------------------------------------------------------ */

struct word *overlay_word(struct overlay_parse *parse, struct overlay_token token)
{
    struct word *word = must(arena_zalloc(parse->overlay->arena, sizeof *word));
    word->text = token.text;
    word->line = token.line;
    return word;
}

struct word *overlay_append(struct word *list, struct word *word)
{
    struct word *last = list;
    while (last->next)
        last = last->next;
    last->next = word;
    return list;
}

struct statement *overlay_add(struct overlay_parse *parse, enum statement_kind kind,
                              struct overlay_token keyword, struct word *words, struct span span)
{
    struct statement *statement = must(arena_zalloc(parse->overlay->arena, sizeof *statement));
    statement->kind = kind;
    statement->line = keyword.line;
    statement->words = words;
    statement->span = span;
    *parse->last_statement = statement;
    parse->last_statement = &statement->next;
    return statement;
}

struct method_line *overlay_add_method(struct overlay_parse *parse, struct word *name)
{
    struct method_line *method = must(arena_zalloc(parse->overlay->arena, sizeof *method));
    method->name = name;
    *parse->last_method = method;
    parse->last_method = &method->next;
    return method;
}

struct condition *overlay_condition(struct overlay_parse *parse, struct overlay_token member)
{
    struct condition *condition = must(arena_zalloc(parse->overlay->arena, sizeof *condition));
    condition->member = overlay_word(parse, member);
    return condition;
}

struct choice *overlay_choice(struct overlay_parse *parse, struct word *name,
                              struct condition *conditions)
{
    struct choice *choice = must(arena_zalloc(parse->overlay->arena, sizeof *choice));
    choice->name = name;
    choice->conditions = conditions;
    return choice;
}

/* ---- reading --------------------------------------------------------------------------------- */

int overlay_revision(const struct overlay *overlay, struct str name)
{
    int number = 0;
    for (const struct word *word = overlay->revisions; word; word = word->next, number++)
        if (str_eq(word->text, name))
            return number;
    return -1;
}

static uint32_t mask_of(struct overlay *overlay, const struct span *span)
{
    uint32_t mask = 0;
    if (span->kind == SPAN_ALL)
        return UINT32_MAX;
    for (const struct word *word = span->revisions; word; word = word->next) {
        int number = overlay_revision(overlay, word->text);
        if (number < 0)
            fault_at(overlay_place(overlay, word->line), "no revision is called \"" STR_FMT "\"",
                     STR_ARG(word->text));
        else if (span->kind == SPAN_IN)
            mask |= 1u << number;
        else if (span->kind == SPAN_UNTIL)
            mask |= (2u << number) - 1;
        else
            mask |= ~((1u << number) - 1);
    }
    return mask;
}

static void refuse_twice(const struct overlay *overlay)
{
    for (const struct method_line *a = overlay->methods; a; a = a->next)
        for (const struct method_line *b = a->next; b; b = b->next)
            if (str_eq(a->name->text, b->name->text))
                fault_at(overlay_place(overlay, b->name->line),
                         "method \"" STR_FMT "\" stands here a second time",
                         STR_ARG(b->name->text));
}

static void finish(struct overlay *overlay)
{
    for (const struct word *word = overlay->revisions; word; word = word->next)
        overlay->n_revisions++;
    if (overlay->n_revisions == 0 || overlay->n_revisions > REVISIONS_MAX)
        fault_at(overlay_place(overlay, 1), "expected 1 to %d revision lines, found %u",
                 REVISIONS_MAX, overlay->n_revisions);
    for (struct statement *s = overlay->statements; s; s = s->next)
        s->span.mask = mask_of(overlay, &s->span);
    refuse_twice(overlay);
}

void overlay_load(const char *path, struct arena *arena, struct overlay *ret)
{
    struct buf text = {0};
    *ret = (struct overlay){.path = path, .arena = arena};
    if (file_read(path, &text) < 0) {
        fault_at(overlay_place(ret, 0), "cannot be read: %s", strerror(errno));
        return;
    }
    struct str kept = arena_str(arena, buf_str(&text));
    must((void *)(uintptr_t)kept.p);
    buf_done(&text);
    struct overlay_parse parse = {.overlay = ret,
                                  .at = kept.p,
                                  .end = kept.p + kept.n,
                                  .line = 1,
                                  .last_statement = &ret->statements,
                                  .last_method = &ret->methods,
                                  .last_revision = &ret->revisions};
    overlay_parse_run(&parse);
    if (fault_count() == 0)
        finish(ret);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* On a misfit the last "*" takes one byte more; earlier ones never need to. */
bool overlay_matches(struct str pattern, struct str text)
{
    uint32_t p = 0, t = 0, star = UINT32_MAX, taken = 0;
    while (t < text.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.n && pattern.p[p] == text.p[t]) {
            p++;
            t++;
        } else if (star != UINT32_MAX) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

/* "*" does not cross the point between a type and its member, unless the member has points too. */
static bool path_matches(struct str pattern, struct str path)
{
    struct str pattern_type = str_cut(&pattern, '.'), path_type = str_cut(&path, '.');
    if ((pattern.p == NULL) != (path.p == NULL))
        return false;
    return overlay_matches(pattern_type, path_type) &&
           (!pattern.p || overlay_matches(pattern, path));
}

static bool hit(struct statement *statement, struct word *word)
{
    word->hits++;
    statement->hits++;
    return true;
}

struct statement *overlay_find(struct overlay *overlay, enum statement_kind kind, unsigned revision,
                               struct str path)
{
    for (struct statement *s = overlay->statements; s; s = s->next)
        if (s->kind == kind && s->span.mask >> revision & 1)
            for (struct word *word = s->words; word; word = word->next)
                if (path_matches(word->text, path) && hit(s, word))
                    return s;
    return NULL;
}

struct statement *overlay_find_to(struct overlay *overlay, enum statement_kind kind,
                                  unsigned revision, struct str name)
{
    for (struct statement *s = overlay->statements; s; s = s->next)
        if (s->kind == kind && s->span.mask >> revision & 1 && str_eq(s->to->text, name) &&
            hit(s, s->to))
            return s;
    return NULL;
}

struct method_line *overlay_method(struct overlay *overlay, struct str name)
{
    for (struct method_line *m = overlay->methods; m; m = m->next)
        if (str_eq(m->name->text, name)) {
            m->hits++;
            return m;
        }
    return NULL;
}

static void refuse_words(const struct overlay *overlay, const struct word *words)
{
    for (const struct word *word = words; word; word = word->next)
        if (word->hits == 0)
            fault_at(overlay_place(overlay, word->line),
                     "\"" STR_FMT "\" names nothing in the schemas", STR_ARG(word->text));
}

void overlay_refuse_idle(const struct overlay *overlay)
{
    for (const struct statement *s = overlay->statements; s; s = s->next) {
        refuse_words(overlay, s->words);
        for (const struct choice *choice = s->choices; choice; choice = choice->next)
            if (choice->name->hits == 0)
                fault_at(overlay_place(overlay, choice->name->line),
                         "\"" STR_FMT "\" is no alternative of this union",
                         STR_ARG(choice->name->text));
    }
    for (const struct method_line *m = overlay->methods; m; m = m->next)
        if (m->hits == 0)
            fault_at(overlay_place(overlay, m->name->line),
                     "no schema has a method \"" STR_FMT "\"", STR_ARG(m->name->text));
}
