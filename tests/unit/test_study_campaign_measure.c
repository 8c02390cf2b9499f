/* How long a point takes, measured before a sweep begins. */
#include "study/campaign.h"
#include "tests/unit/designs.h"
#include "tests/unit/folder.h"

enum { MOST = 256 * 64 }; /* units that are tried, points in one */

static const struct {
    const char *text;
    bool pruned;
} studies[] = {
    /* Quick points, many to a unit. */
    { "vary: { total_GBps: { from: 20, to: 1000, points: 5000 }, model: [ bandwidth, alpha-beta ] }\n",
      false },
    /* Slow ones, each a unit. */
    { "model: chunk\nvary: { total_GBps: { from: 20, to: 110, points: 91 } }\n", false },
    /* None can be read; none passes. */
    { "vary: { network: [ none.yaml, other.yaml ], total_GBps: [ 1, 2 ] }\n", false },
    { "vary: { total_GBps: [ 1, 2 ] }\nwhere: [ total_GBps >= 3 ]\n", false },
    { "vary: { total_GBps: { from: 20, to: 1000, points: 5000 } }\n"
      "keep: { front: [ time_s, total_GBps ], prune: true }\n",
      true },
};

TEST(a_sweep_is_measured_on_points_of_its_own)
{
    static const char base[] = "network: ring:4 switch:8\n"
                               "workload: { name: A, step: { all-reduce: { size_MB: 8, group: all } } }\n";
    FOLDER(f);
    for (size_t i = 0; i < COUNT_OF(studies); i++) {
        KEEP(struct study, w, study_close);
        struct campaign_pace pace;
        TEXT(study, "%s%s", base, studies[i].text);
        OK(designs_open(&w, put(&f, "study.yaml", text_str(&study)), NULL, 0, e));
        OK(campaign_measure(&pace, &w, 0.02, e));
        assert_in_range(pace.n, 1, MOST);
        assert_int_equal(pace.at_most, studies[i].pruned);
        /* What may be spent, and not much more than a unit beyond it, on a machine that is busy. */
        assert_true(pace.point_s > 0 && pace.point_s * (double)pace.n < 5);
        OK(campaign_measure(&pace, &w, 0, e));
        assert_true(pace.n == 0 && isnan(pace.point_s));
    }
}
