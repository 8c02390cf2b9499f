/* What a cheaper spine costs jobs: no published figure, but what must hold whatever the jobs are. */
#include <math.h>
#include <stdio.h>

#include "tests/support.h"
#include "tests/validate/trial.h"

enum { N_SPINES = 5, N_SCHEDULERS = 5, N_NPUS = 1024 };

static const double tapers[N_SPINES] = { 1, 2, 4, 8, 16 };
static const char *const schedulers[N_SCHEDULERS] = { "fifo+topology", "fifo", "fifo+spread", "srtf", "las" };

/* configs/parts/libra-2024.yaml: link of the tier InterPod, with a switch port at both ends. */
#define SPINE_USD_PER_GBps (7.8 + 2 * 18)
#define NIC_GBps           50.0

/* To the full spine, as the rows have it; 0 of the full one itself. */
static struct stat_mean difference(const struct trial *t, int64_t point, const char *scheduler)
{
    const struct entrant at = { t, point, scheduler };
    if (point == 0)
        return (struct stat_mean){ 0, 0, 1 };
    return (struct stat_mean){ trial_row_value(at, "vs_base_pct"), trial_row_value(at, "vs_base_pct_ci"), 1 };
}

static void print_row(const struct trial *t, int64_t point)
{
    char cell[TRIAL_CELL];
    double usd = trial_row_value((struct entrant){ t, point, schedulers[0] }, "network_usd");
    printf("| %g | %g : 1 | %.2f |", NIC_GBps / tapers[point], tapers[point], usd / 1e6);
    for (int i = 0; i < N_SCHEDULERS; i++) {
        struct stat_mean m = trial_mean((struct entrant){ t, point, schedulers[i] }, "jct_s");
        printf(" %s |", trial_cell(cell, (struct stat_mean){ m.mean / 3600, m.half / 3600, m.n }, 1));
    }
    for (int i = 0; i < N_SCHEDULERS; i++)
        printf(" %s |", trial_cell(cell, difference(t, point, schedulers[i]), 2));
    puts("");
}

/* The bill against NPUs times bandwidth times price, beside the network with the full spine. */
static bool prices_add_up(const struct trial *t)
{
    bool ok = true;
    double full_usd = trial_row_value((struct entrant){ t, 0, schedulers[0] }, "network_usd");
    for (int64_t point = 1; point < N_SPINES; point++) {
        double usd = trial_row_value((struct entrant){ t, point, schedulers[0] }, "network_usd");
        double want_usd = N_NPUS * SPINE_USD_PER_GBps * NIC_GBps * (1 - 1 / tapers[point]);
        ok = ok && fabs(full_usd - usd - want_usd) <= 1e-9 * full_usd;
    }
    return ok;
}

/* With the narrowest spine jobs take as long as with the full one or longer: in the mean, or (spread, whose
 * placement leaves nearly nothing to the spine) within the interval of what seeds differ by. */
static bool is_no_faster(const struct trial *t, const char *scheduler)
{
    struct stat_mean m = difference(t, N_SPINES - 1, scheduler);
    return m.mean >= 0 || (strcmp(scheduler, "fifo+spread") == 0 && m.mean + m.half >= 0);
}

int cluster_spine(void)
{
    KEEP(struct trial, t, trial_free);
    int wrong = 0;
    bool slower = true, spread = true, apart = true;
    trial_run(&t, "spine-cost", NULL, 0);
    puts("\n### What a cheaper spine costs jobs: `spine-cost.yaml`\n\n"
         "300 jobs that train language models on 1,024 GPUs, the same for every spine; 64 seeds. Mean "
         "completion time "
         "in hours, and its difference to the full spine, seed by seed. The intervals of the hours are wide, "
         "since queues differ from seed to seed; those of the differences are not.\n\n"
         "| spine, GB/s per GPU | taper | network, million USD | fifo+topology, h | fifo, h | fifo+spread, h "
         "| srtf, h | las, h | fifo+topology, % | fifo, % | fifo+spread, % | srtf, % | las, % |\n"
         "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (int64_t point = 0; point < N_SPINES; point++)
        print_row(&t, point);
    for (int i = 0; i < N_SCHEDULERS; i++)
        slower = slower && is_no_faster(&t, schedulers[i]);
    for (int64_t point = 0; point < N_SPINES; point++)
        spread = spread && trial_mean((struct entrant){ &t, point, "fifo+spread" }, "jct_s").mean >
                               trial_mean((struct entrant){ &t, point, "fifo+topology" }, "jct_s").mean;
    for (int i = 3; i < N_SCHEDULERS; i++)
        for (int64_t point = 2; point + 1 < N_SPINES; point++) {
            struct stat_mean a = difference(&t, point, schedulers[i]),
                             b = difference(&t, point + 1, schedulers[i]);
            apart = apart && a.mean + a.half < b.mean - b.half;
        }
    printf(
        "\nA ring of 16 systems below a leaf sends up what one of them sends, so a spine of a sixteenth "
        "costs little. The narrowest makes no scheduler faster in the mean, fifo+spread within its "
        "interval: %s. Jobs that are spread end later than jobs that are kept in few pods, on every "
        "spine: %s. From taper 4 on the intervals of srtf and las exclude each other: %s. Prices differ by "
        "1,024 NPUs times the difference in bandwidth times 43.8 USD a GB/s: %s.\n",
        verdict(slower, &wrong), verdict(spread, &wrong), verdict(apart, &wrong),
        verdict(prices_add_up(&t), &wrong));
    return wrong;
}
