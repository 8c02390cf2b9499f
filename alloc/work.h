/** @file Shared by the parts of alloc_solve(): what is known so far of one problem. */
#ifndef ALLOC_WORK_H
#define ALLOC_WORK_H

#include "alloc/interior.h"

/** Say how a solve ended; the reason reads on from "infeasible: ". */
void alloc_conclude(struct alloc_answer *out, enum alloc_status status, const char *fmt, ...)
    ERR_PRINTF(3, 4);

/** Does any collective send into dimension @p d? */
bool alloc_carries_traffic(const struct step_fn *f, int32_t d);

/**
 * Why interior_solve() found nothing: rows that clash, or leave a dimension with traffic
 * no bandwidth. out->status stays as it is when neither holds.
 */
int alloc_diagnose(struct alloc_answer *out, const struct alloc_problem *p, struct err *e);

/**
 * A dimension whose growth makes T fall without end: it is the first of a leaf none of whose dimensions a row
 * (or, if @p free_only, a price) limits; -1 if there is no such leaf.
 */
int alloc_find_unbounded(int32_t *dim, const struct alloc_problem *p, bool free_only, struct err *e);

/** Least usd_per_Bps.B over the rows, INFINITY when they clash; its proof goes into @p b. */
int alloc_least_price(double *least, struct alloc_bound *b, const struct alloc_problem *p, struct err *e);

/** Least T(B) * (usd_per_Bps.B + usd_fixed), proved over the whole range of prices. */
int alloc_solve_product(struct alloc_answer *out, const struct alloc_problem *p, struct interior *w,
                        struct err *e);

/**
 * All splits as good as out->bw_Bps: their ranges, and whether there are any. Then
 * moves to the cheapest, and among those to the most even.
 * @param b       bound that proves the optimum
 * @param time_s  largest T on the face
 * @param usd     largest usd_per_Bps.B on the face, INFINITY for none
 */
int alloc_explore_face(struct alloc_answer *out, const struct alloc_problem *p, const struct alloc_bound *b,
                       double time_s, double usd, struct err *e);

#endif
