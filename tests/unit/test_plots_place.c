#include "tests/unit/test_plots_placement.h"

/* Round numbers, not schedules. One seed: no intervals, so lines do not step aside. */
#define HEAD_SLOTS                                                                                           \
    "point,jobs.count,network,model,scheduler,seeds,jobs,utility,utility_ci,embedded_frac,"                  \
    "embedded_frac_ci,jct,jct_ci,network_usd,status,message\n"
static const char slots[] = HEAD_SLOTS "0,40,racks,slots,gadget,1,40,300,,0.9,,20,,,done,\n"
                                       "0,40,racks,slots,drf,1,40,200,,0.875,,30,,,done,\n"
                                       "1,80,racks,slots,gadget,1,80,500,,0.6,,25,,,done,\n"
                                       "1,80,racks,slots,drf,1,80,250,,0.1,,45,,,done,\n"
                                       "2,120,racks,slots,,,,,,,,,,,error,too many\n";

TEST(utility_is_a_line_per_scheduler_over_the_axis_of_numbers)
{
    struct text s = { 0 };
    placement_script(&s, "place", slots, NULL, 0);
    assert_drawn(text_str(&s), "40 300\n80 500\n",
                 "with linespoints lw 1.6 lc rgb '#0072B2' dt 1 ps 0.6 pt 7");
    assert_drawn(text_str(&s), "40 200\n80 250\n", "lc rgb '#D55E00' dt (12");
    assert_has(text_str(&s), "'Total utility by scheduler' at");
    assert_has(text_str(&s), "'total utility' at");
    assert_has(text_str(&s), "'jobs.count' at");
    assert_has(text_str(&s), "'gadget' at");
    assert_has(text_str(&s), "'racks · model slots · 1 seed; 1 rows are not done and are left out' at");
    assert_without(text_str(&s), "whiskers");
    text_free(&s);
}

TEST(without_utility_completion_times_are_drawn)
{
    static const char in_slots[] = "point,jobs.count,network,model,scheduler,seeds,jct,status\n"
                                   "0,40,r,slots,las,1,20,done\n1,80,r,slots,las,1,25,done\n",
                      in_seconds[] = "point,jobs.count,network,model,scheduler,seeds,jct_s,status\n"
                                     "0,40,r,events,las,1,7200,done\n1,80,r,events,las,1,36000,done\n";
    struct text s = { 0 };
    placement_script(&s, "place", in_slots, NULL, 0);
    assert_drawn(text_str(&s), "40 20\n80 25\n", "with linespoints");
    assert_has(text_str(&s), "'mean completion time [slots]' at");
    assert_has(text_str(&s), "'Mean completion time by scheduler' at");
    placement_script(&s, "place", in_seconds, NULL, 0);
    assert_drawn(text_str(&s), "40 2\n80 10\n", "with linespoints");
    assert_has(text_str(&s), "'mean completion time [h]' at");
    text_free(&s);
}

TEST(a_filter_changes_no_colour)
{
    static const struct plot_where drf[] = { { "scheduler", "drf" } };
    struct text s = { 0 };
    placement_script(&s, "place", slots, drf, 1);
    assert_drawn(text_str(&s), "40 200\n80 250\n", "lc rgb '#D55E00'");
    assert_without(text_str(&s), "'gadget' at");
    text_free(&s);
}

/* At one point of the study: four bars of 0.8 in all stand where gadget and drf are 0 and 1. */
TEST(without_an_axis_there_is_a_bar_per_scheduler_with_its_number)
{
    static const struct plot_where one[] = { { "jobs.count", "40" } };
    struct text s = { 0 };
    placement_script(&s, "place", slots, one, 1);
    assert_drawn(text_str(&s), "0.1 0 0.9 300\n1.1 0 1.9 200\n", "with boxxyerror");
    assert_has(text_str(&s), "'300' at");
    assert_has(text_str(&s), "'drf' at");
    assert_has(text_str(&s), "racks · model slots · jobs.count 40 · 1 seed");
    text_free(&s);
}

TEST(intervals_are_whiskers_and_lines_step_aside)
{
    static const char csv[] = "point,n.x,network,model,scheduler,seeds,utility,utility_ci,status\n"
                              "0,0,r,slots,a,5,100,10,done\n0,0,r,slots,b,5,50,60,done\n"
                              "1,100,r,slots,a,5,100,20,done\n1,100,r,slots,b,5,50,,done\n";
    struct text s = { 0 };
    double ax, alow, ahigh, bx;
    placement_script(&s, "place", csv, NULL, 0);
    assert_has(text_str(&s), "5 seeds; whiskers: 95 % interval over seeds");
    const char *whiskers = strstr(text_str(&s), "$d1 << EOD\n");
    assert_non_null(whiskers);
    assert_int_equal(sscanf(whiskers, "$d1 << EOD\n%lf 100 %lf %lf\n", &ax, &alow, &ahigh), 3);
    assert_close(alow, 90, 1e-9);
    assert_close(ahigh, 110, 1e-9);
    assert_has(text_str(&s), "with vectors heads size screen 0.004,90 lw 0.9 lc rgb '#0072B2'");
    /* That of b begins at zero, where the axis does. */
    whiskers = strstr(text_str(&s), " 50 0 110\n");
    assert_non_null(whiskers);
    while (whiskers[-1] != '\n')
        whiskers--;
    assert_int_equal(sscanf(whiskers, "%lf", &bx), 1);
    assert_true(ax < 0);
    assert_near(ax + bx, 0, 1e-9);
    text_free(&s);
}

TEST(other_axes_make_panels_beside_and_below_each_other)
{
    static const char csv[] = "point,a.x,b.rule,c.y,network,model,scheduler,seeds,utility,status\n"
                              "0,1,fast,7,r,slots,las,1,10,done\n0,1,slow,7,r,slots,las,1,20,done\n"
                              "0,1,fast,8,r,slots,las,1,30,done\n0,1,slow,8,r,slots,las,1,40,done\n"
                              "0,2,fast,7,r,slots,las,1,50,done\n0,2,slow,7,r,slots,fifo,1,60,done\n";
    struct text s = { 0 };
    placement_script(&s, "place", csv, NULL, 0);
    assert_has(text_str(&s), "'b.rule fast' at");
    assert_has(text_str(&s), "'b.rule slow' at");
    assert_has(text_str(&s), "'c.y 8' at");
    assert_has(text_str(&s), "'a.x' at");
    assert_drawn(text_str(&s), "1 10\n2 50\n", "with linespoints");
    text_free(&s);
}

TEST(under_one_scheduler_settings_are_the_lines)
{
    static const char csv[] = "point,smd.inner,jobs.count,network,model,scheduler,seeds,optimum_frac,"
                              "used_frac,status\n"
                              "0,exact,10,pool,interval,smd,1,0.75,0.5,done\n"
                              "1,exact,20,pool,interval,smd,1,1,0.25,done\n"
                              "2,grid,10,pool,interval,smd,1,0.5,,done\n";
    struct text s = { 0 };
    placement_script(&s, "optimum", csv, NULL, 0);
    assert_has(text_str(&s), "scheduler smd");
    assert_has(text_str(&s), "'smd.inner exact' at");
    assert_drawn(text_str(&s), "10 75\n20 100\n", "lc rgb '#0072B2'");
    assert_drawn(text_str(&s), "10 50\n20 25\n", "lc rgb '#0072B2'");
    assert_drawn(text_str(&s), "10 50\n", "lc rgb '#D55E00'");
    assert_has(text_str(&s), "'of the optimum [%]' at");
    assert_has(text_str(&s), "'used of reserved [%]' at");
    text_free(&s);
}

TEST(a_share_and_its_interval_end_at_the_whole)
{
    static const char csv[] = "point,jobs.count,network,model,scheduler,seeds,optimum_frac,optimum_frac_ci,"
                              "status\n0,10,pool,interval,smd,4,0.9,0.2,done\n"
                              "1,20,pool,interval,smd,4,0.8,0.05,done\n";
    struct text s = { 0 };
    placement_script(&s, "optimum", csv, NULL, 0);
    assert_has(text_str(&s), "10 90 70 100\n");
    assert_has(text_str(&s), "20 80 75 85\n");
    assert_without(text_str(&s), "'used of reserved");
    text_free(&s);
}

TEST(makespans_are_bars_in_groups_above_completion_times)
{
    static const char csv[] =
        "point,pool.servers,network,model,scheduler,seeds,makespan_s,makespan_s_ci,jct_s,status\n"
        "0,20,pool,batch,sjf-bco,3,535,30,178,done\n0,20,pool,batch,ls,3,595,,187,done\n"
        "1,10,pool,batch,sjf-bco,3,939,,200,done\n1,10,pool,batch,ls,3,1160,,300,done\n";
    struct text s = { 0 };
    placement_script(&s, "makespan", csv, NULL, 0);
    /* Groups rise: 10 before 20. A group has 0.8, each of two bars 0.4. */
    assert_drawn(text_str(&s), "0.1 0 0.5 939\n1.1 0 1.5 535\n", "fc rgb '#0072B2'");
    assert_drawn(text_str(&s), "0.5 0 0.9 1160\n1.5 0 1.9 595\n", "fc rgb '#E69F00'");
    assert_drawn(text_str(&s), "1.3 535 505 565\n", "with vectors heads");
    assert_drawn(text_str(&s), "0.1 0 0.5 200\n1.1 0 1.5 178\n", "fc rgb '#0072B2'");
    assert_has(text_str(&s), "'makespan [s]' at");
    assert_has(text_str(&s), "'mean completion [s]' at");
    assert_has(text_str(&s), "'pool.servers' at");
    assert_has(text_str(&s), "'10' at");
    assert_has(text_str(&s), "'1160' at");
    text_free(&s);
}

/* A cell is x_lo y_lo x_hi y_hi with y from the top; columns are job counts 40 and 80. */
TEST(one_axis_makes_a_map_with_a_row_per_scheduler)
{
    struct text s = { 0 };
    placement_script(&s, "embedded", slots, NULL, 0);
    assert_drawn(text_str(&s), "0 1 1 0\n", "fc rgb '#08519C'"); /* 90 % and more */
    assert_drawn(text_str(&s), "0 2 1 1\n", "fc rgb '#2171B5'"); /* 80 % */
    assert_drawn(text_str(&s), "1 2 2 1\n", "fc rgb '#F7FBFF'");
    assert_has(text_str(&s), "'90.0' at");
    assert_has(text_str(&s), "'87.5' at");
    assert_has(text_str(&s), "'90 % and more' at");
    assert_has(text_str(&s), "'below 20 %' at");
    assert_has(text_str(&s), "'gadget' at");
    assert_has(text_str(&s), "'jobs.count' at");
    text_free(&s);
}

TEST(two_axes_make_a_map_per_scheduler)
{
    static const char csv[] =
        "point,racks.factor,jobs.count,network,model,scheduler,seeds,embedded_frac,status\n"
        "0,1,40,r,slots,gadget,3,0.7407,done\n0,1,40,r,slots,drf,3,0.5,done\n"
        "1,2,40,r,slots,gadget,3,1,done\n2,1,80,r,slots,drf,3,0.25,done\n";
    struct text s = { 0 };
    placement_script(&s, "embedded", csv, NULL, 0);
    assert_has(text_str(&s), "'gadget' at");
    assert_has(text_str(&s), "'drf' at");
    assert_has(text_str(&s), "'74.1' at");
    assert_has(text_str(&s), "'100' at");
    assert_has(text_str(&s), "'racks.factor' at");
    assert_has(text_str(&s), "empty: not in the table");
    assert_drawn(text_str(&s), "0 2 1 1\n", "fc rgb '#08519C'"); /* factor 2, 40 jobs */
    text_free(&s);
}

/* drf costs more time at the same network; the dear network is best with gadget. */
TEST(completion_times_fall_over_cost_along_a_front)
{
    static const char csv[] =
        "point,network.dims[1].bw_GBps,jobs.count,network,model,scheduler,seeds,jct_s,network_usd,status\n"
        "0,25,9,ring:8@25,events,gadget,2,400,1000,done\n0,25,9,ring:8@25,events,drf,2,500,1000,done\n"
        "1,50,9,ring:8@50,events,gadget,2,450,2000,done\n2,99,9,ring:8@99,events,gadget,2,300,3000,done\n"
        "2,99,9,ring:8@99,events,drf,2,350,3000,done\n3,200,9,ring:8@200,events,gadget,2,,,error\n";
    struct text s = { 0 };
    placement_script(&s, "place_cost", csv, NULL, 0);
    assert_drawn(text_str(&s), "1 400\n2 450\n3 300\n", "with linespoints lw 1.6 lc rgb '#0072B2'");
    assert_drawn(text_str(&s), "1 500\n3 350\n", "with linespoints lw 1.6 lc rgb '#D55E00'");
    const char *front = strstr(text_str(&s), "\n1 400\n3 400\n3 300\n");
    assert_non_null(front);
    assert_has(text_str(&s), "'Pareto front' at");
    assert_has(text_str(&s), "'network cost [k USD]' at");
    assert_has(text_str(&s), "'mean completion time [s]' at");
    assert_has(text_str(&s), "labels on the front:");
    assert_has(text_str(&s), "'dims[1].bw_GBps' at");
    assert_has(text_str(&s), "'25' at");
    assert_has(text_str(&s), "'99' at");
    assert_without(text_str(&s), "'50' at");
    text_free(&s);
}

TEST(what_is_not_of_the_network_makes_panels_over_cost)
{
    static const char csv[] = "point,network,model,scheduler,seeds,jct,network_usd,status,jobs\n"
                              "0,flat,slots,las,1,30,100,done,4\n0,tree,slots,las,1,20,200,done,4\n",
                      by_jobs[] = "point,jobs.count,network,model,scheduler,seeds,jct,network_usd,status\n"
                                  "0,4,flat,slots,las,1,30,100,done\n0,8,tree,slots,las,1,20,200,done\n";
    struct text s = { 0 };
    placement_script(&s, "place_cost", csv, NULL, 0);
    assert_has(text_str(&s), "labels on the front: network");
    assert_has(text_str(&s), "'tree' at");
    assert_has(text_str(&s), "'mean completion time [slots]' at");
    placement_script(&s, "place_cost", by_jobs, NULL, 0);
    assert_has(text_str(&s), "'jobs.count 4' at");
    assert_has(text_str(&s), "'jobs.count 8' at");
    text_free(&s);
}

TEST(many_groups_panels_and_values_are_cut_and_counted)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv,
              "point,a.x,b.y,c.z,network,model,scheduler,seeds,makespan_s,embedded_frac,utility,status\n");
    for (int i = 0; i < 30; i++)
        text_printf(&csv, "%d,%d,%d,%d,r,slots,las,1,5,0.5,5,done\n", i, i, i % 8, i % 10);
    placement_script(&s, "makespan", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "of 30 groups");
    assert_has(text_str(&s), "first 5 of 8 panels beside each other");
    assert_has(text_str(&s), "first 6 of 10 panels below each other");
    placement_script(&s, "embedded", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "first 6 of 10 maps");
    assert_has(text_str(&s), "first 16 of 30 a.x");
    text_free(&csv);
    text_free(&s);
}

TEST(what_cannot_be_drawn_is_placed)
{
    static const char
        missing[] = "point,network,model,scheduler,seeds,jobs,status\n0,r,slots,las,1,4,done\n",
        word[] = "point,network,model,scheduler,seeds,utility,status\n0,r,slots,las,1,much,done\n",
        negative[] = "point,network,model,scheduler,seeds,jct_s,status\n0,r,events,las,1,-2,done\n",
        free_of_charge[] = "point,network,model,scheduler,seeds,jct_s,network_usd,status\n"
                           "0,r,events,las,1,2,0,done\n",
        no_axis[] = "point,network,model,scheduler,seeds,embedded_frac,status\n0,r,slots,las,1,1,done\n";
    assert_refused("place", missing, "figure place: columns utility, jct_s, jct: are missing, need one");
    assert_refused(
        "makespan", missing,
        "figure makespan: column makespan_s: is missing, need it in the CSV of weft place of model batch");
    assert_refused("optimum", missing, "figure optimum: column optimum_frac: is missing");
    assert_refused("place", word, "figure place: row 1, column utility: is \"much\", need a number");
    assert_refused("place", negative, "figure place: row 1, column jct_s: is -2, need at least 0");
    assert_refused("place_cost", free_of_charge, "row 1, column network_usd: is 0, need above 0");
    assert_refused("embedded", no_axis, "figure embedded: axes of numbers: is 0, need 1 or 2");
    assert_refused("place", HEAD_SLOTS, "figure place: rows to draw: is 0 of 0");
    assert_refused(
        "place_cost", slots,
        "figure place_cost: rows to draw: is 0 of 5 (5 pass the filter, 5 of those are not done or "
        "lack a value), need at least 1");
}

TEST(all_are_drawn_in_every_format)
{
    static const char csv[] =
        "point,network.size,jobs.count,network,model,scheduler,seeds,utility,utility_ci,embedded_frac,"
        "optimum_frac,used_frac,makespan_s,makespan_s_ci,jct_s,network_usd,status\n"
        "0,8,40,a,slots,gadget,4,300,20,0.9,0.8,0.4,500,20,90,1000,done\n"
        "0,8,40,a,slots,it's long,4,200,,0.8,0.7,0.5,600,,80,1000,done\n"
        "1,8,80,a,slots,gadget,4,500,,0.6,0.9,0.3,700,50,70,1000,done\n"
        "2,16,40,b,slots,gadget,4,550,9,0.5,1,0.3,800,10,60,3000,done\n";
    static const char *const figures[] = { "place", "embedded", "optimum", "makespan", "place_cost" };
    for (size_t i = 0; i < COUNT_OF(figures); i++)
        assert_drawn_in_every_format(figures[i], csv);
}
