/*
 * Whose jobs took what: a row for each tenant of a run of model events. The machine is shared out by the
 * GPU-seconds that jobs held, idle GPUs too, so that tenants add up to all that it costs and draws in the
 * run.
 */
#include <math.h>

#include "kinds/place/place.h"

#define YEAR_S (8760 * 3600.0)

struct place_tenant_row {
    struct place_row_head head;
    const char *tenant;
    int64_t jobs, finished;
    double gpu_h, jct_s, wait_s, usd, kwh;
};

#define TENANT(field, help, ...) COLUMN_REAL(struct place_tenant_row, field, help, __VA_ARGS__)
const struct column place_tenant_columns[] = {
    COLUMN_AT(struct place_tenant_row, head.seed, "seed", TABLE_COUNT, "seed of the run"),
    COLUMN_AT(struct place_tenant_row, head.scheduler, "scheduler", TABLE_TEXT, "scheduler of the run"),
    COLUMN_WORD(struct place_tenant_row, tenant, "tenant; blank: jobs that name none"),
    COLUMN_COUNT(struct place_tenant_row, jobs, "jobs that arrived"),
    COLUMN_COUNT(struct place_tenant_row, finished, "jobs that finished", .better = 1),
    TENANT(gpu_h, "GPU-hours that the jobs held", .unit = "h"),
    TENANT(jct_s, "mean time from arrival to end; blank if jobs are unfinished", .better = -1),
    TENANT(wait_s, "mean time without GPUs", .better = -1),
    TENANT(usd, "share of the machine's cost over the run, by GPU-hours (with system)", .unit = "USD",
           .better = -1),
    TENANT(kwh, "share of its energy at the meter, by GPU-hours (with system)", .better = -1),
    COLUMNS_END,
};

/* Tenants have the number of their first job, jobs without one -1. */
static void tenant_add(struct place_tenant_row *row, const struct job *job, const struct events_job *x)
{
    row->jobs++;
    row->finished += x->end == EVENTS_DONE;
    row->gpu_h += x->run_s * job->gpus / 3600;
    row->jct_s += x->end == EVENTS_DONE ? x->jct_s : (double)NAN;
    row->wait_s += x->wait_s;
}

static void tenant_put(const struct place_run *run, struct place_tenant_row row, double all_gpu_h,
                       double makespan_s)
{
    const struct place_money *m = &run->study->money;
    double part = row.gpu_h / all_gpu_h;
    row.head = (struct place_row_head){ run->seed, run->scheduler, run->unit };
    row.jct_s /= (double)row.jobs;
    row.wait_s /= (double)row.jobs;
    row.usd = m->usd_year * makespan_s / YEAR_S * part;
    row.kwh = m->watt * makespan_s / KWH_J * part;
    sink_put(run->sink, PLACE_TABLE_TENANTS, &row);
}

void place_put_tenants(const struct place_run *run, const struct job *jobs, const struct trace *t,
                       const struct events_result *r)
{
    double all_gpu_h = 0;
    struct place_tenant_row none = { .tenant = NULL };
    for (int32_t i = 0; i < r->n_jobs; i++) {
        all_gpu_h += r->jobs[i].run_s * jobs[i].gpus / 3600;
        if (jobs[i].tenant < 0)
            tenant_add(&none, &jobs[i], &r->jobs[i]);
    }
    for (int32_t i = 0; i < r->n_jobs; i++) {
        struct place_tenant_row row = { .tenant = t->jobs[i].tenant };
        if (jobs[i].tenant != i)
            continue;
        for (int32_t k = i; k < r->n_jobs; k++)
            if (jobs[k].tenant == i)
                tenant_add(&row, &jobs[k], &r->jobs[k]);
        tenant_put(run, row, all_gpu_h, r->makespan_s);
    }
    if (none.jobs > 0)
        tenant_put(run, none, all_gpu_h, r->makespan_s);
}
