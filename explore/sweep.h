/** @file A sweep: every combination of the axes of a study, one row each. */
#ifndef EXPLORE_SWEEP_H
#define EXPLORE_SWEEP_H

#include "base/table.h"
#include "explore/design.h"
#include "explore/pool.h"

enum { SWEEP_MAX_AXES = 16, SWEEP_MAX_POINTS = 1000000 };

/** One varying key with its values as YAML text. */
struct sweep_axis {
    char *path;    /**< owned */
    char **values; /**< shape [n], owned */
    int64_t n;
    bool overridden; /**< an override sets this very key: its value is the only one */
};

/** Axes of the study's `vary` map; the first varies slowest. Release with sweep_free(). */
struct sweep {
    struct sweep_axis axes[SWEEP_MAX_AXES];
    int32_t n_axes;
    int64_t n_points;
    struct text notes; /**< warnings, a line each: keys and axes that have no effect at any point looked at */
};

/**
 * Read `vary`: KEY: [a, b, c] or KEY: { from, to, step } or { from, to, points, scale: linear|log }.
 *
 * A KEY is a path as in --set ("network.dims.pod.max_GBps"); a value may be a map or a list. Values of a
 * range are rounded to the decimals they are written with (12 digits in log scale), `to` is among them when a
 * step ends there. File names in values count from the study's folder. An override of the same KEY replaces
 * the axis by its one value. Notes are those common to the first point and its neighbours along each axis (at
 * most 16 to an axis).
 *
 * @param[out] w  uninitialised; empty after failure.
 * @return 0; ERR_PARSE or ERR_RANGE with the place: no `vary`, empty axis, unknown key, a range that is
 *         none, too many points; ERR_NOMEM. That a point's study is wrong is no error.
 */
int sweep_read(struct sweep *w, const char *path, const struct study_override *overrides, int32_t n,
               struct err *e);
void sweep_free(struct sweep *w);

/**
 * Run every point on @p threads OpenMP threads and fill @p out with one row each, in
 * point order whatever the number of threads. A point that cannot be read or
 * solved is a row with its status ("error", "infeasible", ...) and a message; one that cannot
 * be read has its axes' values as written in place of network, workload and so on. Points that
 * progress prevented have no row.
 *
 * Columns: point (from 0), one per axis that is not among those that follow, network (name or
 * spec word), n_dims, dims ("a|b|c"), workload ("A+2*B", by name and weight), objective, total_GBps,
 * status, time_s, compute_s, comm_s, cost_usd, equal_time_s, equal_cost_usd, speedup, perf_per_cost_gain,
 * nic_GBps, gap, unique ("yes", "no"), bw1_GBps.., util1.., exposed1_s.. (up to the widest
 * network), where a point trains a model those of training_row_columns(), message. Results are blank unless
 * solved or stalled; total_GBps is the study's, else that of the split.
 *
 * @param out       zero-initialised; the caller frees it, also after failure.
 * @param progress  may be NULL.
 * @return 0, or ERR_NOMEM. Time O(points * solve), memory O(points).
 */
int sweep_run(struct table *out, const struct sweep *w, const char *path,
              const struct study_override *overrides, int32_t n, int32_t threads, pool_progress *progress,
              void *context, struct err *e);

#endif
