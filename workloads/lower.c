#include "workloads/lower.h"

#include <stdio.h>
#include <string.h>

struct lowering {
    struct step_tree *out;
    const struct step_tree *from;
    const struct topo_network *net;
    const struct stage_rules *rules;
    const double *bw_Bps;
};

static step_id add_inner(struct lowering *x, step_id parent, enum step_kind kind, enum step_phase phase)
{
    return step_add(x->out, parent, (struct step_node){ .kind = kind, .phase = phase, .times = 1 });
}

static void add_row(struct lowering *x, step_id parent, const struct step_node *node,
                    const struct stage *stages, int32_t n, const struct stage_row *row)
{
    double const_s = 0;
    for (int32_t k = 0; k < n; k++)
        const_s += row->count[k] * stages[k].const_s;
    if (const_s > 0)
        step_add(x->out, parent,
                 (struct step_node){
                     .kind = STEP_COMPUTE, .phase = node->phase, .seconds = node->times * const_s });
    for (int32_t k = 0; k < n; k++)
        if (row->count[k] * stages[k].load_B > 0)
            step_add(x->out, parent,
                     (struct step_node){ .kind = STEP_TRANSFER,
                                         .phase = node->phase,
                                         .dim = stages[k].dim,
                                         .bytes = node->times * row->count[k] * stages[k].load_B });
}

static void lower_collective(struct lowering *x, step_id parent, const struct step_node *node)
{
    struct stage stages[STAGE_MAX];
    struct stage_row rows[TOPO_MAX_DIMS];
    int32_t n = stage_list(stages, node->collective, node->bytes / x->rules->chunks,
                           x->from->groups[node->group].members, NULL, x->net, x->rules, x->bw_Bps);
    int32_t n_rows = n ? stage_rows(rows, stages, n, node->collective, x->rules->chunks) : 0;
    step_id all = add_inner(x, parent, n_rows > 1 ? STEP_MAX : STEP_SUM, node->phase);
    for (int32_t r = 0; r < n_rows; r++)
        add_row(x, n_rows > 1 ? add_inner(x, all, STEP_SUM, node->phase) : all, node, stages, n, &rows[r]);
}

/* Depth is bounded by the depth of the YAML file. */
static void lower_node(struct lowering *x, step_id parent, step_id id)
{
    const struct step_node *node = &x->from->nodes[id];
    if (x->out->failed)
        return;
    if (node->kind == STEP_COLLECTIVE) {
        lower_collective(x, parent, node);
        return;
    }
    step_id copy = step_add(x->out, parent, *node);
    for (step_id c = node->first; c >= 0; c = x->from->nodes[c].next)
        lower_node(x, copy, c);
}

int step_lower(struct step_tree *out, const struct step_tree *t, const struct topo_network *net,
               const struct stage_rules *rules, const double *bw_Bps, struct err *e)
{
    struct lowering x = { out, t, net, rules, bw_Bps };
    step_begin(out, t->name, net);
    for (int32_t g = 1; g < t->n_groups; g++)
        step_add_group_after(out, t->groups[g].name, t->groups[g].members, t->groups[g].stride);
    if (t->root >= 0)
        lower_node(&x, -1, t->root);
    int rc = step_check(out, e);
    if (rc)
        step_free(out);
    return rc;
}
