/* Adam against its algorithm written out, and on a hill whose top is known. */
#include "sim/hetero/policy.h"
#include "tests/support.h"

/* arXiv 1412.6980, algorithm 1, for one number. */
TEST(a_step_is_that_of_the_paper)
{
    static const double gradients[] = { 3, -1, 0.5, 1e-6, 200, 0 };
    KEEP(struct adam, a, adam_free);
    double x = 1, want = 1, m = 0, v = 0;
    OK(adam_build(&a, 1, e));
    for (size_t i = 0; i < COUNT_OF(gradients); i++) {
        double g = gradients[i], t = (double)i + 1;
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        want += 0.01 * (m / (1 - pow(0.9, t))) / (sqrt(v / (1 - pow(0.999, t))) + 1e-8);
        adam_step(&a, &x, &g, 0.01);
        assert_close(x, want, 1e-12);
    }
}

/* Whatever the size of the gradient, the first step has the size of the rate. */
TEST(a_restart_forgets)
{
    KEEP(struct adam, a, adam_free);
    double x[2] = { 0, 0 };
    OK(adam_build(&a, 2, e));
    for (int again = 0; again < 2; again++) {
        const double gradient[] = { 1e-3, -1e3 };
        x[0] = x[1] = 0;
        adam_restart(&a);
        adam_step(&a, x, gradient, 0.1);
        assert_close(x[0], 0.1, 1e-4);
        assert_close(x[1], -0.1, 1e-4);
    }
}

TEST(steps_climb_to_the_top)
{
    KEEP(struct adam, a, adam_free);
    double x[2] = { 5, -3 };
    OK(adam_build(&a, 2, e));
    for (int i = 0; i < 5000; i++) {
        const double gradient[] = { -(x[0] - 1), -100 * (x[1] - 2) };
        adam_step(&a, x, gradient, 0.01);
    }
    assert_near(x[0], 1, 1e-3);
    assert_near(x[1], 2, 1e-3);
}
