/* The published pair of savings, and what fixed periods save. */
#include <math.h>
#include <stdio.h>

#include "tests/support.h"
#include "tests/validate/gossip_trial.h"

/* DOI 10.1109/CCGRID.2018.00043. */
#define PUBLISHED_TRAFFIC_PCT (-92.0)
#define PUBLISHED_TIME_PCT    (-52.0)

/* Asked [points]. */
#define NEAR_PCT      2.0
#define EQUAL_POINTS  0.5
#define FAILED_POINTS 3.0

enum { N_PERIODS = 8 /* 1, 2, .. 128 */, A = N_PERIODS, B, C_005, C_01, N_ENTRIES };
static const char *const rule_names[] = { "A 0.05/64", "B 0.1", "C 0.05", "C 0.1" };

static struct gossip_settings settings_of(int entry)
{
    switch (entry) {
    case A:
        return gossip_trial_rule(GOSSIP_RULE_DRIFT, 0.05, 64);
    case B:
        return gossip_trial_rule(GOSSIP_RULE_CONTROL, 0.1, 200);
    case C_005:
        return gossip_trial_rule(GOSSIP_RULE_RATE, 0.05, 200);
    case C_01:
        return gossip_trial_rule(GOSSIP_RULE_RATE, 0.1, 200);
    default:
        return gossip_trial_period(INT64_C(1) << entry);
    }
}

static void run_mesh(struct gossip_outcome found[N_ENTRIES], const struct gossip_trials *t,
                     enum gossip_sharding how)
{
    struct gossip_job jobs[N_ENTRIES];
    for (int i = 0; i < N_ENTRIES; i++)
        jobs[i] =
            (struct gossip_job){ .settings = settings_of(i), .network = GOSSIP_MESH_56, .sharding = how };
    gossip_run_jobs(found, t, jobs, N_ENTRIES);
}

/* ---- the pair ---- */

static void print_saved(const char *network, const struct gossip_outcome *base,
                        const struct gossip_outcome *x)
{
    struct stat_mean gain = gossip_gain(x->accuracy_pct, base->accuracy_pct);
    printf("| %s | %.2f | %.1f | %.1f | %.1f | %.2f ± %.2f |", network, gossip_mean(base->wait_pct),
           gossip_mean(x->wait_pct), gossip_change_pct(x->traffic_MB, base->traffic_MB),
           gossip_change_pct(x->time_s, base->time_s), gain.mean, gain.half);
}

static int print_two(const struct gossip_trials *t, const struct gossip_outcome mesh[N_ENTRIES])
{
    const struct gossip_job jobs[] = {
        { .settings = settings_of(0), .network = GOSSIP_SWITCH_56, .sharding = GOSSIP_IID },
        { .settings = settings_of(A), .network = GOSSIP_SWITCH_56, .sharding = GOSSIP_IID },
    };
    const struct gossip_outcome *base = &mesh[0], *x = &mesh[A];
    struct gossip_outcome on_switch[2];
    int wrong = 0;
    gossip_run_jobs(on_switch, t, jobs, 2);
    puts(
        "\n| network | period 1 waits % | rule waits % | traffic % | time % | accuracy, points | within 2, 2 "
        "and 0.5 points |\n"
        "|---|--:|--:|--:|--:|--:|---|\n"
        "| published | 56.5 (derived) | | -92 | -52 | \"preserved\" | |");
    print_saved("fully connected", base, x);
    bool near =
        fabs(gossip_change_pct(x->traffic_MB, base->traffic_MB) - PUBLISHED_TRAFFIC_PCT) <= NEAR_PCT &&
        fabs(gossip_change_pct(x->time_s, base->time_s) - PUBLISHED_TIME_PCT) <= NEAR_PCT &&
        fabs(gossip_gain(x->accuracy_pct, base->accuracy_pct).mean) <= EQUAL_POINTS;
    printf(" %s |\n", verdict(near, &wrong));
    print_saved("switch, ports serialise", &on_switch[0], &on_switch[1]);
    puts(" not asked |");
    return wrong;
}

/* ---- fixed periods ---- */

/* Of those whose mean accuracy is at most EQUAL_POINTS below that of period 1 the one that sends least. */
static int best_period(const struct gossip_outcome found[N_ENTRIES])
{
    int best = 0;
    for (int i = 1; i < N_PERIODS; i++)
        if (gossip_gain(found[i].accuracy_pct, found[0].accuracy_pct).mean >= -EQUAL_POINTS)
            best = i;
    return best;
}

static const char *name_of(char buf[32], int entry)
{
    if (entry < N_PERIODS)
        snprintf(buf, 32, "period %d", 1 << entry);
    else
        snprintf(buf, 32, "%s", rule_names[entry - N_PERIODS]);
    return buf;
}

static void print_front(const struct gossip_outcome found[N_ENTRIES], enum gossip_sharding how, int *wrong)
{
    char name[32];
    const int best = best_period(found);
    printf("\n%s, fully connected:\n\n"
           "| rule | traffic %% | time %% | accuracy %% | averaged %% | accuracy, points | |\n"
           "|---|--:|--:|--:|--:|--:|---|\n",
           how == GOSSIP_IID ? "IID shards" : "Shards by label");
    for (int i = 0; i < N_ENTRIES; i++) {
        struct stat_mean gain = gossip_gain(found[i].accuracy_pct, found[0].accuracy_pct);
        const bool fails = how == GOSSIP_SKEW && (i == A || i == B);
        printf("| %s | %.1f | %.1f | %.2f | %.2f | %.2f ± %.2f | %s", name_of(name, i),
               gossip_change_pct(found[i].traffic_MB, found[0].traffic_MB),
               gossip_change_pct(found[i].time_s, found[0].time_s), gossip_mean(found[i].accuracy_pct),
               gossip_mean(found[i].average_pct), gain.mean, gain.half,
               fails       ? "fails, as expected: "
               : i == best ? "best fixed period"
                           : "");
        printf("%s |\n", fails ? verdict(gain.mean < -FAILED_POINTS, wrong) : "");
    }
}

int gossip_print_pair(const struct gossip_trials *t)
{
    struct gossip_outcome iid[N_ENTRIES], skew[N_ENTRIES];
    run_mesh(iid, t, GOSSIP_IID);
    run_mesh(skew, t, GOSSIP_SKEW);
    puts(
        "\n### The published pair\n\n"
        "DOI 10.1109/CCGRID.2018.00043 reports 92 % less traffic and 52 % less time than gossip with a fixed "
        "period, accuracy preserved. No more is known of its experiment, so this is an illustration and no "
        "replication: if what is waited for follows traffic, communication was 0.52 / 0.92 = 56.5 % of its "
        "baseline's time, and a network with that share gives the second number from the first. The "
        "bandwidth is found by bisection on seeds 11 to 15 (6.15 MB/s an NPU fully connected, 1.825 on a "
        "switch). Rule A, theta 0.05, at the latest after 64 steps, against pairs every step, IID shards. On "
        "a switch part of the waiting is for a port that is taken, so waiting falls faster than traffic and "
        "more time is saved at the same share.");
    int wrong = print_two(t, iid);
    printf(
        "\nA longer fixed period saves as well. Below are all of them, against period 1; best is the one "
        "that sends least of those at most %.1f points less accurate, chosen on the same seeds. With shards "
        "by label, rules A and B are asked to lose more than %.0f points: after the rate of learning has "
        "gone down models hardly move, and these rules stop talking while models are still apart.\n",
        EQUAL_POINTS, FAILED_POINTS);
    print_front(iid, GOSSIP_IID, &wrong);
    print_front(skew, GOSSIP_SKEW, &wrong);
    return wrong;
}
