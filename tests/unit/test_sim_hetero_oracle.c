/* The cheapest plan by shortest paths, beside every plan there is. */
#include "sim/hetero/oracle.h"

#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/* Instances of a shape: L layers, T types. T^L is what brute force has to go through. */
static const struct {
    int32_t n_layers, n_types;
    int64_t most_units;
    int n;
} shapes[] = { { 1, 1, 40, 12 }, { 1, 5, 40, 24 },   { 5, 1, 40, 24 },  { 2, 2, 3, 48 },  { 4, 3, 4, 48 },
               { 5, 3, 40, 96 }, { 6, 4, 200, 48 },  { 4, 8, 60, 48 },  { 8, 3, 20, 24 }, { 12, 2, 60, 24 },
               { 3, 16, 9, 24 }, { 2, 40, 500, 24 }, { 16, 2, 300, 3 }, { 8, 4, 30, 3 } };

/* A throughput that many plans reach, that few do, or that only the fastest does. */
static const double shares[] = { 0.01, 0.1, 0.3, 0.5, 0.8, 1 };

/* Draw instance @p i of shape @p k and ask for a share of what it reaches; false: it reaches nothing. */
static bool draw(struct hetero_fixture *f, size_t k, int i)
{
    struct rng *rng = NULL;
    struct err e = { 0 };
    double reach_per_s;
    const struct hetero_fixture_kind kind =
        hetero_fixture_kind_of(i, shapes[k].n_layers, shapes[k].n_types, shapes[k].most_units);
    assert_ok(rng_build(&rng, (uint64_t)k, (uint64_t)i, &e), &e);
    hetero_fixture_draw(f, rng, &kind);
    assert_ok(hetero_reach(&reach_per_s, NULL, &f->problem, &e), &e);
    if (reach_per_s > 0)
        hetero_set_throughput(&f->problem,
                              reach_per_s * shares[rng_below(rng, (int64_t)COUNT_OF(shares))]);
    rng_free(rng);
    return reach_per_s > 0;
}

static void compare(void **state)
{
    int n_proofs[4] = { 0 }, n_exact[4] = { 0 }, n_bad = 0;
    (void)state;
    for (size_t k = 0; k < COUNT_OF(shapes); k++)
        for (int i = 0; i < shapes[k].n; i++) {
            struct hetero_fixture f = { 0 };
            struct hetero_search brute, oracle, exact;
            if (!draw(&f, k, i)) {
                hetero_fixture_free(&f);
                continue;
            }
            hetero_fixture_run(&brute, &f, "brute-force");
            hetero_fixture_run(&oracle, &f, "oracle");
            hetero_fixture_run(&exact, &f, "exact");
            n_proofs[oracle.proof]++;
            n_exact[exact.proof]++;
            double want = brute.value.status == HETERO_OK ? brute.value.usd : INFINITY;
            bool ok = true;
            if (oracle.proof == HETERO_OPTIMAL)
                ok = ok && fabs(oracle.value.usd - want) <= 1e-9 * want &&
                     fabs(oracle.lower_usd - want) <= 1e-9 * want;
            if (oracle.proof == HETERO_LOWER_BOUND)
                ok = ok && oracle.lower_usd <= want * (1 + 1e-9);
            if (oracle.proof == HETERO_NO_PLAN)
                ok = ok && want == INFINITY;
            bool ok2 = true;
            if (want == INFINITY)
                ok2 = exact.proof == HETERO_NO_PLAN;
            else
                ok2 = exact.proof == HETERO_OPTIMAL && fabs(exact.value.usd - want) <= 1e-9 * want;
            if (!ok || !ok2) {
                n_bad++;
                fprintf(stderr,"shape %zu i %d: brute %g oracle %d %.12g lower %.12g exact %d %.12g lower %.12g want "
                       "%.12g\n",
                       k, i, want, oracle.proof, oracle.value.usd, oracle.lower_usd, exact.proof,
                       exact.value.usd, exact.lower_usd, want);
            }
            hetero_search_free(&brute);
            hetero_search_free(&oracle);
            hetero_search_free(&exact);
            hetero_fixture_free(&f);
        }
    printf("oracle: optimal %d bound %d none %d; exact %d %d %d\n", n_proofs[1], n_proofs[2], n_proofs[3],
           n_exact[1], n_exact[2], n_exact[3]);
    assert_int_equal(n_bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
