/* What a run begins with: settings and jobs checked, arrivals in order, ideal times. */
#include <math.h>
#include <stdlib.h>

#include "sim/events/events_state.h"

static const struct order_kind *const kinds[N_EVENTS_ORDERS] = { &order_fifo, &order_sjf, &order_srtf,
                                                                 &order_las, &order_drf };

const char *events_order_help(enum events_order order)
{
    return kinds[order]->help;
}

struct events_settings events_settings_default(void)
{
    return (struct events_settings){ .order = EVENTS_FIFO,
                                     .pack = PACK_PACKED,
                                     .seed = 1,
                                     .horizon_s = INFINITY,
                                     .las_queues = 3,
                                     .las_at = { 3600, 36000 },
                                     .round_s = 300 };
}

/* ---- checks ---- */

static int check_las(const struct events_settings *s, struct err *e)
{
    if (s->las_queues < 0 || s->las_queues > EVENTS_MAX_QUEUES)
        return err_set(e, ERR_RANGE, "LAS: has %d queues, need 0 (continuous) to %d", (int)s->las_queues,
                       (int)EVENTS_MAX_QUEUES);
    for (int32_t i = 0; i + 1 < s->las_queues; i++) {
        double above = i > 0 ? s->las_at[i - 1] : 0;
        if (!(s->las_at[i] > above && isfinite(s->las_at[i])))
            return err_set(e, ERR_RANGE, "LAS: queue %d ends at %g GPU-seconds, need more than %g", (int)i,
                           s->las_at[i], above);
    }
    if (s->las_queues == 0 && !(s->round_s > 0 && isfinite(s->round_s)))
        return err_set(e, ERR_RANGE, "LAS: round is %g s, need > 0", s->round_s);
    return 0;
}

static int check_settings(const struct events_settings *s, struct err *e)
{
    if ((int)s->order < 0 || s->order >= N_EVENTS_ORDERS)
        return err_set(e, ERR_RANGE, "order of jobs is %d, need 0 to %d", (int)s->order, N_EVENTS_ORDERS - 1);
    if ((int)s->pack < 0 || s->pack >= N_PACK_KINDS)
        return err_set(e, ERR_RANGE, "placement is %d, need 0 to %d", (int)s->pack, N_PACK_KINDS - 1);
    if (!(s->horizon_s > 0))
        return err_set(e, ERR_RANGE, "horizon is %g s, need > 0", s->horizon_s);
    if (!(s->overhead_s >= 0 && isfinite(s->overhead_s)))
        return err_set(e, ERR_RANGE, "overhead of a restart is %g s, need a number >= 0", s->overhead_s);
    return s->order == EVENTS_LAS ? check_las(s, e) : 0;
}

int events_check(const struct events_problem *p, const struct events_settings *s, struct err *e)
{
    double gpus = cluster_total(p->cluster, 0);
    int rc = check_settings(s, e);
    if (rc)
        return rc;
    if (p->n_jobs < 1 || p->n_jobs > GANG_MAX_JOBS)
        return err_set(e, ERR_RANGE, "queue has %d jobs, need 1 to %d", (int)p->n_jobs, (int)GANG_MAX_JOBS);
    for (int32_t i = 0; i < p->n_jobs && !rc; i++)
        rc = gang_job_check(&p->jobs[i], i, p->cluster, gpus, e);
    return rc;
}

/* ---- arrivals ---- */

struct arrival {
    double submit_s;
    int32_t job;
};

static int by_submission(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    if (x->submit_s < y->submit_s || x->submit_s > y->submit_s)
        return x->submit_s < y->submit_s ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static int sort_arrivals(struct events_state *x, struct err *e)
{
    int32_t n = x->p->n_jobs;
    struct arrival *list = malloc((size_t)n * sizeof *list);
    if (!list)
        return err_nomem(e, "submissions");
    for (int32_t i = 0; i < n; i++)
        list[i] = (struct arrival){ x->p->jobs[i].submit_s, i };
    qsort(list, (size_t)n, sizeof *list, by_submission);
    for (int32_t i = 0; i < n; i++)
        x->arrivals[i] = list[i].job;
    free(list);
    /* Time begins with the first one. */
    x->now_s = x->p->jobs[x->arrivals[0]].submit_s;
    x->out->first_s = x->now_s;
    return 0;
}

/* ---- ideal times ---- */

/* Iteration time of a job alone, where topology puts it in the empty cluster. */
static int find_ideal(struct events_state *x, int32_t job, struct err *e)
{
    const struct pace *pace = x->p->pace;
    const struct gang_job *spec = &x->p->jobs[job];
    struct live_job *live = &x->live[job];
    const int32_t *changed;
    int32_t n;
    int rc = pack_find(&live->place, x->pack, PACK_TOPOLOGY, spec, NULL, e);
    if (rc)
        return rc;
    const struct pace_place place = { live->place.n, live->place.servers, live->place.gpus };
    rc = pace->begin(pace->x, job, &place, e);
    if (rc)
        return rc;
    rc = pace->changed(pace->x, &changed, &n, e);
    live->ideal_s = pace->iteration_s(pace->x, job);
    pace->end(pace->x, job);
    pack_place_free(&live->place);
    char name[GANG_NAME];
    if (!rc && !(live->ideal_s > 0 && isfinite(live->ideal_s)))
        return err_set(e, ERR_RANGE, "job %s: alone an iteration takes %g s, need a number > 0",
                       gang_job_name(name, spec, job), live->ideal_s);
    live->work = isnan(spec->iterations) ? spec->runtime_s / live->ideal_s : spec->iterations;
    x->out->jobs[job].ideal_s = live->work * live->ideal_s;
    return rc;
}

static int find_ideals(struct events_state *x, struct err *e)
{
    const struct pace *pace = x->p->pace;
    const int32_t *changed;
    int32_t n;
    int rc = 0;
    for (int32_t i = 0; i < x->p->n_jobs && !rc; i++)
        rc = find_ideal(x, i, e);
    if (!rc)
        rc = pace->changed(pace->x, &changed, &n, e);
    if (!rc && x->graph)
        pace_graph_reset(x->graph);
    return rc;
}

/* ---- */

static int reserve(struct events_state *x, struct err *e)
{
    size_t n = (size_t)x->p->n_jobs;
    int32_t most = 0;
    for (int32_t i = 0; i < x->p->n_jobs; i++)
        most = x->p->jobs[i].gpus > most ? x->p->jobs[i].gpus : most;
    x->out->jobs = malloc(n * sizeof *x->out->jobs);
    x->live = calloc(n, sizeof *x->live);
    x->arrivals = malloc(n * sizeof *x->arrivals);
    x->running = malloc(n * sizeof *x->running);
    x->waiting.jobs = malloc(n * sizeof *x->waiting.jobs);
    x->waiting.cap = x->p->n_jobs;
    x->size_count = calloc((size_t)most + 1, sizeof *x->size_count);
    if (!x->out->jobs || !x->live || !x->arrivals || !x->running || !x->waiting.jobs || !x->size_count ||
        !bits_build(&x->sizes, most + 1))
        return err_nomem(e, "jobs");
    for (size_t i = 0; i < n; i++)
        x->out->jobs[i] = (struct events_job){ .end = EVENTS_ABSENT,
                                               .start_s = NAN,
                                               .end_s = NAN,
                                               .jct_s = NAN,
                                               .wait_s = NAN,
                                               .slowdown = NAN,
                                               .stretch = NAN };
    return 0;
}

int events_open(struct events_state *x, struct err *e)
{
    x->kind = kinds[x->s->order];
    x->graph = pace_graph_of(x->p->pace);
    for (int32_t r = 0; r < x->p->cluster->n_resources; r++)
        x->total[r] = cluster_total(x->p->cluster, r);
    int rc = reserve(x, e);
    if (!rc)
        rc = sort_arrivals(x, e);
    if (!rc)
        rc = pack_build(&x->pack, x->p->cluster, e);
    if (!rc && x->s->pack == PACK_RANDOM)
        rc = rng_build(&x->rng, x->s->seed, 0, e);
    if (!rc)
        rc = find_ideals(x, e);
    if (!rc && x->s->keep_bins && x->graph)
        rc = link_bins_build(&x->out->bins, x->p->cluster->n_arcs, EVENTS_BINS, x->out->first_s, 1, e);
    if (!rc && x->kind->build)
        rc = x->kind->build(x, e);
    return rc;
}

/* Gives the model back as it was: without jobs. */
void events_close(struct events_state *x)
{
    const struct pace *pace = x->p->pace;
    const int32_t *changed;
    struct err ignored = { 0 };
    int32_t n;
    for (int32_t i = 0; i < x->n_running; i++)
        pace->end(pace->x, x->running[i]);
    if (x->n_running > 0)
        pace->changed(pace->x, &changed, &n, &ignored);
    if (x->kind->free)
        x->kind->free(x->own);
    for (int32_t i = 0; x->live && i < x->p->n_jobs; i++)
        pack_place_free(&x->live[i].place);
    free(x->live);
    free(x->arrivals);
    free(x->running);
    free(x->waiting.jobs);
    free(x->size_count);
    bits_free(&x->sizes);
    event_heap_free(&x->ends);
    pack_free(x->pack);
    rng_free(x->rng);
}
