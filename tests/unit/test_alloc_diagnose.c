/* Why a problem has no answer, in words. */
#include "tests/unit/split_random.h"

enum { D = TOPO_MAX_DIMS };

/* One collective over two dimensions and one over the third; d1, d2, d3. */
static const double m[2][D] = { { 1, 1 }, { 0, 0, 1 } };

static const struct {
    const char *what;
    enum alloc_objective objective;
    double usd[3];
    double limit_s;
    struct {
        const char *name;
        double coef[3], rhs;
        enum linexpr_sense sense;
    } rows[4];
    enum alloc_status status;
    const char *reason;
} cases[] = {
    { .what = "two rows that clash, among others",
      .rows = { { "total == 100", { 1, 1, 1 }, 100, LINEXPR_EQ },
                { "d1 >= 70", { 1 }, 70, LINEXPR_GE },
                { "d2 <= 50", { 0, 1 }, 50, LINEXPR_LE },
                { "d3 >= 40", { 0, 0, 1 }, 40, LINEXPR_GE } },
      .status = ALLOC_INFEASIBLE,
      .reason = "these constraints contradict each other: total == 100; d1 >= 70; d3 >= 40" },
    { .what = "a dimension with traffic that gets nothing",
      .rows = { { "total == 100", { 1, 1, 1 }, 100, LINEXPR_EQ }, { "d2 <= 0", { 0, 1 }, 0, LINEXPR_LE } },
      .status = ALLOC_INFEASIBLE,
      .reason = "d2 carries traffic, but the constraints leave it no bandwidth" },
    { .what = "nothing limits a dimension",
      .rows = { { "d1 + d2 <= 9", { 1, 1 }, 9, LINEXPR_LE } },
      .status = ALLOC_UNBOUNDED,
      .reason =
          "more bandwidth on d3 always helps and nothing limits it; give a total, a maximum or a budget" },
    { .what = "a dimension without price or limit",
      .objective = ALLOC_COST,
      .usd = { 1, 1, 0 },
      .limit_s = 1,
      .status = ALLOC_UNBOUNDED,
      .reason = "d3 has no price and nothing limits its bandwidth" },
    { .what = "a limit below what the total allows",
      .objective = ALLOC_COST,
      .usd = { 1, 1, 1 },
      .limit_s = 0.03,
      .rows = { { "total <= 100", { 1, 1, 1 }, 100, LINEXPR_LE } },
      .status = ALLOC_INFEASIBLE,
      .reason = "time_limit_s is 0.03, expected at least 0.0582842" }, /* (sqrt 2 + 1)^2 / 100 */
    { .what = "a limit below compute",
      .objective = ALLOC_COST,
      .usd = { 1, 1, 1 },
      .limit_s = 0,
      .status = ALLOC_INFEASIBLE,
      .reason = "at any bandwidth" },
    { .what = "per cost with a cap alone",
      .objective = ALLOC_PERF_PER_COST,
      .usd = { 1, 1, 1 },
      .rows = { { "total <= 100", { 1, 1, 1 }, 100, LINEXPR_LE } },
      .status = ALLOC_ILL_POSED,
      .reason = "the objective is the same at every scale of the bandwidths, so there is no best split" },
    { .what = "utilization with nothing at all",
      .objective = ALLOC_UTILIZATION,
      .status = ALLOC_ILL_POSED,
      .reason = "give a floor: a total, a minimum bandwidth or a fixed cost" },
    { .what = "rows that clash, per cost",
      .objective = ALLOC_PERF_PER_COST,
      .usd = { 1, 1, 1 },
      .rows = { { "d1 >= 3", { 1 }, 3, LINEXPR_GE }, { "d1 <= 2", { 1 }, 2, LINEXPR_LE } },
      .status = ALLOC_INFEASIBLE,
      .reason = "these constraints contradict each other: d1 >= 3; d1 <= 2" },
};

TEST(every_failure_has_its_status_and_its_reason)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct alloc_answer, a, alloc_answer_free);
        PLAIN_SPLIT(s, 3, m, 2, 0);
        for (int k = 0; k < 4 && cases[i].rows[k].name; k++) {
            double coef[D] = { cases[i].rows[k].coef[0], cases[i].rows[k].coef[1], cases[i].rows[k].coef[2] };
            struct alloc_row *row = random_split_row(&s, coef, cases[i].rows[k].sense, cases[i].rows[k].rhs);
            snprintf(row->name, sizeof row->name, "%s", cases[i].rows[k].name);
        }
        for (int d = 0; d < 3; d++)
            s.problem.usd_per_Bps[d] = cases[i].usd[d] * 1e-9;
        s.problem.objective = cases[i].objective;
        s.problem.time_limit_s = cases[i].limit_s;
        OK(alloc_solve(&a, &s.problem, e));
        if (a.status != cases[i].status)
            fail_msg("%s: %s, %s", cases[i].what, alloc_status_names[a.status], a.reason);
        assert_has(a.reason, cases[i].reason);
    }
}

/* d1 and d2 share a collective: with d1 at 4 GB/s it takes 1/4 s however much d2 has, so any d2 from 4 GB/s
 * on is as good, and there is a least time. */
TEST(one_limited_dimension_of_a_collective_is_enough)
{
    KEEP(struct alloc_answer, a, alloc_answer_free);
    PLAIN_SPLIT(s, 3, m, 2, 0);
    random_split_row(&s, (double[D]){ 1 }, LINEXPR_LE, 4);
    random_split_row(&s, (double[D]){ 0, 0, 1 }, LINEXPR_LE, 2);
    OK(alloc_solve(&a, &s.problem, e));
    assert_int_equal(a.status, ALLOC_SOLVED);
    assert_close(a.value, 1.0 / 4 + 1.0 / 2, 1e-9);
    assert_close(a.bw_Bps[0], 4e9, 1e-9);
    assert_false(a.unique);
    assert_close(a.lo_Bps[1], 4e9, 1e-6);
    assert_true(isinf(a.hi_Bps[1]) && a.gap <= ALLOC_GAP);
}

/* Compute makes per cost prefer ever smaller networks: the message says in which direction. */
TEST(per_cost_with_compute_falls_towards_nothing)
{
    struct alloc_answer a;
    PLAIN_SPLIT(s, 3, m, 2, 0.5);
    s.problem.objective = ALLOC_PERF_PER_COST;
    for (int d = 0; d < 3; d++)
        s.problem.usd_per_Bps[d] = 1e-9;
    OK(alloc_solve(&a, &s.problem, e));
    assert_int_equal(a.status, ALLOC_ILL_POSED);
    assert_has(a.reason, "keeps falling as all bandwidths go to zero together");
    alloc_answer_free(&a);
    s.problem.usd_fixed = 1; /* a price that does not shrink makes it well posed */
    OK(alloc_solve(&a, &s.problem, e));
    assert_int_equal(a.status, ALLOC_SOLVED);
    alloc_answer_free(&a);
}

TEST(a_limit_on_time_that_a_message_names_can_be_kept)
{
    static const double shares[] = { 0.5, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-11 };
    const double ones[D] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    RNG(r, 41, 0);
    for (int i = 0; i < 200; i++) {
        const double loads[2][D] = { { rng_range(r, 1, 100), rng_range(r, 1, 100), rng_range(r, 1, 100) },
                                     { rng_range(r, 1, 100), rng_range(r, 1, 100), 0 } };
        PLAIN_SPLIT(s, 3, loads, 2, i % 2 ? 0.1 : 0);
        random_split_row(&s, ones, LINEXPR_EQ, 100);
        for (int d = 0; d < 3; d++)
            s.problem.usd_per_Bps[d] = 1e-9 * (1 + d * (i % 3));
        SOLVED(fastest, &s.problem);
        s.problem.objective = ALLOC_COST;
        s.problem.time_limit_s = fastest.time_s * shares[i % 5];
        KEEP(struct alloc_answer, refused, alloc_answer_free);
        OK(alloc_solve(&refused, &s.problem, e));
        assert_int_equal(refused.status, ALLOC_INFEASIBLE);
        const char *said = strstr(refused.reason, "at least ");
        assert_non_null(said);
        double limit_s = strtod(said + 9, NULL),
               was_s = strtod(refused.reason + strlen("time_limit_s is "), NULL);
        assert_true(was_s == s.problem.time_limit_s && limit_s > was_s);
        assert_close(limit_s, fastest.time_s, 2e-8);
        s.problem.time_limit_s = limit_s;
        KEEP(struct alloc_answer, kept, alloc_answer_free);
        OK(alloc_solve(&kept, &s.problem, e)); /* hardly any room: a proof may fall short, a split may not */
        assert_true(alloc_has_split(&kept) && kept.gap < 1e-6 && kept.time_s <= limit_s * (1 + 1e-12));
    }
}
