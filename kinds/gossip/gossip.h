/**
 * @file A study of training with little communication: several methods at every point of a sweep and for
 * several seeds, what they send, how long they take and what they reach. The model: sim/gossip/gossip.h.
 *
 * The kind, then what its own files share: a point as it is read, its runs, its rows.
 */
#ifndef KINDS_GOSSIP_GOSSIP_H
#define KINDS_GOSSIP_GOSSIP_H

#include "kinds/design/ask/ports.h"
#include "sim/gossip/gossip.h"
#include "study/kind.h"
#include "study/source.h"
#include "workloads/plan_cost.h"

/**
 * Entries of a point are its methods, each run with every seed; a row for each. Means are over the seeds,
 * `half` the half width of their 95 % interval, blank for one seed. A row of which a seed diverged or failed
 * has no means, and nothing is compared with it. What is compared with the baseline is the change of means,
 * but accuracy: there differences are paired by seed. A point that cannot be read is one row with status
 * "error". need_GBps is there where the study asks for it (sim/gossip/replay.h).
 *
 * Runs of a point share the network's graph and examples of the user's own, those with one seed the examples
 * that a teacher makes and who holds which.
 */
extern const struct study_kind gossip_kind;

/** Tables of the kind besides rows and runs. */
enum { GOSSIP_CURVES = TABLE_RUNS + 1, GOSSIP_LINKS, N_GOSSIP_TABLES };

/** Keys of a study, from the outside in. */
extern const struct section gossip_section, gossip_job_section, gossip_learner_section, gossip_data_section,
    gossip_clock_section, gossip_method_section;

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
int gossip_point_read_job(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                          const struct topo_npu *npu, struct err *e);

/** "Llama 3 8B on H100 SXM 80 GB", or without the NPU where that has no name. Returns @p buf. */
const char *gossip_point_job_text(char buf[GOSSIP_JOB_TEXT], const struct gossip_job *job);

/* ---- the point ---- */

/** Whose accuracy methods are compared by. */
enum gossip_compare { GOSSIP_COMPARE_WORKERS, GOSSIP_COMPARE_AVERAGED, N_GOSSIP_COMPARES };
/** "workers", "averaged"; NULL-terminated. */
extern const char *const gossip_compare_words[N_GOSSIP_COMPARES + 1];

enum { GOSSIP_MAX_METHODS = 4096 /**< rows of a point */ };

/** One method with its numbers: a row of the point. */
struct gossip_entry {
    char *label; /**< owned; no two of a point are alike */
    struct gossip_settings settings;
};

/** Read-only once prepared: threads may share it. Not to be moved. Release with
 * gossip_point_free(). */
struct gossip_point {
    struct yaml_doc doc; /**< empty after gossip_point_close() */
    int32_t own_source;
    const char *name, *base_label, *need_dim; /**< the document's; NULL: none */
    struct {
        yaml_id network, parts, job, methods, where, keep;
    } at; /**< keys that have a grammar of their own; -1: absent */
    int64_t seeds, seed;
    int64_t workers; /**< as written; -1: absent */
    uint32_t uses;   /**< enum gossip_use of what is in play */
    enum gossip_compare compare;
    double equal_points; /**< accuracies this near are equal [%] */
    double need_pct;     /**< NaN: nothing is asked for */
    bool has_parts;
    struct design_point asked; /**< network and parts, for what a need costs; empty unless has_parts */
    struct gossip_net net;
    struct gossip_fabric fabric;
    struct topo_graph *graph;               /**< that of the fabric, owned; NULL until it is prepared */
    struct gossip_data own_train, own_test; /**< owned; empty with a teacher, and until it is prepared */
    struct gossip_learning learning;
    struct gossip_clock clock;
    struct gossip_teacher teacher; /**< but for its seed; without own data */
    bool own_data;
    char *train_csv, *test_csv, *label; /**< owned; NULL: none. label NULL: the last column */
    int64_t n_train;                    /**< examples of it */
    double drift_at;                    /**< 1: never */
    double model_B;                     /**< 0: 4 bytes a parameter */
    struct gossip_job job;              /**< model "": none */
    enum gossip_sharding sharding;
    struct gossip_entry *entries; /**< shape [n_entries], owned */
    int32_t n_entries, cap_entries;
    int32_t baseline;  /**< number of the entry that is compared with */
    struct text notes; /**< warnings, a line each */
    char on[TOPO_SPEC + 200],
        replica[GOSSIP_JOB_TEXT]; /**< where it runs, and the job, in words; "" until prepared */
};

/** The study at a point; @p from has path, overrides and axes. Empty after failure. */
int gossip_point_read(void *point, const struct study_source *from, struct err *e);
/** Let go of the document, of which nothing is needed to run the point. */
void gossip_point_close(struct gossip_point *p);
void gossip_point_free(void *point);

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
bool gossip_point_has_fixed_period(const struct gossip_settings *s);

/* ---- what runs share, and what they come to ---- */

/** What runs with one seed share: examples and who holds them. */
struct gossip_examples {
    struct gossip_data train[2], test[2]; /**< before and after the drift; owned, empty with own data */
    struct gossip_shards shards;
};

/** What the runs of a point share. */
struct gossip_shared {
    struct study_shared head;
    const char *on, *replica, *need_dim;      /**< texts of rows */
    int64_t steps, n_dims, baseline, compare; /**< compare: enum gossip_compare */
    double step_s, wire_MB, missing_GB, need_wait_pct, equal_points;
};

/** One run of one method. */
struct gossip_outcome {
    struct study_result head;     /**< message: also why need_Bps could not be found */
    const char *label, *note;     /**< note: a line for all to know; NULL: none */
    int64_t method, rule, period; /**< rule, period -1: it has none, or none that stays */
    struct gossip_result of;      /**< but for what it owns */
    double need_Bps;              /**< bandwidth of an NPU that it needs; NaN: not asked for, or not found */
    struct ports_share ports;     /**< of the cheapest whole design that has it; NaN: as above, or no parts */
};

extern const struct column gossip_shared_columns[], gossip_outcome_columns[];
extern const struct table_def gossip_tables[N_GOSSIP_TABLES];

/** Rows of a run: its own, also of one that failed; of its curve and its links, of what it was run for. */
void gossip_study_put_run(struct sink *sink, const struct study_run *r, const struct gossip_outcome *x);
int gossip_study_put_details(struct sink *sink, const struct study_run *r, const struct gossip_result *x,
                             struct err *e);
/** study_kind.reduce. */
int gossip_study_reduce(struct study_rows *rows, void *shared, const struct results *r, struct err *e);

/* ---- what is said (say.c): hooks of study_kind ---- */

int gossip_study_say(struct text *out, const struct study_report *r, struct err *e);
int gossip_study_conclude(struct text *out, enum study_verdict *verdict, const struct study_report *r,
                          struct err *e);
int gossip_study_fail_alone(const struct study_report *r, struct err *e);
int gossip_study_list(struct text *out, struct err *e);

#endif
