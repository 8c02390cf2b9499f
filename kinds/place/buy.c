/*
 * Which network to buy for a mix of jobs. Designs are every combination of the study's axes and of the whole
 * parts that its free bandwidths leave. Each has a bound from steps alone (below), which holds for the
 * very jobs of the study's seeds, so that a bound and a run may be compared as they are.
 *
 * Before any run, a design is put aside where another is nowhere slower and no dearer: no more bandwidth in
 * any dimension, no more of its time kept by any job. With the same of both it is the same runs at a price no
 * lower; with less, steps are no shorter, and that is a proof where no job waits and no link is shared. Where
 * they do, a slower network may start jobs in a luckier order: such designs are run where nothing else is
 * left to be proved.
 *
 * The design with the least bound is run on all seeds first: whoever's bound is above its value is ruled out
 * for good. The others run on the same seeds, a few at first, then twice as many each time; one that is worse
 * than the best by more than chance explains (Student's t of the differences, 99.9 %) is dropped, which is no
 * proof. Last come the designs that no cheaper one rules out by their bounds: what a step down saves and
 * costs.
 */
#include "kinds/place/buy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/stat.h"
#include "base/vec.h"
#include "base/work.h"
#include "kinds/design/answer/design.h"
#include "kinds/design/answer/whole.h"
#include "kinds/design/ask/system.h"
#include "sim/cluster/footprint.h"

#define BUY_ROW(NAME, word, title, unit) { title, unit },
const struct buy_objective_row buy_objectives[] = { BUY_OBJECTIVES(BUY_ROW) };

enum { FIRST_SEEDS = 4, MOST_POINTS = 1024, MOST_DESIGNS = 1 << 15, MOST_FRONT = 64 };
#define CHANCE   0.999 /* of the differences that are taken for none */
#define YEAR_S   (8760 * 3600.0)
#define ROWS_REL 1e-9
#define SAME_REL 1e-9

/* Steps of one entry on places of an empty cluster, links that groups share being free. */
struct buy_steps {
    const struct job_step *
        *of; /* shape [n], owned, of borrowed steps; the first one that of its first place */
    int32_t n;
};

/* A job of a seed. */
struct buy_job {
    double submit_s;
    int32_t entry;
};

/* A point of the study, as jobs see it and as prices do. Do not copy. */
struct buy_point {
    struct arena arena; /* of the arrays */
    struct study_override axes[SWEEP_MAX_KEYS];
    struct place_study at;
    struct design_point asked;
    struct topo_network net; /* its own, 1 GB/s where bandwidth is to choose */
    struct job_steps *kept;
    struct buy_steps *steps; /* shape [at.trace.n_mix] */
    struct buy_job *jobs;    /* shape [seeds][n_jobs]: in order of submission */
    int32_t n_jobs;
    double *weight; /* shape [at.trace.n_mix]: share of an entry in the jobs of all seeds */
};

/* ---- bounds ---- */

/*
 * Lower bounds of a cluster study, from steps alone. Whatever place a job gets, its step is a step of one
 * of the shapes below, at bandwidths no higher than these: the same number of its GPUs on each of its
 * servers, or pieces of their common divisor (sim/cluster/footprint.h), and links that groups share so free
 * that only its own ports limit it. No job ends before it came and ran so long; and GPU-hours need GPUs.
 */

/* More shapes than any mix has: sizes of at most four dimensions. */
enum { MOST_SHAPES = 4096 };

struct shape_lister {
    struct buy_point *p;
    struct buy_steps *out;
    int32_t entry, cap;
    int32_t size[TOPO_MAX_DIMS];
};

static int list_step(struct shape_lister *x, struct err *e)
{
    const struct job_step *step;
    struct err ignored = { 0 };
    int rc = job_steps_find(&step, x->p->kept, &x->p->at.trace.mix[x->entry].job, x->size, &ignored);
    if (rc == ERR_NOMEM)
        return err_nomem(e, "steps of jobs");
    if (rc) /* no place of that shape can be had */
        return 0;
    if (x->out->n == MOST_SHAPES)
        return err_set(e, ERR_RANGE, "a job of %d GPUs may have places of more than %d shapes",
                       (int)x->p->at.trace.mix[x->entry].gpus, MOST_SHAPES);
    if (!vec_reserve(x->out->of, x->cap, /* NOLINT(bugprone-sizeof-expression): pointers */
                     x->out->n + 1))
        return err_nomem(e, "steps of jobs");
    x->out->of[x->out->n++] = step;
    return 0;
}

/* Every way to share @p left GPUs out over dimensions from @p d on. Of a fat tree all are below one leaf: its
 * links up are free. */
static int list_shapes(struct shape_lister *x, int32_t d, int32_t left, struct err *e)
{
    const struct topo_network *net = &x->p->net;
    int rc = 0;
    if (d >= net->n_dims)
        return left == 1 ? list_step(x, e) : 0;
    int32_t next = topo_after_entry(net->dims, d);
    int64_t most = d < x->p->at.servers.level ? 1 : INT64_MAX; /* of a server; pieces of groups may be many */
    for (int32_t k = d; k < next; k++) {
        most *= most < INT64_MAX ? net->dims[k].size : 1;
        x->size[k] = 1;
    }
    for (int32_t f = 1; f <= left && !rc; f++) {
        if (left % f != 0 || f > most)
            continue;
        x->size[d] = f;
        rc = list_shapes(x, next, left / f, e);
    }
    return rc;
}

static int find_steps(struct buy_point *p, int32_t i, struct err *e)
{
    const struct place_servers *v = &p->at.servers;
    struct shape_lister x = { .p = p, .out = &p->steps[i], .entry = i };
    int32_t gpus = p->at.trace.mix[i].gpus;
    footprint_ideal(x.size, &p->net, v->level, (int64_t)v->each[0], gpus);
    int rc = list_step(&x, e);
    if (!rc && x.out->n == 0)
        return err_set(e, ERR_RANGE, "a job of %d GPUs finds no place that its plan lies along", (int)gpus);
    return rc ? rc : list_shapes(&x, 0, gpus, e);
}

static int draw_jobs(struct buy_point *p, int64_t seed, int64_t seeds, struct err *e)
{
    const struct place_trace *t = &p->at.trace;
    int32_t n = p->n_jobs, *of = malloc((size_t)n * sizeof *of);
    int rc = of ? 0 : err_nomem(e, "jobs");
    for (int64_t k = 0; k < seeds && !rc; k++) {
        struct trace drawn;
        rc = trace_draw_arrivals(&drawn, n, t->jobs_per_s, (uint64_t)(seed + k), e);
        if (rc)
            break;
        rc = place_draw_mix(of, t, n, seed + k, e);
        for (int32_t i = 0; i < n && !rc; i++) {
            p->jobs[k * n + i] = (struct buy_job){ drawn.jobs[i].submit_s, of[i] };
            p->weight[of[i]] += 1.0 / ((double)n * (double)seeds);
        }
        trace_free(&drawn);
    }
    free(of);
    return rc;
}

/* Steps, jobs and weights of a point that was read. ERR_PARSE, ERR_RANGE, ERR_NOMEM; safe to free after. */
static int buy_point_build(struct buy_point *p, int64_t seed, int64_t seeds, struct err *e)
{
    const struct place_study *s = &p->at;
    const struct place_trace *t = &s->trace;
    if (s->model != PLACE_EVENTS || t->n_mix == 0 || t->path)
        return yaml_fail(
            &s->doc, s->file.jobs >= 0 ? s->file.jobs : s->doc.root, e, ERR_PARSE,
            "has %s, expected jobs.mix of model events without a trace, for which a network is chosen",
            s->model != PLACE_EVENTS ? "another model"
            : t->path                ? "a trace"
                                     : "no mix");
    if (s->servers.types)
        return yaml_fail_key(&s->doc, yaml_get(&s->doc, s->doc.root, "npus"), e, ERR_UNSUP,
                             "is for weft place; a network is chosen for one type of NPU");
    if (isfinite(s->events.horizon_s))
        return yaml_fail(&s->doc, yaml_get(&s->doc, s->file.events, "horizon_s"), e, ERR_RANGE,
                         "cuts jobs off, expected none where networks are held against each other");
    p->n_jobs = (int32_t)t->window.n;
    p->net = s->servers.net;
    for (int32_t d = 0; d < p->net.n_dims; d++)
        if (isnan(p->net.dims[d].bw_Bps))
            p->net.dims[d].bw_Bps = 1e9;
    p->steps = ARENA_TAKE(&p->arena, t->n_mix, *p->steps);
    p->weight = ARENA_TAKE(&p->arena, t->n_mix, *p->weight);
    p->jobs = ARENA_TAKE(&p->arena, seeds * p->n_jobs, *p->jobs);
    int rc = arena_check(&p->arena, "jobs of a mix", e);
    if (!rc)
        rc = job_steps_build(&p->kept, &p->net, s->servers.level, e);
    for (int32_t i = 0; i < t->n_mix && !rc; i++)
        rc = find_steps(p, i, e);
    return rc ? rc : draw_jobs(p, seed, seeds, e);
}

static void buy_point_free(struct buy_point *p)
{
    for (int32_t i = 0; i < p->at.trace.n_mix && p->steps; i++)
        free(p->steps[i].of);
    arena_free(&p->arena);
    job_steps_free(p->kept);
    design_point_free(&p->asked);
    place_study_free(&p->at);
}

/* All GPUs of the cluster. */
static double buy_gpus(const struct buy_point *p)
{
    double servers = (double)p->net.n_npus;
    for (int32_t d = 0; d < p->at.servers.level; d++)
        servers /= p->net.dims[d].size;
    return servers * p->at.servers.each[0];
}

/* ---- at bandwidths ---- */

/* Part of a full mesh or ring has part of its bandwidth, as footprint_network() says; of links that a group
 * has together a place gets those of NPUs that are not its own too. */
static void find_ratio(double *ratio, const struct buy_point *p, const struct job_step *step)
{
    double of_group = 1;
    for (int32_t d = 0; d < p->net.n_dims; d++) {
        const struct topo_dim *dim = &p->net.dims[d];
        ratio[d] = dim->level > 0 ? of_group : step->bw_Bps[d] / dim->bw_Bps;
        of_group *= (double)dim->size / step->size[d];
    }
}

/* What the first place of entry @p i has of each bandwidth of the network where its own ports are no limit,
 * shape [n_dims]. */
static void buy_first_ratio(double *ratio, const struct buy_point *p, int32_t i)
{
    find_ratio(ratio, p, p->steps[i].of[0]);
}

/* Links that groups share are at most what ports are, and with @p free as much. */
static double step_at(const struct buy_point *p, const struct job_step *step, const double *bw_Bps, bool free)
{
    double has_Bps[TOPO_MAX_DIMS], ratio[TOPO_MAX_DIMS];
    find_ratio(ratio, p, step);
    for (int32_t d = 0; d < p->net.n_dims; d++) {
        int32_t level = p->net.dims[d].level;
        double port_Bps = bw_Bps[d - level] * ratio[d - level];
        has_Bps[d] = level == 0 ? port_Bps : free ? port_Bps : fmin(port_Bps, bw_Bps[d] * ratio[d]);
    }
    return step_time(&step->fn, has_Bps);
}

/* A step of entry @p i at bandwidths @p bw_Bps, shape [n_dims]: on its first place alone, and on whichever
 * place it is shortest. */
static double buy_step_s(const struct buy_point *p, int32_t i, const double *bw_Bps)
{
    return step_at(p, p->steps[i].of[0], bw_Bps, false);
}

static double buy_least_step_s(const struct buy_point *p, int32_t i, const double *bw_Bps)
{
    double least_s = INFINITY;
    for (int32_t k = 0; k < p->steps[i].n; k++)
        least_s = fmin(least_s, step_at(p, p->steps[i].of[k], bw_Bps, true));
    return least_s;
}

/* The mean completion on all seeds is not below: every job runs at once, as fast as it can. @p kept, shape
 * [n_mix]: of its time. */
static double buy_least_jct_s(const struct buy_point *p, const double *kept, const double *bw_Bps)
{
    double sum_s = 0;
    for (int32_t i = 0; i < p->at.trace.n_mix; i++)
        if (p->weight[i] > 0)
            sum_s += p->weight[i] * p->at.trace.mix[i].steps * buy_least_step_s(p, i, bw_Bps) / kept[i];
    return sum_s;
}

/* Nor the mean GPU-seconds of a job. */
static double buy_least_gpu_s(const struct buy_point *p, const double *kept, const double *bw_Bps)
{
    double sum_s = 0;
    for (int32_t i = 0; i < p->at.trace.n_mix; i++) {
        const struct place_mix *x = &p->at.trace.mix[i];
        if (p->weight[i] > 0)
            sum_s += p->weight[i] * x->gpus * x->steps * buy_least_step_s(p, i, bw_Bps) / kept[i];
    }
    return sum_s;
}

/* Nor the mean makespan: the last job to end, and all GPU-hours on all GPUs. */
static double buy_least_makespan_s(const struct buy_point *p, int64_t seeds, const double *kept,
                                   const double *bw_Bps)
{
    const struct place_trace *t = &p->at.trace;
    double run_s[PLACE_MAX_MIX] = { 0 }, gpus = buy_gpus(p), sum_s = 0;
    for (int32_t i = 0; i < t->n_mix; i++)
        run_s[i] = t->mix[i].steps * buy_least_step_s(p, i, bw_Bps) / kept[i];
    for (int64_t k = 0; k < seeds; k++) {
        const struct buy_job *jobs = p->jobs + k * p->n_jobs;
        double work_s = 0, last_s = 0;
        for (int32_t i = 0; i < p->n_jobs; i++) {
            work_s += run_s[jobs[i].entry] * t->mix[jobs[i].entry].gpus / gpus;
            last_s = fmax(last_s, jobs[i].submit_s - jobs[0].submit_s + run_s[jobs[i].entry]);
        }
        sum_s += fmax(work_s, last_s);
    }
    return sum_s / (double)seeds;
}

/* ---- points ---- */

/* The question about the network alone. */
static int ask_network(struct buy_point *p, struct err *e)
{
    int rc = place_ask_network(&p->asked, &p->at, DESIGN_FOR_SPLIT, e);
    enum buy_objective o = (enum buy_objective)p->at.file.objective;
    if (!rc && o == BUY_PER_COST && !p->asked.has_parts)
        return yaml_fail(&p->at.doc, yaml_get(&p->at.doc, p->at.doc.root, "objective"), e, ERR_RANGE,
                         "is %s; give parts with prices", buy_objective_names[o]);
    if (!rc && o == BUY_USD_PER_JOB && !p->asked.has_system)
        return yaml_fail(&p->at.doc, yaml_get(&p->at.doc, p->at.doc.root, "objective"), e, ERR_RANGE,
                         "is %s; give system", buy_objective_names[o]);
    if (!rc && o == BUY_KWH_PER_JOB && !p->asked.has_system && isnan(p->at.file.npu_watt))
        return yaml_fail(&p->at.doc, yaml_get(&p->at.doc, p->at.doc.root, "objective"), e, ERR_RANGE,
                         "is %s; give npu_watt, watt of network.npu, or system", buy_objective_names[o]);
    return rc;
}

static int read_point(struct buy_point *p, const struct study *s, int64_t i, struct err *e)
{
    struct sweep_point at;
    sweep_find_point(&at, &s->sweep, i);
    const struct study_source from = study_source_at(p->axes, s, &at);
    int rc = place_study_read(&p->at, &from, e);
    if (!rc)
        rc = ask_network(p, e);
    return rc ? rc : buy_point_build(p, s->seed, s->seeds, e);
}

static int read_points(struct buy_answer *a, const struct study *s, struct err *e)
{
    int64_t n = s->sweep.n_points;
    int rc = 0;
    if (n > MOST_POINTS)
        return err_set(e, ERR_RANGE, "the study has %lld points, expected at most %d", (long long)n,
                       MOST_POINTS);
    a->points = calloc((size_t)n, sizeof(struct buy_point *));
    if (!a->points)
        return err_nomem(e, "points");
    for (int64_t i = 0; i < n && !rc; i++) {
        struct buy_point *p = calloc(1, sizeof *p);
        if (!p)
            return err_nomem(e, "points");
        p->at.doc.root = p->asked.doc.root = -1;
        a->points[a->n_points++] = p;
        rc = read_point(p, s, i, e);
        if (rc && n > 1 && rc != ERR_NOMEM)
            err_wrap(e, "point %lld", (long long)i);
    }
    return rc;
}

static struct buy_point *point_of(const struct buy_answer *a, const struct buy_design *d)
{
    return a->points[d->point];
}

void buy_network(struct topo_network *out, const struct buy_answer *a, const struct buy_design *d)
{
    *out = point_of(a, d)->at.servers.net;
    topo_set_bandwidths(out, d->bw_Bps);
}

bool buy_is_free(const struct buy_answer *a, const struct buy_design *d, int32_t i)
{
    return isnan(point_of(a, d)->at.servers.net.dims[i].bw_Bps);
}

/* ---- designs ---- */

/* With system at its mean power; else NPUs draw what idle ones do at least, and more while jobs hold them. */
static double least_kwh(const struct buy_answer *a, const struct buy_point *p, const struct buy_design *d)
{
    double all_s = buy_least_makespan_s(p, a->seeds, d->kept, d->bw_Bps) / p->n_jobs;
    double held_W = p->at.file.npu_watt, idle_W = p->at.file.idle_watt;
    if (p->asked.has_system)
        return d->money.watt * all_s / KWH_J;
    return (fmin(held_W, idle_W) * buy_gpus(p) * all_s +
            fmax(held_W - idle_W, 0) * buy_least_gpu_s(p, d->kept, d->bw_Bps)) /
           KWH_J;
}

static double find_bound(const struct buy_answer *a, const struct buy_point *p, const struct buy_design *d)
{
    switch (a->objective) {
    case BUY_MAKESPAN:
        return buy_least_makespan_s(p, a->seeds, d->kept, d->bw_Bps);
    case BUY_PER_COST:
        return buy_least_jct_s(p, d->kept, d->bw_Bps) * d->usd;
    case BUY_USD_PER_JOB:
        return buy_least_makespan_s(p, a->seeds, d->kept, d->bw_Bps) / YEAR_S * d->money.usd_year / p->n_jobs;
    case BUY_KWH_PER_JOB:
        return least_kwh(a, p, d);
    default:
        return buy_least_jct_s(p, d->kept, d->bw_Bps);
    }
}

static void buy_free_design(struct buy_design *d)
{
    free(d->runs);
    free(d->kept);
    d->runs = NULL;
    d->kept = NULL;
}

/* A network whose parts are not to be had is no design: @p d then has no runs. Empty after failure. */
static int buy_make_design(struct buy_design *d, const struct buy_answer *a, int64_t point,
                           const double *bw_Bps, struct err *e)
{
    struct buy_point *p = a->points[point];
    *d = (struct buy_design){
        .point = point, .n_dims = p->net.n_dims, .half = NAN, .diff = NAN, .diff_half = NAN
    };
    memcpy(d->bw_Bps, bw_Bps, (size_t)d->n_dims * sizeof *bw_Bps);
    d->usd = p->asked.has_parts ? design_point_usd(&p->asked, bw_Bps, NULL) : (double)NAN;
    if (p->asked.has_parts && isnan(d->usd))
        return 0;
    d->runs = calloc((size_t)a->seeds, sizeof *d->runs);
    d->kept = calloc((size_t)p->at.trace.n_mix, sizeof *d->kept);
    int rc = d->runs && d->kept ? place_settle_system(d->kept, &d->money, &p->at, &p->asked, bw_Bps, e)
                                : err_nomem(e, "designs");
    if (!rc && a->objective == BUY_KWH_PER_JOB && *d->money.dark)
        rc = yaml_fail(&p->at.doc, yaml_get(&p->at.doc, p->at.doc.root, "objective"), e, ERR_RANGE,
                       "is %s; give the watt of \"%s\"", buy_objective_names[a->objective], d->money.dark);
    if (rc)
        buy_free_design(d);
    else
        d->bound = find_bound(a, p, d);
    return rc;
}

static int buy_add_design(struct buy_answer *a, int64_t point, const double *bw_Bps, struct err *e)
{
    struct buy_design d;
    int rc = buy_make_design(&d, a, point, bw_Bps, e);
    if (rc || !d.runs) {
        buy_free_design(&d);
        return rc;
    }
    if (a->n == MOST_DESIGNS)
        rc = err_set(e, ERR_RANGE, "the study leaves more than %d designs; give constraints", MOST_DESIGNS);
    else if (!vec_reserve(a->designs, a->cap, a->n + 1))
        rc = err_nomem(e, "designs");
    if (rc)
        buy_free_design(&d);
    else
        a->designs[a->n++] = d;
    return rc;
}

/* ---- designs that another one rules out before a run ---- */

/* Keys of dimensions that are bandwidth or price and nothing else: with all others alike, jobs are. */
static bool buy_is_of_links(const char *path)
{
    static const char *const ends[] = { ".tier", ".bw_GBps", ".taper", ".max_GBps", ".min_GBps" };
    const char *end = strrchr(path, '.');
    bool is = strcmp(path, "parts") == 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && end && !is; i++)
        is = strncmp(path, "network.dims", 12) == 0 && strcmp(end, ends[i]) == 0;
    return is;
}

/* Do points differ in links alone? A plan that was searched may depend on them. */
static bool differ_in_links(const struct buy_answer *a, const struct study *s, int64_t i, int64_t j)
{
    struct sweep_point x, y;
    if (i == j)
        return true;
    for (int32_t k = 0; k < a->points[i]->at.trace.n_mix; k++)
        if (a->points[i]->at.trace.mix[k].searched)
            return false;
    sweep_find_point(&x, &s->sweep, i);
    sweep_find_point(&y, &s->sweep, j);
    for (int32_t k = 0; k < s->sweep.n_keys; k++) {
        const char *u = sweep_value(&s->sweep, &x, k), *v = sweep_value(&s->sweep, &y, k);
        if ((u != NULL) != (v != NULL) || (u && strcmp(u, v) != 0 && !buy_is_of_links(s->sweep.keys[k].path)))
            return false;
    }
    return true;
}

enum buy_order { BUY_NEITHER, BUY_SAME, BUY_FASTER };

/* Is @p x nowhere slower than @p y? */
static enum buy_order compare_links(const struct buy_answer *a, const struct buy_design *x,
                                    const struct buy_design *y)
{
    bool more = false;
    for (int32_t d = 0; d < x->n_dims; d++) {
        if (x->bw_Bps[d] < y->bw_Bps[d])
            return BUY_NEITHER;
        more = more || x->bw_Bps[d] > y->bw_Bps[d];
    }
    for (int32_t k = 0; k < point_of(a, x)->at.trace.n_mix; k++) {
        if (x->kept[k] < y->kept[k])
            return BUY_NEITHER;
        more = more || x->kept[k] > y->kept[k];
    }
    return more ? BUY_FASTER : BUY_SAME;
}

static bool is_no_dearer(const struct buy_answer *a, const struct buy_design *x, const struct buy_design *y)
{
    bool owned = a->objective == BUY_USD_PER_JOB && !(x->money.usd_year <= y->money.usd_year);
    bool powered = a->objective == BUY_KWH_PER_JOB && x->money.watt > y->money.watt;
    return x->usd <= y->usd && !owned && !powered;
}

/* In order of price, so that whoever rules others out comes before them; equals in their order. */
static int put_aside(struct buy_answer *a, const struct study *s, struct err *e)
{
    struct stat_rank *ranks = malloc((size_t)(a->n + 1) * sizeof *ranks);
    if (!ranks)
        return err_nomem(e, "designs");
    for (int64_t i = 0; i < a->n; i++)
        if (isnan(a->designs[i].usd)) { /* without prices nothing is no dearer */
            free(ranks);
            return 0;
        }
    for (int64_t i = 0; i < a->n; i++)
        ranks[i] = (struct stat_rank){ a->designs[i].usd, i };
    stat_sort_ranks(ranks, a->n);
    for (int64_t i = 0; i < a->n; i++) {
        struct buy_design *y = &a->designs[ranks[i].at];
        for (int64_t j = 0; j < a->n && y->fate == BUY_OPEN && ranks[j].key <= ranks[i].key; j++) {
            const struct buy_design *x = &a->designs[ranks[j].at];
            if (i == j || x->fate != BUY_OPEN || !is_no_dearer(a, x, y))
                continue;
            enum buy_order order = compare_links(a, x, y);
            if (order != BUY_NEITHER && differ_in_links(a, s, x->point, y->point) &&
                (order == BUY_FASTER || j < i))
                y->fate = order == BUY_SAME ? BUY_TWIN : BUY_BEATEN;
        }
    }
    free(ranks);
    return 0;
}

/* A step whose bandwidths are those of the network, in place of what its place has of them. */
static int take_network(struct step_fn *out, const struct buy_point *p, int32_t i, struct err *e)
{
    const struct step_fn *fn = &p->steps[i].of[0]->fn;
    size_t n = (size_t)fn->n_leaves * TOPO_MAX_DIMS;
    double ratio[TOPO_MAX_DIMS];
    *out = *fn;
    out->traffic_B = malloc((n + 1) * sizeof *out->traffic_B);
    if (!out->traffic_B)
        return err_nomem(e, "steps of jobs");
    buy_first_ratio(ratio, p, i);
    for (int32_t l = 0; l < fn->n_leaves; l++)
        for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
            out->traffic_B[(size_t)l * TOPO_MAX_DIMS + (size_t)d] =
                fn->traffic_B[(size_t)l * TOPO_MAX_DIMS + (size_t)d] / (d < p->net.n_dims ? ratio[d] : 1);
    return 0;
}

/* The mean completion of jobs that run alone, each in its first place, as the solver sees it. */
static int join_steps(struct step_fn *out, const struct buy_point *p, struct err *e)
{
    int32_t n_mix = p->at.trace.n_mix, n = 0;
    struct step_fn *own = calloc((size_t)n_mix, sizeof *own);
    const struct step_fn **list = calloc((size_t)n_mix, sizeof(const struct step_fn *));
    double *scale = calloc((size_t)n_mix, sizeof *scale);
    int rc = own && list && scale ? 0 : err_nomem(e, "steps of jobs");
    for (int32_t i = 0; i < n_mix && !rc; i++) {
        if (!(p->weight[i] > 0))
            continue;
        rc = take_network(&own[n], p, i, e);
        list[n] = &own[n];
        scale[n++] = p->weight[i] * p->at.trace.mix[i].steps;
    }
    rc = rc ? rc : step_fn_join(out, list, scale, n, (struct step_join){ 0 }, e);
    for (int32_t i = 0; i < n; i++)
        free(own[i].traffic_B);
    free(own);
    free(list);
    free(scale);
    return rc;
}

/* In fractions of parts one design: the best for jobs that have their links to themselves. */
static int split_point(struct buy_answer *a, int64_t i, struct err *e)
{
    struct buy_point *p = a->points[i];
    struct design_question q;
    struct alloc_answer split;
    struct step_fn step;
    int rc = join_steps(&step, p, e);
    if (rc)
        return rc;
    design_ask(&q, &p->asked);
    q.problem.step = &step;
    q.problem.objective = a->objective == BUY_PER_COST ? ALLOC_PERF_PER_COST : ALLOC_TIME;
    rc = alloc_solve(&split, &q.problem, e);
    if (!rc && !alloc_has_split(&split))
        text_printf(&a->notes, "point %lld: %s\n", (long long)i, split.reason);
    else if (!rc)
        rc = buy_add_design(a, i, split.bw_Bps, e);
    if (!rc)
        alloc_answer_free(&split);
    step_fn_free(&step);
    return rc;
}

/* The most that rows leave dimension @p d, all others having nothing. */
static double most_of_rows(const struct alloc_problem *p, int32_t n_dims, int32_t d)
{
    double most_Bps = INFINITY;
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        bool adds = row->sense != LINEXPR_GE && row->coef[d] > 0;
        for (int32_t k = 0; k < n_dims && adds; k++)
            adds = row->coef[k] >= 0;
        most_Bps = adds ? fmin(most_Bps, row->rhs / row->coef[d]) : most_Bps;
    }
    return most_Bps;
}

static int list_point(struct buy_answer *a, int64_t i, struct err *e)
{
    struct buy_point *p = a->points[i];
    struct design_question q;
    struct whole_list list;
    struct whole_limit limit = { .value = INFINITY };
    design_ask(&q, &p->asked);
    for (int32_t d = 0; d < p->net.n_dims; d++)
        limit.most_Bps[d] = most_of_rows(&q.problem, p->net.n_dims, d);
    int rc = design_list_whole(&list, &p->asked, &q.problem, &limit, e);
    if (!rc && list.too_many)
        rc = yaml_fail(
            &p->at.doc, p->at.doc.root, e, ERR_RANGE,
            "leaves too many whole designs, or nothing limits a bandwidth; give max_GBps or constraints");
    for (int64_t k = 0; k < list.n && !rc; k++) {
        bool wired = true;
        for (int32_t d = 0; d < p->net.n_dims; d++)
            wired = wired && list.list[k].bw_Bps[d] > 0;
        rc = wired ? buy_add_design(a, i, list.list[k].bw_Bps, e) : 0;
    }
    design_list_free(&list);
    return rc;
}

static int list_designs(struct buy_answer *a, struct err *e)
{
    int rc = 0;
    for (int64_t i = 0; i < a->n_points && !rc; i++) {
        struct buy_point *p = a->points[i];
        double bw_Bps[TOPO_MAX_DIMS];
        bool given = topo_has_bandwidths(&p->at.servers.net);
        topo_get_bandwidths(bw_Bps, &p->at.servers.net);
        if (!given)
            rc = (p->asked.pricing == DESIGN_WHOLE ? list_point : split_point)(a, i, e);
        else if (system_broken_row(&p->asked, bw_Bps, ROWS_REL) < 0)
            rc = buy_add_design(a, i, bw_Bps, e);
    }
    return rc;
}

/* ---- runs ---- */

static double value_of(const struct buy_answer *a, const struct buy_design *d, const struct place_result *r)
{
    switch (a->objective) {
    case BUY_MAKESPAN:
        return r->x[PLACE_MAKESPAN];
    case BUY_PER_COST:
        return r->x[PLACE_JCT] * d->usd;
    case BUY_USD_PER_JOB:
        return r->x[PLACE_USD_PER_JOB];
    case BUY_KWH_PER_JOB:
        return r->x[PLACE_KWH_PER_JOB];
    default:
        return r->x[PLACE_JCT];
    }
}

/* A design on one seed, by the study's first scheduler. */
static int run_seed(struct buy_run *out, const struct buy_answer *a, const struct buy_design *d, int64_t seed,
                    struct err *e)
{
    struct place_study at = point_of(a, d)->at;
    struct place_result r = { 0 };
    struct place_mix *mix = malloc((size_t)at.trace.n_mix * sizeof *mix);
    if (!mix)
        return err_nomem(e, "jobs of a mix");
    memcpy(mix, at.trace.mix, (size_t)at.trace.n_mix * sizeof *mix);
    for (int32_t i = 0; i < at.trace.n_mix; i++)
        mix[i].job.kept = d->kept[i];
    at.trace.mix = mix;
    topo_set_bandwidths(&at.servers.net, d->bw_Bps);
    at.n_schedulers = 1;
    at.money = d->money;
    struct place_run run = { .study = &at, .seed = seed };
    for (int m = 0; m < N_PLACE_METRICS; m++)
        r.x[m] = NAN;
    int rc = place_run_all(&r, &run, e);
    free(mix);
    if (rc)
        return rc;
    *out = (struct buy_run){ .jct_s = r.x[PLACE_JCT],
                             .makespan_s = r.x[PLACE_MAKESPAN],
                             .wait_s = r.x[PLACE_WAIT],
                             .stretch = isnan(r.x[PLACE_STRETCH]) ? 1 : r.x[PLACE_STRETCH] };
    out->value = value_of(a, d, &r);
    return 0;
}

struct buy_task {
    struct buy_design *design;
    int64_t k;
};

/* All tasks, on threads; each writes its own place, so that the answer does not depend on their order. */
static int run_tasks(struct buy_answer *a, const struct study *s, const struct buy_task *tasks, int64_t n,
                     int32_t threads, struct err *e)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t i = 0; i < n; i++) {
        struct buy_design *d = tasks[i].design;
        struct err inner = { 0 };
        int so_far;
#pragma omp atomic read
        so_far = failed;
        int rc = so_far ? so_far : work_check(&inner);
        if (!rc)
            rc = run_seed(&d->runs[tasks[i].k], a, d, s->seed + tasks[i].k, &inner);
        if (rc) {
#pragma omp critical(buy)
            if (!failed) {
                *e = inner;
#pragma omp atomic write
                failed = rc;
            }
        }
    }
    a->n_runs += n;
    return failed;
}

static void find_mean(struct buy_design *d)
{
    struct buy_run sum = { 0 };
    for (int64_t k = 0; k < d->n_run; k++) {
        sum.value += d->runs[k].value;
        sum.jct_s += d->runs[k].jct_s;
        sum.makespan_s += d->runs[k].makespan_s;
        sum.wait_s += d->runs[k].wait_s;
        sum.stretch += d->runs[k].stretch;
    }
    double n = (double)d->n_run;
    d->mean =
        (struct buy_run){ sum.value / n, sum.jct_s / n, sum.makespan_s / n, sum.wait_s / n, sum.stretch / n };
    d->half = stat_mean(&d->runs[0].value, d->n_run, sizeof *d->runs / sizeof(double)).half;
}

/* Bring the designs of @p which, shape [n], to @p seeds runs each. */
static int run_to(struct buy_answer *a, const struct study *s, const int64_t *which, int64_t n, int64_t seeds,
                  int32_t threads, struct err *e)
{
    int64_t n_tasks = 0;
    struct buy_task *tasks = malloc((size_t)(n * seeds + 1) * sizeof *tasks);
    if (!tasks)
        return err_nomem(e, "runs");
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = a->designs[which[i]].n_run; k < seeds; k++)
            tasks[n_tasks++] = (struct buy_task){ &a->designs[which[i]], k };
    int rc = run_tasks(a, s, tasks, n_tasks, threads, e);
    for (int64_t i = 0; i < n && !rc; i++) {
        struct buy_design *d = &a->designs[which[i]];
        d->n_run = d->n_run > seeds ? d->n_run : seeds;
        d->fate = d->n_run == a->seeds ? BUY_RAN : d->fate;
        find_mean(d);
    }
    free(tasks);
    return rc;
}

/* ---- which is best ---- */

/* Less value, then cheaper, then earlier. */
static bool is_better(const struct buy_answer *a, int64_t i, int64_t j)
{
    const struct buy_design *x = &a->designs[i], *y = &a->designs[j];
    double slack = SAME_REL * fabs(y->mean.value);
    if (fabs(x->mean.value - y->mean.value) > slack)
        return x->mean.value < y->mean.value;
    if (x->usd < y->usd || x->usd > y->usd)
        return x->usd < y->usd;
    return i < j;
}

/* The differences to design @p to on the first @p n seeds. */
static struct stat_mean find_diff(const struct buy_design *d, const struct buy_design *to, int64_t n,
                                  double *x)
{
    for (int64_t k = 0; k < n; k++)
        x[k] = d->runs[k].value - to->runs[k].value;
    return stat_mean(x, n, 1);
}

static int64_t find_best(const struct buy_answer *a)
{
    int64_t best = -1;
    for (int64_t i = 0; i < a->n; i++)
        if (a->designs[i].fate == BUY_RAN && (best < 0 || is_better(a, i, best)))
            best = i;
    return best;
}

/* Rule out by bounds; @return how many are still open, in @p open. */
static int64_t rule_out(struct buy_answer *a, int64_t *open)
{
    int64_t n = 0;
    a->best = find_best(a);
    for (int64_t i = 0; i < a->n; i++) {
        struct buy_design *d = &a->designs[i];
        if ((d->fate == BUY_OPEN || d->fate == BUY_BEATEN) && a->best >= 0 &&
            d->bound > a->designs[a->best].mean.value * (1 + SAME_REL))
            d->fate = BUY_BOUND;
        if (d->fate == BUY_OPEN)
            open[n++] = i;
    }
    return n;
}

/* Those that are worse on the seeds they ran, by more than chance. One that is equal on each of them is kept.
 */
static void drop(struct buy_answer *a, const int64_t *open, int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) {
        struct buy_design *d = &a->designs[open[i]];
        if (d->fate != BUY_OPEN || d->n_run < 3)
            continue;
        struct stat_mean m = find_diff(d, &a->designs[a->best], d->n_run, x);
        double dof = (double)(d->n_run - 1);
        double half = m.half / stat_student(0.975, dof) * stat_student(CHANCE, dof);
        if (m.mean > half)
            d->fate = BUY_DROPPED;
    }
}

/* Open designs that have the least bounds, at most @p most of them. */
static int64_t first_by_bound(const struct buy_answer *a, int64_t *which, int64_t most)
{
    int64_t n = 0;
    for (int64_t i = 0; i < a->n; i++) {
        if (a->designs[i].fate != BUY_OPEN)
            continue;
        int64_t at = n < most ? n++ : most;
        for (; at > 0 && a->designs[which[at - 1]].bound > a->designs[i].bound; at--)
            if (at < most)
                which[at] = which[at - 1];
        if (at < most)
            which[at] = i;
    }
    return n;
}

/* The best, after as many runs as it takes. */
static int race(struct buy_answer *a, const struct study *s, int32_t threads, int64_t *room, double *x,
                struct err *e)
{
    int64_t n = first_by_bound(a, room, 1);
    int rc = run_to(a, s, room, n, a->seeds, threads, e);
    for (int64_t stage = FIRST_SEEDS; !rc; stage *= 2) {
        n = rule_out(a, room);
        if (n == 0)
            return 0;
        rc = run_to(a, s, room, n, stage < a->seeds ? stage : a->seeds, threads, e);
        if (rc)
            return rc;
        a->best = find_best(a);
        drop(a, room, n, x);
    }
    return rc;
}

/* Where they alone stand between the answer and its proof, designs that were put aside are run after all. */
static int run_beaten(struct buy_answer *a, const struct study *s, int32_t threads, int64_t *which,
                      struct err *e)
{
    int64_t n = 0;
    rule_out(a, which);
    for (int64_t i = 0; i < a->n; i++) {
        if (a->designs[i].fate == BUY_DROPPED)
            return 0;
        if (a->designs[i].fate == BUY_BEATEN)
            which[n++] = i;
    }
    return run_to(a, s, which, n, a->seeds, threads, e);
}

/* ---- steps down ---- */

static int by_price(const void *x, const void *y)
{
    const struct stat_rank *a = x, *b = y;
    return stat_before(a, b) ? -1 : stat_before(b, a);
}

/* Designs that no cheaper one is sure to beat, the cheapest first: those with a bound below the bounds of all
 * cheaper ones. At most MOST_FRONT of them, evenly spread. */
static int run_front(struct buy_answer *a, const struct study *s, int32_t threads, int64_t *which,
                     struct err *e)
{
    struct stat_rank *ranks = malloc((size_t)a->n * sizeof *ranks);
    int64_t n = 0, n_ranks = 0;
    double least = INFINITY;
    if (!ranks)
        return err_nomem(e, "designs");
    for (int64_t i = 0; i < a->n; i++) {
        const struct buy_design *d = &a->designs[i];
        bool aside = d->fate == BUY_TWIN || d->fate == BUY_BEATEN;
        if (!aside && d->usd <= a->designs[a->best].usd)
            ranks[n_ranks++] = (struct stat_rank){ d->usd, i };
    }
    qsort(ranks, (size_t)n_ranks, sizeof *ranks, by_price);
    for (int64_t i = 0; i < n_ranks; i++)
        if (a->designs[ranks[i].at].bound < least) {
            least = a->designs[ranks[i].at].bound;
            which[n++] = ranks[i].at;
        }
    free(ranks);
    int64_t kept = n < MOST_FRONT ? n : MOST_FRONT;
    for (int64_t i = 0; i < kept; i++)
        which[i] = which[kept > 1 ? i * (n - 1) / (kept - 1) : 0];
    return run_to(a, s, which, kept, a->seeds, threads, e);
}

static void mark_front(struct buy_answer *a)
{
    for (int64_t i = 0; i < a->n; i++) {
        struct buy_design *d = &a->designs[i];
        d->on_front = d->fate == BUY_RAN;
        for (int64_t j = 0; j < a->n && d->on_front; j++) {
            const struct buy_design *o = &a->designs[j];
            bool beats = o->fate == BUY_RAN && o->usd <= d->usd && is_better(a, j, i);
            d->on_front = j == i || !beats;
        }
    }
}

/* ---- what is known ---- */

static void buy_compare(struct buy_answer *a, double *x)
{
    const struct buy_design *best = &a->designs[a->best];
    for (int64_t i = 0; i < a->n; i++) {
        struct buy_design *d = &a->designs[i];
        a->n_fates[d->fate]++;
        if (d->n_run == 0)
            continue;
        struct stat_mean m = find_diff(d, best, d->n_run, x);
        d->diff = m.mean;
        d->diff_half = m.half;
        for (int64_t k = 0; k < d->n_run; k++)
            d->wins += x[k] < 0;
    }
}

/* Fractions of parts have a bound where jobs run alone only: then it is that of the split. */
static void buy_judge(struct buy_answer *a)
{
    const struct buy_design *best = &a->designs[a->best];
    bool whole = true;
    a->bound = INFINITY;
    for (int64_t i = 0; i < a->n; i++)
        a->bound = fmin(a->bound,
                        a->designs[i].fate == BUY_RAN ? fmax(a->designs[i].bound, 0) : a->designs[i].bound);
    for (int64_t i = 0; i < a->n_points; i++) {
        const struct buy_point *p = a->points[i];
        whole = whole && (topo_has_bandwidths(&p->at.servers.net) || p->asked.pricing == DESIGN_WHOLE);
    }
    double gap = (best->mean.value - a->bound) / best->mean.value;
    a->regime = best->mean.stretch > 1 + SAME_REL ? BUY_SHARED
                : best->mean.wait_s > 0           ? BUY_QUEUE
                                                  : BUY_ALONE;
    bool met = gap <= SAME_REL;
    /* Fractions are split for these two alone. */
    bool split = a->objective == BUY_COMPLETION || a->objective == BUY_PER_COST;
    if (!whole && !split)
        met = false;
    if (!whole && !(a->regime == BUY_ALONE && met))
        a->bound = NAN;
    a->gap = (best->mean.value - a->bound) / best->mean.value;
    a->proved = met || (whole && a->n_fates[BUY_DROPPED] == 0 && a->n_fates[BUY_BEATEN] == 0);
}

/* Beside the best design, at its point, what an even share of as much bandwidth would come to. */
static int run_equal(struct buy_answer *a, const struct study *s, int32_t threads, double *x, struct err *e)
{
    const struct buy_design *best = &a->designs[a->best];
    const struct design_point *q = &point_of(a, best)->asked;
    struct buy_equal *even = &a->equal;
    double bw_Bps[TOPO_MAX_DIMS];
    double total_Bps = isnan(q->total_Bps) ? design_point_total_Bps(q, best->bw_Bps) : q->total_Bps;
    if (topo_has_bandwidths(&point_of(a, best)->at.servers.net) ||
        !design_equal_split(bw_Bps, &even->each_Bps, q, total_Bps))
        return 0;
    even->is = even->best = true;
    for (int32_t d = 0; d < best->n_dims; d++)
        even->best = even->best && fabs(bw_Bps[d] - best->bw_Bps[d]) <= SAME_REL * best->bw_Bps[d];
    if (even->best)
        return 0;
    int rc = buy_make_design(&even->design, a, best->point, bw_Bps, e);
    even->is = !rc && even->design.runs;
    if (!even->is)
        return rc;
    struct buy_task *tasks = malloc((size_t)a->seeds * sizeof *tasks);
    if (!tasks)
        return err_nomem(e, "runs");
    for (int64_t k = 0; k < a->seeds; k++)
        tasks[k] = (struct buy_task){ &even->design, k };
    rc = run_tasks(a, s, tasks, a->seeds, threads, e);
    free(tasks);
    if (rc)
        return rc;
    even->design.n_run = a->seeds;
    find_mean(&even->design);
    struct stat_mean m = find_diff(&even->design, best, a->seeds, x);
    even->design.diff = m.mean;
    even->design.diff_half = m.half;
    return 0;
}

static int find_alone(struct buy_answer *a, struct err *e)
{
    const struct buy_design *best = &a->designs[a->best];
    const struct buy_point *of = point_of(a, best);
    a->alone = calloc((size_t)of->at.trace.n_mix, sizeof *a->alone);
    if (!a->alone)
        return err_nomem(e, "jobs of a mix");
    for (int32_t i = 0; i < of->at.trace.n_mix; i++) {
        struct buy_alone *x = &a->alone[a->n_alone++];
        *x = (struct buy_alone){ .name = of->at.trace.mix[i].name,
                                 .weight = of->weight[i],
                                 .best_s = INFINITY };
        x->step_s = buy_step_s(of, i, best->bw_Bps) / best->kept[i];
        for (int64_t k = 0; k < a->n; k++) {
            const struct buy_design *d = &a->designs[k];
            if (i >= point_of(a, d)->at.trace.n_mix)
                continue;
            double s = buy_step_s(point_of(a, d), i, d->bw_Bps) / d->kept[i];
            bool same = s <= x->best_s * (1 + SAME_REL);
            if (s < x->best_s * (1 - SAME_REL) || (same && d->usd < a->designs[x->design].usd)) {
                x->best_s = s;
                x->design = k;
            }
        }
    }
    return 0;
}

static int decide(struct buy_answer *a, const struct study *s, int32_t threads, struct err *e)
{
    int64_t *room = malloc((size_t)(a->n + 1) * sizeof *room);
    double *x = malloc((size_t)a->seeds * sizeof *x);
    int rc = room && x ? race(a, s, threads, room, x, e) : err_nomem(e, "designs");
    rc = rc ? rc : run_beaten(a, s, threads, room, e);
    rc = rc ? rc : run_front(a, s, threads, room, e);
    if (!rc) {
        a->best = find_best(a);
        mark_front(a);
        buy_compare(a, x);
        buy_judge(a);
        rc = find_alone(a, e);
        rc = rc ? rc : run_equal(a, s, threads, x, e);
    }
    free(room);
    free(x);
    return rc;
}

int buy_find(struct buy_answer *out, struct study *study, const struct study_source *from, int32_t threads,
             struct err *e)
{
    *out = (struct buy_answer){ .best = -1, .bound = NAN, .gap = NAN };
    *study = (struct study){ .seed = 0 };
    const struct study_ask open = { .from = *from, .kind = &place_kind };
    int rc = study_open(study, &open, e);
    if (rc)
        return rc;
    out->seeds = study->seeds;
    rc = read_points(out, study, e);
    if (rc)
        return rc;
    const struct place_study *first = &out->points[0]->at;
    out->objective = (enum buy_objective)first->file.objective;
    out->scheduler = place_ops_of(first->model)->scheduler(first->schedulers[0]);
    if (first->n_schedulers > 1)
        text_printf(&out->notes, "schedulers: networks are held against each other under the first one, %s\n",
                    out->scheduler);
    rc = list_designs(out, e);
    if (!rc)
        rc = put_aside(out, study, e);
    if (!rc && out->n > 0)
        rc = decide(out, study, threads, e);
    return rc ? rc : text_check(&out->notes, e);
}

void buy_free(struct buy_answer *a)
{
    for (int64_t i = 0; i < a->n; i++)
        buy_free_design(&a->designs[i]);
    buy_free_design(&a->equal.design);
    free(a->designs);
    free(a->alone);
    for (int64_t i = 0; i < a->n_points; i++) {
        buy_point_free(a->points[i]);
        free(a->points[i]);
    }
    free(a->points);
    text_free(&a->notes);
    *a = (struct buy_answer){ .best = -1 };
}
