#include "plots/outcomes_grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "plots/grid.h"

/* What else varies can be the lines of one scheduler: as many as their styles tell apart. */
enum { MAX_SETTINGS = 7 };

/* The first style of lines is that of what others are held against. */
enum { FIRST_LINE = 1 };

struct outcomes_grid {
    struct canvas *c;
    const struct outcomes *o;
    bool bars, by_setting;     /* by_setting: one scheduler, whose settings are told apart */
    struct grid_point *points; /* shape [o->n], owned */
    struct grid_series *series;
    struct grid_metric *metrics; /* shape [GRID_MAX_METRICS], borrowed */
    int32_t n_metrics;
    double *at; /* shape [n_at], owned: values of the axis, rising; where there are groups of bars */
    int32_t n_at;
    struct names at_names; /* owned texts of them */
};

static int compare_reals(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int32_t find_real(const double *list, int32_t n, double x)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == x)
            return i;
    return -1;
}

/* Groups of bars: the values of the axis. */
static int gather_groups(struct outcomes_grid *g, struct err *e)
{
    char text[NUM_TEXT];

    g->at = calloc((size_t)g->o->n + 1, sizeof *g->at);
    if (!g->at)
        return err_nomem(e, "the figure's groups");
    for (int64_t i = 0; i < g->o->n; i++)
        if (find_real(g->at, g->n_at, g->o->list[i].axis[0]) < 0)
            g->at[g->n_at++] = g->o->list[i].axis[0];
    qsort(g->at, (size_t)g->n_at, sizeof *g->at, compare_reals);
    for (int32_t i = 0; i < g->n_at; i++)
        if (names_add_copy(&g->at_names, num_format(text, g->at[i])) < 0)
            return err_nomem(e, "the figure's groups");
    return 0;
}

static bool has_values(const struct outcomes *o, int32_t m)
{
    for (int64_t i = 0; i < o->n; i++)
        if (!isnan(o->list[i].value[m]))
            return true;
    return false;
}

static bool is_grouped(const struct outcomes_grid *g)
{
    return g->bars && g->o->n_axes > 0;
}

static void fill_points(struct outcomes_grid *g, const struct outcomes_metric *metrics, const int32_t *chosen)
{
    for (int64_t i = 0; i < g->o->n; i++) {
        const struct outcome *from = &g->o->list[i];
        struct grid_point *to = &g->points[i];
        int32_t series = g->by_setting ? from->panel : from->scheduler;
        to->column = g->by_setting ? 0 : from->column;
        to->row = g->by_setting ? 0 : from->row_of_panels;
        to->series = g->bars && !is_grouped(g) ? 0 : series;
        to->x = is_grouped(g) ? find_real(g->at, g->n_at, from->axis[0]) : g->bars ? series : from->axis[0];
        for (int32_t m = 0; m < g->n_metrics; m++) {
            double scale = metrics[chosen[m]].scale;
            to->y[m] = from->value[chosen[m]] * scale;
            to->half[m] = from->half[chosen[m]] * scale;
            to->equal[m] = (double)NAN;
        }
    }
}

static int gather(struct outcomes_grid *g, const struct outcomes_metric *metrics, int32_t n_metrics,
                  struct err *e)
{
    int32_t chosen[GRID_MAX_METRICS];
    const struct names *series = g->by_setting ? &g->o->panels : &g->o->schedulers;

    for (int32_t m = 0; m < n_metrics; m++)
        if (m == 0 || has_values(g->o, m)) {
            const struct outcomes_metric *from = &metrics[m];
            chosen[g->n_metrics] = m;
            g->metrics[g->n_metrics++] = (struct grid_metric){ from->label, from->unit,          from->units,
                                                               false,       from->low_is_better, from->most };
        }
    for (int32_t i = 0; i < series->n; i++) {
        int32_t style = g->by_setting ? i : g->o->styles[i];
        g->series[i] = (struct grid_series){ series->list[i],
                                             style + (g->bars ? (int32_t)FILL_FIRST : (int32_t)FIRST_LINE) };
    }
    int rc = is_grouped(g) ? gather_groups(g, e) : 0;
    if (!rc)
        fill_points(g, metrics, chosen);
    return rc;
}

static int draw(struct outcomes_grid *g, struct err *e)
{
    static const char *const no_name[] = { "" };
    static const struct grid_series plain = { "", FILL_FIRST };
    const struct names *series = g->by_setting ? &g->o->panels : &g->o->schedulers;
    bool alone = g->bars && !is_grouped(g);
    struct grid_spec spec = { .x_label = alone ? "" : g->o->axes[0],
                              .x_tight = true,
                              .high = true,
                              .columns = g->by_setting ? no_name : g->o->columns.list,
                              .n_columns = g->by_setting ? 1 : g->o->columns.n,
                              .rows = !g->by_setting && g->o->rows.n > 1 ? g->o->rows.list : NULL,
                              .n_rows = g->by_setting ? 1 : g->o->rows.n,
                              .series = alone ? &plain : g->series,
                              .n_series = alone ? 1 : series->n,
                              .metrics = g->metrics,
                              .n_metrics = g->n_metrics,
                              .column_word = "panels beside each other",
                              .row_word = "panels below each other",
                              .point_word = "rows" };

    if (g->bars) {
        spec.categories = alone ? series->list : g->at_names.list;
        spec.n_categories = alone ? series->n : g->at_names.n;
    }
    if (g->by_setting)
        canvas_note(g->c, "scheduler %s", g->o->schedulers.list[0]);
    return grid_build(g->c, g->points, g->o->n, &spec, e);
}

int outcomes_grid_build(struct canvas *c, const struct outcomes *o, const struct outcomes_metric *metrics,
                        int32_t n_metrics, bool bars, struct err *e)
{
    struct grid_metric shown[GRID_MAX_METRICS];
    struct outcomes_grid g = { .c = c, .o = o, .bars = bars || o->n_axes == 0, .metrics = shown };

    g.by_setting = o->schedulers.n == 1 && o->panels.n > 1 && o->panels.n <= MAX_SETTINGS;
    g.points = calloc((size_t)o->n + 1, sizeof *g.points);
    g.series = calloc((size_t)o->panels.n + (size_t)o->schedulers.n, sizeof *g.series);
    int rc = g.points && g.series ? gather(&g, metrics, n_metrics, e) : err_nomem(e, "the figure's points");
    if (!rc)
        rc = draw(&g, e);
    free(g.points);
    free(g.series);
    free(g.at);
    names_free_copies(&g.at_names);
    return rc;
}
