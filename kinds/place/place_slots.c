/*
 * Model slots of a placement study: jobs that take as many workers in each slot as they are given
 * (sim/slots/slots.h), drawn or taken from a trace. Slot t of its results, from 1, lasts from t - 1 to t in
 * tables.
 *
 * What a trace tells of a job (size, arrival, work, bytes) takes the place of what was drawn for it; the rest
 * stays drawn with the seed, job by job, so that two studies of one seed differ in nothing else. Links are
 * loaded again from the rings that were chosen, once with what jobs reserve and once with what they send.
 */
#include <math.h>
#include <string.h>

#include "kinds/place/place.h"

/* ---- keys of its schedulers ---- */

static const char *const rounding_words[] = { "strict", "paper", NULL };
static const char *const pricing_words[] = { "auto", "generic", NULL };

#define T struct elastic_settings
static const struct use gadget_uses[] = { { "with rounding strict" } };
static const struct key gadget_keys[] = {
    K_COUNT(T, samples, "samples", 1, 1e6, 100, "random roundings, of which the best is kept"),
    K_WORD(T, paper_rounding, "rounding", rounding_words, 0,
           "strict: never over capacity; paper: over it by what theory allows, reported"),
    K_BOOL(T, reoffer, "reoffer", true,
           "strict: offer what is left to jobs that drew nothing (default: true)", .uses = 1),
    K_WORD(T, generic_pricing, "pricing", pricing_words, 0,
           "auto: by racks where the fabric has two levels (default: auto)"),
    K_REAL(T, energy_weight, "energy_weight", "1/kWh", 1 / KWH_J, 0, 1e15, 0,
           "utility of one kWh that NPUs draw above idle_watt; rings worth less than their energy wait "
           "(default: 0)"),
};
K_SECTION(place_gadget_section, T, "gadget", gadget_keys,
          "the linear programme and its rounding, arXiv 2202.01158", K_USES(gadget_uses));

static const struct use las_uses[] = { { "with queues" } };
static const struct key las_keys[] = {
    K_COUNT(T, las_queues, "queues", 0, 64, 3,
            "number of queues by attained service, first in first out inside; 0: continuous (default: 3)"),
    K_REAL(T, las_step, "step", "", 1, 1e-3, 1e9, 40,
           "worker-slots after which a job moves to the next queue (default: 40)", .uses = 1),
};
K_SECTION(place_las_section, T, "las", las_keys, "least attained service (Tiresias)", K_USES(las_uses));
#undef T

static const char *slots_scheduler(int32_t i)
{
    return i < elastic_n_schedulers ? elastic_schedulers[i]->name : NULL;
}

/* Resources that no worker of a drawn job takes. */
static void slots_note_resources(struct place_study *s)
{
    char place[400], path[256];
    yaml_id first = s->file.servers >= 0 ? s->doc.nodes[s->file.servers].first : -1;
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

/* Length of a slot; NaN where progress is a number of its own and no trace tells it. */
static double slots_length(const struct draw_elastic *d)
{
    return d->from_trace >= 0 ? d->trace_slot_s : d->progress == DRAW_CONST ? (double)NAN : d->slot_s;
}

/* Of keys below the outermost: those that what is chosen beside them leaves without effect. */
static void slots_note(struct place_study *s)
{
    bool fixed = place_has_scheduler(s, "las") || place_has_scheduler(s, "fifo");
    place_note_unused(s, &draw_elastic_section, s->file.jobs, draw_elastic_uses(&s->draw_slots, fixed));
    if (s->draw_slots.from_trace >= 0)
        place_note_trace(s, s->draw_slots.from_trace);
    if (s->draw_slots.progress != DRAW_CONST)
        place_note_unused(s, &draw_tau_section, s->draw_slots.tau, s->draw_slots.progress == DRAW_LINKS);
    place_note_unused(s, &place_gadget_section, s->file.gadget, !s->slots.paper_rounding);
    place_note_unused(s, &place_las_section, s->file.las, s->slots.las_queues > 0);
    slots_note_resources(s);
    if (isnan(slots_length(&s->draw_slots)) && !isnan(s->file.npu_watt))
        place_note_key(s, s->doc.root, "npu_watt",
                       "a slot has no length; give progress tau or links, or a trace");
}

static int slots_read_from_trace(struct place_study *s, struct err *e)
{
    struct draw_elastic *d = &s->draw_slots;
    if (d->from_trace < 0)
        return 0;
    /* The paper's sigmoids are made for its own iterations; those of a trace may be anything. */
    if (yaml_get(&s->doc, s->file.jobs, "utility") < 0)
        d->utility = UTILITY_SQRT;
    if (isnan(d->trace_slot_s))
        return yaml_fail(&s->doc, d->from_trace, e, ERR_PARSE, "has no trace_slot_s, the length of a slot");
    if (d->progress != DRAW_CONST)
        return yaml_fail(&s->doc, yaml_get(&s->doc, s->file.jobs, "progress"), e, ERR_PARSE,
                         "is %s with from_trace; choose const, since the trace says how fast jobs are",
                         d->progress == DRAW_TAU ? "tau" : "links");
    return place_read_trace(&s->trace, &s->doc, d->from_trace, e);
}

/* Energy as an aim: what the GPUs that a ring holds draw beyond those that idle, which are paid anyway. */
static int slots_read_energy(struct place_study *s, struct err *e)
{
    double more_W = s->file.npu_watt - s->file.idle_watt, slot_s = slots_length(&s->draw_slots);
    yaml_id at = yaml_get(&s->doc, s->file.gadget, "energy_weight");
    if (!(s->slots.energy_weight > 0) || !place_has_scheduler(s, "gadget"))
        return 0;
    if (isnan(more_W))
        return yaml_fail_key(&s->doc, at, e, ERR_RANGE,
                             "is given for NPUs without watts; give npu_watt and idle_watt");
    if (isnan(slot_s))
        return yaml_fail_key(&s->doc, at, e, ERR_RANGE,
                             "needs the length of a slot; give jobs.progress tau or links, or a trace");
    if (!(more_W > 0))
        place_note_key(s, s->file.gadget, "energy_weight",
                       "NPUs draw no more than idle_watt (by default npu_watt)");
    s->slots.gpu_cost = s->slots.energy_weight * fmax(more_W, 0) * slot_s;
    return 0;
}

static int slots_read(struct place_study *s, struct err *e)
{
    s->slots.n_slots = (int32_t)s->file.slots;
    int rc = draw_read_elastic(&s->draw_slots, &s->doc, s->file.jobs, e);
    if (!rc)
        rc = slots_read_from_trace(s, e);
    if (!rc)
        rc = schema_read_or(&s->slots, &place_gadget_section, &s->doc, s->file.gadget, e);
    if (!rc)
        rc = schema_read_or(&s->slots, &place_las_section, &s->doc, s->file.las, e);
    if (!rc)
        rc = slots_read_energy(s, e);
    if (!rc)
        slots_note(s);
    return rc;
}

/* ---- what a run comes to ---- */

/*
 * Means and extremes of a run, from what sim/slots counted. Completion times count whole slots, both ends
 * included: a job that arrives in slot 3 and leaves in slot 3 took one. The makespan begins with the first
 * arrival of any job and is NaN where one has not left, since the run's last slot is then the study's limit
 * and says nothing of the scheduler. Overloads are the worst of all slots: one slot over capacity is no plan.
 */
static void slots_write_result(struct place_result *out, const struct elastic_result *r,
                               const struct elastic_job *jobs, double gpu_cost)
{
    double jct = 0, over[2] = { 0, 0 };
    int64_t n = 0;
    int32_t first = r->n_slots, last = 0;
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
        if (r->slots[t].note.stuck)
            out->head.message = "fixed rings of some jobs fit nowhere, even alone: these wait for ever";
    }
    double sum = 0, peak = 0;
    for (int32_t a = 0; a < r->n_arcs; a++) {
        sum += r->arc_frac[a];
        peak = fmax(peak, r->arc_frac[a]);
    }
    out->x[PLACE_UTILITY] = r->utility;
    out->x[PLACE_BOUND_FRAC] = r->bound_frac;
    /*
     * Over all slots the factor is 1/(3 gamma + 1) (arXiv 2202.01158), and holds for concave utilities alone:
     * where the sum of sigmoids is shown, the theorem is about that of their envelopes.
     */
    out->unproved = !(r->gamma > 0) ? NULL
                    : gpu_cost > 0  ? "the theorem is about utilities that never fall, not less energy_weight"
                    : !r->concave   ? "the theorem is about concave utilities, not sigmoids"
                                    : NULL;
    out->x[PLACE_GUARANTEE] = r->gamma > 0 && !out->unproved ? 1 / (3.0 * r->gamma + 1) : (double)NAN;
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

/* Until the last slot in which a job was active. */
static void slots_write_energy(struct place_result *out, const struct place_run *run,
                               const struct elastic_result *r)
{
    double slot_s = slots_length(&run->study->draw_slots);
    struct place_use use = { .n_gpus = { cluster_total(run->cluster, 0) }, .n_jobs = r->n_jobs };
    for (int32_t t = 0; t < r->n_slots; t++) {
        use.gpu_s[0] += r->slots[t].gpus * slot_s;
        if (r->slots[t].active)
            use.time_s = (t + 1) * slot_s;
    }
    for (int32_t i = 0; i < r->n_jobs; i++)
        use.iterations += r->jobs[i].done;
    place_write_energy(out, run->study, &use);
}

/* ---- details ---- */

/* What its schedulers share: drawn once a run (slots_open()), read by all of them, so that each meets the
 * same jobs. Names of a trace's jobs are borrowed from it. */
struct slots_own {
    struct draw_jobs jobs;
    struct trace trace; /* of those of the jobs that have one */
};

/*
 * Jobs as intervals of time: slot t is [t - 1, t], so one is taken off where something begins. `gpus` is the
 * mean over the slots in which the job ran, for its number of workers may change from slot to slot; on how
 * many servers it ran changes too and has no one number (NaN).
 */
static void slots_put_jobs(const struct place_run *run, const struct elastic_result *r)
{
    const struct slots_own *own = run->own;
    for (int32_t i = 0; i < r->n_jobs; i++) {
        const struct elastic_job *job = &own->jobs.jobs[i];
        const struct elastic_job_result *j = &r->jobs[i];
        place_put_job(run, i,
                      (struct place_job_row){
                          .job = job->id,
                          .status = j->left_slot ? "done"
                                    : j->slots   ? "running"
                                                 : "waiting",
                          .submit = job->arrival - 1,
                          .start = j->first_slot ? j->first_slot - 1 : (double)NAN,
                          .end = j->left_slot ? j->left_slot : (double)NAN,
                          .gpus = j->slots ? j->used * job->demand[0] / j->slots : 0,
                          .servers = NAN,
                          .progress = j->done,
                          .utility = j->report,
                          .drawn = i < own->trace.n ? own->trace.jobs[i].synthetic : 0,
                      });
    }
}

static void slots_put_places(const struct place_run *run, const struct elastic_result *r)
{
    const struct slots_own *own = run->own;
    for (int32_t t = 1; t <= r->n_slots; t++) {
        const struct elastic_choice *x = &r->choices[t - 1];
        for (int32_t i = 0; i < x->n_rings; i++)
            /* Consecutive slots on the same servers are rows of their own: a ring is chosen anew in each
             * slot. */
            for (int32_t k = x->rings[i].first; k < x->rings[i].first + x->rings[i].n; k++) {
                const struct elastic_job *j = &own->jobs.jobs[x->rings[i].job];
                place_put_place(run, j->id, x->rings[i].job, x->servers[k], x->workers[k] * j->demand[0],
                                t - 1, t);
            }
    }
}

/* arXiv 2202.01158: a slot is within 1/(3 gamma) of its optimum, loads within beta and gamma. */
static void slots_put_slots(const struct place_run *run, const struct elastic_result *r)
{
    for (int32_t t = 1; t <= r->n_slots; t++) {
        const struct elastic_slot_result *s = &r->slots[t - 1];
        const struct elastic_note *n = &s->note;
        place_put_slot(
            run, (struct place_slot_row){ .from = t - 1,
                                          .to = t,
                                          .active = s->active,
                                          .running = s->embedded,
                                          .gpu_frac = s->gpu_frac,
                                          .reserved_GBps = s->reserved_Bps / 1e9,
                                          .link_frac = s->link_frac,
                                          .bound = n->bound,
                                          .value = n->value,
                                          .guarantee = n->gamma > 0 ? 1 / (3.0 * n->gamma) : (double)NAN,
                                          .node_over = n->node_over,
                                          .node_beta = n->node_beta,
                                          .link_over = n->link_over,
                                          .link_gamma = n->link_gamma });
    }
}

/*
 * What a hop of the job's ring carries, mean over a slot: 2 g (w-1)/w in each iteration (arXiv 2202.01158
 * section III). NaN where neither a trace nor eq. 1 tells how much a worker's gradients are.
 */
static double slots_hop_Bps(const struct place_run *run, const struct elastic_ring *ring)
{
    const struct draw_elastic *d = &run->study->draw_slots;
    const struct slots_own *own = run->own;
    const struct trace *trace = &own->trace;
    double w = ring->workers_total, shared_B = (w - 1) / w * 2;
    double iterations = elastic_gain(&own->jobs.jobs[ring->job], ring->workers_total, ring->rate);
    if (ring->job < trace->n)
        return iterations * shared_B * trace->jobs[ring->job].grad_bytes / d->trace_slot_s;
    if (d->progress == DRAW_CONST)
        return NAN;
    if (d->batch == RING_BATCH_WORKER)
        iterations /= w; /* gains count the batches of all workers */
    return iterations * shared_B * d->ring.gradient_B / d->slot_s;
}

/* Load every link with the rings of a slot: with what they reserve, and with what they use. */
static int slots_load_links(struct elastic_room *reserved, struct elastic_room *used,
                            const struct place_run *run, const struct elastic_choice *x, struct err *e)
{
    const struct elastic_job *jobs = ((const struct slots_own *)run->own)->jobs.jobs;
    int rc = 0;
    elastic_room_reset(reserved);
    elastic_room_reset(used);
    for (int32_t i = 0; i < x->n_rings && !rc; i++) {
        const struct elastic_ring *ring = &x->rings[i];
        const int32_t *servers = x->servers + ring->first, *workers = x->workers + ring->first;
        struct elastic_job sends = jobs[ring->job], at = elastic_at_rate(&sends, ring->rate);
        sends.hop_Bps = slots_hop_Bps(run, ring);
        rc = elastic_room_take(reserved, &at, servers, workers, ring->n, 1, e);
        if (!rc)
            rc = elastic_room_take(used, &sends, servers, workers, ring->n, 1, e);
    }
    return rc;
}

/*
 * Shares of every link slot by slot, from the rings again: the run keeps means only, since slots times links
 * is too much to hold for runs that ask for no such table. Two rooms, one loaded with what jobs reserve and
 * one with what they send. O(slots (arcs + hops)).
 */
static int slots_put_links(const struct place_run *run, const struct elastic_result *r, struct err *e)
{
    const struct cluster *c = run->cluster;
    struct elastic_room reserved, used = { 0 };
    int rc = elastic_room_build(&reserved, c, e);
    if (!rc)
        rc = elastic_room_build(&used, c, e);
    for (int32_t t = 1; t <= r->n_slots && !rc; t++) {
        rc = slots_load_links(&reserved, &used, run, &r->choices[t - 1], e);
        for (int32_t a = 0; a < c->n_arcs && !rc; a++) {
            double used_frac = 1 - used.left_Bps[a] / c->bw_Bps[a];
            place_put_link(run, a,
                           (struct place_link_row){ .from = t - 1,
                                                    .to = t,
                                                    .load_frac = 1 - reserved.left_Bps[a] / c->bw_Bps[a],
                                                    .used_frac = used_frac,
                                                    .peak_frac = used_frac });
        }
    }
    elastic_room_free(&used);
    elastic_room_free(&reserved);
    return rc;
}

/* ---- jobs ---- */

/* A worker a GPU, or as many GPUs as the trace's workers have each; what the trace tells takes the place of
 * what was drawn. Progress is in proportion to worker-slots. */
static int slots_take_job(struct elastic_job *j, const struct trace_job *t, const struct draw_elastic *d,
                          const struct draw_taste *taste, bool hop_given, struct err *e)
{
    int rc = place_check_known(t, e);
    if (rc)
        return rc;
    int32_t workers = t->workers > 0 && t->gpus % t->workers == 0 ? t->workers : t->gpus;
    double slots = t->runtime_s / d->trace_slot_s, first = floor(t->submit_s / d->trace_slot_s);
    j->id = t->id;
    /* Beyond the last slot that there can be all are alike, and fit an int32_t: elastic_run() refuses such a
     * job. */
    j->arrival = first < ELASTIC_MAX_SLOTS ? 1 + (int32_t)first : ELASTIC_MAX_SLOTS + 1;
    j->max_workers = j->fixed_workers = workers;
    j->demand[0] = (double)t->gpus / workers;
    /* Whole worker-slots; the factor keeps a product that is whole but for rounding from costing one more. */
    j->budget = fmax(1, ceil(workers * slots * (1 - 1e-12)));
    j->zeta = (double)t->iters / j->budget;
    /* What it sends on average with all its workers: less would not let it run as fast as the trace says. */
    if (!hop_given)
        j->hop_Bps = t->grad_bytes > 0 ? j->zeta * 2 * (workers - 1) * t->grad_bytes / d->trace_slot_s : 0;
    return draw_set_utility(j, d, taste, (double)t->iters, e);
}

/* Jobs drawn; with a trace, which must outlive them, as many as it has, and what it tells of them. */
static int slots_open(struct place_run *run, struct err *e)
{
    struct slots_own *own = run->own;
    const struct place_study *s = run->study;
    struct draw_elastic d = s->draw_slots;
    /* A bandwidth that the study gives holds for all jobs, those of a trace too; else the trace tells it. */
    bool hop_given = yaml_get(&s->doc, s->file.jobs, "hop_GBps") >= 0;
    int rc = d.from_trace >= 0 ? place_take_trace(&own->trace, run, e) : 0;
    if (rc)
        return rc;
    if (d.from_trace >= 0)
        d.count = own->trace.n;
    rc = draw_elastic_jobs(&own->jobs, &d, s->slots.n_slots, run->seed, e);
    for (int32_t i = 0; i < own->trace.n && !rc; i++)
        rc = slots_take_job(&own->jobs.jobs[i], &own->trace.jobs[i], &d, &own->jobs.tastes[i], hop_given, e);
    return rc ? rc : draw_demands(&own->jobs, &s->draw_slots, run->cluster, run->seed, e);
}

static void slots_close(void *x)
{
    struct slots_own *own = x;
    draw_jobs_free(&own->jobs);
    trace_free(&own->trace);
}

static int slots_run(struct place_result *out, const struct place_run *run, struct err *e)
{
    const struct slots_own *own = run->own;
    struct elastic_settings settings = run->study->slots;
    struct elastic_result r;
    bool places = place_wants(run, PLACE_TABLE_PLACES), links = place_wants(run, PLACE_TABLE_LINKS);
    /*
     * A seed a run, not the study's: schedulers that draw (GADGET's rounding) differ between the runs of a
     * point.
     */
    settings.seed = run->seed;
    /* Choices of all slots are kept only for the tables that show them. */
    int rc = elastic_run(&r, elastic_schedulers[run->which], run->cluster, own->jobs.jobs, own->jobs.n,
                         &settings, places || links, e);
    if (!rc) {
        slots_write_result(out, &r, own->jobs.jobs, settings.gpu_cost);
        slots_write_energy(out, run, &r);
        if (place_wants(run, PLACE_TABLE_JOBS))
            slots_put_jobs(run, &r);
        if (places)
            slots_put_places(run, &r);
        if (place_wants(run, PLACE_TABLE_SLOTS))
            slots_put_slots(run, &r);
        if (links)
            rc = slots_put_links(run, &r, e);
    }
    elastic_result_free(&r);
    return rc;
}

const struct place_ops place_slots = {
    "slot",    slots_scheduler, &draw_elastic_section, slots_read, sizeof(struct slots_own), slots_open,
    slots_run, slots_close
};
