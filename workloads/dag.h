/** @file Tasks and what each of them waits for: the order of issue, and waits that say nothing new. */
#ifndef WORKLOADS_DAG_H
#define WORKLOADS_DAG_H

#include <stdint.h>

#include "base/err.h"

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

#endif
