#include "tests/unit/test_plots_placement.h"

#define HEAD "point,jobs.count,seed,scheduler,job,server_name,unit,server,gpus,from,to\n"

/* Of a lane of n GPUs of 14 px, with 1.5 px above: a box of GPU k is x, 15.5 + 14 k, x, 1.5 + 14 k. Colours
 * by job. */
static void assert_boxes(const char *csv, const char *const (*want)[2], size_t n)
{
    struct text s = { 0 };
    placement_script(&s, "gantt", csv, NULL, 0);
    for (size_t i = 0; i < n; i++)
        assert_drawn(text_str(&s), want[i][0], want[i][1]);
    text_free(&s);
}

#define FIRST  "fc rgb '#0072B2'"
#define SECOND "fc rgb '#E69F00'"

/* b stays where it was although a, named first, comes back. */
TEST(a_job_that_goes_on_is_one_box_on_its_gpus)
{
    static const char *const want[][2] = { { "0 15.5 1 1.5\n2 15.5 3 1.5\n", FIRST },
                                           { "0 29.5 3 15.5\n", SECOND } };
    assert_boxes(HEAD "0,2,1,las,a,server0,slot,0,1,0,1\n0,2,1,las,b,server0,slot,0,1,0,1\n"
                      "0,2,1,las,b,server0,slot,0,1,1,2\n0,2,1,las,b,server0,slot,0,1,2,3\n"
                      "0,2,1,las,a,server0,slot,0,1,2,3\n",
                 want, COUNT_OF(want));
}

/* At 1 a comes back (it was there first, but left at .5) while b goes on. */
TEST(who_goes_on_keeps_its_gpus_before_others_come)
{
    static const char *const want[][2] = { { "0 15.5 0.5 1.5\n1 29.5 2 15.5\n", FIRST },
                                           { "0.5 15.5 2 1.5\n", SECOND } };
    assert_boxes(HEAD "0,2,1,las,a,server0,s,0,1,0,0.5\n0,2,1,las,b,server0,s,0,1,0.5,1\n"
                      "0,2,1,las,a,server0,s,0,1,1,2\n0,2,1,las,b,server0,s,0,1,1,2\n",
                 want, COUNT_OF(want));
}

/* GPUs 0..3: a, b, c, d; a and c leave, e takes both in two boxes; then b and e leave and f has 0..2. */
TEST(neighbours_are_preferred_and_a_job_is_split_where_none_are_free)
{
    static const char *const want[][2] = { { "1 15.5 2 1.5\n1 43.5 2 29.5\n", "fc rgb '#D55E00'" },
                                           { "2 43.5 3 1.5\n", "fc rgb '#F0E442'" } };
    assert_boxes(HEAD "0,2,1,las,a,h,s,0,1,0,1\n0,2,1,las,b,h,s,0,1,0,2\n0,2,1,las,c,h,s,0,1,0,1\n"
                      "0,2,1,las,d,h,s,0,1,0,9\n0,2,1,las,e,h,s,0,2,1,2\n0,2,1,las,f,h,s,0,3,2,3\n",
                 want, COUNT_OF(want));
}

/* At no time two boxes share a GPU, and a server never has more than it needs: brute force over random stays.
 * Boxes are read from the script, whose lane is as high as its GPUs. */
TEST(boxes_never_overlap_and_no_gpu_is_wasted)
{
    struct text csv = { 0 }, s = { 0 };
    int32_t used[48] = { 0 }, most = 0;
    bool taken[48][1024] = { { false } };
    unsigned seed = 12345;
    double height = 0;
    text_puts(&csv, HEAD);
    for (int i = 0; i < 300; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned from = seed >> 16 & 31, n = 1 + (seed >> 8 & 3), long_for = 1 + (seed >> 21 & 7);
        text_printf(&csv, "0,2,1,las,j%d,h,s,0,%u,%u,%u\n", i, n, from, from + long_for);
        for (unsigned at = from; at < from + long_for; at++)
            used[at] += (int32_t)n;
    }
    for (int at = 0; at < 48; at++)
        most = used[at] > most ? used[at] : most;
    placement_script(&s, "gantt", text_str(&csv), NULL, 0);
    for (const char *line = text_str(&s); line; line = strchr(line, '\n')) {
        double x[4];
        line += *line == '\n';
        if (sscanf(line, "set yrange [%lf:0]", &x[0]) == 1 && height == 0)
            height = x[0];
        if (line[0] < '0' || line[0] > '9' ||
            sscanf(line, "%lf %lf %lf %lf", &x[0], &x[1], &x[2], &x[3]) != 4)
            continue;
        double each = (height - 3) / most;
        int first = (int)((x[3] - 1.5) / each + 0.5), end = (int)((x[1] - 1.5) / each + 0.5);
        for (int at = (int)x[0]; at < (int)x[2]; at++)
            for (int k = first; k < end; k++) {
                assert_in_range(k, 0, most - 1);
                assert_false(taken[at][k]);
                taken[at][k] = true;
                used[at]--;
            }
    }
    for (int at = 0; at < 48; at++)
        assert_int_equal(used[at], 0);
    text_free(&csv);
    text_free(&s);
}

TEST(servers_are_by_number_and_runs_by_scheduler)
{
    struct text s = { 0 };
    placement_script(&s, "gantt",
                     HEAD
                     "0,2,1,las,a,ten,s,10,1,0,1\n0,2,1,fifo,a,nine,s,9,2,0,4\n0,2,2,las,a,no,s,1,1,0,1\n"
                     "0,2,1,las,b,ten,s,10,0,0,1\n",
                     NULL, 0);
    const char *nine = strstr(text_str(&s), "'nine' at"), *ten = strstr(text_str(&s), "'ten' at");
    assert_non_null(nine);
    assert_true(ten && nine < ten);
    assert_has(text_str(&s), "'las: 1 s' at");
    assert_has(text_str(&s), "'fifo: 4 s' at");
    assert_without(text_str(&s), "'no' at");
    assert_has(text_str(&s), "first of 2 seeds");
    text_free(&s);
}

/* ---- the figure ---- */

/* 100 s long; a lane of two GPUs of 14 px has 1.5 px above and below. A wide box is x, low, x, top. */
static const char two_jobs[] = HEAD "0,40,1,sjf-bco,resnet,node-a,s,0,2,0,60\n"
                                    "0,40,1,sjf-bco,gpt,node-a,s,0,1,60,100\n";

TEST(jobs_are_boxes_in_lanes_with_their_names)
{
    struct text s = { 0 };
    placement_script(&s, "gantt", two_jobs, NULL, 0);
    assert_drawn(text_str(&s), "0 29.5 60 1.5\n", "fc rgb '#0072B2'");
    assert_drawn(text_str(&s), "60 15.5 100 1.5\n", "fc rgb '#E69F00'");
    assert_has(text_str(&s), "'resnet' at");
    assert_has(text_str(&s), "'gpt' at");
    assert_has(text_str(&s), "'node-a' at");
    assert_has(text_str(&s), "'GPUs' at");
    assert_has(text_str(&s), "'2' at");
    assert_has(text_str(&s), "'sjf-bco: 100 s' at");
    assert_has(text_str(&s), "'jobs.count 40 · seed 1; GPUs: the most of a server in use at once' at");
    assert_has(text_str(&s), "'time [s]' at");
    text_free(&s);
}

TEST(names_are_left_out_where_they_do_not_fit)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, HEAD);
    for (int i = 0; i < 12; i++)
        text_printf(&csv, "0,40,1,las,application_150663847_%d,h%d,s,%d,1,%d,%d\n", i, i, i, 10 * i,
                    10 * i + 10);
    placement_script(&s, "gantt", text_str(&csv), NULL, 0);
    assert_without(text_str(&s), "'application_150663847_0' at");
    assert_has(text_str(&s), "12 jobs, whose colours repeat");
    text_free(&csv);
    text_free(&s);
}

/* 130 servers of one GPU, three to a row: of the first row one is busy to 10 s, all of the second from 10 s
 * on. */
TEST(many_servers_are_a_map_of_busy_gpus)
{
    struct text csv = { 0 }, s = { 0 };
    text_puts(&csv, HEAD);
    for (int i = 0; i < 130; i++)
        text_printf(&csv, "0,40,1,las,j%d,h%d,s,%d,1,%d,%d\n", i, i, i, i == 0 ? 0 : 10, i == 0 ? 10 : 20);
    placement_script(&s, "gantt", text_str(&csv), NULL, 0);
    assert_has(text_str(&s), "130 servers, 3 to a row");
    assert_has(text_str(&s), "--where server=N");
    assert_has(text_str(&s), "'h0 …' at");
    assert_has(text_str(&s), "'h129 …' at");
    /* A third, then two thirds of the first row. */
    assert_drawn(text_str(&s), "0 0.94\n0 0.06\n10 0.06\n10 0.94\n", "fc rgb '#9ECAE1'");
    assert_has(text_str(&s), "10 0.94\n10 0.06\n20 0.06\n20 0.94\n");
    assert_has(text_str(&s), "'100 %' at");
    assert_without(text_str(&s), "'j5' at");
    text_free(&csv);
    text_free(&s);
}

TEST(what_cannot_be_drawn_is_placed)
{
    assert_refused(
        "gantt", "point,seed,scheduler,job,server,server_name,from,to,unit\n0,1,las,a,0,h,0,1,s\n",
        "figure gantt: column gpus: is missing, need it in the CSV of weft place --places FILE.csv");
    assert_refused("gantt", HEAD "0,4,1,las,a,h,s,0,1.5,0,1\n",
                   "figure gantt: row 1, column gpus: is 1.5, need a whole number, 0 to 4096");
    assert_refused("gantt", HEAD "0,4,1,las,a,h,s,0,1,2,1\n",
                   "row 1, column to: is 1, need at least its from 2");
    assert_refused("gantt", HEAD "0,4,1,las,a,h,s,0,1,,1\n",
                   "rows to draw: is 0 of 1 (1 pass the filter, 1 of those lack a value)");
    assert_refused("gantt", HEAD, "figure gantt: rows to draw: is 0 of 0");
}

TEST(it_draws_in_every_format)
{
    assert_drawn_in_every_format("gantt", two_jobs);
}
