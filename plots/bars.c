#include "plots/bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DESIGNS = 24,
    MAX_BARS = 96,
    ROW_PX = 24, /* of a stacked bar with its gap */
    BAR_PX = 9,  /* of one of several bars */
    GAP_PX = 11, /* between designs then */
    LEAST_ROW_PX = 8,
    HEAD_PX = 6,
    END_HEAD_PX = 18,
    SHORT_NAME = 20, /* characters, where room is short */
};

struct bars {
    struct canvas *c;
    const struct plot_data *d;
    const struct bars_spec *spec;
    int32_t n;                 /* designs drawn */
    struct names dims;         /* all dimension names: a dimension looks the same in every design */
    bool occurs[BARS_MAX_OWN]; /* which of the figure's own parts are drawn */
    struct text *labels;       /* shape [n], owned */
    struct text *ends;         /* shape [n], owned */
    struct unit unit;
    struct axis x;
    double label_px, end_px, label_size_px;
    bool varies[4]; /* network, workload, total, objective differ between designs */
};

void bars_put_time(struct text *out, double seconds)
{
    struct unit u = unit_pick(unit_seconds, seconds);
    text_printf(out, "%.3g %s", seconds / u.scale, u.name);
}

static int32_t bars_of(const struct bars *b, int64_t i)
{
    struct bars_part parts[BARS_MAX_PARTS];
    return b->spec->stacked ? 1 : b->spec->parts(&b->d->designs[i], parts);
}

static int32_t count_drawn(const struct bars *b)
{
    int64_t n = 0;
    int32_t bars = 0;

    while (n < b->d->n_designs && n < MAX_DESIGNS && (n == 0 || bars + bars_of(b, n) <= MAX_BARS))
        bars += bars_of(b, n++);
    return (int32_t)n;
}

/* The names of the deepest network come first, so that the legend runs from inside out. */
static int gather_dims(struct bars *b, struct err *e)
{
    for (int32_t depth = PLOT_MAX_DIMS; depth > 0; depth--)
        for (int32_t i = 0; i < b->n; i++)
            for (int32_t k = 0; k < depth && b->d->designs[i].n_dims == depth; k++)
                if (names_add(&b->dims, b->d->designs[i].dim_names[k]) < 0)
                    return err_nomem(e, "the figure's legend");
    return 0;
}

static void gather_parts(struct bars *b)
{
    double longest = 0;

    for (int32_t i = 0; i < b->n; i++) {
        struct bars_part parts[BARS_MAX_PARTS];
        int32_t n = b->spec->parts(&b->d->designs[i], parts);
        double sum = 0;
        for (int32_t k = 0; k < n; k++) {
            if (parts[k].dim < 0)
                b->occurs[parts[k].own] = true;
            sum = b->spec->stacked ? sum + parts[k].value : fmax(sum, parts[k].value);
        }
        longest = fmax(longest, sum);
    }
    b->unit = b->spec->units ? unit_pick(b->spec->units, longest) : (struct unit){ 1, b->spec->unit };
    b->x = axis_bars(longest / b->unit.scale);
    if (b->spec->axis_max > 0)
        b->x.hi = fmax(b->spec->axis_max, longest);
}

/* Where bandwidths are an answer, their sum is a total but for rounding. */
static bool differ(double x, double y)
{
    return fabs(x - y) > AXIS_SAME * fmax(x, y);
}

static void find_varying(struct bars *b)
{
    const struct plot_design *first = &b->d->designs[0];

    for (int32_t i = 1; i < b->n; i++) {
        const struct plot_design *g = &b->d->designs[i];
        b->varies[0] = b->varies[0] || strcmp(g->network, first->network) != 0;
        b->varies[1] = b->varies[1] || strcmp(g->workload, first->workload) != 0;
        b->varies[2] = b->varies[2] || differ(g->total_GBps, first->total_GBps);
        b->varies[3] = b->varies[3] || strcmp(g->objective, first->objective) != 0;
    }
}

/* What tells a design from the others, or what all have in common. */
static void describe(struct text *out, const struct bars *b, const struct plot_design *g, enum plot_plan part)
{
    bool varying = part != PLOT_PLAN_COMMON;
    struct text total = { 0 };

    text_printf(&total, "%.6g GB/s%s", g->total_GBps, varying ? "" : " per NPU");
    const char *goal = strcmp(g->objective, "perf_per_cost") == 0 ? "perf/cost" : g->objective;
    const char *words[] = { g->network, g->workload, text_str(&total), goal };
    for (int k = 0; k < 4; k++)
        if (b->varies[k] == varying) {
            text_puts(out, out->n ? " · " : "");
            canvas_put_short(out, words[k], part == PLOT_PLAN_SHORT ? SHORT_NAME : SIZE_MAX);
        }
    plot_data_put_plan(out, b->d, b->n, g, part);
    text_free(&total);
}

static bool is_repeated(const struct bars *b, int32_t i)
{
    for (int32_t k = 0; k < b->n; k++)
        if (k != i && strcmp(text_str(&b->labels[k]), text_str(&b->labels[i])) == 0)
            return true;
    return false;
}

static void put_labels(struct bars *b, enum plot_plan part)
{
    bool repeated = false;

    for (int32_t i = 0; i < b->n; i++) {
        text_clear(&b->labels[i]);
        describe(&b->labels[i], b, &b->d->designs[i], part);
    }
    for (int32_t i = 0; i < b->n; i++)
        repeated = repeated || is_repeated(b, i);
    b->label_px = 0;
    for (int32_t i = 0; i < b->n; i++) {
        struct text *label = &b->labels[i];
        if (repeated)
            text_printf(label, "%srow %lld", label->n ? " · " : "", (long long)b->d->designs[i].row);
        b->label_px = fmax(b->label_px, canvas_width(text_str(label), CANVAS_SMALL_PX));
    }
}

static void put_ends(struct bars *b)
{
    for (int32_t i = 0; i < b->n && b->spec->end; i++) {
        b->spec->end(&b->d->designs[i], &b->ends[i]);
        b->end_px = fmax(b->end_px, canvas_width(text_str(&b->ends[i]), CANVAS_SMALL_PX));
    }
}

/* The bars keep a third of the page. For it names and plans are shortened first, then all labels are set
 * smaller, then the numbers at the end go, and at last labels are cut. */
static void share_width(struct bars *b)
{
    double room_px = 2.0 / 3 * canvas_page_width(b->c) - 26;

    if (CANVAS_LEAST_SHRINK * b->label_px + b->end_px > room_px)
        put_labels(b, PLOT_PLAN_SHORT);
    if (CANVAS_LEAST_SHRINK * b->label_px + b->end_px > room_px) {
        b->end_px = 0;
        for (int32_t i = 0; i < b->n; i++)
            text_clear(&b->ends[i]);
    }
    b->label_size_px = CANVAS_SMALL_PX;
    if (b->label_px > room_px - b->end_px) {
        b->label_size_px *= fmax(CANVAS_LEAST_SHRINK, (room_px - b->end_px) / b->label_px);
        b->label_px = room_px - b->end_px;
    }
}

static int put_texts(struct bars *b, struct err *e)
{
    b->labels = calloc((size_t)b->n, sizeof *b->labels);
    b->ends = calloc((size_t)b->n, sizeof *b->ends);
    if (!b->labels || !b->ends)
        return err_nomem(e, "the figure's labels");
    find_varying(b);
    put_labels(b, PLOT_PLAN_VARYING);
    put_ends(b);
    share_width(b);
    return 0;
}

static void put_notes(struct bars *b)
{
    struct text common = { 0 };

    describe(&common, b, &b->d->designs[0], PLOT_PLAN_COMMON);
    if (common.n)
        canvas_note(b->c, "%s", text_str(&common));
    if (b->d->n_designs > b->n)
        canvas_note(b->c, "first %d of %lld designs", (int)b->n, (long long)b->d->n_designs);
    text_free(&common);
}

static struct mark dim_mark(int32_t dim)
{
    return (struct mark){ MARK_FILL, FILL_FIRST + dim };
}

static struct mark part_mark(const struct bars *b, const struct plot_design *g, const struct bars_part *p)
{
    if (p->dim >= 0)
        return dim_mark(names_find(&b->dims, g->dim_names[p->dim]));
    return (struct mark){ MARK_FILL, b->spec->own[p->own].fill };
}

static void put_own_legend(struct bars *b, int32_t first, int32_t end)
{
    for (int32_t i = first; i < end && i < b->spec->n_own; i++)
        if (b->occurs[i])
            canvas_legend(b->c, (struct mark){ MARK_FILL, b->spec->own[i].fill }, b->spec->own[i].label);
}

static void put_legend(struct bars *b)
{
    put_own_legend(b, 0, 1);
    for (int32_t i = 0; i < b->dims.n; i++) {
        struct text label = { 0 };
        text_printf(&label, "%s%s", b->spec->dim_prefix, b->dims.list[i]);
        canvas_legend(b->c, dim_mark(i), text_str(&label));
        text_free(&label);
    }
    put_own_legend(b, 1, BARS_MAX_OWN);
}

/* The parts of design i that look like `mark`. Rows count from the top; a design takes one unit of y, its
 * bars 0.76 of it. */
static void put_bars(struct bars *b, int32_t i, struct mark mark)
{
    const struct plot_design *g = &b->d->designs[i];
    struct bars_part parts[BARS_MAX_PARTS];
    int32_t n = b->spec->parts(g, parts);
    double at = 0;

    for (int32_t k = 0; k < n; k++) {
        double value = parts[k].value / b->unit.scale, h = 0.76 / (b->spec->stacked ? 1 : n);
        double top = i + 0.12 + (b->spec->stacked ? 0 : k * h);
        if (value > 0 && part_mark(b, g, &parts[k]).style == mark.style) {
            canvas_bar(b->c, at, top + h, at + value, top);
        }
        at += b->spec->stacked ? value : 0;
    }
}

static void put_marks(struct bars *b)
{
    int32_t n_styles = FILL_FIRST + b->dims.n;

    for (int32_t i = 0; i < b->spec->n_own; i++)
        n_styles = b->spec->own[i].fill < n_styles ? n_styles : b->spec->own[i].fill + 1;
    for (int32_t style = 0; style < n_styles; style++) {
        struct mark mark = { MARK_FILL, style };
        for (int32_t i = 0; i < b->n; i++)
            put_bars(b, i, mark);
        canvas_block_end(b->c, mark);
    }
}

static void put_side_texts(struct bars *b, const struct canvas_box *box)
{
    double row_px = (box->bottom - box->top) / b->n;
    struct canvas_label at = { .size_px = CANVAS_SMALL_PX, .color = CANVAS_BLACK };

    for (int32_t i = 0; i < b->n; i++) {
        at.y_px = box->top + (i + 0.5) * row_px;
        at.x_px = box->left - 6;
        at.align = ALIGN_RIGHT;
        at.size_px = b->label_size_px;
        at.keep_size = true;
        at.room_px = b->label_px + 1;
        canvas_text(b->c, &at, text_str(&b->labels[i]));
        at.x_px = box->right + 6;
        at.align = ALIGN_LEFT;
        at.size_px = CANVAS_SMALL_PX;
        at.room_px = 0;
        if (b->ends[i].n)
            canvas_text(b->c, &at, text_str(&b->ends[i]));
    }
}

static void put_axis_labels(struct bars *b, const struct canvas_box *box)
{
    struct canvas_label at = { .x_px = (box->left + box->right) / 2,
                               .y_px = box->bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .color = CANVAS_BLACK };
    struct text label = { 0 };

    text_printf(&label, "%s [%s]", b->spec->axis_label, b->unit.name);
    at.x_px = fmin(at.x_px, canvas_page_width(b->c) - 4 - canvas_width(text_str(&label), CANVAS_FONT_PX) / 2);
    canvas_text(b->c, &at, text_str(&label));
    text_free(&label);
    if (!(b->end_px > 0))
        return;
    at.x_px = box->right + 6 + b->end_px;
    at.y_px = box->top - END_HEAD_PX * 0.5;
    at.align = ALIGN_RIGHT;
    at.size_px = CANVAS_SMALL_PX;
    at.color = CANVAS_GREY;
    canvas_text(b->c, &at, b->spec->end_label);
}

static int draw(struct bars *b, struct err *e)
{
    bool has_ends = b->end_px > 0;
    double margins = CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX + (has_ends ? END_HEAD_PX : HEAD_PX),
           body_px = margins;
    struct canvas_box box;

    for (int32_t i = 0; i < b->n; i++)
        body_px += b->spec->stacked ? ROW_PX : bars_of(b, i) * BAR_PX + GAP_PX;
    int rc = canvas_open(b->c, &box, body_px, b->n * LEAST_ROW_PX + margins, e);
    if (rc)
        return rc;
    box.left += b->label_px + 6;
    box.right -= b->end_px + (has_ends ? 6 : 0) + 8;
    box.top += margins - CANVAS_X_TICS_PX - CANVAS_X_LABEL_PX;
    box.bottom -= CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX;
    canvas_panel(b->c, &box, &b->x, NULL);
    text_printf(&b->c->script, "set yrange [%d:0]\n", (int)b->n);
    put_side_texts(b, &box);
    put_axis_labels(b, &box);
    put_marks(b);
    canvas_draw(b->c);
    canvas_close(b->c);
    return 0;
}

int bars_build(struct canvas *c, const struct plot_data *d, const struct bars_spec *spec, struct err *e)
{
    struct bars b = { .c = c, .d = d, .spec = spec };

    b.n = count_drawn(&b);
    int rc = gather_dims(&b, e);
    if (!rc) {
        gather_parts(&b);
        rc = put_texts(&b, e);
    }
    if (!rc) {
        put_notes(&b);
        put_legend(&b);
        rc = draw(&b, e);
    }
    for (int32_t i = 0; i < b.n; i++) {
        if (b.labels)
            text_free(&b.labels[i]);
        if (b.ends)
            text_free(&b.ends[i]);
    }
    free(b.labels);
    free(b.ends);
    names_free(&b.dims);
    return rc;
}
