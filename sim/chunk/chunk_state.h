/** @file Private to sim/chunk*.c: what a simulation in chunks holds. */
#ifndef SIM_CHUNK_STATE_H
#define SIM_CHUNK_STATE_H

#include "sim/chunk/cells.h"
#include "sim/chunk/chunk.h"
#include "sim/event_heap.h"
#include "sim/chunk/order.h"

/** The stages of all chunks that go in one order. */
struct chunk_plan {
    uint8_t order[TOPO_MAX_DIMS];
    int32_t n_order;
    struct stage stages[STAGE_MAX];
    int32_t n;
};

struct chunk_entry {
    struct sim_job job;
    struct sim_job_result result;
    struct chunk_plan *plans; /**< shape [n_plans], owned */
    int32_t n_plans, cap_plans;
    int32_t *plan_of; /**< shape [chunks], owned */
    int64_t left;     /**< chunks times cells that are still under way */
    /** Members that are there for a stage: shape [chunks][STAGE_MAX][cells], owned; NULL while there is one
     * cell. */
    int32_t *arrived;
};

/** A stage of a chunk that waits for its dimension. */
struct waiting {
    int32_t priority;
    double key; /**< smaller goes first; then the smaller seq */
    int64_t seq;
    int32_t job, chunk, stage, cell; /**< cell: the lowest of the team */
    double ready_s;
};

/** One that is being served. */
struct active {
    struct waiting item;
    int32_t dim, slot;
    double start_s, end_s;
    double left_B, rate_Bps, since_s; /**< while sending, with others beside it */
    bool sending, used;
};

struct queue {
    struct waiting *items; /**< shape [n], owned; a binary heap */
    int32_t n, cap;
    bool dirty; /**< something changed: look whether a stage can start */
};

struct chunk_sim {
    struct topo_network net;
    double bw_Bps[TOPO_MAX_DIMS];
    struct sim_rules rules;
    bool keep;
    struct cells cells;
    struct queue queues[TOPO_MAX_DIMS];
    int32_t *busy;    /**< shape [n_dims][cells], owned: stages at each NPU of a cell */
    int32_t *sending; /**< likewise, of them those past their latency */
    struct active *actives;
    int32_t n_actives, cap_actives;
    struct event_heap events; /**< of actives: end, or end of the latency when several share */
    struct arrival {
        int32_t job, cell;
    } * arrivals; /**< shape [n_arrivals], owned; late cells */
    int32_t n_arrivals, cap_arrivals;
    struct event_heap late;
    struct chunk_entry *jobs;
    int32_t n_jobs, cap_jobs;
    struct order_load load;
    double last_issue_s, now_s;
    int64_t seq;
    bool pending; /**< issued at now_s and not dispatched yet */
    int32_t *ended;
    int32_t n_ended, cap_ended;
    struct chunk_slice *slices;
    int32_t n_slices, cap_slices;
    int32_t *batch; /**< actives that end in one instant; shape [cap_batch], owned */
    int32_t cap_batch;
};

/** Add to a queue; take its first. Taking from an empty queue is a bug. ERR_NOMEM. */
int chunk_push(struct queue *q, const struct waiting *w, struct err *e);
struct waiting chunk_pop(struct queue *q);

/** Fill plans and plan_of of a new entry. ERR_NOMEM. */
int chunk_plan_job(struct chunk_sim *x, struct chunk_entry *entry, struct err *e);

#endif
