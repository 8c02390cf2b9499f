/**
 * @file What each kind of single failure does to a design: whether the job stops, how long a step takes with
 * one part gone, and what share of a year that costs.
 *
 * Parts are the lines of the design's bill where it counts pieces (kinds/design/ask/system.h), else what the
 * shapes of the network are made of. docs/ownership.md, section "Degraded", has formulas and tests.
 */
#ifndef KINDS_DESIGN_ANSWER_FAIL_H
#define KINDS_DESIGN_ANSWER_FAIL_H

#include "kinds/design/answer/design.h"

/** Kinds of what fails; fail_part_words has their words, NULL-terminated. */
enum fail_part {
    FAIL_NPU,
    FAIL_NODE,
    FAIL_ITEM, /**< of system.items */
    FAIL_RACK,
    FAIL_NIC,
    FAIL_LINK,
    FAIL_SWITCH,
    FAIL_PLANE,
    FAIL_SLOW_LINK,
    FAIL_SLOW_NPU,
    N_FAIL_PARTS
};
extern const char *const fail_part_words[N_FAIL_PARTS + 1];

/** What flows see of a failure on the graph. */
enum fail_mark {
    FAIL_UNSEEN, /**< nothing: the job stops, or compute alone is slower */
    FAIL_PORTS,  /**< links of some NPUs keep a share */
    FAIL_EDGE,   /**< so does one link, */
    FAIL_HUB,    /**< all links of one switch, */
    FAIL_CLASS   /**< all links of the dimensions */
};

/** One kind of failure. Times [s]; NaN where something is not known. */
struct fail_row {
    enum fail_part part;
    char name[128];
    int32_t dim, n_dims; /**< classes of links that keep `left` of their bandwidth; n_dims 0: none */
    double left;         /**< 0: nothing, the job stops */
    double count, mtbf_s, per_year; /**< parts; of one of them; failures of all */
    double npus;                    /**< that the job loses; 0: it runs on with all */
    bool timed;                     /**< its step is known already: a link or switch of a graph */
    bool stops;                     /**< else it runs on, slower, until the part is repaired */
    double time_s, slowdown;        /**< of a step by the closed form; over the healthy one, less 1 */
    double flow_s, flow_slowdown;   /**< the same by flows on the graph */
    char flow_why[200];             /**< why there is no flow_s; "" */
    double repair_s;                /**< until it is whole again; NaN where the job restarts without it */
    double lost_s, lost_frac;       /**< time lost by one failure; share of the year by all of them */
    enum fail_mark mark;
    double mark_share;         /**< of the capacity that marked links keep */
    int64_t mark_n, mark_edge; /**< NPUs of FAIL_PORTS; a link of the entry's first group */
    bool mark_upper;           /**< FAIL_HUB: of its two ends the one of the higher number */
};

/** Shares of the speed that slow parts have left, each above 0 and below 1. */
struct fail_slow {
    double link, npu;
};

/** Release with fail_free(). */
struct fail_table {
    struct fail_row *rows; /**< shape [n_rows], owned; what costs most of a year first, then per failure */
    int32_t n_rows, cap_rows;
    double time_s, flow_s; /**< of a healthy step; flow_s NaN: flow_why says why */
    double low_s, high_s;  /**< design_time_band() around time_s; NaN: no measured step is near */
    char flow_why[200];
    double per_year, lost_frac; /**< sums over rows that are known */
    double restart_s,
        redo_s; /**< of a failure that stops the job: R, and drain + half an interval; mean of the tiers */
    double goodput;     /**< after stops, checkpoints, stragglers and planned stops, as of system.h */
    double stall_frac;  /**< share that checkpoints take, delta/(tau + delta) */
    bool defaults;      /**< the study has no system: mean times are defaults, and there are no prices */
    bool no_checkpoint; /**< nothing says how large one is, so none is counted */
};

/** Largest networks whose steps are timed by flow: one failure at a time takes seconds. */
enum { FAIL_FLOW_NPUS = 1024, FAIL_FLOW_LINKS = 1 << 17 };
#define FAIL_FLOW_MESSAGES 1e6

/**
 * The table of design @p d (at its bandwidths, shape of the study's network) of @p s.
 * @return 0, ERR_NOMEM; ERR_RANGE: shares; of a network with a graph errors of its solver too.
 * A closed form per row; of networks within the limits a simulation of flows too.
 */
int fail_build(struct fail_table *out, const struct design *d, const struct fail_slow *slow, struct err *e);
void fail_free(struct fail_table *t);

#endif
