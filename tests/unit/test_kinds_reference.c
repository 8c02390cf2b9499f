/* LIBRA's public inputs and published splits, against optima found by other programs. */
#include "kinds/design/ask/load.h"
#include "tests/unit/table_cells.h"
#include "kinds/design/explore/solve.h"

/* ---- LIBRA's public inputs against numbers from outside ---- */

static const struct {
    const char *reference, *study, *workload;
} models[] = {
    { "GPT_3", "gpt3", "gpt3" },
    { "MSFT_1T", "msft1t", "msft1t" },
    { "Turing_NLG", "turing", "turing-nlg" },
    { "ResNet_50", "resnet50", "resnet50" },
    { "DLRM", "dlrm", "dlrm" },
};

static size_t find_model(const char *reference)
{
    for (size_t i = 0; i < COUNT_OF(models); i++)
        if (strcmp(models[i].reference, reference) == 0)
            return i;
    fail_msg("%s is no model", reference);
    return 0;
}

enum { SPLIT = DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_PARTS | DESIGN_FOR_SPLIT };

static void load_libra(struct design_point *s, const char *model, int n_dims, double total_GBps,
                       const char *objective)
{
    char path[SUPPORT_PATH], total[32];
    snprintf(path, sizeof path, "configs/studies/libra/%s-%dd.yaml", models[find_model(model)].study, n_dims);
    snprintf(total, sizeof total, "%.17g", total_GBps);
    const struct study_override o[] = { { "total_GBps", total }, { "objective", objective } };
    MUST(design_point_load(s, path, o, COUNT_OF(o), SPLIT, e));
}

static void open_reference(struct table *t, const char *name)
{
    char path[SUPPORT_PATH];
    snprintf(path, sizeof path, "tests/reference/%s", name);
    MUST(table_read_csv(t, path, e));
    assert_true(t->n_rows > 0);
}

/* Time and price of the equal split need no solver: inputs, traffic, step and prices alone. */
TEST(equal_splits_cost_what_the_reference_says)
{
    KEEP(struct table, t, table_free);
    open_reference(&t, "libra_exact.csv");
    for (int64_t row = 0; row < t.n_rows; row++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        int n_dims = word(&t, row, "net")[0] - '0';
        double bw_Bps[4], total_GBps = number(&t, row, "total_GBps");
        load_libra(&s, word(&t, row, "workload"), n_dims, total_GBps, "time");
        for (int k = 0; k < n_dims; k++)
            bw_Bps[k] = total_GBps * 1e9 / n_dims;
        OK(design_evaluate(&d, &s, bw_Bps, e));
        assert_close(d.time_s * 1e9, number(&t, row, "T_equal_ns"), 1e-12);
        assert_close(d.account.compute_s * 1e9, number(&t, row, "compute_ns"), 1e-12);
        assert_close(d.cost_usd, number(&t, row, "cost_equal"), 1e-12);
        assert_close(d.equal.time_s, d.time_s, 1e-12);
        assert_close(d.equal.cost_usd, d.cost_usd, 1e-12);
        assert_true(d.has_bill);
        assert_close(d.bill.usd.typ, d.cost_usd, 1e-12);
        assert_close(d.speedup, 1, 1e-12);
    }
}

static void check_solved(const struct design *d, double want, double rel)
{
    assert_true(d->answer.status == ALLOC_SOLVED && d->answer.gap <= ALLOC_GAP && d->verified);
    assert_true(d->answer.lower_bound <= d->answer.value * (1 + 1e-14));
    /* Better than the reference is as good. */
    if (!(d->answer.value <= want * (1 + rel))) {
        print_error("value %.17g, want at most %.17g (rel %g)\n", d->answer.value, want, rel);
        fail();
    }
    /* A bound above the reference would prove a better answer impossible. */
    assert_true(d->answer.lower_bound <= want * (1 + rel));
}

TEST(splits_reach_the_exact_optima)
{
    KEEP(struct table, t, table_free);
    open_reference(&t, "libra_exact.csv");
    for (int64_t row = 0; row < t.n_rows; row++) {
        int n_dims = word(&t, row, "net")[0] - '0';
        for (int ratio = 0; ratio < 2; ratio++) {
            KEEP(struct design_point, s, design_point_free);
            KEEP(struct design, d, design_free);
            load_libra(&s, word(&t, row, "workload"), n_dims, number(&t, row, "total_GBps"),
                       ratio ? "perf_per_cost" : "time");
            OK(design_solve(&d, &s, e));
            check_solved(&d, number(&t, row, ratio ? "TxC_ppc" : "T_perfopt_ns") / 1e9, 1e-9);
            if (!ratio)
                assert_close(d.speedup, number(&t, row, "speedup"), 1e-9);
            else
                assert_close(d.perf_per_cost_gain, number(&t, row, "ppc_gain_ppcopt"), 1e-9);
        }
    }
}

/* One row of libra_optima.csv: the study, and with further constraints that of gpt3-4d-constraints. */
static void load_row(struct design_point *s, const struct table *t, int64_t row)
{
    const char *model = word(t, row, "workload");
    bool ratio = strcmp(word(t, row, "objective"), "perf_per_cost") == 0;
    bool more = strcmp(word(t, row, "constraint"), "multiple_constraints") == 0;
    char workload[SUPPORT_PATH];
    if (!more) {
        load_libra(s, model, word(t, row, "network")[0] - '0', number(t, row, "total_bw_GBps"),
                   ratio ? "perf_per_cost" : "time");
        return;
    }
    snprintf(workload, sizeof workload, "configs/workloads/%s.yaml", models[find_model(model)].workload);
    const struct study_override o[] = { { "workload", workload },
                                        { "objective", ratio ? "perf_per_cost" : "time" } };
    MUST(design_point_load(s, "configs/studies/libra/gpt3-4d-constraints.yaml", o, COUNT_OF(o), SPLIT, e));
    assert_int_equal(s->rows.n, 5);
}

TEST(all_published_optima_are_reached)
{
    KEEP(struct table, t, table_free);
    open_reference(&t, "libra_optima.csv");
    assert_int_equal(t.n_rows, 40);
    for (int64_t row = 0; row < t.n_rows; row++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        double ns = number(&t, row, "T_opt_ns"), usd = number(&t, row, "network_cost");
        load_row(&s, &t, row);
        OK(design_solve(&d, &s, e));
        bool ratio = s.objective == ALLOC_PERF_PER_COST;
        /* The file has one decimal of each. */
        double rounding = 0.05 / ns + (ratio ? 0.05 / usd : 0);
        check_solved(&d, ratio ? ns * usd / 1e9 : ns / 1e9, 1e-9 + rounding);
        assert_true(d.answer.value >= (ratio ? ns * usd / 1e9 : ns / 1e9) * (1 - 1e-6));
        assert_close(d.equal.time_s * 1e9, number(&t, row, "T_equal_split_ns"), 0.05 / ns);
        for (int k = 0; k < d.n_dims; k++) {
            char column[32];
            snprintf(column, sizeof column, "cost_per_GBps_dim%d", k + 1);
            assert_close(s.prices[k].usd_per_Bps * 1e9, number(&t, row, column), 5e-6);
        }
    }
}

/* ---- LIBRA's first version, 1,024 NPUs ---- */

static void load_v1(struct design_point *s, int n_dims, const char *workloads, const char *objective)
{
    char path[SUPPORT_PATH];
    const struct study_override o[] = { { "workloads", workloads }, { "objective", objective } };
    snprintf(path, sizeof path, "configs/studies/v1/group-%dd.yaml", n_dims);
    MUST(design_point_load(s, path, o, COUNT_OF(o), SPLIT, e));
}

/* "17B+175B" to "[configs/workloads/v1-17b.yaml, ...]". */
static void list_workloads(struct text *out, const char *names)
{
    text_puts(out, "[");
    for (const char *name = names; *name;) {
        size_t n = strcspn(name, "+");
        text_printf(out, "%sconfigs/workloads/v1-%.*s%c.yaml", name == names ? "" : ", ", (int)n - 1, name,
                    name[n - 1] == 'B' ? 'b' : 't');
        name += n + (name[n] == '+');
    }
    text_puts(out, "]");
}

/* Published splits are scaled to spend the whole 100 GB/s. Two decimals of GB/s move the objective by up to
 * 5e-4; 4D-175B per cost, 0.07 % off, is beyond that. */
TEST(of_21_published_splits_19_are_optimal_2_bettered_and_1_tied)
{
    KEEP(struct table, t, table_free);
    int optimal = 0, bettered = 0, tied = 0;
    open_reference(&t, "libra_v1_splits.csv");
    assert_int_equal(t.n_rows, 21);
    for (int64_t row = 0; row < t.n_rows; row++) {
        const char *published = word(&t, row, "published_split_at_100GBps");
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, ours, design_free);
        KEEP(struct design, theirs, design_free);
        KEEP(struct text, workloads, text_free) = { 0 };
        double bw_Bps[TOPO_MAX_DIMS] = { 0 }, sum = 0;
        list_workloads(&workloads, word(&t, row, "workload"));
        load_v1(&s, word(&t, row, "network")[0] - '0', text_str(&workloads), word(&t, row, "objective"));
        for (int k = 0; k < s.net.n_dims; k++) {
            char *end;
            sum += bw_Bps[k] = strtod(published, &end);
            published = end;
        }
        for (int k = 0; k < s.net.n_dims; k++)
            bw_Bps[k] *= 100e9 / sum;
        OK(design_solve(&ours, &s, e));
        OK(design_evaluate(&theirs, &s, bw_Bps, e));
        const struct alloc_answer *a = &ours.answer;
        bool ratio = s.objective == ALLOC_PERF_PER_COST;
        double value = ratio ? theirs.time_s * theirs.cost_usd : theirs.time_s, excess = value / a->value - 1;
        assert_true(a->status == ALLOC_SOLVED && ours.verified && value >= a->lower_bound);
        assert_true(a->value >= value * 0.95);
        optimal += excess < 5e-4;
        bettered += excess >= 5e-4;
        tied += !a->unique;
        for (int k = 0; k < s.net.n_dims && !a->unique; k++)
            assert_true(bw_Bps[k] >= a->lo_Bps[k] * 0.99 && bw_Bps[k] <= a->hi_Bps[k] * 1.01);
    }
    assert_true(optimal == 19 && bettered == 2 && tied == 1);
}

/* Optima by other programs, to 0.01 GB/s at 1000 GB/s in all; communication alone scales with the total. */
TEST(splits_for_three_workloads_agree_with_other_programs)
{
    static const struct {
        double GBps[4];
        double equal_comm_ms[3]; /* of 17B, 175B, 1T */
    } cases[] = {
        { { 84.479, 15.521 }, { 30.431, 384.251, 374.342 } },
        { { 80.949, 10.801, 8.250 }, { 45.646, 570.006, 561.512 } },
        { { 43.091, 37.705, 11.250, 7.955 }, { 34.778, 450.468, 434.614 } },
    };
    for (int i = 0; i < 3; i++) {
        char path[SUPPORT_PATH];
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        KEEP(struct design, equal, design_free);
        double bw_Bps[4];
        snprintf(path, sizeof path, "configs/studies/v1/group-%dd.yaml", i + 2);
        OK(design_point_load(&s, path, NULL, 0, SPLIT, e));
        OK(design_solve(&d, &s, e));
        assert_true(d.answer.status == ALLOC_SOLVED && d.verified);
        for (int k = 0; k < i + 2; k++) {
            assert_near(d.bw_Bps[k] / 1e9, cases[i].GBps[k], 1e-3);
            bw_Bps[k] = d.equal.bw_Bps;
        }
        OK(design_evaluate(&equal, &s, bw_Bps, e));
        for (int k = 0; k < 3; k++)
            assert_near((equal.loads[k].time_s - equal.loads[k].step.path.compute_s) * 1e3,
                        cases[i].equal_comm_ms[k], 6e-4);
    }
}
