/**
 * @file Layers onto types of resources: the problem, and what a plan costs.
 *
 * A plan gives each layer a type. A stage is a longest run of layers of one type; k units share its work.
 * Seconds per example of a stage with k units (alpha and beta: compute_par and comm_par of its type):
 *
 *     compute = O/B0 (1 - alpha + alpha/k)      communication = D/B0 (1 - beta + beta/k)
 *     time(k) = max of both where they overlap, else their sum
 *
 * O and D are sums over its layers. Stages work as a pipeline, so the plan's throughput is 1 / max time, and
 * its cost is epochs * examples / throughput * sum of prices of all units. Asked for is the cheapest plan
 * that reaches a throughput within the limits of units.
 */
#ifndef SIM_HETERO_HETERO_H
#define SIM_HETERO_HETERO_H

#include <math.h>

#include "sim/hetero/profile.h"

/** A type's number, in a plan: shape [n_layers]. */
typedef int16_t hetero_id;

/** Who pays for handing the output of a stage to the next one. */
enum hetero_handover {
    HETERO_PER_LAYER, /**< every layer, as profiled: a measured time of communication holds it */
    HETERO_PER_STAGE, /**< the last layer of a stage, as profiled; nobody after the last layer of all */
    HETERO_NETWORK,   /**< both ends of a stage, by the network between the two types */
};
extern const char *const hetero_handover_words[]; /**< "layer", "stage", "network"; NULL-terminated */

enum hetero_provisioning {
    HETERO_EXACT,   /**< the cheapest whole numbers of units */
    HETERO_BALANCE, /**< least units of the first stage, the others as fast as it */
    HETERO_NEWTON,  /**< the first stage's by Newton's method on the continuous cost, the others as fast */
};
extern const char *const hetero_provisioning_words[]; /**< "exact", "balance", "newton"; NULL-terminated */

/** Between two types: latency_s + bytes / Bps for what one unit sends; both directions at the same time. */
struct hetero_link {
    double lat_s, Bps;
};

/** What is asked of all plans. */
struct hetero_setup {
    bool overlap;
    enum hetero_handover handover;
    /** HETERO_NETWORK: shape [n_types][n_types], own type first, borrowed; lat_s >= 0, Bps > 0; those of a
     * type with itself are not read. Each end of a hand-over goes by its own: one GPU may listen to many
     * cores. */
    const struct hetero_link *links;
    enum hetero_provisioning provisioning;
    double examples, epochs; /**< to train on; > 0 */
    int32_t server;          /**< type that parameter servers run on, -1: they are not counted */
    double server_Bps;       /**< of embedding rows that one of its units serves */
};

/** Time of a stage in k units: max over i of fixed_s[i] + shared_s[i] / k, seconds per example. */
struct hetero_time {
    double fixed_s[2], shared_s[2];
};

/** The least units of a stage that reach the throughput asked for, -1: no number does; seconds with them. */
struct hetero_start {
    double time_s;
    int64_t units;
};

/** Release with hetero_free(). Read-only once the throughput is set: any number of threads may share it. */
struct hetero_problem {
    struct arena arena;                   /**< of all arrays */
    const struct hetero_profile *profile; /**< borrowed */
    struct hetero_setup setup;            /**< links borrowed */
    double per_s;                /**< throughput to reach [examples/s]; by hetero_set_throughput() alone */
    struct hetero_time *spans;   /**< shape [n_layers][n_types][n_layers]: first, type, last */
    struct hetero_start *starts; /**< shape of spans: for per_s, as without neighbours */
    double *server_s;            /**< shape of spans: embedding rows of the span over server_Bps; NULL
                                    without servers */
    double *unit_usd_per_h;      /**< shape [n_types]: a unit and its host */
};

/** What a unit of @p type costs [USD/h]: itself, its port and its host. */
double hetero_unit_usd_per_h(const struct hetero_profile *profile, int32_t type);

/**
 * All spans of layers on all types, O(L^2 T) time and memory. @p profile checked (hetero_profile_check()),
 * borrowed until hetero_free(); limits of @p setup are those of its keys; the throughput is 0 until it is
 * set.
 * @return 0, ERR_NOMEM; empty after failure.
 */
int hetero_build(struct hetero_problem *p, const struct hetero_profile *profile,
                 const struct hetero_setup *setup, struct err *e);
void hetero_free(struct hetero_problem *p);

/** Ask for @p per_s > 0 examples per second. O(L^2 T): the least units of all spans are kept. */
void hetero_set_throughput(struct hetero_problem *p, double per_s);

/** Layers first..last on one type; what it has beside it in the plan. */
struct hetero_span {
    int32_t first, last, type;
    int32_t before, after; /**< types of the stages around it; -1: none. Only HETERO_NETWORK looks at them. */
};

struct hetero_stage {
    struct hetero_span span;
    struct hetero_time time;
    struct hetero_start start; /**< for the problem's throughput */
    double server_s; /**< parameter servers: ceil(throughput * server_s) units of setup.server; 0: none. Each
                        stage has its own, so that what it costs depends on its own layers alone. */
};

/** O(1). */
struct hetero_stage hetero_stage_of(const struct hetero_problem *p, const struct hetero_span *span);

/** Stages of a plan, into @p stages, shape [n_layers]. Returns how many. O(n_layers). */
int32_t hetero_stages(struct hetero_stage *stages, const struct hetero_problem *p, const hetero_id *plan);

/** Seconds per example of @p k >= 1 units. */
static inline double hetero_time_s(const struct hetero_time *t, int64_t k)
{
    double part = 1 / (double)k, a = t->fixed_s[0] + t->shared_s[0] * part,
           b = t->fixed_s[1] + t->shared_s[1] * part;
    return a > b ? a : b;
}

/** What rounding may take from a throughput or from a number of units, as a share of it. */
#define HETERO_SLACK 1e-9

/**
 * Units with time(k) = @p limit_s, if units could be broken up: max over i of
 * shared_s[i] / (limit_s - fixed_s[i]), >= 0; INFINITY: no number is enough. O(1).
 */
static inline double hetero_real_units(const struct hetero_time *t, double limit_s)
{
    double most = 0;
    for (int i = 0; i < 2; i++) {
        double room_s = limit_s - t->fixed_s[i];
        if (t->shared_s[i] > 0) {
            double k = t->shared_s[i] / room_s;
            if (!(room_s > 0))
                return (double)INFINITY;
            most = k > most ? k : most;
        } else if (!(room_s >= -HETERO_SLACK * limit_s)) {
            return (double)INFINITY;
        }
    }
    return most;
}

/** The least whole k >= 1 that is not below @p k, 0 to HETERO_MAX_UNITS, by more than HETERO_SLACK of it. */
static inline int64_t hetero_round_units(double k)
{
    k *= 1 - HETERO_SLACK;
    int64_t whole = (int64_t)k;
    whole += (double)whole < k;
    return whole > 1 ? whole : 1;
}

/** hetero_real_units(), rounded; -1: more than HETERO_MAX_UNITS. */
static inline int64_t hetero_least_units(const struct hetero_time *t, double limit_s)
{
    double k = hetero_real_units(t, limit_s);
    return k <= HETERO_MAX_UNITS ? hetero_round_units(k) : -1;
}

enum hetero_status {
    HETERO_OK,
    HETERO_TOO_SLOW, /**< some stage reaches the throughput with no number of units */
    HETERO_SCARCE,   /**< it would take more units of a type than there are */
};
extern const char *const hetero_status_words[]; /**< "ok", "too slow", "too few units"; NULL-terminated */

/** What a plan comes to. */
struct hetero_value {
    enum hetero_status status;
    double usd, per_s, usd_per_h; /**< of the whole training; NaN unless HETERO_OK */
    double reach_per_s; /**< unless HETERO_OK: the largest throughput that the plan reaches within the limits;
                           0: there is not even a unit for each stage. NaN when HETERO_OK */
};

/** Room for the evaluation of plans; one for each thread. Release with hetero_work_free(). */
struct hetero_work {
    struct hetero_stage *stages; /**< shape [n_layers]; of the last plan */
    int64_t *units;              /**< shape [n_layers]; units of those stages */
    int32_t n_stages;
    int64_t *of_type;   /**< shape [n_types]; of each type, hosts and servers included */
    struct arena arena; /**< of all arrays */
};
/** For problems of as many layers and types. 0 or ERR_NOMEM; empty after failure. */
int hetero_work_build(struct hetero_work *w, const struct hetero_problem *p, struct err *e);
void hetero_work_free(struct hetero_work *w);

/**
 * Stages and units of @p plan, and what it costs, by setup.provisioning. @p w says its stages afterwards, and
 * when the status is HETERO_OK their units. O(n_layers + n_types), and hetero_provision().
 */
void hetero_evaluate(struct hetero_value *v, const struct hetero_problem *p, const hetero_id *plan,
                     struct hetero_work *w);

#endif
