#include "workloads/plan_draft.h"

/*
 * Where the time of a step goes. Of parts that run side by side, compute counts whole, and of the collectives
 * beside it what sticks out: their time beyond that of the compute, each in proportion.
 */
struct sharing {
    const struct plan_cost *c;
    const double *once_s; /* shape [n_collectives] */
};

static void add(struct plan_shares *to, double times, const struct plan_shares *s, int32_t n)
{
    to->time_s += times * s->time_s;
    to->bubble_s += times * s->bubble_s;
    for (int p = 0; p < N_STEP_PHASES; p++)
        to->compute_s[p] += times * s->compute_s[p];
    for (int32_t i = 0; i < n; i++)
        to->exposed_s[i] += times * s->exposed_s[i];
}

static void add_compute(struct plan_shares *to, enum step_phase phase, double seconds)
{
    to->compute_s[phase] += seconds;
    to->time_s += seconds;
}

static double list_time(const struct sharing *x, struct plan_list list)
{
    double sum_s = 0;
    for (int32_t i = list.first; i < list.first + list.n; i++)
        sum_s += x->c->collectives[i].times * x->once_s[i];
    return sum_s;
}

/* Of a list that runs beside something of @p hidden_s, what is longer. */
static void add_list(struct plan_shares *to, const struct sharing *x, struct plan_list list, double hidden_s)
{
    double all_s = list_time(x, list), out_s = all_s - hidden_s;
    if (!(out_s > 0))
        return;
    for (int32_t i = list.first; i < list.first + list.n; i++)
        to->exposed_s[i] += out_s * (x->c->collectives[i].times * x->once_s[i] / all_s);
    to->time_s += out_s;
}

static struct plan_shares share_parts(const struct sharing *x, const struct plan_pass *pass)
{
    struct plan_shares s = { 0 };
    for (int32_t i = pass->first; i < pass->first + pass->n; i++) {
        const struct plan_part *part = &x->c->parts[i];
        add_compute(&s, part->phase, part->compute_s);
        add_list(&s, x, part->sent, part->beside ? part->compute_s : 0);
    }
    return s;
}

/* A pass of one block; @p open: beside nothing. */
static struct plan_shares share_pass(const struct sharing *x, const struct plan_pass *pass, bool open)
{
    struct plan_shares s = share_parts(x, pass);
    add_list(&s, x, pass->beside, open ? 0 : s.time_s);
    return s;
}

/* All blocks of a stage in one direction, beside what is exchanged once. */
static struct plan_shares share_direction(const struct sharing *x, const struct plan_stage *s, bool forward,
                                          struct plan_list exchanged)
{
    const double count[N_BLOCKS] = { (double)s->dense, (double)s->experts, s->embed, s->head };
    int open = plan_cost_open(x->c, s);
    struct plan_shares all = { 0 };
    for (int b = 0; b < N_BLOCKS; b++) {
        const struct plan_pass *pass = forward ? &x->c->blocks[b].forward : &x->c->blocks[b].backward;
        struct plan_shares one = share_pass(x, pass, false);
        add(&all, count[b] - (b == open), &one, x->c->n_collectives);
        if (b == open) {
            one = share_pass(x, pass, true);
            add(&all, 1, &one, x->c->n_collectives);
        }
    }
    add_list(&all, x, exchanged, all.time_s);
    return all;
}

static struct plan_shares share_stage(const struct sharing *x, const struct plan_stage *s, bool last)
{
    static const struct plan_list none = { 0, 0 };
    struct plan_shares all = share_direction(x, s, true, last ? x->c->before : none);
    struct plan_shares back = share_direction(x, s, false, last ? x->c->after : none);
    add(&all, 1, &back, x->c->n_collectives);
    add_list(&all, x, x->c->sends, 0);
    return all;
}

/* Others work meanwhile: nothing of this stage. */
static void add_wait(struct plan_shares *to, double seconds)
{
    to->bubble_s += seconds;
    to->time_s += seconds;
}

static void add_stages(struct plan_shares *out, const struct sharing *x)
{
    const struct plan_cost *c = x->c;
    struct plan_shares most = { 0 }, most_last = { 0 };
    double v = c->interleave, boundaries = -1;
    for (int32_t i = 0; i < c->n_stages; i++) {
        const struct plan_stage *s = &c->stages[i];
        struct plan_shares tau = share_stage(x, s, false), last = share_stage(x, s, i == 0);
        if (tau.time_s > most.time_s)
            most = tau;
        if (last.time_s > most_last.time_s)
            most_last = last;
        if (i == 0)
            add(out, 1 / v, &last, c->n_collectives);
        add_wait(out, ((double)s->count - (i == 0)) / v * tau.time_s);
        boundaries += (double)s->count;
    }
    add(out, c->microbatches - 1, &most, c->n_collectives);
    add(out, 1 - 1 / v, &most_last, c->n_collectives);
    add_wait(out, boundaries * list_time(x, c->hidden_sends));
}

void plan_cost_shares(struct plan_shares *out, const struct plan_cost *c, const double *once_s)
{
    const struct sharing x = { c, once_s };
    *out = (struct plan_shares){ 0 };
    add_list(out, &x, c->first_before, 0);
    add_stages(out, &x);
    add_list(out, &x, c->last_after, 0);
    add_compute(out, STEP_OPTIMIZER, c->optimizer_s);
    add_compute(out, STEP_OVERHEAD, c->overhead_s);
}
