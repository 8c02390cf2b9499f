/** @file Private to explore/: what model events reads from a study. */
#ifndef EXPLORE_PLACE_EVENTS_H
#define EXPLORE_PLACE_EVENTS_H

#include "explore/place_study.h"

/** Keys `jobs` and `events` of the model. ERR_PARSE, ERR_RANGE with the place. */
int place_read_events(struct place_study *s, struct err *e);

/** Key `events`, which says how fast jobs run on links, of a model that may do without the rest. */
int place_read_pace(struct place_study *s, struct err *e);

/** How fast jobs run on the cluster of @p s. */
void place_fix_pace(struct pace_graph_settings *pace, const struct place_study *s);

#endif
