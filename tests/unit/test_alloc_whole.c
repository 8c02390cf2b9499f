/* The best whole design: that of plain enumeration, whatever the prices. */
#include "alloc/whole.h"
#include "tests/unit/split_random.h"

enum { D = TOPO_MAX_DIMS };

/* A random lattice over a random split problem; a design that all rows allow is among its points. */
struct random_lattice {
    struct random_split split;
    struct whole_block blocks[D];
    struct whole_lattice lattice;
    double *bw_Bps[D], *usd[D], *watt[D], *stops[D];
};

static void random_lattice_close(struct random_lattice *x)
{
    for (int d = 0; d < D; d++) {
        free(x->bw_Bps[d]);
        free(x->usd[d]);
        free(x->watt[d]);
        free(x->stops[d]);
    }
    random_split_close(&x->split);
}

/* At least what the rates say, and at least 0; with steps down, as where switches come to be shared. */
static double whole_price(struct rng *r, double linear)
{
    return linear * (1 + (rng_below(r, 4) ? 0.3 : 2) * rng_uniform(r));
}

/* Block b of n_dims dimensions: values k/m of the point inside; of two dimensions all pairs, but for some. */
static void put_block(struct random_lattice *x, struct rng *r, int32_t b, int32_t first, int32_t n_dims,
                      int32_t most)
{
    struct whole_block *block = &x->blocks[b];
    const struct alloc_problem *p = &x->split.problem;
    const double *inside = x->split.inside_Bps, *price = p->usd_per_Bps;
    int32_t n = 1 + (int32_t)rng_below(r, most), m = 1 + (int32_t)rng_below(r, n), rows = n_dims == 2 ? n : 1;
    *block = (struct whole_block){ .first = first, .n_dims = n_dims };
    double *bw_Bps = x->bw_Bps[b] = calloc((size_t)(n * rows * n_dims), sizeof *bw_Bps);
    double *usd = x->usd[b] = calloc((size_t)(n * rows), sizeof *usd);
    double *watt = x->watt[b] = calloc((size_t)(n * rows), sizeof *watt);
    double *stops = x->stops[b] = calloc((size_t)(n * rows), sizeof *stops);
    assert_true(bw_Bps && usd && watt && stops);
    bool steady = rng_below(r, 2); /* what fails is then known before a choice is made */
    for (int32_t j = 1; j <= rows; j++)
        for (int32_t k = 1; k <= n; k++) {
            if (n_dims == 2 && rng_below(r, 4) == 0 && !(j == m && k == m))
                continue;
            double *bw = &bw_Bps[block->n * n_dims], linear = 0, power = 0;
            bw[0] = inside[first] * k / m;
            if (n_dims == 2)
                bw[1] = inside[first + 1] * j / m;
            for (int32_t d = 0; d < n_dims; d++) {
                linear += price[first + d] * bw[d];
                power += p->factor_per_Bps[first + d] * bw[d];
            }
            usd[block->n] = whole_price(r, linear);
            watt[block->n] = whole_price(r, power) / p->factor_unit;
            stops[block->n++] = steady ? 1 : rng_uniform(r);
        }
    block->bw_Bps = bw_Bps;
    block->spent[ALLOC_USD] = usd;
    block->spent[ALLOC_OWN_WATT] = watt;
    block->spent[ALLOC_STOPS] = stops;
}

/* Like one over goodput, slowly at first, and so steep that a thousandth more of what fails shows. */
static double grow(const void *about, double stops)
{
    (void)about;
    return 1 + 0.1 * stops * stops * stops * stops;
}

/* An objective that no sum of blocks is: above what they and grow() say, for a price is at most thrice the
 * rates'. */
static double more_than_bound(const void *about, const double *bw_Bps, double time_s)
{
    const struct alloc_problem *p = about;
    double linear = 0, most = 0;
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        linear += 3 * p->factor_per_Bps[d] * bw_Bps[d];
        most = fmax(most, bw_Bps[d]);
    }
    return time_s * (p->factor_fixed + linear) * grow(NULL, D) * (1 + bw_Bps[0] / most);
}

static double inside_usd(const struct random_lattice *x)
{
    double usd = 0;
    for (int32_t b = 0; b < x->lattice.n_blocks; b++) {
        const struct whole_block *block = &x->blocks[b];
        for (int64_t k = 0; k < block->n; k++) {
            bool here = true;
            for (int32_t d = 0; d < block->n_dims; d++)
                here = here && block->bw_Bps[k * block->n_dims + d] == x->split.inside_Bps[block->first + d];
            if (here)
                usd += block->spent[ALLOC_USD][k];
        }
    }
    return usd;
}

static void random_lattice_open(struct random_lattice *x, struct rng *r, int objective, int32_t n_dims,
                                int32_t most)
{
    *x = (struct random_lattice){ 0 };
    random_split_open(&x->split, r,
                      (struct random_kind){ .n_dims = n_dims,
                                            .n_collectives = 6,
                                            .overlap = rng_below(r, 2),
                                            .compute = rng_below(r, 2),
                                            .n_rows = 2,
                                            .total = rng_below(r, 5) ? LINEXPR_LE : LINEXPR_EQ });
    struct alloc_problem *p = &x->split.problem;
    int32_t b = 0;
    for (int32_t d = 0, of = 1; d < n_dims; d += of) {
        of = d + 1 < n_dims && rng_below(r, 4) == 0 ? 2 : 1;
        put_block(x, r, b++, d, of, of == 2 ? most / 4 + 1 : most);
    }
    x->lattice = (struct whole_lattice){ .blocks = x->blocks, .n_blocks = b, .branch = rng_below(r, 4) };
    p->objective = (enum alloc_objective)objective;
    p->growth = objective == ALLOC_TCO_PER_TOKEN ? grow : NULL;
    p->exact = objective == ALLOC_TCO_PER_TOKEN && rng_below(r, 2) ? more_than_bound : NULL;
    p->about = p;
    p->usd_fixed = rng_below(r, 2) ? 1e5 : 0;
    p->time_limit_s = step_time(&x->split.fn, x->split.inside_Bps) * (1 + rng_uniform(r));
    if (rng_below(r, 2)) {
        struct alloc_row *row = random_split_row(&x->split, p->usd_per_Bps, LINEXPR_LE,
                                                 inside_usd(x) * 1e-9 * (1 + 0.5 * rng_uniform(r)));
        memcpy(row->money_coef, row->coef, sizeof row->coef);
        row->spent_coef[ALLOC_USD] = 1;
    }
}

struct found {
    double value, usd;
    int64_t ties, at[D]; /* choices of the first of them */
};

/* Does the design keep all rows? */
static bool is_allowed(const struct random_lattice *x, const double *bw_Bps, double usd)
{
    const struct alloc_problem *p = &x->split.problem;
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        double sum = row->spent_coef[ALLOC_USD] * usd, size = fabs(row->rhs) + fabs(sum);
        for (int32_t d = 0; d < p->step->n_dims; d++) {
            double part = row->spent_coef[ALLOC_USD] != 0 ? 0 : row->coef[d] * bw_Bps[d];
            sum += part;
            size += fabs(part);
        }
        double over = sum - row->rhs;
        if ((row->sense != LINEXPR_GE && over > 3e-13 * size) ||
            (row->sense != LINEXPR_LE && -over > 3e-13 * size))
            return false;
    }
    return true;
}

/* Every point, counted like the kilometres of a car. */
static struct found enumerate(const struct random_lattice *x)
{
    const struct alloc_problem *p = &x->split.problem;
    struct found best = { .value = INFINITY, .usd = INFINITY };
    int64_t at[D] = { 0 };
    for (bool more = true; more;) {
        double bw_Bps[D], usd = 0, total = 0, factor = p->factor_fixed, stops = 0;
        for (int32_t b = 0; b < x->lattice.n_blocks; b++) {
            const struct whole_block *block = &x->blocks[b];
            usd += block->spent[ALLOC_USD][at[b]];
            factor += p->factor_unit * block->spent[ALLOC_OWN_WATT][at[b]];
            stops += block->spent[ALLOC_STOPS][at[b]];
            for (int32_t d = 0; d < block->n_dims; d++)
                total += bw_Bps[block->first + d] = block->bw_Bps[at[b] * block->n_dims + d];
        }
        double time_s = step_time(p->step, bw_Bps), all = usd + p->usd_fixed;
        double value = p->objective == ALLOC_TIME          ? time_s
                       : p->objective == ALLOC_UTILIZATION ? time_s * total
                       : p->objective == ALLOC_COST ? (time_s <= p->time_limit_s ? all : (double)INFINITY)
                       : p->objective == ALLOC_PERF_PER_WATT ? time_s * factor
                       : p->exact                            ? p->exact(p->about, bw_Bps, time_s)
                       : p->objective == ALLOC_TCO_PER_TOKEN ? time_s * factor * grow(NULL, stops)
                                                             : time_s * all;
        if (isfinite(value) && is_allowed(x, bw_Bps, usd)) {
            bool tie = fabs(value - best.value) <= 1e-12 * value;
            if (tie)
                best.ties++, best.usd = fmin(best.usd, all);
            else if (value < best.value) {
                best = (struct found){ value, all, .ties = 1 };
                memcpy(best.at, at, sizeof at);
            }
        }
        int32_t b = 0;
        while (b < x->lattice.n_blocks && ++at[b] == x->blocks[b].n)
            at[b++] = 0;
        more = b < x->lattice.n_blocks;
    }
    return best;
}

TEST(the_best_design_is_that_of_plain_enumeration)
{
    RNG(r, 71, 0);
    int branched = 0;
    double timed = 0, points = 0;
    for (int i = 0; i < 2000; i++) {
        KEEP(struct random_lattice, x, random_lattice_close);
        KEEP(struct alloc_answer, relaxed, alloc_answer_free);
        struct whole_answer whole;
        int32_t n_dims = 1 + i % 5;
        random_lattice_open(&x, r, i % N_ALLOC_OBJECTIVES, n_dims, (int32_t)pow(3000, 1.0 / n_dims) + 1);
        OK(alloc_solve(&relaxed, &x.split.problem, e));
        OK(alloc_solve_whole(&whole, &x.split.problem, &x.lattice, &relaxed, e));
        struct found want = enumerate(&x);
        if (isinf(want.value) && whole.status == ALLOC_INFEASIBLE)
            continue;
        if (!whole.enumerated) {
            branched++;
            timed += (double)whole.n_evaluated;
            points += whole.n_points;
        }
        if (whole.status != ALLOC_SOLVED || fabs(whole.value - want.value) > 1e-12 * want.value ||
            fabs(whole.cost_usd - want.usd) > 1e-12 * want.usd || whole.n_ties != want.ties)
            fail_msg("case %d, %s: %s, value %.17g, cost %.17g, %lld ties; enumeration %.17g, %.17g, %lld", i,
                     alloc_objective_names[x.split.problem.objective], alloc_status_names[whole.status],
                     whole.value, whole.cost_usd, (long long)whole.n_ties, want.value, want.usd,
                     (long long)want.ties);
        /* The relaxation is one: it proves less, never more. */
        if (alloc_has_split(&relaxed) && relaxed.lower_bound > whole.value * (1 + 1e-9))
            fail_msg("case %d: the relaxation says %.17g, the best design has %.17g", i, relaxed.lower_bound,
                     whole.value);
    }
    /* The search is worth its name only if it times fewer designs than enumeration has. */
    assert_true(branched > 1000 && timed < points);
}

/* Of all designs, with all that the first block may have. */
TEST(cuts_of_the_relaxation_lie_below_the_best_design)
{
    RNG(r, 72, 0);
    int built = 0;
    for (int i = 0; i < 300; i++) {
        KEEP(struct random_lattice, x, random_lattice_close);
        KEEP(struct alloc_answer, relaxed, alloc_answer_free);
        struct whole_cuts cuts;
        struct whole_box box = { .more_usd = 0 };
        random_lattice_open(&x, r, i % N_ALLOC_OBJECTIVES, 1 + i % 5, 8);
        OK(alloc_solve(&relaxed, &x.split.problem, e));
        OK(whole_cuts_build(&cuts, &x.split.problem, &relaxed, NULL, e));
        bool timed = false;
        for (int32_t k = 0; k < relaxed.n_bounds; k++)
            timed = timed || relaxed.bounds[k].time_weight > 0;
        assert_int_equal(cuts.n > 0, timed);
        built += cuts.n > 0;
        box.first = x.blocks[0].first;
        box.n_dims = x.blocks[0].n_dims;
        for (int d = 0; d < D; d++)
            box.hi_Bps[d] = INFINITY;
        whole_cuts_rest(&cuts, &box, x.blocks, x.lattice.n_blocks);
        assert_true(whole_cuts_bound(&cuts, &box) <= enumerate(&x).value * (1 + 1e-9));
    }
    assert_true(built > 100);
}

/* With nothing left to choose, cuts that touch the step at the one design say what it is worth. */
TEST(cuts_of_one_design_are_its_value)
{
    RNG(r, 73, 0);
    int exact = 0;
    for (int i = 0; i < 200; i++) {
        KEEP(struct random_lattice, x, random_lattice_close);
        KEEP(struct alloc_answer, relaxed, alloc_answer_free);
        struct whole_cuts cuts;
        struct whole_block one[D];
        struct whole_box box = { .first = 0 };
        random_lattice_open(&x, r, i % (ALLOC_COST + 1), 1 + i % 5, 8);
        const struct found best = enumerate(&x);
        OK(alloc_solve(&relaxed, &x.split.problem, e));
        if (!isfinite(best.value) || relaxed.n_bounds == 0)
            continue;
        for (int32_t b = 0; b < x.lattice.n_blocks; b++) {
            one[b] = x.blocks[b];
            one[b].n = 1;
            one[b].bw_Bps += best.at[b] * one[b].n_dims;
            for (int k = 0; k < N_ALLOC_SPENT; k++)
                one[b].spent[k] = one[b].spent[k] ? one[b].spent[k] + best.at[b] : NULL;
            for (int32_t d = 0; d < one[b].n_dims; d++)
                box.lo_Bps[one[b].first + d] = box.hi_Bps[one[b].first + d] = one[b].bw_Bps[d];
        }
        box.n_dims = one[0].n_dims;
        box.more_usd = one[0].spent[ALLOC_USD][0];
        for (int32_t d = 0; d < box.n_dims; d++)
            box.more_usd -= x.split.problem.usd_per_Bps[d] * box.lo_Bps[d];
        OK(whole_cuts_build(&cuts, &x.split.problem, &relaxed, box.lo_Bps, e));
        whole_cuts_rest(&cuts, &box, one, x.lattice.n_blocks);
        double bound = whole_cuts_bound(&cuts, &box);
        assert_true(bound <= best.value * (1 + 1e-9));
        exact += bound >= best.value * (1 - 1e-9);
    }
    assert_true(exact > 100);
}

/* Three dimensions of NICs of 50 GB/s, all alike in traffic. */
TEST(neighbours_are_priced_and_the_row_they_break_is_named)
{
    static const double traffic_GB[][D] = { { 4, 0 }, { 0, 1 } };
    PLAIN_SPLIT(s, 2, traffic_GB, 2, 0.1);
    const double bw_Bps[] = { 50e9, 100e9, 150e9, 200e9 }, usd[] = { 10, 15, 40, 50 };
    const struct whole_block blocks[] = { { 0, 1, 4, bw_Bps, { usd }, 0 }, { 1, 1, 3, bw_Bps, { usd }, 0 } };
    const struct whole_lattice l = { .blocks = blocks, .n_blocks = 2 };
    struct whole_answer a;
    double ones[D] = { 1, 1 };
    random_split_row(&s, ones, LINEXPR_LE, 250);
    OK(alloc_solve_whole(&a, &s.problem, &l, NULL, e));
    assert_int_equal(a.status, ALLOC_SOLVED);
    assert_true(a.enumerated && a.n_ties == 1);
    /* 0.1 + 4/150 + 1/100 and 0.1 + 4/200 + 1/50: the first. */
    assert_close(a.bw_Bps[0], 150e9, 0);
    assert_close(a.bw_Bps[1], 100e9, 0);
    assert_close(a.value, 0.1 + 4.0 / 150 + 0.01, 1e-14);
    assert_close(a.cost_usd, 55, 1e-14);
    assert_true(a.up[0].there && a.up[0].broken == 0 && a.down[0].there && a.down[0].broken == -1);
    assert_close(a.up[0].cost_usd, 65, 1e-14);
    assert_close(a.down[1].time_s, 0.1 + 4.0 / 150 + 0.02, 1e-14);
    assert_close(a.down[0].bw_Bps, 100e9, 0);
    assert_close(a.gap, 0, 0);
}

/* 4 GB and 1 GB: 4/100 + 1/50 is the limit itself. A step down in either dimension is cheaper and too slow.
 */
TEST(least_cost_takes_the_limit_itself_and_a_slower_neighbour_is_no_design)
{
    static const double traffic_GB[][D] = { { 4, 0 }, { 0, 1 } };
    PLAIN_SPLIT(s, 2, traffic_GB, 2, 0);
    const double bw_Bps[] = { 25e9, 50e9, 100e9 }, usd[] = { 10, 20, 40 };
    const struct whole_block blocks[] = { { 0, 1, 3, bw_Bps, { usd }, 0 }, { 1, 1, 3, bw_Bps, { usd }, 0 } };
    const struct whole_lattice l = { .blocks = blocks, .n_blocks = 2 };
    struct whole_answer a;
    s.problem.objective = ALLOC_COST;
    s.problem.time_limit_s = 4.0 / 100 + 1.0 / 50;
    OK(alloc_solve_whole(&a, &s.problem, &l, NULL, e));
    assert_true(a.status == ALLOC_SOLVED && a.n_ties == 1);
    assert_true(a.bw_Bps[0] == 100e9 && a.bw_Bps[1] == 50e9 && a.cost_usd == 60);
    assert_true(a.down[0].late && a.down[0].broken == -1 && a.down[1].late && a.down[1].broken == -1);
    assert_true(a.up[1].there && !a.up[1].late && !a.up[0].there);
    s.problem.time_limit_s *= 1 - 1e-9;
    OK(alloc_solve_whole(&a, &s.problem, &l, NULL, e));
    assert_true(a.cost_usd == 80 && a.down[1].late && a.down[0].late);
}

/* The second dimension has half of the first, as above a taper: one step moves both. */
TEST(what_is_tied_moves_along)
{
    static const double traffic_GB[][D] = { { 4, 1 } };
    PLAIN_SPLIT(s, 2, traffic_GB, 1, 0);
    const double bw_Bps[] = { 50e9, 25e9, 100e9, 50e9, 150e9, 75e9 }, usd[] = { 10, 15, 40 };
    const struct whole_block blocks[] = { { 0, 2, 3, bw_Bps, { usd }, 2 } };
    const struct whole_lattice l = { .blocks = blocks, .n_blocks = 1 };
    struct whole_answer a;
    double money[D] = { 1, 0 };
    random_split_row(&s, money, LINEXPR_LE, 100);
    OK(alloc_solve_whole(&a, &s.problem, &l, NULL, e));
    assert_close(a.bw_Bps[1], 50e9, 0);
    assert_true(a.up[0].there && a.up[0].broken == 0 && a.down[0].there && a.down[0].broken == -1);
    assert_close(a.down[0].time_s, 4.0 / 50, 1e-14);
    assert_close(a.up[0].cost_usd, 40, 1e-14);
    assert_false(a.up[1].there || a.down[1].there);
}

TEST(of_equal_designs_the_cheapest_is_taken_then_the_most_even)
{
    static const double traffic_GB[][D] = { { 1, 1 } };
    PLAIN_SPLIT(s, 2, traffic_GB, 1, 0);
    const double bw_Bps[] = { 50e9, 100e9, 150e9 }, usd[] = { 20, 10, 10 };
    const struct whole_block blocks[] = { { 0, 1, 1, bw_Bps, { usd }, 0 }, { 1, 1, 3, bw_Bps, { usd }, 0 } };
    const struct whole_lattice l = { .blocks = blocks, .n_blocks = 2 };
    struct whole_answer a;
    OK(alloc_solve_whole(&a, &s.problem, &l, NULL, e));
    assert_true(a.n_ties == 3 && a.n_listed == 3 && a.ties_counted);
    assert_close(a.bw_Bps[1], 150e9, 0); /* as cheap as 100, and more even in the greater */
    assert_close(a.lo_Bps[1], 50e9, 0);
    assert_close(a.hi_Bps[1], 150e9, 0);
    assert_close(a.ties[2].cost_usd, 40, 1e-14);
}

TEST(a_constraint_that_no_part_satisfies_is_named)
{
    static const double traffic_GB[][D] = { { 1, 1 } };
    PLAIN_SPLIT(s, 2, traffic_GB, 1, 0);
    const double bw_Bps[] = { 50e9, 100e9 }, usd[] = { 20, 30 };
    const struct whole_block blocks[] = { { 0, 1, 2, bw_Bps, { usd }, 0 }, { 1, 1, 2, bw_Bps, { usd }, 0 } };
    const struct whole_lattice l = { .blocks = blocks, .n_blocks = 2 };
    struct whole_answer a;
    double ones[D] = { 1, 1 };
    struct alloc_row *row = random_split_row(&s, ones, LINEXPR_LE, 90);
    OK(alloc_solve_whole(&a, &s.problem, &l, NULL, e));
    assert_int_equal(a.status, ALLOC_INFEASIBLE);
    assert_string_equal(
        a.reason,
        "in whole parts \"row 0\" cannot hold: its left side comes to at least 100, expected at most 90");
    row->sense = LINEXPR_EQ;
    row->rhs = 120e9;
    OK(alloc_solve_whole(&a, &s.problem, &l, NULL, e));
    assert_int_equal(a.status, ALLOC_INFEASIBLE);
    assert_has(a.reason, "satisfies all constraints together");
}
