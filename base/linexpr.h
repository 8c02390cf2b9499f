/**
 * @file Linear constraints as text: "pod + 2*node <= 200", over names the caller knows.
 *
 * One syntax for all limits that a user writes: constraints of the split, `where` and `keep` of a study,
 * limits of a sweep of bandwidths and of figures.
 */
#ifndef BASE_LINEXPR_H
#define BASE_LINEXPR_H

#include "base/yaml.h"

enum linexpr_sense { LINEXPR_LE, LINEXPR_GE, LINEXPR_EQ };

/** sum_i coef[i]*name[i]  sense  rhs. Constants on either side are gathered in rhs. */
struct linexpr {
    double *coef; /**< shape [n], owned by the caller who passes it in */
    enum linexpr_sense sense;
    double rhs;
};

/**
 * Parse @p text over @p names (shape [n]). Grammar:
 *
 *     constraint = side ("<=" | ">=" | "==") side
 *     side       = term { ("+" | "-") term }
 *     term       = factor { ("*" | "/") factor }        one of them a number; "/" by a number
 *     factor     = { "+" | "-" } (NUMBER | NAME | "(" side ")")
 *
 * NUMBER as in num_parse_real() without sign; NAME is [A-Za-z_][A-Za-z0-9_.-]*, where a '-'
 * belongs to the name only when the longest known name has it: "a-b" is a minus b unless "a-b"
 * is a name. Spaces are free. Parentheses nest to 32. Refused: a chain "a <= b <= c", numbers
 * or results that are not finite, and constraints in which every coefficient is 0.
 *
 * @param[in,out] out  out->coef has room for n and is overwritten on success.
 * @return 0, ERR_NOMEM or ERR_PARSE; the message starts with the column ("col 7: unknown
 *         name \"pdo\"; did you mean \"pod\"?") so that callers can place it. Time O(length * n).
 */
int linexpr_parse(struct linexpr *out, const char *text, const char *const *names, int n, struct err *e);

/** Limits of `where`, `keep` and figures hold to within this share of the magnitudes of their terms: sums of
 * decimals miss by rounding, and 0.1 + 0.2 is within 0.3. */
#define LINEXPR_REL 1e-9

/** Does a limit hold whose terms add up to @p sum, and their magnitudes to @p size? NaN: it does not. */
bool linexpr_holds(enum linexpr_sense sense, double rhs, double sum, double size);

/**
 * The failure @p inner of a text that is scalar @p id, with the place of the fault in it: "file:line:col:
 * constraints[0] has unknown name ...". Returns its code.
 */
int linexpr_fail(const struct yaml_doc *doc, yaml_id id, const struct err *inner, struct err *e);

#endif
