/* Model interval: which jobs with parameter servers are admitted to one interval, with how many tasks. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "kinds/place/place_study.h"

/* ---- keys ---- */

static const char *const training_words[] = { "sync", "async", NULL };
static const char *const layers_words[] = { "mean", "sum", NULL };
static const char *const inner_words[] = { "grid", "exact", NULL };
static const char *const scale_words[] = { "one", "literal", NULL };
static const char *const keep_words[] = { "best", "first", NULL };
static const char *const admission_words[] = { "knapsack", "first-come", "best-first", NULL };
static const char *const esw_words[] = { "largest", "best", NULL };

#define T struct place_study
static const struct key jobs_keys[] = {
    K_COUNT(T, interval_jobs, "count", 1, 1000000, 50, "how many jobs"),
    K_WORD(T, interval_async, "training", training_words, 0, "synchronous or asynchronous; absent: sync"),
    K_WORD_OR(T, interval_draw.layers, "layer_times", layers_words, -1,
              "times of a job: mean over its layers or sum, as the paper says; absent: mean of sync, sum of "
              "async"),
    K_WORD_OR(T, interval_draw.overlap, "overlap", overlap_mode_names, -1,
              "of communication and compute of layers; absent: that of the paper's runs"),
    K_REAL(T, interval_draw.instance[SMD_VCPU], "vcpu", "", 1, 1e-3, 1e9, 8,
           "a job's limit is 1 to 20 times an instance of so many"),
    K_REAL(T, interval_draw.instance[SMD_GPU], "gpu", "", 1, 1e-3, 1e9, 4, "of an instance"),
    K_REAL(T, interval_draw.instance[SMD_MEMORY_GB], "memory_GB", "GB", 1, 1e-3, 1e9, 15, "of an instance"),
    K_REAL(T, interval_draw.instance[SMD_DISK_GB], "disk_GB", "GB", 1, 1e-3, 1e9, 20, "of an instance"),
    K_BOOL(T, interval_real_factor, "real_factor", false, "true: any factor of 1 to 20; absent: whole ones"),
};
K_SECTION(place_interval_jobs_section, T, "jobs of model interval", jobs_keys,
          "jobs with parameter servers, drawn as in SMD's experiments");

static const struct key pool_keys[] = {
    K_REAL(T, interval_units, "units", "", 1, 1e-6, 1e6, 5,
           "times 3400 vCPU, 600 GPU, 1400 GB, 1200 GB of disk"),
};
K_SECTION(place_interval_pool_section, T, "pool of model interval", pool_keys, "resources without places");

static const struct key smd_keys[] = {
    K_WORD(T, interval.inner, "inner", inner_words, 0,
           "numbers of tasks: the paper's grid and rounding, or exact"),
    K_REAL(T, interval.eps, "eps", "", 1, 1e-4, 1, .05, "of the grid, relative"),
    K_WORD(T, interval.rounding.scale, "m_delta", scale_words, 0,
           "scale of the rounding: one, as in the paper's runs, or as proved"),
    K_REAL(T, interval.rounding.delta, "delta", "", 1, 1e-9, .999999, .5, "of the proof"),
    K_COUNT(T, interval.rounding.tries, "tries", 1, 1000000, 100, "of the rounding"),
    K_WORD(T, interval.rounding.keep, "keep", keep_words, 0,
           "of the tries: the best, or the first that fits"),
    K_WORD(T, interval.knapsack.method, "knapsack", knapsack_method_names, 0,
           "exact, or the paper's scheme of subsets"),
    K_COUNT(T, interval.knapsack.subset, "subset", 0, 64, 2, "of the scheme: sets of up to so many jobs"),
    K_COUNT(T, interval.knapsack.max_nodes, "max_nodes", 1, 1e15, 200000,
            "of exact: linear programmes before it gives up"),
    K_WORD(T, interval.baselines, "baselines", admission_words, 0,
           "how esw and optimus admit jobs: the same knapsack, first come, or the most useful first"),
    K_WORD(T, interval.esw, "esw", esw_words, 0,
           "as many workers as servers: the most that fit, or the fastest"),
};
K_SECTION(place_smd_section, T, "smd", smd_keys, "numbers of tasks and admission, arXiv 2105.13855");
#undef T

/* ---- reading ---- */

static int32_t count_schedulers(void)
{
    return N_SMD_SCHEDULERS;
}

static const char *name_scheduler(int32_t i)
{
    return smd_scheduler_names[i];
}

static int read_jobs(struct place_study *s, struct err *e)
{
    struct smd_draw *d = &s->interval_draw;
    int rc = place_read_section(s, &place_interval_jobs_section, s->conf.jobs, e);
    const struct smd_draw usual = smd_draw_default(!s->interval_async);
    d->sync = usual.sync;
    d->seed = usual.seed;
    d->layers = (int32_t)d->layers < 0 ? usual.layers : d->layers;
    d->overlap = (int32_t)d->overlap < 0 ? usual.overlap : d->overlap;
    d->whole_factor = !s->interval_real_factor;
    return rc;
}

static bool has_scheduler(const struct place_study *s, enum smd_scheduler which)
{
    for (int32_t i = 0; i < s->n_schedulers; i++)
        if (s->schedulers[i] == (int32_t)which)
            return true;
    return false;
}

static void note_interval(struct place_study *s)
{
    static const char *const grid[] = { "eps", "m_delta", "delta", "tries", "keep" };
    yaml_id map = s->conf.smd;
    bool smd = has_scheduler(s, SMD_SMD), esw = has_scheduler(s, SMD_ESW);
    for (size_t i = 0; i < sizeof grid / sizeof grid[0]; i++)
        if (!smd || s->interval.inner == SMD_INNER_EXACT)
            place_note_key(s, map, grid[i], "it is used only by scheduler smd with inner grid");
    if (!smd)
        place_note_key(s, map, "inner", "it is used only by scheduler smd");
    if (!esw)
        place_note_key(s, map, "esw", "it is used only by scheduler esw");
    if (!esw && !has_scheduler(s, SMD_OPTIMUS))
        place_note_key(s, map, "baselines", "it is used only by schedulers esw and optimus");
    if (s->interval.knapsack.method == KNAPSACK_EXACT)
        place_note_key(s, map, "subset", "it is used only with knapsack subset");
    else
        place_note_key(s, map, "max_nodes", "it is used only with knapsack exact");
}

static int read_interval(struct place_study *s, struct err *e)
{
    s->interval = smd_settings_default();
    int rc = read_jobs(s, e);
    if (!rc)
        rc = place_read_section(s, &place_interval_pool_section, s->conf.pool, e);
    if (!rc)
        rc = place_read_section(s, &place_smd_section, s->conf.smd, e);
    smd_draw_pool(s->interval_pool, s->interval_units);
    if (!rc)
        note_interval(s);
    return rc;
}

/* ---- runs ---- */

static void put_jobs(const struct place_task *task, const char *name, const struct smd_result *r,
                     const struct smd_job *jobs)
{
    char id[PLACE_JOB];
    for (int32_t i = 0; i < r->n_jobs && place_wants(task, PLACE_TABLE_JOBS); i++) {
        const struct smd_decision *j = &r->jobs[i];
        bool runs = j->fate == SMD_RUNS;
        place_job_name(id, i);
        const struct place_job_row row = {
            .id = id,
            .status = smd_fate_names[j->fate],
            .unit = "s",
            .submit = 0,
            .start = runs ? 0 : (double)NAN,
            .end = runs ? j->jct_s : (double)NAN,
            .jct = runs ? j->jct_s : (double)NAN,
            .gpus = runs ? j->w * jobs[i].worker[SMD_GPU] + j->p * jobs[i].ps[SMD_GPU] : 0,
            .servers = NAN,
            .progress = runs ? jobs[i].iterations : 0,
            .utility = runs ? j->utility : 0,
        };
        place_put_job(task, name, &row);
    }
}

static void sum_up(struct place_outcome *out, const struct smd_result *r, double optimum)
{
    double jct_s = 0, used = 0;
    int n = 0;
    for (int32_t i = 0; i < r->n_jobs; i++)
        jct_s += r->jobs[i].fate == SMD_RUNS ? r->jobs[i].jct_s : 0;
    for (int32_t k = 0; k < r->n_resources; k++)
        if (r->reserved[k] > 0) {
            used += r->used[k] / r->reserved[k];
            n++;
        }
    place_outcome_clear(out);
    out->n_jobs = r->n_jobs;
    out->x[PLACE_UTILITY] = r->utility;
    out->x[PLACE_GUARANTEE] = r->guarantee.probability > 0 ? r->guarantee.ratio : (double)NAN;
    out->x[PLACE_ADMITTED] = r->n_running;
    out->x[PLACE_JCT] = r->n_running ? jct_s / r->n_running : (double)NAN;
    out->x[PLACE_OPTIMUM] = optimum > 0 ? r->utility / optimum : 1;
    out->x[PLACE_GAP] = r->gap_frac;
    out->x[PLACE_USED] = n ? used / n : (double)NAN;
    out->x[PLACE_GPU] = r->capacity[SMD_GPU] > 0 ? r->used[SMD_GPU] / r->capacity[SMD_GPU] : 0;
}

static int run_all(struct place_outcome *out, const struct place_task *task, const struct smd_job *jobs,
                   int32_t n, struct err *e)
{
    const struct place_study *s = task->study;
    struct smd_settings settings = s->interval;
    struct smd_result best, r;
    settings.seed = (uint64_t)task->seed;
    /* Once for all: what each scheduler is measured by. */
    int rc = smd_run(&best, SMD_EXACT, jobs, n, s->interval_pool, N_SMD_RESOURCES, &settings, e);
    for (int32_t i = 0; i < s->n_schedulers && !rc; i++) {
        enum smd_scheduler which = (enum smd_scheduler)s->schedulers[i];
        rc = smd_run(&r, which, jobs, n, s->interval_pool, N_SMD_RESOURCES, &settings, e);
        if (!rc)
            sum_up(&out[i], &r, best.utility);
        if (!rc && place_wants_any(task))
            put_jobs(task, smd_scheduler_names[which], &r, jobs);
        smd_result_free(&r);
    }
    smd_result_free(&best);
    return rc;
}

static int run_interval(struct place_outcome *out, const struct place_task *task, struct err *e)
{
    struct smd_draw draw = task->study->interval_draw;
    int32_t n = task->study->interval_jobs;
    struct smd_job *jobs = calloc((size_t)n, sizeof *jobs);
    draw.seed = (uint64_t)task->seed;
    int rc = jobs ? smd_draw_jobs(jobs, n, &draw, e) : err_nomem(e, "jobs");
    if (!rc)
        rc = run_all(out, task, jobs, n, e);
    free(jobs);
    return rc;
}

const struct place_ops place_interval = { count_schedulers, name_scheduler, &place_interval_jobs_section,
                                          read_interval, run_interval };
