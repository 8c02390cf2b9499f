#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/chunk/chunk_state.h"

static int32_t find_plan(const struct chunk_entry *entry, const uint8_t *order)
{
    for (int32_t p = 0; p < entry->n_plans; p++)
        if (memcmp(entry->plans[p].order, order, TOPO_MAX_DIMS) == 0)
            return p;
    return -1;
}

static int32_t add_plan(struct chunk_sim *x, struct chunk_entry *entry, const struct order_job *job,
                        const uint8_t *order, int32_t n)
{
    struct chunk_plan *grown = array_grow(entry->plans, entry->n_plans, &entry->cap_plans, sizeof *grown);
    int32_t wide[TOPO_MAX_DIMS], n_wide = n;
    if (!grown)
        return -1;
    entry->plans = grown;
    struct chunk_plan *p = &entry->plans[entry->n_plans];
    *p = (struct chunk_plan){ .n_order = n };
    memcpy(p->order, order, sizeof p->order);
    for (int32_t i = 0; i < n; i++)
        wide[i] = order[i];
    for (int32_t d = 0; d < x->net.n_dims; d++)
        if (job->members[d] < 2)
            wide[n_wide++] = d;
    p->n = stage_list(p->stages, job->kind, job->chunk_B, job->members, wide, &x->net, &x->rules.stage,
                      x->bw_Bps);
    return entry->n_plans++;
}

int chunk_plan_job(struct chunk_sim *x, struct chunk_entry *entry, struct err *e)
{
    int32_t chunks = x->rules.stage.chunks;
    struct order_job job = { .kind = entry->job.kind,
                             .chunk_B = entry->job.bytes / chunks,
                             .members = entry->job.members,
                             .net = &x->net,
                             .bw_Bps = x->bw_Bps,
                             .rules = &x->rules.stage };
    entry->plan_of = malloc((size_t)chunks * sizeof *entry->plan_of);
    if (!entry->plan_of)
        return err_nomem(e, "chunks");
    bool by_load = entry->job.order == SIM_ORDER_THEMIS || entry->job.order == SIM_ORDER_MINMAX;
    for (int32_t c = 0; c < chunks; c++) {
        uint8_t order[TOPO_MAX_DIMS];
        if (c > 0 && !by_load) {
            entry->plan_of[c] = 0;
            continue;
        }
        int32_t n =
            order_next(order, &x->load, &job, &x->rules, entry->job.order, c == 0, by_load ? 1 : chunks);
        entry->plan_of[c] = find_plan(entry, order);
        if (entry->plan_of[c] < 0)
            entry->plan_of[c] = add_plan(x, entry, &job, order, n);
        if (entry->plan_of[c] < 0)
            return err_nomem(e, "chunks");
    }
    return 0;
}
