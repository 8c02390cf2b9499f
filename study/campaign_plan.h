/** @file What follows from the study of a sweep alone, whoever runs it: its units, and which rows are kept.
 */
#ifndef STUDY_CAMPAIGN_PLAN_H
#define STUDY_CAMPAIGN_PLAN_H

#include "study/kind.h"

/** Release with campaign_plan_free(). */
struct campaign_plan {
    struct table columns; /**< of all rows; no rows */
    struct keep_rule rule;
    struct order order;
    struct text study; /**< text of the study's own file, overrides as comments */
    struct text keep;  /**< its `keep` as YAML */
    int32_t passes;    /**< 2 where points are pruned: a sample first, whose front bounds the rest */
};

/**
 * Read `keep` of the study's own file and cut the sweep into units: many points where one takes microseconds,
 * one where it takes seconds. Its first point stands for all.
 * @param[out] p  uninitialised; empty after failure.
 * @param all     keep all rows, whatever the study says.
 * @return 0; ERR_PARSE, ERR_RANGE as keep_read(); ERR_RANGE: 2^62 units or more to be pruned; ERR_NOMEM.
 */
int campaign_plan_make(struct campaign_plan *p, const struct study *study, bool all, struct err *e);
void campaign_plan_free(struct campaign_plan *p);

#endif
