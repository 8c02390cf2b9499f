#include "sim/cluster/job.h"
#include "tests/support.h"

/* Chi-square of 6 numbers in 12000 draws: 5 degrees of freedom, above 25.7 once in 10000 seeds. */
TEST(whole_numbers_are_equally_likely_ends_included)
{
    RNG(r, 12, 0);
    int n[6] = { 0 };
    double chi = 0;
    for (int i = 0; i < 12000; i++) {
        double x = draw_whole(r, (struct draw_range){ -2, 3 });
        assert_true(x == floor(x) && x >= -2 && x <= 3);
        n[(int)x + 2]++;
    }
    for (int k = 0; k < 6; k++)
        chi += (n[k] - 2000.) * (n[k] - 2000.) / 2000;
    assert_true(chi < 25.7);
}

/* 0.1 GB/s is 800 Mbps, but 0.3 * 8 is 2.4000000000000004 and 0.7 * 10 / 7 is below 1. */
TEST(an_end_that_rounding_moved_still_counts)
{
    RNG(r, 12, 0);
    for (int i = 0; i < 100; i++) {
        assert_true(draw_whole(r, (struct draw_range){ 3 * (1 + 1e-15), 3 * (1 + 1e-15) }) == 3);
        assert_true(draw_whole(r, (struct draw_range){ 3 * (1 - 1e-15), 3 * (1 - 1e-15) }) == 3);
    }
}

/* 10.4 is 10.4 and not 11; between 10.2 and 10.8 anything is drawn. */
TEST(a_range_without_a_whole_number_is_drawn_from_as_it_is)
{
    RNG(r, 12, 0);
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(draw_whole(r, (struct draw_range){ 10.4, 10.4 }) == 10.4);
        double x = draw_whole(r, (struct draw_range){ 10.2, 10.8 });
        assert_true(x >= 10.2 && x < 10.8);
        sum += x / 1000;
    }
    assert_near(sum, 10.5, 0.03); /* deviation of a mean of 1000: .6 / sqrt(12000) = .0055 */
}
