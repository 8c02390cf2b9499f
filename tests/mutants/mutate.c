/** @file
 * Small mistakes in C sources, for tests to find:
 *     mutate list SEED FILE...          a line each: rank, file, line, and the line's text with [[was =>
 * becomes]]; tabs mutate apply SEED FILE RANK       the file with that change, to standard output
 *
 * Mutated are bodies of functions: comparisons, signs, and/or, min/max, floor/ceil, negations, whole numbers
 * (one more), terms and statements `x += ...` that are dropped, neighbouring arguments that are swapped.
 * Comments, literals, directives, declarations and tables are left alone. So is what says nothing about
 * tests: assertions, which are tests themselves; one more in the size of what is allocated or of an array,
 * or its two factors in the other order, which nobody can see; -2 for -1, which says that there is none; `a >
 * b ? a : b` for `>=`, which is the same value; yaml_get(...) >= 0 for > 0, since node 0 is the root and no
 * child; and which of several pieces of memory is missing, which faults look at. A mutant's rank is a hash of
 * the seed, its file, its line's text and what becomes of it: code that is added elsewhere moves no other
 * mutant, so that a sample (the lowest ranks) stays a sample as the code grows.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NAME, NUMBER, LITERAL, PUNCT };

struct token {
    enum kind kind;
    int32_t at, n, line;
    bool in_body;
};

struct source {
    const char *path;
    char *text;
    int32_t n, n_tokens, cap_tokens;
    struct token *tokens;
};

static uint64_t seed;
static uint64_t wanted; /**< the rank that is applied */
static bool applies, applied;

static void mutate_die(const char *what, const char *which)
{
    fprintf(stderr, "mutate: %s: %s\n", which, what);
    exit(2);
}

static void source_read(struct source *s, const char *path)
{
    FILE *f = fopen(path, "rb");
    *s = (struct source){ .path = path };
    if (!f)
        mutate_die("cannot be read", path);
    for (size_t got = 1; got > 0; s->n += (int32_t)got) {
        s->text = realloc(s->text, (size_t)s->n + 65537);
        if (!s->text)
            mutate_die("no memory", path);
        got = fread(s->text + s->n, 1, 65536, f);
    }
    s->text[s->n] = '\0';
    fclose(f);
}

/* ---- tokens ---- */

static const char *const long_marks[] = {
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
    "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="
};

static int32_t mark_length(const char *p)
{
    for (size_t i = 0; i < sizeof long_marks / sizeof long_marks[0]; i++)
        if (strncmp(p, long_marks[i], strlen(long_marks[i])) == 0)
            return (int32_t)strlen(long_marks[i]);
    return 1;
}

static int32_t literal_length(const char *p)
{
    int32_t n = 1;
    while (p[n] && p[n] != p[0])
        n += p[n] == '\\' && p[n + 1] ? 2 : 1;
    return n + 1;
}

static int32_t number_length(const char *p)
{
    int32_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '.' ||
           ((p[n] == '+' || p[n] == '-') && (p[n - 1] == 'e' || p[n - 1] == 'E') && p[1] != 'x'))
        n++;
    return n;
}

/* Length of what is no token at p: space, a comment, a directive with the lines that go on; 0: a token. */
static int32_t skipped_length(const char *p, bool line_starts)
{
    int32_t n = 0;
    if (isspace((unsigned char)*p))
        return 1;
    if (p[0] == '/' && p[1] == '/')
        return (int32_t)strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? (int32_t)(end + 2 - p) : (int32_t)strlen(p);
    }
    if (*p == '#' && line_starts)
        while (p[n] && (p[n] != '\n' || p[n - 1] == '\\'))
            n++;
    return n;
}

static bool token_is(const struct source *s, int32_t i, const char *text)
{
    return i >= 0 && i < s->n_tokens && s->tokens[i].n == (int32_t)strlen(text) &&
           strncmp(s->text + s->tokens[i].at, text, strlen(text)) == 0;
}

static void token_add(struct source *s, struct token t)
{
    if (s->n_tokens == s->cap_tokens) {
        s->cap_tokens = 2 * s->cap_tokens + 1024;
        s->tokens = realloc(s->tokens, (size_t)s->cap_tokens * sizeof *s->tokens);
        if (!s->tokens)
            mutate_die("no memory", s->path);
    }
    s->tokens[s->n_tokens++] = t;
}

/* A body is what stands in braces after a closing parenthesis at the left margin. */
static void source_scan(struct source *s)
{
    int32_t depth = 0, line = 1;
    bool body = false, line_starts = true;
    for (int32_t at = 0; at < s->n;) {
        const char *p = s->text + at;
        int32_t n = skipped_length(p, line_starts);
        if (n == 0) {
            enum kind kind = isalpha((unsigned char)*p) || *p == '_' ? NAME
                             : isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))
                                 ? NUMBER
                             : *p == '"' || *p == '\'' ? LITERAL
                                                       : PUNCT;
            if (kind == NAME)
                while (isalnum((unsigned char)p[n]) || p[n] == '_')
                    n++;
            else
                n = kind == NUMBER ? number_length(p) : kind == LITERAL ? literal_length(p) : mark_length(p);
            if (*p == '{' && depth++ == 0)
                body = token_is(s, s->n_tokens - 1, ")");
            token_add(s, (struct token){ kind, at, n, line, body && depth > 0 });
            if (*p == '}' && --depth == 0)
                body = false;
            line_starts = false;
        }
        for (int32_t i = 0; i < n && at + i < s->n; i++)
            if (p[i] == '\n') {
                line++;
                line_starts = true;
            }
        at += n;
    }
}

/* ---- mutants ---- */

static uint64_t hash_text(uint64_t h, const char *p, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)p[i]) * 0x100000001b3u;
    return h;
}

/* The bits of a hash by FNV are weak at the top: mixed, as splitmix64 ends. */
static uint64_t hash_mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

static void put_plain(const char *p, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        putchar(isspace((unsigned char)p[i]) ? ' ' : p[i]);
}

/* How many lines before the one at @p from, its indent left out, are the same @p n bytes. */
static uint64_t count_alike(const struct source *s, int32_t from, int32_t n)
{
    uint64_t alike = 0;
    for (int32_t i = 0; i < from; i++) {
        while (isspace((unsigned char)s->text[i]))
            i++;
        alike += i < from && strncmp(s->text + i, s->text + from, (size_t)n) == 0 && s->text[i + n] == '\n';
        i += (int32_t)strcspn(s->text + i, "\n");
    }
    return alike;
}

/* What stands from @p at on, @p n bytes, becomes @p text: shown, or done where it is the one that is asked
 * for. */
static void mutant_show(const struct source *s, int32_t at, int32_t n, int32_t line, const char *text)
{
    int32_t from = at, to = at;
    while (from > 0 && s->text[from - 1] != '\n')
        from--;
    while (s->text[to] && s->text[to] != '\n')
        to++;
    while (from < at && isspace((unsigned char)s->text[from]))
        from++;
    uint64_t h = hash_text(0xcbf29ce484222325u ^ hash_mix(seed), s->path, (int32_t)strlen(s->path));
    h = hash_text(h, s->text + from, to - from) + count_alike(s, from, to - from);
    h = hash_mix(hash_text(h ^ (uint64_t)(at - from), text, (int32_t)strlen(text)));
    if (applies) {
        if (h == wanted && !applied) {
            fwrite(s->text, 1, (size_t)at, stdout);
            fputs(text, stdout);
            fwrite(s->text + at + n, 1, (size_t)(s->n - at - n), stdout);
            applied = true;
        }
        return;
    }
    printf("%016" PRIx64 "\t%s\t%" PRId32 "\t", h, s->path, line);
    put_plain(s->text + from, at - from);
    printf("[[");
    put_plain(s->text + at, n);
    printf(" => %s]]", text);
    if (at + n < to)
        put_plain(s->text + at + n, to - at - n);
    putchar('\n');
}

static void token_becomes(const struct source *s, int32_t i, const char *text)
{
    mutant_show(s, s->tokens[i].at, s->tokens[i].n, s->tokens[i].line, text);
}

static bool is_kind(const struct source *s, int32_t i, enum kind kind)
{
    return i >= 0 && i < s->n_tokens && s->tokens[i].kind == kind;
}

/* Does an operand end there, so that a sign after it joins two? */
static bool ends_operand(const struct source *s, int32_t i)
{
    return (is_kind(s, i, NAME) && !token_is(s, i, "return") && !token_is(s, i, "case")) ||
           is_kind(s, i, NUMBER) || token_is(s, i, ")") || token_is(s, i, "]");
}

/* ---- what says nothing ---- */

static bool ends_term(const struct source *s, int32_t i)
{
    return token_is(s, i, ";") || token_is(s, i, ")") || token_is(s, i, ",") || token_is(s, i, "+") ||
           token_is(s, i, "-") || token_is(s, i, "]");
}

/* Does token @p i stand among the arguments of one of @p names? */
static bool is_argument_of(const struct source *s, int32_t i, const char *const *names, size_t n)
{
    int32_t depth = 0;
    for (int32_t k = i - 1; k > 0 && !token_is(s, k, ";") && !token_is(s, k, "{") && !token_is(s, k, "}");
         k--) {
        depth += token_is(s, k, ")") - token_is(s, k, "(");
        if (depth >= 0)
            continue;
        depth = 0;
        for (size_t name = 0; name < n; name++)
            if (token_is(s, k - 1, names[name]))
                return true;
    }
    return false;
}

static bool tokens_equal(const struct source *s, int32_t a, int32_t b, int32_t n)
{
    if (a < 0 || b + n > s->n_tokens)
        return false;
    for (int32_t k = 0; k < n; k++)
        if (s->tokens[a + k].n != s->tokens[b + k].n ||
            strncmp(s->text + s->tokens[a + k].at, s->text + s->tokens[b + k].at,
                    (size_t)s->tokens[a + k].n) != 0)
            return false;
    return true;
}

/* a > b ? a : b, or b : a: of equals it does not matter which. */
static bool is_larger_of_two(const struct source *s, int32_t i)
{
    int32_t ask = i + 1, other;
    while (ask < s->n_tokens && !token_is(s, ask, "?") && !token_is(s, ask, ";"))
        ask++;
    for (other = ask + 1; other < s->n_tokens && !token_is(s, other, ":") && !token_is(s, other, ";");)
        other++;
    if (!token_is(s, ask, "?") || !token_is(s, other, ":"))
        return false;
    int32_t n_right = ask - i - 1, n_first = other - ask - 1;
    if (tokens_equal(s, i - n_first, ask + 1, n_first) && tokens_equal(s, i + 1, other + 1, n_right) &&
        ends_term(s, other + 1 + n_right))
        return true;
    /* The left one is as long as what stands behind the colon, which is a term. */
    for (int32_t n = 1; n_first == n_right && tokens_equal(s, i + 1, ask + 1, n_right) && n <= i && n < 32;
         n++)
        if (tokens_equal(s, i - n, other + 1, n) && ends_term(s, other + 1 + n))
            return true;
    return false;
}

/* yaml_get(...) >= 0 or < 0, or the same of a variable that was set so in this function; @p i compares. */
static bool is_key_given(const struct source *s, int32_t i)
{
    int32_t depth = 0, k = i - 1;
    if (!(token_is(s, i, ">=") || token_is(s, i, "<")) || !token_is(s, i + 1, "0"))
        return false;
    for (; token_is(s, i - 1, ")") && k > 0; k--) {
        depth += token_is(s, k, ")") - token_is(s, k, "(");
        if (depth == 0)
            return token_is(s, k - 1, "yaml_get");
    }
    for (; is_kind(s, i - 1, NAME) && k > 0 && s->tokens[k].in_body; k--)
        if (tokens_equal(s, k - 1, i - 1, 1) && token_is(s, k, "=") && token_is(s, k + 1, "yaml_get"))
            return !token_is(s, k - 2, "->") && !token_is(s, k - 2, ".");
    return false;
}

/* The 8 of `char name[8], *more[3];`: a declaration starts with two words, or a word and a star. */
static bool is_array_size(const struct source *s, int32_t i)
{
    static const char *const others[] = { "return", "else", "case", "goto" };
    int32_t open = i, from, depth = 0;
    while (open > 0 && !token_is(s, open, "[") && !token_is(s, open, "]") && !token_is(s, open, ";"))
        open--;
    if (!token_is(s, open, "[") || !is_kind(s, open - 1, NAME))
        return false;
    for (from = open - 1; from > 0 && !token_is(s, from - 1, ";") && !token_is(s, from - 1, "{") &&
                          !token_is(s, from - 1, "}");
         from--) {
        depth += token_is(s, from, ")") - token_is(s, from, "(");
        if (depth < 0 || (depth == 0 && token_is(s, from, "=")))
            return false;
    }
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        if (token_is(s, from, others[k]))
            return false;
    return is_kind(s, from, NAME) && (is_kind(s, from + 1, NAME) || token_is(s, from + 1, "*"));
}

/* The 1 of -1, where it is a whole value. */
static bool is_none(const struct source *s, int32_t i)
{
    return token_is(s, i, "1") && token_is(s, i - 1, "-") &&
           (token_is(s, i - 2, "=") || token_is(s, i - 2, "return") || token_is(s, i - 2, "?") ||
            token_is(s, i - 2, ":"));
}

/* The || of `if (!a || !b) return err_nomem(...)`: where memory is short, which faults look at. */
static bool asks_for_memory(const struct source *s, int32_t i)
{
    int32_t depth = 0, end = i, from = i;
    for (; token_is(s, i, "||") && depth >= 0 && !token_is(s, end, ";"); end++)
        depth += token_is(s, end, "(") - token_is(s, end, ")");
    while (from > 0 && !token_is(s, from, "if") && !token_is(s, from, ";"))
        from--;
    for (int32_t k = from + 1; k < end; k++)
        if (is_kind(s, k, NAME) && token_is(s, k + 1, "("))
            return false;
    return depth < 0 && token_is(s, end, "return") && token_is(s, end + 1, "err_nomem");
}

/* The || of `out->failed = out->failed || name.failed`: where memory is short, too. */
static bool joins_failures(const struct source *s, int32_t i)
{
    int32_t end = i + 1;
    while (token_is(s, i, "||") && end < s->n_tokens && !token_is(s, end, "||") && !token_is(s, end, ";"))
        end++;
    return token_is(s, i - 1, "failed") && token_is(s, end - 1, "failed");
}

static bool says_nothing(const struct source *s, int32_t i)
{
    static const char *const checks[] = { "assert", "_Static_assert" };
    static const char *const rooms[] = { "malloc",     "calloc",      "realloc",
                                         "ARENA_TAKE", "vec_reserve", "canvas_new" };
    bool compares =
        token_is(s, i, "<") || token_is(s, i, "<=") || token_is(s, i, ">") || token_is(s, i, ">=");
    return is_argument_of(s, i, checks, sizeof checks / sizeof *checks) ||
           ((is_kind(s, i, NUMBER) || token_is(s, i, ",")) &&
            is_argument_of(s, i, rooms, sizeof rooms / sizeof *rooms)) ||
           (is_kind(s, i, NUMBER) && (is_array_size(s, i) || is_none(s, i))) ||
           (compares && is_larger_of_two(s, i)) || is_key_given(s, i) || asks_for_memory(s, i) ||
           joins_failures(s, i) || (token_is(s, i, "0") && is_key_given(s, i - 1));
}

static void mutate_words(const struct source *s, int32_t i)
{
    static const char *const pairs[][2] = {
        { "<", "<=" },       { "<=", "<" },       { ">", ">=" },       { ">=", ">" },
        { "==", "!=" },      { "!=", "==" },      { "&&", "||" },      { "||", "&&" },
        { "+=", "-=" },      { "-=", "+=" },      { "*=", "/=" },      { "/=", "*=" },
        { "fmin", "fmax" },  { "fmax", "fmin" },  { "floor", "ceil" }, { "++", "--" },
        { "ceil", "floor" }, { "true", "false" }, { "false", "true" }, { "break", "continue" },
    };
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++)
        if (token_is(s, i, pairs[p][0]))
            token_becomes(s, i, pairs[p][1]);
    if (token_is(s, i, "!"))
        token_becomes(s, i, "");
    if (token_is(s, i, "/") && ends_operand(s, i - 1))
        token_becomes(s, i, "*");
}

/* a + b: the other sign; without b, where it is one word. */
static void mutate_sign(const struct source *s, int32_t i)
{
    const struct token *t = s->tokens;
    if (!(token_is(s, i, "+") || token_is(s, i, "-")) || !ends_operand(s, i - 1))
        return;
    token_becomes(s, i, token_is(s, i, "+") ? "-" : "+");
    if ((is_kind(s, i + 1, NAME) || is_kind(s, i + 1, NUMBER)) && ends_term(s, i + 2))
        mutant_show(s, t[i].at, t[i + 1].at + t[i + 1].n - t[i].at, t[i].line, "");
}

/* One more than a whole number; { 0 } is how structs start. */
static void mutate_number(const struct source *s, int32_t i)
{
    const char *p = s->text + s->tokens[i].at;
    char text[32], *end;
    long value = strtol(p, &end, 10);
    if (!is_kind(s, i, NUMBER) || end != p + s->tokens[i].n || (*p == '0' && s->tokens[i].n > 1) ||
        token_is(s, i - 1, "case") || token_is(s, i - 1, "{"))
        return;
    snprintf(text, sizeof text, "%ld", value + 1);
    token_becomes(s, i, text);
}

/* x += ...; is dropped, whole. */
static void mutate_statement(const struct source *s, int32_t i)
{
    int32_t from = i, to = i;
    if (!token_is(s, i, "+=") && !token_is(s, i, "-="))
        return;
    while (!token_is(s, from - 1, ";") && !token_is(s, from - 1, "{") && !token_is(s, from - 1, "}") &&
           !token_is(s, from - 1, ")"))
        from--;
    while (to < s->n_tokens && !token_is(s, to, ";"))
        to++;
    /* One of a for's three parts stays. */
    if (to < s->n_tokens && s->tokens[from].line == s->tokens[to].line && from < i)
        mutant_show(s, s->tokens[from].at, s->tokens[to].at - s->tokens[from].at, s->tokens[i].line, "");
}

/* f(a, b): two arguments that are one word each change places. */
static void mutate_arguments(const struct source *s, int32_t i)
{
    char text[256];
    const struct token *t = s->tokens;
    if (!token_is(s, i, ",") || !is_kind(s, i - 1, NAME) || !is_kind(s, i + 1, NAME) ||
        !(token_is(s, i - 2, "(") || token_is(s, i - 2, ",")) ||
        !(token_is(s, i + 2, ")") || token_is(s, i + 2, ",")))
        return;
    snprintf(text, sizeof text, "%.*s, %.*s", (int)t[i + 1].n, s->text + t[i + 1].at, (int)t[i - 1].n,
             s->text + t[i - 1].at);
    mutant_show(s, t[i - 1].at, t[i + 1].at + t[i + 1].n - t[i - 1].at, t[i].line, text);
}

static void list_mutants(const char *path)
{
    struct source s;
    source_read(&s, path);
    source_scan(&s);
    for (int32_t i = 0; i < s.n_tokens; i++)
        if (s.tokens[i].in_body && !says_nothing(&s, i)) {
            mutate_words(&s, i);
            mutate_sign(&s, i);
            mutate_number(&s, i);
            mutate_statement(&s, i);
            mutate_arguments(&s, i);
        }
    free(s.tokens);
    free(s.text);
}

int main(int argc, char **argv)
{
    applies = argc == 5 && strcmp(argv[1], "apply") == 0;
    if (!applies && (argc < 4 || strcmp(argv[1], "list") != 0))
        mutate_die("usage: mutate list SEED FILE... | mutate apply SEED FILE RANK", "arguments");
    seed = strtoull(argv[2], NULL, 10);
    if (applies)
        wanted = strtoull(argv[4], NULL, 16);
    for (int i = 3; i < (applies ? 4 : argc); i++)
        list_mutants(argv[i]);
    if (applies && !applied)
        mutate_die("no such mutant", argv[4]);
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
