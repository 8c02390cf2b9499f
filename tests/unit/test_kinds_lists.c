/* Shadow prices against splits that are solved again, steps of whole parts against what the changed design
 * takes and costs, factors of ownership against sums by hand, verdicts on budgets; each list as a table. */
#include "kinds/design/answer/budget.h"
#include "kinds/design/answer/lists.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/answer/owning.h"
#include "kinds/design/answer/price.h"
#include "kinds/design/ask/load.h"
#include "tests/unit/folder.h"

#define WORK                                                                                                 \
    "workload: { step: { sum: [ { compute_ms: 2 }, { all-reduce: { size_MB: 90, group: all } } ] } }\n"
#define RATES                                                                                                \
    "network:\n"                                                                                             \
    "  dims:\n"                                                                                              \
    "    - { name: node, shape: ring, size: 4, tier: In }\n"                                                 \
    "    - { name: pod, shape: switch, size: 8, tier: Out }\n"                                               \
    "parts:\n"                                                                                               \
    "  grade: V\n"                                                                                           \
    "  rates:\n"                                                                                             \
    "    - { tier: In, link_usd_per_GBps: 2 }\n"                                                             \
    "    - { tier: Out, link_usd_per_GBps: 8, switch_usd_per_GBps: 20, nic_usd_per_GBps: 30 }\n"
#define WHOLE                                                                                                \
    "network:\n"                                                                                             \
    "  dims:\n"                                                                                              \
    "    - { name: node, shape: ring, size: 4, tier: In }\n"                                                 \
    "    - { name: pod, shape: switch, size: 8, tier: Out }\n"                                               \
    "parts:\n"                                                                                               \
    "  grade: V\n"                                                                                           \
    "  catalogue:\n"                                                                                         \
    "    - { name: nic, kind: nic, ports: 2, bw_GBps: 25, usd: 900, watt: 20 }\n"                            \
    "    - { name: box, kind: switch, ports: 8, bw_GBps: 25, usd: 7000, watt: 300 }\n"                       \
    "    - { name: wire, kind: link, bw_GBps: 25, usd: 110, watt: 6 }\n"                                     \
    "    - { name: trace, kind: link, bw_GBps: 10, usd: 30, watt: 1 }\n"                                     \
    "  build:\n"                                                                                             \
    "    - { tier: In, end_link: trace }\n"                                                                  \
    "    - { tier: Out, nic: nic, switch: box, end_link: wire, up_link: wire }\n"

static void solve(struct design_point *s, struct design *d, const char *text, unsigned needs)
{
    FOLDER(f);
    MUST(design_point_load(s, put(&f, "study.yaml", text), NULL, 0,
                           DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT | needs, e));
    MUST(design_solve(d, s, e));
    assert_true(alloc_has_split(&d->answer));
}

#define SOLVED(s, d, text)                                                                                   \
    KEEP(struct design_point, s, design_point_free);                                                         \
    KEEP(struct design, d, design_free);                                                                     \
    solve(&s, &d, text, 0)

enum { MOST = 16 };

static int32_t prices_of(struct design_price *list, const struct design_point *s, const struct design *d)
{
    int32_t n;
    assert_in_range(s->rows.n, 1, MOST);
    MUST(design_prices(list, &n, s, d, e));
    return n;
}

static const struct design_price *price_of(const struct design_price *list, int32_t n, const char *text)
{
    for (int32_t i = 0; i < n; i++)
        if (strcmp(list[i].constraint, text) == 0)
            return &list[i];
    fail_msg("no constraint %s", text);
    return NULL;
}

/* By a thousandth of the limit up and down, split again each time. */
TEST(a_shadow_price_is_what_the_objective_falls_by)
{
    CASES(const char *row, *objective; double limit; const char *unit, *per) = {
        { "usd <= %.17g", "time", 2e5, "s", "USD" },
        { "node + 2*pod <= %.17g", "time", 90, "s", "GB/s" },
        { "node + pod >= %.17g", "cost\ntime_limit_s: 0.004", 500, "USD", "GB/s" },
        { "node + pod >= %.17g", "perf_per_cost", 60, "s*USD", "GB/s" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double value[3], step = cases[i].limit * 1e-3;
        struct design_price list[MOST], price = { 0 };
        for (int k = 0; k < 3; k++) {
            char text[2048], row[64];
            snprintf(row, sizeof row, cases[i].row, cases[i].limit + (k - 1) * step);
            snprintf(text, sizeof text, "%s%sconstraints: [ %s ]\nobjective: %s\n", RATES, WORK, row,
                     cases[i].objective);
            SOLVED(s, d, text);
            value[k] = d.answer.value * design_unit(&s).per_SI;
            int32_t n = prices_of(list, &s, &d);
            if (k == 1)
                price = *price_of(list, n, row);
            if (k == 1) {
                assert_string_equal(price.unit, cases[i].unit);
                assert_string_equal(price.per, cases[i].per);
                assert_string_equal(price.binding, "yes");
                assert_true(price.left == 0);
            }
        }
        assert_close(price.shadow_price, (value[0] - value[2]) / (2 * step), 1e-4);
        assert_true(fabs(price.shadow_price) > 0);
    }
}

TEST(a_constraint_with_room_costs_nothing_and_says_what_is_left)
{
    SOLVED(s, d, RATES WORK "constraints: [ node + pod <= 90, 'pod <= 80', 'node >= 1', 'usd <= 1e9' ]\n");
    struct design_price list[MOST];
    int32_t n = prices_of(list, &s, &d);
    const struct design_price *most = price_of(list, n, "pod <= 80"), *least = price_of(list, n, "node >= 1"),
                              *usd = price_of(list, n, "usd <= 1e9");
    assert_true(most->shadow_price == 0 && least->shadow_price == 0 && usd->shadow_price == 0);
    assert_string_equal(most->binding, "no");
    assert_close(most->left, 80 - d.bw_Bps[1] / 1e9, 1e-9);
    assert_close(least->left, d.bw_Bps[0] / 1e9 - 1, 1e-9);
    assert_close(usd->left, 1e9 - d.cost_usd, 1e-9);
}

/* A line that is given twice is one; least regret has no price. */
TEST(rows_of_one_text_are_one_constraint)
{
    SOLVED(s, d, RATES WORK "constraints: [ node + pod <= 90, node + pod <= 90 ]\n");
    struct design_price list[MOST];
    assert_true(s.rows.n >= 2);
    assert_true(!design_row_repeated(&s, s.rows.n - 2) && design_row_repeated(&s, s.rows.n - 1));
    assert_int_equal(prices_of(list, &s, &d), s.rows.n - 1);
    s.combine = DESIGN_REGRET;
    assert_true(isnan(design_shadow_price(&s, &d, 0)));
    assert_string_equal(design_unit(&s).name, "ratio");
}

/* One dimension changed, all else as it is: time by the model, price by the bill. */
TEST(a_step_says_what_the_changed_design_takes_and_costs)
{
    SOLVED(s, d, WHOLE WORK "constraints: [ usd <= 4e5 ]\n");
    int32_t n = 0;
    double now_s;
    assert_true(d.is_whole);
    OK(design_time(&now_s, &s, d.bw_Bps, e));
    for (int32_t k = 0; k < d.n_dims; k++)
        for (int up = 0; up < 2; up++) {
            struct design_step step;
            struct err ignored = { 0 };
            double bw_Bps[TOPO_MAX_DIMS], time_s;
            memcpy(bw_Bps, d.bw_Bps, sizeof bw_Bps);
            if (!design_step(&step, &s, &d, k, up))
                continue;
            n++;
            bw_Bps[k] = step.bw_GBps * 1e9;
            assert_true(up ? bw_Bps[k] > d.bw_Bps[k] : bw_Bps[k] < d.bw_Bps[k]);
            assert_string_equal(step.dim, s.net.dims[k].name);
            assert_string_equal(step.way, up ? "up" : "down");
            OK(design_time(&time_s, &s, bw_Bps, e));
            double usd = design_point_usd(&s, bw_Bps, &ignored);
            assert_close(step.more_s, time_s - now_s, 1e-9);
            assert_close(step.more_usd, usd - d.cost_usd, 1e-9);
            assert_true(!step.breaks == (usd <= 4e5));
        }
    assert_in_range(n, 2, 4);
    d.is_whole = false;
    assert_false(design_step(&(struct design_step){ 0 }, &s, &d, 0, true));
}

#define OWNED                                                                                                \
    "system:\n  npus_per_node: 4\n  npu_usd: 20000\n  npu_watt: 700\n  step_tokens: 1e6\n  checkpoint: { "   \
    "size_GB: 20 }\n"

/* All but staff is a sum over items; a tenth more time is a tenth more cost of the same work. */
TEST(items_add_up_and_factors_move_what_they_are_of)
{
    SOLVED(s, d, WHOLE WORK "constraints: [ usd <= 4e5 ]\n" OWNED);
    KEEP(struct system, x, system_free);
    struct owning_factor factors[OWNING_FACTORS];
    double capital = 0, power = 0, stops = 0, time = NAN, prices = NAN;
    int32_t n = 0;
    OK(system_build(&x, &s, design_owned(&d), e));
    assert_true(isfinite(x.cost.total) && x.n_items > 2 && x.n_fails > 0);
    for (int32_t i = 0; i < x.n_items; i++) {
        const struct owning_item item = owning_item_of(&x, &s.system.terms, i);
        capital += item.capital_usd_year;
        power += isnan(item.power_usd_year) ? 0 : item.power_usd_year;
    }
    assert_close(capital, x.cost.capital, 1e-12);
    assert_close(power, x.cost.building + x.cost.energy, 1e-12);
    for (int32_t i = 0; i < x.n_fails; i++) {
        const struct owning_fail fail = owning_fail_of(&x, i);
        stops += fail.stops_share;
        assert_true(fail.goodput_without >= x.kept && fail.goodput_without <= 1);
    }
    assert_close(stops, 1, 1e-12);
    OK(owning_factors(factors, &n, &x, &s, d.time_s, e));
    for (int32_t i = 0; i < n; i++) {
        time = strcmp(factors[i].factor, "time of a step") == 0 ? factors[i].usd_work : time;
        prices = strcmp(factors[i].factor, "all prices") == 0 ? factors[i].usd_npu_h : prices;
        assert_true(factors[i].usd_npu_h != 0 || factors[i].usd_work != 0);
    }
    assert_close(time, 0.1, 1e-9);
    assert_close(prices, 0.1 * (x.cost.capital + x.cost.support) / x.cost.total, 1e-9);
    assert_close(owning_work_usd(&x), x.usd_per_Mtoken, 1e-15);
}

TEST(a_budget_is_kept_exceeded_or_not_known)
{
    CASES(const char *budget, *key; double limit; enum budget_verdict verdict; bool over, unknown) = {
        { "usd: 5e5", "usd", 5e5, BUDGET_WITHIN, false, false },
        { "usd: 1e5", "usd", 1e5, BUDGET_OVER, true, false },
        { "time_s: 1", "time_s", 1, BUDGET_WITHIN, false, false },
        { "watt: 10", "watt", 10, BUDGET_OVER, true, false },
        { "nics: 10000", "nics", 10000, BUDGET_WITHIN, false, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[2048];
        struct budget b;
        snprintf(text, sizeof text, "%s%sconstraints: [ usd <= 4e5 ]\nbudget: { %s }\n", WHOLE, WORK,
                 cases[i].budget);
        SOLVED(s, d, text);
        OK(budget_check(&b, &s, &d, e));
        assert_int_equal(b.n, 1);
        assert_string_equal(b.list[0].key, cases[i].key);
        assert_close(b.list[0].limit, cases[i].limit, 1e-12);
        assert_close(b.list[0].slack, cases[i].limit - b.list[0].value, 1e-12);
        assert_string_equal(b.list[0].word, budget_verdict_words[cases[i].verdict]);
        assert_true(b.over == cases[i].over && b.unknown == cases[i].unknown);
        /* No bill: what the parts cost in fractions is a lower bound, and keeps nothing. */
        d.has_bill = false;
        OK(budget_check(&b, &s, &d, e));
        if (strcmp(cases[i].key, "usd") == 0)
            assert_true(cases[i].over ? b.over : b.unknown && b.list[0].why[0]);
        d.has_bill = true;
    }
}

/* What is described is what is put: a row of each, of a design that has all of them but a model. */
TEST(each_list_is_a_table_of_its_columns)
{
    SOLVED(s, d, WHOLE WORK "constraints: [ usd <= 4e5 ]\nbudget: { usd: 5e5 }\n" OWNED);
    KEEP(struct system, x, system_free);
    struct explain explain;
    OK(system_build(&x, &s, design_owned(&d), e));
    OK(explain_build(&explain, &s, &d, e));
    const struct design_view view = { &s, &d, &x, &explain }, bare = { .study = &s, .design = &d };
    for (const struct design_list *list = design_lists; list->name; list++) {
        KEEP(struct table, t, table_free) = { 0 };
        KEEP(struct table, without, table_free) = { 0 };
        OK(design_list_build(&t, list, &view, e));
        OK(design_list_build(&without, list, &bare, e));
        bool model = strcmp(list->name, "evidence") == 0;
        assert_true((t.n_rows > 0) == !model);
        assert_true(without.n_rows == t.n_rows || without.n_rows == 0);
        assert_true(!list->explains || without.n_rows == 0);
        for (const struct column *c = list->columns; c->name; c++)
            if (column_is_in(c, IN_CSV)) /* others are how pages show them */
                assert_true(table_find(&t, c->name) >= 0 && c->help && *c->help);
    }
    struct design_dim dim = design_dim(&s, &d, 1);
    double usd = design_dim(&s, &d, 0).cost_usd + dim.cost_usd;
    assert_close(usd, d.bill.usd.typ, 1e-12);
    assert_close(dim.busy_s, d.util_frac[1] * d.time_s, 1e-12);
    assert_close(dim.sent_B, 90e6 / 4 * 2 * 7 / 8., 1e-9); /* a quarter is left behind the ring */
    assert_true(isnan(dim.usd_per_GBps));
}
