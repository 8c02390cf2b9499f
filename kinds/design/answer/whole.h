/** @file The best whole design of a study: bandwidths that ports give, at the price of what is bought. */
#ifndef KINDS_DESIGN_ANSWER_WHOLE_H
#define KINDS_DESIGN_ANSWER_WHOLE_H

#include "alloc/whole.h"
#include "kinds/design/ask/point.h"

/**
 * Solve @p p, which asks what @p s asks (pricing whole), over the lattice of its ports: of every entry with a
 * free bandwidth the multiples of topo_port_step_Bps() up to what the rows allow, and one beyond. Where
 * nothing limits a bandwidth the limit is what a design that is known is worth: parts that cost more on their
 * own cannot be better.
 *
 * @param relaxed  answer to @p p in fractions: with a split, or ill-posed, which whole parts need not be.
 * @param[out] relaxed_bound  no design in fractions has less; where that is ill-posed: none with a link
 * everywhere; NaN where nothing is known.
 * Where p->most_value > 0, infeasible says that no design is worth as little.
 * @return 0 (read out->status: also ALLOC_ILL_POSED where nothing limits the bandwidths; ALLOC_STALLED with a
 * value of NaN where an entry alone has more than WHOLE_MAX_CHOICES designs), ERR_NOMEM.
 */
int design_solve_whole(struct whole_answer *out, const struct design_point *s, const struct alloc_problem *p,
                       const struct alloc_answer *relaxed, double *relaxed_bound, struct err *e);

/** The rows that no whole design breaks: a link in every dimension that the step of @p p uses. @p rows: room
 * for TOPO_MAX_DIMS. Returns how many. */
int32_t design_put_floors(struct alloc_row *rows, const struct design_point *s,
                          const struct alloc_problem *p);

/* ---- designs without a workload, for whoever compares several ---- */

enum { WHOLE_LIST_MAX = 1 << 14, WHOLE_LIST_TRIED = 1 << 20 };

/** What a design is worth at a step time is design_whole_value() of its factor. */
struct whole_design {
    double bw_Bps[TOPO_MAX_DIMS]; /**< 0: no links, which only what sends nothing there may have */
    double factor, usd;
};

/** Release with design_list_free(). */
struct whole_list {
    struct whole_design *list; /**< shape [n], owned */
    int64_t n;
    bool too_many; /**< more than WHOLE_LIST_MAX, or too many combinations to try: not all are there */
};

/** What designs are left out. */
struct whole_limit {
    double most_Bps[TOPO_MAX_DIMS]; /**< those with more, by more than a link; INFINITY: none */
    double value, least_s;          /**< those that are worth more than this at this time */
};

/** All whole designs of @p s that satisfy the rows of @p p, whose step is not looked at. ERR_NOMEM. */
int design_list_whole(struct whole_list *out, const struct design_point *s, const struct alloc_problem *p,
                      const struct whole_limit *limit, struct err *e);
void design_list_free(struct whole_list *l);

/** What the objective of @p p makes of a whole design that spends @p spent, shape [N_ALLOC_SPENT], beside
 * time: what it is multiplied with, or its price. */
double design_whole_factor(const struct alloc_problem *p, const double *bw_Bps, const double *spent,
                           int32_t n_dims);
/** The objective at @p time_s; where p->exact is given a lower bound of that. Never falls with time. */
double design_whole_value(const struct alloc_problem *p, double factor, double time_s);

#endif
