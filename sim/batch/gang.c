#include "sim/batch/gang.h"

#include <stdlib.h>

int gang_build(struct gang *g, const struct batch_problem *p, struct err *e)
{
    *g = (struct gang){ .p = p };
    const struct batch_cluster *c = &p->cluster;
    for (int32_t s = 0; s < c->n_servers; s++)
        g->n_gpus += c->gpus[s];
    g->server_gpu = malloc(((size_t)c->n_servers + 1) * sizeof *g->server_gpu);
    g->gpu_server = malloc((size_t)g->n_gpus * sizeof *g->gpu_server);
    g->seat = malloc(((size_t)p->n_jobs + 1) * sizeof *g->seat);
    if (!g->server_gpu || !g->gpu_server || !g->seat)
        return err_nomem(e, "a batch of jobs");

    int32_t gpu = 0, seat = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        g->server_gpu[s] = gpu;
        for (int32_t i = 0; i < c->gpus[s]; i++)
            g->gpu_server[gpu++] = s;
    }
    g->server_gpu[c->n_servers] = gpu;
    for (int32_t i = 0; i < p->n_jobs; i++) {
        g->seat[i] = seat;
        seat += p->jobs[i].gpus;
        if (p->jobs[i].gpus > g->most_gpus)
            g->most_gpus = p->jobs[i].gpus;
    }
    g->seat[p->n_jobs] = seat;
    return 0;
}

void gang_free(struct gang *g)
{
    free(g->server_gpu);
    free(g->gpu_server);
    free(g->seat);
    *g = (struct gang){ 0 };
}

int gang_plan_build(struct gang_plan *plan, const struct gang *g, struct err *e)
{
    plan->order = malloc((size_t)g->p->n_jobs * sizeof *plan->order);
    plan->gpus = malloc((size_t)g->seat[g->p->n_jobs] * sizeof *plan->gpus);
    return plan->order && plan->gpus ? 0 : err_nomem(e, "a plan of jobs");
}

void gang_plan_free(struct gang_plan *plan)
{
    free(plan->order);
    free(plan->gpus);
    *plan = (struct gang_plan){ 0 };
}
