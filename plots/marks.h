/**
 * @file Kinds and styles of lines, markers and fills, and what each looks like, for whoever writes an image.
 */
#ifndef PLOTS_MARKS_H
#define PLOTS_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/** Fills with a meaning: without hue what is no dimension's and no communication; the others begin at
 * FILL_FIRST. */
enum { FILL_WHITE, FILL_REST, FILL_LIGHT, FILL_MIDDLE, FILL_DIM, FILL_DARK, FILL_FIRST };
/** The same of bars and areas: what is over and done, and work that is no dimension's. */
enum { BAR_OVER, BAR_GREY, BAR_FIRST };
/** Shades of one hue, dark for good to light for bad; text on the dark ones is white. */
enum { SHADE_DARK = 2, SHADE_COUNT = 8, SHADE_OVER = SHADE_COUNT };

/** How data are drawn. Styles of one kind differ in colour and in dash, marker or fill pattern. */
enum mark_kind {
    MARK_LINE,    /**< line with markers */
    MARK_POINT,   /**< markers, filled */
    MARK_HOLLOW,  /**< the same markers, hollow */
    MARK_FRONT,   /**< plain black line */
    MARK_FILL,    /**< filled boxes */
    MARK_CURVE,   /**< plain line in the colour of the marker of that style */
    MARK_RULE,    /**< thin grey line */
    MARK_HAIR,    /**< black hairline */
    MARK_BAR,     /**< boxes in a plain colour with a hairline around */
    MARK_AREA,    /**< boxes of canvas_area() in a plain colour, many as one shape */
    MARK_SHADE,   /**< boxes in a shade, with a white gap around */
    MARK_TINT,    /**< boxes of canvas_area() in a shade, SHADE_OVER for more than there can be */
    MARK_WHISKER, /**< intervals: canvas_bar() with x, middle, lowest, highest; style 0 black, else 1 + that
                     of the MARK_LINE */
    MARK_TRACE,   /**< the line of a MARK_LINE without its markers */
    MARK_DOT,     /**< its markers without the line */
    MARK_BAND,    /**< one shape in its colour, light enough for lines to be seen through */
    MARK_CLOUD,   /**< small grey dots, of which there may be many */
    MARK_SPOT,    /**< points in a shade, with a grey edge */
    MARK_RING,    /**< black rings around markers */
    MARK_FRAME,   /**< boxes without fill, in a thick line that shows on shades */
};

struct mark {
    enum mark_kind kind;
    int32_t style; /**< any count >= 0; repeats after 64 lines (dashes and markers after 8), MARKS_POINTS
                      points (shapes after MARKS_SHAPES), 24 fills, 10 bars, SHADE_COUNT shades */
};

/** Points: each shape is there filled and hollow, in each colour. */
enum { MARKS_COLORS = 7, MARKS_SHAPES = 6, MARKS_POINTS = MARKS_COLORS * MARKS_SHAPES };
/** The style of a MARK_POINT or MARK_HOLLOW in this colour and shape; shapes repeat after MARKS_SHAPES. */
int32_t marks_point_style(int32_t color, int32_t shape);

/** Whether text on a MARK_BAR of that style must be white. */
bool marks_bar_is_dark(int32_t style);

/** Shapes of markers, the hollow one of each; the filled one is the next number. */
enum {
    POINT_SQUARE = 4,
    POINT_CIRCLE = 6,
    POINT_UP = 8,
    POINT_DOWN = 10,
    POINT_DIAMOND = 12,
    POINT_PENTAGON = 14
};

/** What a mark looks like. Colours are "#RRGGBB"; widths in pixels; all borrowed for ever. */
struct look {
    enum { LOOK_LINE, LOOK_POINTS, LOOK_BOX, LOOK_AREA, LOOK_WHISKER } as;
    const char *stroke; /**< of lines, of edges, of markers, be they filled or hollow */
    double width;
    const char *dash; /**< "6,4": lengths drawn and not, in widths of the line; NULL: drawn through */
    int point;        /**< marker; of a LOOK_LINE 0 for none */
    double size;      /**< of the marker: 1 is 9 px across */
    const char *ring; /**< a hollow marker over each, in this colour and half as wide; NULL: none */
    const char *fill; /**< of boxes and areas; NULL: none */
    double opacity;   /**< of an area */
    int hatch; /**< over the fill: 0 none, 1 and 2 crossed, wide and narrow, 4 and 5 slanted down and up,
                  6 and 7 steeply so */
};
struct look mark_look(struct mark mark);

#endif
