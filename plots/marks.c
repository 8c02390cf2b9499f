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
#include "plots/marks.h"

#include <stddef.h>
#include <string.h>

/* Okabe and Ito, "Color Universal Design" (2008): told apart with any colour vision. */
static const struct {
    const char *color, *dash;
    int point;
} line_styles[] = {
    { "#555555", "6,4", 4 },  { "#0072B2", NULL, 7 },    { "#D55E00", "12,3,2,3", 9 },
    { "#009E73", "2,3", 5 },  { "#CC79A7", "12,4", 13 }, { "#E69F00", "6,2,2,2,2,2", 11 },
    { "#56B4E9", "3,1", 15 }, { "#000000", "1,2", 8 },
};

static const char *const point_colors[MARKS_COLORS] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                        "#E69F00", "#56B4E9", "#000000" };
/* All shapes, filled and hollow. */
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

/* Styles below FILL_FIRST are white and greys for what is no series; they are outside the rounds. */
static struct look fill_look(int32_t style)
{
    int32_t n = LENGTH(fill_styles) - FILL_FIRST, i = style, k = style;

    /* On the next round the colours move on against the patterns. */
    if (style >= FILL_FIRST) {
        i = FILL_FIRST + (style - FILL_FIRST) % n;
        k = FILL_FIRST + (style - FILL_FIRST + (style - FILL_FIRST) / n) % n;
    }
    return (struct look){ .as = LOOK_BOX,
                          .stroke = "#000000",
                          .width = 0.6,
                          .fill = fill_styles[k].color,
                          .hatch = fill_styles[i].pattern };
}

/* On the next round the colours move on against dashes and markers. */
static const char *line_color(int32_t style)
{
    int32_t n = LENGTH(line_styles);

    return line_styles[(style + style / n) % n].color;
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

static const char *point_color(int32_t style)
{
    int32_t s = style % MARKS_POINTS, shape = s % MARKS_SHAPES;
    return point_colors[(shape + (MARKS_COLORS - 1) * (s / MARKS_SHAPES)) % MARKS_COLORS];
}

static struct look line_of(const char *color, double width)
{
    return (struct look){ .as = LOOK_LINE, .stroke = color, .width = width };
}

/* Less than 3 to 1 on white (WCAG 2.2, 1.4.11): such markers have an edge. */
static const char *edge_of(const char *color)
{
    bool light = strcmp(color, "#E69F00") == 0 || strcmp(color, "#56B4E9") == 0;
    return light ? "#555555" : NULL;
}

static struct look points_of(const char *color, int point, double size, double width)
{
    return (struct look){ .as = LOOK_POINTS,
                          .stroke = color,
                          .point = point,
                          .size = size,
                          .width = width,
                          .ring = point % 2 ? edge_of(color) : NULL };
}

static struct look box_of(const char *stroke, double width, const char *fill)
{
    return (struct look){ .as = LOOK_BOX, .stroke = stroke, .width = width, .fill = fill };
}

/* Areas are polygons of all boxes of a block in one, without edges: in an SVG a fraction of the bytes. */
static struct look area_of(const char *fill, double opacity)
{
    return (struct look){ .as = LOOK_AREA, .fill = fill, .opacity = opacity };
}

struct look mark_look(struct mark mark)
{
    int32_t s = mark.style, shape = s % MARKS_POINTS % MARKS_SHAPES, line = s % LENGTH(line_styles);
    const char *bar = bar_colors[s % LENGTH(bar_colors)], *shade = shade_colors[s % SHADE_COUNT];
    struct look look;

    switch (mark.kind) {
    case MARK_FILL:
        return fill_look(s);
    case MARK_LINE:
    case MARK_TRACE:
        look = line_of(line_color(s), 1.6);
        look.dash = line_styles[line].dash;
        look.point = mark.kind == MARK_LINE ? line_styles[line].point : 0;
        look.ring = look.point % 2 ? edge_of(look.stroke) : NULL;
        look.size = 0.6;
        return look;
    case MARK_CURVE:
        return line_of(point_color(s), 1.6);
    case MARK_FRONT:
        return line_of("#000000", 1.2);
    case MARK_RULE:
        return line_of("#999999", 0.6);
    case MARK_HAIR:
        return line_of("#000000", 0.3);
    case MARK_POINT:
        return points_of(point_color(s), point_shapes[shape].filled, 0.8, 1.2);
    case MARK_HOLLOW:
        return points_of(point_color(s), point_shapes[shape].hollow, 0.8, 1.2);
    case MARK_CLOUD:
        return points_of("#999999", POINT_CIRCLE + 1, 0.4, 1);
    case MARK_DOT:
        return points_of(line_color(s), line_styles[line].point, 0.6, 1.6);
    case MARK_RING:
        return points_of("#000000", POINT_CIRCLE, 1.7, 1.4);
    case MARK_SPOT:
        look = points_of(shade, POINT_CIRCLE + 1, 0.9, 1);
        look.ring = "#555555";
        return look;
    case MARK_BAR:
        return box_of("#000000", 0.3, bar);
    case MARK_SHADE:
        return box_of("#FFFFFF", 1, shade);
    case MARK_FRAME:
        return box_of(over_color, 3, NULL);
    case MARK_AREA:
        return area_of(bar, 1);
    case MARK_TINT:
        return area_of(s == SHADE_OVER ? over_color : shade, 1);
    case MARK_BAND:
        return area_of(line_color(s), 0.14);
    case MARK_WHISKER:
        break;
    }
    look = line_of(s ? line_color(s - 1) : "#000000", 0.9);
    look.as = LOOK_WHISKER;
    return look;
}
