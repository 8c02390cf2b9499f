/** @file What is free of a cluster, as the files of pack.h see it. */
#ifndef SIM_EVENTS_PACK_MODEL_H
#define SIM_EVENTS_PACK_MODEL_H

#include "sim/events/pack.h"
#include "sim/events/pack_index.h"

/** One level of near servers. */
struct pack_level {
    int32_t n_groups;
    int32_t *first; /**< shape [n_groups + 1], owned: members of group g are members[first[g]..first[g+1]) */
    int32_t *members; /**< shape [n_servers], owned; of a group in order of numbers */
    int64_t *idle;    /**< shape [n_groups], owned: free GPUs */
    int64_t *room;    /**< shape [n_groups], owned: the same for one job that needs other resources too */
};

struct pack {
    const struct cluster *c;
    double *left;           /**< shape [n_servers][n_resources], owned; GPUs are exact */
    struct pack_index idle; /**< free GPUs */
    struct pack_index some; /**< GPUs that one job can have, of all servers or a group; empty between calls */
    struct pack_index inside; /**< members of one group of a job that needs other resources; empty likewise */
    int32_t n_levels;
    struct pack_level *levels; /**< shape [n_levels], owned; [0] is not filled: each server is its own */
    int32_t *rank;             /**< shape [n_servers], owned: place of a server in the order of rings */
};

/** Append @p gpus of server @p s. ERR_NOMEM. */
int pack_place_add(struct pack_place *place, int32_t s, int32_t gpus, struct err *e);

/** What a way chooses from. */
struct pack_ask {
    struct pack *p;
    const struct pack_index *x; /**< GPUs to be had of each server, n of them or more */
    bool mixed;                 /**< groups have `room` of struct pack_level, else `idle` */
    int32_t n;                  /**< GPUs */
    struct rng *rng;
};

/** A row of the table of ways. */
struct pack_way {
    const char *help;
    int (*choose)(struct pack_place *out, const struct pack_ask *ask, struct err *e);
};
extern const struct pack_way pack_ways[N_PACK_KINDS];

#endif
