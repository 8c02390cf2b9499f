/** @file Fronts that one rank has, to all. */
#ifndef STUDY_CAMPAIGN_FRONT_H
#define STUDY_CAMPAIGN_FRONT_H

#include "study/front.h"

/**
 * A copy of the first rank's fronts on every rank, called by all; @p from is read on the first alone, where
 * its fronts are sorted; NULL: none. What was in @p to is freed. ERR_NOMEM, ERR_LIB.
 */
int campaign_share_front(struct front_set *to, const struct front_set *from, struct err *e);

#endif
