#include "tests/unit/test_plots_placement.h"

#include "plots/gantt.h"

#define HEAD "point,jobs.count,seed,scheduler,job,server_name,unit,server,gpus,from,to\n"

static void read_csv(struct gantt *g, struct table *t, const char *csv)
{
    static const struct plot_figure figure = { .name = "gantt" };
    static const struct plot_options opt = { 0 };
    struct err e = { 0 };
    placement_table(t, csv);
    struct rows r = { .t = t, .figure = &figure, .opt = &opt };
    assert_ok(gantt_read(g, &r, &e), &e);
}

static void assert_box(const struct gantt *g, int64_t i, const char *job, int32_t gpu, int32_t n_gpus,
                       double from, double to)
{
    assert_true(i < g->n_boxes);
    const struct gantt_box *b = &g->boxes[i];
    assert_string_equal(g->jobs.list[b->job], job);
    assert_int_equal(b->gpu, gpu);
    assert_int_equal(b->n_gpus, n_gpus);
    assert_near(b->from, from, 0);
    assert_near(b->to, to, 0);
}

static void a_job_that_goes_on_is_one_box_on_its_gpus(void **state)
{
    struct gantt g = { 0 };
    struct table t;
    (void)state;
    /* b stays where it was although a, named first, comes back. */
    read_csv(&g, &t,
             HEAD "0,2,1,las,a,server0,slot,0,1,0,1\n0,2,1,las,b,server0,slot,0,1,0,1\n"
                  "0,2,1,las,b,server0,slot,0,1,1,2\n0,2,1,las,b,server0,slot,0,1,2,3\n"
                  "0,2,1,las,a,server0,slot,0,1,2,3\n");
    assert_int_equal(g.n_boxes, 3);
    assert_box(&g, 0, "a", 0, 1, 0, 1);
    assert_box(&g, 1, "b", 1, 1, 0, 3);
    assert_box(&g, 2, "a", 0, 1, 2, 3);
    assert_int_equal(g.most_gpus[0], 2);
    gantt_free(&g);
    table_free(&t);
}

static void who_goes_on_keeps_its_gpus_before_others_come(void **state)
{
    struct gantt g = { 0 };
    struct table t;
    (void)state;
    /* At 1 a comes back (it was there first, but left at .5) while b goes on. */
    read_csv(&g, &t,
             HEAD "0,2,1,las,a,server0,s,0,1,0,0.5\n0,2,1,las,b,server0,s,0,1,0.5,1\n"
                  "0,2,1,las,a,server0,s,0,1,1,2\n0,2,1,las,b,server0,s,0,1,1,2\n");
    assert_int_equal(g.n_boxes, 3);
    assert_box(&g, 1, "b", 0, 1, 0.5, 2);
    assert_box(&g, 2, "a", 1, 1, 1, 2);
    gantt_free(&g);
    table_free(&t);
}

static void neighbours_are_preferred_and_a_job_is_split_where_none_are_free(void **state)
{
    struct gantt g = { 0 };
    struct table t;
    (void)state;
    /* GPUs 0..3: a, b, c, d; a and c leave, e takes both in two boxes; then b and e leave and f has 0..2. */
    read_csv(&g, &t,
             HEAD "0,2,1,las,a,h,s,0,1,0,1\n0,2,1,las,b,h,s,0,1,0,2\n0,2,1,las,c,h,s,0,1,0,1\n"
                  "0,2,1,las,d,h,s,0,1,0,9\n0,2,1,las,e,h,s,0,2,1,2\n0,2,1,las,f,h,s,0,3,2,3\n");
    assert_int_equal(g.n_boxes, 7);
    assert_box(&g, 4, "e", 0, 1, 1, 2);
    assert_box(&g, 5, "e", 2, 1, 1, 2);
    assert_box(&g, 6, "f", 0, 3, 2, 3);
    assert_int_equal(g.most_gpus[0], 4);
    gantt_free(&g);
    table_free(&t);
}

/* At no time two boxes share a GPU, and a server never has more than it needs: brute force over random stays.
 */
static void boxes_never_overlap_and_no_gpu_is_wasted(void **state)
{
    struct gantt g = { 0 };
    struct table t;
    struct text csv = { 0 };
    unsigned seed = 12345;
    (void)state;
    text_puts(&csv, HEAD);
    for (int i = 0; i < 300; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned from = seed >> 16 & 31, n = 1 + (seed >> 8 & 3), long_for = 1 + (seed >> 21 & 7);
        text_printf(&csv, "0,2,1,las,j%d,h,s,0,%u,%u,%u\n", i, n, from, from + long_for);
    }
    read_csv(&g, &t, text_str(&csv));
    int32_t most = 0;
    for (int at = 0; at < 40; at++) {
        int32_t used = 0;
        bool taken[1024] = { false };
        for (int64_t i = 0; i < g.n_boxes; i++) {
            const struct gantt_box *b = &g.boxes[i];
            for (int32_t k = b->gpu; k < b->gpu + b->n_gpus && b->from <= at && at < b->to; k++) {
                assert_in_range(k, 0, 1023);
                assert_false(taken[k]);
                taken[k] = true;
                used++;
            }
        }
        int32_t want = 0;
        for (int64_t i = 0; i < g.n_stays; i++)
            want += g.stays[i].from <= at && at < g.stays[i].to ? g.stays[i].n_gpus : 0;
        assert_int_equal(used, want);
        most = used > most ? used : most;
    }
    assert_int_equal(g.most_gpus[0], most);
    text_free(&csv);
    gantt_free(&g);
    table_free(&t);
}

static void servers_are_by_number_and_runs_by_scheduler(void **state)
{
    struct gantt g = { 0 };
    struct table t;
    (void)state;
    read_csv(&g, &t,
             HEAD "0,2,1,las,a,ten,s,10,1,0,1\n0,2,1,fifo,a,nine,s,9,2,0,4\n0,2,2,las,a,no,s,1,1,0,1\n"
                  "0,2,1,las,b,ten,s,10,0,0,1\n");
    assert_int_equal(g.n_servers, 2);
    assert_string_equal(text_str(&g.servers[0].name), "nine");
    assert_string_equal(text_str(&g.servers[1].name), "ten");
    assert_int_equal(g.runs.n, 2);
    assert_int_equal(g.n_stays, 2);
    assert_int_equal(g.most_gpus[1], 1);                   /* las on ten */
    assert_int_equal(g.most_gpus[1 * g.n_servers + 0], 2); /* fifo on nine */
    assert_near(g.runs.end[1], 4, 0);
    gantt_free(&g);
    table_free(&t);
}

/* ---- the figure ---- */

/* 100 s long; a lane of two GPUs of 14 px has 1.5 px above and below. A wide box is x, low, x, top. */
static const char two_jobs[] = HEAD "0,40,1,sjf-bco,resnet,node-a,s,0,2,0,60\n"
                                    "0,40,1,sjf-bco,gpt,node-a,s,0,1,60,100\n";

static void jobs_are_boxes_in_lanes_with_their_names(void **state)
{
    struct text s = { 0 };
    (void)state;
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

static void names_are_left_out_where_they_do_not_fit(void **state)
{
    struct text csv = { 0 }, s = { 0 };
    (void)state;
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
static void many_servers_are_a_map_of_busy_gpus(void **state)
{
    struct text csv = { 0 }, s = { 0 };
    (void)state;
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

static void what_cannot_be_drawn_is_placed(void **state)
{
    (void)state;
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

static void it_draws_in_every_format(void **state)
{
    (void)state;
    assert_drawn_in_every_format("gantt", two_jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_goes_on_is_one_box_on_its_gpus),
        cmocka_unit_test(who_goes_on_keeps_its_gpus_before_others_come),
        cmocka_unit_test(neighbours_are_preferred_and_a_job_is_split_where_none_are_free),
        cmocka_unit_test(boxes_never_overlap_and_no_gpu_is_wasted),
        cmocka_unit_test(servers_are_by_number_and_runs_by_scheduler),
        cmocka_unit_test(jobs_are_boxes_in_lanes_with_their_names),
        cmocka_unit_test(names_are_left_out_where_they_do_not_fit),
        cmocka_unit_test(many_servers_are_a_map_of_busy_gpus),
        cmocka_unit_test(what_cannot_be_drawn_is_placed),
        cmocka_unit_test(it_draws_in_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
