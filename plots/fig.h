/** @file The builders behind plot_figures, one file each: struct plot_figure.build and build_rows. */
#ifndef PLOTS_FIG_H
#define PLOTS_FIG_H

#include "plots/canvas.h"
#include "plots/design.h"
#include "plots/rows.h"

int fig_speedup(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_cost(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_perf_per_cost(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_split(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_time(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_utilization(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_pareto(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_nic(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_breakdown(struct canvas *c, const struct plot_data *d, struct err *e);
int fig_mfu(struct canvas *c, const struct plot_data *d, struct err *e);

int fig_front(struct canvas *c, const struct rows *r, struct err *e);
int fig_plans(struct canvas *c, const struct rows *r, struct err *e);
int fig_timeline(struct canvas *c, const struct rows *r, struct err *e);
int fig_calibrate(struct canvas *c, const struct rows *r, struct err *e);

int fig_place(struct canvas *c, const struct rows *r, struct err *e);
int fig_embedded(struct canvas *c, const struct rows *r, struct err *e);
int fig_optimum(struct canvas *c, const struct rows *r, struct err *e);
int fig_makespan(struct canvas *c, const struct rows *r, struct err *e);
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
