/* Model slots: jobs that take as many workers in each slot as they are given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/place/place_events.h"

static int32_t count_schedulers(void)
{
    return elastic_n_schedulers;
}

static const char *name_scheduler(int32_t i)
{
    return elastic_schedulers[i]->name;
}

/* Resources that no worker of a drawn job takes. */
static void note_resources(struct place_study *s)
{
    char place[400], path[256];
    yaml_id first = s->conf.servers >= 0 ? s->doc.nodes[s->conf.servers].first : -1;
    for (yaml_id id = first < 0 ? -1 : s->doc.nodes[first].next; id >= 0; id = s->doc.nodes[id].next) {
        bool taken = false;
        for (int32_t k = 0; k < s->draw_slots.n_demands; k++)
            taken = taken || strcmp(s->draw_slots.demands[k].name, s->doc.nodes[id].key) == 0;
        if (!taken)
            text_printf(&s->notes, "%s: %s has no effect here, jobs.demand does not ask for it\n",
                        yaml_key_place(&s->doc, id, place, sizeof place),
                        yaml_path(&s->doc, id, path, sizeof path));
    }
}

/* Of keys below the outermost: those that what is chosen beside them leaves without effect. */
static void note_slots(struct place_study *s)
{
    const struct draw_elastic *d = &s->draw_slots;
    uint64_t active = place_uses(s);
    active |= d->from_trace >= 0 ? USE_TRACE : USE_DRAWN;
    active |= d->progress == DRAW_TAU ? USE_TAU : d->from_trace < 0 ? USE_CONST : 0;
    active &= d->from_trace < 0 ? ~0u : ~(unsigned)USE_FIXED;
    active |= d->utility == UTILITY_SIGMOID || d->utility == UTILITY_SIGMOID_ENVELOPE ? USE_SIGMOID : 0;
    active |= s->slots.paper_rounding ? 0 : USE_STRICT;
    active |= s->slots.las_queues > 0 ? USE_QUEUES : 0;
    place_note_unused(s, &draw_elastic_section, s->conf.jobs, active);
    if (d->from_trace >= 0)
        place_note_unused(s, &place_trace_section, d->from_trace, active | (s->trace.path ? USE_FILE : 0));
    place_note_unused(s, &place_gadget_section, s->conf.gadget, active);
    place_note_unused(s, &place_las_section, s->conf.las, active);
    note_resources(s);
}

static int read_from_trace(struct place_study *s, struct err *e)
{
    struct draw_elastic *d = &s->draw_slots;
    if (d->from_trace < 0)
        return 0;
    /* The paper's sigmoids are made for its own iterations; those of a trace may be anything. */
    if (yaml_get(&s->doc, s->conf.jobs, "utility") < 0)
        d->utility = UTILITY_SQRT;
    if (isnan(d->trace_slot_s))
        return yaml_fail(&s->doc, d->from_trace, e, ERR_PARSE,
                         "is without trace_slot_s, need how long a slot is");
    if (d->progress == DRAW_TAU)
        return yaml_fail(&s->doc, yaml_get(&s->doc, s->conf.jobs, "progress"), e, ERR_PARSE,
                         "is tau besides from_trace, need const: the trace tells how fast jobs are");
    return place_read_trace(&s->trace, &s->doc, d->from_trace, e);
}

static int read_slots(struct place_study *s, struct err *e)
{
    s->slots = elastic_settings_default();
    s->slots.n_slots = (int32_t)s->conf.slots;
    int rc = draw_read_elastic(&s->draw_slots, &s->doc, s->conf.jobs, e);
    if (!rc)
        rc = read_from_trace(s, e);
    if (!rc)
        rc = place_read_gadget(&s->slots, &s->doc, s->conf.gadget, e);
    if (!rc)
        rc = place_read_las(&s->slots, &s->doc, s->conf.las, e);
    if (!rc)
        note_slots(s);
    return rc;
}

static void sum_up(struct place_outcome *out, const struct elastic_result *r, const struct elastic_job *jobs)
{
    double jct = 0, over[2] = { 0, 0 };
    int64_t n = 0;
    int32_t first = r->n_slots, last = 0;
    place_outcome_clear(out);
    out->n_jobs = r->n_jobs;
    for (int32_t i = 0; i < r->n_jobs; i++) {
        first = jobs[i].arrival < first ? jobs[i].arrival : first;
        if (r->jobs[i].left_slot) {
            jct += r->jobs[i].left_slot - jobs[i].arrival + 1;
            last = r->jobs[i].left_slot > last ? r->jobs[i].left_slot : last;
            n++;
        }
    }
    for (int32_t t = 0; t < r->n_slots; t++) {
        over[0] = fmax(over[0], r->slots[t].note.node_over);
        over[1] = fmax(over[1], r->slots[t].note.link_over);
    }
    double sum = 0, peak = 0;
    for (int32_t a = 0; a < r->n_arcs; a++) {
        sum += r->arc_frac[a];
        peak = fmax(peak, r->arc_frac[a]);
    }
    out->x[PLACE_UTILITY] = r->utility;
    out->x[PLACE_BOUND_FRAC] = r->bound_frac;
    out->x[PLACE_GUARANTEE] = r->concave && r->gamma > 0 ? 1 / (3.0 * r->gamma + 1) : (double)NAN;
    out->x[PLACE_FINISHED] = (double)n;
    out->x[PLACE_MAKESPAN] = n == r->n_jobs ? last - first + 1 : (double)NAN;
    out->x[PLACE_JCT] = n ? jct / (double)n : (double)NAN;
    out->x[PLACE_EMBEDDED] = r->embedded_frac;
    out->x[PLACE_GPU] = r->gpu_frac;
    out->x[PLACE_LINK] = r->n_arcs ? sum / r->n_arcs : 0;
    out->x[PLACE_LINK_PEAK] = peak;
    out->x[PLACE_NODE_OVER] = over[0];
    out->x[PLACE_LINK_OVER] = over[1];
}

/* ---- details ---- */

/* Slot t lasts from t - 1 to t. */
static struct place_span slot_span(int32_t t)
{
    return (struct place_span){ t - 1, t, "slot" };
}

static void put_jobs(const struct place_task *task, const char *name, const struct elastic_result *r,
                     const struct elastic_job *jobs, const struct trace *trace)
{
    for (int32_t i = 0; i < r->n_jobs; i++) {
        const struct elastic_job_result *j = &r->jobs[i];
        const struct place_job_row row = {
            .id = jobs[i].id,
            .status = j->left_slot ? "done"
                      : j->slots   ? "running"
                                   : "waiting",
            .unit = "slot",
            .submit = jobs[i].arrival - 1,
            .start = j->first_slot ? j->first_slot - 1 : (double)NAN,
            .end = j->left_slot ? j->left_slot : (double)NAN,
            .jct = j->left_slot ? j->left_slot - jobs[i].arrival + 1 : (double)NAN,
            .gpus = j->slots ? j->used * jobs[i].demand[0] / j->slots : 0,
            .servers = NAN,
            .progress = j->done,
            .utility = j->report,
            .synthetic = i < trace->n ? trace->jobs[i].synthetic : 0,
        };
        place_put_job(task, name, &row);
    }
}

static void put_rings(const struct place_task *task, const char *name, const struct elastic_result *r,
                      const struct elastic_job *jobs, const struct cluster *c)
{
    for (int32_t t = 1; t <= r->n_slots; t++) {
        const struct elastic_choice *x = &r->choices[t - 1];
        for (int32_t i = 0; i < x->n_rings; i++)
            for (int32_t k = x->rings[i].first; k < x->rings[i].first + x->rings[i].n; k++) {
                const struct elastic_job *j = &jobs[x->rings[i].job];
                place_put_place(task, name, j->id, c, x->servers[k], x->workers[k] * j->demand[0],
                                slot_span(t));
            }
    }
}

static void put_slots(const struct place_task *task, const char *name, const struct elastic_result *r)
{
    for (int32_t t = 1; t <= r->n_slots; t++) {
        const struct elastic_slot_result *s = &r->slots[t - 1];
        const struct place_slot_row row = { .active = s->active,
                                            .running = s->embedded,
                                            .gpu_frac = s->gpu_frac,
                                            .reserved_Bps = s->reserved_Bps,
                                            .link_frac = s->link_frac,
                                            .note = s->note };
        place_put_slot(task, name, &row, slot_span(t));
    }
}

/*
 * What a hop of the job's ring carries, mean over a slot: 2 g (w-1)/w in each iteration (arXiv 2202.01158
 * section III). NaN where neither a trace nor eq. 1 tells how much a worker's gradients are.
 */
static double hop_used_Bps(const struct place_task *task, const struct trace *trace,
                           const struct elastic_job *job, int32_t number, int32_t workers)
{
    const struct draw_elastic *d = &task->study->draw_slots;
    double iterations = elastic_gain(job, workers), w = workers;
    double shared_B = (w - 1) / w * 2;
    if (number < trace->n)
        return iterations * shared_B * trace->jobs[number].grad_bytes / d->trace_slot_s;
    if (d->progress != DRAW_TAU)
        return NAN;
    if (d->batch == RING_BATCH_WORKER)
        iterations /= w; /* gains count the batches of all workers */
    return iterations * shared_B * d->ring.gradient_B / d->slot_s;
}

/* Load every link with the rings of a slot: with what they reserve, and with what they use. */
static int load_slot(struct elastic_room *reserved, struct elastic_room *used, const struct place_task *task,
                     const struct elastic_choice *x, const struct elastic_job *jobs,
                     const struct trace *trace, struct err *e)
{
    int rc = 0;
    elastic_room_reset(reserved);
    elastic_room_reset(used);
    for (int32_t i = 0; i < x->n_rings && !rc; i++) {
        const struct elastic_ring *ring = &x->rings[i];
        const int32_t *servers = x->servers + ring->first, *workers = x->workers + ring->first;
        struct elastic_job sends = jobs[ring->job];
        sends.hop_Bps = hop_used_Bps(task, trace, &sends, ring->job, ring->workers_total);
        rc = elastic_room_take(reserved, &jobs[ring->job], servers, workers, ring->n, 1, e);
        if (!rc)
            rc = elastic_room_take(used, &sends, servers, workers, ring->n, 1, e);
    }
    return rc;
}

/* Shares of every link slot by slot, from the rings again. */
static int put_links(const struct place_task *task, const char *name, const struct elastic_result *r,
                     const struct elastic_job *jobs, const struct trace *trace, const struct cluster *c,
                     struct err *e)
{
    struct elastic_room reserved, used = { 0 };
    int rc = elastic_room_build(&reserved, c, e);
    if (!rc)
        rc = elastic_room_build(&used, c, e);
    for (int32_t t = 1; t <= r->n_slots && !rc; t++) {
        rc = load_slot(&reserved, &used, task, &r->choices[t - 1], jobs, trace, e);
        for (int32_t a = 0; a < c->n_arcs && !rc; a++) {
            double used_frac = 1 - used.left_Bps[a] / c->bw_Bps[a];
            const struct place_load load = { 1 - reserved.left_Bps[a] / c->bw_Bps[a], used_frac, used_frac };
            place_put_link(task, name, c, a, &load, slot_span(t));
        }
    }
    elastic_room_free(&used);
    elastic_room_free(&reserved);
    return rc;
}

static int put_details(const struct place_task *task, const char *name, const struct elastic_result *r,
                       const struct elastic_job *jobs, const struct trace *trace, const struct cluster *c,
                       struct err *e)
{
    if (place_wants(task, PLACE_TABLE_JOBS))
        put_jobs(task, name, r, jobs, trace);
    if (place_wants(task, PLACE_TABLE_PLACES))
        put_rings(task, name, r, jobs, c);
    if (place_wants(task, PLACE_TABLE_SLOTS))
        put_slots(task, name, r);
    return place_wants(task, PLACE_TABLE_LINKS) ? put_links(task, name, r, jobs, trace, c, e) : 0;
}

/* ---- jobs ---- */

/* A worker a GPU, or as many GPUs as the trace's workers have each; what the trace tells takes the place of
 * what was drawn. Progress is in proportion to worker-slots. */
static int take_job(struct elastic_job *j, const struct trace_job *t, const struct draw_elastic *d,
                    const struct draw_taste *taste, bool hop_given, struct err *e)
{
    int rc = place_check_known(t, e);
    if (rc)
        return rc;
    int32_t workers = t->workers > 0 && t->gpus % t->workers == 0 ? t->workers : t->gpus;
    double slots = t->runtime_s / d->trace_slot_s, first = floor(t->submit_s / d->trace_slot_s);
    j->id = t->id;
    j->arrival = first < ELASTIC_MAX_SLOTS ? 1 + (int32_t)first : ELASTIC_MAX_SLOTS + 1;
    j->max_workers = j->fixed_workers = workers;
    j->demand[0] = (double)t->gpus / workers;
    j->budget = fmax(1, ceil(workers * slots * (1 - 1e-12)));
    j->zeta = (double)t->iters / j->budget;
    /* What it sends on average with all its workers: less would not let it run as fast as the trace says. */
    if (!hop_given)
        j->hop_Bps = t->grad_bytes > 0 ? j->zeta * 2 * (workers - 1) * t->grad_bytes / d->trace_slot_s : 0;
    return draw_set_utility(j, d, taste, (double)t->iters, e);
}

/* Jobs drawn; with a trace, which must outlive them, as many as it has, and what it tells of them. */
static int make_jobs(struct draw_jobs *out, struct trace *trace, const struct place_task *task, struct err *e)
{
    const struct place_study *s = task->study;
    struct draw_elastic d = s->draw_slots;
    int rc = d.from_trace >= 0 ? place_take_trace(trace, &s->trace, task->seed, task->notes, e) : 0;
    if (rc)
        return rc;
    if (d.from_trace >= 0)
        d.count = trace->n;
    rc = draw_elastic_jobs(out, &d, s->slots.n_slots, task->seed, e);
    for (int32_t i = 0; i < trace->n && !rc; i++)
        rc = take_job(&out->jobs[i], &trace->jobs[i], &d, &out->tastes[i],
                      yaml_get(&s->doc, s->conf.jobs, "hop_GBps") >= 0, e);
    return rc;
}

static int run_slots(struct place_outcome *out, const struct place_task *task, struct err *e)
{
    const struct place_study *s = task->study;
    struct elastic_settings settings = s->slots;
    struct draw_jobs jobs = { 0 };
    struct trace trace = { 0 };
    struct cluster c;
    bool keep = place_wants(task, PLACE_TABLE_PLACES) || place_wants(task, PLACE_TABLE_LINKS);
    int rc = place_build_cluster(&c, s, task->seed, e);
    settings.seed = task->seed;
    if (!rc)
        rc = make_jobs(&jobs, &trace, task, e);
    if (!rc)
        rc = draw_demands(&jobs, &s->draw_slots, &c, task->seed, e);
    for (int32_t i = 0; i < s->n_schedulers && !rc; i++) {
        const struct elastic_scheduler *scheduler = elastic_schedulers[s->schedulers[i]];
        struct elastic_result r;
        rc = elastic_run(&r, scheduler, &c, jobs.jobs, jobs.n, &settings, keep, e);
        if (!rc && place_wants_any(task))
            rc = put_details(task, scheduler->name, &r, jobs.jobs, &trace, &c, e);
        if (!rc)
            sum_up(&out[i], &r, jobs.jobs);
        elastic_result_free(&r);
    }
    draw_jobs_free(&jobs);
    trace_free(&trace);
    cluster_free(&c);
    return rc;
}

const struct place_ops place_slots = { count_schedulers, name_scheduler, &draw_elastic_section, read_slots,
                                       run_slots };
