/** @file The rows of `weft hetero --plans`: which type of resource has which layer, by point and scheduler.
 */
#ifndef PLOTS_ASSIGNED_H
#define PLOTS_ASSIGNED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "plots/names.h"
#include "plots/points.h"
#include "plots/rows.h"

enum { ASSIGNED_MAX_POINTS = 4, ASSIGNED_MAX_PLANS = 24, ASSIGNED_MAX_LAYERS = 1024 };

/** A layer in a plan. */
struct assigned_cell {
    int32_t type;          /**< position in `types`; -1 = not in the table */
    int32_t stage;         /**< its number */
    double units;          /**< of the stage; NaN = blank */
    double unit_usd_per_h; /**< NaN = not known */
};

/** Zero-initialise; release with assigned_free(). */
struct assigned {
    struct points points;
    struct names schedulers; /**< owned texts: those of the rows that pass */
    struct names types;      /**< owned texts: those of all the table, so that a filter changes no colour */
    struct names words;      /**< owned texts: names of layers */
    int32_t n_plans;         /**< of `schedulers`, how many are drawn */
    int32_t n_layers;        /**< the most of a point */
    struct assigned_cell *cells; /**< shape [points.n][n_plans][n_layers], owned */
    int32_t *layers;  /**< shape [points.n][n_layers], owned: position in `words`; -1 = the point has no such
                         layer */
    struct text seed; /**< owned: that of all plans that have one; "" = none has, or they differ */
    bool seeds_differ;
    int64_t n_again; /**< rows that repeat a layer */
};

/**
 * Read the rows of @p r that pass its filters: of each point and scheduler the plan of the first seed. A
 * layer without a name has that of its kind. Time O(rows + cells).
 * @return 0; ERR_PARSE: a cell holds what cannot be, or no row is left; ERR_NOMEM
 */
int assigned_read(struct assigned *x, const struct rows *r, struct err *e);
void assigned_free(struct assigned *x);

/** The layers of one plan, shape [n_layers]. */
static inline const struct assigned_cell *assigned_plan(const struct assigned *x, int32_t point, int32_t plan)
{
    return x->cells + ((int64_t)point * x->n_plans + plan) * x->n_layers;
}

#endif
