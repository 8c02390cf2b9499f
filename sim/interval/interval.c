/*
 * SMD, arXiv 2105.13855, for one interval: how communication hides behind the layers of a job (overlap), its
 * completion time by numbers of workers and parameter servers, their choice (a grid over polygons with a
 * proof, rounding, or exactly), admission by a knapsack, and jobs drawn as in the paper's experiments.
 * Utilities fall with the completion time, hence the best numbers of a job alone are those of least time.
 */
#include "sim/interval/interval.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/stat.h"
#include "base/work.h"

const char *const overlap_mode_names[N_OVERLAP_MODES + 1] = { "sequential", "wait_free", "priority",
                                                              "lemma2" };

static double overlap_sum(const double *x, int32_t n)
{
    double total = 0;
    for (int32_t j = 0; j < n; j++)
        total += x[j];
    return total;
}

/* Lemma 1. A layer is pushed when it is ready and the one above it is on its way; pulls, on the other half of
 * a full-duplex link, follow in the same order. All are there before the first forward pass begins. */
static double overlap_wait_free(const struct overlap_layers *l)
{
    int32_t j = l->n - 1;
    double ready_s = l->backward_s[j];
    double push_s = ready_s, pull_s = push_s + l->comm_s[j];
    for (j--; j >= 0; j--) {
        ready_s += l->backward_s[j];
        push_s = fmax(ready_s, push_s + l->comm_s[j + 1]);
        pull_s = fmax(push_s + l->comm_s[j], pull_s + l->comm_s[j + 1]);
    }
    return pull_s + l->comm_s[0] + overlap_sum(l->forward_s, l->n);
}

/* When layer j can begin its forward pass: its parameters are there and the layer before is done. `literal`
 * is Lemma 2. */
static double overlap_priority(const struct overlap_layers *l, bool literal)
{
    double first_s = overlap_sum(l->backward_s, l->n) + l->comm_s[0];
    double done_s = first_s + l->forward_s[0];
    double debt_s = 0;         /* D_j */
    double most_s = 0;         /* greatest D_k so far, or 0: the backlog of layers 2..j */
    double latest_s = first_s; /* Lemma 2: the latest arrival before j */
    for (int32_t j = 1; j < l->n; j++) {
        debt_s += l->comm_s[j] - l->backward_s[j - 1];
        most_s = fmax(most_s, debt_s);
        double here_s = most_s > 0 ? first_s + most_s : 0;
        if (literal) {
            here_s = debt_s > 0 ? latest_s + debt_s : 0;
            latest_s = fmax(latest_s, here_s);
        }
        done_s = fmax(done_s, here_s) + l->forward_s[j];
    }
    return done_s;
}

double overlap_time_s(const struct overlap_layers *l, enum overlap_mode mode)
{
    switch (mode) {
    case OVERLAP_WAIT_FREE:
        return overlap_wait_free(l);
    case OVERLAP_PRIORITY:
        return overlap_priority(l, false);
    case OVERLAP_LEMMA2:
        return overlap_priority(l, true);
    case OVERLAP_SEQUENTIAL:
    case N_OVERLAP_MODES:
        break;
    }
    return overlap_sum(l->backward_s, l->n) + 2 * overlap_sum(l->comm_s, l->n) +
           overlap_sum(l->forward_s, l->n);
}

static double overlap_share(double shown_s, double whole_s)
{
    return whole_s > 0 ? fmin(fmax(shown_s / whole_s, 0), 1) : 1;
}

struct overlap_shares overlap_find_shares(const struct overlap_layers *l, enum overlap_mode mode)
{
    if (mode == OVERLAP_SEQUENTIAL)
        return (struct overlap_shares){ 1, 1, 1 };
    double forward_s = overlap_sum(l->forward_s, l->n), backward_s = overlap_sum(l->backward_s, l->n);
    double shown_s = mode == OVERLAP_WAIT_FREE ? l->backward_s[l->n - 1] : backward_s;
    double comm_s = overlap_time_s(l, mode) - forward_s - shown_s;
    return (struct overlap_shares){ .forward = 1,
                                    .backward = overlap_share(shown_s, backward_s),
                                    .comm = overlap_share(comm_s, 2 * overlap_sum(l->comm_s, l->n)) };
}

/* ---- checks ---- */

static int smd_check_demand(const char *name, const double *demand, const double *limit, int32_t n_resources,
                            struct err *e)
{
    double most = INFINITY;
    for (int32_t r = 0; r < n_resources; r++)
        if (demand[r] > 0)
            most = fmin(most, limit[r] / demand[r]);
    if (most <= SMD_MAX_TASKS)
        return 0;
    return err_set(e, ERR_RANGE, "%s: is so small that the limit has room for %g, expected at most %d", name,
                   most, SMD_MAX_TASKS);
}

int smd_check_job(const struct smd_job *job, int32_t n_resources, struct err *e)
{
    int rc = smd_check_demand("worker", job->worker, job->limit, n_resources, e);
    return rc ? rc : smd_check_demand("ps", job->ps, job->limit, n_resources, e);
}

/* ---- what it is made of ---- */

void smd_set_layers(struct smd_job *job, const struct overlap_layers *layers, enum overlap_mode mode,
                    enum smd_layers how)
{
    double forward_s = 0, backward_s = 0;
    for (int32_t j = 0; j < layers->n; j++) {
        forward_s += layers->forward_s[j];
        backward_s += layers->backward_s[j];
    }
    double parts = how == SMD_LAYERS_MEAN ? layers->n : 1;
    job->forward_s = forward_s / parts;
    job->backward_s = backward_s / parts;
    job->shares = overlap_find_shares(layers, mode);
}

/* ---- how fast it runs ---- */

struct smd_cost smd_find_cost(const struct smd_job *job)
{
    const double E = job->iterations, push_s = 2 * E * job->shares.comm * (job->model_B / job->ps_Bps);
    const double backward_s = E * job->shares.backward * job->backward_s;
    const double forward_s = E * job->shares.forward * job->forward_s;
    if (job->sync)
        return (struct smd_cost){ .fixed_s = backward_s,
                                  .w_s = E * job->per_worker_s,
                                  .p_s = E * job->per_ps_s,
                                  .w_over_p_s = push_s,
                                  .over_w_s = forward_s * job->batch };
    return (struct smd_cost){ .fixed_s = E * job->per_worker_s,
                              .p_over_w_s = E * job->per_ps_s,
                              .over_w_s = forward_s * job->mini_batch + backward_s,
                              .over_p_s = push_s * job->meet_frac };
}

double smd_jct_s(const struct smd_cost *c, double w, double p)
{
    return c->fixed_s + c->w_s * w + c->p_s * p + c->w_over_p_s * (w / p) + c->p_over_w_s * (p / w) +
           c->over_w_s / w + c->over_p_s / p;
}

double smd_worth(const struct smd_utility *u, double jct_s)
{
    return u->worth / (1 + exp(u->slope_per_s * (jct_s - u->due_s)));
}

/* ---- what it may use ---- */

bool smd_fits(const struct smd_job *job, int32_t n_resources, double w, double p)
{
    for (int32_t r = 0; r < n_resources; r++)
        if (!(job->worker[r] * w + job->ps[r] * p <= job->limit[r] * (1 + SMD_LIMIT_SLACK)))
            return false;
    return true;
}

/* Most of what demands `each`, beside `n` of what demands `other`. */
static double smd_most_beside(const double *each, const double *other, double n, const double *limit,
                              int32_t n_resources)
{
    double most = INFINITY;
    for (int32_t r = 0; r < n_resources; r++)
        if (each[r] > 0)
            most = fmin(most, (limit[r] * (1 + SMD_LIMIT_SLACK) - other[r] * n) / each[r]);
    return most;
}

double smd_most_workers(const struct smd_job *job, int32_t n_resources, double p)
{
    return smd_most_beside(job->worker, job->ps, p, job->limit, n_resources);
}

double smd_most_servers(const struct smd_job *job, int32_t n_resources, double w)
{
    return smd_most_beside(job->ps, job->worker, w, job->limit, n_resources);
}

/* Streams of one seed, one a job: those below 2^32 are what jobs are drawn from. */
#define ROUNDING_STREAM (UINT64_C(1) << 32)

static struct smd_point smd_point_at(const struct smd_cost *c, double w, double p)
{
    return (struct smd_point){ w, p, smd_jct_s(c, w, p) };
}

/* The greatest gain of utility is the greatest fall of the completion time, and is seen there also where
 * utilities are so close to 0 or to the worth that they no longer differ. */
static struct smd_point smd_find_optimus(const struct smd_job *job, int32_t n_resources)
{
    const struct smd_cost c = smd_find_cost(job);
    struct smd_point x = smd_point_at(&c, 1, 1);
    for (;;) {
        const struct smd_point next[] = { smd_point_at(&c, x.w + 1, x.p), smd_point_at(&c, x.w, x.p + 1) };
        struct smd_point best = x;
        for (int k = 0; k < 2; k++)
            if (next[k].jct_s < best.jct_s && smd_fits(job, n_resources, next[k].w, next[k].p))
                best = next[k];
        if (!(best.jct_s < x.jct_s))
            return x;
        x = best;
    }
}

static struct smd_point smd_find_esw(const struct smd_job *job, int32_t n_resources, enum smd_esw how)
{
    const struct smd_cost c = smd_find_cost(job);
    struct smd_point x = smd_point_at(&c, 1, 1);
    for (int32_t k = 2; smd_fits(job, n_resources, k, k); k++) {
        struct smd_point next = smd_point_at(&c, k, k);
        if (how == SMD_ESW_LARGEST || next.jct_s < x.jct_s)
            x = next;
    }
    return x;
}

static int smd_find_smd(struct smd_point *out, const struct smd_job *job, int32_t index, int32_t n_resources,
                        const struct smd_settings *how, struct err *e)
{
    struct smd_grid grid;
    struct rng *rng;
    int rc = rng_build(&rng, how->seed, ROUNDING_STREAM + (uint64_t)index, e);
    if (rc)
        return rc;
    smd_inner_grid(&grid, job, n_resources, how->eps);
    *out = smd_round(&grid.point, job, n_resources, &how->rounding, rng);
    rng_free(rng);
    return 0;
}

/*
 * Workers and servers of job, the index-th of the list; whole numbers within the limit.
 * job  smd_check_job() found nothing, and (1, 1) fits
 * @return 0; ERR_RANGE: eps; ERR_NOMEM.
 */
static int smd_find_tasks(struct smd_point *out, enum smd_scheduler which, const struct smd_job *job,
                          int32_t index, int32_t n_resources, const struct smd_settings *how, struct err *e)
{
    switch (which) {
    case SMD_OPTIMUS:
        *out = smd_find_optimus(job, n_resources);
        return 0;
    case SMD_ESW:
        *out = smd_find_esw(job, n_resources, how->esw);
        return 0;
    case SMD_SMD:
        if (how->inner == SMD_INNER_GRID)
            return smd_find_smd(out, job, index, n_resources, how, e);
        break;
    case SMD_EXACT:
    case N_SMD_SCHEDULERS:
        break;
    }
    *out = smd_inner_exact(job, n_resources);
    return 0;
}

/* ---- polygons ---- */

enum {
    N_TERMS = 6,
    /* A box, clipped once per resource and once per term. A cut adds one vertex; rounding may add another. */
    MAX_VERTICES = 4 + 2 * (SMD_MAX_RESOURCES + N_TERMS),
};

struct grid_vertex {
    double w, p;
};

/* Convex, vertices in order; possibly a segment or a point. */
struct grid_polygon {
    struct grid_vertex at[MAX_VERTICES];
    int32_t n;
};

/* num[0] + num[1] w + num[2] p, likewise den; den > 0 where w, p >= 1. */
struct grid_ratio {
    double num[3], den[3];
};

static double grid_linear(const double a[3], struct grid_vertex x)
{
    return a[0] + a[1] * x.w + a[2] * x.p;
}

static void grid_add_vertex(struct grid_polygon *y, struct grid_vertex x)
{
    if (y->n < MAX_VERTICES)
        y->at[y->n++] = x;
}

enum side { BELOW, ABOVE };

/* Keep where num / den is below (or above) a bound. What lies on the line but for rounding counts as on it:
 * the bound is often the least value over the polygon, and must leave its vertex. */
static void grid_clip(struct grid_polygon *out, const struct grid_polygon *in, const struct grid_ratio *z,
                      enum side side, double bound)
{
    const double sign = side == BELOW ? 1 : -1;
    double over[MAX_VERTICES]; /* by how much a vertex is outside */
    out->n = 0;
    for (int32_t i = 0; i < in->n; i++) {
        double limit = bound * grid_linear(z->den, in->at[i]);
        over[i] = sign * (grid_linear(z->num, in->at[i]) - limit);
        if (fabs(over[i]) <= 1e-13 * limit)
            over[i] = 0;
    }
    for (int32_t i = 0; i < in->n; i++) {
        int32_t j = i + 1 < in->n ? i + 1 : 0;
        if (over[i] <= 0)
            grid_add_vertex(out, in->at[i]);
        if ((over[i] < 0 && over[j] > 0) || (over[i] > 0 && over[j] < 0)) {
            double t = over[i] / (over[i] - over[j]);
            struct grid_vertex a = in->at[i], b = in->at[j];
            grid_add_vertex(out, (struct grid_vertex){ a.w + t * (b.w - a.w), a.p + t * (b.p - a.p) });
        }
    }
}

/* w, p >= 1 within the limit. (1, 1) fits, so this is not empty. */
static struct grid_polygon grid_limit_polygon(const struct smd_job *job, int32_t n_resources)
{
    double w = fmax(smd_most_workers(job, n_resources, 1), 1);
    double p = fmax(smd_most_servers(job, n_resources, 1), 1);
    struct grid_polygon omega = { { { 1, 1 }, { w, 1 }, { w, p }, { 1, p } }, 4 };
    for (int32_t r = 0; r < n_resources; r++) {
        const struct grid_ratio use = { { 0, job->worker[r], job->ps[r] }, { 1, 0, 0 } };
        struct grid_polygon whole = omega;
        if (job->worker[r] > 0 || job->ps[r] > 0)
            grid_clip(&omega, &whole, &use, BELOW, job->limit[r] * (1 + SMD_LIMIT_SLACK));
    }
    return omega;
}

/* ---- the grid ---- */

#define COARSE_EPS 0.3

struct grid_span {
    double least, most;
};

struct grid_search {
    const struct smd_cost *cost;
    struct grid_ratio terms[N_TERMS]; /* the last one is left out of the grid */
    int32_t n_terms;
    double eps;
    struct smd_grid *best;
};

static struct grid_span grid_range(const struct grid_ratio *z, const struct grid_polygon *over)
{
    struct grid_span r = { INFINITY, 0 };
    for (int32_t i = 0; i < over->n; i++) {
        double value = grid_linear(z->num, over->at[i]) / grid_linear(z->den, over->at[i]);
        r.least = fmin(r.least, value);
        r.most = fmax(r.most, value);
    }
    return r;
}

/* Least that the terms from `from` on can add up to over a polygon. */
static double exact_least_rest(const struct grid_search *s, int32_t from, const struct grid_polygon *over)
{
    double sum = 0;
    for (int32_t k = from; k < s->n_terms; k++)
        sum += grid_range(&s->terms[k], over).least;
    return sum;
}

/* One term of the grid and what the bounds on those before it leave. */
struct grid_level {
    int32_t k;
    const struct grid_polygon *over;
    struct grid_span range; /* of term k over the polygon */
    double bounds_s;        /* sum of the bounds on terms before k */
};

/* The i-th bound of the sequence. */
static double exact_bound(const struct grid_search *s, const struct grid_level *l, int32_t i)
{
    return fmin(l->range.least * pow(1 + s->eps, i), l->range.most);
}

static void grid_search_term(struct grid_search *s, int32_t k, const struct grid_polygon *over,
                             double bounds_s);

/*
 * Bounds first..last on a term. A point belongs to the first bound that it is below, so they stand for a slab
 * of the polygon, and together they are left when bounds and least values promise nothing. The cell of the
 * optimum promises at most 1 + eps times the optimum; so does each slab around it; so, when it is left, what
 * was found is as good.
 */
static void grid_search_bounds(struct grid_search *s, const struct grid_level *l, int32_t first, int32_t last)
{
    const struct grid_ratio *z = &s->terms[l->k];
    double bounds_s = l->bounds_s + exact_bound(s, l, first);
    struct grid_polygon below, slab;
    grid_clip(&below, l->over, z, BELOW, exact_bound(s, l, last));
    const struct grid_polygon *left = &below;
    if (first > 0) {
        grid_clip(&slab, &below, z, ABOVE, exact_bound(s, l, first - 1));
        left = &slab;
    }
    if (!(bounds_s + exact_least_rest(s, l->k + 1, left) < s->best->point.jct_s))
        return;
    if (first == last) {
        grid_search_term(s, l->k + 1, left, bounds_s);
        return;
    }
    int32_t middle = first + (last - first) / 2;
    grid_search_bounds(s, l, first, middle);
    grid_search_bounds(s, l, middle + 1, last);
}

/* All but the last term are bounded one after the other. Then the least of the last lies at a vertex; the
 * true sum is looked at in all of them. */
static void grid_search_term(struct grid_search *s, int32_t k, const struct grid_polygon *over,
                             double bounds_s)
{
    if (k < s->n_terms - 1) {
        struct grid_level l = { k, over, grid_range(&s->terms[k], over), bounds_s };
        double n = ceil(log(l.range.most / l.range.least) / log1p(s->eps));
        grid_search_bounds(s, &l, 0, (int32_t)fmax(n, 0));
        return;
    }
    s->best->cells++;
    for (int32_t i = 0; i < over->n; i++) {
        double jct_s = smd_jct_s(s->cost, over->at[i].w, over->at[i].p);
        if (jct_s < s->best->point.jct_s)
            s->best->point = (struct smd_point){ over->at[i].w, over->at[i].p, jct_s };
    }
}

/* The terms that are there, the widest over the polygon last. */
static void grid_find_terms(struct grid_search *s, const struct grid_polygon *omega)
{
    const struct smd_cost *c = s->cost;
    const struct grid_ratio all[N_TERMS] = {
        { { 0, c->w_s, 0 }, { 1, 0, 0 } },        { { 0, 0, c->p_s }, { 1, 0, 0 } },
        { { 0, c->w_over_p_s, 0 }, { 0, 0, 1 } }, { { 0, 0, c->p_over_w_s }, { 0, 1, 0 } },
        { { c->over_w_s, 0, 0 }, { 0, 1, 0 } },   { { c->over_p_s, 0, 0 }, { 0, 0, 1 } },
    };
    double widest = 0;
    s->n_terms = 0;
    for (int32_t k = 0; k < N_TERMS; k++) {
        struct grid_span r = grid_range(&all[k], omega);
        if (!(r.most > 0))
            continue;
        int32_t last = s->n_terms++;
        s->terms[last] = all[k];
        if (last > 0 && r.most / r.least < widest) {
            s->terms[last] = s->terms[last - 1];
            s->terms[last - 1] = all[k];
        } else {
            widest = r.most / r.least;
        }
    }
}

void smd_inner_grid(struct smd_grid *out, const struct smd_job *job, int32_t n_resources, double eps)
{
    *out = (struct smd_grid){ .point = { 1, 1, INFINITY } };
    const struct smd_cost cost = smd_find_cost(job);
    const struct grid_polygon omega = grid_limit_polygon(job, n_resources);
    struct grid_search s = { .cost = &cost, .eps = COARSE_EPS, .best = out };
    grid_find_terms(&s, &omega);
    /* What a coarse grid finds lets most of the fine one be left at once. */
    if (eps < COARSE_EPS)
        grid_search_term(&s, 0, &omega, cost.fixed_s);
    s.eps = eps;
    grid_search_term(&s, 0, &omega, cost.fixed_s);
    out->bound_s = out->point.jct_s / (1 + eps);
}

/* ---- whole numbers ---- */

static void exact_keep_better(struct smd_point *best, const struct smd_cost *c, double w, double p)
{
    double jct_s = smd_jct_s(c, w, p);
    if (jct_s < best->jct_s)
        *best = (struct smd_point){ w, p, jct_s };
}

struct smd_point smd_inner_exact(const struct smd_job *job, int32_t n_resources)
{
    const struct smd_cost c = smd_find_cost(job);
    struct smd_point best = { 1, 1, smd_jct_s(&c, 1, 1) };
    for (int32_t w = 1; smd_fits(job, n_resources, w, 1); w++) {
        double most = fmax(floor(smd_most_servers(job, n_resources, w)), 1);
        double rising_s = c.p_s + c.p_over_w_s / w, falling_s = c.w_over_p_s * w + c.over_p_s;
        /* Without a cost per server, as many as fit; with neither cost nor gain, one. */
        double p = rising_s > 0 ? sqrt(falling_s / rising_s) : falling_s > 0 ? most : 1;
        p = fmin(fmax(floor(p), 1), most);
        exact_keep_better(&best, &c, w, p);
        exact_keep_better(&best, &c, w, fmin(p + 1, most));
    }
    return best;
}

double smd_round_scale(const struct smd_job *job, int32_t n_resources, double delta)
{
    double room = INFINITY;
    for (int32_t r = 0; r < n_resources; r++) {
        if (job->worker[r] > 0)
            room = fmin(room, job->limit[r] / job->worker[r]);
        if (job->ps[r] > 0)
            room = fmin(room, job->limit[r] / job->ps[r]);
    }
    if (!(room > 0))
        return 0;
    /* 1 + A - sqrt(A^2 + 2A), without the difference of two large numbers. */
    double A = 3 * log(2 * n_resources / delta) / (2 * room);
    return 1 / (1 + A + sqrt(A * A + 2 * A));
}

static double smd_round_one(double x, struct rng *rng)
{
    double down = floor(x);
    return fmax(rng_uniform(rng) < x - down ? down + 1 : down, 1);
}

struct smd_point smd_round(const struct smd_point *x, const struct smd_job *job, int32_t n_resources,
                           const struct smd_rounding *how, struct rng *rng)
{
    const struct smd_cost cost = smd_find_cost(job);
    double scale = how->scale == SMD_SCALE_LITERAL ? smd_round_scale(job, n_resources, how->delta) : 1;
    struct smd_point best = { 1, 1, INFINITY };
    for (int32_t i = 0; i < how->tries; i++) {
        double w = smd_round_one(scale * x->w, rng), p = smd_round_one(scale * x->p, rng);
        double jct_s = smd_jct_s(&cost, w, p);
        if (!(jct_s < best.jct_s) || !smd_fits(job, n_resources, w, p))
            continue;
        best = (struct smd_point){ w, p, jct_s };
        if (how->keep == SMD_KEEP_FIRST)
            break;
    }
    if (isfinite(best.jct_s))
        return best;
    double w = fmax(floor(x->w), 1), p = fmax(floor(x->p), 1);
    if (!smd_fits(job, n_resources, w, p))
        w = p = 1;
    return (struct smd_point){ w, p, smd_jct_s(&cost, w, p) };
}

const char *const smd_scheduler_names[N_SMD_SCHEDULERS + 1] = { "smd", "optimus", "esw", "exact" };
const char *const smd_fate_names[N_SMD_FATES + 1] = { "runs", "left out", "limit too small",
                                                      "limit above pool" };

void smd_result_free(struct smd_result *r)
{
    free(r->jobs);
    *r = (struct smd_result){ 0 };
}

/* ---- checks ---- */

static int smd_check_jobs(const struct smd_job *jobs, int32_t n_jobs, int32_t n_resources, struct err *e)
{
    for (int32_t i = 0; i < n_jobs; i++)
        if (smd_check_job(&jobs[i], n_resources, e))
            return err_wrap(e, "jobs[%d]", (int)i);
    return 0;
}

/* ---- the choice among jobs ---- */

/* Jobs that could run alone, as items of a knapsack. */
struct smd_choice {
    struct arena arena; /* of the arrays below */
    int32_t *job;       /* shape [n], owned: which job an item is */
    double *value;      /* shape [n], owned: utility at the numbers of tasks found */
    double *ideal;      /* shape [n], owned: utility at the best numbers */
    double *weight;     /* shape [n][n_resources], owned: limits */
    bool *chosen;       /* shape [n], owned */
    double best, least; /* of the guarantee: mu*, mu' */
    struct knapsack knapsack;
};

static void choice_free(struct smd_choice *c)
{
    arena_free(&c->arena);
}

static int choice_build(struct smd_choice *c, int32_t n_jobs, const double *capacity, int32_t n_resources,
                        struct err *e)
{
    const size_t n = (size_t)n_jobs + 1;
    c->job = ARENA_TAKE(&c->arena, n, *c->job);
    c->value = ARENA_TAKE(&c->arena, n, *c->value);
    c->ideal = ARENA_TAKE(&c->arena, n, *c->ideal);
    c->weight = ARENA_TAKE(&c->arena, n * (size_t)n_resources, *c->weight);
    c->chosen = ARENA_TAKE(&c->arena, n, *c->chosen);
    if (c->arena.failed)
        return err_nomem(e, "jobs");
    c->least = INFINITY;
    c->knapsack = (struct knapsack){ 0, n_resources, c->value, c->weight, capacity };
    return 0;
}

/* Numbers of tasks of job i; an item if it could run alone. */
static int smd_add_job(struct smd_choice *c, struct smd_result *out, enum smd_scheduler which,
                       const struct smd_job *job, int32_t i, const struct smd_settings *how, struct err *e)
{
    const double none[KNAPSACK_MAX_ROWS] = { 0 };
    struct smd_decision *d = &out->jobs[i];
    int32_t at = c->knapsack.n, m = out->n_resources;
    *d = (struct smd_decision){ .fate = SMD_TOO_SMALL, .jct_s = INFINITY };
    if (!smd_fits(job, m, 1, 1))
        return 0;
    struct smd_point best = smd_inner_exact(job, m), x = best;
    int rc = which == SMD_EXACT ? 0 : smd_find_tasks(&x, which, job, i, m, how, e);
    if (rc)
        return rc;
    d->w = (int32_t)x.w;
    d->p = (int32_t)x.p;
    d->jct_s = x.jct_s;
    d->utility = smd_worth(&job->utility, x.jct_s);
    memcpy(&c->weight[(size_t)at * (size_t)m], job->limit, (size_t)m * sizeof *c->weight);
    d->fate = knapsack_fits(&c->knapsack, none, at) ? SMD_LEFT_OUT : SMD_TOO_LARGE;
    if (d->fate == SMD_TOO_LARGE)
        return 0;
    c->job[at] = i;
    c->value[at] = d->utility;
    c->ideal[at] = smd_worth(&job->utility, best.jct_s);
    c->best = fmax(c->best, c->ideal[at]);
    /* The factor of rounding: (8 L / M_delta + 4) / delta with L = 3. */
    double scale = smd_round_scale(job, m, how->rounding.delta);
    double late = (1 + how->eps) * (24 / scale + 4) / how->rounding.delta;
    c->least = fmin(c->least, smd_worth(&job->utility, best.jct_s * late));
    c->knapsack.n++;
    return 0;
}

/* In order of coming, or of utility: whatever still fits. */
static int smd_choose_in_order(struct smd_choice *c, bool best_first, struct err *e)
{
    const struct knapsack *k = &c->knapsack;
    double used[KNAPSACK_MAX_ROWS] = { 0 };
    struct stat_rank *order = calloc((size_t)k->n + 1, sizeof *order);
    if (!order)
        return err_nomem(e, "an order of jobs");
    for (int32_t j = 0; j < k->n; j++)
        order[j] = (struct stat_rank){ best_first ? -c->value[j] : 0, j };
    stat_sort_ranks(order, k->n);
    for (int32_t i = 0; i < k->n; i++) {
        int32_t j = (int32_t)order[i].at;
        c->chosen[j] = knapsack_fits(k, used, j);
        for (int32_t r = 0; r < k->n_rows && c->chosen[j]; r++)
            used[r] += c->weight[(size_t)j * (size_t)k->n_rows + (size_t)r];
    }
    free(order);
    return 0;
}

/* The knapsack decides, or only bounds what another rule decides. */
static int smd_choose(struct smd_choice *c, struct smd_result *out, enum smd_scheduler which,
                      const struct smd_settings *how, struct err *e)
{
    bool packs = which == SMD_SMD || which == SMD_EXACT || how->baselines == SMD_ADMIT_KNAPSACK;
    struct knapsack_settings s = how->knapsack;
    struct knapsack_answer a;
    if (which == SMD_EXACT || !packs)
        s.method = KNAPSACK_EXACT;
    if (!packs)
        s.max_nodes = 1;
    int rc = knapsack_solve(&a, &c->knapsack, &s, e);
    if (rc)
        return rc;
    out->lp_bound = a.lp_bound;
    out->choice_bound = packs ? a.bound : a.lp_bound;
    out->nodes = packs ? a.nodes : 0;
    out->complete = !packs || a.complete;
    memcpy(out->price, a.price, sizeof out->price);
    memcpy(c->chosen, a.chosen, (size_t)c->knapsack.n * sizeof *c->chosen);
    knapsack_answer_free(&a);
    return packs ? 0 : smd_choose_in_order(c, how->baselines == SMD_ADMIT_BEST_FIRST, e);
}

/* ---- the answer ---- */

static double smd_gap(double bound, double value)
{
    return bound > value ? (bound - value) / bound : 0;
}

static void smd_add_up(struct smd_result *out, const struct smd_choice *c, const struct smd_job *jobs)
{
    for (int32_t j = 0; j < c->knapsack.n; j++) {
        const struct smd_job *job = &jobs[c->job[j]];
        struct smd_decision *d = &out->jobs[c->job[j]];
        if (!c->chosen[j])
            continue;
        d->fate = SMD_RUNS;
        out->n_running++;
        out->utility += d->utility;
        for (int32_t r = 0; r < out->n_resources; r++) {
            out->used[r] += job->worker[r] * d->w + job->ps[r] * d->p;
            out->reserved[r] += job->limit[r];
        }
    }
    out->choice_gap_frac = smd_gap(out->choice_bound, out->utility);
}

/* The relaxation at the best numbers of tasks bounds everything. */
static int smd_find_bound(struct smd_result *out, struct smd_choice *c, enum smd_scheduler which,
                          struct err *e)
{
    struct knapsack ideal = c->knapsack;
    struct knapsack_settings s = knapsack_settings_default();
    struct knapsack_answer a;
    out->bound = out->choice_bound;
    if (which != SMD_EXACT) {
        ideal.value = c->ideal;
        s.max_nodes = 1;
        int rc = knapsack_solve(&a, &ideal, &s, e);
        if (rc)
            return rc;
        out->bound = fmax(a.lp_bound, out->utility);
        knapsack_answer_free(&a);
    }
    out->gap_frac = smd_gap(out->bound, out->utility);
    return 0;
}

/* A job's rounding fails in all tries with a chance of (delta / 2R)^F. */
static void smd_find_guarantee(struct smd_result *out, const struct smd_choice *c,
                               const struct smd_settings *how)
{
    bool proved = how->inner == SMD_INNER_GRID && how->rounding.scale == SMD_SCALE_LITERAL;
    double fails = pow(how->rounding.delta / (2 * out->n_resources), how->rounding.tries);
    out->guarantee.ratio = c->best > 0 ? c->least * (1 - out->choice_gap_frac) / c->best : 0;
    out->guarantee.probability = proved ? pow(1 - fails, c->knapsack.n) : 0;
}

static int smd_carry_out(struct smd_result *out, struct smd_choice *c, enum smd_scheduler which,
                         const struct smd_job *jobs, const struct smd_settings *how, struct err *e)
{
    struct work work;
    int rc = 0;
    work_begin(&work, "jobs", out->n_jobs);
    for (int32_t i = 0; i < out->n_jobs && !rc; i++) {
        rc = smd_add_job(c, out, which, &jobs[i], i, how, e);
        work_step(&work, 1);
    }
    work_end(&work);
    if (!rc)
        rc = smd_choose(c, out, which, how, e);
    if (rc)
        return rc;
    smd_add_up(out, c, jobs);
    if (which == SMD_SMD)
        smd_find_guarantee(out, c, how);
    return smd_find_bound(out, c, which, e);
}

int smd_run(struct smd_result *out, enum smd_scheduler which, const struct smd_job *jobs, int32_t n_jobs,
            const double *capacity, int32_t n_resources, const struct smd_settings *how, struct err *e)
{
    struct smd_choice c = { 0 };
    *out = (struct smd_result){ .n_jobs = 0 };
    int rc = smd_check_jobs(jobs, n_jobs, n_resources, e);
    if (rc)
        return rc;
    out->n_jobs = n_jobs;
    out->n_resources = n_resources;
    memcpy(out->capacity, capacity, (size_t)n_resources * sizeof *capacity);
    out->jobs = calloc((size_t)n_jobs + 1, sizeof *out->jobs);
    rc = out->jobs ? choice_build(&c, n_jobs, capacity, n_resources, e) : err_nomem(e, "jobs");
    if (!rc)
        rc = smd_carry_out(out, &c, which, jobs, how, e);
    if (!rc)
        rc = work_check(e);
    choice_free(&c);
    if (rc)
        smd_result_free(out);
    return rc;
}

const char *const smd_resource_names[N_SMD_RESOURCES + 1] = { "vCPU", "GPU", "memory", "disk" };

enum { MOST_LAYERS = 100, MOST_FACTOR = 20 };

static const double unit[N_SMD_RESOURCES] = { 3400, 600, 1400, 1200 };

void smd_draw_pool(double capacity[N_SMD_RESOURCES], double units)
{
    for (int r = 0; r < N_SMD_RESOURCES; r++)
        capacity[r] = units * unit[r];
}

static double smd_draw_whole(struct rng *rng, int64_t lo, int64_t hi)
{
    return (double)(lo + rng_below(rng, hi - lo + 1));
}

static void smd_draw_layers(struct smd_job *job, struct rng *rng, const struct smd_draw *how)
{
    double backward_s[MOST_LAYERS], forward_s[MOST_LAYERS], comm_s[MOST_LAYERS];
    const struct overlap_layers layers = { backward_s, forward_s, comm_s,
                                           (int32_t)smd_draw_whole(rng, 10, MOST_LAYERS) };
    for (int32_t j = 0; j < layers.n; j++) {
        backward_s[j] = rng_range(rng, 1e-3, 0.3);
        forward_s[j] = rng_range(rng, 1e-3, 0.5);
        comm_s[j] = rng_range(rng, 0.08, 0.5);
    }
    smd_set_layers(job, &layers, how->overlap, how->layers);
}

/* A server is a worker without GPU. */
static void smd_draw_demands(struct smd_job *job, struct rng *rng)
{
    for (int k = 0; k < 2; k++) {
        double *demand = k == 0 ? job->worker : job->ps;
        demand[SMD_VCPU] = smd_draw_whole(rng, 1, 10);
        demand[SMD_GPU] = k == 0 ? smd_draw_whole(rng, 0, 4) : 0;
        demand[SMD_MEMORY_GB] = smd_draw_whole(rng, 2, 32);
        demand[SMD_DISK_GB] = smd_draw_whole(rng, 5, 10);
    }
}

static void smd_draw_limit(struct smd_job *job, struct rng *rng, const struct smd_draw *how)
{
    do {
        double factor =
            how->whole_factor ? smd_draw_whole(rng, 1, MOST_FACTOR) : rng_range(rng, 1, MOST_FACTOR);
        for (int r = 0; r < N_SMD_RESOURCES; r++)
            job->limit[r] = factor * how->instance[r];
    } while (!smd_fits(job, N_SMD_RESOURCES, 1, 1));
}

static void smd_draw_job(struct smd_job *job, struct rng *rng, const struct smd_draw *how)
{
    const double hour_s = 3600;
    *job = (struct smd_job){ .sync = how->sync };
    job->iterations = smd_draw_whole(rng, 50, 200);
    job->model_B = rng_range(rng, 30e6, 575e6);
    job->mini_batch = smd_draw_whole(rng, 10, 100);
    job->batch = smd_draw_whole(rng, 1, 100) * job->mini_batch;
    job->ps_Bps = rng_range(rng, 5e9, 20e9) / 8;
    job->per_worker_s = rng_range(rng, 3, 4);
    job->per_ps_s = rng_range(rng, 0, 0.01);
    job->meet_frac = rng_uniform(rng);
    job->utility.worth = rng_range(rng, 1, 100);
    job->utility.slope_per_s = rng_range(rng, 4, 6) / hour_s;
    job->utility.due_s = rng_range(rng, 1, 15) * hour_s;
    smd_draw_demands(job, rng);
    smd_draw_limit(job, rng, how);
    smd_draw_layers(job, rng, how);
}

/* So that no job is drawn for ever: the greatest worker and the greatest server fit 19 instances. */
static int smd_draw_check_instance(const struct smd_draw *how, struct err *e)
{
    static const double most[N_SMD_RESOURCES] = { 20, 4, 64, 20 };
    for (int r = 0; r < N_SMD_RESOURCES; r++)
        if (!(isfinite(how->instance[r]) && how->instance[r] * (MOST_FACTOR - 1) >= most[r]))
            return err_set(e, ERR_RANGE, "instance: %s is %g, expected at least %.4g", smd_resource_names[r],
                           how->instance[r], most[r] / (MOST_FACTOR - 1));
    return 0;
}

int smd_draw_jobs(struct smd_job *jobs, int32_t n, const struct smd_draw *how, struct err *e)
{
    int rc = smd_draw_check_instance(how, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < n && !rc; i++) {
        struct rng *rng;
        rc = rng_build(&rng, how->seed, (uint64_t)i, e);
        if (!rc)
            smd_draw_job(&jobs[i], rng, how);
        rng_free(rng);
    }
    return rc;
}
