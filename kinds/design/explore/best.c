/*
 * The best points of a study by branch and bound.
 *
 * A node is a set of points that differ in keys of the fabric alone (bandwidths, tiers, latencies, totals:
 * is_of_fabric()), or one point of such a set. Nodes are taken by their bound, the least first:
 *
 *     set ── floor ── exchange free ── its points ── price of its network ── time there, or at the widest ──
 * solved
 *
 * Each step makes a bound sharper and puts the node back; the last solves the point by the code of a sweep.
 * The search ends when the least bound is above the last of the best few: then no node that is left can have
 * a better point. Rounds take a number of nodes that does not depend on threads, and their results are taken
 * in the order of the nodes, so that answer and counts are the same on any number of threads.
 *
 * Bounds are of parts (time, price, power, cost a year); a column is bounded from these by a row of `known`.
 * A limit of `keep.where` rules a node out where no values within the bounds of its columns satisfy it.
 */
#include "kinds/design/explore/best.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/linexpr.h"
#include "base/num.h"
#include "base/vec.h"
#include "base/work.h"
#include "alloc/bound.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/design.h"
#include "kinds/design/explore/book.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/search.h"
#include "kinds/design/explore/uncertain.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"

const char *const best_bound_words[N_BEST_BOUNDS] = {
    [BEST_FLOOR] = "compute at its best, or price and power of NPUs and servers",
    [BEST_FREE] = "the best plan with exchange free",
    [BEST_POINT] = "price and power with the network of the point",
    [BEST_TIME] = "the best plan at the bandwidths of the point",
    [BEST_WIDEST] = "the best plan at the widest bandwidths that limits leave",
    [BEST_SIZES] = "the best plan and split of any shapes of these sizes, without latency",
    [BEST_UPTO] = "the best plan and split of any total up to the widest",
    [BEST_SPLIT] = "the best plan and split, by shadow prices",
};

/* What rounding of bounds and of values may come to. */
#define AS_GOOD_REL 1e-9

/* ---- columns ---- */

static struct best_range from(double low)
{
    return (struct best_range){ low, INFINITY };
}

static struct best_range bound_time(const struct best_parts *p)
{
    return from(p->time_s);
}

static struct best_range bound_usd(const struct best_parts *p)
{
    return from(p->usd);
}

static struct best_range bound_watt(const struct best_parts *p)
{
    return from(p->watt);
}

static struct best_range bound_watt_site(const struct best_parts *p)
{
    return from(p->watt_site);
}

static struct best_range bound_usd_year(const struct best_parts *p)
{
    return from(p->usd_year);
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

bool best_name_objective(char *out, size_t size, enum alloc_objective objective)
{
    static const struct {
        const char *column, *times;
    } columns[N_ALLOC_OBJECTIVES] = {
        [ALLOC_TIME] = { DESIGN_COLUMN(time_s), NULL },
        [ALLOC_COST] = { DESIGN_COLUMN(cost_usd), NULL },
        [ALLOC_PERF_PER_COST] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN(cost_usd) },
        [ALLOC_PERF_PER_WATT] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN_IN(system, watt_peak) },
        [ALLOC_TCO_PER_TOKEN] = { DESIGN_COLUMN_IN(system, usd_per_Mtoken), NULL },
    };
    const char *times = columns[objective].times;
    if (columns[objective].column)
        snprintf(out, size, "%s%s%s", columns[objective].column, times ? "*" : "", times ? times : "");
    return columns[objective].column != NULL;
}

int best_take_by(struct best_by *by, const struct keep_rule *rule, const char *text,
                 const struct table *columns, struct err *e)
{
    char word[2 * sizeof by->factors[0].name];
    int rc = 0;
    *by = (struct best_by){ .n = 0 };
    for (const char *at = text; at && !rc;) {
        size_t n = strcspn(at, "*");
        if (by->n == BEST_MAX_FACTORS || n >= sizeof word)
            return err_set(e, ERR_RANGE, "is \"%.100s\", expected a column or a product of two", text);
        memcpy(word, at, n);
        word[n] = '\0';
        rc = keep_take_column(&by->factors[by->n++], rule, word, columns, e);
        at = at[n] ? at + n + 1 : NULL;
    }
    for (int32_t i = 0; i < by->n && !rc && by->n > 1; i++)
        if (by->factors[i].large)
            return err_set(e, ERR_RANGE, "is \"%.100s\", expected a product of columns that are to be small",
                           text);
    return rc;
}

/* Less is better; a column that is to be large counts with its sign changed. */
static double bound_by(const struct best_by *by, const struct best_parts *p)
{
    bool is_known;
    double product = 1;
    for (int32_t i = 0; i < by->n; i++) {
        struct best_range r = best_column(&is_known, p, by->factors[i].name);
        if (by->factors[i].large)
            return -r.high;
        if (by->n > 1 && !(r.low > 0)) /* of factors that are known to be positive alone */
            return 0;
        product *= r.low;
    }
    return product;
}

static double value_by(const struct best_by *by, const struct table *row)
{
    double product = 1;
    for (int32_t i = 0; i < by->n; i++)
        product *= keep_number(row, 0, table_find(row, by->factors[i].name));
    return by->factors[0].large ? -product : product;
}

static bool is_bounded(const struct best_by *by)
{
    const struct best_parts nothing = { 0 };
    bool all = true;
    for (int32_t i = 0; i < by->n; i++) {
        bool is_known;
        best_column(&is_known, &nothing, by->factors[i].name);
        all = all && is_known;
    }
    return all;
}

/* ---- bounds of parts ---- */

static double at_least(double x)
{
    return x > 0 ? x : 0; /* NaN: not known */
}

/* The time of the points of a set whose networks differ in prices alone. */
struct best_time {
    uint64_t key;
    double time_s; /* at their bandwidths; where it is most_s: that or more */
    double most_s;
};

/* What a bound is found for. */
struct best_aim {
    const struct best_by *by;
    const struct incumbent *last; /* of the best few */
    struct search_shelf *shelf;
    const struct best_times *times;
    int64_t set;
    uint64_t work;           /* of all that a set is, but for its network and what its points differ in */
    struct best_time *fresh; /* one that was found; key 0: none */
    const struct search_known *known; /* shape [n_known]: plans that are good on other networks */
    int32_t n_known;
    struct search_known *fresh_known; /* one more; question 0: none */
};

/* Of what was found so far. */
struct best_times {
    struct best_time *list; /* shape [n], owned */
    int32_t n, cap;
    struct hash by_key;
};

/* Tokens cost what the machine costs a year times the time of a step, where nothing but checkpoints, NPUs and
 * servers takes of the time: own.usd_per_Mtoken. */
static void price_tokens(struct best_parts *p, const struct design_point *s)
{
    if (s->has_system)
        p->usd_per_Mtoken =
            fmax(p->usd_per_Mtoken, at_least(s->own.usd_per_Mtoken * p->usd_year * p->time_s));
}

/*
 * A step that takes as long as this is ruled out, whatever the plan; INFINITY: none is known to be. What is
 * sought rises with the time, so it is found by doubling and halving.
 */
static double latest_s(const struct best_parts *p, const struct design_point *s, const struct best_aim *aim)
{
    enum { DOUBLINGS = 40, HALVINGS = 40 };
    double least = p->time_s, most = INFINITY;
    if (isinf(aim->last->value) || !(least > 0))
        return INFINITY;
    for (int i = 0; i < (isinf(most) ? DOUBLINGS : DOUBLINGS + HALVINGS); i++) {
        struct best_parts at = *p;
        at.time_s = isinf(most) ? 2 * least : (least + most) / 2;
        price_tokens(&at, s);
        if (incumbent_rules_out(aim->last, bound_by(aim->by, &at)))
            most = at.time_s;
        else
            least = at.time_s;
    }
    return most;
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

/* Price, power and cost a year of the point at its own bandwidths, where all are given: what a row says, but
 * for the time. */
static int bound_point(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                       struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS];
    struct system x;
    int rc = bound_floor(p, s, aim, e);
    if (rc || !topo_has_bandwidths(&s->net))
        return rc;
    topo_get_bandwidths(bw_Bps, &s->net);
    p->usd = fmax(p->usd, at_least(design_point_fraction_usd(s, bw_Bps)));
    if (!s->has_system)
        return 0;
    rc = system_build(&x, s, (struct system_of){ .bw_Bps = bw_Bps, .time_s = p->time_s > 0 ? p->time_s : 1 },
                      e);
    if (rc)
        return rc;
    p->watt = fmax(p->watt, at_least(x.cost.watt_peak));
    p->watt_site = fmax(p->watt_site, at_least(x.cost.watt_peak * s->system.terms.pue));
    p->usd_year = fmax(p->usd_year, at_least(x.cost.total));
    system_free(&x);
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
    for (int32_t i = 0; i < s->n_workloads && !rc; i++) {
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

/* All of a network that a step's time depends on: tiers and planes are prices alone. */
static uint64_t hash_dims(const struct design_point *s, uint64_t hash)
{
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        struct topo_dim dim = s->net.dims[d];
        memset(dim.tier, 0, sizeof dim.tier);
        dim.fabric.planes = 0;
        hash = text_hash(hash, &dim, sizeof dim);
    }
    return hash;
}

static uint64_t hash_times(const struct design_point *s, int64_t set)
{
    uint64_t hash = hash_dims(s, text_hash(TEXT_HASH_SEED, &set, sizeof set));
    return hash ? hash : 1;
}

static const struct best_time *find_time(const struct best_times *t, uint64_t key)
{
    hash_each (id, &t->by_key, key)
        if (t->list[id].key == key)
            return &t->list[id];
    return NULL;
}

static int note_time(struct best_times *t, const struct best_time *fresh, struct err *e)
{
    if (!fresh->key)
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
    uint64_t key = hash_times(s, aim->set);
    const struct best_time *found = find_time(aim->times, key);
    bool is_known = found && (found->time_s < found->most_s || found->most_s >= most_s);
    topo_get_bandwidths(bw_Bps, &s->net);
    int rc = is_known ? 0 : time_at(&time_s, s, bw_Bps, most_s, aim->shelf, e);
    if (is_known)
        time_s = found->time_s;
    else
        *aim->fresh = (struct best_time){ key, fmin(time_s, most_s), most_s };
    p->time_s = fmax(p->time_s, fmin(time_s * (1 - AS_GOOD_REL), most_s));
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
    p->time_s = fmax(p->time_s, fmin(time_s * (1 - AS_GOOD_REL), most_s));
    price_tokens(p, s);
    return rc;
}

/* Is its split that of the least time of one workload whose plan is searched? */
static bool is_split_bounded(const struct design_point *s)
{
    return s->objective == ALLOC_TIME && times_are_bounded(s) && !topo_has_bandwidths(&s->net) &&
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

/* May each dimension be taken for a switch, which never loads a port more than another shape with its usual
 * algorithm does? Dense models alone: where copies of tokens merge depends on the network. */
static bool has_plain_sizes(const struct design_point *s)
{
    bool plain = s->workloads[0].training->model.moe.experts == 0 && !s->net.wires && !s->net.whole_parts;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_dim *dim = &s->net.dims[d];
        plain = plain && !topo_is_fabric(dim) && dim->algorithm == TOPO_ALGORITHM_SHAPE && !dim->in_switch &&
                !dim->n_regimes && !dim->n_curves;
    }
    return plain;
}

/* No network of the same sizes is faster: all switches, and messages take no time. */
static void take_switches(struct design_point *s)
{
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        s->net.dims[d].shape = TOPO_SWITCH;
        s->net.dims[d].algorithm = TOPO_ALGORITHM_DIRECT;
        s->net.dims[d].lat_s = 0;
    }
    s->rules.stage.endpoint_s = 0;
    s->rules.stage.mem_Bps = INFINITY;
}

/* Of the networks of a set that are as fast as this when its shapes are not looked at. Zero where a word
 * ends. */
static uint64_t hash_sizes(const struct design_point *s, uint64_t work)
{
    struct design_question q;
    uint64_t hash = hash_dims(s, work);
    design_ask(&q, s);
    hash = text_hash(hash, &s->net.npu, sizeof s->net.npu);
    hash = text_hash(hash, &s->total_Bps, sizeof s->total_Bps);
    for (int32_t i = 0; i < q.problem.n_rows; i++) {
        const struct alloc_row *row = &q.problem.rows[i];
        const double numbers[] = { row->rhs, row->sense };
        hash = text_hash(hash, row->coef, sizeof row->coef);
        hash = text_hash(hash, numbers, sizeof numbers);
    }
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

/* Found once for all networks of the same sizes. */
static int bound_sizes(struct best_parts *p, const struct design_point *s, const struct best_aim *aim,
                       struct err *e)
{
    struct design_point *relaxed = relax_total(s, e);
    struct best_parts of = *p;
    if (!relaxed)
        return ERR_NOMEM;
    take_switches(relaxed);
    uint64_t key = hash_sizes(relaxed, aim->work);
    const struct best_time *found = find_time(aim->times, key);
    of.time_s = 0;
    int rc = found ? 0 : bound_split(&of, relaxed, aim, e);
    if (!found)
        *aim->fresh = (struct best_time){ key, of.time_s, INFINITY };
    p->time_s = fmax(p->time_s, (found ? found->time_s : of.time_s));
    price_tokens(p, s);
    free(relaxed);
    return rc;
}

static int (*const bounds[N_BEST_BOUNDS])(struct best_parts *p, const struct design_point *s,
                                          const struct best_aim *aim, struct err *e) = {
    [BEST_FLOOR] = bound_floor,  [BEST_FREE] = bound_free,     [BEST_POINT] = bound_point,
    [BEST_TIME] = bound_time_at, [BEST_WIDEST] = bound_widest, [BEST_SIZES] = bound_sizes,
    [BEST_UPTO] = bound_upto,    [BEST_SPLIT] = bound_split
};

/* ---- sets of points ---- */

/* What is done with a node next. */
enum step { STEP_FLOOR, STEP_FREE, STEP_SIZES, STEP_WIDE, STEP_POINTS, STEP_TIME, STEP_SOLVE };

struct node {
    double bound;   /* of `by`, less is better */
    int64_t set, i; /* point i of the set; -1: all of it */
    int64_t n;      /* points of it that `where` leaves in */
    int64_t wide;   /* its point of the widest total, by which all are bounded; -1: none is */
    enum step next;
    double last;        /* of the best few, when it was found */
    bool first;         /* to be solved before all others: fewer are known than are asked for */
    enum best_bound by; /* the last bound that was sharper */
    struct best_parts parts;
};

/* Nodes to be solved first among equals, so that the best are known early; then by number. */
static bool node_before(const struct node *a, const struct node *b)
{
    if (a->first != b->first)
        return a->first;
    if (a->bound < b->bound || a->bound > b->bound)
        return a->bound < b->bound;
    if (a->next != b->next)
        return a->next > b->next;
    return a->set != b->set ? a->set < b->set : a->i < b->i;
}

HEAP(nodes, struct node, node_before)

/* One of the best so far. */
struct leader {
    double value, usd; /* a year; of what is not owned, of the network; NaN: not known */
    int64_t point;
    struct table row;
};

/* Of one thread: points of a set are read one after another, others are solved in between. */
struct hand {
    struct runner *reader, *solver;
};

enum { MOST_KNOWN = 4 };

struct hunt {
    const struct best_ask *ask;
    struct best_answer *out;
    struct units sets, points;
    struct search_shelf *shelf;             /* of the study; borrowed */
    struct linexpr limits[KEEP_MAX_LIMITS]; /* coef shape [columns->n_cols], owned */
    struct keep *keep;                      /* knows what a result is */
    struct node *heap;                      /* shape [n], owned */
    int64_t n, cap;
    struct best_times times;
    struct search_known known[MOST_KNOWN]; /* shape [n_known]: that bounds met, the last first */
    int32_t n_known;
    bool many_networks;         /* they vary as a whole */
    int32_t total;              /* the key of the sweep, where nothing else of the fabric varies; -1 */
    struct incumbent last;      /* of the best few, once they are as many as are asked for */
    struct leader *leaders;     /* shape [n_leaders], owned */
    int32_t n_leaders, n_first; /* nodes that were put first */
    struct hand *hands;         /* shape [threads], owned */
    double least_out;           /* least bound of what was ruled out and is not in the heap */
};

/* What became of a node in a round. */
struct done {
    struct node node;    /* with its new bound; n = 0: it is gone */
    struct node *points; /* shape [n_points], owned: in its place */
    int64_t n_points, left_out;
    struct table rows; /* of a point that was solved */
    struct best_time fresh;
    struct search_known fresh_known;
    int rc;
    struct err e;
};

/* ---- limits ---- */

/* What the left-hand side of limit @p k misses the right-hand side by at least, for any values within bounds;
 * <= 0: it may hold. *size: the magnitude of its terms. */
static double broken_by(double *size, const struct hunt *b, int32_t k, const struct best_parts *p)
{
    const struct linexpr *x = &b->limits[k];
    double low = 0, high = 0;
    *size = fabs(x->rhs);
    for (int32_t i = 0; i < b->ask->columns->n_cols; i++) {
        if (x->coef[i] == 0)
            continue;
        bool is_known;
        struct best_range r = best_column(&is_known, p, b->ask->columns->names[i]);
        double one = x->coef[i] * r.low, other = x->coef[i] * r.high;
        low += fmin(one, other);
        high += fmax(one, other);
        *size += isfinite(r.low) ? fabs(one) : 0;
    }
    double above = low - x->rhs, below = x->rhs - high;
    return x->sense == LINEXPR_LE ? above : x->sense == LINEXPR_GE ? below : fmax(above, below);
}

/* The first limit that no design of the node satisfies; -1: none. */
static int32_t find_broken(const struct hunt *b, const struct best_parts *p, double *by)
{
    for (int32_t k = 0; k < b->ask->rule->n_where; k++) {
        double size;
        *by = broken_by(&size, b, k, p);
        if (*by > 2 * LINEXPR_REL * size)
            return k;
    }
    return -1;
}

static void count_limit(struct hunt *b, int32_t k, int64_t n, double by)
{
    struct best_limit *l = &b->out->limits[k];
    l->least = l->n ? fmin(l->least, by) : by;
    l->n += n;
}

/* ---- one node, by any thread ---- */

static void set_of(struct sweep_unit *set, struct sweep_point *p, const struct hunt *b, const struct node *x,
                   int64_t i)
{
    units_find(set, &b->sets, x->set);
    units_point(p, &b->sets, set, i);
    set->first += i;
    set->n = 1;
}

static const struct design_point *read_point(const struct hunt *b, const struct hand *hand,
                                             const struct node *x, int64_t i, struct done *d)
{
    const struct design_point *s = NULL;
    struct sweep_unit unit;
    struct sweep_point p;
    set_of(&unit, &p, b, x, i);
    d->rc = runner_read(&s, hand->reader, &unit, &d->e);
    return s;
}

/* Does `where` leave point i of the set in? @p facts: of its network; NULL: not known. */
static bool is_in(const struct hunt *b, const struct node *x, int64_t i, const double *facts)
{
    struct sweep_unit unit;
    struct sweep_point p;
    set_of(&unit, &p, b, x, i);
    return sweep_passes(&b->ask->study->sweep, &p, facts);
}

static int64_t size_of(const struct hunt *b, int64_t set)
{
    struct sweep_unit unit;
    units_find(&unit, &b->sets, set);
    return unit.n;
}

static int64_t first_in(const struct hunt *b, const struct node *x)
{
    int64_t i = 0, n = size_of(b, x->set);
    while (i < n && !is_in(b, x, i, NULL))
        i++;
    return i < n ? i : -1;
}

/* Values of all axes that are not of the fabric, but the network's. */
static uint64_t hash_work(const struct hunt *b, const struct node *x)
{
    const struct sweep *w = &b->ask->study->sweep;
    struct sweep_unit unit;
    struct sweep_point p;
    uint64_t hash = TEXT_HASH_SEED;
    set_of(&unit, &p, b, x, first_in(b, x));
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = sweep_value(w, &p, k);
        if (value && !design_is_of_fabric(w->keys[k].path) && strcmp(w->keys[k].path, "network") != 0)
            hash = text_hash(hash, value, strlen(value) + 1);
    }
    return hash;
}

static void sharpen(struct done *d, const struct hunt *b, const struct design_point *s, enum best_bound by)
{
    if (!s || d->rc)
        return;
    const struct best_aim aim = { .by = &b->ask->by,
                                  .last = &b->last,
                                  .shelf = b->shelf,
                                  .times = &b->times,
                                  .set = d->node.set,
                                  .work = by == BEST_SIZES ? hash_work(b, &d->node) : 0,
                                  .fresh = &d->fresh,
                                  .known = b->known,
                                  .n_known = b->n_known,
                                  .fresh_known = &d->fresh_known };
    d->rc = bounds[by](&d->node.parts, s, &aim, &d->e);
    double bound = bound_by(&b->ask->by, &d->node.parts);
    d->node.last = b->last.value;
    d->node.by = bound > d->node.bound || by < BEST_POINT ? by : d->node.by;
    d->node.bound = fmax(d->node.bound, bound);
}

/* The sharpest bound of one point. */
static enum best_bound best_at(const struct design_point *s)
{
    return topo_has_bandwidths(&s->net) ? BEST_TIME : is_split_bounded(s) ? BEST_SPLIT : BEST_WIDEST;
}

/* A set is looked at for the first time. All of its points have the network's sizes, and so the facts of
 * `where`. */
static void look_at_set(struct done *d, const struct hunt *b, const struct hand *hand)
{
    double facts[DESIGN_FACTS];
    int64_t first = first_in(b, &d->node), n = 0, all = size_of(b, d->node.set);
    const struct design_point *s = first < 0 ? NULL : read_point(b, hand, &d->node, first, d);
    if (s)
        design_facts(facts, &s->net);
    for (int64_t i = 0; i < all && first >= 0; i++)
        n += is_in(b, &d->node, i, s ? facts : NULL);
    d->node.n = n;
    d->left_out = all - n;
    sharpen(d, b, n ? s : NULL, BEST_FLOOR);
    /* One that cannot be read has no bounds: its points say what is wrong. */
    d->node.next = s ? STEP_FREE : STEP_POINTS;
}

/* The point with the largest total; -1: some total is no number. */
static int64_t widest_in(const struct hunt *b, const struct node *x)
{
    int64_t all = size_of(b, x->set), widest = -1;
    double most = -INFINITY, total;
    for (int64_t i = 0; i < all; i++) {
        struct sweep_unit unit;
        struct sweep_point p;
        if (!is_in(b, x, i, NULL))
            continue;
        set_of(&unit, &p, b, x, i);
        const char *value = sweep_value(&b->ask->study->sweep, &p, b->total);
        if (!value || !num_parse_real(value, &total))
            return -1;
        if (total > most)
            widest = i;
        most = fmax(most, total);
    }
    return widest;
}

/* Points that differ in their totals alone are bounded by the one with the largest: what one may split, that
 * one may as well. */
static int64_t find_wide(const struct hunt *b, const struct node *x)
{
    return x->n == 1 ? first_in(b, x) : b->total >= 0 ? widest_in(b, x) : -1;
}

/* One point alone is bounded at its own total. */
static enum step after_sizes(const struct done *d)
{
    return d->node.n > 1 ? STEP_WIDE : STEP_POINTS;
}

static void free_set(struct done *d, const struct hunt *b, const struct hand *hand)
{
    int64_t wide = find_wide(b, &d->node), first = wide < 0 ? first_in(b, &d->node) : wide;
    const struct design_point *s = read_point(b, hand, &d->node, first, d);
    sharpen(d, b, s, BEST_FREE);
    bool splits = wide >= 0 && s && !d->rc && is_split_bounded(s);
    d->node.wide = splits ? wide : -1;
    d->node.next = !splits                                  ? STEP_POINTS
                   : b->many_networks && has_plain_sizes(s) ? STEP_SIZES
                                                            : after_sizes(d);
}

static void widen_set(struct done *d, const struct hunt *b, const struct hand *hand, enum best_bound by)
{
    sharpen(d, b, read_point(b, hand, &d->node, d->node.wide, d), by);
    d->node.next = by == BEST_SIZES ? after_sizes(d) : STEP_POINTS;
}

/* A point of a set, with what its own network adds to the bound of the set. */
static void open_point(struct done *d, const struct hunt *b, const struct hand *hand, int64_t i)
{
    struct node whole = d->node;
    const struct design_point *s = read_point(b, hand, &whole, i, d);
    double facts[DESIGN_FACTS];
    if (s)
        design_facts(facts, &s->net);
    if (d->rc || (s && !is_in(b, &whole, i, facts)))
        return;
    d->node.i = i;
    d->node.n = 1;
    sharpen(d, b, s, BEST_POINT);
    d->node.next = s ? STEP_TIME : STEP_SOLVE;
    d->points[d->n_points++] = d->node;
    d->node = whole;
}

static void open_set(struct done *d, const struct hunt *b, const struct hand *hand)
{
    int64_t all = size_of(b, d->node.set);
    d->points = malloc((size_t)all * sizeof *d->points);
    if (!d->points)
        d->rc = err_nomem(&d->e, "points");
    for (int64_t i = 0; i < all && !d->rc; i++) {
        if (is_in(b, &d->node, i, NULL))
            open_point(d, b, hand, i);
        if (!d->rc && work_stopped())
            d->rc = work_check(&d->e);
    }
    d->node.n = d->rc ? d->node.n : 0; /* its points take its place */
}

static void time_point(struct done *d, const struct hunt *b, const struct hand *hand)
{
    const struct design_point *s = read_point(b, hand, &d->node, d->node.i, d);
    if (s)
        sharpen(d, b, s, best_at(s));
    d->node.next = STEP_SOLVE;
}

static void solve_point(struct done *d, const struct hunt *b, const struct hand *hand)
{
    struct sweep_unit unit;
    struct sweep_point p;
    struct sweep_counts counts = { 0 };
    set_of(&unit, &p, b, &d->node, d->node.i);
    units_of_point(&unit, &b->points, &p);
    study_put_columns(&d->rows, b->ask->study, TABLE_ROWS);
    d->rc = d->rows.failed ? err_nomem(&d->e, "rows")
                           : runner_unit(hand->solver, &unit, &d->rows, &counts, &d->e);
}

static void best_take_step(struct done *d, const struct hunt *b, const struct hand *hand)
{
    switch (d->node.next) {
    case STEP_FLOOR:
        look_at_set(d, b, hand);
        return;
    case STEP_FREE:
        free_set(d, b, hand);
        return;
    case STEP_SIZES:
        widen_set(d, b, hand, BEST_SIZES);
        return;
    case STEP_WIDE:
        widen_set(d, b, hand, BEST_UPTO);
        return;
    case STEP_POINTS:
        open_set(d, b, hand);
        return;
    case STEP_TIME:
        time_point(d, b, hand);
        return;
    case STEP_SOLVE:
        solve_point(d, b, hand);
        return;
    }
}

/* ---- what comes of it, in the order of nodes ---- */

static int push(struct hunt *b, const struct node *x, struct err *e)
{
    if (!vec_reserve(b->heap, b->cap, b->n + 1))
        return err_nomem(e, "points");
    nodes_push(b->heap, b->n++, *x);
    return 0;
}

static void rule_out(struct hunt *b, const struct node *x)
{
    b->out->n_ruled_out[x->by] += x->n;
    b->least_out = fmin(b->least_out, x->bound);
}

/* Back into the heap, unless nothing of it can be among the best. */
static int put_back(struct hunt *b, const struct node *x, struct err *e)
{
    double by;
    if (x->n == 0)
        return 0;
    /* INFINITY: no plan fits; also of what is to be large. */
    if (isinf(x->parts.time_s)) {
        b->out->n_infeasible += x->n;
        if (!b->out->why.n)
            text_puts(&b->out->why, "no legal plan fits the memory of an NPU");
        return 0;
    }
    int32_t broken = find_broken(b, &x->parts, &by);
    if (broken >= 0) {
        count_limit(b, broken, x->n, by);
        return 0;
    }
    if (incumbent_rules_out(&b->last, x->bound)) {
        rule_out(b, x);
        return 0;
    }
    return push(b, x, e);
}

/* The first limit that the row breaks, as keep has it; -1: it is within all. */
static int32_t find_broken_row(const struct hunt *b, const struct table *row, double *by)
{
    for (int32_t k = 0; k < b->ask->rule->n_where; k++) {
        const struct linexpr *x = &b->limits[k];
        double sum = 0, size = 0;
        for (int32_t i = 0; i < b->ask->columns->n_cols; i++) {
            double term = x->coef[i] == 0 ? 0 : x->coef[i] * keep_number(row, 0, i);
            sum += term;
            size += fabs(term);
        }
        *by = x->sense == LINEXPR_LE   ? sum - x->rhs
              : x->sense == LINEXPR_GE ? x->rhs - sum
                                       : fabs(sum - x->rhs);
        if (!linexpr_holds(x->sense, x->rhs, sum, size))
            return k;
    }
    return -1;
}

static double usd_of(const struct table *row)
{
    int32_t year = table_find(row, DESIGN_COLUMN_IN(system, usd_year));
    double usd = year < 0 ? (double)NAN : keep_number(row, 0, year);
    return isnan(usd) ? keep_number(row, 0, table_find(row, DESIGN_COLUMN(cost_usd))) : usd;
}

/* Of values that are equal but for rounding the cheaper goes first, then the lower point. */
static bool is_ahead(const struct leader *x, const struct leader *y)
{
    double same = AS_GOOD_REL * fabs(x->value), cheap = AS_GOOD_REL * fabs(x->usd);
    if (fabs(x->value - y->value) > same)
        return x->value < y->value;
    if (fabs(x->usd - y->usd) > cheap)
        return x->usd < y->usd;
    return x->point < y->point;
}

static void add_leader(struct hunt *b, double value, int64_t point, struct table *row)
{
    const struct leader fresh = { .value = value, .usd = usd_of(row), .point = point };
    int32_t at = b->n_leaders;
    while (at > 0 && is_ahead(&fresh, &b->leaders[at - 1]))
        at--;
    if (at == b->ask->top)
        return;
    if (b->n_leaders == b->ask->top)
        table_free(&b->leaders[--b->n_leaders].row);
    memmove(&b->leaders[at + 1], &b->leaders[at], (size_t)(b->n_leaders - at) * sizeof *b->leaders);
    b->leaders[at] = fresh;
    b->leaders[at].row = *row;
    *row = (struct table){ 0 };
    if (++b->n_leaders == b->ask->top)
        b->last.value = fmin(b->last.value, b->leaders[b->n_leaders - 1].value);
}

/* What of a design that is sought it does not have; NULL: it has all. */
static const char *find_missing(const struct best_by *by, const struct table *row)
{
    for (int32_t i = 0; i < by->n; i++)
        if (isnan(keep_number(row, 0, table_find(row, by->factors[i].name))))
            return by->factors[i].name;
    return NULL;
}

static void note_failure(struct hunt *b, const struct table *row)
{
    const char *message = table_text(row, 0, table_find(row, DESIGN_COLUMN(message)));
    const char *status = table_text(row, 0, table_find(row, DESIGN_COLUMN(status)));
    const char *missing = keep_is_design(b->keep, row, 0) ? find_missing(&b->ask->by, row) : NULL;
    long long point = (long long)table_count(row, 0, table_find(row, "point"));
    b->out->n_infeasible++;
    if (b->out->why.n)
        return;
    if (missing)
        text_printf(&b->out->why, "point %lld has no %s", point, missing);
    else
        text_printf(&b->out->why, "point %lld: %s%s%s", point, status ? status : "", message ? ": " : "",
                    message ? message : "");
}

/* A few points with good bounds are solved at once: what they are worth rules out most of the others. */
static int put_back_first(struct hunt *b, struct node *x, struct err *e)
{
    x->first = x->next == STEP_SOLVE && b->n_leaders + b->n_first < b->ask->top;
    int64_t n = b->n;
    int rc = put_back(b, x, e);
    b->n_first += x->first && b->n > n;
    return rc;
}

static void take_row(struct hunt *b, struct done *d)
{
    struct table *row = &d->rows;
    double by;
    if (row->n_rows == 0) { /* `where` leaves it out after all */
        b->out->n_left_out++;
        return;
    }
    b->out->n_solved++;
    double value = keep_is_design(b->keep, row, 0) ? value_by(&b->ask->by, row) : (double)NAN;
    if (isnan(value)) {
        note_failure(b, row);
        return;
    }
    const char *status = table_text(row, 0, table_find(row, DESIGN_COLUMN(status)));
    b->out->n_above += d->node.bound > value + AS_GOOD_REL * fabs(value);
    b->out->n_unproved += status && strcmp(status, alloc_status_names[ALLOC_SOLVED]) != 0;
    int32_t broken = find_broken_row(b, row, &by);
    if (broken >= 0)
        count_limit(b, broken, 1, by);
    else
        add_leader(b, value, table_count(row, 0, table_find(row, "point")), row);
}

/* To the front; each plan once. */
static void note_known(struct hunt *b, const struct search_known *x)
{
    int32_t at = 0;
    while (at < b->n_known && !search_is_known(&b->known[at], x))
        at++;
    if (at == b->n_known && b->n_known < MOST_KNOWN)
        b->n_known++;
    at = at < MOST_KNOWN ? at : MOST_KNOWN - 1;
    memmove(&b->known[1], &b->known[0], (size_t)at * sizeof *b->known);
    b->known[0] = *x;
}

static int take_done(struct hunt *b, struct done *d, struct err *e)
{
    int rc = 0;
    if (d->node.next == STEP_SOLVE && d->rows.n_cols > 0) {
        b->n_first -= d->node.first;
        take_row(b, d);
        return 0;
    }
    b->out->n_left_out += d->left_out;
    if (d->fresh_known.question)
        note_known(b, &d->fresh_known);
    rc = note_time(&b->times, &d->fresh, e);
    for (int64_t i = 0; i < d->n_points && !rc; i++)
        rc = put_back(b, &d->points[i], e);
    return rc ? rc : put_back_first(b, &d->node, e);
}

/* ---- rounds ---- */

enum { ROUND = 64, MOST_DEAR = 16 };

static bool is_dear(enum step step)
{
    return step == STEP_FREE || step == STEP_SIZES || step == STEP_WIDE || step == STEP_TIME ||
           step == STEP_SOLVE;
}

/* The nodes with the least bounds, of which @p dear at most take long. Returns how many. */
static int32_t take_nodes(struct done *round, struct hunt *b, int32_t dear)
{
    int32_t n = 0;
    while (n < ROUND && b->n > 0 && !incumbent_rules_out(&b->last, b->heap[0].bound)) {
        if (is_dear(b->heap[0].next) && --dear < 0)
            break;
        round[n] = (struct done){ .node = nodes_pop(b->heap, b->n) };
        /* A split is bounded only as sharply as was of use. */
        struct node *x = &round[n++].node;
        if (x->next == STEP_SOLVE && !x->first && x->wide >= 0 && b->last.value < x->last)
            x->next = STEP_TIME;
        b->n--;
    }
    return n;
}

static int do_round(struct hunt *b, struct done *round, int32_t n, struct err *e)
{
    int rc = 0;
    int32_t threads = n < b->ask->threads ? n : b->ask->threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int32_t i = 0; i < n; i++)
        best_take_step(&round[i], b, &b->hands[omp_get_thread_num()]);
    for (int32_t i = 0; i < n; i++) {
        struct done *d = &round[i];
        if (d->rc && d->rc != ERR_STOPPED && !rc) {
            rc = d->rc;
            *e = d->e;
        }
        /* A step that was given up is not lost: the node is open with the bound that it had. */
        if (d->rc) {
            rc = rc ? rc : push(b, &d->node, e);
        } else if (!rc) {
            rc = take_done(b, d, e);
        }
        table_free(&d->rows);
        free(d->points);
    }
    return rc;
}

static double shown(const struct hunt *b, double value)
{
    return b->ask->by.factors[0].large ? -value : value;
}

static void best_tell(const struct hunt *b)
{
    const struct best_answer *a = b->out;
    struct best_state s = { .n_points = a->n_points,
                            .n_solved = a->n_solved,
                            .value = b->n_leaders ? shown(b, b->leaders[0].value) : (double)NAN,
                            .bound = b->n && !b->heap[0].first ? shown(b, b->heap[0].bound) : (double)NAN };
    s.n_ruled_out = a->n_left_out + a->n_infeasible;
    for (int i = 0; i < N_BEST_BOUNDS; i++)
        s.n_ruled_out += a->n_ruled_out[i];
    for (int32_t i = 0; i < b->ask->rule->n_where; i++)
        s.n_ruled_out += a->limits[i].n;
    if (b->ask->progress)
        b->ask->progress(b->ask->context, &s);
}

static int run_rounds(struct hunt *b, struct err *e)
{
    struct done *round = calloc(ROUND, sizeof *round);
    int32_t dear = 1;
    int rc = round ? 0 : err_nomem(e, "points");
    for (int32_t n = 1; !rc && n > 0 && !work_stopped();) {
        n = take_nodes(round, b, dear);
        /* One at first, since the first often rules out the second. */
        bool solves = false;
        for (int32_t i = 0; i < n; i++)
            solves = solves || round[i].node.next == STEP_SOLVE;
        dear = solves && dear < MOST_DEAR ? 2 * dear : dear;
        rc = n ? do_round(b, round, n, e) : 0;
        best_tell(b);
    }
    free(round);
    return rc;
}

/* What is left in the heap: ruled out by the bound that it has, or open. */
static int finish(struct hunt *b, struct err *e)
{
    struct best_answer *a = b->out;
    a->stopped = work_stopped();
    for (int64_t i = 0; i < b->n; i++) {
        struct node *x = &b->heap[i];
        if (incumbent_rules_out(&b->last, x->bound)) {
            rule_out(b, x);
            continue;
        }
        b->least_out = fmin(b->least_out, x->bound);
        a->n_open += x->n;
    }
    for (int32_t i = 0; i < b->n_leaders; i++) {
        a->values[i] = shown(b, b->leaders[i].value);
        table_take_rows(&a->rows, &b->leaders[i].row);
    }
    a->bound = isfinite(b->least_out) ? shown(b, b->least_out) : (double)NAN;
    a->proved = b->n_leaders > 0 && a->n_open == 0 && a->n_unproved == 0 && a->n_above == 0;
    return a->rows.failed ? err_nomem(e, "rows") : text_check(&a->why, e);
}

/* ---- points that are named ---- */

/* What row @p row is worth, less is better; NaN: it is no design within the limits. */
static double worth(const struct hunt *b, const struct table *row)
{
    double by;
    bool is = row->n_rows > 0 && keep_is_design(b->keep, row, 0) && find_broken_row(b, row, &by) < 0;
    return is ? value_by(&b->ask->by, row) : (double)NAN;
}

static int solve_named(double *value, const struct hunt *b, struct runner *solver, int64_t point,
                       struct err *e)
{
    struct sweep_unit unit;
    struct sweep_point p;
    struct sweep_counts counts = { 0 };
    struct table row = { 0 };
    sweep_find_point(&p, &b->ask->study->sweep, point);
    units_of_point(&unit, &b->points, &p);
    study_put_columns(&row, b->ask->study, TABLE_ROWS);
    int rc = row.failed ? err_nomem(e, "rows") : runner_unit(solver, &unit, &row, &counts, e);
    *value = rc ? (double)NAN : worth(b, &row);
    table_free(&row);
    return rc;
}

/* ---- begin and end ---- */

static int parse_limits(struct hunt *b, struct err *e)
{
    const struct table *columns = b->ask->columns;
    int rc = 0;
    for (int32_t k = 0; k < b->ask->rule->n_where && !rc; k++) {
        b->limits[k].coef = malloc(((size_t)columns->n_cols + 1) * sizeof *b->limits[k].coef);
        rc = b->limits[k].coef ? linexpr_parse(&b->limits[k], b->ask->rule->where[k],
                                               (const char *const *)columns->names, columns->n_cols, e)
                               : err_nomem(e, "limits");
    }
    return rc;
}

/* A node for each set; those of one point are points at once when they are opened. */
static int begin_sets(struct hunt *b, struct err *e)
{
    int rc = 0;
    for (int64_t u = 0; u < b->sets.n_units && !rc; u++) {
        const struct node x = {
            .bound = -INFINITY, .set = u, .i = -1, .n = size_of(b, u), .wide = -1, .next = STEP_FLOOR
        };
        rc = push(b, &x, e);
    }
    return rc;
}

/* The key of totals, where it is the only one of the fabric that varies; -1. */
static int32_t find_total(const struct sweep *w)
{
    int32_t total = -1;
    for (int32_t k = 0; k < w->n_keys; k++) {
        if (!design_is_of_fabric(w->keys[k].path))
            continue;
        if (total >= 0 || strcmp(w->keys[k].path, DESIGN_COLUMN(total_GBps)) != 0)
            return -1;
        total = k;
    }
    return total;
}

/* What points are solved with, and limits. */
static int begin_points(struct hunt *b, struct err *e)
{
    const struct study *s = b->ask->study;
    int rc = units_build(&b->points, &s->sweep, 1, design_is_quick, e);
    rc = rc ? rc : keep_build(&b->keep, b->ask->rule, b->ask->columns, e);
    return rc ? rc : parse_limits(b, e);
}

static int best_begin(struct hunt *b, struct err *e)
{
    const struct study *s = b->ask->study;
    const struct design_own *own = s->own;
    const struct block_job points = { .study = s, .order = &b->points },
                           sets = { .study = s, .order = &b->sets };
    double value = NAN;
    b->total = find_total(&s->sweep);
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        b->many_networks = b->many_networks || strcmp(s->sweep.keys[k].path, "network") == 0;
    b->shelf = own ? own->shelf : NULL;
    b->hands = calloc((size_t)b->ask->threads, sizeof *b->hands);
    b->leaders = calloc((size_t)b->ask->top + 1, sizeof *b->leaders);
    int rc = b->hands && b->leaders ? units_build(&b->sets, &s->sweep, INT64_MAX, design_is_of_fabric, e)
                                    : err_nomem(e, "points");
    rc = rc ? rc : begin_points(b, e);
    for (int32_t i = 0; i < b->ask->threads && !rc; i++)
        rc = (rc = runner_build(&b->hands[i].reader, &sets, e))
                 ? rc
                 : runner_build(&b->hands[i].solver, &points, e);
    if (!rc && b->ask->has_rival)
        rc = solve_named(&value, b, b->hands[0].solver, b->ask->rival, e);
    if (!isnan(value))
        b->last.value = value;
    b->out->rival = shown(b, value);
    return rc ? rc : begin_sets(b, e);
}

static void end(struct hunt *b)
{
    for (int32_t i = 0; i < b->ask->threads && b->hands; i++)
        runner_free(b->hands[i].reader), runner_free(b->hands[i].solver);
    for (int32_t i = 0; i < b->n_leaders; i++)
        table_free(&b->leaders[i].row);
    for (int32_t k = 0; k < b->ask->rule->n_where; k++)
        free(b->limits[k].coef);
    keep_free(b->keep);
    units_free(&b->sets);
    units_free(&b->points);
    free(b->hands);
    free(b->leaders);
    free(b->heap);
    free(b->times.list);
    hash_free(&b->times.by_key);
}

int best_find(struct best_answer *out, const struct best_ask *ask, struct err *e)
{
    double margin = ask->by.factors[0].large ? -AS_GOOD_REL : AS_GOOD_REL; /* values are below 0 then */
    struct hunt b = { .ask = ask, .out = out, .last = incumbent_none(margin), .least_out = INFINITY };
    *out = (struct best_answer){ .n_points = ask->study->sweep.n_points, .is_bounded = is_bounded(&ask->by) };
    out->n_points = out->n_points ? out->n_points : 1;
    study_put_columns(&out->rows, ask->study, TABLE_ROWS);
    int rc = best_begin(&b, e);
    rc = rc ? rc : run_rounds(&b, e);
    rc = rc ? rc : finish(&b, e);
    end(&b);
    if (rc)
        best_free(out);
    return rc;
}

int best_solve(double *values, const struct best_ask *ask, const int64_t *list, int32_t n, struct err *e)
{
    struct hunt b = { .ask = ask };
    struct runner *solver = NULL;
    const struct block_job job = { .study = ask->study, .order = &b.points };
    int rc = begin_points(&b, e);
    rc = rc ? rc : runner_build(&solver, &job, e);
    for (int32_t i = 0; i < n && !rc; i++) {
        rc = solve_named(&values[i], &b, solver, list[i], e);
        values[i] = shown(&b, values[i]);
    }
    runner_free(solver);
    end(&b);
    return rc;
}

void best_free(struct best_answer *a)
{
    table_free(&a->rows);
    text_free(&a->why);
    *a = (struct best_answer){ 0 };
}
