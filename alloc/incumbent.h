/**
 * @file What a search for a least value has to beat, and what it has proved of all that it did not solve.
 *
 * Whatever is searched (whole parts of one plan, plans, pairs of both), each candidate is solved, ruled out
 * by a bound, or left open for want of work. What is proved is proved of the whole question or not at all:
 * nothing that is open may be as good as the best.
 */
#ifndef ALLOC_INCUMBENT_H
#define ALLOC_INCUMBENT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/** Values and prices closer than this are equal. */
#define INCUMBENT_EQUAL_REL 1e-12

struct incumbent {
    double value, price; /**< of the best, or the last of the best few, and of equals the cheapest; INFINITY
                            as long as there are not so many */
    double margin; /**< bounds above value (1 + margin) are ruled out: > 0 keeps ties, < 0 drops what is as
                      good */
    double open;   /**< least bound of what was left open; INFINITY: nothing */
    int64_t n_ruled_out, n_open;
};

static inline struct incumbent incumbent_none(double margin)
{
    return (struct incumbent){ INFINITY, INFINITY, margin, INFINITY, 0, 0 };
}

/** Nothing with a bound above this is looked for. */
static inline double incumbent_limit(const struct incumbent *x)
{
    return x->value * (1 + x->margin);
}

/** Can nothing replace the best if its value is at least @p bound? A bound of INFINITY has no design at all.
 */
static inline bool incumbent_rules_out(const struct incumbent *x, double bound)
{
    return bound > incumbent_limit(x) || bound > DBL_MAX;
}

/** The same of what costs at least @p price, where of equal values the cheaper one is better. */
static inline bool incumbent_rules_out_priced(const struct incumbent *x, double bound, double price)
{
    return incumbent_rules_out(x, bound) ||
           (bound >= x->value * (1 - x->margin) && price > x->price * (1 + x->margin));
}

/** < 0: better than the best by value, or as good and cheaper; 0: equal in both; > 0: worse. */
static inline int incumbent_compare(const struct incumbent *x, double value, double price)
{
    if (value < x->value * (1 - INCUMBENT_EQUAL_REL) || isinf(x->value))
        return -1;
    if (!(value <= x->value * (1 + INCUMBENT_EQUAL_REL)) || price > x->price * (1 + INCUMBENT_EQUAL_REL))
        return 1;
    return price < x->price * (1 - INCUMBENT_EQUAL_REL) ? -1 : 0;
}

/** @p n candidates are left, one of which may have a value of @p bound. */
static inline void incumbent_leave_open(struct incumbent *x, double bound, int64_t n)
{
    x->open = fmin(x->open, bound);
    x->n_open += n;
}

#endif
