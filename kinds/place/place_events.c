/* Model events: gang jobs of a trace that come and go, sharing the links of the network. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/place/place_events.h"

/* Schedulers are pairs of an order and a placement: "las+topology"; packed is not said. */
enum { N_PAIRS = N_EVENTS_ORDERS * N_PACK_KINDS };

static const char *const pair_names[N_PAIRS] = {
    "fifo", "fifo+first-fit", "fifo+spread", "fifo+topology", "fifo+random",
    "sjf",  "sjf+first-fit",  "sjf+spread",  "sjf+topology",  "sjf+random",
    "srtf", "srtf+first-fit", "srtf+spread", "srtf+topology", "srtf+random",
    "las",  "las+first-fit",  "las+spread",  "las+topology",  "las+random",
    "drf",  "drf+first-fit",  "drf+spread",  "drf+topology",  "drf+random",
};
static const enum pack_kind pair_packs[N_PACK_KINDS] = { PACK_PACKED, PACK_FIRST_FIT, PACK_SPREAD,
                                                         PACK_TOPOLOGY, PACK_RANDOM };

static int32_t count_schedulers(void)
{
    return N_PAIRS;
}

static const char *name_scheduler(int32_t i)
{
    return pair_names[i];
}

enum events_order place_pair_order(int32_t scheduler)
{
    return (enum events_order)(scheduler / N_PACK_KINDS);
}

/* ---- jobs ---- */

/* What was passed over, what readers found odd, and what was drawn. */
static void note_trace(struct text *notes, const struct trace *t, const struct place_trace *from,
                       int64_t n_unlike)
{
    const char *path = from->path;
    if (n_unlike)
        text_printf(notes, "%s: lacks the model of %lld job%s, another one stands in for its sizes\n",
                    from->profile, (long long)n_unlike, n_unlike == 1 ? "" : "s");
    /* Of jobs that are drawn, not read, the study says so itself. */
    if (!path)
        return;
    if (t->n_skipped || t->n_no_gpu)
        text_printf(notes, "%s: of %lld records %lld are bad and passed over, %lld ask for no GPU\n", path,
                    (long long)t->n_records, (long long)t->n_skipped, (long long)t->n_no_gpu);
    for (const char *line = text_str(&t->notes); *line; line = strchr(line, '\n') + 1) {
        bool placed = strncmp(line, path, strlen(path)) == 0;
        text_printf(notes, "%s%s%.*s\n", placed ? "" : path, placed ? "" : ": ", (int)strcspn(line, "\n"),
                    line);
    }
    struct text drawn = { 0 };
    trace_list_synthetic(&drawn, t);
    if (drawn.n)
        text_printf(notes, "%s: synthetic, of %d job%s: %s\n", path, (int)t->n, t->n == 1 ? "" : "s",
                    text_str(&drawn));
    notes->failed = notes->failed || drawn.failed;
    text_free(&drawn);
}

int place_take_trace(struct trace *t, const struct place_trace *from, int64_t seed, struct text *notes,
                     struct err *e)
{
    const struct trace_settings settings = { .skip_bad = from->skip_bad };
    struct trace_window window = from->window;
    struct trace_fill_counts counts;
    struct trace_profile profile;
    int rc = from->profile ? trace_read_profile(&profile, from->profile, e) : 0;
    if (rc)
        return rc;
    window.seed = (uint64_t)seed;
    if (!from->path)
        rc = trace_draw_arrivals(t, (int32_t)window.n, from->jobs_per_s, (uint64_t)seed, e);
    else
        rc = trace_read(t, from->format, from->path, &settings, e);
    if (rc)
        return rc;
    rc = trace_prepare(t, from->path ? &window : NULL, from->profile ? &profile : NULL, (uint64_t)seed,
                       &counts, e);
    if (rc) {
        trace_free(t);
        return from->path ? err_wrap(e, "%s", from->path) : rc;
    }
    if (notes)
        note_trace(notes, t, from, counts.n_unlike);
    return 0;
}

static int need(const struct trace_job *t, bool known, const char *what, struct err *e)
{
    return known
               ? 0
               : err_set(e, ERR_RANGE,
                         "job %s: %s is 0 or not known, need a trace that has it or jobs.profile to draw it",
                         t->id, what);
}

int place_check_known(const struct trace_job *t, struct err *e)
{
    int rc = need(t, t->gpus >= 1, "number of GPUs", e);
    if (!rc)
        rc = need(t, isfinite(t->runtime_s) && t->runtime_s > 0, "run time", e);
    return rc ? rc : need(t, t->iters >= 1, "number of iterations", e);
}

/* A job runs as long as the trace says when it has its best place to itself, or does as many iterations. */
static int make_job(struct gang_job *j, const struct trace_job *t, const struct place_trace *from,
                    struct err *e)
{
    *j = gang_job_default();
    int rc = place_check_known(t, e);
    if (rc)
        return rc;
    j->id = t->id;
    j->submit_s = t->submit_s;
    j->gpus = t->gpus;
    j->param_servers = t->ps > 0 ? t->ps : 0;
    j->compute_s = t->runtime_s / (double)t->iters;
    j->gradient_B = t->grad_bytes > 0 ? t->grad_bytes : 0;
    j->hidden_s = from->overlap_frac * j->compute_s;
    j->runtime_s = from->by_iterations ? (double)NAN : t->runtime_s;
    j->iterations = from->by_iterations ? (double)t->iters : (double)NAN;
    return 0;
}

/* Jobs whose names are borrowed from the trace. */
static int make_jobs(struct gang_job **out, const struct trace *t, const struct place_trace *from,
                     struct err *e)
{
    struct gang_job *jobs = calloc((size_t)t->n + 1, sizeof *jobs);
    int rc = jobs ? 0 : err_nomem(e, "jobs");
    for (int32_t i = 0; i < t->n && !rc; i++)
        rc = make_job(&jobs[i], &t->jobs[i], from, e);
    *out = jobs;
    return rc;
}

/* ---- details ---- */

static const char *end_word(enum events_end end)
{
    static const char *const words[] = { "done", "running", "waiting", "absent" };
    return words[end];
}

static void put_jobs(const struct place_task *task, const char *name, const struct events_result *r,
                     const struct gang_job *jobs, const struct trace *trace)
{
    char buf[GANG_NAME];
    for (int32_t i = 0; i < r->n_jobs; i++) {
        const struct events_job *j = &r->jobs[i];
        const struct place_job_row row = {
            .id = gang_job_name(buf, &jobs[i], i),
            .status = end_word(j->end),
            .unit = "s",
            .submit = jobs[i].submit_s,
            .start = j->start_s,
            .end = j->end_s,
            .jct = j->jct_s,
            .gpus = jobs[i].gpus,
            .servers = j->servers,
            .progress = j->iterations,
            .utility = NAN,
            .synthetic = trace->jobs[i].synthetic,
        };
        place_put_job(task, name, &row);
    }
}

static void put_spans(const struct place_task *task, const char *name, const struct events_result *r,
                      const struct gang_job *jobs, const struct cluster *c)
{
    char buf[GANG_NAME];
    for (int32_t i = 0; i < r->n_spans; i++) {
        const struct events_span *s = &r->spans[i];
        place_put_place(task, name, gang_job_name(buf, &jobs[s->job], s->job), c, s->server, s->gpus,
                        (struct place_span){ s->from_s, s->to_s, "s" });
    }
}

static void put_points(const struct place_task *task, const char *name, const struct events_result *r,
                       const struct cluster *c)
{
    double gpus = cluster_total(c, 0);
    for (int32_t i = 0; i < r->n_points; i++) {
        const struct events_point *p = &r->points[i];
        const struct place_slot_row row = { .active = p->running + p->waiting,
                                            .running = p->running,
                                            .gpu_frac = gpus > 0 ? (double)p->gpus / gpus : 0,
                                            .reserved_Bps = NAN,
                                            .link_frac = NAN,
                                            .note = place_no_note() };
        double to_s = i + 1 < r->n_points ? r->points[i + 1].time_s : r->last_s;
        place_put_slot(task, name, &row, (struct place_span){ p->time_s, to_s, "s" });
    }
}

static void put_details(const struct place_task *task, const char *name, const struct events_result *r,
                        const struct gang_job *jobs, const struct trace *trace, const struct cluster *c)
{
    const struct place_details *d = task->details;
    if (d->jobs)
        put_jobs(task, name, r, jobs, trace);
    if (d->places)
        put_spans(task, name, r, jobs, c);
    if (d->slots)
        put_points(task, name, r, c);
    if (d->links && r->bins.bytes)
        place_put_bins(task, name, c, &r->bins, r->last_s);
}

/* ---- a run ---- */

static void sum_up(struct place_outcome *out, const struct events_result *r)
{
    double sum = 0, peak = 0;
    for (int32_t a = 0; a < r->n_arcs && r->arcs; a++) {
        sum += r->arcs[a].mean_frac;
        peak = fmax(peak, r->arcs[a].mean_frac);
    }
    place_outcome_clear(out);
    out->n_jobs = r->n_jobs;
    out->x[PLACE_FINISHED] = r->n_done;
    /* Cut off by the horizon there is no last end, only the horizon. */
    if (r->n_done == r->n_jobs)
        out->x[PLACE_MAKESPAN] = r->makespan_s;
    out->x[PLACE_JCT] = r->mean_jct_s;
    out->x[PLACE_JCT_P50] = r->median_jct_s;
    out->x[PLACE_JCT_P95] = r->p95_jct_s;
    out->x[PLACE_WAIT] = r->mean_wait_s;
    out->x[PLACE_STRETCH] = r->mean_stretch;
    out->x[PLACE_GPU] = r->gpu_frac;
    out->x[PLACE_LINK] = r->n_arcs ? sum / r->n_arcs : 0;
    out->x[PLACE_LINK_PEAK] = peak;
}

void place_fix_pace(struct pace_graph_settings *pace, const struct place_study *s)
{
    *pace = s->pace;
    pace->inner = s->servers.has_network && s->servers.level > 0 ? &s->servers.net : NULL;
    pace->level = s->servers.level;
}

static int run_all(struct place_outcome *out, const struct place_task *task, const struct cluster *c,
                   const struct gang_job *jobs, const struct trace *trace, struct err *e)
{
    const struct place_study *s = task->study;
    const int32_t n = trace->n;
    struct events_settings settings = s->events;
    struct pace_graph_settings how;
    struct pace pace = { 0 };
    place_fix_pace(&how, s);
    settings.seed = (uint64_t)task->seed;
    settings.keep_spans = task->details && task->details->places;
    settings.keep_bins = task->details && task->details->links;
    settings.keep_points = task->details && task->details->slots;
    int rc = pace_graph_build(&pace, c, jobs, n, &how, e);
    const struct events_problem problem = { .cluster = c, .jobs = jobs, .n_jobs = n, .pace = &pace };
    for (int32_t i = 0; i < s->n_schedulers && !rc; i++) {
        struct events_result r;
        settings.order = place_pair_order(s->schedulers[i]);
        settings.pack = pair_packs[s->schedulers[i] % N_PACK_KINDS];
        rc = events_run(&r, &problem, &settings, e);
        if (!rc && task->details)
            put_details(task, pair_names[s->schedulers[i]], &r, jobs, trace, c);
        if (!rc)
            sum_up(&out[i], &r);
        events_result_free(&r);
    }
    if (pace.free)
        pace.free(pace.x);
    return rc;
}

/* The size first: here it is known which key helps. */
static int check_job(const struct gang_job *job, int32_t number, const struct cluster *c,
                     const struct place_trace *from, double total_gpus, struct err *e)
{
    char buf[GANG_NAME];
    if (!(job->gpus > total_gpus))
        return gang_job_check(job, number, c, total_gpus, e);
    return err_set(e, ERR_RANGE, "job %s: asks for %d GPUs, need at most the %g of the cluster%s",
                   gang_job_name(buf, job, number), (int)job->gpus, total_gpus,
                   from->path ? "; jobs.max_gpus leaves larger jobs out" : ", or a profile of smaller jobs");
}

static int run_events(struct place_outcome *out, const struct place_task *task, struct err *e)
{
    const struct place_study *s = task->study;
    struct trace trace = { 0 };
    struct gang_job *jobs = NULL;
    struct cluster c;
    double total = 0;
    int rc = place_build_cluster(&c, s, task->seed, e);
    if (!rc)
        rc = place_take_trace(&trace, &s->trace, task->seed, task->notes, e);
    if (!rc)
        rc = make_jobs(&jobs, &trace, &s->trace, e);
    if (!rc)
        total = cluster_total(&c, 0);
    for (int32_t i = 0; i < trace.n && !rc; i++)
        rc = check_job(&jobs[i], i, &c, &s->trace, total, e);
    if (!rc)
        rc = run_all(out, task, &c, jobs, &trace, e);
    free(jobs);
    trace_free(&trace);
    cluster_free(&c);
    return rc;
}

const struct place_kind place_events = { count_schedulers, name_scheduler, &place_trace_section,
                                         place_read_events, run_events };
