#include "plots/fig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/axis.h"

enum {
    MAX_PANELS = 9,
    MAX_IN_ROW = 3,
    PANEL_PX = 240,
    LEAST_PANEL_PX = 110,
    Y_TICS_PX = 44,
};

struct pareto {
    struct canvas *c;
    const struct plot_data *d;
    struct names workloads, networks;
    int32_t n_panels, n_columns, n_rows;
    struct unit usd;
    struct canvas_xy *points; /* shape [2 * n_designs], owned: one panel's [usd, steps per second] */
    struct canvas_box body;
};

static int gather_names(struct pareto *p, struct err *e)
{
    double most_usd = 0;

    for (int64_t i = 0; i < p->d->n_designs; i++) {
        const struct plot_design *g = &p->d->designs[i];
        if (names_add(&p->workloads, g->workload) < 0 || names_add(&p->networks, g->network) < 0)
            return err_nomem(e, "the figure's series");
        most_usd = fmax(most_usd, fmax(g->cost_usd, g->equal_cost_usd));
    }
    p->usd = unit_pick(unit_usd, most_usd);
    p->n_panels = p->workloads.n < MAX_PANELS ? p->workloads.n : MAX_PANELS;
    p->n_rows = (p->n_panels + MAX_IN_ROW - 1) / MAX_IN_ROW;
    p->n_columns = (p->n_panels + p->n_rows - 1) / p->n_rows; /* rows as even as can be: four are 2 x 2 */
    return 0;
}

static struct canvas_xy optimised(const struct pareto *p, const struct plot_design *g)
{
    return (struct canvas_xy){ g->cost_usd / p->usd.scale, 1 / g->time_s };
}

static struct canvas_xy equal_split(const struct pareto *p, const struct plot_design *g)
{
    return (struct canvas_xy){ g->equal_cost_usd / p->usd.scale, 1 / g->equal_time_s };
}

/* Designs and equal splits of workload w, for one network or (network = -1) all. */
static int64_t gather_points(struct pareto *p, int32_t w, int32_t network, bool optima, bool equals)
{
    int64_t n = 0;

    for (int64_t i = 0; i < p->d->n_designs; i++) {
        const struct plot_design *g = &p->d->designs[i];
        if (strcmp(g->workload, p->workloads.list[w]) != 0)
            continue;
        if (network >= 0 && strcmp(g->network, p->networks.list[network]) != 0)
            continue;
        if (optima)
            p->points[n++] = optimised(p, g);
        if (equals)
            p->points[n++] = equal_split(p, g);
    }
    return n;
}

static int compare_cost(const void *a, const void *b)
{
    const struct canvas_xy *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->y < q->y) - (p->y > q->y);
}

/* Keep the points that no other beats in both, by rising cost. */
static int64_t keep_front(struct canvas_xy *points, int64_t n)
{
    int64_t kept = 0;

    qsort(points, (size_t)n, sizeof *points, compare_cost);
    for (int64_t i = 0; i < n; i++)
        if (kept == 0 || points[i].y > points[kept - 1].y)
            points[kept++] = points[i];
    return kept;
}

/* An equal split may break the study's constraints: it is a mark to measure by, never on the front.
 * What one gets for a given cost: a staircase, level until the next design can be paid. */
static void put_front(struct pareto *p, int32_t w, const struct axis *x)
{
    int64_t n = keep_front(p->points, gather_points(p, w, -1, true, false));

    canvas_block(p->c);
    for (int64_t i = 0; i < n; i++) {
        canvas_point(p->c, p->points[i].x, p->points[i].y);
        canvas_point(p->c, i + 1 < n ? p->points[i + 1].x : x->hi, p->points[i].y);
    }
    canvas_block_end(p->c, (struct mark){ MARK_FRONT, 0 });
}

static void put_points(struct pareto *p, int32_t w, int32_t network, enum mark_kind kind)
{
    int64_t n = gather_points(p, w, network, kind == MARK_POINT, kind == MARK_HOLLOW);

    if (n == 0)
        return;
    canvas_block(p->c);
    for (int64_t i = 0; i < n; i++)
        canvas_point(p->c, p->points[i].x, p->points[i].y);
    canvas_block_end(p->c, (struct mark){ kind, network });
}

static void fit_axes(struct pareto *p, int32_t w, struct axis *x, struct axis *y)
{
    struct canvas_xy lo = { HUGE_VAL, HUGE_VAL }, hi = { 0, 0 };
    int64_t n = gather_points(p, w, -1, true, true);

    for (int64_t i = 0; i < n; i++) {
        lo = (struct canvas_xy){ fmin(lo.x, p->points[i].x), fmin(lo.y, p->points[i].y) };
        hi = (struct canvas_xy){ fmax(hi.x, p->points[i].x), fmax(hi.y, p->points[i].y) };
    }
    *x = axis_fit(lo.x, hi.x);
    *y = axis_fit(lo.y, hi.y);
}

static void put_panel(struct pareto *p, int32_t w)
{
    double width = (p->body.right - p->body.left - CANVAS_Y_LABEL_PX) / p->n_columns;
    double height = (p->body.bottom - p->body.top - CANVAS_X_LABEL_PX) / p->n_rows;
    int32_t column = w % p->n_columns, row = w / p->n_columns;
    double left = p->body.left + CANVAS_Y_LABEL_PX + column * width, top = p->body.top + row * height;
    struct canvas_box box = { left + Y_TICS_PX, top + CANVAS_STRIP_PX, left + width - 8,
                              top + height - CANVAS_X_TICS_PX };
    struct canvas_label at = { .x_px = (box.left + box.right) / 2,
                               .y_px = top + CANVAS_STRIP_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = width,
                               .color = CANVAS_BLACK };
    struct axis x, y;

    fit_axes(p, w, &x, &y);
    canvas_panel(p->c, &box, &x, &y);
    canvas_text(p->c, &at, p->workloads.list[w]);
    put_front(p, w, &x);
    for (int32_t k = 0; k < p->networks.n; k++) {
        put_points(p, w, k, MARK_HOLLOW);
        put_points(p, w, k, MARK_POINT);
    }
    canvas_draw(p->c);
}

static void put_axis_labels(struct pareto *p)
{
    struct canvas_label at = { .align = ALIGN_CENTER, .size_px = CANVAS_FONT_PX, .color = CANVAS_BLACK };
    struct text label = { 0 };

    text_printf(&label, "network cost [%s]", p->usd.name);
    at.x_px = (p->body.left + p->body.right + CANVAS_Y_LABEL_PX) / 2;
    at.y_px = p->body.bottom - CANVAS_X_LABEL_PX * 0.5;
    canvas_text(p->c, &at, text_str(&label));
    text_free(&label);
    at.x_px = p->body.left + CANVAS_Y_LABEL_PX * 0.5 - 4;
    at.y_px = (p->body.top + p->body.bottom - CANVAS_X_LABEL_PX) / 2;
    at.rotate = 90;
    canvas_text(p->c, &at, "performance [steps/s]");
}

static void put_legend(struct pareto *p)
{
    canvas_legend(p->c, (struct mark){ MARK_FRONT, 0 }, "Pareto front");
    for (int32_t k = 0; k < p->networks.n; k++)
        canvas_legend(p->c, (struct mark){ MARK_POINT, k }, p->networks.list[k]);
    canvas_note(p->c,
                "filled: optimised split; hollow: equal split of the same bandwidth, constraints aside");
    if (p->workloads.n > p->n_panels)
        canvas_note(p->c, "first %d of %d workloads", (int)p->n_panels, (int)p->workloads.n);
}

static int draw(struct pareto *p, struct err *e)
{
    double panel_px = p->n_panels == 1 ? 1.4 * PANEL_PX : PANEL_PX;

    put_legend(p);
    int rc = canvas_open(p->c, &p->body, p->n_rows * panel_px + CANVAS_X_LABEL_PX,
                         p->n_rows * LEAST_PANEL_PX + CANVAS_X_LABEL_PX, e);
    if (rc)
        return rc;
    put_axis_labels(p);
    for (int32_t w = 0; w < p->n_panels; w++)
        put_panel(p, w);
    canvas_close(p->c);
    return 0;
}

int fig_pareto(struct canvas *c, const struct plot_data *d, struct err *e)
{
    struct pareto p = { .c = c, .d = d, .points = calloc(2 * (size_t)d->n_designs, sizeof *p.points) };
    int rc = p.points ? gather_names(&p, e) : err_nomem(e, "the figure's points");

    if (!rc)
        rc = draw(&p, e);
    free(p.points);
    names_free(&p.workloads);
    names_free(&p.networks);
    return rc;
}
