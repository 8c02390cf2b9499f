#include "tests/support.h"

#include <stdlib.h>

#include "base/rng.h"
#include "plots/lanes.h"

/* One fold of one lane at that tolerance. */
static int64_t fold(struct lane_span *spans, int64_t n, double tolerance)
{
    struct lane lane = { .spans = spans, .n = n };
    lanes_fold(&lane, 1, INT64_MAX - 1, 4 * tolerance, 0.25);
    return lane.n;
}

static void assert_spans(const struct lane_span *got, int64_t n, const struct lane_span *want, int64_t n_want)
{
    assert_int_equal(n, n_want);
    for (int64_t i = 0; i < n; i++) {
        assert_near(got[i].start, want[i].start, 1e-12);
        assert_near(got[i].end, want[i].end, 1e-12);
        assert_int_equal(got[i].paint, want[i].paint);
        assert_int_equal(got[i].alone, want[i].alone);
    }
}

TEST(neighbours_of_one_colour_become_one)
{
    struct lane_span spans[] = { { 0, 2, 1, false },
                                 { 2, 5, 1, false },
                                 { 5.05, 8, 1, false },
                                 { 8, 9, 2, false },
                                 { 20, 23, 2, false } };
    /* The third moves by the gap of 0.05, less than the tolerance. */
    const struct lane_span want[] = { { 0, 7.95, 1, false }, { 8, 9, 2, false }, { 20, 23, 2, false } };
    assert_spans(spans, fold(spans, 5, 0.1), want, 3);
}

TEST(bars_below_the_tolerance_give_a_span_per_colour)
{
    struct lane_span spans[] = { { 0, 5, 2, false },       { 5, 5.01, 1, false },    { 5.02, 5.04, 2, false },
                                 { 5.05, 5.06, 1, false }, { 5.07, 5.09, 3, false }, { 7, 7.01, 1, false } };
    /* Colour 2 goes on from the left, then 1 with both its bars, then 3. */
    const struct lane_span want[] = {
        { 0, 5.02, 2, false }, { 5.02, 5.04, 1, false }, { 5.04, 5.06, 3, false }, { 7, 7.01, 1, false }
    };
    assert_spans(spans, fold(spans, 6, 0.1), want, 4);
}

/* Two are as many as three, up to the tolerance and no further. */
TEST(two_bars_within_the_tolerance_close_up)
{
    struct lane_span spans[] = { { 0, 0.02, 1, false },   { 0.05, 0.0625, 2, false },
                                 { 8, 8.05, 1, false },   { 8.06, 8.125, 2, false },
                                 { 20, 20.05, 2, false }, { 20.0625, 20.126, 1, false } };
    /* The colour that came last goes on. */
    const struct lane_span want[] = { { 0, 0.02, 1, false },   { 0.02, 0.0325, 2, false },
                                      { 8, 8.065, 2, false },  { 8.065, 8.115, 1, false },
                                      { 20, 20.05, 2, false }, { 20.0625, 20.126, 1, false } };
    assert_spans(spans, fold(spans, 6, 0.125), want, 6);
}

TEST(bars_alone_stay_as_they_are)
{
    struct lane_span spans[] = {
        { 0, 3, 1, true }, { 3, 6, 1, true }, { 6, 6.1, 1, false }, { 6.1, 9, 1, true }
    };
    const struct lane_span want[] = {
        { 0, 3, 1, true }, { 3, 6, 1, true }, { 6, 6.1, 1, false }, { 6.1, 9, 1, true }
    };
    assert_spans(spans, fold(spans, 4, 1), want, 4);
}

enum { MANY = 20000 };

/* Lengths by colour; no span overlaps the one before it. */
static void add_up(const struct lane_span *spans, int64_t n, double sums[SPAN_PAINTS])
{
    for (int k = 0; k < SPAN_PAINTS; k++)
        sums[k] = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_true(spans[i].end >= spans[i].start);
        assert_true(i == 0 || spans[i].start >= spans[i - 1].end - 1e-9);
        sums[spans[i].paint] += spans[i].end - spans[i].start;
    }
}

TEST(folding_keeps_the_busy_time_of_each_colour_whatever_the_bars)
{
    struct lane_span *spans = calloc(MANY, sizeof *spans);
    struct rng *rng;
    assert_non_null(spans);
    OK(rng_build(&rng, 1, 0, e));
    for (int round = 1; round <= 8; round++) {
        double before[SPAN_PAINTS], after[SPAN_PAINTS], at = 0;
        int64_t n = MANY;
        for (int64_t i = 0; i < n; i++) {
            double length = rng_range(rng, 0, 0.2 * round);
            at += rng_below(rng, 2) ? rng_range(rng, 0, 0.1) : 0;
            spans[i] = (struct lane_span){ at, at + length, (int32_t)rng_below(rng, 5), length > 1 };
            at += length;
        }
        add_up(spans, n, before);
        for (double tolerance = 0.25; tolerance <= 16; tolerance *= 2) {
            int64_t left = fold(spans, n, tolerance);
            assert_true(left <= n);
            n = left;
            add_up(spans, n, after);
            for (int k = 0; k < SPAN_PAINTS; k++)
                assert_near(after[k], before[k], 1e-6);
            assert_true(spans[n - 1].end <= at + 1e-9);
        }
    }
    rng_free(rng);
    free(spans);
}
