/** @file Private to sim/gossip: checks of settings that several methods share. */
#ifndef SIM_GOSSIP_CHECKS_H
#define SIM_GOSSIP_CHECKS_H

#include "sim/gossip/gossip.h"

/** A whole number named @p key is at least 1. ERR_RANGE: "period is 0, need at least 1". */
int gossip_check_count(const char *key, int64_t value, struct err *e);
/** @p value is in [0, 1], not NaN. ERR_RANGE: "switch_frac is 2, need 0 to 1". */
int gossip_check_share(const char *key, double value, struct err *e);
/** @p value is at least 0, INFINITY too, not NaN. ERR_RANGE: "delta is -1, need at least 0". */
int gossip_check_bound(const char *key, double value, struct err *e);

/** period >= 1. ERR_RANGE. */
int gossip_check_period(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e);
/** cap >= 1 and period <= cap, of a period that adapts. ERR_RANGE. */
int gossip_check_cap(const struct gossip_settings *s, struct err *e);
/** period >= 1 and switch_frac in [0, 1]. ERR_RANGE. */
int gossip_check_switch(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e);

#endif
