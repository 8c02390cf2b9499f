#include "sim/interval/layer_overlap.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

const char *const overlap_mode_names[N_OVERLAP_MODES + 1] = { "sequential", "wait_free", "priority",
                                                              "lemma2" };

int overlap_check(const struct overlap_layers *l, struct err *e)
{
    const struct {
        const char *name;
        const double *times_s;
    } parts[] = { { "backward_s", l->backward_s }, { "forward_s", l->forward_s }, { "comm_s", l->comm_s } };
    if (l->n < 1)
        return err_set(e, ERR_RANGE, "layers: is %d, need at least 1", (int)l->n);
    if (!(l->slice_s >= 0 && isfinite(l->slice_s)))
        return err_set(e, ERR_RANGE, "slice_s: is %g, need 0 or more", l->slice_s);
    for (int32_t j = 0; j < l->n; j++)
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            double time_s = parts[k].times_s[j];
            if (!(time_s >= 0 && isfinite(time_s)))
                return err_set(e, ERR_RANGE, "layer %d: %s: is %g, need 0 or more", (int)j + 1, parts[k].name,
                               time_s);
        }
    return 0;
}

static double sum(const double *x, int32_t n)
{
    double total = 0;
    for (int32_t j = 0; j < n; j++)
        total += x[j];
    return total;
}

/* Lemma 1. A layer is pushed when it is ready and the one above it is on its way; pulls, on the other half of
 * a full-duplex link, follow in the same order. All are there before the first forward pass begins. */
static double wait_free(const struct overlap_layers *l)
{
    int32_t j = l->n - 1;
    double ready_s = l->backward_s[j];
    double push_s = ready_s, pull_s = push_s + l->comm_s[j];
    for (j--; j >= 0; j--) {
        ready_s += l->backward_s[j];
        push_s = fmax(ready_s, push_s + l->comm_s[j + 1]);
        pull_s = fmax(push_s + l->comm_s[j], pull_s + l->comm_s[j + 1]);
    }
    return pull_s + l->comm_s[0] + sum(l->forward_s, l->n);
}

/* When layer j can begin its forward pass: its parameters are there and the layer before is done. `literal`
 * is Lemma 2. */
static double priority(const struct overlap_layers *l, bool literal)
{
    double first_s = sum(l->backward_s, l->n) + l->comm_s[0] + l->slice_s;
    double done_s = first_s + l->forward_s[0];
    double debt_s = 0;         /* D_j */
    double most_s = 0;         /* greatest D_k so far, or 0: the backlog of layers 2..j */
    double latest_s = first_s; /* Lemma 2: the latest arrival before j */
    for (int32_t j = 1; j < l->n; j++) {
        debt_s += l->comm_s[j] - l->backward_s[j - 1];
        most_s = fmax(most_s, debt_s);
        double here_s = most_s > 0 ? first_s + most_s : 0;
        if (literal) {
            here_s = debt_s > 0 ? latest_s + debt_s : 0;
            latest_s = fmax(latest_s, here_s);
        }
        done_s = fmax(done_s, here_s) + l->forward_s[j];
    }
    return done_s;
}

double overlap_time_s(const struct overlap_layers *l, enum overlap_mode mode)
{
    switch (mode) {
    case OVERLAP_WAIT_FREE:
        return wait_free(l);
    case OVERLAP_PRIORITY:
        return priority(l, false);
    case OVERLAP_LEMMA2:
        return priority(l, true);
    case OVERLAP_SEQUENTIAL:
    case N_OVERLAP_MODES:
        break;
    }
    return sum(l->backward_s, l->n) + 2 * sum(l->comm_s, l->n) + sum(l->forward_s, l->n);
}

static double share(double shown_s, double whole_s)
{
    return whole_s > 0 ? fmin(fmax(shown_s / whole_s, 0), 1) : 1;
}

struct overlap_shares overlap_find_shares(const struct overlap_layers *l, enum overlap_mode mode)
{
    if (mode == OVERLAP_SEQUENTIAL)
        return (struct overlap_shares){ 1, 1, 1 };
    double forward_s = sum(l->forward_s, l->n), backward_s = sum(l->backward_s, l->n);
    double shown_s = mode == OVERLAP_WAIT_FREE ? l->backward_s[l->n - 1] : backward_s;
    double comm_s = overlap_time_s(l, mode) - forward_s - shown_s;
    return (struct overlap_shares){ .forward = 1,
                                    .backward = share(shown_s, backward_s),
                                    .comm = share(comm_s, 2 * sum(l->comm_s, l->n)) };
}
