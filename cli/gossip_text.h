/** @file A study of training with little communication, for people. */
#ifndef CLI_GOSSIP_TEXT_H
#define CLI_GOSSIP_TEXT_H

#include "kinds/gossip/gossip.h"

/** Append the rows of gossip_study_run(), a section a point, and what they are compared with. ERR_NOMEM. */
int gossip_text(const struct table *rows, const struct gossip_study *s, struct text *out, struct err *e);

#endif
