/**
 * @file A design, or a network alone, held against the limits under `budget` of its study.
 *
 * A value that is only a lower bound (an item without a known power, a price without whole parts) can exceed
 * a limit but never keep it, an upper bound (all links of an NPU, where a graph does not say which of them is
 * its NIC) the other way round: the verdict is then unknown.
 */
#ifndef KINDS_DESIGN_ANSWER_BUDGET_H
#define KINDS_DESIGN_ANSWER_BUDGET_H

#include "base/column.h"
#include "kinds/design/answer/design.h"

enum budget_verdict { BUDGET_WITHIN, BUDGET_OVER, BUDGET_UNKNOWN, N_BUDGET_VERDICTS };
extern const char *const budget_verdict_words[N_BUDGET_VERDICTS + 1];

/** One limit: what the design takes, what it may take, in the unit of the key; budget_columns describes it.
 */
struct budget_item {
    const char *key, *name, *unit;
    double value, limit, slack;
    double low, high;       /**< of the value, with the bands of prices and of measured steps; NaN: none */
    const char *band_grade; /**< of the prices at these ends, by their worst; NULL: no price has a band */
    bool with_time;         /**< the ends are those of a step's time too */
    bool at_least;          /**< the value is a lower bound */
    bool at_most;           /**< it is an upper bound */
    enum budget_verdict verdict;
    const char *word; /**< of the verdict */
    char why[600];    /**< why nothing better is known */
};
extern const struct column budget_columns[];

enum { BUDGET_MAX = 9 };

struct budget {
    struct budget_item list[BUDGET_MAX];
    int32_t n;
    bool over, unknown; /**< one of them is */
};

/** @p d has bandwidths. ERR_NOMEM. */
int budget_check(struct budget *out, const struct design_point *s, const struct design *d, struct err *e);
/** The study's network at its own bandwidths, without a workload. ERR_NOMEM. */
int budget_check_network(struct budget *out, const struct design_point *s, struct err *e);

/** What a verdict is about: the value, or an end of its band where it has one. */
enum budget_end { BUDGET_LOW, BUDGET_TYPICAL, BUDGET_HIGH, N_BUDGET_ENDS };
/** "low", "typical", "high"; NULL-terminated. */
extern const char *const budget_end_words[N_BUDGET_ENDS + 1];

/** Judge the values at an end of their bands in place of the typical ones. */
void budget_judge(struct budget *c, enum budget_end end);

/** Is a value over the limit of @p b? */
bool budget_exceeds(const struct budget_item *b, double value);

#endif
