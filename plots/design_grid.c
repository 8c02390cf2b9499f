#include "plots/design_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/grid.h"

struct design_grid {
    const struct plot_data *d;
    const struct design_grid_spec *spec;
    struct names workloads, networks, objectives;
    struct grid_point *points;  /* shape [n_designs], owned */
    struct grid_series *series; /* shape [objectives.n], owned */
};

const char *design_grid_objective_label(const char *objective)
{
    static const char *const labels[][2] = {
        { "time", "optimised for time" },
        { "perf_per_cost", "optimised for perf per cost" },
        { "utilization", "optimised for utilisation" },
        { "cost", "optimised for cost" },
    };

    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strcmp(objective, labels[i][0]) == 0)
            return labels[i][1];
    return objective;
}

/* The style belongs to the objective, not to its place in the file, so that figures of different files agree.
 */
static int32_t objective_style(const struct names *objectives, int32_t i)
{
    static const char *const known[] = { "time", "perf_per_cost", "utilization", "cost" };
    int32_t others = 0;

    for (int32_t k = 0; k < 4; k++)
        if (strcmp(objectives->list[i], known[k]) == 0)
            return 1 + k;
    for (int32_t k = 0; k < i; k++)
        others += strcmp(design_grid_objective_label(objectives->list[k]), objectives->list[k]) == 0;
    return 5 + others;
}

static int add_point(struct design_grid *g, int64_t i, struct err *e)
{
    const struct plot_design *p = &g->d->designs[i];
    struct grid_point *at = &g->points[i];

    *at = (struct grid_point){ .x = g->spec->x(p) };
    at->column = names_add(&g->workloads, p->workload);
    at->row = g->spec->by_network ? names_add(&g->networks, p->network) : 0;
    at->series = names_add(&g->objectives, p->objective);
    if (at->column < 0 || at->row < 0 || at->series < 0)
        return err_nomem(e, "the figure's series");
    for (int32_t m = 0; m < g->spec->n_metrics; m++) {
        const struct design_metric *metric = &g->spec->metrics[m];
        at->y[m] = metric->value(p);
        at->half[m] = (double)NAN;
        at->equal[m] = metric->equal ? metric->equal(p) : (double)NAN;
    }
    return 0;
}

static int gather(struct design_grid *g, struct err *e)
{
    int rc = 0;

    /* Never 0, which calloc() may answer with NULL. */
    g->points = calloc((size_t)g->d->n_designs + 1, sizeof *g->points);
    if (!g->points)
        return err_nomem(e, "the figure's points");
    for (int64_t i = 0; i < g->d->n_designs && !rc; i++)
        rc = add_point(g, i, e);
    if (rc)
        return rc;
    g->series = calloc((size_t)g->objectives.n + 1, sizeof *g->series);
    if (!g->series)
        return err_nomem(e, "the figure's series");
    for (int32_t i = 0; i < g->objectives.n; i++)
        g->series[i] = (struct grid_series){ design_grid_objective_label(g->objectives.list[i]),
                                             objective_style(&g->objectives, i) };
    return 0;
}

int design_grid_build(struct canvas *c, const struct plot_data *d, const struct design_grid_spec *spec,
                      struct err *e)
{
    struct design_grid g = { .d = d, .spec = spec };
    struct grid_metric metrics[GRID_MAX_METRICS] = { 0 };
    int rc = gather(&g, e);

    for (int32_t m = 0; m < spec->n_metrics; m++) {
        const struct design_metric *from = &spec->metrics[m];
        metrics[m] = (struct grid_metric){ from->label,         from->unit,          from->units,
                                           from->equal != NULL, from->low_is_better, 0 };
    }
    struct grid_spec look = { .x_label = spec->x_label,
                              .x_integers = spec->x_integers,
                              .columns = g.workloads.list,
                              .n_columns = g.workloads.n,
                              .rows = spec->by_network ? g.networks.list : NULL,
                              .n_rows = spec->by_network ? g.networks.n : 1,
                              .series = g.series,
                              .n_series = g.objectives.n,
                              .metrics = metrics,
                              .n_metrics = spec->n_metrics,
                              .column_word = "workloads",
                              .row_word = "networks",
                              .point_word = "designs" };
    if (!rc)
        rc = grid_build(c, g.points, d->n_designs, &look, e);
    free(g.points);
    free(g.series);
    names_free(&g.workloads);
    names_free(&g.networks);
    names_free(&g.objectives);
    return rc;
}
