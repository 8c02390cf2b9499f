/** @file The result of weft sim, and how people read it. */
#ifndef CLI_SIM_TEXT_H
#define CLI_SIM_TEXT_H

#include "cli/load.h"

/** The same bandwidths under one model or under all, a column each. */
struct simulation {
    struct load_design first; /**< where the bandwidths come from; evaluated under its own model */
    struct {
        struct design_point study;
        struct design design;
    } others[N_SIM_MODELS]; /**< shape [n_others] */
    int32_t n_others;
    const struct design_point *studies[N_SIM_MODELS]; /**< shape [n]; first.study or one of the others */
    const struct design *designs[N_SIM_MODELS];
    int32_t n;
};

/** Bytes that a dimension carries, and how long it sends, in all workloads by their weights. */
double sim_sum_traffic(const struct design_point *s, const struct design *d, int32_t dim);
double sim_sum_busy(const struct design_point *s, const struct design *d, int32_t dim);

/** ERR_NOMEM. */
int sim_text(const struct simulation *x, struct text *out, struct err *e);

#endif
