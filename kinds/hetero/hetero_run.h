/** @file Private to this folder: the runs of a study of layers on types of resources, and their rows. */
#ifndef KINDS_HETERO_HETERO_RUN_H
#define KINDS_HETERO_HETERO_RUN_H

#include "kinds/hetero/hetero_point.h"

/** Layers @p first to @p last, from 0, on units of one type; seconds are of one example. */
struct hetero_stage_run {
    int32_t first, last, type;
    int64_t units, servers;
    double compute_s, comm_s, server_s; /**< server_s: of its parameter servers, 0 without */
    double time_s, usd_per_h;           /**< time_s: what the stage lets through, servers included */
};

/** One run of one scheduler. */
struct hetero_unit {
    int64_t point;
    int32_t scheduler; /**< index into the point's schedulers */
    int64_t seed;
    bool run;
    int rc;
    char *message; /**< owned; NULL unless it failed */
    struct hetero_value value;
    enum hetero_proof proof;
    double lower_usd, schedule_s; /**< schedule_s: wall clock */
    int64_t evaluations, units;   /**< units: of all types, hosts and servers included */
    int32_t n_stages;
    struct hetero_stage_run *stages; /**< shape [n_stages], owned; NULL unless asked for, or without a plan */
    int32_t n_curve;
    struct hetero_curve_point *curve; /**< shape [n_curve], owned; NULL unless asked for */
};

/** What its runs share. */
struct hetero_state {
    struct hetero_point point;
    bool run;
    int rc;
    char *message; /**< owned; NULL unless it failed */
    struct hetero_aim aim;
    /** The cheapest plan, or a bound of it; NaN where there is none. Better of the oracle and what a
     * scheduler proved. */
    double oracle_usd;
    enum hetero_proof oracle_proof;
    int64_t first_unit, n_units;
};

struct hetero_runs {
    const struct hetero_study *study;
    struct study_source from;
    const struct hetero_options *options;
    struct hetero_state *states; /**< shape [n_points], owned */
    struct hetero_unit *units;   /**< shape [n_units], owned: by point, scheduler, seed */
    int64_t n_units;
};

/** Of unit @p u, its scheduler. */
const struct hetero_scheduler *hetero_unit_scheduler(const struct hetero_runs *r,
                                                     const struct hetero_unit *u);

/** All tables that are wanted. ERR_NOMEM. */
int hetero_make_tables(struct table *out, const struct hetero_runs *r, struct err *e);

/** Those of options that are about plans and curves (hetero_tables.c). */
int hetero_make_details(const struct hetero_runs *r, struct err *e);
/** Columns that each table begins with, and their cells: point, axes, model, scheduler. */
void hetero_put_columns(struct table *t, const struct hetero_runs *r);
void hetero_put_unit(struct table *t, const struct hetero_runs *r, const struct hetero_unit *u);
/** Is a run a row? Not one that did not happen, nor of a scheduler nobody asked for that cannot run here. */
bool hetero_unit_counts(const struct hetero_runs *r, const struct hetero_unit *u);
/** @p usd over that of the oracle or its bound; NaN without one. */
double hetero_over_oracle(const struct hetero_state *s, double usd);

#endif
