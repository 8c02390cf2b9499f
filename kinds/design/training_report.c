#include "kinds/design/training_report.h"

#include <stdio.h>
#include <string.h>

const char *const report_axis_words[N_REPORT_AXES + 1] = { "tp", "cp", "ep", "dp", "pp" };

static enum report_axis axis_of(enum plan_group group)
{
    static const enum report_axis axes[N_PLAN_GROUPS] = {
        [PLAN_GROUP_TP] = REPORT_TP, [PLAN_GROUP_CP] = REPORT_CP,      [PLAN_GROUP_EP] = REPORT_EP,
        [PLAN_GROUP_DP] = REPORT_DP, [PLAN_GROUP_EXPERTS] = REPORT_DP, [PLAN_GROUP_PP] = REPORT_PP,
    };
    return axes[group];
}

/* What a collective of the plan takes once, in the mean over its places in the step. */
struct once {
    double times, time_s, wait_s[TOPO_MAX_DIMS];
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
        for (int32_t d = 0; d < step->n_dims; d++)
            o->wait_s[d] += weight * c->wait_s[d];
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

static void take_shares(struct training_report *out, const struct study_workload *w,
                        const struct sim_step *step)
{
    const struct plan_cost *c = &w->training->cost;
    struct once once[PLAN_MAX_COLLECTIVES] = { 0 };
    double once_s[PLAN_MAX_COLLECTIVES];
    struct plan_shares shares;
    find_once(once, &w->tree, step);
    for (int32_t i = 0; i < c->n_collectives; i++)
        once_s[i] = once[i].times > 0 ? once[i].time_s / once[i].times : 0;
    plan_cost_shares(&shares, c, once_s);
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

int training_row_fill(struct training_row *out, const struct design_point *s, const struct design *d,
                      struct err *e)
{
    const struct study_workload *w = &s->workloads[0];
    struct text plan = { 0 };
    *out = (struct training_row){ 0 };
    if (!w->training)
        return 0;
    out->known = true;
    out->plan = w->training->plan;
    training_report(&out->report, s, w, &d->loads[0]);
    out->fits = !(out->report.missing_B > 0);
    plan_format(&plan, &out->plan, &w->training->model);
    int rc = text_check(&plan, e);
    snprintf(out->text, sizeof out->text, "%s", text_str(&plan));
    text_free(&plan);
    return rc;
}

static const char *const row_counts[] = { "tp", "cp", "dp", "pp", "ep", "micro_batch", "interleave" };
static const char *const row_reals[] = { "mfu",      "tokens_per_s", "useful_s", "recompute_s",
                                         "bubble_s", "optimizer_s",  "tp_s",     "cp_s",
                                         "ep_s",     "dp_s",         "pp_s" };

/* plan, recompute, zero, memory_GB, fits */
enum { N_ROW_OTHERS = 5 };

enum {
    N_ROW_COUNTS = sizeof row_counts / sizeof *row_counts,
    N_ROW_REALS = sizeof row_reals / sizeof *row_reals
};

void training_row_columns(struct table *t)
{
    table_column(t, "plan", TABLE_TEXT);
    for (int i = 0; i < N_ROW_COUNTS; i++)
        table_column(t, row_counts[i], TABLE_COUNT);
    table_column(t, "recompute", TABLE_TEXT);
    table_column(t, "zero", TABLE_COUNT);
    table_column(t, "memory_GB", TABLE_REAL);
    table_column(t, "fits", TABLE_TEXT);
    for (int i = 0; i < N_ROW_REALS; i++)
        table_column(t, row_reals[i], TABLE_REAL);
}

void training_row_put(struct table *t, const struct training_row *row)
{
    const struct plan *p = &row->plan;
    const struct training_report *r = &row->report;
    const int64_t counts[N_ROW_COUNTS] = {
        p->degree[PLAN_TP], p->degree[PLAN_CP], p->degree[PLAN_DP], p->degree[PLAN_PP], p->ep,
        p->micro,           p->interleave
    };
    const double reals[N_ROW_REALS] = { r->mfu,
                                        r->tokens_per_s,
                                        r->compute_s,
                                        r->recompute_s,
                                        r->bubble_s,
                                        r->optimizer_s + r->overhead_s,
                                        r->axis_s[REPORT_TP],
                                        r->axis_s[REPORT_CP],
                                        r->axis_s[REPORT_EP],
                                        r->axis_s[REPORT_DP],
                                        r->axis_s[REPORT_PP] };
    for (int i = 0; i < N_ROW_COUNTS + N_ROW_REALS + N_ROW_OTHERS && !row->known; i++)
        table_put_none(t);
    if (!row->known)
        return;
    table_put_text(t, row->text);
    for (int i = 0; i < N_ROW_COUNTS; i++)
        table_put_count(t, counts[i]);
    table_put_text(t, plan_recompute_words[p->recompute]);
    table_put_count(t, p->zero);
    table_put_real(t, r->memory_B / 1e9);
    table_put_text(t, row->fits ? "yes" : "no");
    for (int i = 0; i < N_ROW_REALS; i++)
        table_put_real(t, reals[i]);
}
