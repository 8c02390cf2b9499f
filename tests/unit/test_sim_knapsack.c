#include "sim/interval/interval.h"
#include "tests/support.h"
#include "tests/unit/knapsack_random.h"

static struct knapsack_settings subsets_of(int32_t k)
{
    struct knapsack_settings s = knapsack_settings_default();
    s.method = KNAPSACK_SUBSET;
    s.subset = k;
    return s;
}

/* The choice fits, and is worth what the answer says. */
static void assert_sound(const struct knapsack_answer *a, const struct knapsack *k)
{
    double value = 0, used[KNAPSACK_MAX_ROWS] = { 0 };
    for (int32_t j = 0; j < k->n; j++)
        if (a->chosen[j]) {
            value += k->value[j];
            for (int32_t r = 0; r < k->n_rows; r++)
                used[r] += k->weight[j * k->n_rows + r];
        }
    for (int32_t r = 0; r < k->n_rows; r++)
        assert_true(used[r] <= k->capacity[r] * (1 + 3e-9));
    assert_close(a->value, value, 1e-14);
    assert_true(a->value <= a->bound && a->value <= a->lp_bound);
}

TEST(exact_is_the_best_of_all_choices)
{
    const struct knapsack_settings how = knapsack_settings_default();
    RNG(rng, 1, 0);
    for (int i = 0; i < 600; i++) {
        struct knapsack_random x;
        KEEP(struct knapsack_answer, a, knapsack_answer_free);
        int32_t n_items;
        knapsack_draw(&x, rng, (int32_t)rng_below(rng, 14), 1 + (int32_t)rng_below(rng, 6));
        double best = knapsack_enumerate(&x.k, &n_items);
        OK(knapsack_solve(&a, &x.k, &how, e));
        assert_sound(&a, &x.k);
        assert_true(a.complete);
        assert_near(a.value, best, 1e-9);
        assert_true(a.bound <= a.value + 1e-9);
        assert_true(a.lp_bound >= best - 1e-9);
    }
}

/* Two rows of whole weights: most value for each pair of rooms, item by item. */
static double table_best(const struct knapsack *k, int32_t room0, int32_t room1)
{
    size_t width = (size_t)room1 + 1;
    double *most = calloc(((size_t)room0 + 1) * width, sizeof *most);
    assert_non_null(most);
    for (int32_t j = 0; j < k->n; j++) {
        int32_t a = (int32_t)k->weight[2 * j], b = (int32_t)k->weight[2 * j + 1];
        for (int32_t s = room0; s >= a; s--)
            for (int32_t t = room1; t >= b; t--) {
                double with = most[(size_t)(s - a) * width + (size_t)(t - b)] + k->value[j];
                double *here = &most[(size_t)s * width + (size_t)t];
                *here = fmax(*here, with);
            }
    }
    double best = most[(size_t)room0 * width + (size_t)room1];
    free(most);
    return best;
}

TEST(exact_is_what_dynamic_programming_finds)
{
    int64_t nodes = 0;
    const struct knapsack_settings how = knapsack_settings_default();
    RNG(rng, 2, 0);
    for (int i = 0; i < 12; i++) {
        struct knapsack_random x;
        KEEP(struct knapsack_answer, a, knapsack_answer_free);
        const int32_t n = 40 + 40 * (i % 5), room0 = 60 + 5 * i, room1 = 120 - 5 * i;
        for (int32_t j = 0; j < n; j++) {
            x.weight[2 * j] = 1 + (double)rng_below(rng, 15);
            x.weight[2 * j + 1] = 1 + (double)rng_below(rng, 15);
            x.value[j] = i % 3 == 0 ? 5 : rng_range(rng, 1, 100);
        }
        x.capacity[0] = room0;
        x.capacity[1] = room1;
        x.k = (struct knapsack){ n, 2, x.value, x.weight, x.capacity };
        OK(knapsack_solve(&a, &x.k, &how, e));
        assert_sound(&a, &x.k);
        assert_true(a.complete);
        assert_close(a.value, table_best(&x.k, room0, room1), 1e-12);
        nodes += a.nodes;
    }
    /* 554 of these: what guides the search is noticed here alone. */
    assert_true(nodes < 600);
}

/*
 * Of items that are equal, or worth as much and lighter, one is taken before the other: of 12 items of each
 * of three kinds at most 13^3 choices differ. Held to a loop over these.
 */
TEST(equal_items_are_not_told_apart)
{
    static const double worth[] = { 10, 11.3, 7.1 }, first[] = { 5, 3, 2 }, second[] = { 3, 6, 3 };
    const struct knapsack_settings how = knapsack_settings_default();
    double value[36], weight[72];
    int64_t nodes = 0;
    for (int j = 0; j < 36; j++) { /* mixed, so that the first of equals is not always the next one */
        value[j] = worth[j % 3];
        weight[2 * j] = first[j % 3];
        weight[2 * j + 1] = second[j % 3];
    }
    for (int i = 0; i < 12; i++) {
        KEEP(struct knapsack_answer, a, knapsack_answer_free);
        const double capacity[] = { 31 + 4 * i, 67 - 3 * i };
        const struct knapsack k = { 36, 2, value, weight, capacity };
        double best = 0;
        for (int x = 0; x <= 12; x++)
            for (int y = 0; y <= 12; y++)
                for (int z = 0; z <= 12; z++)
                    if (x * first[0] + y * first[1] + z * first[2] <= capacity[0] &&
                        x * second[0] + y * second[1] + z * second[2] <= capacity[1])
                        best = fmax(best, x * worth[0] + y * worth[1] + z * worth[2]);
        OK(knapsack_solve(&a, &k, &how, e));
        assert_sound(&a, &k);
        assert_true(a.complete);
        assert_close(a.value, best, 1e-12);
        nodes += a.nodes;
    }
    /* 234 of these. */
    assert_true(nodes < 300);
}

/* z* <= z (1 + rows/k); exact once k reaches the size of an optimal choice. */
TEST(subsets_keep_their_promise)
{
    RNG(rng, 3, 0);
    for (int i = 0; i < 120; i++) {
        struct knapsack_random x;
        int32_t n_items;
        knapsack_draw(&x, rng, (int32_t)rng_below(rng, 11), 1 + (int32_t)rng_below(rng, 4));
        double best = knapsack_enumerate(&x.k, &n_items), last = 0;
        for (int32_t k = 0; k <= 5; k++) {
            const struct knapsack_settings how = subsets_of(k);
            KEEP(struct knapsack_answer, a, knapsack_answer_free);
            OK(knapsack_solve(&a, &x.k, &how, e));
            assert_sound(&a, &x.k);
            assert_true(a.complete && a.value >= last && a.value <= best + 1e-9);
            assert_true(a.value >= best * k / (k + x.k.n_rows) - 1e-9);
            assert_true(a.bound >= best - 1e-9);
            if (k >= n_items)
                assert_near(a.value, best, 1e-9);
            last = a.value;
        }
    }
}

/*
 * Items 0 and 1 together are best. With item 0 fixed, the programme would rather have some of item 2, which
 * is worth more for its weight and does not fit: so what is worth more than the least of the set is out, and
 * what is worth as much is not. No set of one item finds them otherwise.
 */
TEST(subsets_leave_out_what_is_worth_more)
{
    static const struct {
        double value[3], weight[3], want[2]; /* of sets of no item, and of one */
    } cases[] = { { { 5, 4, 8.4 }, { 5, 5, 8 }, { 8.4, 9 } }, { { 5, 5, 8.4 }, { 5, 5, 8 }, { 8.4, 10 } } };
    const double capacity[] = { 10 };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int32_t k = 0; k <= 1; k++) {
            const struct knapsack x = { 3, 1, cases[i].value, cases[i].weight, capacity };
            const struct knapsack_settings how = subsets_of(k);
            KEEP(struct knapsack_answer, a, knapsack_answer_free);
            OK(knapsack_solve(&a, &x, &how, e));
            assert_close(a.value, cases[i].want[k], 1e-12);
        }
}

TEST(a_stopped_search_still_bounds_the_optimum)
{
    int n_stopped = 0;
    RNG(rng, 4, 0);
    for (int i = 0; i < 200; i++) {
        struct knapsack_random x;
        struct knapsack_answer a, all;
        struct knapsack_settings how = knapsack_settings_default();
        knapsack_draw(&x, rng, 60, 4);
        OK(knapsack_solve(&all, &x.k, &how, e));
        how.max_nodes = 1 + i % 7;
        OK(knapsack_solve(&a, &x.k, &how, e));
        assert_sound(&a, &x.k);
        assert_true(a.nodes <= how.max_nodes);
        assert_true(a.bound >= all.value * (1 - 1e-12) && a.bound <= a.lp_bound * (1 + 1e-9));
        n_stopped += !a.complete;
        knapsack_answer_free(&a);
        knapsack_answer_free(&all);
    }
    assert_true(n_stopped > 20);
}

/* The slope of the LP bound, by a difference, where the bound is smooth. */
TEST(a_price_is_what_one_unit_more_is_worth)
{
    const double value[] = { 10, 9, 5, 2 }, weight[] = { 5, 1, 3, 1, 4, 2, 9, 1 };
    double capacity[] = { 10, 50 };
    const struct knapsack k = { 4, 2, value, weight, capacity };
    struct knapsack_settings how = knapsack_settings_default();
    KEEP(struct knapsack_answer, a, knapsack_answer_free);
    OK(knapsack_solve(&a, &k, &how, e));
    assert_close(a.lp_bound, 19 + 5 * 2 / 4.0, 1e-8);
    assert_close(a.price[0], 5.0 / 4, 1e-12);
    assert_true(a.price[1] == 0);
    assert_true(a.chosen[0] && a.chosen[1] && !a.chosen[2] && !a.chosen[3]);
    assert_true(a.value == 19);
}

TEST(what_fits_but_for_rounding_is_chosen)
{
    const double value[] = { 1, 1, 1 }, weight[] = { 0.1, 0.1, 0.1 }, capacity[] = { 0.3 };
    const struct knapsack k = { 3, 1, value, weight, capacity };
    const struct knapsack_settings cases[] = { knapsack_settings_default(), subsets_of(0), subsets_of(3) };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct knapsack_answer, a, knapsack_answer_free);
        OK(knapsack_solve(&a, &k, &cases[i], e));
        assert_true(a.value == 3 && a.complete);
    }
}

/* The programme takes a row for full to 1e-10, where a choice may be 1e-9 over: a whole answer of it that is
 * over by both is kept, what is over by more is not. */
TEST(a_whole_answer_of_the_programme_is_not_refused_for_its_rounding)
{
    const double value[] = { 1, 1 }, capacity[] = { 1 };
    CASES(double over, want) = { { 0.95e-9, 2 }, { 1.05e-9, 2 }, { 1.2e-9, 1 } };
    const struct knapsack_settings how = knapsack_settings_default();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const double half = (1 + cases[i].over) / 2, weight[] = { half, half };
        const struct knapsack k = { 2, 1, value, weight, capacity };
        KEEP(struct knapsack_answer, a, knapsack_answer_free);
        OK(knapsack_solve(&a, &k, &how, e));
        assert_true(a.complete && a.value == cases[i].want);
        assert_near(a.bound, cases[i].want, 1e-8);
    }
}

TEST(nothing_worth_anything_is_chosen_from_nothing)
{
    const double zero[] = { 0, 0 }, weight[] = { 1, 1 }, one[] = { 1 }, none[] = { 0 };
    const struct knapsack cases[] = { { 2, 1, zero, weight, one },
                                      { 0, 1, zero, weight, one },
                                      { 2, 1, weight, weight, none } };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int32_t k = -1; k < 3; k++) {
            const struct knapsack_settings how = k < 0 ? knapsack_settings_default() : subsets_of(k);
            KEEP(struct knapsack_answer, a, knapsack_answer_free);
            OK(knapsack_solve(&a, &cases[i], &how, e));
            assert_true(a.value == 0 && a.bound == 0 && a.complete);
            assert_true(!a.chosen[0]);
        }
}

TEST(numbers_out_of_range_are_refused)
{
    double value[] = { 1, 1 }, weight[] = { 1, 1 }, capacity[] = { 1 };
    struct knapsack k = { 2, 1, value, weight, capacity };
    struct knapsack_settings how = knapsack_settings_default();
    KEEP(struct knapsack_answer, a, knapsack_answer_free);
    value[1] = NAN;
    FAILS(knapsack_solve(&a, &k, &how, e), ERR_RANGE, "value[1]: is nan, expected 0 or more");
    assert_null(a.chosen);
    value[1] = 1;
    weight[0] = -1;
    FAILS(knapsack_solve(&a, &k, &how, e), ERR_RANGE, "weight[0]: is -1");
    weight[0] = 1;
    capacity[0] = INFINITY;
    FAILS(knapsack_solve(&a, &k, &how, e), ERR_RANGE, "capacity[0]: is inf");
    capacity[0] = 1;
    k.n_rows = KNAPSACK_MAX_ROWS + 1;
    FAILS(knapsack_solve(&a, &k, &how, e), ERR_RANGE, "rows: is 9, expected 1 to 8");
    k.n_rows = 1;
    k.n = -1;
    FAILS(knapsack_solve(&a, &k, &how, e), ERR_RANGE, "items: is -1");
}
