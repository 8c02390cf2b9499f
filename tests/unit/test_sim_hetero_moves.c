#include "sim/hetero/search.h"
#include "tests/support.h"

enum { MOST = 12 };

/* ---- plans drawn ---- */

/* Chi-square of the 9 plans of two layers on three types, 9000 draws: 8 degrees of freedom, above 31.8 once
 * in 10000 seeds. */
TEST(layers_drawn_by_themselves_make_every_plan_equally_likely)
{
    RNG(r, 5, 0);
    int n[9] = { 0 };
    double chi = 0;
    for (int i = 0; i < 9000; i++) {
        hetero_id plan[2];
        hetero_draw_layers(plan, (struct hetero_size){ 2, 3 }, r);
        assert_in_range(plan[0], 0, 2);
        assert_in_range(plan[1], 0, 2);
        n[plan[0] * 3 + plan[1]]++;
    }
    for (int i = 0; i < 9; i++)
        chi += (n[i] - 1000.) * (n[i] - 1000.) / 1000;
    assert_true(chi < 31.8);
}

/* With probability s the layer stays, else it is drawn; s uniform: 1/2 + 1/2T for two layers, and for three
 * E[(s + (1 - s)/T)^2] with T = 2, ((1 + s)/2)^2, which is 7/12. */
TEST(half_of_the_layers_drawn_in_stages_stay)
{
    RNG(r, 5, 1);
    int two = 0, three = 0;
    const int n = 20000;
    for (int i = 0; i < n; i++) {
        hetero_id plan[3];
        hetero_draw_plan(plan, (struct hetero_size){ 3, 2 }, r);
        two += plan[0] == plan[1];
        three += plan[0] == plan[1] && plan[1] == plan[2];
    }
    assert_near((double)two / n, 0.75, 0.015); /* a deviation is .003 */
    assert_near((double)three / n, 7 / 12., 0.017);
}

/* ---- plans changed ---- */

/* Layers 0 | 1 1: one layer anew 111, 001, 010; one stage 111, 000; the boundary before 0, 2 or 3. */
TEST(every_neighbour_is_reached_and_nothing_else)
{
    static const hetero_id from[] = { 0, 1, 1 };
    const int want[8] = { [0] = 1, [1] = 1, [2] = 1, [7] = 1 };
    RNG(r, 5, 2);
    int found[8] = { 0 };
    for (int i = 0; i < 1000; i++) {
        hetero_id plan[3];
        memcpy(plan, from, sizeof plan);
        hetero_change_plan(plan, (struct hetero_size){ 3, 2 }, r);
        found[plan[0] * 4 + plan[1] * 2 + plan[2]] = 1;
    }
    assert_memory_equal(found, want, sizeof want);
}

/* What changed lies together, was of one type and is of one; it is a layer, a stage, or the end of a stage
 * beside the one it joins. */
static void check_neighbour(const hetero_id *was, const hetero_id *is, int32_t n)
{
    int32_t first = 0, last = n - 1;
    while (first < n && was[first] == is[first])
        first++;
    assert_true(first < n);
    while (was[last] == is[last])
        last--;
    for (int32_t l = first; l <= last; l++) {
        assert_int_equal(was[l], was[first]);
        assert_int_equal(is[l], is[first]);
    }
    bool left_end = first == 0 || was[first - 1] != was[first];
    bool right_end = last == n - 1 || was[last + 1] != was[last];
    bool joins_left = left_end && first > 0 && is[first] == was[first - 1];
    bool joins_right = right_end && last < n - 1 && is[last] == was[last + 1];
    assert_true(first == last || (left_end && right_end) || joins_left || joins_right);
}

TEST(a_neighbour_has_one_layer_stage_or_boundary_changed)
{
    RNG(r, 5, 3);
    for (int i = 0; i < 5000; i++) {
        struct hetero_size size = { 1 + (int32_t)rng_below(r, MOST), 2 + (int32_t)rng_below(r, 3) };
        hetero_id was[MOST], is[MOST];
        hetero_draw_plan(was, size, r);
        memcpy(is, was, sizeof is);
        hetero_change_plan(is, size, r);
        for (int32_t l = 0; l < size.n_layers; l++)
            assert_in_range(is[l], 0, size.n_types - 1);
        check_neighbour(was, is, size.n_layers);
    }
}

TEST(with_one_type_there_is_no_neighbour)
{
    hetero_id plan[4] = { 0 };
    const hetero_id want[4] = { 0 };
    RNG(r, 5, 4);
    for (int i = 0; i < 100; i++)
        hetero_change_plan(plan, (struct hetero_size){ 4, 1 }, r);
    assert_memory_equal(plan, want, sizeof want);
}

/* ---- how far from good ---- */

TEST(a_plan_that_fails_is_above_the_ceiling_by_the_speed_it_lacks)
{
    CASES(struct hetero_value value; double want) = {
        { { HETERO_OK, 20, 9, 9, NAN }, 2.995732273553991 },               /* ln 20 */
        { { HETERO_OK, 0, 9, 9, NAN }, -708.3964185322641 },               /* free: the least double */
        { { HETERO_TOO_SLOW, NAN, NAN, NAN, 5 }, 7 + 0.6931471805599453 }, /* twice as fast */
        { { HETERO_SCARCE, NAN, NAN, NAN, 0 }, 7 + 13.815510557964274 },   /* hopeless: ln 1e6 */
        { { HETERO_SCARCE, NAN, NAN, NAN, 11 }, 7 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_close(hetero_log_cost(&cases[i].value, 10, 7), cases[i].want, 1e-14);
}
