#include "tests/unit/test_plots_training.h"

TEST(designs_are_percent_over_cost_and_the_front_is_a_staircase)
{
    struct text s = { 0 };
    trained_script(&s, "mfu", trained_rows, 4);
    assert_drawn(text_str(&s), "2 40\n1 32\n", "with points ps 0.8 lw 1.2 lc rgb '#0072B2' pt 7");
    /* 32 % for one million, 40 % from two on, to the end of the axis: 4 % of 3 - 1 beyond 3. */
    assert_drawn(text_str(&s), "1 32\n2 32\n2 40\n3.12 40\n", "with lines lw 1.2 lc rgb '#000000'");
    assert_has(text_str(&s), "'network cost [M USD]' at");
    assert_has(text_str(&s), "'model FLOP/s utilisation [%]' at");
    assert_has(text_str(&s), "'Pareto front' at");
    assert_has(text_str(&s), "'deep' at");
    text_free(&s);
}

TEST(what_does_not_fit_is_hollow_and_never_on_the_front)
{
    struct text s = { 0 };
    trained_script(&s, "mfu", trained_rows, 4);
    assert_drawn(text_str(&s), "3 64\n", "with points ps 0.8 lw 1.2 lc rgb '#D55E00' pt 8");
    assert_has(text_str(&s), "; hollow: needs more memory");
    trained_script(&s, "mfu", trained_rows, 2);
    assert_lacks(text_str(&s), "hollow");
    /* With nothing that fits there is no front at all. */
    trained_script(&s, "mfu", &trained_rows[2], 1);
    assert_drawn(text_str(&s), "3 64\n", "pt 6");
    text_free(&s);
}

TEST(the_front_tells_its_plans_where_they_change)
{
    struct trained rows[] = { trained_rows[1], trained_rows[0], trained_rows[0] };
    struct text s = { 0 };
    rows[2].cost_usd = 4e6;
    rows[2].mfu = 0.5;
    trained_script(&s, "mfu", rows, 3);
    assert_has(text_str(&s), "'dp 16, selective recompute, batch 128; labels: the plan where it changes");
    const char *label = strstr(text_str(&s), "'tp 2, pp 2, mb 1×8' at");
    assert_non_null(label);
    assert_lacks(label + 1, "'tp 2, pp 2, mb 1×8' at");
    assert_has(text_str(&s), "'tp 4, mb 2×4' at");
    text_free(&s);
}

TEST(a_single_plan_is_said_once)
{
    struct text s = { 0 };
    trained_script(&s, "mfu", trained_rows, 1);
    assert_has(text_str(&s), "'tp 2, dp 16, pp 2, mb 1×8, selective recompute, batch 128' at");
    assert_lacks(text_str(&s), "labels:");
    text_free(&s);
}

TEST(costs_that_differ_by_rounding_are_one)
{
    struct trained rows[] = { trained_rows[0], trained_rows[1] };
    struct text s = { 0 };
    rows[1].cost_usd = rows[0].cost_usd * (1 - 1e-12);
    trained_script(&s, "mfu", rows, 2);
    assert_drawn(text_str(&s), "2 40\n2.08 40\n", "lc rgb '#000000'");
    assert_has(text_str(&s), "set xrange [0:2.08]");
    text_free(&s);
}

TEST(each_workload_has_a_panel)
{
    struct trained rows[] = { trained_rows[0], trained_rows[1] };
    struct text s = { 0 };
    rows[1].workload = "Mixtral";
    trained_script(&s, "mfu", rows, 2);
    assert_has(text_str(&s), "'GPT-3' at");
    assert_has(text_str(&s), "'Mixtral' at");
    assert_drawn(text_str(&s), "1 32\n1.04 32\n", "lc rgb '#000000'");
    text_free(&s);
}

TEST(without_a_price_nothing_is_drawn)
{
    struct trained row = trained_rows[0];
    struct plot_options opt = { 0 };
    struct text out = { 0 };
    struct table t;
    row.cost_usd = (double)NAN;
    trained_table(&t, &row, 1);
    FAILS(plot_script("mfu", &t, &opt, &out, e), ERR_PARSE,
          "figure mfu: rows to draw: is 0 of 1 (1 pass the filter, 1 of those are solved but lack a value)");
    text_free(&out);
    table_free(&t);
}
