/*
 * A page as a script for gnuplot, which makes PDF and PNG of it: a multiplot of panels whose margins are
 * fixed in shares of the page, so that gnuplot places nothing by itself. Data are named blocks ($d1, $d2..)
 * before the plot command that draws them.
 *
 * The same script, font sizes aside, serves all of gnuplot's terminals: sizes are given in pixels and turned
 * into points for those of Cairo. Numbers are written with 6 to 10 digits, which is finer than any screen and
 * keeps scripts of a million bars small. Text from tables is quoted and never enhanced, so that "_" and "^"
 * are themselves and nothing in a name is a command.
 */
#include "plots/canvas.h"

#include "plots/gnuplot.h"

static bool is_cairo(const struct canvas *c)
{
    return c->opt->format == PLOT_PDF || c->opt->format == PLOT_PNG;
}

/* Terminals of Cairo take points, 72 to the inch. */
static void put_font(struct canvas *c, double size_px)
{
    text_printf(&c->image, " font ',%.4g'", is_cairo(c) ? size_px * 0.75 : size_px);
}

/* One pixel is 1/96 inch; a PNG has two dots to it, so its fonts and lines are doubled by the terminal. */
static void script_open(struct canvas *c)
{
    double w = c->width_px, h = c->height_px;

    text_puts(&c->image, "set encoding utf8\nset terminal ");
    if (!is_cairo(c))
        text_printf(&c->image, "svg size %.0f,%.0f noenhanced font 'sans-serif,%g' background '#ffffff'\n", w,
                    h, CANVAS_FONT_PX);
    else if (c->opt->format == PLOT_PDF)
        text_printf(&c->image, "pdfcairo size %.6gin,%.6gin noenhanced font 'sans,%g' fontscale 0.75 color\n",
                    w / 96, h / 96, CANVAS_FONT_PX * 0.75);
    else
        text_printf(&c->image,
                    "pngcairo size %.0f,%.0f noenhanced font 'sans,%g' fontscale 2 linewidth 2 pointscale 2 "
                    "background '#ffffff'\n",
                    2 * w, 2 * h, CANVAS_FONT_PX * 0.75);
    /* The key is ours: gnuplot's would take room from panels by the length of its texts. */
    text_puts(&c->image, "unset key\n"
                         "set style line 1 lc rgb '#d0d0d0' lw 0.5 dt 1\n"
                         "set multiplot\n"
                         "set tics");
    put_font(c, CANVAS_SMALL_PX);
    text_puts(&c->image, "\n");
}

/* ---- panels ---- */

struct script_tics {
    struct text *out;
    const char *separator;
};

static void script_put_tic(void *of, const struct axis_tic *tic)
{
    struct script_tics *t = of;

    text_printf(t->out, "%s'%s' %.10g%s", t->separator, tic->label ? tic->label : "", tic->at,
                tic->minor ? " 1" : "");
    t->separator = ", ";
}

/* Settings stay from panel to panel: what this one has not must be taken back. */
static void script_put_axis(struct text *out, char which, const struct axis *a, double length_px)
{
    struct script_tics tics = { .out = out, .separator = "" };

    text_printf(out, "%s logscale %c\nset %crange [%.10g:%.10g]\n", a->log ? "set" : "unset", which, which,
                a->lo, a->hi);
    if (a->bare) {
        text_printf(out, "unset %ctics\n", which);
        return;
    }
    text_printf(out, "set %ctics scale 0.4 (", which);
    axis_tics(a, which == 'x', length_px, script_put_tic, &tics);
    text_puts(out, ") tc rgb '#000000'\n");
}

static bool has_grid(const struct axis *a)
{
    return !a->bare && !a->framed;
}

static void script_panel(struct canvas *c)
{
    const struct canvas_box *b = &c->box;
    struct text *s = &c->image;

    /* Margins on the screen make the panel just this box, whatever tics and labels it has. */
    text_printf(s, "set lmargin at screen %.6f\nset rmargin at screen %.6f\n", b->left / c->width_px,
                b->right / c->width_px);
    text_printf(s, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n", 1 - b->top / c->height_px,
                1 - b->bottom / c->height_px);
    text_printf(s, "set border %d lw 0.8 lc rgb '#555555'\nset grid %s %s back ls 1\n",
                canvas_has_frame(c) ? 15 : 0, has_grid(&c->x) ? "xtics" : "noxtics",
                has_grid(&c->y) ? "ytics" : "noytics");
    script_put_axis(s, 'x', &c->x, b->right - b->left);
    script_put_axis(s, 'y', &c->y, b->bottom - b->top);
}

/* gnuplot needs something to plot, or the panel keeps its labels for the next one. */
static void script_draw(struct canvas *c)
{
    text_printf(&c->image, "plot %s\nunset label\n%s", c->later.n ? text_str(&c->later) : "NaN",
                c->has_leaders ? "unset arrow\n" : "");
}

/* ---- blocks ---- */

static void script_put_item(struct text *out, const struct canvas_item *i)
{
    switch (i->as) {
    case ITEM_POINT:
        text_printf(out, "%.10g %.10g\n", i->x, i->y);
        break;
    case ITEM_BOX:
        text_printf(out, "%.10g %.10g %.10g %.10g\n", i->x, i->y, i->x_hi, i->y_hi);
        break;
    case ITEM_AREA:
        text_printf(out, "%.7g %.6g\n%.7g %.6g\n%.7g %.6g\n%.7g %.6g\n", i->x, i->y, i->x, i->y_hi, i->x_hi,
                    i->y_hi, i->x_hi, i->y);
        break;
    case ITEM_BREAK:
        text_puts(out, "\n");
        break;
    }
}

#define BOX_COLUMNS "using (($1+$3)/2):(($2+$4)/2):1:3:2:4 with boxxyerror"

/* The box, and its hatching as a second plot of the same data: gnuplot's patterns have one colour and a
 * transparent ground, or white, but none of two colours. Ours have the numbers of gnuplot's. */
static void put_boxes(struct text *out, int d, const struct look *look)
{
    if (!look->fill) {
        text_printf(out, "$d%d " BOX_COLUMNS " fs empty lc rgb '%s' lw %g", d, look->stroke, look->width);
        return;
    }
    text_printf(out, "$d%d " BOX_COLUMNS " fs solid 1 border lc rgb '%s' fc rgb '%s' lw %g", d, look->stroke,
                look->fill, look->width);
    if (look->hatch)
        text_printf(out,
                    ", $d%d " BOX_COLUMNS " fs transparent pattern %d border lc rgb '%s' fc rgb '%s' lw %g",
                    d, look->hatch, look->stroke, look->stroke, look->width);
}

static void put_line_style(struct text *out, int d, const struct look *look)
{
    text_printf(out, "$d%d using 1:2 with %s lw %g lc rgb '%s' dt ", d, look->point ? "linespoints" : "lines",
                look->width, look->stroke);
    text_printf(out, look->dash ? "(%s)" : "1", look->dash);
    if (look->point)
        text_printf(out, " ps %g pt %d", look->size, look->point);
}

static void script_put_mark(struct text *out, int32_t block, struct mark mark)
{
    const struct look look = mark_look(mark);
    int d = (int)block;

    switch (look.as) {
    case LOOK_LINE:
        put_line_style(out, d, &look);
        break;
    case LOOK_POINTS:
        text_printf(out, "$d%d using 1:2 with points ps %g lw %g lc rgb '%s' pt %d", d, look.size, look.width,
                    look.stroke, look.point);
        if (look.ring)
            text_printf(out, ", $d%d using 1:2 with points ps %g lw %g lc rgb '%s' pt %d", d, look.size,
                        look.width / 2, look.ring, look.point - 1);
        break;
    case LOOK_BOX:
        put_boxes(out, d, &look);
        break;
    case LOOK_AREA:
        text_printf(out, "$d%d using 1:2 with filledcurves closed fs %ssolid %g noborder fc rgb '%s'", d,
                    look.opacity < 1 ? "transparent " : "", look.opacity, look.fill);
        break;
    case LOOK_WHISKER: /* arrows with blunt heads: error bars would clear a spot in the middle */
        text_printf(
            out, "$d%d using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lw %g lc rgb '%s' dt 1",
            d, look.width, look.stroke);
        break;
    }
}

/* Numbered over the whole script, as blocks of data live until its end. */
static void script_block(struct canvas *c, struct mark mark)
{
    text_printf(&c->image, "$d%d << EOD\n", (int)++c->n_blocks);
    for (int64_t i = 0; i < c->n_items; i++)
        script_put_item(&c->image, &c->items[i]);
    text_puts(&c->image, "EOD\n");
    text_puts(&c->later, c->later.n ? ", " : "");
    script_put_mark(&c->later, c->n_blocks, mark);
}

/* ---- over the blocks ---- */

/* Shares of the page, from below; six digits are a hundredth of a pixel on the largest page. */
static void script_label(struct canvas *c, const struct canvas_label *at, const char *s)
{
    static const char *const align[] = { "left", "center", "right" };

    text_puts(&c->image, "set label ");
    gnuplot_quote(&c->image, s);
    text_printf(&c->image, " at screen %.6f,%.6f %s", at->x_px / c->width_px, 1 - at->y_px / c->height_px,
                align[at->align]);
    if (at->rotate)
        text_printf(&c->image, " rotate by %d", (int)at->rotate);
    put_font(c, at->size_px);
    text_printf(&c->image, " tc rgb '%s' front\n", at->color ? at->color : CANVAS_BLACK);
}

static void script_leader(struct canvas *c, struct canvas_xy from, struct canvas_xy to)
{
    text_printf(&c->image,
                "set arrow from screen %.6f,%.6f to screen %.6f,%.6f nohead lw 0.5 lc rgb '%s' front\n",
                from.x / c->width_px, 1 - from.y / c->height_px, to.x / c->width_px, 1 - to.y / c->height_px,
                CANVAS_GREY);
}

static void script_close(struct canvas *c)
{
    text_puts(&c->image, "unset multiplot\n");
}

const struct canvas_writer script_writer = { .open = script_open,
                                             .panel = script_panel,
                                             .block = script_block,
                                             .label = script_label,
                                             .leader = script_leader,
                                             .draw = script_draw,
                                             .close = script_close };
