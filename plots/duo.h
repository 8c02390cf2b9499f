/** @file A page of two columns of panels, a row for each point of a study: fig_gossip, fig_gossip_loss. */
#ifndef PLOTS_DUO_H
#define PLOTS_DUO_H

#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/points.h"

enum { DUO_MAX_POINTS = 4 };

/** All borrowed. */
struct duo_spec {
    const struct points *points;           /**< of which at most DUO_MAX_POINTS are drawn */
    const char *x_labels[2], *y_labels[2]; /**< of the columns, with units */
    /** Draw panel @p column of point @p point, from canvas_panel() up to its blocks, in @p box. */
    void (*paint)(struct canvas *c, const struct canvas_box *box, int32_t point, int32_t column, void *of);
    void *of; /**< handed to `paint` */
};

/** Of a time axis that ends at @p most_s: seconds, as in the tables, until numbers have five digits; then
 * hours and days. This project's choice. */
struct unit duo_time_unit(double most_s);

/** Draw the panels on a page whose notes and legend are set. ERR_RANGE when the page is too low. */
int duo_build(struct canvas *c, const struct duo_spec *spec, struct err *e);

#endif
