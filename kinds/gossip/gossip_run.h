/** @file Private to this folder: the runs of a study of training with little communication, and their rows. */
#ifndef KINDS_GOSSIP_GOSSIP_RUN_H
#define KINDS_GOSSIP_GOSSIP_RUN_H

#include "kinds/gossip/gossip_point.h"
#include "kinds/gossip/gossip_share.h"

/** One run of one method. */
struct gossip_unit {
    bool run;
    int rc;
    char *message;               /**< owned; NULL unless it failed, or need_Bps could not be found */
    double need_Bps;             /**< bandwidth of an NPU that it needs; NaN: not asked for, or not found */
    struct gossip_result result; /**< empty unless it ran; curve and arcs as asked for */
};

/** What its runs share. */
struct gossip_state {
    struct gossip_point point;
    bool run;
    int rc;
    char *message;      /**< owned; NULL unless it failed */
    int64_t first_unit; /**< its runs: by seed, then by entry */
    int64_t first_examples;
    struct gossip_grid grid;
};

struct gossip_runs {
    const struct gossip_study *study;
    struct study_source from;
    const struct gossip_options *options;
    struct gossip_state *states;      /**< shape [n_points], owned */
    struct gossip_unit *units;        /**< shape [n_units], owned */
    struct gossip_examples *examples; /**< shape [n_examples], owned: by point and seed */
    int64_t n_units, n_examples;
    bool listed; /**< there are units and examples */
};

/** The run of entry @p entry of a point with seed number @p k, from 0. */
const struct gossip_unit *gossip_unit_at(const struct gossip_runs *r, int64_t point, int32_t entry,
                                         int64_t k);

/** All tables that are wanted. ERR_NOMEM. */
int gossip_make_tables(struct table *out, const struct gossip_runs *r, struct err *e);
/** Those of options (gossip_tables.c). */
int gossip_make_details(const struct gossip_runs *r, struct err *e);

#endif
