/* Rules of gossip against figures of a prototype. */
#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "base/rng.h"
#include "tests/support.h"
#include "tests/validate/gossip_trial.h"

struct figures {
    double traffic_MB, time_s, accuracy_pct, average_pct;
};

/*
 * Figures of an independent prototype of the same set-up with other random numbers: means of 5 seeds, one
 * model at a time through an NPU's port in 6 ms, a step of 10 ms, nothing of what is learned delayed.
 *
 * apart_points: how far two means of 5 differences of accuracy may lie from each other. With deviation sd of
 * a difference of one seed that is t sd sqrt(2/5), t = 2.776 of Student's distribution with 4 degrees of
 * freedom. On seeds 11 to 15 it comes to 0.3 to 0.7 under IID shards, where 0.6 is asked, and by label to
 * 0.44, 0.58, 0.51, 1.22 and 2.43, of which none below 0.6 is asked.
 */
#define ROW(name, rule, theta, steps, MB, s, pct, mean_pct, MB2, s2, pct2, mean_pct2, apart, apart2)         \
    {                                                                                                        \
        name, GOSSIP_RULE_##rule, theta, steps, { { MB, s, pct, mean_pct }, { MB2, s2, pct2, mean_pct2 } },  \
        {                                                                                                    \
            apart, apart2                                                                                    \
        }                                                                                                    \
    }
static const struct row {
    const char *name;
    enum gossip_rule rule;
    double theta;
    int64_t steps; /* period or cap */
    struct figures theirs[N_GOSSIP_SHARDINGS];
    double apart_points[N_GOSSIP_SHARDINGS]; /* 0: not asked */
} rows[] = {
    ROW("period 1", FIXED, 0, 1, 275.76, 36.70, 72.83, 72.82, 275.76, 36.70, 72.17, 72.23, 0, 0),
    ROW("period 4", FIXED, 0, 4, 68.94, 18.37, 72.83, 72.81, 68.94, 18.37, 72.28, 72.39, 0.6, 0.6),
    ROW("period 8", FIXED, 0, 8, 34.47, 16.95, 72.80, 72.82, 34.47, 16.95, 71.76, 71.85, 0.6, 0.6),
    ROW("period 16", FIXED, 0, 16, 17.15, 16.29, 72.86, 72.87, 17.15, 16.29, 70.82, 71.31, 0.6, 0.6),
    ROW("period 32", FIXED, 0, 32, 8.48, 15.96, 72.72, 72.75, 8.48, 15.96, 68.44, 70.20, 0.6, 1.2),
    ROW("period 64", FIXED, 0, 64, 4.24, 15.81, 72.51, 72.49, 4.24, 15.81, 63.55, 66.76, 0.6, 2.4),
    ROW("A 0.05, no cap", DRIFT, 0.05, 1000000, 21.51, 16.47, 72.16, 72.80, 90.08, 22.01, 51.69, 70.55, 0, 0),
    ROW("A 0.05/64", DRIFT, 0.05, 64, 22.40, 16.49, 72.83, 72.85, 90.61, 22.03, 64.82, 69.92, 0, 0),
    ROW("A 0.1/64", DRIFT, 0.1, 64, 10.66, 16.04, 72.72, 72.70, 23.63, 16.65, 63.74, 70.56, 0, 0),
    ROW("B 0.1", CONTROL, 0.1, 200, 14.17, 16.20, 72.73, 72.90, 34.26, 17.44, 57.60, 69.99, 0, 0),
    ROW("C 0.05", RATE, 0.05, 200, 46.44, 17.53, 72.82, 72.80, 224.24, 31.65, 71.42, 71.40, 0, 0),
    ROW("C 0.1", RATE, 0.1, 200, 21.12, 16.45, 72.68, 72.64, 84.68, 19.53, 72.12, 72.10, 0, 0),
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* Asked. */
#define FIXED_TRAFFIC_FRAC 0.005
#define FIXED_TIME_FRAC    0.015
static const double rule_traffic_frac[N_GOSSIP_SHARDINGS] = { 0.15, 0.25 };

static bool is_near(double got, double want, double frac)
{
    return fabs(got / want - 1) <= frac;
}

/* Where most wait for ports it counts in which order they come to them: print_clocks() holds both orders. */
static const char *time_verdict(const struct row *row, bool near, int *wrong)
{
    if (row->steps == 1 && !near)
        return "no: see below";
    return verdict(near, wrong);
}

static void print_row(const struct row *row, enum gossip_sharding how, const struct gossip_outcome *x,
                      const struct gossip_outcome *base, int *wrong)
{
    const struct figures *theirs = &row->theirs[how];
    const bool fixed = row->rule == GOSSIP_RULE_FIXED;
    const double traffic_MB = gossip_mean(x->traffic_MB), time_s = gossip_mean(x->time_s);
    const struct stat_mean gain = gossip_gain(x->accuracy_pct, base->accuracy_pct);
    const double their_gain = theirs->accuracy_pct - rows[0].theirs[how].accuracy_pct;
    printf(
        "| %s | %.2f | %.2f | %s | %.2f | %.2f | %s |", row->name, traffic_MB, theirs->traffic_MB,
        verdict(is_near(traffic_MB, theirs->traffic_MB, fixed ? FIXED_TRAFFIC_FRAC : rule_traffic_frac[how]),
                wrong),
        time_s, theirs->time_s,
        fixed ? time_verdict(row, is_near(time_s, theirs->time_s, FIXED_TIME_FRAC), wrong) : "");
    printf(" %.2f | %.2f | %.2f | %.2f | %.2f ± %.2f | %.2f |", gossip_mean(x->accuracy_pct),
           theirs->accuracy_pct, gossip_mean(x->average_pct), theirs->average_pct, gain.mean, gain.half,
           their_gain);
    if (row->apart_points[how] > 0)
        printf(" %.1f: %s |\n", row->apart_points[how],
               verdict(fabs(gain.mean - their_gain) <= row->apart_points[how], wrong));
    else
        puts(" |");
}

static int print_table(double *period_1_s, const struct gossip_trials *t, enum gossip_sharding how)
{
    struct gossip_job jobs[N_ROWS];
    struct gossip_outcome found[N_ROWS];
    int wrong = 0;
    for (int i = 0; i < N_ROWS; i++)
        jobs[i] = (struct gossip_job){
            .settings = rows[i].rule == GOSSIP_RULE_FIXED
                            ? gossip_trial_period(rows[i].steps)
                            : gossip_trial_rule(rows[i].rule, rows[i].theta, rows[i].steps),
            .network = GOSSIP_SWITCH_6MS,
            .sharding = how,
        };
    gossip_run_jobs(found, t, jobs, N_ROWS);
    printf("\n%s:\n\n"
           "| rule | MB | theirs | near | s | theirs | near | accuracy %% | theirs | averaged %% | theirs | "
           "accuracy less that of period 1 | theirs | near |\n"
           "|---|--:|--:|---|--:|--:|---|--:|--:|--:|--:|--:|--:|---|\n",
           how == GOSSIP_IID ? "IID shards" : "Shards by label");
    for (int i = 0; i < N_ROWS; i++)
        print_row(&rows[i], how, &found[i], &found[0], &wrong);
    *period_1_s = gossip_mean(found[0].time_s);
    return wrong;
}

/* ---- two orders ---- */

enum { CLOCK_SEEDS = 40, CLOCK_FIRST_SEED = 11, STEPS = 1560 };
#define CLOCK_FRAC 0.008

/* 10 ms in the mean, a tenth of it exponential. */
static double draw_step_s(struct rng *r)
{
    return 9e-3 - 1e-3 * elementary_log(1 - rng_uniform(r));
}

/* When 8 workers that exchange in pairs every step are done, with nothing of sim/: an exchange takes both
 * ports for 6 ms as soon as both are free. Whose turn it is to ask for ports is said by when steps end, or by
 * when they begin: then a port may be taken for a time to come although another comes to it earlier. */
static double clock_s(uint64_t seed, bool by_end)
{
    double turn_s[GOSSIP_WORKERS], port_s[GOSSIP_WORKERS] = { 0 }, end_s = 0;
    int32_t left[GOSSIP_WORKERS];
    RNG(r, seed, 0);
    for (int i = 0; i < GOSSIP_WORKERS; i++) {
        turn_s[i] = by_end ? draw_step_s(r) : 0;
        left[i] = STEPS;
    }
    for (int n = 0; n < GOSSIP_WORKERS * STEPS; n++) {
        int32_t i = 0;
        for (int32_t k = 1; k < GOSSIP_WORKERS; k++)
            i = turn_s[k] < turn_s[i] ? k : i;
        int32_t j = (int32_t)rng_below(r, GOSSIP_WORKERS - 1);
        j += j >= i;
        double step_s = draw_step_s(r);
        double asks_s = turn_s[i] + (by_end ? 0 : step_s);
        port_s[i] = port_s[j] = fmax(asks_s, fmax(port_s[i], port_s[j])) + 6e-3;
        turn_s[i] = --left[i] ? port_s[i] + (by_end ? step_s : 0) : INFINITY;
        end_s = fmax(end_s, port_s[i]);
    }
    return end_s;
}

static void print_clock(const char *order, const char *whose, bool by_end, double want_s, int *wrong)
{
    double sum_s = 0;
    for (int k = 0; k < CLOCK_SEEDS; k++)
        sum_s += clock_s(CLOCK_FIRST_SEED + (uint64_t)k, by_end);
    printf("| %s | %.2f | %.2f, %s | %s |\n", order, sum_s / CLOCK_SEEDS, want_s, whose,
           verdict(is_near(sum_s / CLOCK_SEEDS, want_s, CLOCK_FRAC), wrong));
}

static int print_clocks(double ours_s)
{
    int wrong = 0;
    puts(
        "\nWith period 1 the two clocks differ by more than is asked. The cause is the order in which "
        "workers come to the ports, which counts where they wait for ports most of all. A clock written for "
        "this table, without anything of `sim/` (40 seeds), gives both figures, each by one order; asked are "
        "0.8 %, three standard errors of a mean of five. The prototype's figure is that of workers served in "
        "the order in which their steps begin: a port is taken for a time to come although another worker "
        "comes to it earlier. Here it is the order of time.\n\n"
        "| ports are taken in the order in which | s | against | near |\n"
        "|---|--:|--:|---|");
    print_clock("steps end", "weft", true, ours_s, &wrong);
    print_clock("steps begin", "the prototype", false, rows[0].theirs[GOSSIP_IID].time_s, &wrong);
    return wrong;
}

int gossip_print_reference(const struct gossip_trials *t)
{
    double period_1_s;
    puts(
        "\n### Against reference figures\n\n"
        "Figures of an independent prototype of the same set-up with other random numbers (5 seeds): a "
        "teacher's 20,000 examples, a network 32-64-10, 20 epochs, pairs of 8 workers, 10 ms a step, 6 ms an "
        "exchange, one at a time through a port, `clock.stale: false`. Asked of fixed periods: traffic to "
        "0.5 %, time to 1.5 %. Accuracy differs by 1.1 points from seed to seed, as each seed draws its own "
        "teacher, so a mean of five against another mean of five has a standard error of 0.7, more than what "
        "is of interest. Compared is therefore the accuracy less that of period 1, which is paired by seed. "
        "The bound is 0.6 points; by label it is the 95 % one of a difference of two such means, t sd "
        "sqrt(2/5) with the deviation sd on seeds 11 to 15, where that is more. Asked of rules: traffic to "
        "15 %, by label to 25 %, since when a rule fires depends on what is learned. Rows of the prototype "
        "that are like EventGraD and SPARQ-SGD are left out: they are gossip of whole models between random "
        "pairs, not the methods of those names here.");
    int wrong = print_table(&period_1_s, t, GOSSIP_IID);
    wrong += print_table(&period_1_s, t, GOSSIP_SKEW);
    return wrong + print_clocks(period_1_s);
}
