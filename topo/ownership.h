/**
 * @file What a machine costs to own: capital, building, energy, support, staff; and the keys of `system`.
 *
 * The sum of a year, over items i with count n, price K, life y and residual value rho, at a capital rate w:
 *
 *     capital   sum of n K (1 - rho (1 + w)^-y) CRF(w, y)     CRF = w (1 + w)^y / ((1 + w)^y - 1), 1/y for w
 * = 0 building  P_peak c CRF(w, y_b), own; or P_peak 12 r, rented           P_peak = sum of n W (nameplate,
 * IT) energy    P_mean PUE 8760 h e                        P_mean = sum of n (W_idle + load (W - W_idle)), IT
 *     support   s times the sum of n K;    staff as given
 *
 * USD per NPU-hour: that over 8760 h, the NPUs, and the share of hours that are sold. Left out: tax, land,
 * water, spares, value that falls faster than in a straight line. docs/ownership.md has sources and tests.
 */
#ifndef TOPO_OWNERSHIP_H
#define TOPO_OWNERSHIP_H

#include "topo/network.h"
#include "topo/parts.h"

/** Share of capital paid each year for @p life_y years at @p rate a year: an annuity; 1/life for a rate of 0,
 * the straight line. */
double own_crf(double rate, double life_y);

/** Some of one thing that is owned. */
struct own_item {
    const char *name; /**< borrowed; for reports */
    double count, usd;
    double life_y;
    double residual;         /**< share of the price that it is worth at the end */
    double watt, idle_watt;  /**< of one; NaN unknown: counts 0 */
    double usd_down, usd_up; /**< how much less and more one may cost, by the band of its price; 0: no band */
    const char *unit;        /**< of count, borrowed: "GB/s"; NULL: pieces */
};

/** What money and power cost. */
struct own_terms {
    double capital_rate;   /**< a year; 0: straight line */
    double support;        /**< share of prices a year */
    double energy_usd_J;   /**< [USD/J] */
    double pue;            /**< power at the meter over that of IT */
    double load;           /**< share of the way from idle to busy, in the mean of all hours */
    double building_usd_W; /**< per W of IT, nameplate */
    double building_life_y;
    double rent_usd_W_month; /**< NaN: the building is owned */
    double staff_usd_year;
    double sold; /**< share of hours that are used */
};

/** A year's sums [USD], and power [W] of IT. */
struct own_cost {
    double capital, building, energy, support, staff, total;
    double price;                /**< of all items [USD] */
    double watt_peak, watt_mean; /**< nameplate; mean over hours. Times pue: at the meter */
    double low, high;            /**< total where every price with a band is at its end */
};

/** Capital of a year for one item [USD]. */
double own_item_capital(const struct own_item *item, const struct own_terms *terms);

/** @p items: shape [n]. */
void own_sum(struct own_cost *out, const struct own_item *items, int32_t n, const struct own_terms *terms);

/** USD per NPU and hour that is sold. */
double own_usd_npu_h(const struct own_cost *c, double n_npus, const struct own_terms *terms);

/* ---- map `system` of a study ---- */

enum { OWN_MAX_EXTRAS = 16, OWN_MAX_TIERS = 4 };

enum own_per { OWN_PER_NPU, OWN_PER_NODE, OWN_PER_RACK, OWN_PER_SYSTEM };

/** One of system.items: what is neither NPU, server nor network. */
struct own_extra {
    const char *name;
    enum own_per per;
    double count, usd, life_y, residual, watt, idle;
    double mtbf_s, takes;           /**< NaN: it never fails; of a failure, NPUs */
    double mtbf_low_s, mtbf_high_s; /**< NaN: no source leaves any of it open */
    enum topo_grade grade;          /**< of mtbf_s; N_GRADES: none given */
};

/** Mean times between failures of one part [s]; see reliability.h. */
struct own_mtbf {
    double npu_s, node_s, nic_s, link_s, switch_s;
};

/** What a job runs on without, at less bandwidth: where others take over, see enum topo_way_on. */
struct own_tolerates {
    bool planes, paths, detours;
};

/** A place nearer than the store that checkpoints go to. */
struct own_tier {
    const char *name;
    double share;      /**< of failures that are restored from it */
    int64_t steps;     /**< between two checkpoints; -1: */
    double interval_s; /**< work between them; NaN: the best */
    double stall_s, restart_s;
};

/** Who reads a checkpoint after a failure. */
enum own_reading { OWN_READ_ONCE, OWN_READ_EACH };

/** How runs save and resume; checkpoints of which nothing is said are derived from the model. */
struct own_checkpoint {
    double size_B, bytes_per_param; /**< NaN size: parameters of the model times the other */
    const char *over;               /**< dimension that they pass; NULL: a network of their own, node_Bps */
    double node_Bps, store_Bps;
    bool sharded; /**< replicas share one copy out; else each writes its own */
    enum own_reading read;
    bool async;
    double stall_s;    /**< NaN: of a synchronous one what it takes to write, else 1 s */
    double interval_s; /**< NaN: the best */
    double restart_s;  /**< without reading the checkpoint */
    struct own_tier tiers[OWN_MAX_TIERS];
    int32_t n_tiers;
};

/** How much less and more than its typical price something may cost [USD]. */
struct own_spread {
    double down, up;
    enum topo_grade grade; /**< of both */
};

struct own_system {
    double npu_usd, npu_watt;                    /**< NaN: those of the network's NPU */
    double server_usd;                           /**< rest of a node, per NPU; NaN: a share of the NPU's */
    struct own_spread npu_spread, server_spread; /**< 0 unless the server has the price */
    double server_watt;                          /**< the same in watts */
    int64_t npus_per_node;
    int64_t npus_per_rack; /**< -1: as many whole servers as rack_W feeds */
    int64_t spare_nodes;   /**< -1: as many as it takes are at hand, and cost nothing */
    int64_t domain_spares; /**< NPUs that stand by in each scale-up domain; -1: none said */
    double repair_s;       /**< of a node that failed */
    double npu_idle, server_idle, network_idle; /**< power idle over busy */
    double life_y, network_life_y, residual;
    double rack_W;
    struct own_terms terms;
    struct own_extra extras[OWN_MAX_EXTRAS];
    int32_t n_extras;
    struct own_mtbf mtbf, mtbf_low,
        mtbf_high; /**< the last two: published ranges; as mtbf where the study says */
    struct own_tolerates tolerates;
    struct own_checkpoint checkpoint;
    double straggler_loss;                     /**< share of the time */
    double planned_per_s, planned_stop_s;      /**< stops for maintenance a second, and how long each is */
    double run_tokens, run_steps, step_tokens; /**< NaN: not given */
};

extern const struct section own_system_section, own_extra_section, own_mtbf_section, own_tolerates_section,
    own_checkpoint_section, own_tier_section;

/** A number of a product as public sources have it. */
struct own_figure {
    double low, typ, high; /**< in the unit of the key; NaN: no source says */
    enum topo_grade grade;
    const char *source, *date; /**< borrowed; NULL unless typ is given */
};

enum { OWN_MAX_HELD = 8, OWN_N_FIGURES = 7 };

/** How a product is cooled. */
enum own_cooling { OWN_AIR, OWN_LIQUID };

/** A server as it is sold: a file of configs/servers. Texts are borrowed from the document. */
struct own_server {
    const char *name;
    const char *holds[OWN_MAX_HELD]; /**< what names of its NPUs begin with */
    int32_t n_holds;
    int64_t npus_per_node, npus_per_domain, npus_per_rack; /**< the last two -1: not said */
    enum own_cooling cooling;
    struct own_figure figures[OWN_N_FIGURES]; /**< in the order of own_figure_keys */
    struct own_figure rack_kW;                /**< nameplate of a full rack, to be held against */
    struct own_extra items[OWN_MAX_EXTRAS];   /**< parts whose failure takes more than a node */
    int32_t n_items;
};

enum { OWN_MAX_KNOWN = 32 };

/** A number of a key below `system`. */
struct own_known {
    const char *key;
    struct own_figure figure;
};

/** Whose numbers `system` takes: a file of configs/systems. Texts are borrowed from the document. */
struct own_like {
    const char *name; /**< NULL: nobody's */
    struct own_known list[OWN_MAX_KNOWN];
    int32_t n;
};

extern const struct section own_server_section, own_figure_section, own_like_section, own_known_section;

/** The key below `system` that each figure of a server stands for: "server_watt", "mtbf.node_h". */
extern const char *const own_figure_keys[OWN_N_FIGURES];

/** Read a server. ERR_PARSE, ERR_RANGE with the place: a typical value outside of its range. */
int own_read_server(struct own_server *server, const struct yaml_doc *doc, yaml_id map, struct err *e);

/** Read whose numbers to take. ERR_PARSE, ERR_RANGE with the place: a key that is no number of `system`, or
 * out of its range. */
int own_read_like(struct own_like *like, const struct yaml_doc *doc, yaml_id map, struct err *e);

/** What @p like, else @p server, says of a key below `system`; NULL: neither knows. */
const struct own_figure *own_find_figure(const struct own_server *server, const struct own_like *like,
                                         const char *key);

/** Can a server hold the NPU of this name: does it begin with one of server->holds? */
bool own_holds(const struct own_server *server, const char *npu);

/**
 * Give @p s what @p like says of keys that map @p map of the study does not have, of those left what @p
 * server says, and the server's items. ERR_RANGE: more than OWN_MAX_EXTRAS of them, with the place; a `like`
 * of which nothing is left.
 */
int own_use_figures(struct own_system *s, const struct own_server *server, const struct own_like *like,
                    const struct yaml_doc *doc, yaml_id map, struct err *e);

/** What public sources say of a number of `system`: their lowest and highest. */
struct own_range {
    const char *key; /**< below `system`: "mtbf.npu_h" */
    double low, high;
    const char *of; /**< NULL: in the unit of the key; else a share of this key of `system` */
    enum topo_grade grade;
    const char *source;
};
extern const struct own_range own_ranges[]; /**< shape [own_n_ranges] */
extern const int32_t own_n_ranges;

/** The number that @p s has for a key below `system`, in the unit of the key, defaults and what follows from
 * other keys included; NaN for a key that is no number of a map, such as those of items. */
double own_value(const struct own_system *s, const char *key);

/** Read map `system`. ERR_PARSE, ERR_RANGE with the place: own building and rent, run_Gtokens and run_steps
 * together. */
int own_read(struct own_system *s, const struct yaml_doc *doc, yaml_id map, struct err *e);

#endif
