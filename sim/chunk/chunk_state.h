/** @file Private to sim/chunk*.c: what a simulation in chunks holds. */
#ifndef SIM_CHUNK_STATE_H
#define SIM_CHUNK_STATE_H

#include "sim/chunk/cells.h"
#include "sim/chunk/chunk.h"
#include "sim/event_heap.h"
#include "sim/chunk/order.h"

/** Events closer than this are one instant: sums of the same terms in another order. */
#define INSTANT_REL 1e-12

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
    struct chunk_plan *plans; /**< shape [n_plans], owned; NULL when it has ended and no slices are kept */
    int32_t n_plans, cap_plans;
    int32_t *plan_of;             /**< shape [chunks], owned; likewise */
    int32_t shape[TOPO_MAX_DIMS]; /**< of its teams, in server.shapes */
    int32_t n_stages;             /**< the most of any plan */
    int64_t left;                 /**< chunks times cells that are still under way */
    /** Members that are there for a stage: shape [chunks][n_stages][cells], owned; NULL while there is one
     * cell, and when it has ended. */
    int32_t *arrived;
};

/** A stage of a chunk that waits for its dimension. */
struct waiting {
    int32_t priority;
    double key; /**< smaller goes first; then the smaller seq */
    int64_t seq;
    int32_t job, chunk, stage, cell; /**< cell: the lowest of the team */
    int32_t shape;                   /**< of the team */
    double ready_s;
};

/** One that is being served. */
struct active {
    struct waiting item;
    struct team team;
    int32_t dim, slot;
    double start_s, end_s;
    double left_B, rate_Bps, since_s; /**< while sending, with others beside it */
    bool sending;
    int32_t place;     /**< in server.sending, while sending */
    int32_t next_free; /**< while free; -1: the last */
};

/** The stages that wait for one team. */
struct queue {
    struct waiting *items; /**< shape [n], owned; a binary heap */
    int32_t n, cap;
    bool touched; /**< listed in server.touched */
};

/** Teams of one form: those of jobs with equal members and stride. Of two forms, teams may overlap. */
struct shape {
    int32_t step, n;      /**< as struct team */
    struct queue *queues; /**< shape [cells], owned; by the lowest cell of the team */
};

/** A dimension. */
struct server {
    struct shape *shapes;
    int32_t n_shapes, cap_shapes;
    struct queue_at {
        int32_t shape, cell;
    } * touched; /**< shape [n_touched], owned; not empty, and something came or a member came free */
    int32_t n_touched, cap_touched;
    struct queue fronts; /**< while it chooses: the first of each queue */
    int32_t *sending;    /**< shape [n_sending], owned; actives past their latency */
    int32_t n_sending, cap_sending;
    bool shares_anew; /**< the number that send changed at this instant */
};

/** One that has come to its end, in the order of processing. */
struct ending {
    int32_t job, chunk, stage, cell, active;
};

struct chunk_sim {
    struct topo_network net;
    double bw_Bps[TOPO_MAX_DIMS];
    struct sim_rules rules;
    bool keep;
    struct cells cells;
    struct server servers[TOPO_MAX_DIMS];
    int32_t *busy;    /**< shape [n_dims][cells], owned: stages at each NPU of a cell */
    int32_t *sending; /**< likewise, of them those past their latency */
    uint64_t *slots;  /**< shape [n_dims][cells][slot_words], owned; bits that are taken, by the lowest cell
                         of the team; NULL: always slot 0 */
    int32_t slot_words;
    struct active *actives;
    int32_t n_actives, cap_actives, first_free; /**< -1: none */
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
    struct ending *batch; /**< what ends in one instant; shape [cap_batch], owned */
    int32_t cap_batch;
};

/** The shape of teams of @p members with @p stride in dimension d, made if new. ERR_NOMEM. */
int chunk_shape(struct chunk_sim *x, int32_t d, int32_t members, int32_t stride, int32_t *out, struct err *e);
/** The team of a shape that @p cell is in. */
struct team chunk_team(const struct chunk_sim *x, int32_t d, int32_t shape, int32_t cell);
/** A stage waits for its team in dimension d. ERR_NOMEM. */
int chunk_wait(struct chunk_sim *x, int32_t d, const struct waiting *w, struct err *e);
/** The members of a team in dimension d have one stage less. ERR_NOMEM. */
int chunk_freed(struct chunk_sim *x, int32_t d, const struct team *team, struct err *e);
/** Start what waits and can start, in order; what waits for a busy member lets others pass. ERR_NOMEM. */
int chunk_serve(struct chunk_sim *x, int32_t d, struct err *e);
void chunk_servers_free(struct chunk_sim *x);

/** Begin to serve a stage whose team is free. ERR_NOMEM. */
int chunk_start(struct chunk_sim *x, const struct waiting *w, struct err *e);

/** Fill plans and plan_of of a new entry. ERR_NOMEM. */
int chunk_plan_job(struct chunk_sim *x, struct chunk_entry *entry, struct err *e);

#endif
