/* Least congestion over paths against the same linear programme by the simplex method, paths known at once or
 * as they are found, on random graphs with links that are closed, passed twice, or that all paths share. */
#include "tests/support.h"

#include "base/simplex.h"
#include "topo/congestion.h"

KEEPS(struct congestion, congestion_free)
KEEPS(struct simplex, simplex_free)

enum { LINKS = 9, FLOWS = 6, WAYS = 7, HOPS = 4 };

/* Flows with all their paths; capacities and the lengths to begin at. */
struct traffic {
    int32_t n_links, n_flows, n_ways[FLOWS], n_hops[FLOWS][WAYS], hops[FLOWS][WAYS][HOPS];
    double capacity[LINKS], lengths[LINKS], demand[FLOWS];
};

/* The first path of a flow leads over open links; link 0 is never closed. */
static void traffic_draw(struct traffic *t, struct rng *rng)
{
    *t = (struct traffic){ .n_links = 2 + (int32_t)rng_below(rng, LINKS - 1),
                           .n_flows = 1 + (int32_t)rng_below(rng, FLOWS) };
    for (int32_t l = 0; l < t->n_links; l++) {
        bool closed = l > 0 && rng_below(rng, 6) == 0;
        t->capacity[l] = closed ? 0 : rng_log_range(rng, 0.1, 10);
        t->lengths[l] = rng_log_range(rng, 0.1, 10);
    }
    for (int32_t k = 0; k < t->n_flows; k++) {
        t->demand[k] = rng_log_range(rng, 0.1, 10);
        t->n_ways[k] = 1 + (int32_t)rng_below(rng, WAYS);
        for (int32_t p = 0; p < t->n_ways[k]; p++) {
            t->n_hops[k][p] = 1 + (int32_t)rng_below(rng, HOPS);
            for (int32_t i = 0; i < t->n_hops[k][p]; i++) {
                int32_t l = (int32_t)rng_below(rng, t->n_links);
                t->hops[k][p][i] = p == 0 && t->capacity[l] == 0 ? 0 : l;
            }
        }
    }
}

/* min theta: shares of each flow's paths sum to its demand, loads <= theta capacity. */
static double least_theta(const struct traffic *t)
{
    static const struct simplex_way way = { SIMPLEX_FROM_SLACKS, false, 1e-9, INT32_MAX };
    KEEP(struct simplex *, lp, simplex_free_at);
    enum simplex_status status;
    MUST(simplex_build(&lp, e));
    for (int32_t k = 0; k < t->n_flows; k++)
        MUST(simplex_add_row(lp, t->demand[k], t->demand[k], 0, NULL, NULL, e));
    for (int32_t l = 0; l < t->n_links; l++)
        MUST(simplex_add_row(lp, -(double)INFINITY, 0, 0, NULL, NULL, e));
    int32_t rows[LINKS + 1], n = 0;
    double values[LINKS + 1];
    for (int32_t l = 0; l < t->n_links; l++)
        if (t->capacity[l] > 0) {
            rows[n] = t->n_flows + l;
            values[n++] = -t->capacity[l];
        }
    MUST(simplex_add_column(lp, 1, 0, INFINITY, n, rows, values, e));
    for (int32_t k = 0; k < t->n_flows; k++)
        for (int32_t p = 0; p < t->n_ways[k]; p++) {
            n = 1;
            rows[0] = k;
            values[0] = 1;
            for (int32_t l = 0; l < t->n_links; l++) {
                int32_t times = 0;
                for (int32_t i = 0; i < t->n_hops[k][p]; i++)
                    times += t->hops[k][p][i] == l;
                rows[n] = t->n_flows + l;
                values[n] = times;
                n += times > 0;
            }
            MUST(simplex_add_column(lp, 0, 0, INFINITY, n, rows, values, e));
        }
    MUST(simplex_solve(&status, lp, &way, 1, e));
    assert_true(status == SIMPLEX_OPTIMAL);
    return simplex_value(lp, 0);
}

static bool is_open(const struct traffic *t, int32_t k, int32_t p)
{
    for (int32_t i = 0; i < t->n_hops[k][p]; i++)
        if (t->capacity[t->hops[k][p][i]] == 0)
            return false;
    return true;
}

static double length(const struct traffic *t, int32_t k, int32_t p, const double *y)
{
    double sum = 0;
    for (int32_t i = 0; i < t->n_hops[k][p]; i++)
        sum += y[t->hops[k][p][i]];
    return sum;
}

static void add_path(struct congestion *x, const struct traffic *t, int32_t k, int32_t p)
{
    MUST(congestion_add(x, k, t->n_hops[k][p], t->hops[k][p], e));
}

/* Bounds on theta: from loads, which must be those of the demands, and from lengths over all open paths. Adds
 * the shortest path of a flow where it beats those that are known. */
static void find_bounds(double *lower, double *upper, struct congestion *x, const struct traffic *t)
{
    const double *load = congestion_loads(upper, x), *y = congestion_lengths(x);
    double worst = 0, paid = 0;
    *lower = 0;
    for (int32_t l = 0; l < t->n_links; l++) {
        if (t->capacity[l] > 0) {
            worst = fmax(worst, load[l] / t->capacity[l]);
            paid += t->capacity[l] * y[l];
            assert_true(y[l] > 0);
        } else {
            assert_true(load[l] == 0);
        }
    }
    assert_true(worst == *upper);
    assert_close(paid, 1, 1e-12);
    for (int32_t k = 0; k < t->n_flows; k++) {
        double known = congestion_shortest(x, k, y), least = INFINITY;
        int32_t best = 0;
        for (int32_t p = 0; p < t->n_ways[k]; p++)
            if (is_open(t, k, p) && length(t, k, p, y) < least) {
                least = length(t, k, p, y);
                best = p;
            }
        assert_true(known >= least * (1 - 1e-15));
        *lower += t->demand[k] * least;
        if (least < known * (1 - 1e-9))
            add_path(x, t, k, best);
    }
}

/* Steps to a gap of 1e-9; @p n_known paths of each flow are there to begin with. */
static void check_traffic(const struct traffic *t, int32_t n_known, int *n_steps)
{
    KEEP(struct congestion *, x, congestion_free_at);
    double lower = 0, upper = INFINITY, theta = least_theta(t);
    MUST(congestion_build(&x, t->n_links, t->n_flows, t->demand, e));
    for (int32_t k = 0; k < t->n_flows; k++) {
        assert_true(isinf(congestion_shortest(x, k, t->lengths)));
        for (int32_t p = 0; p < t->n_ways[k] && p < n_known; p++)
            add_path(x, t, k, p);
    }
    congestion_begin(x, t->capacity, t->lengths);
    for (*n_steps = 0;; ++*n_steps) {
        find_bounds(&lower, &upper, x, t);
        assert_true(lower <= theta * (1 + 1e-9) && upper >= theta * (1 - 1e-9));
        if (upper - lower <= 1e-9 * upper)
            return;
        assert_true(*n_steps < 200 && congestion_step(x));
    }
}

TEST(least_congestion_is_that_of_the_simplex_method)
{
    enum { ROUNDS = 2000 };
    RNG(rng, 23, 0);
    int all = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct traffic t;
        int n_steps;
        traffic_draw(&t, rng);
        check_traffic(&t, i % 2 ? WAYS : 1, &n_steps);
        all += n_steps;
    }
    /* Predictor and corrector gain a digit a step; a step that is any good but not theirs gains less. */
    assert_near((double)all / ROUNDS, 9.9, 0.15);
}

/* Two links of 1 and 3 GB/s share a flow in proportion; a third that is closed takes nothing. */
TEST(paths_over_closed_links_are_dropped)
{
    static const double demand[] = { 2, 0.5 }, capacity[] = { 1, 3, 0 }, lengths[] = { 1, 1, 1 };
    static const int32_t links[] = { 0, 1, 2 };
    KEEP(struct congestion *, x, congestion_free_at);
    double worst;
    OK(congestion_build(&x, 3, 2, demand, e));
    for (int32_t p = 0; p < 3; p++)
        OK(congestion_add(x, 0, 1, links + p, e));
    OK(congestion_add(x, 1, 2, links, e)); /* over both */
    congestion_begin(x, capacity, lengths);
    assert_true(congestion_shortest(x, 1, lengths) == 2);
    for (int i = 0; i < 12; i++)
        assert_true(congestion_step(x));
    const double *load = congestion_loads(&worst, x);
    assert_close(worst, 3.0 / 4, 1e-9); /* 2 + 0.5 twice, over 1 + 3 */
    assert_close(load[0], 0.75, 1e-9);
    assert_close(load[1], 2.25, 1e-9);
    assert_true(load[2] == 0);
}
