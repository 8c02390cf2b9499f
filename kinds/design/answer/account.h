/** @file Where the time of a step goes: compute, exposed communication by what it is for and by class of
 * links, bubble, optimizer and overhead. Every report, row and figure shows this account. */
#ifndef KINDS_DESIGN_ANSWER_ACCOUNT_H
#define KINDS_DESIGN_ANSWER_ACCOUNT_H

#include "kinds/design/ask/point.h"
#include "sim/step.h"

/** Exposed communication of one parallel axis; of a workload that is no model, of one group. */
struct account_axis {
    char name[TOPO_NAME];
    double time_s;               /**< the sum of what follows */
    double latency_s;            /**< what no bandwidth shortens; simulated: also fill, drain and queues */
    double dim_s[TOPO_MAX_DIMS]; /**< bytes, by class of links */
};

/** Compute counts whole, and communication as far as nothing hides it: struct sim_account. The six parts add
 * up to the time. Release with account_free(); `= { 0 }` is empty. */
struct account {
    double compute_s;   /**< forward and backward pass, and what belongs to no phase */
    double recompute_s; /**< done again */
    double bubble_s;    /**< a stage waits for others, whatever these do */
    double optimizer_s, overhead_s;
    double comm_s;               /**< of all axes */
    double latency_s;            /**< of comm_s */
    double dim_s[TOPO_MAX_DIMS]; /**< the rest of comm_s, by class of links */
    struct account_axis *axes; /**< shape [n_axes], owned; models: tp, cp, ep, dp, pp; else the groups used */
    int32_t n_axes;
};

/** Axes of a model, in the order of account.axes; NULL-terminated. Gradients and parameters are of dp, those
 * of experts, shards and copies too; an embedding that both ends of a pipeline use is of pp. */
extern const char *const account_axis_words[];

/** Add a step of workload @p w, so many times. ERR_NOMEM. */
int account_add(struct account *a, double times, const struct design_workload *w, const struct sim_step *step,
                struct err *e);
/** Exposed communication of the axis of this name; 0 if there is none. */
double account_axis_s(const struct account *a, const char *name);
void account_free(struct account *a);

#endif
