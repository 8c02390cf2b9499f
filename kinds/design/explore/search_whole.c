/*
 * The best pair of plan and whole design, where a catalogue prices the network.
 *
 * What a design costs, and whether it satisfies the rows, does not depend on the plan. So the designs that
 * ports give are listed once, and each candidate is timed on those where it may be good. With factor_k what
 * the objective multiplies time with in design k, and T_p(B) >= C_p + sum_d g_pd/B_d (the tangent of plan p
 * at the best design that is known), pair (p, k) is left out where
 *     factor_k max(T_p(all that any design has), C_p + sum_d g_pd/B_kd)
 * is above the last of the best that are known; of least cost likewise where that time is above the limit.
 * All other pairs are timed: nothing is left open.
 *
 * The best that are known come from going back and forth: the best design for a plan, the best plans at that
 * design, until nothing changes. They also say which designs cost too much whatever the plan.
 *
 * Of more designs than can be listed each plan that may be best has its own searched (search_split()).
 *
 * Time falls with bandwidth, whatever the algorithms. Where these depend on bandwidths the tangent says
 * nothing, and the first time alone counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "kinds/design/explore/search.h"
#include "kinds/design/answer/design.h"
#include "kinds/design/answer/whole.h"

/* In place of no links: whoever sends anything there takes longer than NO_TIME_S. */
#define NO_LINK_Bps 1e-300
#define NO_TIME_S   1e200

enum { D = TOPO_MAX_DIMS, MOST_ROUNDS = 8 };

struct pairing {
    const struct search_book *book;
    const struct design_point *study;
    struct design_question question;
    double cap_Bps[D];         /* what the rows allow one dimension at most; INFINITY: no limit */
    double least_s;            /* no plan takes less, with its weight */
    struct search_found at;    /* the best pair that is known */
    double known;              /* what it is worth */
    struct incumbent last;     /* of as many plans as are looked for, each with a design */
    struct whole_list designs; /* ascending by factor */
    double most_Bps[D];        /* the most that any of them has */
    bool tangents;             /* hold: no algorithm depends on bandwidths */
};

/* ---- pairs ---- */

static void links_to_time(double *bw_Bps, const struct pairing *j, const double *from_Bps)
{
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        bw_Bps[d] = from_Bps[d] > 0 ? from_Bps[d] : NO_LINK_Bps;
}

/* Can no plan whose step takes at least @p weighted_s be among the best at design @p k? */
static bool is_worse(const struct pairing *j, const struct whole_design *k, double weighted_s)
{
    double value = design_whole_value(&j->question.problem, k->factor, weighted_s);
    return !(weighted_s < NO_TIME_S) || incumbent_rules_out(&j->last, value);
}

/* INFINITY where the plan cannot run there, or the time limit is broken. */
static double value_of(const struct pairing *j, const struct whole_design *k, double time_s)
{
    const struct alloc_problem *p = &j->question.problem;
    double weighted_s = time_s * j->study->workloads[0].weight;
    if (!(time_s < NO_TIME_S))
        return INFINITY;
    double value =
        p->exact ? p->exact(p->about, k->bw_Bps, weighted_s) : design_whole_value(p, k->factor, weighted_s);
    return isnan(value) ? (double)INFINITY : value;
}

/* Take pair (f, k) into f, if it is better than what f holds: of equal values the cheaper design. */
static void take_pair(struct search_found *f, double *usd, const struct pairing *j,
                      const struct whole_design *k, double time_s)
{
    double value = value_of(j, k, time_s);
    if (!isfinite(value) || value > f->value * (1 + INCUMBENT_EQUAL_REL) ||
        (value >= f->value * (1 - INCUMBENT_EQUAL_REL) && k->usd >= *usd))
        return;
    f->value = f->lower_bound = value;
    f->time_s = time_s;
    *usd = k->usd;
    memcpy(f->bw_Bps, k->bw_Bps, sizeof f->bw_Bps);
}

/* ---- what is known before ---- */

/* The best design of the list for one plan; value INFINITY: it runs on none. */
static int best_design(struct search_found *f, const struct pairing *j, struct err *e)
{
    struct training *x = malloc(sizeof *x);
    double usd = INFINITY, bw_Bps[D];
    int rc = x ? 0 : err_nomem(e, "a search");
    if (!rc) {
        *x = *j->book->base;
        x->plan = f->plan;
        rc = training_derive(x, &j->study->net, e);
    }
    f->value = INFINITY;
    for (int64_t k = 0; k < j->designs.n && !rc; k++) {
        const struct whole_design *design = &j->designs.list[k];
        const struct collective_way way = search_way(j->study, bw_Bps);
        links_to_time(bw_Bps, j, design->bw_Bps);
        take_pair(f, &usd, j, design, search_clock_at(&way, &x->place, &x->cost));
    }
    free(x);
    return rc;
}

static const struct whole_design *find_design(const struct pairing *j, const double *bw_Bps)
{
    for (int64_t k = 0; k < j->designs.n; k++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): copies of each other, bit by bit */
        if (memcmp(j->designs.list[k].bw_Bps, bw_Bps, sizeof j->designs.list[k].bw_Bps) == 0)
            return &j->designs.list[k];
    return NULL;
}

/* The best plans at a design: they may be better than what is known, and the last of them is a value that
 * what is looked for must reach. *plan: the best of them. */
static int best_plans(struct search_found *plan, struct pairing *j, const struct whole_design *k,
                      struct err *e)
{
    struct search_best fast;
    double bw_Bps[D];
    links_to_time(bw_Bps, j, k->bw_Bps);
    int rc = search_fastest(&fast, j->book, bw_Bps, j->book->space->top, e);
    for (int32_t i = 0; i < fast.n && !rc; i++) {
        double value = value_of(j, k, fast.found[i].time_s);
        if (i == 0 && value < j->known) {
            j->known = value;
            j->at = fast.found[0];
            memcpy(j->at.bw_Bps, k->bw_Bps, sizeof j->at.bw_Bps);
        }
        /* The last of as many as are looked for, or of all. */
        if (i == fast.n - 1)
            j->last.value = fmin(j->last.value, value);
    }
    if (!rc && fast.n)
        *plan = fast.found[0];
    search_best_free(&fast);
    return rc;
}

/* Back and forth from the plan that is the fastest with all the bandwidth that there is. */
static int improve(struct pairing *j, struct search_found plan, struct err *e)
{
    int rc = 0;
    const struct whole_design *last = NULL;
    for (int32_t i = 0; i < MOST_ROUNDS && !rc; i++) {
        double before = j->known;
        rc = best_design(&plan, j, e);
        const struct whole_design *next = !rc && isfinite(plan.value) ? find_design(j, plan.bw_Bps) : NULL;
        if (!next || next == last)
            break;
        last = next;
        rc = best_plans(&plan, j, next, e);
        if (!(j->known < before))
            break;
    }
    return rc;
}

/* ---- the designs ---- */

static int by_factor(const void *a, const void *b)
{
    const struct whole_design *x = a, *y = b;
    if (x->factor < y->factor || x->factor > y->factor)
        return x->factor < y->factor ? -1 : 1;
    for (int32_t d = 0; d < D; d++)
        if (x->bw_Bps[d] < y->bw_Bps[d] || x->bw_Bps[d] > y->bw_Bps[d])
            return x->bw_Bps[d] < y->bw_Bps[d] ? -1 : 1;
    return 0;
}

static int list_designs(struct pairing *j, const double *most_Bps, double value, struct err *e)
{
    struct whole_limit limit = { .value = value, .least_s = j->least_s };
    memcpy(limit.most_Bps, most_Bps, sizeof limit.most_Bps);
    design_list_free(&j->designs);
    int rc = design_list_whole(&j->designs, j->study, &j->question.problem, &limit, e);
    if (!rc && j->designs.n)
        qsort(j->designs.list, (size_t)j->designs.n, sizeof *j->designs.list, by_factor);
    return rc;
}

static bool is_open(const struct pairing *j, int32_t d)
{
    const struct topo_dim *dim = &j->study->net.dims[d];
    return isnan(dim->bw_Bps) && topo_port_step_Bps(&j->study->net, d, &j->study->parts) > 0;
}

/* Of a list of small designs the one with the most bandwidth that has links everywhere. */
static const struct whole_design *largest_design(const struct pairing *j)
{
    const struct whole_design *best = NULL;
    double most_Bps = 0;
    for (int64_t k = 0; k < j->designs.n; k++) {
        double total_Bps = 0;
        bool all = true;
        for (int32_t d = 0; d < j->study->net.n_dims; d++) {
            total_Bps += j->designs.list[k].bw_Bps[d];
            all = all && j->designs.list[k].bw_Bps[d] > 0;
        }
        if (all && total_Bps > most_Bps) {
            most_Bps = total_Bps;
            best = &j->designs.list[k];
        }
    }
    return best;
}

/* A first pair where rows leave bandwidths without limit, or too many to list: with a link or more. */
static int find_first(struct pairing *j, struct err *e)
{
    enum { MOST_LINKS = 1 << 12 };
    int rc = 0;
    for (int32_t links = 1; links <= MOST_LINKS && isinf(j->known) && !rc; links *= 2) {
        double most_Bps[D];
        struct search_found plan;
        for (int32_t d = 0; d < D; d++)
            most_Bps[d] = d < j->study->net.n_dims && is_open(j, d)
                              ? fmin(j->cap_Bps[d],
                                     (links - 1) * topo_port_step_Bps(&j->study->net, d, &j->study->parts))
                              : j->cap_Bps[d];
        rc = list_designs(j, most_Bps, INFINITY, e);
        if (j->designs.too_many)
            break;
        const struct whole_design *k = rc ? NULL : largest_design(j);
        if (k)
            rc = best_plans(&plan, j, k, e);
    }
    return rc;
}

/* What a design may have at most to be as good as @p value, by linear prices, which are lower bounds. */
static void limit_by_value(double *most_Bps, const struct pairing *j, double value)
{
    const struct alloc_problem *p = &j->question.problem, counted = alloc_with_factor(p);
    double most = (alloc_is_limited(p->objective) ? value : value / j->least_s) * (1 + 1e-9);
    memcpy(most_Bps, j->cap_Bps, sizeof j->cap_Bps);
    for (int32_t d = 0; d < j->study->net.n_dims && !alloc_is_time(p->objective); d++)
        if (counted.usd_per_Bps[d] > 0)
            most_Bps[d] = fmin(most_Bps[d], (most - counted.usd_fixed) / counted.usd_per_Bps[d]);
}

static bool is_limited(const struct pairing *j, const double *most_Bps)
{
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        if (is_open(j, d) && j->study->net.dims[d].level == 0 && !isfinite(most_Bps[d]))
            return false;
    return true;
}

/* The designs that are worth at most @p value at the least time; *ok: that limits them. */
static int list_below(bool *ok, struct pairing *j, double value, struct err *e)
{
    double most_Bps[D];
    *ok = false;
    if (!isfinite(value))
        return 0;
    limit_by_value(most_Bps, j, value);
    *ok = is_limited(j, most_Bps);
    return *ok ? list_designs(j, most_Bps, value * (1 + INCUMBENT_EQUAL_REL), e) : 0;
}

/* All designs that may be best, and a pair to begin with; false in *ok: they cannot be listed. */
static int find_designs(bool *ok, struct pairing *j, struct err *e)
{
    struct search_best fast;
    struct search_found plan;
    int rc = search_fastest(&fast, j->book, j->cap_Bps, 1, e);
    bool any = !rc && fast.n > 0;
    *ok = false;
    if (any)
        plan = fast.found[0];
    search_best_free(&fast);
    if (!any)
        return rc;
    j->least_s = plan.time_s * j->study->workloads[0].weight * (1 - INCUMBENT_EQUAL_REL);
    bool listed = is_limited(j, j->cap_Bps);
    if (listed)
        rc = list_designs(j, j->cap_Bps, INFINITY, e);
    if (!rc && (!listed || j->designs.too_many)) {
        rc = find_first(j, e);
        rc = rc ? rc : list_below(&listed, j, j->last.value, e);
        /* Of fewer designs the best pair is still the best; other plans are listed with one of these. */
        if (!rc && !(listed && !j->designs.too_many))
            rc = list_below(&listed, j, j->known, e);
    }
    *ok = !rc && listed && !j->designs.too_many && j->designs.n > 0;
    return *ok ? improve(j, plan, e) : rc;
}

/* Designs that cost too much whatever the plan are left out. */
static void drop_designs(struct pairing *j)
{
    int64_t n = 0;
    for (int32_t d = 0; d < D; d++)
        j->most_Bps[d] = NO_LINK_Bps;
    for (int64_t k = 0; k < j->designs.n; k++) {
        const struct whole_design *design = &j->designs.list[k];
        if (is_worse(j, design, j->least_s))
            continue;
        for (int32_t d = 0; d < j->study->net.n_dims; d++)
            j->most_Bps[d] = fmax(j->most_Bps[d], design->bw_Bps[d]);
        j->designs.list[n++] = *design;
    }
    j->designs.n = n;
}

/* ---- all pairs ---- */

struct search_pairs {
    const struct pairing *pairing;
    struct search_best best;
    double *best_of; /* shape [designs.n], owned: the least value of any plan */
    int64_t n_timed;
};

static bool skip_pairs(void *with, double least_s)
{
    const struct pairing *j = ((const struct search_pairs *)with)->pairing;
    return j->designs.n == 0 || is_worse(j, &j->designs.list[0],
                                         j->study->workloads[0].weight * least_s * (1 - INCUMBENT_EQUAL_REL));
}

static void take_candidate(void *with, const struct search_candidate *c)
{
    struct search_pairs *x = with;
    const struct pairing *j = x->pairing;
    double weight = j->study->workloads[0].weight, usd = INFINITY,
           least_s = weight * search_clock_time(&c->clocks[0], c->cost, INFINITY) * (1 - INCUMBENT_EQUAL_REL);
    struct alloc_cut t;
    double at_s = NAN;
    struct search_found f = { .value = INFINITY };
    bool timed = false;
    for (int64_t k = 0; k < j->designs.n; k++) {
        const struct whole_design *design = &j->designs.list[k];
        double bw_Bps[D], bound_s = least_s;
        /* Designs ascend by factor, and so does this. */
        if (is_worse(j, design, least_s))
            break;
        if (k == 0 && j->tangents)
            t = search_tangent(&at_s, &c->clocks[1], c->cost, weight);
        if (isfinite(at_s))
            bound_s = fmax(bound_s, alloc_cut_at(&t, design->bw_Bps, j->study->net.n_dims) *
                                        (1 - INCUMBENT_EQUAL_REL));
        if (is_worse(j, design, bound_s))
            continue;
        if (!timed)
            f = search_found_of(c);
        f.value = timed ? f.value : (double)INFINITY;
        timed = true;
        links_to_time(bw_Bps, j, design->bw_Bps);
        const struct collective_way way = search_way(j->study, bw_Bps);
        double time_s = search_clock_at(&way, c->place, c->cost);
        double value = value_of(j, design, time_s);
#pragma omp critical(search_pairs)
        x->best_of[k] = fmin(x->best_of[k], value);
        take_pair(&f, &usd, j, design, time_s);
    }
#pragma omp atomic
    x->n_timed += timed;
    if (timed && isfinite(f.value))
        search_best_add(&x->best, &f);
}

/* The best, and how many designs are as good. */
static void pairs_say(struct search_result *out, struct search_pairs *x)
{
    int64_t n_best = 0;
    out->found = x->best.found;
    out->n_found = x->best.n;
    x->best = (struct search_best){ 0 };
    for (int64_t k = 0; k < x->pairing->designs.n && out->n_found; k++)
        n_best += x->best_of[k] <= out->found[0].value * (1 + INCUMBENT_EQUAL_REL);
    out->n_split = x->n_timed;
    out->proof.n_ruled_out = x->pairing->book->counted ? out->n_timed - x->n_timed : 0;
    out->unique = n_best == 1;
}

/* Every candidate on every design, but for those that a bound rules out. */
static int time_pairs(struct search_result *out, struct pairing *j, struct err *e)
{
    double ref_Bps[D];
    struct search_pairs x = { .pairing = j,
                              .best_of = malloc(sizeof *x.best_of * ((size_t)j->designs.n + 1)) };
    const struct search_pass pass = { .ways = { search_way(j->study, j->most_Bps),
                                                search_way(j->study, ref_Bps) },
                                      .n_ways = 2,
                                      .skip = skip_pairs,
                                      .take = take_candidate,
                                      .with = &x };
    links_to_time(ref_Bps, j, j->at.bw_Bps);
    for (int64_t k = 0; k < j->designs.n && x.best_of; k++)
        x.best_of[k] = INFINITY;
    int rc = search_best_reserve(&x.best, j->book->space->top, 0, e);
    rc = rc || x.best_of ? rc : err_nomem(e, "a search");
    rc = rc ? rc : search_book_pass(j->book, &pass, e);
    if (!rc)
        pairs_say(out, &x);
    search_best_free(&x.best);
    free(x.best_of);
    out->whole = out->proved = !rc;
    out->lower_bound = !rc && out->n_found ? out->found[0].value : (double)NAN;
    return rc;
}

int search_whole(struct search_result *out, const struct search_book *book, struct err *e)
{
    const struct design_point *s = book->study;
    struct pairing *j = malloc(sizeof *j);
    struct step_fn shape = { .n_dims = s->net.n_dims };
    bool listed = false;
    *out = book->counts;
    out->lower_bound = NAN;
    if (!j)
        return err_nomem(e, "a search");
    *j = (struct pairing){ .book = book,
                           .study = s,
                           .known = INFINITY,
                           .last = incumbent_none(INCUMBENT_EQUAL_REL),
                           .tangents = !design_point_has_choice(s) };
    design_ask(&j->question, s);
    j->question.problem.step = &shape; /* alone for the number of dimensions */
    alloc_find_caps(j->cap_Bps, &j->question.problem);
    int rc = find_designs(&listed, j, e);
    if (!rc && listed) {
        drop_designs(j);
        rc = time_pairs(out, j, e);
    } else if (!rc && isfinite(search_book_floor_s(book))) { /* else no plan fits */
        rc = search_split(out, book, e);
    }
    design_list_free(&j->designs);
    free(j);
    return rc;
}
