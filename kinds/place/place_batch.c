/* Model batch: gang jobs that are all there, contention by the formula of arXiv 2207.07817, least makespan.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "kinds/place/place_events.h"
#include "sim/batch/sjf_bco.h"

/* ---- keys ---- */

#define T struct place_study
static const struct key jobs_keys[] = {
    K_NODE(T, batch_sizes, "sizes", "list of [GPUs, jobs]; absent: the paper's 160 jobs of 1 to 32 GPUs"),
    K_RANGE(T, batch_draw.iterations, "iterations", "", 1, 1, 1e12, 1000, 6000, true,
            "of a job; absent: [1000, 6000]"),
    K_RANGE(T, batch_draw.iteration_s, "iteration_s", "s", 1, 1e-9, 1e9, 0.01, 0.05, false,
            "of one iteration on one GPU; absent: [0.01, 0.05]"),
    K_RANGE(T, batch_draw.run_s, "run_s", "s", 1, 1e-9, 1e9, 50, 300, false,
            "iterations times iteration_s: others are drawn again; absent: [50, 300]"),
    K_REAL(
        T, batch_draw.comm_frac, "comm_frac", "", 1, 0, 1e6, .2,
        "communication between servers, alone, of iteration_s, for many workers; its bytes take so long at "
        "1.25 GB/s, on the links of a network as long as those take"),
    K_REAL(T, batch_draw.server_frac, "server_frac", "", 1, 0, 1e6, .01,
           "added for each server beyond the first, of iteration_s", .uses = USE_FORMULA),
    K_REAL(T, batch_draw.inner_ratio, "inner_ratio", "", 1, 1, 1e12, 30,
           "bandwidth inside a server over that between servers", .uses = USE_FORMULA),
    K_REAL(T, batch_draw.share_frac, "share_frac", "", 1, 1e-6, 1, .5,
           "xi1: of the jobs that meet, those that contend", .uses = USE_FORMULA),
    K_REAL(T, batch_draw.alpha, "alpha", "", 1, 0, 1e6, .5, "loss per further contending job",
           .uses = USE_FORMULA),
};
K_SECTION(place_batch_jobs_section, T, "jobs of model batch", jobs_keys,
          "a batch drawn as in SJF-BCO's experiments");

static const struct key pool_keys[] = {
    K_COUNT(T, batch_draw.n_servers, "servers", 1, 100000, 20, "how many"),
    K_NODE(T, pool_gpus, "gpus", "list of what a server may have, equally likely; absent: [4, 8, 16, 32]"),
};
K_SECTION(place_batch_pool_section, T, "pool of model batch", pool_keys, "servers without a network");

static const struct key bco_keys[] = {
    K_COUNT(T, batch.kappa, "kappa", 0, 1e6, 0,
            "jobs of up to so many GPUs are packed; absent: all are tried", .uses = USE_SJF_BCO),
    K_COUNT(T, batch.theta_max, "theta_max", 0, 1e15, 0,
            "largest load limit [s]; absent: what always suffices", .uses = USE_SJF_BCO),
    K_COUNT(T, batch.more_limits, "more_limits", 0, 1e6, 16,
            "load limits tried above the least that has a plan; the paper: 0", .uses = USE_SJF_BCO),
    K_REAL(T, batch.lambda, "lambda", "", 1, 1, 1e6, 1,
           "a balanced job is offered servers for so many times its GPUs", .uses = USE_SJF_BCO),
    K_REAL(T, batch.under, "u", "", 1, 1, 1e6, 1.15, "a job may take up to so many times what is expected",
           .uses = USE_SJF_BCO | USE_FF),
    K_REAL(T, batch.over, "l", "", 1, 1e-6, 1, 1, "and as little as so many times", .uses = USE_SJF_BCO),
    K_REAL(T, batch.ff_limit, "ff_limit", "", 1, 1e-6, 1e9, 2.25,
           "scheduler ff: limit of a GPU's load, in mean loads", .uses = USE_FF),
    K_REAL(T, batch.slot_s, "slot_s", "s", 1, 0, 1e9, 0,
           "jobs start and end at multiples of it; absent: at any time"),
    K_BOOL(T, batch.whole_iterations, "whole_iterations", false,
           "true: of a slot only what whole iterations fill, the paper's floor; absent: false"),
    K_BOOL(T, batch.literal_pack, "literal_pack", false,
           "true: pack by load alone, Algorithm 2 as printed; absent: false", .uses = USE_SJF_BCO),
    K_BOOL(T, batch.literal_load, "literal_load", false,
           "true: load each GPU by its own jobs, not by the gang's; absent: false",
           .uses = USE_SJF_BCO | USE_FF),
    K_BOOL(T, batch.literal_bisect, "literal_bisect", false,
           "true: smaller limits after a better plan only, Algorithm 1 as printed; absent: false",
           .uses = USE_SJF_BCO),
};
K_SECTION(place_sjf_bco_section, T, "sjf_bco", bco_keys,
          "smallest job first with contention, arXiv 2207.07817");
#undef T

/* ---- reading ---- */

static int32_t count_schedulers(void)
{
    return N_BATCH_SCHEDULERS;
}

static const char *name_scheduler(int32_t i)
{
    return batch_kinds[i].name;
}

static int read_kind(struct sjf_draw_kind *kind, const struct yaml_doc *doc, yaml_id pair, struct err *e)
{
    int64_t x[2] = { 0, 0 };
    int i = 0;
    int rc = yaml_need(doc, pair, YAML_SEQ, e);
    if (!rc && doc->nodes[pair].n != 2)
        rc =
            yaml_fail(doc, pair, e, ERR_PARSE, "is a list of %d, need [GPUs, jobs]", (int)doc->nodes[pair].n);
    if (rc)
        return rc;
    yaml_each (id, doc, pair) {
        rc = rc ? rc : yaml_count(doc, id, &x[i], e);
        if (!rc && (x[i] < 1 || x[i] > BATCH_MAX_JOBS))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %lld, need 1 to %d", (long long)x[i],
                           (int)BATCH_MAX_JOBS);
        i++;
    }
    *kind = (struct sjf_draw_kind){ (int32_t)x[0], (int32_t)x[1] };
    return rc;
}

static int read_sizes(struct sjf_draw_settings *d, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    if (list < 0)
        return 0;
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (!rc && (doc->nodes[list].n < 1 || doc->nodes[list].n > SJF_DRAW_MAX_KINDS))
        rc = yaml_fail(doc, list, e, ERR_RANGE, "is a list of %d, need 1 to %d pairs [GPUs, jobs]",
                       (int)doc->nodes[list].n, (int)SJF_DRAW_MAX_KINDS);
    if (rc)
        return rc;
    d->n_kinds = 0;
    yaml_each (id, doc, list)
        rc = rc ? rc : read_kind(&d->kinds[d->n_kinds++], doc, id, e);
    return rc;
}

static int read_pool(struct place_study *s, struct err *e)
{
    struct sjf_draw_settings *d = &s->batch_draw;
    double gpus[DRAW_MAX_CHOICES];
    int32_t n = 0;
    int rc = place_read_section(s, &place_batch_pool_section, s->conf.pool, e);
    if (!rc && s->pool_gpus >= 0)
        rc = draw_read_choices(gpus, &n, &s->doc, s->pool_gpus, e);
    for (int32_t i = 0; i < n && !rc; i++)
        d->server_gpus[i] = (int32_t)gpus[i];
    d->n_server_sizes = n ? n : d->n_server_sizes;
    return rc;
}

static void note_batch(struct place_study *s)
{
    uint64_t active = place_uses(s) | (place_has_servers(s) ? USE_LINKS : USE_FORMULA);
    for (int32_t i = 0; i < s->n_schedulers; i++)
        active |= s->schedulers[i] == BATCH_SJF_BCO ? USE_SJF_BCO : s->schedulers[i] == BATCH_FF ? USE_FF : 0;
    if (!(s->batch.slot_s > 0))
        place_note_key(s, s->conf.sjf_bco, "whole_iterations", "it is used only with slot_s");
    place_note_unused(s, &place_batch_jobs_section, s->conf.jobs, active);
    place_note_unused(s, &place_sjf_bco_section, s->conf.sjf_bco, active);
    place_note_unused(s, &place_events_section, s->conf.events, active);
}

static int read_batch(struct place_study *s, struct err *e)
{
    s->batch_draw = sjf_draw_default();
    s->batch = batch_settings_default();
    int rc = place_read_section(s, &place_batch_jobs_section, s->conf.jobs, e);
    if (!rc)
        rc = read_sizes(&s->batch_draw, &s->doc, s->batch_sizes, e);
    if (!rc && s->conf.pool >= 0 && place_has_servers(s))
        rc = yaml_fail_key(&s->doc, s->conf.pool, e, ERR_PARSE,
                           "is given besides a network, need one of them");
    if (!rc)
        rc = read_pool(s, e);
    if (!rc)
        rc = place_read_pace(s, e);
    if (!rc)
        rc = place_read_section(s, &place_sjf_bco_section, s->conf.sjf_bco, e);
    if (!rc)
        note_batch(s);
    return rc;
}

/* ---- runs ---- */

static void put_details(const struct place_task *task, const char *name, const struct batch_result *r,
                        const struct batch_problem *p, const struct cluster *c)
{
    char id[PLACE_JOB];
    for (int32_t i = 0; i < r->n_jobs; i++) {
        const struct batch_span *j = &r->jobs[i];
        place_job_name(id, i);
        const struct place_job_row row = {
            .id = id,
            .status = "done",
            .unit = "s",
            .submit = p->jobs[i].submit_s,
            .start = j->start_s,
            .end = j->end_s,
            .jct = j->end_s - p->jobs[i].submit_s,
            .gpus = p->jobs[i].gpus,
            .servers = j->n_servers,
            .progress = p->jobs[i].iterations,
            .utility = NAN,
        };
        if (place_wants(task, PLACE_TABLE_JOBS))
            place_put_job(task, name, &row);
        /* GPUs ascend, so those of one server stand together. */
        for (int32_t k = 0, n; k < p->jobs[i].gpus && place_wants(task, PLACE_TABLE_PLACES); k += n) {
            int32_t server = r->gpu_server[r->gpus[j->first_gpu + k]];
            for (n = 1; k + n < p->jobs[i].gpus && r->gpu_server[r->gpus[j->first_gpu + k + n]] == server;
                 n++)
                continue;
            place_put_place(task, name, id, c, server, n, (struct place_span){ j->start_s, j->end_s, "s" });
        }
    }
}

/* What a batch runs on: the paper's formula on a pool, or the links of a network. */
struct ground {
    struct sjf_draw draw;
    struct pace pace;
    bool on_links;
    struct cluster cluster;
    int32_t *gpus; /* shape [n_servers], owned */
    double phi;
};

static void ground_free(struct ground *g)
{
    if (g->pace.free)
        g->pace.free(g->pace.x);
    sjf_draw_free(&g->draw);
    cluster_free(&g->cluster);
    free(g->gpus);
}

/* The jobs drawn, on the servers of the study's network. */
static int settle_on_links(struct ground *g, const struct place_study *s, struct err *e)
{
    struct batch_problem *p = &g->draw.problem;
    struct pace_graph_settings how;
    g->gpus = malloc((size_t)g->cluster.n_servers * sizeof *g->gpus);
    if (!g->gpus)
        return err_nomem(e, "a batch");
    for (int32_t i = 0; i < g->cluster.n_servers; i++)
        g->gpus[i] = (int32_t)cluster_capacity(&g->cluster, i, 0);
    p->cluster = (struct batch_cluster){ g->cluster.n_servers, g->gpus };
    place_fix_pace(&how, s);
    int rc = batch_check(p, e);
    return rc ? rc : pace_graph_build(&g->pace, &g->cluster, p->jobs, p->n_jobs, &how, e);
}

static int ground_build(struct ground *g, const struct place_task *task, struct err *e)
{
    const struct place_study *s = task->study;
    struct sjf_draw_settings draw = s->batch_draw;
    *g = (struct ground){ .on_links = place_has_servers(s) };
    draw.seed = (uint64_t)task->seed;
    int rc = g->on_links ? place_build_cluster(&g->cluster, s, task->seed, e) : 0;
    if (!rc && g->on_links) {
        /* Servers are the network's: those drawn need only hold every job. */
        draw.n_servers = 1;
        draw.n_server_sizes = 1;
        draw.server_gpus[0] = BATCH_MAX_GPUS;
    }
    if (!rc)
        rc = sjf_draw_build(&g->draw, &draw, e);
    if (!rc && g->on_links)
        return settle_on_links(g, s, e);
    if (!rc)
        rc = pace_paper_build(&g->pace, &g->draw.contention, &g->draw.problem, e);
    if (!rc)
        g->phi = contention_phi(&g->draw.contention, &g->draw.problem);
    return rc;
}

/* Servers of a job and its GPUs on each, in the order of the servers' numbers. */
static void find_place(struct pace_place *place, int32_t *servers, int32_t *gpus,
                       const struct batch_result *r, int32_t job, int32_t n_gpus)
{
    *place = (struct pace_place){ .servers = servers, .gpus = gpus };
    for (int32_t k = 0; k < n_gpus; k++) {
        int32_t server = r->gpu_server[r->gpus[r->jobs[job].first_gpu + k]];
        bool same = place->n > 0 && servers[place->n - 1] == server;
        place->n += !same;
        servers[place->n - 1] = server;
        gpus[place->n - 1] = same ? gpus[place->n - 1] + 1 : 1;
    }
}

/* Bytes that every job of a schedule sent over the links, into bins: each on its place again, by itself. */
static int replay(struct link_bins *bins, struct ground *g, const struct batch_result *r, struct err *e)
{
    const struct batch_problem *p = &g->draw.problem;
    struct pace_graph *graph = pace_graph_of(&g->pace);
    int32_t *servers = malloc(((size_t)r->n_gpus + 1) * sizeof *servers);
    int32_t *gpus = malloc(((size_t)r->n_gpus + 1) * sizeof *gpus);
    int rc = servers && gpus ? 0 : err_nomem(e, "a batch");
    if (!rc)
        rc = link_bins_build(bins, g->cluster.n_arcs, EVENTS_BINS, 0,
                             r->makespan_s * (1 + 1e-12) / EVENTS_BINS, e);
    pace_graph_reset(graph);
    for (int32_t i = 0; i < r->n_jobs && !rc; i++) {
        struct pace_place place;
        double iterations = p->jobs[i].iterations;
        find_place(&place, servers, gpus, r, i, p->jobs[i].gpus);
        rc = g->pace.begin(g->pace.x, i, &place, e);
        if (rc)
            break;
        pace_graph_count(graph, i, iterations);
        pace_graph_spread(graph, i, iterations, bins, r->jobs[i].start_s, r->jobs[i].end_s);
        g->pace.end(g->pace.x, i);
    }
    free(servers);
    free(gpus);
    return rc;
}

static int sum_links(struct place_outcome *out, const struct place_task *task, const char *name,
                     struct ground *g, const struct batch_result *r, struct err *e)
{
    struct link_bins bins = { 0 };
    double sum = 0, peak = 0;
    int rc = replay(&bins, g, r, e);
    for (int32_t a = 0; a < g->cluster.n_arcs && !rc; a++) {
        struct pace_graph_use use = pace_graph_arc(pace_graph_of(&g->pace), a);
        double frac = use.bytes / use.reach_Bps / r->makespan_s;
        sum += frac;
        peak = fmax(peak, frac);
    }
    out->x[PLACE_LINK] = sum / g->cluster.n_arcs;
    out->x[PLACE_LINK_PEAK] = peak;
    if (!rc && place_wants(task, PLACE_TABLE_LINKS))
        place_put_bins(task, name, &g->cluster, &bins, r->makespan_s);
    link_bins_free(&bins);
    return rc;
}

static int run_one(struct place_outcome *out, const struct place_task *task, int32_t scheduler,
                   struct ground *g, struct err *e)
{
    struct batch_settings settings = task->study->batch;
    struct batch_result r;
    settings.seed = (uint64_t)task->seed;
    settings.phi = g->phi;
    place_outcome_clear(out);
    int rc = batch_run(&r, (enum batch_scheduler)scheduler, &g->draw.problem, &g->pace, &settings, e);
    if (!rc && r.status == BATCH_NO_PLAN)
        rc = err_set(e, ERR_NO_DESIGN, "scheduler %s: no plan keeps every load within theta_max = %lld s",
                     batch_kinds[scheduler].name, (long long)settings.theta_max);
    if (!rc) {
        out->n_jobs = r.n_jobs;
        out->x[PLACE_MAKESPAN] = r.makespan_s;
        out->x[PLACE_JCT] = r.mean_jct_s;
        out->x[PLACE_GPU] = r.busy_frac;
        if (scheduler == BATCH_SJF_BCO)
            out->x[PLACE_GUARANTEE] = r.guarantee;
        if (place_wants_any(task))
            put_details(task, batch_kinds[scheduler].name, &r, &g->draw.problem,
                        g->on_links ? &g->cluster : NULL);
    }
    if (!rc && g->on_links)
        rc = sum_links(out, task, batch_kinds[scheduler].name, g, &r, e);
    batch_result_free(&r);
    return rc;
}

static int run_batch(struct place_outcome *out, const struct place_task *task, struct err *e)
{
    struct ground g;
    int rc = ground_build(&g, task, e);
    for (int32_t i = 0; i < task->study->n_schedulers && !rc; i++)
        rc = run_one(&out[i], task, task->study->schedulers[i], &g, e);
    ground_free(&g);
    return rc;
}

const struct place_ops place_batch = { count_schedulers, name_scheduler, &place_batch_jobs_section,
                                       read_batch, run_batch };
