/** @file A study: network, prices, workloads, what to optimise, budgets, what varies; as one checked value.
 */
#ifndef KINDS_DESIGN_ASK_POINT_H
#define KINDS_DESIGN_ASK_POINT_H

#include "alloc/problem.h"
#include "sim/rules.h"
#include "study/source.h"
#include "topo/bill.h"
#include "topo/ownership.h"
#include "topo/reliability.h"
#include "workloads/plan_cost.h"
#include "workloads/step_fn.h"

/** How several workloads share one network. */
enum design_combine {
    DESIGN_SUM,    /**< weighted sum of their times */
    DESIGN_REGRET, /**< least worst ratio of time to the workload's own best time */
};

/** "sum", "regret"; NULL-terminated, for key tables. */
extern const char *const design_combine_names[3];

/** What a sweep does with a point. */
enum design_split {
    DESIGN_SOLVE, /**< choose the bandwidths */
    DESIGN_GIVEN, /**< take those of the network */
};

/** "solve", "given"; NULL-terminated, for key tables. */
extern const char *const design_split_names[3];

/** What bandwidths are, and what they cost, where parts come from a catalogue. */
enum design_pricing {
    DESIGN_FRACTION, /**< any number, at the price per B/s of the parts, all rounding dropped: the relaxation
                      */
    DESIGN_WHOLE,    /**< what ports give, at the price of what is bought */
};

/** "fraction", "whole"; NULL-terminated, for key tables. */
extern const char *const design_pricing_names[3];

struct design_workload {
    double weight;             /**< > 0 */
    struct training *training; /**< what tree is made from; owned; NULL where the workload names no model */
    struct step_tree tree;     /**< of a training whose plan is to be searched without work */
    struct step_tree lowered;  /**< what fn is compiled from, unless that is `tree` */
    struct step_fn fn;         /**< in closed form: the study's model, else alpha-beta; of a graph empty */
};

/** Limits of `weft check`; NaN or -1 where not given. */
struct design_budget {
    double nic_Bps; /**< NIC bandwidth per NPU */
    int64_t nics;   /**< NICs in the cluster */
    double usd, watt, time_s;
    double site_W, usd_year, usd_per_Mtoken; /**< of the whole machine, with `system` */
    int64_t racks;                           /**< likewise; -1: no limit */
    yaml_id node;                            /**< -1 = the study has no budget */
};

/** Maps of a study that are read after it, each by code of its own; -1 = not given. */
struct design_maps {
    yaml_id network, parts, workload, workloads, simulation, constraints, budget, system;
};

/**
 * Power and yearly cost of the whole machine as the split sees them: what no bandwidth changes, and what the
 * network adds for each USD and W of it that lies outside servers. Without `system` NPUs and network alone,
 * and no cost. Items by the rack count by fractions of racks.
 */
struct design_machine {
    double watt, usd_year;                                  /**< without network; NaN unknown */
    double watt_per_watt, usd_year_per_usd, usd_year_per_W; /**< of the network, with the racks it fills */
    double usd_per_Mtoken; /**< for 1 USD a year and steps of 1 s, with `kept`; NaN unknown */
    /** Share of time that is work kept, at best: intervals are, checkpoints and restarts wait for no network,
     * and none of its parts fails; 0: nothing. What it follows from. */
    double kept, stops_per_s, running;
    struct goodput_tier tiers[OWN_MAX_TIERS + 1];
    int32_t n_tiers;
    int32_t first; /**< dimensions from this one on lie outside servers */
    bool by_rack;  /**< there are items by the rack */
};

/** What is asked: const once it is read or changed (kinds/design/ask/load.h), so that any number of answers
 * share it. Release with design_point_free(). Everything is owned or points into doc. */
struct design_point {
    struct yaml_doc doc; /**< the study with all files it names grafted in and overrides applied */
    int32_t own_source;  /**< of doc.sources: the study's own file; -1 = a network alone was given */
    struct design_maps maps;
    const char *name; /**< "" when not given */
    struct topo_network net;
    struct ideal *ideal; /**< of a network with a graph, owned; else NULL */
    bool at_file;        /**< its classes without a bandwidth have the file's */
    bool has_parts;
    struct topo_parts parts;
    struct topo_dim_price prices[TOPO_MAX_DIMS]; /**< valid with has_parts */
    bool has_system;
    struct own_system system;          /**< prices and power of NPU and server settled */
    struct own_server server;          /**< that its defaults are from; name NULL: none */
    struct own_like like;              /**< whose numbers go before these; likewise */
    struct design_workload *workloads; /**< shape [n_workloads], owned */
    int32_t n_workloads;
    enum design_combine combine;
    enum design_split split;
    enum design_pricing pricing; /**< DESIGN_WHOLE only where a catalogue prices the network */
    enum alloc_objective objective;
    enum sim_model model;
    struct sim_rules rules;    /**< how models other than bandwidth run collectives */
    double total_Bps;          /**< NaN = not given */
    double time_limit_s;       /**< objective cost; NaN = not given */
    struct design_machine own; /**< as system_read() found it */
    bool count_npus;           /**< cost includes the NPUs */
    struct alloc_rows rows;    /**< network's, total and constraints; empty unless DESIGN_FOR_SPLIT */
    struct design_budget budget;
    int64_t seed, price_days;
    struct text notes; /**< warnings, a line each: keys without effect */
};

/** What a command needs from a study; missing parts are errors with the place of the study. */
enum design_need {
    DESIGN_NEEDS_NETWORK = 0, /**< always read */
    DESIGN_NEEDS_WORKLOAD = 1 << 0,
    DESIGN_NEEDS_PARTS = 1 << 1,
    DESIGN_NEEDS_BANDWIDTH = 1 << 2, /**< every dimension has bw_GBps (sim, topo) */
    DESIGN_FOR_SPLIT = 1 << 3,       /**< bandwidths will be chosen: constraints are read */
    DESIGN_FOR_BUDGET = 1 << 4,      /**< a budget with what its limits are about is needed */
};

void design_point_free(struct design_point *s);

/** How the steps of @p s are timed at @p bw_Bps, shape [n_dims]; borrows both. */
struct sim_way design_point_way(const struct design_point *s, const double *bw_Bps);
/** The same by the closed form, of models that simulate too. */
struct sim_way design_point_closed_way(const struct design_point *s, const double *bw_Bps);

/** Compile the tree of @p w, a workload of @p s, with algorithms for @p bw_Bps, shape [n_dims]; NULL: those
 * of the network. ERR_NOMEM. */
int design_point_compile(struct design_workload *w, const struct design_point *s, const double *bw_Bps,
                         struct err *e);
/** Time of all workloads by weight at @p bw_Bps, by the closed form that they were compiled to; on a graph of
 * shape [n_dims + cuts]. */
double design_point_compiled_s(const struct design_point *s, const double *bw_Bps);
/** The tree that @p w was compiled from. */
const struct step_tree *design_point_compiled_tree(const struct design_workload *w);

/** Does the closed form depend on choices (algorithm, regime, segments) that another bandwidth could change?
 */
bool design_point_has_choice(const struct design_point *s);

/** Changes with what the workloads are compiled from, and with the columns of a graph. */
unsigned long long design_point_choices(const struct design_point *s);

/** Does the workload train a model whose plan is to be searched? */
bool design_point_is_searched(const struct design_workload *w);

/** How times count bytes where that is not what links carry by real routes: "libra" (model bandwidth alone),
 * "ideal-routing" (a network with a graph: every message over any paths); else NULL. */
const char *design_point_semantics(const struct design_point *s);

/** Put the place of dimension @p d, -1: not known, before a message that is about its prices; returns
 * e->code. */
int design_point_fail_dim(const struct design_point *s, int32_t d, struct err *e);

/** topo_build_bill() of the study's network; an error begins with the place of the dimension. */
int design_point_build_bill(struct topo_bill *b, const struct design_point *s, const double *bw_Bps,
                            struct err *e);

/** Price of the network at @p bw_Bps, shape [n_dims], as the study prices it, with design_point_fixed_usd():
 * of what is bought, or linear. NaN without parts, or where whole parts cannot be had (ERR_RANGE in @p e,
 * which may be NULL). */
double design_point_usd(const struct design_point *s, const double *bw_Bps, struct err *e);

/** The linear price alone: a lower bound of what whole parts cost. NaN without parts. */
double design_point_fraction_usd(const struct design_point *s, const double *bw_Bps);

/** What total_GBps counts of the bandwidths of an NPU, shape [n_dims], and what its NICs carry; NaN without
 * parts. */
double design_point_total_Bps(const struct design_point *s, const double *bw_Bps);
double design_point_nic_Bps(const struct design_point *s, const double *bw_Bps);

/** Cost that no bandwidth changes [USD]: the NPUs when the study counts them, and design_point_nodes_usd().
 */
double design_point_fixed_usd(const struct design_point *s);

/** Is the network a graph whose file prices it, without parts? It does not say then which links end at NICs.
 */
bool design_point_takes_graph_prices(const struct design_point *s);

/** Do parts say what a NIC is? Not those of such a graph, nor rates where no tier in use has a price of NICs:
 * a limit on NICs would hold whatever the network. */
bool design_point_knows_nics(const struct design_point *s);

/** Price of the nodes of such a graph; else 0. */
double design_point_nodes_usd(const struct design_point *s);

/** All that a bill of the study's network comes to, with the NPUs when the study counts them. A bill has the
 * nodes of a graph already. */
struct topo_band design_point_bill_usd(const struct design_point *s, const struct topo_bill *b);

/** Hash of the study's content with everything it names; in the head of every output. */
unsigned long long design_point_hash(const struct design_point *s);

#endif
