/** @file GADGET's slot problem: rings of workers by column generation and randomised rounding. */
#ifndef SIM_CLUSTER_GADGET_H
#define SIM_CLUSTER_GADGET_H

#include "sim/cluster/elastic.h"

extern const struct elastic_scheduler elastic_gadget;

#endif
