/*
 * Which type of resource has which layer, from `weft hetero --plans`: a panel per point, a row per scheduler
 * with the plan of its first seed, and above them the names of the layers. A layer without a name has that of
 * its kind.
 *
 * A row of the table is a layer in a plan: point, scheduler, seed, layer (from 1), its type and the stage
 * with so many units. Neighbouring layers of one stage and type are drawn as one stage. Types keep their
 * style whatever --where leaves over, as they are numbered over the whole table. A layer that occurs twice is
 * drawn once.
 */
#include <math.h>
#include <string.h>

#include "plots/fig.h"
#include "plots/lanes.h"

enum { MAX_POINTS = 4, MAX_PLANS = 24, MAX_LAYERS = 1024 };

/* Heights of a row: its boxes, and below them the units of its stages. */
enum {
    BOX_TOP_PX = 3,
    BOX_PX = 14,
    TEXT_PX = 13,
    ROW_PX = BOX_TOP_PX + BOX_PX + TEXT_PX,
    LEAST_ROW_PX = 24,  /* lower rows have no units */
    TURNED_PX = 8,      /* a stage so wide has room for a number turned upright; */
    TURNED_TEXT_PX = 9, /* three digits of this size fit below it */
    POINT_NAME = 80,    /* characters */
    LINE_PX = 17,       /* names of layers side by side; */
    MOST_NAME_PX = 64,  /* and turned upright */
    UPRIGHT_PX = 12,    /* that needs a layer so wide */
    LAYER_PX = 4,       /* narrower layers have no edges: a box is a stage */
    TIC_PX = 20,        /* narrower layers have no number each */
};

#define STAGE_GAP_PX 1.5 /* free at both ends of a stage */

enum { TYPE, POINT, PLAN, SEED, LAYER, STAGE, UNITS, NAME, KIND, UNIT_PRICE, PRICE, N_BINDS };
static const struct bind binds[N_BINDS] = {
    [TYPE] = { .column = "type", AS_WORD, NEED, .numbered = OF_TABLE },
    [POINT] = { .column = "point", AS_WORD, NEED, .most = MAX_POINTS },
    [PLAN] = { .column = "scheduler", AS_WORD, NEED },
    [SEED] = { .column = "seed", AS_WORD, NEED },
    [LAYER] = { .column = "layer", AS_COUNT, NEED, .most = MAX_LAYERS },
    [STAGE] = { .column = "stage", AS_COUNT, NEED, .most = MAX_LAYERS },
    [UNITS] = { .column = "units", AS_NUMBER, NEED },
    [NAME] = { .column = "name", AS_WORD, NEED },
    [KIND] = { .column = "kind", AS_WORD, NEED },
    [UNIT_PRICE] = { .column = "unit_usd_per_h", AS_NUMBER, MAY_MISS },
    [PRICE] = { .column = "usd_per_h", AS_NUMBER, MAY_MISS },
};

/* A layer in a plan. */
struct strip_cell {
    int32_t type;          /* -1 = not in the table */
    int32_t stage;         /* its number */
    double units;          /* of the stage; NaN = blank */
    double unit_usd_per_h; /* NaN = not known */
};

/* Layers first..last, counted from 0, of one stage. */
struct strip_stage {
    int32_t first, last;
};

struct strip {
    struct canvas *c;
    struct data data;
    struct points points;
    struct names schedulers;  /* of all rows that pass */
    int32_t n_plans;          /* of them, how many are drawn */
    int32_t n_layers;         /* the most of a point */
    struct strip_cell *cells; /* shape [points.n][n_plans][n_layers] */
    const char **layers;      /* shape [points.n][n_layers]: names; NULL = the point has no such layer */
    const char *seed;         /* that of all plans that have one; "" = none has, or they differ */
    bool seeds_differ;
    int32_t point_layers[MAX_POINTS];
    bool same_layers;         /* as many in each panel */
    double head_px, layer_px; /* of the names of layers; width of a layer, an estimate */
    double tops[MAX_PLANS + 2];
    const struct canvas_box *box; /* the panel at hand: */
    double y, wide_px;            /* pixels of the page to a pixel before scaling, and to a layer */
};

static struct strip_cell *strip_plan_of(const struct strip *f, int32_t point, int32_t plan)
{
    return f->cells + ((int64_t)point * f->n_plans + plan) * f->n_layers;
}

/* ---- reading ---- */

/* Schedulers and the most layers of all rows that pass: so pages of other points look alike. ERR_PARSE: a
 * layer that is no whole number from 1 to MAX_LAYERS. */
static int strip_survey(struct strip *f, struct err *e)
{
    struct rows r = f->data.r;
    char buf[NUM_TEXT];
    int rc = 0;

    for (int64_t i = 0; i < f->data.n_passed && !rc; i++) {
        double layer;
        r.row = f->data.passed[i];
        names_add(f->c, &f->schedulers, rows_text(buf, &r, f->data.col[PLAN]));
        rc = rows_number(&layer, &r, f->data.col[LAYER], e);
        if (!rc && !(layer <= MAX_LAYERS && layer == floor(layer)))
            rc = rows_fault(&r, "layer", e, "%g, expected a whole number, 0 to %d", layer, MAX_LAYERS);
        else if (!rc && layer == 0)
            rc = rows_fault(&r, "layer", e, "0, expected 1 to %d", MAX_LAYERS);
        else if (!rc)
            f->n_layers = layer > f->n_layers ? (int32_t)layer : f->n_layers;
    }
    f->n_plans = f->schedulers.n < MAX_PLANS ? f->schedulers.n : MAX_PLANS;
    return rc;
}

/* Rows of other seeds than the first of their plan are left out, and those that repeat a layer of it. */
static void strip_take_row(struct strip *f, int64_t i, int32_t *first_seed)
{
    const struct data *d = &f->data;
    int32_t point = d->word[POINT][i], layer = d->word[LAYER][i] - 1;
    int32_t plan = names_find(&f->schedulers, d->words[PLAN].list[d->word[PLAN][i]]);
    const char *name = d->words[NAME].list[d->word[NAME][i]];

    if (plan >= f->n_plans) {
        data_leave_out(d, i, "of other schedulers");
        return;
    }
    int32_t *seed = &first_seed[point * f->n_plans + plan];
    *seed = *seed < 0 ? d->word[SEED][i] : *seed;
    struct strip_cell *cell = strip_plan_of(f, point, plan) + layer;
    if (*seed != d->word[SEED][i] || cell->type >= 0) {
        data_leave_out(d, i, *seed != d->word[SEED][i] ? "of other seeds" : "repeat a layer");
        return;
    }
    *cell = (struct strip_cell){ d->word[TYPE][i], d->word[STAGE][i], d->x[UNITS][i],
                                 d->x[d->col[UNIT_PRICE] >= 0 ? UNIT_PRICE : PRICE][i] };
    const char **known = &f->layers[(int64_t)point * f->n_layers + layer];
    if (!*known)
        *known = name[0] ? name : d->words[KIND].list[d->word[KIND][i]];
}

/* The seed of the plans: blank is that of a scheduler that draws nothing. */
static void name_seed(struct strip *f, const int32_t *first_seed)
{
    f->seed = "";
    for (int32_t i = 0; i < f->points.n * f->n_plans; i++) {
        const char *own = first_seed[i] < 0 ? "" : f->data.words[SEED].list[first_seed[i]];
        f->seeds_differ = f->seeds_differ || (own[0] && f->seed[0] && strcmp(own, f->seed) != 0);
        f->seed = own[0] ? own : f->seed;
    }
    if (f->seeds_differ)
        f->seed = "";
}

static int read_plans(struct strip *f, const struct rows *r, struct err *e)
{
    int rc = data_read(&f->data, f->c, r, binds, N_BINDS, e);

    if (!rc)
        rc = points_describe(&f->points, &f->data, POINT, e);
    if (!rc)
        rc = strip_survey(f, e);
    if (rc)
        return rc;
    int32_t n_plans = f->points.n * f->n_plans;
    int32_t *first_seed = canvas_new(f->c, n_plans, sizeof *first_seed, e);
    f->cells = canvas_new(f->c, (int64_t)n_plans * f->n_layers, sizeof *f->cells, e);
    f->layers = canvas_new(f->c, (int64_t)f->points.n * f->n_layers, sizeof *f->layers, e);
    if (!first_seed || !f->cells || !f->layers)
        return ERR_NOMEM;
    for (int64_t i = 0; i < (int64_t)n_plans * f->n_layers; i++)
        f->cells[i].type = -1;
    for (int32_t i = 0; i < n_plans; i++)
        first_seed[i] = -1;
    for (int64_t i = 0; i < f->data.n; i++)
        strip_take_row(f, i, first_seed);
    name_seed(f, first_seed);
    return 0;
}

/* The stage that begins at layer `first`: layers of one number and type. False at the end of the plan.
 * Callers begin with last = -1 and go on from last + 1. Layers that the table lacks are passed over. */
static bool next_stage(struct strip_stage *s, const struct strip *f, const struct strip_cell *plan,
                       int32_t first)
{
    while (first < f->n_layers && plan[first].type < 0)
        first++;
    if (first == f->n_layers)
        return false;
    s->first = s->last = first;
    while (s->last + 1 < f->n_layers && plan[s->last + 1].type == plan[first].type &&
           plan[s->last + 1].stage == plan[first].stage)
        s->last++;
    return true;
}

/* ---- before the page is open ---- */

/* What all units of a plan cost by the hour; "" when something is not known. The sum over stages of units
 * times the price of one; a plan of one stage with an unknown price has none. */
static const char *price_of(const struct strip *f, const struct strip_cell *plan)
{
    struct strip_stage s = { 0, -1 };
    double usd = 0;
    bool any = false;

    while (next_stage(&s, f, plan, s.last + 1)) {
        usd += plan[s.first].units * plan[s.first].unit_usd_per_h;
        any = true;
    }
    if (!any || !isfinite(usd))
        return "";
    return usd < 1e12 ? canvas_keep(f->c, "%.*f",
                                    usd < 100   ? 2
                                    : usd < 1e4 ? 1
                                                : 0,
                                    usd)
                      : canvas_keep(f->c, "%.0g", usd);
}

/* Panels of fewer layers have wider ones. */
static void strip_count_layers(struct strip *f)
{
    f->same_layers = true;
    for (int32_t k = 0; k < f->points.n; k++) {
        for (int32_t i = 0; i < f->n_layers; i++)
            if (f->layers[(int64_t)k * f->n_layers + i])
                f->point_layers[k] = i + 1;
        f->same_layers = f->same_layers && f->point_layers[k] == f->point_layers[0];
    }
}

/*
 * How wide a layer is about, and which room its name takes: beside its neighbours', else upright. Before the
 * page is open, so the width of a layer is an estimate from that of the labels; names that turn out too long
 * are set smaller or cut by canvas_text().
 */
static void fit_names(struct strip *f)
{
    double label_px = 0, name_px = 0, page_px = f->c->width_px;

    for (int32_t i = 0; i < f->n_plans; i++)
        label_px = fmax(label_px, canvas_width(f->schedulers.list[i], CANVAS_SMALL_PX));
    for (int64_t i = 0; i < (int64_t)f->points.n * f->n_layers; i++)
        name_px = fmax(name_px, canvas_width(f->layers[i] ? f->layers[i] : "", CANVAS_SMALL_PX));
    f->layer_px = (page_px - fmin(label_px, page_px / 3.5) - 100) / f->n_layers;
    if (CANVAS_LEAST_SHRINK * name_px <= f->layer_px - 2)
        f->head_px = LINE_PX;
    else if (f->layer_px >= UPRIGHT_PX)
        f->head_px = fmin(name_px, MOST_NAME_PX) + 6;
    f->tops[1] = f->head_px;
    for (int32_t i = 1; i <= f->n_plans; i++)
        f->tops[i + 1] = f->tops[i] + ROW_PX;
}

/* ---- panels ---- */

static void strip_put_names(struct strip *f, int32_t panel)
{
    const char **layers = f->layers + (int64_t)panel * f->n_layers;
    bool upright = f->head_px > LINE_PX;
    struct canvas_label at = { .y_px = f->box->top + f->y * f->head_px / 2,
                               .align = ALIGN_CENTER,
                               .rotate = upright ? 90 : 0,
                               .size_px = CANVAS_SMALL_PX,
                               .room_px = upright ? f->y * f->head_px - 4 : f->wide_px - 1 };

    for (int32_t i = 0; i < f->point_layers[panel] && f->head_px > 0; i++) {
        at.x_px = f->box->left + (i + 0.5) * f->wide_px;
        if (layers[i])
            canvas_text(f->c, &at, layers[i]);
    }
}

static bool fits(const char *s, double size_px, double room_px)
{
    return CANVAS_LEAST_SHRINK * canvas_width(s, size_px) <= room_px;
}

/* "12 gpu3" below the stage, else "12", and that turned upright: as far as there is room. Nothing where not
 * even the number fits: the legend has the type, the table the number. */
static void strip_put_units(struct strip *f, const struct strip_cell *first, const struct strip_stage *s,
                            double middle_px)
{
    double stage_px = (s->last - s->first + 1) * f->wide_px, upright_px = f->y * TEXT_PX - 1;
    struct canvas_label at = { .x_px = f->box->left + (s->first + s->last + 1) / 2.0 * f->wide_px,
                               .y_px = middle_px,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_SMALL_PX,
                               .room_px = stage_px - 6 };
    const char *units = isfinite(first->units) ? canvas_keep(f->c, "%.10g", first->units) : "";
    const char *full =
        canvas_keep(f->c, "%s%s%s", units, units[0] ? " " : "", f->data.words[TYPE].list[first->type]);
    const char *shown = fits(full, at.size_px, at.room_px) ? full : units;

    if (shown == units) {
        at.rotate = !fits(units, at.size_px, stage_px - 1) && stage_px >= TURNED_PX ? 90 : 0;
        at.size_px = at.rotate ? TURNED_TEXT_PX : CANVAS_SMALL_PX;
        at.room_px = at.rotate ? upright_px : stage_px - 1;
    }
    if (fits(shown, at.size_px, at.room_px))
        canvas_text(f->c, &at, shown);
}

static void put_row_texts(struct strip *f, int32_t panel, int32_t row)
{
    const struct strip_cell *plan = strip_plan_of(f, panel, row);
    double top_px = f->box->top + f->y * f->tops[row + 1];
    struct strip_stage s = { 0, -1 };
    bool any = false;

    while (next_stage(&s, f, plan, s.last + 1)) {
        any = true;
        if (f->y * ROW_PX >= LEAST_ROW_PX)
            strip_put_units(f, &plan[s.first], &s, top_px + f->y * (BOX_TOP_PX + BOX_PX + TEXT_PX * 0.5));
    }
    struct canvas_label at = { .x_px = f->box->left + 6,
                               .y_px = top_px + f->y * ROW_PX / 2,
                               .size_px = CANVAS_SMALL_PX,
                               .color = CANVAS_GREY };
    if (!any)
        canvas_text(f->c, &at, "no plan");
}

/* The boxes of a stage: one a layer, where their edges would not fill them. */
static void strip_put_stage(struct strip *f, int32_t row, const struct strip_stage *s)
{
    double top = f->tops[row + 1] + BOX_TOP_PX, gap = fmin(STAGE_GAP_PX / f->wide_px, 0.2);
    int32_t step = f->wide_px < LAYER_PX ? s->last - s->first + 1 : 1;

    for (int32_t i = s->first; i <= s->last; i += step) {
        int32_t last = i + step - 1;
        canvas_bar(f->c, i + 0.5 + (i == s->first ? gap : 0), top + BOX_PX,
                   last + 1.5 - (last == s->last ? gap : 0), top);
    }
}

static void put_type(struct strip *f, int32_t panel, int32_t type)
{
    for (int32_t row = 0; row < f->n_plans; row++) {
        const struct strip_cell *plan = strip_plan_of(f, panel, row);
        struct strip_stage s = { 0, -1 };
        while (next_stage(&s, f, plan, s.last + 1))
            if (plan[s.first].type == type)
                strip_put_stage(f, row, &s);
    }
    canvas_block_end(f->c, (struct mark){ MARK_FILL, FILL_FIRST + type });
}

static void paint_plans(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct strip *f = of;

    (void)c;
    f->box = box;
    f->y = (box->bottom - box->top) / f->tops[f->n_plans + 1];
    f->wide_px = (box->right - box->left) / f->point_layers[panel];

    strip_put_names(f, panel);
    for (int32_t row = 0; row < f->n_plans; row++)
        put_row_texts(f, panel, row);
    for (int32_t type = 0; type < f->data.words[TYPE].n; type++)
        put_type(f, panel, type);
}

/* ---- the page ---- */

static void strip_put_notes(struct strip *f, bool any_price)
{
    points_put_notes(f->c, &f->points);
    canvas_note(f->c, "below each stage: its units and their type");
    if (any_price)
        canvas_note(f->c, "USD/h without parameter servers");
    if (f->seed[0])
        canvas_note(f->c, "plans of seed %s", f->seed);
    else if (f->seeds_differ)
        canvas_note(f->c, "of each scheduler the first seed");
    canvas_note_first(f->c, f->n_plans, f->schedulers.n, "schedulers");
}

static int draw_strip(struct strip *f, struct err *e)
{
    const struct names *types = &f->data.words[TYPE];
    const char *names[MAX_POINTS], *labels[MAX_PLANS + 1], *ends[MAX_POINTS * (MAX_PLANS + 1)], **end = ends;
    bool *used = canvas_new(f->c, types->n, sizeof *used, e), any_price = false;

    if (!used)
        return ERR_NOMEM;
    strip_count_layers(f);
    fit_names(f);
    labels[0] = ""; /* of the row that has the names of the layers */
    for (int32_t i = 0; i < f->n_plans; i++)
        labels[i + 1] = f->schedulers.list[i];
    for (int32_t k = 0; k < f->points.n; k++) {
        names[k] = points_name(f->c, &f->points, k, POINT_NAME);
        *end++ = "";
        for (int32_t i = 0; i < f->n_plans; i++) {
            *end = price_of(f, strip_plan_of(f, k, i));
            any_price = any_price || (*end)[0];
            end++;
            for (int32_t layer = 0; layer < f->n_layers; layer++)
                if (strip_plan_of(f, k, i)[layer].type >= 0)
                    used[strip_plan_of(f, k, i)[layer].type] = true;
        }
    }
    struct axis xs[MAX_POINTS];
    for (int32_t k = 0; k < f->points.n; k++)
        xs[k] = (struct axis){ .lo = 0.5,
                               .hi = f->point_layers[k] + 0.5,
                               .integers = f->layer_px >= TIC_PX,
                               .framed = true,
                               .bare = !f->same_layers };
    strip_put_notes(f, any_price);
    for (int32_t i = 0; i < types->n; i++)
        if (used[i])
            canvas_legend(f->c, (struct mark){ MARK_FILL, FILL_FIRST + i }, types->list[i]);
    const struct strips spec = { .names = names,
                                 .n_panels = f->points.n,
                                 .n_rows = f->n_plans + 1,
                                 .tops = f->tops,
                                 .labels = labels,
                                 .ends = ends,
                                 .end_label = any_price ? "USD/h" : "",
                                 .unit_px = 1,
                                 .least_unit_px = 0.5,
                                 .x = { .lo = 0.5, .hi = f->n_layers + 0.5 },
                                 .xs = xs,
                                 .x_label = f->same_layers ? "layer" : "layers, from the first to the last",
                                 .paint = paint_plans,
                                 .of = f };
    return strips_build(f->c, &spec, e);
}

int fig_strip(struct canvas *c, const struct rows *r, struct err *e)
{
    struct strip f = { .c = c };
    int rc = read_plans(&f, r, e);

    return rc ? rc : draw_strip(&f, e);
}
