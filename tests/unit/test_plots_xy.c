/* Any columns as points, lines and bars: a table of a call each, what its script has and lacks. */
#include "tests/unit/test_plots_csv.h"

#include "base/rng.h"
#include "plots/xy.h"

#define DESIGNS                                                                                              \
    "# best=min:time_s,min:cost_usd\n"                                                                       \
    "point,network,workload,objective,status,total_GBps,time_s,cost_usd,fits\n"                              \
    "0,flat,a,time,solved,100,4,1e6,yes\n"                                                                   \
    "1,flat,a,cost,solved,200,3,2e6,yes\n"                                                                   \
    "2,deep,a,time,solved,300,3.5,3e6,no\n"                                                                  \
    "3,deep,b,time,solved,400,2,4e6,yes\n"                                                                   \
    "4,deep,b,time,infeasible,500,,,\n"                                                                      \
    "5,deep,b,time,solved,600,,5e6,yes\n"
#define JOBS                                                                                                 \
    "# best=min:jct_s,max:load\n"                                                                            \
    "scheduler,load,jct_s,jct_s_ci\n"                                                                        \
    "las,1,10,2\nlas,2,20,0\nfifo,1,40,50\nfifo,1,30,0\nfifo,2,-5,\n"
#define MANY  "k,x,y\n1,1,1\n2,2,2\n3,3,3\n4,4,4\n5,5,5\n6,6,6\n7,7,7\n8,8,8\n"
#define WORDS "k,x,y\na,1,1\nb,2,2\nc,3,3\nd,4,4\ne,5,5\nf,6,6\ng,7,7\nh,8,8\ni,9,9\n"

static const struct {
    const char *what, *csv;
    struct plot_xy xy;
    const char *has[5], *lacks;
} cases[] = {
    { "colours and shapes apart, a panel per workload, hollow where a design does not fit, cost in its unit",
      DESIGNS,
      { .shape = "objective", .front = "no" },
      { "\n1 4\nEOD\n$d2 << EOD\n2 3\nEOD\n$d3 << EOD\n3 3.5\nEOD\nplot $d1 using 1:2 with points ps 0.8 lw "
        "1.2 lc rgb "
        "'#0072B2' pt 7, $d2 using 1:2 with points ps 0.8 lw 1.2 lc rgb '#0072B2' pt 9, $d3 using 1:2 with "
        "points ps 0.8 "
        "lw 1.2 lc rgb '#D55E00' pt 6",
        "'cost [M USD]' at", "'time [s]' at", "set label 'b' at",
        "drawn: 4 of 6 rows; left out: 1 infeasible, 1 without time_s" },
      "with lines" },
    { "without a column of shapes they go with the colours",
      DESIGNS,
      { .facet = "", .front = "no" },
      { "lc rgb '#0072B2' pt 7", "lc rgb '#D55E00' pt 9", "lc rgb '#D55E00' pt 8" },
      "lc rgb '#D55E00' pt 7" },
    { "the front is a staircase of what fits, known for time and cost",
      DESIGNS,
      { .facet = "", .color = "" },
      { "\n1 4\n2 4\n2 3\n4 3\n4 2\n", "'front' at", "\n1 4\n2 3\n4 2\nEOD" },
      "set label 'a' at" },
    { "of a front each row is better than the one before, not than an earlier one",
      "# best=min:time_s,min:cost_usd\ntime_s,cost_usd\n1,4e6\n2,2e6\n3,3e6\n4,1e6\n",
      { .x = "time_s", .y = { "cost_usd" }, .front = "min,min" },
      { "\n1 4\n2 4\n2 2\n4 2\n4 1\n" },
      NULL },
    { "what is better can be said, and a range cuts",
      DESIGNS,
      { .x = "total_GBps", .y = { "time_s" }, .facet = "", .front = "max,min", .range = { NULL, "2.5:" } },
      { "left out: 1 infeasible, 1 without time_s, 1 outside the range",
        "set yrange [2.5:", "'total [GB/s]' at" },
      "'b' at" },
    { "the best few, the others behind",
      DESIGNS,
      { .facet = "", .top = 1, .behind = true, .by = "time_s", .label = "top", .text = "network" },
      { "the best 1 by time_s", "with points ps 0.4", "set label 'deep' at", "'others' at", "\n4 2\nEOD" },
      NULL },
    { "of all rows none is among the best few: none is labelled",
      DESIGNS,
      { .facet = "", .color = "", .label = "top", .text = "network" },
      { "'time [s]' at" },
      "'deep' at" },
    { "the knee has a ring",
      DESIGNS,
      { .facet = "", .label = "knee" },
      { "ps 1.7 lw 1.4", "'knee' at" },
      NULL },
    { "lines by x take the best of equal x, below zero too; whiskers of NAME_ci in the colour of the line, "
      "cut",
      JOBS,
      { .x = "load", .y = { "jct_s" }, .join = true },
      { "\n1.005032258 30\n2.005032258 -5\nEOD", "\n0.9949677419 10\n1.994967742 20\nEOD",
        "whiskers: jct_s_ci'", "\n0.9949677419 10 8 12\nEOD", "lc rgb '#D55E00' dt (12,3,2,3) ps 0.6" },
      "cut" },
    { "whiskers of measured steps around a time, where there are any; of other quantities none",
      "# best=min:time_s,max:y\npoint,network,time_s,time_low_s,time_high_s,y\n1,a,10,8,13,5\n2,b,20,,,6\n",
      { .x = "network", .y = { "time_s", "y" }, .bars = true, .color = "" },
      { "\n0.5 10 8 13\nEOD", "whiskers: 9 of 10 measured steps are within'" },
      " 5 8 13\n" },
    { "a log axis leaves out what is not above zero",
      JOBS,
      { .x = "load", .y = { "jct_s" }, .scale = { PLOT_XY_FIT, PLOT_XY_LOG } },
      { "left out: 1 not above zero", "set logscale y" },
      "2 -5" },
    { "bars over words; two quantities are two rows of panels",
      JOBS,
      { .x = "scheduler", .y = { "jct_s", "load" }, .bars = true },
      { "\n0.1 0 0.9 10\n1.1 0 1.9 -5\nEOD", "with boxxyerror", "'las' at", "set label 'jct [s]' at",
        "set label 'load' at" },
      "with points" },
    { "bars in more words than fit a line: one size, every other word a line lower; of equal words the best, "
      "for which alone there is room",
      "# best=max:z,min:y\nlimit,x,y\n\"[\"\"usd <= 6\"\"]\",A word of thirty-five characters "
      "now,1\n\"[\"\"usd <= 6\"\"]\",B,2\n"
      "\"[\"\"usd <= 6\"\"]\",B,90\n7,A word of thirty-five characters now,1\n",
      { .x = "x", .y = { "y" }, .color = "limit", .bars = true },
      { "'usd <= 6' at", "'limit 7' at", "'B' at", "set yrange [0:2.2" },
      " 90\n" },
    { "each of two quantities has its own front",
      DESIGNS,
      { .y = { "time_s", "total_GBps" }, .facet = "", .color = "", .front = "min,min,max" },
      { "\n1 4\n2 4\n2 3\n4 3\n4 2\n", "\n1 100\n2 100\n2 200\n4 200\n4 400\n" },
      NULL },
    { "numbers of more values than colours are shades",
      MANY,
      { .x = "x", .y = { "y" }, .color = "k" },
      { "lc rgb '#08519C' pt 7", "lc rgb '#F7FBFF' pt 7", "'k up to 1.88' at" },
      "others" },
    { "words beyond the seventh have other shapes of its colours",
      WORDS,
      { .x = "x", .y = { "y" }, .color = "k" },
      { "lc rgb '#0072B2' pt 7", "lc rgb '#0072B2' pt 9", "'h' at", "'i' at" },
      "others" },
    { "several columns make panels and series together",
      DESIGNS,
      { .facet = "workload,objective", .color = "network,fits" },
      { "set label 'a · time' at", "set label 'a · cost' at", "'flat · yes' at", "'deep · no' at" },
      NULL },
    { "a grid of panels has one scale and names both ways",
      DESIGNS,
      { .facet = "workload", .facet_rows = "objective" },
      { "set label 'a · time' at", "set label 'a · cost' at", "set label 'b · time' at" },
      NULL },
    { "a share in percent has its interval under the name of its stem",
      "x,accuracy_pct,accuracy_half_pct\n1,70,2\n2,80,4\n",
      { .x = "x", .y = { "accuracy_pct" }, .front = "no" },
      { "\n1 70 68 72\n2 80 76 84\nEOD", "whiskers: accuracy_half_pct'" },
      NULL },
    { "shapes beyond the sixth repeat, which is said",
      WORDS,
      { .x = "x", .y = { "y" }, .color = "", .shape = "k" },
      { "'9 values of k, whose shapes repeat' at" },
      "others" },
    { "of rows of panels the first six are drawn",
      WORDS,
      { .x = "x", .y = { "y" }, .color = "", .facet_rows = "k" },
      { "'first 6 of 9 ks' at", "set label 'f' at", "3 of other panels" },
      "set label 'g' at" },
    { "times in microseconds are written so",
      "bytes,time_us\n1,5\n2,7\n",
      { .x = "bytes", .y = { "time_us" }, .front = "no" },
      { "'time [µs]' at" },
      NULL },
    { "one series needs no legend, and its axes can be named",
      MANY,
      { .x = "x", .y = { "y" }, .axis_label = { "size", "speed" } },
      { "'size' at", "'speed' at", "'y over x' at" },
      "legend" },
};

TEST(calls_draw_what_they_say)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plot_options opt = { .format = PLOT_SCRIPT };
        KEEP(struct text, s, text_free) = { 0 };
        KEEP(struct table, t, table_free) = { 0 };
        csv_table(&t, cases[i].csv);
        if (plot_xy_draw(&cases[i].xy, &t, &opt, &s, e) ||
            (cases[i].lacks && strstr(text_str(&s), cases[i].lacks)))
            fail_msg("%s: %s%s", cases[i].what, e->msg, text_str(&s));
        for (size_t k = 0; k < COUNT_OF(cases[i].has) && cases[i].has[k]; k++)
            if (!strstr(text_str(&s), cases[i].has[k]))
                fail_msg("%s: lacks %s in\n%s", cases[i].what, cases[i].has[k], text_str(&s));
    }
}

/* Three copies of a design are a front without a bend. */
TEST(a_front_of_one_design_has_no_knee)
{
    struct plot_xy xy = { .x = "x", .y = { "y" }, .label = "knee", .text = "name", .front = "min,min" };
    static const char *const rows[] = { "name,x,y\na,1,2\nb,1,2\nc,1,2\n",
                                        "name,x,y\na,1,9\nb,2,2\nc,9,1\n" };
    for (int i = 0; i < 2; i++) {
        struct plot_options opt = { .format = PLOT_SCRIPT };
        KEEP(struct text, s, text_free) = { 0 };
        KEEP(struct table, t, table_free) = { 0 };
        csv_table(&t, rows[i]);
        OK(plot_xy_draw(&xy, &t, &opt, &s, e));
        assert_int_equal(strstr(text_str(&s), "'b' at") != NULL, i);
        assert_null(strstr(text_str(&s), "'a' at"));
    }
}

/* Thirty words on x, of which 24 have room; a label each, of which 40 are tried. */
TEST(words_and_labels_beyond_their_most_are_counted)
{
    struct plot_xy bars = { .x = "word", .y = { "y" }, .color = "", .bars = true },
                   points = { .x = "x", .y = { "y" }, .color = "", .label = "word", .front = "no" };
    KEEP(struct text, csv, text_free) = { 0 }, s = { 0 }, said = { 0 }, labelled = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    struct plot_options opt = { .format = PLOT_SCRIPT };
    int n_left = 0;
    text_puts(&csv, "# best=min:y\nword,x,y\n");
    for (int i = 0; i < 50; i++)
        text_printf(&csv, "w%d,%d,%d\n", i % 30, i % 10, i / 10);
    csv_table(&t, text_str(&csv));
    OK(plot_xy_draw(&bars, &t, &opt, &s, e));
    assert_has(text_str(&s), "'first 24 of 30 words of word' at");
    opt.said = &said;
    OK(plot_xy_draw(&points, &t, &opt, &labelled, e));
    assert_int_equal(sscanf(text_str(&said), "%d labels found no room", &n_left), 1);
    assert_in_range(n_left, 10, 49);
}

/* Fifty points in a cluster: few of their labels find room beside them, some stand apart, the rest is
 * counted. */
TEST(labels_without_room_stand_apart_or_are_counted)
{
    struct plot_xy xy = { .x = "x", .y = { "y" }, .label = "name", .text = "name" };
    KEEP(struct text, csv, text_free) = { 0 }, s = { 0 }, said = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    struct plot_options opt = { .format = PLOT_SCRIPT, .said = &said };
    int n_labels = 0, n_lines = 0, n_left = 0;
    text_puts(&csv, "x,y,name\n0,0,\n2,2,\n");
    for (int i = 0; i < 50; i++)
        text_printf(&csv, "%g,%g,some longer name %d\n", 1 + 0.05 * (i % 5), 1 + 0.02 * (i / 5), i);
    csv_table(&t, text_str(&csv));
    OK(plot_xy_draw(&xy, &t, &opt, &s, e));
    for (const char *at = text_str(&s); (at = strstr(at, "set label 'some longer name ")); at++)
        n_labels++;
    for (const char *at = text_str(&s); (at = strstr(at, "set arrow from screen")); at++)
        n_lines++;
    assert_int_equal(sscanf(text_str(&said), "%d labels found no room and are left out", &n_left), 1);
    assert_int_equal(n_labels + n_left, 50);
    assert_in_range(n_labels, 8, 40);
    assert_in_range(n_lines, 1, n_labels - 1);
    assert_non_null(strstr(text_str(&s), "unset arrow"));
}

TEST(panels_have_their_own_scales_unless_shared)
{
    struct plot_xy xy = { .front = "no" };
    struct plot_options opt = { .format = PLOT_SCRIPT };
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(&t, DESIGNS);
    for (int shared = 0; shared < 2; shared++) {
        KEEP(struct text, s, text_free) = { 0 };
        xy.shared = shared;
        OK(plot_xy_draw(&xy, &t, &opt, &s, e));
        const char *first = strstr(text_str(&s), "set xrange ["), *second = strstr(first + 1, "set xrange [");
        size_t n = strcspn(first, "\n");
        assert_int_equal(strncmp(first, second, n + 1) == 0, shared);
    }
}

TEST(what_cannot_be_drawn_is_refused)
{
    static const struct {
        const char *csv;
        struct plot_xy xy;
        enum err_code code;
        const char *want;
    } wrong[] = {
        { DESIGNS,
          { .x = "cost", .y = { "time_s" } },
          ERR_USAGE,
          "option --x is \"cost\", expected a column of the table" },
        { DESIGNS, { .color = "objectve" }, ERR_USAGE, "did you mean objective?" },
        { DESIGNS,
          { .x = "cost_usd", .y = { "network" } },
          ERR_USAGE,
          "--y is network, which holds words, expected numbers" },
        { DESIGNS,
          { .x = "cost_usd", .bars = true },
          ERR_USAGE,
          "option --bars is over cost_usd, which holds numbers" },
        { DESIGNS, { .x = "network", .front = "min,min" }, ERR_USAGE, "option --front is over network" },
        { DESIGNS, { .front = "least" }, ERR_USAGE, "option --front is \"least\", expected min or max" },
        { DESIGNS,
          { .y = { "time_s", "total_GBps" }, .front = "min,min" },
          ERR_USAGE,
          "expected min or max of x and of each y as in min,max,min, or no" },
        { DESIGNS, { .range = { "5:1" } }, ERR_USAGE, "option --range-x is \"5:1\", expected LO:HI" },
        { DESIGNS, { .range = { NULL, "a:" } }, ERR_USAGE, "option --range-y is \"a:\", expected LO:HI" },
        { DESIGNS,
          { .label = "nee" },
          ERR_USAGE,
          "option --label is \"nee\", expected knee, front, top or a column" },
        { DESIGNS,
          { .label = "front", .text = "network,nothing" },
          ERR_USAGE,
          "option --text is \"nothing\"" },
        { DESIGNS, { .by = "network", .top = 1 }, ERR_USAGE, "option --by is network, which holds words" },
        { DESIGNS,
          { .y = { "time_s", "cost_usd" }, .facet_rows = "network" },
          ERR_USAGE,
          "goes with one --y" },
        { MANY, { 0 }, ERR_USAGE, "option --x is missing, expected a column" },
        { MANY, { .x = "x" }, ERR_USAGE, "option --y is missing, expected a column" },
        { "x,y\n1,\n",
          { .x = "x", .y = { "y" } },
          ERR_PARSE,
          "rows to draw: is 0 of 1 (1 without y), expected at least 1" },
        { "x,y\n1,-1\n",
          { .x = "x", .y = { "y" }, .scale = { 0, PLOT_XY_LOG } },
          ERR_PARSE,
          "rows to draw: is 0 of 1 (1 not above zero)" },
        { JOBS,
          { .x = "scheduler", .y = { "jct_s" }, .bars = true, .shape = "load" },
          ERR_USAGE,
          "option --shape is of points and lines" },
    };
    struct plot_options opt = { .format = PLOT_SCRIPT };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        KEEP(struct text, s, text_free) = { 0 };
        KEEP(struct table, t, table_free) = { 0 };
        csv_table(&t, wrong[i].csv);
        FAILS(plot_xy_draw(&wrong[i].xy, &t, &opt, &s, e), wrong[i].code, wrong[i].want);
        assert_int_equal(s.n, 0);
    }
}

/* Three rows of one bar, two of a place of a line; which is best of them only the table or the user knows. */
#define RATES "name,load,rate\na,1,5\na,1,9\nb,1,7\nb,2,3\na,2,4\na,2,4.5\n"

TEST(what_is_better_is_known_or_asked_for)
{
    static const struct plot_xy picks[] = { { .x = "load", .y = { "rate" }, .color = "name", .top = 1 },
                                            { .x = "name", .y = { "rate" }, .color = "", .bars = true },
                                            { .x = "load", .y = { "rate" }, .color = "name", .join = true } };
    /* The block of bars, points or lines, by what is better. */
    static const char *const more[] = { "\n1 9\nEOD", "\n0.1 0 0.9 9\n1.1 0 1.9 7\nEOD",
                                        "\n1 9\n2 4.5\nEOD" };
    static const char *const less[] = { "\n2 3\nEOD", "\n0.1 0 0.9 4\n1.1 0 1.9 3\nEOD", "\n1 5\n2 4\nEOD" };
    static const char *const options[] = { "--top", "--bars", "--join" };
    for (size_t i = 0; i < COUNT_OF(picks); i++)
        for (int better = -1; better <= 1; better++) {
            struct plot_options opt = { .format = PLOT_SCRIPT };
            KEEP(struct text, s, text_free) = { 0 };
            KEEP(struct table, t, table_free) = { 0 };
            csv_table(&t, better > 0   ? "# best=max:rate\n" RATES
                          : better < 0 ? "# best=min:rate\n" RATES
                                       : RATES);
            int rc = plot_xy_draw(&picks[i], &t, &opt, &s, e);
            if (better) {
                assert_ok(rc, e);
                assert_has(text_str(&s), better > 0 ? more[i] : less[i]);
                continue;
            }
            assert_int_equal(rc, ERR_USAGE);
            assert_has(e->msg, options[i]);
            assert_has(e->msg, "for the best rate, of which more or less may be better; add --best max:rate "
                               "or --best min:rate");
        }
}

TEST(one_row_to_a_bar_needs_no_direction)
{
    struct plot_xy bars = { .x = "name", .y = { "rate" }, .color = "", .bars = true };
    struct plot_options opt = { .format = PLOT_SCRIPT };
    KEEP(struct text, s, text_free) = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(&t, "name,rate\na,1\nb,2\n");
    OK(plot_xy_draw(&bars, &t, &opt, &s, e));
    assert_has(text_str(&s), "\n0.1 0 0.9 1\n1.1 0 1.9 2\nEOD");
}

/* No gnuplot is needed for them. */
TEST(a_script_and_an_svg_are_drawn_by_the_program_alone)
{
    static const enum plot_format formats[] = { PLOT_SCRIPT, PLOT_SVG };
    static const char *const begins[] = { "set encoding", "<svg " };
    KEEP(struct table, t, table_free) = { 0 };
    KEEP(struct text, path, text_free) = { 0 };
    text_puts(&path, getenv("PATH"));
    csv_table(&t, "workload,time_s,cost_usd,front,knee\nA,5,1e6,all,no\n");
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    for (int i = 0; i < 2; i++) {
        const struct plot_options opt = { .format = formats[i] };
        KEEP(struct text, image, text_free) = { 0 };
        OK(plot_draw("front", &t, &opt, &image, e));
        assert_int_equal(strncmp(text_str(&image), begins[i], strlen(begins[i])), 0);
    }
    assert_int_equal(setenv("PATH", text_str(&path), 1), 0);
}

TEST(the_list_says_what_columns_hold)
{
    KEEP(struct text, out, text_free) = { 0 };
    KEEP(struct table, t, table_free) = { 0 };
    csv_table(&t, DESIGNS);
    OK(plot_xy_list(&t, &out, e));
    assert_has(text_str(&out), "network     words    -          6         2");
    assert_has(text_str(&out), "time_s      numbers  s          4         4      2      4  less");
}

/* ---- bars ---- */

#define SPREAD "# best=min:y\nk,y,y_ci\na,5,1\nb,0.5,2\nc,60,0\nd,-3,0\n"

TEST(bars_keep_to_their_axis)
{
    static const struct {
        const char *what;
        struct plot_xy xy;
        const char *has[4];
    } shown[] = {
        { "from zero, with whiskers, as far down as they reach",
          { .color = "" },
          { "\n0.1 0 0.9 5\n1.1 0 1.9 0.5\n2.1 0 2.9 60\n3.1 0 3.9 -3\nEOD",
            "\n0.5 5 4 6\n1.5 0.5 -1.5 2.5\nEOD", "whiskers: y_ci", "with vectors" } },
        { "from LO, and none that ends below it",
          { .color = "", .range = { NULL, "2:" } },
          { "set yrange [2:", "\n0.1 2 0.9 5\n2.1 2 2.9 60\nEOD", "left out: 2 outside the range" } },
        { "cut at HI, which is said",
          { .color = "", .range = { NULL, ":20" } },
          { ":20]", "\n2.1 0 2.9 20\n", "1 bar goes on beyond the range" } },
        { "on a log axis from its foot, without what is not above zero",
          { .color = "", .scale = { PLOT_XY_FIT, PLOT_XY_LOG } },
          { "set logscale y", "set yrange [0.5:100]", "\n0.1 0.5 0.9 5\n1.1 0.5 1.9 0.5\n2.1 0.5 2.9 60\nEOD",
            "left out: 1 not above zero" } },
    };
    for (size_t i = 0; i < COUNT_OF(shown); i++) {
        struct plot_options opt = { .format = PLOT_SCRIPT };
        struct plot_xy xy = shown[i].xy;
        KEEP(struct text, s, text_free) = { 0 };
        KEEP(struct table, t, table_free) = { 0 };
        xy.x = "k";
        xy.y[0] = "y";
        xy.bars = true;
        csv_table(&t, SPREAD);
        OK(plot_xy_draw(&xy, &t, &opt, &s, e));
        for (size_t k = 0; k < COUNT_OF(shown[i].has) && shown[i].has[k]; k++)
            if (!strstr(text_str(&s), shown[i].has[k]))
                fail_msg("%s: lacks %s in\n%s", shown[i].what, shown[i].has[k], text_str(&s));
    }
}

/* ---- what becomes of rows ---- */

/* Lines of all blocks of data: without a front these are marks, and the sample of a cloud in the legend. */
static int64_t count_marks(const char *script)
{
    int64_t n = 0;
    for (const char *at = script; (at = strstr(at, " << EOD\n"));)
        for (at = strchr(at, '\n') + 1; strncmp(at, "EOD\n", 4) != 0; at = strchr(at, '\n') + 1)
            n++;
    return n;
}

/* How many rows `said` gives this reason; 0 where it does not. */
static int64_t count_left(const char *said, const char *why)
{
    const char *at = strstr(said, why);
    while (at && at > said && at[-1] != ' ')
        at--;
    for (at = at ? at - 1 : NULL; at && at > said && at[-1] >= '0' && at[-1] <= '9';)
        at--;
    return at ? strtoll(at, NULL, 10) : 0;
}

/* Every row is a mark of the figure or is left out for a reason: tables and options at random. */
TEST(every_row_is_drawn_or_said_to_be_left_out)
{
    RNG(r, 7, 0);
    for (int round = 0; round < 300; round++) {
        KEEP(struct text, csv, text_free) = { 0 }, s = { 0 }, said = { 0 };
        KEEP(struct table, t, table_free) = { 0 };
        struct plot_options opt = { .format = PLOT_SCRIPT, .said = &said };
        int64_t n = 1 + (int64_t)rng_below(r, 60), n_solved = 0, n_infeasible = 0, n_blank = 0, drawn, all;
        int kind = (int)rng_below(r, 3);
        struct plot_xy xy = { .x = kind == 0 ? "word" : "x", .y = { "y" }, .color = "", .front = "no" };
        xy.bars = kind == 0;
        xy.join = kind == 1;
        xy.facet = rng_below(r, 2) ? "panel" : "";
        xy.top = rng_below(r, 3) ? 0 : 1 + (int64_t)rng_below(r, 4);
        xy.behind = !xy.bars && rng_below(r, 3) == 0;
        xy.scale[1] = (enum plot_xy_scale)rng_below(r, 3);
        xy.range[1] = rng_below(r, 3) ? NULL : rng_below(r, 2) ? "5:" : ":30";
        text_puts(&csv, "# best=min:y\nword,x,panel,status,y\n");
        for (int64_t i = 0; i < n; i++) {
            bool solved = i == 0 || rng_below(r, 5), blank = i && rng_below(r, 6) == 0;
            text_printf(&csv, "w%d,%d,p%d,%s,", (int)rng_below(r, 30), (int)rng_below(r, 9),
                        (int)rng_below(r, 11), solved ? "solved" : "infeasible");
            n_solved += solved && !blank;
            n_infeasible += !solved;
            n_blank += solved && blank;
            if (solved && !blank)
                text_printf(&csv, "%g", i ? (double)rng_below(r, 50) - 2 : 7);
            text_puts(&csv, "\n");
        }
        csv_table(&t, text_str(&csv));
        int rc = plot_xy_draw(&xy, &t, &opt, &s, e);
        if (rc == ERR_PARSE && xy.top && xy.scale[1] == PLOT_XY_LOG) /* the best are not above zero */
            continue;
        assert_ok(rc, e);
        drawn = all = n;
        if (said.n)
            assert_int_equal(sscanf(text_str(&said), "drawn: %ld of %ld rows", &drawn, &all), 2);
        if (all != n || count_marks(text_str(&s)) != drawn + (xy.behind && xy.top) || drawn > n_solved ||
            count_left(text_str(&said), "infeasible") != n_infeasible ||
            count_left(text_str(&said), "without y") != n_blank)
            fail_msg("%lld rows, %lld marks: %s\n%s%s", (long long)n, (long long)count_marks(text_str(&s)),
                     text_str(&said), text_str(&csv), text_str(&s));
        if (said.n) { /* the page says the same, in lines */
            char first[40];
            snprintf(first, sizeof first, "'%.*s", (int)strcspn(text_str(&said), ";"), text_str(&said));
            assert_has(text_str(&s), first);
        }
    }
}
