/*
 * The account of a step: what the walk of its tree counts (sim/step.h), by parallel axis of the plan. Steps
 * of several workloads add up by their weights, axes of the same name too.
 */
#include "kinds/design/answer/account.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

const char *const account_axis_words[] = { "tp", "cp", "ep", "dp", "pp", NULL };

/* The axis of a model that a group of the plan belongs to. */
static const char *axis_of_plan(const char *group)
{
    static const char *const axes[N_PLAN_GROUPS] = {
        [PLAN_GROUP_TP] = "tp",     [PLAN_GROUP_CP] = "cp",    [PLAN_GROUP_EP] = "ep",
        [PLAN_GROUP_DP] = "dp",     [PLAN_GROUP_PP] = "pp",    [PLAN_GROUP_EXPERTS] = "dp",
        [PLAN_GROUP_MERGED] = "ep", [PLAN_GROUP_SHARD] = "dp", [PLAN_GROUP_COPIES] = "dp",
    };
    for (int g = 0; g < N_PLAN_GROUPS; g++)
        if (strcmp(plan_group_words[g], group) == 0)
            return axes[g];
    return group;
}

/* The axis of this name, made if it is new; NULL: no memory. */
static struct account_axis *find_axis(struct account *a, const char *name)
{
    for (int32_t i = 0; i < a->n_axes; i++)
        if (strcmp(a->axes[i].name, name) == 0)
            return &a->axes[i];
    if (!vec_resize(a->axes, a->n_axes + 1))
        return NULL;
    struct account_axis *axis = &a->axes[a->n_axes++];
    *axis = (struct account_axis){ 0 };
    step_set_name(axis->name, name);
    return axis;
}

static int add_exposed(struct account *a, double times, const char *name, const struct sim_exposed *x,
                       int32_t n_dims, struct err *e)
{
    struct account_axis *axis = find_axis(a, name);
    double latency_s = times * x->latency_s, sum_s = latency_s;
    if (!axis)
        return err_nomem(e, "the account of a step");
    a->latency_s += latency_s;
    axis->latency_s += latency_s;
    for (int32_t d = 0; d < n_dims; d++) {
        double dim_s = times * x->dim_s[d];
        axis->dim_s[d] += dim_s;
        a->dim_s[d] += dim_s;
        sum_s += dim_s;
    }
    axis->time_s += sum_s;
    a->comm_s += sum_s;
    return 0;
}

static void add_compute(struct account *a, double times, const double *phase_s)
{
    for (int p = 0; p < N_STEP_PHASES; p++) {
        double *part = p == STEP_RECOMPUTE   ? &a->recompute_s
                       : p == STEP_BUBBLE    ? &a->bubble_s
                       : p == STEP_OPTIMIZER ? &a->optimizer_s
                       : p == STEP_OVERHEAD  ? &a->overhead_s
                                             : &a->compute_s;
        *part += times * phase_s[p];
    }
}

int account_add(struct account *a, double times, const struct design_workload *w, const struct sim_step *step,
                struct err *e)
{
    static const struct sim_exposed nothing;
    const struct step_tree *t = &w->tree;
    int rc = 0;
    add_compute(a, times, step->account.phase_s);
    for (int i = 0; w->training && account_axis_words[i] && !rc; i++)
        rc = add_exposed(a, 0, account_axis_words[i], &nothing, step->n_dims, e);
    for (int32_t g = 0; g < step->account.n_groups && !rc; g++)
        if (step->account.exposed[g].used)
            rc = add_exposed(a, times, w->training ? axis_of_plan(t->groups[g].name) : t->groups[g].name,
                             &step->account.exposed[g], step->n_dims, e);
    return rc;
}

double account_axis_s(const struct account *a, const char *name)
{
    for (int32_t i = 0; i < a->n_axes; i++)
        if (strcmp(a->axes[i].name, name) == 0)
            return a->axes[i].time_s;
    return 0;
}

void account_free(struct account *a)
{
    free(a->axes);
    *a = (struct account){ 0 };
}
