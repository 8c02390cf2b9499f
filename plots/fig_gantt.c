#include "plots/fig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/gantt.h"
#include "plots/strips.h"

enum {
    MAX_LANES = 64,   /* servers drawn with their jobs */
    MAX_BOXES = 8000, /* of all panels together: an SVG of two megabytes */
    MAX_LABELS = 600,
    LANES_PX = 720, /* room that all lanes share */
    LEAST_LANE_PX = 11,
    MOST_GPU_PX = 14, /* height of a GPU, as far as lanes are higher than the least */
    MAP_LEAST_PX = 4,
    MAP_ROW_PX = 12,
    JOB_COLORS = 9,
    END_TEXT = 24,
    LABEL_TEXT = 64,
};

#define LANE_GAP_PX 1.5  /* above and below the boxes of a lane */
#define EDGE_PX     3.0  /* narrower boxes have no hairline around */
#define LETTER_PX   13.0 /* height of a box that has its job's name */

/* A change of the GPUs in use in one row of the map. */
struct change {
    int32_t run, row;
    double at;
    int32_t gpus;
};

struct gantt_fig {
    struct canvas *c;
    struct gantt data;
    bool map;                                 /* shares of busy GPUs instead of jobs */
    int32_t n_rows, per_row;                  /* servers in a row */
    char (*labels)[LABEL_TEXT];               /* shape [n_rows], owned */
    char (*end_texts)[END_TEXT];              /* shape [n_panels][n_rows], owned */
    const char **names, **label_list, **ends; /* owned */
    struct text *name_texts;                  /* shape [n_panels], owned */
    double *tops; /* shape [n_rows+1], owned: of the lanes in pixels, before the page is scaled */
    struct axis x;
    struct unit unit;
    int32_t n_labels;         /* names of jobs written */
    struct change *changes;   /* shape [2 * n_stays], owned */
    struct lanes_span *spans; /* shape [2 * n_stays], owned */
    struct strips_row *rows;  /* shape [n_panels * n_rows], owned */
    int64_t first_row[RUNS_MAX + 1];
    bool used[STRIPS_PAINTS];
};

static int32_t most_gpus(const struct gantt_fig *f, int32_t run, int32_t server)
{
    return f->data.most_gpus[(int64_t)run * f->data.n_servers + server];
}

/* ---- jobs ---- */

static int32_t color_of(int32_t job)
{
    return BAR_FIRST + job % JOB_COLORS;
}

static void put_job_name(struct gantt_fig *f, const struct gantt_box *b, const struct canvas_box *at)
{
    const char *name = f->data.jobs.list[b->job];
    double width = canvas_width(name, CANVAS_SMALL_PX);

    if (at->bottom - at->top < LETTER_PX || at->right - at->left < width + 4 || f->n_labels == MAX_LABELS)
        return;
    f->n_labels++;
    struct canvas_label where = { .x_px = (at->left + at->right) / 2,
                                  .y_px = (at->top + at->bottom) / 2,
                                  .align = ALIGN_CENTER,
                                  .size_px = CANVAS_SMALL_PX,
                                  .color =
                                      marks_bar_is_dark(color_of(b->job)) ? CANVAS_WHITE : CANVAS_BLACK };
    canvas_text(f->c, &where, name);
}

/* The most GPUs of the server in use at once, over all runs. */
static int32_t gpus_of_lane(const struct gantt_fig *f, int32_t server)
{
    int32_t most = 0;

    for (int32_t k = 0; k < f->data.runs.n; k++)
        most = most_gpus(f, k, server) > most ? most_gpus(f, k, server) : most;
    return most;
}

/* Lanes are as high as their GPUs, where that is not too low to be seen. */
static int put_tops(struct gantt_fig *f, struct err *e)
{
    double sum = 0;

    f->tops = calloc((size_t)f->n_rows + 1, sizeof *f->tops);
    if (!f->tops)
        return err_nomem(e, "the figure's lanes");
    for (int32_t i = 0; i < f->n_rows; i++)
        sum += gpus_of_lane(f, i);
    double gpu_px = fmin(MOST_GPU_PX, LANES_PX / (sum * f->data.runs.n));
    for (int32_t i = 0; i < f->n_rows; i++)
        f->tops[i + 1] = f->tops[i] + fmax(LEAST_LANE_PX, gpu_px * gpus_of_lane(f, i) + 2 * LANE_GAP_PX);
    return 0;
}

/* Top and bottom of a box in its panel. */
static void box_edges(const struct gantt_fig *f, const struct gantt_box *b, double *top, double *low)
{
    double height = f->tops[b->server + 1] - f->tops[b->server] - 2 * LANE_GAP_PX;
    double each = height / gpus_of_lane(f, b->server);

    *top = f->tops[b->server] + LANE_GAP_PX + b->gpu * each;
    *low = *top + b->n_gpus * each;
}

static void put_boxes(struct gantt_fig *f, int32_t run, int32_t color, double px)
{
    /* Hairlines around narrow boxes would hide them. */
    for (int wide = 0; wide < 2; wide++) {
        for (int64_t i = 0; i < f->data.n_boxes; i++) {
            const struct gantt_box *b = &f->data.boxes[i];
            double from = b->from / f->unit.scale, to = b->to / f->unit.scale, top, low;
            if (b->run != run || color_of(b->job) != color || (to - from >= EDGE_PX * px) != wide)
                continue;
            box_edges(f, b, &top, &low);
            if (wide) {
                canvas_bar(f->c, from, low, to, top);
            } else {
                canvas_break(f->c);
                canvas_area(f->c, from, low, to, top);
            }
        }
        canvas_block_end(f->c, (struct mark){ wide ? MARK_BAR : MARK_AREA, color });
    }
}

static void paint_jobs(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct gantt_fig *f = of;
    double px = (f->x.hi - f->x.lo) / (box->right - box->left),
           row_px = (box->bottom - box->top) / f->tops[f->n_rows];

    (void)c;
    for (int64_t i = 0; i < f->data.n_boxes; i++) {
        const struct gantt_box *b = &f->data.boxes[i];
        double top, low;
        if (b->run != panel)
            continue;
        box_edges(f, b, &top, &low);
        struct canvas_box at = { box->left + b->from / f->unit.scale / px, box->top + top * row_px,
                                 box->left + b->to / f->unit.scale / px, box->top + low * row_px };
        put_job_name(f, b, &at);
    }
    for (int32_t i = 0; i < JOB_COLORS; i++)
        put_boxes(f, panel, BAR_FIRST + i, px);
}

/* ---- the map of busy GPUs ---- */

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->gpus > y->gpus) - (x->gpus < y->gpus);
}

/* GPUs of a row: the most in use at once on each of its servers. */
static int32_t gpus_of_row(const struct gantt_fig *f, int32_t run, int32_t row)
{
    int32_t sum = 0;

    for (int32_t i = row * f->per_row; i < (row + 1) * f->per_row && i < f->data.n_servers; i++)
        sum += most_gpus(f, run, i);
    return sum;
}

/* Spans between the changes of each row. */
static void gather_spans(struct gantt_fig *f, int64_t n_changes)
{
    int64_t n = 0, n_rows = 0;
    int32_t busy = 0;

    for (int64_t i = 0; i < n_changes; i++) {
        const struct change *x = &f->changes[i];
        if (i == 0 || x->run != x[-1].run || x->row != x[-1].row) {
            f->rows[n_rows] = (struct strips_row){ .row = x->row, .spans = f->spans + n };
            f->first_row[x->run + 1] = ++n_rows;
            busy = 0;
        }
        busy += x->gpus;
        bool last = i + 1 == n_changes || x[1].run != x->run || x[1].row != x->row;
        if (last || !(x[1].at > x->at))
            continue;
        int32_t paint = strips_paint((double)busy / gpus_of_row(f, x->run, x->row));
        f->used[paint] = true;
        f->spans[n++] = (struct lanes_span){ x->at / f->unit.scale, x[1].at / f->unit.scale, paint, false };
        f->rows[n_rows - 1].n++;
    }
    for (int32_t k = 0; k < f->data.runs.n; k++) /* a run without rows */
        if (f->first_row[k + 1] < f->first_row[k])
            f->first_row[k + 1] = f->first_row[k];
}

static int make_map(struct gantt_fig *f, struct err *e)
{
    size_t n = (size_t)f->data.n_stays, n_rows = (size_t)f->data.runs.n * (size_t)f->n_rows;

    f->changes = calloc(2 * n, sizeof *f->changes);
    f->spans = calloc(2 * n, sizeof *f->spans);
    f->rows = calloc(n_rows, sizeof *f->rows);
    if (!f->changes || !f->spans || !f->rows)
        return err_nomem(e, "the figure's rows");
    for (size_t i = 0; i < n; i++) {
        const struct gantt_stay *s = &f->data.stays[i];
        int32_t row = s->server / f->per_row;
        f->changes[2 * i] = (struct change){ s->run, row, s->from, s->n_gpus };
        f->changes[2 * i + 1] = (struct change){ s->run, row, s->to, -s->n_gpus };
    }
    qsort(f->changes, 2 * n, sizeof *f->changes, compare_changes);
    gather_spans(f, (int64_t)(2 * n));
    return 0;
}

static void paint_map(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct gantt_fig *f = of;

    strips_put_rows(c, f->rows + f->first_row[panel], f->first_row[panel + 1] - f->first_row[panel],
                    (f->x.hi - f->x.lo) / (box->right - box->left));
}

/* ---- the page ---- */

static int alloc_texts(struct gantt_fig *f, struct err *e)
{
    size_t n_rows = (size_t)f->n_rows, n = (size_t)f->data.runs.n * n_rows;

    f->labels = calloc(n_rows, sizeof *f->labels);
    f->label_list = calloc(n_rows, sizeof *f->label_list);
    f->end_texts = calloc(n, sizeof *f->end_texts);
    f->ends = calloc(n, sizeof *f->ends);
    f->names = calloc(RUNS_MAX, sizeof *f->names);
    f->name_texts = calloc(RUNS_MAX, sizeof *f->name_texts);
    if (!f->labels || !f->label_list || !f->end_texts || !f->ends || !f->names || !f->name_texts)
        return err_nomem(e, "the figure's labels");
    return 0;
}

static int put_texts(struct gantt_fig *f, struct err *e)
{
    const struct runs *r = &f->data.runs;
    int rc = alloc_texts(f, e);

    for (int32_t i = 0; i < f->n_rows && !rc; i++) {
        const char *name = text_str(&f->data.servers[(int64_t)i * f->per_row].name);
        struct text label = { 0 };
        canvas_put_short(&label, name, 30);
        snprintf(f->labels[i], LABEL_TEXT, "%s%s", text_str(&label), f->per_row > 1 ? " …" : "");
        f->label_list[i] = f->labels[i];
        text_free(&label);
    }
    for (int32_t k = 0; k < r->n && !rc; k++) {
        double end = r->end[k] / f->unit.scale;
        text_printf(&f->name_texts[k], "%s: %.4g %s", r->schedulers.list[k], end, f->unit.name);
        f->names[k] = text_str(&f->name_texts[k]);
        rc = text_check(&f->name_texts[k], e);
        for (int32_t i = 0; i < f->n_rows; i++) {
            int64_t at = (int64_t)k * f->n_rows + i;
            snprintf(f->end_texts[at], END_TEXT, "%d", (int)gpus_of_row(f, k, i));
            f->ends[at] = f->end_texts[at];
        }
    }
    return rc;
}

static void put_notes(struct gantt_fig *f)
{
    int32_t n = f->data.n_servers;

    runs_put_notes(f->c, &f->data.runs);
    if (!f->map) {
        canvas_note(f->c, "GPUs: the most of a server in use at once");
        if (f->data.jobs.n > JOB_COLORS)
            canvas_note(f->c, "%d jobs, whose colours repeat", (int)f->data.jobs.n);
        return;
    }
    canvas_note(f->c, "busy GPUs, of the most in use at once; white: idle");
    if (f->per_row > 1)
        canvas_note(f->c, "%d servers, %d to a row", (int)n, (int)f->per_row);
    if (n > MAX_LANES)
        canvas_note(f->c, "jobs are drawn of up to %d servers: --where server=N", MAX_LANES);
    else
        canvas_note(f->c, "jobs are drawn where they make up to %d boxes: --where server=N", MAX_BOXES);
}

static void put_legend(struct gantt_fig *f)
{
    if (f->map) {
        strips_put_legend(f->c, f->used);
        return;
    }
    for (int32_t i = 0; i < f->data.jobs.n && f->data.jobs.n <= JOB_COLORS; i++)
        canvas_legend(f->c, (struct mark){ MARK_BAR, color_of(i) }, f->data.jobs.list[i]);
}

static int draw(struct gantt_fig *f, struct err *e)
{
    struct text label = { 0 };
    put_notes(f);
    put_legend(f);
    text_printf(&label, "time [%s]", f->unit.name);
    struct strips_spec spec = { .names = f->names,
                                .tops = f->tops,
                                .unit_px = f->map ? MAP_ROW_PX : 1,
                                .least_unit_px = f->map ? MAP_LEAST_PX : 0.5,
                                .n_panels = f->data.runs.n,
                                .n_rows = f->n_rows,
                                .labels = f->label_list,
                                .ends = f->ends,
                                .end_label = "GPUs",
                                .x = f->x,
                                .x_label = text_str(&label),
                                .paint = f->map ? paint_map : paint_jobs,
                                .of = f };
    int rc = text_check(&label, e);
    if (!rc)
        rc = strips_build(f->c, &spec, e);
    text_free(&label);
    return rc;
}

static void free_fig(struct gantt_fig *f)
{
    for (int32_t k = 0; k < RUNS_MAX && f->name_texts; k++)
        text_free(&f->name_texts[k]);
    free(f->name_texts);
    free(f->labels);
    free(f->label_list);
    free(f->end_texts);
    free(f->ends);
    free(f->names);
    free(f->tops);
    free(f->changes);
    free(f->spans);
    free(f->rows);
    gantt_free(&f->data);
}

int fig_gantt(struct canvas *c, const struct rows *r, struct err *e)
{
    struct gantt_fig f = { .c = c };
    int rc = gantt_read(&f.data, r, e);

    if (!rc) {
        int32_t n = f.data.n_servers;
        f.x = runs_axis(&f.data.runs, &f.unit);
        f.map = n > MAX_LANES || f.data.n_boxes > MAX_BOXES;
        f.per_row = f.map ? (n + MAX_LANES - 1) / MAX_LANES : 1;
        f.n_rows = (n + f.per_row - 1) / f.per_row;
        rc = put_texts(&f, e);
    }
    if (!rc)
        rc = f.map ? make_map(&f, e) : put_tops(&f, e);
    if (!rc)
        rc = draw(&f, e);
    free_fig(&f);
    return rc;
}
