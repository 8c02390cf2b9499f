/* What a simulation in chunks tells, and the simulation as an engine. */
#include "sim/chunk/chunk_state.h"

const int32_t *chunk_ended(const struct chunk_sim *x, int32_t *n)
{
    *n = x->n_ended;
    return x->ended;
}

const struct sim_job_result *chunk_result(const struct chunk_sim *x, int32_t job)
{
    return &x->jobs[job].result;
}

const struct chunk_slice *chunk_slices(const struct chunk_sim *x, int64_t *n)
{
    *n = x->n_slices;
    return x->slices;
}

const uint8_t *chunk_order(const struct chunk_sim *x, int32_t job, int32_t chunk, int32_t *n)
{
    const struct chunk_entry *entry = &x->jobs[job];
    const struct chunk_plan *p = &entry->plans[entry->plan_of[chunk]];
    *n = p->n_order;
    return p->order;
}

/* ---- as an engine ---- */

static int engine_issue(void *x, const struct sim_job *job, double now_s, struct err *e)
{
    return chunk_issue(x, job, now_s, e);
}

static double engine_next(const void *x)
{
    return chunk_next(x);
}

static int engine_advance(void *x, struct err *e)
{
    return chunk_advance(x, e);
}

static const int32_t *engine_ended(const void *x, int32_t *n)
{
    return chunk_ended(x, n);
}

static const struct sim_job_result *engine_result(const void *x, int32_t job)
{
    return chunk_result(x, job);
}

struct sim_engine chunk_engine(struct chunk_sim *x)
{
    return (struct sim_engine){ x, engine_issue, engine_next, engine_advance, engine_ended, engine_result };
}
