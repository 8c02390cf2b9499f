/*
 * Steps for the solver: collectives become what they ask of single dimensions. Latency is a constant, bytes
 * are transfers, of which time is convex in bandwidth; the stages of a collective that overlap are a maximum
 * over the rows of a flow shop (workloads/collective.h), classes of links a maximum over classes, and on a
 * graph of its own a maximum over cuts (workloads/ideal.h).
 */
#include "workloads/collective.h"
#include "workloads/ideal.h"
#include "workloads/step.h"

struct lowering {
    struct step_tree *out;
    const struct step_tree *from;
    const struct collective_way *way;
};

/* Rows, classes and cuts bound one collective from below: such a maximum is of nothing that runs side by
 * side.
 */
static step_id lower_add_inner(struct lowering *x, step_id parent, enum step_kind kind, enum step_phase phase)
{
    return step_add(
        x->out, parent,
        (struct step_node){ .kind = kind, .phase = phase, .times = 1, .apart = kind == STEP_MAX });
}

static void lower_add_transfer(struct lowering *x, step_id parent, const struct step_node *node, int32_t dim,
                               double bytes)
{
    if (bytes > 0)
        step_add(
            x->out, parent,
            (struct step_node){ .kind = STEP_TRANSFER, .phase = node->phase, .dim = dim, .bytes = bytes });
}

/* One row of the flow shop: its constants as compute, its loads as transfers on single dimensions. */
static void lower_add_row(struct lowering *x, step_id parent, const struct step_node *node,
                          const struct stage *stages, int32_t n, const struct stage_row *row)
{
    double const_s = 0;
    for (int32_t k = 0; k < n; k++)
        const_s += row->count[k] * stages[k].const_s;
    if (const_s > 0)
        step_add(x->out, parent,
                 (struct step_node){
                     .kind = STEP_COMPUTE, .phase = node->phase, .seconds = node->times * const_s });
    for (int32_t k = 0; k < n; k++) {
        const struct stage *s = &stages[k];
        double times = node->times * row->count[k];
        if (!(times > 0))
            continue;
        /* Of a fabric the slowest class of links decides. */
        step_id at = s->n_more ? lower_add_inner(x, parent, STEP_MAX, node->phase) : parent;
        lower_add_transfer(x, at, node, s->dim, times * s->load_B);
        for (int32_t i = 0; i < s->n_more; i++)
            lower_add_transfer(x, at, node, s->more[i].dim, times * s->more[i].load_B);
    }
}

/* On a graph of its own it is as slow as the cut that decides. */
static void lower_ideal(struct lowering *x, step_id parent, const struct step_node *node)
{
    struct ideal_transfer out[IDEAL_TRANSFERS];
    int32_t n = ideal_transfers(out, x->way->net->ideal, node->collective, node->bytes,
                                &x->from->groups[node->group]);
    step_id at = lower_add_inner(x, parent, n > 1 ? STEP_MAX : STEP_SUM, node->phase);
    for (int32_t i = 0; i < n; i++)
        lower_add_transfer(x, at, node, out[i].dim, node->times * out[i].bytes);
}

/* A collective becomes the largest of its rows (workloads/collective); of one row a plain sum. */
static void lower_collective(struct lowering *x, step_id parent, const struct step_node *node)
{
    if (x->way->net->ideal) {
        lower_ideal(x, parent, node);
        return;
    }
    struct stage stages[STAGE_MAX];
    struct stage_row rows[TOPO_MAX_DIMS];
    const struct step_group *group = &x->from->groups[node->group];
    int32_t n = stage_list(stages, node->collective, node->bytes / x->way->rules->chunks, group->members,
                           group->stride, group->share, NULL, x->way);
    int32_t n_rows = n ? stage_rows(rows, stages, n, node->collective, x->way->rules->chunks) : 0;
    step_id all = lower_add_inner(x, parent, n_rows > 1 ? STEP_MAX : STEP_SUM, node->phase);
    for (int32_t r = 0; r < n_rows; r++)
        lower_add_row(x, n_rows > 1 ? lower_add_inner(x, all, STEP_SUM, node->phase) : all, node, stages, n,
                      &rows[r]);
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

/* Lowered trees are for the solver: transfers on one dimension each are convex in bandwidth, latency is
 * constant. */
int step_lower(struct step_tree *out, const struct step_tree *t, const struct collective_way *way,
               struct err *e)
{
    struct lowering x = { out, t, way };
    step_begin(out, t->name, way->net);
    for (int32_t g = 1; g < t->n_groups; g++)
        step_add_group_after(out, t->groups[g].name, t->groups[g].members, t->groups[g].stride);
    if (t->root >= 0)
        lower_node(&x, -1, t->root);
    int rc = step_check(out, e);
    if (rc)
        step_free(out);
    return rc;
}
