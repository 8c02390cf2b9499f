/* Section of docs/validation.md: layers on types of resources, held against the proved optimum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"
#include "tests/validate/hetero_trial.h"
#include "tests/validate/verdict.h"

/* ---- the oracle ---- */

static int print_oracle(void)
{
    int wrong = 0;
    puts("\n### The oracle against all plans\n\n"
         "Two types, every one of the 2^L plans provisioned exactly. Asked: the same cost to 1e-9.\n\n"
         "| model | limit | examples/s | all plans | cheapest, USD | oracle, USD | equal |\n"
         "|---|---|--:|--:|--:|--:|---|");
    for (int m = 0; m < N_HETERO_MODELS; m++)
        for (int limit = 0; limit < N_HETERO_LIMITS; limit++) {
            KEEP(struct hetero_trial, t, hetero_trial_free);
            struct hetero_outcome all;
            hetero_trial_build(&t, (enum hetero_model)m, 2, 1, (enum hetero_limit)limit);
            hetero_run_all(&all, &(struct hetero_entry){ &t, "brute-force" }, 1);
            bool equal = t.oracle.proof == HETERO_OPTIMAL && fabs(hetero_median(&all) - 1) <= 1e-9;
            printf("| %s | %s | %.4g | %lld | %.6f | %.6f | %s |\n", hetero_model_words[m],
                   hetero_limit_words[limit], t.problem.per_s, (long long)all.evaluations,
                   hetero_median(&all) * t.oracle.usd, t.oracle.usd, verdict(equal, &wrong));
        }
    return wrong;
}

/* ---- reinforcement learning against the oracle ---- */

/* One problem of the table, and what is asked of the median seed. */
struct row {
    enum hetero_model model;
    enum hetero_limit limit;
    int32_t n_types;
    uint64_t draw_seed;
    double at_most;
};

/* Draws 101 and 102 are problems that no setting was chosen on; 1 is one of those that were looked at. */
static int32_t list_rows(struct row *rows)
{
    static const uint64_t draws[] = { 1, 101, 102 };
    int32_t n = 0;
    for (int32_t types = 2; types <= 16; types += 14)
        for (int limit = 0; limit < N_HETERO_LIMITS; limit++)
            for (int m = 0; m < N_HETERO_MODELS; m++)
                for (size_t d = 0; d < (types == 2 ? 1 : sizeof draws / sizeof draws[0]); d++)
                    rows[n++] = (struct row){
                        .model = (enum hetero_model)m,
                        .limit = (enum hetero_limit)limit,
                        .n_types = types,
                        .draw_seed = draws[d],
                        .at_most = types == 2              ? 1.02
                                   : limit == HETERO_LOOSE ? 1.05
                                                           : 1.10,
                    };
    return n;
}

enum { RL, RANDOM, STAGES, RANDOM_LOCAL, N_COMPARED, MAX_ROWS = 64 };

static void print_row(const struct row *row, const struct hetero_trial *t, const struct hetero_outcome *x,
                      int *wrong)
{
    char a[HETERO_CELL], b[HETERO_CELL], c[HETERO_CELL], d[HETERO_CELL], f[HETERO_CELL], draw[24] = "-";
    double rl = hetero_median(&x[RL]), random = hetero_median(&x[RANDOM]);
    bool proved = t->oracle.proof == HETERO_OPTIMAL;
    /* Where random search finds the optimum itself nothing is better. */
    bool better = row->n_types == 2 ? rl <= random : rl < random || random <= 1 + 1e-9;
    if (row->n_types > 2)
        snprintf(draw, sizeof draw, "%d", (int)row->draw_seed);
    printf("| %s | %d | %s | %s | %s | %s | %.2f: %s | %s | %s | %s | %s |\n", hetero_model_words[row->model],
           (int)row->n_types, draw, hetero_limit_words[row->limit], hetero_cell(a, rl),
           hetero_cell(b, hetero_worst(&x[RL])), row->at_most, verdict(proved && rl <= row->at_most, wrong),
           hetero_cell(c, random), verdict(better, wrong), hetero_cell(d, hetero_median(&x[STAGES])),
           hetero_cell(f, hetero_median(&x[RANDOM_LOCAL])));
}

static int print_learning(void)
{
    static const char *const compared[N_COMPARED] = { "rl-lstm", "random", "random-stages", "random+local" };
    static struct row rows[MAX_ROWS];
    int32_t n = list_rows(rows);
    KEEP(struct hetero_trial *, trials, free_at) = calloc((size_t)n, sizeof *trials);
    KEEP(struct hetero_entry *, entries, free_at) = calloc((size_t)n * N_COMPARED, sizeof *entries);
    KEEP(struct hetero_outcome *, found, free_at) = calloc((size_t)n * N_COMPARED, sizeof *found);
    int wrong = 0;
    if (!trials || !entries || !found)
        exit(EXIT_FAILURE);
    for (int32_t i = 0; i < n; i++) {
        hetero_trial_build(&trials[i], rows[i].model, rows[i].n_types, rows[i].draw_seed, rows[i].limit);
        for (int k = 0; k < N_COMPARED; k++)
            entries[i * N_COMPARED + k] = (struct hetero_entry){ &trials[i], compared[k] };
    }
    hetero_run_all(found, entries, n * N_COMPARED);
    puts("\n### Learned plans against the oracle\n\n"
         "Cost over the oracle's, which is the proved optimum in every row. `rl-lstm`, `random` and "
         "`random-stages` each evaluate 25,600 plans; a local search takes some hundred more. Asked of the "
         "median seed: within 2 % with two types; with 16 within 5 % at the loose limit and 10 % at the "
         "binding one; never worse than `random` (types drawn layer by layer), and better with 16 types "
         "unless that finds the optimum itself. `random-stages` draws plans of long stages, which is what "
         "the policy begins with: the fair measure of what is learned. Random search with a local search "
         "after it stands beside, since it takes any start close to the optimum: what a local search finds "
         "is no merit of learning.\n\n"
         "| model | types | draw | limit | rl-lstm, median | worst seed | asked | random | rl-lstm is better "
         "| random-stages | random+local |\n"
         "|---|--:|--:|---|--:|--:|---|--:|---|--:|--:|");
    for (int32_t i = 0; i < n; i++) {
        print_row(&rows[i], &trials[i], &found[i * N_COMPARED], &wrong);
        hetero_trial_free(&trials[i]);
    }
    return wrong;
}

/* ---- all schedulers, and the paper's headline ---- */

static void print_schedulers(int32_t n_types)
{
    static struct hetero_trial trials[N_HETERO_MODELS];
    struct hetero_outcome found[N_HETERO_MODELS];
    char cell[HETERO_CELL], worst[HETERO_CELL];
    for (int m = 0; m < N_HETERO_MODELS; m++)
        hetero_trial_build(&trials[m], (enum hetero_model)m, n_types, HETERO_FIRST_SEED, HETERO_BINDING);
    printf("\nWith %d types, binding limit, draw 101:\n\n| scheduler |", (int)n_types);
    for (int m = 0; m < N_HETERO_MODELS; m++)
        printf(" %s | worst |", hetero_model_words[m]);
    puts("\n|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (int32_t i = 0; i < n_hetero_schedulers; i++) {
        const char *name = hetero_schedulers[i].name;
        struct hetero_entry entries[N_HETERO_MODELS];
        if (strcmp(name, "brute-force") == 0)
            continue;
        for (int m = 0; m < N_HETERO_MODELS; m++)
            entries[m] = (struct hetero_entry){ &trials[m], name };
        hetero_run_all(found, entries, N_HETERO_MODELS);
        printf("| %s |", name);
        for (int m = 0; m < N_HETERO_MODELS; m++)
            printf(" %s | %s |", hetero_cell(cell, hetero_median(&found[m])),
                   hetero_schedulers[i].seeded ? hetero_cell(worst, hetero_worst(&found[m])) : "-");
        putchar('\n');
    }
    for (int m = 0; m < N_HETERO_MODELS; m++)
        hetero_trial_free(&trials[m]);
}

static const char *const baselines[] = { "cpu-only", "gpu-only", "heuristic", "greedy", "genetic", "bayes" };
enum { N_BASELINES = sizeof baselines / sizeof baselines[0] };

/* Ratios of one model; the largest of each so far. */
static void print_headline_row(const struct hetero_trial *t, const char *name, double *faster, double *dearer)
{
    char cell[HETERO_CELL];
    struct hetero_entry entries[1 + N_BASELINES] = { { t, "rl-lstm" } };
    struct hetero_outcome found[1 + N_BASELINES];
    for (int i = 0; i < N_BASELINES; i++)
        entries[1 + i] = (struct hetero_entry){ t, baselines[i] };
    hetero_run_all(found, entries, 1 + N_BASELINES);
    for (int i = 1; i <= N_BASELINES; i++) {
        bool ok = isfinite(hetero_median(&found[i]));
        double per_s = ok ? found[i].per_s : found[i].reach_per_s;
        double speed = found[0].per_s / per_s, cost = hetero_median(&found[i]) / hetero_median(&found[0]);
        printf("| %s | %s | %.3g%s | %.2f | %s |\n", name, baselines[i - 1], per_s, ok ? "" : " at most",
               speed, hetero_cell(cell, cost));
        *faster = fmax(*faster, speed);
        *dearer = ok ? fmax(*dearer, cost) : *dearer;
    }
}

static void print_headline(void)
{
    double faster = 0, dearer = 0;
    puts("\n### Beside the paper's headline\n\n"
         "The abstract of arXiv 2111.10635 states throughput 14.5 times as high and a cost \"312.3 % "
         "smaller\" than the state of the art. The 14.5 are against TensorFlow, says a secondary source. A "
         "cost cannot fall by more than 100 %, so we read (other - RL) / RL = 3.123: the dearest baseline "
         "costs 4.123 times as much. Models, prices and limits of its experiments are not public, and "
         "nothing here was fitted to these two numbers: this table shows the same ratios on our models, with "
         "two types, limit binding, median of 5 seeds. A baseline that cannot reach the throughput has no "
         "cost; what it reaches at all is shown.\n\n"
         "| model | baseline | its examples/s | rl-lstm's throughput over it | its cost over rl-lstm's |\n"
         "|---|---|--:|--:|--:|");
    for (int m = 0; m < N_HETERO_MODELS; m++) {
        KEEP(struct hetero_trial, t, hetero_trial_free);
        hetero_trial_build(&t, (enum hetero_model)m, 2, 1, HETERO_BINDING);
        print_headline_row(&t, hetero_model_words[m], &faster, &dearer);
    }
    printf("\nLargest here: throughput %.1f times (published: 14.5), cost %.2f times (published, as read: "
           "4.12).\n",
           faster, dearer);
}

int main(void)
{
    puts("\n## Layers on types of resources\n\n"
         "HeterPS (arXiv 2111.10635) publishes no table that a program could be held against: what is "
         "published, what is recalled and what is chosen here stands in [hetero.md](hetero.md). So plans are "
         "held against the proved optimum of the same problem. Profiles are drawn (`model: ctrdnn` and so on "
         "in a study); a limit is half of the largest throughput of GPUs of one type alone (loose) or of all "
         "plans (binding). Seeds 101 to 105; settings were chosen on draws 1 to 3 and seeds 1 to 5.\n");
    int wrong = print_oracle();
    wrong += print_learning();
    puts("\n### All schedulers\n\nCost over the oracle's, median of 5 seeds and worst.");
    print_schedulers(2);
    print_schedulers(16);
    print_headline();
    return wrong > 0;
}
