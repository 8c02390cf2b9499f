#include "plots/fig.h"

#include "plots/outcomes_grid.h"

int fig_optimum(struct canvas *c, const struct rows *r, struct err *e)
{
    static const struct outcomes_spec spec = { .metrics = { "optimum_frac", "used_frac" },
                                               .n_metrics = 2,
                                               .n_axes = 1 };
    static const struct outcomes_metric metrics[] = {
        { .label = "of the optimum", .unit = "%", .scale = 100, .most = 100 },
        { .label = "used of reserved", .unit = "%", .scale = 100, .most = 100 },
    };
    struct outcomes o = { 0 };
    int rc = outcomes_read(&o, r, &spec, e);

    if (!rc) {
        outcomes_put_notes(c, &o);
        rc = outcomes_grid_build(c, &o, metrics, 2, false, e);
    }
    outcomes_free(&o);
    return rc;
}
