/** @file Closed-form time of one collective at given bandwidths, and how it depends on its bytes. */
#ifndef WORKLOADS_COLLECTIVE_TIME_H
#define WORKLOADS_COLLECTIVE_TIME_H

#include "workloads/stage.h"

/** A network with bandwidths, and how collectives are run on it. Borrowed. */
struct collective_way {
    const struct topo_network *net;
    const struct stage_rules *rules; /**< NULL: max_d m_d/B_d, endlessly many chunks and no latency */
    const double *bw_Bps;            /**< shape [n_dims] */
};

/** Seconds, and how many of them the dimensions take: what is left is latency. */
struct collective_time {
    double time_s;
    double wait_s[TOPO_MAX_DIMS]; /**< transfers on the path that decides */
};

/** Time of one collective over @p members, shape [n_dims]. The slowest of its rows, the first of equals. */
void collective_time(struct collective_time *out, enum collective_kind kind, double bytes,
                     const int32_t *members, const struct collective_way *way);

/** Time as a function of bytes, where nothing is chosen by them: the largest of lines through const_s. */
struct collective_lines {
    int32_t n;
    struct collective_line {
        double const_s, s_per_B; /**< time_s = const_s + s_per_B * bytes */
        double wait_s_per_B[TOPO_MAX_DIMS];
    } lines[TOPO_MAX_DIMS];
};

/** Can collectives of this kind be written as lines? Not where algorithm, regime or segments depend on size.
 */
bool collective_is_linear(enum collective_kind kind, const struct collective_way *way);

/** The lines; those that another one exceeds everywhere are left out. Same times as collective_time() but for
 * rounding. */
void collective_find_lines(struct collective_lines *out, enum collective_kind kind, const int32_t *members,
                           const struct collective_way *way);

#endif
