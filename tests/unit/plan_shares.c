#include "tests/unit/plan_shares.h"

#include <math.h>

/* Nothing is exchanged beside a microbatch but the last. */
static const struct plan_list none = { 0, 0 };

/** Kind of the layer of @p s that is not beside its exchange, or -1. */
static int plan_cost_open(const struct plan_cost *c, const struct plan_stage *s)
{
    if (!c->open || s->dense + s->experts == 0)
        return -1;
    if (s->experts)
        return s->experts > s->experts_again ? BLOCK_EXPERTS : BLOCK_EXPERTS_AGAIN;
    return s->dense > s->dense_again ? BLOCK_DENSE : BLOCK_DENSE_AGAIN;
}

/* How much of one microbatch's way through all stages the step has: none where rho says what is waited for.
 */
static double plan_cost_round(const struct plan_cost *c)
{
    return c->drain > 0 ? 0 : 1 / c->interleave;
}

/* Of the stage boundaries that sends cross in fill and drain the first is its own to the first stage, whose
 * pass is in the step. */
static double own_boundary(const struct plan_cost *c, double boundaries)
{
    return boundaries > 0 && plan_cost_round(c) > 0 ? 1 : 0;
}

/* ---- links that are shared ---- */

/* Add what a list of collectives, so many times, asks of each class of links. */
static void busy_add(double *busy_s, double times, struct plan_list list, const struct plan_cost *c,
                     const struct plan_busy *busy)
{
    for (int32_t i = list.first; i < list.first + list.n; i++)
        for (int32_t d = 0; d < busy->n_dims; d++)
            busy_s[d] += times * c->collectives[i].times * busy->once_s[i][d];
}

/* The same of a pass with all that it sends. */
static void busy_add_pass(double *busy_s, double times, const struct plan_pass *pass,
                          const struct plan_cost *c, const struct plan_busy *busy)
{
    for (int32_t i = pass->first; i < pass->first + pass->n; i++)
        busy_add(busy_s, times, c->parts[i].sent, c, busy);
    busy_add(busy_s, times, pass->beside, c, busy);
}

static const struct plan_pass *block_pass(const struct plan_cost *c, int b, bool forward)
{
    return forward ? &c->blocks[b].forward : &c->blocks[b].backward;
}

/* How often each block occurs in a stage. */
static void block_counts(double count[N_BLOCKS], const struct plan_stage *s)
{
    count[BLOCK_DENSE] = (double)(s->dense - s->dense_again);
    count[BLOCK_EXPERTS] = (double)(s->experts - s->experts_again);
    count[BLOCK_DENSE_AGAIN] = (double)s->dense_again;
    count[BLOCK_EXPERTS_AGAIN] = (double)s->experts_again;
    count[BLOCK_EMBED] = s->embed;
    count[BLOCK_HEAD] = s->head + (double)s->mtp;
}

/* The same of a stage in one direction, beside which a list is exchanged. */
static void busy_add_direction(double *busy_s, const struct plan_stage *s, bool forward,
                               struct plan_list exchanged, const struct plan_cost *c,
                               const struct plan_busy *busy)
{
    double count[N_BLOCKS];
    block_counts(count, s);
    for (int b = 0; b < N_BLOCKS; b++)
        busy_add_pass(busy_s, count[b], block_pass(c, b, forward), c, busy);
    busy_add(busy_s, 1, exchanged, c, busy);
}

/* The same of one microbatch in a stage, with sends beside both passes. */
static void busy_add_stage(double *busy_s, const struct plan_stage *s, struct plan_list before,
                           struct plan_list after, const struct plan_cost *c, const struct plan_busy *busy)
{
    busy_add_direction(busy_s, s, true, before, c, busy);
    busy_add_direction(busy_s, s, false, after, c, busy);
    busy_add(busy_s, c->interleave, c->hidden_sends, c, busy);
}

/* The class of links that is busiest, the first of equals; -1: none is. */
static int32_t busiest(const double *busy_s, int32_t n_dims)
{
    int32_t most = -1;
    for (int32_t d = 0; d < n_dims; d++)
        if (busy_s[d] > (most < 0 ? 0 : busy_s[most]))
            most = d;
    return most;
}

/*
 * Where the time of a step goes. Of parts that run side by side, compute counts whole, and of the collectives
 * beside it what sticks out: their time beyond that of the compute, each in proportion. Where links that both
 * share take longer than either, that too.
 */
struct sharing {
    const struct plan_cost *c;
    const double *once_s;         /* shape [n_collectives] */
    const struct plan_busy *busy; /* NULL: no links are shared */
    bool drain;                   /* what other stages wait for, in place of all compute */
};

static void shares_add(struct plan_shares *to, double times, const struct plan_shares *s, int32_t n)
{
    to->time_s += times * s->time_s;
    to->bubble_s += times * s->bubble_s;
    for (int p = 0; p < N_STEP_PHASES; p++)
        to->compute_s[p] += times * s->compute_s[p];
    for (int32_t i = 0; i < n; i++)
        to->exposed_s[i] += times * s->exposed_s[i];
}

static void plan_shares_add_compute(struct plan_shares *to, enum step_phase phase, double seconds)
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

/* @p out_s of a list, which is what sticks out of it: each collective in proportion to its time. */
static void plan_shares_add_list(struct plan_shares *to, const struct sharing *x, struct plan_list list,
                                 double out_s)
{
    double all_s = list_time(x, list);
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
        double compute_s = x->drain ? part->drain_s : part->compute_s;
        plan_shares_add_compute(&s, part->phase, compute_s);
        plan_shares_add_list(&s, x, part->sent, list_time(x, part->sent) - (part->beside ? compute_s : 0));
    }
    return s;
}

/* Of a list beside @p one_s of work, so many times, what both sides and their links take beyond the work:
 * each collective in proportion to its time, or as it loads the class of links that takes longest. The list
 * itself occurs @p each times beside it. */
static void plan_shares_add_beside(struct plan_shares *to, double times, const struct sharing *x,
                                   struct plan_list list, double each, double one_s, const double *busy_s)
{
    int32_t d = busiest(busy_s, TOPO_MAX_DIMS);
    double other_s = each * list_time(x, list), load_s = 0;
    if (d < 0 || busy_s[d] <= fmax(one_s, other_s) * (1 + 1e-13)) { /* but for rounding */
        plan_shares_add_list(to, x, list, times * (other_s - one_s));
        return;
    }
    for (int32_t i = list.first; i < list.first + list.n; i++)
        load_s += x->c->collectives[i].times * x->busy->once_s[i][d];
    for (int32_t i = list.first; i < list.first + list.n; i++)
        to->exposed_s[i] +=
            times * (busy_s[d] - one_s) * (x->c->collectives[i].times * x->busy->once_s[i][d] / load_s);
    to->time_s += times * (busy_s[d] - one_s);
}

/* A pass of one block; @p open: beside nothing. What the floor adds counts as overhead. Collectives beside a
 * pass take some of its processors: that share of both counts one behind the other. */
static struct plan_shares share_pass(const struct sharing *x, const struct plan_pass *pass, bool open)
{
    struct plan_shares s = share_parts(x, pass);
    double floor_s = x->drain ? pass->drain_floor_s : pass->floor_s;
    if (floor_s > s.time_s)
        plan_shares_add_compute(&s, STEP_OVERHEAD, floor_s - s.time_s);
    double work_s = s.time_s, busy_s[TOPO_MAX_DIMS] = { 0 }, taken = open ? 1 : pass->taken;
    if (x->busy && pass->beside.n && !open)
        busy_add_pass(busy_s, 1, pass, x->c, x->busy);
    plan_shares_add_list(&s, x, pass->beside, taken * list_time(x, pass->beside));
    plan_shares_add_beside(&s, 1 - taken, x, pass->beside, 1, work_s, busy_s);
    return s;
}

/* All blocks of a stage in one direction, beside what is exchanged once. */
static struct plan_shares share_direction(const struct sharing *x, const struct plan_stage *s, bool forward,
                                          struct plan_list exchanged)
{
    int open = plan_cost_open(x->c, s);
    struct plan_shares all = { 0 };
    double count[N_BLOCKS], busy_s[TOPO_MAX_DIMS] = { 0 };
    block_counts(count, s);
    for (int b = 0; b < N_BLOCKS; b++) {
        const struct plan_pass *pass = block_pass(x->c, b, forward);
        struct plan_shares one = share_pass(x, pass, false);
        shares_add(&all, count[b] - (b == open), &one, x->c->n_collectives);
        if (b == open) {
            one = share_pass(x, pass, true);
            shares_add(&all, 1, &one, x->c->n_collectives);
        }
    }
    if (x->busy && exchanged.n)
        busy_add_direction(busy_s, s, forward, exchanged, x->c, x->busy);
    plan_shares_add_beside(&all, 1, x, exchanged, 1, all.time_s, busy_s);
    return all;
}

static struct plan_shares share_stage(const struct sharing *x, const struct plan_stage *s, bool last,
                                      bool steady)
{
    const struct plan_list before = last ? x->c->before : none, after = last ? x->c->after : none;
    const struct plan_list hidden = steady ? x->c->hidden_sends : none;
    double busy_s[TOPO_MAX_DIMS] = { 0 };
    struct plan_shares all = share_direction(x, s, true, before);
    struct plan_shares back = share_direction(x, s, false, after);
    shares_add(&all, 1, &back, x->c->n_collectives);
    plan_shares_add_list(&all, x, x->c->sends, list_time(x, x->c->sends));
    if (x->busy && hidden.n)
        busy_add_stage(busy_s, s, before, after, x->c, x->busy);
    plan_shares_add_beside(&all, 1, x, hidden, x->c->interleave, all.time_s, busy_s);
    return all;
}

/* Others work meanwhile: nothing of this stage. */
static void add_wait(struct plan_shares *to, double seconds)
{
    to->bubble_s += seconds;
    to->time_s += seconds;
}

/* What the stages wait for each other where weight gradients fill most of it. */
static void add_drain(struct plan_shares *out, const struct sharing *steady)
{
    struct sharing x = *steady;
    const struct plan_cost *c = x.c;
    x.drain = true;
    for (int32_t i = 0; i < c->n_stages && c->drain > 0; i++) {
        struct plan_shares rho = share_stage(&x, &c->stages[i], false, false);
        add_wait(out, c->drain * (double)c->stages[i].count * rho.time_s);
    }
}

/* One microbatch goes through all stages (1/v of them with v chunks a stage); the others wait for the slowest
 * stage each. Waiting counts as bubble. */
static void add_stages(struct plan_shares *out, const struct sharing *x)
{
    const struct plan_cost *c = x->c;
    struct plan_shares most = { 0 }, most_last = { 0 };
    double round = plan_cost_round(c), boundaries = -1;
    for (int32_t i = 0; i < c->n_stages; i++) {
        const struct plan_stage *s = &c->stages[i];
        struct plan_shares tau = share_stage(x, s, false, true), last = share_stage(x, s, i == 0, true);
        if (tau.time_s > most.time_s)
            most = tau;
        if (last.time_s > most_last.time_s)
            most_last = last;
        tau = share_stage(x, s, false, false);
        last = share_stage(x, s, i == 0, false);
        if (i == 0)
            shares_add(out, round, &last, c->n_collectives);
        add_wait(out, round * ((double)s->count - (i == 0)) * tau.time_s);
        boundaries += (double)s->count;
    }
    shares_add(out, c->microbatches - 1, &most, c->n_collectives);
    shares_add(out, 1 - round, &most_last, c->n_collectives);
    add_drain(out, x);
    double own = own_boundary(c, boundaries);
    plan_shares_add_list(out, x, c->hidden_sends, own * list_time(x, c->hidden_sends));
    add_wait(out, (boundaries - own) * list_time(x, c->hidden_sends));
}

void plan_cost_shares(struct plan_shares *out, const struct plan_cost *c, const double *once_s,
                      const struct plan_busy *busy)
{
    const struct sharing x = { c, once_s, c->shared ? busy : NULL, false };
    struct plan_shares all = { 0 };
    plan_shares_add_list(&all, &x, c->first_before, list_time(&x, c->first_before));
    add_stages(&all, &x);
    plan_shares_add_list(&all, &x, c->last_after, list_time(&x, c->last_after));
    plan_shares_add_compute(&all, STEP_OPTIMIZER, c->optimizer_s);
    plan_shares_add_compute(&all, STEP_OVERHEAD, c->overhead_s);
    *out = (struct plan_shares){ 0 };
    shares_add(out, 1, &all, c->n_collectives);
}
