#include "sim/slots/slots.h"
#include "tests/support.h"

/* 100 MB, 1.25 GB/s, 50 GB/s, 32 samples of 1 ms, 50 ms, 2 ms. */
static struct ring_time example(void)
{
    return (struct ring_time){ .gradient_B = 1e8,
                               .hop_Bps = 1.25e9,
                               .reduce_Bps = 5e10,
                               .sample_s = 1e-3,
                               .samples = 32,
                               .backward_s = 0.05,
                               .overhead_s = 0.002 };
}

/* By hand, of eq. 1: .75 * 1e8 * (1.6e-9 + 2e-11) = .1215 s on the ring, .032 + .05 + .002 s besides. */
TEST(an_iteration_takes_what_the_equation_says)
{
    const struct ring_time t = example();
    assert_close(ring_time_iteration_s(&t, RING_BATCH_WORKER, 4), 0.2055, 1e-14);
    assert_close(ring_time_iteration_s(&t, RING_BATCH_WORKER, 1), 0.084, 1e-14);
    assert_close(ring_time_iteration_s(&t, RING_BATCH_WORKER, 2), 0.084 + 0.081, 1e-14);
    assert_close(ring_time_iteration_s(&t, RING_BATCH_WORKER, 1000000000), 0.084 + 0.162, 1e-8);
    assert_close(ring_time_iteration_s(&t, RING_BATCH_JOB, 4), 0.1215 + 0.008 + 0.052, 1e-14);
    assert_close(ring_time_iteration_s(&t, RING_BATCH_JOB, 1), 0.084, 1e-14);
}

/* The same, summed over 2 (w - 1) steps: each sends a piece of d / w, every second one adds one up. */
TEST(the_ring_is_the_sum_of_its_steps)
{
    const struct ring_time t = example();
    for (int32_t w = 1; w <= 64; w++) {
        double s = t.samples * t.sample_s + t.backward_s + t.overhead_s;
        for (int32_t step = 0; step < 2 * (w - 1); step++) {
            s += t.gradient_B / w / t.hop_Bps;
            s += step < w - 1 ? t.gradient_B / w / t.reduce_Bps : 0;
        }
        assert_close(ring_time_iteration_s(&t, RING_BATCH_WORKER, w), s, 1e-12);
    }
}

/* A slot of 2.055 s holds 10 iterations on 4 workers, 24 on one (24.46) and 12 on two (12.45). */
TEST(a_slot_holds_whole_iterations)
{
    const struct ring_time t = example();
    double gain[5];
    OK(ring_time_gains(gain, &t, RING_BATCH_WORKER, 2.055, 4, e));
    assert_true(gain[0] == 0 && gain[1] == 24 && gain[2] == 24 && gain[4] == 40);
    /* .1815 s on four: 11; .149 s on two: 13. */
    OK(ring_time_gains(gain, &t, RING_BATCH_JOB, 2.055, 4, e));
    assert_true(gain[0] == 0 && gain[1] == 24 && gain[2] == 13 && gain[4] == 11);
    OK(ring_time_gains(gain, &t, RING_BATCH_JOB, 0.1, 4, e));
    assert_true(gain[1] == 1 && gain[2] == 0 && gain[4] == 0);
}

/* Slots of n iterations hold n, not n - 1, whatever rounding makes of the quotient. */
TEST(a_slot_of_n_iterations_holds_n)
{
    struct ring_time t = { .hop_Bps = INFINITY, .reduce_Bps = INFINITY, .samples = 1 };
    double gain[2];
    for (int tau = 1; tau < 100; tau++)
        for (int n = 1; n < 100; n++) {
            t.backward_s = tau * 0.01;
            OK(ring_time_gains(gain, &t, RING_BATCH_WORKER, n * tau * 0.01, 1, e));
            assert_true(gain[1] == n);
        }
}

TEST(a_ring_without_bandwidth_never_ends)
{
    double gain[2];
    WITH(struct ring_time, t, example(), t.hop_Bps = 0);
    FAILS(ring_time_gains(gain, &t, RING_BATCH_WORKER, 1, 1, e), ERR_RANGE,
          "ring: hop_Bps is 0, expected more than 0");
    t = example();
    t.sample_s = t.backward_s = t.overhead_s = 0;
    FAILS(ring_time_gains(gain, &t, RING_BATCH_WORKER, 1, 1, e), ERR_RANGE,
          "ring: an iteration of 1 workers takes 0 s, expected more than 0");
}
