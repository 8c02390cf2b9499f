/* Figures of what methods of communication come to and need: what stands where, what is left out and said. */
#include "plots/page.h"
#include "tests/unit/test_plots_placement.h"

/* Accuracies, traffic and times are those that a prototype measured for 8 workers. */
#define HEAD                                                                                                 \
    "point,shards,method,family,period,seeds,status,accuracy_pct,accuracy_vs_base_half,traffic_MB,time_s,"   \
    "need_GBps,message\n"
static const char rows[] = HEAD "0,iid,gossip-16,gossip,16,5,ok,72.86,0.5,17.15,16.29,0.4,\n"
                                "0,iid,gossip-1,gossip,1,5,ok,72.83,0.5,275.76,36.7,6.9,\n"
                                "0,iid,drift,gossip,,5,ok,72.5,,22.4,16.49,0.56,\n"
                                "0,iid,easgd-16,easgd,16,5,ok,72.1,0.5,30,17,0.8,\n"
                                "0,iid,easgd-4,easgd,4,5,ok,72.3,0.5,120,19,1.1,\n"
                                "0,iid,eventgrad,eventgrad,1,5,ok,72.86,0.5,70.89,19.56,1.8,\n"
                                "0,iid,lag,lag,,5,diverged,,,,,,step 9\n"
                                "0,iid,diloco,diloco,,5,error,,,,,,no memory\n"
                                "1,label-skew,gossip-16,gossip,16,5,ok,70.82,0.5,17.15,16.29,0.4,\n"
                                "1,label-skew,drift,gossip,,5,ok,64.82,0.5,90.61,22.03,0,\n"
                                "1,label-skew,eventgrad,eventgrad,1,5,ok,71.88,0.5,0,20.46,,\n";

/* The order of the table is not that of the periods. */
TEST(fixed_periods_of_a_family_are_joined_by_period)
{
    struct text s = { 0 };
    placement_script(&s, "gossip", rows, NULL, 0);
    assert_drawn(text_str(&s), "275.76 72.83\n17.15 72.86\n", "with linespoints lw 1.6 lc rgb '#555555'");
    assert_drawn(text_str(&s), "36.7 72.83\n16.29 72.86\n", "with linespoints lw 1.6 lc rgb '#555555'");
    assert_drawn(text_str(&s), "120 72.3\n30 72.1\n", "with linespoints lw 1.6 lc rgb '#0072B2'");
    assert_has(text_str(&s), "'gossip, fixed period' at");
    assert_has(text_str(&s), "'easgd, fixed period' at");
    assert_has(text_str(&s), "'16' at");
    assert_has(text_str(&s), "numbers: steps between exchanges");
    assert_has(text_str(&s), "'traffic [MB]' at");
    assert_has(text_str(&s), "'simulated time [s]' at");
    assert_has(text_str(&s), "'accuracy of workers [%]' at");
    text_free(&s);
}

/* Blue is the curve of easgd: points go on with what comes after it. One period alone makes no curve. */
TEST(other_methods_are_points_that_look_like_no_curve)
{
    struct text s = { 0 };
    placement_script(&s, "gossip", rows, NULL, 0);
    assert_drawn(text_str(&s), "22.4 72.5\n", "with points ps 0.8 lw 1.2 lc rgb '#D55E00' pt 9");
    assert_drawn(text_str(&s), "16.49 72.5\n", "with points ps 0.8 lw 1.2 lc rgb '#D55E00' pt 9");
    assert_drawn(text_str(&s), "70.89 72.86\n", "with points ps 0.8 lw 1.2 lc rgb '#009E73' pt 5");
    assert_has(text_str(&s), "'drift' at");
    assert_has(text_str(&s), "'eventgrad' at");
    assert_without(text_str(&s), "'eventgrad, fixed period' at");
    text_free(&s);
}

TEST(upright_lines_are_the_intervals_that_are_known)
{
    static const struct plot_where iid[] = { { "shards", "iid" },
                                             { "method", "drift" },
                                             { "method", "eventgrad" } };
    struct text s = { 0 };
    placement_script(&s, "gossip", rows, iid, 3);
    assert_drawn(text_str(&s), "70.89 72.36\n70.89 73.36\n", "with lines lw 0.6 lc rgb '#999999'");
    assert_without(text_str(&s), "\n22.4 72.5\n22.4 72.5\n");
    assert_has(text_str(&s), "95 % interval of the difference to the baseline, 5");
    assert_without(text_str(&s), "steps between exchanges");
    text_free(&s);
}

TEST(the_accuracy_drawn_is_the_one_compared)
{
    static const char both[] = "point,method,family,period,seeds,status,compared,accuracy_pct,average_pct,"
                               "accuracy_vs_base_half,traffic_MB,time_s\n"
                               "0,a,f,,2,ok,averaged,60,70.5,,22,16\n0,b,f,,2,ok,averaged,61,71,,23,17\n";
    struct text s = { 0 };
    placement_script(&s, "gossip", both, NULL, 0);
    assert_has(text_str(&s), "22 70.5\n");
    assert_without(text_str(&s), "22 60\n");
    assert_has(text_str(&s), "accuracy of averaged model [%]");
    text_free(&s);
}

/* Values are 2 points apart: intervals of 9 go on for 2 on each side, and the axis for 9 % of those 6 more.
 */
TEST(wide_intervals_are_cut_so_that_values_stay_apart)
{
    static const char wide[] = HEAD "0,iid,a,f,,2,ok,70,9,1,1,,\n0,iid,b,f,,2,ok,72,0.5,2,2,,\n";
    struct text s = { 0 };
    placement_script(&s, "gossip", wide, NULL, 0);
    assert_has(text_str(&s), "set yrange [67.46:74.54]");
    assert_drawn(text_str(&s), "1 67.46\n1 74.54\n\n2 71.5\n2 72.5\n", "with lines lw 0.6 lc rgb '#999999'");
    assert_has(text_str(&s), "cut at the frame");
    placement_script(&s, "gossip", rows, NULL, 0);
    assert_without(text_str(&s), "cut at the frame");
    text_free(&s);
}

TEST(rows_that_are_not_ok_are_counted)
{
    static const struct plot_where skew[] = { { "point", "1" } };
    struct text s = { 0 };
    placement_script(&s, "gossip", rows, NULL, 0);
    assert_has(text_str(&s), "left out of the rows: 1 diverged, 1 failed");
    assert_without(text_str(&s), "'lag' at");
    placement_script(&s, "gossip", rows, skew, 1);
    assert_without(text_str(&s), "left out");
    text_free(&s);
}

TEST(a_filter_changes_no_colour_of_a_method)
{
    static const struct plot_where one[] = { { "method", "eventgrad" } };
    struct text s = { 0 };
    placement_script(&s, "gossip", rows, one, 1);
    assert_drawn(text_str(&s), "70.89 72.86\n", "with points ps 0.8 lw 1.2 lc rgb '#009E73' pt 5");
    text_free(&s);
}

/* A log axis has no 0. It begins 6 % of ln(275.76 / 17.15) below the least: 17.15 / 1.1813. */
TEST(no_traffic_stands_at_the_left_end)
{
    struct text s = { 0 };
    double lo = 0, x = 1;
    placement_script(&s, "gossip", rows, NULL, 0);
    assert_has(text_str(&s), "no traffic stands at the left end");
    const char *range = strstr(text_str(&s), "set logscale x\nset xrange [");
    assert_non_null(range);
    assert_int_equal(sscanf(range, "set logscale x\nset xrange [%lf:", &lo), 1);
    assert_near(lo, 17.15 / pow(275.76 / 17.15, 0.06), 1e-6);
    const char *point = strstr(text_str(&s), " 71.88\nEOD");
    assert_non_null(point);
    while (point[-1] != '\n')
        point--;
    assert_int_equal(sscanf(point, "%lf", &x), 1);
    assert_near(x, lo, 1e-8);
    text_free(&s);
}

/* Units by the largest value; the next where the least would be below 0.001. */
TEST(traffic_has_the_unit_of_its_largest_value)
{
    static const struct {
        const char *mb[2], *label, *at[2];
    } cases[] = {
        { { "0.5", "0.02" }, "'traffic [kB]' at", { "500 71\n", "20 72\n" } },
        { { "17.15", "275.5" }, "'traffic [MB]' at", { "17.15 71\n", "275.5 72\n" } },
        { { "2500", "1" }, "'traffic [GB]' at", { "2.5 71\n", "0.001 72\n" } },
        { { "2386800", "36720" }, "'traffic [TB]' at", { "2.3868 71\n", "0.03672 72\n" } },
        { { "2386800", "1500" }, "'traffic [TB]' at", { "2.3868 71\n", "0.0015 72\n" } },
        { { "2386800", "500" }, "'traffic [GB]' at", { "2386.8 71\n", "0.5 72\n" } },
        { { "5e9", "2e9" }, "'traffic [PB]' at", { "5 71\n", "2 72\n" } },
    };
    struct text csv = { 0 }, s = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_clear(&csv);
        text_printf(&csv, HEAD "0,iid,a,f,,1,ok,71,,%s,1,,\n0,iid,b,f,,1,ok,72,,%s,1,,\n", cases[i].mb[0],
                    cases[i].mb[1]);
        placement_script(&s, "gossip", text_str(&csv), NULL, 0);
        assert_has(text_str(&s), cases[i].label);
        for (int k = 0; k < 2; k++)
            assert_drawn(text_str(&s), cases[i].at[k], "with points");
    }
    text_free(&csv);
    text_free(&s);
}

/* 20000 s are 5.5556 hours, 1728000 s 20 days. */
TEST(long_times_are_hours_and_days)
{
    static const char hours[] = HEAD "0,iid,a,f,,1,ok,71,,1,20000,,\n0,iid,b,f,,1,ok,72,,1,18000,,\n",
                      days[] = HEAD "0,iid,a,f,,1,ok,71,,1,1728000,,\n";
    struct text s = { 0 };
    placement_script(&s, "gossip", hours, NULL, 0);
    assert_has(text_str(&s), "'simulated time [h]' at");
    assert_drawn(text_str(&s), "5 72\n", "with points");
    placement_script(&s, "gossip", days, NULL, 0);
    assert_has(text_str(&s), "'simulated time [days]' at");
    assert_drawn(text_str(&s), "20 71\n", "with points");
    text_free(&s);
}

/* Of the times of fig_gossip's panels: is the axis of the last log? */
static bool time_is_log(const char *times)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, HEAD);
    for (int i = 0; *times; i++) {
        int n = (int)strcspn(times, " ");
        text_printf(&csv, "0,iid,m%d,f,,1,ok,70,,5,%.*s,,\n", i, n, times);
        times += n + (times[n] == ' ');
    }
    placement_script(&s, "gossip", text_str(&csv), NULL, 0);
    const char *first = strstr(text_str(&s), "logscale x");
    assert_non_null(first);
    const char *second = strstr(first + 1, "logscale x");
    assert_non_null(second);
    bool log = strncmp(second - 6, "unset ", 6) != 0;
    text_free(&csv);
    text_free(&s);
    return log;
}

/* Of 100 to 110 and 1000, linear, the middle half would take 1 % of the axis. Even times stay linear. */
TEST(one_slow_row_makes_the_time_axis_log)
{
    assert_true(time_is_log("100 104 107 110 1000"));
    assert_false(time_is_log("100 200 300 400 500"));
    assert_false(time_is_log("363 364 371 392 525"));
    assert_true(time_is_log("1 50 60 70 80 100"));
    assert_false(time_is_log("5"));
}

static void put_methods(struct text *csv, int n)
{
    text_clear(csv);
    text_puts(csv, HEAD);
    for (int i = 0; i < n; i++)
        text_printf(csv, "0,iid,m%d,other,,1,ok,%d,,%d,%d,,\n", i, 30 + 2 * i, 10 + 5 * i, 100 + 9 * i);
}

TEST(more_methods_than_shapes_have_letters)
{
    struct text csv = { 0 }, s = { 0 };
    put_methods(&csv, 7);
    placement_script(&s, "gossip", text_str(&csv), NULL, 0);
    assert_without(text_str(&s), "'a' at");
    assert_has(text_str(&s), "'m6' at");
    put_methods(&csv, 24);
    placement_script(&s, "gossip", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "'a' at");
    assert_has(text_str(&s), "'x' at");
    assert_has(text_str(&s), "'a  m0' at");
    assert_has(text_str(&s), "'x  m23' at");
    text_free(&csv);
    text_free(&s);
}

TEST(four_points_are_drawn_and_the_others_said_to_be_left_out)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, HEAD);
    for (int i = 0; i < 6; i++)
        text_printf(&csv, "%d,s%d,m,other,,1,ok,70,,1%d,9,,\n", i, i, i);
    placement_script(&s, "gossip", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "first 4 of 6 points");
    assert_has(text_str(&s), "'shards s3' at");
    assert_without(text_str(&s), "'shards s4' at");
    text_free(&csv);
    text_free(&s);
}

/* ---- texts beside markers ---- */

static bool box_overlaps(const struct canvas_box *a, const struct canvas_box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* Between rows of markers there is room for texts, but each is as wide as two markers: not for all. */
TEST(texts_lie_over_nothing)
{
    struct places p;
    struct plot_options opt = { 0 };
    struct canvas_xy at[36];
    struct canvas c;
    int written = 0;
    canvas_init(&c, &opt, "");
    c.height_px = 400;
    OK(places_begin(&p, &c, 4096, e));
    p.inside = (struct canvas_box){ 0, 0, 100, 160 };
    for (int i = 0; i < 36; i++) {
        at[i] = (struct canvas_xy){ 10 + 16 * (i % 6), 10 + 26 * (i / 6) };
        places_take_marker(&p, at[i]);
    }
    for (int i = 0; i < 36; i++)
        written += places_put(&p, &c, at[i], "12345", "#000000");
    assert_in_range(written, 6, 35);
    assert_int_equal(p.n, 36 + written);
    for (int i = 36; i < p.n; i++) {
        const struct canvas_box *box = &p.taken[i].box;
        assert_true(box->left >= 0 && box->right <= 100 && box->top >= 0 && box->bottom <= 160);
        for (int k = 0; k < i; k++)
            assert_false(box_overlaps(box, &p.taken[k].box));
    }
    canvas_free(&c);
}

/* Above the marker runs a line: the text goes below. With lines on all sides it lies over one. */
TEST(a_text_lies_over_a_line_only_where_there_is_no_other_room)
{
    struct places p;
    const struct canvas_xy at = { 50, 50 };
    struct plot_options opt = { 0 };
    struct canvas c;
    canvas_init(&c, &opt, "");
    c.height_px = 400;
    OK(places_begin(&p, &c, 4096, e));
    p.inside = (struct canvas_box){ 0, 0, 100, 100 };
    places_take_marker(&p, at);
    places_take_line(&p, (struct canvas_xy){ 20, 40 }, (struct canvas_xy){ 80, 40 });
    assert_true(places_put(&p, &c, at, "8", "#000000"));
    assert_true(p.taken[p.n - 1].box.top >= 55);
    p.n = 0;
    places_take_marker(&p, at);
    for (int y = 20; y <= 80; y += 4)
        places_take_line(&p, (struct canvas_xy){ 0, y }, (struct canvas_xy){ 100, y });
    assert_true(places_put(&p, &c, at, "8", "#000000"));
    assert_true(p.taken[p.n - 1].box.bottom <= 45);
    canvas_free(&c);
}

/* ---- bandwidth ---- */

/* Rows are 1 high. What needs none has no point, what is blank is not a row. */
TEST(points_stand_at_the_bandwidth_needed)
{
    struct text s = { 0 };
    placement_script(&s, "gossip_need", rows, NULL, 0);
    assert_drawn(text_str(&s), "0.4 0.5\n6.9 1.5\n0.56 2.5\n0.8 3.5\n1.1 4.5\n1.8 5.5\n", "with points");
    assert_drawn(text_str(&s), "0.4 0.5\n", "with points");
    assert_without(text_str(&s), "boxxy");
    assert_has(text_str(&s), "set logscale x");
    assert_has(text_str(&s), "'6.9' at");
    assert_has(text_str(&s), "'next to none' at");
    assert_has(text_str(&s), "'–' at");
    assert_has(text_str(&s), "'bandwidth needed per NPU [GB/s]' at");
    assert_has(text_str(&s), "left out of the rows: 1 diverged, 1 failed, 1 without a value");
    assert_without(text_str(&s), "endless");
    text_free(&s);
}

TEST(needs_are_written_in_plain_digits)
{
    static const struct {
        const char *cell, *text;
    } cases[] = { { "1660.4", "'1,660' at" }, { "0.0000123456", "'0.0000123' at" },
                  { "237.53", "'238' at" },   { "1234567", "'1,230,000' at" },
                  { "100", "'100' at" },      { "23.04", "'23' at" },
                  { "0.4", "'0.4' at" },      { "9.996", "'10' at" },
                  { "999.6", "'1,000' at" },  { "0", "'next to none' at" } };
    struct text csv = { 0 }, s = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_clear(&csv);
        text_printf(&csv, "point,method,status,need_GBps\n0,m,ok,%s\n", cases[i].cell);
        placement_script(&s, "gossip_need", text_str(&csv), NULL, 0);
        assert_has(text_str(&s), cases[i].text);
    }
    text_free(&csv);
    text_free(&s);
}

#define ASKED "point,method,status,need_GBps,need_wait_pct,need_dim\n"
TEST(what_need_means_is_said_where_the_table_has_it)
{
    static const char one[] = ASKED "0,a,ok,1,5,rack\n0,b,ok,2,5,rack\n",
                      two[] = ASKED "0,a,ok,1,5,rack\n1,a,ok,2,20,pod\n",
                      all[] = ASKED "0,a,ok,1,,\n0,b,ok,2,,\n",
                      wait[] = "point,method,status,need_GBps,need_wait_pct\n0,a,ok,1,7.5\n",
                      word[] = ASKED "0,a,ok,1,much,rack\n";
    struct plot_options narrow = { .width_px = 360 };
    struct text s = { 0 };
    struct table t;
    placement_script(&s, "gossip_need", one, NULL, 0);
    assert_has(text_str(&s), "bandwidth at which a run takes 5 % longer than with endless bandwidth");
    assert_has(text_str(&s), "'bandwidth of dimension rack needed per NPU [GB/s]' at");
    placement_script(&s, "gossip_need", wait, NULL, 0);
    assert_has(text_str(&s), "takes 7.5 % longer");
    placement_script(&s, "gossip_need", two, NULL, 0);
    assert_has(text_str(&s), "takes 5 to 20 % longer");
    assert_has(text_str(&s), "'bandwidth of one dimension needed per NPU [GB/s]' at");
    placement_script(&s, "gossip_need", all, NULL, 0);
    assert_without(text_str(&s), "endless");
    assert_has(text_str(&s), "'bandwidth needed per NPU [GB/s]' at");
    assert_refused("gossip_need", word, "figure gossip_need: row 1, column need_wait_pct: is \"much\"");
    placement_table(&t, one);
    text_clear(&s);
    OK(plot_script("gossip_need", &t, &narrow, &s, e));
    assert_has(text_str(&s), "'per NPU, dimension rack [GB/s]' at");
    table_free(&t);
    text_free(&s);
}

TEST(a_single_axis_of_numbers_has_lines_instead)
{
    static const char axis[] = "point,workers,model_MB,method,status,need_GBps\n"
                               "0,8,10,sync,ok,1\n1,8,20,sync,ok,2\n2,8,30,sync,ok,3\n"
                               "0,8,10,drift,ok,0.5\n1,8,20,drift,diverged,\n2,8,30,drift,ok,1.5\n";
    static const struct plot_where one[] = { { "model_MB", "10" } };
    struct text s = { 0 };
    placement_script(&s, "gossip_need", axis, NULL, 0);
    assert_drawn(text_str(&s), "10 1\n20 2\n30 3\n", "with linespoints lw 1.6 lc rgb '#0072B2'");
    assert_drawn(text_str(&s), "10 0.5\n30 1.5\n", "with linespoints lw 1.6 lc rgb '#D55E00'");
    assert_has(text_str(&s), "'model_MB' at");
    assert_has(text_str(&s), "left out of the rows: 1 diverged");
    placement_script(&s, "gossip_need", axis, one, 1);
    assert_without(text_str(&s), "with linespoints");
    text_free(&s);
}

TEST(methods_beyond_the_room_are_counted)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, "point,method,status,need_GBps\n");
    for (int i = 0; i < 30; i++)
        text_printf(&csv, "0,m%d,ok,%d\n", i, i + 1);
    placement_script(&s, "gossip_need", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "first 24 of 30 methods");
    assert_has(text_str(&s), "'m23' at");
    assert_without(text_str(&s), "'m24' at");
    text_free(&csv);
    text_free(&s);
}

/* ---- both ---- */

TEST(what_cannot_be_drawn_of_methods_is_placed)
{
    static const char no_method[] = "point,status,need_GBps\n0,ok,1\n",
                      word[] = HEAD "0,iid,m,f,,5,ok,high,,1,1,1,\n",
                      negative[] = HEAD "0,iid,m,f,,5,ok,70,,-1,1,1,\n",
                      undone[] = HEAD "0,iid,m,f,,5,diverged,,,,,,\n",
                      blank[] = "point,method,status,need_GBps\n0,m,ok,\n";
    assert_refused("gossip", blank,
                   "figure gossip: column family: is missing, need it in the CSV of weft gossip");
    assert_refused("gossip", word, "figure gossip: row 1, column accuracy_pct: is \"high\", need a number");
    assert_refused("gossip", negative, "figure gossip: row 1, column traffic_MB: is -1, need at least 0");
    assert_refused(
        "gossip", undone,
        "figure gossip: rows to draw: is 0 of 1 (1 pass the filter, 1 of those are not ok or lack");
    assert_refused("gossip", HEAD, "figure gossip: rows to draw: is 0 of 0");
    assert_refused("gossip_need", no_method, "figure gossip_need: column method: is missing");
    assert_refused("gossip_need", blank,
                   "figure gossip_need: rows to draw: is 0 of 1 (1 pass the filter, 1 of those");
}

TEST(figures_of_methods_are_drawn_in_every_format)
{
    assert_drawn_in_every_format("gossip", rows);
    assert_drawn_in_every_format("gossip_need", rows);
}
