/** @file What the progress of a job is worth. */
#ifndef SIM_CLUSTER_UTILITY_H
#define SIM_CLUSTER_UTILITY_H

#include <stdbool.h>

#include "base/err.h"

enum utility_kind {
    UTILITY_LINEAR,           /**< scale * k */
    UTILITY_SQRT,             /**< scale * sqrt(k) */
    UTILITY_LOG,              /**< scale * log(1 + k): finite at 0 */
    UTILITY_SIGMOID,          /**< scale / (1 + exp(-slope (k - middle))) */
    UTILITY_SIGMOID_ENVELOPE, /**< the least concave function above that sigmoid on [0, most] */
    N_UTILITIES,
};

/** "linear", "sqrt", "log", "sigmoid", "sigmoid-env", NULL: in the order of enum utility_kind, for key
 * tables. */
extern const char *const utility_words[N_UTILITIES + 1];

/** A non-decreasing function of the iterations done, k >= 0. Plain value. */
struct utility {
    enum utility_kind kind;
    double scale;  /**< >= 0 */
    double slope;  /**< of a sigmoid [1/iteration], > 0 */
    double middle; /**< of a sigmoid, its point of inflection [iterations] */
    double touch;  /**< of an envelope: chord from 0 up to here, the sigmoid from here on [iterations] */
};

/**
 * A utility that can be evaluated.
 *
 * A sigmoid is convex below its middle, so the guarantees of GADGET (arXiv 2202.01158), which need concave
 * utilities, do not hold for it, and its marginal gain far below the middle is less than any rounding error.
 * Its envelope is concave: the chord from (0, u(0)) to where a line from there touches the sigmoid, or to
 * @p most if it would touch beyond.
 *
 * @param slope, middle  of the sigmoids only
 * @param most           of the envelope: most iterations that the job can do; INFINITY is fine
 * @return 0 or ERR_RANGE.
 */
int utility_build(struct utility *u, enum utility_kind kind, double scale, double slope, double middle,
                  double most, struct err *e);

/** Utility of @p k iterations. */
double utility_at(const struct utility *u, double k);

/** utility_at(from + gain) - utility_at(from), without cancellation far from a sigmoid's middle; >= 0. Both
 * arguments are >= 0. */
double utility_gain(const struct utility *u, double from, double gain);

/** Is it concave on what it was built for, [0, most] for an envelope? */
bool utility_is_concave(const struct utility *u);

#endif
