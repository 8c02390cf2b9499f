#include "tests/support.h"

#include "base/rng.h"
#include "sim/cluster/pace.h"

static double bin_B(const struct link_bins *b, int32_t k, int32_t arc)
{
    return b->bytes[(size_t)k * (size_t)b->n_arcs + (size_t)arc];
}

TEST(bytes_lie_in_the_bins_they_pass_through_evenly)
{
    KEEP(struct link_bins, b, link_bins_free);
    OK(link_bins_build(&b, 2, 4, 10, 1, e));
    link_bins_add(&b, 1, 6, 10.5, 13.5); /* 2 a second */
    assert_close(bin_B(&b, 0, 1), 1, 1e-15);
    assert_close(bin_B(&b, 1, 1), 2, 1e-15);
    assert_close(bin_B(&b, 2, 1), 2, 1e-15);
    assert_close(bin_B(&b, 3, 1), 1, 1e-15);
    link_bins_add(&b, 1, 5, 12, 12); /* no time, no bytes */
    for (int32_t k = 0; k < 4; k++)
        assert_true(bin_B(&b, k, 0) == 0);
}

TEST(bins_widen_until_they_hold_all_time)
{
    KEEP(struct link_bins, b, link_bins_free);
    OK(link_bins_build(&b, 1, 4, 0, 1, e));
    link_bins_add(&b, 0, 3, 0, 3);
    link_bins_add(&b, 0, 10, 20, 30); /* bins of 8 s from here on */
    assert_true(b.width_s == 8 && b.n_bins == 4);
    assert_close(bin_B(&b, 0, 0), 3, 1e-15);
    assert_true(bin_B(&b, 1, 0) == 0);
    assert_close(bin_B(&b, 2, 0), 4, 1e-15);
    assert_close(bin_B(&b, 3, 0), 6, 1e-15);
}

/* Whatever is added, in whatever order of times: no byte is lost, and none is before or after its time. */
TEST(no_byte_is_lost_or_out_of_its_time)
{
    RNG(r, 5, 0);
    for (int round = 0; round < 200; round++) {
        KEEP(struct link_bins, b, link_bins_free);
        double sum_B = 0, got_B = 0, last_s = 0;
        OK(link_bins_build(&b, 3, 8, 2, 0.25, e));
        for (int i = 0; i < 20; i++) {
            double from_s = 2 + rng_range(r, 0, 50), to_s = from_s + rng_log_range(r, 1e-6, 40);
            double bytes = rng_log_range(r, 1, 1e12);
            link_bins_add(&b, (int32_t)rng_below(r, 3), bytes, from_s, to_s);
            sum_B += bytes;
            last_s = to_s > last_s ? to_s : last_s;
        }
        for (int32_t k = 0; k < 8; k++)
            for (int32_t a = 0; a < 3; a++) {
                got_B += bin_B(&b, k, a);
                assert_true(bin_B(&b, k, a) == 0 || b.from_s + k * b.width_s < last_s);
            }
        assert_close(got_B, sum_B, 1e-12);
    }
}
