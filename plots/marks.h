/** @file How data are drawn: kinds and styles of lines, markers and fills, as elements of gnuplot's plot
 * command. */
#ifndef PLOTS_MARKS_H
#define PLOTS_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/** Fills with a meaning: without hue what is no dimension's and no communication; the others begin at
 * FILL_FIRST. */
enum { FILL_WHITE, FILL_REST, FILL_LIGHT, FILL_MIDDLE, FILL_DARK, FILL_FIRST };
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
    int32_t style; /**< any count >= 0; repeats after 64 lines (dashes and markers after 8), 49 points (shapes
                      after 7), 24 fills, 10 bars, SHADE_COUNT shades */
};

/** Append the element that draws data block @p block as @p mark says. */
void marks_put(struct text *out, int32_t block, struct mark mark);
/** Whether text on a MARK_BAR of that style must be white. */
bool marks_bar_is_dark(int32_t style);

#endif
