#include "sim/slots/elastic_draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams of one seed: below 2^32 all differ. Rounding draws from the slot's number. */
#define RACK_STREAM   UINT64_C(0x40000000)
#define JOB_STREAM    UINT64_C(0x80000000)
#define DEMAND_STREAM UINT64_C(0xc0000000)

/* The paper's links and bandwidths are in bits. */
#define Gbps (1e9 / 8)
#define Mbps (1e6 / 8)

/* ---- racks ---- */

/* Shares of `total` in proportion to the GPUs drawn: whole parts, then one each for the largest remainders.
 */
static int scale_gpus(double *gpus, int32_t n, int64_t total, struct err *e)
{
    double sum = 0, given = 0;
    double *rest = malloc((size_t)n * sizeof *rest);
    if (!rest)
        return err_nomem(e, "GPUs of servers");
    for (int32_t s = 0; s < n; s++)
        sum += gpus[s];
    for (int32_t s = 0; s < n; s++) {
        double share = gpus[s] * (double)total / sum;
        gpus[s] = floor(share);
        rest[s] = share - gpus[s];
        given += gpus[s];
    }
    for (int64_t more = total - (int64_t)given; more > 0; more--) {
        int32_t best = 0;
        for (int32_t s = 1; s < n; s++)
            best = rest[s] > rest[best] ? s : best;
        gpus[best]++;
        rest[best] = -1;
    }
    free(rest);
    return 0;
}

/* What is drawn for a cluster of racks. */
struct racks_draft {
    int32_t *rack;
    double *server_Bps, *rack_Bps, *gpus;
};

static void draft_free(struct racks_draft *x)
{
    free(x->rack);
    free(x->server_Bps);
    free(x->rack_Bps);
    free(x->gpus);
}

static int draft_racks(struct racks_draft *x, int32_t *n_racks, const struct draw_racks *d, struct rng *r,
                       struct err *e)
{
    int32_t n = (int32_t)d->servers;
    *n_racks = (int32_t)draw_whole(r, d->racks);
    *n_racks = *n_racks > n ? n : *n_racks;
    int32_t n_pairs = *n_racks * (*n_racks - 1) / 2;
    *x = (struct racks_draft){ .rack = malloc((size_t)n * sizeof *x->rack),
                               .server_Bps = malloc((size_t)n * sizeof *x->server_Bps),
                               .rack_Bps = malloc(((size_t)n_pairs + 1) * sizeof *x->rack_Bps),
                               .gpus = malloc((size_t)n * sizeof *x->gpus) };
    if (!x->rack || !x->server_Bps || !x->rack_Bps || !x->gpus)
        return err_nomem(e, "racks");
    for (int32_t s = 0; s < n; s++) {
        /* A rack that nobody was drawn into would be a switch without servers: the first ones fill all. */
        x->rack[s] = s < *n_racks ? s : (int32_t)rng_below(r, *n_racks);
        x->gpus[s] = d->gpus[rng_below(r, d->n_gpus)];
        x->server_Bps[s] =
            draw_whole(r, (struct draw_range){ d->server_Bps.lo / Gbps, d->server_Bps.hi / Gbps });
        x->server_Bps[s] *= Gbps * d->link_scale;
    }
    for (int32_t i = 0; i < n_pairs; i++) {
        x->rack_Bps[i] = draw_whole(r, (struct draw_range){ d->rack_Bps.lo / Gbps, d->rack_Bps.hi / Gbps });
        x->rack_Bps[i] *= Gbps * d->link_scale;
    }
    return d->total_gpus >= 0 ? scale_gpus(x->gpus, n, d->total_gpus, e) : 0;
}

int draw_racks(struct cluster *c, const struct draw_racks *d, int64_t seed, struct err *e)
{
    static const char *const names[] = { "gpu" };
    struct racks_draft x = { 0 };
    struct rng *r;
    int32_t n_racks = 0;
    *c = (struct cluster){ 0 };
    int rc = rng_build(&r, (uint64_t)seed, RACK_STREAM, e);
    if (!rc)
        rc = draft_racks(&x, &n_racks, d, r, e);
    if (!rc) {
        const struct cluster_racks racks = { .n_servers = (int32_t)d->servers,
                                             .n_racks = n_racks,
                                             .rack = x.rack,
                                             .server_Bps = x.server_Bps,
                                             .rack_Bps = x.rack_Bps,
                                             .lat_s = d->lat_s };
        const struct cluster_offer offer = { 1, names, x.gpus, true };
        rc = cluster_build_racks(c, &racks, &offer, e);
    }
    draft_free(&x);
    rng_free(r);
    return rc;
}

/* ---- jobs ---- */

int draw_set_utility(struct elastic_job *job, const struct draw_elastic *d, const struct draw_taste *taste,
                     double most, struct err *e)
{
    int rc = utility_build(&job->report, (enum utility_kind)d->utility, taste->scale, taste->slope,
                           taste->middle, most, e);
    job->aim = job->report;
    if (!rc && job->report.kind == UTILITY_SIGMOID && !d->aim_literal)
        rc = utility_build(&job->aim, UTILITY_SIGMOID_ENVELOPE, taste->scale, taste->slope, taste->middle,
                           most, e);
    return rc;
}

static struct draw_taste draw_taste(const struct draw_elastic *d, struct rng *r)
{
    struct draw_taste taste = { .scale = draw_whole(r, d->scale) };
    /* (0, 1) is open in the paper, and a sigmoid without slope is none. */
    taste.slope = fmax(draw_real(r, d->slope), 1e-6);
    taste.middle = draw_whole(r, d->middle);
    return taste;
}

/* A quotient that a rounding error lifted above a whole number is that number. */
static double whole_above(double x)
{
    return ceil(x * (1 - 1e-12));
}

/* Entries of a job's table of gains. */
static size_t gain_width(const struct draw_elastic *d)
{
    return (size_t)fmax(d->workers.hi, d->fixed.hi) + 1;
}

/* Table of gains by the time of an iteration; *zeta is what a worker-slot gives with the most workers, *best
 * with the number for which that is most. */
static int fill_gains(double *gain, double *zeta, double *best, const struct elastic_job *j,
                      const struct draw_elastic *d, struct err *e)
{
    struct ring_time t = d->ring;
    int32_t most = j->fixed_workers > j->max_workers ? j->fixed_workers : j->max_workers;
    t.hop_Bps = j->hop_Bps;
    int rc = ring_time_gains(gain, &t, (enum ring_batch)d->batch, d->slot_s, most, e);
    if (rc)
        return rc;
    *zeta = gain[j->max_workers] / j->max_workers;
    *best = 0;
    for (int32_t w = 1; w <= most; w++)
        *best = fmax(*best, gain[w] / w);
    if (!(*zeta > 0))
        return err_set(e, ERR_RANGE,
                       "job %s: an iteration on %d workers takes %g s, need at most a slot, %g s", j->id,
                       (int)j->max_workers,
                       ring_time_iteration_s(&t, (enum ring_batch)d->batch, j->max_workers), d->slot_s);
    return 0;
}

static int draw_job(struct elastic_job *j, struct draw_taste *taste, const struct draw_elastic *d,
                    int32_t n_slots, double *gain, struct rng *r, struct err *e)
{
    double last = fmax(1, floor(0.8 * n_slots));
    *j = (struct elastic_job){ .id = j->id, .leave_frac = d->leave_frac, .gain = gain };
    j->max_workers = (int32_t)draw_whole(r, d->workers);
    j->fixed_workers = (int32_t)draw_whole(r, d->fixed);
    if (d->clamp_fixed && j->fixed_workers > j->max_workers)
        j->fixed_workers = j->max_workers;
    double iterations = draw_whole(r, d->iterations);
    j->zeta = draw_whole(r, d->zeta) * d->zeta_scale;
    j->hop_Bps = draw_whole(r, (struct draw_range){ d->hop_Bps.lo / Mbps, d->hop_Bps.hi / Mbps }) * Mbps;
    j->demand[0] = d->gpus;
    double zeta = j->zeta, best = zeta;
    int rc = gain ? fill_gains(gain, &zeta, &best, j, d, e) : 0;
    if (rc)
        return rc;
    j->budget = d->budget == DRAW_BUDGET_LITERAL ? iterations : whole_above(iterations / zeta);
    *taste = draw_taste(d, r);
    rc = draw_set_utility(j, d, taste, j->budget * best, e);
    /* Last, so that jobs which come at once are those that would come one by one. */
    j->arrival = d->arrivals == DRAW_UNIFORM ? (int32_t)draw_whole(r, (struct draw_range){ 1, last }) : 1;
    return rc;
}

/* Exponential gaps whose mean spreads all jobs over 0.8 of the run. */
static int draw_poisson(struct draw_jobs *out, int32_t n_slots, int64_t seed, struct err *e)
{
    double last = fmax(1, floor(0.8 * n_slots)), at = 1;
    struct rng *r;
    int rc = rng_build(&r, (uint64_t)seed, RACK_STREAM + 1, e);
    for (int32_t i = 0; i < out->n && !rc; i++) {
        out->jobs[i].arrival = (int32_t)fmin(at, last);
        at += -log1p(-rng_uniform(r)) * (last - 1) / out->n;
    }
    rng_free(r);
    return rc;
}

int draw_elastic_jobs(struct draw_jobs *out, const struct draw_elastic *d, int32_t n_slots, int64_t seed,
                      struct err *e)
{
    int rc = 0;
    *out = (struct draw_jobs){ .n = (int32_t)d->count };
    out->jobs = calloc((size_t)out->n + 1, sizeof *out->jobs);
    out->ids = calloc((size_t)out->n + 1, sizeof *out->ids);
    size_t width = gain_width(d);
    if (d->progress == DRAW_TAU)
        out->gains = calloc((size_t)out->n + 1, width * sizeof *out->gains);
    out->tastes = calloc((size_t)out->n + 1, sizeof *out->tastes);
    if (!out->jobs || !out->ids || !out->tastes || (d->progress == DRAW_TAU && !out->gains))
        rc = err_nomem(e, "jobs");
    for (int32_t i = 0; i < out->n && !rc; i++) {
        struct rng *r;
        snprintf(out->ids[i], sizeof out->ids[i], "job%d", (int)i);
        out->jobs[i].id = out->ids[i];
        rc = rng_build(&r, (uint64_t)seed, JOB_STREAM + (uint64_t)i, e);
        if (!rc)
            rc = draw_job(&out->jobs[i], &out->tastes[i], d, n_slots,
                          out->gains ? out->gains + (size_t)i * width : NULL, r, e);
        rng_free(r);
    }
    if (!rc && d->arrivals == DRAW_POISSON)
        rc = draw_poisson(out, n_slots, seed, e);
    if (rc)
        draw_jobs_free(out);
    return rc;
}

void draw_jobs_free(struct draw_jobs *x)
{
    free(x->jobs);
    free(x->ids);
    free(x->gains);
    free(x->tastes);
    *x = (struct draw_jobs){ 0 };
}

static int32_t find_resource(const struct cluster *c, const char *name)
{
    for (int32_t r = 0; r < c->n_resources; r++)
        if (strcmp(c->resources[r], name) == 0)
            return r;
    return -1;
}

int draw_demands(struct draw_jobs *jobs, const struct draw_elastic *d, const struct cluster *c, int64_t seed,
                 struct err *e)
{
    int32_t at[CLUSTER_MAX_RESOURCES];
    for (int32_t k = 0; k < d->n_demands; k++) {
        at[k] = find_resource(c, d->demands[k].name);
        if (at[k] < 0)
            return err_set(e, ERR_RANGE, "jobs.demand: %s is no resource of the servers, need one of them",
                           d->demands[k].name);
    }
    for (int32_t i = 0; i < jobs->n && d->n_demands; i++) {
        struct rng *r;
        int rc = rng_build(&r, (uint64_t)seed, DEMAND_STREAM + (uint64_t)i, e);
        if (rc)
            return rc;
        for (int32_t k = 0; k < d->n_demands; k++)
            jobs->jobs[i].demand[at[k]] = draw_real(r, d->demands[k].range);
        rng_free(r);
    }
    return 0;
}
