#include "tests/unit/test_plots_placement.h"

/* The costs over the oracle are those that a prototype measured for 16 layers on 16 types. */
#define HEAD                                                                                                 \
    "point,model,types,layers,scheduler,seeds,usd,usd_worst,over_oracle,over_oracle_worst,over_best,"        \
    "feasible,need_per_s,examples_per_s,reach_per_s,usd_per_h,oracle_usd,oracle_proof,status,message\n"
static const char costs[] =
    HEAD "0,ctrdnn,16,16,oracle,1,1000,1000,1,1,1,1,2e6,2e6,,20,1000,optimal,done,\n"
         "0,ctrdnn,16,16,cpu-only,1,,,,,,0,2e6,,1234567,,1000,optimal,infeasible,\n"
         "0,ctrdnn,16,16,gpu-only,1,69000,69000,69,69,69,1,2e6,2e6,,900,1000,optimal,done,\n"
         "0,ctrdnn,16,16,random,5,3200,4000,3.2,4,3.2,3,2e6,2e6,,64,1000,optimal,partly,\n"
         "0,ctrdnn,16,16,rl-lstm,5,1050,2090,1.05,2.09,1.05,5,2e6,2e6,,21,1000,optimal,done,\n"
         "1,nce,16,5,oracle,1,2500,2500,1,1,1,1,2e6,2e6,,20,2500,optimal,done,\n"
         "1,nce,16,5,random,5,,,,,,2,2e6,,1e6,,2500,optimal,partly,\n"
         "1,nce,16,5,brute,1,,,,,,0,,,,,,,error,too many plans\n"
         "2,nce,16,5,oracle,1,,,,,,0,9e9,,3e9,,,,infeasible,\n";

/* Rows count from the top, a bar fills 0.68 of its. */
TEST(bars_go_from_the_optimum_to_the_median_and_whiskers_to_the_worst_seed)
{
    struct text s = { 0 };
    placement_script(&s, "hetero", costs, NULL, 0);
    assert_drawn(text_str(&s), "1 0.84 1 0.16\n1 2.84 69 2.16\n1 3.84 3.2 3.16\n1 4.84 1.05 4.16\n",
                 "fc rgb '#0072B2'");
    assert_drawn(text_str(&s), "3.2 3.5\n4 3.5\n4 3.3\n4 3.7\n\n1.05 4.5\n2.09 4.5\n2.09 4.3\n2.09 4.7\n",
                 "with lines lw 1.2 lc rgb '#000000'");
    assert_drawn(text_str(&s), "1 0\n1 6\n", "with lines lw 1.2 lc rgb '#000000'");
    assert_has(text_str(&s), "set logscale x");
    assert_has(text_str(&s), "'cost over that of the optimum' at");
    assert_has(text_str(&s), "'ctrdnn: optimum 1 k USD' at");
    assert_has(text_str(&s), "'nce: optimum 2.5 k USD' at");
    assert_has(text_str(&s), "'1.050 (2.090)' at");
    assert_has(text_str(&s), "'3.200 (2 of 5 fail)' at");
    assert_has(text_str(&s), "'69.0' at");
    assert_has(text_str(&s), "'16 types; whiskers: worst of 5 seeds' at");
    text_free(&s);
}

TEST(a_scheduler_without_a_plan_has_words_instead_of_a_bar)
{
    struct text s = { 0 };
    placement_script(&s, "hetero", costs, NULL, 0);
    assert_has(text_str(&s), "'infeasible: reaches 1.23 M of 2 M examples/s' at");
    assert_has(text_str(&s), "'partly: 2 of 5 seeds have a plan' at");
    assert_has(text_str(&s), "'error: too many plans' at");
    assert_has(text_str(&s), " 1.84\n");
    assert_has(text_str(&s), "fc rgb '#EEEEEE'");
    assert_has(text_str(&s), "'no plan' at");
    assert_without(text_str(&s), "but no ratio");
    text_free(&s);
}

/* Labels are commands: inside a block of data gnuplot would take them for data. */
TEST(words_stand_outside_of_blocks)
{
    struct text s = { 0 };
    static const char csv[] =
        "point,model,scheduler,over_oracle,status\n0,m,a,,infeasible\n0,m,b,,infeasible\n";
    placement_script(&s, "hetero", csv, NULL, 0);
    bool inside = false;
    for (const char *line = text_str(&s); *line; line = strchr(line, '\n') + 1) {
        inside = strncmp(line, "$d", 2) == 0 || (inside && strncmp(line, "EOD", 3) != 0);
        assert_false(inside && strncmp(line, "set", 3) == 0);
    }
    text_free(&s);
}

TEST(under_a_filter_the_optimum_is_still_the_reference)
{
    static const struct plot_where rl[] = { { "scheduler", "rl-lstm" } };
    struct text s = { 0 };
    placement_script(&s, "hetero", costs, rl, 1);
    assert_has(text_str(&s), "'ctrdnn · 16 types · 16 layers; whiskers: worst of 5 seeds' at");
    assert_has(text_str(&s), "'optimum 1 k USD' at");
    assert_drawn(text_str(&s), "1 0.84 1.05 0.16\n", "fc rgb '#0072B2'");
    assert_has(text_str(&s), "unset logscale x");
    assert_without(text_str(&s), "'no plan' at");
    text_free(&s);
}

TEST(without_a_proof_nothing_is_called_optimum)
{
    static const char bound[] =
        "point,model,scheduler,over_oracle,oracle_usd,oracle_proof,status\n"
        "0,m,oracle,,400,lower bound,infeasible\n0,m,greedy,1.5,400,lower bound,done\n",
                      mixed[] = "point,model,scheduler,over_oracle,oracle_usd,oracle_proof,status\n"
                                "0,m,greedy,1.5,400,lower bound,done\n1,n,greedy,1.5,300,optimal,done\n",
                      best[] = "point,model,scheduler,over_oracle,over_best,status\n"
                               "0,m,greedy,,1,done\n0,m,random,,2,done\n",
                      alone[] = "point,model,scheduler,over_oracle,status\n0,m,greedy,1.5,done\n";
    struct text s = { 0 };
    placement_script(&s, "hetero", bound, NULL, 0);
    assert_has(text_str(&s), "'lower bound 400 USD' at");
    assert_has(text_str(&s), "'cost over that of the lower bound' at");
    assert_without(text_str(&s), "optimum");
    placement_script(&s, "hetero", mixed, NULL, 0);
    assert_has(text_str(&s), "'m: lower bound 400 USD' at");
    assert_has(text_str(&s), "'n: optimum 300 USD' at");
    assert_has(text_str(&s), "'cost over that of the oracle' at");
    placement_script(&s, "hetero", best, NULL, 0);
    assert_has(text_str(&s), "'cost over that of the cheapest of the schedulers' at");
    assert_drawn(text_str(&s), "1 0.84 1 0.16\n1 1.84 2 1.16\n", "fc rgb '#0072B2'");
    placement_script(&s, "hetero", alone, NULL, 0);
    assert_has(text_str(&s), "'cost over that of the oracle' at");
    text_free(&s);
}

TEST(axes_name_the_panels_and_what_is_common_is_noted)
{
    static const char csv[] =
        "point,draw.types,throughput.share,model,types,layers,scheduler,over_oracle,status\n"
        "0,2,0.5,configs/models/dlrm.yaml,2,16,greedy,1.5,done\n"
        "1,16,0.5,configs/models/dlrm.yaml,16,16,greedy,1.25,done\n"
        "1,16,0.5,configs/models/dlrm.yaml,16,16,greedy,9,done\n"
        "1,16,0.5,configs/models/dlrm.yaml,16,16,random,,done\n";
    struct text s = { 0 };
    placement_script(&s, "hetero", csv, NULL, 0);
    assert_has(text_str(&s), "'draw.types 2' at");
    assert_has(text_str(&s), "'draw.types 16' at");
    assert_has(text_str(&s), "throughput.share 0.5 · dlrm · 16 layers;");
    assert_has(text_str(&s), "1 rows repeat a point and a scheduler and are left out");
    assert_has(text_str(&s), "left out; 1 rows have a");
    text_free(&s);
}

TEST(points_and_schedulers_beyond_the_room_are_counted)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, "point,draw.types,model,scheduler,over_oracle,status\n");
    for (int p = 0; p < 8; p++)
        for (int i = 0; i < 30; i++)
            text_printf(&csv, "%d,%d,ctrdnn,s%d,1.5,done\n", p, p + 2, i);
    placement_script(&s, "hetero", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "first 6 of 8 points");
    assert_has(text_str(&s), "first 24 of 30 schedulers");
    assert_without(text_str(&s), "'s24' at");
    text_free(&csv);
    text_free(&s);
}

TEST(what_costs_nothing_has_words_instead_of_a_ratio)
{
    static const char csv[] =
        "point,model,scheduler,usd,over_oracle,oracle_usd,status\n"
        "0,m,greedy,0,,0,done\n0,m,random,7,,0,done\n1,n,greedy,3,1.5,2,done\n1,n,random,,,2,infeasible\n";
    struct text s = { 0 };
    placement_script(&s, "hetero", csv, NULL, 0);
    assert_has(text_str(&s), "'0 USD' at");
    assert_has(text_str(&s), "'no ratio' at");
    assert_has(text_str(&s), "2 rows have a plan but no ratio");
    assert_has(text_str(&s), "'–' at");
    text_free(&s);
}

TEST(of_a_long_name_the_keys_go_before_the_values)
{
    static const char two[] =
        "point,throughput.per_s,network.dims.pools.bw_GBps,scheduler,over_oracle,status\n"
        "0,2000000,50.25,greedy,1.5,done\n1,8000000,6.25,greedy,1.25,done\n",
                      one[] = "point,throughput.per_s,network.dims.pools.bw_GBps_of_all,draw.cpu.max_units,"
                              "scheduler,over_oracle,status\n"
                              "0,2000000,50.25,16,greedy,1.5,done\n1,8000000,6.25,32,greedy,1.25,done\n";
    struct text s = { 0 };
    placement_script(&s, "hetero", two, NULL, 0);
    assert_has(text_str(&s), "'throughput.per_s 2000000 · pools.bw_GBps 50.25' at");
    placement_script(&s, "hetero", one, NULL, 0);
    assert_has(text_str(&s), "'2000000 · 50.25 · 16' at");
    text_free(&s);
}

/* ---- learning ---- */

#define CURVES "point,model,scheduler,seed,evaluations,usd,over_oracle\n"
/* Two seeds of random, from 4 and 2 evaluations on; at the end 2 and 4. */
static const char curves[] =
    CURVES "0,nce,random,1,4,800,8\n0,nce,random,1,100,200,2\n0,nce,random,1,1000,200,2\n"
           "0,nce,random,2,2,1000,10\n0,nce,random,2,50,400,4\n0,nce,random,2,1000,400,4\n"
           "0,nce,greedy,1,30,150,1.5\n";

TEST(lines_are_steps_of_medians_between_the_best_and_the_worst_seed)
{
    struct text s = { 0 };
    placement_script(&s, "learning", curves, NULL, 0);
    assert_drawn(text_str(&s), "4 9\n50 9\n50 6\n100 6\n100 3\n1000 3\n",
                 "with lines lw 1.6 lc rgb '#0072B2' dt 1");
    /* While seed 1 has no plan the band goes up to the top, which is 10. */
    assert_drawn(text_str(&s),
                 "2 10\n4 10\n4 10\n50 10\n50 8\n100 8\n100 4\n1000 4\n"
                 "1000 2\n100 2\n100 4\n50 4\n50 8\n4 8\n4 10\n2 10\n",
                 "with filledcurves closed fs transparent solid 0.14 noborder fc rgb '#0072B2'");
    assert_drawn(text_str(&s), "30 1.5\n", "with points ps 0.6 lw 1.6 lc rgb '#D55E00'");
    assert_has(text_str(&s), "'cost over that of the oracle' at");
    assert_has(text_str(&s), "'plans evaluated' at");
    assert_has(text_str(&s),
               "lines: median of 2 seeds; bands: the best to the worst, to the top as long as one");
    text_free(&s);
}

TEST(without_an_oracle_curves_are_in_usd)
{
    static const char csv[] = CURVES "0,nce,greedy,1,0,4000,\n0,nce,greedy,1,10,2000,\n";
    struct text s = { 0 };
    placement_script(&s, "learning", csv, NULL, 0);
    assert_drawn(text_str(&s), "1 4\n10 4\n10 2\n10 2\n", "with lines");
    assert_has(text_str(&s), "'cost [k USD]' at");
    assert_has(text_str(&s), "no evaluations stand at 1");
    assert_without(text_str(&s), "oracle");
    text_free(&s);
}

TEST(a_filter_changes_no_colour_of_a_curve)
{
    static const struct plot_where greedy[] = { { "scheduler", "greedy" } };
    struct text s = { 0 };
    placement_script(&s, "learning", curves, greedy, 1);
    assert_drawn(text_str(&s), "30 1.5\n", "lc rgb '#D55E00'");
    assert_without(text_str(&s), "'random' at");
    text_free(&s);
}

TEST(bands_are_left_out_where_they_would_hide_each_other)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, CURVES);
    for (int i = 0; i < 7; i++)
        text_printf(&csv, "0,m,s%d,1,1,3,3\n0,m,s%d,2,9,2,2\n", i, i);
    text_puts(&csv, "0,m,none,1,9,,\n");
    placement_script(&s, "learning", text_str(&csv), NULL, 0);
    assert_without(text_str(&s), "filledcurves");
    assert_has(text_str(&s), "bands of seeds are drawn of up to 6 schedulers: --where scheduler=NAME");
    assert_has(text_str(&s), "; left out: 1'");
    assert_has(text_str(&s), "'scheduler that found no plan' at");
    text_free(&csv);
    text_free(&s);
}

/* ---- strip ---- */

#define PLANS "point,model,scheduler,seed,layer,name,kind,type,stage,units,unit_usd_per_h\n"
static const char plans[] = PLANS "0,nce,oracle,1,1,emb,embedding,cpu,1,12,0.04\n"
                                  "0,nce,oracle,1,2,pool,pool,cpu,1,12,0.04\n"
                                  "0,nce,oracle,1,3,,fc,gpu,2,3,2\n"
                                  "0,nce,gpu-only,1,1,emb,embedding,gpu,1,40,2\n"
                                  "0,nce,gpu-only,1,2,pool,pool,gpu,1,40,2\n"
                                  "0,nce,gpu-only,1,3,,fc,gpu,1,40,2\n"
                                  "0,nce,gpu-only,2,1,emb,embedding,gpu,1,99,2\n"
                                  "1,tiny,oracle,1,1,one,fc,gpu,1,1,2\n";

/* 12 cores for 0.04 and 3 GPUs for 2 are 6.48 USD/h; 40 GPUs are 80. */
TEST(stages_have_their_units_and_type_below_and_their_price_at_the_end)
{
    struct text s = { 0 };
    placement_script(&s, "strip", plans, NULL, 0);
    assert_has(text_str(&s), "'12 cpu' at");
    assert_has(text_str(&s), "'3 gpu' at");
    assert_has(text_str(&s), "'40 gpu' at");
    assert_has(text_str(&s), "'6.48' at");
    assert_has(text_str(&s), "'80.00' at");
    assert_has(text_str(&s), "'emb' at");
    assert_has(text_str(&s), "'fc' at"); /* the kind of a layer without a name */
    assert_has(text_str(&s), "'no plan' at");
    assert_has(text_str(&s), "USD/h without parameter servers; plans of seed 1'");
    assert_without(text_str(&s), "'99 gpu' at");
    text_free(&s);
}

TEST(a_number_is_turned_upright_below_a_narrow_stage)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, PLANS);
    for (int i = 1; i <= 64; i++)
        text_printf(&csv, "0,deep,greedy,1,%d,,block,%s,%d,%d,1\n", i, i == 9 ? "b" : "a",
                    i < 9   ? 1
                    : i > 9 ? 3
                            : 2,
                    i == 9 ? 128 : 7);
    placement_script(&s, "strip", text_str(&csv), NULL, 0);
    const char *number = strstr(text_str(&s), "'128' at");
    assert_non_null(number);
    assert_int_equal(strncmp(strstr(number, "center") + 6, " rotate by 90 ", 14), 0);
    assert_has(text_str(&s), "'7 a' at");
    text_free(&csv);
    text_free(&s);
}

TEST(seeds_that_differ_are_said_to_be_the_first)
{
    static const char csv[] = PLANS "0,m,oracle,,1,emb,embedding,cpu,1,12,0.04\n"
                                    "0,m,random,1,1,emb,embedding,cpu,1,12,0.04\n"
                                    "0,m,anneal,2,1,emb,embedding,cpu,1,12,0.04\n",
                      none[] = PLANS "0,m,oracle,,1,emb,embedding,cpu,1,12,0.04\n";
    static const struct plot_where random[] = { { "scheduler", "random" }, { "scheduler", "oracle" } };
    struct text s = { 0 };
    placement_script(&s, "strip", csv, NULL, 0);
    assert_has(text_str(&s), "of each scheduler the first seed");
    placement_script(&s, "strip", csv, random, 2);
    assert_has(text_str(&s), "plans of seed 1");
    placement_script(&s, "strip", none, NULL, 0);
    assert_without(text_str(&s), "seed");
    text_free(&s);
}

/* The boxes of the two layers on CPU touch and are apart from the third: 17 px of names, then 3 px above. */
TEST(layers_are_boxes_in_the_colour_of_their_type)
{
    static const struct plot_where oracle[] = { { "scheduler", "oracle" }, { "point", "0" } };
    struct text s = { 0 };
    double x[4], y[2];
    placement_script(&s, "strip", plans, oracle, 2);
    const char *cpu = strstr(text_str(&s), "$d2 << EOD\n");
    assert_non_null(cpu);
    assert_int_equal(
        sscanf(cpu, "$d2 << EOD\n%lf %lf %lf %lf\n%lf %*f %lf", &x[0], &y[0], &x[1], &y[1], &x[2], &x[3]), 6);
    assert_true(x[0] > 0.5 && x[0] < 0.6);
    assert_near(x[1], 1.5, 1e-9);
    assert_near(x[2], 1.5, 1e-9);
    assert_true(x[3] < 2.5 && x[3] > 2.4);
    assert_near(y[1], 20, 1e-9);
    assert_near(y[0], 34, 1e-9);
    assert_has(cpu, "fc rgb '#0072B2'");
    assert_has(cpu, "fc rgb '#E69F00'");
    assert_has(text_str(&s), "set xrange [0.5:3.5]");
    text_free(&s);
}

TEST(only_types_in_use_are_in_the_legend_in_their_own_colour)
{
    static const struct plot_where tiny[] = { { "model", "tiny" } };
    struct text s = { 0 };
    placement_script(&s, "strip", plans, tiny, 1);
    assert_has(text_str(&s), "fc rgb '#E69F00'");
    assert_without(text_str(&s), "#0072B2");
    assert_without(text_str(&s), "'cpu' at");
    assert_has(text_str(&s), "'gpu' at");
    text_free(&s);
}

TEST(many_layers_have_no_names_and_few_boxes)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, PLANS);
    for (int i = 1; i <= 256; i++)
        text_printf(&csv, "0,deep,greedy,1,%d,layer %d,block,%s,%d,7,1\n", i, i, i <= 200 ? "a" : "b",
                    1 + (i > 200));
    placement_script(&s, "strip", text_str(&csv), NULL, 0);
    assert_without(text_str(&s), "'layer 1' at");
    assert_has(text_str(&s), "'7 a' at");
    /* A box of stage a is one, from layer 1 to 200 but for the gaps at its ends. */
    double lo, hi;
    const char *box = strstr(text_str(&s), "$d2 << EOD\n"); /* the first is a rule */
    assert_non_null(box);
    assert_int_equal(sscanf(box, "$d2 << EOD\n%lf %*f %lf", &lo, &hi), 2);
    assert_true(lo > 0.5 && lo < 1 && hi > 200 && hi < 200.5);
    text_free(&csv);
    text_free(&s);
}

/* ---- all three ---- */

TEST(what_cannot_be_drawn_of_layers_is_placed)
{
    static const char no_ratio[] = "point,model,scheduler,status\n0,m,a,done\n",
                      no_point[] = "model,scheduler,over_oracle,status\nm,a,1,done\n",
                      word[] = "point,model,scheduler,over_oracle,status\n0,m,a,cheap,done\n",
                      zero[] = "point,model,scheduler,over_oracle,status\n0,m,a,0,done\n",
                      blank[] = "point,model,scheduler,over_oracle,status\n0,m,a,,done\n",
                      negative[] = CURVES "0,m,a,1,-5,3,3\n", never[] = CURVES "0,m,a,1,5,,\n",
                      no_count[] = CURVES "0,m,a,1,,3,3\n", junk[] = CURVES "0,m,a,1,5,3,much\n",
                      layer_0[] = PLANS "0,m,a,1,0,emb,fc,cpu,1,1,1\n",
                      layer_x[] = PLANS "0,m,a,1,x,emb,fc,cpu,1,1,1\n",
                      units[] = PLANS "0,m,a,1,1,emb,fc,cpu,1,-1,1\n";
    assert_refused("hetero", no_ratio,
                   "figure hetero: column over_best: is missing, need it in the CSV of weft hetero");
    assert_refused("hetero", no_point, "figure hetero: column point: is missing");
    assert_refused("hetero", word, "figure hetero: row 1, column over_oracle: is \"cheap\", need a number");
    assert_refused("hetero", zero, "figure hetero: row 1, column over_oracle: is 0, need above 0");
    assert_refused("hetero", blank,
                   "figure hetero: rows to draw: is 0 of 1 (1 pass the filter, 1 of those lack");
    assert_refused("hetero", HEAD, "figure hetero: rows to draw: is 0 of 0");
    assert_refused("learning", costs,
                   "figure learning: column seed: is missing, need it in the CSV of weft hetero "
                   "--curves FILE.csv");
    assert_refused("learning", negative,
                   "figure learning: row 1, column evaluations: is -5, need at least 0");
    assert_refused("learning", no_count,
                   "figure learning: row 1, column evaluations: is blank, need a number");
    assert_refused("learning", junk,
                   "figure learning: row 1, column over_oracle: is \"much\", need a number");
    assert_refused("learning", never,
                   "figure learning: rows to draw: is 0 of 1 (1 pass the filter, 1 of those lack");
    assert_refused("learning", CURVES, "figure learning: rows to draw: is 0 of 0");
    assert_refused("strip", curves,
                   "figure strip: column layer: is missing, need it in the CSV of weft hetero "
                   "--plans FILE.csv");
    assert_refused("strip", layer_0, "figure strip: row 1, column layer: is 0, need 1 to 1024");
    assert_refused("strip", layer_x, "figure strip: row 1, column layer: is \"x\", need a number");
    assert_refused("strip", units, "figure strip: row 1, column units: is -1, need at least 0");
    assert_refused("strip", PLANS, "figure strip: rows to draw: is 0 of 0");
}

TEST(figures_of_layers_are_drawn_in_every_format)
{
    assert_drawn_in_every_format("hetero", costs);
    assert_drawn_in_every_format("learning", curves);
    assert_drawn_in_every_format("strip", plans);
}
