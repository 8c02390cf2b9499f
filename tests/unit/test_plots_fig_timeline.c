#include "tests/unit/test_plots_sample.h"
#include "tests/unit/timeline_table.h"

#include <stdlib.h>

#include "plots/figure.h"

#define BLUE   "closed fs solid 1 noborder fc rgb '#0072B2'"
#define ORANGE "closed fs solid 1 noborder fc rgb '#E69F00'"
#define GREY   "closed fs solid 1 noborder fc rgb '#B8B8B8'"

static void script_of(struct text *out, const struct stage *rows, size_t n, const struct plot_options *opt)
{
    struct table t;
    struct err e = { 0 };
    text_clear(out);
    timeline_table(&t, rows, n);
    assert_ok(plot_script("timeline", &t, opt, out, &e), &e);
    table_free(&t);
}

TEST(a_panel_per_order_says_how_long_the_step_takes)
{
    static const char *const want[] = {
        "'fixed order: 40.0 ms' at",
        "'themis order: 20.0 ms (chosen)' at",
        "'time [ms]' at",
        "'node' at",
        "'pod' at",
        "'compute' at",
        "'75 %' at",
        "'25 %' at",
        "'90 %' at",
        "'50 %' at",
        "'40 %' at",
        "'end of the step' at",
        "'busy' at",
        "'workload toy, the first of 2' at",
    };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, stage_rows, COUNT_OF(stage_rows), &opt);
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_has(text_str(&s), want[i]);
    /* Both panels have the time axis of the longer one. */
    const char *axis = strstr(text_str(&s), "set xrange [0:41.6]");
    assert_non_null(axis);
    assert_has(axis + 1, "set xrange [0:41.6]");
    text_free(&s);
}

/* Rows of 26 pixels, compute on top, in the fixed order: bars of one collective have the colours of its
 * passes. */
TEST(one_collective_has_the_colours_of_its_passes)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, stage_rows, 5, &opt);
    assert_drawn(text_str(&s), "0 23\n0 3\n5 3\n5 23\n", GREY);
    assert_drawn(text_str(&s), "5 49\n5 29\n20 29\n20 49\n\n20 75\n20 55\n25 55\n25 75\n", BLUE);
    assert_drawn(text_str(&s), "30 49\n30 29\n40 29\n40 49\n\n25 75\n25 55\n30 55\n30 75\n", ORANGE);
    assert_drawn(text_str(&s), "40 0\n40 78\n", "with lines lw 1.2");
    assert_has(text_str(&s), "'reduce-scatter' at");
    assert_has(text_str(&s), "'all-gather' at");
    text_free(&s);
}

TEST(a_pass_has_the_same_colour_in_every_figure)
{
    struct stage rows[2] = { stage_rows[4], stage_rows[3] };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    rows[1].pass = "all-to-all";
    script_of(&s, rows, 2, &opt);
    assert_drawn(text_str(&s), "30 23\n30 3\n40 3\n40 23\n", ORANGE);
    assert_drawn(text_str(&s), "25 49\n25 29\n30 29\n30 49\n", "fc rgb '#6A1B4D'");
    text_free(&s);
}

TEST(collectives_that_differ_have_a_colour_each)
{
    struct stage rows[3] = { stage_rows[1], stage_rows[2], stage_rows[4] };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    rows[1].name = "tokens";
    script_of(&s, rows, 3, &opt);
    assert_drawn(text_str(&s), "5 23\n5 3\n20 3\n20 23\n30 23\n30 3\n40 3\n40 23\n", BLUE);
    assert_drawn(text_str(&s), "20 49\n20 29\n25 29\n25 49\n", ORANGE);
    assert_has(text_str(&s), "'all-reduce' at");
    assert_has(text_str(&s), "'tokens' at");
    assert_null(strstr(text_str(&s), "'compute' at"));
    text_free(&s);
}

TEST(in_a_pdf_nothing_joins_the_boxes)
{
    struct stage rows[2] = { stage_rows[1], stage_rows[1] };
    struct plot_options opt = { .format = PLOT_PDF };
    struct text s = { 0 };
    rows[1].start_ms = 30;
    rows[1].end_ms = 40;
    script_of(&s, rows, 2, &opt);
    assert_drawn(text_str(&s), "5 23\n5 3\n20 3\n20 23\n\n30 23\n30 3\n40 3\n40 23\n", BLUE);
    text_free(&s);
}

TEST(slots_are_sub_rows)
{
    struct stage rows[2] = { stage_rows[1], stage_rows[1] };
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    rows[1].slot = 1;
    script_of(&s, rows, 2, &opt);
    assert_drawn(text_str(&s), "5 13\n5 3\n20 3\n20 13\n\n5 24\n5 14\n20 14\n20 24\n", BLUE);
    text_free(&s);
}

TEST(filters_choose_workload_and_order)
{
    static const struct plot_where where[] = { { "workload", "other" } },
                                   order[] = { { "workload", "toy" }, { "order", "themis" } };
    struct plot_options opt = { .where = where, .n_where = 1 };
    struct text s = { 0 };
    script_of(&s, stage_rows, COUNT_OF(stage_rows), &opt);
    assert_has(text_str(&s), "'workload other' at");
    assert_has(text_str(&s), "'fixed order: 7.00 ms' at"); /* one order alone is not a choice */
    opt = (struct plot_options){ .where = order, .n_where = 2 };
    script_of(&s, stage_rows, COUNT_OF(stage_rows), &opt);
    assert_has(text_str(&s), "'themis order: 20.0 ms' at");
    assert_null(strstr(text_str(&s), "fixed order"));
    text_free(&s);
}

TEST(many_collectives_share_the_last_colour)
{
    struct stage rows[12];
    char names[12][24];
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    for (int i = 0; i < 12; i++) {
        snprintf(names[i], sizeof names[i], "layer %d", i + 1);
        rows[i] = stage_rows[1];
        rows[i].name = names[i];
        rows[i].start_ms = 2 * i;
        rows[i].end_ms = 2 * i + 2;
    }
    script_of(&s, rows, 12, &opt);
    assert_has(text_str(&s), "'layer 8' at");
    assert_null(strstr(text_str(&s), "'layer 9' at"));
    assert_has(text_str(&s), "'4 others' at");
    text_free(&s);
}

/* 60000 bars of four slots, of alternating passes. */
TEST(tens_of_thousands_of_bars_make_a_small_file)
{
    enum { N = 60000 };
    struct stage *rows = calloc(N, sizeof *rows);
    struct plot_options opt = { .format = PLOT_SVG };
    struct text image = { 0 };
    struct table t;
    assert_non_null(rows);
    for (int i = 0; i < N; i++) {
        rows[i] = stage_rows[i % 2 ? 3 : 2];
        rows[i].order = i % 4 / 2 ? "fixed" : "themis";
        rows[i].slot = i % 8 / 4 + 1;
        rows[i].start_ms = 40.0 * i / N;
        rows[i].end_ms = rows[i].start_ms + 20.0 / N;
    }
    timeline_table(&t, rows, N);
    OK(plot_draw("timeline", &t, &opt, &image, e));
    assert_true(image.n > 10000 && image.n < 300000);
    text_free(&image);
    table_free(&t);
    free(rows);
}

TEST(it_draws_in_every_format_with_any_names)
{
    static const char evil[] = "a\"; system(\"id\"); \"_^{b}@&~'`%d\\";
    struct stage rows[2] = { stage_rows[1], stage_rows[2] };
    struct table t;
    rows[0].workload = rows[1].workload = rows[0].order = rows[0].row = rows[0].name = evil;
    timeline_table(&t, rows, 2);
    for (int f = PLOT_SVG; f <= PLOT_PNG; f++) {
        struct plot_options opt = { .format = (enum plot_format)f, .width_px = 1600 };
        struct text image = { 0 };
        OK(plot_draw("timeline", &t, &opt, &image, e));
        if (f == PLOT_SVG)
            assert_has(text_str(&image), "a\"; system(\"id\"); \"_^{b}@&amp;~'`%d\\ order: 40.0 ms");
        text_free(&image);
    }
    table_free(&t);
}

TEST(a_page_too_low_is_refused)
{
    static const char *const orders[] = { "fixed", "themis", "minmax", "guard" };
    struct stage rows[32];
    struct plot_options opt = { .height_px = 240 };
    struct text out = { 0 };
    struct table t;
    for (int i = 0; i < 32; i++) {
        rows[i] = stage_rows[1];
        rows[i].order = orders[i / 8];
        rows[i].dim = 1 + i % 8;
    }
    timeline_table(&t, rows, COUNT_OF(rows));
    FAILS(plot_script("timeline", &t, &opt, &out, e), ERR_RANGE, "height: is 240 px, need at least ");
    opt.height_px = 0;
    OK(plot_script("timeline", &t, &opt, &out, e));
    assert_has(text_str(&out), "'each collective in its best order: 40.0 ms' at");
    text_free(&out);
    table_free(&t);
}
