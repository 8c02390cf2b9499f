/*
 * What the rows of a sweep look like in grids and as bars: the figures that declare columns of it.
 *
 * Each figure of sweeps is a constant in figures.c (struct fig_panels or fig_bars of plots/fig.h; points
 * are drawn by plots/xy.c); the functions here read its columns once, by one rule for what a column holds
 * (sweep_bind()), and hand arrays to the page that draws them. Rows that are not solved are left out, and
 * solved ones without what is drawn; what a design is compared with may be missing. All memory is the
 * canvas's and goes with it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/columns.h"
#include "plots/fig.h"
#include "plots/lanes.h"
#include "plots/page.h"

/* Solved rows of a sweep, with the columns of the figure. */
struct sweep_figure {
    struct data d;
    const char *
        *plans; /* shape [d.n], as phrases, the axes of the sweep among them; NULL without the column plan */
};

static const char *sweep_word(const struct sweep_figure *s, const char *column, int64_t i)
{
    int32_t k = data_find(&s->d, column);
    return s->d.words[k].list[s->d.word[k][i]];
}

/* What is a divisor somewhere must be above zero, or the row is left out: a time of 0 would be an infinite
 * performance and stretch the axis for all others. The equal split is what designs are compared with: it may
 * be blank, as where parts are whole, and the design is drawn without it. */
static struct bind sweep_bind(const char *column)
{
    static const char *const words[] = {
        "network", "workload", "objective", "plan", "fits", COL_N_DIMS, NULL
    };
    struct bind b = { .column = column, .as = AS_NUMBER, .need = FILLED };

    for (int i = 0; words[i]; i++)
        if (strcmp(column, words[i]) == 0)
            b.as = AS_WORD;
    if (strcmp(column, COL_TIME_S) == 0)
        b.as = AS_ABOVE_ZERO;
    if (strcmp(column, "dims") == 0)
        b.as = AS_DIMS;
    if (strchr(column, '#'))
        b.as = AS_PER_DIM;
    if (strncmp(column, "equal_", 6) == 0)
        b.need = NEED;
    if (strcmp(column, "status") == 0) {
        b.as = AS_STATUS;
        b.word = "solved";
    }
    return b;
}

/* Ends of the band of measured steps around a step; both NaN where nothing was measured near it. */
static const char *const band_columns[2] = { COL_TIME_LOW_S, COL_TIME_HIGH_S };

static bool find_band(double ends_s[2], const struct data *d, int64_t i)
{
    for (int end = 0; end < 2; end++)
        ends_s[end] = data_x(d, band_columns[end])[i];
    return ends_s[1] > ends_s[0];
}

/* @p second: a column that may be blank, as another quantity beside it is drawn; NULL: none. */
static int read_sweep(struct sweep_figure *s, struct canvas *c, const struct rows *r, const char *second,
                      struct err *e)
{
    struct bind binds[DATA_MAX];
    int32_t n = 0;

    for (const char *const *name = r->figure->columns; *name; name++) {
        binds[n] = sweep_bind(*name);
        binds[n].need = second && strcmp(*name, second) == 0 ? NEED : binds[n].need;
        n++;
    }
    for (int end = 0; end < 2; end++)
        binds[n++] = (struct bind){ .column = band_columns[end], .as = AS_NUMBER, .need = MAY_MISS };
    int rc = data_read(&s->d, c, r, binds, n, e);
    if (rc)
        return rc;
    data_note_unproved(&s->d);
    for (int32_t k = 0; k < n; k++)
        if (strcmp(binds[k].column, "plan") == 0 && !(s->plans = phrases_of_plans(&s->d, e)))
            return ERR_NOMEM;
    return 0;
}

/* ---- grids ---- */

/* Style and words of each objective. Both belong to it, not to its place in the file, so that figures of
 * different files agree; unknown ones come after them. Where no split was sought none is optimised. */
static void name_objectives(struct canvas *c, const struct names *names, bool given, int32_t *styles,
                            const char **labels)
{
    static const char *const known[] = { "time", "perf_per_cost", "utilization",
                                         "cost", "perf_per_watt", "tco_per_token" };
    int32_t n = sizeof known / sizeof *known, others = 0;

    for (int32_t i = 0; i < names->n; i++) {
        struct text label = { 0 };
        int32_t k = 0;
        while (k < n && strcmp(names->list[i], known[k]) != 0)
            k++;
        styles[i] = 1 + (k < n ? k : n + others++);
        text_puts(&label, given ? "split as given" : "optimised for ");
        for (const char *s = given ? "" : names->list[i]; *s; s++)
            text_add(&label, *s == '_' ? " " : s, 1);
        labels[i] = canvas_keep_text(c, &label);
    }
}

enum {
    MAX_GRID_COLUMNS = 5,
    MAX_GRID_ROWS = 8,
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

/* Only the longest run of designs with the same total is kept, of equal runs the last: where most can be
 * compared. Totals compare exactly, so that those which are sums of an optimised split may count as
 * different. */
static int take_common_total(struct data *d, struct err *e)
{
    const double *total = data_x(d, COL_TOTAL_GBPS);
    const struct sort_key key = { .x = total };
    int64_t *order = data_order(d, &key, 1, e), first = 0, longest = 0;

    if (!order)
        return ERR_NOMEM;
    for (int64_t i = 0, k; i < d->n; i = k) {
        k = data_group_end(order, i, d->n, &key, 1);
        if (k - i >= longest) {
            first = i;
            longest = k - i;
        }
    }
    for (int64_t i = 0; i < d->n; i++)
        if (i < first || i >= first + longest)
            data_leave_out(d, order[i], "of another total");
    canvas_note(d->c, "at %.6g GB/s per NPU in all dimensions together", total[order[first]]);
    return data_take(d, order + first, longest, e);
}

static const double *sweep_x(const struct data *d, const char *column, struct err *e)
{
    if (strcmp(column, COL_N_DIMS) != 0)
        return data_x(d, column);
    double *depth = canvas_new(d->c, d->n, sizeof *depth, e);
    for (int64_t i = 0; i < d->n && depth; i++)
        depth[i] = d->n_dims[i];
    return depth;
}

/* Everything the panels share: columns are workloads, rows networks where look->by_network, each a row per
 * quantity, lines objectives. */
struct sweep_panels {
    struct canvas *c;
    const struct fig_panels *look;
    struct sweep_figure s;
    const double *x, *y[FIG_METRICS], *equal[FIG_METRICS]; /* by design; equal NULL: 1, or none */
    struct facet columns, rows, series;
    int32_t *styles;
    const char **labels;                  /* both by series */
    int32_t n_columns, n_rows, n_metrics; /* n_rows: of all quantities together */
    struct axis x_axis, y_axis[FIG_METRICS];
    struct unit unit[FIG_METRICS];
    struct grid_at *points; /* shape [s.d.n]: one series at a time */
    struct canvas_box body;
};

/* A second quantity that no design has is not shown; how many lack it is said, for theirs is what designs are
 * compared with. */
static void read_metrics(struct sweep_panels *g)
{
    const struct data *d = &g->s.d;
    int64_t n_alone = 0;

    for (int32_t m = 0; m < g->look->n_metrics; m++) {
        const char *equal = g->look->metrics[m].equal_column;
        g->y[m] = data_x(d, g->look->metrics[m].column);
        g->equal[m] = equal && strcmp(equal, "1") != 0 ? data_x(d, equal) : NULL;
        for (int64_t i = 0; i < d->n && m > 0; i++)
            n_alone += isnan(g->y[m][i]);
    }
    if (n_alone > 0)
        canvas_note(g->c, "%lld of %lld designs have no equal split to compare with", (long long)n_alone,
                    (long long)d->n);
    if (g->look->note && n_alone < d->n)
        canvas_note(g->c, "%s", g->look->note);
    g->n_metrics = n_alone < d->n ? g->look->n_metrics : 1;
}

/* Panels beyond the limits; what is left out has no say in the axes either. */
static bool grid_is_shown(const struct sweep_panels *g, int64_t i)
{
    return g->columns.at[i] < g->n_columns && g->rows.at[i] < MAX_GRID_ROWS;
}

static bool has_equal(const struct sweep_panels *g, int32_t m)
{
    return g->look->metrics[m].equal_column != NULL;
}

static double equal_at(const struct sweep_panels *g, int32_t m, int64_t i)
{
    return g->equal[m] ? g->equal[m][i] : 1;
}

static void grid_widen(double range[2], double x)
{
    range[0] = fmin(range[0], x);
    range[1] = fmax(range[1], x);
}

/* Over all panels. The equal split counts too, for it is drawn. */
static void grid_fit_y(struct sweep_panels *g, int32_t m)
{
    const struct fig_metric *metric = &g->look->metrics[m];
    double y[2] = { HUGE_VAL, -HUGE_VAL };

    for (int64_t i = 0; i < g->s.d.n; i++) {
        if (!grid_is_shown(g, i) || isnan(g->y[m][i]))
            continue;
        grid_widen(y, g->y[m][i]);
        if (has_equal(g, m))
            grid_widen(y, equal_at(g, m, i));
    }
    g->unit[m] = (struct unit){ 1, metric->unit };
    if (!metric->unit)
        g->unit[m] = data_unit(&g->s.d, data_find(&g->s.d, metric->column), y[1], NULL);
    g->y_axis[m] = axis_fit(y[0] / g->unit[m].scale, y[1] / g->unit[m].scale);
    axis_round_up(&g->y_axis[m]);
}

static void grid_fit_axes(struct sweep_panels *g)
{
    double x[2] = { HUGE_VAL, -HUGE_VAL };

    for (int64_t i = 0; i < g->s.d.n; i++)
        if (grid_is_shown(g, i))
            grid_widen(x, g->x[i]);
    g->x_axis = g->look->common_total ? (struct axis){ .lo = x[0] - 0.5, .hi = x[1] + 0.5, .integers = true }
                                      : axis_fit(x[0], x[1]);
    for (int32_t m = 0; m < g->n_metrics; m++)
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
static int64_t grid_gather_points(struct sweep_panels *g, int32_t column, int32_t row, int32_t m,
                                  int32_t series)
{
    int64_t n = 0, kept = 0;

    for (int64_t i = 0; i < g->s.d.n; i++) {
        double y = series >= 0 ? g->y[m][i] : equal_at(g, m, i);
        if (!grid_is_shown(g, i) || g->columns.at[i] != column || g->rows.at[i] != row || isnan(y) ||
            (series >= 0 && g->series.at[i] != series))
            continue;
        if (!g->equal[m] && isnan(g->y[m][i])) /* nothing is compared with the reference */
            continue;
        g->points[n++] = (struct grid_at){ g->x[i], y / g->unit[m].scale, i };
    }
    qsort(g->points, (size_t)n, sizeof *g->points, compare_x);
    for (int64_t i = 0; i < n; i++) {
        bool first = i == 0 || g->points[i - 1].x != g->points[i].x;
        bool last = i + 1 == n || g->points[i + 1].x != g->points[i].x;
        if (g->look->metrics[m].low_is_better ? first : last)
            g->points[kept++] = g->points[i];
    }
    return kept;
}

/* Rows that no panel shows: in panels beyond the limits, or behind a better one in each quantity
 * that they have. */
static int grid_account(struct sweep_panels *g, struct err *e)
{
    const struct data *d = &g->s.d;
    bool *drawn = canvas_new(g->c, d->n, sizeof *drawn, e);

    if (!drawn)
        return ERR_NOMEM;
    for (int32_t row = 0; row < g->n_rows; row++)
        for (int32_t column = 0; column < g->n_columns; column++)
            for (int32_t i = 0; i < g->series.names.n; i++) {
                int64_t n = grid_gather_points(g, column, row / g->n_metrics, row % g->n_metrics, i);
                for (int64_t k = 0; k < n; k++)
                    drawn[g->points[k].row] = true;
            }
    for (int64_t i = 0; i < d->n; i++)
        if (!drawn[i])
            data_leave_out(
                d, i, grid_is_shown(g, i) ? "behind a better one at the same place" : "beyond the panels");
    return 0;
}

/* ---- what a panel holds ---- */

static void grid_put_line(struct sweep_panels *g, int64_t n, int32_t style)
{
    for (int64_t i = 0; i < n; i++) {
        canvas_mark_row(g->c, g->s.d.row[g->points[i].row]);
        canvas_point(g->c, g->points[i].x, g->points[i].y);
    }
    canvas_block_end(g->c, (struct mark){ MARK_LINE, style });
}

/* Space between rows of several quantities, all gaps together. */
static double row_gaps(const struct sweep_panels *g)
{
    return g->n_metrics > 1 ? (g->n_rows / g->n_metrics - 1) * GAP_NETWORK_PX : 0;
}

/* Above the panels, for their names where they have any. */
static double strip_px(const struct sweep_panels *g)
{
    return g->n_columns > 1 || g->columns.names.list[0][0] ? CANVAS_STRIP_PX : 6;
}

/* All panels are of one size: room for tics and labels is taken from the body once, not from the outer
 * panels. */
static struct canvas_box panel_box(const struct sweep_panels *g, int32_t column, int32_t row)
{
    const struct canvas_box *b = &g->body;
    double left = b->left + CANVAS_Y_LABEL_PX + Y_TICS_PX,
           right = b->right - (g->look->by_network ? CANVAS_STRIP_PX : 4);
    double top = b->top + strip_px(g), bottom = b->bottom - CANVAS_X_TICS_PX - CANVAS_X_LABEL_PX;
    double w = (right - left + GAP_X_PX) / g->n_columns;
    double h = (bottom - top + GAP_Y_PX - row_gaps(g)) / g->n_rows;

    left += column * w;
    top += row * h + (g->n_metrics > 1 ? row / g->n_metrics * GAP_NETWORK_PX : 0);
    return (struct canvas_box){ left, top, left + w - GAP_X_PX, top + h - GAP_Y_PX };
}

static void grid_put_panel(struct sweep_panels *g, int32_t column, int32_t panel_row)
{
    int32_t m = panel_row % g->n_metrics, row = panel_row / g->n_metrics;
    struct canvas_box box = panel_box(g, column, panel_row);
    struct axis x = g->x_axis, y = g->y_axis[m];

    x.hide = panel_row + 1 < g->n_rows;
    y.hide = column > 0;
    canvas_panel(g->c, &box, &x, &y);
    if (has_equal(g, m))
        grid_put_line(g, grid_gather_points(g, column, row, m, -1), 0);
    for (int32_t i = 0; i < g->series.names.n; i++)
        grid_put_line(g, grid_gather_points(g, column, row, m, i), g->styles[i]);
    canvas_draw(g->c);
}

/* ---- the page ---- */

static void put_strips(struct sweep_panels *g)
{
    for (int32_t k = 0; k < g->n_columns; k++) {
        struct canvas_box box = panel_box(g, k, 0);
        if (g->columns.names.list[k][0])
            canvas_name(g->c, &box, box.right - box.left, g->columns.names.list[k]);
    }
    for (int32_t r = 0; r < g->n_rows; r += g->n_metrics) {
        struct canvas_box top = panel_box(g, 0, r), low = panel_box(g, 0, r + g->n_metrics - 1);
        struct canvas_label at = { .x_px = g->body.right - CANVAS_STRIP_PX * 0.5 + 2,
                                   .y_px = (top.top + low.bottom) / 2,
                                   .align = ALIGN_CENTER,
                                   .rotate = 270,
                                   .room_px = low.bottom - top.top };
        canvas_text(g->c, &at, g->rows.names.list[r / g->n_metrics]);
    }
}

static void put_axis_labels(struct sweep_panels *g)
{
    struct canvas_box first = panel_box(g, 0, 0), last = panel_box(g, g->n_columns - 1, g->n_rows - 1);
    bool several = g->n_metrics > 1;

    canvas_x_label(g->c, first.left, last.right, last.bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5, 0,
                   g->look->x_label);
    /* One metric: one label for the whole height. Several: each row has its own. */
    for (int32_t r = 0; r < (several ? g->n_rows : 1); r++) {
        int32_t m = r % g->n_metrics;
        const char *unit = g->unit[m].name, *label = g->look->metrics[m].label;
        canvas_y_label(g->c, g->body.left + CANVAS_Y_LABEL_PX * 0.5 - 4, panel_box(g, 0, r).top,
                       panel_box(g, 0, several ? r : g->n_rows - 1).bottom, 0,
                       unit[0] ? canvas_keep(g->c, "%s [%s]", label, unit) : label);
    }
}

static void grid_put_legend(struct sweep_panels *g)
{
    bool any_equal = false;

    for (int32_t m = 0; m < g->n_metrics; m++)
        for (int64_t i = 0; i < g->s.d.n && has_equal(g, m); i++)
            any_equal = any_equal || !isnan(equal_at(g, m, i));
    if (any_equal)
        canvas_legend(g->c, (struct mark){ MARK_LINE, 0 }, "equal split");
    for (int32_t i = 0; i < g->series.names.n; i++)
        canvas_legend(g->c, (struct mark){ MARK_LINE, g->styles[i] }, g->labels[i]);
}

static int draw_grid(struct sweep_panels *g, struct err *e)
{
    double margins = strip_px(g) + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX + row_gaps(g);
    double panel_px = g->n_rows == 1 ? 2 * PANEL_PX : PANEL_PX;

    grid_fit_axes(g);
    canvas_note_first(g->c, g->n_columns, g->columns.names.n, "workloads");
    canvas_note_first(g->c, MAX_GRID_ROWS, g->rows.names.n, "networks");
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

int fig_panels(struct canvas *c, const struct rows *r, struct err *e)
{
    struct sweep_panels g = { .c = c, .look = r->figure->look };
    struct data *d = &g.s.d;
    int rc = read_sweep(&g.s, c, r, g.look->n_metrics > 1 ? g.look->metrics[1].column : NULL, e);

    if (!rc && g.look->common_total)
        rc = take_common_total(d, e);
    if (!rc)
        rc = data_facet(&g.columns, d, data_find(d, "workload"), NULL, d->n, e);
    if (!rc)
        rc = data_facet(&g.rows, d, g.look->by_network ? data_find(d, "network") : -1, NULL, d->n, e);
    if (!rc)
        rc = data_facet(&g.series, d, data_find(d, "objective"), NULL, d->n, e);
    if (rc)
        return rc;
    g.styles = canvas_new(c, g.series.names.n, sizeof *g.styles, e);
    g.labels = canvas_new(c, g.series.names.n, sizeof *g.labels, e);
    g.points = canvas_new(c, d->n, sizeof *g.points, e);
    g.x = sweep_x(d, g.look->x, e);
    if (!g.styles || !g.labels || !g.points || !g.x)
        return ERR_NOMEM;
    int32_t gap = table_find(r->t, "gap");
    name_objectives(c, &g.series.names, gap >= 0 && !rows_know(r, gap, -1, NULL), g.styles, g.labels);
    read_metrics(&g);
    g.n_columns = g.columns.names.n < MAX_GRID_COLUMNS ? g.columns.names.n : MAX_GRID_COLUMNS;
    g.n_rows = (g.rows.names.n < MAX_GRID_ROWS ? g.rows.names.n : MAX_GRID_ROWS) * g.n_metrics;
    return draw_grid(&g, e);
}

/* ---- bars ---- */

enum {
    MAX_DESIGNS = 24,
    MAX_BARS = 96,
    ROW_PX = 24, /* of a stacked bar with its gap */
    BAR_PX = 9,  /* of one of several bars */
    GAP_PX = 11, /* between designs then */
    LEAST_ROW_PX = 8,
    SHORT_NAME = 20, /* characters, where room is short */
    MAX_PARTS = 10 + DATA_MAX_DIMS,
};

/* Shares of the page: of labels at most, and of the bars at least, or the numbers behind them go. */
#define LABEL_SHARE (1 / 2.0)
#define BARS_SHARE  (1 / 3.0)

/* Share of the step below which a rest cannot be seen, and a bar is not longer than the step. */
#define LEAST_SHARE 1e-3

/* One part of a design's bar: a dimension, or one of the figure's own parts. `value` is in the unit of the
 * axis before fig_bars.units scale it. */
struct part {
    int32_t dim; /* -1 = one of the figure's own */
    int32_t own;
    double value;
};

struct bars {
    struct canvas *c;
    const struct sweep_figure *s;
    const struct fig_bars *look;
    int32_t n;                   /* designs drawn */
    struct names dims;           /* all dimension names: a dimension looks the same in every design */
    bool occurs[MAX_PARTS];      /* which of the figure's own parts are drawn */
    const char **labels, **ends; /* shape [n] */
    const char *end_label;
    struct unit unit;
    struct axis x;
    double head;    /* share of a design's height that its label takes */
    bool varies[4]; /* network, workload, total, objective differ between designs */
};

/* Communication is attributed to the dimension that binds it; what overlaps compute is not exposed. A rest
 * that belongs to nothing is drawn, so that the bar is as long as the step. */
static int32_t parts_of(const struct bars *b, int64_t i, struct part out[MAX_PARTS])
{
    const struct fig_bars *look = b->look;
    const struct data *d = &b->s->d;
    double step = look->n_own ? data_x(d, COL_TIME_S)[i] : 0, rest = step;
    int32_t n = 0;

    for (int32_t k = 0; k + 1 < look->n_own; k++) {
        double value = data_x(d, look->own[k].column)[i];
        if (!(value > look->least * step))
            continue;
        out[n++] = (struct part){ -1, k, value };
        rest -= value;
    }
    for (int32_t k = 0; look->per_dim && k < d->n_dims[i]; k++) {
        double value = data_x(d, look->per_dim)[i * DATA_MAX_DIMS + k];
        out[n++] = (struct part){ k, 0, look->times == 1 ? value : look->times * value };
        rest -= value;
    }
    if (look->n_own && rest > LEAST_SHARE * step)
        out[n++] = (struct part){ -1, look->n_own - 1, rest };
    return n;
}

static int32_t bars_of(const struct bars *b, int64_t i)
{
    struct part parts[MAX_PARTS];
    return b->look->stacked ? 1 : parts_of(b, i, parts);
}

/* How many designs have room, of as many bars as the one that has most. */
static int64_t most_designs(const struct bars *b)
{
    int32_t most = 1;

    for (int64_t i = 0; i < b->s->d.n; i++)
        most = bars_of(b, i) > most ? bars_of(b, i) : most;
    return MAX_BARS / most < MAX_DESIGNS ? MAX_BARS / most : MAX_DESIGNS;
}

/* Of a front of n designs, by rising cost, as many as have room: its ends, and evenly between. Where they go.
 */
static int64_t spread(int64_t *out, const int64_t *front, int64_t n, int64_t most)
{
    int64_t kept = n < most ? n : most;

    for (int64_t k = 0; k < kept; k++)
        out[k] = front[kept > 1 ? k * (n - 1) / (kept - 1) : n - 1];
    return kept;
}

/*
 * Of more designs than have room those that no other of their workload beats in both time and cost; of a
 * table without one of them the first. Into @p out, of room for `most`; how many, -1: no memory.
 */
static int64_t choose_designs(int64_t *out, const struct data *d, int64_t most, struct err *e)
{
    int32_t cost_col = table_find(d->r.t, COL_COST_USD), time_col = table_find(d->r.t, COL_TIME_S);
    double *cost = canvas_new(d->c, d->n, sizeof *cost, e), *time = canvas_new(d->c, d->n, sizeof *time, e);
    const int32_t *workload = d->word[data_find(d, "workload")];
    const struct sort_key keys[] = { { .word = workload }, { .x = cost }, { .x = time } };
    int64_t *order = canvas_new(d->c, d->n, sizeof *order, e), n = 0, kept = 0;
    int64_t room = most / d->words[data_find(d, "workload")].n;
    room = room > 1 ? room : 1;

    if (!cost || !time || !order)
        return -1;
    for (int64_t i = 0; i < d->n; i++) {
        cost[i] = cost_col < 0 ? (double)NAN : table_number(d->r.t, d->row[i], cost_col);
        time[i] = time_col < 0 ? (double)NAN : table_number(d->r.t, d->row[i], time_col);
        if (!isnan(cost[i]) && !isnan(time[i]))
            order[n++] = i;
    }
    if (data_sort(order, n, keys, 3, e))
        return -1;
    for (int64_t first = 0, end; first < n; first = end) {
        int64_t n_front = 0;
        end = data_group_end(order, first, n, keys, 1);
        for (int64_t k = first; k < end; k++)
            if (n_front == 0 || time[order[k]] < (1 - AXIS_SAME) * time[order[first + n_front - 1]])
                order[first + n_front++] = order[k];
        kept += spread(out + kept, order + first, n_front, room < most - kept ? room : most - kept);
    }
    for (int64_t i = 0; n == 0 && i < d->n && kept < most; i++)
        out[kept++] = i;
    canvas_note(d->c,
                n > 0 ? "%lld of %lld designs, from the cheapest to the fastest of each workload"
                      : "first %lld of %lld designs",
                (long long)kept, (long long)d->n);
    return kept;
}

/* ERR_NOMEM */
static int take_designs(struct sweep_figure *s, int64_t most, struct err *e)
{
    const struct data *d = &s->d;
    int64_t rows[MAX_DESIGNS], n_all = d->n, n = choose_designs(rows, d, most, e);
    bool *chosen = canvas_new(d->c, n_all, sizeof *chosen, e);
    const char **plans = canvas_new(d->c, most, sizeof *plans, e);

    if (n < 0 || !chosen || !plans)
        return ERR_NOMEM;
    for (int64_t k = 0; k < n; k++) {
        chosen[rows[k]] = true;
        plans[k] = s->plans ? s->plans[rows[k]] : NULL;
    }
    for (int64_t i = 0; i < n_all; i++)
        if (!chosen[i])
            data_leave_out(d, i, "of other designs");
    s->plans = s->plans ? plans : NULL;
    return data_take(&s->d, rows, n, e);
}

/* The names of the deepest network come first, so that the legend runs from inside out. */
static void gather_dims(struct bars *b)
{
    const struct data *d = &b->s->d;

    for (int32_t depth = DATA_MAX_DIMS; depth > 0 && d->n_dims; depth--)
        for (int32_t i = 0; i < b->n; i++)
            for (int32_t k = 0; k < depth && d->n_dims[i] == depth; k++)
                names_add(b->c, &b->dims, d->dims[(int64_t)i * DATA_MAX_DIMS + k]);
}

static void gather_parts(struct bars *b)
{
    double longest = 0;

    for (int32_t i = 0; i < b->n; i++) {
        struct part parts[MAX_PARTS];
        int32_t n = parts_of(b, i, parts);
        double sum = 0;
        for (int32_t k = 0; k < n; k++) {
            if (parts[k].dim < 0)
                b->occurs[parts[k].own] = true;
            sum = b->look->stacked ? sum + parts[k].value : fmax(sum, parts[k].value);
        }
        double band_s[2];
        if (b->look->n_own && find_band(band_s, &b->s->d, i))
            sum = fmax(sum, band_s[1]);
        longest = fmax(longest, sum);
    }
    b->unit = (struct unit){ 1, b->look->unit };
    if (!b->look->unit)
        b->unit = data_unit(&b->s->d, data_find(&b->s->d, b->look->own[0].column), longest, NULL);
    b->x = axis_bars(longest / b->unit.scale);
    if (b->look->axis_max > 0)
        b->x.hi = fmax(b->look->axis_max, longest);
}

/* Where bandwidths are an answer, their sum is a total but for rounding. */
static void find_varying(struct bars *b)
{
    static const char *const words[] = { "network", "workload", NULL, "objective" };
    const double *total = data_x(&b->s->d, COL_TOTAL_GBPS);

    for (int32_t i = 1; i < b->n; i++)
        for (int k = 0; k < 4; k++)
            b->varies[k] =
                b->varies[k] ||
                (words[k] ? strcmp(sweep_word(b->s, words[k], i), sweep_word(b->s, words[k], 0)) != 0
                          : fabs(total[i] - total[0]) > AXIS_SAME * fmax(total[i], total[0]));
}

/* What tells a design from the others, or what all have in common. */
static void describe_design(struct text *out, const struct bars *b, int64_t i, enum phrases_part part)
{
    bool varying = part != PHRASES_COMMON;
    const char *goal = sweep_word(b->s, "objective", i), *per = strstr(goal, "_per_"); /* "perf/cost" */
    const char *words[] = { sweep_word(b->s, "network", i), sweep_word(b->s, "workload", i),
                            canvas_keep(b->c, "%.6g GB/s%s", data_x(&b->s->d, COL_TOTAL_GBPS)[i],
                                        varying ? "" : " per NPU"),
                            canvas_keep(b->c, "%.*s%s%s", per ? (int)(per - goal) : (int)strlen(goal), goal,
                                        per ? "/" : "", per ? per + 5 : "") };

    for (int k = 0; k < 4; k++)
        if (b->varies[k] == varying) {
            text_puts(out, out->n ? " · " : "");
            canvas_put_short(out, words[k], part == PHRASES_SHORT ? SHORT_NAME : SIZE_MAX);
        }
    phrases_put(out, b->s->plans, b->n, i, part);
}

/* n is at most MAX_DESIGNS. */
static bool any_repeated(const char *const *labels, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < i; k++)
            if (strcmp(labels[k], labels[i]) == 0)
                return true;
    return false;
}

/* The label with the number of its point behind it; of a table without points, or with several designs to
 * one, that of its row. */
static const char *number_label(const struct bars *b, int64_t i, bool by_row)
{
    const struct rows r = data_at(&b->s->d, i);
    int32_t point = by_row ? -1 : table_find(r.t, "point");
    char name[TABLE_ROW_NAME], buf[NUM_TEXT];

    return canvas_keep(b->c, "%s%s%s%s", b->labels[i], b->labels[i][0] ? " · " : "",
                       point < 0 ? "" : "point ",
                       point < 0 ? table_row_name(name, r.t, r.row) : rows_text(buf, &r, point));
}

/* Where two designs are told apart by nothing that is in a label, all get a number. */
static void make_labels(struct bars *b, enum phrases_part part)
{
    for (int pass = 0; pass < 3 && (pass == 0 || any_repeated(b->labels, b->n)); pass++)
        for (int32_t i = 0; i < b->n; i++) {
            struct text label = { 0 };
            describe_design(&label, b, i, part);
            b->labels[i] = canvas_keep_text(b->c, &label);
            b->labels[i] = pass ? number_label(b, i, pass == 2) : b->labels[i];
        }
}

/* A narrow part of a long bar cannot be read off the axis. Bars of bandwidth end with the bandwidths, inside
 * out; those of time with the time of the step, and a star where the note explains it. */
static const char *end_text(const struct bars *b, int64_t i)
{
    const struct data *d = &b->s->d;
    struct text out = { 0 };

    if (!b->look->end_label)
        return "";
    for (int32_t k = 0; !b->look->n_own && k < d->n_dims[i]; k++)
        text_printf(&out, "%s%.3g", k ? " | " : "", data_x(d, b->look->per_dim)[i * DATA_MAX_DIMS + k]);
    if (b->look->n_own) {
        double seconds = data_x(d, COL_TIME_S)[i];
        struct unit u = unit_pick(unit_seconds, seconds);
        bool misfit = b->look->exposed && strcmp(sweep_word(b->s, "fits", i), "no") == 0;
        text_printf(&out, "%.3g %s%s", seconds / u.scale, u.name, misfit ? " *" : "");
    }
    return canvas_keep_text(b->c, &out);
}

/* Of the widest, set as small as can be. */
static double labels_px(const struct bars *b)
{
    double widest = 0;

    for (int32_t i = 0; i < b->n; i++)
        widest = fmax(widest, canvas_width(b->labels[i], CANVAS_SMALL_PX));
    return CANVAS_LEAST_SHRINK * widest;
}

/* Where room is short names and plans are shortened first, then the numbers go; of labels that would still be
 * cut strips_build() makes lines above the bars, which have room for all. */
static int make_texts(struct bars *b, struct err *e)
{
    double room_px = (1 - BARS_SHARE) * b->c->width_px, end_px = 0;

    b->labels = canvas_new(b->c, b->n, sizeof *b->labels, e);
    b->ends = canvas_new(b->c, b->n, sizeof *b->ends, e);
    if (!b->labels || !b->ends)
        return ERR_NOMEM;
    find_varying(b);
    make_labels(b, PHRASES_VARYING);
    for (int32_t i = 0; i < b->n; i++) {
        b->ends[i] = end_text(b, i);
        end_px = fmax(end_px, canvas_width(b->ends[i], CANVAS_SMALL_PX));
    }
    b->end_label = b->look->end_label ? b->look->end_label : "";
    if (labels_px(b) + end_px > room_px)
        make_labels(b, PHRASES_SHORT);
    if (labels_px(b) > LABEL_SHARE * b->c->width_px) {
        make_labels(b, PHRASES_VARYING);
    } else if (labels_px(b) + end_px > room_px) {
        b->end_label = "";
        for (int32_t i = 0; i < b->n; i++)
            b->ends[i] = "";
    }
    return 0;
}

static void put_bars_notes(struct bars *b)
{
    const struct data *d = &b->s->d;
    struct text common = { 0 };
    int64_t n_misfit = 0, n_longer = 0, n_bands = 0;

    for (int64_t i = 0; i < d->n && b->look->n_own; i++) {
        struct part parts[MAX_PARTS];
        double sum = 0, band_s[2];
        for (int32_t k = 0, n = parts_of(b, i, parts); k < n; k++)
            sum += parts[k].value;
        n_bands += find_band(band_s, d, i);
        n_misfit += b->look->exposed && strcmp(sweep_word(b->s, "fits", i), "no") == 0;
        n_longer += sum > (1 + LEAST_SHARE) * data_x(d, COL_TIME_S)[i];
    }
    if (b->look->exposed)
        canvas_note(b->c, "exposed: beyond the compute that runs beside it");
    if (n_bands > 0)
        canvas_note(b->c, "whiskers: " BAND_WORDS);
    if (n_misfit > 0)
        canvas_note(b->c, "*: needs more memory than an NPU has");
    if (n_longer > 0)
        canvas_note(b->c, "%lld bars are longer than the step, whose parts overlap", (long long)n_longer);
    describe_design(&common, b, 0, PHRASES_COMMON);
    if (common.n)
        canvas_note(b->c, "%s", text_str(&common));
    text_free(&common);
}

/* A dimension has its style by name, the same in networks of different depth. */
static int32_t part_style(const struct bars *b, int64_t i, const struct part *p)
{
    return p->dim >= 0 ? FILL_FIRST + names_find(&b->dims, b->s->d.dims[i * DATA_MAX_DIMS + p->dim])
                       : b->look->own[p->own].fill;
}

static void put_bars_legend(struct bars *b)
{
    for (int32_t i = 0; i < b->look->n_own || i == 0; i++) {
        if (b->occurs[i])
            canvas_legend(b->c, (struct mark){ MARK_FILL, b->look->own[i].fill }, b->look->own[i].label);
        for (int32_t k = 0; k < b->dims.n && i == 0; k++)
            canvas_legend(b->c, (struct mark){ MARK_FILL, FILL_FIRST + k },
                          canvas_keep(b->c, "%s%s", b->look->dim_prefix, b->dims.list[k]));
    }
}

/* The parts of design i of one style. Rows count from the top; a design takes one unit of y, its bars 0.76 of
 * what its label leaves. */
static void put_bar_parts(struct bars *b, int32_t i, int32_t style)
{
    struct part parts[MAX_PARTS];
    int32_t n = parts_of(b, i, parts);
    double at = 0;

    canvas_mark_row(b->c, b->s->d.row[i]);
    for (int32_t k = 0; k < n; k++) {
        double value = parts[k].value / b->unit.scale, room = 1 - b->head;
        double h = 0.76 * room / (b->look->stacked ? 1 : n);
        double top = i + b->head + 0.12 * room + (b->look->stacked ? 0 : k * h);
        if (value > 0 && part_style(b, i, &parts[k]) == style)
            canvas_bar(b->c, at, top + h, at + value, top);
        at += b->look->stacked ? value : 0;
    }
}

/* Half of the ends of a band, in heights of a design. */
#define BAND_END 0.12

/* The band of measured steps around the end of each bar: a line along it with blunt ends. */
static void put_bands(const struct bars *b)
{
    for (int32_t i = 0; i < b->n; i++) {
        double band_s[2], y = i + b->head + 0.5 * (1 - b->head);
        if (!find_band(band_s, &b->s->d, i))
            continue;
        canvas_break(b->c);
        for (int end = 0; end < 2; end++) {
            double x = band_s[end] / b->unit.scale, blunt = end ? -BAND_END : BAND_END;
            canvas_point(b->c, x, end ? y : y - blunt);
            canvas_point(b->c, x, y + blunt);
            canvas_point(b->c, x, end ? y - blunt : y);
        }
    }
    canvas_block_end(b->c, (struct mark){ MARK_FRONT, 0 });
}

/* Style by style, as a block of data has one look; parts_of() is cheap enough to be asked each time. */
static void paint_designs(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct bars *b = of;
    /* One more than the highest style that occurs. */
    int32_t n_styles = FILL_FIRST + b->dims.n;

    (void)box;
    (void)panel;
    for (int32_t i = 0; i < b->look->n_own; i++)
        n_styles = b->look->own[i].fill < n_styles ? n_styles : b->look->own[i].fill + 1;
    for (int32_t style = 0; style < n_styles; style++) {
        for (int32_t i = 0; i < b->n; i++)
            put_bar_parts(b, i, style);
        canvas_block_end(c, (struct mark){ MARK_FILL, style });
    }
    if (b->look->n_own)
        put_bands(b);
}

int fig_bars(struct canvas *c, const struct rows *r, struct err *e)
{
    struct sweep_figure s = { 0 };
    struct bars b = { .c = c, .s = &s, .look = r->figure->look };
    int rc = read_sweep(&s, c, r, NULL, e);

    if (rc)
        return rc;
    int64_t most = most_designs(&b);
    rc = s.d.n > most ? take_designs(&s, most, e) : 0;
    if (rc)
        return rc;
    b.n = (int32_t)s.d.n;
    if (b.look->per_dim)
        gather_dims(&b);
    gather_parts(&b);
    rc = make_texts(&b, e);
    if (rc)
        return rc;
    put_bars_notes(&b);
    put_bars_legend(&b);
    const char *name = "";
    double rows_px = 0;
    for (int32_t i = 0; i < b.n; i++)
        rows_px += b.look->stacked ? ROW_PX : bars_of(&b, i) * BAR_PX + GAP_PX;
    const struct strips spec = { .names = &name,
                                 .n_panels = 1,
                                 .n_rows = b.n,
                                 .labels = b.labels,
                                 .label_share = LABEL_SHARE,
                                 .head = &b.head,
                                 .ends = b.ends,
                                 .end_label = b.end_label,
                                 .unit_px = rows_px / b.n,
                                 .least_unit_px = LEAST_ROW_PX,
                                 .plain = true,
                                 .x = b.x,
                                 .x_label = canvas_keep(c, "%s [%s]", b.look->axis_label, b.unit.name),
                                 .paint = paint_designs,
                                 .of = &b };
    return strips_build(c, &spec, e);
}
