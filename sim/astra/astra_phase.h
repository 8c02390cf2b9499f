/** @file Private to sim/astra*: a collective as phases, a phase as rounds of messages, and what a round
 * takes. */
#ifndef SIM_ASTRA_PHASE_H
#define SIM_ASTRA_PHASE_H

#include "sim/astra/astra.h"

/** To whom a member sends in a round. */
enum sim_astra_to {
    SIM_ASTRA_NEXT, /**< the next one round the ring */
    SIM_ASTRA_ALL,  /**< all others at once */
    SIM_ASTRA_PAIR, /**< the one whose number differs in the bit `distance` */
    SIM_ASTRA_TREE, /**< to the parent, or from it to its children */
};

/** Members send, wait for what they shall receive, wait the endpoint delay and reduce; `times` times. */
struct sim_astra_round {
    enum sim_astra_to to;
    int32_t times;
    int32_t distance; /**< to the farthest receiver, in members */
    int32_t reduced;  /**< messages that a member adds up at the end */
    int32_t waits;    /**< messages of siblings before the last one, where they share a link; trees only */
    int64_t bytes;    /**< of a message */
};

enum { SIM_ASTRA_MAX_ROUNDS = 64, SIM_ASTRA_MAX_PHASES = 2 * TOPO_MAX_DIMS };

struct sim_astra_phase {
    int32_t dim;
    enum pass pass;
    int64_t bytes; /**< entering */
};

/** How a collective is cut and which way its chunks go. */
struct sim_astra_plan {
    int64_t chunk_B;
    int32_t n_chunks, n_phases;
    struct sim_astra_phase phases[SIM_ASTRA_MAX_PHASES];
};

/** ERR_RANGE, ERR_UNSUP: what sim_astra_run() refuses. */
int sim_astra_check(const struct sim_astra_conf *conf, const struct sim_astra_collective *list, int32_t n,
                    struct err *e);

/** The plan of a collective that has passed sim_astra_check(). ERR_RANGE when sizes overflow. */
int sim_astra_plan(struct sim_astra_plan *plan, const struct sim_astra_conf *conf,
                   const struct sim_astra_collective *c, struct err *e);

/** Rounds of a phase; returns how many. */
int32_t sim_astra_rounds(struct sim_astra_round out[SIM_ASTRA_MAX_ROUNDS], const struct sim_astra_conf *conf,
                         const struct sim_astra_phase *p);

/** Bandwidth of a link [B/ns]. */
double sim_astra_link_Bpns(const struct sim_astra_dim *dim);

/** Time from the arrival of all messages of a round to the next round [ns]. */
int64_t sim_astra_digest_ns(const struct sim_astra_conf *conf, const struct sim_astra_round *r);

/** Duration of a phase when no link is busy, and of a tree in any case. ERR_RANGE beyond 2^62 ns. */
int sim_astra_phase_ns(int64_t *out, const struct sim_astra_conf *conf, const struct sim_astra_phase *p,
                       struct err *e);

/** The two back-ends; parameters as sim_astra_run(), checked. */
int sim_astra_run_queues(struct sim_astra_result *out, const struct sim_astra_conf *conf,
                         const struct sim_astra_collective *list, int32_t n, int64_t *end_ns,
                         const struct sim_astra_sink *sink, struct err *e);
int sim_astra_run_links(struct sim_astra_result *out, const struct sim_astra_conf *conf,
                        const struct sim_astra_collective *c, const struct sim_astra_sink *sink,
                        struct err *e);

#endif
