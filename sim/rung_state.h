/** @file Private to sim/rung*.c: what a rung holds. */
#ifndef SIM_RUNG_STATE_H
#define SIM_RUNG_STATE_H

#include "sim/flow/flow_collective.h"
#include "sim/rung.h"

/** The wires of model flow, and what they have carried. */
struct rung_wires {
    struct topo_graph *graph;
    struct topo_routes routes;
    bool has_routes;
};

/** A job that was timed alone, or a subtree that was run as a whole. */
struct rung_known {
    struct sim_job job;
    struct rung_time time;
    step_id root; /**< of a subtree; -1 */
    float *bytes; /**< of each arc, once; shape [n_arcs], owned; NULL when not kept */
};

struct rung {
    enum sim_model model;
    const struct topo_network *net;
    const double *bw_Bps;
    const struct sim_rules *rules;
    unsigned split_dims;
    struct rung_known *known; /**< shape [n_known], owned */
    int32_t n_known, cap_known;
    struct rung_wires wires; /**< opened when first used */
};

/** Remember what was timed; takes @p known.bytes over. ERR_NOMEM. */
int rung_keep(struct rung *x, struct rung_known known, struct err *e);

/** A result as times. */
void rung_take(struct rung_time *out, const struct sim_job_result *r);

/** Time a job alone on the wires; its arcs' bytes are kept in @p known. ERR_NOMEM, ERR_RANGE, ERR_UNSUP. */
int rung_flow_alone(struct rung *x, const struct sim_job *job, struct rung_known *known, struct err *e);

/** Has every dimension that @p job uses bandwidth? Else it never ends. */
bool rung_flow_can_end(const struct rung *x, const struct sim_job *job);

/** Flows on the wires as an engine. Release with rung_flow_close(). */
struct rung_flow;
int rung_flow_open(struct rung_flow **out, struct rung *x, struct err *e);
struct sim_engine rung_flow_engine(struct rung_flow *f);
/** Bytes of all arcs so far, or NULL when there are too many to keep. ERR_NOMEM. */
int rung_flow_bytes(float **out, const struct rung_flow *f, struct err *e);
void rung_flow_close(struct rung_flow *f);

/** Graph and routes, with failed and slow links. ERR_NOMEM, ERR_RANGE, ERR_UNSUP; a file's errors. */
int rung_open_wires(struct rung *x, struct err *e);
void rung_close_wires(struct rung *x);
/** Is @p npu one of those that @p s is about? */
bool rung_is_slow(const struct topo_routes *r, const struct sim_slow *s, int32_t npu);

#endif
