#include "tests/unit/timeline_table.h"

#include <stdlib.h>

#include "base/rng.h"
#include "plots/lanes.h"

static const struct plot_figure figure = { "demo", "", NULL, NULL, "weft demo", NULL };
static const struct plot_options no_options = { 0 };

static struct rows rows_of(struct table *t, const struct stage *stages, size_t n)
{
    timeline_table(t, stages, n);
    return (struct rows){ .t = t, .figure = &figure, .opt = &no_options };
}

static void bars_are_sorted_into_lanes_of_the_first_workload(void **state)
{
    struct table t;
    struct lanes l;
    struct err e = { 0 };
    struct rows r = rows_of(&t, stage_rows, COUNT_OF(stage_rows));
    (void)state;
    assert_ok(lanes_read(&l, &r, &e), &e);
    assert_int_equal(l.workloads.n, 2);
    assert_string_equal(l.workloads.list[0], "toy");
    assert_int_equal(l.n_bars, 9);
    assert_int_equal(l.n_runs, 2);
    assert_string_equal(l.orders.list[l.runs[1].order], "themis");
    assert_false(l.runs[0].chosen);
    assert_true(l.runs[1].chosen);
    assert_close(l.runs[1].time_s, 0.02, 1e-12);
    assert_close(l.runs[0].busy_frac[1], 0.75, 0);
    assert_close(l.runs[1].busy_frac[2], 0.5, 0);
    assert_int_equal(l.n_slots[LANES_COMPUTE], 2);
    assert_int_equal(l.n_slots[1], 1);
    assert_int_equal(l.n_slots[3], 0);
    assert_string_equal(l.dims.list[l.dim_name[2]], "pod");
    for (int64_t i = 1; i < l.n_bars; i++) {
        const struct lanes_bar *a = &l.bars[i - 1], *b = &l.bars[i];
        int64_t before = ((int64_t)a->run * LANES_DIMS + a->dim) * LANES_MAX_SLOTS + a->slot;
        int64_t after = ((int64_t)b->run * LANES_DIMS + b->dim) * LANES_MAX_SLOTS + b->slot;
        assert_true(before < after || (before == after && a->end_s <= b->start_s));
    }
    lanes_free(&l);
    table_free(&t);
}

/* Forward 0..5 and backward 3..8 of 20 ms overlap: 8 of 20. */
static void compute_is_busy_for_the_union_of_its_bars(void **state)
{
    struct table t;
    struct lanes l;
    struct err e = { 0 };
    struct rows r = rows_of(&t, stage_rows, COUNT_OF(stage_rows));
    (void)state;
    assert_ok(lanes_read(&l, &r, &e), &e);
    assert_close(l.runs[0].busy_frac[LANES_COMPUTE], 0.125, 1e-12);
    assert_close(l.runs[1].busy_frac[LANES_COMPUTE], 0.4, 1e-12);
    lanes_free(&l);
    table_free(&t);
}

static void the_lowest_class_of_npus_is_kept(void **state)
{
    struct stage rows[3] = { stage_rows[1], stage_rows[2], stage_rows[3] };
    struct table t;
    struct lanes l;
    struct err e = { 0 };
    (void)state;
    rows[0].npu_class = 1;
    rows[0].slot = 7;
    struct rows r = rows_of(&t, rows, 3);
    assert_ok(lanes_read(&l, &r, &e), &e);
    assert_int_equal(l.npu_class, 0);
    assert_int_equal(l.n_bars, 2);
    assert_int_equal(l.classes.n, 2);
    assert_int_equal(l.n_slots[1], 0);
    lanes_free(&l);
    table_free(&t);
}

static void an_order_too_many_is_left_out(void **state)
{
    static const char *const orders[] = { "a", "b", "c", "d", "e", "f" };
    struct stage rows[6];
    struct table t;
    struct lanes l;
    struct err e = { 0 };
    (void)state;
    for (int i = 0; i < 6; i++) {
        rows[i] = stage_rows[1];
        rows[i].order = orders[i];
    }
    struct rows r = rows_of(&t, rows, 6);
    assert_ok(lanes_read(&l, &r, &e), &e);
    assert_int_equal(l.n_runs, LANES_MAX_RUNS);
    assert_int_equal(l.n_bars, LANES_MAX_RUNS);
    assert_int_equal(l.orders.n, 6);
    lanes_free(&l);
    table_free(&t);
}

static void a_row_without_a_time_is_counted_and_left_out(void **state)
{
    struct stage rows[2] = { stage_rows[1], stage_rows[2] };
    struct table t;
    struct lanes l;
    struct err e = { 0 };
    (void)state;
    rows[0].end_ms = (double)NAN;
    struct rows r = rows_of(&t, rows, 2);
    assert_ok(lanes_read(&l, &r, &e), &e);
    assert_int_equal(l.n_bars, 1);
    assert_int_equal(l.n_blank, 1);
    lanes_free(&l);
    table_free(&t);
}

static void what_cannot_be_is_placed(void **state)
{
    static const struct {
        struct stage row;
        const char *want;
    } cases[] = {
        { { "w", "o", "no", 4, "node", 1, 1, 0, 0, "a", "p", 3, 2 },
          "figure demo: row 1, column end_s: is 0.002, need at least its start_s 0.003" },
        { { "w", "o", "no", 4, "node", 1, 1, 0, 0, "a", "p", -3, 2 },
          "figure demo: row 1, column start_s: is -0.003, need at least 0" },
        { { "w", "o", "no", 0, "node", 1, 1, 0, 0, "a", "p", 1, 2 },
          "figure demo: row 1, column time_s: is 0, need above 0" },
        { { "w", "o", "no", 4, "node", 9, 1, 0, 0, "a", "p", 1, 2 },
          "figure demo: row 1, column dim: is 9, need a whole number, 0 to 8" },
        { { "w", "o", "no", 4, "node", 1, 1, 0, 2000, "a", "p", 1, 2 },
          "figure demo: row 1, column slot: is 2000, need a whole number, 0 to 1999" },
        { { "w", "o", "no", 4, "node", 1, 1, 0, 0, "a", "p", (double)NAN, 2 },
          "figure demo: rows to draw: is 0 of 1 (1 pass the filter, 1 of those lack a value)" },
    };
    struct err e = { 0 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table t;
        struct lanes l;
        struct rows r = rows_of(&t, &cases[i].row, 1);
        assert_fails(lanes_read(&l, &r, &e), &e, ERR_PARSE, cases[i].want);
        lanes_free(&l);
        table_free(&t);
    }
}

static void assert_spans(const struct lanes_span *got, int64_t n, const struct lanes_span *want,
                         int64_t n_want)
{
    assert_int_equal(n, n_want);
    for (int64_t i = 0; i < n; i++) {
        assert_near(got[i].start, want[i].start, 1e-12);
        assert_near(got[i].end, want[i].end, 1e-12);
        assert_int_equal(got[i].paint, want[i].paint);
        assert_int_equal(got[i].alone, want[i].alone);
    }
}

static void neighbours_of_one_colour_become_one(void **state)
{
    struct lanes_span spans[] = { { 0, 2, 1, false },
                                  { 2, 5, 1, false },
                                  { 5.05, 8, 1, false },
                                  { 8, 9, 2, false },
                                  { 20, 23, 2, false } };
    /* The third moves by the gap of 0.05, less than the tolerance. */
    const struct lanes_span want[] = { { 0, 7.95, 1, false }, { 8, 9, 2, false }, { 20, 23, 2, false } };
    (void)state;
    assert_spans(spans, lanes_fold(spans, 5, 0.1), want, 3);
}

static void bars_below_the_tolerance_give_a_span_per_colour(void **state)
{
    struct lanes_span spans[] = { { 0, 5, 2, false },       { 5, 5.01, 1, false },
                                  { 5.02, 5.04, 2, false }, { 5.05, 5.06, 1, false },
                                  { 5.07, 5.09, 3, false }, { 7, 7.01, 1, false } };
    /* Colour 2 goes on from the left, then 1 with both its bars, then 3. */
    const struct lanes_span want[] = {
        { 0, 5.02, 2, false }, { 5.02, 5.04, 1, false }, { 5.04, 5.06, 3, false }, { 7, 7.01, 1, false }
    };
    (void)state;
    assert_spans(spans, lanes_fold(spans, 6, 0.1), want, 4);
}

static void bars_alone_stay_as_they_are(void **state)
{
    struct lanes_span spans[] = {
        { 0, 3, 1, true }, { 3, 6, 1, true }, { 6, 6.1, 1, false }, { 6.1, 9, 1, true }
    };
    const struct lanes_span want[] = {
        { 0, 3, 1, true }, { 3, 6, 1, true }, { 6, 6.1, 1, false }, { 6.1, 9, 1, true }
    };
    (void)state;
    assert_spans(spans, lanes_fold(spans, 4, 1), want, 4);
}

enum { MANY = 20000 };

/* Lengths by colour; no span overlaps the one before it. */
static void add_up(const struct lanes_span *spans, int64_t n, double sums[LANES_PAINTS])
{
    for (int k = 0; k < LANES_PAINTS; k++)
        sums[k] = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_true(spans[i].end >= spans[i].start);
        assert_true(i == 0 || spans[i].start >= spans[i - 1].end - 1e-9);
        sums[spans[i].paint] += spans[i].end - spans[i].start;
    }
}

static void folding_keeps_the_busy_time_of_each_colour_whatever_the_bars(void **state)
{
    struct lanes_span *spans = calloc(MANY, sizeof *spans);
    struct rng *rng;
    struct err e = { 0 };
    (void)state;
    assert_non_null(spans);
    assert_ok(rng_build(&rng, 1, 0, &e), &e);
    for (int round = 1; round <= 8; round++) {
        double before[LANES_PAINTS], after[LANES_PAINTS], at = 0;
        int64_t n = MANY;
        for (int64_t i = 0; i < n; i++) {
            double length = rng_range(rng, 0, 0.2 * round);
            at += rng_below(rng, 2) ? rng_range(rng, 0, 0.1) : 0;
            spans[i] = (struct lanes_span){ at, at + length, (int32_t)rng_below(rng, 5), length > 1 };
            at += length;
        }
        add_up(spans, n, before);
        for (double tolerance = 0.25; tolerance <= 16; tolerance *= 2) {
            int64_t left = lanes_fold(spans, n, tolerance);
            assert_true(left <= n);
            n = left;
            add_up(spans, n, after);
            for (int k = 0; k < LANES_PAINTS; k++)
                assert_near(after[k], before[k], 1e-6);
            assert_true(spans[n - 1].end <= at + 1e-9);
        }
    }
    rng_free(rng);
    free(spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_are_sorted_into_lanes_of_the_first_workload),
        cmocka_unit_test(compute_is_busy_for_the_union_of_its_bars),
        cmocka_unit_test(the_lowest_class_of_npus_is_kept),
        cmocka_unit_test(an_order_too_many_is_left_out),
        cmocka_unit_test(a_row_without_a_time_is_counted_and_left_out),
        cmocka_unit_test(what_cannot_be_is_placed),
        cmocka_unit_test(neighbours_of_one_colour_become_one),
        cmocka_unit_test(bars_below_the_tolerance_give_a_span_per_colour),
        cmocka_unit_test(bars_alone_stay_as_they_are),
        cmocka_unit_test(folding_keeps_the_busy_time_of_each_colour_whatever_the_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
