/** @file What the constraints of a design cost, what is left of them, and what one step of whole parts does.
 */
#ifndef KINDS_DESIGN_ANSWER_PRICE_H
#define KINDS_DESIGN_ANSWER_PRICE_H

#include "base/column.h"
#include "kinds/design/answer/design.h"

/** Scaled unit of the objective and what a value in SI is multiplied with to get there. */
struct design_unit {
    const char *name; /**< "s", "ratio", "s*GB/s", "s*USD", "USD" */
    double per_SI;
};
/** Depends on the study's objective; with least regret a ratio, whatever the objective. */
struct design_unit design_unit(const struct design_point *s);

/**
 * Fall of the objective, in its unit, per unit of the right-hand side as written (with its limit on the right
 * and positive), rows of one text added up. NaN for DESIGN_REGRET: each workload's own best moves with the
 * row. Of whole parts that of their fractions.
 */
double design_shadow_price(const struct design_point *s, const struct design *d, int32_t row);
/** Has an earlier row the same text? */
bool design_row_repeated(const struct design_point *s, int32_t row);

/** One constraint; design_price_columns describes it. Texts are borrowed from the study. */
struct design_price {
    int32_t row; /**< of the study's rows, the first of its text */
    const char *constraint, *unit, *per, *binding;
    double shadow_price;
    double within; /**< a price of 0 is known so well; NaN: exactly */
    double left;   /**< NaN of an equation, and where parts are not to be had */
};
extern const struct column design_price_columns[];

/** All constraints of a design that has a split; @p out: shape [s->rows.n]. ERR_NOMEM. */
int design_prices(struct design_price *out, int32_t *n, const struct design_point *s, const struct design *d,
                  struct err *e);

/** One dimension of a whole design at the next bandwidth that its ports give, all others as they are;
 * design_step_columns describes it. */
struct design_step {
    const char *dim, *way; /**< way: "up" or "down" */
    double bw_GBps, more_usd, more_s;
    const char *breaks; /**< what keeps it from being a design; NULL: nothing */
};
extern const struct column design_step_columns[];

/** The step of dimension @p k; false: there is none, or the design is not of whole parts. */
bool design_step(struct design_step *out, const struct design_point *s, const struct design *d, int32_t k,
                 bool up);

#endif
