/** @file The builders behind plot_figures that have a file of their own: struct plot_figure.build. */
#ifndef PLOTS_FIG_H
#define PLOTS_FIG_H

#include "plots/data.h"

/** Draw @p figure, which need not be in the list, of a table. Errors as plot_draw(), without gnuplot's. */
int figure_script(const struct plot_figure *figure, const struct table *t, const struct plot_options *opt,
                  struct text *script, struct err *e);

/** Any columns: look is a struct plot_xy. */
int fig_xy(struct canvas *c, const struct rows *r, struct err *e);
int fig_front(struct canvas *c, const struct rows *r, struct err *e);
int fig_plans(struct canvas *c, const struct rows *r, struct err *e);
int fig_timeline(struct canvas *c, const struct rows *r, struct err *e);
int fig_calibrate(struct canvas *c, const struct rows *r, struct err *e);

int fig_place(struct canvas *c, const struct rows *r, struct err *e);
int fig_embedded(struct canvas *c, const struct rows *r, struct err *e);
int fig_place_cost(struct canvas *c, const struct rows *r, struct err *e);
int fig_gantt(struct canvas *c, const struct rows *r, struct err *e);
int fig_links(struct canvas *c, const struct rows *r, struct err *e);

int fig_hetero(struct canvas *c, const struct rows *r, struct err *e);
int fig_learning(struct canvas *c, const struct rows *r, struct err *e);
int fig_strip(struct canvas *c, const struct rows *r, struct err *e);

int fig_gossip(struct canvas *c, const struct rows *r, struct err *e);
int fig_gossip_loss(struct canvas *c, const struct rows *r, struct err *e);
int fig_gossip_need(struct canvas *c, const struct rows *r, struct err *e);

#endif
