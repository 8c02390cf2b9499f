/* What no run may change, in numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/gossip_fixture.h"
#include "tests/validate/gossip_trial.h"

/* One epoch: 78 steps of each worker. */
#define EPOCHS 1.0

static void print_row(const char *what, const char *where, double got, double bound, int *wrong)
{
    printf("| %s | %s | %.2g | %.2g | %s |\n", what, where, got, bound, verdict(got <= bound, wrong));
}

static struct gossip_setup short_setup(const struct gossip_trials *t, const struct gossip_job *job)
{
    struct gossip_setup setup = gossip_trial_setup(t, job, 0);
    setup.learning.epochs = EPOCHS;
    return setup;
}

/* ---- event by event ---- */

static void start(struct gossip_cluster *c, const struct gossip_setup *setup,
                  const struct gossip_settings *settings)
{
    MUST(gossip_cluster_build(c, setup, &(struct gossip_how){ .settings = settings }, GOSSIP_FIRST_SEED, e));
    for (int32_t i = 0; i < c->n_workers; i++)
        gossip_ready(c, &c->workers[i]);
    MUST(gossip_go_ready(c, e));
}

/* Each number, summed over the workers. */
static double *sums(const struct gossip_cluster *c)
{
    double *sum = calloc((size_t)c->n_params, sizeof *sum);
    assert_non_null(sum);
    for (int32_t i = 0; i < c->n_workers; i++)
        for (int32_t k = 0; k < c->n_params; k++)
            sum[k] += (double)c->workers[i].x[k];
    return sum;
}

/* Nothing is learned, models of numbers in [-1, 1) only mix. A pair moves by the same difference, so what is
 * lost is one rounding of each of the two: half of 2^-24 each. */
static void print_sum(const struct gossip_trials *t, bool stale, int *wrong)
{
    const struct gossip_job job = { .settings = gossip_trial_period(1), .stale = stale };
    struct gossip_setup setup = short_setup(t, &job);
    KEEP(struct gossip_cluster, c, gossip_cluster_free);
    double most = 0;
    setup.learning.rate = 0;
    start(&c, &setup, &job.settings);
    gossip_fixture_scatter(&c);
    KEEP(double *, before, free_at) = sums(&c);
    gossip_fixture_finish(&c);
    KEEP(double *, after, free_at) = sums(&c);
    for (int32_t k = 0; k < c.n_params; k++)
        most = fmax(most, fabs(after[k] - before[k]));
    print_row("Pairs that only mix keep the sum of models: largest change of a sum of 8 numbers in [-1, 1), "
              "against a rounding of each model and exchange",
              stale ? "`stale: true`" : "`stale: false`", most, (double)c.engine->exchanges * 0x1p-24, wrong);
}

/* Of workers, and of messages that have taken theirs and not brought it yet. */
static double sum_of_weights(const struct gossip_cluster *c)
{
    double sum = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        sum += *(const double *)c->workers[i].state;
    for (int32_t i = 0; i < c->engine->cap_slots; i++) {
        const struct gossip_transfer *x = c->engine->slots[i].transfer;
        sum += x && x->there && !x->mixed ? x->number : 0;
    }
    return sum;
}

static void print_weights(const struct gossip_trials *t, bool stale, int *wrong)
{
    struct gossip_job job = { .settings = gossip_trial_settings("gosgd"), .stale = stale };
    struct gossip_setup setup = short_setup(t, &job);
    KEEP(struct gossip_cluster, c, gossip_cluster_free);
    double most = 0;
    job.settings.prob = 0.5;
    start(&c, &setup, &job.settings);
    while (gossip_fixture_turn(&c))
        most = fmax(most, fabs(sum_of_weights(&c) - 1));
    print_row(
        "Weights of GoSGD sum to 1, those of messages on their way among them: largest difference after "
        "any event",
        stale ? "`stale: true`" : "`stale: false`", most, 1e-12, wrong);
}

/* ---- two ways to the same ---- */

static void run_short(struct gossip_result *r, const struct gossip_trials *t, const struct gossip_settings *s,
                      enum gossip_sharding how)
{
    const struct gossip_job job = { .settings = *s, .sharding = how };
    const struct gossip_setup setup = short_setup(t, &job);
    MUST(gossip_run(r, &setup, s, GOSSIP_FIRST_SEED, &(struct gossip_wish){ .models = true }, e));
}

/* Largest difference of a number of the models over the largest number. */
static double apart(const struct gossip_result *a, const struct gossip_result *b, int32_t n_params)
{
    double most = 0, largest = 0;
    for (int32_t i = 0; i < GOSSIP_WORKERS * n_params; i++) {
        most = fmax(most, fabs((double)a->models[i] - (double)b->models[i]));
        largest = fmax(largest, fabs((double)a->models[i]));
    }
    return most / largest;
}

/* Of models, time and traffic: the largest relative difference. */
static double compare(const struct gossip_trials *t, const struct gossip_settings *x,
                      const struct gossip_settings *y, enum gossip_sharding how)
{
    KEEP(struct gossip_result, a, gossip_result_free);
    KEEP(struct gossip_result, b, gossip_result_free);
    run_short(&a, t, x, how);
    run_short(&b, t, y, how);
    double most = apart(&a, &b, t->net.n_params);
    most = fmax(most, fabs(a.time_s / b.time_s - 1));
    most = fmax(most, fabs(a.sent_B / b.sent_B - 1));
    return most;
}

static void print_rules(const struct gossip_trials *t, enum gossip_sharding how, int *wrong)
{
    double always = 0, never = 0;
    for (int rule = GOSSIP_RULE_DRIFT; rule < N_GOSSIP_RULES; rule++) {
        const struct gossip_settings each = gossip_trial_rule((enum gossip_rule)rule, 0, 64);
        const struct gossip_settings late = gossip_trial_rule((enum gossip_rule)rule, INFINITY, 16);
        const struct gossip_settings by_1 = gossip_trial_period(1), by_16 = gossip_trial_period(16);
        always = fmax(always, compare(t, &each, &by_1, how));
        /* Rule B comes to its cap by doubling. */
        if (rule != GOSSIP_RULE_CONTROL)
            never = fmax(never, compare(t, &late, &by_16, how));
    }
    print_row("Rules A, B and C with theta 0 are period 1: largest relative difference of models, time, "
              "traffic",
              gossip_trial_words[how], always, 0, wrong);
    print_row("Rules A and C with theta infinite and cap 16 are period 16: likewise", gossip_trial_words[how],
              never, 0, wrong);
}

/* Roundings of float32, 2^-24, in each of 78 steps, times 1 / (1 - momentum); ten times that for what
 * learning makes of them. */
static void print_local(const struct gossip_trials *t, enum gossip_sharding how, int *wrong)
{
    const struct gossip_settings local = gossip_trial_settings("local"),
                                 sgd = gossip_trial_settings("all-reduce");
    print_row("Local SGD with period 1 is synchronous SGD: largest relative difference of models, time, "
              "traffic",
              gossip_trial_words[how], compare(t, &local, &sgd, how), 10 * 10 * 78 * 0x1p-24, wrong);
}

/* ---- traffic ---- */

static void print_traffic(const struct gossip_trials *t, int *wrong)
{
    TABLE_OF(rows, const char *method, *text; double models /* that an exchange sends */) = {
        { "pair", "pairs, 2 models an exchange", 2 },
        { "pull", "pull, 1", 1 },
        { "push", "push, 1", 1 },
        { "gosgd", "GoSGD, 1", 1 },
        { "local", "local SGD, 2 (N - 1) = 14", 2 * (GOSSIP_WORKERS - 1) },
        /* To the server and from it, two messages; that is on worker 0, whose own cost nothing: 7 of 8. */
        { "elastic", "elastic averaging, 7/8", 7.0 / 8 },
    };
    const double model_B = (double)sizeof(float) * t->net.n_params;
    for (int i = 0; i < (int)COUNT_OF(rows); i++) {
        struct gossip_settings s = gossip_trial_settings(rows[i].method);
        KEEP(struct gossip_result, r, gossip_result_free);
        s.period = 4;
        run_short(&r, t, &s, GOSSIP_IID);
        double want_B = (double)r.exchanges * rows[i].models * model_B;
        print_row("Bytes sent are exchanges times models of an exchange times 11,048 B: relative difference",
                  rows[i].text, fabs(r.sent_B / want_B - 1), 1e-12, wrong);
    }
}

int gossip_print_invariants(const struct gossip_trials *t)
{
    int wrong = 0;
    puts("\n### What must hold\n\n"
         "One epoch, 78 steps of each worker, seed 101, on the switch of the reference figures. A bound of 0 "
         "asks for the same bits.\n\n"
         "| what | where | found | at most | holds |\n"
         "|---|---|--:|--:|---|");
    for (int stale = 0; stale < 2; stale++)
        print_sum(t, stale, &wrong);
    for (int stale = 0; stale < 2; stale++)
        print_weights(t, stale, &wrong);
    for (int how = 0; how < N_GOSSIP_SHARDINGS; how++)
        print_rules(t, (enum gossip_sharding)how, &wrong);
    for (int how = 0; how < N_GOSSIP_SHARDINGS; how++)
        print_local(t, (enum gossip_sharding)how, &wrong);
    print_traffic(t, &wrong);
    return wrong;
}
