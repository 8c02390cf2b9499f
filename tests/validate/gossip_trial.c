#include "tests/settings.h"
#include "tests/validate/gossip_trial.h"
#include "tests/gossip_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support.h"

enum { FEATURES = 32, HIDDEN = 64, CLASSES = 10 };

/* A model is 2,762 numbers of 4 bytes; one at a time goes through a port. */
#define SWITCH_6MS_Bps (4 * 2762 / 6e-3)

/* Bisection on seeds 11 to 15, cut to what a study would say: pairs every step wait for 56.50 and 56.44 % of
 * the time. The first is that of configs/studies/gossip.yaml. */
#define MESH_56_Bps   6.15e6
#define SWITCH_56_Bps 1.825e6

const char *const gossip_trial_words[] = { "IID", "label skew" };

/* ---- what runs share ---- */

static void build_fabric(struct gossip_trials *t, enum gossip_trial_network which, const char *spec,
                         double bw_Bps)
{
    struct gossip_fabric *f = &t->fabrics[which];
    struct err e = { 0 };
    *f = (struct gossip_fabric){
        .n_workers = GOSSIP_WORKERS, .members = { GOSSIP_WORKERS }, .rules = stage_rules_plain, .share = 1
    };
    assert_ok(topo_parse_spec(&f->net, spec, &e), &e);
    f->net.dims[0].bw_Bps = bw_Bps;
    assert_ok(topo_build_graph(&t->graphs[which], &f->net, NULL, &e), &e);
    f->graph = t->graphs[which];
}

static void build_examples(struct gossip_trials *t, int k)
{
    struct gossip_teacher teacher = gossip_fixture_teacher();
    teacher.seed = GOSSIP_FIRST_SEED + (uint64_t)k;
    MUST(gossip_teach(&t->train[k], &t->test[k], &teacher, e));
    for (int how = 0; how < N_GOSSIP_SHARDINGS; how++)
        MUST(gossip_shards_build(&t->shards[how][k], &t->train[k], GOSSIP_WORKERS, (enum gossip_sharding)how,
                                 teacher.seed, e));
}

void gossip_trials_build(struct gossip_trials *t)
{
    const int32_t hidden[] = { HIDDEN };
    topo_graph_init();
    MUST(gossip_net_build(&t->net, FEATURES, hidden, 1, CLASSES, e));
    build_fabric(t, GOSSIP_SWITCH_6MS, "switch:8@1", SWITCH_6MS_Bps);
    build_fabric(t, GOSSIP_MESH_56, "full:8@1", MESH_56_Bps);
    build_fabric(t, GOSSIP_SWITCH_56, "switch:8@1", SWITCH_56_Bps);
    for (int k = 0; k < GOSSIP_SEEDS; k++)
        build_examples(t, k);
}

void gossip_trials_free(struct gossip_trials *t)
{
    for (int k = 0; k < GOSSIP_SEEDS; k++) {
        gossip_data_free(&t->train[k]);
        gossip_data_free(&t->test[k]);
        for (int how = 0; how < N_GOSSIP_SHARDINGS; how++)
            gossip_shards_free(&t->shards[how][k]);
    }
    for (int i = 0; i < N_GOSSIP_NETWORKS; i++)
        topo_graph_free(t->graphs[i]);
}

/* ---- jobs ---- */

struct gossip_settings gossip_trial_settings(const char *name)
{
    struct gossip_settings s = gossip_settings_default();
    s.method = gossip_find_method(name);
    assert_true(s.method >= 0);
    return s;
}

struct gossip_settings gossip_trial_period(int64_t period)
{
    struct gossip_settings s = gossip_trial_settings("pair");
    s.period = period;
    return s;
}

struct gossip_settings gossip_trial_rule(enum gossip_rule rule, double theta, int64_t cap)
{
    struct gossip_settings s = gossip_trial_settings("pair");
    s.rule = rule;
    s.theta = theta;
    s.cap = cap;
    return s;
}

struct gossip_setup gossip_trial_setup(const struct gossip_trials *t, const struct gossip_job *job, int k)
{
    return (struct gossip_setup){
        .net = &t->net,
        .train = { &t->train[k], &t->train[k] },
        .test = { &t->test[k], &t->test[k] },
        .drift_at = 1,
        .shards = &t->shards[job->sharding][k],
        .learning = gossip_learning_default(),
        .clock = { .step_s = 0.01, .jitter = 0.1, .slowdown = 1, .pause_factor = 1, .stale = job->stale },
        .fabric = &t->fabrics[job->network],
    };
}

static void run(struct gossip_outcome *out, const struct gossip_trials *t, const struct gossip_job *job,
                int k)
{
    struct gossip_setup setup = gossip_trial_setup(t, job, k);
    KEEP(struct gossip_result, r, gossip_result_free);
    struct err e = { 0 };
    if (gossip_run(&r, &setup, &job->settings, GOSSIP_FIRST_SEED + (uint64_t)k, &(struct gossip_wish){ 0 },
                   &e)) {
        fprintf(stderr, "%s\n", e.msg);
        exit(EXIT_FAILURE + 1);
    }
    out->accuracy_pct[k] = 100 * r.accuracy;
    out->average_pct[k] = 100 * r.average_accuracy;
    out->traffic_MB[k] = r.sent_B / 1e6;
    out->time_s[k] = r.time_s;
    out->wait_pct[k] = 100 * r.wait_s / r.time_s;
}

void gossip_run_jobs(struct gossip_outcome *out, const struct gossip_trials *t, const struct gossip_job *jobs,
                     int32_t n)
{
#pragma omp parallel for schedule(dynamic)
    for (int32_t i = 0; i < n * GOSSIP_SEEDS; i++)
        run(&out[i / GOSSIP_SEEDS], t, &jobs[i / GOSSIP_SEEDS], i % GOSSIP_SEEDS);
}

/* ---- numbers ---- */

double gossip_mean(const double x[GOSSIP_SEEDS])
{
    return stat_mean(x, GOSSIP_SEEDS, 1).mean;
}

struct stat_mean gossip_gain(const double a[GOSSIP_SEEDS], const double b[GOSSIP_SEEDS])
{
    double gain[GOSSIP_SEEDS];
    for (int k = 0; k < GOSSIP_SEEDS; k++)
        gain[k] = a[k] - b[k];
    return stat_mean(gain, GOSSIP_SEEDS, 1);
}

double gossip_change_pct(const double x[GOSSIP_SEEDS], const double base[GOSSIP_SEEDS])
{
    return 100 * (gossip_mean(x) / gossip_mean(base) - 1);
}
