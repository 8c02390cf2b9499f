/** @file Private to this folder: one point of a study of layers on types of resources, read, and its runs. */
#ifndef KINDS_HETERO_POINT_H
#define KINDS_HETERO_POINT_H

#include "kinds/hetero/hetero.h"
#include "sim/hetero/profile.h"
#include "sim/hetero/search.h"
#include "study/source.h"
#include "topo/network.h"

enum { HETERO_MAX_SCHEDULERS = 64 };

/** What keys are used for: bits of `uses` in their tables. */
enum hetero_use {
    USE_HETERO_DRAW = 1 << 0,    /**< drawn profiles */
    USE_HETERO_MODEL = 1 << 1,   /**< a model file */
    USE_HETERO_NETWORK = 1 << 2, /**< handover network */
    USE_HETERO_OWN = 1 << 3,     /**< handover as profiled */
    USE_HETERO_BUDGET = 1 << 4,  /**< schedulers that search */
    USE_RL = 1 << 5,
    USE_GENETIC = 1 << 6,
    USE_ANNEAL = 1 << 7,
    USE_BAYES = 1 << 8,
};

/** As written: what is read once more is known. */
struct hetero_conf {
    const char *name;
    yaml_id model, layers, types, network, schedulers;
    double batch; /**< NaN: absent */
    int64_t seeds, seed;
};

/** Numbers are SI. */
struct hetero_type_conf {
    const char *name, *host, *dim;
    bool cpu;
    double usd_per_h, compute_par, comm_par, nic_Bps, net_Bps, mem_B;
    int64_t max_units, host_units;
    yaml_id probe, npu;
};

struct hetero_probe {
    int64_t units;
    double compute_ratio, comm_ratio;
};

struct hetero_layer_conf {
    const char *name;
    int32_t kind;
    double in_B, out_B, weight_B, sparse_B;
    yaml_id compute_s, comm_s, handover_s; /**< maps of a type: milliseconds */
};

enum hetero_of { HETERO_OF_BEST, HETERO_OF_GPU_ONLY };

struct hetero_throughput {
    double per_s, share;
    int32_t of; /**< enum hetero_of, -1: absent */
};

/** Where a profile comes from. */
enum hetero_origin { HETERO_DRAWN, HETERO_MEASURED, HETERO_MODEL };

/** Read-only once read: threads may share it. Not to be moved. Release with hetero_point_free(). */
struct hetero_point {
    struct yaml_doc doc; /**< empty after hetero_point_close() */
    int32_t own_source;
    struct hetero_conf conf; /**< its texts and nodes are the document's */
    uint32_t uses;           /**< enum hetero_use, of what is in play */
    enum hetero_origin origin;
    int32_t drawn; /**< enum hetero_model; -1: not drawn */
    struct hetero_profile profile;
    yaml_id dims[HETERO_MAX_TYPES]; /**< dimension of the network that each type names; -1: none */
    struct hetero_link *links;      /**< shape [n_types][n_types], owned; NULL without handover network */
    struct hetero_setup setup;
    struct hetero_throughput throughput;
    int32_t schedulers[HETERO_MAX_SCHEDULERS], n_schedulers; /**< numbers in hetero_schedulers */
    bool listed; /**< the study names them: one that cannot run is an error */
    struct hetero_settings settings;
    struct text asked; /**< "study.yaml:4:13: throughput", for what only a run can find */
    struct text notes; /**< warnings, a line each */
};

/** The study at a point; @p from has path, overrides and axes. Empty after failure. */
int hetero_point_read(struct hetero_point *p, const struct study_source *from, struct err *e);
/** Let go of the document, of which nothing is needed to run the point. */
void hetero_point_close(struct hetero_point *p);
void hetero_point_free(struct hetero_point *p);

/** What a point asks for, and what is known of it before any scheduler runs. */
struct hetero_aim {
    double per_s;      /**< throughput to reach */
    double most_per_s; /**< no plan reaches more */
};

/**
 * The throughput asked for: as given, or a share of the largest. @p problem of hetero_build(); its per_s is
 * set. ERR_RANGE: a share of gpu-only without GPUs, or of a throughput without limit. ERR_NOMEM.
 */
int hetero_point_aim(struct hetero_aim *aim, const struct hetero_point *p, struct hetero_problem *problem,
                     struct err *e);

/** "..., a plan reaches at most ...": no plan reaches @p aim. That is a bound where a type has so few units
 * that stages may have to share them, and says so. Returns ERR_NO_DESIGN. */
int hetero_point_unreachable(const struct hetero_point *p, const struct hetero_aim *aim, struct err *e);

/* ---- parts of reading ---- */

/** Types as read, before there is a profile to hold them. */
struct hetero_types {
    int32_t n;
    struct hetero_type of[HETERO_MAX_TYPES];
    struct hetero_type_conf conf[HETERO_MAX_TYPES];
    yaml_id maps[HETERO_MAX_TYPES];
};

/** The list `types`. */
int hetero_read_types(struct hetero_types *all, struct hetero_point *p, struct err *e);
/** Number of the type called @p name, which node @p id names; ERR_PARSE with the nearest name. */
int hetero_find_type(int32_t *out, const struct hetero_type *types, int32_t n, const struct yaml_doc *doc,
                     yaml_id id, const char *name, struct err *e);
/** The `name` of @p map into room of fixed size; too long a one would be another: ERR_RANGE. */
int hetero_copy_name(char out[HETERO_NAME], const struct hetero_point *p, yaml_id map, const char *name,
                     struct err *e);

/** Profile and origin, from draw, layers or a model; what types hang on. */
int hetero_point_profile(struct hetero_point *p, struct err *e);
/** Links between types, where setup.handover is the network's; needs the profile. */
int hetero_point_links(struct hetero_point *p, struct err *e);

/** A list of 1 to @p most; ERR_PARSE, ERR_RANGE. */
int hetero_need_list(const struct hetero_point *p, yaml_id list, const char *what, int most, struct err *e);
/** A note for each key of @p map (-1: none) that has no use in the study. */
void hetero_note_unused(struct hetero_point *p, const struct section *s, yaml_id map);

/* ---- runs, and their rows ---- */

/** Layers @p first to @p last, from 0, on units of one type; seconds are of one example. */
struct hetero_stage_run {
    int32_t first, last, type;
    int64_t units, servers;
    double compute_s, comm_s, server_s; /**< server_s: of its parameter servers, 0 without */
    double time_s, usd_per_h;           /**< time_s: what the stage lets through, servers included */
};

/** One run of one scheduler. */
struct hetero_unit {
    int64_t point;
    int32_t scheduler; /**< index into the point's schedulers */
    int64_t seed;
    bool run;
    int rc;
    char *message; /**< owned; NULL unless it failed */
    struct hetero_value value;
    enum hetero_proof proof;
    double lower_usd, schedule_s; /**< schedule_s: wall clock */
    int64_t evaluations, units;   /**< units: of all types, hosts and servers included */
    int32_t n_stages;
    struct hetero_stage_run *stages; /**< shape [n_stages], owned; NULL unless asked for, or without a plan */
    int32_t n_curve;
    struct hetero_curve_point *curve; /**< shape [n_curve], owned; NULL unless asked for */
};

/** What its runs share. */
struct hetero_state {
    struct hetero_point point;
    bool run;
    int rc;
    char *message; /**< owned; NULL unless it failed */
    struct hetero_aim aim;
    /** The cheapest plan, or a bound of it; NaN where there is none. Better of the oracle and what a
     * scheduler proved. */
    double oracle_usd;
    enum hetero_proof oracle_proof;
    int64_t first_unit, n_units;
};

struct hetero_runs {
    const struct hetero_study *study;
    struct study_source from;
    const struct hetero_options *options;
    struct hetero_state *states; /**< shape [n_points], owned */
    struct hetero_unit *units;   /**< shape [n_units], owned: by point, scheduler, seed */
    int64_t n_units;
};

/** Of unit @p u, its scheduler. */
const struct hetero_scheduler *hetero_unit_scheduler(const struct hetero_runs *r,
                                                     const struct hetero_unit *u);

/** All tables that are wanted. ERR_NOMEM. */
int hetero_make_tables(struct table *out, const struct hetero_runs *r, struct err *e);

/** Those of options that are about plans and curves. */
int hetero_make_details(const struct hetero_runs *r, struct err *e);
/** Columns that each table begins with, and their cells: point, axes, model, scheduler. */
void hetero_put_columns(struct table *t, const struct hetero_runs *r);
void hetero_put_unit(struct table *t, const struct hetero_runs *r, const struct hetero_unit *u);
/** Is a run a row? Not one that did not happen, nor of a scheduler nobody asked for that cannot run here. */
bool hetero_unit_counts(const struct hetero_runs *r, const struct hetero_unit *u);
/** @p usd over that of the oracle or its bound; NaN without one. */
double hetero_over_oracle(const struct hetero_state *s, double usd);

#endif
