/* Grids of bandwidths whose survivors are known beforehand: of a ring of 4 and a switch of 8 an all-reduce
 * of M bytes takes max(3/2 M/a, 7/16 M/b). */
#include "study/campaign.h"
#include "tests/unit/designs.h"
#include "tests/unit/folder.h"

enum { MOST_POINTS = 16 };

/* The points that are kept, ascending; returns how many. @p grid: are they found by a grid? */
static int kept_of(int64_t point[MOST_POINTS], const char *study, bool grid)
{
    FOLDER(f);
    KEEP(struct study, w, study_close);
    KEEP(struct campaign, c, campaign_close);
    KEEP(struct table, rows, table_free) = { 0 };
    const struct campaign_ask ask = {
        .study = &w, .shard = 1, .n_shards = 1, .threads = 1, .command = "", .version = ""
    };
    MUST(designs_open(&w, put(&f, "study.yaml", study), NULL, 0, e));
    MUST(campaign_open(&c, &ask, e));
    assert_int_equal(c.plan.order.most, grid ? 1 << 20 : 64);
    MUST(campaign_run(&c, e));
    assert_int_equal(c.state.done.seen, w.sweep.n_points);
    struct store_walk walk = store_walk_all(STORE_RESULTS, true);
    MUST(store_next(c.store, &walk, MOST_POINTS, &rows, e));
    int n = (int)rows.n_rows;
    for (int i = 0; i < n; i++)
        point[i] = table_cell(&rows, i, 0)->count;
    return n;
}

#define STUDY                                                                                                \
    "split: given\nparts: { name: p, rates: [ { tier: A, link_usd_per_GBps: 4 }, { tier: B,\n"               \
    "  link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 } ] }\n"                          \
    "network: { dims: [ { name: a, shape: ring, size: 4, tier: A, bw_GBps: 1, max_GBps: 5000 },\n"           \
    "  { name: b, shape: switch, size: 8, tier: B, bw_GBps: 1 } ] }\n"                                       \
    "workload: { name: toy, step: { all-reduce: { size_MB: 100, group: all } } }\n"

/* 100 GB/s take 1.5 ms, a little more than the limit lets pass, but less than sums in another order may
 * differ by. All else in the first unit is faster and dearer; what is best comes in the second. */
TEST(a_point_barely_beyond_a_limit_hides_none)
{
    int64_t point[MOST_POINTS];
    TEXT(study, STUDY "vary:\n  network.dims.a.bw_GBps: [ 100");
    for (int i = 1; i <= 1049; i++)
        text_printf(&study, ", %d", 500 + i);
    text_puts(&study, ", 101 ]\n  network.dims.b.bw_GBps: { from: 100, to: 1099, step: 1 }\n"
                      "keep: { front: [cost_usd, total_GBps], where: [ time_s <= 0.0014999999965 ] }\n");
    assert_true(kept_of(point, text_str(&study), true) == 1 && point[0] == 1050 * 1000);
}

/* 0.1 + 0.2 is within 0.3: in `where`, and in `keep.where` of points one by one and of a grid. */
TEST(a_limit_of_keep_is_that_of_where)
{
    static const struct {
        const char *rule;
        bool grid;
    } cases[] = {
        { "where: [ a.bw_GBps + b.bw_GBps <= 0.3 ]\nkeep: { where: [ time_s <= 1e9 ] }\n", false },
        { "keep: { where: [ total_GBps <= 0.3, speedup >= 0 ] }\n", false },
        { "keep: { where: [ total_GBps <= 0.3 ] }\n", true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t point[MOST_POINTS];
        TEXT(study,
             STUDY "vary:\n  network.dims.a.bw_GBps: { from: 0.1, to: 2, step: 0.1 }\n"
                   "  network.dims.b.bw_GBps: { from: 0.1, to: 2, step: 0.1 }\n%s",
             cases[i].rule);
        assert_int_equal(kept_of(point, text_str(&study), cases[i].grid), 3);
        assert_true(point[0] == 0 && point[1] == 1 && point[2] == 20);
    }
}

/* 10^6 GB/s at most: faster ones are errors, each in a row, and hide nothing. */
TEST(a_bandwidth_that_no_study_takes_is_no_point_of_a_grid)
{
    int64_t point[MOST_POINTS];
    assert_int_equal(
        kept_of(point,
                STUDY "vary:\n  network.dims.a.bw_GBps: { from: 1, to: 20, step: 1 }\n"
                      "  network.dims.b.bw_GBps: [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,\n"
                      "    16, 2e6, 3e6, 4e6, 5e6 ]\n"
                      "keep: { top: { by: time_s, n: 3 } }\n",
                false),
        3);
    /* Of 20 GB/s a takes longer than b of 6 and more: 150/20 > 43.75/6. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(point[i], 19 * 20 + 5 + i);
}

/* The second of three units begins with points that a cap forbids; all are a grid. 50 GB/s are the least, and
 * the cheapest. */
TEST(a_unit_that_begins_with_what_is_no_study_is_a_grid_too)
{
    int64_t point[MOST_POINTS];
    TEXT(study, STUDY "vary:\n  network.dims.a.bw_GBps: [ 100");
    for (int i = 1; i < 2200; i++)
        text_printf(&study, ", %d", i < 1047 ? 100 + i : i < 1050 ? 9000 : i - 1000);
    text_puts(&study, " ]\n  network.dims.b.bw_GBps: { from: 100, to: 1099, step: 1 }\n"
                      "keep: { front: [cost_usd, total_GBps] }\n");
    assert_true(kept_of(point, text_str(&study), true) == 1 && point[0] == 1050 * 1000);
}

/* Such a network is called by its bandwidths: no two points are of one group, and each is kept. */
TEST(points_of_a_network_without_a_name_are_held_apart_by_it)
{
    int64_t point[MOST_POINTS];
    int n = kept_of(point,
                    STUDY "vary:\n  network.dims.a.bw_GBps: { from: 1, to: 20, step: 1 }\n"
                          "  network.dims.b.bw_GBps: { from: 1, to: 20, step: 1 }\n"
                          "keep: { front: [time_s, cost_usd], per: [network] }\n",
                    false);
    assert_int_equal(n, MOST_POINTS); /* that are read; of the front alone point 1 is none */
    for (int i = 0; i < n; i++)
        assert_int_equal(point[i], i);
}

/* Draws of what is uncertain are of each point by itself, which no grid has. Of 20 GB/s a takes longer than b
 * of 6. */
TEST(points_of_an_uncertain_study_are_no_grid)
{
    for (int uncertain = 0; uncertain < 2; uncertain++) {
        int64_t point[MOST_POINTS];
        TEXT(study,
             STUDY
             "%svary:\n  network.dims.a.bw_GBps: { from: 1, to: 20, step: 1 }\n"
             "  network.dims.b.bw_GBps: { from: 1, to: 20, step: 1 }\nkeep: { top: { by: time_s, n: 1 } }\n",
             uncertain
                 ? "uncertain: { draws: 8, keys: { network.dims.a.efficiency: { uniform: [0.5, 1] } } }\n"
                 : "");
        assert_int_equal(kept_of(point, text_str(&study), !uncertain), 1);
        assert_int_equal(point[0], 19 * 20 + 5);
    }
}
