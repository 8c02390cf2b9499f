/** @file What a split is chosen for. One row says all that differs from objective to objective. */
#ifndef ALLOC_OBJECTIVE_H
#define ALLOC_OBJECTIVE_H

#include <stdbool.h>

enum alloc_objective {
    ALLOC_TIME,
    ALLOC_UTILIZATION,
    ALLOC_PERF_PER_COST,
    ALLOC_COST,
    ALLOC_PERF_PER_WATT,
    ALLOC_TCO_PER_TOKEN,
    N_ALLOC_OBJECTIVES,
    ALLOC_USUAL = ALLOC_TIME, /**< of a study that names none */
};

/** What a design spends besides bandwidth, of the whole cluster. */
enum alloc_spent {
    ALLOC_USD,
    ALLOC_NIC_USD,  /**< USD for NICs */
    ALLOC_WATT,     /**< of the network, with the NPUs where they are counted */
    ALLOC_OWN_WATT, /**< of the whole machine, nameplate of IT */
    ALLOC_OWN_USD,  /**< to own the whole machine, a year */
    ALLOC_STOPS,    /**< interruptions a second by parts of the network */
    N_ALLOC_SPENT
};

/** The value, of the time T(B) and an affine W(B). Solvers, bounds and the verifier have a method for each.
 */
enum alloc_form {
    ALLOC_FORM_TIME,    /**< T */
    ALLOC_FORM_PRODUCT, /**< T W */
    ALLOC_FORM_LIMITED, /**< W, with T <= alloc_problem.time_limit_s */
};

/** What W(B) is. */
enum alloc_counted {
    ALLOC_COUNTED_USD,       /**< the price: usd_fixed + usd_per_Bps . B */
    ALLOC_COUNTED_BANDWIDTH, /**< the sum of all bandwidths */
    ALLOC_COUNTED_FACTOR,    /**< alloc_problem.factor_fixed + factor_per_Bps . B */
};

struct alloc_objective_row {
    const char *goal; /**< for people: "least time" */
    const char *gain; /**< what grows as the value falls, for people; NULL: time or price alone */
    const char *unit; /**< of the value for people, which is per_SI times that in SI */
    double per_SI;
    enum alloc_form form; /**< values are the better the less they are */
    enum alloc_counted counted;
    enum alloc_spent factor; /**< ALLOC_COUNTED_FACTOR: what of the whole machine it follows */
    bool sends_alone;        /**< T is the time of communication, without compute */
};

extern const struct alloc_objective_row alloc_objectives[N_ALLOC_OBJECTIVES];

/** Their words, NULL-terminated, for key tables. */
extern const char *const alloc_objective_names[N_ALLOC_OBJECTIVES + 1];

static inline bool alloc_is_time(enum alloc_objective o)
{
    return alloc_objectives[o].form == ALLOC_FORM_TIME;
}

static inline bool alloc_is_product(enum alloc_objective o)
{
    return alloc_objectives[o].form == ALLOC_FORM_PRODUCT;
}

static inline bool alloc_is_limited(enum alloc_objective o)
{
    return alloc_objectives[o].form == ALLOC_FORM_LIMITED;
}

static inline bool alloc_has_factor(enum alloc_objective o)
{
    return alloc_objectives[o].counted == ALLOC_COUNTED_FACTOR;
}

static inline bool alloc_needs_prices(enum alloc_objective o)
{
    return !alloc_is_time(o) && alloc_objectives[o].counted != ALLOC_COUNTED_BANDWIDTH;
}

/** The value at T and W; whether a limit on T is kept is alloc_is_late()'s to say. */
static inline double alloc_value_of(enum alloc_objective o, double time_s, double w)
{
    return alloc_is_time(o) ? time_s : alloc_is_limited(o) ? w : time_s * w;
}

#endif
