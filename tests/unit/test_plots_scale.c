#include "tests/support.h"

#include "base/text.h"
#include "plots/scale.h"

TEST(a_wide_span_gets_a_log_axis_that_ends_at_1_2_or_5)
{
    static const struct {
        double lo, hi;
        bool log;
        double want_lo, want_hi;
    } cases[] = {
        { 1, 29.9, false, 0, 29.9 * 1.04 }, { 1, 31, true, 1, 50 },      { 0.3, 700, true, 0.2, 1000 },
        { 100, 1000, false, 0, 1040 },      { 0, 1000, false, 0, 1040 }, { 2e-6, 2e-3, true, 2e-6, 2e-3 },
        { 5e6, 1e9, true, 5e6, 1e9 },       { 0, 0, false, 0, 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct axis a = axis_fit(cases[i].lo, cases[i].hi);
        assert_int_equal(a.log, cases[i].log);
        assert_close(a.lo, cases[i].want_lo, 1e-9);
        assert_close(a.hi, cases[i].want_hi, 1e-9);
    }
}

TEST(values_that_differ_by_rounding_are_one)
{
    struct axis a = axis_fit(3 * (1 - 1e-12), 3);
    assert_true(a.lo == 0);
    assert_close(a.hi, 3.12, 1e-9);
}

TEST(lines_far_from_zero_start_at_a_round_number_below_them)
{
    static const struct {
        double lo, hi, want_lo;
    } cases[] = {
        { 0.853, 1.69, 0.8 }, { 2.52, 3.04, 2.5 }, { 501, 1000, 500 }, { 500, 1000, 0 }, { 7, 7, 0 }
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct axis a = axis_fit(cases[i].lo, cases[i].hi);
        assert_false(a.log);
        assert_close(a.lo, cases[i].want_lo, 1e-12);
        assert_true(a.hi > cases[i].hi);
    }
}

TEST(bars_start_at_zero_whatever_the_span)
{
    struct axis a = axis_bars(1e6);
    assert_false(a.log);
    assert_true(a.lo == 0 && a.hi > 1e6);
}

TEST(a_rounded_axis_ends_at_a_round_number_above_the_values)
{
    static const struct {
        double hi, want;
    } cases[] = { { 1.998, 2 }, { 13.2, 14 }, { 100, 100 }, { 0.52, 0.6 }, { 1, 1 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct axis a = { .hi = cases[i].hi };
        axis_round_up(&a);
        assert_close(a.hi, cases[i].want, 1e-12);
    }
}

TEST(ratios_have_a_log_axis_unless_they_are_close_and_1_lies_inside)
{
    static const struct {
        double lo, hi;
        bool log;
        double want_hi;
    } cases[] = { { 1, 69, true, 100 },    { 1.02, 4.5, true, 5 },     { 0.5, 2, true, 2 },
                  { 1, 1.5, false, 1.53 }, { 1.2, 1.4, false, 1.424 }, { 1, 1, false, 1.106 },
                  { 0.9, 1, false, 1.006 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct axis a = axis_ratio(cases[i].lo, cases[i].hi);
        assert_int_equal(a.log, cases[i].log);
        assert_close(a.hi, cases[i].want_hi, 1e-9);
        assert_true(a.lo < 1 && a.lo < cases[i].lo && a.hi > 1 && a.hi >= cases[i].hi);
    }
}

TEST(a_place_on_an_axis_is_a_share_of_its_length)
{
    const struct axis linear = { .lo = 2, .hi = 6 }, log = { .lo = 1e-300, .hi = 1e300, .log = true };
    assert_close(axis_share(&linear, 3), 0.25, 1e-12);
    assert_close(axis_share(&log, 1e150), 0.75, 1e-12);
}

/* "('0' 0, '' 5 minor, '10' 10)" */
static void put_tic(void *of, const struct axis_tic *tic)
{
    struct text *out = of;
    text_printf(out, "%s'%s' %.10g%s", out->n > 1 ? ", " : "", tic->label ? tic->label : "", tic->at,
                tic->minor ? " 1" : "");
}

static void list_tics(struct text *out, char which, const struct axis *a, double length_px)
{
    text_puts(out, "(");
    axis_tics(a, which == 'x', length_px, put_tic, out);
    text_puts(out, ")");
}

/* The ratio of its ends is more than a double holds. */
TEST(an_axis_as_long_as_doubles_go_has_tics)
{
    struct axis a = axis_ratio(1e-300, 1e300);
    KEEP(struct text, t, text_free) = { 0 };
    assert_true(a.log && a.lo > 0 && a.hi == 1e300);
    list_tics(&t, 'x', &a, 200);
    assert_has(text_str(&t), "('1e-");
    assert_has(text_str(&t), "'1e+");
}

TEST(tics_are_round_numbers_in_the_room_there_is)
{
    static const struct {
        struct axis axis;
        char which;
        double length_px;
        const char *want;
    } cases[] = {
        { { .hi = 1040 }, 'x', 200, "('0' 0, '500' 500, '1000' 1000)" },
        { { .hi = 1040 }, 'x', 400, "('0' 0, '200' 200, '400' 400, '600' 600, '800' 800, '1000' 1000)" },
        { { .hi = 2, .hide = true }, 'y', 110, "('' 0, '' 0.5, '' 1, '' 1.5, '' 2)" },
        { { .lo = 1.5, .hi = 4.5, .integers = true }, 'x', 99, "('2' 2, '3' 3, '4' 4)" },
        { { .lo = 1, .hi = 100, .log = true }, 'y', 60, "'1' 1, '10' 10, '100' 100)" },
        { { .lo = 2, .hi = 50, .log = true }, 'y', 200, "'2' 2, '5' 5, '10' 10, '20' 20, '50' 50)" },
        { { .lo = 1, .hi = 1e6, .log = true }, 'y', 60, "('1' 1, '1000' 1000, '1e+06' 1000000)" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, t, text_free) = { 0 };
        list_tics(&t, cases[i].which, &cases[i].axis, cases[i].length_px);
        assert_has(text_str(&t), cases[i].want);
        assert_null(strstr(text_str(&t), "-0"));
    }
}

TEST(sizes_have_tics_at_powers_of_two_in_words)
{
    static const struct {
        double lo, hi, length_px;
        const char *want[3], *not_there;
    } cases[] = {
        { 1, 16, 600, { "'1 B' 1,", "'2 B' 2,", "'16 B' 16)" }, "KiB" },
        { 512, 1 << 20, 700, { "'512 B' 512,", "'1 KiB' 1024,", "'1 MiB' 1048576)" }, "' 1," },
        { 1024,
          4294967296.0,
          600,
          { "'1 KiB' 1024,", "'32 MiB' 33554432,", "'1 GiB' 1073741824," },
          "4 GiB" },
        { 1000, 1e9, 240, { "'1 KiB'", "'1 GiB'", "'' 32768 1" }, "'32 KiB'" },
        { 1, 1099511627776.0, 60, { "'1 B' 1,", "'1 KiB' 1024,", "'1 TiB' 1.0995" }, "'2 " },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct axis a = axis_bytes(cases[i].lo, cases[i].hi);
        KEEP(struct text, s, text_free) = { 0 };
        assert_true(a.log && a.lo < cases[i].lo && a.hi > cases[i].hi);
        list_tics(&s, 'x', &a, cases[i].length_px);
        for (int k = 0; k < 3; k++)
            assert_has(text_str(&s), cases[i].want[k]);
        assert_null(strstr(text_str(&s), cases[i].not_there));
    }
}

TEST(a_log_axis_spans_something_even_for_one_value)
{
    static const double cases[][4] = { { 3, 40, 2, 50 }, { 7, 7, 5, 10 }, { 10, 10, 10, 20 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct axis a = axis_log(cases[i][0], cases[i][1]);
        assert_true(a.log);
        assert_close(a.lo, cases[i][2], 1e-9);
        assert_close(a.hi, cases[i][3], 1e-9);
    }
}

TEST(an_axis_around_zero_is_symmetric_and_has_zero_among_its_tics)
{
    static const double cases[][2] = { { 1, 1 }, { 31, 35 }, { 4, 4 }, { 100, 100 }, { 0.03, 0.03 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct axis a = axis_around_zero(cases[i][0]);
        KEEP(struct text, s, text_free) = { 0 };
        assert_false(a.log);
        assert_close(a.hi, cases[i][1], 1e-9);
        assert_close(a.lo, -a.hi, 0);
        list_tics(&s, 'y', &a, 130);
        assert_has(text_str(&s), "'0' 0,");
    }
}

TEST(a_unit_is_the_largest_that_leaves_a_number_above_one)
{
    static const struct {
        const struct unit *list;
        double max;
        const char *want;
        double scale;
    } cases[] = {
        { unit_seconds, 2, "s", 1 },         { unit_seconds, 0.75, "ms", 1e-3 },
        { unit_seconds, 1e-3, "ms", 1e-3 },  { unit_seconds, 3e-5, "µs", 1e-6 },
        { unit_seconds, 1e-12, "ns", 1e-9 }, { unit_usd, 2.5e9, "bn USD", 1e9 },
        { unit_usd, 69e6, "M USD", 1e6 },    { unit_usd, 12000, "k USD", 1e3 },
        { unit_usd, 0, "USD", 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct unit u = unit_pick(cases[i].list, cases[i].max);
        assert_string_equal(u.name, cases[i].want);
        assert_close(u.scale, cases[i].scale, 0);
    }
}
