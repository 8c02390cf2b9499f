/* Fronts of many columns against comparing every pair; knees and distances by geometry. */
#include "tests/support.h"
#include "study/front.h"

enum { MOST = 4000 };

/* ---- against every pair of points ---- */

static bool dominates(const double *a, const double *b, int32_t n)
{
    bool less = false;
    for (int32_t k = 0; k < n; k++) {
        if (!(a[k] <= b[k]))
            return false;
        less = less || a[k] < b[k];
    }
    return less;
}

static bool all_finite(const double *x, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

/* Which of the first n points are on the front: each against each. */
static void compare_all(bool *on, const double *x, int64_t n, int32_t n_cols)
{
    for (int64_t i = 0; i < n; i++) {
        on[i] = all_finite(x + i * n_cols, n_cols);
        for (int64_t k = 0; k < n && on[i]; k++)
            on[i] = !all_finite(x + k * n_cols, n_cols) || !dominates(x + k * n_cols, x + i * n_cols, n_cols);
    }
}

/* What ends on and off say of point i after all were offered. */
static void offer_all(struct front *f, bool *on, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        MUST(front_offer(f, x + i * f->n_cols, i, &on[i], e));
        for (int64_t k = 0; k < f->n_off; k++) {
            assert_true(on[f->off[k]]);
            on[f->off[k]] = false;
        }
        f->n_off = 0;
    }
}

/* Shapes of clouds: what the front of n points is like differs from a few to all of them. */
enum cloud { FEW_VALUES, ANY, ON_A_SHELL, WITH_BLANKS, N_CLOUDS };

static void draw_point(double *x, int32_t n_cols, enum cloud cloud, struct rng *r)
{
    double sum = 0;
    for (int32_t k = 0; k < n_cols; k++) {
        double u = rng_uniform(r);
        x[k] = cloud == FEW_VALUES ? floor(6 * u) : cloud == ON_A_SHELL ? 1e-3 + u : u - 0.5;
        if (cloud == WITH_BLANKS && u < 0.1)
            x[k] = u < 0.03 ? NAN : u < 0.06 ? INFINITY : -INFINITY;
        sum += x[k];
    }
    for (int32_t k = 0; k < n_cols && cloud == ON_A_SHELL; k++)
        x[k] *= (k == 0 ? 1e9 : 1) / sum; /* units differ */
}

TEST(front_is_what_comparing_every_pair_leaves)
{
    static double x[MOST * FRONT_MAX_COLUMNS];
    static bool on[MOST], want[MOST];
    RNG(r, 8, 0);
    for (int32_t n_cols = 2; n_cols <= FRONT_MAX_COLUMNS; n_cols++)
        for (enum cloud cloud = 0; cloud < N_CLOUDS; cloud++) {
            int64_t n = 1500, n_on = 0;
            KEEP(struct front, f, front_free) = { .n_cols = n_cols };
            for (int64_t i = 0; i < n; i++)
                draw_point(x + i * n_cols, n_cols, cloud, r);
            compare_all(want, x, n, n_cols);
            offer_all(&f, on, x, n);
            for (int64_t i = 0; i < n; i++) {
                assert_int_equal(on[i], want[i]);
                n_on += on[i];
                if (all_finite(x + i * n_cols, n_cols))
                    assert_int_equal(front_dominates(&f, x + i * n_cols), !want[i]);
            }
            assert_int_equal(f.n, n_on);
            OK(front_sort(&f, e));
            assert_int_equal(f.n_sorted, n_on);
            for (int64_t i = 0; i < n_on; i++) {
                assert_true(want[f.id[i]]);
                assert_memory_equal(f.x + i * n_cols, x + f.id[i] * n_cols, (size_t)n_cols * sizeof *x);
                assert_true(i == 0 || f.x[(i - 1) * n_cols] <= f.x[i * n_cols]);
            }
        }
}

/* By falling and by rising x, 1/x: every point stays; then one that is better than all takes them off. */
TEST(long_fronts_offered_in_order_stay_whole)
{
    enum { N = 20000 };
    for (int turn = 0; turn < 2; turn++) {
        KEEP(struct front, f, front_free) = { .n_cols = 2 };
        bool on;
        for (int64_t i = 0; i < N; i++) {
            double at = turn ? (double)(N - i) : (double)(i + 1), x[] = { at, 1 / at };
            OK(front_offer(&f, x, i, &on, e));
            assert_true(on);
        }
        assert_true(f.n == N && f.n_off == 0);
        const double best[] = { 1, 0 };
        OK(front_offer(&f, best, N, &on, e));
        assert_true(f.n_off == N && f.n == 1);
    }
}

/* Each round's points beat all of the round before, one after another from either end or from the middle, so
 * that nodes of the tree are given back and taken again in many orders. */
TEST(fronts_that_are_swept_away_grow_again)
{
    enum { N = 700, ROUNDS = 12 };
    RNG(r, 17, 3);
    KEEP(struct front, f, front_free) = { .n_cols = 2 };
    bool on;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t left = f.n, order[N] = { 0 };
        for (int64_t i = 0; i < N; i++) {
            int64_t k = round % 3 == 2 ? rng_below(r, i + 1) : i;
            order[i] = order[k];
            order[k] = round % 3 == 1 ? N - 1 - i : i;
        }
        for (int64_t i = 0; i < N; i++) {
            double at = (double)order[i];
            OK(front_offer(&f, (double[]){ at - N * round, N - at - N * round }, round * N + i, &on, e));
            assert_true(on);
            left -= f.n_off;
            f.n_off = 0;
        }
        assert_int_equal(f.n, N);
        assert_int_equal(left, 0);
    }
    OK(front_sort(&f, e));
    assert_int_equal(f.n_sorted, N);
}

TEST(points_that_are_equal_stay_together)
{
    KEEP(struct front, f, front_free) = { .n_cols = 2 };
    const double same[] = { 1, 2 }, better[] = { 1, 1.5 };
    bool on;
    for (int64_t i = 0; i < 20000; i++) {
        OK(front_offer(&f, same, i, &on, e));
        assert_true(on);
    }
    assert_true(!front_dominates(&f, same) && f.n == 20000);
    OK(front_offer(&f, better, 20000, &on, e));
    assert_true(f.n == 1 && front_dominates(&f, same));
}

/* ---- knee ---- */

static void offer(struct front *f, double x0, double x1, double x2)
{
    const double x[] = { x0, x1, x2 };
    bool on;
    MUST(front_offer(f, x, f->n, &on, e));
    MUST(front_sort(f, e));
}

/* Of each set of values the lowest ids stay and the rest is counted, in any order, and in parts. */
TEST(of_equal_points_the_first_stay_and_the_others_are_counted)
{
    enum { N = 600, N_PARTS = 3 };
    static double x[N][2];
    RNG(r, 8, 7);
    for (int draw = 0; draw < 60; draw++) {
        int64_t most = rng_below(r, 5) ? 1 + rng_below(r, 40) : 0, want_n = 0, want_left = 0;
        int64_t order[N] = { 0 };
        /* Many on the front: of a tree of several levels. */
        bool apart = draw % 4 == 3;
        int64_t values = apart ? 200 : 1 + rng_below(r, 4);
        most = apart ? 1 + rng_below(r, 3) : most;
        bool want[N] = { false }, on[N];
        KEEP(struct front_set, whole, front_set_free) = { .n_cols = 2, .most_equal = most };
        KEEP(struct front_set, joint, front_set_free) = { .n_cols = 2, .most_equal = most };
        for (int i = 0; i < N; i++) {
            x[i][0] = (double)rng_below(r, values);
            x[i][1] = apart ? -x[i][0] : (double)rng_below(r, values);
            int64_t k = rng_below(r, i + 1);
            order[i] = order[k];
            order[k] = i;
        }
        compare_all(on, &x[0][0], N, 2);
        for (int i = 0; i < N; i++) {
            int64_t before = 0;
            for (int k = 0; k < i; k++)
                before += x[k][0] == x[i][0] && x[k][1] == x[i][1];
            want[i] = on[i] && (most == 0 || before < most);
            want_n += want[i];
            want_left += on[i] && !want[i];
        }
        for (int part = 0; part < N_PARTS; part++) {
            KEEP(struct front_set, own, front_set_free) = { .n_cols = 2, .most_equal = most };
            bool is_on;
            for (int i = part * N / N_PARTS; i < (part + 1) * N / N_PARTS; i++) {
                OK(front_set_offer(&whole, "", x[order[i]], order[i], &is_on, NULL, e));
                OK(front_set_offer(&own, "", x[order[i]], order[i], &is_on, NULL, e));
            }
            struct front *f = &own.fronts[0];
            OK(front_sort(f, e));
            for (int64_t i = 0; i < f->n_sorted; i++)
                OK(front_set_offer(&joint, "", f->x + 2 * i, f->id[i], &is_on, NULL, e));
            front_set_add_left_out(&joint, &own);
        }
        for (int k = 0; k < 2; k++) {
            struct front *f = k ? &joint.fronts[0] : &whole.fronts[0];
            OK(front_sort(f, e));
            assert_int_equal(f->n, want_n);
            assert_int_equal(f->n_sorted, want_n);
            assert_int_equal(f->left_out, want_left);
            for (int64_t i = 0; i < f->n_sorted; i++)
                assert_true(want[f->id[i]]);
        }
    }
}

TEST(a_million_equal_points_take_no_memory)
{
    KEEP(struct front, f, front_free) = { .n_cols = 2, .most_equal = 10 };
    bool on;
    for (int64_t i = 1000000; i-- > 0;) {
        OK(front_offer(&f, (double[]){ 1, 2 }, i, &on, e));
        assert_true(f.n_off <= 1);
        f.n_off = 0;
    }
    assert_true(f.n == 10 && f.left_out == 999990);
    OK(front_offer(&f, (double[]){ 1, 1 }, 7, &on, e));
    assert_true(on && f.n == 1 && f.left_out == 0 && f.n_off == 10);
}

/* On y = 1/x from 1/4 to 4 the tangent lies along the chord at x = 1; both directions of a column agree. */
TEST(knee_of_a_hyperbola_is_where_its_tangent_lies_along_the_chord)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        KEEP(struct front, f, front_free) = { .n_cols = 2 };
        for (int i = 0; i <= 150; i++) {
            double x = 0.25 + i * 0.025, y = 1 / x;
            offer(&f, x, sign > 0 ? y : y - 10, 0); /* shifted: scaling takes it out */
        }
        int64_t knee = front_knee(&f);
        assert_true(knee >= 0);
        assert_close(f.x[2 * knee], 1.0, 1e-12);
    }
}

/* y = x^-2 and x over four decades: straight in logarithms. A bend there is a knee: y = 1/x, then 1/x^3. */
TEST(far_apart_values_are_taken_by_their_logarithm)
{
    struct front bent = { .n_cols = 2 };
    KEEP(struct front, straight, front_free) = { .n_cols = 2 };
    for (int i = 0; i <= 40; i++) {
        double x = pow(10, i * 0.1);
        offer(&straight, x, 1 / (x * x), 0);
        offer(&bent, x, i <= 20 ? pow(x, -3) : 1e-4 / x, 0);
    }
    assert_int_equal(front_knee(&straight), -1);
    int64_t knee = front_knee(&bent);
    assert_true(knee >= 0);
    assert_close(bent.x[2 * knee], 100.0, 1e-12);
    front_free(&bent);
}

/* Part of a sphere about (1, 1, 1): of three columns the middle, all equal. */
TEST(knee_of_a_sphere_is_its_middle)
{
    KEEP(struct front, f, front_free) = { .n_cols = 3 };
    for (int i = 0; i <= 10; i++)
        for (int k = 0; k <= 10; k++)
            if (i + k > 0) {
                double r = hypot(hypot(i, k), 5);
                offer(&f, 1 - i / r, 1 - k / r, 1 - 5 / r);
            }
    offer(&f, 0, 1, 1);
    offer(&f, 1, 0, 1);
    offer(&f, 1, 1, 0);
    int64_t knee = front_knee(&f);
    assert_true(knee >= 0);
    for (int k = 0; k < 3; k++)
        assert_close(f.x[3 * knee + k], 1 - 1 / sqrt(3), 1e-12);
}

TEST(fronts_without_a_bend_inwards_have_no_knee)
{
    KEEP(struct front, outwards, front_free) = { .n_cols = 2 };
    KEEP(struct front, two, front_free) = { .n_cols = 2 };
    KEEP(struct front, line, front_free) = { .n_cols = 2 };
    KEEP(struct front, one, front_free) = { .n_cols = 2 };
    for (int i = 0; i <= 30; i++) {
        offer(&line, 0.1 * i, 3 - 0.1 * i, 0);
        offer(&outwards, sin(0.05 * i), cos(0.05 * i), 0);
        offer(&one, 2, 3, 0);
    }
    offer(&two, 1, 2, 0);
    offer(&two, 2, 1, 0);
    assert_true(front_knee(&line) == -1 && front_knee(&outwards) == -1 && front_knee(&two) == -1);
    /* Copies of one design, none of which dominates another. */
    assert_true(front_knee(&one) == -1 && one.n_sorted == 31);
}

/* ---- distance ---- */

TEST(distance_is_the_factor_that_leads_to_the_front)
{
    static const struct {
        double x[2], distance, least[2]; /* least of a column at the other's value */
    } cases[] = {
        { { 3, 3 }, 0.5, { 2, 2 } },        /* 3/2 of (2, 2) */
        { { 2, 2 }, 0, { 2, 2 } },          /* on it */
        { { 1.5, 3 }, 0, { 2, 4 } },        /* beside (1, 4) and (2, 2) */
        { { 8, 1 }, 0, { 4, 1 } },          /* one column alone is worse: any shrinking leads off */
        { { 8, 1.5 }, 0.5, { 4, 1 } },      /* 1.5/1 */
        { { 0.5, 9 }, 0, { 1, INFINITY } }, /* faster than all */
        { { 12, 12 }, 5, { 1, 1 } },
    };
    KEEP(struct front, f, front_free) = { .n_cols = 2 };
    offer(&f, 1, 4, 0);
    offer(&f, 2, 2, 0);
    offer(&f, 4, 1, 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_near(front_distance(&f, cases[i].x), cases[i].distance, 1e-12);
        for (int32_t k = 0; k < 2; k++)
            assert_close(front_least(&f, cases[i].x, k), cases[i].least[k], 1e-15);
    }
    const double zero[] = { 0, 1 };
    assert_true(isnan(front_distance(&f, zero)));
}

/* Speedup is offered as its negative: 2 against the front's 4 at the same cost is off by a factor of 2. */
TEST(distance_of_what_is_to_be_large_is_how_much_it_must_grow)
{
    KEEP(struct front, f, front_free) = { .n_cols = 2 };
    const double slow[] = { 10, -2 }, dear[] = { 30, -4 };
    offer(&f, 5, -4, 0);
    assert_close(front_distance(&f, slow), 1.0, 1e-12);
    assert_near(front_distance(&f, dear), 0, 0);
}

/* ---- groups ---- */

TEST(groups_do_not_dominate_each_other)
{
    KEEP(struct front_set, s, front_set_free) = { .n_cols = 2 };
    struct front *f;
    const double good[] = { 1, 1 }, bad[] = { 2, 2 };
    bool on;
    assert_null(front_of(&s, "b"));
    for (int i = 0; i < 100; i++) {
        char group[8];
        snprintf(group, sizeof group, "%d", (i * 37) % 100);
        OK(front_set_offer(&s, group, i == 50 ? good : bad, i, &on, &f, e));
        assert_true(on && f == front_of(&s, group));
    }
    assert_int_equal(s.n, 100);
    for (int i = 1; i < s.n; i++)
        assert_true(strcmp(s.groups[i - 1], s.groups[i]) < 0);
    OK(front_set_offer(&s, "50", bad, 200, &on, NULL, e));
    assert_false(on); /* 50 * 37 % 100 = 50 */
    OK(front_set_offer(&s, "51", bad, 201, &on, NULL, e));
    assert_true(on);
    assert_null(front_of(&s, "100"));
}
