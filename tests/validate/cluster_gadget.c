/* GADGET against DRF, LAS and FIFO: as its paper states the experiment, and in two profiles where GPUs are
 * scarce. */
#include <math.h>
#include <stdio.h>

#include "tests/support.h"
#include "tests/validate/trial.h"

enum { N_COUNTS = 4, N_RIVALS = 4 };

static const int counts[N_COUNTS] = { 40, 60, 80, 100 };
static const char *const rivals[N_RIVALS] = { "gadget", "drf", "las", "fifo" };

/* arXiv 2202.01158 figure 4, read off: utility by scheduler (in the order above; its LAS is Tiresias) and
 * number of jobs. */
static const double figure4[N_RIVALS][N_COUNTS] = {
    { 2831, 4331, 4910, 5519 },
    { 1974, 2167, 2428, 2651 },
    { 1654, 1886, 2176, 2240 },
    { 1170, 1346, 1432, 1436 },
};

/* Seeds in which an order has to hold, of 20. */
enum { MOST_SEEDS = 18 };

/* The rivals at one point, best first as published. */
static void enter(struct entrant x[N_RIVALS], const struct trial *t, int64_t point)
{
    for (int i = 0; i < N_RIVALS; i++)
        x[i] = (struct entrant){ t, point, rivals[i] };
}

static void print_utilities(const struct entrant x[N_RIVALS])
{
    char cell[TRIAL_CELL];
    for (int i = 0; i < N_RIVALS; i++)
        printf(" %s |", trial_cell(cell, trial_mean(x[i], "utility"), 0));
}

static void print_ratios(const struct entrant x[N_RIVALS])
{
    char cell[TRIAL_CELL];
    for (int i = 1; i < N_RIVALS; i++)
        printf(" %s |", trial_cell(cell, trial_ratio(x[0], x[i], "utility"), 2));
}

static void print_published(int count)
{
    printf(" %.2f, %.2f, %.2f |", figure4[0][count] / figure4[1][count],
           figure4[0][count] / figure4[2][count], figure4[0][count] / figure4[3][count]);
}

/* ---- as stated ---- */

/* How far DRF or LAS are from GADGET in any seed, relative. */
static double find_difference(const struct entrant x[N_RIVALS])
{
    double most = 0;
    for (int64_t k = 0; k < x[0].trial->place.seeds; k++)
        for (int i = 1; i < N_RIVALS - 1; i++)
            most = fmax(most, fabs(trial_value(x[i], k, "utility") / trial_value(x[0], k, "utility") - 1));
    return most;
}

static int print_stated(void)
{
    KEEP(struct trial, t, trial_free);
    struct entrant x[N_RIVALS];
    int wrong = 0;
    trial_run(&t, "gadget-paper", NULL, 0);
    puts(
        "### GADGET as its paper states it: `gadget-paper.yaml`\n\n"
        "arXiv 2202.01158 section VI. Nothing is scarce, so the schedulers tie. FIFO alone falls behind, and "
        "only when the budget is taken as printed: jobs that have all the utility there is then keep their "
        "workers for hundreds of slots, and FIFO lets nobody pass. Tied: DRF and LAS within a millionth of "
        "GADGET in every seed, said of the budget as the text means it; as printed, one seed or another "
        "differs by the largest difference that stands beside. Busy: GPUs that GADGET uses; placed: active "
        "jobs it runs in a slot, as the others would gain nothing more.\n\n"
        "| budget | jobs | GADGET | DRF | LAS | FIFO | tied | by % | busy % | placed % | figure 4: GADGET, "
        "DRF, Tiresias, FIFO |\n"
        "|---|--:|--:|--:|--:|--:|---|--:|--:|--:|---|");
    for (int64_t point = 0; point < t.place.sweep.n_points; point++) {
        int count = (int)(point % N_COUNTS);
        enter(x, &t, point);
        printf("| %s | %d |", point < N_COUNTS ? "scaled" : "literal", counts[count]);
        print_utilities(x);
        double difference = find_difference(x);
        /* Scaled budgets come first. */
        const char *tied = point < N_COUNTS ? verdict(difference <= 1e-6, &wrong) : "";
        printf(" %s | %.2f | %.1f | %.1f | %.0f, %.0f, %.0f, %.0f |\n", tied, 100 * difference,
               100 * trial_mean(x[0], "gpu_frac").mean, 100 * trial_mean(x[0], "embedded_frac").mean,
               figure4[0][count], figure4[1][count], figure4[2][count], figure4[3][count]);
    }
    return wrong;
}

/* A job is worth at most L1, a whole number drawn from 1 to 100. */
static void print_reach(void)
{
    const double mean = 50.5, variance = (100.0 * 100 - 1) / 12;
    puts("\nThe published totals cannot come from the stated ranges: a job is worth at most L1, uniform over "
         "1 to 100, 50.5 in the mean, if it is served to the end. Figure 4 lies above that for every number "
         "of jobs; so ratios and orders are compared below, not totals.\n\n"
         "| jobs | figure 4, GADGET, per job | most, in the mean | standard deviation of that mean | figure "
         "4 is above it by |\n"
         "|--:|--:|--:|--:|--:|");
    for (int i = 0; i < N_COUNTS; i++) {
        double each = figure4[0][i] / counts[i], deviation = sqrt(variance / counts[i]);
        printf("| %d | %.1f | %.1f | %.1f | %.1f standard deviations |\n", counts[i], each, mean, deviation,
               (each - mean) / deviation);
    }
}

/* ---- scarce ---- */

static void print_scarce_head(void)
{
    puts("| profile | changed | jobs | GADGET | DRF | LAS | FIFO | GADGET/DRF | /LAS | /FIFO | figure 4 | "
         "seeds in order | as said |\n"
         "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|---|");
}

static void print_scarce_row(const char *profile, const char *changed, int count, const struct entrant *x)
{
    printf("| %s | %s | %d |", profile, changed, counts[count]);
    print_utilities(x);
    print_ratios(x);
    print_published(count);
    printf(" %d |", trial_ordered(x, N_RIVALS, "utility", -1));
}

static int print_profile_e(const struct trial *t)
{
    struct entrant x[N_RIVALS];
    int wrong = 0;
    for (int count = 0; count < N_COUNTS; count++) {
        enter(x, t, count);
        print_scarce_row("E", "", count, x);
        printf(" %s |\n", verdict(trial_ordered(x, N_RIVALS, "utility", -1) >= MOST_SEEDS, &wrong));
    }
    return wrong;
}

/* In how many seeds is @p which before all (@p sign -1) or behind all (1) of the others? */
static int count_extreme(const struct entrant x[N_RIVALS], int which, int sign)
{
    int count = 0;
    for (int64_t k = 0; k < x[0].trial->place.seeds; k++) {
        bool extreme = true;
        for (int i = 0; i < N_RIVALS; i++)
            extreme = extreme && (i == which || sign * trial_value(x[which], k, "utility") <
                                                    sign * trial_value(x[i], k, "utility"));
        count += extreme;
    }
    return count;
}

/* @p first, @p last: seeds with GADGET first, and with FIFO last. */
static int print_profile_f(int first[N_COUNTS], int last[N_COUNTS])
{
    KEEP(struct trial, t, trial_free);
    struct entrant x[N_RIVALS];
    int wrong = 0;
    trial_run(&t, "gadget-profile-f", NULL, 0);
    for (int count = 0; count < N_COUNTS; count++) {
        enter(x, &t, count);
        first[count] = count_extreme(x, 0, -1);
        last[count] = count_extreme(x, N_RIVALS - 1, 1);
        print_scarce_row("F", "", count, x);
        /* Both in every seed were asked; what is held from one version to the next is less. */
        bool asked = first[count] == t.place.seeds && last[count] == t.place.seeds;
        const char *held = verdict(first[count] >= MOST_SEEDS, &wrong);
        printf(" %s |\n", asked || first[count] < MOST_SEEDS ? held : "missed");
    }
    return wrong;
}

/* One change to profile E; the entrants it cannot concern are not run again. */
static const struct change {
    const char *path, *value, *shown;
    const char *run;      /* schedulers */
    bool again[N_RIVALS]; /* which these are */
} changes[] = {
    { "las.queues", "0", "`las.queues: 0`", "[las]", { false, false, true, false } },
    { "jobs.clamp_fixed", "true", "`jobs.clamp_fixed: true`", "[las, fifo]", { false, false, true, true } },
    { "jobs.leave_frac",
      "0.99",
      "`jobs.leave_frac: 0.99`",
      "[gadget, drf, las, fifo]",
      { true, true, true, true } },
    { "jobs.aim_literal", "true", "`jobs.aim_literal: true`", "[gadget]", { true, false, false, false } },
};

static void print_changes(const struct trial *base)
{
    for (size_t c = 0; c < COUNT_OF(changes); c++) {
        KEEP(struct trial, t, trial_free);
        const struct study_override set[] = { { changes[c].path, changes[c].value },
                                              { "schedulers", changes[c].run } };
        trial_run(&t, "gadget-profile-e", set, 2);
        for (int count = 0; count < N_COUNTS; count++) {
            struct entrant x[N_RIVALS];
            for (int i = 0; i < N_RIVALS; i++)
                x[i] = (struct entrant){ changes[c].again[i] ? &t : base, count, rivals[i] };
            print_scarce_row("E", changes[c].shown, count, x);
            puts("  |");
        }
    }
}

static void print_notes(const int first[N_COUNTS], const int last[N_COUNTS])
{
    printf("\nOf F was asked that GADGET is first and FIFO last in every seed, as in a prototype on 10 "
           "seeds. **Missed:** of 20 seeds GADGET is first in %d, %d, %d, %d and FIFO last in %d, %d, %d, "
           "%d. LAS gives every job 80 worker-slots before any gets more; a job of F needs about 150 to "
           "reach the middle of its sigmoid, so with many jobs it serves all of them a little, to no use, "
           "and FIFO, which serves few to the end, passes it.\n",
           first[0], first[1], first[2], first[3], last[0], last[1], last[2], last[3]);
    puts("\nWhat the changes do:\n\n"
         "- `las.queues: 0`, continuous: LAS lets GPUs go round among all jobs instead of holding to the "
         "order of arrival inside a queue, and draws level with DRF.\n"
         "- `jobs.clamp_fixed: true`, LAS and FIFO give a job no more workers than its own limit: more jobs "
         "run side by side, and both gain.\n"
         "- `jobs.leave_frac: 0.99`, a job leaves once it has 99 % of what it can be worth: the lead is gone "
         "at 40 and 60 jobs. Most of it was that the other schedulers, and with them the published "
         "baselines, go on feeding jobs that have had enough.\n"
         "- `jobs.aim_literal: true`, GADGET maximises the sigmoid itself instead of its concave envelope: "
         "far below its middle all gains are next to nothing, and what is next to nothing decides.");
}

int cluster_gadget(void)
{
    KEEP(struct trial, base, trial_free);
    int first[N_COUNTS], last[N_COUNTS];
    int wrong = print_stated();
    print_reach();
    trial_run(&base, "gadget-profile-e", NULL, 0);
    puts("\n### GADGET where GPUs are scarce: `gadget-profile-e.yaml`, `gadget-profile-f.yaml`\n\n"
         "Two profiles of ours, selected for their order in a prototype on seeds 1 to 4. In order: GADGET > "
         "DRF > LAS > FIFO. Said of E: in order in at least 18 of 20 seeds. Asked of F: GADGET first and "
         "FIFO last in every seed, which is missed, see below; held is GADGET first in at least 18 of 20. "
         "The rows with a change show what the order hangs on; nothing is said of them.\n");
    print_scarce_head();
    wrong += print_profile_e(&base);
    wrong += print_profile_f(first, last);
    print_changes(&base);
    print_notes(first, last);
    return wrong;
}
