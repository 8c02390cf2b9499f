#include "workloads/plan_draft.h"

/*
 * One evaluation for both: a time alone (n = 1) and a time with its parts by dimension. The functions are
 * inlined into the two at the end, where n is known.
 */
struct summing {
    const struct plan_cost *c;
    const double *once; /* shape [n_collectives][stride] */
    int32_t stride, n;
};

#define INLINE static inline __attribute__((always_inline))

INLINE void clear(struct plan_sum *to, const struct summing *x)
{
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] = 0;
}

INLINE void add(struct plan_sum *to, double times, const struct plan_sum *s, const struct summing *x)
{
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] += times * s->v[k];
}

INLINE void keep_longer(struct plan_sum *to, const struct plan_sum *s, const struct summing *x)
{
    if (!(s->v[0] > to->v[0]))
        return;
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] = s->v[k];
}

INLINE void add_list(struct plan_sum *to, struct plan_list list, const struct summing *x)
{
    for (int32_t i = list.first; i < list.first + list.n; i++)
        for (int32_t k = 0; k < x->n; k++)
            to->v[k] += x->c->collectives[i].times * x->once[i * x->stride + k];
}

/* Time of a pass: its parts in a row, or what runs beside them all if that is longer; @p open: then that. */
INLINE void sum_pass(struct plan_sum *out, const struct plan_pass *pass, bool open, const struct summing *x)
{
    struct plan_sum sent;
    clear(out, x);
    for (int32_t i = pass->first; i < pass->first + pass->n; i++) {
        const struct plan_part *part = &x->c->parts[i];
        clear(&sent, x);
        add_list(&sent, part->sent, x);
        if (!part->beside || sent.v[0] > part->compute_s)
            add(out, 1, &sent, x);
        if (!part->beside || !(sent.v[0] > part->compute_s))
            out->v[0] += part->compute_s;
    }
    if (pass->beside.n) {
        clear(&sent, x);
        add_list(&sent, pass->beside, x);
        if (open)
            add(out, 1, &sent, x);
        else
            keep_longer(out, &sent, x);
    }
}

/* Forward and backward pass of every block, of a layer beside nothing, and what a stage sends. */
struct passes {
    struct plan_sum forward[N_BLOCKS], backward[N_BLOCKS], open_forward[N_BLOCKS], open_backward[N_BLOCKS],
        stage;
};

INLINE void sum_passes(struct passes *p, const struct summing *x)
{
    for (int b = 0; b < N_BLOCKS; b++) {
        const struct plan_block *block = &x->c->blocks[b];
        sum_pass(&p->forward[b], &block->forward, false, x);
        sum_pass(&p->backward[b], &block->backward, false, x);
        if (x->c->open) {
            sum_pass(&p->open_forward[b], &block->forward, true, x);
            sum_pass(&p->open_backward[b], &block->backward, true, x);
        }
    }
    clear(&p->stage, x);
    add_list(&p->stage, x->c->sends, x);
}

/* One microbatch in a stage; with what is exchanged beside it once per step, or without. */
INLINE void sum_stage(struct plan_sum *out, const struct plan_stage *s, const struct passes *p,
                      const struct plan_list *before, const struct plan_list *after, const struct summing *x)
{
    const double n[N_BLOCKS] = { (double)s->dense, (double)s->experts, s->embed, s->head };
    struct plan_sum forward, backward, sent;
    clear(&forward, x);
    clear(&backward, x);
    for (int b = 0; b < N_BLOCKS; b++) {
        double open = b == plan_cost_open(x->c, s);
        add(&forward, n[b] - open, &p->forward[b], x);
        add(&backward, n[b] - open, &p->backward[b], x);
        if (open > 0) {
            add(&forward, 1, &p->open_forward[b], x);
            add(&backward, 1, &p->open_backward[b], x);
        }
    }
    if (before) {
        clear(&sent, x);
        add_list(&sent, *before, x);
        keep_longer(&forward, &sent, x);
        clear(&sent, x);
        add_list(&sent, *after, x);
        keep_longer(&backward, &sent, x);
    }
    clear(out, x);
    add(out, 1, &p->stage, x);
    add(out, 1, &forward, x);
    add(out, 1, &backward, x);
}

INLINE void sum_step(struct plan_sum *out, const struct summing *x)
{
    const struct plan_cost *c = x->c;
    struct passes p;
    struct plan_sum most, most_last, sum, tau, last;
    double boundaries = -1, v = c->interleave;
    sum_passes(&p, x);
    clear(&most, x);
    clear(&most_last, x);
    clear(&sum, x);
    for (int32_t i = 0; i < c->n_stages; i++) {
        const struct plan_stage *s = &c->stages[i];
        sum_stage(&tau, s, &p, NULL, NULL, x);
        last = tau;
        if (i == 0)
            sum_stage(&last, s, &p, &c->before, &c->after, x);
        keep_longer(&most, &tau, x);
        keep_longer(&most_last, &last, x);
        add(&sum, 1, &last, x);
        add(&sum, (double)(s->count - 1), &tau, x);
        boundaries += (double)s->count;
    }
    clear(out, x);
    add(out, c->microbatches - 1, &most, x);
    add(out, 1 - 1 / v, &most_last, x);
    add(out, 1 / v, &sum, x);
    clear(&tau, x);
    add_list(&tau, c->hidden_sends, x);
    add(out, boundaries, &tau, x);
    add_list(out, c->first_before, x);
    add_list(out, c->last_after, x);
    out->v[0] += c->optimizer_s + c->overhead_s;
}

double plan_cost_time(const struct plan_cost *c, const double *once_s)
{
    const struct summing x = { c, once_s, 1, 1 };
    struct plan_sum out;
    sum_step(&out, &x);
    return out.v[0];
}

void plan_cost_sum(struct plan_sum *out, const struct plan_cost *c, const struct plan_sum *once,
                   int32_t n_dims)
{
    const struct summing x = { c, once[0].v, (int32_t)(sizeof *once / sizeof *once[0].v), 1 + n_dims };
    sum_step(out, &x);
}
