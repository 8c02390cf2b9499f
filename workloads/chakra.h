/** @file Chakra execution traces of one NPU or several as a training step. */
#ifndef WORKLOADS_CHAKRA_H
#define WORKLOADS_CHAKRA_H

#include "workloads/step.h"

enum { CHAKRA_MAX_RANKS = 4096 };

/**
 * Read the step that `chakra: FILE` or `chakra: { prefix, ranks, comm_groups }` (step_chakra_section)
 * names, at node @p node. FILE is the trace of the NPU that its name says (PREFIX.RANK.et), else of NPU 0.
 *
 * Each trace becomes an expression: what its nodes take as chakra_leaf() says; of computations one at a time
 * on the accelerator and one on the CPU, in the order that their dependencies allow, the least id first;
 * communication beside them; both kinds of dependencies count. fold_dag() folds that into sums and
 * maxima, compact_fold() makes repeats of what repeats. Collectives that run side by side do not slow each
 * other down in closed form; model chunk and flow simulate them.
 *
 * Several ranks: equal expressions are one; the step is the maximum over those that differ, since the
 * slowest NPU ends it. Models that simulate then run the work of all of them on each NPU, which is too slow
 * where it meets. A receive waits for nothing but its own dependencies: what its sender does before is not
 * followed, so a pipeline's bubble is not seen.
 *
 * What was changed is told in t->notes: waits that were added, receives.
 *
 * @return 0; ERR_PARSE, ERR_RANGE, ERR_UNSUP as chakra_read_trace(), chakra_leaf(), dag_build(): unreadable
 *         files, duplicate ids, unknown or circular dependencies ...; ERR_NOMEM. On failure @p t is empty.
 *         Time O(n log n) for n nodes and dependencies.
 */
int chakra_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
                struct err *e);

/** The same for the @p n bytes of one trace, of NPU @p rank (0 to n_npus-1); @p groups may be NULL. */
int chakra_read_bytes(struct step_tree *t, const char *name, const char *bytes, size_t n, int32_t rank,
                      const struct yaml_doc *groups, const struct topo_network *net, struct err *e);

#endif
