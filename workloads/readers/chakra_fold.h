/** @file Tasks that wait for each other as an expression: their order, the fold into sums and maxima, equal
 * parts once. */
#ifndef WORKLOADS_READERS_CHAKRA_FOLD_H
#define WORKLOADS_READERS_CHAKRA_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "workloads/step.h"

/** Tasks on one lane run one at a time, in the order of issue; those on none run as soon as they can. */
enum { DAG_NO_LANE = -1, DAG_LANES = 2 };

/** Tasks in the order of issue: every one comes after those it waits for. Release with dag_free(). */
struct dag {
    int32_t n;
    int32_t *task;  /**< shape [n], owned; the caller's number of each */
    int32_t *begin; /**< shape [n + 1], owned */
    int32_t *waits; /**< shape [begin[n]], owned; waits[begin[i]..begin[i+1]-1] < i, ascending, distinct */
};

/**
 * Order tasks, those with the least number first where several could be issued; let each wait for the one
 * before it on its lane; and drop every wait that a lane implies: task a before b before c makes "c waits
 * for a" say nothing.
 *
 * @param begin  shape [n + 1]; @param waits  shape [begin[n]], each 0 to n-1, in any order; owned by the
 * caller.
 * @param lane   shape [n]; DAG_NO_LANE or 0 to DAG_LANES-1.
 * @param[out] cycle  on ERR_RANGE a task of the cycle, for the caller's message.
 * @return 0, ERR_RANGE (waits go round in a cycle) or ERR_NOMEM; then @p g is empty.
 * Time O(n log n + m log m) for m waits.
 */
int dag_build(struct dag *g, int32_t n, const int32_t *begin, const int32_t *waits, const signed char *lane,
              int32_t *cycle, struct err *e);
void dag_free(struct dag *g);

/* ---- folding ---- */

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

/* ---- equal parts ---- */

/** Index into compact.items, -1 = nothing. Equal parts, names apart, have the same. */
typedef int32_t compact_id;

enum compact_kind { COMPACT_LEAF, COMPACT_SUM, COMPACT_MAX, COMPACT_REPEAT };

struct compact_item {
    enum compact_kind kind;
    int32_t first, count; /**< operands: of SUM in order, of MAX ascending, of REPEAT one; of LEAF none */
    int32_t leaf;         /**< LEAF: which; REPEAT: how often */
};

/** `= { 0 }` is empty. Release with compact_free(). */
struct compact {
    struct compact_item *items; /**< shape [n_items], owned; operands come before what is made of them */
    int32_t n_items, cap_items;
    compact_id *operands; /**< shape [n_operands], owned */
    int32_t n_operands, cap_operands;
    struct step_node *leaves; /**< shape [n_leaves], owned; COMPUTE and COLLECTIVE, all different */
    int32_t n_leaves, cap_leaves;
    int32_t *table; /**< shape [n_table], owned: items by hash, -1 = free */
    int32_t n_table;
    struct compact_work { /**< owned: lists under way, one behind the other */
        int32_t *s;
        int32_t n, cap;
    } list, todo, last;
};

/**
 * The item of a leaf: that of an equal one (all but the name and the phase), else a new one.
 * -1 for lack of memory.
 */
compact_id compact_leaf(struct compact *c, const struct step_node *leaf);

/**
 * Bring in @p f. Sums in sums and maxima in maxima become one; in a sum, parts that follow each other several
 * times become a repeat, the longest stretch first where several fit; a period is looked for among
 * the next 32 places that hold the same part.
 *
 * @param leaf_of   item of each task of @p f.
 * @param[out] out  -1 when @p f is empty.
 * @return 0 or ERR_NOMEM. Time O(n log n), recursion as deep as @p f has maxima in one another.
 */
int compact_fold(struct compact *c, compact_id *out, const struct fold *f, const compact_id *leaf_of,
                 struct err *e);

/** Write item @p id below @p parent; step_check() tells about memory. */
void compact_write(const struct compact *c, struct step_tree *t, step_id parent, compact_id id);

void compact_free(struct compact *c);

#endif
