/* Whole numbers that may overflow, and numbers as text against the C library's. */
#include "tests/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/num.h"

TEST(products_and_sums_that_fit_are_exact)
{
    int64_t r = 0;
    assert_true(num_mul(3037000499, 3037000499, &r)); /* floor(sqrt(2^63)) squared */
    assert_true(r == 9223372030926249001 && num_mul(0, INT64_MAX, &r) && r == 0);
    assert_true(num_add(INT64_MAX - 5, 5, &r) && r == INT64_MAX);
}

TEST(overflow_is_told_and_leaves_the_result_alone)
{
    int64_t r = 42;
    assert_true(!num_mul(3037000500, 3037000500, &r) && !num_mul(INT64_MAX, 2, &r));
    assert_true(!num_add(INT64_MAX, 1, &r) && r == 42);
}

TEST(powers_of_two_are_known)
{
    assert_true(num_is_power_of_two(1) && num_is_power_of_two(2) && num_is_power_of_two(INT64_C(1) << 62));
    assert_false(num_is_power_of_two(3) || num_is_power_of_two(6) || num_is_power_of_two(INT64_MAX));
    assert_int_equal(num_log2_up(1), 0);
    for (int32_t k = 1; k < 62; k++) {
        assert_int_equal(num_log2_up(INT64_C(1) << k), k);
        assert_int_equal(num_log2_up((INT64_C(1) << k) + 1), k + 1);
    }
}

TEST(decimal_numbers_are_read)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        { "0", 0 },
        { "-1.5", -1.5 },
        { "+2", 2 },
        { "1e3", 1000 },
        { "2.5E-1", 0.25 },
        { ".5", 0.5 },
        { "5.", 5 },
        { "0.125", 0.125 },
        { "1e+2", 100 },
        { "1e-400", 0 },
        { "1.7976931348623157e308", DBL_MAX },
        { "4.9406564584124654e-324", 0x1p-1074 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double x = NAN;
        assert_true(num_parse_real(cases[i].text, &x) && x == cases[i].want);
    }
}

TEST(anything_else_is_not_a_number)
{
    static const char *const cases[] = { "",      "-",     ".",   "e5",  "1e",    "1e+", "1.2.3",   " 1",
                                         "1 ",    "0x10",  "nan", "inf", "-inf",  "010", "-01",     "1,5",
                                         "1_000", "1e999", "--1", "+-1", "1e5.0", "1f",  "infinity" };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double x = 42;
        assert_true(!num_parse_real(cases[i], &x) && x == 42);
    }
}

/* sqrt(p - x) + x/2 is greatest at p - 1. */
static double hill(const void *with, double x)
{
    return sqrt(*(const double *)with - x) + x / 2;
}

TEST(golden_sections_close_in_on_the_greatest)
{
    for (double place = 1.1; place < 3.9; place += 0.2) {
        double at;
        assert_close(num_golden_greatest(&at, hill, &place, place, 40), 1 + (place - 1) / 2, 1e-12);
        assert_true(fabs(at - (place - 1)) < 1e-6);
    }
}

TEST(golden_steps_reach_each_once_and_far_apart)
{
    bool met[200];
    for (int64_t n = 1; n <= 200; n++) {
        int64_t step = num_golden_step(n), at = 0;
        memset(met, 0, sizeof met);
        for (int64_t i = 0; i < n; i++, at = (at + step) % n) {
            assert_false(met[at]);
            met[at] = true;
        }
        assert_true(n < 10 || (step > n / 2 && step < 9 * n / 10));
    }
}

TEST(counts_are_plain_digits_below_2_to_63)
{
    static const struct {
        const char *text;
        int64_t want;
    } good[] = { { "0", 0 }, { "4096", 4096 }, { "9223372036854775807", INT64_MAX } };
    static const char *const bad[] = {
        "", "-1", "+1", "1.0", "4e3", "010", "00", " 1", "9223372036854775808", "0x1"
    };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        int64_t n = -1;
        assert_true(num_parse_count(good[i].text, &n) && n == good[i].want);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        int64_t n = -7;
        assert_true(!num_parse_count(bad[i], &n) && n == -7);
    }
}

TEST(formatted_numbers_are_short)
{
    static const struct {
        double x;
        const char *want;
    } cases[] = { { 0, "0" },
                  { 1, "1" },
                  { 0.1, "0.1" },
                  { 1e9, "1000000000" },
                  { -2.5, "-2.5" },
                  { 1e300, "1e+300" },
                  { 1.0 / 3, "0.3333333333333333" },
                  { NAN, "nan" },
                  { INFINITY, "inf" },
                  { 0.1 + 0.2, "0.30000000000000004" },
                  { -0.0, "-0" },
                  { 1e22, "1e+22" } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char buf[NUM_TEXT];
        assert_string_equal(num_format(buf, cases[i].x), cases[i].want);
    }
}

/* What the C library gives for %.15g, %.16g and %.17g; another way to the same digits. */
static void assert_as_printed(double x)
{
    char got[NUM_TEXT], want[NUM_TEXT];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(want, sizeof want, "%.*g", digits, x);
        if (strtod(want, NULL) == x)
            break;
    }
    if (strcmp(num_format(got, x), want) != 0) {
        print_error("%a: %s, want %s\n", x, got, want);
        fail();
    }
}

TEST(any_double_is_written_as_printf_writes_it)
{
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        double any, near_one;
        bits ^= bits << 13; /* Marsaglia's xorshift, 2003 */
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&any, &bits, sizeof any);
        if (i % 4 == 0 && !isnan(any))
            assert_as_printed(any);
        near_one = ldexp((double)(bits >> 11), -53 - (int)(bits % 160) + 30); /* 1e-39 to 1e9 */
        if (i % 4 == 1)
            assert_as_printed(-near_one);
        if (i % 4 == 2)
            assert_as_printed((double)(bits % 1000000000) / 1000); /* few digits */
        if (i % 4 == 3) /* at powers of two the doubles below are closer than those above */
            assert_as_printed(ldexp(1 + (double)(bits % 3) * 0x1p-52 - (double)(bits % 5 == 0) * 0x1p-53,
                                    (int)(bits >> 20 & 255) - 150));
    }
}

TEST(powers_of_ten_and_their_neighbours_are_written_as_printf_writes_them)
{
    char text[32];
    for (int k = -45; k <= 25; k++)
        for (int digit = 1; digit <= 9; digit++) {
            snprintf(text, sizeof text, "%de%d", digit, k);
            double x = strtod(text, NULL);
            assert_as_printed(x);
            assert_as_printed(nextafter(x, INFINITY));
            assert_as_printed(nextafter(x, 0));
            assert_as_printed(nextafter(nextafter(x, 0), 0));
            assert_as_printed(x / 2);
        }
}
