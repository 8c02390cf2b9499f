/*
 * A page as SVG 1.1, for browsers and for pages that hold several figures: nothing in it has an id, so that
 * none can clash; it names no font but the reader's own and loads nothing.
 *
 * Colours are those of plots/marks.c, but for ink and paper: what is black takes the colour of the text
 * around the figure, what is white or a light grey has a class, so that a dark page gets a dark figure.
 * Programs that know no variables of CSS fall back on the attributes.
 *
 * Coordinates are pixels with two digits. What a block holds becomes one path, or, where its items are of
 * rows of the table, a path for each with what it shows as its title: the first MOST_TITLES of a figure, as a
 * file of ten thousand titles helps nobody. Lines, boxes and areas are cut at the panel by an inner svg
 * element, markers are drawn whole or not at all.
 */
#include "plots/canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum {
    MOST_TITLES = 2000,
    LEAST_GROUP = 3 /* texts that share what they look like */
};

#define TIC_LONG   4.0
#define TIC_SHORT  2.0
#define POINT_PX   4.5  /* half of a marker of size 1 */
#define BASELINE   0.36 /* below the middle of a line of text, of its size */
#define WHISKER_PX 3.0  /* half of the ends of an interval */
#define LEAST_PX   0.3  /* from point to point of a line */

/* ---- words and numbers ---- */

/* Two digits, none of them a zero at the end. */
static void put_px(struct text *out, char before, double px)
{
    char buf[40];
    int n = snprintf(buf, sizeof buf, "%.2f", px);

    while (buf[n - 1] == '0')
        n--;
    n -= buf[n - 1] == '.';
    buf[n] = '\0';
    const char *shown = strcmp(buf, "-0") == 0 ? "0" : buf;
    text_add(out, &before, before != '\0' && !(before == ' ' && *shown == '-'));
    text_puts(out, shown);
}

static void put_xy(struct text *out, char before, double x, double y)
{
    put_px(out, before, x);
    put_px(out, ' ', y);
}

static void put_rect(struct text *d, const struct canvas_box *b)
{
    put_xy(d, 'M', b->left, b->top);
    put_px(d, 'H', b->right);
    put_px(d, 'V', b->bottom);
    put_px(d, 'H', b->left);
    text_puts(d, "z");
}

/* What XML gives a meaning, and what it forbids or a reader obeys: controls, marks that turn the direction.
 */
static void put_svg_words(struct text *out, const char *s)
{
    while (*s) {
        size_t n = utf8_shown(s);
        const char *as = *s == '&'                  ? "&amp;"
                         : *s == '<'                ? "&lt;"
                         : *s == '>'                ? "&gt;"
                         : (unsigned char)*s < 0x20 ? " "
                         : n == 0 || (n >= 3 && !memcmp(s, "\xef\xbf", 2) && (unsigned char)s[2] >= 0xbe)
                             ? "?"
                             : NULL;
        if (as)
            text_puts(out, as);
        else
            text_add(out, s, n);
        s += n ? n : 1;
    }
}

/* Colours of both kinds, either of which may be NULL: none. What follows the page has a class that says how;
 * its attribute is for who knows no variables. */
static void put_colors(struct text *out, const char *fill, const char *stroke)
{
    static const struct {
        const char *color, *fill, *stroke;
    } classes[] = { { "#FFFFFF", "paper", "gap" },
                    { "#EEEEEE", "over", "" },
                    { "#555555", "dim", "edge" },
                    { "#999999", "", "rule" },
                    { "#D0D0D0", "", "grid" } };
    const char *const names[] = { "fill", "stroke" }, *const colors[] = { fill, stroke };
    struct text class = { 0 };

    for (int k = 0; k < 2; k++) {
        const char *color = colors[k] ? colors[k] : "none";
        if (colors[k] || k == 0)
            text_printf(out, " %s=\"%s\"", names[k],
                        strcmp(color, CANVAS_BLACK) == 0 ? "currentColor" : color);
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
            if (strcmp(classes[i].color, color) == 0)
                text_printf(&class, "%s%s", class.n ? " " : "", k ? classes[i].stroke : classes[i].fill);
    }
    if (class.n)
        text_printf(out, " class=\"%s\"", text_str(&class));
    out->failed = out->failed || class.failed;
    text_free(&class);
}

/* ---- the page ---- */

static void svg_open(struct canvas *c)
{
    double w = c->width_px, h = c->height_px;

    text_puts(&c->image, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    if (!c->opt->linked)
        text_printf(&c->image, " width=\"%.0f\" height=\"%.0f\"", w, h);
    /* Of an image readers hear the title alone, of a group its links too. */
    text_printf(
        &c->image,
        " viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"%g\" fill=\"currentColor\" "
        "role=\"%s\">\n<title>",
        w, h, CANVAS_FONT_PX, c->opt->linked ? "group" : "img");
    put_svg_words(&c->image, text_str(&c->title));
    text_puts(&c->image, "</title>\n<desc>");
    put_svg_words(&c->image, text_str(&c->note));
    if (c->account.line) {
        text_puts(&c->image, c->note.n ? "; " : "");
        put_svg_words(&c->image, c->account.line);
    }
    for (int32_t i = 0; i < c->n_samples; i++) {
        text_puts(&c->image, i > 0 ? ", " : c->note.n || c->account.line ? "; shown: " : "shown: ");
        put_svg_words(&c->image, text_str(&c->samples[i].label));
    }
    if (!c->note.n && !c->account.line && c->n_samples == 0)
        text_printf(&c->image, "all %lld rows are drawn", (long long)c->account.n);
    text_puts(&c->image, "</desc>\n");
    if (c->opt->linked)
        return;
    text_puts(&c->image,
              "<style>.paper{fill:var(--paper,#fff)}.gap{stroke:var(--paper,#fff)}"
              ".over{fill:var(--over,#eee)}.dim{fill:var(--dim,#555)}"
              ".edge{stroke:var(--dim,#555)}.rule{stroke:var(--rule,#999)}.grid{stroke:var(--grid,#d0d0d0)}"
              "@media(prefers-color-scheme:dark){:root{color:#e4e4e4;--paper:#1c1c1c;--over:#333;"
              "--dim:#aaa;--rule:#777;--grid:#3c3c3c}}</style>\n");
    text_printf(&c->image, "<rect width=\"%.0f\" height=\"%.0f\"", w, h);
    put_colors(&c->image, "#FFFFFF", NULL);
    text_puts(&c->image, "/>\n");
}

#define TEXT_BEGINS  "<text"
#define PLACE_BEGINS " x=\""

/* Of lines with the same attributes before their place, as tics have them, a group has these. */
static void put_texts(struct text *out, const char *s)
{
    while (*s) {
        const char *place = strstr(s, PLACE_BEGINS);
        bool has = strncmp(s, TEXT_BEGINS, strlen(TEXT_BEGINS)) == 0 && place && place < strchr(s, '>');
        size_t same = has ? (size_t)(place - s) + strlen(PLACE_BEGINS) : 0;
        const char *end = s + strcspn(s, "\n") + 1;
        int32_t n = 1;
        for (; same && *end && strncmp(s, end, same) == 0; n++)
            end += strcspn(end, "\n") + 1;
        size_t attributes = same ? same - strlen(TEXT_BEGINS PLACE_BEGINS) : 0;
        if (n < LEAST_GROUP || attributes == 0) {
            text_add(out, s, (size_t)(end - s));
            s = end;
            continue;
        }
        text_printf(out, "<g%.*s>\n", (int)attributes, s + strlen(TEXT_BEGINS));
        for (; s < end; s += strcspn(s, "\n") + 1)
            text_printf(out, TEXT_BEGINS "%.*s\n", (int)(strcspn(s, "\n") - strlen(TEXT_BEGINS) - attributes),
                        s + strlen(TEXT_BEGINS) + attributes);
        text_puts(out, "</g>\n");
    }
}

static void put_later(struct canvas *c)
{
    put_texts(&c->image, text_str(&c->later));
    c->image.failed = c->image.failed || c->later.failed;
    text_clear(&c->later);
}

static void svg_close(struct canvas *c)
{
    put_later(c);
    text_puts(&c->image, "</svg>\n");
}

/* Gathered until the panel ends: texts lie over the blocks. */
static void svg_label(struct canvas *c, const struct canvas_label *at, const char *s)
{
    static const char *const anchors[] = { "", " text-anchor=\"middle\"", " text-anchor=\"end\"" };
    /* Between panels there is nothing to lie over, but the order is the same. */
    struct text *out = &c->later;

    text_printf(out, TEXT_BEGINS "%s", anchors[at->align]);
    if (at->size_px != CANVAS_FONT_PX)
        text_printf(out, " font-size=\"%.4g\"", at->size_px);
    if (at->color && strcmp(at->color, CANVAS_BLACK) != 0) /* which the page has as its own */
        put_colors(out, at->color, NULL);
    if (at->rotate) {
        text_printf(out, " transform=\"translate(");
        put_xy(out, '\0', at->x_px, at->y_px);
        text_printf(out, ") rotate(%d)\" y=\"", -(int)at->rotate);
        put_px(out, '\0', BASELINE * at->size_px);
    } else {
        text_puts(out, PLACE_BEGINS);
        put_px(out, '\0', at->x_px);
        text_puts(out, "\" y=\"");
        put_px(out, '\0', at->y_px + BASELINE * at->size_px);
    }
    text_puts(out, "\"");
    text_puts(out, ">");
    put_svg_words(out, s);
    text_puts(out, "</text>\n");
}

static void svg_leader(struct canvas *c, struct canvas_xy from, struct canvas_xy to)
{
    text_puts(&c->later, "<path d=\"");
    put_xy(&c->later, 'M', from.x, from.y);
    put_xy(&c->later, 'L', to.x, to.y);
    text_puts(&c->later, "\" stroke-width=\".5\"");
    put_colors(&c->later, NULL, "#999999");
    text_puts(&c->later, "/>\n");
}

/* ---- panels ---- */

struct svg_axis {
    struct canvas *c;
    const struct axis *axis;
    bool along;
    struct text grid, tics;
};

static void svg_put_tic(void *of, const struct axis_tic *tic)
{
    struct svg_axis *a = of;
    const struct canvas_box *b = &a->c->box;
    double px = canvas_px(a->c, a->along, tic->at), length = tic->minor ? TIC_SHORT : TIC_LONG;
    struct canvas_label label = { .x_px = a->along ? px : b->left - 5,
                                  .y_px = a->along ? b->bottom + CANVAS_X_TICS_PX * 0.45 : px,
                                  .align = a->along ? ALIGN_CENTER : ALIGN_RIGHT,
                                  .size_px = CANVAS_SMALL_PX };

    put_xy(&a->tics, 'M', a->along ? px : b->left, a->along ? b->bottom : px);
    put_px(&a->tics, a->along ? 'v' : 'h', a->along ? -length : length);
    if (!tic->minor && !a->axis->framed) {
        put_xy(&a->grid, 'M', a->along ? px : b->left, a->along ? b->bottom : px);
        put_px(&a->grid, a->along ? 'V' : 'H', a->along ? b->top : b->right);
    }
    if (tic->label)
        svg_label(a->c, &label, tic->label);
}

static void put_path(struct text *out, const struct text *d, const char *stroke, double width,
                     const char *more)
{
    if (d->n) {
        text_printf(out, "<path d=\"%s\"", text_str(d));
        put_colors(out, NULL, stroke);
        text_printf(out, " stroke-width=\"%g\"%s/>\n", width, more);
    }
    out->failed = out->failed || d->failed;
}

static void svg_put_axis(struct canvas *c, bool along)
{
    struct svg_axis a = { .c = c, .axis = along ? &c->x : &c->y, .along = along };
    const struct canvas_box *b = &c->box;

    axis_tics(a.axis, along, along ? b->right - b->left : b->bottom - b->top, svg_put_tic, &a);
    put_path(&c->image, &a.grid, "#D0D0D0", 0.5, "");
    put_path(&c->image, &a.tics, CANVAS_BLACK, 0.8, "");
    text_free(&a.grid);
    text_free(&a.tics);
}

/* What was written since the last panel stands below this one. */
static void svg_panel(struct canvas *c)
{
    put_later(c);
    svg_put_axis(c, true);
    svg_put_axis(c, false);
}

/* The frame lies over the blocks, as their edges do not end on a pixel. */
static void svg_draw(struct canvas *c)
{
    const struct canvas_box *b = &c->box;

    if (canvas_has_frame(c)) {
        struct text d = { 0 };
        put_rect(&d, b);
        put_path(&c->image, &d, CANVAS_GREY, 0.8, "");
        text_free(&d);
    }
    put_later(c);
}

/* ---- blocks ---- */

/* The outline of a marker around a point, in halves of its width. */
static const struct {
    int32_t n;
    double at[5][2];
} outlines[] = {
    { 4, { { -0.85, -0.85 }, { 0.85, -0.85 }, { 0.85, 0.85 }, { -0.85, 0.85 } } },
    { 0, { { 0, 0 } } }, /* a circle */
    { 3, { { 0, -1.12 }, { 1, 0.7 }, { -1, 0.7 } } },
    { 3, { { 0, 1.12 }, { 1, -0.7 }, { -1, -0.7 } } },
    { 4, { { 0, -1.15 }, { 1.15, 0 }, { 0, 1.15 }, { -1.15, 0 } } },
    { 5, { { 0, -1.05 }, { 1, -0.32 }, { 0.62, 0.85 }, { -0.62, 0.85 }, { -1, -0.32 } } },
};

static void put_marker(struct text *d, const struct look *look, double x, double y)
{
    int shape = (look->point - POINT_SQUARE) / 2;
    double r = look->size * POINT_PX;

    if (outlines[shape].n == 0) {
        put_xy(d, 'M', x - r, y);
        for (int half = 0; half < 2; half++) {
            put_xy(d, 'a', r, r);
            put_px(d, ' ', 0);
            text_puts(d, " 1 0");
            put_xy(d, ' ', half ? -2 * r : 2 * r, 0);
        }
        return;
    }
    const double(*at)[2] = outlines[shape].at;
    put_xy(d, 'M', x + r * at[0][0], y + r * at[0][1]);
    for (int32_t i = 1; i < outlines[shape].n; i++)
        put_xy(d, 'l', r * (at[i][0] - at[i - 1][0]), r * (at[i][1] - at[i - 1][1]));
    text_puts(d, "z");
}

static struct canvas_box box_px(const struct canvas *c, const struct canvas_item *i)
{
    double x[] = { canvas_px(c, true, i->x), canvas_px(c, true, i->x_hi) },
           y[] = { canvas_px(c, false, i->y), canvas_px(c, false, i->y_hi) };

    return (struct canvas_box){ fmin(x[0], x[1]), fmin(y[0], y[1]), fmax(x[0], x[1]), fmax(y[0], y[1]) };
}

/* Slanted lines through a box, `slope` to the right for one down, `step` apart along its top. */
static void put_slants(struct text *d, const struct canvas_box *b, double slope, double step)
{
    double height = b->bottom - b->top, lean = slope * height;

    /* From a grid of the page, so that boxes beside each other go on. */
    for (int64_t k = (int64_t)floor((b->left - fmax(lean, 0) - slope * b->top) / step);; k++) {
        double top = (double)k * step + slope * b->top, from = 0, to = height;
        if (top + fmin(lean, 0) > b->right)
            break;
        double sides[] = { (b->left - top) / slope, (b->right - top) / slope };
        from = fmax(from, fmin(sides[0], sides[1]));
        to = fmin(to, fmax(sides[0], sides[1]));
        if (from >= to)
            continue;
        put_xy(d, 'M', top + slope * from, b->top + from);
        put_xy(d, 'L', top + slope * to, b->top + to);
    }
}

static void put_hatch(struct text *d, const struct canvas_box *b, int hatch)
{
    static const struct {
        double down, up, step;
    } hatches[] = { [1] = { 1, -1, 8 }, [2] = { 1, -1, 5 },  [4] = { 1, 0, 8 },
                    [5] = { 0, -1, 8 }, [6] = { 0.5, 0, 5 }, [7] = { 0, -0.5, 5 } };

    if (hatches[hatch].down != 0)
        put_slants(d, b, hatches[hatch].down, hatches[hatch].step);
    if (hatches[hatch].up != 0)
        put_slants(d, b, hatches[hatch].up, hatches[hatch].step);
}

static void put_whisker(struct text *d, const struct canvas *c, const struct canvas_item *i)
{
    double x = canvas_px(c, true, i->x),
           ends[] = { canvas_px(c, false, i->x_hi), canvas_px(c, false, i->y_hi) };

    put_xy(d, 'M', x, ends[0]);
    put_px(d, 'V', ends[1]);
    for (int k = 0; k < 2; k++) {
        put_xy(d, 'M', x - WHISKER_PX, ends[k]);
        put_px(d, 'h', 2 * WHISKER_PX);
    }
}

/* What is seen of an item of the block but lines; nothing of a point outside of the panel. */
static void put_item(struct text *d, const struct canvas *c, const struct look *look,
                     const struct canvas_item *i)
{
    struct canvas_box box;

    switch (look->as) {
    case LOOK_LINE:
    case LOOK_POINTS: {
        double x = canvas_px(c, true, i->x), y = canvas_px(c, false, i->y);
        if (i->as == ITEM_POINT && canvas_has(c, x, y))
            put_marker(d, look, x, y);
        break;
    }
    case LOOK_BOX:
    case LOOK_AREA:
        box = box_px(c, i);
        put_rect(d, &box);
        break;
    case LOOK_WHISKER:
        put_whisker(d, c, i);
        break;
    }
}

static bool same_px(double a, double b)
{
    return fabs(a - b) < 0.005;
}

/* The next point of a line; steps of a staircase are shorter so. */
static void put_next(struct text *d, char next, struct canvas_xy last, double x, double y)
{
    if (next == 'L' && same_px(y, last.y))
        put_px(d, 'H', x);
    else if (next == 'L' && same_px(x, last.x))
        put_px(d, 'V', y);
    else
        put_xy(d, next, x, y);
}

/* Points one after the other, as lines or as the outline of a shape; rectangles of areas as such. Of a line
 * points closer than LEAST_PX to the one before are left out, as there may be thousands. */
static void put_lines(struct text *d, const struct canvas *c, bool closed)
{
    struct canvas_xy last = { 0, 0 };
    char next = 'M';

    for (int64_t k = 0; k < c->n_items; k++) {
        const struct canvas_item *i = &c->items[k];
        double x = canvas_px(c, true, i->x), y = canvas_px(c, false, i->y);
        if (i->as == ITEM_AREA) {
            struct canvas_box box = box_px(c, i);
            put_rect(d, &box);
        }
        if (i->as != ITEM_POINT || !isfinite(x) || !isfinite(y)) {
            text_puts(d, closed && next == 'L' ? "z" : "");
            next = 'M';
            continue;
        }
        if (!closed && next == 'L' && hypot(x - last.x, y - last.y) < LEAST_PX)
            continue;
        put_next(d, next, last, x, y);
        last = (struct canvas_xy){ x, y };
        next = 'L';
    }
    text_puts(d, closed && next == 'L' ? "z" : "");
}

/* What links call a row; unless they have names of their own, its number. */
static long long id_of(const struct canvas *c, int64_t row)
{
    return (long long)(c->opt->row_ids ? c->opt->row_ids[row] : row);
}

/* "row 3 (point 2), flat, GPT-3: 2.1, 0.4": what the row is, and where it is drawn. A page that has the table
 * too calls it by its link, and need not repeat the title above. */
static void put_svg_title(struct text *out, const struct canvas *c, const struct canvas_item *i)
{
    static const char *const words[] = { "network", "workload", "objective", "scheduler", "method" };
    const struct table *t = c->account.table;
    char name[TABLE_ROW_NAME];

    text_puts(out, "<title>");
    if (c->opt->row_ids && id_of(c, i->row) >= 0)
        text_printf(out, "%lld", id_of(c, i->row));
    else
        put_svg_words(out, table_row_name(name, t, i->row));
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const char *word = table_text(t, i->row, table_find(t, words[k]));
        if (!word || (c->opt->row_ids && strstr(text_str(&c->title), word)))
            continue;
        text_puts(out, ", ");
        put_svg_words(out, word);
    }
    if (i->as == ITEM_POINT)
        text_printf(out, ": %.4g, %.4g", i->x, i->y);
    text_puts(out, "</title>");
}

/* Its title is the name of the link, where it is one, else of the path. */
static void put_titled(struct canvas *c, const struct canvas_item *i, const char *d)
{
    struct text *out = &c->image;
    long long row = id_of(c, i->row);
    bool link = c->opt->linked && row >= 0;

    if (link)
        text_printf(out, "<a href=\"#p%lld\" data-p=\"%lld\">", row, row);
    else
        text_printf(out, "<path d=\"%s\">", d);
    put_svg_title(out, c, i);
    if (link)
        text_printf(out, "<path d=\"%s\"/></a>", d);
    else
        text_puts(out, "</path>");
}

/* Attributes of what put_item() draws. */
static void put_look(struct text *out, const struct look *look)
{
    bool marker = look->point > 0, hollow = marker && look->point % 2 == 0;
    double most = marker && look->as == LOOK_LINE ? 1 : HUGE_VAL; /* edges of markers, be the line wider */

    put_colors(out,
               look->fill          ? look->fill
               : marker && !hollow ? look->stroke
                                   : NULL,
               look->as == LOOK_AREA ? NULL
               : look->ring          ? look->ring
                                     : look->stroke);
    if (look->as == LOOK_AREA && look->opacity < 1)
        text_printf(out, " fill-opacity=\"%g\"", look->opacity);
    if (look->as != LOOK_AREA)
        text_printf(out, " stroke-width=\"%g\"", look->ring ? look->width / 2 : fmin(look->width, most));
}

/* One path, or one for each item that is of a row. */
static void put_items(struct canvas *c, const struct look *look)
{
    struct text rest = { 0 }, *out = &c->image;

    text_puts(out, "<g");
    put_look(out, look);
    text_puts(out, ">");
    for (int64_t k = 0; k < c->n_items; k++) {
        const struct canvas_item *i = &c->items[k];
        bool titled = i->row >= 0 && c->n_titles < MOST_TITLES;
        struct text own = { 0 }, *d = titled ? &own : &rest;
        if (i->as == ITEM_BREAK)
            continue;
        put_item(d, c, look, i);
        out->failed = out->failed || own.failed;
        if (own.n) {
            c->n_titles++;
            put_titled(c, i, text_str(&own));
        }
        text_free(&own);
    }
    if (rest.n)
        text_printf(out, "<path d=\"%s\"/>", text_str(&rest));
    text_puts(out, "</g>\n");
    out->failed = out->failed || rest.failed;
    text_free(&rest);
}

static void put_hatches(struct canvas *c, const struct look *look)
{
    struct text d = { 0 };

    for (int64_t k = 0; k < c->n_items && look->hatch; k++) {
        struct canvas_box box = box_px(c, &c->items[k]);
        if (c->items[k].as == ITEM_BOX)
            put_hatch(&d, &box, look->hatch);
    }
    /* Black on a colour; on paper it is ink. */
    put_path(&c->image, &d, look->fill && strcmp(look->fill, "#FFFFFF") == 0 ? CANVAS_BLACK : CANVAS_DARK,
             0.7, "");
    text_free(&d);
}

static void put_svg_line(struct canvas *c, const struct look *look)
{
    struct text d = { 0 }, dash = { 0 };

    put_lines(&d, c, look->as == LOOK_AREA);
    if (look->as == LOOK_AREA) {
        text_printf(&c->image, "<path d=\"%s\"", text_str(&d));
        put_look(&c->image, look);
        text_puts(&c->image, "/>\n");
    } else {
        text_puts(&dash, " stroke-linejoin=\"round\"");
        if (look->dash)
            text_printf(&dash, " stroke-dasharray=\"%s\"", look->dash);
        put_path(&c->image, &d, look->stroke, look->width, text_str(&dash));
    }
    c->image.failed = c->image.failed || d.failed || dash.failed;
    text_free(&d);
    text_free(&dash);
}

/* An inner svg of the panel's size, in the page's units: what is beyond it is cut. */
static void begin_cut(struct canvas *c)
{
    const struct canvas_box *b = &c->box;
    double w = b->right - b->left, h = b->bottom - b->top;

    text_printf(&c->image,
                "<svg x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" viewBox=\"%.6g %.6g %.6g %.6g\" "
                "fill=\"none\">",
                b->left, b->top, w, h, b->left, b->top, w, h);
}

static void svg_block(struct canvas *c, struct mark mark)
{
    struct look look = mark_look(mark);
    bool cut = look.as != LOOK_POINTS;

    if (cut)
        begin_cut(c);
    if (look.as == LOOK_LINE || look.as == LOOK_AREA)
        put_svg_line(c, &look);
    else if (look.as != LOOK_POINTS)
        put_items(c, &look);
    put_hatches(c, &look);
    if (cut)
        text_puts(&c->image, "</svg>\n");
    if (look.point)
        put_items(c, &look);
}

const struct canvas_writer svg_writer = { .open = svg_open,
                                          .panel = svg_panel,
                                          .block = svg_block,
                                          .label = svg_label,
                                          .leader = svg_leader,
                                          .draw = svg_draw,
                                          .close = svg_close };
