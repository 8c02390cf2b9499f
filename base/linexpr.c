/*
 * Recursive descent over the grammar in base/linexpr.h. Every side, term and factor is kept as a linear form,
 * a vector of n coefficients and a constant, so parsing and simplifying are one pass and there is no tree to
 * walk afterwards: "2*(a + b) - a <= 3" is [1, 2] and 3 when the last character is read. A product needs one
 * constant form, a quotient a constant divisor; anything else is not linear and is refused where it stands.
 *
 * Scratch forms are taken once, two per depth of parentheses: parse_sum() holds one term, parse_term() one
 * factor, and parse_factor() fills the one it is given. Recursion is bounded by MAX_DEPTH, so no text can
 * exhaust the stack.
 */

#include "base/linexpr.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"

enum {
    MAX_DEPTH = 32, /* of parentheses */
    MAX_WORD = 64,  /* characters of one number, and of a word in a message */
    LIST_MAX = 12,  /* names shown when none is near */
};

/*
 * A side is kept as a linear form: shape [n + 1], the coefficient of each name and then
 * the constant. Each depth of parentheses needs two of them beside the one it fills.
 */
struct parser {
    const char *text, *at;
    const char *const *names;
    int n;
    size_t longest;  /* name [bytes] */
    double *scratch; /* shape [MAX_DEPTH + 1][2][n + 1] */
    int depth;
    bool named; /* some name was met */
    struct err *e;
};

static int parse_sum(struct parser *p, double *out);

static int column(const struct parser *p, const char *at)
{
    return (int)(at - p->text) + 1;
}

static void skip_space(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

/* What stands at a place, for a message: a word, or one (UTF-8) character. */
static int token_length(const char *s)
{
    int n = 1;
    if (isalnum((unsigned char)*s) || *s == '_')
        while (isalnum((unsigned char)s[n]) || s[n] == '_')
            n++;
    else
        while (((unsigned char)s[n] & 0xc0) == 0x80)
            n++;
    return n;
}

static int unexpected(struct parser *p, const char *need)
{
    if (!*p->at)
        return err_set(p->e, ERR_PARSE, "col %d: the text ends, expected %s", column(p, p->at), need);
    return err_set(p->e, ERR_PARSE, "col %d: is \"%.*s\", expected %s", column(p, p->at), token_length(p->at),
                   p->at, need);
}

static double *scratch_form(struct parser *p, int which)
{
    return p->scratch + (size_t)(2 * p->depth + which) * ((size_t)p->n + 1);
}

static void set_constant(const struct parser *p, double *form, double x)
{
    memset(form, 0, (size_t)p->n * sizeof *form);
    form[p->n] = x;
}

static bool is_constant(const struct parser *p, const double *form)
{
    for (int i = 0; i < p->n; i++)
        if (form[i] != 0)
            return false;
    return true;
}

/* Overflow would turn a constraint into another one. */
static int check_finite(const struct parser *p, const double *form, const char *at)
{
    for (int i = 0; i <= p->n; i++)
        if (!isfinite(form[i]))
            return err_set(p->e, ERR_PARSE, "col %d: result is not finite; use smaller numbers",
                           column(p, at));
    return 0;
}

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

/* As much as may be a number, for num_parse_real() to judge. An "e" without digits after it is left alone: it
 * begins a word, which the message then names. */
static size_t number_length(const char *s)
{
    size_t n = 0;
    while (is_digit(s[n]) || s[n] == '.')
        n++;
    if (s[n] == 'e' || s[n] == 'E') {
        size_t exp = n + 1 + (s[n + 1] == '+' || s[n + 1] == '-');
        if (is_digit(s[exp]))
            for (n = exp; is_digit(s[n]);)
                n++;
    }
    return n;
}

static int parse_number(struct parser *p, double *out)
{
    /* Longer ones stay "", which is no number either. */
    char word[MAX_WORD + 1] = "";
    double x;
    size_t n = number_length(p->at);
    if (n <= MAX_WORD)
        memcpy(word, p->at, n);
    if (!num_parse_real(word, &x))
        return err_set(p->e, ERR_PARSE, "col %d: is \"%.*s\", expected a finite decimal number",
                       column(p, p->at), (int)(n <= MAX_WORD ? n : MAX_WORD), p->at);
    set_constant(p, out, x);
    p->at += n;
    return 0;
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

/* The longest stretch that may be a name, as far as max. */
static size_t name_length(const char *s, size_t max)
{
    size_t n = 0;
    while (n < max && (isalnum((unsigned char)s[n]) || (s[n] && strchr("_.-", s[n]))))
        n++;
    return n;
}

/* "a-b" is the name a-b, or a minus b: cut at the last '-' for the next shorter reading, 0 for none. */
static size_t shorter_reading(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] != '-')
        n--;
    return n > 0 ? n - 1 : 0;
}

/* O(names): constraints have tens of them, and are read once. */
static int find_name(const struct parser *p, const char *s, size_t n)
{
    for (int i = 0; i < p->n; i++)
        if (strncmp(p->names[i], s, n) == 0 && p->names[i][n] == '\0')
            return i;
    return -1;
}

static const char *near_name(const struct parser *p, const char *s, size_t n)
{
    if (n > p->longest + MAX_WORD) /* nothing is near, and "a-a-a-..." has very many readings */
        return NULL;
    char *word = strndup(s, n);
    const char *near = word ? text_nearest(word, p->names, (size_t)p->n) : NULL;
    free(word);
    return near;
}

static int unknown_name(struct parser *p)
{
    size_t n = name_length(p->at, SIZE_MAX), shown = n;
    const char *near = NULL;
    for (; n > 0 && !near; n = shorter_reading(p->at, n)) {
        near = near_name(p, p->at, n);
        shown = n;
    }
    int col = column(p, p->at), width = (int)(shown < MAX_WORD ? shown : MAX_WORD);
    if (near)
        return err_set(p->e, ERR_PARSE, "col %d: unknown name \"%.*s\"; did you mean \"%s\"?", col, width,
                       p->at, near);

    struct text list = { 0 };
    for (int i = 0; i < p->n && i < LIST_MAX; i++)
        text_printf(&list, "%s%s", i ? ", " : "", p->names[i]);
    text_puts(&list, p->n > LIST_MAX ? ", ..." : p->n == 0 ? "a number (no names are known here)" : "");
    err_set(p->e, ERR_PARSE, "col %d: unknown name \"%.*s\", expected %s%s", col, width, p->at,
            p->n > 1 ? "one of " : "", text_str(&list));
    text_free(&list);
    return ERR_PARSE;
}

static int parse_name(struct parser *p, double *out)
{
    /* One byte more than any name shows that a longer reading goes on; a line of "a-a-a-..." stays linear. */
    for (size_t n = name_length(p->at, p->longest + 1); n > 0; n = shorter_reading(p->at, n)) {
        int i = find_name(p, p->at, n);
        if (i < 0)
            continue;
        set_constant(p, out, 0);
        out[i] = 1;
        p->named = true;
        p->at += n;
        return 0;
    }
    return unknown_name(p);
}

static int parse_parentheses(struct parser *p, double *out)
{
    if (p->depth == MAX_DEPTH)
        return err_set(p->e, ERR_PARSE, "col %d: parentheses are nested too deep, expected at most %d",
                       column(p, p->at), MAX_DEPTH);
    p->at++;
    p->depth++;
    int rc = parse_sum(p, out);
    if (rc)
        return rc;
    p->depth--;
    if (*p->at != ')')
        return unexpected(p, "an operator or \")\"");
    p->at++;
    return 0;
}

/* Signs in a loop, not by recursion: a line of a million of them must not fill the stack. */
static int parse_factor(struct parser *p, double *out)
{
    double sign = 1;
    for (skip_space(p); *p->at == '-' || *p->at == '+'; skip_space(p))
        sign = *p->at++ == '-' ? -sign : sign;

    int rc;
    if (is_digit(*p->at) || *p->at == '.')
        rc = parse_number(p, out);
    else if (is_name_start(*p->at))
        rc = parse_name(p, out);
    else if (*p->at == '(')
        rc = parse_parentheses(p, out);
    else
        rc = unexpected(p, "a number, a name or \"(\"");
    if (rc)
        return rc;
    for (int i = 0; i <= p->n; i++)
        out[i] *= sign;
    skip_space(p);
    return 0;
}

static int multiply(const struct parser *p, double *out, const double *factor, const char *at)
{
    bool left = is_constant(p, out);
    if (!left && !is_constant(p, factor))
        return err_set(p->e, ERR_PARSE, "col %d: product of two names; one side of \"*\" must be a number",
                       column(p, at));
    /* The factor is read before out is written: `form` may be `out` itself. */
    double x = left ? out[p->n] : factor[p->n];
    const double *form = left ? factor : out;
    for (int i = 0; i <= p->n; i++)
        out[i] = x * form[i];
    return check_finite(p, out, at);
}

static int divide(const struct parser *p, double *out, const double *by, const char *at)
{
    if (!is_constant(p, by))
        return err_set(p->e, ERR_PARSE, "col %d: division by a name; only a number may follow \"/\"",
                       column(p, at));
    if (by[p->n] == 0)
        return err_set(p->e, ERR_PARSE, "col %d: division by zero", column(p, at));
    for (int i = 0; i <= p->n; i++)
        out[i] /= by[p->n];
    return check_finite(p, out, at);
}

static int parse_term(struct parser *p, double *out)
{
    double *factor = scratch_form(p, 0);
    int rc = parse_factor(p, out);
    while (!rc && (*p->at == '*' || *p->at == '/')) {
        const char *at = p->at++;
        rc = parse_factor(p, factor);
        if (!rc)
            rc = *at == '*' ? multiply(p, out, factor, at) : divide(p, out, factor, at);
    }
    return rc;
}

static int parse_sum(struct parser *p, double *out)
{
    double *term = scratch_form(p, 1);
    int rc = parse_term(p, out);
    while (!rc && (*p->at == '+' || *p->at == '-')) {
        const char *at = p->at++;
        rc = parse_term(p, term);
        if (rc)
            break;
        for (int i = 0; i <= p->n; i++)
            out[i] += *at == '-' ? -term[i] : term[i];
        rc = check_finite(p, out, at);
    }
    return rc;
}

static int parse_sense(struct parser *p, enum linexpr_sense *out)
{
    char c = *p->at;
    bool doubled = c && p->at[1] == '=';
    if (c == '<' && doubled)
        *out = LINEXPR_LE;
    else if (c == '>' && doubled)
        *out = LINEXPR_GE;
    else if (c == '=' && doubled)
        *out = LINEXPR_EQ;
    else
        return unexpected(p, c == '=' && p->at[1] == '<'   ? "\"<=\""
                             : c == '=' && p->at[1] == '>' ? "\">=\""
                             : c == '='                    ? "\"==\""
                             : c == '<' || c == '>'        ? "\"<=\" or \">=\""
                                                           : "an operator or one of <= >= ==");
    p->at += 2;
    return 0;
}

/* "1 <= a <= 2" is what many try first: it gets a message of its own. */
static int check_end(struct parser *p)
{
    if (!*p->at)
        return 0;
    if (strchr("<>=", *p->at))
        return err_set(p->e, ERR_PARSE, "col %d: second comparison; write two constraints", column(p, p->at));
    return unexpected(p, "an operator or the end");
}

static int parse_constraint(struct parser *p, struct linexpr *out, double *left, double *right)
{
    int rc = parse_sum(p, left);
    if (!rc)
        rc = parse_sense(p, &out->sense);
    if (!rc)
        rc = parse_sum(p, right);
    if (!rc)
        rc = check_end(p);
    if (rc)
        return rc;
    /* Adding 0 turns a -0 that a sign left behind into 0. */
    for (int i = 0; i < p->n; i++)
        left[i] = left[i] - right[i] + 0.0;
    left[p->n] = right[p->n] - left[p->n] + 0.0;
    rc = check_finite(p, left, p->text);
    if (rc)
        return rc;
    if (is_constant(p, left))
        return err_set(p->e, ERR_PARSE, "col 1: %s, expected a name with a factor other than 0",
                       p->named ? "the names cancel out" : "holds no name");
    memcpy(out->coef, left, (size_t)p->n * sizeof *left);
    out->rhs = left[p->n];
    return 0;
}

int linexpr_parse(struct linexpr *out, const char *text, const char *const *names, int n, struct err *e)
{
    size_t form = (size_t)n + 1;
    double *forms = calloc((2 * (MAX_DEPTH + 1) + 2) * form, sizeof *forms);
    if (!forms)
        return err_nomem(e, "constraint");
    struct parser p = {
        .text = text, .at = text, .names = names, .n = n, .scratch = forms + 2 * form, .e = e
    };
    for (int i = 0; i < n; i++)
        /* Readings of a name are never longer than the longest one, which keeps "a-a-a-..." linear. */
        p.longest = strlen(names[i]) > p.longest ? strlen(names[i]) : p.longest;
    int rc = parse_constraint(&p, out, forms, forms + form);
    free(forms);
    return rc;
}

/* ---- texts in files ---- */

/* Text after "col N: " continues "constraints[0]", from where it says what is wrong. */
static const char *joint(const char *rest)
{
    if (strncmp(rest, "is ", 3) == 0 || strncmp(rest, "holds ", 6) == 0)
        return " ";
    return strncmp(rest, "unknown ", 8) == 0 ? " has " : ": ";
}

/*
 * Column of the fault: counted in the text, which starts after the quote if there is
 * one. A text with line breaks started on the line below, so its own place must do.
 */
bool linexpr_holds(enum linexpr_sense sense, double rhs, double sum, double size)
{
    double over = sum - rhs, slack = LINEXPR_REL * (fabs(rhs) + size);
    if (!isfinite(slack))
        slack = 0;
    return (sense == LINEXPR_GE || over <= slack) && (sense == LINEXPR_LE || over >= -slack);
}

int linexpr_fail(const struct yaml_doc *doc, yaml_id id, const struct err *inner, struct err *e)
{
    const struct yaml_node *node = &doc->nodes[id];
    char path[256], place[400];
    char *rest;
    if (strncmp(inner->msg, "col ", 4) != 0)
        return err_set(e, inner->code, "%s", inner->msg);
    long col = strtol(inner->msg + 4, &rest, 10);
    rest += strspn(rest, ": ");
    yaml_path(doc, id, path, sizeof path);
    yaml_place(doc, id, place, sizeof place);
    if (!strchr(node->text, '\n'))
        snprintf(strrchr(place, ':'), 16, ":%ld", node->text_col + col - 1 + node->quoted);
    return err_set(e, inner->code, "%s: %s%s%s", place, path, joint(rest), rest);
}
