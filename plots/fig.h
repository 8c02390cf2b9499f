/**
 * @file What draws the figures of plot_figures: struct plot_figure.build, and what .look is of those that
 * several figures share. Such a figure is a declaration over columns of its table.
 *
 * Builders share one contract: the columns that the row of plot_figures names are there; a builder reads them
 * with data_read(), draws on the canvas it is given, and frees nothing, as all memory is the canvas'.
 */
#ifndef PLOTS_FIG_H
#define PLOTS_FIG_H

#include "plots/data.h"

/** The SVG, or what gnuplot is given to draw a figure, which need not be in the list. As plot_draw(). */
int figure_script(const struct plot_figure *figure, const struct table *t, const struct plot_options *opt,
                  struct text *script, struct err *e);
/** plot_draw() of a figure that need not be in the list. */
int figure_draw(const struct plot_figure *figure, const struct table *t, const struct plot_options *opt,
                struct text *out_image, struct err *e);

/* ---- any table ---- */

struct plot_xy;

/** Any columns: look is a struct plot_xy. */
int fig_xy(struct canvas *c, const struct rows *r, struct err *e);
/** The same by @p spec. */
int xy_draw(struct canvas *c, const struct rows *r, const struct plot_xy *spec, struct err *e);

/* ---- designs: rows of a sweep ---- */

enum { FIG_METRICS = 2 };

/** What a row of panels shows on its y axis. */
struct fig_metric {
    const char *column, *label; /**< label: without unit */
    const char *unit;           /**< "" = none; NULL = that of the column, in the multiple that fits */
    bool low_is_better;
    const char *equal_column; /**< the equal split's value; "1" = it is 1 for all; NULL = not drawn */
};

/** Lines over x: a column per workload, rows by network, a series per objective. Panels share their axes; of
 * designs of one series at one x the best is drawn. */
struct fig_panels {
    const char *x, *x_label;
    bool by_network;   /**< a row of panels per network; else all networks in one */
    bool common_total; /**< only designs of the total bandwidth that most share; x is the number of dimensions
                        */
    const char *note;
    struct fig_metric metrics[FIG_METRICS];
    int32_t n_metrics;
};

/** Horizontal bars, a row per design: stacked parts, or one bar per part. */
struct fig_bars {
    const char *axis_label; /**< without unit */
    const char *unit;       /**< of the values; NULL: that of the first part, in the multiple that fits */
    const char *dim_prefix; /**< before a dimension's name in the legend: "exposed: " */
    const char *end_label;  /**< heading of the numbers at the right end; NULL = none */
    const char *per_dim;    /**< column of what each dimension has; NULL = none */
    double times;           /**< what the values are multiplied by */
    struct sweep_part {
        const char *column, *label;
        int32_t fill;
    } const *own; /**< shape [n_own], parts that are no dimension; dimensions stand after the first in the
                     legend. The last is the rest of the step */
    int32_t n_own;
    double least;    /**< own parts below this share of the step go to the rest */
    bool stacked;    /**< else one bar per part */
    bool exposed;    /**< with a note what this means, and " *" behind misfits */
    double axis_max; /**< 0 = fit */
};

/** look is a struct fig_panels, and so below: the struct of the function's name. */
int fig_panels(struct canvas *c, const struct rows *r, struct err *e);
int fig_bars(struct canvas *c, const struct rows *r, struct err *e);
/** No look: one figure each, of the table that its row of plot_figures names. */
int fig_plans(struct canvas *c, const struct rows *r, struct err *e);
int fig_timeline(struct canvas *c, const struct rows *r, struct err *e);
int fig_calibrate(struct canvas *c, const struct rows *r, struct err *e);
int fig_tornado(struct canvas *c, const struct rows *r, struct err *e);

/* ---- schedulers of jobs ---- */

/** look is a struct plot_xy, of which x, colours and panels are what tells rows apart; those below have none.
 */
int fig_outcomes(struct canvas *c, const struct rows *r, struct err *e);
int fig_place(struct canvas *c, const struct rows *r, struct err *e);
int fig_place_cost(struct canvas *c, const struct rows *r, struct err *e);
int fig_gantt(struct canvas *c, const struct rows *r, struct err *e);
int fig_links(struct canvas *c, const struct rows *r, struct err *e);

/* ---- schedulers of layers, methods of communication ---- */

int fig_hetero(struct canvas *c, const struct rows *r, struct err *e);
int fig_learning(struct canvas *c, const struct rows *r, struct err *e);
int fig_strip(struct canvas *c, const struct rows *r, struct err *e);
int fig_gossip(struct canvas *c, const struct rows *r, struct err *e);
int fig_gossip_loss(struct canvas *c, const struct rows *r, struct err *e);
int fig_gossip_need(struct canvas *c, const struct rows *r, struct err *e);

#endif
