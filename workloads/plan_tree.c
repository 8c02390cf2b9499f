#include "workloads/plan_draft.h"

struct growing {
    struct step_tree *t;
    const struct plan_cost *c;
    int32_t groups[N_PLAN_GROUPS]; /* of the tree */
    bool idle;                     /* the stage waits for others meanwhile: all below counts as the bubble */
};

static step_id add_inner(struct growing *x, step_id parent, enum step_kind kind, const char *name,
                         double times)
{
    struct step_node node = { .kind = kind, .phase = STEP_OTHER, .times = times };
    step_set_name(node.name, name);
    return step_add(x->t, parent, node);
}

static enum step_phase phase_of(const struct growing *x, enum step_phase phase)
{
    return x->idle ? STEP_BUBBLE : phase;
}

static void add_compute(struct growing *x, step_id parent, enum step_phase phase, const char *name,
                        double seconds)
{
    struct step_node node = { .kind = STEP_COMPUTE, .phase = phase_of(x, phase), .seconds = seconds };
    step_set_name(node.name, name);
    if (seconds > 0)
        step_add(x->t, parent, node);
}

static void add_list(struct growing *x, step_id parent, struct plan_list list)
{
    for (int32_t i = list.first; i < list.first + list.n; i++) {
        const struct plan_collective *from = &x->c->collectives[i];
        struct step_node node = { .kind = STEP_COLLECTIVE,
                                  .phase = phase_of(x, from->phase),
                                  .collective = from->kind,
                                  .bytes = from->bytes,
                                  .group = x->groups[from->group],
                                  .times = from->times,
                                  .mark = i };
        step_set_name(node.name, from->name);
        step_add(x->t, parent, node);
    }
}

static void add_part(struct growing *x, step_id parent, const struct plan_part *part)
{
    if (!part->beside || part->sent.n == 0 || !(part->compute_s > 0)) {
        add_compute(x, parent, part->phase, part->name, part->compute_s);
        add_list(x, parent, part->sent);
        return;
    }
    step_id both = add_inner(x, parent, STEP_MAX, part->name, 1);
    add_compute(x, both, part->phase, part->name, part->compute_s);
    add_list(x, add_inner(x, both, STEP_SUM, "", 1), part->sent);
}

/* A pass and then what others have beside them. */
static void add_open(struct growing *x, step_id parent, const struct plan_pass *pass)
{
    for (int32_t i = pass->first; i < pass->first + pass->n; i++)
        add_part(x, parent, &x->c->parts[i]);
    add_list(x, parent, pass->beside);
}

/* Several equal passes in a row, beside lists of collectives that happen once for each, or once for all. */
static void add_passes(struct growing *x, step_id parent, const struct plan_pass *pass, int64_t times)
{
    if (times == 0 || (pass->n == 0 && pass->beside.n == 0))
        return;
    step_id row = times > 1 ? add_inner(x, parent, STEP_REPEAT, "", (double)times) : parent;
    if (pass->beside.n) {
        step_id both = add_inner(x, row, STEP_MAX, "", 1);
        row = add_inner(x, both, STEP_SUM, "", 1);
        step_id beside = add_inner(x, both, STEP_SUM, "", 1);
        for (int32_t i = pass->first; i < pass->first + pass->n; i++)
            add_part(x, row, &x->c->parts[i]);
        add_list(x, beside, pass->beside);
        return;
    }
    if (times > 1)
        row = add_inner(x, row, STEP_SUM, "", 1);
    for (int32_t i = pass->first; i < pass->first + pass->n; i++)
        add_part(x, row, &x->c->parts[i]);
}

/* All blocks of a stage in one direction; beside them what is exchanged once. */
static void add_direction(struct growing *x, step_id parent, const struct plan_stage *s, bool forward,
                          struct plan_list exchanged)
{
    static const enum block_kind in_order[] = { BLOCK_EMBED, BLOCK_DENSE, BLOCK_EXPERTS, BLOCK_HEAD };
    const int64_t count[N_BLOCKS] = { s->dense, s->experts, s->embed, s->head };
    if (exchanged.n) {
        step_id both = add_inner(x, parent, STEP_MAX, "", 1);
        parent = add_inner(x, both, STEP_SUM, "", 1);
        add_list(x, add_inner(x, both, STEP_SUM, "", 1), exchanged);
    }
    for (int i = 0; i < N_BLOCKS; i++) {
        enum block_kind b = in_order[forward ? i : N_BLOCKS - 1 - i];
        const struct plan_pass *pass = forward ? &x->c->blocks[b].forward : &x->c->blocks[b].backward;
        bool open = (int)b == plan_cost_open(x->c, s);
        if (open && forward)
            add_open(x, parent, pass);
        add_passes(x, parent, pass, count[b] - open);
        if (open && !forward)
            add_open(x, parent, pass);
    }
}

/* One microbatch in stage i; `last`: with what the first stage exchanges beside it, once per step. */
static void add_stage(struct growing *x, step_id parent, int32_t i, bool last)
{
    static const struct plan_list none = { 0, 0 };
    bool exchanged = last && i == 0;
    step_id stage = add_inner(x, parent, STEP_SUM, "", 1);
    add_direction(x, stage, &x->c->stages[i], true, exchanged ? x->c->before : none);
    add_direction(x, stage, &x->c->stages[i], false, exchanged ? x->c->after : none);
    add_list(x, stage, x->c->sends);
}

/* The slowest stage, so often. */
static void add_slowest(struct growing *x, step_id root, double times, const char *name, bool last)
{
    if (!(times > 0))
        return;
    step_id row = add_inner(x, root, STEP_REPEAT, name, times);
    if (x->c->n_stages > 1) {
        row = add_inner(x, row, STEP_MAX, "slowest stage", 1);
        if (row >= 0)
            x->t->nodes[row].apart = true;
    }
    for (int32_t i = 0; i < x->c->n_stages; i++)
        add_stage(x, row, i, last);
}

/* Every stage once, divided by chunks: the first one works, it waits for the others. */
static void add_round(struct growing *x, step_id root)
{
    step_id row = add_inner(x, root, STEP_REPEAT, "first stage", 1 / x->c->interleave);
    add_stage(x, row, 0, true);
    x->idle = true;
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        double count = (double)(x->c->stages[i].count - (i == 0));
        if (!(count > 0))
            continue;
        row = add_inner(x, root, STEP_REPEAT, "bubble", count / x->c->interleave);
        add_stage(x, row, i, false);
    }
    double boundaries = -1;
    for (int32_t i = 0; i < x->c->n_stages; i++)
        boundaries += (double)x->c->stages[i].count;
    if (boundaries > 0 && x->c->hidden_sends.n) {
        row = add_inner(x, root, STEP_REPEAT, "bubble", boundaries);
        add_list(x, add_inner(x, row, STEP_SUM, "", 1), x->c->hidden_sends);
    }
    x->idle = false;
}

static void add_groups(struct growing *x, const struct plan_place *place)
{
    for (int g = 0; g < N_PLAN_GROUPS; g++)
        x->groups[g] = step_add_group_after(x->t, plan_group_words[g], place->members[g], place->stride[g]);
}

int plan_cost_tree(struct step_tree *t, const struct plan_cost *c, const struct plan_place *place,
                   const char *name, const struct topo_network *net, struct err *e)
{
    struct growing x = { .t = t, .c = c };
    step_begin(t, name, net);
    add_groups(&x, place);
    step_id root = add_inner(&x, -1, STEP_SUM, name, 1);
    add_list(&x, root, c->first_before);
    add_slowest(&x, root, c->microbatches - 1, "microbatches", false);
    add_slowest(&x, root, 1 - 1 / c->interleave, "last microbatch", true);
    add_round(&x, root);
    add_list(&x, root, c->last_after);
    add_compute(&x, root, STEP_OPTIMIZER, "optimizer", c->optimizer_s);
    add_compute(&x, root, STEP_OVERHEAD, "overhead", c->overhead_s);
    int rc = step_check(t, e);
    if (rc)
        step_free(t);
    return rc;
}
