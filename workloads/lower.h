/** @file A training step with its collectives taken apart into stages, so that its time is convex in
 * bandwidth. */
#ifndef WORKLOADS_LOWER_H
#define WORKLOADS_LOWER_H

#include "workloads/stage.h"
#include "workloads/step.h"

/**
 * Copy @p t with every collective replaced by its time under stage_rows(): a maximum over rows of sums of
 * latency (compute leaves) and transfers over one dimension each. Groups are kept.
 *
 * @param[out] out  uninitialised; empty and safe to free after failure.
 * @param bw_Bps    shape [n_dims], at which algorithms and regimes are chosen; NULL = not known. The result
 * is convex in bandwidth for the choices made.
 * @return 0 or ERR_NOMEM. O(nodes * dims^2).
 */
int step_lower(struct step_tree *out, const struct step_tree *t, const struct topo_network *net,
               const struct stage_rules *rules, const double *bw_Bps, struct err *e);

#endif
