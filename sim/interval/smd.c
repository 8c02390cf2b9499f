#include "sim/interval/smd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/interval/smd_tasks.h"

const char *const smd_scheduler_names[N_SMD_SCHEDULERS + 1] = { "smd", "optimus", "esw", "exact" };
const char *const smd_fate_names[N_SMD_FATES + 1] = { "runs", "left out", "limit too small",
                                                      "limit above pool" };

struct smd_settings smd_settings_default(void)
{
    return (struct smd_settings){
        .inner = SMD_INNER_GRID,
        .eps = 0.05,
        .rounding = { SMD_SCALE_ONE, SMD_KEEP_BEST, .delta = 0.5, .tries = 100 },
        .knapsack = knapsack_settings_default(),
        .baselines = SMD_ADMIT_KNAPSACK,
        .esw = SMD_ESW_LARGEST,
        .seed = 1,
    };
}

void smd_result_free(struct smd_result *r)
{
    free(r->jobs);
    *r = (struct smd_result){ 0 };
}

/* ---- checks ---- */

static int check_settings(const struct smd_settings *how, struct err *e)
{
    if (!(how->eps >= 1e-4 && how->eps <= 1))
        return err_set(e, ERR_RANGE, "eps: is %g, need 0.0001 to 1", how->eps);
    if (!(how->rounding.delta > 0 && how->rounding.delta < 1))
        return err_set(e, ERR_RANGE, "delta: is %g, need above 0 and below 1", how->rounding.delta);
    if (how->rounding.tries < 1)
        return err_set(e, ERR_RANGE, "tries: is %d, need 1 or more", (int)how->rounding.tries);
    return 0;
}

static int check_input(const struct smd_job *jobs, int32_t n_jobs, const double *capacity,
                       int32_t n_resources, const struct smd_settings *how, struct err *e)
{
    if (n_jobs < 0)
        return err_set(e, ERR_RANGE, "jobs: is %d, need 0 or more", (int)n_jobs);
    if (n_resources < 1 || n_resources > SMD_MAX_RESOURCES)
        return err_set(e, ERR_RANGE, "resources: is %d, need 1 to %d", (int)n_resources, SMD_MAX_RESOURCES);
    for (int32_t r = 0; r < n_resources; r++)
        if (!(capacity[r] >= 0 && isfinite(capacity[r])))
            return err_set(e, ERR_RANGE, "capacity[%d]: is %g, need 0 or more", (int)r, capacity[r]);
    for (int32_t i = 0; i < n_jobs; i++)
        if (smd_check_job(&jobs[i], n_resources, e))
            return err_wrap(e, "jobs[%d]", (int)i);
    return check_settings(how, e);
}

/* ---- the choice among jobs ---- */

/* Jobs that could run alone, as items of a knapsack. */
struct choice {
    int32_t *job;       /* shape [n], owned: which job an item is */
    double *value;      /* shape [n], owned: utility at the numbers of tasks found */
    double *ideal;      /* shape [n], owned: utility at the best numbers */
    double *weight;     /* shape [n][n_resources], owned: limits */
    bool *chosen;       /* shape [n], owned */
    double best, least; /* of the guarantee: mu*, mu' */
    struct knapsack knapsack;
};

static void choice_free(struct choice *c)
{
    free(c->job);
    free(c->value);
    free(c->ideal);
    free(c->weight);
    free(c->chosen);
}

static int choice_build(struct choice *c, int32_t n_jobs, const double *capacity, int32_t n_resources,
                        struct err *e)
{
    const size_t n = (size_t)n_jobs + 1;
    c->job = calloc(n, sizeof *c->job);
    c->value = calloc(n, sizeof *c->value);
    c->ideal = calloc(n, sizeof *c->ideal);
    c->weight = calloc(n * (size_t)n_resources, sizeof *c->weight);
    c->chosen = calloc(n, sizeof *c->chosen);
    if (!c->job || !c->value || !c->ideal || !c->weight || !c->chosen)
        return err_nomem(e, "jobs");
    c->least = INFINITY;
    c->knapsack = (struct knapsack){ 0, n_resources, c->value, c->weight, capacity };
    return 0;
}

/* Numbers of tasks of job i; an item if it could run alone. */
static int add_job(struct choice *c, struct smd_result *out, enum smd_scheduler which,
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

struct rank {
    double utility;
    int32_t item;
};

static int by_utility(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->utility != y->utility)
        return x->utility > y->utility ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* In order of coming, or of utility: whatever still fits. */
static int choose_in_order(struct choice *c, bool best_first, struct err *e)
{
    const struct knapsack *k = &c->knapsack;
    double used[KNAPSACK_MAX_ROWS] = { 0 };
    struct rank *order = calloc((size_t)k->n + 1, sizeof *order);
    if (!order)
        return err_nomem(e, "an order of jobs");
    for (int32_t j = 0; j < k->n; j++)
        order[j] = (struct rank){ best_first ? c->value[j] : 0, j };
    qsort(order, (size_t)k->n, sizeof *order, by_utility);
    for (int32_t i = 0; i < k->n; i++) {
        int32_t j = order[i].item;
        c->chosen[j] = knapsack_fits(k, used, j);
        for (int32_t r = 0; r < k->n_rows && c->chosen[j]; r++)
            used[r] += c->weight[(size_t)j * (size_t)k->n_rows + (size_t)r];
    }
    free(order);
    return 0;
}

/* The knapsack decides, or only bounds what another rule decides. */
static int choose(struct choice *c, struct smd_result *out, enum smd_scheduler which,
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
    return packs ? 0 : choose_in_order(c, how->baselines == SMD_ADMIT_BEST_FIRST, e);
}

/* ---- the answer ---- */

static double gap(double bound, double value)
{
    return bound > value ? (bound - value) / bound : 0;
}

static void add_up(struct smd_result *out, const struct choice *c, const struct smd_job *jobs)
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
    out->choice_gap_frac = gap(out->choice_bound, out->utility);
}

/* The relaxation at the best numbers of tasks bounds everything. */
static int find_bound(struct smd_result *out, struct choice *c, enum smd_scheduler which, struct err *e)
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
    out->gap_frac = gap(out->bound, out->utility);
    return 0;
}

/* A job's rounding fails in all tries with a chance of (delta / 2R)^F. */
static void find_guarantee(struct smd_result *out, const struct choice *c, const struct smd_settings *how)
{
    bool proved = how->inner == SMD_INNER_GRID && how->rounding.scale == SMD_SCALE_LITERAL;
    double fails = pow(how->rounding.delta / (2 * out->n_resources), how->rounding.tries);
    out->guarantee.ratio = c->best > 0 ? c->least * (1 - out->choice_gap_frac) / c->best : 0;
    out->guarantee.probability = proved ? pow(1 - fails, c->knapsack.n) : 0;
}

static int run(struct smd_result *out, struct choice *c, enum smd_scheduler which, const struct smd_job *jobs,
               const struct smd_settings *how, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < out->n_jobs && !rc; i++)
        rc = add_job(c, out, which, &jobs[i], i, how, e);
    if (!rc)
        rc = choose(c, out, which, how, e);
    if (rc)
        return rc;
    add_up(out, c, jobs);
    if (which == SMD_SMD)
        find_guarantee(out, c, how);
    return find_bound(out, c, which, e);
}

int smd_run(struct smd_result *out, enum smd_scheduler which, const struct smd_job *jobs, int32_t n_jobs,
            const double *capacity, int32_t n_resources, const struct smd_settings *how, struct err *e)
{
    struct choice c = { 0 };
    *out = (struct smd_result){ .n_jobs = 0 };
    int rc = check_input(jobs, n_jobs, capacity, n_resources, how, e);
    if (rc)
        return rc;
    out->n_jobs = n_jobs;
    out->n_resources = n_resources;
    memcpy(out->capacity, capacity, (size_t)n_resources * sizeof *capacity);
    out->jobs = calloc((size_t)n_jobs + 1, sizeof *out->jobs);
    rc = out->jobs ? choice_build(&c, n_jobs, capacity, n_resources, e) : err_nomem(e, "jobs");
    if (!rc)
        rc = run(out, &c, which, jobs, how, e);
    choice_free(&c);
    if (rc)
        smd_result_free(out);
    return rc;
}
