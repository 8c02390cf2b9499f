/*
 * Schedulers for jobs in slots that GADGET is compared with: first in, first out; least attained service
 * (Tiresias: J. Gu et al., NSDI 2019); dominant resource fairness (A. Ghodsi et al., NSDI 2011). GADGET's
 * paper (arXiv 2202.01158, section VI) gives the first two a fixed number of workers, places all greedily,
 * and leaves DRF's growth open: here by progressive filling. Where service is counted in hours of
 * accelerators, it is here in worker-slots: the same while each worker has as many GPUs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/slots/embed.h"
#include "sim/slots/gadget.h"

struct order {
    const struct elastic_settings *settings;
    struct elastic_room room;
    struct embed embed;
    int32_t *jobs; /* shape [n_jobs], in the order they are served */
    double *key;   /* shape [n_jobs] */
    struct ring_list {
        int32_t *servers, *workers; /* shape [n], owned */
        int32_t n;
    } * rings; /* shape [n_jobs], of DRF while it fills */
    int32_t n_jobs;
};

static void order_free(void *self)
{
    struct order *x = self;
    if (!x)
        return;
    elastic_room_free(&x->room);
    embed_free(&x->embed);
    for (int32_t i = 0; x->rings && i < x->n_jobs; i++) {
        free(x->rings[i].servers);
        free(x->rings[i].workers);
    }
    free(x->rings);
    free(x->jobs);
    free(x->key);
    free(x);
}

static int order_build(void **self, const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                       const struct elastic_settings *settings, struct err *e)
{
    (void)jobs;
    struct order *x = calloc(1, sizeof *x);
    *self = NULL;
    if (!x)
        return err_nomem(e, "scheduler");
    x->settings = settings;
    x->n_jobs = n_jobs;
    x->jobs = malloc(((size_t)n_jobs + 1) * sizeof *x->jobs);
    x->key = malloc(((size_t)n_jobs + 1) * sizeof *x->key);
    x->rings = calloc((size_t)n_jobs + 1, sizeof *x->rings);
    int rc = x->jobs && x->key && x->rings ? 0 : err_nomem(e, "scheduler");
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

/* Workers under a scheduler that does not choose: the fixed number, or what the budget leaves of it. */
static int32_t fixed_workers(const struct elastic_job *j, double used)
{
    double left = floor(j->budget - used + 1e-9);
    return left < j->fixed_workers ? (int32_t)left : j->fixed_workers;
}

/* A job that has no place even alone would never run, and first in, first out would end there in silence. */
static int check_fixed(struct order *x, const struct elastic_job *jobs, struct err *e)
{
    int rc = 0;
    elastic_room_reset(&x->room);
    for (int32_t i = 0; i < x->n_jobs && !rc; i++) {
        int32_t workers = fixed_workers(&jobs[i], 0);
        bool found = workers < 1;
        if (!found)
            rc = embed_find(&found, &x->embed, &x->room, &jobs[i], workers, e);
        if (!rc && !found)
            rc = err_set(
                e, ERR_RANGE,
                "job %s: its ring of %d workers finds no place on the empty cluster, need fewer fixed "
                "workers, or more servers or bandwidth",
                jobs[i].id, (int)workers);
    }
    return rc;
}

static int fixed_build(void **self, const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                       const struct elastic_settings *settings, struct err *e)
{
    int rc = order_build(self, c, jobs, n_jobs, settings, e);
    if (!rc && (rc = check_fixed(*self, jobs, e))) {
        order_free(*self);
        *self = NULL;
    }
    return rc;
}

/* Stable: of equal keys the one before in `active` stays before. Few jobs change places from slot to slot. */
static void sort_jobs(struct order *x, const struct elastic_slot *s)
{
    for (int32_t i = 0; i < s->n_active; i++) {
        int32_t job = s->active[i], at = i;
        for (; at > 0 && x->key[x->jobs[at - 1]] > x->key[job]; at--)
            x->jobs[at] = x->jobs[at - 1];
        x->jobs[at] = job;
    }
}

/* Fixed numbers of workers, or what the budget leaves of them, in the order of keys. */
static int serve_fixed(struct elastic_choice *out, struct order *x, const struct elastic_slot *s, bool waits,
                       struct err *e)
{
    int rc = 0;
    elastic_room_reset(&x->room);
    sort_jobs(x, s);
    for (int32_t i = 0; i < s->n_active && !rc; i++) {
        const struct elastic_job *j = &s->jobs[x->jobs[i]];
        bool found = false;
        rc = embed_find(&found, &x->embed, &x->room, j, fixed_workers(j, s->used[x->jobs[i]]), e);
        if (!found && waits)
            break;
        if (found && !rc)
            rc = elastic_choose(out, x->jobs[i], x->embed.servers, x->embed.workers, x->embed.n, e);
        if (found && !rc)
            rc = elastic_room_take(&x->room, j, x->embed.servers, x->embed.workers, x->embed.n, 1, e);
    }
    return rc;
}

static int choose_fifo(struct elastic_choice *out, struct elastic_note *note, void *self,
                       const struct elastic_slot *s, struct err *e)
{
    struct order *x = self;
    (void)note;
    for (int32_t i = 0; i < s->n_active; i++)
        x->key[s->active[i]] = 0;
    return serve_fixed(out, x, s, true, e);
}

/* Attained service in worker-slots; with queues, which of them it has fallen to. */
static int choose_las(struct elastic_choice *out, struct elastic_note *note, void *self,
                      const struct elastic_slot *s, struct err *e)
{
    struct order *x = self;
    const struct elastic_settings *set = x->settings;
    (void)note;
    for (int32_t i = 0; i < s->n_active; i++) {
        double used = s->used[s->active[i]];
        x->key[s->active[i]] =
            set->las_queues > 0 ? fmin(floor(used / set->las_step), set->las_queues - 1) : used;
    }
    return serve_fixed(out, x, s, false, e);
}

/* ---- DRF ---- */

/* Of one worker: its largest share of a resource of the whole cluster. */
static double worker_share(const struct cluster *c, const double *total, const struct elastic_job *j)
{
    double share = 0;
    for (int32_t r = 0; r < c->n_resources; r++)
        if (j->demand[r] > 0)
            share = fmax(share, j->demand[r] / total[r]);
    return share;
}

static int keep_ring(struct ring_list *ring, const struct embed *from, struct err *e)
{
    size_t bytes = (size_t)from->n * sizeof *ring->servers;
    int32_t *grown = realloc(ring->servers, bytes);
    if (!grown)
        return err_nomem(e, "ring");
    ring->servers = grown;
    grown = realloc(ring->workers, bytes);
    if (!grown)
        return err_nomem(e, "ring");
    ring->workers = grown;
    memcpy(ring->servers, from->servers, bytes);
    memcpy(ring->workers, from->workers, bytes);
    ring->n = from->n;
    return 0;
}

/* One worker more for job `job`, if anything fits. */
static int grow(bool *found, struct order *x, const struct elastic_job *j, int32_t job, struct err *e)
{
    struct ring_list *ring = &x->rings[job];
    int rc = embed_grow(found, &x->embed, &x->room, j, ring->servers, ring->workers, ring->n, e);
    if (rc || !*found)
        return rc;
    if (ring->n)
        rc = elastic_room_take(&x->room, j, ring->servers, ring->workers, ring->n, -1, e);
    if (!rc)
        rc = keep_ring(ring, &x->embed, e);
    return rc ? rc : elastic_room_take(&x->room, j, ring->servers, ring->workers, ring->n, 1, e);
}

static int32_t count_workers(const struct ring_list *ring)
{
    int32_t n = 0;
    for (int32_t i = 0; i < ring->n; i++)
        n += ring->workers[i];
    return n;
}

static int choose_drf(struct elastic_choice *out, struct elastic_note *note, void *self,
                      const struct elastic_slot *s, struct err *e)
{
    struct order *x = self;
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
        if (count_workers(&x->rings[job]) < elastic_most(s, job))
            rc = grow(&found, x, &s->jobs[job], job, e);
        x->key[job] += worker_share(s->cluster, total, &s->jobs[job]);
        if (!found) {
            n_open--;
            memmove(x->jobs + least, x->jobs + least + 1, (size_t)(n_open - least) * sizeof *x->jobs);
        }
    }
    for (int32_t i = 0; i < s->n_active && !rc; i++) {
        const struct ring_list *ring = &x->rings[s->active[i]];
        if (ring->n)
            rc = elastic_choose(out, s->active[i], ring->servers, ring->workers, ring->n, e);
    }
    return rc;
}

static const struct elastic_scheduler drf = { "drf", "dominant resource fairness, by progressive filling",
                                              order_build, choose_drf, order_free };
static const struct elastic_scheduler las = { "las", "least attained service, in queues (Tiresias)",
                                              fixed_build, choose_las, order_free };
static const struct elastic_scheduler fifo = { "fifo",
                                               "first in, first out; those behind one that does not fit wait",
                                               fixed_build, choose_fifo, order_free };

const struct elastic_scheduler *const elastic_schedulers[] = { &elastic_gadget, &drf, &las, &fifo };
const int32_t elastic_n_schedulers = sizeof elastic_schedulers / sizeof elastic_schedulers[0];
