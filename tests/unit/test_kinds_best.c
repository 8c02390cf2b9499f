/*
 * weft best against the rows of a sweep: random small spaces in which machines, networks, prices, batches,
 * plans and limits vary, dense and with experts, bandwidths given and split, by every column that has a bound
 * and by some that have none. The best few, and the front over two to five columns, are those of all rows, to
 * the byte, whatever the number of threads; and no bound is above the value that it bounds.
 */
#include "kinds/design/explore/best.h"

#include <omp.h>

#include "kinds/design/ask/load.h"
#include "kinds/design/explore/book.h"
#include "kinds/design/explore/search.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/explore/uncertain.h"
#include "kinds/design/explore/whatif.h"
#include "tests/unit/designs.h"
#include "tests/unit/draw_text.h"
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"

enum { MOST_POINTS = 200 };

/* ---- studies ---- */

struct drawn {
    char text[TEXT], by[64], limit[64];
    bool searched, given, mixed, factored, priced;
};

/* SOAK: more studies, and larger ones. */
static bool soaks(void)
{
    return getenv("SOAK") != NULL;
}

static const struct file files[] = {
    { "small.yaml",
      "peak_TFLOPS: 1\npeak_8bit_TFLOPS: 2\nmem_GBps: 100\nmem_GB: 0.02\nusd: 1000\nwatt: 400\n" },
    { "large.yaml", "peak_TFLOPS: 3\nmem_GBps: 200\nmem_GB: 0.1\nusd: 4000\nwatt: 700\n" },
    { "tiny.yaml", "peak_TFLOPS: 1\nmem_GBps: 100\nmem_GB: 0.0005\nusd: 500\nwatt: 200\n" },
    { "rates.yaml",
      "name: rates\nrates:\n  - { tier: A, link_usd_per_GBps: 4 }\n"
      "  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n" },
};

static void draw_network(struct drawn *d, struct rng *r)
{
    add(d->text,
        "network:\n  npu: %s\n  dims:\n"
        "    - { name: node, shape: %s, size: %s, tier: A, latency_ns: 100, %s }\n"
        "    - { name: pod, shape: switch, size: %s, tier: B, latency_ns: 500, %s }\nparts: rates.yaml\n",
        PICK_WORD(r, "small.yaml", "large.yaml"), PICK_WORD(r, "ring", "full"), PICK_WORD(r, "2", "4"),
        d->given ? "bw_GBps: 20" : "max_GBps: 80", PICK_WORD(r, "2", "4"),
        d->given ? "bw_GBps: 5" : "min_GBps: 0.1");
    if (!d->given)
        add(d->text, "total_GBps: 30\n");
}

static void draw_model(struct drawn *d, struct rng *r, const char *name)
{
    const char *experts = chance(r, 0.4) ? ", moe: { experts: 4, top_k: 2, ffn: 96 }" : "";
    add(d->text,
        "name: %s, model: { layers: 4, hidden: %s, heads: 4, vocab: 512, seq: 64, attention: flash%s }, "
        "parallel: { batch: 16%s }",
        name, PICK_WORD(r, "128", "256"), experts,
        PICK_WORD(r, "", ", overlap_tp: split", ", overlap_dp: false"));
    if (d->searched)
        add(d->text, ", search: { top: 1, interleave: [1], schedule: [1f1b], context: [ring]%s }",
            d->factored ? ", zero: [1], recompute: [none], micro_batch: [1, 2]"
                        : PICK_WORD(r, "", ", tp: [1, 2]", ", zero: [1, 2]"));
}

/* One, or two in turn. */
static void draw_workload(struct drawn *d, struct rng *r)
{
    add(d->text, d->mixed ? "workloads:\n  - { workload: { " : "workload: { ");
    draw_model(d, r, "w");
    if (d->mixed) {
        add(d->text, " }, weight: %s }\n  - { workload: { ", PICK_WORD(r, "1", "0.5", "3"));
        draw_model(d, r, "v");
    }
    add(d->text, d->mixed ? " } }\n" : " }\n");
}

/* An axis each with some chance, of every sort; the product is small. */
static void draw_axes(struct drawn *d, struct rng *r)
{
    struct axis {
        const char *text;
        int n;
    };
    const struct axis any[] = {
        { "network.npu: [small.yaml, large.yaml, tiny.yaml]", 3 },
        { "network.dims.pod.size: { from: 2, to: 8, points: 3, scale: log }", 3 },
        { "workload.parallel.batch: [8, 16, 48]", 3 },
        { "network.dims.node.latency_ns: [100, 100, 5000]", 3 },
        { "network.dims.pod.tier: [A, B]", 2 },
        { "system.npu_usd: [1000, 2000]", 2 },
        { "zip: { network.dims.node.efficiency: [1, 0.5], network.dims.pod.latency_ns: [1, 900] }", 2 },
    };
    const struct axis given[] = { { "network.dims.node.bw_GBps: [1, 10, 40]", 3 },
                                  { "network.dims.pod.bw_GBps: [2, 2, 8]", 3 } };
    const struct axis split[] = { { "total_GBps: [4, 20, 20, 90]", 4 },
                                  { "network.dims.node.max_GBps: [0.5, 10]", 2 } };
    const struct axis *own = d->given ? given : split;
    int points = 1;
    add(d->text, "vary:\n");
    for (size_t i = 0; i < COUNT_OF(any) + COUNT_OF(given); i++) {
        const struct axis *a = i < COUNT_OF(any) ? &any[i] : &own[i - COUNT_OF(any)];
        int most = (d->searched && !d->given ? 9 : d->searched ? 60 : MOST_POINTS) / (soaks() ? 1 : 3);
        if (!chance(r, 0.45) || points * a->n > most)
            continue;
        points *= a->n;
        bool of_first = d->mixed && strncmp(a->text, "workload.", 9) == 0;
        add(d->text, "  %s%s\n", of_first ? "workloads[0]." : "", a->text);
    }
    if (points == 1)
        add(d->text, "  %s\n", own[0].text);
    if (chance(r, 0.2))
        add(d->text, "where: [ \"n_npus <= 16\" ]\n");
}

static void draw_study(struct drawn *d, uint64_t seed)
{
    RNG(r, 81, seed);
    *d = (struct drawn){ .searched = chance(r, 0.6), .given = chance(r, 0.6), .mixed = chance(r, 0.4) };
    d->given = d->given || (d->mixed && d->searched); /* of several, searched plans are not split */
    draw_network(d, r);
    draw_workload(d, r);
    add(d->text, "model: %s\n", PICK_WORD(r, "alpha-beta", "alpha-beta", "bandwidth"));
    add(d->text, "system: { npu_usd: 1500, npus_per_node: 2 }\n");
    if (d->given)
        add(d->text, "split: given\n");
    else
        add(d->text, "objective: %s\n",
            d->searched ? "time" : PICK_WORD(r, "time", "perf_per_cost", "tco_per_token"));
    draw_axes(d, r);
    snprintf(d->by, sizeof d->by, "%s",
             PICK_WORD(r, "time_s", "cost_usd", "watt_peak", "usd_year", "usd_per_Mtoken", "tokens_per_s",
                       "mfu", "time_s*cost_usd", "time_s*watt_peak", "nic_GBps"));
    snprintf(d->limit, sizeof d->limit, "%s",
             PICK_WORD(r, "", "", "watt_peak <= 12000", "time_s <= 0.05", "cost_usd + 0.1*usd_year <= 20000",
                       "tokens_per_s >= 20000", "goodput >= 0.5"));
}

/* Networks of every shape and size, plan and split chosen for each, at several totals. */
static void draw_factored(struct drawn *d, uint64_t seed)
{
    RNG(r, 82, seed);
    *d = (struct drawn){ .searched = true, .factored = true };
    const char *objective = PICK_WORD(r, "time", "time", "perf_per_cost", "cost");
    draw_workload(d, r);
    add(d->text, "parts: rates.yaml\nmodel: alpha-beta\nobjective: %s\n", objective);
    if (strcmp(objective, "cost") == 0)
        add(d->text, "time_limit_s: %s\n", PICK_WORD(r, "0.05", "0.2", "1"));
    if (chance(r, 0.4))
        add(d->text, "constraints: [ %s ]\n", PICK_WORD(r, "outer <= 3", "inner >= 1", "usd <= 2000"));
    if (chance(r, 0.3))
        add(d->text, "simulation: { endpoint_ns: 200 }\n");
    add(d->text,
        "vary:\n  network:\n    factor:\n      npus: %s\n      npu: %s\n      dims: 2\n      tiers:\n"
        "        - { name: inner, tier: A, dims: 1, shapes: [ring, full], latency_ns: %s%s }\n"
        "        - { name: outer, tier: B, dims: 1, shapes: [%s], latency_ns: 500 }\n",
        PICK_WORD(r, "8", "8", "6"), PICK_WORD(r, "small.yaml", "large.yaml"),
        PICK_WORD(r, "0", "100", "20000"), PICK_WORD(r, "", ", max_GBps: 12", ", efficiency: 0.7"),
        PICK_WORD(r, "ring, switch", "full", "line, full"));
    add(d->text, "  total_GBps: %s\n", PICK_WORD(r, "[4, 20]", "[20, 4, 90]", "[10]"));
    snprintf(d->by, sizeof d->by, "%s",
             strcmp(objective, "time") == 0
                 ? PICK_WORD(r, "time_s", "time_s", "tokens_per_s", "time_s*cost_usd")
             : strcmp(objective, "perf_per_cost") == 0 ? "time_s*cost_usd"
                                                       : "cost_usd");
    snprintf(d->limit, sizeof d->limit, "%s", PICK_WORD(r, "", "", "time_s <= 0.5", "cost_usd <= 30000"));
}

/* Networks of few sizes and many shapes, whose splits cost differently: a front of time and price. */
static void draw_priced(struct drawn *d, uint64_t seed)
{
    RNG(r, 85, seed);
    *d = (struct drawn){ .by = "time_s", .priced = true };
    add(d->text,
        "workload: { name: w, model: { layers: 4, hidden: %s, heads: 4, vocab: 512, seq: 64 }, parallel: { "
        "batch: 16%s }, search: { top: 1, zero: [1], recompute: [none], schedule: [1f1b] } }\n",
        PICK_WORD(r, "128", "256"), PICK_WORD(r, "", ", overlap_tp: split", ", overlap_dp: false"));
    add(d->text,
        "parts: rates.yaml\nmodel: alpha-beta\n"
        "vary:\n  network:\n    factor:\n      npus: 16\n      npu: large.yaml\n      dims: { from: 2, to: 3 "
        "}\n"
        "      tiers:\n"
        "        - { name: inner, tier: A, dims: 1, shapes: [ring, full], latency_ns: %s }\n"
        "        - { name: outer, tier: B, dims: { from: 1, to: 2 }, shapes: [full, switch], latency_ns: 500 "
        "}\n"
        "  total_GBps: %s\n",
        PICK_WORD(r, "0", "100"), PICK_WORD(r, "[0.1, 0.2]", "[1, 1.1]", "[4, 10]"));
}

/* Networks that are as fast as switches of their sizes without latency, which bounds all shapes. */
static void draw_switches(struct drawn *d, uint64_t seed)
{
    (void)seed;
    *d = (struct drawn){ .by = "time_s" };
    add(d->text, "workload: { name: w, model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64 }, "
                 "parallel: { batch: 16 }, search: { top: 1, tp: [1, 2], zero: [1], recompute: [none] } }\n"
                 "model: alpha-beta\n"
                 "vary:\n  network: { factor: { npus: 8, npu: small.yaml, dims: 2, shapes: [switch] } }\n"
                 "  total_GBps: [4, 20]\n");
}

/* Networks so alike that a plan is split to tell whether one is better than the best that is known. */
static void draw_close(struct drawn *d, uint64_t seed)
{
    (void)seed;
    *d = (struct drawn){ .by = "time_s" };
    add(d->text,
        "workload: { name: w, model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64, attention: "
        "flash }, parallel: { batch: 8 }, search: { top: 1, zero: [1], recompute: [none], micro_batch: [1, "
        "2], schedule: [1f1b], interleave: [1], context: [ring] } }\n"
        "model: alpha-beta\n"
        "vary:\n  network:\n    factor:\n      npus: 8\n      npu: small.yaml\n      dims: 2\n      tiers:\n"
        "        - { name: inner, dims: 1, shapes: [ring, full], latency_ns: 100 }\n"
        "        - { name: outer, dims: 1, shapes: [ring, switch], latency_ns: 500 }\n"
        "  total_GBps: [10]\n");
}

/* ---- every row ---- */

static double value_of(const struct best_by *by, const struct table *t, int64_t row)
{
    double product = 1;
    for (int32_t i = 0; i < by->n; i++)
        product *= keep_number(t, row, table_find(t, by->factors[i].name));
    return product;
}

static bool is_same(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fabs(x);
}

static bool is_cheaper(const struct table *t, int64_t a, int64_t b)
{
    int32_t year = table_find(t, "usd_year");
    bool owned = year >= 0 && !isnan(keep_number(t, a, year));
    int32_t usd = owned ? year : table_find(t, "cost_usd");
    double dear = keep_number(t, a, usd), other = keep_number(t, b, usd);
    return !is_same(dear, other) && dear < other;
}

/* The row of the best value that is left; -1: none is. */
static int64_t best_left(const bool *gone, const struct table *rows, const struct best_by *by)
{
    int64_t best = -1;
    for (int64_t row = 0; row < rows->n_rows; row++) {
        double x = gone[row] ? (double)NAN : value_of(by, rows, row),
               y = best < 0 ? (double)NAN : value_of(by, rows, best);
        if (!gone[row] && (best < 0 || (by->factors[0].large ? x > y : x < y)))
            best = row;
    }
    return best;
}

/* The best few values of all rows that are results within the limits: of each the cheapest row, of equally
 * dear ones the first, and how many more are as good. Shapes [n]. */
static int64_t best_of_all(int64_t *best, int64_t *ties, int64_t most, const struct table *rows,
                           const struct keep_rule *rule, const struct best_by *by)
{
    bool gone[MOST_POINTS];
    int64_t n = 0, first;
    struct keep *k;
    MUST(keep_build(&k, rule, rows, e));
    for (int64_t row = 0; row < rows->n_rows; row++)
        gone[row] =
            !keep_is_design(k, rows, row) || !keep_is_within(k, rows, row) || isnan(value_of(by, rows, row));
    for (; n < most && (first = best_left(gone, rows, by)) >= 0; n++) {
        double value = value_of(by, rows, first);
        best[n] = ties[n] = -1;
        for (int64_t row = 0; row < rows->n_rows; row++) {
            if (gone[row] || !is_same(value, value_of(by, rows, row)))
                continue;
            gone[row] = true;
            ties[n]++;
            if (best[n] < 0 || is_cheaper(rows, row, best[n]))
                best[n] = row;
        }
    }
    keep_free(k);
    return n;
}

/* ---- one against the other ---- */

struct tally {
    int n_studies, n_solved, n_points, n_rows, n_beyond;
    int64_t by[N_BEST_BOUNDS];
};

static void same_rows(const struct table *got, const struct table *all, const int64_t *best, int64_t n)
{
    KEEP(struct text, a, text_free) = { 0 };
    KEEP(struct text, b, text_free) = { 0 };
    assert_int_equal(got->n_rows, n);
    for (int64_t i = 0; i < n; i++)
        for (int32_t c = 0; c < all->n_cols; c++) {
            table_cell_text(&a, got, i, c);
            table_cell_text(&b, all, best[i], c);
            text_puts(&a, ",");
            text_puts(&b, ",");
        }
    assert_string_equal(text_str(&a), text_str(&b));
}

static int64_t sum_of(const struct best_answer *a)
{
    int64_t n = a->n_left_out + a->n_open;
    for (int i = 0; i < N_BEST_BOUNDS; i++)
        n += a->n_ruled_out[i];
    return n;
}

static void compare(struct tally *tally, const struct study *s, const struct drawn *d,
                    const struct table *all, int32_t top, int32_t threads)
{
    struct keep_rule rule = { .kind = &design_kind };
    struct best_ask ask = {
        .study = s, .rule = &rule, .top = top, .threads = threads, .meets = 2 * (threads - 1)
    };
    int64_t best[MOST_POINTS] = { 0 }, ties[MOST_POINTS];
    KEEP(struct table, columns, table_free) = { 0 };
    study_put_columns(&columns, s, TABLE_ROWS);
    ask.columns = &columns;
    if (*d->limit)
        MUST(keep_take_limit(&rule, d->limit, &columns, e));
    TEXT(by, "%s%s", strcmp(d->by, "goodput") == 0 ? "max:" : "", d->by);
    MUST(best_take_by(&ask.by, &rule, text_str(&by), &columns, e));
    int64_t n = best_of_all(best, ties, top, all, &rule, &ask.by);
    KEEP(struct best_answer, a, best_free) = { 0 };
    MUST(best_find(&a, &ask, e));
    same_rows(&a.rows, all, best, n);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(a.n_ties[i], ties[i]);
    assert_int_equal(a.n_above, 0);
    assert_int_equal(a.n_open, 0);
    assert_true(sum_of(&a) <= a.n_points);
    assert_true(n == 0 || a.proved || a.n_unproved > 0);
    assert_true(!isfinite(a.bound) || n < top ||
                (ask.by.factors[0].large ? a.bound <= a.values[n - 1] * (1 + 1e-8)
                                         : a.bound >= a.values[n - 1] * (1 - 1e-8)));
    tally->n_solved += (int)a.n_solved;
    tally->n_points += (int)a.n_points;
    tally->n_rows += (int)n;
    for (int i = 0; i < N_BEST_BOUNDS; i++)
        tally->by[i] += a.n_ruled_out[i];
    tally->n_beyond += a.limits[0].n > 0;
    keep_rule_free(&rule);
}

/* 2 to 5 columns, and maybe the first key to hold rows apart by. */
static void draw_front(struct keep_rule *rule, const struct drawn *d, const struct study *s,
                       const struct table *columns, uint64_t seed)
{
    /* Known to the last digit where bandwidths are given, bounded, and rare: then no point is ruled out. */
    static const char *const pool[] = { "cost_usd",       "watt_peak", "usd_year",       "time_s",
                                        "usd_per_Mtoken", "watt_site", "tokens_per_s",   "max:time_s",
                                        "min:total_GBps", "max:mfu",   "max:total_GBps", "max:cost_usd" };
    RNG(r, 84, seed);
    const double sort = rng_uniform(r);
    const int64_t most = sort < 0.15   ? 3
                         : sort < 0.85 ? 7
                                       : COUNT_OF(pool),
                  wanted = 2 + rng_below(r, most == 3 ? 2 : FRONT_MAX_COLUMNS - 1);
    for (int32_t i = 0; d->priced && i < 2; i++)
        MUST(keep_take_column(&rule->front[rule->n_front++], rule, i ? "cost_usd" : "time_s", columns, e));
    while (!d->priced && rule->n_front < wanted) {
        bool is = false;
        struct keep_column *x = &rule->front[rule->n_front];
        MUST(keep_take_column(x, rule, pool[rng_below(r, most)], columns, e));
        for (int32_t i = 0; i < rule->n_front; i++)
            is = is || strcmp(rule->front[i].name, x->name) == 0;
        rule->n_front += !is;
    }
    if (d->priced)
        return;
    if (*d->limit)
        MUST(keep_take_limit(rule, d->limit, columns, e));
    if (s->tables[TABLE_ROWS].axis[0] && chance(r, 0.4))
        MUST(keep_take_per(rule, s->sweep.keys[0].path, columns, e));
}

static int row_by_point(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Of all points, or of a part of them; its rows are added to those of others. */
static void add_front(struct table *rows, struct tally *tally, const struct best_ask *ask)
{
    KEEP(struct best_answer, a, best_free) = { 0 };
    MUST(best_find(&a, ask, e));
    for (int64_t i = 0; i < a.rows.n_rows; i++)
        table_copy_row(rows, &a.rows, i);
    assert_int_equal(a.n_above, 0);
    assert_int_equal(a.n_open, 0);
    assert_true(a.rows.n_rows == 0 || a.proved || a.n_unproved > 0);
    tally->n_solved += (int)a.n_solved;
    tally->n_points += (int)a.n_points;
    tally->n_rows += (int)a.rows.n_rows;
    for (int i = 0; i < N_BEST_BOUNDS; i++)
        tally->by[i] += a.n_ruled_out[i];
}

/* The front of each part is that of its rows, as a sweep keeps it. */
static void compare_front(struct tally *tally, const struct study *s, const struct drawn *d,
                          const struct table *all, uint64_t seed, int32_t threads)
{
    static const int32_t first_key = 0;
    struct keep_rule rule = { .kind = &design_kind };
    struct study some = *s;
    const struct best_ask ask = {
        .study = &some, .columns = all, .rule = &rule, .threads = threads, .meets = threads / 2
    };
    int64_t order[MOST_POINTS], at[MOST_POINTS][2], n_gone;
    const int64_t *gone;
    struct keep *k;
    struct sweep_slice *parts = NULL;
    int32_t n = 1;
    KEEP(struct table, kept, table_free) = { 0 };
    KEEP(struct table, rows, table_free) = { 0 };
    draw_front(&rule, d, s, all, seed);
    MUST(keep_build(&k, &rule, all, e));
    MUST(keep_offer(k, all, e));
    MUST(keep_changes(k, &kept, &gone, &n_gone, e));
    if (rule.n_per)
        MUST(sweep_find_parts(&parts, &n, &s->sweep, &first_key, 1, MOST_POINTS, e));
    study_put_columns(&rows, s, TABLE_ROWS);
    for (int32_t i = 0; i < n; i++) {
        some.sweep.part = parts ? &parts[i] : NULL;
        add_front(&rows, tally, &ask);
    }
    for (int64_t i = 0; i < rows.n_rows; i++)
        at[i][0] = i, at[i][1] = table_count(&rows, i, 0);
    qsort(at, (size_t)rows.n_rows, sizeof *at, row_by_point);
    for (int64_t i = 0; i < rows.n_rows; i++)
        order[i] = at[i][0];
    same_rows(&kept, &rows, order, rows.n_rows);
    free(parts);
    keep_free(k);
    keep_rule_free(&rule);
}

/* One after another by one hand, whole: a row that is trimmed lacks columns. */
static void all_rows(struct table *t, const struct study *s)
{
    KEEP(struct units, order, units_free);
    struct runner *hand;
    struct sweep_counts n = { 0 };
    MUST(units_build(&order, &s->sweep, 1, NULL, e));
    const struct block_job job = { .study = s, .order = &order };
    MUST(runner_build(&hand, &job, e));
    for (int64_t u = 0; u < order.n_units; u++) {
        struct sweep_unit unit;
        units_find(&unit, &order, u);
        MUST(runner_unit(hand, &unit, t, &n, e));
    }
    runner_free(hand);
}

/* @p tally: of the best few, and of fronts. */
static void try_study(struct tally tally[2], void (*draw)(struct drawn *d, uint64_t seed), uint64_t seed)
{
    struct drawn d;
    KEEP(struct study, s, study_close) = { 0 };
    KEEP(struct table, all, table_free) = { 0 };
    FOLDER(f);
    draw(&d, seed);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        put(&f, files[i].name, files[i].text);
    MUST(designs_open(&s, put(&f, "study.yaml", d.text), NULL, 0, e));
    study_put_columns(&all, &s, TABLE_ROWS);
    all_rows(&all, &s);
    /* Of every point all bounds are found where none is ruled out. */
    const int32_t threads = seed % 2 ? 1 : 3, few = 1 + (int32_t)(seed % 4);
    if (!d.priced)
        compare(tally, &s, &d, &all, MOST_POINTS, threads);
    if (!d.priced)
        compare(tally, &s, &d, &all, few, 4 - threads);
    if (soaks() && !d.priced)
        compare(tally, &s, &d, &all, few, threads);
    for (uint64_t i = 0; i < (soaks() ? 3 : 1); i++)
        compare_front(&tally[1], &s, &d, &all, 3 * seed + i, threads);
    tally->n_studies++;
}

TEST(the_best_are_those_of_all_rows)
{
    omp_set_num_threads(1); /* the searches are small */
    struct tally t[2] = { { 0 } };
    enum { STUDIES = 70 };
    int n = soaks() ? 2000 : repeats(STUDIES);
    for (int i = 0; i < n; i++)
        try_study(t, draw_study, (uint64_t)i);
    /* That it says something: many points are not solved, and of all studies every bound rules some out. */
    print_message("%d studies: %d points, %d solved, %d rows; ruled out %lld %lld %lld %lld; limits in %d\n",
                  t->n_studies, t->n_points, t->n_solved, t->n_rows, (long long)t->by[BEST_FLOOR],
                  (long long)t->by[BEST_FREE], (long long)t->by[BEST_POINT], (long long)t->by[BEST_WIDEST],
                  t->n_beyond);
    print_message("fronts: %d points, %d solved, %d rows; ruled out %lld %lld %lld %lld\n", t[1].n_points,
                  t[1].n_solved, t[1].n_rows, (long long)t[1].by[BEST_FLOOR], (long long)t[1].by[BEST_FREE],
                  (long long)t[1].by[BEST_POINT], (long long)t[1].by[BEST_TIME]);
    if (!repeats_all(STUDIES))
        return;
    assert_true(t[1].n_solved < 0.95 * t[1].n_points);
    for (int i = BEST_POINT; i <= BEST_TIME; i++)
        assert_true(t[1].by[i] > 0);
    assert_true(t->n_solved < 0.9 * t->n_points);
    assert_true(t->n_rows > n);
    assert_true(t->n_beyond > n / 20);
    for (int i = 0; i <= BEST_WIDEST; i++)
        assert_true(t->by[i] > 0);
    /* Bounds rule out as much as they did when this was written. */
    assert_true(soaks() || (t->n_solved <= 2510 && t[1].n_solved <= 1252));
}

TEST(the_best_split_of_all_networks_is_that_of_all_rows)
{
    omp_set_num_threads(1);
    struct tally t[2] = { { 0 } };
    enum { STUDIES = 8 };
    int n = soaks() ? 400 : repeats(STUDIES);
    for (int i = 0; i < n; i++)
        try_study(t, draw_factored, 16 + (uint64_t)i); /* of the first few every bound rules some out */
    try_study(t, draw_switches, 0);
    try_study(t, draw_close, 0);
    print_message("%d studies: %d points, %d solved; ruled out by sizes %lld, by splits %lld\n", t->n_studies,
                  t->n_points, t->n_solved, (long long)t->by[BEST_SIZES], (long long)t->by[BEST_SPLIT]);
    if (!repeats_all(STUDIES))
        return;
    assert_true(t->by[BEST_SIZES] > 0);
    assert_true(t->by[BEST_SPLIT] > 0);
    assert_true(soaks() || (t->n_solved <= 210 && t[1].n_solved <= 145));
}

TEST(the_front_of_time_and_price_of_all_splits_is_that_of_all_rows)
{
    omp_set_num_threads(1);
    struct tally t[2] = { { 0 } };
    enum { STUDIES = 2 };
    int n = soaks() ? 100 : repeats(STUDIES);
    for (int i = 0; i < n; i++)
        try_study(t, draw_priced, (uint64_t)i);
    print_message("%d studies: %d points, %d solved; ruled out by time and price together %lld\n",
                  t->n_studies, t[1].n_points, t[1].n_solved, (long long)t[1].by[BEST_PRICED]);
    if (repeats_all(STUDIES))
        assert_true(t[1].by[BEST_PRICED] > t[1].n_points / 10);
}

/* ---- what if ---- */

/* Is a point other than @p best the best of all, each solved with the input at @p x? */
static bool another_is_best(const struct best_ask *ask, const struct whatif_line *line, double x,
                            int64_t best)
{
    struct study shifted = *ask->study;
    struct best_ask all = *ask;
    char number[NUM_TEXT], *path = strdup(line->path);
    double values[MOST_POINTS];
    int64_t list[MOST_POINTS], n = ask->study->sweep.n_points;
    bool is = false;
    shifted.sweep.shift = (struct sweep_shift){ .at = { path, num_format(number, x) },
                                                .key = line->key,
                                                .value = line->product };
    all.study = &shifted;
    for (int64_t i = 0; i < n; i++)
        list[i] = i;
    MUST(best_solve(values, &all, list, (int32_t)n, e));
    double sign = ask->by.factors[0].large ? -1 : 1, own = sign * values[best];
    for (int64_t i = 0; i < n; i++)
        is = is ||
             (!isnan(values[i]) && i != best && (isnan(own) || sign * values[i] < own - 1e-8 * fabs(own)));
    free(path);
    return is;
}

/* Of the sides that change nothing one in so many is solved at every point; one in 90 under sanitizers. */
static int32_t sides_to_one(void)
{
    return 90 / repeats(10);
}

static void try_whatif(int *n_lines, int *n_found, const char *text)
{
    KEEP(struct study, s, study_close) = { 0 };
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct best_answer, a, best_free) = { 0 };
    KEEP(struct whatif, w, whatif_free) = { 0 };
    struct keep_rule rule = { .kind = &design_kind };
    int64_t leaders[3];
    FOLDER(f);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        put(&f, files[i].name, files[i].text);
    MUST(designs_open(&s, put(&f, "study.yaml", text), NULL, 0, e));
    study_put_columns(&columns, &s, TABLE_ROWS);
    struct best_ask ask = { .study = &s, .columns = &columns, .rule = &rule, .top = 3, .threads = 1 };
    MUST(best_take_by(&ask.by, &rule, "usd_per_Mtoken", &columns, e));
    MUST(best_find(&a, &ask, e));
    if (!a.rows.n_rows)
        return;
    for (int64_t i = 0; i < a.rows.n_rows; i++)
        leaders[i] = table_count(&a.rows, i, table_find(&a.rows, "point"));
    MUST(whatif_find(&w, &ask, leaders, (int32_t)a.rows.n_rows, e));
    for (int32_t i = 0; i < w.n; i++) {
        const struct whatif_line *x = &w.lines[i];
        bool is = !isnan(x->value);
        if (!is && i % sides_to_one() != 0)
            continue;
        double before = x->at[1] + (is ? x->value - x->at[1] : x->end - x->at[1]) * (is ? 0.999 : 1);
        assert_false(another_is_best(&ask, x, before, leaders[0]));
        assert_true(!is || another_is_best(&ask, x, x->value + 1e-4 * (x->value - x->at[1]), leaders[0]) ||
                    x->value == x->end);
        *n_found += is;
    }
    *n_lines += w.n;
}

static const char machines[] =
    "network:\n  npu: small.yaml\n  dims:\n"
    "    - { name: node, shape: ring, size: 4, tier: A, latency_ns: 100, bw_GBps: 20 }\n"
    "    - { name: pod, shape: switch, size: 2, tier: B, latency_ns: 500, bw_GBps: 5 }\n"
    "parts: rates.yaml\nmodel: alpha-beta\nsplit: given\n"
    "workload:\n  name: w\n  model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64 }\n"
    "  parallel: { batch: 48 }\n  search: { top: 1 }\nsystem: { npu_usd: 1500, npus_per_node: 4 }\n"
    "vary:\n  zip: { network.npu: [small.yaml, large.yaml], system.npu_usd: [1500, 4000] }\n"
    "  network.dims.pod.bw_GBps: [2, 5, 10]\n";

/* Between what is and what is told no other point is best; from there on another one is. */
TEST(what_if_is_where_the_best_changes)
{
    struct drawn d;
    int n_lines = 0, n_found = 0;
    omp_set_num_threads(1);
    try_whatif(&n_lines, &n_found, machines);
    for (int i = 0; i < (soaks() ? 20 : 1); i++) {
        draw_study(&d, 5000 + (uint64_t)i);
        try_whatif(&n_lines, &n_found, d.text);
    }
    print_message("%d sides of inputs, %d change the best\n", n_lines, n_found);
    assert_true(n_found > 0);
}

/* The draws of the best machine beside all others within the noise, with one more axis. */
static void draw_best(struct whatif_share *one, struct whatif_rest *rest, const char *axis)
{
    KEEP(struct study, s, study_close) = { 0 };
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct best_answer, a, best_free) = { 0 };
    const struct keep_rule rule = { .kind = &design_kind };
    FOLDER(f);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        put(&f, files[i].name, files[i].text);
    TEXT(text,
         "%s%suncertain: { draws: 60, keys: { network.npu.peak_TFLOPS: { uniform: [0.05, 3], relative: true "
         "}, "
         "network.npu.mem_GBps: { uniform: [0.05, 2], relative: true } } }\n",
         machines, axis);
    MUST(designs_open(&s, put(&f, "study.yaml", text_str(&text)), NULL, 0, e));
    study_put_columns(&columns, &s, TABLE_ROWS);
    struct best_ask ask = { .study = &s, .columns = &columns, .rule = &rule, .top = 1, .threads = 1 };
    MUST(best_take_by(&ask.by, &rule, "usd_per_Mtoken", &columns, e));
    MUST(best_find(&a, &ask, e));
    const int64_t best = table_count(&a.rows, 0, table_find(&a.rows, "point"));
    MUST(whatif_draw(one, rest, &ask, &best, 1, e));
}

/* Designs that are as good as others are drawn too. */
TEST(draws_are_held_against_ties)
{
    struct whatif_share one;
    struct whatif_rest rest, twice;
    draw_best(&one, &rest, "");
    draw_best(&one, &twice, "  network.dims.node.latency_ns: [100, 100]\n");
    assert_true(rest.all && twice.all);
    assert_int_equal(twice.n, 2 * rest.n + 1);
}

/* What one leader's draws come to beside all designs within the noise is what they come to beside all. */
TEST(draws_are_held_against_all_designs_within_the_noise)
{
    KEEP(struct study, s, study_close) = { 0 };
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct best_answer, a, best_free) = { 0 };
    const struct keep_rule rule = { .kind = &design_kind };
    struct whatif_share all[6], one;
    struct whatif_rest none, rest;
    int64_t leaders[6];
    FOLDER(f);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        put(&f, files[i].name, files[i].text);
    TEXT(text,
         "%suncertain: { draws: 60, keys: { network.npu.peak_TFLOPS: { uniform: [0.05, 3], relative: true }, "
         "network.npu.mem_GBps: { uniform: [0.05, 2], relative: true } } }\n",
         machines);
    OK(designs_open(&s, put(&f, "study.yaml", text_str(&text)), NULL, 0, e));
    study_put_columns(&columns, &s, TABLE_ROWS);
    struct best_ask ask = { .study = &s, .columns = &columns, .rule = &rule, .top = 6, .threads = 1 };
    OK(best_take_by(&ask.by, &rule, "usd_per_Mtoken", &columns, e));
    OK(best_find(&a, &ask, e));
    assert_int_equal(a.rows.n_rows, 6);
    for (int64_t i = 0; i < 6; i++)
        leaders[i] = table_count(&a.rows, i, table_find(&a.rows, "point"));
    OK(whatif_draw(all, &none, &ask, leaders, 6, e));
    OK(whatif_draw(&one, &rest, &ask, leaders, 1, e));
    assert_true(none.n == 0 && rest.all && rest.n > 0);
    assert_close(one.best, all[0].best, 1e-12);
    assert_close(one.regret, all[0].regret, 1e-12);
    assert_close(one.best + rest.best, 1, 1e-12);
}

/* Distances are axes: a link of each of the 16 NPUs is of the cheapest medium that reaches, 100 or 400 USD.
 */
TEST(media_follow_the_distance_of_a_point)
{
    KEEP(struct study, s, study_close) = { 0 };
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct best_answer, a, best_free) = { 0 };
    const struct keep_rule rule = { .kind = &design_kind };
    FOLDER(f);
    put(&f, "parts.yaml",
        "name: p\ngrade: V\ncatalogue:\n"
        "  - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 1000 }\n"
        "  - { name: box, kind: switch, ports: 16, bw_GBps: 50, usd: 10000 }\n"
        "  - { name: far, kind: link, bw_GBps: 50, usd: 400, reach_m: 400 }\n"
        "  - { name: near, kind: link, bw_GBps: 50, usd: 100, reach_m: 40 }\n"
        "build: [ { tier: T, nic: nic, switch: box, end_m: 30 } ]\n");
    const char *path = put(&f, "study.yaml",
                           "network: { parts: parts.yaml, npu: { peak_TFLOPS: 100 }, dims: "
                           "[ { shape: switch, size: 16, tier: T, bw_GBps: 50 } ] }\n"
                           "workload: { step: { all-reduce: { size_MB: 1, group: all } } }\nsplit: given\n"
                           "vary: { \"network.parts.build[0].end_m\": [300, 40, 3] }\n");
    OK(designs_open(&s, path, NULL, 0, e));
    study_put_columns(&columns, &s, TABLE_ROWS);
    struct best_ask ask = { .study = &s, .columns = &columns, .rule = &rule, .top = 3, .threads = 1 };
    OK(best_take_by(&ask.by, &rule, "cost_usd", &columns, e));
    OK(best_find(&a, &ask, e));
    assert_true(a.rows.n_rows == 2 && a.n_ties[0] == 1);
    assert_close(a.values[0], 16 * (1000 + 100) + 10000, 1e-12);
    assert_close(a.values[1], 16 * (1000 + 400) + 10000, 1e-12);
}

/* Plans that are found from a book that others wrote are those of a book of one's own. */
TEST(shared_books_change_nothing)
{
    omp_set_num_threads(1);
    for (int i = 0; i < repeats(15); i++) {
        struct drawn d;
        KEEP(struct study, s, study_close) = { 0 };
        FOLDER(f);
        draw_study(&d, 1000 + (uint64_t)i);
        for (size_t k = 0; k < COUNT_OF(files); k++)
            put(&f, files[k].name, files[k].text);
        OK(designs_open(&s, put(&f, "study.yaml", d.text), NULL, 0, e));
        const struct design_own *own = s.own;
        for (int64_t p = 0; p < s.sweep.n_points && d.searched; p++) {
            struct sweep_point at;
            struct design_point point;
            struct design_choice shared, alone;
            struct err why[2] = { { 0 } };
            sweep_find_point(&at, &s.sweep, p);
            if (design_load(&point, &s, &at, &why[0]))
                continue;
            int rc = design_choose_with(&shared, &point, own->shelf, &why[0]);
            assert_int_equal(design_choose(&alone, &point, &why[1]), rc);
            assert_string_equal(why[0].msg, why[1].msg);
            if (!rc) {
                const struct search_result *x = choice_plans(&shared, 0), *y = choice_plans(&alone, 0);
                assert_int_equal(x->n_found, y->n_found);
                assert_int_equal(x->found[0].rank, y->found[0].rank);
                assert_true(x->found[0].value >= y->found[0].value && x->found[0].value <= y->found[0].value);
                choice_free(&shared);
                choice_free(&alone);
            }
            design_point_free(&point);
        }
    }
}

/* Every point is solved, and no bound is above its value. */
static void no_bound_is_above(const struct study *s, const char *by)
{
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct best_answer, a, best_free) = { 0 };
    const struct keep_rule rule = { .kind = &design_kind };
    struct best_ask ask = { .study = s, .columns = &columns, .rule = &rule, .top = 9, .threads = 1 };
    study_put_columns(&columns, s, TABLE_ROWS);
    MUST(best_take_by(&ask.by, &rule, by, &columns, e));
    MUST(best_find(&a, &ask, e));
    if (a.n_above)
        fail_msg("%lld bounds of %s are above what they bound", (long long)a.n_above, by);
    if (!(a.rows.n_rows + a.n_ties[0] == 2 && a.n_solved == 2 && a.proved))
        fail_msg("%s: %s, %d", by, text_str(&a.why), (int)a.proved);
}

/* Where exchange and links cost next to nothing, and nothing but products takes time, every bound is the
 * value: a thousandth more is seen. */
TEST(bounds_are_reached)
{
    static const char search[] =
        "search: { top: 1, tp: [1], pp: [1], cp: [1], zero: [0], recompute: [none] }";
    static const char *const splits[] = { "split: given", "total_GBps: 2000000\nobjective: time" };
    static const char *const by[] = { "time_s",   "cost_usd",     "watt_peak",     "watt_site",
                                      "usd_year", "tokens_per_s", "usd_per_Mtoken" };
    omp_set_num_threads(1);
    for (int i = 0; i < 4; i++) {
        KEEP(struct study, s, study_close) = { 0 };
        FOLDER(f);
        const char *bw = i / 2 ? "max_GBps: 1000000" : "bw_GBps: 1000000";
        TEXT(text,
             "network:\n  npu: { peak_TFLOPS: 1, mem_GBps: 1e9, mem_GB: 1000, usd: 1, watt: 400 }\n  dims:\n"
             "    - { name: node, shape: ring, size: 4, latency_ns: 0, tier: A, %s }\n"
             "    - { name: pod, shape: switch, size: 2, latency_ns: 0, tier: A, %s }\n"
             "parts: { name: p, rates: [ { tier: A, link_usd_per_GBps: 1e-14, switch_usd_per_GBps: 1e-14 } ] "
             "}\n"
             "count_npus: true\nsystem: { npu_usd: 1500, npus_per_node: 4 }\n"
             "workload:\n  name: w\n  model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64 }\n"
             "  parallel: { batch: 16 }\n  %s\n"
             "model: alpha-beta\n%s\nvary: { workload.parallel.batch: [512, 1024] }\n",
             bw, bw, i % 2 ? "" : search, splits[i / 2]);
        OK(designs_open(&s, put(&f, "study.yaml", text_str(&text)), NULL, 0, e));
        for (size_t k = 0; k < COUNT_OF(by); k++)
            no_bound_is_above(&s, by[k]);
    }
}

/* The floors of degrees, and the work of a sample on any number of NPUs, are below every plan's time: with
 * many microbatches and no pipeline all but the optimizer is in them, so that a thousandth more is seen.
 * Where memory rules out what keeps most, what is done again is in them too. */
TEST(floors_of_degrees_are_tight)
{
    static const struct {
        const char *mem_GB, *experts, *recompute;
        bool is_tight;
    } cases[] = { { "10", "", "none, full", true },
                  { "10", "", "full", true },
                  { "10", ", moe: { experts: 4, top_k: 2, ffn: 96 }", "none", true },
                  { "0.03", "", "none, full", false } };
    omp_set_num_threads(1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct search_space space = { 0 };
        struct search_book book, counted;
        double least_s, work_s;
        KEEP(struct design_point, s, design_point_free);
        struct search_shelf *shelf = search_shelf_new();
        FOLDER(f);
        TEXT(study,
             "network:\n  npu: { peak_TFLOPS: 1, mem_GBps: 100, mem_GB: %s }\n  dims:\n"
             "    - { name: node, shape: ring, size: 4, bw_GBps: 10 }\n"
             "    - { name: pod, shape: switch, size: 2, bw_GBps: 10 }\n"
             "workload:\n  name: w\n  model: { layers: 4, hidden: 256, heads: 4, vocab: 512, seq: 128%s }\n"
             "  parallel: { batch: 65536 }\n  search: { recompute: [%s], micro_batch: [1, 2, 4] }\n"
             "model: alpha-beta\nsplit: given\n",
             cases[i].mem_GB, cases[i].experts, cases[i].recompute);
        OK(design_point_load(&s, put(&f, "study.yaml", text_str(&study)), NULL, 0, DESIGN_NEEDS_WORKLOAD, e));
        const struct training *base = s.workloads[0].training;
        OK(schema_read(&space, &search_section, &s.doc, base->search, e));
        OK(search_book_build(&book, &space, &s, base, 0, false, e));
        OK(search_book_build(&counted, &space, &s, base, 0, true, e));
        OK(search_book_least(&least_s, &book, e));
        OK(search_work(&work_s, &s, 0, shelf, e));
        assert_close(least_s, search_book_floor_s(&counted), 1e-12);
        assert_true(search_book_floor_s(&book) <= least_s * (1 + 1e-12));
        assert_true(work_s <= search_book_floor_s(&book) * (1 + 1e-12));
        assert_true(!cases[i].is_tight || work_s > least_s * (1 - 5e-4));
        assert_true(book.chapters[0].state == CHAPTER_BLANK && search_book_kept(&book) == 0);
        search_book_free(&book);
        search_book_free(&counted);
        search_shelf_free(shelf);
    }
}

/* A plan without a split fits the memory of an NPU: its row says which limits leave no split. Where the batch
 * is too small for any plan, memory is not what is missing. */
TEST(why_there_is_no_design_is_said)
{
    static const struct {
        const char *search, *limits, *why;
    } cases[] = {
        { "tp: [1, 2]", "constraints: [ node >= 10, pod >= 5 ]", "the constraints contradict each other" },
        { "tp: [1], pp: [1], cp: [1]", "", "no legal plan fits the memory of an NPU" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, s, study_close) = { 0 };
        KEEP(struct table, columns, table_free) = { 0 };
        KEEP(struct best_answer, a, best_free) = { 0 };
        const struct keep_rule rule = { .kind = &design_kind };
        struct best_ask ask = { .study = &s, .columns = &columns, .rule = &rule, .top = 1, .threads = 1 };
        FOLDER(f);
        put(&f, "small.yaml", files[0].text);
        TEXT(text,
             "network:\n  npu: small.yaml\n  dims:\n    - { name: node, shape: ring, size: 2 }\n"
             "    - { name: pod, shape: switch, size: 2 }\n"
             "workload: { name: w, model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64 }, "
             "parallel: { batch: 2 }, search: { top: 1, zero: [1], recompute: [none], %s } }\n"
             "model: alpha-beta\n%s\nvary: { total_GBps: [4, 8] }\n",
             cases[i].search, cases[i].limits);
        OK(designs_open(&s, put(&f, "study.yaml", text_str(&text)), NULL, 0, e));
        study_put_columns(&columns, &s, TABLE_ROWS);
        OK(best_take_by(&ask.by, &rule, "time_s", &columns, e));
        OK(best_find(&a, &ask, e));
        assert_int_equal(a.n_infeasible, 2);
        assert_non_null(strstr(text_str(&a.why), cases[i].why));
    }
}

/* Inputs of a network that leads are looked at for it alone. */
TEST(what_if_looks_at_each_network_that_leads)
{
    static const char *const networks[] = { "one.yaml", "two.yaml" };
    KEEP(struct study, s, study_close) = { 0 };
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct whatif, w, whatif_free) = { 0 };
    const struct keep_rule rule = { .kind = &design_kind };
    const int64_t leaders[] = { 0, 1 };
    bool seen[2] = { false, false };
    FOLDER(f);
    omp_set_num_threads(1);
    for (int k = 0; k < 2; k++) {
        TEXT(text,
             "name: n%d\ndims:\n  - { name: node, shape: ring, size: 4, bw_GBps: %d }\n"
             "  - { name: pod, shape: switch, size: 2, bw_GBps: 5 }\n",
             k, 10 + 10 * k);
        put(&f, networks[k], text_str(&text));
    }
    const char *path = put(&f, "study.yaml",
                           "network: one.yaml\nsplit: given\nworkload: { step: { sum: [ { compute_ms: 1 }, "
                           "{ all-reduce: { size_MB: 8, group: all } } ] } }\n"
                           "vary: { network: [one.yaml, two.yaml] }\n");
    OK(designs_open(&s, path, NULL, 0, e));
    study_put_columns(&columns, &s, TABLE_ROWS);
    struct best_ask ask = { .study = &s, .columns = &columns, .rule = &rule, .top = 1, .threads = 1 };
    OK(best_take_by(&ask.by, &rule, "time_s", &columns, e));
    OK(whatif_find(&w, &ask, leaders, 2, e));
    for (int32_t i = 0; i < w.n; i++)
        for (int k = 0; k < 2 && w.lines[i].key >= 0; k++)
            seen[k] = seen[k] || strcmp(w.lines[i].product, networks[k]) == 0;
    assert_true(seen[0] && seen[1]);
}
