#include "plots/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_COLUMNS = 5,
    MAX_NETWORKS = 6,
    Y_TICS_PX = 42,
    GAP_X_PX = 18,
    GAP_Y_PX = 14,
    GAP_NETWORK_PX = 8, /* more, between networks of several rows */
    PANEL_PX = 128,
    LEAST_PANEL_PX = 40,
};

/* Everything the panels share. */
struct grid {
    struct canvas *c;
    const struct plot_data *d;
    const struct grid_spec *spec;
    struct names workloads, networks, objectives;
    int32_t n_columns, n_rows;
    struct axis x;
    struct axis y[2];         /* shape [n_metrics] */
    struct unit unit[2];      /* shape [n_metrics] */
    struct canvas_xy *points; /* shape [n_designs], owned: one series at a time */
    struct canvas_box body;
};

const char *grid_objective_label(const char *objective)
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
        others += strcmp(grid_objective_label(objectives->list[k]), objectives->list[k]) == 0;
    return 5 + others;
}

static int gather_names(struct grid *g, struct err *e)
{
    for (int64_t i = 0; i < g->d->n_designs; i++) {
        const struct plot_design *p = &g->d->designs[i];
        if (names_add(&g->workloads, p->workload) < 0 ||
            (g->spec->by_network && names_add(&g->networks, p->network) < 0) ||
            names_add(&g->objectives, p->objective) < 0)
            return err_nomem(e, "the figure's series");
    }
    return 0;
}

static bool is_shown(const struct grid *g, const struct plot_design *p)
{
    return names_find(&g->workloads, p->workload) < g->n_columns &&
           (!g->spec->by_network || names_find(&g->networks, p->network) < MAX_NETWORKS);
}

static void widen(double range[2], double x)
{
    range[0] = fmin(range[0], x);
    range[1] = fmax(range[1], x);
}

static void fit_axes(struct grid *g)
{
    double x[2] = { HUGE_VAL, -HUGE_VAL };

    for (int64_t i = 0; i < g->d->n_designs; i++)
        if (is_shown(g, &g->d->designs[i]))
            widen(x, g->spec->x(&g->d->designs[i]));
    g->x = g->spec->x_integers ? (struct axis){ .lo = x[0] - 0.5, .hi = x[1] + 0.5, .integers = true }
                               : axis_fit(x[0], x[1]);
    for (int32_t m = 0; m < g->spec->n_metrics; m++) {
        const struct grid_metric *metric = &g->spec->metrics[m];
        double y[2] = { HUGE_VAL, -HUGE_VAL };
        for (int64_t i = 0; i < g->d->n_designs; i++) {
            if (!is_shown(g, &g->d->designs[i]))
                continue;
            widen(y, metric->value(&g->d->designs[i]));
            if (metric->equal)
                widen(y, metric->equal(&g->d->designs[i]));
        }
        g->unit[m] = metric->units ? unit_pick(metric->units, y[1]) : (struct unit){ 1, metric->unit };
        g->y[m] = axis_fit(y[0] / g->unit[m].scale, y[1] / g->unit[m].scale);
        axis_round_up(&g->y[m]);
    }
}

static int compare_x(const void *a, const void *b)
{
    const struct canvas_xy *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

/* Points of one panel for an objective, or for the equal split when objective is NULL; the best for each x.
 */
static int64_t gather_points(struct grid *g, int32_t column, int32_t network, int32_t m,
                             const char *objective)
{
    const struct grid_metric *metric = &g->spec->metrics[m];
    int64_t n = 0, kept = 0;

    for (int64_t i = 0; i < g->d->n_designs; i++) {
        const struct plot_design *p = &g->d->designs[i];
        if (strcmp(p->workload, g->workloads.list[column]) != 0)
            continue;
        if (g->spec->by_network && strcmp(p->network, g->networks.list[network]) != 0)
            continue;
        if (objective && strcmp(p->objective, objective) != 0)
            continue;
        double y = objective ? metric->value(p) : metric->equal(p);
        g->points[n++] = (struct canvas_xy){ g->spec->x(p), y / g->unit[m].scale };
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

static void put_series(struct grid *g, int64_t n, int32_t style)
{
    if (n == 0)
        return;
    canvas_block(g->c);
    for (int64_t i = 0; i < n; i++)
        canvas_point(g->c, g->points[i].x, g->points[i].y);
    canvas_block_end(g->c, (struct mark){ MARK_LINE, style });
}

/* Designs behind a better one of the same series at the same x. */
static int64_t count_hidden(struct grid *g)
{
    int64_t shown = 0, all = 0;

    for (int64_t i = 0; i < g->d->n_designs; i++)
        all += is_shown(g, &g->d->designs[i]);
    for (int32_t row = 0; row < g->n_rows; row += g->spec->n_metrics)
        for (int32_t column = 0; column < g->n_columns; column++)
            for (int32_t i = 0; i < g->objectives.n; i++)
                shown += gather_points(g, column, row / g->spec->n_metrics, 0, g->objectives.list[i]);
    return all - shown;
}

/* Space between networks, all gaps together. */
static double network_gaps(const struct grid *g)
{
    return g->spec->n_metrics > 1 ? (g->n_rows / g->spec->n_metrics - 1) * GAP_NETWORK_PX : 0;
}

static struct canvas_box panel_box(const struct grid *g, int32_t column, int32_t row)
{
    const struct canvas_box *b = &g->body;
    double left = b->left + CANVAS_Y_LABEL_PX + Y_TICS_PX,
           right = b->right - (g->spec->by_network ? CANVAS_STRIP_PX : 4);
    double top = b->top + CANVAS_STRIP_PX, bottom = b->bottom - CANVAS_X_TICS_PX - CANVAS_X_LABEL_PX;
    double w = (right - left + GAP_X_PX) / g->n_columns;
    double h = (bottom - top + GAP_Y_PX - network_gaps(g)) / g->n_rows;

    left += column * w;
    top += row * h + (g->spec->n_metrics > 1 ? row / g->spec->n_metrics * GAP_NETWORK_PX : 0);
    return (struct canvas_box){ left, top, left + w - GAP_X_PX, top + h - GAP_Y_PX };
}

static void put_panel(struct grid *g, int32_t column, int32_t row)
{
    int32_t m = row % g->spec->n_metrics, network = row / g->spec->n_metrics;
    const struct grid_metric *metric = &g->spec->metrics[m];
    struct canvas_box box = panel_box(g, column, row);
    struct axis x = g->x, y = g->y[m];

    x.hide = row + 1 < g->n_rows;
    y.hide = column > 0;
    canvas_panel(g->c, &box, &x, &y);
    if (metric->equal)
        put_series(g, gather_points(g, column, network, m, NULL), 0);
    for (int32_t i = 0; i < g->objectives.n; i++)
        put_series(g, gather_points(g, column, network, m, g->objectives.list[i]),
                   objective_style(&g->objectives, i));
    canvas_draw(g->c);
}

static void put_strips(struct grid *g)
{
    struct canvas_label at = { .align = ALIGN_CENTER, .size_px = CANVAS_FONT_PX, .color = CANVAS_BLACK };

    for (int32_t k = 0; k < g->n_columns; k++) {
        struct canvas_box box = panel_box(g, k, 0);
        at.x_px = (box.left + box.right) / 2;
        at.y_px = box.top - CANVAS_STRIP_PX * 0.5;
        at.room_px = box.right - box.left;
        canvas_text(g->c, &at, g->workloads.list[k]);
    }
    for (int32_t r = 0; g->spec->by_network && r < g->n_rows; r += g->spec->n_metrics) {
        struct canvas_box top = panel_box(g, 0, r), low = panel_box(g, 0, r + g->spec->n_metrics - 1);
        at.x_px = g->body.right - CANVAS_STRIP_PX * 0.5 + 2;
        at.y_px = (top.top + low.bottom) / 2;
        at.rotate = 270;
        at.room_px = low.bottom - top.top;
        canvas_text(g->c, &at, g->networks.list[r / g->spec->n_metrics]);
    }
}

static void put_axis_labels(struct grid *g)
{
    struct canvas_box first = panel_box(g, 0, 0), last = panel_box(g, g->n_columns - 1, g->n_rows - 1);
    struct canvas_label at = { .align = ALIGN_CENTER, .size_px = CANVAS_FONT_PX, .color = CANVAS_BLACK };

    at.x_px = (first.left + last.right) / 2;
    at.y_px = last.bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5;
    canvas_text(g->c, &at, g->spec->x_label);
    at.x_px = g->body.left + CANVAS_Y_LABEL_PX * 0.5 - 4;
    at.rotate = 90;
    /* One metric: one label for the whole height. Several: each row has its own. */
    for (int32_t r = 0; r < (g->spec->n_metrics > 1 ? g->n_rows : 1); r++) {
        int32_t m = r % g->spec->n_metrics;
        struct canvas_box top = panel_box(g, 0, r),
                          low = panel_box(g, 0, g->spec->n_metrics > 1 ? r : g->n_rows - 1);
        struct text label = { 0 };
        text_printf(&label, "%s [%s]", g->spec->metrics[m].label, g->unit[m].name);
        at.y_px = (top.top + low.bottom) / 2;
        canvas_text(g->c, &at, text_str(&label));
        text_free(&label);
    }
}

static void put_legend(struct grid *g)
{
    for (int32_t m = 0; m < g->spec->n_metrics; m++)
        if (g->spec->metrics[m].equal) {
            canvas_legend(g->c, (struct mark){ MARK_LINE, 0 }, "equal split");
            break;
        }
    for (int32_t i = 0; i < g->objectives.n; i++)
        canvas_legend(g->c, (struct mark){ MARK_LINE, objective_style(&g->objectives, i) },
                      grid_objective_label(g->objectives.list[i]));
}

static void put_notes(struct grid *g)
{
    int64_t hidden = count_hidden(g);

    if (g->workloads.n > g->n_columns)
        canvas_note(g->c, "first %d of %d workloads", (int)g->n_columns, (int)g->workloads.n);
    if (g->networks.n > MAX_NETWORKS)
        canvas_note(g->c, "first %d of %d networks", MAX_NETWORKS, (int)g->networks.n);
    if (hidden > 0)
        canvas_note(g->c, "%lld designs are hidden by a better one at the same place", (long long)hidden);
}

static int draw(struct grid *g, struct err *e)
{
    double margins = CANVAS_STRIP_PX + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX + network_gaps(g);
    double panel_px = g->n_rows == 1 ? 2 * PANEL_PX : PANEL_PX;

    fit_axes(g);
    put_notes(g);
    put_legend(g);
    int rc =
        canvas_open(g->c, &g->body, g->n_rows * panel_px + margins, g->n_rows * LEAST_PANEL_PX + margins, e);
    if (rc)
        return rc;
    put_strips(g);
    put_axis_labels(g);
    for (int32_t row = 0; row < g->n_rows; row++)
        for (int32_t column = 0; column < g->n_columns; column++)
            put_panel(g, column, row);
    canvas_close(g->c);
    return 0;
}

int grid_build(struct canvas *c, const struct plot_data *d, const struct grid_spec *spec, struct err *e)
{
    struct grid g = { .c = c, .d = d, .spec = spec };
    int rc = gather_names(&g, e);

    /* Never 0, which calloc() may answer with NULL; gcc, too, wants to see that it is not negative. */
    size_t room = d->n_designs > 0 ? (size_t)d->n_designs : 1;
    g.points = calloc(room, sizeof *g.points);
    if (!rc && !g.points)
        rc = err_nomem(e, "the figure's points");
    if (!rc) {
        int32_t n_networks = spec->by_network ? g.networks.n : 1;
        g.n_columns = g.workloads.n < MAX_COLUMNS ? g.workloads.n : MAX_COLUMNS;
        g.n_rows = (n_networks < MAX_NETWORKS ? n_networks : MAX_NETWORKS) * spec->n_metrics;
        rc = draw(&g, e);
    }
    free(g.points);
    names_free(&g.workloads);
    names_free(&g.networks);
    names_free(&g.objectives);
    return rc;
}
