/**
 * @file Training with little communication for docs/validation.md: 8 workers, the set-up of
 * configs/studies/gossip.yaml, several runs at the same time.
 *
 * Nothing is chosen on seeds 101 to 105, which the page is made of: bandwidths and bounds come from 11 to 15.
 */
#ifndef TESTS_VALIDATE_GOSSIP_TRIAL_H
#define TESTS_VALIDATE_GOSSIP_TRIAL_H

#include "base/stat.h"
#include "tests/validate/verdict.h"
#include "sim/gossip/gossip.h"

enum { GOSSIP_SEEDS = 5, GOSSIP_FIRST_SEED = 101, GOSSIP_WORKERS = 8 };

enum gossip_trial_network {
    GOSSIP_SWITCH_6MS, /**< one switch without latency: a model is on its way for 0.6 of a step */
    GOSSIP_MESH_56,    /**< fully connected: pairs every step wait for 56.5 % of the time */
    GOSSIP_SWITCH_56,  /**< one switch, likewise */
    N_GOSSIP_NETWORKS,
};

/** What all runs share. Does not move. Release with gossip_trials_free(). */
struct gossip_trials {
    struct gossip_net net;
    struct gossip_data train[GOSSIP_SEEDS], test[GOSSIP_SEEDS];
    struct gossip_shards shards[N_GOSSIP_SHARDINGS][GOSSIP_SEEDS];
    struct gossip_fabric fabrics[N_GOSSIP_NETWORKS];
    struct topo_graph *graphs[N_GOSSIP_NETWORKS];
};
void gossip_trials_build(struct gossip_trials *t);
void gossip_trials_free(struct gossip_trials *t);

/** One way to train; run with every seed. */
struct gossip_job {
    struct gossip_settings settings;
    enum gossip_trial_network network;
    enum gossip_sharding sharding;
    bool stale;
};

/** Defaults of the method called @p name. */
struct gossip_settings gossip_trial_settings(const char *name);
/** Pairs with a fixed period, or with a rule. */
struct gossip_settings gossip_trial_period(int64_t period);
struct gossip_settings gossip_trial_rule(enum gossip_rule rule, double theta, int64_t cap);
/** Of number @p k of the seeds. */
struct gossip_setup gossip_trial_setup(const struct gossip_trials *t, const struct gossip_job *job, int k);

/** Measures of one job; a seed that diverged is NaN. */
struct gossip_outcome {
    double accuracy_pct[GOSSIP_SEEDS], average_pct[GOSSIP_SEEDS];
    double traffic_MB[GOSSIP_SEEDS], time_s[GOSSIP_SEEDS], wait_pct[GOSSIP_SEEDS];
};
/** Train by each of @p jobs, on all processors. */
void gossip_run_jobs(struct gossip_outcome *out, const struct gossip_trials *t, const struct gossip_job *jobs,
                     int32_t n);

double gossip_mean(const double x[GOSSIP_SEEDS]);
/** Of the differences a - b, seed by seed. */
struct stat_mean gossip_gain(const double a[GOSSIP_SEEDS], const double b[GOSSIP_SEEDS]);
/** Change of the mean from @p base to @p x [%]. */
double gossip_change_pct(const double x[GOSSIP_SEEDS], const double base[GOSSIP_SEEDS]);

/** "IID", "label skew". */
extern const char *const gossip_trial_words[N_GOSSIP_SHARDINGS];

/** Parts of the section; each returns how many rows are wrong. */
int gossip_print_reference(const struct gossip_trials *t);
int gossip_print_pair(const struct gossip_trials *t);
int gossip_print_invariants(const struct gossip_trials *t);
void gossip_print_stale(const struct gossip_trials *t);
void gossip_print_published(const struct gossip_trials *t);

#endif
