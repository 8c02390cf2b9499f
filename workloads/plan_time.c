#include <math.h>

#include "workloads/plan_cost.h"

static double list_time(const struct plan_cost *c, struct plan_list list, const double *once_s)
{
    double sum_s = 0;
    for (int32_t i = list.first; i < list.first + list.n; i++)
        sum_s += c->collectives[i].times * once_s[i];
    return sum_s;
}

static double pass_time(const struct plan_cost *c, const struct plan_pass *pass, const double *once_s)
{
    double sum_s = 0;
    for (int32_t i = pass->first; i < pass->first + pass->n; i++) {
        const struct plan_part *part = &c->parts[i];
        double sent_s = list_time(c, part->sent, once_s);
        sum_s += part->beside ? fmax(part->compute_s, sent_s) : part->compute_s + sent_s;
    }
    return fmax(sum_s, list_time(c, pass->beside, once_s));
}

/* Forward and backward time of one microbatch in a stage. */
struct stage_time {
    double forward_s, backward_s;
};

double plan_cost_time(const struct plan_cost *c, const double *once_s)
{
    double forward_s[N_BLOCKS], backward_s[N_BLOCKS];
    double edge_s = pass_time(c, &c->edge, once_s) + list_time(c, c->sends, once_s);
    double most_s = 0, most_last_s = 0, sum_s = 0, n_stages = 0;
    for (int b = 0; b < N_BLOCKS; b++) {
        forward_s[b] = pass_time(c, &c->blocks[b].forward, once_s);
        backward_s[b] = pass_time(c, &c->blocks[b].backward, once_s);
    }
    for (int32_t i = 0; i < c->n_stages; i++) {
        const struct plan_stage *s = &c->stages[i];
        const double n[N_BLOCKS] = { (double)s->dense, (double)s->experts, s->embed, s->head };
        struct stage_time t = { 0, 0 };
        for (int b = 0; b < N_BLOCKS; b++) {
            t.forward_s += n[b] * forward_s[b];
            t.backward_s += n[b] * backward_s[b];
        }
        double tau_s = t.forward_s + t.backward_s + edge_s, last_s = tau_s;
        if (i == 0)
            last_s = fmax(t.forward_s, list_time(c, c->before, once_s)) +
                     fmax(t.backward_s, list_time(c, c->after, once_s)) + edge_s;
        most_s = fmax(most_s, tau_s);
        most_last_s = fmax(most_last_s, last_s);
        sum_s += last_s + (double)(s->count - 1) * tau_s;
        n_stages += (double)s->count;
    }
    double v = c->interleave;
    return (c->microbatches - 1) * most_s + (1 - 1 / v) * most_last_s + sum_s / v +
           (n_stages - 1) * list_time(c, c->hidden_sends, once_s) + list_time(c, c->first_before, once_s) +
           list_time(c, c->last_after, once_s) + c->optimizer_s + c->overhead_s;
}
