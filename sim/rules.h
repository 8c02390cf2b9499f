/** @file How a simulation runs collectives: chunks, order of dimensions, queues, slow members, routes. */
#ifndef SIM_RULES_H
#define SIM_RULES_H

#include "workloads/collective.h"

/** The ladder: how the time of a collective is found. */
enum sim_model {
    SIM_BANDWIDTH,  /**< closed form max_d m_d/B_d: endlessly many chunks, no latency */
    SIM_ALPHA_BETA, /**< closed form with algorithms, latency and chunks: stage_rows() */
    SIM_CHUNK,      /**< event simulation of chunks: sim/chunk/chunk.h */
    SIM_FLOW,       /**< event simulation of flows on the links of the graph: sim/flow/flow_collective.h */
    N_SIM_MODELS,
};

/** "bandwidth", "alpha-beta"; NULL-terminated, for key tables and options. */
extern const char *const sim_model_words[N_SIM_MODELS + 1];

/** In which order the chunks of a collective pass the dimensions. */
enum sim_order {
    SIM_ORDER_FIXED,  /**< innermost first */
    SIM_ORDER_GIVEN,  /**< as `dims_order` says */
    SIM_ORDER_THEMIS, /**< per chunk, the least loaded dimension first (ISCA 2022, arXiv 2110.04478) */
    SIM_ORDER_MINMAX, /**< per chunk, the order after which the most loaded dimension is least loaded */
    SIM_ORDER_GUARD,  /**< the best of fixed, themis and minmax, each simulated */
    N_SIM_ORDERS,
};

/** Which of the waiting chunks a free dimension takes; a collective of higher priority goes first. */
enum sim_queue { SIM_QUEUE_FIFO, SIM_QUEUE_LIFO, SIM_QUEUE_SMALLEST, N_SIM_QUEUES };

/** What a time means. */
enum sim_semantics {
    SIM_PHYSICAL, /**< what links carry; chunks in flight share the dimension's bandwidth */
    SIM_LIBRA,    /**< of model bandwidth: as topo_network.whole_parts says */
    SIM_ASTRA2, /**< the arithmetic of ASTRA-sim 2, analytical back-end without congestion: sim/astra/astra.h
                 */
    SIM_ASTRA2_AWARE, /**< the same with congestion, of one dimension */
    N_SIM_SEMANTICS,
};

/** How flows find their way on the graph. */
enum sim_route { SIM_ROUTE_DIMENSION, SIM_ROUTE_SHORTEST, SIM_ROUTE_ECMP, SIM_ROUTE_DETOUR, N_SIM_ROUTES };

extern const char *const sim_order_words[N_SIM_ORDERS + 1],
    *const sim_queue_words[N_SIM_QUEUES + 1], *const sim_semantics_words[N_SIM_SEMANTICS + 1],
                                                  *const sim_route_words[N_SIM_ROUTES + 1];

/** NPUs that are slower than the others, or late. */
struct sim_slow {
    int32_t at[TOPO_MAX_DIMS]; /**< address; -1 = every one */
    int32_t dim;               /**< only in this dimension; -1 = in all */
    double share;              /**< of the bandwidth, (0, 1] */
    double late_s;             /**< starts so much later, >= 0 */
};

/** Links of the graph that have failed or lost bandwidth, for flows. */
struct sim_links {
    char from[TOPO_NAME],
        to[TOPO_NAME]; /**< vertices as exports name them, all links between the two; or "" and */
    int32_t dim;       /**< all links of a dimension; -1 */
    double share;      /**< of the bandwidth that is left, 0 to 1; 0 = failed */
    yaml_id node;      /**< where it is written */
};

enum { SIM_MAX_SLOW = 16, SIM_MAX_LINKS = 256, SIM_PATH = 1024 };

struct sim_rules {
    struct stage_rules stage;
    bool
        memory_adds; /**< adding up costs two reads and a write of memory: stage.mem_Bps is that of the NPU */
    enum sim_order order;
    int32_t dims_order[TOPO_MAX_DIMS]; /**< SIM_ORDER_GIVEN: dimensions in the order of a reduce-scatter */
    enum sim_queue queue;
    int32_t active; /**< chunks that a dimension works on at a time, >= 1 */
    enum sim_semantics semantics;
    enum sim_route route;
    double round; /**< of model flow: how much too late a collective may end; 0: exact */
    struct sim_slow slow[SIM_MAX_SLOW];
    int32_t n_slow;
    struct sim_links *links; /**< shape [n_links], owned */
    int32_t n_links;
    char graph[SIM_PATH];          /**< file of the graph that flows run on; "": that of the network */
    bool keep_links;               /**< keep what every link carries, not of the hottest alone */
    int32_t keep_events;           /**< keep what happened, in each simulation at most so much; 0: nothing */
    double max_messages;           /**< of model flow in a step; 0: any (1e8 in a run) */
    uint64_t seed;                 /**< of SIM_ROUTE_ECMP; the study sets it */
    unsigned long long graph_hash; /**< of its content; 0 without */
};

/** A network with bandwidths, and how the time of a step is found on it. Borrowed. */
struct sim_way {
    const struct topo_network *net;
    const double *bw_Bps; /**< shape [n_dims], each >= 0; without bandwidth what sends never ends */
    enum sim_model model;
    const struct sim_rules *rules; /**< SIM_BANDWIDTH does not look at them */
};

/** The same for stages of collectives. */
static inline struct collective_way sim_stage_way(const struct sim_way *way)
{
    return (struct collective_way){ way->net, &way->rules->stage, way->bw_Bps };
}

/** Does model chunk run the arithmetic of ASTRA-sim 2? */
static inline bool sim_is_astra(const struct sim_rules *r)
{
    return r->semantics == SIM_ASTRA2 || r->semantics == SIM_ASTRA2_AWARE;
}

extern const struct section sim_rules_section, sim_slow_section, sim_links_section;

/** What reports call the time that is neither compute nor bytes at full bandwidth. */
const char *sim_latency_word(enum sim_model model, const struct sim_rules *rules);

/** What holds when nothing is said. Release what was read with sim_rules_free(). */
void sim_rules_default(struct sim_rules *r);

/**
 * Read the map `simulation` of a study for @p net. Its `algorithms` (a list, one per dimension) replace those
 * of @p net, `semantics: libra` sets its whole_parts. ERR_PARSE or ERR_RANGE with the place: a list of
 * another length, a dimension named twice, reduction through a memory of unknown bandwidth, an address
 * outside the network.
 */
int sim_rules_read(struct sim_rules *r, struct topo_network *net, const struct yaml_doc *doc, yaml_id map,
                   struct err *e);
void sim_rules_free(struct sim_rules *r);

#endif
