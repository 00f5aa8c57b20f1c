/* schema/json_schema_pattern.c - ECMA-262 (with the u flag) to PCRE2, and matching.
 *
 * Rewritten are escapes, `.`, `\s`, `\p{...}` and what PCRE2 would read otherwise; everything else
 * is the same in both. Refused is what only PCRE2 knows: verbs, recursion, atomic groups,
 * possessive quantifiers, inline options, and letters behind a backslash that ECMA has no use for.
 *
 * Not compiled to machine code: that takes a quarter off a check that is full of patterns (which is
 * within its budget as it is, see tests/bench/bench_schema.c), but needs pages that are both
 * writable and executable, and somebody to free them; so a compiled schema is only its arena.
 */
#include "schema/json_schema_pattern.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"

#include <string.h>

#define SPACE_RANGES                                                                     \
    "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}" \
    "\\x{205f}\\x{3000}\\x{feff}"
#define OTHER_RANGES                                                                 \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}" \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"   \
    "\\x{3001}-\\x{d7ff}\\x{e000}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

struct translator {
    const char *at, *end;
    struct buf *out;
    bool in_class;
    bool after_atom, after_quantifier; /* what the next quantifier would stand behind */
    const char *why;
};

static bool fail(struct translator *t, const char *why)
{
    t->why = t->why ? t->why : why;
    return false;
}

static bool next_is(const struct translator *t, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(t->end - t->at) >= n && memcmp(t->at, text, n) == 0;
}

static void add_character(struct translator *t, uint32_t c)
{
    buf_printf(t->out, "\\x{%x}", c);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Exactly n hex digits. */
static bool take_hex(struct translator *t, int n, uint32_t *ret)
{
    uint32_t value = 0;
    if (t->end - t->at < n)
        return fail(t, "too few hexadecimal digits");
    for (int i = 0; i < n; i++) {
        int digit = hex_value(t->at[i]);
        if (digit < 0)
            return fail(t, "too few hexadecimal digits");
        value = value * 16 + (uint32_t)digit;
    }
    t->at += n;
    *ret = value;
    return true;
}

/* \u{1F600} */
static bool take_braced(struct translator *t, uint32_t *ret)
{
    uint32_t value = 0, n = 0;
    for (t->at++; t->at < t->end && *t->at != '}'; t->at++, n++) {
        int digit = hex_value(*t->at);
        if (digit < 0 || value > 0x10ffff)
            return fail(t, "\\u{...} is no character");
        value = value * 16 + (uint32_t)digit;
    }
    if (t->at == t->end || n == 0 || value > 0x10ffff)
        return fail(t, "\\u{...} is no character");
    t->at++;
    *ret = value;
    return true;
}

/* \u1234, where two halves of a surrogate pair are one character. */
static bool take_unicode(struct translator *t)
{
    uint32_t c, low;
    if (next_is(t, "{")) {
        if (!take_braced(t, &c))
            return false;
    } else if (!take_hex(t, 4, &c)) {
        return false;
    }
    if (c >= 0xd800 && c < 0xdc00 && next_is(t, "\\u")) {
        t->at += 2;
        if (!take_hex(t, 4, &low) || low < 0xdc00 || low > 0xdfff)
            return fail(t, "half a surrogate pair");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c >= 0xd800 && c < 0xe000)
        return fail(t, "half a surrogate pair");
    add_character(t, c);
    return true;
}

/* The long names of general categories, for which PCRE2 knows the short ones only. */
static const struct {
    struct str name;
    const char *brief;
} categories[] = {
#define CATEGORY(name, brief) \
    {                         \
        STR_INIT(name), brief \
    }
    CATEGORY("Letter", "L"),
    CATEGORY("Cased_Letter", "L&"),
    CATEGORY("LC", "L&"),
    CATEGORY("Uppercase_Letter", "Lu"),
    CATEGORY("Lowercase_Letter", "Ll"),
    CATEGORY("Titlecase_Letter", "Lt"),
    CATEGORY("Modifier_Letter", "Lm"),
    CATEGORY("Other_Letter", "Lo"),
    CATEGORY("Mark", "M"),
    CATEGORY("Combining_Mark", "M"),
    CATEGORY("Nonspacing_Mark", "Mn"),
    CATEGORY("Spacing_Mark", "Mc"),
    CATEGORY("Enclosing_Mark", "Me"),
    CATEGORY("Number", "N"),
    CATEGORY("Decimal_Number", "Nd"),
    CATEGORY("digit", "Nd"),
    CATEGORY("Letter_Number", "Nl"),
    CATEGORY("Other_Number", "No"),
    CATEGORY("Punctuation", "P"),
    CATEGORY("punct", "P"),
    CATEGORY("Connector_Punctuation", "Pc"),
    CATEGORY("Dash_Punctuation", "Pd"),
    CATEGORY("Open_Punctuation", "Ps"),
    CATEGORY("Close_Punctuation", "Pe"),
    CATEGORY("Initial_Punctuation", "Pi"),
    CATEGORY("Final_Punctuation", "Pf"),
    CATEGORY("Other_Punctuation", "Po"),
    CATEGORY("Symbol", "S"),
    CATEGORY("Math_Symbol", "Sm"),
    CATEGORY("Currency_Symbol", "Sc"),
    CATEGORY("Modifier_Symbol", "Sk"),
    CATEGORY("Other_Symbol", "So"),
    CATEGORY("Separator", "Z"),
    CATEGORY("Space_Separator", "Zs"),
    CATEGORY("Line_Separator", "Zl"),
    CATEGORY("Paragraph_Separator", "Zp"),
    CATEGORY("Other", "C"),
    CATEGORY("Control", "Cc"),
    CATEGORY("cntrl", "Cc"),
    CATEGORY("Format", "Cf"),
    CATEGORY("Surrogate", "Cs"),
    CATEGORY("Private_Use", "Co"),
    CATEGORY("Unassigned", "Cn"),
#undef CATEGORY
};

static struct str short_category(struct str name)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (str_eq(categories[i].name, name))
            return str_of(categories[i].brief);
    return name;
}

/* \p{Letter}, \P{Script=Greek}: the letter is read. */
static bool take_property(struct translator *t, char letter)
{
    const char *close = next_is(t, "{") ? memchr(t->at, '}', (size_t)(t->end - t->at)) : NULL;
    if (!close)
        return fail(t, "\\p needs {a property}");
    struct str value = {t->at + 1, (uint32_t)(close - t->at - 1)}, rest = value;
    struct str name = str_cut(&rest, '=');
    for (uint32_t i = 0; i < value.n; i++)
        if (!((unsigned)(value.p[i] | 0x20) - 'a' < 26 || (unsigned)value.p[i] - '0' < 10 ||
              value.p[i] == '_' || value.p[i] == '='))
            return fail(t, "\\p needs {a property}");
    if (str_eq(name, STR("gc")) || str_eq(name, STR("General_Category")))
        value = rest.p ? rest : value;
    else if (str_eq(name, STR("Script_Extensions")) && rest.p)
        return buf_printf(t->out, "\\%c{scx:" STR_FMT "}", letter, STR_ARG(rest)),
               t->at = close + 1, true;
    value = short_category(value);
    buf_printf(t->out, "\\%c{" STR_FMT "}", letter, STR_ARG(value));
    t->at = close + 1;
    return true;
}

/* \1, \12 */
static bool take_back_reference(struct translator *t)
{
    const char *start = t->at;
    while (t->at < t->end && *t->at >= '0' && *t->at <= '9')
        t->at++;
    if (t->in_class || *start == '0')
        return fail(t, "a backslash before a digit");
    buf_printf(t->out, "\\g{%.*s}", (int)(t->at - start), start);
    return true;
}

/* A hyphen beside a class escape is itself: the ranges that \s becomes must not swallow it. */
static void take_literal_hyphen(struct translator *t)
{
    if (t->in_class && next_is(t, "-") && !next_is(t, "-]")) {
        buf_add_lit(t->out, "\\-");
        t->at++;
    }
}

static bool take_space_class(struct translator *t, bool space)
{
    if (!t->in_class)
        buf_add_char(t->out, '[');
    buf_add_str(t->out, space ? STR(SPACE_RANGES) : STR(OTHER_RANGES));
    if (!t->in_class)
        buf_add_char(t->out, ']');
    take_literal_hyphen(t);
    return true;
}

static bool take_hex_escape(struct translator *t)
{
    uint32_t c;
    if (!take_hex(t, 2, &c))
        return false;
    add_character(t, c);
    return true;
}

static bool take_control(struct translator *t)
{
    if (t->at == t->end || (unsigned)(*t->at | 0x20) - 'a' >= 26)
        return fail(t, "\\c needs a letter");
    add_character(t, (uint32_t)*t->at++ & 0x1f);
    return true;
}

/* \b: a boundary, or within a class a backspace. */
static bool take_boundary(struct translator *t, char c)
{
    if (t->in_class && c == 'B')
        return fail(t, "\\B within a class");
    buf_add_str(t->out, c == 'B' ? STR("\\B") : t->in_class ? STR("\\x{8}") : STR("\\b"));
    return true;
}

static bool take_named_reference(struct translator *t)
{
    if (t->in_class || !next_is(t, "<"))
        return fail(t, "\\k needs <a name>");
    buf_add_lit(t->out, "\\k");
    return true;
}

static bool take_escape(struct translator *t)
{
    static const char letters[] = "tnvfr", codes[] = "\t\n\v\f\r";
    if (t->at == t->end)
        return fail(t, "a backslash at the end");
    char c = *t->at++;
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter)
        return add_character(t, (uint32_t)codes[letter - letters]), true;
    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
        buf_printf(t->out, "\\%c", c);
        return take_literal_hyphen(t), true;
    case 's':
    case 'S':
        return take_space_class(t, c == 's');
    case 'b':
    case 'B':
        return take_boundary(t, c);
    case 'x':
        return take_hex_escape(t);
    case 'u':
        return take_unicode(t);
    case 'c':
        return take_control(t);
    case 'p':
    case 'P':
        return take_property(t, c);
    case 'k':
        return take_named_reference(t);
    case '0':
        if (t->at < t->end && *t->at >= '0' && *t->at <= '9')
            return fail(t, "a backslash before a digit");
        return add_character(t, 0), true;
    }
    if (c >= '1' && c <= '9')
        return t->at--, take_back_reference(t);
    if ((unsigned)(c | 0x20) - 'a' < 26 || (unsigned char)c >= 0x80)
        return fail(t, "a backslash before this letter means nothing");
    buf_printf(t->out, "\\%c", c);
    return true;
}

static bool take_in_class(struct translator *t)
{
    char c = *t->at++;
    if (c == '\\')
        return take_escape(t);
    if (c == ']')
        t->in_class = false;
    if (c == '[')
        buf_add_char(t->out, '\\');
    else if (c == '-' && (next_is(t, "\\s") || next_is(t, "\\S")))
        buf_add_char(t->out, '\\');
    buf_add_char(t->out, c);
    return true;
}

/* Behind "(?": which of the kinds of group both languages have. */
static bool take_group(struct translator *t)
{
    static const char *const kinds[] = {"?:", "?=", "?!", "?<=", "?<!"};
    buf_add_char(t->out, '(');
    if (next_is(t, "*"))
        return fail(t, "nothing to repeat");
    if (!next_is(t, "?"))
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (next_is(t, kinds[i])) {
            buf_add_str(t->out, str_of(kinds[i]));
            t->at += strlen(kinds[i]);
            return true;
        }
    if (!next_is(t, "?<"))
        return fail(t, "an unknown kind of group");
    buf_add_lit(t->out, "?<");
    t->at += 2;
    return true;
}

static bool is_quantifier(const struct translator *t, char c)
{
    return c == '*' || c == '+' || c == '?' ||
           (c == '{' && t->at < t->end && *t->at >= '0' && *t->at <= '9');
}

/* One quantifier with its lazy '?'. */
static bool take_quantifier(struct translator *t, char c)
{
    if (!t->after_atom || t->after_quantifier)
        return fail(t, "nothing to repeat");
    buf_add_char(t->out, c);
    while (c == '{' && t->at < t->end) {
        buf_add_char(t->out, *t->at);
        if (*t->at++ == '}')
            break;
    }
    if (next_is(t, "?")) {
        buf_add_char(t->out, '?');
        t->at++;
    }
    t->after_quantifier = true;
    return true;
}

static bool open_class(struct translator *t)
{
    buf_add_char(t->out, '[');
    t->in_class = true;
    if (next_is(t, "^")) {
        buf_add_char(t->out, '^');
        t->at++;
    }
    return true;
}

static bool take_outside(struct translator *t)
{
    char c = *t->at++;
    if (is_quantifier(t, c))
        return take_quantifier(t, c);
    t->after_quantifier = false;
    t->after_atom = c != '(' && c != '|' && c != '^';
    switch (c) {
    case '\\':
        return take_escape(t);
    case '[':
        return open_class(t);
    case '(':
        return take_group(t);
    case '.':
        buf_add_lit(t->out, "[^\\n\\r\\x{2028}\\x{2029}]");
        return true;
    default:
        buf_add_char(t->out, c);
        return true;
    }
}

const char *pattern_translate(struct str text, struct buf *out)
{
    struct translator t = {.at = text.p, .end = text.p + text.n, .out = out};
    while (!t.why && t.at < t.end)
        if (!(t.in_class ? take_in_class(&t) : take_outside(&t)))
            break;
    return t.why;
}

/* ---- PCRE2 ---------------------------------------------------------------------------------- */

static void *take(size_t n, void *arena)
{
    return arena_alloc(arena, n);
}

static void leave(void *p, void *arena)
{
    (void)p, (void)arena; /* freed with the arena */
}

static int start(struct pattern_compiler *compiler)
{
    if (compiler->context)
        return 0;
    compiler->memory = pcre2_general_context_create(take, leave, compiler->arena);
    compiler->context = compiler->memory ? pcre2_compile_context_create(compiler->memory) : NULL;
    return compiler->context ? 0 : ERR_NO_MEMORY;
}

static pcre2_code *compile_one(struct pattern_compiler *compiler, struct str translated,
                               uint32_t more_options, int *ret_error)
{
    const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS |
                             PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;
    size_t offset;
    return pcre2_compile((PCRE2_SPTR)translated.p, translated.n, options | more_options, ret_error,
                         &offset, compiler->context);
}

static int compile_translated(struct pattern_compiler *compiler, struct str translated,
                              struct schema_pattern *pattern, struct str *ret_why)
{
    int error;
    unsigned char text[96];
    pattern->code = compile_one(compiler, translated, 0, &error);
    if (pattern->code)
        pattern->watched = compile_one(compiler, translated, PCRE2_AUTO_CALLOUT, &error);
    if (pattern->watched)
        return 0;
    if (error == PCRE2_ERROR_HEAP_FAILED)
        return ERR_NO_MEMORY;
    pcre2_get_error_message(error, text, sizeof text);
    *ret_why = arena_str(compiler->arena, str_of((char *)text));
    return ret_why->p ? ERR_SYNTAX : ERR_NO_MEMORY;
}

int pattern_compile(struct pattern_compiler *compiler, struct str text,
                    const struct schema_pattern **ret, struct str *ret_why)
{
    struct schema_pattern *pattern = arena_zalloc(compiler->arena, sizeof *pattern);
    struct buf translated = {0};
    if (!pattern || start(compiler) < 0)
        return ERR_NO_MEMORY;
    if (text.n > SCHEMA_PATTERN_BYTES_MAX) {
        *ret_why = STR("it is too long");
        return ERR_SYNTAX;
    }
    pattern->text = text;
    buf_add_lit(&translated, ""); /* so that an empty pattern has a place */
    const char *why = pattern_translate(text, &translated);
    int err = translated.failed ? ERR_NO_MEMORY : 0;
    if (err == 0 && why) {
        *ret_why = str_of(why);
        err = ERR_SYNTAX;
    }
    if (err == 0)
        err = compile_translated(compiler, translated.p ? buf_str(&translated) : STR(""), pattern,
                                 ret_why);
    buf_done(&translated);
    if (err == 0)
        *ret = pattern;
    return err;
}

static pcre2_match_context *limits_new(pcre2_general_context *memory)
{
    pcre2_match_context *limits = pcre2_match_context_create(memory);
    if (!limits)
        return NULL;
    pcre2_set_match_limit(limits, SCHEMA_PATTERN_STEPS_MAX);
    pcre2_set_depth_limit(limits, SCHEMA_PATTERN_DEPTH_MAX);
    pcre2_set_heap_limit(limits, SCHEMA_PATTERN_KIB_MAX);
    return limits;
}

pcre2_match_context *pattern_limits(struct pattern_compiler *compiler)
{
    return limits_new(compiler->memory);
}

#define LOOK_EVERY 16 /* items: one may run over the whole text, a millisecond */

struct watch {
    int64_t until_ms;
    uint32_t n_items;
    bool is_late;
};

static int at_item(pcre2_callout_block *block, void *ctx)
{
    struct watch *watch = ctx;
    (void)block;
    if (++watch->n_items % LOOK_EVERY == 0)
        watch->is_late = clock_mono_ms() > watch->until_ms;
    return watch->is_late ? PCRE2_ERROR_CALLOUT : 0;
}

static int match_long(const struct schema_pattern *pattern, struct pattern_room *room,
                      struct str text, int64_t until_ms, bool *ret_late)
{
    struct watch watch = {.until_ms = until_ms};
    if (!room->watch)
        room->watch = limits_new(NULL);
    if (!room->watch)
        return PCRE2_ERROR_NOMEMORY;
    pcre2_set_callout(room->watch, at_item, &watch);
    int found = pcre2_match(pattern->watched, (PCRE2_SPTR)text.p, text.n, 0, PCRE2_NO_UTF_CHECK,
                            room->data, room->watch);
    *ret_late = watch.is_late;
    return found;
}

int pattern_matches(const struct schema_pattern *pattern, pcre2_match_context *limits,
                    struct pattern_room *room, struct str text, int64_t until_ms)
{
    bool is_late = false;
    if (!room->data)
        room->data = pcre2_match_data_create(1, NULL);
    if (!room->data)
        return ERR_NO_MEMORY;
    int found = text.n > PATTERN_SHORT_BYTES
                    ? match_long(pattern, room, text, until_ms, &is_late)
                    : pcre2_match(pattern->code, (PCRE2_SPTR)text.p, text.n, 0, PCRE2_NO_UTF_CHECK,
                                  room->data, limits);
    switch (found) {
    case PCRE2_ERROR_NOMATCH:
        return 0;
    case PCRE2_ERROR_NOMEMORY:
        return ERR_NO_MEMORY;
    default:
        return found >= 0 ? 1 : is_late ? ERR_TIMED_OUT : ERR_LIMIT;
    }
}

void pattern_room_done(struct pattern_room *room)
{
    pcre2_match_data_free(room->data);
    pcre2_match_context_free(room->watch);
    *room = (struct pattern_room){0};
}
