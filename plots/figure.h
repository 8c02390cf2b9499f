/**
 * @file Figures from tables: of designs, of a simulated step, of measurements, of placements.
 *
 * Most draw designs, from the CSV that `weft sweep` and `weft alloc --of csv` write. Its columns, one row a
 * design: point, network, n_dims, dims (names joined by '|', innermost first), workload, objective (time,
 * perf_per_cost, utilization, cost), total_GBps, status; and, blank unless status is "solved" or "unproved":
 * time_s, compute_s, comm_s, cost_usd, equal_time_s, equal_cost_usd, speedup, perf_per_cost_gain, nic_GBps,
 * and for dimension i = 1..8 bw<i>_GBps, util<i> (share 0..1 of the step) and exposed<i>_s. Where a sweep
 * trains models, also plan, tp, cp, dp, pp, ep, memory_GB, fits ("yes", "no"), mfu, and of the step
 * recompute_s, bubble_s, optimizer_s, overhead_s and exposed tp_s, cp_s, ep_s, dp_s, pp_s; its axes stand
 * between point and network. A figure asks only for those it draws.
 *
 * The others say in their source which command writes their table.
 *
 * A figure is a row of plot_figures (plots/figures.c) and a function that draws; columns it names are checked
 * before that. SVG is written by the program itself; of PDF and PNG gnuplot is run as a process with a script
 * on its standard input, and never writes a file itself.
 */
#ifndef PLOTS_FIGURE_H
#define PLOTS_FIGURE_H

#include <stdint.h>

#include "base/err.h"
#include "base/table.h"
#include "base/text.h"

struct canvas;
struct rows;

enum plot_format { PLOT_SVG, PLOT_PDF, PLOT_PNG, PLOT_SCRIPT };

/** Names of the formats, in the order of enum plot_format, NULL-terminated: "svg", "pdf", "png", "gp". */
extern const char *const plot_format_names[];

/** Keep only rows where @p column equals @p value (as a number where the column holds numbers). */
struct plot_where {
    const char *column, *value; /**< borrowed */
};

/** Zero-initialise for the defaults. */
struct plot_options {
    enum plot_format format;
    const char *title;              /**< NULL or "" = the figure's own */
    const struct plot_where *where; /**< shape [n_where], borrowed. One column twice means either value, */
    int32_t n_where;                /**< two columns mean both. */
    int32_t width_px, height_px;    /**< 96 to the inch; 0 = the figure's choice, else 240..10000. PNG has two
                                         pixels for one of these. */
    bool linked; /**< an SVG for a page that has the table too: a mark is a link to #pROW with data-p="ROW",
                    rows counted from 0 or as row_ids says; size, ground and colours are the page's */
    const int64_t *row_ids; /**< shape [rows of the table], borrowed: what links call a row, -1: it has
                                         none; NULL: its number */
    struct text
        *said; /**< gets a line for each thing that the figure leaves out without showing it; or NULL */
};

/** How a figure is drawn. */
struct plot_figure {
    const char *name, *help;
    const char *const *columns; /**< needed, NULL-terminated; '#' stands for each dimension's number */
    const char *source;         /**< command that writes the table, NULL for any sweep */
    /** Draw the rows of @p r that pass its filters; the columns above are there. Errors as plot_draw(). */
    int (*build)(struct canvas *c, const struct rows *r, struct err *e);
    const void *look; /**< what `build` makes of them, where several figures share it */
};

extern const struct plot_figure plot_figures[];
extern const int32_t plot_n_figures;

/**
 * Draw @p figure (a name of plot_figures) from @p t and append the image to @p out_image, which on an error
 * is as it was. SVG and scripts need no gnuplot. Designs whose status is neither "solved" nor "unproved" are
 * left out; rows without a value the figure needs are left out too, and the figure says how many. Same table,
 * same bytes.
 *
 * @return 0; ERR_USAGE (no such figure or filter column); ERR_PARSE (a column is
 *         missing or holds the wrong kind of value, no row is left); ERR_RANGE
 *         (size); ERR_LIB, ERR_IO (gnuplot, see gnuplot_run()); ERR_NOMEM.
 */
int plot_draw(const char *figure, const struct table *t, const struct plot_options *opt,
              struct text *out_image, struct err *e);

/** A network as its dimensions: who is joined to whom, and how fast. Draw the rows of @p t, dimensions from
 * the innermost on: columns dim, shape, size, bw_GBps, and utilization where it is known. As plot_draw(). */
int plot_network_draw(const struct table *t, const struct plot_options *opt, struct text *out_image,
                      struct err *e);

#endif
