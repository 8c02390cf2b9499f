#include "tests/support.h"

#include "plots/figure.h"

static void make_columns(struct table *t)
{
    table_column(t, "point", TABLE_COUNT);
    table_column(t, "workload", TABLE_TEXT);
    table_column(t, "time_s", TABLE_REAL);
    table_column(t, "cost_usd", TABLE_REAL);
    table_column(t, "front", TABLE_TEXT);
    table_column(t, "knee", TABLE_TEXT);
}

static void put(struct table *t, const char *workload, double time_s, double cost_usd, const char *front,
                bool knee)
{
    table_row(t);
    table_put_count(t, t->n_rows);
    table_put_text(t, workload);
    table_put_real(t, time_s);
    table_put_real(t, cost_usd);
    table_put_text(t, front);
    table_put_text(t, knee ? "yes" : "no");
}

static void script_of(struct text *out, const struct table *t, const struct plot_options *opt)
{
    struct err e = { 0 };
    text_clear(out);
    assert_ok(plot_script("front", t, opt, out, &e), &e);
}

/* By rising cost, level until the next; from the top of the panel down to the first. */
TEST(a_front_is_a_staircase_with_its_knee)
{
    struct plot_options opt = { .format = PLOT_SVG };
    struct table t = { 0 };
    struct text s = { 0 };
    make_columns(&t);
    put(&t, "A", 2, 4e6, "all", true);
    put(&t, "A", 5, 1e6, "all", false);
    put(&t, "A", 1, 8e6, "all", false);
    put(&t, "A", 5, 2e6, "within", false);
    put(&t, "A", 4, 6e6, "design", false);
    script_of(&s, &t, &opt);
    assert_has(text_str(&s), "\n1 5\n4 5\n4 2\n8 2\n8 1\n");
    assert_has(text_str(&s), "\n2 5\n");          /* within */
    assert_has(text_str(&s), "<< EOD\n4 2\nEOD"); /* the knee alone */
    assert_has(text_str(&s), "network cost [M USD]");
    assert_has(text_str(&s), "time of a training step [s]");
    assert_has(text_str(&s), "front within the limits");
    assert_has(text_str(&s), "knee");
    assert_has(text_str(&s), "the design");
    assert_null(strstr(text_str(&s), "behind the front"));
    text_free(&s);
    table_free(&t);
}

static int64_t count_lines(const char *s)
{
    int64_t n = 0;
    for (; *s; s++)
        n += *s == '\n';
    return n;
}

/* A million pixels are all there is to fill; ten thousand designs in one place are one mark. */
TEST(designs_on_each_other_are_drawn_once)
{
    struct plot_options opt = { .format = PLOT_SVG };
    struct table few = { 0 }, many = { 0 };
    struct text a = { 0 }, b = { 0 };
    make_columns(&few);
    make_columns(&many);
    for (int i = 0; i < 10000; i++)
        put(&many, "A", 3.01 + 1e-9 * i, 5e6, "behind", false);
    put(&few, "A", 3.01, 5e6, "behind", false);
    for (int i = 0; i < 2; i++) {
        put(i ? &few : &many, "A", 5, 1e6, "all", false);
        put(i ? &few : &many, "A", 1, 9e6, "all", false);
    }
    script_of(&a, &few, &opt);
    script_of(&b, &many, &opt);
    assert_int_equal(count_lines(text_str(&a)), count_lines(text_str(&b)));
    text_free(&a);
    text_free(&b);
    table_free(&few);
    table_free(&many);
}

/* Over three columns: in these two it goes up and down, and is drawn as points. */
TEST(a_front_over_more_columns_has_no_steps)
{
    struct plot_options opt = { .format = PLOT_SVG };
    struct table t = { 0 };
    struct text s = { 0 };
    make_columns(&t);
    put(&t, "A", 2, 1e6, "all", false);
    put(&t, "A", 3, 2e6, "all", false);
    put(&t, "A", 1, 3e6, "all", false);
    script_of(&s, &t, &opt);
    assert_has(text_str(&s), "\n1 2\n2 3\n3 1\nEOD");
    text_free(&s);
    table_free(&t);
}

TEST(every_workload_has_its_panel_and_filters_choose)
{
    const struct plot_where where = { "workload", "B" };
    struct plot_options opt = { .format = PLOT_SVG };
    struct table t = { 0 };
    struct text s = { 0 };
    make_columns(&t);
    put(&t, "A", 2, 1e6, "all", false);
    put(&t, "B", 3, 2e6, "all", false);
    script_of(&s, &t, &opt);
    assert_has(text_str(&s), "label 'A' at");
    assert_has(text_str(&s), "label 'B' at");
    opt.where = &where;
    opt.n_where = 1;
    script_of(&s, &t, &opt);
    assert_null(strstr(text_str(&s), "label 'A' at"));
    const struct plot_where none = { "workload", "C" };
    opt.where = &none;
    text_clear(&s);
    FAILS(plot_script("front", &t, &opt, &s, e), ERR_PARSE, "figure front");
    text_free(&s);
    table_free(&t);
}

TEST(a_table_of_a_sweep_is_refused_with_the_command_that_is_missing)
{
    struct plot_options opt = { .format = PLOT_SVG };
    struct table t = { 0 };
    struct text s = { 0 };
    table_column(&t, "workload", TABLE_TEXT);
    table_column(&t, "time_s", TABLE_REAL);
    table_column(&t, "cost_usd", TABLE_REAL);
    FAILS(plot_script("front", &t, &opt, &s, e), ERR_PARSE,
          "column front: is missing, need it in the CSV of weft front --of csv");
    text_free(&s);
    table_free(&t);
}
