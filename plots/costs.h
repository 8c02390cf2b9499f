/** @file The rows of `weft hetero`: what each scheduler of layers came to at each point. */
#ifndef PLOTS_COSTS_H
#define PLOTS_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "plots/names.h"
#include "plots/points.h"
#include "plots/rows.h"

enum { COSTS_MAX_POINTS = 6, COSTS_MAX_SCHEDULERS = 24 };

/** What a scheduler came to at a point. */
struct cost {
    bool there;             /**< the table has it */
    bool has_plan;          /**< else `state` says why not */
    bool is_free;           /**< the plan costs 0 USD */
    struct text state;      /**< owned: "infeasible: reaches 1.2 M of 2 M examples/s" */
    double ratio;           /**< median over seeds, to what `oracle` is; NaN = blank */
    double worst;           /**< of the dearest seed; NaN = not known */
    double seeds, feasible; /**< how many, and how many have a plan; NaN = not known */
};

/** What is known of the cheapest plan of a point. */
enum costs_proof { COSTS_UNPROVED, COSTS_OPTIMAL, COSTS_LOWER_BOUND, N_COSTS_PROOFS };
/** "oracle", "optimum", "lower bound". */
extern const char *const costs_proof_words[N_COSTS_PROOFS];

struct costs_oracle {
    double usd; /**< NaN = not known */
    enum costs_proof proof;
};

/** Zero-initialise; release with costs_free(). */
struct costs {
    struct points points;
    struct names schedulers; /**< owned texts, in the order of the table */
    int32_t n_schedulers;    /**< how many are drawn */
    struct cost *list;       /**< shape [points.n][COSTS_MAX_SCHEDULERS], owned */
    struct costs_oracle oracle[COSTS_MAX_POINTS];
    bool over_best; /**< the table has no ratios to the oracle: they are to the cheapest of the schedulers */
    double most_seeds; /**< of a row */
    int64_t n_blank;   /**< rows that are done, but have no ratio */
    int64_t n_again;   /**< rows that repeat a point and a scheduler */
    bool any_ratio, any_state;
};

/**
 * Read the rows of @p r that pass its filters. A scheduler has a plan when it has a ratio, be it that some
 * seeds have none. Time O(rows * columns).
 * @return 0; ERR_PARSE: a column is missing, a cell holds what cannot be, or no row is left; ERR_NOMEM
 */
int costs_read(struct costs *x, const struct rows *r, struct err *e);
void costs_free(struct costs *x);

static inline struct cost *costs_at(const struct costs *x, int32_t point, int32_t scheduler)
{
    return &x->list[(int64_t)point * COSTS_MAX_SCHEDULERS + scheduler];
}

/** Whether seeds differ: there is a dearest one. */
bool costs_has_worst(const struct cost *c);

/** What the ratios are to: a word that is true of all points where it is known. */
const char *costs_reference(const struct costs *x);

#endif
