/*
 * Model batch of a placement study: gang jobs that are all there from the start, least makespan
 * (sim/batch/batch.h). On a pool contention is the formula of arXiv 2207.07817; on servers of a network jobs
 * share its links.
 *
 * Keys named literal_* follow the paper's algorithms as printed, where these contradict its prose
 * (docs/cluster.md has the list); defaults are what is plainly meant. Loads of links are found after the
 * schedule: each job is placed again by itself and its bytes are spread over its running time, since the
 * simulation needs rates alone.
 */
#include "kinds/place/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

static const struct use jobs_uses[] = { { "without a network" } };
/* Of keys of sjf_bco, by enum batch_scheduler. */
enum { FOR_SJF_BCO = 1 << BATCH_SJF_BCO, FOR_FF = 1 << BATCH_FF, FOR_SLOTS = 1 << N_BATCH_SCHEDULERS };
static const struct use bco_uses[] = {
    [BATCH_SJF_BCO] = { "by scheduler sjf-bco" },
    [BATCH_FF] = { "by scheduler ff" },
    [N_BATCH_SCHEDULERS] = { "with slot_s" },
};

#define T struct place_study
static const struct key jobs_keys[] = {
    K_NODE(T, batch_sizes, "sizes", "list of [GPUs, jobs] (default: the paper's 160 jobs of 1 to 32 GPUs)",
           .form = "list of list of counts"),
    K_RANGE(T, batch_draw.iterations, "iterations", "", 1, 1, 1e12, 1000, 6000, true,
            "iterations of a job (default: [1000, 6000])"),
    K_RANGE(T, batch_draw.iteration_s, "iteration_s", "s", 1, 1e-9, 1e9, 0.01, 0.05, false,
            "time of one iteration on one GPU (default: [0.01, 0.05])"),
    K_RANGE(T, batch_draw.run_s, "run_s", "s", 1, 1e-9, 1e9, 50, 300, false,
            "iterations times iteration_s: others are drawn again (default: [50, 300])"),
    K_REAL(
        T, batch_draw.comm_frac, "comm_frac", "", 1, 0, 1e6, .2,
        "communication between servers, alone, of iteration_s, for many workers; its bytes take so long at "
        "1.25 GB/s, on the links of a network as long as those take"),
    K_REAL(T, batch_draw.server_frac, "server_frac", "", 1, 0, 1e6, .01,
           "time added for each server beyond the first, as a share of iteration_s", .uses = 1),
    K_REAL(T, batch_draw.inner_ratio, "inner_ratio", "", 1, 1, 1e12, 30,
           "bandwidth inside a server over that between servers", .uses = 1),
    K_REAL(T, batch_draw.share_frac, "share_frac", "", 1, 1e-6, 1, .5,
           "xi1: share of the jobs that meet on a server that contend", .uses = 1),
    K_REAL(T, batch_draw.alpha, "alpha", "", 1, 0, 1e6, .5,
           "k contending jobs are k + alpha (k - 1) times as slow", .uses = 1),
};
K_SECTION(place_batch_jobs_section, T, "jobs of model batch", jobs_keys,
          "a batch drawn as in SJF-BCO's experiments", K_USES(jobs_uses));

static const struct key pool_keys[] = {
    K_COUNT(T, batch_draw.n_servers, "servers", 1, 100000, 20, "number of servers"),
    K_LIST_OF(T, batch_draw.server_gpus, batch_draw.n_server_sizes, "gpus", 1, &draw_gpus_entry,
              "list of GPUs per server, equally likely (default: [4, 8, 16, 32])", .what = "numbers"),
};
K_SECTION(place_batch_pool_section, T, "pool of model batch", pool_keys, "servers without a network");

static const struct key bco_keys[] = {
    K_COUNT(T, batch.kappa, "kappa", 0, 1e6, 0,
            "jobs of up to so many GPUs are packed (default: all are tried)", .uses = FOR_SJF_BCO),
    K_COUNT(T, batch.theta_max, "theta_max", 0, 1e15, 0,
            "largest load limit [s] (default: what always suffices)", .uses = FOR_SJF_BCO),
    K_COUNT(T, batch.more_limits, "more_limits", 0, 1e6, 16,
            "load limits tried above the least that has a plan; the paper: 0", .uses = FOR_SJF_BCO),
    K_REAL(T, batch.lambda, "lambda", "", 1, 1, 1e6, 1,
           "a balanced job is offered servers with this many times its GPUs", .uses = FOR_SJF_BCO),
    K_REAL(T, batch.under, "u", "", 1, 1, 1e6, 1.15, "largest time of a job over its expected time",
           .uses = FOR_SJF_BCO | FOR_FF),
    K_REAL(T, batch.over, "l", "", 1, 1e-6, 1, 1, "smallest time of a job over its expected time",
           .uses = FOR_SJF_BCO),
    K_REAL(T, batch.ff_limit, "ff_limit", "", 1, 1e-6, 1e9, 2.25,
           "scheduler ff: limit of a GPU's load, in mean loads", .uses = FOR_FF),
    K_REAL(T, batch.slot_s, "slot_s", "s", 1, 0, 1e9, 0,
           "jobs start and end at multiples of this time (default: at any time)"),
    K_BOOL(T, batch.whole_iterations, "whole_iterations", false,
           "true: only whole iterations of a slot count, the paper's floor (default: false)",
           .uses = FOR_SLOTS),
    K_BOOL(T, batch.literal_pack, "literal_pack", false,
           "true: pack by load alone, Algorithm 2 as printed (default: false)", .uses = FOR_SJF_BCO),
    K_BOOL(T, batch.literal_load, "literal_load", false,
           "true: load each GPU by its own jobs, not by the gang's (default: false)",
           .uses = FOR_SJF_BCO | FOR_FF),
    K_BOOL(T, batch.literal_bisect, "literal_bisect", false,
           "true: smaller limits after a better plan only, Algorithm 1 as printed (default: false)",
           .uses = FOR_SJF_BCO),
};
K_SECTION(place_sjf_bco_section, T, "sjf_bco", bco_keys,
          "smallest job first with contention, arXiv 2207.07817", K_USES(bco_uses));
#undef T

/* The paper's jobs, in sizes of the Philly trace, and its servers: lists have no default in a table of keys.
 */
static const struct sjf_draw_kind usual_kinds[] = { { 1, 80 }, { 2, 14 }, { 4, 26 },
                                                    { 8, 30 }, { 16, 8 }, { 32, 2 } };
static const int32_t usual_server_gpus[] = { 4, 8, 16, 32 };

/* ---- reading ---- */

static const char *batch_scheduler(int32_t i)
{
    return i < N_BATCH_SCHEDULERS ? batch_kinds[i].name : NULL;
}

static int batch_read_kind(struct sjf_draw_kind *kind, const struct yaml_doc *doc, yaml_id pair,
                           struct err *e)
{
    int64_t x[2] = { 0, 0 };
    int i = 0;
    int rc = yaml_need(doc, pair, YAML_SEQ, e);
    if (!rc && doc->nodes[pair].n != 2)
        rc = yaml_fail(doc, pair, e, ERR_PARSE, "is a list of %d, expected [GPUs, jobs]",
                       (int)doc->nodes[pair].n);
    if (rc)
        return rc;
    yaml_each (id, doc, pair) {
        rc = rc ? rc : yaml_count(doc, id, &x[i], e);
        if (!rc && (x[i] < 1 || x[i] > BATCH_MAX_JOBS))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected 1 to %d", (long long)x[i],
                           (int)BATCH_MAX_JOBS);
        i++;
    }
    *kind = (struct sjf_draw_kind){ (int32_t)x[0], (int32_t)x[1] };
    return rc;
}

static int batch_read_sizes(struct sjf_draw_settings *d, const struct yaml_doc *doc, yaml_id list,
                            struct err *e)
{
    memcpy(d->kinds, usual_kinds, sizeof usual_kinds);
    d->n_kinds = sizeof usual_kinds / sizeof usual_kinds[0];
    if (list < 0)
        return 0;
    int rc = yaml_need_list(doc, list, SJF_DRAW_MAX_KINDS, "pairs [GPUs, jobs]", e);
    if (rc)
        return rc;
    d->n_kinds = 0;
    yaml_each (id, doc, list)
        rc = rc ? rc : batch_read_kind(&d->kinds[d->n_kinds++], doc, id, e);
    return rc;
}

static int batch_read_pool(struct place_study *s, struct err *e)
{
    int rc = schema_read_or(s, &place_batch_pool_section, &s->doc, s->file.pool, e);
    if (!rc && s->batch_draw.n_server_sizes == 0) {
        memcpy(s->batch_draw.server_gpus, usual_server_gpus, sizeof usual_server_gpus);
        s->batch_draw.n_server_sizes = sizeof usual_server_gpus / sizeof usual_server_gpus[0];
    }
    return rc;
}

static void batch_note(struct place_study *s)
{
    uint64_t active = s->batch.slot_s > 0 ? FOR_SLOTS : 0;
    for (int32_t i = 0; i < s->n_schedulers; i++)
        active |= 1U << s->schedulers[i];
    place_note_unused(s, &place_batch_jobs_section, s->file.jobs, !place_has_servers(s));
    place_note_unused(s, &place_sjf_bco_section, s->file.sjf_bco, active);
    place_note_pace(s);
}

static int batch_read(struct place_study *s, struct err *e)
{
    /* In the order in which a reader of the file meets them; the pool is read even where there is a network,
     * for its defaults. */
    int rc = schema_read_or(s, &place_batch_jobs_section, &s->doc, s->file.jobs, e);
    if (!rc)
        rc = batch_read_sizes(&s->batch_draw, &s->doc, s->batch_sizes, e);
    if (!rc && s->file.pool >= 0 && place_has_servers(s))
        rc = yaml_fail_key(&s->doc, s->file.pool, e, ERR_PARSE,
                           "is given together with a network; give one of them");
    if (!rc)
        rc = batch_read_pool(s, e);
    if (!rc)
        rc = place_read_pace(s, e);
    if (!rc)
        rc = schema_read_or(s, &place_sjf_bco_section, &s->doc, s->file.sjf_bco, e);
    if (!rc)
        batch_note(s);
    return rc;
}

/* ---- runs ---- */

/* What its schedulers share: the paper's formula on a pool, or the links of a network. */
struct batch_own {
    struct sjf_draw draw;
    struct pace pace;
    double phi;              /* of the formula; 0: on links */
    int32_t *cluster_gpus;   /* shape [n_servers], in the draw's arena; of the network's servers */
    int32_t *servers, *gpus; /* shape [GPUs of the cluster], there too; place of one job */
};

/* Any half of it: the pace has a free() once it is built. */
static void batch_close(void *x)
{
    struct batch_own *own = x;
    if (own->pace.free)
        own->pace.free(own->pace.x);
    sjf_draw_free(&own->draw);
}

/* The jobs drawn, on the servers of the study's network. */
static int batch_open_links(struct batch_own *own, const struct place_run *run, struct err *e)
{
    const struct cluster *c = run->cluster;
    const struct pace_graph_settings how = place_fix_pace(run->study);
    struct batch_problem *p = &own->draw.problem;
    own->cluster_gpus = ARENA_TAKE(&own->draw.arena, c->n_servers, *own->cluster_gpus);
    int rc = arena_check(&own->draw.arena, "a batch", e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < c->n_servers; i++)
        own->cluster_gpus[i] = (int32_t)cluster_capacity(c, i, 0);
    p->cluster = (struct batch_cluster){ c->n_servers, own->cluster_gpus };
    rc = batch_check(p, e);
    return rc ? rc : pace_graph_build(&own->pace, c, p->jobs, p->n_jobs, &how, e);
}

static int batch_open(struct place_run *run, struct err *e)
{
    struct batch_own *own = run->own;
    const struct batch_problem *p = &own->draw.problem;
    struct sjf_draw_settings draw = run->study->batch_draw;
    draw.seed = (uint64_t)run->seed;
    if (run->cluster) {
        /* Servers are the network's: those drawn need only hold every job. */
        draw.n_servers = 1;
        draw.n_server_sizes = 1;
        draw.server_gpus[0] = BATCH_MAX_GPUS;
    }
    int rc = sjf_draw_build(&own->draw, &draw, e);
    if (!rc)
        rc = run->cluster ? batch_open_links(own, run, e)
                          : pace_paper_build(&own->pace, &own->draw.contention, p, e);
    if (rc)
        return rc;
    if (!run->cluster)
        own->phi = contention_phi(&own->draw.contention, p);
    size_t n = 1;
    /* A job may take all GPUs of the cluster, each on a server of its own. */
    for (int32_t i = 0; i < p->cluster.n_servers; i++)
        n += (size_t)p->cluster.gpus[i];
    own->servers = ARENA_TAKE(&own->draw.arena, n, *own->servers);
    own->gpus = ARENA_TAKE(&own->draw.arena, n, *own->gpus);
    return arena_check(&own->draw.arena, "a batch", e);
}

/* Servers of a job and its GPUs on each, in the order of the servers' numbers: GPUs ascend, so those of one
 * server stand together. */
static struct pace_place batch_find_place(struct batch_own *own, const struct batch_result *r, int32_t job)
{
    struct pace_place place = { .servers = own->servers, .gpus = own->gpus };
    for (int32_t k = 0; k < own->draw.jobs[job].gpus; k++) {
        int32_t server = r->gpu_server[r->gpus[r->jobs[job].first_gpu + k]];
        bool same = place.n > 0 && own->servers[place.n - 1] == server;
        place.n += !same;
        own->servers[place.n - 1] = server;
        own->gpus[place.n - 1] = same ? own->gpus[place.n - 1] + 1 : 1;
    }
    return place;
}

static void batch_put_jobs(const struct place_run *run, const struct batch_result *r)
{
    const struct job *jobs = ((const struct batch_own *)run->own)->draw.jobs;
    for (int32_t i = 0; i < r->n_jobs; i++)
        place_put_job(run, i,
                      (struct place_job_row){ .status = "done",
                                              .submit = jobs[i].submit_s,
                                              .start = r->jobs[i].start_s,
                                              .end = r->jobs[i].end_s,
                                              .gpus = jobs[i].gpus,
                                              .servers = r->jobs[i].n_servers,
                                              .progress = jobs[i].iterations,
                                              .utility = NAN });
}

static void batch_put_places(const struct place_run *run, const struct batch_result *r)
{
    for (int32_t i = 0; i < r->n_jobs; i++) {
        struct pace_place place = batch_find_place(run->own, r, i);
        for (int32_t k = 0; k < place.n; k++)
            place_put_place(run, NULL, i, place.servers[k], place.gpus[k], r->jobs[i].start_s,
                            r->jobs[i].end_s);
    }
}

/* Bytes that every job of a schedule sent over the links, into bins: each on its place again, by itself. */
static int batch_replay(struct link_bins *bins, struct batch_own *own, const struct batch_result *r,
                        const struct cluster *c, struct err *e)
{
    struct pace_graph *graph = pace_graph_of(&own->pace);
    /* A little wider than the makespan over the bins, so that the last end is inside the last bin. */
    int rc = link_bins_build(bins, c->n_arcs, EVENTS_BINS, 0, r->makespan_s * (1 + 1e-12) / EVENTS_BINS, e);
    pace_graph_reset(graph);
    for (int32_t i = 0; i < r->n_jobs && !rc; i++) {
        struct pace_place place = batch_find_place(own, r, i);
        double iterations = own->draw.jobs[i].iterations;
        rc = own->pace.begin(own->pace.x, i, &place, e);
        if (rc)
            break;
        pace_graph_count(graph, i, iterations);
        pace_graph_spread(graph, i, iterations, bins, r->jobs[i].start_s, r->jobs[i].end_s);
        own->pace.end(own->pace.x, i);
    }
    return rc;
}

/* Means over the makespan; the peak is that of such means, the busiest link, not that of a moment. */
static int batch_write_links(struct place_result *out, const struct place_run *run,
                             const struct batch_result *r, struct err *e)
{
    struct batch_own *own = run->own;
    int32_t n_arcs = run->cluster->n_arcs;
    struct link_bins bins = { 0 };
    double sum = 0, peak = 0;
    int rc = batch_replay(&bins, own, r, run->cluster, e);
    for (int32_t a = 0; a < n_arcs && !rc; a++) {
        struct pace_graph_use use = pace_graph_arc(pace_graph_of(&own->pace), a);
        double frac = use.bytes / use.reach_Bps / r->makespan_s;
        sum += frac;
        peak = fmax(peak, frac);
    }
    out->x[PLACE_LINK] = sum / n_arcs;
    out->x[PLACE_LINK_PEAK] = peak;
    if (!rc && place_wants(run, PLACE_TABLE_LINKS))
        place_put_bins(run, &bins, r->makespan_s);
    link_bins_free(&bins);
    return rc;
}

static int batch_write_result(struct place_result *out, const struct place_run *run,
                              const struct batch_result *r, struct err *e)
{
    out->n_jobs = r->n_jobs;
    out->x[PLACE_MAKESPAN] = r->makespan_s;
    out->x[PLACE_JCT] = r->mean_jct_s;
    out->x[PLACE_GPU] = r->busy_frac;
    struct place_use use = { .n_gpus = { r->n_gpus },
                             .time_s = r->makespan_s,
                             .gpu_s = { r->busy_frac * r->n_gpus * r->makespan_s },
                             .n_jobs = r->n_jobs };
    for (int32_t i = 0; i < r->n_jobs; i++)
        use.iterations += ((const struct batch_own *)run->own)->draw.jobs[i].iterations;
    place_write_energy(out, run->study, &use);
    /* The others promise nothing. */
    if (run->which == BATCH_SJF_BCO)
        out->x[PLACE_GUARANTEE] = r->guarantee;
    return run->cluster ? batch_write_links(out, run, r, e) : 0;
}

static int batch_run_scheduler(struct place_result *out, const struct place_run *run, struct err *e)
{
    struct batch_own *own = run->own;
    struct batch_settings settings = run->study->batch;
    struct batch_result r;
    settings.seed = (uint64_t)run->seed;
    settings.phi = own->phi;
    int rc = batch_run(&r, (enum batch_scheduler)run->which, &own->draw.problem, &own->pace, &settings, e);
    /* An answer, not a failure: rows say "infeasible". */
    if (!rc && r.status == BATCH_NO_PLAN)
        rc = err_set(e, ERR_NO_DESIGN, "scheduler %s: no plan keeps every load within theta_max = %lld s",
                     run->scheduler, (long long)settings.theta_max);
    if (!rc && place_wants(run, PLACE_TABLE_JOBS))
        batch_put_jobs(run, &r);
    if (!rc && place_wants(run, PLACE_TABLE_PLACES))
        batch_put_places(run, &r);
    if (!rc)
        rc = batch_write_result(out, run, &r, e);
    batch_result_free(&r);
    return rc;
}

const struct place_ops place_batch = { "s",
                                       batch_scheduler,
                                       &place_batch_jobs_section,
                                       batch_read,
                                       sizeof(struct batch_own),
                                       batch_open,
                                       batch_run_scheduler,
                                       batch_close };
