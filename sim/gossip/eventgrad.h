/** @file Private to sim/gossip: when EventGraD sends a tensor. */
#ifndef SIM_GOSSIP_EVENTGRAD_H
#define SIM_GOSSIP_EVENTGRAD_H

#include <stdbool.h>

#include "sim/gossip/gossip.h"

/** What a worker remembers of one tensor; zero but for the norm at first. */
struct gossip_event {
    double norm;      /**< as last sent */
    double threshold; /**< least change of the norm that is sent */
    double slope;     /**< change per step when it was last sent */
    int64_t step;     /**< done when it was last sent */
};

/**
 * Is a tensor of norm @p norm sent after step @p step (from 1)? The threshold decays by s->horizon each step;
 * the first s->warmup steps always send. One that is sent has as its threshold the mean of the last two
 * slopes. Source: Ghosh et al., arXiv 2103.07454, and its code, github.com/soumyadipghosh/eventgrad.
 */
bool gossip_event_fires(struct gossip_event *v, double norm, int64_t step, const struct gossip_settings *s);

#endif
