/**
 * @file A study of layers on types of resources: the cheapest way to train a model at a throughput, under
 * several schedulers, at every point of a sweep and for several seeds. The model: sim/hetero/hetero.h.
 */
#ifndef KINDS_HETERO_HETERO_H
#define KINDS_HETERO_HETERO_H

#include "base/table.h"
#include "study/pool.h"
#include "study/axes.h"
#include "topo/network.h"

/** Keys of a study, from the outside in. */
extern const struct section hetero_section, hetero_draw_section, hetero_draw_cpu_section,
    hetero_draw_gpu_section, hetero_layer_section, hetero_type_section, hetero_probe_section,
    hetero_throughput_section, hetero_job_section, hetero_server_section, hetero_rl_section,
    hetero_genetic_section, hetero_anneal_section, hetero_bayes_section;

/** Schedulers in the order in which a study without a list has them. */
int32_t hetero_study_n_schedulers(void);
const char *hetero_study_scheduler(int32_t i);
const char *hetero_study_scheduler_help(int32_t i);

/** Columns of the table of hetero_study_run() after those of the point, and what they mean; the last one has
 * no name. */
struct hetero_column {
    const char *name, *help;
    enum table_kind kind;
    size_t offset; /**< private to this folder */
};
extern const struct hetero_column hetero_columns[];

/** How a study is run. */
struct hetero_options {
    int32_t threads; /**< >= 1; the rows are the same */
    bool timing;     /**< add schedule_s, which differs from run to run */
    /** NULL, or filled: a row for each run; of the first seed of each scheduler a row for each layer and for
     * each stage of its plan; of each run a row for each improvement and its end. */
    struct table *runs, *plans, *stages, *curves;
    struct text *notes; /**< NULL, or where to append what is to be told at every point, a line each */
    pool_progress *progress;
    void *context;
};

/** Head of a study: what all points share. Release with hetero_study_free(). */
struct hetero_study {
    struct sweep sweep;      /**< n_points 1 without axes */
    int64_t seed, seeds;     /**< first seed, and how many */
    unsigned long long hash; /**< of the study's content at its first point and of its axes */
    char name[TOPO_NAME];
};

/**
 * Read axes and the first point. @p s uninitialised; empty after failure.
 * @return 0; ERR_PARSE, ERR_RANGE with the place; ERR_NOMEM.
 */
int hetero_study_read(struct hetero_study *s, const char *path, const struct study_override *overrides,
                      int32_t n, struct err *e);
void hetero_study_free(struct hetero_study *s);

/**
 * Run every scheduler at every point, those that draw with every seed, and fill @p out with a row for each
 * point and scheduler: columns point, axes, then hetero_columns (without those that an axis is called, and
 * schedule_s unless asked for). A median counts seeds without a plan as infinitely dear; what has no finite
 * value is blank. A point that cannot be read is one row with status "error", one whose throughput no plan
 * reaches one with "infeasible".
 *
 * Same rows for any number of threads. Points that progress prevented have no rows.
 * @param out  zero-initialised; the caller frees it, and those of @p options, also after failure.
 * @return 0 or ERR_NOMEM. Memory O(points * layers * types).
 */
int hetero_study_run(struct table *out, const struct hetero_study *s, const char *path,
                     const struct study_override *overrides, int32_t n, const struct hetero_options *options,
                     struct err *e);

#endif
