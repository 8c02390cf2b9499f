/*
 * What a training step of a model comes to on a design: where its time goes, what memory it needs, what of
 * the NPUs it uses; as a report and as columns of a row.
 */
#include "kinds/design/training.h"

#include <stdio.h>
#include <string.h>

const char *const report_axis_words[N_REPORT_AXES + 1] = { "tp", "cp", "ep", "dp", "pp" };

static enum report_axis axis_of(enum plan_group group)
{
    static const enum report_axis axes[N_PLAN_GROUPS] = {
        [PLAN_GROUP_TP] = REPORT_TP,     [PLAN_GROUP_CP] = REPORT_CP,      [PLAN_GROUP_EP] = REPORT_EP,
        [PLAN_GROUP_DP] = REPORT_DP,     [PLAN_GROUP_EXPERTS] = REPORT_DP, [PLAN_GROUP_PP] = REPORT_PP,
        [PLAN_GROUP_MERGED] = REPORT_EP,
    };
    return axes[group];
}

/* What a collective of the plan takes once, in the mean over its places in the step. */
struct once {
    double times, time_s, wait_s[TOPO_MAX_DIMS], busy_s[TOPO_MAX_DIMS];
};

static void find_once(struct once *once, const struct step_tree *t, const struct sim_step *step)
{
    for (int32_t i = 0; i < step->n_collectives; i++) {
        const struct sim_collective *c = &step->collectives[i];
        struct once *o = &once[t->nodes[c->node].mark];
        /* Those of other stages do not happen here, but take as long. */
        double weight = c->times > 0 ? c->times : 1e-9;
        o->times += weight;
        o->time_s += weight * c->time_s;
        for (int32_t d = 0; d < step->n_dims; d++) {
            o->wait_s[d] += weight * c->wait_s[d];
            o->busy_s[d] += weight * c->busy_s[d];
        }
    }
}

static void add_exposed(struct training_report *out, const struct plan_cost *c,
                        const struct plan_shares *shares, const struct once *once, int32_t n_dims)
{
    for (int32_t i = 0; i < c->n_collectives; i++) {
        enum report_axis axis = axis_of(c->collectives[i].group);
        out->axis_s[axis] += shares->exposed_s[i];
        for (int32_t d = 0; d < n_dims && once[i].time_s > 0; d++)
            out->dim_s[axis][d] += shares->exposed_s[i] * (once[i].wait_s[d] / once[i].time_s);
    }
}

/* Times per collective as the model found them are put into the plan's own formula, which says what is
 * exposed; what the simulation adds beyond that is `rest`. */
static void take_shares(struct training_report *out, const struct study_workload *w,
                        const struct sim_step *step)
{
    const struct plan_cost *c = &w->training->cost;
    struct once once[PLAN_MAX_COLLECTIVES] = { 0 };
    double once_s[PLAN_MAX_COLLECTIVES];
    struct plan_busy busy = { .n_dims = step->n_dims };
    struct plan_shares shares;
    find_once(once, &w->tree, step);
    for (int32_t i = 0; i < c->n_collectives; i++) {
        once_s[i] = once[i].times > 0 ? once[i].time_s / once[i].times : 0;
        for (int32_t d = 0; d < step->n_dims; d++)
            busy.once_s[i][d] = once[i].times > 0 ? once[i].busy_s[d] / once[i].times : 0;
    }
    plan_cost_shares(&shares, c, once_s, &busy);
    out->compute_s = shares.compute_s[STEP_FORWARD] + shares.compute_s[STEP_INPUT_GRAD] +
                     shares.compute_s[STEP_WEIGHT_GRAD];
    out->recompute_s = shares.compute_s[STEP_RECOMPUTE];
    out->optimizer_s = shares.compute_s[STEP_OPTIMIZER];
    out->overhead_s = shares.compute_s[STEP_OVERHEAD];
    out->bubble_s = shares.bubble_s;
    add_exposed(out, c, &shares, once, step->n_dims);
    out->rest_s = out->time_s - shares.time_s;
}

void training_report(struct training_report *out, const struct design_point *s,
                     const struct study_workload *w, const struct design_load *load)
{
    const struct training *x = w->training;
    *out = (struct training_report){ .time_s = load->time_s };
    take_shares(out, w, &load->step);
    out->tokens_per_s = training_tokens(x) / out->time_s;
    out->mfu = training_mfu(x, &s->net, out->time_s);
    out->hfu = out->mfu * x->cost.hardware_flop / x->cost.model_flop;
    out->memory_B = x->memory.total_B;
    out->missing_B = training_missing_B(x, &s->net);
}

/* ---- as a row ---- */

const struct column training_columns[] = { TRAINING_COLUMNS(struct training_row, ), COLUMNS_END };

/* Blank columns for workloads that are no models. */
int training_row_fill(struct training_row *out, const struct design_point *s, const struct design *d,
                      struct err *e)
{
    const struct study_workload *w = &s->workloads[0];
    struct training_report r;
    struct text text = { 0 };
    row_clear(out, training_columns);
    if (!w->training)
        return 0;
    const struct plan *p = &w->training->plan;
    training_report(&r, s, w, &d->loads[0]);
    plan_format(&text, p, &w->training->model);
    int rc = text_check(&text, e);
    snprintf(out->text, sizeof out->text, "%s", text_str(&text));
    text_free(&text);
    out->plan = out->text;
    out->tp = p->degree[PLAN_TP];
    out->cp = p->degree[PLAN_CP];
    out->dp = p->degree[PLAN_DP];
    out->pp = p->degree[PLAN_PP];
    out->ep = p->ep;
    out->micro_batch = p->micro;
    out->interleave = p->interleave;
    out->recompute = plan_recompute_words[p->recompute];
    out->zero = p->zero;
    out->memory_GB = r.memory_B / 1e9;
    out->fits = r.missing_B > 0 ? "no" : "yes";
    out->mfu = r.mfu;
    out->tokens_per_s = r.tokens_per_s;
    out->useful_s = r.compute_s;
    out->recompute_s = r.recompute_s;
    out->bubble_s = r.bubble_s;
    out->optimizer_s = r.optimizer_s + r.overhead_s;
    out->tp_s = r.axis_s[REPORT_TP];
    out->cp_s = r.axis_s[REPORT_CP];
    out->ep_s = r.axis_s[REPORT_EP];
    out->dp_s = r.axis_s[REPORT_DP];
    out->pp_s = r.axis_s[REPORT_PP];
    return rc;
}
