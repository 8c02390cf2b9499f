#include "tests/unit/test_plots_sample.h"

#include "plots/figure.h"

static int make_table(void **state)
{
    static struct table t;
    sample_table(&t, sample_rows, COUNT_OF(sample_rows));
    *state = &t;
    return 0;
}

static int free_table(void **state)
{
    table_free(*state);
    return 0;
}

static void script_of(struct text *out, const char *figure, const struct table *t,
                      const struct plot_options *opt)
{
    struct err e = { 0 };
    text_clear(out);
    assert_ok(plot_script(figure, t, opt, out, &e), &e);
}

/* Figures of any sweep come first in the list; those of other tables have tests of their own. */
static int32_t count_design_figures(void)
{
    int32_t n = 0;
    while (n < plot_n_figures && !plot_figures[n].source)
        n++;
    for (int32_t i = n; i < plot_n_figures; i++) {
        assert_non_null(plot_figures[i].build);
        assert_non_null(plot_figures[i].source);
    }
    return n;
}

/* What every figure of designs must show, in the words that its SVG holds. */
static const struct {
    const char *figure, *title, *unit, *legend[3];
} shown[] = {
    { "speedup",
      "Speedup over the equal split",
      "speedup over the equal split [×]",
      { "equal split", "optimised for time", "optimised for perf per cost" } },
    { "cost",
      "Network cost and performance per cost",
      "cost [M USD]",
      { "equal split", "optimised for time", "optimised for perf per cost" } },
    { "perf_per_cost",
      "Performance per cost against the bandwidth budget",
      "bandwidth budget [GB/s per NPU]",
      { "equal split", "optimised for time", "optimised for perf per cost" } },
    { "split", "Bandwidth split over the dimensions", "bandwidth [GB/s per NPU]", { "chip", "node", "pod" } },
    { "time",
      "Time of a training step",
      "time of a training step [s]",
      { "compute", "exposed: chip", "exposed: pod" } },
    { "utilization",
      "Utilisation of the dimensions",
      "share of the step that the dimension is busy [%]",
      { "chip", "node", "pod" } },
    { "pareto",
      "Performance against network cost",
      "performance [steps/s]",
      { "Pareto front", "flat", "deep" } },
    { "nic",
      "NIC bandwidth against the number of dimensions",
      "NIC bandwidth [GB/s per NPU]",
      { "optimised for time", "optimised for perf per cost", "number of dimensions" } },
};

TEST_WITH(every_figure_draws_an_svg_with_title_unit_and_legend, make_table, free_table)
{
    struct plot_options opt = { .format = PLOT_SVG };
    assert_int_equal(COUNT_OF(shown), count_design_figures());
    for (size_t i = 0; i < COUNT_OF(shown); i++) {
        struct text image = { 0 };
        assert_string_equal(plot_figures[i].name, shown[i].figure);
        OK(plot_draw(shown[i].figure, *state, &opt, &image, e));
        assert_has(text_str(&image), "<svg");
        assert_has(text_str(&image), "</svg>");
        assert_has(text_str(&image), shown[i].title);
        assert_has(text_str(&image), shown[i].unit);
        for (size_t k = 0; k < COUNT_OF(shown[i].legend); k++)
            assert_has(text_str(&image), shown[i].legend[k]);
        text_free(&image);
    }
}

TEST_WITH(every_figure_draws_png_and_pdf, make_table, free_table)
{
    static const char *const signatures[] = { "<?xml", "%PDF-", "\x89PNG\r\n\x1a\n" };
    for (int32_t i = 0; i < count_design_figures(); i++)
        for (int f = PLOT_PDF; f <= PLOT_PNG; f++) {
            struct plot_options opt = { .format = (enum plot_format)f };
            struct text image = { 0 };
            OK(plot_draw(plot_figures[i].name, *state, &opt, &image, e));
            assert_true(image.n > 1000);
            assert_memory_equal(image.s, signatures[f], strlen(signatures[f]));
            text_free(&image);
        }
}

TEST_WITH(the_same_table_gives_the_same_bytes, make_table, free_table)
{
    for (int f = PLOT_SVG; f <= PLOT_PNG; f++) {
        struct plot_options opt = { .format = (enum plot_format)f };
        struct text image[2] = { { 0 }, { 0 } };
        for (int k = 0; k < 2; k++)
            OK(plot_draw("split", *state, &opt, &image[k], e));
        assert_int_equal(image[0].n, image[1].n);
        assert_memory_equal(image[0].s, image[1].s, image[0].n);
        if (f == PLOT_PDF) {
            /* Found at all: cairo still writes its date in the open. */
            bool fixed = false;
            for (size_t i = 0; i + 31 <= image[0].n && !fixed; i++)
                fixed = memcmp(image[0].s + i, "/CreationDate (D:19700101000000", 31) == 0;
            assert_true(fixed);
        }
        text_free(&image[0]);
        text_free(&image[1]);
    }
}

TEST_WITH(speedup_has_a_panel_per_network_and_workload_and_the_given_values, make_table, free_table)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, "speedup", *state, &opt);
    assert_drawn(text_str(&s), "100 2\n200 1.25\n", "linespoints lw 1.6 lc rgb '#0072B2'");
    assert_drawn(text_str(&s), "100 1.25\n", "#D55E00");
    assert_drawn(text_str(&s), "100 1\n200 1\n", "#555555");
    assert_drawn(text_str(&s), "100 4\n", "#0072B2");
    assert_has(text_str(&s), "set label 'deep'");
    assert_has(text_str(&s), "set label 'MSFT-1T'");
    assert_has(text_str(&s), "set label 'network bandwidth [GB/s per NPU]'");
    text_free(&s);
}

TEST_WITH(cost_shows_millions_and_the_gain_below, make_table, free_table)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, "cost", *state, &opt);
    assert_drawn(text_str(&s), "100 2\n200 4\n", "#0072B2");
    assert_drawn(text_str(&s), "100 4\n200 8\n", "#555555");
    assert_drawn(text_str(&s), "100 4\n200 2.5\n", "#0072B2"); /* 2 x (4/2), 1.25 x (8/4) */
    assert_drawn(text_str(&s), "100 24\n", "#0072B2");
    assert_has(text_str(&s), "set label 'perf/cost [×]'");
    text_free(&s);
}

TEST_WITH(perf_per_cost_shows_the_gain_over_the_equal_split, make_table, free_table)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, "perf_per_cost", *state, &opt);
    assert_drawn(text_str(&s), "100 4\n200 2.5\n", "#0072B2");
    assert_drawn(text_str(&s), "100 5\n", "#D55E00");
    text_free(&s);
}

TEST(where_designs_share_a_place_the_best_is_shown_and_the_rest_counted)
{
    struct sample rows[4] = { sample_rows[0], sample_rows[0], sample_rows[1], sample_rows[0] };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    struct table t;
    rows[0].time_s = 0.8;  /* speedup 1.25 */
    rows[3].time_s = 0.25; /* speedup 4 */
    rows[3].cost_usd = 9e6;
    sample_table(&t, rows, 4);
    script_of(&s, "speedup", &t, &opt);
    assert_drawn(text_str(&s), "100 4\n200 1.25\n", "#0072B2");
    assert_has(text_str(&s), "set label '2 designs are hidden by a better one at the same place'");
    script_of(&s, "cost", &t, &opt);
    assert_drawn(text_str(&s), "100 2\n200 4\n", "#0072B2");
    text_free(&s);
    table_free(&t);
}

TEST_WITH(split_stacks_bandwidths_from_the_inside_out, make_table, free_table)
{
    static const struct plot_where where[] = { { "total_GBps", "100" }, { "objective", "time" } };
    struct plot_options opt = { .where = where, .n_where = 2 };
    struct text s = { 0 };
    script_of(&s, "split", *state, &opt);
    /* Rows: flat GPT-3, flat MSFT-1T, deep GPT-3; columns x_lo y_lo x_hi y_hi. */
    assert_drawn(text_str(&s), "0 2.88 60 2.12\n", "#0072B2");
    assert_drawn(text_str(&s), "0 0.88 80 0.12\n0 1.88 70 1.12\n60 2.88 98 2.12\n", "#E69F00");
    assert_drawn(text_str(&s), "80 0.88 100 0.12\n70 1.88 100 1.12\n98 2.88 100 2.12\n", "#F0E442");
    assert_has(text_str(&s), "'flat · GPT-3'");
    assert_has(text_str(&s), "'deep · GPT-3'");
    assert_has(text_str(&s), "'60 | 38 | 2'");
    assert_has(text_str(&s), "'100 GB/s per NPU · time'");
    text_free(&s);
}

TEST(time_stacks_compute_exposed_communication_and_what_is_left)
{
    struct sample rows[2] = { sample_rows[0], sample_rows[4] };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    struct table t;
    rows[1].time_s = 2.5; /* half a second more than compute and communication */
    sample_table(&t, rows, 2);
    script_of(&s, "time", &t, &opt);
    assert_drawn(text_str(&s), "0 0.88 0.3 0.12\n0 1.88 1 1.12\n", "#FFFFFF");
    assert_drawn(text_str(&s), "0.3 0.88 0.45 0.12\n1 1.88 1.7 1.12\n", "#0072B2");
    assert_drawn(text_str(&s), "0.45 0.88 0.5 0.12\n1.7 1.88 2 1.12\n", "#E69F00");
    assert_drawn(text_str(&s), "2 1.88 2.5 1.12\n", "#FFFFFF");
    assert_has(text_str(&s), "set label 'other'");
    assert_has(text_str(&s), "'500 ms'");
    assert_has(text_str(&s), "'2.5 s'");
    rows[1].time_s = 1.5;
    table_free(&t);
    sample_table(&t, rows, 2);
    script_of(&s, "time", &t, &opt);
    assert_null(strstr(text_str(&s), "'other'"));
    assert_has(text_str(&s), "1 bars are longer than the step, whose parts overlap");
    text_free(&s);
    table_free(&t);
}

TEST_WITH(utilization_has_a_bar_per_dimension_in_percent, make_table, free_table)
{
    static const struct plot_where where[] = { { "point", "1" }, { "point", "6" } };
    struct plot_options opt = { .where = where, .n_where = 2 };
    struct text s = { 0 };
    script_of(&s, "utilization", *state, &opt);
    assert_drawn(text_str(&s), "0 1.373333333 20 1.12\n", "#0072B2");
    assert_drawn(text_str(&s), "0 0.5 40 0.12\n0 1.626666667 10 1.373333333\n", "#E69F00");
    assert_has(text_str(&s), "set xrange [0:100]");
    text_free(&s);
}

TEST_WITH(pareto_front_is_the_staircase_of_undominated_designs, make_table, free_table)
{
    static const struct plot_where where[] = { { "workload", "GPT-3" } };
    struct plot_options opt = { .where = where, .n_where = 1 };
    struct text s = { 0 };
    script_of(&s, "pareto", *state, &opt);
    /* (M USD, steps/s): optima (2, 2) (4, 2.5) (1, 1.25) (0.5, 4), equal splits (4, 1) (8, 2) (4, 1) (3, 1):
     * the last optimum beats all. The axis ends 4 % beyond 8. */
    assert_drawn(text_str(&s), "0.5 4\n8.32 4\n", "lines lw 1.2 lc rgb '#000000'");
    assert_drawn(text_str(&s), "2 2\n4 2.5\n1 1.25\n", "pt 7");
    assert_drawn(text_str(&s), "4 1\n8 2\n4 1\n", "pt 6");
    assert_drawn(text_str(&s), "0.5 4\n", "pt 9");
    text_free(&s);

    struct plot_where flat[] = { { "workload", "GPT-3" }, { "network", "flat" } };
    opt = (struct plot_options){ .where = flat, .n_where = 2 };
    script_of(&s, "pareto", *state, &opt);
    assert_drawn(text_str(&s), "1 1.25\n2 1.25\n2 2\n4 2\n4 2.5\n8.32 2.5\n", "lines");
    text_free(&s);
}

TEST_WITH(nic_is_drawn_at_the_total_that_most_designs_have, make_table, free_table)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, "nic", *state, &opt);
    /* Four designs at 100 GB/s, two at 200. */
    assert_drawn(text_str(&s), "2 20\n3 2\n", "#0072B2");
    assert_drawn(text_str(&s), "2 5\n", "#D55E00");
    assert_drawn(text_str(&s), "2 30\n", "#0072B2");
    assert_has(text_str(&s), "at 100 GB/s per NPU in all dimensions together");
    assert_has(text_str(&s), "2 designs of other totals are left out");
    text_free(&s);
}

TEST(long_lists_are_cut_and_the_figure_says_so)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    struct sample rows[40];
    char names[40][16];
    struct table t;
    for (int i = 0; i < 40; i++) {
        rows[i] = sample_rows[i % 2 ? 0 : 4];
        snprintf(names[i], sizeof names[i], "w%d", i);
        rows[i].workload = names[i];
        rows[i].network = names[39 - i];
    }
    sample_table(&t, rows, 40);
    script_of(&s, "split", &t, &opt);
    assert_has(text_str(&s), "first 24 of 40 designs");
    assert_has(text_str(&s), "w23");
    assert_null(strstr(text_str(&s), "· w24"));
    script_of(&s, "speedup", &t, &opt);
    assert_has(text_str(&s), "first 5 of 40 workloads");
    assert_has(text_str(&s), "first 6 of 40 networks");
    script_of(&s, "pareto", &t, &opt);
    assert_has(text_str(&s), "first 9 of 40");
    assert_has(text_str(&s), "legend: first 24 entries");
    text_free(&s);
    table_free(&t);
}

/* How often the first setting of this name stands in the script with the same value. */
static int uses_of_first(const char *script, const char *setting)
{
    char line[64];
    const char *at = strstr(script, setting);
    assert_non_null(at);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n") + 1, at);
    int n = 0;
    for (const char *s = script; (s = strstr(s, line)); s++)
        n++;
    return n;
}

TEST(four_workloads_are_two_rows_of_two_panels)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    struct sample rows[COUNT_OF(names)];
    struct table t;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        rows[i] = sample_rows[0];
        rows[i].workload = names[i];
    }
    sample_table(&t, rows, COUNT_OF(names));
    script_of(&s, "pareto", &t, &opt);
    assert_int_equal(uses_of_first(text_str(&s), "set lmargin"), 2);
    assert_int_equal(uses_of_first(text_str(&s), "set tmargin"), 2);
    text_free(&s);
    table_free(&t);
}

TEST(designs_that_look_alike_are_told_apart_by_their_row)
{
    struct sample rows[2] = { sample_rows[0], sample_rows[0] };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    struct table t;
    sample_table(&t, rows, 2);
    script_of(&s, "time", &t, &opt);
    assert_has(text_str(&s), "set label 'row 1'");
    assert_has(text_str(&s), "set label 'row 2'");
    text_free(&s);
    table_free(&t);
}

TEST_WITH(title_and_size_can_be_chosen, make_table, free_table)
{
    struct plot_options opt = { .title = "Ours: 50% {x}_y", .width_px = 400, .height_px = 600 };
    struct text s = { 0 };
    script_of(&s, "speedup", *state, &opt);
    assert_has(text_str(&s), "set label 'Ours: 50% {x}_y'");
    assert_has(text_str(&s), "svg size 400,600 noenhanced");
    assert_null(strstr(text_str(&s), "'Speedup over the equal split'"));
    opt.format = PLOT_PNG;
    script_of(&s, "speedup", *state, &opt);
    assert_has(text_str(&s), "pngcairo size 800,1200 noenhanced");
    opt.format = PLOT_PDF;
    script_of(&s, "speedup", *state, &opt);
    assert_has(text_str(&s), "pdfcairo size 4.16667in,6.25in noenhanced");
    text_free(&s);
}

TEST(names_from_the_csv_are_shown_literally_in_every_place)
{
    static const char evil[] = "a\"; system(\"id\"); \"_^{b}@&~'`%d\\", dims[] = "in_{'n%er|o\\ut&";
    struct sample row = sample_rows[0];
    struct table t;
    row.network = row.workload = row.objective = evil;
    row.dims = dims;
    sample_table(&t, &row, 1);
    for (int32_t i = 0; i < count_design_figures(); i++) {
        struct plot_options opt = { .width_px = 1600 };
        struct text image = { 0 };
        OK(plot_draw(plot_figures[i].name, &t, &opt, &image, e));
        assert_has(text_str(&image), "a\"; system(\"id\"); \"_^{b}@&amp;~'`%d\\");
        assert_null(strstr(text_str(&image), "uid="));
        for (const char *const *column = plot_figures[i].columns; *column; column++)
            if (strchr(*column, '#'))
                assert_has(text_str(&image), "in_{'n%er");
        text_free(&image);
    }
    table_free(&t);
}

TEST(rows_without_a_value_are_noted_in_the_figure)
{
    struct sample rows[2] = { sample_rows[0], sample_rows[1] };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    struct table t;
    rows[1].nic_GBps = (double)NAN;
    sample_table(&t, rows, 2);
    script_of(&s, "nic", &t, &opt);
    assert_has(text_str(&s), "1 solved designs lack a value and are left out");
    text_free(&s);
    table_free(&t);
}

TEST_WITH(a_request_that_cannot_be_drawn_says_why, make_table, free_table)
{
    static const struct {
        const char *figure;
        struct plot_options opt;
        int want;
        const char *words;
    } cases[] = {
        { "speeedup", { 0 }, ERR_USAGE, "figure: is \"speeedup\", need one of the list, nearest is speedup" },
        { "split", { .width_px = 239 }, ERR_RANGE, "width: is 239 px, need 240 to 10000" },
        { "split", { .height_px = 10001 }, ERR_RANGE, "height: is 10001 px, need 240 to 10000" },
        { "split", { .height_px = -1 }, ERR_RANGE, "height: is -1 px, need 240 to 10000" },
        { "cost", { .height_px = 240 }, ERR_RANGE, "height: is 240 px, need at least " },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text out = { 0 };
        FAILS(plot_draw(cases[i].figure, *state, &cases[i].opt, &out, e), cases[i].want, cases[i].words);
        assert_int_equal(out.n, 0);
        text_free(&out);
    }
}

TEST(a_figure_from_a_csv_without_its_columns_names_column_and_figure)
{
    struct table t = { 0 };
    struct plot_options opt = { 0 };
    table_column(&t, "other", TABLE_TEXT);
    for (int32_t i = 0; i < plot_n_figures; i++) {
        struct text out = { 0 }, want = { 0 };
        text_printf(&want, "figure %s: column %s: is missing, need it in the CSV", plot_figures[i].name,
                    plot_figures[i].columns[0]);
        FAILS(plot_draw(plot_figures[i].name, &t, &opt, &out, e), ERR_PARSE, text_str(&want));
        text_free(&out);
        text_free(&want);
    }
    table_free(&t);
}
