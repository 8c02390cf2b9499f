/**
 * @file What owning the whole machine of a design costs, and what failures leave of its time.
 *
 * Map `system` of a study counts NPUs, servers and other items (topo/ownership.h); the network is the
 * design's bill, and so are the links, NICs and switches that fail (topo/reliability.h).
 */
#ifndef KINDS_DESIGN_ASK_SYSTEM_H
#define KINDS_DESIGN_ASK_SYSTEM_H

#include "base/column.h"
#include "kinds/design/ask/point.h"
#include "topo/reliability.h"

/** Of a design; release with system_free(). */
struct system {
    struct topo_bill bill;          /**< owned, where the design has none; names of lines point into it */
    struct own_item *items;         /**< shape [n_items], owned: NPUs, servers, others, lines of the bill */
    struct reliability_line *fails; /**< shape [n_fails], owned: likewise; with what each takes */
    int32_t n_items, n_fails;
    struct own_cost cost;  /**< usd NaN where the network has prices and no bill */
    double usd_npu_h;      /**< of an hour that is sold */
    double racks;          /**< of servers; NaN: the network is not to be had, and all numbers are NaN */
    double racks_network;  /**< of switches and items, where servers have racks of their own; else 0 */
    double spares_enough;  /**< share of time in which as many nodes as the job takes are up; NaN: no
                              spare_nodes */
    int64_t spares_needed; /**< fewest for 0.99 of it; -1: no spare_nodes */
    double nodes_down;     /**< share of servers, spares too, that are under repair; with spare_nodes */
    double mtbi_s;         /**< of a job on all NPUs; INFINITY: nothing fails */
    double mtbi_low_s, mtbi_high_s; /**< with every rate at an end of its published range */
    struct checkpoint checkpoint;
    double load_s, wait_s; /**< of its restart: reading the checkpoint, waiting for a spare */
    double path_s;         /**< what nodes would take to send one, if the store took it */
    struct goodput_tier tiers[OWN_MAX_TIERS + 1]; /**< the last one is `checkpoint`, the store */
    int32_t n_tiers;
    struct goodput goodput; /**< what failures and checkpoints leave of the time */
    double kept;            /**< times what stragglers and planned stops leave: work */
    double less_bw;         /**< share of the time lost, at most, while parts are down that the job runs on
                                 without: were steps all communication. Not in `kept` */
    double step_s;          /**< wall time of a step: its time over goodput; INFINITY for 0 */
    double tokens;          /**< of a step; NaN unknown */
    double usd_per_Mtoken, usd_run;                  /**< NaN: tokens, or the run, are not known */
    bool lacks_watts, lacks_failures, lacks_network; /**< sums are lower bounds, as `omits` says */
    const char *dark;                                /**< the first part without watts; NULL: none */
    char omits[512];                                 /**< what is left out of these numbers; "" */
};

/** What of a design it depends on; design_owned(). Borrowed. */
struct system_of {
    const double *bw_Bps;         /**< shape [n_dims] of the network */
    double time_s;                /**< of a step */
    const struct topo_bill *bill; /**< NULL: made from the bandwidths */
};

/** Read `system` of the document, if there is one: into s->system and s->own. Network and workloads are read.
 * Errors as design_point_read(). */
int system_read(struct design_point *s, struct err *e);

/** Tokens of a step of each workload, by its weight, together; NaN: one trains no model. */
double design_step_tokens(const struct design_point *s);

/** Everything from `system` of @p s for design @p d at its time. Needs s->has_system. ERR_NOMEM. */
int system_build(struct system *out, const struct design_point *s, struct system_of d, struct err *e);
void system_free(struct system *x);

/** The same machine at work on jobs: what one that trains @p model (NULL: of checkpoint.size_GB) on @p npus
 * NPUs keeps of its time. Parts that fail are as many as its share of the NPUs, its own nodes save it; sums
 * of cost and power are the whole machine's. On all NPUs it is system_build(). */
int system_build_job(struct system *out, const struct design_point *s, struct training *model, int64_t npus,
                     struct system_of d, struct err *e);

/** By what the cost of work can be told apart; the shares of each level add up to 1. */
enum system_level {
    SYSTEM_BY_TERM, /**< capital, building, energy, support, staff */
    SYSTEM_BY_ITEM, /**< what is owned, with its power and support; staff */
    SYSTEM_BY_TIME, /**< steps that are kept, stalls, failures part by part, stragglers, planned stops */
    N_SYSTEM_LEVELS,
};
extern const char *const system_level_words[N_SYSTEM_LEVELS + 1];

struct system_share {
    enum system_level level;
    const char *what; /**< borrowed from @p x, or a literal */
    double frac;
};

/** Entries that system_shares() writes at most. */
int32_t system_shares_max(const struct system *x);

/**
 * Shares of what work costs, 0 left out. Time: of all of it, kept steps have `kept`, their stalls as many
 * times delta/tau as tiers have, and the rest is lost to failures, in proportion to how often each part stops
 * the job, and, to first order, how long it then waits for spares. Returns how many; none where nothing is
 * kept or the sum is not known.
 */
int32_t system_shares(struct system_share *out, const struct system *x, const struct own_system *own);

/** @p n parts of a network, each at @p usd and @p watt, as they are owned. */
struct own_item system_network_item(const char *name, double n, double usd, double watt,
                                    const struct own_system *own);

/** Dimensions that lie inside a server of system.npus_per_node: the first so many, whole fabrics. */
int32_t system_dims_inside(const struct design_point *s);
/** NPUs that a job loses, in whole nodes, with those of @p loss in the entry that begins at dimension @p
 * first. */
double system_npus_taken(const struct design_point *s, int32_t first, const struct topo_loss *loss);

/** Mean time that a restart without @p npus NPUs waits for spare servers [s]; 0 where none are counted.
 * @p dim: of the network's part that failed; -1: one of a server or a scale-up domain. */
double system_wait_s(const struct system *x, const struct design_point *s, double npus, int32_t dim);

/** The sums again, after items, terms or failures of @p x were changed. */
void system_sum(struct system *x, const struct design_point *s, const struct own_system *own, double time_s);

/** Does dimension @p d add to the power and cost of the whole machine: all but those that servers come with.
 */
bool system_adds(const struct design_point *s, int32_t d);

/** What @p p, of @p s, multiplies time with, where its objective has a factor: power, or what the machine
 * costs a second by the tokens of a step; else nothing. */
void system_ask_factor(struct alloc_problem *p, const struct design_point *s);

/**
 * What the parts of dimensions first .. first + n - 1, whole entries, come to at @p bw_Bps, shape [n_dims] of
 * the network, by enum alloc_spent; of the whole machine only what objective or constraints of @p s ask for,
 * else 0.
 * @p spent: shape [N_ALLOC_SPENT]. Errors as topo_spend().
 */
int system_spend(double *spent, const struct design_point *s, int32_t first, int32_t n, const double *bw_Bps,
                 struct err *e);

/**
 * Do the study's rows hold at @p bw_Bps, shape [n_dims], to @p rel of their largest part: constraints on
 * money and power for what is bought, where pricing is whole? @return the first that does not, -1 = all do.
 * Where parts cannot be had the first row that speaks of what is spent does not hold.
 */
int32_t system_broken_row(const struct design_point *s, const double *bw_Bps, double rel);

/** Of what gap and lower bound are, where the objective's sum is not all that `system` says: a phrase; NULL:
 * it is.
 */
const char *system_proof_of(const struct design_point *s);

/** What a row shows; see system_columns. Do not copy: `system_omits` points into it. */
struct system_row {
    double usd_year, usd_npu_h, usd_per_Mtoken, usd_run, watt_peak, watt_mean, watt_site, racks,
        racks_network, goodput, mtbi_h, checkpoint_s;
    const char *system_omits;
    char text[512];
};

/** Its columns in a row of type @p type: @p within is "" or "member.". */
#define SYSTEM_COLUMN(type, within, field, of_kind, ...)                                                     \
    {                                                                                                        \
        .name = #field, .kind = of_kind, .offset = offsetof(type, within field), .part = "system",           \
        .with = "watt_peak", .help = __VA_ARGS__                                                             \
    }
#define SYSTEM_REAL(type, within, field, ...) SYSTEM_COLUMN(type, within, field, TABLE_REAL, __VA_ARGS__)
#define SYSTEM_COLUMNS(type, within)                                                                         \
    SYSTEM_REAL(type, within, usd_year,                                                                      \
                "cost of the whole machine per year: capital, power, building, support, staff",              \
                .unit = "USD", .in = IN_DATA, .better = -1),                                                 \
        SYSTEM_REAL(type, within, usd_npu_h, "the same per NPU-hour sold", .title = "owned",                 \
                    .unit = "USD/NPU/h", .better = -1),                                                      \
        SYSTEM_REAL(type, within, usd_per_Mtoken,                                                            \
                    "the same per million tokens of useful work (goodput counted)", .title = "tokens",       \
                    .unit = "USD/Mtoken", .as = "USD/M", .better = -1),                                      \
        SYSTEM_REAL(type, within, usd_run, "the same for a whole training run", .unit = "USD",               \
                    .in = IN_DATA, .better = -1),                                                            \
        SYSTEM_REAL(type, within, watt_peak, "nameplate power of the IT equipment", .title = "nameplate",    \
                    .unit = "W", .better = -1),                                                              \
        SYSTEM_REAL(type, within, watt_mean, "mean power of the IT equipment", .unit = "W", .in = IN_DATA,   \
                    .better = -1),                                                                           \
        SYSTEM_REAL(type, within, watt_site, "nameplate power at the meter: watt_peak times pue",            \
                    .unit = "W", .in = IN_DATA, .better = -1),                                               \
        SYSTEM_REAL(type, within, racks,                                                                     \
                    "racks of servers; where servers per rack are unknown, racks of all equipment by power", \
                    .in = IN_DATA, .better = -1),                                                            \
        SYSTEM_REAL(type, within, racks_network,                                                             \
                    "racks of switches and items, where servers have racks of their own", .in = IN_DATA,     \
                    .better = -1),                                                                           \
        SYSTEM_REAL(type, within, goodput, "share of time spent on work that failures do not undo",          \
                    .better = 1),                                                                            \
        SYSTEM_REAL(type, within, mtbi_h, "mean time between interruptions of the job", .unit = "h",         \
                    .in = IN_DATA, .better = 1),                                                             \
        SYSTEM_REAL(type, within, checkpoint_s, "work between two checkpoints to storage", .in = IN_DATA),   \
        SYSTEM_COLUMN(type, within, system_omits, TABLE_TEXT,                                                \
                      "what the columns of the whole machine leave out", .in = IN_DATA)
extern const struct column system_columns[];
/** Number @p i of its columns of reals; NULL: there are no more. O(columns). */
const struct column *system_quantity(int32_t i);

/** The row for @p d; blank without `system`. ERR_NOMEM. */
int system_row_fill(struct system_row *out, const struct design_point *s, struct system_of d, struct err *e);

#endif
