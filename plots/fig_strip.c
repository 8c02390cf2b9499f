#include "plots/fig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/assigned.h"
#include "plots/strips.h"

/* Heights of a row: its boxes, and below them the units of its stages. */
enum {
    BOX_TOP_PX = 3,
    BOX_PX = 14,
    TEXT_PX = 13,
    ROW_PX = BOX_TOP_PX + BOX_PX + TEXT_PX,
    LEAST_ROW_PX = 24,  /* lower rows have no units */
    TURNED_PX = 8,      /* a stage so wide has room for a number turned upright; */
    TURNED_TEXT_PX = 9, /* three digits of this size fit below it */
    NAME = 80,          /* characters of a point's name */
    LINE_PX = 17,       /* names of layers side by side; */
    MOST_NAME_PX = 64,  /* and turned upright */
    UPRIGHT_PX = 12,    /* that needs a layer so wide */
    LAYER_PX = 4,       /* narrower layers have no edges: a box is a stage */
    TIC_PX = 20,        /* narrower layers have no number each */
    END_TEXT = 24,
};

#define STAGE_GAP_PX 1.5 /* free at both ends of a stage */

/* Layers first..last, counted from 0, of one stage. */
struct stage {
    int32_t first, last;
};

struct strip_fig {
    struct canvas *c;
    struct assigned data;
    int32_t n_layers[ASSIGNED_MAX_POINTS];
    bool same_layers;         /* as many in each panel */
    double head_px, layer_px; /* of the names of layers; width of a layer, an estimate */
    double tops[ASSIGNED_MAX_PLANS + 2];
    struct text names[ASSIGNED_MAX_POINTS]; /* owned */
    char ends[ASSIGNED_MAX_POINTS][ASSIGNED_MAX_PLANS][END_TEXT];
    bool *used; /* shape [types.n], owned */
    bool any_end;
};

/* The stage that begins at layer `first`: layers of one number and type. False at the end of the plan. */
static bool next_stage(struct stage *s, const struct strip_fig *f, const struct assigned_cell *plan,
                       int32_t first)
{
    while (first < f->data.n_layers && plan[first].type < 0)
        first++;
    if (first == f->data.n_layers)
        return false;
    s->first = s->last = first;
    while (s->last + 1 < f->data.n_layers && plan[s->last + 1].type == plan[first].type &&
           plan[s->last + 1].stage == plan[first].stage)
        s->last++;
    return true;
}

/* ---- before the page is open ---- */

/* What all units of a plan cost; NaN when something is not known. */
static double usd_per_h(const struct strip_fig *f, const struct assigned_cell *plan)
{
    struct stage s = { 0, -1 };
    double sum = 0;
    bool any = false;

    while (next_stage(&s, f, plan, s.last + 1)) {
        sum += plan[s.first].units * plan[s.first].unit_usd_per_h;
        any = true;
    }
    return any ? sum : (double)NAN;
}

static void fill_ends(struct strip_fig *f)
{
    for (int32_t k = 0; k < f->data.points.n; k++)
        for (int32_t i = 0; i < f->data.n_plans; i++) {
            double usd = usd_per_h(f, assigned_plan(&f->data, k, i));
            if (!isfinite(usd))
                continue;
            snprintf(f->ends[k][i], END_TEXT, usd < 1e12 ? "%.*f" : "%.*g",
                     usd < 100   ? 2
                     : usd < 1e4 ? 1
                                 : 0,
                     usd);
            f->any_end = true;
        }
}

/* Panels of fewer layers have wider ones. */
static void count_layers(struct strip_fig *f)
{
    const struct assigned *d = &f->data;

    f->same_layers = true;
    for (int32_t k = 0; k < d->points.n; k++) {
        for (int32_t i = 0; i < d->n_layers; i++)
            if (d->layers[(int64_t)k * d->n_layers + i] >= 0)
                f->n_layers[k] = i + 1;
        f->same_layers = f->same_layers && f->n_layers[k] == f->n_layers[0];
    }
}

/* How wide a layer is about, and which room its name takes: beside its neighbours', else upright. */
static void fit_names(struct strip_fig *f)
{
    const struct assigned *d = &f->data;
    double label_px = 0, name_px = 0, page_px = canvas_page_width(f->c);

    for (int32_t i = 0; i < d->n_plans; i++)
        label_px = fmax(label_px, canvas_width(d->schedulers.list[i], CANVAS_SMALL_PX));
    for (int32_t i = 0; i < d->words.n; i++)
        name_px = fmax(name_px, canvas_width(d->words.list[i], CANVAS_SMALL_PX));
    f->layer_px = (page_px - fmin(label_px, page_px / 3.5) - 100) / d->n_layers;
    if (CANVAS_LEAST_SHRINK * name_px <= f->layer_px - 2)
        f->head_px = LINE_PX;
    else if (f->layer_px >= UPRIGHT_PX)
        f->head_px = fmin(name_px, MOST_NAME_PX) + 6;
    f->tops[1] = f->head_px;
    for (int32_t i = 1; i <= d->n_plans; i++)
        f->tops[i + 1] = f->tops[i] + ROW_PX;
}

static int find_used(struct strip_fig *f, struct err *e)
{
    const struct assigned *d = &f->data;
    int64_t n = (int64_t)d->points.n * d->n_plans * d->n_layers;

    f->used = calloc((size_t)d->types.n + 1, sizeof *f->used);
    if (!f->used)
        return err_nomem(e, "the figure's types");
    for (int64_t i = 0; i < n; i++)
        if (d->cells[i].type >= 0)
            f->used[d->cells[i].type] = true;
    return 0;
}

/* ---- panels ---- */

/* Of a panel: pixels of the page to a pixel before scaling, and to a layer. */
struct scale {
    const struct canvas_box *box;
    double y, layer_px;
};

static void put_names(struct strip_fig *f, const struct scale *to, int32_t panel)
{
    const struct assigned *d = &f->data;
    const int32_t *layers = d->layers + (int64_t)panel * d->n_layers;
    bool upright = f->head_px > LINE_PX;
    struct canvas_label at = { .y_px = to->box->top + to->y * f->head_px / 2,
                               .align = ALIGN_CENTER,
                               .rotate = upright ? 90 : 0,
                               .size_px = CANVAS_SMALL_PX,
                               .room_px = upright ? to->y * f->head_px - 4 : to->layer_px - 1,
                               .color = CANVAS_BLACK };

    for (int32_t i = 0; i < f->n_layers[panel] && f->head_px > 0; i++) {
        at.x_px = to->box->left + (i + 0.5) * to->layer_px;
        if (layers[i] >= 0)
            canvas_text(f->c, &at, d->words.list[layers[i]]);
    }
}

static bool fits(const struct text *s, double size_px, double room_px)
{
    return CANVAS_LEAST_SHRINK * canvas_width(text_str(s), size_px) <= room_px;
}

/* "12 gpu3" below the stage, else "12", and that turned upright: as far as there is room. */
static void put_units(struct strip_fig *f, const struct scale *to, const struct assigned_cell *first,
                      const struct stage *s, double middle_px)
{
    double stage_px = (s->last - s->first + 1) * to->layer_px, upright_px = to->y * TEXT_PX - 1;
    struct canvas_label at = { .x_px = to->box->left + (s->first + s->last + 1) / 2.0 * to->layer_px,
                               .y_px = middle_px,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_SMALL_PX,
                               .room_px = stage_px - 6,
                               .color = CANVAS_BLACK };
    struct text full = { 0 }, units = { 0 };

    if (isfinite(first->units))
        text_printf(&units, "%.10g", first->units);
    text_printf(&full, "%s%s%s", text_str(&units), units.n ? " " : "", f->data.types.list[first->type]);
    const struct text *shown = fits(&full, at.size_px, at.room_px) ? &full : &units;
    if (shown == &units) {
        at.rotate = !fits(&units, at.size_px, stage_px - 1) && stage_px >= TURNED_PX ? 90 : 0;
        at.size_px = at.rotate ? TURNED_TEXT_PX : CANVAS_SMALL_PX;
        at.room_px = at.rotate ? upright_px : stage_px - 1;
    }
    if (fits(shown, at.size_px, at.room_px))
        canvas_text(f->c, &at, text_str(shown));
    f->c->script.failed = f->c->script.failed || full.failed || units.failed;
    text_free(&full);
    text_free(&units);
}

static void put_row_texts(struct strip_fig *f, const struct scale *to, int32_t panel, int32_t row)
{
    const struct assigned_cell *plan = assigned_plan(&f->data, panel, row);
    double top_px = to->box->top + to->y * f->tops[row + 1];
    struct stage s = { 0, -1 };
    bool any = false;

    while (next_stage(&s, f, plan, s.last + 1)) {
        any = true;
        if (to->y * ROW_PX >= LEAST_ROW_PX)
            put_units(f, to, &plan[s.first], &s, top_px + to->y * (BOX_TOP_PX + BOX_PX + TEXT_PX * 0.5));
    }
    if (any)
        return;
    struct canvas_label at = { .x_px = to->box->left + 6,
                               .y_px = top_px + to->y * ROW_PX / 2,
                               .size_px = CANVAS_SMALL_PX,
                               .color = CANVAS_GREY };
    canvas_text(f->c, &at, "no plan");
}

/* The boxes of a stage: one a layer, where their edges would not fill them. */
static void put_stage(struct strip_fig *f, const struct scale *to, int32_t row, const struct stage *s)
{
    double top = f->tops[row + 1] + BOX_TOP_PX, gap = fmin(STAGE_GAP_PX / to->layer_px, 0.2);
    int32_t step = to->layer_px < LAYER_PX ? s->last - s->first + 1 : 1;

    for (int32_t i = s->first; i <= s->last; i += step) {
        int32_t last = i + step - 1;
        canvas_bar(f->c, i + 0.5 + (i == s->first ? gap : 0), top + BOX_PX,
                   last + 1.5 - (last == s->last ? gap : 0), top);
    }
}

static void put_boxes(struct strip_fig *f, const struct scale *to, int32_t panel, int32_t type)
{

    for (int32_t row = 0; row < f->data.n_plans; row++) {
        const struct assigned_cell *plan = assigned_plan(&f->data, panel, row);
        struct stage s = { 0, -1 };
        while (next_stage(&s, f, plan, s.last + 1)) {
            if (plan[s.first].type != type)
                continue;
            put_stage(f, to, row, &s);
        }
    }
    canvas_block_end(f->c, (struct mark){ MARK_FILL, FILL_FIRST + type });
}

static void paint(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct strip_fig *f = of;
    struct scale to = { box, (box->bottom - box->top) / f->tops[f->data.n_plans + 1],
                        (box->right - box->left) / f->n_layers[panel] };

    text_printf(&c->script, "unset grid\nset xrange [0.5:%d.5]\n", (int)f->n_layers[panel]);
    if (!f->same_layers)
        text_puts(&c->script, "unset xtics\n");
    put_names(f, &to, panel);
    for (int32_t row = 0; row < f->data.n_plans; row++)
        put_row_texts(f, &to, panel, row);
    for (int32_t type = 0; type < f->data.types.n; type++)
        put_boxes(f, &to, panel, type);
}

/* ---- the page ---- */

static void put_notes(struct strip_fig *f)
{
    const struct assigned *d = &f->data;

    points_put_notes(f->c, &d->points);
    canvas_note(f->c, "below each stage: its units and their type");
    if (f->any_end)
        canvas_note(f->c, "USD/h without parameter servers");
    if (d->seed.n)
        canvas_note(f->c, "plans of seed %s", text_str(&d->seed));
    else if (d->seeds_differ)
        canvas_note(f->c, "of each scheduler the first seed");
    if (d->schedulers.n > d->n_plans)
        canvas_note(f->c, "first %d of %d schedulers", (int)d->n_plans, (int)d->schedulers.n);
    if (d->n_again > 0)
        canvas_note(f->c, "%lld rows repeat a layer and are left out", (long long)d->n_again);
}

static int draw(struct strip_fig *f, struct err *e)
{
    const struct assigned *d = &f->data;
    const char *names[ASSIGNED_MAX_POINTS], *labels[ASSIGNED_MAX_PLANS + 1],
        *ends[ASSIGNED_MAX_POINTS * (ASSIGNED_MAX_PLANS + 1)];
    const char **end = ends;

    labels[0] = ""; /* of the row that has the names of the layers */
    for (int32_t i = 0; i < d->n_plans; i++)
        labels[i + 1] = d->schedulers.list[i];
    for (int32_t k = 0; k < d->points.n; k++) {
        points_put_name(&f->names[k], &d->points, k, NAME);
        f->c->script.failed = f->c->script.failed || f->names[k].failed;
        names[k] = text_str(&f->names[k]);
        *end++ = "";
        for (int32_t i = 0; i < d->n_plans; i++)
            *end++ = f->ends[k][i];
    }
    struct strips_spec spec = {
        .names = names,
        .n_panels = d->points.n,
        .n_rows = d->n_plans + 1,
        .tops = f->tops,
        .labels = labels,
        .ends = ends,
        .end_label = f->any_end ? "USD/h" : "",
        .unit_px = 1,
        .least_unit_px = 0.5,
        .x = { .lo = 0.5, .hi = d->n_layers + 0.5, .integers = f->layer_px >= TIC_PX },
        .x_label = f->same_layers ? "layer" : "layers, from the first to the last",
        .paint = paint,
        .of = f
    };
    put_notes(f);
    for (int32_t i = 0; i < d->types.n; i++)
        if (f->used[i])
            canvas_legend(f->c, (struct mark){ MARK_FILL, FILL_FIRST + i }, d->types.list[i]);
    return strips_build(f->c, &spec, e);
}

int fig_strip(struct canvas *c, const struct rows *r, struct err *e)
{
    struct strip_fig f = { .c = c };
    int rc = assigned_read(&f.data, r, e);

    if (!rc)
        rc = find_used(&f, e);
    if (!rc) {
        fill_ends(&f);
        count_layers(&f);
        fit_names(&f);
        rc = draw(&f, e);
    }
    for (int32_t k = 0; k < ASSIGNED_MAX_POINTS; k++)
        text_free(&f.names[k]);
    free(f.used);
    assigned_free(&f.data);
    return rc;
}
