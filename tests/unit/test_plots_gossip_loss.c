/* Loss and exchanges over time: means of seeds, looks of lines, what is left out and said. */
#include "tests/unit/test_plots_placement.h"

#define CURVES "point,method,seed,time_s,steps,epoch,loss,exchanges,traffic_MB,accuracy_pct\n"
/* Of seed 2 of drift nothing is known at step 20, and it ends at 30. */
static const char curves[] = CURVES "0,drift,1,0,0,0,2,0,0,\n"
                                    "0,drift,1,1,10,1,1,40,1,\n"
                                    "0,drift,1,2,20,2,0.8,60,1,\n"
                                    "0,drift,1,3,30,3,0.5,80,1,\n"
                                    "0,drift,1,4,40,4,0.4,90,1,\n"
                                    "0,drift,2,0,0,0,3,0,0,\n"
                                    "0,drift,2,1.5,10,1,2,60,1,\n"
                                    "0,drift,2,3.5,30,3,1,100,1,\n"
                                    "0,drift,2,4.5,40,4,,100,1,\n"
                                    "0,easgd,1,0,0,0,2,0,0,\n"
                                    "0,easgd,1,6,40,4,0.7,200,1,70\n";

TEST(lines_are_means_of_the_seeds_at_steps_that_all_have)
{
    struct text s = { 0 };
    placement_script(&s, "gossip_loss", curves, NULL, 0);
    assert_drawn(text_str(&s), "0 2.5\n1.25 1.5\n3.25 0.75\n", "with lines lw 1.6 lc rgb '#0072B2' dt 1");
    assert_drawn(text_str(&s), "0 0\n1.25 50\n3.25 90\n", "with lines lw 1.6 lc rgb '#0072B2' dt 1");
    assert_drawn(text_str(&s), "0 2\n6 0.7\n", "with lines lw 1.6 lc rgb '#D55E00'");
    assert_has(text_str(&s), "means of 1 to 2 seeds; 1 line ends with the first seed that ends");
    assert_has(text_str(&s), "'training loss on own shard [nats]' at");
    assert_has(text_str(&s), "'exchanges so far' at");
    assert_has(text_str(&s), "exchanges: messages, pairs");
    assert_has(text_str(&s), "loss: of each worker on its own shard");
    assert_has(text_str(&s), "'simulated time [s]' at");
    text_free(&s);
}

/* Losses 1, 2, 1, 2, ...: of three neighbours the mean is 4/3 and 5/3; the ends have none beyond them. */
TEST(losses_of_a_long_line_are_running_means)
{
    struct text csv = { 0 }, want = { 0 }, s = { 0 };
    text_puts(&csv, CURVES);
    for (int i = 0; i < 40; i++) {
        text_printf(&csv, "0,m,1,%d,%d,1,%d,40,1,\n", i, 10 * i, 1 + i % 2);
        text_printf(&want, "%d %.10g\n", i, i == 0 ? 1 : i == 39 ? 2 : (i % 2 ? 4.0 : 5.0) / 3);
    }
    placement_script(&s, "gossip_loss", text_str(&csv), NULL, 0);
    assert_drawn(text_str(&s), text_str(&want), "with lines lw 1.6 lc rgb '#0072B2'");
    assert_has(text_str(&s), "loss shown: running mean over 5 %");
    placement_script(&s, "gossip_loss", curves, NULL, 0);
    assert_without(text_str(&s), "running mean");
    text_free(&csv);
    text_free(&want);
    text_free(&s);
}

/* The colour, and what follows it, of the line of the k-th method. */
static void put_look(struct text *out, const char *script, int k)
{
    char block[64];
    snprintf(block, sizeof block, "\n1 %d.5\nEOD\n", 1 + k);
    const char *at = strstr(script, block);
    assert_non_null(at);
    while (*at != '$' || at[-1] != '\n')
        at--;
    text_clear(out);
    char use[64];
    snprintf(use, sizeof use, "%.*s using 1:2 with lines ", (int)strcspn(at, " "), at);
    at = strstr(script, use);
    assert_non_null(at);
    at += strlen(use);
    const char *next = strstr(at, ", $"), *end = strchr(at, '\n');
    text_add(out, at, (size_t)((next && next < end ? next : end) - at));
}

/* The dark grey that comes after seven of a round would be the black of another with its dash. */
TEST(lines_of_all_methods_look_different)
{
    enum { N = 24 };
    struct text csv = { 0 }, s = { 0 }, look[N] = { { 0 } };
    text_puts(&csv, CURVES);
    for (int k = 0; k < N; k++)
        text_printf(&csv, "0,m%d,1,0,0,0,30,0,0,\n0,m%d,1,1,10,1,%d.5,40,1,\n", k, k, 1 + k);
    placement_script(&s, "gossip_loss", text_str(&csv), NULL, 0);
    for (int k = 0; k < N; k++) {
        put_look(&look[k], text_str(&s), k);
        assert_without(text_str(&look[k]), "#555555");
        for (int i = 0; i < k; i++)
            assert_string_not_equal(text_str(&look[i]), text_str(&look[k]));
    }
    for (int k = 0; k < N; k++)
        text_free(&look[k]);
    text_free(&csv);
    text_free(&s);
}

/* There are eight dashes. Of the third and the eleventh method dash and marker are the same. */
TEST(lines_have_letters_where_two_differ_by_colour_alone)
{
    static const struct plot_where two[] = { { "method", "m0" }, { "method", "m8" } },
                                   far[] = { { "method", "m0" }, { "method", "m9" } };
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, CURVES);
    for (int k = 0; k < 10; k++)
        text_printf(&csv, "0,m%d,1,0,0,0,2,0,0,\n0,m%d,1,1,10,1,1.%d,40,1,\n", k, k, k);
    placement_script(&s, "gossip_loss", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "'a  m0' at");
    assert_has(text_str(&s), "'j  m9' at");
    assert_has(text_str(&s), "'a' at");
    placement_script(&s, "gossip_loss", text_str(&csv), two, 2);
    assert_has(text_str(&s), "'b  m8' at");
    assert_has(text_str(&s), "'b' at");
    placement_script(&s, "gossip_loss", text_str(&csv), far, 2);
    assert_has(text_str(&s), "'m9' at");
    assert_without(text_str(&s), "'a' at");
    text_free(&csv);
    text_free(&s);
}

/* 31 times more: beyond AXIS_LOG_RATIO. No exchange yet has no place on such an axis. */
TEST(exchanges_that_end_far_apart_have_a_log_axis)
{
    static const char far[] = CURVES "0,often,1,0,0,0,2,0,0,\n0,often,1,1,10,1,1,310,1,\n"
                                     "0,seldom,1,0,0,0,2,0,0,\n0,seldom,1,1,10,1,1,10,1,\n";
    struct text s = { 0 };
    placement_script(&s, "gossip_loss", far, NULL, 0);
    assert_has(text_str(&s), "set logscale y");
    assert_drawn(text_str(&s), "1 310\n", "with lines");
    assert_without(text_str(&s), "\n0 0\n");
    text_free(&s);
}

TEST(a_method_without_a_common_step_is_said_to_be_left_out)
{
    static const struct plot_where drift[] = { { "method", "drift" } };
    static const char odd[] = CURVES "0,drift,1,1,10,1,1,40,1,\n0,drift,2,1,11,1,1,40,1,\n"
                                     "0,easgd,1,1,10,1,1,40,1,\n";
    struct plot_options opt = { .where = drift, .n_where = 1 };
    struct text s = { 0 };
    struct table t;
    placement_script(&s, "gossip_loss", odd, NULL, 0);
    assert_has(text_str(&s), "left out: 1 line without a step that all seeds have");
    assert_without(text_str(&s), "'drift' at");
    placement_table(&t, odd);
    FAILS(plot_script("gossip_loss", &t, &opt, &s, e), ERR_PARSE,
          "figure gossip_loss: rows to draw: is 0 of 3 (2 pass the filter, 2 of those lack a value)");
    table_free(&t);
    text_free(&s);
}

/* Accuracy is not drawn: its column may have any name, or be missing. */
TEST(long_times_of_curves_are_hours)
{
    static const char loss[] = "point,method,seed,time_s,steps,loss,exchanges,average_pct\n"
                               "0,m,1,0,0,2,0,10\n0,m,1,36000,10,1,40,70\n",
                      none[] =
                          "point,method,seed,time_s,steps,loss,exchanges\n0,m,1,0,0,2,0\n0,m,1,9,10,1,40\n";
    struct text s = { 0 };
    placement_script(&s, "gossip_loss", loss, NULL, 0);
    assert_has(text_str(&s), "'simulated time [h]' at");
    assert_drawn(text_str(&s), "0 2\n10 1\n", "with lines");
    placement_script(&s, "gossip_loss", none, NULL, 0);
    assert_drawn(text_str(&s), "0 2\n9 1\n", "with lines");
    text_free(&s);
}

TEST(what_cannot_be_drawn_of_curves_is_placed)
{
    static const char no_step[] = CURVES "0,m,1,1,,1,1,40,1,\n", junk[] = CURVES "0,m,1,1,5,1,low,40,1,\n",
                      no_seed[] = "point,method,time_s,steps,loss,exchanges\n0,m,1,1,1,1\n";
    assert_refused("gossip_loss", no_seed,
                   "figure gossip_loss: column seed: is missing, need it in the CSV of weft gossip --curves "
                   "FILE.csv");
    assert_refused("gossip_loss", no_step,
                   "figure gossip_loss: row 1, column steps: is blank, need a number");
    assert_refused("gossip_loss", junk, "figure gossip_loss: row 1, column loss: is \"low\", need a number");
    assert_refused("gossip_loss", CURVES, "figure gossip_loss: rows to draw: is 0 of 0");
}

TEST(curves_are_drawn_in_every_format)
{
    assert_drawn_in_every_format("gossip_loss", curves);
}
