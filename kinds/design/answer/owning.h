/**
 * @file What makes the cost of owning a design's machine: item by item, failure by failure, and what a tenth
 * more of each factor would do.
 */
#ifndef KINDS_DESIGN_ANSWER_OWNING_H
#define KINDS_DESIGN_ANSWER_OWNING_H

#include "base/column.h"
#include "kinds/design/ask/system.h"

/* Each needs a system whose `racks` is known. Texts are borrowed from it. */

/** One thing that is owned; owning_item_columns describes it. */
struct owning_item {
    const char *item, *unit;
    double count, price_usd, capital_usd_year, support_usd_year, watt_peak, power_usd_year;
};
extern const struct column owning_item_columns[];
/** Of x->items. A watt's share of building and energy is that of all watts. */
struct owning_item owning_item_of(const struct system *x, const struct own_terms *t, int32_t i);

/** One kind of part that fails; owning_fail_columns describes it. */
struct owning_fail {
    const char *part;
    double count, mtbf_h, mtbf_low_h, mtbf_high_h, per_year, npus_taken, bw_left_frac;
    double stops_share; /**< of all that stop the job */
    double goodput_without;
};
extern const struct column owning_fail_columns[];
/** Of x->fails. */
struct owning_fail owning_fail_of(const struct system *x, int32_t i);

enum { OWNING_FACTORS = 16 };

/** What a tenth more of a factor does, all else as it is, relative; owning_factor_columns describes it. */
struct owning_factor {
    const char *factor;
    double usd_npu_h, usd_work;
};
extern const struct column owning_factor_columns[];
/** Those that change something, in a fixed order; @p out: shape [OWNING_FACTORS]. None where the cost of work
 * is not known. ERR_NOMEM. */
int owning_factors(struct owning_factor *out, int32_t *n, const struct system *x,
                   const struct design_point *s, double time_s, struct err *e);

/** USD of a million tokens; where none are known, of an NPU hour of work. */
double owning_work_usd(const struct system *x);

/** Share of the cost of the same work that restarts a minute faster save. */
double owning_minute_share(const struct system *x);

#endif
