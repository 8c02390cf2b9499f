/*
 * Grids of panels that share their axes: x along all, y along each row of one quantity. Of points of one
 * series at one x the best is drawn.
 *
 * Axes are fitted over all panels that are drawn before the first one is, so that panels compare; only the
 * unit and the y axis differ by quantity. Points of a panel are gathered anew for each series, by a pass over
 * all rows: panels are at most 60, and designs of a sweep some thousands.
 */
#include "plots/grid.h"

#include <math.h>
#include <stdlib.h>

enum {
    Y_TICS_PX = 42,
    GAP_X_PX = 18,
    GAP_Y_PX = 14,
    GAP_NETWORK_PX = 8, /* more, between rows of several quantities */
    PANEL_PX = 128,
    LEAST_PANEL_PX = 40,
};

struct grid_at {
    double x, y;
    int64_t row; /* of the figure */
};

/* Everything the panels share. */
struct grid_figure {
    struct canvas *c;
    const struct grid_spec *spec;
    int32_t n_columns, n_rows; /* of panels */
    int32_t n_series;
    struct axis x, y[GRID_MAX_METRICS];
    struct unit unit[GRID_MAX_METRICS];
    struct grid_at *points; /* shape [spec->n]: one series at a time */
    struct canvas_box body;
};

static int64_t grid_row(const struct grid_figure *g, int64_t k)
{
    return g->spec->order ? g->spec->order[k] : k;
}

static int32_t row_of_panels(const struct grid_figure *g, int64_t i)
{
    return g->spec->rows ? g->spec->rows->at[i] : 0;
}

/* Panels beyond the limits; what is left out has no say in the axes either. */
static bool grid_is_shown(const struct grid_figure *g, int64_t i)
{
    return g->spec->columns->at[i] < g->n_columns && row_of_panels(g, i) < GRID_MAX_ROWS;
}

static bool has_equal(const struct grid_metric *m)
{
    return m->equal || m->reference > 0;
}

static double equal_at(const struct grid_metric *m, int64_t i)
{
    return m->equal ? m->equal[i] : m->reference;
}

static void grid_widen(double range[2], double x)
{
    range[0] = fmin(range[0], x);
    range[1] = fmax(range[1], x);
}

/* Over all panels. The equal split counts too, for it is drawn. */
static void grid_fit_y(struct grid_figure *g, int32_t m)
{
    const struct grid_metric *metric = &g->spec->metrics[m];
    double y[2] = { HUGE_VAL, -HUGE_VAL };

    for (int64_t k = 0; k < g->spec->n; k++) {
        int64_t i = grid_row(g, k);
        if (!grid_is_shown(g, i) || isnan(metric->y[i]))
            continue;
        grid_widen(y, metric->y[i]);
        if (has_equal(metric))
            grid_widen(y, equal_at(metric, i));
    }
    g->unit[m] = (struct unit){ 1, metric->unit };
    if (!metric->unit)
        g->unit[m] = data_unit(g->spec->data, data_find(g->spec->data, metric->column), y[1], NULL);
    g->y[m] = axis_fit(y[0] / g->unit[m].scale, y[1] / g->unit[m].scale);
    axis_round_up(&g->y[m]);
}

static void grid_fit_axes(struct grid_figure *g)
{
    double x[2] = { HUGE_VAL, -HUGE_VAL };

    for (int64_t k = 0; k < g->spec->n; k++)
        if (grid_is_shown(g, grid_row(g, k)))
            grid_widen(x, g->spec->x[grid_row(g, k)]);
    g->x = g->spec->x_integers ? (struct axis){ .lo = x[0] - 0.5, .hi = x[1] + 0.5, .integers = true }
                               : axis_fit(x[0], x[1]);
    for (int32_t m = 0; m < g->spec->n_metrics; m++)
        grid_fit_y(g, m);
}

static int compare_x(const void *a, const void *b)
{
    const struct grid_at *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

/*
 * Points of one panel for a series, or for the equal split when series is -1; the best for each x. The result
 * is in g->points until the next call. Sorted by x, then by y: of a run of one x the best is its first or its
 * last. The equal split can have several values at one x, too, of networks or plans.
 */
static int64_t grid_gather_points(struct grid_figure *g, int32_t column, int32_t row, int32_t m,
                                  int32_t series)
{
    const struct grid_metric *metric = &g->spec->metrics[m];
    int64_t n = 0, kept = 0;

    for (int64_t k = 0; k < g->spec->n; k++) {
        int64_t i = grid_row(g, k);
        double y = series >= 0 ? metric->y[i] : equal_at(metric, i);
        if (!grid_is_shown(g, i) || g->spec->columns->at[i] != column || row_of_panels(g, i) != row ||
            isnan(y) || (series >= 0 && g->spec->series->at[i] != series))
            continue;
        if (!metric->equal && isnan(metric->y[i])) /* nothing is compared with the reference */
            continue;
        g->points[n++] = (struct grid_at){ g->spec->x[i], y / g->unit[m].scale, i };
    }
    qsort(g->points, (size_t)n, sizeof *g->points, compare_x);
    for (int64_t i = 0; i < n; i++) {
        bool first = i == 0 || g->points[i - 1].x != g->points[i].x;
        bool last = i + 1 == n || g->points[i + 1].x != g->points[i].x;
        if (metric->low_is_better ? first : last)
            g->points[kept++] = g->points[i];
    }
    return kept;
}

/* Rows that no panel shows: in panels beyond the limits, or behind a better one in each quantity
 * that they have. */
static int grid_account(struct grid_figure *g, struct err *e)
{
    const struct data *d = g->spec->data;
    bool *drawn = canvas_new(g->c, d->n, sizeof *drawn, e);

    if (!drawn)
        return ERR_NOMEM;
    for (int32_t row = 0; row < g->n_rows; row++)
        for (int32_t column = 0; column < g->n_columns; column++)
            for (int32_t i = 0; i < g->n_series; i++) {
                int64_t n =
                    grid_gather_points(g, column, row / g->spec->n_metrics, row % g->spec->n_metrics, i);
                for (int64_t k = 0; k < n; k++)
                    drawn[g->points[k].row] = true;
            }
    for (int64_t k = 0; k < g->spec->n; k++)
        if (!drawn[grid_row(g, k)])
            data_leave_out(d, grid_row(g, k),
                           grid_is_shown(g, grid_row(g, k)) ? "behind a better one at the same place"
                                                            : "beyond the panels");
    return 0;
}

/* ---- what a panel holds ---- */

static void grid_put_line(struct grid_figure *g, int64_t n, int32_t style)
{
    for (int64_t i = 0; i < n; i++) {
        canvas_mark_row(g->c, g->spec->data->row[g->points[i].row]);
        canvas_point(g->c, g->points[i].x, g->points[i].y);
    }
    canvas_block_end(g->c, (struct mark){ MARK_LINE, style });
}

/* Space between rows of several quantities, all gaps together. */
static double row_gaps(const struct grid_figure *g)
{
    return g->spec->n_metrics > 1 ? (g->n_rows / g->spec->n_metrics - 1) * GAP_NETWORK_PX : 0;
}

static double x_label_px(const struct grid_figure *g)
{
    return g->spec->x_label[0] ? CANVAS_X_LABEL_PX : 0;
}

/* Above the panels, for their names where they have any. */
static double strip_px(const struct grid_figure *g)
{
    return g->n_columns > 1 || g->spec->columns->names.list[0][0] ? CANVAS_STRIP_PX : 6;
}

/* All panels are of one size: room for tics and labels is taken from the body once, not from the outer
 * panels. */
static struct canvas_box panel_box(const struct grid_figure *g, int32_t column, int32_t row)
{
    const struct canvas_box *b = &g->body;
    double left = b->left + CANVAS_Y_LABEL_PX + Y_TICS_PX,
           right = b->right - (g->spec->rows ? CANVAS_STRIP_PX : 4);
    double top = b->top + strip_px(g), bottom = b->bottom - CANVAS_X_TICS_PX - x_label_px(g);
    double w = (right - left + GAP_X_PX) / g->n_columns;
    double h = (bottom - top + GAP_Y_PX - row_gaps(g)) / g->n_rows;

    left += column * w;
    top += row * h + (g->spec->n_metrics > 1 ? row / g->spec->n_metrics * GAP_NETWORK_PX : 0);
    return (struct canvas_box){ left, top, left + w - GAP_X_PX, top + h - GAP_Y_PX };
}

static void grid_put_panel(struct grid_figure *g, int32_t column, int32_t panel_row)
{
    int32_t m = panel_row % g->spec->n_metrics, row = panel_row / g->spec->n_metrics;
    struct canvas_box box = panel_box(g, column, panel_row);
    struct axis x = g->x, y = g->y[m];

    x.hide = panel_row + 1 < g->n_rows;
    y.hide = column > 0;
    canvas_panel(g->c, &box, &x, &y);
    if (has_equal(&g->spec->metrics[m]))
        grid_put_line(g, grid_gather_points(g, column, row, m, -1), 0);
    for (int32_t i = 0; i < g->n_series; i++)
        grid_put_line(g, grid_gather_points(g, column, row, m, i), g->spec->styles[i]);
    canvas_draw(g->c);
}

/* ---- the page ---- */

static void put_strips(struct grid_figure *g)
{
    for (int32_t k = 0; k < g->n_columns; k++) {
        struct canvas_box box = panel_box(g, k, 0);
        if (g->spec->columns->names.list[k][0])
            canvas_name(g->c, &box, box.right - box.left, g->spec->columns->names.list[k]);
    }
    for (int32_t r = 0; g->spec->rows && r < g->n_rows; r += g->spec->n_metrics) {
        struct canvas_box top = panel_box(g, 0, r), low = panel_box(g, 0, r + g->spec->n_metrics - 1);
        struct canvas_label at = { .x_px = g->body.right - CANVAS_STRIP_PX * 0.5 + 2,
                                   .y_px = (top.top + low.bottom) / 2,
                                   .align = ALIGN_CENTER,
                                   .rotate = 270,
                                   .room_px = low.bottom - top.top };
        canvas_text(g->c, &at, g->spec->rows->names.list[r / g->spec->n_metrics]);
    }
}

static void put_axis_labels(struct grid_figure *g)
{
    struct canvas_box first = panel_box(g, 0, 0), last = panel_box(g, g->n_columns - 1, g->n_rows - 1);
    bool several = g->spec->n_metrics > 1;

    if (g->spec->x_label[0])
        canvas_x_label(g->c, first.left, last.right, last.bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5,
                       0, g->spec->x_label);
    /* One metric: one label for the whole height. Several: each row has its own. */
    for (int32_t r = 0; r < (several ? g->n_rows : 1); r++) {
        int32_t m = r % g->spec->n_metrics;
        const char *unit = g->unit[m].name, *label = g->spec->metrics[m].label;
        canvas_y_label(g->c, g->body.left + CANVAS_Y_LABEL_PX * 0.5 - 4, panel_box(g, 0, r).top,
                       panel_box(g, 0, several ? r : g->n_rows - 1).bottom, 0,
                       unit[0] ? canvas_keep(g->c, "%s [%s]", label, unit) : label);
    }
}

static void grid_put_legend(struct grid_figure *g)
{
    const char *const *labels = g->spec->series_labels;

    bool any_equal = false;
    for (int32_t m = 0; m < g->spec->n_metrics; m++)
        for (int64_t k = 0; k < g->spec->n && has_equal(&g->spec->metrics[m]); k++)
            any_equal = any_equal || !isnan(equal_at(&g->spec->metrics[m], grid_row(g, k)));
    if (any_equal)
        canvas_legend(g->c, (struct mark){ MARK_LINE, 0 }, "equal split");
    for (int32_t i = 0; i < g->n_series; i++)
        if (labels[i][0])
            canvas_legend(g->c, (struct mark){ MARK_LINE, g->spec->styles[i] }, labels[i]);
}

static void grid_put_notes(struct grid_figure *g)
{
    canvas_note_first(g->c, g->n_columns, g->spec->columns->names.n, g->spec->column_word);
    if (g->spec->rows)
        canvas_note_first(g->c, GRID_MAX_ROWS, g->spec->rows->names.n, g->spec->row_word);
}

static int grid_draw_grid(struct grid_figure *g, struct err *e)
{
    double margins = strip_px(g) + CANVAS_X_TICS_PX + x_label_px(g) + row_gaps(g);
    double panel_px = g->n_rows == 1 ? 2 * PANEL_PX : PANEL_PX;

    grid_fit_axes(g);
    grid_put_notes(g);
    grid_put_legend(g);
    int rc = grid_account(g, e);
    if (!rc)
        rc = canvas_open(g->c, &g->body, g->n_rows * panel_px + margins, g->n_rows * LEAST_PANEL_PX + margins,
                         e);
    if (rc)
        return rc;
    put_strips(g);
    put_axis_labels(g);
    for (int32_t row = 0; row < g->n_rows; row++)
        for (int32_t column = 0; column < g->n_columns; column++)
            grid_put_panel(g, column, row);
    canvas_close(g->c);
    return 0;
}

int fig_draw_grid(struct canvas *c, const struct grid_spec *spec, struct err *e)
{
    int32_t n_rows = spec->rows ? spec->rows->names.n : 1, n_columns = spec->columns->names.n;
    struct grid_figure g = { .c = c,
                             .spec = spec,
                             .n_columns = n_columns < GRID_MAX_COLUMNS ? n_columns : GRID_MAX_COLUMNS,
                             .n_rows = (n_rows < GRID_MAX_ROWS ? n_rows : GRID_MAX_ROWS) * spec->n_metrics,
                             .n_series = spec->series->names.n,
                             .points = canvas_new(c, spec->n, sizeof *g.points, e) };

    return g.points ? grid_draw_grid(&g, e) : ERR_NOMEM;
}
