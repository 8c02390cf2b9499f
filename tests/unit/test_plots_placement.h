/** @file Tables of `weft place` for the tests of plots/: CSV text, read as the command reads it. */
#ifndef TESTS_UNIT_TEST_PLOTS_PLACEMENT_H
#define TESTS_UNIT_TEST_PLOTS_PLACEMENT_H

#include "tests/unit/test_plots_sample.h"

#include "plots/figure.h"

/** Release with table_free(). */
static inline void placement_table(struct table *t, const char *csv)
{
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    struct err e = { 0 };
    scratch_make(dir);
    assert_ok(table_read_csv(t, scratch_file(path, dir, "t.csv", csv, strlen(csv)), &e), &e);
    scratch_remove(dir);
}

/** The script of a figure, in place of what @p out held. */
static inline void placement_script(struct text *out, const char *figure, const char *csv,
                                    const struct plot_where *where, int32_t n_where)
{
    struct plot_options opt = { .where = where, .n_where = n_where };
    struct table t;
    struct err e = { 0 };
    text_clear(out);
    placement_table(&t, csv);
    assert_ok(plot_script(figure, &t, &opt, out, &e), &e);
    table_free(&t);
}

/** The figure cannot be drawn: ERR_PARSE with that text. */
static inline void assert_refused(const char *figure, const char *csv, const char *want)
{
    struct plot_options opt = { 0 };
    struct text out = { 0 };
    struct table t;
    struct err e = { 0 };
    placement_table(&t, csv);
    assert_fails(plot_script(figure, &t, &opt, &out, &e), &e, ERR_PARSE, want);
    text_free(&out);
    table_free(&t);
}

/** The figure comes out of gnuplot in every format. */
static inline void assert_drawn_in_every_format(const char *figure, const char *csv)
{
    struct table t;
    placement_table(&t, csv);
    for (int f = PLOT_SVG; f <= PLOT_PNG; f++) {
        struct plot_options opt = { .format = (enum plot_format)f };
        struct text image = { 0 };
        struct err e = { 0 };
        assert_ok(plot_draw(figure, &t, &opt, &image, &e), &e);
        assert_true(image.n > 1000);
        text_free(&image);
    }
    table_free(&t);
}

/** @p needle does not occur in @p haystack. */
#define assert_without(haystack, needle) assert_null(strstr(haystack, needle))

#endif
