/*
 * Jobs in time slots: the run that asks a scheduler slot by slot and checks what it gives; room on servers
 * and links; the time of an iteration on a ring and what of it a slot holds; rings placed greedily; and the
 * schedulers that do so: FIFO, LAS and DRF. Work is counted in worker-slots, each slot stands alone: nothing
 * runs from one into the next.
 */
#include "sim/slots/slots.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"

/* Where the share of a link or server counts as full. */
#define FULL (1 + 1e-9)

/* ---- jobs ---- */

static int elastic_check_real(const struct elastic_job *j, const char *field, double x, bool endless,
                              struct err *e)
{
    if (x >= 0 && (endless || isfinite(x)))
        return 0;
    return err_set(e, ERR_RANGE, "job %s: %s is %g, expected a number >= 0", j->id, field, x);
}

/* Fixed workers are of schedulers that do not choose and may be more than max_workers, which is of those that
 * do: what is sized or checked for any scheduler takes the greater. */
static int32_t elastic_most_ever(const struct elastic_job *j)
{
    return j->fixed_workers > j->max_workers ? j->fixed_workers : j->max_workers;
}

static int elastic_check_gains(const struct elastic_job *j, int32_t workers, struct err *e)
{
    int rc = 0;
    for (int r = 0; r < (j->offers_rates ? N_ELASTIC_RATES : 1) && !rc; r++) {
        double gain = elastic_gain(j, workers, (enum elastic_rate)r);
        rc = elastic_check_real(j, "progress of a slot", gain, false, e);
        if (!rc && gain > elastic_gain(j, workers, ELASTIC_INSIDE))
            rc = err_set(e, ERR_RANGE, "job %s: %d workers get less done on one server than on several",
                         j->id, (int)workers);
    }
    return rc;
}

static int elastic_check_numbers(const struct elastic_job *j, const struct cluster *c, struct err *e)
{
    if (j->arrival < 1)
        return err_set(e, ERR_RANGE, "job %s: arrival is slot %d, expected 1 or later", j->id,
                       (int)j->arrival);
    if (j->max_workers < 1 || elastic_most_ever(j) > ELASTIC_MAX_WORKERS)
        return err_set(e, ERR_RANGE, "job %s: has up to %d workers, expected 1 to %d", j->id,
                       (int)(j->max_workers < 1 ? j->max_workers : elastic_most_ever(j)),
                       (int)ELASTIC_MAX_WORKERS);
    for (int32_t r = 0; r < c->n_resources; r++) {
        int rc = elastic_check_real(j, c->resources[r], j->demand[r], false, e);
        if (rc)
            return rc;
    }
    if (!(j->demand[0] > 0))
        return err_set(e, ERR_RANGE, "job %s: a worker takes %g of %s, expected more than 0", j->id,
                       j->demand[0], c->resources[0]);
    int rc = elastic_check_real(j, "budget", j->budget, true, e);
    if (!rc)
        rc = elastic_check_real(j, "hop bandwidth", j->hop_Bps, false, e);
    /* A table of gains is as long as there can be workers, so every entry that may be read is looked at. */
    for (int32_t k = 1; k <= elastic_most_ever(j) && !rc; k++)
        rc = elastic_check_gains(j, k, e);
    return rc ? rc : elastic_check_real(j, "leave_frac", j->leave_frac, true, e);
}

/* Does one worker fit on some server? If not: the first resource that no server has enough of, or none.
 * O(servers) a job where only the last server fits. */
static int elastic_check_fit(const struct elastic_job *j, const struct cluster *c, struct err *e)
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
            return err_set(
                e, ERR_RANGE,
                "job %s: one worker takes %g of %s, expected at most %g, what the largest server has", j->id,
                j->demand[r], c->resources[r], most[r]);
    return err_set(e, ERR_RANGE, "job %s: no server has all that one worker takes", j->id);
}

int elastic_check_job(const struct elastic_job *job, const struct cluster *c, struct err *e)
{
    int rc = elastic_check_numbers(job, c, e);
    return rc ? rc : elastic_check_fit(job, c, e);
}

/* ---- a run ---- */

struct slots_run {
    struct arena arena; /* of the arrays below */
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

/* Also of a run that could not be built: schedulers take NULL, and all else begins zeroed. */
static void slots_run_free(struct slots_run *r)
{
    r->scheduler->free(r->self);
    arena_free(&r->arena);
    elastic_choice_free(&r->choice);
    elastic_room_free(&r->room);
}

/* By counting, since arrivals are slots: O(jobs + slots), and stable, so that jobs of one slot keep their
 * numbers' order. */
static int slots_sort_arrivals(int32_t *order, const struct elastic_job *jobs, int32_t n, int32_t n_slots,
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

static int slots_check_jobs(const struct cluster *c, const struct elastic_job *jobs, int32_t n,
                            const struct elastic_settings *settings, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < n && !rc; i++) {
        rc = elastic_check_job(&jobs[i], c, e);
        if (!rc && jobs[i].arrival > settings->n_slots)
            rc = err_set(e, ERR_RANGE, "job %s: arrival is slot %d, expected one of the run's %d slots",
                         jobs[i].id, (int)jobs[i].arrival, (int)settings->n_slots);
    }
    return rc;
}

static int slots_run_build(struct slots_run *r, const struct elastic_scheduler *scheduler,
                           const struct cluster *c, const struct elastic_job *jobs, int32_t n,
                           const struct elastic_settings *settings, struct err *e)
{
    *r = (struct slots_run){ .scheduler = scheduler, .cluster = c, .settings = settings };
    int rc = slots_check_jobs(c, jobs, n, settings, e);
    if (rc)
        return rc;
    size_t room = (size_t)n + 1;
    r->used = ARENA_TAKE(&r->arena, room, *r->used);
    r->done = ARENA_TAKE(&r->arena, room, *r->done);
    r->active = ARENA_TAKE(&r->arena, room, *r->active);
    r->order = ARENA_TAKE(&r->arena, room, *r->order);
    r->seen = ARENA_TAKE(&r->arena, c->n_servers, *r->seen);
    if (r->arena.failed)
        return err_nomem(e, "run of jobs");
    r->slot = (struct elastic_slot){
        .cluster = c,
        .jobs = jobs,
        .n_jobs = n,
        .used = r->used,
        .done = r->done,
        .active = r->active,
        .gpu_cost = settings->gpu_cost,
    };
    rc = slots_sort_arrivals(r->order, jobs, n, settings->n_slots, e);
    if (!rc)
        rc = elastic_room_build(&r->room, c, e);
    return rc ? rc : scheduler->build(&r->self, c, jobs, n, settings, e);
}

/* A job that came, did not leave, and has budget for a worker: what is in the list of active ones. */
static bool slots_is_active(const struct slots_run *r, int32_t job, const struct elastic_job_result *jobs)
{
    const struct elastic_slot *s = &r->slot;
    return job >= 0 && job < s->n_jobs && s->jobs[job].arrival <= s->slot && !jobs[job].left_slot &&
           elastic_most(s, job) > 0;
}

/* Jobs are kept by arrival, so the walk ends at the first that has not come. O(jobs that came). */
static void slots_find_active(struct slots_run *r, const struct elastic_job_result *jobs)
{
    struct elastic_slot *s = &r->slot;
    s->n_active = 0;
    for (int32_t i = 0; i < s->n_jobs && s->jobs[r->order[i]].arrival <= s->slot; i++)
        if (slots_is_active(r, r->order[i], jobs))
            r->active[s->n_active++] = r->order[i];
}

/* A ring that no scheduler may give is its fault; said, since what follows would be wrong in silence. */
static int slots_check_ring(struct slots_run *r, const struct elastic_ring *ring,
                            const struct elastic_job_result *jobs, struct err *e)
{
    const char *fault = NULL;
    /* A job that left in this slot did so by a ring of this slot. */
    bool twice = ring->job >= 0 && ring->job < r->slot.n_jobs && jobs[ring->job].last_slot == r->slot.slot;
    if (!twice && !slots_is_active(r, ring->job, jobs))
        return err_set(e, ERR_RANGE,
                       "scheduler %s: slot %d has workers for job number %d, which is not active",
                       r->scheduler->name, (int)r->slot.slot, (int)ring->job);
    const struct elastic_job *j = &r->slot.jobs[ring->job];
    if (twice)
        fault = "has two rings";
    else if (ring->workers_total > elastic_most_ever(j) ||
             ring->workers_total > j->budget - r->used[ring->job] + 1e-9)
        fault = "has more workers than it may have";
    else if (ring->n < 1)
        fault = "has a ring without servers";
    else if (ring->n > 1 && (ring->rate >= ELASTIC_INSIDE || (ring->rate && !j->offers_rates)))
        fault = "has a ring at a rate that it does not offer";
    /*
     * A new number a ring clears the marks of the one before: servers may be shared by rings, not within one.
     */
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

/* The job leaves when its budget has no whole worker left, not when it is 0: what is left could never be
 * used. Its last slot counts in full. */
static void slots_credit(struct slots_run *r, const struct elastic_ring *ring, struct elastic_job_result *out)
{
    const struct elastic_job *j = &r->slot.jobs[ring->job];
    r->used[ring->job] += ring->workers_total;
    r->done[ring->job] += elastic_gain(j, ring->workers_total, ring->rate);
    out->first_slot = out->first_slot ? out->first_slot : r->slot.slot;
    out->last_slot = r->slot.slot;
    out->slots++;
    if (r->used[ring->job] > j->budget - 1 + 1e-9 ||
        utility_at(&j->report, r->done[ring->job]) >= j->leave_frac * j->report.scale)
        out->left_slot = r->slot.slot;
}

/* Load over capacity; of a server that has none, any load is endless. */
static double slots_load_frac(double capacity, double left)
{
    return capacity > 0 ? 1 - left / capacity : left < 0 ? INFINITY : 0;
}

/* Largest load over capacity of servers and links; arcs' shares are added to arc_frac. */
static void slots_measure(struct elastic_slot_result *out, double *arc_frac, const struct slots_run *r)
{
    const struct cluster *c = r->cluster;
    double gpus = 0, total = 0;
    out->note.node_over = out->note.link_over = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        gpus += cluster_capacity(c, s, 0) - r->room.left[(int64_t)s * c->n_resources];
        total += cluster_capacity(c, s, 0);
        for (int32_t k = 0; k < c->n_resources; k++)
            out->note.node_over =
                fmax(out->note.node_over, slots_load_frac(cluster_capacity(c, s, k),
                                                          r->room.left[(int64_t)s * c->n_resources + k]));
    }
    out->gpus = gpus;
    out->gpu_frac = total > 0 ? gpus / total : 0;
    for (int32_t a = 0; a < c->n_arcs; a++) {
        double share = slots_load_frac(c->bw_Bps[a], r->room.left_Bps[a]);
        out->reserved_Bps += c->bw_Bps[a] - r->room.left_Bps[a];
        out->note.link_over = fmax(out->note.link_over, share);
        arc_frac[a] += share;
    }
    out->link_frac = out->note.link_over;
}

static int slots_run_slot(struct slots_run *r, struct elastic_result *out, struct err *e)
{
    struct elastic_slot_result *slot = &out->slots[r->slot.slot - 1];
    slots_find_active(r, out->jobs);
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
        if ((rc = slots_check_ring(r, ring, out->jobs, e)))
            break;
        const struct elastic_job j = elastic_at_rate(&r->slot.jobs[ring->job], ring->rate);
        rc = elastic_room_take(&r->room, &j, r->choice.servers + ring->first, r->choice.workers + ring->first,
                               ring->n, 1, e);
        if (rc)
            break;
        value += elastic_worth(&r->slot, ring->job, ring->workers_total, ring->rate);
        slots_credit(r, ring, &out->jobs[ring->job]);
        slot->workers += ring->workers_total;
    }
    slot->embedded = r->choice.n_rings;
    /* What the scheduler claims to have gained is not asked: value is counted here, from the rings alone. */
    slot->note.value = value;
    /* Rings are only loaded above; overload is looked for in the sums, once all are in. */
    slots_measure(slot, out->arc_frac, r);
    if (!rc && !r->settings->paper_rounding &&
        !(slot->note.node_over <= FULL && slot->note.link_over <= FULL))
        rc = err_set(e, ERR_RANGE, "scheduler %s: slot %d is overloaded", r->scheduler->name,
                     (int)r->slot.slot);
    return rc;
}

/* Slots without active jobs count for how full the cluster is and not for how well jobs were served: a
 * scheduler cannot help that nobody came. */
static void slots_sum_up(struct elastic_result *out, const struct slots_run *r)
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
        out->concave = out->concave && utility_is_concave(&r->slot.jobs[i].aim) &&
                       utility_is_concave(&r->slot.jobs[i].report);
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

static int slots_result_build(struct elastic_result *out, const struct cluster *c, int32_t n_jobs,
                              const struct elastic_settings *settings, bool keep, struct err *e)
{
    *out = (struct elastic_result){ .n_jobs = n_jobs, .n_slots = settings->n_slots, .n_arcs = c->n_arcs };
    out->jobs = ARENA_TAKE(&out->arena, n_jobs + 1, *out->jobs);
    out->slots = ARENA_TAKE(&out->arena, settings->n_slots, *out->slots);
    out->arc_frac = ARENA_TAKE(&out->arena, c->n_arcs + 1, *out->arc_frac);
    if (keep)
        out->choices = ARENA_TAKE(&out->arena, settings->n_slots, *out->choices);
    return arena_check(&out->arena, "result of a run", e);
}

int elastic_run(struct elastic_result *out, const struct elastic_scheduler *scheduler,
                const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                const struct elastic_settings *settings, bool keep_choices, struct err *e)
{
    struct slots_run r;
    struct work work;
    *out = (struct elastic_result){ 0 };
    int rc = slots_run_build(&r, scheduler, c, jobs, n_jobs, settings, e);
    if (!rc)
        rc = slots_result_build(out, c, n_jobs, settings, keep_choices, e);
    work_begin(&work, "slots", settings->n_slots);
    for (r.slot.slot = 1; r.slot.slot <= settings->n_slots && !rc; r.slot.slot++) {
        rc = slots_run_slot(&r, out, e);
        work_step(&work, 1);
        /* The choice changes hands; the next slot begins with an empty one. */
        if (!rc && keep_choices) {
            out->choices[r.slot.slot - 1] = r.choice;
            r.choice = (struct elastic_choice){ 0 };
        }
        if (!rc)
            rc = work_check(e);
    }
    work_end(&work);
    if (!rc)
        slots_sum_up(out, &r);
    else
        elastic_result_free(out);
    slots_run_free(&r);
    return rc;
}

void elastic_result_free(struct elastic_result *x)
{
    for (int32_t t = 0; x->choices && t < x->n_slots; t++)
        elastic_choice_free(&x->choices[t]);
    arena_free(&x->arena);
    *x = (struct elastic_result){ 0 };
}

/* ---- what is left of servers and links in a slot, and the rings a slot is made of ---- */

/* Sums of a few hundred demands are exact to far better than this share of a capacity. */
#define SLACK 1e-9

double elastic_gain(const struct elastic_job *job, int32_t workers, enum elastic_rate rate)
{
    int32_t row = job->offers_rates ? (int32_t)rate * (elastic_most_ever(job) + 1) : 0;
    return job->gain ? job->gain[row + workers] : job->zeta * workers;
}

struct elastic_job elastic_at_rate(const struct elastic_job *job, enum elastic_rate rate)
{
    static const double shares[] = { 1, 0.5, 0.25, 0 };
    struct elastic_job at = *job;
    at.hop_Bps *= shares[rate];
    return at;
}

double elastic_worth(const struct elastic_slot *s, int32_t job, int32_t workers, enum elastic_rate rate)
{
    const struct elastic_job *j = &s->jobs[job];
    return utility_gain(&j->aim, s->done[job], elastic_gain(j, workers, rate)) -
           s->gpu_cost * workers * j->demand[0];
}

int32_t elastic_most(const struct elastic_slot *s, int32_t job)
{
    const struct elastic_job *j = &s->jobs[job];
    double left = floor(j->budget - s->used[job] + SLACK);
    return left < j->max_workers ? (left > 0 ? (int32_t)left : 0) : j->max_workers;
}

/* ---- rings of a slot ---- */

void elastic_choice_clear(struct elastic_choice *x)
{
    x->n_rings = x->n_servers = 0;
}

void elastic_choice_free(struct elastic_choice *x)
{
    free(x->rings);
    free(x->servers);
    free(x->workers);
    *x = (struct elastic_choice){ 0 };
}

int elastic_choose(struct elastic_choice *x, int32_t job, const int32_t *servers, const int32_t *workers,
                   int32_t n, struct err *e)
{
    struct elastic_ring ring = {
        .job = job, .n = n, .first = x->n_servers, .rate = n > 1 ? ELASTIC_FULL : ELASTIC_INSIDE
    };
    if (!vec_reserve(x->rings, x->cap_rings, x->n_rings + 1) ||
        !vec_reserve(x->servers, x->cap_servers, x->n_servers + n) ||
        !vec_reserve(x->workers, x->cap_workers, x->n_servers + n))
        return err_nomem(e, "rings of a slot");
    for (int32_t i = 0; i < n; i++) {
        x->servers[x->n_servers] = servers[i];
        x->workers[x->n_servers++] = workers[i];
        ring.workers_total += workers[i];
    }
    x->rings[x->n_rings++] = ring;
    return 0;
}

/* ---- room ---- */

int elastic_room_build(struct elastic_room *room, const struct cluster *c, struct err *e)
{
    *room = (struct elastic_room){ .cluster = c };
    room->left = ARENA_TAKE(&room->arena, (size_t)c->n_servers * (size_t)c->n_resources, *room->left);
    room->left_Bps = ARENA_TAKE(&room->arena, c->n_arcs + 1, *room->left_Bps);
    if (room->arena.failed) {
        elastic_room_free(room);
        return err_nomem(e, "room on servers and links");
    }
    elastic_room_reset(room);
    return 0;
}

void elastic_room_free(struct elastic_room *room)
{
    arena_free(&room->arena);
    cluster_room_free(&room->paths);
    *room = (struct elastic_room){ 0 };
}

void elastic_room_reset(struct elastic_room *room)
{
    const struct cluster *c = room->cluster;
    memcpy(room->left, c->capacity, (size_t)c->n_servers * (size_t)c->n_resources * sizeof *room->left);
    memcpy(room->left_Bps, c->bw_Bps, (size_t)c->n_arcs * sizeof *room->left_Bps);
}

/* Add @p Bps to what is left of every arc of the ring. ERR_NOMEM changes nothing. Hops that were done are
 * taken back by finding their paths again: a path lasts until the next is asked for. */
static int room_add_hops(struct elastic_room *room, double Bps, const int32_t *servers, int32_t n,
                         struct err *e)
{
    /* A ring of one server has no hops. One of two has both ways, as a ring of messages has. */
    for (int32_t i = 0; i < n && n > 1; i++) {
        struct cluster_path path;
        int rc = cluster_find_path(&path, room->cluster, servers[i], servers[(i + 1) % n], &room->paths, e);
        for (int32_t k = 0; k < i && rc; k++) {
            struct err ignored = { 0 };
            cluster_find_path(&path, room->cluster, servers[k], servers[(k + 1) % n], &room->paths, &ignored);
            for (int32_t a = 0; a < path.n; a++)
                room->left_Bps[path.arcs[a]] -= Bps;
        }
        if (rc)
            return rc;
        for (int32_t a = 0; a < path.n; a++)
            room->left_Bps[path.arcs[a]] += Bps;
    }
    return 0;
}

int32_t elastic_room_workers(const struct elastic_room *room, const struct elastic_job *job, int32_t s)
{
    const struct cluster *c = room->cluster;
    double most = ELASTIC_MAX_WORKERS;
    for (int32_t r = 0; r < c->n_resources; r++)
        if (job->demand[r] > 0) {
            double left = room->left[(int64_t)s * c->n_resources + r];
            most = fmin(most, floor((left + SLACK * cluster_capacity(c, s, r)) / job->demand[r]));
        }
    return most > 0 ? (int32_t)most : 0;
}

/* Links first: they alone can fail, and then nothing was changed. */
int elastic_room_take(struct elastic_room *room, const struct elastic_job *job, const int32_t *servers,
                      const int32_t *workers, int32_t n, int sign, struct err *e)
{
    const struct cluster *c = room->cluster;
    int rc = room_add_hops(room, -sign * job->hop_Bps, servers, n, e);
    for (int32_t i = 0; i < n && !rc; i++)
        for (int32_t r = 0; r < c->n_resources; r++)
            room->left[(int64_t)servers[i] * c->n_resources + r] -= sign * workers[i] * job->demand[r];
    return rc;
}

int elastic_room_fits(bool *fits, struct elastic_room *room, const struct elastic_job *job,
                      const int32_t *servers, const int32_t *workers, int32_t n, struct err *e)
{
    *fits = false;
    for (int32_t i = 0; i < n; i++)
        if (elastic_room_workers(room, job, servers[i]) < workers[i])
            return 0;
    *fits = true;
    if (n == 1 || job->hop_Bps <= 0)
        return 0;
    /* A path may be used by several hops of one ring, so all are taken before any arc is looked at. */
    int rc = room_add_hops(room, -job->hop_Bps, servers, n, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < n && !rc; i++) {
        struct cluster_path path;
        rc = cluster_find_path(&path, room->cluster, servers[i], servers[(i + 1) % n], &room->paths, e);
        for (int32_t a = 0; a < path.n && !rc; a++)
            *fits = *fits && room->left_Bps[path.arcs[a]] >= -SLACK * room->cluster->bw_Bps[path.arcs[a]];
    }
    int back = room_add_hops(room, job->hop_Bps, servers, n, e);
    return rc ? rc : back;
}

double ring_time_iteration_s(const struct ring_time *t, enum ring_batch batch, int32_t workers)
{
    double w = workers, samples = batch == RING_BATCH_JOB ? t->samples / w : t->samples;
    return t->gradient_B * ((w - 1) / w) * (2 / t->hop_Bps + 1 / t->reduce_Bps) + t->sample_s * samples +
           t->backward_s + t->overhead_s;
}

int ring_time_gains(double *gain, const struct ring_time *t, enum ring_batch batch, double slot_s,
                    int32_t most, struct err *e)
{
    if (!(t->hop_Bps > 0))
        return err_set(e, ERR_RANGE, "ring: hop_Bps is %g, expected more than 0", t->hop_Bps);
    gain[0] = 0;
    for (int32_t w = 1; w <= most; w++) {
        double tau_s = ring_time_iteration_s(t, batch, w);
        if (!(tau_s > 0))
            return err_set(e, ERR_RANGE, "ring: an iteration of %d workers takes %g s, expected more than 0",
                           (int)w, tau_s);
        /* A quotient that rounding left just below a whole number is that number. */
        double n = floor(slot_s / tau_s * (1 + 1e-12));
        gain[w] = batch == RING_BATCH_WORKER ? w * n : n;
    }
    return 0;
}
int embed_build(struct embed *x, const struct cluster *c, struct err *e)
{
    *x = (struct embed){ 0 };
    x->order = ARENA_TAKE(&x->arena, c->n_servers, *x->order);
    x->room = ARENA_TAKE(&x->arena, c->n_servers, *x->room);
    x->sums = ARENA_TAKE(&x->arena, c->n_servers, *x->sums);
    x->servers = ARENA_TAKE(&x->arena, c->n_servers, *x->servers);
    x->workers = ARENA_TAKE(&x->arena, c->n_servers, *x->workers);
    if (x->arena.failed)
        embed_free(x);
    return x->order ? 0 : err_nomem(e, "rings");
}
void embed_free(struct embed *x)
{
    arena_free(&x->arena);
    *x = (struct embed){ 0 };
}

static int32_t embed_group(const struct cluster *c, int32_t level, int32_t s)
{
    return c->group[(int64_t)level * c->n_servers + s];
}

/* Does server a come before b in a ring? Outer groups first, so that each group is left once. */
static bool embed_before(const struct cluster *c, int32_t a, int32_t b)
{
    for (int32_t level = c->n_levels - 1; level > 0; level--)
        if (embed_group(c, level, a) != embed_group(c, level, b))
            return embed_group(c, level, a) < embed_group(c, level, b);
    return a < b;
}

/* Put server s with its workers where it belongs in the ring. */
static void embed_insert(struct embed *x, const struct cluster *c, int32_t s, int32_t workers)
{
    int32_t i = x->n++;
    for (; i > 0 && embed_before(c, s, x->servers[i - 1]); i--) {
        x->servers[i] = x->servers[i - 1];
        x->workers[i] = x->workers[i - 1];
    }
    x->servers[i] = s;
    x->workers[i] = workers;
}

/* The tightest server that holds all, of equals the lowest: roomy ones are left to larger rings. */
static bool embed_on_one(struct embed *x, int32_t n_servers, int32_t workers)
{
    int32_t best = -1;
    for (int32_t s = 0; s < n_servers; s++)
        if (x->room[s] >= workers && (best < 0 || x->room[s] < x->room[best]))
            best = s;
    if (best < 0)
        return false;
    x->n = 1;
    x->rate = ELASTIC_INSIDE;
    x->servers[0] = best;
    x->workers[0] = workers;
    return true;
}

/*
 * The roomiest servers of order[0..n) first, of equals the lowest number, until all workers have a place.
 * Fewest servers make the fewest hops. O(n servers of the ring); the caller knows that there is room for all.
 */
static void embed_take_roomiest(struct embed *x, const struct cluster *c, int32_t n, int32_t workers)
{
    x->n = 0;
    while (workers > 0) {
        int32_t best = -1;
        for (int32_t i = 0; i < n; i++)
            if (x->order[i] >= 0 && (best < 0 || x->room[x->order[i]] > x->room[x->order[best]]))
                best = i;
        int32_t s = x->order[best], take = x->room[s] < workers ? x->room[s] : workers;
        embed_insert(x, c, s, take);
        x->order[best] = -1;
        workers -= take;
    }
}

/* Workers that each group of a level has room for, into sums; how many groups there are. */
static int32_t embed_sum_groups(struct embed *x, const struct cluster *c, int32_t level)
{
    int32_t n = 0;
    memset(x->sums, 0, (size_t)c->n_servers * sizeof *x->sums);
    for (int32_t s = 0; s < c->n_servers; s++) {
        int32_t g = embed_group(c, level, s);
        x->sums[g] += x->room[s];
        n = g >= n ? g + 1 : n;
    }
    return n;
}

/* Servers of group `g` with room, into order; how many. */
static int32_t embed_gather_servers(struct embed *x, const struct cluster *c, int32_t level, int32_t g)
{
    int32_t n = 0;
    for (int32_t s = 0; s < c->n_servers; s++)
        if (x->room[s] > 0 && embed_group(c, level, s) == g)
            x->order[n++] = s;
    return n;
}

/* On several servers, at the bandwidth that the job has. Level 0 are the servers themselves. */
static int embed_spread(bool *found, struct embed *x, struct elastic_room *room,
                        const struct elastic_job *job, int32_t workers, struct err *e)
{
    const struct cluster *c = room->cluster;
    int rc = 0;
    for (int32_t level = 1; level < c->n_levels && !*found && !rc; level++)
        for (int32_t g = 0, end = embed_sum_groups(x, c, level); g < end && !*found && !rc; g++) {
            if (x->sums[g] < workers)
                continue;
            embed_take_roomiest(x, c, embed_gather_servers(x, c, level, g), workers);
            rc = elastic_room_fits(found, room, job, x->servers, x->workers, x->n, e);
        }
    return rc;
}

int embed_find(bool *found, struct embed *x, struct elastic_room *room, const struct elastic_job *job,
               int32_t workers, struct err *e)
{
    const struct cluster *c = room->cluster;
    int rc = 0;
    for (int32_t s = 0; s < c->n_servers; s++)
        x->room[s] = elastic_room_workers(room, job, s);
    *found = embed_on_one(x, c->n_servers, workers);
    for (int r = ELASTIC_FULL; r < (job->offers_rates ? ELASTIC_INSIDE : 1) && !*found && !rc; r++) {
        struct elastic_job at = elastic_at_rate(job, (enum elastic_rate)r);
        if (r == ELASTIC_FULL || elastic_gain(job, workers, (enum elastic_rate)r) > 0)
            rc = embed_spread(found, x, room, &at, workers, e);
        if (*found)
            x->rate = (enum elastic_rate)r;
    }
    return rc;
}

/* Where server s is in the ring; -1: not there. */
static int32_t embed_find_server(const struct embed *x, int32_t s)
{
    for (int32_t i = 0; i < x->n; i++)
        if (x->servers[i] == s)
            return i;
    return -1;
}

static void embed_copy_ring(struct embed *x, const int32_t *servers, const int32_t *counts, int32_t n)
{
    memcpy(x->servers, servers, (size_t)n * sizeof *servers);
    memcpy(x->workers, counts, (size_t)n * sizeof *counts);
    x->n = n;
}

int embed_grow(bool *found, struct embed *x, struct elastic_room *room, const struct elastic_job *job,
               const int32_t *servers, const int32_t *counts, int32_t n, struct err *e)
{
    const struct cluster *c = room->cluster;
    *found = false;
    if (n == 0)
        return embed_find(found, x, room, job, 1, e);
    embed_copy_ring(x, servers, counts, n);
    for (int32_t i = 0; i < n; i++)
        if (elastic_room_workers(room, job, servers[i]) >= 1) {
            x->workers[i]++;
            *found = true;
            return 0;
        }
    /*
     * Its own ring is taken off while larger ones are tried, or its hops would count twice; it is put back
     * below.
     */
    int rc = elastic_room_take(room, job, servers, counts, n, -1, e);
    if (rc)
        return rc;
    for (int32_t level = 1; level < c->n_levels && !*found && !rc; level++)
        for (int32_t s = 0; s < c->n_servers && !*found && !rc; s++) {
            /* Servers of inner levels were tried before. */
            if (embed_group(c, level, s) != embed_group(c, level, servers[0]) ||
                embed_group(c, level - 1, s) == embed_group(c, level - 1, servers[0]) ||
                embed_find_server(x, s) >= 0 || elastic_room_workers(room, job, s) < 1)
                continue;
            embed_insert(x, c, s, 1);
            rc = elastic_room_fits(found, room, job, x->servers, x->workers, x->n, e);
            /* The candidate is undone: the ring stands sorted, and the server need not be the last of it. */
            if (!*found)
                embed_copy_ring(x, servers, counts, n);
        }
    int back = elastic_room_take(room, job, servers, counts, n, 1, e);
    return rc ? rc : back;
}

/*
 * Schedulers for jobs in slots that GADGET is compared with: first in, first out; least attained service
 * (Tiresias: J. Gu et al., NSDI 2019); dominant resource fairness (A. Ghodsi et al., NSDI 2011). GADGET's
 * paper (arXiv 2202.01158, section VI) gives the first two a fixed number of workers, places all greedily,
 * and leaves DRF's growth open: here by progressive filling. Where service is counted in hours of
 * accelerators, it is here in worker-slots: the same while each worker has as many GPUs.
 */

struct slots_order {
    struct arena arena; /* of the arrays below */
    const struct elastic_settings *settings;
    struct elastic_room room;
    struct embed embed;
    int32_t *jobs; /* shape [n_jobs], in the order they are served */
    double *key;   /* shape [n_jobs] */
    bool *stuck;   /* shape [n_jobs]: its fixed ring fits nowhere, even alone */
    struct ring_list {
        int32_t *servers, *workers; /* shape [n], owned */
        int32_t n;
        enum elastic_rate rate;
    } * rings; /* shape [n_jobs], of DRF while it fills */
    int32_t n_jobs;
};

static void order_free(void *self)
{
    struct slots_order *x = self;
    if (!x)
        return;
    elastic_room_free(&x->room);
    embed_free(&x->embed);
    for (int32_t i = 0; x->rings && i < x->n_jobs; i++) {
        free(x->rings[i].servers);
        free(x->rings[i].workers);
    }
    arena_free(&x->arena);
    free(x);
}

static int order_build(void **self, const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                       const struct elastic_settings *settings, struct err *e)
{
    (void)jobs;
    struct slots_order *x = calloc(1, sizeof *x);
    *self = NULL;
    if (!x)
        return err_nomem(e, "scheduler");
    x->settings = settings;
    x->n_jobs = n_jobs;
    x->jobs = ARENA_TAKE(&x->arena, n_jobs + 1, *x->jobs);
    x->key = ARENA_TAKE(&x->arena, n_jobs + 1, *x->key);
    x->stuck = ARENA_TAKE(&x->arena, n_jobs + 1, *x->stuck);
    x->rings = ARENA_TAKE(&x->arena, n_jobs + 1, *x->rings);
    int rc = arena_check(&x->arena, "scheduler", e);
    if (!rc)
        rc = elastic_room_build(&x->room, c, e);
    if (!rc)
        rc = embed_build(&x->embed, c, e);
    if (rc)
        order_free(x);
    else
        *self = x;
    return rc;
}

/* Workers under a scheduler that does not choose: the fixed number, or what the budget leaves of it. The last
 * slot of a job may have fewer: a budget need not be a multiple of its workers. */
static int32_t order_fixed_workers(const struct elastic_job *j, double used)
{
    double left = floor(j->budget - used + 1e-9);
    return left < j->fixed_workers ? (int32_t)left : j->fixed_workers;
}

/*
 * A job that has no place even alone never runs: it waits, and nobody behind it does. Looked up before the
 * first slot: embedding is greedy and the same whenever the cluster is empty.
 */
static int order_find_stuck(struct slots_order *x, const struct elastic_job *jobs, struct err *e)
{
    int rc = 0;
    elastic_room_reset(&x->room);
    for (int32_t i = 0; i < x->n_jobs && !rc; i++) {
        int32_t workers = order_fixed_workers(&jobs[i], 0);
        bool found = workers < 1;
        if (!found)
            rc = embed_find(&found, &x->embed, &x->room, &jobs[i], workers, e);
        x->stuck[i] = !found;
    }
    return rc;
}

static int order_fixed_build(void **self, const struct cluster *c, const struct elastic_job *jobs,
                             int32_t n_jobs, const struct elastic_settings *settings, struct err *e)
{
    int rc = order_build(self, c, jobs, n_jobs, settings, e);
    if (!rc && (rc = order_find_stuck(*self, jobs, e))) {
        order_free(*self);
        *self = NULL;
    }
    return rc;
}

/* Stable: of equal keys the one before in `active` stays before. Few jobs change places from slot to slot. */
static void order_sort_jobs(struct slots_order *x, const struct elastic_slot *s)
{
    for (int32_t i = 0; i < s->n_active; i++) {
        int32_t job = s->active[i], at = i;
        for (; at > 0 && x->key[x->jobs[at - 1]] > x->key[job]; at--)
            x->jobs[at] = x->jobs[at - 1];
        x->jobs[at] = job;
    }
}

/* Fixed numbers of workers, or what the budget leaves of them, in the order of keys. */
static int order_serve_fixed(struct elastic_choice *out, struct elastic_note *note, struct slots_order *x,
                             const struct elastic_slot *s, bool waits, struct err *e)
{
    int rc = 0;
    elastic_room_reset(&x->room);
    order_sort_jobs(x, s);
    for (int32_t i = 0; i < s->n_active && !rc; i++) {
        const struct elastic_job *j = &s->jobs[x->jobs[i]];
        bool found = false;
        if (x->stuck[x->jobs[i]]) {
            note->stuck++;
            continue;
        }
        rc = embed_find(&found, &x->embed, &x->room, j, order_fixed_workers(j, s->used[x->jobs[i]]), e);
        /* FIFO: whoever is behind waits, even where it would fit. LAS passes over. */
        if (!found && waits)
            break;
        if (found && !rc)
            rc = elastic_choose(out, x->jobs[i], x->embed.servers, x->embed.workers, x->embed.n, e);
        if (!found || rc)
            continue;
        out->rings[out->n_rings - 1].rate = x->embed.rate;
        struct elastic_job at = elastic_at_rate(j, x->embed.rate);
        rc = elastic_room_take(&x->room, &at, x->embed.servers, x->embed.workers, x->embed.n, 1, e);
    }
    return rc;
}

/* All keys alike: the stable sort leaves `active` as it is, by arrival and then number. */
static int fifo_choose_slot(struct elastic_choice *out, struct elastic_note *note, void *self,
                            const struct elastic_slot *s, struct err *e)
{
    struct slots_order *x = self;
    for (int32_t i = 0; i < s->n_active; i++)
        x->key[s->active[i]] = 0;
    return order_serve_fixed(out, note, x, s, true, e);
}

/* Attained service in worker-slots; with queues, which of them it has fallen to. */
static int las_choose_slot(struct elastic_choice *out, struct elastic_note *note, void *self,
                           const struct elastic_slot *s, struct err *e)
{
    struct slots_order *x = self;
    const struct elastic_settings *set = x->settings;
    for (int32_t i = 0; i < s->n_active; i++) {
        double used = s->used[s->active[i]];
        x->key[s->active[i]] =
            set->las_queues > 0 ? fmin(floor(used / set->las_step), set->las_queues - 1) : used;
    }
    return order_serve_fixed(out, note, x, s, false, e);
}

/* ---- DRF ---- */

/* Of one worker: its largest share of a resource of the whole cluster. */
static double drf_worker_share(const struct cluster *c, const double *total, const struct elastic_job *j)
{
    double share = 0;
    for (int32_t r = 0; r < c->n_resources; r++)
        if (j->demand[r] > 0)
            share = fmax(share, j->demand[r] / total[r]);
    return share;
}

static int32_t drf_count_workers(const struct ring_list *ring)
{
    int32_t n = 0;
    for (int32_t i = 0; i < ring->n; i++)
        n += ring->workers[i];
    return n;
}

static int drf_keep_ring(struct ring_list *ring, const struct embed *from, struct err *e)
{
    size_t bytes = (size_t)from->n * sizeof *ring->servers;
    if (!vec_resize(ring->servers, from->n) || !vec_resize(ring->workers, from->n))
        return err_nomem(e, "ring");
    memcpy(ring->servers, from->servers, bytes);
    memcpy(ring->workers, from->workers, bytes);
    ring->n = from->n;
    return 0;
}

/* One worker more for job `job`, if anything fits. Rings on several servers keep their rate; one that leaves
 * its server takes the highest that fits, and leaves by none where that would be no progress. */
static int drf_grow_ring(bool *found, struct slots_order *x, const struct elastic_job *j, int32_t job,
                         struct err *e)
{
    struct ring_list *ring = &x->rings[job];
    int rc = 0, first = ring->n > 1 ? (int)ring->rate : ELASTIC_FULL, after = first + 1;
    int32_t workers = drf_count_workers(ring) + 1;
    if (j->offers_rates && ring->n < 2)
        after = ELASTIC_INSIDE;
    for (int r = first; r < after && !rc && !*found; r++) {
        struct elastic_job at = elastic_at_rate(j, (enum elastic_rate)r);
        if (r > first && !(elastic_gain(j, workers, (enum elastic_rate)r) > 0))
            break;
        rc = embed_grow(found, &x->embed, &x->room, &at, ring->servers, ring->workers, ring->n, e);
        if (rc || !*found)
            continue;
        if (ring->n)
            rc = elastic_room_take(&x->room, &at, ring->servers, ring->workers, ring->n, -1, e);
        if (!rc)
            rc = drf_keep_ring(ring, &x->embed, e);
        ring->rate = ring->n > 1 ? (enum elastic_rate)r : ELASTIC_INSIDE;
        rc = rc ? rc : elastic_room_take(&x->room, &at, ring->servers, ring->workers, ring->n, 1, e);
    }
    return rc;
}

/*
 * Progressive filling: the job with the least dominant share gets one worker more, until no job's ring can
 * grow. A job that found no room is closed for the slot, and taken out without a change of order, so that
 * ties go by arrival. O((workers + jobs) (jobs + servers)) and the hops' paths.
 */
static int drf_choose_slot(struct elastic_choice *out, struct elastic_note *note, void *self,
                           const struct elastic_slot *s, struct err *e)
{
    struct slots_order *x = self;
    double total[CLUSTER_MAX_RESOURCES];
    int32_t n_open = s->n_active;
    int rc = 0;
    (void)note;
    elastic_room_reset(&x->room);
    for (int32_t r = 0; r < s->cluster->n_resources; r++)
        total[r] = cluster_total(s->cluster, r);
    for (int32_t i = 0; i < s->n_active; i++) {
        x->jobs[i] = s->active[i];
        x->key[s->active[i]] = 0;
        x->rings[s->active[i]].n = 0;
    }
    while (n_open > 0 && !rc) {
        int32_t least = 0;
        for (int32_t i = 1; i < n_open; i++)
            if (x->key[x->jobs[i]] < x->key[x->jobs[least]])
                least = i;
        int32_t job = x->jobs[least];
        bool found = false;
        if (drf_count_workers(&x->rings[job]) < elastic_most(s, job))
            rc = drf_grow_ring(&found, x, &s->jobs[job], job, e);
        x->key[job] += drf_worker_share(s->cluster, total, &s->jobs[job]);
        if (!found) {
            n_open--;
            memmove(x->jobs + least, x->jobs + least + 1, (size_t)(n_open - least) * sizeof *x->jobs);
        }
        if (!rc)
            rc = work_check(e);
    }
    for (int32_t i = 0; i < s->n_active && !rc; i++) {
        const struct ring_list *ring = &x->rings[s->active[i]];
        if (!ring->n)
            continue;
        rc = elastic_choose(out, s->active[i], ring->servers, ring->workers, ring->n, e);
        if (!rc)
            out->rings[out->n_rings - 1].rate = ring->rate;
    }
    return rc;
}

static const struct elastic_scheduler drf = { "drf", "dominant resource fairness, by progressive filling",
                                              order_build, drf_choose_slot, order_free };
static const struct elastic_scheduler las = { "las", "least attained service, in queues (Tiresias)",
                                              order_fixed_build, las_choose_slot, order_free };
static const struct elastic_scheduler fifo = { "fifo",
                                               "first in, first out; those behind one that does not fit wait",
                                               order_fixed_build, fifo_choose_slot, order_free };

const struct elastic_scheduler *const elastic_schedulers[] = { &elastic_gadget, &drf, &las, &fifo };
const int32_t elastic_n_schedulers = sizeof elastic_schedulers / sizeof elastic_schedulers[0];
