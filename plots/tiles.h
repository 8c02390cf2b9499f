/** @file Maps of cells in shades with their numbers, by two quantities of few values: fig_plans,
 * fig_embedded. */
#ifndef PLOTS_TILES_H
#define PLOTS_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "plots/canvas.h"

enum { TILES_TEXT = 24, TILES_SHORT_NAME = 18 /**< characters of a word where room is short */ };

/** What is a box has a mark: a MARK_SHADE with its number in the label font, else FILL_WHITE or BAR_OVER. */
struct tiles_cell {
    bool empty; /**< no box and no text */
    struct mark mark;
    char first[TILES_TEXT], second[TILES_TEXT]; /**< two lines, the second where there is room; "" = none */
};

struct tiles_map {
    const char *name, *short_name; /**< borrowed; the short one where there is no room for the other */
    struct tiles_cell *cells;      /**< shape [n_rows][n_columns], borrowed */
    int64_t framed;                /**< the cell with a frame; -1 = none */
};

/** All borrowed. */
struct tiles_spec {
    const struct tiles_map *maps; /**< shape [n_maps] */
    int32_t n_maps;
    const char *const *row_values, *const *column_values; /**< shape [n_rows], [n_columns] */
    int32_t n_rows, n_columns;
    const char *row_label, *row_word; /**< the word where there is no room for the label */
    const char *column_label;
};

/** Draw the maps, two beside each other where there is room, on a page whose notes and legend are set. */
int tiles_build(struct canvas *c, const struct tiles_spec *spec, struct err *e);

#endif
