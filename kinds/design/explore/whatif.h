/**
 * @file What would have to be otherwise for another design of a study to be the best.
 *
 * Of each input the nearest value, on either side of what the study has, at which another point is better
 * than the best. Inputs are those of a tornado with all (tornado.h): prices with low and high,
 * published ranges of `system` and of servers, keys of `uncertain`; and measured efficiencies, of the matrix
 * products of an NPU and of the links of each dimension. What belongs to a product (its price, power,
 * efficiencies) is moved for that product alone, for each product among the leaders; all else for all points
 * at once.
 *
 * Each input goes to its low or half of what it is, whichever is less, and to its high or twice that. At that
 * end the best of all points is found and proved anew (best.h). Where that is another point, the place at
 * which the two are equal is sought, and the best of all points found again just before it: another one that
 * is better there takes its place, until none is. So between the study's value and the one that is told lies
 * none at which another point is best, unless one overtakes there and falls back again.
 */
#ifndef KINDS_DESIGN_EXPLORE_WHATIF_H
#define KINDS_DESIGN_EXPLORE_WHATIF_H

#include "kinds/design/explore/best.h"
#include "kinds/design/explore/tornado.h"

/** One input, on one side of what it is. */
struct whatif_line {
    char label[160]; /**< "system.npu_usd of gb300-nvl72" */
    double at[3];    /**< low, as it is, high; low and high NaN: nobody published them */
    double value;    /**< the nearest at which another point is best; NaN: none up to `end` */
    double end;      /**< how far was looked */
    int64_t point;   /**< that is best there; -1: none */
    bool proved;     /**< of the ends and of what lies before `value` */
    char path[96];   /**< as in --set */
    int32_t key;     /**< of the axis whose value is `product`, where the input is of that alone; else -1 */
    const char *product; /**< borrowed from the study */
};

/** One of the leaders in all draws of `uncertain`, in which designs keep their splits and plans. */
struct whatif_share {
    int64_t point;
    double best; /**< share of the draws in which it is the best of all that are drawn */
    double
        regret; /**< how much worse than the best of each draw it is, in the mean of draws: a ratio less 1 */
};

enum { WHATIF_MOST_DRAWN = 64 };

/** The designs that are drawn beside the leaders: those that the noise may make the best, as far as draws of
 * the leaders lie apart. */
struct whatif_rest {
    int32_t n;
    bool all;    /**< else there are more than WHATIF_MOST_DRAWN */
    double best; /**< share of the draws in which one of them is the best */
};

/** Release with whatif_free(). */
struct whatif {
    struct whatif_line *lines; /**< shape [n], owned: those with a value first, the nearest by ratio ahead */
    int32_t n, n_found;
    int32_t n_unused; /**< prices of parts that none of the leaders has: not looked at */
};

/** What draws of the study's `uncertain` make of the leaders, shape [n], the best first, and of all designs
 * within the noise, the same draws for all; all NaN where what is sought is not drawn, or not of every
 * design. Limits are those of the study as it is. ERR_NOMEM, and errors of best_find() and uncertain_fill().
 */
int whatif_draw(struct whatif_share *shares, struct whatif_rest *rest, const struct best_ask *ask,
                const int64_t *leaders, int32_t n, struct err *e);

/** Of @p top 1 what the answer of @p ask would become; @p leaders: points, the best first, shape [n], which
 * say which products count. ERR_RANGE: too many keys vary; errors of tornado_build(), but for a study of
 * which nothing is uncertain; ERR_NOMEM. */
int whatif_find(struct whatif *out, const struct best_ask *ask, const int64_t *leaders, int32_t n,
                struct err *e);
void whatif_free(struct whatif *w);

#endif
