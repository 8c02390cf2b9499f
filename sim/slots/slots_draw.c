/*
 * Clusters of racks and jobs in slots drawn as in GADGET's experiments (arXiv 2202.01158 section VI), and the
 * keys of both. What is drawn of a job depends on the seed and its number alone (but for Poisson arrivals,
 * which add up), so that more jobs leave the first ones as they are; every number is drawn, used or not, so
 * that one key moves no other draw.
 */
#include "sim/slots/slots_draw.h"

#include <math.h>
#include <stddef.h>
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
static int racks_scale_gpus(double *gpus, int32_t n, int64_t total, struct err *e)
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
    /* Fewer than servers are left over. Of equal remainders the lowest server comes first. */
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
    struct arena arena;
    int32_t *rack;
    double *server_Bps, *rack_Bps, *gpus;
};

static int racks_draft(struct racks_draft *x, int32_t *n_racks, const struct draw_racks *d, struct rng *r,
                       struct err *e)
{
    int32_t n = (int32_t)d->servers;
    *n_racks = (int32_t)draw_whole(r, d->racks);
    *n_racks = *n_racks > n ? n : *n_racks;
    /* 10,000 racks at most: the product fits. */
    int32_t n_pairs = *n_racks * (*n_racks - 1) / 2;
    x->rack = ARENA_TAKE(&x->arena, n, *x->rack);
    x->server_Bps = ARENA_TAKE(&x->arena, n, *x->server_Bps);
    x->rack_Bps = ARENA_TAKE(&x->arena, n_pairs, *x->rack_Bps);
    x->gpus = ARENA_TAKE(&x->arena, n, *x->gpus);
    int rc = arena_check(&x->arena, "racks", e);
    if (rc)
        return rc;
    for (int32_t s = 0; s < n; s++) {
        /* A rack that nobody was drawn into would be a switch without servers: the first ones fill all. */
        x->rack[s] = s < *n_racks ? s : (int32_t)rng_below(r, *n_racks);
        x->gpus[s] = d->gpus[rng_below(r, d->n_gpus)];
        /* Whole Gbps are drawn, as in the paper, and scaled then. */
        x->server_Bps[s] =
            draw_whole(r, (struct draw_range){ d->server_Bps.lo / Gbps, d->server_Bps.hi / Gbps });
        x->server_Bps[s] *= Gbps * d->link_scale;
    }
    for (int32_t i = 0; i < n_pairs; i++) {
        x->rack_Bps[i] = draw_whole(r, (struct draw_range){ d->rack_Bps.lo / Gbps, d->rack_Bps.hi / Gbps });
        x->rack_Bps[i] *= Gbps * d->link_scale;
    }
    return d->total_gpus >= 0 ? racks_scale_gpus(x->gpus, n, d->total_gpus, e) : 0;
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
        rc = racks_draft(&x, &n_racks, d, r, e);
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
    arena_free(&x.arena);
    rng_free(r);
    return rc;
}

/* ---- jobs ---- */

int draw_set_utility(struct elastic_job *job, const struct draw_elastic *d, const struct draw_taste *taste,
                     double most, struct err *e)
{
    int rc = utility_build(&job->report, d->utility, taste->scale, taste->slope, taste->middle, most, e);
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
static double draw_whole_above(double x)
{
    return ceil(x * (1 - 1e-12));
}

/* Entries of a job's table of gains. */
static size_t draw_gain_width(const struct draw_elastic *d)
{
    size_t rows = d->progress == DRAW_LINKS ? N_ELASTIC_RATES : 1;
    return rows * ((size_t)fmax(d->workers.hi, d->fixed.hi) + 1);
}

/* Table of gains by the time of an iteration; *zeta is what a worker-slot gives with the most workers, *best
 * with the number for which that is most. */
static int draw_gains(double *gain, double *zeta, double *best, const struct elastic_job *j,
                      const struct draw_elastic *d, struct err *e)
{
    struct ring_time t = d->ring;
    int32_t most = j->fixed_workers > j->max_workers ? j->fixed_workers : j->max_workers;
    int rc = 0;
    *best = 0;
    for (int r = 0; r < (j->offers_rates ? N_ELASTIC_RATES : 1) && !rc; r++) {
        double *row = gain + (ptrdiff_t)r * (most + 1);
        t.hop_Bps = r == ELASTIC_INSIDE ? d->inner_Bps : elastic_at_rate(j, (enum elastic_rate)r).hop_Bps;
        rc = ring_time_gains(row, &t, d->batch, d->slot_s, most, e);
        for (int32_t w = 1; w <= most && !rc; w++)
            *best = fmax(*best, row[w] / w);
    }
    if (rc)
        return rc;
    *zeta = gain[j->max_workers] / j->max_workers;
    t.hop_Bps = j->hop_Bps;
    if (!(*zeta > 0))
        return err_set(e, ERR_RANGE,
                       "job %s: an iteration on %d workers takes %g s, expected at most a slot, %g s", j->id,
                       (int)j->max_workers, ring_time_iteration_s(&t, d->batch, j->max_workers), d->slot_s);
    return 0;
}

static int draw_elastic_job(struct elastic_job *j, struct draw_taste *taste, const struct draw_elastic *d,
                            int32_t n_slots, double *gain, struct rng *r, struct err *e)
{
    double last = fmax(1, floor(0.8 * n_slots));
    *j = (struct elastic_job){
        .id = j->id, .leave_frac = d->leave_frac, .gain = gain, .offers_rates = d->progress == DRAW_LINKS
    };
    j->max_workers = (int32_t)draw_whole(r, d->workers);
    j->fixed_workers = (int32_t)draw_whole(r, d->fixed);
    if (d->clamp_fixed && j->fixed_workers > j->max_workers)
        j->fixed_workers = j->max_workers;
    double iterations = draw_whole(r, d->iterations);
    j->zeta = draw_whole(r, d->zeta) * d->zeta_scale;
    j->hop_Bps = draw_whole(r, (struct draw_range){ d->hop_Bps.lo / Mbps, d->hop_Bps.hi / Mbps }) * Mbps;
    j->demand[0] = d->gpus;
    double zeta = j->zeta, best = zeta;
    int rc = gain ? draw_gains(gain, &zeta, &best, j, d, e) : 0;
    if (rc)
        return rc;
    j->budget = d->budget == DRAW_BUDGET_LITERAL ? iterations : draw_whole_above(iterations / zeta);
    *taste = draw_taste(d, r);
    rc = draw_set_utility(j, d, taste, j->budget * best, e);
    /* Last, so that jobs which come at once are those that would come one by one. */
    j->arrival = d->arrivals == DRAW_UNIFORM ? (int32_t)draw_whole(r, (struct draw_range){ 1, last }) : 1;
    return rc;
}

/* Exponential gaps whose mean spreads all jobs over 0.8 of the run. */
static int draw_poisson_arrivals(struct draw_jobs *out, int32_t n_slots, int64_t seed, struct err *e)
{
    double last = fmax(1, floor(0.8 * n_slots)), at = 1;
    struct rng *r;
    int rc = rng_build(&r, (uint64_t)seed, RACK_STREAM + 1, e);
    for (int32_t i = 0; i < out->n && !rc; i++) {
        out->jobs[i].arrival = (int32_t)fmin(at, last);
        /* log1p: exact for small numbers, and never of 0, since uniform numbers are below 1. */
        at += -log1p(-rng_uniform(r)) * (last - 1) / out->n;
    }
    rng_free(r);
    return rc;
}

int draw_elastic_jobs(struct draw_jobs *out, const struct draw_elastic *d, int32_t n_slots, int64_t seed,
                      struct err *e)
{
    *out = (struct draw_jobs){ .n = (int32_t)d->count };
    out->jobs = ARENA_TAKE(&out->arena, out->n, *out->jobs);
    out->ids = ARENA_TAKE(&out->arena, out->n, *out->ids);
    /* One row a job, as long as any job can have workers, so that rows need no list of places. */
    size_t width = draw_gain_width(d);
    if (d->progress != DRAW_CONST)
        out->gains = ARENA_TAKE(&out->arena, (size_t)out->n * width, *out->gains);
    out->tastes = ARENA_TAKE(&out->arena, out->n, *out->tastes);
    int rc = arena_check(&out->arena, "jobs", e);
    for (int32_t i = 0; i < out->n && !rc; i++) {
        struct rng *r;
        snprintf(out->ids[i], sizeof out->ids[i], "job%d", (int)i);
        out->jobs[i].id = out->ids[i];
        rc = rng_build(&r, (uint64_t)seed, JOB_STREAM + (uint64_t)i, e);
        if (!rc)
            rc = draw_elastic_job(&out->jobs[i], &out->tastes[i], d, n_slots,
                                  out->gains ? out->gains + (size_t)i * width : NULL, r, e);
        rng_free(r);
    }
    if (!rc && d->arrivals == DRAW_POISSON)
        rc = draw_poisson_arrivals(out, n_slots, seed, e);
    if (rc)
        draw_jobs_free(out);
    return rc;
}

void draw_jobs_free(struct draw_jobs *x)
{
    arena_free(&x->arena);
    *x = (struct draw_jobs){ 0 };
}

static int32_t draw_find_resource(const struct cluster *c, const char *name)
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
        at[k] = draw_find_resource(c, d->demands[k].name);
        if (at[k] < 0)
            return err_set(e, ERR_RANGE, "jobs.demand: %s is no resource of the servers; give one of them",
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

/* ---- keys ---- */

static const char *const arrival_words[] = { "at-once", "uniform", "poisson", NULL };
static const char *const progress_words[] = { "const", "tau", "links", NULL };
static const char *const batch_words[] = { "worker", "job", NULL };
static const char *const budget_words[] = { "scaled", "literal", NULL };

/* What keys of racks and of jobs are used for. */
static const struct use racks_uses[] = { { "by model events" } };
enum {
    FOR_MODEL_EVENTS = 1,
    FOR_FIXED = 1 << 0, /* schedulers with a fixed number of workers */
    FOR_SIGMOID = 1 << 1,
    FOR_CONST = 1 << 2, /* progress */
    FOR_TAU = 1 << 3,
    FOR_DRAWN = 1 << 4,
    FOR_TRACE = 1 << 5,
};
static const struct use elastic_uses[] = {
    { "by schedulers las and fifo" }, { "with utility sigmoid" }, { "with progress const" },
    { "with progress tau or links" }, { "without from_trace" },   { "with from_trace" },
};

uint64_t draw_racks_uses(bool model_events)
{
    return model_events ? FOR_MODEL_EVENTS : 0;
}

static bool draw_is_sigmoid(const struct draw_elastic *d)
{
    return d->utility == UTILITY_SIGMOID || d->utility == UTILITY_SIGMOID_ENVELOPE;
}

uint64_t draw_elastic_uses(const struct draw_elastic *d, bool fixed_workers)
{
    bool trace = d->from_trace >= 0, tau = d->progress != DRAW_CONST;
    return (trace ? FOR_TRACE : FOR_DRAWN) | (fixed_workers && !trace ? FOR_FIXED : 0) |
           (draw_is_sigmoid(d) ? FOR_SIGMOID : 0) | (tau ? FOR_TAU : 0) | (!tau && !trace ? FOR_CONST : 0);
}

#define T struct draw_racks
const struct key draw_gpus_entry = { .name = "", .kind = KEY_I32, .scale = 1, .min = 1, .max = 1024 };
static const struct key racks_keys[] = {
    K_COUNT(T, servers, "servers", 2, 100000, 50, "servers in all racks together"),
    K_RANGE(T, racks, "racks", "", 1, 1, 10000, 2, 5, true,
            "number of racks, or [least, most] to draw from (default: [2, 5])"),
    K_LIST_OF(T, gpus, n_gpus, "gpus", 1, &draw_gpus_entry,
              "list of GPUs per server, equally likely (default: [1, 2, 4, 8])", .what = "numbers"),
    K_COUNT_OR(T, total_gpus, "total_gpus", 1, 10000000, -1,
               "scale the servers to this sum (default: as drawn)"),
    K_RANGE(T, server_Bps, "server_GBps", "GB/s", 1e9, 1e-3, 1e6, 1.25, 12.5, false,
            "bandwidth of a server's link, each direction (default: [1.25, 12.5])"),
    K_RANGE(T, rack_Bps, "rack_GBps", "GB/s", 1e9, 1e-3, 1e6, 25, 400, false,
            "bandwidth of the link between two racks, each direction (default: [25, 400])"),
    K_REAL(T, link_scale, "link_scale", "", 1, 1e-6, 1e6, 1, "factor of the bandwidth of every link"),
    K_REAL(T, lat_s, "latency_ns", "ns", 1e-9, 0, 1e9, 0, "latency of each link", .uses = FOR_MODEL_EVENTS),
};
K_SECTION(draw_racks_section, T, "racks", racks_keys,
          "servers in racks whose switches are joined in a full mesh", K_USES(racks_uses));
#undef T

#define T struct draw_elastic
static const struct key jobs_keys[] = {
    K_COUNT(T, count, "count", 1, ELASTIC_MAX_JOBS, 40, "number of jobs; with from_trace, that of the trace"),
    K_WORD(T, arrivals, "arrivals", arrival_words, DRAW_UNIFORM,
           "when jobs come: in slot 1, or spread over the first 0.8 of the slots (default: uniform)"),
    K_RANGE(T, workers, "workers", "", 1, 1, ELASTIC_MAX_WORKERS, 1, 5, true,
            "most workers of a job in a slot (default: [1, 5])", .uses = FOR_DRAWN),
    K_RANGE(T, fixed, "fixed_workers", "", 1, 1, ELASTIC_MAX_WORKERS, 1, 10, true,
            "workers of a job under schedulers that do not choose them (default: [1, 10])",
            .uses = FOR_FIXED),
    K_BOOL(T, clamp_fixed, "clamp_fixed", false, "true: fixed_workers are at most workers (default: false)",
           .uses = FOR_FIXED),
    K_RANGE(T, iterations, "iterations", "", 1, 1, 1e12, 1000, 6000, true,
            "iterations of a job (default: [1000, 6000])", .uses = FOR_DRAWN),
    K_RANGE(T, zeta, "zeta", "", 1, 1, 1e12, 50, 500, true,
            "iterations of one worker in a slot (default: [50, 500])", .uses = FOR_CONST),
    K_WORD(
        T, progress, "progress", progress_words, DRAW_CONST,
        "iterations in a slot: zeta per worker, from the time of an iteration on so many workers, or from "
        "that with the bandwidth that the ring gets: all, a half or a quarter of hop_GBps (default: const)"),
    K_NODE(T, tau, "tau", "parts of the time of an iteration, see jobs.tau", .uses = FOR_TAU,
           .form = "<jobs.tau>"),
    K_REAL(T, zeta_scale, "zeta_scale", "", 1, 1e-9, 1e9, 1, "factor of zeta", .uses = FOR_CONST),
    K_RANGE(T, hop_Bps, "hop_GBps", "GB/s", 1e9, 0, 1e6, 0.0125, 0.625, false,
            "bandwidth reserved on each hop of a ring (default: [0.0125, 0.625], with from_trace what the "
            "job sends on average)"),
    K_WORD(T, budget, "budget", budget_words, DRAW_BUDGET_SCALED,
           "worker-slots of a job: iterations / zeta, or as many as iterations, as printed in the paper"),
    K_WORD(T, utility, "utility", utility_words, UTILITY_SIGMOID,
           "utility of the iterations done; a sigmoid is replaced by its concave envelope as the aim "
           "(default: sigmoid, with from_trace sqrt)"),
    K_BOOL(T, aim_literal, "aim_literal", false, "true: aim at the sigmoid itself (default: false)",
           .uses = FOR_SIGMOID),
    K_RANGE(T, scale, "scale", "", 1, 0, 1e12, 1, 100, true, "factor of the utility (default: [1, 100])"),
    K_RANGE(T, slope, "slope", "1/iteration", 1, 0, 1e6, 0, 1, false, "slope of a sigmoid (default: [0, 1])",
            .uses = FOR_SIGMOID),
    K_RANGE(T, middle, "middle", "", 1, 0, 1e12, 300, 3000, true,
            "iterations at half of a sigmoid (default: [300, 3000])", .uses = FOR_SIGMOID),
    K_REAL(T, leave_frac, "leave_frac", "", 1, 0.01, 1, INFINITY,
           "a job leaves at this share of its sigmoid's most (default: when its budget is used)"),
    K_REAL(T, gpus, "gpus", "", 1, 1e-6, 1e6, 1, "GPUs of one worker"),
    K_NODE(T, demand, "demand", "other resources that one worker needs, as { cpu: 4, memory_GB: [16, 64] }",
           .form = "map of (number or list of numbers)"),
    K_NODE(T, from_trace, "from_trace",
           "arrivals, workers, iterations and lengths of a trace in place of draws; keys as jobs of model "
           "events",
           .form = "<jobs of model events>"),
    K_REAL(T, trace_slot_s, "trace_slot_s", "s", 1, 1e-9, 1e12, SCHEMA_NONE,
           "with from_trace: length of a slot", .uses = FOR_TRACE),
};
K_SECTION(draw_elastic_section, T, "jobs", jobs_keys, "jobs in slots, drawn as in GADGET's experiments",
          K_USES(elastic_uses));

static const struct key tau_keys[] = {
    K_REAL(T, ring.gradient_B, "gradient_MB", "MB", 1e6, 0, 1e9, 0, "gradients of a worker",
           .required = true),
    K_REAL(T, ring.reduce_Bps, "reduce_GBps", "GB/s", 1e9, 1e-6, 1e9, 0,
           "rate at which gradients are added up", .required = true),
    K_REAL(T, ring.sample_s, "forward_ms", "ms", 1e-3, 0, 1e9, 0, "forward pass of one sample",
           .required = true),
    K_REAL(T, ring.samples, "samples", "", 1, 1e-6, 1e12, 0, "samples of an iteration, see batch",
           .required = true),
    K_REAL(T, ring.backward_s, "backward_ms", "ms", 1e-3, 0, 1e9, 0, "backward pass of an iteration",
           .required = true),
    K_REAL(T, ring.overhead_s, "overhead_ms", "ms", 1e-3, 0, 1e9, 0, "overhead of an iteration (default: 0)"),
    K_REAL(T, slot_s, "slot_s", "s", 1, 1e-9, 1e9, 0, "length of a slot", .required = true),
    K_WORD(T, batch, "batch", batch_words, RING_BATCH_WORKER,
           "samples are those of each worker, or of the job, shared out among its workers (default: worker)"),
    K_REAL(T, inner_Bps, "inner_GBps", "GB/s", 1e9, 1e-6, 1e9, INFINITY,
           "bandwidth of a ring on one server, at least hop_GBps (default: endless)", .uses = 1),
};
static const struct use tau_uses[] = { { "with progress links" } };
K_SECTION(draw_tau_section, T, "jobs.tau", tau_keys,
          "time of an iteration on a ring of workers, arXiv 2202.01158 eq. 1; its bandwidth is hop_GBps",
          K_USES(tau_uses));
#undef T

int draw_read_racks(struct draw_racks *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const int32_t paper[] = { 1, 2, 4, 8 };
    int rc = schema_read_or(d, &draw_racks_section, doc, map, e);
    if (!rc && d->n_gpus == 0) {
        memcpy(d->gpus, paper, sizeof paper);
        d->n_gpus = sizeof paper / sizeof paper[0];
    }
    return rc;
}

/* Needed by progress tau and links; with const its map is left alone, and said to be. */
static int draw_read_tau(struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    schema_defaults(d, &draw_tau_section);
    if (d->progress == DRAW_CONST)
        return 0;
    if (d->tau < 0)
        return yaml_fail(doc, yaml_get(doc, map, "progress"), e, ERR_PARSE,
                         "is %s, expected tau with the parts of an iteration besides",
                         progress_words[d->progress]);
    int rc = schema_read(d, &draw_tau_section, doc, d->tau, e);
    if (!rc && d->progress == DRAW_LINKS && d->inner_Bps < d->hop_Bps.hi)
        rc = yaml_fail(doc, yaml_get(doc, d->tau, "inner_GBps"), e, ERR_RANGE,
                       "is %g, expected at least the most of hop_GBps, %g", d->inner_Bps / 1e9,
                       d->hop_Bps.hi / 1e9);
    return rc;
}

/* Other utilities have no most that a share could be of. */
static int draw_check_leave(const struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map,
                            struct err *e)
{
    if (!isfinite(d->leave_frac) || draw_is_sigmoid(d))
        return 0;
    return yaml_fail_key(doc, yaml_get(doc, map, "leave_frac"), e, ERR_PARSE,
                         "is given with utility %s, which has no most, expected a sigmoid",
                         utility_words[d->utility]);
}

static const struct key demand_entry =
    K_RANGE(struct draw_demand, range, "", "", 1, 0, 1e12, 0, 0, false, "of one worker");

/* Ranges by name; the names are held against the servers when these are there. One less than a cluster may
 * have: GPUs are the first. */
static int draw_read_demand(struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    d->n_demands = 0;
    if (map < 0)
        return 0;
    int rc = yaml_need(doc, map, YAML_MAP, e);
    if (!rc && doc->nodes[map].n >= CLUSTER_MAX_RESOURCES)
        rc = yaml_fail(doc, map, e, ERR_RANGE, "has %d resources, expected at most %d",
                       (int)doc->nodes[map].n, (int)CLUSTER_MAX_RESOURCES - 1);
    if (rc)
        return rc;
    yaml_each (id, doc, map) {
        struct draw_demand *demand = &d->demands[d->n_demands++];
        if (strcmp(doc->nodes[id].key, "gpu") == 0)
            return yaml_fail_key(doc, id, e, ERR_PARSE, "is gpu; give jobs.gpus for that");
        demand->name = doc->nodes[id].key;
        rc = schema_read_value(demand, &demand_entry, doc, id, e);
        if (rc)
            return rc;
    }
    return 0;
}

int draw_read_elastic(struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    schema_defaults(d, &draw_elastic_section);
    int rc = map < 0 ? 0 : schema_read(d, &draw_elastic_section, doc, map, e);
    if (!rc)
        rc = draw_read_demand(d, doc, d->demand, e);
    if (!rc)
        rc = draw_read_tau(d, doc, map, e);
    return rc ? rc : draw_check_leave(d, doc, map, e);
}
