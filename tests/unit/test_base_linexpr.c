/* Linear constraints: text against coefficients by hand, and random ones against arithmetic. */
#include "tests/support.h"
#include "base/linexpr.h"
#include "base/text.h"

enum { N_NAMES = 6 };

static const char *const names[N_NAMES] = { "pod", "node", "pod-a", "a", "x.y_1", "usd" };

TEST(constraints_become_coefficients)
{
    static const struct {
        const char *text;
        double coef[N_NAMES];
        enum linexpr_sense sense;
        double rhs;
    } cases[] = {
        { "pod <= 50", { 1 }, LINEXPR_LE, 50 },
        { "pod + 2*node <= 200", { 1, 2 }, LINEXPR_LE, 200 },
        { "usd <= 20e6", { [5] = 1 }, LINEXPR_LE, 20e6 },
        { "pod >= node", { 1, -1 }, LINEXPR_GE, 0 },
        { "pod + node == 200", { 1, 1 }, LINEXPR_EQ, 200 },
        { "200 == pod + node", { -1, -1 }, LINEXPR_EQ, -200 },
        { "3 + pod <= 5 - node + 2", { 1, 1 }, LINEXPR_LE, 4 },
        { "node*3 >= pod/4", { -0.25, 3 }, LINEXPR_GE, 0 },
        { "2*(pod + node)/4 - 1 <= 0", { 0.5, 0.5 }, LINEXPR_LE, 1 },
        { "(pod + node)*2 <= (1 + 2)*3", { 2, 2 }, LINEXPR_LE, 9 },
        { "6/2*pod <= 1", { 3 }, LINEXPR_LE, 1 }, /* left to right */
        { "8/4/2*pod <= 1", { 1 }, LINEXPR_LE, 1 },
        { "10 - 3 - 2 >= pod", { -1 }, LINEXPR_GE, -5 },
        { "-pod >= -5", { -1 }, LINEXPR_GE, -5 },
        { "- -pod + -+2*node <= +1", { 1, -2 }, LINEXPR_LE, 1 },
        { "-2*-3*pod <= 1", { 6 }, LINEXPR_LE, 1 },
        { "pod + pod + pod <= 1", { 3 }, LINEXPR_LE, 1 },
        { ".5*pod <= 1.e1", { 0.5 }, LINEXPR_LE, 10 },
        { "pod<=2E-3", { 1 }, LINEXPR_LE, 2e-3 },
        { "\t pod\n<= 1  ", { 1 }, LINEXPR_LE, 1 },
        { "0*node + pod <= 1", { 1 }, LINEXPR_LE, 1 },
        { "(2)*((pod)) <= (((1)))", { 2 }, LINEXPR_LE, 1 },
        /* '-' is part of a name only when the longest known name has it */
        { "pod-a <= 1", { [2] = 1 }, LINEXPR_LE, 1 },
        { "pod - a <= 1", { 1, [3] = -1 }, LINEXPR_LE, 1 },
        { "pod -a <= 1", { 1, [3] = -1 }, LINEXPR_LE, 1 },
        { "pod-node <= 1", { 1, -1 }, LINEXPR_LE, 1 },
        { "pod-a-a <= 1", { [2] = 1, [3] = -1 }, LINEXPR_LE, 1 },
        { "a-pod-a <= 1", { [2] = -1, [3] = 1 }, LINEXPR_LE, 1 },
        { "pod-1 <= 0", { 1 }, LINEXPR_LE, 1 },
        { "pod-2e1 <= 0", { 1 }, LINEXPR_LE, 20 },
        { "pod- a <= 1", { 1, [3] = -1 }, LINEXPR_LE, 1 },
        { "pod--a <= 1", { 1, [3] = 1 }, LINEXPR_LE, 1 },
        { "x.y_1-a <= 1", { [4] = 1, [3] = -1 }, LINEXPR_LE, 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double coef[N_NAMES] = { NAN, NAN, NAN, NAN, NAN, NAN };
        struct linexpr x = { .coef = coef };
        OK(linexpr_parse(&x, cases[i].text, names, N_NAMES, e));
        assert_true(x.sense == cases[i].sense && x.rhs == cases[i].rhs);
        for (int k = 0; k < N_NAMES; k++)
            assert_true(coef[k] == cases[i].coef[k]);
    }
}

TEST(zeros_have_no_sign)
{
    static const char *const cases[] = { "-(pod) <= 0", "pod <= -0", "0 >= -pod", "-0 + pod <= 0" };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double coef[N_NAMES];
        struct linexpr x = { .coef = coef };
        OK(linexpr_parse(&x, cases[i], names, N_NAMES, e));
        assert_false(signbit(x.rhs));
        for (int k = 1; k < N_NAMES; k++)
            assert_false(signbit(coef[k]));
    }
}

TEST(mistakes_are_told_with_their_column)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "col 1: the text ends, expected a number, a name or \"(\"" },
        { "   ", "col 4: the text ends, expected a number" },
        { "pod", "col 4: the text ends, expected an operator or one of <= >= ==" },
        { "pod <=", "col 7: the text ends, expected a number" },
        { "pod = 5", "col 5: is \"=\", expected \"==\"" },
        { "pod < 5", "col 5: is \"<\", expected \"<=\" or \">=\"" },
        { "pod > 5", "col 5: is \">\", expected \"<=\" or \">=\"" },
        { "pod != 5", "col 5: is \"!\", expected an operator or one of <= >= ==" },
        { "pod \xe2\x89\xa4 5", "col 5: is \"\xe2\x89\xa4\", expected an operator" },
        { "1 <= pod <= 5", "col 10: second comparison; write two constraints" },
        { "pod == 5 = 5", "col 10: second comparison" },
        { "pod <= 5 node", "col 10: is \"node\", expected an operator or the end" },
        { "pod <= 5)", "col 9: is \")\", expected an operator or the end" },
        { "2 pod <= 5", "col 3: is \"pod\", expected an operator" },
        { "2pod <= 5", "col 2: is \"pod\", expected an operator" },
        { "(pod <= 5", "col 6: is \"<\", expected an operator or \")\"" },
        { "() <= 5", "col 2: is \")\", expected a number, a name or \"(\"" },
        { "pod + * 2 <= 5", "col 7: is \"*\", expected a number, a name or \"(\"" },
        { "pod % 2 <= 5", "col 5: is \"%\", expected an operator" },
        { "pod*node <= 5", "col 4: product of two names; one side of \"*\" must be a number" },
        { "2*pod*(1 + node) <= 5", "col 6: product of two names" },
        { "1/pod <= 5", "col 2: division by a name; only a number may follow \"/\"" },
        { "pod/0 <= 5", "col 4: division by zero" },
        { "pod/(2 - 2) <= 5", "col 4: division by zero" },
        { "1 <= 2", "col 1: holds no name, expected a name with a factor other than 0" },
        { "pod - pod <= 2", "col 1: the names cancel out, expected a name" },
        { "pod <= pod", "col 1: the names cancel out" },
        { "0*pod <= 1", "col 1: the names cancel out" },
        { "pod <= 1e999", "col 8: is \"1e999\", expected a finite decimal number" },
        { "pod <= 1.2.3", "col 8: is \"1.2.3\", expected a finite decimal number" },
        { "pod <= 010", "col 8: is \"010\", expected a finite decimal number" },
        { "pod <= .", "col 8: is \".\", expected a finite decimal number" },
        { "pod <= 0x10", "col 9: is \"x10\", expected an operator" },
        { "pod <= nan", "col 8: unknown name \"nan\"" },
        { "1e308*10*pod <= 1", "col 6: result is not finite; use smaller numbers" },
        { "pod/1e-200/1e-200 <= 1", "col 11: result is not finite" },
        { "pod <= 1e308 + 1e308", "col 14: result is not finite" },
        { "pod - 1e308 <= 1e308", "col 1: result is not finite" },
        { "pdo <= 5", "col 1: unknown name \"pdo\"; did you mean \"pod\"?" },
        { "2*nod + pod <= 5", "col 3: unknown name \"nod\"; did you mean \"pod\"?" },
        { "pod + Usd <= 5", "col 7: unknown name \"Usd\"; did you mean \"usd\"?" },
        { "pod-b <= 5", "col 5: unknown name \"b\"" },
        { "nodee-pod <= 5", "col 1: unknown name \"nodee\"; did you mean \"node\"?" },
        { "pod-ab <= 5", "col 5: unknown name \"ab\"; did you mean \"a\"?" },
        { "x.y_12 <= 5", "col 1: unknown name \"x.y_12\"; did you mean \"x.y_1\"?" },
        { "rack <= 5", "col 1: unknown name \"rack\", expected one of pod, node, pod-a, a, x.y_1, usd" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double coef[N_NAMES];
        struct linexpr x = { .coef = coef };
        FAILS(linexpr_parse(&x, cases[i].text, names, N_NAMES, e), ERR_PARSE, cases[i].want);
        assert_int_equal(strncmp(e->msg, "col ", 4), 0);
    }
}

TEST(unknown_names_list_what_is_known)
{
    static const char *const many[] = { "d01", "d02", "d03", "d04", "d05", "d06", "d07",
                                        "d08", "d09", "d10", "d11", "d12", "d13" };
    double coef[COUNT_OF(many)];
    struct linexpr x = { .coef = coef };
    FAILS(linexpr_parse(&x, "bandwidth <= 1", many, COUNT_OF(many), e), ERR_PARSE, "d11, d12, ...");
    assert_null(strstr(e->msg, "d13"));
    FAILS(linexpr_parse(&x, "bandwidth <= 1", many, 1, e), ERR_PARSE, "expected d01");
    FAILS(linexpr_parse(&x, "bandwidth <= 1", NULL, 0, e), ERR_PARSE,
          "unknown name \"bandwidth\", expected a number (no names are known here)");
}

TEST(parentheses_nest_to_32)
{
    double coef[N_NAMES];
    struct linexpr x = { .coef = coef };
    for (int depth = 31; depth <= 33; depth++) {
        char text[128] = "";
        memset(text, '(', (size_t)depth);
        strcat(text, "pod");
        memset(text + depth + 3, ')', (size_t)depth);
        strcat(text, " <= 1");
        if (depth <= 32)
            OK(linexpr_parse(&x, text, names, N_NAMES, e));
        else
            FAILS(linexpr_parse(&x, text, names, N_NAMES, e), ERR_PARSE,
                  "col 33: parentheses are nested too deep, expected at most 32");
    }
}

/* 200,000 times the same: neither the stack nor the patience runs out. */
TEST(hostile_lengths_end_in_a_message)
{
    static const char *const cases[] = { "(", "-",  "+",  "a",  "1",  ".",  "*",
                                         "_", "a-", "b-", "a+", "1-", "a*", "(a+" };
    double coef[N_NAMES];
    struct linexpr x = { .coef = coef };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, t, text_free) = { 0 };
        for (int k = 0; k < 200000; k++)
            text_puts(&t, cases[i]);
        FAILS(linexpr_parse(&x, t.s, names, N_NAMES, e), ERR_PARSE, "col ");
    }
}

/* An expression and, beside its text, its value at one point, worked out by plain arithmetic. */
struct sample {
    struct text text;
    struct rng *rng;
    const double *at; /* value of each name */
};

struct value {
    double x, size; /* size: what the rounding errors are relative to */
};

static bool coin(struct sample *s)
{
    return rng_below(s->rng, 2) == 1;
}

static void put_space(struct sample *s)
{
    text_puts(&s->text, coin(s) ? " " : "");
}

static struct value put_number(struct sample *s)
{
    double x = (double)(1 + rng_below(s->rng, 64)) / 8; /* exact in 3 decimals */
    text_printf(&s->text, coin(s) ? "%g" : "%.3e", x);
    return (struct value){ x, x };
}

static struct value put_sum(struct sample *s, int depth, bool with_names);

static struct value put_factor(struct sample *s, int depth, bool with_names)
{
    struct value v;
    double sign = 1;
    for (put_space(s); rng_below(s->rng, 5) == 0; put_space(s)) {
        sign = -sign;
        text_puts(&s->text, "-");
    }
    if (depth > 0 && coin(s)) {
        text_puts(&s->text, "(");
        v = put_sum(s, depth - 1, with_names);
        text_puts(&s->text, ")");
    } else if (with_names && rng_below(s->rng, 4)) {
        int64_t i = rng_below(s->rng, N_NAMES);
        text_puts(&s->text, names[i]);
        v = (struct value){ s->at[i], fabs(s->at[i]) };
    } else
        v = put_number(s);
    text_puts(&s->text, " "); /* "pod -a" and "pod-a" are different things */
    return (struct value){ sign * v.x, v.size };
}

/* At most one factor has names; a divisor is a plain number, which is never zero. */
static struct value put_term(struct sample *s, int depth, bool with_names)
{
    int64_t n_factors = 1 + rng_below(s->rng, 3), named = rng_below(s->rng, n_factors);
    struct value v = put_factor(s, depth, with_names && named == 0);
    for (int64_t i = 1; i < n_factors; i++) {
        if (!(with_names && named == i) && coin(s)) {
            text_puts(&s->text, "/");
            struct value by = put_number(s);
            text_puts(&s->text, " ");
            v = (struct value){ v.x / by.x, v.size / by.x };
        } else {
            text_puts(&s->text, "*");
            struct value by = put_factor(s, depth, with_names && named == i);
            v = (struct value){ v.x * by.x, v.size * by.size };
        }
    }
    return v;
}

static struct value put_sum(struct sample *s, int depth, bool with_names)
{
    struct value v = put_term(s, depth, with_names);
    for (int64_t n = rng_below(s->rng, 3); n > 0; n--) {
        bool minus = coin(s);
        text_puts(&s->text, minus ? "-" : "+");
        struct value w = put_term(s, depth, with_names);
        v = (struct value){ minus ? v.x - w.x : v.x + w.x, v.size + w.size };
    }
    return v;
}

/* left - right at the point must be sum(coef * name) - rhs: the parser never evaluates, the sample never
 * collects. */
static bool sample_agrees(struct sample *s)
{
    static const struct {
        const char *text;
        enum linexpr_sense want;
    } senses[] = { { "<=", LINEXPR_LE }, { ">=", LINEXPR_GE }, { "==", LINEXPR_EQ } };
    double coef[N_NAMES], got = 0;
    struct linexpr x = { .coef = coef };
    struct err e = { 0 };
    int64_t sense = rng_below(s->rng, 3);
    struct value left = put_sum(s, 3, true);
    text_puts(&s->text, senses[sense].text);
    struct value right = put_sum(s, 3, coin(s));
    if (linexpr_parse(&x, text_str(&s->text), names, N_NAMES, &e) != 0) {
        assert_has(e.msg, "expected a name with a factor"); /* no name was drawn, or they cancel */
        return false;
    }
    for (int i = 0; i < N_NAMES; i++)
        got += coef[i] * s->at[i];
    assert_int_equal(x.sense, senses[sense].want);
    assert_near(got - x.rhs, left.x - right.x, 1e-12 * (left.size + right.size));
    return true;
}

TEST(random_expressions_mean_what_arithmetic_says)
{
    struct sample s = { 0 };
    int n_parsed = 0;
    OK(rng_build(&s.rng, 2024, 0, e));
    for (int i = 0; i < 20000; i++) {
        double at[N_NAMES];
        for (int k = 0; k < N_NAMES; k++)
            at[k] = rng_range(s.rng, -10, 10);
        s.at = at;
        text_clear(&s.text);
        n_parsed += sample_agrees(&s);
    }
    assert_in_range(n_parsed, 15000, 20000);
    text_free(&s.text);
    rng_free(s.rng);
}

/* Random characters of the grammar: always an answer or a message (the sanitizers look). */
TEST(random_characters_are_parsed_or_refused)
{
    static const char letters[] = "pod-a  +*/()<>==12.e_";
    double coef[N_NAMES];
    struct linexpr x = { .coef = coef };
    RNG(r, 7, 7);
    for (int i = 0; i < 50000; i++) {
        char text[24] = "";
        int64_t n = rng_below(r, sizeof text);
        for (int64_t k = 0; k < n; k++)
            text[k] = letters[rng_below(r, sizeof letters - 1)];
        int rc = linexpr_parse(&x, text, names, N_NAMES, e);
        assert_true(rc == 0 || (rc == ERR_PARSE && strncmp(e->msg, "col ", 4) == 0));
    }
}

/* |sum - rhs| against 1e-9 (|rhs| + size). */
TEST(limits_hold_to_the_rounding_of_their_terms)
{
    CASES(enum linexpr_sense sense; double rhs, sum, size; bool holds) = {
        { LINEXPR_LE, 0.3, 0.1 + 0.2, 0.3, true },
        { LINEXPR_LE, 1, 1 + 1.9e-9, 1, true },
        { LINEXPR_LE, 1, 1 + 2.1e-9, 1, false },
        { LINEXPR_GE, 1, 1 - 1.9e-9, 1, true },
        { LINEXPR_GE, 1, 1 - 2.1e-9, 1, false },
        { LINEXPR_EQ, 1, 1 + 1.9e-9, 1, true },
        { LINEXPR_EQ, 1, 1 - 2.1e-9, 1, false },
        { LINEXPR_LE, 0, 1e-7, 200, true },
        { LINEXPR_LE, 0, 0, 0, true },
        { LINEXPR_LE, 0, 1e-300, 0, false },
        { LINEXPR_LE, 1, INFINITY, INFINITY, false },
        { LINEXPR_GE, 1, INFINITY, INFINITY, true },
        { LINEXPR_LE, 1, -INFINITY, INFINITY, true },
        { LINEXPR_LE, 1, NAN, NAN, false },
        { LINEXPR_GE, 1, NAN, NAN, false },
        { LINEXPR_EQ, 1, NAN, NAN, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(linexpr_holds(cases[i].sense, cases[i].rhs, cases[i].sum, cases[i].size),
                         cases[i].holds);
}
