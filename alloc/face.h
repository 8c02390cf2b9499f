/** @file The optimal face: all splits as good as one, and which of them is taken. */
#ifndef ALLOC_FACE_H
#define ALLOC_FACE_H

#include "alloc/problem.h"

/** Slack on T and cost that rounding of the answer itself needs. */
#define FACE_REL 1e-12

/**
 * All splits as good as out->bw_Bps: out->lo_Bps, hi_Bps and unique. Then moves out->bw_Bps to the cheapest
 * of them, and among those to the most even.
 * @param b     the bound that touches the optimum
 * @param gap   what it leaves open, as a share of the value
 */
int alloc_explore_face(struct alloc_answer *out, const struct alloc_problem *p, const struct alloc_bound *b,
                       double gap, struct err *e);

#endif
