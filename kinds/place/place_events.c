/*
 * Model events of a placement study: gang jobs of a trace that come and go, sharing the links of the network
 * (sim/events/events.h). Here too is what other models take from it: jobs of a trace (slots), and how fast
 * jobs run on links (batch).
 *
 * A scheduler is an order of jobs and a placement, numbered order * N_PACK_KINDS + placement; numbers are of
 * this list, so rows of stores name schedulers and never number them.
 *
 * The length of a job is the count of its iterations, each as long as run time over iterations. With `length:
 * runtime`, and of jobs that have none of their own, it is its run time in the trace where it has its best
 * place to itself; contention and worse places stretch it.
 */
#include "kinds/place/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "study/source.h"

#define YEAR_S (8760 * 3600.0)

/* ---- keys ---- */

static const char *const length_words[] = {
    [PLACE_RUNTIME] = "runtime", [PLACE_ITERATIONS] = "iterations", NULL
};

/* What keys of a trace's jobs are used for. */
enum { FOR_MODEL_EVENTS = 1 << 0, FOR_FILE = 1 << 1 };
static const struct use trace_uses[] = { { "by model events" }, { "with jobs of a trace" } };

#define T struct place_trace
static const struct key trace_keys[] = {
    K_REMARK("trace", "a file of jobs (default: arrivals are drawn, see jobs_per_h)"),
    K_WORD_OR(T, format, "format", trace_format_words, N_TRACE_FORMATS - 1,
              "of the trace (default: csv, what weft import --trace writes)", .uses = FOR_FILE),
    K_BOOL(T, skip_bad, "skip_bad", false, "true: pass over bad records (default: the first one is an error)",
           .uses = FOR_FILE),
    K_REMARK("profile", "a file of distributions: what the trace does not tell is drawn from it"),
    K_LIST_OWNED(T, mix, n_mix, "mix", 1, PLACE_MAX_MIX, &place_mix_section,
                 "models that jobs train: drawn by share, or those that column model of the trace names",
                 .uses = FOR_MODEL_EVENTS),
    K_COUNT_OR(T, window.n, "count", 1, 10000000, 0, "number of jobs (default: all of the trace)"),
    K_COUNT_OR(T, window.start, "start", 0, 1e15, -1,
               "the first job of the trace, from 0 (default: 0, or with count drawn by the seed)",
               .uses = FOR_FILE),
    K_COUNT_OR(T, window.max_gpus, "max_gpus", 1, TRACE_MAX_GPUS, 0, "jobs that ask for more are left out",
               .uses = FOR_FILE),
    K_REAL_OR(T, window.horizon_s, "horizon_s", "s", 1, 0, 1e12, NAN,
              "time at which the last job arrives, all others in proportion (default: as in the trace)",
              .uses = FOR_FILE),
    K_REAL(T, window.rate, "rate", "", 1, 1e-6, 1e6, 1,
           "factor of the rate at which jobs arrive in the trace", .uses = FOR_FILE),
    K_REAL_OR(T, jobs_per_s, "jobs_per_h", "1/h", 1.0 / 3600, 1e-6, 1e9, NAN,
              "without trace: mean arrivals of a Poisson process"),
    K_WORD_OR(T, length, "length", length_words, -1,
              "a job runs as long as the trace says where it is best off alone, or does as many iterations "
              "(default: iterations, where all jobs have some of their own and not from their run times)",
              .uses = FOR_MODEL_EVENTS),
    K_REAL_OR(T, step_s, "step_s", "s", 1, 1e-6, 1e9, NAN,
              "time of an iteration: where a job has no number of iterations, it is its run time over this "
              "(default: it has them, or a profile draws them)"),
    K_REAL(T, overlap_frac, "overlap_frac", "", 1, 0, 1, 0,
           "share of an iteration's compute that hides communication", .uses = FOR_MODEL_EVENTS),
};
K_SECTION(place_trace_section, T, "jobs of model events", trace_keys, "jobs of a trace, or drawn",
          K_USES(trace_uses));
#undef T

/* What keys of events are used for: by the model, by what an order of jobs reads, and on links. */
enum {
    FOR_EVENTS = 1 << 0,
    FOR_LAS = 1 << 1,
    FOR_FIFO = 1 << 2,
    FOR_STOPS = 1 << 3,
    FOR_ROUNDS = 1 << 4,
    FOR_LINKS = 1 << 5,
};
static const struct use events_uses[] = {
    { "by model events" },
    { "by scheduler las" },
    { "by order fifo" },
    { "by orders that stop jobs: srtf, las, gavel" },
    { "by las without queues, and gavel" },
    { "on the links of a network" },
};

#define T struct place_study
static const struct key events_keys[] = {
    K_REAL(T, events.horizon_s, "horizon_s", "s", 1, 1e-9, 1e12, INFINITY,
           "the simulation ends then (default: all jobs run to their end)", .uses = FOR_EVENTS),
    K_REAL(T, events.overhead_s, "overhead_s", "s", 1, 0, 1e9, 0,
           "time that a job holds its GPUs without progress each time it resumes", .uses = FOR_STOPS),
    K_BOOL(T, events.backfill, "backfill", false,
           "true: fifo lets jobs overtake that delay nobody (EASY) (default: false)", .uses = FOR_FIFO),
    K_COUNT_OR(T, events.las_queues, "las_queues", 0, EVENTS_MAX_QUEUES, -1,
               "number of queues of las; 0: continuous (default: 3, or as many as las_at says)",
               .uses = FOR_LAS),
    K_NODE(T, las_at, "las_at",
           "list of attained service at which a job moves to the next queue (default: [1, 10])",
           .uses = FOR_LAS, .unit = "GPU-h", .form = "list of numbers"),
    K_REAL(T, events.round_s, "round_s", "s", 1, 1e-3, 1e9, 300,
           "continuous las and gavel: time after which jobs are compared again", .uses = FOR_ROUNDS),
    K_WORD(T, pace.contention, "contention", pace_contention_words, PACE_CONTENTION_SHARED,
           "shared: jobs share the bandwidth of links, max-min fairly; none: each job has all of it",
           .uses = FOR_LINKS),
    K_WORD(T, pace.duty, "duty", pace_duty_words, PACE_DUTY_ALWAYS,
           "what a job takes of its links: its share always, or only what it sends on average",
           .uses = FOR_LINKS),
    K_REAL(T, pace.inner_Bps, "inner_GBps", "GB/s", 1e9, 1e-6, 1e9, INFINITY,
           "bandwidth of a GPU inside its server, without a network (default: unlimited)", .uses = FOR_LINKS),
    K_REAL(T, pace.reduce_Bps, "reduce_GBps", "GB/s", 1e9, 1e-6, 1e9, INFINITY,
           "rate at which a GPU adds gradients (default: unlimited)", .uses = FOR_LINKS),
};
K_SECTION(place_events_section, T, "events", events_keys, "how jobs run in model events",
          K_USES(events_uses));
#undef T

/* A file beside the study, as the study's own path names it; a profile may be the name of one of the
 * catalogue. */
static int trace_take_path(char **out, const struct yaml_doc *doc, yaml_id at, bool is_profile, struct err *e)
{
    struct text path = { 0 };
    if (is_profile)
        source_beside(&path, doc, at, source_rules.profiles);
    else
        yaml_beside(&path, doc, at);
    int rc = text_check(&path, e);
    *out = path.s;
    return rc;
}

static int trace_check_source(const struct place_trace *x, yaml_id trace, yaml_id profile,
                              const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    if (trace >= 0 && !isnan(x->jobs_per_s))
        return yaml_fail(doc, at, e, ERR_PARSE, "has both trace and jobs_per_h; give one of them");
    bool rates = x->n_mix > 0 && !isnan(x->mix[0].jobs_per_s);
    if (trace < 0 && isnan(x->jobs_per_s) && !rates)
        return yaml_fail(doc, at, e, ERR_PARSE, "has neither trace nor jobs_per_h; give one of them");
    if (trace < 0 && x->window.n < 1)
        return yaml_fail(doc, at, e, ERR_PARSE, "has no count, the number of jobs to draw");
    if (trace < 0 && profile < 0 && x->n_mix == 0)
        return yaml_fail(doc, at, e, ERR_PARSE, "has no profile to draw jobs from, and no mix");
    if (trace < 0 && profile >= 0 && x->n_mix > 0)
        return yaml_fail(doc, profile, e, ERR_PARSE,
                         "is given beside mix, without a trace; give one of them");
    return 0;
}

int place_read_trace(struct place_trace *out, const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    yaml_id trace = yaml_get(doc, at, "trace"), profile = yaml_get(doc, at, "profile");
    out->window = trace_window_default();
    int rc = schema_read(out, &place_trace_section, doc, at, e);
    if (!rc)
        rc = trace_check_source(out, trace, profile, doc, at, e);
    if (!rc && trace >= 0)
        rc = trace_take_path(&out->path, doc, trace, false, e);
    if (!rc && profile >= 0)
        rc = trace_take_path(&out->profile, doc, profile, true, e);
    /* Without a count the whole trace is the window: nothing is drawn. */
    if (out->window.start < 0 && out->window.n == 0)
        out->window.start = 0;
    out->window.with_work = true; /* traces have jobs that were killed at once: they never held a GPU */
    return rc;
}

static int events_read_thresholds(struct events_settings *out, const struct yaml_doc *doc, yaml_id list,
                                  struct err *e)
{
    int rc = yaml_need_list(doc, list, EVENTS_MAX_QUEUES - 1, "hours", e);
    if (rc)
        return rc;
    double before = 0;
    int n = 0;
    yaml_each (id, doc, list) {
        double hours;
        rc = yaml_real(doc, id, &hours, e);
        if (!rc && !(hours > before && hours < 1e12))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %g, expected more than the one before", hours);
        if (rc)
            return rc;
        before = hours;
        /* Attained service is in GPU-seconds from here on. */
        out->las_at[n++] = hours * 3600;
    }
    out->las_queues = n + 1;
    return 0;
}

int place_read_pace(struct place_study *s, struct err *e)
{
    /* Of LAS: 3 queues, at 1 and 10 GPU-hours. These numbers are this project's. */
    const int32_t usual = 3;
    s->events.las_at[0] = 3600;
    s->events.las_at[1] = 36000;
    int rc = schema_read_or(s, &place_events_section, &s->doc, s->file.events, e);
    int32_t queues = s->events.las_queues; /* -1: not said */
    /* Put back, so that what las_at says and what las_queues says can be told from the default. */
    s->events.las_queues = usual;
    if (!rc && s->las_at >= 0)
        rc = events_read_thresholds(&s->events, &s->doc, s->las_at, e);
    if (!rc && queues >= 0) {
        /* Fewer queues have the first of the thresholds. */
        bool fewer = s->las_at < 0 && queues < s->events.las_queues;
        if (queues > 0 && !fewer && queues != s->events.las_queues)
            return yaml_fail(&s->doc, yaml_get(&s->doc, s->file.events, "las_queues"), e, ERR_RANGE,
                             "is %d with %d values in las_at, expected one more than these, or 0",
                             (int)queues, (int)s->events.las_queues - 1);
        s->events.las_queues = queues;
    }
    if (!rc && s->events.las_queues == 0)
        place_note_key(s, s->file.events, "las_at", "las_queues 0 has no queues");
    if (!rc && s->servers.has_network && s->servers.level > 0)
        place_note_key(s, s->file.events, "inner_GBps", "the network tells what is inside a server");
    return rc;
}

/*
 * Models slots and events share the keys of a trace; those that events alone looks at are told in the other.
 */
void place_note_trace(struct place_study *s, yaml_id map)
{
    bool events = s->model == PLACE_EVENTS;
    place_note_unused(s, &place_trace_section, map,
                      (events ? FOR_MODEL_EVENTS : 0) | (s->trace.path ? FOR_FILE : 0));
}

/* Keys that no order of the study looks at. */
void place_note_pace(struct place_study *s)
{
    uint64_t active = place_has_servers(s) ? FOR_LINKS : 0;
    for (int32_t i = 0; i < s->n_schedulers && s->model == PLACE_EVENTS; i++) {
        unsigned reads = events_orders[s->schedulers[i] / N_PACK_KINDS]->reads;
        active |=
            FOR_EVENTS | (reads & ORDER_BACKFILLS ? FOR_FIFO : 0) | (reads & ORDER_STOPS ? FOR_STOPS : 0);
        active |= reads & ORDER_ROUNDS ? FOR_ROUNDS : 0;
        active |= !(reads & ORDER_ATTAINED) ? 0 : s->events.las_queues > 0 ? FOR_LAS : FOR_LAS | FOR_ROUNDS;
    }
    place_note_unused(s, &place_events_section, s->file.events, active);
}

/* Jobs that swap each round and take all of it to be set up again would do so for ever. */
static int check_rounds(const struct place_study *s, struct err *e)
{
    const struct events_settings *x = &s->events;
    const char *name = NULL;
    for (int32_t i = 0; i < s->n_schedulers && !name; i++) {
        const struct order_kind *order = events_orders[s->schedulers[i] / N_PACK_KINDS];
        bool queues = order != &order_las || x->las_queues > 0;
        name = !queues ? "continuous las" : order->reads & ORDER_ROUNDS ? order->name : NULL;
    }
    if (!name || x->overhead_s < x->round_s)
        return 0;
    return yaml_fail(&s->doc, yaml_get(&s->doc, s->file.events, "overhead_s"), e, ERR_RANGE,
                     "is %g, expected less than round_s, %g, or no job of %s gets on", x->overhead_s,
                     x->round_s, name);
}

/* The trace itself is read by each run: only its window depends on the seed, but threads share nothing. */
static int events_read(struct place_study *s, struct err *e)
{
    if (s->file.jobs < 0)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE, "has no jobs");
    int rc = place_read_trace(&s->trace, &s->doc, s->file.jobs, e);
    if (!rc)
        rc = place_read_mix(s, e);
    if (!rc)
        rc = place_read_system(s, e);
    if (!rc)
        rc = place_read_pace(s, e);
    if (!rc)
        rc = check_rounds(s, e);
    if (rc)
        return rc;
    place_note_trace(s, s->file.jobs);
    place_note_pace(s);
    return 0;
}

/* ---- schedulers ---- */

/* Schedulers are pairs of an order and a placement: "las+topology"; packed is not said. */
enum { N_PAIRS = N_EVENTS_ORDERS * N_PACK_KINDS };
_Static_assert((int)N_PAIRS < (int)PLACE_MAX_SCHEDULERS, "a study without a list has all of them");

#define PAIRS(NAME, name, word) word, word "+first-fit", word "+spread", word "+topology", word "+random",
static const char *const pair_names[N_PAIRS] = { EVENTS_ORDERS(PAIRS) };
static const enum pack_kind pair_packs[N_PACK_KINDS] = { PACK_PACKED, PACK_FIRST_FIT, PACK_SPREAD,
                                                         PACK_TOPOLOGY, PACK_RANDOM };

static const char *events_scheduler(int32_t i)
{
    return i < N_PAIRS ? pair_names[i] : NULL;
}

/* ---- jobs ---- */

/* What was passed over, what readers found odd, and what was drawn. */
static void trace_note(struct text *notes, const struct trace *t, const struct place_trace *from,
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
    int32_t silent = 0;
    for (int32_t i = 0; i < t->n; i++)
        silent +=
            !(t->jobs[i].grad_bytes > 0) && t->jobs[i].gpus > 1 && place_find_mix(from, t->jobs[i].model) < 0;
    if (silent)
        text_printf(notes, "%s: %d job%s no grad_bytes and send%s nothing; jobs.profile draws them\n", path,
                    (int)silent, silent == 1 ? " has" : "s have", silent == 1 ? "s" : "");
    struct text drawn = { 0 };
    trace_list_synthetic(&drawn, t);
    if (drawn.n)
        text_printf(notes, "%s: synthetic, of %d job%s: %s\n", path, (int)t->n, t->n == 1 ? "" : "s",
                    text_str(&drawn));
    notes->failed = notes->failed || drawn.failed;
    text_free(&drawn);
}

int place_take_trace(struct trace *t, const struct place_run *r, struct err *e)
{
    const struct place_trace *from = &r->study->trace;
    const struct trace_settings settings = { .skip_bad = from->skip_bad };
    const uint64_t seed = (uint64_t)r->seed;
    struct trace_window window = from->window;
    struct trace_fill_counts counts;
    struct trace_profile profile;
    int rc = from->profile ? trace_read_profile(&profile, from->profile, e) : 0;
    if (rc)
        return rc;
    /*
     * The run's seed draws the start of the window too, where the study gives none: seeds then see different
     * parts of the trace.
     */
    window.seed = seed;
    /* Arrivals alone; sizes and lengths of these jobs come from the profile. */
    if (!from->path)
        rc = trace_draw_arrivals(t, (int32_t)window.n, from->jobs_per_s, seed, e);
    else
        rc = trace_read(t, from->format, from->path, &settings, e);
    if (rc)
        return rc;
    rc = trace_prepare(t, from->path ? &window : NULL, from->profile ? &profile : NULL, seed, &counts, e);
    if (rc) {
        trace_free(t);
        return from->path ? err_wrap(e, "%s", from->path) : rc;
    }
    if (!isnan(from->step_s))
        trace_fill_iters(t, from->step_s);
    if (r->notes)
        trace_note(r->notes, t, from, counts.n_unlike);
    return 0;
}

/* Never assumed: a job without a length or size would be a result that nobody asked for. */
static int trace_need(const struct trace_job *t, bool known, const char *what, const char *key, struct err *e)
{
    return known ? 0
                 : err_set(e, ERR_RANGE,
                           "job %s: %s is 0 or not known, expected a trace that has it%s or jobs.profile to "
                           "draw it",
                           t->id, what, key);
}

/* What a model needs of a job and neither trace nor profile gave. */
int place_check_known(const struct trace_job *t, struct err *e)
{
    int rc = trace_need(t, t->gpus >= 1, "number of GPUs", "", e);
    if (!rc)
        rc = trace_need(t, isfinite(t->runtime_s) && t->runtime_s > 0, "run time", "", e);
    return rc ? rc : trace_need(t, t->iters >= 1, "number of iterations", ", jobs.step_s", e);
}

/* What its schedulers share. */
struct events_own {
    struct trace trace;
    struct job *jobs; /* shape [trace.n], names borrowed from it */
    enum place_length length;
    struct pace pace;
};

/* Its step follows from its place, and how many it takes is known. A trace that names its tenant knows
 * better.
 */
static int events_make_model_job(struct job *j, struct trace_job *t, const struct place_mix *of,
                                 struct err *e)
{
    if (!t->tenant && of->tenant && !(t->tenant = strdup(of->tenant)))
        return err_nomem(e, "jobs");
    *j = job_default();
    j->id = t->id;
    j->submit_s = t->submit_s;
    j->gpus = of->gpus;
    j->iterations = of->steps;
    j->model = of->by_type ? of->by_type : &of->job;
    if (of->by_type)
        memcpy(j->speed, of->speed, sizeof j->speed);
    return 0;
}

/* Of the trace the entry that it names, without a trace one that is drawn; -1: the job says all itself. */
static int events_find_models(int32_t *of, const struct place_run *r, const struct trace *t, struct err *e)
{
    const struct place_trace *from = &r->study->trace;
    if (from->n_mix > 0 && !from->path)
        return place_draw_mix(of, from, t->n, r->seed, e);
    for (int32_t i = 0; i < t->n; i++)
        of[i] = place_find_mix(from, t->jobs[i].model);
    return 0;
}

/* A job runs as long as the trace says when it has its best place to itself, or does as many iterations. */
static int events_make_job(struct job *j, const struct trace_job *t, const struct place_trace *from,
                           enum place_length length, struct err *e)
{
    *j = job_default();
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
    j->runtime_s = length == PLACE_ITERATIONS ? (double)NAN : t->runtime_s;
    j->iterations = length == PLACE_ITERATIONS ? (double)t->iters : (double)NAN;
    return 0;
}

/* Iterations that follow from a run time are no job's own: with them both would say the same, but for what
 * communication adds to the time. Jobs that are models take their steps. */
static enum place_length events_find_length(const struct trace *t, const int32_t *of,
                                            const struct place_trace *from)
{
    if (from->length >= 0)
        return (enum place_length)from->length;
    for (int32_t i = 0; i < t->n; i++) {
        unsigned drawn = t->jobs[i].synthetic;
        if (of[i] < 0 &&
            (t->jobs[i].iters < 1 || ((drawn >> TRACE_ITERS & 1) && !(drawn >> TRACE_RUNTIME & 1))))
            return PLACE_RUNTIME;
    }
    return PLACE_ITERATIONS;
}

static int events_make_jobs(struct events_own *own, const struct place_run *r, struct err *e)
{
    const struct place_trace *from = &r->study->trace;
    int32_t n = own->trace.n, *of = calloc((size_t)n + 1, sizeof *of);
    own->jobs = calloc((size_t)n + 1, sizeof *own->jobs);
    int rc = own->jobs && of ? events_find_models(of, r, &own->trace, e) : err_nomem(e, "jobs");
    if (!rc)
        own->length = events_find_length(&own->trace, of, from);
    for (int32_t i = 0; i < n && !rc; i++) {
        if (of[i] >= 0)
            rc = events_make_model_job(&own->jobs[i], &own->trace.jobs[i], &from->mix[of[i]], e);
        else
            rc = events_make_job(&own->jobs[i], &own->trace.jobs[i], from, own->length, e);
        if (!rc && of[i] < 0)
            rc = place_take_speeds(&own->jobs[i], r->study, e);
    }
    free(of);
    return rc;
}

/* The size first: here it is known which key helps. */
static int events_check_job(const struct job *job, int32_t number, const struct place_run *r,
                            double total_gpus, struct err *e)
{
    char buf[JOB_NAME];
    if (!(job->gpus > total_gpus))
        return job_check(job, number, r->cluster, total_gpus, e);
    return err_set(e, ERR_RANGE, "job %s: asks for %d GPUs, expected at most the %g of the cluster%s",
                   job_name(buf, job, number), (int)job->gpus, total_gpus,
                   r->study->trace.path ? "; jobs.max_gpus leaves larger jobs out"
                                        : ", or a profile of smaller jobs");
}

struct pace_graph_settings place_fix_pace(const struct place_study *s)
{
    struct pace_graph_settings pace = s->pace;
    pace.inner = s->servers.has_network && s->servers.level > 0 ? &s->servers.net : NULL;
    pace.level = s->servers.level;
    pace.net = s->servers.has_network ? &s->servers.net : NULL;
    pace.types = s->servers.types;
    return pace;
}

/* A tenant has the number of its first job; a job without one is alone. */
static int events_number_tenants(struct events_own *own, struct err *e)
{
    struct hash names = { 0 };
    int rc = 0;
    for (int32_t i = 0; i < own->trace.n && !rc; i++) {
        const char *name = own->trace.jobs[i].tenant;
        if (!name)
            continue;
        hash_each (id, &names, hash_text(name))
            if (own->jobs[i].tenant < 0 && strcmp(own->trace.jobs[id].tenant, name) == 0)
                own->jobs[i].tenant = id;
        if (own->jobs[i].tenant >= 0)
            continue;
        own->jobs[i].tenant = i;
        rc = hash_add(&names, hash_text(name), i) ? 0 : err_nomem(e, "tenants");
    }
    hash_free(&names);
    return rc;
}

/* The model of paces is built once for all schedulers of a seed: events_run() gives it back without jobs. */
static int events_open_trace(struct place_run *r, struct err *e)
{
    struct events_own *own = r->own;
    const struct pace_graph_settings how = place_fix_pace(r->study);
    double total = cluster_total(r->cluster, 0);
    int rc = place_take_trace(&own->trace, r, e);
    if (rc)
        return rc;
    rc = events_make_jobs(own, r, e);
    rc = rc ? rc : events_number_tenants(own, e);
    for (int32_t i = 0; i < own->trace.n && !rc; i++)
        rc = events_check_job(&own->jobs[i], i, r, total, e);
    return rc ? rc : pace_graph_build(&own->pace, r->cluster, own->jobs, own->trace.n, &how, e);
}

static void events_close_trace(void *x)
{
    struct events_own *own = x;
    if (own->pace.free)
        own->pace.free(own->pace.x);
    free(own->jobs);
    trace_free(&own->trace);
}

/* ---- details ---- */

static void events_put_jobs(const struct place_run *run, const struct events_result *r)
{
    static const char *const words[] = { "done", "running", "waiting", "absent" };
    const struct events_own *own = run->own;
    for (int32_t i = 0; i < r->n_jobs; i++) {
        const struct events_job *j = &r->jobs[i];
        place_put_job(run, i,
                      (struct place_job_row){ .job = own->jobs[i].id,
                                              .status = words[j->end],
                                              .submit = own->jobs[i].submit_s,
                                              .start = j->start_s,
                                              .end = j->end_s,
                                              .gpus = own->jobs[i].gpus,
                                              .servers = j->servers,
                                              .progress = j->iterations,
                                              .utility = NAN,
                                              .drawn = own->trace.jobs[i].synthetic });
    }
}

static void events_put_places(const struct place_run *run, const struct events_result *r)
{
    const struct events_own *own = run->own;
    for (int32_t i = 0; i < r->n_spans; i++) {
        const struct events_span *s = &r->spans[i];
        place_put_place(run, own->jobs[s->job].id, s->job, s->server, s->gpus, s->from_s, s->to_s);
    }
}

/* What the model knows nothing of (bounds, loads of single links at a time) stays blank in all rows. */
static void events_put_points(const struct place_run *run, const struct events_result *r)
{
    double gpus = cluster_total(run->cluster, 0);
    struct place_slot_row row;
    row_clear(&row, place_slot_columns);
    for (int32_t i = 0; i < r->n_points; i++) {
        const struct events_point *p = &r->points[i];
        row.from = p->time_s;
        row.to = i + 1 < r->n_points ? r->points[i + 1].time_s : r->last_s;
        row.active = p->running + p->waiting;
        row.running = p->running;
        row.gpu_frac = gpus > 0 ? (double)p->gpus / gpus : 0;
        place_put_slot(run, row);
    }
}

/* ---- a run ---- */

/* Jain's index (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984): 1 where all tenants do alike, 1/n where one has
 * all. How a tenant does is the mean over its jobs of the time alone over the completion time. */
static double events_find_fairness(const struct events_own *own, const struct events_result *r)
{
    double sum = 0, squares = 0;
    int64_t n = 0;
    for (int32_t i = 0; i < r->n_jobs; i++) {
        double does = 0;
        int64_t jobs = 0;
        /* A tenant has the number of its first job, which stands for it; its others come later. */
        if (own->jobs[i].tenant >= 0 && own->jobs[i].tenant != i)
            continue;
        for (int32_t k = i; k < r->n_jobs && (k == i || own->jobs[i].tenant >= 0); k++)
            if (k == i || own->jobs[k].tenant == i) {
                does += 1 / r->jobs[k].slowdown;
                jobs++;
            }
        does /= (double)jobs;
        sum += does;
        squares += does * does;
        n++;
    }
    return r->n_done == r->n_jobs && squares > 0 ? sum * sum / ((double)n * squares) : (double)NAN;
}

static void events_write_result(struct place_result *out, const struct events_result *r)
{
    double sum = 0, peak = 0;
    for (int32_t a = 0; a < r->n_arcs && r->arcs; a++) {
        sum += r->arcs[a].mean_frac;
        peak = fmax(peak, r->arcs[a].mean_frac);
    }
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

/* What a job costs is its part of the machine's time, idle NPUs among it. */
static void events_write_money(struct place_result *out, const struct place_run *run,
                               const struct events_result *r)
{
    const struct events_own *own = run->own;
    const struct place_money *m = &run->study->money;
    const struct place_servers *v = &run->study->servers;
    struct place_use use = { .n_gpus = { cluster_total(run->cluster, 0) },
                             .time_s = r->makespan_s,
                             .n_jobs = r->n_jobs };
    double kept_s = 0, gpu_s = 0;
    for (int32_t t = 0; t < v->n_npus && v->types; t++)
        use.n_gpus[t] = v->npus[t].servers * v->each[0];
    memcpy(use.gpu_s, r->gpu_s, sizeof use.gpu_s);
    for (int32_t i = 0; i < r->n_jobs; i++) {
        double held_s = r->jobs[i].run_s * own->jobs[i].gpus;
        gpu_s += held_s;
        use.iterations += r->jobs[i].iterations;
        kept_s += held_s * (own->jobs[i].model ? own->jobs[i].model->kept : 1);
    }
    place_write_energy(out, run->study, &use);
    if (isnan(m->usd_year))
        return;
    out->x[PLACE_GOODPUT] = kept_s / gpu_s;
    out->x[PLACE_USD_PER_JOB] = m->usd_year * r->makespan_s / YEAR_S / r->n_jobs;
}

static int events_run_pair(struct place_result *out, const struct place_run *run, struct err *e)
{
    struct events_own *own = run->own;
    const struct events_problem problem = {
        .cluster = run->cluster, .jobs = own->jobs, .n_jobs = own->trace.n, .pace = &own->pace
    };
    struct events_settings settings = run->study->events;
    struct events_result r;
    settings.order = (enum events_order)(run->which / N_PACK_KINDS);
    settings.pack = pair_packs[run->which % N_PACK_KINDS];
    settings.seed = (uint64_t)run->seed;
    settings.keep_spans = place_wants(run, PLACE_TABLE_PLACES);
    settings.keep_bins = place_wants(run, PLACE_TABLE_LINKS);
    settings.keep_points = place_wants(run, PLACE_TABLE_SLOTS);
    int rc = events_run(&r, &problem, &settings, e);
    if (!rc) {
        events_write_result(out, &r);
        events_write_money(out, run, &r);
        out->x[PLACE_FAIRNESS] = events_find_fairness(own, &r);
        out->length = length_words[own->length];
        if (place_wants(run, PLACE_TABLE_JOBS))
            events_put_jobs(run, &r);
        if (place_wants(run, PLACE_TABLE_TENANTS))
            place_put_tenants(run, own->jobs, &own->trace, &r);
        /* Both are empty unless they were asked for. */
        events_put_places(run, &r);
        events_put_points(run, &r);
        if (r.bins.bytes)
            place_put_bins(run, &r.bins, r.last_s);
    }
    events_result_free(&r);
    return rc;
}

const struct place_ops place_events = { "s",
                                        events_scheduler,
                                        &place_trace_section,
                                        events_read,
                                        sizeof(struct events_own),
                                        events_open_trace,
                                        events_run_pair,
                                        events_close_trace };
