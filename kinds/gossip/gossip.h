/**
 * @file A study of training with little communication: several methods at every point of a sweep and for
 * several seeds, what they send, how long they take and what they reach. The model: sim/gossip/gossip.h.
 */
#ifndef KINDS_GOSSIP_GOSSIP_H
#define KINDS_GOSSIP_GOSSIP_H

#include "base/table.h"
#include "study/pool.h"
#include "study/axes.h"
#include "topo/network.h"

/** Keys of a study, from the outside in. */
extern const struct section gossip_section, gossip_job_section, gossip_learner_section, gossip_data_section,
    gossip_clock_section, gossip_method_section;

/** Columns of the table of gossip_study_run() after those of the point, and what they mean; the last one has
 * no name. After average_s come dim1_MB and so on, up to the widest network. */
struct gossip_column {
    const char *name, *help;
    enum table_kind kind;
    size_t offset; /**< private to this folder */
};
extern const struct gossip_column gossip_columns[];
/** Likewise of tables runs, curves and links of struct gossip_options. */
extern const struct gossip_column gossip_run_columns[], gossip_curve_columns[], gossip_link_columns[];

/** How a study is run. */
struct gossip_options {
    int32_t threads; /**< >= 1; the rows are the same */
    /** NULL, or filled: a row for each run; for each point of each run's curve; of the first seed of each
     * method for each directed link. */
    struct table *runs, *curves, *links;
    struct text *notes; /**< NULL, or where to append what is to be told at every point, a line each */
    pool_progress *progress;
    void *context;
};

/** Head of a study: what all points share. Release with gossip_study_free(). */
struct gossip_study {
    struct sweep sweep;      /**< n_points 1 without axes */
    int64_t seed, seeds;     /**< first seed, and how many */
    unsigned long long hash; /**< of the study's content at its first point, own examples included, and of its
                                axes */
    double equal_points;     /**< at the first point: accuracies this near are equal [%] */
    char name[TOPO_NAME];
};

/**
 * Read axes and the first point. @p s uninitialised; empty after failure.
 * @return 0; ERR_PARSE, ERR_RANGE with the place; ERR_NOMEM.
 */
int gossip_study_read(struct gossip_study *s, const char *path, const struct study_override *overrides,
                      int32_t n, struct err *e);
void gossip_study_free(struct gossip_study *s);

/**
 * Train by every method at every point with every seed, and fill @p out with a row for each point and method:
 * columns point, axes, then gossip_columns but those that an axis is called as. Means are over the seeds,
 * `half` the half width of their 95 % interval, blank for one seed. A row of which a seed diverged or failed
 * has no means, and nothing is compared with it. What is compared with the baseline is the change of means,
 * but accuracy: there differences are paired by seed. A point that cannot be read is one row with status
 * "error". need_GBps is there where the study asks for it (sim/gossip/replay.h).
 *
 * Same rows for any number of threads. Points that progress prevented have no rows.
 * @param out  zero-initialised; the caller frees it, and those of @p options, also after failure.
 * @return 0 or ERR_NOMEM. Memory O(runs), and of examples that of @p options.threads points and seeds.
 */
int gossip_study_run(struct table *out, const struct gossip_study *s, const char *path,
                     const struct study_override *overrides, int32_t n, const struct gossip_options *options,
                     struct err *e);

#endif
