#include "tests/unit/test_plots_placement.h"

/* Paints: up to 20 %, up to 60 %, a full link, too much. */
#define FAINT "fc rgb '#DEEBF7'"
#define HALF  "fc rgb '#6BAED6'"
#define FULL  "fc rgb '#08519C'"
#define OVER  "fc rgb '#D55E00'"
#define HEAD  "point,jobs.count,seed,scheduler,link,unit,bw_GBps,from,to,load_frac\n"

/* Over 10 slots a carries .1 on the mean, b .85, c nothing. */
static const char loads[] = HEAD "0,40,7,las,a -> b,slot,5,0,10,0.1\n"
                                 "0,40,7,las,b -> a,slot,5,0,4,0.5\n"
                                 "0,40,7,las,b -> a,slot,5,4,8,1\n"
                                 "0,40,7,las,b -> a,slot,5,8,10,1.25\n"
                                 "0,40,7,las,c -> a,slot,5,0,10,0\n"
                                 "0,40,8,las,d -> a,slot,5,0,10,1\n"
                                 "1,80,7,las,e -> a,slot,5,0,99,1\n";

/* A box is left low, left high, right high, right low; row i takes i.06 to i.94 from the top. */
TEST(the_most_loaded_link_is_on_top_and_overload_stands_out)
{
    struct text s = { 0 };
    placement_script(&s, "links", loads, NULL, 0);
    assert_drawn(text_str(&s), "0 0.94\n0 0.06\n4 0.06\n4 0.94\n", HALF);
    assert_drawn(text_str(&s), "4 0.94\n4 0.06\n8 0.06\n8 0.94\n", FULL);
    assert_drawn(text_str(&s), "8 0.94\n8 0.06\n10 0.06\n10 0.94\n", OVER);
    assert_drawn(text_str(&s), "0 1.94\n0 1.06\n10 1.06\n10 1.94\n", FAINT);
    assert_has(text_str(&s), "'overload' at");
    assert_has(text_str(&s), "'up to 20 %' at");
    assert_has(text_str(&s), "'85 %' at"); /* .4 * .5 + .4 * 1 + .2 * 1.25 */
    assert_has(text_str(&s), "'10 %' at");
    text_free(&s);
}

TEST(the_page_says_which_run_it_shows_and_what_it_leaves_out)
{
    static const struct plot_where second[] = { { "point", "1" } };
    struct text s = { 0 };
    placement_script(&s, "links", loads, NULL, 0);
    assert_has(text_str(&s), "jobs.count 40 · seed 7; first of 2 points; first of 2 seeds; ");
    assert_has(text_str(&s), "1 links are never used");
    assert_has(text_str(&s), "'time [slots]' at");
    assert_without(text_str(&s), "'d -> a' at");
    placement_script(&s, "links", loads, second, 1);
    assert_has(text_str(&s), "jobs.count 80 · seed 7; share");
    assert_has(text_str(&s), "'e -> a' at");
    text_free(&s);
}

TEST(of_many_links_the_rest_is_counted)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, HEAD);
    for (int i = 0; i < 50; i++)
        text_printf(&csv, "0,4,1,las,link%d,s,5,0,10,%g\n", i, i == 0 ? 0.001 : 0.5 - i * 0.005);
    /* Short, but too much. */
    text_puts(&csv, "0,4,1,las,link0,s,5,10,10.01,2\n");
    placement_script(&s, "links", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "are loaded, 1 of them at times beyond 100 %");
    assert_has(text_str(&s), "'link40' at");
    assert_without(text_str(&s), "'link41' at");
    assert_has(text_str(&s), "'time [s]' at");
    text_free(&csv);
    text_free(&s);
}

TEST(schedulers_have_panels_with_the_same_rows)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, HEAD);
    for (int i = 0; i < 6; i++)
        text_printf(&csv, "0,4,1,s%d,link,s,5,0,10,%g\n0,4,1,s%d,other,s,5,0,5,%g\n", i, 0.1 + 0.1 * i, i,
                    0.05);
    placement_script(&s, "links", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "first 4 of 6 schedulers");
    assert_has(text_str(&s), "'s0' at");
    assert_has(text_str(&s), "'s3' at");
    assert_without(text_str(&s), "'s4' at");
    text_free(&csv);
    text_free(&s);
}

TEST(a_cluster_without_traffic_has_an_empty_figure)
{
    struct text s = { 0 };
    placement_script(&s, "links", HEAD "0,4,1,las,a,s,5,0,10,0\n", NULL, 0);
    assert_has(text_str(&s), "never used");
    assert_has(text_str(&s), "'a' at");
    text_free(&s);
}

/* Ten thousand spans in the room of a page: neighbours of one shade are one. */
TEST(a_file_of_many_spans_stays_small)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, HEAD);
    for (int i = 0; i < 10000; i++)
        text_printf(&csv, "0,4,1,las,a,s,5,%d,%d,%g\n", i, i + 1, i % 2 ? 0.1 : 0.9);
    placement_script(&s, "links", text_str(&csv), NULL, 0);
    assert_true(s.n < 400000);
    text_free(&csv);
    text_free(&s);
}

TEST(what_cannot_be_drawn_is_placed)
{
    assert_refused("links", "point,seed,scheduler,link,from,to,unit\n0,1,las,a,0,1,s\n",
                   "figure links: column load_frac: is missing, need it in the CSV of weft place --links");
    assert_refused("links", HEAD "0,4,1,las,a,s,5,3,2,0.5\n",
                   "figure links: row 1, column to: is 2, need at least its from 3");
    assert_refused("links", HEAD "0,4,1,las,a,s,5,1,2,-1\n",
                   "row 1, column load_frac: is -1, need at least 0");
    assert_refused("links", HEAD "0,4,1,las,a,s,5,1,2,1\n0,4,1,las,a,slot,5,1,2,1\n",
                   "row 2, column unit: is \"slot\", need \"s\" as in those before");
    assert_refused("links", HEAD "0,4,1,las,a,s,5,1,2,\n",
                   "rows to draw: is 0 of 1 (1 pass the filter, 1 of those lack a value)");
    assert_refused("links", HEAD, "rows to draw: is 0 of 0");
}

TEST(it_draws_in_every_format)
{
    assert_drawn_in_every_format("links", loads);
}
