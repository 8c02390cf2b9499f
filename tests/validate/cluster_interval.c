/* SMD against Optimus, ESW and the optimum. */
#include <math.h>
#include <stdio.h>

#include "tests/support.h"
#include "tests/validate/trial.h"

enum { N_RIVALS = 3, N_STEPS = 5, N_TRAININGS = 2 };

static const char *const rivals[N_RIVALS] = { "smd", "optimus", "esw" };
static const char *const trainings[N_TRAININGS] = { "sync", "async" };

/* One of the paper's pairs of figures, read off: by training, scheduler (in the order above) and step of the
 * axis. */
struct figures {
    const char *config, *axis, *named;
    int steps[N_STEPS];
    double published[N_TRAININGS][N_RIVALS][N_STEPS];
};

static const struct figures by_units = {
    "smd-units",
    "units",
    "8 and 7",
    { 1, 2, 3, 4, 5 },
    { { { 1208, 1927, 2508, 2990, 3396 }, { 1042, 1622, 2154, 2544, 2896 }, { 966, 1495, 1797, 1898, 1997 } },
      { { 1193, 1847, 2395, 2792, 3107 },
        { 1092, 1648, 2121, 2389, 2523 },
        { 1039, 1662, 2006, 2157, 2255 } } },
};

static const struct figures by_jobs = {
    "smd-jobs",
    "jobs",
    "10 and 9",
    { 40, 80, 120, 160, 200 },
    { { { 2427, 4960, 7451, 9984, 16127 },
        { 2343, 4728, 6438, 8422, 13150 },
        { 1456, 3103, 4644, 6290, 9668 } },
      { { 2177, 4483, 6652, 9847, 14006 },
        { 1891, 3774, 5779, 8099, 11791 },
        { 1394, 2509, 3865, 5974, 8250 } } },
};

static void enter(struct entrant x[N_RIVALS], const struct trial *t, int64_t point)
{
    for (int i = 0; i < N_RIVALS; i++)
        x[i] = (struct entrant){ t, point, rivals[i] };
}

/* Seeds with SMD > Optimus >= ESW. */
static int count_ordered(const struct entrant x[N_RIVALS])
{
    int n = 0;
    for (int64_t k = 0; k < x[0].trial->place.seeds; k++) {
        double u[N_RIVALS];
        for (int i = 0; i < N_RIVALS; i++)
            u[i] = trial_value(x[i], k, "utility");
        n += u[0] > u[1] && u[1] >= u[2];
    }
    return n;
}

enum admission { FIRST_COME, KNAPSACK, BEST_FIRST };

static bool as_said(const struct entrant x[N_RIVALS], enum admission how)
{
    if (how == FIRST_COME)
        return count_ordered(x) == x[0].trial->place.seeds;
    return trial_ratio(x[0], x[1], "utility").mean >= 0.995 && trial_ratio(x[0], x[2], "utility").mean > 1;
}

static void print_step(const struct figures *f, const struct trial *t, int training, int i,
                       enum admission how, int *wrong)
{
    static const char *const admissions[] = { "first come", "same knapsack", "best first" };
    const double(*paper)[N_STEPS] = f->published[training];
    struct entrant x[N_RIVALS];
    char cell[TRIAL_CELL];
    enter(x, t, training * N_STEPS + i);
    printf("| %s | %s | %s %d |", admissions[how], trainings[training], f->axis, f->steps[i]);
    for (int k = 0; k < N_RIVALS; k++)
        printf(" %s |", trial_cell(cell, trial_mean(x[k], "utility"), 0));
    for (int k = 1; k < N_RIVALS; k++)
        printf(" %s |", trial_cell(cell, trial_ratio(x[0], x[k], "utility"), 3));
    printf(" %.3f, %.3f | %d |", paper[0][i] / paper[1][i], paper[0][i] / paper[2][i], count_ordered(x));
    printf(" %s |\n", how == BEST_FIRST ? "" : verdict(as_said(x, how), wrong));
}

static int print_admission(enum admission how, const char *value)
{
    static const struct figures *const all[] = { &by_units, &by_jobs };
    const struct study_override set = { "smd.baselines", value };
    int wrong = 0;
    for (size_t k = 0; k < COUNT_OF(all); k++) {
        KEEP(struct trial, t, trial_free);
        trial_run(&t, all[k]->config, &set, 1);
        for (int training = 0; training < N_TRAININGS; training++)
            for (int i = 0; i < N_STEPS; i++)
                print_step(all[k], &t, training, i, how, &wrong);
    }
    return wrong;
}

static int print_orders(void)
{
    int wrong = 0;
    puts("\n### SMD, Optimus and ESW: `smd-units.yaml`, `smd-jobs.yaml`\n\n"
         "arXiv 2105.13855 figures 7 to 10. **The published lead is an admission rule.** SMD admits jobs by "
         "a knapsack; how Optimus and ESW admit them is not said. When they take jobs first come, first fit, "
         "SMD > Optimus >= ESW in every seed, which is said of those rows. With the same knapsack for all, "
         "Optimus adds workers and servers one by one until nothing gains, and that finds the best numbers "
         "of tasks of nearly every job: SMD, whose grid and rounding come within 0.1 % of them, cannot be "
         "better. Of those rows is said: SMD at least 0.995 of Optimus, and above ESW, in the mean. Neither "
         "rule meets the published ratios; admitting the most useful first, of which nothing is said, comes "
         "nearest.\n\n"
         "| admission of the others | training | | SMD | Optimus | ESW | SMD/Optimus | SMD/ESW | published "
         "ratios | seeds in order | as said |\n"
         "|---|---|---|--:|--:|--:|--:|--:|---|--:|---|");
    wrong += print_admission(FIRST_COME, "first-come");
    wrong += print_admission(KNAPSACK, "knapsack");
    wrong += print_admission(BEST_FIRST, "best-first");
    puts("\nThe published totals exceed what the stated ranges give: a job is worth at most gamma1, uniform "
         "over 1 to 100, 50.5 in the mean with a standard deviation of 28.6. Figure 10 has 16,127 for 200 "
         "jobs, 80.6 for each job submitted: the mean of 200 draws lies 14.9 of its standard deviations "
         "below.");
    return wrong;
}

/* ---- against the optimum ---- */

static int print_optimum(void)
{
    static const double figure11[N_TRAININGS][N_STEPS] = { { .760, .767, .836, .899, .917 },
                                                           { .973, .982, .993, .994, .999 } };
    KEEP(struct trial, t, trial_free);
    char cell[N_TRAININGS][TRIAL_CELL];
    int wrong = 0;
    trial_run(&t, "smd-optimum", NULL, 0);
    puts("\n### SMD against the optimum: `smd-optimum.yaml`\n\n"
         "Utility over that of the best numbers of tasks, found exactly, with room for all jobs. The paper "
         "sets the scale of its rounding to 1, against its proof; `literal` is what the proof asks for, "
         "about 0.3. Asked with 1: the mean at least 0.995, and asynchronous at least as good as "
         "synchronous.\n\n"
         "| scale | jobs | sync | async | asked | figure 11, sync and async |\n|---|--:|--:|--:|---|---|");
    for (int row = 0; row < 2 * N_STEPS; row++) {
        double mean[N_TRAININGS];
        int first = row / N_STEPS * N_TRAININGS * N_STEPS + row % N_STEPS;
        for (int k = 0; k < N_TRAININGS; k++) {
            struct stat_mean m =
                trial_mean((struct entrant){ &t, first + k * N_STEPS, "smd" }, "optimum_frac");
            mean[k] = m.mean;
            trial_cell(cell[k], m, 4);
        }
        printf("| %s | %d | %s | %s |", row < N_STEPS ? "1" : "literal", 10 * (row % N_STEPS + 1), cell[0],
               cell[1]);
        printf(" %s | %.3f, %.3f |\n",
               row < N_STEPS ? verdict(mean[0] >= 0.995 && mean[1] >= mean[0], &wrong) : "",
               figure11[0][row % N_STEPS], figure11[1][row % N_STEPS]);
    }
    puts("\nWith the literal scale a fifth to a quarter is lost, whatever the number of jobs. The published "
         "rise from 0.76 to 0.92 with the number of jobs is not found, and nothing in the method makes a "
         "job's numbers depend on the others when all are admitted.");
    return wrong;
}

/* ---- what it hangs on ---- */

TABLE_OF(changes, struct study_override set[2]; const char *shown) = {
    { { { "smd.knapsack", "exact" }, { "smd.inner", "grid" } }, "" },
    { { { "smd.knapsack", "exact" }, { "smd.inner", "exact" } }, "numbers of tasks exact" },
    { { { "smd.knapsack", "subset" }, { "smd.subset", "1" } }, "knapsack by subsets, k = 1" },
    { { { "smd.knapsack", "subset" }, { "smd.subset", "2" } }, "knapsack by subsets, k = 2" },
    { { { "smd.m_delta", "literal" }, { "smd.delta", "0.5" } }, "scale literal" },
    { { { "jobs.layer_times", "sum" }, { "smd.inner", "grid" } }, "layer times: sum" },
    { { { "jobs.layer_times", "mean" }, { "smd.inner", "grid" } }, "layer times: mean" },
    { { { "jobs.disk_GB", "12" }, { "smd.inner", "grid" } }, "instances with 12 GB of disk" },
    { { { "jobs.disk_GB", "80" }, { "smd.inner", "grid" } }, "instances with 80 GB of disk" },
};

static void print_changes(void)
{
    const struct study_override rest[] = { { "vary", "{ jobs.training: [sync, async] }" },
                                           { "pool.units", "5" },
                                           { "smd.baselines", "knapsack" },
                                           { "schedulers", "[smd, optimus, esw]" } };
    char cell[TRIAL_CELL];
    puts("\n50 jobs, 5 units, the same knapsack for all; one change each.\n\n"
         "| changed | training | SMD | of the optimum | SMD/Optimus | SMD/ESW | admitted | mean completion, "
         "h |\n"
         "|---|---|--:|--:|--:|--:|--:|--:|");
    for (size_t c = 0; c < COUNT_OF(changes); c++) {
        const struct study_override set[] = { rest[0], rest[1],           rest[2],
                                              rest[3], changes[c].set[0], changes[c].set[1] };
        KEEP(struct trial, t, trial_free);
        trial_run(&t, "smd-units", set, COUNT_OF(set));
        for (int k = 0; k < N_TRAININGS; k++) {
            struct entrant x[N_RIVALS];
            enter(x, &t, k);
            struct stat_mean jct = trial_mean(x[0], "jct_s");
            printf("| %s | %s |", changes[c].shown, trainings[k]);
            printf(" %s |", trial_cell(cell, trial_mean(x[0], "utility"), 0));
            printf(" %s |", trial_cell(cell, trial_mean(x[0], "optimum_frac"), 4));
            printf(" %s |", trial_cell(cell, trial_ratio(x[0], x[1], "utility"), 4));
            printf(" %s |", trial_cell(cell, trial_ratio(x[0], x[2], "utility"), 3));
            printf(" %s |", trial_cell(cell, trial_mean(x[0], "admitted"), 1));
            printf(" %s |\n",
                   trial_cell(cell, (struct stat_mean){ jct.mean / 3600, jct.half / 3600, jct.n }, 2));
        }
    }
}

static void print_used(void)
{
    static const double figure12[N_TRAININGS][N_STEPS] = { { .504, .407, .382, .412, .356 },
                                                           { .439, .388, .335, .374, .336 } };
    KEEP(struct trial, t, trial_free);
    char cell[TRIAL_CELL];
    trial_run(&t, "smd-jobs", NULL, 0);
    puts("\nResources that tasks use of those reserved for them, mean over the four; figure 12.\n\n"
         "| jobs | sync | figure 12 | async | figure 12 |\n|--:|--:|--:|--:|--:|");
    for (int i = 0; i < N_STEPS; i++) {
        printf("| %d |", by_jobs.steps[i]);
        for (int k = 0; k < N_TRAININGS; k++) {
            struct stat_mean m = trial_mean((struct entrant){ &t, k * N_STEPS + i, "smd" }, "used_frac");
            printf(" %s | %.3f |", trial_cell(cell, m, 3), figure12[k][i]);
        }
        puts("");
    }
}

int cluster_interval(void)
{
    int wrong = print_orders() + print_optimum();
    print_changes();
    print_used();
    return wrong;
}
