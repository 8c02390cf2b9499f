/*
 * A step over time, from `weft sim --timeline`: a panel per order of the dimensions, a row per lane (compute,
 * host and each class of links of a stage) with a sub-row for each slot, whose bars do not overlap. Of the
 * first workload, its first four orders, and the lowest class of NPUs: the others do the same at other
 * speeds.
 *
 * A lane's spans are folded to a few thousand for all panels together (lanes.h), but the longest bars keep an
 * edge of their own, by which single collectives can be told. Time O(bars log bars).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/columns.h"
#include "plots/fig.h"
#include "plots/lanes.h"

/* Dimension 0 is compute and the host. */
enum { COMPUTE, MAX_ROWS = 64, MAX_RUNS = 4, MAX_SLOTS = 2000 };

enum {
    ROW_PX = 26,  /* of a dimension with one slot */
    SLOT_PX = 11, /* of one of several */
    MOST_ROW_PX = 168,
    ROW_GAP_PX = 3, /* above and below the bars of a row */
    LEAST_ROW_PX = 9,
    MAX_PAINTS = 8, /* colours of collectives; the rest share one more */
};

/* A file of many bars stays small: a span takes about 50 bytes of an SVG, the hairline around one 65. */
enum { MAX_ALONE = 1200, MAX_SPANS = 2400, COARSEST_PX = 16 };

#define ALONE_PX 3.0 /* shorter bars have no hairline around */

enum {
    WORKLOAD,
    START,
    END,
    BUSY,
    EVENTS,
    TIME,
    MODEL,
    RUN,
    LANE,
    DIM,
    SLOT,
    CLASS,
    CLASS_NAME,
    STAGE,
    ROW,
    CHOSEN,
    NAME,
    PASS,
    N_BINDS
};
static const struct bind binds[N_BINDS] = {
    [WORKLOAD] = { .column = "workload", AS_WORD, NEED, .most = 1 },
    [START] = { .column = "start_s", AS_NUMBER, FILLED },
    [END] = { .column = "end_s", AS_NUMBER, FILLED },
    [TIME] = { .column = COL_TIME_S, AS_ABOVE_ZERO, FILLED },
    [BUSY] = { .column = "busy_s", AS_NUMBER, FILLED },
    [EVENTS] = { .column = "events", AS_ABOVE_ZERO, FILLED },
    [MODEL] = { .column = "model", AS_WORD, NEED },
    [RUN] = { .column = "order", AS_WORD, NEED, .most = MAX_RUNS },
    [LANE] = { .column = "lane", AS_COUNT, NEED, .most = MAX_ROWS - 1 },
    [DIM] = { .column = "dim", AS_COUNT, NEED, .most = INT32_MAX },
    [STAGE] = { .column = "stage", AS_WORD, NEED },
    [SLOT] = { .column = "slot", AS_COUNT, NEED, .most = MAX_SLOTS - 1 },
    [CLASS] = { .column = "npu_class", AS_COUNT, NEED, .most = INT32_MAX },
    [CLASS_NAME] = { .column = "npu_class", AS_WORD, NEED },
    [ROW] = { .column = "row", AS_WORD, NEED },
    [CHOSEN] = { .column = "chosen", AS_WORD, NEED },
    [NAME] = { .column = "name", AS_WORD, NEED },
    [PASS] = { .column = "pass", AS_WORD, NEED },
};

struct timeline_figure {
    struct canvas *c;
    struct data data;
    int64_t *order, n; /* rows of the class, by run, lane, slot, start */
    int32_t npu_class, n_runs;
    const char *lane_names[MAX_ROWS];
    bool computes;
    int32_t n_slots[MAX_ROWS];
    double time_s[MAX_RUNS], busy_frac[MAX_RUNS][MAX_ROWS]; /* share of the step */
    double n_folded;                                        /* bars that others stand for */
    bool chosen[MAX_RUNS];
    struct names paints; /* names of collectives, or passes of one alone: what has a colour each */
    bool by_pass;
    struct lane *lanes;      /* shape [n_lanes] */
    struct lane_span *spans; /* shape [n], in `unit` */
    int64_t n_lanes;
    struct unit unit;
    struct axis x;
    double tops[MAX_ROWS + 1]; /* of the lanes, in pixels before scaling */
};

/* ---- reading ---- */

static const char *timeline_word_of(const struct timeline_figure *f, int bind, int64_t i)
{
    return f->data.words[bind].list[f->data.word[bind][i]];
}

/* What the rows say of runs and lanes, be they of the class that is drawn or not. Runs are the orders of
 * dimensions, numbered as they come in the table; the first four. */
static int survey_rows(struct timeline_figure *f, struct names *names, struct names *passes, struct err *e)
{
    const struct data *d = &f->data;
    struct rows r = d->r;

    f->npu_class = INT32_MAX;
    for (int64_t i = 0; i < d->n; i++) {
        int32_t run = d->word[RUN][i];
        const char *stage = timeline_word_of(f, STAGE, i), *row = timeline_word_of(f, ROW, i);
        r.row = d->row[i];
        if (d->x[END][i] < d->x[START][i])
            return rows_fault(&r, "end_s", e, "%g, expected at least its start_s %g", d->x[END][i],
                              d->x[START][i]);
        if (run >= f->n_runs) {
            f->n_runs = run + 1;
            f->time_s[run] = d->x[TIME][i];
            f->chosen[run] = strcmp(timeline_word_of(f, CHOSEN, i), "yes") == 0;
        }
        f->npu_class = d->word[CLASS][i] < f->npu_class ? d->word[CLASS][i] : f->npu_class;
        const char **name = &f->lane_names[d->word[LANE][i]];
        if (!*name)
            *name = canvas_keep(f->c, "%s%s%s", stage, *stage ? ": " : "", row);
        /* Compute is told from collectives by its place, not by its name. */
        if (d->word[DIM][i] == COMPUTE)
            continue;
        names_add(f->c, names, timeline_word_of(f, NAME, i));
        names_add(f->c, passes, timeline_word_of(f, PASS, i));
    }
    return 0;
}

/* How busy each lane is, and how many bars are folded into others. */
static void find_busy(struct timeline_figure *f)
{
    const struct data *d = &f->data;

    for (int64_t k = 0; k < f->n; k++) {
        int64_t i = f->order[k];
        int32_t run = d->word[RUN][i];
        f->busy_frac[run][d->word[LANE][i]] += d->x[BUSY][i] / f->time_s[run];
        f->n_folded += d->x[EVENTS][i] > 1 ? d->x[EVENTS][i] : 0;
        f->computes = f->computes || d->word[DIM][i] == COMPUTE;
    }
}

static int read_timeline(struct timeline_figure *f, struct err *e)
{
    const struct data *d = &f->data;
    const struct sort_key lanes[] = { { .word = d->word[RUN] },
                                      { .word = d->word[LANE] },
                                      { .word = d->word[SLOT] },
                                      { .x = d->x[START] },
                                      { .x = d->x[END] } };
    struct names names = { 0 }, passes = { 0 };

    int rc = survey_rows(f, &names, &passes, e);
    f->order = canvas_new(f->c, d->n, sizeof *f->order, e);
    if (rc || !f->order)
        return rc ? rc : ERR_NOMEM;
    for (int64_t i = 0; i < d->n; i++)
        if (d->word[CLASS][i] == f->npu_class) {
            int32_t *n = &f->n_slots[d->word[LANE][i]];
            *n = d->word[SLOT][i] < *n ? *n : d->word[SLOT][i] + 1;
            f->order[f->n++] = i;
        } else {
            data_leave_out(d, i, "of other classes of NPUs");
        }
    find_busy(f);
    /* Where collectives are told apart they have the colours; one alone shows its passes. */
    f->by_pass = names.n <= 1;
    f->paints = f->by_pass ? passes : names;
    return data_sort(f->order, f->n, lanes, 5, e);
}

/* ---- lanes ---- */

/* Height before the page is scaled; 0 of a lane without bars. */
static double row_px(const struct timeline_figure *f, int32_t lane)
{
    int32_t n = f->n_slots[lane];
    return n == 0 ? 0 : n == 1 ? ROW_PX : fmin(n * SLOT_PX + 2 * ROW_GAP_PX, MOST_ROW_PX);
}

/* The colour of entry i of `paints`. That of a pass belongs to it, not to its place in the file, so that
 * figures of different files agree. */
static int32_t paint_of(const struct timeline_figure *f, int32_t i)
{
    static const char *const passes[] = { "reduce-scatter", "all-gather", "all-to-all",
                                          "all-reduce",     "broadcast",  "send" };
    int32_t n = (int32_t)(sizeof passes / sizeof passes[0]), k = 0;

    while (f->by_pass && k < n && strcmp(passes[k], f->paints.list[i]) != 0)
        k++;
    int32_t at = !f->by_pass ? i : k < n ? k : n + i;
    return BAR_FIRST + (at < MAX_PAINTS ? at : MAX_PAINTS);
}

static struct lane begin_lane(const struct timeline_figure *f, int64_t i, struct lane_span *spans)
{
    const struct data *d = &f->data;
    int32_t lane = d->word[LANE][i], n = f->n_slots[lane];
    double height = (row_px(f, lane) - 2 * ROW_GAP_PX) / n;
    double top = f->tops[lane] + ROW_GAP_PX + d->word[SLOT][i] * height;

    /* Slots keep apart where there is room. */
    return (struct lane){ .panel = d->word[RUN][i],
                          .top = top,
                          .low = top + height - (n > 1 && height > 4 ? 1 : 0),
                          .spans = spans };
}

/* Cut the sorted bars into lanes. */
static int timeline_gather_lanes(struct timeline_figure *f, struct err *e)
{
    const struct data *d = &f->data;

    f->lanes = canvas_new(f->c, f->n, sizeof *f->lanes, e);
    f->spans = canvas_new(f->c, f->n, sizeof *f->spans, e);
    if (!f->lanes || !f->spans)
        return ERR_NOMEM;
    for (int64_t k = 0; k < f->n; k++) {
        int64_t i = f->order[k], last = k ? f->order[k - 1] : -1;
        bool compute = d->word[DIM][i] == COMPUTE;
        if (last < 0 || d->word[RUN][i] != d->word[RUN][last] || d->word[LANE][i] != d->word[LANE][last] ||
            d->word[SLOT][i] != d->word[SLOT][last])
            f->lanes[f->n_lanes++] = begin_lane(f, i, f->spans + k);
        f->lanes[f->n_lanes - 1].n++;
        f->spans[k] = (struct lane_span){
            d->x[START][i] / f->unit.scale, d->x[END][i] / f->unit.scale,
            compute ? BAR_GREY
                    : paint_of(f, names_find(&f->paints, timeline_word_of(f, f->by_pass ? PASS : NAME, i))),
            false
        };
    }
    return 0;
}

static int64_t count_longer(const struct timeline_figure *f, double length)
{
    int64_t n = 0;

    for (int64_t i = 0; i < f->n; i++)
        n += f->spans[i].end - f->spans[i].start >= length;
    return n;
}

/* The longest bars keep their edges: those from `least` on, which is doubled until they are few. At most
 * MAX_ALONE of them, whatever `least` was. Ends for any bars, as no bar is longer than the axis. */
static void mark_alone(struct timeline_figure *f, double least)
{
    while (count_longer(f, least) > MAX_ALONE)
        least *= 2;
    for (int64_t i = 0; i < f->n; i++)
        f->spans[i].alone = f->spans[i].end - f->spans[i].start >= least;
}

/* ---- panels ---- */

static void put_hairlines(struct timeline_figure *f, int32_t run)
{
    for (int64_t k = 0; k < f->n_lanes; k++) {
        const struct lane *lane = &f->lanes[k];
        for (int64_t i = 0; i < lane->n && lane->panel == run; i++) {
            const struct lane_span *s = &lane->spans[i];
            if (!s->alone)
                continue;
            canvas_break(f->c);
            canvas_area(f->c, s->start, lane->low, s->end, lane->top);
            canvas_point(f->c, s->start, lane->low);
        }
    }
    canvas_block_end(f->c, (struct mark){ MARK_HAIR, 0 });
}

/* Lines between the rows, and the end of the step over all of them. A row that begins at 0 needs none above
 * it: that is the frame. */
static void timeline_put_rules(struct timeline_figure *f, double end)
{
    for (int32_t d = 1; d < MAX_ROWS; d++) {
        if (f->n_slots[d] == 0 || f->tops[d] <= 0)
            continue;
        canvas_break(f->c);
        canvas_point(f->c, f->x.lo, f->tops[d]);
        canvas_point(f->c, end, f->tops[d]);
    }
    canvas_block_end(f->c, (struct mark){ MARK_RULE, 0 });
    canvas_line(f->c, (struct mark){ MARK_FRONT, 0 }, end, 0, end, f->tops[MAX_ROWS]);
}

/* Three digits, the zeros at the end too: panels compare. */
static const char *name_run(const struct timeline_figure *f, int32_t run)
{
    const char *order = f->data.words[RUN].list[run], *model = f->data.words[MODEL].list[0];
    bool guard = strcmp(order, "guard") == 0, chunk = strcmp(model, "chunk") == 0;
    double x = f->time_s[run] / f->unit.scale;

    return canvas_keep(f->c, "%s%s%.*f %s%s",
                       !chunk  ? "model "
                       : guard ? "each collective in its best order: "
                               : order,
                       !chunk  ? canvas_keep(f->c, "%s: ", model)
                       : guard ? ""
                               : " order: ",
                       x < 10    ? 2
                       : x < 100 ? 1
                                 : 0,
                       x, f->unit.name, f->chosen[run] && f->n_runs > 1 ? " (chosen)" : "");
}

/* How many pixels long spans are is known with the first panel; all are as wide. */
static void paint_run(struct canvas *c, const struct canvas_box *box, int32_t run, void *of)
{
    struct timeline_figure *f = of;
    double end = f->time_s[run] / f->unit.scale, px = (f->x.hi - f->x.lo) / (box->right - box->left);

    if (run == 0) {
        mark_alone(f, ALONE_PX * px);
        lanes_fold(f->lanes, f->n_lanes, MAX_SPANS, px, COARSEST_PX);
    }
    /* Grey where the step is over: white is idle time. */
    canvas_area(c, end, f->tops[MAX_ROWS], f->x.hi, 0);
    canvas_block_end(c, (struct mark){ MARK_AREA, BAR_OVER });
    for (int32_t paint = BAR_GREY; paint <= BAR_FIRST + MAX_PAINTS; paint++)
        lanes_put(c, f->lanes, f->n_lanes, run, paint, (struct mark){ MARK_AREA, paint });
    put_hairlines(f, run);
    timeline_put_rules(f, end);
}

/* ---- the page ---- */

static void timeline_fit(struct timeline_figure *f)
{
    double longest_s = 0;

    for (int32_t k = 0; k < f->n_runs; k++)
        longest_s = fmax(longest_s, f->time_s[k]);
    for (int64_t k = 0; k < f->n; k++)
        longest_s = fmax(longest_s, f->data.x[END][f->order[k]]);
    f->unit = unit_pick(unit_seconds, longest_s);
    f->x = axis_bars(longest_s / f->unit.scale);
    for (int32_t d = 0; d < MAX_ROWS; d++)
        f->tops[d + 1] = f->tops[d] + row_px(f, d);
}

static void timeline_put_notes(struct timeline_figure *f)
{
    const struct names *workloads = &f->data.words[WORKLOAD], *orders = &f->data.words[RUN];

    if (workloads->n > 1)
        canvas_note(f->c, "workload %s, the first of %d", workloads->list[0], (int)workloads->n);
    else if (workloads->list[0][0])
        canvas_note(f->c, "workload %s", workloads->list[0]);
    canvas_note_first(f->c, f->n_runs, orders->n, "orders");
    if (f->data.words[CLASS_NAME].n > 1)
        canvas_note(f->c, "NPUs of class %d, one of %d", (int)f->npu_class, (int)f->data.words[CLASS_NAME].n);
    if (f->n_folded > 0)
        canvas_note(f->c, "folded: %.0f bars of repeats, a bar a lane for those that follow the first",
                    f->n_folded);
}

static void timeline_put_legend(struct timeline_figure *f)
{
    if (f->computes)
        canvas_legend(f->c, (struct mark){ MARK_BAR, BAR_GREY }, "compute");
    for (int32_t i = 0; i < f->paints.n && i < MAX_PAINTS; i++)
        canvas_legend(f->c, (struct mark){ MARK_BAR, paint_of(f, i) }, f->paints.list[i]);
    if (f->paints.n > MAX_PAINTS)
        canvas_legend(f->c, (struct mark){ MARK_BAR, BAR_FIRST + MAX_PAINTS },
                      canvas_keep(f->c, f->paints.n == MAX_PAINTS + 1 ? "%d other" : "%d others",
                                  (int)f->paints.n - MAX_PAINTS));
    canvas_legend(f->c, (struct mark){ MARK_FRONT, 0 }, "end of the step");
}

static int draw_timeline(struct timeline_figure *f, struct err *e)
{
    const char *names[MAX_RUNS], *labels[MAX_ROWS], *ends[MAX_RUNS * MAX_ROWS];
    double tops[MAX_ROWS + 1];
    int32_t n_rows = 0, lanes[MAX_ROWS] = { 0 }; /* those with bars */

    for (int32_t k = 0; k < MAX_ROWS; k++)
        if (f->n_slots[k] > 0) {
            labels[n_rows] = f->lane_names[k];
            tops[n_rows] = f->tops[k];
            lanes[n_rows++] = k;
        }
    tops[n_rows] = f->tops[MAX_ROWS];
    for (int32_t run = 0; run < f->n_runs; run++) {
        names[run] = name_run(f, run);
        for (int32_t i = 0; i < n_rows; i++) {
            ends[run * n_rows + i] = canvas_keep(f->c, "%.0f %%", 100 * f->busy_frac[run][lanes[i]]);
        }
    }
    timeline_put_notes(f);
    timeline_put_legend(f);
    const struct strips spec = { .names = names,
                                 .n_panels = f->n_runs,
                                 .n_rows = n_rows,
                                 .tops = tops,
                                 .labels = labels,
                                 .ends = ends,
                                 .end_px = canvas_width("100 %", CANVAS_SMALL_PX),
                                 .end_label = "busy",
                                 .unit_px = 1,
                                 .least_unit_px = n_rows * LEAST_ROW_PX / tops[n_rows],
                                 .plain = true,
                                 .x = f->x,
                                 .x_label = canvas_keep(f->c, "time [%s]", f->unit.name),
                                 .paint = paint_run,
                                 .of = f };
    return strips_build(f->c, &spec, e);
}

int fig_timeline(struct canvas *c, const struct rows *r, struct err *e)
{
    struct timeline_figure f = { .c = c };
    int rc = data_read(&f.data, c, r, binds, N_BINDS, e);

    if (!rc)
        rc = read_timeline(&f, e);
    if (rc)
        return rc;
    timeline_fit(&f);
    rc = timeline_gather_lanes(&f, e);
    return rc ? rc : draw_timeline(&f, e);
}
