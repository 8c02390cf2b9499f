/** @file Settings of each model where a study says nothing: what the key tables make of an empty file. */
#ifndef TESTS_SETTINGS_H
#define TESTS_SETTINGS_H

#include "sim/batch/batch.h"
#include "sim/cluster/pace.h"
#include "sim/events/events.h"
#include "sim/gossip/gossip.h"
#include "sim/hetero/profile.h"
#include "sim/hetero/search.h"
#include "sim/interval/interval.h"
#include "sim/slots/slots.h"

/** With seed 1, as a study that names none. */
struct batch_settings batch_settings_default(void);
struct events_settings events_settings_default(void);
struct elastic_settings elastic_settings_default(void);
struct smd_settings smd_settings_default(void);

/** The paper's 160 jobs on 20 servers of 4, 8, 16 or 32 GPUs; seed 1. */
struct sjf_draw_settings sjf_draw_default(void);
/** Seed 1; synchronous jobs take the mean over layers, others the sum. */
struct smd_draw smd_draw_default(bool sync);

/** No network inside a server. */
struct pace_graph_settings pace_graph_settings_default(void);

struct hetero_settings hetero_settings_default(void);
/** CTRDNN. */
struct hetero_draw hetero_draw_default(void);

struct gossip_learning gossip_learning_default(void);
/** Method 0, period 1. */
struct gossip_settings gossip_settings_default(void);

#endif
