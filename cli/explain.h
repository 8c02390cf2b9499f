/** @file What weft explain works out about a design, and its three forms. */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "cli/load.h"
#include "cli/output.h"

/** What a small change of one dimension does, by evaluating the time again. */
struct explain_step {
    double gain_s; /**< time saved by one more GB/s on it, >= 0 */
    double usd;    /**< price of that GB/s; NaN without parts */
    double
        loss_s; /**< time lost when it is cut by 1 USD; NaN without parts or when it costs less than that */
};

enum { EXPLAIN_ALL = -1 /**< all dimensions cut in proportion */ };

/** A simple bound that the time must not be below. */
struct explain_bound {
    char name[80];
    double value_s;
};

enum { EXPLAIN_MAX_BOUNDS = TOPO_MAX_DIMS + 2 };

struct explain {
    const struct run *run;
    const struct load_design *x;
    struct explain_step steps[TOPO_MAX_DIMS]; /**< shape [design.n_dims] */
    int32_t cheapest;  /**< dimension where 1 USD less loses the least time, or EXPLAIN_ALL */
    double cheapest_s; /**< time lost there; NaN without parts */
    int32_t usd_row;   /**< of the study's rows: the binding one about money; -1 = none */
    double usd_row_s;  /**< its shadow price: time lost per USD less */
    struct explain_bound bounds[EXPLAIN_MAX_BOUNDS];
    int32_t n_bounds;
};

/** Work it out, by timing changed designs with the study's model. @p x has a split. Errors as design_time().
 */
int explain_build(struct explain *p, const struct run *run, const struct load_design *x, struct err *e);

/** True unless the time is below the bound by more than rounding. */
bool explain_holds(const struct explain *p, const struct explain_bound *b);

int explain_text(const struct explain *p, struct text *out, struct err *e);
void explain_json(const struct explain *p, struct text *out);
/** One row per collective and dimension. */
void explain_table(const struct explain *p, struct table *t);

#endif
