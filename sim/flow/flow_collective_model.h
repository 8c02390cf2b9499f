/** @file Private to sim/flow_collective.c and sim/flow_line.c: collectives under way, and the lines they
 * pass. */
#ifndef SIM_FLOW_COLLECTIVE_MODEL_H
#define SIM_FLOW_COLLECTIVE_MODEL_H

#include "base/array.h"
#include "sim/flow/flow_collective.h"
#include "sim/flow/flow_plan.h"

/** A plan and what it is for, so that it is made once. */
struct flow_made_plan {
    enum pass pass;
    enum topo_algorithm algorithm;
    int32_t segments, group, dim;
    struct flow_plan plan;
    int32_t *routes; /**< shape [lines of the dimension][channels], where in flow_sim.kept, -1 = not there;
                        owned; NULL: not kept */
};

/** Routes that were searched for are kept in as many numbers: 512 MB. */
enum { FLOW_MAX_KEPT = 1 << 27 };

/** What waits at a line: chunk of a collective in a stage; next one behind it, -1 = none. */
struct flow_waiting {
    int32_t job, chunk, stage, next;
};

/** A line of a group: how many chunks it works on, and the queue before it. */
struct flow_server {
    int32_t n_running, head, tail;
};

struct flow_member_group {
    struct flow_group group;
    struct flow_server *servers[TOPO_MAX_DIMS]; /**< shape [lines of the dimension], owned */
};

/** A collective. */
struct flow_job {
    int32_t group, priority;
    enum collective_kind kind;
    double bytes, begin_s, finish_s;
    struct stage *stages; /**< shape [n_stages], owned; NULL once it is done */
    int32_t *plans;       /**< shape [n_stages], owned */
    int64_t *offset;  /**< shape [n_stages + 1], where a stage begins in a chunk's part of arrived; owned */
    int32_t *arrived; /**< shape [chunks][lines of all stages]: members that are ready, owned */
    int32_t n_stages;
    int64_t left; /**< lines that chunks have to pass yet */
};

/** A line at work on a chunk. */
struct flow_run {
    int32_t job, chunk, stage, line;
    int32_t n_left;  /**< channels that have not sent everything */
    uint32_t *state; /**< shape [cap_state], of each channel twice the messages arrived, plus 1 while one is
                        on its way */
    int32_t cap_state;
};

struct flow_sim {
    struct topo_routes *routes;
    struct flow_rules rules;
    struct flow_net *net;
    struct flow_member_group *groups;
    struct flow_job *jobs;
    struct flow_run *runs;
    struct flow_made_plan *plans;
    struct flow_waiting *waiting;
    int32_t n_groups, cap_groups, n_jobs, cap_jobs, n_runs, cap_runs, n_plans, cap_plans, n_waiting,
        cap_waiting;
    int32_t *free_runs; /**< shape [cap_free_runs] */
    int32_t n_free_runs, cap_free_runs, free_waiting;
    int32_t *ended; /**< shape [cap_ended] */
    int32_t n_ended, cap_ended;
    struct topo_path path;
    int32_t *kept;                       /**< shape [cap_kept], routes: number of arcs, then these */
    int32_t n_kept, cap_kept, room_kept; /**< room: what flow_made_plan.routes leave of FLOW_MAX_KEPT */
    double *late_s;                      /**< shape [NPUs of the network], owned; NULL = nobody is late */
};

/** Make room for one more item, or leave with ERR_NOMEM. */
#define FLOW_GROW(array, n, cap, what)                                                                       \
    do {                                                                                                     \
        void *grown_ = array_grow(array, n, &(cap), sizeof *(array));                                        \
        if (!grown_)                                                                                         \
            return err_nomem(e, what);                                                                       \
        (array) = grown_;                                                                                    \
    } while (0)

/** A chunk may enter a stage at a line: now, or behind those that wait there. Errors as flow_sim_advance().
 */
int flow_enter_line(struct flow_sim *sim, struct flow_waiting w, int32_t line, struct err *e);

/** A message of a line at work has arrived: send what waited for it, and go on with what is complete. */
int flow_end_message(struct flow_sim *sim, int32_t run, int32_t channel, struct err *e);

/** A collective is over. */
int flow_end_job(struct flow_sim *sim, int32_t id, struct err *e);

#endif
