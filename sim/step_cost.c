#include "sim/step_cost.h"

#include <math.h>

/* Waits this close tie: a solver balances dimensions far better, equality to the last bit is chance. */
#define TIED_REL 1e-6

static void find_binding(const struct step_costing *x, struct sim_collective *c, const double *wait_s)
{
    double most_s = 0;
    for (int32_t d = 0; d < x->net->n_dims; d++)
        most_s = fmax(most_s, wait_s[d]);
    for (int32_t d = 0; d < x->net->n_dims; d++) {
        c->binds[d] = wait_s[d] > 0 && wait_s[d] >= (1 - TIED_REL) * most_s;
        c->n_binds += c->binds[d];
    }
}

/* max_d m_d/B_d; dimensions that tie are to blame alike. */
static void cost_by_bandwidth(const struct step_costing *x, const struct step_node *node,
                              struct sim_collective *c)
{
    const int32_t *members = x->tree->groups[node->group].members;
    collective_traffic(c->traffic_B, node->collective, node->bytes, members, x->net->n_dims);
    for (int32_t d = 0; d < x->net->n_dims; d++) {
        if (!(c->traffic_B[d] > 0))
            continue;
        c->busy_s[d] = c->traffic_B[d] / collective_share(&x->net->dims[d]) / x->bw_Bps[d];
        c->time_s = fmax(c->time_s, c->busy_s[d]);
    }
    find_binding(x, c, c->busy_s);
    for (int32_t d = 0; d < x->net->n_dims; d++)
        c->wait_s[d] = c->binds[d] ? c->time_s / c->n_binds : 0;
}

/* How each dimension carries it out, at these bandwidths. */
static void find_choices(const struct step_costing *x, const struct step_node *node, struct sim_collective *c)
{
    struct stage stages[STAGE_MAX];
    int32_t n = stage_list(stages, node->collective, node->bytes / x->rules->stage.chunks,
                           x->tree->groups[node->group].members, NULL, x->net, &x->rules->stage, x->bw_Bps);
    for (int32_t k = n; k-- > 0;)
        c->choice[stages[k].dim] = stages[k].choice;
}

/* The longest row; its parts are what is waited for. */
static void cost_by_stages(const struct step_costing *x, const struct step_node *node,
                           struct sim_collective *c)
{
    struct stage stages[STAGE_MAX];
    struct stage_row rows[TOPO_MAX_DIMS];
    const struct stage_rules *rules = &x->rules->stage;
    int32_t n = stage_list(stages, node->collective, node->bytes / rules->chunks,
                           x->tree->groups[node->group].members, NULL, x->net, rules, x->bw_Bps);
    int32_t n_rows = n ? stage_rows(rows, stages, n, node->collective, rules->chunks) : 0;
    const struct stage_row *longest = NULL;
    for (int32_t r = 0; r < n_rows; r++) {
        double time_s = 0;
        for (int32_t k = 0; k < n; k++)
            if (rows[r].count[k] > 0)
                time_s +=
                    rows[r].count[k] * (stages[k].const_s + stages[k].load_B / x->bw_Bps[stages[k].dim]);
        if (!longest || time_s > c->time_s) {
            longest = &rows[r];
            c->time_s = time_s;
        }
    }
    find_choices(x, node, c);
    for (int32_t k = 0; k < n; k++) {
        const struct stage *s = &stages[k];
        double transfer_s = s->load_B / x->bw_Bps[s->dim];
        c->traffic_B[s->dim] += rules->chunks * s->sent_B;
        c->busy_s[s->dim] += rules->chunks * transfer_s;
        if (!(longest->count[k] > 0))
            continue;
        c->latency_s += longest->count[k] * s->const_s;
        c->wait_s[s->dim] += longest->count[k] * transfer_s;
    }
    find_binding(x, c, c->wait_s);
}

struct sim_job step_cost_job(const struct step_tree *t, step_id id)
{
    const struct step_node *node = &t->nodes[id];
    const struct step_group *group = &t->groups[node->group];
    struct sim_job job = { .kind = node->collective, .bytes = node->bytes, .priority = node->priority };
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        job.members[d] = group->members[d];
        job.stride[d] = group->stride[d];
    }
    return job;
}

/* Bytes on the busiest dimension are what must be waited for; the rest is latency, fill, drain and queues. */
void step_cost_take(const struct step_costing *x, step_id id, const struct rung_time *t,
                    struct sim_collective *c)
{
    double most_s = 0;
    *c = (struct sim_collective){ .node = id,
                                  .bytes = x->tree->nodes[id].bytes,
                                  .time_s = t->time_s,
                                  .queue_s = t->queue_s,
                                  .order = t->order };
    for (int32_t d = 0; d < x->net->n_dims; d++) {
        c->traffic_B[d] = t->sent_B[d];
        c->busy_s[d] = t->busy_s[d];
        most_s = fmax(most_s, t->busy_s[d]);
    }
    find_binding(x, c, c->busy_s);
    find_choices(x, &x->tree->nodes[id], c);
    double transfer_s = fmin(most_s, t->time_s);
    for (int32_t d = 0; d < x->net->n_dims; d++)
        c->wait_s[d] = c->binds[d] ? transfer_s / c->n_binds : 0;
    c->latency_s = isinf(t->time_s) ? 0 : t->time_s - transfer_s;
}

int step_cost_collective(const struct step_costing *x, step_id id, struct sim_collective *c, int32_t *known,
                         struct err *e)
{
    *known = -1;
    const struct step_node *node = &x->tree->nodes[id];
    *c = (struct sim_collective){ .node = id, .bytes = node->bytes };
    if (x->rung) {
        struct sim_job job = step_cost_job(x->tree, id);
        struct rung_time t;
        int rc = rung_alone(x->rung, &job, &t, e);
        if (rc)
            return rc;
        step_cost_take(x, id, &t, c);
        *known = t.known;
        return 0;
    }
    if (x->model == SIM_BANDWIDTH)
        cost_by_bandwidth(x, node, c);
    else
        cost_by_stages(x, node, c);
    return 0;
}
