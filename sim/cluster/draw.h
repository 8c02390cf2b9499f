/** @file Ranges to draw from, and how a file writes them. */
#ifndef SIM_CLUSTER_DRAW_H
#define SIM_CLUSTER_DRAW_H

#include "base/rng.h"
#include "base/yaml.h"

/** From lo to hi, both included where whole numbers are drawn. */
struct draw_range {
    double lo, hi;
};

/** Uniform; @p range.lo where both ends are the same. */
double draw_real(struct rng *r, struct draw_range range);
/** A whole number of ceil(lo) .. floor(hi), each as likely; draw_real() where there is none between. */
double draw_whole(struct rng *r, struct draw_range range);

/** What a range in a file may be. */
struct draw_limits {
    double scale;    /**< file's unit to SI */
    double min, max; /**< in the file's unit, inclusive */
    bool whole;      /**< both ends must be whole numbers */
};

/**
 * Read a number, or a list [lo, hi] of two; -1 leaves @p range as it is.
 * ERR_PARSE or ERR_RANGE with the place.
 */
int draw_read_range(struct draw_range *range, const struct yaml_doc *doc, yaml_id node,
                    const struct draw_limits *limits, struct err *e);

enum { DRAW_MAX_CHOICES = 16 };

/** Read a list of 1 to DRAW_MAX_CHOICES whole numbers of 1 to 1024 into @p out. ERR_PARSE, ERR_RANGE. */
int draw_read_choices(double *out, int32_t *n, const struct yaml_doc *doc, yaml_id list, struct err *e);

#endif
