#include "cli/explain.h"

#include <math.h>
#include <stdio.h>

#include "cli/alloc_report.h"

/* The first evaluation that fails is the one that is told; what follows is not done. */
struct trial {
    const struct explain *p;
    struct err *e;
    int rc;
};

static double time_at(struct trial *t, const double *bw_Bps)
{
    double time_s = NAN;
    if (!t->rc)
        t->rc = design_time(&time_s, &t->p->x->study, bw_Bps, t->e);
    return time_s;
}

/* The time with `more_Bps` on dimension d. */
static double time_with(struct trial *t, int32_t d, double more_Bps)
{
    double bw_Bps[TOPO_MAX_DIMS];
    const struct design *x = &t->p->x->design;
    for (int32_t i = 0; i < x->n_dims; i++)
        bw_Bps[i] = x->bw_Bps[i] + (i == d ? more_Bps : 0);
    return time_at(t, bw_Bps);
}

static double time_scaled(struct trial *t, double factor)
{
    double bw_Bps[TOPO_MAX_DIMS];
    const struct design *x = &t->p->x->design;
    for (int32_t i = 0; i < x->n_dims; i++)
        bw_Bps[i] = x->bw_Bps[i] * factor;
    return time_at(t, bw_Bps);
}

/* A difference of two nearly equal times; below 1e-12 of them it is rounding, or a solver's last step. */
static double difference(double more_s, double less_s)
{
    double x = more_s - less_s;
    return fabs(x) > 1e-12 * more_s ? x : 0;
}

static int find_steps(struct explain *p, struct err *e)
{
    struct trial t = { p, e, 0 };
    const struct design_point *s = &p->x->study;
    const struct design *x = &p->x->design;
    double now_s = time_at(&t, x->bw_Bps);
    for (int32_t d = 0; d < x->n_dims; d++) {
        double usd_per_Bps = s->has_parts ? s->prices[d].usd_per_Bps : NAN;
        bool can_cut = usd_per_Bps * x->bw_Bps[d] > 1; /* false for NaN */
        p->steps[d] = (struct explain_step){
            .gain_s = difference(now_s, time_with(&t, d, 1e9)),
            .usd = usd_per_Bps * 1e9,
            .loss_s = can_cut ? difference(time_with(&t, d, -1 / usd_per_Bps), now_s) : NAN,
        };
    }
    return t.rc;
}

/* The least loss for 1 USD less: one dimension alone, or all in proportion. */
static int find_cheapest(struct explain *p, struct err *e)
{
    struct trial t = { p, e, 0 };
    const struct design_point *s = &p->x->study;
    const struct design *x = &p->x->design;
    double usd = 0;
    for (int32_t d = 0; d < x->n_dims; d++)
        usd += s->has_parts ? s->prices[d].usd_per_Bps * x->bw_Bps[d] : 0;
    p->cheapest = EXPLAIN_ALL;
    p->cheapest_s = usd > 1 ? difference(time_scaled(&t, 1 - 1 / usd), time_at(&t, x->bw_Bps)) : NAN;
    for (int32_t d = 0; d < x->n_dims; d++) {
        if (p->steps[d].loss_s < p->cheapest_s) {
            p->cheapest = d;
            p->cheapest_s = p->steps[d].loss_s;
        }
    }
    return t.rc;
}

/* The price of a dollar in seconds: only where time is the objective, and of the row that limits money most.
 */
static void find_usd_row(struct explain *p)
{
    const struct design_point *s = &p->x->study;
    p->usd_row = -1;
    if (!p->x->solved || s->objective != ALLOC_TIME || s->combine != STUDY_SUM)
        return;
    for (int32_t i = 0; i < s->rows.n; i++) {
        double per_usd = alloc_shadow(s, &p->x->design, i) * s->rows.rows[i].usd_coef;
        if (!alloc_is_repeated(s, i) && per_usd > 0 && (p->usd_row < 0 || per_usd > p->usd_row_s)) {
            p->usd_row = i;
            p->usd_row_s = per_usd;
        }
    }
}

static void add_bound(struct explain *p, double value_s, const char *name, const char *dim)
{
    struct explain_bound *b = &p->bounds[p->n_bounds++];
    snprintf(b->name, sizeof b->name, "%s%s", name, dim);
    b->value_s = value_s;
}

/* Each from the plainest arithmetic there is, none from the step's structure. */
static void find_bounds(struct explain *p)
{
    const struct design_point *s = &p->x->study;
    const struct design *x = &p->x->design;
    double all_s = 0;
    add_bound(p, x->compute_s, "compute alone", "");
    for (int32_t d = 0; d < x->n_dims; d++) {
        double sent_B = 0;
        for (int32_t i = 0; i < x->n_loads; i++)
            sent_B += s->workloads[i].weight * x->loads[i].step.traffic_B[d];
        double busy_s = sent_B > 0 ? sent_B / (x->bw_Bps[d] * collective_best_share(&s->net.dims[d])) : 0;
        add_bound(p, busy_s, "bytes over bandwidth, ", s->net.dims[d].name);
        all_s += sent_B / x->total_Bps;
    }
    add_bound(p, all_s, "all bytes over all bandwidth", "");
}

int explain_build(struct explain *p, const struct run *run, const struct load_design *x, struct err *e)
{
    *p = (struct explain){ .run = run, .x = x };
    int rc = find_steps(p, e);
    if (!rc)
        rc = find_cheapest(p, e);
    find_usd_row(p);
    find_bounds(p);
    return rc;
}

bool explain_holds(const struct explain *p, const struct explain_bound *b)
{
    return p->x->design.time_s >= b->value_s * (1 - 1e-9);
}
