/* Arithmetic on whole models: whole numbers, whose sums are exact, of every length around a vector's. */
#include <float.h>

#include "sim/gossip/floats.h"
#include "tests/support.h"

enum { LONGEST = 1100, GUARD = 8 };

/* 0, 1, 2, .. times @p by; behind it a guard that nobody may touch. */
static void count_up(float *x, float by)
{
    for (int32_t i = 0; i < LONGEST + GUARD; i++)
        x[i] = by * (float)i;
}

static bool is_length(int32_t n)
{
    return n < 70 || n == 511 || n == 512 || n == 513 || n == LONGEST;
}

TEST(additions_and_scales_reach_every_number_and_no_other)
{
    float x[LONGEST + GUARD], y[LONGEST + GUARD], z[LONGEST + GUARD], copy[LONGEST + GUARD];
    count_up(x, 1);
    for (int32_t n = 0; n <= LONGEST; n += 1) {
        if (!is_length(n))
            continue;
        count_up(y, 10);
        count_up(copy, 5);
        count_up(z, 3);
        floats_add(y, 2, x, n);
        floats_copy(copy, x, n);
        floats_scale(z, 4, n);
        for (int32_t i = 0; i < LONGEST + GUARD; i++) {
            assert_true(y[i] == (float)(i < n ? 12 * i : 10 * i) && copy[i] == (float)(i < n ? i : 5 * i));
            assert_true(z[i] == (float)(i < n ? 12 * i : 3 * i));
        }
        floats_add_difference(y, 3, z, x, n); /* 12 + 3 (12 - 1) */
        for (int32_t i = 0; i < LONGEST + GUARD; i++)
            assert_true(y[i] == (float)(i < n ? 45 * i : 10 * i));
    }
}

TEST(arrays_may_be_the_same_one)
{
    float x[LONGEST + GUARD], y[LONGEST + GUARD];
    count_up(x, 1);
    count_up(y, 9);
    floats_add(x, 2, x, LONGEST);               /* 3 */
    floats_add_difference(x, 2, y, x, LONGEST); /* 3 + 2 (9 - 3) */
    floats_add_difference(x, 1, x, y, LONGEST); /* 15 + (15 - 9) */
    for (int32_t i = 0; i < LONGEST; i++)
        assert_true(x[i] == (float)(21 * i));
}

/* Array k is i (k + 1): their mean is i (count + 1) / 2. */
TEST(the_mean_of_many_models_is_exact)
{
    enum { COUNT = 1024 };
    float *x[COUNT], mean[LONGEST + GUARD];
    for (int32_t k = 0; k < COUNT; k++) {
        x[k] = malloc((LONGEST + GUARD) * sizeof(float));
        assert_non_null(x[k]);
        count_up(x[k], (float)(k + 1));
    }
    for (int32_t count = 1; count <= COUNT; count *= 32)
        for (int32_t n = 1; n <= LONGEST; n++) {
            if (n != 1 && n != 15 && n != 512 && n != 513 && n != LONGEST)
                continue;
            count_up(mean, -1);
            floats_mean(mean, x, count, n);
            for (int32_t i = 0; i < LONGEST + GUARD; i++)
                assert_true(mean[i] == (float)(i < n ? i * (count + 1) / 2.0 : -i));
        }
    for (int32_t k = 0; k < COUNT; k++)
        free(x[k]);
}

/* 1 + 2^-30 is no float32, but a double; and float32's largest number twice is too large for float32. */
TEST(a_mean_is_added_up_in_double)
{
    float small[] = { 1, 0x1p-30F, -1 }, large[] = { FLT_MAX, FLT_MAX, FLT_MAX }, mean;
    float *x[] = { &small[0], &small[1], &small[2] }, *y[] = { &large[0], &large[1], &large[2] };
    floats_mean(&mean, x, 3, 1);
    assert_true(mean == (float)(0x1p-30 / 3));
    floats_mean(&mean, y, 3, 1);
    assert_true(mean == FLT_MAX);
}

TEST(sums_of_squares_are_exact_on_whole_numbers)
{
    float x[LONGEST + GUARD], y[LONGEST + GUARD];
    count_up(x, 1);
    count_up(y, 4);
    for (int32_t n = 0; n <= LONGEST; n++) {
        double want = (n - 1.0) * n * (2 * n - 1.0) / 6;
        assert_true(floats_square(x, n) == want && floats_distance2(y, x, n) == 9 * want);
        assert_true(floats_distance2(x, x, n) == 0);
    }
}

/* Beside 2^54 a 1 is lost, but four of them are not: it tells which number goes to which sum. */
TEST(a_number_goes_to_the_sum_of_its_place_mod_16)
{
    float x[80], zero[80] = { 0 };
    for (int32_t place = 0; place < 16; place++) {
        memset(x, 0, sizeof x);
        x[0] = 0x1p27F;
        for (int32_t i = place + 16; i < 80; i += 16)
            x[i] = 1;
        double want = place == 0 ? 0x1p54 : 0x1p54 + 4;
        assert_true(floats_square(x, 80) == want && floats_distance2(x, zero, 80) == want);
        assert_true(floats_distance2(zero, x, 80) == want);
    }
}

TEST(squares_of_the_largest_numbers_have_room_and_nan_stays)
{
    float x[40], zero[40] = { 0 };
    for (int32_t i = 0; i < 40; i++)
        x[i] = FLT_MAX;
    assert_close(floats_square(x, 40), 40 * (double)FLT_MAX * (double)FLT_MAX, 1e-15);
    for (int32_t i = 0; i < 40; i++) {
        x[i] = NAN;
        assert_true(isnan(floats_square(x, 40)) && isnan(floats_distance2(zero, x, 40)));
        x[i] = -INFINITY;
        assert_true(floats_square(x, 40) == (double)INFINITY);
        x[i] = 0;
    }
}
