/** @file Machines that fill a site: axes with `count: max`, by the limits of keep.where. */
#ifndef KINDS_DESIGN_EXPLORE_FILL_H
#define KINDS_DESIGN_EXPLORE_FILL_H

#include "study/study.h"

/**
 * sweep_fill_axes() by limits on power, racks and money of the site, which no plan and no time of a step
 * changes. @p doc: the study's own file. ERR_RANGE with the place: no such limit, a bandwidth that is to be
 * chosen, power or prices that are not known; nothing that is within, with the limit that leaves out the
 * nearest machine and by how much; errors of the points.
 */
int fill_site(struct study *s, const struct yaml_doc *doc, struct err *e);

#endif
