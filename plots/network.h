/** @file A network as its dimensions: who is joined to whom, and how fast. */
#ifndef PLOTS_NETWORK_H
#define PLOTS_NETWORK_H

#include "plots/figure.h"

/** Draw the rows of @p t, dimensions from the innermost on: columns dim, shape, size, bw_GBps, and
 * utilization where it is known. As plot_draw(). */
int plot_network_draw(const struct table *t, const struct plot_options *opt, struct text *out_image,
                      struct err *e);

#endif
