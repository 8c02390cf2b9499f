/* SJF-BCO against list scheduling, first fit and random GPUs. */
#include <math.h>
#include <stdio.h>

#include "tests/support.h"
#include "tests/validate/trial.h"

enum { N_RIVALS = 4, N_SERVERS = 3, MOST_SEEDS = 18 };

static const char *const rivals[N_RIVALS] = { "sjf-bco", "ls", "ff", "rand" };
static const int servers[N_SERVERS] = { 10, 15, 20 };

static void enter(struct entrant x[N_RIVALS], const struct trial *t, int64_t point)
{
    for (int i = 0; i < N_RIVALS; i++)
        x[i] = (struct entrant){ t, point, rivals[i] };
}

/* Seeds in which SJF-BCO is before each of the others. */
static int count_best(const struct entrant x[N_RIVALS])
{
    int least = (int)x[0].trial->place.seeds;
    for (int i = 1; i < N_RIVALS; i++) {
        int n = trial_ordered((struct entrant[]){ x[0], x[i] }, 2, "makespan_s", 1);
        least = n < least ? n : least;
    }
    return least;
}

/* @p asked: is the whole order said of this row? */
static void print_row(const struct trial *t, int64_t point, const char *changed, int i, bool asked,
                      int *wrong)
{
    /* arXiv 2207.07817 figures 4 and 6, read off. */
    static const char *const figure6[N_SERVERS] = { "939, 1160, 1404, 1488", "715, 870, 963, 1260",
                                                    "535, 595, 719, 1128" };
    struct entrant x[N_RIVALS];
    char cell[TRIAL_CELL];
    enter(x, t, point);
    int best = count_best(x), ordered = trial_ordered(x, N_RIVALS, "makespan_s", 1);
    printf("| %d | %s |", servers[i], changed);
    for (int k = 0; k < N_RIVALS; k++)
        printf(" %s |", trial_cell(cell, trial_mean(x[k], "makespan_s"), 0));
    printf(" %s | %d | %d | %s |\n", figure6[i], best, ordered,
           verdict(best == t->place.seeds && (!asked || ordered >= MOST_SEEDS), wrong));
}

/* Constants that the paper leaves open, one change each; all at 20 servers. */
TABLE_OF(changes, struct study_override set[2]; const char *shown) = {
    { { { "jobs.alpha", "0.2" } }, "`alpha: 0.2`" },
    { { { "jobs.alpha", "1" } }, "`alpha: 1`" },
    { { { "jobs.share_frac", "0.3" } }, "`share_frac: 0.3`" },
    { { { "jobs.share_frac", "1" } }, "`share_frac: 1`" },
};

static int print_makespan(void)
{
    static const struct study_override second[] = { { "jobs.comm_frac", "0.25" },
                                                    { "sjf_bco.ff_limit", "2.5" } };
    static const struct study_override at20 = { "vary", "{ pool.servers: [20] }" };
    struct trial t;
    int wrong = 0;
    puts("\n### SJF-BCO: `sjf-bco-makespan.yaml`\n\n"
         "arXiv 2207.07817 figures 4 and 6, makespan in seconds. The paper gives neither bandwidths nor "
         "gradients nor xi and alpha, so seconds cannot be compared, but orders can. In order: SJF-BCO < LS "
         "< FF < RAND. Said: SJF-BCO best in every seed, whatever is changed; in order in at least 18 of 20 "
         "seeds with 20 servers, for both sets of constants. Of fewer servers and of the single changes the "
         "order is not said, and often fails: with few servers random GPUs, which leave none idle, beat "
         "first fit.\n\n"
         "| servers | changed | SJF-BCO | LS | FF | RAND | published | seeds best | seeds in order | as said "
         "|\n"
         "|--:|---|--:|--:|--:|--:|---|--:|--:|---|");
    trial_run(&t, "sjf-bco-makespan", NULL, 0);
    for (int i = 0; i < N_SERVERS; i++)
        print_row(&t, i, "", i, i == N_SERVERS - 1, &wrong);
    trial_free(&t);
    trial_run(&t, "sjf-bco-makespan", second, 2);
    for (int i = 0; i < N_SERVERS; i++)
        print_row(&t, i, "`comm_frac: 0.25`, `ff_limit: 2.5`", i, i == N_SERVERS - 1, &wrong);
    trial_free(&t);
    for (size_t c = 0; c < COUNT_OF(changes); c++) {
        const struct study_override set[] = { changes[c].set[0], at20 };
        trial_run(&t, "sjf-bco-makespan", set, 2);
        print_row(&t, 0, changes[c].shown, N_SERVERS - 1, false, &wrong);
        trial_free(&t);
    }
    return wrong;
}

/* A table of SJF-BCO alone along one axis; its means into @p mean, shape [n]. */
static void print_axis(double *mean, const char *name, const char *head, const char *const *values,
                       const char *const *published, int n)
{
    KEEP(struct trial, t, trial_free);
    char cell[TRIAL_CELL];
    trial_run(&t, name, NULL, 0);
    puts(head);
    for (int i = 0; i < n; i++) {
        struct stat_mean m = trial_mean((struct entrant){ &t, i, "sjf-bco" }, "makespan_s");
        mean[i] = m.mean;
        printf("| %s | %s | %s |\n", values[i], trial_cell(cell, m, 0), published[i]);
    }
}

/* The best of every kappa, as SJF-BCO has it, below the table of single ones. */
static void print_best(void)
{
    const struct study_override set[] = { { "vary", "{ pool.servers: [20] }" },
                                          { "schedulers", "[sjf-bco]" } };
    KEEP(struct trial, t, trial_free);
    char cell[TRIAL_CELL];
    trial_run(&t, "sjf-bco-makespan", set, COUNT_OF(set));
    printf("| all, the best | %s | |\n",
           trial_cell(cell, trial_mean((struct entrant){ &t, 0, "sjf-bco" }, "makespan_s"), 0));
}

static void print_curves(void)
{
    static const char *const kappas[] = { "1", "2", "4", "8", "10", "16", "32" };
    static const char *const figure5[] = { "626", "564", "541", "535", "700", "749", "736" };
    static const char *const lambdas[] = { "1", "2", "4", "8" };
    static const char *const figure7[] = { "1043", "882", "730", "538" };
    double mean[COUNT_OF(kappas)];
    print_axis(
        mean, "sjf-bco-kappa",
        "\n`sjf-bco-kappa.yaml`: jobs of up to kappa GPUs are packed, the others balanced; 20 servers.\n\n"
        "| kappa | makespan, s | figure 5 |\n|--:|--:|--:|",
        kappas, figure5, COUNT_OF(kappas));
    print_best();
    printf("\nTo pack jobs of up to 8 GPUs instead of single GPUs only takes off %.0f %%; published, %.0f "
           "%%. The published jump beyond 8 is not found: there are only 10 jobs of more than 8 GPUs.\n",
           100 * (1 - mean[3] / mean[0]), 100 * (1 - 535.0 / 626));
    print_axis(
        mean, "sjf-bco-lambda",
        "\n`sjf-bco-lambda.yaml`: servers offered to a job have room for lambda times its GPUs; kappa 1.\n\n"
        "| lambda | makespan, s | figure 7 |\n|--:|--:|--:|",
        lambdas, figure7, COUNT_OF(lambdas));
    puts("\nThe published fall to a half is not reproduced. It starts at 1043 s for lambda 1 and kappa 1, "
         "the setting to which figure 5 gives 626 s: the two figures cannot share their constants.");
}

TABLE_OF(literal, const char *path, *shown) = {
    { "sjf_bco.literal_pack", "pack by load alone, Algorithm 2 as printed" },
    { "sjf_bco.literal_load", "load each GPU by its own jobs, not by its gang's" },
    { "sjf_bco.literal_bisect", "smaller limits after a better plan only, Algorithm 1 as printed" },
    { "sjf_bco.whole_iterations", "whole iterations in slots of 1 s" },
};

/* One plan for a limit, as in the paper, and slots of a second, so that only the named reading differs. */
static void print_literal(void)
{
    const struct study_override at20 = { "vary", "{ pool.servers: [20] }" },
                                one = { "sjf_bco.more_limits", "0" }, slot = { "sjf_bco.slot_s", "1" };
    struct trial t;
    char cell[TRIAL_CELL];
    puts("\nReadings of the paper, as printed and ours; 20 servers, slots of 1 s, no limits beyond the "
         "least.\n\n"
         "| reading | SJF-BCO, s |\n|---|--:|");
    const struct study_override ours[] = { at20, one, slot, { "schedulers", "[sjf-bco]" } };
    trial_run(&t, "sjf-bco-makespan", ours, COUNT_OF(ours));
    printf("| ours | %s |\n",
           trial_cell(cell, trial_mean((struct entrant){ &t, 0, "sjf-bco" }, "makespan_s"), 0));
    trial_free(&t);
    for (size_t i = 0; i < COUNT_OF(literal); i++) {
        const struct study_override set[] = { at20, one, slot, ours[3], { literal[i].path, "true" } };
        trial_run(&t, "sjf-bco-makespan", set, COUNT_OF(set));
        printf("| %s | %s |\n", literal[i].shown,
               trial_cell(cell, trial_mean((struct entrant){ &t, 0, "sjf-bco" }, "makespan_s"), 0));
        trial_free(&t);
    }
}

int cluster_batch(void)
{
    int wrong = print_makespan();
    print_curves();
    print_literal();
    return wrong;
}
