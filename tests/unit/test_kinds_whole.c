/* Whole designs of studies: what ports give, against plain counting over bandwidths and bills. */
#include <time.h>

#include "kinds/design/ask/load.h"
#include "tests/unit/folder.h"
#include "kinds/design/explore/solve.h"

enum { D = TOPO_MAX_DIMS };

/* Prices that fill no part evenly: a box of 8 ports, NICs of two ports. */
#define CATALOGUE                                                                                            \
    "parts:\n"                                                                                               \
    "  catalogue:\n"                                                                                         \
    "    - { name: nic, kind: nic, ports: 2, bw_GBps: 25, usd: 900, watt: 20 }\n"                            \
    "    - { name: box, kind: switch, ports: 8, bw_GBps: 25, usd: 7000, watt: 300 }\n"                       \
    "    - { name: wire, kind: link, bw_GBps: 25, usd: 110, watt: 6 }\n"                                     \
    "    - { name: trace, kind: link, bw_GBps: 10, usd: 30, watt: 1 }\n"                                     \
    "  build:\n"                                                                                             \
    "    - { tier: In, end_link: trace }\n"                                                                  \
    "    - { tier: Out, nic: nic, switch: box, end_link: wire, up_link: wire, rails: 2 }\n"
#define WORK                                                                                                 \
    "workload: { name: w, step: { sum: [ { compute_ms: 2 }, { all-reduce: { size_MB: 90, group: all } }, "   \
    "{ all-to-all: { size_MB: 20, group: all } } ] } }\n"

static void open_study(struct design_point *s, const char *dims, const char *more)
{
    char text[4096];
    FOLDER(f);
    snprintf(text, sizeof text, "network:\n  npu: { usd: 1000, watt: 500 }\n  dims:\n%s%s%s%s", dims,
             CATALOGUE, WORK, more);
    MUST(design_point_load(s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                           e));
}

struct best {
    double value, bw_Bps[D];
    int64_t allowed, ties;
};

/* All links from 0 to `most` in the first level of each entry and up links from 1 to 4 times the members;
 * what is bought is read from the bill, and limits are checked in USD and W. */
static void count_all(struct best *best, const struct design_point *s, int32_t d, double *bw_Bps,
                      int32_t most, double usd, double watt)
{
    if (d < s->net.n_dims) {
        const struct topo_dim *dim = &s->net.dims[d];
        double unit = topo_ops(dim)->switched
                          ? 25e9
                          : 10e9 * (dim->shape == TOPO_RING && dim->size > 2 ? 2 : dim->size - 1);
        if (dim->level == 1)
            unit = 25e9 / dim[-1].size;
        for (int32_t k = 1; k <= (dim->level ? most * dim[-1].size : most); k++) {
            bw_Bps[d] = unit * k;
            if (dim->level == 0 || bw_Bps[d] <= bw_Bps[d - 1] * (1 + 1e-12))
                count_all(best, s, d + 1, bw_Bps, most, usd, watt);
        }
        return;
    }
    struct topo_bill bill;
    struct err ignored = { 0 };
    double time_s;
    if (topo_build_bill(&bill, &s->net, &s->parts, bw_Bps, &ignored))
        return;
    MUST(design_time(&time_s, s, bw_Bps, e));
    double value = s->objective == ALLOC_TIME ? time_s
                   : s->objective == ALLOC_COST
                       ? (time_s <= s->time_limit_s ? bill.usd.typ : (double)INFINITY)
                       : time_s * bill.usd.typ;
    if (bill.usd.typ <= usd && bill.watt <= watt) {
        best->allowed++;
        if (isfinite(value) && fabs(value - best->value) <= 1e-12 * value) {
            best->ties++;
        } else if (value < best->value) {
            best->value = value;
            best->ties = 1;
            memcpy(best->bw_Bps, bw_Bps, D * sizeof *bw_Bps);
        }
    }
    topo_bill_free(&bill);
}

TEST(the_best_whole_design_is_the_best_that_can_be_bought)
{
    CASES(const char *dims, *more; double usd, watt) = {
        { "    - { name: a, shape: ring, size: 4, tier: In }\n    - { name: b, shape: switch, size: 16, "
          "tier: Out }\n",
          "constraints: [ usd <= 900e3 ]\n", 900e3, INFINITY },
        { "    - { name: a, shape: full, size: 4, tier: In }\n    - { name: b, shape: switch, size: 12, "
          "tier: Out }\n",
          "constraints: [ usd <= 600e3, watt <= 30e3 ]\n", 600e3, 30e3 },
        { "    - { name: a, shape: ring, size: 8, tier: In }\n    - { name: b, shape: switch, size: 6, tier: "
          "Out }\n",
          "objective: perf_per_cost\nconstraints: [ a <= 200, b <= 250 ]\n", INFINITY, INFINITY },
        { "    - { name: a, shape: ring, size: 4, tier: In }\n    - { name: b, shape: switch, size: 16, "
          "tier: Out }\n",
          "objective: cost\ntime_limit_s: 0.008\n", INFINITY, INFINITY },
        { "    - { name: a, shape: ring, size: 4, tier: In }\n    - { name: b, shape: fat-tree, sizes: [4, "
          "6], taper: free, "
          "tier: Out }\n",
          "constraints: [ usd <= 800e3 ]\n", 800e3, INFINITY },
        { "    - { name: a, shape: ring, size: 2, tier: In }\n    - { name: b, shape: fat-tree, sizes: [4, "
          "4], taper: free, "
          "tier: Out }\n",
          "objective: perf_per_cost\n", INFINITY, INFINITY },
    };
    int unique = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        double bw_Bps[D] = { 0 };
        struct best best = { .value = INFINITY };
        open_study(&s, cases[i].dims, cases[i].more);
        OK(design_solve(&d, &s, e));
        for (int32_t k = 0; k < s.net.n_dims && strstr(cases[i].more, "a <= 200"); k++)
            s.net.dims[k].max_Bps = k ? 250e9 : 200e9;
        /* Ten links: 250 GB/s of a switch, 200 of a ring. */
        count_all(&best, &s, 0, bw_Bps, 10, cases[i].usd, cases[i].watt);
        if (d.answer.status != ALLOC_SOLVED || !d.verified ||
            fabs(d.answer.value - best.value) > 1e-12 * best.value)
            fail_msg("case %d: %s %s %.17g, counting %lld designs %.17g at %g %g %g, here %g %g %g", (int)i,
                     alloc_status_names[d.answer.status], d.answer.reason, d.answer.value,
                     (long long)best.allowed, best.value, best.bw_Bps[0], best.bw_Bps[1], best.bw_Bps[2],
                     d.bw_Bps[0], d.bw_Bps[1], d.bw_Bps[2]);
        assert_true(best.allowed > 5 && d.is_whole && d.whole.ties_counted);
        /* More of them may lie beyond ten links, where no row says that there are no more. */
        assert_true(d.whole.n_ties == best.ties ||
                    (d.whole.n_ties > best.ties && !strstr(cases[i].more, "a <= 200")));
        assert_true(d.answer.unique == (d.whole.n_ties == 1));
        unique += d.answer.unique;
        assert_close(d.cost_usd, d.bill.usd.typ, 1e-15);
        assert_true(d.usd_fraction <= d.cost_usd * (1 + 1e-9) &&
                    d.relaxed.lower_bound <= d.answer.value * (1 + 1e-9));
    }
    assert_true(unique > 0 && unique < (int)COUNT_OF(cases));
}

/* A tree of three levels with free tapers, beside rings whose links are fixed (and dear in whole parts). */
#define TREE                                                                                                 \
    "    - { name: a, shape: ring, size: 4, bw_GBps: 200, tier: In }\n"                                      \
    "    - { name: b, shape: fat-tree, sizes: [%s], taper: free, max_GBps: %d, tier: Big }\n"

static void open_tree(struct design_point *s, const char *sizes, int most_GBps, const char *more)
{
    static const char parts[] =
        "parts:\n  catalogue:\n"
        "    - { name: nic, kind: nic, ports: 2, bw_GBps: 25, usd: 900, watt: 20 }\n"
        "    - { name: box, kind: switch, ports: 48, bw_GBps: 25, usd: 27000, watt: 900 }\n"
        "    - { name: wire, kind: link, bw_GBps: 25, usd: 110, watt: 6 }\n"
        "    - { name: trace, kind: link, bw_GBps: 10, usd: 30, watt: 1 }\n"
        "  build:\n"
        "    - { tier: In, end_link: trace }\n"
        "    - { tier: Big, nic: nic, switch: box, end_link: wire, up_link: wire }\n";
    char text[4096], dims[512];
    FOLDER(f);
    snprintf(dims, sizeof dims, TREE, sizes, most_GBps);
    snprintf(text, sizeof text, "network:\n  dims:\n%s%s%s%s", dims, parts, WORK, more);
    MUST(design_point_load(s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                           e));
}

struct tree_best {
    double value, usd;
    int64_t ties, combinations;
};

/* Every combination of links: its bill in parts, its time by the compiled step. */
static struct tree_best count_tree(const struct design_point *s, int most, double most_usd, double most_watt)
{
    struct tree_best best = { INFINITY, INFINITY, 0, 0 };
    const struct topo_dim *dims = &s->net.dims[1];
    double one[] = { 25e9, 25e9 / dims[0].size, 25e9 / dims[0].size / dims[1].size };
    for (int i = 1; i <= most; i++)
        for (int j = 1; j <= i * dims[0].size; j++)
            for (int k = 1; k <= j * dims[1].size; k++) {
                double bw_Bps[D] = { 200e9, i * one[0], j * one[1], k * one[2] };
                struct topo_spent spent = { 0 };
                struct err none = { 0 };
                best.combinations++;
                if (topo_spend(&spent, &s->net, &s->parts, 0, 4, bw_Bps, &none) || spent.usd > most_usd ||
                    spent.watt > most_watt)
                    continue;
                double time_s = step_time(&s->workloads[0].fn, bw_Bps);
                double value = s->objective == ALLOC_TIME ? time_s
                               : s->objective == ALLOC_COST
                                   ? (time_s <= s->time_limit_s ? spent.usd : INFINITY)
                                   : time_s * spent.usd;
                if (isfinite(value) && fabs(value - best.value) <= 1e-12 * value) {
                    best.ties++;
                    best.usd = fmin(best.usd, spent.usd);
                } else if (value < best.value) {
                    best.value = value;
                    best.usd = spent.usd;
                    best.ties = 1;
                }
            }
    return best;
}

/* So many combinations that boxes of them are left out unseen. */
TEST(entries_of_many_choices_are_bounded_to_the_same_designs)
{
    static const struct {
        const char *more;
        double usd, watt;
    } cases[] = {
        { "constraints: [ usd <= 3.4e6 ]\n", 3.4e6, INFINITY },
        { "constraints: [ usd <= 6e6 ]\n", 6e6, INFINITY },
        { "constraints: [ usd <= 10e6 ]\n", 10e6, INFINITY },
        { "constraints: [ usd <= 12e6, watt <= 270e3 ]\n", 12e6, 270e3 },
        { "objective: perf_per_cost\n", INFINITY, INFINITY },
        { "objective: perf_per_cost\nconstraints: [ usd <= 3.42e6 ]\n", 3.42e6, INFINITY },
        { "objective: cost\ntime_limit_s: 0.004\n", INFINITY, INFINITY },
        { "objective: cost\ntime_limit_s: 0.0028\n", INFINITY, INFINITY },
    };
    int bounded = 0, late = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        open_tree(&s, "4, 4, 5", 400, cases[i].more);
        OK(design_solve(&d, &s, e));
        struct tree_best best = count_tree(&s, 16, cases[i].usd, cases[i].watt);
        if (d.answer.status != ALLOC_SOLVED || fabs(d.answer.value - best.value) > 1e-12 * best.value ||
            fabs(d.cost_usd - best.usd) > 1e-12 * best.usd || d.whole.n_ties != best.ties)
            fail_msg("case %d: %s %s %.17g, %.17g USD, %lld ties; of %lld combinations %.17g, %.17g, %lld",
                     (int)i, alloc_status_names[d.answer.status], d.answer.reason, d.answer.value, d.cost_usd,
                     (long long)d.whole.n_ties, (long long)best.combinations, best.value, best.usd,
                     (long long)best.ties);
        for (int32_t k = 1; k < 4; k++) { /* neighbours, though nothing of them was written down */
            double bw_Bps[D];
            const struct whole_step *steps[] = { &d.whole.up[k], &d.whole.down[k] };
            for (int j = 0; j < 2; j++) {
                memcpy(bw_Bps, d.bw_Bps, sizeof bw_Bps);
                if (!steps[j]->there)
                    continue;
                bw_Bps[k] = steps[j]->bw_Bps;
                assert_close(steps[j]->cost_usd, design_point_usd(&s, bw_Bps, e), 1e-14);
                assert_close(fabs(bw_Bps[k] - d.bw_Bps[k]), topo_port_step_Bps(&s.net, k, &s.parts), 1e-12);
                assert_close(steps[j]->time_s, step_time(&s.workloads[0].fn, bw_Bps), 1e-14);
                assert_int_equal(
                    steps[j]->broken >= 0,
                    steps[j]->cost_usd > cases[i].usd || isfinite(cases[i].watt) ? steps[j]->broken >= 0 : 0);
                assert_int_equal(steps[j]->late,
                                 s.objective == ALLOC_COST && steps[j]->time_s > s.time_limit_s);
                late += steps[j]->late;
            }
        }
        bounded += d.whole.n_points > 32768;
    }
    assert_true(bounded >= 3 && late > 0);
}

/* 4 10^7 designs take a quarter of a second where nothing slows the program down; their bills alone would
 * take a minute. */
TEST(ten_million_designs_are_bounded_and_not_tried)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    open_tree(&s, "16, 8, 8", 1200, "constraints: [ usd <= 250e6 ]\n");
    clock_t start = clock();
    OK(design_solve(&d, &s, e));
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_true(d.verified && d.whole.n_points > 1e7);
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
}

TEST(neighbours_cost_what_their_bills_say)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    open_study(&s,
               "    - { name: a, shape: ring, size: 4, tier: In }\n    - { name: b, shape: switch, size: 16, "
               "tier: Out }\n",
               "constraints: [ usd <= 900e3 ]\n");
    OK(design_solve(&d, &s, e));
    for (int32_t k = 0; k < 2; k++) {
        double bw_Bps[D], time_s;
        memcpy(bw_Bps, d.bw_Bps, sizeof bw_Bps);
        bw_Bps[k] += k ? 25e9 : 20e9;
        assert_true(d.whole.up[k].there);
        assert_close(d.whole.up[k].bw_Bps, bw_Bps[k], 1e-15);
        assert_close(d.whole.up[k].cost_usd, design_point_usd(&s, bw_Bps, e), 1e-15);
        OK(design_time(&time_s, &s, bw_Bps, e));
        assert_close(d.whole.up[k].time_s, time_s, 1e-12);
        assert_int_equal(d.whole.up[k].broken >= 0, d.whole.up[k].cost_usd > 900e3);
    }
}

/* A step is what one part more of each link gives: what lies between two steps costs what the upper does, and
 * the upper costs more. Shapes that are bought as something else show here. */
TEST(a_step_is_where_the_bill_changes)
{
    static const char *const dims[] = {
        "    - { shape: ring, size: 5, tier: In }\n",
        "    - { shape: ring, size: 2, tier: In }\n",
        "    - { shape: line, size: 4, tier: In }\n",
        "    - { shape: full, size: 6, tier: In }\n",
        "    - { shape: switch, size: 24, tier: Out }\n",
        "    - { shape: switch, size: 8, planes: 2, tier: Out }\n",
        "    - { shape: fat-tree, sizes: [4, 6], taper: 2, tier: Out }\n",
        "    - { shape: fat-tree, sizes: [4, 6], taper: free, tier: Out }\n",
        "    - { shape: fat-tree, sizes: [2, 4], taper: free, planes: 2, tier: Out }\n",
        "    - { shape: dragonfly, sizes: [2, 4, 9], links: 2, tier: Out }\n",
        "    - { shape: dragonfly+, hosts: 2, leaves: 2, spines: 2, links: 2, groups: 5, tier: Out }\n",
        "    - { shape: slim-fly, hosts: 2, q: 4, tier: Out }\n",
        "    - { shape: hyperx, sizes: [3, 4], tier: Out }\n",
        "    - { shape: hammingmesh, sizes: [2, 2, 4, 4], tier: Out }\n",
        "    - { shape: switch, size: 8, nics: 0.5, tier: Out }\n",
        "    - { shape: fat-tree, sizes: [4, 4], taper: free, nics: 2, tier: Out }\n",
        "    - { shape: torus, sizes: [4, 4], tier: In }\n",
    };
    int stepped = 0;
    for (size_t i = 0; i < COUNT_OF(dims); i++) {
        KEEP(struct design_point, s, design_point_free);
        open_study(&s, dims[i], "constraints: [ usd <= 1e9 ]\n");
        const struct topo_network *net = &s.net;
        for (int32_t d = 0; d < net->n_dims; d++) {
            double step_Bps = topo_port_step_Bps(net, d, &s.parts), at[D];
            if (step_Bps == 0)
                continue;
            for (int k = 1; k <= 3; k++) {
                double usd[3];
                for (int j = 0; j < 3; j++) { /* k steps, half a step more, k + 1 steps */
                    for (int32_t g = 0; g < net->n_dims; g++) {
                        double one_Bps = topo_port_step_Bps(net, g, &s.parts);
                        at[g] = g > 0 && one_Bps == 0 ? net->dims[g].tie * at[g - 1]
                                                      : 4 * topo_port_step_Bps(net, 0, &s.parts);
                        at[g] = g > 0 && one_Bps > 0 ? one_Bps * 3 : at[g];
                        if (g == d)
                            at[g] = step_Bps * (k + 0.5 * j);
                    }
                    usd[j] = design_point_usd(&s, at, NULL);
                    /* The search relies on it: fractions cost no more. */
                    assert_false(design_point_fraction_usd(&s, at) > usd[j] * (1 + 1e-9));
                }
                if (isnan(usd[0]) || isnan(usd[2]))
                    continue;
                stepped++;
                /* Links up of a level that is tied may be fewer in between. */
                bool tied = d + 1 < net->n_dims && net->dims[d + 1].tie > 0;
                if (!((tied ? usd[1] <= usd[2] : usd[1] == usd[2]) && usd[2] > usd[0]))
                    fail_msg("%s: dimension %d, %d steps of %g: %.17g, %.17g, %.17g USD", dims[i], d, k,
                             step_Bps, usd[0], usd[1], usd[2]);
            }
        }
    }
    assert_true(stepped > 20);
}

/* At most the total, and less by less than a link of 20 GB/s, the smallest step. */
TEST(a_total_is_met_as_far_as_ports_go)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    open_study(&s,
               "    - { name: a, shape: ring, size: 4, tier: In }\n    - { name: b, shape: switch, size: 16, "
               "tier: Out }\n",
               "total_GBps: 133\nobjective: cost\ntime_limit_s: 1\n");
    OK(design_solve(&d, &s, e));
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_true(d.total_Bps <= 133e9 && d.total_Bps > 113e9);
}

/* Adapters of two ports of 25 GB/s: two axes with a link each share one, four links take two; links that are
 * slower than a port take one each. */
TEST(adapters_serve_links_of_several_axes)
{
    CASES(const char *dims; int64_t nics) = {
        { "{ shape: torus, sizes: [2, 2], bw_GBps: 50, tier: Out }", 4 },
        { "{ shape: torus, sizes: [4, 4], bw_GBps: 100, tier: Out }", 2 * 16 },
        { "{ shape: torus, sizes: [4, 4, 4], bw_GBps: 60, tier: Out }", 3 * 64 },
        { "{ shape: torus, sizes: [2, 2, 2], bw_GBps: 75, tier: Out }", 2 * 8 },
        { "{ shape: torus, sizes: [4, 4, 4], ocs: true, bw_GBps: 60, tier: Out }", 3 * 64 },
        { "{ shape: hammingmesh, sizes: [2, 2, 2, 2], bw_GBps: 100, tier: Out }", 2 * 16 },
        { "{ shape: hammingmesh, sizes: [2, 2, 2, 2], planes: 2, bw_GBps: 200, tier: Out }", 4 * 16 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        struct topo_bill bill;
        double bw_Bps[D];
        char dims[256];
        snprintf(dims, sizeof dims, "    - %s\n", cases[i].dims);
        open_study(&s, dims, "split: given\n");
        topo_get_bandwidths(bw_Bps, &s.net);
        OK(topo_build_bill(&bill, &s.net, &s.parts, bw_Bps, e));
        assert_int_equal(bill.nics, cases[i].nics);
        assert_close(bill.nic_usd, 900.0 * (double)cases[i].nics, 1e-14);
        assert_false(design_point_fraction_usd(&s, bw_Bps) > bill.usd.typ * (1 + 1e-9));
        topo_bill_free(&bill);
    }
}

TEST(given_bandwidths_cost_what_carries_them)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    double whole[] = { 20e9, 50e9 };
    open_study(&s,
               "    - { name: a, shape: ring, size: 4, tier: In, bw_GBps: 15 }\n    - { name: b, shape: "
               "switch, size: 16, "
               "tier: Out, bw_GBps: 30 }\n",
               "split: given\n");
    OK(design_for_row(&d, &s, e));
    assert_close(d.cost_usd, design_point_usd(&s, whole, e), 1e-15);
    assert_true(d.usd_fraction < d.cost_usd);
}

/* 135 MB in 3 ms over rings of 4 whose links give 10 GB/s each way: 3 of them side by side, 12 to a ring, 8
 * rings; of the other dimension, through which nothing is sent, nothing. */
TEST(a_dimension_without_traffic_is_not_bought)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    FOLDER(f);
    OK(design_point_load(
        &s,
        put(&f, "study.yaml",
            "network:\n  dims:\n"
            "    - { name: in, shape: ring, size: 4, tier: In }\n"
            "    - { name: out, shape: switch, size: 8, tier: Out }\n" CATALOGUE
            "workload: { name: w, groups: { g: { size: 4 } }, step: { sum: [ { compute_ms: 2 }, "
            "{ all-reduce: { size_MB: 90, group: g } } ] } }\n"
            "objective: cost\ntime_limit_s: 0.005\n"),
        NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e));
    OK(design_solve(&d, &s, e));
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_true(d.bw_Bps[0] == 60e9 && d.bw_Bps[1] == 0);
    assert_close(d.cost_usd, 8 * 12 * 30, 1e-12);
    assert_close(d.time_s, 2e-3 + 135e6 / 60e9, 1e-12);
}
