/** @file A sweep: every combination of the axes of a study, one row each. */
#ifndef STUDY_SWEEP_H
#define STUDY_SWEEP_H

#include "base/table.h"
#include "kinds/design/design.h"
#include "study/pool.h"
#include "kinds/design/uncertain.h"

enum {
    SWEEP_MAX_KEYS = 16, /**< that vary, over all grids */
    SWEEP_MAX_AXES = 16, /**< of one grid */
    SWEEP_MAX_GRIDS = 256,
    SWEEP_MAX_VALUES = 1000000, /**< of one axis */
    SWEEP_MAX_POINTS = 1000000, /**< of studies whose rows are kept in memory: place, hetero, gossip */
};

/** Keys that take their values together: one of a plain axis, several of a zip or of samples. */
struct sweep_axis {
    int32_t keys[SWEEP_MAX_KEYS]; /**< shape [n_keys]: which of the sweep's keys */
    int32_t n_keys;
    char **values; /**< shape [n][n_keys], owned: YAML text, in `text` */
    char *text;    /**< owned */
    int64_t n;
    bool generated; /**< no value names a file that the first one does not name */
};

/** Every combination of some of the axes; the first varies slowest. */
struct sweep_grid {
    int32_t axes[SWEEP_MAX_AXES]; /**< shape [n_axes]: which of the sweep's axes */
    int32_t n_axes;
    int64_t first, n_points; /**< its points are first..first+n_points-1 */
};

/** A key that varies, as a path in --set. */
struct sweep_key {
    char *path;      /**< owned */
    bool overridden; /**< an override sets this very key: its value is the only one */
    yaml_id at;      /**< where the study varies it first, in the document that was read */
};

/** Opaque: the study's `where`. */
struct sweep_where;

/** Points of the study's `vary`: grids one after another. Release with sweep_free(). */
struct sweep {
    struct sweep_key keys[SWEEP_MAX_KEYS]; /**< in the order of the study; columns of its rows */
    int32_t n_keys;
    struct sweep_axis *axes; /**< shape [n_axes], owned; grids may share them */
    int32_t n_axes;
    struct sweep_grid *grids; /**< shape [n_grids], owned */
    int32_t n_grids;
    int64_t n_points;           /**< with those that `where` leaves out */
    struct sweep_where *where;  /**< owned; NULL = the study has none */
    struct uncertain uncertain; /**< the study's, drawn; all zero = nothing is */
    struct text notes; /**< warnings, a line each: keys and axes that have no effect at any point looked at */
};

/** One point: its grid, and which value of each of the grid's axes. */
struct sweep_point {
    int32_t grid;
    int64_t at[SWEEP_MAX_AXES]; /**< shape [n_axes of the grid] */
};

/** Point number @p i, 0 <= i < n_points. O(log(grids) + axes). */
void sweep_find_point(struct sweep_point *p, const struct sweep *w, int64_t i);

/** Value of key @p key at a point as YAML text, borrowed; NULL where the point's grid does not vary it.
 * O(axes). */
const char *sweep_value(const struct sweep *w, const struct sweep_point *p, int32_t key);

/**
 * Read `vary` and `where` of a study. Forms of `vary`: docs/sweep.md.
 *
 * A map of axes is every combination of them. KEY is a path as in --set ("network.dims.pod.max_GBps"); its
 * values are a list, a range { from, to, step } or { from, to, points, scale: linear|log }, or the networks
 * of a { factor: ... }. `zip` is one axis of several keys, `sobol` one of quasi-random points, `union` a list
 * of maps of axes, whose points come one after another, each with the axes beside the union. A list in place
 * of the outermost map is a union alone.
 *
 * Values of a range are rounded to the decimals they are written with (12 digits in log scale and of
 * samples), `to` is among them when a step ends there. File names in values count from the study's folder. An
 * override of a KEY takes the place of its values wherever it varies. Notes are those common to the points
 * looked at, some 200 at most: the first of each grid and its neighbours along each axis, at most 16 to an
 * axis. Time O(values), not of points.
 *
 * @param[out] w  uninitialised; empty after failure.
 * @return 0; ERR_PARSE or ERR_RANGE with the place: no `vary`, empty axis, unknown key, a key twice, a range
 *         that is none, a zip of unequal lengths, 2^63 points or more, a `where` that cannot be decided;
 *         ERR_NOMEM. That a point's study is wrong is no error.
 */
int sweep_read(struct sweep *w, const char *path, const struct study_override *overrides, int32_t n,
               struct err *e);
void sweep_free(struct sweep *w);

/**
 * Does point @p p satisfy all constraints of the study's `where`? Each to within 1e-9 of the sum of its
 * terms' magnitudes. Names are those of keys that vary (a path, or its last names where no other key ends so)
 * and facts of the network: n_npus, n_dims, size1 to size8 (1 beyond n_dims).
 * @param net  the network of the point; NULL = not known: constraints over its facts are taken to hold.
 * @return 0: values that a constraint needs and that are no numbers are errors of sweep_read().
 * O(constraints * names). Thread-safe.
 */
int sweep_passes(bool *pass, const struct sweep *w, const struct sweep_point *p,
                 const struct topo_network *net, struct err *e);

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
 * network), those of uncertain_columns(), where a point trains a model those of training_row_columns(),
 * message. Results are blank unless solved or stalled; total_GBps is the study's, else that of the split.
 *
 * @param out       zero-initialised; the caller frees it, also after failure.
 * @param progress  may be NULL.
 * @return 0, or ERR_NOMEM. Time O(points * solve), memory O(points).
 */
int sweep_run(struct table *out, const struct sweep *w, const char *path,
              const struct study_override *overrides, int32_t n, int32_t threads, pool_progress *progress,
              void *context, struct err *e);

#endif
