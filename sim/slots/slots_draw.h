/** @file Random clusters of racks and jobs in slots, as in GADGET's experiments. */
#ifndef SIM_SLOTS_SLOTS_DRAW_H
#define SIM_SLOTS_SLOTS_DRAW_H

#include "base/arena.h"
#include "base/schema.h"
#include "sim/cluster/job.h"
#include "sim/slots/slots.h"

enum { DRAW_MAX_SIZES = 16 };

/**
 * Racks: arXiv 2202.01158 section VI: 50 servers in 2 to 5 racks, each with 1, 2, 4 or 8 GPUs; links of
 * 10..100 Gbps from server to rack and 200..3200 Gbps between racks, uniform. Here they are whole Gbps. The
 * paper says "fat-tree" and no more; here servers hang on the switch of their rack, drawn evenly (but that no
 * rack is empty), and racks are joined in a full mesh.
 */
struct draw_racks {
    int64_t servers;
    struct draw_range racks;
    int32_t gpus[DRAW_MAX_SIZES]; /**< shape [n_gpus], equally likely */
    int32_t n_gpus;
    int64_t total_gpus; /**< scale all servers to this sum by largest remainders; -1 = as drawn */
    struct draw_range server_Bps, rack_Bps;
    double link_scale; /**< times every link's bandwidth */
    double lat_s;      /**< of each link */
};

/** Where a job's arrivals come from. */
enum draw_arrivals {
    DRAW_AT_ONCE, /**< all in slot 1 */
    DRAW_UNIFORM, /**< each uniform over 1 .. 0.8 slots: a Poisson process, given how many come in that time
                   */
    DRAW_POISSON, /**< exponential gaps of that mean, the first in slot 1; those after 0.8 slots come then */
};

/** How long the budget of a job lasts. */
enum draw_budget {
    DRAW_BUDGET_SCALED,  /**< ceil(iterations / zeta) worker-slots: the budget as the text means it; with
                            DRAW_TAU zeta is that of the most workers */
    DRAW_BUDGET_LITERAL, /**< the paper's (3) as printed: iterations count as worker-slots, which never binds
                            there */
};

/** How a job goes on in a slot. */
enum draw_progress {
    DRAW_CONST, /**< zeta iterations a worker, however many there are: the paper's programme */
    DRAW_TAU,   /**< whole iterations of the time that the paper's eq. 1 gives so many workers */
    DRAW_LINKS, /**< the same, with the bandwidth that the ring of the slot reserves, hop_Bps or a half or a
                   quarter of it, and inner_Bps on one server */
};

/**
 * Jobs of arXiv 2202.01158 section VI. What is drawn is a whole number (of hop_Bps in Mbps) but the sigmoid's
 * slope; the paper says so of N, F, zeta and b. Where it leaves things open: arrivals follow a trace of
 * Google's whose window it does not give, here they are drawn; fixed workers of 1..10 exceed N of 1..5, here
 * they do unless clamp_fixed; F counts iterations but bounds worker-slots, see enum draw_budget.
 */
struct draw_elastic {
    int64_t count;
    enum draw_arrivals arrivals;
    struct draw_range workers;    /**< N_i */
    struct draw_range fixed;      /**< of schedulers that do not choose */
    bool clamp_fixed;             /**< fixed workers are at most N_i */
    struct draw_range iterations; /**< F_i */
    enum draw_progress progress;
    struct draw_range zeta; /**< DRAW_CONST: iterations of a worker in a slot, before zeta_scale */
    double zeta_scale;
    struct ring_time ring; /**< DRAW_TAU, DRAW_LINKS: of every job, with its own hop_Bps */
    double inner_Bps;      /**< DRAW_LINKS: of a ring on one server */
    enum ring_batch batch;
    double slot_s;
    struct draw_range hop_Bps;
    enum draw_budget budget;
    enum utility_kind utility;              /**< of the report; a sigmoid is aimed at by its envelope .. */
    bool aim_literal;                       /**< .. unless this is set */
    struct draw_range scale, slope, middle; /**< L1, L2, L3 */
    double leave_frac;
    double gpus; /**< of a worker */
    /** What a worker takes of other resources, by their names, borrowed from the document. */
    struct draw_demand {
        const char *name;
        struct draw_range range;
    } demands[CLUSTER_MAX_RESOURCES];
    int32_t n_demands;
    yaml_id demand, tau; /**< what the file says of them and of `ring`; -1: nothing */
    yaml_id from_trace;  /**< what says where jobs come from in place of draws; -1: nothing */
    double trace_slot_s; /**< with from_trace: how long a slot is */
};

/** GPUs of a server, an entry of a list of int32_t. */
extern const struct key draw_gpus_entry;
extern const struct section draw_racks_section, draw_elastic_section, draw_tau_section;

/** Which of their keys have a use: of racks in model events, of jobs as @p d has them, with or without a
 * scheduler that gives them a fixed number of workers. */
uint64_t draw_racks_uses(bool model_events);
uint64_t draw_elastic_uses(const struct draw_elastic *d, bool fixed_workers);

/** Read `racks` and `jobs` of a study; a @p map of -1 gives the defaults: the paper's. ERR_PARSE, ERR_RANGE.
 */
int draw_read_racks(struct draw_racks *d, const struct yaml_doc *doc, yaml_id map, struct err *e);
int draw_read_elastic(struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map, struct err *e);

/** A cluster of racks; the same for the same @p seed. Errors of cluster_build_racks(). */
int draw_racks(struct cluster *c, const struct draw_racks *d, int64_t seed, struct err *e);

/** What was drawn of a job's utility: L1, L2, L3. */
struct draw_taste {
    double scale, slope, middle;
};

/** Jobs drawn, with their names. Release with draw_jobs_free(). */
struct draw_jobs {
    struct arena arena;        /**< of all arrays */
    struct elastic_job *jobs;  /**< shape [n] */
    char (*ids)[16];           /**< shape [n] */
    double *gains;             /**< but for DRAW_CONST: what jobs[].gain points into */
    struct draw_taste *tastes; /**< shape [n] */
    int32_t n;
};

/** Utilities of @p taste, for at most @p most iterations. ERR_RANGE. */
int draw_set_utility(struct elastic_job *job, const struct draw_elastic *d, const struct draw_taste *taste,
                     double most, struct err *e);

/** Give the jobs what a worker takes of the resources of @p c besides GPUs. ERR_RANGE: a resource that no
 * server has; ERR_NOMEM. */
int draw_demands(struct draw_jobs *jobs, const struct draw_elastic *d, const struct cluster *c, int64_t seed,
                 struct err *e);

/**
 * Job i depends on the seed and i alone, but for Poisson arrivals, which add up. Every number is drawn, used
 * or not, so that a change of one setting leaves the others' draws as they are.
 * @return 0, ERR_NOMEM, or ERR_RANGE: with DRAW_TAU, a job whose most workers end no iteration in a slot.
 */
int draw_elastic_jobs(struct draw_jobs *out, const struct draw_elastic *d, int32_t n_slots, int64_t seed,
                      struct err *e);
void draw_jobs_free(struct draw_jobs *x);

#endif
