/*
 * Lower bounds of a cluster study, from steps alone. Whatever place a job gets, its step is a step of one of
 * the shapes below, at bandwidths no higher than these: the same number of its GPUs on each of its servers,
 * or pieces of their common divisor (sim/cluster/footprint.h), and links that groups share so free that only
 * its own ports limit it. No job ends before it came and ran so long; and GPU-hours need GPUs.
 */
#include "kinds/place/buy_bound.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "sim/cluster/footprint.h"

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
    if (!vec_reserve(x->out->steps, x->cap, x->out->n + 1))
        return err_nomem(e, "steps of jobs");
    x->out->steps[x->out->n++].of = step;
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

int buy_point_build(struct buy_point *p, int64_t seed, int64_t seeds, struct err *e)
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
    p->steps = calloc((size_t)t->n_mix, sizeof *p->steps);
    p->weight = calloc((size_t)t->n_mix, sizeof *p->weight);
    p->jobs = calloc((size_t)seeds * (size_t)p->n_jobs, sizeof *p->jobs);
    if (!p->steps || !p->weight || !p->jobs)
        return err_nomem(e, "jobs of a mix");
    int rc = job_steps_build(&p->kept, &p->net, s->servers.level, e);
    for (int32_t i = 0; i < t->n_mix && !rc; i++)
        rc = find_steps(p, i, e);
    return rc ? rc : draw_jobs(p, seed, seeds, e);
}

void buy_point_free(struct buy_point *p)
{
    for (int32_t i = 0; i < p->at.trace.n_mix && p->steps; i++)
        free(p->steps[i].steps);
    free(p->steps);
    free(p->weight);
    free(p->jobs);
    job_steps_free(p->kept);
    design_point_free(&p->asked);
    place_study_free(&p->at);
}

double buy_gpus(const struct buy_point *p)
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

void buy_first_ratio(double *ratio, const struct buy_point *p, int32_t i)
{
    find_ratio(ratio, p, p->steps[i].steps[0].of);
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

double buy_step_s(const struct buy_point *p, int32_t i, const double *bw_Bps)
{
    return step_at(p, p->steps[i].steps[0].of, bw_Bps, false);
}

double buy_least_step_s(const struct buy_point *p, int32_t i, const double *bw_Bps)
{
    double least_s = INFINITY;
    for (int32_t k = 0; k < p->steps[i].n; k++)
        least_s = fmin(least_s, step_at(p, p->steps[i].steps[k].of, bw_Bps, true));
    return least_s;
}

double buy_least_jct_s(const struct buy_point *p, const double *kept, const double *bw_Bps)
{
    double sum_s = 0;
    for (int32_t i = 0; i < p->at.trace.n_mix; i++)
        if (p->weight[i] > 0)
            sum_s += p->weight[i] * p->at.trace.mix[i].steps * buy_least_step_s(p, i, bw_Bps) / kept[i];
    return sum_s;
}

double buy_least_gpu_s(const struct buy_point *p, const double *kept, const double *bw_Bps)
{
    double sum_s = 0;
    for (int32_t i = 0; i < p->at.trace.n_mix; i++) {
        const struct place_mix *x = &p->at.trace.mix[i];
        if (p->weight[i] > 0)
            sum_s += p->weight[i] * x->gpus * x->steps * buy_least_step_s(p, i, bw_Bps) / kept[i];
    }
    return sum_s;
}

double buy_least_makespan_s(const struct buy_point *p, int64_t seeds, const double *kept,
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
