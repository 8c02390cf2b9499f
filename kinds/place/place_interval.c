/*
 * Model interval of a placement study: which jobs with parameter servers are admitted to one interval, with
 * how many tasks (sim/interval/interval.h). It has a pool of resources; on servers, whose sum that is, tasks
 * of admitted jobs are placed then (sim/interval/places.h).
 *
 * Every scheduler is measured by the exact one (PLACE_OPTIMUM), which is solved once for each seed before the
 * first of them runs, whether it is in the list or not.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/place/place.h"

/* ---- keys ---- */

static const char *const training_words[] = { "sync", "async", NULL };
static const char *const layers_words[] = { "mean", "sum", NULL };
static const char *const inner_words[] = { "grid", "exact", NULL };
static const char *const scale_words[] = { "one", "literal", NULL };
static const char *const keep_words[] = { "best", "first", NULL };
static const char *const admission_words[] = { "knapsack", "first-come", "best-first", NULL };
static const char *const esw_words[] = { "largest", "best", NULL };

/*
 * What the paper leaves open. Its EC2 C4 have neither GPU nor disk, and no size is named; c4.2xlarge has 8
 * vCPU and 15 GB. Wait-free is the one example it gives of e1, e2, e3; with priority hardly any communication
 * is left to schedule for. Synchronous jobs take the mean over layers: with the sum, hardly one of them could
 * end before its due time of at most 15 hours. Asynchronous jobs take the sum: with the mean all of them end
 * within half an hour, whatever is scheduled.
 */
#define T struct place_study
static const struct key jobs_keys[] = {
    K_COUNT(T, interval_jobs, "count", 1, 1000000, 50, "number of jobs"),
    K_WORD(T, interval_async, "training", training_words, 0, "synchronous or asynchronous (default: sync)"),
    K_WORD_OR(T, interval_draw.layers, "layer_times", layers_words, -1,
              "times of a job: mean over its layers or sum, as the paper says (default: mean of sync, sum of "
              "async)"),
    K_WORD_OR(T, interval_draw.overlap, "overlap", overlap_mode_names, OVERLAP_WAIT_FREE,
              "of communication and compute of layers (default: that of the paper's runs)"),
    K_REAL(T, interval_draw.instance[SMD_VCPU], "vcpu", "", 1, 1e-3, 1e9, 8,
           "a job's limit is 1 to 20 times an instance of so many"),
    K_REAL(T, interval_draw.instance[SMD_GPU], "gpu", "", 1, 1e-3, 1e9, 4, "GPUs of an instance"),
    K_REAL(T, interval_draw.instance[SMD_MEMORY_GB], "memory_GB", "GB", 1, 1e-3, 1e9, 15,
           "memory of an instance"),
    K_REAL(T, interval_draw.instance[SMD_DISK_GB], "disk_GB", "GB", 1, 1e-3, 1e9, 20, "disk of an instance"),
    K_BOOL(T, interval_real_factor, "real_factor", false,
           "true: any factor of 1 to 20 (default: whole ones)"),
};
K_SECTION(place_interval_jobs_section, T, "jobs of model interval", jobs_keys,
          "jobs with parameter servers, drawn as in SMD's experiments");

static const struct key pool_keys[] = {
    K_REAL(T, interval_units, "units", "", 1, 1e-6, 1e6, 5,
           "size of the pool, in units of 3400 vCPU, 600 GPU, 1400 GB, 1200 GB of disk"),
};
K_SECTION(place_interval_pool_section, T, "pool of model interval", pool_keys, "resources without places");

/* What keys of smd are used for. */
enum {
    FOR_GRID = 1 << 0,
    FOR_SMD = 1 << 1,
    FOR_ESW = 1 << 2,
    FOR_BASELINES = 1 << 3,
    FOR_SUBSET = 1 << 4,
    FOR_EXACT = 1 << 5,
};
static const struct use smd_uses[] = {
    { "by scheduler smd with inner grid" }, { "by scheduler smd" },     { "by scheduler esw" },
    { "by schedulers esw and optimus" },    { "with knapsack subset" }, { "with knapsack exact" },
};
static const struct key smd_keys[] = {
    K_WORD(T, interval.inner, "inner", inner_words, 0,
           "numbers of tasks: the paper's grid and rounding, or exact", .uses = FOR_SMD),
    K_REAL(T, interval.eps, "eps", "", 1, 1e-4, 1, .05, "relative step of the grid", .uses = FOR_GRID),
    K_WORD(T, interval.rounding.scale, "m_delta", scale_words, 0,
           "scale of the rounding: one, as in the paper's runs, or as proved", .uses = FOR_GRID),
    K_REAL(T, interval.rounding.delta, "delta", "", 1, 1e-9, .999999, .5, "delta of the proof",
           .uses = FOR_GRID),
    K_COUNT(T, interval.rounding.tries, "tries", 1, 1000000, 100, "number of roundings tried",
            .uses = FOR_GRID),
    K_WORD(T, interval.rounding.keep, "keep", keep_words, 0,
           "rounding that is kept: the best, or the first that fits", .uses = FOR_GRID),
    K_WORD(T, interval.knapsack.method, "knapsack", knapsack_method_names, 0,
           "exact, or the paper's scheme of subsets"),
    K_COUNT(T, interval.knapsack.subset, "subset", 0, 64, 2,
            "scheme of subsets: largest number of jobs in a set", .uses = FOR_SUBSET),
    K_COUNT(T, interval.knapsack.max_nodes, "max_nodes", 1, 1e15, 200000,
            "exact knapsack: linear programmes before it gives up", .uses = FOR_EXACT),
    K_WORD(T, interval.baselines, "baselines", admission_words, 0,
           "how esw and optimus admit jobs: the same knapsack, first come, or the most useful first",
           .uses = FOR_BASELINES),
    K_WORD(T, interval.esw, "esw", esw_words, 0,
           "as many workers as servers: the most that fit, or the fastest", .uses = FOR_ESW),
};
K_SECTION(place_smd_section, T, "smd", smd_keys, "numbers of tasks and admission, arXiv 2105.13855",
          K_USES(smd_uses));
#undef T

/* ---- reading ---- */

static const char *interval_scheduler(int32_t i)
{
    return i < N_SMD_SCHEDULERS ? smd_scheduler_names[i] : NULL;
}

static int interval_read_jobs(struct place_study *s, struct err *e)
{
    struct smd_draw *d = &s->interval_draw;
    int rc = schema_read_or(s, &place_interval_jobs_section, &s->doc, s->file.jobs, e);
    d->sync = !s->interval_async;
    /* Its default follows from another key, known only when all keys are read. */
    if ((int32_t)d->layers < 0)
        d->layers = d->sync ? SMD_LAYERS_MEAN : SMD_LAYERS_SUM;
    d->whole_factor = !s->interval_real_factor;
    return rc;
}

/* Which of the keys of smd have a use. */
static uint64_t interval_uses(const struct place_study *s)
{
    bool smd = place_has_scheduler(s, "smd"), esw = place_has_scheduler(s, "esw");
    bool grid = smd && s->interval.inner == SMD_INNER_GRID;
    return (grid ? FOR_GRID : 0) | (smd ? FOR_SMD : 0) | (esw ? FOR_ESW : 0) |
           (esw || place_has_scheduler(s, "optimus") ? FOR_BASELINES : 0) |
           (s->interval.knapsack.method == KNAPSACK_EXACT ? FOR_EXACT : FOR_SUBSET);
}

/* Servers have the resources of jobs, all of them; s->interval_of says which is which. */
static int interval_read_servers(struct place_study *s, struct err *e)
{
    static const char *const names[N_SMD_RESOURCES] = {
        [SMD_VCPU] = "vcpu", [SMD_GPU] = "gpu", [SMD_MEMORY_GB] = "memory_GB", [SMD_DISK_GB] = "disk_GB"
    };
    yaml_id at = s->file.servers >= 0 ? s->file.servers : s->doc.root;
    int32_t n = 0;
    if (!place_has_servers(s))
        return 0;
    if (s->file.pool >= 0)
        return yaml_fail_key(&s->doc, s->file.pool, e, ERR_PARSE,
                             "is given together with servers, which are the pool; give one of them");
    for (int32_t k = 0; k < s->servers.n_resources && k < N_SMD_RESOURCES; k++)
        for (int32_t r = 0; r < N_SMD_RESOURCES; r++)
            if (strcmp(s->servers.names[k], names[r]) == 0) {
                s->interval_of[k] = r;
                n++;
            }
    /* Names of a map are distinct. */
    if (n != N_SMD_RESOURCES || s->servers.n_resources != n)
        return yaml_fail(&s->doc, at, e, ERR_PARSE,
                         "lacks resources of model interval; give servers: { gpu, vcpu, "
                         "memory_GB, disk_GB }");
    return 0;
}

static int interval_read(struct place_study *s, struct err *e)
{
    int rc = interval_read_jobs(s, e);
    if (!rc)
        rc = interval_read_servers(s, e);
    if (!rc)
        rc = schema_read_or(s, &place_interval_pool_section, &s->doc, s->file.pool, e);
    if (!rc)
        rc = schema_read_or(s, &place_smd_section, &s->doc, s->file.smd, e);
    smd_draw_pool(s->interval_pool, s->interval_units);
    if (!rc)
        place_note_unused(s, &place_smd_section, s->file.smd, interval_uses(s));
    return rc;
}

/* ---- runs ---- */

struct interval_own {
    struct smd_job *jobs;
    double pool[N_SMD_RESOURCES];
    double optimum; /* utility of the exact scheduler: what each is measured by */
};

static void interval_put_jobs(const struct place_run *run, const struct smd_result *r,
                              const struct smd_job *jobs, const struct smd_places *places)
{
    for (int32_t i = 0; i < r->n_jobs; i++) {
        const struct smd_decision *j = &r->jobs[i];
        struct place_job_row row = {
            .status = smd_fate_names[j->fate], .start = NAN, .end = NAN, .servers = NAN
        };
        /*
         * All jobs are there at once: those that run begin at 0, and the others have neither begin nor end.
         */
        if (j->fate == SMD_RUNS) {
            row.start = 0;
            row.end = j->jct_s;
            row.gpus = j->w * jobs[i].worker[SMD_GPU] + j->p * jobs[i].ps[SMD_GPU];
            row.progress = jobs[i].iterations;
            row.utility = j->utility;
        }
        if (j->fate == SMD_RUNS && run->cluster) {
            row.end = places->jobs[i].jct_s;
            row.servers = places->jobs[i].n;
            row.utility = places->jobs[i].utility;
            row.status = places->jobs[i].n ? row.status : "no room";
        }
        place_put_job(run, i, row);
    }
}

static void interval_write_result(struct place_result *out, const struct smd_result *r, double optimum)
{
    /* Means over the jobs that run, and over the resources of which some was reserved. */
    double jct_s = 0, used = 0;
    int n = 0;
    for (int32_t i = 0; i < r->n_jobs; i++)
        jct_s += r->jobs[i].fate == SMD_RUNS ? r->jobs[i].jct_s : 0;
    for (int32_t k = 0; k < r->n_resources; k++)
        if (r->reserved[k] > 0) {
            used += r->used[k] / r->reserved[k];
            n++;
        }
    out->n_jobs = r->n_jobs;
    out->x[PLACE_UTILITY] = r->utility;
    out->x[PLACE_GUARANTEE] = r->guarantee.probability > 0 ? r->guarantee.ratio : (double)NAN;
    if (r->guarantee.probability == 0)
        out->unproved = "the theorem is about the grid of smd with m_delta: literal";
    out->x[PLACE_ADMITTED] = r->n_running;
    out->x[PLACE_JCT] = r->n_running ? jct_s / r->n_running : (double)NAN;
    /* Where nothing can be had, having nothing is the optimum. */
    out->x[PLACE_OPTIMUM] = optimum > 0 ? r->utility / optimum : 1;
    out->x[PLACE_GAP] = r->gap_frac;
    out->x[PLACE_USED] = n ? used / n : (double)NAN;
    out->x[PLACE_GPU] = r->capacity[SMD_GPU] > 0 ? r->used[SMD_GPU] / r->capacity[SMD_GPU] : 0;
}

/* On servers utility and completion are those of the places, below the pool's bound and optimum. */
static void interval_write_places(struct place_result *out, const struct place_run *run,
                                  const struct smd_result *r, const struct smd_places *places)
{
    const struct interval_own *own = run->own;
    double jct_s = 0;
    for (int32_t i = 0; i < r->n_jobs; i++) {
        const struct smd_placed *at = &places->jobs[i];
        jct_s += at->n ? at->jct_s : 0;
        for (int32_t k = at->first; k < at->first + at->n; k++) {
            const struct smd_seat *seat = &places->seats[k];
            double gpus = seat->w * own->jobs[i].worker[SMD_GPU] + seat->p * own->jobs[i].ps[SMD_GPU];
            place_put_place(run, NULL, i, seat->server, gpus, 0, at->jct_s);
        }
    }
    out->x[PLACE_UTILITY] = places->utility;
    out->x[PLACE_JCT] = places->n_placed ? jct_s / places->n_placed : (double)NAN;
    out->x[PLACE_PLACED] = places->n_placed;
    out->x[PLACE_STRETCH] = places->stretch;
    out->x[PLACE_GAP] = r->bound > 0 ? (r->bound - places->utility) / r->bound : 0;
    if (own->optimum > 0)
        out->x[PLACE_OPTIMUM] = places->utility / own->optimum;
    out->x[PLACE_GUARANTEE] = NAN;
    out->unproved = "the theorem is about a pool without places";
}

/* What one scheduler does with the jobs; release with smd_result_free(). */
static int interval_decide(struct smd_result *r, enum smd_scheduler which, const struct place_run *run,
                           struct err *e)
{
    const struct place_study *s = run->study;
    const struct interval_own *own = run->own;
    struct smd_settings settings = s->interval;
    settings.seed = (uint64_t)run->seed;
    return smd_run(r, which, own->jobs, s->interval_jobs, own->pool, N_SMD_RESOURCES, &settings, e);
}

/* The exact scheduler may take far longer than those that are compared. Where max_nodes stops it, all are
 * measured by the best that it found. */
static int interval_open(struct place_run *run, struct err *e)
{
    struct interval_own *own = run->own;
    struct smd_draw draw = run->study->interval_draw;
    int32_t n = run->study->interval_jobs;
    struct smd_result best;
    draw.seed = (uint64_t)run->seed;
    memcpy(own->pool, run->study->interval_pool, sizeof own->pool);
    for (int32_t k = 0; run->cluster && k < N_SMD_RESOURCES; k++)
        own->pool[run->study->interval_of[k]] = cluster_total(run->cluster, k);
    own->jobs = calloc((size_t)n, sizeof *own->jobs);
    /* The same jobs for all schedulers of the seed. */
    int rc = own->jobs ? smd_draw_jobs(own->jobs, n, &draw, e) : err_nomem(e, "jobs");
    if (!rc)
        rc = interval_decide(&best, SMD_EXACT, run, e);
    if (rc)
        return rc;
    own->optimum = best.utility;
    smd_result_free(&best);
    return 0;
}

static void interval_close(void *x)
{
    free(((struct interval_own *)x)->jobs);
}

static int interval_run(struct place_result *out, const struct place_run *run, struct err *e)
{
    const struct interval_own *own = run->own;
    struct smd_result r;
    int rc = interval_decide(&r, (enum smd_scheduler)run->which, run, e);
    if (rc)
        return rc;
    struct smd_places places = { 0 };
    interval_write_result(out, &r, own->optimum);
    if (run->cluster)
        rc = smd_places_find(&places, &r, own->jobs, run->cluster, run->study->interval_of, e);
    if (!rc && run->cluster)
        interval_write_places(out, run, &r, &places);
    if (!rc && place_wants(run, PLACE_TABLE_JOBS))
        interval_put_jobs(run, &r, own->jobs, &places);
    smd_places_free(&places);
    smd_result_free(&r);
    return rc;
}

const struct place_ops place_interval = { "s",
                                          interval_scheduler,
                                          &place_interval_jobs_section,
                                          interval_read,
                                          sizeof(struct interval_own),
                                          interval_open,
                                          interval_run,
                                          interval_close };
