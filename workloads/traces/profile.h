/** @file Profiles: what a trace does not tell of its jobs, drawn from named distributions. */
#ifndef WORKLOADS_TRACES_PROFILE_H
#define WORKLOADS_TRACES_PROFILE_H

#include "base/schema.h"
#include "workloads/traces/trace.h"

enum { TRACE_DRAW_MAX = 16, TRACE_PROFILE_MODELS = 64, TRACE_PROFILE_NAME = 64 };

enum trace_draw_kind {
    TRACE_DRAW_NONE,  /**< not drawn: the field stays unknown */
    TRACE_DRAW_RANGE, /**< uniform on from..to, or log-uniform; of whole numbers both included */
    TRACE_DRAW_LIST,  /**< one of a list, by weight */
};

/** A distribution; in SI units. */
struct trace_draw {
    enum trace_draw_kind kind;
    bool whole; /**< whole numbers only */
    bool log;   /**< of a range: log-uniform, and from > 0 */
    double from, to;
    int32_t n;                     /**< of the list */
    double values[TRACE_DRAW_MAX]; /**< shape [n] */
    double upto[TRACE_DRAW_MAX];   /**< shape [n]: share of the weights up to this one; the last is 1 */
};

struct trace_model {
    char name[TRACE_PROFILE_NAME];
    double upto; /**< as in trace_draw */
    struct trace_draw grad_B, batch, iter_s;
};

/** Plain value. */
struct trace_profile {
    char name[TRACE_PROFILE_NAME];
    int32_t n_models;
    int64_t gpus_per_worker;
    struct trace_draw gpus, ps, batch, iters, iter_s, grad_B, priority;
    struct trace_model models[TRACE_PROFILE_MODELS]; /**< shape [n_models] */
};

extern const struct section trace_profile_section, trace_profile_model_section, trace_profile_draw_section;

/**
 * Read a profile (`weft keys profile`).
 * @param[out] p  uninitialised.
 * @return 0, ERR_NOMEM, or ERR_PARSE or ERR_RANGE with `file:line:col: ...`.
 */
int trace_read_profile(struct trace_profile *p, const char *path, struct err *e);

/** What of a trace and a profile does not go together. */
struct trace_fill_counts {
    int64_t n_unlike; /**< jobs with a model that the profile lacks: another one stands in for its sizes */
};

/**
 * Draw what is unknown and mark it synthetic. What is known stays.
 *
 * A model without a name gets one of the profile's, by weight. grad_bytes, batch and the time of an iteration
 * come from the profile's entry of the model, else from the profile's own keys. iters is runtime_s over the
 * time of an iteration, at least 1, where runtime_s is known, else drawn, and then runtime_s is iters times
 * that time. workers is gpus over gpus_per_worker, rounded up. A field whose key is absent stays unknown.
 *
 * The draws of a job depend on @p seed and trace_job.index only: each field has a number of its own, taken
 * whether the field is known or not.
 * @return 0 or ERR_NOMEM. Time O(n * models).
 */
int trace_fill(struct trace *t, const struct trace_profile *p, uint64_t seed,
               struct trace_fill_counts *counts, struct err *e);

/**
 * Cut window @p w (NULL: all as it is) and draw what is unknown from @p p (NULL: nothing). The jobs are those
 * of trace_fill() and then trace_cut(), with less to draw where that is the same. Errors of both.
 */
int trace_prepare(struct trace *t, const struct trace_window *w, const struct trace_profile *p, uint64_t seed,
                  struct trace_fill_counts *counts, struct err *e);

/** Iterations that a job lacks, as run time over @p step_s [s], at least 1; marked as drawn. O(n). */
void trace_fill_iters(struct trace *t, double step_s);

/** Append "model in 3, iters in 9": fields that were drawn, and in how many jobs; nothing where none was. */
void trace_list_synthetic(struct text *out, const struct trace *t);

/** The value of @p d at @p u in [0, 1): the inverse of its distribution; NaN for TRACE_DRAW_NONE. */
double trace_draw_at(const struct trace_draw *d, double u);

#endif
