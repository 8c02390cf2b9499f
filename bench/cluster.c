/* How long schedulers of a cluster take: a slot and a run of GADGET, SJF-BCO, SMD, and events of a long
 * trace. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kinds/place/place.h"
#include "study/campaign.h"
#include "study/study.h"
#include "sim/slots/slots_draw.h"
#include "sim/slots/gadget.h"
#include "sim/batch/batch.h"
#include "sim/interval/interval.h"
#include "tests/settings.h"

enum { ROUNDS = 5, SLOTS = 200, SLOT_JOBS = 100, SEED = 101 };

/* Promised. */
#define COLD_S     0.25
#define WARM_S     0.025
#define RACKS_S    10.0
#define GENERIC_S  40.0
#define BATCH_S    2.0
#define SMD_S      0.5
#define SMD_FINE_S 3.0
#define EVENTS_S   60.0

/* @p wall_s is sorted on return. */
static void print(struct bench *b, const char *what, const char *required, double *wall_s, int n,
                  double cpu_s, double limit_s)
{
    char best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL];
    double median_s = bench_median(wall_s, n);
    bool small = limit_s < 1;
    snprintf(best, sizeof best, small ? "%.1f ms" : "%.2f s", small ? 1e3 * wall_s[0] : wall_s[0]);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * (median_s / wall_s[0] - 1));
    snprintf(cpu, sizeof cpu, small ? "%.1f ms" : "%.2f s", small ? 1e3 * cpu_s : cpu_s);
    bench_print(b, &(struct bench_line){ what, required, best, n > 1 ? spread : NULL, cpu, NULL },
                wall_s[0] <= limit_s ? BENCH_MET : BENCH_MISSED);
}

/* ---- GADGET ---- */

/* 50 servers with 70 GPUs and 100 jobs that are all there and stay: configs/clusters/gadget-profile-e.yaml.
 */
struct slots {
    struct cluster cluster;
    struct draw_jobs jobs;
    struct elastic_settings settings;
};

static void draw_slots(struct slots *x)
{
    const struct yaml_doc *none = NULL;
    struct draw_racks racks;
    struct draw_elastic jobs;
    struct err e = { 0 };
    x->settings = elastic_settings_default();
    x->settings.n_slots = SLOTS;
    x->settings.seed = SEED;
    int rc = draw_read_racks(&racks, none, -1, &e);
    if (!rc)
        rc = draw_read_elastic(&jobs, none, -1, &e);
    if (rc)
        bench_stop("%s", e.msg);
    racks.servers = 50;
    racks.total_gpus = 70;
    jobs.count = SLOT_JOBS;
    jobs.arrivals = DRAW_AT_ONCE;
    jobs.zeta_scale = 0.03;
    jobs.budget = DRAW_BUDGET_LITERAL;
    if (draw_racks(&x->cluster, &racks, SEED, &e) || draw_elastic_jobs(&x->jobs, &jobs, SLOTS, SEED, &e))
        bench_stop("%s", e.msg);
}

/* What a job has after a slot; all stay active, for none uses its budget up. */
struct progress {
    double used[SLOT_JOBS], done[SLOT_JOBS];
    int32_t active[SLOT_JOBS];
};

static void add_progress(struct progress *p, const struct elastic_choice *choice, const struct slots *x)
{
    for (int32_t i = 0; i < choice->n_rings; i++) {
        const struct elastic_ring *r = &choice->rings[i];
        p->used[r->job] += r->workers_total;
        p->done[r->job] += elastic_gain(&x->jobs.jobs[r->job], r->workers_total, r->rate);
    }
}

/* Every slot of a run timed by itself: the first one finds nothing, the others the columns of those before.
 */
static void time_slots(double wall_s[SLOTS], double cpu_s[SLOTS], const struct slots *x)
{
    struct progress p = { .used = { 0 } };
    struct elastic_choice choice = { 0 };
    struct err e = { 0 };
    void *self;
    for (int32_t i = 0; i < SLOT_JOBS; i++)
        p.active[i] = i;
    struct bench_time begin = bench_now();
    if (elastic_gadget.build(&self, &x->cluster, x->jobs.jobs, x->jobs.n, &x->settings, &e))
        bench_stop("%s", e.msg);
    for (int32_t t = 0; t < SLOTS; t++) {
        struct elastic_note note = { .bound = NAN };
        const struct elastic_slot slot = { .cluster = &x->cluster,
                                           .jobs = x->jobs.jobs,
                                           .n_jobs = x->jobs.n,
                                           .slot = t + 1,
                                           .used = p.used,
                                           .done = p.done,
                                           .active = p.active,
                                           .n_active = SLOT_JOBS };
        elastic_choice_clear(&choice);
        if (elastic_gadget.choose(&choice, &note, self, &slot, &e))
            bench_stop("%s", e.msg);
        struct bench_time end = bench_now();
        wall_s[t] = end.wall_s - begin.wall_s;
        cpu_s[t] = end.cpu_s - begin.cpu_s;
        add_progress(&p, &choice, x);
        begin = bench_now();
    }
    elastic_gadget.free(self);
    elastic_choice_free(&choice);
}

static void bench_slot(struct bench *b, const struct slots *x)
{
    double wall_s[SLOTS], cpu_s[SLOTS], cold_s[ROUNDS], warm_s[ROUNDS], cold_cpu_s = (double)INFINITY,
                                                                        warm_cpu_s = (double)INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        time_slots(wall_s, cpu_s, x);
        cold_s[i] = wall_s[0];
        cold_cpu_s = fmin(cold_cpu_s, cpu_s[0]);
        warm_s[i] = bench_median(wall_s + 1, SLOTS - 1);
        warm_cpu_s = fmin(warm_cpu_s, bench_median(cpu_s + 1, SLOTS - 1));
    }
    print(b, "GADGET, the first slot", "<= 250 ms", cold_s, ROUNDS, cold_cpu_s, COLD_S);
    print(b, "   median of the 199 slots after it", "<= 25 ms", warm_s, ROUNDS, warm_cpu_s, WARM_S);
}

static void bench_run(struct bench *b, const struct slots *x, bool racks)
{
    struct elastic_settings settings = x->settings;
    double wall_s[ROUNDS], cpu_s = (double)INFINITY;
    settings.generic_pricing = !racks;
    for (int i = 0; i < ROUNDS; i++) {
        struct elastic_result r;
        struct err e = { 0 };
        struct bench_time begin = bench_now();
        if (elastic_run(&r, &elastic_gadget, &x->cluster, x->jobs.jobs, x->jobs.n, &settings, false, &e))
            bench_stop("%s", e.msg);
        struct bench_time end = bench_now();
        wall_s[i] = end.wall_s - begin.wall_s;
        cpu_s = fmin(cpu_s, end.cpu_s - begin.cpu_s);
        elastic_result_free(&r);
    }
    print(b, racks ? "   200 slots, by racks" : "   200 slots, as on any graph",
          racks ? "<= 10 s" : "<= 40 s", wall_s, ROUNDS, cpu_s, racks ? RACKS_S : GENERIC_S);
}

/* ---- SJF-BCO ---- */

static void bench_batch(struct bench *b)
{
    struct sjf_draw_settings draw = sjf_draw_default();
    struct batch_settings settings = batch_settings_default();
    double wall_s[ROUNDS], cpu_s = (double)INFINITY;
    struct sjf_draw d;
    struct pace pace;
    struct err e = { 0 };
    draw.seed = SEED;
    if (sjf_draw_build(&d, &draw, &e) || pace_paper_build(&pace, &d.contention, &d.problem, &e))
        bench_stop("%s", e.msg);
    for (int i = 0; i < ROUNDS; i++) {
        struct batch_result r;
        struct bench_time begin = bench_now();
        if (batch_run(&r, BATCH_SJF_BCO, &d.problem, &pace, &settings, &e) || r.status != BATCH_DONE)
            bench_stop("%s", e.msg);
        struct bench_time end = bench_now();
        wall_s[i] = end.wall_s - begin.wall_s;
        cpu_s = fmin(cpu_s, end.cpu_s - begin.cpu_s);
        batch_result_free(&r);
    }
    pace.free(pace.x);
    sjf_draw_free(&d);
    print(b, "SJF-BCO, 160 jobs on 20 servers, all kappa", "<= 2 s", wall_s, ROUNDS, cpu_s, BATCH_S);
}

/* ---- SMD ---- */

static void bench_smd(struct bench *b, const char *what, const char *required, double eps, double limit_s)
{
    enum { N_JOBS = 200 };
    struct smd_job *jobs = bench_alloc(N_JOBS * sizeof *jobs);
    struct smd_draw draw = smd_draw_default(true);
    struct smd_settings settings = smd_settings_default();
    double wall_s[ROUNDS], cpu_s = (double)INFINITY, pool[N_SMD_RESOURCES];
    struct err e = { 0 };
    draw.seed = SEED;
    settings.eps = eps;
    smd_draw_pool(pool, 5);
    if (smd_draw_jobs(jobs, N_JOBS, &draw, &e))
        bench_stop("%s", e.msg);
    for (int i = 0; i < ROUNDS; i++) {
        struct smd_result r;
        struct bench_time begin = bench_now();
        if (smd_run(&r, SMD_SMD, jobs, N_JOBS, pool, N_SMD_RESOURCES, &settings, &e) || !r.complete)
            bench_stop("%s", e.msg);
        struct bench_time end = bench_now();
        wall_s[i] = end.wall_s - begin.wall_s;
        cpu_s = fmin(cpu_s, end.cpu_s - begin.cpu_s);
        smd_result_free(&r);
    }
    free(jobs);
    print(b, what, required, wall_s, ROUNDS, cpu_s, limit_s);
}

/* ---- events ---- */

/* 1,000 systems of 8 GPUs and 10,000 jobs, nine orders and placements one after the other. */
static void bench_events(struct bench *b)
{
    static const char study[] = "configs/clusters/spine-cost.yaml";
    static const struct study_override set[] = {
        { "seeds", "1" },
        { "network.dims.pod.sizes", "[25, 40]" },
        { "vary", "{ network.dims.pod.taper: [2] }" },
        { "jobs.count", "10000" },
        { "jobs.jobs_per_h", "16" },
        { "schedulers",
          "[fifo, fifo+first-fit, fifo+spread, fifo+topology, fifo+random, sjf, srtf, las, drf]" },
    };
    const int32_t n_set = sizeof set / sizeof set[0];
    const struct study_ask ask = { .kind = &place_kind,
                                   .from = { .path = study, .overrides = set, .n = n_set } };
    double wall_s[1];
    struct study p;
    struct table t = { 0 };
    struct err e = { 0 };
    if (study_open(&p, &ask, &e))
        bench_stop("%s", e.msg);
    struct bench_time begin = bench_now();
    if (campaign_rows(&t, &p, 1, &e))
        bench_stop("%s", e.msg);
    struct bench_time end = bench_now();
    wall_s[0] = end.wall_s - begin.wall_s;
    for (int64_t i = 0; i < t.n_rows; i++)
        if (!(table_number(&t, i, table_find(&t, "finished")) == 10000))
            bench_stop("row %d of the long trace did not finish", (int)i);
    table_free(&t);
    study_close(&p);
    print(b, "Events, 10,000 jobs on 1,000 servers, 9 schedulers", "<= 60 s", wall_s, 1,
          end.cpu_s - begin.cpu_s, EVENTS_S);
}

void bench_cluster(struct bench *b)
{
    struct slots x;
    bench_head(b, "jobs on a cluster");
    draw_slots(&x);
    bench_slot(b, &x);
    bench_run(b, &x, true);
    bench_run(b, &x, false);
    draw_jobs_free(&x.jobs);
    cluster_free(&x.cluster);
    bench_batch(b);
    bench_smd(b, "SMD, 200 jobs, eps 0.05, exact admission", "<= 500 ms", 0.05, SMD_S);
    bench_smd(b, "   eps 0.01", "<= 3 s", 0.01, SMD_FINE_S);
    bench_events(b);
}
