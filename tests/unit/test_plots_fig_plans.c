#include "tests/unit/test_plots_training.h"

#define BEST   "fc rgb '#08519C'"
#define FRAME  "fs empty lc rgb '#D55E00'"
#define MISFIT "fc rgb '#EEEEEE'"

/* Rows are tp 2 and 4, columns pp 1 and 2; a cell is x_lo y_lo x_hi y_hi with y from the top. */
TEST(cells_are_the_fastest_that_fits_memory_or_a_dash)
{
    struct text s = { 0 };
    trained_script(&s, "plans", trained_rows, 4);
    assert_drawn(text_str(&s), "1 1 2 0\n", BEST);
    assert_drawn(text_str(&s), "0 2 1 1\n", "fc rgb '#6BAED6'"); /* 10 s are 25 % more than 8 */
    assert_has(text_str(&s), "'8.00' at");
    assert_has(text_str(&s), "'40 %' at");
    assert_has(text_str(&s), "'10.0' at");
    assert_has(text_str(&s), "'–' at");
    assert_has(text_str(&s), "'memory' at");
    assert_has(text_str(&s), "'110 GB' at");
    text_free(&s);
}

TEST(the_page_says_what_cells_and_shades_mean)
{
    static const char *const has[] = { "'tp' at",
                                       "'pipeline parallelism (pp)' at",
                                       "'fastest' at",
                                       "'up to 2 % slower' at",
                                       "'25 %' at",
                                       "step time [s] and MFU of the fastest plan that fits",
                                       "none fits, and what the smallest needs",
                                       "–: no solution" };
    struct text s = { 0 };
    trained_script(&s, "plans", trained_rows, 2);
    assert_has(text_str(&s), "flat · GPT-3 · time · 100 GB/s per NPU · batch 128; ");
    assert_has(text_str(&s), "; empty:");
    assert_lacks(text_str(&s), "memory");
    assert_lacks(text_str(&s), "no solution");
    assert_drawn(text_str(&s), "1 1 2 0\n", BEST);
    const char *frame = strstr(text_str(&s), FRAME);
    assert_non_null(frame);
    struct trained rows[] = { trained_rows[0], trained_rows[1], trained_rows[2], trained_rows[3] };
    rows[2].network = "flat";
    trained_script(&s, "plans", rows, 4);
    for (size_t i = 0; i < COUNT_OF(has); i++)
        assert_has(text_str(&s), has[i]);
    assert_lacks(text_str(&s), "; empty:");
    text_free(&s);
}

TEST(of_rows_that_share_a_cell_the_fastest_that_fits_is_shown)
{
    struct trained rows[] = { trained_rows[0], trained_rows[0], trained_rows[0], trained_rows[0] };
    struct text s = { 0 };
    rows[1].time_s = 7;
    rows[2].time_s = 6;
    rows[2].fits = "no";
    rows[3].status = "infeasible";
    trained_script(&s, "plans", rows, 4);
    assert_has(text_str(&s), "'7.00' at");
    assert_lacks(text_str(&s), "memory");
    assert_lacks(text_str(&s), "'–' at");
    text_free(&s);
}

TEST(where_none_fits_the_least_memory_is_shown)
{
    struct trained rows[] = { trained_rows[2], trained_rows[2] };
    struct text s = { 0 };
    rows[1].memory_GB = 95;
    rows[1].time_s = 9;
    trained_script(&s, "plans", rows, 2);
    assert_drawn(text_str(&s), "0 1 1 0\n", MISFIT);
    assert_has(text_str(&s), "'95 GB' at");
    assert_lacks(text_str(&s), "fastest");
    text_free(&s);
}

TEST(a_row_that_could_not_be_read_stands_in_every_map_it_may_belong_to)
{
    struct trained rows[] = { trained_rows[0], trained_rows[0], trained_rows[3], trained_rows[3] };
    struct text s = { 0 };
    int n = 0;
    rows[1].network = "deep";
    rows[3].batch = 256; /* the axis says that it is neither's */
    trained_script(&s, "plans", rows, 4);
    assert_has(text_str(&s), "'flat' at");
    assert_has(text_str(&s), "'deep' at");
    for (const char *at = text_str(&s); (at = strstr(at, "'–' at")); at++)
        n++;
    assert_int_equal(n, 2);
    text_free(&s);
}

TEST(maps_differ_in_bandwidth_unless_each_plan_has_its_own)
{
    struct trained rows[16];
    struct text s = { 0 };
    for (int i = 0; i < 16; i++) {
        rows[i] = trained_rows[0];
        rows[i].tp = 1 << i % 4;
        rows[i].pp = 1 << i / 4;
        rows[i].total_GBps = 100 + i;
    }
    trained_script(&s, "plans", rows, 16);
    assert_lacks(text_str(&s), "GB/s");
    assert_has(text_str(&s), "at any bandwidth");
    for (int i = 0; i < 16; i++)
        rows[i].total_GBps = 100 + i % 2;
    trained_script(&s, "plans", rows, 16);
    assert_has(text_str(&s), "'100 GB/s' at");
    assert_has(text_str(&s), "'101 GB/s' at");
    for (int i = 0; i < 16; i++)
        rows[i].total_GBps = 100 * (1 + i * 1e-12);
    trained_script(&s, "plans", rows, 16);
    assert_has(text_str(&s), "100 GB/s per NPU");
    text_free(&s);
}

TEST(rows_and_columns_are_the_degrees_that_vary)
{
    static const struct {
        int32_t cp[3], dp[3], pp[3], ep[3], tp[3];
        const char *row, *column;
    } cases[] = {
        { { 1, 1, 1 }, { 4, 2, 1 }, { 1, 2, 4 }, { 1, 1, 1 }, { 1, 1, 2 }, "'tp' at", "(pp)" },
        { { 1, 2, 4 },
          { 4, 2, 1 },
          { 1, 1, 1 },
          { 1, 1, 1 },
          { 1, 1, 1 },
          "'data parallelism (dp)' at",
          "(cp)" },
        { { 1, 1, 1 }, { 4, 4, 4 }, { 1, 1, 1 }, { 1, 2, 4 }, { 1, 2, 2 }, "'tp' at", "(ep)" },
        { { 1, 1, 1 }, { 4, 2, 1 }, { 1, 2, 4 }, { 1, 1, 1 }, { 1, 1, 1 }, "'pp' at", "(dp)" },
        { { 1, 1, 1 }, { 4, 4, 4 }, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 }, "'tp' at", "(pp)" },
    };
    struct text s = { 0 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct trained rows[] = { trained_rows[0], trained_rows[0], trained_rows[0] };
        for (int k = 0; k < 3; k++) {
            rows[k].cp = cases[i].cp[k];
            rows[k].dp = cases[i].dp[k];
            rows[k].pp = cases[i].pp[k];
            rows[k].ep = cases[i].ep[k];
            rows[k].tp = cases[i].tp[k];
        }
        trained_script(&s, "plans", rows, 3);
        assert_has(text_str(&s), cases[i].row);
        assert_has(text_str(&s), cases[i].column);
    }
    text_free(&s);
}

TEST(a_high_page_spells_out_its_rows)
{
    struct trained rows[] = { trained_rows[0], trained_rows[0], trained_rows[0], trained_rows[0],
                              trained_rows[0] };
    struct text s = { 0 };
    for (int i = 0; i < 5; i++)
        rows[i].tp = 1 << i;
    trained_script(&s, "plans", rows, 5);
    assert_has(text_str(&s), "'tensor parallelism (tp)' at");
    text_free(&s);
}

TEST(many_degrees_and_maps_are_cut_and_blanks_counted)
{
    struct trained rows[41];
    struct text s = { 0 };
    char names[20][8];
    for (int i = 0; i < 41; i++) {
        snprintf(names[i / 2 % 20], sizeof names[0], "net%d", i / 2 % 20);
        rows[i] = trained_rows[0];
        rows[i].network = names[i / 2 % 20];
        rows[i].pp = 1 + i % 20;
    }
    rows[40].time_s = (double)NAN;
    trained_script(&s, "plans", rows, 41);
    assert_has(text_str(&s), "first 6 maps");
    assert_has(text_str(&s), "first 16 of 20 pp");
    assert_has(text_str(&s), "1 rows lack a degree or a time and are left out");
    assert_has(text_str(&s), "'net5' at");
    assert_lacks(text_str(&s), "'net6' at");
    text_free(&s);
}

TEST(a_table_without_solutions_is_all_dashes)
{
    struct trained rows[] = { trained_rows[3], trained_rows[3] };
    struct text s = { 0 };
    rows[1].tp = 8;
    trained_script(&s, "plans", rows, 2);
    assert_drawn(text_str(&s), "0 1 1 0\n0 2 1 1\n", "fc rgb '#FFFFFF'");
    assert_has(text_str(&s), "–: no solution");
    assert_lacks(text_str(&s), "step time [");
    text_free(&s);
}

TEST(what_cannot_be_drawn_is_placed)
{
    static const struct {
        int32_t tp;
        double time_s;
        const char *want;
    } cases[] = {
        { 0, 1, "figure plans: row 1, column tp: is 0, need above 0" },
        { 1, 0, "figure plans: row 1, column time_s: is 0, need above 0" },
        { 1, (double)NAN,
          "figure plans: rows to draw: is 0 of 1 (1 pass the filter, 1 of those lack a value)" },
    };
    struct plot_options opt = { 0 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct trained row = trained_rows[0];
        struct text out = { 0 };
        struct table t;
        row.tp = cases[i].tp;
        row.time_s = cases[i].time_s;
        trained_table(&t, &row, 1);
        FAILS(plot_script("plans", &t, &opt, &out, e), ERR_PARSE, cases[i].want);
        text_free(&out);
        table_free(&t);
    }
}

TEST(a_page_too_low_says_how_high_it_must_be)
{
    struct plot_options opt = { .height_px = 240, .width_px = 240 };
    struct trained rows[12];
    struct text out = { 0 };
    struct table t;
    for (int i = 0; i < 12; i++) {
        rows[i] = trained_rows[0];
        rows[i].tp = 1 + i;
    }
    trained_table(&t, rows, 12);
    FAILS(plot_script("plans", &t, &opt, &out, e), ERR_RANGE, "height: is 240 px, need at least ");
    text_free(&out);
    table_free(&t);
}
