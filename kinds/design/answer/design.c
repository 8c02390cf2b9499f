/*
 * One design: solve the split (or take given bandwidths), check the answer, and evaluate everything reports
 * and rows show: time with its parts, utilisation, cost, the equal split, ratios, regret. The problem for
 * alloc comes from kinds/design/ask/point.c; the time from the model of the study (closed form or simulation,
 * sim/step). A split is solved for the closed form even where another model times it; algorithms and regimes
 * that depend on the split are settled by solving again at the choices found. Every answer is verified
 * (alloc/verify) before it counts as solved.
 */
#include "kinds/design/answer/design.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "alloc/lp.h"
#include "alloc/verify.h"
#include "kinds/design/answer/whole.h"
#include "workloads/ideal.h"

/* ---- at given bandwidths ---- */

static int reserve_loads(struct design *d, const struct design_point *s, struct err *e)
{
    assert(s->n_workloads > 0);
    d->loads = calloc((size_t)s->n_workloads, sizeof *d->loads);
    if (!d->loads)
        return err_nomem(e, "a design");
    d->n_loads = s->n_workloads;
    for (int32_t i = 0; i < d->n_loads; i++)
        d->loads[i].best_s = NAN;
    return 0;
}

/* A simulation that cannot be done is the fault of what the study says about it. */
static int simulate(struct sim_step *out, const struct design_workload *w, const struct design_point *s,
                    const double *bw_Bps, struct err *e)
{
    char place[400];
    const struct sim_way way = design_point_way(s, bw_Bps);
    int rc = sim_step_build(out, &w->tree, &way, e);
    if (!rc || rc == ERR_NOMEM)
        return rc;
    yaml_id at = yaml_get(&s->doc, s->doc.root, "simulation");
    if (at < 0)
        at = yaml_get(&s->doc, s->doc.root, "model");
    return err_wrap(e, "%s: model %s", yaml_place(&s->doc, at < 0 ? s->doc.root : at, place, sizeof place),
                    sim_model_words[s->model]);
}

/* Workloads add up by weight; utilisation is over the sum, as one NPU sees it. */
static int fill_loads(struct design *d, const struct design_point *s, struct err *e)
{
    double busy_s[TOPO_MAX_DIMS] = { 0 };
    for (int32_t i = 0; i < d->n_loads; i++) {
        const struct design_workload *w = &s->workloads[i];
        struct sim_step *c = &d->loads[i].step;
        int rc = simulate(c, w, s, d->bw_Bps, e);
        rc = rc ? rc : account_add(&d->loads[i].account, 1, w, c, e);
        rc = rc ? rc : account_add(&d->account, w->weight, w, c, e);
        if (rc)
            return rc;
        d->loads[i].time_s = c->time_s;
        d->time_s += w->weight * c->time_s;
        for (int32_t k = 0; k < d->n_dims; k++)
            busy_s[k] += w->weight * c->busy_s[k];
    }
    for (int32_t k = 0; k < d->n_dims; k++)
        d->util_frac[k] = busy_s[k] > 0 ? busy_s[k] / d->time_s : 0;
    return 0;
}

/* Rounding of total/D times D. */
#define EQUAL_REL 1e-12

/* The weighted time alone, for comparisons: the compiled function where the closed form allows. */
int design_time(double *time_s, const struct design_point *s, const double *bw_Bps, struct err *e)
{
    const bool closed = s->model == SIM_BANDWIDTH && !s->ideal;
    *time_s = closed ? design_point_compiled_s(s, bw_Bps) : 0;
    for (int32_t i = 0; i < s->n_workloads && !closed; i++) {
        struct sim_step step;
        int rc = simulate(&step, &s->workloads[i], s, bw_Bps, e);
        if (rc)
            return rc;
        *time_s += s->workloads[i].weight * step.time_s;
        sim_step_free(&step);
    }
    return 0;
}

/* perf_per_watt or tco_per_token at bandwidths that ports may not give: of whole parts by what carries them.
 */
static double factored_at(const struct design_point *s, const double *bw_Bps, double time_s)
{
    struct design_question q;
    struct err ignored;
    double spent[N_ALLOC_SPENT];
    design_ask(&q, s);
    const struct alloc_problem *p = &q.problem;
    if (s->pricing != DESIGN_WHOLE)
        return time_s * (p->factor_fixed + vector_dot(p->factor_per_Bps, bw_Bps, s->net.n_dims));
    if (p->exact)
        return p->exact(p->about, bw_Bps, time_s);
    if (system_spend(spent, s, 0, s->net.n_dims, bw_Bps, &ignored))
        return NAN;
    return time_s * (p->factor_fixed + p->factor_unit * spent[p->factor]);
}

/* Every entry at @p each_Bps; levels above the injection have what their taper leaves, or all of it. */
static void split_evenly(double *bw_Bps, const struct topo_network *net, double each_Bps)
{
    for (int32_t k = 0; k < net->n_dims; k++) {
        const struct topo_dim *dim = &net->dims[k];
        bw_Bps[k] = dim->level == 0 ? each_Bps : bw_Bps[k - 1] * (dim->tie > 0 ? dim->tie : 1);
    }
}

/* The same where parts are whole: what is given stays, the rest is as many ports as @p each_Bps has room for,
 * one at least. Can that be bought, under all constraints? */
static bool split_whole(double *bw_Bps, const struct design_point *s, double each_Bps)
{
    for (int32_t k = 0; k < s->net.n_dims; k++) {
        const struct topo_dim *dim = &s->net.dims[k];
        double step_Bps = topo_port_step_Bps(&s->net, k, &s->parts);
        double whole_Bps = dim->level == 0 ? each_Bps : bw_Bps[k - 1] * (dim->tie > 0 ? dim->tie : 1);
        if (step_Bps > 0)
            whole_Bps = step_Bps * fmax(floor(whole_Bps / step_Bps * (1 + EQUAL_REL)), 1);
        bw_Bps[k] = isnan(dim->bw_Bps) ? whole_Bps : dim->bw_Bps;
    }
    return isfinite(design_point_usd(s, bw_Bps, NULL)) && system_broken_row(s, bw_Bps, EQUAL_REL) < 0;
}

/* Halvings of the even share: to a millionth of a port. */
enum { SHARE_ROUNDS = 40 };

/*
 * The most even design that the same money buys, as far as its share is at most @p each_Bps: less bandwidth
 * costs less, so halving finds where it begins to fit. @return false: nothing is free, or nothing fits.
 */
static bool find_buyable(double *bw_Bps, double *each_Bps, const struct design_point *s)
{
    double fits_Bps = 0, above_Bps = *each_Bps;
    if (!(*each_Bps > 0))
        return false;
    if (split_whole(bw_Bps, s, *each_Bps))
        return true;
    for (int round = 0; round < SHARE_ROUNDS; round++) {
        *each_Bps = (fits_Bps + above_Bps) / 2;
        if (split_whole(bw_Bps, s, *each_Bps))
            fits_Bps = *each_Bps;
        else
            above_Bps = *each_Bps;
    }
    *each_Bps = fits_Bps;
    return split_whole(bw_Bps, s, fits_Bps);
}

/* Share of each entry that is free, where those that are not keep theirs; 0 where none is. */
static double free_share_Bps(const struct design_point *s, double total_Bps)
{
    double one_Bps[TOPO_MAX_DIMS], given_Bps[TOPO_MAX_DIMS];
    split_evenly(one_Bps, &s->net, 1);
    for (int32_t k = 0; k < s->net.n_dims; k++) {
        double bw_Bps = s->net.dims[k].bw_Bps;
        given_Bps[k] = isnan(bw_Bps) ? 0 : bw_Bps;
        one_Bps[k] *= isnan(bw_Bps);
    }
    double parts = design_point_total_Bps(s, one_Bps);
    return parts > 0 ? (total_Bps - design_point_total_Bps(s, given_Bps)) / parts : 0;
}

bool design_equal_split(double *bw_Bps, double *each_Bps, const struct design_point *s, double total_Bps)
{
    if (s->pricing == DESIGN_WHOLE) {
        *each_Bps = free_share_Bps(s, total_Bps);
        return find_buyable(bw_Bps, each_Bps, s);
    }
    split_evenly(bw_Bps, &s->net, 1);
    *each_Bps = total_Bps / design_point_total_Bps(s, bw_Bps);
    split_evenly(bw_Bps, &s->net, *each_Bps);
    return true;
}

/* The reference of speed-up and of performance per cost. Of whole parts it is a design that the same money
 * buys, or there is none; else it may break constraints, and is marked if so. */
static int fill_equal(struct design *d, const struct design_point *s, struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS];
    double total_Bps = isnan(s->total_Bps) ? d->total_Bps : s->total_Bps;
    if (!design_equal_split(bw_Bps, &d->equal.bw_Bps, s, total_Bps))
        return 0;
    int rc = design_time(&d->equal.time_s, s, bw_Bps, e);
    if (rc)
        return rc;
    d->equal.cost_usd = design_point_usd(s, bw_Bps, NULL);
    d->equal.allowed =
        system_broken_row(s, bw_Bps, EQUAL_REL) < 0 &&
        !(alloc_is_limited(s->objective) && d->equal.time_s > s->time_limit_s * (1 + EQUAL_REL));
    /* Without work both are 0, and the ratio is nothing. */
    d->speedup = d->equal.time_s / d->time_s;
    d->perf_per_cost_gain = d->equal.time_s * d->equal.cost_usd / (d->time_s * d->cost_usd);
    if (alloc_has_factor(s->objective) && s->split != DESIGN_GIVEN)
        d->objective_gain = factored_at(s, bw_Bps, d->equal.time_s) / factored_at(s, d->bw_Bps, d->time_s);
    return 0;
}

int design_fill_bill(struct design *d, const struct design_point *s, struct err *e)
{
    struct err inner = { 0 };
    if (!s->has_parts)
        return 0;
    int rc = topo_build_bill(&d->bill, &s->net, &s->parts, d->bw_Bps, &inner);
    d->has_bill = rc == 0;
    if (rc == ERR_NOMEM)
        return err_set(e, rc, "%s", inner.msg);
    if (rc)
        snprintf(d->bill_reason, sizeof d->bill_reason, "%.511s", inner.msg);
    return 0;
}

/* Everything but the bill that follows from bw_Bps, beside the equal split if asked for; loads are reserved.
 */
static int design_fill(struct design *d, const struct design_point *s, const double *bw_Bps, bool compare,
                       struct err *e)
{
    struct err why = { 0 };
    memcpy(d->bw_Bps, bw_Bps, (size_t)d->n_dims * sizeof *d->bw_Bps);
    d->total_Bps = design_point_total_Bps(s, d->bw_Bps);
    d->cost_usd = design_point_usd(s, d->bw_Bps, &why);
    d->usd_fraction = design_point_fraction_usd(s, d->bw_Bps);
    if (why.code)
        snprintf(d->bill_reason, sizeof d->bill_reason, "%.511s", why.msg);
    d->nic_Bps = design_point_nic_Bps(s, d->bw_Bps);
    int rc = fill_loads(d, s, e);
    /* A simulation more, which only a split is compared with. */
    d->equal.time_s = d->equal.cost_usd = d->speedup = d->perf_per_cost_gain = d->objective_gain = NAN;
    return !rc && compare ? fill_equal(d, s, e) : rc;
}

static void design_load_free(struct design_load *load)
{
    sim_step_free(&load->step);
    account_free(&load->account);
}

static void answer_free(struct design *d)
{
    for (int32_t i = 0; i < d->n_loads; i++)
        design_load_free(&d->loads[i]);
    free(d->loads);
    d->loads = NULL;
    d->n_loads = 0;
    account_free(&d->account);
    topo_bill_free(&d->bill);
    alloc_answer_free(&d->answer);
}

void design_free(struct design *d)
{
    answer_free(d);
    choice_free(&d->chosen);
}

/* Nothing is answered; `whole`, three quarters of a design, is set where there is one. */
static void answer_begin(struct design *d, struct design_choice chosen)
{
    memset(d, 0, offsetof(struct design, whole));
    d->chosen = chosen;
    d->n_dims = chosen.point->net.n_dims;
    d->regret = NAN;
}

static int design_finish(struct design *d, int rc)
{
    if (rc)
        design_free(d);
    return rc;
}

/* At the choices made. */
static int evaluate(struct design *d, const double *bw_Bps, struct err *e)
{
    const struct design_point *s = d->chosen.point;
    int rc = reserve_loads(d, s, e);
    if (!rc)
        rc = design_fill(d, s, bw_Bps, s->model <= SIM_ALPHA_BETA, e);
    d->answer.gap = d->answer.value = d->answer.lower_bound = NAN;
    d->answer.time_s = d->time_s;
    d->answer.cost_usd = d->cost_usd;
    memcpy(d->answer.bw_Bps, d->bw_Bps, sizeof d->answer.bw_Bps);
    return rc;
}

int answer_at(struct design *d, struct design_choice chosen, const double *bw_Bps, struct err *e)
{
    answer_begin(d, chosen);
    int rc = evaluate(d, bw_Bps, e);
    return design_finish(d, rc ? rc : design_fill_bill(d, d->chosen.point, e));
}

/* Of sums of bandwidths as they are written. */
#define GIVEN_REL 1e-12

/* At the bandwidths of the network, which may break a row. */
static int evaluate_given(struct design *d, struct err *e)
{
    const struct design_point *s = d->chosen.point;
    double bw_Bps[TOPO_MAX_DIMS];
    int32_t broken = system_broken_row(s, topo_get_bandwidths(bw_Bps, &s->net), GIVEN_REL);
    if (broken >= 0) {
        d->answer.status = ALLOC_INFEASIBLE;
        snprintf(d->answer.reason, sizeof d->answer.reason,
                 "the bandwidths of the network do not satisfy \"%s\"", s->rows.rows[broken].name);
        return 0;
    }
    return evaluate(d, bw_Bps, e);
}

/* ---- the split ---- */

struct design_ask {
    const struct design_point *study;
    struct design_question q;
};

void design_ask(struct design_question *q, const struct design_point *s)
{
    *q = (struct design_question){ .problem = { .objective = s->objective } };
    q->problem.usd_fixed = design_point_fixed_usd(s);
    q->problem.time_limit_s = s->time_limit_s;
    q->problem.rows = s->rows.rows;
    q->problem.n_rows = s->rows.n;
    q->problem.dim_names = q->dim_names;
    for (int32_t k = 0; k < s->net.n_dims; k++) {
        q->dim_names[k] = s->net.dims[k].name;
        q->problem.usd_per_Bps[k] = s->has_parts ? s->prices[k].usd_per_Bps : 0;
    }
    system_ask_factor(&q->problem, s);
}

/* Cuts of a graph are columns behind its dimensions, each tied to the classes that it goes through. @p room
 * holds all rows, to be freed. */
static int ask_cuts(struct design_question *q, struct alloc_row **room, const struct design_point *s,
                    struct err *e)
{
    static const char *const names[TOPO_MAX_DIMS] = { "cut1", "cut2", "cut3", "cut4",
                                                      "cut5", "cut6", "cut7", "cut8" };
    int32_t n = s->rows.n, n_cuts = ideal_columns(s->ideal);
    struct alloc_row *rows = *room = calloc((size_t)(n + n_cuts) + 1, sizeof *rows);
    if (!rows)
        return err_nomem(e, "cuts");
    if (n)
        memcpy(rows, s->rows.rows, (size_t)n * sizeof *rows);
    for (int32_t j = 0; j < n_cuts; j++) {
        struct alloc_row *row = &rows[n + j];
        *row = (struct alloc_row){ .sense = LINEXPR_EQ, .unit = 1e9, .unit_name = "GB/s" };
        snprintf(row->name, sizeof row->name, "%s", names[j]);
        for (int32_t d = 0; d < s->net.n_dims; d++)
            row->coef[d] = -ideal_column(s->ideal, j)[d];
        row->coef[s->net.n_dims + j] = 1;
        q->dim_names[s->net.n_dims + j] = names[j];
    }
    q->problem.rows = rows;
    q->problem.n_rows = n + n_cuts;
    return 0;
}

/* What a row may be outside by, relative to its largest part; as alloc_verify() has it. */
#define MOST_OUTSIDE 1e-12

/* Look at the answer once more, from the workloads as they were read. */
static int verify(struct design *d, const struct design_ask *a, const double *scale, struct step_join how,
                  struct err *e)
{
    const struct design_point *s = a->study;
    size_t n = (size_t)s->n_workloads;
    const struct step_tree **trees =
        calloc(n, sizeof *trees); /* NOLINT(bugprone-sizeof-expression): pointers */
    struct verify_report report;
    struct topo_network wide;
    if (s->ideal)
        ideal_widen(&wide, &s->net);
    if (!trees)
        return err_nomem(e, "workloads");
    for (int32_t i = 0; i < s->n_workloads; i++)
        trees[i] = design_point_compiled_tree(&s->workloads[i]);
    const struct verify_steps steps = { .trees = trees,
                                        .scale = scale,
                                        .n = s->n_workloads,
                                        .net = s->ideal ? &wide : &s->net,
                                        .take_max = how.take_max,
                                        .drop_const = how.drop_const };
    int rc = alloc_verify(&report, &d->answer, &a->q.problem, &steps, e);
    free(trees);
    d->verified = !rc && report.ok;
    if (!rc && report.ok && d->answer.status == ALLOC_STALLED && alloc_has_split(&d->answer)) {
        /* A proof is one whoever finds that it is: it sums more exactly than the search does. */
        d->answer.status = ALLOC_SOLVED;
        d->answer.gap = report.gap;
        d->answer.lower_bound = report.lower_bound;
        d->answer.reason[0] = '\0';
    }
    if (rc || d->verified || d->answer.status != ALLOC_SOLVED)
        return rc;
    d->answer.gap = report.gap;
    alloc_say_stalled(&d->answer, &a->q.problem);
    if (report.violation <= MOST_OUTSIDE)
        return 0;
    snprintf(d->answer.reason, sizeof d->answer.reason,
             "the split that was found breaks a constraint by %.2g; widen the constraints, which leave "
             "hardly any room",
             report.violation);
    d->answer.value = NAN; /* no split to show */
    return 0;
}

/* The answer of the relaxation becomes that of whole parts; its bounds and shadow prices stay, which are
 * about fractions. */
static void take_whole(struct alloc_answer *a, const struct whole_answer *w)
{
    a->status = w->status;
    memcpy(a->reason, w->reason, sizeof a->reason);
    a->value = w->value;
    a->lower_bound = w->lower_bound;
    if (!alloc_has_split(a))
        return;
    memcpy(a->bw_Bps, w->bw_Bps, sizeof a->bw_Bps);
    memcpy(a->lo_Bps, w->lo_Bps, sizeof a->lo_Bps);
    memcpy(a->hi_Bps, w->hi_Bps, sizeof a->hi_Bps);
    a->time_s = w->time_s;
    a->cost_usd = w->cost_usd;
    a->gap = w->gap;
    a->unique = w->n_ties == 1 && w->ties_counted;
}

/* The best design in whole parts. The relaxation has one too, or is best at bandwidths of 0, of which there
 * are no parts; then nothing is verified but time and price. */
static int solve_whole(struct design *d, const struct design_point *s, const struct alloc_problem *p,
                       struct err *e)
{
    int rc = design_solve_whole(&d->whole, s, p, &d->answer, &d->relaxed.lower_bound, e);
    if (rc)
        return rc;
    d->is_whole = true;
    d->relaxed.status = d->answer.status;
    memcpy(d->relaxed.bw_Bps, d->answer.bw_Bps, sizeof d->relaxed.bw_Bps);
    take_whole(&d->answer, &d->whole);
    return 0;
}

/* Time from the trees and price from the bill are those that were compared, and nothing is less than what
 * fractions prove. */
static void verify_whole(struct design *d, const struct design_point *s)
{
    double bound = d->relaxed.lower_bound;
    bool proved = !(d->whole.value < bound * (1 - ALLOC_GAP));
    bool timed =
        s->model <= SIM_ALPHA_BETA && s->combine == DESIGN_SUM && !alloc_objectives[s->objective].sends_alone;
    double time_off = timed ? fabs(d->time_s - d->whole.time_s) : 0,
           usd_off = fabs(d->cost_usd - d->whole.cost_usd);
    bool ok = time_off <= ALLOC_GAP * d->time_s && usd_off <= ALLOC_GAP * d->cost_usd && proved;
    d->verified = ok && (d->verified || d->relaxed.status == ALLOC_ILL_POSED);
    if (ok || d->answer.status != ALLOC_SOLVED || design_point_has_choice(s))
        return;
    d->answer.status = ALLOC_STALLED;
    if (proved)
        snprintf(d->answer.reason, sizeof d->answer.reason,
                 "verification finds %.9g s and %.9g USD, the search %.9g and %.9g", d->time_s, d->cost_usd,
                 d->whole.time_s, d->whole.cost_usd);
    else
        snprintf(d->answer.reason, sizeof d->answer.reason,
                 "verification finds an objective of %.9g, below what fractions prove, %.9g", d->whole.value,
                 bound);
}

/* Solve for all workloads together, each scaled. */
static int solve_joined(struct design *d, struct design_ask *a, const double *scale, struct step_join how,
                        struct err *e)
{
    const struct design_point *s = a->study;
    const struct step_fn **fns = calloc((size_t)s->n_workloads, sizeof(const struct step_fn *));
    struct step_fn joined = { 0 };
    if (!fns)
        return err_nomem(e, "workloads");
    for (int32_t i = 0; i < s->n_workloads; i++)
        fns[i] = &s->workloads[i].fn;
    int rc = step_fn_join(&joined, fns, scale, s->n_workloads, how, e);
    if (!rc) {
        a->q.problem.step = &joined;
        a->q.problem.kept = d->chosen.kept;
        rc = alloc_solve(&d->answer, &a->q.problem, e);
        if (!rc && alloc_has_split(&d->answer))
            rc = verify(d, a, scale, how, e);
        if (!rc && s->pricing == DESIGN_WHOLE &&
            (alloc_has_split(&d->answer) || d->answer.status == ALLOC_ILL_POSED))
            rc = solve_whole(d, s, &a->q.problem, e);
        a->q.problem.step = NULL;
    }
    step_fn_free(&joined);
    free(fns);
    return rc;
}

/* "NAME alone: REASON" in place of the reason. */
static void blame(struct alloc_answer *answer, const char *name)
{
    char reason[sizeof answer->reason];
    memcpy(reason, answer->reason, sizeof reason);
    snprintf(answer->reason, sizeof answer->reason, "%.60s alone: %.900s", *name ? name : "workload", reason);
}

/* Best time of workload i alone; without one, *stopped and the reason is the design's answer. */
static int solve_alone(struct design *d, struct design_ask *a, int32_t i, bool *stopped, struct err *e)
{
    const struct design_workload *w = &a->study->workloads[i];
    const struct search_result *plans = choice_plans(&d->chosen, i);
    struct alloc_answer answer;
    if (plans && plans->alone_s > 0) { /* of any plan, not of the one that suits the mix */
        d->loads[i].best_s = plans->alone_s;
        return 0;
    }
    a->q.problem.step = &w->fn;
    int rc = alloc_solve(&answer, &a->q.problem, e);
    a->q.problem.step = NULL;
    if (rc)
        return rc;
    if (!alloc_has_split(&answer)) {
        *stopped = true;
        blame(&answer, w->tree.name);
        d->answer = answer;
        return 0;
    }
    d->loads[i].best_s = answer.time_s;
    if (a->study->pricing == DESIGN_WHOLE) {
        a->q.problem.step = &w->fn;
        rc = design_solve_whole(&d->whole, a->study, &a->q.problem, &answer, &d->relaxed.lower_bound, e);
        a->q.problem.step = NULL;
        d->loads[i].best_s = d->whole.time_s;
        if (!rc && d->whole.status != ALLOC_SOLVED) {
            *stopped = true;
            take_whole(&answer, &d->whole);
            blame(&answer, w->tree.name);
            d->answer = answer;
            return 0;
        }
    }
    alloc_answer_free(&answer);
    if (rc)
        return rc;
    if (d->loads[i].best_s > 0)
        return 0;
    return err_set(e, ERR_RANGE,
                   "workload \"%.60s\": best time is 0 s, expected work that takes time for regret",
                   w->tree.name);
}

static int solve_regret(struct design *d, struct design_ask *a, double *scale, struct err *e)
{
    bool stopped = false;
    for (int32_t i = 0; i < d->n_loads && !stopped; i++) {
        int rc = solve_alone(d, a, i, &stopped, e);
        if (rc)
            return rc;
        scale[i] = 1 / d->loads[i].best_s;
    }
    return stopped ? 0 : solve_joined(d, a, scale, (struct step_join){ .take_max = true }, e);
}

static int solve_sum(struct design *d, struct design_ask *a, double *scale, struct err *e)
{
    const struct design_point *s = a->study;
    for (int32_t i = 0; i < s->n_workloads; i++)
        scale[i] = s->workloads[i].weight;
    struct step_join how = { .drop_const = alloc_objectives[s->objective].sends_alone };
    return solve_joined(d, a, scale, how, e);
}

static bool is_used(const struct design_point *s, int32_t k)
{
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct step_fn *fn = &s->workloads[i].fn;
        for (int32_t l = 0; l < fn->n_leaves; l++)
            if (fn->traffic_B[(size_t)l * TOPO_MAX_DIMS + (size_t)k] > 0)
                return true;
    }
    return false;
}

/* A solver's rounding in a dimension that nothing uses is no reason to buy a NIC, unless a row asks for it.
 */
static void drop_rounding(double *bw_Bps, const struct design_point *s, const double *solved_Bps)
{
    double total_Bps = 0;
    for (int32_t k = 0; k < s->net.n_dims; k++)
        total_Bps += solved_Bps[k];
    for (int32_t k = 0; k < s->net.n_dims; k++)
        bw_Bps[k] = solved_Bps[k] > 1e-12 * total_Bps || is_used(s, k) ? solved_Bps[k] : 0;
    if (s->pricing != DESIGN_WHOLE && system_broken_row(s, bw_Bps, MOST_OUTSIDE) >= 0)
        memcpy(bw_Bps, solved_Bps, (size_t)s->net.n_dims * sizeof *bw_Bps);
}

static void fill_regret(struct design *d)
{
    d->regret = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        d->regret = fmax(d->regret, d->loads[i].time_s / d->loads[i].best_s);
}

/* One solve at the present choice of algorithms. drop_rounding() sets bandwidths that are zero but for
 * rounding to zero. */
static int solve_chosen(struct design *d, struct err *e)
{
    const struct design_point *s = d->chosen.point;
    struct design_ask a;
    struct alloc_row *room = NULL;
    int rc = reserve_loads(d, s, e);
    double *scale = rc ? NULL : calloc((size_t)s->n_workloads, sizeof *scale);
    if (!rc && !scale)
        rc = err_nomem(e, "workloads");
    a.study = s;
    design_ask(&a.q, s);
    if (!rc && s->ideal)
        rc = ask_cuts(&a.q, &room, s, e);
    if (!rc)
        rc = s->combine == DESIGN_REGRET ? solve_regret(d, &a, scale, e) : solve_sum(d, &a, scale, e);
    if (!rc && alloc_has_split(&d->answer)) {
        double bw_Bps[TOPO_MAX_DIMS];
        drop_rounding(bw_Bps, s, d->answer.bw_Bps);
        rc = design_fill(d, s, bw_Bps, !(s->ideal && ideal_is_rough(s->ideal)), e);
        if (!rc && d->is_whole)
            verify_whole(d, s);
        if (!rc && s->combine == DESIGN_REGRET)
            fill_regret(d);
    }
    if (!rc && s->ideal) {
        d->answer.n_rows = s->rows.n; /* what follows knows the study's own rows */
        /* Ranges of equals are those of the cuts that are known, and may be too wide. */
        memcpy(d->answer.lo_Bps, d->answer.bw_Bps, sizeof d->answer.lo_Bps);
        memcpy(d->answer.hi_Bps, d->answer.bw_Bps, sizeof d->answer.hi_Bps);
    }
    free(room);
    free(scale);
    return rc;
}

/*
 * The same with no bandwidth above what the key bw_GBps can say. Where nothing else limits one and the best
 * is further out, or so far out that no split was found, that becomes a row, so that the report shows what it
 * costs. Only then: as a rule a bandwidth without end is a question that lacks a limit, and is
 * said to be.
 */
static int solve_in_range(struct design *d, struct err *e)
{
    const struct topo_network *net = &d->chosen.point->net;
    int rc = solve_chosen(d, e);
    double most_Bps = 0;
    for (int32_t k = 0; k < d->n_dims && !rc && alloc_has_split(&d->answer); k++)
        if (topo_in_total(&net->dims[k]))
            most_Bps = fmax(most_Bps, d->bw_Bps[k]);
    bool is_lost = d->answer.status == ALLOC_STALLED && !alloc_has_split(&d->answer);
    if (rc || !(is_lost || most_Bps > TOPO_MAX_BW_GBps * 1e9))
        return rc;
    answer_free(d);
    answer_begin(d, d->chosen);
    rc = choice_add_most(&d->chosen, e);
    return rc ? rc : solve_chosen(d, e);
}

/* Time of all workloads at the split, by the closed form that was optimised. */
static double compiled_time(const struct design *d)
{
    const struct design_point *s = d->chosen.point;
    double bw_Bps[TOPO_MAX_DIMS];
    memcpy(bw_Bps, d->bw_Bps, sizeof bw_Bps);
    if (s->ideal)
        ideal_fill(s->ideal, bw_Bps);
    return design_point_compiled_s(s, bw_Bps);
}

enum { MAX_CHOICES = 16, MAX_CUTS = 60 };

/* The first workload whose plan was searched, and what is proved is of all that were; -1: none, or several,
 * each at the bandwidths that are given. */
static int32_t find_searched(const struct design_choice *c)
{
    int32_t found = -1, n = 0;
    for (int32_t i = c->point->n_workloads; i-- > 0;)
        if (choice_plans(c, i)) {
            found = i;
            n++;
        }
    return n == 1 || !topo_has_bandwidths(&c->point->net) ? found : -1;
}

/* A first choice, where the network leaves bandwidths open: those that the search found for the plan, or an
 * even split of the total. */
static int choose_first(struct design_choice *c, struct err *e)
{
    const struct design_point *s = c->point;
    double bw_Bps[TOPO_MAX_DIMS];
    int32_t searched = find_searched(c);
    const struct search_result *plans = searched >= 0 ? choice_plans(c, searched) : NULL;
    if (!design_point_has_choice(s))
        return 0;
    if (plans && plans->whole)
        return choice_take(c, plans->found[0].bw_Bps, e);
    topo_get_bandwidths(bw_Bps, &s->net);
    int rc = s->ideal ? choice_take(c, bw_Bps, e) : 0; /* of the file, where these are not known */
    if (rc || isnan(s->total_Bps))
        return rc;
    for (int32_t k = 0; k < s->net.n_dims; k++)
        bw_Bps[k] = isnan(bw_Bps[k]) ? s->total_Bps / s->net.n_dims : bw_Bps[k];
    return choice_take(c, bw_Bps, e);
}

/*
 * Half way between the fastest split so far and the last one, of which the cuts that are known think too
 * well: a cut there is nearer to those that decide (W. Ben-Ameur, J. Neto, Networks 49, 2007).
 */
static int learn_between(struct design *d, double *best_Bps, double *best_s, struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS];
    bool first = isinf(*best_s);
    if (d->time_s < *best_s) {
        *best_s = d->time_s;
        memcpy(best_Bps, d->bw_Bps, sizeof bw_Bps);
    }
    for (int32_t k = 0; k < d->n_dims; k++)
        bw_Bps[k] = (best_Bps[k] + d->bw_Bps[k]) / 2;
    return first || *best_s == d->time_s ? 0 : choice_learn(&d->chosen, bw_Bps, e);
}

/* Is the time at the split what the closed form that was optimised says, but for this share? */
static bool is_proved(const struct design *d, double gap)
{
    return isfinite(d->time_s) && fabs(compiled_time(d) - d->time_s) <= gap * d->time_s;
}

/* The proof is about other choices than those that hold at the split, or about cuts that do not decide it. */
static void doubt_split(struct design *d, bool settled)
{
    const struct design_point *s = d->chosen.point;
    struct alloc_answer *a = &d->answer;
    a->status = ALLOC_STALLED;
    if (s->ideal)
        a->gap = fmax(a->gap, 1 - compiled_time(d) / d->time_s);
    if (s->ideal && is_proved(d, ideal_gap(s->ideal)))
        snprintf(a->reason, sizeof a->reason, "cuts of a graph of so many pairs of NPUs are found to %.1g",
                 ideal_gap(s->ideal));
    else if (s->ideal && settled)
        snprintf(
            a->reason, sizeof a->reason,
            "collectives that overlap cross different cuts of the graph, which bound each of them alone");
    else
        snprintf(a->reason, sizeof a->reason,
                 s->ideal ? "new cuts of the graph still bind at the split after %d rounds"
                          : "algorithms and regimes still change at the split after %d rounds",
                 s->ideal ? MAX_CUTS : MAX_CHOICES);
}

/* Is the split on a graph as good as its cuts say, to the gap that a graph of its size has? */
static bool is_cut_out(const struct design *d)
{
    const struct ideal *graph = d->chosen.point->ideal;
    return graph && is_proved(d, fmax(ALLOC_GAP, ideal_gap(graph)));
}

/*
 * Choosing again at a split never makes it slower, and splitting again neither. Where another collective
 * decides the time, another choice may change nothing yet and still allow a better split: so on until no
 * choice changes. The last split is optimal for its choices. Of a graph the choices are cuts, which may be
 * sought with few digits; its times are found again at the end.
 */
static int solve_split(struct design *d, struct err *e)
{
    const bool choice = design_point_has_choice(d->chosen.point);
    double best_Bps[TOPO_MAX_DIMS] = { 0 }, best_s = INFINITY;
    bool settled = false; /* no choice changes */
    struct ideal *graph = d->chosen.point->ideal;
    if (graph) /* whole parts are compared by their times */
        ideal_set_rough(graph, d->chosen.point->pricing != DESIGN_WHOLE);
    int rc = choose_first(&d->chosen, e);
    if (!rc)
        rc = solve_in_range(d, e);
    for (int32_t i = 0; i < (graph ? MAX_CUTS : MAX_CHOICES) && !rc && choice && alloc_has_split(&d->answer);
         i++) {
        unsigned long long before = design_point_choices(d->chosen.point);
        if (is_cut_out(d))
            break;
        if (graph)
            rc = learn_between(d, best_Bps, &best_s, e);
        if (!rc)
            rc = choice_take(&d->chosen, d->bw_Bps, e);
        settled = !rc && design_point_choices(d->chosen.point) == before;
        if (rc || settled)
            break;
        answer_free(d);
        answer_begin(d, d->chosen);
        rc = solve_in_range(d, e);
    }
    if (!rc && graph && ideal_is_rough(graph)) {
        ideal_set_rough(graph, false);
        answer_free(d);
        answer_begin(d, d->chosen);
        rc = solve_in_range(d, e);
    }
    if (!rc && (d->chosen.asked->model == SIM_ALPHA_BETA || graph) && d->answer.status == ALLOC_SOLVED &&
        !is_proved(d, ALLOC_GAP))
        doubt_split(d, settled);
    return rc;
}

/* Is the value of one workload's plan held against the best of the same plan? That compares no plans. */
static bool is_of_plan(const struct design_point *s)
{
    return s->combine == DESIGN_REGRET && s->n_workloads == 1;
}

/* What search and split found on their own is the same, but for rounding. */
static bool is_found(const struct design *d, const struct design_point *s, const struct search_result *r)
{
    return is_of_plan(s) || fabs(d->answer.value - r->found[0].value) <= ALLOC_GAP * d->answer.value;
}

static void doubt_plans(struct alloc_answer *a, const struct search_result *r)
{
    if (r->proved)
        snprintf(a->reason, sizeof a->reason,
                 "the search finds an objective of %.9g for this plan, its split %.9g", r->found[0].value,
                 a->value);
    else
        snprintf(a->reason, sizeof a->reason,
                 "best of the plans that were tried; others were not ruled out and may be better");
    a->status = ALLOC_UNPROVED;
    a->lower_bound = r->proved ? (double)NAN : r->lower_bound;
    a->gap = a->value > 0 ? (a->value - a->lower_bound) / a->value : (double)NAN;
    if (isfinite(a->gap)) {
        size_t n = strlen(a->reason);
        char percent[SHOW];
        snprintf(a->reason + n, sizeof a->reason - n, ", by %s %% at most",
                 show_real(percent, 100 * a->gap, 2));
    }
    a->unique = false;
}

/* No design of the plan that is shown, nor of others that were tried: that need not be all of them. */
static void doubt_absence(struct alloc_answer *a, const struct search_result *r)
{
    size_t n = strlen(a->reason);
    snprintf(a->reason + n, sizeof a->reason - n, "; %lld plans were tried%s", (long long)r->n_split,
             r->n_split == r->n_timed ? ", all that fit" : "");
}

/*
 * The split was solved for one plan. Where no other plan can be better, bound and gap are of all plans;
 * otherwise nothing is known of the whole question but the design. The relaxation is that of one plan.
 */
static void settle_plans(struct design *d, const struct design_point *s, const struct search_result *r)
{
    struct alloc_answer *a = &d->answer;
    /* Where bandwidths are given, each plan was timed at them, and what they cost is the same for all. */
    bool given = topo_has_bandwidths(&s->net);
    d->relaxed.lower_bound = NAN;
    d->plans.tried = (int32_t)fmin((double)(r->n_mixes ? r->n_mixes : r->n_split), INT32_MAX);
    d->plans.proved = r->proved && (given || is_found(d, s, r));
    if (!alloc_has_split(a) && !r->proved && a->status == ALLOC_INFEASIBLE)
        doubt_absence(a, r);
    if (!alloc_has_split(a))
        return;
    if (!d->plans.proved) {
        doubt_plans(a, r);
        d->verified = false;
    } else if (!given && !is_of_plan(s)) {
        a->lower_bound = fmin(a->lower_bound, r->lower_bound);
        a->gap = a->value > 0 ? (a->value - a->lower_bound) / a->value : 0;
        a->unique = a->unique && r->unique;
    }
    for (int32_t i = 0; i < d->n_loads && r->whole && s->model <= SIM_ALPHA_BETA; i++) {
        const struct search_result *own = choice_plans(&d->chosen, i);
        if (!own)
            continue;
        own->found[0].time_s = d->loads[i].time_s; /* to the last digit of the page */
        own->found[0].value = a->value;
        memcpy(own->found[0].bw_Bps, d->bw_Bps, sizeof d->bw_Bps);
    }
}

static int solve_plans(struct design *d, struct err *e)
{
    int32_t i = find_searched(&d->chosen);
    int rc = solve_split(d, e);
    if (!rc && i >= 0)
        settle_plans(d, d->chosen.point, choice_plans(&d->chosen, i));
    return rc;
}

int answer_split(struct design *d, struct design_choice chosen, struct err *e)
{
    answer_begin(d, chosen);
    int rc = solve_plans(d, e);
    if (!rc && alloc_has_split(&d->answer))
        rc = design_fill_bill(d, d->chosen.point, e);
    return design_finish(d, rc);
}

int answer_row(struct design *d, struct design_choice chosen, struct err *e)
{
    bool given = chosen.point->split == DESIGN_GIVEN;
    answer_begin(d, chosen);
    return design_finish(d, given ? evaluate_given(d, e) : solve_plans(d, e));
}

struct system_of design_owned(const struct design *d)
{
    return (
        struct system_of){ .bw_Bps = d->bw_Bps, .time_s = d->time_s, .bill = d->has_bill ? &d->bill : NULL };
}
