/*
 * Bounds of the points that weft best looks for. Each is a function of its own, which says what it assumes;
 * all are of parts (time, price, power, cost a year), and a column is bounded from these by a row of `known`.
 */
#include "kinds/design/explore/best_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/text.h"
#include "base/vec.h"
#include "alloc/bound.h"
#include "alloc/lp.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/design.h"
#include "kinds/design/ask/system.h"

/* What rounding of bounds and of values may come to. */
#define AS_GOOD_REL 1e-9

const char *const best_bound_words[N_BEST_BOUNDS] = {
    [BEST_FLOOR] = "compute at its best, or price and power of NPUs and servers",
    [BEST_FREE] = "the best plan with exchange free",
    [BEST_POINT] = "price and power with the network of the point",
    [BEST_TIME] = "the best plan at the bandwidths of the point",
    [BEST_WIDEST] = "the best plan at the widest bandwidths that limits leave",
    [BEST_SIZES] = "the best plan and split of any shapes of these sizes, without latency",
    [BEST_UPTO] = "the best plan and split of any total up to the widest",
    [BEST_PRICED] = "time and price together of what may be the best plan and split",
    [BEST_SPLIT] = "the best plan and split, by shadow prices",
};

/* ---- columns ---- */

static struct best_range from(double low)
{
    return (struct best_range){ low, INFINITY };
}

/* What a row says, where it is known to the last digit, or no less than it. */
static struct best_range priced(const struct best_parts *p, double low)
{
    return p->priced && low > 0 ? (struct best_range){ low, low } : from(low);
}

static struct best_range bound_total(const struct best_parts *p)
{
    return p->total_GBps > 0 ? (struct best_range){ p->total_GBps, p->total_GBps } : from(0);
}

static struct best_range bound_time(const struct best_parts *p)
{
    return from(p->time_s);
}

static struct best_range bound_usd(const struct best_parts *p)
{
    return priced(p, p->usd);
}

static struct best_range bound_watt(const struct best_parts *p)
{
    return priced(p, p->watt);
}

static struct best_range bound_watt_site(const struct best_parts *p)
{
    return priced(p, p->watt_site);
}

static struct best_range bound_usd_year(const struct best_parts *p)
{
    return priced(p, p->usd_year);
}

static struct best_range bound_usd_per_Mtoken(const struct best_parts *p)
{
    return from(p->usd_per_Mtoken);
}

static struct best_range bound_tokens_per_s(const struct best_parts *p)
{
    bool is = p->time_s > 0 && p->tokens > 0;
    return (struct best_range){ 0, is ? p->tokens / p->time_s : (double)INFINITY };
}

static const struct {
    const char *column;
    struct best_range (*range)(const struct best_parts *p);
} known[] = {
    { DESIGN_COLUMN(time_s), bound_time },
    { DESIGN_COLUMN(cost_usd), bound_usd },
    { DESIGN_COLUMN(total_GBps), bound_total },
    { DESIGN_COLUMN_IN(system, watt_peak), bound_watt },
    { DESIGN_COLUMN_IN(system, watt_site), bound_watt_site },
    { DESIGN_COLUMN_IN(system, usd_year), bound_usd_year },
    { DESIGN_COLUMN_IN(system, usd_per_Mtoken), bound_usd_per_Mtoken },
    { DESIGN_COLUMN_IN(training, tokens_per_s), bound_tokens_per_s },
};

struct best_range best_column(bool *is_known, const struct best_parts *p, const char *name)
{
    *is_known = true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].column, name) == 0)
            return known[i].range(p);
    *is_known = false;
    return (struct best_range){ -INFINITY, INFINITY };
}

/* ---- bounds of parts ---- */

static double at_least(double x)
{
    return x > 0 ? x : 0; /* NaN: not known */
}

/* Tokens cost what the machine costs a year times the time of a step, where nothing but checkpoints, NPUs and
 * servers takes of the time: own.usd_per_Mtoken. */
static void price_tokens(struct best_parts *p, const struct design_point *s)
{
    if (s->has_system)
        p->usd_per_Mtoken =
            fmax(p->usd_per_Mtoken, at_least(s->own.usd_per_Mtoken * p->usd_year * p->time_s));
}

/*
 * A step that takes as long as this is ruled out, whatever the plan, also once a bound is lowered by what
 * rounding may come to; INFINITY: none is known to be. What is sought rises with the time, so it is found by
 * doubling and halving.
 */
static double latest_s(const struct best_parts *p, const struct design_point *s, const struct best_aim *aim)
{
    enum { DOUBLINGS = 40, HALVINGS = 40 };
    double least = p->time_s, most = INFINITY;
    if (!(least > 0))
        return INFINITY;
    for (int i = 0; i < (isinf(most) ? DOUBLINGS : DOUBLINGS + HALVINGS); i++) {
        struct best_parts at = *p;
        at.time_s = isinf(most) ? 2 * least : (least + most) / 2;
        price_tokens(&at, s);
        if (aim->rules_out(aim->with, &at))
            most = at.time_s;
        else
            least = at.time_s;
    }
    return most * (1 + 2 * AS_GOOD_REL);
}

/* Models that simulate may overlap what the closed form adds up. */
static bool times_are_bounded(const struct design_point *s)
{
    return s->model <= SIM_ALPHA_BETA;
}

/*
 * A step of a model takes no less than its products at the highest peak of any precision on all NPUs at once:
 * of a plan that computes nothing twice and fills nothing up. Transformers alone, whose products are counted.
 */
static double peak_s(const struct training *x, const struct topo_npu *npu, int64_t n_npus)
{
    double peak =
        fmax(fmax(at_least(npu->peak_flops), at_least(npu->peak_8bit_flops)), at_least(npu->peak_4bit_flops));
    struct plan p = x->plan;
    struct plan_cost *c = malloc(sizeof *c);
    if (x->model.family != MODEL_TRANSFORMER || !(peak > 0) || !c) {
        free(c);
        return 0;
    }
    for (int i = 0; i < N_PLAN_AXES; i++)
        p.degree[i] = 1;
    p.ep = p.micro = p.interleave = 1;
    p.first = p.last = p.shard = 0;
    p.layout.n = 0;
    p.recompute = PLAN_RECOMPUTE_NONE;
    p.recompute_ops = 0;
    p.schedule = PLAN_1F1B;
    p.zero = 0;
    plan_cost(c, &x->model, &p, npu);
    double least_s = fmin(c->done_flop, c->model_flop) / (peak * (double)n_npus);
    free(c);
    return at_least(least_s);
}

/*
 * What no key of the fabric changes: NPUs and servers, and compute at the peak. Parts of the network cost and
 * draw nothing, failures of them are none.
 */
static int bound_floor(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                       struct err *e)
{
    p->usd = fmax(p->usd, at_least(design_point_fixed_usd(s)));
    if (s->has_system) {
        p->watt = fmax(p->watt, at_least(s->own.watt));
        p->watt_site = fmax(p->watt_site, at_least(s->own.watt * s->system.terms.pue));
        p->usd_year = fmax(p->usd_year, at_least(s->own.usd_year));
    }
    p->tokens = at_least(design_step_tokens(s));
    double time_s = 0;
    int rc = 0;
    for (int32_t i = 0; i < s->n_workloads && times_are_bounded(s) && !rc; i++) {
        const struct design_workload *w = &s->workloads[i];
        double least_s = 0, work_s = 0;
        if (w->training)
            least_s = peak_s(w->training, &s->net.npu, s->net.n_npus);
        if (design_point_is_searched(w))
            rc = search_work(&work_s, s, i, aim->shelf, e);
        time_s += w->weight * fmax(least_s, work_s * (1 - AS_GOOD_REL));
    }
    p->time_s = fmax(p->time_s, time_s);
    price_tokens(p, s);
    return rc;
}

/* The plan that is given, with exchange free. */
static double given_free_s(const struct training *x)
{
    static const double free_s[PLAN_MAX_COLLECTIVES] = { 0 };
    return plan_cost_time(&x->cost, free_s, NULL);
}

/* Of each workload its best plan, as if exchange took no time: the sum bounds any that share a network. A
 * workload that is an expression counts nothing. */
static int bound_free(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                      struct err *e)
{
    double time_s = 0;
    int rc = 0;
    for (int32_t i = 0; i < s->n_workloads && times_are_bounded(s) && !rc; i++) {
        const struct design_workload *w = &s->workloads[i];
        double least_s = 0;
        if (design_point_is_searched(w))
            rc = search_least(&least_s, s, i, NULL, INFINITY, aim->shelf, e);
        else if (w->training)
            least_s = given_free_s(w->training);
        time_s += w->weight * least_s;
    }
    p->time_s = fmax(p->time_s, time_s);
    price_tokens(p, s);
    return rc;
}

/* What bandwidths cost at least that satisfy the rows: by the GB/s, which whole parts never cost less than.
 */
static int bound_rows(struct best_parts *p, const struct design_point *s, struct err *e)
{
    struct design_question q;
    struct lp lp;
    struct lp_result result;
    if (!s->has_parts || s->net.n_dims == 0)
        return 0;
    design_ask(&q, s);
    lp_init(&lp, s->net.n_dims, q.problem.rows, q.problem.n_rows);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        lp.cost[d] = s->prices[d].usd_per_Bps;
    int rc = lp_solve(&result, NULL, &lp, e);
    if (!rc && result.status == LP_OPTIMAL)
        p->usd = fmax(p->usd, at_least(design_point_fixed_usd(s) + result.value) * (1 - AS_GOOD_REL));
    return rc;
}

/* Price, power and cost a year of the point at its own bandwidths, where all are given: what a row says, but
 * for the time. */
static int bound_point(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                       struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS];
    struct system x;
    int rc = bound_floor(p, s, aim, e);
    if (!rc && !isnan(s->total_Bps))
        p->total_GBps = at_least(s->total_Bps / 1e9);
    if (rc || !topo_has_bandwidths(&s->net))
        return rc ? rc : bound_rows(p, s, e);
    topo_get_bandwidths(bw_Bps, &s->net);
    p->usd = fmax(p->usd, at_least(design_point_usd(s, bw_Bps, NULL)));
    if (s->has_system) {
        rc = system_build(&x, s,
                          (struct system_of){ .bw_Bps = bw_Bps, .time_s = p->time_s > 0 ? p->time_s : 1 }, e);
        if (rc)
            return rc;
        p->watt = fmax(p->watt, at_least(x.cost.watt_peak));
        p->watt_site = fmax(p->watt_site, at_least(x.cost.watt_peak * s->system.terms.pue));
        p->usd_year = fmax(p->usd_year, at_least(x.cost.total));
        system_free(&x);
    }
    p->priced = true;
    price_tokens(p, s);
    return 0;
}

/*
 * Each workload's best plan at bandwidths @p bw_Bps. Their sum is of use only below @p most_s: of what all
 * others leave of it, a search looks at no plan that takes longer. A workload that is an expression, or whose
 * plan is given, is timed only where it trains a model.
 */
static int time_at(double *time_s, const struct design_point *s, const double *bw_Bps, double most_s,
                   struct search_shelf *shelf, struct err *e)
{
    double sum_s = 0;
    int rc = 0;
    for (int32_t i = 0; i < s->n_workloads && !rc && sum_s < most_s; i++) {
        const struct design_workload *w = &s->workloads[i];
        const struct collective_way way = search_way(s, bw_Bps);
        double one_s = 0;
        if (design_point_is_searched(w))
            rc = search_least(&one_s, s, i, bw_Bps, (most_s - sum_s) / w->weight, shelf, e);
        else if (w->training)
            one_s = search_clock_at(&way, &w->training->place, &w->training->cost);
        sum_s += w->weight * at_least(one_s);
    }
    *time_s = sum_s;
    return rc;
}

/* In place of no links. */
#define NO_LINK_Bps 1e-300

void best_times_free(struct best_times *t)
{
    free(t->list);
    hash_free(&t->by_key);
}

static struct best_time *find_time(const struct best_times *t, uint64_t key)
{
    hash_each (id, &t->by_key, key)
        if (t->list[id].key == key)
            return &t->list[id];
    return NULL;
}

int best_note_time(struct best_times *t, const struct best_time *fresh, struct err *e)
{
    if (!fresh->key || find_time(t, fresh->key))
        return 0;
    if (!vec_reserve(t->list, t->cap, t->n + 1) || !hash_add(&t->by_key, fresh->key, t->n))
        return err_nomem(e, "points");
    t->list[t->n++] = *fresh;
    return 0;
}

/* Each workload's best plan at the point's own bandwidths, where the times of rows are those of this. */
static int bound_time_at(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                         struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS], time_s = 0, most_s = latest_s(p, s, aim);
    if (!times_are_bounded(s) || !topo_has_bandwidths(&s->net) || s->ideal)
        return 0;
    topo_get_bandwidths(bw_Bps, &s->net);
    int rc = time_at(&time_s, s, bw_Bps, most_s, aim->shelf, e);
    p->time_s = fmax(p->time_s, fmin(time_s, most_s) * (1 - AS_GOOD_REL));
    price_tokens(p, s);
    return rc;
}

/* The same at the most that the rows leave each dimension on its own. Time falls with bandwidth, whatever the
 * algorithms. */
static int bound_widest(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                        struct err *e)
{
    struct design_question q;
    struct step_fn shape = { .n_dims = s->net.n_dims };
    double cap_Bps[TOPO_MAX_DIMS], time_s = 0, most_s = latest_s(p, s, aim);
    if (!times_are_bounded(s) || topo_has_bandwidths(&s->net) || s->ideal)
        return 0;
    design_ask(&q, s);
    q.problem.step = &shape; /* alone for the number of dimensions */
    alloc_find_caps(cap_Bps, &q.problem);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        cap_Bps[d] = cap_Bps[d] > 0 ? cap_Bps[d] : NO_LINK_Bps;
    int rc = time_at(&time_s, s, cap_Bps, most_s, aim->shelf, e);
    p->time_s = fmax(p->time_s, fmin(time_s, most_s) * (1 - AS_GOOD_REL));
    price_tokens(p, s);
    return rc;
}

/* Is its split that of the least time of one workload whose plan is searched? */
bool best_is_split(const struct design_point *s)
{
    return alloc_is_time(s->objective) && times_are_bounded(s) && !topo_has_bandwidths(&s->net) &&
           !design_point_has_choice(s) && s->n_workloads == 1 && design_point_is_searched(&s->workloads[0]);
}

/* No pair of plan and split takes less: by cuts and shadow prices. */
static int bound_split(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                       struct err *e)
{
    struct search_bounded of = { .most = latest_s(p, s, aim), .known = aim->known, .n_known = aim->n_known };
    int rc = search_split_least(&of, s, aim->shelf, e);
    if (rc)
        return rc;
    double least = of.least * (1 - AS_GOOD_REL);
    *aim->fresh_known = of.found;
    /* No plan has a split: a row says which limits leave none. */
    if (isfinite(least))
        p->time_s = fmax(p->time_s, least);
    price_tokens(p, s);
    return 0;
}

/* Of the networks of a set that are as fast as this when its shapes are not looked at. Zero where a word
 * ends. */
static uint64_t hash_sizes(const struct design_point *s, uint64_t work)
{
    struct design_question q;
    uint64_t hash = search_hash_dims(work, &s->net);
    design_ask(&q, s);
    hash = hash_bytes(hash, &s->net.npu, sizeof s->net.npu);
    hash = hash_bytes(hash, &s->total_Bps, sizeof s->total_Bps);
    hash = search_hash_rows(hash, &q.problem);
    return hash ? hash : 1;
}

/* A point of whatever total up to this one: release with free(). NULL: no memory. */
static struct design_point *relax_total(const struct design_point *s, struct err *e)
{
    size_t n_rows = (size_t)s->rows.n;
    struct design_point *relaxed = malloc(sizeof *relaxed + n_rows * sizeof *s->rows.rows);
    if (!relaxed) {
        err_nomem(e, "points");
        return NULL;
    }
    *relaxed = *s;
    relaxed->rows.rows = (struct alloc_row *)(relaxed + 1);
    relaxed->rows.n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        struct alloc_row *row = &relaxed->rows.rows[relaxed->rows.n];
        *row = s->rows.rows[i];
        bool total = strcmp(row->name, ALLOC_TOTAL_ROW) == 0;
        if (total && row->sense == LINEXPR_GE)
            continue;
        row->sense = total ? LINEXPR_LE : row->sense;
        relaxed->rows.n++;
    }
    return relaxed;
}

/* Points that differ in their totals alone: what one may split, a larger total may split as well. */
static int bound_upto(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                      struct err *e)
{
    struct design_point *relaxed = relax_total(s, e);
    int rc = relaxed ? bound_split(p, relaxed, aim, e) : ERR_NOMEM;
    free(relaxed);
    return rc;
}

/* ---- time and price together ---- */

/* What a point asks of a pair: the front may beat all that any split of it comes to. */
struct pricing {
    const struct best_parts *parts;
    const struct design_point *study;
    const struct best_aim *aim;
    struct design_question question;
    const struct alloc_row *row; /* the total */
    double least_mu;             /* multipliers of it */
    double scale_mu;
};

struct priced_cut {
    const struct pricing *of;
    const struct alloc_cut *cut;
    double left_s;
};

/* Multipliers go from least_mu up without end, along y from 0 to 1. */
static double price_by(const void *with, double y)
{
    const struct priced_cut *p = with;
    const struct pricing *x = p->of;
    double price[TOPO_MAX_DIMS], mu = x->least_mu + x->scale_mu * y / (1 - y);
    for (int32_t d = 0; d < x->study->net.n_dims; d++)
        price[d] = fmax(x->study->prices[d].usd_per_Bps + mu * x->row->coef[d], 0);
    double root = alloc_cut_root(p->cut, price, x->study->net.n_dims);
    return root * root / p->left_s - mu * x->row->rhs;
}

/*
 * What splits of the total cost at least at which the cut is no more than @p time_s. By Cauchy and Schwarz,
 * for every mu with u + mu a >= 0, (T - C) sum_d (u_d + mu a_d) B_d >= R(mu)^2, so u.B >= R(mu)^2/(T - C) -
 * mu r,   R(mu) = sum_d sqrt(g_d (u_d + mu a_d)), concave in mu: its greatest by golden sections; what is
 * found holds wherever they end.
 */
static double price_cut(const struct pricing *x, const struct alloc_cut *cut, double time_s)
{
    enum { NARROWINGS = 24 };
    const struct priced_cut p = { x, cut, time_s * (1 + AS_GOOD_REL) - cut->const_s };
    double y;
    if (!(p.left_s > 0))
        return INFINITY;
    double least =
        design_point_fixed_usd(x->study) + num_golden_greatest(&y, price_by, &p, 1 - 1e-6, NARROWINGS);
    return least * (1 - 2 * AS_GOOD_REL);
}

/* Does the front beat all splits of a pair that take from_s to to_s? None of a slice of time takes less than
 * its beginning, nor costs less than at its end; where it does not beat what may be there at the end, no. */
static bool is_slice_out(const struct pricing *x, const struct alloc_cut *cut, double from_s, double to_s,
                         int *slices)
{
    struct best_parts at = *x->parts;
    if (!(to_s >= from_s))
        return true;
    at.time_s = fmax(at.time_s, from_s * (1 - AS_GOOD_REL));
    at.usd = fmax(at.usd, isfinite(to_s) ? price_cut(x, cut, to_s) : 0);
    price_tokens(&at, x->study);
    if (x->aim->rules_out(x->aim->with, &at))
        return true;
    at.time_s = fmax(at.time_s, to_s);
    if (--*slices <= 0 || !x->aim->rules_out(x->aim->with, &at))
        return false;
    double middle_s = (from_s + to_s) / 2;
    return is_slice_out(x, cut, from_s, middle_s, slices) && is_slice_out(x, cut, middle_s, to_s, slices);
}

enum { MOST_SLICES = 64 };

/* The gap of a split that is not solved to the end. */
#define STALLED_REL 1e-6

/* A point whose answer is the fastest pair of plan and split costs what that split does. So it is beaten
 * where each pair that may be the answer is, and costs no less than the cheapest of them. */
static void price_rivals(struct best_parts *p, const struct pricing *x, const struct search_rivals *rivals)
{
    double most_s = rivals->most * (1 + STALLED_REL), least_s = INFINITY, least_usd = INFINITY;
    bool beaten = rivals->n > 0;
    for (int32_t i = 0; i < rivals->n; i++) {
        const struct search_rival *r = &rivals->list[i];
        int slices = MOST_SLICES;
        beaten = beaten && is_slice_out(x, &r->cut, r->bound, most_s, &slices);
        least_s = fmin(least_s, r->bound * (1 - AS_GOOD_REL));
        least_usd = fmin(least_usd, price_cut(x, &r->cut, most_s));
    }
    p->beaten = beaten;
    p->likely_usd = at_least(design_point_usd(x->study, rivals->bw_Bps, NULL));
    p->time_s = fmax(p->time_s, isfinite(least_s) ? least_s : 0);
    p->usd = fmax(p->usd, isfinite(least_usd) ? least_usd : 0);
    price_tokens(p, x->study);
}

/* False: other rows than the total, or no prices. */
static bool begin_pricing(struct pricing *x, const struct best_parts *p, const struct design_point *s,
                          const struct best_aim *aim)
{
    double least = INFINITY;
    *x = (struct pricing){ .parts = p, .study = s, .aim = aim };
    design_ask(&x->question, s);
    x->row = x->question.problem.rows;
    if (!s->has_parts || s->pricing == DESIGN_WHOLE || x->question.problem.n_rows != 1 || !(s->total_Bps > 0))
        return false;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        if (!(x->row->coef[d] > 0))
            return false;
        least = fmin(least, s->prices[d].usd_per_Bps / x->row->coef[d]);
        x->scale_mu = fmax(x->scale_mu, s->prices[d].usd_per_Bps / x->row->coef[d]);
    }
    x->least_mu = x->row->sense == LINEXPR_EQ ? -least * (1 - AS_GOOD_REL) : 0;
    return x->scale_mu > 0;
}

/* The same on networks that are no slower, found once for all of the same sizes. */
static int bound_sizes(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                       struct err *e)
{
    struct design_point *relaxed = relax_total(s, e);
    if (!relaxed)
        return ERR_NOMEM;
    search_take_switches(relaxed);
    struct best_time x = { .key = hash_sizes(relaxed, aim->work) };
    const struct best_time *found = find_time(aim->times, x.key);
    struct best_parts of = *p;
    of.time_s = 0;
    int rc = found ? 0 : bound_split(&of, relaxed, aim, e);
    free(relaxed);
    x.time_s = found ? found->time_s : of.time_s;
    if (!rc && !found)
        *aim->fresh = x;
    p->time_s = fmax(p->time_s, rc ? 0 : x.time_s);
    price_tokens(p, s);
    return rc;
}

/* Time and price together may be beaten where neither is on its own. */
static int bound_priced(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                        struct err *e)
{
    struct pricing x;
    struct search_rivals rivals = { .reads_only = aim->asks };
    if (!begin_pricing(&x, p, s, aim))
        return 0;
    int rc = search_find_rivals(&rivals, s, aim->shelf, e);
    if (!rc && rivals.most >= 0)
        price_rivals(p, &x, &rivals);
    if (aim->asks)
        *aim->asks = rivals.asks;
    search_rivals_free(&rivals);
    return rc;
}

static int (*const bounds[N_BEST_BOUNDS])(struct best_parts *p, const struct design_point *s,
                                          const struct best_aim *aim, struct err *e) = {
    [BEST_FLOOR] = bound_floor,  [BEST_FREE] = bound_free,     [BEST_POINT] = bound_point,
    [BEST_TIME] = bound_time_at, [BEST_WIDEST] = bound_widest, [BEST_SIZES] = bound_sizes,
    [BEST_UPTO] = bound_upto,    [BEST_PRICED] = bound_priced, [BEST_SPLIT] = bound_split
};

int best_bound_parts(struct best_parts *p, enum best_bound by, const struct design_point *s,
                     const struct best_aim *aim, struct err *e)
{
    return bounds[by](p, s, aim, e);
}
