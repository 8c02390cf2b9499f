/** @file Private to sim/gossip: checks of settings that several methods share. */
#ifndef SIM_GOSSIP_CHECKS_H
#define SIM_GOSSIP_CHECKS_H

#include "sim/gossip/gossip.h"

/** period >= 1. ERR_RANGE. */
int gossip_check_period(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e);

#endif
