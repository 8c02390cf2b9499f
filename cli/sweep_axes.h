/** @file What `weft sweep --dry-run` says: axes, grids and the number of points. */
#ifndef CLI_SWEEP_AXES_H
#define CLI_SWEEP_AXES_H

#include "cli/output.h"
#include "study/axes.h"

/** Write the axes of @p w in the format and to the file that the run asks for. ERR_NOMEM, ERR_IO. */
int sweep_axes_write(const struct run *run, const struct sweep *w, struct err *e);

#endif
