/** @file Private to this folder: one point of a study of training with little communication, its runs, and
 * what these share. */
#ifndef KINDS_GOSSIP_POINT_H
#define KINDS_GOSSIP_POINT_H

#include <omp.h>

#include "kinds/gossip/gossip.h"
#include "sim/gossip/gossip.h"
#include "study/source.h"
#include "workloads/plan_cost.h"

enum { GOSSIP_JOB_TEXT = 2 * MODEL_NAME + 8 };

/* ---- what a worker stands for ----
 *
 * What a worker of a gossip study stands for: one replica of a model on one NPU. Its training step
 * gives the clock of the study, and its gradients the bytes on the wire.
 */

/** Plain value. */
struct gossip_job {
    char model[MODEL_NAME]; /**< its name, or that of the job */
    char npu[MODEL_NAME];   /**< "" where it has no name */
    double step_s;          /**< passes, recomputation, optimiser and overhead; nothing is sent */
    double model_B;         /**< all parameters, experts' too, times the bytes of a gradient */
    double missing_B;       /**< of the NPU's memory, <= 0 when it fits; NaN: its memory is not known */
};

/**
 * Read map @p map of gossip_job_section: `model` and `parallel` as a workload that is a model has them; its
 * `batch` is that of one worker. The plan must be one of a single NPU: no tp, cp, pp, ep.
 * @param npu  what is taken where the map has no `npu`: that of the network.
 * @return 0; ERR_PARSE or ERR_RANGE with the place: the NPU needs peak_TFLOPS and mem_GBps. What happens if
 * memory does not suffice is the caller's to say. @p out is empty after failure. O(layers).
 */
int gossip_job_read(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                    const struct topo_npu *npu, struct err *e);

/** "Llama 3 8B on H100 SXM 80 GB", or without the NPU where that has no name. Returns @p buf. */
const char *gossip_job_text(char buf[GOSSIP_JOB_TEXT], const struct gossip_job *job);

/* ---- the point ---- */

/** Whose accuracy methods are compared by. */
enum gossip_compare { GOSSIP_COMPARE_WORKERS, GOSSIP_COMPARE_AVERAGED, N_GOSSIP_COMPARES };
/** "workers", "averaged"; NULL-terminated. */
extern const char *const gossip_compare_words[N_GOSSIP_COMPARES + 1];

enum { GOSSIP_MAX_METHODS = 4096 /**< rows of a point */ };

/** As written: what is read once more is known. */
struct gossip_conf {
    const char *name, *baseline, *need_dim; /**< need_dim NULL: all */
    yaml_id network, job, learner, data, clock, methods;
    int64_t workers, server;       /**< -1: absent */
    int32_t compare;               /**< enum gossip_compare */
    double equal_points, need_pct; /**< need_pct NaN: absent */
    int64_t seeds, seed;
};

/** One method with its numbers: a row of the point. */
struct gossip_entry {
    char *label; /**< owned; no two of a point are alike */
    struct gossip_settings settings;
};

/** Read-only once read, but for fabric.graph: threads may share it. Not to be moved. Release with
 * gossip_point_free(). */
struct gossip_point {
    struct yaml_doc doc; /**< empty after gossip_point_close() */
    int32_t own_source;
    struct gossip_conf conf; /**< its texts and nodes are the document's */
    uint32_t uses;           /**< enum gossip_use, of what is in play */
    struct gossip_net net;
    struct gossip_fabric fabric; /**< without its graph */
    struct gossip_learning learning;
    struct gossip_clock clock;
    struct gossip_teacher teacher; /**< but for its seed; without own data */
    bool own_data;
    char *train_csv, *test_csv, *label; /**< owned; NULL: none. label NULL: the last column */
    int64_t n_train;                    /**< examples of it */
    unsigned long long data_hash;       /**< of own data */
    double drift_at;                    /**< 1: never */
    double model_B;                     /**< 0: 4 bytes a parameter */
    struct gossip_job job;              /**< model "": none */
    enum gossip_sharding sharding;
    struct gossip_entry *entries; /**< shape [n_entries], owned */
    int32_t n_entries, cap_entries;
    int32_t baseline;  /**< number of the entry that is compared with */
    double equal_frac; /**< accuracies this near are equal */
    struct text notes; /**< warnings, a line each */
};

/** The study at a point; @p from has path, overrides and axes. Empty after failure. */
int gossip_point_read(struct gossip_point *p, const struct study_source *from, struct err *e);
/** Let go of the document, of which nothing is needed to run the point. */
void gossip_point_close(struct gossip_point *p);
void gossip_point_free(struct gossip_point *p);

/** What runs of @p p share but for examples and graph. */
struct gossip_setup gossip_point_setup(const struct gossip_point *p);
/** Steps a worker makes in an epoch: of the smallest shard, what does not fill a batch is left out. */
int64_t gossip_point_epoch_steps(const struct gossip_point *p);
/** The examples of own data. Both empty after failure. Errors of gossip_data_read_csv(). */
int gossip_point_own_data(struct gossip_data *train, struct gossip_data *test, const struct gossip_point *p,
                          struct err *e);
/** Steps a worker makes in all. */
int64_t gossip_point_steps(const struct gossip_point *p);
/** Bytes that a model counts as on the wire. */
double gossip_point_wire_B(const struct gossip_point *p);
/** Does its period stay as it is? Not that of a rule, or of a method that adapts it. */
bool gossip_has_fixed_period(const struct gossip_settings *s);

/* ---- parts of reading ---- */

/** Learner, examples, and the network that learns. */
int gossip_point_learner(struct gossip_point *p, struct err *e);
/** The list of methods, or all at their defaults; needs all else. Notes of keys without effect among them. */
int gossip_point_methods(struct gossip_point *p, struct err *e);

/*
 * ---- what runs share ----
 *
 * Built by the first of them and let go of by the last, so that memory does not grow with the study.
 */

/** Runs that still need what is shared. */
struct gossip_share {
    omp_lock_t lock;
    int64_t n_left;
    bool built;
};

/** Of a point: the network's graph, and own data. */
struct gossip_grid {
    struct gossip_share share;
    struct topo_graph *graph;       /**< owned */
    struct gossip_data train, test; /**< owned; empty with a teacher */
};

/** Of a point and seed: examples and who holds them. */
struct gossip_examples {
    struct gossip_share share;
    struct gossip_data train[2], test[2]; /**< before and after the drift; owned, empty with own data */
    struct gossip_shards shards;
};

/** Before the first run, with how many there are. */
void gossip_grid_begin(struct gossip_grid *g, int64_t n_runs);
void gossip_examples_begin(struct gossip_examples *x, int64_t n_runs);

/** For a run: build unless another has. Each to be followed by its end, also after failure. ERR_NOMEM,
 * ERR_LIB, ERR_RANGE, and what a file says. */
int gossip_grid_take(struct gossip_grid *g, const struct gossip_point *p, struct err *e);
int gossip_examples_take(struct gossip_examples *x, const struct gossip_grid *g, const struct gossip_point *p,
                         uint64_t seed, struct err *e);

/** A run needs them no more. */
void gossip_grid_leave(struct gossip_grid *g);
void gossip_examples_leave(struct gossip_examples *x);

/** When no run is under way: also of runs that never were. After _begin(). */
void gossip_grid_free(struct gossip_grid *g);
void gossip_examples_free(struct gossip_examples *x);

/* ---- runs ---- */

/** One run of one method. */
struct gossip_unit {
    bool run;
    int rc;
    char *message;               /**< owned; NULL unless it failed, or need_Bps could not be found */
    double need_Bps;             /**< bandwidth of an NPU that it needs; NaN: not asked for, or not found */
    struct gossip_result result; /**< empty unless it ran; curve and arcs as asked for */
};

/** What its runs share. */
struct gossip_state {
    struct gossip_point point;
    bool run;
    int rc;
    char *message;      /**< owned; NULL unless it failed */
    int64_t first_unit; /**< its runs: by seed, then by entry */
    int64_t first_examples;
    struct gossip_grid grid;
};

struct gossip_runs {
    const struct gossip_study *study;
    struct study_source from;
    const struct gossip_options *options;
    struct gossip_state *states;      /**< shape [n_points], owned */
    struct gossip_unit *units;        /**< shape [n_units], owned */
    struct gossip_examples *examples; /**< shape [n_examples], owned: by point and seed */
    int64_t n_units, n_examples;
    bool listed; /**< there are units and examples */
};

/** The run of entry @p entry of a point with seed number @p k, from 0. */
const struct gossip_unit *gossip_unit_at(const struct gossip_runs *r, int64_t point, int32_t entry,
                                         int64_t k);

/** All tables that are wanted. ERR_NOMEM. */
int gossip_make_tables(struct table *out, const struct gossip_runs *r, struct err *e);
/** Those of options. */
int gossip_make_details(const struct gossip_runs *r, struct err *e);

#endif
