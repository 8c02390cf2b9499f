#include "tests/unit/test_plots_training.h"

#define HUE_TP      "fc rgb '#0072B2'"
#define HUE_DP      "fc rgb '#D55E00'"
#define GREY_BUBBLE "fc rgb '#666666'"

TEST(parts_are_stacked_to_the_length_of_the_step)
{
    struct text s = { 0 };
    trained_script(&s, "breakdown", trained_rows, 4);
    /* x_lo y_lo x_hi y_hi, a row each: useful, recomputation, optimizer, bubble, tp, dp, pp, other. */
    assert_drawn(text_str(&s), "0 0.88 4 0.12\n0 1.88 4 1.12\n0 2.88 4 2.12\n", "fc rgb '#FFFFFF'");
    assert_drawn(text_str(&s), "4 0.88 4.5 0.12\n4 1.88 4.5 1.12\n4 2.88 4.5 2.12\n", "fc rgb '#DDDDDD'");
    assert_drawn(text_str(&s), "4.5 0.88 4.75 0.12\n", "fc rgb '#AAAAAA'");
    assert_drawn(text_str(&s), "4.75 0.88 5.75 0.12\n", GREY_BUBBLE);
    assert_drawn(text_str(&s), "5.75 0.88 6.75 0.12\n4.5 1.88 10 1.12\n", HUE_TP);
    assert_drawn(text_str(&s), "6.75 0.88 7.25 0.12\n4.5 2.88 5 2.12\n", HUE_DP);
    assert_drawn(text_str(&s), "7.25 0.88 7.5 0.12\n", "fc rgb '#56B4E9'");
    assert_drawn(text_str(&s), "7.5 0.88 8 0.12\n", "fc rgb '#FFFFFF'");
    text_free(&s);
}

TEST(the_legend_has_the_parts_that_occur_and_the_axis_its_unit)
{
    static const char *const has[] = { "'useful compute' at", "'recomputation' at",
                                       "'optimizer' at",      "'pipeline bubble' at",
                                       "'exposed: tp' at",    "'exposed: dp' at",
                                       "'exposed: pp' at",    "'time of a training step [s]' at",
                                       "'other' at" };
    struct text s = { 0 };
    trained_script(&s, "breakdown", trained_rows, 4);
    for (size_t i = 0; i < COUNT_OF(has); i++)
        assert_has(text_str(&s), has[i]);
    assert_lacks(text_str(&s), "exposed: cp");
    assert_lacks(text_str(&s), "exposed: ep");
    trained_script(&s, "breakdown", &trained_rows[1], 1);
    assert_lacks(text_str(&s), "pipeline bubble");
    assert_lacks(text_str(&s), "'other' at");
    text_free(&s);
}

TEST(labels_are_what_differs_and_the_rest_is_said_once)
{
    struct text s = { 0 };
    trained_script(&s, "breakdown", trained_rows, 4);
    assert_has(text_str(&s), "'flat · tp 2, dp 16, pp 2, mb 1×8' at");
    assert_has(text_str(&s), "'deep · tp 2, dp 32, mb 1×4' at");
    assert_has(text_str(&s), "; GPT-3 · 100 GB/s");
    assert_has(text_str(&s), "selective recompute, batch 128' at");
    assert_has(text_str(&s), "'8 s' at");
    text_free(&s);
}

TEST(what_the_memory_cannot_hold_has_a_star)
{
    struct text s = { 0 };
    trained_script(&s, "breakdown", trained_rows, 4);
    assert_has(text_str(&s), "'5 s *' at");
    assert_has(text_str(&s),
               "'exposed: beyond the compute that runs beside it; *: needs more memory than an NPU has; ");
    trained_script(&s, "breakdown", trained_rows, 2);
    assert_lacks(text_str(&s), "memory");
    text_free(&s);
}

TEST(an_axis_that_no_column_shows_is_in_the_label)
{
    struct trained rows[] = { trained_rows[0], trained_rows[0] };
    struct text s = { 0 };
    rows[1].batch = 256;
    trained_script(&s, "breakdown", rows, 2);
    assert_has(text_str(&s), "'batch 128' at");
    assert_has(text_str(&s), "'batch 256' at");
    text_free(&s);
}

TEST(long_names_and_plans_are_shortened_and_still_differ)
{
    struct trained rows[] = { trained_rows[0], trained_rows[1] };
    struct text s = { 0 };
    rows[0].network = "a network with a name that is as long as a sentence, number 1";
    rows[1].network = "a network with a name that is as long as a sentence, number 2";
    rows[0].workload = "a workload with a name that is as long as a sentence, number 1";
    rows[1].workload = "a workload with a name that is as long as a sentence, number 2";
    trained_script(&s, "breakdown", rows, 2);
    assert_has(text_str(&s), "'a network … number 1 · a workload… number 1 · tp 2, pp 2' at");
    assert_has(text_str(&s), "'a network … number 2 · a workload… number 2 · tp 4' at");
    assert_has(text_str(&s), "'10 s' at");
    text_free(&s);
}

TEST(many_designs_are_cut_and_those_longer_than_the_step_said)
{
    struct trained rows[30];
    struct text s = { 0 };
    for (int i = 0; i < 30; i++) {
        rows[i] = trained_rows[0];
        rows[i].total_GBps = 100 + i;
    }
    rows[3].bubble_s = 4;
    trained_script(&s, "breakdown", rows, 30);
    assert_has(text_str(&s), "1 bars are longer than the step, whose parts overlap");
    assert_has(text_str(&s), "first 24 of 30 designs");
    assert_has(text_str(&s), "'123 GB/s' at");
    assert_lacks(text_str(&s), "'124 GB/s' at");
    text_free(&s);
}

TEST(what_cannot_be_drawn_says_why)
{
    static const struct {
        struct trained row;
        const char *want;
    } cases[] = {
        { { .status = "error", .tp = 1, .pp = 1, .batch = 1 },
          "figure breakdown: rows to draw: is 0 of 1 (1 pass the filter, 0 of those are solved but lack a "
          "value)" },
        { { .network = "n",
            .workload = "w",
            .status = "solved",
            .plan = "",
            .fits = "",
            .time_s = 1,
            .useful_s = (double)NAN },
          "figure breakdown: rows to draw: is 0 of 1 (1 pass the filter, 1 of those are solved but lack a "
          "value)" },
        { { .network = "n", .workload = "w", .status = "solved", .plan = "", .fits = "", .time_s = 0 },
          "figure breakdown: row 1, column time_s: is 0, need above 0" },
        { { .network = "n",
            .workload = "w",
            .status = "solved",
            .plan = "",
            .fits = "",
            .time_s = 1,
            .dp_s = -1 },
          "figure breakdown: row 1, column dp_s: is -1, need at least 0" },
    };
    struct plot_options opt = { 0 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text out = { 0 };
        struct table t;
        trained_table(&t, &cases[i].row, 1);
        FAILS(plot_script("breakdown", &t, &opt, &out, e), ERR_PARSE, cases[i].want);
        text_free(&out);
        table_free(&t);
    }
}

TEST(a_sweep_that_trains_nothing_is_told_from_one_that_does)
{
    static const char *const figures[][2] = { { "breakdown", "plan" }, { "mfu", "plan" }, { "plans", "tp" } };
    struct plot_options opt = { 0 };
    struct table t;
    sample_table(&t, sample_rows, COUNT_OF(sample_rows));
    for (size_t i = 0; i < COUNT_OF(figures); i++) {
        struct text out = { 0 }, want = { 0 };
        text_printf(&want,
                    "figure %s: column %s: is missing, need it in the CSV of weft sweep of a trained model",
                    figures[i][0], figures[i][1]);
        FAILS(plot_script(figures[i][0], &t, &opt, &out, e), ERR_PARSE, text_str(&want));
        text_free(&out);
        text_free(&want);
    }
    table_free(&t);
}

TEST(the_three_draw_in_every_format)
{
    static const char *const figures[] = { "breakdown", "mfu", "plans" };
    struct table t;
    trained_table(&t, trained_rows, COUNT_OF(trained_rows));
    for (size_t i = 0; i < COUNT_OF(figures); i++)
        for (int f = PLOT_SVG; f <= PLOT_PNG; f++) {
            struct plot_options opt = { .format = (enum plot_format)f };
            struct text image = { 0 };
            OK(plot_draw(figures[i], &t, &opt, &image, e));
            assert_true(image.n > 1000);
            text_free(&image);
        }
    table_free(&t);
}
