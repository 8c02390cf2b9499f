/**
 * @file What failures take from a run: rates from counts of parts, checkpoints, goodput, spares.
 *
 * Plain numbers in, plain numbers out: nothing is read, allocated or refused here. Times are seconds, M
 * ("mtbi_s") is the mean time between interruptions of the whole job, INFINITY where nothing fails. Formulas
 * with their sources are in docs/ownership.md; each function names its own. Thread-safe.
 */
#ifndef TOPO_RELIABILITY_H
#define TOPO_RELIABILITY_H

#include <stdbool.h>
#include <stdint.h>

/** Some of one kind of part, and what the failure of one of them takes from a job. */
struct reliability_line {
    const char *name;     /**< borrowed; for reports */
    double n;             /**< >= 0 */
    double mtbf_s;        /**< of one of them, > 0; INFINITY: never fails */
    double low_s, high_s; /**< its published range; 0: none */
    bool recalled;        /**< mtbf_s is of no source */
    bool tolerated;       /**< the job runs on, at less bandwidth; else it stops, and restarts without: */
    double npus;          /**< that one failure takes from it, in whole nodes; 0 where tolerated */
    double wait_s;        /**< for spares, in the mean, after one that stops it */
    /** Network alone: dimensions dim .. dim + n_dims - 1 (a class of links each) keep the share `left` of
     * their bandwidth while one is down, for all NPUs of a step wait for those that lose most. Of a failure
     * that stops the job what would be left if it were tolerated, 0: nothing. n_dims 0: no dimension. */
    int32_t dim, n_dims;
    double left;
};

/** Interruptions a second of a job: sum of n / MTBF over what is not tolerated, a series system with
 * exponential times. @p lines: shape [n]. */
double reliability_rate(const struct reliability_line *lines, int32_t n);
/** The same with every MTBF that has a range at its low (the most) or its high end. */
double reliability_rate_at(const struct reliability_line *lines, int32_t n, bool low);

/** Share of time that something is up: MTBF / (MTBF + MTTR), times in any one unit. */
double reliability_availability(double mtbf, double mttr);

/*
 * Checkpoints. "stall" (delta) is what a checkpoint takes from the step; the interval (tau) is work between
 * two of them, without the stall.
 */

/**
 * The interval at which goodput_exact() is largest: M (1 + W(-exp(-1 - delta/M))), W Lambert's function, by
 * Newton on log(1 - t) + t + delta/M = 0, t = tau/M. From the right of its root it descends without
 * overshooting: some 20 steps at most. INFINITY for infinite M; 0 for a stall of 0.
 */
double checkpoint_best_s(double stall_s, double mtbi_s);

/** How a job saves and resumes. */
struct checkpoint {
    double stall_s;   /**< of one checkpoint, >= 0 */
    double drain_s;   /**< from then until it is whole, beside the steps; 0: it is written in the stall */
    double restart_s; /**< from a failure to the first new step: detect, replace, load, warm up */
};

/**
 * Share of wall time that is work kept, for failures at any time, during stalls and restarts too:
 *
 *     G = (tau/M) exp(-(R + drain)/M) / (exp((tau + delta)/M) - 1)
 *
 * Without a drain Daly's equation. A checkpoint is good once it is whole: from one restart to the next
 * failure floor((t - drain)/(tau + delta)) of them are, t exponential with mean M; their mean is a geometric
 * sum, and a cycle with its restart takes M exp(R/M). Needs drain <= tau + delta. M INFINITY: tau/(tau +
 * delta).
 */
double goodput_exact(const struct checkpoint *c, double mtbi_s, double interval_s);

/** First order in everything over M: (1 - (R + drain + tau/2)/M) / (1 + delta/tau); the expected effective
 * time of arXiv 2410.21680. Below 0 where that is meaningless. */
double goodput_first_order(const struct checkpoint *c, double mtbi_s, double interval_s);

struct goodput {
    double interval_s;  /**< given, or the best; at least what the last checkpoint needs to drain */
    double goodput;     /**< goodput_exact(); 0 where a checkpoint takes longer than M: nothing is kept */
    double first_order; /**< goodput_first_order(); its difference is the error of that */
    double per_restart; /**< dG/dR = dG/d drain = -G/M [1/s] */
    double per_mtbi;    /**< dG/dM [1/s]; at the best interval also that of the optimum (envelope theorem) */
};

/** @p interval_s NaN: the best that drains allow. */
void goodput_of(struct goodput *out, const struct checkpoint *c, double mtbi_s, double interval_s);

/** A place that checkpoints go to, such as the memory of a peer, or the file system. */
struct goodput_tier {
    const char *name;    /**< borrowed; for reports */
    double share;        /**< of failures that are restored from here; they sum to 1 */
    struct checkpoint c; /**< of one checkpoint there */
    double interval_s;   /**< work between two of them; NaN: the best */
    double settled_s;    /**< what goodput_of_tiers() took for it */
};

/** First order: 1 - sum of share (R + drain + tau/2)/M - sum of delta/tau, tau settled_s; at least 0. */
double goodput_tiers(const struct goodput_tier *tiers, int32_t n, double mtbi_s);

/**
 * Tiers in the order of their intervals, shortest first: goodput_exact() nested, each tier with failures of
 * its own, mean M/share, in the time that those before it leave:
 *
 *     G_j = G_(j-1) goodput_exact(c_j, M/share_j, tau_j/G_(j-1)),   G_0 = 1
 *
 * Exact for one tier. Of several the error is of third order: it takes the time that work between two
 * checkpoints takes as its mean, short by some (tau_j/M_i) (R_i + tau_i/2)^2/(2 M_j^2) for each tier i
 * before, M_j = M/share_j. out->first_order is goodput_tiers(), out->interval_s that of the last tier,
 * per_restart that of all restarts together; 0 where any tier keeps nothing.
 */
void goodput_of_tiers(struct goodput *out, struct goodput_tier *tiers, int32_t n, double mtbi_s);

/** Time to write @p bytes from @p nodes nodes at @p node_Bps each into a store of @p store_Bps [s]: the
 * slower of the two. */
double checkpoint_write_s(double bytes, double nodes, double node_Bps, double store_Bps);

/*
 * Spares.
 */

/** Probability that of @p n + @p spares units, each down with probability @p down, at most @p spares are:
 * binomial. O(spares), or of as many as are ever down. 0 <= down < 1. */
double spares_enough(int64_t n, int64_t spares, double down);

/** Fewest spares with Poisson(@p mean; at most that many) >= @p sure, 0 <= sure < 1: units under repair at
 * once, mean = n MTTR/MTBF up to 1e6. O(result). */
int64_t spares_needed(double mean, double sure);

#endif
