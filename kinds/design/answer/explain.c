/*
 * Differences are of whole evaluations: one more GB/s on a dimension, one USD less on one or on all in
 * proportion. They are right for the model at hand, simulated ones included, where derivatives would need one
 * per model; a difference below 1e-12 of the time is rounding and shown as 0. A shadow price answers another
 * question (one USD less and split again) and stands beside them. Bounds share nothing with the step's
 * structure.
 */
#include "kinds/design/answer/explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/design/answer/price.h"

#define CHANGE(kind, field, ...) COLUMN_##kind(struct explain_change, field, __VA_ARGS__)

const struct column explain_change_columns[] = {
    CHANGE(WORD, dim, "dimension that is changed, all others as they are", .title = "one more GB/s on"),
    CHANGE(REAL, saves_s, "what one more GB/s on it saves", .show = COLUMN_FITTED),
    CHANGE(REAL, costs_usd, "and costs, by the GB/s", .title = "costs", .better = -1),
    CHANGE(REAL, one_usd_less_loses_s, "what one USD less on it loses", .title = "one USD less loses",
           .times = 1e9, .as = "ns", .better = -1),
    CHANGE(REAL, endless_saves_s, "what bandwidth without end on it saves", .in = IN_CSV),
    COLUMNS_END,
};

#define LIMIT(kind, field, ...) COLUMN_##kind(struct explain_limit, field, __VA_ARGS__)

const struct column explain_limit_columns[] = {
    LIMIT(WORD, what, "a part of the path that decides the step", .title = "what limits"),
    LIMIT(REAL, path_s, "of that path", .title = "critical path", .digits = 6, .show = COLUMN_FITTED,
          .better = -1),
    LIMIT(REAL, share, "of the step", .in = IN_TEXT, .times = 100, .as = "%", .digits = 3),
    LIMIT(REAL, endless_saves_s, "what bandwidth without end saves", .title = "saves if unlimited",
          .show = COLUMN_FITTED),
    COLUMNS_END,
};

#define BOUND(kind, field, ...) COLUMN_##kind(struct explain_bound, field, __VA_ARGS__)

const struct column explain_bound_columns[] = {
    BOUND(WORD, name, "what no step is below", .title = "no step should be below"),
    BOUND(REAL, time_s, "a lower bound of the step", .show = COLUMN_FITTED),
    BOUND(REAL, share, "of the step", .in = IN_TEXT, .title = "of the step", .times = 100, .as = "%",
          .digits = 3),
    BOUND(FLAG, holds, "yes, or no: the step is shorter"),
    COLUMNS_END,
};

/* ---- changes ---- */

/* The first evaluation that fails is the one that is told; what follows is not done. */
struct explain_trial {
    const struct explain *p;
    struct err *e;
    int rc;
};

static double time_at(struct explain_trial *t, const double *bw_Bps)
{
    double time_s = NAN;
    /* After a failure all further times are NaN and nothing is timed. */
    if (!t->rc)
        t->rc = design_time(&time_s, t->p->study, bw_Bps, t->e);
    return time_s;
}

/* The time with `more_Bps` on dimension d. */
static double time_with(struct explain_trial *t, int32_t d, double more_Bps)
{
    double bw_Bps[TOPO_MAX_DIMS];
    const struct design *x = t->p->design;
    for (int32_t i = 0; i < x->n_dims; i++)
        bw_Bps[i] = x->bw_Bps[i] + (i == d ? more_Bps : 0);
    return time_at(t, bw_Bps);
}

static double time_scaled(struct explain_trial *t, double factor)
{
    double bw_Bps[TOPO_MAX_DIMS];
    const struct design *x = t->p->design;
    for (int32_t i = 0; i < x->n_dims; i++)
        bw_Bps[i] = x->bw_Bps[i] * factor;
    return time_at(t, bw_Bps);
}

/* A difference of two nearly equal times; below this share of them it is rounding, or the last step of the
 * solver that routes over any paths of a graph. */
static double difference(const struct explain_trial *t, double more_s, double less_s)
{
    double x = more_s - less_s, noise = t->p->study->ideal ? 1e-9 : 1e-12;
    return fabs(x) > noise * more_s ? x : 0;
}

/* So many times as fast a dimension takes no time that six digits show, and simulations still end. */
#define ENDLESS 1e7

static int find_changes(struct explain *p, struct err *e)
{
    struct explain_trial t = { p, e, 0 };
    const struct design_point *s = p->study;
    const struct design *x = p->design;
    double now_s = time_at(&t, x->bw_Bps);
    for (int32_t d = 0; d < x->n_dims; d++) {
        double usd_per_Bps = s->has_parts && !s->prices[d].in_server ? s->prices[d].usd_per_Bps : NAN;
        bool can_cut = usd_per_Bps * x->bw_Bps[d] > 1; /* false for NaN */
        p->changes[d] = (struct explain_change){
            .dim = s->net.dims[d].name,
            /* 1 GB/s: the unit in which people buy, small against any bandwidth in range. */
            .saves_s = difference(&t, now_s, time_with(&t, d, 1e9)),
            .costs_usd = usd_per_Bps * 1e9,
            .one_usd_less_loses_s =
                can_cut ? difference(&t, time_with(&t, d, -1 / usd_per_Bps), now_s) : (double)NAN,
            .endless_saves_s = difference(&t, now_s, time_with(&t, d, (ENDLESS - 1) * x->bw_Bps[d])),
        };
    }
    return t.rc;
}

/* The least loss for 1 USD less: one dimension alone, or all in proportion. */
static int find_cheapest(struct explain *p, struct err *e)
{
    struct explain_trial t = { p, e, 0 };
    const struct design_point *s = p->study;
    const struct design *x = p->design;
    double usd = 0;
    for (int32_t d = 0; d < x->n_dims; d++)
        usd += s->has_parts ? s->prices[d].usd_per_Bps * x->bw_Bps[d] : 0;
    p->cheapest = EXPLAIN_ALL;
    /* NaN, which no comparison below prefers: without prices there is no cheapest. */
    p->cheapest_s = usd > 1 ? difference(&t, time_scaled(&t, 1 - 1 / usd), time_at(&t, x->bw_Bps)) : NAN;
    for (int32_t d = 0; d < x->n_dims; d++) {
        if (p->changes[d].one_usd_less_loses_s < p->cheapest_s) {
            p->cheapest = d;
            p->cheapest_s = p->changes[d].one_usd_less_loses_s;
        }
    }
    return t.rc;
}

/* The price of a dollar in seconds: only where time is the objective, and of the row that limits money most.
 */
static void find_usd_row(struct explain *p)
{
    const struct design_point *s = p->study;
    /* Whole parts seldom spend the last dollar, so it has no price there. */
    if (!p->solved || !alloc_is_time(s->objective) || s->combine != DESIGN_SUM || s->pricing == DESIGN_WHOLE)
        return;
    for (int32_t i = 0; i < s->rows.n; i++) {
        double per_usd = design_shadow_price(s, p->design, i) * s->rows.rows[i].spent_coef[ALLOC_USD];
        if (!design_row_repeated(s, i) && per_usd > 0 && (p->usd_row < 0 || per_usd > p->usd_row_s)) {
            p->usd_row = i;
            p->usd_row_s = per_usd;
        }
    }
}

/* ---- bounds ---- */

double explain_sent_B(const struct design_point *s, const struct design *d, int32_t k)
{
    double sum = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        sum += s->workloads[i].weight * d->loads[i].step.traffic_B[k];
    return sum;
}

double explain_valiant(const struct design_point *s, const struct design *d, int32_t k)
{
    double drawn_B = 0, all_B = 0;
    for (int32_t i = 0; i < d->n_loads; i++) {
        const struct sim_step *step = &d->loads[i].step;
        for (int32_t c = 0; c < step->n_collectives; c++) {
            const struct sim_collective *of = &step->collectives[c];
            double bytes = s->workloads[i].weight * of->times * of->traffic_B[k];
            drawn_B += bytes * of->valiant[k];
            all_B += bytes;
        }
    }
    return drawn_B > 0 ? drawn_B / all_B : (double)NAN;
}

double explain_busy_s(const struct design_point *s, const struct design *d, int32_t k)
{
    double sum = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        sum += s->workloads[i].weight * d->loads[i].step.busy_s[k];
    return sum;
}

bool explain_collisions(double *out, const struct design_point *s, const struct design *d)
{
    struct topo_network spray = s->net;
    double even[TOPO_MAX_DIMS] = { 0 }, full[TOPO_MAX_DIMS] = { 0 };
    bool hash = false;
    for (int32_t k = 0; k < spray.n_dims; k++) {
        hash = hash || spray.dims[k].fabric.balance == TOPO_HASH;
        spray.dims[k].fabric.balance = TOPO_SPRAY;
    }
    for (int32_t i = 0; i < d->n_loads && hash; i++) {
        const struct step_tree *t = &s->workloads[i].tree;
        for (int32_t c = 0; c < d->loads[i].step.n_collectives; c++) {
            const struct sim_collective *of = &d->loads[i].step.collectives[c];
            const struct step_group *g = &t->groups[t->nodes[of->node].group];
            enum collective_kind kind = t->nodes[of->node].collective;
            double load_B[2][TOPO_MAX_DIMS], times = s->workloads[i].weight * of->times;
            collective_loads(load_B[0], kind, of->bytes, g->members, g->stride, g->share, &spray);
            collective_loads(load_B[1], kind, of->bytes, g->members, g->stride, g->share, &s->net);
            for (int32_t k = 0; k < spray.n_dims; k++) {
                even[k] += times * load_B[0][k];
                full[k] += times * load_B[1][k];
            }
        }
    }
    for (int32_t k = 0; k < spray.n_dims; k++)
        out[k] = full[k] > 0 ? 1 - even[k] / full[k] : 0;
    return hash;
}

/* Not below the bound by more than rounding. */
static void add_bound(struct explain *p, double time_s, const char *name, const char *dim)
{
    struct explain_bound *b = &p->bounds[p->n_bounds++];
    snprintf(b->text, sizeof b->text, "%s%s", name, dim);
    b->name = b->text;
    b->time_s = time_s;
    b->share = time_s / p->design->time_s;
    b->holds = p->design->time_s >= time_s * (1 - 1e-9);
}

/* Each from the plainest arithmetic there is, none from the step's structure. */
static void find_bounds(struct explain *p)
{
    const struct design_point *s = p->study;
    const struct design *x = p->design;
    double all_B = 0, all_Bps = 0;
    const struct account *a = &x->account;
    add_bound(p, a->compute_s + a->recompute_s + a->optimizer_s + a->overhead_s, "compute alone", "");
    for (int32_t d = 0; d < x->n_dims; d++) {
        double sent_B = explain_sent_B(s, x, d);
        /* By the best share of the bandwidth that any regime of the dimension reaches: a bound must not be
         * above. */
        double busy_s = sent_B > 0 ? sent_B / (x->bw_Bps[d] * collective_best_share(&s->net.dims[d])) : 0;
        add_bound(p, busy_s, "bytes over bandwidth, ", s->net.dims[d].name);
        all_B += sent_B;
        all_Bps += x->bw_Bps[d];
    }
    add_bound(p, all_Bps > 0 ? all_B / all_Bps : 0, "all bytes over all bandwidth", "");
}

/* ---- limits ---- */

/* The path that decides, of all workloads by weight. */
static struct sim_path find_path(const struct explain *p)
{
    struct sim_path sum = { 0 };
    for (int32_t i = 0; i < p->design->n_loads; i++) {
        const struct sim_path *one = &p->design->loads[i].step.path;
        double weight = p->study->workloads[i].weight;
        sum.compute_s += weight * one->compute_s;
        sum.latency_s += weight * one->latency_s;
        for (int32_t d = 0; d < p->design->n_dims; d++)
            sum.wait_s[d] += weight * one->wait_s[d];
    }
    return sum;
}

static void add_limit(struct explain *p, const char *what, double path_s, double endless_saves_s)
{
    p->limits[p->n_limits++] =
        (struct explain_limit){ what, path_s, path_s / p->design->time_s, endless_saves_s };
}

/* The longer of all that runs side by side, and what is left without a dimension. */
static void find_limits(struct explain *p)
{
    const struct sim_path path = find_path(p);
    add_limit(p, "compute", path.compute_s, NAN);
    for (int32_t d = 0; d < p->design->n_dims; d++)
        add_limit(p, p->changes[d].dim, path.wait_s[d], p->changes[d].endless_saves_s);
    if (path.latency_s > 0)
        add_limit(p, sim_latency_word(p->study->model, &p->study->rules), path.latency_s, NAN);
}

int explain_build(struct explain *out, const struct design_point *s, const struct design *d, struct err *e)
{
    *out = (struct explain){ .study = s, .design = d, .solved = isfinite(d->answer.value), .usd_row = -1 };
    int rc = find_changes(out, e);
    if (!rc)
        rc = find_cheapest(out, e);
    /* Also after a failure, harmlessly: nothing is shown then. */
    find_usd_row(out);
    find_limits(out);
    find_bounds(out);
    return rc;
}

/* ---- collectives that are alike ---- */

static bool same_bundle(const struct step_tree *t, const struct sim_collective *a,
                        const struct sim_collective *b)
{
    const struct step_node *x = &t->nodes[a->node], *y = &t->nodes[b->node];
    return x->phase == y->phase && x->collective == y->collective && x->group == y->group &&
           a->critical == b->critical && memcmp(a->choice, b->choice, sizeof a->choice) == 0;
}

bool explain_is_here(const struct step_tree *t, const struct sim_collective *c)
{
    return c->times > 0 && t->nodes[c->node].phase != STEP_BUBBLE;
}

int explain_bundles(struct explain_bundle **out, int32_t *n, const struct step_tree *t,
                    const struct sim_step *step, struct err *e)
{
    struct explain_bundle *list = *out = calloc((size_t)step->n_collectives + 1, sizeof *list);
    *n = 0;
    if (!list)
        return err_nomem(e, "collectives");
    for (int32_t i = 0; i < step->n_collectives; i++) {
        const struct sim_collective *k = &step->collectives[i];
        int32_t at = 0;
        if (!explain_is_here(t, k))
            continue;
        /* Few bundles: a search of all of them per collective. */
        while (at < *n && !same_bundle(t, list[at].first, k))
            at++;
        struct explain_bundle *b = &list[at];
        if (at == *n) {
            b->first = k;
            (*n)++;
        }
        b->times += k->times;
        b->latency_s += k->times * k->latency_s;
        for (int32_t d = 0; d < step->n_dims; d++) {
            b->sent_B[d] += k->times * k->traffic_B[d];
            b->busy_s[d] += k->times * k->busy_s[d];
        }
    }
    return 0;
}
