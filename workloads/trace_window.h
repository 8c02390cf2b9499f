/** @file Part of a trace, and how fast its jobs come; arrivals made up. */
#ifndef WORKLOADS_TRACE_WINDOW_H
#define WORKLOADS_TRACE_WINDOW_H

#include "workloads/trace.h"

/** Every status, the unknown one too; bit 1 << (status + 1). */
#define TRACE_ANY_STATUS ((1u << (N_TRACE_STATUSES + 1)) - 1)

/** What trace_cut() keeps; start from trace_window_default(). */
struct trace_window {
    int64_t n;     /**< jobs; 0 = all that fit */
    int64_t start; /**< the first, from 0 among those that fit; -1 = drawn by seed */
    uint64_t seed;
    unsigned statuses; /**< jobs of these fit: bits 1 << (enum trace_status + 1) */
    int32_t max_gpus;  /**< jobs that ask for more do not fit; 0 = no limit */
    bool with_work;    /**< jobs whose run time or iterations are 0 do not fit; unknown ones do */
    double horizon_s;  /**< the last job comes then [s], >= 0; NaN = arrivals keep their distances */
    double rate;       /**< jobs come this many times as fast, > 0; 1 with a horizon */
};

/** All jobs, at their own pace. */
struct trace_window trace_window_default(void);

/**
 * Keep @p w->n consecutive jobs of those that fit. The first one kept arrives at 0 and, with a horizon, the
 * last at horizon_s, those between in proportion (all at 0 when all came at once); else submit_s - that of
 * the first, over rate. What does not fit is told in the notes. Indices stay: draws do not depend on windows.
 * @return 0, ERR_NOMEM, or ERR_RANGE: fewer jobs fit than are asked for. O(n).
 */
int trace_cut(struct trace *t, const struct trace_window *w, struct err *e);

/**
 * @p n jobs "0", "1", .. that arrive as a Poisson process of @p rate_per_s [1/s] > 0, the first one after an
 * exponential time too; submit_s is marked synthetic and everything else unknown.
 * @param[out] t  uninitialised; empty after a failure.
 * @return 0, ERR_RANGE (n below 1 or a rate that is not above 0) or ERR_NOMEM.
 */
int trace_draw_arrivals(struct trace *t, int32_t n, double rate_per_s, uint64_t seed, struct err *e);

#endif
