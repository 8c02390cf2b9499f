/** @file The rows of `weft place --places` and `--links`: stretches of time in the runs of one point and one
 * seed, a run per scheduler. */
#ifndef PLOTS_RUNS_H
#define PLOTS_RUNS_H

#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/names.h"
#include "plots/rows.h"

enum { RUNS_MAX = 4 };

/** A row that belongs to a run. */
struct runs_span {
    int32_t run; /**< -1: it is of another point or seed, of a run too many, or blank */
    double from, to;
};

/** Zero-initialise; release with runs_free(). */
struct runs {
    struct names points, seeds, schedulers; /**< owned texts; of points and seeds the first is drawn */
    struct text unit;                       /**< owned: "s" or "slot" */
    struct text common;                     /**< owned: axes and seed of what is drawn */
    double end[RUNS_MAX];                   /**< latest end of a run */
    int32_t n;
    int64_t n_passed, n_blank;
    int32_t point, seed, scheduler, from, to, unit_col; /**< columns */
};

/** Find the columns; ERR_PARSE when one is missing. */
int runs_begin(struct runs *x, const struct rows *r, struct err *e);
/** The row of @p r, which passes the filters. @return 0; ERR_PARSE: a cell holds what cannot be; ERR_NOMEM */
int runs_read(struct runs_span *out, struct runs *x, const struct rows *r, struct err *e);
void runs_free(struct runs *x);

/** Time axis over all runs, and what its values are divided by into @p unit. */
struct axis runs_axis(const struct runs *x, struct unit *unit);
/** Note what is drawn and what is left out. */
void runs_put_notes(struct canvas *c, const struct runs *x);

#endif
