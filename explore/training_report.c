#include "explore/training_report.h"

#include <stdio.h>
#include <string.h>

const char *const report_axis_words[N_REPORT_AXES + 1] = { "tp", "cp", "ep", "dp", "pp" };

/* Group of a planned step to what it is for; -1: none of its groups. */
static int axis_of(const char *group)
{
    static const enum report_axis axes[N_PLAN_GROUPS] = {
        [PLAN_GROUP_TP] = REPORT_TP, [PLAN_GROUP_CP] = REPORT_CP, [PLAN_GROUP_EP] = REPORT_EP,
        [PLAN_GROUP_DP] = REPORT_DP, [PLAN_GROUP_PP] = REPORT_PP, [PLAN_GROUP_EXPERTS] = REPORT_DP,
    };
    for (int g = 0; g < N_PLAN_GROUPS; g++)
        if (strcmp(group, plan_group_words[g]) == 0)
            return (int)axes[g];
    return -1;
}

static void add_collectives(struct training_report *out, const struct step_tree *t,
                            const struct sim_step *step)
{
    for (int32_t i = 0; i < step->n_collectives; i++) {
        const struct sim_collective *c = &step->collectives[i];
        const struct step_node *node = &t->nodes[c->node];
        int axis = axis_of(t->groups[node->group].name);
        if (!c->critical || axis < 0)
            continue;
        double sum_s = c->times * c->latency_s;
        for (int32_t d = 0; d < step->n_dims; d++)
            sum_s += c->times * c->wait_s[d];
        if (node->phase == STEP_BUBBLE) {
            out->bubble_s += sum_s;
            continue;
        }
        out->axis_s[axis] += sum_s;
        for (int32_t d = 0; d < step->n_dims; d++)
            out->dim_s[axis][d] += c->times * c->wait_s[d];
    }
}

void training_report(struct training_report *out, const struct study *s, const struct study_workload *w,
                     const struct design_load *load)
{
    const struct sim_step *step = &load->step;
    const struct training *x = w->training;
    const double *phase_s = step->phase_s;
    *out = (struct training_report){ .time_s = load->time_s };
    out->compute_s = phase_s[STEP_FORWARD] + phase_s[STEP_INPUT_GRAD] + phase_s[STEP_WEIGHT_GRAD];
    out->recompute_s = phase_s[STEP_RECOMPUTE];
    out->bubble_s = phase_s[STEP_BUBBLE];
    out->optimizer_s = phase_s[STEP_OPTIMIZER];
    out->overhead_s = phase_s[STEP_OVERHEAD];
    add_collectives(out, &w->tree, step);
    double sum_s = out->compute_s + out->recompute_s + out->bubble_s + out->optimizer_s + out->overhead_s;
    for (int a = 0; a < N_REPORT_AXES; a++)
        sum_s += out->axis_s[a];
    out->rest_s = out->time_s - sum_s;
    out->tokens_per_s = training_tokens(x) / out->time_s;
    out->mfu = training_mfu(x, &s->net, out->time_s);
    out->hfu = out->mfu * x->cost.hardware_flop / x->cost.model_flop;
    out->memory_B = x->memory.total_B;
    out->missing_B = training_missing_B(x, &s->net);
}

/* ---- as a row ---- */

int training_row_fill(struct training_row *out, const struct study *s, const struct design *d, struct err *e)
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
