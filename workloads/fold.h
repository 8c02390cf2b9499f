/** @file Tasks that wait for each other, folded into an expression of sums and maxima. */
#ifndef WORKLOADS_FOLD_H
#define WORKLOADS_FOLD_H

#include <stdbool.h>

#include "workloads/dag.h"

/** Index into fold.nodes; -1 = nothing, which takes no time. */
typedef int32_t fold_id;

enum fold_kind { FOLD_TASK, FOLD_SUM, FOLD_MAX };

/** Maxima inside one another; more are made shallower by letting tasks wait. */
enum { FOLD_MAX_DEPTH = 64 };

struct fold_node {
    enum fold_kind kind;
    int32_t depth;       /**< maxima inside one another, itself included */
    fold_id left, right; /**< of SUM (left first) and MAX; of TASK: left is the task */
};

/** An expression in which every task that takes time occurs once. Release with fold_free(). */
struct fold {
    struct fold_node *nodes; /**< shape [n_nodes], owned; operands come before what is made of them */
    int32_t n_nodes, cap_nodes;
    fold_id root;
    int32_t n_joins; /**< how often something had to wait that need not */
};

/**
 * Fold the tasks of @p g. Where waiting is series-parallel the expression takes exactly the time of the
 * longest chain, whatever the tasks take. Where it is not, one of two waits is added, and counted:
 *
 * - what runs beside a chain of tasks and crosses the end of another such thing is awaited at the
 *   end of the chain's next piece (a collective that is needed later than the next one is issued);
 * - of two chains that meet, what leaves them before they meet leaves when they have met.
 *
 * So the expression never takes less than the tasks, and tasks in it run in an order that the waits allow.
 *
 * How: events are the vertices of a tree that grows in the order of issue; a task is the edge from the event
 * that starts it to its end. An event that waits for several ends takes in the latest of them until one is
 * left: edges from the same event become a maximum, an end that nothing else waits for is joined in series
 * with what leads to it. (Reduction of two-terminal series-parallel graphs; J. Valdes, R. E. Tarjan and
 * E. L. Lawler, SIAM J. Comput. 11(2), 1982. The added waits are ours.)
 *
 * @param takes_time  shape [g->n], by place in the order; false: the task costs nothing and only orders.
 * @return 0 or ERR_NOMEM; then @p f is empty. Time O(m log n) for m waits.
 */
int fold_dag(struct fold *f, const struct dag *g, const bool *takes_time, struct err *e);
void fold_free(struct fold *f);

#endif
