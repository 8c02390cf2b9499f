#include "plots/fig.h"

#include <stdlib.h>
#include <string.h>

#include "plots/design_grid.h"

static double depth(const struct plot_design *g)
{
    return g->n_dims;
}

static double nic(const struct plot_design *g)
{
    return g->nic_GBps;
}

static int compare_totals(const void *a, const void *b)
{
    const struct plot_design *p = a, *q = b;
    return (p->total_GBps > q->total_GBps) - (p->total_GBps < q->total_GBps);
}

/* The longest run of designs with the same total, of equal runs the last: where most can be compared. */
static void find_common_total(const struct plot_design *sorted, int64_t n, int64_t *first, int64_t *length)
{
    *first = *length = 0;
    for (int64_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && sorted[k].total_GBps == sorted[i].total_GBps;)
            k++;
        if (k - i >= *length) {
            *first = i;
            *length = k - i;
        }
    }
}

int fig_nic(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct design_metric metric = {
        .label = "NIC bandwidth", .unit = "GB/s per NPU", .value = nic, .low_is_better = true
    };
    static const struct design_grid_spec spec = {
        .x_label = "number of dimensions", .x = depth, .x_integers = true, .metrics = &metric, .n_metrics = 1
    };
    struct plot_design *sorted = calloc((size_t)d->n_designs, sizeof *sorted);
    int64_t first, n;

    if (!sorted)
        return err_nomem(e, "the figure's points");
    memcpy(sorted, d->designs, (size_t)d->n_designs * sizeof *sorted);
    qsort(sorted, (size_t)d->n_designs, sizeof *sorted, compare_totals);
    find_common_total(sorted, d->n_designs, &first, &n);
    canvas_note(c, "at %.6g GB/s per NPU in all dimensions together", sorted[first].total_GBps);
    if (n < d->n_designs)
        canvas_note(c, "%lld designs of other totals are left out", (long long)(d->n_designs - n));
    struct plot_data at_total = { .designs = sorted + first, .n_designs = n };
    int rc = design_grid_build(c, &at_total, &spec, e);
    free(sorted); /* the texts in it belong to d */
    return rc;
}
