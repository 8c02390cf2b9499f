#include "tests/support.h"

#include "base/rng.h"
#include "sim/fit.h"

enum { MOST = 256 };

/* Points of one term of 2 hops and load 1.5, weighed alike: each scatters by 1 %. */
struct sample {
    double bytes[MOST], time_s[MOST], scatter[MOST];
    struct pieces_problem p;
};

/* Sizes grow by @p factor from 1 KiB; times are to be set. */
static void set_sample(struct sample *s, int32_t n, double factor)
{
    s->p = (struct pieces_problem){ .n = n,
                                    .bytes = s->bytes,
                                    .time_s = s->time_s,
                                    .scatter = s->scatter,
                                    .n_terms = 1,
                                    .terms = { { 2, 1.5 } },
                                    .least_s_per_B = 1e-12,
                                    .most_s_per_B = 1e-8 };
    for (int32_t i = 0; i < n; i++) {
        s->bytes[i] = 1024 * pow(factor, i);
        s->scatter[i] = 0.01;
    }
}

/* Times of lines that begin at these points. */
static void set_times(struct sample *s, const struct piece *truth, int32_t n_truth)
{
    int32_t k = 0;
    for (int32_t i = 0; i < s->p.n; i++) {
        if (k + 1 < n_truth && i >= truth[k + 1].first)
            k++;
        s->time_s[i] = pieces_time(&truth[k], &s->p, s->bytes[i]);
    }
}

/* 10 us of 2 GB/s; from 128 KiB on 200 us of 20 GB/s, a jump up; from 64 MiB on 20 us of 200 GB/s, a jump
 * down. */
static const struct piece three[3] = {
    { .first = 0, .lat_s = 5e-6, .s_per_B = 5e-10 },
    { .first = 7, .lat_s = 100e-6, .s_per_B = 5e-11 },
    { .first = 16, .lat_s = 10e-6, .s_per_B = 5e-12 },
};

/* Times of the first n_lines of these lines at n sizes, and room for fits of them. */
#define SAMPLE(s, all, n, factor, lines, n_lines)                                                            \
    struct sample s;                                                                                         \
    struct pieces all[PIECES_MAX];                                                                           \
    set_sample(&s, n, factor);                                                                               \
    set_times(&s, lines, n_lines)

TEST(times_are_those_of_the_fastest_term)
{
    struct sample s;
    set_sample(&s, 3, 2);
    assert_close(pieces_time(&three[0], &s.p, 1000), 10e-6 + 1.5 * 1000 * 5e-10, 1e-15);
    s.p.terms[s.p.n_terms++] = (struct pieces_term){ 20, 0.5 };
    assert_close(pieces_time(&three[0], &s.p, 1000), 10e-6 + 1.5 * 1000 * 5e-10, 1e-15);
    assert_close(pieces_time(&three[2], &s.p, 1e9), 200e-6 + 0.5e9 * 5e-12, 1e-15);
}

TEST(known_lines_and_jumps_are_found_again)
{
    CASES(int32_t n_terms; struct pieces_term terms[3]) = {
        { 1, { { 2, 1.5 } } }, { 3, { { 2, 1.5 }, { 6, 1 }, { 14, 0.875 } } }, /* algorithms to choose from */
    };
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        struct sample s;
        struct pieces all[PIECES_MAX];
        set_sample(&s, 24, 2);
        s.p.n_terms = cases[c].n_terms;
        memcpy(s.p.terms, cases[c].terms, sizeof cases[c].terms);
        set_times(&s, three, 3);
        OK(pieces_fit(all, &s.p, 4, e));
        assert_true(all[2].n == 3 && all[2].loss < 1e-6);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(all[2].list[k].first, three[k].first);
            assert_close(all[2].list[k].lat_s, three[k].lat_s, 1e-6);
            assert_close(all[2].list[k].s_per_B, three[k].s_per_B, 1e-6);
        }
        assert_true(all[0].loss > all[1].loss && all[1].loss > all[2].loss && all[2].loss >= all[3].loss);
    }
}

/* 27 points and nine lines: three points each, there is no other way. */
TEST(most_lines_of_fewest_points_are_found)
{
    struct piece truth[PIECES_MAX];
    for (int32_t k = 0; k < PIECES_MAX; k++)
        truth[k] = (struct piece){ .first = 3 * k, .lat_s = 5e-6 * (k % 2 ? 1 : 9), .s_per_B = 5e-11 };
    SAMPLE(s, all, 3 * PIECES_MAX, 1.2, truth, PIECES_MAX);
    OK(pieces_fit(all, &s.p, PIECES_MAX, e));
    for (int32_t n = 1; n <= PIECES_MAX; n++) {
        assert_int_equal(all[n - 1].n, n);
        assert_true(n == PIECES_MAX ? all[n - 1].loss < 1e-6 : all[n - 1].loss > 10);
    }
    for (int32_t k = 0; k < PIECES_MAX; k++) {
        const struct piece *got = &all[PIECES_MAX - 1].list[k];
        assert_true(got->first == 3 * k && got->n == 3);
        assert_close(got->lat_s, truth[k].lat_s, 1e-4);
    }
}

/* Of many points not every gap is a place to meet, but the one found is next to the true one. */
TEST(many_points_are_divided_near_the_jump)
{
    const struct piece truth[2] = { { .first = 0, .lat_s = 5e-6, .s_per_B = 5e-10 },
                                    { .first = 101, .lat_s = 100e-6, .s_per_B = 5e-11 } };
    SAMPLE(s, all, 200, 1.05, truth, 2);
    OK(pieces_fit(all, &s.p, 2, e));
    assert_true(abs(all[1].list[1].first - 101) <= 200 / PIECES_MAX_CUTS);
    assert_close(all[1].list[1].lat_s, 100e-6, 2e-3);
}

/* Beyond 1.345 scatters a point pulls no harder, however far it is off. */
TEST(one_bad_point_bends_the_line_by_less_than_its_scatter)
{
    struct piece bent[2];
    for (int k = 0; k < 2; k++) {
        SAMPLE(s, all, 12, 2, three, 1);
        s.time_s[5] *= k ? 160 : 1.6;
        OK(pieces_fit(all, &s.p, 1, e));
        bent[k] = all[0].list[0];
        assert_close(bent[k].lat_s, three[0].lat_s, 0.01);
        assert_close(bent[k].s_per_B, three[0].s_per_B, 0.01);
    }
    assert_close(bent[0].lat_s, bent[1].lat_s, 2e-3);
}

TEST(blurred_points_count_less)
{
    SAMPLE(s, all, 6, 2, three, 1);
    for (int i = 0; i < 4; i++) {
        s.time_s[i] *= 1 + 0.1 * i;
        s.scatter[i] = 10;
    }
    OK(pieces_fit(all, &s.p, 1, e));
    assert_close(pieces_time(&all[0].list[0], &s.p, s.bytes[4]), s.time_s[4], 1e-5);
    assert_close(pieces_time(&all[0].list[0], &s.p, s.bytes[5]), s.time_s[5], 1e-5);
}

/* Times that grow faster than size ask for a latency below nothing; times that do not grow, for a rate
 * without bound. */
TEST(numbers_stay_within_their_bounds)
{
    struct sample s;
    struct pieces all[PIECES_MAX];
    set_sample(&s, 8, 2);
    for (int i = 0; i < 8; i++)
        s.time_s[i] = 1e-9 * pow(s.bytes[i], 1.2);
    OK(pieces_fit(all, &s.p, 2, e));
    for (int k = 0; k < 2; k++)
        assert_true(all[1].list[k].lat_s == 0);
    for (int i = 0; i < 8; i++)
        s.time_s[i] = 30e-6;
    OK(pieces_fit(all, &s.p, 1, e));
    assert_true(all[0].list[0].s_per_B == s.p.least_s_per_B);
    double mean_B = 1024 * 255 / 8.0; /* all within a scatter of their mean */
    assert_close(all[0].list[0].lat_s, (30e-6 - 1.5e-12 * mean_B) / 2, 1e-9);
    for (int i = 0; i < 8; i++)
        s.time_s[i] = 1e-3 * s.bytes[i];
    OK(pieces_fit(all, &s.p, 1, e));
    assert_true(all[0].list[0].s_per_B <= s.p.most_s_per_B);
}

/* ---- against trying everything ---- */

static double loss_of(const struct sample *s, int32_t first, int32_t n, double lat_s, double s_per_B)
{
    const struct piece line = { .lat_s = lat_s, .s_per_B = s_per_B };
    double sum = 0;
    for (int32_t i = first; i < first + n; i++) {
        double z = fabs(pieces_time(&line, &s->p, s->bytes[i]) / s->time_s[i] - 1) / s->scatter[i];
        sum += (z <= 1.345 ? z * z : 2 * 1.345 * z - 1.345 * 1.345) / 0.8214;
    }
    return sum;
}

/* Of the best latency for this rate: the loss is convex in it. */
static double best_latency(const struct sample *s, int32_t first, int32_t n, double s_per_B)
{
    double lo = 0, hi = 0;
    for (int32_t i = first; i < first + n; i++)
        hi = fmax(hi, s->time_s[i]);
    for (int k = 0; k < 90; k++) {
        double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
        *(loss_of(s, first, n, a, s_per_B) < loss_of(s, first, n, b, s_per_B) ? &hi : &lo) =
            loss_of(s, first, n, a, s_per_B) < loss_of(s, first, n, b, s_per_B) ? b : a;
    }
    return loss_of(s, first, n, lo, s_per_B);
}

/* Thirds of the range of rates, and of latencies for each: the least over one number of a convex function of
 * two is convex. */
static double least_loss(const struct sample *s, int32_t first, int32_t n)
{
    double lo = s->p.least_s_per_B, hi = s->p.most_s_per_B;
    for (int k = 0; k < 90; k++) {
        double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
        bool left = best_latency(s, first, n, a) < best_latency(s, first, n, b);
        lo = left ? lo : a;
        hi = left ? b : hi;
    }
    return best_latency(s, first, n, lo);
}

TEST(no_other_lines_and_no_other_division_are_better)
{
    RNG(rng, 5, 0);
    for (int round = 0; round < 20; round++) {
        double best[3];
        SAMPLE(s, all, 12, 2, three, 2);
        for (int i = 0; i < 12; i++) {
            s.time_s[i] *= exp(0.03 * rng_normal(rng));
            s.scatter[i] = 0.01 * (1 + i % 3);
        }
        OK(pieces_fit(all, &s.p, 3, e));
        best[0] = least_loss(&s, 0, 12);
        best[1] = best[2] = INFINITY;
        for (int b = 3; b <= 9; b++)
            best[1] = fmin(best[1], least_loss(&s, 0, b) + least_loss(&s, b, 12 - b));
        for (int a = 3; a <= 6; a++)
            for (int b = a + 3; b <= 9; b++)
                best[2] = fmin(best[2],
                               least_loss(&s, 0, a) + least_loss(&s, a, b - a) + least_loss(&s, b, 12 - b));
        for (int k = 0; k < 3; k++)
            assert_close(all[k].loss, best[k], 1e-6);
    }
}
