#include "tests/unit/test_plots_sample.h"

#include "plots/figure.h"

/** A row as weft calibrate --of csv writes it. */
struct measured {
    const char *file, *curve, *collective;
    int32_t ranks;
    double bytes, time_us, model_us, busbw_GBps, model_busbw_GBps;
};

enum { WITH_BUSBW = 1, WITH_PARTS = 2 };

static void measured_table(struct table *t, const struct measured *rows, size_t n, int with)
{
    *t = (struct table){ 0 };
    if (with & WITH_PARTS) {
        table_column(t, "file", TABLE_TEXT);
        table_column(t, "collective", TABLE_TEXT);
        table_column(t, "ranks", TABLE_COUNT);
    }
    table_column(t, "curve", TABLE_TEXT);
    table_column(t, "bytes", TABLE_REAL);
    table_column(t, "time_us", TABLE_REAL);
    table_column(t, "model_us", TABLE_REAL);
    if (with & WITH_BUSBW) {
        table_column(t, "busbw_GBps", TABLE_REAL);
        table_column(t, "model_busbw_GBps", TABLE_REAL);
    }
    for (size_t i = 0; i < n; i++) {
        table_row(t);
        if (with & WITH_PARTS) {
            table_put_text(t, rows[i].file);
            table_put_text(t, rows[i].collective);
            table_put_count(t, rows[i].ranks);
        }
        table_put_text(t, rows[i].curve);
        table_put_real(t, rows[i].bytes);
        table_put_real(t, rows[i].time_us);
        table_put_real(t, rows[i].model_us);
        if (with & WITH_BUSBW) {
            table_put_real(t, rows[i].busbw_GBps);
            table_put_real(t, rows[i].model_busbw_GBps);
        }
    }
}

/* Not sorted by size; round numbers, not physics. */
static const struct measured measured_rows[] = {
    { "a.log", "", "all-reduce", 8, 1048576, 20, 25, 100, 80 },
    { "a.log", "", "all-reduce", 8, 1024, 10, 9, 0.5, 0.6 },
    { "a.log", "", "all-gather", 8, 1024, 5, 5, 2, 2 },
    { "a.log", "", "all-gather", 8, 1048576, 50, 40, 40, 50 },
};

static void script_of(struct text *out, const struct measured *rows, size_t n, int with,
                      const struct plot_options *opt)
{
    struct table t;
    struct err e = { 0 };
    text_clear(out);
    measured_table(&t, rows, n, with);
    assert_ok(plot_script("calibrate", &t, opt, out, &e), &e);
    table_free(&t);
}

TEST(measured_are_markers_and_the_model_is_a_line_by_size)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, measured_rows, 2, WITH_BUSBW | WITH_PARTS, &opt);
    assert_drawn(text_str(&s), "1024 0.5\n1048576 100\n", "with points ps 0.8 lw 1.2 lc rgb '#0072B2' pt 7");
    assert_drawn(text_str(&s), "1024 0.6\n1048576 80\n", "with lines lw 1.6 lc rgb '#0072B2'");
    /* 9 for 10 us, and 25 for 20. */
    assert_drawn(text_str(&s), "1024 -10\n1048576 25\n", "with points ps 0.8 lw 1.2 lc rgb '#0072B2' pt 6");
    assert_has(text_str(&s), "'bus bandwidth [GB/s]' at");
    assert_has(text_str(&s), "'time error [%]' at");
    assert_has(text_str(&s), "'1 KiB' 1024");
    assert_has(text_str(&s), "'1 MiB' 1048576");
    assert_has(text_str(&s), "'all-reduce · 8 ranks · a.log' at");
    assert_has(text_str(&s), "'measured' at");
    assert_has(text_str(&s), "'model' at");
    text_free(&s);
}

TEST(without_bus_bandwidth_times_are_drawn)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, measured_rows, 2, 0, &opt);
    assert_drawn(text_str(&s), "1024 10\n1048576 20\n", "with points");
    assert_drawn(text_str(&s), "1024 9\n1048576 25\n", "with lines");
    assert_has(text_str(&s), "'time [µs]' at");
    assert_null(strstr(text_str(&s), "bus bandwidth"));
    text_free(&s);
}

TEST(curves_are_named_by_what_differs)
{
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    script_of(&s, measured_rows, 4, WITH_BUSBW | WITH_PARTS, &opt);
    assert_has(text_str(&s), "'8 ranks · a.log; markers: measured, lines: model' at");
    assert_has(text_str(&s), "'all-reduce' at");
    assert_has(text_str(&s), "'all-gather' at");
    assert_drawn(text_str(&s), "1024 2\n1048576 40\n", "lc rgb '#D55E00' pt 9");
    text_free(&s);
}

TEST(a_filter_keeps_one_curve)
{
    static const struct plot_where where[] = { { "collective", "all-gather" } };
    struct plot_options opt = { .where = where, .n_where = 1 };
    struct text s = { 0 };
    script_of(&s, measured_rows, 4, WITH_BUSBW | WITH_PARTS, &opt);
    assert_has(text_str(&s), "'all-gather · 8 ranks · a.log' at");
    assert_null(strstr(text_str(&s), "all-reduce"));
    text_free(&s);
}

TEST(many_curves_are_cut_and_blanks_counted)
{
    struct measured rows[15];
    struct plot_options opt = { 0 };
    struct text s = { 0 };
    for (int i = 0; i < 15; i++) {
        rows[i] = measured_rows[0];
        rows[i].ranks = 2 + i;
    }
    rows[14].time_us = (double)NAN;
    script_of(&s, rows, 15, WITH_BUSBW | WITH_PARTS, &opt);
    assert_has(text_str(&s), "first 12 of 14 curves; 1 rows lack a value and are left out");
    assert_has(text_str(&s), "'13 ranks' at");
    assert_null(strstr(text_str(&s), "'14 ranks' at"));
    text_free(&s);
}

TEST(what_cannot_be_drawn_is_placed)
{
    static const struct {
        struct measured row;
        const char *want;
    } cases[] = {
        { { "f", "c", "k", 2, 0, 1, 1, 1, 1 }, "figure calibrate: row 1, column bytes: is 0, need above 0" },
        { { "f", "c", "k", 2, 8, -1, 1, 1, 1 },
          "figure calibrate: row 1, column time_us: is -1, need above 0" },
        { { "f", "c", "k", 2, 8, 1, 0, 1, 1 },
          "figure calibrate: row 1, column model_us: is 0, need above 0" },
        { { "f", "c", "k", 2, 8, 1, 1, 1, 0 }, "column model_busbw_GBps: is 0, need above 0" },
        { { "f", "c", "k", 2, 8, (double)NAN, 1, 1, 1 },
          "figure calibrate: rows to draw: is 0 of 1 (1 pass the filter, 1 of those lack a value)" },
    };
    struct plot_options opt = { 0 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text out = { 0 };
        struct table t;
        measured_table(&t, &cases[i].row, 1, WITH_BUSBW | WITH_PARTS);
        FAILS(plot_script("calibrate", &t, &opt, &out, e), ERR_PARSE, cases[i].want);
        text_free(&out);
        table_free(&t);
    }
}

TEST(it_draws_in_every_format)
{
    struct table t;
    measured_table(&t, measured_rows, 4, WITH_BUSBW | WITH_PARTS);
    for (int f = PLOT_SVG; f <= PLOT_PNG; f++) {
        struct plot_options opt = { .format = (enum plot_format)f };
        struct text image = { 0 };
        OK(plot_draw("calibrate", &t, &opt, &image, e));
        assert_true(image.n > 1000);
        text_free(&image);
    }
    table_free(&t);
}
