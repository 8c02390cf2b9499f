/** @file One design of a study: the split, its proof, its time and price, beside the equal split. */
#ifndef KINDS_DESIGN_ANSWER_DESIGN_H
#define KINDS_DESIGN_ANSWER_DESIGN_H

#include "alloc/whole.h"
#include "kinds/design/answer/account.h"
#include "kinds/design/answer/choice.h"
#include "kinds/design/ask/point.h"
#include "kinds/design/ask/system.h"
#include "sim/step.h"

/** What one workload does on the design. */
struct design_load {
    double time_s; /**< of one step */
    double best_s; /**< on a network split for it alone under the same rows; NaN unless DESIGN_REGRET */
    struct account account; /**< where the time goes */
    struct sim_step step;
};

/** The study's split problem, all but the step; problem.dim_names points into it: do not copy. */
struct design_question {
    const char *dim_names[TOPO_MAX_DIMS];
    struct alloc_problem problem;
};

void design_ask(struct design_question *q, const struct design_point *s);

/** Release with design_free(), before the point that it answers. */
struct design {
    struct design_choice chosen; /**< chosen.point: what all below is about */
    /** Status first; the rest only when there is a split. Value, gap, bound and `unique` are of the whole
     * question: where plans are searched, of all plans; gap and bound NaN where that is not proved. */
    struct alloc_answer answer;
    bool verified; /**< alloc_verify() came to the same optimality; in whole parts of the relaxation,
                        and time and bill recomputed came to what was optimised; false: not proved */
    bool is_whole; /**< `answer` is the best whole design, of which `relaxed` and `whole` say more */
    struct {
        double bw_Bps[TOPO_MAX_DIMS];
        double lower_bound; /**< as design_solve_whole() gives it */
        enum alloc_status status;
    } relaxed; /**< the same question in fractions of parts */
    struct {
        int32_t tried; /**< plans of a search that no bound ruled out; 0: none was searched */
        bool proved;   /**< no other plan has a better design */
    } plans;
    int32_t n_dims;
    double bw_Bps[TOPO_MAX_DIMS];
    double total_Bps;
    double time_s;          /**< weighted sum over workloads (also under DESIGN_REGRET) */
    struct account account; /**< of it */
    double cost_usd; /**< price, NPUs included if the study says so: of what is bought where pricing is whole,
                        else linear; NaN without parts, or where what is to be bought is not to be had */
    double usd_fraction;             /**< the linear price, a lower bound of the other; NaN without parts */
    double util_frac[TOPO_MAX_DIMS]; /**< share of the step that the dimension is busy */
    double regret;                   /**< largest time over own best; NaN unless solved for DESIGN_REGRET */
    double nic_Bps;                  /**< NIC bandwidth per NPU; NaN without parts */
    struct topo_bill bill;           /**< bill at bw_Bps; empty without parts; nothing for a dimension at 0 */
    bool has_bill;
    char bill_reason[512]; /**< why there are prices but no bill (no Clos so large); "" otherwise */
    struct { /**< the baseline: same total, spread evenly, whatever the constraints say; of whole parts as far
                as they and ports let it, NaN where nothing is free or fits; NaN in a design that was
                simulated at given bandwidths */
        double bw_Bps, time_s, cost_usd; /**< bw_Bps: the share of each, of whole parts before rounding */
        bool allowed; /**< it satisfies the study's constraints; of whole parts only a time limit is open */
    } equal;
    double speedup;            /**< equal.time_s / time_s */
    double objective_gain;     /**< of perf_per_watt and tco_per_token the equal split's objective over this
                                  one's; else     NaN */
    double perf_per_cost_gain; /**< (equal.time_s*equal.cost_usd) / (time_s*cost_usd); NaN without parts */
    struct design_load *loads; /**< shape [n_loads], owned, in the order of the study's workloads */
    int32_t n_loads;
    struct whole_answer whole; /**< set where is_whole; last, as most of a design that needs no clearing */
};

/**
 * With the plans that were chosen, solve the split problem (of a point loaded with DESIGN_FOR_SPLIT and
 * DESIGN_NEEDS_WORKLOAD) and fill in everything; @p d takes @p chosen over, also after failure. A status
 * other than solved is not an error; then only `answer` and n_dims are filled, all else is zero. Under
 * DESIGN_REGRET first each workload alone, for least time under the same rows; where that has no answer its
 * status is the design's. Where algorithms or regimes are to choose, they are chosen again at the split and
 * the split solved again until nothing changes: optimal for the choices made. Models other than the closed
 * forms are timed at the split for alpha-beta. The baseline's total is the study's total_GBps; without one,
 * that of the solved split.
 * @return 0; ERR_RANGE (DESIGN_REGRET and a workload that takes no time); ERR_NOMEM, ERR_LIB; after failure
 * there is nothing to free. Thread-safe, as the other two.
 */
int answer_split(struct design *d, struct design_choice chosen, struct err *e);

/** The design at given bandwidths instead, shape [n_dims], each >= 0. Of `answer` only status, bw_Bps, time_s
 * and cost_usd are filled; gap and bound are NaN. Errors of models that simulate. */
int answer_at(struct design *d, struct design_choice chosen, const double *bw_Bps, struct err *e);

/** What a row of a sweep shows: answer_split() without the bill, or, where the study's split is given, the
 * design at the bandwidths of its network. Then nothing is proved (gap and bound are NaN), and where a row of
 * the study is broken the status is ALLOC_INFEASIBLE, with the reason. Errors of both. */
int answer_row(struct design *d, struct design_choice chosen, struct err *e);

/** The bill of a design that design_for_row() left without. ERR_NOMEM. */
int design_fill_bill(struct design *d, const struct design_point *s, struct err *e);

/** Weighted time of all workloads at @p bw_Bps, shape [n_dims], by the study's model. ERR_NOMEM; ERR_RANGE,
 * ERR_UNSUP of simulations. */
int design_time(double *time_s, const struct design_point *s, const double *bw_Bps, struct err *e);

/**
 * The equal split: @p total_Bps of an NPU spread evenly over all entries, @p each_Bps for each; in whole
 * parts over those that are free, as many ports as their share has room for, and less where constraints want
 * it.
 * @p bw_Bps: shape [n_dims]. @return false: nothing is free, or no such design can be bought.
 */
bool design_equal_split(double *bw_Bps, double *each_Bps, const struct design_point *s, double total_Bps);

void design_free(struct design *d);

/** What the whole machine of a design depends on; borrowed from @p d. */
struct system_of design_owned(const struct design *d);

#endif
