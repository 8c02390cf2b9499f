/* Tables without a verdict: delays of what is learned, and savings that others have published. */
#include <stdio.h>

#include "tests/support.h"
#include "tests/validate/gossip_trial.h"

/* ---- stale or not ---- */

TABLE_OF(entries, const char *name; enum gossip_rule rule; double theta; int64_t steps) = {
    { "period 1", GOSSIP_RULE_FIXED, 0, 1 },
    { "period 16", GOSSIP_RULE_FIXED, 0, 16 },
    { "A 0.05/64", GOSSIP_RULE_DRIFT, 0.05, 64 },
    { "C 0.1", GOSSIP_RULE_RATE, 0.1, 200 },
};
enum { N_STALE = sizeof entries / sizeof entries[0] };

static void print_stale_row(const char *name, int how, const struct gossip_outcome *off,
                            const struct gossip_outcome *on)
{
    struct stat_mean gain = gossip_gain(on->accuracy_pct, off->accuracy_pct);
    struct stat_mean averaged = gossip_gain(on->average_pct, off->average_pct);
    printf("| %s | %s | %.2f | %.2f | %.2f ± %.2f | %.2f ± %.2f | %.1f | %.1f |\n", gossip_trial_words[how],
           name, gossip_mean(off->accuracy_pct), gossip_mean(on->accuracy_pct), gain.mean, gain.half,
           averaged.mean, averaged.half, gossip_change_pct(on->traffic_MB, off->traffic_MB),
           gossip_change_pct(on->time_s, off->time_s));
}

void gossip_print_stale(const struct gossip_trials *t)
{
    struct gossip_job jobs[N_GOSSIP_SHARDINGS * N_STALE * 2];
    struct gossip_outcome found[COUNT_OF(jobs)];
    for (int i = 0; i < (int)COUNT_OF(jobs); i++) {
        const int k = i / 2 % N_STALE;
        jobs[i] = (struct gossip_job){
            .settings = entries[k].rule == GOSSIP_RULE_FIXED
                            ? gossip_trial_period(entries[k].steps)
                            : gossip_trial_rule(entries[k].rule, entries[k].theta, entries[k].steps),
            .network = GOSSIP_SWITCH_6MS,
            .sharding = (enum gossip_sharding)(i / 2 / N_STALE),
            .stale = i % 2,
        };
    }
    gossip_run_jobs(found, t, jobs, (int32_t)COUNT_OF(jobs));
    puts("\n### Messages that know what is old\n\n"
         "All tables above have `clock.stale: false`, the clock of the reference figures: messages and steps "
         "take time, but what is learned sees no delay. By default it does. Changes from false to true, on "
         "the switch of the reference figures. No verdict.\n\n"
         "| shards | rule | accuracy %, false | true | change, points | of the averaged model | traffic % | "
         "time % |\n"
         "|---|---|--:|--:|--:|--:|--:|--:|");
    for (int i = 0; i < (int)COUNT_OF(jobs); i += 2)
        print_stale_row(entries[i / 2 % N_STALE].name, i / 2 / N_STALE, &found[i], &found[i + 1]);
}

/* ---- what others have published ---- */

enum {
    ALL_REDUCE,
    EVENT_ALWAYS,
    EVENT,
    LOCAL_1,
    DYNAMIC_1,
    LOCAL_10,
    DYNAMIC_10,
    DILOCO_50,
    DILOCO_500,
    DILOCO_ADAMW,
    N_OTHERS
};

static const struct other {
    const char *name;
    int against;
    const char *published;
} others[N_OTHERS] = {
    [EVENT] = { "EventGraD, thresholds that adapt", EVENT_ALWAYS,
                "messages, against all to both neighbours: -70 % (MNIST), -60 % (CIFAR-10) "
                "(arXiv 2103.07454 and its code's README)" },
    [DYNAMIC_1] = { "dynamic averaging, bound 0.1, looks every step", LOCAL_1,
                    "\"an order of magnitude\" less than periodic averaging (arXiv 1807.03210)" },
    [DYNAMIC_10] = { "dynamic averaging, bound 0.1, looks every 10 steps", LOCAL_10, "the same" },
    [DILOCO_50] = { "DiLoCo, 50 steps of SGD", ALL_REDUCE,
                    "500 times less at 8 workers, 500 steps of AdamW, a language model (arXiv 2311.08105)" },
    [DILOCO_500] = { "DiLoCo, 500 steps of SGD", ALL_REDUCE, "the same" },
    [DILOCO_ADAMW] = { "DiLoCo, 500 steps of AdamW", ALL_REDUCE, "the same" },
};

static struct gossip_settings settings_of(int other)
{
    static const char *const methods[N_OTHERS] = { "all-reduce", "eventgrad", "eventgrad", "local",
                                                   "dynamic",    "local",     "dynamic",   "diloco",
                                                   "diloco",     "diloco" };
    struct gossip_settings s = gossip_trial_settings(methods[other]);
    s.horizon = other == EVENT_ALWAYS ? 0 : 1;
    s.period = other == LOCAL_10 ? 10 : other == DILOCO_50 ? 50 : other >= DILOCO_500 ? 500 : 1;
    s.check = other == DYNAMIC_10 ? 10 : 1;
    s.inner = other == DILOCO_ADAMW ? GOSSIP_ADAMW : GOSSIP_SGD;
    return s;
}

static void print_other(const struct other *o, int how, const struct gossip_outcome *x,
                        const struct gossip_outcome *base)
{
    struct stat_mean gain = gossip_gain(x->accuracy_pct, base->accuracy_pct);
    struct stat_mean averaged = gossip_gain(x->average_pct, base->average_pct);
    double change_pct = gossip_change_pct(x->traffic_MB, base->traffic_MB);
    printf("| %s | %s | %s | %.1f | %.3g | %.2f | %.2f ± %.2f | %.2f ± %.2f |\n", o->name,
           how == GOSSIP_IID ? o->published : "", gossip_trial_words[how], change_pct,
           100 / (100 + change_pct), gossip_mean(base->accuracy_pct), gain.mean, gain.half, averaged.mean,
           averaged.half);
}

void gossip_print_published(const struct gossip_trials *t)
{
    struct gossip_job jobs[N_GOSSIP_SHARDINGS * N_OTHERS];
    struct gossip_outcome found[COUNT_OF(jobs)];
    for (int i = 0; i < (int)COUNT_OF(jobs); i++)
        jobs[i] = (struct gossip_job){ .settings = settings_of(i % N_OTHERS),
                                       .network = GOSSIP_SWITCH_6MS,
                                       .sharding = (enum gossip_sharding)(i / N_OTHERS) };
    gossip_run_jobs(found, t, jobs, (int32_t)COUNT_OF(jobs));
    puts(
        "\n### Beside published savings\n\n"
        "Other tasks, other models, other networks: nothing here was set to meet these numbers, settings are "
        "the defaults, and there is no verdict. The baseline is EventGraD that always sends, local SGD with "
        "the period of the looks, and all-reduce every step. Traffic counts bytes, of EventGraD those of the "
        "tensors that are sent. A run has 1,560 steps, so that 500 steps between exchanges leave three of "
        "them.\n\n"
        "| method | published | shards | traffic % | times less | baseline's accuracy % | accuracy, points | "
        "of the averaged model |\n"
        "|---|---|---|--:|--:|--:|--:|--:|");
    for (int o = 0; o < N_OTHERS; o++)
        for (int how = 0; how < N_GOSSIP_SHARDINGS && others[o].name; how++)
            print_other(&others[o], how, &found[how * N_OTHERS + o],
                        &found[how * N_OTHERS + others[o].against]);
}
