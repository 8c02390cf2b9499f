/*
 * Colours, dashes, markers and hatchings, chosen to be told apart in grey and with any colour vision. Styles
 * never run out: each round the colours move on against the shapes, so that products of both come before a
 * repetition.
 *
 * Of n colours and n shapes style s has shape s mod n and colour (s + s div n) mod n: n * n styles that
 * differ before the first returns. Points have a colour more than shapes: style s has colour s mod 7 less
 * what was gone round, so that the seventh is the first shape in the seventh colour. A style belongs to a
 * meaning, not to a position, where one has a fixed meaning (objectives, passes of collectives): such figures
 * pass the style by hand.
 */
#include "plots/canvas.h"

/* Okabe and Ito, "Color Universal Design" (2008): told apart with any colour vision. */
static const struct {
    const char *color, *dash;
    int point; /* gnuplot's point type */
} line_styles[] = {
    { "#555555", "(6,4)", 4 },  { "#0072B2", "1", 7 },       { "#D55E00", "(12,3,2,3)", 9 },
    { "#009E73", "(2,3)", 5 },  { "#CC79A7", "(12,4)", 13 }, { "#E69F00", "(6,2,2,2,2,2)", 11 },
    { "#56B4E9", "(3,1)", 15 }, { "#000000", "(1,2)", 8 },
};

static const char *const point_colors[MARKS_COLORS] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                        "#E69F00", "#56B4E9", "#000000" };
/* gnuplot's point types: all that it has both filled and hollow. */
static const struct {
    int filled, hollow;
} point_shapes[MARKS_SHAPES] = { { 7, 6 }, { 9, 8 }, { 5, 4 }, { 13, 12 }, { 11, 10 }, { 15, 14 } };

/* Light and dark alternate and black hatching lies over the light ones, so that
 * neighbours differ in grey as well. Pattern 0: no hatching. No two are the same. */
static const struct {
    const char *color;
    int pattern;
} fill_styles[] = {
    { "#FFFFFF", 0 }, { "#FFFFFF", 2 }, { "#DDDDDD", 0 }, { "#AAAAAA", 0 }, { "#888888", 0 },
    { "#666666", 0 }, { "#0072B2", 0 }, { "#E69F00", 5 }, { "#F0E442", 0 }, { "#D55E00", 4 },
    { "#56B4E9", 1 }, { "#009E73", 7 }, { "#CC79A7", 6 }, { "#000000", 0 }, { "#E69F00", 0 },
    { "#F0E442", 5 }, { "#D55E00", 0 }, { "#56B4E9", 4 }, { "#009E73", 1 }, { "#CC79A7", 7 },
    { "#56B4E9", 0 }, { "#CC79A7", 0 }, { "#F0E442", 4 }, { "#009E73", 0 }, { "#E69F00", 1 },
    { "#56B4E9", 7 }, { "#F0E442", 1 }, { "#D55E00", 5 }, { "#CC79A7", 4 }, { "#E69F00", 7 },
};

/* Plain colours for bars too narrow for hatching. Dark and light alternate, and none but the first is near
 * the white of idle time. */
static const char *const bar_colors[] = { "#EEEEEE", "#B8B8B8", "#0072B2", "#E69F00", "#6A1B4D", "#56B4E9",
                                          "#D55E00", "#F0E442", "#009E73", "#CC79A7", "#444444" };

/* ColorBrewer's "Blues", reversed (Brewer, Hatchard, Harrower, 2003): in order also in grey. */
static const char *const shade_colors[SHADE_COUNT] = { "#08519C", "#2171B5", "#4292C6", "#6BAED6",
                                                       "#9ECAE1", "#C6DBEF", "#DEEBF7", "#F7FBFF" };

static const char over_color[] = "#D55E00";

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

#define BOX_COLUMNS "using (($1+$3)/2):(($2+$4)/2):1:3:2:4 with boxxyerror"

/* Styles below FILL_FIRST are white and greys for what is no series; they are outside the rounds. */
static void put_fill(struct text *out, int d, int32_t style)
{
    int32_t n = LENGTH(fill_styles) - FILL_FIRST, i = style, k = style;

    /* On the next round the colours move on against the patterns. */
    if (style >= FILL_FIRST) {
        i = FILL_FIRST + (style - FILL_FIRST) % n;
        k = FILL_FIRST + (style - FILL_FIRST + (style - FILL_FIRST) / n) % n;
    }
    /* The box, and its hatching as a second plot of the same data: gnuplot's patterns have one colour and a
     * transparent ground, or white, but none of two colours. */
    text_printf(out, "$d%d " BOX_COLUMNS " fs solid 1 border lc rgb '#000000' fc rgb '%s' lw 0.6", d,
                fill_styles[k].color);
    if (fill_styles[i].pattern)
        text_printf(out,
                    ", $d%d " BOX_COLUMNS
                    " fs transparent pattern %d border lc rgb '#000000' fc rgb '#000000' lw 0.6",
                    d, fill_styles[i].pattern);
}

/* On the next round the colours move on against dashes and markers. */
static const char *line_color(int32_t style)
{
    int32_t n = LENGTH(line_styles);

    return line_styles[(style + style / n) % n].color;
}

/* The line of a MARK_LINE, with or without its markers. */
static void marks_put_line(struct text *out, int32_t block, int32_t style, bool markers)
{
    int32_t i = style % LENGTH(line_styles);

    text_printf(out, "$d%d using 1:2 with %s lw 1.6 lc rgb '%s' dt %s", (int)block,
                markers ? "linespoints" : "lines", line_color(style), line_styles[i].dash);
    if (markers)
        text_printf(out, " ps 0.6 pt %d", line_styles[i].point);
}

/* Areas are polygons of all boxes of a block in one, without edges: in an SVG a fraction of the bytes. */
static void marks_put_bar(struct text *out, int d, struct mark mark)
{
    const char *color = bar_colors[mark.style % LENGTH(bar_colors)];

    if (mark.kind == MARK_BAR)
        text_printf(out, "$d%d " BOX_COLUMNS " fs solid 1 border lc rgb '#000000' fc rgb '%s' lw 0.3", d,
                    color);
    else
        text_printf(out, "$d%d using 1:2 with filledcurves closed fs solid 1 noborder fc rgb '%s'", d, color);
}

bool marks_bar_is_dark(int32_t style)
{
    /* Luma below a half, of the colours above. */
    static const bool dark[LENGTH(bar_colors)] = {
        [2] = true, [4] = true, [6] = true, [8] = true, [10] = true
    };

    return dark[style % LENGTH(bar_colors)];
}

int32_t marks_point_style(int32_t color, int32_t shape)
{
    int32_t s = shape % MARKS_SHAPES;
    return s + MARKS_SHAPES * ((s - color + MARKS_COLORS) % MARKS_COLORS);
}

static void marks_put_points(struct text *out, int d, struct mark mark)
{
    int32_t style = mark.style % MARKS_POINTS, shape = style % MARKS_SHAPES;
    const char *color = point_colors[(shape + (MARKS_COLORS - 1) * (style / MARKS_SHAPES)) % MARKS_COLORS];

    if (mark.kind == MARK_CLOUD)
        text_printf(out, "$d%d using 1:2 with points ps 0.4 lc rgb '#999999' pt 7", d);
    else if (mark.kind == MARK_CURVE)
        text_printf(out, "$d%d using 1:2 with lines lw 1.6 lc rgb '%s' dt 1", d, color);
    else
        text_printf(out, "$d%d using 1:2 with points ps 0.8 lw 1.2 lc rgb '%s' pt %d", d, color,
                    mark.kind == MARK_POINT ? point_shapes[shape].filled : point_shapes[shape].hollow);
}

void marks_put(struct text *out, int32_t block, struct mark mark)
{
    int d = (int)block;

    switch (mark.kind) {
    case MARK_FILL:
        put_fill(out, d, mark.style);
        break;
    case MARK_LINE:
        marks_put_line(out, d, mark.style, true);
        break;
    case MARK_FRONT:
        text_printf(out, "$d%d using 1:2 with lines lw 1.2 lc rgb '#000000' dt 1", d);
        break;
    case MARK_RULE:
        text_printf(out, "$d%d using 1:2 with lines lw 0.6 lc rgb '#999999' dt 1", d);
        break;
    case MARK_HAIR:
        text_printf(out, "$d%d using 1:2 with lines lw 0.3 lc rgb '#000000' dt 1", d);
        break;
    case MARK_POINT:
    case MARK_HOLLOW:
    case MARK_CURVE:
    case MARK_CLOUD:
        marks_put_points(out, d, mark);
        break;
    case MARK_BAR:
    case MARK_AREA:
        marks_put_bar(out, d, mark);
        break;
    case MARK_SHADE:
        text_printf(out, "$d%d " BOX_COLUMNS " fs solid 1 border lc rgb '#FFFFFF' fc rgb '%s' lw 1", d,
                    shade_colors[mark.style % SHADE_COUNT]);
        break;
    case MARK_TINT:
        text_printf(out, "$d%d using 1:2 with filledcurves closed fs solid 1 noborder fc rgb '%s'", d,
                    mark.style == SHADE_OVER ? over_color : shade_colors[mark.style % SHADE_COUNT]);
        break;
    case MARK_WHISKER: /* arrows with blunt heads: error bars would clear a spot in the middle */
        text_printf(
            out, "$d%d using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lw 0.9 lc rgb '%s' dt 1",
            d, mark.style ? line_color(mark.style - 1) : "#000000");
        break;
    case MARK_TRACE:
        marks_put_line(out, d, mark.style, false);
        break;
    case MARK_DOT:
        text_printf(out, "$d%d using 1:2 with points ps 0.6 lw 1.6 lc rgb '%s' pt %d", d,
                    line_color(mark.style), line_styles[mark.style % LENGTH(line_styles)].point);
        break;
    case MARK_BAND:
        text_printf(out,
                    "$d%d using 1:2 with filledcurves closed fs transparent solid 0.14 noborder fc rgb '%s'",
                    d, line_color(mark.style));
        break;
    case MARK_SPOT:
        text_printf(
            out,
            "$d%d using 1:2 with points ps 0.9 lc rgb '%s' pt 7, $d%d using 1:2 with points ps 0.9 lw 0.5 "
            "lc rgb '#555555' pt 6",
            d, shade_colors[mark.style % SHADE_COUNT], d);
        break;
    case MARK_RING:
        text_printf(out, "$d%d using 1:2 with points ps 1.7 lw 1.4 lc rgb '#000000' pt 6", d);
        break;
    case MARK_FRAME:
        text_printf(out, "$d%d " BOX_COLUMNS " fs empty lc rgb '#D55E00' lw 3", d);
        break;
    }
}
