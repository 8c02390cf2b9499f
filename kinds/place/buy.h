/**
 * @file Which network to buy for a mix of jobs: the designs that a cluster study leaves open, held against
 * each other on the same jobs.
 */
#ifndef KINDS_PLACE_BUY_H
#define KINDS_PLACE_BUY_H

#include "kinds/place/place.h"
#include "study/study.h"

/** For people: "mean completion", "s". */
struct buy_objective_row {
    const char *title, *unit;
};
extern const struct buy_objective_row buy_objectives[N_BUY_OBJECTIVES];

/** Of the best design, and what follows for the proof. */
enum buy_regime {
    BUY_ALONE,  /**< no job waits, no link is shared: the value is the sum of steps, and proved */
    BUY_QUEUE,  /**< jobs wait, no link is shared: steps are those of the bound, the queue is simulated */
    BUY_SHARED, /**< links are shared */
    N_BUY_REGIMES
};

enum buy_fate {
    BUY_OPEN,
    BUY_BOUND,   /**< its bound is above the value of the best: it was not run to the end */
    BUY_TWIN,    /**< one with the same links, kept shares and prices no higher was held: the same runs */
    BUY_BEATEN,  /**< one that is nowhere slower and no dearer was held, and its bound is not above: no run,
                    as others were dropped. Where jobs wait or share links an order of events may favour it */
    BUY_DROPPED, /**< worse than the best on the seeds that it ran, at 99.9 % */
    BUY_RAN      /**< on all seeds */
};

/** Means over the seeds that a design ran, or of one of them. */
struct buy_run {
    double value;                              /**< of the objective */
    double jct_s, makespan_s, wait_s, stretch; /**< stretch 1: nothing is shared */
};

/** A network that could be bought. */
struct buy_design {
    int64_t point; /**< of the study's axes */
    int32_t n_dims;
    double bw_Bps[TOPO_MAX_DIMS];
    double usd;   /**< of the network, with NPUs where they are counted; NaN without prices */
    double *kept; /**< shape [entries of the mix], owned: share of its time that each keeps */
    struct place_money money;
    double bound; /**< on the study's seeds its value is not below */
    enum buy_fate fate;
    struct buy_run *runs; /**< shape [seeds], owned; the first n_run of them */
    int64_t n_run;
    struct buy_run mean;
    double half;            /**< half of the 95 % interval of mean.value; NaN with one seed */
    double diff, diff_half; /**< its value less that of the best, seed by seed */
    int64_t wins;           /**< seeds on which its value is below that of the best */
    bool on_front;          /**< no cheaper design that ran to the end has as low a value */
};

/** Of one entry of the mix: the design that its jobs alone would choose. */
struct buy_alone {
    const char *name;      /**< borrowed from the answer's points */
    double weight;         /**< share of the jobs of all seeds */
    int64_t design;        /**< whose step is shortest, of equals the cheapest */
    double step_s, best_s; /**< with the best design of the mix, with its own; alone on free links */
};

/** The equal split of the total that the best design has, or that the study gives, at the best one's point.
 */
struct buy_equal {
    bool is;                  /**< false: no bandwidth is free, or none such is to be had */
    bool best;                /**< it is the best design itself */
    double each_Bps;          /**< of each entry that is free, as far as whole parts have it */
    struct buy_design design; /**< run on all seeds unless it is the best */
};

/** Release with buy_free(). */
struct buy_answer {
    enum buy_objective objective;
    const char *scheduler;
    struct buy_design *designs; /**< shape [n], owned; in order of points, then of bandwidths */
    int64_t n, best;            /**< best: -1: no design satisfies the constraints */
    int64_t seeds, n_runs;      /**< n_runs: of designs with seeds */
    int64_t n_fates[BUY_RAN + 1];
    enum buy_regime regime;
    double bound; /**< no design has less on these seeds; NaN: not known */
    double gap;   /**< (value - bound) / value */
    bool proved;  /**< no design is better: all others ran to the end, or their bounds are above */
    struct buy_equal equal;
    struct buy_alone *alone; /**< shape [n_alone], owned */
    int32_t n_alone;
    struct text notes;         /**< warnings, a line each */
    int64_t cap;               /**< of designs */
    struct buy_point **points; /**< shape [n_points], owned: the points as read */
    int64_t n_points;
};

/**
 * Find the best design. The study's jobs are models (`jobs.mix`); its first scheduler places them. Bandwidths
 * that are free become those of whole parts, each combination a design; without a catalogue they are split in
 * fractions for jobs alone, which is one design. Same answer for any number of threads.
 * @param[out] study  the study's axes; release with study_close() after the answer.
 * @return 0, also where no design satisfies the constraints; ERR_PARSE, ERR_RANGE with the place; what a
 *         simulation says; ERR_NOMEM.
 */
int buy_find(struct buy_answer *out, struct study *study, const struct study_source *from, int32_t threads,
             struct err *e);
void buy_free(struct buy_answer *a);

/** The network of a design, with its bandwidths. */
void buy_network(struct topo_network *out, const struct buy_answer *a, const struct buy_design *d);
/** Was the bandwidth of its dimension @p i left to choose? */
bool buy_is_free(const struct buy_answer *a, const struct buy_design *d, int32_t i);

#endif
