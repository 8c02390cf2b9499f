/*
 * A planned training step evaluated. Its draft (plan_cost.c) is read twice: as a time with its parts by
 * dimension (plan_cost_time, plan_cost_sum), and as an expression for the solver and the simulators
 * (plan_cost_tree). What runs side by side takes as long as the longer, and no less than any class of links
 * is busy with both. The two agree; tests hold them together.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workloads/plan_cost.h"

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
    for (int b = 0; b < c->n_blocks; b++)
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

/* ---- time ---- */

/*
 * One evaluation for both: a time alone (n = 1) and a time with its parts by dimension. The functions are
 * inlined into the two at the end, where n is known.
 */
struct summing {
    const struct plan_cost *c;
    const double *once; /* shape [n_collectives][stride]; NULL: all of it is free */
    int32_t stride, n;
    const struct plan_busy *busy; /* NULL: no links are shared */
};

#define INLINE static inline __attribute__((always_inline))

INLINE void shares_clear(struct plan_sum *to, const struct summing *x)
{
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] = 0;
}

INLINE void time_add(struct plan_sum *to, double times, const struct plan_sum *s, const struct summing *x)
{
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] += times * s->v[k];
}

/* Of both, @p share of the second. */
INLINE void shares_mix(struct plan_sum *to, double share, const struct plan_sum *s, const struct summing *x)
{
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] = (1 - share) * to->v[k] + share * s->v[k];
}

INLINE void keep_longer(struct plan_sum *to, const struct plan_sum *s, const struct summing *x)
{
    if (!(s->v[0] > to->v[0]))
        return;
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] = s->v[k];
}

/* Where a class of links is busy for longer than that, it alone is waited for. */
INLINE void keep_busier(struct plan_sum *to, const double *busy_s, const struct summing *x)
{
    int32_t d = busiest(busy_s, x->busy->n_dims);
    if (d < 0 || !(busy_s[d] > to->v[0]))
        return;
    shares_clear(to, x);
    to->v[0] = busy_s[d];
    if (x->n > 1)
        to->v[1 + d] = busy_s[d];
}

INLINE void add_list(struct plan_sum *to, struct plan_list list, const struct summing *x)
{
    for (int32_t i = list.first; x->once && i < list.first + list.n; i++)
        for (int32_t k = 0; k < x->n; k++)
            to->v[k] += x->c->collectives[i].times * x->once[i * x->stride + k];
}

/* The parts of a pass, beside them what is @p sent there, on links that both may use; all that is sent takes
 * @p sent_s. */
INLINE void sum_beside(struct plan_sum *out, const struct plan_sum *sent, const struct plan_pass *pass,
                       double sent_s, const struct summing *x)
{
    struct plan_sum both;
    shares_clear(&both, x);
    time_add(&both, 1, out, x);
    time_add(&both, 1, sent, x);
    keep_longer(out, sent, x);
    if (x->busy && sent_s > sent->v[0] && sent_s > out->v[0]) {
        double busy_s[TOPO_MAX_DIMS] = { 0 };
        busy_add_pass(busy_s, 1, pass, x->c, x->busy);
        keep_busier(out, busy_s, x);
    }
    if (pass->taken > 0)
        shares_mix(out, pass->taken, &both, x);
}

/*
 * Time of a pass: its parts in a row, W, beside what runs beside them all, X; @p open: one behind the other.
 * Where X takes a share z of the processors, max(W, X) + z min(W, X) = (1 - z) max(W, X) + z (W + X) which is
 * convex, and never longer than one behind the other. Returns the time of all that the pass sends, than which
 * no class of links is busier.
 */
INLINE double sum_pass(struct plan_sum *out, const struct plan_pass *pass, bool open, bool drain,
                       const struct summing *x)
{
    struct plan_sum sent;
    double sent_s = 0;
    shares_clear(out, x);
    for (int32_t i = pass->first; i < pass->first + pass->n; i++) {
        const struct plan_part *part = &x->c->parts[i];
        double compute_s = drain ? part->drain_s : part->compute_s;
        shares_clear(&sent, x);
        add_list(&sent, part->sent, x);
        sent_s += sent.v[0];
        if (!part->beside || sent.v[0] > compute_s)
            time_add(out, 1, &sent, x);
        if (!part->beside || !(sent.v[0] > compute_s))
            out->v[0] += compute_s;
    }
    double floor_s = drain ? pass->drain_floor_s : pass->floor_s;
    if (floor_s > out->v[0]) {
        shares_clear(out, x);
        out->v[0] = floor_s;
    }
    if (pass->beside.n) {
        shares_clear(&sent, x);
        add_list(&sent, pass->beside, x);
        sent_s += sent.v[0];
        if (open)
            time_add(out, 1, &sent, x);
        else
            sum_beside(out, &sent, pass, sent_s, x);
    }
    return sent_s;
}

/* A pass of a block: beside its exchange, and beside nothing. */
struct pass_sum {
    struct plan_sum beside, open;
    double sent_s; /* all that it sends */
};

/* Both passes of every block, and what a stage sends. */
struct passes {
    struct pass_sum forward[N_BLOCKS], backward[N_BLOCKS];
    struct plan_sum stage;
};

/* Both passes of each block at the given bandwidths, for many points at a time. */
INLINE void sum_passes(struct passes *p, bool drain, const struct summing *x)
{
    for (int b = 0; b < x->c->n_blocks; b++) {
        const struct plan_block *block = &x->c->blocks[b];
        p->forward[b].sent_s = sum_pass(&p->forward[b].beside, &block->forward, false, drain, x);
        p->backward[b].sent_s = sum_pass(&p->backward[b].beside, &block->backward, false, drain, x);
        if (x->c->open) {
            sum_pass(&p->forward[b].open, &block->forward, true, drain, x);
            sum_pass(&p->backward[b].open, &block->backward, true, drain, x);
        }
    }
    shares_clear(&p->stage, x);
    add_list(&p->stage, x->c->sends, x);
}

/* Beside all blocks of a stage in one direction, which send @p sent_s, what is exchanged: returns its time.
 */
INLINE double add_exchanged(struct plan_sum *out, const struct plan_stage *s, bool forward,
                            struct plan_list exchanged, double sent_s, const struct summing *x)
{
    struct plan_sum sent;
    shares_clear(&sent, x);
    add_list(&sent, exchanged, x);
    keep_longer(out, &sent, x);
    if (x->busy && sent_s > 0 && sent.v[0] + sent_s > out->v[0]) {
        double busy_s[TOPO_MAX_DIMS] = { 0 };
        busy_add_direction(busy_s, s, forward, exchanged, x->c, x->busy);
        keep_busier(out, busy_s, x);
    }
    return sent.v[0];
}

/* Beside both passes of a stage, which send @p sent_s, the sends of a microbatch. */
INLINE void add_hidden(struct plan_sum *out, const struct plan_stage *s, struct plan_list before,
                       struct plan_list after, double sent_s, const struct summing *x)
{
    struct plan_sum once, sent;
    shares_clear(&once, x);
    shares_clear(&sent, x);
    add_list(&once, x->c->hidden_sends, x);
    time_add(&sent, x->c->interleave, &once, x);
    keep_longer(out, &sent, x);
    if (x->busy && sent_s > 0 && sent.v[0] + sent_s > out->v[0]) {
        double busy_s[TOPO_MAX_DIMS] = { 0 };
        busy_add_stage(busy_s, s, before, after, x->c, x->busy);
        keep_busier(out, busy_s, x);
    }
}

/* One microbatch in a stage; with what is exchanged beside it once per step, or without. Returns the time of
 * all that runs beside sends. */
INLINE double sum_stage(struct plan_sum *out, const struct plan_stage *s, const struct passes *p,
                        struct plan_list before, struct plan_list after, const struct summing *x)
{
    double n[N_BLOCKS];
    struct plan_sum forward, backward;
    double forward_s = 0, backward_s = 0;
    block_counts(n, s);
    shares_clear(&forward, x);
    shares_clear(&backward, x);
    for (int b = 0; b < x->c->n_blocks; b++) {
        double open = b == plan_cost_open(x->c, s);
        time_add(&forward, n[b] - open, &p->forward[b].beside, x);
        time_add(&backward, n[b] - open, &p->backward[b].beside, x);
        if (open > 0) {
            time_add(&forward, 1, &p->forward[b].open, x);
            time_add(&backward, 1, &p->backward[b].open, x);
        }
        forward_s += n[b] * p->forward[b].sent_s;
        backward_s += n[b] * p->backward[b].sent_s;
    }
    if (before.n)
        forward_s += add_exchanged(&forward, s, true, before, forward_s, x);
    if (after.n)
        backward_s += add_exchanged(&backward, s, false, after, backward_s, x);
    shares_clear(out, x);
    time_add(out, 1, &p->stage, x);
    time_add(out, 1, &forward, x);
    time_add(out, 1, &backward, x);
    return forward_s + backward_s;
}

/* What stages wait for each other where weight gradients fill most of it; @p p is written over. */
INLINE void sum_drain(struct plan_sum *out, struct passes *p, const struct summing *x)
{
    struct plan_sum rho;
    if (!(x->c->drain > 0))
        return;
    sum_passes(p, true, x);
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        sum_stage(&rho, &x->c->stages[i], p, none, none, x);
        time_add(out, x->c->drain * (double)x->c->stages[i].count, &rho, x);
    }
}

/* The formula of the file's head, term by term in the order of plan_cost_time(): the two agree to the bit. */
INLINE void sum_step(struct plan_sum *out, const struct summing *x)
{
    const struct plan_cost *c = x->c;
    struct passes p;
    struct plan_sum most, most_last, sum, tau, last;
    double boundaries = -1, round = plan_cost_round(c);
    sum_passes(&p, false, x);
    shares_clear(&most, x);
    shares_clear(&most_last, x);
    shares_clear(&sum, x);
    for (int32_t i = 0; i < c->n_stages; i++) {
        const struct plan_stage *s = &c->stages[i];
        double sent_s = sum_stage(&tau, s, &p, none, none, x), last_s = sent_s;
        last = tau;
        if (i == 0)
            last_s = sum_stage(&last, s, &p, c->before, c->after, x);
        time_add(&sum, 1, &last, x);
        time_add(&sum, (double)(s->count - 1), &tau, x);
        if (c->hidden_sends.n) {
            add_hidden(&tau, s, none, none, sent_s, x);
            add_hidden(&last, s, i ? none : c->before, i ? none : c->after, last_s, x);
        }
        keep_longer(&most, &tau, x);
        keep_longer(&most_last, &last, x);
        boundaries += (double)s->count;
    }
    shares_clear(out, x);
    time_add(out, c->microbatches - 1, &most, x);
    time_add(out, 1 - round, &most_last, x);
    time_add(out, round, &sum, x);
    sum_drain(out, &p, x);
    shares_clear(&tau, x);
    add_list(&tau, c->hidden_sends, x);
    time_add(out, boundaries, &tau, x);
    add_list(out, c->first_before, x);
    add_list(out, c->last_after, x);
    out->v[0] += c->optimizer_s + c->overhead_s;
}

double plan_cost_time(const struct plan_cost *c, const double *once_s, const struct plan_busy *busy)
{
    const struct summing alone = { c, once_s, 1, 1, NULL }, shared = { c, once_s, 1, 1, busy },
                         free_of_it = { c, NULL, 1, 1, NULL };
    struct plan_sum out;
    if (!once_s)
        sum_step(&out, &free_of_it);
    else if (busy && c->shared)
        sum_step(&out, &shared);
    else
        sum_step(&out, &alone);
    return out.v[0];
}

void plan_cost_sum(struct plan_sum *out, const struct plan_cost *c, const struct plan_sum *once,
                   const struct plan_busy *busy, int32_t n_dims)
{
    enum { STRIDE = sizeof *once / sizeof *once[0].v };
    const struct plan_busy *shared = c->shared ? busy : NULL;
    const struct summing of_3 = { c, once[0].v, STRIDE, 1 + 3, shared },
                         of_4 = { c, once[0].v, STRIDE, 1 + 4, shared },
                         of_5 = { c, once[0].v, STRIDE, 1 + 5, shared },
                         of_any = { c, once[0].v, STRIDE, 1 + n_dims, shared };
    if (n_dims == 3)
        sum_step(out, &of_3);
    else if (n_dims == 4)
        sum_step(out, &of_4);
    else if (n_dims == 5)
        sum_step(out, &of_5);
    else
        sum_step(out, &of_any);
}

/* ---- as an expression ---- */

struct growing {
    struct step_tree *t;
    const struct plan_cost *c;
    int32_t groups[N_PLAN_GROUPS]; /* of the tree */
    int64_t pp;                    /* stages */
    int32_t stage;                 /* step_node.stage of what is added */
    bool idle;                     /* the stage waits for others meanwhile: all below counts as the bubble */
    bool drain;                    /* and of compute only what fill and drain wait for */
};

static step_id tree_add_inner(struct growing *x, step_id parent, enum step_kind kind, const char *name,
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

static void plan_tree_add_compute(struct growing *x, step_id parent, enum step_phase phase, const char *name,
                                  double seconds)
{
    struct step_node node = {
        .kind = STEP_COMPUTE, .phase = phase_of(x, phase), .seconds = seconds, .host = phase == STEP_OVERHEAD
    };
    step_set_name(node.name, name);
    if (seconds > 0)
        step_add(x->t, parent, node);
}

/* `mark` leads from a node of the tree back to its collective in the draft. */
static void plan_tree_add_list(struct growing *x, step_id parent, struct plan_list list)
{
    for (int32_t i = list.first; i < list.first + list.n; i++) {
        const struct plan_collective *from = &x->c->collectives[i];
        struct step_node node = { .kind = STEP_COLLECTIVE,
                                  .phase = phase_of(x, from->phase),
                                  .collective = from->kind,
                                  .bytes = from->bytes,
                                  .group = x->groups[from->group],
                                  .stage = x->stage,
                                  .times = from->times,
                                  .mark = i };
        step_set_name(node.name, from->name);
        step_add(x->t, parent, node);
    }
}

static void add_part(struct growing *x, step_id parent, const struct plan_part *part)
{
    double compute_s = x->drain ? part->drain_s : part->compute_s;
    if (!part->beside || part->sent.n == 0 || !(compute_s > 0)) {
        plan_tree_add_compute(x, parent, part->phase, part->name, compute_s);
        plan_tree_add_list(x, parent, part->sent);
        return;
    }
    step_id both = tree_add_inner(x, parent, STEP_MAX, part->name, 1);
    plan_tree_add_compute(x, both, part->phase, part->name, compute_s);
    plan_tree_add_list(x, tree_add_inner(x, both, STEP_SUM, "", 1), part->sent);
}

/* The parts of a pass, or its floor if that is longer. */
static void cost_add_parts(struct growing *x, step_id parent, const struct plan_pass *pass)
{
    double floor_s = x->drain ? pass->drain_floor_s : pass->floor_s;
    if (floor_s > 0) {
        step_id both = tree_add_inner(x, parent, STEP_MAX, "", 1);
        plan_tree_add_compute(x, both, STEP_OVERHEAD, "launches", floor_s);
        parent = tree_add_inner(x, both, STEP_SUM, "", 1);
    }
    for (int32_t i = pass->first; i < pass->first + pass->n; i++)
        add_part(x, parent, &x->c->parts[i]);
}

/* A pass and then what others have beside them. */
static void add_open(struct growing *x, step_id parent, const struct plan_pass *pass)
{
    cost_add_parts(x, parent, pass);
    plan_tree_add_list(x, parent, pass->beside);
}

/* Several equal passes in a row, beside lists of collectives that happen once for each, or once for all. */
static void add_passes(struct growing *x, step_id parent, const struct plan_pass *pass, int64_t times)
{
    if (times == 0 || (pass->n == 0 && pass->beside.n == 0))
        return;
    step_id row = times > 1 ? tree_add_inner(x, parent, STEP_REPEAT, "", (double)times) : parent;
    if (pass->beside.n) {
        if (pass->taken > 0) { /* a share of both one behind the other */
            row = tree_add_inner(x, row, STEP_SUM, "", 1);
            step_id taken = tree_add_inner(x, row, STEP_REPEAT, "", pass->taken);
            add_open(x, tree_add_inner(x, taken, STEP_SUM, "", 1), pass);
            row = tree_add_inner(x, row, STEP_REPEAT, "", 1 - pass->taken);
        }
        step_id both = tree_add_inner(x, row, STEP_MAX, "", 1);
        row = tree_add_inner(x, both, STEP_SUM, "", 1);
        step_id beside = tree_add_inner(x, both, STEP_SUM, "", 1);
        cost_add_parts(x, row, pass);
        plan_tree_add_list(x, beside, pass->beside);
        return;
    }
    if (times > 1)
        row = tree_add_inner(x, row, STEP_SUM, "", 1);
    cost_add_parts(x, row, pass);
}

/* All blocks of a stage in one direction; beside them what is exchanged once. */
static void add_direction(struct growing *x, step_id parent, const struct plan_stage *s, bool forward,
                          struct plan_list exchanged)
{
    static const enum block_kind in_order[] = { BLOCK_EMBED,         BLOCK_DENSE_AGAIN, BLOCK_DENSE,
                                                BLOCK_EXPERTS_AGAIN, BLOCK_EXPERTS,     BLOCK_HEAD };
    double count[N_BLOCKS];
    block_counts(count, s);
    if (exchanged.n) {
        step_id both = tree_add_inner(x, parent, STEP_MAX, "", 1);
        parent = tree_add_inner(x, both, STEP_SUM, "", 1);
        plan_tree_add_list(x, tree_add_inner(x, both, STEP_SUM, "", 1), exchanged);
    }
    for (int i = 0; i < N_BLOCKS; i++) {
        enum block_kind b = in_order[forward ? i : N_BLOCKS - 1 - i];
        const struct plan_pass *pass = forward ? &x->c->blocks[b].forward : &x->c->blocks[b].backward;
        bool open = (int)b == plan_cost_open(x->c, s);
        if (open && forward)
            add_open(x, parent, pass);
        add_passes(x, parent, pass, (int64_t)count[b] - open);
        if (open && !forward)
            add_open(x, parent, pass);
    }
}

/* "stage 1", "stages 2-7"; of stages between which others lie "3 stages like 2". */
static void name_stage(char out[TOPO_NAME], const struct growing *x, int32_t i)
{
    const struct plan_stage *s = &x->c->stages[i];
    int64_t next = i + 1 < x->c->n_stages ? x->c->stages[i + 1].at : x->pp;
    if (s->count == 1)
        snprintf(out, TOPO_NAME, "stage %lld", (long long)s->at + 1);
    else if (next - s->at == s->count)
        snprintf(out, TOPO_NAME, "stages %lld-%lld", (long long)s->at + 1, (long long)next);
    else
        snprintf(out, TOPO_NAME, "%lld stages like %lld", (long long)s->count, (long long)s->at + 1);
}

/* One microbatch in stage i; `last`: with what the first stage exchanges beside it, once per step. */
static void cost_add_stage(struct growing *x, step_id parent, int32_t i, bool last, bool steady)
{
    bool exchanged = last && i == 0, hidden = steady && x->c->hidden_sends.n;
    step_id stage = tree_add_inner(x, parent, hidden ? STEP_MAX : STEP_SUM, "", 1);
    if (x->pp > 1 && stage >= 0) {
        x->t->nodes[stage].stage = i + 1;
        name_stage(x->t->nodes[stage].name, x, i);
    }
    if (hidden) {
        parent = stage;
        stage = tree_add_inner(x, parent, STEP_SUM, "", 1);
    }
    add_direction(x, stage, &x->c->stages[i], true, exchanged ? x->c->before : none);
    add_direction(x, stage, &x->c->stages[i], false, exchanged ? x->c->after : none);
    plan_tree_add_list(x, stage, x->c->sends);
    if (hidden) {
        step_id sends = tree_add_inner(x, parent, STEP_REPEAT, "", x->c->interleave);
        plan_tree_add_list(x, tree_add_inner(x, sends, STEP_SUM, "", 1), x->c->hidden_sends);
    }
}

/* The slowest stage, so often. */
static void add_slowest(struct growing *x, step_id root, double times, const char *name, bool last)
{
    if (!(times > 0))
        return;
    step_id row = tree_add_inner(x, root, STEP_REPEAT, name, times);
    if (x->c->n_stages > 1) {
        row = tree_add_inner(x, row, STEP_MAX, "slowest stage", 1);
        if (row >= 0)
            x->t->nodes[row].apart = true;
    }
    for (int32_t i = 0; i < x->c->n_stages; i++)
        cost_add_stage(x, row, i, last, true);
}

/* Every stage once, divided by chunks: the first one works, it waits for the others. Or what stages wait for
 * where weight gradients fill most of it. */
static void add_round(struct growing *x, step_id root)
{
    double round = plan_cost_round(x->c);
    step_id row = -1;
    x->drain = x->c->drain > 0;
    if (!x->drain) {
        row = tree_add_inner(x, root, STEP_REPEAT, "first stage", round);
        cost_add_stage(x, row, 0, true, false);
    }
    x->idle = true;
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        double count = (double)x->c->stages[i].count;
        double times = x->drain ? x->c->drain * count : round * (count - (i == 0));
        if (!(times > 0))
            continue;
        row = tree_add_inner(x, root, STEP_REPEAT, "bubble", times);
        cost_add_stage(x, row, i, false, false);
    }
    x->drain = false;
    double boundaries = -1;
    for (int32_t i = 0; i < x->c->n_stages; i++)
        boundaries += (double)x->c->stages[i].count;
    double own = own_boundary(x->c, boundaries);
    if (boundaries > own && x->c->hidden_sends.n) {
        row = tree_add_inner(x, root, STEP_REPEAT, "bubble", boundaries - own);
        plan_tree_add_list(x, tree_add_inner(x, row, STEP_SUM, "", 1), x->c->hidden_sends);
    }
    x->idle = false;
    x->stage = own > 0; /* the first */
    if (own > 0)
        plan_tree_add_list(x, root, x->c->hidden_sends);
    x->stage = 0;
}

static bool uses_group(const struct plan_cost *c, int g)
{
    for (int32_t i = 0; i < c->n_collectives; i++)
        if ((int)c->collectives[i].group == g)
            return true;
    return false;
}

static void tree_add_groups(struct growing *x, const struct plan_place *place)
{
    for (int g = 0; g < N_PLAN_GROUPS; g++) {
        if (g >= PLAN_GROUP_SHARD && !(g == PLAN_GROUP_MERGED ? uses_group(x->c, g) : place->sharded))
            continue;
        x->groups[g] = step_add_group_after(x->t, plan_group_words[g], place->members[g], place->stride[g]);
        if (x->groups[g] >= 0)
            memcpy(x->t->groups[x->groups[g]].share, place->share[g], sizeof place->share[g]);
    }
}

/* The same step as an expression: what the solver and the simulators are given. */
int plan_cost_tree(struct step_tree *t, const struct plan_cost *c, const struct plan_place *place,
                   const char *name, const struct topo_network *net, struct err *e)
{
    struct growing x = { .t = t, .c = c };
    for (int32_t i = 0; i < c->n_stages; i++)
        x.pp += c->stages[i].count;
    step_begin(t, name, net);
    tree_add_groups(&x, place);
    step_id root = tree_add_inner(&x, -1, STEP_SUM, name, 1);
    x.stage = x.pp > 1; /* the first */
    plan_tree_add_list(&x, root, c->first_before);
    x.stage = 0;
    add_slowest(&x, root, c->microbatches - 1, "microbatches", false);
    add_slowest(&x, root, 1 - plan_cost_round(c), "last microbatch", true);
    add_round(&x, root);
    x.stage = x.pp > 1;
    plan_tree_add_list(&x, root, c->last_after);
    x.stage = 0;
    plan_tree_add_compute(&x, root, STEP_OPTIMIZER, "optimizer", c->optimizer_s);
    plan_tree_add_compute(&x, root, STEP_OVERHEAD, "overhead", c->overhead_s);
    int rc = step_check(t, e);
    if (rc)
        step_free(t);
    return rc;
}
