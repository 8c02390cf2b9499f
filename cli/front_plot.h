/** @file A plot of marks in plain characters, 80 columns wide, the same in every terminal. */
#ifndef CLI_FRONT_PLOT_H
#define CLI_FRONT_PLOT_H

#include "base/text.h"
#include "plots/scale.h"

/** How a column is shown: "time [ms]". */
struct column_look {
    char title[64]; /**< without the unit's suffix */
    char unit[16];  /**< "" for none */
    double scale;   /**< a value over it is in `unit` */
};

/** By the suffix of the name (_s, _usd, _GBps..); @p most is the largest value to show. */
void column_look(struct column_look *look, const char *name, double most);

enum { FRONT_PLOT_WIDTH = 62, FRONT_PLOT_HEIGHT = 17 };

struct front_plot {
    struct column_look x_look, y_look;
    struct axis x, y;
    char cells[FRONT_PLOT_HEIGHT][FRONT_PLOT_WIDTH + 1]; /**< the top row first */
};

/** Axes for values of two columns between these limits, both among them; log where they are far apart. */
void front_plot_begin(struct front_plot *p, const char *x_name, const double x_limits[2], const char *y_name,
                      const double y_limits[2]);
/** A mark over what is there; values outside go to the rim. */
void front_plot_mark(struct front_plot *p, double x, double y, char mark);
void front_plot_write(const struct front_plot *p, struct text *out);

#endif
