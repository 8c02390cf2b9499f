/* Dominant resource fairness (A. Ghodsi et al., NSDI 2011) between tenants, by progressive filling. */
#include <math.h>
#include <stdlib.h>

#include "base/stat.h"
#include "sim/events/events.h"

/* A tenant has the number of its first job in order of submission. */
struct drf_tenant {
    double held[CLUSTER_MAX_RESOURCES]; /* by its running jobs */
    double weight;
    int32_t n_running;
    int32_t head, tail; /* of its waiting jobs in order of submission; -1: none */
};

struct drf {
    struct arena arena;         /* of the arrays below */
    struct drf_tenant *tenants; /* shape [n_jobs], owned */
    int32_t *tenant, *next;     /* shape [n_jobs], owned: whose a job is, and who waits behind it */
    int32_t *passed;            /* shape [n_jobs], owned: tenants passed over in one go */
    struct event_heap filled;   /* tenants with a waiting job, by the share they would have with it */
};

static void drf_free(void *own)
{
    struct drf *drf = own;
    if (!drf)
        return;
    arena_free(&drf->arena);
    event_heap_free(&drf->filled);
    free(drf);
}

static int drf_find_tenants(struct drf *drf, const struct events_state *x, struct err *e)
{
    int32_t n = x->p->n_jobs;
    struct stat_rank *members = malloc((size_t)n * sizeof *members); /* by tenant and submission */
    if (!members)
        return err_nomem(e, "tenants");
    for (int32_t i = 0; i < n; i++)
        members[i] = (struct stat_rank){ x->p->jobs[x->arrivals[i]].tenant, i };
    stat_sort_ranks(members, n);
    for (int32_t i = 0, first = 0; i < n; i++) {
        int32_t place = (int32_t)members[i].at, job = x->arrivals[place];
        if (members[i].key < 0 || i == 0 || members[i - 1].key < members[i].key) {
            first = place;
            drf->tenants[first] =
                (struct drf_tenant){ .weight = x->p->jobs[job].weight, .head = -1, .tail = -1 };
        }
        drf->tenant[job] = first;
    }
    free(members);
    return 0;
}

static int drf_build(struct events_state *x, struct err *e)
{
    size_t n = (size_t)x->p->n_jobs;
    struct drf *drf = x->own = calloc(1, sizeof *drf);
    if (!drf)
        return err_nomem(e, "tenants");
    drf->tenants = ARENA_TAKE(&drf->arena, n, *drf->tenants);
    drf->tenant = ARENA_TAKE(&drf->arena, n, *drf->tenant);
    drf->next = ARENA_TAKE(&drf->arena, n, *drf->next);
    drf->passed = ARENA_TAKE(&drf->arena, n, *drf->passed);
    if (drf->arena.failed)
        return err_nomem(e, "tenants");
    return drf_find_tenants(drf, x, e);
}

/* Of resource r for each of the job's GPUs. */
static double drf_demand_per_gpu(const struct job *job, int32_t r)
{
    return r == 0 ? 1 : job->demand[r];
}

/* The largest share of a resource that it would hold with its next job, over its weight. */
static double drf_next_share(const struct events_state *x, const struct drf_tenant *t)
{
    const struct job *job = &x->p->jobs[t->head];
    double share = 0;
    for (int32_t r = 0; r < x->p->cluster->n_resources; r++)
        if (x->total[r] > 0)
            share = fmax(share, (t->held[r] + job->gpus * drf_demand_per_gpu(job, r)) / x->total[r]);
    return share / t->weight;
}

static int drf_enter(struct events_state *x, int32_t tenant, struct err *e)
{
    struct drf *drf = x->own;
    const struct drf_tenant *t = &drf->tenants[tenant];
    return t->head < 0 ? 0 : event_heap_set(&drf->filled, tenant, drf_next_share(x, t), e);
}

static int drf_wait(struct events_state *x, int32_t job, struct err *e)
{
    struct drf *drf = x->own;
    struct drf_tenant *t = &drf->tenants[drf->tenant[job]];
    drf->next[job] = -1;
    if (t->head < 0)
        t->head = job;
    else
        drf->next[t->tail] = job;
    t->tail = job;
    return drf_enter(x, drf->tenant[job], e);
}

/* sign 1: it starts, -1: it ends. */
static void drf_hold(const struct events_state *x, struct drf_tenant *t, const struct job *job, int sign)
{
    t->n_running += sign;
    /* Nothing is held by nobody, whatever rounding left. */
    for (int32_t r = 0; r < x->p->cluster->n_resources; r++)
        t->held[r] = t->n_running > 0 ? t->held[r] + sign * job->gpus * drf_demand_per_gpu(job, r) : 0;
}

static void drf_end(struct events_state *x, int32_t job)
{
    struct drf *drf = x->own;
    int32_t tenant = drf->tenant[job];
    drf_hold(x, &drf->tenants[tenant], &x->p->jobs[job], -1);
    /* It is in the heap if a job of it waits: room is there then, so this cannot fail. */
    struct err e;
    (void)drf_enter(x, tenant, &e);
}

/* The head of a tenant started. */
static int drf_advance(struct events_state *x, int32_t tenant, struct err *e)
{
    struct drf *drf = x->own;
    struct drf_tenant *t = &drf->tenants[tenant];
    drf_hold(x, t, &x->p->jobs[t->head], 1);
    t->head = drf->next[t->head];
    if (t->head < 0)
        event_heap_remove(&drf->filled, tenant);
    return drf_enter(x, tenant, e);
}

static int drf_choose(struct events_state *x, struct err *e)
{
    struct drf *drf = x->own;
    int32_t n_passed = 0, tenant;
    int rc = 0;
    while (events_idle(x) >= order_smallest(x) && (tenant = event_heap_first(&drf->filled)) >= 0 && !rc) {
        bool started;
        rc = events_start(x, drf->tenants[tenant].head, &started, e);
        if (!rc && started) {
            rc = drf_advance(x, tenant, e);
        } else if (!rc) {
            event_heap_remove(&drf->filled, tenant);
            drf->passed[n_passed++] = tenant;
        }
    }
    for (int32_t i = 0; i < n_passed && !rc; i++)
        rc = drf_enter(x, drf->passed[i], e);
    return rc;
}

static void drf_key(struct order_key *out, const struct events_state *x, int32_t job)
{
    *out = (struct order_key){ x->p->jobs[job].submit_s, 0 };
}

const struct order_kind order_drf = { .name = "drf",
                                      .help = "whose tenant would have the smallest dominant share with it",
                                      .build = drf_build,
                                      .free = drf_free,
                                      .find_key = drf_key,
                                      .wait = drf_wait,
                                      .end = drf_end,
                                      .choose = drf_choose };
