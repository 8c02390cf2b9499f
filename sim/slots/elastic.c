#include "sim/slots/elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the share of a link or server counts as full. */
#define FULL (1 + 1e-9)

struct elastic_settings elastic_settings_default(void)
{
    return (struct elastic_settings){
        .n_slots = 200,
        .seed = 1,
        .reoffer = true,
        .samples = 100,
        .rack_pricing = true,
        .las_queues = 3,
        .las_step = 40,
    };
}

/* ---- jobs ---- */

static int check_real(const struct elastic_job *j, const char *field, double x, bool endless, struct err *e)
{
    if (x >= 0 && (endless || isfinite(x)))
        return 0;
    return err_set(e, ERR_RANGE, "job %s: %s is %g, need a number >= 0", j->id, field, x);
}

static int32_t most_workers(const struct elastic_job *j)
{
    return j->fixed_workers > j->max_workers ? j->fixed_workers : j->max_workers;
}

static int check_numbers(const struct elastic_job *j, const struct cluster *c, struct err *e)
{
    if (j->arrival < 1)
        return err_set(e, ERR_RANGE, "job %s: arrival is slot %d, need 1 or later", j->id, (int)j->arrival);
    if (j->max_workers < 1 || most_workers(j) > ELASTIC_MAX_WORKERS)
        return err_set(e, ERR_RANGE, "job %s: has up to %d workers, need 1 to %d", j->id,
                       (int)(j->max_workers < 1 ? j->max_workers : most_workers(j)),
                       (int)ELASTIC_MAX_WORKERS);
    for (int32_t r = 0; r < c->n_resources; r++) {
        int rc = check_real(j, c->resources[r], j->demand[r], false, e);
        if (rc)
            return rc;
    }
    if (!(j->demand[0] > 0))
        return err_set(e, ERR_RANGE, "job %s: a worker takes %g of %s, need more than 0", j->id, j->demand[0],
                       c->resources[0]);
    int rc = check_real(j, "budget", j->budget, true, e);
    if (!rc)
        rc = check_real(j, "hop bandwidth", j->hop_Bps, false, e);
    for (int32_t k = 1; k <= most_workers(j) && !rc; k++)
        rc = check_real(j, "progress of a slot", elastic_gain(j, k), false, e);
    return rc ? rc : check_real(j, "leave_frac", j->leave_frac, true, e);
}

/* Does one worker fit on some server? If not: the first resource that no server has enough of, or none. */
static int check_fit(const struct elastic_job *j, const struct cluster *c, struct err *e)
{
    double most[CLUSTER_MAX_RESOURCES] = { 0 };
    for (int32_t s = 0; s < c->n_servers; s++) {
        bool fits = true;
        for (int32_t r = 0; r < c->n_resources; r++) {
            fits = fits && j->demand[r] <= cluster_capacity(c, s, r) * FULL;
            most[r] = fmax(most[r], cluster_capacity(c, s, r));
        }
        if (fits)
            return 0;
    }
    for (int32_t r = 0; r < c->n_resources; r++)
        if (!(j->demand[r] <= most[r] * FULL))
            return err_set(e, ERR_RANGE,
                           "job %s: one worker takes %g of %s, need at most %g, what the largest server has",
                           j->id, j->demand[r], c->resources[r], most[r]);
    return err_set(e, ERR_RANGE, "job %s: no server has all that one worker takes, need one that has", j->id);
}

int elastic_check_job(const struct elastic_job *job, const struct cluster *c, struct err *e)
{
    int rc = check_numbers(job, c, e);
    return rc ? rc : check_fit(job, c, e);
}

/* ---- a run ---- */

struct run {
    const struct elastic_scheduler *scheduler;
    const struct cluster *cluster;
    const struct elastic_settings *settings;
    void *self;
    struct elastic_slot slot;
    double *used, *done;
    int32_t *active, *order; /* order: jobs by arrival, then number */
    int32_t *seen;           /* shape [n_servers]: last ring that named the server */
    int32_t n_seen;
    struct elastic_choice choice;
    struct elastic_room room;
};

static void run_free(struct run *r)
{
    r->scheduler->free(r->self);
    free(r->used);
    free(r->done);
    free(r->active);
    free(r->order);
    free(r->seen);
    elastic_choice_free(&r->choice);
    elastic_room_free(&r->room);
}

/* By counting: arrivals are slots. */
static int sort_arrivals(int32_t *order, const struct elastic_job *jobs, int32_t n, int32_t n_slots,
                         struct err *e)
{
    int32_t *first = calloc((size_t)n_slots + 2, sizeof *first);
    if (!first)
        return err_nomem(e, "order of jobs");
    for (int32_t i = 0; i < n; i++)
        if (jobs[i].arrival <= n_slots)
            first[jobs[i].arrival + 1]++;
    for (int32_t t = 1; t <= n_slots + 1; t++)
        first[t] += first[t - 1];
    for (int32_t i = 0; i < n; i++)
        if (jobs[i].arrival <= n_slots)
            order[first[jobs[i].arrival]++] = i;
    free(first);
    return 0;
}

static int check_jobs(const struct cluster *c, const struct elastic_job *jobs, int32_t n,
                      const struct elastic_settings *settings, struct err *e)
{
    int rc = 0;
    if (settings->n_slots < 1 || settings->n_slots > ELASTIC_MAX_SLOTS)
        return err_set(e, ERR_RANGE, "run has %d slots, need 1 to %d", (int)settings->n_slots,
                       (int)ELASTIC_MAX_SLOTS);
    for (int32_t i = 0; i < n && !rc; i++) {
        rc = elastic_check_job(&jobs[i], c, e);
        if (!rc && jobs[i].arrival > settings->n_slots)
            rc = err_set(e, ERR_RANGE, "job %s: arrival is slot %d, need one of the run's %d slots",
                         jobs[i].id, (int)jobs[i].arrival, (int)settings->n_slots);
    }
    return rc;
}

static int run_build(struct run *r, const struct elastic_scheduler *scheduler, const struct cluster *c,
                     const struct elastic_job *jobs, int32_t n, const struct elastic_settings *settings,
                     struct err *e)
{
    *r = (struct run){ .scheduler = scheduler, .cluster = c, .settings = settings };
    int rc = check_jobs(c, jobs, n, settings, e);
    if (rc)
        return rc;
    size_t room = (size_t)n + 1;
    r->used = calloc(room, sizeof *r->used);
    r->done = calloc(room, sizeof *r->done);
    r->active = malloc(room * sizeof *r->active);
    r->order = malloc(room * sizeof *r->order);
    r->seen = calloc((size_t)c->n_servers, sizeof *r->seen);
    if (!r->used || !r->done || !r->active || !r->order || !r->seen)
        return err_nomem(e, "run of jobs");
    r->slot = (struct elastic_slot){
        .cluster = c, .jobs = jobs, .n_jobs = n, .used = r->used, .done = r->done, .active = r->active
    };
    rc = sort_arrivals(r->order, jobs, n, settings->n_slots, e);
    if (!rc)
        rc = elastic_room_build(&r->room, c, e);
    return rc ? rc : scheduler->build(&r->self, c, jobs, n, settings, e);
}

/* A job that came, did not leave, and has budget for a worker: what is in the list of active ones. */
static bool is_active(const struct run *r, int32_t job, const struct elastic_job_result *jobs)
{
    const struct elastic_slot *s = &r->slot;
    return job >= 0 && job < s->n_jobs && s->jobs[job].arrival <= s->slot && !jobs[job].left_slot &&
           elastic_most(s, job) > 0;
}

static void find_active(struct run *r, const struct elastic_job_result *jobs)
{
    struct elastic_slot *s = &r->slot;
    s->n_active = 0;
    for (int32_t i = 0; i < s->n_jobs && s->jobs[r->order[i]].arrival <= s->slot; i++)
        if (is_active(r, r->order[i], jobs))
            r->active[s->n_active++] = r->order[i];
}

/* A ring that no scheduler may give is its fault; said, since what follows would be wrong in silence. */
static int check_ring(struct run *r, const struct elastic_ring *ring, const struct elastic_job_result *jobs,
                      struct err *e)
{
    const char *fault = NULL;
    /* A job that left in this slot did so by a ring of this slot. */
    bool twice = ring->job >= 0 && ring->job < r->slot.n_jobs && jobs[ring->job].last_slot == r->slot.slot;
    if (!twice && !is_active(r, ring->job, jobs))
        return err_set(e, ERR_RANGE,
                       "scheduler %s: slot %d has workers for job number %d, which is not active",
                       r->scheduler->name, (int)r->slot.slot, (int)ring->job);
    const struct elastic_job *j = &r->slot.jobs[ring->job];
    if (twice)
        fault = "has two rings";
    else if (ring->workers_total > most_workers(j) ||
             ring->workers_total > j->budget - r->used[ring->job] + 1e-9)
        fault = "has more workers than it may have";
    else if (ring->n < 1)
        fault = "has a ring without servers";
    r->n_seen++;
    for (int32_t i = 0; i < ring->n && !fault; i++) {
        int32_t s = r->choice.servers[ring->first + i];
        if (s < 0 || s >= r->cluster->n_servers)
            fault = "has a server that does not exist";
        else if (r->choice.workers[ring->first + i] < 1 || r->seen[s] == r->n_seen)
            fault = "has a server twice, or without a worker";
        else
            r->seen[s] = r->n_seen;
    }
    return fault ? err_set(e, ERR_RANGE, "scheduler %s: slot %d: job %s %s", r->scheduler->name,
                           (int)r->slot.slot, j->id, fault)
                 : 0;
}

static void credit(struct run *r, const struct elastic_ring *ring, struct elastic_job_result *out)
{
    const struct elastic_job *j = &r->slot.jobs[ring->job];
    r->used[ring->job] += ring->workers_total;
    r->done[ring->job] += elastic_gain(j, ring->workers_total);
    out->first_slot = out->first_slot ? out->first_slot : r->slot.slot;
    out->last_slot = r->slot.slot;
    out->slots++;
    if (r->used[ring->job] > j->budget - 1 + 1e-9 ||
        utility_at(&j->report, r->done[ring->job]) >= j->leave_frac * j->report.scale)
        out->left_slot = r->slot.slot;
}

/* Load over capacity; of a server that has none, any load is endless. */
static double load_frac(double capacity, double left)
{
    return capacity > 0 ? 1 - left / capacity : left < 0 ? INFINITY : 0;
}

/* Largest load over capacity of servers and links; arcs' shares are added to arc_frac. */
static void measure(struct elastic_slot_result *out, double *arc_frac, const struct run *r)
{
    const struct cluster *c = r->cluster;
    double gpus = 0, total = 0;
    out->note.node_over = out->note.link_over = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        gpus += cluster_capacity(c, s, 0) - r->room.left[(int64_t)s * c->n_resources];
        total += cluster_capacity(c, s, 0);
        for (int32_t k = 0; k < c->n_resources; k++)
            out->note.node_over =
                fmax(out->note.node_over,
                     load_frac(cluster_capacity(c, s, k), r->room.left[(int64_t)s * c->n_resources + k]));
    }
    out->gpus = gpus;
    out->gpu_frac = total > 0 ? gpus / total : 0;
    for (int32_t a = 0; a < c->n_arcs; a++) {
        double share = load_frac(c->bw_Bps[a], r->room.left_Bps[a]);
        out->reserved_Bps += c->bw_Bps[a] - r->room.left_Bps[a];
        out->note.link_over = fmax(out->note.link_over, share);
        arc_frac[a] += share;
    }
    out->link_frac = out->note.link_over;
}

static int run_slot(struct run *r, struct elastic_result *out, struct err *e)
{
    struct elastic_slot_result *slot = &out->slots[r->slot.slot - 1];
    find_active(r, out->jobs);
    elastic_choice_clear(&r->choice);
    elastic_room_reset(&r->room);
    *slot = (struct elastic_slot_result){
        .active = r->slot.n_active,
        .note = { .bound = NAN, .value = NAN, .fixed_bound = NAN, .node_beta = NAN, .link_gamma = NAN }
    };
    int rc = r->slot.n_active ? r->scheduler->choose(&r->choice, &slot->note, r->self, &r->slot, e) : 0;
    double value = 0;
    for (int32_t i = 0; i < r->choice.n_rings && !rc; i++) {
        const struct elastic_ring *ring = &r->choice.rings[i];
        if ((rc = check_ring(r, ring, out->jobs, e)))
            break;
        const struct elastic_job *j = &r->slot.jobs[ring->job];
        rc = elastic_room_take(&r->room, j, r->choice.servers + ring->first, r->choice.workers + ring->first,
                               ring->n, 1, e);
        if (rc)
            break;
        value += utility_gain(&j->aim, r->done[ring->job], elastic_gain(j, ring->workers_total));
        credit(r, ring, &out->jobs[ring->job]);
        slot->workers += ring->workers_total;
    }
    slot->embedded = r->choice.n_rings;
    slot->note.value = value;
    measure(slot, out->arc_frac, r);
    if (!rc && !r->settings->paper_rounding &&
        !(slot->note.node_over <= FULL && slot->note.link_over <= FULL))
        rc = err_set(e, ERR_RANGE, "scheduler %s: slot %d is overloaded", r->scheduler->name,
                     (int)r->slot.slot);
    return rc;
}

static void sum_up(struct elastic_result *out, const struct run *r)
{
    double embedded = 0, bounds = 0;
    int32_t busy = 0, bounded = 0;
    out->concave = true;
    for (int32_t i = 0; i < out->n_jobs; i++) {
        struct elastic_job_result *j = &out->jobs[i];
        j->used = r->used[i];
        j->done = r->done[i];
        j->aim = utility_at(&r->slot.jobs[i].aim, j->done);
        j->report = utility_at(&r->slot.jobs[i].report, j->done);
        out->aim += j->aim;
        out->utility += j->report;
        out->concave = out->concave && utility_is_concave(&r->slot.jobs[i].aim);
    }
    for (int32_t t = 0; t < out->n_slots; t++) {
        const struct elastic_slot_result *s = &out->slots[t];
        out->gpu_frac += s->gpu_frac;
        out->gamma = s->note.gamma > out->gamma ? s->note.gamma : out->gamma;
        if (!s->active)
            continue;
        embedded += (double)s->embedded / s->active;
        busy++;
        if (s->note.bound > 0) {
            bounds += s->note.value / s->note.bound;
            bounded++;
        }
    }
    out->gpu_frac /= out->n_slots;
    out->embedded_frac = busy ? embedded / busy : NAN;
    out->bound_frac = bounded ? bounds / bounded : NAN;
    for (int32_t a = 0; a < out->n_arcs; a++)
        out->arc_frac[a] /= out->n_slots;
}

static int result_build(struct elastic_result *out, const struct cluster *c, int32_t n_jobs,
                        const struct elastic_settings *settings, bool keep, struct err *e)
{
    *out = (struct elastic_result){ .n_jobs = n_jobs, .n_slots = settings->n_slots, .n_arcs = c->n_arcs };
    out->jobs = calloc((size_t)n_jobs + 1, sizeof *out->jobs);
    out->slots = calloc((size_t)settings->n_slots, sizeof *out->slots);
    out->arc_frac = calloc((size_t)c->n_arcs + 1, sizeof *out->arc_frac);
    out->choices = keep ? calloc((size_t)settings->n_slots, sizeof *out->choices) : NULL;
    return out->jobs && out->slots && out->arc_frac && (out->choices || !keep)
               ? 0
               : err_nomem(e, "result of a run");
}

int elastic_run(struct elastic_result *out, const struct elastic_scheduler *scheduler,
                const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                const struct elastic_settings *settings, bool keep_choices, struct err *e)
{
    struct run r;
    *out = (struct elastic_result){ 0 };
    int rc = run_build(&r, scheduler, c, jobs, n_jobs, settings, e);
    if (!rc)
        rc = result_build(out, c, n_jobs, settings, keep_choices, e);
    for (r.slot.slot = 1; r.slot.slot <= settings->n_slots && !rc; r.slot.slot++) {
        rc = run_slot(&r, out, e);
        if (!rc && keep_choices) {
            out->choices[r.slot.slot - 1] = r.choice;
            r.choice = (struct elastic_choice){ 0 };
        }
    }
    if (!rc)
        sum_up(out, &r);
    else
        elastic_result_free(out);
    run_free(&r);
    return rc;
}

void elastic_result_free(struct elastic_result *x)
{
    for (int32_t t = 0; x->choices && t < x->n_slots; t++)
        elastic_choice_free(&x->choices[t]);
    free(x->choices);
    free(x->jobs);
    free(x->slots);
    free(x->arc_frac);
    *x = (struct elastic_result){ 0 };
}
