/** @file Schedulers of layers: what they share, and the list of them. */
#ifndef SIM_HETERO_SEARCH_H
#define SIM_HETERO_SEARCH_H

#include "base/rng.h"
#include "base/work.h"
#include "sim/hetero/hetero.h"

/** The cheapest plan so far after so many evaluations. */
struct hetero_curve_point {
    int64_t evaluations;
    double usd;
};

/** What a scheduler says of its plan. */
enum hetero_proof {
    HETERO_UNPROVED,
    HETERO_OPTIMAL,     /**< nothing is cheaper */
    HETERO_LOWER_BOUND, /**< nothing costs less than lower_usd, of the plan nothing is proved: limits of units
                           that stages share bind, units are not provisioned exactly, or the proof was too
                           long */
    HETERO_NO_PLAN,     /**< proved: no plan reaches the throughput */
};

/** Release with hetero_search_free(). */
struct hetero_search {
    const struct hetero_problem *problem; /**< borrowed */
    struct hetero_work work;
    struct rng *rng;             /**< owned */
    int64_t budget, evaluations; /**< allowed, and done */
    hetero_id *best; /**< shape [n_layers], owned: the cheapest plan tried; of plans that all fail, the one
                        that reaches most */
    struct hetero_value value; /**< of it */
    enum hetero_proof proof;
    double lower_usd;                 /**< no plan costs less; NaN when not known */
    struct hetero_curve_point *curve; /**< shape [n_curve], owned: each improvement */
    int32_t n_curve, cap_curve;
    bool failed;       /**< out of memory for the curve */
    struct work plans; /**< counts evaluations, where it is known how many there will be */
};

/** Nothing tried yet. @p s uninitialised; release it, also after failure. 0 or ERR_NOMEM. */
int hetero_search_build(struct hetero_search *s, const struct hetero_problem *p, uint64_t seed,
                        uint64_t stream, int64_t budget, struct err *e);
void hetero_search_free(struct hetero_search *s);

/** Evaluate @p plan, count it, keep it if it is the best so far (of equals the first). @p v: its value. */
void hetero_try(struct hetero_search *s, const hetero_id *plan, struct hetero_value *v);

/** May it go on? Not when the work is stopped. Asked by the schedulers that search: rl-*, genetic, anneal and
 * random*. */
static inline bool hetero_may_try(const struct hetero_search *s)
{
    return s->evaluations < s->budget && !work_stopped();
}

/** Is @p a better than @p b: cheaper, or, where both fail, nearer to the throughput? */
bool hetero_is_better(const struct hetero_value *a, const struct hetero_value *b);

/** One policy of reinforcement learning: an LSTM or an Elman network. */
struct hetero_rl_settings {
    int32_t hidden, plans; /**< width of the cell, plans drawn in a round */
    int32_t rounds;        /**< of a policy at most */
    int32_t patience;      /**< rounds without a cheaper plan of its own after which another policy begins */
    double rate, entropy, gamma, clip; /**< Adam's rate; bonus at the first round, falling to 0; of the
                                          baseline; of the gradient's norm */
    double
        best_frac;   /**< share of a round's plans that are learned from, (0, 1); 1: all, over the baseline */
    bool copy_logit; /**< a learned preference for the type of the layer before */
};

struct hetero_genetic_settings {
    int32_t population, tournament, elite;
    double crossover, mutation; /**< mutation: genes of a plan that change, on average */
};

struct hetero_anneal_settings {
    double hot, cold; /**< temperatures at begin and end, of the natural logarithm of the cost */
};

struct hetero_bayes_settings {
    int32_t initial, evaluations, candidates;
    double length,
        noise; /**< of the kernel exp(-hamming/(length * n_layers)); variance added to the diagonal */
};

/** The limits of each are those of its key (kinds/hetero/hetero.c). */
struct hetero_settings {
    int64_t evaluations; /**< the budget of rl-*, genetic, anneal and random*. bayes has its own; the others
                            try what their plan takes: oracle and exact one, brute-force all, fixed plans at
                            most T^2, greedy T + L (T - 1), more only while no plan reaches the throughput */
    struct hetero_rl_settings rl;
    struct hetero_genetic_settings genetic;
    struct hetero_anneal_settings anneal;
    struct hetero_bayes_settings bayes;
};

/** A scheduler: tries plans until it is done, those that search until the budget is. 0 or ERR_NOMEM,
 * ERR_RANGE (a problem that is too large for it). */
typedef int hetero_run(struct hetero_search *s, const struct hetero_settings *settings, struct err *e);

struct hetero_scheduler {
    const char *name, *help;
    hetero_run *run;
    bool seeded; /**< draws: other seeds may give other plans */
    bool local;  /**< a local search follows; its evaluations come on top of the budget, and are counted */
};
/** In the order in which they are shown. */
extern const struct hetero_scheduler hetero_schedulers[];
extern const int32_t n_hetero_schedulers;

/**
 * Build @p s, run scheduler @p which on @p p, evaluate the best plan once more (not counted), so that
 * s->work has its stages and units. @p s uninitialised; release it, also after failure.
 */
int hetero_schedule(struct hetero_search *s, const struct hetero_problem *p, int32_t which,
                    const struct hetero_settings *settings, uint64_t seed, struct err *e);

/* ---- the schedulers ---- */
hetero_run hetero_rl_lstm, hetero_rl_rnn;                      /* rl.c */
hetero_run hetero_oracle_run;                                  /* oracle.c */
hetero_run hetero_labels_run;                                  /* labels.c */
hetero_run hetero_brute;                                       /* baselines.c */
hetero_run hetero_cpu_only, hetero_gpu_only, hetero_heuristic; /* baselines.c */
hetero_run hetero_greedy;                                      /* baselines.c */
hetero_run hetero_genetic;                                     /* evolve.c */
hetero_run hetero_anneal, hetero_random, hetero_random_stages; /* evolve.c */
hetero_run hetero_bayes;                                       /* bayes.c */

/** Recolour one layer or one stage as long as that makes the best plan cheaper. Goes on from s->best; counts
 * its evaluations, budget or not. */
int hetero_local(struct hetero_search *s, struct err *e);

/*
 * What searches share: plans drawn, plans changed a little, and how far from good a plan is.
 */

/** How many layers, on how many types: all that these need to know of a problem. */
struct hetero_size {
    int32_t n_layers, n_types;
};
struct hetero_size hetero_size_of(const struct hetero_problem *p);

/**
 * A plan at random, into @p plan, shape [n_layers]. A layer stays on the type of the one before it with a
 * probability that is drawn for the plan, uniform on [0, 1); else its type is uniform. Types that are drawn
 * for each layer by itself, which is that probability at 0, almost never make a plan of few stages.
 */
void hetero_draw_plan(hetero_id *plan, struct hetero_size size, struct rng *rng);

/** A plan at random whose layers' types are drawn each by itself, uniformly. */
void hetero_draw_layers(hetero_id *plan, struct hetero_size size, struct rng *rng);

/**
 * A neighbour of @p plan, in place: one layer or one stage gets another type, or a boundary between two
 * stages moves, as far as to swallow one of them; each kind a third of the time. With one type of resource
 * there is no neighbour and the plan stays. O(n_layers).
 */
void hetero_change_plan(hetero_id *plan, struct hetero_size size, struct rng *rng);

/**
 * ln of the cost; of a plan that fails, @p ceiling and the ln of how many times faster it would have to be,
 * so that a search finds its way to plans that do not fail. @p ceiling: ln of what a plan that does not fail
 * costs at most, as far as is known.
 */
double hetero_log_cost(const struct hetero_value *v, double per_s, double ceiling);

#endif
