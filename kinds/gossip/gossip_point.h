/** @file Private to this folder: one point of a study of training with little communication, read. */
#ifndef KINDS_GOSSIP_GOSSIP_POINT_H
#define KINDS_GOSSIP_GOSSIP_POINT_H

#include "kinds/gossip/gossip.h"
#include "kinds/gossip/gossip_job.h"
#include "study/study_files.h"
#include "sim/gossip/gossip.h"

/** Whose accuracy methods are compared by. */
enum gossip_compare { GOSSIP_COMPARE_WORKERS, GOSSIP_COMPARE_AVERAGED, N_GOSSIP_COMPARES };
/** "workers", "averaged"; NULL-terminated. */
extern const char *const gossip_compare_words[N_GOSSIP_COMPARES + 1];

enum { GOSSIP_MAX_METHODS = 4096 /**< rows of a point */ };

/** As written; numbers are SI. */
struct gossip_conf {
    const char *name, *source, *baseline, *need_dim; /**< need_dim NULL: all */
    yaml_id network, job, learner, data, clock, methods, vary;
    int64_t workers, server; /**< -1: absent */
    int32_t rung, shards, compare;
    int64_t chunks;
    double endpoint_s, model_B;    /**< model_B NaN: absent */
    double drift_at;               /**< NaN: absent */
    double equal_points, need_pct; /**< need_pct NaN: absent */
    int64_t seeds, seed;
};

struct gossip_learner_conf {
    yaml_id hidden, decay_at; /**< -1: absent */
    int64_t batch;
    double epochs, rate, momentum, weight_decay, decay;
    int32_t optimizer, schedule;
};

struct gossip_data_conf {
    int64_t train, test, features, classes, hidden;
    double gain, noise;
    const char *train_csv, *test_csv, *label;
};

struct gossip_clock_conf {
    double step_s, jitter, slowdown, pause_prob, pause_factor;
    int64_t slow_workers;
    bool overlap, stale;
};

struct gossip_method_conf {
    const char *method, *name;
    yaml_id period;
    int32_t rule, graph, inner;
    struct gossip_settings settings; /**< but for method, period and the three words */
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
    uint64_t uses;           /**< USE_ bits of what is in play */
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

/** Read section @p s from @p map; its defaults where that is -1 (gossip_point.c). */
int gossip_read_section(void *out, const struct section *s, const struct gossip_point *p, yaml_id map,
                        struct err *e);
/** Learner, examples, and the network that learns (gossip_learner.c). */
int gossip_point_learner(struct gossip_point *p, struct err *e);
/** The list of methods, or all at their defaults; needs all else. Notes of keys without effect among them
 * (gossip_methods.c). */
int gossip_point_methods(struct gossip_point *p, struct err *e);

#endif
