/**
 * @file A study of layers on types of resources: the cheapest way to train a model at a throughput, under
 * several schedulers, at every point of a sweep and for several seeds. The model: sim/hetero/hetero.h.
 *
 * The kind, then what its own files share: a point as it is read, its runs, its rows.
 */
#ifndef KINDS_HETERO_HETERO_H
#define KINDS_HETERO_HETERO_H

#include "sim/hetero/profile.h"
#include "sim/hetero/search.h"
#include "study/kind.h"
#include "study/source.h"
#include "topo/network.h"

/**
 * Entries of a point are its schedulers, those that draw run with every seed, and one more that nobody sees:
 * the oracle, by which all plans are measured. A row for each scheduler: medians over the seeds, of which one
 * without a plan is of infinite cost.
 *
 * A point that cannot be read is one row with status "error", one whose throughput no plan reaches one with
 * "infeasible".
 */
extern const struct study_kind hetero_kind;

/** Tables of the kind besides rows and runs. */
enum { HETERO_PLANS = TABLE_RUNS + 1, HETERO_STAGES, HETERO_CURVES, N_HETERO_TABLES };

/** Keys of a study, from the outside in. */
extern const struct section hetero_section, hetero_draw_section, hetero_draw_cpu_section,
    hetero_draw_gpu_section, hetero_layer_section, hetero_type_section, hetero_probe_section,
    hetero_throughput_section, hetero_job_section, hetero_server_section, hetero_rl_section,
    hetero_genetic_section, hetero_anneal_section, hetero_bayes_section;

enum { HETERO_MAX_SCHEDULERS = 64 };

/** Shares that units divide, as measured. */
struct hetero_probe {
    int64_t units;                    /**< -1: there is none */
    double compute_ratio, comm_ratio; /**< of their time over that of one unit; NaN: not measured */
};

enum hetero_of { HETERO_OF_BEST, HETERO_OF_GPU_ONLY };

/** What a plan has to reach: one of two. */
struct hetero_throughput {
    double per_s, share; /**< NaN: the other one */
    enum hetero_of of;
};

/** Where a profile comes from. */
enum hetero_origin { HETERO_DRAWN, HETERO_MEASURED, HETERO_MODEL };

/** What a point asks for, and what is known of it before any scheduler runs. */
struct hetero_aim {
    double per_s;      /**< throughput to reach */
    double most_per_s; /**< no plan reaches more */
};

/** Read-only once prepared: threads may share it. Not to be moved. Release with hetero_point_free(). */
struct hetero_point {
    struct yaml_doc doc; /**< empty after hetero_point_close() */
    int32_t own_source;
    const char *name; /**< the document's; NULL: none */
    struct {
        yaml_id model, draw, layers, types, network, parts, system, schedulers, where, keep;
    } at;             /**< keys that have a grammar of their own; -1: absent */
    double batch;     /**< NaN: absent */
    int32_t handover; /**< as written, -1: absent */
    int64_t seeds, seed;
    uint64_t uses; /**< bits of what is in play */
    enum hetero_origin origin;
    int32_t drawn; /**< enum hetero_model; -1: not drawn */
    struct hetero_profile profile;
    yaml_id dims[HETERO_MAX_TYPES]; /**< dimension of the network that each type names; -1: none */
    bool priced;                    /**< ports are in the prices of units */
    struct hetero_link *links;      /**< shape [n_types][n_types], owned; NULL without handover network */
    struct hetero_setup setup;
    struct hetero_throughput throughput;
    int32_t schedulers[HETERO_MAX_SCHEDULERS], n_schedulers; /**< numbers in hetero_schedulers */
    bool listed; /**< the study names them: one that cannot run is an error */
    struct hetero_settings settings;
    struct hetero_problem problem; /**< empty until it is prepared */
    struct hetero_aim aim;
    struct text asked; /**< "study.yaml:4:13: throughput", for what only a run can find */
    struct text notes; /**< warnings, a line each */
};

/** The study at a point; @p from has path, overrides and axes. Empty after failure. */
int hetero_point_read(void *point, const struct study_source *from, struct err *e);
/** Let go of the document, of which nothing is needed to run the point. */
void hetero_point_close(struct hetero_point *p);
void hetero_point_free(void *point);

/**
 * The throughput asked for: as given, or a share of the largest. @p problem of hetero_build(); its per_s is
 * set. ERR_RANGE: a share of gpu-only without GPUs, or of a throughput without limit. ERR_NOMEM.
 */
int hetero_point_aim(struct hetero_aim *aim, const struct hetero_point *p, struct hetero_problem *problem,
                     struct err *e);

/** "..., a plan reaches at most ...": no plan reaches @p aim. That is a bound where a type has so few units
 * that stages may have to share them, and says so. Returns ERR_NO_DESIGN. */
int hetero_point_unreachable(const struct hetero_point *p, const struct hetero_aim *aim, struct err *e);

/* ---- runs, and their rows ---- */

/** What the runs of a point share. */
struct hetero_shared {
    struct study_shared head;
    const char *model;
    int64_t types, layers;
    int64_t listed; /**< the study names its schedulers */
    double need_per_s, most_per_s;
    /** The cheapest plan, or a bound of it; NaN where there is none. Better of the oracle and what a
     * scheduler proved: known when all runs are done. */
    double oracle_usd;
    int64_t oracle_proof; /**< enum hetero_proof */
};

/** One run of one scheduler; or of the oracle: proof, usd and lower_usd alone. */
struct hetero_result {
    struct study_result head;
    int64_t scheduler;     /**< number in hetero_schedulers */
    int64_t status, proof; /**< enum hetero_status: says whether there is a plan; enum hetero_proof */
    double usd, per_s, usd_per_h, reach_per_s, lower_usd, schedule_s; /**< schedule_s: wall clock */
    double network_usd_per_h;                                         /**< in usd_per_h; NaN without parts */
    int64_t evaluations, stages, units; /**< units: of all types, hosts and servers included */
};

extern const struct column hetero_shared_columns[], hetero_result_columns[];
extern const struct table_def hetero_tables[N_HETERO_TABLES];

/** Rows of a run: its own, also of one that failed; of its plan and its curve. */
void hetero_study_put_run(struct sink *sink, const struct study_run *r, const struct hetero_result *x);
void hetero_study_put_details(struct sink *sink, const struct study_run *r, const struct hetero_search *s);
/** What the ports of all units of the plan of @p s cost an hour. */
double hetero_study_network_usd_per_h(const struct hetero_search *s);
/** study_kind.reduce. */
int hetero_study_reduce(struct study_rows *rows, void *shared, const struct results *r, struct err *e);

/* ---- what is said (say.c): hooks of study_kind ---- */

int hetero_study_say(struct text *out, const struct study_report *r, struct err *e);
int hetero_study_conclude(struct text *out, enum study_verdict *verdict, const struct study_report *r,
                          struct err *e);
int hetero_study_fail_alone(const struct study_report *r, struct err *e);
int hetero_study_list(struct text *out, struct err *e);

#endif
