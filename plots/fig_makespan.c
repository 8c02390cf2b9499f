#include "plots/fig.h"

#include "plots/outcomes_grid.h"

int fig_makespan(struct canvas *c, const struct rows *r, struct err *e)
{
    static const struct outcomes_spec spec = { .metrics = { "makespan_s", "jct_s" },
                                               .n_metrics = 2,
                                               .n_axes = 1 };
    static const struct outcomes_metric metrics[] = {
        { .label = "makespan", .units = unit_durations, .scale = 1, .low_is_better = true },
        { .label = "mean completion", .units = unit_durations, .scale = 1, .low_is_better = true },
    };
    struct outcomes o = { 0 };
    int rc = outcomes_read(&o, r, &spec, e);

    if (!rc) {
        outcomes_put_notes(c, &o);
        rc = outcomes_grid_build(c, &o, metrics, 2, true, e);
    }
    outcomes_free(&o);
    return rc;
}
