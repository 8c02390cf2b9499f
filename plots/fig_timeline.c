#include "plots/fig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/axis.h"
#include "plots/lanes.h"

enum {
    ROW_PX = 26,  /* of a dimension with one slot */
    SLOT_PX = 11, /* of one of several */
    MOST_ROW_PX = 168,
    ROW_GAP_PX = 3, /* above and below the bars of a row */
    PANEL_GAP_PX = 8,
    LEAST_ROW_PX = 9,
    MAX_PAINTS = 8, /* colours of collectives; the rest share one more */
};

/* A file of many bars stays small: a span takes about 50 bytes of an SVG, the hairline around one 65. */
enum { MAX_ALONE = 1200, MAX_SPANS = 2400 };

#define ALONE_PX    3.0  /* shorter bars have no hairline around */
#define FINEST_PX   0.25 /* first tolerance of folding; doubled until the bars are few */
#define COARSEST_PX 16.0

/* The spans of a lane lie at [first, first + n) of the figure's. */
struct lane {
    int32_t run, dim, slot;
    int64_t first, n;
};

struct timeline_fig {
    struct canvas *c;
    struct lanes data;
    struct names *paints; /* names or passes of `data`: what has a colour each */
    bool by_pass;
    struct lane *lanes;       /* shape [n_lanes], owned */
    struct lanes_span *spans; /* shape [n_bars], owned; in `unit` */
    int64_t n_lanes;
    struct unit unit;
    struct axis x;
    double label_px, end_px, panel_px; /* panel_px: of the rows, before the page is scaled */
    struct canvas_box body;
};

static double row_px(const struct timeline_fig *f, int32_t dim)
{
    int32_t n = f->data.n_slots[dim];
    return n == 0 ? 0 : n == 1 ? ROW_PX : fmin(n * SLOT_PX + 2 * ROW_GAP_PX, MOST_ROW_PX);
}

/* The colour of entry i of `paints`. That of a pass belongs to it, not to its place in the file, so that
 * figures of different files agree. */
static int32_t paint_of_entry(const struct timeline_fig *f, int32_t i)
{
    static const char *const passes[] = { "reduce-scatter", "all-gather", "all-to-all",
                                          "all-reduce",     "broadcast",  "send" };
    int32_t n = (int32_t)(sizeof passes / sizeof passes[0]), k = 0;

    while (f->by_pass && k < n && strcmp(passes[k], f->paints->list[i]) != 0)
        k++;
    int32_t at = !f->by_pass ? i : k < n ? k : n + i;
    return BAR_FIRST + (at < MAX_PAINTS ? at : MAX_PAINTS);
}

static int32_t paint_of_bar(const struct timeline_fig *f, const struct lanes_bar *b)
{
    return b->dim == LANES_COMPUTE ? BAR_GREY : paint_of_entry(f, f->by_pass ? b->pass : b->name);
}

/* Cut the sorted bars into lanes. */
static int gather_lanes(struct timeline_fig *f, struct err *e)
{
    const struct lanes_bar *bars = f->data.bars;
    int64_t n = f->data.n_bars;

    f->lanes = calloc((size_t)n + 1, sizeof *f->lanes);
    f->spans = calloc((size_t)n + 1, sizeof *f->spans);
    if (!f->lanes || !f->spans)
        return err_nomem(e, "the figure's bars");
    for (int64_t i = 0; i < n; i++) {
        const struct lanes_bar *b = &bars[i];
        if (i == 0 || b->run != b[-1].run || b->dim != b[-1].dim || b->slot != b[-1].slot)
            f->lanes[f->n_lanes++] =
                (struct lane){ .run = b->run, .dim = b->dim, .slot = b->slot, .first = i };
        f->lanes[f->n_lanes - 1].n++;
        f->spans[i] = (struct lanes_span){ b->start_s / f->unit.scale, b->end_s / f->unit.scale,
                                           paint_of_bar(f, b), false };
    }
    return 0;
}

static int64_t count_longer(const struct timeline_fig *f, double length)
{
    int64_t n = 0;

    for (int64_t i = 0; i < f->data.n_bars; i++)
        n += f->spans[i].end - f->spans[i].start >= length;
    return n;
}

/* The longest bars keep their edges: those from `least` on, which is doubled until they are few. */
static void mark_alone(struct timeline_fig *f, double least)
{
    while (count_longer(f, least) > MAX_ALONE)
        least *= 2;
    for (int64_t i = 0; i < f->data.n_bars; i++)
        f->spans[i].alone = f->spans[i].end - f->spans[i].start >= least;
}

/* Fold every lane; how many spans are left. */
static int64_t fold_lanes(struct timeline_fig *f, double tolerance)
{
    int64_t left = 0;

    for (int64_t i = 0; i < f->n_lanes; i++) {
        struct lane *lane = &f->lanes[i];
        lane->n = lanes_fold(f->spans + lane->first, lane->n, tolerance);
        left += lane->n;
    }
    return left;
}

/* As finely as the number of spans allows, in a picture whose pixel is that long. */
static void fold(struct timeline_fig *f, double px)
{
    double tolerance = FINEST_PX;

    mark_alone(f, ALONE_PX * px);
    while (fold_lanes(f, tolerance * px) > MAX_SPANS && tolerance < COARSEST_PX)
        tolerance *= 2;
}

static void fit_axis(struct timeline_fig *f)
{
    double longest_s = 0;

    for (int32_t k = 0; k < f->data.n_runs; k++)
        longest_s = fmax(longest_s, f->data.runs[k].time_s);
    for (int64_t i = 0; i < f->data.n_bars; i++)
        longest_s = fmax(longest_s, f->data.bars[i].end_s);
    f->unit = unit_pick(unit_seconds, longest_s);
    f->x = axis_bars(longest_s / f->unit.scale);
}

static void fit_rows(struct timeline_fig *f)
{
    f->end_px = canvas_width("100 %", CANVAS_SMALL_PX);
    for (int32_t d = 0; d < LANES_DIMS; d++) {
        if (f->data.n_slots[d] == 0)
            continue;
        double width = canvas_width(f->data.dims.list[f->data.dim_name[d]], CANVAS_SMALL_PX);
        f->label_px = fmax(f->label_px, width);
        f->panel_px += row_px(f, d);
    }
    f->label_px = fmin(f->label_px, canvas_page_width(f->c) / 4);
}

/* Height of a pixel of the rows after scaling, and where panel k begins. */
static double scale_of(const struct timeline_fig *f)
{
    int32_t n = f->data.n_runs;
    double around = n * CANVAS_STRIP_PX + (n - 1) * PANEL_GAP_PX + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX;

    return (f->body.bottom - f->body.top - around) / (n * f->panel_px);
}

static struct canvas_box panel_box(const struct timeline_fig *f, int32_t k)
{
    double height = f->panel_px * scale_of(f);
    double top = f->body.top + k * (height + CANVAS_STRIP_PX + PANEL_GAP_PX) + CANVAS_STRIP_PX;

    return (struct canvas_box){ f->body.left + f->label_px + 8, top, f->body.right - f->end_px - 8,
                                top + height };
}

/* Where the row of a dimension begins in a panel, in pixels before scaling. */
static double row_top(const struct timeline_fig *f, int32_t dim)
{
    double top = 0;

    for (int32_t d = 0; d < dim; d++)
        top += row_px(f, d);
    return top;
}

/* Top and bottom of a lane, in pixels of its panel before scaling. */
static void lane_edges(const struct timeline_fig *f, const struct lane *lane, double *top, double *low)
{
    int32_t n = f->data.n_slots[lane->dim];
    double height = (row_px(f, lane->dim) - 2 * ROW_GAP_PX) / n;

    *top = row_top(f, lane->dim) + ROW_GAP_PX + lane->slot * height;
    *low = *top + height - (n > 1 && height > 4 ? 1 : 0); /* slots keep apart where there is room */
}

static void put_areas(struct timeline_fig *f, int32_t run, int32_t paint)
{
    /* One shape per lane keeps an SVG small. Viewers of PDF show the edge of no height that joins its boxes,
     * and a PDF is compressed: each box is a shape of its own. */
    bool apart = f->c->opt->format == PLOT_PDF;
    double top, low;

    for (int64_t k = 0; k < f->n_lanes; k++) {
        const struct lane *lane = &f->lanes[k];
        bool any = false;
        lane_edges(f, lane, &top, &low);
        for (int64_t i = lane->first; i < lane->first + lane->n && lane->run == run; i++) {
            if (f->spans[i].paint != paint)
                continue;
            if (!any || apart)
                canvas_break(f->c);
            any = true;
            canvas_area(f->c, f->spans[i].start, low, f->spans[i].end, top);
        }
    }
    canvas_block_end(f->c, (struct mark){ MARK_AREA, paint });
}

static void put_hairlines(struct timeline_fig *f, int32_t run)
{
    double top, low;

    for (int64_t k = 0; k < f->n_lanes; k++) {
        const struct lane *lane = &f->lanes[k];
        lane_edges(f, lane, &top, &low);
        for (int64_t i = lane->first; i < lane->first + lane->n && lane->run == run; i++) {
            const struct lanes_span *s = &f->spans[i];
            if (!s->alone)
                continue;
            canvas_break(f->c);
            canvas_area(f->c, s->start, low, s->end, top);
            canvas_point(f->c, s->start, low);
        }
    }
    canvas_block_end(f->c, (struct mark){ MARK_HAIR, 0 });
}

/* Grey where the step is over: white is idle time. */
static void put_rest(struct timeline_fig *f, int32_t run)
{
    double end = f->data.runs[run].time_s / f->unit.scale;

    canvas_area(f->c, end, f->panel_px, f->x.hi, 0);
    canvas_block_end(f->c, (struct mark){ MARK_AREA, BAR_OVER });
}

/* Lines between the rows, and the end of the step over all of them. */
static void put_rules(struct timeline_fig *f, int32_t run)
{
    double end = f->data.runs[run].time_s / f->unit.scale;

    for (int32_t d = 1; d < LANES_DIMS; d++) {
        double y = row_top(f, d);
        if (f->data.n_slots[d] == 0 || y <= 0)
            continue;
        canvas_break(f->c);
        canvas_point(f->c, f->x.lo, y);
        canvas_point(f->c, end, y);
    }
    canvas_block_end(f->c, (struct mark){ MARK_RULE, 0 });
    canvas_point(f->c, end, 0);
    canvas_point(f->c, end, f->panel_px);
    canvas_block_end(f->c, (struct mark){ MARK_FRONT, 0 });
}

/* Three digits, the zeros at the end too: panels compare. */
static void put_time(struct text *out, const struct unit *unit, double seconds)
{
    double x = seconds / unit->scale;
    text_printf(out, "%.*f %s", x < 10 ? 2 : x < 100 ? 1 : 0, x, unit->name);
}

static void put_head(struct timeline_fig *f, int32_t run, const struct canvas_box *box)
{
    const struct lanes_run *r = &f->data.runs[run];
    struct canvas_label at = { .x_px = box->left,
                               .y_px = box->top - CANVAS_STRIP_PX * 0.5,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = box->right - box->left,
                               .color = CANVAS_BLACK };
    const char *order = f->data.orders.list[r->order];
    struct text head = { 0 };

    if (strcmp(order, "guard") == 0)
        text_puts(&head, "each collective in its best order: ");
    else
        text_printf(&head, "%s order: ", order);
    put_time(&head, &f->unit, r->time_s);
    if (r->chosen && f->data.n_runs > 1)
        text_puts(&head, " (chosen)");
    canvas_text(f->c, &at, text_str(&head));
    text_free(&head);
    at.x_px = f->body.right;
    at.align = ALIGN_RIGHT;
    at.size_px = CANVAS_SMALL_PX;
    at.room_px = 0;
    at.color = CANVAS_GREY;
    if (run == 0)
        canvas_text(f->c, &at, "busy");
}

static void put_side_texts(struct timeline_fig *f, int32_t run, const struct canvas_box *box)
{
    struct canvas_label at = { .size_px = CANVAS_SMALL_PX, .color = CANVAS_BLACK };

    for (int32_t d = 0; d < LANES_DIMS; d++) {
        double busy = f->data.runs[run].busy_frac[d];
        if (f->data.n_slots[d] == 0)
            continue;
        at.y_px = box->top + (row_top(f, d) + row_px(f, d) / 2) * scale_of(f);
        at.x_px = box->left - 6;
        at.align = ALIGN_RIGHT;
        at.room_px = f->label_px + 1;
        canvas_text(f->c, &at, f->data.dims.list[f->data.dim_name[d]]);
        if (isnan(busy))
            continue;
        struct text share = { 0 };
        text_printf(&share, "%.0f %%", 100 * busy);
        at.x_px = f->body.right;
        at.room_px = 0;
        canvas_text(f->c, &at, text_str(&share));
        text_free(&share);
    }
}

static void put_panel(struct timeline_fig *f, int32_t run)
{
    struct canvas_box box = panel_box(f, run);
    struct axis x = f->x;

    x.hide = run + 1 < f->data.n_runs;
    canvas_panel(f->c, &box, &x, NULL);
    text_printf(&f->c->script, "set yrange [%.10g:0]\n", f->panel_px);
    put_head(f, run, &box);
    put_side_texts(f, run, &box);
    put_rest(f, run);
    for (int32_t paint = BAR_GREY; paint <= BAR_FIRST + MAX_PAINTS; paint++)
        put_areas(f, run, paint);
    put_hairlines(f, run);
    put_rules(f, run);
    canvas_draw(f->c);
}

static void put_axis_label(struct timeline_fig *f)
{
    struct canvas_box last = panel_box(f, f->data.n_runs - 1);
    struct canvas_label at = { .x_px = (last.left + last.right) / 2,
                               .y_px = last.bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .color = CANVAS_BLACK };
    struct text label = { 0 };

    text_printf(&label, "time [%s]", f->unit.name);
    canvas_text(f->c, &at, text_str(&label));
    text_free(&label);
}

static void put_notes(struct timeline_fig *f)
{
    const struct lanes *l = &f->data;

    if (l->workloads.n > 1)
        canvas_note(f->c, "workload %s, the first of %d", l->workloads.list[0], (int)l->workloads.n);
    else if (l->workloads.list[0][0])
        canvas_note(f->c, "workload %s", l->workloads.list[0]);
    if (l->orders.n > l->n_runs)
        canvas_note(f->c, "first %d of %d orders", (int)l->n_runs, (int)l->orders.n);
    if (l->classes.n > 1)
        canvas_note(f->c, "NPUs of class %d, one of %d", (int)l->npu_class, (int)l->classes.n);
    if (l->n_blank > 0)
        canvas_note(f->c, "%lld rows lack a value and are left out", (long long)l->n_blank);
}

static void put_legend(struct timeline_fig *f)
{
    if (f->data.n_slots[LANES_COMPUTE] > 0)
        canvas_legend(f->c, (struct mark){ MARK_BAR, BAR_GREY }, "compute");
    for (int32_t i = 0; i < f->paints->n && i < MAX_PAINTS; i++)
        canvas_legend(f->c, (struct mark){ MARK_BAR, paint_of_entry(f, i) }, f->paints->list[i]);
    if (f->paints->n > MAX_PAINTS) {
        struct text others = { 0 };
        text_printf(&others, "%d others", (int)f->paints->n - MAX_PAINTS);
        canvas_legend(f->c, (struct mark){ MARK_BAR, BAR_FIRST + MAX_PAINTS }, text_str(&others));
        text_free(&others);
    }
    canvas_legend(f->c, (struct mark){ MARK_FRONT, 0 }, "end of the step");
}

static int draw(struct timeline_fig *f, struct err *e)
{
    int32_t n = f->data.n_runs, n_rows = 0;
    double around = n * CANVAS_STRIP_PX + (n - 1) * PANEL_GAP_PX + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX;

    for (int32_t d = 0; d < LANES_DIMS; d++)
        n_rows += f->data.n_slots[d] > 0;
    put_notes(f);
    put_legend(f);
    int rc = canvas_open(f->c, &f->body, n * f->panel_px + around, n * n_rows * LEAST_ROW_PX + around, e);
    if (rc)
        return rc;
    struct canvas_box box = panel_box(f, 0);
    fold(f, (f->x.hi - f->x.lo) / (box.right - box.left));
    put_axis_label(f);
    for (int32_t k = 0; k < n; k++)
        put_panel(f, k);
    canvas_close(f->c);
    return 0;
}

int fig_timeline(struct canvas *c, const struct rows *r, struct err *e)
{
    struct timeline_fig f = { .c = c };
    int rc = lanes_read(&f.data, r, e);

    /* Where collectives are told apart they have the colours; one alone shows its passes. */
    f.by_pass = f.data.names.n <= 1;
    f.paints = f.by_pass ? &f.data.passes : &f.data.names;
    if (!rc) {
        fit_axis(&f);
        fit_rows(&f);
        rc = gather_lanes(&f, e);
    }
    if (!rc)
        rc = draw(&f, e);
    free(f.lanes);
    free(f.spans);
    lanes_free(&f.data);
    return rc;
}
