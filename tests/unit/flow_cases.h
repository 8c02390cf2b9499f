/** @file Flow sets of known structure, to be run here and by another simulator (tests/oracle). */
#ifndef TESTS_UNIT_FLOW_CASES_H
#define TESTS_UNIT_FLOW_CASES_H

#include <stdio.h>

#include "sim/flow/flow_collective.h"

/** Flows that begin together, when the phase before is over and not before start_s. */
struct case_phase {
    int32_t after; /**< phase, -1 = none */
    double start_s;
    bool shown;      /**< its end is compared */
    double finish_s; /**< set by flow_case_run() */
    int32_t n_open;  /**< flows that have not ended; while running */
    int32_t n_flows;
};

struct case_flow {
    int32_t phase, src, dst; /**< hosts; all flows from src to dst take the same arcs */
    double bytes;            /**< whole */
    int32_t first, n_arcs;   /**< its route in arcs */
};

/** Release with flow_case_free(). */
struct flow_case {
    char name[64];
    int32_t n_hosts, n_arcs, n_phases, cap_phases, n_flows, cap_flows;
    double *bw_Bps, *lat_s; /**< shape [n_arcs] */
    struct case_phase *phases;
    struct case_flow *flows; /**< in order of phases */
    struct topo_path routes; /**< all routes, one behind the other */
    double collective_s;     /**< what flow_sim says of the same collectives, the last to end; NaN = there are
                                none */
};

int flow_case_count(void);

/** Make case @p i of the list; the same every time. */
void flow_case_build(struct flow_case *c, int i);

/** All-reduce of @p bytes over the network @p word with latency @p lat_s, dimension by dimension, in steps
 * that all NPUs begin together: rings both ways, full meshes at once, switches of 2^k ports by halving and
 * doubling. */
void flow_case_all_reduce(struct flow_case *c, const char *word, double lat_s, double bytes);
void flow_case_free(struct flow_case *c);

/** Run it on struct flow_net, phase by phase. */
void flow_case_run(struct flow_case *c);

/** As text, for the oracle: see tests/oracle/simgrid_flows.cpp. */
void flow_case_write(const struct flow_case *c, FILE *out);

#endif
