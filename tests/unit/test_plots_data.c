/* From rows to columns of a figure: names, filters, cells, faults, what tells rows apart. */
#include "tests/support.h"

#include "plots/data.h"

static const struct plot_options no_options = { 0 };
static const char *const no_columns[] = { NULL };
static const struct plot_figure figure = { .name = "demo",
                                           .columns = no_columns,
                                           .source = "weft demo --of csv" };

static struct canvas begin_canvas(void)
{
    struct canvas c;
    canvas_init(&c, &no_options, "");
    return c;
}

TEST(names_keep_the_order_of_first_appearance)
{
    static const char *const added[] = { "b", "a", "b", "c", "a" };
    static const int32_t want[] = { 0, 1, 0, 2, 1 };
    struct canvas c = begin_canvas();
    struct names n = { 0 };
    char text[12];
    for (size_t i = 0; i < COUNT_OF(added); i++)
        assert_int_equal(names_add(&c, &n, added[i]), want[i]);
    assert_int_equal(names_find(&n, "c"), 2);
    assert_int_equal(names_find(&n, "d"), -1);
    for (int i = 0; i < 40; i++) { /* the text is copied */
        snprintf(text, sizeof text, "%d", i);
        assert_int_equal(names_add(&c, &n, text), 3 + i);
    }
    assert_string_equal(n.list[42], "39");
    canvas_free(&c);
}

/* Columns curve (text), bytes (real), ranks (count), odd (text) and one row. */
static struct rows rows_of(struct table *t, double bytes, const char *odd)
{
    *t = (struct table){ 0 };
    table_column(t, "curve", TABLE_TEXT);
    table_column(t, "bytes", TABLE_REAL);
    table_column(t, "ranks", TABLE_COUNT);
    table_column(t, "odd", TABLE_TEXT);
    table_row(t);
    table_put_text(t, "a");
    table_put_real(t, bytes);
    table_put_count(t, 8);
    if (odd)
        table_put_text(t, odd);
    else
        table_put_none(t);
    return (struct rows){ .t = t, .figure = &figure, .opt = &no_options };
}

TEST(filters_of_one_column_are_alternatives)
{
    static const struct {
        struct plot_where where[3];
        int32_t n;
        bool want;
    } cases[] = {
        { { { "curve", "a" } }, 1, true },
        { { { "curve", "b" } }, 1, false },
        { { { "curve", "b" }, { "curve", "a" } }, 2, true },
        { { { "curve", "a" }, { "ranks", "8.0" } }, 2, true },
        { { { "curve", "a" }, { "ranks", "9" } }, 2, false },
        { { { "bytes", "1024" }, { "ranks", "9" }, { "ranks", "8" } }, 3, true },
        { { { "bytes", "many" } }, 1, false },
        { { { "odd", "" } }, 1, true },
    };
    KEEP(struct table, t, table_free) = { 0 };
    struct rows r = rows_of(&t, 1024, NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plot_options opt = { .where = cases[i].where, .n_where = cases[i].n };
        r.opt = &opt;
        assert_int_equal(rows_pass(&r), cases[i].want);
    }
}

TEST(cells_read_as_text_whatever_their_kind)
{
    static const char *const want[] = { "a", "1.5", "8", "" };
    KEEP(struct table, t, table_free) = { 0 };
    struct rows r = rows_of(&t, 1.5, NULL);
    char buf[NUM_TEXT];
    for (int32_t i = 0; i < 4; i++) {
        assert_string_equal(rows_text(buf, &r, i), want[i]);
        assert_int_equal(rows_filled(&r, i), i < 3);
    }
    assert_string_equal(rows_text(buf, &r, -1), "");
}

TEST(a_cell_that_cannot_be_is_placed)
{
    static const struct {
        struct bind bind;
        double bytes;
        const char *odd, *want; /* NULL: read */
    } cases[] = {
        { { .column = "odd", AS_NUMBER, NEED },
          1,
          "fast",
          "figure demo: row 1, column odd: is \"fast\", expected a number" },
        { { .column = "odd", AS_NUMBER, NEED },
          1,
          "-2",
          "figure demo: row 1, column odd: is -2, expected at least 0" },
        { { .column = "odd", AS_ANY, NEED }, 1, "-2", NULL },
        { { .column = "odd", AS_ABOVE_ZERO, NEED }, 1, "-2", "column odd: is -2, expected above 0" },
        { { .column = "odd", AS_ABOVE_ZERO, NEED }, 1, "0", "column odd: is 0, expected above 0" },
        { { .column = "odd", AS_ABOVE_ZERO, NEED }, 1, NULL, NULL },
        { { .column = "bytes", AS_COUNT, NEED, .most = 8 }, 8, NULL, NULL },
        { { .column = "bytes", AS_COUNT, NEED, .most = 8 },
          9,
          NULL,
          "column bytes: is 9, expected a whole number, 0 to 8" },
        { { .column = "bytes", AS_COUNT, NEED, .most = 8 },
          1.5,
          NULL,
          "is 1.5, expected a whole number, 0 to 8" },
        { { .column = "bytes", AS_COUNT, NEED, .most = 8 },
          (double)NAN,
          NULL,
          "expected a whole number, 0 to 8" },
        { { .column = "bytes", AS_COUNT, NEED, .most = 8 }, -1, NULL, "is -1, expected at least 0" },
        { { .column = "gone", AS_WORD, NEED },
          1,
          NULL,
          "figure demo: column gone: is missing; give it in the CSV of weft demo --of csv" },
        { { .column = "gone", AS_NUMBER, MAY_MISS }, 1, NULL, NULL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct canvas c = begin_canvas();
        KEEP(struct table, t, table_free) = { 0 };
        struct data d;
        struct rows r = rows_of(&t, cases[i].bytes, cases[i].odd);
        int rc = data_read(&d, &c, &r, &cases[i].bind, 1, e);
        if (cases[i].want)
            FAILS(rc, ERR_PARSE, cases[i].want);
        else
            OK(rc);
        canvas_free(&c);
    }
}

/* Series a, b, c; the second of b lacks a value; the last is of another unit. */
static void series_table(struct table *t)
{
    static const struct {
        const char *series, *status;
        double x;
    } rows[] = { { "b", "done", 3 },
                 { "c", "error", 1 },
                 { "a", "done", 1 },
                 { "b", "done", (double)NAN },
                 { "a", "done", 2 } };
    *t = (struct table){ 0 };
    table_column(t, "series", TABLE_TEXT);
    table_column(t, "status", TABLE_TEXT);
    table_column(t, "x", TABLE_REAL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        table_row(t);
        table_put_text(t, rows[i].series);
        table_put_text(t, rows[i].status);
        table_put_real(t, rows[i].x);
    }
}

TEST(a_row_that_lacks_a_bandwidth_of_a_dimension_that_it_has_is_blank)
{
    static const struct bind binds[] = { { .column = "dims", AS_DIMS, NEED },
                                         { .column = "bw#_GBps", AS_PER_DIM, FILLED } };
    static const double rows[][3] = { { 2, 1, 2 }, { 2, 1, (double)NAN }, { 1, 3, (double)NAN } };
    struct canvas c = begin_canvas();
    KEEP(struct table, t, table_free) = { 0 };
    struct data d;
    table_column(&t, "n_dims", TABLE_COUNT);
    table_column(&t, "dims", TABLE_TEXT);
    table_column(&t, "bw1_GBps", TABLE_REAL);
    table_column(&t, "bw2_GBps", TABLE_REAL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        table_row(&t);
        table_put_count(&t, (int64_t)rows[i][0]);
        table_put_text(&t, rows[i][0] > 1 ? "node|pod" : "node");
        table_put_real(&t, rows[i][1]);
        table_put_real(&t, rows[i][2]);
    }
    struct rows r = { .t = &t, .figure = &figure, .opt = &no_options };
    OK(data_read(&d, &c, &r, binds, 2, e));
    assert_int_equal(d.n, 2);
    assert_int_equal(d.c->account.n_left, 1);
    assert_int_equal(d.row[1], 2);
    canvas_free(&c);
}

TEST(rows_left_out_are_counted_and_words_keep_the_place_of_the_table)
{
    static const struct bind binds[] = { { .column = "status", AS_STATUS, NEED, .word = "done" },
                                         { .column = "x", AS_NUMBER, FILLED },
                                         { .column = "series", AS_WORD, NEED, .numbered = OF_TABLE } };
    static const struct plot_where only_a = { "series", "a" };
    const struct plot_options opt = { .where = &only_a, .n_where = 1 };
    struct canvas c = begin_canvas();
    KEEP(struct table, t, table_free) = { 0 };
    struct data d;
    struct facet kept;
    series_table(&t);
    struct rows r = { .t = &t, .figure = &figure, .opt = &no_options };
    OK(data_read(&d, &c, &r, binds, 3, e));
    assert_int_equal(d.n, 3);
    assert_int_equal(d.n_passed, 5);
    assert_int_equal(d.c->account.n_left, 2);
    assert_int_equal(d.row[2], 4);
    assert_close(data_x(&d, "x")[2], 2, 0);
    assert_int_equal(d.words[2].n, 3);
    r.opt = &opt;
    OK(data_read(&d, &c, &r, binds, 3, e));
    assert_int_equal(d.n, 2);
    OK(data_facet_sorted(&kept, &d, 2, e));
    assert_int_equal(kept.names.n, 1);
    assert_int_equal(kept.at[1], 0);
    assert_int_equal(names_find(&d.words[2], "a"), 2); /* third of the table: as without the filter */
    canvas_free(&c);
}

TEST(sorting_is_by_the_first_key_that_differs_and_stable)
{
    const double x[] = { 2, 1, 2, 1, 2 };
    const int32_t word[] = { 1, 0, 0, 0, 1 };
    const struct sort_key rising[] = { { .x = x }, { .word = word } },
                          falling[] = { { .x = x, .falls = true } };
    int64_t order[] = { 0, 1, 2, 3, 4 };
    const int64_t want[] = { 1, 3, 2, 0, 4 }, want_falling[] = { 2, 0, 4, 1, 3 };
    OK(data_sort(order, 5, rising, 2, e));
    assert_memory_equal(order, want, sizeof order);
    OK(data_sort(order, 5, falling, 1, e));
    assert_memory_equal(order, want_falling, sizeof order);
}

/* ---- phrases ---- */

/* One row of a sweep over `paths`, whose network is `network`. */
static void sweep_table(struct table *t, const char *const *paths, const char *const *values, size_t n,
                        const char *network, const char *plan)
{
    *t = (struct table){ 0 };
    table_column(t, "point", TABLE_COUNT);
    for (size_t i = 0; i < n; i++)
        table_column(t, paths[i], TABLE_TEXT);
    table_column(t, "network", TABLE_TEXT);
    table_column(t, "plan", TABLE_TEXT);
    table_column(t, "tp", TABLE_COUNT);
    table_row(t);
    table_put_count(t, 0);
    for (size_t i = 0; i < n; i++)
        table_put_text(t, values[i]);
    table_put_text(t, network);
    table_put_text(t, plan);
    table_put_count(t, 8);
}

TEST(a_plan_is_cut_into_phrases_with_details_behind_a_tab)
{
    static const char *const cases[][2] = {
        { "tp8 dp16 pp4 mb1x64 interleave2 zero1 recompute-selective sp",
          "tp8\ndp16\npp4\n\tmb1x64\n\tinterleave2\n\tzero1\n\trecompute-selective\n\tsp\n" },
        { "cp2 ep8 mb1x1 gpipe cp-ring", "cp2\nep8\n\tmb1x1\n\tgpipe\n\tcp-ring\n" },
        { "", "" },
        { "one", "\tone\n" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct table, t, table_free) = { 0 };
        static const struct plot_options opt = { 0 };
        struct canvas c;
        int64_t row = 0;
        canvas_init(&c, &opt, "");
        sweep_table(&t, NULL, NULL, 0, "n", cases[i][0]);
        const struct data d = { .c = &c, .r = { .t = &t }, .n = 1, .row = &row };
        assert_string_equal(phrases_of_plans(&d, e)[0], cases[i][1]);
        canvas_free(&c);
    }
}

/* What another column or the network's word shows is not said twice: the 4 in it is a size, no latency. */
TEST(axes_are_the_last_word_of_the_key_and_the_value)
{
    static const char *const paths[] = { "workload.parallel.tp",     "workload.parallel.batch",
                                         "workload.model",           "network.dims.pod.size",
                                         "network.dims.pod.bw_GBps", "network.dims.pod.latency_ns" };
    static const char *const values[] = { "8", "1024", "../models/llama3-8b.yaml", "64", "25", "4" };
    static const char *const networks[][2] = {
        { "switch:4@250 switch:64@25", "batch 1024\nmodel llama3-8b\nlatency_ns 4\n" },
        { "pod-64", "batch 1024\nmodel llama3-8b\nsize 64\nbw_GBps 25\nlatency_ns 4\n" }
    };
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        KEEP(struct table, t, table_free) = { 0 };
        KEEP(struct text, out, text_free) = { 0 };
        sweep_table(&t, paths, values, COUNT_OF(paths), networks[i][0], "");
        struct rows r = { .t = &t };
        phrases_put_axes(&out, &r);
        assert_string_equal(text_str(&out), networks[i][1]);
    }
}

TEST(phrases_are_common_when_all_have_them_whole)
{
    static const char *const list[] = { "tp 8\n\tzero 2\nbatch 1\n", "tp 8\n\tzero 1\nbatch 12\n" };
    static const struct {
        enum phrases_part part;
        const char *want;
    } cases[] = { { PHRASES_COMMON, "n · tp 8" },
                  { PHRASES_VARYING, "n · zero 2, batch 1" },
                  { PHRASES_SHORT, "n · batch 1" } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, out, text_free) = { 0 };
        text_puts(&out, "n");
        phrases_put(&out, list, 2, 0, cases[i].part);
        assert_string_equal(text_str(&out), cases[i].want);
    }
}
