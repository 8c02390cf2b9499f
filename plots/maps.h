/**
 * @file Maps of cells in shades with their numbers, by two quantities of few values: fig_plans, and shares of
 * jobs that run.
 *
 * The limits are of what a page can show with its numbers readable; what is beyond them callers leave out,
 * and say so in a note by n_all.
 */
#ifndef PLOTS_MAPS_H
#define PLOTS_MAPS_H

#include "plots/data.h"

enum {
    MAPS_MOST = 6,
    MAPS_VALUES = 16,
    MAPS_TEXT = 24,
    MAPS_SHORT_NAME = 18 /**< characters of a word where room is short */
};

/** What is a box has a mark: a MARK_SHADE with its number in the label font, else FILL_WHITE or BAR_OVER. */
struct map_cell {
    bool filled; /**< has a box and a text */
    struct mark mark;
    char first[MAPS_TEXT], second[MAPS_TEXT]; /**< two lines, the second where there is room; "" = none */
};

struct map {
    const char *name, *short_name; /**< the short one where there is no room for the other */
    struct map_cell *cells;        /**< shape [n_rows][n_columns] */
    int64_t framed;                /**< the cell with a frame; -1 = none */
};

/** Rows or columns of the maps. */
struct map_side {
    const char *label, *word;      /**< the word where there is no room for the label */
    const char *list[MAPS_VALUES]; /**< their values as text */
    int32_t n, n_all;              /**< drawn, and how many there are */
};

/** All borrowed. */
struct maps {
    const struct map *list; /**< shape [n] */
    int32_t n;
    struct map_side rows, columns;
};

/**
 * Draw the maps, two beside each other where there is room, on a page whose notes and legend are set.
 *
 * @p spec has 1..MAPS_MOST maps of the same rows and columns, 1..MAPS_VALUES of each. ERR_RANGE when the page
 * is too low for cells of 14 px.
 */
int maps_build(struct canvas *c, const struct maps *spec, struct err *e);
/** Append " · " and @p word, of which at most so many characters. */
void maps_put_word(struct text *out, const char *word, size_t chars);

#endif
